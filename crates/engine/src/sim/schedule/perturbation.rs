//! Derivatives of a schedule's time, replication by replication: infinitesimal perturbation analysis.
//!
//! A delay with mean μ is μ times a variate that does not depend on μ. So if a parameter θ changes means, the time T of a
//! replication changes with the delays X_t on its critical chain, and with no other delays:
//!
//! ```text
//! dT/dθ = Σ_{t on the chain} X_t · d ln μ_t / dθ,   d E[T] / dθ = E[dT/dθ]
//! ```
//!
//! The second equation holds because T is a maximum of sums, and thus Lipschitz in the delays, so the estimate is unbiased
//! \[Cassandras2008\]. Rounding draws to ticks adds an error of less than one tick per firing.

use rayon::prelude::*;

use crate::compile::{Program, SchedulePlan};
use crate::sim::clock::Clock;
use crate::sim::question::Question;
use crate::sim::schedule::critical::Tracer;
use crate::sim::schedule::{Schedule, UnfitError};
use crate::watch::Unwatched;

/// Times of some replications, and the derivatives of these times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathSlopes {
    /// Passage times \[s\], in the order of the replications.
    pub times: Vec<f64>,
    /// Per parameter: the derivative of each of these times, in seconds per unit of the parameter.
    pub slopes: Vec<Vec<f64>>,
}

/// Number of replications that one thread traces at a time.
const CHUNK: u64 = 1024;

impl PathSlopes {
    /// Follows the critical chains of the replications `first .. first + count`. `columns` has, per parameter, the
    /// slope of each transition's mean, as computed by [`Shift::slopes`](crate::sim::Shift::slopes).
    ///
    /// # Errors
    ///
    /// As [`Schedule::new`].
    pub fn trace(
        program: &Program,
        plan: &SchedulePlan,
        question: &Question,
        columns: &[Vec<f64>],
        seed: u64,
        first: u64,
        count: u64,
    ) -> Result<Self, UnfitError> {
        let clock = Clock::choose(program, question.horizon);
        let schedule = Schedule::new(program, plan, question, clock, seed, false)?;
        let tracer = Tracer::new(program, plan, &schedule);
        let chunks: Vec<Self> = (0..count.div_ceil(CHUNK))
            .into_par_iter()
            .map(|i| {
                Self::of_chunk(&schedule, &tracer, clock, columns, first + i * CHUNK, CHUNK.min(count - i * CHUNK))
            })
            .collect();
        let mut all = Self { times: Vec::new(), slopes: vec![Vec::new(); columns.len()] };
        for chunk in chunks {
            all.times.extend(chunk.times);
            for (own, others) in all.slopes.iter_mut().zip(chunk.slopes) {
                own.extend(others);
            }
        }
        Ok(all)
    }

    fn of_chunk(
        schedule: &Schedule,
        tracer: &Tracer<'_>,
        clock: Clock,
        columns: &[Vec<f64>],
        first: u64,
        count: u64,
    ) -> Self {
        let mut found = Self { times: Vec::new(), slopes: vec![Vec::new(); columns.len()] };
        let mut sums = vec![0.0; columns.len()];
        schedule.each_block(first, count, true, &Unwatched, |block, lanes| {
            for r in lanes {
                sums.fill(0.0);
                let mut ticks = 0;
                tracer.follow(block, r, |t, delay| {
                    ticks += delay;
                    let seconds = clock.seconds(delay);
                    for (sum, column) in sums.iter_mut().zip(columns) {
                        *sum += seconds * column[t as usize];
                    }
                });
                found.times.push(clock.seconds(ticks));
                for (slopes, sum) in found.slopes.iter_mut().zip(&sums) {
                    slopes.push(*sum);
                }
            }
        });
        found
    }
}
