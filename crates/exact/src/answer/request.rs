//! The requests of a question, as exact methods see them.

use crate::answer::value::AnswerError;
use crate::sim::{Goal, Question};
use crate::solve::Until;

/// Returns the goal, and the markings to avoid before it.
pub fn until(question: &Question) -> Until<'_> {
    Until { goal: question.goal.code(), avoid: question.avoid.as_ref().map(|avoid| &avoid.code) }
}

/// Returns the passage time in words. Without a goal, it is the time to the dead marking.
pub fn words(question: &Question) -> String {
    match question.goal {
        Goal::Horizon => Question { goal: Goal::Dead, ..question.clone() }.goal_words(),
        Goal::Dead | Goal::Marking(_) => question.goal_words(),
    }
}

/// Returns true if more is requested than the time to the goal: markings to avoid, times between which the goal counts, or
/// rewards.
pub fn is_until(question: &Question) -> bool {
    question.avoid.is_some() || question.within().is_some() || !question.rewards.is_empty()
}

/// Returns a request other than the time to the dead marking, if any.
pub fn beyond_completion(question: &Question) -> Option<&'static str> {
    let requested = [
        (question.goal.code().is_some(), "another goal"),
        (question.from.is_some(), "another start"),
        (question.avoid.is_some(), "a goal with markings to avoid"),
        (question.within().is_some(), "a goal between two times"),
        (!question.rewards.is_empty(), "a reward"),
        (question.steady, "the long run"),
        (!question.at.is_empty() && question.goal == Goal::Horizon, "averages at given times"),
        (!question.measures.is_empty(), "a measure"),
    ];
    requested.into_iter().find(|(is, _)| *is).map(|(_, what)| what)
}

/// Refuses requests that exclude each other.
///
/// # Errors
///
/// [`AnswerError::Conflict`].
pub fn check(question: &Question) -> Result<(), AnswerError> {
    if question.from.is_some() && is_until(question) {
        let what = "a time from one set of markings to another allows no markings to avoid, no times between which the goal counts, and no rewards";
        return Err(AnswerError::Conflict { what });
    }
    if question.earliest > 0.0 && !question.rewards.is_empty() {
        let what = "rewards are collected from the start, but the goal counts only from a later time";
        return Err(AnswerError::Conflict { what });
    }
    Ok(())
}
