//! Whether a program is a schedule, and its straight-line form.
//!
//! A net in which every transition fires at most once and nothing races needs no event list: a firing time is the
//! latest of the times of the tokens it takes, plus its delay (a max-plus evaluation, after Baccelli and Canales
//! \[Baccelli1993\]). Random choices by immediate transitions are allowed: of the transitions that share an input place
//! one fires, the others never do, and where the branches meet again the one time that exists counts.
//!
//! What fires under which choices is tracked as a *guard*: the set of (choice, branch) pairs that must have come out.

use std::collections::{BTreeMap, HashMap};

use petgraph::graph::{DiGraph, NodeIndex};

use crate::compile::Csr;
use crate::compile::program::{Firing, Program};

/// Why a program is not a schedule; each names the first place or transition where it shows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleObstacle {
    /// A circle of places and transitions: something may fire twice.
    #[error("the net has a cycle through transition `{transition}`")]
    Cycle {
        /// A transition on the cycle.
        transition: String,
    },
    /// Inhibitor, test or capacity that can disable, or an expression over the marking.
    #[error("transition `{transition}` depends on more than the tokens that it takes")]
    Condition {
        /// The transition.
        transition: String,
    },
    /// Timed transitions that take tokens from the same place.
    #[error("place `{place}` feeds several transitions that are not a free choice of immediates")]
    Conflict {
        /// The place.
        place: String,
    },
    /// The tokens that arrive in a place are not exactly those that one firing takes.
    #[error("place `{place}` does not get exactly the tokens that one firing of `{transition}` takes")]
    TokenCount {
        /// The place.
        place: String,
        /// The transition that takes them.
        transition: String,
    },
    /// A transition without input place: it fires again and again.
    #[error("transition `{transition}` has no input place and fires for ever")]
    Source {
        /// The transition.
        transition: String,
    },
}

/// How the time of a token that arrives is put into a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// The slot holds nothing yet.
    Set,
    /// All tokens are needed: the latest counts.
    Max,
    /// Only one of them comes: the earliest, all others are never.
    Min,
}

/// Where the time of a firing goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Put {
    /// How.
    pub fold: Fold,
    /// Which slot.
    pub slot: u32,
    /// A slot of alternatives is complete: fold it, latest first, into this slot.
    pub then: Option<(Fold, u32)>,
}

/// One transition of the straight-line program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The transition.
    pub transition: u32,
    /// Slots whose latest time is when it is enabled; empty where all its tokens are there from the start.
    pub reads: Vec<u32>,
    /// It fires only where this choice comes out as this branch.
    pub branch: Option<(u32, u32)>,
    /// Whether there are replications in which it does not fire.
    pub conditional: bool,
    /// Whether its firing may be the last one.
    pub last: bool,
    /// Where its time goes.
    pub puts: Vec<Put>,
}

/// A free choice of immediate transitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceStep {
    /// The group of immediates, which owns the random word.
    pub group: u32,
    /// Integer weights of the branches, cumulative: branch `b` is taken where the selector is below entry `b` first.
    pub cumulative: Vec<u32>,
}

/// A program as a schedule: steps in topological order over slots of times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedulePlan {
    /// The transitions, each after all that it waits for.
    pub steps: Vec<Step>,
    /// The random choices.
    pub choices: Vec<ChoiceStep>,
    /// Number of slots.
    pub slots: u32,
    /// Per counter: the producers of its tokens; for tracing a time back to where it came from.
    pub producers: Csr<u32>,
    /// Per counter: whether nothing takes its tokens, and they all arrive in every replication.
    pub sure_sink: Vec<bool>,
    /// Per counter: tokens that ever arrive if all producers fire, initial ones included.
    pub arrivals: Vec<u64>,
}

/// The straight-line form of a program.
///
/// # Errors
///
/// Every reason why the program has none.
pub fn plan_schedule(program: &Program) -> Result<SchedulePlan, Vec<ScheduleObstacle>> {
    let mut obstacles = conditions(program);
    let order = match topological_order(program) {
        Ok(order) => order,
        Err(t) => {
            obstacles.push(ScheduleObstacle::Cycle { transition: program.transition_names[t].clone() });
            return Err(obstacles);
        }
    };
    let mut planner = Planner::new(program);
    for &t in &order {
        if let Err(obstacle) = planner.visit(t) {
            obstacles.push(obstacle);
            break;
        }
    }
    if obstacles.is_empty() { Ok(planner.finish(&order)) } else { Err(obstacles) }
}

/// Transitions that more than their input tokens can enable or disable.
fn conditions(program: &Program) -> Vec<ScheduleObstacle> {
    let mut arrivals: Vec<u64> = program.initial.iter().map(|&n| u64::from(n)).collect();
    for t in 0..program.transitions() {
        for out in program.outputs.row(t) {
            arrivals[out.counter as usize] += u64::from(out.weight);
        }
    }
    let classes = program.classes();
    let bound = |place: usize| arrivals[place * classes..(place + 1) * classes].iter().sum::<u64>();
    let mut obstacles = Vec::new();
    for t in 0..program.transitions() {
        let name = || program.transition_names[t].clone();
        let constant = match &program.firing[t] {
            Firing::Immediate { weight, .. } => weight.as_constant(),
            Firing::Exponential { rate, .. } => rate.as_constant().filter(|rate| *rate > 0.0),
            Firing::General { .. } => Some(1.0),
        };
        let full = |place: usize| program.capacity[place].is_some_and(|most| bound(place) > u64::from(most));
        if constant.is_none()
            || !program.is_static(t)
            || !program.inhibitors.row(t).is_empty()
            || !program.tests.row(t).is_empty()
            || program.rooms.row(t).iter().any(|room| full(room.place as usize))
        {
            obstacles.push(ScheduleObstacle::Condition { transition: name() });
        } else if program.inputs.row(t).is_empty() {
            obstacles.push(ScheduleObstacle::Source { transition: name() });
        }
        if obstacles.len() == 10 {
            break;
        }
    }
    obstacles
}

/// Transitions in an order in which each comes after all whose tokens it takes; chains stay together. The error is a
/// transition on a cycle.
fn topological_order(program: &Program) -> Result<Vec<usize>, usize> {
    let mut graph = DiGraph::<(), (), u32>::with_capacity(program.transitions() + program.counters(), 0);
    let transitions = program.transitions();
    for _ in 0..transitions + program.counters() {
        graph.add_node(());
    }
    let place = |counter: u32| NodeIndex::new(transitions + counter as usize);
    for t in 0..transitions {
        for term in program.inputs.row(t) {
            graph.add_edge(place(term.counter), NodeIndex::new(t), ());
        }
        for term in program.outputs.row(t) {
            graph.add_edge(NodeIndex::new(t), place(term.counter), ());
        }
    }
    match petgraph::algo::toposort(&graph, None) {
        Ok(order) => Ok(order.into_iter().map(NodeIndex::index).filter(|&n| n < transitions).collect()),
        Err(cycle) => {
            let node = cycle.node_id().index();
            let through =
                |node: usize| if node < transitions { node } else { consumer_of(program, node - transitions) };
            Err(through(node))
        }
    }
}

fn consumer_of(program: &Program, counter: usize) -> usize {
    let takes = |t: &usize| program.inputs.row(*t).iter().any(|term| term.counter as usize == counter);
    (0..program.transitions()).find(takes).unwrap_or(0)
}

/// (choice, branch) pairs that must have come out, by rising choice.
type Guard = Vec<(u32, u32)>;

/// Tokens that arrive together: from one producer, or from alternatives of which exactly one fires.
#[derive(Clone, Debug)]
struct Batch {
    guard: Guard,
    weight: u32,
    producers: Vec<u32>,
}

/// The state of planning: guards so far, and how each counter is filled.
struct Planner<'a> {
    program: &'a Program,
    producers: Vec<Vec<(u32, u32)>>,
    consumers: Vec<Vec<u32>>,
    guards: Vec<Guard>,
    branch: Vec<Option<(u32, u32)>>,
    /// Per counter, once it is consumed: its batches, all of the same guard.
    batches: HashMap<u32, (Guard, Vec<Batch>)>,
    choices: Vec<ChoiceStep>,
    choice_at: HashMap<u32, (u32, Vec<u32>)>,
}

impl<'a> Planner<'a> {
    fn new(program: &'a Program) -> Self {
        let mut producers = vec![Vec::new(); program.counters()];
        let mut consumers = vec![Vec::new(); program.counters()];
        for (t, name) in (0..program.transitions()).zip(0_u32..) {
            for term in program.outputs.row(t) {
                producers[term.counter as usize].push((name, term.weight));
            }
            for term in program.inputs.row(t) {
                consumers[term.counter as usize].push(name);
            }
        }
        Self {
            program,
            producers,
            consumers,
            guards: vec![Guard::new(); program.transitions()],
            branch: vec![None; program.transitions()],
            batches: HashMap::new(),
            choices: Vec::new(),
            choice_at: HashMap::new(),
        }
    }

    /// Works out under which guard `t` fires; all its producers were visited before.
    fn visit(&mut self, t: usize) -> Result<(), ScheduleObstacle> {
        let mut guard = Guard::new();
        for term in self.program.inputs.row(t) {
            let own = self.fill(term.counter, term.weight, t)?;
            guard = conjunction(&guard, &own).ok_or_else(|| self.count_obstacle(term.counter, t))?;
        }
        if let [term] = self.program.inputs.row(t)
            && self.consumers[term.counter as usize].len() > 1
        {
            let (choice, branches) = self.choice(term.counter)?;
            let branch = branches.iter().position(|&b| b as usize == t).expect("t consumes from the place");
            let pair = (choice, u32::try_from(branch).expect("few branches"));
            self.branch[t] = Some(pair);
            guard.push(pair);
            guard.sort_unstable();
        }
        self.guards[t] = guard;
        Ok(())
    }

    fn count_obstacle(&self, counter: u32, t: usize) -> ScheduleObstacle {
        ScheduleObstacle::TokenCount {
            place: self.program.place_names[counter as usize / self.program.classes()].clone(),
            transition: self.program.transition_names[t].clone(),
        }
    }

    /// Groups the tokens of a counter into batches of one guard, whose weights sum to `weight`; returns the guard.
    fn fill(&mut self, counter: u32, weight: u32, t: usize) -> Result<Guard, ScheduleObstacle> {
        let consumers = &self.consumers[counter as usize];
        if consumers.len() > 1 && !self.is_free_choice(counter) {
            let place = self.program.place_names[counter as usize / self.program.classes()].clone();
            return Err(ScheduleObstacle::Conflict { place });
        }
        if let Some((guard, _)) = self.batches.get(&counter) {
            return Ok(guard.clone());
        }
        let arriving = self.producers[counter as usize].iter().map(|&(producer, weight)| Batch {
            guard: self.guards[producer as usize].clone(),
            weight,
            producers: vec![producer],
        });
        let batches = self.merge_alternatives(arriving.collect());
        let initial = self.program.initial[counter as usize];
        let total: u64 = u64::from(initial) + batches.iter().map(|b| u64::from(b.weight)).sum::<u64>();
        let guard = batches.first().map_or_else(Guard::new, |b| b.guard.clone());
        let alike = batches.iter().all(|b| b.guard == guard) && (initial == 0 || guard.is_empty());
        if total != u64::from(weight) || !alike {
            return Err(self.count_obstacle(counter, t));
        }
        self.batches.insert(counter, (guard.clone(), batches));
        Ok(guard)
    }

    /// Several consumers are a free choice where they are immediates of one priority and this is their only input, with
    /// the same weight.
    fn is_free_choice(&self, counter: u32) -> bool {
        let kind = |t: u32| {
            let inputs = self.program.inputs.row(t as usize);
            match (&self.program.firing[t as usize], inputs) {
                (Firing::Immediate { priority, .. }, [only]) => Some((*priority, only.weight)),
                _ => None,
            }
        };
        let consumers = &self.consumers[counter as usize];
        let first = kind(consumers[0]);
        let group = self.program.group_of[consumers[0] as usize];
        first.is_some()
            && consumers.iter().all(|&t| kind(t) == first && self.program.choice_weight[t as usize] > 0)
            && group != u32::MAX
            && self.program.groups.row(group as usize).len() == consumers.len()
    }

    /// The choice at a counter, made on first use; branches in the order of the group.
    fn choice(&mut self, counter: u32) -> Result<(u32, Vec<u32>), ScheduleObstacle> {
        if let Some(known) = self.choice_at.get(&counter) {
            return Ok(known.clone());
        }
        let group = self.program.group_of[self.consumers[counter as usize][0] as usize];
        let branches = self.program.groups.row(group as usize).to_vec();
        let mut sum = 0;
        let cumulative = branches
            .iter()
            .map(|&t| {
                sum += self.program.choice_weight[t as usize];
                sum
            })
            .collect();
        let number = u32::try_from(self.choices.len()).expect("few choices");
        self.choices.push(ChoiceStep { group, cumulative });
        self.choice_at.insert(counter, (number, branches.clone()));
        Ok((number, branches))
    }

    /// Puts batches together that differ in nothing but the branch of one choice, where all its branches are there:
    /// exactly one of them comes.
    fn merge_alternatives(&self, mut batches: Vec<Batch>) -> Vec<Batch> {
        loop {
            let Some(deepest) = batches.iter().filter_map(|b| b.guard.last()).map(|pair| pair.0).max() else {
                return batches;
            };
            let (mut rest, open): (Vec<_>, Vec<_>) =
                batches.into_iter().partition(|b| b.guard.last().is_none_or(|pair| pair.0 != deepest));
            let mut sets: BTreeMap<Guard, Vec<Batch>> = BTreeMap::new();
            for batch in open {
                let outer = batch.guard[..batch.guard.len() - 1].to_vec();
                sets.entry(outer).or_default().push(batch);
            }
            let mut stuck = false;
            for (outer, set) in sets {
                let mut branches: Vec<u32> = set.iter().filter_map(|b| b.guard.last()).map(|pair| pair.1).collect();
                branches.sort_unstable();
                let complete = branches.iter().copied().eq(0..self.choices[deepest as usize].cumulative.len() as u32);
                if complete && set.iter().all(|b| b.weight == set[0].weight) {
                    let weight = set[0].weight;
                    let producers = set.into_iter().flat_map(|b| b.producers).collect();
                    rest.push(Batch { guard: outer, weight, producers });
                } else {
                    stuck = true;
                    rest.extend(set);
                }
            }
            batches = rest;
            if stuck {
                return batches;
            }
        }
    }

    fn finish(mut self, order: &[usize]) -> SchedulePlan {
        let dominated = self.dominated();
        let mut slots = Slots::default();
        let mut steps = Vec::with_capacity(order.len());
        for &t in order {
            let name = u32::try_from(t).expect("ids fit");
            let mut cells: Vec<Cell> = self.program.inputs.row(t).iter().filter_map(|i| self.cell(i.counter)).collect();
            let mut reads: Vec<u32> = cells.iter().map(|&cell| slots.of(cell)).collect();
            reads.sort_unstable();
            reads.dedup();
            cells.drain(..).for_each(|cell| slots.read(cell));
            let outputs = self.program.outputs.row(t).iter();
            let mut puts: Vec<Put> = outputs.filter_map(|o| self.put(o.counter, name, &mut slots)).collect();
            puts.dedup();
            steps.push(Step {
                transition: name,
                reads,
                branch: self.branch[t],
                conditional: !self.guards[t].is_empty(),
                last: !dominated[t],
                puts,
            });
        }
        self.plan(steps, slots.count)
    }

    /// What holds the time at which a counter has all its tokens; nothing where they are there from the start, or where
    /// nothing takes them.
    fn cell(&self, counter: u32) -> Option<Cell> {
        match &self.batches.get(&counter)?.1[..] {
            [] => None,
            [Batch { producers, .. }] if producers.len() == 1 => Some(Cell::Firing(producers[0])),
            _ => Some(Cell::Counter(counter)),
        }
    }

    /// Where the token of `t` in a counter goes; nowhere if nothing takes it.
    fn put(&self, counter: u32, t: u32, slots: &mut Slots) -> Option<Put> {
        let cell = self.cell(counter)?;
        let readers = self.consumers[counter as usize].len();
        if cell == Cell::Firing(t) {
            slots.fold(cell, Fold::Set, readers);
            return Some(Put { fold: Fold::Set, slot: slots.of(cell), then: None });
        }
        let batches = &self.batches[&counter].1;
        let batch = batches.iter().position(|b| b.producers.contains(&t)).expect("t produces into the counter");
        let alternatives = batches[batch].producers.len();
        if alternatives == 1 || batches.len() == 1 {
            let how = if alternatives == 1 { Fold::Max } else { Fold::Min };
            let (fold, slot) = slots.fold(cell, how, readers);
            return Some(Put { fold, slot, then: None });
        }
        let part = Cell::Batch(counter, u32::try_from(batch).expect("few batches"));
        let (fold, slot) = slots.fold(part, Fold::Min, 0);
        let mut then = None;
        if slots.arrived(part) == alternatives {
            then = Some(slots.fold(cell, Fold::Max, readers));
            slots.free(part);
        }
        Some(Put { fold, slot, then })
    }

    /// Transitions after which another one fires for certain, so that theirs is never the last firing.
    fn dominated(&self) -> Vec<bool> {
        (0..self.program.transitions())
            .map(|t| {
                self.program.outputs.row(t).iter().any(|term| {
                    self.consumers[term.counter as usize].iter().any(|&u| {
                        let mut guard = self.guards[u as usize].clone();
                        guard.retain(|pair| Some(*pair) != self.branch[u as usize]);
                        guard.iter().all(|pair| self.guards[t].contains(pair))
                    })
                })
            })
            .collect()
    }

    fn plan(&mut self, steps: Vec<Step>, slots: u32) -> SchedulePlan {
        let arrivals = (0..self.program.counters())
            .map(|c| {
                let produced = self.producers[c].iter().map(|&(_, weight)| u64::from(weight));
                u64::from(self.program.initial[c]) + produced.sum::<u64>()
            })
            .collect();
        let sure = |c: usize| self.producers[c].iter().all(|&(t, _)| self.guards[t as usize].is_empty());
        SchedulePlan {
            steps,
            choices: std::mem::take(&mut self.choices),
            slots,
            producers: Csr::from_rows(self.producers.iter().map(|row| row.iter().map(|&(t, _)| t))),
            sure_sink: (0..self.program.counters()).map(|c| self.consumers[c].is_empty() && sure(c)).collect(),
            arrivals,
        }
    }
}

/// Both guards together, or `None` where they contradict each other.
fn conjunction(a: &Guard, b: &Guard) -> Option<Guard> {
    let mut both: Guard = a.iter().chain(b).copied().collect();
    both.sort_unstable();
    both.dedup();
    let contradiction = both.windows(2).any(|pair| pair[0].0 == pair[1].0);
    (!contradiction).then_some(both)
}

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Cell {
    /// The time of a firing, for the places that it alone fills.
    Firing(u32),
    /// The time at which a counter has all its tokens.
    Counter(u32),
    /// The time of a batch of alternatives of a counter.
    Batch(u32, u32),
}

/// A slot in use.
struct Use {
    slot: u32,
    arrived: usize,
    readers: usize,
}

/// Slots in use; a slot is used again once everyone has read it.
#[derive(Default)]
struct Slots {
    used: HashMap<Cell, Use>,
    free: Vec<u32>,
    count: u32,
}

impl Slots {
    fn of(&self, cell: Cell) -> u32 {
        self.used[&cell].slot
    }

    /// The slot of a cell, and how the next time is folded into it: as asked, or set where it is the first one. A firing
    /// that fills several places has the readers of all of them.
    fn fold(&mut self, cell: Cell, fold: Fold, readers: usize) -> (Fold, u32) {
        if let Some(used) = self.used.get_mut(&cell) {
            used.arrived += 1;
            if fold == Fold::Set {
                used.readers += readers;
            }
            return (fold, used.slot);
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        });
        self.used.insert(cell, Use { slot, arrived: 1, readers });
        (Fold::Set, slot)
    }

    fn arrived(&self, cell: Cell) -> usize {
        self.used[&cell].arrived
    }

    fn free(&mut self, cell: Cell) {
        if let Some(used) = self.used.remove(&cell) {
            self.free.push(used.slot);
        }
    }

    /// One of the transitions that wait for a cell has read it.
    fn read(&mut self, cell: Cell) {
        let used = self.used.get_mut(&cell).expect("a cell is read after it was written");
        used.readers -= 1;
        if used.readers == 0 {
            self.free(cell);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::net::{NetBuilder, Timing};

    fn plan(b: NetBuilder) -> Result<SchedulePlan, Vec<ScheduleObstacle>> {
        plan_schedule(&compile(&b.build().unwrap()).unwrap())
    }

    #[test]
    fn a_chain_needs_one_slot() {
        let mut b = NetBuilder::new("");
        let mut place = b.place("p0", 1);
        for i in 1..10 {
            let t = b.transition(format!("t{i}"), Timing::exponential(1.0));
            b.input(place, t, 1.0);
            place = b.place(format!("p{i}"), 0);
            b.output(t, place, 1.0);
        }
        let plan = plan(b).unwrap();
        assert_eq!(plan.slots, 1);
        assert_eq!(plan.steps.iter().filter(|s| s.last).count(), 1);
        assert!(plan.sure_sink[9]);
    }

    #[test]
    fn branches_of_a_choice_meet_again() {
        let mut b = NetBuilder::new("");
        let start = b.place("start", 1);
        let done = b.place("done", 0);
        let end = b.place("end", 0);
        for (name, weight) in [("slow", 1.0), ("fast", 3.0)] {
            let choose = b.transition(format!("choose_{name}"), Timing::immediate(weight, 1));
            let run = b.place(name, 0);
            let work = b.transition(format!("work_{name}"), Timing::exponential(weight));
            b.input(start, choose, 1.0);
            b.output(choose, run, 1.0);
            b.input(run, work, 1.0);
            b.output(work, done, 1.0);
        }
        let join = b.transition("join", Timing::exponential(1.0));
        b.input(done, join, 1.0);
        b.output(join, end, 1.0);
        let plan = plan(b).unwrap();
        let join = plan.steps.last().unwrap();
        assert!(!join.conditional && join.last);
        assert_eq!(plan.choices.len(), 1);
        let folds: Vec<_> = plan.steps.iter().flat_map(|s| &s.puts).map(|p| p.fold).collect();
        assert_eq!(folds.iter().filter(|f| **f == Fold::Min).count(), 1);
    }

    #[test]
    fn obstacles_are_named() {
        let mut b = NetBuilder::new("");
        let p = b.place("p", 2);
        let t = b.transition("t", Timing::exponential(1.0));
        b.input(p, t, 1.0);
        let texts: Vec<_> = plan(b.clone()).unwrap_err().iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["place `p` does not get exactly the tokens that one firing of `t` takes"]);
        b.output(t, p, 1.0);
        let texts: Vec<_> = plan(b).unwrap_err().iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["the net has a cycle through transition `t`"]);
    }

    #[test]
    fn a_race_for_a_token_is_no_schedule() {
        let mut b = NetBuilder::new("");
        let p = b.place("p", 1);
        for name in ["t", "u"] {
            let t = b.transition(name, Timing::exponential(1.0));
            b.input(p, t, 1.0);
        }
        assert_eq!(plan(b).unwrap_err(), [ScheduleObstacle::Conflict { place: "p".into() }]);
    }
}
