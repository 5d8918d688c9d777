//! A MapReduce job task by task: the replications that its net cannot run, and the critical chains of any job with slots.

use crate::error::StudyError;
use crate::job::{Job, JobStage};
use crate::job_time::replicate::{Replicated, Times};
use crate::job_time::simulated::SimulatedJob;
use crate::mapreduce::{Phase, Plan, job_of};
use crate::rng::split;
use crate::run::{Chain, EventRun, EventRuns};
use crate::sim::{CriticalPath, Ensemble, Group, GroupShare, Question};
use crate::watch::{TimeLimit, Watch};

/// Tasks in all runs whose critical chains are followed: some milliseconds.
const TRACED_TASKS: u64 = 4_000;
/// Maximum number of runs whose critical chains are followed.
const MOST_TRACED: u64 = 100;

/// The parts of a critical chain that are not phases.
pub const WAITS: [&str; 4] = ["wait for a GPU", "shared cores", "shared disk", "shared network"];

/// A plan's job, and the phases of its stages.
pub(super) struct Ready {
    job: Job,
    runs: EventRuns,
    /// The phase before each stage, and the phases of its tasks.
    stages: Vec<(Phase, Vec<Phase>)>,
}

impl Ready {
    /// Prepares a plan.
    pub(super) fn new(plan: &Plan) -> Result<Self, StudyError> {
        let job = job_of(plan).map_err(|error| StudyError::Model(error.to_string()))?;
        let runs =
            EventRuns::new(&job).ok_or_else(|| StudyError::Model("the job has no slots for its tasks".into()))?;
        let mut stages = vec![(Phase::Load, plan.timed_phases(&Phase::OF_MAP))];
        if plan.reduces() > 0 {
            stages.push((Phase::Shuffle, plan.timed_phases(&Phase::OF_REDUCE)));
        }
        Ok(Self { job, runs, stages })
    }

    /// Returns the number of tasks.
    pub(super) fn tasks(&self) -> u64 {
        self.job.tasks()
    }

    /// Returns the slots of each stage, not yet in use.
    fn slots(&self) -> Vec<SlotUse> {
        let of_stage = |(stage, tasks): (&JobStage, &'static str)| {
            let slots = stage.slots.iter().flatten().map(|slots| u64::from(*slots)).sum::<u64>().max(1);
            SlotUse { tasks, slots, waves: u64::from(stage.tasks.count()).div_ceil(slots), busy: 0.0 }
        };
        self.job.stages.iter().zip(["map", "reduce"]).map(of_stage).collect()
    }

    /// Returns the first and last end of each phase of the job \[s\].
    fn ends(&self, run: &EventRun, of_job: &[Phase]) -> Vec<[f64; 2]> {
        let mut ends = vec![[0.0; 2]; of_job.len()];
        let mut set = |phase: Phase, value: [f64; 2]| {
            if let Some(at) = of_job.iter().position(|of| *of == phase) {
                ends[at] = value;
            }
        };
        for (number, (setup, phases)) in self.stages.iter().enumerate() {
            set(*setup, [run.ready_s[number]; 2]);
            phases.iter().zip(&run.phases[number]).for_each(|(phase, ends)| set(*phase, *ends));
        }
        // a phase without time ends with the phase before it
        for at in 1..ends.len() {
            if ends[at][1] <= 0.0 {
                ends[at] = ends[at - 1];
            }
        }
        ends
    }
}

/// Simulates a plan's job task by task.
///
/// # Errors
///
/// [`StudyError::Model`] for a plan without tasks or slots, or replications that cannot be run.
pub(super) fn simulate_tasks(plan: &Plan, ensemble: &Ensemble, watch: &dyn Watch) -> Result<SimulatedJob, StudyError> {
    let ready = Ready::new(plan)?;
    let phases = plan.phases_of_job();
    let limit = TimeLimit::new(watch, ensemble.max_wall);
    let of = Replicated {
        job: plan,
        groups: phases.len(),
        reason: "tasks wait for slots of different workers, or share them",
    };
    let key = split(ensemble.seed);
    let run = of.replicate(ensemble, &limit, |_, replication| {
        let run = ready.runs.run_unless(key, replication, &|| limit.stopped())?;
        Some(Times { groups: ready.ends(&run, &phases), job_s: run.times.job_s })
    })?;
    let named = |phase: &Phase| Group { name: phase.name().to_owned(), transitions: Vec::new() };
    let question = Question { groups: phases.iter().map(named).collect(), ..Question::default() };
    let critical_path = Err("the critical chains of the first runs explain the time".to_owned());
    Ok(SimulatedJob { run, question, rewards: Vec::new(), critical_path })
}

/// Use of the slots of maps or of reduces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlotUse {
    /// `map` or `reduce`.
    pub tasks: &'static str,
    /// Number of slots.
    pub slots: u64,
    /// Number of tasks divided by the number of slots, rounded up.
    pub waves: u64,
    /// Share of the slots in use, from the first launch to the end of the last task.
    pub busy: f64,
}

/// The critical chains of some runs.
pub(super) struct Chains {
    pub(super) path: CriticalPath,
    pub(super) waits: Vec<GroupShare>,
    pub(super) slots: Vec<SlotUse>,
}

/// Follows the critical chains of some runs.
pub(super) fn traced(ready: &Ready, phases: &[Phase], seed: u64) -> Chains {
    let count = (TRACED_TASKS / ready.job.tasks().max(1)).clamp(1, MOST_TRACED);
    let mut slots = ready.slots();
    let mut path = CriticalPath { groups: vec![GroupShare::default(); phases.len()], rest: GroupShare::default() };
    let mut waits = vec![GroupShare::default(); WAITS.len()];
    for replication in 0..count {
        let run = ready.runs.traced(split(seed), replication);
        for (stage, slots) in slots.iter_mut().enumerate() {
            let [first, last] = run.times.stages[stage];
            let all_s = slots.slots as f64 * (last - first);
            let busy = if all_s > 0.0 { run.held_s(stage) / all_s } else { 0.0 };
            // a sum of shares, each rounded
            slots.busy = (slots.busy + busy / count as f64).min(1.0);
        }
        let Some(chain) = run.chain(&ready.job) else { continue };
        let at = |phase: Phase| phases.iter().position(|of| *of == phase);
        let mut seconds = vec![0.0; phases.len()];
        for (number, (setup, of_tasks)) in ready.stages.iter().enumerate() {
            let of_stage = of_tasks.iter().zip(&chain.phases_s[number]);
            for (phase, time_s) in of_stage.chain([(setup, &chain.setups_s[number])]) {
                if let Some(at) = at(*phase) {
                    seconds[at] += *time_s;
                }
            }
        }
        path.groups.iter_mut().zip(&seconds).for_each(|(share, time_s)| add(share, *time_s));
        let Chain { gpu_wait_s, shared_s: [cores_s, disk_s, network_s], late_s, end_s, .. } = chain;
        add(&mut path.rest, late_s + end_s);
        waits.iter_mut().zip([gpu_wait_s, cores_s, disk_s, network_s]).for_each(|(share, time_s)| add(share, time_s));
    }
    Chains { path, waits, slots }
}

fn add(share: &mut GroupShare, time_s: f64) {
    let critical = f64::from(u8::from(time_s > 0.0));
    share.time.push(time_s);
    share.firings.push(critical);
    share.critical.push(critical);
}
