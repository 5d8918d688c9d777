//! Which knob buys most: what each does to a job's time, ranked, as text, CSV and JSON.

use std::fmt::Write as _;

use toml::Value;

use crate::render::Look;
use crate::report::csv::CsvError;
use crate::report::number::{counted, plain, within};
use crate::report::sweep::value_text;
use crate::report::table::{Align, Table};
use crate::sensitivity::{Effect, KnobEffect, SensitivityReport};

/// Returns the numbers of an effect with their names and units, for CSV.
fn numbers(effect: &KnobEffect) -> Vec<(&'static str, &'static str, Effect)> {
    let optional = |name, unit, effect: &Option<Effect>| effect.map(|effect| (name, unit, effect));
    match effect {
        KnobEffect::Derivative { per_unit_s, per_percent_s, .. } => {
            vec![("per_unit", "s", *per_unit_s), ("per_percent", "s", *per_percent_s)]
        }
        KnobEffect::Change { change_s, at_from_s, at_to_s, per_unit_s, per_percent_s, .. } => [
            Some(("change", "s", *change_s)),
            optional("at_from", "s", at_from_s),
            optional("at_to", "s", at_to_s),
            optional("per_unit", "s", per_unit_s),
            optional("per_percent", "s", per_percent_s),
        ]
        .into_iter()
        .flatten()
        .collect(),
        KnobEffect::Elementary { size_s, mean_s, spread_s, per_unit_s, per_percent_s, .. } => [
            Some(("size", "s", *size_s)),
            Some(("mean", "s", *mean_s)),
            Some(("spread", "s", *spread_s)),
            optional("per_unit", "s", per_unit_s),
            optional("per_percent", "s", per_percent_s),
        ]
        .into_iter()
        .flatten()
        .collect(),
        KnobEffect::Variance { first, total, deviation_s, .. } => {
            vec![("first", "", *first), ("total", "", *total), ("deviation", "s", *deviation_s)]
        }
    }
}

fn pair(effect: &Effect) -> String {
    let half = effect.half_width();
    if half > 0.0 {
        return format!("{} ± {}", within(effect.value, Some(half)), within(half, Some(half)));
    }
    plain(effect.value)
}

fn optional(effect: Option<&Effect>) -> String {
    effect.map_or_else(String::new, pair)
}

fn range(from: &Value, to: &Value) -> String {
    format!("{} to {}", value_text(from), value_text(to))
}

/// Columns of a method after rank and name.
fn columns(method: &str, look: &Look) -> &'static [&'static str] {
    match method {
        "morris" if !look.unicode => &["range", "mu* [s]", "mu [s]", "sigma [s]", "s per unit", "s per 1 %"],
        "sobol" if !look.unicode => &["range", "S", "S_T", "sqrt(S_T V) [s]"],
        "derivatives" => &["value", "s per unit", "s per 1 %"],
        "each" => &["from and to", "change [s]", "s per unit", "s per 1 %"],
        "morris" => &["range", "μ* [s]", "μ [s]", "σ [s]", "s per unit", "s per 1 %"],
        _ => &["range", "S", "S_T", "√(S_T V) [s]"],
    }
}

fn cells(effect: &KnobEffect) -> Vec<String> {
    match effect {
        KnobEffect::Derivative { at, per_unit_s, per_percent_s } => {
            vec![plain(*at), pair(per_unit_s), pair(per_percent_s)]
        }
        KnobEffect::Change { from, to, change_s, per_unit_s, per_percent_s, .. } => {
            vec![range(from, to), pair(change_s), optional(per_unit_s.as_ref()), optional(per_percent_s.as_ref())]
        }
        KnobEffect::Elementary { from, to, size_s, mean_s, spread_s, per_unit_s, per_percent_s } => vec![
            range(from, to),
            pair(size_s),
            pair(mean_s),
            pair(spread_s),
            optional(per_unit_s.as_ref()),
            optional(per_percent_s.as_ref()),
        ],
        KnobEffect::Variance { from, to, first, total, deviation_s } => {
            vec![range(from, to), pair(first), pair(total), pair(deviation_s)]
        }
    }
}

/// The heading of a method.
fn heading(report: &SensitivityReport) -> String {
    let measure = &report.measure;
    let what = match &*report.method {
        "derivatives" => format!("which knob buys most: derivative of the {measure} time at the base"),
        "each" => format!("which knob buys most: change of the {measure} time, one knob at a time"),
        "morris" => format!("which knob matters: elementary effects on the {measure} time over the whole range"),
        _ => format!("whose is the spread of the {measure} time over the ranges: Sobol's indices"),
    };
    format!("{what} ({} % intervals)", plain(100.0 * report.level))
}

/// The text of a sensitivity: a ranked table, and what it says in a sentence.
pub fn sensitivity_text(report: &SensitivityReport, look: &Look) -> String {
    let mut text = String::new();
    if report.partial {
        text += "PARTIAL: stopped before its end\n\n";
    }
    text += &look.heading(&heading(report));
    let right = |name: &&str| ((*name).to_owned(), Align::Right);
    let first = [(String::new(), Align::Right), ("knob".to_owned(), Align::Left)];
    let mut table = Table::new(first.into_iter().chain(columns(&report.method, look).iter().map(right)));
    for (rank, row) in (1..).zip(&report.knobs) {
        let Some(effect) = &row.effect else { continue };
        table.push([format!("{rank}."), row.name.clone()].into_iter().chain(cells(effect)));
    }
    text += &table.text();
    for row in &report.knobs {
        if let Some(note) = &row.note {
            let _ = writeln!(text, "  {}: {note}", row.name);
        }
    }
    text += &conclusion(report);
    let _ = writeln!(text, "\n{}", footer(report));
    text
}

/// What the table says, in a sentence.
fn conclusion(report: &SensitivityReport) -> String {
    if report.knobs.iter().all(|row| row.effect.is_none()) {
        return String::new();
    }
    let Some(lead) = lead(report) else { return "\nno knob is surely worth anything here\n".to_owned() };
    let size = lead.effect.scaled(lead.effect.value.signum());
    let mut text = format!("\n{}{} s\n", lead.before, pair(&size));
    if !lead.rivals.is_empty() {
        let _ =
            writeln!(text, "that it comes first is not sure: its interval overlaps that of {}", lead.rivals_in_words());
    }
    text
}

/// The knob that surely does most, and how sure it is that none does more.
pub(super) struct Lead<'r> {
    /// Its place in the report.
    pub(super) place: usize,
    /// What is said before the number that says how much it does.
    pub(super) before: String,
    /// That number \[s\], by which knobs are ranked but for its sign.
    pub(super) effect: Effect,
    /// Its key in the JSON.
    pub(super) key: &'static str,
    /// Other knobs that may do more: their intervals overlap its own.
    pub(super) rivals: Vec<&'r str>,
}

/// What a ranking says: of the first knob whose effect is surely not 0; none where there is none. Knobs before it have larger effects that
/// may all be chance.
pub(super) fn lead(report: &SensitivityReport) -> Option<Lead<'_>> {
    let known = || report.knobs.iter().enumerate().filter_map(|(i, row)| Some((i, row, row.effect.as_ref()?)));
    let (place, row, effect) = known().find(|(_, _, effect)| is_sure(effect))?;
    let least = effect.weight().low;
    let others = known().filter(|(i, _, other)| *i != place && other.weight().high >= least);
    let rivals: Vec<&str> = others.map(|(_, row, _)| row.name.as_str()).collect();
    let may = !rivals.is_empty();
    let [buys, matters] = if may { ["may buy most", "may matter most"] } else { ["buys most", "matters most"] };
    let name = &row.name;
    let (before, effect, key) = match effect {
        KnobEffect::Derivative { per_percent_s, .. } => {
            let direction = if per_percent_s.value < 0.0 { "more" } else { "less" };
            let before = format!("{name} {buys}: 1 % {direction} of it saves ");
            (before, *per_percent_s, "per_percent_s")
        }
        KnobEffect::Change { from, to, change_s, .. } => {
            let (from, to) = if change_s.value < 0.0 { (from, to) } else { (to, from) };
            let before = format!("{name} {buys}: {} instead of {} saves ", value_text(to), value_text(from));
            (before, *change_s, "change_s")
        }
        KnobEffect::Elementary { size_s, .. } => {
            (format!("{name} {matters}: over its range it moves the time by "), *size_s, "size_s")
        }
        KnobEffect::Variance { deviation_s, .. } => {
            let before = format!("{name} {matters}: over the ranges it makes a standard deviation of ");
            (before, *deviation_s, "deviation_s")
        }
    };
    Some(Lead { place, before, effect, key, rivals })
}

/// Whether a knob surely does something.
fn is_sure(effect: &KnobEffect) -> bool {
    match effect {
        KnobEffect::Derivative { per_percent_s, .. } => per_percent_s.is_sure(),
        KnobEffect::Change { change_s, .. } => change_s.is_sure(),
        KnobEffect::Elementary { size_s, .. } => size_s.low > 0.0,
        KnobEffect::Variance { total, .. } => total.low > 0.0,
    }
}

impl Lead<'_> {
    /// The rivals, the first three by name.
    pub(super) fn rivals_in_words(&self) -> String {
        const MOST: usize = 3;
        let named = self.rivals[..self.rivals.len().min(MOST)].join(", ");
        match self.rivals.len().saturating_sub(MOST) {
            0 => named,
            more => format!("{named} and {more} more"),
        }
    }
}

fn footer(report: &SensitivityReport) -> String {
    let mut parts = Vec::new();
    if let Some(value) = &report.value_s {
        let where_at = if report.is_at_the_base() { "at the base" } else { "over the ranges" };
        parts.push(format!("{} {where_at} {} s", report.measure, pair(value)));
    }
    if let (Some(variance), Some(noise)) = (&report.variance_s2, report.noise_s2) {
        let deviation = variance.value.max(0.0).sqrt();
        parts.push(format!(
            "standard deviation {} s; {} s of noise by replications was taken out",
            plain(deviation),
            plain(noise.max(0.0).sqrt())
        ));
    }
    if let Some(estimator) = &report.estimator {
        parts.push(format!("by {estimator}"));
    }
    let points = counted(report.points, "point");
    let each = counted(report.replications, "replication");
    parts.push(format!("{points} with {each} each, seed {}", report.seed));
    parts.join("\n")
}

/// The CSV of a sensitivity: one number a row.
///
/// # Errors
///
/// [`CsvError`], which no report of this crate causes.
pub fn sensitivity_csv(report: &SensitivityReport) -> Result<String, CsvError> {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let header = ["key", "name", "method", "measure", "number", "unit", "value", "low", "high", "level"];
    writer.write_record(header).map_err(CsvError::new)?;
    for row in &report.knobs {
        for (number, unit, effect) in row.effect.iter().flat_map(numbers) {
            let [value, low, high] = [effect.value, effect.low, effect.high].map(|number| number.to_string());
            let level = report.level.to_string();
            let cells =
                [&row.key, &row.name, &*report.method, &report.measure, number, unit, &value, &low, &high, &level];
            writer.write_record(cells).map_err(CsvError::new)?;
        }
    }
    let bytes = writer.into_inner().map_err(CsvError::new)?;
    String::from_utf8(bytes).map_err(CsvError::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensitivity::SensitivityRow;

    fn report(changes: &[(f64, f64)]) -> SensitivityReport {
        let row = |(i, &(value, half)): (usize, &(f64, f64))| SensitivityRow {
            key: format!("k{i}"),
            name: format!("k{i}"),
            effect: Some(KnobEffect::Change {
                from: Value::Integer(1),
                to: Value::Integer(2),
                change_s: Effect { value, low: value - half, high: value + half },
                at_from_s: None,
                at_to_s: None,
                per_unit_s: None,
                per_percent_s: None,
            }),
            note: None,
        };
        let mut report = SensitivityReport {
            method: "each".into(),
            estimator: None,
            measure: "mean".to_owned(),
            value_s: None,
            variance_s2: None,
            noise_s2: None,
            knobs: changes.iter().enumerate().map(row).collect(),
            level: 0.95,
            rows: 1,
            points: 1,
            replications: 8,
            version: "0".into(),
            seed: 0,
            partial: false,
            plan: String::new(),
        };
        report.rank();
        report
    }

    /// What is said of knobs with these changes and half widths.
    fn said(changes: &[(f64, f64)]) -> Option<(String, Vec<String>)> {
        let report = report(changes);
        let lead = lead(&report)?;
        Some((report.knobs[lead.place].name.clone(), lead.rivals.iter().map(|&name| name.to_owned()).collect()))
    }

    #[test]
    fn the_first_is_sure_only_where_no_interval_reaches_its_own() {
        let lead =
            |name: &str, rivals: &[&str]| Some((name.to_owned(), rivals.iter().map(|&r| r.to_owned()).collect()));
        assert_eq!(said(&[(-9.0, 1.0), (7.5, 0.4), (0.0, 0.0)]), lead("k0", &[]));
        // sizes count, not signs: 8 to 10 and 7.5 to 8.5
        assert_eq!(said(&[(-9.0, 1.0), (8.0, 0.5), (1.0, 0.1)]), lead("k0", &["k1"]));
        // what may be chance does not come first, however large
        assert_eq!(said(&[(9.0, 10.0), (-3.0, 1.0), (0.5, 0.1)]), lead("k1", &["k0"]));
        assert_eq!(said(&[(9.0, 10.0), (0.0, 0.0)]), None);
        assert!(conclusion(&report(&[(9.0, 10.0)])).contains("no knob is surely worth anything"));
    }

    #[test]
    fn many_rivals_are_counted() {
        let all = [(9.0, 5.0), (8.0, 1.0), (7.0, 1.0), (6.0, 1.0), (5.0, 1.0), (2.0, 0.1)];
        let said = conclusion(&report(&all));
        assert!(said.contains("k0 may buy most: 1 instead of 2 saves 9.0 ± 5.0 s"), "{said}");
        assert!(said.contains("its interval overlaps that of k1, k2, k3 and 1 more\n"), "{said}");
    }
}
