//! The judgement whether a plan reproduces the runs that it was fitted to.
//!
//! A plan reproduces its runs if the 90% interval of its job time contains all of them but at most a tenth, if it is off by at most a factor of two for as
//! many, and by at most 30% on average, and if no stage's tasks take longer on average than the longest task in the logs. All other
//! answers of a plan that does not reproduce its runs are doubtful, so their intervals are widened until they contain the runs.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::runs::JobTimes;

/// Greatest factor by which the model may be off on average.
const OFF: f64 = 1.3;
/// Greatest factor by which the model may be off for all runs but a tenth.
const FAR_OFF: f64 = 2.0;
/// Factor between a run and the nearest end of a widened interval, because the interval of another simulation differs a little.
const BEYOND: f64 = 1.05;
/// Least spread of a model that does not reproduce its runs, so that its intervals can be widened.
pub(super) const LEAST_SPREAD: f64 = 0.02;

/// Result of a check of a plan on the runs that it was fitted to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OwnRunVerdict {
    /// It reproduces them.
    Reproduced,
    /// It does not reproduce them.
    NotReproduced,
    /// There is no run to prove it on.
    #[default]
    NotChecked,
}

/// The check of a plan on its own runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OwnRun {
    /// The result.
    pub verdict: OwnRunVerdict,
    /// Each run; empty if nothing was checked.
    pub runs: Vec<ReproducedRun>,
    /// The stages that the model does not reproduce in the run that it misses most; empty if it reproduces its runs.
    pub stages: Vec<MissedStage>,
    /// Powers that widen intervals below and above the median, so that they contain the runs.
    #[serde(skip)]
    pub stretch: Option<[f64; 2]>,
    /// True if the user wants all answers, although the plan does not reproduce its runs.
    pub is_trusted: bool,
}

/// A run, and the time that the model gives it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReproducedRun {
    /// The log.
    pub log: String,
    /// Logged time \[s\].
    pub logged_s: f64,
    /// The median time of the model \[s\].
    pub model_s: f64,
    /// The model's 90% interval for a run of this size, before it is widened \[s\].
    pub interval_s: [f64; 2],
}

/// A stage that the model does not reproduce.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissedStage {
    /// Number in the plan.
    pub stage: usize,
    /// Name.
    pub name: String,
    /// Time in the log \[s\].
    pub logged_s: f64,
    /// Time in the model \[s\].
    pub model_s: f64,
    /// Mean time of its slowest tasks in the model, and the longest time of a task in the logs, if the mean is longer \[s\].
    pub longer_s: Option<[f64; 2]>,
}

impl ReproducedRun {
    pub(super) fn new(log: &str, logged_s: f64, times: &JobTimes) -> Self {
        let [low_s, model_s, high_s] = [0.05, 0.5, 0.95].map(|p| times.quantile(p));
        Self { log: log.to_owned(), logged_s, model_s, interval_s: [low_s, high_s] }
    }

    /// Returns true if the interval contains the run.
    pub fn is_inside(&self) -> bool {
        (self.interval_s[0]..=self.interval_s[1]).contains(&self.logged_s)
    }

    /// Returns the logarithm of the model's time divided by the time of the run.
    pub(super) fn off(&self) -> f64 {
        (self.model_s / self.logged_s).ln()
    }

    /// Returns how much wider the interval has to be, below and above the median, to contain the run.
    fn stretch(&self) -> [f64; 2] {
        let ratio = |wanted: f64, end: f64| ((wanted / self.model_s).ln() / (end / self.model_s).ln()).max(1.0);
        let [low, high] = self.interval_s;
        if self.logged_s < low {
            [ratio(self.logged_s / BEYOND, low), 1.0]
        } else if self.logged_s > high {
            [1.0, ratio(self.logged_s * BEYOND, high)]
        } else {
            [1.0, 1.0]
        }
    }
}

impl OwnRun {
    /// Returns true if the plan was checked and does not reproduce its runs.
    pub fn is_misfit(&self) -> bool {
        self.verdict == OwnRunVerdict::NotReproduced
    }

    /// Returns the check of a replay on its log; not checked without a time of the replay.
    pub fn of_replay(log: &str, logged_s: f64, model_s: f64, is_reproduced: bool) -> Self {
        if !model_s.is_finite() {
            return Self::default();
        }
        let verdict = if is_reproduced { OwnRunVerdict::Reproduced } else { OwnRunVerdict::NotReproduced };
        let run = ReproducedRun { log: log.to_owned(), logged_s, model_s, interval_s: [model_s, model_s] };
        Self { verdict, runs: vec![run], ..Self::default() }
    }

    /// Returns true if no advice may rest on the plan.
    pub fn forbids_advice(&self) -> bool {
        self.is_misfit() && !self.is_trusted
    }

    /// Returns the job times, widened if the plan does not reproduce its runs.
    pub(super) fn widened(&self, times: JobTimes) -> JobTimes {
        match self.stretch {
            Some(stretch) => times.stretched(stretch),
            None => times,
        }
    }

    /// Returns the factors by which the model is too long and too short for some run: the least ratio of a logged time to the model's, at most 1, and the
    /// greatest, at least 1. None unless the plan does not reproduce its runs.
    pub fn miss(&self) -> Option<[f64; 2]> {
        let ratios = || self.runs.iter().map(|run| run.logged_s / run.model_s).filter(|ratio| ratio.is_finite());
        self.is_misfit().then(|| [ratios().fold(1.0, f64::min), ratios().fold(1.0, f64::max)])
    }

    /// Returns the spread between runs; not 0 if the plan does not reproduce its runs.
    pub(super) fn error(&self, error: f64) -> f64 {
        if self.is_misfit() { error.max(LEAST_SPREAD) } else { error }
    }

    /// Judges the runs; `longer` are the stages whose tasks take too long in all runs.
    pub(super) fn judged(runs: Vec<ReproducedRun>, longer: &[MissedStage]) -> Self {
        if runs.is_empty() {
            return Self::default();
        }
        let outside = runs.iter().filter(|run| !run.is_inside()).count();
        let off = runs.iter().map(ReproducedRun::off).sum::<f64>() / runs.len() as f64;
        // an interval from runs that differ much contains them all, and proves nothing
        let far = runs.iter().filter(|run| run.off().abs() > FAR_OFF.ln()).count();
        let fits = outside.max(far) <= runs.len() / 10 && off.abs() <= OFF.ln() && longer.is_empty();
        if fits {
            return Self { verdict: OwnRunVerdict::Reproduced, runs, ..Self::default() };
        }
        let stretch =
            runs.iter().map(ReproducedRun::stretch).fold([1.0_f64, 1.0], |[a, b], [c, d]| [a.max(c), b.max(d)]);
        Self { verdict: OwnRunVerdict::NotReproduced, runs, stretch: Some(stretch), ..Self::default() }
    }
}

/// A part of a sentence about a check.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// Words.
    Words(String),
    /// A time, and its position in the JSON of the check.
    Seconds {
        /// The position.
        at: String,
        /// The time \[s\].
        seconds: f64,
    },
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(words) => f.write_str(words),
            Self::Seconds { seconds, .. } if !seconds.is_finite() => f.write_str("? s"),
            Self::Seconds { seconds: 0.0, .. } => f.write_str("0 s"),
            Self::Seconds { seconds, .. } => {
                // three digits
                let decimals = (1.0 - (0.005 * seconds.abs()).log10().floor()).clamp(0.0, 9.0) as usize;
                write!(f, "{seconds:.decimals$} s")
            }
        }
    }
}

impl OwnRun {
    /// Returns the run that the model misses most.
    pub fn worst(&self) -> Option<&ReproducedRun> {
        self.worst_row().map(|(_, run)| run)
    }

    /// Returns the run that the model misses most, and its row.
    fn worst_row(&self) -> Option<(usize, &ReproducedRun)> {
        self.runs.iter().enumerate().max_by(|(_, a), (_, b)| a.off().abs().total_cmp(&b.off().abs()))
    }

    /// Returns the misfit, which stands before every answer; empty if the model reproduces its runs.
    pub fn warning(&self) -> Vec<Said> {
        let Some((i, run)) = self.worst_row().filter(|_| self.is_misfit()) else { return Vec::new() };
        let words = |text: &str| Said::Words(text.to_owned());
        let which =
            if self.runs.len() == 1 { "its own run".to_owned() } else { format!("its own runs (worst: {})", run.log) };
        let mut said = vec![
            Said::Words(format!("The model does NOT reproduce {which}: it takes ")),
            Said::Seconds { at: format!("/runs/{i}/model_s"), seconds: run.model_s },
            words(", the log "),
            Said::Seconds { at: format!("/runs/{i}/logged_s"), seconds: run.logged_s },
            words("."),
        ];
        self.stages.iter().enumerate().for_each(|(k, stage)| said.extend(stage.said(k)));
        if self.stages.is_empty() {
            said.push(words(" The difference is not in the times of single stages."));
        }
        said.push(words(if self.is_trusted { " This answer is not proved. " } else { " Do not plan with it. " }));
        said
    }
}

impl MissedStage {
    /// Returns how far the model is off for this stage, number `k` of the check.
    fn said(&self, k: usize) -> Vec<Said> {
        let words = |text: &str| Said::Words(text.to_owned());
        let mut said = vec![
            Said::Words(format!(" Stage {} {}: logged ", self.stage, self.name)),
            Said::Seconds { at: format!("/stages/{k}/logged_s"), seconds: self.logged_s },
            words(", model "),
            Said::Seconds { at: format!("/stages/{k}/model_s"), seconds: self.model_s },
        ];
        if let Some([mean_s, longest_s]) = self.longer_s {
            said.push(words("; in the model, its tasks take "));
            said.push(Said::Seconds { at: format!("/stages/{k}/longer_s/0"), seconds: mean_s });
            said.push(words(" on average, in the logs "));
            said.push(Said::Seconds { at: format!("/stages/{k}/longer_s/1"), seconds: longest_s });
            said.push(words(" at most"));
        }
        said.push(words("."));
        said
    }
}
