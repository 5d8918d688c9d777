//! A GPU for many nets, one at a time or together, for callers that divide the replications themselves.

use std::sync::Arc;

use crate::sim::gpu::batch::GpuBatch;
use crate::sim::gpu::device::{Gpu, Wanted};
use crate::sim::gpu::engine::DeviceFault;
use crate::sim::gpu::error::GpuError;
use crate::sim::gpu::relay::required;
use crate::sim::gpu::twin::device_engine;
use crate::sim::ready::Ready;
use crate::sim::run_error::RunError;
use crate::sim::samples::Samples;
use crate::sim::schedule::Schedule;

/// Number of replications that the CPU takes over if the GPU cannot finish one of them.
const TAKEN_OVER: u64 = 1024;
/// Maximum number of replications that are compared with the CPU.
const REPLAYED: u64 = 256;

/// An opened GPU.
#[derive(Debug)]
pub struct Card {
    gpu: Arc<Gpu>,
    batch: GpuBatch,
    /// Engines whose replications on this GPU were equal to those on the CPU.
    trusted: Vec<&'static str>,
}

impl Card {
    /// Opens the best GPU, or the first adapter whose name contains this text. A software adapter is opened only if it is named.
    ///
    /// # Errors
    ///
    /// [`RunError::Gpu`]: no GPU was found, or it failed its test.
    pub fn open(adapter: Option<&str>) -> Result<Self, RunError> {
        let gpu = Arc::new(Gpu::open(adapter.map_or(Wanted::Card, Wanted::Named))?);
        Self::of(&gpu)
    }

    /// Uses a GPU that is already open.
    pub(crate) fn of(gpu: &Arc<Gpu>) -> Result<Self, RunError> {
        Ok(Self { gpu: Arc::clone(gpu), batch: GpuBatch::new(gpu)?, trusted: Vec::new() })
    }

    /// Name of the GPU according to its driver.
    pub fn name(&self) -> &str {
        &self.gpu.facts.name
    }

    /// Runs the replications `first .. first + count` of each net. The results are identical to the results on the CPU
    /// bit for bit. Schedules that share their plan run together. For the first net of each engine, up to 256
    /// replications are compared with the CPU before any result counts.
    ///
    /// # Errors
    ///
    /// A fault of the net or of the GPU, or a net that does not fit the GPU.
    pub fn replicate(&mut self, ready: &[&Ready<'_>], first: u64, count: u64) -> Result<Vec<Samples>, RunError> {
        let mut all = Vec::with_capacity(ready.len());
        for alike in ready.chunk_by(|a, b| a.shares_schedule(b)) {
            self.trust(alike[0], first, count.min(REPLAYED))?;
            match self.together(alike, first, count) {
                Some(Ok(found)) => all.extend(found),
                Some(Err(fault)) => return Err(required(fault, alike[0].engine())),
                None => {
                    for ready in alike {
                        all.push(self.alone(ready, first, count)?.0);
                    }
                }
            }
        }
        Ok(all)
    }

    /// Compares replications of a net with those on the CPU, once for each engine.
    fn trust(&mut self, ready: &Ready<'_>, first: u64, count: u64) -> Result<(), RunError> {
        if count == 0 || self.trusted.contains(&ready.engine()) {
            return Ok(());
        }
        let found = match self.together(&[ready], first, count) {
            Some(found) => found.map_err(|fault| required(fault, ready.engine()))?.swap_remove(0),
            None => {
                let (found, on_device) = self.alone(ready, first, count)?;
                if on_device == 0 {
                    return Err(required(DeviceFault::Replication, ready.engine()));
                }
                found
            }
        };
        if found != ready.replicate(first, count)? {
            let what = format!("{count} replications of a net differ between GPU and CPU");
            return Err(GpuError::SelfTest { adapter: self.gpu.facts.name.clone(), what }.into());
        }
        self.trusted.push(ready.engine());
        Ok(())
    }

    /// Runs schedules of the same shape together; none if their shapes differ.
    fn together(&mut self, ready: &[&Ready<'_>], first: u64, count: u64) -> Option<Result<Vec<Samples>, DeviceFault>> {
        let schedules: Vec<Schedule> = ready.iter().map(|ready| ready.schedule()).collect::<Option<_>>()?;
        let names = &ready[0].setup.program.transition_names;
        let mut samples: Vec<Samples> = ready.iter().map(|ready| ready.nothing()).collect();
        match self.batch.run(&schedules, names, first, count, &mut samples) {
            Ok(()) => Some(Ok(samples)),
            // individually, they may fit
            Err(DeviceFault::DoesNotFit(_)) => None,
            Err(fault) => Some(Err(fault)),
        }
    }

    /// Runs any net with its own engine. The second number counts the replications that the device finished; the CPU ran
    /// the rest.
    fn alone(&self, ready: &Ready<'_>, first: u64, count: u64) -> Result<(Samples, u64), RunError> {
        let told = |fault| required(fault, ready.engine());
        let mut engine = device_engine(ready.chosen.kind, &self.gpu, ready.setup, ready.seed).map_err(told)?;
        let mut samples = ready.nothing().starting_at(first);
        let (mut span, mut on_device) = (TAKEN_OVER, 0);
        while samples.replications < count {
            let from = samples.replications;
            match engine.run(first + from, count - from, &mut samples, &|| false) {
                Ok(done) if done > 0 => {
                    on_device += done;
                    span = TAKEN_OVER;
                }
                Ok(_) | Err(DeviceFault::Replication) => {
                    samples.append(&ready.replicate(first + from, span.min(count - from))?);
                    span = span.saturating_mul(2);
                }
                Err(fault) => return Err(told(fault)),
            }
        }
        Ok((samples, on_device))
    }
}
