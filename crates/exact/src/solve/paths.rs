//! Paths to states of a state space, as sequences of transitions.

use crate::compile::Program;
use crate::solve::explore_error::ExploreError;
use crate::solve::space::{Peak, StateSpace};
use crate::solve::vanish::{Rules, Settling};
use crate::solve::witness::{sequence, settle_to, step_to};

impl StateSpace {
    /// Returns the transitions that lead from the initial marking to a state, with as few timed firings as possible.
    ///
    /// # Errors
    ///
    /// The errors of [`explore`](crate::solve::explore).
    pub fn path_to(&self, program: &Program, state: u32) -> Result<Vec<u32>, ExploreError> {
        let path = self.canonical_path(program, state)?;
        match &self.canonical {
            None => Ok(path),
            Some(canonical) => Ok(canonical.path(program, &path, None)?),
        }
    }

    fn canonical_path(&self, program: &Program, state: u32) -> Result<Vec<u32>, ExploreError> {
        sequence(&self.rules(program), &self.store, &self.parents, state)
    }

    /// Returns the transitions that lead from the initial marking to a marking in which a place holds its largest number of tokens.
    ///
    /// # Errors
    ///
    /// The errors of [`explore`](crate::solve::explore).
    pub fn path_to_peak(&self, program: &Program, place: usize) -> Result<Vec<u32>, ExploreError> {
        let peak = self.peaks[place];
        let rules = self.rules(program);
        let tokens = |place: usize, marking: &[u32]| program.tokens_in(place, marking) >= peak.tokens;
        let Some(canonical) = &self.canonical else {
            return self.path_to_holding(program, peak, &rules, &|marking| tokens(place, marking));
        };
        let all = canonical.with_equal_places(place);
        let is_there = |marking: &[u32]| all.iter().any(|&place| tokens(place, marking));
        let path = self.path_to_holding(program, peak, &rules, &is_there)?;
        Ok(canonical.path(program, &path, Some((place, peak.tokens)))?)
    }

    fn path_to_holding(
        &self,
        program: &Program,
        peak: Peak,
        rules: &Rules<'_>,
        is_there: &dyn Fn(&[u32]) -> bool,
    ) -> Result<Vec<u32>, ExploreError> {
        let mut settling = Settling::default();
        let mut path = Vec::new();
        if settle_to(rules, &program.initial, &mut settling, is_there, &mut path)? {
            return Ok(path);
        }
        let mut path = self.canonical_path(program, peak.state)?;
        if peak.vanishing {
            let mut marking = program.initial.clone();
            self.store.read(peak.state as usize, &mut marking);
            step_to(rules, &marking, &mut settling, is_there, &mut path)?;
        }
        Ok(path)
    }
}
