//! Watching long work from outside: how far it is, and whether it should end early.

/// Watches a run from outside.
pub trait Watch: Sync {
    /// `done` of the `planned` pieces of work are there: replications, states. 0 planned: nobody knows how many there are.
    fn progress(&self, done: u64, planned: u64);
    /// Whether the run should end early and keep what it has.
    fn stopped(&self) -> bool;
}

/// Watches nothing and never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn progress(&self, _done: u64, _planned: u64) {}

    fn stopped(&self) -> bool {
        false
    }
}
