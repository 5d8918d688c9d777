//! The parts of a job's net, added one by one.

use crate::mapreduce::net_names::{place_before, transition_name};
use crate::mapreduce::params::{Node, Plan};
use crate::mapreduce::phase::Phase;
use crate::mapreduce::phase_map::PRIORITY;
use crate::mapreduce::retime::{end_timing, firing_means, timing_of};
use crate::mapreduce::slots::{Pools, Slots};
use crate::mapreduce::task_times::{JobPhases, KindMeans};
use crate::net::{ArcKind, PartSink, Place, Point, Timing, Transition};

/// Distance between adjacent columns of the drawing, and between adjacent rows \[pixels\].
const STEP: Point = Point { x: 90.0, y: 60.0 };

/// First column and row of the drawing \[pixels\].
const CORNER: Point = Point { x: 60.0, y: 60.0 };

/// Number of rows in which single parts are centred, so that they are visible when the net is opened.
const ROWS_IN_SIGHT: usize = 10;

/// The roles of the parts of a net with places `P` and transitions `T`, as in [`JobNet`](crate::mapreduce::JobNet).
pub(super) struct Roles<P, T> {
    pub(super) of_phase: [Vec<T>; 10],
    pub(super) commit: Option<T>,
    pub(super) tasks: Vec<Task<P, T>>,
}

impl<P, T> Default for Roles<P, T> {
    fn default() -> Self {
        Self { of_phase: [const { Vec::new() }; 10], commit: None, tasks: Vec::new() }
    }
}

/// The parts of a task, as in [`TaskChain`](crate::mapreduce::TaskChain).
pub(super) struct Task<P, T> {
    pub(super) name: String,
    pub(super) start: P,
    pub(super) stages: Vec<T>,
    pub(super) slots: Option<P>,
}

/// A net under construction.
pub(super) struct Draft<'a, S: PartSink> {
    plan: &'a Plan,
    /// Slots and GPUs.
    pools: Pools,
    net: &'a mut S,
    /// The roles of the parts so far, if they are wanted.
    pub(super) roles: Option<Roles<S::Place, S::Transition>>,
    /// Column of the next part.
    column: f64,
    /// Priority of the immediate transitions that do not choose a kind of worker.
    priority: u32,
}

/// Maps or reduces.
struct TaskKind<'a> {
    /// The phases to which the means of a task belong, and those of them that the plan has.
    phases: &'a [Phase],
    found: &'a [Phase],
    /// Names of the place and the transition of a task that waits for a slot.
    wait: [&'a str; 2],
    /// Name of a task, without its number.
    name: &'a str,
    /// True if a task may wait for a GPU.
    on_gpus: bool,
}

/// Workers on which a task may run: those to which it was assigned, or one of the kinds that it may take.
#[derive(Clone)]
struct Workers<P> {
    /// Number of the kind, for ids, if a task may take one of several kinds.
    kind: Option<usize>,
    /// Place of their slots, if tasks wait for slots, and of their GPUs, if maps wait for GPUs.
    slots: Option<P>,
    gpus: Option<P>,
    /// Priority of their slots.
    priority: u32,
}

impl<'a, S: PartSink> Draft<'a, S> {
    pub(super) fn new(plan: &'a Plan, pools: Pools, net: &'a mut S) -> Self {
        Self { plan, pools, net, roles: None, column: 0.0, priority: PRIORITY }
    }

    /// Adds all parts; returns the places that all hold a token when the job is complete.
    pub(super) fn all(&mut self, phases: &JobPhases) -> Vec<S::Place> {
        let maps = phases.maps_s.len();
        let choice = self.choice(phases);
        if let Some(kinds) = choice {
            // a slot is given away when everything else of its time has happened
            self.priority = PRIORITY + kinds.maps_s.len() as u32;
        }
        let start = self.place("start".into(), 1, middle(maps));
        self.column += 1.0;
        let load = self.phase(Phase::Load, String::new(), phases.load_s, middle(maps));
        self.input(&start, &load, 1.0);
        self.column += 1.0;
        let kind = TaskKind {
            phases: &Phase::OF_MAP,
            found: self.plan.phases_of_map(),
            wait: ["waitingMap", "startMap"],
            name: "Map",
            on_gpus: self.pools.gpus.is_some(),
        };
        let first = self.column;
        let last = match choice {
            Some(kinds) => {
                let workers = self.kinds(0, &kinds.total_map_s());
                let mean = |task: usize, kind: usize| &kinds.maps_s[kind][task][..];
                self.tasks(&kind, &load, maps, &|_| workers.clone(), &mean, first)
            }
            None => {
                let (slots, gpus) = (self.slots(0, &phases.map_nodes), self.gpus(&phases.map_nodes));
                let mean = |task: usize, _| &phases.maps_s[task][..];
                self.tasks(&kind, &load, maps, &|task| vec![assigned(&slots, &gpus, task)], &mean, first)
            }
        };
        let spilled = self.place("spilled".into(), 0, middle(maps));
        last.iter().flatten().for_each(|spill| self.output(spill, &spilled, 1.0));
        self.column += 1.0;
        if phases.reduces_s.is_empty() {
            let timing = end_timing(phases.end_s).unwrap_or(Timing::immediate(1.0, PRIORITY));
            return vec![self.commit(&spilled, maps, timing)];
        }
        let shuffle = self.shuffle(phases, &spilled);
        self.column += 1.0;
        let last = self.reduces(phases, &shuffle);
        match end_timing(phases.end_s) {
            Some(timing) => {
                let reduced = self.place("reduced".into(), 0, middle(last.len()));
                last.iter().flatten().for_each(|reduce| self.output(reduce, &reduced, 1.0));
                self.column += 1.0;
                vec![self.commit(&reduced, last.len(), timing)]
            }
            None => last.iter().enumerate().map(|(r, reduce)| self.done(r, reduce)).collect(),
        }
    }

    /// Returns the means on every kind of worker, if waiting tasks choose one.
    fn choice<'p>(&self, phases: &'p JobPhases) -> Option<&'p KindMeans> {
        phases.kinds.as_ref().filter(|_| self.pools.slots.is_some())
    }

    /// Adds the reduces; returns the transitions of the last phase of each.
    fn reduces(&mut self, phases: &JobPhases, shuffle: &S::Transition) -> Vec<Vec<S::Transition>> {
        let kind = TaskKind {
            phases: &Phase::OF_REDUCE,
            found: &Phase::OF_REDUCE,
            wait: ["waitingReduce", "startReduce"],
            name: "Reduce",
            on_gpus: false,
        };
        let (reduces, first) = (phases.reduces_s.len(), self.column);
        match self.choice(phases) {
            Some(kinds) => {
                let workers = self.kinds(1, &kinds.total_reduce_s());
                let mean = |_, kind: usize| &kinds.reduces_s[kind][..];
                self.tasks(&kind, shuffle, reduces, &|_| workers.clone(), &mean, first)
            }
            None => {
                let slots = self.slots(1, &phases.reduce_nodes);
                let mean = |task: usize, _| &phases.reduces_s[task][..];
                self.tasks(&kind, shuffle, reduces, &|task| vec![assigned(&slots, &[], task)], &mean, first)
            }
        }
    }

    /// Returns the place of a token when reduce number `r` (from 0) is complete.
    fn done(&mut self, r: usize, last: &[S::Transition]) -> S::Place {
        let done = self.place(format!("done{}", r + 1), 0, r as f64);
        last.iter().for_each(|reduce| self.output(reduce, &done, 1.0));
        done
    }

    /// Adds the clean-up after the last task, whose place `ended` then has a token of each of `tasks` tasks; returns the place of a token when the job is
    /// complete.
    fn commit(&mut self, ended: &S::Place, tasks: usize, timing: Timing) -> S::Place {
        let row = middle(tasks);
        let commit = self.transition("commit".into(), timing, row);
        self.input(ended, &commit, tasks as f64);
        self.column += 1.0;
        let finished = self.place("finished".into(), 0, row);
        self.output(&commit, &finished, 1.0);
        if let Some(roles) = &mut self.roles {
            roles.commit = Some(commit);
        }
        finished
    }

    /// Adds the shuffle of the map outputs on `spilled`; returns the transition that starts the reduces.
    fn shuffle(&mut self, phases: &JobPhases, spilled: &S::Place) -> S::Transition {
        let (maps, row) = (phases.maps_s.len(), middle(phases.maps_s.len()));
        let mean_s = firing_means(self.plan, phases, Phase::Shuffle).sum();
        let Some(finished) = self.plan.model.maps_before_shuffle(maps) else {
            let shuffle = self.phase(Phase::Shuffle, String::new(), mean_s, row);
            self.input(spilled, &shuffle, maps as f64);
            return shuffle;
        };
        let waiting = self.place("waitingShuffle".into(), 1, row + 1.0);
        self.column += 1.0;
        let start = self.transition("slowstart".into(), Timing::immediate(1.0, PRIORITY), row + 1.0);
        self.column += 1.0;
        let shuffling = self.place("shuffling".into(), 0, row + 1.0);
        self.column += 1.0;
        let shuffle = self.phase(Phase::Shuffle, String::new(), mean_s, row);
        self.column += 1.0;
        let copied = self.place("copied".into(), 0, row);
        self.column += 1.0;
        let all = self.transition("allCopied".into(), Timing::immediate(1.0, PRIORITY), row);
        for (place, transition, weight) in [
            (&waiting, &start, 1.0),
            (spilled, &start, finished as f64),
            (spilled, &shuffle, 1.0),
            (&shuffling, &shuffle, 1.0),
            (&copied, &all, maps as f64),
        ] {
            self.input(place, transition, weight);
        }
        for (transition, place, weight) in [
            (&start, &shuffling, 1.0),
            (&start, spilled, finished as f64),
            (&shuffle, &shuffling, 1.0),
            (&shuffle, &copied, 1.0),
        ] {
            self.output(transition, place, weight);
        }
        all
    }

    /// Returns the place of the slots of each task, of maps (0) or reduces (1), if the plan has slots.
    fn slots(&mut self, of: usize, kinds: &[usize]) -> Vec<Option<S::Place>> {
        let slots = self.pools.slots.as_ref().map(|slots| slots[of].clone());
        slots.map_or_else(Vec::new, |slots| self.pool_of_each(&slots, kinds, 1.0))
    }

    /// Returns the place of the GPUs of each map task, if it waits for one.
    fn gpus(&mut self, kinds: &[usize]) -> Vec<Option<S::Place>> {
        let waits = if self.pools.slots.is_some() { 2.0 } else { 0.0 };
        let gpus = self.pools.gpus.clone();
        gpus.map_or_else(Vec::new, |gpus| self.pool_of_each(&gpus, kinds, waits + 3.0))
    }

    /// Returns the kinds of workers that have slots for maps (0) or reduces (1), whose tasks take `times_s`, by kind: a waiting task takes a slot of the
    /// fastest of them.
    fn kinds(&mut self, of: usize, times_s: &[f64]) -> Vec<Workers<S::Place>> {
        let slots_of: fn(&Node) -> u64 = if of == 0 { |node| node.map_slots } else { |node| node.reduce_slots };
        let kinds = self.plan.kinds_with(slots_of);
        let slots = self.slots(of, &kinds);
        let gpus = if of == 0 { self.gpus(&kinds) } else { Vec::new() };
        let slower = |kind: usize| kinds.iter().filter(|&&other| times_s[other] > times_s[kind]).count();
        let workers = |(at, &kind): (usize, &usize)| Workers {
            kind: Some(kind),
            priority: PRIORITY + slower(kind) as u32,
            ..assigned(&slots, &gpus, at)
        };
        kinds.iter().enumerate().map(workers).collect()
    }

    /// Returns the pool of each task, by its kind of worker. The pools are drawn above the tasks, `columns` columns further to the right.
    fn pool_of_each(&mut self, slots: &Slots, kinds: &[usize], columns: f64) -> Vec<Option<S::Place>> {
        self.column += columns;
        let pools: Vec<S::Place> =
            slots.pools.iter().enumerate().map(|(i, (id, n))| self.place(id.clone(), *n, -1.0 - i as f64)).collect();
        self.column -= columns;
        kinds.iter().map(|kind| slots.pool(*kind).map(|pool| pools[pool].clone())).collect()
    }

    /// Adds the place of a task that waits after the transition `before`.
    fn waiting(&mut self, before: &S::Transition, id: String, row: f64) -> S::Place {
        let waiting = self.place(id, 0, row);
        self.output(before, &waiting, 1.0);
        waiting
    }

    /// Adds the transition that gives a token of a pool to a task that waits, in the next column.
    fn start(&mut self, waiting: &S::Place, pool: &S::Place, id: String, priority: u32, row: f64) -> S::Transition {
        self.column += 1.0;
        let position = Some(self.position(row));
        let start = Transition { position, ..Transition::new(id, Timing::immediate(1.0, priority)) };
        let start = self.net.take_transition(start);
        self.input(waiting, &start, 1.0);
        self.input(pool, &start, 1.0);
        self.column += 1.0;
        start
    }

    /// Adds tasks, started by the transition `from`; returns the transitions of the last phase of each, one for each kind of worker that it may take.
    /// `workers` gives the workers of a task, `means_s` the means of its phases on a kind of worker.
    fn tasks<'m>(
        &mut self,
        kind: &TaskKind<'_>,
        from: &S::Transition,
        tasks: usize,
        workers: &dyn Fn(usize) -> Vec<Workers<S::Place>>,
        means_s: &dyn Fn(usize, usize) -> &'m [f64],
        column: f64,
    ) -> Vec<Vec<S::Transition>> {
        let mut last = Vec::with_capacity(tasks);
        for task in 0..tasks {
            if self.net.is_full() {
                break;
            }
            let number = (task + 1).to_string();
            let workers = workers(task);
            self.column = column;
            let may_wait = workers.iter().any(|workers| workers.slots.is_some());
            let waiting = may_wait.then(|| self.waiting(from, format!("{}{number}", kind.wait[0]), task as f64));
            let mut ends = Vec::with_capacity(workers.len());
            for (at, of) in workers.iter().enumerate() {
                // rows between those of the tasks
                let row = task as f64 + at as f64 / workers.len() as f64;
                let suffix = of.kind.map_or_else(|| number.clone(), |kind| format!("{number}k{}", kind + 1));
                self.column = column;
                let before = match (&waiting, &of.slots) {
                    (Some(waiting), Some(slots)) => {
                        self.start(waiting, slots, format!("{}{suffix}", kind.wait[1]), of.priority, row)
                    }
                    _ => from.clone(),
                };
                ends.push(self.chain(kind, &before, of, suffix, means_s(task, of.kind.unwrap_or(0)), row));
            }
            last.push(ends);
        }
        last
    }

    /// Adds the phases of a task on some workers, after the transition `before`; returns the transition of its last phase.
    fn chain(
        &mut self,
        kind: &TaskKind<'_>,
        before: &S::Transition,
        workers: &Workers<S::Place>,
        suffix: String,
        means_s: &[f64],
        row: f64,
    ) -> S::Transition {
        let mut before = before.clone();
        let mut start = None;
        let mut stages = Vec::with_capacity(kind.phases.len());
        let means = kind.phases.iter().zip(means_s).filter(|(phase, _)| kind.found.contains(phase));
        for (phase, mean_s) in means {
            match &workers.gpus {
                Some(gpus) if *phase == Phase::ToGpu => {
                    let waiting = self.waiting(&before, format!("waitingGpu{suffix}"), row);
                    before = self.start(&waiting, gpus, format!("startGpu{suffix}"), self.priority, row);
                }
                // phases have fixed columns, whether tasks wait or not
                None if *phase == Phase::ToGpu && kind.on_gpus => self.column += 2.0,
                _ => {}
            }
            let place = self.place(format!("{}{suffix}", place_before(*phase, kind.found)), 0, row);
            self.output(&before, &place, 1.0);
            self.column += 1.0;
            before = self.phase(*phase, suffix.clone(), *mean_s, row);
            self.input(&place, &before, 1.0);
            if let Some(gpus) = workers.gpus.as_ref().filter(|_| *phase == Phase::ToHost) {
                self.output(&before, gpus, 1.0);
            }
            self.column += 1.0;
            start = start.or(Some(place));
            stages.push(before.clone());
        }
        if let Some(slots) = &workers.slots {
            self.output(&before, slots, 1.0);
        }
        if let (Some(roles), Some(start)) = (&mut self.roles, start) {
            let name = format!("{}{suffix}", kind.name);
            roles.tasks.push(Task { name, start, stages, slots: workers.slots.clone() });
        }
        before
    }

    /// Adds the transition of one phase of one task (`number` is empty for phases of the job).
    fn phase(&mut self, phase: Phase, number: String, mean_s: f64, row: f64) -> S::Transition {
        let timing = timing_of(self.plan, phase, mean_s);
        let id = self.transition(transition_name(phase).to_owned() + &number, timing, row);
        if let Some(roles) = &mut self.roles {
            roles.of_phase[phase.index()].push(id.clone());
        }
        id
    }

    fn place(&mut self, id: String, tokens: u32, row: f64) -> S::Place {
        let position = Some(self.position(row));
        self.net.take_place(Place { id, initial: vec![tokens], position, ..Place::default() })
    }

    fn transition(&mut self, id: String, timing: Timing, row: f64) -> S::Transition {
        let timing = match timing {
            Timing::Immediate { weight, .. } => Timing::Immediate { weight, priority: self.priority },
            timed => timed,
        };
        let position = Some(self.position(row));
        self.net.take_transition(Transition { position, ..Transition::new(id, timing) })
    }

    fn input(&mut self, place: &S::Place, transition: &S::Transition, weight: f64) {
        self.net.take_arc(ArcKind::Input, place, transition, weight);
    }

    fn output(&mut self, transition: &S::Transition, place: &S::Place, weight: f64) {
        self.net.take_arc(ArcKind::Output, place, transition, weight);
    }

    /// Returns the position of a part in the current column; rows below 0 contain the slots.
    fn position(&self, row: f64) -> Point {
        let pools = self.pools.slots.iter().flatten().chain(&self.pools.gpus);
        let above = pools.map(|slots| slots.pools.len()).max().unwrap_or(0) as f64;
        Point { x: CORNER.x + STEP.x * self.column, y: CORNER.y + STEP.y * (row + above) }
    }
}

/// Returns the workers to which a task was assigned.
fn assigned<P: Clone>(slots: &[Option<P>], gpus: &[Option<P>], task: usize) -> Workers<P> {
    let of = |pools: &[Option<P>]| pools.get(task).cloned().flatten();
    Workers { kind: None, slots: of(slots), gpus: of(gpus), priority: PRIORITY }
}

/// Returns the row of a single part, centred on `tasks` rows of tasks.
fn middle(tasks: usize) -> f64 {
    (tasks.min(ROWS_IN_SIGHT) - 1) as f64 / 2.0
}
