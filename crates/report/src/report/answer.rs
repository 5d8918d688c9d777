//! Exact answers in reports of simulations: the same rows, without intervals, replications or seed.

use crate::answer::{AnswerError, ExactAnswer, ExactTime, time_to};
use crate::ask::net::{NetSummary, PassageSection, QuantilePoint, Subject, completion_section, passage_section};
use crate::compile::Ids;
use crate::estimate::Measured;
use crate::report::distribution::{Distribution, Histogram, QuantileRow};
use crate::report::method::{AnswerMethod, UsedMethod};
use crate::report::steady::{SteadyReport, SteadyRow};
use crate::report::summary::{
    EndingCounts, QuestionSummary, Row, SimulationReport, SnapshotRow, counter_names, reward_names,
};
use crate::sim::Question;
use crate::watch::Watch;

/// Returns a row for an exact answer with its method.
fn method(answer: &ExactAnswer) -> AnswerMethod {
    let exact = Some(answer.method);
    AnswerMethod {
        used: UsedMethod::Exact,
        exact,
        states: answer.states,
        no_exact: None,
        folded: answer.folded,
        not_folded: answer.not_folded.clone(),
    }
}

/// Returns the time to the goal for an exact answer.
fn passage_of(answer: &ExactAnswer, goal: &str, watch: &dyn Watch) -> Result<Option<PassageSection>, AnswerError> {
    Ok(match &answer.time {
        None => None,
        Some(ExactTime::Parts(time)) => Some(completion_section(goal, time, &[])?),
        Some(ExactTime::States { space, targets }) => {
            Some(passage_section(goal, space.states(), &mut time_to(space, targets, watch)?, &[])?)
        }
    })
}

fn rows(names: &Ids, unit: &'static str, values: &[f64], level: f64) -> Vec<Row> {
    let row = |(name, &value): (&str, &f64)| Row {
        name: name.to_owned(),
        unit: unit.into(),
        quantity: Measured::exact(value, level),
    };
    names.iter().zip(values).map(row).collect()
}

/// Returns the report of a simulation with exact instead of simulated numbers. `watch` may stop the computation of the
/// distribution.
///
/// # Errors
///
/// A time to the goal that cannot be solved.
pub fn exact_report(
    numbers: &ExactAnswer,
    question: &Question,
    subject: &Subject<'_>,
    level: f64,
    watch: &dyn Watch,
) -> Result<SimulationReport, AnswerError> {
    let passage = passage_of(numbers, &question.words(), watch)?;
    let snapshots = question.snapshots.iter().zip(&numbers.snapshots);
    Ok(SimulationReport {
        net: NetSummary::new(subject),
        question: QuestionSummary::new(question, level),
        method: method(numbers),
        replications: 0,
        partial: false,
        endings: EndingCounts::default(),
        firings: 0,
        passage_time: passage.as_ref().and_then(|passage| Distribution::exact(passage, level)),
        goal_probability: passage.as_ref().map(|passage| Measured::exact(passage.probability, level)),
        groups: Vec::new(),
        tokens: rows(&counter_names(subject), "tokens", &numbers.tokens, level),
        throughputs: rows(subject.transitions, "1/s", &numbers.throughputs, level),
        rewards: rows(&reward_names(question), "", &numbers.rewards, level),
        snapshots: snapshots
            .map(|(snapshot, &value)| SnapshotRow {
                time_s: snapshot.time,
                expression: snapshot.text.clone(),
                mean: Some(Measured::exact(value, level)),
            })
            .collect(),
        provenance: None,
    })
}

/// Returns the report of long runs with exact instead of simulated numbers; `wanted` is true if tokens and throughputs are
/// included.
pub fn exact_steady_report(
    numbers: &ExactAnswer,
    question: &Question,
    subject: &Subject<'_>,
    level: f64,
) -> SteadyReport {
    let steady = |rows: Vec<Row>| -> Vec<SteadyRow> {
        let row = |Row { name, unit, quantity }| SteadyRow { name, unit, quantity, warm_up: None };
        rows.into_iter().map(row).collect()
    };
    SteadyReport {
        net: NetSummary::new(subject),
        level,
        method: method(numbers),
        runs: 0,
        model_time_s: 0.0,
        firings: 0,
        tokens: steady(rows(&counter_names(subject), "tokens", &numbers.tokens, level)),
        throughputs: steady(rows(subject.transitions, "1/s", &numbers.throughputs, level)),
        rewards: steady(rows(&reward_names(question), "1/s", &numbers.rewards, level)),
        rare_transitions: Vec::new(),
        dead_runs: 0,
        in_some_runs: Vec::new(),
        version: env!("CARGO_PKG_VERSION").into(),
        seed: None,
        wall_s: None,
        folded: None,
        not_folded: Vec::new(),
    }
}

impl Distribution {
    /// Returns the exact distribution of a time; `None` if the goal is unreachable.
    pub(super) fn exact(passage: &PassageSection, level: f64) -> Option<Self> {
        let bounded = |value, bounds: Option<[f64; 2]>| match bounds {
            Some(bounds) => Measured::bounded(value, bounds, level),
            None => Measured::exact(value, level),
        };
        let quantile = |point: &QuantilePoint| QuantileRow {
            p: point.p,
            quantity: bounded(point.value, point.low.zip(point.high).map(|(low, high)| [low, high])),
        };
        // as in a simulation, the times are those of the runs that reach the goal
        let of_those_there = if passage.probability < 1.0 { &passage.quantiles_if_reached } else { &passage.quantiles };
        Some(Self {
            unit: "s".into(),
            samples: 0,
            min: None,
            max: None,
            mean: bounded(passage.mean_s?, passage.mean_bounds_s),
            sd: passage.sd_s.map(|sd| Measured::exact(sd, level)),
            quantiles: of_those_there.iter().map(quantile).collect(),
            histogram: Histogram::default(),
            curve: passage.curve.clone(),
        })
    }
}
