//! The stored result of an optimisation.

use serde::{Deserialize, Serialize};
use toml::Value;

use crate::estimate::Measured;
use crate::job_time::OwnRun;
use crate::optimize::{
    Answer, Candidate, Look as LookAt, OptimizeOutcome, OptimizePlan, Search, SizingOutcome, Verdict,
};
use crate::report::json::Word;
use crate::report::number::value_text;
use crate::report::sweep::AxisRow;
use crate::sim::{FoldedParts, NotFolded};

/// A point that was evaluated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LookRow {
    /// Number of the point in the grid of the axes.
    pub point: u64,
    /// The value of each axis.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<serde_json::Value>"))]
    pub values: Vec<Option<Value>>,
    /// Cost of the point.
    pub cost: f64,
    /// Lower end of the cost's interval; only if it depends on the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_low: Option<f64>,
    /// Upper end of the cost's interval; only if it depends on the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_high: Option<f64>,
    /// The decision.
    pub verdict: Verdict,
    /// The measure \[s\].
    pub value_s: Option<f64>,
    /// Lower end of the measure's interval \[s\].
    pub low_s: Option<f64>,
    /// Upper end of the measure's interval \[s\].
    pub high_s: Option<f64>,
    /// Confidence level of the measure's interval, corrected for repeated checks of the interval.
    pub level: f64,
    /// Probability of finishing by the deadline, with its interval at that level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done_by_deadline: Option<Measured>,
    /// Replications.
    pub replications: u64,
    /// Number of times the interval was checked.
    pub looks: u32,
}

/// The result of a search for the cheapest configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OptimizeAnswer {
    /// The chosen configuration meets the deadline, and every cheaper one was proved to miss it.
    Cheapest,
    /// The chosen configuration meets the deadline, but a cheaper one is undecided.
    Meets,
    /// No configuration meets the deadline.
    None,
    /// No configuration was proved to meet the deadline, but some are undecided.
    Undecided,
    /// The search was stopped.
    Stopped,
}

/// All results of an optimisation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OptimizeReport {
    /// The result of the search.
    pub answer: OptimizeAnswer,
    /// The check of the plan on the runs that it was fitted to; none if the question is not about a plan of a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_run: Option<OwnRun>,
    /// True if the search was stopped before its end.
    pub partial: bool,
    /// Measure that must meet the deadline.
    pub measure: String,
    /// The deadline \[s\].
    pub deadline_s: f64,
    /// Joint confidence of all decisions.
    pub confidence: f64,
    /// The cost expression.
    pub cost: String,
    /// The expression of the cost per second of the mean time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_per_s: Option<String>,
    /// The price of machines, as given; only for a search for the size of a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<String>,
    /// The unit of costs, such as a currency; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cost_unit: String,
    /// The order of the search, never `auto`.
    pub search: Search,
    /// Axes of the search.
    pub axes: Vec<AxisRow>,
    /// The chosen point.
    pub chosen: Option<LookRow>,
    /// The costliest evaluated point that is cheaper than the chosen one.
    pub next_cheaper: Option<LookRow>,
    /// The fastest point that was evaluated, if none was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closest: Option<LookRow>,
    /// All evaluated points, in order of evaluation.
    pub looked_at: Vec<LookRow>,
    /// Number of points on the grid.
    pub candidates: u64,
    /// Points that were skipped because they are no faster than a point that fails.
    pub eliminated: u64,
    /// Replications of all points.
    pub replications: u64,
    /// Version of this crate that ran the optimisation.
    pub version: Word,
    /// Seed of every point.
    pub seed: u64,
    /// The folded parts of the net of the base configuration; `None` if it runs unfolded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folded: Option<FoldedParts>,
    /// Similar parts of the net of the base configuration that are not folded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_folded: Vec<NotFolded>,
    /// The plan, every key written out.
    pub plan: String,
    /// Reasons for doubt at the chosen size of a job of stages, or at the fastest size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Assumptions of the fit in place of data that the logs do not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Returns the cheapest size of a job, as a report.
pub fn sizing_report(found: &SizingOutcome) -> OptimizeReport {
    OptimizeReport {
        price: Some(found.price.to_string()),
        cost_unit: found.price.cost_unit(),
        remarks: found.remarks.clone(),
        notes: found.notes.clone(),
        ..optimize_report(&found.search.plan, &found.outcome)
    }
}

/// Reports the result of a search.
pub fn optimize_report(plan: &OptimizePlan, outcome: &OptimizeOutcome) -> OptimizeReport {
    let OptimizeOutcome { candidates, found, folded, not_folded } = outcome;
    let settings = &plan.optimize;
    let row = |look: &LookAt| look_row(&candidates[look.candidate], look);
    let (answer, chosen) = match found.answer {
        Answer::Cheapest(look) => (OptimizeAnswer::Cheapest, Some(look)),
        Answer::Meets(look) => (OptimizeAnswer::Meets, Some(look)),
        Answer::None => (OptimizeAnswer::None, None),
        Answer::Undecided => (OptimizeAnswer::Undecided, None),
        Answer::Stopped => (OptimizeAnswer::Stopped, None),
    };
    OptimizeReport {
        answer,
        own_run: None,
        partial: found.answer == Answer::Stopped,
        measure: settings.measure.clone(),
        deadline_s: settings.deadline_s.unwrap_or(0.0),
        confidence: settings.confidence,
        cost: settings.cost.clone(),
        cost_per_s: settings.cost_per_s.clone(),
        price: None,
        cost_unit: String::new(),
        search: match found.search {
            Search::Auto => Search::Rising,
            search => search,
        },
        axes: plan.axis.iter().map(|axis| AxisRow { key: axis.key.clone(), name: axis.title().to_owned() }).collect(),
        chosen: chosen.map(|look| row(&found.looks[look])),
        next_cheaper: found.next_cheaper().map(row),
        closest: chosen.is_none().then(|| found.closest().map(row)).flatten(),
        looked_at: found.looks.iter().map(row).collect(),
        candidates: candidates.len() as u64,
        eliminated: found.eliminated.len() as u64,
        replications: found.looks.iter().map(replications_of).sum(),
        version: env!("CARGO_PKG_VERSION").into(),
        seed: plan.sweep.seed,
        folded: *folded,
        not_folded: not_folded.clone(),
        plan: toml::to_string(plan).unwrap_or_default(),
        remarks: Vec::new(),
        notes: Vec::new(),
    }
}

/// Replications of a point: the cost uses the same replications as the time, or more.
fn replications_of(look: &LookAt) -> u64 {
    look.judgement.replications.max(look.cost.as_ref().map_or(0, |cost| cost.samples))
}

fn look_row(candidate: &Candidate, look: &LookAt) -> LookRow {
    let judgement = &look.judgement;
    let [low_s, high_s] = judgement.time_s.as_ref().and_then(Measured::ends).map_or([None; 2], |ends| ends.map(Some));
    let interval = look.cost.as_ref().and_then(Measured::ends);
    LookRow {
        point: candidate.point.number,
        values: candidate.point.values.clone(),
        cost: look.cost.as_ref().map_or(candidate.cost, |cost| cost.value),
        cost_low: interval.map(|[low, _]| low),
        cost_high: interval.map(|[_, high]| high),
        verdict: judgement.verdict,
        value_s: judgement.time_s.as_ref().map(|time| time.value),
        low_s,
        high_s,
        level: judgement.level,
        done_by_deadline: judgement.done_by_deadline.clone(),
        replications: replications_of(look),
        looks: judgement.looks,
    }
}

/// Returns the values of a configuration in words.
pub(super) fn words(report: &OptimizeReport, row: &LookRow) -> String {
    let cells = report.axes.iter().zip(&row.values);
    let words = cells.filter_map(|(axis, value)| Some(format!("{} = {}", axis.name, value_text(value.as_ref()?))));
    words.collect::<Vec<_>>().join(", ")
}

/// Returns the cost expression as it was written, with the cost by time.
pub(super) fn cost_words(report: &OptimizeReport) -> String {
    let cost = &report.cost;
    report.cost_per_s.as_ref().map_or_else(|| cost.clone(), |per_s| format!("{cost} + ({per_s}) * mean time [s]"))
}
