//! The replications of one point.

use crate::sim::Samples;
use crate::sweep::spread::Spread;

/// The replications of a point, and the engine that ran them.
#[derive(Clone, Debug)]
pub(super) struct Replicated {
    pub(super) samples: Samples,
    pub(super) engine: &'static str,
    pub(super) spread: Spread,
    pub(super) seed: u64,
    pub(super) deadline_s: Option<f64>,
}
