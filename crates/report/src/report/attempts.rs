//! The costs of stragglers and copies, as rows of a report.

use crate::estimate::Measured;
use crate::mapreduce::AttemptReward;
use crate::report::summary::{Row, float_mean};
use crate::sim::Samples;

/// The means over replications, in the order of `rewards`, which are the first of the question.
pub(super) fn attempt_rows(rewards: &[AttemptReward], samples: &Samples, level: f64) -> Vec<Row> {
    let row = |(reward, values): (&AttemptReward, _)| {
        let quantity: Measured = float_mean(values, level)?;
        Some(Row { name: reward.name.to_owned(), unit: reward.unit.into(), quantity })
    };
    rewards.iter().zip(&samples.rewards).filter_map(row).collect()
}
