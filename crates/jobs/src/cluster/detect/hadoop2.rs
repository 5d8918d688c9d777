//! Hadoop 2 and 3 as shipped: one task per check, namely the task for which a copy would save most. \[Hadoop2014\]
//!
//! Follows `DefaultSpeculator` with `LegacyTaskRuntimeEstimator`. There, the threshold "mean plus σ of finished tasks"
//! only determines whether enough tasks have finished. A task is then flagged if a new attempt of mean length would
//! finish before it.

use serde::{Deserialize, Serialize};

use crate::cluster::detect::view::{Detector, Flag, Remedy, View};

/// The rule, with the names of Hadoop's settings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Hadoop2 {
    /// Share of the tasks that must have finished before anything is flagged, 0 to 1. Default 0.05; at least one task.
    pub min_finished: f64,
    /// Number of copies that are always allowed at a time. Default 10.
    pub min_copies: u32,
    /// Copies allowed at a time, as a share of all tasks. Default 0.01.
    pub share_of_tasks: f64,
    /// Copies allowed at a time, as a share of the running tasks. Default 0.1.
    pub share_of_running: f64,
    /// Time between two checks \[s\], > 0. Default 1.
    pub interval_s: f64,
    /// Time to the next check after a task was flagged \[s\], >= 0. Default 15.
    pub pause_s: f64,
}

impl Default for Hadoop2 {
    fn default() -> Self {
        Self {
            min_finished: 0.05,
            min_copies: 10,
            share_of_tasks: 0.01,
            share_of_running: 0.1,
            interval_s: 1.0,
            pause_s: 15.0,
        }
    }
}

/// Minimum progress in the divisor of the estimate.
const LEAST_PROGRESS: f64 = 1e-4;

impl Detector for Hadoop2 {
    fn interval_s(&self) -> f64 {
        self.interval_s
    }

    fn least_finished(&self, tasks: usize) -> usize {
        (self.min_finished * tasks as f64).ceil().max(1.0) as usize
    }

    fn flag(&self, view: &View<'_>, flags: &mut Vec<Flag>) {
        if view.last_request_s.is_some_and(|last| view.now_s - last < self.pause_s) {
            return;
        }
        let enough = view.finished.count() >= self.least_finished(view.tasks);
        let Some(mean) = view.finished.mean_s().filter(|_| enough) else { return };
        let copies = view.running.iter().filter(|task| task.is_copy).count();
        let running = view.running.len() - copies;
        let allowed = f64::from(self.min_copies)
            .max((self.share_of_tasks * view.tasks as f64).floor())
            .max((self.share_of_running * running as f64).floor());
        if copies as f64 >= allowed {
            return;
        }
        let mut best: Option<Flag> = None;
        for (position, task) in view.running.iter().enumerate().filter(|(_, task)| task.open) {
            let end = task.start_s + task.elapsed_s / task.score.max(LEAST_PROGRESS);
            let urgency = end - (view.now_s + mean);
            if urgency > 0.0 && best.is_none_or(|best| urgency > best.urgency) {
                best = Some(Flag { position, urgency, remedy: Remedy::Copy });
            }
        }
        flags.extend(best);
    }
}
