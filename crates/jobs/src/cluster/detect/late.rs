//! The detector LATE: flags tasks whose progress rate is below a threshold, which follows from the rates of the running
//! tasks. The task with the longest remaining time comes first. \[Zaharia2008\]

use serde::{Deserialize, Serialize};

use crate::cluster::detect::view::{Detector, Flag, Remedy, RunningTask, View};
use crate::cluster::formulas::{LateForm, late_threshold, mean_and_deviation, progress_rate};

/// The rule of \[Phan2018, Eqs. 7 to 10\], in either interpretation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Late {
    /// α, the slow task threshold, > 0. Default 1.
    pub threshold: f64,
    /// Interpretation of the threshold. Default `mean_minus_sd`.
    pub form: LateForm,
    /// Minimum age at which a task may be flagged \[s\], >= 0. Default 0; \[Zaharia2008\] waits for a minute.
    pub min_age_s: f64,
    /// Maximum number of simultaneous copies, as a share of the slots in use, > 0 to 1. Default 1: no cap; \[Zaharia2008\] uses 0.1.
    pub cap: f64,
    /// Time between two checks \[s\], > 0. Default 1.
    pub interval_s: f64,
}

impl Default for Late {
    fn default() -> Self {
        Self { threshold: 1.0, form: LateForm::MeanMinusSd, min_age_s: 0.0, cap: 1.0, interval_s: 1.0 }
    }
}

/// Returns the progress rate of a task; none before its first report.
fn rate(task: &RunningTask) -> Option<f64> {
    progress_rate(task.score, task.elapsed_s)
}

impl Late {
    /// Returns the number of additional tasks that may get a copy.
    fn room(&self, view: &View<'_>) -> usize {
        let copies = view.running.iter().filter(|task| task.is_copy).count();
        ((self.cap * view.running.len() as f64).floor() as usize).saturating_sub(copies)
    }
}

impl Detector for Late {
    fn interval_s(&self) -> f64 {
        self.interval_s
    }

    fn flag(&self, view: &View<'_>, flags: &mut Vec<Flag>) {
        let rates = view.running.iter().filter(|task| !task.is_copy).filter_map(rate);
        let Some((mean, deviation)) = mean_and_deviation(rates) else { return };
        let threshold = late_threshold(self.form, mean, deviation, self.threshold);
        for (position, task) in view.running.iter().enumerate() {
            let old_enough = view.now_s - task.start_s >= self.min_age_s;
            if let Some(rate) = rate(task).filter(|rate| task.open && old_enough && *rate < threshold) {
                // the remaining time; a task without progress is the worst
                flags.push(Flag {
                    position,
                    urgency: if rate > 0.0 { (1.0 - task.score) / rate } else { f64::MAX },
                    remedy: Remedy::Copy,
                });
            }
        }
        let room = if self.cap < 1.0 { self.room(view) } else { usize::MAX };
        if flags.len() > room {
            flags.sort_by(|a, b| b.urgency.total_cmp(&a.urgency));
            flags.truncate(room);
        }
    }
}
