//! The token game of a net: the transitions that can fire in a marking, the changes by firings, and recorded runs of the
//! simulator.
//!
//! Enabling, firing and all choices are those of the engines (`tailspn::semantics`, `tailspn::sim`).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tailspn::compile::{Firing, Program, compile};
use tailspn::formats::Positions;
use tailspn::formats::pipe::{WriteOptions, Written, write};
use tailspn::formats::svg::svg_at;
use tailspn::net::{BuildError, Delay, Net, PlaceId, Timing};
use tailspn::semantics::{Candidates, Fault, can_fire, find_candidates, fire, rate};
use tailspn::sim::{Goal, PATIENCE, Prepared, Question, Ready, Trajectory, Unwatched};

/// Maximum number of nodes of a net that is drawn.
const MOST_DRAWN: usize = 1_500;

/// Expressions that replace rates and weights of the file, by transition id.
pub(crate) type Rates = BTreeMap<String, String>;

/// A net and its program.
#[derive(Debug)]
pub(crate) struct Game {
    net: Net,
    program: Program,
}

/// A transition that can fire next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Move {
    /// Number of the transition.
    pub(crate) transition: u32,
    /// The time at which the transition would fire.
    pub(crate) when: When,
}

/// The time at which a transition would fire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum When {
    /// Immediately, with this probability among the competing transitions.
    AtOnce { probability: f64 },
    /// After an exponential delay with this total rate \[1/s\].
    Exponential { rate_per_s: f64 },
    /// After a delay of another distribution.
    General,
}

/// The changes of a marking by a firing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// Per counter of the marking that changes: its number, its tokens before and after.
    pub(crate) tokens: Vec<(usize, u32, u32)>,
    /// Transitions that became enabled or disabled by the firing.
    pub(crate) toggled: Vec<u32>,
}

/// Reason why a sequence of firings stops.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stuck {
    /// The transition cannot fire in the marking before it.
    CannotFire(u32),
    /// A fault of the net.
    Fault(Fault),
}

impl From<Fault> for Stuck {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl Game {
    /// Returns the game of a net that was compiled to `program`.
    pub(crate) fn new(net: Net, program: Program) -> Self {
        Self { net, program }
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
        Some(format!("place `{}` has more tokens than its capacity", &program.place_names[place]))
    }

    /// Returns the transitions that can fire next: immediate transitions if any are enabled, otherwise timed
    /// ones.
    pub(crate) fn moves(&self, marking: &[u32]) -> Result<Vec<Move>, Fault> {
        let program = &self.program;
        let mut moves = Vec::new();
        let mut found = Candidates::default();
        for group in 0..program.groups.rows() {
            find_candidates(program, group, marking, &mut found)?;
            let pairs = found.transitions().iter().zip(found.shares());
            moves.extend(
                pairs.map(|(&transition, probability)| Move { transition, when: When::AtOnce { probability } }),
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
                Firing::General { .. } => When::General,
                _ => When::Exponential { rate_per_s: rate(program, t, marking)? },
            };
            moves.push(Move { transition, when });
        }
        Ok(moves)
    }

    /// Fires transitions one after the other from `marking`, which is updated to the last marking. Returns the change by each
    /// firing.
    pub(crate) fn follow(
        &self,
        marking: &mut Vec<u32>,
        transitions: impl Iterator<Item = u32>,
    ) -> Result<Vec<Change>, Stuck> {
        let can_fire = |marking: &[u32]| -> Result<Vec<bool>, Fault> {
            let mut can = vec![false; self.program.transitions()];
            self.moves(marking)?.iter().for_each(|one| can[one.transition as usize] = true);
            Ok(can)
        };
        let mut changes = Vec::new();
        let mut can = can_fire(marking)?;
        for transition in transitions {
            if !can[transition as usize] {
                return Err(Stuck::CannotFire(transition));
            }
            let before = marking.clone();
            fire(&self.program, transition as usize, marking)?;
            let pairs = before.iter().zip(&*marking).enumerate().filter(|(_, (before, after))| before != after);
            let tokens = pairs.map(|(counter, (&before, &after))| (counter, before, after)).collect();
            let now = can_fire(marking)?;
            let toggled = (0..).zip(can.iter().zip(&now)).filter(|(_, (a, b))| a != b).map(|(t, _)| t).collect();
            can = now;
            changes.push(Change { tokens, toggled });
        }
        Ok(changes)
    }

    /// Returns at most `most` firings of a replication from `marking`, until nothing can fire or until an expression is not 0.
    /// The firings are those of `simulate --no-fold` for the net with this marking.
    pub(crate) fn run(
        &self,
        marking: &[u32],
        until: Option<&str>,
        [seed, replication]: [u64; 2],
        most: usize,
    ) -> Result<Trajectory, String> {
        let net = self.marked(marking).map_err(|error| error.to_string())?;
        let goal = match until {
            Some(text) => Goal::marking(&net, text).map_err(|error| error.to_string())?,
            None => Goal::Dead,
        };
        // the same question as in `net simulate`, so that the random draws are the same
        let limit = if most == 1 { 1 } else { PATIENCE };
        let question = Question { goal, max_firings: Some(limit), ..Question::default() };
        let prepared = Prepared::new(&net, &question, false).map_err(|error| error.to_string())?;
        let ready = Ready::new(&prepared.program, &prepared.question, None, seed, &Unwatched);
        ready.and_then(|ready| ready.trajectory(replication, most)).map_err(|error| error.to_string())
    }

    /// Returns the net with `marking` as the initial marking.
    pub(crate) fn marked(&self, marking: &[u32]) -> Result<Net, BuildError> {
        let mut builder = self.net.to_builder();
        for (place, tokens) in marking.chunks(self.program.classes().max(1)).enumerate() {
            builder.place_mut(PlaceId::from_index(place)).initial = tokens.to_vec();
        }
        builder.build()
    }

    /// Returns a picture of the net without tokens, as SVG; `None` if the net is too large to draw.
    pub(crate) fn picture(&self) -> Result<Option<String>, BuildError> {
        if self.net.places().len() + self.net.transitions().len() > MOST_DRAWN {
            return Ok(None);
        }
        let empty = vec![0; self.program.counters()];
        Ok(Some(svg_at(&self.marked(&empty)?, Positions::Auto).0))
    }

    /// Returns the net with `marking`, as PIPE XML.
    pub(crate) fn pipe(&self, marking: &[u32]) -> Result<Written, BuildError> {
        Ok(write(&self.marked(marking)?, &WriteOptions::default()))
    }

    /// Returns the rate of an exponential transition or the weight of an immediate one, as an expression; `None` for other
    /// distributions.
    pub(crate) fn rate_text(&self, t: usize) -> Option<String> {
        let expression = match &self.net.transitions()[t].timing {
            Timing::Immediate { weight, .. } => weight,
            Timing::Timed { delay: Delay::Exponential { rate }, .. } => rate,
            Timing::Timed { delay: Delay::General(_), .. } => return None,
        };
        Some(self.net.expression_text(expression))
    }

    /// Returns the same game with other rates.
    fn with_rates(&self, rates: &Rates) -> Result<Self, String> {
        let mut builder = self.net.to_builder();
        for (id, text) in rates {
            let t = self.net.find_transition(id).ok_or_else(|| format!("there is no transition `{id}`"))?;
            let value = self.net.expression(text).map_err(|error| format!("rate of `{id}`: {error}"))?;
            match &mut builder.transition_mut(t).timing {
                Timing::Immediate { weight, .. } => *weight = value,
                Timing::Timed { delay: Delay::Exponential { rate }, .. } => *rate = value,
                Timing::Timed { .. } => return Err(format!("the delay of `{id}` is not exponential")),
            }
        }
        let net = builder.build().map_err(|error| error.to_string())?;
        let program = compile(&net).map_err(|error| error.to_string())?;
        Ok(Self::new(net, program))
    }
}

/// The game of the file, and the game with the rates that were requested last.
#[derive(Debug)]
pub(crate) struct Games {
    /// Name of the file.
    pub(crate) file: String,
    pub(crate) original: Arc<Game>,
    last: Mutex<(Rates, Arc<Game>)>,
}

impl Games {
    pub(crate) fn new(file: String, game: Game) -> Self {
        let original = Arc::new(game);
        Self { file, last: Mutex::new((Rates::new(), Arc::clone(&original))), original }
    }

    /// Returns the game with these rates; consecutive requests with the same rates share one compiled program.
    pub(crate) fn with(&self, rates: Rates) -> Result<Arc<Game>, String> {
        if rates.is_empty() {
            return Ok(Arc::clone(&self.original));
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.0 != rates {
            let game = Arc::new(self.original.with_rates(&rates)?);
            *last = (rates, game);
        }
        Ok(Arc::clone(&last.1))
    }
}
