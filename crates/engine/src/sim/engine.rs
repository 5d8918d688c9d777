//! The interface of all CPU engines.

use crate::semantics::Fault;
use crate::sim::samples::Samples;

/// An engine that is ready to run replications. All its other inputs are fixed at construction.
pub(crate) trait Engine: Send + Sync {
    /// Runs the replications `first .. first + count` and adds them to `samples`, in order. If its watch stops it, it
    /// adds only the first whole replications.
    fn run(&self, first: u64, count: u64, samples: &mut Samples) -> Result<(), Fault>;

    /// Minimum replications per call, if there are enough; four replications share random words.
    fn batch(&self) -> u64 {
        4
    }
}
