//! The result of a search, as JSON has it.

use serde::{Deserialize, Serialize};
use tailspn_common::row::{Between, Cost, Level, Row, Seconds, Set, Setting, Share, Shown, Unit, Value};
use toml::Value as Toml;

use crate::estimate::Measured;
use crate::job_time::OwnRun;
use crate::optimize::judge::Verdict;
use crate::optimize::plan::OptimizePlan;
use crate::optimize::run::OptimizeOutcome;
use crate::optimize::search::{self, Look};
use crate::optimize::settings::Search;
use crate::optimize::sizing::SizingOutcome;
use crate::sim::{FoldedParts, NotFolded};

/// A configuration that was judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Row)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Judged {
    /// Number of the point in the grid of the axes.
    #[column(csv)]
    pub point: u64,
    /// The value of each axis.
    #[column(set)]
    pub set: Set,
    /// The cost, with an interval if it depends on the time.
    pub cost: Between<Cost>,
    /// The decision.
    pub verdict: Verdict,
    /// The measure, with the interval that decided.
    pub time_s: Option<Between<Seconds>>,
    /// Probability of finishing by the deadline.
    pub in_time: Option<Between<Share>>,
    /// Confidence level of the intervals, corrected for repeated checks.
    #[column(room)]
    pub level: Level,
    /// Replications.
    #[column(room)]
    pub replications: u64,
    /// Number of times the interval was checked.
    #[column(csv)]
    pub looks: u64,
}

/// The result of a search for the cheapest configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
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

/// The answer, by positions in `rows`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheapestAnswer {
    /// The answer in words.
    pub text: String,
    /// Conclusion of the search.
    pub found: Conclusion,
    /// Position of the chosen configuration; none if none was chosen.
    pub row: Option<usize>,
    /// Position of the costliest configuration that is cheaper than the chosen one.
    pub next_cheaper: Option<usize>,
    /// Position of the fastest configuration, if none was chosen.
    pub closest: Option<usize>,
}

/// The request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheapestQuestion {
    /// Measure that must meet the deadline.
    pub measure: String,
    /// The deadline.
    pub deadline_s: Seconds,
    /// Joint confidence of all decisions.
    pub confidence: Share,
    /// The cost expression.
    pub cost: String,
    /// The expression of the cost per second of the mean time.
    pub cost_per_s: Option<String>,
    /// The price of machines, as given; only for a search for the size of a job.
    pub price: Option<String>,
    /// The unit of costs, such as a currency; empty if unknown.
    pub cost_unit: String,
    /// The order of the search, never `auto`.
    pub search: Search,
    /// Keys of the plan that the axes set, in the order of `set`.
    pub keys: Vec<String>,
}

/// The cheapest configuration that meets a deadline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cheapest {
    /// The answer.
    pub answer: CheapestAnswer,
    /// The check of the plan on the runs that it was fitted to; none if the question is not about a plan of a job.
    pub own_run: Option<OwnRun>,
    /// True if the run ended early.
    pub partial: bool,
    /// The question.
    pub question: CheapestQuestion,
    /// All configurations that were judged, in that order.
    pub rows: Vec<Judged>,
    /// Number of points on the grid.
    pub candidates: u64,
    /// Points that were skipped because they are no faster than a point that fails.
    pub eliminated: u64,
    /// Replications of all points.
    pub replications: u64,
    /// Version of tailspn.
    pub version: String,
    /// Seed of the random numbers.
    pub seed: u64,
    /// The folded parts of the net of the base configuration; none if it runs unfolded.
    pub folded: Option<FoldedParts>,
    /// Similar parts of the net of the base configuration that are not folded.
    pub not_folded: Vec<NotFolded>,
    /// Reasons for doubt at the chosen size of a job of stages, or at the fastest size.
    pub remarks: Vec<String>,
    /// Assumptions of the fit in place of data that the logs do not have.
    pub notes: Vec<String>,
    /// The plan, every key written out.
    pub plan: String,
}

impl Value for Verdict {
    const UNIT: Unit = Unit::NONE;
    fn shown(&self) -> Shown {
        Shown::Words(self.name().into())
    }
}

impl Cheapest {
    /// Returns the result of a search for the size of a job, without words.
    pub fn of_sizing(found: &SizingOutcome) -> Self {
        let mut cheapest = Self::of(&found.search.plan, &found.outcome);
        cheapest.question.price = Some(found.price.to_string());
        cheapest.question.cost_unit = found.price.cost_unit();
        Self { remarks: found.remarks.clone(), notes: found.notes.clone(), ..cheapest }
    }

    /// Returns the result of a search, without words.
    pub fn of(plan: &OptimizePlan, outcome: &OptimizeOutcome) -> Self {
        let OptimizeOutcome { candidates, found, folded, not_folded } = outcome;
        let settings = &plan.optimize;
        let position =
            |look: Option<&Look>| look.and_then(|look| found.looks.iter().position(|one| std::ptr::eq(one, look)));
        let (conclusion, row) = match found.answer {
            search::Answer::Cheapest(look) => (Conclusion::Cheapest, Some(look)),
            search::Answer::Meets(look) => (Conclusion::Meets, Some(look)),
            search::Answer::None => (Conclusion::None, None),
            search::Answer::Undecided => (Conclusion::Undecided, None),
            search::Answer::Stopped => (Conclusion::Stopped, None),
        };
        let rows: Vec<Judged> = found.looks.iter().map(|look| judged(plan, outcome, look)).collect();
        Self {
            answer: CheapestAnswer {
                text: String::new(),
                found: conclusion,
                row,
                next_cheaper: position(found.next_cheaper()),
                closest: position(found.closest()).filter(|_| row.is_none()),
            },
            own_run: None,
            partial: conclusion == Conclusion::Stopped,
            question: CheapestQuestion {
                measure: settings.measure.clone(),
                deadline_s: Seconds(settings.deadline_s.unwrap_or(0.0)),
                confidence: Share(settings.confidence),
                cost: settings.cost.clone(),
                cost_per_s: settings.cost_per_s.clone(),
                price: None,
                cost_unit: String::new(),
                search: if found.search == Search::Auto { Search::Rising } else { found.search },
                keys: plan.axis.iter().map(|axis| axis.key.clone()).collect(),
            },
            candidates: candidates.len() as u64,
            eliminated: found.eliminated.len() as u64,
            replications: rows.iter().map(|row| row.replications).sum(),
            rows,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seed: plan.sweep.seed,
            folded: *folded,
            not_folded: not_folded.clone(),
            remarks: Vec::new(),
            notes: Vec::new(),
            plan: toml::to_string(plan).unwrap_or_default(),
        }
    }

    /// Returns the chosen configuration.
    pub fn chosen(&self) -> Option<&Judged> {
        self.rows.get(self.answer.row?)
    }
}

fn judged(plan: &OptimizePlan, outcome: &OptimizeOutcome, look: &Look) -> Judged {
    let candidate = &outcome.candidates[look.candidate];
    let judgement = &look.judgement;
    let cost = look.cost.as_ref();
    let values = plan.axis.iter().zip(&candidate.point.values);
    Judged {
        point: candidate.point.number,
        set: Set(values
            .filter_map(|(axis, value)| Some((axis.title().to_owned(), setting(value.as_ref()?))))
            .collect()),
        cost: cost.map_or_else(|| Between::new(candidate.cost, None), between),
        verdict: judgement.verdict,
        time_s: judgement.time_s.as_ref().map(between),
        in_time: judgement.done_by_deadline.as_ref().map(between),
        level: Level(judgement.level),
        // the cost uses the same replications as the time, or more
        replications: judgement.replications.max(cost.map_or(0, |cost| cost.samples)),
        looks: judgement.looks.into(),
    }
}

fn between<Q: From<f64>>(number: &Measured) -> Between<Q> {
    Between::new(number.value, number.ends())
}

fn setting(value: &Toml) -> Setting {
    match value {
        Toml::Integer(count) => Setting::Count(*count),
        Toml::Float(number) if number.is_finite() => Setting::Number(*number),
        Toml::String(word) => Setting::Word(word.clone()),
        other => Setting::Word(other.to_string()),
    }
}
