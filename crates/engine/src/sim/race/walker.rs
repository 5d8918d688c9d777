//! Walks: replications that start in any state. The state in which a walk ends can be the start of other walks.
//!
//! A state is a marking, a time, and the age of each clock whose delay is not exponential. At its start, a walk draws the
//! remaining delays again, given the ages. So walks from the same state are independent, and have the distribution of the
//! net. A clock that runs out at exactly the tick of the state keeps its delay.

use std::cell::Cell;

use crate::compile::Program;
use crate::rng::{Address, Purpose};
use crate::semantics::Fault;
use crate::sim::race::Setup;
use crate::sim::race::clock::{ClockForm, State};
use crate::sim::race::crowd::{Age, Crowd};
use crate::sim::race::direct::{DirectForm, DirectState};
use crate::sim::race::game::{Game, Rules, Stop};
use crate::sim::race::observe::Blind;
use crate::sim::sampler::AgedSampler;

/// A state in which walks start.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub(crate) marking: Vec<u32>,
    /// The tick.
    pub(crate) now: u64,
    /// The ages of the clocks, in the order of the transitions.
    pub(crate) ages: Vec<Age>,
}

impl Start {
    /// The initial state of a net.
    pub(crate) fn initial(program: &Program) -> Self {
        Self { marking: program.initial.clone(), now: 0, ages: Vec::new() }
    }
}

/// A form of the race, ready for walks on the narrow clock.
#[derive(Debug)]
pub(crate) enum WalkForm<'a> {
    /// For exponential nets.
    Direct(DirectForm<'a>),
    /// For other nets.
    Clock {
        form: ClockForm<'a>,
        /// Per crowd: its transition, and the delays given their ages.
        aged: Vec<(u32, AgedSampler)>,
    },
}

impl<'a> WalkForm<'a> {
    /// Creates the form; `direct` means that [`DirectLaw::obstacles`](crate::sim::race::DirectLaw::obstacles) is empty.
    pub(crate) fn new(setup: Setup<'a>, direct: bool) -> Self {
        if direct {
            return Self::Direct(DirectForm::new(setup));
        }
        let form = ClockForm::new(setup);
        let aged = form.general().map(|(t, law)| (t, AgedSampler::new(law, setup.clock))).collect();
        Self::Clock { form, aged }
    }

    fn rules(&self) -> &Rules<'a> {
        match self {
            Self::Direct(form) => &form.rules,
            Self::Clock { form, .. } => &form.rules,
        }
    }

    /// The two halves of the seed.
    pub(crate) fn key(&self) -> [u32; 2] {
        self.rules().setup.key
    }

    /// The last tick of a walk.
    pub(crate) fn last_tick(&self) -> u64 {
        self.rules().last_tick()
    }

    /// Number of transitions with ages.
    pub(crate) fn crowds(&self) -> usize {
        match self {
            Self::Direct(_) => 0,
            Self::Clock { aged, .. } => aged.len(),
        }
    }
}

/// A marking during a walk.
#[derive(Debug)]
pub(crate) struct Stay<'s> {
    pub(crate) marking: &'s [u32],
    /// Tick from which the walk is in the marking.
    pub(crate) from: u64,
    /// Tick of the next firing.
    pub(crate) to: u64,
    crowds: &'s [Crowd<u64>],
}

impl<'s> Stay<'s> {
    /// A marking at one tick, without ages.
    pub(crate) fn at(marking: &'s [u32], tick: u64) -> Self {
        Self { marking, from: tick, to: tick, crowds: &[] }
    }

    /// For each transition with ages: number of running clocks, and the sum of their ages in ticks at `at`.
    pub(crate) fn total_ages(&self, at: u64) -> impl Iterator<Item = [f64; 2]> {
        self.crowds.iter().map(move |crowd| crowd.total_age(at))
    }
}

/// Runs walks one after the other.
#[derive(Debug)]
pub(crate) struct Walker<'f, 'a> {
    form: &'f WalkForm<'a>,
    game: Game<'f, 'a, Blind>,
    direct: DirectState,
    state: State<u64>,
    end: u64,
}

impl<'f, 'a> Walker<'f, 'a> {
    pub(crate) fn new(form: &'f WalkForm<'a>) -> Self {
        let rules = form.rules();
        let program = rules.setup.program;
        let places = match form {
            WalkForm::Direct(_) => [0; 3],
            WalkForm::Clock { form, .. } => form.places,
        };
        let (direct, state) = (DirectState::new(program.timed.len()), State::new(program, places));
        Self { form, game: Game::new(rules, Blind), direct, state, end: 0 }
    }

    /// Runs from a state until the replication ends, or until it has stayed in a marking up to the tick that `limit`
    /// returns. Uses the random words of replication number `replication`.
    pub(crate) fn walk(
        &mut self,
        start: &Start,
        replication: u64,
        limit: impl Fn(&Stay<'_>) -> u64,
    ) -> Result<Stop, Fault> {
        let Self { form, game, direct, state, .. } = self;
        let last = Cell::new(0);
        let noted = |stay: Stay<'_>| {
            last.set(limit(&stay));
            last.get()
        };
        let outcome = game.resume(&start.marking, start.now, replication)?;
        let stop = match form {
            WalkForm::Direct(form) => form.play_on(game, direct, outcome, |game, to| {
                noted(Stay { marking: game.marking(), from: game.now(), to, crowds: &[] })
            })?,
            WalkForm::Clock { form, aged } => {
                state.reset();
                resume(state, start, aged, form.rules.setup.key, replication);
                form.play_on(game, state, outcome, |game, state, to| {
                    noted(Stay { marking: game.marking(), from: game.now(), to, crowds: &state.crowds })
                })?
            }
        };
        self.end = if stop == Stop::Late { self.game.now().max(last.get()) } else { self.game.now() };
        Ok(stop)
    }

    /// The marking at the end of the walk.
    pub(crate) fn marking(&self) -> &[u32] {
        self.game.marking()
    }

    /// The tick of the last firing, or of the start if nothing fired.
    pub(crate) fn now(&self) -> u64 {
        self.game.now()
    }

    /// The marking at the end of the walk, at the tick of the last firing.
    pub(crate) fn last_stay(&self) -> Stay<'_> {
        Stay { crowds: &self.state.crowds, ..Stay::at(self.marking(), self.now()) }
    }

    /// The state at the end of the walk.
    pub(crate) fn state(&self) -> Start {
        let crowds = (0..).zip(&self.state.crowds);
        let ages = crowds.flat_map(|(number, crowd)| crowd.ages(number, self.end)).collect();
        Start { marking: self.marking().to_vec(), now: self.end, ages }
    }

    /// Number of firings of the walk.
    pub(crate) fn firings(&self) -> u64 {
        self.game.firings()
    }

    /// Returns true if the run was stopped during the walk.
    pub(crate) fn is_stopped(&self) -> bool {
        self.game.is_stopped()
    }
}

/// Sets the clocks to the ages of a start, with new remaining delays.
fn resume(state: &mut State<u64>, start: &Start, aged: &[(u32, AgedSampler)], key: [u32; 2], replication: u64) {
    for (number, age) in (0_u32..).zip(&start.ages) {
        let (owner, sampler) = &aged[age.crowd as usize];
        let first = number.wrapping_mul(sampler.words());
        let word = |i| {
            let address = Address { purpose: Purpose::Residual, owner: *owner, sample: first.wrapping_add(i) };
            address.word(key, replication)
        };
        let delay = if age.is_due { age.ticks } else { sampler.draw(age.ticks, word) };
        state.crowds[age.crowd as usize].resume(*age, delay, start.now);
    }
}
