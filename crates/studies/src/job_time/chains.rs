//! The critical chains of some runs of a job, task by task, with names for their parts.

use crate::job::{Job, JobStage};
use crate::rng::split;
use crate::run::{Chain, EventRun, EventRuns};
use crate::sim::{CriticalPath, GroupShare};

/// Tasks in all runs whose critical chains are followed: some milliseconds.
const TRACED_TASKS: u64 = 4_000;
/// Maximum number of runs whose critical chains are followed.
const MOST_TRACED: u64 = 100;
/// Number of tasks above which the critical chains are not followed: every task leaves a trace of about 150 bytes.
const MOST_TASKS: u64 = 100_000;

/// The parts of a critical chain that are not phases.
pub const WAITS: [&str; 6] =
    ["waiting for machines to join", "wait for a GPU", "shared cores", "shared disk", "shared network", "shared GPU"];

/// A job, ready to be followed, and the named parts of its critical chains.
pub(super) struct Followed<'a> {
    pub(super) job: &'a Job,
    pub(super) runs: &'a EventRuns,
    /// Number of named parts.
    pub(super) parts: usize,
    /// For each stage, the named part of its set-up, and of each phase of its tasks; none if it has no name.
    pub(super) stages: Vec<(Option<usize>, Vec<Option<usize>>)>,
}

/// The critical chains of some runs.
pub(super) struct Chains {
    /// The named parts, and the rest.
    pub(super) path: CriticalPath,
    /// The waits, with the names [`WAITS`].
    pub(super) waits: Vec<GroupShare>,
}

/// Use of the slots of some tasks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlotUse {
    /// `map`, `reduce`, or `task` for all tasks.
    pub tasks: &'static str,
    /// Number of slots.
    pub slots: u64,
    /// Number of tasks divided by the number of slots, rounded up.
    pub waves: u64,
    /// Share of the slots in use: of maps and of reduces from their first launch to the end of the last; of all tasks from the start of the job to its end.
    pub busy: f64,
}

impl SlotUse {
    /// Returns slots that are not yet in use.
    pub(super) fn new(tasks: &'static str, slots: u64, count: u64) -> Self {
        let slots = slots.max(1);
        Self { tasks, slots, waves: count.div_ceil(slots), busy: 0.0 }
    }

    /// Adds a run, which has this `weight` in the average, in which tasks held slots for `held_s` seconds of `span_s`.
    pub(super) fn add(&mut self, held_s: f64, span_s: f64, weight: f64) {
        let all_s = self.slots as f64 * span_s;
        let busy = if all_s > 0.0 { held_s / all_s } else { 0.0 };
        // a sum of shares, each rounded
        self.busy = (self.busy + weight * busy).min(1.0);
    }
}

impl Followed<'_> {
    /// Follows the critical chains of some runs; `see` gets each run with its weight in an average.
    ///
    /// # Errors
    ///
    /// Reason why the job cannot be followed.
    pub(super) fn chains(&self, seed: u64, see: &mut dyn FnMut(&EventRun, f64)) -> Result<Chains, String> {
        if self.job.tasks() > MOST_TASKS {
            return Err("the job has too many tasks to follow each of them".to_owned());
        }
        let count = (TRACED_TASKS / self.job.tasks().max(1)).clamp(1, MOST_TRACED);
        let mut path = CriticalPath { groups: vec![GroupShare::default(); self.parts], rest: GroupShare::default() };
        let mut waits = vec![GroupShare::default(); WAITS.len()];
        for replication in 0..count {
            let run = self.runs.traced(split(seed), replication);
            see(&run, 1.0 / count as f64);
            let Some(chain) = run.chain(self.job) else { continue };
            let mut seconds = vec![0.0; self.parts];
            for (number, (setup, of_tasks)) in self.stages.iter().enumerate() {
                let of_stage = of_tasks.iter().zip(&chain.phases_s[number]);
                for (part, time_s) in of_stage.chain([(setup, &chain.setups_s[number])]) {
                    if let Some(part) = part {
                        seconds[*part] += *time_s;
                    }
                }
            }
            path.groups.iter_mut().zip(&seconds).for_each(|(share, time_s)| add(share, *time_s));
            let Chain { gpu_wait_s, shared_s: [cores_s, disk_s, network_s, gpus_s], late_s, end_s, .. } = chain;
            add(&mut path.rest, end_s);
            let all = [late_s, gpu_wait_s, cores_s, disk_s, network_s, gpus_s];
            waits.iter_mut().zip(all).for_each(|(share, time_s)| add(share, time_s));
        }
        Ok(Chains { path, waits })
    }
}

fn add(share: &mut GroupShare, time_s: f64) {
    let critical = f64::from(u8::from(time_s > 0.0));
    share.time.push(time_s);
    share.firings.push(critical);
    share.critical.push(critical);
}

/// Returns the number of slots of a stage.
pub(super) fn slots_of(stage: &JobStage, job: &Job) -> u64 {
    match &stage.slots {
        Some(slots) => slots.iter().map(|slots| u64::from(*slots)).sum(),
        None => job.machines.iter().map(|machine| u64::from(machine.slots)).sum(),
    }
}
