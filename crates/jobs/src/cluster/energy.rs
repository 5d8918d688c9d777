//! Power of a node by the number of its tasks, and the power that one more task adds.

use crate::cluster::plan::Power;

/// Power of a node that runs `tasks` on `cores` active cores \[W\]. \[Phan2018, 4.1\]
///
/// ```text
/// P(0) = idle,   P(n) = P_static + min(n, c) P_dyn
/// ```
///
/// The paper's node is turned off without a task: `idle_w` 0. With the paper's values a node of four cores draws 82, 99, 116, 133 W and no more:
///
/// ```
/// # use tailspn_jobs::cluster::{Power, energy::node_power};
/// let power = Power { static_w: 65.0, dynamic_w: 17.0, idle_w: 0.0 };
/// let watts: Vec<f64> = (0..=5).map(|n| node_power(&power, n, 4.0)).collect();
/// assert_eq!(watts, [0.0, 82.0, 99.0, 116.0, 133.0, 133.0]);
/// ```
pub fn node_power(power: &Power, tasks: u32, cores: f64) -> f64 {
    if tasks == 0 { power.idle_w } else { power.static_w + f64::from(tasks).min(cores) * power.dynamic_w }
}

/// State of a node that determines the power of one more task. \[Phan2018, 4.1\]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeClass {
    /// A: the node is off, and a task switches it on, which adds P_static + P_dyn.
    Off,
    /// B: a core is free, and a task adds P_dyn.
    FreeCore,
    /// C: all cores are busy, and a task adds no power.
    FreeSlot,
    /// No slot is free.
    Full,
}

impl NodeClass {
    /// Returns the class of a node with `tasks` on `cores` cores and `slots` slots.
    pub fn of(tasks: u32, cores: u32, slots: u32) -> Self {
        match tasks {
            n if n >= slots => Self::Full,
            0 => Self::Off,
            n if n < cores => Self::FreeCore,
            _ => Self::FreeSlot,
        }
    }

    /// Returns the power that one more task adds \[W\]; none if the task has no slot.
    pub fn increment(self, power: &Power) -> Option<f64> {
        match self {
            Self::Off => Some(power.static_w + power.dynamic_w - power.idle_w),
            Self::FreeCore => Some(power.dynamic_w),
            Self::FreeSlot => Some(0.0),
            Self::Full => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn increments_are_differences_of_the_power() {
        for idle_w in [0.0, 65.0] {
            let power = Power { idle_w, ..Power::default() };
            for tasks in 0..8 {
                let step = node_power(&power, tasks + 1, 4.0) - node_power(&power, tasks, 4.0);
                assert_eq!(NodeClass::of(tasks, 4, 8).increment(&power), Some(step), "{tasks} tasks");
            }
        }
        assert_eq!(NodeClass::of(8, 4, 8).increment(&Power::default()), None);
    }

    #[test]
    fn classes_are_those_of_the_paper() {
        let classes: Vec<_> = (0..=8).map(|n| NodeClass::of(n, 4, 8)).collect();
        assert_eq!(classes[0], NodeClass::Off);
        assert!(classes[1..4].iter().all(|class| *class == NodeClass::FreeCore));
        assert!(classes[4..8].iter().all(|class| *class == NodeClass::FreeSlot));
        assert_eq!(classes[8], NodeClass::Full);
    }
}
