//! Fits the remaining time to the goal, a linear function of the marking and of the ages of clocks, by least squares over a
//! few walks.

use std::cell::RefCell;

use tailspn_common::least_squares::Normal;

use crate::compile::{Code, Op, Program};
use crate::net::expr::BinaryOp;
use crate::semantics::Fault;
use crate::sim::clock::Clock;
use crate::sim::race::{Start, Stay, Stop, WalkForm};
use crate::sim::rare::left::Left;
use crate::sim::rare::levels::{LEVEL_BITS, PILOT, Walks};

/// Number of walks.
const WALKS: u32 = 400;
/// Maximum number of markings of a walk that are used.
const MARKINGS: usize = 64;
/// Maximum number of counters and of transitions with ages together. The work grows with the square of this number.
const MOST_COUNTERS: usize = 64;
/// Share of the diagonal that is added to the diagonal of the normal equations, so that counters that always change together share one factor.
const RIDGE: f64 = 1e-6;
/// The number of the level in the addresses of random words: beyond the levels of the pilot.
const LEVEL: u32 = (1 << LEVEL_BITS) - 1;

/// Moments of a walk at regular numbers of firings.
#[derive(Debug, Default)]
struct Trail {
    seen: Vec<Moment>,
    /// Interval between stored moments.
    stride: usize,
    count: usize,
    /// Number of moments of all walks.
    total: usize,
}

/// A moment of a walk.
#[derive(Debug)]
struct Moment {
    /// The constant 1, the tokens, and the sums of ages \[s\].
    row: Vec<f64>,
    tick: u64,
    /// The time that the moment represents \[s\]; 1 without ages.
    weight: f64,
}

impl Moment {
    /// The moment at which a walk leaves a marking. If there are ages, it is a moment within the stay instead, because at
    /// the end of a stay, a clock is about to run out.
    fn of(stay: &Stay<'_>, number: usize, has_ages: bool, clock: Clock) -> Self {
        let (mut tick, mut weight) = (stay.to, 1.0);
        if has_ages {
            let length = stay.to - stay.from;
            tick = stay.from + (length as f64 * (number as f64 * GOLDEN).fract()) as u64;
            weight = clock.seconds(length);
        }
        let tokens = stay.marking.iter().map(|n| f64::from(*n));
        let ages = stay.total_ages(tick).map(|[_, age]| age * clock.tick());
        Self { row: [1.0].into_iter().chain(tokens).chain(ages).collect(), tick, weight }
    }
}

/// Fractional part of the golden ratio: its multiples are spread evenly between whole numbers.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

impl Trail {
    fn begin(&mut self) {
        self.seen.clear();
        (self.stride, self.count) = (1, 0);
    }

    /// Stores some moments of the walk, which `moment` returns for their numbers among those of all walks.
    fn pass(&mut self, moment: impl FnOnce(usize) -> Moment) {
        if self.count.is_multiple_of(self.stride) {
            if self.seen.len() == MARKINGS {
                let mut number = 0;
                self.seen.retain(|_| {
                    number += 1;
                    number % 2 == 1
                });
                self.stride *= 2;
            }
            if self.count.is_multiple_of(self.stride) {
                self.seen.push(moment(self.total));
                self.total += 1;
            }
        }
        self.count += 1;
    }
}

/// Fits the remaining time \[s\] to walks that `form` runs to the goal; none for nets with many counters and ages, or
/// if no walk reaches the goal.
pub(super) fn fitted(form: &WalkForm<'_>, program: &Program, clock: Clock) -> Result<Option<Left>, Fault> {
    let (counters, crowds) = (program.initial.len(), form.crowds());
    if counters + crowds > MOST_COUNTERS {
        return Ok(None);
    }
    let mut sums = Normal::new(counters + crowds + 1);
    let walks = Walks { form, number: PILOT, level: LEVEL, effort: WALKS };
    let trail = RefCell::new(Trail::default());
    trail.borrow_mut().begin();
    let limit = |stay: &Stay<'_>| {
        trail.borrow_mut().pass(|number| Moment::of(stay, number, crowds > 0, clock));
        form.last_tick()
    };
    walks.each(&[Start::initial(program)], limit, |walker, stop| {
        let mut trail = trail.borrow_mut();
        if matches!(stop, Stop::Goal | Stop::Dead) {
            for moment in &trail.seen {
                sums.add(&moment.row, (walker.now() - moment.tick) as f64 * clock.tick(), moment.weight);
            }
        }
        trail.begin();
    })?;
    Ok(sums.solved(RIDGE).map(|factors| {
        let (marking, ages) = factors.split_at(counters + 1);
        Left { marking: linear(marking), ages: ages.to_vec() }
    }))
}

/// The sum of a constant and of counters times factors, as a code.
fn linear(factors: &[f64]) -> Code {
    let mut ops = vec![Op::Number(factors[0])];
    for (counter, factor) in (0..).zip(&factors[1..]).filter(|(_, factor)| **factor != 0.0) {
        let times = Op::Binary(BinaryOp::Multiply);
        ops.extend([Op::Tokens(counter), Op::Number(*factor), times, Op::Binary(BinaryOp::Add)]);
    }
    Code::new(ops)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_become_code() {
        let code = linear(&[3.0, -2.0, 0.5, 0.0]);
        assert!((code.eval(&[1, 2, 9]) - 2.0).abs() < 1e-12);
    }
}
