//! The job time of the next run, including run-to-run variation.

use serde::{Deserialize, Serialize};

use crate::ask::net::QUANTILES;
use crate::document::{Cell, Column, Number, Piece, Table};
use crate::report::number::{plain, quantile_name};
use crate::runs::{JobTimes, RunSpread};

/// A quantile of the job time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageQuantile {
    /// The probability.
    pub p: f64,
    /// The time \[s\].
    pub value_s: f64,
}

/// The job time of the next run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NextRun {
    /// The median job time of a future run \[s\].
    pub median_s: f64,
    /// Probability of the prediction interval.
    pub prediction_level: f64,
    /// Ends of the prediction interval of the next run's job time \[s\].
    pub prediction_s: [f64; 2],
    /// Quantiles of the job time of the next run.
    pub quantiles: Vec<StageQuantile>,
    /// Standard deviation of the logarithm of the factor between runs.
    pub run_sigma: f64,
}

impl NextRun {
    pub(super) fn new(times: &JobTimes, run: &RunSpread, level: f64) -> Self {
        Self {
            median_s: times.quantile(0.5),
            prediction_level: level,
            prediction_s: prediction_interval(times, level),
            quantiles: QUANTILES.iter().map(|&p| StageQuantile { p, value_s: times.quantile(p) }).collect(),
            run_sigma: run.sigma,
        }
    }

    /// Returns the prediction in words.
    pub(super) fn answer(&self) -> Vec<Piece> {
        prediction("/next_run", self.prediction_level, self.prediction_s, self.median_s)
    }

    /// Returns the table of the quantiles.
    pub(super) fn table(&self) -> Table {
        let note = format!(
            "Whole runs differ by {:.0}% (`[run]` of the plan). The other tables and pictures are of typical runs.",
            100.0 * self.run_sigma
        );
        let columns = [Column::new(""), Column::new("time").unit("s").key("next_run")];
        let mut table = Table::new("Job time of the next run", note, columns);
        table.rows = quantile_rows("/next_run", &self.quantiles);
        table
    }
}

/// Returns the prediction interval of the next run's time \[s\], of probability `level`.
pub(super) fn prediction_interval(times: &JobTimes, level: f64) -> [f64; 2] {
    [0.5 - 0.5 * level, 0.5 + 0.5 * level].map(|p| times.quantile(p))
}

/// Returns the sentence `With 90% probability, the next run takes between ...`.
pub(super) fn prediction(at: &str, level: f64, [low, high]: [f64; 2], median_s: f64) -> Vec<Piece> {
    vec![
        format!("With {}% probability, the next run takes between ", plain(100.0 * level)).into(),
        predicted(format!("{at}/prediction_s/0"), low).into(),
        " and ".into(),
        predicted(format!("{at}/prediction_s/1"), high).into(),
        "; half of the runs take less than ".into(),
        predicted(format!("{at}/median_s"), median_s).into(),
        ".".into(),
    ]
}

/// Returns the rows of a table with these quantiles.
pub(super) fn quantile_rows(at: &str, quantiles: &[StageQuantile]) -> Vec<Vec<Cell>> {
    let row = |(i, row): (usize, &StageQuantile)| {
        let number = predicted(format!("{at}/quantiles/{i}/value_s"), row.value_s);
        vec![quantile_name(row.p).into(), number.into()]
    };
    quantiles.iter().enumerate().map(row).collect()
}

/// Returns a time that a model predicts, with three digits.
pub(super) fn predicted(at: impl Into<String>, value: f64) -> Number {
    Number::new(at, value, "s").rounded(0.01 * value.abs())
}
