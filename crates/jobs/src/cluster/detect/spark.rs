//! Spark: flags tasks that run longer than a multiple of the median of finished tasks, once most have
//! finished. \[Spark2024\]

use serde::{Deserialize, Serialize};

use crate::cluster::detect::view::{Detector, Flag, Remedy, View};

/// The rule, with the names of Spark's settings; defaults as in Spark 4.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Spark {
    /// Multiple of the median above which a task is too long, > 0. Default 3; 1.5 before Spark 4.
    pub multiplier: f64,
    /// Share of the tasks that must have finished before anything is flagged, 0 to 1. Default 0.9; 0.75 before Spark 4.
    pub quantile: f64,
    /// Time between two checks \[s\], > 0. Default 0.1.
    pub interval_s: f64,
    /// Time up to which a task is never too long \[s\], >= 0. Default 0.1.
    pub min_runtime_s: f64,
    /// Exemption of tasks that process their input fast enough. Default on.
    pub efficiency: Efficiency,
}

/// Exemption of slow tasks that process their input fast enough.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Efficiency {
    /// True if such tasks are exempted. Default true.
    pub enabled: bool,
    /// Share of the mean speed of finished tasks below which a task over the time limit is flagged, > 0. Default 0.75.
    pub rate_multiplier: f64,
    /// Multiple of the time limit beyond which a task is flagged at any speed, > 0. Default 2.
    pub long_factor: f64,
}

impl Default for Spark {
    fn default() -> Self {
        let efficiency = Efficiency::default();
        Self { multiplier: 3.0, quantile: 0.9, interval_s: 0.1, min_runtime_s: 0.1, efficiency }
    }
}

impl Default for Efficiency {
    fn default() -> Self {
        Self { enabled: true, rate_multiplier: 0.75, long_factor: 2.0 }
    }
}

impl Detector for Spark {
    fn interval_s(&self) -> f64 {
        self.interval_s
    }

    fn least_finished(&self, tasks: usize) -> usize {
        (self.quantile * tasks as f64).floor().max(1.0) as usize
    }

    fn flag(&self, view: &View<'_>, flags: &mut Vec<Flag>) {
        let finished = view.finished.count();
        let enough = finished >= self.least_finished(view.tasks);
        let Some(median) = view.finished.median_s().filter(|_| enough) else { return };
        let too_long = (self.multiplier * median).max(self.min_runtime_s);
        let mean_speed = view.finished.speed_sum / finished as f64;
        for (position, task) in view.running.iter().enumerate().filter(|(_, task)| task.open) {
            let age = view.now_s - task.start_s;
            let slow = || task.score * task.size < self.efficiency.rate_multiplier * mean_speed * age;
            let inefficient = !self.efficiency.enabled || age > self.efficiency.long_factor * too_long || slow();
            if age > too_long && inefficient {
                flags.push(Flag { position, urgency: age, remedy: Remedy::Copy });
            }
        }
    }
}
