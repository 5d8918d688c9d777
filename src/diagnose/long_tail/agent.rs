//! The online agent: reads reports as they come, and flags a task as soon as enough samples in a row say that it will be a straggler.
//!
//! Owns who is alive and what is counted. The judgement of a sample is in `group`. Its clock is that of the reports, so that a replay gives
//! the same flags as the day itself; memory grows with the attempts that run, never with those that ended.

use std::collections::{HashMap, VecDeque};

use serde::Serialize;

use crate::diagnose::long_tail::group::{Group, Judgement, LiveTask, Usual};
use crate::diagnose::long_tail::model::Model;
use crate::diagnose::long_tail::oddity::{Oddities, Oddity};
use crate::diagnose::long_tail::record::ProgressRecord;
use crate::diagnose::long_tail::settings::AgentSettings;
use crate::diagnose::long_tail::task::{Sample, TaskState};

/// Attempts that ended whose late reports are recognised: so many, and as many again as there are running ones.
const REMEMBERED: usize = 4096;

/// Reports come a little early or late; a sample is due when all but this share of the interval has passed.
const JITTER: f64 = 0.02;

/// A task that is flagged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StragglerFlag {
    /// When \[s\], on the clock of the reports.
    pub time_s: f64,
    /// The job; empty where it is not named.
    pub job: String,
    /// What the task does; empty where it is not named.
    pub kind: String,
    /// The stage; empty where it is not named.
    pub stage: String,
    /// The task's number.
    pub task: u64,
    /// Which attempt of it.
    pub attempt: u32,
    /// The node; empty where it is not named.
    pub node: String,
    /// Its age: seconds since its first report.
    pub age_s: f64,
    /// The share that it has done.
    pub progress: f64,
    /// The share that a usual task of its job has done at that age.
    pub usual_progress: f64,
    /// How much longer it takes than the tasks of its job usually do, as far as its progress tells.
    pub slowdown: f64,
    /// What that had to exceed.
    pub boundary: f64,
    /// The probability that it ends as a straggler, by how far early looks are off.
    pub probability: f64,
    /// All that it has to do, in the source's unit, where that is told.
    pub total: Option<f64>,
}

/// Counts of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AgentCounts {
    /// Reports that were taken.
    pub reports: u64,
    /// Attempts that were seen.
    pub tasks: u64,
    /// Attempts that ended.
    pub ended: u64,
    /// Attempts that were flagged.
    pub flagged: u64,
    /// Most attempts that ran at a time.
    pub most_running: u64,
}

/// Group, task, attempt.
type Key = (u32, u64, u32);

/// Follows tasks by their reports.
#[derive(Debug)]
pub struct Agent<'m> {
    model: Option<&'m Model>,
    settings: AgentSettings,
    /// Groups by their number; a number is used again when its group is gone.
    groups: Vec<Option<Group>>,
    /// Numbers of groups by job, kind and stage, with a 0 between them.
    names: HashMap<String, u32>,
    /// Where each running attempt is among those of its group.
    positions: HashMap<Key, usize>,
    /// Attempts that ended, the latest last.
    ended: VecDeque<Key>,
    ended_set: HashMap<Key, ()>,
    /// The latest time of a report, and one that leaps beyond it and waits to be confirmed.
    now_s: f64,
    leap_s: Option<f64>,
    next_sweep_s: f64,
    counts: AgentCounts,
    /// Kept for its memory.
    name: String,
}

impl<'m> Agent<'m> {
    /// An agent with what was learned; without a model the tasks of a job are compared with each other only.
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

    /// What was counted so far.
    pub fn counts(&self) -> AgentCounts {
        self.counts
    }

    /// Attempts that run.
    pub fn running(&self) -> usize {
        self.positions.len()
    }

    /// Takes a report, of a line from 1 or 0 for none; gives a flag where it is the one that decides.
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

    /// Whether a time can be: one that leaps ahead by more than the silence after which attempts are forgotten must be confirmed by
    /// the next report, lest a single wrong one ends them all.
    fn tick(&mut self, time_s: f64) -> bool {
        let limit = self.now_s + self.settings.forget_s;
        if self.now_s.is_finite() && time_s > limit && self.leap_s.replace(time_s).is_none() {
            return false;
        }
        self.leap_s = None;
        self.now_s = self.now_s.max(time_s);
        true
    }

    /// The number of a report's group, which is made where it is new.
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
        let Some(Some(group)) = self.groups.get_mut(key.0 as usize) else { return };
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
                if let Some(oddity) = told {
                    oddities.add(oddity, line, "");
                }
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

    /// A report that may count as a sample.
    fn sample(&mut self, group: &mut Group, position: usize, sample: &Sample, usual: Usual<'_>) -> Option<StragglerFlag> {
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

    /// An attempt left its group, where another one may have taken its place.
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

    /// Now and then, forgets attempts that fell silent, and groups that are done.
    fn sweep(&mut self, oddities: &mut Oddities) {
        if self.now_s < self.next_sweep_s {
            return;
        }
        let first = self.next_sweep_s == f64::NEG_INFINITY;
        self.next_sweep_s = self.now_s + 0.25 * self.settings.forget_s;
        if !first {
            self.forget_before(self.now_s - self.settings.forget_s, oddities);
        }
    }

    fn forget_before(&mut self, oldest_s: f64, oddities: &mut Oddities) {
        for number in 0..self.groups.len() {
            let Some(mut group) = self.groups[number].take() else { continue };
            let mut position = 0;
            while let Some(task) = group.live.get(position) {
                if task.state.last_s >= oldest_s {
                    position += 1;
                    continue;
                }
                let key = (number as u32, task.task, task.attempt);
                oddities.add(Oddity::Silent, 0, &describe(&group, task));
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

    /// The end of the reports: what still runs is counted as silent.
    pub fn finish(&mut self, oddities: &mut Oddities) {
        self.forget_before(f64::INFINITY, oddities);
    }
}

fn describe(group: &Group, task: &LiveTask) -> String {
    let parts = [&*group.job, &*group.kind, &*group.stage].into_iter().filter(|part| !part.is_empty());
    let name: String = parts.flat_map(|part| [part, " "]).collect();
    format!("{name}task {} attempt {}, {:.0} % done", task.task, task.attempt, 100.0 * task.state.progress)
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
