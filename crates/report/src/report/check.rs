//! The check of a net: its parts, warnings, and the engines that can run it.

use serde::{Deserialize, Serialize};

use crate::ask::net::ExchangedParts;
use crate::document::parts::{folded_words, not_folded_words};
use crate::document::{Cell, Column, Document, Form, Number, Report, Show, Table};
use crate::formats::pipe::PipeFinding;
use crate::report::json::{Word, key_of};
use crate::report::number::count;
use crate::report::verdict_tables::exchanged;
use crate::sim::{FoldedParts, NotFolded};

/// Number of reasons that are listed for one engine.
const MOST_OBSTACLES: usize = 5;

/// Result of a check of a net.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckReport {
    /// Name of the net; may be empty.
    pub name: String,
    /// The format in which the net was read.
    pub dialect: String,
    /// Number of places.
    pub places: usize,
    /// Places with a capacity.
    pub places_with_capacity: usize,
    /// Number of transitions.
    pub transitions: usize,
    /// Immediate transitions.
    pub immediate: usize,
    /// Transitions with an exponential delay.
    pub exponential: usize,
    /// Transitions with another delay.
    pub other_delays: usize,
    /// Number of arcs.
    pub arcs: usize,
    /// Input arcs.
    pub input_arcs: usize,
    /// Output arcs.
    pub output_arcs: usize,
    /// Inhibitor arcs.
    pub inhibitor_arcs: usize,
    /// Test arcs.
    pub test_arcs: usize,
    /// The token classes.
    pub classes: Vec<ClassRow>,
    /// The rate parameters.
    pub parameters: Vec<ParameterRow>,
    /// Warnings about the file.
    pub warnings: Vec<FileWarningRow>,
    /// Parts without effect, and similar warnings.
    pub remarks: Vec<String>,
    /// The engine that a simulation uses; none if no engine can run the net.
    pub engine: Option<Word>,
    /// All engines.
    pub engines: Vec<EngineRow>,
    /// The folded parts of the net; none if no parts are equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folded: Option<FoldedParts>,
    /// The parts that `net solve` folds, after the expansion of delays to phases; `None` unless `net solve` folds more parts
    /// than `folded`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folded_by_solve: Option<FoldedParts>,
    /// Exchangeable parts that are not folded; `net solve` explores only canonical markings of these parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exchanged: Vec<ExchangedParts>,
    /// Similar parts that cannot be folded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_folded: Vec<NotFolded>,
    /// Result of a short run.
    pub trial: String,
    /// True if the short run showed that the net is wrong.
    pub fault: bool,
    /// Problems of PIPE versions with the net; `None` if not requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipe: Option<Vec<PipeFinding>>,
    /// Differences from another net; none if not requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differences: Option<Vec<DifferenceRow>>,
}

/// A token class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassRow {
    /// Name.
    pub name: String,
    /// Tokens in the initial marking.
    pub tokens: u64,
}

/// A rate parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParameterRow {
    /// Name.
    pub name: String,
    /// Value or expression.
    pub value: String,
}

/// A warning about the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileWarningRow {
    /// File, line and column.
    pub place: Option<String>,
    /// The warning as text.
    pub message: String,
}

/// An engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EngineRow {
    /// Name.
    pub name: Word,
    /// Reasons why the engine cannot run the net; empty if it can.
    pub obstacles: Vec<String>,
}

/// A difference between two nets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DifferenceRow {
    /// `place`, `transition` and so on.
    pub part: Word,
    /// Id of the part.
    pub name: String,
    /// The property that differs; `there` if one net lacks the part.
    pub what: Word,
    /// The value in this net.
    pub here: Option<String>,
    /// The value in the other net.
    pub there: Option<String>,
}

impl Report for CheckReport {
    const KIND: &'static str = "check";

    fn document(&self) -> Document<'_> {
        let engine = match &self.engine {
            Some(engine) => format!("The engine `{engine}` can run the net."),
            None => "No engine can run the net.".to_owned(),
        };
        let mut document = Document {
            kind: "check of a net",
            title: if self.name.is_empty() { "A net without a name".to_owned() } else { self.name.clone() },
            question: format!("Problems of the net (format {}), and the engines that can run it.", self.dialect),
            answer: vec![format!("{engine} A trial run {}.", self.trial).into()].into(),
            remarks: self.remarks.clone(),
            ..Document::default()
        };
        document.table(parts(self));
        document.table(engines(self));
        document.table(equal_parts(self));
        let warning =
            |row: &FileWarningRow| vec![row.place.clone().unwrap_or_default().into(), Cell::prose(&*row.message)];
        // in a terminal, warnings are shown with the lines of the file
        let warnings = Table::new("Warnings about the file", "", ["place", "oddity"]).show(Show::Detail);
        document.table(warnings.rows(self.warnings.iter().map(warning)));
        document.table(self.pipe.as_ref().map(|pipe| pipe_table(pipe, self.warnings.len())).unwrap_or_default());
        document.table(self.differences.as_deref().map(differences).unwrap_or_default());
        document
    }
}

fn parts(report: &CheckReport) -> Table {
    let parts = |counts: &[(usize, &str)]| {
        let named = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(*n as u128)));
        named.collect::<Vec<_>>().join(", ")
    };
    let columns = [Column::new(""), Column::new("").key("number"), Column::new("")];
    let mut table = Table { form: Form::Fields, ..Table::new("Parts", "", columns) };
    let mut push = |name: &str, number: Cell, parts: String| table.rows.push(vec![name.into(), number, parts.into()]);
    let number = |key: &str, value: usize| Cell::from(Number::count(format!("/{key}"), value as u64));
    let capacity = [(report.places_with_capacity, "with a capacity")];
    push("places", number("places", report.places), parts(&capacity));
    let delays = [
        (report.immediate, "immediate"),
        (report.exponential, "exponential"),
        (report.other_delays, "with another delay"),
    ];
    push("transitions", number("transitions", report.transitions), parts(&delays));
    let kinds = [
        (report.input_arcs, "input"),
        (report.output_arcs, "output"),
        (report.inhibitor_arcs, "inhibitor"),
        (report.test_arcs, "test"),
    ];
    push("arcs", number("arcs", report.arcs), parts(&kinds));
    let tokens = report.classes.iter().map(|class| format!("{} {}", count(class.tokens.into()), class.name));
    let tokens = tokens.collect::<Vec<_>>().join(", ");
    push("token classes", count(report.classes.len() as u128).into(), format!("initially {tokens}"));
    if !report.parameters.is_empty() {
        let values = report.parameters.iter().map(|p| format!("{} = {}", p.name, p.value));
        let number = count(report.parameters.len() as u128);
        push("rate parameters", number.into(), values.collect::<Vec<_>>().join(", "));
    }
    table
}

fn engines(report: &CheckReport) -> Table {
    let row = |engine: &EngineRow| {
        let mut obstacles = engine.obstacles.iter().take(MOST_OBSTACLES).cloned().collect::<Vec<_>>().join("; ");
        let left = engine.obstacles.len().saturating_sub(MOST_OBSTACLES);
        if left > 0 {
            obstacles += &format!("; and {} more", count(left as u128));
        }
        let can = obstacles.is_empty();
        let can = Cell::named(if can { "yes" } else { "no" }, can.to_string());
        vec![engine.name.to_string().into(), can, Cell::prose(obstacles)]
    };
    let columns = [
        Column::new("engine"),
        Column::new("can run it").key("engine_can_run_it"),
        Column::new("why not").key("engine_obstacles"),
    ];
    Table::new("Engines", "", columns).rows(report.engines.iter().map(row))
}

/// Returns the folded parts, and the reasons why similar parts are not folded; empty without similar parts.
fn equal_parts(report: &CheckReport) -> Table {
    let both = [("folded", &report.folded), ("folded by `net solve`", &report.folded_by_solve)];
    let folded =
        both.into_iter().filter_map(|(name, parts)| Some(vec![name.into(), folded_words(parts.as_ref()?).into()]));
    let row = |row: &NotFolded| vec!["not folded".into(), Cell::prose(not_folded_words(row))];
    let table = Table { form: Form::Fields, ..Table::new("Equal parts", "", ["", ""]) };
    let exchanged =
        report.exchanged.iter().map(|parts| vec!["canonical in `net solve`".into(), exchanged(parts).into()]);
    table.rows(folded.chain(exchanged).chain(report.not_folded.iter().map(row)))
}

fn pipe_table(findings: &[PipeFinding], oddities: usize) -> Table {
    let oddities = match oddities {
        0 => String::new(),
        1 => "The file has 1 feature that PIPE may read differently or refuse.".to_owned(),
        n => format!("The file has {} features that PIPE may read differently or refuse.", count(n as u128)),
    };
    let row =
        |row: &PipeFinding| vec![key_of(&row.version).into(), key_of(&row.severity).into(), Cell::prose(&*row.message)];
    let table = Table::new("PIPE", oddities, ["version", "severity", "finding"]).rows(findings.iter().map(row));
    let nothing = "no known problem with the net as read";
    if findings.is_empty() { table.row(["4.3 and 5".into(), "none".into(), nothing.into()]) } else { table }
}

fn differences(rows: &[DifferenceRow]) -> Table {
    let row = |row: &DifferenceRow| {
        let [here, there] = [&row.here, &row.there].map(|value| value.as_deref().unwrap_or("missing").into());
        // a part that exists in one net only has no further differences
        let what = if row.what == "there" { "" } else { &row.what };
        vec![row.part.to_string().into(), row.name.clone().into(), what.into(), here, there]
    };
    let columns = ["part", "name", "property", "here", "there"];
    let table = Table::new("Differences from the other net", "", columns).rows(rows.iter().map(row));
    if rows.is_empty() { table.row(["none".into()]) } else { table }
}
