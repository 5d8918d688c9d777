//! The definition of a straggler, a task that takes longer than a factor times its usual time; and the accuracy that the usual time needs.

use crate::estimate::{EstimateError, quantile_of_sorted};

/// Returns the usual time of a task: a quantile of its times in homogeneous runs, in their unit. \[Phan2018, 6.1\]
///
/// # Errors
///
/// [`EstimateError`] without times, for times that are not finite, and for quantiles outside \[0, 1\].
///
/// ```
/// # use tailspn_jobs::cluster::truth::usual_time;
/// assert_eq!(usual_time(&mut [31.0, 29.0, 30.0], 0.5), Ok(30.0));
/// ```
pub fn usual_time(times: &mut [f64], quantile: f64) -> Result<f64, EstimateError> {
    times.sort_unstable_by(f64::total_cmp);
    quantile_of_sorted(times, quantile)
}

/// Returns true if a task is a straggler: it took longer than `factor` times its usual time. \[Phan2018, 6.1\] uses 1.2.
pub fn is_straggler(time: f64, usual: f64, factor: f64) -> bool {
    time > factor * usual
}

/// Returns the share of times in homogeneous runs that exceed `factor` times the task's typical time. Takes one list of
/// times per task, and sorts each. \[Phan2018, Table 5\] has this share for several quantiles.
///
/// # Errors
///
/// Same as [`usual_time`].
pub fn share_of_stragglers(times: &mut [Vec<f64>], quantile: f64, factor: f64) -> Result<f64, EstimateError> {
    let (mut slow, mut all) = (0, 0);
    for list in times {
        let usual = usual_time(list, quantile)?;
        slow += list.iter().filter(|&&time| is_straggler(time, usual, factor)).count();
        all += list.len();
    }
    Ok(slow as f64 / f64::max(all as f64, 1.0))
}

/// Returns the largest relative error of a guessed typical time with which no task can be misclassified; none if no
/// guess is accurate enough. \[Phan2018, Eqs. 11 and 12\]
///
/// ```text
/// ε_guess ≤ min( s_min (1 − ε_setting) / 1.2 − 1, (0.2 − ε_setting) / 1.2 )
/// ```
///
/// `slowest_normal` is the factor (1.2), `least_slowdown` s_min, `setting` ε_setting. The paper's condition ε_setting ≤
/// (s_min − 1)/(s_min + 1), in [`settings_separable`], is necessary but not sufficient. For example, s_min = 1.333 and
/// ε = 0.1 satisfy the condition, but the bound is negative.
///
/// ```
/// # use tailspn_jobs::cluster::truth::{guess_error_bound, settings_separable};
/// assert!((guess_error_bound(2.0, 0.1, 1.2).unwrap() - 0.1 / 1.2).abs() < 1e-12);
/// assert!(settings_separable(1.333, 0.1));
/// assert_eq!(guess_error_bound(1.333, 0.1, 1.2), None);
/// ```
pub fn guess_error_bound(least_slowdown: f64, setting: f64, slowest_normal: f64) -> Option<f64> {
    let seen = least_slowdown * (1.0 - setting) / slowest_normal - 1.0;
    let spared = (slowest_normal - 1.0 - setting) / slowest_normal;
    let bound = seen.min(spared);
    (bound >= 0.0).then_some(bound)
}

/// Returns true if the times of normal tasks and of stragglers do not overlap: T (1 + ε) ≤ s_min T (1 − ε). \[Phan2018, 6.1\]
pub fn settings_separable(least_slowdown: f64, setting: f64) -> bool {
    setting <= (least_slowdown - 1.0) / (least_slowdown + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straggler_is_longer_than_the_factor() {
        assert!(is_straggler(12.1, 10.0, 1.2) && !is_straggler(12.0, 10.0, 1.2) && !is_straggler(0.0, 0.0, 1.2));
    }

    #[test]
    fn usual_time_needs_times() {
        assert!(usual_time(&mut [], 0.5).is_err());
        assert_eq!(usual_time(&mut [4.0, 1.0, 2.0, 3.0], 1.0), Ok(4.0));
    }

    #[test]
    fn stragglers_are_counted_task_by_task() {
        // usual times 10 and 100; only the 13 exceeds its own limit of 12
        let mut times = [vec![10.0, 13.0, 9.0], vec![100.0, 110.0, 90.0]];
        assert_eq!(share_of_stragglers(&mut times, 0.5, 1.2), Ok(1.0 / 6.0));
        assert_eq!(share_of_stragglers(&mut times, 1.0, 1.2), Ok(0.0));
    }

    #[test]
    fn bound_keeps_both_inequalities() {
        for least in [1.3, 1.5, 2.0, 4.0] {
            for setting in [0.0, 0.05, 0.1, 0.15, 0.2] {
                if let Some(guess) = guess_error_bound(least, setting, 1.2) {
                    assert!(1.2 * (1.0 + guess) <= least * (1.0 - setting) + 1e-12, "{least} {setting}");
                    assert!(1.0 + setting <= 1.2 * (1.0 - guess) + 1e-12, "{least} {setting}");
                    assert!(settings_separable(least, setting));
                }
            }
        }
        assert_eq!(guess_error_bound(4.0, 0.25, 1.2), None);
    }
}
