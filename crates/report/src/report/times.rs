//! The distribution of a time as the data of its pictures, and their captions.

use crate::ask::net::{CdfPoint, PassageSection, QuantilePoint};
use crate::report::distribution::{Bar, Distribution};
use crate::report::job::AnalyticSummary;
use crate::report::number::plain;

/// Parts of the distribution of a time to draw.
#[cfg_attr(not(feature = "plots"), expect(dead_code, reason = "only pictures need every field"))]
pub(crate) struct Times {
    /// Name of the time.
    pub(super) name: &'static str,
    pub(super) bars: Vec<Bar>,
    pub(super) samples: u64,
    /// The distribution function, and the meaning of the ends of its points.
    pub(super) curve: Vec<CdfPoint>,
    pub(super) of_curve: String,
    /// The exact distribution function, next to the one from samples.
    pub(super) exact: Vec<CdfPoint>,
    pub(super) mean: Option<f64>,
    /// Probabilities and times.
    pub(super) quantiles: Vec<[f64; 2]>,
}

impl Times {
    /// Returns a time from samples, or an exact one.
    pub(crate) fn new(name: &'static str, time: &Distribution, exact: Option<&AnalyticSummary>) -> Self {
        let quantiles = time.quantiles.iter().map(|row| [row.p, row.quantity.value]).collect();
        let of_curve = if time.samples > 0 {
            format!("simulated, {}% intervals", plain(100.0 * time.mean.level))
        } else {
            of_exact(&time.curve)
        };
        let (bars, samples, curve) = (sound_bars(&time.histogram.bars), time.samples, sound(&time.curve));
        let exact = exact.map_or_else(Vec::new, |law| sound(&law.curve));
        Self { name, bars, samples, curve, of_curve, exact, mean: Some(time.mean.value), quantiles }
    }

    /// Returns a time by formula or from parts, without samples.
    pub(crate) fn exact(name: &'static str, law: &AnalyticSummary) -> Self {
        Self::without_samples(name, &law.curve, Some(law.mean), &law.quantiles)
    }

    /// Returns the time to the goal of a net.
    pub(crate) fn passage(name: &'static str, passage: &PassageSection) -> Self {
        Self::without_samples(name, &passage.curve, passage.mean_s, &passage.quantiles)
    }

    /// Returns a time of the next run, predicted by a model.
    pub(crate) fn predicted(name: &'static str, curve: &[CdfPoint], mean: f64, quantiles: Vec<[f64; 2]>) -> Self {
        let (of_curve, curve, mean) = ("predicted".to_owned(), sound(curve), Some(mean));
        Self { name, bars: Vec::new(), samples: 0, curve, of_curve, exact: Vec::new(), mean, quantiles }
    }

    fn without_samples(name: &'static str, curve: &[CdfPoint], mean: Option<f64>, points: &[QuantilePoint]) -> Self {
        let quantiles = points.iter().map(|point| [point.p, point.value]).collect();
        let (bars, exact, of_curve) = (Vec::new(), Vec::new(), of_exact(curve));
        Self { name, bars, samples: 0, curve: sound(curve), of_curve, exact, mean, quantiles }
    }

    /// Returns advice on how to read the picture of this name; it mentions only what is drawn.
    pub(crate) fn caption(&self, name: &str) -> String {
        let exact = if self.exact.is_empty() { "" } else { " The orange line is the exact distribution." };
        let band = match self.curve.iter().any(|point| point.low < point.high) {
            false => "",
            true if self.samples > 0 => {
                " The band is the confidence interval at each point, which depends on the number of replications."
            }
            true => " The band shows the guaranteed bounds.",
        };
        let what = match name {
            "histogram" => {
                return format!(
                    "The height of a bar is the share of replications whose time falls into its range.{exact}"
                );
            }
            "cdf" => "The line is the probability that the time is at most the value on the axis.",
            _ => {
                "The line is the probability that the time exceeds the value on the axis, on a logarithmic scale: each grid line is ten \
                 times rarer than the line above it."
            }
        };
        format!("{what}{band}{exact}")
    }
}

/// Returns the valid points of a distribution function, because a file may contain anything.
pub(super) fn sound(points: &[CdfPoint]) -> Vec<CdfPoint> {
    let mut sound: Vec<CdfPoint> = Vec::with_capacity(points.len());
    for point in points.iter().filter(|point| (0.0..=1.0).contains(&point.probability)) {
        if sound.last().is_none_or(|last| last.time_s < point.time_s) {
            let [low, high] = [point.low, point.high].map(|end| end.map(|end| end.clamp(0.0, 1.0)));
            sound.push(CdfPoint { low, high, ..*point });
        }
    }
    sound
}

/// Returns the valid bars of a histogram, because a file may contain anything.
fn sound_bars(bars: &[Bar]) -> Vec<Bar> {
    let mut sound: Vec<Bar> = Vec::with_capacity(bars.len());
    for bar in bars.iter().filter(|bar| bar.low < bar.high) {
        if sound.last().is_none_or(|last| last.high <= bar.low) {
            sound.push(*bar);
        }
    }
    sound
}

/// Returns the caption of an exact line.
fn of_exact(curve: &[CdfPoint]) -> String {
    let bounded = curve.iter().any(|point| point.low.is_some());
    if bounded { "exact, with guaranteed bounds" } else { "exact" }.to_owned()
}
