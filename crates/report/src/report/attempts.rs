//! What stragglers and copies cost, as questions to a simulation and as rows of a report.

use crate::compile::{Code, lower};
use crate::estimate::Measured;
use crate::mapreduce::AttemptReward;
use crate::net::Net;
use crate::report::summary::{Row, float_mean};
use crate::sim::{Reward, Samples};

/// The reward as a simulation gathers it.
pub fn reward_to_gather(net: &Net, reward: &AttemptReward) -> Reward {
    let number = |id: &crate::net::TransitionId| {
        u32::try_from(id.index()).expect("a program numbers its transitions with 32 bits")
    };
    Reward {
        name: reward.name.to_owned(),
        rate: reward.rate.as_ref().map(|rate| lower(net, rate)),
        impulses: reward.impulses.iter().map(|(t, amount)| (number(t), Code::constant(*amount))).collect(),
    }
}

/// The means over replications, in the order of `rewards`, which are the first of the question.
pub(super) fn attempt_rows(rewards: &[AttemptReward], samples: &Samples, level: f64) -> Vec<Row> {
    let row = |(reward, values): (&AttemptReward, _)| {
        let quantity: Measured = float_mean(values, level)?;
        Some(Row { name: reward.name.to_owned(), unit: reward.unit.into(), quantity })
    };
    rewards.iter().zip(&samples.rewards).filter_map(row).collect()
}
