//! Comparison of results of two sides: mean times with the error of each, and the keys of the plans in the results.

use crate::compare::result::{ChanceTest, Compared, ComparedSide, ComparisonReport, TimeDifference, Verdict};
use crate::compare::settings::{differing, flat};
use crate::estimate::{Doubt, Measured, normal_cdf, normal_quantile};

/// The time of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedTime {
    /// The file of the result.
    pub file: String,
    /// The mean time \[s\].
    pub mean: Measured,
    /// The plan of the result; empty if it has none.
    pub plan: toml::Table,
}

/// Returns the comparison of the mean times of two sides; none if a side has no result.
///
/// The means of a side are averaged. Their errors are assumed independent and normal, with the half
/// widths of their intervals; guaranteed bounds count as a half width. Results of the same seed
/// share their random numbers, so the true error of their difference is smaller than the interval.
pub fn compare_times(a: &[ComparedTime], b: &[ComparedTime], level: f64) -> Option<ComparisonReport> {
    let time = difference(a, b, level)?;
    let side = |label: &str, results: &[ComparedTime]| ComparedSide {
        label: label.to_owned(),
        files: results.iter().map(|result| result.file.clone()).collect(),
        times_s: results.iter().map(|result| result.mean.value).collect(),
    };
    let [plans_a, plans_b] = [a, b].map(|all| all.iter().map(|one| flat(&one.plan)).collect::<Vec<_>>());
    Some(ComparisonReport {
        compared: Compared::Results,
        level,
        sides: [side("A", a), side("B", b)],
        time: Some(time),
        stages: Vec::new(),
        gaps: Vec::new(),
        settings: differing(&plans_a, &plans_b),
        notes: Vec::new(),
    })
}

/// The standard error of a mean; none if it is unknown.
fn error(mean: &Measured, level: f64) -> Option<f64> {
    let own = if mean.level > 0.0 && mean.level < 1.0 { mean.level } else { level };
    match mean.doubt {
        Doubt::Exact => Some(0.0),
        Doubt::Bounds { low, high } | Doubt::Interval { low, high } => {
            Some(0.5 * (high - low) / normal_quantile(0.5 + 0.5 * own)).filter(|error| error.is_finite())
        }
        _ => None,
    }
}

fn difference(a: &[ComparedTime], b: &[ComparedTime], level: f64) -> Option<TimeDifference> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let mean = |all: &[ComparedTime]| all.iter().map(|one| one.mean.value).sum::<f64>() / all.len() as f64;
    let error_of = |all: &[ComparedTime]| {
        let squares = all.iter().map(|one| error(&one.mean, level).map(|error| error * error));
        Some(squares.sum::<Option<f64>>()?.sqrt() / all.len() as f64)
    };
    let (mean_a, mean_b) = (mean(a), mean(b));
    let mut found = TimeDifference::of_means(mean_a, mean_b);
    if mean_a.min(mean_b) <= 0.0 {
        return Some(found);
    }
    let ratio = mean_b / mean_a;
    let samples = a.iter().chain(b).map(|one| one.mean.samples).sum();
    let measured = |doubt| Some(Measured { value: ratio, doubt, level, samples });
    let Some((error_a, error_b)) = error_of(a).zip(error_of(b)) else {
        found.ratio = measured(Doubt::Unknown("a result does not state its error".to_owned()));
        return Some(found);
    };
    let error = ((error_a / mean_a).powi(2) + (error_b / mean_b).powi(2)).sqrt();
    let half = normal_quantile(0.5 + 0.5 * level) * error;
    let beyond = ratio.ln().abs() > half;
    if error <= 0.0 {
        (found.test, found.ratio) = (ChanceTest::Exact, measured(Doubt::Exact));
    } else {
        found.test = ChanceTest::Intervals;
        found.ratio = measured(Doubt::Interval { low: ratio * (-half).exp(), high: ratio * half.exp() });
        found.p_value = Some(2.0 * normal_cdf(-ratio.ln().abs() / error));
    }
    found.verdict = if beyond { Verdict::BeyondChance } else { Verdict::WithinChance };
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(mean: Measured) -> ComparedTime {
        ComparedTime { file: String::new(), mean, plan: toml::Table::new() }
    }

    fn interval(value: f64, half: f64) -> ComparedTime {
        let doubt = Doubt::Interval { low: value - half, high: value + half };
        result(Measured { value, doubt, level: 0.95, samples: 100 })
    }

    /// Relative half widths of 3% and 4% combine to 5%: a ratio of 1.06 is beyond chance (ln 1.06 = 0.0583), one of 1.04 is not.
    #[test]
    fn half_widths_combine_as_of_independent_errors() {
        let verdict = |b: f64| {
            let found = compare_times(&[interval(100.0, 3.0)], &[interval(b, 0.04 * b)], 0.95).unwrap();
            found.time.unwrap().verdict
        };
        assert_eq!([verdict(106.0), verdict(104.0)], [Verdict::BeyondChance, Verdict::WithinChance]);
    }

    #[test]
    fn exact_times_need_no_test_and_unknown_errors_allow_none() {
        let exact = |value| result(Measured::exact(value, 0.95));
        let found = compare_times(&[exact(2.0)], &[exact(3.0)], 0.95).unwrap().time.unwrap();
        assert_eq!((found.test, found.verdict), (ChanceTest::Exact, Verdict::BeyondChance));
        let unknown = result(Measured::between(2.0, None, None));
        let found = compare_times(&[exact(2.0)], &[unknown], 0.95).unwrap().time.unwrap();
        assert_eq!((found.test, found.verdict), (ChanceTest::None, Verdict::Unknown));
    }
}
