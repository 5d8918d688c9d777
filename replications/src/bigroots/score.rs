//! Scores of a method on jobs whose true causes are known.

use tailspn::diagnose::causes::Pool;
use tailspn::diagnose::causes::{Feature, RESOURCES};

/// Counts of a method's decisions, each about one feature of one straggler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confusion {
    /// Decisions where the task was affected, and the feature was reported as a cause.
    pub true_positives: u64,
    /// Decisions where the task was not affected, and the feature was not reported as a cause.
    pub true_negatives: u64,
    /// Decisions where the task was not affected, but the feature was reported as a cause.
    pub false_positives: u64,
    /// Decisions where the task was affected, but the feature was not reported as a cause.
    pub false_negatives: u64,
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

impl Confusion {
    /// Counts one decision: `said` is true if the method reported the feature as a cause.
    pub fn count(&mut self, affected: bool, said: bool) {
        *match (affected, said) {
            (true, true) => &mut self.true_positives,
            (false, false) => &mut self.true_negatives,
            (false, true) => &mut self.false_positives,
            (true, false) => &mut self.false_negatives,
        } += 1;
    }

    /// Adds the counts of other decisions.
    pub fn add(&mut self, other: &Self) {
        self.true_positives += other.true_positives;
        self.true_negatives += other.true_negatives;
        self.false_positives += other.false_positives;
        self.false_negatives += other.false_negatives;
    }

    /// Returns the false positive rate, FP / (FP + TN); `None` if every decision was about an affected task. The paper
    /// prints FN in the numerator, but its own table results from FP \[Zhou2018, Eq. 9\].
    ///
    /// ```
    /// # use tailspn_replications::bigroots::Confusion;
    /// let table_v = Confusion { true_positives: 43, true_negatives: 282, false_positives: 1, false_negatives: 28 };
    /// let percent = |share: Option<f64>| (share.unwrap() * 10_000.0).round() / 100.0;
    /// assert_eq!(percent(table_v.false_positive_rate()), 0.35);
    /// assert_eq!(percent(table_v.true_positive_rate()), 60.56);
    /// assert_eq!(percent(table_v.accuracy()), 91.81);
    /// ```
    pub fn false_positive_rate(&self) -> Option<f64> {
        share(self.false_positives, self.false_positives + self.true_negatives)
    }

    /// Returns the true positive rate, TP / (TP + FN); `None` if no decision was about an affected task \[Zhou2018, Eq.
    /// 9\].
    pub fn true_positive_rate(&self) -> Option<f64> {
        share(self.true_positives, self.true_positives + self.false_negatives)
    }

    /// Returns the accuracy, (TP + TN) / (number of decisions); `None` without decisions \[Zhou2018, Eq. 9\].
    pub fn accuracy(&self) -> Option<f64> {
        let right = self.true_positives + self.true_negatives;
        share(right, right + self.false_positives + self.false_negatives)
    }
}

/// A time window in which a hog made a resource of a node scarce.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TruthWindow {
    /// Number of the node.
    pub node: usize,
    /// The resource.
    pub resource: Feature,
    /// Start of the window, in seconds since the start of the log.
    pub from: f64,
    /// End of the window, in seconds since the start of the log.
    pub to: f64,
}

/// The true causes: all windows in which resources were scarce.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Truth {
    /// The windows, each with its node and resource.
    pub windows: Vec<TruthWindow>,
}

impl Truth {
    /// Returns the share of the time from `from` to `to` in which a resource of a node was scarce. By the paper's rule,
    /// a task with a share above 0 is *affected*.
    pub fn overlap(&self, node: Option<usize>, resource: Feature, from: f64, to: f64) -> f64 {
        let own = self.windows.iter().filter(|w| Some(w.node) == node && w.resource == resource);
        let seconds: f64 = own.map(|w| (w.to.min(to) - w.from.max(from)).max(0.0)).sum();
        if to > from { (seconds / (to - from)).min(1.0) } else { 0.0 }
    }
}

/// Counts a method's decisions about the three resources of each straggler of a pool.
pub fn score_resources(pool: &Pool, truth: &Truth, mut says: impl FnMut(usize, Feature) -> bool) -> Confusion {
    let mut confusion = Confusion::default();
    for task in pool.stragglers() {
        let record = &pool.tasks[task].record;
        for resource in RESOURCES {
            let affected = truth.overlap(record.node, resource, record.from, record.to) > 0.0;
            confusion.count(affected, says(task, resource));
        }
    }
    confusion
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percents(confusion: Confusion) -> [f64; 3] {
        let shares = [confusion.false_positive_rate(), confusion.true_positive_rate(), confusion.accuracy()];
        shares.map(|share| (share.unwrap() * 10_000.0).round() / 100.0)
    }

    /// Both rows of table V, to the printed digits.
    #[test]
    fn table_v_of_the_paper() {
        let table = |tp, tn, fp, fn_| Confusion {
            true_positives: tp,
            true_negatives: tn,
            false_positives: fp,
            false_negatives: fn_,
        };
        assert_eq!(percents(table(43, 282, 1, 28)), [0.35, 60.56, 91.81]);
        // 47/71 is 66.197%: the table cuts it to 66.19 where rounding gives 66.20; ACC 284/354 is 80.226
        assert_eq!(percents(table(47, 237, 46, 24)), [16.25, 66.2, 80.23]);
    }

    #[test]
    fn rates_of_no_tasks_are_unknown() {
        let none = Confusion::default();
        assert_eq!([none.false_positive_rate(), none.true_positive_rate(), none.accuracy()], [None; 3]);
    }

    #[test]
    fn overlaps_are_shares_of_the_task_on_the_same_node() {
        let window = TruthWindow { node: 1, resource: Feature::Disk, from: 10.0, to: 20.0 };
        let truth = Truth { windows: vec![window] };
        assert_eq!(truth.overlap(Some(1), Feature::Disk, 5.0, 15.0), 0.5);
        assert_eq!(truth.overlap(Some(0), Feature::Disk, 5.0, 15.0), 0.0);
        assert_eq!(truth.overlap(Some(1), Feature::Cpu, 5.0, 15.0), 0.0);
        assert_eq!(truth.overlap(None, Feature::Disk, 5.0, 15.0), 0.0);
    }
}
