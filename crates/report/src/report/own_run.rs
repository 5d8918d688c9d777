//! The check of a plan on the runs that it was fitted to, which every answer begins or ends with.

use crate::document::{Number, Piece};
use crate::job_time::{OwnRun, OwnRunVerdict, ReproducedRun};
use crate::report::number::counted;

/// Returns a time with three digits.
fn time(at: String, seconds: f64) -> Piece {
    Number::new(at, seconds, "s").rounded(0.005 * seconds.abs()).into()
}

/// Returns an answer with the check of the plan that it rests on, if there is one: a misfit stands before it, a success after it.
pub(super) fn with_own_run(found: Option<&OwnRun>, answer: Vec<Piece>) -> Vec<Piece> {
    let Some(found) = found else { return answer };
    let mut pieces = warning(found);
    pieces.extend(answer);
    pieces.extend(sentence(found));
    pieces
}

/// Returns the run that the model misses most.
fn worst(found: &OwnRun) -> Option<(usize, &ReproducedRun)> {
    let off = |run: &ReproducedRun| (run.model_s / run.logged_s).ln().abs();
    found.runs.iter().enumerate().max_by(|(_, a), (_, b)| off(a).total_cmp(&off(b)))
}

/// Returns the misfit, which stands before everything else; empty if the model reproduces its runs.
pub(super) fn warning(found: &OwnRun) -> Vec<Piece> {
    let Some((i, run)) = worst(found).filter(|_| found.is_misfit()) else { return Vec::new() };
    let which =
        if found.runs.len() == 1 { "its own run".to_owned() } else { format!("its own runs (worst: {})", run.log) };
    let mut pieces: Vec<Piece> = vec![format!("The model does NOT reproduce {which}: it takes ").into()];
    pieces.push(time(format!("/own_run/runs/{i}/model_s"), run.model_s));
    pieces.push(", the log ".into());
    pieces.push(time(format!("/own_run/runs/{i}/logged_s"), run.logged_s));
    pieces.push(".".into());
    for (k, stage) in found.stages.iter().enumerate() {
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
    if found.stages.is_empty() {
        pieces.push(" The difference is not in the times of single stages.".into());
    }
    pieces.push(if found.is_trusted { " This answer is not proved. " } else { " Do not plan with it. " }.into());
    pieces
}

/// Returns the result of the check, which stands after the answer; empty for a misfit.
pub(super) fn sentence(found: &OwnRun) -> Vec<Piece> {
    match (found.verdict, &found.runs[..]) {
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
            let off = |run: &ReproducedRun| 100.0 * (run.model_s / run.logged_s - 1.0);
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

/// Returns the misfit of a plan as text; empty if it reproduces its runs, or has none.
pub fn misfit(found: &OwnRun) -> String {
    let text = |piece: Piece| match piece {
        Piece::Text(text) => text,
        Piece::Number(number) => number.text(),
    };
    let words: String = warning(found).into_iter().map(text).collect();
    words.trim_end().to_owned()
}

/// Returns a signed percentage, without a negative zero.
fn percent(value: f64) -> String {
    format!("{:+.0}%", value.round() + 0.0).replace('-', "\u{2212}")
}
