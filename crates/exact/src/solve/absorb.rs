//! The transient part of a chain: expected times in its states, and systems of equations over these states.
//!
//! Solves one strong component after the other, in topological order. So a chain without cycles needs only one pass of
//! substitutions, and each system of equations is as small as possible.

use std::borrow::Cow;

use crate::solve::chain::{Chain, ChainProblem, OUTSIDE};
use crate::solve::components::Components;
use crate::solve::linear::{LinearError, LinearOutcome, LinearSettings, Part};
use crate::solve::rates::Rates;

/// Absorption of a chain in a set of states.
#[derive(Clone, Debug, PartialEq)]
pub struct Absorption {
    /// Probability of ever reaching a target. Exactly 1 if every reachable state can reach a target.
    pub probability: f64,
    /// Per state: expected time in the state \[s\], before the first target is reached or forever; infinite for
    /// reachable recurrent states that are not targets.
    pub times: Vec<f64>,
    /// Method and accuracy of the solution.
    pub outcome: LinearOutcome,
}

/// Reason why an absorption was not computed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AbsorbError {
    /// The chain has no states.
    #[error("the chain has no states")]
    Empty,
    /// The number of targets differs from the number of states.
    #[error("{got} targets for {states} states; there must be one truth value for each state")]
    TargetLength {
        /// States of the chain.
        states: usize,
        /// Number of truth values that were passed.
        got: usize,
    },
    /// The chain is not a Markov chain.
    #[error(transparent)]
    Chain(#[from] ChainProblem),
    /// A system of equations was not solved.
    #[error(transparent)]
    Linear(#[from] LinearError),
}

/// Returns the expected times in the states before the chain first reaches a state of `targets` (one truth value for each state).
///
/// ```text
/// y (D − R) = p₀ over the states that are left again,   P(target) = p₀(targets) + Σ_i y_i r(i → targets)
/// ```
///
/// Exact up to rounding by elimination or substitution, otherwise up to the reported estimate. The sum of the times is
/// the mean of the passage time. Source: \[Stewart1994\].
///
/// # Errors
///
/// All variants of [`AbsorbError`].
pub fn absorption(chain: &Chain, targets: &[bool], settings: &LinearSettings<'_>) -> Result<Absorption, AbsorbError> {
    let split = Split::of(chain, targets)?;
    let part = TransientPart::new(chain, split.transient(), *settings)?;
    let initial = chain.initial_vector();
    let (local, outcome) = part.expected_times(&initial)?;
    let mut times = vec![0.0; chain.states()];
    let mut probability: f64 = (0..chain.states()).filter(|&s| targets[s]).map(|s| initial[s]).sum();
    for (&state, time) in part.states.iter().zip(&local) {
        times[state as usize] = *time;
        let into = chain.rates.row(state as usize).filter(|(to, _)| targets[*to as usize]);
        probability += time * into.map(|(_, rate)| rate).sum::<f64>();
    }
    for (state, time) in times.iter_mut().enumerate() {
        if split.kind[state] == Kind::Trapped {
            *time = f64::INFINITY;
        }
    }
    let probability = if split.is_certain() { 1.0 } else { probability.clamp(0.0, 1.0) };
    Ok(Absorption { probability, times, outcome })
}

/// Role of a state with respect to a set of targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Not reachable before a target.
    Unreached,
    /// A target.
    Target,
    /// Eventually left forever, with certainty: a target or a recurrent class can be reached from the state.
    Transient,
    /// In a recurrent class without a target.
    Trapped,
}

/// The states of a chain with respect to targets.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    pub(crate) kind: Vec<Kind>,
    /// Per state: true if it is a target or can reach one.
    pub(crate) hopeful: Vec<bool>,
    components: Components,
}

impl Split {
    pub(crate) fn of(chain: &Chain, targets: &[bool]) -> Result<Self, AbsorbError> {
        let states = chain.states();
        if states == 0 {
            return Err(AbsorbError::Empty);
        }
        if targets.len() != states {
            return Err(AbsorbError::TargetLength { states, got: targets.len() });
        }
        chain.check()?;
        let reached = chain.reachable(|state| targets[state]);
        let components = Components::of(&chain.rates);
        let mut kind = vec![Kind::Unreached; states];
        for state in 0..states {
            kind[state] = match (targets[state], reached[state]) {
                (true, _) => Kind::Target,
                (false, false) => Kind::Unreached,
                (false, true) => Kind::Transient,
            };
        }
        for component in components.recurrent(&chain.rates) {
            let members = components.states.row(component as usize);
            if members.iter().all(|&s| !targets[s as usize]) {
                for &state in members.iter().filter(|&&s| reached[s as usize]) {
                    kind[state as usize] = Kind::Trapped;
                }
            }
        }
        // components come after their successors, so one pass propagates reachability
        let mut component_hopeful = vec![false; components.count()];
        for c in 0..components.count() {
            component_hopeful[c] = components.states.row(c).iter().any(|&s| {
                let mut ahead = chain.rates.states(s as usize).iter();
                targets[s as usize] || ahead.any(|&to| component_hopeful[components.of[to as usize] as usize])
            });
        }
        let hopeful = components.of.iter().map(|&c| component_hopeful[c as usize]).collect();
        Ok(Self { kind, hopeful, components })
    }

    pub(crate) fn transient(&self) -> Vec<u32> {
        (0..).zip(&self.kind).filter(|(_, kind)| **kind == Kind::Transient).map(|(state, _)| state).collect()
    }

    /// Returns the numbers of the numbered states, ordered so that every state follows its successors. None if there are
    /// cycles.
    pub(crate) fn in_order(&self, number: &[u32]) -> Option<Vec<u32>> {
        let mut order = Vec::new();
        for c in 0..self.components.count() {
            match *self.components.states.row(c) {
                [state] => order.extend(Some(number[state as usize]).filter(|&number| number != OUTSIDE)),
                ref circle if circle.iter().any(|&state| number[state as usize] != OUTSIDE) => return None,
                _ => {}
            }
        }
        Some(order)
    }

    /// Returns true if a target is reached with probability 1.
    pub(crate) fn is_certain(&self) -> bool {
        let lost = |(kind, hopeful): (&Kind, &bool)| *kind == Kind::Trapped || (*kind == Kind::Transient && !hopeful);
        !self.kind.iter().zip(&self.hopeful).any(lost)
    }
}

/// States that are all eventually left forever, prepared for systems of equations.
#[derive(Clone, Debug)]
pub(crate) struct TransientPart<'a> {
    /// The numbers of the states in the chain, ascending.
    pub(crate) states: Vec<u32>,
    /// Rates among the states, by position in `states`.
    pub(crate) rates: Rates,
    /// Rate out of the part, per state.
    leaving: Vec<f64>,
    components: Components,
    /// The components that have several states, prepared for solving. Boxed, because most components of a large chain are single
    /// states, and a part without a box takes more memory than the state itself.
    blocks: Vec<Option<Box<Part<'a>>>>,
}

impl<'a> TransientPart<'a> {
    /// Prepares the part of `chain` with these states (ascending). The chain must eventually leave all of them forever.
    pub(crate) fn new(chain: &Chain, states: Vec<u32>, settings: LinearSettings<'a>) -> Result<Self, LinearError> {
        let mut number = vec![OUTSIDE; chain.states()];
        for (i, &state) in (0..).zip(&states) {
            number[state as usize] = i;
        }
        let (rates, leaving) = chain.restricted(&states, &number);
        drop(number);
        let components = Components::of(&rates);
        let mut part = Self { states, rates, leaving, components, blocks: Vec::new() };
        let mut inside = vec![OUTSIDE; part.states.len()];
        for c in 0..part.components.count() {
            let block = part.block(c, &mut inside, settings)?;
            part.blocks.push(block);
        }
        Ok(part)
    }

    /// Prepares component `c` as a separate part. All entries of `inside` are [`OUTSIDE`] before and after the call.
    fn block(
        &self,
        c: usize,
        inside: &mut [u32],
        settings: LinearSettings<'a>,
    ) -> Result<Option<Box<Part<'a>>>, LinearError> {
        let members = self.components.states.row(c);
        if members.len() == 1 {
            return Ok(None);
        }
        for (i, &state) in (0..).zip(members) {
            inside[state as usize] = i;
        }
        let mut slack = Vec::with_capacity(members.len());
        let rows: Vec<Vec<(u32, f64)>> = members
            .iter()
            .map(|&state| {
                let row = self.rates.row(state as usize);
                let (own, other): (Vec<_>, Vec<_>) = row.partition(|(to, _)| inside[*to as usize] != OUTSIDE);
                slack.push(self.leaving[state as usize] + other.iter().map(|&(_, q)| q).sum::<f64>());
                own.into_iter().map(|(to, q)| (inside[to as usize], q)).collect()
            })
            .collect();
        for &state in members {
            inside[state as usize] = OUTSIDE;
        }
        Ok(Some(Box::new(Part::new(Cow::Owned(Rates::from_rows(rows)), slack, settings)?)))
    }

    /// Returns the rate of leaving a state of the part.
    pub(crate) fn exit(&self, state: usize) -> f64 {
        self.leaving[state] + self.rates.row(state).map(|(_, q)| q).sum::<f64>()
    }

    fn is_inside(&self, state: u32, component: usize) -> bool {
        self.components.of[state as usize] as usize == component
    }

    /// Solves `(D − R) x = b` for non-negative b: `x_i` is the expected amount collected from state `i` on, if each visit to a state `j`
    /// collects `b_j` divided by the rate of leaving `j`.
    pub(crate) fn right(&self, b: &[f64]) -> Result<(Vec<f64>, LinearOutcome), LinearError> {
        let mut x = b.to_vec();
        let mut outcome = LinearOutcome::NONE;
        for (c, block) in self.blocks.iter().enumerate() {
            let members = self.components.states.row(c);
            for &state in members {
                let ahead = self.rates.row(state as usize).filter(|(to, _)| !self.is_inside(*to, c));
                x[state as usize] += ahead.map(|(to, q)| q * x[to as usize]).sum::<f64>();
            }
            match block {
                None => x[members[0] as usize] /= self.exit(members[0] as usize),
                Some(part) => {
                    let local: Vec<f64> = members.iter().map(|&state| x[state as usize]).collect();
                    let (local, own) = part.right(&local)?;
                    outcome = outcome.and(own);
                    members.iter().zip(local).for_each(|(&state, v)| x[state as usize] = v);
                }
            }
        }
        Ok((x, outcome))
    }

    /// Solves `y (D − R) = c` for non-negative c: `y` are the times spent in the states if `c` enters the part.
    pub(crate) fn left(&self, c: &[f64]) -> Result<(Vec<f64>, LinearOutcome), LinearError> {
        let mut y = c.to_vec();
        let mut outcome = LinearOutcome::NONE;
        for (c, block) in self.blocks.iter().enumerate().rev() {
            let members = self.components.states.row(c);
            match block {
                None => y[members[0] as usize] /= self.exit(members[0] as usize),
                Some(part) => {
                    let local: Vec<f64> = members.iter().map(|&state| y[state as usize]).collect();
                    let (local, own) = part.left(&local)?;
                    outcome = outcome.and(own);
                    members.iter().zip(local).for_each(|(&state, v)| y[state as usize] = v);
                }
            }
            for &state in members {
                let time = y[state as usize];
                for (to, q) in self.rates.row(state as usize).filter(|(to, _)| !self.is_inside(*to, c)) {
                    y[to as usize] += time * q;
                }
            }
        }
        Ok((y, outcome))
    }

    /// Returns the expected time in each state of the part, for the initial probabilities of the whole chain.
    pub(crate) fn expected_times(&self, initial: &[f64]) -> Result<(Vec<f64>, LinearOutcome), LinearError> {
        let start: Vec<f64> = self.states.iter().map(|&state| initial[state as usize]).collect();
        self.left(&start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::accumulated_until;
    use crate::solve::chain::tests::chain_of;
    use approx::assert_relative_eq;

    /// A gambler with equal chances: from 3 of 10, ruin has probability 7/10 and the game lasts 3 · 7 rounds.
    #[test]
    fn gamblers_ruin_has_its_closed_forms() {
        let rates: Vec<_> = (1..10).flat_map(|i| [(i, i - 1, 0.5), (i, i + 1, 0.5)]).collect();
        let chain = Chain { initial: vec![(3, 1.0)], ..chain_of(11, &rates) };
        let ends: Vec<bool> = (0..11).map(|s| s == 0 || s == 10).collect();
        let ruin: Vec<bool> = (0..11).map(|s| s == 0).collect();
        let settings = LinearSettings::default();
        let game = absorption(&chain, &ends, &settings).unwrap();
        assert_eq!(game.probability, 1.0);
        assert_relative_eq!(game.times.iter().sum::<f64>(), 21.0, max_relative = 1e-13);
        let ruin = absorption(&chain, &ruin, &settings).unwrap();
        assert_relative_eq!(ruin.probability, 0.7, max_relative = 1e-14);
        assert_eq!(ruin.times[10], f64::INFINITY);
        // 2 a second while at 5: from 3 it is visited 3/5 · 2 · 5 times... of 1 s
        let reward: Vec<f64> = (0..11).map(|s| if s == 5 { 2.0 } else { 0.0 }).collect();
        let gathered = accumulated_until(&chain, &ends, &reward, &settings).unwrap();
        assert_relative_eq!(gathered, 2.0 * 3.0, max_relative = 1e-13);
    }

    /// A million states in series: substitution takes one pass.
    #[test]
    fn an_acyclic_chain_is_solved_in_one_pass() {
        let n = 1_000_000_u32;
        let rates = Rates::from_rows((0..n).map(|i| (i + 1 < n).then_some((i + 1, 4.0))));
        let chain = Chain { rates, initial: vec![(0, 1.0)] };
        let mut targets = vec![false; n as usize];
        targets[n as usize - 1] = true;
        let way = absorption(&chain, &targets, &LinearSettings::default()).unwrap();
        assert_relative_eq!(way.times.iter().sum::<f64>(), f64::from(n - 1) / 4.0, max_relative = 1e-12);
        assert_eq!(way.outcome, LinearOutcome::NONE);
    }
}
