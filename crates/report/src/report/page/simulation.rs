//! The sections of a simulated net: the time to a goal, and the long run.

use crate::document::parts::{
    TimeFound, add_times, ends, interval_note, partial, provenance_rows, rows_table, times_table, wall,
};
use crate::document::{Cell, Document, Number, Piece, Table};
use crate::report::number::{count, counted, plain};
use crate::report::plot::PlotError;
use crate::report::rows_plot::{BarRow, rows_picture};
use crate::report::steady::{SteadyReport, SteadyRow};
use crate::report::summary::{NetSummary, SimulationReport};
use crate::report::times_plot::Times;

/// What a net is called, also where it has no name.
pub(super) fn name_of(net: &NetSummary) -> String {
    if net.name.is_empty() { "A net without a name".to_owned() } else { net.name.clone() }
}

/// How large a net is.
pub(super) fn size_of(net: &NetSummary) -> String {
    format!("{} and {}", counted(net.places as u128, "place"), counted(net.transitions as u128, "transition"))
}

/// What a simulation found.
pub(super) fn section(report: &SimulationReport) -> Result<Document<'static>, PlotError> {
    let time = report.passage_time.as_ref().map(|time| TimeFound::distribution("/passage_time", time));
    let level = report.question.level;
    let horizon = report.question.horizon_s.map_or_else(String::new, |end| format!(", up to {} s", plain(end)));
    let mut section = Document {
        kind: "simulation of a net",
        title: name_of(&report.net),
        question: format!("How long until {}{horizon}? The net has {}.", report.question.goal, size_of(&report.net)),
        answer: time.as_ref().map(|time| time.answer("the runs")).unwrap_or_default(),
        headline: time.as_ref().map(TimeFound::headline),
        ..Document::default()
    };
    section.answer.extend(reached(report));
    section.remarks.extend(partial(report.partial, report.replications));
    let rows: Vec<BarRow> = report
        .groups
        .iter()
        .filter_map(|group| {
            let (first, last) = (group.first.as_ref()?, group.last.as_ref()?);
            let bar = [first.value, last.value];
            let text = format!("{} s", plain((last.value * 100.0).round() / 100.0));
            Some(BarRow { name: group.name.clone(), bar, interval: ends(last), text, ..BarRow::default() })
        })
        .collect();
    let caption = "From the first to the last firing of each group of transitions, on average; the black line is the interval of the end.";
    section.drawn(rows_picture("waterfall", "time [s]", &rows)?, "What runs when", caption);
    if let Some(found) = &report.passage_time {
        add_times(&mut section, &Times::new("time", found, None))?;
    }
    let ways: Vec<(&str, &TimeFound)> = time.iter().map(|time| ("time", time)).collect();
    if !ways.is_empty() {
        section.table(times_table("Time to the goal", level, &ways));
    }
    section.table(rows_table("Mean tokens", level, "/tokens", &report.tokens));
    section.table(rows_table("Throughputs", level, "/throughputs", &report.throughputs));
    section.table(rows_table("Rewards", level, "/rewards", &report.rewards));
    section.table(snapshots(report));
    section.provenance = report.provenance.as_ref().map(provenance_rows).unwrap_or_default();
    let mut method = vec![["method".to_owned(), report.method.used.to_string()]];
    if report.replications > 0 {
        method.push(["replications".to_owned(), count(report.replications.into())]);
        method.push(["firings".to_owned(), count(report.firings.into())]);
    }
    section.provenance.extend(method);
    Ok(section)
}

/// How likely the goal is, where it is not certain.
fn reached(report: &SimulationReport) -> Vec<Piece> {
    let Some(probability) = report.goal_probability.as_ref().filter(|p| p.value < 1.0) else { return Vec::new() };
    let number = Number::measured("/goal_probability", probability, "").percent();
    vec![" The goal is reached in ".into(), number.into(), " of the runs; the times are of these.".into()]
}

fn snapshots(report: &SimulationReport) -> Table {
    let mut table = Table::new("At given times", interval_note(report.question.level), &["time [s]", "of", "mean"]);
    for (i, row) in report.snapshots.iter().enumerate() {
        let mean = row.mean.as_ref().map(|mean| Number::measured(format!("/snapshots/{i}/mean"), mean, ""));
        table.rows.push(vec![plain(row.time_s).into(), row.expression.clone().into(), mean.into()]);
    }
    table
}

/// What long runs showed.
pub(super) fn steady_section(report: &SteadyReport) -> Document<'static> {
    let mut section = Document {
        kind: "long run of a net",
        title: name_of(&report.net),
        question: format!("What are the means in the long run? The net has {}.", size_of(&report.net)),
        provenance: vec![
            ["tailspn".to_owned(), report.version.to_string()],
            ["method".to_owned(), report.method.used.to_string()],
            ["independent runs".to_owned(), count(report.runs.into())],
            ["firings".to_owned(), count(report.firings.into())],
        ],
        ..Document::default()
    };
    section.provenance.extend(report.seed.map(|seed| ["seed".to_owned(), seed.to_string()]));
    section.provenance.extend(report.wall_s.map(|seconds| ["time of the runs".to_owned(), wall(seconds)]));
    for rare in &report.rare_transitions {
        let firings = counted(rare.firings, "firing");
        section
            .remarks
            .push(format!("`{}` had {firings} in all runs: they may be too short to show the long run.", rare.name));
    }
    for (title, at, rows) in [
        ("Mean tokens", "/tokens", &report.tokens),
        ("Throughputs", "/throughputs", &report.throughputs),
        ("Rewards", "/rewards", &report.rewards),
    ] {
        section.table(steady_table(title, report.level, at, rows));
    }
    section
}

fn steady_table(title: &str, level: f64, at: &str, rows: &[SteadyRow]) -> Table {
    let mut table = Table::new(title, interval_note(level), &["", "value", "left out as warm-up"]);
    for (i, row) in rows.iter().enumerate() {
        let warm_up = row.warm_up.map(|share| Number::new(format!("{at}/{i}/warm_up"), share, "").percent());
        let value: Cell = Number::measured(format!("{at}/{i}"), &row.quantity, row.unit.clone()).into();
        table.rows.push(vec![row.name.clone().into(), value, warm_up.into()]);
    }
    table
}
