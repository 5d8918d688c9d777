//! A plan at one size: the tasks of each stage, and their mean times.

use crate::mapreduce::{PhaseLaw, SlowTasks, Stragglers};
use crate::stages::plan::{JobSize, LoggedRun, MeasuredRange, Sharing, StagePlan, StageSpec};

/// Number of tasks of a slot with a separate mean time; later tasks share one mean.
const RANKS: u32 = 12;

/// Tasks with the same distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wave {
    /// Number, >= 1.
    pub tasks: u32,
    /// Mean time of these tasks, unless they are slow \[s\].
    pub mean_s: f64,
    /// The relative standard error of the mean time.
    pub error: f64,
    /// Part of the time that is CPU time and grows with the tasks of a host \[s\].
    pub busy_s: f64,
    /// Extra time relative to a steady task \[s\].
    pub excess_s: f64,
}

/// A stage at one size.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedStage {
    /// Name of the stage.
    pub name: String,
    /// Stages that must have ended before.
    pub after: Vec<usize>,
    /// Mean time from the end of the stages in `after` to the launch of this stage's first tasks \[s\].
    pub setup_s: f64,
    /// Data of a full task \[MB\].
    pub task_mb: f64,
    /// Tasks, in the order in which they start.
    pub waves: Vec<Wave>,
    /// Distribution of the times of typical tasks around their means.
    pub law: PhaseLaw,
    /// Recurring slow tasks.
    pub slow: Option<SlowTasks>,
    /// Share of a task's time in which the task holds a GPU, excluding waits for the GPU.
    pub gpu: f64,
}

/// Executors whose tasks share GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedGpus {
    /// Executors.
    pub executors: u32,
    /// Tasks of each executor that may hold a GPU at a time.
    pub permits: u32,
}

impl PlannedStage {
    /// Returns the number of tasks of all waves.
    pub fn tasks(&self) -> u32 {
        self.waves.iter().map(|wave| wave.tasks).sum()
    }

    /// Returns the mean slot time of all tasks \[s\].
    pub fn work_s(&self) -> f64 {
        self.mean_ratio() * self.waves.iter().map(|wave| f64::from(wave.tasks) * wave.mean_s).sum::<f64>()
    }

    /// Returns the ratio of the mean time of all tasks to the mean time of typical tasks.
    fn mean_ratio(&self) -> f64 {
        self.slow.map_or(1.0, |slow| slow.mean())
    }
}

/// A job at one size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlannedJob {
    /// Name of the job.
    pub name: String,
    /// Tasks running at a time.
    pub slots: u32,
    /// Hosts that share the slots equally.
    pub hosts: u32,
    /// The stages, each after the stages it waits for.
    pub stages: Vec<PlannedStage>,
    /// Time from the end of the last stage to the end of the job \[s\].
    pub end_s: f64,
    /// Time after the start at which each executor joins \[s\], in ascending order; empty if all are there from the start.
    pub arrivals_s: Vec<f64>,
    /// The GPUs that tasks share; none if no task uses one.
    pub gpus: Option<SharedGpus>,
    /// Tasks that take longer than their stage's distribution says.
    pub stragglers: Option<Stragglers>,
    /// Relative standard errors of the job time shared by the stages: the errors of the powers of the mutual slowdown
    /// of executors, and the errors due to sizes far from the observed runs.
    pub shared_errors: Vec<f64>,
}

impl PlannedJob {
    /// Returns the plan's job at the plan's size. The plan must be valid ([`StagePlan::problems`]).
    pub fn of(plan: &StagePlan) -> Self {
        let slots = plan.job.executors.saturating_mul(plan.job.tasks_of_executor()).max(1);
        let uses_gpus = plan.stage.iter().any(|stage| stage.gpu > 0.0);
        let gpus = plan.job.gpu_permits().filter(|_| uses_gpus);
        let gpus = gpus.map(|permits| SharedGpus { executors: plan.job.executors.max(1), permits });
        let load = Load::of(plan);
        let stages: Vec<PlannedStage> = plan.stage.iter().map(|stage| planned(stage, plan, slots, &load)).collect();
        let mut job = Self {
            name: plan.job.name.clone(),
            slots,
            hosts: plan.hosts(),
            stages,
            end_s: plan.job.teardown_s,
            arrivals_s: plan.job.arrivals_s(),
            gpus,
            stragglers: plan.stragglers.clone(),
            shared_errors: Vec::new(),
        };
        job.shared_errors = load.errors(&job, plan);
        job
    }

    /// Returns the reason why the job has no net; none if it has one.
    pub fn no_net(&self) -> Option<&'static str> {
        let stragglers =
            "jobs of stages with `[stragglers]` are only simulated task by task: their nets have no stragglers";
        let late = "executors that join during the job are only simulated task by task: nets have all executors from the start";
        let late = Some(late).filter(|_| !self.arrivals_s.is_empty());
        self.no_copies().or(late).or_else(|| self.stragglers.as_ref().map(|_| stragglers))
    }

    /// Returns the reason why the job has no speculative copies; none if it may have them.
    pub fn no_copies(&self) -> Option<&'static str> {
        let gpus = "tasks that share GPUs are only simulated task by task: nets and speculative copies do not model GPU permits";
        let late = "executors that join during the job have speculative copies only if each has a host of its own";
        let share_hosts = (self.hosts as usize) < self.arrivals_s.len();
        self.gpus.map(|_| gpus).or(Some(late).filter(|_| share_hosts))
    }

    /// Returns the mean ratio of a task's time with stragglers to its time without.
    pub fn mean_slowdown(&self) -> f64 {
        let slowdown = |stragglers: &Stragglers| 1.0 + stragglers.share * (stragglers.mean_factor() - 1.0);
        self.stragglers.as_ref().map_or(1.0, slowdown)
    }

    /// Returns the slot time of the job: of all tasks, and of all slots while the driver works \[s\].
    fn slot_time_s(&self) -> f64 {
        let driver: f64 = self.stages.iter().map(|stage| stage.setup_s).sum::<f64>() + self.end_s;
        self.stages.iter().map(PlannedStage::work_s).sum::<f64>() + driver * f64::from(self.slots)
    }

    /// Returns the relative standard error of the job time due to the errors of the fitted task times. All times of a
    /// stage have the same error, weighted by their share of all slot time. The errors shared by the stages are added.
    /// Approximate: stages that run in parallel count in full.
    pub fn error(&self) -> f64 {
        let all = self.slot_time_s();
        let of_stage = |stage: &PlannedStage| {
            let part = |wave: &Wave| f64::from(wave.tasks) * stage.mean_ratio() * wave.mean_s * wave.error / all;
            let cold = stage.waves.first().map_or(0.0, part);
            let warm: f64 = stage.waves.iter().skip(1).map(part).sum();
            cold * cold + warm * warm
        };
        let own = if all > 0.0 { self.stages.iter().map(of_stage).sum::<f64>() } else { 0.0 };
        (own + self.shared_errors.iter().map(|error| error * error).sum::<f64>()).sqrt()
    }
}

fn planned(stage: &StageSpec, plan: &StagePlan, slots: u32, load: &Load) -> PlannedStage {
    let input = plan.job.input_mb;
    let full = plan.full_tasks(stage);
    let task_mb = stage.data_mb.at(input).max(0.0) / f64::from(full);
    let times = Times { stage, load };
    let cold = full.min(slots);
    let mut waves = vec![times.wave(cold, task_mb, 1, stage.cold.error)];
    waves.extend(warm_waves(&times, full - cold, slots, task_mb));
    if stage.small_tasks > 0 {
        let (error, rank) = if full < slots { (stage.cold.error, 1) } else { (stage.warm.error, full / slots + 1) };
        waves.push(times.wave(stage.small_tasks, stage.small_mb, rank, error));
    }
    let start_s = if stage.after.is_empty() { load.start_s } else { 0.0 };
    PlannedStage {
        name: stage.name.clone(),
        after: stage.after.clone(),
        setup_s: stage.setup_s + start_s,
        task_mb,
        waves,
        law: stage.distribution.clone(),
        slow: stage.slow,
        gpu: stage.gpu,
    }
}

/// The times of a stage's tasks at a load.
struct Times<'a> {
    stage: &'a StageSpec,
    load: &'a Load,
}

impl Times<'_> {
    /// Returns the mean time of the `rank`-th task of a slot \[s\].
    fn at(&self, mb: f64, rank: u32) -> f64 {
        let [steady, busy, excess] = parts(self.stage, mb, rank);
        steady + busy * self.load.steady + excess * self.load.warm_up
    }

    fn wave(&self, tasks: u32, mb: f64, rank: u32, error: f64) -> Wave {
        let [_, busy, excess] = parts(self.stage, mb, rank);
        let (busy_s, excess_s) = (busy * self.load.steady, excess * self.load.warm_up);
        Wave { tasks, mean_s: self.at(mb, rank), error, busy_s, excess_s }
    }
}

/// Returns the parts of the time of the `rank`-th task of a slot at the load of the plan \[s\]: waiting, CPU time, and the extra time relative to the
/// steady state.
fn parts(stage: &StageSpec, mb: f64, rank: u32) -> [f64; 3] {
    let warm = stage.warm.at(mb);
    let (end, excess) = if rank < 2 {
        let cold = stage.cold.at(mb);
        (warm.min(cold), (cold - warm).max(0.0))
    } else {
        (warm, warm * (slowness(stage.warming, rank) - 1.0))
    };
    [end * (1.0 - stage.busy), end * stage.busy, excess]
}

/// Factors by which times differ from the times of the plan because a host runs more or fewer tasks at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Load {
    start_s: f64,
    steady: f64,
    warm_up: f64,
    /// Logarithms of the ratios of executors, and of slots, per host.
    executors: f64,
    slots: f64,
}

impl Load {
    fn of(plan: &StagePlan) -> Self {
        let Some(sharing) = &plan.sharing else {
            return Self { start_s: 0.0, steady: 1.0, warm_up: 1.0, executors: 0.0, slots: 0.0 };
        };
        let per_host = f64::from(plan.job.executors.max(1)) / f64::from(plan.hosts());
        let slots = per_host * f64::from(plan.job.cores.max(1));
        let (executors, slots) = ((per_host / sharing.executors_per_host).ln(), (slots / sharing.slots_per_host).ln());
        Self {
            start_s: sharing.start_s * (sharing.start.power * executors).exp(),
            steady: (sharing.steady.power * slots).exp(),
            warm_up: (sharing.warm_up.power * slots).exp(),
            executors,
            slots,
        }
    }

    /// Returns the relative standard errors of the job time due to the errors of the powers, and to the distance from the observed range.
    fn errors(&self, job: &PlannedJob, plan: &StagePlan) -> Vec<f64> {
        let all = job.slot_time_s();
        let mut errors = Vec::new();
        if let Some(sharing) = plan.sharing.filter(|_| all > 0.0) {
            let sum = |part: fn(&Wave) -> f64| {
                let of_stage = |stage: &PlannedStage| {
                    stage.mean_ratio() * stage.waves.iter().map(|wave| f64::from(wave.tasks) * part(wave)).sum::<f64>()
                };
                job.stages.iter().map(of_stage).sum::<f64>()
            };
            let start = self.start_s * f64::from(job.slots);
            errors.push(start / all * sharing.start.error * self.executors);
            errors.push(sum(|wave| wave.excess_s) / all * sharing.warm_up.error * self.slots);
            errors.push(sum(|wave| wave.busy_s) / all * sharing.steady.error * self.slots);
        }
        if let Some(seen) = &plan.measured_range {
            errors.extend(seen.beyond(plan).into_iter().map(|(_, ratio)| FAR_ERROR * (ratio / FAR).ln()));
        }
        errors.retain(|error| *error != 0.0);
        errors
    }
}

/// A power with at least this error is assumed, not estimated from runs.
const ASSUMED_ERROR: f64 = 0.45;

impl JobSize {
    /// Returns the time at which each executor joins \[s\]: the quantiles of the logged times; empty if all are there from the start.
    fn arrivals_s(&self) -> Vec<f64> {
        let (logged, count) = (self.arrivals_s.len(), self.executors as usize);
        let joins = |k: usize| self.arrivals_s[(k * logged).div_ceil(count).max(1) - 1];
        if logged == 0 { Vec::new() } else { (1..=count).map(joins).collect() }
    }
}

impl StagePlan {
    /// Returns the plan at the size, on the cluster and with the policy of a run, without anything that the user added to the plan.
    #[must_use]
    pub fn at_run(&self, run: &LoggedRun) -> Self {
        let mut plan = self.clone();
        plan.job.input_mb = run.input_mb;
        plan.job.executors = run.executors;
        plan.job.cores = run.cores;
        plan.job.hosts = Some(run.hosts);
        plan.job.arrivals_s.clone_from(&run.arrivals_s);
        plan.job.partitions = run.partitions;
        (plan.job.gpus_per_executor, plan.job.concurrent_gpu_tasks) = (run.gpus_per_executor, run.concurrent_gpu_tasks);
        plan.job.deadline_s = None;
        plan.proof.clear();
        plan.speculation = run.speculation;
        plan.stragglers = None;
        plan
    }

    /// Returns the number of hosts shared by the executors: the plan's number; or else the number that keeps the observed executors per host; or else
    /// one for each executor.
    pub fn hosts(&self) -> u32 {
        let executors = self.job.executors.max(1);
        let like_seen = |sharing: Sharing| (f64::from(executors) / sharing.executors_per_host).round() as u32;
        self.job.hosts.or(self.sharing.map(like_seen)).unwrap_or(executors).clamp(1, executors)
    }

    /// Returns true if the slot time of all tasks changes with the input, from the plan's to `input_mb`: with at least the power 0.01 of the input.
    pub fn depends_on_input(&self, input_mb: f64) -> bool {
        const LEAST_POWER: f64 = 0.01;
        let work_s = |input_mb: f64| {
            let mut plan = self.clone();
            plan.job.input_mb = input_mb;
            PlannedJob::of(&plan).stages.iter().map(PlannedStage::work_s).sum::<f64>()
        };
        let sizes = (input_mb / self.job.input_mb).ln().abs();
        // too many tasks are refused with their own message
        let is_sound = |plan: &Self| plan.problems().is_empty();
        let mut other = self.clone();
        other.job.input_mb = input_mb;
        sizes < 1e-9
            || !is_sound(self)
            || !is_sound(&other)
            || (work_s(input_mb) / work_s(self.job.input_mb)).ln().abs() >= LEAST_POWER * sizes
    }

    /// Returns true if runs at different loads show how tasks that share a host slow each other down.
    pub fn knows_sharing(&self) -> bool {
        self.sharing
            .is_some_and(|sharing| sharing.warm_up.error < ASSUMED_ERROR && sharing.steady.error < ASSUMED_ERROR)
    }

    /// Returns the mean times \[s\] of single tasks at the plan's size: of the `rank`-th task that a slot runs for a stage, with the given data.
    pub fn task_times(&self) -> impl Fn(usize, f64, u32) -> f64 + '_ {
        let load = Load::of(self);
        move |stage, mb, rank| Times { stage: &self.stage[stage], load: &load }.at(mb, rank)
    }

    /// Returns a remark if the tasks of a stage need more memory than an executor has for each of its tasks: they spill to disk, which no log may show.
    fn beyond_memory(&self, number: usize, stage: &StageSpec) -> Option<String> {
        let task_mb = |plan: &Self| stage.data_mb.at(plan.job.input_mb).max(0.0) / f64::from(plan.full_tasks(stage));
        let needs = |plan: &Self| {
            let has_mb = plan.job.executor_memory_mb? / f64::from(plan.job.tasks_of_executor().max(1));
            Some(stage.memory_per_mb * task_mb(plan) / has_mb)
        };
        let has_spilled = |run: &LoggedRun| needs(&self.at_run(run)) > Some(1.0);
        let (task_mb, factor) = (task_mb(self), needs(self)?);
        // tasks that spilled in the logs have times that include it
        (factor > 1.0 && !self.proof.iter().any(has_spilled)).then(|| {
            format!(
                "stage {number}: a task of {task_mb:.0} MB needs {factor:.1} times the memory that an executor has for it, so it spills to disk; times \
                 do not include this"
            )
        })
    }

    /// Returns a remark if the slowest task of a stage is likely to take longer than any task in the logs, relative to typical tasks.
    fn beyond_tail(&self, number: usize, stage: &StageSpec) -> Option<String> {
        let (slow, seen) = (stage.slow?, stage.slow?.seen?);
        let tasks = self.full_tasks(stage).saturating_add(stage.small_tasks);
        let longest = slow.longest_of(tasks).filter(|longest| *longest > seen)?;
        Some(format!(
            "stage {number}: the slowest of {tasks} tasks is predicted to take {longest:.1} times the typical time, beyond the logs \
             ({seen:.1} times)"
        ))
    }

    /// Returns the number of tasks of a stage without the small tasks.
    fn full_tasks(&self, stage: &StageSpec) -> u32 {
        let given = self.job.partitions.filter(|_| stage.uses_partitions);
        // `as` is fine: a sound plan has at most a million tasks
        given.unwrap_or_else(|| stage.tasks.at(self.job.input_mb).round().max(1.0) as u32)
    }

    /// Returns remarks on an estimate at the plan's size: a load of hosts that differs from the runs' load, slow tasks beyond the logs, and sizes
    /// far from the observed sizes.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        let load = Load::of(self);
        if let Some(sharing) = self.sharing.filter(|_| load.slots.abs().max(load.executors.abs()) > 0.01) {
            let assumed = sharing.warm_up.error >= ASSUMED_ERROR;
            let from = if assumed {
                "an assumption: no log shows this factor"
            } else {
                "estimated from runs with different loads"
            };
            remarks.push(format!(
                "a host runs {:.1} tasks at a time, but times were measured with {:.1}. The extra time of tasks during warm-up is multiplied by {:.2} ({from})",
                load.slots.exp() * sharing.slots_per_host,
                sharing.slots_per_host,
                load.warm_up
            ));
        }
        remarks.extend(self.stage.iter().enumerate().filter_map(|(number, stage)| self.beyond_tail(number, stage)));
        remarks.extend(self.stage.iter().enumerate().filter_map(|(number, stage)| self.beyond_memory(number, stage)));
        for (what, ratio) in self.measured_range.iter().flat_map(|seen| seen.beyond(self)) {
            let error = far_error(ratio);
            remarks.push(format!(
                "{what} is outside the measured range by a factor of {ratio:.1}; a further standard error of {error} is assumed"
            ));
        }
        remarks
    }
}

/// Times of the plan hold up to this multiple of the observed sizes.
pub const FAR: f64 = 4.0;
/// Assumed relative standard error for each factor of e beyond [`FAR`].
const FAR_ERROR: f64 = 0.1;

/// Returns the relative standard error, as text, that is assumed for a size outside the measured range by a factor of `ratio`.
pub fn far_error(ratio: f64) -> String {
    let error = 100.0 * (FAR_ERROR * (ratio / FAR).ln()).exp_m1();
    if error < 1.0 { "less than 1%".to_owned() } else { format!("{error:.0}%") }
}

impl MeasuredRange {
    /// Returns the sizes of a plan that exceed the measured range by more than four times, with their factors.
    pub fn beyond(&self, plan: &StagePlan) -> Vec<(&'static str, f64)> {
        let slots = f64::from(plan.job.executors) * f64::from(plan.job.cores);
        let away = |value: f64, least: f64, most: f64| (value / most).max(least / value);
        let ratios = [
            ("the input", away(plan.job.input_mb, self.min_input_mb, self.max_input_mb)),
            ("the number of slots", away(slots, self.min_slots.into(), self.max_slots.into())),
        ];
        ratios.into_iter().filter(|(_, ratio)| *ratio > FAR).collect()
    }
}

/// Returns the ratio of the `rank`-th task's time in a slot to the steady time; 1 for the first, which has a
/// separate mean.
pub(crate) fn slowness(warming: f64, rank: u32) -> f64 {
    if rank < 2 { 1.0 } else { 1.0 + warming / f64::from(rank - 1) }
}

/// Returns the full tasks after the cold tasks, by their rank on a slot.
fn warm_waves(times: &Times<'_>, mut left: u32, slots: u32, task_mb: f64) -> Vec<Wave> {
    let error = times.stage.warm.error;
    let mut waves = Vec::new();
    let mut rank = 2;
    while left > 0 && rank <= RANKS {
        let tasks = left.min(slots);
        waves.push(times.wave(tasks, task_mb, rank, error));
        left -= tasks;
        rank += 1;
    }
    if left > 0 {
        let last = rank + (left - 1) / slots;
        let count = f64::from(last - rank + 1);
        let mean = |part: fn(&Wave) -> f64| {
            (rank..=last).map(|rank| part(&times.wave(1, task_mb, rank, error))).sum::<f64>() / count
        };
        let [mean_s, busy_s, excess_s] =
            [mean(|wave| wave.mean_s), mean(|wave| wave.busy_s), mean(|wave| wave.excess_s)];
        waves.push(Wave { tasks: left, mean_s, error, busy_s, excess_s });
    }
    waves
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::{Amount, JobSize, Power, TaskTime};

    fn plan(tasks: f64, slots: u32) -> StagePlan {
        let stage = StageSpec {
            tasks: Amount { fixed: 0.0, per_mb: tasks / 100.0 },
            data_mb: Amount { fixed: 0.0, per_mb: 2.0 },
            cold: TaskTime { fixed_s: 5.0, per_mb_s: 0.1, error: 0.3 },
            warm: TaskTime { fixed_s: 1.0, per_mb_s: 0.05, error: 0.1 },
            warming: 0.6,
            uses_partitions: true,
            ..StageSpec::default()
        };
        let job = JobSize { input_mb: 100.0, executors: slots, cores: 1, ..JobSize::default() };
        StagePlan { job, stage: vec![stage], ..StagePlan::default() }
    }

    #[test]
    fn waves_have_all_tasks_and_the_mean_of_their_ranks() {
        for (tasks, slots) in [(1, 4), (4, 4), (5, 4), (31, 4), (1_000, 4), (999, 7)] {
            let job = PlannedJob::of(&plan(f64::from(tasks), slots));
            let stage = &job.stages[0];
            assert_eq!(stage.tasks(), tasks);
            let mb = 200.0 / f64::from(tasks);
            let time =
                |i: u32| if i < slots { 5.0 + 0.1 * mb } else { (1.0 + 0.05 * mb) * slowness(0.6, i / slots + 1) };
            let work: f64 = (0..tasks).map(time).sum();
            // the last ranks are merged and count equally, even if the last one is not full
            assert!((stage.work_s() / work - 1.0).abs() < 1e-3, "{tasks} on {slots}: {} {work}", stage.work_s());
        }
    }

    #[test]
    fn input_size_and_partitions_set_the_number_of_tasks() {
        let mut plan = plan(10.0, 2);
        plan.job.input_mb = 200.0;
        let stage = |plan: &StagePlan| PlannedJob::of(plan).stages[0].clone();
        assert_eq!((stage(&plan).tasks(), stage(&plan).task_mb), (20, 20.0));
        plan.job.partitions = Some(50);
        assert_eq!((stage(&plan).tasks(), stage(&plan).task_mb), (50, 8.0));
        plan.stage[0].small_tasks = 3;
        assert_eq!(stage(&plan).tasks(), 53);
    }

    /// Shortest slow time 3, index 2: a mean of 6 for a tenth of the tasks. The maximum of 10 tasks is below 9 in most runs, that of 1,000 is not.
    #[test]
    fn slow_tasks_add_work_and_reach_beyond_the_logs() {
        let mut plan = plan(10.0, 2);
        let usual = PlannedJob::of(&plan);
        plan.stage[0].slow = Some(SlowTasks { share: 0.1, from: 3.0, shape: 2.0, seen: Some(9.0) });
        let slow = PlannedJob::of(&plan);
        assert!((slow.stages[0].work_s() / usual.stages[0].work_s() - 1.5).abs() < 1e-12);
        assert!((slow.error() - usual.error()).abs() < 1e-12);
        assert!(plan.remarks().is_empty(), "{:?}", plan.remarks());
        plan.job.input_mb *= 100.0;
        // 3 √(0.1 / (1 - 2^(-1/1000))) = 36.0
        assert_eq!(
            plan.remarks(),
            [
                "stage 0: the slowest of 1000 tasks is predicted to take 36.0 times the typical time, beyond the logs (9.0 times)"
            ]
        );
    }

    #[test]
    fn errors_are_weighted_by_time() {
        let mut plan = plan(2.0, 2);
        assert!((PlannedJob::of(&plan).error() - 0.3).abs() < 1e-12);
        plan.job.teardown_s = PlannedJob::of(&plan).stages[0].work_s() / 2.0;
        assert!((PlannedJob::of(&plan).error() - 0.15).abs() < 1e-12);
    }

    /// 1 MB of data needs 3 MB of memory, and each of two tasks has 300 MB: from 100 MB on, it spills. Logs of 400 MB of input in four tasks did not.
    #[test]
    fn tasks_beyond_the_memory_of_executors_are_told() {
        let mut plan = plan(4.0, 2);
        (plan.job.cores, plan.job.executor_memory_mb) = (2, Some(600.0));
        plan.stage[0].tasks = Amount { fixed: 4.0, per_mb: 0.0 };
        plan.stage[0].data_mb = Amount { fixed: 0.0, per_mb: 1.0 };
        plan.stage[0].memory_per_mb = 3.0;
        let run = LoggedRun { job_s: 1.0, input_mb: 400.0, executors: 2, cores: 2, hosts: 1, ..LoggedRun::default() };
        plan.proof = vec![run.clone()];
        let told = |input_mb: f64, plan: &StagePlan| {
            let mut plan = plan.clone();
            plan.job.input_mb = input_mb;
            plan.remarks().iter().any(|remark| remark.contains("spills to disk"))
        };
        assert_eq!([399.0, 401.0, 800.0].map(|mb| told(mb, &plan)), [false, true, true]);
        plan.job.input_mb = 800.0;
        assert!(
            plan.remarks()[0].starts_with("stage 0: a task of 200 MB needs 2.0 times the memory"),
            "{:?}",
            plan.remarks()
        );
        // more tasks at a time share the memory
        (plan.job.input_mb, plan.job.cores) = (400.0, 4);
        assert!(plan.remarks()[0].contains("needs 2.0 times the memory"), "{:?}", plan.remarks());
        plan.job.cores = 2;
        plan.proof = vec![LoggedRun { input_mb: 900.0, ..run }];
        assert!(!told(800.0, &plan), "the logs spilled, too");
    }

    /// A plan whose times hold for two executors of one core on a host; the tests put up to eight executors there.
    fn crowded(executors: u32, hosts: Option<u32>) -> StagePlan {
        let power = |power| Power { power, error: 0.2 };
        let sharing = Sharing {
            executors_per_host: 2.0,
            slots_per_host: 2.0,
            start_s: 4.0,
            start: power(1.0),
            warm_up: power(0.5),
            steady: power(1.0),
        };
        let mut plan = plan(32.0, executors);
        plan.job.hosts = hosts;
        plan.stage[0].busy = 0.25;
        StagePlan { sharing: Some(sharing), ..plan }
    }

    #[test]
    fn a_crowded_host_is_slow_to_start_and_to_warm_up() {
        let alone = PlannedJob::of(&crowded(2, Some(1)));
        assert_eq!(alone.stages[0].setup_s, 4.0);
        assert!(alone.shared_errors.is_empty(), "{:?}", alone.shared_errors);
        // four times as many: start 4 times, warming up twice, a quarter of the steady time 4 times
        let job = PlannedJob::of(&crowded(8, Some(1)));
        let stage = &job.stages[0];
        assert_eq!(stage.setup_s, 16.0);
        let mb = 200.0 / 32.0;
        let (steady, cold) = (1.0 + 0.05 * mb, 5.0 + 0.1 * mb);
        let slow = 0.75 * steady + 0.25 * steady * 4.0;
        assert!((stage.waves[0].mean_s - (slow + 2.0 * (cold - steady))).abs() < 1e-9);
        assert!((stage.waves[1].mean_s - (slow + 2.0 * 0.6 * steady)).abs() < 1e-9);
        // each error is the share of the job's slot time that it moves, times 0.2 ln 4
        let all = stage.work_s() + 8.0 * 16.0;
        let expected = 8.0 * 16.0 / all * 0.2 * 4.0_f64.ln();
        assert!((job.shared_errors[0] - expected).abs() < 1e-9, "{:?}", job.shared_errors);
        assert!(job.error() > alone.error());
        assert_eq!(crowded(8, Some(1)).remarks().len(), 1);
    }

    #[test]
    fn executors_keep_hosts_of_their_own_unless_the_plan_says_how_many() {
        assert_eq!([1, 2, 8, 9].map(|executors| crowded(executors, None).hosts()), [1, 1, 4, 5]);
        assert_eq!((crowded(8, Some(3)).hosts(), plan(1.0, 6).hosts()), (3, 6));
        let job = PlannedJob::of(&crowded(8, None));
        assert_eq!((job.stages[0].setup_s, job.shared_errors.len()), (4.0, 0));
    }

    #[test]
    fn far_from_what_was_seen_the_error_grows() {
        let seen = |plan: &mut StagePlan| {
            plan.measured_range =
                Some(MeasuredRange { min_input_mb: 50.0, max_input_mb: 100.0, min_slots: 2, max_slots: 4 });
            PlannedJob::of(plan).error()
        };
        let mut near = plan(10.0, 2);
        near.job.input_mb = 400.0;
        let error = seen(&mut near);
        assert!(near.remarks().is_empty());
        let mut far = plan(10.0, 2);
        far.job.input_mb = 400.0 * std::f64::consts::E;
        assert!((seen(&mut far).powi(2) - error.powi(2) - 0.1 * 0.1).abs() < 0.02 * 0.1 * 0.1);
        assert_eq!(far.remarks().len(), 1);
        let mut small = plan(10.0, 2);
        small.job.input_mb = 10.0;
        seen(&mut small);
        assert!(
            small.remarks()[0].contains("the input is outside the measured range by a factor of 5.0"),
            "{:?}",
            small.remarks()
        );
    }
}
