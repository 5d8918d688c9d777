//! Determines the choices under which each transition fires, and from them the steps of the straight-line program.

use std::collections::{BTreeMap, HashMap};

use crate::compile::Csr;
use crate::compile::program::{Firing, Program};
use crate::compile::schedule::plan::{ChoiceStep, Fold, Put, ScheduleObstacle, SchedulePlan, Step};
use crate::compile::schedule::slots::{Cell, Slots};

/// (choice, branch) pairs that must have occurred, in ascending order of choices.
type Guard = Vec<(u32, u32)>;

/// Tokens that arrive together: from one producer, or from alternatives of which exactly one fires.
#[derive(Clone, Debug)]
struct Batch {
    guard: Guard,
    weight: u32,
    producers: Vec<u32>,
}

/// The state of planning: guards so far, and how each counter is filled.
pub(super) struct Planner<'a> {
    program: &'a Program,
    producers: Vec<Vec<(u32, u32)>>,
    consumers: Vec<Vec<u32>>,
    guards: Vec<Guard>,
    branch: Vec<Option<(u32, u32)>>,
    /// Per consumed counter: the guard, and the batches with this guard.
    batches: HashMap<u32, (Guard, Vec<Batch>)>,
    /// Per consumed counter and producer: the number of the batch.
    batch_of: HashMap<(u32, u32), u32>,
    choices: Vec<ChoiceStep>,
    choice_at: HashMap<u32, (u32, Vec<u32>)>,
}

impl<'a> Planner<'a> {
    pub(super) fn new(program: &'a Program) -> Self {
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
            batch_of: HashMap::new(),
            choices: Vec::new(),
            choice_at: HashMap::new(),
        }
    }

    /// Determines the guard under which `t` fires; all its producers must have been visited before.
    pub(super) fn visit(&mut self, t: usize) -> Result<(), ScheduleObstacle> {
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
            place: self.program.place_names[counter as usize / self.program.classes()].to_owned(),
            transition: self.program.transition_names[t].to_owned(),
        }
    }

    /// Groups the tokens that arrive in a counter into batches, and returns the guard that all batches have. It is an
    /// error if the batches have different guards, or if their weights and the initial tokens do not sum to `weight`.
    fn fill(&mut self, counter: u32, weight: u32, t: usize) -> Result<Guard, ScheduleObstacle> {
        let consumers = &self.consumers[counter as usize];
        if consumers.len() > 1 && !self.is_free_choice(counter) {
            let place = self.program.place_names[counter as usize / self.program.classes()].to_owned();
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
        for (number, batch) in (0..).zip(&batches) {
            self.batch_of.extend(batch.producers.iter().map(|&t| ((counter, t), number)));
        }
        self.batches.insert(counter, (guard.clone(), batches));
        Ok(guard)
    }

    /// Returns true if the consumers of a counter are a free choice: immediate transitions of one priority, whose only input
    /// is this counter, with the same weight.
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

    /// The choice at a counter, created on first use; branches are in the order of the group.
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

    /// Merges batches that differ only in the branch of one choice, if all its branches are present, since exactly one
    /// of these batches arrives.
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

    pub(super) fn finish(mut self, order: &[usize]) -> SchedulePlan {
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

    /// The cell with the time at which a counter has all its tokens; none if they are present from
    /// the start, or if no transition takes them.
    fn cell(&self, counter: u32) -> Option<Cell> {
        match &self.batches.get(&counter)?.1[..] {
            [] => None,
            [Batch { producers, .. }] if producers.len() == 1 => Some(Cell::Firing(producers[0])),
            _ => Some(Cell::Counter(counter)),
        }
    }

    /// The destination of the token of `t` in a counter; none if no transition takes it.
    fn put(&self, counter: u32, t: u32, slots: &mut Slots) -> Option<Put> {
        let cell = self.cell(counter)?;
        let readers = self.consumers[counter as usize].len();
        if cell == Cell::Firing(t) {
            slots.fold(cell, Fold::Set, readers);
            return Some(Put { fold: Fold::Set, slot: slots.of(cell), then: None });
        }
        let batches = &self.batches[&counter].1;
        let batch = self.batch_of[&(counter, t)];
        let alternatives = batches[batch as usize].producers.len();
        if alternatives == 1 || batches.len() == 1 {
            let how = if alternatives == 1 { Fold::Max } else { Fold::Min };
            let (fold, slot) = slots.fold(cell, how, readers);
            return Some(Put { fold, slot, then: None });
        }
        let part = Cell::Batch(counter, batch);
        let (fold, slot) = slots.fold(part, Fold::Min, 0);
        let mut then = None;
        if slots.arrived(part) == alternatives {
            then = Some(slots.fold(cell, Fold::Max, readers));
            slots.free(part);
        }
        Some(Put { fold, slot, then })
    }

    /// Transitions that are always followed by another firing, so that they never fire last.
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

/// Both guards together, or `None` if they contradict each other.
fn conjunction(a: &Guard, b: &Guard) -> Option<Guard> {
    let mut both: Guard = a.iter().chain(b).copied().collect();
    both.sort_unstable();
    both.dedup();
    let contradiction = both.windows(2).any(|pair| pair[0].0 == pair[1].0);
    (!contradiction).then_some(both)
}
