//! The straggler identifier: the stragglers of a log by the common rules, and their nodes.
//!
//! Implements rules over all stages of a log, and shares in percent. It is retrospective; `agent` predicts.

use std::collections::BTreeMap;

use serde::Serialize;

use tailspn_common::order::quantile;

use crate::trace::analysis::observed;
use crate::trace::{Attempt, JobTrace, NodeId, Stage};

/// Baseline of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Centre {
    /// The mean time of attempts that succeeded.
    Mean,
    /// The median time of attempts that succeeded.
    Median,
}

/// Rule: a straggler takes more than `factor` times the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StragglerRule {
    /// The baseline.
    pub centre: Centre,
    /// Multiple of the baseline, > 1.
    pub factor: f64,
}

/// The rules that \[Garraghan2015, Table 1\] and \[Phan2018\] compare: 1.5 means, 1.5 medians, 1.2 means, and 1.2 medians.
pub const RULES: [StragglerRule; 4] = [
    StragglerRule { centre: Centre::Mean, factor: 1.5 },
    StragglerRule { centre: Centre::Median, factor: 1.5 },
    StragglerRule { centre: Centre::Mean, factor: 1.2 },
    StragglerRule { centre: Centre::Median, factor: 1.2 },
];

impl StragglerRule {
    /// Returns the time \[s\] above which a task is a straggler, from the ascending times of the successful tasks \[s\].
    /// Returns none if `sorted_s` is empty.
    pub fn limit(&self, sorted_s: &[f64]) -> Option<f64> {
        let usual = match self.centre {
            Centre::Mean => (!sorted_s.is_empty()).then(|| sorted_s.iter().sum::<f64>() / sorted_s.len() as f64),
            Centre::Median => quantile(sorted_s, 0.5),
        };
        usual.map(|usual| self.factor * usual)
    }
}

/// A part of a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Share {
    /// The part.
    pub part: u64,
    /// The whole.
    pub whole: u64,
}

impl Share {
    /// Returns the share in hundredths of a percent, rounded half up; none for a total of 0. Exact.
    ///
    /// ```
    /// # use tailspn_jobs::diagnose::long_tail::Share;
    /// // the first cell of the paper's table 1: 4.43%
    /// assert_eq!(Share { part: 11_210, whole: 252_950 }.basis_points(), Some(443));
    /// ```
    pub fn basis_points(&self) -> Option<u64> {
        let (part, whole) = (u128::from(self.part), u128::from(self.whole));
        u64::try_from((part * 20_000 + whole).checked_div(2 * whole)?).ok()
    }
}

/// Stragglers of a log by one rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Identified {
    /// The rule.
    pub rule: StragglerRule,
    /// Stragglers among the tasks of stages with enough tasks.
    pub tasks: Share,
    /// Jobs with a straggler among the jobs with such a stage.
    pub jobs: Share,
    /// Nodes with a straggler among the nodes that ran such tasks.
    pub nodes: Share,
    /// Number of stragglers of each node, in descending order, then by name.
    pub per_node: Vec<(String, u64)>,
}

/// Minimum number of successful attempts for the mean and median of a stage to be a baseline.
const FEWEST: usize = 3;

/// Finds the stragglers of a log by a rule. Failed attempts are excluded; an attempt that was
/// killed or has no end counts with its observed run time, as in
/// [`stragglers`](crate::trace::analysis::stragglers()). Jobs are applications.
pub fn identify(trace: &JobTrace, rule: StragglerRule) -> Identified {
    identify_where(trace, rule, |_, _| true)
}

/// Applies [`identify`] to the stages that are batch work by \[Garraghan2015, V\]: all tasks request the same resources, if the log has them, and
/// arrive within `within_s` of each other.
pub fn identify_batch(trace: &JobTrace, rule: StragglerRule, within_s: f64) -> Identified {
    use crate::trace::Metric;
    identify_where(trace, rule, |_, attempts| {
        let mut asked = attempts.iter().filter_map(|attempt| trace.amount(attempt, Metric::RequestedCpu));
        let first = asked.next();
        let launches = || attempts.iter().filter_map(Attempt::launch);
        let together = launches().min().zip(launches().max()).is_none_or(|(a, z)| z.seconds_since(a) <= within_s);
        together && asked.all(|other| Some(other) == first)
    })
}

fn identify_where(trace: &JobTrace, rule: StragglerRule, wanted: impl Fn(&Stage, &[Attempt]) -> bool) -> Identified {
    let mut found = Identified {
        rule,
        tasks: Share::default(),
        jobs: Share::default(),
        nodes: Share::default(),
        per_node: Vec::new(),
    };
    let mut jobs: BTreeMap<usize, bool> = BTreeMap::new();
    let mut nodes: BTreeMap<NodeId, u64> = BTreeMap::new();
    for (id, stage) in trace.stages_with_ids() {
        let attempts = trace.attempts_of(id);
        let mut done: Vec<f64> = attempts.iter().filter(|a| a.succeeded()).filter_map(Attempt::duration).collect();
        done.sort_unstable_by(f64::total_cmp);
        let Some(limit) = rule.limit(&done).filter(|_| done.len() >= FEWEST && wanted(stage, attempts)) else {
            continue;
        };
        let hit = jobs.entry(stage.application.index()).or_default();
        for attempt in attempts.iter().filter(|attempt| !attempt.outcome.is_failure()) {
            let Some(seen) = observed(trace, attempt) else { continue };
            let slow = seen.seconds > limit;
            found.tasks.whole += 1;
            found.tasks.part += u64::from(slow);
            *hit |= slow;
            if let Some(node) = attempt.node {
                *nodes.entry(node).or_default() += u64::from(slow);
            }
        }
    }
    found.jobs = Share { part: jobs.values().filter(|hit| **hit).count() as u64, whole: jobs.len() as u64 };
    found.nodes = Share { part: nodes.values().filter(|count| **count > 0).count() as u64, whole: nodes.len() as u64 };
    let named = |(node, count): (NodeId, u64)| Some((trace.nodes.get(node.index())?.name.clone(), count));
    found.per_node = nodes.into_iter().filter_map(named).collect();
    found.per_node.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every percentage of the paper's table 1 follows from its counts, with the 1,233,879 tasks of the table; with the 1,223,879 of
    /// the paper's prose, Cloud B's shares of tasks do not.
    #[test]
    fn percentages_of_table_1() {
        let share = |part, whole| Share { part, whole }.basis_points();
        let google = [(11_210, 252_950, 443), (16_543, 252_950, 654), (1081, 3043, 3552), (1150, 3043, 3779)];
        let cloud_b = [(33_322, 1_233_879, 270), (42_925, 1_233_879, 348), (512, 875, 5851), (433, 875, 4949)];
        for (part, whole, percent) in google.into_iter().chain(cloud_b) {
            assert_eq!(share(part, whole), Some(percent), "{part} of {whole}");
        }
        assert_eq!((share(33_322, 1_223_879), share(42_925, 1_223_879)), (Some(272), Some(351)));
        assert_eq!((share(0, 0), share(u64::MAX, u64::MAX), share(1, 20_000)), (None, Some(10_000), Some(1)));
    }

    #[test]
    fn limits_of_the_straggler_rules_match_hand_computed_values() {
        let times = [1.0, 1.0, 1.0, 1.0, 6.0];
        let limits = RULES.map(|rule| rule.limit(&times).unwrap());
        assert_eq!(limits, [3.0, 1.5, 2.4, 1.2]);
        assert_eq!(RULES[0].limit(&[]), None);
    }
}
