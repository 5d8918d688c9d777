//! The screen of an explanation of a run.

use crate::diagnose::Cause;
use crate::diagnose::causes::{Advice, OtherRemedy};
use crate::document::{NextCommand, Screen, ScreenChange, ScreenShares, human_time};
use crate::report::diagnosis::{DiagnosisReport, cause_text};
use crate::report::number::counted;
use crate::report::screens::{self, shares};
use crate::trace::Format;

/// A cause that cost less than this share of the job's time is not worth a word.
const WORTH: f64 = 0.01;
/// Greatest error of a replay that advice may rest on, as a share of the logged time.
const POOR: f64 = 0.05;
/// Maximum number of causes in a sentence, and of changes.
const MOST: [usize; 2] = [3, 6];

impl DiagnosisReport {
    /// Returns the answer on one screen; none unless the inputs have the log of one application whose time is known.
    pub(super) fn screen(&self) -> Option<Screen> {
        let replayed = self.replayed.filter(|replayed| replayed.logged_s > 0.0)?;
        self.run.as_ref()?;
        let off = replayed.replayed_s / replayed.logged_s - 1.0;
        let is_poor = off.abs() > POOR;
        let unknown = self.missing.iter().chain(&self.warnings).cloned();
        Some(Screen {
            answer: [self.open_run(), self.costs(replayed.logged_s, is_poor), self.counts()]
                .join(" ")
                .trim()
                .to_owned(),
            own_run: Some(screens::replayed(replayed.logged_s, replayed.replayed_s, is_poor)),
            parts: self.where_it_went(replayed.logged_s),
            changes: if is_poor { Vec::new() } else { self.what_helps(replayed.logged_s) },
            refused: if is_poor {
                "the changes that would help; --verbose lists what is known".to_owned()
            } else {
                String::new()
            },
            unknown: first_and_count(unknown.collect()),
            next: self.next_questions(),
            ..Screen::default()
        })
    }

    /// Returns the causes that cost at least 1% of the job, the most costly first, with the time that they cost.
    fn costly(&self, logged_s: f64) -> Vec<(String, f64)> {
        let advice = self.advice.iter().filter_map(|advice| Some((named(advice), advice.job_s?)));
        let start = self.warm_up.iter().map(|cost| ("waiting for executors".to_owned(), cost.start_s));
        let mut all: Vec<(String, f64)> =
            advice.chain(start).filter(|(_, cost_s)| *cost_s >= WORTH * logged_s).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all
    }

    /// Returns what cost most.
    fn costs(&self, logged_s: f64, is_poor: bool) -> String {
        let logged = human_time(logged_s, 3);
        if let Some(trigger_s) = self.trigger_s {
            let waited = human_time(trigger_s, 3);
            return format!(
                "Of {logged}, the stream waited {waited} for its triggers, which costs nothing: each batch had ended before."
            );
        }
        if is_poor {
            return format!("The job took {logged}. What each cause cost is not known.");
        }
        let costly = self.costly(logged_s);
        if costly.is_empty() {
            return format!("The job took {logged}, and nothing cost much of it: each known cause less than 1%.");
        }
        let mut parts: Vec<String> = Vec::new();
        for (name, cost_s) in costly.iter().take(MOST[0]) {
            let verb = if parts.is_empty() { " cost" } else { "" };
            parts.push(format!("{name}{verb} {}", human_time(*cost_s, 3)));
        }
        let last = parts.pop().unwrap_or_default();
        let all = if parts.is_empty() { last } else { format!("{}, and {last}", parts.join(", ")) };
        format!("Of {logged}, {all}.")
    }

    /// Returns the number of stragglers.
    fn counts(&self) -> String {
        let slow = || self.stages.iter().filter(|stage| stage.stragglers > 0);
        let stragglers: u64 = slow().map(|stage| stage.stragglers).sum();
        let explained: u64 = slow().map(|stage| stage.explained).sum();
        let all = counted(self.stages.len() as u128, "stage");
        match (self.compared, stragglers) {
            (false, _) => String::new(),
            (true, 0) => format!("No task took more than 1.5 times the median of its stage, in {all}."),
            (true, _) => {
                let known = match explained {
                    all if all == stragglers => "with a known cause".to_owned(),
                    0 => "without a known cause".to_owned(),
                    some => format!("{some} of them with a known cause"),
                };
                format!("{} in {} of {all}, {known}.", counted(stragglers, "straggler"), slow().count())
            }
        }
    }

    fn where_it_went(&self, logged_s: f64) -> ScreenShares {
        let parts = self.parts.iter().map(|part| (&*part.name, part.time_s, part.time_s / logged_s));
        shares(format!("Where the {} went", human_time(logged_s, 3)), parts)
    }

    /// Returns what would have changed the time, the best first.
    fn what_helps(&self, logged_s: f64) -> Vec<ScreenChange> {
        let is_worth = |saved_s: f64| saved_s.abs() >= WORTH * logged_s;
        let mut all: Vec<(f64, ScreenChange)> = Vec::new();
        for cost in self.warm_up.iter().filter(|cost| is_worth(cost.start_s)) {
            let what = "executors ready when the job starts".to_owned();
            all.push((cost.start_s, change(what, logged_s, [cost.start_s; 2], false)));
        }
        for advice in &self.advice {
            let worth = advice.job_s.filter(|saved_s| is_worth(*saved_s));
            let helps = worth.filter(|_| advice.cause != Cause::Unknown);
            all.extend(helps.map(|saved_s| (saved_s, change(remedy(advice), logged_s, [saved_s; 2], advice.at_most))));
            let others = advice
                .instead
                .iter()
                .filter(|other| worth.is_some() && (is_worth(other.job_s) || is_worth(other.at_best_s)));
            all.extend(others.map(|other| {
                let OtherRemedy { text, job_s, at_best_s, .. } = other;
                let what = format!("instead: {}", text.split_once(", without").map_or(text.as_str(), |(what, _)| what));
                (*job_s, change(what, logged_s, [*job_s, *at_best_s], false))
            }));
        }
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        all.into_iter().map(|(_, change)| change).take(MOST[1]).collect()
    }

    /// Returns true for a log of Spark without the end of its application.
    fn has_no_end(&self) -> bool {
        let run = self.run.as_ref().filter(|run| run.format == Format::SparkEventLog);
        run.is_some_and(|run| run.applications.iter().any(|application| application.end_s.is_none()))
    }

    fn open_run(&self) -> String {
        if self.has_no_end() { "The log has no end.".to_owned() } else { String::new() }
    }

    fn next_questions(&self) -> Vec<NextCommand> {
        let has_samples = self.used.iter().any(|used| used.kind == crate::diagnose::InputKind::Samples);
        let samples = NextCommand::new("tailspn why LOG SAMPLES/", "CPU, disk and network of the nodes");
        let mut next = if self.has_no_end() {
            vec![
                NextCommand::new("tailspn estimate LOG", "the time left"),
                NextCommand::new("tailspn watch LOG", "the time left, again and again"),
            ]
        } else {
            vec![
                NextCommand::new("tailspn estimate LOG", "the next run, other sizes, other clusters"),
                NextCommand::new("tailspn whatif LOG", "copies of slow tasks"),
            ]
        };
        if self.stages.iter().any(|stage| stage.stragglers > 0) {
            next.push(NextCommand::new("tailspn why LOG --verbose", "each straggler and its evidence"));
            if !has_samples {
                next.insert(0, samples);
                next.truncate(MOST[0]);
            }
        }
        next
    }
}

/// Returns the first of some lines, and how many others there are.
fn first_and_count(mut lines: Vec<String>) -> Vec<String> {
    let left = lines.len().saturating_sub(1);
    lines.truncate(1);
    lines.extend((left > 0).then(|| format!("{left} more: --verbose")));
    lines
}

/// Returns a change with the least and the most time that it saves \[s\].
fn change(what: String, logged_s: f64, [least_s, most_s]: [f64; 2], is_bound: bool) -> ScreenChange {
    let signed = |saved_s: f64| {
        let sign = if saved_s < 0.0 { "\u{2212}" } else { "" };
        format!("{sign}{}", human_time(saved_s.abs(), 3))
    };
    let time = |saved_s: f64| human_time((logged_s - saved_s).max(0.0), 3);
    let range = |low: String, high: String| if low == high { low } else { format!("{low} to {high}") };
    let (time, saves) = match is_bound {
        true => (format!("≥ {}", time(most_s)), format!("≤ {}", signed(most_s))),
        false => (range(time(most_s), time(least_s)), range(signed(least_s), signed(most_s))),
    };
    ScreenChange { what, time, saves }
}

/// Returns the cause in a sentence about costs.
fn named(advice: &Advice) -> String {
    let on = match &advice.nodes[..] {
        [] => String::new(),
        nodes if nodes.len() <= 2 => format!(" on {}", nodes.join(" and ")),
        nodes => format!(" on {} nodes", nodes.len()),
    };
    match advice.cause {
        Cause::WarmUp => "cold executors".to_owned(),
        Cause::SlowNode if advice.nodes.len() == 1 => format!("a slow node, {},", advice.nodes[0]),
        Cause::SlowNode => format!("slow nodes{on}").replace("nodes on ", "nodes "),
        Cause::Unknown => "stragglers without a known cause".to_owned(),
        Cause::Cpu => format!("a busy CPU{on}"),
        Cause::Disk => format!("a busy disk{on}"),
        Cause::Network => format!("a busy network{on}"),
        Cause::FewTasks => "slots without a task".to_owned(),
        cause => cause_text(cause).to_owned(),
    }
}

/// Returns what would be otherwise without a cause.
fn remedy(advice: &Advice) -> String {
    let stages = match &advice.stages[..] {
        [] => String::new(),
        [stage] => format!(" (stage {stage})"),
        stages if stages.len() <= 3 => format!(" (stages {})", stages.join(", ")),
        stages => format!(" ({} stages)", stages.len()),
    };
    let nodes =
        if advice.nodes.len() <= 2 { advice.nodes.join(" and ") } else { format!("{} nodes", advice.nodes.len()) };
    let what = match advice.cause {
        Cause::WarmUp => "warm executors".to_owned(),
        Cause::SlowNode => format!("{nodes} repaired"),
        Cause::DataSkew => "input in equal parts".to_owned(),
        Cause::ShuffleSkew => "keys in equal parts".to_owned(),
        Cause::Spill => "memory for all data of a task, without spilling".to_owned(),
        Cause::GarbageCollection => "garbage collection as short as in other tasks".to_owned(),
        Cause::Serialization => "serialisation as short as in other tasks".to_owned(),
        Cause::Locality => "tasks on the nodes of their data".to_owned(),
        Cause::Cpu => format!("no other work on the CPUs of {nodes}"),
        Cause::Disk => format!("no other work on the disk of {nodes}"),
        Cause::Network => format!("no other work on the network of {nodes}"),
        Cause::FewTasks => "the work in tasks for all slots".to_owned(),
        Cause::LongLastStage => "the last stage in equal tasks for all slots".to_owned(),
        Cause::Driver => "no waiting for the driver".to_owned(),
        Cause::CpuShortage => "a CPU for each task".to_owned(),
        Cause::GpuWait => "no waiting for a GPU".to_owned(),
        Cause::GpuMemory => "memory of the GPU for all data of a task".to_owned(),
        Cause::Unknown => "no stragglers without a known cause".to_owned(),
    };
    what + &stages
}
