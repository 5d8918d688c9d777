//! A question about a net: when its runs end, and the quantities observed until then, in the user's words and as codes.

use crate::compile::{Code, lower};
use crate::estimate::{Doubt, EstimateError, FloatMoments, Interval, Measured, ProportionError, clopper_pearson};
use crate::net::Net;
use crate::net::expr::ExprError;

/// The markings of a net in which an expression is not 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The expression as the user wrote it, for results.
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

/// Goal of a replication; the time at which it is reached is the passage time.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Goal {
    /// The dead marking: no transition is enabled. The passage time is the time of the last firing.
    #[default]
    Dead,
    /// The first marking of the condition, including the initial marking and vanishing markings.
    Marking(Condition),
    /// No goal: replications run to the horizon. An exact method without anything else to answer chooses: the time to the dead marking
    /// if every run ends there, otherwise the long run.
    Horizon,
}

impl Goal {
    /// Returns the goal of the first marking of `net` in which the expression `text`, such as `#(done) >= 1`, is not 0.
    ///
    /// # Errors
    ///
    /// An invalid expression.
    pub fn marking(net: &Net, text: &str) -> Result<Self, ExprError> {
        Ok(Self::Marking(Condition::new(net, text)?))
    }

    /// Returns the expression that is not 0 at the goal; `None` for a dead marking and without a goal.
    pub fn code(&self) -> Option<&Code> {
        match self {
            Self::Marking(condition) => Some(&condition.code),
            Self::Dead | Self::Horizon => None,
        }
    }

    /// Returns the goal in words.
    pub fn words(&self) -> &str {
        match self {
            Self::Dead => "the dead marking",
            Self::Marking(condition) => &condition.text,
            Self::Horizon => "the horizon",
        }
    }

    /// A goal that is never reached, so that a dead marking does not count as the goal.
    pub(in crate::sim) fn never() -> Self {
        Self::Marking(Condition { text: "never".to_owned(), code: Code::constant(0.0) })
    }
}

/// A reward that a replication collects until it ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Reward {
    /// Name in the results.
    pub name: String,
    /// Reward per second of model time, evaluated in the marking; `None` collects nothing.
    pub rate: Option<Code>,
    /// Rewards at the firings of transitions, each evaluated in the marking before the firing.
    pub impulses: Vec<(u32, Code)>,
}

/// A group of transitions whose first and last firing are observed, such as one phase of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Name in the results.
    pub name: String,
    /// Transitions of the group.
    pub transitions: Vec<u32>,
}

/// A question about a net, which replications, long runs, splitting and exact methods answer. Each method refuses the requests
/// that it cannot answer. By default, the passage time to the dead marking. Expressions refer to the net as it was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Question {
    /// Condition that ends a replication.
    pub goal: Goal,
    /// Markings from whose entry in the long run the time to the goal is measured; if none, from the initial marking.
    /// Exact methods only.
    pub from: Option<Condition>,
    /// Markings to avoid: such a marking ends a replication, unless it is the goal.
    pub avoid: Option<Condition>,
    /// Model time \[s\] from which a goal marking counts; a replication that is in a goal marking at this time reaches
    /// the goal then. Default 0.
    pub earliest: f64,
    /// Model time \[s\] at which a replication ends at the latest. An exact method then computes the probability of the goal
    /// by this time; infinity requests the probability of ever reaching the goal.
    pub horizon: Option<f64>,
    /// Model time \[s\] from which token averages, throughputs and rewards are collected. Default 0.
    pub warm_up: f64,
    /// Number of firings (timed and immediate) after which a replication stops. The engine checks before each timed
    /// firing, so the immediate firings after the last timed one may exceed the limit. Default: 2^40, see
    /// [`MAX_FIRINGS`].
    pub max_firings: Option<u64>,
    /// True for each counter whose tokens are averaged over time.
    pub tokens: bool,
    /// True if firings are counted per transition.
    pub throughput: bool,
    /// Groups whose first and last firing times are observed.
    pub groups: Vec<Group>,
    /// Rewards that each replication collects.
    pub rewards: Vec<Reward>,
    /// Expressions that are evaluated at given times, by ascending time.
    pub snapshots: Vec<Snapshot>,
    /// Expressions, by name, whose means an exact method computes with the averages of the long run and at the times `at`.
    pub measures: Vec<(String, Code)>,
    /// Times \[s\] of averages over all states, and of the probability that the goal was reached. Exact methods only.
    pub at: Vec<f64>,
    /// True for the averages of the long run, in addition to a goal.
    pub steady: bool,
}

/// An expression that is evaluated at given times.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Model time \[s\].
    pub time: f64,
    /// Expression as the user wrote it, for results.
    pub text: String,
    /// Expression to evaluate.
    pub value: Code,
}

impl Snapshot {
    /// Returns the value of the expression `text` of `net` at `time`.
    ///
    /// # Errors
    ///
    /// An invalid expression.
    pub fn new(net: &Net, time: f64, text: &str) -> Result<Self, ExprError> {
        Ok(Self { time, text: text.to_owned(), value: lower(net, &net.expression(text)?) })
    }

    /// Returns the mean over replications with its interval: Clopper and Pearson's if each value is 0 or 1, which covers at
    /// least the level however rare the event is, otherwise Student's. A value that was the same in all replications has no
    /// interval, unless it can only be 0 or 1. None without replications.
    pub fn mean(&self, moments: &FloatMoments, level: f64) -> Option<Measured> {
        let is_constant = self.value.as_constant().is_some();
        let interval = snapshot_interval(moments, level, self.value.is_truth());
        let found = Measured::new(moments.mean(), moments.count(), level, interval)?;
        if is_constant || moments.count() < 2 || moments.min() < moments.max() || self.value.is_truth() {
            return Some(found);
        }
        let doubt = Doubt::Unknown("the value was the same in all replications".to_owned());
        Some(Measured { doubt, ..found })
    }
}

/// Returns the interval of the mean value of a snapshot, which is a truth value or any number.
pub(in crate::sim) fn snapshot_interval(
    moments: &FloatMoments,
    level: f64,
    is_truth: bool,
) -> Result<Interval, EstimateError> {
    match successes(moments, is_truth) {
        Some(successes) => match clopper_pearson(successes, moments.count(), level) {
            Ok(interval) => Ok(interval),
            Err(ProportionError::Estimate(error)) => Err(error),
            Err(ProportionError::MoreSuccessesThanTrials { .. }) => Err(EstimateError::NotFinite),
        },
        None => moments.mean_estimate(level).map(Interval::from),
    }
}

/// Number of samples that are 1, if all others are 0. Equal samples count only if the value is a truth value.
fn successes(moments: &FloatMoments, is_truth: bool) -> Option<u64> {
    /// Relative rounding error of a variance.
    const ROUNDING: f64 = 1e-6;
    let (mean, count) = (moments.mean()?, moments.count() as f64);
    let varied = (moments.min(), moments.max()) == (Some(0.0), Some(1.0));
    // between 0 and 1, x² is below x unless x is 0 or 1; so any other value lowers the variance
    let of_choice = mean * (1.0 - mean) * count / (count - 1.0);
    let is_choice = varied && moments.variance().is_some_and(|variance| variance >= (1.0 - ROUNDING) * of_choice);
    // at most the count, which is a whole number
    (is_truth || is_choice).then(|| (mean * count).round() as u64)
}

/// Default number of firings after which a replication stops.
pub const MAX_FIRINGS: u64 = 1 << 40;

impl Question {
    /// Returns the question for the time until the first marking of `net` in which the expression `goal`, such as
    /// `#(done) >= 1`, is not 0.
    ///
    /// # Errors
    ///
    /// An invalid expression.
    pub fn until(net: &Net, goal: &str) -> Result<Self, ExprError> {
        Ok(Self { goal: Goal::marking(net, goal)?, ..Self::default() })
    }

    /// Returns true if the question requests only passage times and groups, which the schedule engine can answer.
    pub fn is_passage_only(&self) -> bool {
        !self.tokens && !self.throughput && self.rewards.is_empty() && self.snapshots.is_empty()
    }

    /// The expressions whose value ends a replication.
    pub(crate) fn ends(&self) -> impl Iterator<Item = &Code> {
        self.goal.code().into_iter().chain(self.avoid.as_ref().map(|avoid| &avoid.code))
    }

    /// Returns an expression that is nonzero in every marking that ends a replication, except in dead markings.
    pub fn end(&self) -> Option<Code> {
        self.ends().cloned().reduce(|goal, avoid| goal.or(&avoid))
    }

    /// Returns the times \[s\] between which the goal counts, the last of which may be infinite; `None` if it always counts.
    pub fn within(&self) -> Option<[f64; 2]> {
        let is_limited = self.earliest > 0.0 || self.horizon.is_some();
        is_limited.then(|| [self.earliest, self.horizon.unwrap_or(f64::INFINITY)])
    }

    /// Returns the goal in words, with the start and the markings to avoid: `#(done) >= 1, avoiding #(failed) >= 1`.
    pub fn goal_words(&self) -> String {
        let mut words = self.goal.words().to_owned();
        if let Some(from) = &self.from {
            words += &format!(" from {}", from.text);
        }
        if let Some(avoid) = &self.avoid {
            words += &format!(", avoiding {}", avoid.text);
        }
        words
    }

    /// Returns the goal in words, with the first time at which it counts.
    pub fn words(&self) -> String {
        let late = if self.earliest > 0.0 { format!(", not before {} s", self.earliest) } else { String::new() };
        self.goal_words() + &late
    }

    /// Returns a request that replications cannot answer, if any.
    pub(crate) fn beyond_replications(&self) -> Option<&'static str> {
        let requested = [
            (self.from.is_some(), "a time from one set of markings to another"),
            (!self.measures.is_empty(), "a measure"),
            (!self.at.is_empty(), "averages over all states at given times"),
            (self.steady, "averages of the long run"),
        ];
        requested.into_iter().find(|(is, _)| *is).map(|(_, what)| what)
    }

    /// Reasons why the question excludes an engine. The engine supports neither markings to avoid nor a goal that
    /// counts only from a given time on.
    pub(crate) fn only_until(&self) -> Vec<String> {
        let avoid = self.avoid.as_ref().map(|_| "the question has a marking to avoid".to_owned());
        avoid.into_iter().chain(self.late_goal()).collect()
    }

    /// Reason why the question excludes an engine in which the goal counts from the start.
    pub(crate) fn late_goal(&self) -> Option<String> {
        (self.earliest > 0.0).then(|| "the goal does not count before a given time".to_owned())
    }
}

/// The way in which a replication ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// At its goal.
    Goal,
    /// In a dead marking that is not the goal.
    Dead,
    /// At the horizon.
    Horizon,
    /// At the limit of firings.
    Firings,
    /// In a marking to avoid.
    Avoided,
}
