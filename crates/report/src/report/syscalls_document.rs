//! A diagnosis by system calls, and a profile of control runs, as documents.

use crate::diagnose::Finding;
use crate::diagnose::syscalls::{Answer, Profile};
use crate::document::{Cell, Column, Document, Number, Report, Show, Table};
use crate::report::diagnosis::cause_text;
use crate::report::diagnosis_document::{scaled, who};
use crate::report::number::{count, counted};
use crate::report::syscalls::{SyscallRow, SyscallVerdict, SyscallsReport, method_text};

/// Maximum number of rows for which readers see all calls, not just the slow ones.
const MOST: usize = 40;

impl Report for SyscallsReport {
    const KIND: &'static str = "syscalls";

    fn document(&self) -> Document<'_> {
        let runs = counted(self.control_runs as u128, "control run");
        let nodes = counted(self.nodes.len() as u128, "node");
        let mut document = Document {
            kind: "diagnosis by system calls",
            title: format!("{}: {nodes}, {}, against {runs}", self.run, self.form),
            question: "The node at fault, and the reason.".to_owned(),
            answer: vec![self.conclusion().into()].into(),
            remarks: self.notes.clone(),
            ..Document::default()
        };
        let warning = |row: &crate::report::SyscallWarningRow| format!("{}:{}: {}", row.file, row.line, row.text);
        document.remarks.extend(self.warnings.iter().map(warning));
        document.table(self.answer_table());
        let is_long = self.calls.len() > MOST;
        if is_long {
            document.table(self.calls("Slow calls", |row| row.verdict == SyscallVerdict::Slower));
        }
        let all = self.calls("Time of a call", |_| true).wide();
        document.table(all.show(if is_long { Show::Detail } else { Show::Always }));
        let file = |node: &crate::report::SyscallNodeRow| [format!("log of {}", node.node), node.file.clone()];
        document.provenance = self.nodes.iter().map(file).collect();
        document
    }
}

impl SyscallsReport {
    /// Returns the suspect by the last method, the most reliable one.
    fn conclusion(&self) -> String {
        let Some((last, others)) = self.answers.split_last() else { return String::new() };
        let (Some(cause), Some(node)) = (last.cause, last.nodes.first()) else {
            return "The system calls do not show a faulty node.".to_owned();
        };
        let agrees = |answer: &&Answer| answer.cause == last.cause && answer.nodes.contains(node);
        let agreeing: Vec<String> =
            others.iter().filter(agrees).map(|answer| format!("`{}`", method_text(answer.method))).collect();
        let with = match agreeing.len() {
            0 => String::new(),
            1 => format!(", and so does {}", agreeing[0]),
            _ => format!(", and so do {}", agreeing.join(" and ")),
        };
        let what = cause_text(cause);
        format!(
            "Check the {what} of {node}; the method `{}` identifies this node as faulty{with}.",
            method_text(last.method)
        )
    }

    fn answer_table(&self) -> Table {
        let columns = ["method", "node", "cause", "score", "threshold", "confidence", "evidence"];
        let mut table = Table::new("Node at fault, and the cause", "", columns);
        for (a, answer) in self.answers.iter().enumerate() {
            let method = || Cell::from(method_text(answer.method));
            if answer.findings.is_empty() {
                let why = answer.silence.clone();
                table.rows.push(vec![
                    method(),
                    Cell::Empty,
                    "unknown".into(),
                    Cell::Empty,
                    Cell::Empty,
                    Cell::Empty,
                    why.into(),
                ]);
            }
            for (f, finding) in answer.findings.iter().enumerate() {
                let number = |key: &str, value: f64| {
                    Cell::from(Number::new(format!("/answers/{a}/findings/{f}/{key}"), value, "").rounded(0.1))
                };
                table.rows.push(vec![
                    method(),
                    who(&finding.subject).into(),
                    cause_text(finding.cause).into(),
                    number("score", finding.score),
                    number("threshold", finding.threshold),
                    number("confidence", finding.confidence),
                    evidence(finding).into(),
                ]);
            }
        }
        table.cards()
    }

    /// Returns the calls that `shown` selects, with the least and the greatest mean of a node in the control runs.
    fn calls(&self, title: &str, shown: fn(&SyscallRow) -> bool) -> Table {
        const MILLI: f64 = 1e3;
        let note = "Milliseconds per call. Least and most: the range of node means in the control runs.";
        let columns = [
            Column::new("node").key("node"),
            Column::new("call").key("call"),
            Column::new("calls").key("calls"),
            Column::new("errors").key("errors").show(Show::Room),
            Column::new("total").unit("s").key("total_s").show(Show::Room),
            Column::new("mean").unit("ms").key("mean_s"),
            Column::new("least").unit("ms").key("usual_low_s"),
            Column::new("most").unit("ms").key("usual_high_s"),
            Column::new("verdict").key("verdict"),
        ];
        let mut table = Table::new(title, note, columns);
        for (i, row) in self.calls.iter().enumerate().filter(|(_, row)| shown(row)) {
            let at = |key: &str| format!("/calls/{i}/{key}");
            let mean = |key: &str, value: f64| Number::new(at(key), value, "s").shown_in("ms", MILLI).brief();
            let verdict = match row.verdict {
                SyscallVerdict::Usual => Cell::named("expected", "as usual"),
                SyscallVerdict::Faster => "faster".into(),
                SyscallVerdict::Slower => "slower".into(),
                SyscallVerdict::Unknown => Cell::Empty,
            };
            table.rows.push(vec![
                row.node.clone().into(),
                row.call.to_string().into(),
                Number::count(at("calls"), row.calls).into(),
                Number::count(at("errors"), row.errors).into(),
                Number::new(at("total_s"), row.total_s, "s").brief().into(),
                row.mean_s.map(|value| mean("mean_s", value)).into(),
                row.usual_s.map(|usual| mean("usual_s/low", usual.low)).into(),
                row.usual_s.map(|usual| mean("usual_s/high", usual.high)).into(),
                verdict,
            ]);
        }
        table
    }
}

/// Returns the evidence of a finding as text.
fn evidence(finding: &Finding) -> String {
    let text = |evidence: &crate::diagnose::Evidence| {
        let [seen, usual] = [evidence.value, evidence.usual]
            .map(|value| scaled(String::new(), value, value.abs(), &evidence.unit).text());
        format!("{}: {seen}, expected {usual}", evidence.what)
    };
    finding.evidence.iter().map(text).collect::<Vec<_>>().join("; ")
}

/// Returns the document of a profile of control runs.
pub fn syscall_profile_document(profile: &Profile) -> Document<'static> {
    let invocations = count(profile.invocations() as u128);
    let mut document = Document {
        kind: "profile of system calls",
        title: format!("Profile of {}", counted(profile.runs.len() as u128, "control run")),
        answer: vec![format!("{invocations} different invocations, each with its shortest and longest time.").into()]
            .into(),
        ..Document::default()
    };
    let mut table = Table::new("", "", ["run", "nodes", "calls", "pairs", "logs"]);
    for run in &profile.runs {
        let calls: u64 = run.nodes.iter().flat_map(|node| &node.classes).map(|class| class.calls).sum();
        let numbers = [run.nodes.len() as u64, calls, run.pairs.iter().count() as u64];
        let mut cells = vec![Cell::from(run.name.clone())];
        cells.extend(numbers.map(|number| Cell::from(Number::count("", number))));
        cells.push(run.form.text().into());
        table.rows.push(cells);
    }
    document.table(table);
    document
}
