//! `devices`: the graphics adapters of this machine, what they can do, and which one a run would take.

use serde::Serialize;
use tailspn::report::{Align, Table, json};
use tailspn::sim::gpu::{Surveyed, automatic_choice, survey};

use crate::cli::args::DevicesArgs;
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;

/// Everything that is said about the adapters.
#[derive(Debug, Serialize)]
struct DevicesReport {
    adapters: Vec<AdapterRow>,
    /// Name of the one that is taken where none is named.
    auto: Option<String>,
    /// Why that one, or why none.
    auto_reason: String,
}

#[derive(Debug, Serialize)]
struct AdapterRow {
    name: String,
    kind: &'static str,
    interface: String,
    driver: String,
    int64: bool,
    largest_buffer: u64,
    largest_binding: u64,
    workgroups: u32,
    workgroup_size: u32,
    usable: bool,
    fault: Option<String>,
}

/// Lists the adapters.
pub(crate) fn run(args: &DevicesArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let report = report_on(&survey());
    if args.json {
        let text = json("devices", &report).map_err(|error| Failure::plain(Exit::Internal, error.to_string()))?;
        terminal.data(&text)?;
    } else {
        terminal.data(&text_of(&report))?;
    }
    Ok(Exit::Success)
}

fn report_on(found: &[Surveyed]) -> DevicesReport {
    let (auto, auto_reason) = match automatic_choice(found) {
        Ok(at) => {
            let facts = &found[at].facts;
            (Some(facts.name.clone()), format!("the best card that there is ({}), and it passed its test", facts.kind))
        }
        Err(error) => (None, error.to_string()),
    };
    DevicesReport { adapters: found.iter().map(row).collect(), auto, auto_reason }
}

fn row(surveyed: &Surveyed) -> AdapterRow {
    let facts = &surveyed.facts;
    AdapterRow {
        name: facts.name.clone(),
        kind: facts.kind,
        interface: facts.interface.clone(),
        driver: facts.driver.clone(),
        int64: facts.int64,
        largest_buffer: facts.largest_buffer,
        largest_binding: facts.largest_binding,
        workgroups: facts.workgroups,
        workgroup_size: facts.workgroup_size,
        usable: surveyed.fault.is_none(),
        fault: surveyed.fault.as_ref().map(ToString::to_string),
    }
}

fn text_of(report: &DevicesReport) -> String {
    let mut text = String::new();
    if !report.adapters.is_empty() {
        let (left, right) = (Align::Left, Align::Right);
        let columns = [
            ("adapter", left),
            ("kind", left),
            ("driver", left),
            ("64-bit integers", left),
            ("buffer", right),
            ("binding", right),
            ("self-test", left),
        ];
        let mut table = Table::new(columns);
        for row in &report.adapters {
            table.push([
                row.name.clone(),
                row.kind.to_owned(),
                format!("{}, {}", row.interface, row.driver),
                if row.int64 { "yes" } else { "no" }.to_owned(),
                bytes(row.largest_buffer),
                bytes(row.largest_binding),
                if row.usable { "passed" } else { "failed" }.to_owned(),
            ]);
        }
        text += &table.text();
    }
    for row in &report.adapters {
        if let Some(fault) = &row.fault {
            text += &format!("{fault}\n");
        }
    }
    text + &match &report.auto {
        Some(name) => format!("auto takes {name}: {}\n", report.auto_reason),
        None => format!("auto takes none: {}\n", report.auto_reason),
    }
}

/// A number of bytes in a fitting unit of 1024s.
fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let power = (number.max(1).ilog2() / 10).min(4);
    let value = number as f64 / f64::from(1 << 10).powi(power.cast_signed());
    format!("{} {}", (value * 10.0).round() / 10.0, UNITS[power as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_a_unit() {
        let shown = [0, 1023, 1024, 134_217_728, 1 << 31, u64::MAX].map(bytes);
        assert_eq!(shown, ["0 B", "1023 B", "1 KiB", "128 MiB", "2 GiB", "16777216 TiB"]);
    }
}
