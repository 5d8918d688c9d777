//! The document of a net's structure: verdicts, matrices, invariants, bounds, siphons, traps.

use crate::document::{Block, Cell, Column, Document, NextCommand, Number, Piece, Report, Screen, Show, Table};
use crate::render::sentence;
use crate::report::json::key_of;
use crate::report::number::counted;
use crate::report::structure::{
    BoundRow, DeadlockRow, Entry, FlowRow, FlowRows, Sections, SetRows, StructureReport, ThroughputRow, Verdict, Weight,
};
use crate::structure::BoundSource;

/// Rows of a list that are shown without `--verbose`.
const MOST_ROWS: usize = 30;
/// Maximum rows and columns of a matrix that is shown as a matrix; the entries of a larger matrix are listed.
const LARGEST: [usize; 2] = [30, 16];
/// Names in a sentence.
const MOST_NAMES: usize = 30;
/// Terms of a sum in a table; a longer one is only counted.
const MOST_TERMS: usize = 6;

impl Report for StructureReport {
    const KIND: &'static str = "structure";

    fn document(&self) -> Document<'_> {
        let size = [counted(self.rows.len() as u128, "place"), counted(self.transitions.len() as u128, "transition")];
        let mut document = Document {
            kind: "structure of a net",
            title: if self.net.is_empty() { "A net without a name".to_owned() } else { self.net.clone() },
            question: format!("Consequences of the arcs and the initial marking. The net has {}.", size.join(" and ")),
            answer: answer(self).into(),
            remarks: remarks(self),
            screen: screen(self),
            ..Document::default()
        };
        if self.sections.class {
            document.table(verdicts("Class", &self.classes));
            document.table(verdicts("Properties", &self.properties));
        }
        let grids = self.sections.matrices && self.rows.len() <= LARGEST[0] && self.transitions.len() <= LARGEST[1];
        if grids {
            matrices(&mut document, self, matrix_grid);
        }
        if self.sections.matrices {
            document.table(marking(self));
        }
        invariants(&mut document, self);
        document.table(bounds(self));
        document.table(throughputs(self));
        document.table(sets("Minimal siphons", self.siphons.as_ref()));
        document.table(sets("Minimal traps", self.traps.as_ref()));
        if let Some(found) = &self.deadlock {
            document.table(sentences("Deadlock and liveness", "", deadlock(found)));
        }
        // lists of entries come last
        if self.sections.matrices && !grids {
            let text = format!(
                "The matrices have {} rows and {} columns. A terminal shows their entries with --verbose; --json and --csv contain them.",
                self.rows.len(),
                self.transitions.len()
            );
            document.blocks.push(Block::Text(vec![text.into()]));
            matrices(&mut document, self, matrix_list);
        }
        document.table(entries(self));
        document
    }
}

/// Returns the properties on one screen; none if only some parts were requested.
fn screen(report: &StructureReport) -> Option<Screen> {
    let is_all = report.sections == Sections::default() && report.deadlock.is_some();
    let (siphons, traps) = report.siphons.as_ref().zip(report.traps.as_ref()).filter(|_| is_all)?;
    let class = report.classes.iter().find(|class| class.holds == Some(true));
    let class = class.map_or_else(String::new, |class| format!(" The net is of the class `{}`.", class.name));
    let sets = format!(
        " It has {} and {}.",
        counted(siphons.sets.len() as u64, "minimal siphon"),
        counted(traps.sets.len() as u64, "minimal trap")
    );
    Some(Screen {
        answer: format!("{}{class}{sets}", sentence(&answer(report))),
        tables: vec![verdicts("Properties", &report.properties), bounds(report)],
        unknown: remarks(report),
        next: vec![
            NextCommand::new("tailspn net structure FILE --verbose", "class, matrices, invariants, siphons and traps"),
            NextCommand::new("tailspn net solve FILE", "every state, and values in the long run"),
        ],
        ..Screen::default()
    })
}

fn answer(report: &StructureReport) -> Vec<Piece> {
    let Some(found) = &report.deadlock else {
        let class = report.classes.iter().find(|class| class.holds == Some(true) && report.sections.class);
        return class.map(|class| format!("The net is of the class `{}`.", class.name).into()).into_iter().collect();
    };
    let method = key_of(&found.method);
    let free = match found.deadlock_free {
        Some(true) => format!("Deadlock-free with any priorities and delays ({method})."),
        Some(false) => format!("A deadlock is reachable if time and priorities allow it ({method})."),
        None => "The structure does not decide whether a deadlock is reachable.".to_owned(),
    };
    let live = match (found.live, found.live_with_time) {
        (Some(true), true) => "Live: every transition can always fire again.",
        (Some(true), false) => "The untimed net is live; priorities and delays can keep transitions from firing.",
        (Some(false), with_time) if with_time || !found.never_fire.is_empty() => "Not live.",
        (Some(false), _) => "The untimed net is not live; priorities and delays can make the net live.",
        (None, _) => "The structure does not decide whether the net is live.",
    };
    vec![format!("{free} {live}").into()]
}

fn remarks(report: &StructureReport) -> Vec<String> {
    let mut remarks = Vec::new();
    if report.partial {
        remarks.push(
            "Partial: a limit stopped some analyses. --max-rows, --max-sets and --max-time set the limits.".to_owned(),
        );
    }
    if !report.matrices.inhibition.is_empty() {
        remarks.push("Class, invariants, siphons and traps ignore inhibitor arcs.".to_owned());
    }
    for open in &report.matrices.open {
        let [row, t] = names(report, open.row, open.transition);
        remarks.push(format!(
            "The weight of the {} arc between `{row}` and `{t}` depends on the marking; the matrices omit this arc.",
            key_of(&open.kind)
        ));
    }
    remarks
}

/// Returns the names of a row and a transition; a result that was read may have wrong numbers.
fn names(report: &StructureReport, row: u32, transition: u32) -> [&str; 2] {
    [(&report.rows, row), (&report.transitions, transition)]
        .map(|(all, i)| all.get(i as usize).map_or("?", String::as_str))
}

fn verdicts(title: &str, verdicts: &[Verdict]) -> Table {
    let word = |holds: Option<bool>| holds.map_or("unknown", |holds| if holds { "yes" } else { "no" });
    let row = |verdict: &Verdict| {
        let reason = verdict.reason.clone().unwrap_or_default();
        vec![verdict.name.to_string().into(), word(verdict.holds).into(), Cell::prose(reason)]
    };
    Table { form: crate::document::Form::Fields, ..Table::new(title, "", ["", "", ""]) }.rows(verdicts.iter().map(row))
}

/// Returns a list of sentences.
fn sentences(title: &str, note: impl Into<String>, all: impl IntoIterator<Item = String>) -> Table {
    Table::new(title, note, [""]).rows(all.into_iter().map(|text| vec![Cell::prose(text)])).most(MOST_ROWS)
}

/// Returns the matrices with their names in JSON and CSV.
fn all_matrices(report: &StructureReport) -> [(&'static str, &'static str, &'static str, &Vec<Entry>); 5] {
    let all = &report.matrices;
    [
        ("Forward incidence matrix: tokens produced", "forward", "forward", &all.forward),
        ("Backward incidence matrix: tokens consumed", "backward", "backward", &all.backward),
        ("Combined incidence matrix", "combined", "combined", &all.combined),
        ("Inhibition matrix: tokens that disable", "inhibition", "inhibition", &all.inhibition),
        ("Test matrix: tokens needed and kept", "tests", "test", &all.tests),
    ]
}

/// Appends each matrix that is not empty, as a table that `form` creates.
fn matrices(
    document: &mut Document<'_>,
    report: &StructureReport,
    form: fn(&StructureReport, &str, &str, &[Entry]) -> Table,
) {
    for (title, key, _, entries) in all_matrices(report).into_iter().filter(|(.., entries)| !entries.is_empty()) {
        document.table(form(report, title, key, entries));
    }
}

fn matrix_number(key: &str, i: usize, entry: &Entry) -> Cell {
    Number::new(format!("/matrices/{key}/{i}/value"), entry.value as f64, "").into()
}

/// Returns the entries of a matrix as rows.
fn matrix_list(report: &StructureReport, title: &str, key: &str, entries: &[Entry]) -> Table {
    let row = |(i, entry): (usize, &Entry)| {
        let names = names(report, entry.row, entry.transition).map(Cell::from);
        names.into_iter().chain([matrix_number(key, i, entry)]).collect()
    };
    let rows = entries.iter().enumerate().map(row);
    Table::new(title, "", ["place", "transition", "value"]).rows(rows).most(MOST_ROWS).show(Show::Detail)
}

/// Returns a matrix with a column per transition.
fn matrix_grid(report: &StructureReport, title: &str, key: &str, entries: &[Entry]) -> Table {
    let columns = std::iter::once(String::new()).chain(report.transitions.iter().cloned());
    let mut table = Table::new(title, "", columns).rows(report.rows.iter().map(|name| {
        let zeros = std::iter::repeat_n(Cell::from("0"), report.transitions.len());
        std::iter::once(Cell::from(name.clone())).chain(zeros).collect()
    }));
    for (i, entry) in entries.iter().enumerate() {
        let row = table.rows.get_mut(entry.row as usize);
        if let Some(cell) = row.and_then(|row| row.get_mut(entry.transition as usize + 1)) {
            *cell = matrix_number(key, i, entry);
        }
    }
    table
}

fn marking(report: &StructureReport) -> Table {
    let pairs = report.transitions.iter().zip(&report.fires_first);
    let first: Vec<String> = pairs.filter(|(_, first)| **first).map(|(name, _)| name.clone()).collect();
    let enabled = if first.is_empty() { "none".to_owned() } else { listed(&first) };
    let note = format!("Places that are not listed are empty. Enabled transitions: {enabled}.");
    let row = |(i, (name, tokens)): (usize, (&String, &u32))| {
        vec![name.clone().into(), Number::count(format!("/initial/{i}"), (*tokens).into()).into()]
    };
    let rows = report.rows.iter().zip(&report.initial).enumerate().filter(|(_, (_, tokens))| **tokens > 0).map(row);
    let table = Table::new("Initial marking", note, ["place", "tokens"]).rows(rows).most(MOST_ROWS);
    if table.rows.is_empty() { table.row(["no tokens".into()]) } else { table }
}

/// Returns a weighted sum as text, such as `#(A) + 2 #(B)`.
fn sum_text(weights: &[Weight]) -> String {
    let mut text = String::new();
    for weight in weights {
        let (sign, size) = weight.weight.strip_prefix('-').map_or(("+", weight.weight.as_str()), |size| ("-", size));
        text += match (text.is_empty(), sign) {
            (true, "-") => "-",
            (true, _) => "",
            (false, "-") => " - ",
            (false, _) => " + ",
        };
        if size != "1" {
            text += &format!("{size} ");
        }
        text += &format!("#({})", weight.name);
    }
    text
}

fn firings_text(row: &FlowRow) -> String {
    let term = |w: &Weight| if w.weight == "1" { w.name.clone() } else { format!("{} {}", w.weight, w.name) };
    row.weights.iter().map(term).collect::<Vec<_>>().join(", ")
}

fn invariants(document: &mut Document<'_>, report: &StructureReport) {
    let equation = |row: &FlowRow| format!("{} = {}", sum_text(&row.weights), row.value.as_deref().unwrap_or("?"));
    let places = ("P-invariants", "Minimal semiflows: weighted sums of tokens that never change.", "place");
    let transitions =
        ("T-invariants", "Minimal semiflows: numbers of firings that together restore the marking.", "transition");
    for ((title, note, of), semiflows, basis, show) in [
        (places, &report.place_semiflows, &report.place_basis, &equation as &dyn Fn(&FlowRow) -> String),
        (transitions, &report.transition_semiflows, &report.transition_basis, &firings_text),
    ] {
        let Some(semiflows) = semiflows else { continue };
        document.table(flows(title, note, semiflows, of, show));
        // the basis adds information only if semiflows are missing or do not span it
        let says_more = |basis: &&FlowRows| semiflows.cut.is_some() || basis.vectors.len() > semiflows.vectors.len();
        if let Some(basis) = basis.as_ref().filter(says_more) {
            document.table(flows(&format!("Basis of all {title}"), "", basis, of, show));
        }
    }
    if let Some(rank) = report.rank {
        let rank = Number::count("/rank", rank as u64);
        document.blocks.push(Block::Text(vec!["Rank of the incidence matrix: ".into(), rank.into(), ".".into()]));
    }
}

fn flows(title: &str, note: &str, flows: &FlowRows, of: &str, show: &dyn Fn(&FlowRow) -> String) -> Table {
    let mut notes: Vec<String> = vec![note.to_owned()];
    notes.extend(flows.cut.as_ref().map(|cut| format!("Partial: {cut}.")));
    if !flows.excluded.is_empty() {
        notes.push(format!("Excluded, because an arc's weight depends on the marking: {}.", listed(&flows.excluded)));
    }
    notes.extend(match flows.not_covered.len() {
        0 => Some(format!("They cover every {of}.")),
        _ if flows.cut.is_none() => Some(format!("Not covered: {}.", listed(&flows.not_covered))),
        _ => None,
    });
    let none = (flows.vectors.is_empty()).then(|| "none".to_owned());
    sentences(title, notes.join(" "), flows.vectors.iter().map(show).chain(none))
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(MOST_NAMES).cloned().collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(MOST_NAMES);
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

fn partial(cut: Option<&String>) -> String {
    cut.map_or_else(String::new, |cut| format!("Partial: {cut}."))
}

fn bounds(report: &StructureReport) -> Table {
    let row = |(i, bound): (usize, &BoundRow)| {
        let operator = if bound.source == Some(BoundSource::Invariant) { "=" } else { "≤" };
        let because = match (&bound.sum, bound.source) {
            (Some(sum), _) if bound.weights.len() > MOST_TERMS => {
                format!("a sum over {} places {operator} {sum}", bound.weights.len())
            }
            (Some(sum), _) => format!("{} {operator} {sum}", sum_text(&bound.weights)),
            (None, Some(BoundSource::Capacity)) => "its capacity".to_owned(),
            (None, Some(_)) => "the marking equation, in floating point".to_owned(),
            (None, None) => "no weighted sum of tokens bounds it".to_owned(),
        };
        let most = bound.most.map(|most| Number::count(format!("/bounds/{i}/most"), most));
        vec![bound.name.clone().into(), most.into(), because.into()]
    };
    let rows = report.bounds.iter().flatten().enumerate().map(row);
    let note = partial(report.bounds_cut.as_ref());
    Table::new("Upper bounds of tokens", note, ["place", "maximum", "reason"]).rows(rows).most(MOST_ROWS)
}

fn throughputs(report: &StructureReport) -> Table {
    let Some(rows) = &report.throughputs else { return Table::default() };
    let row = |(i, row): (usize, &ThroughputRow)| {
        let most = row.most.map(|most| Number::new(format!("/throughputs/{i}/most"), most, "1/s"));
        vec![row.name.clone().into(), most.into()]
    };
    let columns = [Column::new("transition"), Column::new("maximum").unit("1/s")];
    let title = "Upper bounds of long-run throughput";
    let table = Table::new(title, partial(report.throughputs_cut.as_ref()), columns);
    let table = table.rows(rows.iter().enumerate().map(row)).most(MOST_ROWS);
    if rows.is_empty() { table.row(["no timed transition".into()]) } else { table }
}

fn sets(title: &str, sets: Option<&SetRows>) -> Table {
    let Some(found) = sets else { return Table::default() };
    let set = |set: &crate::report::structure::SetRow| {
        let note = match (set.marked, set.has_marked_trap) {
            (false, _) => " (empty)",
            (true, Some(false)) => " (contains no marked trap)",
            _ => "",
        };
        format!("{{{}}}{note}", listed(&set.names))
    };
    let none = found.sets.is_empty().then(|| "none".to_owned());
    sentences(title, partial(found.cut.as_ref()), found.sets.iter().map(set).chain(none))
}

/// Returns the basis of the answer.
fn deadlock(found: &DeadlockRow) -> Vec<String> {
    let mut all = vec![match (found.property, &found.bad_siphon) {
        (Some(true), _) => "Every siphon contains a marked trap.".to_owned(),
        (_, Some(siphon)) => format!("Siphon {{{}}} contains no marked trap.", listed(siphon)),
        _ => "It is unknown whether every siphon contains a marked trap.".to_owned(),
    }];
    if !found.never_fire.is_empty() {
        all.push(format!("Never marked: {}.", listed(&found.never_marked)));
        all.push(format!("Can never fire: {}.", listed(&found.never_fire)));
    }
    all.extend(found.obstacles.iter().map(|obstacle| format!("No theorem applies: {obstacle}.")));
    all.extend(found.well_formed.map(|well| {
        format!("{} marking makes the net live and bounded (rank theorem).", if well { "Some" } else { "No" })
    }));
    all
}

/// Returns everything, one entry per row, for CSV; `set` numbers vectors, siphons and traps from 1.
fn entries(report: &StructureReport) -> Table {
    let columns = ["section", "set", "name", "transition", "value"].map(|key| Column::new(key).key(key));
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut push = |cells: [&str; 5]| rows.push(cells.map(Cell::from).to_vec());
    let truth = |holds: Option<bool>| holds.map_or("", |holds| if holds { "1" } else { "0" });
    push(["partial", "", "", "", truth(Some(report.partial))]);
    for (section, verdicts) in [("class", &report.classes), ("property", &report.properties)] {
        verdicts.iter().for_each(|verdict| push([section, "", &verdict.name, "", truth(verdict.holds)]));
    }
    if let Some(found) = &report.deadlock {
        push(["deadlock", "", "property", "", truth(found.property)]);
        push(["deadlock", "", "deadlock_free", "", truth(found.deadlock_free)]);
        push(["deadlock", "", "live", "", truth(found.live)]);
    }
    for (_, _, section, entries) in all_matrices(report) {
        for entry in entries {
            let [row, t] = names(report, entry.row, entry.transition);
            push([section, "", row, t, &entry.value.to_string()]);
        }
    }
    for (name, tokens) in report.rows.iter().zip(&report.initial) {
        push(["initial", "", name, "", &tokens.to_string()]);
    }
    for (section, flows) in [
        ("p_semiflow", &report.place_semiflows),
        ("p_basis", &report.place_basis),
        ("t_semiflow", &report.transition_semiflows),
        ("t_basis", &report.transition_basis),
    ] {
        for (number, vector) in (1_u64..).zip(flows.iter().flat_map(|flows| &flows.vectors)) {
            vector.weights.iter().for_each(|own| push([section, &number.to_string(), &own.name, "", &own.weight]));
            if let Some(value) = &vector.value {
                push([&format!("{section}_value"), &number.to_string(), "", "", value]);
            }
        }
    }
    for bound in report.bounds.iter().flatten() {
        push(["bound", "", &bound.name, "", &bound.most.map_or_else(String::new, |most| most.to_string())]);
    }
    for row in report.throughputs.iter().flatten() {
        let most = row.most.map_or_else(String::new, |most| most.to_string());
        push(["throughput_bound", "", "", &row.name, &most]);
    }
    for (section, sets) in [("siphon", &report.siphons), ("trap", &report.traps)] {
        for (number, set) in (1_u64..).zip(sets.iter().flat_map(|sets| &sets.sets)) {
            set.names.iter().for_each(|name| push([section, &number.to_string(), name, "", ""]));
        }
    }
    Table::new("", "", columns).rows(rows).wide().show(Show::Csv)
}
