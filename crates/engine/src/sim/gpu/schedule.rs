//! The schedule engine on a device. It runs chunks of quads, with one dispatch per segment of the program, and reduces the
//! results on the device.

use std::sync::Arc;
use std::time::Instant;

use crate::compile::Ids;
use crate::sim::gpu::columns::{Column, Reducer};
use crate::sim::gpu::device::Gpu;
use crate::sim::gpu::engine::{CARD_FILL, DeviceEngine, DeviceFault, Pace};
use crate::sim::gpu::error::GpuError;
use crate::sim::gpu::execute::{Dispatch, GpuTimes, Kernel};
use crate::sim::gpu::layout::{ScheduleRun, WORKGROUP};
use crate::sim::gpu::pair::{pair, value};
use crate::sim::gpu::schedule_code::ScheduleCode;
use crate::sim::gpu::shader::{self, Slots};
use crate::sim::question::Ending;
use crate::sim::samples::Samples;
use crate::sim::schedule::Schedule;

/// Bytes of one quad's slot.
const SLOT_BYTES: u64 = 32;
/// Bytes of one value of a column.
const VALUE_BYTES: u64 = 8;
/// Number of quads of the first chunk.
const FIRST_QUADS: u64 = 1024;

/// A schedule on a device.
#[derive(Debug)]
pub(crate) struct GpuSchedule {
    gpu: Arc<Gpu>,
    schedule: Schedule,
    code: ScheduleCode,
    kernel: Kernel,
    reducer: Reducer,
    program: wgpu::Buffer,
    tables: wgpu::Buffer,
    /// True if the slots are in a buffer, not private to each invocation.
    in_memory: bool,
    /// Number of quads for which `results` and `slots` have room.
    room: u64,
    results: wgpu::Buffer,
    slots: Option<wgpu::Buffer>,
    pace: Pace,
    times: GpuTimes,
}

impl GpuSchedule {
    /// Puts a schedule on a device; `names` are the names of the transitions.
    pub(crate) fn new(gpu: &Arc<Gpu>, schedule: Schedule, names: &Ids) -> Result<Self, DeviceFault> {
        let started = Instant::now();
        let code = ScheduleCode::new(&schedule, names, gpu.loop_budget).map_err(DeviceFault::DoesNotFit)?;
        let in_memory = code.in_memory();
        let place = if in_memory { Slots::Memory } else { Slots::Private(code.slots) };
        let kernel = gpu.kernel("schedule", &shader::schedule(gpu.int64, place, false, code.curves))?;
        let limits = &gpu.facts;
        let columns = u64::from(code.columns) * 4 * VALUE_BYTES;
        let per_quad = columns.max(if in_memory { u64::from(code.slots) * SLOT_BYTES } else { 0 });
        let most = (limits.largest_binding.min(limits.largest_buffer) / per_quad)
            .min(u64::from(limits.workgroups) * u64::from(WORKGROUP))
            // positions of values must fit 32 bits
            .min(u64::from(u32::MAX) / (4 * u64::from(code.columns.max(code.slots))));
        // space is allocated for whole workgroups
        let most = most / u64::from(WORKGROUP) * u64::from(WORKGROUP);
        if most == 0 {
            return Err(DeviceFault::DoesNotFit(vec![format!(
                "{per_quad} bytes for four replications are too many for the device's buffers of {} bytes",
                limits.largest_binding
            )]));
        }
        let fill = if limits.is_software() { 1 } else { CARD_FILL / 4 };
        let constant = (16 * code.program.len() as u64).max(4 * code.tables.len() as u64);
        if constant > limits.largest_binding {
            return Err(DeviceFault::DoesNotFit(vec![format!(
                "the schedule's program of {constant} bytes is larger than the device's buffers of {} bytes",
                limits.largest_binding
            )]));
        }
        let mut this = Self {
            reducer: Reducer::new(gpu)?,
            program: gpu.storage_with(&code.program)?,
            tables: gpu.storage_with(&code.tables)?,
            results: gpu.storage(16)?,
            slots: None,
            in_memory,
            room: 0,
            pace: Pace::new(FIRST_QUADS, most).at_least(fill),
            times: GpuTimes::default(),
            gpu: Arc::clone(gpu),
            schedule,
            kernel,
            code,
        };
        let first = this.pace.next();
        this.make_room(first)?;
        this.times.setup += started.elapsed();
        Ok(this)
    }

    /// Allocates buffers for `quads` quads or, if memory is short, for as many as fit.
    fn make_room(&mut self, quads: u64) -> Result<(), GpuError> {
        if quads <= self.room {
            return Ok(());
        }
        let started = Instant::now();
        let mut quads = quads.next_multiple_of(u64::from(WORKGROUP));
        loop {
            let made = self.gpu.storage(quads * 4 * VALUE_BYTES * u64::from(self.code.columns)).and_then(|results| {
                let slots = self.in_memory.then(|| self.gpu.storage(quads * SLOT_BYTES * u64::from(self.code.slots)));
                Ok((results, slots.transpose()?))
            });
            match made {
                Ok((results, slots)) => {
                    (self.results, self.slots, self.room) = (results, slots, quads);
                    break;
                }
                Err(GpuError::OutOfMemory { .. }) if quads / 2 >= self.room.max(u64::from(WORKGROUP)) => {
                    quads /= 2;
                    self.pace.limit(quads);
                }
                Err(error) => return Err(error),
            }
        }
        self.times.setup += started.elapsed();
        Ok(())
    }

    /// Runs all segments for the quads from `first_quad` on.
    fn dispatch(&mut self, first_quad: u64, quads: u32, stop: &dyn Fn() -> bool) -> Result<(), DeviceFault> {
        for segment in &self.code.segments {
            let run = ScheduleRun {
                key: self.schedule.key,
                first_quad: pair(first_quad),
                quads,
                stride: self.room as u32,
                begin: segment.start,
                end: segment.end,
                horizon: pair(self.schedule.horizon),
                quads_each: quads,
                length: self.code.program.len() as u32,
            };
            let parameters = self.gpu.uniform(&run)?;
            let mut buffers = vec![(0, &parameters), (1, &self.program), (2, &self.tables), (3, &self.results)];
            buffers.extend(self.slots.as_ref().map(|slots| (4, slots)));
            let workgroups = quads.div_ceil(WORKGROUP);
            let took = self.gpu.run(&[], &[Dispatch { kernel: &self.kernel, buffers: &buffers, workgroups }])?;
            self.times.compute += took;
            self.pace.took(u64::from(quads), took);
            if stop() {
                return Err(DeviceFault::Stopped);
            }
        }
        Ok(())
    }

    /// The values `begin .. begin + count` of one column, as a part of `results`.
    fn column(&self, column: u32, begin: u64, count: u64, limit: u64) -> Column {
        let begin = u64::from(column) * 4 * self.room + begin;
        Column { begin: begin as u32, count: count as u32, limit }
    }

    fn collect(&mut self, begin: u64, count: u64, samples: &mut Samples) -> Result<(), GpuError> {
        let (gpu, reducer) = (&self.gpu, &self.reducer);
        let mut times = self.times;
        let horizon = self.schedule.horizon;
        let passage = self.column(0, begin, count, horizon);
        let mut part = samples.emptied();
        (part.passage, part.passage_histogram) = reducer.distribution(gpu, &self.results, passage, &mut times)?;
        part.replications = count;
        part.endings[Ending::Goal as usize] = part.passage.count();
        part.endings[Ending::Horizon as usize] = count - part.passage.count();
        part.firings = u128::from(self.schedule.sure_firings) * u128::from(count);
        if self.code.counts {
            let column = self.column(1, begin, count, u64::MAX);
            part.firings += reducer.moments(gpu, &self.results, column, &mut times)?.sum_ticks();
        }
        for group in 0..self.schedule.groups as u32 {
            let at = 1 + u32::from(self.code.counts) + 2 * group;
            let own = &mut part.groups[group as usize];
            let first = self.column(at, begin, count, horizon);
            own.first = reducer.moments(gpu, &self.results, first, &mut times)?;
            let last = self.column(at + 1, begin, count, horizon);
            own.last = reducer.moments(gpu, &self.results, last, &mut times)?;
        }
        if self.schedule.keep {
            let started = Instant::now();
            let words: Vec<[u32; 2]> = gpu.read_from(&self.results, passage.begin as usize, count as usize)?;
            part.passage_times = words.into_iter().map(value).filter(|time| *time <= horizon).collect();
            times.read_back += started.elapsed();
        }
        self.times = times;
        samples.append(&part);
        Ok(())
    }
}

impl DeviceEngine for GpuSchedule {
    fn run(
        &mut self,
        first: u64,
        most: u64,
        samples: &mut Samples,
        stop: &dyn Fn() -> bool,
    ) -> Result<u64, DeviceFault> {
        let first_quad = first / 4;
        let begin = first % 4;
        let wanted = (begin + most).div_ceil(4).min(self.pace.next());
        self.make_room(wanted)?;
        let quads = wanted.min(self.room);
        let count = most.min(4 * quads - begin);
        self.dispatch(first_quad, quads as u32, stop)?;
        self.collect(begin, count, samples)?;
        Ok(count)
    }

    fn fill(&self) -> u64 {
        if self.gpu.facts.is_software() { 1 } else { CARD_FILL }
    }

    fn times(&self) -> GpuTimes {
        self.times
    }
}
