//! Ends of attempts, tasks and jobs, and what they release.

use crate::cluster::detect::Category;
use crate::cluster::node::NOBODY;
use crate::cluster::simulator::{Attempt, Simulator, Status};

/// Number of ended attempts that are always kept among the running ones.
const LEAST_OVER: usize = 64;

impl Simulator<'_> {
    /// Finishes a task: kills its other attempt, frees its slots, and releases the tasks that waited for it.
    pub(super) fn finish(&mut self, winner: u32) {
        let attempt = self.attempts[winner as usize];
        let task = attempt.task as usize;
        let state = self.tasks[task];
        let took = self.release(winner);
        self.nodes[attempt.node as usize].finished += 1;
        let loser = if state.original == winner { state.copy } else { state.original };
        let first = state.restarts == 0;
        if first {
            self.tasks[task].time = took;
        }
        if first && state.copy != winner && self.world.known.as_ref().is_some_and(|known| known.is_bound(attempt.task))
        {
            self.outcome.at_least = true;
        }
        if loser != NOBODY {
            let killed = self.attempts[loser as usize];
            self.advance(killed.node as usize);
            let wasted = self.release(loser);
            self.outcome.wasted_s += wasted;
            if state.copy == winner {
                self.outcome.won += 1;
                if first {
                    self.tasks[task].time = self.whole_time(&killed, wasted);
                }
            }
        }
        self.tasks[task].status = Status::Done;
        self.wanted.retain(|&wanted| wanted as usize != task);
        let spec = self.world.tasks[task];
        let category = spec.category as usize;
        let tasks = &mut self.categories[category];
        tasks.done += 1;
        if self.detects {
            tasks.finished.push(took, spec.size);
        }
        let (done, count) = (tasks.done, self.world.categories[category].count);
        let job = category / 2;
        if self.world.has_overlaps {
            self.follow_overlaps(job);
        }
        if done == count {
            self.category_done(category);
        }
        let is_map = self.world.categories[category].kind == Category::Map;
        if is_map && done == self.world.jobs[job].slow_start {
            // reduces may take any idle slot now; later only slots that become free
            self.is_open = true;
        }
        if loser != NOBODY {
            let node = self.attempts[loser as usize].node as usize;
            self.freed.push(node as u32);
        }
        self.freed.push(attempt.node);
    }

    /// Returns the time that a killed attempt would have taken, estimated from its progress until it was killed \[s\].
    pub(super) fn whole_time(&self, killed: &Attempt, held: f64) -> f64 {
        let done = self.nodes[killed.node as usize].work - killed.from_work;
        held * ((killed.end_work - killed.from_work) / done).max(1.0)
    }

    /// Handles the end of a task of a job for the jobs whose delay overlaps with it.
    fn follow_overlaps(&mut self, job: usize) {
        let world = self.world;
        for (next, spec) in world.jobs.iter().enumerate().skip(job + 1) {
            let Some(from) = spec.overlap.filter(|_| spec.after.contains(&job)) else { continue };
            let parts: u32 = spec.after.iter().map(|&before| world.categories[2 * before].count).sum();
            let mut overlap = self.jobs[next].overlap;
            let part = |number| self.rounded(self.draws().part_s(next, &spec.arrival, number, parts));
            overlap.task_ended(self.now, from.min(parts), part);
            self.jobs[next].overlap = overlap;
        }
    }

    /// Handles the end of a category: the last map starts the reduces that wait in their slots; the last task of all ends the job.
    fn category_done(&mut self, category: usize) {
        let job = category / 2;
        let reduces = 2 * job + 1;
        if category != reduces && self.world.categories[reduces].count > 0 {
            self.forget_ended();
            for at in 0..self.running.len() {
                let number = self.running[at];
                let task = self.attempts[number as usize].task as usize;
                if self.world.tasks[task].category as usize == reduces {
                    self.begin_reduce(number);
                }
            }
            return;
        }
        self.jobs[job].time = self.now - self.jobs[job].arrival;
        self.open_jobs -= 1;
        for next in job + 1..self.jobs.len() {
            let after = &self.world.jobs[next].after;
            if after.contains(&job) && after.iter().all(|&before| !self.jobs[before].time.is_nan()) {
                self.jobs[next].arrival = match self.world.jobs[next].overlap {
                    Some(_) => self.jobs[next].overlap.until.max(self.now),
                    None => self.now + self.arrival_delay(next),
                };
                self.set_arrival_timer();
            }
        }
    }

    /// Starts a reduce that waited in its slot until all maps finished. It still fetches the input that was not available earlier.
    fn begin_reduce(&mut self, number: u32) {
        let attempt = self.attempts[number as usize];
        let node = attempt.node as usize;
        self.advance(node);
        let maps =
            f64::from(self.world.categories[self.world.tasks[attempt.task as usize].category as usize - 1].count);
        let waited = self.now - attempt.start;
        // it fetches at full speed while it waits, but the last map's output is new
        let fetched = if attempt.fetch > 0.0 { (waited / attempt.fetch).min((maps - 1.0) / maps) } else { 0.0 };
        let begun = self.nodes[node].work - fetched * attempt.fetch;
        let attempt = &mut self.attempts[number as usize];
        attempt.end_work += begun - attempt.progress_work;
        attempt.progress_work = begun;
        attempt.from_work = begun;
        attempt.idle = false;
        self.nodes[node].busy += 1;
        self.changed(node);
    }

    /// Removes an attempt from its node; returns the time for which the attempt held its slot \[s\].
    pub(super) fn release(&mut self, number: u32) -> f64 {
        let attempt = self.attempts[number as usize];
        let node = &mut self.nodes[attempt.node as usize];
        if attempt.on_copy_slot {
            node.copy_slots_used -= 1;
        } else {
            node.task_slots_used -= 1;
        }
        node.busy -= u32::from(!attempt.idle);
        // the used slots of a node come first
        let (from, to) = (attempt.node as usize * self.stride, node.used() as usize);
        if let Some(at) = (from..=from + to).find(|&at| self.held[at] == number) {
            self.held.swap(at, from + to);
        }
        self.attempts[number as usize].is_over = true;
        self.over += 1;
        if self.over > LEAST_OVER.max(self.running.len() / 2) {
            self.forget_ended();
        }
        self.jobs[self.world.job_of(attempt.task)].slots -= 1;
        self.changed(attempt.node as usize);
        let held = self.now - attempt.start;
        self.outcome.used_s += held;
        held
    }

    /// Advances a node to the current time.
    pub(super) fn advance(&mut self, node: usize) {
        self.nodes[node].advance(self.now, self.world.heartbeat);
    }
}
