//! The time of a planned job with each value of one or two lists: `--executors 1..64 --input-size 1x,3x`.

use std::cmp::Ordering;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tailspn_common::row::{Between, Level, Seconds, Set, Setting, Share};
use tailspn_common::threads;

use crate::ask::list_result::{EstimateTable, EstimateTableAnswer, EstimateTableQuestion, EstimatedRow};
use crate::ask::{EstimateJob as _, EstimatedJob, EstimatedWork, Proof, RunSettings};
use crate::error::StudyError;
use crate::job_time::{EstimateMethod, OwnRun};
use crate::optimize::Price;
use crate::plan::{DataSize, InputSize, JobPlan, PlanOption, Planning};
use crate::sim::Backend;
use crate::watch::{Quiet, TimeLimit, Watch};

/// Maximum number of rows.
const MOST_ROWS: usize = 10_000;
/// Relative difference below which two numbers are equal: times are rounded to ticks.
const EQUAL: f64 = 1e-6;
/// A configuration whose time is within this share of the fastest is as good.
const AS_FAST: f64 = 0.01;

/// An estimate of the time of a job with each value of one or two lists, which are crossed. All rows have the same random numbers.
///
/// ```
/// use tailspn_common::watch::Unwatched;
/// use tailspn_jobs::plan::{JobPlan, PlanOption};
/// use tailspn_studies::ask::EstimateList;
///
/// let workers = [4, 8].map(|count| PlanOption::Workers(None, count)).to_vec();
/// let table = EstimateList::new(JobPlan::default(), vec![workers])?.replications(50).run(&Unwatched)?;
/// assert!(table.rows[1].time_s.value < table.rows[0].time_s.value);
/// assert_eq!(table.answer.row, Some(1)); // the fastest
/// # Ok::<(), tailspn_studies::StudyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct EstimateList {
    job: JobPlan,
    lists: Vec<Vec<PlanOption>>,
    /// The price of machines; none for no costs.
    pub price: Option<Price>,
    /// Probability with which a configuration must meet the plan's deadline. Default 95%.
    pub probability: f64,
    /// Method of the job time.
    pub method: EstimateMethod,
    /// True to keep equal tasks apart.
    pub unfolded: bool,
    /// True to answer although the plan does not reproduce its own runs.
    pub is_trusted: bool,
    /// Settings of each row's run; `max_time` is for all rows.
    pub run: RunSettings,
}

impl EstimateList {
    /// Returns the question for a job, and the values of each list.
    ///
    /// # Errors
    ///
    /// [`StudyError::Lists`] unless there are one or two lists, [`StudyError::ManyRows`] for more than 10,000 rows, [`StudyError::Options`] for values that
    /// do not apply to the job.
    pub fn new(job: impl Planning, lists: Vec<Vec<PlanOption>>) -> Result<Self, StudyError> {
        if lists.is_empty() || lists.len() > 2 {
            let names = lists.iter().filter_map(|list| Some(list.first()?.name().to_owned())).collect();
            return Err(StudyError::Lists { names });
        }
        let rows = lists.iter().fold(1, |rows: u128, list| rows.saturating_mul(list.len() as u128));
        if rows > MOST_ROWS as u128 {
            return Err(StudyError::ManyRows { rows, most: MOST_ROWS });
        }
        let job = job.plan().map_err(StudyError::Options)?;
        if let JobPlan::Tasks(_) = job {
            return Err(StudyError::TaskByTask { question: "estimate", described_by: job.described_by() });
        }
        let (price, method, run) = (None, EstimateMethod::default(), RunSettings::default());
        Ok(Self { job, lists, price, probability: 0.95, method, unfolded: false, is_trusted: false, run })
    }

    /// Sets the number of replications of each row.
    #[must_use]
    pub fn replications(mut self, replications: u64) -> Self {
        self.run.replications = Some(replications);
        self
    }

    /// Estimates all rows; `watch` counts them. If it stops, the table has the rows that are complete.
    ///
    /// # Errors
    ///
    /// [`StudyError::Misfit`] for a plan that does not reproduce its own runs, [`StudyError::Price`] for a price that does not apply to the job, and the
    /// errors of the estimate of a row.
    pub fn run(&self, watch: &dyn Watch) -> Result<EstimateTable, StudyError> {
        self.price.as_ref().map_or(Ok(()), |price| price.check(&self.job))?;
        let jobs = self.jobs()?;
        let watch = &TimeLimit::new(watch, self.run.max_time);
        let own_run = Proof::of_advice(self.is_trusted).check(&self.job, watch)?;
        watch.counts("configurations");
        let all = self.estimated(&jobs, &own_run, watch)?;
        let known = all.iter().enumerate().filter(|(_, row)| row.is_some()).map(|(at, _)| at).collect::<Vec<_>>();
        let rows: Vec<EstimatedRow> = all.into_iter().flatten().collect();
        let mut answer = self.answer(&rows);
        if rows.len() < jobs.len() {
            // the other rows may be faster
            answer.enough = None;
        }
        let job = answer.row.or(answer.closest).and_then(|row| jobs.get(*known.get(row)?));
        Ok(EstimateTable {
            partial: rows.len() < jobs.len(),
            question: EstimateTableQuestion {
                configurations: jobs.len() as u64,
                deadline_s: self.job.deadline_s().map(Seconds),
                probability: Share(self.probability),
                level: Level(self.run.level),
                price: self.price.as_ref().map(ToString::to_string),
                cost_unit: self.price.as_ref().map_or_else(String::new, Price::cost_unit),
            },
            answer,
            own_run,
            rows,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seed: self.run.seed.unwrap_or(if let JobPlan::MapReduce(plan) = &self.job { plan.model.seed } else { 0 }),
            notes: job.map_or_else(Vec::new, |(_, job)| notes(job)),
            plan: job.map_or(&self.job, |(_, job)| job).to_toml()?,
        })
    }

    /// Returns the job of each row, checked, with the values of the lists.
    fn jobs(&self) -> Result<Vec<(Set, JobPlan)>, StudyError> {
        let (first, second) = (&self.lists[0], self.lists.get(1));
        let rows = first.iter().flat_map(|one| match second {
            None => vec![vec![one]],
            Some(second) => second.iter().map(|other| vec![one, other]).collect(),
        });
        let row = |options: Vec<&PlanOption>| {
            let set = Set(options.iter().filter_map(|option| setting(option)).collect());
            Ok((set, self.job.clone().with_all(options).plan().map_err(StudyError::Options)?))
        };
        rows.map(row).collect()
    }

    /// Estimates the rows, several at a time. A row that was not complete when the run stopped is `None`.
    fn estimated(
        &self,
        jobs: &[(Set, JobPlan)],
        own_run: &OwnRun,
        watch: &dyn Watch,
    ) -> Result<Vec<Option<EstimatedRow>>, StudyError> {
        let threads = threads::at_most(self.run.threads).get();
        // a GPU runs one row at a time
        let at_a_time = if self.run.backend == Backend::Gpu { 1 } else { threads.min(jobs.len()).max(1) };
        let run = RunSettings { threads: NonZeroUsize::new(threads / at_a_time), max_time: None, ..self.run.clone() };
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let found: Mutex<Vec<Option<Result<EstimatedRow, StudyError>>>> =
            Mutex::new(std::iter::repeat_with(|| None).take(jobs.len()).collect());
        let work = || {
            while let Some((at, (set, job))) = Some(next.fetch_add(1, Relaxed)).and_then(|at| Some((at, jobs.get(at)?)))
            {
                let row = self.row(set, job, own_run, &run, watch);
                if watch.stopped() {
                    return;
                }
                if row.is_err() {
                    // the rows after it are not needed
                    next.store(jobs.len(), Relaxed);
                }
                found.lock().unwrap_or_else(std::sync::PoisonError::into_inner)[at] = Some(row);
                watch.progress(done.fetch_add(1, Relaxed) as u64 + 1, jobs.len() as u64);
            }
        };
        std::thread::scope(|scope| (0..at_a_time).for_each(|_| drop(scope.spawn(work))));
        let found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        found.into_iter().map(Option::transpose).collect()
    }

    fn row(
        &self,
        set: &Set,
        job: &JobPlan,
        own_run: &OwnRun,
        run: &RunSettings,
        watch: &dyn Watch,
    ) -> Result<EstimatedRow, StudyError> {
        let quiet = Quiet(watch);
        let estimation = without_proof(job.clone()).estimation().method(self.method).settings(run.clone());
        let estimation = if self.unfolded { estimation.unfolded() } else { estimation };
        let found = estimation.watch(&quiet).run()?.checked(own_run);
        let mean_s = found.mean().value;
        let slots = slots(job);
        let busy = busy(&found);
        let [low_s, time_s, high_s] = [0.5 - 0.5 * run.level, 0.5, 0.5 + 0.5 * run.level].map(|p| found.next_run(p));
        Ok(EstimatedRow {
            set: set.clone(),
            time_s: Between::new(time_s, Some([low_s, high_s])),
            in_time: job.deadline_s().map(|deadline_s| found.done_by(deadline_s).value.into()),
            cost: self.price.as_ref().map(|price| (price.of_second(job) * mean_s).into()),
            busy: busy.map(Share),
            idle_core_s: busy.map(|busy| ((1.0 - busy) * slots as f64 * mean_s).into()),
            slots,
        })
    }

    /// Chooses the row that is the answer.
    fn answer(&self, rows: &[EstimatedRow]) -> EstimateTableAnswer {
        let rank = |row: &EstimatedRow| Rank {
            time_s: row.time_s.value.0,
            cost: row.cost.map_or(row.slots as f64, |cost| cost.0),
            in_time: row.in_time.map(|share| share.0),
        };
        let wanted = self.job.deadline_s().map(|_| self.probability);
        let [row, closest] = chosen(rows.iter().map(rank), wanted);
        EstimateTableAnswer { row, closest, enough: self.enough(rows), ..EstimateTableAnswer::default() }
    }

    /// Returns the first number of machines that is about as fast as the fastest.
    fn enough(&self, rows: &[EstimatedRow]) -> Option<usize> {
        let machines = |option: &PlanOption| {
            !matches!(
                option,
                PlanOption::InputSize(_)
                    | PlanOption::SplitSize(_)
                    | PlanOption::Reduces(_)
                    | PlanOption::Partitions(_)
            )
        };
        let [list] = &self.lists[..] else { return None };
        let times = || rows.iter().map(|row| row.time_s.value.0);
        let least = times().fold(f64::INFINITY, f64::min);
        let first = times().position(|time_s| time_s <= (1.0 + AS_FAST) * least)?;
        (list.iter().all(machines) && first + 1 < rows.len()).then_some(first)
    }
}

/// The values that decide between the rows of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rank {
    pub(super) time_s: f64,
    pub(super) cost: f64,
    /// Probability of the deadline; none without a deadline.
    pub(super) in_time: Option<f64>,
}

/// Returns the position of the row that answers: without a wanted probability the fastest, otherwise the cheapest that meets the deadline with it. If none
/// meets it, returns the position of the closest row instead.
pub(super) fn chosen(rows: impl Iterator<Item = Rank> + Clone, wanted: Option<f64>) -> [Option<usize>; 2] {
    let meets = |row: &Rank| row.in_time.zip(wanted).is_some_and(|(in_time, wanted)| in_time >= wanted);
    if wanted.is_none() {
        [first_of(rows.map(|row| Some([row.time_s, row.cost]))), None]
    } else if rows.clone().any(|row| meets(&row)) {
        [first_of(rows.map(|row| meets(&row).then_some([row.cost, row.time_s]))), None]
    } else {
        [None, first_of(rows.map(|row| Some([-row.in_time?, row.time_s])))]
    }
}

/// Returns the position of the first of the smallest pairs; numbers that differ by rounding are equal. Rows without a pair are not chosen.
fn first_of(pairs: impl Iterator<Item = Option<[f64; 2]>>) -> Option<usize> {
    let compare = |a: f64, b: f64| match (a - b).abs() <= EQUAL * b.abs() {
        true => Ordering::Equal,
        false => a.total_cmp(&b),
    };
    let is_less = |a: [f64; 2], b: [f64; 2]| compare(a[0], b[0]).then(compare(a[1], b[1])) == Ordering::Less;
    let better = |best: Option<(usize, [f64; 2])>, (at, pair)| match best {
        Some((_, least)) if !is_less(pair, least) => best,
        _ => Some((at, pair)),
    };
    Some(pairs.enumerate().filter_map(|(at, pair)| Some((at, pair?))).fold(None, better)?.0)
}

/// Returns the name and the value of an option of a list.
fn setting(option: &PlanOption) -> Option<(String, Setting)> {
    let value = match option {
        PlanOption::InputSize(InputSize::Times(times)) => Setting::Word(format!("{times}x")),
        PlanOption::InputSize(InputSize::Data(size)) | PlanOption::SplitSize(size) => Setting::Word(size_text(*size)),
        PlanOption::Reduces(count)
        | PlanOption::Workers(_, count)
        | PlanOption::Executors(count)
        | PlanOption::Cores(count)
        | PlanOption::MapSlots(count)
        | PlanOption::ReduceSlots(count)
        | PlanOption::Gpus(count)
        | PlanOption::GpusOfExecutor(count)
        | PlanOption::Hosts(count)
        | PlanOption::Partitions(count) => Setting::Count(i64::try_from(*count).unwrap_or(i64::MAX)),
        _ => return None,
    };
    Some((option.name().trim_start_matches('-').replace('-', "_"), value))
}

/// Returns an amount of data as options accept it, such as `10GB`.
fn size_text(size: DataSize) -> String {
    if size.mb() < 1024.0 { format!("{}MB", size.mb()) } else { format!("{}GB", size.mb() / 1024.0) }
}

/// Returns a job without the runs that prove its plan: they are checked once, not for each row.
fn without_proof(mut job: JobPlan) -> JobPlan {
    match &mut job {
        JobPlan::MapReduce(plan) => plan.proof.clear(),
        JobPlan::Stages(plan) => plan.proof.clear(),
        JobPlan::Tasks(_) => {}
    }
    job
}

/// Returns the slots of a job, or its workers if tasks do not wait for slots.
fn slots(job: &JobPlan) -> u64 {
    match job {
        JobPlan::MapReduce(plan) if plan.model.slots => plan.map_slots().saturating_add(plan.reduce_slots()),
        JobPlan::MapReduce(plan) => plan.workers(),
        JobPlan::Stages(plan) => u64::from(plan.job.executors) * u64::from(plan.job.tasks_of_executor()),
        JobPlan::Tasks(_) => 0,
    }
}

/// Returns the share of the slot time in which tasks run, in typical runs; none if it does not follow from the mean times of the tasks.
fn busy(found: &EstimatedJob) -> Option<f64> {
    let (work_s, slots, mean_s) = match &found.work {
        EstimatedWork::Phases(plan, found) => {
            let known = plan.model.slots && plan.stragglers.is_none() && plan.speculation.is_none();
            let phases = Some(&found.phases).filter(|phases| known && phases.kinds.is_none())?;
            let maps_s: f64 = phases.maps_s.iter().flatten().sum();
            let reduces_s: f64 = phases.reduces_s.iter().flatten().sum();
            (maps_s + reduces_s, plan.map_slots() + plan.reduce_slots(), found.mean()?)
        }
        EstimatedWork::Stages(plan, found) if plan.speculation.is_none() => {
            let work_s: f64 = found.job.stages.iter().map(|stage| stage.work_s()).sum();
            let samples = &found.run.samples;
            let mean_s = samples.passage.mean_ticks()? * samples.clock.tick();
            (work_s * found.job.mean_slowdown(), found.job.slots.into(), mean_s)
        }
        EstimatedWork::Stages(..) => return None,
    };
    // the mean of the simulated times has an error
    Some((work_s / (slots as f64 * mean_s)).min(1.0)).filter(|busy| busy.is_finite())
}

/// Returns the reasons for doubt at a configuration, and assumptions of the fit.
fn notes(job: &JobPlan) -> Vec<String> {
    match job {
        JobPlan::Stages(plan) => plan.remarks().into_iter().chain(plan.notes.iter().cloned()).collect(),
        JobPlan::MapReduce(_) | JobPlan::Tasks(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equal_rows_is_chosen() {
        let first = |pairs: &[Option<[f64; 2]>]| first_of(pairs.iter().copied());
        let pairs = [[2.0, 1.0], [1.0, 5.0], [1.0 - 1e-9, 5.0], [1.0, 4.0]].map(Some);
        assert_eq!(first(&pairs), Some(3));
        assert_eq!(first(&pairs[..3]), Some(1));
        assert_eq!((first(&[None, Some([3.0, 1.0])]), first(&[None])), (Some(1), None));
    }
}
