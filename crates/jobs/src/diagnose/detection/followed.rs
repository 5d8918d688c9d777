//! The attempts of a stage as a master could have followed them: the time and the reports of each.
//!
//! Reports count from the launch in the log. Without reports, even progress is assumed, which no detector
//! could have known at the time.

use std::collections::{BTreeMap, HashMap};

use crate::cluster::detect::Category;
use crate::diagnose::long_tail::{History, Point, clock_ahead};
use crate::trace::{Attempt, JobTrace, NodeId, Stage, StageId, StageKind};

/// An attempt.
#[derive(Clone, Debug)]
pub(super) struct Followed {
    pub(super) task: u32,
    /// Node, numbered as in the trace; if the log does not name it, the number after the last node.
    pub(super) node: u32,
    /// Launch and end \[s since the start of the trace\].
    pub(super) start_s: f64,
    pub(super) end_s: f64,
    /// True if the attempt completed its task.
    pub(super) done: bool,
    pub(super) is_copy: bool,
    /// Size of its input, 1 on average.
    pub(super) size: f64,
    /// Reports, as age \[s\] and progress; none if even progress is assumed.
    pub(super) reports: Option<Vec<Point>>,
}

impl Followed {
    /// Returns age and progress in the last report up to `now_s`. `at` is the number of reports up to an earlier
    /// moment, and is advanced.
    pub(super) fn report(&self, now_s: f64, at: &mut usize) -> Point {
        let age = now_s - self.start_s;
        let Some(reports) = &self.reports else { return (age, (age / (self.end_s - self.start_s)).clamp(0.0, 1.0)) };
        while reports.get(*at).is_some_and(|report| report.0 <= age) {
            *at += 1;
        }
        at.checked_sub(1).map_or((0.0, 0.0), |last| reports[last])
    }

    /// Returns the time of the attempt \[s\], extrapolated from its progress if it was killed, and true if the time
    /// is a lower bound because the attempt has no reports.
    pub(super) fn whole_time_s(&self) -> (f64, bool) {
        let held = self.end_s - self.start_s;
        if self.done {
            return (held, false);
        }
        match self.reports.as_ref().and_then(|reports| reports.last()) {
            Some(&(age, progress)) if progress > 0.0 => ((age / progress).max(held), false),
            _ => (held, true),
        }
    }
}

/// The attempts of a stage.
#[derive(Debug)]
pub(super) struct FollowedStage<'t> {
    pub(super) stage: &'t Stage,
    pub(super) category: Category,
    /// Attempts in the order of launch.
    pub(super) attempts: Vec<Followed>,
    /// Number of tasks with an attempt.
    pub(super) tasks: usize,
    /// Start of the stage \[s\].
    pub(super) from_s: f64,
    /// End of its last attempt \[s\].
    pub(super) to_s: f64,
    /// True if attempts have reports.
    pub(super) reported: bool,
}

/// Reports by stage, task and attempt.
pub(super) struct Reports<'h>(HashMap<(&'h str, u64, u32), (f64, &'h [Point])>);

impl<'h> Reports<'h> {
    /// Returns the reports of a run, on the clock of its trace.
    pub(super) fn of(trace: &JobTrace, progress: &'h History) -> Self {
        let origin_s = trace.origin_us as f64 / 1e6 + clock_ahead(trace, progress).unwrap_or(0.0);
        let key = |task: &'h crate::diagnose::long_tail::TaskHistory| {
            ((task.stage.as_str(), task.task, task.attempt), (task.start_s - origin_s, &task.points[..]))
        };
        Self(progress.tasks.iter().map(key).collect())
    }

    /// Returns age and progress of an attempt, in the order of time.
    fn of_attempt(&self, stage: &str, attempt: &Attempt, start_s: f64) -> Option<Vec<Point>> {
        let (first_s, points) = self.0.get(&(stage, u64::from(attempt.task), attempt.number))?;
        Some(points.iter().map(|(age, progress)| (first_s + age - start_s, *progress)).collect())
    }

    fn has_stage(&self, stage: &str) -> bool {
        self.0.keys().any(|key| key.0 == stage)
    }
}

/// Returns the attempts of a stage; none if the log has no attempt with a start and an end.
pub(super) fn follow<'t>(
    trace: &JobTrace,
    id: StageId,
    stage: &'t Stage,
    reports: &Reports<'_>,
) -> Option<FollowedStage<'t>> {
    let number = stage.number.to_string();
    let reported = reports.has_stage(&number);
    let mut attempts = Vec::new();
    for of_task in trace.tasks_of(id) {
        let done_s = of_task
            .iter()
            .filter(|a| a.succeeded())
            .filter_map(Attempt::finish)
            .map(|end| end.seconds())
            .reduce(f64::min);
        let kept = of_task.iter().filter(|attempt| !attempt.outcome.is_failure());
        let original = kept.clone().min_by_key(|attempt| (attempt.speculative, attempt.launch()));
        for attempt in kept {
            let Some(start_s) = attempt.launch().map(|launch| launch.seconds()) else { continue };
            // an attempt whose end is not in the log ran until another one was done
            let Some(end_s) = attempt.finish().map(|end| end.seconds()).or(done_s).filter(|end| *end > start_s) else {
                continue;
            };
            attempts.push(Followed {
                task: attempt.task,
                node: attempt.node.map_or(trace.nodes.len(), NodeId::index) as u32,
                start_s,
                end_s,
                done: attempt.succeeded(),
                is_copy: original.is_some_and(|original| original.number != attempt.number),
                size: trace.bytes_read(attempt),
                reports: reported.then(|| reports.of_attempt(&number, attempt, start_s).unwrap_or_default()),
            });
        }
    }
    attempts.sort_by(|a, b| a.start_s.total_cmp(&b.start_s).then(a.task.cmp(&b.task)));
    scale_sizes(&mut attempts);
    let first_s = attempts.first()?.start_s;
    let mut tasks: Vec<u32> = attempts.iter().map(|attempt| attempt.task).collect();
    tasks.sort_unstable();
    tasks.dedup();
    Some(FollowedStage {
        stage,
        category: if stage.kind == StageKind::Reduce { Category::Reduce } else { Category::Map },
        tasks: tasks.len(),
        from_s: stage.submitted.map_or(first_s, |at| at.seconds().min(first_s)),
        to_s: attempts.iter().map(|attempt| attempt.end_s).fold(first_s, f64::max),
        attempts,
        reported,
    })
}

/// Scales sizes to mean 1; all become 1 if any size is unknown.
fn scale_sizes(attempts: &mut [Followed]) {
    let known = attempts.iter().filter(|attempt| attempt.done).all(|attempt| attempt.size > 0.0);
    let done = attempts.iter().filter(|attempt| attempt.done);
    let (sum, count) = done.fold((0.0, 0.0), |(sum, count), attempt| (sum + attempt.size, count + 1.0));
    // the log does not show the full input of a killed attempt; the other attempt of its task does
    let of_task: BTreeMap<u32, f64> =
        attempts.iter().filter(|attempt| attempt.done).map(|attempt| (attempt.task, attempt.size)).collect();
    for attempt in attempts {
        let size = of_task.get(&attempt.task).copied().filter(|_| known && sum > 0.0);
        attempt.size = size.map_or(1.0, |size| size * count / sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(reports: Option<Vec<Point>>, done: bool) -> Followed {
        Followed { task: 0, node: 0, start_s: 10.0, end_s: 20.0, done, is_copy: false, size: 1.0, reports }
    }

    #[test]
    fn the_last_report_counts() {
        let attempt = attempt(Some(vec![(1.0, 0.1), (4.0, 0.3), (9.0, 0.8)]), true);
        let mut at = 0;
        assert_eq!(attempt.report(10.5, &mut at), (0.0, 0.0));
        assert_eq!(attempt.report(14.0, &mut at), (4.0, 0.3));
        assert_eq!(attempt.report(18.9, &mut at), (4.0, 0.3));
        assert_eq!(attempt.report(19.5, &mut at), (9.0, 0.8));
    }

    #[test]
    fn progress_without_reports_is_even() {
        let mut at = 0;
        assert_eq!(attempt(None, true).report(12.5, &mut at), (2.5, 0.25));
    }

    #[test]
    fn a_killed_attempt_would_have_gone_on_as_it_had_begun() {
        let reports = vec![(2.0, 0.1), (8.0, 0.25)];
        assert_eq!(attempt(Some(reports.clone()), false).whole_time_s(), (32.0, false));
        assert_eq!(attempt(Some(reports), true).whole_time_s(), (10.0, false));
        assert_eq!(attempt(Some(Vec::new()), false).whole_time_s(), (10.0, true));
        assert_eq!(attempt(None, false).whole_time_s(), (10.0, true));
    }
}
