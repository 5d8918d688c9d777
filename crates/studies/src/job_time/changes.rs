//! Changes of a plan, each with the time that it saves; the changes to try are in `change_job` and `change_stages`.
//!
//! A task takes the same time in a plan and in a changed plan, so that few runs give a sharp difference. A change is advice only if it saves at least 1% of
//! the job time, beyond the error. If the spread of the phases is assumed, it must save as much without any spread.

use crate::estimate::{FloatMoments, Measured};
use crate::job::Job;
use crate::mapreduce::LawTables;
use crate::rng::split;
use crate::run::{JobRuns, RunMemory};

/// Number of changes that are returned.
const BEST: usize = 3;
/// Runs of each plan: their tasks, and the limits of their number.
const TASKS: u64 = 4_000;
const FEWEST: u64 = 8;
pub(super) const MOST: u64 = 64;
/// Tasks above which no change is tried: all trials together would take longer than the estimate.
pub(super) const LARGE: u64 = 20_000;
/// Minimum share of the job time that a change saves.
const LEAST: f64 = 0.01;

/// A change of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The change, such as `5 workers, not 4`.
    pub what: String,
    /// The option of `estimate` that makes it, if there is one.
    pub option: Option<String>,
    /// Assumption behind the change, if there is one.
    pub assumes: Option<&'static str>,
    /// Mean job time after the change \[s\].
    pub job_s: f64,
    /// Mean time that it saves \[s\].
    pub saves: Measured,
}

/// A plan whose job runs task by task, with changes to try.
pub(super) trait Changing: Sized {
    /// Returns the job; none if it does not run task by task.
    fn job(&self, tables: &LawTables) -> Option<Job>;

    /// Returns the number of tasks.
    fn tasks(&self) -> u64;

    /// Returns the mean job time without any spread of exponential phases \[s\]; none if it is not known.
    fn without_spread_s(&self, seed: u64) -> Option<f64>;

    /// Returns the changes to try.
    fn trials(&self) -> Vec<Trial<Self>>;
}

/// A change to try.
pub(super) struct Trial<P> {
    /// Name of a group of changes: only the best change of a group is advice.
    pub(super) of: &'static str,
    pub(super) what: String,
    pub(super) option: Option<String>,
    pub(super) assumes: Option<&'static str>,
    pub(super) plan: P,
}

/// Runs of one job.
struct Runs {
    runs: JobRuns,
    memory: RunMemory,
}

impl Runs {
    fn new(job: &Job) -> Option<Self> {
        Some(Self { runs: JobRuns::new(job)?, memory: RunMemory::default() })
    }

    fn times(&mut self, seed: u64, count: u64) -> Vec<f64> {
        (0..count).map(|replication| self.runs.run(split(seed), replication, &mut self.memory).job_s).collect()
    }
}

/// Returns the mean of some times of a job \[s\]; none if it does not run task by task.
pub(super) fn mean_time_s(job: &Job, seed: u64, count: u64) -> Option<f64> {
    Some(Runs::new(job)?.times(seed, count).iter().sum::<f64>() / count as f64)
}

/// Returns the mean times of variants of a plan, relative to the mean time of the plan; none for a variant that does not run task by task.
pub(super) fn relative_times<P: Changing>(plan: &P, variants: &[P], seed: u64) -> Vec<Option<f64>> {
    if plan.tasks() > LARGE {
        return vec![None; variants.len()];
    }
    let count = (TASKS / plan.tasks().max(1)).clamp(FEWEST, MOST);
    let tables = LawTables::default();
    let mean_s = |plan: &P| mean_time_s(&plan.job(&tables)?, seed, count);
    let own_s = mean_s(plan);
    variants.iter().map(|variant| Some(mean_s(variant)? / own_s?)).collect()
}

/// Returns the changes that save most, the best first; the plan runs task by task. `still_s` is its time without spread, if its spread is assumed \[s\].
pub(super) fn best_changes<P: Changing>(plan: &P, still_s: Option<f64>, seed: u64, level: f64) -> Vec<Change> {
    let count = (TASKS / plan.tasks().max(1)).clamp(FEWEST, MOST);
    if plan.tasks() > LARGE {
        return Vec::new();
    }
    let tables = LawTables::default();
    let Some(mut base) = plan.job(&tables).and_then(|job| Runs::new(&job)) else { return Vec::new() };
    let before = base.times(seed, count);
    let before_s = before.iter().sum::<f64>() / before.len() as f64;
    let change = |trial: Trial<P>| {
        let after = Runs::new(&trial.plan.job(&tables)?)?.times(seed, count);
        let saves = mean_of(before.iter().zip(&after).map(|(before, after)| before - after), level)?;
        let is_sure = saves.value > LEAST * before_s && saves.ends().is_none_or(|[low, _]| low > 0.0);
        let helps =
            |still_s: f64| trial.plan.without_spread_s(seed).is_some_and(|after_s| still_s - after_s > LEAST * still_s);
        if !is_sure || !still_s.is_none_or(helps) {
            return None;
        }
        let Trial { of, what, option, assumes, .. } = trial;
        Some((of, Change { what, option, assumes, job_s: before_s - saves.value, saves }))
    };
    let mut found: Vec<(&str, Change)> = plan.trials().into_iter().filter_map(change).collect();
    found.sort_by(|(_, a), (_, b)| b.saves.value.total_cmp(&a.saves.value));
    let mut seen: Vec<&str> = Vec::new();
    found.retain(|(of, _)| {
        let is_new = !seen.contains(of);
        seen.push(of);
        is_new
    });
    found.into_iter().map(|(_, change)| change).take(BEST).collect()
}

/// Returns a measured mean of values; none of fewer than two.
fn mean_of(values: impl IntoIterator<Item = f64>, level: f64) -> Option<Measured> {
    let moments: FloatMoments = values.into_iter().collect();
    moments.mean_estimate(level).ok().map(Measured::from)
}
