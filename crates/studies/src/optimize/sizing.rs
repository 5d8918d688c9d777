//! The cheapest size (executors and cores, or workers) of a job at a price. The job is given by its plan, such as a plan that was fitted to logs.
//!
//! Implements the choice of candidate sizes. The search over these sizes is the same as for any plan with `[optimize]`.

use toml::Value;

use crate::ask::RunSettings;
use crate::error::StudyError;
use crate::job_time::check_net_bytes;
use crate::optimize::judge::Measure;
use crate::optimize::plan::OptimizePlan;
use crate::optimize::price::{Price, PriceError, PriceUnit};
use crate::optimize::run::{Optimization, OptimizeOutcome};
use crate::optimize::search::{Answer, Candidate};
use crate::plan::{JobPlan, PlanOption, Planning};
use crate::stages::{PlannedJob, StagePlan};
use crate::sweep::Axis;
use crate::watch::Watch;

/// A search for the cheapest size of a job that meets its deadline.
///
/// If no numbers of machines are given, a pilot of few replications doubles the number. The pilot stops when the job
/// meets its deadline and becomes more expensive, or when the widest stage cannot use more machines. The search then
/// evaluates numbers around the pilot's answer. The result applies to the listed sizes: the pilot, which has another
/// seed, only proposes them.
///
/// # Examples
///
/// ```
/// use tailspn_jobs::plan::JobPlan;
/// use tailspn_studies::optimize::Sizing;
/// use tailspn_common::watch::Unwatched;
///
/// let job = JobPlan::from_toml("[job]\ninput_mb = 1280\nreduces = 4\ndeadline_s = 500\n[model]\nslots = true")?;
/// let found = Sizing::new(job, Some("0.40/node-hour".parse()?))?.machines([1, 2, 4, 8]).run(&Unwatched)?;
/// assert_eq!(found.outcome.candidates.len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sizing {
    /// The job.
    pub job: JobPlan,
    /// The price of its machines.
    pub price: Price,
    /// Numbers of executors or workers to choose from; if empty, a pilot finds a range.
    pub machines: Vec<u64>,
    /// Numbers of cores per executor to choose from; if empty, the plan's number.
    pub cores: Vec<u64>,
    /// The measure that must be at most the deadline. Default: the p95.
    pub measure: Measure,
    /// Settings of the run. The numbers of replications depend on the job.
    pub run: RunSettings,
    /// True if the search adds slots, because the job's plan has no slots and workers would not affect the times of tasks.
    adds_slots: bool,
}

/// The result of a search for a size.
#[derive(Debug)]
pub struct SizingOutcome {
    /// The search that gave the answer.
    pub search: Optimization,
    /// The result of the search.
    pub outcome: OptimizeOutcome,
    /// The price.
    pub price: Price,
    /// Reasons for doubt about the job at the chosen size, otherwise at the fastest size: sizes far from the measured ones, and assumptions.
    pub remarks: Vec<String>,
    /// Assumptions of the fit that replace data missing from the logs.
    pub notes: Vec<String>,
}

/// Maximum number of machines that the pilot tries.
const MOST_MACHINES: u64 = 1024;
/// Maximum number of sizes that are added on each side of the pilot's answer.
const NEIGHBOURS: u64 = 6;
/// Minimum and maximum number of replications of a size in the pilot.
const PILOT: [u64; 2] = [60, 100];
/// Minimum and maximum number of replications of a size at the first look of the search.
const FIRST: [u64; 2] = [150, 500];
/// Confidence of the pilot: low, so that few replications suffice for an interval of a quantile. It does not affect decisions.
const PILOT_CONFIDENCE: f64 = 0.05;
/// A pilot is far within the deadline if its measure is at most this share of the deadline.
const CLEAR: f64 = 0.7;
/// Total number of simulated tasks of a size; it determines the number of replications within the limits above.
const PILOT_TASKS: u64 = 2_000_000;
const FIRST_TASKS: u64 = 5_000_000;
/// Maximum number of doublings that are tried after the cheapest size.
const MOST_DEARER: u32 = 2;
/// Maximum number of simulated tasks (replications times tasks) of a size; if it is reached, the size stays undecided.
const MOST_TASKS: u64 = 100_000_000;
/// Maximum number of replications of a size, regardless of its tasks; if it is reached, the size stays undecided.
const MOST_REPLICATIONS: u64 = 200_000;
/// Number of replications of a size that are always allowed.
const LEAST_REPLICATIONS: u64 = 500;

impl Sizing {
    /// Returns the search for a job. Without a price, the cost is in core-hours, or in node-hours for a MapReduce job.
    ///
    /// # Errors
    ///
    /// [`StudyError::Options`] for options that do not apply to the job, and [`StudyError::Price`] for a price or job that cannot be used.
    pub fn new(job: impl Planning, price: Option<Price>) -> Result<Self, StudyError> {
        let mut job = job.plan().map_err(StudyError::Options)?;
        if let JobPlan::MapReduce(plan) = &job
            && plan.cluster.node.len() > 1
        {
            return Err(PriceError::SeveralKinds { kinds: plan.cluster.node.len() }.into());
        }
        let price =
            price.or_else(|| PriceUnit::of(&job).first().map(|unit| Price::one(*unit))).ok_or(PriceError::Tasks)?;
        price.check(&job)?;
        if job.deadline_s().is_none() {
            return Err(PriceError::NoDeadline.into());
        }
        let adds_slots = matches!(&job, JobPlan::MapReduce(plan) if !plan.model.slots);
        if adds_slots {
            job = job.with_all(&[PlanOption::Slots(true)]).plan().map_err(StudyError::Options)?;
        }
        let (machines, cores, measure) = (Vec::new(), Vec::new(), Measure::Quantile(0.95));
        Ok(Self { job, price, machines, cores, measure, run: RunSettings::default(), adds_slots })
    }

    /// Sets the numbers of executors or workers that may be chosen.
    #[must_use]
    pub fn machines(mut self, machines: impl IntoIterator<Item = u64>) -> Self {
        self.machines = machines.into_iter().collect();
        self
    }

    /// Sets the numbers of cores per executor that may be chosen.
    #[must_use]
    pub fn cores(mut self, cores: impl IntoIterator<Item = u64>) -> Self {
        self.cores = cores.into_iter().collect();
        self
    }

    /// Runs the search. `watch` counts the replications of the current size.
    ///
    /// # Errors
    ///
    /// The errors of [`Optimization::run`]. A stopped search is a result.
    pub fn run(&self, watch: &dyn Watch) -> Result<SizingOutcome, StudyError> {
        if let JobPlan::MapReduce(plan) = &self.job {
            check_net_bytes(plan, self.run.max_memory)?;
        }
        if !self.machines.is_empty() {
            return self.outcome(self.search(&self.machines)?, watch);
        }
        let mut pilots = Pilots::default();
        for machines in self.doubled() {
            let pilot = self.pilot(machines)?;
            let found = pilot.run(watch)?;
            if found.found.answer == Answer::Stopped {
                return Ok(self.told(pilot, found));
            }
            pilots.add(machines, &found, pilot.plan.optimize.deadline_s.unwrap_or(f64::INFINITY));
            if pilots.are_enough() {
                break;
            }
        }
        let machines = pilots.proposed();
        self.outcome(self.search(&machines)?, watch)
    }

    /// Returns the pilot for a number of machines.
    fn pilot(&self, machines: u64) -> Result<Optimization, StudyError> {
        let mut pilot = self.search(&[machines])?;
        let OptimizePlan { sweep, optimize, .. } = &mut pilot.plan;
        // another seed, so that the pilot's result is independent of the search
        sweep.seed = self.run.seed.unwrap_or(0).wrapping_add(1);
        // enough replications that the quantile's interval has an upper end at the confidence of the pilot
        let share = 0.25 * (1.0 - PILOT_CONFIDENCE) / self.cores.len().max(1) as f64;
        let tail = if let Measure::Quantile(q) = self.measure { (share.ln() / q.ln()).ceil() + 1.0 } else { 0.0 };
        // `as` saturates at the ends of u64
        sweep.replications = self.replications(PILOT_TASKS, PILOT).max((tail as u64).min(MOST_REPLICATIONS));
        optimize.max_replications = sweep.replications;
        optimize.confidence = PILOT_CONFIDENCE;
        Ok(pilot)
    }

    fn outcome(&self, search: Optimization, watch: &dyn Watch) -> Result<SizingOutcome, StudyError> {
        let outcome = search.run(watch)?;
        Ok(self.told(search, outcome))
    }

    fn told(&self, search: Optimization, outcome: OptimizeOutcome) -> SizingOutcome {
        let mut remarks = Vec::new();
        let mut notes = Vec::new();
        let is_stages = matches!(self.job, JobPlan::Stages(_));
        if let JobPlan::Stages(plan) = &self.job {
            remarks = nearest(&outcome).map_or_else(Vec::new, |candidate| at(plan, candidate).remarks());
            let text = |remark: String| format!("at this size, {remark}");
            remarks = remarks.into_iter().map(text).collect();
            notes.clone_from(&plan.notes);
        }
        if self.machines.is_empty() {
            let name = if is_stages { "--executors" } else { "--workers" };
            remarks.push(format!("sizes outside the table were not evaluated; {name} 1..64 evaluates more"));
        }
        if self.adds_slots {
            remarks
                .push("in this search, tasks wait for slots, although `model.slots` of the plan is false".to_owned());
        }
        SizingOutcome { search, outcome, price: self.price.clone(), remarks, notes }
    }

    /// Returns 1, 2, 4, ... up to the number that the widest stage can use with the fewest cores. Omits numbers with which the work would
    /// take more than twice the deadline even if it were spread evenly.
    fn doubled(&self) -> Vec<u64> {
        let mut least = 1;
        let most = match &self.job {
            JobPlan::Stages(plan) => {
                let own = u64::from(plan.job.cores);
                let ends = || self.cores.iter().copied();
                let (fewest, most) = (ends().min().unwrap_or(own).max(1), ends().max().unwrap_or(own).max(1));
                let job = PlannedJob::of(plan);
                let work_s: f64 = job.stages.iter().map(|stage| stage.work_s()).sum();
                let slots = work_s / (2.0 * plan.job.deadline_s.unwrap_or(f64::INFINITY));
                // `as` saturates at the ends of u64
                least = (slots / most as f64) as u64;
                let widest = job.stages.iter().map(|stage| stage.tasks()).max().unwrap_or(1);
                u64::from(widest).div_ceil(fewest)
            }
            JobPlan::MapReduce(plan) => {
                let workers = plan.workers().max(1);
                let waves = |tasks: u64, slots: u64| tasks.div_ceil((slots / workers).max(1));
                waves(plan.maps(), plan.map_slots()).max(waves(plan.reduces(), plan.reduce_slots()))
            }
            JobPlan::Tasks(_) => 1,
        };
        let most = most.clamp(1, MOST_MACHINES).next_power_of_two();
        let all = std::iter::successors(Some(1), |n| Some(2 * n)).take_while(|&n| n <= most);
        all.filter(|&n| 2 * n > least || n == most).collect()
    }

    /// Returns the number of replications that simulate `tasks` tasks in total, limited to the bounds.
    fn replications(&self, tasks: u64, [least, most]: [u64; 2]) -> u64 {
        let own = match &self.job {
            JobPlan::Stages(plan) => PlannedJob::of(plan).stages.iter().map(|stage| u64::from(stage.tasks())).sum(),
            JobPlan::MapReduce(plan) => plan.tasks(),
            JobPlan::Tasks(_) => 1,
        };
        (tasks / own.max(1)).clamp(least, most)
    }

    /// Returns the search over numbers of machines.
    fn search(&self, machines: &[u64]) -> Result<Optimization, StudyError> {
        let deadline_s = self.job.deadline_s().ok_or(PriceError::NoDeadline)?;
        let mut search = Optimization::of_job(self.job.clone(), deadline_s)?;
        let named = |key: &str, name: &str, values: &[u64]| {
            let values = values.iter().map(|&value| Value::Integer(i64::try_from(value).unwrap_or(i64::MAX)));
            Axis { name: Some(name.to_owned()), ..Axis::values(key, values) }
        };
        search = match &self.job {
            JobPlan::Stages(plan) => {
                let own = [u64::from(plan.job.cores)];
                let cores = if self.cores.is_empty() { &own[..] } else { &self.cores[..] };
                search.axis(named("job.executors", "executors", machines)).axis(named("job.cores", "cores", cores))
            }
            JobPlan::MapReduce(_) | JobPlan::Tasks(_) => {
                search.axis(named("cluster.node[0].count", "workers", machines))
            }
        };
        let OptimizePlan { sweep, optimize, .. } = &mut search.plan;
        sweep.seed = self.run.seed.unwrap_or(0);
        optimize.measure = self.measure.name();
        optimize.cost = "0".to_owned();
        optimize.cost_per_s = Some(self.price.per_second());
        sweep.replications = self.replications(FIRST_TASKS, FIRST);
        optimize.max_replications = self.replications(MOST_TASKS, [LEAST_REPLICATIONS, MOST_REPLICATIONS]);
        search.run = RunSettings { seed: None, ..self.run.clone() };
        Ok(search)
    }
}

/// The estimates of pilots with increasing numbers of machines.
#[derive(Debug, Default)]
struct Pilots {
    tried: Vec<u64>,
    /// The number of machines that meets the deadline at the least cost, and this cost.
    best: Option<(u64, f64)>,
    /// The number of machines with which the job is fastest, and the measure \[s\].
    fastest: Option<(u64, f64)>,
    /// The minimum number of machines with which the job is far within the deadline.
    clear: Option<u64>,
    /// Number of values that were tried since the best one.
    dearer: u32,
}

impl Pilots {
    fn add(&mut self, machines: u64, found: &OptimizeOutcome, deadline_s: f64) {
        self.tried.push(machines);
        self.dearer += 1;
        for look in &found.found.looks {
            let (Some(time), Some(cost)) = (&look.judgement.time_s, &look.cost) else { continue };
            let value = time.value;
            if self.fastest.is_none_or(|(_, least)| value < least) {
                self.fastest = Some((machines, value));
            }
            if value <= deadline_s && self.best.is_none_or(|(_, least)| cost.value < least) {
                (self.best, self.dearer) = (Some((machines, cost.value)), 0);
            }
            if value <= CLEAR * deadline_s {
                self.clear = self.clear.or(Some(machines));
            }
        }
    }

    /// Returns true if more machines are not worth trying.
    fn are_enough(&self) -> bool {
        self.best.is_some() && self.clear.is_some() && self.dearer >= MOST_DEARER
    }

    /// Returns the numbers of machines for the search. If a number meets the deadline, the numbers are around the best
    /// number, up to a number that is far within the deadline. Otherwise they are around the fastest number.
    fn proposed(&self) -> Vec<u64> {
        let near = self.best.or(self.fastest).map_or(1, |(machines, _)| machines);
        let upto = (4 * near).max(self.clear.unwrap_or(near));
        let most = self.tried.last().copied().unwrap_or(near);
        let mut machines: Vec<u64> = self.tried.iter().copied().filter(|n| (near / 2..=upto).contains(n)).collect();
        machines.extend(around(near, most));
        machines.sort_unstable();
        machines.dedup();
        machines
    }
}

/// Returns the chosen candidate, otherwise the fastest one that was judged.
fn nearest(outcome: &OptimizeOutcome) -> Option<&Candidate> {
    outcome.chosen().or_else(|| outcome.candidates.get(outcome.found.closest()?.candidate))
}

/// Returns the plan with the size of a candidate.
fn at(plan: &StagePlan, candidate: &Candidate) -> StagePlan {
    let number = |axis: usize| {
        let value = candidate.point.values.get(axis)?.as_ref()?.as_integer()?;
        u32::try_from(value).ok()
    };
    let mut plan = plan.clone();
    plan.job.executors = number(0).unwrap_or(plan.job.executors);
    plan.job.cores = number(1).unwrap_or(plan.job.cores);
    plan
}

/// Returns numbers between half and twice `near`, at most `most`, with up to [`NEIGHBOURS`] on each side.
fn around(near: u64, most: u64) -> Vec<u64> {
    let between = |from: u64, to: u64| -> Vec<u64> {
        let gaps = (to - from).clamp(1, NEIGHBOURS + 1);
        (1..gaps).map(|i| from + (to - from) * i / gaps).collect()
    };
    let above = between(near, (2 * near).min(most.max(near)));
    between(near / 2, near).into_iter().filter(|&n| n > 0).chain(above).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_lie_between_half_and_twice() {
        assert_eq!(around(1, 64), Vec::<u64>::new());
        assert_eq!(around(4, 64), [3, 5, 6, 7]);
        assert_eq!(around(4, 4), [3]);
        let many = around(64, 1024);
        assert_eq!(many.len(), 12);
        assert!(many.windows(2).all(|pair| pair[0] < pair[1]) && many[0] > 32 && many[11] < 128, "{many:?}");
    }
}
