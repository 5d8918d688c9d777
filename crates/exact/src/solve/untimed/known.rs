//! The markings in which a part of a formula holds.

use fixedbitset::FixedBitSet;

/// The markings in which a part of a formula certainly holds, and the markings in which it may hold.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    surely: FixedBitSet,
    /// The markings in which the part may hold; `None` if they are exactly the markings in `surely`.
    perhaps: Option<FixedBitSet>,
}

impl Known {
    pub(crate) fn new(surely: FixedBitSet, perhaps: Option<FixedBitSet>) -> Self {
        Self { surely, perhaps }
    }

    /// Returns the states in which the part certainly holds; with `perhaps`, the states in which it may hold.
    pub(crate) fn states(&self, perhaps: bool) -> &FixedBitSet {
        self.perhaps.as_ref().filter(|_| perhaps).unwrap_or(&self.surely)
    }

    /// Returns true if it is certain that the part holds (`holds` is true) or does not hold (false) in a state.
    pub(crate) fn is(&self, state: u32, holds: bool) -> bool {
        self.states(!holds).contains(state as usize) == holds
    }

    /// Returns the markings in which the negation of the part holds.
    pub(crate) fn negated(&self) -> Self {
        let not = |set: &FixedBitSet| {
            let mut set = set.clone();
            set.toggle_range(..);
            set
        };
        Self { surely: not(self.states(true)), perhaps: self.perhaps.as_ref().map(|_| not(&self.surely)) }
    }
}
