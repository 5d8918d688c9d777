//! Attempts with their complete progress curves: the input for learning a profile and for replays.
//!
//! Defines the sources of curves: reports as text, the twelve points of Hadoop's histories, recordings of the cluster simulator.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::cluster::RecordedTask;
use crate::diagnose::long_tail::curve::Point;
use crate::diagnose::long_tail::oddity::{Oddities, Oddity};
use crate::diagnose::long_tail::record::{ProgressFeed, ProgressRecord};
use crate::diagnose::long_tail::task::TaskState;
use crate::trace::{Attempt, JobTrace, Stage};

/// An attempt and its curve.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskHistory {
    /// The run of the attempt; attempts of a run are peers.
    pub run: u32,
    /// The job; empty if not given.
    pub job: String,
    /// Kind of work of the task, such as `map`.
    pub kind: String,
    /// The stage; empty if not given.
    pub stage: String,
    /// The task's number.
    pub task: u64,
    /// Attempt number.
    pub attempt: u32,
    /// The node; empty if not given.
    pub node: String,
    /// Age 0 \[s\], on the clock of the source.
    pub start_s: f64,
    /// Total work, if known.
    pub total: Option<f64>,
    /// Age \[s\] and progress, both ascending.
    pub points: Vec<Point>,
}

impl TaskHistory {
    /// Returns the time from age 0 to the end of the attempt \[s\]; none if it did not end, or not after its start.
    pub fn time_s(&self) -> Option<f64> {
        self.points.last().filter(|(age, progress)| *age > 0.0 && *progress >= 1.0).map(|last| last.0)
    }

    /// Returns the age at which the attempt reached this progress, linear between its points \[s\]; none if the attempt
    /// never reached it.
    pub fn age_at(&self, progress: f64) -> Option<f64> {
        let after = self.points.partition_point(|point| point.1 < progress);
        let &(age, share) = self.points.get(after)?;
        let Some(&(before, less)) = after.checked_sub(1).and_then(|i| self.points.get(i)) else { return Some(age) };
        Some(before + (age - before) * (progress - less) / (share - less))
    }

    /// Returns the reports, each with the job, kind and stage.
    fn record(&self, point: Point) -> ProgressRecord<'_> {
        ProgressRecord {
            job: Cow::Borrowed(&self.job),
            kind: Cow::Borrowed(&self.kind),
            stage: Cow::Borrowed(&self.stage),
            task: self.task,
            attempt: self.attempt,
            node: Cow::Borrowed(&self.node),
            time_s: self.start_s + point.0,
            progress: point.1,
            total: self.total,
        }
    }
}

/// Attempts of one or more runs.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Attempts in the order of run, job, kind, stage, task and attempt.
    pub tasks: Vec<TaskHistory>,
    /// Oddities in the reports.
    pub oddities: Oddities,
}

impl History {
    /// Builds the history from the reports of a run, as text.
    pub fn from_reports(text: &[u8], run: u32) -> Self {
        let mut reading = HistoryFeed::default();
        reading.push(text);
        reading.finish(run)
    }

    /// Builds the history from attempts of a log that have progress curves, as in Hadoop's histories; ages count from the launch.
    pub fn from_trace(trace: &JobTrace, run: u32) -> Self {
        let curves = trace.stages_with_ids().flat_map(|(id, stage)| {
            trace
                .attempts_of(id)
                .iter()
                .filter(|attempt| attempt.succeeded())
                .filter_map(move |attempt| from_log(trace, stage, attempt, run))
        });
        Self { tasks: curves.collect(), oddities: Oddities::default() }
    }

    /// Builds the history from a recording of the cluster simulator.
    pub fn from_recording(tasks: &[RecordedTask], kind: &str, run: u32) -> Self {
        let recorded = |task: &RecordedTask| TaskHistory {
            run,
            job: format!("job {}", task.job),
            kind: kind.to_owned(),
            stage: String::new(),
            task: u64::from(task.task),
            attempt: 0,
            node: format!("node {}", task.node),
            start_s: task.start_s,
            total: Some(task.size),
            points: [(0.0, 0.0)].into_iter().chain(task.samples.iter().copied()).chain([(task.time_s, 1.0)]).collect(),
        };
        Self { tasks: tasks.iter().map(recorded).collect(), oddities: Oddities::default() }
    }

    /// Returns all reports in time order, as a monitor would have recorded them.
    pub fn replay(&self) -> Vec<ProgressRecord<'_>> {
        let mut records: Vec<_> =
            self.tasks.iter().flat_map(|task| task.points.iter().map(|&point| task.record(point))).collect();
        records.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        records
    }

    /// Returns groups of attempts of the same run, job, kind and stage, in order.
    pub fn groups(&self) -> impl Iterator<Item = &[TaskHistory]> {
        self.tasks.chunk_by(|a, b| (a.run, &a.job, &a.kind, &a.stage) == (b.run, &b.job, &b.kind, &b.stage))
    }

    /// Adds the attempts of another run.
    pub fn extend(&mut self, other: Self) {
        self.tasks.extend(other.tasks);
    }
}

/// A history built from the reports of a run as they arrive, in pieces of any size. Memory holds the curves and one line.
#[derive(Debug, Default)]
pub struct HistoryFeed {
    feed: ProgressFeed,
    oddities: Oddities,
    collected: Collected,
}

impl HistoryFeed {
    /// Returns a feed whose lines have at most this many bytes.
    pub fn new(longest_line: usize) -> Self {
        Self { feed: ProgressFeed::new(longest_line), ..Self::default() }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        let Self { feed, oddities, collected } = self;
        feed.push(bytes, oddities, &mut |record, line, oddities| collected.take(&record, line, oddities));
    }

    /// Returns the history of all reports received.
    pub fn finish(self, run: u32) -> History {
        let Self { mut feed, mut oddities, mut collected } = self;
        feed.finish(&mut oddities, &mut |record, line, oddities| collected.take(&record, line, oddities));
        History { tasks: collected.into_tasks(run), oddities }
    }
}

/// Returns the curve of an attempt of a log.
fn from_log(trace: &JobTrace, stage: &Stage, attempt: &Attempt, run: u32) -> Option<TaskHistory> {
    let (points, launch) = (trace.progress(attempt)?, attempt.launch()?);
    let node = trace.node_of(attempt).map(|node| node.name.clone());
    Some(TaskHistory {
        run,
        job: trace.applications.get(stage.application.index()).map(|a| a.id.clone()).unwrap_or_default(),
        kind: stage.kind.key().to_owned(),
        stage: stage.number.to_string(),
        task: u64::from(attempt.task),
        attempt: attempt.number,
        node: node.unwrap_or_default(),
        start_s: launch.seconds() + trace.origin_us as f64 / 1e6,
        total: None,
        points: [(0.0, 0.0)].into_iter().chain(points).collect(),
    })
}

/// Job, kind, stage, task, attempt.
type Key = (String, String, String, u64, u32);

/// Curves being read.
#[derive(Debug, Default)]
struct Collected(BTreeMap<Key, (TaskState, String, Vec<Point>)>);

impl Collected {
    fn take(&mut self, record: &ProgressRecord<'_>, line: u64, oddities: &mut Oddities) {
        let name = |text: &Cow<'_, str>| text.clone().into_owned();
        let key = (name(&record.job), name(&record.kind), name(&record.stage), record.task, record.attempt);
        let Some((state, _, points)) = self.0.get_mut(&key) else {
            let state = TaskState::new(record);
            if state.sample().ended {
                oddities.add(Oddity::DoneAtOnce, line, "");
            }
            self.0.insert(key, (state, name(&record.node), vec![(0.0, record.progress)]));
            return;
        };
        if state.sample().ended {
            return oddities.add(Oddity::AfterEnd, line, "");
        }
        match state.follow(record) {
            Err(oddity) => oddities.add(oddity, line, ""),
            Ok((sample, told)) => {
                if let Some(oddity) = told {
                    // shares of the old total are not shares of the new one
                    points.retain(|point| point.1 <= sample.progress);
                    oddities.add(oddity, line, "");
                }
                points.push((sample.age_s, if sample.ended { 1.0 } else { sample.progress }));
            }
        }
    }

    fn into_tasks(self, run: u32) -> Vec<TaskHistory> {
        let task =
            |((job, kind, stage, task, attempt), (state, node, points)): (Key, (TaskState, String, Vec<Point>))| {
                TaskHistory {
                    run,
                    job,
                    kind,
                    stage,
                    task,
                    attempt,
                    node,
                    start_s: state.start_s,
                    total: state.total,
                    points,
                }
            };
        self.0.into_iter().map(task).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_collected_and_replayed_in_time() {
        let text = "kind\tpartition\tt_ms\tdone\ttotal\nmap\t1\t1000\t0\t10\nmap\t0\t1100\t0\t10\nmap\t1\t3000\t4\t10\n\
                    map\t0\t2900\t3\t10\nmap\t1\t5000\t10\t10\nmap\t1\t6000\t10\t10\nmap\t0\t2000\t9\t10\nmap\t7\t9\t1\t1\n";
        let history = History::from_reports(text.as_bytes(), 0);
        assert_eq!(history.tasks.len(), 3);
        let one = &history.tasks[1];
        assert_eq!((one.task, one.time_s(), one.age_at(0.2), one.age_at(0.7)), (1, Some(4.0), Some(1.0), Some(3.0)));
        assert_eq!(history.tasks[0].time_s(), None);
        let counted: Vec<_> = history.oddities.list().map(|c| (c.kind, c.line)).collect();
        assert_eq!(counted, [(Oddity::TimeBackwards, 8), (Oddity::AfterEnd, 7), (Oddity::DoneAtOnce, 9)]);
        let times: Vec<f64> = history.replay().iter().map(|record| record.time_s).collect();
        assert!(times.is_sorted() && times.len() == 6);
        assert_eq!(history.groups().count(), 1);
    }
}
