//! The time of the next run at a setting, with its interval.
//!
//! A setting with runs is its own prediction: the median of the runs. Another one is predicted from the settings that differ from it in the size alone, in the
//! number of machines alone, or in both, and the two are combined by the inverses of their squared units of error. The half width of an interval, in
//! logarithms, is a unit of error times a factor, which is the one that contains nine of ten runs of left-out settings ([`LeftOutRuns`]).

use std::borrow::Cow;

use tailspn_common::explain::{ErrorKind, Explain};
use tailspn_engine::estimate::{normal_cdf, normal_quantile};

use crate::curve::Basis;
use crate::known::Known;
use crate::left_out::{Calibration, LeftOutRuns};
use crate::runs::RunTable;

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
    /// Another size: the runs do not show its effect.
    #[error("{runs} do not show how the time depends on the size of the input")]
    OneSize {
        /// The runs in question.
        runs: String,
    },
    /// Another number of machines: the runs do not show its effect.
    #[error("{runs} do not show how the time depends on the number of machines")]
    OneCount {
        /// The runs in question.
        runs: String,
    },
    /// A run of too many tasks.
    #[error("a run of this size has {tasks} tasks, more than {most}")]
    ManyTasks {
        /// Number of tasks.
        tasks: u64,
        /// The maximum.
        most: u64,
    },
}

impl Explain for NoPrediction {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Refused
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::OneSize { .. } => "add runs with another size, or leave out --input-size".into(),
            Self::ManyTasks { .. } => "ask for a smaller input".into(),
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
    /// [`NoPrediction`] if the runs of the group do not differ in size or number of machines.
    pub fn predict(&self, target: &Target) -> Result<Prediction, NoPrediction> {
        let group = &self.table.groups[target.group];
        let runs = group.runs_at(target.size, target.machines);
        let known = Known::all(group);
        let at = known.size_of(target.size).zip(known.count_of(target.machines));
        if let Some(log) = at.and_then(|at| group.median_at(at)) {
            return Ok(Prediction { basis: Basis::Measured, runs, log, half: self.calibration.noise(runs) });
        }
        let Some(guess) = known.guess(target.size, target.machines) else { return Err(self.refused(target)) };
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
