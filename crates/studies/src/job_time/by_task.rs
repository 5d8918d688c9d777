//! A MapReduce job task by task: the replications that its net cannot run, and the critical chains of any job with slots.

use crate::error::StudyError;
use crate::job::{Job, JobStage};
use crate::job_time::chains::{Chains, Followed, SlotUse, slots_of};
use crate::job_time::replicate::{Replicated, Times};
use crate::job_time::simulated::SimulatedJob;
use crate::mapreduce::{Phase, Plan, job_of};
use crate::rng::split;
use crate::run::{EventRun, EventRuns};
use crate::sim::{Ensemble, Group, Question};
use crate::watch::{TimeLimit, Watch};

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

    /// Follows the critical chains of some runs, whose named parts are `phases`.
    ///
    /// # Errors
    ///
    /// Reason why the job cannot be followed.
    pub(super) fn chains(&self, phases: &[Phase], seed: u64) -> Result<(Chains, Vec<SlotUse>), String> {
        let part = |phase: &Phase| phases.iter().position(|of| of == phase);
        let of_stage = |(setup, of_tasks): &(Phase, Vec<Phase>)| (part(setup), of_tasks.iter().map(part).collect());
        let stages = self.stages.iter().map(of_stage).collect();
        let followed = Followed { job: &self.job, runs: &self.runs, parts: phases.len(), stages };
        let slots = |(stage, tasks): (&JobStage, &'static str)| {
            SlotUse::new(tasks, slots_of(stage, &self.job), stage.tasks.count().into())
        };
        let mut slots: Vec<SlotUse> = self.job.stages.iter().zip(["map", "reduce"]).map(slots).collect();
        let chains = followed.chains(seed, &mut |run, weight| {
            for (stage, slots) in slots.iter_mut().enumerate() {
                let [first, last] = run.times.stages[stage];
                slots.add(run.held_s(stage), last - first, weight);
            }
        })?;
        Ok((chains, slots))
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
