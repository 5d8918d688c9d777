//! A price of machines by time, as text: `0.30/executor-hour`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use tailspn_common::explain::{ErrorKind, Explain};

use crate::plan::JobPlan;

/// Seconds of an hour.
const HOUR: f64 = 3600.0;

/// A price of machines by time.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// The cost of one unit, above 0.
    pub amount: f64,
    /// The currency, a label only; empty if not given.
    pub currency: String,
    /// The unit.
    pub unit: PriceUnit,
    /// The price as it was written, for messages.
    text: String,
}

/// The unit of a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceUnit {
    /// An executor for an hour, however many cores it has.
    ExecutorHour,
    /// A core of an executor for an hour.
    CoreHour,
    /// A worker of a MapReduce cluster for an hour.
    NodeHour,
}

impl PriceUnit {
    /// All units.
    pub const ALL: [Self; 3] = [Self::ExecutorHour, Self::CoreHour, Self::NodeHour];

    /// Returns the units of the prices of a job, the default first.
    pub(crate) fn of(job: &JobPlan) -> &'static [Self] {
        match job {
            JobPlan::Stages(_) => &[Self::CoreHour, Self::ExecutorHour],
            JobPlan::MapReduce(_) => &[Self::NodeHour],
            JobPlan::Tasks(_) => &[],
        }
    }

    /// The name in prices.
    pub fn key(self) -> &'static str {
        match self {
            Self::ExecutorHour => "executor-hour",
            Self::CoreHour => "core-hour",
            Self::NodeHour => "node-hour",
        }
    }
}

/// Reason why a price cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PriceError {
    /// A text that is not a price: an amount above 0, `/` and a unit.
    #[error("`{text}` is not a price, such as `0.30/executor-hour`, `$0.05/core-hour` or `0.40 EUR/node-hour`")]
    Text {
        /// The text.
        text: String,
    },
    /// A price in a unit that the job does not count; use one of the job's units.
    #[error("the price `{text}` does not apply to {job}, which has prices for {counts}")]
    Unit {
        /// The price as it was written.
        text: String,
        /// The kind of job.
        job: &'static str,
        /// The machines that such a job counts, with the units of prices.
        counts: &'static str,
    },
    /// A cluster with several kinds of workers, so there is no single number of workers to vary. A plan with `[optimize]` can have an axis for each kind.
    #[error("the job has {kinds} kinds of workers, but the search varies the number of only one kind")]
    SeveralKinds {
        /// The number of kinds.
        kinds: usize,
    },
    /// A job that only the cluster simulator can run.
    #[error("the number of machines cannot be optimised for a plan that lists individual tasks")]
    Tasks,
    /// A job without a deadline, for which the cheapest size would be the slowest one.
    #[error("the job has no deadline")]
    NoDeadline,
}

impl Price {
    /// Returns a price of 1 per unit without a currency, so that the cost is the number of units.
    pub fn one(unit: PriceUnit) -> Self {
        Self { amount: 1.0, currency: String::new(), unit, text: format!("1/{}", unit.key()) }
    }

    /// Checks that a job has the machines of the price.
    ///
    /// # Errors
    ///
    /// [`PriceError::Unit`], and [`PriceError::Tasks`] for a job that only the cluster simulator can run.
    pub fn check(&self, job: &JobPlan) -> Result<(), PriceError> {
        let units = PriceUnit::of(job);
        let (job, counts) = match job {
            JobPlan::Stages(_) => ("a job of stages", "executors and cores (/executor-hour, /core-hour)"),
            JobPlan::MapReduce(_) => ("a MapReduce job", "workers (/node-hour)"),
            JobPlan::Tasks(_) => return Err(PriceError::Tasks),
        };
        if units.contains(&self.unit) { Ok(()) } else { Err(PriceError::Unit { text: self.text.clone(), job, counts }) }
    }

    /// Returns the cost of each second of a job on all of its machines.
    pub(crate) fn of_second(&self, job: &JobPlan) -> f64 {
        let counted = match (job, self.unit) {
            (JobPlan::Stages(plan), PriceUnit::CoreHour) => f64::from(plan.job.executors) * f64::from(plan.job.cores),
            (JobPlan::Stages(plan), _) => f64::from(plan.job.executors),
            (JobPlan::MapReduce(plan), _) => plan.workers() as f64,
            (JobPlan::Tasks(_), _) => 0.0,
        };
        counted * self.amount / HOUR
    }

    /// Returns the cost of each second of a job, as an expression over `nodes` and, for prices per core, `cores`.
    pub(in crate::optimize) fn per_second(&self) -> String {
        let counted = match self.unit {
            PriceUnit::ExecutorHour | PriceUnit::NodeHour => "nodes",
            PriceUnit::CoreHour => "nodes * cores",
        };
        format!("{counted} * {} / {HOUR}", self.amount)
    }

    /// Returns the unit of a cost: the currency, or for a price of 1 without a currency, the unit of the price.
    pub fn cost_unit(&self) -> String {
        let is_one = (self.amount - 1.0).abs() < f64::EPSILON;
        if self.currency.is_empty() && is_one { format!("{}s", self.unit.key()) } else { self.currency.clone() }
    }
}

impl FromStr for Price {
    type Err = PriceError;

    /// Reads an amount, optionally with a currency before or after it, then `/` and a unit: `0.30/executor-hour`, `$1/core-hour`.
    fn from_str(text: &str) -> Result<Self, PriceError> {
        let wrong = || PriceError::Text { text: text.to_owned() };
        let (amount, unit) = text.rsplit_once('/').ok_or_else(wrong)?;
        let unit = match unit.trim().to_ascii_lowercase().as_str() {
            "worker-hour" => PriceUnit::NodeHour,
            name => PriceUnit::ALL.into_iter().find(|unit| unit.key() == name).ok_or_else(wrong)?,
        };
        let amount = amount.trim();
        let is_digit = |c: char| c.is_ascii_digit() || c == '.';
        let (start, end) = (amount.find(is_digit).ok_or_else(wrong)?, amount.rfind(is_digit).ok_or_else(wrong)? + 1);
        let (before, after) = (amount[..start].trim(), amount[end..].trim());
        let currency = match (before, after) {
            (label, "") | ("", label) if !label.contains(['-', '+', '/']) => label.to_owned(),
            _ => return Err(wrong()),
        };
        let amount: f64 = amount[start..end].parse().map_err(|_| wrong())?;
        let text = text.to_owned();
        if amount > 0.0 && amount.is_finite() { Ok(Self { amount, currency, unit, text }) } else { Err(wrong()) }
    }
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = if self.currency.chars().all(char::is_alphabetic) && !self.currency.is_empty() { " " } else { "" };
        write!(f, "{}{space}{}/{}", self.currency, self.amount, self.unit.key())
    }
}

impl Explain for PriceError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::NoDeadline => "add --deadline TIME".into(),
            Self::SeveralKinds { .. } => {
                "write a plan with [optimize] and an axis for each kind; see docs/sensitivity.md".into()
            }
            Self::Tasks => "use `tailspn whatif PLAN`".into(),
            Self::Text { .. } | Self::Unit { .. } => {
                "write --price as 0.30/executor-hour, 0.05/core-hour or 0.40/node-hour".into()
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_read_as_people_write_them() {
        let read = |text: &str| text.parse::<Price>().map(|price| (price.amount, price.currency.clone(), price.unit));
        let is = |amount, currency: &str, unit| Ok((amount, currency.to_owned(), unit));
        assert_eq!(read("0.30/executor-hour"), is(0.3, "", PriceUnit::ExecutorHour));
        assert_eq!(read("$0.05/core-hour"), is(0.05, "$", PriceUnit::CoreHour));
        assert_eq!(read(" 0.4 EUR / Node-Hour"), is(0.4, "EUR", PriceUnit::NodeHour));
        assert_eq!(read("EUR 2/worker-hour"), is(2.0, "EUR", PriceUnit::NodeHour));
        for wrong in [
            "",
            "0.3",
            "0/core-hour",
            "-1/core-hour",
            "x/core-hour",
            "1/gpu-hour",
            "1.2.3/core-hour",
            "$1 EUR/core-hour",
        ] {
            assert_eq!(read(wrong), Err(PriceError::Text { text: wrong.to_owned() }), "{wrong}");
        }
    }

    #[test]
    fn a_price_becomes_a_cost_per_second() {
        let price: Price = "$3.6/core-hour".parse().unwrap();
        assert_eq!((price.to_string(), price.cost_unit()), ("$3.6/core-hour".to_owned(), "$".to_owned()));
        let cost = crate::optimize::Cost::parse(&price.per_second()).unwrap();
        // 5 executors of 4 cores: 20 core-hours per hour, $72 per hour
        assert!((cost.at(&[("nodes", 5.0), ("cores", 4.0)]).unwrap() - 0.02).abs() < 1e-12);
        assert_eq!(Price::one(PriceUnit::CoreHour).cost_unit(), "core-hours");
        assert_eq!("EUR 2/node-hour".parse::<Price>().unwrap().to_string(), "EUR 2/node-hour");
    }
}
