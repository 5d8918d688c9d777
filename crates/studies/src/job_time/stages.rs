//! The time of a job of stages, simulated task by task, with the spread between whole runs and optionally with speculative copies.

use crate::cluster::{Comparison, Experiment, PolicyPlan, PolicyRuns, Replications, compare};
use crate::compile::compile;
use crate::error::StudyError;
use crate::estimate::{StopRule, TickHistogram};
use crate::job_time::own_run::OwnRun;
use crate::job_time::question::group;
use crate::job_time::replicate::replicate;
use crate::job_time::tasks::{CLOCK, copied_job, ticks_of};
use crate::sim::{Backend, Ensemble, Question, Run, run};
use crate::stages::{JobTimes, PlannedJob, RunFactor, StagePlan, spark_policies, stage_net};
use crate::watch::{TimeLimit, Watch};

/// The time of a job of stages.
#[derive(Clone, Debug)]
pub struct StagesEstimate {
    /// The job's stages at the input size of the plan.
    pub job: PlannedJob,
    /// The replications without copies.
    pub run: Run,
    /// The job time of the next run, with copies if the plan has them.
    pub times: JobTimes,
    /// Job time of each replication, in replication order \[s\]. Includes speculative copies if the plan has them. Empty
    /// unless the ensemble keeps times.
    pub times_s: Vec<f64>,
    /// Runs without copies and with them, if the plan has them.
    pub comparison: Option<Comparison>,
    /// The check of the plan on the runs that it was fitted to. If the plan does not reproduce them, `times` are wider than the model says.
    pub own_run: OwnRun,
}

/// Returns the rule that ends the replications of a job of stages unless their number is given: the error of the mean is 2% of the
/// spread between whole runs.
pub fn stages_stop_rule(plan: &StagePlan, max_reps: u64) -> StopRule {
    const SHARE_OF_SPREAD: f64 = 0.02;
    const FEWEST: u64 = 32;
    let spread = RunFactor::new(&plan.run, PlannedJob::of(plan).error()).scale;
    StopRule { rel_error: SHARE_OF_SPREAD * spread, min_reps: FEWEST, max_reps, chunk: FEWEST, ..StopRule::default() }
}

impl StagesEstimate {
    /// Adds the check of the plan, and widens the times if the plan does not reproduce its runs.
    pub(crate) fn checked(mut self, own_run: OwnRun, plan: &StagePlan) -> Self {
        if own_run.is_misfit() {
            let factor = RunFactor::new(&plan.run, own_run.error(self.job.error()));
            self.times = own_run.widened(self.times.with_factor(factor));
        }
        self.own_run = own_run;
        self
    }
}

/// Simulates the job, without a check of the plan.
pub(super) fn simulate_stages(
    plan: &StagePlan,
    ensemble: &Ensemble,
    level: f64,
    watch: &dyn Watch,
) -> Result<StagesEstimate, StudyError> {
    let job = PlannedJob::of(plan);
    // replications with copies get the other half of the time
    let parts = 1 + u32::from(plan.speculation.is_some());
    let ensemble = &Ensemble { max_wall: ensemble.max_wall.map(|wall| wall / parts), ..ensemble.clone() };
    let mut run = match ensemble.backend {
        Backend::Auto => replicate(&job, ensemble, watch)?,
        _ => run_net(&job, ensemble, watch)?,
    };
    let factor = RunFactor::new(&plan.run, job.error());
    let policies = plan.speculation.map(|copies| spark_policies(Some(copies.multiplier), Some(copies.quantile)));
    let with_copies = policies.map(|policies| copied(&job, &policies, ensemble, watch)).transpose()?;
    if ensemble.share.is_part() {
        return Err(StudyError::Part);
    }
    let count = with_copies.as_ref().and_then(|runs| runs.first()).map(|run| run.outcomes.len() as u64);
    run.provenance.cut_short |= count.is_some_and(|count| count < ensemble.replications);
    let samples = &run.samples;
    let copied = with_copies.as_ref().and_then(|runs| runs.last()).map(|run| &run.outcomes);
    let kept = match copied {
        _ if !ensemble.keep => Vec::new(),
        Some(outcomes) => outcomes.iter().map(|outcome| outcome.job_s).collect(),
        None => samples.times_s().collect(),
    };
    let times = match copied {
        Some(outcomes) => {
            let mut histogram = TickHistogram::default();
            outcomes.iter().for_each(|outcome| histogram.push(ticks_of(outcome.job_s)));
            JobTimes::from_histogram(&histogram, CLOCK.tick(), factor)
        }
        None => JobTimes::from_histogram(&samples.passage_histogram, samples.clock.tick(), factor),
    };
    let times = times.ok_or(StudyError::NoReplication)?;
    let comparison = with_copies.map(|runs| compare(&runs, level)).transpose()?;
    Ok(StagesEstimate { job, run, times, times_s: kept, comparison, own_run: OwnRun::default() })
}

/// Runs replications of the job's net.
pub(super) fn run_net(job: &PlannedJob, ensemble: &Ensemble, watch: &dyn Watch) -> Result<Run, StudyError> {
    if let Some(why) = job.no_net() {
        return Err(StudyError::Model(why.to_owned()));
    }
    let net = stage_net(job).map_err(|problems| StudyError::Model(problems.to_string()))?;
    let program = compile(&net.net).map_err(|problems| StudyError::Model(problems.to_string()))?;
    let stages = job.stages.iter().zip(&net.stages);
    let groups = stages.map(|(stage, transitions)| group(&stage.name, transitions)).collect();
    Ok(run(&program, &Question { groups, ..Question::default() }, ensemble, watch)?)
}

/// Runs with each policy of copies, task by task.
fn copied(
    job: &PlannedJob,
    policies: &[PolicyPlan],
    ensemble: &Ensemble,
    watch: &dyn Watch,
) -> Result<Vec<PolicyRuns>, StudyError> {
    let copied = copied_job(job)?;
    let (first, count) = (ensemble.first, ensemble.replications);
    let share = ensemble.share.clone();
    let limit = &TimeLimit::new(watch, ensemble.max_wall);
    let settings = Replications { first, count, seed: ensemble.seed, threads: ensemble.threads, watch: limit, share };
    let experiment = Experiment::of_job(&copied, policies, settings);
    let mut go_on = |runs: &[PolicyRuns]| {
        limit.progress(runs.first().map_or(0, |run| run.outcomes.len() as u64), count);
        !limit.stopped()
    };
    Ok(experiment.run(&mut go_on)?)
}
