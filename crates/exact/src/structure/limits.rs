//! Limits on the work of an analysis, and the reasons for an early end.

use std::time::{Duration, Instant};

/// Limits of the structural analyses. The limits apply to each analysis separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of rows in memory during the search for semiflows. Default 100 000.
    pub max_rows: usize,
    /// Maximum number of siphons, and of traps, that are listed. Default 10 000.
    pub max_sets: usize,
    /// Wall time of one analysis. Default 10 s.
    pub max_wall: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_rows: 100_000, max_sets: 10_000, max_wall: Some(Duration::from_secs(10)) }
    }
}

/// Reason why an analysis ended early. The results found so far are correct but may be incomplete.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Cut {
    /// More rows than allowed. Raise the limit, or use the basis, which stays small.
    #[error("stopped at the maximum number of rows in memory ({limit})")]
    Rows {
        /// Maximum number of rows in memory.
        limit: usize,
    },
    /// More siphons or traps than allowed. Raise the limit.
    #[error("stopped at the maximum number of sets ({limit})")]
    Sets {
        /// Maximum number of sets.
        limit: usize,
    },
    /// The analysis took too long. Raise the time limit.
    #[error("stopped after {} s", limit.as_secs_f64())]
    Time {
        /// Maximum wall time.
        limit: Duration,
    },
    /// Weights do not fit into 128 bits, because arc weights are too large for this exact arithmetic.
    #[error("stopped at a weight that does not fit into 128 bits")]
    Overflow,
    /// The linear program could not be solved in floating point.
    #[error("the linear program could not be solved: {reason}")]
    Numerical {
        /// Message of the solver.
        reason: String,
    },
    /// The caller stopped the analysis.
    #[error("stopped on request")]
    Stopped,
}

/// The remaining time of an analysis, and the caller's stop request.
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
    /// Starts the budget now; `stopped` is called regularly and ends the work early if it returns true.
    pub fn new(limits: &Limits, stopped: &'a dyn Fn() -> bool) -> Self {
        Self { started: Instant::now(), limit: limits.max_wall, stopped }
    }

    /// Checks that the work may continue.
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
