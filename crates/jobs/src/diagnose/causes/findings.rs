//! Findings of a log: one for each straggler and each of its causes, and one for each slow node.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::diagnose::causes::feature::{Category, Feature, RESOURCES};
use crate::diagnose::causes::gpu::gpu;
use crate::diagnose::causes::naming::stage_name;
use crate::diagnose::causes::nodes::NodeMeters;
use crate::diagnose::causes::pool::{Pool, PoolOptions, PoolTask};
use crate::diagnose::causes::recorded::Recorded;
use crate::diagnose::causes::records::records_of;
use crate::diagnose::causes::rules::{RootCause, Rules, Sign, judge};
use crate::diagnose::causes::slow_nodes::{NodeTimes, blame, compare_nodes, slow_nodes};
use crate::diagnose::causes::starved::starved;
use crate::diagnose::causes::whole::whole;
use crate::diagnose::finding::{Cause, Evidence, Finding, FindingMethod, Subject};
use crate::trace::JobTrace;

/// Summary of one stage.
#[derive(Clone, Debug, PartialEq)]
pub struct StageSummary {
    /// Name in findings.
    pub stage: String,
    /// Attempts compared.
    pub tasks: usize,
    /// Median time of tasks that succeeded \[s\].
    pub median: f64,
    /// Attempts that took more than 1.5 times the median.
    pub stragglers: usize,
    /// Stragglers with a cause.
    pub explained: usize,
    /// Features that are unknown for all tasks of the stage.
    pub unknown: Vec<Feature>,
    /// Stragglers with samples of a resource for less than half of their time, although other tasks of the stage have such samples.
    pub uncovered: usize,
}

/// Findings and summaries of a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RootCauses {
    /// Findings in the order of stages and tasks; within a task the most confident first. Findings about nodes, stages and the job come last.
    pub findings: Vec<Finding>,
    /// Stages with peers to compare, in order.
    pub stages: Vec<StageSummary>,
    /// Stages with fewer than 3 successful tasks, too few to compare.
    pub too_small: usize,
    /// The list schedule of the job's tasks.
    pub(super) job: Recorded,
    /// Time from the submission of the job to its first task \[s\].
    pub(super) start_s: f64,
    /// Time in which no task ran because a stream waited for its next trigger \[s\].
    pub trigger_s: f64,
    /// CPU time of all tasks divided by their run time, if it is below one half and no sample of a run queue shows why.
    pub cpu_share: Option<f64>,
}

/// The time of a job, and the time of the schedule of its recorded tasks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayedTime {
    /// Time in the log \[s\].
    pub logged_s: f64,
    /// Time of the schedule \[s\].
    pub replayed_s: f64,
}

impl RootCauses {
    /// Returns the time of the job in the log and by the schedule that gains are computed with; none for a log of
    /// several applications.
    pub fn replayed(&self) -> Option<ReplayedTime> {
        Some(ReplayedTime { logged_s: self.job.logged_s()?, replayed_s: self.job.replayed_s()? })
    }
}

/// Finds the root causes of all stragglers of a log. `nodes` has the meters of each node of the log, in order; they
/// are empty for nodes without samples.
pub fn root_causes(trace: &JobTrace, nodes: &[NodeMeters], options: &PoolOptions, rules: &Rules) -> RootCauses {
    let mut found = RootCauses { job: Recorded::of(trace), ..RootCauses::default() };
    let mut times: Vec<NodeTimes> = vec![NodeTimes::default(); trace.nodes.len()];
    let has_user = nodes.iter().any(|node| !node.user.is_empty());
    let by_user: Option<Vec<NodeMeters>> = has_user.then(|| nodes.iter().map(NodeMeters::by_user).collect());
    let mut ranges = Vec::new();
    for (id, _) in trace.stages_with_ids() {
        let records = records_of(trace, id);
        if records.is_empty() {
            continue;
        }
        let by_user = by_user.as_ref().and_then(|nodes| Pool::new(records.clone(), nodes, options));
        let Some(pool) = Pool::new(records, nodes, options) else {
            found.too_small += 1;
            continue;
        };
        let stage = stage_name(trace, id);
        let before = found.findings.len();
        for task in pool.stragglers() {
            found.findings.extend(of_straggler(trace, &pool, by_user.as_ref(), task, &stage, rules));
        }
        ranges.push(before..found.findings.len());
        found.stages.push(summary(&pool, &stage));
        compare_nodes(&pool, &mut times);
    }
    let slow = slow_nodes(trace, times);
    blame(&mut found.findings, &slow);
    for (stage, range) in found.stages.iter_mut().zip(ranges) {
        let of_task = found.findings[range].chunk_by(|a, b| a.subject == b.subject);
        stage.explained = of_task.filter(|findings| findings[0].cause != Cause::Unknown).count();
    }
    found.findings.extend(slow);
    let whole = whole(trace, &found.job);
    (found.start_s, found.trigger_s) = (whole.start_s, whole.trigger_s);
    found.findings.extend(whole.findings);
    let cpus = starved(trace, nodes, &found.job);
    found.cpu_share = cpus.cpu_share;
    found.findings.extend(cpus.finding);
    let of_gpu = gpu(trace, &found.job);
    found.findings.extend(of_gpu);
    found
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

/// Returns the findings about one straggler, the most confident first; if no feature explains it, one finding of
/// unknown cause. The second pool contains the time of the CPUs in user mode.
fn of_straggler(
    trace: &JobTrace,
    pool: &Pool,
    by_user: Option<&Pool>,
    task: usize,
    stage: &str,
    rules: &Rules,
) -> Vec<Finding> {
    let own = &pool.tasks[task];
    let judged = |feature| {
        let second = || judge(by_user.filter(|_| feature == Feature::Cpu)?, task, feature, rules);
        judge(pool, task, feature, rules).or_else(second)
    };
    let mut causes: Vec<RootCause> = Feature::ALL.into_iter().filter_map(judged).collect();
    causes.sort_by(|a, b| confidence(own, b).total_cmp(&confidence(own, a)));
    // memory and disk spills, or bytes read and written, describe the same thing: keep the more confident finding
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
        first_wave: own.cold,
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
            let what = "slowness of the whole first wave, relative to the median".to_owned();
            evidence.push(Evidence { what, value: own.record.seconds() / pool.median, usual: 1.0, unit: "".into() });
        }
        let slowness = own.record.seconds() / pool.median;
        // how far the task is from one that is not slow
        let (cause, confidence) =
            if own.cold { (Cause::WarmUp, (1.0 - 1.5 / slowness).clamp(0.0, 1.0)) } else { (Cause::Unknown, 0.0) };
        return vec![finding(cause, slowness, 1.5, confidence, evidence)];
    }
    let each = causes.iter().map(|cause| {
        let mut evidence = evidence(pool, own, cause);
        evidence.insert(1.min(evidence.len()), time.clone());
        finding(cause.feature.cause(), cause.value, cause.threshold, confidence(own, cause), evidence)
    });
    each.collect()
}

/// Returns the confidence of a cause: how far its value is beyond the threshold, times the share of the task's time that samples cover.
fn confidence(task: &PoolTask, cause: &RootCause) -> f64 {
    let covered = cause.feature.resource().map_or(1.0, |i| task.covered[i]);
    (cause.strength * covered).clamp(0.0, 1.0)
}

/// Returns the feature in display units, and the conditions around the task.
fn evidence(pool: &Pool, task: &PoolTask, cause: &RootCause) -> Vec<Evidence> {
    let of = match cause.sign {
        Sign::OtherNodes => "peers on other nodes",
        Sign::SameNode => "peers on the same node",
        Sign::Headroom => "capacity that peers leave free",
        Sign::Outlier => "median of normal tasks",
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
    let mut found = vec![new(format!("{}, compared with {of}", cause.feature.text()), cause.value, cause.usual)];
    if let Some(around) = cause.around {
        let sides = [("before it", around.head), ("after it", around.tail)];
        let sides = sides.into_iter().filter_map(|(when, side)| Some((when, side?)));
        found.extend(sides.map(|(when, side)| new(format!("{} {when}", cause.feature.text()), side, cause.usual)));
    }
    let resource = RESOURCES.contains(&cause.feature);
    if let (false, Some(quantile)) = (resource, pool.quantile(cause.feature, 1.0).filter(|&most| most > cause.value)) {
        found.push(new(
            format!("{}, compared with the maximum of the stage", cause.feature.text()),
            cause.value,
            quantile,
        ));
    }
    found
}
