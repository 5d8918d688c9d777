//! The Pearson method, with which the paper compares BigRoots: a feature is a cause if it correlates with the duration
//! and is large.

use tailspn::diagnose::causes::Feature;
use tailspn::diagnose::causes::Pool;

/// The two thresholds of the Pearson method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PearsonRules {
    /// λca: the absolute value of the correlation must exceed this number.
    pub correlation: f64,
    /// λcq: the feature must exceed its quantile of this order over all tasks.
    pub quantile: f64,
}

/// Returns Pearson's correlation ρ of a feature and the duration, over all tasks of the pool for which the feature is
/// known; `None` for fewer than 3 tasks, or if the feature or the duration is the same for all of them.
///
/// ```text
/// ρ = Σ (x − x̄)(y − ȳ) / √(Σ (x − x̄)² Σ (y − ȳ)²)
/// ```
pub fn correlation(pool: &Pool, feature: Feature) -> Option<f64> {
    let pairs: Vec<(f64, f64)> =
        pool.tasks.iter().filter_map(|task| Some((task.values[feature as usize]?, task.record.seconds()))).collect();
    if pairs.len() < 3 {
        return None;
    }
    let count = pairs.len() as f64;
    let (sum_x, sum_y) = pairs.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
    let (mean_x, mean_y) = (sum_x / count, sum_y / count);
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs {
        let (dx, dy) = (x - mean_x, y - mean_y);
        xy += dx * dy;
        xx += dx * dx;
        yy += dy * dy;
    }
    (xx > 0.0 && yy > 0.0).then(|| xy / (xx * yy).sqrt())
}

/// Returns true if a feature is a root cause by its correlation with the duration \[Zhou2018, Eq. 8\]: `|ρ| > λca` and
/// `F > quantile_λcq`, where `rho` comes from [`correlation`].
pub fn is_pearson_cause(pool: &Pool, task: usize, feature: Feature, rho: Option<f64>, rules: &PearsonRules) -> bool {
    let (Some(rho), Some(value)) = (rho, pool.tasks[task].values[feature as usize]) else { return false };
    rho.abs() > rules.correlation && pool.quantile(feature, rules.quantile).is_some_and(|limit| value > limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailspn::diagnose::causes::FEATURES;
    use tailspn::diagnose::causes::PoolOptions;
    use tailspn::diagnose::causes::TaskRecord;

    /// Durations 1 to 4 s and amounts 2, 1, 4, 3: Σ dx dy = 3, Σ dx² = Σ dy² = 5.
    #[test]
    fn correlation_by_hand() {
        let record = |(i, bytes): (usize, f64)| {
            let mut stated = [None; FEATURES];
            stated[Feature::ReadBytes as usize] = Some(bytes);
            let to = (i + 1) as f64;
            TaskRecord {
                task: i as u32,
                attempt: 0,
                node: None,
                from: 0.0,
                to,
                at_least: false,
                succeeded: true,
                stated,
            }
        };
        let records = [2.0, 1.0, 4.0, 3.0].into_iter().enumerate().map(record).collect();
        let pool = Pool::new(records, &[], &PoolOptions::default()).unwrap();
        let rho = correlation(&pool, Feature::ReadBytes);
        assert!((rho.unwrap() - 0.6).abs() < 1e-12, "{rho:?}");
        assert_eq!(correlation(&pool, Feature::Cpu), None);
        let cause = |correlation, quantile| {
            is_pearson_cause(&pool, 2, Feature::ReadBytes, rho, &PearsonRules { correlation, quantile })
        };
        assert_eq!([cause(0.59, 0.9), cause(0.61, 0.9), cause(0.59, 1.0)], [true, false, false]);
    }
}
