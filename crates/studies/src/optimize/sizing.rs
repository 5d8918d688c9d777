//! The cheapest size of a job that is known by its plan, such as the plan of fitted logs: executors and cores, or workers, at a price.
//!
//! Owns which sizes are candidates. They are searched as those of any plan with `[optimize]`.

use std::num::NonZeroUsize;

use toml::Value;

use crate::error::StudyError;
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
/// Without given numbers of machines, they first double from 1 to as many as the widest stage can use. A pilot with another seed finds the
/// neighbourhood of the answer, and the search is over those numbers and the numbers around the pilot's answer. What it says holds for the
/// sizes that it lists: the pilot only proposes some of them.
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
    /// What its machines cost.
    pub price: Price,
    /// Numbers of executors or workers that may be chosen; empty for those that the job can use.
    pub machines: Vec<u64>,
    /// Cores of an executor that may be chosen; empty for those of the plan.
    pub cores: Vec<u64>,
    /// What must be at most the deadline. Default: the p95.
    pub measure: Measure,
    /// Seed of the replications. Default 0.
    pub seed: u64,
    /// Threads; none for one per core.
    pub threads: Option<NonZeroUsize>,
}

/// The result of a search for a size.
#[derive(Debug)]
pub struct SizingOutcome {
    /// The search that gave the answer.
    pub search: Optimization,
    /// Its result.
    pub outcome: OptimizeOutcome,
    /// The price.
    pub price: Price,
    /// What is doubtful about the job at the chosen size, or at the nearest one: sizes far from those that were measured, and assumptions.
    pub remarks: Vec<String>,
    /// What the logs of a fitted job do not say.
    pub notes: Vec<String>,
}

/// Most machines that are tried without being asked for.
const MOST_MACHINES: u64 = 1024;
/// Numbers that are tried on each side of the pilot's answer.
const NEIGHBOURS: u64 = 8;
/// Replications of a size after which the pilot leaves it undecided.
const PILOT: u64 = 2000;
/// Replications of a size after which it stays undecided.
const MOST_REPLICATIONS: u64 = 200_000;

impl Sizing {
    /// Returns the search for a job; without a price the cost is in core-hours, or in node-hours of a MapReduce job.
    ///
    /// # Errors
    ///
    /// [`StudyError::Options`] for options of the job that do not fit, and [`StudyError::Price`] for a price or job that cannot be used.
    pub fn new(job: impl Planning, price: Option<Price>) -> Result<Self, StudyError> {
        let mut job = job.plan().map_err(StudyError::Options)?;
        let (counts, units, described): (_, &[PriceUnit], _) = match &job {
            JobPlan::Stages(_) => (
                "executors and cores (/executor-hour, /core-hour)",
                &[PriceUnit::CoreHour, PriceUnit::ExecutorHour],
                "a job of stages",
            ),
            JobPlan::MapReduce(plan) => {
                let kinds = plan.cluster.node.len();
                if kinds > 1 {
                    return Err(PriceError::SeveralKinds { kinds }.into());
                }
                ("workers (/node-hour)", &[PriceUnit::NodeHour], "a MapReduce job")
            }
            JobPlan::Tasks(_) => return Err(PriceError::Tasks.into()),
        };
        let price = price.unwrap_or_else(|| Price::one(units[0]));
        if !units.contains(&price.unit) {
            return Err(PriceError::Unit { unit: price.unit, job: described, counts }.into());
        }
        if job.deadline_s().is_none() {
            return Err(PriceError::NoDeadline.into());
        }
        if let JobPlan::MapReduce(plan) = &job
            && !plan.model.slots
        {
            // without slots, workers have no part in the time of tasks
            job = job.with_all(&[PlanOption::Slots(true)]).plan().map_err(StudyError::Options)?;
        }
        let (machines, cores, measure) = (Vec::new(), Vec::new(), Measure::Quantile(0.95));
        Ok(Self { job, price, machines, cores, measure, seed: 0, threads: None })
    }

    /// Sets the numbers of executors or workers that may be chosen.
    #[must_use]
    pub fn machines(mut self, machines: impl IntoIterator<Item = u64>) -> Self {
        self.machines = machines.into_iter().collect();
        self
    }

    /// Sets the cores of an executor that may be chosen.
    #[must_use]
    pub fn cores(mut self, cores: impl IntoIterator<Item = u64>) -> Self {
        self.cores = cores.into_iter().collect();
        self
    }

    /// Searches. `watch` counts the replications of the size under way.
    ///
    /// # Errors
    ///
    /// As [`Optimization::run`]. A stopped search is a result.
    pub fn run(&self, watch: &dyn Watch) -> Result<SizingOutcome, StudyError> {
        if !self.machines.is_empty() {
            return self.outcome(self.search(&self.machines)?, watch);
        }
        let doubled = self.doubled();
        let mut pilot = self.search(&doubled)?;
        // another seed, so that what the pilot finds says nothing about the chances of the search
        pilot.plan.sweep.seed = self.seed.wrapping_add(1);
        pilot.plan.optimize.max_replications = PILOT;
        let found = pilot.run(watch)?;
        if found.found.answer == Answer::Stopped {
            return Ok(self.told(pilot, found));
        }
        let near = nearest(&found).and_then(|candidate| candidate.point.values.first()?.as_ref()?.as_integer());
        let mut machines = doubled;
        if let Some(near) = near.and_then(|near| u64::try_from(near).ok()) {
            machines.extend(around(near, *machines.last().unwrap_or(&near)));
            machines.sort_unstable();
            machines.dedup();
        }
        self.outcome(self.search(&machines)?, watch)
    }

    fn outcome(&self, search: Optimization, watch: &dyn Watch) -> Result<SizingOutcome, StudyError> {
        let outcome = search.run(watch)?;
        Ok(self.told(search, outcome))
    }

    fn told(&self, search: Optimization, outcome: OptimizeOutcome) -> SizingOutcome {
        let mut remarks = Vec::new();
        let mut notes = Vec::new();
        if let JobPlan::Stages(plan) = &self.job {
            remarks = nearest(&outcome).map_or_else(Vec::new, |candidate| at(plan, candidate).remarks());
            notes.clone_from(&plan.notes);
        }
        SizingOutcome { search, outcome, price: self.price.clone(), remarks, notes }
    }

    /// Returns 1, 2, 4, ... up to what the widest stage can use at the fewest cores.
    fn doubled(&self) -> Vec<u64> {
        let most = match &self.job {
            JobPlan::Stages(plan) => {
                let cores = self.cores.iter().copied().min().unwrap_or(plan.job.cores.into()).max(1);
                let widest = PlannedJob::of(plan).stages.iter().map(|stage| stage.tasks()).max().unwrap_or(1);
                u64::from(widest).div_ceil(cores)
            }
            JobPlan::MapReduce(plan) => {
                let workers = plan.workers().max(1);
                let waves = |tasks: u64, slots: u64| tasks.div_ceil((slots / workers).max(1));
                waves(plan.maps(), plan.map_slots()).max(waves(plan.reduces(), plan.reduce_slots()))
            }
            JobPlan::Tasks(_) => 1,
        };
        let most = most.clamp(1, MOST_MACHINES).next_power_of_two();
        std::iter::successors(Some(1), |n| Some(2 * n)).take_while(|&n| n <= most).collect()
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
        sweep.seed = self.seed;
        optimize.measure = self.measure.name();
        optimize.cost = "0".to_owned();
        optimize.cost_per_s = Some(self.price.per_second());
        optimize.max_replications = MOST_REPLICATIONS;
        search.threads = self.threads;
        Ok(search)
    }
}

/// Returns the chosen candidate, else the fastest of those that were judged.
fn nearest(outcome: &OptimizeOutcome) -> Option<&Candidate> {
    outcome.chosen().or_else(|| outcome.candidates.get(outcome.found.closest()?.candidate))
}

/// The plan at the size of a candidate.
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

/// Returns numbers between half and twice of one, as many on each side as are tried, at most `most`.
fn around(near: u64, most: u64) -> Vec<u64> {
    let between = |from: u64, to: u64| -> Vec<u64> {
        let gaps = (to - from).min(NEIGHBOURS + 1).max(1);
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
        assert_eq!(many.len(), 16);
        assert!(many.windows(2).all(|pair| pair[0] < pair[1]) && many[0] > 32 && many[15] < 128, "{many:?}");
    }
}
