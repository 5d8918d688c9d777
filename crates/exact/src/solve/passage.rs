//! The distribution of the time at which a chain first reaches a set of states.
//!
//! Moments come from systems of linear equations over the states before the target, the distribution from uniformisation of
//! the chain that stops at the target \[Stewart1994\]. The probabilities of arrival after 0, 1, … jumps are stored, so
//! that further times and quantiles need no further pass. If uniformisation takes long and the chain has no cycles, the
//! distribution is computed as a cosine series instead.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::estimate::PoissonWindow;
use crate::solve::absorb::{AbsorbError, Kind, Split, TransientPart};
use crate::solve::chain::{Chain, OUTSIDE};
use crate::solve::cosine::{CosineLaw, Descent};
use crate::solve::linear::{LinearOutcome, LinearSettings};
use crate::solve::passage_error::PassageError;
use crate::solve::transient::{ROUNDING_OF_A_JUMP, TransientSettings, Uniformised};
use crate::watch::Watch;

/// Settings of a passage time.
#[derive(Clone, Copy, Debug, Default)]
pub struct PassageSettings<'a> {
    /// Settings for the distribution.
    pub transient: TransientSettings<'a>,
    /// Settings for the probability and the moments.
    pub linear: LinearSettings<'a>,
}

impl<'a> PassageSettings<'a> {
    /// Returns the default settings with a watch, which may stop the work.
    pub fn watched(watch: &'a dyn Watch) -> Self {
        Self { transient: TransientSettings::watched(watch), linear: LinearSettings::watched(watch) }
    }
}

/// Mean and variance of a passage time, over the runs that arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassageMoments {
    /// Mean \[s\].
    pub mean: f64,
    /// Variance \[s²\].
    pub variance: f64,
    /// Method and accuracy of the solution.
    pub outcome: LinearOutcome,
}

/// The distribution of a passage time. Computed values are cached.
#[derive(Clone, Debug)]
pub struct Passage<'a> {
    chain: Cow<'a, Chain>,
    settings: PassageSettings<'a>,
    /// States before the target from which it can be reached.
    states: Vec<u32>,
    /// Initial probability of each of these states, and its rate into the target.
    start: Vec<f64>,
    into: Vec<f64>,
    probability: f64,
    certain: bool,
    walk: Walk,
    /// Positions in `states`, ordered so that each state comes after its successors. None if the chain has cycles.
    order: Option<Vec<u32>>,
    series: Series,
    moments: OnceLock<PassageMoments>,
}

/// The distribution as a series.
#[derive(Clone, Debug)]
enum Series {
    Undecided,
    /// No series: uniformisation takes fewer steps, or is the only possible method.
    No,
    Yes(Box<CosineLaw>),
}

/// Maximum work of uniformisation: number of rates times number of jumps, a few seconds. With more work, a series is
/// preferred.
const LONG_WALK: f64 = 1e9;
/// The number of jumps is estimated for the time that is this number of standard deviations above the mean.
const FAR: f64 = 8.0;
/// Maximum number of coefficients of a series.
const MOST_COEFFICIENTS: f64 = 10_000.0;

/// The jumps of the uniformised chain that stops at the target, computed so far.
#[derive(Clone, Debug)]
struct Walk {
    jumps: Uniformised,
    now: Vec<f64>,
    next: Vec<f64>,
    /// Per number of jumps: probability of having arrived; `under_way` is the probability of not having arrived while the target
    /// is still reachable.
    arrived: Vec<f64>,
    under_way: Vec<f64>,
    /// Per number of jumps: probability of arriving with the next jump.
    arrives: Vec<f64>,
    /// Rate at which the target is reached after the last jump.
    leaving: f64,
    /// True if no probability mass remains under way.
    over: bool,
}

/// Returns the distribution of the time until `chain` is first in one of the states of `targets` (one truth value for each
/// state).
///
/// A start in a target counts as time 0. The graph of the chain, not a numerical result, decides whether the target is reached with certainty.
///
/// # Errors
///
/// [`PassageError::Absorb`].
///
/// # Examples
///
/// ```
/// use tailspn_exact::solve::{Chain, PassageSettings, Rates, passage};
///
/// // two stages of 1 s each: Erlang
/// let rates = Rates::from_rows([vec![(1, 1.0)], vec![(2, 1.0)], vec![]]);
/// let chain = Chain { rates, initial: vec![(0, 1.0)] };
/// let mut time = passage(&chain, &[false, false, true], &PassageSettings::default()).unwrap();
/// assert!((time.moments().unwrap().mean - 2.0).abs() < 1e-12);
/// assert!((time.cdf(2.0).unwrap() - (1.0 - 3.0 * f64::exp(-2.0))).abs() < 1e-12);
/// assert!((time.quantile(0.5).unwrap() - 1.678_346_990_016_661).abs() < 1e-9);
/// ```
pub fn passage<'a>(
    chain: &'a Chain,
    targets: &[bool],
    settings: &PassageSettings<'a>,
) -> Result<Passage<'a>, PassageError> {
    passage_of(Cow::Borrowed(chain), targets, settings)
}

/// Like [`passage`], for an owned chain.
pub(crate) fn passage_of<'a>(
    chain: Cow<'a, Chain>,
    targets: &[bool],
    settings: &PassageSettings<'a>,
) -> Result<Passage<'a>, PassageError> {
    let split = Split::of(&chain, targets)?;
    let before = |&(state, kind): &(u32, &Kind)| *kind == Kind::Transient && split.hopeful[state as usize];
    let states: Vec<u32> = (0..).zip(&split.kind).filter(before).map(|(state, _)| state).collect();
    let mut number = vec![OUTSIDE; chain.states()];
    for (i, &state) in (0..).zip(&states) {
        number[state as usize] = i;
    }
    let (rates, _) = chain.restricted(&states, &number);
    let exit: Vec<f64> = states.iter().map(|&state| chain.exit_rate(state as usize)).collect();
    let into: Vec<f64> = states
        .iter()
        .map(|&state| {
            let row = chain.rates.row(state as usize);
            row.filter(|(to, _)| targets[*to as usize]).map(|(_, rate)| rate).sum()
        })
        .collect();
    let initial = chain.initial_vector();
    let start: Vec<f64> = states.iter().map(|&state| initial[state as usize]).collect();
    // the sum of no numbers is -0
    let at_once = 0.0 + (0..chain.states()).filter(|&state| targets[state]).map(|state| initial[state]).sum::<f64>();
    let walk = Walk {
        jumps: Uniformised::of(&rates, &exit),
        next: vec![0.0; start.len()],
        under_way: vec![start.iter().sum()],
        arrived: vec![at_once],
        arrives: Vec::new(),
        leaving: start.iter().zip(&into).map(|(p, rate)| p * rate).sum(),
        over: states.is_empty(),
        now: start.clone(),
    };
    let certain = split.is_certain();
    let order = split.in_order(&number);
    let mut passage = Passage {
        chain,
        settings: *settings,
        states,
        start,
        into,
        probability: 1.0,
        certain,
        walk,
        order,
        series: Series::Undecided,
        moments: OnceLock::new(),
    };
    if !certain {
        passage.probability = at_once;
        if !passage.states.is_empty() {
            let (times, _) = passage.part()?.left(&passage.start).map_err(AbsorbError::Linear)?;
            let arrives: f64 = times.iter().zip(&passage.into).map(|(time, rate)| time * rate).sum();
            passage.probability = (at_once + arrives).min(1.0);
        }
    }
    Ok(passage)
}

impl<'a> Passage<'a> {
    /// Returns the probability of ever reaching the target; exactly 1 if nothing else is possible.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// Returns mean and variance. Exact up to the reported residual; the variance is a sum of non-negative terms
    /// without cancellation.
    ///
    /// ```text
    /// (D − R) m = 1,   (D − R) v = 1/d + Σ_j r_ij (m_j − m_i + 1/d)²
    /// ```
    ///
    /// (the law of total variance for one step, derived in docs/solve.md)
    ///
    /// # Errors
    ///
    /// [`PassageError::InfiniteMean`] if the target is not certain; [`PassageError::Absorb`].
    pub fn moments(&self) -> Result<PassageMoments, PassageError> {
        if !self.certain {
            return Err(PassageError::InfiniteMean { probability: self.probability });
        }
        if let Some(known) = self.moments.get() {
            return Ok(*known);
        }
        let part = self.part()?;
        let (mean_from, outcome) = part.right(&vec![1.0; self.states.len()]).map_err(AbsorbError::Linear)?;
        // a step leads to a state with mean m_j, or to the target with mean 0
        let spread = |i: usize| {
            let after_step = mean_from[i] - 1.0 / part.exit(i);
            let ahead = part.rates.row(i).map(|(to, rate)| rate * (mean_from[to as usize] - after_step).powi(2));
            1.0 / part.exit(i) + ahead.sum::<f64>() + self.into[i] * after_step * after_step
        };
        let spread: Vec<f64> = (0..self.states.len()).map(spread).collect();
        let (variance_from, second) = part.right(&spread).map_err(AbsorbError::Linear)?;
        let sum = |values: &[f64]| self.start.iter().zip(values).map(|(p, v)| p * v).sum::<f64>();
        let mean = sum(&mean_from);
        let between: f64 = self.start.iter().zip(&mean_from).map(|(p, m)| p * (m - mean).powi(2)).sum();
        let variance = sum(&variance_from) + between + self.walk.arrived[0] * mean * mean;
        Ok(*self.moments.get_or_init(|| PassageMoments { mean, variance, outcome: outcome.and(second) }))
    }

    /// Returns mean and variance of the time over the runs that reach the target. Exact up to the reported residual; the
    /// variance is a difference, and loses digits if it is small compared with the squared mean.
    ///
    /// # Errors
    ///
    /// [`PassageError::NoQuantile`] if no run reaches it; [`PassageError::Absorb`].
    pub fn moments_if_reached(&self) -> Result<PassageMoments, PassageError> {
        if self.certain {
            return self.moments();
        }
        let (raw, outcome) = self.raw_moments(2)?;
        let mean = raw[0];
        Ok(PassageMoments { mean, variance: (raw[1] - mean * mean).max(0.0), outcome })
    }

    /// Returns the moments E\[T\], E\[T²\], … up to `highest` over the runs that reach the target. Each moment follows from
    /// the previous one by a system of equations.
    ///
    /// # Errors
    ///
    /// [`PassageError::NoQuantile`] if no run reaches it; [`PassageError::Absorb`].
    pub fn raw_moments(&self, highest: u32) -> Result<(Vec<f64>, LinearOutcome), PassageError> {
        if self.probability == 0.0 {
            return Err(PassageError::NoQuantile { asked: 0.0, probability: 0.0 });
        }
        let part = self.part()?;
        // the probability of arriving from each state
        let (mut values, mut outcome) = part.right(&self.into).map_err(AbsorbError::Linear)?;
        let mut moments = Vec::new();
        for k in 1..=highest {
            values.iter_mut().for_each(|v| *v *= f64::from(k));
            let (next, own) = part.right(&values).map_err(AbsorbError::Linear)?;
            outcome = outcome.and(own);
            moments.push(self.start.iter().zip(&next).map(|(p, v)| p * v).sum::<f64>() / self.probability);
            values = next;
        }
        Ok((moments, outcome))
    }

    /// Returns the probability that the target has been reached by `time` \[s\]. Exact up to [`error`](Self::error).
    ///
    /// # Errors
    ///
    /// [`PassageError::Time`], [`PassageError::TooManyJumps`].
    pub fn cdf(&mut self, time: f64) -> Result<f64, PassageError> {
        if let Some(series) = self.series(time)? {
            return Ok(series.cdf(time).min(self.probability));
        }
        let window = self.window(time)?;
        Ok(if self.certain {
            let still = window.average(&self.walk.under_way);
            if still < 0.5 { 1.0 - still } else { window.average(&self.walk.arrived) }
        } else {
            window.average(&self.walk.arrived).min(self.probability)
        })
    }

    /// Returns the density of the passage time at `time` \[1/s\], not counting runs that start in the target. Exact up to the error
    /// of the distribution multiplied by the largest rate of leaving a state.
    ///
    /// # Errors
    ///
    /// The errors of [`cdf`](Self::cdf).
    pub fn density(&mut self, time: f64) -> Result<f64, PassageError> {
        if let Some(series) = self.series(time)? {
            return Ok(series.density(time));
        }
        let window = self.window(time)?;
        self.walk.go_to(window.last() as u64 + 1, &self.into, &self.settings.transient);
        Ok(window.average(&self.walk.arrives) * self.walk.jumps.rate)
    }

    /// Returns the probability that the target has not been reached by `time` \[s\]. Exact up to [`error`](Self::error); if the
    /// target is certain, small values keep their digits down to that error.
    ///
    /// # Errors
    ///
    /// The errors of [`cdf`](Self::cdf).
    pub fn survival(&mut self, time: f64) -> Result<f64, PassageError> {
        if self.certain && self.series(time)?.is_none() {
            let window = self.window(time)?;
            return Ok(window.average(&self.walk.under_way));
        }
        Ok(1.0 - self.cdf(time)?)
    }

    /// Returns the shortest time \[s\] by which the target has been reached with probability `p`, between 0 and 1.
    ///
    /// The quantile is bracketed to a relative width of 1e-12; its error is the distribution's error divided by
    /// the density at the quantile.
    ///
    /// # Errors
    ///
    /// [`PassageError::NoQuantile`] if `p` is not between 0 and 1, or not below the probability of ever reaching the target;
    /// [`PassageError::TooManyJumps`].
    pub fn quantile(&mut self, p: f64) -> Result<f64, PassageError> {
        if !(p > 0.0 && p < 1.0) || p >= self.probability {
            return Err(PassageError::NoQuantile { asked: p, probability: self.probability });
        }
        if p <= self.walk.arrived[0] {
            return Ok(0.0);
        }
        let (mut low, mut high) = (0.0, 1.0 / self.walk.jumps.rate);
        let mut below = self.walk.arrived[0] - p;
        let mut above = self.cdf(high)? - p;
        while above < 0.0 {
            (low, below) = (high, above);
            high *= 1.5;
            above = self.cdf(high)? - p;
        }
        for step in 0..200 {
            if high - low <= 1e-12 * high {
                break;
            }
            let secant = low - below * (high - low) / (above - below);
            let inside = secant > low && secant < high && step % 4 != 3;
            let t = if inside { secant } else { f64::midpoint(low, high) };
            let value = self.cdf(t)? - p;
            if value.abs() < 1e-15 {
                return Ok(t);
            }
            if value < 0.0 {
                (low, below) = (t, value);
                above *= 0.5;
            } else {
                (high, above) = (t, value);
                below *= 0.5;
            }
        }
        Ok(high)
    }

    /// Returns the longest time \[s\] for which the number of jumps is within the limit of the settings.
    pub fn longest(&self) -> f64 {
        self.settings.transient.jumps as f64 / self.walk.jumps.rate
    }

    /// Checks that the distribution function at `time` \[s\] does not need too many jumps, unless all runs end much earlier.
    ///
    /// # Errors
    ///
    /// [`PassageError::TooManyJumps`].
    pub fn check(&mut self, time: f64) -> Result<(), PassageError> {
        let (limit, needed) = (self.settings.transient.jumps, self.walk.jumps.rate * time);
        if self.series(time)?.is_none() && needed > limit as f64 {
            return Err(PassageError::TooManyJumps { needed, time, limit });
        }
        Ok(())
    }

    /// Returns a bound of the absolute error of the probabilities computed so far: truncation and rounding.
    pub fn error(&self) -> f64 {
        if let Series::Yes(series) = &self.series {
            return series.error;
        }
        self.settings.transient.error + self.jumps() as f64 * ROUNDING_OF_A_JUMP
    }

    /// Returns the name of the method of the distribution for reports.
    pub fn distribution_method(&self) -> &'static str {
        match self.series {
            Series::Yes(_) => "a cosine series",
            Series::Undecided | Series::No => "uniformisation",
        }
    }

    /// Returns the number of jumps of the uniformised chain computed so far.
    pub fn jumps(&self) -> u64 {
        self.walk.arrived.len() as u64 - 1
    }

    fn part(&self) -> Result<TransientPart<'a>, PassageError> {
        let part = TransientPart::new(&self.chain, self.states.clone(), self.settings.linear);
        Ok(part.map_err(AbsorbError::Linear)?)
    }

    /// Returns the series that represents the distribution; none if uniformisation is used.
    fn series(&mut self, time: f64) -> Result<Option<&CosineLaw>, PassageError> {
        if !(time.is_finite() && time >= 0.0) {
            return Err(PassageError::Time { time });
        }
        if matches!(self.series, Series::Undecided) {
            self.series = self.find_series()?.map_or(Series::No, |series| Series::Yes(Box::new(series)));
        }
        match &self.series {
            Series::Yes(series) => Ok(Some(series)),
            Series::Undecided | Series::No => Ok(None),
        }
    }

    /// Returns a series, if it takes fewer passes than uniformisation and uniformisation takes long.
    fn find_series(&self) -> Result<Option<CosineLaw>, PassageError> {
        let Some(order) = self.order.as_ref().filter(|order| !order.is_empty()) else { return Ok(None) };
        let PassageMoments { mean, variance, .. } = self.moments_if_reached()?;
        let sd = variance.sqrt();
        let jumps = self.walk.jumps.rate * (mean + FAR * sd);
        let too_many = jumps > self.settings.transient.jumps as f64;
        if !too_many && jumps * self.walk.jumps.rates() as f64 <= LONG_WALK {
            return Ok(None);
        }
        let most = (jumps / 4.0).min(MOST_COEFFICIENTS);
        let descent = Descent::of(&self.chain, &self.states, order, &self.start, &self.into);
        Ok(CosineLaw::of(&descent, [mean, sd], self.walk.arrived[0], self.settings.transient, most as usize))
    }

    /// Returns the Poisson window of a time that [`series`](Self::series) has checked, and computes the jumps of the window.
    fn window(&mut self, time: f64) -> Result<PoissonWindow, PassageError> {
        let (settings, needed) = (self.settings.transient, self.walk.jumps.rate * time);
        let too_many = PassageError::TooManyJumps { needed, time, limit: settings.jumps };
        if self.walk.jumps.is_hopeless(needed, &settings) && !self.walk.over {
            return Err(too_many);
        }
        if needed > settings.jumps as f64 {
            self.walk.go_to(settings.jumps, &self.into, &settings);
            // if all runs have arrived or failed earlier, later numbers of jumps give the same result
            let first = self.walk.arrived.len();
            return if self.walk.over {
                Ok(PoissonWindow { first, weights: vec![1.0] })
            } else {
                Err(if settings.watch.stopped() { PassageError::Stopped { time } } else { too_many })
            };
        }
        let window = PoissonWindow::new(needed, 0.5 * settings.error);
        self.walk.go_to((window.last() as u64).min(settings.jumps), &self.into, &settings);
        if !self.walk.over && self.walk.arrived.len() <= window.last() {
            return Err(if settings.watch.stopped() { PassageError::Stopped { time } } else { too_many });
        }
        Ok(window)
    }
}

impl Walk {
    /// Computes the jumps up to `last`, or until no probability mass remains.
    fn go_to(&mut self, last: u64, into: &[f64], settings: &TransientSettings<'_>) {
        while !self.over && (self.arrived.len() as u64) <= last && !settings.watch.stopped() {
            let arrives = self.leaving / self.jumps.rate;
            self.arrives.push(arrives);
            self.arrived.push(self.arrived[self.arrived.len() - 1] + arrives);
            let jumped = self.jumps.jump(&self.now, &mut self.next, into);
            std::mem::swap(&mut self.now, &mut self.next);
            self.leaving = jumped.weighted;
            self.under_way.push(jumped.total);
            self.over = jumped.total < 1e-4 * settings.error;
            if self.over {
                self.arrives.push(0.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::chain::tests::{birth_death, chain_of, random_chain};
    use approx::assert_relative_eq;

    fn time_to<'a>(chain: &'a Chain, targets: &[u32]) -> Passage<'a> {
        let is_target: Vec<bool> = (0..chain.states()).map(|s| targets.contains(&(s as u32))).collect();
        passage(chain, &is_target, &PassageSettings::default()).unwrap()
    }

    fn stages(rates: &[f64]) -> Chain {
        let steps: Vec<_> = (0..).zip(rates).map(|(i, &rate)| (i, i + 1, rate)).collect();
        chain_of(rates.len() + 1, &steps)
    }

    #[test]
    fn erlang_has_its_closed_form() {
        let chain = stages(&[2.0; 5]);
        let mut time = time_to(&chain, &[5]);
        let moments = time.moments().unwrap();
        assert_relative_eq!(moments.mean, 2.5, max_relative = 1e-14);
        assert_relative_eq!(moments.variance, 1.25, max_relative = 1e-14);
        assert_eq!(moments.outcome.method, crate::solve::LinearMethod::Substitution);
        for t in [0.0, 0.1, 1.0, 2.5, 7.0, 30.0] {
            let x: f64 = 2.0 * t;
            let survival: f64 = (0..5).map(|n| (-x).exp() * x.powi(n) / [1.0, 1.0, 2.0, 6.0, 24.0][n as usize]).sum();
            assert!((time.cdf(t).unwrap() - (1.0 - survival)).abs() < 1e-12, "{t}");
            assert!((time.survival(t).unwrap() - survival).abs() < 1e-12, "{t}");
            let density = 2.0 * (-x).exp() * x.powi(4) / 24.0;
            assert!((time.density(t).unwrap() - density).abs() < 1e-12, "{t}");
        }
        // one stage starts at its rate
        assert_relative_eq!(time_to(&stages(&[3.0]), &[1]).density(0.0).unwrap(), 3.0, max_relative = 1e-12);
    }

    #[test]
    fn stages_of_different_rates_have_their_closed_form() {
        // rates 1, 3, 10: survival as a sum of three exponentials
        let chain = stages(&[1.0, 3.0, 10.0]);
        let mut time = time_to(&chain, &[3]);
        let rates = [1.0_f64, 3.0, 10.0];
        for t in [0.3, 1.0, 4.0, 12.0] {
            let weight =
                |i: usize| (0..3).filter(|&j| j != i).map(|j| rates[j] / (rates[j] - rates[i])).product::<f64>();
            let survival: f64 = (0..3).map(|i| weight(i) * (-rates[i] * t).exp()).sum();
            assert!((time.survival(t).unwrap() - survival).abs() < 1e-12, "{t}");
        }
        let at = time.quantile(0.9).unwrap();
        assert!((time.cdf(at).unwrap() - 0.9).abs() < 1e-12);
        assert!(time.cdf(at * (1.0 - 1e-9)).unwrap() < 0.9);
    }

    /// The last of n exponential tasks: a pure death chain with rates nμ, …, 2μ, μ.
    #[test]
    fn the_last_of_many_takes_the_harmonic_number() {
        let n = 200;
        let mu = 0.25;
        let rates: Vec<f64> = (1..=n).rev().map(|k| f64::from(k) * mu).collect();
        let chain = stages(&rates);
        let mut time = time_to(&chain, &[n]);
        let harmonic: f64 = (1..=n).map(|k| 1.0 / f64::from(k)).sum();
        let squares: f64 = (1..=n).map(|k| 1.0 / f64::from(k * k)).sum();
        let moments = time.moments().unwrap();
        assert_relative_eq!(moments.mean, harmonic / mu, max_relative = 1e-13);
        assert_relative_eq!(moments.variance, squares / (mu * mu), max_relative = 1e-13);
        for p in [0.01, 0.5, 0.9, 0.999] {
            // F(t) = (1 - e^-μt)^n
            let exact = -(-f64::powf(p, 1.0 / f64::from(n))).ln_1p() / mu;
            assert_relative_eq!(time.quantile(p).unwrap(), exact, max_relative = 1e-9);
        }
    }

    #[test]
    fn a_queue_empties_in_its_mean_busy_period() {
        // from 1 to 0 in M/M/1/K: the sum of ρ^i / μ for i < K
        let (birth, death, last) = (1.0_f64, 1.5, 12);
        let chain = Chain { initial: vec![(1, 1.0)], ..birth_death(last, birth, death) };
        let time = time_to(&chain, &[0]);
        let exact: f64 = (0..last as i32).map(|i| (birth / death).powi(i) / death).sum();
        let moments = time.moments().unwrap();
        assert_relative_eq!(moments.mean, exact, max_relative = 1e-13);
        let (raw, _) = time.raw_moments(3).unwrap();
        assert_relative_eq!(raw[0], exact, max_relative = 1e-13);
        assert_relative_eq!(raw[1] - raw[0] * raw[0], moments.variance, max_relative = 1e-11);
        assert!(raw[2] > raw[0] * raw[1]);
    }

    /// A start in several states: in the target with probability 1/4, before an exponential time of rate 1 with 1/2, and of rate 1/2 with 1/4.
    /// E T = 1, E T² = 1/2 * 2 + 1/4 * 8 = 3. This test fails without the spread between the starts, or without the starts in the target.
    #[test]
    fn a_start_over_several_states_spreads_the_time() {
        let chain = Chain { initial: vec![(0, 0.25), (1, 0.5), (2, 0.25)], ..chain_of(3, &[(1, 0, 1.0), (2, 0, 0.5)]) };
        let mut time = time_to(&chain, &[0]);
        let moments = time.moments().unwrap();
        assert_relative_eq!(moments.mean, 1.0, max_relative = 1e-14);
        assert_relative_eq!(moments.variance, 2.0, max_relative = 1e-14);
        let (raw, _) = time.raw_moments(2).unwrap();
        assert_relative_eq!(raw[1], 3.0, max_relative = 1e-14);
        assert_relative_eq!(time.cdf(0.0).unwrap(), 0.25, max_relative = 1e-12);
        let at_two = 0.25 + 0.5 * (1.0 - (-2.0_f64).exp()) + 0.25 * (1.0 - (-1.0_f64).exp());
        assert_relative_eq!(time.cdf(2.0).unwrap(), at_two, max_relative = 1e-12);
    }

    #[test]
    fn a_target_that_may_be_missed_says_so() {
        // 0 -> 1 with 3/s, 0 -> 2 with 1/s; both absorb
        let chain = chain_of(3, &[(0, 1, 3.0), (0, 2, 1.0)]);
        let mut time = time_to(&chain, &[1]);
        assert_relative_eq!(time.probability(), 0.75, max_relative = 1e-15);
        assert!(matches!(time.moments(), Err(PassageError::InfiniteMean { .. })));
        let reached = time.moments_if_reached().unwrap();
        assert_relative_eq!(reached.mean, 0.25, max_relative = 1e-14);
        assert_relative_eq!(reached.variance, 0.0625, max_relative = 1e-13);
        assert!((time.cdf(0.2).unwrap() - 0.75 * (1.0 - f64::exp(-0.8))).abs() < 1e-12);
        assert!((time.cdf(1e7).unwrap() - 0.75).abs() < 1e-12);
        assert!(matches!(time.quantile(0.8), Err(PassageError::NoQuantile { .. })));
        assert_relative_eq!(time.quantile(0.375).unwrap(), 2.0_f64.ln() / 4.0, max_relative = 1e-9);
    }

    #[test]
    fn targets_never_or_at_once_reached_have_trivial_times() {
        let chain = chain_of(3, &[(0, 1, 1.0), (1, 0, 1.0), (2, 0, 1.0)]);
        let mut never = time_to(&chain, &[2]);
        assert_eq!((never.probability(), never.cdf(5.0).unwrap()), (0.0, 0.0));
        assert!(matches!(never.moments_if_reached(), Err(PassageError::NoQuantile { .. })));
        let mut at_once = time_to(&chain, &[0]);
        assert_eq!((at_once.probability(), at_once.cdf(0.0).unwrap()), (1.0, 1.0));
        assert_eq!((at_once.moments().unwrap().mean, at_once.quantile(0.5).unwrap()), (0.0, 0.0));
        let half = Chain { initial: vec![(0, 0.5), (1, 0.5)], ..chain };
        let mut time = time_to(&half, &[1]);
        assert_eq!((time.cdf(0.0).unwrap(), time.quantile(0.4).unwrap()), (0.5, 0.0));
        let moments = time.moments().unwrap();
        assert_relative_eq!(moments.mean, 0.5, max_relative = 1e-15);
        // E[T²] = 1/2 · 2, less 1/4
        assert_relative_eq!(moments.variance, 0.75, max_relative = 1e-15);
    }

    #[test]
    fn all_methods_agree_on_random_chains() {
        for seed in 0..5 {
            let chain = random_chain(60, 4, 3.0, seed);
            let is_target: Vec<bool> = (0..60).map(|s| s == 59 || s == 30).collect();
            let by = |method| {
                let linear = LinearSettings { method, ..LinearSettings::default() };
                let settings = PassageSettings { linear, ..PassageSettings::default() };
                passage(&chain, &is_target, &settings).unwrap().moments().unwrap()
            };
            let exact = by(crate::solve::LinearMethod::Elimination);
            assert!(exact.outcome.residual < 1e-13);
            for method in [crate::solve::LinearMethod::GaussSeidel, crate::solve::LinearMethod::BiCgStab] {
                let other = by(method);
                assert_relative_eq!(other.mean, exact.mean, max_relative = 1e-10);
                assert_relative_eq!(other.variance, exact.variance, max_relative = 1e-10);
            }
            // the mean is the integral of the survival function
            let mut time = passage(&chain, &is_target, &PassageSettings::default()).unwrap();
            let end = time.quantile(1.0 - 1e-9).unwrap();
            let step = end / 20_000.0;
            let middle = |i: i32| time.survival((f64::from(i) + 0.5) * step).unwrap() * step;
            assert_relative_eq!((0..20_000).map(middle).sum::<f64>(), exact.mean, max_relative = 1e-4);
        }
    }

    #[test]
    fn distributions_are_monotone_probabilities() {
        for seed in 0..10 {
            let chain = random_chain(20, 2, 2.0, seed);
            let mut time = time_to(&chain, &[13]);
            let mut before = 0.0;
            for i in 0..200 {
                let p = time.cdf(f64::from(i) * 0.3).unwrap();
                assert!((0.0..=1.0).contains(&p) && p >= before - 1e-13, "{seed} {i}: {p} after {before}");
                before = p;
            }
        }
    }

    #[test]
    fn stiff_chains_have_moments_and_say_when_the_distribution_is_too_far() {
        // a fast back and forth, and a rare way out
        let chain = chain_of(3, &[(0, 1, 1e9), (1, 0, 1e9), (1, 2, 1e-9)]);
        let mut time = time_to(&chain, &[2]);
        assert_relative_eq!(time.moments().unwrap().mean, 2e9, max_relative = 1e-12);
        assert!(matches!(time.cdf(1e9), Err(PassageError::TooManyJumps { .. })));
        assert!(matches!(time.cdf(f64::NAN), Err(PassageError::Time { .. })));
    }

    #[test]
    fn wrong_targets_are_refused() {
        let chain = birth_death(3, 1.0, 1.0);
        let error = passage(&chain, &[true], &PassageSettings::default()).unwrap_err();
        assert_eq!(error.to_string(), "1 targets for 4 states; there must be one truth value for each state");
    }

    /// Returns the series of a chain, and the distribution by uniformisation.
    fn both<'a>(chain: &'a Chain, last: u32) -> (Option<CosineLaw>, Passage<'a>) {
        let time = time_to(chain, &[last]);
        let moments = time.moments_if_reached().unwrap();
        let descent = Descent::of(chain, &time.states, time.order.as_ref().unwrap(), &time.start, &time.into);
        let ends = [moments.mean, moments.variance.sqrt()];
        (CosineLaw::of(&descent, ends, time.walk.arrived[0], TransientSettings::default(), 10_000), time)
    }

    /// A chain of exponential stages, each of which leads to one of a few later stages.
    fn random_descent(states: u32, seed: u64) -> Chain {
        let mut word = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
        let mut draw = |n: u32| {
            word ^= word << 13;
            word ^= word >> 7;
            word ^= word << 17;
            (word >> 33) as u32 % n
        };
        let mut rates = Vec::new();
        for from in 0..states - 1 {
            for to in [from + 1, from + 2, from + 3 + draw(9)] {
                if to < states && draw(3) > 0 || to == from + 1 {
                    rates.push((from, to, 0.1 + f64::from(draw(100)) / 20.0));
                }
            }
        }
        chain_of(states as usize, &rates)
    }

    /// 40 batches of 100 stages. A batch takes 1 s in total and is skipped with probability 1/2, so times lie around whole seconds, and
    /// the transform is almost 0 at the frequency of half a turn per second but large again beyond it.
    fn batches() -> Chain {
        let mut rates = Vec::new();
        for first in (0..40).map(|batch| batch * 101) {
            rates.extend((first + 1..first + 101).map(|i| (i, i + 1, 100.0)));
            rates.extend([(first, first + 1, 100.0), (first, first + 101, 100.0)]);
        }
        chain_of(4041, &rates)
    }

    /// This test fails if one end of the interval is 10 standard deviations closer, or if coefficients end where they are first
    /// almost 0.
    #[test]
    fn a_series_is_the_law_by_uniformisation() {
        let mut chains = vec![batches(), stages(&[3.0; 40])];
        chains.extend((0..6).map(|seed| random_descent(300, seed)));
        for (case, chain) in chains.iter().enumerate() {
            let (series, mut time) = both(chain, chain.states() as u32 - 1);
            let series = series.unwrap_or_else(|| panic!("{case}: no series"));
            assert!(series.error < 1e-11, "{case}: {}", series.error);
            let end = time.quantile(1.0 - 1e-9).unwrap();
            for i in 0..=400 {
                let t = f64::from(i) / 380.0 * end;
                let (by_series, by_jumps) = (series.cdf(t), time.cdf(t).unwrap());
                assert!((by_series - by_jumps).abs() < 2e-12, "{case}, {t} s: {by_series} is not {by_jumps}");
                let densities = (series.density(t), time.density(t).unwrap());
                assert!((densities.0 - densities.1).abs() < 1e-9 / end, "{case}, {t} s: {densities:?}");
            }
        }
    }

    /// Uniformisation would need 1e11 jumps.
    #[test]
    fn a_cosine_series_handles_a_very_fast_rate() {
        let rates: Vec<f64> = std::iter::once(1e9).chain([0.2; 30]).collect();
        let (chain, slow) = (stages(&rates), stages(&rates[1..]));
        let (mut time, mut without) = (time_to(&chain, &[31]), time_to(&slow, &[30]));
        for p in [0.001, 0.5, 0.999] {
            assert_relative_eq!(time.quantile(p).unwrap(), without.quantile(p).unwrap(), max_relative = 1e-9);
        }
        assert_eq!((time.distribution_method(), without.distribution_method()), ("a cosine series", "uniformisation"));
        let [late, later] = [time.survival(200.0).unwrap(), without.survival(200.0).unwrap()];
        assert!(time.error() < 1e-11 && (late - later).abs() < 4e-12, "{late} is not {later}");
    }

    #[test]
    fn a_jump_in_the_density_has_no_series() {
        assert!(both(&stages(&[1.0]), 1).0.is_none());
    }
}
