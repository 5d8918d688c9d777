//! The lines that `watch` prints while an application runs: its start, a forecast whenever the log has grown, slow tasks, and its end.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tailspn::report::{
    RemainingBasis, RemainingReport, RemainingStageRow, Report as _, counted, human_time, percent_text, short_name,
};
use tailspn::trace::analysis::{Usual, observed, stragglers};
use tailspn::trace::{JobTrace, Outcome, utc_text};

/// Code of a terminal that goes up one line and clears it.
pub(crate) const REWRITE: &str = "\x1b[1A\x1b[2K";

/// The forecasts and slow tasks that were printed.
#[derive(Debug, Default)]
pub(crate) struct LeftLines {
    /// True if a forecast takes the place of the one before it, as on a terminal.
    is_rewritten: bool,
    /// Ends of the intervals of the forecasts so far \[s\], from the start of the first job.
    forecasts: Vec<[f64; 2]>,
    /// True if the last line is a forecast.
    ends_with_forecast: bool,
    /// Stages and nodes whose slow tasks were reported.
    slow: BTreeSet<(u32, String)>,
}

impl LeftLines {
    /// Returns the state before the first forecast.
    pub(crate) fn new(is_rewritten: bool) -> Self {
        Self { is_rewritten, ..Self::default() }
    }

    /// Returns the lines that a new forecast adds. `log` is the log as a word of a shell.
    pub(crate) fn text(&mut self, report: &RemainingReport, trace: &JobTrace, log: &str) -> String {
        if report.basis == RemainingBasis::Ended {
            return self.end(report, log);
        }
        let mut text = String::new();
        if self.forecasts.is_empty() {
            text += &start(report);
        }
        let slow = self.slow_tasks(report, trace);
        text += &slow;
        if self.is_rewritten && self.ends_with_forecast && text.is_empty() {
            text += REWRITE;
        }
        text += &forecast(report);
        let elapsed_s = report.elapsed_s.unwrap_or(0.0);
        self.forecasts.push(report.prediction_s.map(|left_s| elapsed_s + left_s));
        self.ends_with_forecast = true;
        text
    }

    fn end(&self, report: &RemainingReport, log: &str) -> String {
        let mut text = clock(report.now_unix_s);
        let _ = match report.job_s {
            Some(job_s) => write!(text, "  finished after {}", human_time(job_s, 3)),
            None => write!(text, "  the application has ended without finishing a job"),
        };
        if let (Some(job_s), false) = (report.job_s, self.forecasts.is_empty()) {
            let right = self.forecasts.iter().filter(|[low, high]| (*low..=*high).contains(&job_s)).count();
            let all = counted(self.forecasts.len() as u64, "forecast");
            let _ = write!(text, "; {right} of {all} contained the end");
        }
        let _ = writeln!(text, "\n\nNext\n  tailspn why {log}   what each cause cost");
        text
    }

    /// Returns a line for each stage and set of nodes with new slow tasks.
    fn slow_tasks(&mut self, report: &RemainingReport, trace: &JobTrace) -> String {
        let mut text = String::new();
        for (id, stage) in trace.stages_with_ids().filter(|(_, stage)| stage.completed.is_none()) {
            let attempts = trace.attempts_of(id);
            let found = stragglers(trace, id, &Usual::default());
            let running = found.over_median.iter().filter_map(|i| attempts.get(*i));
            let running: Vec<_> = running.filter(|attempt| attempt.outcome == Outcome::Unfinished).collect();
            let (Some(median), false) = (found.median, running.is_empty()) else { continue };
            let nodes: BTreeSet<&str> =
                running.iter().filter_map(|attempt| Some(trace.node_of(attempt)?.name.as_str())).collect();
            let nodes = nodes.into_iter().collect::<Vec<_>>().join(", ");
            if !self.slow.insert((stage.number, nodes.clone())) {
                continue;
            }
            let longest_s =
                running.iter().filter_map(|attempt| Some(observed(trace, attempt)?.seconds)).fold(0.0, f64::max);
            let on = if nodes.is_empty() { String::new() } else { format!(" on {nodes}") };
            let _ = writeln!(
                text,
                "{}  slow: {} of stage {}{on}, {} so far, peers took {}",
                clock(report.now_unix_s),
                counted(running.len() as u64, "task"),
                stage.number,
                human_time(longest_s, 2),
                human_time(median, 2),
            );
        }
        text
    }
}

/// Returns the time of the day, or blanks if the log has no time yet.
fn clock(unix_s: Option<f64>) -> String {
    unix_s.map_or_else(|| " ".repeat(8), |unix_s| utc_text(unix_s).chars().skip(11).take(8).collect())
}

/// Returns the line before the first forecast, with the verdict on the model.
fn start(report: &RemainingReport) -> String {
    let start_s = report.now_unix_s.zip(report.elapsed_s).map(|(now_s, elapsed_s)| now_s - elapsed_s);
    let started = start_s
        .map_or_else(|| "job not started".to_owned(), |start_s| format!("job started {} UTC", clock(Some(start_s))));
    let open: Vec<String> =
        report.stages.iter().enumerate().filter(|(_, stage)| !stage.is_finished).map(number).collect();
    let open = match &open[..] {
        [] => String::new(),
        [one] => format!("; stage {one} remains"),
        [others @ .., last] => format!("; stages {} and {last} remain", others.join(", ")),
    };
    let own_run = report.document().six_blocks().own_run;
    let own_run = if own_run.is_empty() { own_run } else { format!("{own_run}\n") };
    format!("{started}{open}\n{own_run}")
}

fn number((i, stage): (usize, &RemainingStageRow)) -> String {
    stage.number.map_or_else(|| format!("{i} ({})", short_name(&stage.name)), |number| number.to_string())
}

fn forecast(report: &RemainingReport) -> String {
    let [median, low, high] =
        [report.median_s, report.prediction_s[0], report.prediction_s[1]].map(|seconds| human_time(seconds, 2));
    let level = (100.0 * report.prediction_level).round();
    let mut text = format!("{}  {median:>5} left ({level}%: {low} to {high})", clock(report.now_unix_s));
    for row in &report.done_by {
        let _ = write!(text, ", within {} {}", human_time(row.by_s, 3), percent_text(row.probability.value));
    }
    let running = report.stages.iter().enumerate().find(|(_, stage)| stage.running > 0);
    if let Some((i, stage)) = running {
        let _ = write!(text, "   stage {}: {:>2} of {} done", number((i, stage)), stage.finished, stage.tasks);
    }
    text + "\n"
}
