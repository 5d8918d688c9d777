//! The explanation of several runs: a row for each, the longest first.

use serde::{Deserialize, Serialize};
use tailspn_common::field;
use tailspn_common::row::{CoreSeconds, Row, Seconds};

use crate::diagnose::Cause;
use crate::diagnose::causes::RootCauses;
use crate::document::{Document, NextCommand, Report, Screen, ScreenVerdict, Table, human_time};
use crate::report::diagnosis::cause_text;
use crate::report::number::counted;
use crate::report::trace_rows::TraceReport;

/// A cause that cost less than this share of the job's time is not named.
const WORTH: f64 = 0.01;
/// Greatest error of a replay, as a share of the logged time.
const POOR: f64 = 0.05;
/// Maximum number of runs that a verdict names.
const NAMED: usize = 3;

/// A run, and what was slow in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Row)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExplainedRun {
    /// The name of the log on the command line, or in its folder.
    pub log: String,
    /// Name of the application.
    #[column(csv)]
    pub application: String,
    /// Time of the job; none if the log does not tell it.
    pub took_s: Option<Seconds>,
    /// Time until the first task, and what slow first tasks of executors cost.
    pub start_s: Seconds,
    /// The most costly cause besides the start; `-` if none cost 1% of the time.
    #[column("largest_other_cause")]
    pub cause: String,
    /// Cost of that cause.
    #[column("costs")]
    pub cost_s: Option<Seconds>,
    /// Slot time of all attempts.
    #[column("work", detail)]
    pub work_core_s: CoreSeconds,
    /// Time of the job by a schedule of the recorded tasks, which costs are computed with.
    #[column(csv)]
    pub replayed_s: Option<Seconds>,
}

/// The explanation of several runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhyList {
    /// The runs, the longest first.
    pub rows: Vec<ExplainedRun>,
    /// True if the reading was ended early.
    pub partial: bool,
    /// Version of tailspn.
    pub version: String,
    /// The command that explains the longest run.
    #[serde(skip)]
    pub next: Option<String>,
}

impl ExplainedRun {
    /// Returns the row of a log.
    pub fn new(log: String, run: &TraceReport, causes: &RootCauses) -> Self {
        let replayed = causes.replayed();
        let took_s = replayed.map(|replayed| replayed.logged_s);
        let is_other = |cause: Cause| cause != Cause::WarmUp;
        let advice = causes.advice();
        let worth_s = WORTH * took_s.unwrap_or(f64::INFINITY);
        let most = advice.iter().filter(|advice| is_other(advice.cause)).find_map(|advice| {
            let cost_s = advice.job_s.filter(|cost_s| *cost_s >= worth_s)?;
            let on = if advice.nodes.len() == 1 { format!(", {}", advice.nodes[0]) } else { String::new() };
            let stage = if advice.stages.len() == 1 { format!(", stage {}", advice.stages[0]) } else { String::new() };
            let place = if advice.stragglers == 0 || on.is_empty() { stage } else { on };
            let name = if advice.cause == Cause::Unknown { "not explained" } else { cause_text(advice.cause) };
            Some((format!("{name}{place}"), cost_s))
        });
        let warm = causes.warm_up();
        Self {
            log,
            application: run.applications.first().map_or_else(String::new, |one| one.name.clone()),
            took_s: took_s.map(Seconds),
            start_s: Seconds(warm.map_or(0.0, |warm| warm.start_s + warm.job_s.unwrap_or(0.0))),
            cause: most.as_ref().map_or_else(|| "-".to_owned(), |(cause, _)| cause.clone()),
            cost_s: most.map(|(_, cost_s)| Seconds(cost_s)),
            work_core_s: CoreSeconds(run.nodes.iter().map(|node| node.busy_s).sum()),
            replayed_s: replayed.map(|replayed| Seconds(replayed.replayed_s)),
        }
    }

    /// Returns true if the schedule of the recorded tasks takes the time of the job.
    fn is_reproduced(&self) -> bool {
        let both = self.took_s.zip(self.replayed_s);
        both.is_some_and(|(took_s, replayed_s)| (replayed_s.0 - took_s.0).abs() <= POOR * took_s.0)
    }
}

impl WhyList {
    /// Returns the list, the longest run first, from the rows with the commands that explain them.
    pub fn new(mut runs: Vec<(ExplainedRun, String)>, partial: bool) -> Self {
        let took_s = |(row, _): &(ExplainedRun, String)| row.took_s.map_or(-1.0, |took_s| took_s.0);
        runs.sort_by(|a, b| took_s(b).total_cmp(&took_s(a)));
        let next = runs.first().map(|(_, command)| command.clone());
        let rows = runs.into_iter().map(|(row, _)| row).collect();
        Self { rows, partial, version: env!("CARGO_PKG_VERSION").to_owned(), next }
    }

    fn answer(&self) -> String {
        let total = self.rows.iter().filter_map(|row| row.took_s).fold(0.0, |sum, took_s| sum + took_s.0);
        let start: f64 = self.rows.iter().map(|row| row.start_s.0).sum();
        let runs = counted(self.rows.len() as u128, "run");
        let mut text = format!("{runs}, {} together.", human_time(total, 3));
        let costly = self.rows.iter().filter_map(|row| Some((row, row.cost_s?.0)));
        if let Some((row, cost_s)) = costly.max_by(|a, b| a.1.total_cmp(&b.1)) {
            text += &format!(" The most costly cause: {} of {}, {}.", row.cause, row.log, human_time(cost_s, 3));
        }
        if total > 0.0 && start >= WORTH * total {
            let share = 100.0 * start / total;
            text += &format!(" The start of executors cost {} in all ({share:.0}%).", human_time(start, 3));
        }
        if self.partial { text + " Reading was stopped early." } else { text }
    }
}

impl Report for WhyList {
    const KIND: &'static str = "why_list";
    const HAS_VERSION: bool = true;

    fn document(&self) -> Document<'_> {
        let table = |title: &str| -> Table {
            Table::of(title, "/rows", &self.rows)
                .bar(field!(ExplainedRun, took_s), None)
                .note("Start: time until the first task, and what slow first tasks of executors cost.")
        };
        let timed: Vec<&ExplainedRun> = self.rows.iter().filter(|row| row.took_s.is_some()).collect();
        let missed: Vec<String> = timed.iter().filter(|row| !row.is_reproduced()).map(|row| row.log.clone()).collect();
        let all = timed.len();
        let without = match self.rows.len() - all {
            0 => String::new(),
            some => format!("; {} without a time", counted(some as u128, "run")),
        };
        let (label, line) = match missed.len() {
            _ if all == 0 => (ScreenVerdict::UNCHECKED, "no log tells how long its job took".to_owned()),
            0 => (ScreenVerdict::REPRODUCED, format!("{all} of {all}, each replayed within 5%{without}")),
            some => {
                let more = if some > NAMED { format!(" and {} more", some - NAMED) } else { String::new() };
                let names = missed[..some.min(NAMED)].join(", ");
                (ScreenVerdict::MISFIT, format!("{some} of {all}: {names}{more}{without}"))
            }
        };
        let mut document = Document {
            kind: "explanation of several runs",
            title: counted(self.rows.len() as u128, "run"),
            question: "What each run did, and what was slow in it.".to_owned(),
            answer: vec![self.answer().into()].into(),
            screen: Some(Screen {
                answer: self.answer(),
                own_run: Some(ScreenVerdict { label, lines: vec![line] }),
                tables: vec![table("")],
                next: {
                    let longest = self.next.as_ref().map(|next| NextCommand::new(next, "the longest run"));
                    longest.into_iter().chain([NextCommand::new("tailspn why FILE --csv", "all columns")]).collect()
                },
                ..Screen::default()
            }),
            ..Document::default()
        };
        document.table(table("Runs"));
        document
    }
}
