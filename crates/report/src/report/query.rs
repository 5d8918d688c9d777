//! Answers to CSL and CSRL queries, as a document.

use crate::ask::net::{QueryReport, QueryRow};
use crate::document::{Column, Document, NextCommand, Number, Report, Screen, Table};
use crate::report::number::{count, counted};
use crate::report::simulation_document::NetWords as _;

impl Report for QueryReport {
    const KIND: &'static str = "query";
    const HAS_VERSION: bool = true;

    fn document(&self) -> Document<'_> {
        let mut document = Document {
            kind: "queries",
            title: self.net.title(),
            question: format!("Answers to the queries. The net has {}.", self.net.size()),
            answer: vec![answer(self).into()].into(),
            remarks: self.queries.iter().filter_map(|row| Some(format!("{}: {}", row.query, row.failed()?))).collect(),
            provenance: vec![
                [
                    "method".to_owned(),
                    format!("exact, from all {} states; equal parts are not folded", count(self.states as u128)),
                ],
                ["version".to_owned(), self.version.to_string()],
            ],
            ..Document::default()
        };
        let has_bound = self.queries.iter().any(|row| row.bound.is_some());
        let mut columns = vec![Column::new("query"), Column::new("answer").key("query")];
        if has_bound {
            columns.push(Column::new("verdict"));
        }
        let row = |(i, row): (usize, &QueryRow)| {
            let number = row.value.map(|value| Number::new(format!("/queries/{i}/value"), value, ""));
            let value = number.map_or_else(|| if row.failed().is_none() { "infinite" } else { "" }.into(), Into::into);
            let mut cells = vec![row.query.clone().into(), value];
            if has_bound {
                cells.push(verdict(row).into());
            }
            cells
        };
        let table = Table::new("Queries", "", columns).rows(self.queries.iter().enumerate().map(row));
        let remarks = document.remarks.clone();
        document.screen = Some(screen(self, Table { title: String::new(), ..table.clone() }, remarks));
        document.table(table);
        for (i, row) in self.queries.iter().enumerate() {
            if let Some(holds) = row.holds {
                document.fact("query_holds", Number::count(format!("/queries/{i}/holds"), holds.into()));
            }
        }
        document
    }
}

/// Returns the answers on one screen.
fn screen(report: &QueryReport, table: Table, remarks: Vec<String>) -> Screen {
    let states = counted(report.states as u128, "state");
    Screen {
        answer: format!("{} Exact, from {states}; equal parts are not folded.", answer(report)),
        tables: vec![table],
        unknown: remarks,
        next: vec![
            NextCommand::new("tailspn net solve FILE", "values in the long run, and verdicts on the net"),
            NextCommand::new("tailspn net check FILE", "problems, and the engines that can run it"),
        ],
        ..Screen::default()
    }
}

fn verdict(row: &QueryRow) -> &'static str {
    match (row.holds, &row.bound) {
        (Some(true), _) => "holds",
        (Some(false), _) => "does not hold",
        (None, Some(_)) if row.failed().is_none() => "undecided",
        _ => "",
    }
}

fn answer(report: &QueryReport) -> String {
    let asked =
        if report.queries.len() == 1 { "1 query".to_owned() } else { format!("{} queries", report.queries.len()) };
    let bounds = report.queries.iter().filter(|row| row.bound.is_some()).count();
    let hold = report.queries.iter().filter(|row| row.holds == Some(true)).count();
    let answered = report.queries.iter().filter(|row| row.failed().is_none()).count();
    let all = if answered == report.queries.len() { "answered".to_owned() } else { format!("{answered} answered") };
    if bounds == 0 { format!("{asked}, {all}.") } else { format!("{asked}, {all}; {hold} of {bounds} bounds hold.") }
}
