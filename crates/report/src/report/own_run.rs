//! The check of a plan on the runs that it was fitted to, which every answer begins or ends with.

use crate::document::{Number, Paragraph, Piece, Topic};
use crate::job_time::{OwnRun, OwnRunVerdict, ReproducedRun, Said};
use crate::report::number::counted;

/// Returns a time with three digits.
fn time(at: String, seconds: f64) -> Piece {
    Number::new(at, seconds, "s").rounded(0.005 * seconds.abs()).into()
}

/// Returns an answer with the check of the plan that it rests on, if there is one: a misfit stands before it, a success after it.
pub(super) fn with_own_run(found: Option<&OwnRun>, answer: Vec<Piece>) -> Paragraph {
    let Some(found) = found else { return answer.into() };
    let mut paragraph = Paragraph::default();
    paragraph.say(Topic::OwnRun, warning(found));
    paragraph.say(Topic::Answer, answer);
    paragraph.say(Topic::OwnRun, sentence(found));
    paragraph
}

/// Returns the misfit, which stands before everything else; empty if the model reproduces its runs.
pub(super) fn warning(found: &OwnRun) -> Vec<Piece> {
    let piece = |said: Said| match said {
        Said::Words(words) => words.into(),
        Said::Seconds { at, seconds } => time(format!("/own_run{at}"), seconds),
    };
    found.warning().into_iter().map(piece).collect()
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

/// Returns a signed percentage, without a negative zero.
pub(super) fn percent(value: f64) -> String {
    format!("{:+.0}%", value.round() + 0.0).replace('-', "\u{2212}")
}
