//! Result of a simulation of a net: names with numbers, seconds instead of ticks, intervals.

use serde::{Deserialize, Serialize};

use crate::ask::net::{NetSummary, Subject};
use crate::compile::Ids;
use crate::estimate::{FloatMoments, Interval, Measured, clopper_pearson};
use crate::report::distribution::{Distribution, mean_time};
use crate::report::json::Word;
use crate::report::method::AnswerMethod;
use crate::sim::{DeviceUse, Ending, FoldedParts, Goal, NotFolded, Provenance, Question, Run, Samples};

/// The question of the simulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuestionSummary {
    /// The goal as text.
    pub goal: String,
    /// Model time from which the goal counts \[s\]; none: from the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earliest_s: Option<f64>,
    /// Model time at which a replication ends at the latest \[s\].
    pub horizon_s: Option<f64>,
    /// Model time from which averages are collected \[s\].
    pub warm_up_s: f64,
    /// Firings after which a replication stops.
    pub max_firings: Option<u64>,
    /// Confidence level of all intervals.
    pub level: f64,
}

impl QuestionSummary {
    pub(super) fn new(question: &Question, level: f64) -> Self {
        Self {
            goal: question.words(),
            earliest_s: (question.earliest > 0.0).then_some(question.earliest),
            horizon_s: question.horizon,
            warm_up_s: question.warm_up,
            max_firings: question.max_firings,
            level,
        }
    }
}

/// Number of replications by ending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndingCounts {
    /// At the goal.
    pub goal: u64,
    /// In a dead marking that is not the goal.
    pub dead: u64,
    /// At the horizon.
    pub horizon: u64,
    /// Stopped at the limit of firings.
    pub max_firings: u64,
    /// In a marking to avoid; absent if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub avoided: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A named number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "NamedQuantity"))]
pub struct Row {
    /// The node, group or reward of the row.
    pub name: String,
    /// Unit of the row.
    pub unit: Word,
    /// The number.
    #[serde(flatten)]
    pub quantity: Measured,
}

/// First and last firing of a group of transitions \[s\].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupRow {
    /// The group's name.
    pub name: String,
    /// Mean time of the first firing; none if the group never fired.
    pub first: Option<Measured>,
    /// Mean time of the last firing; none if the group never fired.
    pub last: Option<Measured>,
}

/// The mean of an expression at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SnapshotRow {
    /// The time \[s\].
    pub time_s: f64,
    /// The expression as written.
    pub expression: String,
    /// Mean of the row; none if no replication reached the time.
    pub mean: Option<Measured>,
}

/// The part of a run that was executed on a GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceSummary {
    /// Name according to the driver.
    pub adapter: String,
    /// Replications that ran on the GPU.
    pub replications: u64,
    /// Wall time of opening the GPU and of compiling shaders \[s\].
    pub setup_s: f64,
    /// Wall time of uploading programs and parameters \[s\].
    pub upload_s: f64,
    /// Wall time from the submission of work until its completion \[s\].
    pub compute_s: f64,
    /// Wall time of copying results back and unpacking them \[s\].
    pub read_back_s: f64,
}

impl DeviceSummary {
    fn new(device: &DeviceUse) -> Self {
        let [setup_s, upload_s, compute_s, read_back_s] =
            [device.times.setup, device.times.upload, device.times.compute, device.times.read_back]
                .map(|time| time.as_secs_f64());
        let (adapter, replications) = (device.adapter.clone(), device.replications);
        Self { adapter, replications, setup_s, upload_s, compute_s, read_back_s }
    }
}

/// All data needed to identify and repeat a run.
///
/// The rest of the result depends only on net, question and seed, not on `vector`, `threads`, `backend`,
/// `backend_reason`, `device` and `wall_s`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProvenanceSummary {
    /// Version of tailspn.
    pub version: Word,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Number of the first replication.
    pub first_replication: u64,
    /// Name of the engine.
    pub engine: Word,
    /// Reason why faster engines were not used.
    pub reasons: Vec<String>,
    /// Vector instructions that were used.
    pub vector: Word,
    /// Threads that were used.
    pub threads: usize,
    /// Backend that ran the replications: `cpu`, `gpu`, `cpu then gpu`, or `cpu then gpu then cpu`.
    pub backend: Word,
    /// Reason for that choice.
    pub backend_reason: String,
    /// The opened GPU, even if it failed immediately.
    pub device: Option<DeviceSummary>,
    /// Length of a tick of model time \[s\].
    pub tick_s: f64,
    /// Wall time of the replications \[s\].
    pub wall_s: f64,
    /// The folded parts of the net; none if it ran unfolded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folded: Option<FoldedParts>,
    /// Similar parts of the net that were not folded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_folded: Vec<NotFolded>,
}

/// All results of a simulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SimulationReport {
    /// The net.
    pub net: NetSummary,
    /// The question.
    pub question: QuestionSummary,
    /// Method that found the numbers.
    pub method: AnswerMethod,
    /// Number of replications; 0 for an exact answer.
    pub replications: u64,
    /// True if the run ended early.
    pub partial: bool,
    /// Number of replications by ending.
    pub endings: EndingCounts,
    /// Firings of all replications.
    pub firings: u64,
    /// Time to the goal, of the replications that reached it.
    pub passage_time: Option<Distribution>,
    /// Share of the replications that reached the goal; none if the goal is the horizon. The upper end of the interval counts
    /// replications that stopped at the limit of firings as if they reached the goal later.
    pub goal_probability: Option<Measured>,
    /// Groups of transitions, in the order of the question.
    pub groups: Vec<GroupRow>,
    /// Time-averaged number of tokens per place and class.
    pub tokens: Vec<Row>,
    /// Firings per second per transition.
    pub throughputs: Vec<Row>,
    /// Rewards, in the order of the question.
    pub rewards: Vec<Row>,
    /// Snapshots, ascending in time.
    pub snapshots: Vec<SnapshotRow>,
    /// Origin of the numbers of a simulation.
    pub provenance: Option<ProvenanceSummary>,
}

/// Reports the result of a run, with intervals of confidence `level`.
pub fn simulation_report(run: &Run, question: &Question, subject: &Subject<'_>, level: f64) -> SimulationReport {
    let samples = &run.samples;
    let averages = samples.averages();
    let snapshots = question.snapshots.iter().zip(&averages.snapshots);
    SimulationReport {
        net: NetSummary::new(subject),
        question: QuestionSummary::new(question, level),
        method: AnswerMethod::simulation(),
        replications: samples.replications,
        partial: run.provenance.cut_short,
        endings: endings(samples),
        firings: u64::try_from(samples.firings).unwrap_or(u64::MAX),
        passage_time: Distribution::new(&samples.passage, &samples.passage_histogram, samples.clock, level),
        goal_probability: goal_probability(samples, question, level),
        groups: group_rows(samples, question, level),
        tokens: rows(&counter_names(subject), "tokens", &averages.tokens, level),
        throughputs: rows(subject.transitions, "1/s", &averages.throughput, level),
        rewards: rows(&reward_names(question), "", &averages.rewards, level),
        snapshots: snapshots
            .map(|(snapshot, moments)| SnapshotRow {
                time_s: snapshot.time,
                expression: snapshot.text.clone(),
                mean: snapshot.mean(moments, level),
            })
            .collect(),
        provenance: Some(provenance_summary(&run.provenance, samples.clock.tick())),
    }
}

/// The share of the replications that reached the goal. Replications that stopped at the limit of firings may reach it
/// later, so the upper end of the interval counts them too.
fn goal_probability(samples: &Samples, question: &Question, level: f64) -> Option<Measured> {
    if question.goal == Goal::Horizon {
        return None;
    }
    let (reached, all) = (samples.ended(Ending::Goal), samples.replications);
    let least = clopper_pearson(reached, all, level).ok()?;
    let most = clopper_pearson(reached + samples.ended(Ending::Firings), all, level).ok()?;
    Some(Interval { high: most.high, ..least }.into())
}

fn endings(samples: &Samples) -> EndingCounts {
    EndingCounts {
        goal: samples.ended(Ending::Goal),
        dead: samples.ended(Ending::Dead),
        horizon: samples.ended(Ending::Horizon),
        max_firings: samples.ended(Ending::Firings),
        avoided: samples.ended(Ending::Avoided),
    }
}

pub(super) fn group_rows(samples: &Samples, question: &Question, level: f64) -> Vec<GroupRow> {
    question
        .groups
        .iter()
        .zip(&samples.groups)
        .map(|(group, times)| GroupRow {
            name: group.name.clone(),
            first: mean_time(&times.first, samples.clock, level),
            last: mean_time(&times.last, samples.clock, level),
        })
        .collect()
}

/// Returns one name per counter: the place, and the class if there are several.
pub(super) fn counter_names(subject: &Subject<'_>) -> Ids {
    let one = |place: &str| {
        let several = subject.classes.len() > 1;
        let names = subject.classes.iter();
        names.map(move |class| if several { format!("{place}, {class}") } else { place.to_owned() }).collect::<Vec<_>>()
    };
    subject.places.iter().flat_map(one).collect()
}

pub(super) fn reward_names(question: &Question) -> Ids {
    question.rewards.iter().map(|reward| &reward.name).collect()
}

fn rows(names: &Ids, unit: &'static str, moments: &[FloatMoments], level: f64) -> Vec<Row> {
    let row = |(name, moments): (&str, &FloatMoments)| {
        Some(Row { name: name.to_owned(), unit: unit.into(), quantity: float_mean(moments, level)? })
    };
    names.iter().zip(moments).filter_map(row).collect()
}

pub(super) fn float_mean(moments: &FloatMoments, level: f64) -> Option<Measured> {
    Measured::new(moments.mean(), moments.count(), level, moments.mean_estimate(level).map(Interval::from))
}

pub(super) fn provenance_summary(provenance: &Provenance, tick_s: f64) -> ProvenanceSummary {
    ProvenanceSummary {
        version: provenance.version.clone(),
        seed: provenance.seed,
        first_replication: provenance.first,
        engine: provenance.engine.clone(),
        reasons: provenance.reasons.clone(),
        vector: provenance.vector.clone(),
        threads: provenance.threads,
        backend: provenance.placement.backend.name().into(),
        backend_reason: provenance.placement.reason.clone(),
        device: provenance.placement.device.as_ref().map(DeviceSummary::new),
        tick_s,
        wall_s: provenance.wall.as_secs_f64(),
        folded: provenance.folded,
        not_folded: provenance.not_folded.clone(),
    }
}
