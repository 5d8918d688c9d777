//! Which point is the cheapest that meets a deadline, and how that is shown, as text, CSV and JSON.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use toml::Value;

use crate::optimize::{Answer, Candidate, Found, Look as LookAt, OptimizePlan, Search, Verdict};
use crate::render::Look;
use crate::report::csv::CsvError;
use crate::report::json::Word;
use crate::report::number::{counted, plain, within};
use crate::report::sweep::{AxisRow, value_text};
use crate::report::table::{Align, Table};

/// A point that was looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LookRow {
    /// Number of the point in the grid of the axes.
    pub point: u64,
    /// The value of each axis.
    pub values: Vec<Option<Value>>,
    /// What it costs.
    pub cost: f64,
    /// Lower end of the cost's interval; only where it depends on the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_low: Option<f64>,
    /// Upper end of the cost's interval; likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_high: Option<f64>,
    /// `meets`, `fails`, `undecided` or `stopped`.
    pub verdict: Word,
    /// The measure \[s\].
    pub value_s: Option<f64>,
    /// Lower end of its interval \[s\].
    pub low_s: Option<f64>,
    /// Upper end \[s\].
    pub high_s: Option<f64>,
    /// Level of that interval, corrected for all looks.
    pub level: f64,
    /// Replications.
    pub replications: u64,
    /// How often the interval was looked at.
    pub looks: u32,
}

/// Everything that an optimisation found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OptimizeReport {
    /// `cheapest`, `meets` (a cheaper one stayed open), `none`, `undecided` or `stopped`.
    pub answer: Word,
    /// What must be at most the deadline.
    pub measure: String,
    /// The deadline \[s\].
    pub deadline_s: f64,
    /// Probability with which all decisions together are right.
    pub confidence: f64,
    /// The cost, as it was written.
    pub cost: String,
    /// The cost for each second of the mean time, as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_per_s: Option<String>,
    /// `bisection`, `rising` or `comparison`.
    pub search: Word,
    /// What may be chosen.
    pub axes: Vec<AxisRow>,
    /// The chosen point.
    pub chosen: Option<LookRow>,
    /// The costliest point that is cheaper, of those that were looked at, and was not taken.
    pub next_cheaper: Option<LookRow>,
    /// All points that were looked at, in that order.
    pub looked_at: Vec<LookRow>,
    /// Points there are.
    pub candidates: u64,
    /// Points that were left out because they are no faster than one that fails.
    pub eliminated: u64,
    /// Replications of all points.
    pub replications: u64,
    /// Version of this crate that ran it.
    pub version: Word,
    /// Seed of every point.
    pub seed: u64,
    /// The plan, every key written out.
    #[serde(default)]
    pub plan: String,
}

/// What a search found, as a report.
pub fn optimize_report(plan: &OptimizePlan, candidates: &[Candidate], found: &Found) -> OptimizeReport {
    let settings = &plan.optimize;
    let row = |look: &LookAt| look_row(&candidates[look.candidate], look);
    let (answer, chosen) = match found.answer {
        Answer::Cheapest(look) => ("cheapest", Some(look)),
        Answer::Meets(look) => ("meets", Some(look)),
        Answer::None => ("none", None),
        Answer::Undecided => ("undecided", None),
        Answer::Stopped => ("stopped", None),
    };
    OptimizeReport {
        answer: answer.into(),
        measure: settings.measure.clone(),
        deadline_s: settings.deadline_s.unwrap_or(0.0),
        confidence: settings.confidence,
        cost: settings.cost.clone(),
        cost_per_s: settings.cost_per_s.clone(),
        search: match found.search {
            Search::Bisection => "bisection",
            Search::Comparison => "comparison",
            Search::Auto | Search::Rising => "rising",
        }
        .into(),
        axes: plan.axis.iter().map(|axis| AxisRow { key: axis.key.clone(), name: axis.title().to_owned() }).collect(),
        chosen: chosen.map(|look| row(&found.looks[look])),
        next_cheaper: found.next_cheaper().map(row),
        looked_at: found.looks.iter().map(row).collect(),
        candidates: candidates.len() as u64,
        eliminated: found.eliminated.len() as u64,
        replications: found.looks.iter().map(replications_of).sum(),
        version: env!("CARGO_PKG_VERSION").into(),
        seed: plan.sweep.seed,
        plan: toml::to_string(plan).unwrap_or_default(),
    }
}

/// Replications of a point: those of its cost are the same ones as those of its time, or more of them.
fn replications_of(look: &LookAt) -> u64 {
    look.judgement.replications.max(look.cost.map_or(0, |cost| cost.replications))
}

fn look_row(candidate: &Candidate, look: &LookAt) -> LookRow {
    let judgement = look.judgement;
    LookRow {
        point: candidate.point.number,
        values: candidate.point.values.clone(),
        cost: look.cost.map_or(candidate.cost, |cost| cost.value),
        cost_low: look.cost.map(|cost| cost.low),
        cost_high: look.cost.map(|cost| cost.high),
        verdict: match judgement.verdict {
            Verdict::Meets => "meets",
            Verdict::Fails => "fails",
            Verdict::Undecided => "undecided",
            Verdict::Stopped => "stopped",
        }
        .into(),
        value_s: judgement.value,
        low_s: judgement.low,
        high_s: judgement.high,
        level: judgement.level,
        replications: replications_of(look),
        looks: judgement.looks,
    }
}

/// The values of a point in words.
pub(super) fn words(report: &OptimizeReport, row: &LookRow) -> String {
    let cells = report.axes.iter().zip(&row.values);
    let words = cells.filter_map(|(axis, value)| Some(format!("{} = {}", axis.name, value_text(value.as_ref()?))));
    words.collect::<Vec<_>>().join(", ")
}

/// The measure of a point with its interval.
fn interval(report: &OptimizeReport, row: &LookRow) -> String {
    let (Some(value), Some(low), Some(high)) = (row.value_s, row.low_s, row.high_s) else {
        return format!("{} unknown", report.measure);
    };
    let half = Some(0.5 * (high - low)).filter(|half| *half > 0.0);
    let text = |number| within(number, half);
    let level = plain(100.0 * row.level);
    format!("{} {} s, {} to {} s at {level} %", report.measure, text(value), text(low), text(high))
}

/// The cost of a point, with its interval where it is an estimate.
fn cost_text(row: &LookRow) -> String {
    let ends = row.cost_low.zip(row.cost_high).filter(|(low, high)| low < high);
    let Some((low, high)) = ends else { return plain(row.cost) };
    let text = |number| within(number, Some(0.5 * (high - low)));
    format!("{} ({} to {})", text(row.cost), text(low), text(high))
}

/// The cost, as it was written, with what time adds to it.
pub(super) fn cost_words(report: &OptimizeReport) -> String {
    let cost = &report.cost;
    report.cost_per_s.as_ref().map_or_else(|| cost.clone(), |per_s| format!("{cost} + ({per_s}) * mean time [s]"))
}

/// The text of an optimisation: the answer in words, then all points that were looked at.
pub fn optimize_text(report: &OptimizeReport, look: &Look) -> String {
    let measure = &report.measure;
    let mut text = look.heading(&format!(
        "cheapest of {} with {measure} <= {} s, with {} % confidence",
        counted(report.candidates, "point"),
        plain(report.deadline_s),
        plain(100.0 * report.confidence)
    ));
    text += &answer(report);
    text.push('\n');
    text += &look.heading(&format!("points looked at, by {}; {measure} [s]", search_words(report)));
    text += &looks_table(report).text();
    let replications = counted(report.replications, "replication");
    let looked = counted(report.looked_at.len() as u128, "point");
    let _ = write!(text, "\n{looked} looked at");
    if report.eliminated > 0 {
        let _ = write!(text, ", {} left out as {}", report.eliminated, left_out_as(report));
    }
    let _ = writeln!(text, ", {replications} in all, seed {}", report.seed);
    text
}

pub(super) fn search_words(report: &OptimizeReport) -> &'static str {
    match &*report.search {
        "bisection" => "bisection",
        "comparison" => "comparison of estimated costs",
        _ => "rising cost",
    }
}

/// The answer in words.
fn answer(report: &OptimizeReport) -> String {
    let mut text = String::new();
    match (&report.chosen, &*report.answer) {
        (Some(chosen), answer) => {
            let _ = writeln!(text, "  {}, cost {}", words(report, chosen), cost_text(chosen));
            let _ = writeln!(text, "  {}", interval(report, chosen));
            if answer == "meets" {
                text += "  a cheaper point stayed open, see below: this one meets the deadline, but may not be the cheapest\n";
            } else if report.cost_per_s.is_some() {
                text += "  no other costs less by more than the indifference\n";
            }
        }
        (None, "none") => text += "  no point meets the deadline\n",
        (None, "undecided") => {
            text += "  undecided: no point was shown to meet the deadline, and not all were shown to fail; more \
                     `max_replications`,\n  or a smaller `indifference`, decide nearer to the deadline\n";
        }
        (None, _) => text += "  stopped before anything was decided\n",
    }
    match &report.next_cheaper {
        Some(cheaper) => {
            let which = match &report.chosen {
                Some(_) if report.cost_per_s.is_none() => "next cheaper",
                _ => "nearest",
            };
            let verdict = &cheaper.verdict;
            let _ = writeln!(text, "  {which}: {}, cost {}: {verdict}", words(report, cheaper), cost_text(cheaper));
            let _ = writeln!(text, "  {}", interval(report, cheaper));
        }
        None if report.chosen.is_some() && report.cost_per_s.is_none() => {
            text += "  there is nothing cheaper among the points\n";
        }
        None if report.chosen.is_some() => text += "  no other point meets the deadline\n",
        None => {}
    }
    text
}

fn looks_table(report: &OptimizeReport) -> Table {
    let right = |name: &str| (name.to_owned(), Align::Right);
    let axes = report.axes.iter().map(|axis| right(&axis.name));
    let rest = ["cost", &report.measure, "from", "to", "level [%]", "replications"].map(right);
    let mut table = Table::new(axes.chain(rest).chain([("verdict".to_owned(), Align::Left)]));
    for row in &report.looked_at {
        let half = row.low_s.zip(row.high_s).map(|(low, high)| 0.5 * (high - low)).filter(|half| *half > 0.0);
        let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| within(value, half));
        let mut cells: Vec<String> =
            row.values.iter().map(|value| value.as_ref().map_or_else(String::new, value_text)).collect();
        cells.push(cost_text(row));
        cells.extend([row.value_s, row.low_s, row.high_s].map(number));
        cells.extend([plain(100.0 * row.level), counted_plain(row.replications), row.verdict.to_string()]);
        table.push(cells);
    }
    table
}

/// Why points were not looked at.
pub(super) fn left_out_as(report: &OptimizeReport) -> &'static str {
    if report.cost_per_s.is_some() {
        "no faster than one that fails, or too dear whatever their time"
    } else {
        "no faster than one that fails"
    }
}

fn counted_plain(number: u64) -> String {
    crate::report::number::count(number.into())
}

/// The CSV of an optimisation: a point that was looked at a row.
///
/// # Errors
///
/// [`CsvError`], which no report of this crate causes.
pub fn optimize_csv(report: &OptimizeReport) -> Result<String, CsvError> {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let mut header = vec!["point".to_owned()];
    header.extend(report.axes.iter().map(|axis| axis.key.clone()));
    header.extend(
        ["cost", "cost_low", "cost_high", "verdict", "chosen", "measure", "value_s", "low_s", "high_s", "level"]
            .map(str::to_owned),
    );
    header.extend(["replications", "looks", "seed"].map(str::to_owned));
    writer.write_record(&header).map_err(CsvError::new)?;
    let optional = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    for row in &report.looked_at {
        let mut cells = vec![row.point.to_string()];
        cells.extend(row.values.iter().map(|value| {
            value.as_ref().map_or_else(String::new, |value| match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            })
        }));
        let chosen = report.chosen.as_ref().is_some_and(|chosen| chosen.point == row.point);
        cells.push(row.cost.to_string());
        cells.extend([row.cost_low, row.cost_high].map(optional));
        cells.extend([row.verdict.to_string(), chosen.to_string(), report.measure.clone()]);
        cells.extend([row.value_s, row.low_s, row.high_s].map(optional));
        cells.extend([row.level.to_string(), row.replications.to_string()]);
        cells.extend([row.looks.to_string(), report.seed.to_string()]);
        writer.write_record(&cells).map_err(CsvError::new)?;
    }
    let bytes = writer.into_inner().map_err(CsvError::new)?;
    String::from_utf8(bytes).map_err(CsvError::new)
}
