//! The random numbers of a job's tasks, and times in ticks.
//!
//! A draw is a function of (seed, replication, stage, task, attempt, phase): it does not depend on the slot or the time at which the task starts. So
//! two configurations or two policies give the same task the same time, and their difference is sharp.

use crate::job::{Delay, Varies};
use crate::rng::{Address, FRACTION_BITS, Purpose, exponential, uniform};

/// Maximum number of stages with separate draws.
pub(crate) const MOST_STAGES: u32 = 1 << STAGE_BITS;
/// Maximum number of attempts of a task.
pub(crate) const MOST_ATTEMPTS: u32 = 1 << (32 - STAGE_BITS - PHASE_BITS);
/// Maximum number of phases of a task.
pub const MOST_PHASES: usize = 6;

const STAGE_BITS: u32 = 18;
const PHASE_BITS: u32 = 3;
/// The phase number of the draw that decides whether an attempt is slow; phases have lower numbers.
const SLOW: u32 = (1 << PHASE_BITS) - 1;

/// Number of Erlang stages of the driver's times.
pub(crate) const DRIVER_STAGES: u32 = 4;

/// Bits of the longest mean of a job in ticks.
const TICK_BITS: i32 = 34;

/// The draws of one replication.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draws {
    /// The key of the seed.
    pub(crate) key: [u32; 2],
    /// The replication.
    pub(crate) replication: u64,
}

/// The attempts with the same number of four consecutive tasks of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Four {
    /// The stage, below [`MOST_STAGES`].
    pub(crate) stage: u32,
    /// Number of earlier attempts of these tasks, below [`MOST_ATTEMPTS`].
    pub(crate) attempt: u32,
    /// The number of the first task, divided by four.
    pub(crate) block: u32,
}

impl Four {
    #[inline]
    fn address(self, phase: u32) -> Address {
        let owner = self.stage | phase << STAGE_BITS | self.attempt << (STAGE_BITS + PHASE_BITS);
        Address { purpose: Purpose::Task, owner, sample: self.block }
    }
}

impl Draws {
    /// Returns a word for a phase of each of four attempts.
    #[inline]
    pub(crate) fn phase(self, of: Four, phase: usize) -> [u32; 4] {
        debug_assert!(of.stage < MOST_STAGES && of.attempt < MOST_ATTEMPTS && phase < MOST_PHASES);
        // `as` is fine: below the number of phases
        self.words(of, phase as u32)
    }

    /// Returns a uniform number for each of four attempts, which decides whether the attempt is slow.
    #[inline]
    pub(crate) fn slow(self, of: Four) -> [f64; 4] {
        self.words(of, SLOW).map(uniform)
    }

    /// Fills `found` with words for a phase of the attempts of these four tasks, and of the tasks after them.
    pub(crate) fn phases(self, of: Four, phase: usize, found: &mut [[u32; 4]]) {
        // `as` is fine: below the number of phases
        of.address(phase as u32).consecutive_words(self.key, self.replication, found);
    }

    /// Fills `found` with the words that decide which attempts of these four tasks, and of the tasks after them, are slow.
    pub(crate) fn slows(self, of: Four, found: &mut [[u32; 4]]) {
        of.address(SLOW).consecutive_words(self.key, self.replication, found);
    }

    #[inline]
    fn words(self, of: Four, phase: u32) -> [u32; 4] {
        of.address(phase).words(self.key, self.replication)
    }

    /// Returns the time before a stage, or after the last one \[s\].
    pub(crate) fn delay_s(self, stage: usize, delay: &Delay) -> f64 {
        let words = || self.delay_words(stage, 0);
        delay.mean_s
            * match &delay.varies {
                Varies::Not => 1.0,
                Varies::Driver => {
                    let sum: f64 = words().iter().map(|&word| f64::from(exponential(word))).sum();
                    sum / (f64::from(1_u32 << FRACTION_BITS) * f64::from(DRIVER_STAGES))
                }
                Varies::Law(law) => law.draw(words()[0]),
            }
    }

    /// Returns a part of the time before a stage, one of `parts` with equal means \[s\].
    pub(crate) fn part_s(self, stage: usize, delay: &Delay, part: u32, parts: u32) -> f64 {
        let mean_s = delay.mean_s / f64::from(parts.max(1));
        match &delay.varies {
            Varies::Law(law) => mean_s * law.draw(self.delay_words(stage, 1 + part / 4)[part as usize % 4]),
            Varies::Not | Varies::Driver => self.delay_s(stage, &Delay { mean_s, ..delay.clone() }),
        }
    }

    fn delay_words(self, stage: usize, sample: u32) -> [u32; 4] {
        // `as` is fine: below the number of stages
        let address = Address { purpose: Purpose::Setup, owner: stage as u32, sample };
        address.words(self.key, self.replication)
    }

    /// Returns a uniform number for the rest of the `task`-th running task of a resumed job's stage, or for the rest of the
    /// driver's time before the stage.
    pub(crate) fn left(self, stage: usize, task: Option<usize>) -> f64 {
        let sample = task.map_or(u32::MAX, |task| task as u32 / 4);
        // `as` is fine: below the numbers of stages and tasks
        let address = Address { purpose: Purpose::Left, owner: stage as u32, sample };
        uniform(address.words(self.key, self.replication)[task.unwrap_or(0) % 4])
    }
}

/// The unit of a job's times: a power of two of a second, so that ticks become seconds without rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tick {
    per_s: f64,
}

impl Tick {
    /// Returns the tick of a job in which the longest mean time is `longest_s` seconds: 2^33 to 2^34 ticks.
    pub(crate) fn of(longest_s: f64) -> Self {
        let longest_s = if longest_s > 0.0 && longest_s.is_finite() { longest_s } else { 1.0 };
        let (_, exponent) = libm::frexp(longest_s);
        Self { per_s: libm::ldexp(1.0, TICK_BITS - exponent) }
    }

    /// Returns the number of ticks of a second.
    pub(crate) fn per_s(self) -> f64 {
        self.per_s
    }

    /// Returns the nearest number of ticks.
    pub(crate) fn round(self, seconds: f64) -> u64 {
        whole(seconds * self.per_s)
    }

    /// Returns a time in seconds; exact below 2^53 ticks.
    pub(crate) fn seconds(self, ticks: u64) -> f64 {
        ticks as f64 / self.per_s
    }
}

/// Rounds a number of ticks; at most 2^64 - 1.
#[inline]
pub(crate) fn whole(ticks: f64) -> u64 {
    // `as` is fine: it rounds down, and saturates
    (ticks + 0.5) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_phase_attempt_task_and_stage_has_its_own_words() {
        let draws = Draws { key: [1, 2], replication: 7 };
        let mut seen = std::collections::BTreeSet::new();
        for stage in [0, 1, MOST_STAGES - 1] {
            for attempt in [0, 1, MOST_ATTEMPTS - 1] {
                for block in [0, 1, 250_000] {
                    let of = Four { stage, attempt, block };
                    assert!(
                        (0..MOST_PHASES)
                            .all(|phase| seen.insert(draws.phase(of, phase).map(uniform).map(f64::to_bits)))
                    );
                    assert!(seen.insert(draws.slow(of).map(f64::to_bits)));
                }
            }
        }
    }

    #[test]
    fn the_longest_mean_has_34_bits() {
        for longest_s in [1e-9, 0.3, 1.0, 1.5, 2.0, 86_400.0, 1e9] {
            let ticks = Tick::of(longest_s).round(longest_s);
            assert!((1 << 33..1 << 34).contains(&ticks), "{longest_s}: {ticks}");
            assert!((Tick::of(longest_s).seconds(ticks) / longest_s - 1.0).abs() < 1e-10);
        }
        assert_eq!(Tick::of(0.0), Tick::of(1.0));
        assert_eq!(whole(1e300), u64::MAX);
    }
}
