//! The question of a run: when a replication ends, and the quantities observed until then.

use crate::compile::Code;

/// Goal of a replication; the time at which it is reached is the passage time.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Goal {
    /// The dead marking: no transition is enabled. The passage time is the time of the last firing.
    #[default]
    Dead,
    /// The first marking in which the expression is not 0, including the initial marking and vanishing markings.
    Marking(Code),
    /// No goal: replications run to the horizon.
    Horizon,
}

impl Goal {
    /// A goal that is never reached, so that a dead marking does not count as the goal.
    pub(in crate::sim) fn never() -> Self {
        Self::Marking(Code::constant(0.0))
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

/// Everything that a run observes. By default, only the passage time to the dead marking.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Question {
    /// Condition that ends a replication.
    pub goal: Goal,
    /// Expression that is not 0 in the markings to avoid: such a marking ends a replication, unless it is the goal.
    pub avoid: Option<Code>,
    /// Model time \[s\] from which a goal marking counts; a replication that is in a goal marking at this time reaches
    /// the goal then. Default 0.
    pub earliest: f64,
    /// Model time \[s\] at which a replication ends at the latest.
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
}

/// An expression that is evaluated at given times.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Model time \[s\].
    pub time: f64,
    /// Expression to evaluate.
    pub value: Code,
}

/// Default number of firings after which a replication stops.
pub const MAX_FIRINGS: u64 = 1 << 40;

impl Question {
    /// Returns true if the question requests only passage times and groups, which the schedule engine can answer.
    pub fn is_passage_only(&self) -> bool {
        !self.tokens && !self.throughput && self.rewards.is_empty() && self.snapshots.is_empty()
    }

    /// The expressions whose value ends a replication.
    pub(crate) fn ends(&self) -> impl Iterator<Item = &Code> {
        let goal = if let Goal::Marking(goal) = &self.goal { Some(goal) } else { None };
        goal.into_iter().chain(&self.avoid)
    }

    /// Returns an expression that is nonzero in every marking that ends a replication, except in dead markings.
    pub fn end(&self) -> Option<Code> {
        self.ends().cloned().reduce(|goal, avoid| goal.or(&avoid))
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
