//! Replaces `sim::gpu::Relay` in a build without the feature `gpu`: every round runs on the CPU.

use crate::sim::backend::{Backend, Placement};
use crate::sim::cpu::CpuRounds;
use crate::sim::run_error::RunError;
use crate::sim::samples::Samples;
use crate::watch::TimeLimit;

/// Runs replications on the CPU.
pub(in crate::sim) struct Relay<'a> {
    reason: &'a str,
}

impl Relay<'_> {
    pub(in crate::sim) fn new(backend: Backend) -> Result<Self, RunError> {
        match backend {
            Backend::Cpu => Ok(Self { reason: "as requested" }),
            Backend::Auto => Ok(Self { reason: "this build has no GPU support" }),
            Backend::Gpu => Err(RunError::GpuNotBuilt),
        }
    }

    pub(in crate::sim) fn step(
        &mut self,
        cpu: &mut CpuRounds<'_>,
        until: u64,
        samples: &mut Samples,
        limits: &TimeLimit<'_>,
    ) -> Result<(), RunError> {
        Ok(cpu.round(until, samples, limits)?)
    }

    pub(in crate::sim) fn placement(self) -> Placement {
        Placement { reason: self.reason.to_owned(), ..Placement::default() }
    }
}
