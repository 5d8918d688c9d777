//! The time over the number of machines m, from the medians at several m.
//!
//! | where | log T |
//! |---|---|
//! | between two measured m | straight in 1/m between the neighbours, mixed with Ernest's curve \[Venkataraman2016\] by how well that fits |
//! | beyond the largest m | the mean of M1 and M2, mixed with Amdahl's law by how well that fits |
//! | below the smallest m | the mean of the line in 1/m through the first two and of Ernest's curve |
//!
//! M1 is log T = a + b/m + g log m with g near 0, M2 is T = a + b m^-p with p near 1.6. Both trust the fewest machines less, because these may lack memory.
//! The constants were chosen on other runs of real clusters (docs/tables.md).

use tailspn_common::least_squares::{Miss, Normal, minimum, not_negative};

/// Standard deviation of the logarithm of a median that is trusted.
const TRUSTED: f64 = 0.02;
/// Standard deviations of the logarithm at the fewest machines, in M1 and in M2.
const FEWEST: [f64; 2] = [0.2, 0.15];
/// Prior standard deviation of g in M1.
const DRIFT: f64 = 0.1;
/// Prior of p in M2: mean and standard deviation.
const POWER: [f64; 2] = [1.6, 0.3];
/// Standard deviation of the logarithm in a curve that fits exactly, and the likelihood at which it gets half of the weight.
const EXACT: [f64; 2] = [0.01, 0.05];

/// The runs that a prediction is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Runs at the setting itself.
    Measured,
    /// Runs on both sides.
    Between,
    /// Runs on one side: the setting is outside of what was measured.
    Beyond,
}

/// A predicted logarithm of a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Guess {
    /// The logarithm of the median \[ln s\].
    pub(crate) log: f64,
    /// The unit of the error.
    pub(crate) unit: f64,
    /// True between measured values, false beyond them.
    pub(crate) is_inside: bool,
}

/// The time over the number of machines.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Machines, and the logarithm of the median time, ascending.
    points: Vec<[f64; 2]>,
}

/// Returns Ernest's curve T = a + b/m + c log m + d m through points of machines and times, with relative residuals and without negative parts; none without
/// points.
pub fn ernest(points: &[[f64; 2]]) -> Option<impl Fn(f64) -> f64 + use<>> {
    let terms = |m: f64| vec![1.0, 1.0 / m, m.ln(), m];
    let row = |&[m, time_s]: &[f64; 2]| (terms(m).into_iter().map(|term| term / time_s).collect(), 1.0);
    let factors = not_negative(&points.iter().map(row).collect::<Vec<_>>())?;
    Some(move |m: f64| terms(m).iter().zip(&factors).map(|(term, factor)| term * factor).sum())
}

impl Curve {
    /// Returns the curve through points of machines and times \[s\]; none without two different numbers of machines.
    pub fn new(points: &[[f64; 2]]) -> Option<Self> {
        Self::of_logs(points.iter().map(|&[m, time_s]| [m, time_s.ln()]).collect())
    }

    pub(crate) fn of_logs(mut points: Vec<[f64; 2]>) -> Option<Self> {
        points.sort_by(|a, b| a[0].total_cmp(&b[0]));
        points.dedup_by_key(|point| point[0]);
        (points.len() > 1).then_some(Self { points })
    }

    /// Returns the median time at a number of machines \[s\].
    pub fn at(&self, machines: f64) -> f64 {
        self.guess(machines).log.exp()
    }

    pub(crate) fn guess(&self, m: f64) -> Guess {
        let [first, .., last] = self.points[..] else {
            return Guess { log: f64::NAN, unit: f64::INFINITY, is_inside: false };
        };
        if m > last[0] {
            self.beyond(m, (m / last[0]).ln())
        } else if m < first[0] {
            self.below(m, (first[0] / m).ln())
        } else {
            self.between(m)
        }
    }

    /// Returns Ernest's curve as logarithms, and the weight that its fit deserves.
    fn ernest(&self) -> Option<(impl Fn(f64) -> f64 + use<>, f64)> {
        let curve = ernest(&self.times())?;
        let log = move |m: f64| curve(m).max(f64::MIN_POSITIVE).ln();
        let weight = self.weight(&log);
        Some((log, weight))
    }

    fn times(&self) -> Vec<[f64; 2]> {
        self.points.iter().map(|&[m, log]| [m, log.exp()]).collect()
    }

    /// Returns the weight of a curve that may be exact.
    fn weight(&self, log: impl Fn(f64) -> f64) -> f64 {
        let [exact, half] = EXACT;
        let misses: f64 = self.points.iter().map(|point| ((log(point[0]) - point[1]) / exact).powi(2)).sum();
        let likelihood = (-0.5 * misses).exp();
        likelihood / (likelihood + half)
    }

    fn between(&self, m: f64) -> Guess {
        let right = self.points.partition_point(|point| point[0] < m).max(1);
        let ([left, right], u) = ([self.points[right - 1], self.points[right]], 1.0 / m);
        let share = (u - 1.0 / left[0]) / (1.0 / right[0] - 1.0 / left[0]);
        let straight = left[1] + share * (right[1] - left[1]);
        let gap = (right[0] / left[0]).ln();
        match self.ernest() {
            Some((ernest, weight)) => {
                let log = (1.0 - weight) * straight + weight * ernest(m);
                Guess { log, unit: 0.02 + 0.02 * gap + 0.2 * (straight - ernest(m)).abs(), is_inside: true }
            }
            None => Guess { log: straight, unit: 0.02 + 0.1 * gap, is_inside: true },
        }
    }

    fn below(&self, m: f64, distance: f64) -> Guess {
        let [a, b] = [self.points[0], self.points[1]];
        let straight = a[1] + (b[1] - a[1]) * (1.0 / m - 1.0 / a[0]) / (1.0 / b[0] - 1.0 / a[0]);
        let other = self.ernest().map_or(straight, |(ernest, _)| ernest(m));
        let unit = 0.05 + 0.15 * distance + (straight - other).abs();
        Guess { log: 0.5 * (straight + other), unit, is_inside: false }
    }

    fn beyond(&self, m: f64, distance: f64) -> Guess {
        let (first, second) = (self.drifting(m), self.falling(m));
        let amdahl = |points: &[[f64; 2]]| {
            let row = |&[m, time_s]: &[f64; 2]| (vec![1.0 / time_s, 1.0 / (m * time_s)], 1.0);
            not_negative(&points.iter().map(row).collect::<Vec<_>>())
        };
        let mean = 0.5 * (first + second);
        let apart = (first - second).abs();
        let log = match amdahl(&self.times()) {
            Some(parts) => {
                let law = |m: f64| (parts[0] + parts[1] / m).max(f64::MIN_POSITIVE).ln();
                let weight = self.weight(law);
                (1.0 - weight) * mean + weight * law(m)
            }
            None => mean,
        };
        // with two numbers of machines, any two of the curves agree
        let few = if self.points.len() < 3 { 0.1 * distance } else { 0.0 };
        Guess { log, unit: 0.02 + 0.03 * distance + apart + few, is_inside: false }
    }

    /// M1: log T = a + b/m + g log m.
    fn drifting(&self, m: f64) -> f64 {
        let terms = |m: f64| [1.0, 1.0 / m, m.ln()];
        let mut sums = Normal::new(3);
        for (place, point) in self.points.iter().enumerate() {
            let spread = if place == 0 { FEWEST[0] } else { TRUSTED };
            sums.add(&terms(point[0]), point[1], spread.powi(-2));
        }
        sums.add(&[0.0, 1.0, 0.0], 0.0, 0.01);
        sums.add(&[0.0, 0.0, 1.0], 0.0, DRIFT.powi(-2));
        let factors = sums.solved(1e-12).unwrap_or_else(|| vec![f64::NAN; 3]);
        terms(m).iter().zip(factors).map(|(term, factor)| term * factor).sum()
    }

    /// M2: T = a + b m^-p.
    fn falling(&self, m: f64) -> f64 {
        let parts = |unknowns: &[f64], m: f64| [unknowns[0].exp(), unknowns[1].exp() * m.powf(-unknowns[2])];
        let (first, last) = (self.points[0], self.points[self.points.len() - 1]);
        let misses = |unknowns: &[f64]| {
            let point = |(place, point): (usize, &[f64; 2])| {
                let spread = if place == 0 { FEWEST[1] } else { TRUSTED };
                let [fixed, falling] = parts(unknowns, point[0]);
                let sum = fixed + falling;
                let slopes = [fixed / sum, falling / sum, -falling / sum * point[0].ln()].map(|slope| slope / spread);
                Miss { value: (sum.ln() - point[1]) / spread, slopes: slopes.into_iter().enumerate().collect() }
            };
            let prior = |unknown: usize, mean: f64, sd: f64| Miss {
                value: (unknowns[unknown] - mean) / sd,
                slopes: vec![(unknown, 1.0 / sd)],
            };
            let priors = [prior(2, POWER[0], POWER[1]), prior(0, last[1], 3.0)];
            self.points.iter().enumerate().map(point).chain(priors).collect()
        };
        let found = minimum(vec![last[1] + 0.6_f64.ln(), first[1], POWER[0]], misses);
        let [fixed, falling] = parts(&found, m);
        (fixed + falling).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amdahl(m: f64) -> [f64; 2] {
        [m, 30.0 + 400.0 / m]
    }

    #[test]
    fn a_job_by_amdahls_law_is_followed_everywhere() {
        let curve = Curve::new(&[2.0, 4.0, 6.0].map(amdahl)).unwrap();
        for m in [3.0, 5.0, 8.0, 12.0, 24.0] {
            let (found, exact) = (curve.at(m), amdahl(m)[1]);
            assert!((found / exact - 1.0).abs() < 0.02, "{m}: {found} {exact}");
        }
        for m in [2.0, 6.0] {
            assert!((curve.at(m) / amdahl(m)[1] - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn the_unit_of_the_error_grows_with_the_distance() {
        let curve = Curve::new(&[2.0, 4.0, 6.0].map(amdahl)).unwrap();
        let units = [5.0, 8.0, 12.0, 48.0].map(|m| curve.guess(m).unit);
        assert!(units.is_sorted(), "{units:?}");
        let two = Curve::new(&[4.0, 6.0].map(amdahl)).unwrap();
        assert!(two.guess(12.0).unit > curve.guess(12.0).unit);
        assert_eq!(Curve::new(&[[2.0, 5.0], [2.0, 6.0]]), None);
    }

    #[test]
    fn too_little_memory_on_the_fewest_machines_does_not_bend_the_curve() {
        // on two machines the data do not fit, and the run takes twice as long
        let points = [[2.0, 2.0 * amdahl(2.0)[1]], amdahl(4.0), amdahl(6.0)];
        let found = Curve::new(&points).unwrap().at(12.0);
        let by_ernest = ernest(&points).unwrap()(12.0);
        let miss = |found: f64| (found / amdahl(12.0)[1]).ln().abs();
        assert!(miss(found) < 0.7 * miss(by_ernest) && miss(found) < 0.15, "{found} {by_ernest}");
    }
}
