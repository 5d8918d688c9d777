//! The detector Default: flags a task whose progress score is below the mean score minus a gap. \[Dean2004, Phan2018,
//! Eq. 6\]

use serde::{Deserialize, Serialize};

use crate::cluster::detect::view::{Detector, Flag, Remedy, View};
use crate::cluster::formulas::default_flags;

/// Tasks whose scores are averaged for the mean score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MeanOver {
    /// Started tasks; finished tasks have a score of 1.
    #[default]
    Started,
    /// All tasks; waiting tasks have a score of 0: the paper's "total tasks", read literally.
    All,
}

/// The rule of Google's MapReduce and of Hadoop 0.20.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ByScore {
    /// Distance of a score below the mean score at which the task is flagged, 0 to 1. Default 0.2.
    pub gap: f64,
    /// Tasks whose scores are averaged for the mean score. Default `started`.
    pub mean: MeanOver,
    /// Minimum age at which a task may be flagged \[s\], >= 0. Default 0.
    pub min_age_s: f64,
    /// Time between two checks \[s\], > 0. Default 1.
    pub interval_s: f64,
}

impl Default for ByScore {
    fn default() -> Self {
        Self { gap: 0.2, mean: MeanOver::Started, min_age_s: 0.0, interval_s: 1.0 }
    }
}

impl Detector for ByScore {
    fn interval_s(&self) -> f64 {
        self.interval_s
    }

    fn flag(&self, view: &View<'_>, flags: &mut Vec<Flag>) {
        // copies do not count: a task has one score
        let originals = view.running.iter().filter(|task| !task.is_copy);
        let (scores, running) = originals.fold((0.0, 0_usize), |(sum, count), task| (sum + task.score, count + 1));
        let finished = view.finished.count();
        let count = match self.mean {
            MeanOver::Started => running + finished,
            MeanOver::All => view.tasks,
        };
        let mean = (scores + finished as f64) / count.max(1) as f64;
        for (position, task) in view.running.iter().enumerate() {
            let old_enough = view.now_s - task.start_s >= self.min_age_s;
            if task.open && old_enough && default_flags(task.score, mean, self.gap) {
                flags.push(Flag { position, urgency: -task.score, remedy: Remedy::Copy });
            }
        }
    }
}
