//! Which knob buys most: what each does to a job's time, ranked, as text, CSV and JSON.

use std::fmt::Write as _;

use serde::Serialize;
use toml::Value;

use crate::report::csv::CsvError;
use crate::report::look::Look;
use crate::report::number::{counted, plain, within};
use crate::report::sweep::value_text;
use crate::report::table::{Align, Table};
use crate::sensitivity::Effect;

/// What one knob does.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum KnobEffect {
    /// A derivative at the base.
    Derivative {
        /// The base's value.
        at: f64,
        /// Seconds per unit of the knob.
        per_unit_s: Effect,
        /// Seconds for one percent more of it.
        per_percent_s: Effect,
    },
    /// One step from one end to the other, all others as in the base.
    Change {
        /// One end.
        from: Value,
        /// The other end.
        to: Value,
        /// Time there minus time here \[s\].
        change_s: Effect,
        /// On average over the range, seconds per unit; none for knobs that are no number and on log scales.
        per_unit_s: Option<Effect>,
        /// Seconds for one percent more in the middle of the range; none for knobs that are no number.
        per_percent_s: Option<Effect>,
    },
    /// Elementary effects over the whole range.
    Elementary {
        /// One end.
        from: Value,
        /// The other end.
        to: Value,
        /// μ\*, mean size \[s\].
        size_s: Effect,
        /// μ, mean with its sign \[s\].
        mean_s: Effect,
        /// σ, standard deviation between places \[s\].
        spread_s: Effect,
        /// μ per unit; none for knobs that are no number and on log scales.
        per_unit_s: Option<Effect>,
        /// μ for one percent more in the middle of the range; none for knobs that are no number.
        per_percent_s: Option<Effect>,
    },
    /// Sobol's indices over the whole range.
    Variance {
        /// One end.
        from: Value,
        /// The other end.
        to: Value,
        /// S, first-order index.
        first: Effect,
        /// S_T, total index.
        total: Effect,
        /// √(S_T V), the standard deviation that the knob makes \[s\].
        deviation_s: Effect,
    },
}

impl KnobEffect {
    /// By what knobs are ranked: seconds, without sign.
    pub fn weight(&self) -> f64 {
        match self {
            Self::Derivative { per_percent_s, .. } => per_percent_s.value.abs(),
            Self::Change { change_s, .. } => change_s.value.abs(),
            Self::Elementary { size_s, .. } => size_s.value,
            Self::Variance { deviation_s, .. } => deviation_s.value,
        }
    }

    /// The numbers with their names and units, for CSV.
    fn numbers(&self) -> Vec<(&'static str, &'static str, Effect)> {
        let optional = |name, unit, effect: &Option<Effect>| effect.map(|effect| (name, unit, effect));
        match self {
            Self::Derivative { per_unit_s, per_percent_s, .. } => {
                vec![("per_unit", "s", *per_unit_s), ("per_percent", "s", *per_percent_s)]
            }
            Self::Change { change_s, per_unit_s, per_percent_s, .. } => [
                Some(("change", "s", *change_s)),
                optional("per_unit", "s", per_unit_s),
                optional("per_percent", "s", per_percent_s),
            ]
            .into_iter()
            .flatten()
            .collect(),
            Self::Elementary { size_s, mean_s, spread_s, per_unit_s, per_percent_s, .. } => [
                Some(("size", "s", *size_s)),
                Some(("mean", "s", *mean_s)),
                Some(("spread", "s", *spread_s)),
                optional("per_unit", "s", per_unit_s),
                optional("per_percent", "s", per_percent_s),
            ]
            .into_iter()
            .flatten()
            .collect(),
            Self::Variance { first, total, deviation_s, .. } => {
                vec![("first", "", *first), ("total", "", *total), ("deviation", "s", *deviation_s)]
            }
        }
    }
}

/// A knob.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SensitivityRow {
    /// Its key.
    pub key: String,
    /// What it is called.
    pub name: String,
    /// What it does; none where that cannot be said.
    pub effect: Option<KnobEffect>,
    /// Why that cannot be said.
    pub note: Option<String>,
}

/// Everything that was found about some knobs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SensitivityReport {
    /// `derivatives`, `each`, `morris` or `sobol`.
    pub method: &'static str,
    /// How derivatives were found: `perturbation` or `likelihood ratio`; none for other methods.
    pub estimator: Option<&'static str>,
    /// What moves: `mean`, or a quantile such as `p95`.
    pub measure: String,
    /// That number itself \[s\]: at the base, or the mean over the ranges.
    pub value_s: Option<Effect>,
    /// Variance over the ranges \[s²\], of Sobol's indices.
    pub variance_s2: Option<Effect>,
    /// Variance that the replications would have added \[s²\], of Sobol's indices.
    pub noise_s2: Option<f64>,
    /// The knobs, the one that buys most first; those without a number last.
    pub knobs: Vec<SensitivityRow>,
    /// Confidence level of all intervals.
    pub level: f64,
    /// Rows of points; 0 for derivatives.
    pub rows: u64,
    /// Points that were run.
    pub points: u64,
    /// Replications of each point.
    pub replications: u64,
    /// Version of this crate that ran it.
    pub version: &'static str,
    /// Seed of everything.
    pub seed: u64,
    /// Whether it was stopped before its end.
    pub partial: bool,
}

impl SensitivityReport {
    /// Puts the knobs into order: what weighs most first, those without a number last.
    pub fn rank(&mut self) {
        let weight = |row: &SensitivityRow| row.effect.as_ref().map_or(-1.0, KnobEffect::weight);
        self.knobs.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
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
        KnobEffect::Change { from, to, change_s, per_unit_s, per_percent_s } => {
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
    let what = match report.method {
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
    let mut table = Table::new(first.into_iter().chain(columns(report.method, look).iter().map(right)));
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
    let Some((row, effect)) = report.knobs.iter().find_map(|row| Some((row, row.effect.as_ref()?))) else {
        return String::new();
    };
    let said = match effect {
        KnobEffect::Derivative { per_percent_s, .. } if separate(per_percent_s) => {
            let direction = if per_percent_s.value < 0.0 { "more" } else { "less" };
            let size = per_percent_s.scaled(per_percent_s.value.signum());
            format!("buys most: 1 % {direction} of it saves {} s", pair(&size))
        }
        KnobEffect::Change { from, to, change_s, .. } if separate(change_s) => {
            let (from, to) = if change_s.value < 0.0 { (from, to) } else { (to, from) };
            let size = change_s.scaled(change_s.value.signum());
            format!("buys most: {} instead of {} saves {} s", value_text(to), value_text(from), pair(&size))
        }
        KnobEffect::Elementary { size_s, .. } if size_s.low > 0.0 => {
            format!("matters most: over its range it moves the time by {} s", pair(size_s))
        }
        KnobEffect::Variance { total, .. } if total.low > 0.0 => {
            format!("matters most: it has a part in {} of the variance", pair(total))
        }
        _ => return "\nno knob is surely worth anything here\n".to_owned(),
    };
    format!("\n{} {said}\n", row.name)
}

fn separate(effect: &Effect) -> bool {
    effect.low > 0.0 || effect.high < 0.0
}

fn footer(report: &SensitivityReport) -> String {
    let mut parts = Vec::new();
    if let Some(value) = &report.value_s {
        let where_at = if matches!(report.method, "derivatives" | "each") { "at the base" } else { "over the ranges" };
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
    if let Some(estimator) = report.estimator {
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
        for (number, unit, effect) in row.effect.iter().flat_map(KnobEffect::numbers) {
            let [value, low, high] = [effect.value, effect.low, effect.high].map(|number| number.to_string());
            let level = report.level.to_string();
            let cells =
                [&row.key, &row.name, report.method, &report.measure, number, unit, &value, &low, &high, &level];
            writer.write_record(cells).map_err(CsvError::new)?;
        }
    }
    let bytes = writer.into_inner().map_err(CsvError::new)?;
    String::from_utf8(bytes).map_err(CsvError::new)
}
