//! The race on a device: lanes run replications, in dispatches of a bounded number of steps.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::sim::NEVER;
use crate::sim::averages::FLOAT_UNIT;
use crate::sim::gpu::averages::Averager;
use crate::sim::gpu::columns::{Column, Reducer};
use crate::sim::gpu::device::Gpu;
use crate::sim::gpu::engine::{CARD_FILL, DeviceEngine, DeviceFault, Pace};
use crate::sim::gpu::error::GpuError;
use crate::sim::gpu::execute::{Dispatch, GpuTimes, Kernel};
use crate::sim::gpu::layout::{RaceRun, WORKGROUP};
use crate::sim::gpu::pair::{pair, value};
use crate::sim::gpu::race_code::RaceCode;
use crate::sim::gpu::race_forms::{self, Form, FormFacts};
use crate::sim::gpu::race_layout::Columns;
use crate::sim::gpu::shader;
use crate::sim::question::MAX_FIRINGS;
use crate::sim::race::Setup;
use crate::sim::samples::Samples;

/// Maximum number of lanes that run in parallel in the direct form, more than any GPU needs to be busy.
const MOST_LANES: u64 = 1 << 18;
/// Number of steps of the first dispatch.
const FIRST_STEPS: u64 = 16;
/// Number of replications of the first chunk.
const FIRST_CHUNK: u64 = 4096;
/// Maximum number of steps of a dispatch. A step takes some microseconds, and a display's watchdog waits two seconds.
const MOST_STEPS: u64 = 1 << 14;
/// Target time of a chunk. Progress is shown after each chunk.
const CHUNK: Duration = Duration::from_millis(500);
/// Maximum time of a chunk that grows.
const LONGEST_CHUNK: Duration = Duration::from_secs(5);
/// Number of words in the control buffer: next, ended, faults, four endings, lanes that ran.
const CONTROL: usize = 8;

/// A race on a device.
#[derive(Debug)]
pub(crate) struct GpuRace<'a> {
    gpu: Arc<Gpu>,
    setup: Setup<'a>,
    columns: Columns,
    kernel: Kernel,
    reducer: Reducer,
    averager: Option<Averager>,
    tables: wgpu::Buffer,
    control: wgpu::Buffer,
    /// Number of words of a lane.
    items: u64,
    /// Number of lanes that fit into a buffer and into memory, a multiple of the workgroup size.
    most_lanes: u64,
    lanes: u64,
    state: wgpu::Buffer,
    /// Number of replications that fit into memory.
    room: u64,
    results: wgpu::Buffer,
    max_firings: u64,
    steps: Pace,
    chunk: Pace,
    times: GpuTimes,
}

impl<'a> GpuRace<'a> {
    /// Puts a race on a device.
    pub(crate) fn new(gpu: &Arc<Gpu>, setup: Setup<'a>, form: Form) -> Result<Self, DeviceFault> {
        let started = Instant::now();
        let Setup { program, question, clock, .. } = setup;
        if clock.is_wide() {
            let why = "the rates differ too much for 64-bit times".to_owned();
            return Err(DeviceFault::DoesNotFit(vec![why]));
        }
        let mut code = RaceCode::new(program, question, clock);
        let FormFacts { loops, firings } = race_forms::append(&mut code, program, clock, form);
        let facts = &gpu.facts;
        let binding = facts.largest_binding.min(facts.largest_buffer);
        let items = u64::from(code.items.count());
        let lanes = (binding / (4 * items)).min(u64::from(u32::MAX) / items).min(match form {
            Form::Direct => MOST_LANES,
            // a firing accesses twice as much of the state, which then should fit into the GPU's cache
            Form::Clock => CARD_FILL,
        });
        let most_lanes = lanes / u64::from(WORKGROUP) * u64::from(WORKGROUP);
        let columns = code.columns;
        let room = (binding / (8 * u64::from(columns.total))).min(u64::from(u32::MAX) / u64::from(columns.total));
        // chunks are whole units of averages
        let room = room / FLOAT_UNIT * FLOAT_UNIT;
        if most_lanes == 0 || room == 0 || code.tables.len() as u64 * 4 > binding {
            code.obstacles.push(format!("the net's marking and tables do not fit into buffers of {binding} bytes"));
        }
        let budget = u64::from(gpu.loop_budget);
        if loops > budget {
            code.obstacles.push(format!("a step takes up to {loops} loop iterations; the device allows {budget}"));
        }
        if !code.obstacles.is_empty() {
            return Err(DeviceFault::DoesNotFit(code.obstacles));
        }
        let source = shader::race(gpu.int64, form, &code);
        let fill = if facts.is_software() { 1 } else { CARD_FILL };
        let most_steps = (budget / loops.max(1)).max(1);
        let this = Self {
            kernel: gpu.kernel("race", &source)?,
            reducer: Reducer::new(gpu)?,
            averager: Averager::new(gpu, setup, columns)?,
            tables: gpu.storage_with(&code.tables)?,
            control: gpu.storage(4 * CONTROL as u64)?,
            state: gpu.storage(16)?,
            results: gpu.storage(16)?,
            lanes: 0,
            room: 0,
            items,
            most_lanes,
            columns,
            max_firings: question.max_firings.unwrap_or(MAX_FIRINGS).min(firings),
            steps: Pace::new(FIRST_STEPS, most_steps.min(MOST_STEPS)),
            chunk: Pace::with_target(FIRST_CHUNK, room.min(1 << 25), CHUNK, LONGEST_CHUNK).at_least(fill),
            times: GpuTimes { setup: started.elapsed(), ..GpuTimes::default() },
            gpu: Arc::clone(gpu),
            setup,
        };
        Ok(this)
    }

    /// Allocates buffers for `count` replications, or fewer if memory is short. Returns the number that fits into memory.
    fn make_room(&mut self, count: u64) -> Result<u64, GpuError> {
        let started = Instant::now();
        let mut wanted = count;
        while wanted > self.room {
            match self.gpu.storage(wanted * 8 * u64::from(self.columns.total)) {
                Ok(results) => (self.results, self.room) = (results, wanted),
                Err(GpuError::OutOfMemory { .. }) if wanted / 2 >= FLOAT_UNIT => {
                    wanted = (wanted / 2).next_multiple_of(FLOAT_UNIT);
                    self.chunk.limit(wanted);
                }
                Err(error) => return Err(error),
            }
        }
        let mut lanes = wanted.next_multiple_of(u64::from(WORKGROUP)).min(self.most_lanes);
        while lanes > self.lanes {
            match self.gpu.storage(4 * self.items * lanes) {
                Ok(state) => (self.state, self.lanes) = (state, lanes),
                Err(GpuError::OutOfMemory { .. }) if lanes / 2 >= u64::from(WORKGROUP) => {
                    lanes = (lanes / 2).next_multiple_of(u64::from(WORKGROUP));
                }
                Err(error) => return Err(error),
            }
        }
        self.times.setup += started.elapsed();
        Ok(wanted.min(count))
    }

    /// Runs a chunk to its end. Returns the number of replications per ending.
    fn play(&mut self, first: u64, count: u64, stop: &dyn Fn() -> bool) -> Result<[u64; 4], DeviceFault> {
        let started = Instant::now();
        self.gpu.write(&self.control, &[0_u32; CONTROL])?;
        self.times.upload += started.elapsed();
        let horizon = self.setup.question.horizon;
        let clock = self.setup.clock;
        let lanes = self.lanes.min(count.next_multiple_of(u64::from(WORKGROUP)));
        let (mut fresh, mut played) = (true, 0);
        loop {
            let run = RaceRun {
                key: self.setup.key,
                first: pair(first),
                count: count as u32,
                lanes: lanes as u32,
                steps: self.steps.next_at(lanes) as u32,
                horizon: u32::from(horizon.is_some()),
                last_tick: pair(horizon.map_or(NEVER - 1, |horizon| clock.ticks(horizon))),
                warm_up: pair(clock.ticks(self.setup.question.warm_up)),
                max_firings: pair(self.max_firings),
                padding: [0; 2],
            };
            let parameters = self.gpu.uniform(&run)?;
            let buffers = [&parameters, &self.tables, &self.state, &self.results, &self.control, &self.tables];
            let buffers: Vec<_> = (0..).zip(buffers).collect();
            let workgroups = lanes.div_ceil(u64::from(WORKGROUP)) as u32;
            let clear: &[&wgpu::Buffer] = if fresh { &[&self.state] } else { &[] };
            let took = self.gpu.run(clear, &[Dispatch { kernel: &self.kernel, buffers: &buffers, workgroups }])?;
            self.times.compute += took;
            fresh = self.gpu.forgets();
            let started = Instant::now();
            let control: Vec<u32> = self.gpu.read(&self.control, CONTROL)?;
            self.times.read_back += started.elapsed();
            if control[2] > 0 {
                return Err(DeviceFault::Replication);
            }
            let left = count.saturating_sub(control[1].into());
            let endings = [3, 4, 5, 6].map(|at| u64::from(control[at]));
            if endings.iter().sum::<u64>() + left != count {
                return Err(unfinished(format!("{count} replications ended as {endings:?}, with {left} left")));
            }
            if left == 0 {
                return Ok(endings);
            }
            // without this check, a device that lost the lanes' state would run forever
            if control[7] == played {
                return Err(unfinished(format!(
                    "{left} of {count} replications are left, and no lane is running them"
                )));
            }
            played = control[7];
            // a dispatch with idle lanes is short, which would make the next one too long
            if 2 * left >= lanes {
                self.steps.took(u64::from(run.steps), took);
            }
            if stop() {
                return Err(DeviceFault::Stopped);
            }
        }
    }

    fn column(&self, column: u32, count: u64) -> Column {
        Column { begin: (u64::from(column) * count) as u32, count: count as u32, limit: NEVER - 1 }
    }

    fn values(&mut self, column: u32, count: u64) -> Result<Vec<u64>, GpuError> {
        let started = Instant::now();
        let first = u64::from(column) * count;
        let words: Vec<[u32; 2]> = self.gpu.read_from(&self.results, first as usize, count as usize)?;
        self.times.read_back += started.elapsed();
        Ok(words.into_iter().map(value).collect())
    }

    fn collect(&mut self, count: u64, endings: [u64; 4], samples: &mut Samples) -> Result<(), GpuError> {
        let mut part = samples.emptied();
        part.replications = count;
        part.endings[..endings.len()].copy_from_slice(&endings);
        let mut times = self.times;
        let passage = self.column(Columns::PASSAGE, count);
        (part.passage, part.passage_histogram) =
            self.reducer.distribution(&self.gpu, &self.results, passage, &mut times)?;
        let firings = self.column(Columns::FIRINGS, count);
        part.firings = self.reducer.moments(&self.gpu, &self.results, firings, &mut times)?.sum_ticks();
        for (group, own) in (0..).zip(&mut part.groups) {
            let first = self.column(self.columns.groups + 2 * group, count);
            own.first = self.reducer.moments(&self.gpu, &self.results, first, &mut times)?;
            let last = self.column(self.columns.groups + 2 * group + 1, count);
            own.last = self.reducer.moments(&self.gpu, &self.results, last, &mut times)?;
        }
        if let Some(averager) = &self.averager {
            averager.add(&self.gpu, &self.results, &mut part, &mut times)?;
        }
        self.times = times;
        if self.setup.keep_times {
            part.passage_times = self.values(Columns::PASSAGE, count)?;
            part.passage_times.retain(|time| *time < NEVER);
        }
        samples.append(&part);
        Ok(())
    }
}

fn unfinished(what: String) -> DeviceFault {
    GpuError::Unfinished { kernel: "race", what }.into()
}

impl DeviceEngine for GpuRace<'_> {
    fn run(
        &mut self,
        first: u64,
        most: u64,
        samples: &mut Samples,
        stop: &dyn Fn() -> bool,
    ) -> Result<u64, DeviceFault> {
        let wanted = most.min(self.chunk.next().next_multiple_of(FLOAT_UNIT));
        let count = self.make_room(wanted)?;
        let started = Instant::now();
        let endings = self.play(first, count, stop)?;
        self.chunk.took(count, started.elapsed());
        self.collect(count, endings, samples)?;
        Ok(count)
    }

    fn fill(&self) -> u64 {
        if self.gpu.facts.is_software() { 1 } else { CARD_FILL }
    }

    fn times(&self) -> GpuTimes {
        self.times
    }
}
