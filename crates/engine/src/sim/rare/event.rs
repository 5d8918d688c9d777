//! The event whose probability is estimated, and the questions of its levels.

use crate::compile::{Code, Op, lower};
use crate::fold::{Folding, Keep, fold_markings};
use crate::net::expr::BinaryOp;
use crate::net::{Expr, Net};
use crate::sim::question::{Condition, Goal, Question};
use crate::sim::rare::error::RareError;
use crate::sim::rare::left::Left;

/// A rare event.
#[derive(Clone, Debug, PartialEq)]
pub enum RareEvent {
    /// The goal is reached within a time, before a marking to avoid, or both.
    Before {
        /// The goal, which vanishing markings can also satisfy.
        goal: Expr,
        /// The marking to avoid.
        avoid: Option<Expr>,
        /// The time within which the goal is reached \[s\].
        within_s: Option<f64>,
        /// An expression that grows on the way to the goal; by default the left side of a goal such as `#(queue) >= 20`.
        importance: Option<Expr>,
    },
    /// The goal is not reached within a time.
    Beyond {
        /// The goal; without one, the dead marking.
        goal: Option<Expr>,
        /// The time \[s\].
        limit_s: f64,
        /// Approximate remaining time to the goal \[s\]; by default, a linear function of the marking that is
        /// fitted to a few walks.
        left: Option<Expr>,
    },
}

impl RareEvent {
    /// Returns the event that the goal of a question is reached before its markings to avoid, before its horizon, or before both.
    /// `importance` grows on the way to the goal; by default the left side of a goal such as `#(queue) >= 20`.
    ///
    /// The question is about `net`, or about the net of which `net` is the expansion into phases.
    ///
    /// # Errors
    ///
    /// [`RareError::Unlimited`] for a question without a goal, or without a limit.
    pub fn before(net: &Net, question: &Question, importance: Option<Expr>) -> Result<Self, RareError> {
        refuse_others(question)?;
        let (Some(goal), avoid, within_s) = (question.goal.code(), question.avoid.as_ref(), question.horizon) else {
            return Err(RareError::Unlimited);
        };
        if avoid.is_none() && within_s.is_none() {
            return Err(RareError::Unlimited);
        }
        let avoid = avoid.map(|avoid| avoid.code.expression(net));
        Ok(Self::Before { goal: goal.expression(net), avoid, within_s, importance })
    }

    /// Returns the event that the goal of a question is not reached by its horizon. `left` is the approximate remaining time \[s\].
    ///
    /// The question is about `net`, or about the net of which `net` is the expansion into phases.
    ///
    /// # Errors
    ///
    /// [`RareError::Unlimited`] for a question without a horizon.
    pub fn beyond(net: &Net, question: &Question, left: Option<Expr>) -> Result<Self, RareError> {
        refuse_others(question)?;
        let limit_s = question.horizon.ok_or(RareError::Unlimited)?;
        Ok(Self::Beyond { goal: question.goal.code().map(|goal| goal.expression(net)), limit_s, left })
    }

    /// The folding of the net that the event allows.
    pub(super) fn folding(&self, net: &Net) -> Folding {
        fold_markings(net, &Keep { expressions: self.expressions(), ..Keep::default() })
    }

    /// The same event of a folded net; none if nothing was folded, or if the event distinguishes the parts.
    pub(super) fn folded(&self, folding: &Folding) -> Option<Self> {
        if !folding.is_folded() {
            return None;
        }
        let image = |expression: &Option<Expr>| match expression {
            Some(expression) => folding.expression(expression).map(Some),
            None => Some(None),
        };
        Some(match self {
            Self::Before { goal, avoid, within_s, importance } => Self::Before {
                goal: folding.expression(goal)?,
                avoid: image(avoid)?,
                within_s: *within_s,
                importance: Some(folding.expression(importance.as_ref().or(threshold(goal))?)?),
            },
            Self::Beyond { goal, limit_s, left } => {
                Self::Beyond { goal: image(goal)?, limit_s: *limit_s, left: image(left)? }
            }
        })
    }

    fn expressions(&self) -> Vec<Expr> {
        match self {
            Self::Before { goal, avoid, importance, .. } => {
                let importance = importance.as_ref().or(threshold(goal));
                [Some(goal), avoid.as_ref(), importance].into_iter().flatten().cloned().collect()
            }
            Self::Beyond { goal, left, .. } => goal.iter().chain(left).cloned().collect(),
        }
    }

    /// The event in terms of a compiled net.
    pub(super) fn plan(&self, net: &Net) -> Result<Plan, RareError> {
        Ok(match self {
            Self::Before { goal, avoid, within_s, importance } => Plan::Before {
                importance: lower(net, importance.as_ref().or(threshold(goal)).ok_or(RareError::NoImportance)?),
                goal: lower(net, goal),
                avoid: avoid.as_ref().map(|avoid| lower(net, avoid)),
                within_s: *within_s,
            },
            Self::Beyond { goal, limit_s, left } => {
                let code = |expression: &Expr| lower(net, expression);
                let left = left.as_ref().map(|left| Left { marking: code(left), ages: Vec::new() });
                Plan::Beyond { goal: goal.as_ref().map(code), limit_s: *limit_s, left }
            }
        })
    }
}

/// Refuses requests that splitting does not answer.
fn refuse_others(question: &Question) -> Result<(), RareError> {
    let others = [
        (question.earliest > 0.0, "a goal that counts only from a later time"),
        (!question.is_passage_only(), "averages"),
        (!question.groups.is_empty(), "firing times of groups"),
    ];
    let other = others.into_iter().find(|(is, _)| *is).map(|(_, what)| what).or(question.beyond_replications());
    other.map_or(Ok(()), |what| Err(RareError::Unsupported { what }))
}

/// The left side of a comparison with a lower limit.
fn threshold(goal: &Expr) -> Option<&Expr> {
    match goal {
        Expr::Binary(BinaryOp::GreaterOrEqual | BinaryOp::Greater | BinaryOp::Equal, value, limit) => {
            limit.as_number().map(|_| &**value)
        }
        _ => None,
    }
}

/// A rare event of a compiled net.
#[derive(Debug)]
pub(super) enum Plan {
    Before { goal: Code, avoid: Option<Code>, within_s: Option<f64>, importance: Code },
    Beyond { goal: Option<Code>, limit_s: f64, left: Option<Left> },
}

impl Plan {
    /// All expressions that end a walk in some marking.
    pub(super) fn codes(&self) -> impl Iterator<Item = &Code> {
        let (first, second) = match self {
            Self::Before { goal, avoid, .. } => (Some(goal), avoid.as_ref()),
            Self::Beyond { goal, .. } => (goal.as_ref(), None),
        };
        first.into_iter().chain(second)
    }

    /// The question that ends walks at a level (a value of the importance, or a time \[s\]), or at the event itself.
    pub(super) fn question(&self, level: Option<f64>) -> Question {
        match self {
            Self::Before { goal, avoid, within_s, importance } => {
                let mut ops = goal.ops().to_vec();
                if let Some(code) = avoid {
                    ops.extend_from_slice(code.ops());
                    ops.push(Op::Binary(BinaryOp::Or));
                }
                if let Some(level) = level {
                    ops.extend_from_slice(importance.ops());
                    ops.extend([Op::Number(level), Op::Binary(BinaryOp::GreaterOrEqual), Op::Binary(BinaryOp::Or)]);
                }
                Question { goal: level_goal(Code::new(ops)), horizon: *within_s, ..Question::default() }
            }
            Self::Beyond { goal, limit_s, .. } => Question {
                goal: goal.clone().map_or(Goal::Dead, level_goal),
                horizon: Some(*limit_s),
                ..Question::default()
            },
        }
    }
}

/// The goal of a walk. Its text is not needed, because levels have no reports.
fn level_goal(code: Code) -> Goal {
    Goal::Marking(Condition { text: String::new(), code })
}
