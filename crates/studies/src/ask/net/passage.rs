//! The time to a goal by an exact method: probability, moments, quantiles, and the distribution as a polyline.

use serde::{Deserialize, Serialize};

use crate::ask::net::json::Word;
use crate::ask::net::points::{CdfPoint, QUANTILES, QuantilePoint};
use crate::solve::{
    CompletionTime, FixedDelayError, FixedDelayPassage, GridError, Passage, PassageError, PassageMoments,
};

/// The time to a goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PassageSection {
    /// The goal as text.
    pub goal: String,
    /// Number of states, including those at the goal; `None` if the method needs no states.
    pub states: Option<usize>,
    /// Probability of ever reaching the goal; mean and deviation refer to the runs that reach it.
    pub probability: f64,
    /// Mean \[s\]; none if the goal is unreachable.
    pub mean_s: Option<f64>,
    /// Guaranteed bounds of the mean \[s\], if the method gives bounds.
    pub mean_bounds_s: Option<[f64; 2]>,
    /// Standard deviation \[s\].
    pub sd_s: Option<f64>,
    /// Method of the mean and the standard deviation.
    pub method: Option<Word>,
    /// Quantiles \[s\], of all runs.
    pub quantiles: Vec<QuantilePoint>,
    /// Quantiles of the runs that reach the goal \[s\]; only if not all do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quantiles_if_reached: Vec<QuantilePoint>,
    /// The distribution function at the requested times.
    pub cdf: Vec<CdfPoint>,
    /// The distribution function at 121 times from its first rise to p99.9, at equal distances.
    pub curve: Vec<CdfPoint>,
    /// Bound of the error of the distribution function, or of its bounds.
    pub cdf_error: f64,
    /// The method of the distribution function; only if states were solved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cdf_method: Option<Word>,
    /// Width of a step of the grid of times \[s\]; only if the method has one.
    pub grid_step_s: Option<f64>,
    /// Reason why quantiles or probabilities are missing.
    pub no_distribution: Option<String>,
}

/// Pieces of the line.
const PIECES: u32 = 120;
/// Probabilities between which the line is drawn, as shares of the probability of ever reaching the goal.
const DRAWN: [f64; 2] = [0.001, 0.999];

/// The distribution of a time, computed on demand.
trait Distribution {
    type Error;
    /// A probability closer than this to that of ever reaching the goal has no quantile.
    const ROUNDING: f64;
    fn point(&mut self, time_s: f64) -> Result<CdfPoint, Self::Error>;
    fn quantile(&mut self, p: f64) -> Result<f64, Self::Error>;
    /// Checks that quantiles that nobody requested are cheap; `quantile_s` is a lower bound of the largest one.
    fn check(&mut self, quantile_s: f64) -> Result<(), Self::Error>;
    /// Lower bounds of the quantiles of the runs that reach the goal are checked with this time.
    fn cheap_until(&self) -> f64;
    /// Returns true if a limit of time or work caused the error, so that the other results stand.
    fn is_limit(error: &Self::Error) -> bool;
}

impl Distribution for Passage<'_> {
    type Error = PassageError;
    const ROUNDING: f64 = 0.0;

    fn point(&mut self, time_s: f64) -> Result<CdfPoint, PassageError> {
        let (probability, density) = (self.cdf(time_s)?, self.density(time_s)?);
        Ok(CdfPoint { time_s, probability, density_per_s: Some(density), low: None, high: None })
    }

    fn quantile(&mut self, p: f64) -> Result<f64, PassageError> {
        Passage::quantile(self, p)
    }

    fn check(&mut self, quantile_s: f64) -> Result<(), PassageError> {
        Passage::check(self, quantile_s)
    }

    fn cheap_until(&self) -> f64 {
        self.longest()
    }

    fn is_limit(error: &PassageError) -> bool {
        matches!(error, PassageError::TooManyJumps { .. } | PassageError::Stopped { .. })
    }
}

/// Maximum number of multiplications for quantiles that nobody requested: about a second.
const QUICK_WORK: f64 = 2e8;

/// A distribution, and the probability of ever reaching the goal.
struct FixedDelayTime<'t, 'w>(&'t mut FixedDelayPassage<'w>, f64);

impl Distribution for FixedDelayTime<'_, '_> {
    type Error = FixedDelayError;
    const ROUNDING: f64 = FixedDelayPassage::ROUNDING;

    /// The distribution can jump, so it has no density.
    fn point(&mut self, time_s: f64) -> Result<CdfPoint, FixedDelayError> {
        let probability = self.0.cdf(time_s)?;
        Ok(CdfPoint { time_s, probability, density_per_s: None, low: None, high: None })
    }

    fn quantile(&mut self, p: f64) -> Result<f64, FixedDelayError> {
        self.0.quantile(p, self.1)
    }

    fn check(&mut self, quantile_s: f64) -> Result<(), FixedDelayError> {
        self.0.allow(QUICK_WORK);
        self.0.check(quantile_s)
    }

    fn cheap_until(&self) -> f64 {
        self.0.longest(QUICK_WORK)
    }

    fn is_limit(error: &FixedDelayError) -> bool {
        use FixedDelayError as E;
        matches!(
            error,
            E::Stopped { .. }
                | E::TooSlow { .. }
                | E::TooMuchWork { .. }
                | E::TooManyFirings { .. }
                | E::TooLong { .. }
                | E::NoQuantile { .. }
        )
    }
}

/// Returns the time to a goal: probability, moments, the distribution function at `times` \[s\], and quantiles. If a limit
/// of time or work ends the distribution, the section has the earlier results and the reason.
///
/// # Errors
///
/// As [`Passage::cdf`] and [`Passage::moments_if_reached`], but for limits of the distribution.
pub fn passage_section(
    goal: &str,
    states: usize,
    passage: &mut Passage<'_>,
    times: &[f64],
) -> Result<PassageSection, PassageError> {
    let probability = passage.probability();
    let moments = if probability > 0.0 { Some(passage.moments_if_reached()?) } else { None };
    let mut section = of_moments(goal, states, probability, moments);
    points(&mut section, passage, times)?;
    quantiles(&mut section, passage)?;
    section.cdf_error = passage.error();
    section.cdf_method = section.has_distribution().then(|| passage.distribution_method().into());
    Ok(section)
}

/// Returns the time to a goal of a net with fixed delays, without quantiles. `probability` and `moments` are from
/// [`FixedDelayStates::moments`](crate::solve::FixedDelayStates::moments).
///
/// # Errors
///
/// The errors of [`FixedDelayPassage::cdf`], except limits.
pub(super) fn fixed_delay_section(
    goal: &str,
    states: usize,
    (probability, moments): (f64, Option<PassageMoments>),
    passage: &mut FixedDelayPassage<'_>,
    times: &[f64],
) -> Result<PassageSection, FixedDelayError> {
    let mut section = of_moments(goal, states, probability, moments);
    points(&mut section, &mut FixedDelayTime(passage, probability), times)?;
    section.grid_step_s = Some(passage.grid().step);
    Ok(section)
}

/// Adds quantiles to the time to a goal of a net with fixed delays.
///
/// # Errors
///
/// The errors of [`FixedDelayPassage::quantile`], except limits and a missing quantile.
pub(super) fn fixed_delay_quantiles(
    section: &mut PassageSection,
    passage: &mut FixedDelayPassage<'_>,
) -> Result<(), FixedDelayError> {
    let probability = section.probability;
    quantiles(section, &mut FixedDelayTime(passage, probability))?;
    section.cdf_error = passage.error();
    section.cdf_method = section.has_distribution().then(|| "uniformisation with fixed delays".into());
    Ok(())
}

impl PassageSection {
    fn has_distribution(&self) -> bool {
        self.no_distribution.is_none() || !self.cdf.is_empty() || !self.quantiles.is_empty()
    }
}

/// Returns a section without a distribution.
fn of_moments(goal: &str, states: usize, probability: f64, moments: Option<PassageMoments>) -> PassageSection {
    PassageSection {
        goal: goal.to_owned(),
        states: Some(states),
        probability,
        mean_s: moments.map(|moments| moments.mean),
        mean_bounds_s: None,
        sd_s: moments.map(|moments| moments.variance.sqrt()).filter(|sd| sd.is_finite()),
        method: moments.map(|moments| moments.outcome.method.name().into()),
        quantiles: Vec::new(),
        quantiles_if_reached: Vec::new(),
        cdf: Vec::new(),
        curve: Vec::new(),
        cdf_error: 0.0,
        cdf_method: None,
        grid_step_s: None,
        no_distribution: None,
    }
}

/// Adds the reason to the section if a limit caused an error.
fn unless_limited<D: Distribution>(section: &mut PassageSection, result: Result<(), D::Error>) -> Result<(), D::Error>
where
    D::Error: std::fmt::Display,
{
    match result {
        Err(error) if D::is_limit(&error) => section.no_distribution = Some(error.to_string()),
        other => other?,
    }
    Ok(())
}

/// Adds the distribution function at the requested times.
fn points<D: Distribution>(section: &mut PassageSection, time: &mut D, times: &[f64]) -> Result<(), D::Error>
where
    D::Error: std::fmt::Display,
{
    let cdf = &mut section.cdf;
    let result = times.iter().try_for_each(|&time_s| time.point(time_s).map(|point| cdf.push(point)));
    unless_limited::<D>(section, result)
}

/// Adds quantiles and the curve, unless a limit ended the points.
fn quantiles<D: Distribution>(section: &mut PassageSection, time: &mut D) -> Result<(), D::Error>
where
    D::Error: std::fmt::Display,
{
    let probability = section.probability;
    if probability == 0.0 || section.no_distribution.is_some() {
        return Ok(());
    }
    let result = largest_quantile(section, time.cheap_until()).map_or(Ok(()), |time_s| time.check(time_s));
    let result = result.and_then(|()| {
        for p in QUANTILES.into_iter().filter(|&p| p < probability - D::ROUNDING) {
            section.quantiles.push(QuantilePoint::exact(p, time.quantile(p)?));
        }
        for p in QUANTILES.into_iter().filter(|_| probability < 1.0) {
            section.quantiles_if_reached.push(QuantilePoint::exact(p, time.quantile(p * probability)?));
        }
        let ends = [time.quantile(DRAWN[0] * probability)?, time.quantile(DRAWN[1] * probability)?];
        section.curve = line(ends, |time_s| time.point(time_s))?;
        Ok(())
    });
    unless_limited::<D>(section, result)
}

/// Returns the mean if the largest quantile of the runs that reach the goal is certainly beyond `limit` \[s\], by the
/// inequality of Paley and Zygmund: `P(T > θ E[T]) ≥ (1 − θ)² E[T]² / E[T²]`.
fn largest_quantile(section: &PassageSection, limit: f64) -> Option<f64> {
    let (mean, sd) = (section.mean_s?, section.sd_s?);
    let share = (1.0 - limit / mean).max(0.0).powi(2) / (1.0 + (sd / mean).powi(2));
    (share > 1.0 - DRAWN[1]).then_some(mean)
}

/// Returns the time at which a schedule is complete, with the distribution function at `times` \[s\]; all numbers except the
/// deviation have bounds.
///
/// # Errors
///
/// As [`CompletionTime::quantile`].
pub fn completion_section(goal: &str, time: &CompletionTime, times: &[f64]) -> Result<PassageSection, GridError> {
    let point = |time_s| CdfPoint::bounded(time_s, &time.cdf(time_s));
    let quantile = |p| Ok(QuantilePoint::bounded(p, &time.quantile(p)?));
    let ends = [time.quantile(DRAWN[0])?.value, time.quantile(DRAWN[1])?.value];
    let mean = time.mean();
    Ok(PassageSection {
        goal: goal.to_owned(),
        states: None,
        probability: 1.0,
        mean_s: Some(mean.value),
        mean_bounds_s: mean.ends(),
        sd_s: Some(time.standard_deviation()),
        method: Some("series-parallel reduction".into()),
        quantiles: QUANTILES.into_iter().map(quantile).collect::<Result<_, GridError>>()?,
        quantiles_if_reached: Vec::new(),
        cdf: times.iter().map(|&time_s| point(time_s)).collect(),
        curve: line(ends, |time_s| Ok::<_, GridError>(point(time_s)))?,
        cdf_error: CompletionTime::ROUNDING,
        cdf_method: None,
        grid_step_s: Some(time.step()),
        no_distribution: None,
    })
}

/// Returns points of a distribution function at equal distances; nearly all of the distribution lies between `ends`.
/// The line starts at 0, unless the function starts to rise much later. None if the time is always 0.
pub fn line<E>([low, high]: [f64; 2], mut point: impl FnMut(f64) -> Result<CdfPoint, E>) -> Result<Vec<CdfPoint>, E> {
    /// If the curve first rises after this share of `high`, the line does not start at 0.
    const LATE: f64 = 0.3;
    /// Margin on the time axis before the curve rises, and after it jumps, as a share of the drawn range.
    const ROOM: f64 = 0.05;
    if high <= 0.0 {
        return Ok(Vec::new());
    }
    let spread = high - low;
    let jump = spread <= 1e-6 * high;
    let start = if jump || low < LATE * high { 0.0 } else { (low - ROOM * spread).max(0.0) };
    let end = if jump { high * (1.0 + ROOM) } else { high };
    (0..=PIECES).map(|i| point(start + (end - start) * f64::from(i) / f64::from(PIECES))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::{Chain, PassageSettings, Rates, passage};

    /// Stages of these rates, one after the other.
    fn stages(rates: &[f64]) -> Chain {
        let rows = rates.iter().zip(1..).map(|(&rate, next)| vec![(next, rate)]).chain([Vec::new()]);
        Chain { rates: Rates::from_rows(rows), initial: vec![(0, 1.0)] }
    }

    fn section(rates: &[f64], times: &[f64]) -> PassageSection {
        let chain = stages(rates);
        let targets: Vec<bool> = (0..chain.states()).map(|state| state == rates.len()).collect();
        let mut time = passage(&chain, &targets, &PassageSettings::default()).unwrap();
        passage_section("the end", chain.states(), &mut time, times).unwrap()
    }

    #[test]
    fn the_line_follows_the_distribution_and_holds_its_mean() {
        let found = section(&[2.0], &[1.0]);
        assert_eq!(found.curve.len(), 121);
        for point in found.curve.iter().chain(&found.cdf) {
            let survival = (-2.0 * point.time_s).exp();
            assert!((point.probability - (1.0 - survival)).abs() < 1e-11, "{point:?}");
            assert!((point.density_per_s.unwrap() - 2.0 * survival).abs() < 1e-11, "{point:?}");
        }
        let last = found.curve.last().unwrap();
        assert!((last.probability - 0.999).abs() < 1e-9 && found.curve[0].time_s == 0.0);
        // the area above the line, by trapezoids, and what lies beyond its end
        let pieces = found.curve.windows(2).map(|pair| {
            (pair[1].time_s - pair[0].time_s) * (1.0 - f64::midpoint(pair[0].probability, pair[1].probability))
        });
        let mean = pieces.sum::<f64>() + 0.001 / 2.0;
        assert!((mean - 0.5).abs() < 1e-3, "{mean}");
    }

    #[test]
    fn a_line_that_rises_late_does_not_begin_at_0() {
        let found = section(&[1.0; 200], &[]);
        let (first, last) = (found.curve[0], found.curve[120]);
        assert!(first.time_s > 100.0 && first.probability < 0.001, "{first:?}");
        assert!(last.time_s < 260.0 && found.curve.is_sorted_by(|a, b| a.probability <= b.probability));
    }

    #[test]
    fn rates_far_apart_give_moments_but_no_distribution() {
        // a step of 1e-9 s and one of 1e9 s: no uniformisation gets that far
        let found = section(&[1e9, 1e-9], &[5.0]);
        assert!((found.mean_s.unwrap() / 1e9 - 1.0).abs() < 1e-9);
        assert!(found.quantiles.is_empty() && found.curve.is_empty());
        assert!(found.no_distribution.unwrap().contains("jumps are needed"));
    }
}
