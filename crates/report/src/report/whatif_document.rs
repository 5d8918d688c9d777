//! The documents of `whatif`, which compares policies, and of the list of detectors.

use crate::cluster::detect::DetectorKind;
use crate::document::parts::{partial, wall};
use crate::document::{Cell, Column, Document, Figure, Headline, Number, Report, Show, Table};
use crate::render::bars_text;
use crate::report::bar_rows::BarRow;
use crate::report::deadline::chance;
use crate::report::number::{count, counted, plain, quantile_name};
use crate::report::own_run::with_own_run;
use crate::report::whatif::{ChangeRow, DetectorRow, DetectorsReport, MetricRow, PolicyRow, TailRow, WhatIfReport};

/// The words of a comparison.
pub(super) struct Words {
    /// The tasks that the detectors check.
    pub(super) tasks: &'static str,
    /// True if energy is part of the answer.
    pub(super) energy: bool,
}

impl Report for WhatIfReport {
    const KIND: &'static str = "whatif";
    const HAS_VERSION: bool = true;

    fn document(&self) -> Document<'_> {
        let jobs = [counted(self.maps, "map task"), counted(self.reduces, "reduce task")].join(" and ");
        let question = format!(
            "Gain from speculative copies for {} with {jobs}, on {} with {}.",
            counted(self.jobs as u128, "job"),
            counted(self.nodes, "node"),
            counted(self.slots, "slot")
        );
        let mut document = Document {
            kind: "what-if about stragglers",
            title: format!("{} policies compared", self.policies.len()),
            question,
            plan: self.plan.clone(),
            screen: Some(self.screen()),
            ..Document::default()
        };
        compared(&mut document, self, &Words { tasks: "map tasks", energy: true });
        document
    }
}

/// Adds the answer, job times, costs, detector quality and provenance.
pub(super) fn compared<'a>(document: &mut Document<'a>, report: &'a WhatIfReport, words: &Words) {
    let advice = format!("Advice: {}.", report.advice.trim_end_matches('.'));
    let advice = with_own_run(report.own_run.as_ref(), vec![advice.into()]);
    document.answer = std::mem::take(&mut document.answer).and(advice);
    document.remarks.extend(partial(report.partial, report.replications));
    document.headline = fastest(report);
    document.fact("replications", Number::count("/replications", report.replications));
    document.fact("partial", Number::count("/partial", report.partial.into()));
    let base = report.policies.iter().find(|row| row.name == report.baseline).map(|row| row.job_time_s.value);
    let bar = move |row: &PolicyRow| BarRow {
        name: row.name.clone(),
        bar: [0.0, row.job_time_s.value],
        marks: base.into_iter().collect(),
        text: Number::measured("", &row.job_time_s, "s").text(),
        ..BarRow::default()
    };
    document.table(gain_and_price(report, words.energy));
    if !report.net.is_empty() {
        document.table(nets(report));
    }
    let dots = if words.energy { " The dot is the energy, on the upper axis." } else { "" };
    let is_bound = |row: &PolicyRow| row.job_time_s.ends().is_some_and(|[_, high]| high == f64::INFINITY);
    let bounds = if report.policies.iter().any(is_bound) { " A line to the edge means a lower bound." } else { "" };
    let caption = format!(
        "Each bar ends at the mean job time; the thin line is the interval of the mean.{bounds} The vertical marks are p95 and p99.{dots}"
    );
    let figure = Figure::new("Mean job times", caption)
        .written(move |look| bars_text("mean [s]", &report.policies.iter().map(bar).collect::<Vec<_>>(), look));
    #[cfg(feature = "plots")]
    let energy = words.energy;
    #[cfg(feature = "plots")]
    let figure = figure.drawn(move || crate::report::whatif_plot::what_if_picture(report, energy).map(Some));
    document.figure(figure);
    document.table(costs(report, words.energy));
    document.table(quality(report, words.tasks));
    let wall = wall(report.wall_s);
    document.provenance = [
        ("tailspn", report.version.to_string()),
        ("engine", "cluster simulator".to_owned()),
        ("seed", report.seed.to_string()),
        ("replications of each policy", count(report.replications.into())),
        ("time of the replications", wall),
    ]
    .map(|(name, value)| [name.to_owned(), value])
    .into();
}

/// Returns the times of the policy with the shortest mean.
fn fastest(report: &WhatIfReport) -> Option<Headline> {
    let by_mean =
        |a: &(usize, &PolicyRow), b: &(usize, &PolicyRow)| a.1.job_time_s.value.total_cmp(&b.1.job_time_s.value);
    let (i, row) = report.policies.iter().enumerate().min_by(by_mean)?;
    let tail = |p: f64| {
        let found = row.tails.iter().enumerate().find(|(_, tail)| (tail.p - p).abs() < 1e-12);
        found.map(|(t, tail)| Number::measured(format!("/policies/{i}/tails/{t}"), &tail.quantity, "s"))
    };
    let mean = Number::measured(format!("/policies/{i}/job_time_s"), &row.job_time_s, "s");
    Some(Headline { of: Some(format!("policy {}", row.name)), mean, quantiles: [None, tail(0.95), tail(0.99)] })
}

/// Returns the gain of each policy, with its price.
fn gain_and_price(report: &WhatIfReport, with_energy: bool) -> Table {
    const KILO: f64 = 1e-3;
    let note = format!(
        "Changes are relative to `{}`, replication by replication. Killed: slot time of attempts that were killed.",
        report.baseline
    );
    let mut columns = vec![Column::new("policy"), Column::new("mean").unit("s").key("job_time")];
    let first = report.policies.first().map_or(&[][..], |row| &row.tails);
    let tail = |tail: &TailRow| quantile_name(tail.p);
    let last = first.len().saturating_sub(1);
    // a terminal has room for the price and one quantile
    columns.extend(first.iter().map(tail).enumerate().map(|(t, p)| {
        let show = if t > 0 && t == last { Show::Room } else { Show::Always };
        Column::new(&*p).unit("s").key(format!("job_time_{p}")).show(show)
    }));
    if let Some(deadline) = report.deadline_s {
        columns.push(Column::new(format!("within {} s", plain(deadline))).unit("%").key("done_by_deadline"));
    }
    columns.push(Column::new("change").unit("s").key("job_time_difference"));
    columns.push(Column::new("change").unit("%").key("job_time_ratio").show(Show::Room));
    columns.push(Column::new("killed").unit("s").key("wasted_slot_time"));
    let energy = if with_energy { Show::Always } else { Show::Csv };
    columns.push(Column::new("energy").unit("kJ").key("energy").show(energy));
    let mut table = Table::new("Gain and price", note, columns).level(report.level);
    for (i, row) in report.policies.iter().enumerate() {
        let at = format!("/policies/{i}");
        let mut cells: Vec<Cell> = vec![row.name.clone().into()];
        cells.push(Number::measured(format!("{at}/job_time_s"), &row.job_time_s, "s").into());
        let tail =
            |(t, tail): (usize, &TailRow)| Number::measured(format!("{at}/tails/{t}"), &tail.quantity, "s").into();
        cells.extend(row.tails.iter().enumerate().map(tail));
        if report.deadline_s.is_some() {
            cells.push(row.done_by_deadline.as_ref().map(|done| chance(format!("{at}/done_by_deadline"), done)).into());
        }
        cells.extend(changes(&format!("{at}/job_time_change"), row.job_time_change.as_ref(), "s", ("s", 1.0)));
        cells.push(Number::measured(format!("{at}/wasted_slot_s"), &row.wasted_slot_s, "s").into());
        cells.push(Number::measured(format!("{at}/energy_j"), &row.energy_j, "J").shown_in("kJ", KILO).into());
        table.rows.push(cells);
    }
    table
}

/// Returns the table of the same job as a net, with the policy without a detector first.
fn nets(report: &WhatIfReport) -> Table {
    let mut columns = vec![Column::new("model"), Column::new("mean").unit("s").key("net_job_time")];
    let first = report.net.first().map_or(&[][..], |row| &row.tails);
    let names = first.iter().map(|tail| quantile_name(tail.p));
    columns.extend(names.map(|p| Column::new(&*p).unit("s").key(format!("net_job_time_{p}"))));
    let mut table = Table::new("The same job as a net", report.net_note.clone(), columns).level(report.level);
    let simulator = report.policies.iter().enumerate().find(|(_, row)| row.detector == DetectorKind::None);
    let simulator = simulator
        .map(|(i, row)| ("cluster simulator, none".to_owned(), format!("/policies/{i}"), &row.job_time_s, &row.tails));
    let nets = report.net.iter().enumerate();
    let nets = nets.map(|(i, row)| (format!("net, {}", row.name), format!("/net/{i}"), &row.job_time_s, &row.tails));
    for (name, at, mean, tails) in simulator.into_iter().chain(nets) {
        let mut cells: Vec<Cell> = vec![name.into(), Number::measured(format!("{at}/job_time_s"), mean, "s").into()];
        let tails = tails.iter().enumerate();
        cells.extend(tails.map(|(t, tail)| Number::measured(format!("{at}/tails/{t}"), &tail.quantity, "s").into()));
        table.rows.push(cells);
    }
    table
}

/// Returns a difference in its unit, shown in another one, and a ratio in percent.
fn changes(at: &str, change: Option<&ChangeRow>, unit: &'static str, shown: (&'static str, f64)) -> [Cell; 2] {
    let difference = change.map(|change| {
        let number = Number::measured(format!("{at}/difference"), &change.difference, unit);
        number.shown_in(shown.0, shown.1).signed()
    });
    let ratio = change.and_then(|change| change.ratio.as_ref());
    [difference.into(), ratio.map(|ratio| Number::measured(format!("{at}/ratio"), ratio, "").change()).into()]
}

fn costs(report: &WhatIfReport, with_energy: bool) -> Table {
    const KILO: f64 = 1e-3;
    let energy = if with_energy { Show::Always } else { Show::Csv };
    let columns = [
        Column::new("policy"),
        Column::new("copies").key("copies"),
        Column::new("won").key("copies_won"),
        Column::new("change").unit("kJ").key("energy_difference").show(if with_energy { Show::Room } else { energy }),
        Column::new("change").unit("%").key("energy_ratio").show(energy),
    ];
    let what = if with_energy { " and energy" } else { "" };
    let note = "Won: copies that finished before their original.";
    let mut table = Table::new(format!("Copies{what}"), note, columns).level(report.level);
    for (i, row) in report.policies.iter().enumerate() {
        let number = |name: &str, unit, value| Number::measured(format!("/policies/{i}/{name}"), value, unit);
        let mut cells: Vec<Cell> = vec![row.name.clone().into()];
        cells.extend([number("copies", "", &row.copies), number("copies_won", "", &row.copies_won)].map(Cell::from));
        cells.extend(changes(&format!("/policies/{i}/energy_change"), row.energy_change.as_ref(), "J", ("kJ", KILO)));
        table.rows.push(cells);
    }
    table
}

fn quality(report: &WhatIfReport, tasks: &str) -> Table {
    let first = report.policies.first().map_or(&[][..], |row| &row.metrics);
    let metric = |metric: &MetricRow| Column::new(metric.name.replace('_', " ")).key(metric.name.clone());
    let columns = [Column::new("policy")].into_iter().chain(first.iter().map(metric));
    let title = format!("Detector quality ({tasks})");
    let mut table =
        Table::new(title, "Latencies and times are relative to the median task time.", columns).level(report.level);
    for (i, row) in report.policies.iter().enumerate() {
        let metric = |(m, metric): (usize, &MetricRow)| -> Cell {
            let number = |value| Number::measured(format!("/policies/{i}/metrics/{m}/value"), value, "");
            metric.value.as_ref().map(number).into()
        };
        table
            .rows
            .push([row.name.clone().into()].into_iter().chain(row.metrics.iter().enumerate().map(metric)).collect());
    }
    table
}

impl Report for DetectorsReport {
    const KIND: &'static str = "detectors";

    fn document(&self) -> Document<'_> {
        let source =
            |row: &DetectorRow| (!row.source.is_empty()).then(|| format!("{} (docs/references.md)", row.source));
        let row = |row: &DetectorRow| {
            vec![(&*row.name).into(), (&*row.rule).into(), (&*row.needs).into(), source(row).into()]
        };
        let mut document =
            Document { kind: "catalogue", title: "Straggler detectors".to_owned(), ..Document::default() };
        let columns = [("detector", "name"), ("flags", "rule"), ("needs", "needs"), ("source", "source")]
            .map(|(title, key)| Column::new(title).key(key));
        document.table(Table::new("", "", columns).rows(self.detectors.iter().map(row)).cards().wide());
        document
    }
}
