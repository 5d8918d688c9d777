//! A job of stages whose replications run task by task, for studies with many such jobs.

use crate::cluster::{Experiment, ExperimentError, MAX_TASKS, PolicyPlan, Replications};
use crate::job::Job;
use crate::mapreduce::{self, LawTables, Plan};
use crate::rng::split;
use crate::run::{JobRuns, RunMemory};
use crate::sim::{Clock, Question, Samples};
use crate::stages::{PlannedJob, StagePlan, job_of, spark_policies};
use crate::watch::Watch;

/// Resolution of times: 2^-20 s, about a microsecond.
pub(super) const CLOCK: Clock = Clock { exponent: -20, extra_bits: 0, wide: false };

/// Returns a time in ticks.
pub(super) fn ticks_of(seconds: f64) -> u64 {
    // `as` is safe: the value is rounded, and 2^64 ticks are 500,000 years
    (seconds / CLOCK.tick()).round() as u64
}

/// Adds the job time of a replication.
pub(super) fn add_time(samples: &mut Samples, job_s: f64) {
    samples.replications += 1;
    samples.endings[0] += 1;
    samples.passage.push(ticks_of(job_s));
    samples.passage_histogram.push(ticks_of(job_s));
}

/// Reason why a job cannot run with copies.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoCopies {
    /// Tasks that cannot be copied.
    #[error("{0}")]
    Job(&'static str),
    /// More tasks than can be simulated one by one.
    #[error("the job has {tasks} tasks, but speculative copies can be simulated for at most {most} tasks")]
    TooManyTasks {
        /// Tasks of the job.
        tasks: u64,
        /// Maximum number of tasks.
        most: u64,
    },
}

/// A job of stages, ready to run.
#[derive(Clone, Debug)]
pub struct TaskModel {
    tasks: Tasks,
    /// Relative standard error of the job time due to the fitted task times.
    error: f64,
}

#[derive(Clone, Debug)]
enum Tasks {
    Plain(JobRuns),
    /// With speculative copies.
    Copied(Job, PolicyPlan),
}

/// A job with a seed.
#[derive(Debug)]
pub(crate) struct ReadyTasks<'a> {
    runs: Bound<'a>,
    watch: &'a dyn Watch,
}

#[derive(Debug)]
enum Bound<'a> {
    Plain(&'a JobRuns, [u32; 2]),
    Copied(Box<Experiment<'a>>),
}

impl TaskModel {
    /// Prepares a job, with copies if its plan has them.
    ///
    /// # Errors
    ///
    /// [`NoCopies`].
    pub fn new(plan: &StagePlan) -> Result<Self, NoCopies> {
        let job = PlannedJob::of(plan);
        let tasks = match plan.speculation {
            None => Tasks::Plain(runs_of(&job, &LawTables::default())),
            Some(copies) => {
                let [_, policy] = spark_policies(Some(copies.multiplier), Some(copies.quantile));
                Tasks::Copied(copied_job(&job)?, policy)
            }
        };
        Ok(Self { tasks, error: job.error() })
    }

    /// Prepares a MapReduce job.
    ///
    /// # Errors
    ///
    /// Reason why the plan has no tasks to run.
    pub fn of_phases(plan: &Plan) -> Result<Self, String> {
        let job = mapreduce::job_of(plan).map_err(|error| error.to_string())?;
        let runs = JobRuns::new(&job).ok_or("the job has no slots for its tasks")?;
        Ok(Self { tasks: Tasks::Plain(runs), error: 0.0 })
    }

    /// Returns the relative standard error of the job time due to the fitted task times.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Binds the job to a seed. `watch` may stop the work, also within a replication.
    pub(crate) fn ready<'a>(&'a self, seed: u64, watch: &'a dyn Watch) -> ReadyTasks<'a> {
        let runs = match &self.tasks {
            Tasks::Plain(tasks) => Bound::Plain(tasks, split(seed)),
            Tasks::Copied(job, policy) => {
                let settings = Replications { seed, watch, ..Replications::default() };
                Bound::Copied(Box::new(Experiment::of_job(job, std::slice::from_ref(policy), settings)))
            }
        };
        ReadyTasks { runs, watch }
    }
}

impl ReadyTasks<'_> {
    /// Returns the name of the simulator.
    pub(crate) fn engine(&self) -> &'static str {
        match self.runs {
            Bound::Plain(..) => "tasks",
            Bound::Copied(_) => "copies",
        }
    }

    /// Returns samples without replications.
    pub(crate) fn nothing(&self) -> Samples {
        Samples::new(CLOCK, &Question::default(), 0, 0)
    }

    /// Runs the replications `first .. first + count` on the calling thread, or only the first of these if the watch
    /// stops the run. Each time is kept.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Run`] for a replication that does not end.
    pub(crate) fn replicate(&self, first: u64, count: u64) -> Result<Samples, ExperimentError> {
        let mut samples = self.nothing().starting_at(first);
        let mut push = |job_s: f64| {
            add_time(&mut samples, job_s);
            samples.passage_times.push(ticks_of(job_s));
        };
        match &self.runs {
            Bound::Plain(tasks, key) => {
                let mut memory = RunMemory::default();
                (first..first + count)
                    .take_while(|_| !self.watch.stopped())
                    .for_each(|replication| push(tasks.run(*key, replication, &mut memory).job_s));
            }
            Bound::Copied(experiment) => experiment.outcomes(first, count)?.iter().for_each(|run| push(run[0].job_s)),
        }
        Ok(samples)
    }
}

/// Returns a planned job in the form that runs with copies.
///
/// # Errors
///
/// [`NoCopies`].
pub(super) fn copied_job(job: &PlannedJob) -> Result<Job, NoCopies> {
    if let Some(why) = job.no_copies() {
        return Err(NoCopies::Job(why));
    }
    let tasks: u64 = job.stages.iter().map(|stage| u64::from(stage.tasks())).sum();
    if tasks > MAX_TASKS {
        return Err(NoCopies::TooManyTasks { tasks, most: MAX_TASKS });
    }
    Ok(job_of(job, &LawTables::default()))
}

/// Returns a planned job ready to run without a policy.
pub(crate) fn runs_of(job: &PlannedJob, tables: &LawTables) -> JobRuns {
    JobRuns::new(&job_of(job, tables)).expect("a planned job of stages has slots and tasks")
}
