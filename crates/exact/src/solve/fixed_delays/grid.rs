//! The grid of times. All fixed delays are multiples of its step. If the rates are high, the step is divided further.

use crate::estimate::PoissonWindow;
use crate::solve::fixed_delays::{Fixed, FixedDelayError};

/// A grid of times. A fixed delay that starts at a grid point ends at a grid point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeGrid {
    /// Length of an interval \[s\]. All fixed delays are multiples of it, up to a relative error of 1e-12.
    pub step: f64,
    /// Number of intervals computed so far.
    pub intervals: u64,
}

/// Maximum mean number of jumps in an interval. With more jumps, the terms of an interval grow, and so do rounding
/// errors.
const MOST_JUMPS: f64 = 4.0;
/// Largest number of steps in the longest fixed delay.
const MOST_STEPS: f64 = 1e6;
/// Largest relative deviation of a delay from a multiple of the step. The decimal numbers of a net are rounded to binary
/// numbers, so multiples are never exact.
const DEVIATION: f64 = 1e-12;
/// Remainders below this share of the longest delay count as 0.
const NO_REMAINDER: f64 = 1e-10;

/// Returns the length of an interval \[s\] for these delays; `rate` is the largest rate of leaving a state.
pub(super) fn step(delays: &[Fixed], rate: f64, name: impl Fn(&Fixed) -> String) -> Result<f64, FixedDelayError> {
    let values = || delays.iter().flat_map(|delay| &delay.values).map(|&(value, _)| value);
    if let Some(delay) = delays.iter().find(|delay| delay.values.iter().any(|&(value, _)| value <= 0.0)) {
        return Err(FixedDelayError::Zero { transition: name(delay) });
    }
    let (shortest, longest) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let step = common(values(), longest).ok_or(FixedDelayError::NoCommonStep { shortest, longest })?;
    Ok(step / (rate * step / MOST_JUMPS).ceil().max(1.0))
}

/// Returns the largest number that divides all values; none if it is too small.
fn common(values: impl Iterator<Item = f64> + Clone, longest: f64) -> Option<f64> {
    let divisor = values.clone().fold(0.0, |found, value| {
        let (mut a, mut b) = (value, found);
        // Euclid's algorithm, with the remainder of smallest absolute value
        while b > NO_REMAINDER * longest {
            (a, b) = (b, (a - (a / b).round() * b).abs());
        }
        a
    });
    let steps = (longest / divisor).round();
    let step = longest / steps;
    let is_multiple = |value: f64| (value - multiple(value, step) * step).abs() <= DEVIATION * value;
    (steps <= MOST_STEPS && values.clone().all(is_multiple)).then_some(step)
}

/// Returns the number of steps in a time, rounded to a whole number.
pub(super) fn multiple(time: f64, step: f64) -> f64 {
    (time / step).round()
}

/// A time closer to a grid point than this share of a step counts as this grid point.
const SAME_TIME: f64 = 1e-9;

/// Returns the interval of a time, and the time since the start of this interval \[s\].
pub(super) fn place(time: f64, step: f64) -> (u64, f64) {
    let (steps, whole) = (time / step, multiple(time, step));
    if (steps - whole).abs() <= SAME_TIME {
        return (whole as u64, 0.0);
    }
    (steps.floor() as u64, (steps - steps.floor()) * step)
}

/// Probability omitted at the end of each Poisson distribution: far below rounding errors.
pub(super) const OMITTED: f64 = 1e-18;
/// Omitted probability if small probabilities should be right, too.
pub(super) const OMITTED_SHARE: f64 = 1e-280;
/// Maximum mean number of jumps for which small probabilities are right, too.
pub(super) const MOST_RELATIVE_JUMPS: f64 = 1e5;

/// Returns the Poisson probabilities without a negligible remainder. What takes up to `jumps` jumps is right relative to its
/// own probability, however small that is.
pub(super) fn window(mean: f64, jumps: usize) -> PoissonWindow {
    let short = PoissonWindow::new(mean, OMITTED);
    if mean > MOST_RELATIVE_JUMPS {
        return short;
    }
    let mut window = PoissonWindow::new(mean, OMITTED_SHARE);
    // after the jumps that are needed, no more jumps matter than without them
    window.weights.truncate((short.last() + 1).saturating_add(jumps) - window.first);
    window
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_numbers_of_jumps_keep_their_digits() {
        for (mean, jumps) in [(1e-9, 4), (1e-3, 6), (0.5, 30), (300.0, 0)] {
            let found = window(mean, jumps);
            for n in (0..=jumps).map(|n| n as f64) {
                let ln = n * f64::ln(mean) - mean - (1..=n as u32).map(|i| f64::from(i).ln()).sum::<f64>();
                assert!((found.weight(n as usize) / ln.exp() - 1.0).abs() < 1e-12, "{mean} {n}");
            }
        }
        assert!(window(4.0, 0).weights.len() < 40 && window(1e6, 0).first > 0);
    }

    #[test]
    fn the_step_divides_all_delays() {
        let common = |values: &[f64]| common(values.iter().copied(), values.iter().copied().fold(0.0, f64::max));
        for (values, expected) in [
            (vec![2.0], 2.0),
            (vec![0.1, 0.3, 0.7], 0.1),
            (vec![1.0, 1.5, 0.35], 0.05),
            (vec![123.457, 0.002], 0.001),
            (vec![1.0 / 3.0, 0.5], 1.0 / 6.0),
        ] {
            let found = common(&values).unwrap();
            assert!((found - expected).abs() < 1e-9 * expected, "{values:?}: {found}");
        }
        assert_eq!(common(&[1.0, f64::sqrt(2.0)]), None);
        assert_eq!(common(&[1.0, 1e-7]), None);
    }
}
