//! Derivatives of the time or the probability of a goal of any exponential net, by the score function, also called the likelihood
//! ratio method.
//!
//! Implements the observer that sums the score of each replication: the derivative of its log-likelihood by a parameter θ. With λ_t(m) the total rate of
//! transition t in marking m,
//!
//! ```text
//! S = Σ_{firings} d ln λ_t(m) / dθ − ∫ Σ_t dλ_t(m(s))/dθ ds,   d E[T] / dθ = Cov(T, S),   d P(goal) / dθ = Cov(1{goal}, S)
//! ```
//!
//! Exact if all delays that depend on θ are exponential; other transitions may have any distribution. The variance of S
//! grows with the number of firings that depend on θ, and so does the interval: for long runs, other methods are better.
//! Source: \[Glynn1990\].

use std::num::NonZeroUsize;

use rayon::prelude::*;

use crate::compile::{Firing, Program};
use crate::rng::split;
use crate::semantics::{Fault, rate};
use crate::sim::clock::Clock;
use crate::sim::ensemble::Ensemble;
use crate::sim::question::{Ending, Question};
use crate::sim::race::{ClockForm, DirectForm, DirectLaw, Observer, Setup};
use crate::sim::run::result_clock;
use crate::sim::run_error::RunError;
use crate::sim::samples::Samples;
use crate::sim::shift::{Shift, ShiftError};
use crate::watch::Watch;

/// Times of some replications and their scores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    /// Time at which each replication ended \[s\], at the goal or otherwise.
    pub times: Vec<f64>,
    /// True for each replication that reached the goal.
    pub reached: Vec<bool>,
    /// Per parameter: the score of each replication, in 1 per unit of the parameter. The expected score is 0.
    pub scores: Vec<Vec<f64>>,
    /// Number of replications that ended neither at the goal nor at the horizon; their times carry little information.
    pub unreached: u64,
    /// Number of replications that ended at the maximum number of firings; it is not known whether they would have reached the goal.
    pub undecided: u64,
    /// True if the run was stopped before its end.
    pub partial: bool,
}

/// Reason why there are no scores.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScoreError {
    /// This estimator does not support a parameter.
    #[error("parameter {parameter}: {error}")]
    Parameter {
        /// Position of the parameter.
        parameter: usize,
        /// The reason.
        error: ShiftError,
    },
    /// The net cannot be run.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl From<Fault> for ScoreError {
    fn from(fault: Fault) -> Self {
        Self::Run(fault.into())
    }
}

/// A parameter, and the transitions whose rates depend on it.
struct Moved<'a> {
    shift: &'a Shift,
    transitions: Vec<u32>,
    /// Per transition: true if its rate depends on the parameter.
    is_moved: Vec<bool>,
}

/// Sums scores during replications.
struct ScoreObserver<'a> {
    program: &'a Program,
    clock: Clock,
    moved: &'a [Moved<'a>],
    sums: Vec<f64>,
    found: Scores,
}

impl ScoreObserver<'_> {
    /// The total rate of `t`; NaN if the net has a fault, which the game itself reports.
    fn rate_in(program: &Program, t: u32, marking: &[u32]) -> f64 {
        rate(program, t as usize, marking).unwrap_or(f64::NAN)
    }
}

impl Observer for ScoreObserver<'_> {
    fn begin(&mut self) {
        self.sums.fill(0.0);
    }

    fn pass(&mut self, marking: &[u32], from: u64, to: u64) {
        if to == from {
            return;
        }
        let seconds = self.clock.seconds(to - from);
        for (sum, moved) in self.sums.iter_mut().zip(self.moved) {
            let Shift { low, high, width } = moved.shift;
            let slope = |&t: &u32| (Self::rate_in(high, t, marking) - Self::rate_in(low, t, marking)) / width;
            *sum -= moved.transitions.iter().map(slope).sum::<f64>() * seconds;
        }
    }

    fn fires(&mut self, t: u32, marking: &[u32], _: u64) {
        for (sum, moved) in self.sums.iter_mut().zip(self.moved) {
            if moved.is_moved[t as usize] {
                let Shift { low, high, width } = moved.shift;
                let own = Self::rate_in(self.program, t, marking);
                let difference = Self::rate_in(high, t, marking) - Self::rate_in(low, t, marking);
                *sum += difference / (width * own);
            }
        }
    }

    fn finish(&mut self, ending: Ending, _: &[u32], end: u64, _: &mut Samples) {
        self.found.times.push(self.clock.seconds(end));
        self.found.reached.push(ending == Ending::Goal);
        for (scores, sum) in self.found.scores.iter_mut().zip(&self.sums) {
            scores.push(*sum);
        }
    }
}

/// Number of replications that one thread runs at a time.
const CHUNK: u64 = 256;

/// Runs the replications of an ensemble, all on the CPU and without a stop rule, and computes the score of each
/// replication for each parameter.
///
/// # Errors
///
/// A parameter that changes more than rates of exponential transitions, or a net that cannot be run.
pub fn scores(
    program: &Program,
    question: &Question,
    shifts: &[Shift],
    ensemble: &Ensemble,
    watch: &dyn Watch,
) -> Result<Scores, ScoreError> {
    let moved: Vec<Moved<'_>> = shifts
        .iter()
        .enumerate()
        .map(|(parameter, shift)| {
            Moved::new(program, shift).map_err(|error| ScoreError::Parameter { parameter, error })
        })
        .collect::<Result<_, _>>()?;
    let clock = result_clock(program, question, ensemble.seed, watch)?;
    let player =
        Player::new(Setup { program, question, clock, key: split(ensemble.seed), keep_times: false, watch }, &moved);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(ensemble.threads.map_or(0, NonZeroUsize::get)).build();
    let pool = pool.map_err(|error| RunError::Threads(error.to_string()))?;
    let round = CHUNK * pool.current_num_threads() as u64 * 4;
    let (mut all, mut done) = (player.nothing(), 0);
    while done < ensemble.replications && !watch.stopped() {
        let end = ensemble.replications.min(done + round);
        let starts: Vec<u64> = (done..end).step_by(CHUNK as usize).collect();
        let one = |&start: &u64| player.play(ensemble.first + start, CHUNK.min(end - start));
        let parts: Vec<Scores> = pool.install(|| starts.par_iter().map(one).collect::<Result<_, Fault>>())?;
        parts.into_iter().for_each(|part| all.append(part));
        done = end;
        watch.progress(done, ensemble.replications);
    }
    all.partial = done < ensemble.replications;
    Ok(all)
}

/// A form of the race engine, and the observations.
struct Player<'a> {
    setup: Setup<'a>,
    moved: &'a [Moved<'a>],
    form: Form<'a>,
}

enum Form<'a> {
    Direct(DirectForm<'a>),
    Clock(ClockForm<'a>),
}

impl<'a> Player<'a> {
    fn new(setup: Setup<'a>, moved: &'a [Moved<'a>]) -> Self {
        let fits = DirectLaw::obstacles(setup.program, setup.clock).is_empty();
        let form = if fits { Form::Direct(DirectForm::new(setup)) } else { Form::Clock(ClockForm::new(setup)) };
        Self { setup, moved, form }
    }

    fn nothing(&self) -> Scores {
        Scores { scores: vec![Vec::new(); self.moved.len()], ..Scores::default() }
    }

    fn play(&self, first: u64, count: u64) -> Result<Scores, Fault> {
        let Setup { program, question, clock, .. } = self.setup;
        let sums = vec![0.0; self.moved.len()];
        let observer = ScoreObserver { program, clock, moved: self.moved, sums, found: self.nothing() };
        let mut samples = Samples::new(clock, question, program.counters(), program.transitions());
        let mut found = match &self.form {
            Form::Direct(form) => form.watch(observer, first, count, &mut samples)?.found,
            Form::Clock(form) => form.watch(observer, first, count, &mut samples)?.found,
        };
        found.undecided = samples.ended(Ending::Firings);
        found.unreached = samples.ended(Ending::Dead) + found.undecided;
        Ok(found)
    }
}

impl Scores {
    /// Adds the scores of `next`, which must follow directly.
    fn append(&mut self, next: Self) {
        self.times.extend(next.times);
        self.reached.extend(next.reached);
        for (own, others) in self.scores.iter_mut().zip(next.scores) {
            own.extend(others);
        }
        self.unreached += next.unreached;
        self.undecided += next.undecided;
    }
}

/// Checks that [`scores`] can differentiate by a parameter.
///
/// # Errors
///
/// [`ShiftError`] if it changes more than rates of exponential transitions.
pub fn is_scored(program: &Program, shift: &Shift) -> Result<(), ShiftError> {
    Moved::new(program, shift).map(drop)
}

impl<'a> Moved<'a> {
    fn new(program: &Program, shift: &'a Shift) -> Result<Self, ShiftError> {
        shift.check(program)?;
        let transitions = shift.moved();
        let mut is_moved = vec![false; program.transitions()];
        for &t in &transitions {
            if !matches!(program.firing[t as usize], Firing::Exponential { .. }) {
                return Err(ShiftError::Law);
            }
            is_moved[t as usize] = true;
        }
        Ok(Self { shift, transitions, is_moved })
    }
}
