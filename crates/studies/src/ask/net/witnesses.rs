//! Firing sequences of a report, by the names of their transitions.

use crate::compile::Program;
use crate::solve::{ExploreError, Paths, StateSpace};

/// Number of firings that the sequences of a report may have together. Further sequences are left out, because a large
/// net has one sequence per node, and each sequence can have as many firings as the net has nodes.
const MOST_FIRINGS: usize = 1_000_000;

/// Firing sequences of a report.
pub(super) struct Witnesses<'a> {
    paths: Paths<'a>,
    pub(super) program: &'a Program,
    /// Number of firings that further sequences may have.
    left: usize,
}

impl<'a> Witnesses<'a> {
    pub(super) fn new(space: &'a StateSpace, program: &'a Program) -> Self {
        Self { paths: space.paths(program), program, left: MOST_FIRINGS }
    }

    /// Returns a sequence with the names of its transitions; none if the sequences so far are long enough.
    pub(super) fn find(
        &mut self,
        path: impl FnOnce(&mut Paths<'_>) -> Result<Vec<u32>, ExploreError>,
    ) -> Result<Option<Vec<String>>, ExploreError> {
        if self.left == 0 {
            return Ok(None);
        }
        let path = path(&mut self.paths)?;
        self.left = self.left.saturating_sub(path.len());
        Ok(Some(names(self.program, &path)))
    }
}

/// Returns the names of transitions.
pub(super) fn names(program: &Program, transitions: &[u32]) -> Vec<String> {
    transitions.iter().map(|&t| program.transition_names[t as usize].to_owned()).collect()
}
