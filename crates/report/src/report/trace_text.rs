//! What a log says, as a person reads it in a terminal.

use std::fmt::Write as _;

use crate::render::Look;
use crate::report::number::{count, counted, plain};
use crate::report::table::{Align, Table};
use crate::report::trace_rows::{ApplicationRow, BoundsRow, StageRow, TraceReport};

/// How many rows of long lists are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MostRows(pub usize);

impl Default for MostRows {
    fn default() -> Self {
        Self(20)
    }
}

/// Characters of a stage's name that are shown.
const NAME: usize = 22;
/// Characters of the longest bar.
const BAR: f64 = 24.0;
/// Bounds take so many rows that only one in so many applications is shown.
const BOUNDS_PART: usize = 5;
/// A node counts as slow from this many median times on.
const SLOW_NODE: f64 = 1.2;

/// The text of a log's report.
pub fn trace_text(report: &TraceReport, most: MostRows, look: &Look) -> String {
    let mut text = String::new();
    if report.partial {
        text += "PARTIAL: the reading was ended early\n";
    }
    text += &what_ran(report, look);
    text += &stages(report, most, look);
    if !report.outcomes.is_empty() {
        text += &stragglers(report, most, look);
        text += &copies(report, look);
    }
    let mut bound: Vec<_> = report.applications.iter().filter_map(|a| Some((a, a.bounds.as_ref()?))).collect();
    let shown = most.0.div_ceil(BOUNDS_PART);
    let hidden = bound.len().saturating_sub(shown);
    if hidden > 0 {
        bound.sort_by(|a, b| b.1.span_s.total_cmp(&a.1.span_s));
    }
    for (application, bounds) in bound.into_iter().take(shown) {
        text += &bounds_text(application, bounds, report.applications.len() > 1, look);
    }
    if hidden > 0 {
        let _ = writeln!(text, "  and {} (--all)", counted(hidden as u128, "shorter application"));
    }
    text
}

/// A time with as many digits as a person reads.
pub(super) fn time(seconds: f64) -> String {
    match seconds.abs() {
        s if s >= 1000.0 => format!("{seconds:.0}"),
        s if s >= 100.0 => format!("{seconds:.1}"),
        s if s >= 10.0 => format!("{seconds:.2}"),
        _ => format!("{seconds:.3}"),
    }
}

/// An amount of data in a fitting unit of powers of 1000.
pub(super) fn size(bytes: f64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut value = bytes;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && value < 100.0);
    format!("{value:.digits$} {}", UNITS[unit])
}

fn clipped(name: &str) -> String {
    let line = name.lines().next().unwrap_or("");
    if line.chars().count() <= NAME {
        return line.to_owned();
    }
    let kept: String = line.chars().take(NAME - 3).collect();
    format!("{}...", kept.trim_end())
}

fn title(report: &TraceReport) -> String {
    let [application] = report.applications.as_slice() else {
        return format!("{} in {}", counted(report.applications.len() as u128, "application"), report.format_text);
    };
    let name = if application.name.is_empty() { "an application without a name" } else { &application.name };
    let id = if application.id.is_empty() { String::new() } else { format!(" ({})", application.id) };
    let version = application.version.as_ref().map_or_else(String::new, |version| format!(", Spark {version}"));
    format!("{name}{id}: {}{version}", report.format_text)
}

fn what_ran(report: &TraceReport, look: &Look) -> String {
    let mut text = look.heading(&title(report));
    let mut line = |what: &str, value: String| {
        let _ = writeln!(text, "  {what:<13}{value}");
    };
    let failed = report.jobs.iter().filter(|job| job.succeeded == Some(false)).count();
    let open = report.jobs.iter().filter(|job| job.completed_s.is_none()).count();
    let mut jobs = count(report.jobs.len() as u128);
    for (number, what) in [(failed, "failed"), (open, "without an end")] {
        if number > 0 {
            let _ = write!(jobs, ", {} {what}", count(number as u128));
        }
    }
    line("jobs", jobs);
    let tasks: u64 = report.stages.iter().map(|stage| stage.tasks_done).sum();
    line("stages", format!("{} with {} done", count(report.stages.len() as u128), counted(tasks, "task")));
    let attempts: u64 = report.outcomes.iter().map(|row| row.attempts).sum();
    let outcomes: Vec<String> = report
        .outcomes
        .iter()
        .map(|row| format!("{} {}", count(row.attempts.into()), row.outcome.replace('_', " ")))
        .collect();
    let colon = if outcomes.is_empty() { "" } else { ": " };
    line("attempts", format!("{}{colon}{}", count(attempts.into()), outcomes.join(", ")));
    if let [application] = report.applications.as_slice() {
        let stated = if application.slots_stated { "" } else { " (most at once; the log states no cores)" };
        line("slots", format!("{}{stated}", count(application.slots.into())));
    }
    if !report.nodes.is_empty() {
        line("nodes", nodes(report));
    }
    let moved: Vec<String> = report
        .amounts
        .iter()
        .filter(|row| row.sum > 0.0)
        .filter_map(|row| {
            let name = row.metric.strip_suffix("_bytes")?;
            Some(format!("{} {}", name.replace('_', " "), size(row.sum)))
        })
        .collect();
    if !moved.is_empty() {
        for (i, row) in moved.chunks(3).enumerate() {
            line(if i == 0 { "bytes" } else { "" }, row.join(", "));
        }
    }
    text
}

/// The number of nodes, and those whose tasks take longer than elsewhere.
fn nodes(report: &TraceReport) -> String {
    let mut slow: Vec<(&str, f64)> = report
        .nodes
        .iter()
        .filter_map(|node| Some((node.name.as_str(), node.slowness?)))
        .filter(|(_, slowness)| *slowness > SLOW_NODE && report.nodes.len() > 1)
        .collect();
    slow.sort_by(|a, b| b.1.total_cmp(&a.1));
    let names: Vec<String> = slow.iter().take(3).map(|(name, ratio)| format!("{name} {ratio:.1}")).collect();
    let number = count(report.nodes.len() as u128);
    if names.is_empty() {
        return number;
    }
    format!("{number}; slow (times the median of the stage): {}", names.join(", "))
}

fn stages(report: &TraceReport, most: MostRows, look: &Look) -> String {
    let mut shown: Vec<&StageRow> = report.stages.iter().filter(|stage| stage.attempts > 0).collect();
    let hidden = shown.len().saturating_sub(most.0);
    if hidden > 0 {
        // those that took most, in their order
        let total = |row: &StageRow| row.times_s.map_or(0.0, |times| times.total);
        shown.sort_by(|a, b| total(b).total_cmp(&total(a)));
        shown.truncate(most.0);
        shown.sort_by_key(|row| (row.application, row.number, row.attempt));
    }
    if shown.is_empty() {
        return String::new();
    }
    let right = ["tasks", "waves", "min", "p25", "median", "p75", "p95", "max", ">1.5m", ">1.2u"];
    let columns = [("stage", Align::Left), ("", Align::Left)].into_iter();
    let mut table = Table::new(columns.chain(right.map(|name| (name, Align::Right))));
    for stage in shown {
        table.push(stage_cells(stage, report.applications.len() > 1));
    }
    let mut text = format!("\n{}{}", look.heading("how long tasks took [s]"), table.text());
    if hidden > 0 {
        let _ = writeln!(text, "  and {} that took less (--all)", counted(hidden as u128, "stage"));
    }
    let _ = writeln!(text, "  waves: tasks over slots; >1.5m: attempts beyond 1.5 medians of the stage (Mantri);");
    let _ = writeln!(text, "  >1.2u: beyond 1.2 usual times (Phan et al.), usual: {}", report.usual);
    text
}

fn stage_cells(stage: &StageRow, with_application: bool) -> Vec<String> {
    let attempt = if stage.attempt > 0 { format!(".{}", stage.attempt) } else { String::new() };
    let application = if with_application { format!("{}/", stage.application) } else { String::new() };
    let mut cells = vec![
        format!("{application}{}{attempt}", stage.number),
        clipped(&stage.name),
        stage.tasks.map_or_else(|| count(stage.tasks_done.into()), |tasks| count(tasks.into())),
        stage.waves.map_or_else(String::new, |waves| format!("{waves:.1}")),
    ];
    match stage.times_s {
        Some(times) => {
            cells.extend([times.min, times.p25, times.median, times.p75, times.p95, times.max].map(time));
        }
        None => cells.extend(["-"; 6].map(str::to_owned)),
    }
    cells.extend([count(stage.over_median.into()), count(stage.over_usual.into())]);
    cells
}

fn stragglers(report: &TraceReport, most: MostRows, look: &Look) -> String {
    // the list is by the stricter rule; the other one is counted
    let found: Vec<_> = report.stragglers.iter().filter(|row| row.over_median).collect();
    let usual = report.stragglers.iter().filter(|row| row.over_usual).count();
    let title = format!(
        "stragglers: {} beyond 1.5 medians, {} beyond 1.2 usual times",
        count(found.len() as u128),
        count(usual as u128)
    );
    let mut text = format!("\n{}", look.heading(&title));
    if found.is_empty() {
        return text;
    }
    let columns = [
        ("stage", Align::Right),
        ("task", Align::Right),
        ("attempt", Align::Right),
        ("node", Align::Left),
        ("time [s]", Align::Right),
        ("medians", Align::Right),
        ("outcome", Align::Left),
    ];
    let mut table = Table::new(columns);
    for row in found.iter().take(most.0) {
        let at_least = if row.at_least { look.either("≥ ", ">= ") } else { "" };
        let copy = if row.speculative { ", a copy" } else { "" };
        table.push([
            if report.applications.len() > 1 {
                format!("{}/{}", row.application, row.stage)
            } else {
                row.stage.to_string()
            },
            row.task.to_string(),
            row.attempt.to_string(),
            row.node.clone().unwrap_or_default(),
            format!("{at_least}{}", time(row.time_s)),
            row.medians.map_or_else(String::new, |medians| format!("{medians:.2}")),
            format!("{}{copy}", row.outcome.replace('_', " ")),
        ]);
    }
    text += &table.text();
    if found.len() > most.0 {
        let _ = writeln!(text, "  and {} more (--all)", count((found.len() - most.0) as u128));
    }
    text
}

fn copies(report: &TraceReport, look: &Look) -> String {
    let copies = &report.copies;
    if copies.started == 0 {
        return format!("\n{}", look.heading("copies of running attempts: none"));
    }
    let title = format!("copies of running attempts: {}", count(copies.started.into()));
    let mut text = format!("\n{}", look.heading(&title));
    let fates = [(copies.won, "won"), (copies.lost, "lost"), (copies.failed, "failed"), (copies.open, "in vain")];
    let fates: Vec<String> = fates
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, fate)| format!("{} {fate}", count(number.into())))
        .collect();
    let _ = writeln!(text, "  of {}: {}", counted(copies.tasks, "task"), fates.join(", "));
    if let Some(share) = copies.wasted_share {
        let wasted = time(copies.wasted_s);
        let _ = writeln!(
            text,
            "  attempts of these tasks in vain: {wasted} s, {} % of the time of all attempts",
            plain((1000.0 * share).round() / 10.0)
        );
    }
    text
}

fn bounds_text(application: &ApplicationRow, bounds: &BoundsRow, with_name: bool, look: &Look) -> String {
    let name = if application.name.is_empty() { &application.id } else { &application.name };
    let of = if with_name { format!(" of {name}") } else { String::new() };
    let mut text = format!("\n{}", look.heading(&format!("what bounds the time{of} [s]")));
    let slots = counted(application.slots, "slot");
    let rows = [
        ("", "actual: first job to last end".to_owned(), bounds.span_s),
        ("slots", format!("all work on {slots}"), bounds.by_slots_s),
        ("critical_path", "longest chain of stages".to_owned(), bounds.by_critical_path_s),
        ("longest_task", "longest task".to_owned(), bounds.by_longest_task_s),
        ("driver", "no task running: driver, scheduling".to_owned(), bounds.by_driver_s),
    ];
    let longest = rows.iter().map(|row| row.2).fold(1e-9, f64::max);
    let mut table = Table::new([("", Align::Left), ("", Align::Right), ("", Align::Left)]);
    for (key, what, seconds) in rows {
        let length = (BAR * seconds / longest).round() as usize;
        let bar = look.either("█", "#").repeat(length);
        let largest = if key == bounds.largest { "  largest bound" } else { "" };
        table.push([what, time(seconds), format!("{bar}{largest}")]);
    }
    // no header
    text += table.text().split_once('\n').map_or("", |(_, rows)| rows);
    if !bounds.knows_dependencies {
        text += "  (the log does not say which stage waits for which: chains are single stages)\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_have_few_digits() {
        let times = [0.0, 0.1234, 12.345, 123.45, 12_345.6].map(time);
        assert_eq!(times, ["0.000", "0.123", "12.35", "123.5", "12346"]);
        assert_eq!([0.0, 999.0, 1500.0, 123_456_789.0, 5e12].map(size), ["0 B", "999 B", "1.5 kB", "123 MB", "5.0 TB"]);
    }

    #[test]
    fn long_names_are_clipped() {
        assert_eq!(clipped("count"), "count");
        assert_eq!(clipped("a very long name of a stage\nand more"), "a very long name of...");
    }
}
