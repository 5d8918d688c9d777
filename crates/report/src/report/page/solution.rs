//! The section of a net that was solved: the time to a goal, verdicts, the long run.

use crate::document::parts::{TimeFound, add_times, times_table};
use crate::document::{Cell, Document, Number, Table};
use crate::report::number::{count, counted};
use crate::report::plot::PlotError;
use crate::report::solve::SolveReport;
use crate::report::solve_numbers::{AverageSection, NumberRow};
use crate::report::times_plot::Times;

/// What a solution found.
pub(in crate::report) fn section(report: &SolveReport) -> Result<Document<'static>, PlotError> {
    let passage = report.passage.as_ref();
    let time = passage.and_then(TimeFound::passage);
    let goal = passage.map_or_else(
        || "What can happen in this net, and what in the long run?".to_owned(),
        |passage| format!("How long until {}?", passage.goal),
    );
    let mut section = Document {
        kind: "exact solution of a net",
        title: report.net.title(),
        question: format!("{goal} The net has {}.", report.net.size()),
        answer: time.as_ref().map(|time| time.answer("the runs")).unwrap_or_default(),
        headline: time.as_ref().map(TimeFound::headline),
        provenance: provenance(report),
        ..Document::default()
    };
    if let Some(passage) = passage.filter(|passage| passage.probability < 1.0) {
        let number = Number::new("/passage/probability", passage.probability, "").percent();
        section.answer.extend([" The goal is ever reached with probability ".into(), number.into(), ".".into()]);
    }
    if section.answer.is_empty() {
        section.answer.push(verdict(report).into());
    }
    section.remarks.extend(report.stopped.iter().map(|why| format!("Markings are missing: {why}.")));
    section.remarks.extend(
        passage
            .and_then(|passage| passage.no_distribution.as_ref())
            .map(|why| format!("There is no distribution: {why}.")),
    );
    if let Some(passage) = passage {
        add_times(&mut section, Times::passage("time", passage), None);
    }
    if let Some(time) = &time {
        let table = times_table("Time to the goal", 0.95, &[("exact", "", time)]);
        section.table(Table { note: "One run in twenty takes longer than p95, and so on.".to_owned(), ..table });
    }
    section.table(verdicts(report));
    if let Some(steady) = &report.steady {
        averages(&mut section, "in the long run", "/steady", &steady.averages);
    }
    for (i, at) in report.at.iter().enumerate() {
        averages(
            &mut section,
            &format!("at {} s", crate::report::number::plain(at.time_s)),
            &format!("/at/{i}"),
            &at.averages,
        );
    }
    Ok(section)
}

/// What the markings say, in a sentence.
fn verdict(report: &SolveReport) -> String {
    if let Some(unbounded) = &report.unbounded {
        return format!("The net is unbounded: {} can grow without end.", unbounded.places.join(", "));
    }
    let states = report
        .state_space
        .as_ref()
        .map_or_else(String::new, |space| format!("{} tangible markings; ", count(space.tangible as u128)));
    match &report.deadlocks {
        Some(dead) if dead.count > 0 => {
            format!("{states}{} in which nothing can fire.", counted(dead.count as u128, "marking"))
        }
        Some(_) => format!("{states}something can always fire."),
        None => format!("{states}whether something can always fire is not known."),
    }
}

fn verdicts(report: &SolveReport) -> Table {
    let mut table = Table::new("What the markings show", "", &["", "finding"]);
    let mut push = |name: &str, cell: Option<Cell>| table.rows.extend(cell.map(|cell| vec![name.into(), cell]));
    let yes = |holds: bool| Cell::from(if holds { "yes" } else { "no" });
    let space = report.state_space.as_ref();
    push("tangible markings", space.map(|space| Number::count("/state_space/tangible", space.tangible as u64).into()));
    push("edges", space.map(|space| Number::count("/state_space/edges", space.edges as u64).into()));
    push(
        "dead markings",
        report.deadlocks.as_ref().map(|dead| Number::count("/deadlocks/count", dead.count as u64).into()),
    );
    push("every transition is live", report.verdicts.as_ref().map(|verdicts| yes(verdicts.live)));
    push("every marking leads back to the first", report.verdicts.as_ref().map(|verdicts| yes(verdicts.reversible)));
    push("no place ever holds two tokens", report.safe.map(yes));
    table
}

fn averages(section: &mut Document<'_>, when: &str, at: &str, averages: &AverageSection) {
    for (title, name, rows) in [
        ("Measures", "measures", &averages.measures),
        ("Mean tokens", "tokens", &averages.tokens),
        ("Throughputs", "throughputs", &averages.throughputs),
    ] {
        let mut table = Table::new(&format!("{title} {when}"), "", &["", "value"]);
        let row = |(i, row): (usize, &NumberRow)| {
            vec![
                row.name.clone().into(),
                Number::new(format!("{at}/{name}/{i}/value"), row.value, row.unit.clone()).into(),
            ]
        };
        table.rows = rows.iter().enumerate().map(row).collect();
        section.table(table);
    }
}

fn provenance(report: &SolveReport) -> Vec<[String; 2]> {
    let mut rows =
        vec![["tailspn".to_owned(), report.version.to_string()], ["method".to_owned(), report.method.used.to_string()]];
    let passage = report.passage.as_ref();
    rows.extend(
        passage.and_then(|passage| passage.method.as_ref()).map(|by| ["moments".to_owned(), format!("by {by}")]),
    );
    rows.extend(
        passage.map(|passage| ["error of the distribution".to_owned(), format!("at most {:.1e}", passage.cdf_error)]),
    );
    rows
}
