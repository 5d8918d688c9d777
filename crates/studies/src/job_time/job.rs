//! The time of a MapReduce job: exactly, by simulation, or both.

use crate::answer::AnswerError;
use crate::ask::Proof;
use crate::compile::{CompileError, Program, compile, plan_schedule};
use crate::error::StudyError;
use crate::estimate::Measured;
use crate::job_time::by_task::simulate_tasks;
use crate::job_time::deadline::DeadlineSection;
use crate::job_time::late::{LateSection, LateSettings, few_late, few_late_runs};
use crate::job_time::own_run::OwnRun;
use crate::job_time::prove::own_run_of_job;
use crate::job_time::question::{collected, group};
use crate::job_time::simulated::SimulatedJob;
use crate::job_time::states_time::StatesTime;
use crate::mapreduce::task_times::PhaseWarning;
use crate::mapreduce::{JobNet, JobPhases, JobTime, Machines, Plan, attempt_rewards, job_net, seeded_phase_times};
use crate::net::Net;
use crate::plan::{Asked, JobPlan};
use crate::runs::{JobTimes, RunFactor, RunSpread};
use crate::sim::{Backend, CriticalPath, Ensemble, Group, Prepared, Question, Run, run};
use crate::solve::{CompletionTime, GridSettings, completion_time, is_series_parallel};
use crate::units::{Probability, Seconds};
use crate::watch::{TimeLimit, Watch};

/// Replications unless another number is requested.
pub const REPLICATIONS: u64 = 2_000;
/// Maximum number of replications whose critical paths are traced; more would not change the result.
const TRACED: u64 = 10_000;

/// Method of a job time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EstimateMethod {
    /// By simulation, and also exactly if there is a formula or the net has few states.
    #[default]
    Auto,
    /// By formula; if there is none, from the parts of the net; if that is not possible, from all its states.
    Exact,
    /// By simulation.
    Simulate,
}

/// Settings of an estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EstimateSettings {
    /// Method of the job time.
    pub method: EstimateMethod,
    /// True if equal tasks that wait for slots are folded (counted).
    pub fold: bool,
    /// Settings of splitting; none turns splitting off, which is the default. If there is no exact distribution and few replications are late,
    /// splitting gives the probability of finishing after the plan's deadline.
    pub late: Option<LateSettings>,
    /// Demands on the check of the plan on its own runs.
    pub proof: Proof,
    /// Maximum memory of the job's net \[bytes\]. A larger job runs task by task if it can, and is refused otherwise. None: no maximum.
    pub most_bytes: Option<u64>,
}

impl From<EstimateMethod> for EstimateSettings {
    /// Settings with this method and with folding, without splitting, for a question that asks for no advice.
    fn from(method: EstimateMethod) -> Self {
        Self { method, fold: true, late: None, proof: Proof::default(), most_bytes: None }
    }
}

/// The exact distribution of a job time.
#[derive(Clone, Debug)]
pub enum ExactJobTime {
    /// By formula.
    Formula(JobTime),
    /// From the parts of the job's net, with guaranteed bounds.
    Parts(CompletionTime),
    /// From all states of the job's net, with equal tasks folded.
    States(StatesTime),
}

impl ExactJobTime {
    /// Returns the mean \[s\].
    pub fn mean(&self) -> f64 {
        match self {
            Self::Formula(time) => time.mean().get(),
            Self::Parts(time) => time.mean().value,
            Self::States(time) => time.mean(),
        }
    }

    /// Returns the mean \[s\] with its uncertainty, for a report whose intervals have confidence `level`.
    pub fn mean_measured(&self, level: f64) -> Measured {
        match self {
            Self::Formula(time) => Measured::exact(time.mean().get(), level),
            Self::Parts(time) => Measured { level, ..time.mean() },
            Self::States(time) => Measured::exact(time.mean(), level),
        }
    }

    /// Returns the time \[s\] within which the job finishes with probability `p`; none unless `p` is above 0
    /// and below 1.
    pub fn quantile(&self, p: f64, level: f64) -> Option<Measured> {
        Some(match self {
            Self::Formula(time) => Measured::exact(time.quantile(Probability::new(p)?).ok()?.get(), level),
            Self::Parts(time) => Measured { level, ..time.quantile(p).ok()? },
            Self::States(time) => time.quantile(p, level)?,
        })
    }

    /// Returns two times \[s\] below and above which the job hardly ever ends; none if they cannot be computed.
    fn ends(&self) -> Option<[f64; 2]> {
        let at = |p: f64| Some(self.quantile(p, 0.0)?.value);
        [1e-9, 1e-6, 1e-3].into_iter().find_map(|tail| Some([at(tail)?, at(1.0 - tail)?]))
    }

    /// Returns the probability of finishing within `seconds`, for a report whose intervals have
    /// confidence `level`; none if it cannot be computed.
    pub fn done_by(&self, seconds: f64, level: f64) -> Option<Measured> {
        Some(match self {
            Self::Formula(time) => {
                let seconds = Seconds::new(seconds).unwrap_or_default();
                Measured::exact(time.cdf(seconds).get(), level)
            }
            Self::Parts(time) => Measured { level, ..time.cdf(seconds) },
            Self::States(time) => time.done_by(seconds, level)?,
        })
    }
}

/// The time of a job.
#[derive(Clone, Debug)]
pub struct JobEstimate {
    /// The mean times of the phases of each task.
    pub phases: JobPhases,
    /// The net of the job; none if it was simulated task by task.
    pub net: Option<JobNet>,
    /// The exact job time, if it is known.
    pub exact: Option<ExactJobTime>,
    /// Explains why there is no formula, if one was requested.
    pub no_formula: Option<String>,
    /// The simulation, unless only the exact time was requested.
    pub simulated: Option<SimulatedJob>,
    /// True if the exact job time could be computed from the parts of the net, although there is no formula.
    pub has_parts: bool,
    /// The job time of the next run, if the plan states run-to-run variation.
    pub next_run: Option<JobTimes>,
    /// The check of the plan on the jobs that it was fitted to. If the plan does not reproduce them, `next_run` is wider than the model says.
    pub own_run: OwnRun,
    /// The result of splitting: the probability of finishing after the plan's deadline, or the reason why this probability is
    /// missing. None if splitting was not needed.
    pub late: Option<Result<LateSection, String>>,
}

impl JobEstimate {
    fn of(phases: JobPhases) -> Self {
        Self {
            phases,
            net: None,
            exact: None,
            no_formula: None,
            simulated: None,
            has_parts: false,
            next_run: None,
            own_run: OwnRun::default(),
            late: None,
        }
    }

    /// Returns the mean job time \[s\]: exactly if it is known, otherwise by simulation.
    pub fn mean(&self) -> Option<f64> {
        let exact = self.exact.as_ref().map(ExactJobTime::mean);
        exact.or_else(|| self.simulated.as_ref().and_then(SimulatedJob::mean))
    }

    /// Returns the time \[s\] within which the job finishes with probability `p`: exactly if it is known,
    /// otherwise by simulation.
    pub fn quantile(&self, p: f64, level: f64) -> Option<Measured> {
        let exact = self.exact.as_ref().and_then(|time| time.quantile(p, level));
        exact.or_else(|| self.simulated.as_ref()?.quantile(p, level))
    }

    /// Returns the probability of finishing within `seconds`: exactly if it is known, otherwise by simulation. With
    /// run-to-run variation, the probability refers to the next run.
    pub fn done_by(&self, seconds: f64, level: f64) -> Option<Measured> {
        if self.next_run.is_some() {
            let DeadlineSection { exact, simulated, .. } = self.by_method(seconds, level);
            return exact.or(simulated);
        }
        let exact = self.exact.as_ref().and_then(|time| time.done_by(seconds, level));
        exact.or_else(|| self.simulated.as_ref()?.done_by(seconds, level))
    }
}

impl JobEstimate {
    /// Returns the probability of finishing within the plan's deadline \[s\] by each method; if the plan states
    /// run-to-run variation, the probability refers to the next run.
    pub fn deadline(&self, deadline_s: f64, level: f64) -> DeadlineSection {
        let (late, no_late) = match &self.late {
            Some(Ok(late)) => (Some(late.clone()), None),
            Some(Err(why)) => (None, Some(why.clone())),
            None => (None, None),
        };
        DeadlineSection { late, no_late, ..self.by_method(deadline_s, level) }
    }

    fn by_method(&self, deadline_s: f64, level: f64) -> DeadlineSection {
        let (exact, simulated) = (self.exact.as_ref(), self.simulated.as_ref());
        let Some(next) = &self.next_run else {
            return DeadlineSection::new(
                deadline_s,
                exact.and_then(|time| time.done_by(deadline_s, level)),
                simulated.and_then(|time| time.done_by(deadline_s, level)),
            );
        };
        let replications = simulated.map_or(0, |job| job.run.samples.replications);
        match exact {
            Some(_) => {
                let exact = Measured { level, ..Measured::between(next.cdf(deadline_s), None, None) };
                DeadlineSection::new(deadline_s, Some(exact), None)
            }
            None => DeadlineSection::new(deadline_s, None, Some(next.done_by(deadline_s, replications, level))),
        }
    }

    /// Runs splitting if the plan has a deadline that few replications miss, and no exact distribution is known.
    fn add_late(&mut self, plan: &Plan, settings: Option<LateSettings>, ensemble: &Ensemble, watch: &dyn Watch) {
        let (Some(settings), Some(deadline_s), None, Some(simulated)) =
            (settings, plan.job.deadline_s, &self.exact, &self.simulated)
        else {
            return;
        };
        let samples = &simulated.run.samples;
        self.late = match &self.next_run {
            Some(next) => few_late_runs(next, deadline_s).map(Err),
            None => few_late(samples, deadline_s).then(|| match &self.net {
                Some(job) => settings.estimate(&job.net, deadline_s, simulated.run.provenance.wall, ensemble, watch),
                None => Err("splitting needs the net of the job, which was simulated task by task".to_owned()),
            }),
        };
    }

    /// Computes the job time of the next run from the job time of typical runs: exactly if it is known, otherwise by
    /// simulation.
    pub(crate) fn add_next_run(&mut self, plan: &Plan, own_run: OwnRun) {
        self.own_run = own_run;
        let run = plan.run.as_ref().unwrap_or(&RunSpread::NONE);
        if run.sigma <= 0.0 && !self.own_run.is_misfit() {
            return;
        }
        let factor = RunFactor::new(run, self.own_run.error(0.0));
        let next_run = match (&self.exact, &self.simulated) {
            (Some(exact), _) => exact
                .ends()
                .and_then(|ends| JobTimes::from_cdf(|seconds| Some(exact.done_by(seconds, 0.0)?.value), ends, factor)),
            (None, Some(simulated)) => {
                let samples = &simulated.run.samples;
                JobTimes::from_histogram(&samples.passage_histogram, samples.clock.tick(), factor)
            }
            (None, None) => None,
        };
        self.next_run = next_run.map(|times| self.own_run.widened(times));
    }
}

/// Estimates the time of a job. The plan uses the seed of `ensemble`, which also sets the simulation.
///
/// # Examples
///
/// ```
/// use tailspn_engine::sim::{Ensemble, Unwatched};
/// use tailspn_jobs::mapreduce::Plan;
/// use tailspn_studies::job_time::{EstimateMethod, estimate_job};
///
/// let mut plan = Plan::default();
/// plan.model.slots = false; // all tasks at once
/// let estimate = estimate_job(&plan, EstimateMethod::Exact, &Ensemble::default(), &Unwatched)?;
/// assert!(estimate.mean().is_some_and(|mean| (mean - 85.236).abs() < 1e-3));
/// # Ok::<(), tailspn_studies::StudyError>(())
/// ```
///
/// # Errors
///
/// [`StudyError::Model`] for a plan without a net, [`StudyError::NoExactTime`] if only an exact time was requested but
/// none exists, [`StudyError::Part`] if this process ran only part of the replications, or the error of replications
/// that cannot be run. [`StudyError::Misfit`] if the question asks for advice, and the plan does not reproduce its runs.
pub fn estimate_job(
    plan: &Plan,
    settings: impl Into<EstimateSettings>,
    ensemble: &Ensemble,
    watch: &dyn Watch,
) -> Result<JobEstimate, StudyError> {
    let EstimateSettings { method, fold, late, proof, most_bytes } = settings.into();
    let mut plan = plan.clone();
    plan.model.seed = ensemble.seed;
    let by_task = runs_by_task(&plan, method, ensemble, most_bytes);
    refuse(
        &plan,
        if method == EstimateMethod::Exact || ensemble.backend != Backend::Auto { Asked::Net } else { Asked::Times },
    )?;
    if !by_task {
        check_net_bytes(&plan, most_bytes)?;
    }
    let phases = seeded_phase_times(&plan).map_err(|error| StudyError::Model(error.to_string()))?;
    // before the replications: what stops them must not stop the check
    let own_run = proof.before_replications(watch, |watch| own_run_of_job(&plan, watch))?;
    if by_task {
        return estimate_tasks(&plan, (phases, own_run), late, ensemble, watch);
    }
    // if no task waits, the net needs no slots: the times are the same, and more exact methods apply
    plan.model.slots = plan.waits();
    let job = job_net(&plan, &phases).map_err(|error| StudyError::Model(error.to_string()))?;
    let mut estimate = JobEstimate::of(phases);
    if method != EstimateMethod::Simulate {
        match JobTime::of_plan(&plan, &estimate.phases) {
            Ok(time) => estimate.exact = Some(ExactJobTime::Formula(time)),
            Err(error) => estimate.no_formula = Some(error.to_string()),
        }
    }
    if method == EstimateMethod::Exact {
        if estimate.exact.is_none() {
            let formula = estimate.no_formula.take().unwrap_or_default();
            estimate.exact = Some(without_formula(&job.net, formula, fold, watch)?);
        }
        estimate.net = Some(job);
        estimate.add_next_run(&plan, own_run);
        return Ok(estimate);
    }
    let limited = TimeLimit::new(watch, ensemble.max_wall);
    let (simulated, prepared) = simulate(&plan, &job, fold, ensemble, watch)?;
    if ensemble.share.is_part() {
        return Err(StudyError::Part);
    }
    if method == EstimateMethod::Auto && estimate.exact.is_none() {
        estimate.has_parts = prepared.folding().is_none() && is_series_parallel(&prepared.program).is_ok();
        let time = StatesTime::if_cheap(&job.net, &prepared, fold);
        estimate.exact = time.map(ExactJobTime::States);
        if estimate.exact.is_some() {
            estimate.no_formula = None;
        }
    }
    (estimate.net, estimate.simulated) = (Some(job), Some(simulated));
    estimate.add_next_run(&plan, own_run);
    estimate.add_late(&plan, late, ensemble, &limited);
    Ok(estimate)
}

/// Estimates the time of a job task by task.
fn estimate_tasks(
    plan: &Plan,
    (mut phases, own_run): (JobPhases, OwnRun),
    late: Option<LateSettings>,
    ensemble: &Ensemble,
    watch: &dyn Watch,
) -> Result<JobEstimate, StudyError> {
    // free slots take waiting tasks
    phases.warnings.retain(|warning| *warning != PhaseWarning::AssignedInAdvance);
    let simulated = simulate_tasks(plan, ensemble, watch)?;
    if ensemble.share.is_part() {
        return Err(StudyError::Part);
    }
    let mut estimate = JobEstimate { simulated: Some(simulated), ..JobEstimate::of(phases) };
    estimate.add_next_run(plan, own_run);
    estimate.add_late(plan, late, ensemble, watch);
    Ok(estimate)
}

/// Number of tasks above which a job runs task by task: a net takes kilobytes for each task.
const LARGE: u64 = 100_000;
/// Memory of a task in a net while it is built, compiled and simulated \[bytes\]: 8,000 with slots, 10,000 with copies, 11,500
/// without slots (2026-11-29, peaks of processes that estimate 10,000 to 90,000 tasks).
const BYTES_OF_A_TASK: u64 = 12_000;

/// Returns the approximate memory of the net of a job \[bytes\].
fn net_bytes(plan: &Plan) -> u64 {
    plan.tasks().saturating_mul(BYTES_OF_A_TASK)
}

/// Refuses a job whose net needs too much memory, before the net is built.
pub(crate) fn check_net_bytes(plan: &Plan, most_bytes: Option<u64>) -> Result<(), StudyError> {
    let (tasks, needed) = (plan.tasks(), net_bytes(plan));
    match most_bytes.filter(|limit| needed > *limit) {
        Some(limit) => Err(StudyError::LargeNet { tasks, needed, limit }),
        None => Ok(()),
    }
}

/// Returns true if the job runs task by task: its net cannot run it as the plan states it, or is too large.
fn runs_by_task(plan: &Plan, method: EstimateMethod, ensemble: &Ensemble, most_bytes: Option<u64>) -> bool {
    let is_large = plan.tasks() > LARGE || most_bytes.is_some_and(|limit| net_bytes(plan) > limit);
    let is_large = is_large && plan.can_run_by_task();
    method != EstimateMethod::Exact && ensemble.backend == Backend::Auto && (plan.runs_by_task() || is_large)
}

/// Refuses what cannot be combined.
fn refuse(plan: &Plan, asked: Asked) -> Result<(), StudyError> {
    let plan = JobPlan::MapReduce(Box::new(plan.clone()));
    plan.refusal(asked).map_or(Ok(()), |row| Err(StudyError::Model(row.message())))
}

/// The exact job time without a formula: from the parts of the job's net, otherwise from all its states.
fn without_formula(net: &Net, formula: String, fold: bool, watch: &dyn Watch) -> Result<ExactJobTime, StudyError> {
    let failed = |problems: CompileError| StudyError::Model(problems.to_string());
    let parts = match completion_time(&compile(net).map_err(failed)?, &GridSettings::default()) {
        Ok(time) => return Ok(ExactJobTime::Parts(time)),
        Err(error) => error.to_string(),
    };
    let prepared = Prepared::new(net, &Question::default(), fold).map_err(failed)?;
    let time = StatesTime::new(net, &prepared, fold, watch);
    let no_time = |error: AnswerError| {
        // many delays have the same problem: report one
        let states = if let AnswerError::Phases(all) = &error { all[0].to_string() } else { error.to_string() };
        StudyError::NoExactTime { formula, parts, states }
    };
    time.map(ExactJobTime::States).map_err(no_time)
}

/// Returns the phase means of a plan, and its net.
///
/// # Errors
///
/// [`StudyError::Model`] with the reason why the plan has no net.
pub fn job_and_net(plan: &Plan) -> Result<(JobPhases, JobNet), StudyError> {
    let phases = seeded_phase_times(plan).map_err(|error| StudyError::Model(error.to_string()))?;
    let net = job_net(plan, &phases).map_err(|error| StudyError::Model(error.to_string()))?;
    Ok((phases, net))
}

/// Simulates the net of a job only for its time: without phases, costs and critical paths.
///
/// # Errors
///
/// [`StudyError::Model`] for a plan without a net, or replications that cannot be run.
pub fn job_times(plan: &Plan, ensemble: &Ensemble, watch: &dyn Watch) -> Result<Run, StudyError> {
    let (_, job) = job_and_net(plan)?;
    let prepared = prepared(&job, &Question::default(), plan.waits())?;
    Ok(prepared.unfold(run(&prepared.program, &prepared.question, ensemble, watch)?))
}

/// A job's net and a question, compiled. With `fold`, tasks are counted if the question does not distinguish them.
fn prepared(job: &JobNet, question: &Question, fold: bool) -> Result<Prepared, StudyError> {
    Prepared::new(&job.net, question, fold).map_err(|problems| StudyError::Model(problems.to_string()))
}

fn simulate(
    plan: &Plan,
    job: &JobNet,
    fold: bool,
    ensemble: &Ensemble,
    watch: &dyn Watch,
) -> Result<(SimulatedJob, Prepared), StudyError> {
    let rewards = if job.attempts.is_empty() {
        Vec::new()
    } else {
        attempt_rewards(&job.net, &job.attempts, Some(&Machines::of(plan)))
    };
    let collected = rewards.iter().map(|reward| collected(&job.net, reward)).collect();
    // one group of transitions per phase, in the order of the phases
    let groups = job.phases.iter().map(|(phase, transitions)| group(phase.name(), transitions)).collect();
    let question = Question { groups, rewards: collected, ..Question::default() };
    let prepared = prepared(job, &question, fold && plan.waits())?;
    let run = run(&prepared.program, &prepared.question, ensemble, watch)?;
    let critical_path = match plan.model.slots {
        true => Err("tasks wait for slots (`model.slots`) in an order that differs between runs".to_owned()),
        false => critical_path(&prepared.program, &question.groups, &run),
    };
    Ok((SimulatedJob { run: prepared.unfold(run), question, rewards, critical_path }, prepared))
}

/// Returns the shares of the phases on the critical path, from the first replications of the run; or the reason why the
/// schedule engine cannot run the net.
fn critical_path(program: &Program, groups: &[Group], run: &Run) -> Result<CriticalPath, String> {
    let plan = plan_schedule(program).map_err(|obstacles| {
        format!("only the schedule engine computes the critical path, and it cannot run this net: {}", obstacles[0])
    })?;
    let samples = &run.samples;
    let traced = samples.replications.min(TRACED);
    let (seed, first) = (run.provenance.seed, run.provenance.first);
    CriticalPath::trace(program, &plan, groups, samples.clock, seed, first, traced).map_err(|error| error.to_string())
}
