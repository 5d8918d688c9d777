//! What every engine of the CPU can do.

use crate::semantics::Fault;
use crate::sim::samples::Samples;

/// An engine that is ready to run replications. What it needs besides the program is fixed when it is made.
pub(crate) trait Engine: Send + Sync {
    /// Runs the replications `first .. first + count` and adds them to `samples`, in order. Stopped by its watch, it adds only the
    /// first of them, whole ones.
    fn run(&self, first: u64, count: u64, samples: &mut Samples) -> Result<(), Fault>;

    /// Replications that one call should have at least, where there are enough of them; four share random words.
    fn batch(&self) -> u64 {
        4
    }
}
