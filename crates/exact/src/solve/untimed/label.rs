//! Labelling of markings with formulas: computes the markings in which a part of a formula holds from the markings in
//! which its subformulas hold. The time is linear in the number of firings.
//!
//! A path continues as long as a transition can fire, so a deadlock ends it. If markings are missing, each part has two
//! sets: the markings in which it certainly holds, and the markings in which it may hold. Source: \[Clarke1986\].

use fixedbitset::FixedBitSet;

use crate::compile::{Code, Csr, Program};
use crate::semantics::Fault;
use crate::solve::untimed::evidence::{Evidence, Guide};
use crate::solve::untimed::formula::{Formula, Node};
use crate::solve::untimed::known::Known;
use crate::solve::untimed::space::MarkingGraph;

/// The verdict on a formula in the initial marking, with a firing sequence that shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// True if the formula holds, false if not; none if missing markings leave it undecided.
    pub holds: Option<bool>,
    /// A witness of a formula that holds, or a counterexample of a formula that does not hold; none if no
    /// single path is evidence.
    pub evidence: Option<Evidence>,
}

/// Checks formulas over the markings of a net.
#[derive(Debug)]
pub struct Checker<'a> {
    graph: &'a MarkingGraph,
    program: &'a Program,
    /// Per state: the previous states, one entry per firing.
    before: Csr<u32>,
}

impl<'a> Checker<'a> {
    /// Prepares the markings of `program` for any number of formulas.
    pub fn new(graph: &'a MarkingGraph, program: &'a Program) -> Self {
        let states = graph.states();
        let mut offsets = vec![0_u32; states + 1];
        for step in (0..states).flat_map(|state| graph.steps(state)) {
            offsets[step.to as usize + 1] += 1;
        }
        for state in 0..states {
            offsets[state + 1] += offsets[state];
        }
        let mut next = offsets.clone();
        let mut before = vec![0_u32; graph.firings()];
        for state in 0..states {
            for step in graph.steps(state) {
                let at = &mut next[step.to as usize];
                before[*at as usize] = state as u32;
                *at += 1;
            }
        }
        Self { graph, program, before: Csr::from_parts(offsets, before) }
    }

    /// Checks a formula in the initial marking.
    ///
    /// # Errors
    ///
    /// An expression that is infinite or not a number in a marking.
    pub fn check(&self, formula: &Formula) -> Result<Checked, Fault> {
        let mut known: Vec<Known> = Vec::with_capacity(formula.nodes.len());
        for (i, node) in formula.nodes.iter().enumerate() {
            let what = formula.source(i).unwrap_or_default();
            known.push(self.label(node, &known, what)?);
        }
        let Some(last) = known.last() else { return Ok(Checked { holds: None, evidence: None }) };
        let holds = [true, false].into_iter().find(|&holds| last.is(0, holds));
        let guide = Guide { graph: self.graph, formula, known: &known };
        Ok(Checked { holds, evidence: holds.and_then(|holds| guide.evidence(holds)) })
    }

    fn label(&self, node: &Node, known: &[Known], what: &str) -> Result<Known, Fault> {
        if let Node::Not(of) = node {
            return Ok(known[*of].negated());
        }
        if let Node::Atom(code) = node {
            return Ok(Known::new(self.atom(code, what)?, None));
        }
        let part = |of: usize, perhaps: bool| known[of].states(perhaps);
        let set = |perhaps: bool| match node {
            Node::Deadlock => self.states(perhaps, |state| self.graph.steps(state).is_empty()),
            Node::Enabled(t) => {
                self.states(perhaps, |state| self.graph.steps(state).iter().any(|step| step.transition == *t))
            }
            Node::And(a, b) => part(*a, perhaps) & part(*b, perhaps),
            Node::Or(a, b) => part(*a, perhaps) | part(*b, perhaps),
            Node::Next(of) => self.next(part(*of, perhaps), perhaps),
            Node::Until(a, b) => self.until(part(*a, perhaps), part(*b, perhaps), perhaps),
            Node::Always(of) => self.always(part(*of, perhaps), perhaps),
            Node::True | Node::Not(_) | Node::Atom(_) => self.states(true, |_| true),
        };
        Ok(Known::new(set(false), self.graph.stopped().map(|_| set(true))))
    }

    /// Returns the explored states with a property; with `perhaps`, also all unexplored states.
    fn states(&self, perhaps: bool, is: impl Fn(usize) -> bool) -> FixedBitSet {
        let explored = self.graph.explored();
        let mut set = FixedBitSet::with_capacity(self.graph.states());
        set.extend((0..explored).filter(|&state| is(state)));
        if perhaps {
            set.insert_range(explored..);
        }
        set
    }

    fn atom(&self, code: &Code, what: &str) -> Result<FixedBitSet, Fault> {
        let mut marking = self.program.initial.clone();
        let mut set = FixedBitSet::with_capacity(self.graph.states());
        for state in 0..self.graph.states() {
            self.graph.marking(state, &mut marking);
            let value = code.eval(&marking);
            if !value.is_finite() {
                return Err(Fault::BadExpression { what: format!("`{what}`") });
            }
            set.set(state, value != 0.0);
        }
        Ok(set)
    }

    fn next(&self, of: &FixedBitSet, perhaps: bool) -> FixedBitSet {
        let mut set = self.states(perhaps, |_| false);
        set.extend(of.ones().flat_map(|state| self.before.row(state)).map(|&state| state as usize));
        set
    }

    fn until(&self, first: &FixedBitSet, last: &FixedBitSet, perhaps: bool) -> FixedBitSet {
        let mut set = last.clone();
        if perhaps {
            set.extend((self.graph.explored()..self.graph.states()).filter(|&state| first.contains(state)));
        }
        let mut waiting: Vec<u32> = set.ones().map(|state| state as u32).collect();
        while let Some(state) = waiting.pop() {
            for &before in self.before.row(state as usize) {
                if first.contains(before as usize) && !set.put(before as usize) {
                    waiting.push(before);
                }
            }
        }
        set
    }

    /// Returns the largest subset in which every marking is dead or has a firing that stays in the subset. An unexplored
    /// marking belongs to the subset only if `perhaps` is true. The algorithm counts the firings that stay.
    fn always(&self, of: &FixedBitSet, perhaps: bool) -> FixedBitSet {
        let mut set = of.clone();
        let mut ways = vec![0_u32; self.graph.states()];
        let mut waiting: Vec<u32> = Vec::new();
        for state in of.ones() {
            let steps = self.graph.steps(state);
            ways[state] = steps.iter().filter(|step| of.contains(step.to as usize)).count() as u32;
            let explored = state < self.graph.explored();
            let stays = if explored { steps.is_empty() || ways[state] > 0 } else { perhaps };
            if !stays {
                waiting.push(state as u32);
            }
        }
        waiting.iter().for_each(|&state| set.set(state as usize, false));
        while let Some(state) = waiting.pop() {
            for &before in self.before.row(state as usize) {
                let before = before as usize;
                if set.contains(before) {
                    ways[before] -= 1;
                    if ways[before] == 0 {
                        set.set(before, false);
                        waiting.push(before as u32);
                    }
                }
            }
        }
        set
    }
}
