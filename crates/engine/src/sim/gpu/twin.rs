//! Pairs of twin engines on a device and on the CPU, and functions that open a device with an engine.

use std::sync::Arc;
use std::time::Instant;

use crate::compile::plan_schedule;
use crate::sim::engines::Kind;
use crate::sim::gpu::relay::Opened;
use crate::sim::gpu::{DeviceEngine, DeviceFault, Form, Gpu, GpuRace, GpuSchedule, Wanted};
use crate::sim::race::Setup;
use crate::sim::schedule::{Schedule, UnfitError};

/// The engine on a device that gives the same results as an engine of the CPU.
pub(in crate::sim::gpu) fn device_engine<'a>(
    kind: Kind,
    gpu: &Arc<Gpu>,
    setup: Setup<'a>,
    seed: u64,
) -> Result<Box<dyn DeviceEngine + 'a>, DeviceFault> {
    let Setup { program, question, clock, keep_times, .. } = setup;
    match kind {
        Kind::Schedule => {
            let unfit = |reasons: UnfitError| DeviceFault::DoesNotFit(reasons.into_vec());
            let plan = plan_schedule(program).map_err(|obstacles| unfit(obstacles.map(|o| o.to_string())))?;
            let schedule = Schedule::new(program, &plan, question, clock, seed, keep_times).map_err(unfit)?;
            Ok(Box::new(GpuSchedule::new(gpu, schedule, &program.transition_names)?))
        }
        Kind::Lockstep | Kind::Direct => Ok(Box::new(GpuRace::new(gpu, setup, Form::Direct)?)),
        Kind::Clock => Ok(Box::new(GpuRace::new(gpu, setup, Form::Clock)?)),
    }
}

/// Opens the best GPU, or the adapter with this name, with the twin of an engine of the CPU.
pub(in crate::sim) fn open<'a>(
    kind: Kind,
    setup: Setup<'a>,
    seed: u64,
    adapter: Option<&str>,
) -> Result<Opened<'a>, DeviceFault> {
    let started = Instant::now();
    let gpu = Arc::new(Gpu::open(adapter.map_or(Wanted::Card, Wanted::Named))?);
    let opening = started.elapsed();
    let engine = device_engine(kind, &gpu, setup, seed)?;
    Ok(Opened { adapter: gpu.facts.name.clone(), opening, engine })
}
