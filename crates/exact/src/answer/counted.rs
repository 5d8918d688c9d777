//! The states of a folded net, in which equal parts are counted and markings of exchangeable parts are canonical.

use crate::answer::limits::UNFOLDED_STATES;
use crate::answer::value::AnswerError;
use crate::compile::{Code, Program, compile};
use crate::fold::{Folding, Keep, Symmetry};
use crate::net::Net;
use crate::solve::{Limits, StateSpace, explore, explore_canonical};
use crate::watch::Watch;

/// A folded net and its states.
#[derive(Debug)]
pub struct CountedStates {
    /// The folded net, and its relation to the original one.
    pub folding: Folding,
    /// Parts of the folded net that are exchangeable.
    pub symmetry: Symmetry,
    /// The compiled folded net.
    pub program: Program,
    /// States of the folded net.
    pub space: StateSpace,
}

impl CountedStates {
    /// Explores the canonical markings of a folded net, in which the expressions `keep` must keep their meaning; `from` is the
    /// start of a time between two sets of markings of the folded net. Returns `None` if no parts are equal, or if
    /// these states cannot replace the states of `net`: the net is possibly unbounded, or has too many states.
    ///
    /// # Errors
    ///
    /// [`AnswerError::Compile`], and [`AnswerError::Explore`] for `from`.
    pub fn explore(
        net: &Net,
        folding: Folding,
        keep: &Keep,
        from: Option<&Code>,
        limits: &Limits,
        watch: &dyn Watch,
    ) -> Result<Option<Self>, AnswerError> {
        // the first set of a time between two sets may distinguish equal parts
        let symmetry = if from.is_some() { Symmetry::default() } else { Symmetry::of(folding.net(), keep) };
        if !folding.is_folded() && symmetry.is_empty() {
            return Ok(None);
        }
        if !symmetry.is_empty() {
            // unbounded growth is not detected in canonical markings, but is found early in the full
            // exploration
            let few = Limits { states: limits.states.min(UNFOLDED_STATES), ..*limits };
            if explore(&compile(net)?, None, &few, watch).is_err() {
                return Ok(None);
            }
        }
        let program = compile(folding.net())?;
        // problems refer to the net as it was read
        let Ok(space) = explore_canonical(&program, None, &symmetry, limits, watch) else { return Ok(None) };
        Ok(Some(Self { folding, symmetry, program, space }))
    }

    /// Returns true if the place or transition of this name is in an exchangeable part.
    pub fn exchanges(&self, name: &str) -> bool {
        let (net, classes) = (self.folding.net(), self.symmetry.classes());
        let place = net
            .find_place(name)
            .is_some_and(|place| classes.iter().any(|c| c.places.iter().flatten().any(|p| *p == place)));
        let t = net.find_transition(name);
        place || t.is_some_and(|t| classes.iter().any(|c| c.transitions.iter().flatten().any(|own| *own == t)))
    }
}
