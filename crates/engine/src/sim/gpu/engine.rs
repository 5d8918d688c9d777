//! What engines on a device have in common: how they are driven, how they stop, and how large their chunks are.

use std::time::Duration;

use crate::sim::gpu::error::GpuError;
use crate::sim::gpu::execute::GpuTimes;
use crate::sim::samples::Samples;

/// Why an engine on a device stops.
#[derive(Debug)]
pub(crate) enum DeviceFault {
    /// The device.
    Gpu(GpuError),
    /// The net or the question: everything that does not fit.
    DoesNotFit(Vec<String>),
    /// A replication that the device cannot finish, such as one with a fault of the net: the CPU shall say.
    Replication,
}

impl From<GpuError> for DeviceFault {
    fn from(error: GpuError) -> Self {
        Self::Gpu(error)
    }
}

/// An engine on a device. It gives the numbers of its twin on the CPU.
pub(crate) trait DeviceEngine {
    /// Runs replications from `first` on, at most `most`, and adds them to `samples`, in order. Gives how many; where it
    /// fails, `samples` is as it was.
    ///
    /// Observations that are floats are averaged and merged as on the CPU: in groups of
    /// [`FLOAT_UNIT`](crate::sim::cpu::FLOAT_UNIT) from `first` on. So where there are any, the number of replications is
    /// a multiple of that, or `most`.
    fn run(&mut self, first: u64, most: u64, samples: &mut Samples) -> Result<u64, DeviceFault>;

    /// Where the time went.
    fn times(&self) -> GpuTimes;
}

/// How long one dispatch should take: far below what a display's watchdog allows.
const DISPATCH: Duration = Duration::from_millis(60);
/// A dispatch that took less than this says nothing about speed.
const NOISE: Duration = Duration::from_micros(500);
/// Largest step of growth.
const GROWTH: f64 = 8.0;

/// Sizes of dispatches or chunks, from how long the last one took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    size: u64,
    most: u64,
    target: Duration,
    /// The longest since the last size was given, and how much it ran.
    longest: Option<(Duration, u64)>,
}

impl Pace {
    pub(crate) fn new(first: u64, most: u64) -> Self {
        Self::with_target(first, most, DISPATCH)
    }

    /// Sizes with which a piece of work takes so long.
    pub(crate) fn with_target(first: u64, most: u64, target: Duration) -> Self {
        Self { size: first.min(most), most, target, longest: None }
    }

    /// Notes how long a dispatch of some size took: the one that was given, or a smaller one where less was left to do.
    pub(crate) fn took(&mut self, size: u64, time: Duration) {
        if self.longest.is_none_or(|(longest, _)| time > longest) {
            self.longest = Some((time, size));
        }
    }

    /// No dispatch shall be larger.
    pub(crate) fn limit(&mut self, most: u64) {
        self.most = most.max(1);
        self.size = self.size.min(self.most);
    }

    /// The size of the next dispatch.
    pub(crate) fn next(&mut self) -> u64 {
        if let Some((longest, size)) = self.longest.take() {
            let factor = self.target.as_secs_f64() / longest.max(NOISE).as_secs_f64();
            let next = size as f64 * factor.clamp(1.0 / GROWTH, GROWTH);
            self.size = (next as u64).clamp(1, self.most);
        }
        self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dispatches_grow_to_their_time_and_not_beyond_their_room() {
        let mut pace = Pace::new(1000, 100_000);
        assert_eq!(pace.next(), 1000);
        pace.took(1000, Duration::from_millis(1));
        assert_eq!(pace.next(), 8000);
        pace.took(8000, Duration::from_millis(20));
        pace.took(8000, Duration::from_millis(30));
        assert_eq!(pace.next(), 16_000);
        pace.took(16_000, Duration::from_millis(2));
        assert_eq!(pace.next(), 100_000);
        pace.took(100_000, Duration::from_secs(6));
        assert_eq!(pace.next(), 12_500);
        pace.limit(100);
        assert_eq!(pace.next(), 100);
        pace.took(100, Duration::from_secs(1000));
        pace.limit(1);
        pace.took(1, Duration::from_secs(1000));
        assert_eq!(pace.next(), 1);
    }

    #[test]
    fn a_short_rest_says_nothing_of_a_whole_dispatch() {
        let mut pace = Pace::with_target(1000, 100_000, Duration::from_millis(500));
        assert_eq!(pace.next(), 1000);
        // a tenth of it took what a whole one may take
        pace.took(100, Duration::from_millis(500));
        assert_eq!(pace.next(), 100);
    }
}
