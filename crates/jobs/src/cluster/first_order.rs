//! First-order formulas for time and energy of a task, given the quality of a detector.
//!
//! The model of \[Phan2018, 4.2\]: idle nodes are available for all copies, a copy always beats the straggler, and a normal task is flagged at half
//! its time. The model ignores contention for slots, so the ranking of detectors on a real cluster can differ.

use crate::cluster::metrics::{Metric, Tally};

/// Share of stragglers and quality of a detector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DetectorQuality {
    /// α, share of tasks that are stragglers, 0 to 1.
    pub stragglers: f64,
    /// p, share of flagged tasks that are stragglers, > 0 to 1.
    pub precision: f64,
    /// r, share of stragglers that are flagged, 0 to 1.
    pub recall: f64,
    /// DL, time to detection divided by the usual time, >= 0.
    pub detection_latency: f64,
    /// UT, time of a missed straggler divided by the usual time, >= 0.
    pub undetected_time: f64,
}

impl DetectorQuality {
    /// Returns the measured quality of a detector. If a metric is 0/0, no task has that outcome, and a neutral value
    /// replaces the metric. Precision is 1 if nothing was flagged, latency is 0 if there was no straggler, undetected
    /// time is 1 if no straggler was missed, and recall is 0 if there was no straggler.
    ///
    /// Stragglers flagged too late count as missed and as false positives, as in [`Metric`].
    pub fn of_tally(tally: &Tally) -> Self {
        let metric = |metric, else_value| tally.metric(metric).unwrap_or(else_value);
        Self {
            stragglers: metric(Metric::StragglerShare, 0.0),
            precision: metric(Metric::Precision, 1.0),
            recall: metric(Metric::Recall, 0.0),
            detection_latency: metric(Metric::DetectionLatency, 0.0),
            undetected_time: metric(Metric::UndetectedTime, 1.0),
        }
    }
}

/// Errors of a first-order estimate.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FirstOrderError {
    /// A value is out of range. Correct it.
    #[error("{what} is {value}; it must be {needs}")]
    Range {
        /// Name of the value.
        what: &'static str,
        /// Value.
        value: f64,
        /// Valid range of the value.
        needs: &'static str,
    },
    /// Precision and recall imply more flagged normal tasks than exist. Use the share of *tasks*
    /// that are stragglers, not the share of slow nodes.
    #[error(
        "recall {recall} and precision {precision} do not fit a share of stragglers of {stragglers}: {flagged:.4} of all tasks would be normal but flagged, and only {normal:.4} of all tasks are normal"
    )]
    TooManyFlagged {
        /// α.
        stragglers: f64,
        /// r.
        recall: f64,
        /// p.
        precision: f64,
        /// α r (1 − p)/p.
        flagged: f64,
        /// 1 − α.
        normal: f64,
    },
}

/// Probabilities of the four fates of a task; they sum to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fates {
    /// Straggler and flagged: r α.
    pub detected: f64,
    /// Straggler, not flagged: (1 − r) α.
    pub missed: f64,
    /// Normal and flagged: r α (1 − p)/p.
    pub flagged: f64,
    /// Normal, not flagged.
    pub normal: f64,
}

/// Expected time and energy of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstOrder {
    /// Probabilities of the task's fates.
    pub fates: Fates,
    /// Expected time of a task, as a multiple of the usual time.
    pub time: f64,
    /// Expected energy of a task, as a multiple of (P_static + P_dyn) times the usual time.
    pub energy: f64,
}

/// Energy of a normal task that is flagged: its copy runs for half the time.
const FLAGGED_ENERGY: f64 = 1.5;

/// Largest amount by which rounding may push a probability below 0.
const ROUNDING: f64 = 1e-12;

/// Returns the expected time and energy of a task, a first-order approximation. \[Phan2018, 4.2\]
///
/// ```text
/// E[time]   = 1 − α + r α (1 + DL) + (1 − r) α UT
/// E[energy] = 1 − α + r α (2 + DL) + (1 − r) α UT + ½ r α (1 − p)/p
/// ```
///
/// # Errors
///
/// [`FirstOrderError::Range`] for numbers out of range, [`FirstOrderError::TooManyFlagged`] if the fourth probability would be negative.
///
/// ```
/// # use tailspn_jobs::cluster::first_order::{DetectorQuality, first_order};
/// let late = DetectorQuality {
///     stragglers: 0.25, precision: 0.24, recall: 0.55, detection_latency: 0.48, undetected_time: 1.8,
/// };
/// let task = first_order(&late).unwrap();
/// assert!((task.time - 1.1560).abs() < 1e-4 && (task.energy - 1.5112).abs() < 1e-4);
/// ```
pub fn first_order(quality: &DetectorQuality) -> Result<FirstOrder, FirstOrderError> {
    let fates = fates(quality)?;
    let (latency, undetected) = (quality.detection_latency, quality.undetected_time);
    let same = fates.missed * undetected + fates.normal;
    Ok(FirstOrder {
        fates,
        time: fates.detected * (1.0 + latency) + fates.flagged + same,
        energy: fates.detected * (2.0 + latency) + fates.flagged * FLAGGED_ENERGY + same,
    })
}

/// Returns the probabilities of the four fates of a task. \[Phan2018, 4.2\]
///
/// # Errors
///
/// All variants of [`FirstOrderError`].
pub fn fates(quality: &DetectorQuality) -> Result<Fates, FirstOrderError> {
    let DetectorQuality { stragglers, precision, recall, detection_latency, undetected_time } = *quality;
    let share = "between 0 and 1";
    let time = "a finite number of at least 0";
    let fine = |value: f64| value.is_finite() && value >= 0.0;
    for (what, value, ok, needs) in [
        ("the share of stragglers", stragglers, (0.0..=1.0).contains(&stragglers), share),
        ("the recall", recall, (0.0..=1.0).contains(&recall), share),
        ("the precision", precision, precision > 0.0 && precision <= 1.0, "above 0 and at most 1"),
        ("the detection latency", detection_latency, fine(detection_latency), time),
        ("the undetected time", undetected_time, fine(undetected_time), time),
    ] {
        if !ok {
            return Err(FirstOrderError::Range { what, value, needs });
        }
    }
    let detected = recall * stragglers;
    let flagged = detected * (1.0 - precision) / precision;
    let normal = 1.0 - stragglers - flagged;
    if normal < -ROUNDING {
        let normal = 1.0 - stragglers;
        return Err(FirstOrderError::TooManyFlagged { stragglers, recall, precision, flagged, normal });
    }
    Ok(Fates { detected, missed: (1.0 - recall) * stragglers, flagged, normal: normal.max(0.0) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn quality(alpha: f64, [p, r, dl, ut]: [f64; 4]) -> DetectorQuality {
        DetectorQuality { stragglers: alpha, precision: p, recall: r, detection_latency: dl, undetected_time: ut }
    }

    /// Share of slow nodes in C1 to C4, used as the share of stragglers, as in the paper.
    const NOMINAL: [f64; 4] = [0.75, 0.75, 0.25, 0.10];
    /// Precision, recall, DL and UT of \[Phan2018, Table 6\]: per scenario Default, Hierarchical, LATE.
    const TABLE_6: [[[f64; 4]; 3]; 4] = [
        [[0.64, 0.48, 0.55, 2.10], [1.00, 0.47, 0.65, 2.10], [0.83, 0.61, 0.44, 1.80]],
        [[0.64, 0.46, 0.41, 1.80], [1.00, 0.33, 0.57, 1.80], [0.82, 0.60, 0.38, 1.60]],
        [[0.22, 0.41, 0.49, 1.90], [0.88, 0.37, 0.55, 1.90], [0.24, 0.55, 0.48, 1.80]],
        [[0.12, 0.50, 0.51, 2.10], [0.98, 0.38, 0.53, 2.10], [0.31, 0.62, 0.48, 2.00]],
    ];

    /// Values derived once from the formulas by hand: time and energy of D, H, L in C1 to C4.
    #[test]
    fn paper_inputs_give_the_derived_table() {
        let derived = [
            [(1.6270, 2.0882), (1.6664, 2.0189), (1.4353, 1.9397)],
            [(1.4655, 1.9075), (1.5431, 1.7906), (1.3510, 1.8504)],
            [(1.1830, 1.4672), (1.1926, 1.2914), (1.1560, 1.5112)],
            [(1.0805, 1.3138), (1.0883, 1.1267), (1.0678, 1.1988)],
        ];
        for ((alpha, rows), expected) in NOMINAL.into_iter().zip(TABLE_6).zip(derived) {
            for (row, (time, energy)) in rows.into_iter().zip(expected) {
                // the formulas, written out a second time
                let [p, r, dl, ut] = row;
                let plain_time = 1.0 - alpha + r * alpha * (1.0 + dl) + (1.0 - r) * alpha * ut;
                let plain_energy =
                    1.0 - alpha + r * alpha * (2.0 + dl) + (1.0 - r) * alpha * ut + 0.5 * r * alpha * (1.0 - p) / p;
                assert!((plain_time - time).abs() < 6e-5 && (plain_energy - energy).abs() < 6e-5);
                let task = first_order(&quality(alpha, row)).unwrap();
                assert!((task.time - time).abs() < 6e-5, "{row:?}: {}", task.time);
                assert!((task.energy - energy).abs() < 6e-5, "{row:?}: {}", task.energy);
            }
        }
    }

    /// The formulas do not predict the paper's own finding that Hierarchical is fastest: this finding results from
    /// contention for slots.
    #[test]
    fn first_order_ranks_late_first_on_time_and_hierarchical_on_energy() {
        for (c, rows) in TABLE_6.into_iter().enumerate() {
            let [d, h, l] = rows.map(|row| first_order(&quality(NOMINAL[c], row)).unwrap());
            assert!(l.time < d.time && l.time < h.time);
            assert_eq!(h.energy < d.energy && h.energy < l.energy, c > 0);
        }
    }

    #[test]
    fn table_7_with_the_share_of_slow_nodes_is_refused() {
        for (p, r) in [(0.55, 0.41), (0.53, 0.42), (0.58, 0.57), (0.57, 0.68), (0.55, 0.56), (0.63, 0.63), (0.60, 0.70)]
        {
            let error = first_order(&quality(0.75, [p, r, 0.1, 2.0])).unwrap_err();
            assert!(matches!(error, FirstOrderError::TooManyFlagged { .. }), "{p} {r}: {error}");
        }
        // with the share of slow tasks, the first row has four probabilities
        assert!(first_order(&quality(0.625, [0.55, 0.41, 0.1, 2.0])).is_ok());
    }

    #[test]
    fn straggler_shares_of_0_and_1_have_their_exact_time_and_energy() {
        let none = first_order(&quality(0.0, [1.0, 0.5, 0.3, 2.0])).unwrap();
        assert_eq!((none.time, none.energy), (1.0, 1.0));
        let all = first_order(&quality(1.0, [1.0, 1.0, 0.5, 2.0])).unwrap();
        assert_eq!((all.time, all.energy), (1.5, 2.5));
        assert!(first_order(&quality(1.0, [0.9, 1.0, 0.5, 2.0])).is_err());
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        for bad in [[0.0, 0.5, 0.1, 2.0], [1.0, 1.1, 0.1, 2.0], [1.0, 0.5, -0.1, 2.0], [1.0, 0.5, 0.1, f64::NAN]] {
            assert!(matches!(first_order(&quality(0.1, bad)), Err(FirstOrderError::Range { .. })), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn probabilities_sum_to_one(alpha in 0.0..1.0, p in 0.01..1.0, r in 0.0..1.0, dl in 0.0..3.0, ut in 1.0..9.0) {
            if let Ok(task) = first_order(&quality(alpha, [p, r, dl, ut])) {
                let Fates { detected, missed, flagged, normal } = task.fates;
                prop_assert!((detected + missed + flagged + normal - 1.0).abs() < 1e-9);
                prop_assert!([detected, missed, flagged, normal].iter().all(|share| *share >= 0.0));
            }
        }

        #[test]
        fn each_detection_metric_changes_time_and_energy_in_its_direction(
            alpha in 0.01..0.3, p in 0.3..0.9, r in 0.1..0.8, dl in 0.0..3.0, ut in 1.0..9.0
        ) {
            let step = 1e-3;
            let all = [[p, r, dl, ut], [p, r + step, dl, ut], [p + step, r, dl, ut], [p, r, dl + step, ut], [p, r, dl, ut + step]];
            let found: Result<Vec<_>, _> = all.iter().map(|row| first_order(&quality(alpha, *row))).collect();
            if let Ok(found) = found {
                let [base, recall, precision, latency, undetected] = found[..] else { unreachable!() };
                if (1.0 + dl - ut).abs() > 1e-6 {
                    prop_assert_eq!(recall.time < base.time, 1.0 + dl < ut);
                }
                prop_assert!(precision.energy < base.energy);
                prop_assert!(latency.energy > base.energy && undetected.energy > base.energy);
            }
        }
    }
}
