//! Slow nodes: most of their tasks are slow, not just single stragglers.

use tailspn_common::order::{median, quantile};

use crate::diagnose::causes::pool::{Pool, PoolTask};
use crate::diagnose::finding::{Cause, Evidence, Finding, FindingMethod, Subject};
use crate::trace::JobTrace;

/// A node is slow if the median of its task times, each divided by the stage's median on other nodes, exceeds
/// this value, which is also the threshold for stragglers. Healthy nodes of the labelled runs reach 1.31.
const SLOW_NODE: f64 = 1.5;
/// Minimum number of tasks on a node, and on other nodes, for a comparison.
const FEWEST: usize = 8;
/// Maximum probability that all tasks of a node in a stage are among the slowest tasks of the stage by chance.
const CHANCE: f64 = 1e-3;
/// Minimum number of these tasks. It is small because a slow node gets few tasks, and may be slow only for a while.
const FEWEST_APART: usize = 3;

/// The times of a node's tasks, compared with the times of tasks on other nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeTimes {
    /// Times of the node's tasks, each divided by the median of the stage's tasks on other nodes.
    ratios: Vec<f64>,
    /// The same ratios for the largest stage in which all tasks of the node are among the slowest, which is unlikely by chance.
    apart: Vec<f64>,
}

/// Adds, for each node, the times of its tasks, divided by the median of the stage's tasks on other nodes.
pub(super) fn compare_nodes(pool: &Pool, times: &mut [NodeTimes]) {
    let warm = || pool.tasks.iter().filter(|task| !task.cold);
    let done = || warm().filter(|task| task.record.succeeded);
    for (node, own) in times.iter_mut().enumerate() {
        let mut others: Vec<f64> =
            done().filter(|t| t.record.node.is_some_and(|n| n != node)).map(|t| t.record.seconds()).collect();
        others.sort_unstable_by(f64::total_cmp);
        let Some(median) = quantile(&others, 0.5).filter(|&m| m > 0.0 && others.len() >= FEWEST) else { continue };
        let before = own.ratios.len();
        // an attempt that was killed for its copy would have taken longer still; if it was killed early, it is no evidence
        let tells = |t: &&PoolTask| t.record.succeeded || t.record.seconds() > SLOW_NODE * median;
        let here = warm().filter(|t| t.record.node == Some(node)).filter(tells);
        own.ratios.extend(here.map(|t| t.record.seconds() / median));
        let new = &own.ratios[before..];
        let least = new.iter().copied().fold(f64::INFINITY, f64::min);
        let slower = others.iter().filter(|time| **time >= least * median).count();
        let is_apart = least > SLOW_NODE && chance(new.len(), others.len(), slower) <= CHANCE;
        if is_apart && new.len() >= FEWEST_APART.max(own.apart.len()) {
            own.apart = new.to_vec();
        }
    }
}

/// Returns the probability that, by chance, all `own` tasks of a node are among the `own + slower` slowest tasks of a
/// stage: C(own + slower, own) / C(own + others, own). Returns 1 if there are no tasks.
fn chance(own: usize, others: usize, slower: usize) -> f64 {
    (1..=own).map(|i| (slower + i) as f64 / (others + i) as f64).product()
}

/// Returns findings about nodes whose median task is slow, not just single stragglers.
pub(super) fn slow_nodes(trace: &JobTrace, times: Vec<NodeTimes>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (node, NodeTimes { ratios, apart }) in trace.nodes.iter().zip(times) {
        let middle = |ratios: &[f64]| median(ratios.iter().copied()).filter(|slowness| *slowness > SLOW_NODE);
        let of_all = middle(&ratios).filter(|_| ratios.len() >= FEWEST).map(|slowness| (slowness, ratios.len()));
        let Some((slowness, tasks)) = of_all.or_else(|| Some((middle(&apart)?, apart.len()))) else { continue };
        let what = format!("time of {tasks} of its tasks, relative to the median on other nodes");
        findings.push(Finding {
            method: FindingMethod::SlowNode,
            subject: Subject::Node { node: node.name.clone() },
            from: None,
            to: None,
            at_least: false,
            first_wave: false,
            cause: Cause::SlowNode,
            score: slowness,
            threshold: SLOW_NODE,
            confidence: (1.0 - SLOW_NODE / slowness).clamp(0.0, 1.0),
            evidence: vec![Evidence { what, value: slowness, usual: 1.0, unit: "".into() }],
        });
    }
    findings
}

/// Blames slow nodes for their stragglers without another cause. Executors that had just started are excluded,
/// because the data do not support a conclusion about them.
pub(super) fn blame(findings: &mut [Finding], slow: &[Finding]) {
    let node_of = |finding: &Finding| match &finding.subject {
        Subject::Node { node } | Subject::Task { node: Some(node), .. } => Some(node.clone()),
        _ => None,
    };
    for finding in findings.iter_mut().filter(|finding| finding.cause == Cause::Unknown && !finding.first_wave) {
        let own = node_of(finding);
        if let Some(node) = slow.iter().find(|slow| own.is_some() && node_of(slow) == own) {
            finding.cause = Cause::SlowNode;
            finding.confidence = node.confidence;
            finding.evidence.extend(node.evidence.iter().cloned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 4 tasks among 40: 1 / 91,390 that they are the slowest, 15 / 91,390 that they are among the six slowest.
    #[test]
    fn the_chance_that_slow_nodes_rank_first_is_exact() {
        assert!((chance(4, 36, 0) - 1.0 / 91_390.0).abs() < 1e-18);
        assert!((chance(4, 36, 2) - 15.0 / 91_390.0).abs() < 1e-17);
        assert_eq!((chance(0, 36, 36), chance(3, 5, 5)), (1.0, 1.0));
    }
}
