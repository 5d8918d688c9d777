//! A simulator for calibration: times of single runs at many settings of a job or net, each with separate random numbers.
//!
//! Defines the order of the times and the random numbers of a row. A [`Subject`] makes the job or net of a row. A
//! [`sweep`](crate::sweep) uses the same random numbers at every point, for precise differences; here, rows are
//! independent.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use toml::Value;

use tailspn_common::threads;

use crate::error::StudyError;
use crate::job_time::{TaskModel, runs_of};
use crate::mapreduce::LawTables;
use crate::rng::split;
use crate::run::RunMemory;
use crate::runs::RunFactor;
use crate::sim::{Ending, Ready};
use crate::stages::{PlannedJob, StagePlan};
use crate::subject::Subject;
use crate::sweep::{Axis, Point, Spread};
use crate::watch::{Quiet, Watch};

/// A simulator of single runs.
#[derive(Clone, Debug)]
pub struct Draws<'a> {
    /// The job or net.
    pub subject: &'a Subject,
    /// Tabulated distributions, kept so that they are not computed again.
    pub tables: &'a LawTables,
    /// The key of the job's plan, or the rate parameter of the net, to which each value of a row belongs.
    pub axes: &'a [Axis],
    /// Number of runs of each row, >= 1.
    pub runs: u64,
    /// If true, each job time is followed by the time of each stage, from the launch of its first task to the end of its
    /// last task.
    pub with_stages: bool,
    /// Number of threads; `None` is one per core.
    pub threads: Option<NonZeroUsize>,
}

/// One row: the settings of its runs, and their seed.
#[derive(Clone, Copy, Debug)]
pub struct DrawRow<'a> {
    /// The value of each axis.
    pub values: &'a [f64],
    /// The seed.
    pub seed: u64,
}

/// The times of the runs of a row \[s\], one run after the other; or the reason why its settings do not form a valid job or net.
pub type DrawnTimes = Result<Vec<f64>, StudyError>;

impl Draws<'_> {
    /// Returns the times of all rows; none if `watch` stopped them. The times of a row depend on its settings and its
    /// seed only. If a run of a net does not reach the goal, its time is NaN. Such times come after the times of all
    /// other runs.
    ///
    /// # Errors
    ///
    /// [`StudyError::Threads`] if threads cannot be created.
    ///
    /// # Examples
    ///
    /// ```
    /// use tailspn_common::watch::Unwatched;
    /// use tailspn_jobs::mapreduce::LawTables;
    /// use tailspn_jobs::plan::JobPlan;
    /// use tailspn_studies::draws::{DrawRow, Draws};
    /// use tailspn_studies::subject::Subject;
    /// use tailspn_studies::sweep::Axis;
    ///
    /// let subject = Subject::of_job(JobPlan::default())?;
    /// let axes = [Axis::values::<f64>("job.reduces", [])];
    /// let tables = LawTables::default();
    /// let draws = Draws { subject: &subject, tables: &tables, axes: &axes, runs: 3, with_stages: false, threads: None };
    /// let rows = [DrawRow { values: &[20.0], seed: 1 }, DrawRow { values: &[80.0], seed: 2 }];
    /// let times = draws.times(&rows, &Unwatched)?.expect("nothing stops them");
    /// assert_eq!(times[1].as_ref().map(Vec::len).ok(), Some(3));
    /// # Ok::<(), tailspn_studies::StudyError>(())
    /// ```
    pub fn times(&self, rows: &[DrawRow<'_>], watch: &dyn Watch) -> Result<Option<Vec<DrawnTimes>>, StudyError> {
        let threads = threads::at_most(self.threads).get();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let (done, planned) = (AtomicU64::new(0), rows.len() as u64);
        let row = |(number, row): (usize, &DrawRow<'_>)| {
            if watch.stopped() {
                return Ok(Vec::new());
            }
            let times = self.row(number as u64, row, &Quiet(watch));
            watch.progress(done.fetch_add(1, Ordering::Relaxed) + 1, planned);
            times
        };
        let times = pool.install(|| rows.par_iter().enumerate().map(row).collect());
        Ok((!watch.stopped()).then_some(times))
    }

    fn row(&self, number: u64, row: &DrawRow<'_>, watch: &dyn Watch) -> DrawnTimes {
        let point = Point { number, values: row.values.iter().map(|&value| Some(value_of(value))).collect() };
        match self.subject.stages_at(self.axes, &point) {
            Some(plan) => match plan.map_err(StudyError::Model)? {
                StagePlan { speculation: Some(_), .. } if self.with_stages => {
                    let why =
                        "with `[speculation]`, runs have only job times; remove the section, or request job times only";
                    Err(StudyError::Model(why.to_owned()))
                }
                plan @ StagePlan { speculation: Some(_), .. } => self.copied(&plan, row.seed, watch),
                plan => Ok(self.staged(&plan, row.seed)),
            },
            None if self.with_stages => Err(StudyError::Model("only a plan of stages has stage times".to_owned())),
            None => self.replicated(&point, row.seed, watch),
        }
    }

    /// The times of a job of stages, task by task.
    fn staged(&self, plan: &StagePlan, seed: u64) -> Vec<f64> {
        let job = PlannedJob::of(plan);
        let tasks = runs_of(&job, self.tables);
        let mut memory = RunMemory::default();
        let spread = Spread::of(RunFactor::new(&plan.run, job.error()));
        let mut times = Vec::new();
        for run in 0..self.runs {
            let factor = spread.factor(seed, run);
            let ran = tasks.run(split(seed), run, &mut memory);
            times.push(ran.job_s * factor);
            if self.with_stages {
                times.extend(ran.stages.iter().map(|[first, last]| (last - first) * factor));
            }
        }
        times
    }

    /// The times of a job of stages with speculative copies.
    fn copied(&self, plan: &StagePlan, seed: u64, watch: &dyn Watch) -> DrawnTimes {
        let tasks = TaskModel::new(plan)?;
        let samples = tasks.ready(seed, watch).replicate(0, self.runs)?;
        let mut times: Vec<f64> = samples.times_s().collect();
        Spread::of(RunFactor::new(&plan.run, tasks.error())).spread(&mut times, seed, 0);
        Ok(times)
    }

    /// The times of a net or of the net of a job.
    fn replicated(&self, point: &Point, seed: u64, watch: &dyn Watch) -> DrawnTimes {
        let model = self.subject.model(self.axes, point, seed).map_err(StudyError::Model)?;
        let Some(net) = model.net() else { return Err(StudyError::Model("a job without a net".to_owned())) };
        let ready = Ready::new(&net.program, &net.question, net.schedule.as_deref(), seed, watch)?;
        let samples = ready.replicate(0, self.runs)?;
        let mut times: Vec<f64> = samples.times_s().collect();
        if samples.ended(Ending::Goal) == samples.replications {
            model.spread.spread(&mut times, seed, 0);
        }
        times.resize(usize::try_from(self.runs).unwrap_or(times.len()), f64::NAN);
        Ok(times)
    }
}

/// A number as the plan expects it: whole numbers become integers, because some keys accept only integers.
fn value_of(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53
    // `as` is exact: a whole number below 2^53
    if value.fract() == 0.0 && value.abs() < EXACT { Value::Integer(value as i64) } else { Value::Float(value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::expr::{Expr, Leaf};
    use crate::net::{Delay, Memory, NetBuilder, Servers, Timing};
    use crate::watch::Unwatched;

    /// A task of this rate.
    fn task() -> Subject {
        let mut b = NetBuilder::new("task");
        let rate = b.parameter("rate", 1.0);
        let todo = b.place("todo", 1);
        let delay = Delay::Exponential { rate: Expr::Leaf(Leaf::Parameter(rate)) };
        let timing = Timing::Timed { delay, servers: Servers::Single, memory: Memory::Enabling };
        let work = b.transition("work", timing);
        b.input(todo, work, 1.0);
        Subject::net(b.build().unwrap(), None).unwrap()
    }

    fn times(subject: &Subject, key: &str, rows: &[DrawRow<'_>], threads: usize) -> Vec<DrawnTimes> {
        let axes = [Axis::values::<f64>(key, [])];
        let threads = NonZeroUsize::new(threads);
        let tables = LawTables::default();
        let draws = Draws { subject, tables: &tables, axes: &axes, runs: 500, with_stages: false, threads };
        draws.times(rows, &Unwatched).unwrap().unwrap()
    }

    #[test]
    fn rows_have_their_means_and_their_own_random_numbers_on_any_number_of_threads() {
        let subject = task();
        let rows: Vec<DrawRow<'_>> = (0..40).map(|seed| DrawRow { values: &[0.25], seed }).collect();
        let all: Vec<Vec<f64>> = times(&subject, "rate", &rows, 1).into_iter().map(Result::unwrap).collect();
        let again: Vec<Vec<f64>> = times(&subject, "rate", &rows, 4).into_iter().map(Result::unwrap).collect();
        assert_eq!(all, again);
        assert_ne!(all[0], all[1]);
        let mean = all.iter().flatten().sum::<f64>() / 20_000.0;
        // five standard errors of an exponential time of 4 s
        assert!((mean - 4.0).abs() < 5.0 * 4.0 / 20_000.0_f64.sqrt(), "{mean}");
    }

    #[test]
    fn a_row_that_gives_no_net_has_its_reason_and_leaves_the_others_alone() {
        let rows = [DrawRow { values: &[-1.0], seed: 0 }, DrawRow { values: &[1.0], seed: 1 }];
        let all = times(&task(), "rate", &rows, 2);
        assert!(all[0].is_err());
        assert_eq!(all[1].as_ref().unwrap().len(), 500);
    }
}
