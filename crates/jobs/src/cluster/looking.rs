//! Checks of a detector: when it checks, its input, and the handling of its flags.

use crate::cluster::detect::{Flag, NodeSpeed, Remedy, RunningTask, View};
use crate::cluster::formulas::{looks_for_stragglers, task_speed};
use crate::cluster::node::NOBODY;
use crate::cluster::plan::Watching;
use crate::cluster::policy::Policy;
use crate::cluster::simulator::Simulator;

impl Simulator<'_> {
    /// Schedules the next check, no earlier than the time at which the first job is old enough.
    pub(super) fn set_look_timer(&mut self, policy: &Policy<'_>) {
        let Some(detector) = policy.detector else { return };
        let open = self.jobs.iter().filter(|job| job.time.is_nan());
        let oldest = open.map(|job| job.arrival).fold(f64::INFINITY, f64::min);
        let next = (self.now + detector.interval_s()).max(oldest + policy.lag);
        self.timers.set(self.look_timer(), next);
    }

    /// Runs the detector on all jobs.
    pub(super) fn look(&mut self, policy: &Policy<'_>) {
        let mut asked = false;
        for category in 0..self.categories.len() {
            asked |= self.look_at(category, policy);
        }
        self.is_open |= asked;
        self.set_look_timer(policy);
    }

    /// Runs the detector on the maps or reduces of a job; returns true if it requested copies.
    fn look_at(&mut self, category: usize, policy: &Policy<'_>) -> bool {
        let job = category / 2;
        let Some(detector) = policy.detector.filter(|_| self.jobs[job].here && self.jobs[job].time.is_nan()) else {
            return false;
        };
        let waiting = match policy.watch {
            Watching::LastWave => u64::from(self.categories[category].waiting),
            Watching::FromLag => 0,
        };
        if !looks_for_stragglers(waiting, self.now - self.jobs[job].arrival, policy.lag) {
            return false;
        }
        let (done, count) = (self.categories[category].done, self.world.categories[category].count);
        if done == count || self.categories[category].finished.count() < detector.least_finished(count as usize) {
            return false;
        }
        self.see(category, detector.compares_nodes());
        if !self.seen.iter().any(|task| task.open) {
            return false;
        }
        let mut flags = std::mem::take(&mut self.flags);
        flags.clear();
        self.categories[category].finished.sort();
        let tasks = &self.categories[category];
        let spec = self.world.categories[category];
        let view = View {
            now_s: self.now,
            category: spec.kind,
            tasks: spec.count as usize,
            running: &self.seen,
            waiting: tasks.waiting,
            finished: &tasks.finished,
            nodes: &self.speeds,
            last_request_s: tasks.last_request,
        };
        detector.flag(&view, &mut flags);
        // stable sort: among equals the earlier one stays first
        flags.sort_by(|a, b| b.urgency.total_cmp(&a.urgency));
        let asked = self.ask(category, &flags, policy);
        self.flags = flags;
        asked
    }

    /// Records flagged tasks, and requests copies.
    fn ask(&mut self, category: usize, flags: &[Flag], policy: &Policy<'_>) -> bool {
        for flag in flags {
            let RunningTask { task, start_s, .. } = self.seen[flag.position];
            let state = &mut self.tasks[task as usize];
            if state.detected.is_nan() {
                state.detected = self.now - start_s;
            }
            if flag.remedy == Remedy::Restart && policy.copies && self.nodes.len() > 1 {
                self.restart(task);
                continue;
            }
            state.requested = self.now;
            if policy.copies {
                self.wanted.push(task);
            }
            self.categories[category].last_request = Some(self.now);
        }
        policy.copies && !flags.is_empty()
    }

    /// Builds the master's view of the running attempts of a category.
    fn see(&mut self, category: usize, compares_nodes: bool) {
        self.forget_ended();
        self.seen.clear();
        self.speeds.clear();
        self.speeds.resize(self.nodes.len(), NodeSpeed::default());
        for &number in &self.running {
            let attempt = &self.attempts[number as usize];
            let spec = &self.world.tasks[attempt.task as usize];
            if spec.category as usize != category || attempt.idle {
                continue;
            }
            let node = &self.nodes[attempt.node as usize];
            let state = &self.tasks[attempt.task as usize];
            let (reported_at, work) = node.report(self.now, self.world.heartbeat);
            let elapsed_s = (reported_at - attempt.start).max(0.0);
            let score = if elapsed_s > 0.0 { attempt.score(work) } else { 0.0 };
            if compares_nodes && let Some(speed) = task_speed(score, spec.size, elapsed_s) {
                let speeds = &mut self.speeds[attempt.node as usize];
                speeds.sum += speed;
                speeds.tasks += 1;
            }
            self.seen.push(RunningTask {
                task: attempt.task,
                node: attempt.node,
                start_s: attempt.start,
                elapsed_s,
                score,
                size: spec.size,
                is_copy: attempt.is_copy && state.original != number,
                open: state.original == number && state.copy == NOBODY && state.requested.is_nan(),
                restarts: state.restarts,
            });
        }
    }
}
