//! Passages that start in markings of the long run, weighted by the frequency of entering them.

use crate::compile::{Code, Program};
use crate::solve::explore_error::ExploreError;
use crate::solve::firings::FiringFlow;
use crate::solve::space::StateSpace;

/// Relative error of sums of rates.
const ROUNDING: f64 = 1e-9;

impl StateSpace {
    /// Returns the initial probabilities of a passage that starts when a state of `starts` (one truth value for each state) is entered
    /// in the long run. `steady` are the long-run probabilities; the result is proportional to the flow into each state, `π_i q_i`.
    /// None if no state of `starts` is ever entered. As exact as `steady`.
    ///
    /// Tools for response times weight several start markings in the same way.
    pub fn entered(&self, starts: &[bool], steady: &[f64]) -> Option<Vec<(u32, f64)>> {
        let chain = self.partial_chain();
        let flow = |state: usize| steady[state] * chain.exit_rate(state);
        let entered = (0..self.states()).filter(|&state| starts[state]).map(|state| (state as u32, flow(state)));
        let entered: Vec<(u32, f64)> = entered.filter(|(_, flow)| *flow > 0.0).collect();
        let all: f64 = entered.iter().map(|(_, flow)| flow).sum();
        (all > 0.0).then(|| entered.into_iter().map(|(state, flow)| (state, flow / all)).collect())
    }

    /// Returns true if each timed firing in a state in which an expression is not 0 leads to another state. In a folded
    /// net, a firing that stays in a state may exchange parts of the net. Such a firing enters another marking of the
    /// original net, which [`Self::entered`] does not see.
    ///
    /// # Errors
    ///
    /// The errors of [`explore`](crate::solve::explore).
    pub fn is_left_by_each_firing(&self, program: &Program, code: &Code) -> Result<bool, ExploreError> {
        let values = self.values(code, "the start")?;
        let starts: Vec<f64> = values.into_iter().map(|value| f64::from(u8::from(value != 0.0))).collect();
        let mut fired = 0.0;
        self.for_each_firing(program, &starts, &mut |firing| {
            fired += if program.is_immediate(firing.transition as usize) { 0.0 } else { firing.flow };
        })?;
        let chain = self.partial_chain();
        let left: f64 = starts.iter().enumerate().map(|(state, start)| start * chain.exit_rate(state)).sum();
        Ok(fired - left <= ROUNDING * fired)
    }

    /// Returns true if an expression is not 0 in some vanishing marking that is passed from a state with a weight above
    /// 0. A weight is, for example, the state's probability in the long run. Without weights, considers the vanishing
    /// markings passed from any state and at the start.
    ///
    /// # Errors
    ///
    /// The errors of [`explore`](crate::solve::explore).
    pub fn holds_in_zero_time(
        &self,
        program: &Program,
        code: &Code,
        weights: Option<&[f64]>,
    ) -> Result<bool, ExploreError> {
        let mut holds = false;
        let mut visit = |firing: FiringFlow<'_>| {
            holds |= program.is_immediate(firing.transition as usize) && code.eval(firing.marking) != 0.0;
        };
        match weights {
            Some(weights) => self.for_each_firing(program, weights, &mut visit)?,
            None => {
                self.for_each_firing_at_start(program, &mut visit)?;
                self.for_each_firing(program, &vec![1.0; self.states()], &mut visit)?;
            }
        }
        Ok(holds)
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;

    use crate::solve::cases::{queue, space};
    use crate::solve::{Chain, LinearSettings, PassageSettings, passage, steady_state};

    #[test]
    fn a_busy_period_begins_when_one_token_is_entered() {
        let program = queue(5, 2.0, 3.0);
        let space = space(&program);
        let chain = space.complete().unwrap();
        let steady = steady_state(chain, &LinearSettings::default()).unwrap().probabilities;
        let at = |n: usize| (0..6).map(|state| state == n).collect::<Vec<_>>();
        assert_eq!(space.entered(&at(1), &steady), Some(vec![(1, 1.0)]));
        // state 1 is entered by arrivals in 0 and services in 2, as often as it is left
        let one_or_two = space.entered(&[false, true, true, false, false, false], &steady).unwrap();
        assert_relative_eq!(
            one_or_two[0].1,
            5.0 * steady[1] / (5.0 * steady[1] + 5.0 * steady[2]),
            max_relative = 1e-14
        );
        let from_one = Chain { rates: chain.rates.clone(), initial: vec![(1, 1.0)] };
        let busy = passage(&from_one, &at(0), &PassageSettings::default()).unwrap().moments().unwrap().mean;
        // a renewal: idle for 1/λ, busy for the rest
        assert_relative_eq!(busy, (1.0 - steady[0]) / (2.0 * steady[0]), max_relative = 1e-12);
        assert_eq!(space.entered(&[false; 6], &steady), None);
    }
}
