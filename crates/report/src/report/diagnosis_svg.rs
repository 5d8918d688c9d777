//! The attempts of a log as a picture, the stragglers in the colours of their causes.

use std::collections::BTreeMap;

use crate::diagnose::causes::stage_name;
use crate::diagnose::{Cause, Finding, Subject};
use crate::report::diagnosis::cause_text;
use crate::report::timeline_svg::Kind;
use crate::report::trace_timeline::{Paint, painted_svg};
use crate::trace::{Attempt, JobTrace};

/// Colours of tasks that are not slow.
const PLAIN: [(&str, &str); 2] = [("#b9c8d6", "tasks of a stage"), ("#d9e1e8", "of the next stage")];

/// The colours of causes, in the order of drawing.
pub(super) const CAUSES: [(Cause, &str); 12] = [
    (Cause::Unknown, "#8a8a8a"),
    (Cause::DataSkew, "#8e5bb5"),
    (Cause::ShuffleSkew, "#5e3c99"),
    (Cause::Spill, "#b8860b"),
    (Cause::GarbageCollection, "#2a9d8f"),
    (Cause::Serialization, "#7a9a01"),
    (Cause::Locality, "#1f78b4"),
    (Cause::Cpu, "#c0392b"),
    (Cause::Disk, "#e08214"),
    (Cause::Network, "#d6409f"),
    (Cause::SlowNode, "#5d4037"),
    (Cause::WarmUp, "#e6b800"),
];

/// Returns the picture: time to the right, a lane for each slot of each node. A straggler with several causes has
/// the colour of the most certain one; its tooltip lists all. The legend lists only causes that were found.
pub fn diagnosis_svg(trace: &JobTrace, findings: &[Finding]) -> String {
    let mut by_attempt: BTreeMap<usize, Vec<&Finding>> = BTreeMap::new();
    let index = attempts_by_name(trace);
    for finding in findings {
        let Subject::Task { stage, task, attempt, .. } = &finding.subject else { continue };
        if let Some(&index) = index.get(&(stage.clone(), *task, *attempt)) {
            by_attempt.entry(index).or_default().push(finding);
        }
    }
    let surest = |found: &[&Finding]| {
        let best = found.iter().max_by(|a, b| a.confidence.total_cmp(&b.confidence).then(b.cause.cmp(&a.cause)));
        best.map_or(Cause::Unknown, |finding| finding.cause)
    };
    let mut of_attempts: Vec<usize> =
        trace.attempts().iter().map(|attempt| attempt.stage.index() % PLAIN.len()).collect();
    let kind = |(colour, meaning)| Kind { colour, opacity: 1.0, meaning };
    let mut kinds: Vec<Kind> = PLAIN.map(kind).into();
    for (cause, colour) in CAUSES {
        let of_it: Vec<usize> = by_attempt.iter().filter(|(_, f)| surest(f) == cause).map(|(&i, _)| i).collect();
        if of_it.is_empty() {
            continue;
        }
        of_it.into_iter().for_each(|i| of_attempts[i] = kinds.len());
        kinds.push(kind((colour, cause_text(cause))));
    }
    let notes = by_attempt.iter().map(|(&i, found)| (i, note(found)));
    painted_svg(trace, &Paint { kinds, of_attempts, notes: notes.collect() })
}

/// Returns the attempts by stage, task and number, as findings name them.
fn attempts_by_name(trace: &JobTrace) -> BTreeMap<(String, u64, u32), usize> {
    let names: Vec<String> = trace.stages_with_ids().map(|(id, _)| stage_name(trace, id)).collect();
    let key = |(i, attempt): (usize, &Attempt)| {
        ((names[attempt.stage.index()].clone(), u64::from(attempt.task), attempt.number), i)
    };
    trace.attempts().iter().enumerate().map(key).collect()
}

/// Returns the causes of an attempt, with their strongest evidence.
fn note(found: &[&Finding]) -> String {
    let one = |finding: &&Finding| match finding.evidence.first().filter(|_| finding.cause != Cause::Unknown) {
        Some(evidence) => format!(
            "{}: {} {:.1} {}, expected {:.1}",
            cause_text(finding.cause),
            evidence.what,
            evidence.value,
            evidence.unit,
            evidence.usual
        ),
        None => format!("cause {}", cause_text(finding.cause)),
    };
    found.iter().map(one).collect::<Vec<_>>().join("; ")
}
