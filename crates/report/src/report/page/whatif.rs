//! The section of a what-if: policies against stragglers side by side.

use crate::report::csv::quantile_name;
use crate::report::number::{count, counted};
use crate::report::page::parts::{interval_note, partial, wall};
use crate::report::page::section::{Cell, Headline, Number, Section, Table};
use crate::report::plot::PlotError;
use crate::report::quantity::Quantity;
use crate::report::whatif::{ChangeRow, PolicyRow, WhatIfReport};
use crate::report::whatif_plot::what_if_picture;

/// What a what-if found.
pub(super) fn section(report: &WhatIfReport) -> Result<Section, PlotError> {
    let mut section = Section {
        kind: "what-if about stragglers",
        title: format!("{} compared", counted(report.policies.len() as u128, "policy").replace("policys", "policies")),
        question: format!(
            "What would {} with {} and {} gain from copies, on {} with {}?",
            counted(report.jobs as u128, "job"),
            counted(report.maps, "map task"),
            counted(report.reduces, "reduce task"),
            counted(report.nodes, "node"),
            counted(report.slots, "slot")
        ),
        answer: vec![format!("Advice: {}.", report.advice.trim_end_matches('.')).into()],
        headline: fastest(report),
        plan: report.plan.clone(),
        provenance: vec![
            ["tailspn".to_owned(), report.version.to_string()],
            ["seed".to_owned(), report.seed.to_string()],
            ["engine".to_owned(), "cluster simulator".to_owned()],
            ["replications of each policy".to_owned(), count(report.replications.into())],
            ["time of the replications".to_owned(), wall(report.wall_s)],
        ],
        ..Section::default()
    };
    section.remarks.extend(partial(report.partial, report.replications));
    let caption = "The bar reaches to the mean job time, with its interval in black; the lines are p95 and p99; the dot is the energy, on \
                   the axis above.";
    section.figure(Some(what_if_picture(report)?), "Policies side by side", caption);
    section.table(times(report));
    section.table(costs(report));
    section.table(worth(report));
    Ok(section)
}

/// The times of the policy with the shortest mean.
fn fastest(report: &WhatIfReport) -> Option<Headline> {
    let by_mean =
        |a: &(usize, &PolicyRow), b: &(usize, &PolicyRow)| a.1.job_time_s.value.total_cmp(&b.1.job_time_s.value);
    let (i, row) = report.policies.iter().enumerate().min_by(by_mean)?;
    let tail = |p: f64| {
        let found = row.tails.iter().enumerate().find(|(_, tail)| (tail.p - p).abs() < 1e-12);
        found.map(|(t, tail)| Number::quantity(format!("/policies/{i}/tails/{t}"), &tail.quantity, "s"))
    };
    let mean = Number::quantity(format!("/policies/{i}/job_time_s"), &row.job_time_s, "s");
    Some(Headline { of: Some(format!("policy {}", row.name)), mean, quantiles: [None, tail(0.95), tail(0.99)] })
}

fn times(report: &WhatIfReport) -> Table {
    let note = format!(
        "Seconds. Changes are against `{}`, replication by replication. {}",
        report.baseline,
        interval_note(report.level)
    );
    let mut names: Vec<String> = vec!["policy".to_owned(), "mean".to_owned()];
    let first = report.policies.first().map_or(&[][..], |row| &row.tails);
    names.extend(first.iter().map(|tail| quantile_name(tail.p)));
    names.extend(["change".to_owned(), "change [%]".to_owned()]);
    let mut table = Table { head: names, ..Table::new("Job times", note, &[]) };
    for (i, row) in report.policies.iter().enumerate() {
        let at = format!("/policies/{i}");
        let mut cells: Vec<Cell> = vec![row.name.clone().into()];
        cells.push(Number::quantity(format!("{at}/job_time_s"), &row.job_time_s, "").into());
        cells.extend(
            row.tails
                .iter()
                .enumerate()
                .map(|(t, tail)| Number::quantity(format!("{at}/tails/{t}"), &tail.quantity, "").into()),
        );
        cells.extend(changes(&format!("{at}/job_time_change"), row.job_time_change.as_ref(), 1.0));
        table.rows.push(cells);
    }
    table
}

/// A difference in its unit times a factor, and a ratio in percent.
fn changes(at: &str, change: Option<&ChangeRow>, factor: f64) -> [Cell; 2] {
    let difference = change.map(|change| Number {
        factor,
        ..Number::quantity(format!("{at}/difference"), &change.difference, "").signed()
    });
    let ratio = change.and_then(|change| change.ratio.as_ref());
    let ratio =
        ratio.map(|ratio| Number { unit: "".into(), ..Number::quantity(format!("{at}/ratio"), ratio, "").change() });
    [difference.into(), ratio.into()]
}

fn costs(report: &WhatIfReport) -> Table {
    /// Kilojoules of a joule.
    const KILO: f64 = 1e-3;
    let head = ["policy", "energy [kJ]", "change [kJ]", "change [%]", "slot time in vain [s]", "copies", "of them won"];
    let mut table = Table::new("What it takes", interval_note(report.level), &head);
    for (i, row) in report.policies.iter().enumerate() {
        let number = |name: &str, quantity: &Quantity| Number::quantity(format!("/policies/{i}/{name}"), quantity, "");
        let mut cells: Vec<Cell> = vec![row.name.clone().into()];
        cells.push(Number { factor: KILO, ..number("energy_j", &row.energy_j) }.into());
        cells.extend(changes(&format!("/policies/{i}/energy_change"), row.energy_change.as_ref(), KILO));
        cells.push(number("wasted_slot_s", &row.wasted_slot_s).into());
        cells.push(number("copies", &row.copies).into());
        cells.push(number("copies_won", &row.copies_won).into());
        table.rows.push(cells);
    }
    table
}

fn worth(report: &WhatIfReport) -> Table {
    let first = report.policies.first().map_or(&[][..], |row| &row.metrics);
    let mut names = vec!["policy".to_owned()];
    names.extend(first.iter().map(|metric| metric.name.replace('_', " ")));
    let note = format!("Of the map tasks; latencies and times in usual task times. {}", interval_note(report.level));
    let mut table = Table { head: names, ..Table::new("What the detectors are worth", note, &[]) };
    for (i, row) in report.policies.iter().enumerate() {
        let metric = |(m, metric): (usize, &crate::report::whatif::MetricRow)| -> Cell {
            metric
                .value
                .as_ref()
                .map(|value| Number::quantity(format!("/policies/{i}/metrics/{m}/value"), value, ""))
                .into()
        };
        table.rows.push(
            [Cell::from(row.name.clone())].into_iter().chain(row.metrics.iter().enumerate().map(metric)).collect(),
        );
    }
    table
}
