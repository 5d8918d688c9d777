//! Assignment of slots: tasks and copies, job by job, and the work of an attempt.

use std::cmp::Reverse;

use crate::cluster::detect::Category;
use crate::cluster::known::Known;
use crate::cluster::node::{NOBODY, Open};
use crate::cluster::plan::JobOrder;
use crate::cluster::policy::Policy;
use crate::cluster::simulator::{Attempt, Simulator, Status};
use crate::cluster::world::lognormal;
use crate::run::draws::{Four, MOST_ATTEMPTS, MOST_PHASES, whole};

/// A use of a slot.
#[derive(Clone, Copy, Debug)]
struct Placement {
    task: u32,
    is_copy: bool,
    on_copy_slot: bool,
}

impl Simulator<'_> {
    /// Fills the slots that became free.
    pub(super) fn fill(&mut self, policy: &Policy<'_>) {
        let mut freed = std::mem::take(&mut self.freed);
        if std::mem::take(&mut self.is_open) {
            self.place_everywhere(policy);
        } else {
            if freed.len() > 1 {
                let stage = self.first_waiting();
                freed.sort_by_key(|&node| Reverse(self.opened(node as usize, stage)));
            }
            freed.iter().for_each(|&node| self.place_on(node as usize, policy));
        }
        freed.clear();
        self.freed = freed;
    }

    /// Fills the free slots of a node.
    fn place_on(&mut self, node: usize, policy: &Policy<'_>) {
        while let Some(placement) = self.choose(node, policy) {
            self.launch(node, placement, policy);
        }
    }

    /// Fills the free slots of all nodes, in the order of [`Open`]; a waiting task goes to the first node.
    fn place_everywhere(&mut self, policy: &Policy<'_>) {
        // a started task may need a copy; other tasks of a recorded job may now run elsewhere
        let all_again = policy.clones || self.world.has_homes();
        let mut first = self.first_waiting();
        self.open_all(first);
        let mut useless = std::mem::take(&mut self.useless);
        useless.clear();
        while let Some(Reverse((.., node))) = self.open.pop() {
            let Some(placement) = self.choose(node as usize, policy) else {
                useless.push(node);
                continue;
            };
            self.launch(node as usize, placement, policy);
            let next = self.first_waiting();
            if next != first {
                first = next;
                useless.clear();
                self.open_all(first);
                continue;
            }
            let again = if all_again { useless.drain(..) } else { useless.drain(..0) };
            for node in again.chain([node]) {
                if let Some(open) = self.opened(node as usize, first) {
                    self.open.push(open);
                }
            }
        }
        self.useless = useless;
    }

    /// Returns the stage whose tasks are launched next; none in a plan of tasks and in a recorded job, whose tasks have homes.
    fn first_waiting(&self) -> Option<usize> {
        if self.world.known.is_none() || self.world.has_homes() {
            return None;
        }
        (0..self.jobs.len()).find(|&job| self.jobs[job].here && self.categories[2 * job].waiting > 0)
    }

    /// Opens all nodes with a free slot for the tasks of a stage.
    fn open_all(&mut self, stage: Option<usize>) {
        let mut open = std::mem::take(&mut self.open).into_vec();
        open.clear();
        open.extend((0..self.nodes.len()).filter_map(|node| self.opened(node, stage)));
        self.open = open.into();
    }

    /// Returns a node's place in the order of nodes for the tasks of a stage; none if the node has no free slot.
    fn opened(&self, node: usize, stage: Option<usize>) -> Option<Open> {
        let state = &self.nodes[node];
        if !state.has_task_slot() && !state.has_copy_slot() {
            return None;
        }
        let expected_s = match (&self.world.known, stage) {
            (Some(known), Some(stage)) => {
                let crowd = (f64::from(state.busy + 1) / state.spec.cores).max(1.0);
                known.stages[stage].spread.slowness(node) * crowd
            }
            _ => 0.0,
        };
        // times are not negative, so that their bits have their order
        Some(Reverse((expected_s.to_bits(), state.used(), state.lot, node as u32)))
    }

    /// Chooses the use of a free slot of a node.
    fn choose(&mut self, node: usize, policy: &Policy<'_>) -> Option<Placement> {
        let state = &self.nodes[node];
        let (task_slot, copy_slot) = (state.has_task_slot(), state.has_copy_slot());
        let copy = |sim: &Self, on_copy_slot| {
            sim.wanted_copy(node, policy).map(|task| Placement { task, is_copy: true, on_copy_slot })
        };
        if copy_slot && let Some(placement) = copy(self, true) {
            return Some(placement);
        }
        if !task_slot {
            return None;
        }
        if policy.copies_first
            && let Some(placement) = copy(self, false)
        {
            return Some(placement);
        }
        match self.waiting_task(node) {
            Some(task) => Some(Placement { task, is_copy: false, on_copy_slot: false }),
            None => copy(self, false),
        }
    }

    /// Returns the first requested copy that may run on a node: not on the node of its original, and not on a slow node.
    fn wanted_copy(&self, node: usize, policy: &Policy<'_>) -> Option<u32> {
        if self.wanted.is_empty() || (policy.slow_nodes > 0.0 && self.is_slow(node, policy.slow_nodes)) {
            return None;
        }
        let has_room = |known: &Known, task| known.has_room(self.world.job_of(task), node, self.nodes[node].used());
        let elsewhere = |task: &u32| {
            let original = self.tasks[*task as usize].original;
            original != NOBODY
                && self.attempts[original as usize].node as usize != node
                && self.world.known.as_ref().is_none_or(|known| has_room(known, *task))
        };
        self.wanted.iter().copied().find(elsewhere)
    }

    /// Returns true if a node is in the given share of running nodes with the least progress: finished attempts count 1, running attempts their
    /// reported score. Nodes with equal progress are all slow or all not slow. \[Zaharia2008\]
    fn is_slow(&self, node: usize, share: f64) -> bool {
        let progress: Vec<f64> = (0..self.nodes.len()).map(|node| self.progress(node)).collect();
        let up = || self.nodes.iter().zip(&progress).filter(|(node, _)| node.up).map(|(_, progress)| *progress);
        let below = up().filter(|other| *other < progress[node]).count() as f64;
        let above = up().filter(|other| *other > progress[node]).count();
        let equal = up().count() as f64 - below - above as f64;
        above > 0 && below + equal <= share * up().count() as f64
    }

    /// Returns the number of attempts that a node has completed, with running attempts counted by their progress.
    fn progress(&self, node: usize) -> f64 {
        let state = &self.nodes[node];
        let (_, work) = state.report(self.now, self.world.heartbeat);
        let from = node * self.stride;
        let held = &self.held[from..from + state.used() as usize];
        let running: f64 = held.iter().map(|&number| self.attempts[number as usize].score(work)).sum();
        f64::from(state.finished) + running
    }

    /// Takes a waiting task for a slot of a node: by job, maps before reduces, local maps before remote maps.
    fn waiting_task(&mut self, node: usize) -> Option<u32> {
        match self.world.order {
            JobOrder::Fifo => (0..self.jobs.len()).find_map(|job| self.waiting_task_of(job, node)),
            JobOrder::Fair => {
                let mut order: Vec<usize> = (0..self.jobs.len()).collect();
                order.sort_by_key(|&job| self.jobs[job].slots);
                order.into_iter().find_map(|job| self.waiting_task_of(job, node))
            }
        }
    }

    fn waiting_task_of(&mut self, job: usize, node: usize) -> Option<u32> {
        let (maps, reduces) = (2 * job, 2 * job + 1);
        let has_room = |known: &Known| known.has_room(job, node, self.nodes[node].used());
        if !self.jobs[job].here || !self.world.known.as_ref().is_none_or(has_room) {
            return None;
        }
        let category = if self.categories[maps].waiting > 0 {
            maps
        } else if self.categories[reduces].waiting > 0 && self.categories[maps].done >= self.world.jobs[job].slow_start
        {
            reduces
        } else {
            return None;
        };
        let task = self
            .take_again(category, node)
            .or_else(|| self.take_local(category, node))
            .or_else(|| if self.world.has_homes() { self.take_stranger(category) } else { self.take_next(category) });
        self.categories[category].waiting -= u32::from(task.is_some());
        task
    }

    /// Takes a task that lost its attempt and may run on the node.
    fn take_again(&mut self, category: usize, node: usize) -> Option<u32> {
        let again = &self.categories[category].again;
        let at = again.iter().rposition(|&task| self.tasks[task as usize].avoid as usize != node)?;
        Some(self.categories[category].again.remove(at))
    }

    /// Takes a map whose block is on the node.
    fn take_local(&mut self, category: usize, node: usize) -> Option<u32> {
        if self.world.categories[category].kind != Category::Map {
            return None;
        }
        let list = node * self.jobs.len() + category / 2;
        let tasks = self.world.local.list(list);
        let next = &mut self.local_next[list];
        while let Some(&task) = tasks.get(*next as usize) {
            *next += 1;
            let state = &self.tasks[task as usize];
            if state.status == Status::Waiting && state.attempts == 0 {
                return Some(task);
            }
        }
        None
    }

    /// Takes the next task that has never run.
    fn take_next(&mut self, category: usize) -> Option<u32> {
        let spec = self.world.categories[category];
        let next = &mut self.categories[category].next;
        while *next < spec.first + spec.count {
            let task = *next;
            *next += 1;
            let state = &self.tasks[task as usize];
            if state.status == Status::Waiting && state.attempts == 0 {
                return Some(task);
            }
        }
        None
    }

    /// Takes the next task of a recorded job whose home node has no room for it.
    fn take_stranger(&mut self, category: usize) -> Option<u32> {
        let known = self.world.known.as_ref()?;
        let spec = self.world.categories[category];
        let (mut at, end) = (self.categories[category].next, spec.first + spec.count);
        let waits = |sim: &Self, task: u32| {
            sim.tasks[task as usize].status == Status::Waiting && sim.tasks[task as usize].attempts == 0
        };
        while at < end && !waits(self, at) {
            at += 1;
        }
        self.categories[category].next = at;
        let has_room = |task: u32| known.home(task).is_some_and(|home| self.nodes[home].has_task_slot());
        (at..end).find(|&task| waits(self, task) && !has_room(task))
    }

    /// Starts an attempt on a node.
    fn launch(&mut self, node: usize, placement: Placement, policy: &Policy<'_>) {
        let Placement { task, is_copy, on_copy_slot } = placement;
        self.advance(node);
        let number = self.attempts.len() as u32;
        let attempt = self.attempt(node, placement);
        let state = &mut self.tasks[task as usize];
        state.attempts += 1;
        state.status = Status::Running;
        self.worn_out |= state.attempts == MOST_ATTEMPTS;
        if is_copy {
            state.copy = number;
            self.outcome.copies += 1;
            self.outcome.copy_wait_s += self.now - state.requested;
            self.wanted.retain(|&wanted| wanted != task);
        } else {
            state.original = number;
        }
        let spec = &mut self.nodes[node];
        self.held[node * self.stride + spec.used() as usize] = number;
        if on_copy_slot {
            spec.copy_slots_used += 1;
        } else {
            spec.task_slots_used += 1;
        }
        spec.busy += u32::from(!attempt.idle);
        self.attempts.push(attempt);
        self.running.push(number);
        self.jobs[self.world.job_of(task)].slots += 1;
        if policy.clones && !is_copy {
            self.request_copy(task);
        }
        self.changed(node);
    }

    /// Requests a copy of a running task.
    pub(super) fn request_copy(&mut self, task: u32) {
        self.tasks[task as usize].requested = self.now;
        self.wanted.push(task);
    }

    /// Draws the words of an attempt of a task: one for each phase, and the uniform number that decides whether it is slow.
    fn words(&mut self, task: u32, attempt: u32, phases: usize, may_be_slow: bool) -> ([u32; MOST_PHASES], f64) {
        let category = self.world.tasks[task as usize].category;
        let number = task - self.world.categories[category as usize].first;
        // the stages of a job have no reduces
        let stage = if self.world.known.is_some() { category / 2 } else { category };
        let of = Four { stage, attempt: attempt.min(MOST_ATTEMPTS - 1), block: number / 4 };
        if self.words.of != Some((of, self.replication)) {
            let draws = self.draws();
            self.words.of = Some((of, self.replication));
            for (phase, words) in self.words.phases.iter_mut().enumerate().take(phases) {
                *words = draws.phase(of, phase);
            }
            self.words.slow = if may_be_slow { draws.slow(of) } else { [1.0; 4] };
        }
        let lane = (number % 4) as usize;
        (self.words.phases.map(|words| words[lane]), self.words.slow[lane])
    }

    /// Creates an attempt that starts now on a node.
    fn attempt(&mut self, node: usize, placement: Placement) -> Attempt {
        let world = self.world;
        let task = placement.task;
        let before = self.tasks[task as usize].attempts;
        if let Some(known) = &world.known {
            let work = self.known_work(known, task, node, before);
            return self.known_attempt(work, node, placement);
        }
        let spec = world.tasks[task as usize];
        let (words, slow) = self.words(task, before, 1, world.stragglers.is_some());
        let mut factor = lognormal(world.noise.sigma, words[0]);
        let category = spec.category as usize;
        let job = category / 2;
        let is_map = world.categories[category].kind == Category::Map;
        if let Some(stragglers) = &world.stragglers {
            factor *= stragglers.drawn_factor(slow, is_map);
        }
        let remote = world.jobs[job].remote_factor;
        if is_map && remote > 1.0 && world.local.list(node * self.jobs.len() + job).binary_search(&task).is_err() {
            factor *= remote;
        }
        // a reduce that starts before the maps finish waits for them in its slot
        let maps = 2 * job;
        let idle = !is_map && self.categories[maps].done < world.categories[maps].count;
        let [start, fetch, main] = [spec.start, spec.fetch, spec.main].map(|work| self.rounded(work * factor));
        let from_work = self.nodes[node].work;
        let progress_work = from_work + start;
        Attempt {
            task,
            node: node as u32,
            start: self.now,
            from_work,
            progress_work,
            end_work: progress_work + fetch + main,
            fetch,
            is_copy: placement.is_copy,
            on_copy_slot: placement.on_copy_slot,
            idle,
            is_over: false,
        }
    }

    /// Returns the work of an attempt of a stage's task that starts on a node after `before` other attempts \[s\].
    fn known_work(&mut self, known: &Known, task: u32, node: usize, before: u32) -> f64 {
        let number = self.world.job_of(task);
        if let Some(work) = known.recorded_work(number, task, node).filter(|_| before == 0) {
            return work;
        }
        let stage = &known.stages[number];
        let is_alike = before == 0 && stage.spread.are_alike();
        if is_alike && !self.first_work[task as usize].is_nan() {
            return self.first_work[task as usize];
        }
        let phases = &stage.spread.phases;
        let (words, slow) = self.words(task, before, phases.len(), stage.stragglers.is_some());
        let parts = phases.iter().zip(stage.spread.means_on(node)).zip(words);
        let ratio: f64 = parts.map(|((phase, mean), word)| mean * phase.draw(word)).sum();
        let factor = stage.stragglers.as_ref().map_or(1.0, |stragglers| stragglers.drawn_factor(slow, true));
        let tick = self.world.tick;
        let mean = self.world.tasks[task as usize].main * tick.per_s();
        let work = tick.seconds(whole(ratio * factor * mean));
        if is_alike {
            self.first_work[task as usize] = work;
        }
        work
    }

    /// Creates an attempt of a stage's task with the given work; its progress starts immediately.
    fn known_attempt(&self, work: f64, node: usize, placement: Placement) -> Attempt {
        let from_work = self.nodes[node].work;
        Attempt {
            task: placement.task,
            node: node as u32,
            start: self.now,
            from_work,
            progress_work: from_work,
            end_work: from_work + work,
            fetch: 0.0,
            is_copy: placement.is_copy,
            on_copy_slot: placement.on_copy_slot,
            idle: false,
            is_over: false,
        }
    }
}
