//! An estimated cost with its interval.

/// A cost that is an estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostEstimate {
    /// Lower end of its interval.
    pub low: f64,
    /// The estimate.
    pub value: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Number of replications behind the estimate.
    pub replications: u64,
}
