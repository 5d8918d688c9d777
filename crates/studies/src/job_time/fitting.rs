//! The fit of a job's model to logs: a stage graph for Spark, phases for MapReduce.
//!
//! Decides which model the logs allow. Of the log of a Spark run, only what the fit needs is kept.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tailspn_common::explain::{ErrorKind, Explain};

use crate::ask::RunSettings;
use crate::error::StudyError;
use crate::fit::{
    FitError, FittedJobs, FittedStages, HadoopConf, LogHost, ObservedRun, PhaseRun, fit_jobs, fit_phases,
    fit_stages_alongside, is_mapreduce, is_phase_log, observe, observe_jobs, observe_phases,
};
use crate::job_time::own_run::OwnRun;
use crate::job_time::prove::{check_stages, own_run};
use crate::job_time::residual::{CheckedFit, add_residuals, add_spread_of_phases, other_jobs};
use crate::plan::JobPlan;
use crate::trace::JobTrace;
use crate::watch::{Quiet, Watch};

/// Settings of a fit.
#[derive(Clone, Debug, Default)]
pub struct FitSettings {
    /// Input of each log \[MB\], or of each of `jobs`; empty if the logs state it.
    pub inputs_mb: Vec<f64>,
    /// Ids of the jobs of MapReduce logs; empty for the only job of each log.
    pub jobs: Vec<String>,
    /// Facts about the hosts of phase logs, if the logs lack them.
    pub host: LogHost,
    /// Settings of the run of the checks. A fit uses the level of all intervals.
    pub run: RunSettings,
}

/// Reason why some logs give no model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogFitError {
    /// No log of the job.
    #[error("a configuration without a log; also pass the job's history")]
    NoLog,
    /// Two logs of the same run, which would make intervals too narrow.
    #[error("`{first}` and `{second}` are logs of the same run, {id}")]
    SameRun {
        /// Name of the first log.
        first: String,
        /// Name of the second log.
        second: String,
        /// Id of the run.
        id: String,
    },
    /// Logs of different kinds.
    #[error("logs of several kinds; a fit needs logs of one kind: Spark, Hadoop or phases")]
    BothKinds,
    /// Runs of other programs, which a fit of MapReduce jobs does not use.
    #[error("`--alongside` applies only to Spark logs")]
    Alongside,
    /// A Hadoop configuration or ids of jobs, with Spark logs.
    #[error("a *_conf.xml and --job apply only to MapReduce logs")]
    OnlyMapReduce,
    /// Another number of input sizes than of logs or jobs.
    #[error("{sizes} input sizes for {count} {of}; specify one for each {}", of.trim_end_matches('s'))]
    InputSizes {
        /// Number of sizes.
        sizes: usize,
        /// Number of logs or jobs.
        count: usize,
        /// `logs` or `jobs`.
        of: &'static str,
    },
    /// Logs that a model cannot be fitted to.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The check of the model failed.
    #[error(transparent)]
    Check(#[from] StudyError),
}

impl Explain for LogFitError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Fit(error) => error.kind(),
            Self::Check(error) => error.kind(),
            _ => ErrorKind::Usage,
        }
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Fit(error) => error.help(),
            Self::Check(error) => error.help(),
            Self::SameRun { .. } => Some("pass each run once; duplicates make intervals too narrow".into()),
            _ => None,
        }
    }
}

/// A fitted model.
#[derive(Debug)]
pub enum FittedModel {
    /// A job of stages, and the check of the plan on its own runs.
    Stages(Box<FittedStages>, OwnRun),
    /// A MapReduce job, the checks on each recorded job, and the check of the plan on its own jobs.
    Jobs(Box<FittedJobs>, Vec<CheckedFit>, OwnRun),
}

impl FittedModel {
    /// Returns the plan.
    pub fn plan(&self) -> JobPlan {
        match self {
            Self::Stages(fitted, _) => JobPlan::Stages(Box::new(fitted.plan.clone())),
            Self::Jobs(all, ..) => JobPlan::MapReduce(Box::new(all.fitted.plan.clone())),
        }
    }

    /// Returns the check of the plan on its own runs.
    pub fn own_run(&self) -> &OwnRun {
        match self {
            Self::Stages(_, own_run) | Self::Jobs(_, _, own_run) => own_run,
        }
    }

    /// Returns the plan as TOML, with notes on the fit.
    ///
    /// # Errors
    ///
    /// Values that TOML cannot express.
    pub fn plan_text(&self) -> Result<String, toml::ser::Error> {
        match self {
            Self::Stages(fitted, _) => fitted.plan.to_toml(),
            Self::Jobs(all, ..) => all.fitted.plan_text(),
        }
    }
}

/// A fit to logs, which are added one by one.
#[derive(Debug, Default)]
pub struct LogFit {
    settings: FitSettings,
    runs: Vec<ObservedRun>,
    jobs: Vec<JobTrace>,
    phases: Vec<PhaseRun>,
    others: Vec<ObservedRun>,
    conf: Option<HadoopConf>,
    /// Logs of runs without a stage that succeeded.
    useless: Vec<FitError>,
    /// Name of the log of each run.
    seen: BTreeMap<String, String>,
}

impl LogFit {
    /// Starts a fit without logs.
    pub fn new(settings: FitSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Adds the log of a run of the job; `name` identifies the log in errors.
    ///
    /// # Errors
    ///
    /// [`LogFitError::SameRun`], or a Spark log without the data of a fit.
    pub fn add(&mut self, name: &str, trace: JobTrace) -> Result<(), LogFitError> {
        for id in trace.applications.iter().map(|application| &application.id).filter(|id| !id.is_empty()) {
            if let Some(first) = self.seen.insert(id.clone(), name.to_owned()) {
                return Err(LogFitError::SameRun { first, second: name.to_owned(), id: id.clone() });
            }
        }
        if is_phase_log(&trace) {
            let input_mb = self.settings.inputs_mb.get(self.count()).copied();
            self.phases.push(observe_phases(&trace, self.settings.host, input_mb)?);
        } else if is_mapreduce(&trace) {
            self.jobs.push(trace);
        } else {
            let input_mb = self.settings.inputs_mb.get(self.count()).copied();
            match observe(&trace, input_mb) {
                // nothing of it can be used, but of other runs
                Err(error @ FitError::Incomplete { .. }) => self.useless.push(error),
                run => self.runs.push(run?),
            }
        }
        Ok(())
    }

    /// Adds the log of another program that ran on the same cluster.
    ///
    /// # Errors
    ///
    /// A log without the data of a fit.
    pub fn add_alongside(&mut self, trace: &JobTrace) -> Result<(), LogFitError> {
        self.others.push(observe(trace, None)?);
        Ok(())
    }

    /// Sets the Hadoop configuration of the jobs.
    pub fn set_conf(&mut self, conf: HadoopConf) {
        self.conf = Some(conf);
    }

    /// Number of logs so far.
    fn count(&self) -> usize {
        self.runs.len() + self.useless.len() + self.jobs.len() + self.phases.len()
    }

    /// Checks the kinds of the logs so far, before a configuration (`has_conf`) and logs of other programs
    /// (`has_others`) are read.
    ///
    /// # Errors
    ///
    /// Logs that no model fits, or that fit only without these inputs.
    pub fn check(&self, has_conf: bool, has_others: bool) -> Result<(), LogFitError> {
        let FitSettings { inputs_mb, jobs, .. } = &self.settings;
        let (sizes, count) = (inputs_mb.len(), self.count());
        if let ([], [], [first, ..]) = (&self.runs[..], &self.jobs[..], &self.useless[..]) {
            return Err(first.clone().into());
        }
        if !self.phases.is_empty() {
            return self.check_phases(has_conf, has_others);
        }
        match (self.runs.is_empty(), self.jobs.is_empty()) {
            (true, true) => Err(LogFitError::NoLog),
            _ if jobs.is_empty() && sizes > 0 && sizes != count => {
                Err(LogFitError::InputSizes { sizes, count, of: "logs" })
            }
            (_, false) if has_others => Err(LogFitError::Alongside),
            (false, false) => Err(LogFitError::BothKinds),
            (false, true) if has_conf || !jobs.is_empty() => Err(LogFitError::OnlyMapReduce),
            _ => Ok(()),
        }
    }

    /// Checks phase logs, which no other input joins.
    fn check_phases(&self, has_conf: bool, has_others: bool) -> Result<(), LogFitError> {
        let FitSettings { inputs_mb, jobs, .. } = &self.settings;
        let (sizes, count) = (inputs_mb.len(), self.phases.len());
        match count == self.count() {
            _ if has_others => Err(LogFitError::Alongside),
            _ if has_conf || !jobs.is_empty() => Err(LogFitError::OnlyMapReduce),
            false => Err(LogFitError::BothKinds),
            _ if sizes > 0 && sizes != count => Err(LogFitError::InputSizes { sizes, count, of: "logs" }),
            true => Ok(()),
        }
    }

    fn fit_phases(&self, watch: &dyn Watch) -> Result<FittedModel, LogFitError> {
        let mut all = fit_phases(&self.phases, self.settings.run.level)?;
        watch.counts("jobs");
        let checked = add_spread_of_phases(&mut all, &self.phases, &Quiet(watch))?;
        let own_run = own_run(&JobPlan::MapReduce(Box::new(all.fitted.plan.clone())), &Quiet(watch))?;
        Ok(FittedModel::Jobs(Box::new(all), checked, own_run))
    }

    /// Fits the model and checks it on its logs. `watch` counts replications of the check or other jobs of the logs. A
    /// stopped fit has no meaning.
    ///
    /// # Errors
    ///
    /// All variants of [`LogFitError`].
    pub fn fit(self, watch: &dyn Watch) -> Result<FittedModel, LogFitError> {
        self.check(self.conf.is_some(), !self.others.is_empty())?;
        if !self.phases.is_empty() {
            return self.fit_phases(watch);
        }
        if !self.jobs.is_empty() {
            return self.fit_jobs(watch);
        }
        let mut fitted = fit_stages_alongside(&self.runs, &self.others)?;
        fitted.plan.notes.extend(self.useless.iter().map(|error| format!("{error}: left out")));
        watch.counts("replications");
        let own_run = check_stages(&mut fitted, watch)?;
        Ok(FittedModel::Stages(Box::new(fitted), own_run))
    }

    fn fit_jobs(&self, watch: &dyn Watch) -> Result<FittedModel, LogFitError> {
        let FitSettings { inputs_mb, jobs, run: RunSettings { level, .. }, .. } = &self.settings;
        let traces: Vec<&JobTrace> = self.jobs.iter().collect();
        let observed = observe_jobs(&traces, jobs)?;
        let (sizes, count) = (inputs_mb.len(), observed.len());
        if sizes > 0 && sizes != count {
            return Err(LogFitError::InputSizes { sizes, count, of: "jobs" });
        }
        let mut all = fit_jobs(&observed, self.conf.as_ref(), inputs_mb, *level)?;
        watch.counts("jobs");
        let others = other_jobs(&traces, &observed, self.conf.as_ref(), *level, watch);
        let checked = add_residuals(&mut all, &others, &Quiet(watch))?;
        let own_run = own_run(&JobPlan::MapReduce(Box::new(all.fitted.plan.clone())), &Quiet(watch))?;
        Ok(FittedModel::Jobs(Box::new(all), checked, own_run))
    }
}
