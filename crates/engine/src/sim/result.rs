//! Results of a simulation by name, in seconds, with intervals.
//!
//! The results are a view of [`Samples`], the accumulators in ticks.

use crate::estimate::{Doubt, EstimateError, FloatMoments, Interval, Measured, Moments, wilson};
use crate::net::{LookupError, Net, PlaceKey, TransitionKey};
use crate::sim::averages::Averages;
use crate::sim::question::{Ending, Question, Snapshot};
use crate::sim::record::{Provenance, Run};
use crate::sim::samples::Samples;

/// The results of a [`Simulation`](crate::sim::Simulation).
///
/// A result without any sample is `NaN`, and states the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulationResult {
    net: Net,
    run: Run,
    averages: Averages,
    question: Question,
    level: f64,
}

/// Times of the first and the last firing of a group of transitions \[s\].
#[derive(Clone, Debug, PartialEq)]
pub struct GroupSpan {
    /// Time of the first firing \[s\].
    pub first: Measured,
    /// Time of the last firing \[s\].
    pub last: Measured,
}

impl SimulationResult {
    pub(super) fn new(net: Net, run: Run, question: Question, level: f64) -> Self {
        let averages = run.samples.averages();
        Self { net, run, averages, question, level }
    }

    /// The net.
    pub fn net(&self) -> &Net {
        &self.net
    }

    /// The question.
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// Confidence level of all intervals.
    pub fn level(&self) -> f64 {
        self.level
    }

    /// The replications: accumulators, and what is needed to repeat the run.
    pub fn replicated(&self) -> &Run {
        &self.run
    }

    /// Number of replications.
    pub fn replications(&self) -> u64 {
        self.run.samples.replications
    }

    /// Number of replications with this ending.
    pub fn ended(&self, ending: Ending) -> u64 {
        self.run.samples.ended(ending)
    }

    /// The seed, the engine and everything else needed to repeat the run.
    pub fn provenance(&self) -> &Provenance {
        &self.run.provenance
    }

    /// The accumulators behind the results; their times are in ticks of [`Samples::clock`].
    pub fn samples(&self) -> &Samples {
        &self.run.samples
    }

    /// Times from the start to the goal.
    pub fn passage(&self) -> PassageTimes<'_> {
        PassageTimes { result: self }
    }

    /// Mean tokens of all classes in a place, averaged over time.
    ///
    /// # Errors
    ///
    /// An unknown place, or tokens that were not observed.
    pub fn tokens(&self, place: impl Into<PlaceKey>) -> Result<Measured, LookupError> {
        let place = self.net.place_of(&place.into())?.index();
        let classes = self.net.classes().len();
        let counters = self.averages.tokens.get(place * classes..(place + 1) * classes);
        let missing = LookupError::NotObserved { what: "tokens", call: "tokens()" };
        match counters.ok_or(missing)? {
            [only] => Ok(self.mean(only)),
            all => {
                let value = all.iter().map(|moments| moments.mean().unwrap_or(f64::NAN)).sum();
                Ok(unknown(
                    value,
                    self.level,
                    "the place holds several token classes; `tokens_of` returns an interval for each class",
                ))
            }
        }
    }

    /// Mean tokens of one class in a place, averaged over time.
    ///
    /// # Errors
    ///
    /// An unknown place or class, or tokens that were not observed.
    pub fn tokens_of(&self, place: impl Into<PlaceKey>, class: &str) -> Result<Measured, LookupError> {
        let (place, class) = (self.net.place_of(&place.into())?, self.net.class_of(class)?);
        let counter = place.index() * self.net.classes().len() + class.index();
        let missing = LookupError::NotObserved { what: "tokens", call: "tokens()" };
        Ok(self.mean(self.averages.tokens.get(counter).ok_or(missing)?))
    }

    /// Firings per second of a transition.
    ///
    /// # Errors
    ///
    /// An unknown transition, or throughputs that were not observed.
    pub fn throughput(&self, transition: impl Into<TransitionKey>) -> Result<Measured, LookupError> {
        let transition = self.net.transition_of(&transition.into())?;
        let missing = LookupError::NotObserved { what: "throughputs", call: "throughputs()" };
        Ok(self.mean(self.averages.throughput.get(transition.index()).ok_or(missing)?))
    }

    /// The mean reward that a replication collects.
    ///
    /// # Errors
    ///
    /// A name that the question does not have.
    pub fn reward(&self, name: &str) -> Result<Measured, LookupError> {
        let at = named("reward", name, self.question.rewards.iter().map(|reward| reward.name.as_str()))?;
        Ok(self.mean(&self.averages.rewards[at]))
    }

    /// Times of the first and the last firing of a group of transitions.
    ///
    /// # Errors
    ///
    /// A name that the question does not have.
    pub fn group(&self, name: &str) -> Result<GroupSpan, LookupError> {
        let at = named("group", name, self.question.groups.iter().map(|group| group.name.as_str()))?;
        let group = &self.run.samples.groups[at];
        let reason = "none of its transitions fired";
        Ok(GroupSpan { first: self.seconds(&group.first, reason), last: self.seconds(&group.last, reason) })
    }

    /// Time \[s\] and mean value of each snapshot, by ascending time.
    pub fn snapshots(&self) -> Vec<(f64, Measured)> {
        let one = |(snapshot, moments): (&Snapshot, &FloatMoments)| {
            let mean = snapshot.mean(moments, self.level);
            (snapshot.time, mean.unwrap_or_else(|| unknown(f64::NAN, self.level, "no replication reached the time")))
        };
        self.question.snapshots.iter().zip(&self.averages.snapshots).map(one).collect()
    }

    fn mean(&self, moments: &FloatMoments) -> Measured {
        let estimate = moments.mean_estimate(self.level).map(Interval::from);
        measured(moments.mean(), moments.count(), self.level, estimate, "it was not observed in any replication")
    }

    /// The mean of times.
    fn seconds(&self, ticks: &Moments, reason: &str) -> Measured {
        let estimate = ticks.mean_estimate(self.level).map(Interval::from);
        measured(ticks.mean_ticks(), ticks.count(), self.level, estimate, reason).scaled(self.tick())
    }

    fn tick(&self) -> f64 {
        self.run.samples.clock.tick()
    }
}

/// A value with its interval, or with the reason why it has no interval.
fn measured(
    value: Option<f64>,
    samples: u64,
    level: f64,
    interval: Result<Interval, EstimateError>,
    reason: &str,
) -> Measured {
    Measured::new(value, samples, level, interval).unwrap_or_else(|| unknown(f64::NAN, level, reason))
}

fn unknown(value: f64, level: f64, reason: &str) -> Measured {
    Measured { value, doubt: Doubt::Unknown(reason.to_owned()), level, samples: 0 }
}

/// Position of a name.
fn named<'a>(
    kind: &'static str,
    name: &str,
    mut names: impl Iterator<Item = &'a str> + Clone,
) -> Result<usize, LookupError> {
    let known = names.clone();
    names.position(|own| own == name).ok_or_else(|| LookupError::unknown(kind, name, known))
}

/// Times from the start to the goal \[s\], of the replications that reached it.
#[derive(Clone, Copy, Debug)]
pub struct PassageTimes<'a> {
    result: &'a SimulationResult,
}

impl PassageTimes<'_> {
    /// Number of replications that reached the goal.
    pub fn count(&self) -> u64 {
        self.samples().passage.count()
    }

    /// Probability of reaching the goal before the horizon, a dead marking or the limit of firings.
    pub fn probability(&self) -> Measured {
        self.share(self.count())
    }

    /// Mean time \[s\].
    pub fn mean(&self) -> Measured {
        self.result.seconds(&self.samples().passage, &self.unreached())
    }

    /// Standard deviation of the times \[s\]; `None` for fewer than two.
    pub fn standard_deviation(&self) -> Option<f64> {
        self.samples().passage.variance().map(|variance| variance.sqrt() * self.result.tick())
    }

    /// The `p` quantile of the times \[s\], which a share `p` of the times does not exceed. The interval holds for any distribution.
    pub fn quantile(&self, p: f64) -> Measured {
        let histogram = &self.samples().passage_histogram;
        let (level, count) = (self.result.level, histogram.count());
        match histogram.quantile(p) {
            Ok(value) => {
                let interval = histogram.quantile_interval(p, level);
                measured(Some(value), count, level, interval, "").scaled(self.result.tick())
            }
            Err(_) if count == 0 => unknown(f64::NAN, level, &self.unreached()),
            Err(error) => unknown(f64::NAN, level, &error.to_string()),
        }
    }

    /// Probability of having reached the goal by `seconds` of model time.
    pub fn cdf(&self, seconds: f64) -> Measured {
        let (samples, histogram) = (self.samples(), &self.samples().passage_histogram);
        let share = if seconds < 0.0 { 0.0 } else { histogram.cdf(samples.clock.ticks(seconds)).unwrap_or(0.0) };
        self.share((share * histogram.count() as f64).round() as u64)
    }

    /// Shortest and longest time \[s\]; `None` if no replication reached the goal.
    pub fn range(&self) -> Option<(f64, f64)> {
        let Samples { passage, clock, .. } = self.samples();
        Some((clock.seconds(passage.min()?), clock.seconds(passage.max()?)))
    }

    /// All times \[s\], in the order of the replications; empty unless
    /// [`keep_times`](crate::sim::Simulation::keep_times) was called.
    pub fn times(&self) -> Vec<f64> {
        let Samples { passage_times, clock, .. } = self.samples();
        passage_times.iter().map(|&ticks| clock.seconds(ticks)).collect()
    }

    fn samples(&self) -> &Samples {
        &self.result.run.samples
    }

    fn unreached(&self) -> String {
        format!("no replication reached {}", self.result.question.words())
    }

    /// A number of replications as a share of all replications.
    fn share(&self, successes: u64) -> Measured {
        let (trials, level) = (self.result.replications(), self.result.level);
        match wilson(successes, trials, level) {
            Ok(interval) => interval.into(),
            Err(error) => unknown(f64::NAN, level, &error.to_string()),
        }
    }
}
