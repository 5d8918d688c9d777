//! The continuous-time Markov chain of a state space, as the numerical solvers use it, and its checks. Contains no solver.

use crate::solve::rates::Rates;

/// A continuous-time Markov chain with finitely many states, numbered from 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// Per state: successors and rates \[1/s\], each above 0 and finite; sorted by state, no state twice, no self loop.
    pub rates: Rates,
    /// Initial states and their probabilities, sorted by state; the probabilities sum to 1.
    pub initial: Vec<(u32, f64)>,
}

/// Reason why a chain is not a Markov chain. It is a bug in the code that built the chain, not an error of the user.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChainProblem {
    /// A rate that is 0, negative, infinite or not a number. Rates of 0 must be omitted.
    #[error("the rate from state {from} to state {to} is {rate:e} /s; it must be finite and above 0")]
    Rate {
        /// State that the rate leaves.
        from: u32,
        /// State that the rate enters.
        to: u32,
        /// The rate \[1/s\].
        rate: f64,
    },
    /// A successor that does not exist, is listed twice or out of order, or is the state itself.
    #[error("successor {to} of state {from} is invalid; successors must be other states, in ascending order")]
    Successor {
        /// The state.
        from: u32,
        /// The successor.
        to: u32,
    },
    /// The initial probabilities are not probabilities of states in ascending order.
    #[error("the initial probability of state {state} is invalid: {probability:e}")]
    Initial {
        /// The state.
        state: u32,
        /// Probability of the state.
        probability: f64,
    },
    /// The initial probabilities do not sum to 1 within 1e-9.
    #[error("the initial probabilities sum to {total}, not to 1")]
    InitialSum {
        /// Sum of the initial probabilities.
        total: f64,
    },
    /// The sum of the rates out of a state exceeds the largest floating-point number.
    #[error("the rates out of state {from} sum to more than 1e308 /s")]
    TotalRate {
        /// The state.
        from: u32,
    },
}

/// Largest deviation of the sum of the initial probabilities from 1.
const INITIAL_SUM_ERROR: f64 = 1e-9;

impl Chain {
    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.rates.rows()
    }

    /// Returns the rate of leaving a state \[1/s\]; 0 for an absorbing state.
    pub fn exit_rate(&self, state: usize) -> f64 {
        self.rates.row(state).map(|(_, rate)| rate).sum()
    }

    /// Returns the rate of leaving each state \[1/s\].
    pub fn exit_rates(&self) -> Vec<f64> {
        (0..self.states()).map(|state| self.exit_rate(state)).collect()
    }

    /// Checks that this is a Markov chain, as the solvers require.
    ///
    /// # Errors
    ///
    /// The problem of the first invalid state.
    pub fn check(&self) -> Result<(), ChainProblem> {
        for (from, row) in (0_u32..).zip((0..self.states()).map(|state| self.rates.row(state))) {
            let mut before = None;
            for (to, rate) in row {
                if to == from || to as usize >= self.states() || before.is_some_and(|b| b >= to) {
                    return Err(ChainProblem::Successor { from, to });
                }
                if !(rate.is_finite() && rate > 0.0) {
                    return Err(ChainProblem::Rate { from, to, rate });
                }
                before = Some(to);
            }
            if !self.exit_rate(from as usize).is_finite() {
                return Err(ChainProblem::TotalRate { from });
            }
        }
        let mut before = None;
        for &(state, probability) in &self.initial {
            let fine = (state as usize) < self.states() && before.is_none_or(|b| b < state);
            if !(fine && (0.0..=1.0 + INITIAL_SUM_ERROR).contains(&probability)) {
                return Err(ChainProblem::Initial { state, probability });
            }
            before = Some(state);
        }
        // the sum of no numbers is -0
        let total = self.initial.iter().map(|&(_, p)| p).sum::<f64>() + 0.0;
        if (total - 1.0).abs() > INITIAL_SUM_ERROR {
            return Err(ChainProblem::InitialSum { total });
        }
        Ok(())
    }

    /// Returns the initial probability of every state, scaled to sum to 1.
    pub(crate) fn initial_vector(&self) -> Vec<f64> {
        let mut vector = vec![0.0; self.states()];
        let total: f64 = self.initial.iter().map(|&(_, p)| p).sum();
        for &(state, p) in &self.initial {
            vector[state as usize] = p / total;
        }
        vector
    }

    /// Returns true for each state that can be reached from an initial state with a probability above 0. Paths end at the states
    /// that `stop` marks.
    pub(crate) fn reachable(&self, stop: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut seen = vec![false; self.states()];
        let mut open: Vec<u32> = Vec::new();
        for &(state, p) in &self.initial {
            if p > 0.0 && !seen[state as usize] {
                seen[state as usize] = true;
                open.push(state);
            }
        }
        while let Some(state) = open.pop() {
            if stop(state as usize) {
                continue;
            }
            for &to in self.rates.states(state as usize) {
                if !seen[to as usize] {
                    seen[to as usize] = true;
                    open.push(to);
                }
            }
        }
        seen
    }

    /// Returns the part of the chain on the states of `local` (ascending), numbered by position: the rates among these states,
    /// and per state the rate of leaving the part.
    pub(crate) fn restricted(&self, local: &[u32], number: &[u32]) -> (Rates, Vec<f64>) {
        let mut leaving = Vec::with_capacity(local.len());
        let rows = Rates::from_rows(local.iter().map(|&state| {
            let row = self.rates.row(state as usize);
            let outside = row.clone().filter(|(to, _)| number[*to as usize] == OUTSIDE);
            leaving.push(outside.map(|(_, rate)| rate).sum());
            row.filter(|(to, _)| number[*to as usize] != OUTSIDE).map(|(to, rate)| (number[to as usize], rate))
        }));
        (rows, leaving)
    }
}

/// Number of a state that is not in a part of the chain.
pub(crate) const OUTSIDE: u32 = u32::MAX;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The chain with these rates (from, to, rate) that starts in state 0.
    pub(crate) fn chain_of(states: usize, rates: &[(u32, u32, f64)]) -> Chain {
        let mut rows = vec![Vec::new(); states];
        for &(from, to, rate) in rates {
            rows[from as usize].push((to, rate));
        }
        rows.iter_mut().for_each(|row| row.sort_by_key(|&(to, _)| to));
        Chain { rates: Rates::from_rows(rows), initial: vec![(0, 1.0)] }
    }

    /// Births at `birth`, deaths at `death`, states 0 to `last`.
    pub(crate) fn birth_death(last: u32, birth: f64, death: f64) -> Chain {
        let up = (0..last).map(|i| (i, i + 1, birth));
        let down = (1..=last).map(|i| (i, i - 1, death));
        chain_of(last as usize + 1, &up.chain(down).collect::<Vec<_>>())
    }

    /// A chain of `states` states with about `degree` successors each and rates spread over `decades` powers of ten; a
    /// cycle through all states makes it irreducible.
    pub(crate) fn random_chain(states: u32, degree: u32, decades: f64, seed: u64) -> Chain {
        let mut word = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
        let mut uniform = move || {
            word ^= word << 13;
            word ^= word >> 7;
            word ^= word << 17;
            (word >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut rows = vec![std::collections::BTreeMap::new(); states as usize];
        for from in 0..states {
            rows[from as usize].insert((from + 1) % states, 10_f64.powf(decades * (uniform() - 0.5)));
            for _ in 1..degree {
                let to = (uniform() * f64::from(states)) as u32;
                rows[from as usize].insert(to, 10_f64.powf(decades * (uniform() - 0.5)));
            }
            rows[from as usize].remove(&from);
        }
        Chain { rates: Rates::from_rows(rows), initial: vec![(0, 1.0)] }
    }

    #[test]
    fn invalid_rates_successors_and_initial_probabilities_are_refused() {
        assert_eq!(birth_death(4, 1.0, 2.0).check(), Ok(()));
        let with = |rates: &[(u32, u32, f64)]| chain_of(2, rates).check().unwrap_err();
        assert!(matches!(with(&[(0, 1, 0.0)]), ChainProblem::Rate { from: 0, to: 1, .. }));
        assert!(matches!(with(&[(0, 1, f64::NAN)]), ChainProblem::Rate { .. }));
        assert!(matches!(with(&[(1, 1, 1.0)]), ChainProblem::Successor { from: 1, to: 1 }));
        assert!(matches!(with(&[(0, 2, 1.0)]), ChainProblem::Successor { from: 0, to: 2 }));
        assert!(matches!(with(&[(0, 1, 1.0), (0, 1, 1.0)]), ChainProblem::Successor { .. }));
        let start = |initial: Vec<(u32, f64)>| Chain { initial, ..birth_death(1, 1.0, 1.0) }.check().unwrap_err();
        assert!(matches!(start(vec![(0, 0.5)]), ChainProblem::InitialSum { .. }));
        assert!(matches!(start(vec![(0, -0.5), (1, 1.5)]), ChainProblem::Initial { .. }));
        assert!(matches!(start(vec![(7, 1.0)]), ChainProblem::Initial { state: 7, .. }));
        assert!(matches!(start(vec![]), ChainProblem::InitialSum { .. }));
    }
}
