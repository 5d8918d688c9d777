//! A model learned from earlier runs, as a file: a profile for each kind of task.

use serde::{Deserialize, Serialize};

use crate::diagnose::long_tail::history::History;
use crate::diagnose::long_tail::profile::{FittedProfile, Profile, ProfileError, fit_profile, is_sound};
use crate::plan::{Checker, Document, PlanError, PlanProblem};

/// The version of the file format; it is increased when a key changes its meaning.
pub const MODEL_VERSION: u32 = 1;

/// Profiles of all kinds of tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Version of the file format, [`MODEL_VERSION`].
    pub format_version: u32,
    /// One profile for each kind, in the order of their names.
    pub profile: Vec<Profile>,
}

/// Result of learning from a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// The model.
    pub model: Model,
    /// Each profile with its candidates.
    pub fitted: Vec<FittedProfile>,
    /// Kinds of tasks without a profile, with the reason.
    pub left_out: Vec<ProfileError>,
}

impl Model {
    /// Learns a profile for each kind of task that has enough attempts in a history.
    ///
    /// # Errors
    ///
    /// [`ProfileError`] of the first kind, if no kind has a profile; for an empty history, with an empty kind.
    pub fn learn(history: &History) -> Result<Learned, ProfileError> {
        let mut kinds: Vec<&str> = history.tasks.iter().map(|task| task.kind.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        if kinds.is_empty() {
            kinds.push("");
        }
        let (mut fitted, mut left_out) = (Vec::new(), Vec::new());
        for kind in kinds {
            match fit_profile(kind, &history.tasks) {
                Ok(profile) => fitted.push(profile),
                Err(error) => left_out.push(error),
            }
        }
        if fitted.is_empty() {
            return Err(left_out.swap_remove(0));
        }
        let profile = fitted.iter().map(|fitted| fitted.profile.clone()).collect();
        Ok(Learned { model: Self { format_version: MODEL_VERSION, profile }, fitted, left_out })
    }

    /// Returns the position of a kind's profile.
    pub fn position(&self, kind: &str) -> Option<usize> {
        self.profile.iter().position(|profile| profile.kind == kind)
    }

    /// Reads a model.
    ///
    /// # Errors
    ///
    /// [`PlanError`], with positions in the text.
    pub fn from_toml(text: &str) -> Result<Self, PlanError> {
        Document::parse(text)?.read(Self::problems)
    }

    /// Returns the model as text that [`Model::from_toml`] can read.
    ///
    /// # Errors
    ///
    /// Errors of the TOML writer; models that were learned or read can always be written.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// Returns all problems with the values.
    pub fn problems(&self) -> Vec<PlanProblem> {
        let mut to = Checker::new();
        if self.format_version != MODEL_VERSION {
            to.add("format_version", format!("{} is not a known version; learn the model again", self.format_version));
        }
        for (i, profile) in self.profile.iter().enumerate() {
            to.section = format!("profile[{i}]");
            if self.profile[..i].iter().any(|other| other.kind == profile.kind) {
                to.add("kind", format!("kind `{}` already has a profile", profile.kind));
            }
            let spread = |value: f64| value > 0.0 && value < 100.0;
            to.range("task_spread", profile.task_spread, spread(profile.task_spread), "above 0 and below 100");
            if !is_sound(&profile.curve) {
                to.add("curve", "the curve must rise from an age and a progress of at least 0 to a progress of 1");
            }
            let ascends = profile.spread.is_sorted_by(|a, b| a.0 < b.0);
            if let Some(&(level, value)) = profile.spread.iter().find(|(p, s)| !(0.0..=1.0).contains(p) || !spread(*s))
            {
                let (wrong, needs) = if spread(value) {
                    (level, "a progress from 0 to 1")
                } else {
                    (value, "a spread above 0 and below 100")
                };
                to.range("spread", wrong, false, needs);
            } else if !ascends {
                to.add("spread", "the entries must be in ascending order of progress");
            }
        }
        to.problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::long_tail::curve::ProgressCurve;

    fn model() -> Model {
        let points = vec![(0.0, 0.0), (10.0, 0.5), (60.0, 1.0)];
        let profile = |kind: &str, curve| Profile {
            kind: kind.into(),
            tasks: 20,
            task_spread: 0.1,
            error: 0.03,
            spread: vec![(0.1, 0.5), (1.0, 0.02)],
            curve,
        };
        let curves = [
            profile("map", ProgressCurve::Linear { intercept: 0.01, slope: 0.15 }),
            profile("reduce", ProgressCurve::Piecewise { points: points.clone() }),
            profile("sort", ProgressCurve::Monotone { points }),
        ];
        Model { format_version: MODEL_VERSION, profile: curves.to_vec() }
    }

    #[test]
    fn a_written_model_reads_back_the_same() {
        let text = model().to_toml().unwrap();
        assert_eq!(Model::from_toml(&text).unwrap(), model(), "{text}");
    }

    #[test]
    fn everything_wrong_is_told_at_once_with_its_place() {
        let text = model().to_toml().unwrap().replace("slope = 0.15", "slope = -1.0").replace("\"sort\"", "\"map\"");
        let text = text
            .replacen("task_spread = 0.1", "task_spread = 0.0", 1)
            .replace("format_version = 1", "format_version = 9");
        let problems = Model::from_toml(&text).unwrap_err().problems;
        let keys: Vec<&str> = problems.iter().map(|problem| problem.key.as_str()).collect();
        assert_eq!(keys, ["format_version", "profile[0].task_spread", "profile[0].curve", "profile[2].kind"]);
        assert!(problems.iter().all(|problem| problem.span.is_some()));
        assert!(Model::from_toml("x").unwrap_err().problems[0].span.is_some());
    }
}
