//! Nets with fixed delays: deterministic delays, and delays with finitely many values.
//!
//! At most one transition with a fixed delay may be enabled at a time, and this transition must have one server. Its
//! delay starts in some state; until it fires, the other transitions form a Markov chain. If they disable it, the delay
//! is dropped. [`FixedDelayStates`] checks these conditions. `steady` solves the long run, `moments` the mean time to a goal,
//! and `evolution` the probabilities over time. `transient` reads these probabilities at given times, `passage` at a goal.

mod ask;
mod clock;
mod evolution;
mod grid;
mod moments;
#[cfg(test)]
mod nets;
mod passage;
mod steady;
mod transient;

use std::sync::Arc;

use tailspn_common::number::brief;

use crate::compile::{Csr, Firing, Program, Value};
use crate::fold::Symmetry;
use crate::net::{Law, Memory, Servers};
use crate::solve::absorb::AbsorbError;
use crate::solve::averages::Averages;
use crate::solve::explore_error::{ExploreError, Incomplete};
use crate::solve::firings::TimedFirings;
use crate::solve::rates::Rates;
use crate::solve::reach::{Limits, summed};
use crate::solve::space::StateSpace;
use crate::solve::steady::SteadyError;
use crate::solve::transient::TransientError;
use crate::solve::until::{Until, UntilStates};
use crate::solve::vanish::Settling;
use crate::watch::Watch;

pub use grid::TimeGrid;
pub use passage::FixedDelayPassage;
pub use steady::FixedDelaySteady;
pub use transient::FixedDelayTransient;

/// The states of a net with fixed delays.
#[derive(Clone, Debug)]
pub struct FixedDelayStates {
    /// The net with exponential delays in place of fixed delays. It has the same markings. The rates of these exponential
    /// delays have no meaning.
    pub program: Program,
    /// All markings, up to the goal and the markings to avoid.
    pub space: StateSpace,
    /// One truth value per state: true at the goal.
    pub targets: Vec<bool>,
    play: Arc<Play>,
    delays: Vec<Fixed>,
    /// Maximum number of bytes of each further table.
    most_bytes: u64,
}

impl FixedDelayStates {
    /// Explores the states of a net up to the ends of its runs.
    ///
    /// # Errors
    ///
    /// [`FixedDelayError::Servers`], [`FixedDelayError::Together`], [`FixedDelayError::Resumed`],
    /// [`FixedDelayError::Incomplete`] and [`FixedDelayError::Explore`].
    pub fn explore(
        program: &Program,
        until: Until<'_>,
        limits: &Limits,
        watch: &dyn Watch,
    ) -> Result<Self, FixedDelayError> {
        let (program, delays) = exponential_twin(program)?;
        Self::of(&program, delays, until, limits, watch)
    }

    fn of(
        twin: &Program,
        delays: Vec<Fixed>,
        until: Until<'_>,
        limits: &Limits,
        watch: &dyn Watch,
    ) -> Result<Self, FixedDelayError> {
        let UntilStates { program, space, targets } = until.explore(twin, &Symmetry::default(), limits, watch)?;
        space.complete().map_err(FixedDelayError::Incomplete)?;
        let play = Arc::new(Play::new(&space, &program, &delays)?);
        Ok(Self { program, space, targets, play, delays, most_bytes: limits.bytes })
    }

    /// Returns true if a fixed delay runs in a state.
    pub fn is_delayed(&self, state: usize) -> bool {
        self.play.fixed[state].is_some()
    }

    /// Returns the enabled transition with a fixed delay per state, with 0 firings per second.
    fn no_firings(&self) -> impl Iterator<Item = Option<(u32, f64)>> {
        self.play.fixed.iter().map(|fixed| fixed.map(|f| (self.delays[f as usize].transition, 0.0)))
    }

    fn initial(&self) -> &[(u32, f64)] {
        &self.space.partial_chain().initial
    }
}

/// Returns averages over states with given probabilities. `firings` has, per state, the enabled transition with a fixed
/// delay and its firings per second.
fn averages(
    space: &StateSpace,
    program: &Program,
    probabilities: &[f64],
    firings: &[Option<(u32, f64)>],
) -> Result<Averages, ExploreError> {
    // a state with a delay of 0 s takes no time, but its transition fires
    let counts = |state: usize| probabilities[state] > 0.0 || firings[state].is_some_and(|(_, flow)| flow > 0.0);
    space.averages_of(program, probabilities, &counts, &|state, transition, rate| match firings[state] {
        Some((fixed, flow)) if fixed == transition => flow,
        _ => probabilities[state] * rate,
    })
}

/// Reason why a net with fixed delays cannot be solved exactly.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FixedDelayError {
    /// The markings cannot be explored.
    #[error(transparent)]
    Explore(#[from] ExploreError),
    /// Markings are missing.
    #[error("{0}")]
    Incomplete(Incomplete),
    /// Two fixed delays run at the same time.
    #[error(
        "transitions `{first}` and `{second}` have fixed delays and are enabled together, so the next firing depends on the ages of both; simulate the net"
    )]
    Together {
        /// Id of one transition.
        first: String,
        /// Id of another transition.
        second: String,
    },
    /// Several servers have fixed delays.
    #[error(
        "transition `{transition}` has a fixed delay and several servers; simulate the net, or give the transition one server"
    )]
    Servers {
        /// Id of the transition.
        transition: String,
    },
    /// A delay that is interrupted resumes later.
    #[error(
        "the fixed delay of transition `{transition}` resumes after the transition was disabled (age memory); simulate the net"
    )]
    Resumed {
        /// Id of the transition.
        transition: String,
    },
    /// The probabilities between the states in which delays start need too much memory.
    #[error(
        "the matrix of probabilities between states in which fixed delays start needs more than {limit} bytes; simulate the net"
    )]
    TooLarge {
        /// Maximum number of bytes.
        limit: u64,
    },
    /// A question that nets with fixed delays do not support; simulation is possible.
    #[error("{question} is not supported for nets with deterministic or empirical delays; simulate the net")]
    Unsupported {
        /// The question.
        question: &'static str,
    },
    /// A fixed delay of 0 s. The solution over time does not support it.
    #[error("transition `{transition}` has a fixed delay of 0 s; make it immediate, or simulate the net")]
    Zero {
        /// Id of the transition.
        transition: String,
    },
    /// The fixed delays are not multiples of one step.
    #[error(
        "the fixed delays (from {shortest} to {longest} s) are not multiples of one step of at least a millionth of the longest delay; round the delays, or simulate the net"
    )]
    NoCommonStep {
        /// The shortest fixed delay \[s\].
        shortest: f64,
        /// The longest fixed delay \[s\].
        longest: f64,
    },
    /// The grid of times is too long for the rates of the net.
    #[error(
        "about {needed:.0e} multiplications are needed until {} s, more than {limit:.0e}; use a shorter time, fixed delays with a longer common step, or simulate the net",
        shown(*time)
    )]
    TooMuchWork {
        /// Approximate number of multiplications needed.
        needed: f64,
        /// The time \[s\].
        time: f64,
        /// Maximum number of multiplications.
        limit: f64,
    },
    /// The grid of times is too long for the time that is left.
    #[error(
        "{intervals} intervals are needed until {} s, at least {} s of work, and {} s are left; allow more time, or ask for a shorter time",
        shown(*time), shown(*seconds), shown(*left)
    )]
    TooSlow {
        /// Number of intervals needed.
        intervals: f64,
        /// The time \[s\].
        time: f64,
        /// Lower bound of the time of the work \[s\].
        seconds: f64,
        /// The rest of the time limit \[s\].
        left: f64,
    },
    /// The watch has stopped the work.
    #[error("stopped after {intervals} intervals, at model time {} s", shown(*time))]
    Stopped {
        /// Number of intervals computed.
        intervals: u64,
        /// The end of the last interval \[s\].
        time: f64,
    },
    /// The goal can be reached, but not by numbers that floating point can represent.
    #[error(
        "the goal can be reached, but a probability on the way to it is too small for floating-point numbers, so neither its probability nor its time is known; raise the smallest rates"
    )]
    TooRare,
    /// A probability that rounding errors hide.
    #[error(
        "the probability is at most {}, which is within the rounding errors of the firings so far; ask for a longer time",
        brief(*.most)
    )]
    Hidden {
        /// Bound of the probability.
        most: f64,
    },
    /// The future firings of the fixed delays need too much memory.
    #[error("the future firings of the fixed delays need more than {limit} bytes; simulate the net")]
    TooManyFirings {
        /// Maximum number of bytes.
        limit: u64,
    },
    /// The distribution over a long time needs too much memory.
    #[error(
        "the distribution up to {} s needs more than {limit} bytes; use a shorter time, or simulate the net",
        shown(*time)
    )]
    TooLong {
        /// The time \[s\].
        time: f64,
        /// Maximum number of bytes.
        limit: u64,
    },
    /// A quantile that does not exist, because the goal is reached with a smaller probability.
    #[error(
        "the goal is reached with probability {}, so there is no time by which it is reached with probability {}",
        brief(*.probability),
        brief(*.asked)
    )]
    NoQuantile {
        /// The requested probability.
        asked: f64,
        /// Probability of ever reaching the goal.
        probability: f64,
    },
    /// The probability of ever reaching the goal, or the moments of the time to the goal, cannot be computed.
    #[error(transparent)]
    Absorb(#[from] AbsorbError),
    /// The transient probabilities during a delay cannot be computed.
    #[error(transparent)]
    Transient(#[from] TransientError),
    /// The steady state of the chain of states in which delays start cannot be computed.
    #[error(transparent)]
    Steady(#[from] SteadyError),
}

/// Returns a time as text, without hundreds of digits.
fn shown(time: f64) -> String {
    if (1e-3..1e6).contains(&time) { format!("{}", (time * 1e3).round() / 1e3) } else { format!("{time:.3e}") }
}

/// Returns the values of a fixed delay \[s\], each with its probability; none for other distributions.
fn values(law: &Law) -> Option<Vec<(f64, f64)>> {
    match law {
        Law::Deterministic { delay } => Some(vec![(*delay, 1.0)]),
        Law::Empirical { samples } => {
            let mut sorted = samples.clone();
            sorted.sort_by(f64::total_cmp);
            let share = 1.0 / sorted.len() as f64;
            Some(
                sorted
                    .chunk_by(|a, b| a.total_cmp(b).is_eq())
                    .map(|equal| (equal[0], share * equal.len() as f64))
                    .collect(),
            )
        }
        Law::Uniform { .. }
        | Law::Erlang { .. }
        | Law::Hyperexponential { .. }
        | Law::LogNormal { .. }
        | Law::Weibull { .. }
        | Law::Pareto { .. }
        | Law::Gamma { .. } => None,
    }
}

/// Returns true if a delay has finitely many values, so that [`FixedDelayStates`] can handle it.
pub fn is_fixed(law: &Law) -> bool {
    matches!(law, Law::Deterministic { .. } | Law::Empirical { .. })
}

/// Returns true if a transition of `program` has a fixed delay.
pub fn has_fixed_delays(program: &Program) -> bool {
    program.firing.iter().any(|firing| matches!(firing, Firing::General { law, .. } if is_fixed(law)))
}

/// A transition with a fixed delay.
#[derive(Clone, Debug)]
struct Fixed {
    transition: u32,
    values: Vec<(f64, f64)>,
    memory: Memory,
}

/// Returns the net with exponential delays in place of fixed delays, and the fixed delays.
fn exponential_twin(program: &Program) -> Result<(Program, Vec<Fixed>), FixedDelayError> {
    let (mut twin, mut delays) = (program.clone(), Vec::new());
    for (t, firing) in twin.firing.iter_mut().enumerate() {
        let Firing::General { law, servers, memory } = firing else { continue };
        let Some(values) = values(law) else { continue };
        if *servers != Servers::Single {
            return Err(FixedDelayError::Servers { transition: program.transition_names[t].to_owned() });
        }
        delays.push(Fixed { transition: t as u32, values, memory: *memory });
        *firing = Firing::Exponential { rate: Value::Constant(1.0), servers: Servers::Single };
    }
    Ok((twin, delays))
}

/// The possible firings in each state.
#[derive(Clone, Debug)]
struct Play {
    /// Per state: the fixed delay that runs in the state, if any.
    fixed: Vec<Option<u32>>,
    /// Per state: the states to which the end of this delay leads, with probabilities.
    after: Csr<(u32, f64)>,
    /// Per state: the other states to which exponential delays lead, with rates.
    rates: Rates,
}

impl Play {
    fn new(space: &StateSpace, program: &Program, delays: &[Fixed]) -> Result<Self, FixedDelayError> {
        let mut firings = TimedFirings::new(space, program);
        let rules = firings.rules;
        let (mut settling, mut end) = (Settling::new(&rules), rules.start());
        let mut delay_of = vec![None; program.transitions()];
        for (f, fixed) in (0..).zip(delays) {
            delay_of[fixed.transition as usize] = Some(f);
        }
        let name = |f: u32| program.transition_names[delays[f as usize].transition as usize].to_owned();
        let (mut fixed, mut after, mut rates) = (Vec::new(), Vec::new(), Vec::new());
        for state in 0..space.states() {
            let (mut own, mut ends, mut row) = (None, Vec::new(), Vec::new());
            firings.of_state(state, |firing| {
                let delay: Option<u32> = delay_of[firing.transition as usize];
                if let (Some(first), Some(second)) = (own, delay) {
                    return Err(FixedDelayError::Together { first: name(first), second: name(second) });
                }
                own = own.or(delay);
                let to = if delay.is_some() { &mut ends } else { &mut row };
                Ok(firing.add_ends(space, &rules, &mut settling, &mut end, to)?)
            })?;
            summed(&mut ends);
            summed(&mut row);
            row.retain(|&(to, _)| to as usize != state);
            fixed.push(own);
            after.push(ends);
            rates.push(row);
        }
        let this = Self { fixed, after: Csr::from_rows(after), rates: Rates::from_rows(rates) };
        match delays.iter().zip(0..).find(|(delay, f)| delay.memory == Memory::Age && this.is_interrupted(*f)) {
            Some((delay, _)) => {
                let transition = program.transition_names[delay.transition as usize].to_owned();
                Err(FixedDelayError::Resumed { transition })
            }
            None => Ok(this),
        }
    }

    /// Returns true if an exponential transition can disable the transition with fixed delay `f`.
    fn is_interrupted(&self, f: u32) -> bool {
        let own = |state: u32| self.fixed[state as usize] == Some(f);
        let mut states = 0..self.fixed.len() as u32;
        states.any(|state| own(state) && self.rates.states(state as usize).iter().any(|&to| !own(to)))
    }

    fn exit_rate(&self, state: u32) -> f64 {
        self.rates.row(state as usize).map(|(_, rate)| rate).sum()
    }
}
