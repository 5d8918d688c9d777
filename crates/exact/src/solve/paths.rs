//! Paths to states of a state space, as sequences of transitions.

use crate::compile::Program;
use crate::solve::explore_error::ExploreError;
use crate::solve::space::StateSpace;
use crate::solve::vanish::Settling;
use crate::solve::witness::{sequence, settle_to, step_to};

impl StateSpace {
    /// Transitions that lead from the initial marking to a state, with as few timed firings as possible.
    ///
    /// # Errors
    ///
    /// As [`explore`](crate::solve::explore).
    pub fn path_to(&self, program: &Program, state: u32) -> Result<Vec<u32>, ExploreError> {
        sequence(&self.rules(program), &self.store, &self.parents, state)
    }

    /// Transitions that lead from the initial marking to one in which a place holds its largest number of tokens.
    ///
    /// # Errors
    ///
    /// As [`explore`](crate::solve::explore).
    pub fn path_to_peak(&self, program: &Program, place: usize) -> Result<Vec<u32>, ExploreError> {
        let peak = self.peaks[place];
        let rules = self.rules(program);
        let is_there = |marking: &[u32]| program.tokens_in(place, marking) >= peak.tokens;
        let mut settling = Settling::default();
        let mut path = Vec::new();
        if settle_to(&rules, &program.initial, &mut settling, &is_there, &mut path)? {
            return Ok(path);
        }
        let mut path = self.path_to(program, peak.state)?;
        if peak.vanishing {
            let mut marking = program.initial.clone();
            self.store.read(peak.state as usize, &mut marking);
            step_to(&rules, &marking, &mut settling, &is_there, &mut path)?;
        }
        Ok(path)
    }
}
