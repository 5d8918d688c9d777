//! The check of a plan on the runs that it was fitted to, which every answer begins or ends with.

use serde::{Deserialize, Serialize};

use crate::document::{Number, Piece};
use crate::job_time::{MissedStage, OwnRun, ReproducedRun, Verdict};
use crate::report::number::counted;

/// The check of a plan on the runs that it was fitted to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OwnRunSection {
    /// The result.
    pub verdict: OwnRunVerdict,
    /// Each run; empty if nothing was checked.
    pub runs: Vec<OwnRunRow>,
    /// The stages that the model does not reproduce in the run that it misses most.
    pub stages: Vec<MissedStageRow>,
    /// True if the user wants all answers, although the plan does not reproduce its runs.
    #[serde(default)]
    pub is_trusted: bool,
}

/// Result of a check of a plan on its own runs.
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

/// A run, and the time that the model gives it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OwnRunRow {
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
pub struct MissedStageRow {
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

impl From<&OwnRun> for OwnRunSection {
    fn from(found: &OwnRun) -> Self {
        let run = |run: &ReproducedRun| OwnRunRow {
            log: run.log.clone(),
            logged_s: run.logged_s,
            model_s: run.model_s,
            interval_s: run.interval_s,
        };
        let stage = |stage: &MissedStage| MissedStageRow {
            stage: stage.stage,
            name: stage.name.clone(),
            logged_s: stage.logged_s,
            model_s: stage.model_s,
            longer_s: stage.longer_s,
        };
        Self {
            verdict: match found.verdict {
                Verdict::Reproduced => OwnRunVerdict::Reproduced,
                Verdict::NotReproduced => OwnRunVerdict::NotReproduced,
                Verdict::NotChecked => OwnRunVerdict::NotChecked,
            },
            runs: found.runs.iter().map(run).collect(),
            stages: found.stages.iter().map(stage).collect(),
            is_trusted: found.is_trusted,
        }
    }
}

/// Returns a time with three digits.
fn time(at: String, seconds: f64) -> Piece {
    Number::new(at, seconds, "s").rounded(0.005 * seconds.abs()).into()
}

impl OwnRunSection {
    /// Returns the check of a replay on its log.
    pub(super) fn of_replay(log: &str, logged_s: f64, model_s: f64, is_reproduced: bool) -> Self {
        if !model_s.is_finite() {
            return Self::default();
        }
        let verdict = if is_reproduced { OwnRunVerdict::Reproduced } else { OwnRunVerdict::NotReproduced };
        let run = OwnRunRow { log: log.to_owned(), logged_s, model_s, interval_s: [model_s, model_s] };
        Self { verdict, runs: vec![run], ..Self::default() }
    }

    /// Returns true if the plan was checked and does not reproduce its runs.
    pub(super) fn is_misfit(&self) -> bool {
        self.verdict == OwnRunVerdict::NotReproduced
    }

    /// Returns the run that the model misses most.
    fn worst(&self) -> Option<(usize, &OwnRunRow)> {
        let off = |run: &OwnRunRow| (run.model_s / run.logged_s).ln().abs();
        self.runs.iter().enumerate().max_by(|(_, a), (_, b)| off(a).total_cmp(&off(b)))
    }

    /// Returns the misfit, which stands before everything else; empty if the model reproduces its runs.
    pub(super) fn warning(&self) -> Vec<Piece> {
        let Some((i, run)) = self.worst().filter(|_| self.is_misfit()) else { return Vec::new() };
        let which =
            if self.runs.len() == 1 { "its own run".to_owned() } else { format!("its own runs (worst: {})", run.log) };
        let mut pieces: Vec<Piece> = vec![format!("The model does NOT reproduce {which}: it takes ").into()];
        pieces.push(time(format!("/own_run/runs/{i}/model_s"), run.model_s));
        pieces.push(", the log ".into());
        pieces.push(time(format!("/own_run/runs/{i}/logged_s"), run.logged_s));
        pieces.push(".".into());
        for (k, stage) in self.stages.iter().enumerate() {
            pieces.push(format!(" Stage {} {}: logged ", stage.stage, stage.name).into());
            pieces.push(time(format!("/own_run/stages/{k}/logged_s"), stage.logged_s));
            pieces.push(", model ".into());
            pieces.push(time(format!("/own_run/stages/{k}/model_s"), stage.model_s));
            if let Some([mean_s, longest_s]) = stage.longer_s {
                pieces.push("; in the model, its tasks take ".into());
                pieces.push(time(format!("/own_run/stages/{k}/longer_s/0"), mean_s));
                pieces.push(" on average, in the logs ".into());
                pieces.push(time(format!("/own_run/stages/{k}/longer_s/1"), longest_s));
                pieces.push(" at most".into());
            }
            pieces.push(".".into());
        }
        if self.stages.is_empty() {
            pieces.push(" The difference is not in the times of single stages.".into());
        }
        pieces.push(if self.is_trusted { " This answer is not proved. " } else { " Do not plan with it. " }.into());
        pieces
    }

    /// Returns the result of the check, which stands after the answer; empty for a misfit.
    pub(super) fn sentence(&self) -> Vec<Piece> {
        match (self.verdict, &self.runs[..]) {
            (OwnRunVerdict::NotReproduced, _) => Vec::new(),
            (OwnRunVerdict::NotChecked, _) => vec![" Not checked: the plan has no run to prove it on.".into()],
            (OwnRunVerdict::Reproduced, [run]) => {
                let off = 100.0 * (run.model_s / run.logged_s - 1.0);
                let mut pieces: Vec<Piece> = vec![" Reproduced: the run of the log took ".into()];
                pieces.push(time("/own_run/runs/0/logged_s".to_owned(), run.logged_s));
                pieces.push(", the model takes ".into());
                pieces.push(time("/own_run/runs/0/model_s".to_owned(), run.model_s));
                pieces.push(format!(" ({}).", percent(off)).into());
                pieces
            }
            (OwnRunVerdict::Reproduced, runs) => {
                let off = |run: &OwnRunRow| 100.0 * (run.model_s / run.logged_s - 1.0);
                let least = runs.iter().map(off).fold(f64::INFINITY, f64::min);
                let most = runs.iter().map(off).fold(f64::NEG_INFINITY, f64::max);
                let runs = counted(runs.len() as u128, "run");
                vec![
                    format!(
                        " Reproduced: for {runs} of the logs, the model is off by {} to {}.",
                        percent(least),
                        percent(most)
                    )
                    .into(),
                ]
            }
        }
    }
}

/// Returns the misfit of a plan as text; none if it reproduces its runs, or has none.
pub fn misfit(found: &OwnRun) -> Option<String> {
    let text = |piece: Piece| match piece {
        Piece::Text(text) => text,
        Piece::Number(number) => number.text(),
    };
    let words: String = OwnRunSection::from(found).warning().into_iter().map(text).collect();
    (!words.is_empty()).then(|| words.trim_end().to_owned())
}

/// Returns a signed percentage, without a negative zero.
fn percent(value: f64) -> String {
    format!("{:+.0}%", value.round() + 0.0).replace('-', "\u{2212}")
}
