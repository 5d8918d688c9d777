//! Scores of answers on runs whose fault is known, counted as in the paper \[Khadke2012, 6.1\]. Also chooses a setting
//! from all runs except the run on which the setting is scored.

use tailspn::diagnose::Cause;
use tailspn::diagnose::syscalls::Answer;
use tailspn::estimate::{Interval, ProportionError, wilson};

/// Largest output node set that counts as a success.
const MOST_NODES: usize = 3;

/// The true fault of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truth {
    /// The faulty node; `None` for a control run.
    pub node: Option<String>,
    /// The cause of the fault.
    pub cause: Cause,
}

/// The score of an answer. Both fields are false if a fault was not found, if the set of nodes was too large, or if the
/// run has no fault and the answer names no node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Worth {
    /// The answer names at most three nodes, the faulty node is one of them, and the cause is right.
    pub success: bool,
    /// The answer names nodes, but the faulty node is not one of them, or the cause is wrong.
    pub false_positive: bool,
}

impl Worth {
    /// Returns the score of an answer, given the true fault.
    pub fn of(answer: &Answer, truth: &Truth) -> Self {
        let holds = truth.node.as_ref().is_some_and(|node| answer.nodes.contains(node));
        let right = holds && answer.cause == Some(truth.cause);
        Self { success: right && answer.nodes.len() <= MOST_NODES, false_positive: !answer.nodes.is_empty() && !right }
    }

    /// Returns the points of the answer in a comparison of settings: 1 for a success, -1 for a false positive.
    fn points(self) -> i64 {
        i64::from(self.success) - i64::from(self.false_positive)
    }
}

/// Rates over several runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// Runs.
    pub runs: u64,
    /// Successes.
    pub successes: u64,
    /// False positives.
    pub false_positives: u64,
}

impl Rates {
    /// Counts a run.
    pub fn add(&mut self, worth: Worth) {
        self.runs += 1;
        self.successes += u64::from(worth.success);
        self.false_positives += u64::from(worth.false_positive);
    }

    /// Returns the share of successes, with Wilson's interval of 95%.
    ///
    /// # Errors
    ///
    /// Without runs.
    pub fn success(&self) -> Result<Interval, ProportionError> {
        wilson(self.successes, self.runs, 0.95)
    }

    /// Returns the share of false positives, with Wilson's interval of 95%.
    ///
    /// # Errors
    ///
    /// Without runs.
    pub fn false_positive(&self) -> Result<Interval, ProportionError> {
        wilson(self.false_positives, self.runs, 0.95)
    }
}

impl FromIterator<Worth> for Rates {
    fn from_iter<I: IntoIterator<Item = Worth>>(all: I) -> Self {
        let mut rates = Self::default();
        all.into_iter().for_each(|worth| rates.add(worth));
        rates
    }
}

/// Returns the index of the best setting on all runs except `left_out`; `worths[setting][run]` is a score. Of several
/// equally good settings, the middle one is taken. `None` without settings.
pub fn best_without(worths: &[Vec<Worth>], left_out: Option<usize>) -> Option<usize> {
    let points = |of: &Vec<Worth>| -> i64 {
        let others = of.iter().enumerate().filter(|(run, _)| Some(*run) != left_out);
        others.map(|(_, worth)| worth.points()).sum()
    };
    let points: Vec<i64> = worths.iter().map(points).collect();
    let most = points.iter().max()?;
    let best: Vec<usize> = points.iter().enumerate().filter(|(_, p)| *p == most).map(|(at, _)| at).collect();
    best.get(best.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailspn::diagnose::syscalls::Method;

    #[test]
    fn answers_are_worth_what_the_paper_says() {
        let truth = Truth { node: Some("n2".to_owned()), cause: Cause::Disk };
        let answer = |nodes, cause| {
            let method = Method::Statistical;
            Answer { method, cause, nodes, findings: Vec::new(), silence: None }
        };
        let worth = |cause, nodes: &[&str]| {
            let nodes = nodes.iter().map(|node| (*node).to_owned()).collect();
            let worth = Worth::of(&answer(nodes, cause), &truth);
            (worth.success, worth.false_positive)
        };
        assert_eq!(worth(Some(Cause::Disk), &["n2"]), (true, false));
        assert_eq!(worth(Some(Cause::Disk), &["n1", "n3", "n2"]), (true, false));
        assert_eq!(worth(Some(Cause::Disk), &["n1", "n3", "n4", "n2"]), (false, false));
        assert_eq!(worth(Some(Cause::Network), &["n2"]), (false, true));
        assert_eq!(worth(Some(Cause::Disk), &["n1"]), (false, true));
        assert_eq!(worth(None, &[]), (false, false));
        let [good, bad] =
            [(true, false), (false, true)].map(|(success, false_positive)| Worth { success, false_positive });
        let rates: Rates = [good, good, bad, Worth::default()].into_iter().collect();
        assert_eq!((rates.runs, rates.successes, rates.false_positives), (4, 2, 1));
        // the second setting is best for the runs but the first; of equals, the middle one is taken
        let worths = [vec![good, bad, bad], vec![bad, good, good], vec![good, bad, good]];
        assert_eq!(
            (best_without(&worths, Some(0)), best_without(&worths, Some(1)), best_without(&[], None)),
            (Some(1), Some(2), None)
        );
        assert_eq!(best_without(&[vec![good; 2], vec![good; 2], vec![good; 2]], None), Some(1));
    }
}
