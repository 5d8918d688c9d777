//! Number of tasks that could run simultaneously.

use crate::trace::attempt::Attempt;
use crate::trace::ids::ApplicationId;
use crate::trace::job_trace::JobTrace;

/// Number of tasks that can run simultaneously.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// Number.
    pub count: u64,
    /// True if the log states the cores; otherwise the number is the observed maximum of simultaneous attempts, a lower
    /// bound.
    pub stated: bool,
}

/// Returns the maximum number of overlapping spans; an end at the same time as a start comes first.
pub fn most_at_once(spans: impl Iterator<Item = (i64, i64)>, weight: impl Fn(usize) -> i64) -> i64 {
    let mut steps: Vec<(i64, i64)> = Vec::new();
    for (i, (from, to)) in spans.enumerate() {
        // a span of length zero exists for a moment
        steps.push((from, weight(i)));
        steps.push((to.max(from.saturating_add(1)), -weight(i)));
    }
    steps.sort_unstable();
    let mut now = 0;
    let mut most = 0;
    for (_, step) in steps {
        now += step;
        most = most.max(now);
    }
    most
}

/// Spark launches the next task of a core some milliseconds before it records the end of the previous task \[µs\].
const OVERLAP: i64 = 20_000;

/// Returns the slots of an application: the maximum number of executor cores at one time, divided by the cores of a
/// task. If the log lacks the cores of an executor that ran tasks, the maximum number of simultaneous attempts, without
/// overlaps of up to 20 ms.
pub fn slots_of(trace: &JobTrace, application: ApplicationId) -> Slots {
    let executors: Vec<_> = trace.executors.iter().filter(|e| e.application == application).collect();
    let attempts = trace.attempts_of_application(application);
    let is_known = |attempt: &Attempt| trace.executor_of(attempt).is_some_and(|executor| executor.cores.is_some());
    if !attempts.is_empty() && attempts.iter().all(is_known) {
        let spans = executors.iter().map(|executor| {
            let from = executor.added.map_or(i64::MIN / 2, |time| time.microseconds());
            (from, executor.removed.map_or(i64::MAX / 2, |time| time.microseconds()))
        });
        let slots = |i: usize| trace.slots_of_executor(executors[i]).unwrap_or(0).into();
        let count = u64::try_from(most_at_once(spans, slots)).unwrap_or(0);
        if count > 0 {
            return Slots { count, stated: true };
        }
    }
    Slots { count: most_attempts_at_once(attempts), stated: false }
}

/// Returns the maximum number of simultaneous attempts, without overlaps of up to 20 ms.
pub fn most_attempts_at_once(attempts: &[Attempt]) -> u64 {
    let runs = attempts.iter().filter_map(|attempt| {
        Some((attempt.launch()?.microseconds(), attempt.finish()?.microseconds().saturating_sub(OVERLAP)))
    });
    u64::try_from(most_at_once(runs, |_| 1)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_are_counted() {
        let most = |spans: &[(i64, i64)]| most_at_once(spans.iter().copied(), |_| 1);
        assert_eq!(most(&[(0, 10), (5, 15), (10, 20)]), 2);
        assert_eq!(most(&[(0, 10), (5, 15), (9, 20)]), 3);
        assert_eq!(most(&[(3, 3), (3, 3)]), 2);
        assert_eq!(most(&[]), 0);
        assert_eq!(most_at_once([(0, 10), (5, 15)].into_iter(), |i| [4, 8][i]), 12);
    }
}
