//! Progress, speed and thresholds computed by detectors from progress scores, one function per equation.
//!
//! Pure functions from \[Phan2018\]. The detectors in `detect` are built from them; `docs/replications/straggler-metrics.md` lists the points on
//! which the paper is silent.

/// Returns the progress score, the share of a task's input that has been processed. \[Phan2018, Eq. 5\]
///
/// Between 0 and 1; a task without input is complete.
pub fn progress_score(processed: f64, total: f64) -> f64 {
    if total > 0.0 { (processed / total).clamp(0.0, 1.0) } else { 1.0 }
}

/// Returns true if Default flags a task: its score is below the mean score of its category minus `gap`. \[Phan2018, Eq.
/// 6\]
///
/// ```
/// # use tailspn_jobs::cluster::formulas::default_flags;
/// assert!(default_flags(0.29, 0.5, 0.2) && !default_flags(0.31, 0.5, 0.2));
/// ```
pub fn default_flags(score: f64, mean_score: f64, gap: f64) -> bool {
    score < mean_score - gap
}

/// Returns the progress rate, score divided by the time since the start \[1/s\]; none at the start. \[Phan2018, Eq. 7\]
pub fn progress_rate(score: f64, elapsed_s: f64) -> Option<f64> {
    (elapsed_s > 0.0).then(|| score / elapsed_s)
}

/// Returns the mean and population standard deviation (1/N) of numbers; none without numbers. \[Phan2018, Eqs. 8 and 9\]
///
/// ```
/// # use tailspn_jobs::cluster::formulas::mean_and_deviation;
/// assert_eq!(mean_and_deviation([1.0, 3.0]), Some((2.0, 1.0)));
/// assert_eq!(mean_and_deviation([]), None);
/// ```
pub fn mean_and_deviation(numbers: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    // Welford's recurrence: equal numbers have a deviation of exactly 0
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for number in numbers {
        count += 1.0;
        let before = number - mean;
        mean += before / count;
        squares += before * (number - mean);
    }
    (count > 0.0).then(|| (mean, (squares / count).sqrt()))
}

/// Interpretation of LATE's threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LateForm {
    /// mean − α SD: flags 16% of normally distributed rates at α = 1, as in the paper's text.
    #[default]
    MeanMinusSd,
    /// mean (1 − α SD), as \[Phan2018, Eq. 10\] is printed. This formula uses the SD without its unit. In 1/s, the SD
    /// is far below 1, so the threshold is close to the mean, and half of the tasks are flagged. The threshold also
    /// depends on the unit of time.
    Printed,
}

/// Returns the progress rate below which LATE flags a task \[1/s\]. \[Phan2018, Eq. 10\], in either interpretation.
///
/// ```
/// # use tailspn_jobs::cluster::formulas::{LateForm, late_threshold};
/// assert!((late_threshold(LateForm::MeanMinusSd, 0.05, 0.01, 1.0) - 0.04).abs() < 1e-15);
/// assert!((late_threshold(LateForm::Printed, 0.05, 0.01, 1.0) - 0.0495).abs() < 1e-15);
/// ```
pub fn late_threshold(form: LateForm, mean: f64, deviation: f64, alpha: f64) -> f64 {
    match form {
        LateForm::MeanMinusSd => mean - alpha * deviation,
        LateForm::Printed => mean * (1.0 - alpha * deviation),
    }
}

/// Returns the speed of a task, processed input divided by the time since the start; none at the start.
/// \[Phan2018, 5.5\]
pub fn task_speed(score: f64, size: f64, elapsed_s: f64) -> Option<f64> {
    progress_rate(score, elapsed_s).map(|rate| rate * size)
}

/// Items that the cluster's average performance is taken over; the paper does not specify them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClusterAverage {
    /// Nodes with a running task, each once.
    Nodes,
    /// Running tasks.
    #[default]
    Tasks,
}

/// Returns true if a node counts as slow for Hierarchical: its performance, the mean speed of its tasks, is below
/// `share` of the cluster's average. \[Phan2018, 5.5\]
pub fn node_is_slow(performance: f64, cluster_average: f64, share: f64) -> bool {
    performance < share * cluster_average
}

/// Returns true if the detector searches for stragglers at all: no task waits for a slot, and the job is older than the lag. \[Phan2018, Table 1\]
pub fn looks_for_stragglers(waiting_tasks: u64, job_age_s: f64, lag_s: f64) -> bool {
    waiting_tasks == 0 && job_age_s > lag_s
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::normal_quantile;

    #[test]
    fn a_score_is_a_share() {
        assert_eq!(progress_score(16.0, 64.0), 0.25);
        assert_eq!((progress_score(70.0, 64.0), progress_score(0.0, 0.0)), (1.0, 1.0));
    }

    #[test]
    fn default_does_not_flag_at_the_threshold_itself() {
        assert!(!default_flags(0.25, 0.5, 0.25));
        assert!(!default_flags(0.0, 0.1, 0.2));
    }

    #[test]
    fn a_rate_needs_time() {
        assert_eq!(progress_rate(0.5, 20.0), Some(0.025));
        assert_eq!((progress_rate(0.0, 0.0), task_speed(0.5, 64.0, 20.0)), (None, Some(1.6)));
    }

    #[test]
    fn deviation_is_of_the_population() {
        let (mean, deviation) = mean_and_deviation([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!((mean, deviation), (5.0, 2.0));
        assert_eq!(mean_and_deviation([0.1; 7]), Some((0.1, 0.0)));
    }

    /// The one statement of the paper that fits only one of the interpretations: 16% of normal rates are flagged.
    #[test]
    fn only_mean_minus_deviation_flags_sixteen_percent() {
        let rates: Vec<f64> =
            (0..10_000).map(|i| 0.05 + 0.01 * normal_quantile((f64::from(i) + 0.5) / 10_000.0)).collect();
        let (mean, deviation) = mean_and_deviation(rates.iter().copied()).unwrap();
        let share = |form| {
            let threshold = late_threshold(form, mean, deviation, 1.0);
            rates.iter().filter(|&&rate| rate < threshold).count() as f64 / 10_000.0
        };
        assert!((share(LateForm::MeanMinusSd) - 0.1587).abs() < 1e-3);
        assert!((share(LateForm::Printed) - 0.48).abs() < 0.01);
    }

    #[test]
    fn lag_and_waiting_tasks_keep_detectors_away() {
        assert!(looks_for_stragglers(0, 20.5, 20.0));
        assert!(!looks_for_stragglers(1, 60.0, 20.0) && !looks_for_stragglers(0, 20.0, 20.0));
    }
}
