//! Losses of time beyond single tasks: stages with fewer tasks than slots, a long last stage, and times in which no task
//! ran. The wait for the first task is separate, because executors are still starting at that time.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnose::causes::even_split::{EvenSplit, Parts};
use crate::diagnose::causes::naming::stage_name;
use crate::diagnose::causes::recorded::Recorded;
use crate::diagnose::finding::{Cause, Evidence, Finding, Subject};
use crate::trace::analysis::bounds_of;
use crate::trace::{ApplicationId, Attempt, Job, JobTrace, Moment, StageId};

/// Minimum share of the job's time that is a finding.
const SHARE: f64 = 0.05;
/// Minimum time that is a finding \[s\].
const LEAST_S: f64 = 1.0;
/// The last stage is long if it took more than this share of the job's time with more than half of the slots free.
const LONG: f64 = 0.25;

/// The time in which one stage ran alone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Alone {
    /// Total time \[s\].
    time: f64,
    /// The same time, with each moment weighted by the share of free slots \[s\].
    free: f64,
}

/// The time of an application, divided into parts.
#[derive(Clone, Debug, PartialEq)]
struct Elapsed<S> {
    stages: BTreeMap<S, Alone>,
    /// Time in which no task ran: before the first task, between tasks, and after the last task \[s\].
    idle: [f64; 3],
}

/// Divides the time of an application into parts. `runs` are the stage, launch and end of each attempt; `span` is the
/// start and end of the application \[s\].
fn elapsed<S: Ord + Copy>(runs: impl Iterator<Item = (S, f64, f64)>, slots: f64, span: (f64, f64)) -> Elapsed<S> {
    let mut steps: Vec<(f64, i64, S)> = Vec::new();
    for (stage, from, to) in runs {
        steps.push((from, 1, stage));
        steps.push((to.max(from), -1, stage));
    }
    steps.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let mut found = Elapsed { stages: BTreeMap::new(), idle: [0.0; 3] };
    let mut running: BTreeMap<S, i64> = BTreeMap::new();
    let mut at = span.0;
    let mut began = false;
    for (time, step, stage) in steps {
        let now = time.clamp(span.0, span.1);
        let mut busy = running.iter().filter(|(_, count)| **count > 0);
        match (busy.next(), busy.next()) {
            (None, _) => found.idle[usize::from(began)] += now - at,
            (Some((stage, count)), None) => {
                let alone = found.stages.entry(*stage).or_default();
                alone.time += now - at;
                alone.free += (now - at) * (1.0 - *count as f64 / slots).max(0.0);
            }
            _ => {}
        }
        at = now;
        began = true;
        let count = running.entry(stage).or_default();
        *count += step;
        if *count == 0 {
            running.remove(&stage);
        }
    }
    found.idle[2] += span.1 - at;
    found
}

/// Findings for the whole job.
#[derive(Debug, Default)]
pub(super) struct Whole {
    /// Findings about stages and the job.
    pub(super) findings: Vec<Finding>,
    /// Time from the submission of the job to its first task \[s\].
    pub(super) start_s: f64,
    /// Time in which no task ran because a stream waited for its next trigger \[s\].
    pub(super) trigger_s: f64,
}

/// Examines the whole job of a log with one application. `job` is its schedule.
pub(super) fn whole(trace: &JobTrace, job: &Recorded) -> Whole {
    let one = trace.applications_with_ids().map(|(id, _)| id).collect::<Vec<ApplicationId>>();
    let [application] = one[..] else { return Whole::default() };
    let Some(bounds) = bounds_of(trace, application).filter(|bounds| bounds.span > 0.0 && bounds.slots.count > 0)
    else {
        return Whole::default();
    };
    let attempts = trace.attempts_of_application(application);
    let slots = bounds.slots.count as f64;
    let span = (bounds.start.seconds(), bounds.start.seconds() + bounds.span);
    let runs = attempts.iter().filter_map(|a| Some((a.stage, a.launch()?.seconds(), a.finish()?.seconds())));
    let found = elapsed(runs, slots, span);
    let told = JobContext { trace, whole: bounds.span, slots: bounds.slots.count as usize, split: EvenSplit::of(job) };
    let last = last_stage(attempts);
    let of_stage = |id: StageId| {
        let alone = found.stages.get(&id).filter(|_| last == Some(id)).copied().unwrap_or_default();
        told.of_stage(id, alone.time > LONG * bounds.span && alone.free > 0.5 * alone.time)
    };
    let mut findings: Vec<Finding> = trace.stages_with_ids().filter_map(|(id, _)| of_stage(id)).collect();
    let [start_s, between, after] = found.idle;
    // the driver has nothing to do until the next trigger
    let trigger_s = triggers(trace.jobs_of(application)).min(between);
    findings.extend(told.of_driver([("between tasks", between - trigger_s), ("after the last task", after)]));
    Whole { findings, start_s, trigger_s }
}

/// Returns the time from the end of each micro-batch of a stream to the next micro-batch \[s\].
fn triggers(jobs: &[Job]) -> f64 {
    let mut jobs: Vec<&Job> = jobs.iter().filter(|job| job.submitted.is_some()).collect();
    jobs.sort_by_key(|job| job.submitted);
    let mut batch = None;
    let mut end: Option<Moment> = None;
    let mut waited = 0.0;
    for job in jobs {
        if let (true, Some(end), Some(from)) = (job.batch.is_some() && job.batch != batch, end, job.submitted) {
            waited += from.seconds_since(end).max(0.0);
        }
        batch = job.batch;
        end = end.max(job.completed);
    }
    waited
}

/// Returns the stage of the task that ended last.
fn last_stage(attempts: &[Attempt]) -> Option<StageId> {
    let done = attempts.iter().filter(|attempt| attempt.succeeded() && attempt.finish().is_some());
    done.max_by_key(|attempt| attempt.finish()).map(|attempt| attempt.stage)
}

struct JobContext<'t> {
    trace: &'t JobTrace,
    /// The time of the whole job \[s\].
    whole: f64,
    slots: usize,
    split: Option<EvenSplit>,
}

impl JobContext<'_> {
    /// Returns the finding about a stage that would have ended earlier with more tasks; `is_long` is true for a long last
    /// stage.
    fn of_stage(&self, id: StageId, is_long: bool) -> Option<Finding> {
        let split = self.split.as_ref()?;
        let Parts { tasks, slots, task_s } = split.parts(id.index())?;
        let slots = slots.min(self.slots);
        // the even split also shortens stragglers, which have causes of their own: more tasks as such must gain enough
        let of_more_tasks = task_s * (1.0 - tasks as f64 / slots as f64);
        let cause = match is_long {
            true => Cause::LongLastStage,
            false if of_more_tasks > LEAST_S.max(SHARE * self.whole) => Cause::FewTasks,
            false => return None,
        };
        let gain = split.gain(&BTreeSet::from([id.index()]));
        let evidence = vec![
            evidence("number of tasks of the stage, compared with the number of slots", tasks as f64, slots as f64, ""),
            evidence("maximum time saved if its work were split evenly over the slots", gain, 0.0, "s"),
        ];
        self.finding(Subject::Stage { stage: stage_name(self.trace, id) }, cause, gain, evidence)
    }

    fn of_driver(&self, idle: [(&str, f64); 2]) -> Option<Finding> {
        let lost = idle[0].1 + idle[1].1;
        let most = if idle[1].1 > idle[0].1 { idle[1].0 } else { idle[0].0 };
        let mut all = vec![evidence(&format!("time without a running task, mainly {most}"), lost, 0.0, "s")];
        all.extend(idle.iter().map(|(what, time)| evidence(what, *time, 0.0, "s")));
        self.finding(Subject::Job, Cause::Driver, lost, all)
    }

    /// Returns a finding if the lost time is large enough.
    fn finding(&self, subject: Subject, cause: Cause, lost: f64, evidence: Vec<Evidence>) -> Option<Finding> {
        let share = lost / self.whole;
        (share > SHARE && lost > LEAST_S).then(|| Finding::on_the_way(subject, cause, share, SHARE, evidence))
    }
}

fn evidence(what: &str, value: f64, usual: f64, unit: &'static str) -> Evidence {
    Evidence { what: what.to_owned(), value, usual, unit: unit.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    /// From 0 to 30 s on four slots: no task until 2 s, stage 0 on two slots until 8 s and on one slot until 10 s, both
    /// stages until 12 s, stage 1 on one slot until 20 s, no task until 21 s, stage 1 until 28 s, no task until 30 s.
    #[test]
    fn free_slots_are_those_beside_a_stage_that_runs_alone() {
        let [first, second] = [0, 1];
        let runs = [(first, 2.0, 8.0), (first, 2.0, 12.0), (second, 10.0, 20.0), (second, 21.0, 28.0)];
        let found = elapsed(runs.into_iter(), 4.0, (0.0, 30.0));
        assert_eq!(found.idle, [2.0, 1.0, 2.0]);
        assert_eq!(found.stages[&first], Alone { time: 8.0, free: 6.0 * 0.5 + 2.0 * 0.75 });
        assert_eq!(found.stages[&second], Alone { time: 15.0, free: 15.0 * 0.75 });
    }
}
