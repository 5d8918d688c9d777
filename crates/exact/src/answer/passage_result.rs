//! The exact distribution of a passage time, whichever method computes it.

use crate::answer::value::AnswerError;
use crate::estimate::Measured;
use crate::solve::CompletionTime;
use crate::solve::LinearSettings;
use crate::solve::PassageError;
use crate::solve::{FixedDelayError, FixedDelayPassage, FixedDelayStates};
use crate::solve::{Passage, PassageMoments};
use crate::watch::Watch;

/// The exact distribution of a passage time \[s\].
#[derive(Debug)]
pub struct PassageResult<'a>(pub(super) Method<'a>);

/// Method for a passage time.
#[derive(Debug)]
pub(super) enum Method<'a> {
    States(Box<Passage<'a>>),
    Parts(Box<CompletionTime>),
    FixedDelays(Box<FixedDelayTime<'a>>),
}

/// The passage time of a net with fixed delays; its distribution is computed on demand.
pub(super) struct FixedDelayTime<'a> {
    states: FixedDelayStates,
    watch: &'a dyn Watch,
    probability: f64,
    moments: Option<PassageMoments>,
    distribution: Option<FixedDelayPassage<'a>>,
}

impl std::fmt::Debug for FixedDelayTime<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { probability, moments, .. } = self;
        f.debug_struct("FixedDelayTime")
            .field("probability", probability)
            .field("moments", moments)
            .finish_non_exhaustive()
    }
}

impl<'a> FixedDelayTime<'a> {
    pub(super) fn new(states: FixedDelayStates, watch: &'a dyn Watch) -> Result<Self, FixedDelayError> {
        let (probability, moments) = states.moments(&LinearSettings::watched(watch))?;
        Ok(Self { states, watch, probability, moments, distribution: None })
    }

    /// Returns the mean and the variance over all runs.
    fn moments(&self) -> Result<PassageMoments, PassageError> {
        let probability = self.probability;
        self.moments.filter(|_| probability >= 1.0).ok_or(PassageError::InfiniteMean { probability })
    }

    fn quantile(&mut self, p: f64) -> Result<f64, FixedDelayError> {
        let ever = self.probability;
        self.distribution()?.quantile(p, ever)
    }

    fn distribution(&mut self) -> Result<&mut FixedDelayPassage<'a>, FixedDelayError> {
        let time = match self.distribution.take() {
            Some(time) => time,
            None => self.states.passage(self.watch)?,
        };
        Ok(self.distribution.insert(time))
    }
}

impl PassageResult<'_> {
    /// Returns the probability of ever reaching the goal; exactly 1 if nothing else is possible.
    pub fn probability(&self) -> f64 {
        match &self.0 {
            Method::States(time) => time.probability(),
            Method::Parts(_) => 1.0,
            Method::FixedDelays(time) => time.probability,
        }
    }

    /// Returns the mean \[s\].
    ///
    /// # Errors
    ///
    /// [`PassageError::InfiniteMean`] if the probability of reaching the goal is below 1.
    pub fn mean(&self) -> Result<Measured, AnswerError> {
        Ok(match &self.0 {
            Method::States(time) => Measured::exact(time.moments()?.mean, LEVEL),
            Method::Parts(time) => time.mean(),
            Method::FixedDelays(time) => Measured::exact(time.moments()?.mean, LEVEL),
        })
    }

    /// Returns the standard deviation \[s\].
    ///
    /// # Errors
    ///
    /// [`PassageError::InfiniteMean`] if the probability of reaching the goal is below 1.
    pub fn standard_deviation(&self) -> Result<f64, AnswerError> {
        Ok(match &self.0 {
            Method::States(time) => time.moments()?.variance.sqrt(),
            Method::Parts(time) => time.standard_deviation(),
            Method::FixedDelays(time) => time.moments()?.variance.sqrt(),
        })
    }

    /// Returns the shortest time \[s\] by which the goal is reached with probability `p`, between 0 and 1.
    ///
    /// # Errors
    ///
    /// A probability that is not below the probability of ever reaching the goal (with fixed delays, by at least 1e-12), or a time
    /// that is too large for the rates of the net.
    pub fn quantile(&mut self, p: f64) -> Result<Measured, AnswerError> {
        Ok(match &mut self.0 {
            Method::States(time) => Measured::exact(time.quantile(p)?, LEVEL),
            Method::Parts(time) => time.quantile(p)?,
            Method::FixedDelays(time) => Measured::exact(time.quantile(p)?, LEVEL),
        })
    }

    /// Returns the probability of having reached the goal by `seconds`.
    ///
    /// # Errors
    ///
    /// A time that is negative or too large for the rates of the net.
    pub fn cdf(&mut self, seconds: f64) -> Result<Measured, AnswerError> {
        Ok(match &mut self.0 {
            Method::States(time) => Measured::exact(time.cdf(seconds)?, LEVEL),
            Method::Parts(time) => time.cdf(seconds),
            Method::FixedDelays(time) => Measured::exact(time.distribution()?.cdf(seconds)?, LEVEL),
        })
    }
}

/// Confidence level of a number without a confidence interval.
const LEVEL: f64 = 0.0;

#[cfg(test)]
mod tests {
    use crate::answer::{AnswerError, Solve as _};
    use crate::net::{Law, Net, NetBuilder, Timing};
    use crate::solve::{FixedDelayError, PassageError};

    const RATE: f64 = 0.5;
    const DELAY: f64 = 3.0;

    /// A machine that works for an exponential time, and is then repaired in a fixed time or, if `scrapped`, scrapped at a rate.
    fn machine(scrapped: Option<f64>) -> Net {
        let mut b = NetBuilder::new("machine");
        let [works, broken, mended] = [("works", 1), ("broken", 0), ("mended", 0)].map(|(name, n)| b.place(name, n));
        let fails = b.transition("fails", Timing::exponential(RATE));
        b.input(works, fails, 1.0);
        b.output(fails, broken, 1.0);
        let repair = b.transition("repair", Timing::general(Law::Deterministic { delay: DELAY }));
        b.input(broken, repair, 1.0);
        b.output(repair, mended, 1.0);
        let again = b.transition("again", Timing::exponential(1.0));
        b.input(mended, again, 1.0);
        b.output(again, works, 1.0);
        if let Some(rate) = scrapped {
            let scrap = b.transition("scrap", Timing::exponential(rate));
            b.input(broken, scrap, 1.0);
        }
        b.build().unwrap()
    }

    /// An exponential time and a fixed time in series: mean, standard deviation, quantiles and distribution by their formulas.
    #[test]
    fn a_fixed_delay_after_an_exponential_one_has_its_closed_forms() {
        let net = machine(None);
        let mut time = net.solution().until("#(mended) >= 1").unwrap().passage().unwrap();
        assert_eq!(time.probability(), 1.0);
        assert!((time.mean().unwrap().value - (DELAY + 1.0 / RATE)).abs() < 1e-9);
        assert!((time.standard_deviation().unwrap() - 1.0 / RATE).abs() < 1e-9);
        for p in [0.1, 0.5, 0.99] {
            let quantile = time.quantile(p).unwrap().value;
            assert!((quantile - (DELAY - (-p).ln_1p() / RATE)).abs() < 1e-9, "{p}: {quantile}");
        }
        assert_eq!(time.cdf(DELAY - 0.01).unwrap().value, 0.0);
        assert!((time.cdf(DELAY + 1.0).unwrap().value + (-RATE).exp_m1()).abs() < 1e-12);
    }

    /// The long run is a cycle of three times; at 2 s, no repair has ended.
    #[test]
    fn averages_with_fixed_delays_have_their_closed_forms() {
        let net = machine(None);
        let cycle = 1.0 / RATE + DELAY + 1.0;
        let steady = net.solution().steady_state().unwrap();
        assert!((steady.tokens("broken").unwrap() - DELAY / cycle).abs() < 1e-12);
        assert!((steady.throughput("repair").unwrap() - 1.0 / cycle).abs() < 1e-12);
        assert!((steady.mean_of("#(works) + #(mended) >= 1").unwrap() - (1.0 - DELAY / cycle)).abs() < 1e-12);
        let at = net.solution().at(&[2.0]).unwrap();
        assert!((at[0].tokens("works").unwrap() - (-2.0 * RATE).exp()).abs() < 1e-12);
    }

    #[test]
    fn a_fixed_delay_that_may_be_dropped_gives_no_mean_and_few_quantiles() {
        let net = machine(Some(0.4));
        let mut time = net.solution().until("#(mended) >= 1").unwrap().passage().unwrap();
        let reached = (-0.4 * DELAY).exp();
        assert!((time.probability() - reached).abs() < 1e-12);
        let error = time.mean().unwrap_err();
        assert!(matches!(error, AnswerError::Passage(PassageError::InfiniteMean { .. })), "{error}");
        for p in [0.0, reached, reached + 1e-9, f64::NAN] {
            let error = time.quantile(p).unwrap_err();
            assert!(matches!(error, AnswerError::FixedDelays(FixedDelayError::NoQuantile { .. })), "{error}");
        }
        // each repair is scrapped with some probability, so every run ends without a machine
        let steady = net.solution().steady_state().unwrap();
        assert!(steady.tokens("works").unwrap().abs() < 1e-12);
    }
}
