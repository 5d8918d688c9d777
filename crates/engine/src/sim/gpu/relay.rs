//! A run on the CPU and a device: when it moves between them, how faults are handled, and what is recorded.
//!
//! Engines on both sides give the same results, replication by replication, and only whole chunks
//! are appended. So a run can move at any point, and the samples do not depend on that point.

use std::time::{Duration, Instant};

use crate::sim::averages::FLOAT_UNIT;
use crate::sim::backend::{Backend, DeviceUse, Placement, RanOn};
use crate::sim::cpu::CpuRounds;
use crate::sim::gpu::engine::Pace;
use crate::sim::gpu::{DeviceEngine, DeviceFault, GpuError};
use crate::sim::run_error::RunError;
use crate::sim::samples::Samples;
use crate::watch::{TimeLimit, Watch as _};

/// Settings that determine when a run looks for a GPU, and when it leaves the GPU.
#[derive(Clone, Copy, Debug)]
pub(in crate::sim) struct Patience {
    /// Time on the CPU before a GPU is considered. By then the CPU's speed is known, and most runs are over.
    pub(in crate::sim) before_a_look: Duration,
    /// Remaining CPU time that justifies a GPU. Loading a driver, testing the device and compiling shaders take a
    /// second or two, and longer if a driver sees a shader for the first time.
    pub(in crate::sim) worth_a_look: Duration,
    /// Time on a GPU before its speed is measured, because its first chunks are small.
    pub(in crate::sim) settling: Duration,
    /// Duration of the measurement of a GPU's speed, before it is compared with the CPU's speed.
    pub(in crate::sim) measured: Duration,
    /// Number of replications that a device repeats before its results count. The results of the device must equal the
    /// results of the CPU. The number is smaller if these replications take the CPU more than a second.
    pub(in crate::sim) replayed: u64,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            before_a_look: Duration::from_secs(1),
            worth_a_look: Duration::from_secs(4),
            settling: Duration::from_secs(1),
            measured: Duration::from_secs(1),
            replayed: 256,
        }
    }
}

/// Replications that the CPU takes over if the device cannot finish one of them. The number doubles each time until the
/// device succeeds again, so that few chunks of the device are wasted.
const TAKEN_OVER: u64 = 1024;

/// Number of replications of the first chunk, when the time of a replication on the device is still unknown.
const FIRST_CHUNK: u64 = 256;
/// Target time of a chunk.
const CHUNK: Duration = Duration::from_millis(250);
/// Maximum time of a chunk that grows.
const LONGEST_CHUNK: Duration = Duration::from_secs(5);

/// Maximum time of the CPU for the replications that a device replays.
const REPLAYED_IN: Duration = Duration::from_secs(1);

/// A device with an engine.
pub(in crate::sim) struct Opened<'a> {
    pub(in crate::sim) adapter: String,
    /// Time to open the device.
    pub(in crate::sim) opening: Duration,
    pub(in crate::sim) engine: Box<dyn DeviceEngine + 'a>,
}

/// Opens a device.
pub(in crate::sim) type Open<'a> = dyn Fn() -> Result<Opened<'a>, DeviceFault> + 'a;

/// State of a run.
enum Stage<'a> {
    /// On the CPU, until the end.
    Cpu,
    /// On the CPU, until enough remaining work is expected.
    Watching,
    /// On a device.
    Device(Opened<'a>),
}

/// Runs replications on the CPU or on a device.
pub(in crate::sim) struct Relay<'a> {
    backend: Backend,
    open: &'a Open<'a>,
    /// Name of the engine on the CPU.
    engine: &'static str,
    /// Number of the run's first replication.
    first: u64,
    patience: Patience,
    stage: Stage<'a>,
    placement: Placement,
    /// True if the CPU ran replications before the device; true if it did after the device.
    before: bool,
    after: bool,
    /// Number of replications that the CPU takes over from the device next time, and the number taken over so far.
    span: u64,
    taken_over: u64,
    /// Sizes of chunks.
    chunk: Pace,
    /// True once the device has replayed replications with the same results as the CPU.
    trusted: bool,
    /// Start of the work on a GPU; and the time and the replication at which the measurement of its speed starts.
    since: Option<Instant>,
    window: Option<(Instant, u64)>,
}

impl<'a> Relay<'a> {
    /// A run that starts on the device chosen by `backend`.
    ///
    /// # Errors
    ///
    /// A GPU is required, but none can run this.
    pub(in crate::sim) fn new(
        backend: Backend,
        open: &'a Open<'a>,
        first: u64,
        patience: Patience,
        engine: &'static str,
    ) -> Result<Self, RunError> {
        let (stage, reason) = match backend {
            Backend::Cpu => (Stage::Cpu, "as requested"),
            Backend::Auto => (Stage::Watching, "the run is short"),
            Backend::Gpu => (Stage::Device(open().map_err(|fault| required(fault, engine))?), "as requested"),
        };
        let mut relay = Self {
            backend,
            open,
            engine,
            first,
            patience,
            stage: Stage::Cpu,
            placement: Placement { reason: reason.to_owned(), ..Placement::default() },
            before: false,
            after: false,
            span: TAKEN_OVER,
            taken_over: 0,
            chunk: Pace::with_target(FIRST_CHUNK, u64::MAX, CHUNK, LONGEST_CHUNK),
            trusted: patience.replayed == 0,
            since: None,
            window: None,
        };
        match stage {
            Stage::Device(opened) => relay.go_over(opened),
            other => relay.stage = other,
        }
        Ok(relay)
    }

    /// Runs some of the replications up to `until`.
    pub(in crate::sim) fn step(
        &mut self,
        cpu: &mut CpuRounds<'_>,
        until: u64,
        samples: &mut Samples,
        limits: &TimeLimit<'_>,
    ) -> Result<(), RunError> {
        match &mut self.stage {
            Stage::Device(_) if !self.trusted => self.trust(cpu, until, samples, limits),
            Stage::Device(_) => self.on_device(cpu, until, samples, limits),
            Stage::Watching => {
                cpu.round(until, samples, limits)?;
                let left = time_left(cpu, until - samples.replications, limits);
                if cpu.pace().0 >= self.patience.before_a_look && left > self.patience.worth_a_look {
                    self.before = true;
                    self.look(left);
                }
                Ok(())
            }
            Stage::Cpu => {
                self.after |= self.placement.device.is_some();
                Ok(cpu.round(until, samples, limits)?)
            }
        }
    }

    /// Devices that ran the replications, and the reason.
    pub(in crate::sim) fn placement(mut self) -> Placement {
        self.note_times();
        let used = self.placement.device.as_ref().is_some_and(|device| device.replications > 0);
        self.placement.backend = match (self.before, used, self.after) {
            (_, false, _) if self.backend != Backend::Gpu || self.taken_over > 0 => RanOn::Cpu,
            (true, _, false) => RanOn::CpuThenGpu,
            (true, _, true) => RanOn::CpuThenGpuThenCpu,
            (false, ..) => RanOn::Gpu,
        };
        if self.taken_over > 0 {
            let few = format!("; {} replications that the GPU could not finish ran on the CPU", self.taken_over);
            self.placement.reason += &few;
        }
        self.placement
    }

    /// Looks for a GPU; `left` is the remaining time of the run on the CPU.
    fn look(&mut self, left: Duration) {
        match (self.open)() {
            Ok(opened) => {
                self.placement.reason = format!("{:.0} s of work remained on the CPU", left.as_secs_f64());
                self.go_over(opened);
            }
            Err(fault) => {
                self.placement.reason = no_card(fault);
                self.stage = Stage::Cpu;
            }
        }
    }

    fn go_over(&mut self, opened: Opened<'a>) {
        self.placement.device = Some(DeviceUse { adapter: opened.adapter.clone(), ..DeviceUse::default() });
        self.since = Some(Instant::now());
        self.chunk = self.chunk.at_least(opened.engine.fill());
        self.stage = Stage::Device(opened);
    }

    /// Returns to the CPU permanently.
    fn go_back(&mut self, reason: String) {
        self.note_times();
        self.placement.reason = reason;
        self.stage = Stage::Cpu;
    }

    fn note_times(&mut self) {
        if let (Stage::Device(opened), Some(device)) = (&self.stage, &mut self.placement.device) {
            device.times = opened.engine.times();
            device.times.setup += opened.opening;
        }
    }

    fn on_device(
        &mut self,
        cpu: &mut CpuRounds<'_>,
        until: u64,
        samples: &mut Samples,
        limits: &TimeLimit<'_>,
    ) -> Result<(), RunError> {
        let Stage::Device(opened) = &mut self.stage else { return Ok(()) };
        let from = samples.replications;
        let started = Instant::now();
        // whole units of averages, at any speed of the device
        let most = (until - from).min(self.chunk.next().next_multiple_of(FLOAT_UNIT));
        match opened.engine.run(self.first + from, most, samples, &|| limits.stopped()) {
            Ok(count) if count > 0 => {
                self.span = TAKEN_OVER;
                self.chunk.took(count, started.elapsed());
                if let Some(device) = &mut self.placement.device {
                    device.replications += count;
                }
                self.compare(cpu, samples.replications);
                Ok(())
            }
            // if the device cannot finish a replication, the CPU finishes it or reports the fault of the net
            Ok(_) | Err(DeviceFault::Replication) => {
                let end = until.min(from + self.span);
                self.span = self.span.saturating_mul(2);
                while samples.replications < end && !limits.stopped() {
                    cpu.round(end, samples, limits)?;
                }
                self.taken_over += samples.replications - from;
                Ok(())
            }
            // the limit that stopped the device also stops the run
            Err(DeviceFault::Stopped) => Ok(()),
            Err(fault) => self.failed(fault),
        }
    }

    /// Continues the run without the device; an error if the device is required.
    fn failed(&mut self, fault: DeviceFault) -> Result<(), RunError> {
        if self.backend == Backend::Gpu {
            return Err(required(fault, self.engine));
        }
        let what = match fault {
            DeviceFault::Gpu(error) => error.to_string(),
            other => no_card(other),
        };
        let count = self.placement.device.as_ref().map_or(0, |device| device.replications);
        self.go_back(format!("the device failed after {count} replications: {what}"));
        Ok(())
    }

    /// Lets the device replay the first replications of the run, whose results must equal the CPU's results bit for
    /// bit. A device that finishes none of them is not used.
    fn trust(
        &mut self,
        cpu: &mut CpuRounds<'_>,
        until: u64,
        samples: &Samples,
        limits: &TimeLimit<'_>,
    ) -> Result<(), RunError> {
        let Stage::Device(opened) = &mut self.stage else { return Ok(()) };
        let (most, started) = (self.patience.replayed.min(until), Instant::now());
        let mut expected = samples.emptied().starting_at(self.first);
        while expected.replications < most && started.elapsed() < REPLAYED_IN && !limits.stopped() {
            cpu.round(most, &mut expected, limits)?;
        }
        let mut replayed = samples.emptied().starting_at(self.first);
        let (mut on_device, mut size) = (0, most);
        while replayed.replications < expected.replications && !limits.stopped() {
            let from = replayed.replications;
            let more = size.min(expected.replications - from);
            match opened.engine.run(self.first + from, more, &mut replayed, &|| limits.stopped()) {
                Ok(count) if count > 0 => on_device += count,
                Err(DeviceFault::Stopped) => {}
                // smaller chunks skip fewer of the replications that the device can finish
                Ok(_) | Err(DeviceFault::Replication) if size > FLOAT_UNIT => {
                    size = (size / 2).next_multiple_of(FLOAT_UNIT);
                }
                Ok(_) | Err(DeviceFault::Replication) => cpu.round(from + more, &mut replayed, limits)?,
                Err(fault) => return self.failed(fault),
            }
        }
        if limits.stopped() {
            return Ok(());
        }
        if on_device == 0 {
            return self.failed(DeviceFault::Replication);
        }
        if replayed == expected {
            self.trusted = true;
            return Ok(());
        }
        let what = format!("{} replications of this net differ between GPU and CPU", expected.replications);
        let adapter = opened.adapter.clone();
        self.failed(GpuError::SelfTest { adapter, what }.into())
    }

    /// Leaves a GPU that is slower than the CPU was.
    fn compare(&mut self, cpu: &CpuRounds<'_>, done: u64) {
        let Some(since) = self.since.filter(|_| self.backend == Backend::Auto) else { return };
        let Some((begin, first)) = self.window else {
            if since.elapsed() >= self.patience.settling {
                self.window = Some((Instant::now(), done));
            }
            return;
        };
        let measured = begin.elapsed();
        if measured < self.patience.measured {
            return;
        }
        self.since = None;
        let (speed, other) = ((done - first) as f64 / measured.as_secs_f64(), cpu.pace().1);
        if speed < other {
            self.go_back(format!(
                "the GPU was slower: {speed:.3e} replications/s, compared with {other:.3e} on the CPU"
            ));
        }
    }
}

/// Time that the CPU would need, or may take, for the remaining replications.
fn time_left(cpu: &CpuRounds<'_>, replications: u64, limits: &TimeLimit<'_>) -> Duration {
    let seconds = replications as f64 / cpu.pace().1;
    let left = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    limits.left().map_or(left, |allowed| allowed.min(left))
}

/// The error if a device is required.
pub(in crate::sim::gpu) fn required(fault: DeviceFault, engine: &'static str) -> RunError {
    match fault {
        DeviceFault::Gpu(error) => RunError::Gpu(error),
        DeviceFault::DoesNotFit(reasons) => RunError::GpuUnfit { engine, reasons },
        DeviceFault::Replication | DeviceFault::Stopped => {
            RunError::GpuUnfit { engine, reasons: vec!["the GPU cannot finish a replication".into()] }
        }
    }
}

/// Reason why a run that would use a GPU stays on the CPU.
fn no_card(fault: DeviceFault) -> String {
    match fault {
        DeviceFault::Gpu(GpuError::NoAdapter) => "no GPU was found".to_owned(),
        DeviceFault::Gpu(GpuError::OnlySoftware { found }) => format!("no GPU was found, only {found}"),
        DeviceFault::Gpu(error) => error.to_string(),
        DeviceFault::DoesNotFit(reasons) => format!("the net does not fit the GPU: {}", reasons.join("; ")),
        DeviceFault::Replication | DeviceFault::Stopped => "the GPU cannot finish a replication".to_owned(),
    }
}
