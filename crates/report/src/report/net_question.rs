//! Questions about a net that are answered from its states.

use crate::answer::AnswerError;
use crate::compile::{Code, lower};
use crate::fold::{Folding, Keep};
use crate::net::Net;
use crate::net::expr::ExprError;
use crate::sim::Reward;
use crate::solve::Until;

/// The markings of a net in which an expression is not 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The expression as text, for results.
    pub text: String,
    /// The expression.
    pub code: Code,
}

impl Condition {
    /// Returns the markings of `net` in which the expression `text`, such as `#(done) >= 1`, is not 0.
    ///
    /// # Errors
    ///
    /// An invalid expression.
    pub fn new(net: &Net, text: &str) -> Result<Self, ExprError> {
        Ok(Self { text: text.to_owned(), code: lower(net, &net.expression(text)?) })
    }
}

/// The end of a passage time.
#[derive(Clone, Debug, PartialEq)]
pub enum NetGoal {
    /// A dead marking.
    Dead,
    /// The first marking of a condition.
    Marking(Condition),
}

/// A question about a net: the results to compute in addition to its states and their verdicts. If nothing is requested: the time to the dead
/// marking if every run ends there, otherwise the averages of the long run. Expressions refer to the net as it was read.
#[derive(Clone, Debug, Default)]
pub struct NetQuestion {
    /// The end of the passage time.
    pub goal: Option<NetGoal>,
    /// Markings from whose entry in the long run the time is measured; if none, from the initial marking.
    pub from: Option<Condition>,
    /// Markings to avoid before the goal.
    pub avoid: Option<Condition>,
    /// Times \[s\] between which the goal counts, the last of which may be infinite. The answer is then a probability.
    pub within: Option<[f64; 2]>,
    /// Rewards collected until the goal, or until the last time of `within`.
    pub rewards: Vec<Reward>,
    /// Expressions whose means are requested.
    pub measures: Vec<(String, Code)>,
    /// Times \[s\] of averages, and of the probability that the goal was reached.
    pub at: Vec<f64>,
    /// True to request the averages of the long run in addition to a goal.
    pub steady: bool,
}

impl NetQuestion {
    /// Returns the goal, unless it is the dead marking.
    pub(super) fn marking(&self) -> Option<&Condition> {
        match &self.goal {
            Some(NetGoal::Marking(condition)) => Some(condition),
            _ => None,
        }
    }

    /// Returns the goal, and the markings to avoid before it.
    pub(super) fn until(&self) -> Until<'_> {
        let goal = self.marking().map(|goal| &goal.code);
        Until { goal, avoid: self.avoid.as_ref().map(|avoid| &avoid.code) }
    }

    /// Returns true if more is requested than the time to the goal: markings to avoid, times between which the goal counts, or
    /// rewards.
    pub(super) fn is_until(&self) -> bool {
        self.avoid.is_some() || self.within.is_some() || !self.rewards.is_empty()
    }

    /// Returns the passage time in words.
    pub(super) fn words(&self) -> String {
        let goal = self.marking().map_or("the dead marking", |goal| &goal.text);
        match (&self.from, &self.avoid) {
            (Some(from), _) => format!("{goal} from {}", from.text),
            (None, Some(avoid)) => format!("{goal}, avoiding {}", avoid.text),
            (None, None) => goal.to_owned(),
        }
    }

    /// Returns a request other than the time to the dead marking, if any.
    pub(super) fn beyond_completion(&self) -> Option<&'static str> {
        let requested = [
            (self.marking().is_some(), "another goal"),
            (self.from.is_some(), "another start"),
            (self.avoid.is_some(), "a goal with markings to avoid"),
            (self.within.is_some(), "a goal between two times"),
            (!self.rewards.is_empty(), "a reward"),
            (self.steady, "the long run"),
            (!self.at.is_empty() && self.goal.is_none(), "averages at given times"),
            (!self.measures.is_empty(), "a measure"),
        ];
        requested.into_iter().find(|(is, _)| *is).map(|(_, what)| what)
    }

    /// Refuses requests that exclude each other.
    pub(super) fn check(&self) -> Result<(), AnswerError> {
        let late = self.within.is_some_and(|[from, _]| from > 0.0);
        if self.from.is_some() && self.is_until() {
            let what = "a time from one set of markings to another allows no markings to avoid, no times between which the goal counts, and no rewards";
            return Err(AnswerError::Conflict { what });
        }
        if late && !self.rewards.is_empty() {
            let what = "rewards are collected from the start, but the goal counts only from a later time";
            return Err(AnswerError::Conflict { what });
        }
        Ok(())
    }

    fn codes(&self) -> impl Iterator<Item = &Code> {
        let ends = self.marking().into_iter().chain(&self.from).chain(&self.avoid).map(|condition| &condition.code);
        let rates = self.rewards.iter().filter_map(|reward| reward.rate.as_ref());
        ends.chain(rates).chain(self.measures.iter().map(|(_, code)| code))
    }

    /// Returns what a folded net must keep for these questions.
    pub(super) fn keep(&self, net: &Net) -> Keep {
        Keep { expressions: self.codes().map(|code| code.expression(net)).collect(), ..Keep::default() }
    }

    /// Returns the same questions about the folded net; rewards must not have impulses.
    pub(super) fn folded(&self, folding: &Folding, net: &Net) -> Self {
        let code = |code: &Code| {
            let expression = folding.expression(&code.expression(net));
            expression.map_or_else(|| code.clone(), |expression| lower(folding.net(), &expression))
        };
        let condition = |own: &Condition| Condition { text: own.text.clone(), code: code(&own.code) };
        let reward = |reward: &Reward| Reward { rate: reward.rate.as_ref().map(code), ..reward.clone() };
        Self {
            goal: self.goal.as_ref().map(|goal| match goal {
                NetGoal::Dead => NetGoal::Dead,
                NetGoal::Marking(marking) => NetGoal::Marking(condition(marking)),
            }),
            from: self.from.as_ref().map(condition),
            avoid: self.avoid.as_ref().map(condition),
            rewards: self.rewards.iter().map(reward).collect(),
            measures: self.measures.iter().map(|(name, measure)| (name.clone(), code(measure))).collect(),
            ..self.clone()
        }
    }
}
