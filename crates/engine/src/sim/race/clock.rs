//! The race in clock form: every timed transition draws its own delay; the first clock to run out fires.
//!
//! * An exponential transition with one server and a constant rate keeps its clock while it stays enabled.
//! * An exponential transition whose total rate changes (several servers, or a rate that depends on the marking) draws
//!   anew. This does not change the distribution, because the exponential distribution has no memory.
//! * A transition with another distribution has one clock for each served enabling. A clock starts when the number of
//!   served enablings grows. When this number falls without a firing of the transition itself, the clock that started
//!   last is dropped. With age memory, it is suspended instead, and the clock suspended last resumes when the number
//!   grows again.
//!
//! Each draw takes the next sample number of its transition, so that a restarted clock never repeats an old draw. If
//! several clocks run out together, the transition with the smallest number fires first.

use crate::compile::{Firing, Program};
use crate::net::{Law, Memory, Servers};
use crate::rng::{Address, Purpose, exponential};
use crate::semantics::{Fault, rate};
use crate::sim::clock::{Clock, Scale};
use crate::sim::engine::Engine;
use crate::sim::race::crowd::Crowd;
use crate::sim::race::game::{Game, Outcome, Rules, Stop};
use crate::sim::race::heap::Heap;
use crate::sim::race::observe::{self, Observer};
use crate::sim::race::{Setup, with_observer};
use crate::sim::sampler::{Sampler, Ticks, exponential_scale};
use crate::sim::samples::Samples;

/// Maximum number of servers for which scales are precomputed.
const SCALES: u32 = 64;

/// Clock of a timed transition, by its kind.
#[derive(Debug)]
enum Timer {
    /// No clock: the transition is immediate or never fires.
    None,
    /// Constant exponential rate, one server.
    Plain(Scale),
    /// Constant exponential rate of each of several servers.
    Served {
        rate: f64,
        servers: Servers,
        /// Scales for 1, 2, ... busy servers.
        scales: Vec<Option<Scale>>,
        /// Index in [`State::served`].
        place: usize,
    },
    /// A rate that depends on the marking; the index in [`State::rates`].
    Marking { place: usize },
    /// Another distribution; the index in [`State::crowds`].
    General { sampler: Sampler, servers: Servers, memory: Memory, place: usize },
}

/// The race in clock form, ready to run.
#[derive(Debug)]
pub(crate) struct ClockForm<'a> {
    pub(super) rules: Rules<'a>,
    timers: Vec<Timer>,
    /// Number of timers of each kind that has a state: served, marking, general.
    pub(super) places: [usize; 3],
}

/// The clocks of one replication.
#[derive(Debug)]
pub(super) struct State<T: Ticks> {
    heap: Heap<T>,
    /// Per transition: number of draws so far.
    draws: Vec<u32>,
    /// Per transition: number of a quad of four consecutive replications, and the random block that their first draws share.
    first_blocks: Vec<(u64, [u32; 4])>,
    served: Vec<u32>,
    rates: Vec<f64>,
    pub(super) crowds: Vec<Crowd<T>>,
}

/// Number of timed firings of one replication for which the clock form has random words, if a draw takes up to `words`.
pub(crate) fn clock_firings(words: u32) -> u64 {
    // a transition draws at most once per firing, except distributions with several servers
    u64::from(u32::MAX / words.max(1))
}

impl<'a> ClockForm<'a> {
    /// Creates the engine for any program.
    pub(crate) fn new(setup: Setup<'a>) -> Self {
        let Setup { program, clock, .. } = setup;
        let mut places = [0; 3];
        let timers: Vec<Timer> = (0..program.transitions()).map(|t| timer(program, t, clock, &mut places)).collect();
        let words = timers.iter().map(|timer| match timer {
            Timer::General { sampler, .. } => sampler.words(),
            _ => 1,
        });
        let firings = clock_firings(words.max().unwrap_or(1));
        Self { rules: Rules::new(setup, firings), timers, places }
    }

    /// The transitions with a distribution that is not exponential, in the order of [`State::crowds`].
    pub(super) fn general(&self) -> impl Iterator<Item = (u32, &'a Law)> {
        (0..).zip(&self.rules.setup.program.firing).filter_map(|(t, firing)| match firing {
            Firing::General { law, .. } => Some((t, law)),
            _ => None,
        })
    }

    /// Runs replications as [`Engine::run`] does, with an observer of the caller.
    pub(crate) fn watch<O: Observer>(
        &self,
        observer: O,
        first: u64,
        count: u64,
        samples: &mut Samples,
    ) -> Result<O, Fault> {
        if self.rules.setup.clock.is_wide() {
            self.watch_as::<u128, O>(observer, first, count, samples)
        } else {
            self.watch_as::<u64, O>(observer, first, count, samples)
        }
    }

    fn watch_as<T: Ticks, O: Observer>(
        &self,
        observer: O,
        first: u64,
        count: u64,
        samples: &mut Samples,
    ) -> Result<O, Fault> {
        let mut game = Game::new(&self.rules, observer);
        let mut state = State::<T>::new(self.rules.setup.program, self.places);
        for replication in first..first + count {
            self.play(&mut game, &mut state, replication, samples)?;
            if game.is_stopped() {
                break;
            }
        }
        Ok(game.into_observer())
    }

    fn play<T: Ticks, O: Observer>(
        &self,
        game: &mut Game<'_, 'a, O>,
        state: &mut State<T>,
        replication: u64,
        samples: &mut Samples,
    ) -> Result<(), Fault> {
        let last_tick = self.rules.last_tick::<T>();
        state.reset();
        let outcome = game.begin(replication)?;
        let stop = self.play_on(game, state, outcome, |_, _, _| last_tick)?;
        game.end_by(stop, samples)
    }

    /// Continues from the current marking, time and clocks until the replication ends, or until it has stayed in a
    /// marking up to the tick that `limit` returns for this marking and the tick of its next firing. At a goal, the clocks
    /// are in the state before immediate transitions fired.
    pub(super) fn play_on<T: Ticks, O: Observer>(
        &self,
        game: &mut Game<'_, 'a, O>,
        state: &mut State<T>,
        mut outcome: Outcome,
        limit: impl Fn(&Game<'_, 'a, O>, &State<T>, T) -> T,
    ) -> Result<Stop, Fault> {
        let extra_bits = self.rules.setup.clock.extra_bits;
        if outcome == Outcome::Tangible {
            let now = T::from_result(game.now(), extra_bits);
            for &u in &game.program().timed {
                self.look_at(game, state, u, now, false)?;
            }
        }
        loop {
            if outcome == Outcome::Goal {
                return Ok(Stop::Goal);
            }
            let Some((now, t)) = state.heap.top() else { return Ok(Stop::Dead) };
            if now > limit(game, state, now) {
                return Ok(Stop::Late);
            }
            if game.is_spent() {
                return Ok(Stop::Spent);
            }
            outcome = game.fire(t, now.to_result(extra_bits))?;
            state.heap.take_top();
            if outcome == Outcome::Goal {
                if let Timer::General { place, .. } = &self.timers[t as usize] {
                    state.crowds[*place].finish(now);
                }
                return Ok(Stop::Goal);
            }
            for &u in game.touched(t) {
                self.look_at(game, state, u, now, u == t)?;
            }
            state.heap.close();
        }
    }

    /// Updates the clock of `u` for the current marking; `fired` means that its delay has just ended.
    #[inline(always)]
    fn look_at<T: Ticks, O: Observer>(
        &self,
        game: &Game<'_, 'a, O>,
        state: &mut State<T>,
        u: u32,
        now: T,
        fired: bool,
    ) -> Result<(), Fault> {
        match &self.timers[u as usize] {
            Timer::Plain(scale) => {
                let enabled = self.rules.guards.is_enabled(game.program(), u as usize, game.marking())?;
                let runs = state.heap.runs(u);
                if enabled && !runs {
                    let delay = self.draw(state, u, *scale, game.replication());
                    state.heap.start(u, now.plus(delay));
                } else if runs && !enabled {
                    state.heap.stop(u);
                }
                Ok(())
            }
            Timer::None => Ok(()),
            timer => self.look_at_other(timer, game, state, u, now, fired),
        }
    }

    fn look_at_other<T: Ticks, O: Observer>(
        &self,
        timer: &Timer,
        game: &Game<'_, 'a, O>,
        state: &mut State<T>,
        u: u32,
        now: T,
        fired: bool,
    ) -> Result<(), Fault> {
        let program = game.program();
        match timer {
            Timer::None | Timer::Plain(_) => {}
            Timer::Served { rate, servers, scales, place } => {
                let served = self.rules.guards.served(program, u as usize, *servers, game.marking())?;
                let before = std::mem::replace(&mut state.served[*place], served);
                if served != before || fired {
                    let scale = match (served as usize).checked_sub(1).map(|i| scales.get(i)) {
                        None => None,
                        Some(Some(scale)) => *scale,
                        Some(None) => exponential_scale(rate * f64::from(served), self.rules.setup.clock),
                    };
                    self.restart(state, u, scale, now, game.replication());
                }
            }
            Timer::Marking { place } => {
                let rate = rate(program, u as usize, game.marking())?;
                let before = std::mem::replace(&mut state.rates[*place], rate);
                if rate.to_bits() != before.to_bits() || fired {
                    let scale = exponential_scale(rate, self.rules.setup.clock);
                    if scale.is_none() && rate > 0.0 {
                        return Err(Fault::bad_value(program, u as usize, "rate", rate));
                    }
                    self.restart(state, u, scale, now, game.replication());
                }
            }
            Timer::General { sampler, servers, memory, place } => {
                let served = self.rules.guards.served(program, u as usize, *servers, game.marking())?;
                let key = self.rules.setup.key;
                let State { heap, draws, crowds, .. } = state;
                let draws = &mut draws[u as usize];
                let crowd = &mut crowds[*place];
                if fired {
                    crowd.finish(now);
                }
                let next = crowd.serve(served, now, *memory, || {
                    let sample = std::mem::replace(draws, draws.wrapping_add(1));
                    sampler.draw_as(key, u, sample, game.replication())
                });
                match next {
                    Some(time) => heap.set(u, time),
                    None => heap.stop(u),
                }
            }
        }
        Ok(())
    }

    /// Sets the clock of `u` to a fresh exponential delay, or stops it.
    #[inline]
    fn restart<T: Ticks>(&self, state: &mut State<T>, u: u32, scale: Option<Scale>, now: T, replication: u64) {
        match scale {
            Some(scale) => {
                let delay = self.draw(state, u, scale, replication);
                state.heap.set(u, now.plus(delay));
            }
            None => state.heap.stop(u),
        }
    }

    #[inline(always)]
    fn draw<T: Ticks>(&self, state: &mut State<T>, u: u32, scale: Scale, replication: u64) -> T {
        let draws = &mut state.draws[u as usize];
        let sample = std::mem::replace(draws, draws.wrapping_add(1));
        let address = Address { purpose: Purpose::Delay, owner: u, sample };
        let key = self.rules.setup.key;
        let lane = (replication & 3) as usize;
        if sample > 0 {
            return T::exponential(scale, exponential(address.word(key, replication)));
        }
        let block = &mut state.first_blocks[u as usize];
        if block.0 != replication >> 2 {
            *block = (replication >> 2, address.block(key, replication >> 2));
        }
        T::exponential(scale, exponential(block.1[lane]))
    }
}

impl Engine for ClockForm<'_> {
    fn run(&self, first: u64, count: u64, samples: &mut Samples) -> Result<(), Fault> {
        with_observer!(self.rules.setup, observer => self.watch(observer, first, count, samples).map(drop))
    }
}

/// Returns the timer of transition `t`; counts the timers of each kind.
fn timer(program: &Program, t: usize, clock: Clock, places: &mut [usize; 3]) -> Timer {
    let mut next_place = |kind: usize| {
        places[kind] += 1;
        places[kind] - 1
    };
    match &program.firing[t] {
        Firing::Immediate { .. } => Timer::None,
        Firing::Exponential { rate, servers } => match (rate.as_constant(), *servers) {
            (None, _) => Timer::Marking { place: next_place(0) },
            (Some(rate), Servers::Single | Servers::Limited(1)) => {
                exponential_scale(rate, clock).map_or(Timer::None, Timer::Plain)
            }
            (Some(rate), servers) => {
                let most = if let Servers::Limited(most) = servers { most.min(SCALES) } else { SCALES };
                let scales = (1..=most).map(|n| exponential_scale(rate * f64::from(n), clock)).collect();
                Timer::Served { rate, servers, scales, place: next_place(1) }
            }
        },
        Firing::General { law, servers, memory } => Timer::General {
            sampler: Sampler::general(law, clock),
            servers: *servers,
            memory: *memory,
            place: next_place(2),
        },
    }
}

impl<T: Ticks> State<T> {
    pub(super) fn new(program: &Program, [marking, served, general]: [usize; 3]) -> Self {
        Self {
            heap: Heap::new(program.transitions()),
            draws: vec![0; program.transitions()],
            first_blocks: vec![(u64::MAX, [0; 4]); program.transitions()],
            served: vec![0; served],
            rates: vec![0.0; marking],
            crowds: (0..general).map(|_| Crowd::default()).collect(),
        }
    }

    pub(super) fn reset(&mut self) {
        self.heap.clear();
        self.draws.fill(0);
        self.served.fill(0);
        self.rates.fill(0.0);
        self.crowds.iter_mut().for_each(Crowd::clear);
    }
}
