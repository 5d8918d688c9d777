//! One firing of every lane, as loops of fixed length over lanes without branches, which the compiler vectorises.

use crate::rng::{event_block, exponential};
use crate::sim::clock::NEVER;
use crate::sim::race::lockstep::asked::{Aim, LaneQuestion};
use crate::sim::race::lockstep::guard::Guard;
use crate::sim::race::lockstep::lanes::{LANES, Lane, Values};
use crate::sim::race::lockstep::ledger::Ledger;
use crate::sim::race::lockstep::net::{Net, Transition, Units};
use crate::sim::race::lockstep::sum::Sum;
use crate::simd::Level;

/// Status of a lane.
pub(super) mod status {
    /// The lane continues to fire.
    pub(in crate::sim::race) const RUNNING: u32 = 0;
    /// The marking is the goal.
    pub(in crate::sim::race) const GOAL: u32 = 1;
    /// Nothing is enabled.
    pub(in crate::sim::race) const DEAD: u32 = 2;
    /// The next firing is past the last tick.
    pub(in crate::sim::race) const LATE: u32 = 3;
    /// The limit of firings is reached.
    pub(in crate::sim::race) const SPENT: u32 = 4;
    /// The total rate does not fit 32 bits, or too many immediate transitions fire in a row.
    pub(in crate::sim::race) const WIDE: u32 = 5;
    /// No replication is left for the lane.
    pub(in crate::sim::race) const IDLE: u32 = 6;
}
use status::{DEAD, GOAL, LATE, RUNNING, SPENT, WIDE};

/// Data that does not change while lanes fire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) key: [u32; 2],
    /// See [`DirectLaw`](crate::sim::race::direct_law::DirectLaw).
    pub(super) base: i32,
    pub(super) last_tick: u64,
    pub(super) max_firings: u64,
    /// Vector level, for loops that are compiled separately from the kernel.
    pub(super) level: Level,
}

/// The state of all lanes.
#[derive(Debug)]
pub(super) struct State<S> {
    pub(super) marking: Vec<Lane<u32>>,
    sums: Vec<Lane<S>>,
    pub(super) now: Lane<u64>,
    pub(super) firings: Lane<u64>,
    pub(super) replication: Lane<u64>,
    pub(super) pair: Lane<u32>,
    pub(super) status: Lane<u32>,
    /// For two firings: the unit exponential variate, and the word that selects the transition.
    words: [Lane<u32>; 4],
    /// Per group of immediate transitions: number of choices drawn so far.
    pub(super) choices: Vec<Lane<u32>>,
    pub(super) ledger: Ledger,
    values: Values,
}

impl Guard {
    /// Sets all bits of the lanes in which the marking satisfies the bounds.
    #[inline(always)]
    pub(super) fn enabled(&self, marking: &[Lane<u32>]) -> Lane<u32> {
        let mut enabled = Lane::of(u32::MAX);
        for bound in &self.least {
            let tokens = &marking[bound.counter as usize];
            for l in 0..LANES {
                enabled[l] = if tokens[l] >= bound.tokens { enabled[l] } else { 0 };
            }
        }
        for bound in &self.most {
            let tokens = &marking[bound.counter as usize];
            for l in 0..LANES {
                enabled[l] = if tokens[l] <= bound.tokens { enabled[l] } else { 0 };
            }
        }
        enabled
    }

    /// Returns true if the marking of one lane satisfies the bounds.
    #[inline(always)]
    pub(super) fn holds(&self, marking: &[Lane<u32>], lane: usize) -> bool {
        self.least.iter().all(|bound| marking[bound.counter as usize][lane] >= bound.tokens)
            && self.most.iter().all(|bound| marking[bound.counter as usize][lane] <= bound.tokens)
    }
}

impl<S: Sum> State<S> {
    pub(super) fn new(net: &Net) -> Self {
        Self {
            marking: vec![Lane::of(0); net.initial.len()],
            sums: vec![Lane::of(S::ZERO); net.transitions.len()],
            now: Lane::of(0),
            firings: Lane::of(0),
            replication: Lane::of(0),
            pair: Lane::of(0),
            status: Lane::of(status::IDLE),
            words: [Lane::of(0); 4],
            choices: vec![Lane::of(0); net.immediates.groups.len()],
            ledger: Ledger::new(&net.asked),
            values: Values::for_all(net.codes()),
        }
    }

    /// Fires twice in every running lane.
    #[inline(always)]
    pub(super) fn fire_twice(&mut self, net: &Net, limits: &Limits) {
        self.draw(limits.key);
        let [time, selector, time_2, selector_2] = self.words;
        self.fire(net, limits, &time, &selector);
        self.fire(net, limits, &time_2, &selector_2);
    }

    #[inline(always)]
    fn draw(&mut self, key: [u32; 2]) {
        let [a, b, c, d] = &mut self.words;
        for l in 0..LANES {
            let words = event_block(key, self.replication[l], self.pair[l]);
            a[l] = words[0];
            b[l] = words[1];
            c[l] = words[2];
            d[l] = words[3];
            self.pair[l] += 1;
        }
        // separate loops, because their chains of operations are long and the CPU overlaps more iterations of a short loop
        for times in [a, c] {
            for l in 0..LANES {
                times[l] = exponential(times[l]);
            }
        }
    }

    #[inline(always)]
    fn fire(&mut self, net: &Net, limits: &Limits, time: &Lane<u32>, selector: &Lane<u32>) {
        self.settle(net, limits);
        let total = self.sum_units(net, limits.level);
        if net.asked.watches_time() {
            let before = self.now;
            self.pass(limits, &total, time);
            self.watch_time(&net.asked, limits.level, &before);
        } else {
            self.pass(limits, &total, time);
        }
        let chosen = self.select(&total, selector);
        self.ledger.note(net.asked.warm_up, &chosen, &self.now);
        self.reward(&net.asked, limits.level, &chosen);
        for changes in &net.changes {
            let tokens = &mut self.marking[changes.counter as usize];
            for &(place, by) in &changes.by {
                for l in 0..LANES {
                    let by = if chosen[l] == place { by.cast_unsigned() } else { 0 };
                    tokens[l] = tokens[l].wrapping_add(by);
                }
            }
        }
        self.look_for_goal(&net.asked, limits.level);
    }

    /// Running sums of units, and the total.
    #[inline(always)]
    fn sum_units(&mut self, net: &Net, level: Level) -> Lane<S> {
        let most = S::of(net.most_units);
        let mut sum = Lane::of(S::ZERO);
        let mut wide = Lane::of(RUNNING);
        for (transition, sums) in net.transitions.iter().zip(&mut self.sums) {
            let enabled = transition.guard.enabled(&self.marking);
            match transition.units {
                Units::Plain(units) => {
                    for l in 0..LANES {
                        sum[l] = sum[l].plus(S::of(u64::from(enabled[l] & units)));
                    }
                }
                Units::Served(each) => {
                    let degree = served(transition, &self.marking, &enabled);
                    let fits = u32::try_from(net.most_units / u64::from(each.max(1))).unwrap_or(u32::MAX);
                    let mut units = Lane::of(S::ZERO);
                    for l in 0..LANES {
                        units[l] = if degree[l] > fits { S::MAX } else { S::product(each, degree[l]) };
                    }
                    add(&mut sum, &mut wide, &units, most);
                }
                Units::PerToken { rate, counter } => {
                    let tokens = &self.marking[counter as usize];
                    let mut units = Lane::of(S::ZERO);
                    for l in 0..LANES {
                        let rounded = S::round(rate * f64::from(tokens[l]) * net.scale);
                        units[l] = if enabled[l] == 0 { S::ZERO } else { rounded };
                    }
                    add(&mut sum, &mut wide, &units, most);
                }
                Units::ByMarking(ref rate) => {
                    let degree = served(transition, &self.marking, &enabled);
                    let rate = self.values.of(rate, &self.marking, level);
                    let mut units = Lane::of(S::ZERO);
                    for l in 0..LANES {
                        let is_rate = rate[l] >= 0.0 && rate[l] < f64::INFINITY;
                        let rounded = S::round(rate[l] * f64::from(degree[l]) * net.scale);
                        let rounded = if is_rate { rounded } else { S::MAX };
                        units[l] = if degree[l] == 0 { S::ZERO } else { rounded };
                    }
                    add(&mut sum, &mut wide, &units, most);
                }
            }
            *sums = sum;
        }
        for l in 0..LANES {
            self.status[l] = if self.status[l] == RUNNING { wide[l] } else { self.status[l] };
        }
        sum
    }

    /// Advances time to the next firing, as computed by
    /// [`DirectLaw::delay`](crate::sim::race::direct_law::DirectLaw::delay), and stops the lanes that do not
    /// reach this firing. `time` has the unit exponential variates.
    #[inline(always)]
    fn pass(&mut self, limits: &Limits, total: &Lane<S>, time: &Lane<u32>) {
        for l in 0..LANES {
            let running = self.status[l] == RUNNING;
            let (bits, normal) = total[l].normal();
            let mantissa = u64::from(reciprocal(normal));
            let shift = (limits.base + bits).cast_unsigned();
            let shifted = (u64::from(time[l]) * mantissa) >> (shift & 63);
            let beyond = if shift.cast_signed() < 0 { NEVER } else { 0 };
            let delay = if S::IS_WIDE && shift > 63 { beyond } else { shifted.min(NEVER) };
            let next = self.now[l] + delay;
            let dead = total[l] == S::ZERO;
            let late = next > limits.last_tick;
            let spent = self.firings[l] >= limits.max_firings;
            let stopped = if dead {
                DEAD
            } else if late {
                LATE
            } else if spent {
                SPENT
            } else {
                RUNNING
            };
            let fires = running && stopped == RUNNING;
            self.status[l] = if running { stopped } else { self.status[l] };
            self.now[l] = if fires { next } else { self.now[l] };
            self.firings[l] += u64::from(fires);
        }
    }

    /// Index, among the timed transitions, of the transition that fires; none for lanes that do not run.
    #[inline(always)]
    fn select(&self, total: &Lane<S>, selector: &Lane<u32>) -> Lane<u32> {
        let mut selection = Lane::of(S::ZERO);
        for l in 0..LANES {
            selection[l] = total[l].share(selector[l]);
        }
        let mut chosen = Lane::of(0_u32);
        for sums in &self.sums {
            for l in 0..LANES {
                chosen[l] += u32::from(sums[l] <= selection[l]);
            }
        }
        for l in 0..LANES {
            chosen[l] = if self.status[l] == RUNNING { chosen[l] } else { u32::MAX };
        }
        chosen
    }

    /// Collects the quantities that depend on the time in a marking, for lanes in which time has passed since `before`.
    #[inline(always)]
    fn watch_time(&mut self, asked: &LaneQuestion, level: Level, before: &Lane<u64>) {
        if !asked.snapshots.is_empty() {
            let mut due = 0_u64;
            for l in 0..LANES {
                due |= u64::from(self.status[l] == RUNNING && self.ledger.due[l] < self.now[l]) << l;
            }
            while due != 0 {
                let lane = due.trailing_zeros() as usize;
                due &= due - 1;
                self.ledger.take(asked, &self.marking, lane, self.now[lane], false);
            }
        }
        let mut seconds = Lane::of(0.0);
        for l in 0..LANES {
            let counts = self.status[l] == RUNNING && self.now[l] > asked.warm_up;
            let ticks = self.now[l].saturating_sub(before[l].max(asked.warm_up));
            // a time below 0 means that nothing is collected
            seconds[l] = if counts { ticks as f64 * asked.tick } else { -1.0 };
        }
        for (reward, rate) in &asked.rates {
            let rate = self.values.of(rate, &self.marking, level);
            let sums = &mut self.ledger.rewards[*reward];
            for l in 0..LANES {
                sums[l] = if seconds[l] < 0.0 { sums[l] } else { sums[l] + rate[l] * seconds[l] };
            }
        }
    }

    /// Collects the rewards of the firings, evaluated in the marking before the firings.
    #[inline(always)]
    fn reward(&mut self, asked: &LaneQuestion, level: Level, chosen: &Lane<u32>) {
        for impulse in &asked.impulses {
            let value = self.values.of(&impulse.value, &self.marking, level);
            let sums = &mut self.ledger.rewards[impulse.reward];
            for l in 0..LANES {
                let fires = chosen[l] == impulse.row && self.now[l] >= asked.warm_up;
                sums[l] = if fires { sums[l] + value[l] } else { sums[l] };
            }
        }
    }

    #[inline(always)]
    fn look_for_goal(&mut self, asked: &LaneQuestion, level: Level) {
        let mut reached = Lane::of(GOAL);
        match &asked.aim {
            Aim::None => return,
            Aim::Tokens(bounds) => {
                for bound in bounds {
                    let tokens = &self.marking[bound.counter as usize];
                    for l in 0..LANES {
                        reached[l] = if tokens[l] >= bound.tokens { reached[l] } else { RUNNING };
                    }
                }
            }
            Aim::Expression(code) => {
                let value = self.values.of(code, &self.marking, level);
                for l in 0..LANES {
                    // the direct form reports a value that is not a number
                    let outcome = if value[l].is_finite() { GOAL } else { WIDE };
                    reached[l] = if value[l] == 0.0 { RUNNING } else { outcome };
                }
            }
        }
        for l in 0..LANES {
            self.status[l] = if self.status[l] == RUNNING { reached[l] } else { self.status[l] };
        }
    }
}

/// Returns the number of enablings of a transition that are served.
#[inline(always)]
fn served(transition: &Transition, marking: &[Lane<u32>], enabled: &Lane<u32>) -> Lane<u32> {
    let mut degree = Lane::of(transition.servers);
    for input in &transition.inputs {
        let tokens = &marking[input.counter as usize];
        if input.tokens == 1 {
            for l in 0..LANES {
                degree[l] = degree[l].min(tokens[l]);
            }
        } else {
            // floats, because vector units cannot divide integers; quotients of such integers are exact enough
            let weight = f64::from(input.tokens);
            for l in 0..LANES {
                degree[l] = degree[l].min((f64::from(tokens[l]) / weight) as u32);
            }
        }
    }
    for l in 0..LANES {
        degree[l] &= enabled[l];
    }
    degree
}

/// Adds units, and marks the lanes in which the sum exceeds `most`.
#[inline(always)]
fn add<S: Sum>(sum: &mut Lane<S>, wide: &mut Lane<u32>, units: &Lane<S>, most: S) {
    for l in 0..LANES {
        let next = sum[l].plus(units[l]);
        wide[l] = if next > most || next < sum[l] { WIDE } else { wide[l] };
        sum[l] = next;
    }
}

/// `floor((2^63 - 1) / n)` for `n` with its top bit set: the quotient in floats differs from it by at most one.
#[inline(always)]
fn reciprocal(n: u32) -> u32 {
    let guess = (9_223_372_036_854_775_808.0 / f64::from(n) - 2_147_483_648.0) as i32;
    let guess = guess.cast_unsigned() ^ (1 << 31);
    // a product of two 32-bit numbers, which vector units multiply fast
    // if the guess is too large, the difference wraps and is negative
    let rest = i64::MAX.wrapping_sub((u64::from(guess) * u64::from(n)).cast_signed());
    let guess = guess.wrapping_sub(u32::from(rest < 0));
    guess.wrapping_add(u32::from(rest >= i64::from(n)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reciprocal_equals_integer_division() {
        // the last numbers have quotients that are rounded up
        let ends =
            [1_u32 << 31, (1 << 31) + 1, u32::MAX, u32::MAX - 1, 3 << 30, 3_928_517_648, 3_438_949_506, 3_836_758_957];
        let middle = (0..1_000_000).map(|i: u32| (1 << 31) | i.wrapping_mul(2_654_435_761));
        for n in ends.into_iter().chain(middle) {
            assert_eq!(u64::from(reciprocal(n)), (u64::MAX >> 1) / u64::from(n), "{n}");
        }
    }
}
