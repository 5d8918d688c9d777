//! The number of tasks of a stage and the data they read at another size of the input.

use crate::fit::observe::{ObservedRun, ObservedStage, ObservedTask};
use crate::stages::Amount;

/// A task with less than this share of the largest task's data is small: it reads a split of a few bytes.
const SMALL: f64 = 0.05;
/// If the largest task has less data than this \[MB\], no task counts as small: the data are too few to matter.
const LARGE_ENOUGH: f64 = 0.5;
/// Input sizes that differ by less than this share count as equal.
const SAME: f64 = 0.02;

/// Numbers of tasks and amounts of data by the job's input.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scaling {
    pub(super) tasks: Amount,
    pub(super) data_mb: Amount,
    pub(super) small_tasks: u32,
    pub(super) small_mb: f64,
    pub(super) partitions: bool,
    /// Mean data of a full task \[MB\].
    pub(super) task_mb: f64,
    /// Assumption about the number of tasks, if all logs have one size of input.
    pub(super) assumed: Option<&'static str>,
}

/// Observations of one stage in one run.
struct StageObservation {
    input_mb: f64,
    full: f64,
    small: f64,
    full_mb: f64,
    small_mb: f64,
}

/// Selects the tasks of a stage that have hardly any data compared with other tasks.
pub(super) fn small_tasks(tasks: &[ObservedTask]) -> impl Fn(&ObservedTask) -> bool + use<> {
    let most = tasks.iter().map(|task| task.mb).fold(0.0, f64::max);
    move |task| most >= LARGE_ENOUGH && task.mb < SMALL * most
}

fn seen(run: &ObservedRun, stage: &ObservedStage) -> StageObservation {
    let is_small = small_tasks(&stage.tasks);
    let is_small = |task: &&ObservedTask| is_small(task);
    let (small, full): (Vec<&ObservedTask>, Vec<&ObservedTask>) = stage.tasks.iter().partition(is_small);
    let sum = |tasks: &[&ObservedTask]| tasks.iter().map(|task| task.mb).sum::<f64>();
    StageObservation {
        input_mb: run.input_mb,
        full: full.len() as f64,
        small: small.len() as f64,
        full_mb: sum(&full),
        small_mb: sum(&small),
    }
}

/// Returns the scaling of stage `i`, the same stage in all runs.
pub(super) fn scaling(runs: &[ObservedRun], i: usize) -> Scaling {
    // a run of another size may not have the stage
    let runs: Vec<&ObservedRun> = runs.iter().filter(|run| !run.stages[i].tasks.is_empty()).collect();
    let seen: Vec<StageObservation> = runs.iter().map(|run| seen(run, &run.stages[i])).collect();
    let mean = |value: &dyn Fn(&StageObservation) -> f64| seen.iter().map(value).sum::<f64>() / seen.len() as f64;
    let small = mean(&|s| s.small);
    let all_small: f64 = seen.iter().map(|s| s.small).sum();
    let partitions = runs.iter().zip(&seen).all(|(run, s)| {
        !run.stages[i].reads_input
            && s.small == 0.0
            && run.partitions.is_some_and(|p| (f64::from(p) - s.full).abs() < 0.5)
    });
    let inputs = || seen.iter().map(|s| s.input_mb);
    let (least, most) = (inputs().fold(f64::INFINITY, f64::min), inputs().fold(0.0, f64::max));
    let (tasks, data_mb, assumed) = if most > least * (1.0 + SAME) {
        let tasks = seen.iter().map(|s| (s.input_mb, s.full)).collect::<Vec<_>>();
        let data = seen.iter().map(|s| (s.input_mb, s.full_mb)).collect::<Vec<_>>();
        (growth(&tasks), growth(&data), None)
    } else {
        of_one_size(&runs, i, partitions, mean(&|s| s.full), mean(&|s| s.full_mb), mean(&|s| s.input_mb))
    };
    Scaling {
        tasks,
        data_mb,
        small_tasks: small.round() as u32,
        small_mb: if all_small > 0.0 { seen.iter().map(|s| s.small_mb).sum::<f64>() / all_small } else { 0.0 },
        partitions,
        task_mb: seen.iter().map(|s| s.full_mb).sum::<f64>() / seen.iter().map(|s| s.full).sum::<f64>().max(1.0),
        assumed,
    }
}

/// Returns the scaling assumed if all logs have the same input size.
fn of_one_size(
    runs: &[&ObservedRun],
    i: usize,
    partitions: bool,
    full: f64,
    full_mb: f64,
    input: f64,
) -> (Amount, Amount, Option<&'static str>) {
    let stage = &runs[0].stages[i];
    let with_input = |amount: f64| Amount { fixed: 0.0, per_mb: amount / input };
    let fixed = |amount: f64| Amount { fixed: amount, per_mb: 0.0 };
    if stage.reads_input {
        return (with_input(full), with_input(full_mb), None);
    }
    let parents = stage.after.iter().map(|&k| runs[0].stages[k].tasks.len());
    let like_parent = stage.tasks.len() > 1 && !partitions && parents.clone().any(|tasks| tasks == stage.tasks.len());
    let (tasks, how) = if like_parent {
        (with_input(full), "to grow with the input, like that of the previous stage")
    } else {
        (fixed(full), "not to depend on the input")
    };
    (tasks, with_input(full_mb), Some(how))
}

/// Returns the least-squares line through (input, amount) that neither falls nor becomes negative at the observed inputs.
fn growth(points: &[(f64, f64)]) -> Amount {
    let n = points.len() as f64;
    let (mx, my) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let sxx: f64 = points.iter().map(|p| (p.0 - mx) * (p.0 - mx)).sum();
    let sxy: f64 = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    let per_mb = (sxy / sxx).max(0.0);
    // an intercept within the noise of counting is set to 0
    let per_mb = if per_mb * mx < 1e-6 * my { 0.0 } else { per_mb };
    let fixed = my - per_mb * mx;
    Amount { fixed: if fixed.abs() < 1e-9 * my.abs() { 0.0 } else { fixed }, per_mb }
}
