//! Exact averages over the states of a net, by name.

use std::sync::Arc;

use crate::answer::value::AnswerError;
use crate::compile::Program;
use crate::net::{LookupError, Net, PlaceKey, TransitionKey};
use crate::solve::Averages;
use crate::solve::StateSpace;
use crate::solve::expected;

/// The states of a net, with its delays as phases.
#[derive(Clone, Debug)]
pub(super) struct Explored {
    pub(super) net: Net,
    pub(super) program: Program,
    pub(super) space: StateSpace,
}

/// Exact averages over the states of a net, by name.
#[derive(Clone, Debug)]
pub struct AverageResult {
    /// The original net, without phases; its places and transitions come first in the net that was solved.
    net: Net,
    found: Arc<Explored>,
    averages: Averages,
    probabilities: Vec<f64>,
}

impl AverageResult {
    pub(super) fn of(net: &Net, found: &Arc<Explored>, probabilities: Vec<f64>) -> Result<Self, AnswerError> {
        let averages = found.space.averages(&found.program, &probabilities)?;
        Ok(Self::new(net, found, averages, probabilities))
    }

    pub(super) fn new(net: &Net, found: &Arc<Explored>, averages: Averages, probabilities: Vec<f64>) -> Self {
        Self { net: net.clone(), found: Arc::clone(found), averages, probabilities }
    }

    /// Returns the mean number of tokens of all classes in a place.
    ///
    /// # Errors
    ///
    /// An unknown place.
    pub fn tokens(&self, place: impl Into<PlaceKey>) -> Result<f64, LookupError> {
        let place = self.net.place_of(&place.into())?.index();
        let classes = self.net.classes().len();
        Ok(self.averages.tokens[place * classes..(place + 1) * classes].iter().sum())
    }

    /// Returns the mean number of tokens of one class in a place.
    ///
    /// # Errors
    ///
    /// An unknown place or class.
    pub fn tokens_of(&self, place: impl Into<PlaceKey>, class: &str) -> Result<f64, LookupError> {
        let (place, class) = (self.net.place_of(&place.into())?, self.net.class_of(class)?);
        Ok(self.averages.tokens[place.index() * self.net.classes().len() + class.index()])
    }

    /// Returns the probabilities of 0, 1, 2, … tokens of all classes in a place, up to its bound; empty for bounds above 100,000.
    ///
    /// # Errors
    ///
    /// An unknown place.
    pub fn distribution(&self, place: impl Into<PlaceKey>) -> Result<&[f64], LookupError> {
        Ok(&self.averages.distributions[self.net.place_of(&place.into())?.index()])
    }

    /// Returns the firings per second of a transition.
    ///
    /// # Errors
    ///
    /// An unknown transition.
    pub fn throughput(&self, transition: impl Into<TransitionKey>) -> Result<f64, LookupError> {
        Ok(self.averages.throughputs[self.net.transition_of(&transition.into())?.index()])
    }

    /// Returns the mean of an expression over the marking; for a condition such as `#(queue) >= 5`, the mean is a
    /// probability.
    ///
    /// # Errors
    ///
    /// An invalid expression, or an expression that has no finite value in a state.
    pub fn mean_of(&self, expression: &str) -> Result<f64, AnswerError> {
        let values = self.found.space.values(&self.found.net.code(expression)?, &format!("`{expression}`"))?;
        Ok(expected(&self.probabilities, &values))
    }

    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.found.space.states()
    }
}
