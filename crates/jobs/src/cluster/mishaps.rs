//! Mishaps of nodes: temporary slow-downs, failures, and the loss of a node's tasks.

use crate::cluster::node::NOBODY;
use crate::cluster::simulator::{Simulator, Status};
use crate::rng::{Address, FRACTION_BITS, Purpose, exponential};

impl Simulator<'_> {
    /// Random words for the events of a node: sample 0 draws its initial state, odd samples slow-downs, even samples failures.
    pub(super) fn node_words(&self, node: usize, sample: u32) -> [u32; 4] {
        Address { purpose: Purpose::Node, owner: node as u32, sample }.words(self.world.key, self.replication)
    }

    fn exponential_time(&self, node: usize, sample: u32, mean: f64) -> f64 {
        mean * f64::from(exponential(self.node_words(node, sample)[0])) / f64::from(1_u32 << FRACTION_BITS)
    }

    /// Draws the start of the node's slow-down or, if the node is slow, the end of the slow-down.
    pub(super) fn draw_slowdown(&mut self, node: usize) {
        let slowdown = &self.world.slowdown;
        let Some(between) = slowdown.mean_between_s else { return };
        let state = &self.nodes[node];
        let mean = if state.slowness > 1.0 { slowdown.mean_duration_s } else { between };
        let next = self.now + self.exponential_time(node, 2 * state.slowdowns_drawn + 1, mean);
        self.nodes[node].next_slowdown = next;
        self.nodes[node].slowdowns_drawn += 1;
    }

    /// Starts or ends a slow-down of a node.
    pub(super) fn slow_down_or_recover(&mut self, node: usize) {
        // a factor of exactly 1 must still differ from no slow-down, or it would never end
        let slow = self.world.slowdown.factor.max(1.0 + f64::EPSILON);
        let state = &mut self.nodes[node];
        state.slowness = if state.slowness > 1.0 { 1.0 } else { slow };
        self.draw_slowdown(node);
    }

    /// Draws when the node fails next.
    pub(super) fn draw_failure(&mut self, node: usize) {
        let Some(between) = self.world.failure.mean_between_s else { return };
        let next = self.now + self.exponential_time(node, 2 * self.nodes[node].failures_drawn + 2, between);
        self.nodes[node].next_failure = next;
        self.nodes[node].failures_drawn += 1;
    }

    /// Fails a running node, or returns a failed node to service.
    pub(super) fn fail_or_return(&mut self, node: usize) {
        let failure = &self.world.failure;
        let now = self.now;
        let state = &mut self.nodes[node];
        if state.up {
            state.up = false;
            state.next_failure = now + failure.repair_s;
            state.expiry = now + failure.expiry_s.min(failure.repair_s);
            return self.changed(node);
        }
        state.expiry = f64::INFINITY;
        self.lose_tasks(node);
        self.nodes[node].up = true;
        self.nodes[node].next_failure = f64::INFINITY;
        self.draw_failure(node);
        self.changed(node);
        self.is_open = true;
    }

    /// Kills a task, which then waits for a slot of another node.
    pub(super) fn restart(&mut self, task: u32) {
        let number = self.tasks[task as usize].original;
        let killed = self.attempts[number as usize];
        self.advance(killed.node as usize);
        let held = self.release(number);
        self.outcome.wasted_s += held;
        self.outcome.restarts += 1;
        let whole = self.whole_time(&killed, held);
        let state = &mut self.tasks[task as usize];
        if state.restarts == 0 {
            state.time = whole;
        }
        state.restarts += 1;
        (state.original, state.avoid, state.status) = (NOBODY, killed.node, Status::Waiting);
        let tasks = &mut self.categories[self.world.tasks[task as usize].category as usize];
        tasks.waiting += 1;
        tasks.again.push(task);
    }

    /// Removes all attempts from a node that has failed.
    pub(super) fn lose_tasks(&mut self, node: usize) {
        self.forget_ended();
        let lost: Vec<u32> =
            self.running.iter().copied().filter(|&a| self.attempts[a as usize].node as usize == node).collect();
        for number in lost {
            let task = self.attempts[number as usize].task as usize;
            self.outcome.wasted_s += self.release(number);
            let state = &mut self.tasks[task];
            if state.copy == number {
                state.copy = NOBODY;
            } else {
                (state.original, state.copy) = (state.copy, NOBODY);
            }
            (state.requested, state.detected) = (f64::NAN, f64::NAN);
            self.wanted.retain(|&wanted| wanted as usize != task);
            if state.original == NOBODY {
                state.status = Status::Waiting;
                let tasks = &mut self.categories[self.world.tasks[task].category as usize];
                tasks.waiting += 1;
                tasks.again.push(task as u32);
            }
        }
    }
}
