//! Settling in zero time: the markings that immediate transitions pass through, and the probabilities of the final markings.
//!
//! For a vanishing marking, a small graph is built, whose ends are tangible markings and goals. Probability mass is
//! propagated through the graph in topological order. If immediate transitions form a loop, the loop's linear system is
//! solved by elimination without subtraction \[Grassmann1985\], so that small probabilities keep their relative
//! accuracy. If several groups of immediate transitions are enabled, they are resolved one after the other. Groups are
//! independent, so no probability depends on the order.

use std::cmp::Reverse;

use crate::compile::{Code, Firing, Program};
use crate::semantics::{Candidates, Fault, find_candidates, find_candidates_among};
use crate::solve::canonical::Canonical;
use crate::solve::components::Components;
use crate::solve::explore_error::ExploreError;
use crate::solve::marking::Marking;
use crate::solve::search::Search;
use crate::solve::store::Store;

/// Maximum number of markings that may follow one marking in zero time.
pub(crate) const MOST_VANISHING: usize = 200_000;
/// Maximum number of markings of a loop of immediate transitions.
const MOST_LOOPING: usize = 2_000;

/// A net, and the markings in which its replications end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'a> {
    pub(crate) program: &'a Program,
    /// The goal: in markings in which it is not 0, no transition fires.
    pub(crate) goal: Option<&'a Code>,
    /// Parts that may be exchanged, in which case markings are stored in their canonical form; none if all markings are distinguished.
    pub(crate) canonical: Option<&'a Canonical>,
    /// The search for enabled transitions in a large net; none in other nets, and with parts that may be exchanged.
    pub(crate) search: Option<&'a Search>,
}

impl<'a> Rules<'a> {
    /// Returns the initial marking.
    pub(crate) fn start(&self) -> Marking {
        match self.search {
            None => Marking::plain(&self.program.initial),
            Some(search) => Marking::listing(search.initial.clone()),
        }
    }

    /// Returns an empty store.
    pub(crate) fn store(&self) -> Store {
        Store::new(self.program, self.search)
    }

    /// Returns the timed transitions that can be enabled in `marking`, in the order of the net; `found` is working memory.
    #[inline]
    pub(crate) fn timed<'b>(&self, marking: &Marking, found: &'b mut Vec<u32>) -> &'b [u32]
    where
        'a: 'b,
    {
        match self.search {
            None => &self.program.timed,
            Some(search) => {
                search.timed.find(marking, found);
                found
            }
        }
    }

    /// Converts a marking to its canonical form.
    #[inline]
    pub(crate) fn sort(&self, marking: &mut Marking) {
        if let Some(canonical) = self.canonical {
            canonical.sort(marking.plain_mut());
        }
    }

    /// Returns true if the canonical form of a marking is `target`.
    pub(crate) fn is_as(&self, marking: &Marking, target: &Marking) -> bool {
        if self.canonical.is_none() {
            return marking == target;
        }
        let mut sorted = marking.clone();
        self.sort(&mut sorted);
        sorted == *target
    }

    /// Returns true if the replication ends in `marking`.
    pub(crate) fn is_goal(&self, marking: &[u32]) -> Result<bool, Fault> {
        let Some(goal) = self.goal else { return Ok(false) };
        let value = goal.eval(marking);
        if value.is_finite() { Ok(value != 0.0) } else { Err(Fault::BadExpression { what: "the goal".to_owned() }) }
    }

    /// Returns true if an immediate transition of `groups` can fire in `marking`, and `marking` is not a goal; `found` is
    /// working memory.
    #[inline]
    pub(crate) fn is_vanishing(
        &self,
        marking: &Marking,
        groups: &[u32],
        found: &mut Candidates,
    ) -> Result<bool, Fault> {
        if groups.is_empty() || self.is_goal(marking)? {
            return Ok(false);
        }
        self.choice_of(groups.iter().copied(), marking, found)
    }

    /// Fills `found` with the immediate transitions to choose from in `marking`; returns false if the marking is tangible or a goal.
    fn choice(&self, marking: &Marking, found: &mut Candidates) -> Result<bool, Fault> {
        if self.program.groups.rows() == 0 || self.is_goal(marking)? {
            return Ok(false);
        }
        self.choice_of(0..self.program.groups.rows() as u32, marking, found)
    }

    /// Fills `found` with the choice of the first of `groups` that has one; in a large net, of all groups. False if none has.
    #[inline]
    fn choice_of(
        &self,
        groups: impl Iterator<Item = u32>,
        marking: &Marking,
        found: &mut Candidates,
    ) -> Result<bool, Fault> {
        if let Some(search) = self.search {
            return self.choice_by(search, marking, found);
        }
        for group in groups {
            find_candidates(self.program, group as usize, marking, found)?;
            if !found.transitions().is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn choice_by(&self, search: &Search, marking: &Marking, found: &mut Candidates) -> Result<bool, Fault> {
        let mut perhaps = Vec::new();
        search.immediate.find(marking, &mut perhaps);
        let group = |&t: &u32| self.program.group_of[t as usize];
        let priority = |&t: &u32| match self.program.firing[t as usize] {
            Firing::Immediate { priority, .. } => priority,
            _ => 0,
        };
        perhaps.sort_unstable_by_key(|t| (group(t), Reverse(priority(t)), *t));
        for members in perhaps.chunk_by(|a, b| group(a) == group(b)) {
            find_candidates_among(self.program, members, marking, found)?;
            if !found.transitions().is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// One firing of an immediate transition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// The marking to which it leads.
    pub(crate) to: u32,
    pub(crate) transition: u32,
    /// Probability of the step in its source marking.
    pub(crate) probability: f64,
}

/// The graph of markings that one marking leads to in zero time; reused for many markings.
#[derive(Debug)]
pub(crate) struct Settling {
    /// The markings; marking 0 is the start.
    markings: Store,
    /// Per marking, the start of its steps; one more entry for the end.
    starts: Vec<u32>,
    steps: Vec<Step>,
    /// Per marking: the previous marking and the transition between.
    before: Vec<(u32, u32)>,
    visits: Vec<f64>,
    found: Candidates,
    marking: Marking,
    next: Marking,
}

impl Settling {
    /// Returns a graph without markings, for the net of `rules`.
    pub(crate) fn new(rules: &Rules<'_>) -> Self {
        Self {
            markings: rules.store(),
            starts: Vec::new(),
            steps: Vec::new(),
            before: Vec::new(),
            visits: Vec::new(),
            found: Candidates::default(),
            marking: rules.start(),
            next: rules.start(),
        }
    }

    /// Explores all markings that can follow `start` in zero time, in canonical form.
    pub(crate) fn explore(&mut self, rules: &Rules<'_>, start: &Marking) -> Result<(), ExploreError> {
        self.markings.clear();
        self.steps.clear();
        self.before.clear();
        self.starts.clear();
        self.starts.push(0);
        self.next.copy_from(start);
        rules.sort(&mut self.next);
        self.add((0, u32::MAX));
        let mut at = 0;
        while at < self.before.len() {
            if self.before.len() > MOST_VANISHING {
                return Err(ExploreError::VanishingLimit { limit: MOST_VANISHING });
            }
            self.expand(rules, at)?;
            self.starts.push(number(self.steps.len()));
            at += 1;
        }
        Ok(())
    }

    fn expand(&mut self, rules: &Rules<'_>, at: usize) -> Result<(), Fault> {
        let mut found = std::mem::take(&mut self.found);
        self.markings.read(at, &mut self.marking);
        if rules.choice(&self.marking, &mut found)? {
            for (&transition, probability) in found.transitions().iter().zip(found.shares()) {
                self.next.copy_from(&self.marking);
                self.next.fire(rules.program, transition as usize)?;
                rules.sort(&mut self.next);
                let to = self.add((number(at), transition));
                self.steps.push(Step { to, transition, probability });
            }
        }
        self.found = found;
        Ok(())
    }

    /// Returns the number of the marking `next`; for a new marking, records how it was reached.
    fn add(&mut self, before: (u32, u32)) -> u32 {
        let (number, new) = self.markings.insert(&self.next);
        if new {
            self.before.push(before);
        }
        number
    }

    /// Returns the number of markings, including the start.
    pub(crate) fn len(&self) -> usize {
        self.before.len()
    }

    /// Writes marking `i` to `marking`.
    pub(crate) fn read(&self, i: usize, marking: &mut Marking) {
        self.markings.read(i, marking);
    }

    /// Returns the steps that can fire in marking `i`; empty if it is tangible or a goal.
    pub(crate) fn steps(&self, i: usize) -> &[Step] {
        &self.steps[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    /// Returns true if marking `i` is an end: tangible or a goal.
    pub(crate) fn is_end(&self, i: usize) -> bool {
        self.steps(i).is_empty()
    }

    /// Appends a shortest sequence of transitions that leads from the start to marking `i`.
    pub(crate) fn path(&self, i: usize, path: &mut Vec<u32>) {
        let from = path.len();
        let mut at = i;
        while at > 0 {
            let (before, transition) = self.before[at];
            path.push(transition);
            at = before as usize;
        }
        path[from..].reverse();
    }

    /// Returns the expected number of visits to marking `i`; requires an earlier call of [`Settling::visits`].
    pub(crate) fn visit(&self, i: usize) -> f64 {
        self.visits[i]
    }

    /// Computes the mean number of visits of each marking; for an end, the probability of ending there.
    pub(crate) fn visits(&mut self, program: &Program) -> Result<(), ExploreError> {
        let mut visits = std::mem::take(&mut self.visits);
        visits.clear();
        visits.resize(self.len(), 0.0);
        visits[0] = 1.0;
        let components = Components::of_graph(self.len(), |v| self.steps(v).len(), |v, k| self.steps(v)[k].to as usize);
        for component in (0..components.count()).rev() {
            let members = components.states.row(component);
            if let Some((all, inside)) = self.as_loop(members, &components.of) {
                if all == inside {
                    return Err(self.trap(program, members));
                }
                self.solve_loop(members, &components.of, &mut visits)?;
            }
            for &v in members {
                for step in self.steps(v as usize) {
                    if components.of[step.to as usize] as usize != component {
                        visits[step.to as usize] += visits[v as usize] * step.probability;
                    }
                }
            }
        }
        self.visits = visits;
        Ok(())
    }

    /// Returns the number of steps from the members of a component, and the number of steps that stay in it; none if no step
    /// stays.
    fn as_loop(&self, members: &[u32], of: &[u32]) -> Option<(usize, usize)> {
        let own = of[members[0] as usize];
        let steps = members.iter().flat_map(|&v| self.steps(v as usize));
        let (all, inside) =
            steps.fold((0, 0), |(all, inside), step| (all + 1, inside + usize::from(of[step.to as usize] == own)));
        (inside > 0).then_some((all, inside))
    }

    fn trap(&self, program: &Program, members: &[u32]) -> ExploreError {
        let steps = members.iter().flat_map(|&v| self.steps(v as usize));
        let mut transitions: Vec<u32> = steps.map(|step| step.transition).collect();
        transitions.sort_unstable();
        transitions.dedup();
        let name = |t: u32| program.transition_names[t as usize].to_owned();
        ExploreError::VanishingTrap { transitions: transitions.into_iter().map(name).collect() }
    }

    /// Solves `x = visits + x P` for the members of a loop, by eliminating (censoring) one member after the other.
    fn solve_loop(&self, members: &[u32], of: &[u32], visits: &mut [f64]) -> Result<(), ExploreError> {
        let size = members.len();
        if size > MOST_LOOPING {
            return Err(ExploreError::VanishingLimit { limit: MOST_LOOPING });
        }
        let own = of[members[0] as usize];
        let place = |v: u32| members.binary_search(&v).expect("the step stays among the members");
        let mut inner = vec![0.0; size * size];
        let mut leave = vec![0.0; size];
        let mut mass: Vec<f64> = members.iter().map(|&v| visits[v as usize]).collect();
        for (i, &v) in members.iter().enumerate() {
            for step in self.steps(v as usize) {
                if of[step.to as usize] == own {
                    inner[i * size + place(step.to)] += step.probability;
                } else {
                    leave[i] += step.probability;
                }
            }
        }
        let mut outflow = vec![0.0; size];
        for k in (0..size).rev() {
            let (upper, row) = inner.split_at_mut(k * size);
            let row = &row[..k];
            outflow[k] = leave[k] + row.iter().sum::<f64>();
            for i in 0..k {
                let share = upper[i * size + k] / outflow[k];
                if share > 0.0 {
                    (0..k).for_each(|j| upper[i * size + j] += share * row[j]);
                    leave[i] += share * leave[k];
                }
            }
            (0..k).for_each(|j| mass[j] += mass[k] / outflow[k] * row[j]);
        }
        for k in 0..size {
            let inflow: f64 = (0..k).map(|i| mass[i] * inner[i * size + k]).sum();
            mass[k] = (mass[k] + inflow) / outflow[k];
        }
        for (&v, &x) in members.iter().zip(&mass) {
            visits[v as usize] = x;
        }
        Ok(())
    }
}

fn number(node: usize) -> u32 {
    u32::try_from(node).expect("the number of markings is limited")
}
