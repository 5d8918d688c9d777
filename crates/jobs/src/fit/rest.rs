//! The rest of a run, task by task: the stages of a plan compared with the stages in the log so far.
//!
//! Stages match as in [`crate::fit::fit_stages`]: by their action and by the stages they wait for. Similar stages are
//! matched in the order of their numbers of tasks. Tasks in the log replace the plan's. Without a plan, the model is
//! fitted to the run so far. Stages without a finished task are then assumed to be like other stages of the run, with a
//! wide error.

use crate::fit::alike::{action, tables_of};
use crate::fit::fit_error::FitError;
use crate::fit::job_text::short;
use crate::fit::likeness::{Known, like};
use crate::fit::line::median;
use crate::fit::progress::{RunProgress, StageProgress};
use crate::fit::scaling::small_tasks;
use crate::fit::stages::fit_stages;
use crate::mapreduce::PhaseLaw;
use crate::plan::InputSize;
use crate::run::{RunningTask, StageState};
use crate::stages::{Amount, PlannedJob, StagePlan, StageSpec, TaskTime, Wave};

/// Standard deviation of the logarithm of later tasks' times if only first tasks of slots have finished.
const UNSEEN_LATER: f64 = 1.0;
/// Standard deviation of the logarithm of the pace of the tasks to come, relative to the tasks so far, if no plan tells how a run continues.
const DRIFT: f64 = 0.3;
/// Later tasks of a stage that tell its pace: so many per slot, and at least so many.
const LATEST_WAVES: usize = 2;
const LATEST: usize = 16;
/// A running task that is older than this multiple of the time of a small task is a full one.
const SMALL_UP_TO: f64 = 3.0;
/// Assumed coefficient of variation of the tasks of a stage that no plan has.
const OWN_SPREAD: f64 = 0.5;
/// Minimum mean time of a task \[s\]: logs have a resolution of milliseconds.
const SHORTEST_S: f64 = 1e-4;
/// Mean set-up time of a future stage if the run has not had one \[s\].
const SHORT_SETUP_S: f64 = 0.05;

/// Evidence from the tasks of a stage: their times divided by the plan's mean times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageEvidence {
    /// Ratios of finished tasks.
    pub ended: Vec<f64>,
    /// Ages of running tasks.
    pub running: Vec<f64>,
}

/// The rest of a run.
#[derive(Clone, Debug)]
pub struct RestOfRun {
    /// The plan at the size of this run, with the number of tasks in the log.
    pub plan: StagePlan,
    /// The complete job at the size of this run.
    pub whole: PlannedJob,
    /// The job with the tasks that wait for a slot.
    pub job: PlannedJob,
    /// State of each stage of the job.
    pub states: Vec<StageState>,
    /// Time since the last stage ended \[s\]; 0 while a stage remains.
    pub end_age_s: f64,
    /// Stage of the log matched to each stage of the plan, by position; none if the log does not have it yet.
    pub positions: Vec<Option<usize>>,
    /// Evidence of each stage: first tasks of slots, and later tasks.
    pub shown: Vec<[StageEvidence; 2]>,
    /// Standard deviation of the logarithm of the pace of the tasks to come, relative to the tasks so far.
    pub drift: f64,
    /// Assumptions.
    pub notes: Vec<String>,
}

/// Returns the rest of a run given a plan that was fitted to other runs of the program. `input` overrides the size inferred from the number of
/// tasks.
///
/// # Errors
///
/// [`FitError::OtherJob`] if no stage of the log is a stage of the plan, and [`FitError::RelativeInput`].
pub fn rest_of_run(run: &RunProgress, plan: &StagePlan, input: Option<InputSize>) -> Result<RestOfRun, FitError> {
    if plan.job.input_is_relative && matches!(input, Some(InputSize::Data(_))) {
        return Err(FitError::RelativeInput);
    }
    let mut found = matched(run, plan)?;
    let mut plan = plan.clone();
    let mut notes = add_unplanned(run, &mut plan, &mut found);
    let mut positions = vec![None; plan.stage.len()];
    for (i, k) in found.iter().enumerate() {
        if let Some(k) = k {
            positions[*k] = Some(i);
        }
    }
    match (input, input_of(run, &plan, &positions)) {
        (Some(size), _) => plan.job.input_mb = size.of(plan.job.input_mb),
        (None, Some((mb, i))) => {
            plan.job.input_mb = mb;
            let StageProgress { number, tasks, .. } = &run.stages[i];
            let unit = if plan.job.input_is_relative { "times that of the plan's log" } else { "MB" };
            notes.push(format!(
                "the input is assumed to be {} {unit}, estimated from the {tasks} tasks of stage {number}; `--input-size` overrides this",
                short(mb)
            ));
        }
        _ => {}
    }
    if run.executors > 0 {
        (plan.job.executors, plan.job.cores) = (run.executors, run.cores);
        plan.job.hosts = if run.hosts > 0 { Some(run.hosts) } else { plan.job.hosts };
    }
    plan.job.partitions = run.partitions.or(plan.job.partitions);
    // those that will join are not known
    plan.job.arrivals_s.clear();
    read_what_is_written(run, &mut plan, &positions);
    Ok(rest(run, plan, positions, notes))
}

/// Lets stages without a finished task read what the stages before have written in this run, rather than the data of the plan.
fn read_what_is_written(run: &RunProgress, plan: &mut StagePlan, positions: &[Option<usize>]) {
    let input_mb = plan.job.input_mb;
    for (spec, position) in plan.stage.iter_mut().zip(positions) {
        let Some(stage) = position.map(|i| &run.stages[i]).filter(|stage| stage.ended.is_empty()) else { continue };
        if let Some(task_mb) = stage.task_mb.filter(|_| spec.data_mb.at(input_mb) > 0.0) {
            let full = stage.tasks.max(1) - spec.small_tasks.min(stage.tasks.max(1) - 1);
            spec.data_mb = Amount { fixed: task_mb * f64::from(full), per_mb: 0.0 };
        }
    }
}

/// Adds the stages of a run that its plan does not have: a program may plan other stages at another size. Their times come from their own tasks, or else
/// from stages like them. Returns notes on them.
fn add_unplanned(run: &RunProgress, plan: &mut StagePlan, found: &mut [Option<usize>]) -> Vec<String> {
    let mut unplanned = Vec::new();
    for (i, stage) in run.stages.iter().enumerate() {
        if found[i].is_some() {
            continue;
        }
        let known = |(position, seen): (&Option<usize>, &'_ StageProgress)| {
            Some((position.filter(|_| !seen.ended.is_empty())?, seen.ended.iter().any(|task| task.rank > 1)))
        };
        let numbers: Vec<_> = found.iter().zip(&run.stages).map(known).collect();
        let known: Vec<Known<'_>> = numbers
            .iter()
            .zip(&run.stages)
            .filter_map(|(known, seen)| known.map(|(k, has_later)| Known { spec: &plan.stage[k], seen, has_later }))
            .collect();
        let setups = plan.stage.iter().map(|stage| stage.setup_s);
        let setup_s = setups.sum::<f64>() / plan.stage.len() as f64;
        let last = || StageSpec { setup_s, ..plan.stage[plan.stage.len() - 1].clone() };
        let of = of_own_tasks(stage).or_else(|| like(stage, &known, setup_s)).unwrap_or_else(last);
        let task_mb = of.data_mb.at(plan.job.input_mb) / of.tasks.at(plan.job.input_mb).round().max(1.0);
        let data_mb = Amount { fixed: task_mb * f64::from(stage.tasks.max(1)), per_mb: 0.0 };
        let mut after: Vec<usize> = stage.after.iter().filter_map(|&before| found[before]).collect();
        after.sort_unstable();
        let spec = StageSpec { name: stage.name.clone(), after, data_mb, uses_partitions: false, small_tasks: 0, ..of };
        found[i] = Some(plan.stage.len());
        plan.stage.push(spec);
        unplanned.push(stage.number.to_string());
    }
    // a run proves a plan with its stages only
    if unplanned.is_empty() {
        return Vec::new();
    }
    plan.proof.clear();
    let (of, list) = (if unplanned.len() == 1 { "stage" } else { "stages" }, unplanned.join(", "));
    vec![format!("{of} {list}: not in the plan; times come from the tasks of this run, with wider intervals")]
}

/// Returns a stage with the times of its own finished tasks; none if it has none.
fn of_own_tasks(stage: &StageProgress) -> Option<StageSpec> {
    let mean = |wanted: &dyn Fn(u32) -> bool| {
        let times: Vec<f64> = stage.ended.iter().filter(|task| wanted(task.rank)).map(|task| task.wall_s).collect();
        let error = OWN_SPREAD / (times.len() as f64).sqrt();
        (!times.is_empty()).then(|| TaskTime {
            fixed_s: times.iter().sum::<f64>() / times.len() as f64,
            per_mb_s: 0.0,
            error,
        })
    };
    let all = mean(&|_| true)?;
    let [cold, warm] = [mean(&|rank| rank < 2), mean(&|rank| rank > 1)];
    let unseen = TaskTime { error: all.error.hypot(UNSEEN_LATER), ..all };
    Some(StageSpec {
        setup_s: stage.setup_s,
        tasks: Amount { fixed: f64::from(stage.tasks), per_mb: 0.0 },
        cold: cold.unwrap_or(all),
        warm: warm.unwrap_or(unseen),
        distribution: PhaseLaw::Lognormal { cv: OWN_SPREAD },
        ..StageSpec::default()
    })
}

/// Returns the rest of the running jobs given only the run so far; none before a task has finished. The set-up and the end of further jobs are
/// excluded.
pub fn rest_by_itself(run: &RunProgress) -> Option<RestOfRun> {
    let (so_far, kept) = run.so_far()?;
    let fitted = fit_stages(std::slice::from_ref(&so_far)).ok()?.plan;
    let setups: Vec<f64> = so_far.stages.iter().skip(1).map(|stage| stage.setup_s).collect();
    let setup_s = if setups.is_empty() { SHORT_SETUP_S } else { median(setups) };
    let known: Vec<Known<'_>> = kept
        .iter()
        .zip(&fitted.stage)
        .zip(&so_far.stages)
        .map(|((&i, spec), seen)| Known {
            spec,
            seen: &run.stages[i],
            has_later: seen.tasks.iter().any(|task| task.rank > 1),
        })
        .collect();
    let mut unknown = Vec::new();
    let spec = |(i, stage): (usize, &StageProgress)| {
        let own = kept.binary_search(&i).ok();
        let of = own.map_or_else(
            || {
                unknown.push(stage.number.to_string());
                like(stage, &known, setup_s).unwrap_or_default()
            },
            |k| {
                let mut spec = fitted.stage[k].clone();
                // the tasks to come have the finished tasks' share of small ones
                let small = f64::from(spec.small_tasks) / stage.ended.len() as f64;
                spec.small_tasks = (small * f64::from(stage.tasks)).round() as u32;
                if stage.ended.iter().all(|task| task.rank < 2) {
                    spec.warm.error = spec.warm.error.hypot(UNSEEN_LATER);
                }
                spec
            },
        );
        // tasks read as much data as the finished tasks
        let task_mb = of.data_mb.at(fitted.job.input_mb) / of.tasks.at(fitted.job.input_mb).round().max(1.0);
        let full = stage.tasks.saturating_sub(of.small_tasks).max(1);
        let data_mb = Amount { fixed: task_mb * f64::from(full), per_mb: 0.0 };
        StageSpec { name: stage.name.clone(), after: stage.after.clone(), data_mb, ..of }
    };
    let stage: Vec<StageSpec> = run.stages.iter().enumerate().map(spec).collect();
    let mut notes = Vec::new();
    if !unknown.is_empty() {
        let (of, list) = (if unknown.len() == 1 { "stage" } else { "stages" }, unknown.join(", "));
        notes.push(format!(
            "{of} {list}: no task has finished; times come from other stages of this run, with wider intervals"
        ));
    }
    let plan = StagePlan { stage, notes: Vec::new(), measured_range: None, ..fitted };
    let positions = (0..run.stages.len()).map(Some).collect();
    Some(RestOfRun { drift: DRIFT, ..rest(run, plan, positions, notes) })
}

/// Returns the stage of the plan matched to each stage of the log; none for a stage that is not in the plan.
fn matched(run: &RunProgress, plan: &StagePlan) -> Result<Vec<Option<usize>>, FitError> {
    let mut found: Vec<Option<usize>> = vec![None; run.stages.len()];
    let mut is_tried = vec![false; run.stages.len()];
    for i in 0..run.stages.len() {
        if is_tried[i] {
            continue;
        }
        let stage = &run.stages[i];
        // stages that differ only in their data
        let mut alike: Vec<usize> = (i..run.stages.len())
            .filter(|&k| action(&run.stages[k].name) == action(&stage.name) && run.stages[k].after == stage.after)
            .collect();
        let mut after: Vec<usize> = stage.after.iter().filter_map(|&before| found[before]).collect();
        after.sort_unstable();
        let is_free = |k: &usize| !found.contains(&Some(*k)) && action(&plan.stage[*k].name) == action(&stage.name);
        let mut planned: Vec<usize> =
            (0..plan.stage.len()).filter(|k| is_free(k) && plan.stage[*k].after == after).collect();
        by_tables(run, plan, (stage, &mut alike), &mut planned);
        if alike.len() == planned.len() {
            alike.sort_by_key(|&k| run.stages[k].tasks);
            let tasks = |k: usize| plan.stage[k].tasks.at(plan.job.input_mb);
            planned.sort_by(|&a, &b| tasks(a).total_cmp(&tasks(b)));
        } else {
            alike.truncate(planned.len().max(1));
        }
        for (n, &k) in alike.iter().enumerate() {
            is_tried[k] = true;
            found[k] = planned.get(n).copied();
        }
    }
    let submitted = || found.iter().zip(&run.stages).filter(|(_, stage)| stage.submitted);
    if submitted().next().is_some() && submitted().all(|(found, _)| found.is_none()) {
        let stage = &run.stages[0];
        let first = format!("the plan of `{}`", plan.job.name);
        let what = format!("stage {} `{}`", stage.number, stage.name);
        return Err(FitError::OtherJob { log: run.log.clone(), what, first, expected: "none of its stages".into() });
    }
    Ok(found)
}

/// Keeps the stages that may be the same by their operators: those with the operators of `stage` or, without any in the plan, with its tables; a stage
/// that scans other tables is another stage.
fn by_tables(run: &RunProgress, plan: &StagePlan, of: (&StageProgress, &mut Vec<usize>), planned: &mut Vec<usize>) {
    let (stage, alike) = of;
    if stage.operators.is_empty() {
        return;
    }
    let tables = tables_of(&stage.operators);
    planned.retain(|&k| plan.stage[k].operators.is_empty() || tables_of(&plan.stage[k].operators) == tables);
    if planned.iter().any(|&k| plan.stage[k].operators == stage.operators) {
        planned.retain(|&k| plan.stage[k].operators == stage.operators);
        alike.retain(|&k| run.stages[k].operators == stage.operators);
    } else {
        alike.retain(|&k| tables_of(&run.stages[k].operators) == tables);
    }
}

/// Returns the inferred input \[MB\] and the stage from which it was inferred. This is the largest submitted stage
/// whose number of tasks grows with the input; the input follows from the number of its tasks. None if the plan has
/// that number at its own input.
fn input_of(run: &RunProgress, plan: &StagePlan, positions: &[Option<usize>]) -> Option<(f64, usize)> {
    let growing = positions.iter().zip(&plan.stage).filter_map(|(position, spec)| {
        let i = (*position).filter(|&i| run.stages[i].submitted && spec.tasks.per_mb > 0.0 && !spec.uses_partitions)?;
        Some((i, spec))
    });
    let (i, spec) = growing.max_by_key(|(i, _)| run.stages[*i].tasks)?;
    let full = f64::from(run.stages[i].tasks) - f64::from(spec.small_tasks);
    if (spec.tasks.at(plan.job.input_mb).round().max(1.0) - full).abs() < 0.5 {
        return None;
    }
    let mb = (full - spec.tasks.fixed) / spec.tasks.per_mb;
    (mb > 0.0).then_some((mb, i))
}

/// Returns the remaining work, given a plan of exactly this size.
fn rest(run: &RunProgress, mut plan: StagePlan, positions: Vec<Option<usize>>, notes: Vec<String>) -> RestOfRun {
    for (spec, position) in plan.stage.iter_mut().zip(&positions) {
        let Some(i) = *position else { continue };
        let tasks = run.stages[i].tasks.max(1);
        spec.small_tasks = spec.small_tasks.min(tasks - 1);
        spec.tasks = Amount { fixed: f64::from(tasks - spec.small_tasks), per_mb: 0.0 };
        spec.uses_partitions = false;
    }
    // the pace of the run already contains its stragglers
    let whole = PlannedJob { stragglers: None, ..PlannedJob::of(&plan) };
    let join = Join { run, plan: &plan, positions: &positions, whole: &whole };
    let mut job = whole.clone();
    for (k, planned) in job.stages.iter_mut().enumerate() {
        if join.is_over(k) {
            // the distribution is never drawn from, and building its table is slow
            (planned.waves, planned.law, planned.slow) = (Vec::new(), PhaseLaw::Deterministic, None);
        } else {
            planned.waves = join.waiting(k, &planned.waves);
        }
    }
    let mut states: Vec<StageState> = (0..whole.stages.len()).map(|k| join.state(k)).collect();
    let shown = join.shown(&mut states);
    let end_age_s = join.end_age_s();
    RestOfRun { job, states, end_age_s, shown, whole, plan, positions, drift: 0.0, notes }
}

/// A run with its plan.
struct Join<'a> {
    run: &'a RunProgress,
    plan: &'a StagePlan,
    positions: &'a [Option<usize>],
    whole: &'a PlannedJob,
}

impl<'a> Join<'a> {
    /// Returns the log's counterpart of a stage of the plan.
    fn stage(&self, k: usize) -> Option<&'a StageProgress> {
        self.positions[k].map(|i| &self.run.stages[i])
    }

    /// Returns the number of launched tasks of a stage.
    fn begun(&self, k: usize) -> u32 {
        self.stage(k).map_or(0, |stage| stage.tasks.saturating_sub(stage.waiting()))
    }

    /// Returns the waves of a stage without the launched tasks. The log does not tell whether a task that waits is small: as many of them are small as of
    /// all tasks without an end.
    fn waiting(&self, k: usize, waves: &[Wave]) -> Vec<Wave> {
        let begun = self.begun(k);
        match (self.plan.stage[k].small_tasks, waves, self.stage(k)) {
            (1.., [full @ .., small], Some(stage)) => {
                let is_small = small_tasks(&stage.ended);
                let ended = stage.ended.iter().filter(|task| is_small(task)).count() as u32;
                let of_full: u32 = full.iter().map(|wave| wave.tasks).sum();
                let open_small = small.tasks.saturating_sub(ended);
                let open_full = of_full.saturating_sub(stage.ended.len() as u32 - ended);
                let open = u64::from(open_small) + u64::from(open_full);
                let waiting = u64::from((of_full + small.tasks).saturating_sub(begun)).min(open);
                // rounded to the nearest; both numbers stay within the tasks without an end
                let waiting_small = (waiting * u64::from(open_small) + open / 2).checked_div(open).unwrap_or(0);
                let waiting_full = (waiting - waiting_small) as u32;
                let mut left = after(full, of_full - waiting_full);
                left.extend(after(&[*small], small.tasks - waiting_small as u32));
                left
            }
            _ => after(waves, begun),
        }
    }

    fn is_over(&self, k: usize) -> bool {
        self.stage(k).map_or_else(|| is_passed(k, self.plan, self.positions), |stage| stage.end_s.is_some())
    }

    fn now_s(&self) -> f64 {
        self.run.elapsed_s.unwrap_or(0.0)
    }

    /// Returns the state of a stage, without its running tasks.
    fn state(&self, k: usize) -> StageState {
        let running: usize = self.run.stages.iter().map(|stage| stage.running.len()).sum();
        let is_busy = running >= self.whole.slots as usize;
        let own = self.stage(k);
        let before = &self.plan.stage[k].after;
        let ends = before.iter().filter_map(|&before| self.stage(before)?.end_s);
        let is_ready = before.iter().all(|&before| self.is_over(before));
        let ready_s = own.and_then(|stage| stage.ready_s).or(is_ready.then(|| ends.fold(0.0, f64::max)));
        StageState {
            running: Vec::new(),
            is_open: self.begun(k) > 0 || own.is_some_and(|stage| stage.submitted && is_busy),
            ready_for_s: ready_s.map(|ready_s| (self.now_s() - ready_s).max(0.0)),
            starts_cold: self.begun(k) < self.whole.stages[k].waves.first().map_or(0, |wave| wave.tasks),
        }
    }

    /// Returns the evidence from the tasks; running tasks are added to the states.
    fn shown(&self, states: &mut [StageState]) -> Vec<[StageEvidence; 2]> {
        let mut all = vec![<[StageEvidence; 2]>::default(); states.len()];
        let time = self.plan.task_times();
        for (k, (state, shown)) in states.iter_mut().zip(&mut all).enumerate() {
            let Some(stage) = self.stage(k) else { continue };
            let task_mb = self.whole.stages[k].task_mb;
            // if the log does not count data, each task has an equal share
            let counts = stage.ended.iter().any(|task| task.mb > 0.0);
            let mean_s = |mb: f64, rank: u32| time(k, mb, rank).max(SHORTEST_S);
            let is_small = small_tasks(&stage.ended);
            for task in stage.ended.iter().filter(|task| !is_small(task)) {
                let ratio = task.wall_s / mean_s(if counts { task.mb } else { task_mb }, task.rank);
                shown[usize::from(task.rank > 1)].ended.push(ratio);
            }
            let spec = &self.plan.stage[k];
            let small = f64::from(spec.small_tasks) / f64::from(self.whole.stages[k].tasks().max(1));
            let mean_mb = (1.0 - small) * task_mb + small * spec.small_mb;
            for task in stage.running.iter().filter(|_| !self.is_over(k)) {
                let is_full = task.age_s > SMALL_UP_TO * mean_s(spec.small_mb, task.rank);
                let mean_s = mean_s(if is_full { task_mb } else { mean_mb }, task.rank);
                shown[usize::from(task.rank > 1)].running.push(task.age_s / mean_s);
                state.running.push(RunningTask { age_s: task.age_s, mean_s, is_first: task.rank == 1 });
            }
            // the pace of a run changes, so the latest tasks tell most about the next ones
            let latest = (LATEST_WAVES * self.whole.slots as usize).max(LATEST);
            let old = shown[1].ended.len().saturating_sub(latest);
            shown[1].ended.drain(..old);
        }
        all
    }

    /// Returns the time since the last stage ended \[s\]; 0 while a stage remains.
    fn end_age_s(&self) -> f64 {
        let last = self.run.stages.iter().filter_map(|stage| stage.end_s).fold(0.0, f64::max);
        let is_all_over = (0..self.whole.stages.len()).all(|k| self.is_over(k));
        if is_all_over { (self.now_s() - last).max(0.0) } else { 0.0 }
    }
}

/// Returns true if a stage of the plan missing from the log was skipped: a stage that waits for it was submitted.
fn is_passed(k: usize, plan: &StagePlan, positions: &[Option<usize>]) -> bool {
    let followers = (k + 1..plan.stage.len()).filter(|&other| plan.stage[other].after.contains(&k));
    followers.into_iter().any(|other| positions[other].is_some())
}

/// Returns the waves without the first `begun` tasks.
fn after(waves: &[Wave], mut begun: u32) -> Vec<Wave> {
    let mut left = Vec::new();
    for wave in waves {
        let gone = begun.min(wave.tasks);
        begun -= gone;
        if wave.tasks > gone {
            left.push(Wave { tasks: wave.tasks - gone, ..*wave });
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::likeness::LIKE_THE_SAME;
    use crate::fit::observe::ObservedTask;
    use crate::fit::progress::StartedTask;
    use crate::fit::progress::tests::{SyntheticLog, in_the_middle};
    use crate::mapreduce::LawTables;
    use crate::run::{Pace, ResumedRuns, RunMemory};
    use crate::stages::{JobSize, TaskTime, job_of};

    /// A deterministic plan of stages: name, earlier stages, tasks per MB, time of a task.
    fn plan(stages: &[(&str, &[usize], f64, f64)]) -> StagePlan {
        let stage = |&(name, after, per_mb, time_s): &(&str, &[usize], f64, f64)| {
            let time = TaskTime { fixed_s: time_s, ..TaskTime::default() };
            StageSpec {
                name: name.to_owned(),
                after: after.to_vec(),
                tasks: Amount { fixed: 0.0, per_mb },
                distribution: PhaseLaw::Deterministic,
                cold: time,
                warm: time,
                ..StageSpec::default()
            }
        };
        let job = JobSize { input_mb: 10.0, executors: 7, cores: 1, name: "p".into(), ..JobSize::default() };
        StagePlan { job, stage: stages.iter().map(stage).collect(), ..StagePlan::default() }
    }

    /// Two slots, five tasks of 10 s, 12 s after the start: two run for 8 s more, the last one for 10 s; then two tasks of 4 s. The job announces
    /// twice as many tasks as the plan has.
    #[test]
    fn the_rest_of_a_run_without_chance_is_exact() {
        let plan = plan(&[("work at y.py:1", &[], 0.5, 10.0), ("work at y.py:2", &[0], 0.1, 4.0)]);
        let rest = rest_of_run(&in_the_middle().progress(), &plan, None).unwrap();
        assert_eq!((rest.plan.job.executors, rest.positions.clone()), (2, vec![Some(0), Some(1)]));
        assert_eq!(
            rest.shown[0],
            [
                StageEvidence { ended: vec![1.0, 1.0], running: vec![] },
                StageEvidence { ended: vec![], running: vec![0.2, 0.2] }
            ]
        );
        let schedule = ResumedRuns::new(&job_of(&rest.job, &LawTables::default()), rest.states.clone(), rest.end_age_s);
        let pace = Pace { stages: vec![[1.0, 1.0]; 2], driver: 1.0 };
        let run = schedule.unwrap().run([1, 2], 0, &pace, &mut RunMemory::default());
        assert_eq!((run.job_s, run.stages), (22.0, vec![[0.0, 18.0], [18.0, 22.0]]));
        // the number of tasks matches 10 MB, as in the plan
        assert!(rest.notes.is_empty(), "{:?}", rest.notes);
    }

    /// Five tasks of a plan with a quarter of a task per MB: 20 MB, unless stated.
    #[test]
    fn the_input_follows_from_the_number_of_tasks() {
        let plan = plan(&[("work at y.py:1", &[], 0.25, 10.0), ("work at y.py:2", &[0], 0.1, 4.0)]);
        let run = in_the_middle().progress();
        let rest = rest_of_run(&run, &plan, None).unwrap();
        assert_eq!(rest.plan.job.input_mb, 20.0);
        assert!(
            rest.notes[0].contains("assumed to be 20.00 MB, estimated from the 5 tasks of stage 0"),
            "{:?}",
            rest.notes
        );
        assert_eq!(rest_of_run(&run, &plan, Some(InputSize::Times(3.0))).unwrap().plan.job.input_mb, 30.0);
    }

    /// Two stages of the same name: the one with more tasks in the log is the one with more in the plan, although it comes later in the log.
    #[test]
    fn stages_of_one_name_are_told_by_their_tasks() {
        let plan = plan(&[("work", &[], 3.0, 1.0), ("work", &[], 1.0, 2.0), ("work", &[0, 1], 0.1, 4.0)]);
        let mut made = SyntheticLog::new(2);
        let stages: [(u32, u32, &[u32]); 3] = [(0, 4, &[]), (1, 13, &[]), (2, 1, &[0, 1])];
        made.job(0, 0.0, &stages);
        stages[..2].iter().for_each(|stage| made.submit(0.0, *stage));
        let run = made.progress();
        let rest = rest_of_run(&run, &plan, None).unwrap();
        assert_eq!(rest.positions, [Some(1), Some(0), Some(2)]);
        assert_eq!([0, 1, 2].map(|k| rest.job.stages[k].tasks()), [13, 4, 1]);
        // stages that the plan lacks are added to it
        let fewer = StagePlan { stage: plan.stage[..1].to_vec(), ..plan.clone() };
        let rest = rest_of_run(&run, &fewer, None).unwrap();
        assert_eq!(rest.plan.stage.len(), 3);
        assert!(rest.notes.iter().any(|note| note.contains("not in the plan")), "{:?}", rest.notes);
        // none of its stages: another program
        let mut other = plan;
        other.stage.iter_mut().for_each(|stage| stage.name = "rest".to_owned());
        assert!(matches!(rest_of_run(&run, &other, None), Err(FitError::OtherJob { .. })));
    }

    /// Every stage of a PySpark program is `parquet`: operators tell them apart, also where the order or the number of the stages differs, and a stage of
    /// another table is not in the plan.
    #[test]
    fn stages_of_one_name_are_told_by_their_operators() {
        let mut plan = plan(&[("parquet", &[], 1.0, 1.0), ("parquet", &[], 3.0, 2.0)]);
        let scan = |table: &str| vec![format!("Scan parquet {table}"), "Filter".to_owned()];
        (plan.stage[0].operators, plan.stage[1].operators) = (scan("orders"), scan("lines_2025"));
        let mut made = SyntheticLog::new(2);
        made.job(0, 0.0, &[(0, 4, &[]), (1, 13, &[]), (2, 2, &[])]);
        let mut run = made.progress();
        let tables = ["lines_2025", "parts", "orders"].map(scan);
        run.stages.iter_mut().zip(tables).for_each(|(stage, operators)| {
            stage.name = "parquet".to_owned();
            stage.operators = operators;
        });
        let rest = rest_of_run(&run, &plan, None).unwrap();
        assert_eq!(rest.positions, [Some(2), Some(0), Some(1)]);
        // folders named by their size or date are the same table
        run.stages[0].operators = scan("lines_2026");
        run.stages[0].operators.push("Project".to_owned());
        assert_eq!(rest_of_run(&run, &plan, None).unwrap().positions, [Some(2), Some(0), Some(1)]);
    }

    /// The stages before have written 4 MB for each task: tasks take the time of 4 MB, not of the plan's 1 MB.
    #[test]
    fn tasks_read_what_the_stages_before_have_written() {
        let mut plan = plan(&[("work", &[], 1.0, 1.0), ("work", &[0], 1.0, 2.0)]);
        plan.stage[1].data_mb = Amount { fixed: 0.0, per_mb: 1.0 };
        plan.stage[1].cold = TaskTime { fixed_s: 1.0, per_mb_s: 2.0, error: 0.1 };
        let mut made = SyntheticLog::new(2);
        made.job(0, 0.0, &[(0, 4, &[]), (1, 2, &[0])]);
        let mut run = made.progress();
        run.stages[1].task_mb = Some(4.0);
        let rest = rest_of_run(&run, &plan, None).unwrap();
        assert_eq!(rest.whole.stages[1].waves[0].mean_s, 9.0);
    }

    /// A plan of two jobs; the first ended 3 s ago, and its follower is about to be submitted.
    #[test]
    fn stages_of_later_jobs_come_from_the_plan() {
        let plan = plan(&[("work", &[], 0.1, 4.0), ("more work", &[0], 0.2, 1.0)]);
        let mut made = SyntheticLog::new(1);
        made.job(0, 0.0, &[(0, 1, &[])]);
        made.submit(0.0, (0, 1, &[]));
        made.task([0, 0, 0], 0.0, Some((4.0, "Success")));
        made.end_job(0, 4.0);
        made.look(7.0);
        let rest = rest_of_run(&made.progress(), &plan, None).unwrap();
        assert_eq!(rest.positions, [Some(0), None]);
        assert_eq!((rest.states[1].ready_for_s, rest.states[1].is_open), (Some(3.0), false));
        assert_eq!((rest.job.stages[0].tasks(), rest.job.stages[1].tasks()), (0, 2));
    }

    /// Of eight tasks, one of four so far had data: of the four to come, so has one.
    #[test]
    fn tasks_to_come_have_the_share_of_small_ones() {
        let task = |rank: u32, mb: f64, wall_s: f64| ObservedTask { wall_s, cpu_s: None, mb, rank, gpu_s: 0.0 };
        let mut made = SyntheticLog::new(1);
        made.job(0, 0.0, &[(0, 8, &[])]);
        made.submit(0.0, (0, 8, &[]));
        (0..4).for_each(|index| made.task([0, index, 0], f64::from(index), Some((f64::from(index) + 1.0, "Success"))));
        made.look(4.0);
        let mut run = made.progress();
        run.stages[0].ended = vec![task(1, 0.0, 0.2), task(2, 0.0, 0.2), task(3, 30.0, 6.0), task(4, 0.0, 0.2)];
        let rest = rest_by_itself(&run).unwrap();
        let (waves, spec) = (&rest.job.stages[0].waves, &rest.plan.stage[0]);
        assert_eq!((spec.small_tasks, waves.iter().map(|wave| wave.tasks).sum::<u32>()), (6, 4));
        let small = waves.last().unwrap();
        assert!(small.tasks == 3 && (small.mean_s - 0.2).abs() < 0.01, "{waves:?}");
        // the pace comes from the tasks with data
        assert_eq!(rest.shown[0].iter().map(|shown| shown.ended.len()).sum::<usize>(), 1);
    }

    /// The number of tasks to come is the number of waiting tasks, however many run.
    #[test]
    fn running_tasks_are_not_to_come() {
        let ended = |mb: f64| ObservedTask { wall_s: 0.1 + 0.2 * mb, cpu_s: None, mb, rank: 2, gpu_s: 0.0 };
        for (small, full, running) in [(32, 8, 40), (32, 8, 3), (5, 35, 40), (79, 1, 0), (1, 9, 60)] {
            let mut run = in_the_middle().progress();
            let stage = &mut run.stages[0];
            stage.tasks = 80;
            stage.ended = (0..small).map(|_| ended(0.0)).chain((0..full).map(|_| ended(30.0))).collect();
            stage.running = vec![StartedTask { age_s: 0.1, rank: 2 }; running];
            let waiting = stage.waiting();
            let rest = rest_by_itself(&run).unwrap();
            let left: u32 = rest.job.stages[0].waves.iter().map(|wave| wave.tasks).sum();
            assert_eq!(left, waiting, "{small} small, {full} full, {running} running");
        }
    }

    /// Without a plan, the finished tasks determine the times of the rest; the stage that is only announced is assumed to be similar, with a wide
    /// error.
    #[test]
    fn a_run_without_a_plan_is_extrapolated_from_itself() {
        let rest = rest_by_itself(&in_the_middle().progress()).unwrap();
        let stage = &rest.whole.stages[0];
        assert_eq!((rest.job.stages[0].tasks(), stage.tasks()), (1, 5));
        assert!((stage.waves[0].mean_s - 10.0).abs() < 0.01, "{stage:?}");
        let to_come = &rest.plan.stage[1];
        assert!(
            (to_come.cold.at(0.0) - LIKE_THE_SAME.0 * 10.0).abs() < 0.01 && to_come.cold.error == LIKE_THE_SAME.1,
            "{to_come:?}"
        );
        assert_eq!(
            rest.notes,
            ["stage 1: no task has finished; times come from other stages of this run, with wider intervals"]
        );
    }
}
