//! A node over time: the speed and progress of its tasks, the master's view of it, its energy.
//!
//! All busy tasks of a node run at the same rate, min(1, active cores / tasks) times the speed of the node. So one
//! number is enough for the progress of all tasks: the work that a task present from the start would have done. A task
//! ends when that number has grown by the work of the task.

use std::cmp::Reverse;

use crate::cluster::energy::node_power;
use crate::cluster::plan::Power;
use crate::cluster::world::NodeSpec;

/// No attempt.
pub(super) const NOBODY: u32 = u32::MAX;

/// The order in which nodes get tasks: by the expected time of the task (0 where the scheduler does not go by it), the tasks of the node, and a random number; then the node itself.
pub(super) type Open = Reverse<(u64, u32, u32, u32)>;

/// A node.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) spec: NodeSpec,
    /// Slots that serve tasks first, slots for copies only, and the number taken of each.
    pub(super) task_slots: u32,
    pub(super) copy_slots: u32,
    pub(super) task_slots_used: u32,
    pub(super) copy_slots_used: u32,
    /// Attempts that need a core.
    pub(super) busy: u32,
    /// Current slow-down factor of tasks.
    pub(super) slowness: f64,
    pub(super) up: bool,
    /// Time for which the following values hold \[s\].
    pub(super) now: f64,
    /// Work done by each busy task since the start \[s\].
    pub(super) work: f64,
    /// Growth per second.
    pub(super) rate: f64,
    /// Work in the last report, and the time of that report.
    pub(super) reported_work: f64,
    pub(super) reported_at: f64,
    power: f64,
    /// Energy up to now \[J\].
    pub(super) energy: f64,
    /// The busy attempt that ends first and the work at which it ends.
    pub(super) first: u32,
    pub(super) first_work: f64,
    /// Times of the next change of slowness, of the next failure or repair, and of abandoning the node's tasks \[s\].
    pub(super) next_slowdown: f64,
    pub(super) next_failure: f64,
    pub(super) expiry: f64,
    pub(super) slowdowns_drawn: u32,
    pub(super) failures_drawn: u32,
    /// Attempts that ended on this node.
    pub(super) finished: u32,
    /// True if the node changed in this event.
    pub(super) is_changed: bool,
    /// Random number that breaks ties between nodes with equally many tasks.
    pub(super) lot: u32,
    /// Delay of each report after a multiple of the heartbeat \[s\].
    phase: f64,
}

impl Node {
    /// Creates an idle node at time 0.
    pub(super) fn new(spec: NodeSpec, kept_for_copies: u32, phase: f64, power: &Power) -> Self {
        Self {
            spec,
            task_slots: spec.slots - kept_for_copies,
            copy_slots: kept_for_copies,
            task_slots_used: 0,
            copy_slots_used: 0,
            busy: 0,
            slowness: 1.0,
            up: true,
            now: 0.0,
            work: 0.0,
            rate: 0.0,
            reported_work: 0.0,
            reported_at: 0.0,
            power: node_power(power, 0, spec.cores),
            energy: 0.0,
            first: NOBODY,
            first_work: f64::INFINITY,
            next_slowdown: f64::INFINITY,
            next_failure: f64::INFINITY,
            expiry: f64::INFINITY,
            slowdowns_drawn: 0,
            failures_drawn: 0,
            finished: 0,
            is_changed: false,
            lot: 0,
            phase,
        }
    }

    /// Advances the node to a later time.
    pub(super) fn advance(&mut self, to: f64, heartbeat: f64) {
        let span = to - self.now;
        if span <= 0.0 {
            return;
        }
        (self.reported_at, self.reported_work) = self.report(to, heartbeat);
        self.work += span * self.rate;
        self.energy += span * self.power;
        self.now = to;
    }

    /// Returns the time of the last report up to `at`, and the work in that report. Does not change the state, so a
    /// check does not affect later results.
    pub(super) fn report(&self, at: f64, heartbeat: f64) -> (f64, f64) {
        if !self.up {
            return (self.reported_at, self.reported_work);
        }
        let last = if heartbeat > 0.0 { ((at - self.phase) / heartbeat).floor() * heartbeat + self.phase } else { at };
        if last > self.now {
            return (last, self.work + (last - self.now) * self.rate);
        }
        (self.reported_at, self.reported_work)
    }

    /// Updates rate and power after a change of the busy tasks.
    pub(super) fn set_rate(&mut self, power: &Power) {
        if !self.up {
            (self.rate, self.power) = (0.0, 0.0);
            return;
        }
        let share = if self.busy == 0 { 0.0 } else { (self.spec.cores / f64::from(self.busy)).min(1.0) };
        self.rate = share * self.spec.speed / self.slowness;
        self.power = node_power(power, self.busy, self.spec.cores);
    }

    /// Returns the time of the next event on this node \[s\].
    pub(super) fn next_event(&self) -> f64 {
        let end = if self.first != NOBODY && self.rate > 0.0 {
            self.now + ((self.first_work - self.work) / self.rate).max(0.0)
        } else {
            f64::INFINITY
        };
        end.min(self.next_slowdown).min(self.next_failure).min(self.expiry)
    }

    /// Returns the number of attempts that hold a slot.
    pub(super) fn used(&self) -> u32 {
        self.task_slots_used + self.copy_slots_used
    }

    /// Returns true if a slot for tasks is free.
    pub(super) fn has_task_slot(&self) -> bool {
        self.up && self.task_slots_used < self.task_slots
    }

    /// Returns true if a slot for copies only is free.
    pub(super) fn has_copy_slot(&self) -> bool {
        self.up && self.copy_slots_used < self.copy_slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(cores: f64) -> Node {
        Node::new(NodeSpec { cores, speed: 1.0, slots: 8, from: 0.0 }, 0, 0.25, &Power::default())
    }

    #[test]
    fn tasks_share_the_active_cores() {
        for (cores, busy, rate) in [(4.0, 4, 1.0), (4.0, 8, 0.5), (1.0, 8, 0.125), (3.0, 2, 1.0), (2.0, 0, 0.0)] {
            let mut node = node(cores);
            node.busy = busy;
            node.set_rate(&Power::default());
            assert_eq!(node.rate, rate);
        }
    }

    #[test]
    fn reports_lag_behind() {
        let mut node = node(4.0);
        node.busy = 8;
        node.set_rate(&Power::default());
        node.advance(2.0, 1.0);
        assert_eq!((node.reported_at, node.reported_work, node.work), (1.25, 0.625, 1.0));
        node.advance(2.125, 1.0);
        assert_eq!(node.reported_at, 1.25);
        node.advance(10.0, 0.0);
        assert_eq!((node.reported_at, node.reported_work), (10.0, 5.0));
        assert_eq!(node.energy, 10.0 * 133.0);
    }

    #[test]
    fn a_failed_node_does_nothing_and_takes_nothing() {
        let mut node = node(4.0);
        (node.busy, node.up) = (8, false);
        node.set_rate(&Power::default());
        node.advance(5.0, 1.0);
        assert_eq!((node.work, node.energy, node.reported_at), (0.0, 0.0, 0.0));
    }
}
