//! Observation of long work from outside: receives progress and can end the work early.

use std::time::{Duration, Instant};

/// Watches a run from outside.
pub trait Watch: Sync {
    /// Reports that `done` of `planned` pieces of work (such as replications or states) are finished. If `planned` is 0, the
    /// total is unknown.
    fn progress(&self, done: u64, planned: u64);

    /// Announces what `progress` counts from now on, such as `states`.
    fn counts(&self, _what: &'static str) {}

    /// The time that is left for the work; none without a known limit.
    fn left(&self) -> Option<Duration> {
        None
    }

    /// Returns true if the run should end early and keep the results so far.
    fn stopped(&self) -> bool;
}

/// Ignores progress and never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn progress(&self, _done: u64, _planned: u64) {}

    fn stopped(&self) -> bool {
        false
    }
}

impl std::fmt::Debug for dyn Watch + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}

/// Forwards to another watch, and stops at a deadline.
#[derive(Clone, Copy, Debug)]
pub struct TimeLimit<'a> {
    watch: &'a dyn Watch,
    deadline: Option<Instant>,
}

impl<'a> TimeLimit<'a> {
    /// Stops after `max_time` if there is one, and whenever `watch` stops.
    pub fn new(watch: &'a dyn Watch, max_time: Option<Duration>) -> Self {
        // a time beyond the range of the clock means no limit
        Self::at(watch, max_time.and_then(|time| Instant::now().checked_add(time)))
    }

    /// Stops at the deadline if there is one, and whenever `watch` stops.
    pub fn at(watch: &'a dyn Watch, deadline: Option<Instant>) -> Self {
        Self { watch, deadline }
    }

    /// The remaining time; none without a limit.
    pub fn left(&self) -> Option<Duration> {
        let own = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        own.into_iter().chain(self.watch.left()).min()
    }
}

impl Watch for TimeLimit<'_> {
    fn progress(&self, done: u64, planned: u64) {
        self.watch.progress(done, planned);
    }

    fn counts(&self, what: &'static str) {
        self.watch.counts(what);
    }

    fn left(&self) -> Option<Duration> {
        self.left()
    }

    fn stopped(&self) -> bool {
        self.watch.stopped() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Forwards only requests to stop, for a part of the work whose progress is reported elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Quiet<'a>(pub &'a dyn Watch);

impl Watch for Quiet<'_> {
    fn progress(&self, _: u64, _: u64) {}

    fn left(&self) -> Option<Duration> {
        self.0.left()
    }

    fn stopped(&self) -> bool {
        self.0.stopped()
    }
}
