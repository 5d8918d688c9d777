//! The goal of a net whose rates a study varies, as text and as expressions.

use crate::compile::lower;
use crate::fold::Folding;
use crate::net::Net;
use crate::net::expr::{Expr, ExprError};
use crate::sim::{Condition, Goal, Question};

/// The text of the goal of a net, which ends a replication. Each point of a study has another net, so the goal becomes a
/// [`Question`] only at a point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GoalText {
    /// Expression that is not 0 in goal markings; none for the dead marking.
    pub until: Option<String>,
    /// Expression that is not 0 in markings that end a replication without reaching the goal.
    pub avoid: Option<String>,
    /// Model times \[s\] between which the goal counts; the second may be infinite.
    pub within: Option<[f64; 2]>,
}

impl GoalText {
    /// Returns the goal with neither markings to avoid nor times.
    pub fn until(until: Option<&str>) -> Self {
        Self { until: until.map(str::to_owned), ..Self::default() }
    }

    /// Returns true if a replication may end without reaching the goal. The result is then the probability of the goal.
    pub fn is_probability(&self) -> bool {
        self.avoid.is_some() || self.within.is_some()
    }

    /// Returns the first expression that is not valid for the net: `until` or `avoid`, its text, and the error.
    pub(super) fn fault(&self, net: &Net) -> Option<(&'static str, &str, ExprError)> {
        let all = [("until", self.until.as_deref()), ("avoid", self.avoid.as_deref())];
        all.into_iter().find_map(|(name, text)| Some((name, text?, net.expression(text?).err()?)))
    }

    /// Returns the goal with its expressions, which must be valid.
    pub(super) fn resolved(&self, net: &Net) -> ResolvedGoal {
        let expression = |text: &Option<String>| {
            text.as_ref().and_then(|text| Some(Ending { expression: net.expression(text).ok()?, text: text.clone() }))
        };
        ResolvedGoal { until: expression(&self.until), avoid: expression(&self.avoid), within: self.within }
    }
}

/// An expression that ends a replication. It stays an expression because rate parameters in it vary.
#[derive(Clone, Debug)]
struct Ending {
    text: String,
    expression: Expr,
}

impl Ending {
    fn condition(&self, net: &Net) -> Condition {
        Condition { text: self.text.clone(), code: lower(net, &self.expression) }
    }

    fn folded(&self, folding: &Folding) -> Option<Self> {
        Some(Self { text: self.text.clone(), expression: folding.expression(&self.expression)? })
    }
}

/// A goal with its expressions over one net, for all values of its rate parameters.
#[derive(Clone, Debug)]
pub(super) struct ResolvedGoal {
    until: Option<Ending>,
    avoid: Option<Ending>,
    within: Option<[f64; 2]>,
}

impl ResolvedGoal {
    /// Returns the question of replications of `net`, which end after `max_firings` firings at the latest.
    pub(super) fn question(&self, net: &Net, max_firings: u64) -> Question {
        let [earliest, latest] = self.within.unwrap_or([0.0, f64::INFINITY]);
        Question {
            goal: self.until.as_ref().map_or(Goal::Dead, |goal| Goal::Marking(goal.condition(net))),
            avoid: self.avoid.as_ref().map(|avoid| avoid.condition(net)),
            earliest,
            horizon: latest.is_finite().then_some(latest),
            max_firings: Some(max_firings),
            ..Question::default()
        }
    }

    /// Returns the same goal over a folded net; `None` if an expression distinguishes folded parts.
    pub(super) fn folded(&self, folding: &Folding) -> Option<Self> {
        let fold = |goal: &Option<Ending>| match goal {
            Some(goal) => goal.folded(folding).map(Some),
            None => Some(None),
        };
        Some(Self { until: fold(&self.until)?, avoid: fold(&self.avoid)?, within: self.within })
    }
}
