//! The time from one set of markings to another in the long run.

use crate::answer::value::AnswerError;
use crate::compile::{Code, Program};
use crate::semantics::Fault;
use crate::solve::{Chain, LinearSettings, StateSpace, steady_state};

/// A time from one set of markings to another, as a passage of a chain.
#[derive(Clone, Debug)]
pub struct ResponseTime {
    /// The chain, which starts as the net enters the first set from outside in the long run.
    pub chain: Chain,
    /// The second set, per state.
    pub targets: Vec<bool>,
}

impl ResponseTime {
    /// Returns the time from markings in which `from` holds to markings in which `goal` holds, or to dead markings without a goal.
    ///
    /// # Errors
    ///
    /// [`AnswerError::InZeroTime`], [`AnswerError::NeverEntered`], and the errors of expressions and of the long run.
    pub fn new(
        space: &StateSpace,
        program: &Program,
        from: &Code,
        goal: Option<&Code>,
        settings: &LinearSettings<'_>,
    ) -> Result<Self, AnswerError> {
        let holds = |code: &Code, what: &str| {
            let values = space.values(code, what)?;
            Ok::<Vec<bool>, Fault>(values.into_iter().map(|value| value != 0.0).collect())
        };
        let starts = holds(from, "the start")?;
        let targets = match goal {
            Some(goal) => holds(goal, "the goal")?,
            None => space.marked(space.dead()),
        };
        let chain = space.complete()?;
        let steady = steady_state(chain, settings)?;
        for (code, is_start) in [(Some(from), true), (goal, false)] {
            let Some(code) = code else { continue };
            let program = program.clone().observing(code);
            if space.holds_in_zero_time(&program, code, Some(&steady.probabilities))? {
                return Err(AnswerError::InZeroTime { is_start });
            }
        }
        let initial = space.entered(&starts, &steady.probabilities).ok_or_else(|| {
            let held = starts.iter().zip(&steady.probabilities).filter(|(is_start, _)| **is_start);
            AnswerError::NeverEntered { holds: held.map(|(_, share)| share).sum() }
        })?;
        Ok(Self { chain: Chain { rates: chain.rates.clone(), initial }, targets })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::{compile, lower};
    use crate::net::{NetBuilder, Timing};
    use crate::solve::{Limits, PassageSettings, explore, passage};
    use crate::watch::Unwatched;

    /// A machine works (rate 1), waits for repair (rate 2) and is repaired (rate 4): from the start of the wait to work it takes
    /// 1/2 + 1/4 in the mean.
    #[test]
    fn a_time_between_two_sets_starts_as_the_first_one_is_entered() {
        let mut b = NetBuilder::new("machine");
        let [works, waits, repaired] = ["works", "waits", "repaired"].map(|id| b.place(id, u32::from(id == "works")));
        for (from, to, rate) in [(works, waits, 1.0), (waits, repaired, 2.0), (repaired, works, 4.0)] {
            let t = b.transition(format!("t{rate}"), Timing::exponential(rate));
            b.input(from, t, 1.0);
            b.output(t, to, 1.0);
        }
        let net = b.build().unwrap();
        let program = compile(&net).unwrap();
        let space = explore(&program, None, &Limits::default(), &Unwatched).unwrap();
        let code = |text: &str| lower(&net, &net.expression(text).unwrap());
        let time = |from: &str, goal: &str| {
            ResponseTime::new(&space, &program, &code(from), Some(&code(goal)), &LinearSettings::default())
        };
        let found = time("#(waits) = 1", "#(works) = 1").unwrap();
        let passage = passage(&found.chain, &found.targets, &PassageSettings::default()).unwrap();
        assert!((passage.moments_if_reached().unwrap().mean - 0.75).abs() < 1e-9);
        for (from, share) in [("#(waits) = 2", 0.0), ("#(waits) + #(works) + #(repaired) = 1", 1.0)] {
            let error = time(from, "#(works) = 1").unwrap_err();
            assert!(matches!(error, AnswerError::NeverEntered { holds } if (holds - share).abs() < 1e-9), "{error}");
            assert_eq!(error.to_string().ends_with("it always holds"), share > 0.5, "{error}");
        }
    }
}
