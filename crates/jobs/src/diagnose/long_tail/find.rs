//! Findings from a log and the progress of its tasks: the flagged tasks with their times, confirmation by the log, and causes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tailspn_common::order::median;

use crate::diagnose::causes::stage_name;
use crate::diagnose::finding::{Cause, Evidence, Finding, FindingMethod, Subject};
use crate::diagnose::long_tail::agent::StragglerFlag;
use crate::diagnose::long_tail::history::{History, TaskHistory};
use crate::diagnose::long_tail::model::Model;
use crate::diagnose::long_tail::score::replay;
use crate::diagnose::long_tail::settings::{AgentSettings, Boundary};
use crate::trace::analysis::{Times, observed, times_of};
use crate::trace::{Attempt, JobTrace, Metric, Stage, StageId};

/// Input sizes that logs can contain; the first size present for all tasks of a stage is compared.
const SIZES: [Metric; 4] =
    [Metric::InputBytes, Metric::InputRecords, Metric::ShuffleRemoteBytes, Metric::ShuffleReadRecords];

/// Metrics of shuffled data that a log may contain.
const SHUFFLED: [Metric; 3] = [Metric::ShuffleLocalBytes, Metric::ShuffleRemoteBytes, Metric::ShuffleReadRecords];

/// Largest difference between an attempt's last report and its end in the log if the clocks agree \[s\].
const CLOCKS: f64 = 2.0;

/// Finds stragglers by the progress of tasks, as an agent would have flagged them while the job ran.
///
/// `trace` is the log of the job; without one, times count from the first report, and stages have their names in the
/// reports. `progress` has the curves of its tasks: [`History::from_reports`] of a file of reports, or
/// [`History::from_trace`] if the log itself has curves, as Hadoop's histories do. `model` was learned from earlier
/// runs of the same program ([`Model::learn`]); without one, the tasks of each stage are compared only with each other.
///
/// The fields of a finding:
///
/// * `from` and `to` are the launch and the end of the attempt \[s since the start of the trace\].
/// * `score` is the slow-down of the attempt relative to the tasks of its job when it was flagged; `threshold` is the
///   threshold of the slow-down at that time.
/// * `cause` is [`Cause::DataSkew`] if the task has more than 1 + Diff times the median input of its stage, or
///   [`Cause::ShuffleSkew`] if that input comes from a shuffle; `confidence` is the share of the excess time that the
///   excess input explains, at most 1. Otherwise the cause is [`Cause::Unknown`] with confidence 0.
/// * `evidence` has up to four comparisons: the progress at the flag with the usual progress at the same age; the
///   probability of a straggler with the required probability; the input, if known, with the median input; and the
///   total time of the attempt (`time`) with the median time. The times are from the log, or else from the reports.
///
/// Findings are in the order of the flags.
///
/// A flagged task that caught up and finished within 1 + Diff medians of its stage is not reported: in hindsight it was
/// not a straggler.
///
/// Approximate: the order of reports of equal time decides between equal flags.
pub fn find<'t>(
    trace: impl Into<Option<&'t JobTrace>>,
    progress: &History,
    model: Option<&Model>,
    settings: AgentSettings,
) -> Vec<Finding> {
    let trace = trace.into();
    let first_s = progress.tasks.iter().map(|task| task.start_s).fold(f64::INFINITY, f64::min);
    let origin_s = trace.map_or(first_s, |trace| origin_s(trace) + clock_ahead(trace, progress).unwrap_or(0.0));
    let (flags, _) = replay(progress, model, settings);
    let told = |flag: &StragglerFlag| {
        let logged = trace.and_then(|trace| attempt_of(trace, flag));
        let whole = logged.map_or_else(|| whole_time_reported(progress, flag), whole_time_logged);
        // a killed attempt stays undecided
        let ended = logged.is_none_or(|logged| logged.attempt.succeeded());
        let slow = !ended || whole.is_none_or(|[own, usual]| own > (1.0 + settings.diff) * usual);
        slow.then(|| finding(logged, whole, origin_s, progress, flag, &settings))
    };
    flags.iter().filter_map(told).collect()
}

fn origin_s(trace: &JobTrace) -> f64 {
    trace.origin_us as f64 / 1e6
}

/// Returns the seconds by which the clock of the reports is ahead of the log's clock: the median over the attempts that
/// are complete in both. [`find`] corrects for this difference. None if the clocks agree within 2 s, by which the last
/// report may miss the end, or if no attempt is in both.
pub fn clock_ahead(trace: &JobTrace, progress: &History) -> Option<f64> {
    let logged = logged_ends(trace);
    let ahead = |task: &TaskHistory| {
        let end = logged.get(&(task.stage.as_str().into(), task.task, task.attempt)).copied()??;
        let last = task.points.last().filter(|point| point.1 >= 1.0)?;
        Some(task.start_s + last.0 - origin_s(trace) - end)
    };
    median(progress.tasks.iter().filter_map(ahead)).filter(|ahead| ahead.abs() > CLOCKS)
}

/// Splits the reports into reports of attempts in the log and all other reports.
pub fn by_log(trace: &JobTrace, progress: History) -> [History; 2] {
    let logged = logged_ends(trace);
    let (known, others) = progress
        .tasks
        .into_iter()
        .partition(|task| logged.contains_key(&(task.stage.as_str().into(), task.task, task.attempt)));
    [known, others].map(|tasks| History { tasks, ..History::default() })
}

/// Returns all attempts of a log by the numbers of stage, task and attempt, with the end of successful attempts \[s since the start of the trace\].
fn logged_ends(trace: &JobTrace) -> BTreeMap<(Cow<'_, str>, u64, u32), Option<f64>> {
    let of_stage = |(id, stage): (StageId, &Stage)| {
        let number = stage.number.to_string();
        trace.attempts_of(id).iter().map(move |attempt| {
            let end = attempt.finish().filter(|_| attempt.succeeded()).map(|end| end.seconds());
            ((number.clone().into(), u64::from(attempt.task), attempt.number), end)
        })
    };
    trace.stages_with_ids().flat_map(of_stage).collect()
}

/// An attempt of a log.
#[derive(Clone, Copy, Debug)]
struct Logged<'t> {
    trace: &'t JobTrace,
    id: StageId,
    stage: &'t Stage,
    attempt: &'t Attempt,
}

fn finding(
    logged: Option<Logged<'_>>,
    whole: Option<[f64; 2]>,
    origin_s: f64,
    progress: &History,
    flag: &StragglerFlag,
    settings: &AgentSettings,
) -> Finding {
    let node = logged.and_then(|logged| logged.trace.node_of(logged.attempt)).map(|node| node.name.clone());
    let node = node.or_else(|| (!flag.node.is_empty()).then(|| flag.node.clone()));
    let stage = logged.map(|logged| stage_name(logged.trace, logged.id));
    let size = size_of(logged, progress, flag);
    let (cause, confidence) = cause_of(size.as_ref(), logged, flag, settings);
    let launch = logged.and_then(|logged| logged.attempt.launch()).map(|launch| launch.seconds());
    let end = logged.and_then(|logged| logged.attempt.finish()).map(|end| end.seconds());
    Finding {
        method: FindingMethod::LongTail,
        subject: Subject::Task {
            stage: stage.unwrap_or_else(|| flag.stage.clone()),
            task: flag.task,
            attempt: flag.attempt,
            node,
        },
        from: launch.or_else(|| reported(progress, flag).map(|task| task.start_s - origin_s)),
        to: end.or_else(|| end_of(progress, flag).map(|end| end - origin_s)),
        first_wave: false,
        at_least: match logged {
            Some(logged) => observed(logged.trace, logged.attempt).is_none_or(|seen| seen.at_least),
            None => reported(progress, flag).is_none_or(|task| task.points.last().is_none_or(|point| point.1 < 1.0)),
        },
        cause,
        score: flag.slowdown,
        threshold: flag.boundary,
        confidence,
        evidence: evidence(flag, size, whole, settings),
    }
}

/// Returns the attempt of the log that a flag refers to, by the numbers of stage, task and attempt.
fn attempt_of<'t>(trace: &'t JobTrace, flag: &StragglerFlag) -> Option<Logged<'t>> {
    let mut stages = trace.stages_with_ids().filter(|(_, stage)| stage.number.to_string() == flag.stage);
    stages.find_map(|(id, stage)| {
        let is_it = |attempt: &&Attempt| u64::from(attempt.task) == flag.task && attempt.number == flag.attempt;
        trace.attempts_of(id).iter().find(is_it).map(|attempt| Logged { trace, id, stage, attempt })
    })
}

/// Returns the time of an attempt \[s\], and the median of its stage.
fn whole_time_logged(logged: Logged<'_>) -> Option<[f64; 2]> {
    let Logged { trace, stage, attempt, .. } = logged;
    let times: Times = times_of(trace.attempts().get(stage.attempts.clone())?)?;
    Some([attempt.duration()?, times.median])
}

/// Returns the time of an attempt \[s\], and the median of its stage, from the reports of complete attempts.
fn whole_time_reported(progress: &History, flag: &StragglerFlag) -> Option<[f64; 2]> {
    let whole = |task: &TaskHistory| task.points.last().filter(|point| point.1 >= 1.0).map(|point| point.0);
    let is_peer = |task: &&TaskHistory| (&task.job, &task.kind, &task.stage) == (&flag.job, &flag.kind, &flag.stage);
    let peers: Vec<f64> = progress.tasks.iter().filter(is_peer).filter_map(whole).collect();
    Some([whole(reported(progress, flag)?)?, median(peers)?])
}

/// Returns the reports of a flagged attempt.
fn reported<'h>(progress: &'h History, flag: &StragglerFlag) -> Option<&'h TaskHistory> {
    progress.tasks.iter().find(|task| {
        (task.task, task.attempt) == (flag.task, flag.attempt)
            && (&task.job, &task.kind, &task.stage) == (&flag.job, &flag.kind, &flag.stage)
    })
}

/// The input of a task and the median of its stage.
#[derive(Debug)]
struct Size {
    own: f64,
    usual: f64,
    unit: &'static str,
}

fn size_of(logged: Option<Logged<'_>>, progress: &History, flag: &StragglerFlag) -> Option<Size> {
    let is_peer = |task: &&TaskHistory| (&task.job, &task.kind, &task.stage) == (&flag.job, &flag.kind, &flag.stage);
    let totals: Option<Vec<f64>> = progress.tasks.iter().filter(is_peer).map(|task| task.total).collect();
    if let (Some(own), Some(usual)) = (flag.total, totals.and_then(median)) {
        return Some(Size { own, usual, unit: "" });
    }
    let Logged { trace, stage, attempt, .. } = logged?;
    let peers = trace.attempts().get(stage.attempts.clone())?;
    SIZES.iter().find_map(|&metric| {
        let sizes: Option<Vec<f64>> =
            peers.iter().filter(|peer| peer.succeeded()).map(|peer| trace.value(peer, metric)).collect();
        let usual = median(sizes?).filter(|usual| *usual > 0.0)?;
        let unit = if matches!(metric, Metric::InputBytes | Metric::ShuffleRemoteBytes) { "B" } else { "" };
        Some(Size { own: trace.value(attempt, metric)?, usual, unit })
    })
}

/// Returns skew as the cause if the input exceeds the limit, and the share of the excess time that it explains.
fn cause_of(
    size: Option<&Size>,
    logged: Option<Logged<'_>>,
    flag: &StragglerFlag,
    settings: &AgentSettings,
) -> (Cause, f64) {
    let Some(size) = size.filter(|size| size.usual > 0.0) else { return (Cause::Unknown, 0.0) };
    let more = size.own / size.usual;
    if more <= 1.0 + settings.diff {
        return (Cause::Unknown, 0.0);
    }
    let of_shuffle = logged.map_or(flag.kind == "reduce", |Logged { trace, attempt, .. }| {
        SHUFFLED.iter().any(|&metric| trace.value(attempt, metric).is_some_and(|read| read > 0.0))
    });
    let cause = if of_shuffle { Cause::ShuffleSkew } else { Cause::DataSkew };
    (cause, ((more - 1.0) / (flag.slowdown - 1.0).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0))
}

fn evidence(
    flag: &StragglerFlag,
    size: Option<Size>,
    whole: Option<[f64; 2]>,
    settings: &AgentSettings,
) -> Vec<Evidence> {
    let progress = Evidence {
        what: format!("progress after {:.1} s", flag.age_s),
        value: flag.progress,
        usual: flag.usual_progress,
        unit: "".into(),
    };
    let input = size.map(|size| Evidence {
        what: "input".to_owned(),
        value: size.own,
        usual: size.usual,
        unit: size.unit.into(),
    });
    let time = whole.map(|[value, usual]| Evidence { what: "time".to_owned(), value, usual, unit: "s".into() });
    // the rule of the paper has no probability
    let probability = match settings.boundary {
        Boundary::Fixed { .. } => None,
        Boundary::Adaptive { confidence } => Some(Evidence {
            what: "probability of a straggler".to_owned(),
            value: flag.probability,
            usual: confidence,
            unit: "".into(),
        }),
    };
    [Some(progress), probability, input, time].into_iter().flatten().collect()
}

/// Returns the time of the attempt's last report, on the source's clock \[s\].
fn end_of(progress: &History, flag: &StragglerFlag) -> Option<f64> {
    let task = reported(progress, flag)?;
    Some(task.start_s + task.points.last()?.0)
}
