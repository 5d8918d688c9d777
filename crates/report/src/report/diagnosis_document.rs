//! The document of a diagnosis: stragglers and their causes, advice, findings, and inputs.

use std::collections::BTreeMap;

use crate::diagnose::causes::{Advice, OtherRemedy, ReplayedTime, WarmUp};
use crate::diagnose::{Cause, Evidence, Finding, Subject};
use crate::document::parts::cut;
use crate::document::{Block, Cell, Column, Document, Number, Piece, Report, Show, Table};
use crate::estimate::Measured;
use crate::report::diagnosis::{DiagnosedStageRow, DiagnosisReport, cause_text};
use crate::report::json::key_of;
use crate::report::number::counted;

/// A cause that cost less than this share of the job's time did not cost much.
const WORTH: f64 = 0.01;
/// A schedule of the recorded tasks that misses the time of the job by more than this share is poor.
const POOR: f64 = 0.05;

impl Report for DiagnosisReport {
    const KIND: &'static str = "why";

    fn document(&self) -> Document<'_> {
        let mut document = Document {
            kind: "explanation",
            title: self.subject.clone(),
            question: "What a run did, what was slow, why, and what would change it.".to_owned(),
            answer: self.answer().into(),
            screen: self.screen(),
            ..Document::default()
        };
        if self.partial {
            document.remarks.push("Reading was stopped early: the end of the log is missing.".to_owned());
        }
        document.remarks.extend(self.warm_up.iter().filter_map(wait_for_executors));
        document.remarks.extend(self.replayed.iter().filter_map(poor_replay));
        document.remarks.extend(self.missing.iter().cloned());
        document.remarks.extend(self.warnings.iter().cloned());
        document.table(self.advice_table());
        #[cfg(feature = "plots")]
        document.figure(crate::report::stragglers_plot::stragglers_figure(&self.findings));
        if self.findings.is_empty() {
            document.blocks.push(Block::Text(vec!["No findings.".into()]));
        }
        document.table(self.findings_table());
        document.table(self.stage_table());
        let used = self
            .used
            .iter()
            .map(|used| vec![used.kind.name().into(), Cell::prose(&*used.taken), used.name.clone().into()]);
        document.table(Table::new("Inputs", "", ["input", "contents", "name"]).rows(used));
        document.table(self.rows());
        if let Some(run) = &self.run {
            let run = run.document();
            document.title.clone_from(&run.title);
            document.append(run, "/run");
        }
        document
    }
}

impl DiagnosisReport {
    /// Returns the first paragraph: waits that cost nothing, stragglers, and the most costly cause.
    fn answer(&self) -> Vec<Piece> {
        let mut pieces = self.took();
        pieces.extend(self.triggers());
        if self.compared {
            pieces.extend(self.stragglers());
        } else {
            pieces.push(
                "There was nothing to compare, so there are no findings. The missing inputs are listed below.".into(),
            );
        }
        pieces
    }

    /// Returns the time of the job; nothing without a log of one application.
    fn took(&self) -> Vec<Piece> {
        let Some(replayed) = self.replayed.filter(|_| self.run.is_some()) else { return Vec::new() };
        vec![
            "The job took ".into(),
            time("/replayed/logged_s".to_owned(), replayed.logged_s, "s", false).into(),
            ". ".into(),
        ]
    }

    /// Returns the time in which a stream waited for its triggers; nothing for another job.
    fn triggers(&self) -> Vec<Piece> {
        let Some(trigger_s) = self.trigger_s else { return Vec::new() };
        let logged = self.replayed.map_or_else(Vec::new, |replayed| {
            vec![" of its ".into(), time("/replayed/logged_s".to_owned(), replayed.logged_s, "s", false).into()]
        });
        let waited = [
            "The stream waited for its triggers during ".into(),
            time("/trigger_s".to_owned(), trigger_s, "s", false).into(),
        ];
        waited
            .into_iter()
            .chain(logged)
            .chain([", which costs nothing: each batch had ended before. ".into()])
            .collect()
    }

    /// Returns the number of stragglers, the number with a cause, and the most costly cause.
    fn stragglers(&self) -> Vec<Piece> {
        let slow: Vec<&DiagnosedStageRow> = self.stages.iter().filter(|stage| stage.stragglers > 0).collect();
        let sum = |part: fn(&DiagnosedStageRow) -> u64| {
            slow.iter().fold(0, |sum: u64, stage| sum.saturating_add(part(stage)))
        };
        let all = counted(self.stages.len() as u128, "stage");
        let found = if self.stages.is_empty() {
            let found = self.findings.iter().filter(|finding| finding.cause != Cause::Unknown).count();
            format!("Found without the log of a job: {} with a known cause", counted(found as u128, "finding"))
        } else if slow.is_empty() {
            format!("No task took more than 1.5 times the median of its stage, in {all}")
        } else {
            let explained = sum(|stage| stage.explained);
            let stragglers = counted(sum(|stage| stage.stragglers), "straggler");
            format!("{stragglers} in {} of {all}, {explained} of them explained", slow.len())
        };
        let mut pieces: Vec<Piece> = vec![found.into()];
        pieces.extend(self.most_costly());
        pieces.push(".".into());
        pieces
    }

    /// Returns the most costly cause, and what the job would have saved without it.
    fn most_costly(&self) -> Vec<Piece> {
        let Some(advice) = self.advice.first() else { return Vec::new() };
        let on = if advice.nodes.is_empty() { String::new() } else { format!(" on {}", listed(&advice.nodes)) };
        let what = format!("{}{on}", cause_text(advice.cause));
        let logged = self.replayed.map(|replayed| replayed.logged_s).filter(|logged_s| *logged_s > 0.0);
        if let (Some(job_s), Some(logged_s)) = (advice.job_s, logged)
            && job_s < WORTH * logged_s
        {
            let start_s = self.start_s().filter(|start_s| *start_s >= WORTH * logged_s);
            let but = start_s.map_or("No cause cost".to_owned(), |start_s| {
                format!("Except the {start_s:.1} s of waiting for executors, no cause cost")
            });
            return vec![
                format!(". {but} much: the most costly, {what}, cost ").into(),
                time("/advice/0/job_s".to_owned(), job_s, "s", false).into(),
                " of the job's ".into(),
                time("/replayed/logged_s".to_owned(), logged_s, "s", false).into(),
            ];
        }
        let without = match advice.cause {
            Cause::Unknown => "The most costly stragglers have an unknown cause: without them".to_owned(),
            _ => format!("The most costly cause is {what}: without it"),
        };
        if advice.job_s.is_some_and(|job_s| job_s > 0.0) {
            return vec![
                format!(". {without}, the job would have been ").into(),
                self.saved(0, advice).map_or_else(|| "".into(), Piece::from),
                " shorter".into(),
            ];
        }
        if advice.lost_s > 0.0 {
            return vec![
                format!(". The most costly cause is {what}: together, tasks took ").into(),
                self.lost(0, advice).into(),
                " longer than expected".into(),
            ];
        }
        if advice.cause == Cause::Unknown { Vec::new() } else { vec![format!(". The cause is {what}").into()] }
    }

    /// Returns the time that the job waited for its first task.
    fn start_s(&self) -> Option<f64> {
        self.warm_up.as_ref().map(|cost| cost.start_s)
    }

    /// Returns true if a task behind the advice would have run longer.
    fn is_open(&self, advice: &Advice) -> bool {
        advice.findings.iter().any(|&found| self.findings.get(found).is_some_and(|found| found.at_least))
    }

    /// Returns the time by which the job would have been shorter.
    fn saved(&self, i: usize, advice: &Advice) -> Option<Number> {
        let job_s = advice.job_s?;
        let measured = match (advice.at_most, self.is_open(advice) && job_s > 0.0) {
            (true, _) => Measured::between(job_s, None, None).or_less(),
            (false, true) => Measured::at_least(job_s),
            (false, false) => Measured::between(job_s, None, None),
        };
        Some(Number::measured(format!("/advice/{i}/job_s"), &measured, "s").brief())
    }

    /// Returns the lost time; a lower bound if one of the tasks would have run longer.
    fn lost(&self, i: usize, advice: &Advice) -> Number {
        time(format!("/advice/{i}/lost_s"), advice.lost_s, "s", self.is_open(advice))
    }

    fn advice_table(&self) -> Table {
        let mut note = "Sorted by cost to the job. Job shorter by: the difference of two schedules of the recorded tasks, each task in the order of its launch on the slot that is free first. One schedule has the recorded times. In the other one, these tasks take the median time of their stage (with garbage collection or serialisation as the cause: spend as little time on it as other tasks; on a slow node: the time of tasks on other nodes). With too few tasks as the cause, the work of the stage is split evenly over the slots. ≤: an upper bound. Slot time: the total time of all attempts, at most. A straggler with several causes counts for each of them.".to_owned();
        if let Some(ReplayedTime { logged_s, replayed_s }) = self.replayed {
            note += &format!(
                " The schedule with the recorded times takes {replayed_s:.1} s; the job took {logged_s:.1} s."
            );
        }
        let columns = [
            "because of",
            "do this",
            "job shorter by",
            "instead",
            "stragglers",
            "longer than expected",
            "stages",
            "nodes",
            "strongest evidence",
        ];
        let mut table = Table::new("What to do", note, columns);
        for (i, advice) in self.advice.iter().enumerate() {
            let findings = advice.findings.iter().filter_map(|&found| self.findings.get(found));
            let strongest = findings.max_by(|a, b| a.confidence.total_cmp(&b.confidence));
            let evidence =
                strongest.filter(|found| found.cause != Cause::Unknown).and_then(|found| found.evidence.first());
            let evidence = evidence.map(|evidence| {
                let [seen, usual] =
                    [evidence.value, evidence.usual].map(|value| amount(String::new(), evidence, value).text());
                format!("{}: {seen}, expected {usual}", evidence.what)
            });
            // only tasks have a time of their own
            let stragglers = advice.stragglers > 0;
            table.rows.push(vec![
                cause_text(advice.cause).into(),
                Cell::prose(&*advice.text),
                self.saved(i, advice).into(),
                instead(advice).into(),
                stragglers.then(|| Number::count(format!("/advice/{i}/stragglers"), advice.stragglers as u64)).into(),
                stragglers.then(|| self.lost(i, advice)).into(),
                listed(&advice.stages).into(),
                listed(&advice.nodes).into(),
                evidence.into(),
            ]);
        }
        cut(table.cards())
    }

    /// Returns the findings for readers: findings with a cause first, then by time beyond the expected time.
    fn findings_table(&self) -> Table {
        let note = "Evidence: the strongest evidence. Expected: the value that the evidence was compared with. Confidence: calculated by a rule of the method. ≥: the task would \
                    have run longer.";
        let columns = [
            Column::new("stage/task"),
            Column::new("cause"),
            Column::new("time [s]"),
            Column::new("seen"),
            Column::new("expected"),
            Column::new("confidence"),
            Column::new("evidence").show(Show::Room),
            Column::new("start [s]").show(Show::Detail),
            Column::new("method").show(Show::Detail),
            Column::new("score").show(Show::Detail),
            Column::new("threshold").show(Show::Detail),
        ];
        let mut table = Table::new("Findings", note, columns);
        let beyond = |finding: &Finding| {
            let time = finding.evidence.iter().find(|evidence| evidence.what == "time");
            time.map_or(0.0, |time| time.value - time.usual)
        };
        let mut order: Vec<(usize, &Finding)> = self.findings.iter().enumerate().collect();
        order.sort_by(|(_, a), (_, b)| {
            (a.cause == Cause::Unknown).cmp(&(b.cause == Cause::Unknown)).then(beyond(b).total_cmp(&beyond(a)))
        });
        // a straggler with several causes is one row, with the evidence for the most certain cause
        let mut shown: Vec<(usize, &Finding, Vec<Cause>)> = Vec::new();
        let mut rows: BTreeMap<&Subject, usize> = BTreeMap::new();
        for (i, finding) in order {
            let is_task = matches!(finding.subject, Subject::Task { .. });
            let Some(&row) = rows.get(&finding.subject).filter(|_| is_task) else {
                rows.insert(&finding.subject, shown.len());
                shown.push((i, finding, vec![finding.cause]));
                continue;
            };
            let causes = &mut shown[row].2;
            if finding.cause != Cause::Unknown && !causes.contains(&finding.cause) {
                causes.push(finding.cause);
            }
        }
        table.rows = shown.into_iter().map(|(i, finding, causes)| row(i, finding, &causes)).collect();
        cut(table)
    }

    fn stage_table(&self) -> Table {
        let slow = self.stages.iter().enumerate().filter(|(_, stage)| stage.stragglers > 0);
        let others = self.stages.iter().filter(|stage| stage.stragglers == 0).count();
        let mut note = "Not covered: samples cover less than half of the straggler's time.".to_owned();
        if others > 0 {
            note += &format!(" {} without stragglers are in the JSON.", counted(others as u128, "stage"));
        }
        let columns = ["stage", "tasks", "median [s]", "stragglers", "explained", "not covered", "no data"];
        let mut table = Table::new("Stages with stragglers", note, columns);
        for (i, stage) in slow {
            let number = |name: &str, value: u64| Cell::from(Number::count(format!("/stages/{i}/{name}"), value));
            table.rows.push(vec![
                stage.stage.clone().into(),
                number("tasks", stage.tasks),
                time(format!("/stages/{i}/median_s"), stage.median_s, "", false).into(),
                number("stragglers", stage.stragglers),
                number("explained", stage.explained),
                number("uncovered", stage.uncovered),
                stage.unknown_features.join(", ").into(),
            ]);
        }
        cut(table)
    }

    /// Returns the findings for CSV: in the order of the report, each with its strongest evidence.
    fn rows(&self) -> Table {
        const KEYS: &str = "method subject stage task attempt node to_node from_s to_s cause \
                            score threshold confidence evidence evidence_value evidence_usual evidence_unit at_least";
        let number = |value: f64| Cell::from(Number::new("", value, ""));
        let row = |finding: &Finding| {
            let mut cells = vec![Cell::from(finding.method.name())];
            cells.extend(subject(&finding.subject));
            cells.extend([finding.from, finding.to].map(|time| Cell::from(time.map(|time| Number::new("", time, "")))));
            cells.push(key_of(&finding.cause).into());
            cells.extend([finding.score, finding.threshold, finding.confidence].map(number));
            match finding.evidence.first() {
                Some(evidence) => cells.extend([
                    evidence.what.clone().into(),
                    number(evidence.value),
                    number(evidence.usual),
                    evidence.unit.to_string().into(),
                ]),
                None => cells.extend([const { Cell::Empty }; 4]),
            }
            cells.push(Number::count("", finding.at_least.into()).into());
            cells
        };
        let columns = KEYS.split(' ').map(|key| Column::new("").key(key));
        Table::new("", "", columns).rows(self.findings.iter().map(row)).wide().show(Show::Csv)
    }
}

/// Returns a sentence about the wait for executors; none if it was short.
fn wait_for_executors(cost: &WarmUp) -> Option<String> {
    (cost.start_s > 1.0)
        .then(|| format!("The first task started {:.1} s after the job: no executor was ready.", cost.start_s))
}

/// Returns a sentence about a schedule that does not reproduce the log.
fn poor_replay(replayed: &ReplayedTime) -> Option<String> {
    let ReplayedTime { logged_s, replayed_s } = *replayed;
    let error = (replayed_s - logged_s).abs() / logged_s.max(f64::MIN_POSITIVE);
    (error > POOR).then(|| {
        format!(
            "The schedule of the recorded tasks takes {replayed_s:.1} s, but the job took {logged_s:.1} s, so \
             `job shorter by` is uncertain by this difference."
        )
    })
}

/// Returns the remedies other than the recommended one, with what they would have changed.
fn instead(advice: &Advice) -> Option<String> {
    let size = |value: f64| time(String::new(), value.abs(), "s", false).text();
    let change = |job_s: f64| match job_s {
        ..0.0 => format!("{} longer", size(job_s)),
        0.0 => "unchanged".to_owned(),
        _ => format!("{} shorter", size(job_s)),
    };
    let slots = |slot_s: f64| match slot_s {
        ..0.0 => format!(", {} less slot time", size(slot_s)),
        0.0 => String::new(),
        _ => format!(", {} more slot time", size(slot_s)),
    };
    let one = |other: &OtherRemedy| {
        let [least, most] = [other.job_s, other.at_best_s].map(change);
        let both = if least == most { least } else { format!("{least} to {most}") };
        format!("{}: job {both}{}", other.text, other.slot_s.map_or_else(String::new, slots))
    };
    let all: Vec<String> = advice.instead.iter().map(one).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Returns a time with a readable number of digits.
fn time(at: String, value: f64, unit: &'static str, at_least: bool) -> Number {
    let measured = if at_least { Measured::at_least(value) } else { Measured::between(value, None, None) };
    Number::measured(at, &measured, unit).brief()
}

fn row(i: usize, finding: &Finding, causes: &[Cause]) -> Vec<Cell> {
    let at = format!("/findings/{i}");
    let evidence = || finding.evidence.iter().enumerate();
    let took = evidence()
        .find(|(_, evidence)| evidence.what == "time")
        .map(|(j, evidence)| time(format!("{at}/evidence/{j}/value"), evidence.value, "", finding.at_least));
    // an unknown cause has no confidence
    let confidence = (finding.cause != Cause::Unknown)
        .then(|| Number::new(format!("{at}/confidence"), finding.confidence, "").percent().rounded(0.1));
    // the time has a column of its own
    let strongest = evidence().find(|(_, evidence)| evidence.what != "time");
    let of_evidence = |key: &str, value: fn(&Evidence) -> f64| {
        strongest.map(|(j, evidence)| amount(format!("{at}/evidence/{j}/{key}"), evidence, value(evidence)))
    };
    vec![
        who(&finding.subject).into(),
        causes.iter().map(|cause| cause_text(*cause)).collect::<Vec<_>>().join(", ").into(),
        took.into(),
        of_evidence("value", |evidence| evidence.value).into(),
        of_evidence("usual", |evidence| evidence.usual).into(),
        confidence.into(),
        strongest.map(|(_, evidence)| evidence.what.clone()).into(),
        finding.from.map(|from| Number::new(format!("{at}/from"), from, "").rounded(1.0)).into(),
        finding.method.name().into(),
        scaled(format!("{at}/score"), finding.score, finding.score.abs(), "").into(),
        scaled(format!("{at}/threshold"), finding.threshold, finding.threshold.abs(), "").into(),
    ]
}

/// Returns the subject of a finding as text.
pub(super) fn who(subject: &Subject) -> String {
    match subject {
        Subject::Task { stage, task, attempt, node } => {
            let again = if *attempt > 0 { format!(".{attempt}") } else { String::new() };
            let node = node.as_ref().map_or_else(String::new, |node| format!(" on {node}"));
            format!("{stage}/{task}{again}{node}")
        }
        Subject::Stage { stage } => format!("stage {stage}"),
        Subject::Node { node } => node.clone(),
        Subject::Link { from, to } => format!("{from} to {to}"),
        Subject::Job => "the job".to_owned(),
    }
}

/// Returns kind, stage, task, attempt, node and second node of a subject.
fn subject(subject: &Subject) -> [Cell; 6] {
    let none = || Cell::Empty;
    match subject {
        Subject::Task { stage, task, attempt, node } => [
            "task".into(),
            stage.clone().into(),
            task.to_string().into(),
            attempt.to_string().into(),
            node.clone().into(),
            none(),
        ],
        Subject::Stage { stage } => ["stage".into(), stage.clone().into(), none(), none(), none(), none()],
        Subject::Node { node } => ["node".into(), none(), none(), none(), node.clone().into(), none()],
        Subject::Link { from, to } => ["link".into(), none(), none(), none(), from.clone().into(), to.clone().into()],
        Subject::Job => ["job".into(), none(), none(), none(), none(), none()],
    }
}

/// Returns a value of evidence with its unit.
pub(super) fn amount(at: String, evidence: &Evidence, value: f64) -> Number {
    scaled(at, value, evidence.value.abs().max(evidence.usual.abs()), &evidence.unit)
}

/// Returns a number in a multiple of its unit. The multiple suits the largest of the adjacent numbers.
pub(super) fn scaled(at: String, value: f64, largest: f64, unit: &str) -> Number {
    let (factor, shown) = match (largest, unit) {
        (size, "s") if size < 1.0 => (1e3, "ms".to_owned()),
        (size, "ms") if size >= 1e3 => (1e-3, "s".to_owned()),
        (_, "s" | "ms" | "%") => (1.0, unit.to_owned()),
        (size, _) if size >= 1e9 => (1e-9, format!("G{unit}")),
        (size, _) if size >= 1e6 => (1e-6, format!("M{unit}")),
        (size, _) if size >= 1e4 => (1e-3, format!("k{unit}")),
        _ => (1.0, unit.to_owned()),
    };
    let number = Number::new(at, value, unit.to_owned()).shown_in(shown, factor);
    if largest > 0.0 { number.rounded(0.02 * largest) } else { number }
}

/// Returns a few names, and the number of further names.
fn listed(names: &[String]) -> String {
    const MOST: usize = 4;
    let more = names.len().saturating_sub(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names[..names.len().min(MOST)].join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::causes::Remedy;

    /// A report on a job of 100 s with one cause, which cost `job_s`.
    fn report(cause: Cause, job_s: f64, start_s: f64) -> DiagnosisReport {
        let advice = Advice {
            remedy: Remedy::Observe,
            text: "look".to_owned(),
            cause,
            stragglers: 2,
            stages: vec!["1".to_owned()],
            nodes: vec!["n1".to_owned()],
            lost_s: 8.0,
            job_s: Some(job_s),
            at_most: false,
            instead: vec![OtherRemedy { text: "wait".to_owned(), job_s: -2.5, at_best_s: 1.0, slot_s: None }],
            findings: Vec::new(),
        };
        let warm_up = WarmUp { start_s, stragglers: 0, stages: Vec::new(), lost_s: 0.0, job_s: None };
        DiagnosisReport {
            subject: "job".to_owned(),
            partial: false,
            used: Vec::new(),
            missing: Vec::new(),
            warnings: Vec::new(),
            compared: true,
            stages: Vec::new(),
            findings: Vec::new(),
            advice: vec![advice],
            replayed: Some(ReplayedTime { logged_s: 100.0, replayed_s: 100.0 }),
            trigger_s: None,
            warm_up: Some(warm_up),
            parts: Vec::new(),
            run: None,
        }
    }

    #[test]
    fn a_headline_ranks_unknown_causes_and_says_if_nothing_cost_much() {
        let headline = |cause, job_s, start_s| {
            let words = |piece: &Piece| match piece {
                Piece::Text(text) => text.clone(),
                Piece::Number(number) => number.text(),
            };
            report(cause, job_s, start_s).answer().iter().map(words).collect::<String>()
        };
        let cases = [
            (
                headline(Cause::Cpu, 1.5, 0.0),
                "The most costly cause is CPU on n1: without it, the job would have been 1.500 s shorter.",
            ),
            (
                headline(Cause::Unknown, 1.5, 0.0),
                "The most costly stragglers have an unknown cause: without them, the job would have been 1.500 s shorter.",
            ),
            (
                headline(Cause::Cpu, 0.5, 0.0),
                "No cause cost much: the most costly, CPU on n1, cost 0.500 s of the job's 100.0 s.",
            ),
            (headline(Cause::Cpu, 0.5, 7.0), "Except the 7.0 s of waiting for executors, no cause cost much:"),
        ];
        for (seen, expected) in cases {
            assert!(seen.contains(expected), "{seen}");
        }
    }

    #[test]
    fn other_remedies_are_listed_with_what_they_would_have_changed() {
        let mut advice = report(Cause::SlowNode, 7.0, 0.0).advice.remove(0);
        assert_eq!(instead(&advice).as_deref(), Some("wait: job 2.500 s longer to 1.000 s shorter"));
        advice.instead[0].at_best_s = -2.5;
        assert_eq!(instead(&advice).as_deref(), Some("wait: job 2.500 s longer"));
        advice.instead[0] = OtherRemedy { job_s: 0.0, at_best_s: 0.0, slot_s: Some(12.0), ..advice.instead[0].clone() };
        assert_eq!(instead(&advice).as_deref(), Some("wait: job unchanged, 12.00 s more slot time"));
        advice.instead[0].at_best_s = 1.0;
        assert_eq!(instead(&advice).as_deref(), Some("wait: job unchanged to 1.000 s shorter, 12.00 s more slot time"));
        advice.instead[0].slot_s = Some(-2.0);
        assert!(instead(&advice).is_some_and(|text| text.ends_with(", 2.000 s less slot time")));
        advice.instead.clear();
        assert_eq!(instead(&advice), None);
    }

    #[test]
    fn amounts_have_their_units() {
        let amount = |value: f64, unit: &str| scaled(String::new(), value, value, unit).text();
        let amounts = [(67e6, "B"), (1.5e4, "B/s"), (1500.0, "s"), (0.004, "s"), (21.9, "%"), (2.25, "")];
        let shown = amounts.map(|(value, unit)| amount(value, unit));
        assert_eq!(shown, ["67.0 MB", "15.00 kB/s", "1500 s", "4.000 ms", "21.90%", "2.250"]);
    }
}
