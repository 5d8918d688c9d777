//! Changes of a MapReduce job to try.

use crate::job::Job;
use crate::job_time::changes::{Changing, LARGE, MOST, Trial, mean_time_s};
use crate::mapreduce::params::Node;
use crate::mapreduce::{LawTables, PhaseLaw, Plan, job_with};

/// Least split that is tried \[MB\].
const LEAST_SPLIT_MB: f64 = 1.0;

impl Changing for Plan {
    fn job(&self, tables: &LawTables) -> Option<Job> {
        job_with(self, tables).ok()
    }

    fn tasks(&self) -> u64 {
        self.tasks()
    }

    fn without_spread_s(&self, seed: u64) -> Option<f64> {
        if !self.can_run_by_task() || self.tasks() > LARGE {
            return None;
        }
        // what remains random needs several runs
        let still = self.without_spread();
        let is_constant = self.stragglers.is_none()
            && still
                .phases_of_job()
                .into_iter()
                .all(|phase| *still.model.distribution.get(phase) == PhaseLaw::Deterministic);
        mean_time_s(&still.job(&LawTables::default())?, seed, if is_constant { 1 } else { MOST })
    }

    fn trials(&self) -> Vec<Trial<Self>> {
        trials(self)
    }
}

/// Returns the changes to try. One that has the same effect on every kind of worker is tried for any number of kinds.
fn trials(plan: &Plan) -> Vec<Trial<Plan>> {
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
            one(&|plan| plan.cluster.node[0].set_gpus(gpus + 1)),
        );
    }
    if plan.phases.is_some() {
        return trials;
    }
    for reduces in numbers_of_reduces(plan) {
        let what = format!("{reduces} reduces, not {}", plan.reduces());
        add("reduces", what, format!("--reduces {reduces}"), None, one(&|plan| plan.job.reduces = reduces));
    }
    // nobody would choose smaller splits
    let splits = [0.5, 2.0].map(|factor| three_digits(factor * plan.job.split_mb));
    for split_mb in splits.into_iter().filter(|split_mb| *split_mb >= LEAST_SPLIT_MB) {
        let changed = one(&|plan| plan.job.split_mb = split_mb);
        if changed.problems().is_empty() && changed.tasks() <= LARGE {
            let what = format!("splits of {split_mb} MB, not {} MB", three_digits(plan.job.split_mb));
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
fn of_hardware(plan: &Plan) -> Vec<Trial<Plan>> {
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

/// Returns a size with three digits, as a person would write it.
fn three_digits(mb: f64) -> f64 {
    let unit = 10_f64.powf(mb.log10().floor() - 2.0);
    // rounded twice: the product may end in 0000000001
    format!("{:.6}", (mb / unit).round() * unit).parse().unwrap_or(mb)
}
