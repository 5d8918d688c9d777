//! Opens a device, which must pass the self-test before use.

use crate::sim::gpu::device::{Gpu, Wanted, all_adapters, choose};
use crate::sim::gpu::error::GpuError;
use crate::sim::gpu::self_test;

impl Gpu {
    /// Opens the requested adapter and tests it.
    pub(crate) fn open(wanted: Wanted<'_>) -> Result<Self, GpuError> {
        Self::open_adapter(&choose(all_adapters(), wanted)?, true)
    }

    /// As [`Gpu::open`], but without 64-bit integers, to compare both variants.
    #[cfg(test)]
    pub(crate) fn open_without_int64(wanted: Wanted<'_>) -> Result<Self, GpuError> {
        Self::open_adapter(&choose(all_adapters(), wanted)?, false)
    }

    /// Opens an adapter and tests it.
    pub(in crate::sim::gpu) fn open_adapter(adapter: &wgpu::Adapter, int64: bool) -> Result<Self, GpuError> {
        let mut gpu = Self::open_untested(adapter, int64)?;
        gpu.loop_budget = self_test::run(&gpu)?;
        Ok(gpu)
    }
}
