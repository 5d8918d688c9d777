//! The ratio of two times, and its significance.

use crate::compare::result::{ChanceTest, TimeDifference, Verdict};
use crate::estimate::{Doubt, Measured, student_quantile, student_tail};
use crate::runs::RunSpread;

/// Compares the times \[s\] of the runs of two sides; none if a side has no run.
///
/// With two or more runs on each side: Welch's t-test on the logarithms, which compares geometric means and does not
/// assume equal spreads. \[Welch1947\]
///
/// ```text
/// t = (mean ln b − mean ln a) / √(v_a + v_b),   v = s²/n
/// ν = (v_a + v_b)² / (v_a²/(n_a − 1) + v_b²/(n_b − 1))
/// ```
///
/// Exact for lognormal times of equal spread, otherwise approximate. If a side has only one run, there is no test. Then
/// `assumed_p_value` assumes that whole runs vary by the default spread ([`RunSpread::default`]) and that the sides do
/// not differ. It is the probability of a ratio at least this far from 1.
///
/// ```
/// # use tailspn_studies::compare::{Verdict, time_difference};
/// let time = time_difference(&[10.0], &[12.0], 0.95).unwrap();
/// assert_eq!(time.difference_s, 2.0);
/// assert_eq!(time.verdict, Verdict::Unknown);
/// ```
pub fn time_difference(a_s: &[f64], b_s: &[f64], level: f64) -> Option<TimeDifference> {
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
    if a_s.is_empty() || b_s.is_empty() {
        return None;
    }
    let (a, b) = (mean(a_s), mean(b_s));
    let mut found = TimeDifference::of_means(a, b);
    if a_s.iter().chain(b_s).any(|time| !time.is_finite() || *time <= 0.0) {
        return Some(found);
    }
    let [logs_a, logs_b] = [a_s, b_s].map(|times| times.iter().map(|time| time.ln()).collect::<Vec<_>>());
    let log_ratio = mean(&logs_b) - mean(&logs_a);
    let samples = (a_s.len() + b_s.len()) as u64;
    let unknown =
        |why: &str| Measured { value: log_ratio.exp(), doubt: Doubt::Unknown(why.to_owned()), level, samples };
    if a_s.len() < 2 || b_s.len() < 2 {
        let spread = RunSpread::default();
        let scale = spread.sigma * (1.0 / a_s.len() as f64 + 1.0 / b_s.len() as f64).sqrt();
        found.test = ChanceTest::AssumedSpread;
        found.ratio = Some(unknown("a side has only one run"));
        found.assumed_sigma = Some(spread.sigma);
        found.assumed_p_value = Some(2.0 * student_tail(log_ratio.abs() / scale, spread.degrees_of_freedom));
        return Some(found);
    }
    let [v_a, v_b] = [&logs_a, &logs_b].map(|logs| squared_error(logs, mean(logs)));
    let error = (v_a + v_b).sqrt();
    if error <= 0.0 {
        found.ratio = Some(unknown("the runs of each side do not vary"));
        return Some(found);
    }
    let part = |v: f64, runs: usize| v * v / (runs as f64 - 1.0);
    let freedom = (v_a + v_b).powi(2) / (part(v_a, a_s.len()) + part(v_b, b_s.len()));
    let half = student_quantile(0.5 + 0.5 * level, freedom) * error;
    let doubt = Doubt::Interval { low: (log_ratio - half).exp(), high: (log_ratio + half).exp() };
    found.ratio = Some(Measured { value: log_ratio.exp(), doubt, level, samples });
    found.test = ChanceTest::Welch;
    found.p_value = Some(2.0 * student_tail(log_ratio.abs() / error, freedom));
    found.degrees_of_freedom = Some(freedom);
    found.verdict = if log_ratio.abs() > half { Verdict::BeyondChance } else { Verdict::WithinChance };
    Some(found)
}

/// Squared standard error of a mean.
fn squared_error(values: &[f64], mean: f64) -> f64 {
    let count = values.len() as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0) / count
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Logarithms 1, 2, 3 and 2, 4, 6, 8 (worked by hand): means 2 and 5, variances 1 and 20/3, v = 1/3 and 5/3, so t = 3/√2 and
    /// ν = 4/(1/18 + 25/27) = 216/53. The probability is Student's with that ν, between the probabilities for 4 and 5
    /// degrees of freedom.
    #[test]
    fn welchs_test_matches_a_worked_example() {
        let a = [1.0_f64, 2.0, 3.0].map(f64::exp);
        let b = [2.0_f64, 4.0, 6.0, 8.0].map(f64::exp);
        let found = time_difference(&a, &b, 0.95).unwrap();
        assert!((found.ratio.as_ref().unwrap().value.ln() - 3.0).abs() < 1e-12);
        assert!((found.degrees_of_freedom.unwrap() - 216.0 / 53.0).abs() < 1e-9);
        // closed form for 4 degrees of freedom: P(|T| > t) = 1 − x (3 − x²)/2 with x = t/√(4 + t²); here t² = 4.5, x = 3/√17
        let x = 3.0 / 17.0_f64.sqrt();
        let four = 1.0 - x * (3.0 - x * x) / 2.0;
        let p = found.p_value.unwrap();
        assert!(p < four && p > 0.97 * four, "{p} {four}");
        assert_eq!(found.verdict, Verdict::WithinChance);
        assert_eq!(time_difference(&a, &b, 0.80).unwrap().verdict, Verdict::BeyondChance);
    }

    /// σ √2 = 0.2121 for one run each, Student's with 4 degrees of freedom: a ratio of exp(0.2121) is at t = 1, x = 1/√5.
    #[test]
    fn one_run_each_has_no_verdict_but_an_assumed_probability() {
        let found = time_difference(&[1.0], &[(0.15 * 2.0_f64.sqrt()).exp()], 0.95).unwrap();
        let x = 1.0 / 5.0_f64.sqrt();
        assert!((found.assumed_p_value.unwrap() - (1.0 - x * (3.0 - x * x) / 2.0)).abs() < 1e-9);
        assert_eq!((found.verdict, found.p_value), (Verdict::Unknown, None));
    }

    #[test]
    fn equal_times_and_times_of_zero_have_no_verdict() {
        assert_eq!(time_difference(&[2.0, 2.0], &[3.0, 3.0], 0.95).unwrap().verdict, Verdict::Unknown);
        assert_eq!(time_difference(&[0.0], &[3.0], 0.95).unwrap().ratio, None);
        assert_eq!(time_difference(&[], &[3.0], 0.95), None);
    }
}
