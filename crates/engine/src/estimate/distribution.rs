//! The reference distributions of confidence intervals: normal, Student's t, beta and binomial.
//!
//! Implements quantiles and tails as plain numbers. It is independent of samples. All functions are
//! numerical approximations; each states its error, measured against 30-digit arithmetic.

use std::f64::consts::{PI, SQRT_2};

/// The value below which a standard normal draw falls with probability `p`.
///
/// Starts from Acklam's rational approximation (relative error 1.2e-9) and takes one step of Halley's
/// method on the complementary error function: relative error below 1e-12 for `p` in [1e-300, 1 − 1e-16].
/// Minus infinity at 0, infinity at 1, NaN outside. Source: \[Acklam2003\].
///
/// ```
/// # use tailspn_engine::estimate::normal_quantile;
/// assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-12);
/// ```
pub fn normal_quantile(p: f64) -> f64 {
    if p > 0.5 {
        return -lower_normal_quantile(1.0 - p);
    }
    lower_normal_quantile(p)
}

/// The probability that a standard normal draw is at most `x`, as exact as `libm::erfc`.
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x / SQRT_2)
}

/// [`normal_quantile`] for `p` up to one half.
fn lower_normal_quantile(p: f64) -> f64 {
    if p == 0.0 {
        return f64::NEG_INFINITY;
    }
    if p.is_nan() || p < 0.0 {
        return f64::NAN;
    }
    let start = acklam(p);
    if p < f64::MIN_POSITIVE {
        return start; // exp(x²/2) below would overflow
    }
    let excess = normal_cdf(start) - p;
    let step = excess * (2.0 * PI).sqrt() * libm::exp(0.5 * start * start);
    start - step / (1.0 + 0.5 * start * step)
}

/// Acklam's rational approximation of the normal quantile for 0 < `p` <= 1/2. Source: \[Acklam2003\].
fn acklam(p: f64) -> f64 {
    const CENTRE_NUMERATOR: [f64; 6] = [
        -3.969683028665376e+01,
        2.209460984245205e+02,
        -2.759285104469687e+02,
        1.38357751867269e+02,
        -3.066479806614716e+01,
        2.506628277459239e+00,
    ];
    const CENTRE_DENOMINATOR: [f64; 6] = [
        -5.447609879822406e+01,
        1.615858368580409e+02,
        -1.556989798598866e+02,
        6.680131188771972e+01,
        -1.328068155288572e+01,
        1.0,
    ];
    const TAIL_NUMERATOR: [f64; 6] = [
        -7.784894002430293e-03,
        -3.223964580411365e-01,
        -2.400758277161838e+00,
        -2.549732539343734e+00,
        4.374664141464968e+00,
        2.938163982698783e+00,
    ];
    const TAIL_DENOMINATOR: [f64; 5] =
        [7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00, 1.0];
    const TAIL_BELOW: f64 = 0.02425; // probability at which the two approximations meet

    if p < TAIL_BELOW {
        let q = (-2.0 * libm::log(p)).sqrt();
        polynomial(&TAIL_NUMERATOR, q) / polynomial(&TAIL_DENOMINATOR, q)
    } else {
        let q = p - 0.5;
        q * polynomial(&CENTRE_NUMERATOR, q * q) / polynomial(&CENTRE_DENOMINATOR, q * q)
    }
}

/// A polynomial at `x`, highest power first.
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

/// Maximum degrees of freedom for the numeric inversion; above, the series in 1/`df` is used.
const SERIES_ABOVE: f64 = 1e5;

/// The value below which a draw of Student's t with `df` degrees of freedom falls with probability `p`.
///
/// For `df` up to 1e5, inverts the incomplete beta function; above that, sums the first four terms of a series in
/// 1/`df`. Relative error below 1e-10 for `df` >= 1 and `p` in [1e-100, 1 − 1e-16], except within 1e-4 of p
/// = 1/2, where the absolute error is below 1e-14. `df` need not be an integer. Minus infinity at 0,
/// infinity at 1; NaN for `df` < 1 and for `p` outside [0, 1]. Sources: \[Student1908\], \[Abramowitz1964,
/// 26.7.5\].
///
/// ```
/// # use tailspn_engine::estimate::student_quantile;
/// // one degree of freedom is the Cauchy law: tan(π (p − 1/2))
/// assert!((student_quantile(0.75, 1.0) - 1.0).abs() < 1e-12);
/// ```
pub fn student_quantile(p: f64, df: f64) -> f64 {
    if df.is_nan() || df < 1.0 || !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    let tail = p.min(1.0 - p);
    let size = if tail == 0.0 {
        f64::INFINITY
    } else if tail >= 0.5 {
        0.0
    } else if df > SERIES_ABOVE {
        student_series(-normal_quantile(tail), df)
    } else {
        invert_student_tail(tail, df)
    };
    if p < 0.5 { -size } else { size }
}

/// Four terms of the expansion of Student's quantile at the normal quantile `z`. \[Abramowitz1964, 26.7.5\]
fn student_series(z: f64, df: f64) -> f64 {
    let z2 = z * z;
    let first = (z2 + 1.0) / 4.0;
    let second = ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    let third = (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    let fourth = ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / 92160.0;
    z * polynomial(&[fourth, third, second, first, 1.0], 1.0 / df)
}

/// The `t` > 0 that Student's t exceeds with probability `tail` < 1/2.
fn invert_student_tail(tail: f64, df: f64) -> f64 {
    let mismatch = |log_t: f64| log_ratio(student_tail(log_t.exp(), df), tail);
    // Student's quantile lies beyond the normal one.
    let low = (-0.9 * normal_quantile(tail)).ln();
    let mut high = low + 1.0;
    while mismatch(high) > 0.0 {
        high += high - low;
    }
    root_between(mismatch, low, high).exp()
}

/// Returns the probability that Student's t with `df` > 0 degrees of freedom exceeds `t` >= 0.
///
/// ```
/// # use tailspn_engine::estimate::student_tail;
/// // one degree of freedom is the Cauchy law: 1/2 − arctan(t)/π
/// assert!((student_tail(1.0, 1.0) - 0.25).abs() < 1e-12);
/// ```
pub fn student_tail(t: f64, df: f64) -> f64 {
    let ratio = t * t / df;
    0.5 * incomplete_beta(0.5 * df, 0.5, 1.0 / (1.0 + ratio), ratio / (1.0 + ratio))
}

/// Logarithm of `p / target`, which is finite even if `p` underflows to 0.
fn log_ratio(p: f64, target: f64) -> f64 {
    (p.max(f64::MIN_POSITIVE) / target).ln()
}

/// Probability that a binomial count of `trials` trials with success probability `p` is at most `k`.
///
/// The relative error is below 1e-10 if the probability exceeds 1e-300; the work grows like √`trials`.
pub fn binomial_at_most(k: u64, trials: u64, p: f64) -> f64 {
    if k >= trials {
        return 1.0;
    }
    incomplete_beta((trials - k) as f64, k as f64 + 1.0, 1.0 - p, p)
}

/// Probability that a binomial count of `trials` trials with success probability `p` is at least `k`.
///
/// The relative error is below 1e-10 if the probability exceeds 1e-300; the work grows like √`trials`.
pub fn binomial_at_least(k: u64, trials: u64, p: f64) -> f64 {
    if k == 0 {
        return 1.0;
    }
    if k > trials {
        return 0.0;
    }
    incomplete_beta(k as f64, (trials - k) as f64 + 1.0, p, 1.0 - p)
}

/// Widest log-odds that the beta quantile considers; e^±700 is near the ends of `f64`.
const WIDEST_LOG_ODDS: f64 = 700.0;

/// The value `x` below which a beta draw falls with probability `p` in (0, 1/2], and `1 - x`.
///
/// Found on the scale of log-odds, so both have a relative error of 1e-10.
pub(crate) fn lower_beta_quantile(p: f64, a: f64, b: f64) -> (f64, f64) {
    let share = |log_odds: f64| (1.0 / (1.0 + (-log_odds).exp()), 1.0 / (1.0 + log_odds.exp()));
    let mismatch = |log_odds: f64| {
        let (x, complement) = share(log_odds);
        log_ratio(incomplete_beta(a, b, x, complement), p)
    };
    share(root_between(mismatch, -WIDEST_LOG_ODDS, WIDEST_LOG_ODDS))
}

/// Regularised incomplete beta function at `x`, where `complement` is 1 − `x` without rounding.
///
/// ```text
/// I_x(a, b) = ∫₀ˣ u^(a−1) (1−u)^(b−1) du / B(a, b),   a, b > 0
/// ```
///
/// Computed in the shorter tail, as a front factor times a continued fraction.
fn incomplete_beta(a: f64, b: f64, x: f64, complement: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if complement <= 0.0 {
        return 1.0;
    }
    let front = beta_front(a, b, x, complement);
    if x <= (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(a, b, x, complement)
    } else {
        1.0 - front * beta_fraction(b, a, complement, x)
    }
}

/// `x^a (1−x)^b / B(a, b)` in saddle-point form, which stays accurate for large `a` and `b`. \[Loader2000\]
fn beta_front(a: f64, b: f64, x: f64, complement: f64) -> f64 {
    let n = a + b;
    let log_density =
        stirling_error(n) - stirling_error(a) - stirling_error(b) - deviance(a, n * x) - deviance(b, n * complement);
    log_density.exp() * (a / n * b / (2.0 * PI)).sqrt()
}

/// `ln Γ(n + 1) − [(n + 1/2) ln n − n + ln √(2π)]`, the error of Stirling's formula.
fn stirling_error(n: f64) -> f64 {
    const SERIES_FROM: f64 = 16.0;
    if n < SERIES_FROM {
        return libm::lgamma(n + 1.0) - (n + 0.5) * n.ln() + n - 0.5 * (2.0 * PI).ln();
    }
    const SERIES: [f64; 5] = [1.0 / 1188.0, -1.0 / 1680.0, 1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0];
    polynomial(&SERIES, 1.0 / (n * n)) / n
}

/// `x ln(x / mean) + mean − x`, without cancellation near `x` = `mean`. \[Loader2000\]
fn deviance(x: f64, mean: f64) -> f64 {
    const SERIES_WITHIN: f64 = 0.1;
    let gap = x - mean;
    if gap.abs() >= SERIES_WITHIN * (x + mean) {
        return x * (x / mean).ln() - gap;
    }
    let v = gap / (x + mean);
    let mut sum = gap * v;
    let mut term = 2.0 * x * v;
    for j in 1..100 {
        term *= v * v;
        let next = sum + term / f64::from(2 * j + 1);
        if next.to_bits() == sum.to_bits() {
            break;
        }
        sum = next;
    }
    sum
}

/// The incomplete beta function divided by its front factor, for `x` <= (a + 1)/(a + b + 2).
///
/// The contracted continued fraction of \[DiDonato1992\], whose terms do not cancel even when `x` is
/// close to 0 or 1, by Lentz's method \[Lentz1976\].
fn beta_fraction(a: f64, b: f64, x: f64, complement: f64) -> f64 {
    const MOST_STEPS: u32 = 10_000_000; // steps grow like √max(a, b): enough for 1e12
    const SMALLEST: f64 = 1e-300; // keeps a vanishing denominator away from 0
    let away_from_zero = |value: f64| if value.abs() < SMALLEST { SMALLEST } else { value };
    // 1 + a − (a + b) x, from the smaller of x and 1 − x so that little cancels
    let lead = if x < 0.5 { 1.0 + a - (a + b) * x } else { 1.0 - b + (a + b) * complement };
    let mut whole = away_from_zero(lead * (a / (a + 1.0)));
    let (mut upper, mut lower) = (whole, 0.0);
    for step in 1..=MOST_STEPS {
        let m = f64::from(step);
        let middle = a + 2.0 * m - 1.0;
        let pull = m * (b - m) * x;
        let numerator = (a + m - 1.0) / middle * ((a + b + m - 1.0) / middle) * (pull * x);
        let denominator = m + pull / middle + (a + m) / (a + 2.0 * m + 1.0) * (lead + m * (1.0 + complement));
        lower = 1.0 / away_from_zero(denominator + numerator * lower);
        upper = away_from_zero(denominator + numerator / upper);
        let factor = lower * upper;
        whole *= factor;
        if (factor - 1.0).abs() < 2.0 * f64::EPSILON {
            break;
        }
    }
    1.0 / whole
}

/// A zero of `f` between two points where it has opposite signs, to a few units in the last place.
///
/// Bisection with inverse quadratic steps where these are safe. Source: \[Chandrupatla1997\].
fn root_between(f: impl Fn(f64) -> f64, first: f64, second: f64) -> f64 {
    const MOST_STEPS: u32 = 300; // bisection alone needs about 70
    let (mut a, mut b) = (second, first);
    let (mut fa, mut fb) = (f(a), f(b));
    let mut share = 0.5;
    for _ in 0..MOST_STEPS {
        let x = a + share * (b - a);
        let fx = f(x);
        let (c, fc);
        if (fx > 0.0) == (fa > 0.0) {
            (c, fc) = (a, fa);
        } else {
            (c, fc) = (b, fb);
            (b, fb) = (a, fa);
        }
        (a, fa) = (x, fx);
        let (best, f_best) = if fa.abs() < fb.abs() { (a, fa) } else { (b, fb) };
        let smallest_share = (2.0 * f64::EPSILON * best.abs() + f64::EPSILON) / (b - a).abs();
        if smallest_share > 0.5 || f_best == 0.0 {
            return best;
        }
        let place = (a - b) / (c - b);
        let height = (fa - fb) / (fc - fb);
        let is_quadratic_step_safe = height * height < place && (1.0 - height) * (1.0 - height) < 1.0 - place;
        share = if is_quadratic_step_safe {
            fa / (fb - fa) * (fc / (fb - fc)) + (c - a) / (b - a) * (fa / (fc - fa)) * (fb / (fc - fb))
        } else {
            0.5
        }
        .clamp(smallest_share, 1.0 - smallest_share);
    }
    a
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "exact results are asserted exactly")]

    use super::*;

    fn assert_close(got: f64, expected: f64, relative: f64) {
        assert!((got - expected).abs() <= relative * expected.abs(), "got {got:e}, expected {expected:e}");
    }

    #[test]
    fn normal_quantiles_match_published_values() {
        for (p, z) in [
            (0.75, 0.674_489_750_196_081_7),
            (0.9, 1.281_551_565_544_600_4),
            (0.95, 1.644_853_626_951_472_6),
            (0.975, 1.959_963_984_540_054),
            (0.99, 2.326_347_874_040_841),
            (0.995, 2.575_829_303_548_901),
            (0.999, 3.090_232_306_167_813_5),
            (0.02425, -1.972_961_051_311_885),
            (1e-10, -6.361_340_902_404_057),
            (1e-20, -9.262_340_089_798_408),
            (1e-300, -37.047_096_299_361_2),
        ] {
            assert_close(normal_quantile(p), z, 1e-12);
        }
        assert_eq!(normal_quantile(0.5), 0.0);
    }

    #[test]
    fn ends_of_the_unit_interval_are_infinite_and_outside_is_nan() {
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
        assert!(normal_quantile(5e-324).is_finite());
        assert_eq!(student_quantile(1.0, 3.0), f64::INFINITY);
        assert_eq!(student_quantile(0.5, 3.0), 0.0);
        for outside in [-0.1, 1.1, f64::NAN] {
            assert!(normal_quantile(outside).is_nan());
            assert!(student_quantile(outside, 3.0).is_nan());
        }
        assert!(student_quantile(0.9, 0.5).is_nan());
        assert!(student_quantile(0.9, f64::NAN).is_nan());
        assert_close(student_quantile(0.975, f64::INFINITY), normal_quantile(0.975), 1e-15);
    }

    #[test]
    fn student_quantiles_match_published_values() {
        for (df, p, t) in [
            (1.0, 0.975, 12.706_204_736_174_694),
            (1.0, 0.9995, 636.619_248_768_789_7),
            (2.0, 0.975, 4.302_652_729_749_462),
            (2.0, 0.9995, 31.599_054_576_445_365),
            (2.5, 0.9995, 18.277_893_528_130_648),
            (3.0, 1e-7, -222.571_590_947_198_73),
            (4.0, 0.975, 2.776_445_105_197_794_4),
            (5.0, 0.025, -2.570_581_835_636_314_5),
            (7.0, 0.995, 3.499_483_297_350_494),
            (10.0, 0.9, 1.372_183_641_110_336),
            (30.0, 0.995, 2.749_995_653_567_225_4),
            (100.0, 0.975, 1.983_971_518_523_551_8),
            (1000.0, 0.9995, 3.300_282_648_423_944),
            (99_999.0, 0.975, 1.959_987_707_771_844_8),
            (100_001.0, 0.975, 1.959_987_707_297_379_2),
            (1e9, 0.975, 1.959_963_986_912_325),
        ] {
            assert_close(student_quantile(p, df), t, 1e-10);
        }
        assert_close(student_quantile(0.501, 9.0), 0.002_577_090_893_177_916, 1e-10);
    }

    #[test]
    fn student_quantiles_of_one_and_two_degrees_match_closed_forms() {
        for p in [1e-12, 1e-6, 0.001, 0.1, 0.3, 0.49, 0.7, 0.999] {
            assert_close(student_quantile(p, 1.0), (PI * (p - 0.5)).tan(), 1e-4_f64.min(1e-10 + 1e-16 / p));
            let two: f64 = (2.0 * p - 1.0) / (2.0 * p * (1.0 - p)).sqrt();
            assert_close(student_quantile(p, 2.0), two, 1e-10);
        }
    }

    #[test]
    fn binomial_tails_match_exact_sums() {
        assert_close(binomial_at_most(3, 10, 0.3), 0.649_610_718_4, 1e-12);
        assert_close(binomial_at_most(40, 100, 0.5), 0.028_443_966_820_490_396, 1e-12);
        assert_close(binomial_at_most(2, 1_000_000, 1e-6), 0.919_698_694_898_550_4, 1e-12);
        assert_close(binomial_at_least(10, 1_000_000, 1e-6), 1.114_214_232_886_184e-7, 1e-10);
        assert_close(binomial_at_most(499_000, 1_000_000, 0.5), 0.022_804_149_932_694_8, 1e-10);
        assert_close(binomial_at_most(499_970_000, 1_000_000_000, 0.5), 0.028_891_870_952_376_78, 1e-10);
    }

    #[test]
    fn binomial_tails_at_the_ends_are_certain() {
        assert_eq!(binomial_at_most(5, 5, 0.3), 1.0);
        assert_eq!(binomial_at_least(0, 5, 0.3), 1.0);
        assert_eq!(binomial_at_least(6, 5, 0.3), 0.0);
        assert_eq!(binomial_at_least(2, 5, 0.0), 0.0);
        assert_eq!(binomial_at_most(2, 5, 1.0), 0.0);
    }

    #[test]
    fn beta_quantile_inverts_the_power_law() {
        // Beta(a, 1) has distribution x^a, Beta(1, b) has 1 − (1 − x)^b.
        for p in [1e-200, 1e-9, 0.025, 0.5] {
            assert_close(lower_beta_quantile(p, 4.0, 1.0).0, f64::powf(p, 0.25), 1e-10);
            assert_close(lower_beta_quantile(p, 1.0, 3.0).0, -f64::exp_m1(f64::ln_1p(-p) / 3.0), 1e-10);
        }
    }
}
