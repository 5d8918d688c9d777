//! The race in direct form: the total rate determines the time to the next firing, and the shares in this rate determine the
//! transition.
//!
//! For exponential programs on the narrow clock; [`direct_law`](crate::sim::race::direct_law) has the arithmetic.

use crate::compile::Firing;
use crate::net::Servers;
use crate::rng::{event_block, exponential};
use crate::semantics::{Fault, rate};
use crate::sim::engine::Engine;
use crate::sim::race::direct_law::{DirectLaw, MOST_UNITS};
use crate::sim::race::game::{Game, Outcome, Rules, Stop};
use crate::sim::race::observe::{self, Observer};
use crate::sim::race::{Setup, with_observer};
use crate::sim::samples::Samples;

/// Maximum number of timed firings of one replication, for which the direct form has random words.
pub(crate) const DIRECT_FIRINGS: u64 = 1 << 33;

/// Contribution of a timed transition to the total.
#[derive(Clone, Copy, Debug)]
enum Share {
    /// A fixed number of units while the transition is enabled.
    Plain(u64),
    /// A fixed number of units for each server.
    Served(u64, Servers),
    /// The rate depends on the marking.
    Marking,
}

/// The race in direct form, ready to run.
#[derive(Debug)]
pub(crate) struct DirectForm<'a> {
    pub(super) rules: Rules<'a>,
    law: DirectLaw,
    /// Share of each transition; 0 for immediate transitions.
    shares: Vec<Share>,
    /// Per transition: its index among the timed transitions.
    places: Vec<u32>,
}

/// Units of all timed transitions in the current marking, with sums over blocks.
#[derive(Debug)]
pub(super) struct Units {
    each: Vec<u64>,
    blocks: Vec<u64>,
    /// A block has `2^shift` transitions.
    shift: u32,
    total: u64,
}

impl<'a> DirectForm<'a> {
    /// Creates the engine. [`DirectLaw::obstacles`] must be empty.
    pub(crate) fn new(setup: Setup<'a>) -> Self {
        let Setup { program, clock, .. } = setup;
        let law = DirectLaw::choose(program, clock);
        let shares = program.firing.iter().map(|firing| share(firing, law)).collect();
        let mut places = vec![0; program.transitions()];
        for (place, &t) in (0..).zip(&program.timed) {
            places[t as usize] = place;
        }
        Self { rules: Rules::new(setup, DIRECT_FIRINGS), law, shares, places }
    }

    /// Runs replications as [`Engine::run`] does, with an observer of the caller.
    pub(crate) fn watch<O: Observer>(
        &self,
        observer: O,
        first: u64,
        count: u64,
        samples: &mut Samples,
    ) -> Result<O, Fault> {
        let mut game = Game::new(&self.rules, observer);
        let mut units = Units::new(self.rules.setup.program.timed.len());
        for replication in first..first + count {
            self.play(&mut game, &mut units, replication, samples)?;
            if game.is_stopped() {
                break;
            }
        }
        Ok(game.into_observer())
    }

    fn play<O: Observer>(
        &self,
        game: &mut Game<'_, 'a, O>,
        units: &mut Units,
        replication: u64,
        samples: &mut Samples,
    ) -> Result<(), Fault> {
        let outcome = game.begin(replication)?;
        let last_tick = self.rules.last_tick();
        let stop = self.play_on(game, units, outcome, |_, _| last_tick)?;
        game.end_by(stop, samples)
    }

    /// Continues from the current marking and time until the replication ends, or until it has stayed in a marking up
    /// to the tick that `limit` returns for this marking and the tick of its next firing.
    #[inline(always)]
    pub(super) fn play_on<O: Observer>(
        &self,
        game: &mut Game<'_, 'a, O>,
        units: &mut Units,
        mut outcome: Outcome,
        limit: impl Fn(&Game<'_, 'a, O>, u64) -> u64,
    ) -> Result<Stop, Fault> {
        let (key, replication) = (self.rules.setup.key, game.replication());
        units.reset();
        if outcome == Outcome::Tangible {
            self.look_at(game, units, &game.program().timed)?;
        }
        let mut now = game.now();
        for pair in 0..=u32::MAX {
            let words = event_block(key, replication, pair);
            for [word, selector] in [[words[0], words[1]], [words[2], words[3]]] {
                if outcome == Outcome::Goal {
                    return Ok(Stop::Goal);
                }
                if units.total == 0 {
                    return Ok(Stop::Dead);
                }
                now += self.law.delay(exponential(word), units.total);
                if now > limit(game, now) {
                    return Ok(Stop::Late);
                }
                if game.is_spent() {
                    return Ok(Stop::Spent);
                }
                let place = units.select(DirectLaw::selection(selector, units.total));
                let t = game.program().timed[place];
                outcome = game.fire(t, now)?;
                self.look_at(game, units, game.touched(t))?;
            }
        }
        Ok(Stop::Spent)
    }

    /// Updates the units of some timed transitions for the current marking.
    #[inline(always)]
    fn look_at<O: Observer>(
        &self,
        game: &Game<'_, 'a, O>,
        units: &mut Units,
        transitions: &[u32],
    ) -> Result<(), Fault> {
        for &u in transitions {
            let place = self.places[u as usize] as usize;
            let now = match self.shares[u as usize] {
                Share::Plain(each) => {
                    let enabled = self.rules.guards.is_enabled(game.program(), u as usize, game.marking())?;
                    if enabled { each } else { 0 }
                }
                _ => self.other_units(game, u as usize, units.total - units.each[place])?,
            };
            units.set(place, now);
        }
        Ok(())
    }

    /// Units of a transition whose units can have more than two values; `others` is the sum of the units of all other
    /// transitions.
    fn other_units<O: Observer>(&self, game: &Game<'_, 'a, O>, u: usize, others: u64) -> Result<u64, Fault> {
        let (program, marking) = (game.program(), game.marking());
        let units = match self.shares[u] {
            Share::Plain(each) => each,
            Share::Served(each, servers) => each * u64::from(self.rules.guards.served(program, u, servers, marking)?),
            Share::Marking => self.law.units(rate(program, u, marking)?),
        };
        if units.checked_add(others).is_some_and(|total| total <= MOST_UNITS) {
            return Ok(units);
        }
        let transition = program.transition_names[u].clone();
        Err(Fault::BadValue { what: "rate", transition, value: rate(program, u, marking)? })
    }
}

impl Engine for DirectForm<'_> {
    fn run(&self, first: u64, count: u64, samples: &mut Samples) -> Result<(), Fault> {
        with_observer!(self.rules.setup, observer => self.watch(observer, first, count, samples).map(drop))
    }
}

/// Returns the contribution of a transition to the total.
fn share(firing: &Firing, law: DirectLaw) -> Share {
    match firing {
        Firing::Exponential { rate, servers } => match (rate.as_constant(), *servers) {
            (None, _) => Share::Marking,
            (Some(rate), Servers::Single | Servers::Limited(1)) => Share::Plain(law.units(rate)),
            (Some(rate), servers) => Share::Served(law.units(rate), servers),
        },
        Firing::Immediate { .. } | Firing::General { .. } => Share::Plain(0),
    }
}

impl Units {
    /// Creates blocks whose number is about equal to their length.
    pub(super) fn new(timed: usize) -> Self {
        let shift = (usize::BITS - timed.leading_zeros()) / 2;
        let blocks = (timed >> shift) + 1;
        Self { each: vec![0; blocks << shift], blocks: vec![0; blocks], shift, total: 0 }
    }

    fn reset(&mut self) {
        self.each.fill(0);
        self.blocks.fill(0);
        self.total = 0;
    }

    #[inline(always)]
    fn set(&mut self, place: usize, units: u64) {
        let change = units.wrapping_sub(std::mem::replace(&mut self.each[place], units));
        let block = &mut self.blocks[place >> self.shift];
        *block = block.wrapping_add(change);
        self.total = self.total.wrapping_add(change);
    }

    /// The first timed transition at which the running sum is above `selection`, which is below the total.
    #[inline(always)]
    fn select(&self, mut selection: u64) -> usize {
        let mut block = 0;
        while selection >= self.blocks[block] {
            selection -= self.blocks[block];
            block += 1;
        }
        let mut place = block << self.shift;
        while selection >= self.each[place] {
            selection -= self.each[place];
            place += 1;
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selection_walks_the_running_sums() {
        for timed in [1, 2, 3, 7, 16, 100, 1000] {
            let mut units = Units::new(timed);
            for place in 0..timed {
                units.set(place, 100);
                units.set(place, (place as u64 * 7) % 5);
            }
            let each = units.each.clone();
            let mut expected = (0..timed).flat_map(|place| std::iter::repeat_n(place, each[place] as usize));
            for selection in 0..units.total {
                assert_eq!(Some(units.select(selection)), expected.next());
            }
            assert_eq!(expected.next(), None);
        }
    }
}
