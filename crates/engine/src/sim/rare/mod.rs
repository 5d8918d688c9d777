//! Probabilities of rare events by fixed-effort multilevel splitting \[Garvels2000\].
//!
//! The path to the event is divided into levels. On each level, the same number of walks starts from the states in
//! which walks reached the level. The share of these walks that reaches the next level estimates a conditional
//! probability. The product of these shares is an unbiased estimate of the probability of the event. A separate pilot
//! chooses the levels such that about a fifth of the walks pass each.
//!
//! * **Goal before a marking or before a time**: levels of an importance expression over the marking. For a goal such
//!   as `#(queue) >= 20`, this expression is the left side.
//! * **Time beyond a limit**: levels of the elapsed time, or of the elapsed time plus the approximate remaining time. The
//!   remaining time is a linear function of the marking and of the ages of clocks.
//!
//! Walks start from a marking, a time and, for delays that are not exponential, the ages of the clocks. Independent
//! batches give the interval, which is symmetric on a log scale, since the error of a small probability is a factor.

mod error;
mod event;
mod fit;
mod left;
mod levels;
mod pilot;

use std::num::NonZeroUsize;

use rayon::prelude::*;

use crate::compile::{Program, compile};
use crate::estimate::{Doubt, LEVEL, Measured, clopper_pearson, student_quantile};
use crate::net::Net;
use crate::rng::split;
use crate::sim::question::Question;
use crate::sim::race::{DirectLaw, Setup, WalkForm};
use crate::sim::rare::event::Plan;
use crate::sim::rare::levels::{Batch, Levels};
use crate::sim::rare::pilot::{MOST_LEVELS, Pilot};
use crate::sim::record::{FoldedParts, NotFolded};
use crate::sim::run::result_clock;
use crate::sim::run_error::RunError;
use crate::watch::{Quiet, Unwatched, Watch};

pub use error::RareError;
pub use event::RareEvent;

/// Settings of a splitting run.
#[derive(Clone, Copy, Debug)]
pub struct Splitting<'a> {
    /// Number of walks on each level of a batch.
    pub effort: u32,
    /// Number of independent batches; at least 2 are needed for an interval.
    pub batches: u32,
    /// The seed.
    pub seed: u64,
    /// Number of threads; by default one per core. Results do not depend on this number.
    pub threads: Option<NonZeroUsize>,
    /// Confidence level of the interval.
    pub level: f64,
    /// True if the net is folded, so that equal parts are counted.
    pub fold: bool,
    /// Receives progress in batches, and may stop the run.
    pub watch: &'a dyn Watch,
}

impl Default for Splitting<'_> {
    fn default() -> Self {
        Self { effort: 4000, batches: 32, seed: 0, threads: None, level: LEVEL, fold: true, watch: &Unwatched }
    }
}

/// A level and the share of walks that passed it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelShare {
    /// Value of the importance, or a time \[s\]; none for the event itself.
    pub at: Option<f64>,
    /// Mean share of the walks from the previous level that reached this level.
    pub share: f64,
}

/// The probability of a rare event.
#[derive(Clone, Debug, PartialEq)]
pub struct RareEstimate {
    /// The probability, with its confidence interval; its samples are batches.
    pub probability: Measured,
    /// Standard error divided by the probability; none without a batch that reached the event.
    pub relative_error: Option<f64>,
    /// The levels; the last one is the event.
    pub levels: Vec<LevelShare>,
    /// Number of batches that were requested.
    pub planned: u32,
    /// Firings of all batches and of the pilot.
    pub firings: u64,
    /// The folded parts of the net; none if it ran unfolded.
    pub folded: Option<FoldedParts>,
    /// Similar parts of the net that were not folded.
    pub not_folded: Vec<NotFolded>,
}

impl Splitting<'_> {
    /// Estimates the probability of an event of a net. The estimate is unbiased; its interval is approximate.
    ///
    /// ```
    /// use tailspn_engine::net::{NetBuilder, Timing};
    /// use tailspn_engine::sim::{Condition, Question, RareEvent, Splitting};
    ///
    /// let mut b = NetBuilder::new("a queue at half load, with one customer");
    /// let queue = b.place("queue", 1);
    /// let (arrive, serve) = (b.transition("arrive", Timing::exponential(1.0)), b.transition("serve", Timing::exponential(2.0)));
    /// b.output(arrive, queue, 1.0);
    /// b.input(queue, serve, 1.0);
    /// let net = b.build().unwrap();
    ///
    /// let avoid = Some(Condition::new(&net, "#(queue) == 0").unwrap());
    /// let question = Question { avoid, ..Question::until(&net, "#(queue) >= 30").unwrap() };
    /// let event = RareEvent::before(&net, &question, None).unwrap();
    /// let found = Splitting { batches: 8, ..Splitting::default() }.run(&net, &event).unwrap();
    /// let exact = 1.0 / (2f64.powi(30) - 1.0);
    /// assert!((found.probability.value / exact - 1.0).abs() < 5.0 * found.relative_error.unwrap());
    /// ```
    ///
    /// # Errors
    ///
    /// Nets whose delays differ too much for 64-bit times, events without a limit or an importance, and events that no
    /// walk approaches.
    pub fn run(&self, net: &Net, event: &RareEvent) -> Result<RareEstimate, RareError> {
        let folding = self.fold.then(|| event.folding(net));
        let not_folded = folding.as_ref().map(NotFolded::all).unwrap_or_default();
        if let Some(folding) = &folding
            && let Some(event) = event.folded(folding)
        {
            match self.run_on(folding.net(), &event) {
                Ok(found) => return Ok(RareEstimate { folded: FoldedParts::of(folding), not_folded, ..found }),
                // these errors do not name parts of the net, and running the original net would only take longer
                Err(error @ (RareError::NoWay { .. } | RareError::Stopped)) => return Err(error),
                Err(_) => {}
            }
        }
        // errors refer to the original net
        Ok(RareEstimate { not_folded, ..self.run_on(net, event)? })
    }

    fn run_on(&self, net: &Net, event: &RareEvent) -> Result<RareEstimate, RareError> {
        let plan = event.plan(net)?;
        let program = plan.codes().fold(compile(net)?, Program::observing);
        let last = plan.question(None);
        let clock = result_clock(&program, &last, self.seed, &Quiet(self.watch))?;
        let obstacles = DirectLaw::obstacles(&program, clock);
        if clock.is_wide() {
            return Err(RareError::Delays);
        }
        let direct = obstacles.is_empty();
        let key = split(self.seed);
        let setup = Setup { program: &program, question: &last, clock, key, keep_times: false, watch: self.watch };
        let (plan, pilot) = self.piloted(plan, setup, direct)?;
        let ends: Vec<Option<f64>> = pilot.levels.iter().copied().map(Some).chain([None]).collect();
        let questions: Vec<Question> = ends.iter().map(|end| plan.question(*end)).collect();
        let forms = questions.iter().map(|question| WalkForm::new(Setup { question, ..setup }, direct)).collect();
        let levels = Levels { plan: &plan, forms, ends, clock, effort: self.effort, program: &program };
        let batches = self.batches(&levels)?;
        let firings = pilot.firings + batches.iter().map(|batch| batch.firings).sum::<u64>();
        self.summed_up(&levels.ends, &batches, firings)
    }

    /// The plan that needs fewer levels, with or without the remaining time, and its levels. A remaining time that does not
    /// fit the net needs more levels. In an exponential net, the remaining time depends only on the marking, and the plan
    /// always uses it.
    fn piloted(&self, plan: Plan, setup: Setup<'_>, direct: bool) -> Result<(Plan, Pilot), RareError> {
        let find = |plan: &Plan, most| pilot::find(plan, self.effort, setup, direct, most);
        let fitted = match &plan {
            Plan::Beyond { goal, limit_s, left: None } => {
                let left = fit::fitted(&WalkForm::new(setup, direct), setup.program, setup.clock)?;
                left.map(|left| Plan::Beyond { goal: goal.clone(), limit_s: *limit_s, left: Some(left) })
            }
            _ => None,
        };
        let Some(fitted) = fitted else { return find(&plan, MOST_LEVELS).map(|pilot| (plan, pilot)) };
        if direct {
            return find(&fitted, MOST_LEVELS).map(|pilot| (fitted, pilot));
        }
        let elapsed = find(&plan, MOST_LEVELS);
        let most = elapsed.as_ref().map_or(MOST_LEVELS, |pilot| pilot.levels.len());
        match (elapsed, find(&fitted, most)) {
            (_, Ok(pilot)) => Ok((fitted, pilot)),
            (elapsed, Err(RareError::NoWay { .. })) => elapsed.map(|pilot| (plan, pilot)),
            (_, Err(error)) => Err(error),
        }
    }

    /// The batches that were complete before the run was stopped, in order.
    fn batches(&self, levels: &Levels<'_, '_>) -> Result<Vec<Batch>, RareError> {
        let threads = self.threads.map_or(0, NonZeroUsize::get);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| RunError::Threads(error.to_string()))?;
        let mut batches = Vec::new();
        let round = pool.current_num_threads() as u32;
        while (batches.len() as u32) < self.batches && !self.watch.stopped() {
            let first = batches.len() as u32;
            let numbers = first..(first + round).min(self.batches);
            let run = |number| levels.batch(number);
            let found: Vec<_> = pool.install(|| numbers.into_par_iter().map(run).collect());
            for batch in found {
                match batch? {
                    Some(batch) => batches.push(batch),
                    None => return Ok(batches),
                }
            }
            self.watch.progress(batches.len() as u64, u64::from(self.batches));
        }
        Ok(batches)
    }

    fn summed_up(&self, ends: &[Option<f64>], batches: &[Batch], firings: u64) -> Result<RareEstimate, RareError> {
        let count = batches.len() as f64;
        if batches.len() < 2 {
            return Err(RareError::Stopped);
        }
        let products: Vec<f64> = batches.iter().map(Batch::product).collect();
        let mean = products.iter().sum::<f64>() / count;
        let variance = products.iter().map(|p| (p - mean) * (p - mean)).sum::<f64>() / (count - 1.0);
        let relative_error = (mean > 0.0).then(|| (variance / count).sqrt() / mean);
        let doubt = match relative_error {
            // every walk reached the event: each level has a binomial bound
            Some(_) if products.iter().all(|product| *product >= 1.0) => {
                let walks = batches.len() as u64 * u64::from(self.effort);
                let low = clopper_pearson(walks, walks, self.level).map_or(0.0, |share| share.low);
                Doubt::Interval { low: low.powi(ends.len().max(1) as i32), high: 1.0 }
            }
            Some(error) => {
                let factor = (error * student_quantile(0.5 + 0.5 * self.level, count - 1.0)).exp();
                Doubt::Interval { low: mean / factor, high: (mean * factor).min(1.0) }
            }
            None => Doubt::Unknown("no walk reached the event".to_owned()),
        };
        let share = |k: usize| {
            let passed: Vec<f64> = batches.iter().filter_map(|batch| batch.shares.get(k).copied()).collect();
            passed.iter().sum::<f64>() / passed.len().max(1) as f64
        };
        Ok(RareEstimate {
            probability: Measured { value: mean, doubt, level: self.level, samples: batches.len() as u64 },
            relative_error,
            levels: ends.iter().enumerate().map(|(k, at)| LevelShare { at: *at, share: share(k) }).collect(),
            planned: self.batches,
            firings,
            folded: None,
            not_folded: Vec::new(),
        })
    }
}

#[cfg(test)]
mod aged_tests;
#[cfg(test)]
mod tests;
