//! What a sweep found: its points side by side, what each changes against the base, and which knob matters, as text, CSV and JSON.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use toml::Value;

use crate::render::Look;
use crate::report::csv::CsvError;
use crate::report::json::Word;
use crate::report::number::counted;
use crate::report::number::plain;
use crate::report::number::within;
use crate::report::table::Align;
use crate::report::table::Table;
use crate::sweep::Design;
use crate::sweep::Knob;
use crate::sweep::Level;
use crate::sweep::Number;
use crate::sweep::PointResult;
use crate::sweep::Stored;
use crate::sweep::SweepPlan;
use crate::sweep::tornado;

/// An axis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AxisRow {
    /// What varies.
    pub key: String,
    /// What it is called.
    pub name: String,
}

/// A value of a knob, and what it changes against the base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnobLevel {
    /// The value.
    pub value: Value,
    /// Mean time there minus that of the base \[s\].
    pub difference_s: Number,
    /// Mean time there over that of the base.
    pub ratio: Option<Number>,
}

/// A knob, from its best to its worst value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnobRow {
    /// Its axis.
    pub key: String,
    /// What it is called.
    pub name: String,
    /// Where the mean time is shortest.
    pub best: KnobLevel,
    /// Where it is longest.
    pub worst: KnobLevel,
    /// From the shortest mean time to the longest, the base among them \[s\].
    pub swing_s: f64,
}

/// Everything that a sweep found, or a shard of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepReport {
    /// How its points were made.
    pub design: Word,
    /// What varies.
    pub axes: Vec<AxisRow>,
    /// Which shard of how many.
    pub shard: [u64; 2],
    /// Points that it should have, the base among them.
    pub planned: u64,
    /// Whether points are missing.
    pub partial: bool,
    /// Confidence level of all intervals.
    pub level: f64,
    /// Version of this crate that ran it.
    pub version: String,
    /// Seed of every point.
    pub seed: u64,
    /// Replications of all points.
    pub replications: u64,
    /// The points, by number; 0 is the base.
    pub points: Vec<PointResult>,
    /// Which knob matters; only of one-at-a-time sweeps, the widest swing first.
    pub tornado: Vec<KnobRow>,
    /// The plan of the sweep, every key written out.
    #[serde(default)]
    pub plan: String,
}

/// What a stored sweep found.
pub fn sweep_report(plan: &SweepPlan, stored: &Stored) -> SweepReport {
    let header = &stored.header;
    let points: Vec<PointResult> = stored.results.values().cloned().collect();
    let axis = |axis: &crate::sweep::Axis| AxisRow { key: axis.key.clone(), name: axis.title().to_owned() };
    let axes: Vec<AxisRow> = plan.axis.iter().map(axis).collect();
    SweepReport {
        design: plan.sweep.design.name().into(),
        shard: [header.shard.index, header.shard.of],
        planned: (0..header.points).filter(|&point| header.shard.has(point)).count() as u64,
        partial: !stored.is_complete(),
        level: header.level,
        version: header.version.clone(),
        seed: header.seed,
        replications: points.iter().map(|point| point.replications).sum(),
        tornado: tornado(plan, &points).into_iter().map(|knob| knob_row(&axes, knob)).collect(),
        axes,
        points,
        plan: header.plan.clone(),
    }
}

fn knob_row(axes: &[AxisRow], knob: Knob) -> KnobRow {
    let level = |level: Level| KnobLevel { value: level.value, difference_s: level.difference_s, ratio: level.ratio };
    let AxisRow { key, name } = axes[knob.axis].clone();
    KnobRow { key, name, best: level(knob.best), worst: level(knob.worst), swing_s: knob.swing_s }
}

/// A value of an axis as a person would write it.
pub(crate) fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Float(number) => plain(*number),
        other => other.to_string(),
    }
}

/// By how much one side of an interval may be longer than the other where a half width stands for both.
const LOPSIDED: f64 = 2.0;

/// A number with its half width, or with both ends of a lopsided interval.
fn pair(number: Option<&Number>) -> String {
    let Some(number) = number else { return String::new() };
    if let (Some(low), Some(high)) = (number.low, number.high) {
        let sides = [number.value - low, high - number.value];
        if sides[0].max(sides[1]) > LOPSIDED * sides[0].min(sides[1]) {
            let shown = |value| within(value, number.half_width());
            return format!("{} ({} to {})", shown(number.value), shown(low), shown(high));
        }
    }
    match number.half_width() {
        Some(half) if half > 0.0 => format!("{} ± {}", within(number.value, Some(half)), within(half, Some(half))),
        _ => plain(number.value),
    }
}

/// A change with its sign.
fn change(number: Option<&Number>) -> String {
    let sign = number.map_or("", |number| if number.value > 0.0 { "+" } else { "" });
    format!("{sign}{}", pair(number))
}

/// A ratio as a change in percent.
fn percent(ratio: Option<&Number>) -> String {
    let shift = |value: f64| 100.0 * (value - 1.0);
    let shifted =
        ratio.map(|ratio| Number { value: shift(ratio.value), low: ratio.low.map(shift), high: ratio.high.map(shift) });
    change(shifted.as_ref())
}

/// The text of a sweep: its points, and which knob matters.
pub fn sweep_text(report: &SweepReport, look: &Look) -> String {
    let level = plain(100.0 * report.level);
    let mut text = String::new();
    if report.partial {
        let found = counted(report.points.len() as u128, "point");
        let _ = writeln!(text, "PARTIAL: {found} of {} so far\n", report.planned);
    }
    text += &look.heading(&format!("time [s], and its change against the base ({level} % intervals)"));
    text += &points_table(report).text();
    if !report.tornado.is_empty() {
        text.push('\n');
        text += &look.heading("which knob matters: one at a time, by how far the mean moves over the values tried");
        text += &knobs_table(report).text();
        text += &advice(report);
    }
    let unreached: u64 = report.points.iter().map(|point| point.replications - point.reached).sum();
    if unreached > 0 {
        let _ = writeln!(text, "\n{} did not reach the goal", counted(unreached, "replication"));
    }
    let points = counted(report.points.len() as u128, "point");
    let _ = writeln!(text, "\n{points}, {} in all, seed {}", counted(report.replications, "replication"), report.seed);
    text
}

fn points_table(report: &SweepReport) -> Table {
    let right = Align::Right;
    // where one axis changes at a time, most columns of a table would be empty
    let one_column = report.design == Design::Each.name();
    let axes: Vec<(String, Align)> = if one_column {
        vec![("changed".to_owned(), Align::Left)]
    } else {
        report.axes.iter().map(|axis| (axis.name.clone(), right)).collect()
    };
    let numbers = ["mean", "p50", "p95", "p99", "change [s]", "[%]"].map(|name| (name.to_owned(), right));
    let mut table = Table::new([("point".to_owned(), right)].into_iter().chain(axes).chain(numbers));
    for point in &report.points {
        let mut cells = vec![if point.point == 0 { "base".to_owned() } else { point.point.to_string() }];
        let values = point.values.iter().map(|value| value.as_ref().map_or_else(String::new, value_text));
        if one_column {
            let named = report.axes.iter().zip(values).find(|(_, value)| !value.is_empty());
            cells.push(named.map_or_else(String::new, |(axis, value)| format!("{} = {value}", axis.name)));
        } else {
            cells.extend(values);
        }
        cells.extend([&point.mean_s, &point.p50_s, &point.p95_s, &point.p99_s].map(|number| pair(number.as_ref())));
        cells.extend([change(point.difference_s.as_ref()), percent(point.ratio.as_ref())]);
        table.push(cells);
    }
    table
}

fn knobs_table(report: &SweepReport) -> Table {
    let right = Align::Right;
    let mut table = Table::new([
        ("", right),
        ("knob", Align::Left),
        ("best", right),
        ("change [s]", right),
        ("[%]", right),
        ("worst", right),
        ("change [s]", right),
        ("swing [s]", right),
    ]);
    for (rank, knob) in (1..).zip(&report.tornado) {
        table.push([
            format!("{rank}."),
            knob.name.clone(),
            value_text(&knob.best.value),
            change(Some(&knob.best.difference_s)),
            percent(knob.best.ratio.as_ref()),
            value_text(&knob.worst.value),
            change(Some(&knob.worst.difference_s)),
            within(knob.swing_s, widest(knob)),
        ]);
    }
    table
}

/// The wider half width of a knob's two differences: as many digits its swing deserves.
fn widest(knob: &KnobRow) -> Option<f64> {
    let [best, worst] = [&knob.best, &knob.worst].map(|level| level.difference_s.half_width());
    Some(best?.max(worst?))
}

/// What buys most, in a sentence.
fn advice(report: &SweepReport) -> String {
    let saves = |knob: &&KnobRow| knob.best.difference_s.high.unwrap_or(knob.best.difference_s.value) < 0.0;
    let by_saving = |a: &&KnobRow, b: &&KnobRow| a.best.difference_s.value.total_cmp(&b.best.difference_s.value);
    let Some(best) = report.tornado.iter().filter(saves).min_by(by_saving) else {
        return "\nnone of the values tried makes the job surely shorter\n".to_owned();
    };
    let (value, gain) = (value_text(&best.best.value), change(Some(&best.best.difference_s)));
    let share = percent(best.best.ratio.as_ref());
    format!("\nwhat buys most: {} = {value}, {gain} s ({share} %)\n", best.name)
}

/// The CSV of a sweep: a point a row; an empty axis is as in the base.
///
/// # Errors
///
/// [`CsvError`], which no report of this crate causes.
pub fn sweep_csv(report: &SweepReport) -> Result<String, CsvError> {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let numbers = ["mean_s", "p50_s", "p95_s", "p99_s", "difference_s", "ratio"];
    let mut header = vec!["point".to_owned()];
    header.extend(report.axes.iter().map(|axis| axis.key.clone()));
    header.extend(["replications", "reached"].map(str::to_owned));
    header.extend(numbers.iter().flat_map(|name| ["", "_low", "_high"].map(|end| format!("{name}{end}"))));
    header.extend(["level", "seed"].map(str::to_owned));
    writer.write_record(&header).map_err(CsvError::new)?;
    for point in &report.points {
        writer.write_record(csv_row(report, point)).map_err(CsvError::new)?;
    }
    let bytes = writer.into_inner().map_err(CsvError::new)?;
    String::from_utf8(bytes).map_err(CsvError::new)
}

fn csv_row(report: &SweepReport, point: &PointResult) -> Vec<String> {
    let optional = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let axis = |value: &Option<Value>| match value {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let mut cells = vec![point.point.to_string()];
    cells.extend(point.values.iter().map(axis));
    cells.extend([point.replications, point.reached].map(|count| count.to_string()));
    let numbers = [point.mean_s, point.p50_s, point.p95_s, point.p99_s, point.difference_s, point.ratio];
    for number in numbers {
        let number = number.as_ref();
        cells.push(optional(number.map(|number| number.value)));
        cells.push(optional(number.and_then(|number| number.low)));
        cells.push(optional(number.and_then(|number| number.high)));
    }
    cells.extend([report.level.to_string(), report.seed.to_string()]);
    cells
}

impl SweepReport {
    /// Whether its points are all combinations of its axes.
    pub(crate) fn is_grid(&self) -> bool {
        self.design == Design::Grid.name()
    }
}
