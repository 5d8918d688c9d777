//! Results of long runs about the steady state.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ask::net::{NetSummary, Subject};
use crate::compile::Ids;
use crate::estimate::{BatchError, Doubt, FloatMoments, Interval, Measured, long_run_mean};
use crate::report::json::Word;
use crate::report::method::AnswerMethod;
use crate::report::summary::counter_names;
use crate::sim::{BatchAverages, FoldedParts, NotFolded, Unseen};

/// A mean in the long run; its samples are runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SteadyRow {
    /// The node or reward that the number belongs to.
    pub name: String,
    /// Unit of the number.
    pub unit: Word,
    /// The mean.
    #[serde(flatten)]
    pub quantity: Measured,
    /// Share of the runs that was excluded as warm-up; none if there is no interval.
    pub warm_up: Option<f64>,
}

/// A transition that could fire, but fired too rarely for an estimate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RareTransition {
    /// Id of the transition.
    pub name: String,
    /// Total firings in all runs.
    pub firings: u64,
}

/// All results of long runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SteadyReport {
    /// The net.
    pub net: NetSummary,
    /// Confidence level of all intervals.
    pub level: f64,
    /// Method of the numbers.
    pub method: AnswerMethod,
    /// Independent runs; 1 if the intervals come from the batches of a single run, 0 for an exact answer.
    pub runs: u64,
    /// Model time of all runs together \[s\].
    pub model_time_s: f64,
    /// Firings of all runs together.
    pub firings: u64,
    /// Mean tokens per place and class.
    pub tokens: Vec<SteadyRow>,
    /// Firings per second per transition.
    pub throughputs: Vec<SteadyRow>,
    /// Rewards per second.
    pub rewards: Vec<SteadyRow>,
    /// Timed transitions, and immediate ones that were enabled, with fewer than 30 firings in all runs. If there are
    /// any, the runs may be too short to show the long run.
    pub rare_transitions: Vec<RareTransition>,
    /// Number of runs that ended in a dead marking, whose averages count for the whole run.
    #[serde(default, skip_serializing_if = "is_none")]
    pub dead_runs: u64,
    /// Transitions that fired often in some runs and never in others: the runs ended in different parts of the state
    /// space, or are too short.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_some_runs: Vec<String>,
    /// Version of tailspn.
    pub version: Word,
    /// The seed of a simulation; none for an exact answer.
    pub seed: Option<u64>,
    /// Wall time of the runs \[s\]; none for an exact answer.
    pub wall_s: Option<f64>,
    /// The folded parts of the net; none if it ran unfolded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folded: Option<FoldedParts>,
    /// Similar parts of the net that were not folded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_folded: Vec<NotFolded>,
}

fn is_none(runs: &u64) -> bool {
    *runs == 0
}

/// Results of long runs to report besides the averages.
#[derive(Clone, Copy, Debug, Default)]
pub struct SteadySettings<'a> {
    /// True if mean tokens are reported.
    pub tokens: bool,
    /// True if throughputs are reported.
    pub throughputs: bool,
    /// Names of the rewards, in the order of the run.
    pub rewards: &'a [String],
    /// Indices of the transitions that could fire; the report lists those that fired rarely.
    pub possible: &'a [u32],
    /// Transitions that never or rarely fired, although longer runs may show their effects. Numbers that they can influence have
    /// no interval. None if all transitions fired.
    pub unseen: Option<&'a Unseen>,
    /// Ids of transitions that fired often in some runs and never in others.
    pub in_some_runs: &'a [String],
    /// Confidence level, in (0, 1).
    pub level: f64,
    /// Seed of the runs.
    pub seed: u64,
    /// Wall time of the runs.
    pub wall: Duration,
    /// Sizes of the net before and after folding.
    pub folded: Option<FoldedParts>,
    /// Similar parts of the net that were not folded.
    pub not_folded: &'a [NotFolded],
}

/// Returns long-run means from independent runs, or from the batches of a single run. Each run is given by the averages of equal parts, including the
/// warm-up.
pub fn steady_report(runs: &[BatchAverages], subject: &Subject<'_>, settings: &SteadySettings<'_>) -> SteadyReport {
    let level = settings.level;
    let rows = |wanted: bool, names: &Ids, unit, of: fn(&BatchAverages) -> &[Vec<f64>], unseen: WhichUnseen| {
        let one = |(i, name): (usize, &str)| {
            let series: Vec<&[f64]> = runs.iter().filter_map(|run| of(run).get(i)).map(Vec::as_slice).collect();
            row(name, unit, &series, level, settings.unseen.and_then(|all| unseen(all, i)))
        };
        names.iter().enumerate().filter(|_| wanted).filter_map(one).collect::<Vec<_>>()
    };
    // rewards may be negative
    let not_negative = |rows: Vec<SteadyRow>| {
        rows.into_iter().map(|row| SteadyRow { quantity: row.quantity.not_negative(), ..row }).collect()
    };
    let (tokens, throughputs) = (settings.tokens, settings.throughputs);
    let tokens = rows(tokens, &counter_names(subject), "tokens", |run| &run.tokens, Unseen::of_tokens);
    let throughputs = rows(throughputs, subject.transitions, "1/s", |run| &run.throughput, Unseen::of_throughput);
    let rewards = rows(true, &settings.rewards.iter().collect(), "1/s", |run| &run.rewards, Unseen::of_reward);
    let firings: u128 = runs.iter().map(|run| run.firings).sum();
    SteadyReport {
        net: NetSummary::new(subject),
        level,
        method: AnswerMethod::simulation(),
        runs: runs.len() as u64,
        model_time_s: runs.iter().flat_map(|run| &run.seconds).sum(),
        firings: u64::try_from(firings).unwrap_or(u64::MAX),
        tokens: not_negative(tokens),
        throughputs: not_negative(throughputs),
        rewards,
        rare_transitions: rare_transitions(runs, subject, settings.possible),
        dead_runs: runs.iter().filter(|run| run.is_dead).count() as u64,
        in_some_runs: settings.in_some_runs.to_vec(),
        version: env!("CARGO_PKG_VERSION").into(),
        seed: Some(settings.seed),
        wall_s: Some(settings.wall.as_secs_f64()),
        folded: settings.folded,
        not_folded: settings.not_folded.to_vec(),
    }
}

fn rare_transitions(runs: &[BatchAverages], subject: &Subject<'_>, possible: &[u32]) -> Vec<RareTransition> {
    let firings = |t: usize| runs.iter().filter_map(|run| run.fired.get(t)).sum();
    let possible = possible.iter().filter_map(|&t| Some((t as usize, subject.transitions.get(t as usize)?)));
    let rows = possible.map(|(t, name)| RareTransition { name: name.to_owned(), firings: firings(t) });
    rows.filter(|row| row.firings < Unseen::RARE).collect()
}

/// The first transition that fired too rarely and can influence a number, by the number's position.
type WhichUnseen = fn(&Unseen, usize) -> Option<String>;

fn row(name: &str, unit: &'static str, runs: &[&[f64]], level: f64, unseen: Option<String>) -> Option<SteadyRow> {
    let found = long_run_mean(runs, level);
    let longest = runs.iter().map(|run| run.len()).max().unwrap_or(0);
    let warm_up = found.ok().map(|steady| steady.warmup as f64 / longest as f64);
    let quantity = match found {
        Ok(steady) => Measured::from(steady.estimate).unless_unseen(unseen),
        Err(error) => without_interval(runs, level, &error)?,
    };
    Some(SteadyRow { name: name.to_owned(), unit: unit.into(), quantity, warm_up })
}

/// Returns the plain mean of all runs, and the reason for this fallback.
fn without_interval(runs: &[&[f64]], level: f64, error: &BatchError) -> Option<Measured> {
    let moments: FloatMoments = runs.iter().flat_map(|run| run.iter().copied()).collect();
    let plain = moments.mean_estimate(level).map(Interval::from);
    let quantity = Measured::new(moments.mean(), runs.len() as u64, level, plain)?;
    Some(Measured { doubt: Doubt::Unknown(error.to_string()), samples: runs.len() as u64, ..quantity })
}
