//! Many schedules of one shape together on a device: their programs are stored in sequence, and differ only in numbers.
//!
//! A dispatch runs the same replications of all schedules: invocation `i` owns quad `i mod n` of schedule `i / n`.
//! Passage times are returned individually, because callers with many configurations compare them pairwise.

use std::sync::Arc;

use rayon::prelude::*;

use crate::compile::Ids;
use crate::sim::gpu::device::Gpu;
use crate::sim::gpu::engine::{DeviceFault, Pace};
use crate::sim::gpu::error::GpuError;
use crate::sim::gpu::execute::{Dispatch, Kernel};
use crate::sim::gpu::layout::{ScheduleRun, WORKGROUP};
use crate::sim::gpu::pair::{pair, value};
use crate::sim::gpu::schedule_code::ScheduleCode;
use crate::sim::gpu::shader::{self, Slots};
use crate::sim::samples::Samples;
use crate::sim::schedule::Schedule;

/// Bytes of one quad's slot.
const SLOT_BYTES: u64 = 32;
/// Bytes of one quad's values in a column.
const VALUES_BYTES: u64 = 32;
/// Bytes of an instruction.
const INSTRUCTION_BYTES: u64 = 16;
/// Number of quads of the first dispatch.
const FIRST_QUADS: u64 = 4096;

/// Runs schedules on a device; calls share kernels and buffers.
#[derive(Debug)]
pub(crate) struct GpuBatch {
    gpu: Arc<Gpu>,
    /// The kernel that was compiled last, the memory of its slots, and true if it has curved distributions.
    kernel: Option<((Slots, bool), Kernel)>,
    /// The buffers of results and slots, each with its size in bytes.
    results: (u64, wgpu::Buffer),
    slots: (u64, wgpu::Buffer),
    pace: Pace,
}

/// Programs of one shape, ready to be dispatched.
struct Loaded<'a> {
    schedules: &'a [Schedule],
    code: ScheduleCode,
    program: wgpu::Buffer,
    tables: wgpu::Buffer,
    place: Slots,
}

/// The replications of each schedule that one dispatch runs: quads, and the requested replications of these quads.
#[derive(Clone, Copy)]
struct Chunk {
    first_quad: u64,
    quads: u32,
    begin: u64,
    end: u64,
}

impl GpuBatch {
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Result<Self, GpuError> {
        let (results, slots) = ((16, gpu.storage(16)?), (16, gpu.storage(16)?));
        Ok(Self { gpu: Arc::clone(gpu), kernel: None, results, slots, pace: Pace::new(FIRST_QUADS, u64::MAX) })
    }

    /// Adds the replications `first .. first + count` of each schedule to its samples; `names` are the names of the
    /// transitions. On an error, no replications are added.
    pub(crate) fn run(
        &mut self,
        schedules: &[Schedule],
        names: &Ids,
        first: u64,
        count: u64,
        samples: &mut [Samples],
    ) -> Result<(), DeviceFault> {
        let mut found: Vec<Samples> = samples.iter().map(|samples| samples.emptied().starting_at(first)).collect();
        let mut at = 0;
        while at < schedules.len() {
            let most = self.programs_at_once(&schedules[at], names)?;
            let end = schedules.len().min(at + most);
            let loaded = self.load(&schedules[at..end], names)?;
            self.replicate(&loaded, first, count, &mut found[at..end])?;
            at = end;
        }
        for (own, found) in samples.iter_mut().zip(&found) {
            own.append(found);
        }
        Ok(())
    }

    /// Number of programs of this size that fit into a buffer.
    fn programs_at_once(&self, schedule: &Schedule, names: &Ids) -> Result<usize, DeviceFault> {
        let code = ScheduleCode::new(schedule, names, self.gpu.loop_budget).map_err(DeviceFault::DoesNotFit)?;
        let bytes = (code.program.len() as u64 * INSTRUCTION_BYTES).max(4 * code.tables.len() as u64);
        Ok((self.gpu.facts.largest_binding / bytes.max(1)).clamp(1, u64::from(WORKGROUP) * 64) as usize)
    }

    fn load<'a>(&mut self, schedules: &'a [Schedule], names: &Ids) -> Result<Loaded<'a>, DeviceFault> {
        let (mut programs, mut tables) = (Vec::new(), Vec::new());
        let mut shape: Option<ScheduleCode> = None;
        for schedule in schedules {
            let code = ScheduleCode::after(tables, schedule, names, self.gpu.loop_budget);
            let mut code = code.map_err(DeviceFault::DoesNotFit)?;
            let same = |other: &ScheduleCode| {
                (code.slots, code.columns, code.counts, code.curves, &code.segments)
                    == (other.slots, other.columns, other.counts, other.curves, &other.segments)
                    && code.program.len() == other.program.len()
            };
            if shape.as_ref().is_some_and(|other| !same(other)) || schedule.horizon != schedules[0].horizon {
                return Err(DeviceFault::DoesNotFit(vec!["the schedules have different shapes".to_owned()]));
            }
            programs.extend_from_slice(&code.program);
            tables = std::mem::take(&mut code.tables);
            shape.get_or_insert(code);
        }
        let code = shape.ok_or_else(|| DeviceFault::DoesNotFit(vec!["there is no schedule".to_owned()]))?;
        if schedules[0].groups > 0 {
            return Err(DeviceFault::DoesNotFit(vec!["a batch of several schedules cannot record groups".to_owned()]));
        }
        let place = if code.in_memory() { Slots::Memory } else { Slots::Private(code.slots) };
        let variant = (place, code.curves);
        if self.kernel.as_ref().is_none_or(|(own, _)| *own != variant) {
            let source = shader::schedule(self.gpu.int64, place, true, code.curves);
            self.kernel = Some((variant, self.gpu.kernel("schedule", &source)?));
        }
        let bytes = (INSTRUCTION_BYTES * programs.len() as u64).max(4 * tables.len() as u64);
        if bytes > self.gpu.facts.largest_binding {
            return Err(DeviceFault::DoesNotFit(vec![format!(
                "programs of {bytes} bytes are too large for the device's buffers"
            )]));
        }
        let (program, tables) = (self.gpu.storage_with(&programs)?, self.gpu.storage_with(&tables)?);
        Ok(Loaded { schedules, code, program, tables, place })
    }

    fn replicate(
        &mut self,
        loaded: &Loaded<'_>,
        first: u64,
        count: u64,
        found: &mut [Samples],
    ) -> Result<(), DeviceFault> {
        let points = loaded.schedules.len() as u64;
        let per_quad = (u64::from(loaded.code.columns) * VALUES_BYTES).max(match loaded.place {
            Slots::Memory => u64::from(loaded.code.slots) * SLOT_BYTES,
            Slots::Private(_) => 0,
        });
        let facts = &self.gpu.facts;
        let most = (facts.largest_binding.min(facts.largest_buffer) / per_quad)
            .min(u64::from(facts.workgroups) * u64::from(WORKGROUP))
            // positions of values must fit 32 bits
            .min(u64::from(u32::MAX) / (4 * u64::from(loaded.code.columns.max(loaded.code.slots))));
        if most < points {
            return Err(DeviceFault::DoesNotFit(vec![format!(
                "{points} schedules are too many for the device's buffers"
            )]));
        }
        // earlier programs had other lengths, so the pace takes the length into account
        let longest =
            loaded.code.segments.iter().map(|segment| u64::from(segment.end - segment.start)).max().unwrap_or(1);
        let (mut at, end) = (first, first + count);
        while at < end {
            let first_quad = at / 4;
            let per_point = (end.div_ceil(4) - first_quad).min((self.pace.next_at(longest).min(most) / points).max(1));
            let begin = at - 4 * first_quad;
            let chunk =
                Chunk { first_quad, quads: per_point as u32, begin, end: (end - 4 * first_quad).min(4 * per_point) };
            self.dispatch(loaded, chunk, per_quad * per_point * points)?;
            self.collect(loaded, chunk, found)?;
            at = 4 * first_quad + chunk.end;
        }
        Ok(())
    }

    /// Runs all segments of a chunk of each schedule.
    fn dispatch(&mut self, loaded: &Loaded<'_>, chunk: Chunk, bytes: u64) -> Result<(), DeviceFault> {
        let all = chunk.quads * loaded.schedules.len() as u32;
        for room in [&mut self.results, &mut self.slots] {
            if room.0 < bytes {
                *room = (bytes, self.gpu.storage(bytes)?);
            }
        }
        let Some((place, kernel)) = &self.kernel else { return Ok(()) };
        for segment in &loaded.code.segments {
            let run = ScheduleRun {
                key: loaded.schedules[0].key,
                first_quad: pair(chunk.first_quad),
                quads: all,
                stride: all,
                begin: segment.start,
                end: segment.end,
                horizon: pair(loaded.schedules[0].horizon),
                quads_each: chunk.quads,
                length: loaded.code.program.len() as u32,
            };
            let parameters = self.gpu.uniform(&run)?;
            let mut buffers = vec![(0, &parameters), (1, &loaded.program), (2, &loaded.tables), (3, &self.results.1)];
            if place.0 == Slots::Memory {
                buffers.push((4, &self.slots.1));
            }
            let workgroups = all.div_ceil(WORKGROUP);
            let took = self.gpu.run(&[], &[Dispatch { kernel, buffers: &buffers, workgroups }])?;
            self.pace.took(u64::from(all), took);
        }
        Ok(())
    }

    /// Separates the times from the uncertain firings.
    fn collect(&self, loaded: &Loaded<'_>, chunk: Chunk, found: &mut [Samples]) -> Result<(), DeviceFault> {
        let each = 4 * chunk.quads as usize;
        let all = each * loaded.schedules.len();
        let columns = if loaded.code.counts { 2 } else { 1 };
        let words: Vec<[u32; 2]> = self.gpu.read(&self.results.1, columns * all)?;
        let (times, counts) = words.split_at(all);
        let wanted = chunk.begin as usize..chunk.end as usize;
        loaded.schedules.par_iter().zip(found).enumerate().for_each(|(point, (schedule, samples))| {
            for at in wanted.clone().map(|at| point * each + at) {
                let extra = counts.get(at).map_or(0, |count| value(*count));
                schedule.note(value(times[at]), extra, samples);
            }
        });
        Ok(())
    }
}
