//! Rates of 0: transitions that have all their tokens but do not fire, which is rarely intended.

use crate::compile::{Firing, Program, Value};
use crate::semantics::{is_enabled, rate};
use crate::solve::explore_error::ExploreError;
use crate::solve::space::StateSpace;

/// Transitions that do not fire because of rates of 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ZeroRates {
    /// Dead states in which some timed transition is enabled, so the net stops only because of rates of
    /// 0; in order.
    pub stuck: Vec<u32>,
    /// Timed transitions that are enabled in one of the states `stuck`, in order.
    pub held: Vec<u32>,
    /// Timed transitions that are enabled in some state, but whose rate is 0 in all such states; in order.
    pub never: Vec<u32>,
}

impl StateSpace {
    /// Returns the transitions that do not fire because of rates of 0. Exact for the explored states; visits every state only if
    /// a rate of 0 is possible.
    ///
    /// # Errors
    ///
    /// The errors of [`explore`](crate::solve::explore).
    pub fn zero_rates(&self, program: &Program) -> Result<ZeroRates, ExploreError> {
        let can_be_zero = |t: u32| match &program.firing[t as usize] {
            Firing::Exponential { rate: Value::Constant(rate), .. } => *rate <= 0.0,
            Firing::Exponential { .. } => true,
            _ => false,
        };
        let suspects: Vec<u32> = program.timed.iter().copied().filter(|&t| can_be_zero(t)).collect();
        let mut found = ZeroRates::default();
        if suspects.is_empty() {
            return Ok(found);
        }
        let mut marking = self.blank();
        for &state in self.dead() {
            self.store.read(state as usize, &mut marking);
            let before = found.held.len();
            for &t in &suspects {
                if is_enabled(program, t as usize, &marking)? {
                    found.held.push(t);
                }
            }
            if found.held.len() > before {
                found.stuck.push(state);
            }
        }
        if let Some(canonical) = &self.canonical {
            found.held = found.held.iter().flat_map(|&t| canonical.with_equals(t)).collect();
        }
        found.held.sort_unstable();
        found.held.dedup();
        found.never = self.never(program, suspects)?;
        Ok(found)
    }

    /// Returns the transitions of `suspects` that are enabled in some state, but never with a rate above 0.
    fn never(&self, program: &Program, suspects: Vec<u32>) -> Result<Vec<u32>, ExploreError> {
        let mut open: Vec<(u32, bool)> = suspects.into_iter().map(|t| (t, false)).collect();
        let mut marking = self.blank();
        for state in 0..self.explored() {
            if open.is_empty() {
                break;
            }
            self.store.read(state, &mut marking);
            let mut fires = Vec::new();
            for (t, enabled) in &mut open {
                if is_enabled(program, *t as usize, &marking)? {
                    *enabled = true;
                    if rate(program, *t as usize, &marking)? > 0.0 {
                        match &self.canonical {
                            None => fires.push(*t),
                            Some(canonical) => fires.extend(canonical.with_equals(*t)),
                        }
                    }
                }
            }
            open.retain(|(t, _)| !fires.contains(t));
        }
        Ok(open.into_iter().filter(|(_, enabled)| *enabled).map(|(t, _)| t).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::net::{Delay, Memory, NetBuilder, Servers, Timing};
    use crate::solve::cases::{queue, space};

    /// `work` empties `p` with the given rate; `off` has the same input but the rate 0; `none` lacks its token.
    fn held(rate: &str) -> Program {
        let mut b = NetBuilder::new("");
        let (p, q) = (b.place("p", 2), b.place("q", 0));
        b.parameter("zero", 0.0);
        for (id, rate, from) in [("work", rate, p), ("off", "zero", p), ("none", "zero", q)] {
            let rate = b.expression(rate).unwrap();
            let delay = Delay::Exponential { rate };
            let t = b.transition(id, Timing::Timed { delay, servers: Servers::Single, memory: Memory::Enabling });
            b.input(from, t, 1.0);
        }
        compile(&b.build().unwrap()).unwrap()
    }

    #[test]
    fn a_rate_that_falls_to_0_stops_the_net() {
        // from two tokens to one, where it stops
        let program = held("#(p) - 1");
        let found = space(&program).zero_rates(&program).unwrap();
        assert_eq!(found, ZeroRates { stuck: vec![1], held: vec![0, 1], never: vec![1] });
    }

    #[test]
    fn tokens_that_are_used_up_are_no_rates_of_0() {
        let program = held("#(p)");
        let found = space(&program).zero_rates(&program).unwrap();
        assert_eq!(found, ZeroRates { stuck: vec![], held: vec![], never: vec![1] });
        let program = queue(2, 1.0, 1.0);
        assert_eq!(space(&program).zero_rates(&program).unwrap(), ZeroRates::default());
    }
}
