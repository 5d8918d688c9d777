//! Passages that start in markings of the long run, weighted by the frequency of entering them.

use crate::compile::{Code, Program};
use crate::solve::explore_error::ExploreError;
use crate::solve::firings::FiringFlow;
use crate::solve::space::StateSpace;

impl StateSpace {
    /// Returns the initial probabilities of a passage that starts with the event that a condition becomes true in the long
    /// run: a firing that leads from a state outside of `starts` (one truth value for each state) into it. Firings inside
    /// the set are no such events. `steady` are the long-run probabilities; the result is proportional to the flow
    /// `Σ π_i q_ij` from the states `i` outside. None if there is no such event. As exact as `steady`.
    pub fn entered(&self, starts: &[bool], steady: &[f64]) -> Option<Vec<(u32, f64)>> {
        let rates = &self.partial_chain().rates;
        let mut flows = vec![0.0; self.states()];
        for state in (0..self.states()).filter(|&state| !starts[state]) {
            for (to, rate) in rates.row(state).filter(|(to, _)| starts[*to as usize]) {
                flows[to as usize] += steady[state] * rate;
            }
        }
        let all: f64 = flows.iter().sum();
        let entered = (0..).zip(flows).filter(|(_, flow)| *flow > 0.0);
        (all > 0.0).then(|| entered.map(|(state, flow)| (state, flow / all)).collect())
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
        // the set is entered at 1 by arrivals in 0, and at 2 by services in 3
        let one_or_two = space.entered(&[false, true, true, false, false, false], &steady).unwrap();
        let (at_one, at_two) = (2.0 * steady[0], 3.0 * steady[3]);
        assert_relative_eq!(one_or_two[0].1, at_one / (at_one + at_two), max_relative = 1e-14);
        let from_one = Chain { rates: chain.rates.clone(), initial: vec![(1, 1.0)] };
        let busy = passage(&from_one, &at(0), &PassageSettings::default()).unwrap().moments().unwrap().mean;
        // a renewal: idle for 1/λ, busy for the rest
        assert_relative_eq!(busy, (1.0 - steady[0]) / (2.0 * steady[0]), max_relative = 1e-12);
        assert_eq!(space.entered(&[false; 6], &steady), None);
    }
}
