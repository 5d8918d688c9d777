//! Exploration of the markings of a net without time, breadth first.

use std::time::Instant;

use crate::compile::{Csr, Program};
use crate::solve::explore_error::{ExploreError, Incomplete, Unbounded};
use crate::solve::growth::{Grown, Growth};
use crate::solve::marking::Marking;
use crate::solve::reach::{LOOK, Limits, MOST};
use crate::solve::store::Store;
use crate::solve::untimed::rules::{Priorities, Rules};
use crate::solve::untimed::space::{MarkingGraph, Step, path};
use crate::solve::vanish;
use crate::watch::Watch;

/// Reason why the exploration stops.
enum Halt {
    Limit(Incomplete),
    Error(ExploreError),
}

impl<E: Into<ExploreError>> From<E> for Halt {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// Explores all markings that `program` can reach if time is ignored: in each marking, every transition that
/// `priorities` allow may fire.
///
/// Exact for the net without time. Non-exponential delays and loops of immediate transitions are
/// allowed. Rates and weights matter only if they are 0: such a transition does
/// not fire, so an expression as a rate acts as a guard. If a limit is reached, the graph is
/// partial ([`MarkingGraph::stopped`]).
///
/// # Errors
///
/// A proof that the net is unbounded, and invalid values in a marking.
pub fn explore_untimed(
    program: &Program,
    priorities: Priorities,
    limits: &Limits,
    watch: &dyn Watch,
) -> Result<MarkingGraph, ExploreError> {
    let mut explorer = Explorer::new(Rules::new(program, priorities), limits, watch);
    let stopped = match explorer.run() {
        Ok(()) => None,
        Err(Halt::Limit(incomplete)) => Some(incomplete),
        Err(Halt::Error(error)) => return Err(error),
    };
    Ok(explorer.finish(stopped))
}

struct Explorer<'a> {
    rules: Rules<'a>,
    limits: &'a Limits,
    watch: &'a dyn Watch,
    started: Instant,
    store: Store,
    parents: Vec<Step>,
    offsets: Vec<u32>,
    steps: Vec<Step>,
    dead: Vec<u32>,
    peaks: Vec<(u64, u32)>,
    growth: Growth,
}

impl<'a> Explorer<'a> {
    fn new(rules: Rules<'a>, limits: &'a Limits, watch: &'a dyn Watch) -> Self {
        let program = rules.program;
        Self {
            store: Store::new(program, None),
            peaks: vec![(0, 0); program.places()],
            rules,
            limits,
            watch,
            started: Instant::now(),
            parents: Vec::new(),
            offsets: vec![0],
            steps: Vec::new(),
            dead: Vec::new(),
            growth: Growth::new(program),
        }
    }

    fn run(&mut self) -> Result<(), Halt> {
        let program = self.rules.program;
        let mut marking = Marking::plain(&program.initial);
        let mut next = marking.clone();
        let mut firing = Vec::new();
        self.state(Step { transition: u32::MAX, to: 0 }, &marking)?;
        let mut at = 0;
        while at < self.store.len() {
            if at % LOOK == 0 {
                self.look()?;
            }
            self.store.read(at, &mut marking);
            self.rules.find(&marking, &mut firing)?;
            if firing.is_empty() {
                self.dead.push(at as u32);
            }
            for &transition in &firing {
                next.copy_from(&marking);
                next.fire(program, transition as usize)?;
                let to = self.state(Step { transition, to: at as u32 }, &next)?;
                self.steps.push(Step { transition, to });
            }
            self.offsets.push(self.steps.len() as u32);
            at += 1;
        }
        Ok(())
    }

    /// Stops the exploration if a limit is exceeded or a stop is requested.
    fn look(&mut self) -> Result<(), Halt> {
        self.watch.progress(self.store.len() as u64, 0);
        if self.watch.stopped() {
            return Err(Halt::Limit(Incomplete::Interrupted));
        }
        if let Some(limit) = self.limits.wall.filter(|limit| self.started.elapsed() > *limit) {
            return Err(Halt::Limit(Incomplete::Time { limit }));
        }
        let limit = self.limits.bytes;
        let rows = size_of_val(&self.steps[..]) + size_of_val(&self.parents[..]) + size_of_val(&self.offsets[..]);
        if self.store.bytes() + rows as u64 > limit || self.steps.len() as u64 > MOST - (1 << 24) {
            return Err(Halt::Limit(Incomplete::Memory { limit }));
        }
        Ok(())
    }

    /// Returns the number of a state; a new state, found by the step `parent`, is checked for unbounded growth.
    fn state(&mut self, parent: Step, marking: &Marking) -> Result<u32, Halt> {
        let (state, new) = self.store.insert(marking);
        if !new {
            return Ok(state);
        }
        self.parents.push(parent);
        for (place, peak) in self.peaks.iter_mut().enumerate() {
            let tokens = self.rules.program.tokens_in(place, marking);
            if tokens > peak.0 {
                *peak = (tokens, state);
            }
        }
        let limit = self.limits.states.min(MOST);
        if self.store.len() as u64 > limit {
            return Err(Halt::Limit(Incomplete::States { limit }));
        }
        let (rules, store, parents) = (&self.rules, &self.store, &self.parents);
        let before = |state: u32| parents[state as usize].to;
        let proof = |from: u32| prove(rules, store, parents, from, state);
        if let Some(unbounded) = self.growth.check(store, before, (state, marking), proof)? {
            return Err(Halt::Error(ExploreError::Unbounded(unbounded)));
        }
        Ok(state)
    }

    fn finish(mut self, stopped: Option<Incomplete>) -> MarkingGraph {
        let explored = self.offsets.len() - 1;
        // the unfinished row and later rows have no successors
        self.steps.truncate(self.offsets[explored] as usize);
        self.offsets.resize(self.store.len() + 1, self.offsets[explored]);
        MarkingGraph {
            store: self.store,
            parents: self.parents,
            steps: Csr::from_parts(self.offsets, self.steps),
            explored,
            stopped,
            dead: self.dead,
            peaks: self.peaks,
            wall: self.started.elapsed(),
        }
    }
}

/// Returns a proof that the firings from a state to a later state, which covers the first state, can be repeated; none
/// if these firings cannot be repeated.
fn prove(
    rules: &Rules<'_>,
    store: &Store,
    parents: &[Step],
    from: u32,
    to: u32,
) -> Result<Option<Unbounded>, ExploreError> {
    let program = rules.program;
    let read = vanish::Rules { program, goal: None, canonical: None, search: None };
    let Some(grown) = Grown::between(&read, store, from, to) else { return Ok(None) };
    let (prefix, cycle) = (path(parents, 0, from), path(parents, from, to));
    let mut found = Vec::new();
    let mut fires = |t: u32, marking: &[u32]| rules.find(marking, &mut found).map(|()| found.contains(&t));
    Ok(grown.is_repeatable(program, &cycle, &mut fires)?.then(|| grown.proof(program, prefix, cycle)))
}
