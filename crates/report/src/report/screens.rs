//! Blocks of a screen that answers of several kinds share: the verdict on a model, where the time goes, and what would change it.

use crate::document::{ScreenChange, ScreenShares, ScreenVerdict, decimals, human_time, short_name};
use crate::job_time::{MissedStage, OwnRun, OwnRunVerdict, ReproducedRun};
use crate::report::explained::{PlanChange, TimePart};
use crate::report::number::counted;
use crate::report::own_run::percent;

/// Maximum number of parts of a time.
const MOST_PARTS: usize = 8;
/// A part with a smaller share is not shown.
const LEAST_SHARE: f64 = 0.01;
/// Maximum number of assumptions and of stages that are missed.
const MOST_LINES: usize = 3;
/// Maximum length of all assumptions together: about five lines.
const MOST_CHARACTERS: usize = 340;
/// A misfit of at least this factor is shown as a factor.
const FACTOR: f64 = 2.0;

/// Questions that a model without a proof does not answer.
pub(super) const REFUSED: &str =
    "where the time goes, and what would change it; lists, deadlines and `whatif PLAN` end with exit code 8";

/// Returns the verdict on a model; `replayed` is what it does with a log: `model`, or `replayed`.
pub(super) fn verdict(found: &OwnRun, replayed: &str) -> ScreenVerdict {
    let one = |run: &ReproducedRun| {
        format!("logged {}, {replayed} {} ({})", human_time(run.logged_s, 3), human_time(run.model_s, 3), off(run))
    };
    match (found.verdict, &found.runs[..]) {
        (OwnRunVerdict::NotChecked, _) => ScreenVerdict {
            label: ScreenVerdict::UNCHECKED,
            lines: vec!["the plan has no run to prove it on".to_owned()],
        },
        (OwnRunVerdict::Reproduced, [run]) => ScreenVerdict { label: ScreenVerdict::REPRODUCED, lines: vec![one(run)] },
        (OwnRunVerdict::Reproduced, runs) => {
            let mut runs: Vec<&ReproducedRun> = runs.iter().collect();
            runs.sort_by(|a, b| (a.model_s / a.logged_s).total_cmp(&(b.model_s / b.logged_s)));
            let ends = runs.first().zip(runs.last()).map(|(least, most)| [off(least), off(most)]);
            let [least, most] = ends.unwrap_or_default();
            let runs = counted(runs.len() as u128, "run");
            ScreenVerdict {
                label: ScreenVerdict::REPRODUCED,
                lines: vec![format!("{runs} of the logs, {replayed} {least} to {most}")],
            }
        }
        (OwnRunVerdict::NotReproduced, _) => {
            let worst = found.worst().map(one).into_iter();
            let stages = found.stages.iter().take(MOST_LINES).map(missed);
            ScreenVerdict { label: ScreenVerdict::MISFIT, lines: worst.chain(stages).collect() }
        }
    }
}

/// Returns the verdict on the replay of a log.
pub(super) fn replayed(logged_s: f64, replayed_s: f64, is_misfit: bool) -> ScreenVerdict {
    /// Greatest error of a replay whose exact error is not shown.
    const CLOSE: f64 = 0.001;
    let off = replayed_s / logged_s - 1.0;
    let [logged, time] = [logged_s, replayed_s].map(|seconds| human_time(seconds, 3));
    let line = match off.abs() <= CLOSE {
        true => format!("logged {logged}, replayed within 0.1%"),
        false => format!("logged {logged}, replayed {time} ({})", percent(100.0 * off)),
    };
    ScreenVerdict {
        label: if is_misfit { ScreenVerdict::MISFIT } else { ScreenVerdict::REPRODUCED },
        lines: vec![line],
    }
}

/// Returns how far a model is off, in percent or as a factor.
fn off(run: &ReproducedRun) -> String {
    let ratio = run.model_s / run.logged_s;
    let off = ratio.max(1.0 / ratio);
    match (off >= FACTOR, ratio > 1.0) {
        (true, true) => format!("{off:.1} times as long"),
        (true, false) => format!("{off:.1} times as short"),
        (false, _) => percent(100.0 * (ratio - 1.0)),
    }
}

/// Returns what a model says about a stage that it misses.
fn missed(stage: &MissedStage) -> String {
    let [logged, model] = [stage.logged_s, stage.model_s].map(|seconds| human_time(seconds, 3));
    let name = short_name(&format!("{} {}", stage.stage, stage.name));
    let tasks = stage.longer_s.map_or_else(String::new, |[mean_s, longest_s]| {
        let [mean, longest] = [mean_s, longest_s].map(|seconds| human_time(seconds, 2));
        format!("; its slowest tasks take {mean} on average, the longest in the logs {longest}")
    });
    format!("{name}: logged {logged}, model {model}{tasks}")
}

/// Returns the sentence with which an answer begins whose model misses its own run; none for another one.
pub(super) fn misfit(found: &OwnRun) -> Option<String> {
    let run = found.worst().filter(|_| found.is_misfit())?;
    let which =
        if found.runs.len() == 1 { "its own run".to_owned() } else { format!("its own runs (worst: {})", run.log) };
    let [model, logged] = [run.model_s, run.logged_s].map(|seconds| human_time(seconds, 3));
    let plan = if found.is_trusted { "This answer is not proved." } else { "Do not plan with it." };
    Some(format!("The model does NOT reproduce {which}: it takes {model}, the log {logged}. {plan}"))
}

/// Returns the parts of a time, in the order in which they are given.
pub(super) fn shares<'p>(title: String, parts: impl IntoIterator<Item = (&'p str, f64, f64)>) -> ScreenShares {
    let mut parts: Vec<_> = parts.into_iter().filter(|(.., share)| *share >= LEAST_SHARE).collect();
    if parts.len() > MOST_PARTS {
        let mut sorted: Vec<f64> = parts.iter().map(|(.., share)| *share).collect();
        sorted.sort_by(|a, b| b.total_cmp(a));
        parts.retain(|(.., share)| *share >= sorted[MOST_PARTS - 1]);
        parts.truncate(MOST_PARTS);
    }
    let row = |(name, seconds, share): (&str, f64, f64)| {
        // a share of at least 1%
        (short_name(name), human_time(seconds, 2), (100.0 * share).round().min(100.0) as u32)
    };
    ScreenShares { title, rows: parts.into_iter().map(row).collect() }
}

/// Returns a part of a time for [`shares`].
pub(super) fn part(part: &TimePart) -> (&str, f64, f64) {
    (&part.name, part.critical.time.value, part.critical.share)
}

/// Returns the changes of a plan, relative to the time that the answer states \[s\]. A saved time is the difference of the printed times.
pub(super) fn changes(changes: &[PlanChange], headline_s: f64) -> Vec<ScreenChange> {
    // times of a row have the digits of the headline
    let unit = match headline_s {
        ..120.0 => 10_f64.powi(-i32::try_from(decimals(headline_s, 2)).unwrap_or(0)),
        ..7200.0 => 1.0,
        _ => 60.0,
    };
    let rounded = |seconds: f64| (seconds / unit).round() * unit;
    let shown = |seconds: f64| match seconds {
        ..120.0 if unit < 1.0 => format!("{seconds:.*} s", decimals(headline_s, 2)),
        ..120.0 => format!("{seconds:.0} s"),
        _ => human_time(seconds, 2),
    };
    let change = |change: &PlanChange| {
        let option = change.option.as_ref().map_or_else(String::new, |option| format!(" ({option})"));
        // the same share of the median as of the mean
        let time_s = rounded(headline_s * change.job_s / (change.job_s + change.saves.value));
        let saved_s = rounded(headline_s) - time_s;
        (saved_s >= 0.5 * unit).then(|| ScreenChange {
            what: format!("{}{option}", change.what),
            time: shown(time_s),
            saves: shown(saved_s),
        })
    };
    changes.iter().filter_map(change).collect()
}

/// Returns true for a note that says more than that the spread of runs is assumed, which is an assumption of its own.
pub(super) fn is_no_spread(note: &&String) -> bool {
    !note.starts_with("only one log")
}

/// Returns the first lines, and how many others there are.
pub(super) fn first_of(all: impl IntoIterator<Item = String>) -> Vec<String> {
    // the label of the block says so already
    let plain = |line: String| line.strip_prefix("assumptions: ").map_or(line.clone(), str::to_owned);
    let mut all: Vec<String> = all.into_iter().map(plain).collect();
    let mut length = 0;
    let fits = |line: &&String| {
        length += line.chars().count();
        length <= MOST_CHARACTERS
    };
    let shown = all.iter().take(MOST_LINES).take_while(fits).count().max(1);
    let left = all.len().saturating_sub(shown);
    all.truncate(shown);
    if left > 0 {
        all.push(format!("{left} more: --verbose"));
    }
    all
}
