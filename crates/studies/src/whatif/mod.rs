//! The gain of each straggler policy, for the job of a plan or of a log.
//!
//! ```text
//! JobPlan ──▶ its tasks ──┐
//! JobTrace ──▶ Replay ────┴──▶ WhatIf ──▶ WhatIfOutcome: policies compared, and the job times of the plan's nets
//! ```
//!
//! The cluster simulator runs the tasks one by one under each policy, on the same random numbers.

mod nets;

pub use nets::NetTimes;

use std::time::{Duration, Instant};

use crate::ask::RunSettings;
use crate::cluster::{self, Comparison, Experiment, PolicyPlan, PolicyRuns, Replications, widest_change};
use crate::error::StudyError;
use crate::fit::{Replay, as_it_was_set, replay, settable_policies, usual_policies};
use crate::job::Job;
use crate::mapreduce::job_of;
use crate::plan::{Asked, JobPlan, PlanError, Planning};
use crate::sim::Ensemble;
use crate::trace::JobTrace;
use crate::watch::{TimeLimit, Watch};

/// Default maximum number of replications of each policy.
const MOST: u64 = 500;
/// Default minimum number of replications of a log's job. It exceeds 72, the
/// smallest number for which the 95% quantile has a 95% interval.
const FEWEST: u64 = 128;
/// Replications of each policy without any spread of the phases.
const STILL: u64 = 16;
/// Requested half width of a mean change, as a share of the job's time: half of the smallest gain that is recommended.
const WELL_ENOUGH: f64 = 0.005;

/// The job on which policies are compared.
#[derive(Clone, Debug, PartialEq)]
pub enum WhatIfJob {
    /// Jobs that a plan describes task by task.
    Tasks(Box<cluster::Plan>),
    /// A job that other studies run as a net, and its tasks.
    Planned(Box<(JobPlan, Job)>),
    /// The job of a log.
    Replayed(Box<Replay>),
}

/// A comparison of straggler policies on one job.
///
/// ```
/// use tailspn_common::watch::Unwatched;
/// use tailspn_jobs::plan::JobPlan;
/// use tailspn_studies::whatif::WhatIf;
///
/// let found = WhatIf::of_plan(JobPlan::default())?.replications(100).run(&Unwatched)?;
/// let mean_s = found.comparison.policies[0].job_s.value;
/// assert!(mean_s > 0.0);
/// # Ok::<(), tailspn_studies::StudyError>(())
/// ```
#[derive(Debug)]
pub struct WhatIf {
    /// The job.
    pub job: WhatIfJob,
    /// The policies. The replay of a log is always also run without a policy, and with the settings of
    /// the log.
    pub policies: Vec<PolicyPlan>,
    /// Settings of the run. The number of replications of each policy is 500 for a plan unless it is given; for a log, as many as
    /// separate the policies, from 128 to 500.
    pub run: RunSettings,
}

/// Policies that were compared.
#[derive(Clone, Debug)]
pub struct WhatIfOutcome {
    /// The comparison.
    pub comparison: Comparison,
    /// Planned number of replications of each policy.
    pub planned: u64,
    /// Wall time of the comparison.
    pub wall: Duration,
    /// The comparison without any spread of the phases, if the plan's spread is assumed.
    pub without_spread: Option<Comparison>,
    /// Job times of the plan's nets; empty for a plan of stages or tasks and for a log.
    pub nets: Vec<NetTimes>,
}

impl WhatIf {
    /// Returns a comparison of the policies of a plan.
    ///
    /// # Errors
    ///
    /// [`StudyError::Options`] for options that have no meaning for the plan and for values out of range,
    /// [`StudyError::Model`] for a plan whose tasks have no times.
    pub fn of_plan(plan: impl Planning) -> Result<Self, StudyError> {
        let plan = plan.plan().map_err(StudyError::Options)?;
        if let Some(refusal) = plan.refusal(Asked::Policies) {
            return Err(StudyError::Model(refusal.message()));
        }
        let job = plan.job().map_err(|error| StudyError::Model(error.to_string()))?;
        let policies = plan.policies();
        let job = match (job, plan) {
            (Some(job), plan) => WhatIfJob::Planned(Box::new((plan, job))),
            (None, JobPlan::Tasks(plan)) => WhatIfJob::Tasks(plan),
            (None, _) => return Err(StudyError::Model("a plan without tasks".to_owned())),
        };
        Ok(Self::of(job, policies))
    }

    /// Returns a comparison on the only job of a log: its own settings of copies, and others that its system can have.
    ///
    /// # Errors
    ///
    /// [`StudyError::Log`] for a log that cannot be replayed.
    pub fn of_log(trace: &JobTrace) -> Result<Self, StudyError> {
        let replayed = replay(trace)?;
        let policies = settable_policies(trace.format, replayed.actual_s, replayed.speculation);
        Ok(Self::of(WhatIfJob::Replayed(Box::new(replayed)), policies))
    }

    /// Compares the policies of the literature on the job of a log, in place of the settings of its system.
    #[must_use]
    pub fn of_literature(self) -> Self {
        match &self.job {
            WhatIfJob::Replayed(replay) => {
                let policies = usual_policies(replay.actual_s, replay.speculation);
                Self { policies, ..self }
            }
            WhatIfJob::Planned(_) | WhatIfJob::Tasks(_) => self,
        }
    }

    fn of(job: WhatIfJob, policies: Vec<PolicyPlan>) -> Self {
        Self { job, policies, run: RunSettings::default() }
    }

    /// Sets the number of replications of each policy.
    #[must_use]
    pub fn replications(mut self, replications: u64) -> Self {
        self.run.replications = Some(replications);
        self
    }

    /// Sets the seed of all replications. Default 0.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.run.seed = Some(seed);
        self
    }

    /// Sets the confidence level of all intervals, in (0, 1). Default [`LEVEL`](crate::estimate::LEVEL).
    #[must_use]
    pub fn level(mut self, level: f64) -> Self {
        self.run.level = level;
        self
    }

    /// Replaces each policy by its variants.
    ///
    /// # Errors
    ///
    /// [`StudyError::Options`] for values that a policy cannot have.
    pub fn vary(&mut self, values: &cluster::Sweep) -> Result<(), StudyError> {
        self.policies = values.expand(&self.policies);
        let problems = cluster::Plan { policy: self.policies.clone(), ..cluster::Plan::default() }.problems();
        if problems.is_empty() { Ok(()) } else { Err(StudyError::Options(PlanError { problems })) }
    }

    /// Returns the plan, with the policies that are compared; none for the job of a log.
    pub fn plan(&self) -> Option<JobPlan> {
        match &self.job {
            WhatIfJob::Tasks(plan) => Some(JobPlan::Tasks(Box::new(self.tasks(plan)))),
            WhatIfJob::Planned(planned) => Some(planned.0.clone()),
            WhatIfJob::Replayed(_) => None,
        }
    }

    fn tasks(&self, plan: &cluster::Plan) -> cluster::Plan {
        cluster::Plan { policy: self.policies.clone(), ..plan.clone() }
    }

    /// Returns the parts of the plan that the cluster simulator does not model.
    pub fn notes(&self) -> Vec<&'static str> {
        let WhatIfJob::Planned(planned) = &self.job else { return Vec::new() };
        let all = match &planned.0 {
            JobPlan::MapReduce(plan) => {
                (!plan.model.slots).then_some("in `whatif`, tasks wait for slots, although `model.slots` is false")
            }
            JobPlan::Stages(plan) => {
                (plan.run.sigma > 0.0).then_some("these times do not include the spread between whole runs (`[run]`)")
            }
            JobPlan::Tasks(_) => None,
        };
        all.into_iter().collect()
    }

    /// Runs all policies, then the plan's nets; `watch` counts replications. A stopped study is also a result, if at
    /// least one replication of all policies is complete.
    ///
    /// # Errors
    ///
    /// [`StudyError::Experiment`] for a run that does not end, [`StudyError::NoReplication`], [`StudyError::Compare`],
    /// [`StudyError::Part`] after a part of the replications.
    pub fn run(&self, watch: &dyn Watch) -> Result<WhatIfOutcome, StudyError> {
        let started = Instant::now();
        let plans = match &self.job {
            WhatIfJob::Planned(planned) => nets::variants(&planned.0),
            _ => Vec::new(),
        };
        // an equal part of the time for the policies and for each net
        let left = self.run.max_time.map(|most| most / (plans.len() as u32 + 1));
        // a shard has no comparison, but still runs its share of the nets
        let compared = match self.compare(left, watch) {
            Err(StudyError::Part) => None,
            compared => Some(compared?),
        };
        let ensemble = Ensemble {
            replications: self.run.replications.unwrap_or(MOST),
            seed: self.run.seed.unwrap_or(0),
            threads: self.run.threads,
            max_wall: self.run.max_time,
            share: self.run.share.clone(),
            ..Ensemble::default()
        };
        let nets = nets::run_nets(plans, &ensemble, started, watch)?;
        compared.map(|compared| WhatIfOutcome { nets, ..compared }).ok_or(StudyError::Part)
    }

    /// Compares the policies until there are enough replications, or the time is over.
    fn compare(&self, max_time: Option<Duration>, watch: &dyn Watch) -> Result<WhatIfOutcome, StudyError> {
        let started = Instant::now();
        let limit = TimeLimit::new(watch, max_time);
        let mut planned = self.run.replications.unwrap_or(MOST);
        let settings = Replications {
            first: 0,
            count: planned,
            seed: self.run.seed.unwrap_or(0),
            threads: self.run.threads,
            watch: &limit,
            share: self.run.share.clone(),
        };
        let (experiment, deadline_s) = match &self.job {
            WhatIfJob::Tasks(plan) => (Experiment::new(&self.tasks(plan), settings)?, plan.deadline_s),
            WhatIfJob::Planned(planned) => {
                (Experiment::of_job(&planned.1, &self.policies, settings), planned.0.deadline_s())
            }
            WhatIfJob::Replayed(replay) => {
                (Experiment::of_job(&replay.job, &with_own(&self.policies, replay), settings), None)
            }
        };
        let may_be_fewer =
            matches!(self.job, WhatIfJob::Replayed(_)) && self.run.replications.is_none() && self.run.share.is_whole();
        let is_known =
            |runs: &[PolicyRuns]| widest_change(runs, self.run.level).is_none_or(|widest| widest <= WELL_ENOUGH);
        let mut go_on = |runs: &[PolicyRuns]| {
            let done = runs.first().map_or(0, |run| run.outcomes.len() as u64);
            watch.progress(done, planned);
            if may_be_fewer && done >= FEWEST && is_known(runs) {
                planned = done;
                return false;
            }
            !limit.stopped()
        };
        let runs = experiment.run(&mut go_on)?;
        if self.run.share.is_part() {
            return Err(StudyError::Part);
        }
        if runs.iter().any(|run| run.outcomes.is_empty()) {
            return Err(StudyError::NoReplication);
        }
        let comparison = cluster::compare(&runs, self.run.level)?.with_deadline(&runs, deadline_s);
        let without_spread = self.without_spread(&limit)?;
        Ok(WhatIfOutcome { comparison, planned, wall: started.elapsed(), without_spread, nets: Vec::new() })
    }

    /// Compares the policies without any spread of the phases, if the plan's spread is assumed; none if the time is over.
    fn without_spread(&self, watch: &dyn Watch) -> Result<Option<Comparison>, StudyError> {
        let WhatIfJob::Planned(planned) = &self.job else { return Ok(None) };
        let JobPlan::MapReduce(plan) = &planned.0 else { return Ok(None) };
        if !plan.assumes_spread() {
            return Ok(None);
        }
        let job = job_of(&plan.without_spread()).map_err(|error| StudyError::Model(error.to_string()))?;
        let settings = Replications {
            count: STILL,
            seed: self.run.seed.unwrap_or(0),
            threads: self.run.threads,
            watch,
            ..Replications::default()
        };
        let runs = Experiment::of_job(&job, &self.policies, settings).run(&mut |_| !watch.stopped())?;
        let is_complete = runs.iter().all(|run| run.outcomes.len() as u64 == STILL);
        Ok(is_complete.then(|| cluster::compare(&runs, self.run.level)).transpose()?)
    }
}

/// The policies, the job without any, and the settings of the log, if they are missing.
fn with_own(policies: &[PolicyPlan], replay: &Replay) -> Vec<PolicyPlan> {
    let none = PolicyPlan::default();
    let none = policies.iter().all(|policy| policy.detector != none.detector).then_some(none);
    let own = replay.speculation.map(as_it_was_set).filter(|own| !policies.contains(own));
    none.into_iter().chain(own).chain(policies.iter().cloned()).collect()
}
