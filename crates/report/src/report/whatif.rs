//! The result of a what-if: policies compared; and the catalogue of detectors.

use serde::{Deserialize, Serialize};

use crate::cluster::detect::{CATALOGUE, DetectorKind};
use crate::cluster::metrics::Metric;
use crate::cluster::{Advice, PolicySummary, SlotShare, Watching};
use crate::estimate::Measured;
use crate::job_time::OwnRun;
use crate::plan::JobPlan;
use crate::report::distribution::Distribution;
use crate::report::json::Word;
use crate::whatif::{NetTimes, WhatIf, WhatIfJob, WhatIfOutcome};

/// A quantile of the job time \[s\].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TailRow {
    /// Probability of the quantile, in (0, 1).
    pub p: f64,
    /// Value of the quantile \[s\].
    #[serde(flatten)]
    pub quantity: Measured,
}

/// Effect of a policy compared with the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangeRow {
    /// Mean of the differences, replication by replication, in the unit of the value.
    pub difference: Measured,
    /// Ratio of the means; none if the baseline's mean is not separable from 0.
    pub ratio: Option<Measured>,
}

/// Detector quality on the maps; none if it cannot be determined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricRow {
    /// `precision`, `recall`, `detection_latency`, `fake_positives`, `undetected_time` or `straggler_share`.
    pub name: Word,
    /// Value of the metric, pooled over the replications; none if it is 0/0, or not separable from 0/0.
    pub value: Option<Measured>,
}

/// A policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyRow {
    /// Name of the policy.
    pub name: String,
    /// Detector of the policy.
    pub detector: DetectorKind,
    /// Share of slots for tasks, or `shared`.
    pub slots: SlotShare,
    /// Age of a job at the first check \[s\].
    pub lag_s: f64,
    /// Condition under which the detector runs: always, or only while no task waits.
    pub watch: Watching,
    /// Mean job time \[s\].
    pub job_time_s: Measured,
    /// p95 and p99 of the job time.
    pub tails: Vec<TailRow>,
    /// The probability of finishing by the deadline; none without a deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done_by_deadline: Option<Measured>,
    /// Energy \[J\].
    pub energy_j: Measured,
    /// Slot-seconds of attempts that were killed or lost \[s\].
    pub wasted_slot_s: Measured,
    /// Copies that were started.
    pub copies: Measured,
    /// Copies that finished before their original.
    pub copies_won: Measured,
    /// Metrics of the detector's quality.
    pub metrics: Vec<MetricRow>,
    /// Change of the job time \[s\]; none for the baseline.
    pub job_time_change: Option<ChangeRow>,
    /// Change of the energy \[J\]; none for the baseline.
    pub energy_change: Option<ChangeRow>,
}

/// The job time of the same plan as a net.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NetRow {
    /// `no copies`, or `copies of [speculation]`.
    pub name: String,
    /// Mean job time \[s\].
    pub job_time_s: Measured,
    /// The same quantiles of the job time as for the policies.
    pub tails: Vec<TailRow>,
}

/// All results of a what-if.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhatIfReport {
    /// Nodes of the cluster.
    pub nodes: u64,
    /// Slots of the cluster.
    pub slots: u64,
    /// Jobs.
    pub jobs: usize,
    /// Map tasks of all jobs; for a log, all tasks.
    pub maps: u64,
    /// Reduce tasks of all jobs.
    pub reduces: u64,
    /// Confidence level of all intervals.
    pub level: f64,
    /// Replications of each policy.
    pub replications: u64,
    /// The deadline \[s\], if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_s: Option<f64>,
    /// True if the run ended early.
    pub partial: bool,
    /// The check of the plan on the runs that it was fitted to; none if the question is not about a plan of a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_run: Option<OwnRun>,
    /// Name of the policy with which the others are compared: the first without a detector, otherwise the first.
    pub baseline: String,
    /// The policies, in the order of the plan.
    pub policies: Vec<PolicyRow>,
    /// The same plan as a net, without copies and with the copies of `[speculation]`; empty if the plan has no net.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub net: Vec<NetRow>,
    /// Explains why the net and the cluster simulator differ.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub net_note: String,
    /// Advice in one sentence; it considers only differences whose interval excludes 0.
    pub advice: String,
    /// Version of tailspn.
    pub version: Word,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Wall time of all replications \[s\].
    pub wall_s: f64,
    /// The plan, every key written out.
    pub plan: String,
}

/// Reports policies compared on a job, with the job times of its nets.
pub fn what_if_report(study: &WhatIf, outcome: &WhatIfOutcome) -> WhatIfReport {
    let plan = match study.plan() {
        Some(JobPlan::Tasks(plan)) => toml::to_string(&plan).ok(),
        plan => plan.and_then(|plan| plan.to_toml().ok()),
    };
    let plan = plan.unwrap_or_default();
    let mut report = WhatIfReport { plan, ..report_of(size_of(&study.job), study, outcome) };
    outcome.nets.iter().for_each(|net| report.add_net(net));
    report
}

/// The size of a job.
fn size_of(job: &WhatIfJob) -> WhatIfSize {
    match job {
        WhatIfJob::Tasks(plan) => {
            let groups = &plan.cluster.node;
            WhatIfSize {
                nodes: groups.iter().map(|group| u64::from(group.count)).sum(),
                slots: groups.iter().map(|group| u64::from(group.count) * u64::from(group.slots)).sum(),
                jobs: plan.job.len(),
                maps: plan.job.iter().map(|job| u64::from(job.maps)).sum(),
                reduces: plan.job.iter().map(|job| u64::from(job.reduces)).sum(),
            }
        }
        WhatIfJob::Planned(planned) => {
            let (plan, job) = &**planned;
            let tasks: Vec<u64> = job.stages.iter().map(|stage| u64::from(stage.tasks.count())).collect();
            let (maps, reduces) = match (plan, &tasks[..]) {
                (JobPlan::MapReduce(_), [maps, reduces]) => (*maps, *reduces),
                _ => (tasks.iter().sum(), 0),
            };
            let slots = job.machines.iter().map(|machine| u64::from(machine.slots)).sum();
            WhatIfSize { nodes: job.machines.len() as u64, slots, jobs: 1, maps, reduces }
        }
        WhatIfJob::Replayed(replay) => WhatIfSize {
            nodes: replay.nodes.len() as u64,
            slots: replay.nodes.iter().map(|node| u64::from(node.slots)).sum(),
            jobs: 1,
            maps: replay.stages.iter().map(|stage| stage.tasks as u64).sum(),
            reduces: 0,
        },
    }
}

impl WhatIfReport {
    /// Adds the job time of a net, and explains why it differs from the cluster simulator's job time.
    fn add_net(&mut self, NetTimes { name, plan, run }: &NetTimes) {
        let samples = &run.samples;
        let time = Distribution::new(&samples.passage, &samples.passage_histogram, samples.clock, self.level);
        self.partial |= run.provenance.cut_short;
        let Some(time) = time else { return };
        let shown = |p: f64| self.policies.iter().flat_map(|row| &row.tails).any(|tail| (tail.p - p).abs() < 1e-12);
        let tails = time.quantiles.into_iter().filter(|row| shown(row.p));
        let tails = tails.map(|row| TailRow { p: row.p, quantity: row.quantity }).collect();
        let first = self.net.first().map_or(time.mean.value, |row| row.job_time_s.value);
        let base = self.policies.iter().find(|row| row.detector == DetectorKind::None);
        self.net_note = base.map_or_else(String::new, |base| {
            let percent = 100.0 * (first / base.job_time_s.value - 1.0);
            let longer = if percent < 0.0 { "shorter" } else { "longer" };
            let percent = percent.abs();
            format!(
                "Without copies, the mean job time of the net is {percent:.1}% {longer} than the cluster simulator's. "
            )
        });
        self.net_note += "The net draws at the start of a task whether it is slow and whether a detector flags it; in the cluster simulator, \
                          detectors watch the progress of tasks.";
        if !plan.has_equal_workers() {
            self.net_note += " The net assigns each task to a kind of worker in advance, by mean times; the cluster simulator gives each free \
                              slot the next task, as Hadoop does.";
        }
        self.net.push(NetRow { name: (*name).to_owned(), job_time_s: time.mean, tails });
    }
}

/// Size of the job that policies are compared on.
struct WhatIfSize {
    nodes: u64,
    slots: u64,
    jobs: usize,
    maps: u64,
    reduces: u64,
}

fn report_of(size: WhatIfSize, study: &WhatIf, outcome: &WhatIfOutcome) -> WhatIfReport {
    let comparison = &outcome.comparison;
    let replications = comparison.replications as u64;
    WhatIfReport {
        nodes: size.nodes,
        slots: size.slots,
        jobs: size.jobs,
        maps: size.maps,
        reduces: size.reduces,
        level: comparison.level,
        replications,
        deadline_s: comparison.deadline_s,
        partial: replications < outcome.planned,
        own_run: None,
        baseline: comparison.policies.get(comparison.baseline).map_or_else(String::new, |row| row.policy.title()),
        policies: comparison.policies.iter().map(policy_row).collect(),
        net: Vec::new(),
        net_note: String::new(),
        advice: match &outcome.without_spread {
            Some(still) => Advice::of_assumed(comparison, still).to_string(),
            None => Advice::new(comparison).to_string(),
        },
        version: env!("CARGO_PKG_VERSION").into(),
        seed: study.run.seed.unwrap_or(0),
        wall_s: outcome.wall.as_secs_f64(),
        plan: String::new(),
    }
}

fn policy_row(row: &PolicySummary) -> PolicyRow {
    let change = |change: &crate::cluster::Change| ChangeRow {
        difference: change.difference.clone(),
        ratio: change.ratio.clone(),
    };
    let tail = |tail: &crate::cluster::Tail| TailRow { p: tail.p, quantity: tail.time_s.clone() };
    PolicyRow {
        name: row.policy.title(),
        detector: row.policy.detector.kind(),
        slots: row.policy.slots,
        lag_s: row.policy.lag_s,
        watch: row.policy.watch,
        job_time_s: row.job_s.clone(),
        tails: row.tails.iter().map(tail).collect(),
        done_by_deadline: row.done.clone(),
        energy_j: row.energy_j.clone(),
        wasted_slot_s: row.wasted_s.clone(),
        copies: row.copies.clone(),
        copies_won: row.won.clone(),
        metrics: Metric::ALL
            .iter()
            .zip(&row.metrics)
            .map(|(metric, value)| MetricRow { name: metric.name().into(), value: value.clone() })
            .collect(),
        job_time_change: row.job_change.as_ref().map(change),
        energy_change: row.energy_change.as_ref().map(change),
    }
}

/// A detector, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DetectorRow {
    /// Name of the detector in plans.
    pub name: Word,
    /// Condition for flagging a task.
    pub rule: Word,
    /// Data that the detector needs.
    pub needs: Word,
    /// Key in docs/references.md.
    pub source: Word,
}

/// All detectors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DetectorsReport {
    /// In the order of the catalogue.
    pub detectors: Vec<DetectorRow>,
}

/// Returns the catalogue of detectors.
pub fn detectors_report() -> DetectorsReport {
    let row = |entry: &crate::cluster::detect::CatalogueEntry| DetectorRow {
        name: entry.name.into(),
        rule: entry.rule.into(),
        needs: entry.needs.into(),
        source: entry.source.into(),
    };
    DetectorsReport { detectors: CATALOGUE.iter().map(row).collect() }
}
