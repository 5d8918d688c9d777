//! Result of a job estimate: phases, job time by simulation and by formula, the critical path, and the cost of the
//! estimate.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::answer::{AnswerError, ExactBy};
use crate::ask::net::{CdfPoint, QUANTILES, QuantilePoint, line, passage_section};
use crate::estimate::Measured;
use crate::job_time::{DeadlineSection, ExactJobTime, JobEstimate, OwnRun, StatesTime, explain_job};
use crate::mapreduce::{AttemptReward, JobPhases, JobTime, LawKind, Phase, Plan};
use crate::report::distribution::Distribution;
use crate::report::explained::{AssumedSection, CriticalShare, PlanChange, SlotRow, TimePart, explained};
use crate::report::json::Word;
use crate::report::method::{AnswerMethod, UsedMethod};
use crate::report::next_run::NextRun;
use crate::report::summary::{ProvenanceSummary, Row, float_mean, group_rows, provenance_summary};
use crate::runs::RunSpread;
use crate::sim::{Question, Run};
use crate::solve::{CompletionTime, GridError, PassageError};
use crate::units::{Probability, Seconds};

/// The job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobSummary {
    /// Name of the job.
    pub name: String,
    /// Map tasks.
    pub maps: u64,
    /// Reduce tasks.
    pub reduces: u64,
    /// Workers.
    pub workers: u64,
    /// True if tasks wait for slots.
    pub slots: bool,
}

/// One of the nine phases. Times in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhaseRow {
    /// The paper's number, 1 to 9.
    pub number: usize,
    /// Name of the phase.
    pub name: Word,
    /// Tasks that run the phase.
    pub tasks: usize,
    /// Kind of the phase's distribution.
    pub law: LawKind,
    /// Mean time of one task, over all tasks \[s\].
    pub mean_s: f64,
    /// The shortest task's mean \[s\].
    pub min_s: f64,
    /// The longest task's mean \[s\].
    pub max_s: f64,
    /// Time when the first task has finished the phase \[s\]; none if it was not simulated.
    pub first_done: Option<Measured>,
    /// Time when the last task has finished the phase \[s\]; none if it was not simulated.
    pub last_done: Option<Measured>,
    /// The phase's share of the job time; none if it was not traced.
    pub critical: Option<CriticalShare>,
}

/// The exact distribution of the job time \[s\].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnalyticSummary {
    /// Unit of all numbers here.
    pub unit: Word,
    /// The method.
    pub by: ExactBy,
    /// Mean.
    pub mean: f64,
    /// Guaranteed bounds of the mean, if the method gives bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_bounds: Option<[f64; 2]>,
    /// Standard deviation.
    pub sd: f64,
    /// The quantiles 0.5, 0.9, 0.95, 0.99 and 0.999.
    pub quantiles: Vec<QuantilePoint>,
    /// The distribution function from its first rise to p99.99, at equal distances.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<CdfPoint>,
}

/// Cost of the estimate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimeCost {
    /// Wall time of the estimate, from the plan to the numbers \[s\].
    pub estimate_s: f64,
    /// Estimated mean time of the job \[s\].
    pub job_s: f64,
    /// `estimate_s` divided by `job_s`.
    pub ratio: f64,
}

/// All results of a job estimate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobReport {
    /// The job.
    pub job: JobSummary,
    /// Confidence level of all intervals.
    pub level: f64,
    /// The phases that the job has.
    pub phases: Vec<PhaseRow>,
    /// The other parts of the job time: waits for GPUs, and time lost because tasks share what their worker has. Empty if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<TimePart>,
    /// Use of the slots of maps and of reduces; empty if tasks do not wait for slots.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slot_use: Vec<SlotRow>,
    /// The changes of the plan that save most, the best first; empty if none saves 1%.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<PlanChange>,
    /// Assumptions in place of values that the plan does not state.
    pub assumed: AssumedSection,
    /// Method of the job time.
    pub method: AnswerMethod,
    /// Number of replications; 0 without a simulation.
    pub replications: u64,
    /// True if the run ended early.
    pub partial: bool,
    /// The probability of finishing by the plan's deadline, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<DeadlineSection>,
    /// The job time of the next run, if the plan states run-to-run variation; all other times are of typical runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_run: Option<NextRun>,
    /// Job time by simulation.
    pub job_time: Option<Distribution>,
    /// Exact job time.
    pub analytic: Option<AnalyticSummary>,
    /// Reason why there is no job time by formula, if one was requested.
    pub no_analytic: Option<String>,
    /// The check of the plan on the jobs that it was fitted to.
    pub own_run: OwnRun,
    /// Reason why there is no critical path, if the job was simulated.
    pub no_critical: Option<String>,
    /// Slot-seconds, waste, copies and energy of a job with stragglers or copies that was simulated; otherwise empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Row>,
    /// Cost of the estimate.
    pub time_cost: Option<TimeCost>,
    /// Origin of the numbers; none without a simulation.
    pub provenance: Option<ProvenanceSummary>,
    /// Version of tailspn.
    pub version: Word,
    /// The plan, every key written out.
    pub plan: String,
}

impl AnalyticSummary {
    /// Returns mean, spread and quantiles of a job's time.
    pub fn new(law: &JobTime) -> Self {
        let point = |&p: &f64| {
            let value = law.quantile(Probability::new(p)?).ok()?.get();
            Some(QuantilePoint::exact(p, value))
        };
        Self {
            unit: "s".into(),
            by: ExactBy::Formula,
            mean: law.mean().get(),
            mean_bounds: None,
            sd: law.standard_deviation().get(),
            quantiles: QUANTILES.iter().filter_map(point).collect(),
            curve: formula_line(law).unwrap_or_default(),
        }
    }

    /// Returns mean, spread and quantiles of the time at which the job's net is complete.
    ///
    /// # Errors
    ///
    /// As [`CompletionTime::quantile`].
    pub fn of_completion(time: &CompletionTime) -> Result<Self, GridError> {
        let mean = time.mean();
        let point = |p| Ok(QuantilePoint::bounded(p, &time.quantile(p)?));
        Ok(Self {
            unit: "s".into(),
            by: ExactBy::SeriesParallel,
            mean: mean.value,
            mean_bounds: mean.ends(),
            sd: time.standard_deviation(),
            quantiles: QUANTILES.into_iter().map(point).collect::<Result<_, GridError>>()?,
            curve: line([time.quantile(DRAWN[0])?.value, time.quantile(DRAWN[1])?.value], |time_s| {
                Ok::<_, GridError>(CdfPoint::bounded(time_s, &time.cdf(time_s)))
            })?,
        })
    }

    /// Returns mean, spread and quantiles of the time at which the job's net is complete, from all its states.
    ///
    /// # Errors
    ///
    /// As [`passage_section`].
    pub fn of_states(time: &StatesTime) -> Result<Self, PassageError> {
        let section = passage_section("", time.states(), &mut time.passage()?, &[])?;
        Ok(Self {
            unit: "s".into(),
            by: ExactBy::States,
            mean: time.mean(),
            mean_bounds: None,
            sd: section.sd_s.unwrap_or(0.0),
            quantiles: section.quantiles,
            curve: section.curve,
        })
    }
}

/// Probabilities between which an exact distribution function is drawn.
const DRAWN: [f64; 2] = [0.001, 0.9999];

/// Returns the distribution function by formula; `None` if the distribution is a single time.
fn formula_line(law: &JobTime) -> Option<Vec<CdfPoint>> {
    let end = |p| Some(law.quantile(Probability::new(p)?).ok()?.get());
    let point = |time_s| {
        let probability = law.cdf(Seconds::new(time_s).ok_or(())?).get();
        Ok::<_, ()>(CdfPoint { time_s, probability, density_per_s: None, low: None, high: None })
    };
    line([end(DRAWN[0])?, end(DRAWN[1])?], point).ok()
}

/// Reports the phase means of a job, which need no simulation.
pub fn job_report(plan: &Plan, phases: &JobPhases, level: f64) -> JobReport {
    JobReport {
        job: JobSummary {
            name: plan.job.name.clone(),
            maps: plan.maps(),
            reduces: plan.reduces(),
            workers: plan.workers(),
            slots: plan.waits(),
        },
        level,
        phases: plan.phases_of_job().into_iter().map(|phase| phase_row(plan, phases, phase)).collect(),
        waits: Vec::new(),
        slot_use: Vec::new(),
        changes: Vec::new(),
        assumed: AssumedSection::default(),
        method: AnswerMethod::simulation(),
        replications: 0,
        partial: false,
        deadline: None,
        next_run: None,
        job_time: None,
        analytic: None,
        no_analytic: None,
        own_run: OwnRun::default(),
        no_critical: None,
        attempts: Vec::new(),
        time_cost: None,
        provenance: None,
        version: env!("CARGO_PKG_VERSION").into(),
        plan: written(plan),
    }
}

/// Returns the report of an estimate of a job.
///
/// # Errors
///
/// As [`AnalyticSummary::of_completion`] and [`AnalyticSummary::of_states`].
pub fn estimate_report(plan: &Plan, found: &JobEstimate, level: f64) -> Result<JobReport, AnswerError> {
    let mut report = job_report(plan, &found.phases, level);
    report.no_analytic.clone_from(&found.no_formula);
    report.analytic = match &found.exact {
        None => None,
        Some(ExactJobTime::Formula(time)) => Some(AnalyticSummary::new(time)),
        Some(ExactJobTime::Parts(time)) => Some(AnalyticSummary::of_completion(time)?),
        Some(ExactJobTime::States(time)) => Some(AnalyticSummary::of_states(time)?),
    };
    let explanation = explain_job(plan, found, level);
    if let Some(simulated) = &found.simulated {
        report.add_run(&simulated.run, &simulated.question);
        report.add_attempts(&simulated.run, &simulated.rewards);
        report.no_critical = explanation.critical_path.as_ref().err().cloned();
    }
    let means: Vec<f64> = report.phases.iter().map(|row| row.mean_s).collect();
    let rows = explained(explanation, &means, level);
    report.phases.iter_mut().zip(rows.phases).for_each(|(row, critical)| row.critical = critical);
    (report.waits, report.slot_use) = (rows.waits, rows.slots);
    (report.changes, report.assumed) = (rows.changes, rows.assumed);
    report.own_run = found.own_run.clone();
    if found.own_run.forbids_advice() {
        // no advice rests on a model that does not reproduce its own runs
        report.changes.clear();
    }
    let run = plan.run.as_ref().unwrap_or(&RunSpread::NONE);
    report.next_run = found.next_run.as_ref().map(|times| NextRun::new(times, run, level));
    report.deadline = plan.job.deadline_s.map(|deadline_s| found.deadline(deadline_s, level));
    report.add_method();
    if found.has_parts {
        report.method.exact = Some(ExactBy::SeriesParallel);
    }
    if let Some(ExactJobTime::States(time)) = &found.exact {
        report.method.states = Some(time.states());
        report.method.folded = time.folded();
        report.method.not_folded = time.not_folded().to_vec();
    }
    Ok(report)
}

/// Returns the plan with all keys that have an effect. If a plan has phase means, a profile has no effect and is
/// refused.
fn written(plan: &Plan) -> String {
    if plan.phases.is_none() {
        return toml::to_string(plan).unwrap_or_default();
    }
    let mut keys = toml::Table::try_from(plan).unwrap_or_default();
    keys.remove("profile");
    toml::to_string(&keys).unwrap_or_default()
}

fn phase_row(plan: &Plan, phases: &JobPhases, phase: Phase) -> PhaseRow {
    let means: Vec<f64> = phases.means_of(phase).collect();
    PhaseRow {
        number: phase.number(),
        name: phase.name().into(),
        tasks: means.len(),
        law: plan.model.distribution.get(phase).kind(),
        mean_s: means.iter().sum::<f64>() / means.len().max(1) as f64,
        min_s: means.iter().copied().fold(f64::INFINITY, f64::min),
        max_s: means.iter().copied().fold(0.0, f64::max),
        first_done: None,
        last_done: None,
        critical: None,
    }
}

impl JobReport {
    /// Sets the method of the job time from the available results; called after the exact distribution and
    /// the run, if any, were added.
    pub fn add_method(&mut self) {
        let used = match (&self.analytic, &self.job_time) {
            (Some(_), None) => UsedMethod::Exact,
            (Some(_), Some(_)) => UsedMethod::Both,
            (None, _) => UsedMethod::Simulation,
        };
        let exact = self.analytic.as_ref().map(|law| law.by);
        self.method = AnswerMethod { used, exact, no_exact: self.no_analytic.clone(), ..AnswerMethod::simulation() };
    }

    /// Adds the results of a simulation; the groups of its question have the names of the phases.
    pub fn add_run(&mut self, run: &Run, question: &Question) {
        let samples = &run.samples;
        self.replications = samples.replications;
        self.partial = run.provenance.cut_short;
        self.job_time = Distribution::new(&samples.passage, &samples.passage_histogram, samples.clock, self.level);
        for group in group_rows(samples, question, self.level) {
            if let Some(row) = self.phases.iter_mut().find(|row| row.name == group.name) {
                row.first_done = group.first;
                row.last_done = group.last;
            }
        }
        self.provenance = Some(provenance_summary(&run.provenance, samples.clock.tick()));
    }

    /// Adds the costs of attempts; these rewards are the first rewards of the run's question.
    pub fn add_attempts(&mut self, run: &Run, rewards: &[AttemptReward]) {
        let row = |(reward, values): (&AttemptReward, _)| {
            let quantity = float_mean(values, self.level)?;
            Some(Row { name: reward.name.to_owned(), unit: reward.unit.into(), quantity })
        };
        self.attempts = rewards.iter().zip(&run.samples.averages().rewards).filter_map(row).collect();
    }

    /// Adds the cost of the estimate, once a job time is known.
    pub fn add_cost(&mut self, wall: Duration) {
        let simulated = self.job_time.as_ref().map(|time| time.mean.value);
        let job_s = self.analytic.as_ref().map(|law| law.mean).or(simulated);
        let estimate_s = wall.as_secs_f64();
        self.time_cost =
            job_s.filter(|job_s| *job_s > 0.0).map(|job_s| TimeCost { estimate_s, job_s, ratio: estimate_s / job_s });
    }
}
