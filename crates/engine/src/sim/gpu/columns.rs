//! Columns of results on the device, and their reduction to exact moments, a histogram, or individual values.

use crate::estimate::{Moments, TickHistogram};
use crate::sim::gpu::device::Gpu;
use crate::sim::gpu::error::GpuError;
use crate::sim::gpu::execute::{Dispatch, GpuTimes, Kernel};
use crate::sim::gpu::layout::{Partial, ReduceRun};
use crate::sim::gpu::pair::{pair, value};
use crate::sim::gpu::shader;

/// Maximum number of workgroups that share a column.
const MOST_GROUPS: u32 = 512;
/// Minimum number of values per workgroup, if there are enough.
const LEAST_SHARE: u32 = 2048;

/// Reduces columns of 64-bit values.
#[derive(Debug)]
pub(crate) struct Reducer {
    kernel: Kernel,
    partials: wgpu::Buffer,
    buckets: wgpu::Buffer,
}

/// One column, or a part of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    /// Position of the first value in the buffer, and the number of values.
    pub(crate) begin: u32,
    pub(crate) count: u32,
    /// A value above this limit counts as missing.
    pub(crate) limit: u64,
}

impl Reducer {
    pub(crate) fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        Ok(Self {
            kernel: gpu.fixed_kernel("reduce", shader::reduce)?,
            partials: gpu.storage(u64::from(MOST_GROUPS) * size_of::<Partial>() as u64)?,
            buckets: gpu.storage(TickHistogram::BUCKETS as u64 * 4)?,
        })
    }

    /// Exact moments of a column.
    pub(crate) fn moments(
        &self,
        gpu: &Gpu,
        values: &wgpu::Buffer,
        column: Column,
        times: &mut GpuTimes,
    ) -> Result<Moments, GpuError> {
        self.reduce(gpu, values, column, false, times)
    }

    /// Exact moments and the histogram of a column.
    pub(crate) fn distribution(
        &self,
        gpu: &Gpu,
        values: &wgpu::Buffer,
        column: Column,
        times: &mut GpuTimes,
    ) -> Result<(Moments, TickHistogram), GpuError> {
        let moments = self.reduce(gpu, values, column, true, times)?;
        let mut histogram = TickHistogram::default();
        if let (Some(min), Some(max)) = (moments.min(), moments.max()) {
            let started = std::time::Instant::now();
            let (first, last) = TickHistogram::octaves(min, max);
            let counts: Vec<u32> = gpu.read_from(&self.buckets, first, last - first)?;
            histogram = TickHistogram::from_counts(first, &counts, min, max);
            times.read_back += started.elapsed();
        }
        Ok((moments, histogram))
    }

    fn reduce(
        &self,
        gpu: &Gpu,
        values: &wgpu::Buffer,
        column: Column,
        histogram: bool,
        times: &mut GpuTimes,
    ) -> Result<Moments, GpuError> {
        let share = column.count.div_ceil(MOST_GROUPS).max(LEAST_SHARE).next_multiple_of(64);
        let groups = column.count.div_ceil(share);
        let run = ReduceRun {
            limit: pair(column.limit),
            begin: column.begin,
            end: column.begin + column.count,
            share,
            histogram: u32::from(histogram),
            padding: [0; 2],
        };
        let parameters = gpu.uniform(&run)?;
        let buffers = [(0, &parameters), (1, values), (2, &self.partials), (3, &self.buckets)];
        let clear: &[&wgpu::Buffer] = if histogram { &[&self.buckets] } else { &[] };
        times.compute += gpu.run(clear, &[Dispatch { kernel: &self.kernel, buffers: &buffers, workgroups: groups }])?;
        let started = std::time::Instant::now();
        let partials: Vec<Partial> = gpu.read(&self.partials, groups as usize)?;
        let seen: u64 = partials.iter().map(|partial| u64::from(partial.seen)).sum();
        if seen != u64::from(column.count) {
            let what = format!("only {seen} of {} values were added", column.count);
            return Err(GpuError::Unfinished { kernel: "reduce", what });
        }
        let mut moments = Moments::default();
        for partial in &partials {
            moments.merge(&moments_of(partial));
        }
        times.read_back += started.elapsed();
        Ok(moments)
    }
}

fn moments_of(partial: &Partial) -> Moments {
    Moments::from_words(u64::from(partial.count), partial.sum, partial.squares, value(partial.min), value(partial.max))
}
