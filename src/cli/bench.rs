//! `bench`: how fast this machine replicates, on its processor and on a graphics card, and how far the card is from what
//! its arithmetic or its memory allows.

use std::time::Duration;

use serde::Serialize;
use tailspn::report::{Align, Table, count, json, plain};
use tailspn::sim::gpu::{AdapterFacts, adapters};
use tailspn::sim::{Backend, Ensemble, RunError, Watch as _, run as replicate};

use crate::cli::args::{BackendChoice, BenchArgs};
use crate::cli::bench_nets::{Case, cases};
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::simulate::failure;
use crate::cli::watch::{Progress, catch_interrupt};

/// More replications than any measurement has time for.
const ENDLESS: u64 = 1 << 50;
/// Replications of the run that shows how long a device takes to get ready.
const FIRST: u64 = 64;
/// Machine instructions of the schedule kernel per exponential variate, counted in the machine code for compute
/// capability 9.0: with 64-bit integers, and with products made from 32-bit ones.
const INSTRUCTIONS: [f64; 2] = [73.0, 211.0];
/// Bytes that the race kernel moves per firing.
const BYTES_PER_FIRING: f64 = 320.0;
/// Cards of which the lanes times GHz and the memory bandwidth \[GB/s\] are known: 132 processors of 128 lanes at 1.98 GHz.
const KNOWN: [(&str, f64, f64); 1] = [("H200", 132.0 * 128.0 * 1.98, 4_800.0)];

/// Everything that was measured.
#[derive(Debug, Serialize)]
struct BenchReport {
    /// Time of each measurement \[s\].
    seconds: f64,
    adapter: Option<Adapter>,
    /// Why there is no adapter.
    no_adapter: Option<String>,
    lanes_ghz: Option<f64>,
    memory_gbs: Option<f64>,
    nets: Vec<NetRow>,
}

#[derive(Debug, Serialize)]
struct Adapter {
    name: String,
    kind: &'static str,
    driver: String,
    int64: bool,
}

#[derive(Debug, Serialize)]
struct NetRow {
    net: String,
    transitions: usize,
    cpu: Option<Speed>,
    gpu: Option<Speed>,
    /// Why the card does not run the net.
    no_gpu: Option<String>,
    /// Replications per second of the card over those of the processor.
    ratio: Option<f64>,
    /// The most that the card could do, in exponential variates or firings per second, by what, and the reached share.
    bound: Option<Bound>,
}

#[derive(Debug, Serialize)]
struct Speed {
    engine: &'static str,
    vector: Option<&'static str>,
    threads: Option<usize>,
    replications: u64,
    seconds: f64,
    replications_per_s: f64,
    firings_per_s: f64,
    /// Where the time of a card went, without the setup.
    times: Option<Times>,
}

/// Shares of the time, and the time of the setup \[s\], which is not part of the measurement.
#[derive(Debug, Serialize)]
struct Times {
    setup_s: f64,
    upload: f64,
    compute: f64,
    read_back: f64,
}

#[derive(Debug, Serialize)]
struct Bound {
    per_s: f64,
    of: &'static str,
    by: String,
    reached: f64,
}

/// Measures and prints.
pub(crate) fn run(args: &BenchArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    catch_interrupt(terminal);
    let mut report = BenchReport {
        seconds: args.seconds.as_secs_f64(),
        adapter: None,
        no_adapter: None,
        lanes_ghz: args.lanes_ghz,
        memory_gbs: args.memory_gbs,
        nets: Vec::new(),
    };
    let watch = Progress::new(false, "");
    for case in &cases().map_err(|error| Failure::plain(Exit::Internal, error))? {
        terminal.tell(&format!("measuring {}", case.name));
        let mut row = NetRow {
            net: case.name.clone(),
            transitions: case.program.transitions(),
            cpu: None,
            gpu: None,
            no_gpu: None,
            ratio: None,
            bound: None,
        };
        if args.backend != BackendChoice::Gpu {
            row.cpu = Some(measure(case, &ensemble(args, Backend::Cpu, args.seconds), &watch)?.0);
        }
        if args.backend != BackendChoice::Cpu && report.no_adapter.is_none() {
            measure_card(case, args, &watch, &mut report, &mut row)?;
        }
        report.nets.push(row);
        if watch.stopped() {
            break;
        }
    }
    terminal.data(&if args.json {
        json("bench", &report).map_err(|error| Failure::plain(Exit::Internal, error.to_string()))?
    } else {
        text_of(&report)
    })?;
    Ok(if watch.stopped() { Exit::Interrupted } else { Exit::Success })
}

fn ensemble(args: &BenchArgs, backend: Backend, wall: Duration) -> Ensemble {
    Ensemble {
        replications: ENDLESS,
        max_wall: Some(wall),
        threads: args.threads,
        backend,
        adapter: args.adapter.clone(),
        ..Ensemble::default()
    }
}

/// Runs a net for a while; gives its speed and the adapter's name.
fn measure(case: &Case, ensemble: &Ensemble, watch: &Progress) -> Result<(Speed, Option<String>), Failure> {
    let found = replicate(&case.program, &case.question, ensemble, watch).map_err(|error| failure(&error))?;
    let from = &found.provenance;
    let device = from.placement.device.as_ref();
    let setup = device.map_or(Duration::ZERO, |device| device.times.setup);
    let seconds = from.wall.saturating_sub(setup).as_secs_f64().max(f64::MIN_POSITIVE);
    let share = |time: Duration| time.as_secs_f64() / seconds;
    let speed = Speed {
        engine: from.engine,
        vector: device.is_none().then_some(from.vector),
        threads: device.is_none().then_some(from.threads),
        replications: found.samples.replications,
        seconds,
        replications_per_s: found.samples.replications as f64 / seconds,
        firings_per_s: found.samples.firings as f64 / seconds,
        times: device.map(|device| Times {
            setup_s: setup.as_secs_f64(),
            upload: share(device.times.upload),
            compute: share(device.times.compute),
            read_back: share(device.times.read_back),
        }),
    };
    Ok((speed, device.map(|device| device.adapter.clone())))
}

/// Runs a net on the card, if there is one and it can.
fn measure_card(
    case: &Case,
    args: &BenchArgs,
    watch: &Progress,
    report: &mut BenchReport,
    row: &mut NetRow,
) -> Result<(), Failure> {
    let first = Ensemble { replications: FIRST, max_wall: None, ..ensemble(args, Backend::Gpu, args.seconds) };
    let ready = match replicate(&case.program, &case.question, &first, watch) {
        Ok(run) => run.provenance.wall,
        Err(RunError::GpuUnfit { reasons, .. }) => {
            row.no_gpu = Some(reasons.join("; "));
            return Ok(());
        }
        Err(RunError::Gpu(error)) if args.backend == BackendChoice::Auto && args.adapter.is_none() => {
            report.no_adapter = Some(error.to_string());
            return Ok(());
        }
        Err(error) => return Err(failure(&error)),
    };
    let mut wall = args.seconds + ready;
    let (speed, name) = loop {
        let measured = measure(case, &ensemble(args, Backend::Gpu, wall), watch)?;
        // on a busy machine the setup may take longer than it just did
        if measured.0.replications > 0 || watch.stopped() {
            break measured;
        }
        wall *= 2;
    };
    if report.adapter.is_none() {
        let facts = adapters().into_iter().find(|facts| name.as_ref() == Some(&facts.name));
        report.adapter = facts.map(adapter);
    }
    if let Some(known) = report.adapter.as_ref().and_then(|adapter| known(&adapter.name)) {
        report.lanes_ghz = report.lanes_ghz.or(Some(known.0));
        report.memory_gbs = report.memory_gbs.or(Some(known.1));
    }
    row.ratio = row.cpu.as_ref().map(|cpu| speed.replications_per_s / cpu.replications_per_s);
    row.bound = bound(case, &speed, report);
    row.gpu = Some(speed);
    Ok(())
}

fn adapter(facts: AdapterFacts) -> Adapter {
    Adapter { name: facts.name, kind: facts.kind, driver: facts.driver, int64: facts.int64 }
}

/// Lanes times GHz and bandwidth of a card.
fn known(name: &str) -> Option<(f64, f64)> {
    KNOWN.iter().find(|(part, ..)| name.contains(part)).map(|(_, lanes_ghz, gbs)| (*lanes_ghz, *gbs))
}

/// What the card could do at most: the schedule kernel calculates, the race kernel moves memory.
fn bound(case: &Case, speed: &Speed, report: &BenchReport) -> Option<Bound> {
    if speed.engine == "schedule" {
        let int64 = report.adapter.as_ref().is_some_and(|adapter| adapter.int64);
        let instructions = INSTRUCTIONS[usize::from(!int64)];
        let lanes_ghz = report.lanes_ghz?;
        let per_s = lanes_ghz * 1e9 / instructions;
        let by = format!("{instructions} instructions each, {} lanes × GHz", plain(lanes_ghz));
        let reached = speed.replications_per_s * case.program.timed.len() as f64 / per_s;
        return Some(Bound { per_s, of: "exponentials", by, reached });
    }
    let gbs = report.memory_gbs?;
    let per_s = gbs * 1e9 / BYTES_PER_FIRING;
    let by = format!("{BYTES_PER_FIRING} bytes each, {} GB/s", plain(gbs));
    Some(Bound { per_s, of: "firings", by, reached: speed.firings_per_s / per_s })
}

fn text_of(report: &BenchReport) -> String {
    let cpu = report.nets.iter().find_map(|row| row.cpu.as_ref());
    let mut text = String::new();
    if let Some((vector, threads)) = cpu.and_then(|cpu| Some((cpu.vector?, cpu.threads?))) {
        text += &format!("CPU: {threads} thread{} ({vector})\n", if threads == 1 { "" } else { "s" });
    }
    if let Some(adapter) = &report.adapter {
        let int64 = if adapter.int64 { "with" } else { "without" };
        text += &format!("GPU: {}, {}, {}, {int64} 64-bit integers\n", adapter.name, adapter.kind, adapter.driver);
    }
    if let Some(why) = &report.no_adapter {
        text += &format!("GPU: none: {why}\n");
    }
    text += &format!("{} s each; the setup of the GPU is not counted\n\n", plain(report.seconds));
    text += &table_of(report).text();
    for row in &report.nets {
        if let Some(why) = &row.no_gpu {
            text += &format!("{} does not run on the GPU: {why}\n", row.net);
        }
    }
    text + &bounds_of(report)
}

fn table_of(report: &BenchReport) -> Table {
    let (left, right) = (Align::Left, Align::Right);
    let mut table = Table::new([
        ("net", left),
        ("on", left),
        ("engine", left),
        ("replications/s", right),
        ("firings/s", right),
        ("ratio", right),
        ("upload", right),
        ("compute", right),
        ("read-back", right),
    ]);
    let percent = |share: Option<f64>| share.map_or_else(String::new, |share| format!("{:.1} %", 100.0 * share));
    for row in &report.nets {
        for (on, speed) in [("CPU", &row.cpu), ("GPU", &row.gpu)] {
            let Some(speed) = speed else { continue };
            let ratio = row.ratio.filter(|_| on == "GPU").map_or_else(String::new, |ratio| {
                if ratio < 10.0 { format!("{ratio:.3}") } else { format!("{ratio:.1}") }
            });
            let times = speed.times.as_ref();
            table.push([
                row.net.clone(),
                on.to_owned(),
                speed.engine.to_owned(),
                rate(speed.replications_per_s),
                rate(speed.firings_per_s),
                ratio,
                percent(times.map(|times| times.upload)),
                percent(times.map(|times| times.compute)),
                percent(times.map(|times| times.read_back)),
            ]);
        }
    }
    table
}

/// What bounds the card, and how much of that was reached.
fn bounds_of(report: &BenchReport) -> String {
    let mut text = String::new();
    for row in &report.nets {
        let Some(speed) = &row.gpu else { continue };
        text += &match &row.bound {
            Some(Bound { per_s, of, by, reached }) => {
                format!("{}: at most {} {of}/s ({by}), {:.1} % reached\n", row.net, rate(*per_s), 100.0 * reached)
            }
            None if speed.engine == "schedule" => {
                format!("{}: bound by arithmetic unknown: name the card's --lanes-ghz\n", row.net)
            }
            None => format!("{}: bound by memory unknown: name the card's --memory-gbs\n", row.net),
        };
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// A rate with three significant digits.
fn rate(per_s: f64) -> String {
    if per_s >= 1e9 {
        return format!("{per_s:.2e}");
    }
    if per_s < 100.0 {
        return format!("{per_s:.1}");
    }
    let unit = 10_f64.powf(per_s.log10().floor() - 2.0);
    // `as` stops at the largest integer
    count(((per_s / unit).round() * unit) as u128)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_three_digits() {
        assert_eq!(
            [12.345, 12_345.0, 99_960.0, 1.2345e8, 4.6e11].map(rate),
            ["12.3", "12,300", "100,000", "123,000,000", "4.60e11"]
        );
    }

    #[test]
    fn the_bound_of_a_known_card_is_that_of_the_documentation() {
        let (lanes_ghz, gbs) = known("NVIDIA H200 NVL").unwrap();
        assert!((lanes_ghz * 1e9 / INSTRUCTIONS[0] / 4.6e11 - 1.0).abs() < 0.01);
        assert!((lanes_ghz * 1e9 / INSTRUCTIONS[1] / 1.6e11 - 1.0).abs() < 0.01);
        assert!((gbs * 1e9 / BYTES_PER_FIRING / 1.5e10 - 1.0).abs() < 0.01);
        assert_eq!(known("llvmpipe"), None);
    }
}
