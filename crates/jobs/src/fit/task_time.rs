//! The time of a stage's tasks: the cold first tasks of each slot, the steady tasks, and the speed of the transition.
//!
//! The slow-down κ of a slot's second task relative to the steady tasks is only observable if slots ran three or more
//! tasks. Otherwise, CPU time is an indication: a task whose wall time is far above its CPU time was delayed by warm-up
//! activity, above all by the compiler's threads. So ln(1 + κ) has a normal prior, which the tasks then update. The
//! mean of the prior is ln(wall / CPU time), at least 0, and its standard deviation is 0.25. (A steady task waits for
//! more than its CPU. But while a task warms up, its CPU time falls too.) If the log has no CPU times, the prior mean
//! is 0.

use crate::fit::line::{Line, line, loss, median, scale};
use crate::stages::planned::slowness;

/// Standard deviation of ln(1 + κ) around its prior mean.
const PRIOR_SPREAD: f64 = 0.25;
/// Standard deviation of a task's logarithm in the search for κ.
const TASK_SPREAD: f64 = 0.2;
/// Largest κ tried.
const MOST_WARMING: f64 = 4.0;
/// Number of values of κ tried: equal steps of ln(1 + κ).
const STEPS: u32 = 60;
/// A warm task that takes at least this multiple of a cold task's time was delayed by another cause.
const HELD_UP: f64 = 2.0;
/// Below this share of CPU time a task waits for another resource, or computes in another process, such as Python's.
const LEAST_BUSY: f64 = 0.15;
/// Share of a cold task's time assumed for a warm task if no slot ran a second task and there are no CPU times.
const WARM_SHARE: f64 = 0.4;

/// One task, its time divided by its run's factor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) wall: f64,
    pub(super) cpu: Option<f64>,
    pub(super) mb: f64,
    pub(super) rank: u32,
    /// True if the task has hardly any data compared with other tasks of its stage.
    pub(super) small: bool,
}

/// The fitted times of a stage.
#[derive(Clone, Debug)]
pub(super) struct Times {
    pub(super) cold: Line,
    pub(super) warm: Line,
    pub(super) warming: f64,
    /// Remaining standard deviation of ln(1 + κ).
    pub(super) warming_error: f64,
    /// Number of warm tasks excluded as delayed.
    pub(super) held_up: usize,
    /// True if any slot ran a second task with its share of the data.
    pub(super) saw_warm: bool,
    /// Share of CPU time in the time of later tasks, 0 to 1; if no slot ran a later task, in the time of all tasks.
    pub(super) busy: f64,
}

impl Times {
    /// Returns the model's time of a task.
    pub(super) fn of(&self, mb: f64, rank: u32) -> f64 {
        if rank < 2 { self.cold.at(mb) } else { self.warm.at(mb) * slowness(self.warming, rank) }
    }
}

/// Fits the times of a stage; there is at least one task.
pub(super) fn fit_times(rows: &[Row]) -> Times {
    let points = |rows: &mut dyn Iterator<Item = &Row>| rows.map(|row| (row.mb, row.wall)).collect::<Vec<_>>();
    let cold = line(&points(&mut rows.iter().filter(|row| row.rank < 2)));
    let later: Vec<Row> = rows.iter().filter(|row| row.rank >= 2).copied().collect();
    // first tasks with hardly any data say nothing about tasks with data
    let saw_full = rows.iter().any(|row| row.rank < 2 && !row.small);
    let is_calm = |row: &&Row| !saw_full || row.wall <= HELD_UP * cold.at(row.mb);
    let calm: Vec<Row> = later.iter().filter(is_calm).copied().collect();
    let held_up = later.len() - calm.len();
    if calm.iter().all(|row| row.small) {
        return from_cold(rows, cold, held_up);
    }
    let busy = busy(&calm);
    let prior = if busy < LEAST_BUSY { 0.0 } else { slow_by_cpu(&calm).ln() };
    let all: f64 = calm.iter().map(|row| row.wall).sum();
    // tasks are weighted by their time, so that tasks with splits of a few bytes do not dominate
    let share = |row: &Row| row.wall * calm.len() as f64 / all;
    let tried = (0..=STEPS).map(|i| {
        let log = f64::from(i) / f64::from(STEPS) * MOST_WARMING.ln_1p();
        let warming = log.exp_m1();
        let warm = steady(&calm, warming);
        let residual = |row: &Row| (row.wall / (warm.at(row.mb) * slowness(warming, row.rank))).ln();
        let misfit: f64 = calm.iter().map(|row| loss(residual(row) * share(row).sqrt(), TASK_SPREAD)).sum();
        let off = (log - prior) / PRIOR_SPREAD;
        (misfit + 0.5 * off * off, log, warm)
    });
    let tried: Vec<_> = tried.collect();
    let Some(&(least, log, warm)) = tried.iter().min_by(|a, b| a.0.total_cmp(&b.0)) else {
        return from_cold(rows, cold, held_up);
    };
    let weights: f64 = tried.iter().map(|t| (least - t.0).exp()).sum();
    let square = tried.iter().map(|t| (least - t.0).exp() * (t.1 - log) * (t.1 - log)).sum::<f64>() / weights;
    let full_mb = median(calm.iter().filter(|row| !row.small).map(|row| row.mb));
    let warm = through_small(warm, &calm, log.exp_m1(), full_mb);
    let cold = if saw_full { cold } else { Line { slope: warm.slope, ..cold } };
    Times { cold, warm, warming: log.exp_m1(), warming_error: square.sqrt(), held_up, saw_warm: true, busy }
}

/// Returns the times of a stage in which no slot ran a second task: later tasks are assumed to need the observed CPU time. Tasks with hardly any data
/// only determine the part that does not grow with the data.
fn from_cold(rows: &[Row], cold: Line, held_up: usize) -> Times {
    let first: Vec<Row> = rows.iter().filter(|row| row.rank < 2).copied().collect();
    let told = 1.0 / slow_by_cpu(&first);
    let is_told = first.iter().any(|row| row.cpu.is_some()) && told >= LEAST_BUSY;
    let share = if is_told { told } else { WARM_SHARE };
    let warm = Line { fixed: cold.fixed * share, slope: cold.slope * share };
    let full_mb = median(first.iter().filter(|row| !row.small).map(|row| row.mb));
    let warm = through_small(warm, rows, 0.0, full_mb);
    Times { cold, warm, warming: 0.0, warming_error: 0.5, held_up, saw_warm: false, busy: busy(&first) }
}

/// Returns the warm times with the fixed part that the tasks with hardly any data show, and the same time at `full_mb`. A line through tasks of two
/// sizes has no other use for the small ones: they are too short to have a weight in it.
fn through_small(warm: Line, rows: &[Row], warming: f64, full_mb: f64) -> Line {
    let small = rows.iter().filter(|row| row.small && row.rank >= 2);
    let walls: Vec<f64> = small.map(|row| row.wall / slowness(warming, row.rank)).collect();
    if walls.is_empty() || full_mb <= 0.0 {
        return warm;
    }
    let fixed = median(walls).min(warm.at(full_mb));
    Line { fixed, slope: (warm.at(full_mb) - fixed) / full_mb }
}

/// Returns the share of CPU time; 1 if unknown.
fn busy(rows: &[Row]) -> f64 {
    1.0 / slow_by_cpu(rows)
}

/// Returns the best-fitting steady times for a given κ.
fn steady(rows: &[Row], warming: f64) -> Line {
    line(&rows.iter().map(|row| (row.mb, row.wall / slowness(warming, row.rank))).collect::<Vec<_>>())
}

/// Returns the factor by which tasks are slower than their CPU time suggests, at least 1; 1 if unknown.
fn slow_by_cpu(rows: &[Row]) -> f64 {
    let known = rows.iter().filter_map(|row| Some((row.wall, row.cpu.filter(|cpu| *cpu > 0.0)?)));
    let (wall, cpu) = known.fold((0.0, 0.0), |sum, (wall, cpu)| (sum.0 + wall, sum.1 + cpu));
    if cpu > 0.0 { (wall / cpu).max(1.0) } else { 1.0 }
}

/// Returns the relative standard errors of cold and warm times, leaving out every tenth task in turn (the jackknife \[Efron1982\]).
pub(super) fn errors(rows: &[Row], fitted: &Times, mb: f64) -> (f64, f64) {
    const GROUPS: usize = 10;
    let groups = GROUPS.min(rows.len());
    let (mut cold, mut warm) = (Vec::new(), Vec::new());
    for group in 0..groups {
        let kept: Vec<Row> =
            rows.iter().enumerate().filter(|(i, _)| i % groups != group).map(|(_, row)| *row).collect();
        if kept.iter().any(|row| row.rank < 2) {
            let times = fit_times(&kept);
            cold.push((times.cold.at(mb) / fitted.cold.at(mb)).ln());
            if times.saw_warm {
                warm.push((times.warm.at(mb) / fitted.warm.at(mb)).ln());
            }
        }
    }
    let jackknife = |logs: &[f64]| {
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        (logs.iter().map(|log| (log - mean) * (log - mean)).sum::<f64>() * (n - 1.0) / n).sqrt()
    };
    // with too few tasks to leave some out, the spread of one task is all that is known
    let residuals: Vec<f64> = rows.iter().map(|row| (row.wall / fitted.of(row.mb, row.rank)).ln()).collect();
    let alone = scale(&residuals).max(TASK_SPREAD);
    let cold = if cold.len() < 3 { alone } else { jackknife(&cold) };
    let warm = if warm.len() < 3 { alone } else { jackknife(&warm) };
    (cold, warm.hypot(fitted.warming_error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten cold tasks, half of them 5% above and half 5% below 1 s in their logarithms: too close for Huber's weights to matter, so the level is the
    /// mean of the logarithms, with jackknife error s / sqrt(10) and s^2 = 10 * 0.0025 / 9. Fails without the factor n - 1.
    #[test]
    fn the_jackknife_of_a_mean_is_its_standard_error() {
        let log = |i: usize| if i.is_multiple_of(2) { 0.05 } else { -0.05_f64 };
        let rows: Vec<Row> =
            (0..10).map(|i| Row { wall: log(i).exp(), cpu: None, mb: 1.0, rank: 1, small: false }).collect();
        let fitted = fit_times(&rows);
        assert!((fitted.cold.fixed - 1.0).abs() < 1e-9 && !fitted.saw_warm, "{fitted:?}");
        let (cold, _) = errors(&rows, &fitted, 1.0);
        assert!((cold - (0.0025_f64 / 9.0).sqrt()).abs() < 1e-9, "{cold}");
    }
}
