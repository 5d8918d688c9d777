//! The interface of all CPU engines.

use crate::semantics::Fault;
use crate::sim::samples::Samples;

/// An engine that is ready to run replications. All its other inputs are fixed at construction.
pub(crate) trait Engine: Send + Sync {
    /// Runs the replications `first .. first + count` and adds them to `samples`, in order. If the engine's watch stops
    /// it, it adds only the replications before the first incomplete one.
    fn run(&self, first: u64, count: u64, samples: &mut Samples) -> Result<(), Fault>;

    /// Minimum number of replications per call, if that many are left; four replications share random words.
    fn batch(&self) -> u64 {
        4
    }
}
