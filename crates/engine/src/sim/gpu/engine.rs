//! The interface of engines on a device: how they run and stop, and the size of their chunks.

use std::time::Duration;

use crate::sim::gpu::error::GpuError;
use crate::sim::gpu::execute::GpuTimes;
use crate::sim::samples::Samples;

/// Reason why an engine on a device stops.
#[derive(Debug)]
pub(crate) enum DeviceFault {
    /// A fault of the device.
    Gpu(GpuError),
    /// The net or the question does not fit; lists all reasons.
    DoesNotFit(Vec<String>),
    /// A replication that the device cannot finish, for example because of a fault of the net. The CPU runs it again.
    Replication,
    /// The caller stopped the engine; the chunk is discarded.
    Stopped,
}

impl From<GpuError> for DeviceFault {
    fn from(error: GpuError) -> Self {
        Self::Gpu(error)
    }
}

/// An engine on a device. It produces the same numbers as its twin on the CPU.
pub(crate) trait DeviceEngine {
    /// Runs replications from `first` on, at most `most`, and adds them to `samples`, in order. Returns their number;
    /// on an error, `samples` is unchanged. `stop` is called between dispatches.
    ///
    /// Observations that are floats are averaged and merged as on the CPU: in groups of
    /// [`FLOAT_UNIT`](crate::sim::averages::FLOAT_UNIT) from `first` on. If there are any, the
    /// number of replications is a multiple of this unit, or `most`.
    fn run(
        &mut self,
        first: u64,
        most: u64,
        samples: &mut Samples,
        stop: &dyn Fn() -> bool,
    ) -> Result<u64, DeviceFault>;

    /// Minimum number of replications that keep the device busy; fewer replications take the same time.
    fn fill(&self) -> u64 {
        1
    }

    /// Parts of the time.
    fn times(&self) -> GpuTimes;
}

/// Target duration of one dispatch: far below what a display's watchdog allows.
const DISPATCH: Duration = Duration::from_millis(60);
/// A dispatch that took longer than this is too long.
const LONGEST_DISPATCH: Duration = Duration::from_millis(75);
/// A dispatch shorter than this gives no information about speed.
const NOISE: Duration = Duration::from_micros(500);
/// Maximum growth factor of a size.
const GROWTH: f64 = 8.0;
/// Maximum growth factor of a size after a dispatch that took too long.
const SLOW_GROWTH: f64 = 2.0;
/// A larger size is worthwhile if a replication costs at most this share of its previous cost.
const CHEAPER: f64 = 0.87;
/// Number of replications that keep a GPU busy: up to this number, and often beyond, more replications take no longer.
pub(crate) const CARD_FILL: u64 = 1 << 16;

/// Sizes of dispatches or chunks, adapted to the time of the last one.
///
/// The work of a dispatch has two dimensions, such as steps and lanes. A pace controls one of them, the size. The caller
/// reports the other one, the breadth of the next dispatch. If the breadth grows, the size shrinks as if the time were
/// proportional to the breadth. On a GPU that is not full, this is too cautious, so later sizes grow again.
///
/// On a CPU, time grows with the size. On a GPU, time stays the same until the GPU is full, so a size that takes longer than the
/// target may still be too small. Therefore sizes grow as long as each replication becomes cheaper. A size shrinks only
/// if it takes longer than a maximum time, and not below the size that fills the GPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    size: u64,
    least: u64,
    most: u64,
    target: Duration,
    /// Maximum time; a size that took longer shrinks.
    longest: Duration,
    /// Time and size of the longest dispatch since the size was last set.
    last: Option<(Duration, u64)>,
    /// The previous size, and the time \[s\] per unit of this size.
    before: Option<(u64, f64)>,
    /// Breadth of the last dispatch, if the caller reports it.
    breadth: Option<u64>,
}

impl Pace {
    /// Sizes of dispatches.
    pub(crate) fn new(first: u64, most: u64) -> Self {
        Self::with_target(first, most, DISPATCH, LONGEST_DISPATCH)
    }

    /// Sizes for which a piece of work takes the target time or, if larger sizes are cheaper, up to the longest time.
    pub(crate) fn with_target(first: u64, most: u64, target: Duration, longest: Duration) -> Self {
        Self { size: first.min(most), least: 1, most, target, longest, last: None, before: None, breadth: None }
    }

    /// The same with a minimum size, which available memory may reduce.
    #[must_use]
    pub(crate) fn at_least(self, least: u64) -> Self {
        let least = least.clamp(1, self.most);
        Self { least, size: self.size.max(least), ..self }
    }

    /// Records the time of a dispatch of some size: the planned size, or a smaller one if less work remained.
    pub(crate) fn took(&mut self, size: u64, time: Duration) {
        if self.last.is_none_or(|(longest, _)| time > longest) {
            self.last = Some((time, size));
        }
    }

    /// Sets the maximum size.
    pub(crate) fn limit(&mut self, most: u64) {
        self.most = most.max(1);
        self.least = self.least.min(self.most);
        self.size = self.size.min(self.most);
    }

    /// The size of the next dispatch.
    pub(crate) fn next(&mut self) -> u64 {
        if let Some((time, size)) = self.last.take() {
            let cost = time.as_secs_f64() / size.max(1) as f64;
            let cheaper = self.before.is_none_or(|(other, before)| size > other && cost < CHEAPER * before);
            let fits = self.target.as_secs_f64() / time.max(NOISE).as_secs_f64();
            let factor = match time > self.target && time <= self.longest {
                true if cheaper => SLOW_GROWTH,
                true => 1.0,
                false => fits,
            };
            let next = size as f64 * factor.clamp(1.0 / GROWTH, GROWTH);
            self.before = Some((size, cost));
            self.size = (next as u64).clamp(self.least, self.most);
        }
        self.size
    }

    /// The size of the next dispatch. On a full device, its work per unit of size is proportional to `breadth`.
    pub(crate) fn next_at(&mut self, breadth: u64) -> u64 {
        self.next();
        let breadth = breadth.max(1);
        if let Some(before) = self.breadth.replace(breadth).filter(|before| *before < breadth) {
            let size = u128::from(self.size) * u128::from(before) / u128::from(breadth);
            self.size = (size as u64).clamp(self.least, self.most);
            // the costs of dispatches of different breadths are not comparable
            self.before = None;
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
    fn a_slow_partial_dispatch_shrinks_the_next_dispatch() {
        let (target, longest) = (Duration::from_millis(500), Duration::from_millis(500));
        let mut pace = Pace::with_target(1000, 100_000, target, longest);
        assert_eq!(pace.next(), 1000);
        // a tenth of the size took the time allowed for the whole size
        pace.took(100, Duration::from_millis(500));
        assert_eq!(pace.next(), 100);
    }

    /// Sizes and times of the next 60 dispatches on a device.
    fn play(mut pace: Pace, time_s: impl Fn(u64, u32) -> f64) -> Vec<(u64, f64)> {
        let one = |turn: u32| {
            let size = pace.next();
            let time = time_s(size, turn);
            pace.took(size, Duration::from_secs_f64(time));
            (size, time)
        };
        (0..60).map(one).collect()
    }

    /// Devices whose time per dispatch is constant up to some number of lanes, then linear: fast and slow GPUs, and
    /// CPUs, with and without noise of 20%. No dispatch takes four times its target time unless a dispatch of the
    /// smallest size does; finally, the device is full or the target time is met.
    #[test]
    fn dispatches_stay_within_four_times_their_target_on_any_device() {
        for (constant_s, full) in
            [(0.001, 100_000.0), (0.02, 100_000.0), (0.05, 1000.0), (1e-6, 1.0), (0.1, 50_000.0), (2.0, 1.0)]
        {
            for noise in [0.0, 0.2] {
                let wave = |turn: u32| 1.0 + noise * (f64::from(turn) * 2.4).sin();
                let time = |size: u64, turn: u32| constant_s * (size as f64 / full).max(1.0) * wave(turn);
                let played = play(Pace::new(16, 1 << 22), time);
                for (turn, &(size, took)) in played.iter().enumerate().skip(1) {
                    // from a first size that is much too large, sizes shrink in steps
                    let still_down = played[..turn].iter().all(|earlier| earlier.0 > size);
                    assert!(took < 0.24 || size == 1 || still_down, "{constant_s} {full} {noise}: {size} took {took}");
                }
                let (size, took) = played[59];
                assert!(
                    size as f64 >= 0.3 * full || took > 0.03,
                    "{constant_s} {full} {noise}: {size} at the end, {took} s"
                );
            }
        }
    }

    /// The number of lanes changes from chunk to chunk. The time of a step is constant up to some number of lanes, then
    /// proportional to the number of lanes. The devices are fast, slow or noisy. No dispatch takes four times its target
    /// time, unless it has one step. At the end of a chunk, a dispatch takes at least half of the target time, or has the
    /// maximum number of steps.
    ///
    /// This test was seen to fail if the number of lanes does not change the steps, with a dispatch of 3.7 s.
    #[test]
    fn more_lanes_mean_fewer_steps() {
        let lanes = [64, 4096, 32_768, 262_144, 64, 262_144, 100_032, 262_144, 1024];
        for (step_s, full) in
            [(3e-6, 130_000.0), (5e-5, 1.0), (2e-7, 64.0), (4e-5, 4096.0), (0.01, 1000.0), (1e-5, 20_000.0)]
        {
            for noise in [0.0, 0.2] {
                let mut pace = Pace::new(16, 1 << 14);
                for (turn, lanes) in lanes.into_iter().flat_map(|lanes| [lanes; 12]).enumerate() {
                    let steps = pace.next_at(lanes);
                    let wave = 1.0 + noise * (turn as f64 * 2.4).sin();
                    let time = 5e-5 + steps as f64 * step_s * (lanes as f64 / full).max(1.0) * wave;
                    assert!(time < 0.24 || steps == 1, "{step_s} {full} {noise}: {steps} steps of {lanes} took {time}");
                    let settled = turn % 12 == 11;
                    assert!(
                        !settled || time > 0.03 || steps == 1 << 14,
                        "{step_s} {full} {noise}: {steps} took {time}"
                    );
                    pace.took(steps, Duration::from_secs_f64(time));
                }
            }
        }
    }

    /// A replication takes 300 ms on a lane, for any number of lanes: chunks grow until the GPU is full. This test was
    /// seen to fail if sizes depend only on the time: they shrink to one.
    #[test]
    fn chunks_grow_on_a_card_whose_time_does_not_depend_on_their_size() {
        let (target, longest) = (Duration::from_millis(250), Duration::from_secs(5));
        let pace = Pace::with_target(256, 1 << 26, target, longest);
        let played = play(pace, |size, _| 0.3 * (size as f64 / 130_000.0).max(1.0));
        assert!(played[59].0 >= 65_536, "{:?}", &played[50..]);
        // on a CPU, chunks keep within the time
        let played = play(pace, |size, _| 0.001 * size as f64);
        assert!(played[2..].iter().all(|played| played.1 < 0.6), "{played:?}");
        let filled = play(pace.at_least(CARD_FILL), |size, _| 0.3 * (size as f64 / 130_000.0).max(1.0));
        assert!(filled.iter().all(|played| played.0 >= CARD_FILL));
    }
}
