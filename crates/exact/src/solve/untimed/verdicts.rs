//! Liveness, home states and recurrent classes of a net without time.

use crate::compile::Program;
use crate::solve::components::Components;
use crate::solve::untimed::space::MarkingGraph;
use crate::solve::verdict::{ClosedClass, Liveness, Verdicts};

impl MarkingGraph {
    /// Returns the verdicts on all markings; none if markings are missing.
    ///
    /// Exact. Source: strongly connected components after \[Tarjan1972\].
    pub fn verdicts(&self, program: &Program) -> Option<Verdicts> {
        if self.stopped.is_some() {
            return None;
        }
        let found = Components::of_graph(self.states(), |v| self.steps(v).len(), |v, k| self.steps(v)[k].to as usize);
        let count = program.transitions();
        let (mut fires, mut returns, mut terminal) =
            (vec![false; count], vec![false; count], vec![true; found.count()]);
        for state in 0..self.states() {
            let own = found.of[state];
            for step in self.steps(state) {
                let stays = found.of[step.to as usize] == own;
                fires[step.transition as usize] = true;
                returns[step.transition as usize] |= stays;
                terminal[own as usize] &= stays;
            }
        }
        let closed = (0..found.count()).filter(|&component| terminal[component]);
        let mut recurrent: Vec<&[u32]> = closed.map(|component| found.states.row(component)).collect();
        recurrent.sort_unstable_by_key(|states| states[0]);
        let lost = self.lost(&recurrent, count);
        let judged = (0..count).map(|t| match lost[t] {
            None => Liveness::Live,
            Some(_) if returns[t] => Liveness::Repeated,
            Some(_) if fires[t] => Liveness::Finite,
            Some(_) => Liveness::Dead,
        });
        let class = |states: &&[u32]| ClosedClass { first: states[0], states: states.len() as u32 };
        Some(Verdicts {
            reversible: found.count() == 1,
            liveness: judged.collect(),
            recurrent: recurrent.iter().map(class).collect(),
            lost,
        })
    }

    /// Returns for each transition the first state of a recurrent class in which it never fires; none if it fires in every
    /// recurrent class.
    fn lost(&self, recurrent: &[&[u32]], transitions: usize) -> Vec<Option<u32>> {
        let mut lost = vec![None; transitions];
        let mut kept: Vec<usize> = (0..transitions).collect();
        let mut fired_in = vec![usize::MAX; transitions];
        for (class, states) in recurrent.iter().enumerate() {
            if kept.is_empty() {
                break;
            }
            for step in states.iter().flat_map(|&state| self.steps(state as usize)) {
                fired_in[step.transition as usize] = class;
            }
            kept.retain(|&t| {
                let fires = fired_in[t] == class;
                if !fires {
                    lost[t] = Some(states[0]);
                }
                fires
            });
        }
        lost
    }
}
