//! Changes of a plan, each with the time that it saves.
//!
//! A task takes the same time in a plan and in a changed plan, so that few runs give a sharp difference. A change is advice only if it saves at least 1% of
//! the job time, beyond the error. If the spread of the phases is assumed, it must save as much without any spread.

use crate::estimate::{FloatMoments, Measured};
use crate::mapreduce::params::Node;
use crate::mapreduce::{LawTables, PhaseLaw, Plan, job_with};
use crate::rng::split;
use crate::run::{JobRuns, RunMemory};

/// Number of changes that are returned.
const BEST: usize = 3;
/// Runs of each plan: their tasks, and the limits of their number.
const TASKS: u64 = 4_000;
const FEWEST: u64 = 8;
const MOST: u64 = 64;
/// Tasks above which no change is tried: all trials together would take longer than the estimate.
const LARGE: u64 = 20_000;
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

/// A change to try.
struct Trial {
    /// Name of a group of changes: only the best change of a group is advice.
    of: &'static str,
    what: String,
    option: Option<String>,
    assumes: Option<&'static str>,
    plan: Plan,
}

/// Runs of one plan.
struct Runs {
    runs: JobRuns,
    memory: RunMemory,
}

impl Runs {
    fn new(plan: &Plan, tables: &LawTables) -> Option<Self> {
        Some(Self { runs: JobRuns::new(&job_with(plan, tables).ok()?)?, memory: RunMemory::default() })
    }

    fn times(&mut self, seed: u64, count: u64) -> Vec<f64> {
        (0..count).map(|replication| self.runs.run(split(seed), replication, &mut self.memory).job_s).collect()
    }
}

/// Returns the mean job time without any spread of exponential phases \[s\]; none if the job does not run task by task.
pub(super) fn time_without_spread(plan: &Plan, seed: u64) -> Option<f64> {
    if !plan.can_run_by_task() || plan.tasks() > LARGE {
        return None;
    }
    // what remains random needs several runs
    let still = plan.without_spread();
    let is_constant = plan.stragglers.is_none()
        && still
            .phases_of_job()
            .into_iter()
            .all(|phase| *still.model.distribution.get(phase) == PhaseLaw::Deterministic);
    let count = if is_constant { 1 } else { MOST };
    let times = Runs::new(&still, &LawTables::default())?.times(seed, count);
    Some(times.iter().sum::<f64>() / count as f64)
}

/// Returns the changes that save most, the best first; the plan runs task by task. `still_s` is its time without spread, if its spread is assumed \[s\].
pub(super) fn best_changes(plan: &Plan, still_s: Option<f64>, seed: u64, level: f64) -> Vec<Change> {
    let count = (TASKS / plan.tasks().max(1)).clamp(FEWEST, MOST);
    if plan.tasks() > LARGE {
        return Vec::new();
    }
    let tables = LawTables::default();
    let Some(mut base) = Runs::new(plan, &tables) else { return Vec::new() };
    let before = base.times(seed, count);
    let before_s = before.iter().sum::<f64>() / before.len() as f64;
    let change = |trial: Trial| {
        let after = Runs::new(&trial.plan, &tables)?.times(seed, count);
        let saves = mean_of(before.iter().zip(&after).map(|(before, after)| before - after), level)?;
        let is_sure = saves.value > LEAST * before_s && saves.ends().is_none_or(|[low, _]| low > 0.0);
        let helps = |still_s: f64| {
            time_without_spread(&trial.plan, seed).is_some_and(|after_s| still_s - after_s > LEAST * still_s)
        };
        if !is_sure || !still_s.is_none_or(helps) {
            return None;
        }
        let Trial { of, what, option, assumes, .. } = trial;
        Some((of, Change { what, option, assumes, job_s: before_s - saves.value, saves }))
    };
    let mut found: Vec<(&str, Change)> = trials(plan).into_iter().filter_map(change).collect();
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

/// Returns the changes to try. One that has the same effect on every kind of worker is tried for any number of kinds.
fn trials(plan: &Plan) -> Vec<Trial> {
    let mut trials = of_hardware(plan);
    let [node] = &plan.cluster.node[..] else { return trials };
    let one = |change: &dyn Fn(&mut Plan)| {
        let mut changed = plan.clone();
        change(&mut changed);
        changed
    };
    let mut add = |of, what: String, option: String, assumes, plan: Plan| {
        trials.push(Trial { of, what, option: Some(option), assumes, plan });
    };
    let more = node.count + node.count.div_ceil(4);
    let what = format!("{more} workers, not {}", node.count);
    add("workers", what, format!("--workers {more}"), None, one(&|plan| plan.cluster.node[0].count = more));
    let free = node.host_cores.is_none().then_some(
        "More slots help as much only if more tasks on a worker do not slow each other down (`host_cores`).",
    );
    let slots = node.map_slots + node.map_slots.div_ceil(4);
    let what = format!("{slots} map slots on each worker, not {}", node.map_slots);
    add("map slots", what, format!("--map-slots {slots}"), free, one(&|plan| plan.cluster.node[0].map_slots = slots));
    if plan.reduces() > 0 {
        let slots = node.reduce_slots + node.reduce_slots.div_ceil(4);
        let what = format!("{slots} reduce slots on each worker, not {}", node.reduce_slots);
        add(
            "reduce slots",
            what,
            format!("--reduce-slots {slots}"),
            free,
            one(&|plan| plan.cluster.node[0].reduce_slots = slots),
        );
    }
    if let Some(gpus) = node.gpus.filter(|gpus| *gpus > 0) {
        let what = format!("{} GPUs on each worker, not {gpus}", gpus + 1);
        add(
            "gpus",
            what,
            format!("--gpus-per-worker {}", gpus + 1),
            None,
            one(&|plan| plan.cluster.node[0].gpus = Some(gpus + 1)),
        );
    }
    if plan.phases.is_some() {
        return trials;
    }
    for reduces in numbers_of_reduces(plan) {
        let what = format!("{reduces} reduces, not {}", plan.reduces());
        add("reduces", what, format!("--reduces {reduces}"), None, one(&|plan| plan.job.reduces = reduces));
    }
    for split_mb in [0.5 * plan.job.split_mb, 2.0 * plan.job.split_mb] {
        let changed = one(&|plan| plan.job.split_mb = split_mb);
        if changed.problems().is_empty() && changed.tasks() <= LARGE {
            let what = format!("splits of {split_mb} MB, not {} MB", plan.job.split_mb);
            add("splits", what, format!("--split-size {split_mb}MB"), None, changed);
        }
    }
    trials
}

/// Returns numbers of reduces to try: one to four per slot, not far from the plan's.
fn numbers_of_reduces(plan: &Plan) -> Vec<u64> {
    let (own, slots) = (plan.reduces(), plan.reduce_slots().max(1));
    let numbers = (1..=4).map(|waves| waves * slots);
    numbers.filter(|number| *number != own && *number <= 4 * own && 4 * *number >= own).collect()
}

/// Returns faster hardware, on all kinds of workers.
fn of_hardware(plan: &Plan) -> Vec<Trial> {
    let mut trials = Vec::new();
    if plan.phases.is_some() {
        return trials;
    }
    let mut add = |what: &'static str, change: fn(&mut Node)| {
        let mut changed = plan.clone();
        changed.cluster.node.iter_mut().for_each(change);
        trials.push(Trial { of: what, what: what.to_owned(), option: None, assumes: None, plan: changed });
    };
    add("CPUs that are 25% faster", |node| node.cpu_speed *= 1.25);
    if !plan.has_no_gpus() {
        add("GPUs that are 25% faster", |node| node.gpu_speed *= 1.25);
    }
    add("disks that are 25% faster", |node| {
        node.disk_read_mb_per_s *= 1.25;
        node.disk_write_mb_per_s *= 1.25;
    });
    add("a network that is 25% faster", |node| node.network_mb_per_s *= 1.25);
    trials
}
