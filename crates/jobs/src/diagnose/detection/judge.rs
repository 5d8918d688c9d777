//! Stragglers of runs, the flags that each detector would have raised, and the measures of these flags.

use std::borrow::Cow;
use std::collections::BTreeSet;

use tailspn_common::explain::{ErrorKind, Explain};

use crate::cluster::PolicyPlan;
use crate::cluster::metrics::{Metric, Tally, TaskRecord};
use crate::cluster::truth::is_straggler;
use crate::diagnose::causes::stage_name;
use crate::diagnose::detection::followed::{FollowedStage, Reports, follow};
use crate::diagnose::detection::looks::flagged;
use crate::diagnose::long_tail::{History, Share};
use crate::estimate::{FloatMoments, Measured, clopper_pearson};
use crate::trace::analysis::{Usual, times_of};
use crate::trace::{JobTrace, StageKind};

/// Minimum number of successful tasks of a stage for which the median is the expected time.
const FEWEST: u64 = 3;

/// A recorded job and the progress of its tasks; without reports, even progress is assumed.
#[derive(Clone, Copy, Debug)]
pub struct RecordedRun<'t> {
    /// The log of the job.
    pub trace: &'t JobTrace,
    /// Reports of its tasks ([`History::from_reports`]), or the curves in the log itself
    /// ([`History::from_trace`]). Stages without reports are excluded.
    pub progress: &'t History,
}

/// Reason why detectors cannot be judged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DetectionError {
    /// No stage has enough tasks with a start and an end to estimate the expected time. Use the log of a finished
    /// job, or other runs from which to take the expected times.
    #[error("{log}: no stage with progress has at least {FEWEST} successful tasks, so stragglers cannot be identified")]
    NothingToJudge {
        /// The log.
        log: String,
    },
}

/// A stage of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedStage {
    /// The run, from 0.
    pub run: usize,
    /// The name, with the number of the stage.
    pub name: String,
    /// Tasks that were judged.
    pub tasks: u64,
    /// Stragglers among the judged tasks.
    pub stragglers: u64,
    /// Tasks with an expected time from other runs; for all other tasks, the expected time is the median of the stage.
    pub usual_from_runs: u64,
    /// True if the progress of its tasks was reported; otherwise even progress is assumed.
    pub reported: bool,
}

/// A task that was a straggler, or that a detector flagged.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedTask {
    /// Position of its stage in [`Judged::stages`].
    pub stage: usize,
    /// The number of the task in the stage.
    pub task: u32,
    /// The node of its first attempt; empty if the log does not name it.
    pub node: String,
    /// The time of its first attempt \[s\], extrapolated from its progress if it was killed.
    pub time_s: f64,
    /// True if the first attempt was killed without a report: the time is a lower bound.
    pub at_least: bool,
    /// The expected time of the task \[s\].
    pub usual_s: f64,
    /// True for a straggler.
    pub straggler: bool,
    /// Age at which each detector flagged the task \[s\], in the order of [`Judged::detectors`].
    pub flagged_s: Vec<Option<f64>>,
}

/// A detector and its measures.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedDetector {
    /// The detector and the times of its checks.
    pub policy: PolicyPlan,
    /// Tasks by fate.
    pub tally: Tally,
    /// Metrics in the order of [`Metric::ALL`]; none if undefined. Intervals are by Clopper and Pearson for shares and by
    /// Student's t for means, both as if tasks were independent.
    pub metrics: [Option<Measured>; 6],
}

/// Detectors on runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The stages, run by run.
    pub stages: Vec<JudgedStage>,
    /// Names of stages that were excluded because they have no progress reports although other stages do.
    pub left_out: Vec<String>,
    /// Stragglers and flagged tasks, stage by stage.
    pub tasks: Vec<JudgedTask>,
    /// Detectors in the order of the policies.
    pub detectors: Vec<JudgedDetector>,
    /// Stragglers among the tasks.
    pub straggling_tasks: Share,
    /// Runs with a straggler.
    pub straggling_jobs: Share,
    /// Nodes with a straggler. A node of several runs counts once for each run.
    pub straggling_nodes: Share,
}

/// Judges detectors on runs. A straggler is a task that took more than `factor` times its expected time. The expected
/// time comes from the `usual` runs, or else is the median of the task's stage. \[Phan2018, 6.1\] uses a factor of 1.2.
///
/// The time of a killed attempt is extrapolated from its progress, as in \[Phan2018\]. A stage counts as a job: lags
/// are compared with the age of the stage. `level` is the confidence level of the intervals.
///
/// # Errors
///
/// [`DetectionError::NothingToJudge`].
pub fn judge(
    runs: &[RecordedRun<'_>],
    usual: &Usual,
    policies: &[PolicyPlan],
    factor: f64,
    level: f64,
) -> Result<Judged, DetectionError> {
    let mut judging = Judging::new(usual, policies, factor);
    for (number, run) in runs.iter().enumerate() {
        let before = judging.stages.len();
        let reports = Reports::of(run.trace, run.progress);
        for (id, stage) in run.trace.stages_with_ids() {
            if matches!(stage.kind, StageKind::Setup | StageKind::Cleanup) {
                continue;
            }
            let name = stage_name(run.trace, id);
            match follow(run.trace, id, stage, &reports) {
                Some(followed) if followed.reported || run.progress.tasks.is_empty() => {
                    judging.stage(number, run.trace, name, &followed);
                }
                Some(_) => judging.left_out.push(name),
                None => {}
            }
        }
        if judging.stages.len() == before {
            return Err(DetectionError::NothingToJudge { log: run.trace.files.first().cloned().unwrap_or_default() });
        }
    }
    Ok(judging.judged(level))
}

/// State while stages are judged.
struct Judging<'a> {
    usual: &'a Usual,
    policies: &'a [PolicyPlan],
    factor: f64,
    stages: Vec<JudgedStage>,
    left_out: Vec<String>,
    tasks: Vec<JudgedTask>,
    /// All tasks, by policy.
    records: Vec<Vec<TaskRecord>>,
    nodes: BTreeSet<(usize, String)>,
    slow_nodes: BTreeSet<(usize, String)>,
}

impl<'a> Judging<'a> {
    fn new(usual: &'a Usual, policies: &'a [PolicyPlan], factor: f64) -> Self {
        Self {
            usual,
            policies,
            factor,
            stages: Vec::new(),
            left_out: Vec::new(),
            tasks: Vec::new(),
            records: vec![Vec::new(); policies.len()],
            nodes: BTreeSet::new(),
            slow_nodes: BTreeSet::new(),
        }
    }

    fn stage(&mut self, run: usize, trace: &JobTrace, name: String, followed: &FollowedStage<'_>) {
        let attempts = trace.attempts().get(followed.stage.attempts.clone()).unwrap_or_default();
        let median_s = times_of(attempts).filter(|times| times.count >= FEWEST).map(|times| times.median);
        let flags: Vec<_> = self.policies.iter().map(|policy| flagged(followed, policy)).collect();
        let mut stage =
            JudgedStage { run, name, tasks: 0, stragglers: 0, usual_from_runs: 0, reported: followed.reported };
        for first in followed.attempts.iter().filter(|attempt| !attempt.is_copy) {
            let from_runs = self.usual.time(followed.stage.number, first.task);
            let Some(usual_s) = from_runs.or(median_s).filter(|usual| *usual > 0.0) else { continue };
            let (time_s, at_least) = first.whole_time_s();
            let straggler = is_straggler(time_s, usual_s, self.factor);
            let age = |at: &f64| at - first.start_s;
            let flagged_s: Vec<Option<f64>> = flags.iter().map(|flags| flags.get(&first.task).map(age)).collect();
            for (records, detected_s) in self.records.iter_mut().zip(&flagged_s) {
                records.push(TaskRecord { time_s, usual_s, detected_s: *detected_s });
            }
            stage.tasks += 1;
            stage.stragglers += u64::from(straggler);
            stage.usual_from_runs += u64::from(from_runs.is_some());
            let node = trace.nodes.get(first.node as usize).map_or_else(String::new, |node| node.name.clone());
            self.nodes.insert((run, node.clone()));
            if straggler {
                self.slow_nodes.insert((run, node.clone()));
            }
            if straggler || flagged_s.iter().any(Option::is_some) {
                let stage = self.stages.len();
                let task =
                    JudgedTask { stage, task: first.task, node, time_s, at_least, usual_s, straggler, flagged_s };
                self.tasks.push(task);
            }
        }
        if stage.tasks > 0 {
            self.stages.push(stage);
        }
    }

    fn judged(self, level: f64) -> Judged {
        let share = |part: usize, whole: usize| Share { part: part as u64, whole: whole as u64 };
        let detectors = self.policies.iter().zip(&self.records).map(|(policy, records)| {
            let mut tally = Tally::default();
            records.iter().for_each(|record| tally.push(record, self.factor));
            let metrics = Metric::ALL.map(|metric| measured(metric, &tally, records, self.factor, level));
            JudgedDetector { policy: policy.clone(), tally, metrics }
        });
        let runs = |wanted: &dyn Fn(&&JudgedStage) -> bool| {
            self.stages.iter().filter(wanted).map(|stage| stage.run).collect::<BTreeSet<_>>().len()
        };
        let sum = |count: fn(&JudgedStage) -> u64| self.stages.iter().map(count).sum();
        Judged {
            detectors: detectors.collect(),
            straggling_tasks: Share { part: sum(|stage| stage.stragglers), whole: sum(|stage| stage.tasks) },
            straggling_jobs: share(runs(&|stage| stage.stragglers > 0), runs(&|_| true)),
            straggling_nodes: share(self.slow_nodes.len(), self.nodes.len()),
            stages: self.stages,
            left_out: self.left_out,
            tasks: self.tasks,
        }
    }
}

/// Returns a metric with its interval.
fn measured(metric: Metric, tally: &Tally, records: &[TaskRecord], factor: f64, level: f64) -> Option<Measured> {
    let value = tally.metric(metric)?;
    let slow = records.iter().filter(|record| is_straggler(record.time_s, record.usual_s, factor));
    let values: FloatMoments = match metric {
        Metric::DetectionLatency => slow.filter_map(|record| Some(record.detected_s? / record.usual_s)).collect(),
        Metric::UndetectedTime => {
            slow.filter(|record| record.detected_s.is_none()).map(|record| record.time_s / record.usual_s).collect()
        }
        _ => {
            let (part, whole) = tally.parts(metric);
            return clopper_pearson(part as u64, whole as u64, level).ok().map(Measured::from);
        }
    };
    let interval = values.mean_estimate(level).map(Into::into);
    Measured::new(Some(value), values.count(), level, interval)
}

impl Explain for DetectionError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Log
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        Some("pass the log of a recorded job, or add runs without stragglers with --usual".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Watching;
    use crate::cluster::detect::{DetectorPlan, Spark};
    use crate::trace::{ReadOptions, read_bytes};
    use crate::watch::Unwatched;

    /// An event log of Spark: a stage of tasks that start at 0, each on its own slot, and take these seconds.
    fn log(times_s: &[u64]) -> JobTrace {
        let mut lines = vec![
            r#"{"Event":"SparkListenerLogStart","Spark Version":"4.0.0"}"#.to_owned(),
            r#"{"Event":"SparkListenerApplicationStart","App Name":"made","App ID":"app-1","Timestamp":1000000,"User":"u"}"#.to_owned(),
            format!(
                r#"{{"Event":"SparkListenerStageSubmitted","Stage Info":{{"Stage ID":1,"Stage Attempt ID":0,"Stage Name":"maps","Number of Tasks":{},"Parent IDs":[],"RDD Info":[],"Submission Time":1000000}}}}"#,
                times_s.len()
            ),
        ];
        for (task, time_s) in times_s.iter().enumerate() {
            let end = 1_000_000 + 1000 * time_s;
            lines.push(format!(
                r#"{{"Event":"SparkListenerTaskEnd","Stage ID":1,"Stage Attempt ID":0,"Task Type":"ResultTask","Task End Reason":{{"Reason":"Success"}},"Task Info":{{"Task ID":{task},"Index":{task},"Attempt":0,"Launch Time":1000000,"Executor ID":"{task}","Host":"h{task}","Locality":"ANY","Speculative":false,"Getting Result Time":0,"Finish Time":{end},"Failed":false,"Killed":false,"Accumulables":[]}},"Task Metrics":{{"Executor Run Time":1}}}}"#
            ));
        }
        read_bytes("made", lines.join("\n").as_bytes(), &ReadOptions::default(), &Unwatched).unwrap()
    }

    fn policy(detector: DetectorPlan) -> PolicyPlan {
        PolicyPlan { detector, lag_s: 0.0, watch: Watching::FromLag, ..PolicyPlan::default() }
    }

    /// Eight tasks of 10 s and two of 40 s, with even progress. `default`: scores t/10 and t/40, mean 0.085 t; the slow
    /// ones lie 0.06 t below, more than 0.2 from the check at 4 s on. `late`: rates 0.1 and 0.025, mean 0.085, SD 0.03:
    /// at the first check. `hadoop2`: one task per check, from the first end of a task on; the second task 15 s later.
    /// `spark` with 1.5 and 0.75: older than 15 s. `mantri` waits for ten ends.
    #[test]
    fn flags_and_metrics_of_detectors_match_a_hand_computed_log() {
        let trace = log(&[10, 10, 10, 40, 10, 10, 10, 40, 10, 10]);
        let progress = History::default();
        let spark = Spark { multiplier: 1.5, quantile: 0.75, ..Spark::default() };
        let named = |name| policy(DetectorPlan::named(name).unwrap());
        let policies =
            [named("default"), named("late"), named("hadoop2"), policy(DetectorPlan::Spark(spark)), named("mantri")];
        let run = RecordedRun { trace: &trace, progress: &progress };
        let found = judge(&[run], &Usual::default(), &policies, 1.2, 0.95).unwrap();
        assert_eq!(found.straggling_tasks, Share { part: 2, whole: 10 });
        assert_eq!(found.straggling_nodes, Share { part: 2, whole: 10 });
        assert_eq!(found.straggling_jobs, Share { part: 1, whole: 1 });
        let [first, second] = &found.tasks[..] else { panic!("{:?}", found.tasks) };
        assert_eq!((first.task, second.task), (3, 7));
        let ages = |task: &JudgedTask| {
            task.flagged_s.iter().map(|age| age.map(|age| (10.0 * age).round() / 10.0)).collect::<Vec<_>>()
        };
        assert_eq!(ages(first), [Some(4.0), Some(1.0), Some(10.0), Some(15.1), None]);
        assert_eq!(ages(second), [Some(4.0), Some(1.0), Some(25.0), Some(15.1), None]);
        let value =
            |detector: usize, metric: usize| found.detectors[detector].metrics[metric].as_ref().map(|m| m.value);
        assert_eq!([value(0, 0), value(0, 1)], [Some(1.0), Some(1.0)]);
        assert!((value(0, 2).unwrap() - 0.4).abs() < 1e-9, "latency 4 s of 10 s");
        assert_eq!([value(4, 0), value(4, 1), value(4, 4)], [None, Some(0.0), Some(4.0)]);
        // recall 2 of 2, by Clopper and Pearson: 0.025^(1/2)
        let ends = found.detectors[0].metrics[1].as_ref().unwrap().ends().unwrap();
        assert!((ends[0] - 0.025_f64.sqrt()).abs() < 1e-9 && ends[1] == 1.0);
    }

    /// A task that is slow in all runs is not a straggler, and its flags are false alarms.
    #[test]
    fn other_runs_say_what_is_usual() {
        let times = [10, 10, 10, 40, 10, 10, 10, 10, 10, 40];
        let trace = log(&times);
        let calm = [log(&times), log(&times)];
        let progress = History::default();
        let run = RecordedRun { trace: &trace, progress: &progress };
        let found = judge(&[run], &Usual::from_runs(&calm), &[policy(DetectorPlan::named("late").unwrap())], 1.2, 0.95);
        let found = found.unwrap();
        assert_eq!(found.stages[0].usual_from_runs, 10);
        assert_eq!((found.detectors[0].tally.false_alarms, found.detectors[0].tally.stragglers), (2, 0));
    }

    /// In the reports, the short task 0 makes no progress for 8 s: it is flagged, the even tasks are not.
    #[test]
    fn reports_count_where_there_are_any() {
        let trace = log(&[10; 10]);
        let mut text = "stage\tpartition\tattempt\tt_ms\tdone\ttotal\n".to_owned();
        for task in 0..10 {
            for second in 0..=10 {
                let done = if task == 0 { 5 * i32::max(second - 8, 0) } else { second };
                text += &format!("1\t{task}\t0\t{}\t{done}\t10\n", 1_000_000 + 1000 * second);
            }
        }
        let progress = History::from_reports(text.as_bytes(), 0);
        let run = RecordedRun { trace: &trace, progress: &progress };
        let found = judge(&[run], &Usual::default(), &[policy(DetectorPlan::named("default").unwrap())], 1.2, 0.95);
        let found = found.unwrap();
        assert!(found.stages[0].reported);
        let flagged: Vec<_> = found.tasks.iter().map(|task| (task.task, task.flagged_s[0])).collect();
        // the mean score is 0.09 t: 0.2 above nothing from the look at 3 s on
        assert_eq!(flagged, [(0, Some(3.0))]);
    }

    #[test]
    fn a_log_without_ends_has_nothing_to_judge() {
        let trace = log(&[]);
        let progress = History::default();
        let run = RecordedRun { trace: &trace, progress: &progress };
        let error = judge(&[run], &Usual::default(), &[], 1.2, 0.95).unwrap_err();
        assert!(matches!(error, DetectionError::NothingToJudge { .. }), "{error}");
    }
}
