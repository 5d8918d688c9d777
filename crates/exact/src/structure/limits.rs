//! How much work an analysis may do, and why one ended early.

use std::time::{Duration, Instant};

/// Limits of the structural analyses. Each of them stays within these limits by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Rows that the search for semiflows may hold at once. Default 100 000.
    pub max_rows: usize,
    /// Siphons, and traps, that are listed. Default 10 000.
    pub max_sets: usize,
    /// Wall time of one analysis. Default 10 s.
    pub max_wall: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_rows: 100_000, max_sets: 10_000, max_wall: Some(Duration::from_secs(10)) }
    }
}

/// Why an analysis ended before its end. What it had found until then is right, but may not be all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Cut {
    /// More rows than allowed: allow more, or use the basis, which never explodes.
    #[error("stopped at the limit of rows, {limit}")]
    Rows {
        /// Most rows at once.
        limit: usize,
    },
    /// More siphons or traps than allowed: allow more.
    #[error("stopped at the limit of sets, {limit}")]
    Sets {
        /// Most sets.
        limit: usize,
    },
    /// It took too long: allow more time.
    #[error("stopped after {} s", limit.as_secs_f64())]
    Time {
        /// Longest wall time.
        limit: Duration,
    },
    /// Weights that do not fit into 128 bits: arc weights are too large for exact arithmetic here.
    #[error("stopped at a weight that does not fit into 128 bits")]
    Overflow,
    /// The linear program could not be solved in floating point.
    #[error("the linear program could not be solved: {reason}")]
    Numerical {
        /// What the solver said.
        reason: String,
    },
    /// The caller asked for it.
    #[error("stopped on request")]
    Stopped,
}

/// The time that is left of one analysis, and a wish to stop.
#[derive(Clone, Copy)]
pub struct Budget<'a> {
    started: Instant,
    limit: Option<Duration>,
    stopped: &'a dyn Fn() -> bool,
}

impl std::fmt::Debug for Budget<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Budget").field("started", &self.started).field("limit", &self.limit).finish_non_exhaustive()
    }
}

impl<'a> Budget<'a> {
    /// Begins now; `stopped` is asked again and again whether to end early.
    pub fn new(limits: &Limits, stopped: &'a dyn Fn() -> bool) -> Self {
        Self { started: Instant::now(), limit: limits.max_wall, stopped }
    }

    /// Whether to go on.
    ///
    /// # Errors
    ///
    /// [`Cut::Time`] and [`Cut::Stopped`].
    pub fn check(&self) -> Result<(), Cut> {
        if (self.stopped)() {
            return Err(Cut::Stopped);
        }
        match self.limit {
            Some(limit) if self.started.elapsed() >= limit => Err(Cut::Time { limit }),
            _ => Ok(()),
        }
    }
}
