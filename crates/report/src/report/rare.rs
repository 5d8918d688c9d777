//! The probability of a rare event of a net.

use serde::{Deserialize, Serialize};

use crate::ask::net::{NetSummary, RareAnswer, RareQuestion};
use crate::document::parts::{folding_rows, wall};
use crate::document::{Column, Document, Number, Report, Table};
use crate::estimate::Measured;
use crate::report::json::Word;
use crate::report::number::{count, plain};
use crate::report::simulation_document::NetWords as _;
use crate::sim::{FoldedParts, NotFolded};

/// The probability of a rare event, and the levels of splitting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RareReport {
    /// The net.
    pub net: NetSummary,
    /// The goal, as specified by the user.
    pub goal: String,
    /// The marking to avoid, as specified by the user.
    pub avoid: Option<String>,
    /// The time within which the goal is reached \[s\].
    pub within_s: Option<f64>,
    /// The time within which the goal is not reached \[s\].
    pub beyond_s: Option<f64>,
    /// The probability of the event; its samples are batches.
    pub probability: Measured,
    /// Standard error divided by the probability; none if no walk reached the event.
    pub relative_error: Option<f64>,
    /// True if there are fewer batches than requested.
    pub partial: bool,
    /// The levels, the event last.
    pub levels: Vec<LevelRow>,
    /// Number of walks on each level of a batch.
    pub effort: u64,
    /// Firings of all walks.
    pub firings: u64,
    /// The folded parts of the net; none if it ran unfolded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folded: Option<FoldedParts>,
    /// Similar parts of the net that were not folded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_folded: Vec<NotFolded>,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Wall time \[s\].
    pub wall_s: f64,
    /// Version of tailspn.
    pub version: Word,
}

/// A level of splitting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelRow {
    /// Value of the importance, or time \[s\]; none for the event itself.
    pub at: Option<f64>,
    /// Share of the walks from the previous level that reached this level.
    pub share: f64,
}

impl RareReport {
    /// Reports the answer to a question about a rare event.
    pub fn new(asked: &RareQuestion, answer: &RareAnswer) -> Self {
        let (question, found) = (&asked.question, &answer.estimate);
        Self {
            net: answer.net.clone(),
            goal: question.goal.code().map_or("dead", |_| question.goal.words()).to_owned(),
            avoid: question.avoid.as_ref().map(|avoid| avoid.text.clone()),
            within_s: question.horizon.filter(|_| !asked.beyond),
            beyond_s: question.horizon.filter(|_| asked.beyond),
            probability: found.probability.clone(),
            relative_error: found.relative_error,
            partial: found.probability.samples < u64::from(found.planned),
            levels: found.levels.iter().map(|level| LevelRow { at: level.at, share: level.share }).collect(),
            effort: asked.effort.into(),
            firings: found.firings,
            folded: found.folded,
            not_folded: found.not_folded.clone(),
            seed: answer.seed,
            wall_s: answer.wall.as_secs_f64(),
            version: env!("CARGO_PKG_VERSION").into(),
        }
    }

    /// Returns the event as text.
    fn event(&self) -> String {
        let goal = if self.goal == "dead" { "the dead marking" } else { &self.goal };
        let within = self.within_s.map(|limit| format!(" within {} s", plain(limit))).unwrap_or_default();
        let avoid = self.avoid.as_ref().map(|avoid| format!(" before {avoid}")).unwrap_or_default();
        match self.beyond_s {
            Some(limit) => format!("{goal} is not reached within {} s", plain(limit)),
            None => format!("{goal} is reached{within}{avoid}"),
        }
    }

    fn remarks(&self) -> Vec<String> {
        let partial = format!("The run was ended early, after {} batches.", self.probability.samples);
        let never = "No walk reached the event; it may be rarer than the levels indicate.".to_owned();
        let rough = self.relative_error.filter(|error| *error > ROUGH).map(|error| {
            format!("The relative error is {:.0}%; increase --batches or --effort to reduce it.", 100.0 * error)
        });
        let partial = self.partial.then_some(partial);
        partial.into_iter().chain(self.relative_error.is_none().then_some(never)).chain(rough).collect()
    }
}

/// A relative error above which the interval is unreliable.
const ROUGH: f64 = 0.3;

impl Report for RareReport {
    const KIND: &'static str = "rare";
    const HAS_VERSION: bool = true;

    fn document(&self) -> Document<'_> {
        let probability = || Number::measured("/probability", &self.probability, "");
        let mut provenance = vec![
            ["method".to_owned(), format!("splitting on {} levels", self.levels.len())],
            ["walks".to_owned(), format!("{} on each level, {} batches", self.effort, self.probability.samples)],
            ["firings".to_owned(), count(self.firings.into())],
            ["seed".to_owned(), self.seed.to_string()],
            ["time of the walks".to_owned(), wall(self.wall_s)],
            ["version".to_owned(), self.version.to_string()],
        ];
        provenance.extend(folding_rows(self.folded.as_ref(), &self.not_folded));
        let mut document = Document {
            kind: "rare event",
            title: self.net.title(),
            question: format!("Probability that {}. The net has {}.", self.event(), self.net.size()),
            answer: vec!["The probability is ".into(), probability().into(), ".".into()].into(),
            remarks: self.remarks(),
            provenance,
            ..Document::default()
        };
        document.fact("probability", probability());
        if let Some(error) = self.relative_error {
            document.fact("relative_error", Number::new("/relative_error", error, "").percent());
        }
        let at = if self.beyond_s.is_some() { "elapsed plus remaining time" } else { "importance" };
        let columns = vec![Column::new(at), Column::new("walks that reached it").key("level")];
        let row = |(i, level): (usize, &LevelRow)| {
            let at = level.at.map_or("the event".to_owned(), |at| {
                if self.beyond_s.is_some() { format!("{} s", plain(at)) } else { plain(at) }
            });
            vec![at.into(), Number::new(format!("/levels/{i}/share"), level.share, "").percent().into()]
        };
        let caption =
            "Share of the walks from the previous level. The product of the shares estimates the probability.";
        document.table(Table::new("Levels", caption, columns).rows(self.levels.iter().enumerate().map(row)));
        document
    }
}
