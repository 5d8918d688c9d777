//! The token game of a net: the enabled transitions of a marking, the effect of a firing, and a random choice.
//!
//! Enabling, firing and the choice by weight are the same as in the engines (`tailspn::semantics`).

use tailspn::compile::{Firing, Program};
use tailspn::formats::Positions;
use tailspn::formats::pipe::{WriteOptions, Written, write};
use tailspn::formats::svg::svg_at;
use tailspn::net::{BuildError, Net, PlaceId, Servers};
use tailspn::rng::{Address, Purpose, split};
use tailspn::semantics::{Candidates, Fault, can_fire, enabling_degree, find_candidates, fire, pick, rate, served};
use tailspn::sim::{Clock, Sampler};

/// Maximum number of nodes of a net that is drawn.
const MOST_DRAWN: usize = 300;

/// Maximum number of delays that one transition draws in a step.
const MOST_DRAWS: u32 = 100_000;

/// A net and its program.
#[derive(Debug)]
pub(crate) struct Game {
    net: Net,
    program: Program,
    clock: Clock,
}

/// A transition that can fire next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Move {
    /// Number of the transition.
    pub(crate) transition: u32,
    /// When it would fire.
    pub(crate) when: When,
}

/// The time at which a transition would fire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum When {
    /// Immediately, with this probability among the competing transitions.
    AtOnce { probability: f64 },
    /// After an exponential delay with this total rate \[1/s\].
    Exponential { rate_per_s: f64 },
    /// After delays of another distribution, with this many at a time.
    General { servers: u32 },
}

/// A random step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    /// Number of the transition.
    pub(crate) transition: u32,
    /// Delay of its firing \[s\].
    pub(crate) delay_s: f64,
}

impl Game {
    /// Makes the game of a net that was compiled to `program`.
    pub(crate) fn new(net: Net, program: Program) -> Self {
        let clock = Clock::choose(&program, None);
        Self { net, program, clock }
    }

    pub(crate) fn net(&self) -> &Net {
        &self.net
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// Explains why `marking` is not a marking of the net, or returns `None` if it is one.
    pub(crate) fn fault_of(&self, marking: &[u32]) -> Option<String> {
        let program = &self.program;
        if marking.len() != program.counters() {
            return Some(format!("the marking has {} numbers, the net needs {}", marking.len(), program.counters()));
        }
        let overfull = |place: &usize| {
            program.capacity[*place].is_some_and(|most| program.tokens_in(*place, marking) > u64::from(most))
        };
        let place = (0..program.places()).find(overfull)?;
        Some(format!("place `{}` has more tokens than its capacity", program.place_names[place]))
    }

    /// The transitions that can fire next: immediate ones if there are any, otherwise timed ones.
    pub(crate) fn moves(&self, marking: &[u32]) -> Result<Vec<Move>, Fault> {
        let program = &self.program;
        let mut moves = Vec::new();
        let mut found = Candidates::default();
        for group in 0..program.groups.rows() {
            find_candidates(program, group, marking, &mut found)?;
            let total: f64 = found.exact_weights().iter().sum();
            let pairs = found.transitions().iter().zip(found.exact_weights());
            moves.extend(
                pairs.map(|(&transition, weight)| Move {
                    transition,
                    when: When::AtOnce { probability: weight / total },
                }),
            );
        }
        if !moves.is_empty() {
            return Ok(moves);
        }
        for &transition in &program.timed {
            let t = transition as usize;
            if !can_fire(program, t, marking)? {
                continue;
            }
            let when = match &program.firing[t] {
                Firing::General { servers, .. } => When::General { servers: self.servers(t, *servers, marking)? },
                _ => When::Exponential { rate_per_s: rate(program, t, marking)? },
            };
            moves.push(Move { transition, when });
        }
        Ok(moves)
    }

    fn servers(&self, t: usize, servers: Servers, marking: &[u32]) -> Result<u32, Fault> {
        Ok(served(servers, enabling_degree(&self.program, t, marking)?))
    }

    /// The marking after `transition` has fired, which must be one of the moves.
    pub(crate) fn fired(&self, transition: u32, marking: &[u32]) -> Result<Vec<u32>, Fault> {
        let mut after = marking.to_vec();
        fire(&self.program, transition as usize, &mut after)?;
        Ok(after)
    }

    /// A random step by the rules of the engines: among immediate transitions by weight, otherwise the timed transition
    /// whose delay runs out first. Delays are drawn anew in each step, which changes the distribution only of delays
    /// that are not exponential. Steps of the same seed and number are equal. `None` if no transition can fire.
    pub(crate) fn step(&self, marking: &[u32], seed: u64, number: u32) -> Result<Option<Step>, Fault> {
        let key = split(seed);
        let mut found = Candidates::default();
        for group in 0..self.program.groups.rows() {
            find_candidates(&self.program, group, marking, &mut found)?;
            if !found.transitions().is_empty() {
                let owner = u32::try_from(group).unwrap_or(u32::MAX);
                let word = || Address { purpose: Purpose::Choice, owner, sample: number }.word(key, 0);
                return Ok(Some(Step { transition: pick(&found, word), delay_s: 0.0 }));
            }
        }
        let mut first: Option<Step> = None;
        for Move { transition, when } in self.moves(marking)? {
            let delay_s = self.delay(transition, when, key, number);
            if first.is_none_or(|first| delay_s < first.delay_s) {
                first = Some(Step { transition, delay_s });
            }
        }
        Ok(first)
    }

    /// The delay that a timed transition draws in a step \[s\].
    fn delay(&self, transition: u32, when: When, key: [u32; 2], number: u32) -> f64 {
        let (sampler, draws) = match (when, &self.program.firing[transition as usize]) {
            (When::Exponential { rate_per_s }, _) => (Sampler::exponential(rate_per_s, self.clock), 1),
            (When::General { servers }, Firing::General { law, .. }) => (Sampler::general(law, self.clock), servers),
            _ => return 0.0,
        };
        let tick = f64::from(self.clock.engine_exponent()).exp2();
        let draw = |server: u32| {
            if self.clock.is_wide() {
                sampler.draw_wide(key, transition, number, u64::from(server)) as f64 * tick
            } else {
                sampler.draw(key, transition, number, u64::from(server)) as f64 * tick
            }
        };
        (0..draws.min(MOST_DRAWS)).map(draw).fold(f64::INFINITY, f64::min)
    }

    /// The net with `marking` as its initial marking.
    fn marked(&self, marking: &[u32]) -> Result<Net, BuildError> {
        let mut builder = self.net.to_builder();
        for (place, tokens) in marking.chunks(self.program.classes().max(1)).enumerate() {
            builder.place_mut(PlaceId::from_index(place)).initial = tokens.to_vec();
        }
        builder.build()
    }

    /// A picture of the net with the tokens of `marking`, as SVG; none for a net that is too large to draw.
    pub(crate) fn picture(&self, marking: &[u32]) -> Result<Option<String>, BuildError> {
        if self.net.places().len() + self.net.transitions().len() > MOST_DRAWN {
            return Ok(None);
        }
        Ok(Some(svg_at(&self.marked(marking)?, Positions::Auto).0))
    }

    /// The net with `marking`, as PIPE XML.
    pub(crate) fn pipe(&self, marking: &[u32]) -> Result<Written, BuildError> {
        Ok(write(&self.marked(marking)?, &WriteOptions::default()))
    }
}
