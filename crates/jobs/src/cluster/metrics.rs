//! Quality of a detector: precision, recall, detection latency, undetected time, fake positives.
//!
//! Implements the count of tasks by fate and the five ratios. A task counts once, by its first detection.

use serde::{Deserialize, Serialize};

use crate::cluster::truth::is_straggler;

/// Outcome of one task for detector quality.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskRecord {
    /// Time of its original attempt \[s\]; if the attempt was killed, the time is estimated from its progress.
    pub time_s: f64,
    /// Usual time \[s\].
    pub usual_s: f64,
    /// Time from the start of the original attempt to the first detection \[s\]; none if it was never flagged.
    pub detected_s: Option<f64>,
}

/// Number of tasks of each fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// All tasks.
    pub tasks: u32,
    /// Tasks that were stragglers.
    pub stragglers: u32,
    /// Stragglers that were flagged while a copy could still have won.
    pub true_positives: u32,
    /// Stragglers that were flagged when less than their typical time remained: a kind of false positive.
    pub fake_positives: u32,
    /// Normal tasks that were flagged.
    pub false_alarms: u32,
    /// Stragglers that were never flagged.
    pub missed: u32,
    /// Sum of time to detection divided by usual time, of flagged stragglers.
    pub latency: f64,
    /// Sum of time divided by usual time, of missed stragglers.
    pub undetected: f64,
}

impl Tally {
    /// Counts a task; a straggler takes longer than `factor` (1.2) times its usual time.
    pub fn push(&mut self, task: &TaskRecord, factor: f64) {
        self.tasks += 1;
        let slow = is_straggler(task.time_s, task.usual_s, factor);
        self.stragglers += u32::from(slow);
        match (slow, task.detected_s) {
            (true, Some(at)) => {
                self.latency += at / task.usual_s;
                let fake = task.time_s - at < task.usual_s;
                *if fake { &mut self.fake_positives } else { &mut self.true_positives } += 1;
            }
            (true, None) => {
                self.missed += 1;
                self.undetected += task.time_s / task.usual_s;
            }
            (false, Some(_)) => self.false_alarms += 1,
            (false, None) => {}
        }
    }

    /// Adds the tasks of another tally.
    pub fn merge(&mut self, other: &Self) {
        self.tasks += other.tasks;
        self.stragglers += other.stragglers;
        self.true_positives += other.true_positives;
        self.fake_positives += other.fake_positives;
        self.false_alarms += other.false_alarms;
        self.missed += other.missed;
        self.latency += other.latency;
        self.undetected += other.undetected;
    }

    /// Returns the number of flagged tasks.
    pub fn flagged(&self) -> u32 {
        self.true_positives + self.fake_positives + self.false_alarms
    }

    /// Returns numerator and denominator of a metric, so that ratios over many runs can be pooled.
    pub fn parts(&self, metric: Metric) -> (f64, f64) {
        let caught = self.true_positives + self.fake_positives;
        let (above, below) = match metric {
            Metric::Precision => (f64::from(self.true_positives), self.flagged()),
            Metric::Recall => (f64::from(self.true_positives), self.stragglers),
            Metric::DetectionLatency => (self.latency, caught),
            Metric::FakePositives => (f64::from(self.fake_positives), self.flagged()),
            Metric::UndetectedTime => (self.undetected, self.missed),
            Metric::StragglerShare => (f64::from(self.stragglers), self.tasks),
        };
        (above, f64::from(below))
    }

    /// Returns a metric of these tasks; none if it is 0/0, such as the precision of a detector that flagged nothing.
    pub fn metric(&self, metric: Metric) -> Option<f64> {
        let (above, below) = self.parts(metric);
        (below > 0.0).then(|| above / below)
    }
}

/// Metric of a tally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Share of flagged tasks that are stragglers and not flagged too late: TP / (TP + FP), where FP includes fake positives.
    /// \[Phan2018, Eqs. 1 and 13\]
    Precision,
    /// Share of stragglers that were flagged in time: TP / (TP + FN); stragglers flagged too late count in the denominator. \[Phan2018, Eq. 2\]
    Recall,
    /// Mean of time to detection divided by usual time, of flagged stragglers. \[Phan2018, Eq. 3\]
    DetectionLatency,
    /// Share of flagged tasks that are stragglers flagged when less than their typical time remained.
    /// \[Phan2018, Eq. 13\]
    FakePositives,
    /// Mean of time divided by usual time, of stragglers that were not flagged. \[Phan2018, Eq. 4\]
    UndetectedTime,
    /// Share of tasks that are stragglers.
    StragglerShare,
}

impl Metric {
    /// All metrics.
    pub const ALL: [Self; 6] = [
        Self::Precision,
        Self::Recall,
        Self::DetectionLatency,
        Self::FakePositives,
        Self::UndetectedTime,
        Self::StragglerShare,
    ];

    /// Returns the name in JSON and CSV.
    pub fn name(self) -> &'static str {
        match self {
            Self::Precision => "precision",
            Self::Recall => "recall",
            Self::DetectionLatency => "detection_latency",
            Self::FakePositives => "fake_positives",
            Self::UndetectedTime => "undetected_time",
            Self::StragglerShare => "straggler_share",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tally(tasks: &[(f64, Option<f64>)]) -> Tally {
        let mut tally = Tally::default();
        for &(time_s, detected_s) in tasks {
            tally.push(&TaskRecord { time_s, usual_s: 10.0, detected_s }, 1.2);
        }
        tally
    }

    #[test]
    fn metrics_by_hand() {
        // two stragglers detected, one of them too late; one missed; one false alarm; one normal task not flagged
        let tally = tally(&[(30.0, Some(5.0)), (20.0, Some(15.0)), (25.0, None), (10.0, Some(1.0)), (12.0, None)]);
        assert_eq!(tally.metric(Metric::Precision), Some(1.0 / 3.0));
        assert_eq!(tally.metric(Metric::Recall), Some(1.0 / 3.0));
        assert_eq!(tally.metric(Metric::DetectionLatency), Some(1.0));
        assert_eq!(tally.metric(Metric::FakePositives), Some(1.0 / 3.0));
        assert_eq!(tally.metric(Metric::UndetectedTime), Some(2.5));
        assert_eq!(tally.metric(Metric::StragglerShare), Some(0.6));
    }

    /// The paper's example: precision 0.5 with a fake share of 0.14 is 0.36, 28% lower.
    #[test]
    fn fake_positives_come_off_the_precision() {
        let mut tasks = vec![(30.0, Some(5.0)); 36];
        tasks.extend([(30.0, Some(25.0)); 14]);
        tasks.extend([(10.0, Some(5.0)); 50]);
        let tally = tally(&tasks);
        assert_eq!(tally.metric(Metric::FakePositives), Some(0.14));
        assert_eq!(tally.metric(Metric::Precision), Some(0.36));
        assert!((1.0 - 0.36 / 0.5_f64 - 0.28).abs() < 1e-12);
    }

    #[test]
    fn metrics_with_a_zero_denominator_are_unknown() {
        let none = tally(&[(10.0, None)]);
        for metric in [Metric::Precision, Metric::Recall, Metric::DetectionLatency, Metric::UndetectedTime] {
            assert_eq!(none.metric(metric), None);
        }
        assert_eq!(Tally::default().metric(Metric::StragglerShare), None);
        let missed = tally(&[(40.0, None)]);
        assert_eq!((missed.metric(Metric::Precision), missed.metric(Metric::Recall)), (None, Some(0.0)));
    }

    proptest! {
        #[test]
        fn tallies_add_up(tasks in prop::collection::vec((1.0..50.0_f64, prop::option::of(0.0..50.0_f64)), 0..60), cut in 0..60_usize) {
            let whole = tally(&tasks);
            let cut = cut.min(tasks.len());
            let mut parts = tally(&tasks[..cut]);
            parts.merge(&tally(&tasks[cut..]));
            prop_assert_eq!(parts.stragglers, whole.stragglers);
            prop_assert!((parts.latency - whole.latency).abs() < 1e-9);
            prop_assert_eq!(whole.stragglers, whole.true_positives + whole.fake_positives + whole.missed);
            for metric in [Metric::Precision, Metric::Recall, Metric::FakePositives, Metric::StragglerShare] {
                prop_assert!(whole.metric(metric).is_none_or(|share| (0.0..=1.0).contains(&share)));
            }
            prop_assert!(whole.metric(Metric::UndetectedTime).is_none_or(|time| time > 1.2));
        }

        #[test]
        fn precision_is_one_when_nothing_wrong_is_flagged(times in prop::collection::vec(1.0..50.0_f64, 1..60)) {
            let tasks: Vec<_> = times.iter().map(|&time| (time, (time > 12.0).then_some((time - 10.0) * 0.5))).collect();
            let tally = tally(&tasks);
            prop_assert!(tally.metric(Metric::Precision).is_none_or(|share| share == 1.0));
            prop_assert!(tally.metric(Metric::Recall).is_none_or(|share| share == 1.0));
        }
    }
}
