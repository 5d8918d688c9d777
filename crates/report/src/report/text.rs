//! Reports as a person reads them in a terminal.

use std::fmt::Write as _;
use std::time::Duration;

use crate::estimate::Measured;
use crate::render::Look;
use crate::report::answer::AnswerMethod;
use crate::report::distribution::Distribution;
use crate::report::job::{AnalyticSummary, JobReport};
use crate::report::number::{count, counted, duration, plain, quantile_name, within};
use crate::report::picture::{Mark, histogram_text};
use crate::report::steady::SteadyReport;
use crate::report::summary::{EndingCounts, NetSummary, ProvenanceSummary, Row, SimulationReport};
use crate::report::table::{Align, Table};

/// Quantiles that are marked under a histogram.
const MARKED: [f64; 3] = [0.5, 0.95, 0.99];

/// The text of a simulation's report.
pub fn simulation_text(report: &SimulationReport, look: &Look) -> String {
    let mut text = String::new();
    text += &look.heading(&net_title(&report.net));
    text += &partial(report.partial, report.replications);
    text += &if exact(&report.method) { format!("{}\n", report.method.words()) } else { endings(report) };
    text += &goal_probability(report, look);
    if let Some(time) = &report.passage_time {
        text.push('\n');
        let some = match (unreached(report), exact(&report.method)) {
            (false, _) => "",
            (true, false) => ", of the replications that reached it",
            (true, true) => ", of the runs that reach it",
        };
        text += &look.heading(&format!("time to {} [s]{some}", report.question.goal));
        text += &distribution(time, look);
    }
    if !report.groups.is_empty() {
        text.push('\n');
        text += &look.heading("groups of transitions: mean time of the first and of the last firing [s]");
        let columns = interval_columns("group", &["first", "last"], level_of(&report.method, report.question.level));
        let mut table = Table::new(columns);
        for group in &report.groups {
            let cells = [group.first.as_ref(), group.last.as_ref()].into_iter().flat_map(interval_cells);
            table.push(std::iter::once(group.name.clone()).chain(cells));
        }
        text += &table.text();
    }
    text += &rows("mean tokens over time", &report.tokens, report, look);
    text += &rows("throughput [1/s]", &report.throughputs, report, look);
    text += &rows("rewards", &report.rewards, report, look);
    text += &snapshots(report, look);
    if let Some(found) = &report.provenance {
        text.push('\n');
        text += &provenance(found);
    }
    text
}

/// Whether the numbers are exact.
fn exact(method: &AnswerMethod) -> bool {
    method.used == "exact"
}

/// Whether the goal was not reached in all replications.
fn unreached(report: &SimulationReport) -> bool {
    if exact(&report.method) {
        return report.goal_probability.as_ref().is_some_and(|share| share.value < 1.0);
    }
    report.endings.goal < report.replications
}

/// How likely the goal is reached, where it is not certain.
fn goal_probability(report: &SimulationReport, look: &Look) -> String {
    let Some(share) = report.goal_probability.as_ref().filter(|_| unreached(report)) else { return String::new() };
    let mut by = report.question.horizon_s.map_or_else(String::new, |horizon| format!(" by {} s", plain(horizon)));
    if let Some(most) = report.question.max_firings.filter(|_| report.endings.max_firings > 0) {
        by += &format!(" within {}", counted(most, "firing"));
    }
    let mut table = Table::new(interval_columns("", &["value"], level_of(&report.method, report.question.level)));
    table.push(std::iter::once("share".to_owned()).chain(interval_cells(Some(share))));
    let title = format!("probability to reach {}{by}", report.question.goal);
    format!("\n{}{}", look.heading(&title), table.text())
}

fn partial(partial: bool, replications: u64) -> String {
    if !partial {
        return String::new();
    }
    format!("PARTIAL: the run was stopped after {}\n", counted(replications, "replication"))
}

fn endings(report: &SimulationReport) -> String {
    let EndingCounts { goal, dead, horizon, max_firings } = report.endings;
    let goal_words = format!("reached {}", report.question.goal);
    let parts = [
        (goal, goal_words.as_str()),
        (dead, "died before the goal"),
        (horizon, "ran to the horizon"),
        (max_firings, "were cut off by the number of firings"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, words)| format!("{} {words}", count((*n).into()))).collect();
    format!(
        "{}, {}: {}\n",
        counted(report.replications, "replication"),
        counted(report.firings, "firing"),
        if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
    )
}

/// `95 %` for 0.95.
fn percent(level: f64) -> String {
    format!("{} %", plain(level * 100.0))
}

/// A name column, then value, lower and upper end of each quantity; without a level, the numbers are exact.
fn interval_columns(name: &str, quantities: &[&str], level: Option<f64>) -> Vec<(String, Align)> {
    let mut columns = vec![(name.to_owned(), Align::Left)];
    for quantity in quantities {
        columns.push(((*quantity).to_owned(), Align::Right));
        let ends = level.map_or_else(Default::default, |level| [format!("{} from", percent(level)), "to".to_owned()]);
        columns.extend(ends.map(|end| (end, Align::Right)));
    }
    columns
}

/// The level of a report's intervals, where it has intervals.
fn level_of(method: &AnswerMethod, level: f64) -> Option<f64> {
    (!exact(method)).then_some(level)
}

/// Value, lower and upper end; `-` where there is none.
fn interval_cells(quantity: Option<&Measured>) -> [String; 3] {
    let none = || "-".to_owned();
    let Some(quantity) = quantity else { return [none(), none(), none()] };
    if quantity.is_exact() {
        return exact_cells(quantity);
    }
    let half = quantity.half_width();
    let number = |value: Option<f64>| value.map_or_else(none, |value| within(value, half));
    let [low, high] = quantity.ends().map_or([None; 2], |ends| ends.map(Some));
    [within(quantity.value, half), number(low), number(high)]
}

/// An exact number says so where others have an interval, and how far its certain bounds are away.
fn exact_cells(quantity: &Measured) -> [String; 3] {
    let away = |[low, high]: [f64; 2]| (quantity.value - low).max(high - quantity.value);
    let away = quantity.ends().map(away).filter(|away| *away > 0.0);
    let surely = away.map_or_else(String::new, |away| format!("+-{}", within(away, Some(away))));
    [within(quantity.value, away), "exact".to_owned(), surely]
}

fn distribution(time: &Distribution, look: &Look) -> String {
    let mut table = Table::new(interval_columns("", &["value"], (!time.mean.is_exact()).then_some(time.mean.level)));
    let named = distribution_rows(time);
    for (name, quantity) in &named {
        table.push(std::iter::once(name.clone()).chain(interval_cells(Some(quantity))));
    }
    let mut text = table.text();
    for (name, quantity) in &named {
        if let Some(note) = quantity.reason() {
            let _ = writeln!(text, "  {name} has no interval: {note}");
        }
    }
    if time.histogram.bars.is_empty() {
        return text;
    }
    text.push('\n');
    text + &histogram_text(&time.histogram, &marks(time), look)
}

/// Mean, spread and quantiles with their names.
fn distribution_rows(time: &Distribution) -> Vec<(String, &Measured)> {
    let mut named = vec![("mean".to_owned(), &time.mean)];
    named.extend(time.sd.as_ref().map(|sd| ("sd".to_owned(), sd)));
    named.extend(time.quantiles.iter().map(|row| (quantile_name(row.p), &row.quantity)));
    named
}

fn marks(time: &Distribution) -> Vec<Mark> {
    let mark = |&p: &f64| Some(Mark { at: time.quantile(p)?, label: quantile_name(p) });
    MARKED.iter().filter_map(mark).collect()
}

fn rows(title: &str, rows: &[Row], report: &SimulationReport, look: &Look) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut table = Table::new(interval_columns("", &["value"], level_of(&report.method, report.question.level)));
    for row in rows {
        table.push(std::iter::once(row.name.clone()).chain(interval_cells(Some(&row.quantity))));
    }
    format!("\n{}{}", look.heading(title), table.text())
}

fn snapshots(report: &SimulationReport, look: &Look) -> String {
    if report.snapshots.is_empty() {
        return String::new();
    }
    let mut columns = interval_columns("expression", &["mean"], level_of(&report.method, report.question.level));
    columns.insert(0, ("time [s]".to_owned(), Align::Right));
    let mut table = Table::new(columns);
    for row in &report.snapshots {
        let cells = interval_cells(row.mean.as_ref());
        table.push([plain(row.time_s), row.expression.clone()].into_iter().chain(cells));
    }
    format!("\n{}{}", look.heading("snapshots"), table.text())
}

fn provenance(provenance: &ProvenanceSummary) -> String {
    let device = provenance.device.as_ref().map_or("", |device| device.adapter.as_str());
    let place = match &*provenance.backend {
        "cpu" => "on the CPU".to_owned(),
        "gpu" => format!("on {device}"),
        "cpu then gpu" => format!("on the CPU, then on {device}"),
        _ => format!("on the CPU, then on {device}, then on the CPU"),
    };
    let threads = provenance.threads;
    // vectors and threads are those of the CPU
    let how = match &*provenance.backend {
        "gpu" => String::new(),
        _ => format!(" ({}), {threads} thread{}", provenance.vector, if threads == 1 { "" } else { "s" }),
    };
    let wall = duration(Duration::from_secs_f64(provenance.wall_s));
    let (seed, engine, reason) = (provenance.seed, &provenance.engine, &provenance.backend_reason);
    format!("seed {seed}, {engine} engine{how}, {wall}, {place} ({reason})\n")
}

/// The text of a steady state.
pub fn steady_text(report: &SteadyReport, look: &Look) -> String {
    let mut text = look.heading(&net_title(&report.net));
    let _ = if exact(&report.method) {
        writeln!(text, "{}\nmeans in the long run", report.method.words())
    } else {
        writeln!(
            text,
            "{}, {} and {} s of model time together\nmeans in the long run; intervals from the means of the runs",
            counted(report.runs, "independent run"),
            counted(report.firings, "firing"),
            plain(report.model_time_s)
        )
    };
    let lists = [
        ("mean tokens", &report.tokens),
        ("throughput [1/s]", &report.throughputs),
        ("rewards per second", &report.rewards),
    ];
    for (title, rows) in lists.into_iter().filter(|(_, rows)| !rows.is_empty()) {
        let mut columns = interval_columns("", &["value"], level_of(&report.method, report.level));
        if !exact(&report.method) {
            columns.push(("warm-up".to_owned(), Align::Right));
        }
        let mut table = Table::new(columns);
        for row in rows {
            let warm_up = row.warm_up.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0));
            let cells = interval_cells(Some(&row.quantity)).into_iter().chain([warm_up]);
            table.push(std::iter::once(row.name.clone()).chain(cells));
        }
        text += &format!("\n{}{}", look.heading(title), table.text());
        for row in rows {
            if let Some(note) = row.quantity.reason() {
                let _ = writeln!(text, "  {} has no interval: {note}", row.name);
            }
        }
    }
    if let (Some(seed), Some(wall)) = (report.seed, report.wall_s) {
        let _ = writeln!(text, "\nseed {seed}, {}", duration(Duration::from_secs_f64(wall)));
    }
    text
}

/// `name: 3 places, 1 transition`.
pub(super) fn net_title(net: &NetSummary) -> String {
    let name = if net.name.is_empty() { "net" } else { &net.name };
    format!("{name}: {}, {}", counted(net.places as u64, "place"), counted(net.transitions as u64, "transition"))
}

/// The text of a job's report.
pub fn job_text(report: &JobReport, look: &Look) -> String {
    let job = &report.job;
    let mut text = look.heading(&format!(
        "{}: {}, {}, {}{}",
        job.name,
        counted(job.maps, "map task"),
        counted(job.reduces, "reduce task"),
        counted(job.workers, "worker"),
        if job.slots { ", tasks wait for slots" } else { ", all tasks at once" }
    ));
    text += &partial(report.partial, report.replications);
    text.push('\n');
    text += &phases(report, look);
    text += &critical(report, look);
    text.push('\n');
    text += &job_time(report, look);
    text += &attempts(report, look);
    if let Some(cost) = &report.time_cost {
        let wall = duration(Duration::from_secs_f64(cost.estimate_s));
        let ratio = plain_percent(cost.ratio);
        let _ = writeln!(text, "\ntime cost: {wall} for a job of {} s, {ratio} of it", plain_seconds(cost.job_s));
    }
    if let Some(found) = &report.provenance {
        text += &provenance(found);
    }
    text
}

fn plain_seconds(seconds: f64) -> String {
    format!("{seconds:.1}")
}

fn plain_percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent >= 0.01 { format!("{percent:.2} %") } else { format!("{percent:.1e} %") }
}

fn phases(report: &JobReport, look: &Look) -> String {
    let simulated = report.phases.iter().any(|phase| phase.last_done.is_some());
    let mut columns =
        vec![("phase", Align::Left), ("tasks", Align::Right), ("mean", Align::Right), ("law", Align::Left)];
    if simulated {
        columns.extend([("first done", Align::Right), ("last done", Align::Right)]);
    }
    let mut table = Table::new(columns);
    for phase in &report.phases {
        let mean = if phase.min_s < phase.max_s {
            format!("{:.3} ({:.3} to {:.3})", phase.mean_s, phase.min_s, phase.max_s)
        } else {
            format!("{:.3}", phase.mean_s)
        };
        let label = format!("{} {}", phase.number, phase.name);
        let mut cells = vec![label, count(phase.tasks as u128), mean, phase.law.to_string()];
        cells.push(plus_minus(phase.first_done.as_ref(), look));
        cells.push(plus_minus(phase.last_done.as_ref(), look));
        table.push(cells.into_iter().take(if simulated { 6 } else { 4 }));
    }
    look.heading("phases: mean time of a task, and when the first and the last task have done it [s]") + &table.text()
}

/// `96.75 ± 0.69`.
fn plus_minus(quantity: Option<&Measured>, look: &Look) -> String {
    let Some(quantity) = quantity else { return "-".to_owned() };
    let half = quantity.half_width();
    let value = within(quantity.value, half);
    match half {
        Some(half) => format!("{value} {} {}", look.either("±", "+-"), within(half, Some(half))),
        None => value,
    }
}

fn critical(report: &JobReport, look: &Look) -> String {
    if report.phases.iter().all(|phase| phase.critical.is_none()) {
        let reason = report.no_critical.as_ref();
        return reason.map_or_else(String::new, |reason| format!("  no critical path: {reason}\n"));
    }
    let mut table = Table::new([
        ("phase", Align::Left),
        ("on the critical path", Align::Right),
        ("share", Align::Right),
        ("", Align::Left),
        ("s per s", Align::Right),
    ]);
    for phase in &report.phases {
        let Some(critical) = &phase.critical else { continue };
        table.push([
            format!("{} {}", phase.number, phase.name),
            plus_minus(Some(&critical.time), look),
            format!("{:.1} %", critical.share * 100.0),
            look.either("█", "#").repeat((critical.share * SHARE_BAR).round().max(0.0) as usize),
            critical.sensitivity.map_or_else(|| "-".to_owned(), |s| format!("{s:.2}")),
        ]);
    }
    let title = "where the time goes: time on the critical path [s], and how much longer the job gets\n\
                 when the phase's mean gets one second longer";
    format!("\n{}{}", look.heading(title), table.text())
}

/// Characters of a bar for a share of 1.
const SHARE_BAR: f64 = 40.0;

fn job_time(report: &JobReport, look: &Look) -> String {
    let mut columns = vec![(String::new(), Align::Left)];
    if report.analytic.is_some() {
        columns.push(("exact".to_owned(), Align::Right));
    }
    if report.job_time.is_some() {
        columns.push(("simulated".to_owned(), Align::Right));
        columns.push((format!("{} from", percent(report.level)), Align::Right));
        columns.push(("to".to_owned(), Align::Right));
    }
    let mut table = Table::new(columns);
    let exact = report.analytic.as_ref().map(exact_rows);
    let simulated = report.job_time.as_ref().map(distribution_rows);
    let names: Vec<String> = match (&exact, &simulated) {
        (Some(exact), _) => exact.iter().map(|(name, ..)| name.clone()).collect(),
        (None, Some(simulated)) => simulated.iter().map(|(name, _)| name.clone()).collect(),
        (None, None) => Vec::new(),
    };
    for name in names {
        let value = exact.iter().flatten().find(|(own, _, _)| *own == name).map(|(_, value, _)| format!("{value:.3}"));
        let quantity = simulated.iter().flatten().find(|(own, _)| *own == name).map(|(_, quantity)| *quantity);
        let cells = simulated.is_some().then(|| interval_cells(quantity)).into_iter().flatten();
        table.push(std::iter::once(name).chain(value).chain(cells));
    }
    let mut text = look.heading(&job_time_title(report)) + &table.text();
    let widest = exact.iter().flatten().map(|(_, _, away)| *away).fold(0.0, f64::max);
    if widest > 0.0 {
        let _ = writeln!(text, "  exact within {} s, but for the sd: by series-parallel reduction", plain(widest));
    }
    if let Some(reason) = &report.no_analytic {
        let _ = writeln!(text, "  no exact distribution: {reason}");
    }
    for (name, quantity) in simulated.iter().flatten() {
        if let Some(note) = quantity.reason() {
            let _ = writeln!(text, "  {name} has no interval: {note}");
        }
    }
    if let Some(time) = &report.job_time {
        text.push('\n');
        text += &histogram_text(&time.histogram, &marks(time), look);
    }
    text
}

/// What stragglers and copies cost.
fn attempts(report: &JobReport, look: &Look) -> String {
    if report.attempts.is_empty() {
        return String::new();
    }
    let mut columns = interval_columns("", &["mean"], Some(report.level));
    columns.insert(1, ("unit".to_owned(), Align::Left));
    let mut table = Table::new(columns);
    for row in &report.attempts {
        let cells = interval_cells(Some(&row.quantity));
        table.push([row.name.clone(), row.unit.to_string()].into_iter().chain(cells));
    }
    format!("\n{}{}", look.heading("attempts: what stragglers and their copies cost in a run"), table.text())
}

fn job_time_title(report: &JobReport) -> String {
    match &report.job_time {
        Some(time) => format!("job time [s], {}", counted(time.samples, "replication")),
        None => "job time [s]".to_owned(),
    }
}

/// Name, value, and how far the certain bounds are away at most, where there are any.
fn exact_rows(law: &AnalyticSummary) -> Vec<(String, f64, f64)> {
    let away = |value: f64, low: Option<f64>, high: Option<f64>| {
        low.map_or(0.0, |low| value - low).max(high.map_or(0.0, |high| high - value))
    };
    let [low, high] = law.mean_bounds.map_or([None; 2], |bounds| bounds.map(Some));
    let mut rows = vec![("mean".to_owned(), law.mean, away(law.mean, low, high)), ("sd".to_owned(), law.sd, 0.0)];
    rows.extend(law.quantiles.iter().map(|p| (quantile_name(p.p), p.value, away(p.value, p.low, p.high))));
    rows
}
