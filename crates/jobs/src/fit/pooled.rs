//! One plan from several test jobs of a program: jobs of different sizes show which quantities grow with the data.
//!
//! Each job is first fitted separately. Then sums (bytes, records) are added up. Times of the framework are medians
//! over the jobs, so that one job that waited for other jobs has no effect. The times of maps and reduces are robust
//! lines over the data of a task. The shapes of the delays come from all tasks, with each time divided by the mean
//! of its job. Settings, slots and the size to estimate come from the job with the most input.

use crate::fit::fit_error::FitError;
use crate::fit::hadoop_conf::HadoopConf;
use crate::fit::law::observed_law;
use crate::fit::line::{has_slope, line, median};
use crate::fit::observed_job::ObservedJob;
use crate::fit::test_job::{FittedJob, FittedValue, fit_job};
use crate::fit::waits::STARTING_MB;
use crate::mapreduce::{LoggedJob, Phase, PhaseLaw, Plan, spn_gc};

/// A plan fitted to several jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedJobs {
    /// The plan for all jobs.
    pub fitted: FittedJob,
    /// The separate fit to each job, in the order of the jobs.
    pub jobs: Vec<FittedJob>,
}

/// Fits one plan to jobs of the same program; `input_mb`, one for each job, overrides their counters.
///
/// # Errors
///
/// The errors of [`fit_job`]; [`FitError::NoLog`] without jobs.
pub fn fit_jobs(
    jobs: &[ObservedJob],
    conf: Option<&HadoopConf>,
    input_mb: &[f64],
    level: f64,
) -> Result<FittedJobs, FitError> {
    let fit = |(i, job): (usize, &ObservedJob)| fit_job(job, conf, input_mb.get(i).copied(), level);
    let jobs: Vec<FittedJob> = jobs.iter().enumerate().map(fit).collect::<Result<_, _>>()?;
    let proof: Vec<LoggedJob> = jobs.iter().map(FittedJob::logged).collect();
    let largest = jobs.iter().max_by(|a, b| a.plan.job.input_mb.total_cmp(&b.plan.job.input_mb));
    let mut fitted = match (largest, &jobs[..]) {
        (None, _) => return Err(FitError::NoLog),
        (Some(_), [only]) => only.clone(),
        (Some(largest), _) => Pool { jobs: &jobs, fitted: largest.clone() }.pooled(),
    };
    fitted.plan.proof = proof;
    Ok(FittedJobs { fitted, jobs })
}

/// A pooled plan under construction. It starts as the plan of the largest job.
struct Pool<'j> {
    jobs: &'j [FittedJob],
    fitted: FittedJob,
}

/// A number of a plan.
struct Key {
    name: &'static str,
    get: fn(&Plan) -> f64,
    set: fn(&mut Plan, f64),
}

macro_rules! key {
    ($name:literal, $($field:tt).+) => {
        Key { name: $name, get: |plan| plan.$($field).+, set: |plan, value| plan.$($field).+ = value }
    };
}

macro_rules! rate {
    ($name:literal, $field:ident) => {
        Key {
            name: $name,
            get: |plan| plan.cluster.node[0].$field,
            set: |plan, value| plan.cluster.node[0].$field = value,
        }
    };
}

/// Sums over the jobs.
const SUMS: [Key; 3] = [
    key!("profile.map_data_mb", profile.map_data_mb),
    key!("profile.map_output_mb", profile.map_output_mb),
    key!("profile.reduce_output_mb", profile.reduce_output_mb),
];

/// Times that occur once per job.
const TIMES: [Key; 4] = [
    key!("profile.load_s", profile.load_s),
    key!("framework.reduce_wait_s", framework.reduce_wait_s),
    key!("framework.reduce_fetch_s", framework.reduce_fetch_s),
    key!("framework.cleanup_s", framework.cleanup_s),
];

/// Rates that tasks with much data determine.
const RATES: [Key; 7] = [
    rate!("cluster.node.disk_read_mb_per_s", disk_read_mb_per_s),
    rate!("cluster.node.disk_write_mb_per_s", disk_write_mb_per_s),
    rate!("cluster.node.network_mb_per_s", network_mb_per_s),
    rate!("", memory_read_mb_per_s),
    rate!("", memory_write_mb_per_s),
    rate!("", gpu_read_mb_per_s),
    rate!("", gpu_write_mb_per_s),
];

impl Pool<'_> {
    fn pooled(mut self) -> FittedJob {
        self.names();
        self.sizes();
        self.rates();
        self.framework();
        self.tasks();
        self.laws();
        self.fitted
    }

    /// Names the jobs, and collects their notes.
    fn names(&mut self) {
        let logs: Vec<&str> = self.jobs.iter().map(|job| job.log.as_str()).collect();
        let mut different: Vec<&str> = Vec::new();
        for log in logs {
            if !different.contains(&log) {
                different.push(log);
            }
        }
        let largest = self.fitted.id.clone();
        (self.fitted.log, self.fitted.id) = (different.join(", "), format!("{} jobs", self.jobs.len()));
        for note in self.jobs.iter().flat_map(|job| &job.notes) {
            if !self.fitted.notes.contains(note) {
                self.fitted.notes.push(note.clone());
            }
        }
        self.fitted
            .notes
            .push(format!("settings, slots and the size to estimate come from {largest}, the largest job"));
    }

    fn tell(&mut self, key: &'static str, value: f64, from: String) {
        self.fitted.values.retain(|known| known.key != key);
        self.fitted.values.push(FittedValue { key, value, interval: None, from });
    }

    /// Returns true if a job's log has a value.
    fn told(job: &FittedJob, key: &str) -> bool {
        job.values.iter().any(|value| value.key == key)
    }

    fn sum(&self, of: impl Fn(&Plan) -> f64) -> f64 {
        self.jobs.iter().map(|job| of(&job.plan)).sum()
    }

    /// Returns the median of a number over the jobs that have it (`tell`); none if no job has it.
    fn middle(&self, of: impl Fn(&Plan) -> f64, tells: impl Fn(&FittedJob) -> bool) -> Option<(f64, usize)> {
        let values: Vec<f64> = self.jobs.iter().filter(|job| tells(job)).map(|job| of(&job.plan)).collect();
        (!values.is_empty()).then(|| (median(values.iter().copied()), values.len()))
    }

    /// Sets the bytes and records to the bytes and records of all jobs.
    fn sizes(&mut self) {
        let n = self.jobs.len();
        let input = self.sum(|plan| plan.profile.input_mb);
        // if a job's log lacks a sum, the sum of the largest job is scaled with the input
        let share = input / self.fitted.plan.profile.input_mb;
        self.fitted.plan.profile.input_mb = input;
        self.tell("profile.input_mb", input, format!("total input of {n} jobs"));
        let maps = self.jobs.iter().map(|job| job.plan.profile.maps).sum();
        self.fitted.plan.profile.maps = maps;
        self.tell("profile.maps", maps as f64, format!("maps of {n} successful jobs"));
        for key in &SUMS {
            if self.jobs.iter().all(|job| Self::told(job, key.name)) {
                let sum = self.sum(key.get);
                (key.set)(&mut self.fitted.plan, sum);
                self.tell(key.name, sum, format!("sum over {n} jobs"));
            } else {
                let value = (key.get)(&self.fitted.plan) * share;
                (key.set)(&mut self.fitted.plan, value);
            }
        }
        let records = &mut self.fitted.plan.profile.spilled_records;
        if self.jobs.iter().all(|job| Self::told(job, "profile.spilled_records")) {
            *records = self.jobs.iter().map(|job| job.plan.profile.spilled_records).sum();
            let sum = *records as f64;
            self.tell("profile.spilled_records", sum, format!("sum over {n} jobs"));
        } else {
            *records = (*records as f64 * share).round() as u64;
        }
    }

    /// Sets the rates: the median of the rates that tasks determine; other rates are as fast as the fastest job needs.
    fn rates(&mut self) {
        for key in &RATES {
            if let Some((rate, jobs)) = self.middle(key.get, |job| Self::told(job, key.name)) {
                (key.set)(&mut self.fitted.plan, rate);
                self.tell(key.name, rate, format!("median of {jobs} jobs"));
            } else {
                let most = self.jobs.iter().map(|job| (key.get)(&job.plan)).fold(0.0, f64::max);
                (key.set)(&mut self.fitted.plan, most);
            }
        }
    }

    /// Sets the times of Hadoop itself.
    fn framework(&mut self) {
        for key in &TIMES {
            if let Some((time, jobs)) = self.middle(key.get, |_| true) {
                (key.set)(&mut self.fitted.plan, time);
                self.tell(key.name, time, format!("median of {jobs} jobs"));
            }
        }
        let waves = |job: &FittedJob| job.plan.waves();
        let several = |job: &FittedJob| job.plan.profile.maps > 1;
        let all = |plan: &Plan| plan.framework.map_wait_s;
        let wait = self.middle(all, several).or_else(|| self.middle(all, |_| true));
        let maps = self.middle(|plan| plan.framework.map_refill_s, |job| waves(job)[0] > 1);
        let reduces = self.middle(|plan| plan.framework.reduce_refill_s, |job| waves(job)[1] > 1);
        let framework = &mut self.fitted.plan.framework;
        let [wait, maps, reduces] = [wait, maps, reduces].map(|found| found.unwrap_or((0.0, 0)));
        (framework.map_wait_s, framework.map_refill_s, framework.reduce_refill_s) = (wait.0, maps.0, reduces.0);
        for (key, (value, jobs), what) in [
            ("framework.map_wait_s", wait, "several maps"),
            ("framework.map_refill_s", maps, "several waves of maps"),
            ("framework.reduce_refill_s", reduces, "several waves of reduces"),
        ] {
            self.tell(key, value, format!("median of {jobs} jobs with {what}"));
        }
    }

    /// Sets the times of the map and the reduce function by the data of a task.
    fn tasks(&mut self) {
        let n = self.jobs.len();
        let points: Vec<_> =
            self.jobs.iter().map(|job| (spn_gc::test_split_mb(&job.plan), job.plan.profile.map_cpu_s)).collect();
        let starts = self.jobs.iter().map(|job| (job.plan.profile.map_fixed_s, job.plan.profile.map_cpu_s)).collect();
        let (whole, fixed) = grown(&points, starts, spn_gc::test_split_mb(&self.fitted.plan));
        let profile = &mut self.fitted.plan.profile;
        (profile.map_cpu_s, profile.map_fixed_s) = (whole, fixed);
        self.tell(
            "profile.map_cpu_s",
            whole,
            format!("line fitted to the times of {n} jobs, evaluated at their mean split size"),
        );
        self.tell("profile.map_fixed_s", fixed, format!("value at 0 MB of the line through the times of {n} jobs"));
        let each = |plan: &Plan| {
            let whole = plan.profile.reduce_cpu_s / plan.reduces() as f64 + plan.framework.reduce_fixed_s;
            (spn_gc::shuffled_mb(plan), whole, plan.framework.reduce_fixed_s)
        };
        let plans = self.jobs.iter().map(|job| &job.plan).filter(|plan| plan.reduces() > 0);
        let all: Vec<_> = plans.map(each).collect();
        if all.is_empty() {
            return;
        }
        let (n, reduces) = (all.len(), self.sum(|plan| plan.reduces() as f64));
        let mean_mb = self.fitted.plan.profile.map_output_mb / reduces;
        let points: Vec<_> = all.iter().map(|(mb, whole, _)| (*mb, *whole)).collect();
        let starts = all.iter().map(|(_, whole, fixed)| (*fixed, *whole)).collect();
        let (whole, fixed) = grown(&points, starts, mean_mb);
        let total = (whole - fixed) * reduces;
        self.fitted.plan.profile.reduce_cpu_s = total;
        self.fitted.plan.framework.reduce_fixed_s = fixed;
        self.tell(
            "profile.reduce_cpu_s",
            total,
            format!("line through the reduce phases of {n} jobs, for all their data"),
        );
        let from = format!("value at 0 MB of the line through the reduce phases of {n} jobs");
        self.tell("framework.reduce_fixed_s", fixed, from);
    }

    /// Sets the shapes of the delays, from the times of all tasks, each divided by the mean of its job.
    fn laws(&mut self) {
        for phase in [Phase::Read, Phase::Map, Phase::Merge, Phase::Reduce] {
            let mut times = Vec::new();
            for job in self.jobs {
                let tasks =
                    if phase == Phase::Read || phase == Phase::Map { job.plan.maps() } else { job.plan.reduces() };
                match job.plan.model.distribution.get(phase) {
                    PhaseLaw::Empirical { samples } => {
                        let mean = samples.iter().sum::<f64>() / samples.len() as f64;
                        times.extend(samples.iter().map(|time| time / mean));
                    }
                    _ => times.extend((0..tasks.min(64)).map(|_| 1.0)),
                }
            }
            let law = observed_law(&times);
            let laws = &mut self.fitted.plan.model.distribution;
            match phase {
                Phase::Read => laws.read = law,
                Phase::Map => laws.map = Some(law),
                Phase::Merge => laws.merge = law,
                _ => laws.reduce = law,
            }
        }
    }
}

/// Returns the time of a task with `mb` of data and the part of it that does not grow with the data, from points
/// (data, time) of jobs. If the data do not differ, uses the jobs' parts, given as (part, total). Tasks
/// of less than 16 MB count for a rate as tasks of 16 MB.
fn grown(points: &[(f64, f64)], parts: Vec<(f64, f64)>, mb: f64) -> (f64, f64) {
    let timed: Vec<(f64, f64)> = points.iter().copied().filter(|(_, time)| *time > 0.0).collect();
    if timed.is_empty() {
        return (0.0, 0.0);
    }
    let line = line(&timed);
    let whole = line.at(mb);
    if !has_slope(&timed) {
        let shares = parts.into_iter().filter(|(_, whole)| *whole > 0.0).map(|(part, whole)| part / whole);
        return (whole, whole * median(shares));
    }
    let most = timed.iter().map(|(mb, _)| *mb).fold(0.0, f64::max);
    let grows = line.slope * mb * (most / STARTING_MB).min(1.0);
    (whole, (whole - grows).max(0.0))
}
