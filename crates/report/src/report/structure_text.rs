//! The structure of a net as a person reads it in a terminal.

use crate::render::Look;
use crate::report::number::{counted, plain};
use crate::report::structure::{
    BoundRow, DeadlockRow, Entry, FlowRow, FlowRows, SetRows, StructureReport, ThroughputRow, Verdict, Weight,
};
use crate::report::table::{Align, Table};

/// How much of long lists and wide matrices is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Rows of a list. Default 30.
    pub list: usize,
    /// Columns of a matrix; a wider one is left out. Default 16.
    pub columns: usize,
    /// Terms of a sum in a table; a longer one is only counted. Default 6.
    pub terms: usize,
}

impl Default for Extent {
    fn default() -> Self {
        Self { list: 30, columns: 16, terms: 6 }
    }
}

impl Extent {
    /// Everything.
    pub const WHOLE: Self = Self { list: usize::MAX, columns: usize::MAX, terms: usize::MAX };
}

/// Which sections are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sections {
    /// Classes and properties.
    pub class: bool,
    /// Matrices, marking, enabled transitions.
    pub matrices: bool,
}

/// The text of a report on a net's structure. Long lists end with how many more there are.
pub fn structure_text(report: &StructureReport, sections: Sections, extent: Extent, look: &Look) -> String {
    let places = counted(report.rows.len() as u64, "place");
    let transitions = counted(report.transitions.len() as u64, "transition");
    let mut text = look.heading(&format!("{}: {places}, {transitions}", report.net));
    if report.partial {
        text += "PARTIAL: some analyses were cut short\n";
    }
    if sections.class {
        text += &verdicts("class", &report.classes, look);
        text += &verdicts("properties", &report.properties, look);
    }
    if sections.matrices {
        text += &all_matrices(report, extent, look);
        text += &marking(report, extent, look);
    }
    text += &invariants(report, extent, look);
    if let Some(bounds) = &report.bounds {
        text += &bound_table(bounds, report.bounds_cut.as_deref(), extent, look);
    }
    if let Some(throughputs) = &report.throughputs {
        text += &throughput_table(throughputs, report.throughputs_cut.as_deref(), extent, look);
    }
    text += &set_list("minimal siphons", report.siphons.as_ref(), extent, look);
    text += &set_list("minimal traps", report.traps.as_ref(), extent, look);
    if let Some(found) = &report.deadlock {
        text += &deadlock_text(found, look);
    }
    text
}

fn section(title: &str, look: &Look) -> String {
    format!("\n{}", look.heading(title))
}

fn cut_line(cut: Option<&str>) -> String {
    cut.map_or_else(String::new, |cut| format!("  PARTIAL: {cut}\n"))
}

fn more_line(all: usize, extent: Extent) -> String {
    let more = all.saturating_sub(extent.list);
    if more == 0 { String::new() } else { format!("  and {} more; --all shows them\n", more) }
}

fn word(holds: Option<bool>) -> &'static str {
    match holds {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    }
}

fn verdicts(title: &str, verdicts: &[Verdict], look: &Look) -> String {
    let mut table = Table::new([(title, Align::Left), ("", Align::Left), ("", Align::Left)]);
    for verdict in verdicts {
        table.push([verdict.name, word(verdict.holds), verdict.reason.as_deref().unwrap_or("")]);
    }
    let text = table.text();
    let (_, rows) = text.split_once('\n').unwrap_or(("", ""));
    format!("{}{rows}", section(title, look))
}

fn all_matrices(report: &StructureReport, extent: Extent, look: &Look) -> String {
    let matrices = &report.matrices;
    let mut text = String::new();
    for (title, entries, always) in [
        ("forward incidence matrix: tokens put", &matrices.forward, true),
        ("backward incidence matrix: tokens taken", &matrices.backward, true),
        ("combined incidence matrix", &matrices.combined, true),
        ("inhibition matrix: tokens that disable", &matrices.inhibition, true),
        ("test matrix: tokens needed and left", &matrices.tests, false),
    ] {
        if always || !entries.is_empty() {
            text += &matrix(title, entries, report, extent, look);
        }
    }
    for open in &matrices.open {
        let (row, t) = (&report.rows[open.row as usize], &report.transitions[open.transition as usize]);
        text += &format!("  the weight of {} `{row}`, `{t}` depends on the marking and is in no matrix\n", open.kind);
    }
    text
}

fn matrix(title: &str, entries: &[Entry], report: &StructureReport, extent: Extent, look: &Look) -> String {
    let (rows, columns) = (report.rows.len(), report.transitions.len());
    let mut text = section(title, look);
    if entries.is_empty() {
        return text + "  all 0\n";
    }
    if columns > extent.columns || rows > extent.list {
        let number = counted(entries.len() as u64, "entry").replace("entrys", "entries");
        return text + &format!("  {rows} × {columns} with {number} not 0; --all, --json or --csv show them\n");
    }
    let names = report.transitions.iter().map(|name| (name.as_str(), Align::Right));
    let mut table = Table::new(std::iter::once(("", Align::Left)).chain(names));
    let mut cells = vec![vec!["0".to_owned(); columns]; rows];
    for entry in entries {
        cells[entry.row as usize][entry.transition as usize] = entry.value.to_string();
    }
    for (name, cells) in report.rows.iter().zip(cells) {
        table.push(std::iter::once(name.clone()).chain(cells));
    }
    text += &table.text();
    text
}

fn marking(report: &StructureReport, extent: Extent, look: &Look) -> String {
    let mut text = section("marking at the start", look);
    let some: Vec<_> = report.rows.iter().zip(&report.initial).filter(|(_, tokens)| **tokens > 0).collect();
    let mut table = Table::new([("place", Align::Left), ("tokens", Align::Right)]);
    some.iter().take(extent.list).for_each(|(name, tokens)| table.push([(*name).clone(), tokens.to_string()]));
    text += &if some.is_empty() { "  no tokens\n".to_owned() } else { table.text() };
    text += &more_line(some.len(), extent);
    if !some.is_empty() && some.len() < report.rows.len() {
        text += "  no tokens elsewhere\n";
    }
    let pairs = report.transitions.iter().zip(&report.fires_first);
    let first: Vec<&str> = pairs.filter(|(_, first)| **first).map(|(name, _)| name.as_str()).collect();
    let shown = first.iter().take(extent.list).copied().collect::<Vec<_>>().join(", ");
    text += &format!("  enabled: {}\n", if first.is_empty() { "none" } else { &shown });
    text + &more_line(first.len(), extent)
}

/// `#(A) + 2 #(B)`.
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

fn invariants(report: &StructureReport, extent: Extent, look: &Look) -> String {
    let equation = |row: &FlowRow| format!("{} = {}", sum_text(&row.weights), row.value.as_deref().unwrap_or("?"));
    let mut text = String::new();
    let places = [
        ("P-invariants: minimal semiflows, sums of tokens that never change", &report.place_semiflows),
        ("basis of all P-invariants", &report.place_basis),
    ];
    let transitions = [
        ("T-invariants: minimal semiflows, firings that lead back to the same marking", &report.transition_semiflows),
        ("basis of all T-invariants", &report.transition_basis),
    ];
    for (list, of, show) in
        [(places, "place", &equation as &dyn Fn(&FlowRow) -> String), (transitions, "transition", &firings_text)]
    {
        let [(title, semiflows), (basis_title, basis)] = list;
        let Some(semiflows) = semiflows else { continue };
        text += &flow_list(title, semiflows, of, show, extent, look);
        // the basis says more only where semiflows are missing or do not span it
        if let Some(basis) =
            basis.as_ref().filter(|b| semiflows.cut.is_some() || b.vectors.len() > semiflows.vectors.len())
        {
            text += &flow_list(basis_title, basis, of, show, extent, look);
        }
    }
    if let Some(rank) = report.rank {
        text += &format!("  rank of the incidence matrix: {rank}\n");
    }
    text
}

fn flow_list(
    title: &str,
    flows: &FlowRows,
    of: &str,
    show: &dyn Fn(&FlowRow) -> String,
    extent: Extent,
    look: &Look,
) -> String {
    let mut text = section(title, look);
    text += &cut_line(flows.cut.as_deref());
    for row in flows.vectors.iter().take(extent.list) {
        text += &format!("  {}\n", show(row));
    }
    text += &more_line(flows.vectors.len(), extent);
    if flows.vectors.is_empty() && flows.cut.is_none() {
        text += "  none\n";
    }
    if !flows.excluded.is_empty() {
        text +=
            &format!("  left out, for arcs whose weight depends on the marking: {}\n", listed(&flows.excluded, extent));
    }
    match flows.not_covered.len() {
        0 => text += &format!("  every {of} is in one of them\n"),
        _ if flows.cut.is_none() => text += &format!("  in none of them: {}\n", listed(&flows.not_covered, extent)),
        _ => {}
    }
    text
}

fn listed(names: &[String], extent: Extent) -> String {
    let shown = names.iter().take(extent.list).cloned().collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(extent.list);
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

fn bound_table(bounds: &[BoundRow], cut: Option<&str>, extent: Extent, look: &Look) -> String {
    let mut text = section("most tokens that the structure allows", look);
    text += &cut_line(cut);
    let mut table = Table::new([("place", Align::Left), ("at most", Align::Right), ("because", Align::Left)]);
    for bound in bounds.iter().take(extent.list) {
        let most = bound.most.map_or_else(|| "-".to_owned(), |most| most.to_string());
        let operator = if bound.source == Some("invariant") { "=" } else { look.either("≤", "<=") };
        let because = match (&bound.sum, bound.source) {
            (Some(sum), _) if bound.weights.len() > extent.terms => {
                format!("a sum over {} places {operator} {sum}", bound.weights.len())
            }
            (Some(sum), _) => format!("{} {operator} {sum}", sum_text(&bound.weights)),
            (None, Some("capacity")) => "its capacity".to_owned(),
            (None, Some(_)) => "the marking equation, in floating point".to_owned(),
            (None, None) => "no weighted sum of tokens keeps it down".to_owned(),
        };
        table.push([bound.name.clone(), most, because]);
    }
    text += &table.text();
    text + &more_line(bounds.len(), extent)
}

fn throughput_table(rows: &[ThroughputRow], cut: Option<&str>, extent: Extent, look: &Look) -> String {
    let mut text = section("most firings per second in the long run that the structure allows", look);
    text += &cut_line(cut);
    let mut table = Table::new([("transition", Align::Left), ("at most [1/s]", Align::Right)]);
    for row in rows.iter().take(extent.list) {
        table.push([row.name.clone(), row.most.map_or_else(|| "-".to_owned(), plain)]);
    }
    text += &if rows.is_empty() { "  no timed transition\n".to_owned() } else { table.text() };
    text + &more_line(rows.len(), extent)
}

fn set_list(title: &str, sets: Option<&SetRows>, extent: Extent, look: &Look) -> String {
    let Some(sets) = sets else { return String::new() };
    let mut text = section(title, look);
    text += &cut_line(sets.cut.as_deref());
    for set in sets.sets.iter().take(extent.list) {
        let note = match (set.marked, set.has_marked_trap) {
            (false, _) => "  (empty)",
            (true, Some(false)) => "  (contains no marked trap)",
            _ => "",
        };
        text += &format!("  {{{}}}{note}\n", listed(&set.names, extent));
    }
    if sets.sets.is_empty() && sets.cut.is_none() {
        text += "  none\n";
    }
    text + &more_line(sets.sets.len(), extent)
}

/// What is concluded, sentence by sentence.
fn deadlock_text(found: &DeadlockRow, look: &Look) -> String {
    let mut text = section("deadlock and liveness", look);
    let mut say = |line: &str| text += &format!("  {line}\n");
    let extent = Extent::default();
    match (found.property, &found.bad_siphon) {
        (Some(true), _) => say("every siphon contains a marked trap"),
        (_, Some(siphon)) => say(&format!("siphon {{{}}} contains no marked trap", listed(siphon, extent))),
        _ => say("whether every siphon contains a marked trap is not known"),
    }
    if !found.never_fire.is_empty() {
        say(&format!("never marked: {}", listed(&found.never_marked, extent)));
        say(&format!("can never fire: {}", listed(&found.never_fire, extent)));
    }
    for obstacle in &found.obstacles {
        say(&format!("no theorem applies: {obstacle}"));
    }
    match found.well_formed {
        Some(true) => say("some marking makes the net live and bounded (rank theorem)"),
        Some(false) => say("no marking makes the net live and bounded (rank theorem)"),
        None => {}
    }
    match found.deadlock_free {
        Some(true) => {
            say(&format!("no deadlock can be reached ({}), also with priorities and any delays", found.method))
        }
        Some(false) => say(&format!("a deadlock can be reached ({}), if time and priorities allow it", found.method)),
        None => say("whether a deadlock can be reached does not follow from the structure"),
    }
    match (found.live, found.live_with_time) {
        (Some(true), true) => say("every transition can always be made to fire again: the net is live"),
        (Some(true), false) => say("live without time; priorities and delays may keep transitions from firing"),
        (Some(false), _) if !found.never_fire.is_empty() => say("the net is not live"),
        (Some(false), true) => say("the net is not live"),
        (Some(false), false) => say("not live without time; priorities and delays may keep it from losing transitions"),
        (None, _) => say("whether the net is live does not follow from the structure"),
    }
    text
}
