//! Translates the groups and rewards of a job to groups and rewards of a simulation.

use crate::compile::{Code, lower_reward};
use crate::mapreduce::AttemptReward;
use crate::net::{Net, TransitionId};
use crate::sim::{Group, Reward};

/// A group of transitions of a net.
pub(super) fn group(name: &str, transitions: &[TransitionId]) -> Group {
    Group { name: name.to_owned(), transitions: transitions.iter().map(number).collect() }
}

/// The number of a transition in its program.
fn number(id: &TransitionId) -> u32 {
    u32::try_from(id.index()).expect("a program numbers its transitions with 32 bits")
}

/// Returns the cost of an attempt as a reward that a simulation collects.
pub fn collected(net: &Net, reward: &AttemptReward) -> Reward {
    Reward {
        name: reward.name.to_owned(),
        rate: reward.rate.as_ref().map(|rate| lower_reward(net, rate)),
        impulses: reward.impulses.iter().map(|(t, amount)| (number(t), Code::constant(*amount))).collect(),
    }
}
