//! The direct form for small nets, 64 replications at a time.
//!
//! All lanes fire together; a lane whose replication has ended starts the next one. The arithmetic is the same as in
//! [`direct_law`](crate::sim::race::direct_law), so every replication equals the direct form bit for bit. In rare
//! cases, the direct form itself runs the replication from its start: totals above 32 bits, very many tokens, very many
//! consecutive immediate firings, or an error that must be described.

mod asked;
mod guard;
mod immediate;
mod kernel;
mod lanes;
mod ledger;
mod net;
mod notes;
mod settle;
mod sum;

use crate::compile::{Code, Program};
use crate::semantics::Fault;
use crate::sim::clock::NEVER;
use crate::sim::engine::Engine;
use crate::sim::question::{Ending, Goal, MAX_FIRINGS, Question};
use crate::sim::race::Setup;
use crate::sim::race::direct::DirectForm;
use crate::sim::race::direct_law::DirectLaw;
use crate::sim::samples::Samples;
use crate::simd::Level;
use kernel::{Limits, State, status};
use lanes::LANES;
use net::Net;
use notes::Notes;
use sum::Sum;

/// The lockstep form, ready to run.
#[derive(Debug)]
pub(crate) struct LockstepForm<'a> {
    setup: Setup<'a>,
    net: Net,
    limits: Limits,
    direct: DirectForm<'a>,
}

/// End of one replication.
#[derive(Clone, Copy, Debug)]
enum End {
    /// The replication still runs.
    Open,
    /// The replication ended in the lockstep form.
    At(Ending, u64, u64),
    /// The direct form must run the replication.
    Elsewhere,
}

/// Number of pairs of firings of all lanes between two checks of the stop flag: some milliseconds of work.
const PAIRS_BETWEEN_LOOKS: u32 = 1 << 11;

/// Fires up to `pairs` pairs, fewer if some lane stops, and returns the number of pairs. Compiled for every vector level.
struct FireOn<'a, S> {
    net: &'a Net,
    limits: &'a Limits,
    state: &'a mut State<S>,
    pairs: u32,
}

impl<S: Sum> pulp::NullaryFnOnce for FireOn<'_, S> {
    type Output = u32;

    #[inline(always)]
    fn call(self) -> u32 {
        for pair in 1..=self.pairs {
            self.state.fire_twice(self.net, self.limits);
            let stopped = self
                .state
                .status
                .0
                .iter()
                .fold(0, |any, &s| any | u32::from(s != status::RUNNING && s != status::IDLE));
            if stopped != 0 {
                return pair;
            }
        }
        self.pairs
    }
}

impl<'a> LockstepForm<'a> {
    /// Builds the engine, or returns all reasons why it cannot.
    pub(crate) fn new(setup: Setup<'a>) -> Result<Self, Vec<String>> {
        let Setup { program, question, clock, key, .. } = setup;
        let in_the_way = DirectLaw::obstacles(program, clock);
        if !in_the_way.is_empty() {
            return Err(in_the_way.iter().map(ToString::to_string).collect());
        }
        let law = DirectLaw::choose(program, clock);
        let net = Net::new(program, question, clock, law)?;
        let limits = Limits {
            key,
            base: law.base,
            last_tick: question.horizon.map_or(NEVER - 1, |horizon| clock.ticks(horizon)),
            max_firings: question.max_firings.unwrap_or(MAX_FIRINGS).min(net.safe_firings).min(1 << 32),
            level: Level::detect(),
        };
        Ok(Self { setup, net, limits, direct: DirectForm::new(setup) })
    }

    /// Returns true if the lockstep form is faster than the direct form for this number of timed transitions on this CPU, by measurement
    /// (docs/performance.md). The results are the same.
    pub(crate) fn pays(program: &Program) -> bool {
        let most = match Level::detect() {
            Level::Portable => 27,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2(_) => 90,
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(_) => 112,
        };
        program.timed.len() <= most
    }

    /// The same engine on another vector level; all levels give the same numbers.
    #[cfg(test)]
    pub(crate) fn at_level(mut self, level: Level) -> Self {
        self.limits.level = level;
        self
    }

    /// Starts the next replication in a lane, skipping replications that end immediately.
    fn refill<S: Sum>(&self, state: &mut State<S>, lane: usize, next: &mut Work) {
        state.status[lane] = status::IDLE;
        if next.begun == next.ends.len() {
            return;
        }
        for (tokens, &initial) in state.marking.iter_mut().zip(&self.net.initial) {
            tokens[lane] = initial;
        }
        state.now[lane] = 0;
        state.firings[lane] = 0;
        state.pair[lane] = 0;
        state.replication[lane] = next.first + next.begun as u64;
        state.status[lane] = status::RUNNING;
        for choices in &mut state.choices {
            choices[lane] = 0;
        }
        state.ledger.begin(&self.net.asked, lane);
        next.begun += 1;
    }

    /// Returns the end of a replication that the status of a lane represents.
    fn end<S>(&self, state: &State<S>, lane: usize) -> End {
        let (now, firings) = (state.now[lane], state.firings[lane]);
        let question = self.setup.question;
        match state.status[lane] {
            status::GOAL => End::At(self.reached(state, lane), now, firings),
            status::DEAD => match (&question.goal, question.horizon) {
                (Goal::Dead, _) => End::At(Ending::Goal, now, firings),
                (Goal::Horizon, Some(_)) => End::At(Ending::Horizon, self.limits.last_tick, firings),
                _ => End::At(Ending::Dead, now, firings),
            },
            status::LATE if question.horizon.is_some() => End::At(Ending::Horizon, self.limits.last_tick, firings),
            status::SPENT if question.max_firings == Some(self.limits.max_firings) => {
                End::At(Ending::Firings, now, firings)
            }
            _ => End::Elsewhere,
        }
    }

    /// Returns the ending of a lane that is at the goal or in a marking to avoid.
    fn reached<S>(&self, state: &State<S>, lane: usize) -> Ending {
        let Question { goal, avoid, .. } = self.setup.question;
        let is_goal = |goal: &Code| {
            let marking: Vec<u32> = state.marking.iter().map(|tokens| tokens[lane]).collect();
            goal.holds(&marking)
        };
        match goal {
            _ if avoid.is_none() => Ending::Goal,
            Goal::Marking(goal) if is_goal(&goal.code) => Ending::Goal,
            _ => Ending::Avoided,
        }
    }

    /// Returns true if a replication ends in the initial marking; then no lane needs to run.
    fn ends_at_once(&self) -> bool {
        self.setup.question.ends().any(|code| code.holds(&self.net.initial))
    }

    /// Runs replications as [`Engine::run`] does.
    fn play<S: Sum>(&self, mut state: State<S>, first: u64, count: u64, samples: &mut Samples) -> Result<(), Fault> {
        let ends = vec![End::Open; usize::try_from(count).unwrap_or(usize::MAX)];
        let mut work = Work { first, begun: 0, ends };
        for lane in 0..LANES {
            self.refill(&mut state, lane, &mut work);
        }
        let mut notes = Notes::new(&self.net.asked, work.ends.len());
        let mut pairs = PAIRS_BETWEEN_LOOKS;
        while state.status.0.contains(&status::RUNNING) {
            pairs -= self.limits.level.run(FireOn { net: &self.net, limits: &self.limits, state: &mut state, pairs });
            if pairs == 0 {
                pairs = PAIRS_BETWEEN_LOOKS;
                if self.setup.watch.stopped() {
                    break;
                }
            }
            for lane in 0..LANES {
                if !matches!(state.status[lane], status::RUNNING | status::IDLE) {
                    let number = (state.replication[lane] - first) as usize;
                    work.ends[number] = self.end(&state, lane);
                    if let End::At(_, end, _) = work.ends[number] {
                        notes.keep(number, &mut state, lane, end);
                    }
                    self.refill(&mut state, lane, &mut work);
                }
            }
        }
        for (number, end) in work.ends.iter().enumerate() {
            match *end {
                End::Open => break,
                End::At(ending, time, firings) => {
                    notes.add(number, time, samples);
                    samples.record(ending, time, firings, self.setup.keep_times);
                }
                End::Elsewhere => {
                    let before = samples.replications;
                    self.direct.run(first + number as u64, 1, samples)?;
                    if samples.replications == before {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The replications of one call.
struct Work {
    first: u64,
    begun: usize,
    ends: Vec<End>,
}

impl Engine for LockstepForm<'_> {
    /// Enough replications per lane, so that lanes are rarely idle at the end.
    fn batch(&self) -> u64 {
        16 * LANES as u64
    }

    fn run(&self, first: u64, count: u64, samples: &mut Samples) -> Result<(), Fault> {
        if self.ends_at_once() {
            self.direct.run(first, count, samples)
        } else if self.net.is_wide {
            self.play(State::<u64>::new(&self.net), first, count, samples)
        } else {
            self.play(State::<u32>::new(&self.net), first, count, samples)
        }
    }
}
