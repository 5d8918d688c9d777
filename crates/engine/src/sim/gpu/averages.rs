//! Averages over replications, reduced on the device in the order of the CPU: units of 16 replications, and subtrees of 64
//! units. Only the moments of these subtrees are read back.

use crate::estimate::FloatMoments;
use crate::sim::averages::{Averages, FLOAT_UNIT};
use crate::sim::gpu::device::Gpu;
use crate::sim::gpu::error::GpuError;
use crate::sim::gpu::execute::{Dispatch, GpuTimes, Kernel};
use crate::sim::gpu::layout::{Average, AverageRun};
use crate::sim::gpu::pair::{pair, value};
use crate::sim::gpu::race_layout::Columns;
use crate::sim::gpu::shader;
use crate::sim::race::Setup;
use crate::sim::samples::Samples;

/// Height of the subtrees that a workgroup merges, and their number of units.
const HEIGHT: u32 = 6;
const BLOCK: u32 = 1 << HEIGHT;

/// Kinds of quantities (`TOKENS` and the next constants in the shader).
const TOKENS: u32 = 0;
const FIRINGS: u32 = 1;
const REWARD: u32 = 2;
const SNAPSHOT: u32 = 3;

/// Reduces the observations that are averaged over replications.
#[derive(Debug)]
pub(crate) struct Averager {
    kernel: Kernel,
    quantities: wgpu::Buffer,
    /// Numbers of tokens, throughputs, rewards and snapshots.
    sizes: [usize; 4],
    /// Parameters that all dispatches share.
    run: AverageRun,
}

impl Averager {
    /// Creates the reduction of the columns of a race; none if its question has no averages over replications.
    pub(crate) fn new(gpu: &Gpu, setup: Setup<'_>, columns: Columns) -> Result<Option<Self>, GpuError> {
        let Setup { program, question, clock, .. } = setup;
        let sizes = Samples::new(clock, question, program.counters(), program.transitions()).unit.sizes();
        let [tokens, throughput, rewards, snapshots] = sizes.map(|size| 0..size as u32);
        let all = (tokens.map(|i| [TOKENS, columns.areas + 2 * i, 0, 0]))
            .chain(throughput.map(|i| [FIRINGS, columns.counts + i, 0, 0]))
            .chain(rewards.map(|i| [REWARD, columns.rewards + i, 0, 0]))
            .chain(snapshots.map(|i| [SNAPSHOT, columns.snapshots + i, i, 0]));
        let quantities: Vec<[u32; 4]> = all.collect();
        if quantities.is_empty() {
            return Ok(None);
        }
        let run = AverageRun {
            warm_up: pair(clock.ticks(question.warm_up)),
            tick: pair(clock.tick().to_bits()),
            end_column: columns.end.unwrap_or(0),
            taken_column: columns.taken,
            ..bytemuck::Zeroable::zeroed()
        };
        let kernel = gpu.fixed_kernel("average", shader::average)?;
        Ok(Some(Self { kernel, quantities: gpu.storage_with(&quantities)?, sizes, run }))
    }

    /// Adds the averages of `part.replications` replications from `part.first` on, whose columns are in `results`.
    pub(crate) fn add(
        &self,
        gpu: &Gpu,
        results: &wgpu::Buffer,
        part: &mut Samples,
        times: &mut GpuTimes,
    ) -> Result<(), GpuError> {
        let units = part.replications.div_ceil(FLOAT_UNIT) as u32;
        let offset = (part.first / FLOAT_UNIT % u64::from(BLOCK)) as u32;
        let blocks = (offset + units).div_ceil(BLOCK);
        let run = AverageRun { count: part.replications as u32, units, offset, blocks, ..self.run };
        let found = self.entries(gpu, results, run, times)?;
        for block in 0..blocks {
            let places = offset.max(block * BLOCK)..(offset + units).min((block + 1) * BLOCK);
            let mut push = |place: u32, height: u32, entry: u32| {
                let start = u64::from(place - offset) * FLOAT_UNIT;
                part.push_units(start, height, self.averages(&found, entry as usize));
            };
            if places.len() == BLOCK as usize {
                push(places.start, HEIGHT, block);
            } else {
                let edge = blocks + if block == 0 { 0 } else { BLOCK };
                places.for_each(|place| push(place, 0, edge + place % BLOCK));
            }
        }
        Ok(())
    }

    /// The entries of each quantity: one for each block, then the units of the first block, then the units of the last block.
    fn entries(
        &self,
        gpu: &Gpu,
        results: &wgpu::Buffer,
        run: AverageRun,
        times: &mut GpuTimes,
    ) -> Result<Vec<Vec<Average>>, GpuError> {
        let all = self.sizes.iter().sum::<usize>() as u32;
        let at_once = (gpu.facts.workgroups / run.blocks).clamp(1, all);
        let length = (run.blocks + 2 * BLOCK) as usize;
        let averages = gpu.storage(u64::from(at_once) * (length * size_of::<Average>()) as u64)?;
        let mut found = Vec::with_capacity(all as usize);
        for first in (0..all).step_by(at_once as usize) {
            let count = at_once.min(all - first);
            let parameters = gpu.uniform(&AverageRun { first, ..run })?;
            let buffers = [(0, &parameters), (1, results), (2, &self.quantities), (3, &averages)];
            let dispatch = Dispatch { kernel: &self.kernel, buffers: &buffers, workgroups: count * run.blocks };
            times.compute += gpu.run(&[], &[dispatch])?;
            let started = std::time::Instant::now();
            let entries: Vec<Average> = gpu.read(&averages, count as usize * length)?;
            found.extend(entries.chunks_exact(length).map(<[Average]>::to_vec));
            times.read_back += started.elapsed();
        }
        Ok(found)
    }

    /// The averages of all quantities, from one entry of each.
    fn averages(&self, found: &[Vec<Average>], entry: usize) -> Averages {
        let mut rows = found.iter();
        let [tokens, throughput, rewards, snapshots] =
            self.sizes.map(|size| rows.by_ref().take(size).map(|entries| moments(&entries[entry])).collect());
        Averages { tokens, throughput, rewards, snapshots }
    }
}

fn moments(average: &Average) -> FloatMoments {
    let Average { mean, squares, min, max, count, .. } = *average;
    FloatMoments::of_fields(u64::from(count), [mean, squares, min, max].map(|bits| f64::from_bits(value(bits))))
}
