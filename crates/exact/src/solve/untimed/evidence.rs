//! Firing sequences that show why a formula holds, or does not hold, in the initial marking.

use std::collections::VecDeque;

use crate::solve::components::Components;
use crate::solve::untimed::formula::{Formula, Node};
use crate::solve::untimed::known::Known;
use crate::solve::untimed::space::{MarkingGraph, Step, path};

/// A firing sequence from the initial marking that is evidence for a verdict. It ends at an operator that no single
/// sequence can prove or refute: a true formula over all paths, or a false formula over some path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Transitions from the initial marking.
    pub path: Vec<u32>,
    /// Transitions that are repeated forever after the path; none if the path ends.
    pub cycle: Option<Vec<u32>>,
    /// The state after `path`.
    pub state: u32,
    /// True if the path ends because no transition can fire, and the evidence depends on that.
    pub stops: bool,
    /// The deciding part of the formula in `state`, and true if this part holds there; none if the part corresponds to
    /// no part of the text.
    pub decides: Option<(String, bool)>,
}

/// Finds evidence, given the markings in which each part of a formula holds.
pub(crate) struct Guide<'a> {
    pub(crate) graph: &'a MarkingGraph,
    pub(crate) formula: &'a Formula,
    pub(crate) known: &'a [Known],
}

/// Marks a state that was not visited.
const NEW: Step = Step { transition: u32::MAX, to: u32::MAX };

impl Guide<'_> {
    /// Follows the formula from the initial marking through operators for which one path is evidence; none if the
    /// formula starts with no such operator.
    pub(crate) fn evidence(&self, mut holds: bool) -> Option<Evidence> {
        let mut found = Evidence::default();
        let mut walked = false;
        let mut node = self.formula.nodes.len() - 1;
        loop {
            found.decides = self.formula.source(node).map(|text| (text.to_owned(), holds)).or(found.decides);
            let part = &self.formula.nodes[node];
            match *part {
                Node::Not(of) => (node, holds) = (of, !holds),
                Node::And(a, b) | Node::Or(a, b) => {
                    // either both parts are needed, or one part suffices
                    let both = matches!(part, Node::And(..)) == holds;
                    let shows = |&of: &usize| {
                        if both { self.is_about_paths(of) } else { self.known[of].is(found.state, holds) }
                    };
                    let Some(of) = [a, b].into_iter().find(shows) else { break };
                    node = of;
                }
                Node::Next(of) if holds => {
                    let steps = self.graph.steps(found.state as usize);
                    let step = steps.iter().find(|step| self.known[of].is(step.to, true))?;
                    found.path.push(step.transition);
                    (node, walked) = (of, true);
                    (found.state, found.decides) = (step.to, None);
                }
                Node::Until(first, last) if holds => {
                    let goal = |state: u32| self.known[last].is(state, true);
                    let (path, end) = self.walk(found.state, |state| self.known[first].is(state, true), goal)?;
                    found.path.extend(path);
                    (node, walked) = (last, true);
                    (found.state, found.decides) = (end, None);
                }
                Node::Always(_) if holds => {
                    self.go_on(node, &mut found)?;
                    return Some(found);
                }
                _ => break,
            }
        }
        walked.then_some(found)
    }

    fn is_about_paths(&self, node: usize) -> bool {
        let mut waiting = vec![node];
        while let Some(node) = waiting.pop() {
            match self.formula.nodes[node] {
                Node::Next(_) | Node::Until(..) | Node::Always(_) => return true,
                Node::Not(of) => waiting.push(of),
                Node::And(a, b) | Node::Or(a, b) => waiting.extend([a, b]),
                Node::True | Node::Atom(_) | Node::Deadlock | Node::Enabled(_) => {}
            }
        }
        false
    }

    /// Returns a shortest path to a goal, and the state at its end.
    fn walk(&self, from: u32, through: impl Fn(u32) -> bool, goal: impl Fn(u32) -> bool) -> Option<(Vec<u32>, u32)> {
        if goal(from) {
            return Some((Vec::new(), from));
        }
        let mut parents = vec![NEW; self.graph.states()];
        parents[from as usize] = Step { transition: u32::MAX, to: from };
        let mut waiting = VecDeque::from([from]);
        while let Some(state) = waiting.pop_front() {
            for step in self.graph.steps(state as usize) {
                let (is_goal, parent) = (goal(step.to), &mut parents[step.to as usize]);
                if *parent != NEW || !(is_goal || through(step.to)) {
                    continue;
                }
                *parent = Step { transition: step.transition, to: state };
                if is_goal {
                    return Some((path(&parents, from, step.to), step.to));
                }
                waiting.push_back(step.to);
            }
        }
        None
    }

    /// Adds a shortest path to a deadlock or to a cycle, and the cycle, inside the states where an EG holds.
    fn go_on(&self, always: usize, found: &mut Evidence) -> Option<()> {
        let inside = |state: u32| self.known[always].is(state, true);
        let mut numbers = vec![u32::MAX; self.graph.states()];
        numbers[found.state as usize] = 0;
        let mut states = vec![found.state];
        let mut rows: Vec<Vec<u32>> = Vec::new();
        while let Some(&state) = states.get(rows.len()) {
            let mut row = Vec::new();
            for step in self.graph.steps(state as usize).iter().filter(|step| inside(step.to)) {
                let number = &mut numbers[step.to as usize];
                if *number == u32::MAX {
                    *number = states.len() as u32;
                    states.push(step.to);
                }
                row.push(*number);
            }
            rows.push(row);
        }
        let parts = Components::of_graph(rows.len(), |v| rows[v].len(), |v, k| rows[v][k] as usize).of;
        let is_end = |v: usize| {
            let own = |&w: &u32| parts[w as usize] == parts[v];
            self.graph.steps(states[v] as usize).is_empty() || rows[v].iter().any(own)
        };
        // an edge within a component is part of a cycle
        let end = states[(0..rows.len()).find(|&v| is_end(v))?];
        let (path, _) = self.walk(found.state, inside, |state| state == end)?;
        found.path.extend(path);
        (found.state, found.decides) = (end, None);
        found.stops = self.graph.steps(end as usize).is_empty();
        if !found.stops {
            let back = |state: u32| {
                let steps = self.graph.steps(state as usize);
                steps.iter().find(|step| step.to == end).map(|step| step.transition).filter(|_| inside(state))
            };
            let (mut cycle, last) = self.walk(end, inside, |state| back(state).is_some())?;
            cycle.extend(back(last));
            found.cycle = Some(cycle);
        }
        Some(())
    }
}
