//! Mantri-like: a copy only if it probably saves resources, a restart if tasks wait. \[Ananthanarayanan2010\]
//!
//! With one attempt running, a copy that wins after t_new costs 2 t_new instead of t_rem. Mantri requires P(t_rem > 2
//! t_new) > δ; here t_new is drawn from the times of finished tasks. While tasks wait for slots it kills a task that
//! would finish sooner after a restart, t_rem > E(t_new) + Δ, at most γ times per task. Mantri's causes (network,
//! recomputation, order of input reads) are not modelled.

use serde::{Deserialize, Serialize};

use crate::cluster::detect::view::{Detector, Flag, Remedy, View};

/// The rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Mantri {
    /// δ, probability with which a copy must save resources, 0 to 1. Default 0.25.
    pub probability: f64,
    /// Finished tasks before anything is flagged, >= 1. Default 10.
    pub min_finished: u32,
    /// Minimum progress before a task is judged, 0 to 1. Default 0.1.
    pub min_score: f64,
    /// γ, number of times a task may be killed and restarted elsewhere while other tasks wait. Default 3; 0
    /// means never.
    pub max_restarts: u32,
    /// Δ, minimum expected time that a restart must save \[s\], >= 0. Default 3, the time between two reports.
    pub restart_gain_s: f64,
    /// Time between two checks \[s\], > 0. Default 1.
    pub interval_s: f64,
}

impl Default for Mantri {
    fn default() -> Self {
        Self {
            probability: 0.25,
            min_finished: 10,
            min_score: 0.1,
            max_restarts: 3,
            restart_gain_s: 3.0,
            interval_s: 1.0,
        }
    }
}

impl Detector for Mantri {
    fn interval_s(&self) -> f64 {
        self.interval_s
    }

    fn least_finished(&self, _tasks: usize) -> usize {
        (self.min_finished as usize).max(1)
    }

    fn flag(&self, view: &View<'_>, flags: &mut Vec<Flag>) {
        let times = &view.finished.times_s;
        let Some(mean) = view.finished.mean_s().filter(|_| times.len() >= self.least_finished(view.tasks)) else {
            return;
        };
        let judged = |score: f64| score > 0.0 && score >= self.min_score;
        for (position, task) in view.running.iter().enumerate().filter(|(_, task)| task.open && judged(task.score)) {
            let total = task.elapsed_s / task.score;
            let left = (task.start_s + total - view.now_s).max(0.0);
            let saves = times.partition_point(|&time| 2.0 * time < left) as f64 / times.len() as f64;
            let sooner = left > mean + self.restart_gain_s;
            if view.waiting > 0 && task.restarts < self.max_restarts && sooner {
                flags.push(Flag { position, urgency: left, remedy: Remedy::Restart });
            } else if saves > self.probability {
                flags.push(Flag { position, urgency: left, remedy: Remedy::Copy });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::detect::view::{Category, Finished, RunningTask};

    /// Returns the remedy for a task of age 20 s and score `score`, if finished tasks took 10 s and other tasks may wait.
    fn remedy(score: f64, waiting: u32, restarts: u32) -> Option<Remedy> {
        let mut finished = Finished::default();
        (0..10).for_each(|_| finished.push(10.0, 1.0));
        let task = RunningTask {
            task: 0,
            node: 0,
            start_s: 0.0,
            elapsed_s: 20.0,
            score,
            size: 1.0,
            is_copy: false,
            open: true,
            restarts,
        };
        let view = View {
            now_s: 20.0,
            category: Category::Map,
            tasks: 20,
            running: &[task],
            waiting,
            finished: &finished,
            nodes: &[],
            last_request_s: None,
        };
        let mut flags = Vec::new();
        Mantri::default().flag(&view, &mut flags);
        flags.first().map(|flag| flag.remedy)
    }

    #[test]
    fn a_restart_where_tasks_wait_and_a_copy_where_none_does() {
        // score 0.5: 20 s remain, and two new attempts take as long; 0.4: 30 s; 0.65: 10.8 s
        assert_eq!([remedy(0.5, 0, 0), remedy(0.4, 0, 0)], [None, Some(Remedy::Copy)]);
        assert_eq!([remedy(0.5, 1, 0), remedy(0.65, 1, 0)], [Some(Remedy::Restart), None]);
        assert_eq!([remedy(0.5, 1, 3), remedy(0.4, 1, 3)], [None, Some(Remedy::Copy)]);
    }
}
