//! The job profiler: the typical progress of tasks of a kind, learned from finished attempts.
//!
//! Implements the choice of the form of curve, by the error on held-out attempts, and the error of early predictions. The forms themselves are in `curve`.

use serde::{Deserialize, Serialize};

use tailspn_common::order::{median, quantile};

use crate::diagnose::long_tail::curve::{CurveForm, Point, ProgressCurve, rises};
use crate::diagnose::long_tail::history::TaskHistory;

/// Levels of progress at which the usual age is computed: 24 evenly spaced levels, and closer levels at the start,
/// where tasks are still setting up.
const LEVELS: usize = EARLY.len() + 24;
const EARLY: [f64; 4] = [0.005, 0.01, 0.02, 0.03];

/// Number of parts of the attempts for cross-validation: each part is predicted from the other parts.
const FOLDS: usize = 5;

/// Minimum number of attempts for a profile.
pub const FEWEST_TASKS: usize = 4;

/// A form whose error is at most this multiple of the smallest error counts as equally good: the simpler form
/// is chosen.
const AS_GOOD: f64 = 1.001;

/// Minimum spread assumed: clocks and samples are not more accurate.
const LEAST_SPREAD: f64 = 0.02;

/// Factor from a median absolute deviation to the standard deviation of a normal distribution.
const MAD_TO_SD: f64 = 1.482_602_218_505_602;

/// Typical progress of tasks of a kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Kind of work of the tasks, such as `map`.
    pub kind: String,
    /// Number of attempts that the profile was learned from.
    pub tasks: u64,
    /// Standard deviation of the logarithm of the tasks' times relative to the median of their run.
    pub task_spread: f64,
    /// Error on held-out attempts: root mean square difference between the ages of attempt and curve at the same progress, as a share of the
    /// attempt's time.
    pub error: f64,
    /// Prog(t).
    pub curve: ProgressCurve,
    /// Pairs of a progress, ascending, and the uncertainty at that progress: the standard deviation of the logarithm of
    /// (age / usual age), relative to the value of this logarithm at the end. It shows how far a task can still catch
    /// up, or fall behind.
    pub spread: Vec<Point>,
}

impl Profile {
    /// Returns the uncertainty of a slow-down observed at this progress, as the standard deviation of its logarithm.
    pub fn spread_at(&self, progress: f64) -> f64 {
        let after = self.spread.partition_point(|point| point.0 <= progress);
        let before = after.checked_sub(1).and_then(|i| self.spread.get(i));
        match (before, self.spread.get(after)) {
            (Some(&(p0, s0)), Some(&(p1, s1))) => s0 + (s1 - s0) * (progress - p0) / (p1 - p0),
            // before the first level the uncertainty is larger than at it: the relative error grows as the progress shrinks
            (None, Some(&(p1, s1))) => s1 * (p1 / progress.max(0.1 * p1)).sqrt(),
            (Some(&(_, s0)), None) => s0,
            (None, None) => LEAST_SPREAD,
        }
    }
}

/// A candidate form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Candidate {
    /// The form.
    pub form: CurveForm,
    /// Pieces.
    pub pieces: usize,
    /// Error on held-out attempts: root mean square difference between the ages of attempt and curve at the same progress, as a share of the
    /// attempt's time.
    #[serde(rename = "held_out_error")]
    pub error: f64,
    /// True if the form was chosen.
    pub taken: bool,
}

/// A profile with its candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedProfile {
    /// The profile.
    pub profile: Profile,
    /// All candidate forms, the simplest first.
    pub candidates: Vec<Candidate>,
}

/// Reasons for a missing profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// Too few attempts ended. Provide more runs.
    #[error(
        "only {got} finished attempts of kind `{kind}` have a progress report before their end; a profile needs at least {FEWEST_TASKS}"
    )]
    TooFewTasks {
        /// The kind.
        kind: String,
        /// Number of attempts.
        got: usize,
    },
    /// Attempts take no time, or their progress never rises.
    #[error("attempts of kind `{kind}` show no progress over time")]
    NoProgress {
        /// The kind.
        kind: String,
    },
}

/// Function that fits a form to the usual ages.
type Fit = fn(&[Point]) -> Option<ProgressCurve>;

/// The forms, the simplest first.
const FORMS: [Fit; 5] = [
    ProgressCurve::line,
    |points| ProgressCurve::polygon(points, 2),
    |points| ProgressCurve::polygon(points, 3),
    |points| ProgressCurve::polygon(points, 4),
    ProgressCurve::smooth,
];

/// Learns the profile of a kind from finished attempts; unfinished attempts are ignored.
///
/// The usual age at a progress is the median over the attempts of the ages at which they reached it, at 28 levels.
/// Unlike a mean over the attempts at an age, this median does not lose attempts that end early. A line, polygons of
/// two to four pieces and a smooth curve are fitted to these points; each fifth of the attempts is predicted from the
/// other attempts. The simplest form whose error is at most 0.1% above the least error is chosen.
///
/// # Errors
///
/// [`ProfileError`].
pub fn fit_profile(kind: &str, attempts: &[TaskHistory]) -> Result<FittedProfile, ProfileError> {
    let ended: Vec<&TaskHistory> =
        attempts.iter().filter(|task| task.kind == kind && task.time_s().is_some()).collect();
    if ended.len() < FEWEST_TASKS {
        return Err(ProfileError::TooFewTasks { kind: kind.to_owned(), got: ended.len() });
    }
    let points = usual_points(&ended);
    let errors = FORMS.map(|form| held_out_errors(form, &ended));
    let chosen = choose(&errors);
    let no_progress = || ProfileError::NoProgress { kind: kind.to_owned() };
    let curves = FORMS.map(|form| form(&points));
    let curve = chosen.and_then(|i| curves[i].clone()).ok_or_else(no_progress)?;
    let root = |errors: &[f64]| (errors.iter().sum::<f64>() / errors.len() as f64).sqrt();
    let candidates = curves.iter().zip(&errors).enumerate().filter_map(|(i, (curve, errors))| {
        let (curve, errors) = (curve.as_ref()?, errors.as_ref()?);
        Some(Candidate { form: curve.form(), pieces: curve.pieces(), error: root(errors), taken: Some(i) == chosen })
    });
    let candidates: Vec<Candidate> = candidates.collect();
    let profile = Profile {
        kind: kind.to_owned(),
        tasks: ended.len() as u64,
        task_spread: task_spread(&ended),
        error: candidates.iter().find(|candidate| candidate.taken).map_or(0.0, |taken| taken.error),
        spread: spread(&curve, &ended),
        curve,
    };
    Ok(FittedProfile { profile, candidates })
}

/// Returns the robust standard deviation of values around their median, at least [`LEAST_SPREAD`].
fn robust_sd(values: Vec<f64>) -> f64 {
    let Some(centre) = median(values.clone()) else { return LEAST_SPREAD };
    let off = median(values.into_iter().map(|value| (value - centre).abs()));
    (MAD_TO_SD * off.unwrap_or(0.0)).max(LEAST_SPREAD)
}

/// Returns level `k`, from 1 to [`LEVELS`].
fn level(k: usize) -> f64 {
    EARLY.get(k - 1).copied().unwrap_or_else(|| (k - EARLY.len()) as f64 / (LEVELS - EARLY.len()) as f64)
}

/// Probabilities of the upper quantiles used to measure an uncertainty, each with the quantile of the standard normal
/// distribution.
const UPPER: [(f64, f64); 4] = [(0.75, 0.674_490), (0.9, 1.281_552), (0.95, 1.644_854), (0.98, 2.053_749)];

/// Number of values above a quantile that make it usable.
const FEWEST_ABOVE: f64 = 3.0;

/// Returns the standard deviation of the narrowest normal distribution whose upper quantiles are all at or above the
/// upper quantiles of the values. A robust measure would ignore tasks that are occasionally delayed, but such tasks
/// cause false alarms. The distribution is centred at 0, or at the median if that is less: values that are too high
/// overall, because of a poor fit, count as uncertainty.
fn upper_sd(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let Some(centre) = quantile(&values, 0.5) else { return LEAST_SPREAD };
    let told = UPPER.iter().filter(|(p, _)| (1.0 - p) * values.len() as f64 >= FEWEST_ABOVE);
    let widths = told.filter_map(|&(p, z)| Some((quantile(&values, p)? - centre.min(0.0)) / z));
    widths.fold(robust_sd(values.clone()), f64::max)
}

/// Returns age 0 with its usual progress, then the usual age at each level.
fn usual_points(tasks: &[&TaskHistory]) -> Vec<Point> {
    let first = median(tasks.iter().filter_map(|task| task.points.first().map(|point| point.1))).unwrap_or(0.0);
    let ages = (1..=LEVELS)
        .filter(|&k| level(k) > first)
        .filter_map(|k| Some((median(tasks.iter().filter_map(|task| task.age_at(level(k))))?, level(k))));
    [(0.0, first)].into_iter().chain(ages).collect()
}

/// Returns the error of each attempt; none if the form cannot be fitted. The error compares the ages of the attempt
/// with the ages of a curve that was fitted without this attempt. The difference of the two ages is taken as a share of
/// the attempt's time. The error is the mean square of this share over the levels.
fn held_out_errors(form: Fit, tasks: &[&TaskHistory]) -> Option<Vec<f64>> {
    let folds = FOLDS.min(tasks.len());
    let mut errors = vec![0.0; tasks.len()];
    for fold in 0..folds {
        let (held, kept): (Vec<_>, Vec<_>) = tasks.iter().copied().enumerate().partition(|(i, _)| i % folds == fold);
        let kept: Vec<&TaskHistory> = kept.into_iter().map(|(_, task)| task).collect();
        let curve = form(&usual_points(&kept))?;
        for (i, task) in held {
            let time = task.time_s()?;
            let off = |k: usize| Some((task.age_at(level(k))? - curve.age_at(level(k))) / time);
            errors[i] = (1..=LEVELS).filter_map(off).map(|off| off * off).sum::<f64>() / LEVELS as f64;
        }
    }
    Some(errors)
}

/// Returns the first form that is as good as the best one, up to [`AS_GOOD`].
fn choose(errors: &[Option<Vec<f64>>]) -> Option<usize> {
    let root = |errors: &Vec<f64>| errors.iter().sum::<f64>().sqrt();
    let best = errors.iter().flatten().map(root).min_by(f64::total_cmp)?;
    errors.iter().position(|errors| errors.as_ref().is_some_and(|errors| root(errors) <= AS_GOOD * best))
}

/// Returns the spread of times around the median of their run.
fn task_spread(tasks: &[&TaskHistory]) -> f64 {
    let mut off = Vec::new();
    for run in tasks.chunk_by(|a, b| a.run == b.run) {
        let logs: Vec<f64> = run.iter().filter_map(|task| task.time_s()).map(f64::ln).collect();
        let Some(centre) = median(logs.clone()) else { continue };
        off.extend(logs.iter().map(|log| log - centre));
    }
    robust_sd(off)
}

/// Returns, at each level, the spread of an attempt's slowness so far relative to its final slowness.
fn spread(curve: &ProgressCurve, tasks: &[&TaskHistory]) -> Vec<Point> {
    let slowdown = |task: &TaskHistory, progress: f64| {
        let (age, usual) = (task.age_at(progress)?, curve.age_at(progress));
        (age > 0.0 && usual > 0.0).then(|| (age / usual).ln())
    };
    let off = |task: &&TaskHistory, progress: f64| Some(slowdown(task, progress)? - slowdown(task, 1.0)?);
    let at = |k: usize| {
        let off: Vec<f64> = tasks.iter().filter_map(|task| off(task, level(k))).collect();
        (level(k), upper_sd(off))
    };
    (1..=LEVELS).map(at).collect()
}

/// Returns true if a curve from a file is valid.
pub(super) fn is_sound(curve: &ProgressCurve) -> bool {
    match curve {
        ProgressCurve::Linear { intercept, slope } => {
            slope.is_finite() && *slope > 0.0 && intercept.is_finite() && *intercept < 1.0
        }
        ProgressCurve::Piecewise { points } | ProgressCurve::Monotone { points } => {
            rises(points)
                && points.first().is_some_and(|first| first.0 >= 0.0 && first.1 >= 0.0)
                && points.last().is_some_and(|last| (last.1 - 1.0).abs() < 1e-12)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(number: u64, stretch: f64, at: impl Fn(f64) -> f64) -> TaskHistory {
        let points = (0..=30).map(|i| f64::from(i) / 30.0).map(|u| (stretch * u, at(u))).collect();
        let name = String::new;
        TaskHistory {
            run: 0,
            job: name(),
            kind: "map".into(),
            stage: name(),
            task: number,
            attempt: 0,
            node: name(),
            start_s: 0.0,
            total: None,
            points,
        }
    }

    /// Twenty attempts of this form, from 54 s to 66 s.
    fn fitted(at: impl Fn(f64) -> f64 + Copy) -> FittedProfile {
        let tasks: Vec<TaskHistory> = (0..20).map(|i| task(i, 54.0 + 12.0 * (i * 7 % 20) as f64 / 19.0, at)).collect();
        fit_profile("map", &tasks).unwrap()
    }

    #[test]
    fn the_form_that_the_tasks_have_is_chosen() {
        let line = fitted(|u| u);
        assert_eq!(line.profile.curve.form(), CurveForm::Linear);
        assert!((line.profile.curve.usual_s() - 60.0).abs() < 0.5, "{}", line.profile.curve.usual_s());
        // a shuffle that completes a third of the work in a tenth of the time
        let bent = fitted(|u| if u < 0.1 { u / 0.3 } else { (1.0 + 2.0 * (u - 0.1) / 0.9) / 3.0 });
        assert_eq!((bent.profile.curve.form(), bent.profile.curve.pieces()), (CurveForm::Piecewise, 2));
        assert!((bent.profile.curve.progress(6.0) - 1.0 / 3.0).abs() < 0.03);
        let round = fitted(|u| (u * std::f64::consts::FRAC_PI_2).sin().powi(3));
        assert_eq!(round.profile.curve.form(), CurveForm::Monotone);
        let taken: Vec<bool> = round.candidates.iter().map(|candidate| candidate.taken).collect();
        assert_eq!(taken, [false, false, false, false, true]);
        assert!(round.candidates[4].error < 0.75 * round.candidates[0].error);
    }

    #[test]
    fn early_looks_are_trusted_less_where_tasks_change_their_speed() {
        let steady = fitted(|u| u).profile;
        assert!(steady.spread.iter().all(|point| point.1 <= LEAST_SPREAD));
        // half of the tasks start slowly and end fast
        let late = |i: u64| move |u: f64| if i.is_multiple_of(2) { u } else { u * u };
        let tasks: Vec<TaskHistory> = (0..20).map(|i| task(i, 60.0, late(i))).collect();
        let mixed = fit_profile("map", &tasks).unwrap().profile;
        assert!(mixed.spread_at(0.1) > 3.0 * mixed.spread_at(0.9), "{:?}", mixed.spread);
        assert!(mixed.spread_at(0.01) > mixed.spread_at(0.05) && mixed.spread_at(1.0) <= LEAST_SPREAD);
    }

    #[test]
    fn a_profile_of_too_few_tasks_is_refused() {
        let tasks: Vec<TaskHistory> = (0..3).map(|i| task(i, 60.0, |u| u)).collect();
        assert_eq!(fit_profile("map", &tasks), Err(ProfileError::TooFewTasks { kind: "map".into(), got: 3 }));
        let still: Vec<TaskHistory> = (0..9).map(|i| task(i, 60.0, |u| if u < 1.0 { 0.0 } else { 1.0 })).collect();
        // a leap at the end is a valid curve: nothing is known before it
        assert!(fit_profile("map", &still).is_ok_and(|fitted| fitted.profile.curve.usual_s() > 50.0));
        let none: Vec<TaskHistory> = (0..9).map(|i| task(i, 0.0, |u| u)).collect();
        assert_eq!(fit_profile("map", &none), Err(ProfileError::TooFewTasks { kind: "map".into(), got: 0 }));
    }
}
