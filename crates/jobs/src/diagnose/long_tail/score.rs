//! Quality of an agent: its flags on completed runs, compared with the stragglers of these runs.

use serde::Serialize;

use crate::diagnose::long_tail::agent::{Agent, StragglerFlag};
use crate::diagnose::long_tail::history::{History, TaskHistory};
use crate::diagnose::long_tail::identify::{Centre, Share, StragglerRule};
use crate::diagnose::long_tail::model::Model;
use crate::diagnose::long_tail::oddity::Oddities;
use crate::diagnose::long_tail::settings::AgentSettings;
use crate::trace::{Attempt, JobTrace};

/// Returns the flags of an agent that receives a history in time order.
pub fn replay(history: &History, model: Option<&Model>, settings: AgentSettings) -> (Vec<StragglerFlag>, Oddities) {
    let (mut agent, mut oddities) = (Agent::new(model, settings), Oddities::default());
    let flags = history.replay().iter().filter_map(|record| agent.take(record, 0, &mut oddities)).collect();
    agent.finish(&mut oddities);
    (flags, oddities)
}

/// Numbers of tasks that were stragglers or not, and flagged or not.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Score {
    /// Stragglers that were flagged.
    pub true_positive: u64,
    /// Flagged tasks that were not stragglers.
    pub false_positive: u64,
    /// Tasks that were neither flagged nor stragglers.
    pub true_negative: u64,
    /// Stragglers that were not flagged.
    pub false_negative: u64,
    /// Sum, over flagged stragglers, of the age at the flag divided by the time of the task.
    pub flag_points: f64,
}

impl Score {
    /// Returns the share of stragglers that were flagged.
    pub fn found(&self) -> Share {
        Share { part: self.true_positive, whole: self.true_positive + self.false_negative }
    }

    /// Returns the share of normal tasks that were flagged.
    pub fn wrong(&self) -> Share {
        Share { part: self.false_positive, whole: self.false_positive + self.true_negative }
    }

    /// Returns TP / (TP + FN); none without a straggler.
    pub fn true_positive_rate(&self) -> Option<f64> {
        rate(self.found())
    }

    /// Returns FP / (FP + TN); none if all tasks are stragglers.
    pub fn false_positive_rate(&self) -> Option<f64> {
        rate(self.wrong())
    }

    /// Returns the mean age of stragglers when they were flagged, as a share of their time; none if no straggler was flagged.
    pub fn mean_flag_point(&self) -> Option<f64> {
        (self.true_positive > 0).then(|| self.flag_points / self.true_positive as f64)
    }

    /// Adds the tasks of another score.
    pub fn merge(&mut self, other: &Self) {
        self.true_positive += other.true_positive;
        self.false_positive += other.false_positive;
        self.true_negative += other.true_negative;
        self.false_negative += other.false_negative;
        self.flag_points += other.flag_points;
    }

    /// Adds a task.
    pub fn push(&mut self, straggler: bool, flagged_at: Option<f64>) {
        match (straggler, flagged_at) {
            (true, Some(point)) => {
                self.true_positive += 1;
                self.flag_points += point;
            }
            (true, None) => self.false_negative += 1,
            (false, Some(_)) => self.false_positive += 1,
            (false, None) => self.true_negative += 1,
        }
    }
}

fn rate(share: Share) -> Option<f64> {
    (share.whole > 0).then(|| share.part as f64 / share.whole as f64)
}

/// Stragglers are tasks that took more than 1.5 medians of their group, from first to last report. \[Garraghan2015, VI.A\]
pub const TRUTH: StragglerRule = StragglerRule { centre: Centre::Median, factor: 1.5 };

/// Scores flags on the finished attempts of a history, by the time from first to last report.
pub fn score(history: &History, flags: &[StragglerFlag]) -> Score {
    let mut score = Score::default();
    for group in history.groups() {
        let mut times: Vec<f64> = group.iter().filter_map(TaskHistory::time_s).collect();
        times.sort_unstable_by(f64::total_cmp);
        let Some(limit) = TRUTH.limit(&times) else { continue };
        for task in group {
            let Some(time) = task.time_s() else { continue };
            let flag = flags.iter().find(|flag| is_about(flag, task));
            score.push(time > limit, flag.map(|flag| flag.age_s / time));
        }
    }
    score
}

/// Scores flags by the times of the log: the successful attempts of each stage with progress in the history. Flag points count from the launch.
pub fn score_by_log(trace: &JobTrace, history: &History, flags: &[StragglerFlag]) -> Score {
    let (mut score, origin_s) = (Score::default(), trace.origin_us as f64 / 1e6);
    for (id, stage) in trace.stages_with_ids() {
        let number = stage.number.to_string();
        if !history.tasks.iter().any(|task| task.stage == number) {
            continue;
        }
        let flags: Vec<&StragglerFlag> = flags.iter().filter(|flag| flag.stage == number).collect();
        let done = || trace.attempts_of(id).iter().filter(|attempt| attempt.succeeded());
        let mut times: Vec<f64> = done().filter_map(Attempt::duration).collect();
        times.sort_unstable_by(f64::total_cmp);
        let Some(limit) = TRUTH.limit(&times) else { continue };
        for attempt in done() {
            let (Some(time), Some(launch)) = (attempt.duration(), attempt.launch()) else { continue };
            let is_it = |flag: &&&StragglerFlag| (flag.task, flag.attempt) == (u64::from(attempt.task), attempt.number);
            let flag = flags.iter().find(is_it);
            score.push(time > limit, flag.map(|flag| (flag.time_s - origin_s - launch.seconds()) / time));
        }
    }
    score
}

fn is_about(flag: &StragglerFlag, task: &TaskHistory) -> bool {
    (flag.task, flag.attempt) == (task.task, task.attempt)
        && (&flag.job, &flag.kind, &flag.stage) == (&task.job, &task.kind, &task.stage)
}
