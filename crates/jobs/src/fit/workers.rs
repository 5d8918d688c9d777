//! The executors of a run: their number at a time, their hosts, their start times, and the times at which
//! slots were free for a stage.

use std::collections::BTreeSet;

use crate::trace::analysis::{most_at_once, most_attempts_at_once};
use crate::trace::{ApplicationId, Attempt, ExecutorId, JobTrace, Moment};

/// A task may be launched this long before the log records the end of the task whose slot it takes \[µs\].
const OVERLAP: i64 = 20_000;
/// An executor that runs more than this multiple of the tasks that its stated cores allow has more slots than stated.
const MORE: f64 = 1.2;

/// The executors that ran tasks of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Workers {
    /// Maximum number of simultaneous executors.
    pub(super) executors: u32,
    /// Tasks that one executor runs at a time.
    pub(super) cores: u32,
    /// Hosts that the executors ran on.
    pub(super) hosts: u32,
}

pub(super) fn workers_of(trace: &JobTrace, id: ApplicationId) -> Workers {
    let used: BTreeSet<ExecutorId> = trace.attempts().iter().filter_map(|attempt| attempt.executor).collect();
    let known: Vec<_> = used.iter().filter_map(|id| trace.executors.get(id.index())).collect();
    let spans = known.iter().map(|executor| {
        let from = executor.added.map_or(i64::MIN / 2, Moment::microseconds);
        (from, executor.removed.map_or(i64::MAX / 2, Moment::microseconds))
    });
    let whole = |count: i64| u32::try_from(count).unwrap_or(u32::MAX).max(1);
    let executors = whole(most_at_once(spans, |_| 1));
    let hosts = known.iter().filter_map(|executor| executor.node).collect::<BTreeSet<_>>().len();
    let stated = known.iter().filter_map(|executor| trace.slots_of_executor(executor)).max();
    let seen = || {
        let most = most_attempts_at_once(trace.attempts_of_application(id));
        u32::try_from(most).unwrap_or(u32::MAX).div_ceil(executors)
    };
    let cores = match stated.map(|cores| cores.max(1)) {
        // tasks that ran simultaneously had slots, whatever the log states
        Some(cores) if f64::from(cores) * MORE > at_once(trace, &used) => cores,
        stated => stated.unwrap_or(1).max(seen()),
    };
    Workers { executors, cores, hosts: whole(hosts as i64).min(executors) }
}

/// Returns how many executors an application had: from each time \[s\] after `start` on, in ascending order up to `end`; the first time is 0.
pub(super) fn executors_over_time(trace: &JobTrace, id: ApplicationId, start: Moment, end: Moment) -> Vec<[f64; 2]> {
    let since = |moment: Moment| moment.max(start).seconds_since(start);
    let own = trace.executors.iter().filter(|executor| executor.application == id);
    let own = own.filter(|executor| executor.removed.is_none_or(|removed| removed > start));
    let mut changes: Vec<(f64, f64)> = Vec::new();
    for executor in own {
        changes.push((executor.added.map_or(0.0, since), 1.0));
        changes.extend(executor.removed.map(|removed| (since(removed), -1.0)));
    }
    changes.retain(|(at_s, _)| *at_s < since(end));
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut steps = vec![[0.0, 0.0]];
    for (at_s, change) in changes {
        let [last_s, count] = steps[steps.len() - 1];
        if at_s > last_s {
            steps.push([at_s, count + change]);
        } else {
            let last = steps.len() - 1;
            steps[last][1] += change;
        }
    }
    steps
}

/// Returns the mean number of simultaneous tasks of the executor with the greatest such mean. Times at which an executor
/// ran no task do not count.
fn at_once(trace: &JobTrace, used: &BTreeSet<ExecutorId>) -> f64 {
    let of_executor = |id: &ExecutorId| {
        let attempts = trace.attempts().iter().filter(|attempt| attempt.executor == Some(*id));
        let mut spans: Vec<(i64, i64)> =
            attempts.filter_map(|a| Some((a.launch()?.microseconds(), a.finish()?.microseconds()))).collect();
        spans.sort_unstable();
        let (mut sum, mut covered, mut end) = (0, 0, i64::MIN);
        for (from, to) in spans {
            sum += to - from;
            covered += (to - from.max(end)).max(0);
            end = end.max(to);
        }
        if covered > 0 { sum as f64 / covered as f64 } else { 0.0 }
    };
    used.iter().map(of_executor).fold(0.0, f64::max)
}

/// Returns the time at which a slot was free for the first task of a stage that was submitted at `submitted`. None if
/// the executor of the task started even later and the task was the executor's first task.
///
/// An executor that was full until one of its tasks ended had no slot before.
pub(super) fn free_at(first: &Attempt, submitted: Moment, cores: u32, trace: &JobTrace) -> Option<Moment> {
    let launch = first.launch()?.microseconds();
    let spans = trace.attempts().iter().filter(|attempt| attempt.executor == first.executor);
    let spans = spans.filter_map(|a| Some((a.launch()?.microseconds(), a.finish()?)));
    let before: Vec<(i64, Moment)> =
        spans.filter(|(from, to)| *from < launch && to.microseconds() <= launch + OVERLAP).collect();
    let Some(freed) = before.iter().map(|(_, to)| *to).max() else {
        let added = trace.executor_of(first).and_then(|executor| executor.added);
        return if added.is_some_and(|added| added > submitted) { None } else { Some(submitted) };
    };
    let at = freed.microseconds();
    let running = trace.attempts().iter().filter(|attempt| {
        attempt.executor == first.executor
            && attempt.launch().is_some_and(|from| from.microseconds() < at)
            && attempt.finish().is_some_and(|to| to.microseconds() >= at)
    });
    Some(if running.count() >= cores as usize { submitted.max(freed) } else { submitted })
}

#[cfg(test)]
mod tests {
    use crate::fit::observe::observe;
    use crate::fit::progress::tests::SyntheticLog;
    use crate::trace::{ReadOptions, read_bytes};
    use crate::watch::Unwatched;

    /// Two executors from before the job on, and one from 3 s to 5 s of its 10 s: 22 s in all.
    #[test]
    fn executors_are_counted_as_long_as_they_are_there() {
        let mut made = SyntheticLog::new(2);
        made.job(0, 0.0, &[(0, 2, &[])]);
        made.submit(0.0, (0, 2, &[]));
        made.task([0, 0, 0], 0.0, Some((10.0, "Success")));
        made.task([0, 1, 1], 0.0, Some((10.0, "Success")));
        made.executor("late", 3.0, 5.0);
        made.end_job(0, 10.0);
        let trace = read_bytes("made", made.text().as_bytes(), &ReadOptions::default(), &Unwatched).unwrap();
        let run = observe(&trace, Some(1.0)).unwrap();
        assert_eq!(run.executors_over_time, [[0.0, 2.0], [3.0, 3.0], [5.0, 2.0]]);
        assert_eq!((run.executors, run.executor_s()), (2, 22.0));
        // 2.2 of 3
        let told = run.changing_executors().unwrap();
        assert!(
            told.contains(
                "2.2 on average, at most 3, 22 s of executors in all; in the model, 2 join as in the run and stay, 20 s"
            ),
            "{told}"
        );
    }
}
