//! The place of `sim::gpu` in a build without the feature `gpu`: every run is on the CPU.

use crate::sim::backend::{Backend, Placement};
use crate::sim::cpu::{CpuRounds, Limits};
use crate::sim::ready::Ready;
use crate::sim::run::RunError;
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

/// Runs replications on the CPU.
pub(in crate::sim) struct Relay<'a> {
    reason: &'a str,
}

impl Relay<'_> {
    pub(in crate::sim) fn new(backend: Backend) -> Result<Self, RunError> {
        match backend {
            Backend::Cpu => Ok(Self { reason: "asked for" }),
            Backend::Auto => Ok(Self { reason: "this build has no part for graphics cards" }),
            Backend::Gpu => Err(RunError::GpuNotBuilt),
        }
    }

    pub(in crate::sim) fn step(
        &mut self,
        cpu: &mut CpuRounds<'_>,
        until: u64,
        samples: &mut Samples,
        limits: &Limits<'_>,
    ) -> Result<(), RunError> {
        Ok(cpu.round(until, samples, limits)?)
    }

    pub(in crate::sim) fn placement(self) -> Placement {
        Placement { reason: self.reason.to_owned(), ..Placement::default() }
    }
}
