//! Comparison of fitted job plans with the jobs that they were fitted to, and the residual of the model.
//!
//! Each plan is estimated unchanged. The residual of a job is its actual time minus its estimate. The residual constants
//! of a plan come from the other jobs of its history: a time per job and a time per wave of maps or reduces. They minimise
//! the sum of the relative deviations; as weighted medians, they are robust against a few outliers. A job's residual is
//! never used for its own plan.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::error::StudyError;
use crate::fit::{FittedJob, FittedJobs, HadoopConf, ONE_JOB, ObservedJob, PhaseRun, fit_job, fit_phases, observe_job};
use crate::job_time::job::{EstimateMethod, estimate_job};
use crate::mapreduce::{LoggedJob, Plan, Residual};
use crate::runs::RunSpread;
use crate::sim::Ensemble;
use crate::trace::JobTrace;
use crate::watch::{Quiet, Watch};

/// Number of replications of a check; they determine the mean of a fitted job to about 1%.
pub const CHECK_REPLICATIONS: u64 = 400;
/// Maximum wall time for a job's replications; a job of thousands of tasks gets fewer replications.
const PATIENCE: Duration = Duration::from_secs(3);
/// Maximum number of other jobs of a history that are fitted and estimated for the residual constants of one job's plan.
pub const MOST_OTHERS: usize = 100;
/// Minimum number of jobs to determine both constants.
const ENOUGH_FOR_WAVES: usize = 8;
/// Minimum number of different sizes or clusters for predicting each by the others.
const FEWEST_SHAPES: usize = 3;
/// Number of rounds in which the two medians are computed in turn; they converge in a few.
const ROUNDS: usize = 20;

/// A fitted job and its estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CheckedFit {
    /// Actual time, from the first launch of a task to the last end of a task \[s\].
    pub actual_s: f64,
    /// Mean job time of the plan without the constants of its section `[residual]` \[s\].
    pub estimate_s: f64,
    /// Number of waves of maps and of reduces.
    pub waves: u64,
}

/// Estimates a fitted plan, without the constants of its section `[residual]`, at the size of its test job. `watch` may stop the
/// work; the estimate is then the mean of the replications so far.
///
/// # Errors
///
/// The errors of [`estimate_job`]; [`StudyError::NoReplication`] if no replication finished.
pub fn check_fit(fitted: &FittedJob, watch: &dyn Watch) -> Result<CheckedFit, StudyError> {
    let plan = Plan { residual: Residual::default(), proof: Vec::new(), ..fitted.plan.clone() };
    let estimate_s = mean_of(&plan, watch)?;
    Ok(CheckedFit { actual_s: fitted.run_s, estimate_s, waves: plan.waves().iter().sum() })
}

/// Returns the jobs of histories to which a plan was not fitted, at most [`MOST_OTHERS`], each with the estimate of a plan that is
/// fitted to that job. Jobs that cannot be fitted are left out. A plan that was fitted to several jobs needs no others, so there are
/// none. `watch` receives the number of jobs, and may stop the work.
pub fn other_jobs(
    histories: &[&JobTrace],
    fitted: &[ObservedJob],
    conf: Option<&HadoopConf>,
    level: f64,
    watch: &dyn Watch,
) -> Vec<CheckedFit> {
    if fitted.len() > 1 {
        return Vec::new();
    }
    let all = histories.iter().flat_map(|history| history.applications.iter().map(move |job| (history, &job.id)));
    let others: Vec<_> = all.filter(|(_, id)| fitted.iter().all(|job| job.id != **id)).take(MOST_OTHERS).collect();
    let planned = others.len() as u64;
    let check = |(done, (history, id)): (u64, (&&JobTrace, &String))| {
        watch.progress(done, planned);
        let fitted = fit_job(&observe_job(history, Some(id)).ok()?, conf, None, level).ok()?;
        check_fit(&fitted, &Quiet(watch)).ok()
    };
    (0..).zip(others).take_while(|_| !watch.stopped()).filter_map(check).collect()
}

/// Adds the residual to a fitted plan, and returns for each job the estimate without the residual. If the plan was fitted
/// to several jobs, the residual constants and the spread between runs come from these jobs. If the plan was fitted to
/// one job, the constants come from `others`, and the spread is assumed. `watch` may stop the work, as in [`check_fit`].
///
/// # Errors
///
/// The errors of [`check_fit`].
pub fn add_residuals(
    fitted: &mut FittedJobs,
    others: &[CheckedFit],
    watch: &dyn Watch,
) -> Result<Vec<CheckedFit>, StudyError> {
    let checked = check_jobs(fitted, watch)?;
    if fitted.jobs.len() == 1 {
        fitted.fitted.add_residual(residual_of(others), "other jobs of the log over their estimates");
        return Ok(checked);
    }
    let residual = residual_of(&checked);
    let with = |job: &CheckedFit| {
        let residual_s = residual.job_s + residual.wave_s * job.waves as f64;
        CheckedFit { estimate_s: (job.estimate_s + residual_s).max(0.1 * job.estimate_s), ..*job }
    };
    let run = run_spread(&checked.iter().map(with).collect::<Vec<_>>());
    fitted.fitted.add_residual(residual, "jobs over the plan's estimates");
    fitted.fitted.add_run(run, "deviation of the jobs from the plan's estimates");
    Ok(checked)
}

/// Adds the spread between whole runs to a plan fitted to phase logs, and returns the estimate of each job. With several sizes or clusters, each of them is
/// predicted by the plan of the others, so that the spread is that of predictions; with one, the spread is assumed.
///
/// # Errors
///
/// The errors of [`check_fit`].
pub(super) fn add_spread_of_phases(
    fitted: &mut FittedJobs,
    runs: &[PhaseRun],
    watch: &dyn Watch,
) -> Result<Vec<CheckedFit>, StudyError> {
    let estimate = |plan: &Plan, number: usize| {
        let at = plan.at_job(&fitted.fitted.plan.proof[number]);
        let estimate_s = mean_of(&at, watch)?;
        Ok(CheckedFit { actual_s: runs[number].job_s, estimate_s, waves: at.waves().iter().sum() })
    };
    let checked: Vec<CheckedFit> =
        (0..runs.len()).map(|number| estimate(&fitted.fitted.plan, number)).collect::<Result<_, StudyError>>()?;
    let shape = |number: &usize| {
        let job = LoggedJob { log: String::new(), job_s: 0.0, ..fitted.fitted.plan.proof[*number].clone() };
        toml::to_string(&job).unwrap_or_default()
    };
    let mut shapes: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    (0..runs.len()).for_each(|number| shapes.entry(shape(&number)).or_default().push(number));
    if shapes.len() < FEWEST_SHAPES {
        return Ok(checked);
    }
    let mut squares = 0.0;
    for own in shapes.values() {
        let others: Vec<PhaseRun> =
            (0..runs.len()).filter(|number| !own.contains(number)).map(|number| runs[number].clone()).collect();
        let Ok(without) = fit_phases(&others, fitted.fitted.level) else { return Ok(checked) };
        let mut of_shape = 0.0;
        for number in own {
            let found = estimate(&without.fitted.plan, *number)?;
            of_shape += (found.actual_s / found.estimate_s).ln().powi(2);
        }
        squares += of_shape / own.len() as f64;
    }
    let sigma = (squares / shapes.len() as f64).sqrt();
    let degrees_of_freedom = shapes.len() as f64;
    let runs = u32::try_from(runs.len()).unwrap_or(u32::MAX);
    let run = RunSpread { sigma, degrees_of_freedom, runs };
    fitted.fitted.add_run(run, "errors of predictions of each size and cluster by the other logs");
    Ok(checked)
}

/// Estimates a plan that was fitted to several jobs, without the constants of its section `[residual]`, at the size of
/// each job.
fn check_jobs(fitted: &FittedJobs, watch: &dyn Watch) -> Result<Vec<CheckedFit>, StudyError> {
    let at = |job: &FittedJob| FittedJob {
        plan: Plan { job: job.plan.job.clone(), proof: Vec::new(), ..fitted.fitted.plan.clone() },
        ..job.clone()
    };
    fitted.jobs.iter().map(|job| check_fit(&at(job), watch)).collect()
}

/// Returns the spread of whole runs around the estimates of one plan that was fitted to all of them, shrunk towards
/// [`ONE_JOB`] if there are few jobs.
///
/// # Examples
///
/// ```
/// use tailspn_studies::job_time::{CheckedFit, run_spread};
///
/// let job = |actual_s| CheckedFit { actual_s, estimate_s: 10.0, waves: 2 };
/// let run = run_spread(&[job(10.0), job(20.0), job(5.0)]);
/// let squares = 4.0 * 0.25_f64.powi(2) + 2.0 * 2.0_f64.ln().powi(2);
/// assert!((run.sigma - (squares / 6.0).sqrt()).abs() < 1e-12);
/// assert_eq!((run.degrees_of_freedom as u32, run.runs), (6, 3));
/// ```
pub fn run_spread(jobs: &[CheckedFit]) -> RunSpread {
    let prior = ONE_JOB;
    let squares: f64 = jobs.iter().map(|job| (job.actual_s / job.estimate_s).ln().powi(2)).sum();
    let freedom = prior.degrees_of_freedom + jobs.len().saturating_sub(1) as f64;
    let sigma = ((prior.degrees_of_freedom * prior.sigma * prior.sigma + squares) / freedom).sqrt();
    RunSpread { sigma, degrees_of_freedom: freedom, runs: u32::try_from(jobs.len().max(1)).unwrap_or(u32::MAX) }
}

/// Mean job time of a plan \[s\], from few replications.
fn mean_of(plan: &Plan, watch: &dyn Watch) -> Result<f64, StudyError> {
    let ensemble = Ensemble { replications: CHECK_REPLICATIONS, max_wall: Some(PATIENCE), ..Ensemble::default() };
    estimate_job(plan, EstimateMethod::Simulate, &ensemble, watch)?.mean().ok_or(StudyError::NoReplication)
}

/// Returns the residual constants of a job, from the *other* jobs of its history.
///
/// # Examples
///
/// ```
/// use tailspn_studies::job_time::{CheckedFit, residual_of};
///
/// let job = |actual_s, estimate_s| CheckedFit { actual_s, estimate_s, waves: 2 };
/// let residual = residual_of(&[job(11.0, 10.0), job(21.0, 20.0), job(90.0, 40.0)]);
/// assert_eq!((residual.jobs, residual.job_s, residual.wave_s), (3, 1.0, 0.0));
/// ```
pub fn residual_of(others: &[CheckedFit]) -> Residual {
    let left = |job: &CheckedFit| job.actual_s - job.estimate_s;
    let intercept = |wave_s: f64| {
        let terms = others.iter().map(|job| (left(job) - wave_s * job.waves as f64, 1.0 / job.actual_s));
        weighted_median(terms.collect())
    };
    let (mut wave_s, mut job_s) = (0.0, intercept(0.0));
    if others.len() >= ENOUGH_FOR_WAVES && others.iter().any(|job| job.waves != others[0].waves) {
        for _ in 0..ROUNDS {
            let slope = |job: &CheckedFit| ((left(job) - job_s) / job.waves as f64, job.waves as f64 / job.actual_s);
            wave_s = weighted_median(others.iter().map(slope).collect());
            job_s = intercept(wave_s);
        }
    }
    Residual { jobs: others.len() as u64, wave_s, job_s }
}

/// The value with the least weighted sum of distances to the terms; 0 if there are no terms.
fn weighted_median(mut terms: Vec<(f64, f64)>) -> f64 {
    terms.retain(|(value, weight)| value.is_finite() && weight.is_finite());
    terms.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = 0.5 * terms.iter().map(|term| term.1).sum::<f64>();
    let mut sum = 0.0;
    let reaches = |term: &&(f64, f64)| {
        sum += term.1;
        sum >= half
    };
    terms.iter().find(reaches).map_or(0.0, |term| term.0)
}
