//! The place of `sim::gpu` in a build without the feature `gpu`: every run is on the CPU.

use crate::sim::ready::Ready;
use crate::sim::run_error::RunError;
use crate::sim::samples::Samples;

/// The place of a graphics card: there is none.
#[derive(Debug)]
pub struct Card(std::convert::Infallible);

impl Card {
    /// Opens none.
    ///
    /// # Errors
    ///
    /// [`RunError::GpuNotBuilt`].
    pub fn open(_adapter: Option<&str>) -> Result<Self, RunError> {
        Err(RunError::GpuNotBuilt)
    }

    /// There is no card to have a name.
    pub fn name(&self) -> &str {
        match self.0 {}
    }

    /// There is no card to run anything.
    ///
    /// # Errors
    ///
    /// None.
    pub fn replicate(&mut self, _ready: &[&Ready<'_>], _first: u64, _count: u64) -> Result<Vec<Samples>, RunError> {
        match self.0 {}
    }
}
