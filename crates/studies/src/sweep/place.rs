//! Chooses the device for the waves of a sweep: the CPU, or a GPU if it pays off.
//!
//! Decides when to try a GPU, and when to return to the CPU. The results are the same on both devices, so a sweep can
//! move between any two waves.

use std::time::Duration;

use crate::sim::{Backend, Card, DeviceUse, Placement, RanOn, RunError};

/// Minimum time on the CPU before a GPU is considered.
const BEFORE_A_LOOK: Duration = Duration::from_secs(1);
/// Minimum remaining CPU time for which a GPU is worthwhile: opening a GPU takes a second or two.
const WORTH_A_LOOK: Duration = Duration::from_secs(4);
/// Number of waves on a GPU before the GPU's speed is measured.
const SETTLING: u32 = 2;
/// Duration of this measurement.
const MEASURED: Duration = Duration::from_secs(1);

/// State of the decision.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// The device does not change any more.
    Settled,
    /// On the CPU, until much work turns out to remain.
    Watching,
    /// On a GPU, with the number of waves so far.
    Trying(u32),
}

/// Number of replications on a device, and the time for them.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    replications: u64,
    time: Duration,
}

impl Pace {
    fn add(&mut self, replications: u64, time: Duration) {
        self.replications += replications;
        self.time += time;
    }

    fn per_s(self) -> f64 {
        self.replications as f64 / self.time.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

/// Chooses the device of the next wave.
#[derive(Debug)]
pub(super) struct Place {
    stage: Stage,
    adapter: Option<String>,
    card: Option<Card>,
    required: bool,
    cpu: Pace,
    measured: Pace,
    /// True if waves ran on the CPU before the GPU.
    before: bool,
    /// True if waves ran on the CPU after the GPU.
    after: bool,
    placement: Placement,
}

impl Place {
    /// Chooses the first device of a sweep.
    pub(super) fn new(backend: Backend, adapter: Option<&str>) -> Result<Self, RunError> {
        let reason = if backend == Backend::Auto { "the sweep is short" } else { "as requested" };
        let mut place = Self {
            stage: if backend == Backend::Auto { Stage::Watching } else { Stage::Settled },
            adapter: adapter.map(str::to_owned),
            card: None,
            required: backend == Backend::Gpu,
            cpu: Pace::default(),
            measured: Pace::default(),
            before: false,
            after: false,
            placement: Placement { reason: reason.to_owned(), ..Placement::default() },
        };
        if place.required {
            place.open()?;
        }
        Ok(place)
    }

    /// Returns the GPU for the next wave; none if the wave runs on the CPU.
    pub(super) fn card(&mut self) -> Option<&mut Card> {
        self.card.as_mut()
    }

    fn open(&mut self) -> Result<(), RunError> {
        let card = Card::open(self.adapter.as_deref())?;
        self.placement.device = Some(DeviceUse { adapter: card.name().to_owned(), ..DeviceUse::default() });
        self.card = Some(card);
        Ok(())
    }

    /// Returns to the CPU after an error of the GPU; fails if a GPU is required.
    pub(super) fn failed(&mut self, error: RunError) -> Result<(), RunError> {
        if self.required {
            return Err(error);
        }
        self.leave(error.to_string());
        Ok(())
    }

    fn leave(&mut self, reason: String) {
        (self.card, self.stage, self.placement.reason) = (None, Stage::Settled, reason);
    }

    /// Records a wave; at most `left` replications remain.
    pub(super) fn took(&mut self, replications: u64, time: Duration, left: u64) {
        match (&self.card, &mut self.placement.device) {
            (Some(_), Some(device)) => device.replications += replications,
            (_, device) => {
                self.after |= device.as_ref().is_some_and(|device| device.replications > 0);
                self.before |= device.is_none();
                self.cpu.add(replications, time);
            }
        }
        match self.stage {
            Stage::Settled => {}
            Stage::Watching => self.look(left),
            Stage::Trying(waves) if waves < SETTLING => self.stage = Stage::Trying(waves + 1),
            Stage::Trying(_) => {
                self.measured.add(replications, time);
                if self.measured.time >= MEASURED {
                    self.compare();
                }
            }
        }
    }

    /// Opens a GPU if much work remains.
    fn look(&mut self, left: u64) {
        let left_s = left as f64 / self.cpu.per_s();
        if self.cpu.time < BEFORE_A_LOOK || left_s < WORTH_A_LOOK.as_secs_f64() {
            return;
        }
        match self.open() {
            Ok(()) => {
                self.stage = Stage::Trying(0);
                self.placement.reason = format!("{left_s:.0} s of work remained on the CPU");
            }
            Err(error) => self.leave(error.to_string()),
        }
    }

    /// Returns to the CPU if the GPU is slower.
    fn compare(&mut self) {
        let (card, cpu) = (self.measured.per_s(), self.cpu.per_s());
        self.stage = Stage::Settled;
        if card < cpu {
            self.leave(format!("the GPU was slower: {card:.3e} replications/s, compared with {cpu:.3e} on the CPU"));
        }
    }

    /// Returns the devices that ran the sweep, and the reason for the choice.
    pub(super) fn placement(mut self) -> Placement {
        let used = self.placement.device.as_ref().is_some_and(|device| device.replications > 0);
        self.placement.backend = match (self.before, used, self.after) {
            (_, false, _) => RanOn::Cpu,
            (false, true, false) => RanOn::Gpu,
            (_, true, false) => RanOn::CpuThenGpu,
            (_, true, true) => RanOn::CpuThenGpuThenCpu,
        };
        self.placement
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_sweeps_look_for_no_card_and_stay_on_the_processor() {
        let mut place = Place::new(Backend::Auto, Some("no such adapter")).unwrap();
        place.took(1000, Duration::from_millis(500), 1_000_000);
        assert_eq!(place.stage, Stage::Watching);
        place.took(1000, Duration::from_millis(600), 1000);
        assert_eq!(place.stage, Stage::Watching);
        // much work remains, but there is no such GPU
        place.took(1000, Duration::from_millis(600), 1_000_000);
        assert_eq!(place.stage, Stage::Settled);
        let placement = place.placement();
        assert_eq!(placement.backend, RanOn::Cpu);
        assert!(!placement.reason.contains("short"), "{placement:?}");
        assert!(Place::new(Backend::Gpu, Some("no such adapter")).is_err());
    }
}
