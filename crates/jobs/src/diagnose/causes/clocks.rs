//! Check of a node's sample clock against the clock of the log: the node must be busy when tasks ran on it.

use crate::diagnose::causes::feature::Feature;
use crate::diagnose::causes::nodes::NodeMeters;

/// Correction that would make samples and tasks agree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockHint {
    /// Seconds to add to the samples' times.
    pub offset: f64,
    /// Correlation of tasks and CPU use with that offset.
    pub correlation: f64,
    /// Correlation without an offset.
    pub now: f64,
}

/// Largest offset tried \[s\]; for clocks that are farther apart, the samples miss the job.
const FARTHEST: i32 = 600;
/// Smallest offset reported \[s\].
const LEAST: i32 = 2;
/// Required correlation with the offset.
const GOOD: f64 = 0.6;
/// Required gain of the correlation with the offset over the correlation without an offset.
const BETTER: f64 = 0.25;
/// Minimum number of seconds compared.
const FEWEST: usize = 30;
/// Maximum number of seconds compared.
const MOST: usize = 4_000;

/// Searches for the offset of the samples' clock. With this offset, the number of tasks on the node correlates best with
/// the CPU use of the node, second by second. None if the samples are already aligned, match no offset, or are too few.
///
/// Approximate, and only a hint: no clock is shifted automatically.
pub fn clock_hint(tasks: &[(f64, f64)], node: &NodeMeters) -> Option<ClockHint> {
    let (begin, end) = node.span()?;
    let first = tasks.iter().map(|task| task.0).fold(f64::INFINITY, f64::min).min(begin);
    let last = tasks.iter().map(|task| task.1).fold(f64::NEG_INFINITY, f64::max).max(end);
    if tasks.is_empty() || last <= first || last - first > MOST as f64 {
        return None;
    }
    let seconds = (last - first).ceil() as usize;
    let at = |i: usize| first + i as f64;
    let busy: Vec<Option<f64>> =
        (0..seconds).map(|i| node.over(Feature::Cpu, at(i), at(i + 1)).map(|over| over.mean)).collect();
    let mut running = vec![0.0; seconds];
    for &(from, to) in tasks {
        let range = ((from - first).max(0.0) as usize)..((to - first).ceil().max(0.0) as usize).min(seconds);
        for (i, value) in running.iter_mut().enumerate().take(range.end).skip(range.start) {
            *value += (to.min(at(i + 1)) - from.max(at(i))).max(0.0);
        }
    }
    let fit = |offset: i32| {
        let pairs = (0..seconds).filter_map(|i| {
            let shifted = i64::try_from(i).ok()? + i64::from(offset);
            let work = usize::try_from(shifted).ok().and_then(|i| running.get(i)).copied().unwrap_or(0.0);
            Some((busy[i]?, work))
        });
        correlation(&pairs.collect::<Vec<_>>())
    };
    let now = fit(0)?;
    let best = (-FARTHEST..=FARTHEST).filter_map(|offset| Some((offset, fit(offset)?)));
    let (offset, best) = best.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.abs().cmp(&a.0.abs())))?;
    let told = offset.abs() >= LEAST && best >= GOOD && best >= now + BETTER;
    told.then(|| ClockHint { offset: f64::from(offset), correlation: best, now })
}

fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < FEWEST {
        return None;
    }
    let count = pairs.len() as f64;
    let mean = pairs.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0 / count, sum.1 + pair.1 / count));
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for pair in pairs {
        let (x, y) = (pair.0 - mean.0, pair.1 - mean.1);
        xy += x * y;
        xx += x * x;
        yy += y * y;
    }
    // no task in range: nothing fits
    Some(if xx > 0.0 && yy > 0.0 { xy / (xx * yy).sqrt() } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::samples::{Meter, Sample, Series};

    /// A node that is busy while tasks run, with a clock `late` seconds behind.
    fn node(tasks: &[(f64, f64)], late: f64) -> NodeMeters {
        let busy = |t: f64| if tasks.iter().any(|task| task.0 <= t && t < task.1) { 0.9 } else { 0.1 };
        let sample =
            |i: i32| Sample { from: f64::from(i), to: f64::from(i + 1), value: busy(f64::from(i) + 0.5 + late) };
        let samples = (0..200).map(sample).collect();
        let series = Series { host: "a".into(), device: "all".into(), meter: Meter::CpuBusy, samples };
        NodeMeters { cpu: vec![series], ..NodeMeters::default() }
    }

    #[test]
    fn an_offset_is_found_and_agreement_is_left_alone() {
        let tasks = [(20.0, 31.0), (33.0, 60.0), (80.0, 87.0), (120.0, 160.0)];
        assert_eq!(clock_hint(&tasks, &node(&tasks, 0.0)), None);
        for late in [-20.0, 7.0, 15.0] {
            let hint = clock_hint(&tasks, &node(&tasks, late)).unwrap();
            assert_eq!(hint.offset, late);
            assert!(hint.correlation > 0.95 && hint.now < 0.7, "{hint:?}");
        }
    }

    #[test]
    fn too_little_to_compare_gives_no_hint() {
        assert_eq!(clock_hint(&[], &node(&[], 0.0)), None);
        assert_eq!(clock_hint(&[(0.0, 5.0)], &NodeMeters::default()), None);
    }
}
