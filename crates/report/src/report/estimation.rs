//! The time of a planned job, from its plan to a result that can be printed.

use std::num::NonZeroUsize;

use crate::StudyError;
use crate::document::{Document, Report as _};
use crate::estimate::{Measured, StopRule};
use crate::job_time::{
    EstimateMethod, EstimateSettings, JobEstimate, LateSettings, REPLICATIONS, StagesEstimate, estimate_job,
    estimate_stages, stages_stop_rule,
};
use crate::plan::{JobPlan, Planned, Planning};
use crate::report::job::{JobReport, estimate_report};
use crate::report::json::JsonError;
use crate::report::stages::{StagesReport, stages_report};
use crate::sim::{Ensemble, Unwatched, Watch};

/// A job whose time can be estimated: a plan, with or without options.
///
/// ```
/// use tailspn_jobs::plan::{JobPlan, Planning as _};
/// use tailspn_report::report::EstimateJob as _;
///
/// let job = JobPlan::default().slots(false).deadline(90.0).estimate()?;
/// assert!((job.mean().value - 85.236).abs() < 1e-3); // exact
/// assert!(job.done_by(90.0).value > 0.6);
/// println!("{}", job.document().text());
/// # Ok::<(), tailspn_studies::StudyError>(())
/// ```
pub trait EstimateJob: Planning {
    /// Returns an estimation, to configure before it is run.
    fn estimation(self) -> Estimation<'static> {
        Estimation {
            planned: self.planned(),
            method: EstimateMethod::default(),
            ensemble: Ensemble { replications: REPLICATIONS, ..Ensemble::default() },
            replications: None,
            seed: None,
            level: 0.95,
            late_effort: None,
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
    ensemble: Ensemble,
    /// Number of replications, if it is given.
    replications: Option<u64>,
    seed: Option<u64>,
    level: f64,
    late_effort: Option<u32>,
    watch: &'a dyn Watch,
}

impl std::fmt::Debug for Estimation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { planned, method, ensemble, .. } = self;
        f.debug_struct("Estimation")
            .field("planned", planned)
            .field("method", method)
            .field("ensemble", ensemble)
            .finish_non_exhaustive()
    }
}

impl<'a> Estimation<'a> {
    /// Selects the method for the job time. Default: by simulation, and exactly if there is a closed form.
    pub fn method(self, method: EstimateMethod) -> Self {
        Self { method, ..self }
    }

    /// Sets the number of replications. Default 2,000; for a job of stages, as few as [`stages_stop_rule`] needs.
    pub fn replications(self, replications: u64) -> Self {
        let ensemble = Ensemble { replications, ..self.ensemble };
        Self { replications: Some(replications), ensemble, ..self }
    }

    /// Runs replications until the relative half width of the mean job time's interval is this small, such as
    /// 0.01.
    pub fn relative_error(mut self, rel_error: f64) -> Self {
        self.ensemble.stop = Some(StopRule { rel_error, level: self.level, ..StopRule::default() });
        self
    }

    /// Sets the seed. Default: the plan's seed, or 0.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self }
    }

    /// Sets the number of threads. Default: one per core.
    pub fn threads(mut self, threads: NonZeroUsize) -> Self {
        self.ensemble.threads = Some(threads);
        self
    }

    /// Sets the confidence level of all intervals, in (0, 1). Default 0.95.
    pub fn level(mut self, level: f64) -> Self {
        self.level = level;
        if let Some(rule) = &mut self.ensemble.stop {
            rule.level = level;
        }
        self
    }

    /// Requests splitting, with this number of walks on each level, if few replications finish after the deadline. Splitting takes as
    /// long as the replications at most, or five seconds. Default: no splitting.
    pub fn late_effort(self, walks: u32) -> Self {
        Self { late_effort: Some(walks), ..self }
    }

    /// Reports progress to `watch`, which may also stop the run.
    pub fn watch(self, watch: &'a dyn Watch) -> Self {
        Self { watch, ..self }
    }

    /// Estimates the time of the job.
    ///
    /// # Errors
    ///
    /// [`StudyError::Options`] for options that the plan has no meaning for, [`StudyError::Model`] for a plan without a
    /// net, such as a plan of tasks, and for replications that cannot be run.
    pub fn run(mut self) -> Result<EstimatedJob, StudyError> {
        let level = self.level;
        let found = match self.planned.plan().map_err(StudyError::Options)? {
            JobPlan::MapReduce(plan) => {
                self.ensemble.seed = self.seed.unwrap_or(plan.model.seed);
                let late = self.late_effort.map(|effort| LateSettings { effort, level });
                let settings = EstimateSettings { late, ..self.method.into() };
                let found = estimate_job(&plan, settings, &self.ensemble, self.watch)?;
                let report = estimate_report(&plan, &found, level)?;
                Kind::Phases(Box::new((found, report)))
            }
            JobPlan::Stages(plan) => {
                self.ensemble.seed = self.seed.unwrap_or(0);
                if self.replications.is_none() && self.ensemble.stop.is_none() {
                    self.ensemble.stop = Some(stages_stop_rule(&plan, REPLICATIONS));
                }
                let found = estimate_stages(&plan, &self.ensemble, level, self.watch)?;
                let report = stages_report(&plan, &found, level);
                Kind::Stages(Box::new((found, report)))
            }
            plan @ JobPlan::Tasks(_) => {
                let message = format!("a plan of {} has no net; the cluster simulator runs it", plan.described_by());
                return Err(StudyError::Model(message));
            }
        };
        Ok(EstimatedJob { found, level })
    }
}

/// The estimated time of a job.
#[derive(Clone, Debug)]
pub struct EstimatedJob {
    found: Kind,
    level: f64,
}

#[derive(Clone, Debug)]
enum Kind {
    Phases(Box<(JobEstimate, JobReport)>),
    Stages(Box<(StagesEstimate, StagesReport)>),
}

/// Returns the number; if no replication finished, a number without a value.
fn or_unknown(found: Option<Measured>) -> Measured {
    found.unwrap_or_else(|| Measured::between(f64::NAN, None, None))
}

impl EstimatedJob {
    /// Returns the mean job time \[s\], exact if it is known. For a job of stages, the mean refers to the next run and
    /// has no interval.
    pub fn mean(&self) -> Measured {
        let simulated = |report: &JobReport| report.job_time.as_ref().map(|time| time.mean.clone());
        or_unknown(match &self.found {
            Kind::Phases(found) => {
                let exact = found.0.exact.as_ref().map(|time| time.mean_measured(self.level));
                exact.or_else(|| simulated(&found.1))
            }
            Kind::Stages(found) => Some(Measured::between(found.1.mean_s, None, None)),
        })
    }

    /// Returns the time \[s\] within which the job finishes with probability `p`.
    pub fn quantile(&self, p: f64) -> Measured {
        or_unknown(match &self.found {
            Kind::Phases(found) => found.0.quantile(p, self.level),
            Kind::Stages(found) => Some(Measured::between(found.0.times.quantile(p), None, None)),
        })
    }

    /// Returns the probability of finishing within `seconds`, exactly if the distribution is known.
    pub fn done_by(&self, seconds: f64) -> Measured {
        or_unknown(match &self.found {
            Kind::Phases(found) => found.0.done_by(seconds, self.level),
            Kind::Stages(found) => {
                let samples = found.0.run.samples.replications;
                Some(found.0.times.done_by(seconds, samples, self.level))
            }
        })
    }

    /// Returns the document of the estimate.
    pub fn document(&self) -> Document<'_> {
        match &self.found {
            Kind::Phases(found) => found.1.document(),
            Kind::Stages(found) => found.1.document(),
        }
    }

    /// Returns the estimate as JSON.
    ///
    /// # Errors
    ///
    /// [`JsonError`], which no estimate causes.
    pub fn json(&self) -> Result<String, JsonError> {
        match &self.found {
            Kind::Phases(found) => found.1.json(),
            Kind::Stages(found) => found.1.json(),
        }
    }
}
