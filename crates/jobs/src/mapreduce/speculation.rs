//! Speculation in a net: the flagged tasks, the times of their flags, and their copies.
//!
//! Defines the settings of a detector in a net: its quality, not its algorithm. A GSPN has no progress scores. So the
//! fate of a task (straggler or not, flagged or not) is drawn when the task starts, with the four probabilities of
//! \[Phan2018, 4.2\]. Recall, precision, latency and undetected time are then exactly the requested ones.

use serde::Deserialize;
use serde::Serialize;

use crate::cluster::first_order::{DetectorQuality, Fates, fates};
use crate::mapreduce::attempts::{Copies, weave};
use crate::mapreduce::augmented::{AugmentError, Augmented, CopySlots};
use crate::mapreduce::fate::Fate;
use crate::mapreduce::setting::{SettingProblem, range};
use crate::mapreduce::straggler::{Stragglers, straggle, usual_fate};
use crate::mapreduce::task_chain::TaskChain;
use crate::net::Net;

/// Response to stragglers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Speculation {
    /// Tasks that get a copy. Default `detect`.
    pub policy: CopyPolicy,
    /// r, share of stragglers that are flagged in time, 0 to 1. Default 0.6, as for LATE in scenario C2 of
    /// \[Phan2018, Table 6\]; the next two defaults are from the same table.
    pub recall: f64,
    /// p, share of flagged tasks that are stragglers and flagged in time, > 0 and <= 1. Default 0.82.
    pub precision: f64,
    /// DL, mean time from the start of a straggler to its flag, divided by its usual time, >= 0 and below the
    /// straggler's factor. Default 0.38.
    pub latency: f64,
    /// Share of flagged tasks that are stragglers but flagged too late, 0 to 1; these count as false positives. Default 0.
    pub fake: f64,
    /// Remaining time of a straggler when it is flagged too late, as a multiple of its usual time, above 0 and below 1.
    /// Default 0.5.
    pub fake_left: f64,
    /// UT, mean time of missed stragglers divided by their usual time, >= 1. Default: the mean of all stragglers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undetected: Option<f64>,
    /// Time from the start of a normal task to its flag, as a multiple of its usual time, 0 to below 1. Default 0.5, as
    /// in \[Phan2018, 4.2\].
    pub false_alarm_at: f64,
    /// Probability that a copy also draws a slow node, 0 to 1. Default: as for tasks. Use 0 if slow nodes get no copies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_copies: Option<f64>,
    /// Slots that copies take. Default `idle`.
    pub slots: CopySlots,
}

impl Default for Speculation {
    fn default() -> Self {
        Self {
            policy: CopyPolicy::Detect,
            recall: 0.6,
            precision: 0.82,
            latency: 0.38,
            fake: 0.0,
            fake_left: 0.5,
            undetected: None,
            false_alarm_at: 0.5,
            slow_copies: None,
            slots: CopySlots::Idle,
        }
    }
}

/// Tasks that get a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CopyPolicy {
    /// No task.
    None,
    /// Flagged tasks.
    #[default]
    Detect,
    /// Every task, when it starts. \[Ananthanarayanan2013\]
    Clone,
}

impl Speculation {
    /// Creates a detector with the measured quality; α and the factors belong to [`Stragglers`].
    pub fn of_quality(quality: &DetectorQuality) -> Self {
        Self {
            recall: quality.recall,
            precision: quality.precision,
            latency: quality.detection_latency,
            undetected: Some(quality.undetected_time.max(1.0)),
            ..Self::default()
        }
    }

    /// Returns the first setting that is invalid in combination with these stragglers, with its key; none for
    /// valid settings.
    pub fn problem(&self, stragglers: &Stragglers) -> Option<(&'static str, SettingProblem)> {
        let share = |value: f64| (0.0..=1.0).contains(&value);
        let below_one = "at least 0 and below 1";
        let left = self.fake_left;
        let slow = self.slow_copies.unwrap_or(0.0);
        let undetected = self.undetected.unwrap_or(1.0);
        let ranges = [
            (
                "fake",
                range((0.0..1.0).contains(&self.fake), "the share of tasks flagged too late", self.fake, below_one),
            ),
            (
                "fake_left",
                range(
                    left > 0.0 && left < 1.0,
                    "the remaining time of a straggler flagged too late",
                    left,
                    "above 0 and below 1",
                ),
            ),
            (
                "undetected",
                range(undetected.is_finite() && undetected >= 1.0, "the undetected time", undetected, "at least 1"),
            ),
            (
                "false_alarm_at",
                range(
                    (0.0..1.0).contains(&self.false_alarm_at),
                    "the time of a false alarm",
                    self.false_alarm_at,
                    below_one,
                ),
            ),
            ("slow_copies", range(share(slow), "the share of slow copies", slow, "between 0 and 1")),
        ];
        if let Some((key, Some(problem))) = ranges.into_iter().find(|(_, problem)| problem.is_some()) {
            return Some((key, problem));
        }
        if self.policy != CopyPolicy::Detect {
            return None;
        }
        self.fates(stragglers).err()
    }

    /// Returns the quality of the detector with these stragglers.
    pub fn quality(&self, stragglers: &Stragglers) -> DetectorQuality {
        DetectorQuality {
            stragglers: stragglers.share,
            precision: self.precision,
            recall: self.recall,
            detection_latency: self.latency,
            undetected_time: self.undetected.unwrap_or_else(|| stragglers.mean_factor()),
        }
    }

    /// Returns the possible fates of a task, with probabilities above 0; unflagged fates come first.
    fn fates<'a>(&self, stragglers: &'a Stragglers) -> Result<Vec<Fate<'a>>, (&'static str, SettingProblem)> {
        let Fates { detected, missed, flagged, normal } =
            fates(&self.quality(stragglers)).map_err(|error| ("recall", error.into()))?;
        let late = self.fake * detected / self.precision;
        if late > missed.min(flagged) {
            let problem = SettingProblem::Fake { fake: self.fake, recall: self.recall, precision: self.precision };
            return Err(("fake", problem));
        }
        let mut all = vec![usual_fate("usual", normal + late, None)];
        match self.undetected {
            Some(factor) => all.push(Fate {
                name: "missed".to_owned(),
                probability: missed - late,
                factor,
                law: stragglers.distribution.as_ref(),
                flagged_at: None,
            }),
            None => all.extend(stragglers.slow("missed", missed - late, |_| None)),
        }
        all.extend(stragglers.slow("caught", detected, |_| Some(self.latency)));
        all.extend(stragglers.slow("late", late, |factor| Some(factor - self.fake_left)));
        all.push(usual_fate("alarm", flagged - late, Some(self.false_alarm_at)));
        all.retain(|fate| fate.probability > 0.0);
        for fate in &all {
            // a flag at the very end would be a race with nothing left to run
            if let Some(at) = fate.flagged_at.filter(|at| *at > fate.factor * (1.0 - 1e-6)) {
                return Err(("latency", SettingProblem::AfterTheEnd { at, factor: fate.factor }));
            }
        }
        Ok(all)
    }
}

/// Returns the net in which each of the chains may be a straggler, may be flagged, and gets a copy if it is flagged.
///
/// * *Flagged tasks.* The outcome of a task is drawn at its start \[Phan2018, 4.2\]. A task is a straggler flagged in
///   time with probability rα, a missed straggler with (1 − r)α, and a false positive with rα(1 − p)/p; otherwise it is
///   normal and not flagged. A share `fake` of all flags comes too late: these tasks are stragglers with less than
///   their typical time remaining. They count as missed stragglers and as false positives. Negative probabilities are
///   refused.
/// * *Time of the flag.* The stage that contains the flag is split in two, so that the mean time to the flag is DL
///   typical times. Each part keeps the shape of the stage's distribution: the mean of the task stays, its variance is
///   lower.
/// * *The copy* waits for a slot, see [`CopySlots`], and draws a slow node with a separate probability.
/// * *The race.* The attempt that finishes first ends the task as its last stage did; the other attempt is killed at
///   the same moment, wherever it is, and its slot is free.
///
/// # Errors
///
/// All variants of [`AugmentError`].
pub fn speculate(
    net: &Net,
    chains: &[TaskChain],
    stragglers: &Stragglers,
    speculation: &Speculation,
) -> Result<Augmented, AugmentError> {
    let problem = stragglers.problem().or_else(|| speculation.problem(stragglers));
    if let Some((_, problem)) = problem {
        return Err(problem.into());
    }
    let slow_copies = speculation.slow_copies.unwrap_or(stragglers.share);
    let copies =
        Copies { kinds: stragglers.draws("copy", "copySlow", slow_copies, Some(0.0)), slots: speculation.slots };
    match speculation.policy {
        CopyPolicy::None => straggle(net, chains, stragglers),
        CopyPolicy::Clone => {
            weave(net, chains, &stragglers.draws("usual", "slow", stragglers.share, Some(0.0)), &copies)
        }
        CopyPolicy::Detect => {
            let fates = speculation.fates(stragglers).map_err(|(_, problem)| problem)?;
            weave(net, chains, &fates, &copies)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fifth of the tasks are stragglers, half of them caught: 0.1 of all tasks, which are 0.8 of the flags. So 0.125 of all tasks are flagged, a
    /// tenth of these too late, and the rest of the flags are false alarms. Fails if the share of late flags is applied
    /// to the caught stragglers.
    #[test]
    fn fates_have_the_recall_the_precision_and_the_late_flags_that_were_asked_for() {
        let stragglers = Stragglers { share: 0.2, ..Stragglers::default() };
        let speculation = Speculation { recall: 0.5, precision: 0.8, fake: 0.1, ..Speculation::default() };
        let fates = speculation.fates(&stragglers).unwrap();
        let found: Vec<(&str, f64)> = fates.iter().map(|fate| (fate.name.as_str(), fate.probability)).collect();
        let expected = [("usual", 0.7875), ("missed", 0.0875), ("caught", 0.1), ("late", 0.0125), ("alarm", 0.0125)];
        let near = |((a, x), (b, y)): (&(&str, f64), &(&str, f64))| a == b && (x - y).abs() < 1e-12;
        assert!(found.len() == 5 && found.iter().zip(&expected).all(near), "{found:?}");
        assert!((found.iter().map(|(_, probability)| probability).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
