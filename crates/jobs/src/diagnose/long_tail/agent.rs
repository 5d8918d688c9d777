//! The online agent: reads reports as they arrive, and flags a task as soon as enough consecutive samples predict a straggler.
//!
//! Implements the set of live attempts and the counts. `group` judges a sample. The agent's clock is the clock of the
//! reports, so a replay gives the same flags as the live run; memory grows only with running attempts, not with
//! finished attempts.

use std::collections::{HashMap, VecDeque};

use serde::Serialize;

use crate::diagnose::long_tail::group::{Group, Judgement, LiveTask, Usual};
use crate::diagnose::long_tail::model::Model;
use crate::diagnose::long_tail::oddity::{Oddities, Oddity};
use crate::diagnose::long_tail::record::ProgressRecord;
use crate::diagnose::long_tail::settings::AgentSettings;
use crate::diagnose::long_tail::task::{Sample, TaskState};

/// Number of finished attempts whose late reports are recognised, in addition to the number of running attempts.
const REMEMBERED: usize = 4096;

/// Reports arrive slightly early or late; a sample is due when all but this share of the interval has passed.
const JITTER: f64 = 0.02;

/// Maximum lag of a report behind the latest report, in samples: half of a task's usual time, or half a minute. If a
/// report lags more, the reports are out of time order.
const MOST_BEHIND: f64 = 30.0;

/// A flagged task.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StragglerFlag {
    /// Time of the flag \[s\], on the clock of the reports.
    pub time_s: f64,
    /// The job; empty if not given.
    pub job: String,
    /// Kind of work of the task; empty if not given.
    pub kind: String,
    /// The stage; empty if not given.
    pub stage: String,
    /// The task's number.
    pub task: u64,
    /// Attempt number.
    pub attempt: u32,
    /// The node; empty if not given.
    pub node: String,
    /// Age: seconds since its first report.
    pub age_s: f64,
    /// Completed share of its work.
    pub progress: f64,
    /// Share that a usual task of its job has completed at that age.
    pub usual_progress: f64,
    /// Factor by which the task takes longer than its job's tasks usually do, estimated from its progress.
    pub slowdown: f64,
    /// Threshold for the slow-down.
    pub boundary: f64,
    /// Probability that the task ends as a straggler, given the error of early predictions.
    pub probability: f64,
    /// Total work, in the source's unit, if known.
    pub total: Option<f64>,
}

/// Counts of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentCounts {
    /// Reports accepted.
    pub reports: u64,
    /// Attempts seen.
    pub tasks: u64,
    /// Attempts that ended.
    pub ended: u64,
    /// Attempts flagged.
    pub flagged: u64,
    /// Maximum number of attempts running at a time.
    pub most_running: u64,
}

/// Group, task, attempt.
type Key = (u32, u64, u32);

/// Follows tasks by their reports.
#[derive(Debug)]
pub struct Agent<'m> {
    model: Option<&'m Model>,
    settings: AgentSettings,
    /// Groups by their number; a number is reused after its group is removed.
    groups: Vec<Option<Group>>,
    /// Numbers of groups by job, kind and stage, with a 0 between them.
    names: HashMap<String, u32>,
    /// Position of each running attempt in its group.
    positions: HashMap<Key, usize>,
    /// Finished attempts, the latest last.
    ended: VecDeque<Key>,
    ended_set: HashMap<Key, ()>,
    /// The latest time of a report, and a time that leaps ahead of the latest time and awaits confirmation.
    now_s: f64,
    leap_s: Option<f64>,
    next_sweep_s: f64,
    counts: AgentCounts,
    /// Kept to reuse the memory.
    name: String,
}

impl<'m> Agent<'m> {
    /// Creates an agent with a learned model; without one, the tasks of a job are compared only with each other.
    pub fn new(model: Option<&'m Model>, settings: AgentSettings) -> Self {
        Self {
            model,
            settings,
            groups: Vec::new(),
            names: HashMap::new(),
            positions: HashMap::new(),
            ended: VecDeque::new(),
            ended_set: HashMap::new(),
            now_s: f64::NEG_INFINITY,
            leap_s: None,
            next_sweep_s: f64::NEG_INFINITY,
            counts: AgentCounts::default(),
            name: String::new(),
        }
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> AgentCounts {
        self.counts
    }

    /// Returns the number of running attempts.
    pub fn running(&self) -> usize {
        self.positions.len()
    }

    /// Takes a report from line `line`, 0 if unknown; returns a flag if the report triggers one.
    pub fn take(&mut self, record: &ProgressRecord<'_>, line: u64, oddities: &mut Oddities) -> Option<StragglerFlag> {
        if !self.tick(record.time_s) {
            oddities.add(Oddity::TimeLeaps, line, "");
            return None;
        }
        self.sweep(oddities);
        let group = self.group(record, line, oddities);
        let key = (group, record.task, record.attempt);
        if let Some(&position) = self.positions.get(&key) {
            return self.follow(key, position, record, line, oddities);
        }
        self.begin(key, record, line, oddities);
        None
    }

    /// Returns true if the time of a report is plausible. A jump forward by more than `forget_s` must be confirmed by
    /// the next report, so that a single wrong time does not end all attempts.
    fn tick(&mut self, time_s: f64) -> bool {
        let limit = self.now_s + self.settings.forget_s;
        if self.now_s.is_finite() && time_s > limit && self.leap_s.replace(time_s).is_none() {
            return false;
        }
        self.leap_s = None;
        self.now_s = self.now_s.max(time_s);
        true
    }

    /// Returns the number of a report's group, creating it if new.
    fn group(&mut self, record: &ProgressRecord<'_>, line: u64, oddities: &mut Oddities) -> u32 {
        self.name.clear();
        for part in [&record.job, &record.kind, &record.stage] {
            self.name.push_str(part);
            self.name.push('\0');
        }
        if let Some(&number) = self.names.get(&self.name) {
            if let Some(Some(group)) = self.groups.get_mut(number as usize) {
                group.last_s = group.last_s.max(record.time_s);
            }
            return number;
        }
        let profile = self.model.and_then(|model| model.position(&record.kind));
        if self.model.is_some() && profile.is_none() {
            oddities.add(Oddity::UnknownKind, line, &record.kind);
        }
        let mut group = Group::new(&record.job, &record.kind, &record.stage, profile);
        group.last_s = record.time_s;
        let free = self.groups.iter().position(Option::is_none).unwrap_or(self.groups.len());
        if free == self.groups.len() {
            self.groups.push(None);
        }
        self.groups[free] = Some(group);
        self.names.insert(self.name.clone(), free as u32);
        free as u32
    }

    fn usual(&self, group: &Group) -> Usual<'m> {
        Usual::new(group.profile.and_then(|profile| self.model?.profile.get(profile)))
    }

    /// Returns true if a report is much older than the latest report, so that it would be compared with tasks at a
    /// different time.
    fn is_late(&self, group: Option<&Group>, time_s: f64) -> bool {
        let usual_s = || group.and_then(|group| group.usual_s(self.usual(group))).unwrap_or(f64::INFINITY);
        time_s < self.now_s && self.now_s - time_s > MOST_BEHIND * self.settings.interval(usual_s())
    }

    fn begin(&mut self, key: Key, record: &ProgressRecord<'_>, line: u64, oddities: &mut Oddities) {
        if self.ended_set.contains_key(&key) {
            return oddities.add(Oddity::AfterEnd, line, "");
        }
        let state = TaskState::new(record);
        if state.sample().ended {
            return oddities.add(Oddity::DoneAtOnce, line, "");
        }
        if self.positions.len() >= self.settings.most_tasks {
            return oddities.add(Oddity::TooManyTasks, line, "");
        }
        let late = self.groups.get(key.0 as usize).is_some_and(|group| self.is_late(group.as_ref(), record.time_s));
        let Some(Some(group)) = self.groups.get_mut(key.0 as usize) else { return };
        if late {
            oddities.add(Oddity::OutOfOrder, line, "");
        }
        self.positions.insert(key, group.live.len());
        group.live.push(LiveTask {
            task: record.task,
            attempt: record.attempt,
            node: record.node.as_ref().into(),
            state,
            sampled_s: f64::NEG_INFINITY,
            streak: 0,
            flagged: false,
            slow: None,
        });
        self.counts.reports += 1;
        self.counts.tasks += 1;
        self.counts.most_running = self.counts.most_running.max(self.positions.len() as u64);
    }

    fn follow(
        &mut self,
        key: Key,
        position: usize,
        record: &ProgressRecord<'_>,
        line: u64,
        oddities: &mut Oddities,
    ) -> Option<StragglerFlag> {
        let mut group = self.groups.get_mut(key.0 as usize)?.take()?;
        let usual = self.usual(&group);
        let mut flag = None;
        match group.live[position].state.follow(record) {
            Err(oddity) => oddities.add(oddity, line, ""),
            Ok((sample, told)) => {
                let late = self.is_late(Some(&group), record.time_s).then_some(Oddity::OutOfOrder);
                told.into_iter().chain(late).for_each(|oddity| oddities.add(oddity, line, ""));
                self.counts.reports += 1;
                if sample.ended {
                    group.end(position, &sample, usual);
                    self.leave(key, &group, position);
                    self.counts.ended += 1;
                    self.remember(key);
                } else {
                    group.note(position, &sample, usual);
                    flag = self.sample(&mut group, position, &sample, usual);
                }
            }
        }
        self.groups[key.0 as usize] = Some(group);
        flag
    }

    /// Handles a report that may count as a sample.
    fn sample(
        &mut self,
        group: &mut Group,
        position: usize,
        sample: &Sample,
        usual: Usual<'_>,
    ) -> Option<StragglerFlag> {
        let settings = self.settings;
        let usual_s = group.usual_s(usual).unwrap_or(f64::INFINITY);
        let interval_s = settings.interval(usual_s);
        let task = &group.live[position];
        let due = task.sampled_s + (1.0 - JITTER) * interval_s;
        if task.flagged || sample.age_s < settings.start(usual_s) || sample.age_s < due {
            return None;
        }
        group.refresh(self.now_s, interval_s, usual, settings.history_weight);
        let judged = group.judge(sample, usual, &settings);
        let task = &mut group.live[position];
        task.sampled_s = sample.age_s;
        task.streak = if judged.is_some_and(|judged| judged.beyond) { task.streak + 1 } else { 0 };
        task.flagged = task.streak >= settings.samples;
        let judged = judged.filter(|_| task.flagged)?;
        self.counts.flagged += 1;
        Some(flag(group, position, sample, &judged))
    }

    /// Removes an attempt from its group; records the position of the attempt that has taken its place, if any.
    fn leave(&mut self, key: Key, group: &Group, position: usize) {
        self.positions.remove(&key);
        if let Some(moved) = group.live.get(position) {
            self.positions.insert((key.0, moved.task, moved.attempt), position);
        }
    }

    fn remember(&mut self, key: Key) {
        if self.ended_set.insert(key, ()).is_none() {
            self.ended.push_back(key);
        }
        while self.ended.len() > REMEMBERED + self.positions.len() {
            if let Some(oldest) = self.ended.pop_front() {
                self.ended_set.remove(&oldest);
            }
        }
    }

    /// Forgets, from time to time, attempts that fell silent and groups that have finished.
    fn sweep(&mut self, oddities: &mut Oddities) {
        if self.now_s < self.next_sweep_s {
            return;
        }
        let first = self.next_sweep_s == f64::NEG_INFINITY;
        self.next_sweep_s = self.now_s + 0.25 * self.settings.forget_s;
        if !first {
            self.forget_before(self.now_s - self.settings.forget_s, Oddity::Silent, oddities);
        }
    }

    fn forget_before(&mut self, oldest_s: f64, because: Oddity, oddities: &mut Oddities) {
        for number in 0..self.groups.len() {
            let Some(mut group) = self.groups[number].take() else { continue };
            let mut position = 0;
            while let Some(task) = group.live.get(position) {
                if task.state.last_s >= oldest_s {
                    position += 1;
                    continue;
                }
                let key = (number as u32, task.task, task.attempt);
                oddities.add(because, 0, &describe(&group, task));
                group.live.swap_remove(position);
                self.leave(key, &group, position);
            }
            if group.live.is_empty() && group.last_s < oldest_s {
                self.names.retain(|_, &mut other| other as usize != number);
                self.ended.retain(|key| key.0 as usize != number);
                self.ended_set.retain(|key, ()| key.0 as usize != number);
            } else {
                self.groups[number] = Some(group);
            }
        }
    }

    /// Handles the end of the reports: counts the attempts that still run.
    pub fn finish(&mut self, oddities: &mut Oddities) {
        self.forget_before(f64::INFINITY, Oddity::StillRunning, oddities);
    }
}

fn describe(group: &Group, task: &LiveTask) -> String {
    let parts = [&*group.job, &*group.kind, &*group.stage].into_iter().filter(|part| !part.is_empty());
    let name: String = parts.flat_map(|part| [part, " "]).collect();
    format!("{name}task {} attempt {}, {:.0}% complete", task.task, task.attempt, 100.0 * task.state.progress)
}

fn flag(group: &Group, position: usize, sample: &Sample, judged: &Judgement) -> StragglerFlag {
    let task = &group.live[position];
    StragglerFlag {
        time_s: task.state.last_s,
        job: group.job.to_string(),
        kind: group.kind.to_string(),
        stage: group.stage.to_string(),
        task: task.task,
        attempt: task.attempt,
        node: task.node.to_string(),
        age_s: sample.age_s,
        progress: sample.progress,
        usual_progress: judged.peers,
        slowdown: judged.slowdown,
        boundary: judged.boundary,
        probability: judged.probability,
        total: task.state.total,
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::diagnose::long_tail::curve::ProgressCurve;
    use crate::diagnose::long_tail::model::MODEL_VERSION;
    use crate::diagnose::long_tail::profile::Profile;
    use crate::diagnose::long_tail::settings::{Boundary, PeerRule};

    /// A report of task `task` of job a or of another job.
    fn report(job: &'static str, task: u64, time_s: f64, progress: f64) -> ProgressRecord<'static> {
        let [kind, stage, node] = ["map", "1", "n1"].map(Cow::Borrowed);
        ProgressRecord { job: Cow::Borrowed(job), kind, stage, task, attempt: 0, node, time_s, progress, total: None }
    }

    /// A model of even progress over a minute.
    fn model() -> Model {
        let profile = Profile {
            kind: "map".into(),
            tasks: 20,
            task_spread: 0.1,
            error: 0.02,
            curve: ProgressCurve::Linear { intercept: 0.0, slope: 1.0 / 60.0 },
            spread: vec![(0.05, 0.3), (1.0, 0.02)],
        };
        Model { format_version: MODEL_VERSION, profile: vec![profile] }
    }

    fn paper() -> AgentSettings {
        AgentSettings { boundary: Boundary::Fixed { peers: PeerRule::Diff }, ..AgentSettings::paper() }
    }

    /// Returns the flags of ten tasks that report at this step; the first takes `slow` minutes.
    fn flagged_at(settings: AgentSettings, step_s: f64, slow: f64) -> Vec<(u64, f64)> {
        let model = model();
        let (mut agent, mut oddities, mut flags) =
            (Agent::new(Some(&model), settings), Oddities::default(), Vec::new());
        for step in 0..(59.0 / step_s) as u32 {
            let time_s = f64::from(step) * step_s;
            for task in 0..10 {
                let minutes = if task == 0 { slow } else { 1.0 };
                let flag = agent.take(&report("a", task, time_s, time_s / 60.0 / minutes), 0, &mut oddities);
                flags.extend(flag.map(|flag| (flag.task, flag.age_s)));
            }
        }
        assert_eq!(oddities.list().count(), 0);
        flags
    }

    #[test]
    fn the_paper_s_rule_flags_after_five_seconds_and_three_samples() {
        assert_eq!(flagged_at(paper(), 1.0, 2.0), [(0, 7.0)]);
        assert_eq!(flagged_at(paper(), 1.0, 1.45), []);
        assert_eq!(flagged_at(AgentSettings { samples: 1, ..paper() }, 1.0, 2.0), [(0, 5.0)]);
        assert_eq!(flagged_at(AgentSettings { start_s: 2.0, samples: 5, ..paper() }, 1.0, 2.0), [(0, 6.0)]);
        // four reports a second do not give more samples
        assert_eq!(flagged_at(paper(), 0.25, 2.0), [(0, 7.0)]);
        // the literal reading requires less than half of the median
        let half = AgentSettings { boundary: Boundary::Fixed { peers: PeerRule::Half }, ..paper() };
        assert_eq!((flagged_at(half, 1.0, 1.9), flagged_at(half, 1.0, 2.1)), (vec![], vec![(0, 7.0)]));
    }

    #[test]
    fn the_adaptive_rule_flags_slower_tasks_earlier() {
        let at = |slow| flagged_at(AgentSettings::adaptive(), 1.0, slow).first().map_or(f64::INFINITY, |flag| flag.1);
        assert!(at(4.0) < at(2.0) && at(2.0) < at(1.75), "{} {} {}", at(4.0), at(2.0), at(1.75));
        assert!(at(4.0) < 7.0 && at(1.4).is_infinite());
    }

    #[test]
    fn samples_count_in_a_row_only() {
        let model = model();
        let (mut agent, mut oddities) = (Agent::new(Some(&model), paper()), Oddities::default());
        // judged from 5 s on: above the boundary at 5 and 6 s, not at 7 s nor at 8 s, and again from 9 s on
        let mut flagged = None;
        for second in 0..11_u32 {
            let time_s = f64::from(second);
            let slow = 1.0 / if second == 7 { 1.25 } else { 2.0 };
            let progress = (time_s / 60.0 * slow).max(if second > 7 { 7.0 / 75.0 } else { 0.0 });
            flagged =
                flagged.or(agent.take(&report("a", 0, time_s, progress), 0, &mut oddities).map(|flag| flag.age_s));
        }
        assert_eq!(flagged, None);
        for second in 11..30_u32 {
            let progress = (f64::from(second) / 120.0).max(7.0 / 75.0);
            flagged =
                flagged.or(agent.take(&report("a", 0, f64::from(second), progress), 0, &mut oddities).map(|f| f.age_s));
        }
        assert_eq!(flagged, Some(11.0));
    }

    #[test]
    fn impossible_reports_are_counted_and_ignored() {
        let (mut agent, mut oddities) = (Agent::new(None, AgentSettings::adaptive()), Oddities::default());
        for (task, time_s, progress, oddity) in [
            (0, 0.0, 0.0, None),
            (0, 10.0, 0.4, None),
            (0, 9.0, 0.5, Some(Oddity::TimeBackwards)),
            (0, 11.0, 0.3, Some(Oddity::ProgressFell)),
            (0, 1e12, 0.5, Some(Oddity::TimeLeaps)),
            (1, 11.0, 1.0, Some(Oddity::DoneAtOnce)),
            (0, 12.0, 1.0, None),
            (0, 13.0, 1.0, Some(Oddity::AfterEnd)),
        ] {
            let before: u64 = oddities.list().map(|counted| counted.count).sum();
            agent.take(&report("a", task, time_s, progress), 1, &mut oddities);
            let after: u64 = oddities.list().map(|counted| counted.count).sum();
            assert_eq!(after - before, u64::from(oddity.is_some()), "{task} at {time_s}");
            assert!(oddity.is_none_or(|oddity| oddities.count(oddity) == 1), "{oddity:?}");
        }
        assert_eq!((agent.counts().reports, agent.counts().tasks, agent.counts().ended), (3, 1, 1));
        // a second report with a similar time confirms the leap
        agent.take(&report("a", 2, 2e12, 0.0), 0, &mut oddities);
        agent.take(&report("a", 3, 2e12, 0.0), 0, &mut oddities);
        assert_eq!((agent.running(), oddities.count(Oddity::TimeLeaps)), (1, 2));
    }

    /// Tasks listed one after the other that ran at the same time; with a model of a minute, 30 s is too far behind.
    #[test]
    fn reports_that_are_not_in_the_order_of_time_are_counted() {
        let model = model();
        for (lasted_s, late) in [(30_u32, 0), (31, 1), (50, 20)] {
            let (mut agent, mut oddities) = (Agent::new(Some(&model), paper()), Oddities::default());
            for task in 0..2 {
                for second in 0..=lasted_s {
                    let progress = f64::from(second) / 60.0;
                    agent.take(&report("a", task, f64::from(second), progress), 0, &mut oddities);
                }
            }
            assert_eq!(oddities.count(Oddity::OutOfOrder), late, "{lasted_s}");
            assert_eq!(agent.counts().reports, u64::from(2 * (lasted_s + 1)), "they are used all the same");
        }
    }

    #[test]
    fn memory_is_that_of_the_tasks_that_run() {
        let model = model();
        let (mut agent, mut oddities) = (Agent::new(Some(&model), AgentSettings::adaptive()), Oddities::default());
        let jobs = ["a", "b", "c"];
        // 60,000 tasks in three jobs, two at a time; one in a thousand falls silent
        for task in 0..60_000_u64 {
            let job = jobs[(task / 20_000) as usize];
            let start = task as f64;
            agent.take(&report(job, task, start, 0.0), 0, &mut oddities);
            agent.take(&report(job, task, start + 1.0, 0.5), 0, &mut oddities);
            if task % 1000 != 7 {
                agent.take(&report(job, task, start + 1.0, 1.0), 0, &mut oddities);
            }
        }
        assert_eq!(oddities.count(Oddity::Silent), 60 - agent.running() as u64);
        assert!(agent.running() <= 1 && agent.counts().most_running <= 3, "{:?}", agent.counts());
        assert!(agent.ended.len() <= REMEMBERED + 2 && agent.ended_set.len() == agent.ended.len());
        assert_eq!(agent.names.len(), agent.groups.iter().flatten().count());
        assert!(agent.names.len() <= 2, "jobs that are done are forgotten");
        agent.finish(&mut oddities);
        let left = oddities.count(Oddity::Silent) + oddities.count(Oddity::StillRunning);
        assert_eq!((agent.running(), agent.names.len(), left), (0, 0, 60));
    }

    #[test]
    fn more_tasks_than_the_limit_are_counted() {
        let settings = AgentSettings { most_tasks: 2, ..AgentSettings::adaptive() };
        let (mut agent, mut oddities) = (Agent::new(None, settings), Oddities::default());
        for task in 0..5 {
            agent.take(&report("a", task, 0.0, 0.0), 0, &mut oddities);
        }
        assert_eq!((agent.running(), oddities.count(Oddity::TooManyTasks)), (2, 3));
    }
}
