//! The gamma distribution with scale 1: its tails, and its quantile in either tail.
//!
//! Only `+ - * /` and `libm`, so that the bits are the same on every machine.

use crate::estimate::normal_quantile;

/// Maximum number of terms; near the mean, a shape of 10,000 needs about 800.
const TERMS: u32 = 100_000;

/// Returns the probabilities that a gamma variate with scale 1 is at most `x`, and that it exceeds `x` >= 0.
///
/// Relative error of the smaller one: below 1e-13 for shapes up to 100, below 1e-10 for shapes up to 10,000. For a whole `shape`, the sum
/// of as many exponential variates has this distribution.
///
/// ```
/// # use tailspn_engine::estimate::gamma_tails;
/// let [below, above] = gamma_tails(1.0, 2.0); // shape 1 is the exponential distribution
/// assert!((above - (-2.0_f64).exp()).abs() < 1e-15 && (below + above - 1.0).abs() < 1e-15);
/// ```
pub fn gamma_tails(shape: f64, x: f64) -> [f64; 2] {
    if x == f64::INFINITY {
        return [1.0, 0.0];
    }
    let [below, above] = logarithms(shape, libm::log(x));
    [libm::exp(below), libm::exp(above)]
}

/// Returns the natural logarithm of the value that a gamma variate with scale 1 falls below with probability `tail` in (0, 1), or above if
/// `is_above`. The value itself may be below the smallest number, for small shapes.
///
/// Newton's method on logarithms; the error is that of [`gamma_tails`].
///
/// ```
/// # use tailspn_engine::estimate::gamma_log_quantile;
/// let x = gamma_log_quantile(1.0, 1e-12, true).exp();
/// assert!((x - 1e12_f64.ln()).abs() < 1e-12 * x);
/// ```
pub fn gamma_log_quantile(shape: f64, tail: f64, is_above: bool) -> f64 {
    const STEPS: u32 = 200;
    /// Longest step, so that no step leaves the range of numbers.
    const LONGEST: f64 = 2.0;
    const CLOSE: f64 = 1e-14;
    let goal = libm::log(tail);
    let side = usize::from(is_above);
    let mut log_x = start(shape, tail, is_above);
    for _ in 0..STEPS {
        let found = logarithms(shape, log_x)[side];
        // the slope of the logarithm of the tail, by the logarithm of x
        let slope = libm::exp(shape * log_x - libm::exp(log_x) - libm::lgamma(shape) - found);
        let step = (goal - found) / if is_above { -slope } else { slope };
        let step = if step.is_finite() { step.clamp(-LONGEST, LONGEST) } else { -LONGEST };
        log_x += step;
        if step.abs() <= CLOSE * log_x.abs().max(1.0) {
            break;
        }
    }
    log_x
}

/// A start near the quantile: the approximation of Wilson and Hilferty (1931), or, far below the mean, the bound from P <= x^k / Γ(k + 1).
fn start(shape: f64, tail: f64, is_above: bool) -> f64 {
    let (p, z) = if is_above { (1.0 - tail, -normal_quantile(tail)) } else { (tail, normal_quantile(tail)) };
    let cubed = 1.0 - 1.0 / (9.0 * shape) + z / (3.0 * libm::sqrt(shape));
    let near = if cubed > 0.0 { libm::log(shape * cubed * cubed * cubed) } else { f64::NEG_INFINITY };
    near.max((libm::log(p) + libm::lgamma(shape + 1.0)) / shape)
}

/// Returns the logarithms of both tails at `exp(log_x)`.
fn logarithms(shape: f64, log_x: f64) -> [f64; 2] {
    let x = libm::exp(log_x);
    if x < shape + 1.0 {
        let below = shape * log_x - x - libm::lgamma(shape + 1.0) + libm::log(series(shape, x));
        [below, complement(below)]
    } else {
        let above = shape * log_x - x - libm::lgamma(shape) - libm::log(fraction(shape, x));
        [complement(above), above]
    }
}

/// `ln(1 - e^a)` for `a` <= 0, up to rounding.
fn complement(a: f64) -> f64 {
    libm::log(-libm::expm1(a.min(0.0)))
}

/// Σ xⁿ / ((k + 1) ... (k + n)), for x below k + 1.
fn series(shape: f64, x: f64) -> f64 {
    let (mut sum, mut term, mut divisor) = (1.0, 1.0, shape);
    for _ in 0..TERMS {
        divisor += 1.0;
        term *= x / divisor;
        sum += term;
        if term <= f64::EPSILON * 0.1 * sum {
            break;
        }
    }
    sum
}

/// x^k e^-x / (Γ(k) Q), the continued fraction of Legendre by the method of Lentz, for x from k + 1.
fn fraction(shape: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - shape;
    let (mut value, mut c, mut d) = (b, b, 0.0);
    for i in 1..TERMS {
        let i = f64::from(i);
        let a = -i * (i - shape);
        b += 2.0;
        d = b + a * d;
        if d == 0.0 {
            d = TINY;
        }
        c = b + a / c;
        if c == 0.0 {
            c = TINY;
        }
        d = 1.0 / d;
        let factor = c * d;
        value *= factor;
        if (factor - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A whole shape k is a sum of k exponential stages: P(X > x) = Σ xⁱ e⁻ˣ / i! over i < k. A half is a square of a normal variate: P(X > x) = erfc(√x).
    #[test]
    fn tails_are_those_of_erlang_and_normal_variates() {
        for x in [1e-6, 0.01, 0.3, 1.0, 2.5, 7.0, 30.0, 200.0] {
            for stages in [1_u32, 2, 5, 20, 90] {
                let terms = |from: u32, to: u32| {
                    (from..to).map(|i| libm::exp(f64::from(i) * libm::log(x) - x - libm::lgamma(f64::from(i) + 1.0)))
                };
                let [below, above] = gamma_tails(f64::from(stages), x);
                let exact = [terms(stages, stages + 800).sum::<f64>(), terms(0, stages).sum()];
                // the smallest ones underflow
                assert!(
                    (below - exact[0]).abs() <= 1e-12 * exact[0] + f64::MIN_POSITIVE,
                    "{stages} {x}: {below} {}",
                    exact[0]
                );
                assert!(
                    (above - exact[1]).abs() <= 1e-12 * exact[1] + f64::MIN_POSITIVE,
                    "{stages} {x}: {above} {}",
                    exact[1]
                );
            }
            let [below, above] = gamma_tails(0.5, x);
            assert!((below / libm::erf(x.sqrt()) - 1.0).abs() < 1e-13, "{x}");
            assert!((above / libm::erfc(x.sqrt()) - 1.0).abs() < 1e-13, "{x}");
        }
        assert_eq!((gamma_tails(0.3, 0.0), gamma_tails(0.3, f64::INFINITY)), ([0.0, 1.0], [1.0, 0.0]));
    }

    #[test]
    fn quantiles_have_their_tails() {
        for shape in [0.01, 0.1, 0.5, 1.0, 3.7, 60.0, 10_000.0] {
            for tail in [1e-19, 1e-9, 1e-3, 0.2, 0.5, 0.8, 0.999] {
                for is_above in [false, true] {
                    let log_x = gamma_log_quantile(shape, tail, is_above);
                    let found = libm::exp(logarithms(shape, log_x)[usize::from(is_above)]);
                    assert!((found / tail - 1.0).abs() < 1e-9, "{shape} {tail} {is_above}: {found}");
                }
            }
        }
        // below the smallest positive number: 1e-19 = x^k / Γ(k + 1)
        let log_x = gamma_log_quantile(0.01, 1e-19, false);
        assert!((0.01 * log_x - libm::lgamma(1.01) - libm::log(1e-19)).abs() < 1e-12, "{log_x}");
    }
}
