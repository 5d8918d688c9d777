//! The checks of a detector on a recorded stage: their times, the state that it observes, and its first flags.

use std::collections::{BTreeMap, HashMap};

use crate::cluster::detect::{Detector, Finished, Flag, NodeSpeed, RunningTask, View};
use crate::cluster::formulas::{looks_for_stragglers, task_speed};
use crate::cluster::{PolicyPlan, Watching};
use crate::diagnose::detection::followed::{Followed, FollowedStage};

/// Maximum number of checks of a stage: in a long stage, a detector checks less often than its interval.
const MOST_LOOKS: f64 = 100_000.0;

/// Returns the tasks of a stage that a policy flags, with the time of the first flag \[s since the start of the trace\].
pub(super) fn flagged(stage: &FollowedStage<'_>, policy: &PolicyPlan) -> BTreeMap<u32, f64> {
    let Some(detector) = policy.detector.detector() else { return BTreeMap::new() };
    let interval = detector.interval_s().max((stage.to_s - stage.from_s) / MOST_LOOKS);
    let mut looking = Looking::new(stage, detector);
    let first = stage.from_s + interval.max(policy.lag_s);
    for look in 0..=MOST_LOOKS as u64 {
        let now_s = first + look as f64 * interval;
        if now_s >= stage.to_s {
            break;
        }
        looking.advance(now_s);
        let waiting = if policy.watch == Watching::LastWave { looking.waiting } else { 0 };
        if looks_for_stragglers(u64::from(waiting), now_s - stage.from_s, policy.lag_s) {
            looking.look(now_s);
        }
    }
    looking.flagged
}

/// The state of a stage at a moment, and the flags so far.
struct Looking<'a> {
    stage: &'a FollowedStage<'a>,
    detector: &'a dyn Detector,
    /// Start of each task's first copy \[s\].
    copied: HashMap<u32, f64>,
    /// Attempts that completed their task, in the order of their ends.
    ends: Vec<u32>,
    ended: usize,
    begun: usize,
    /// Tasks whose first attempt has not started.
    waiting: u32,
    /// Running attempts, in the order of their launch, each with the number of its reports so far.
    running: Vec<(u32, usize)>,
    finished: Finished,
    flagged: BTreeMap<u32, f64>,
    last_request_s: Option<f64>,
    seen: Vec<RunningTask>,
    speeds: Vec<NodeSpeed>,
}

impl<'a> Looking<'a> {
    fn new(stage: &'a FollowedStage<'a>, detector: &'a dyn Detector) -> Self {
        let mut copied = HashMap::new();
        for attempt in stage.attempts.iter().filter(|attempt| attempt.is_copy) {
            let first: &mut f64 = copied.entry(attempt.task).or_insert(f64::INFINITY);
            *first = first.min(attempt.start_s);
        }
        let attempts = &stage.attempts;
        let mut ends: Vec<u32> = (0..attempts.len() as u32).filter(|&i| attempts[i as usize].done).collect();
        ends.sort_by(|&a, &b| attempts[a as usize].end_s.total_cmp(&attempts[b as usize].end_s));
        let nodes = attempts.iter().map(|attempt| attempt.node as usize + 1).max().unwrap_or(0);
        Self {
            stage,
            detector,
            copied,
            ends,
            ended: 0,
            begun: 0,
            waiting: attempts.iter().filter(|attempt| !attempt.is_copy).count() as u32,
            running: Vec::new(),
            finished: Finished::default(),
            flagged: BTreeMap::new(),
            last_request_s: None,
            seen: Vec::new(),
            speeds: vec![NodeSpeed::default(); nodes],
        }
    }

    fn attempt(&self, number: u32) -> &'a Followed {
        &self.stage.attempts[number as usize]
    }

    /// Advances time: attempts start and end.
    fn advance(&mut self, now_s: f64) {
        while let Some(attempt) = self.stage.attempts.get(self.begun).filter(|attempt| attempt.start_s <= now_s) {
            self.running.push((self.begun as u32, 0));
            self.waiting -= u32::from(!attempt.is_copy);
            self.begun += 1;
        }
        while let Some(&number) = self.ends.get(self.ended).filter(|&&number| self.attempt(number).end_s <= now_s) {
            let attempt = self.attempt(number);
            self.finished.push(attempt.end_s - attempt.start_s, attempt.size);
            self.ended += 1;
        }
        let attempts = &self.stage.attempts;
        self.running.retain(|&(number, _)| attempts[number as usize].end_s > now_s);
    }

    /// Runs one check.
    fn look(&mut self, now_s: f64) {
        if self.running.is_empty() || self.finished.count() < self.detector.least_finished(self.stage.tasks) {
            return;
        }
        self.see(now_s);
        let view = View {
            now_s,
            category: self.stage.category,
            tasks: self.stage.tasks,
            running: &self.seen,
            waiting: self.waiting,
            finished: &self.finished,
            nodes: &self.speeds,
            last_request_s: self.last_request_s,
        };
        let mut flags: Vec<Flag> = Vec::new();
        self.detector.flag(&view, &mut flags);
        for flag in &flags {
            self.flagged.entry(self.seen[flag.position].task).or_insert(now_s);
            self.last_request_s = Some(now_s);
        }
    }

    /// Collects the last reports of the attempts that run.
    fn see(&mut self, now_s: f64) {
        self.seen.clear();
        self.speeds.fill(NodeSpeed::default());
        for (number, at) in &mut self.running {
            let attempt = &self.stage.attempts[*number as usize];
            let (elapsed_s, score) = attempt.report(now_s, at);
            if self.detector.compares_nodes()
                && let Some(speed) = task_speed(score, attempt.size, elapsed_s)
            {
                let speeds = &mut self.speeds[attempt.node as usize];
                speeds.sum += speed;
                speeds.tasks += 1;
            }
            let is_copied = self.copied.get(&attempt.task).is_some_and(|begun| *begun <= now_s);
            self.seen.push(RunningTask {
                task: attempt.task,
                node: attempt.node,
                start_s: attempt.start_s,
                elapsed_s,
                score,
                size: attempt.size,
                is_copy: attempt.is_copy,
                open: !attempt.is_copy && !is_copied && !self.flagged.contains_key(&attempt.task),
                restarts: 0,
            });
        }
    }
}
