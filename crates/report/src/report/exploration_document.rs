//! The document of a net without time: formulas with their firing sequences, verdicts, bounds, liveness.

use crate::ask::net::{EvidenceRow, ExplorationReport, FormulaRow, MarkingGraphRow};
use crate::document::parts::memory;
use crate::document::{Cell, Column, Document, Number, Piece, Report, Show, Table};
use crate::report::simulation_document::NetWords as _;
use crate::report::verdict_tables::{Findings, listed, marking, steps};

impl Report for ExplorationReport {
    const KIND: &'static str = "exploration";
    const HAS_VERSION: bool = true;

    fn document(&self) -> Document<'_> {
        let findings = findings(self);
        let order = if self.priorities {
            "immediate transitions first, by priority"
        } else {
            "any enabled transition, whatever its priority"
        };
        let mut document = Document {
            kind: "markings of a net without time",
            title: self.net.title(),
            question: format!("Behaviour of the net without time. The net has {}.", self.net.size()),
            answer: answer(self, &findings).into(),
            remarks: remarks(self),
            provenance: [("tailspn", self.version.to_string()), ("fires next", order.to_owned())]
                .map(|(name, value)| [name.to_owned(), value])
                .to_vec(),
            ..Document::default()
        };
        document.fact("partial", Number::count("/partial", self.partial.into()));
        document.table(formulas(&self.formulas));
        document.table(findings.verdicts());
        if let Some(dead) = &self.deadlocks {
            document.fact("deadlocks", Number::new("/deadlocks/count", dead.count, ""));
        }
        self.state_space.iter().for_each(|space| state_space(&mut document, space));
        document.table(findings.bounds());
        document.table(findings.liveness());
        document
    }
}

fn findings(report: &ExplorationReport) -> Findings<'_> {
    Findings {
        partial: report.partial,
        explored: report.state_space.is_some(),
        unbounded: report.unbounded.as_ref(),
        safe: report.safe,
        bounds: &report.bounds,
        deadlocks: report.deadlocks.as_ref(),
        verdicts: report.verdicts.as_ref(),
        liveness: &report.liveness,
    }
}

fn answer(report: &ExplorationReport, findings: &Findings<'_>) -> Vec<Piece> {
    if let Some(unbounded) = &report.unbounded {
        return vec![format!("The net is unbounded: {} can grow forever.", listed(&unbounded.places)).into()];
    }
    let Some(space) = &report.state_space else { return Vec::new() };
    let least = if report.partial { "At least " } else { "" };
    let noun = if space.markings as u64 == 1 { "marking" } else { "markings" };
    let markings = Number::new("/state_space/markings", space.markings, "");
    let firings = if space.firings == 1 { "firing" } else { "firings" };
    let firings = format!(" {firings}; {}.", findings.in_words());
    let mut answer: Vec<Piece> = vec![least.into(), markings.into(), format!(" {noun}, ").into()];
    answer.extend([Number::count("/state_space/firings", space.firings as u64).into(), firings.into()]);
    let hold = report.formulas.iter().filter(|row| row.holds == Some(true)).count();
    answer.extend(match report.formulas.len() {
        0 => None,
        1 => Some(format!(" The formula {}.", verdict(report.formulas[0].holds)).into()),
        all if hold == all => Some(format!(" All {all} formulas hold.").into()),
        all => Some(format!(" {hold} of {all} formulas hold.").into()),
    });
    answer
}

fn remarks(report: &ExplorationReport) -> Vec<String> {
    report.stopped.iter().map(|why| format!("Partial: {why}.")).collect()
}

fn verdict(holds: Option<bool>) -> &'static str {
    match holds {
        Some(true) => "holds",
        Some(false) => "does not hold",
        None => "is undecided: markings are missing",
    }
}

fn formulas(rows: &[FormulaRow]) -> Table {
    let columns = [Column::new("formula"), Column::new("").key("formula_holds").show(Show::Csv)];
    let columns = columns.into_iter().chain(["verdict", "firing sequence"].map(Column::new));
    let row = |(i, row): (usize, &FormulaRow)| -> Vec<Cell> {
        let holds = row.holds.map(|holds| Number::count(format!("/formulas/{i}/holds"), holds.into()));
        let evidence = row.evidence.as_ref().map(evidence);
        vec![row.formula.clone().into(), holds.into(), verdict(row.holds).into(), evidence.into()]
    };
    Table::new("Formulas", "", columns).rows(rows.iter().enumerate().map(row)).cards()
}

/// Returns a firing sequence and its meaning.
fn evidence(row: &EvidenceRow) -> String {
    let mut text = steps(&row.path);
    if let Some(cycle) = &row.cycle {
        text += &format!(", then forever {}", steps(cycle));
    } else if row.stops {
        text += ", where nothing can fire";
    }
    let there = if row.marking.is_empty() { "no tokens".to_owned() } else { marking(&row.marking) };
    let start = if row.cycle.is_some() { "the cycle starts in" } else { "it leads to" };
    text += &format!("; {start} {there}");
    if let (Some(part), Some(holds)) = (&row.part, row.part_holds) {
        text += &format!(", where `{part}` {}", if holds { "holds" } else { "does not hold" });
    }
    text
}

fn state_space(document: &mut Document<'_>, space: &MarkingGraphRow) {
    let at = |name: &str, value: u64| Cell::from(Number::count(format!("/state_space/{name}"), value));
    let markings = Cell::from(Number::new("/state_space/markings", space.markings, ""));
    let firings = at("firings", space.firings as u64);
    document.fact("markings", markings.clone());
    document.fact("firings", firings.clone());
    let mut table = Table::fields("State space").row(["markings".into(), markings]).show(Show::Detail);
    if (space.explored as f64) < space.markings {
        table.rows.push(vec!["explored".into(), at("explored", space.explored as u64)]);
    }
    table.rows.push(vec!["firings".into(), firings]);
    table.rows.push(vec!["bits per marking".into(), at("marking_bits", space.marking_bits.into())]);
    table.rows.push(vec!["memory".into(), memory("/state_space/bytes", space.bytes).into()]);
    let wall = Number::new("/state_space/wall_s", space.wall_s, "s").shown_in("ms", 1e3);
    table.rows.push(vec!["time".into(), wall.into()]);
    document.table(table);
}
