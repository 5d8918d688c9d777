//! Stragglers among the attempts, by two common rules.

use std::collections::{BTreeMap, HashMap};

use tailspn_common::order::quantile;

use crate::trace::attempt::{Attempt, Outcome};
use crate::trace::ids::StageId;
use crate::trace::job_trace::JobTrace;

/// An attempt that takes more than this many times its stage's median is a straggler: the rule of Mantri \[Ananthanarayanan2010\], and of Spark's
/// speculation until 3.x.
pub const MEDIAN_FACTOR: f64 = 1.5;

/// An attempt that takes more than this many times its task's usual time is a straggler \[Phan2018\].
pub const USUAL_FACTOR: f64 = 1.2;

/// Minimum number of successful attempts for the median of a stage to be a baseline.
const FEWEST: usize = 3;

/// Usual times of tasks, from other runs of the same program: the median, over the runs, of the times of the task's
/// successful attempts \[Phan2018\]. A task is identified by the number of its stage and its own number.
#[derive(Clone, Debug, Default)]
pub struct Usual {
    times: HashMap<(u32, u32), f64>,
}

impl Usual {
    /// Builds the usual times from baseline runs.
    pub fn from_runs(runs: &[JobTrace]) -> Self {
        let mut found: HashMap<(u32, u32), Vec<f64>> = HashMap::new();
        for run in runs {
            for attempt in run.attempts().iter().filter(|attempt| attempt.succeeded()) {
                if let (Some(stage), Some(time)) = (run.stage(attempt.stage), attempt.duration()) {
                    found.entry((stage.number, attempt.task)).or_default().push(time);
                }
            }
        }
        let median = |mut times: Vec<f64>| {
            times.sort_unstable_by(f64::total_cmp);
            quantile(&times, 0.5)
        };
        Self { times: found.into_iter().filter_map(|(task, times)| Some((task, median(times)?))).collect() }
    }

    /// Returns a sentence about the first stage that has another name in a baseline run, which then seems to be a run of another
    /// program: expected times go by the numbers of stages and tasks.
    pub fn other_program(trace: &JobTrace, run: &JobTrace) -> Option<String> {
        let names = |trace: &JobTrace| -> BTreeMap<u32, String> {
            let named = trace.stages_with_ids().filter(|(_, stage)| !stage.name.is_empty());
            named.map(|(_, stage)| (stage.number, stage.name.lines().next().unwrap_or("").to_owned())).collect()
        };
        let there = names(run);
        let (number, here, there) = names(trace).into_iter().find_map(|(number, name)| {
            there.get(&number).filter(|other| **other != name).map(|other| (number, name, other))
        })?;
        let log = run.files.first().map_or("", String::as_str);
        Some(format!(
            "{log} seems to be a run of another program: stage {number} is `{there}` there and `{here}` here; expected times go by the numbers of stages"
        ))
    }

    /// Returns the usual time of a task of a stage \[s\], if the runs have it.
    pub fn time(&self, stage: u32, task: u32) -> Option<f64> {
        self.times.get(&(stage, task)).copied()
    }

    /// Returns true if there are no usual times.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }
}

/// Observed run time of an attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// Seconds from its launch.
    pub seconds: f64,
    /// True if the time is a lower bound: the attempt was killed, lost or evicted, or its end is not in the log.
    pub at_least: bool,
}

/// Returns the observed run time of an attempt: to its end, or, if the log does not have the end, to the end of its
/// stage, or of the log. None if its
/// launch is unknown, or its end is invalid.
pub fn observed(trace: &JobTrace, attempt: &Attempt) -> Option<Observed> {
    let at_least = attempt.outcome != Outcome::Success;
    if let Some(seconds) = attempt.duration() {
        return Some(Observed { seconds, at_least });
    }
    let end = trace.stage(attempt.stage)?.completed.or(trace.last)?;
    let seconds = end.seconds_since(attempt.launch()?);
    (seconds > 0.0 && attempt.outcome == Outcome::Unfinished).then_some(Observed { seconds, at_least: true })
}

/// The stragglers of a stage, as indices into [`JobTrace::attempts_of`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageStragglers {
    /// Median time of successful attempts \[s\]; none with fewer than 3.
    pub median: Option<f64>,
    /// Attempts longer than [`MEDIAN_FACTOR`] times the median.
    pub over_median: Vec<usize>,
    /// Attempts longer than [`USUAL_FACTOR`] times the task's usual time.
    pub over_usual: Vec<usize>,
}

/// Finds the stragglers of a stage, by both rules. A failed attempt is not a straggler: it ended for another reason. An attempt that was killed or
/// has no end counts with its observed run time. For a task missing from `usual`, the median of its stage serves as its usual time.
pub fn stragglers(trace: &JobTrace, stage: StageId, usual: &Usual) -> StageStragglers {
    let attempts = trace.attempts_of(stage);
    let number = trace.stage(stage).map_or(0, |stage| stage.number);
    let mut done: Vec<f64> = attempts.iter().filter(|a| a.succeeded()).filter_map(Attempt::duration).collect();
    done.sort_unstable_by(f64::total_cmp);
    let median = quantile(&done, 0.5).filter(|_| done.len() >= FEWEST);
    let mut found = StageStragglers { median, ..StageStragglers::default() };
    for (i, attempt) in attempts.iter().enumerate() {
        if attempt.outcome.is_failure() {
            continue;
        }
        let Some(seen) = observed(trace, attempt) else { continue };
        if median.is_some_and(|median| seen.seconds > MEDIAN_FACTOR * median) {
            found.over_median.push(i);
        }
        let usual = usual.time(number, attempt.task).or(median);
        if usual.is_some_and(|usual| seen.seconds > USUAL_FACTOR * usual) {
            found.over_usual.push(i);
        }
    }
    found
}
