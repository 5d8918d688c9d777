//! The time of the next run at a setting, with its interval.
//!
//! A setting with runs is its own prediction: the median of the runs. Another one is predicted from the settings that differ from it in the size alone, in the
//! number of machines alone, or in both, and the two are combined by the inverses of their squared units of error. The half width of an interval, in
//! logarithms, is a unit of error times a factor, which is the one that contains nine of ten runs of left-out settings ([`LeftOutRuns`]).

use std::borrow::Cow;

use tailspn_common::explain::{ErrorKind, Explain};
use tailspn_engine::estimate::{normal_cdf, normal_quantile};

use crate::curve::{Basis, Curve, Guess};
use crate::left_out::{Calibration, LeftOutRuns};
use crate::runs::{Group, RunTable};
use crate::sizes::at_size;

/// Unit of error of a ratio of times on two numbers of machines, and for each unit of the logarithm of the size from where it was measured.
const RATIO: [f64; 2] = [0.05, 0.05];

/// A setting to predict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// Position of the group.
    pub group: usize,
    /// Size of the input, in the unit of the table; 1 if the table has no sizes.
    pub size: f64,
    /// Number of machines; 1 if the table has none.
    pub machines: f64,
}

/// The time of the next run at a setting: its logarithm has a normal distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The runs that it is made from.
    pub basis: Basis,
    /// Number of runs at the setting itself.
    pub runs: usize,
    /// Logarithm of the median \[ln s\].
    pub(crate) log: f64,
    /// Half width of the 90% interval of the logarithm.
    pub(crate) half: f64,
}

/// Reason why a setting cannot be predicted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoPrediction {
    /// Another size than the only one that was measured.
    #[error("{runs} have only one size of the input")]
    OneSize {
        /// The runs in question.
        runs: String,
    },
    /// Another number of machines than the only one that was measured.
    #[error("{runs} are all on the same number of machines")]
    OneCount {
        /// The runs in question.
        runs: String,
    },
}

impl Explain for NoPrediction {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Refused
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::OneSize { .. } => "add runs with another size, or leave out --input-size".into(),
            Self::OneCount { .. } => "add runs on another number of machines, or leave out --workers".into(),
        })
    }
}

/// A table of runs that predicts, with the proof on its own runs.
#[derive(Clone, Debug)]
pub struct RunModel {
    /// The runs.
    pub table: RunTable,
    /// The error of the prediction of each setting from the others.
    pub left_out: LeftOutRuns,
    calibration: Calibration,
}

impl RunModel {
    /// Returns the model of a table, after it has predicted each setting from the others.
    pub fn new(table: RunTable) -> Self {
        let (left_out, calibration) = LeftOutRuns::new(&table);
        Self { table, left_out, calibration }
    }

    /// Returns the time of the next run at a setting.
    ///
    /// # Errors
    ///
    /// [`NoPrediction`] if the runs of the group do not differ in what is asked about.
    pub fn predict(&self, target: &Target) -> Result<Prediction, NoPrediction> {
        let group = &self.table.groups[target.group];
        let runs = group.runs_at(target.size, target.machines);
        if let Some(log) = group.measured(target.size, target.machines) {
            return Ok(Prediction { basis: Basis::Measured, runs, log, half: self.calibration.noise(runs) });
        }
        let Some(guess) = group.guess(target.size, target.machines) else { return Err(self.refused(target)) };
        let basis = if guess.is_inside { Basis::Between } else { Basis::Beyond };
        Ok(Prediction { basis, runs, log: guess.log, half: self.calibration.half(guess) })
    }

    fn refused(&self, target: &Target) -> NoPrediction {
        let group = &self.table.groups[target.group];
        let named = self.table.roles.kinds.iter().zip(&group.kinds);
        let named: Vec<String> =
            named.map(|(&column, value)| format!("{}={value}", self.table.names[column])).collect();
        let runs = if named.is_empty() { "the runs".to_owned() } else { format!("the runs with {}", named.join(", ")) };
        if group.sizes.len() < 2 && !group.sizes.contains(&target.size) {
            NoPrediction::OneSize { runs }
        } else {
            NoPrediction::OneCount { runs }
        }
    }
}

impl Group {
    /// Returns the logarithm of the median of the runs at a setting.
    fn measured(&self, size: f64, machines: f64) -> Option<f64> {
        let size = self.sizes.iter().position(|own| *own == size)?;
        let machines = self.machines.iter().position(|own| *own == machines)?;
        self.median_at((size, machines))
    }

    /// Predicts a setting without runs; none if the runs do not tell.
    pub(crate) fn guess(&self, size: f64, machines: f64) -> Option<Guess> {
        let by_size =
            self.machines.iter().position(|own| *own == machines).and_then(|count| self.over_sizes(size, count));
        match (by_size, self.over_machines(size, machines)) {
            (Some(by_size), Some(by_machines)) => Some(combined(by_size, by_machines)),
            (None, None) => {
                self.machines.iter().position(|own| *own == machines).and_then(|count| self.in_proportion(size, count))
            }
            (one, other) => one.or(other),
        }
    }

    /// Predicts a size on measured machines by the ratio of the times on these and on other machines at another size, as near as possible.
    fn in_proportion(&self, size: f64, count: usize) -> Option<Guess> {
        let own = self.cells.keys().filter(|(_, other)| *other == count).map(|(own, _)| *own);
        let nearest = |own: &usize| (self.sizes[*own] / size).ln().abs();
        let own = own.min_by(|a, b| nearest(a).total_cmp(&nearest(b)))?;
        let far = |other: &usize| (self.machines[*other] / self.machines[count]).ln().abs();
        let others = self.cells.keys().filter(|(of, other)| *of == own && *other != count).map(|(_, other)| *other);
        let at_size = |other: usize| {
            let measured =
                self.sizes.iter().position(|own| *own == size).and_then(|size| self.median_at((size, other)));
            let measured = measured.map(|log| Guess { log, unit: 0.0, is_inside: true });
            measured.or_else(|| self.over_sizes(size, other))
        };
        let known = others.filter_map(|other| Some((other, at_size(other)?)));
        let (other, guess) = known.min_by(|(a, _), (b, _)| far(a).total_cmp(&far(b)))?;
        let log = guess.log + self.median_at((own, count))? - self.median_at((own, other))?;
        Some(Guess { log, unit: guess.unit.hypot(RATIO[0] + RATIO[1] * nearest(&own)), is_inside: false })
    }

    /// Predicts a size from other sizes on the same machines.
    fn over_sizes(&self, size: f64, count: usize) -> Option<Guess> {
        let point = |(place, own): (usize, &f64)| Some([*own, self.median_at((place, count))?]);
        let points: Vec<[f64; 2]> =
            self.sizes.iter().enumerate().filter(|(_, own)| **own != size).filter_map(point).collect();
        at_size(&points, size)
    }

    /// Predicts a number of machines from others. If the size has no runs, it is predicted on each first.
    fn over_machines(&self, size: f64, machines: f64) -> Option<Guess> {
        let measured = self.sizes.iter().position(|own| *own == size);
        let (mut squares, mut is_inside, mut by_size) = (0.0, true, 0);
        let mut points = Vec::new();
        for (count, &own) in self.machines.iter().enumerate().filter(|(_, own)| **own != machines) {
            let direct = measured.and_then(|size| self.median_at((size, count)));
            if let Some(log) = direct {
                points.push([own, log]);
            } else if let Some(guess) = self.over_sizes(size, count).or_else(|| self.in_proportion(size, count)) {
                squares += guess.unit.powi(2);
                is_inside &= guess.is_inside;
                by_size += 1;
                points.push([own, guess.log]);
            }
        }
        let guess = Curve::of_logs(points)?.guess(machines);
        let unit = (guess.unit.powi(2) + squares / f64::from(by_size.max(1))).sqrt();
        Some(Guess { unit, is_inside: guess.is_inside && is_inside, ..guess })
    }
}

/// Combines two predictions by the inverses of their squared units.
fn combined(a: Guess, b: Guess) -> Guess {
    // their errors are of the same runs, so the better one bounds what both together know
    let (weight, other) = (a.unit.powi(-2), b.unit.powi(-2));
    Guess {
        log: (weight * a.log + other * b.log) / (weight + other),
        unit: a.unit.min(b.unit).max(0.5 * (a.log - b.log).abs()),
        is_inside: a.is_inside || b.is_inside,
    }
}

impl Prediction {
    /// Returns the median \[s\].
    pub fn median_s(&self) -> f64 {
        self.log.exp()
    }

    /// Returns the interval that contains the next run with this probability \[s\].
    pub fn interval_s(&self, level: f64) -> [f64; 2] {
        let half = self.half * normal_quantile(0.5 + 0.5 * level) / normal_quantile(0.95);
        [(self.log - half).exp(), (self.log + half).exp()]
    }

    /// Returns the probability that the next run finishes within this time \[s\].
    pub fn within(&self, deadline_s: f64) -> f64 {
        normal_cdf((deadline_s.ln() - self.log) * normal_quantile(0.95) / self.half)
    }
}
