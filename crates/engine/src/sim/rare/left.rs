//! The expected remaining time to the goal, as a function of the marking and of the ages of clocks.
//!
//! The function only determines the levels: an error makes the estimate of the probability less precise, but not biased.

use crate::compile::Code;
use crate::sim::clock::Clock;
use crate::sim::race::Stay;

/// The approximate remaining time.
#[derive(Debug)]
pub(super) struct Left {
    /// Remaining time in a marking whose clocks have just started \[s\].
    pub(super) marking: Code,
    /// Per transition with ages: change of the remaining time per second of age of each clock; empty without ages.
    pub(super) ages: Vec<f64>,
}

impl Left {
    /// The remaining time \[s\] at a tick of a stay, and its change per second of elapsed time.
    pub(super) fn at(&self, stay: &Stay<'_>, tick: u64, clock: Clock) -> [f64; 2] {
        let mut found = [self.marking.eval(stay.marking), 0.0];
        for (factor, [running, age]) in self.ages.iter().zip(stay.total_ages(tick)) {
            found[0] += factor * age * clock.tick();
            found[1] += factor * running;
        }
        found
    }

    /// The tick at which elapsed and remaining time reach `level` seconds together, if the marking does not change; at
    /// most 2^62.
    pub(super) fn reaches(&self, level: f64, stay: &Stay<'_>, clock: Clock) -> u64 {
        let [left, growth] = self.at(stay, stay.from, clock);
        // the remaining time as a line through time 0
        let missing = level - (left - growth * clock.seconds(stay.from));
        match growth > FLAT {
            true => clock.ticks(missing / (1.0 + growth)),
            false if clock.seconds(stay.from) + left >= level => stay.from,
            false => clock.ticks(f64::INFINITY),
        }
    }
}

/// Change of the remaining time per second at and below which the sum of elapsed and remaining time does not grow.
const FLAT: f64 = -0.999;
