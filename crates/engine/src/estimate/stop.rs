//! Stopping rule for replications: sequential stopping on the relative half width.
//!
//! Implements the decision and the size of the next round. It does not run replications and keeps no state between rounds.

/// Maximum factor by which one round may multiply the number of replications, since a first estimate of the
/// variance can be far too high.
const MOST_GROWTH: f64 = 10.0;
/// Safety factor for the predicted number of replications, so that most runs need no round for the last percent.
const MARGIN: f64 = 1.05;

/// Stops once the interval is tight enough, but never before a minimum nor after a maximum.
///
/// The rule of \[Chow1965\]: the coverage tends to the level as `rel_error` tends to 0. Approximate for finite runs: a
/// run that stops when its variance happens to be small has slightly lower coverage. A larger `min_reps` and the coarse
/// steps of whole rounds limit this effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StopRule {
    /// Half width divided by the absolute value, at or below which the run may stop; > 0. Default 0.01.
    pub rel_error: f64,
    /// Confidence level of the interval, in (0, 1), for the caller's intervals. Default [`LEVEL`](crate::estimate::LEVEL).
    pub level: f64,
    /// Minimum number of replications. Default 1,000.
    pub min_reps: u64,
    /// Maximum number of replications; takes precedence over `min_reps`. Default 10,000,000.
    pub max_reps: u64,
    /// Rounds are whole multiples of this many replications, except one that ends at `max_reps`; 0 means 1. Default 1,024.
    pub chunk: u64,
}

impl Default for StopRule {
    fn default() -> Self {
        Self { rel_error: 0.01, level: crate::estimate::LEVEL, min_reps: 1000, max_reps: 10_000_000, chunk: 1024 }
    }
}

impl StopRule {
    /// Returns true if `count` replications with this relative half width satisfy the rule.
    pub fn is_met(&self, count: u64, relative_half_width: f64) -> bool {
        count >= self.min_reps && relative_half_width <= self.rel_error
    }

    /// Number of replications to add to `count_so_far`; none if the rule is met or `max_reps` is reached.
    ///
    /// ```text
    /// total = n · (half width / (value · rel_error))² · 1.05,   at most 10 n, at least min_reps
    /// ```
    ///
    /// Rounded up to whole chunks. If the relative half width is infinite or not a number (no estimate
    /// yet, or a mean of 0), the number grows by the largest factor. The formula follows from the half width, which is
    /// proportional to 1/√n.
    ///
    /// # Examples
    ///
    /// An interval that is twice too wide after 1000 replications needs 4 · 1.05 · 1000 = 4200 in total.
    ///
    /// ```
    /// # use tailspn_engine::estimate::StopRule;
    /// let rule = StopRule { rel_error: 0.01, chunk: 100, ..StopRule::default() };
    /// assert_eq!(rule.next_round(0, f64::INFINITY), Some(1000));
    /// assert_eq!(rule.next_round(1000, 0.02), Some(3200));
    /// assert_eq!(rule.next_round(4200, 0.0099), None);
    /// ```
    pub fn next_round(&self, count_so_far: u64, relative_half_width: f64) -> Option<u64> {
        let room = self.max_reps.saturating_sub(count_so_far);
        if room == 0 || self.is_met(count_so_far, relative_half_width) {
            return None;
        }
        let missing = self.predicted_total(count_so_far, relative_half_width).saturating_sub(count_so_far);
        let chunk = self.chunk.max(1);
        let whole_chunks = missing.max(1).div_ceil(chunk).saturating_mul(chunk);
        Some(whole_chunks.min(room))
    }

    /// Replications after the next round, before rounding to chunks.
    fn predicted_total(&self, count: u64, relative_half_width: f64) -> u64 {
        let excess = relative_half_width / self.rel_error;
        let wanted = excess * excess * MARGIN;
        let growth = if wanted.is_nan() { MOST_GROWTH } else { wanted.min(MOST_GROWTH) };
        // `as` rounds towards 0 and stops at the largest u64.
        ((count as f64 * growth).ceil() as u64).max(self.min_reps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::moments::FloatMoments;
    use rand::{SeedableRng, rngs::StdRng};
    use rand_distr::{Distribution, Exp1};

    const RULE: StopRule = StopRule { rel_error: 0.05, level: 0.95, min_reps: 100, max_reps: 10_000, chunk: 50 };

    #[test]
    fn no_replications_ask_for_the_minimum() {
        assert_eq!(RULE.next_round(0, f64::NAN), Some(100));
        assert_eq!(StopRule { min_reps: 0, ..RULE }.next_round(0, f64::NAN), Some(50));
        assert_eq!(StopRule { min_reps: 101, ..RULE }.next_round(0, 1.0), Some(150));
    }

    #[test]
    fn minimum_holds_even_when_the_interval_is_tight() {
        assert_eq!(RULE.next_round(40, 0.0), Some(100));
        assert_eq!(RULE.next_round(100, 0.0), None);
    }

    #[test]
    fn maximum_ends_the_run() {
        assert_eq!(RULE.next_round(10_000, 1.0), None);
        assert_eq!(RULE.next_round(20_000, 1.0), None);
        assert_eq!(RULE.next_round(9_990, 1.0), Some(10));
        assert_eq!(StopRule { max_reps: 30, ..RULE }.next_round(0, 1.0), Some(30));
        assert!(!RULE.is_met(10_000, 1.0));
    }

    #[test]
    fn growth_is_limited_and_never_zero() {
        assert_eq!(RULE.next_round(100, 1000.0), Some(900));
        assert_eq!(RULE.next_round(100, f64::INFINITY), Some(900));
        assert_eq!(RULE.next_round(100, f64::NAN), Some(900));
        assert_eq!(RULE.next_round(1000, 0.050_000_1), Some(100)); // 5% margin, in chunks of 50: 51 → 100
        assert_eq!(StopRule { rel_error: 0.0, ..RULE }.next_round(100, 0.1), Some(900));
        assert_eq!(StopRule { chunk: 0, ..RULE }.next_round(1000, 0.050_000_1), Some(51));
        let endless = StopRule { max_reps: u64::MAX, chunk: u64::MAX, ..RULE };
        assert_eq!(endless.next_round(u64::MAX - 1, 1.0), Some(1));
    }

    #[test]
    fn stopped_runs_cover_the_true_mean_and_waste_little() {
        const RUNS: u32 = 2000;
        let rule = StopRule { rel_error: 0.05, level: 0.95, min_reps: 200, max_reps: 1_000_000, chunk: 64 };
        let mut rng = StdRng::seed_from_u64(5);
        let (mut covered, mut spent) = (0_u32, FloatMoments::default());
        for _ in 0..RUNS {
            let mut moments = FloatMoments::default();
            let mut relative = f64::INFINITY;
            let mut value = 0.0;
            while let Some(round) = rule.next_round(moments.count(), relative) {
                moments.extend((0..round).map(|_| -> f64 { Exp1.sample(&mut rng) }));
                let estimate = moments.mean_estimate(rule.level).unwrap();
                (relative, value) = (estimate.relative_half_width(), estimate.value);
            }
            covered += u32::from((value - 1.0).abs() <= relative * value);
            spent.push(moments.count() as f64);
        }
        let share = f64::from(covered) / f64::from(RUNS);
        let error = (0.95 * 0.05 / f64::from(RUNS)).sqrt();
        assert!((share - 0.95).abs() <= 5.0 * error, "{share}");
        // a run of fixed length would need (1.96 / 0.05)² = 1537
        assert!((1537.0..1.15 * 1537.0).contains(&spent.mean().unwrap()), "{spent:?}");
    }
}
