//! The interface of all CPU engines.

use crate::semantics::Fault;
use crate::sim::samples::Samples;

/// An engine that is ready to run replications. What it needs besides the program is fixed when it is made.
pub(crate) trait Engine: Send + Sync {
    /// Runs the replications `first .. first + count` and adds them to `samples`, in order. If its watch stops it, it
    /// adds only the first whole replications.
    fn run(&self, first: u64, count: u64, samples: &mut Samples) -> Result<(), Fault>;

    /// Replications that one call should have at least, if there are enough of them; four share random words.
    fn batch(&self) -> u64 {
        4
    }
}
