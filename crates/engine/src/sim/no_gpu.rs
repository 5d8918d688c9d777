//! Replaces `sim::gpu` in a build without the feature `gpu`: every run uses the CPU.

use crate::sim::ready::Ready;
use crate::sim::run_error::RunError;
use crate::sim::samples::Samples;

/// Stand-in for a GPU in builds without GPU support; it cannot be created.
#[derive(Debug)]
pub struct Card(std::convert::Infallible);

impl Card {
    /// Always fails.
    ///
    /// # Errors
    ///
    /// [`RunError::GpuNotBuilt`].
    pub fn open(_adapter: Option<&str>) -> Result<Self, RunError> {
        Err(RunError::GpuNotBuilt)
    }

    /// Never called, because no card can be created.
    pub fn name(&self) -> &str {
        match self.0 {}
    }

    /// Never called, because no card can be created.
    ///
    /// # Errors
    ///
    /// Never fails.
    pub fn replicate(&mut self, _ready: &[&Ready<'_>], _first: u64, _count: u64) -> Result<Vec<Samples>, RunError> {
        match self.0 {}
    }
}
