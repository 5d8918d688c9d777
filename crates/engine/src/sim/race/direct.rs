//! The race in direct form: the total rate determines the time to the next firing, and the shares in this rate determine the
//! transition.
//!
//! For exponential programs on the narrow clock; [`direct_law`](crate::sim::race::direct_law) has the arithmetic.

use crate::semantics::{Fault, rate};
use crate::sim::engine::Engine;
use crate::sim::race::ahead::Ahead;
use crate::sim::race::compact::{Compact, Share};
use crate::sim::race::direct_law::{DirectLaw, MOST_UNITS};
use crate::sim::race::game::{Game, Outcome, Rules, Stop};
use crate::sim::race::observe::{self, Observer};
use crate::sim::race::units::Units;
use crate::sim::race::{Setup, with_observer};
use crate::sim::samples::Samples;
use crate::simd::Level;

/// Maximum number of timed firings of one replication, for which the direct form has random words.
pub(crate) const DIRECT_FIRINGS: u64 = 1 << 33;

/// The race in direct form, ready to run.
#[derive(Debug)]
pub(crate) struct DirectForm<'a> {
    pub(super) rules: Rules<'a>,
    law: DirectLaw,
    net: Compact,
    level: Level,
}

/// The state of one replication, apart from its game.
#[derive(Debug)]
pub(super) struct DirectState {
    units: Units,
    ahead: Ahead,
}

impl<'a> DirectForm<'a> {
    /// Creates the engine. [`DirectLaw::obstacles`] must be empty.
    pub(crate) fn new(setup: Setup<'a>) -> Self {
        let law = DirectLaw::choose(setup.program, setup.clock);
        let rules = Rules::new(setup, DIRECT_FIRINGS);
        Self { net: Compact::new(&rules, law), rules, law, level: Level::detect() }
    }

    /// The same engine on another vector level; all levels give the same numbers.
    #[cfg(test)]
    pub(crate) fn at_level(mut self, level: Level) -> Self {
        self.level = level;
        self
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
        let mut state = DirectState::new(self.net.len());
        let last_tick = self.rules.last_tick();
        for replication in first..first + count {
            let outcome = game.begin(replication)?;
            let stop = self.play_on(&mut game, &mut state, outcome, |_, _| last_tick)?;
            game.end_by(stop, samples)?;
            if game.is_stopped() {
                break;
            }
        }
        Ok(game.into_observer())
    }

    /// Continues from the current marking and time until the replication ends, or until it has stayed in a marking up
    /// to the tick that `limit` returns for this marking and the tick of its next firing.
    #[inline(always)]
    pub(super) fn play_on<O: Observer>(
        &self,
        game: &mut Game<'_, 'a, O>,
        state: &mut DirectState,
        mut outcome: Outcome,
        limit: impl Fn(&Game<'_, 'a, O>, u64) -> u64,
    ) -> Result<Stop, Fault> {
        let DirectState { units, ahead } = state;
        let (key, replication) = (self.rules.setup.key, game.replication());
        ahead.reset();
        if outcome == Outcome::Tangible {
            units.fill(|place, before| self.units(game, place, before))?;
        }
        let mut now = game.now();
        loop {
            let total = units.total();
            if outcome == Outcome::Goal {
                return Ok(Stop::Goal);
            }
            if total == 0 {
                return Ok(Stop::Dead);
            }
            let [time, selector] = ahead.next(self.level, key, replication);
            now += self.law.delay(time, total);
            if now > limit(game, now) {
                return Ok(Stop::Late);
            }
            if game.is_spent() {
                return Ok(Stop::Spent);
            }
            let firing = self.net.firing(units.select(DirectLaw::selection(selector, total)));
            let t = firing.transition;
            if firing.is_simple {
                outcome = game.fire_simple(t, self.net.changes(firing), now)?;
                self.look_at(game, units, self.net.touched(firing))?;
            } else {
                outcome = game.fire(t, now)?;
                self.look_at(game, units, self.net.places(game.touched(t)))?;
            }
        }
    }

    /// Updates the units of some timed transitions for the current marking.
    #[inline(always)]
    fn look_at<O: Observer>(
        &self,
        game: &Game<'_, 'a, O>,
        units: &mut Units,
        places: impl Iterator<Item = usize>,
    ) -> Result<(), Fault> {
        for place in places {
            units.set(place, self.units(game, place, units.others(place))?);
        }
        Ok(())
    }

    /// The units of a transition in the current marking; `others` is the sum of the units of the other transitions.
    #[inline(always)]
    fn units<O: Observer>(&self, game: &Game<'_, 'a, O>, place: usize, others: u64) -> Result<u64, Fault> {
        let gate = self.net.gate(place);
        let units = match gate.servers {
            0 => self.other_units(game, place)?,
            _ => gate.units(&self.rules.guards, game.marking()),
        };
        // unchecked: one server with a constant rate
        if units.saturating_add(others) > MOST_UNITS && gate.servers != 1 {
            return Err(self.too_many(game, place));
        }
        Ok(units)
    }

    /// The units of a transition for which ranges do not suffice.
    #[inline(never)]
    fn other_units<O: Observer>(&self, game: &Game<'_, 'a, O>, place: usize) -> Result<u64, Fault> {
        let (program, marking) = (game.program(), game.marking());
        let (u, guards) = (program.timed[place] as usize, &self.rules.guards);
        Ok(match self.net.share(place) {
            Share::Plain(each) if guards.is_enabled(program, u, marking)? => each,
            Share::Plain(_) => 0,
            Share::Served(each, servers) => each * u64::from(guards.served(program, u, servers, marking)?),
            Share::Marking => self.law.units(rate(program, u, marking)?),
        })
    }

    /// The error for a transition whose rate exceeds the largest total.
    #[cold]
    fn too_many<O: Observer>(&self, game: &Game<'_, 'a, O>, place: usize) -> Fault {
        let program = game.program();
        let u = program.timed[place] as usize;
        let transition = program.transition_names[u].to_owned();
        match rate(program, u, game.marking()) {
            Ok(value) => Fault::BadValue { what: "rate", transition, value },
            Err(fault) => fault,
        }
    }
}

impl Engine for DirectForm<'_> {
    fn run(&self, first: u64, count: u64, samples: &mut Samples) -> Result<(), Fault> {
        with_observer!(self.rules.setup, observer => self.watch(observer, first, count, samples).map(drop))
    }
}

impl DirectState {
    /// The state for this number of timed transitions.
    pub(super) fn new(timed: usize) -> Self {
        Self { units: Units::new(timed), ahead: Ahead::new() }
    }
}
