//! Mantri-like: a copy only where it probably saves resources. \[Ananthanarayanan2010\]
//!
//! With one attempt running, a copy that wins after t_new costs 2 t_new instead of t_rem. Mantri asks for
//! P(t_rem > 2 t_new) > δ; here t_new is drawn from the times of finished tasks. Its causes (network, recomputation) and
//! its killing of originals are left out.

use crate::cluster::detect::view::Detector;
use crate::cluster::detect::view::Flag;
use crate::cluster::detect::view::View;
use serde::Deserialize;
use serde::Serialize;

/// The rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mantri {
    /// δ, probability that is asked for, 0 to 1. Default 0.25.
    pub probability: f64,
    /// Finished tasks before anything is flagged, >= 1. Default 10.
    pub min_finished: u32,
    /// Least progress before a task is judged, 0 to 1. Default 0.1.
    pub min_score: f64,
    /// Time between two looks \[s\], > 0. Default 1.
    pub interval_s: f64,
}

impl Default for Mantri {
    fn default() -> Self {
        Self { probability: 0.25, min_finished: 10, min_score: 0.1, interval_s: 1.0 }
    }
}

impl Detector for Mantri {
    fn interval_s(&self) -> f64 {
        self.interval_s
    }

    fn flag(&self, view: &View<'_>, flags: &mut Vec<Flag>) {
        let times = &view.finished.times_s;
        if times.len() < (self.min_finished as usize).max(1) {
            return;
        }
        let judged = |score: f64| score > 0.0 && score >= self.min_score;
        for (position, task) in view.running.iter().enumerate().filter(|(_, task)| task.open && judged(task.score)) {
            let total = task.elapsed_s / task.score;
            let left = (task.start_s + total - view.now_s).max(0.0);
            let saves = times.partition_point(|&time| 2.0 * time < left) as f64 / times.len() as f64;
            if saves > self.probability {
                flags.push(Flag { position, urgency: left });
            }
        }
    }
}
