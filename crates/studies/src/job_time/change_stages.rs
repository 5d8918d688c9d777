//! Changes of a job of stages to try.

use crate::job::Job;
use crate::job_time::changes::{Changing, Trial};
use crate::mapreduce::LawTables;
use crate::stages::{PlannedJob, StagePlan, job_of};

impl Changing for StagePlan {
    fn job(&self, tables: &LawTables) -> Option<Job> {
        (self.speculation.is_none() && self.problems().is_empty()).then(|| job_of(&PlannedJob::of(self), tables))
    }

    fn tasks(&self) -> u64 {
        PlannedJob::of(self).stages.iter().map(|stage| u64::from(stage.tasks())).sum()
    }

    /// Plans of stages state their distributions, so no change is judged without them.
    fn without_spread_s(&self, _seed: u64) -> Option<f64> {
        None
    }

    fn trials(&self) -> Vec<Trial<Self>> {
        let mut trials = of_cluster(self);
        trials.extend(of_partitions(self));
        trials.extend(of_tasks(self));
        trials
    }
}

fn changed(plan: &StagePlan, change: impl FnOnce(&mut StagePlan)) -> StagePlan {
    let mut changed = plan.clone();
    change(&mut changed);
    changed
}

/// Returns clusters with a quarter more executors, tasks at a time, or GPU permits.
fn of_cluster(plan: &StagePlan) -> Vec<Trial<StagePlan>> {
    let (executors, hosts) = (plan.job.executors, plan.hosts());
    let mut trials = Vec::new();
    // as many executors per host as before
    let more_hosts = hosts + if hosts < executors { hosts.div_ceil(4) } else { executors.div_ceil(4) };
    let more = (f64::from(more_hosts) * f64::from(executors) / f64::from(hosts)).round() as u32;
    let (on, option) = match (hosts < executors, plan.job.hosts) {
        (true, _) => (format!(" on {more_hosts}"), format!("--executors {more} --hosts {more_hosts}")),
        (false, Some(_)) => (String::new(), format!("--executors {more} --hosts {more_hosts}")),
        (false, None) => (String::new(), format!("--executors {more}")),
    };
    let of_hosts = if on.is_empty() { String::new() } else { format!(" on {hosts}") };
    let unit = if on.is_empty() {
        ""
    } else if more_hosts == 1 {
        " host"
    } else {
        " hosts"
    };
    trials.push(Trial {
        of: "executors",
        what: format!("{more} executors{on}{unit}, not {executors}{of_hosts}"),
        option: Some(option),
        assumes: None,
        plan: changed(plan, |plan| (plan.job.executors, plan.job.hosts) = (more, Some(more_hosts))),
    });
    // no advice rests on an assumption about tasks that share a host
    if plan.knows_sharing() {
        let cores = plan.job.cores + plan.job.cores.div_ceil(4);
        trials.push(Trial {
            of: "cores",
            what: format!("{cores} tasks at a time on each executor, not {}", plan.job.cores),
            option: Some(format!("--cores {cores}")),
            assumes: None,
            plan: changed(plan, |plan| (plan.job.cores, plan.job.hosts) = (cores, Some(hosts))),
        });
    }
    if let Some(permits) = plan.job.concurrent_gpu_tasks.filter(|_| plan.stage.iter().any(|stage| stage.gpu > 0.0)) {
        trials.push(Trial {
            of: "permits",
            what: format!("{} tasks at a time on a GPU, not {permits}", permits + 1),
            option: Some(format!("--concurrent-gpu-tasks {}", permits + 1)),
            assumes: Some("More tasks on a GPU help as much only if they do not slow each other down."),
            plan: changed(plan, |plan| plan.job.concurrent_gpu_tasks = Some(permits + 1)),
        });
    }
    trials
}

/// Returns twice and half as many partitions.
fn of_partitions(plan: &StagePlan) -> Vec<Trial<StagePlan>> {
    let job = PlannedJob::of(plan);
    let mut with = plan.stage.iter().zip(&job.stages).filter(|(stage, _)| stage.uses_partitions);
    let Some((spec, stage)) = with.next() else { return Vec::new() };
    let now = plan.job.partitions.unwrap_or_else(|| stage.tasks() - spec.small_tasks);
    let trial = |partitions: u32| Trial {
        of: "partitions",
        what: format!("{partitions} partitions, not {now}"),
        option: Some(format!("--partitions {partitions}")),
        assumes: None,
        plan: changed(plan, |plan| plan.job.partitions = Some(partitions)),
    };
    [2 * now, now / 2].into_iter().filter(|partitions| *partitions > 0).map(trial).collect()
}

/// Returns plans without what makes some tasks slow, and without the start of executors.
fn of_tasks(plan: &StagePlan) -> Vec<Trial<StagePlan>> {
    let mut trials = Vec::new();
    let mut add = |what: &'static str, plan: StagePlan| {
        trials.push(Trial { of: what, what: what.to_owned(), option: None, assumes: None, plan });
    };
    if plan.sharing.is_some_and(|sharing| sharing.start_s > 0.0) {
        let ready = changed(plan, |plan| {
            if let Some(sharing) = &mut plan.sharing {
                sharing.start_s = 0.0;
            }
        });
        add("executors that already run when the job starts", ready);
    }
    if !plan.job.arrivals_s.is_empty() {
        add("all executors from the start of the job", changed(plan, |plan| plan.job.arrivals_s.clear()));
    }
    let is_cold = |stage: &crate::stages::StageSpec| stage.cold != stage.warm || stage.warming > 0.0;
    if plan.stage.iter().any(is_cold) {
        let warm = changed(plan, |plan| {
            for stage in &mut plan.stage {
                let (cold, warm) = (stage.cold, stage.warm);
                // first tasks that were faster stay as they are
                stage.cold.fixed_s = cold.fixed_s.min(warm.fixed_s);
                stage.cold.per_mb_s = cold.per_mb_s.min(warm.per_mb_s);
                stage.warming = 0.0;
            }
        });
        add("no warm-up: all tasks as fast as those on warm executors", warm);
    }
    if plan.stragglers.is_some() {
        add("no stragglers", changed(plan, |plan| plan.stragglers = None));
    }
    if plan.stage.iter().any(|stage| stage.slow.is_some()) {
        let even = changed(plan, |plan| plan.stage.iter_mut().for_each(|stage| stage.slow = None));
        add("no slow tasks", even);
    }
    trials
}
