//! The time of a planned job: the question, its one way to an answer, and the answer.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use crate::ask::proof::Proof;
use crate::ask::run::RunSettings;
use crate::error::StudyError;
use crate::estimate::Measured;
use crate::job_time::{
    EstimateMethod, EstimateSettings, JobEstimate, LateSettings, OwnRun, REPLICATIONS, StagesEstimate, estimate_job,
    estimate_proved, job_and_net, stages_stop_rule,
};
use crate::mapreduce::Plan;
use crate::net::Net;
use crate::plan::{JobPlan, Planned, Planning};
use crate::stages::{PlannedJob, StagePlan, stage_net};
use crate::watch::{Unwatched, Watch};

/// A job whose time can be estimated: a plan, with or without options.
///
/// ```
/// use tailspn_jobs::plan::{JobPlan, Planning as _};
/// use tailspn_studies::ask::EstimateJob as _;
///
/// let job = JobPlan::default().slots(false).deadline(90.0).estimate()?;
/// assert!((job.mean().value - 85.236).abs() < 1e-3); // exact
/// assert!(job.done_by(90.0).value > 0.6);
/// # Ok::<(), tailspn_studies::StudyError>(())
/// ```
pub trait EstimateJob: Planning {
    /// Returns an estimation, to configure before it is run.
    fn estimation(self) -> Estimation<'static> {
        Estimation {
            planned: self.planned(),
            method: EstimateMethod::default(),
            unfolded: false,
            late_effort: None,
            proof: Proof::default(),
            run: RunSettings::default(),
            watch: &Unwatched,
        }
    }

    /// Estimates the time of the job: by at most 2,000 replications, and exactly if possible. The result is that of
    /// `tailspn estimate`.
    ///
    /// # Errors
    ///
    /// As [`Estimation::run`].
    fn estimate(self) -> Result<EstimatedJob, StudyError> {
        self.estimation().run()
    }
}

impl<P: Planning> EstimateJob for P {}

/// An estimation of the time of a job.
#[must_use]
pub struct Estimation<'a> {
    planned: Planned,
    method: EstimateMethod,
    unfolded: bool,
    late_effort: Option<u32>,
    proof: Proof,
    run: RunSettings,
    watch: &'a dyn Watch,
}

impl std::fmt::Debug for Estimation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { planned, method, run, .. } = self;
        let mut shown = f.debug_struct("Estimation");
        shown.field("planned", planned).field("method", method).field("run", run).finish_non_exhaustive()
    }
}

impl<'a> Estimation<'a> {
    /// Selects the method for the job time. Default: by simulation, and exactly if there is a closed form.
    pub fn method(self, method: EstimateMethod) -> Self {
        Self { method, ..self }
    }

    /// Keeps equal tasks apart instead of counting them, which takes longer for the same distribution.
    pub fn unfolded(self) -> Self {
        Self { unfolded: true, ..self }
    }

    /// Sets how the question is answered: seed, replications, level, threads, limits.
    pub fn settings(self, run: RunSettings) -> Self {
        Self { run, ..self }
    }

    /// Sets the number of replications. Default 2,000; for a job of stages, as few as [`stages_stop_rule`] needs.
    pub fn replications(mut self, replications: u64) -> Self {
        self.run.replications = Some(replications);
        self
    }

    /// Runs replications until the relative half width of the mean job time's interval is this small, such as
    /// 0.01.
    pub fn relative_error(mut self, rel_error: f64) -> Self {
        self.run.rel_error = Some(rel_error);
        self
    }

    /// Sets the seed. Default: the plan's seed, or 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.run.seed = Some(seed);
        self
    }

    /// Sets the number of threads. Default: one per core.
    pub fn threads(mut self, threads: NonZeroUsize) -> Self {
        self.run.threads = Some(threads);
        self
    }

    /// Sets the confidence level of all intervals, in (0, 1). Default [`LEVEL`](crate::estimate::LEVEL).
    pub fn level(mut self, level: f64) -> Self {
        self.run.level = level;
        self
    }

    /// Requests splitting, with this number of walks on each level, if few replications finish after the deadline. Splitting takes as
    /// long as the replications, or at most five seconds. Default: no splitting.
    pub fn late_effort(self, walks: u32) -> Self {
        Self { late_effort: Some(walks), ..self }
    }

    /// Sets what the question demands of the check of the plan on its own runs. A plan with a deadline always needs the check.
    pub fn proof(self, proof: Proof) -> Self {
        Self { proof, ..self }
    }

    /// Reports progress to `watch`, which may also stop the run.
    pub fn watch(self, watch: &'a dyn Watch) -> Self {
        Self { watch, ..self }
    }

    /// Estimates the time of the job.
    ///
    /// # Errors
    ///
    /// [`StudyError::Options`] for options that the plan has no meaning for, [`StudyError::Misfit`] for a question that asks for advice of a
    /// plan that does not reproduce its own runs, [`StudyError::TaskByTask`] and [`StudyError::Model`] for a plan without a
    /// net, and the errors of replications that cannot be run.
    pub fn run(self) -> Result<EstimatedJob, StudyError> {
        let started = Instant::now();
        let Self { planned, method, unfolded, late_effort, proof, run, watch } = self;
        let plan = planned.plan().map_err(StudyError::Options)?;
        let proof = Proof { is_needed: proof.is_needed || plan.deadline_s().is_some(), ..proof };
        let level = run.level;
        let work = match plan {
            JobPlan::MapReduce(mut plan) => {
                let late = late_effort.map(|effort| LateSettings { effort, level });
                let settings = EstimateSettings { method, fold: !unfolded, late, proof, most_bytes: run.max_memory };
                let ensemble = run.ensemble(plan.model.seed, REPLICATIONS);
                // the plan that is reported has the seed that was used
                plan.model.seed = ensemble.seed;
                let found = estimate_job(&plan, settings, &ensemble, watch)?;
                EstimatedWork::Phases(plan, Box::new(found))
            }
            JobPlan::Stages(_) if method == EstimateMethod::Exact => return Err(StudyError::NoFormula),
            JobPlan::Stages(plan) => {
                let mut ensemble = run.ensemble(0, REPLICATIONS);
                if run.replications.is_none() && ensemble.stop.is_none() {
                    ensemble.stop = Some(stages_stop_rule(&plan, REPLICATIONS));
                }
                let found = estimate_proved(&plan, &ensemble, (level, proof), watch)?;
                EstimatedWork::Stages(plan, Box::new(found))
            }
            plan @ JobPlan::Tasks(_) => {
                return Err(StudyError::TaskByTask { question: "estimate", described_by: plan.described_by() });
            }
        };
        Ok(EstimatedJob { work, level, wall: started.elapsed() })
    }
}

/// The estimated time of a job.
#[derive(Clone, Debug)]
pub struct EstimatedJob {
    /// The plan with all options, and what was found.
    pub work: EstimatedWork,
    /// Confidence level of all intervals.
    pub level: f64,
    /// Wall time of the estimate.
    pub wall: Duration,
}

/// The plan of an estimated job, and its job time.
#[derive(Clone, Debug)]
pub enum EstimatedWork {
    /// A MapReduce job of nine phases.
    Phases(Box<Plan>, Box<JobEstimate>),
    /// A job of stages.
    Stages(Box<StagePlan>, Box<StagesEstimate>),
}

/// Returns the number; if no replication finished, a number without a value.
fn or_unknown(found: Option<Measured>) -> Measured {
    found.unwrap_or_else(|| Measured::between(f64::NAN, None, None))
}

impl EstimatedJob {
    /// Returns the mean job time \[s\], exact if it is known. For a job of stages, the mean refers to the next run and
    /// has no interval.
    pub fn mean(&self) -> Measured {
        or_unknown(match &self.work {
            EstimatedWork::Phases(_, found) => {
                let exact = found.exact.as_ref().map(|time| time.mean_measured(self.level));
                exact.or_else(|| found.simulated.as_ref()?.mean_measured(self.level))
            }
            EstimatedWork::Stages(_, found) => Some(Measured::between(found.times.mean_s(), None, None)),
        })
    }

    /// Returns the time \[s\] within which the job finishes with probability `p`.
    pub fn quantile(&self, p: f64) -> Measured {
        or_unknown(match &self.work {
            EstimatedWork::Phases(_, found) => found.quantile(p, self.level),
            EstimatedWork::Stages(_, found) => Some(Measured::between(found.times.quantile(p), None, None)),
        })
    }

    /// Returns the probability of finishing within `seconds`, exactly if the distribution is known.
    pub fn done_by(&self, seconds: f64) -> Measured {
        or_unknown(match &self.work {
            EstimatedWork::Phases(_, found) => found.done_by(seconds, self.level),
            EstimatedWork::Stages(_, found) => {
                Some(found.times.done_by(seconds, found.run.samples.replications, self.level))
            }
        })
    }

    /// Returns the time \[s\] within which the next run finishes with probability `p`, including run-to-run variation.
    pub fn next_run(&self, p: f64) -> f64 {
        let next_run = match &self.work {
            EstimatedWork::Phases(_, found) => found.next_run.as_ref(),
            EstimatedWork::Stages(_, found) => Some(&found.times),
        };
        next_run.map_or_else(|| self.quantile(p).value, |times| times.quantile(p))
    }

    /// Adds a check of the plan that was made before, and widens the times if the plan does not reproduce its runs.
    pub(crate) fn checked(self, own_run: &OwnRun) -> Self {
        let work = match self.work {
            EstimatedWork::Phases(plan, mut found) => {
                found.add_next_run(&plan, own_run.clone());
                EstimatedWork::Phases(plan, found)
            }
            EstimatedWork::Stages(plan, found) => {
                let found = found.checked(own_run.clone(), &plan);
                EstimatedWork::Stages(plan, Box::new(found))
            }
        };
        Self { work, ..self }
    }

    /// Returns the check of the plan on its own runs.
    pub fn own_run(&self) -> &OwnRun {
        match &self.work {
            EstimatedWork::Phases(_, found) => &found.own_run,
            EstimatedWork::Stages(_, found) => &found.own_run,
        }
    }

    /// Returns the time of each replication that finished \[s\], in the order of the replications; empty unless the settings keep them.
    pub fn times_s(&self) -> Vec<f64> {
        match &self.work {
            EstimatedWork::Phases(_, found) => {
                found.simulated.as_ref().map_or_else(Vec::new, |job| job.run.samples.times_s().collect())
            }
            EstimatedWork::Stages(_, found) => found.times_s.clone(),
        }
    }

    /// Returns true if the replications were ended early.
    pub fn is_partial(&self) -> bool {
        match &self.work {
            EstimatedWork::Phases(_, found) => found.simulated.as_ref().is_some_and(|job| job.run.provenance.cut_short),
            EstimatedWork::Stages(_, found) => found.run.provenance.cut_short,
        }
    }

    /// Returns warnings about the plan.
    pub fn warnings(&self) -> Vec<String> {
        match &self.work {
            EstimatedWork::Phases(_, found) => found.phases.warnings.iter().map(ToString::to_string).collect(),
            EstimatedWork::Stages(..) => Vec::new(),
        }
    }

    /// Returns advice on a better method, if there is one.
    pub fn advice(&self) -> Option<&'static str> {
        let EstimatedWork::Phases(_, found) = &self.work else { return None };
        if found.exact.is_some() && found.simulated.is_some() {
            return Some("the job time is known exactly; --method exact prints it without simulation");
        }
        let parts = "there is no formula, but --method exact computes the job time from the parts of the job";
        found.has_parts.then_some(parts)
    }

    /// Returns true if the job has speculative copies that its net lacks.
    pub fn has_copies(&self) -> bool {
        matches!(&self.work, EstimatedWork::Stages(plan, _) if plan.speculation.is_some())
    }

    /// Returns the net of the job.
    ///
    /// # Errors
    ///
    /// [`StudyError::Model`] with the reason why the plan has no net.
    pub fn net(&self) -> Result<Net, StudyError> {
        match &self.work {
            EstimatedWork::Phases(plan, found) => match &found.net {
                Some(job) => Ok(job.net.clone()),
                None => Ok(job_and_net(plan)?.1.net),
            },
            EstimatedWork::Stages(plan, _) => net_of_stages(plan),
        }
    }
}

/// Returns the net of a plan of stages, which has no speculative copies.
///
/// # Errors
///
/// [`StudyError::Model`] with the reason why the plan has no net.
pub fn net_of_stages(plan: &StagePlan) -> Result<Net, StudyError> {
    let job = PlannedJob::of(plan);
    if let Some(why) = job.no_net() {
        return Err(StudyError::Model(why.to_owned()));
    }
    Ok(stage_net(&job).map_err(|problems| StudyError::Model(problems.to_string()))?.net)
}
