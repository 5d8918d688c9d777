//! The slowdown of executors that share a host, from runs with different numbers of executors.
//!
//! Three kinds of time grow with the load of a host: the start-up time of executors, the warm-up time of tasks, and the
//! CPU time of steady tasks. Each grows in proportion to a power of the load. The warm-up time is the extra time of the
//! first task of a slot, and of the following tasks until the steady time. Each run of a program gives one ratio: the
//! time of the run divided by the time of the program's model. The powers are the slopes of the logarithms of these
//! ratios over the logarithms of the load, with a separate level for each program. Runs of other programs on the same
//! cluster count equally. Without suitable runs, the power is assumed: halfway between no effect and proportionality, ±
//! 0.5.

use crate::fit::observe::ObservedRun;
use crate::fit::tail::MOST_RATIO;
use crate::fit::task_time::{Row, Times};
use crate::stages::planned::slowness;
use crate::stages::{Power, RunSpread, Sharing};

/// The assumed power without runs at different loads, and its standard deviation.
const ASSUMED: (f64, f64) = (0.5, 0.5);

/// Evidence from runs for a power: sums of squares and products around each program's level, divided by the variance between runs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Evidence {
    xx: f64,
    xy: f64,
}

impl Evidence {
    /// Builds the evidence from (logarithm of the load, logarithm of the ratio) of each run of a program.
    pub(super) fn of(points: &[(f64, f64)]) -> Self {
        let n = points.len() as f64;
        let mean = |part: fn(&(f64, f64)) -> f64| points.iter().map(part).sum::<f64>() / n;
        let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
        let sigma = RunSpread::default().sigma;
        let sum = |part: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(part).sum::<f64>() / (sigma * sigma);
        Self { xx: sum(&|p| (p.0 - mx) * (p.0 - mx)), xy: sum(&|p| (p.0 - mx) * (p.1 - my)) }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self { xx: self.xx + other.xx, xy: self.xy + other.xy }
    }

    /// Returns the power and its standard error: the mean of the runs' estimate and the assumed value, weighted by their precision.
    pub(super) fn power(self) -> Power {
        let precision = self.xx + 1.0 / (ASSUMED.1 * ASSUMED.1);
        let power = (self.xy + ASSUMED.0 / (ASSUMED.1 * ASSUMED.1)) / precision;
        Power { power: power.clamp(-1.0, 2.0), error: precision.recip().sqrt() }
    }
}

/// Evidence from the runs of one program for the three powers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SharingEvidence {
    pub(super) start: Evidence,
    pub(super) warm_up: Evidence,
    pub(super) steady: Evidence,
}

impl SharingEvidence {
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            start: self.start.and(other.start),
            warm_up: self.warm_up.and(other.warm_up),
            steady: self.steady.and(other.steady),
        }
    }
}

/// Returns the executors per host, and the tasks that run on a host at a time.
pub(super) fn load(run: &ObservedRun) -> (f64, f64) {
    let executors = f64::from(run.executors) / f64::from(run.hosts.max(1));
    (executors, executors * f64::from(run.cores))
}

/// Returns the load at which a program's times hold, as the geometric mean over its runs: executors per host, and tasks per host.
pub(super) fn usual_load(runs: &[ObservedRun]) -> (f64, f64) {
    let mean = |part: fn((f64, f64)) -> f64| {
        (runs.iter().map(|run| part(load(run)).ln()).sum::<f64>() / runs.len() as f64).exp()
    };
    (mean(|load| load.0), mean(|load| load.1))
}

/// Factors by which the times of a run differ from the times at the usual load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slower {
    pub(super) warm_up: f64,
    pub(super) steady: f64,
}

impl Slower {
    pub(super) fn of(run: &ObservedRun, sharing: &Sharing) -> Self {
        let ratio = load(run).1 / sharing.slots_per_host;
        Self { warm_up: ratio.powf(sharing.warm_up.power), steady: ratio.powf(sharing.steady.power) }
    }

    /// Returns the model's time of a task in a run.
    pub(super) fn time(self, times: &Times, mb: f64, rank: u32) -> f64 {
        let (end, excess) = parts(times, mb, rank);
        end * (1.0 - times.busy + times.busy * self.steady) + excess * self.warm_up
    }
}

/// Returns the steady part of a task's time at the usual load of a host, and the extra time of first tasks.
fn parts(times: &Times, mb: f64, rank: u32) -> (f64, f64) {
    let warm = times.warm.at(mb);
    if rank < 2 {
        let cold = times.cold.at(mb);
        (warm.min(cold), (cold - warm).max(0.0))
    } else {
        (warm, warm * (slowness(times.warming, rank) - 1.0))
    }
}

/// Returns the evidence from the runs of one program for the three powers of the load. `times` are the program's task
/// times without the effect of the load.
pub(super) fn told(runs: &[ObservedRun], times: &[Times]) -> SharingEvidence {
    let late = runs.iter().filter(|run| run.start_s > 0.0);
    let start: Vec<(f64, f64)> = late.map(|run| (load(run).0.ln(), run.start_s.ln())).collect();
    let warm_up: Vec<(f64, f64)> =
        runs.iter().filter_map(|run| Some((load(run).1.ln(), warm_up_ratio(run, times)?.ln()))).collect();
    let warm_up = Evidence::of(&warm_up);
    let power = warm_up.power().power;
    let usual = usual_load(runs).1;
    let steady: Vec<(f64, f64)> = runs
        .iter()
        .filter_map(|run| {
            let (ratio, busy) = steady_ratio(run, times, (load(run).1 / usual).powf(power))?;
            Some((load(run).1.ln() * busy, ratio.ln()))
        })
        .collect();
    SharingEvidence { start: Evidence::of(&start), warm_up, steady: Evidence::of(&steady) }
}

/// Returns the extra time of the first tasks of a run compared with steady tasks, divided by the model's extra time.
/// None if the model has no extra time.
fn warm_up_ratio(run: &ObservedRun, times: &[Times]) -> Option<f64> {
    let (mut seen, mut model) = (0.0, 0.0);
    for (stage, times) in run.stages.iter().zip(times) {
        for task in stage.tasks.iter().filter(|task| task.rank < 2 && times.saw_warm) {
            let (end, excess) = parts(times, task.mb, 1);
            seen += (task.wall_s - end).min(MOST_RATIO * excess);
            model += excess;
        }
    }
    (seen > 0.0 && model > 0.0).then(|| seen / model)
}

/// Returns the time of the later tasks of a run divided by the model's time, and the share of CPU time in it.
fn steady_ratio(run: &ObservedRun, times: &[Times], warm_up: f64) -> Option<(f64, f64)> {
    let (mut seen, mut model, mut busy) = (0.0, 0.0, 0.0);
    for (stage, times) in run.stages.iter().zip(times) {
        for task in stage.tasks.iter().filter(|task| task.rank > 1) {
            let (end, excess) = parts(times, task.mb, task.rank);
            let mean = end + excess * warm_up;
            seen += task.wall_s.min(MOST_RATIO * mean);
            model += mean;
            busy += end * times.busy;
        }
    }
    (model > 0.0).then(|| (seen / model, busy / model))
}

/// Returns a task's time at the usual load.
pub(super) fn at_usual_load(row: Row, times: &Times, slower: Slower) -> Row {
    let usual = Slower { warm_up: 1.0, steady: 1.0 };
    let ratio = usual.time(times, row.mb, row.rank) / slower.time(times, row.mb, row.rank);
    Row { wall: row.wall * ratio, ..row }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two programs, each with its own level, on one, two and four executors per host: times in proportion to the load.
    #[test]
    fn powers_are_slopes_with_a_level_for_each_program() {
        let points = |level: f64| [1.0, 2.0, 4.0_f64].map(|load| (load.ln(), level + load.ln()));
        let one = Evidence::of(&points(0.3));
        let both = one.and(Evidence::of(&points(-2.0)));
        // least squares: Σ(x - mean)² = 2 ln² 2 each, over a variance of 0.15²; the assumed value is 0.5 with a variance of 0.25
        let precision = |programs: f64| programs * 2.0 * std::f64::consts::LN_2.powi(2) / 0.0225;
        for (found, programs) in [(one.power(), 1.0), (both.power(), 2.0)] {
            let expected = (precision(programs) + 0.5 * 4.0) / (precision(programs) + 4.0);
            assert!((found.power - expected).abs() < 1e-12, "{found:?} {expected}");
            assert!((found.error - (precision(programs) + 4.0).sqrt().recip()).abs() < 1e-12);
        }
    }

    #[test]
    fn a_power_without_evidence_is_assumed() {
        let none = Evidence::of(&[]).and(Evidence::of(&[(0.7, 3.0), (0.7, 3.5)])).power();
        assert_eq!((none.power, none.error), ASSUMED);
    }
}
