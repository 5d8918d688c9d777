//! Paths to states of a state space, as sequences of transitions.

use crate::compile::Program;
use crate::solve::explore_error::ExploreError;
use crate::solve::marking::Marking;
use crate::solve::space::{Peak, StateSpace};
use crate::solve::witness::Stepper;

/// Finds paths to states of a state space. A path takes time in proportion to its length.
#[allow(missing_debug_implementations, reason = "it only has working memory")]
pub struct Paths<'a> {
    space: &'a StateSpace,
    stepper: Stepper<'a>,
    start: Marking,
    /// Markings in work.
    marking: Marking,
    next: Marking,
}

impl StateSpace {
    /// Returns a search for paths to the states of this space.
    pub fn paths<'a>(&'a self, program: &'a Program) -> Paths<'a> {
        let rules = self.rules(program);
        let [start, marking, next] = [rules.start(), rules.start(), rules.start()];
        Paths { space: self, stepper: Stepper::new(rules), start, marking, next }
    }

    /// As [`Paths::to`], for a single path.
    ///
    /// # Errors
    ///
    /// The errors of [`explore`](crate::solve::explore).
    pub fn path_to(&self, program: &Program, state: u32) -> Result<Vec<u32>, ExploreError> {
        self.paths(program).to(state)
    }

    /// As [`Paths::to_peak`], for a single path.
    ///
    /// # Errors
    ///
    /// The errors of [`explore`](crate::solve::explore).
    pub fn path_to_peak(&self, program: &Program, place: usize) -> Result<Vec<u32>, ExploreError> {
        self.paths(program).to_peak(place)
    }
}

impl Paths<'_> {
    /// Returns the transitions that lead from the initial marking to a state, with as few timed firings as possible.
    ///
    /// # Errors
    ///
    /// The errors of [`explore`](crate::solve::explore).
    pub fn to(&mut self, state: u32) -> Result<Vec<u32>, ExploreError> {
        let path = self.canonical_to(state)?;
        match &self.space.canonical {
            None => Ok(path),
            Some(canonical) => Ok(canonical.path(self.stepper.rules.program, &path, None)?),
        }
    }

    fn canonical_to(&mut self, state: u32) -> Result<Vec<u32>, ExploreError> {
        self.stepper.sequence(&self.space.store, &self.space.parents, state)
    }

    /// Returns the transitions that lead from the initial marking to a marking in which a place holds its largest number of tokens.
    ///
    /// # Errors
    ///
    /// The errors of [`explore`](crate::solve::explore).
    pub fn to_peak(&mut self, place: usize) -> Result<Vec<u32>, ExploreError> {
        let (space, program) = (self.space, self.stepper.rules.program);
        let peak = space.peaks[place];
        let tokens = |place: usize, marking: &[u32]| program.tokens_in(place, marking) >= peak.tokens;
        let Some(canonical) = &space.canonical else {
            return self.path_to_holding(peak, &|marking| tokens(place, marking));
        };
        let all = canonical.with_equal_places(place);
        let path = self.path_to_holding(peak, &|marking| all.iter().any(|&place| tokens(place, marking)))?;
        Ok(canonical.path(program, &path, Some((place, peak.tokens)))?)
    }

    fn path_to_holding(&mut self, peak: Peak, is_there: &dyn Fn(&Marking) -> bool) -> Result<Vec<u32>, ExploreError> {
        let mut path = Vec::new();
        if self.stepper.settle_to(&self.start, is_there, &mut path)? {
            return Ok(path);
        }
        let mut path = self.canonical_to(peak.state)?;
        if peak.vanishing {
            self.space.store.read(peak.state as usize, &mut self.marking);
            self.stepper.step_to(&self.marking, &mut self.next, is_there, &mut path)?;
        }
        Ok(path)
    }
}
