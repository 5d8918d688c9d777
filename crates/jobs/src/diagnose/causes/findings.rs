//! What is said of a log: a finding for each straggler and each of its causes, and for each node that is slow as such.

use std::collections::BTreeSet;

use tailspn_common::order::quantile;

use crate::diagnose::causes::feature::{Category, Feature, RESOURCES};
use crate::diagnose::causes::nodes::NodeMeters;
use crate::diagnose::causes::pool::{Pool, PoolOptions, PoolTask};
use crate::diagnose::causes::records::records_of;
use crate::diagnose::causes::rules::{RootCause, Rules, Sign, judge};
use crate::diagnose::finding::{Cause, Evidence, Finding, FindingMethod, Subject};
use crate::trace::{JobTrace, StageId};

/// A node is slow where the median of its tasks' times, each over the median of its stage on other nodes, is above this: what makes
/// a straggler of a task. Healthy nodes of the labelled runs reach 1.31.
const SLOW_NODE: f64 = 1.5;
/// Fewest tasks of a node that say anything about it, and of others to compare it with.
const FEWEST: usize = 8;
/// A slow node gets few tasks. Fewer are enough where all of them took longer than every task of the stage elsewhere, and that has at most this
/// probability by chance.
const CHANCE: f64 = 1e-3;

/// What is known about one stage.
#[derive(Clone, Debug, PartialEq)]
pub struct StageSummary {
    /// Its name in findings.
    pub stage: String,
    /// Attempts that were compared.
    pub tasks: usize,
    /// The median time of tasks that succeeded \[s\].
    pub median: f64,
    /// Attempts that took more than 1.5 medians.
    pub stragglers: usize,
    /// Stragglers with a cause.
    pub explained: usize,
    /// Features that the input does not tell for any of its tasks.
    pub unknown: Vec<Feature>,
    /// Stragglers of which samples of a resource that others of the stage have cover less than half.
    pub uncovered: usize,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RootCauses {
    /// In the order of stages and tasks; of a task the surest first. Findings about nodes come last.
    pub findings: Vec<Finding>,
    /// The stages that have peers to compare with, in order.
    pub stages: Vec<StageSummary>,
    /// Stages with fewer than 3 tasks that succeeded: there is nothing to compare with.
    pub too_small: usize,
}

/// Finds the root causes of all stragglers of a log; `nodes` are the meters of its nodes, in their order, empty ones where there are
/// no samples.
pub fn root_causes(trace: &JobTrace, nodes: &[NodeMeters], options: &PoolOptions, rules: &Rules) -> RootCauses {
    let mut found = RootCauses::default();
    let mut times: Vec<NodeTimes> = vec![NodeTimes::default(); trace.nodes.len()];
    for (id, _) in trace.stages_with_ids() {
        let records = records_of(trace, id);
        if records.is_empty() {
            continue;
        }
        let Some(pool) = Pool::new(records, nodes, options) else {
            found.too_small += 1;
            continue;
        };
        let stage = stage_name(trace, id);
        let mut summary = summary(&pool, &stage);
        for task in pool.stragglers() {
            let new = of_straggler(trace, &pool, task, &stage, rules);
            summary.explained += usize::from(new.iter().any(|finding| finding.cause != Cause::Unknown));
            found.findings.extend(new);
        }
        found.stages.push(summary);
        compare_nodes(&pool, &mut times);
    }
    found.findings.extend(slow_nodes(trace, times));
    found
}

/// What findings call a stage: its number, with its attempt and its application where there are several.
pub fn stage_name(trace: &JobTrace, id: StageId) -> String {
    let Some(stage) = trace.stage(id) else { return String::new() };
    let attempt = if stage.attempt > 0 { format!(".{}", stage.attempt) } else { String::new() };
    let several = trace.applications.len() > 1;
    let application = if several { format!("{}/", stage.application.index()) } else { String::new() };
    format!("{application}{}{attempt}", stage.number)
}

fn summary(pool: &Pool, stage: &str) -> StageSummary {
    let known = |feature: &Feature| pool.tasks.iter().any(|task| task.values[*feature as usize].is_some());
    let slow = || pool.tasks.iter().filter(|task| task.straggler);
    let measured = || RESOURCES.iter().enumerate().filter(|(_, resource)| known(resource));
    StageSummary {
        stage: stage.to_owned(),
        tasks: pool.tasks.len(),
        median: pool.median,
        stragglers: slow().count(),
        explained: 0,
        unknown: Feature::ALL.into_iter().filter(|feature| !known(feature)).collect(),
        uncovered: slow().filter(|task| measured().any(|(i, _)| task.covered[i] < 0.5)).count(),
    }
}

/// The findings about one straggler, the surest first; one of an unknown cause where no feature explains it.
fn of_straggler(trace: &JobTrace, pool: &Pool, task: usize, stage: &str, rules: &Rules) -> Vec<Finding> {
    let own = &pool.tasks[task];
    let mut causes: Vec<RootCause> = Feature::ALL.into_iter().filter_map(|f| judge(pool, task, f, rules)).collect();
    causes.sort_by(|a, b| confidence(own, b).total_cmp(&confidence(own, a)));
    // memory and disk that were spilled, or bytes read and written, say the same of a task: the surer one speaks
    let mut told = BTreeSet::new();
    causes.retain(|cause| told.insert(cause.feature.cause()));
    let node = own.record.node.and_then(|node| trace.nodes.get(node)).map(|node| node.name.clone());
    let finding = |cause, score, threshold, confidence, evidence| Finding {
        method: FindingMethod::BigRoots,
        subject: Subject::Task {
            stage: stage.to_owned(),
            task: u64::from(own.record.task),
            attempt: own.record.attempt,
            node: node.clone(),
        },
        from: Some(own.record.from),
        to: Some(own.record.to),
        at_least: own.record.at_least,
        cause,
        score,
        threshold,
        confidence,
        evidence,
    };
    let time = Evidence { what: "time".to_owned(), value: own.record.seconds(), usual: pool.median, unit: "s".into() };
    if causes.is_empty() {
        let mut evidence = vec![time];
        if own.cold {
            let what = "first wave: slow as all of it, in medians".to_owned();
            evidence.push(Evidence { what, value: own.record.seconds() / pool.median, usual: 1.0, unit: "".into() });
        }
        let slowness = own.record.seconds() / pool.median;
        return vec![finding(Cause::Unknown, slowness, 1.5, 0.0, evidence)];
    }
    let each = causes.iter().map(|cause| {
        let mut evidence = evidence(pool, own, cause);
        evidence.insert(1.min(evidence.len()), time.clone());
        finding(cause.feature.cause(), cause.value, cause.threshold, confidence(own, cause), evidence)
    });
    each.collect()
}

/// How sure a cause is: how far it is beyond its threshold, times the share of the task that samples cover.
fn confidence(task: &PoolTask, cause: &RootCause) -> f64 {
    let covered = cause.feature.resource().map_or(1.0, |i| task.covered[i]);
    (cause.strength * covered).clamp(0.0, 1.0)
}

/// The feature as a person measures it, and what was around the task.
fn evidence(pool: &Pool, task: &PoolTask, cause: &RootCause) -> Vec<Evidence> {
    let of = match cause.sign {
        Sign::OtherNodes => "peers on other nodes",
        Sign::SameNode => "peers on the same node",
        Sign::Headroom => "what peers leave free",
        Sign::Outlier => "spread of normal tasks",
        Sign::Far => "normal tasks",
    };
    let (factor, unit) = match cause.feature.category() {
        Category::Numerical => {
            let stated = task.record.stated[cause.feature as usize];
            (stated.map_or(0.0, |stated| stated / cause.value), "B")
        }
        Category::Time => (100.0, "%"),
        Category::Resource if cause.feature == Feature::Network => (1.0, "B/s"),
        Category::Resource => (100.0, "%"),
        Category::Discrete => (1.0, ""),
    };
    let new = |what: String, value: f64, usual: f64| Evidence {
        what,
        value: factor * value,
        usual: factor * usual,
        unit: unit.into(),
    };
    let mut found = vec![new(format!("{}, against {of}", cause.feature.text()), cause.value, cause.usual)];
    if let Some(around) = cause.around {
        let sides = [("before it", around.head), ("after it", around.tail)];
        let sides = sides.into_iter().filter_map(|(when, side)| Some((when, side?)));
        found.extend(sides.map(|(when, side)| new(format!("{} {when}", cause.feature.text()), side, cause.usual)));
    }
    let resource = RESOURCES.contains(&cause.feature);
    if let (false, Some(quantile)) = (resource, pool.quantile(cause.feature, 1.0).filter(|&most| most > cause.value)) {
        found.push(new(format!("{}, against the most in the stage", cause.feature.text()), cause.value, quantile));
    }
    found
}

/// The tasks of a node beside those of others.
#[derive(Clone, Debug, Default)]
struct NodeTimes {
    /// Their times, each over the median of the stage's tasks on other nodes.
    ratios: Vec<f64>,
    /// Whether in some stage all of them took so much longer than all others that it is no chance.
    apart: bool,
}

/// Adds, for each node, the times of its tasks over the median of the stage's tasks on other nodes.
fn compare_nodes(pool: &Pool, times: &mut [NodeTimes]) {
    let done = || pool.tasks.iter().filter(|task| task.record.succeeded && !task.cold);
    for (node, own) in times.iter_mut().enumerate() {
        let mut others: Vec<f64> =
            done().filter(|t| t.record.node.is_some_and(|n| n != node)).map(|t| t.record.seconds()).collect();
        others.sort_unstable_by(f64::total_cmp);
        let Some(median) = quantile(&others, 0.5).filter(|&m| m > 0.0 && others.len() >= FEWEST) else { continue };
        let before = own.ratios.len();
        own.ratios.extend(done().filter(|t| t.record.node == Some(node)).map(|t| t.record.seconds() / median));
        let new = &own.ratios[before..];
        let least = new.iter().copied().fold(f64::INFINITY, f64::min);
        let most = others.last().map_or(0.0, |most| most / median);
        own.apart |= !new.is_empty() && least > most.max(SLOW_NODE) && chance(new.len(), others.len()) <= CHANCE;
    }
}

/// The probability that the slowest of all tasks are just these, where it is left to chance: 1 / C(own + others, own).
fn chance(own: usize, others: usize) -> f64 {
    (1..=own).map(|i| i as f64 / (others + i) as f64).product()
}

/// Nodes whose tasks are slow as a rule: not a straggler here and there, but the median.
fn slow_nodes(trace: &JobTrace, times: Vec<NodeTimes>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (node, NodeTimes { mut ratios, apart }) in trace.nodes.iter().zip(times) {
        ratios.sort_unstable_by(f64::total_cmp);
        let enough = apart || ratios.len() >= FEWEST;
        let Some(slowness) = quantile(&ratios, 0.5).filter(|&slowness| slowness > SLOW_NODE && enough) else {
            continue;
        };
        let tasks = ratios.len() as f64;
        let what = format!("time of its {tasks} tasks, in medians of other nodes");
        findings.push(Finding {
            method: FindingMethod::SlowNode,
            subject: Subject::Node { node: node.name.clone() },
            from: None,
            to: None,
            at_least: false,
            cause: Cause::SlowNode,
            score: slowness,
            threshold: SLOW_NODE,
            confidence: (1.0 - SLOW_NODE / slowness).clamp(0.0, 1.0),
            evidence: vec![Evidence { what, value: slowness, usual: 1.0, unit: "".into() }],
        });
    }
    findings
}
