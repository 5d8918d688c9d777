//! Parts that documents of several kinds share: sentences, tables and figures of a time, and the origin of numbers.

use crate::ask::net::{PassageSection, QuantilePoint};
use crate::document::{Cell, Column, Document, Figure, Headline, Number, Piece, Table};
use crate::estimate::Measured;
use crate::report::distribution::Distribution;
use crate::report::job::AnalyticSummary;
use crate::report::json::Word;
use crate::report::number::{count, counted, duration, plain, quantile_name, value_text};
use crate::report::picture::{Mark, histogram_text};
use crate::report::summary::{ProvenanceSummary, Row};
use crate::report::times::Times;
use crate::sim::{FoldedParts, NotFolded};
use toml::Value;

/// Maximum number of rows of a long table.
pub(crate) const MOST: usize = 20;

/// An amount of memory in kB or MB.
pub(crate) fn memory(at: &str, bytes: u64) -> Number {
    let (unit, factor) = if bytes < 1_000_000 { ("kB", 1e-3) } else { ("MB", 1e-6) };
    Number::new(at, bytes as f64, "B").shown_in(unit, factor).rounded(1.0 / factor)
}

/// A time with a known distribution, and its position in the result's JSON.
pub(crate) struct TimeFound {
    pub(crate) mean: Number,
    pub(crate) sd: Option<Number>,
    /// Probabilities and times.
    pub(crate) quantiles: Vec<(f64, Number)>,
    /// The shortest and the longest sample.
    pub(crate) range: [Option<Number>; 2],
}

impl TimeFound {
    /// Returns a time with quantiles from samples, or with exact quantiles.
    pub(crate) fn distribution(at: &str, time: &Distribution) -> Self {
        let quantile = |(i, row): (usize, &crate::report::distribution::QuantileRow)| {
            (row.p, Number::measured(format!("{at}/quantiles/{i}"), &row.quantity, "s"))
        };
        Self {
            mean: Number::measured(format!("{at}/mean"), &time.mean, "s"),
            sd: time.sd.as_ref().map(|sd| Number::measured(format!("{at}/sd"), sd, "s")),
            quantiles: time.quantiles.iter().enumerate().map(quantile).collect(),
            range: [("min", time.min), ("max", time.max)]
                .map(|(key, value)| value.map(|value| Number::new(format!("{at}/{key}"), value, "s"))),
        }
    }

    /// Returns a time that is known by formula, or from the parts of a schedule.
    pub(crate) fn analytic(law: &AnalyticSummary) -> Self {
        let mean = Number::new("/analytic/mean", law.mean, "s");
        Self {
            mean: mean.bounded(law.mean_bounds),
            sd: Some(Number::new("/analytic/sd", law.sd, "s")),
            quantiles: points("/analytic/quantiles", &law.quantiles),
            range: [None, None],
        }
    }

    /// Returns the time to the goal of a net; `None` if it has no mean.
    pub(crate) fn passage(passage: &PassageSection) -> Option<Self> {
        let mean = Number::new("/passage/mean_s", passage.mean_s?, "s");
        Some(Self {
            mean: mean.bounded(passage.mean_bounds_s),
            sd: passage.sd_s.map(|sd| Number::new("/passage/sd_s", sd, "s")),
            quantiles: points("/passage/quantiles", &passage.quantiles),
            range: [None, None],
        })
    }

    pub(crate) fn quantile(&self, p: f64) -> Option<Number> {
        self.quantiles.iter().find(|(own, _)| (own - p).abs() < 1e-12).map(|(_, number)| number.clone())
    }

    pub(crate) fn headline(&self) -> Headline {
        Headline { of: None, mean: self.mean.clone(), quantiles: [0.5, 0.95, 0.99].map(|p| self.quantile(p)) }
    }

    /// Returns `95% of OF take less than ...`; `of` is the subject, such as `the runs`. Of few samples, only the mean is
    /// stated.
    pub(crate) fn answer(&self, of: &str) -> Vec<Piece> {
        if self.sd.as_ref().is_some_and(|sd| sd.measured.value == 0.0) {
            return vec!["Every run takes ".into(), self.mean.clone().into(), ".".into()];
        }
        let samples = self.mean.measured.samples;
        if samples == 1 {
            return vec!["One simulated run takes ".into(), self.mean.clone().into(), ".".into()];
        }
        // a quantile beyond most samples would be the longest of a few
        let known = |p: f64| self.quantile(p).filter(|_| samples == 0 || samples as f64 * (1.0 - p) >= 0.999);
        let Some(p95) = known(0.95) else {
            return vec![format!("On average {of} take ").into(), self.mean.clone().into(), ".".into()];
        };
        let mut pieces = vec![format!("95% of {of} take less than ").into(), p95.into()];
        if let Some(median) = known(0.5) {
            pieces.extend(["; half of them take less than ".into(), median.into()]);
        }
        if let Some(p99) = known(0.99) {
            pieces.extend([", and one in a hundred takes more than ".into(), p99.into()]);
        }
        pieces.push(".".into());
        pieces
    }
}

/// Returns quantiles with their guaranteed bounds.
fn points(at: &str, quantiles: &[QuantilePoint]) -> Vec<(f64, Number)> {
    let point = |(i, row): (usize, &QuantilePoint)| {
        let number = Number::new(format!("{at}/{i}"), row.value, "s");
        (row.p, number.bounded(row.low.zip(row.high).map(|(low, high)| [low, high])))
    };
    quantiles.iter().enumerate().map(point).collect()
}

/// Returns a table of mean, deviation, quantiles and range. Each method has a title, a key in CSV, and its times.
pub(crate) fn times_table(title: &str, level: f64, methods: &[(&str, &'static str, &TimeFound)]) -> Table {
    let column = |&(title, key, _): &(&str, &'static str, &TimeFound)| Column::new(title).unit("s").key(key);
    let columns = [Column::new("")].into_iter().chain(methods.iter().map(column));
    let mut table = Table::new(title, "", columns).level(level);
    let mut push = |name: Cell, number: &dyn Fn(&TimeFound) -> Option<Number>| {
        let numbers = methods.iter().map(|(_, _, time)| number(time));
        let cells: Vec<Cell> = [name].into_iter().chain(numbers.map(Cell::from)).collect();
        if cells[1..].iter().any(|cell| *cell != Cell::Empty) {
            table.rows.push(cells);
        }
    };
    push("mean".into(), &|time| Some(time.mean.clone()));
    push(Cell::named("standard deviation", "sd"), &|time| time.sd.clone());
    let first = methods.first().map_or(&[][..], |(_, _, time)| &time.quantiles);
    for &(p, _) in first {
        push(quantile_name(p).into(), &|time| time.quantile(p));
    }
    push(Cell::named("shortest", "min"), &|time| time.range[0].clone());
    push(Cell::named("longest", "max"), &|time| time.range[1].clone());
    table
}

/// Quantiles that are marked below a text histogram.
const MARKED: [f64; 3] = [0.5, 0.95, 0.99];

/// Adds the figures of a time, with captions; the histogram of samples also as text.
pub(crate) fn add_times<'a>(document: &mut Document<'a>, times: Times, samples: Option<&'a Distribution>) {
    let times = std::rc::Rc::new(times);
    let titles = [("histogram", "Distribution of times"), ("cdf", "Distribution function"), ("tail", "The long tail")];
    for (name, title) in titles {
        let caption = times.caption(name);
        let mut figure = Figure::new(title, caption);
        #[cfg(feature = "plots")]
        {
            let times = times.clone();
            figure = figure.drawn(move || times.picture(name));
        }
        figure.half = name != "histogram";
        if let Some(samples) = samples.filter(|_| name == "histogram") {
            let mark = |p: f64| Some(Mark { at: samples.quantile(p)?, label: quantile_name(p) });
            let marks: Vec<Mark> = MARKED.into_iter().filter_map(mark).collect();
            figure = figure.written(move |look| histogram_text(&samples.histogram, &marks, look));
        }
        document.figure(figure);
    }
}

/// Returns a table of named quantities; `at` is the position of the list in the JSON, `key` the measure in CSV.
pub(crate) fn rows_table(title: &str, level: f64, at: &str, key: &'static str, rows: &[Row]) -> Table {
    let named: Vec<_> = rows.iter().map(|row| (&row.name, &row.unit, &row.quantity)).collect();
    measured_table(title, level, at, key, &named)
}

/// Returns a table of names, units and numbers. A common unit is shown in the header.
pub(crate) fn measured_table(
    title: &str,
    level: f64,
    at: &str,
    key: &'static str,
    rows: &[(&String, &Word, &Measured)],
) -> Table {
    let shared = rows.first().map(|(_, unit, _)| *unit).filter(|unit| rows.iter().all(|(_, own, _)| own == unit));
    let value = Column::new("mean").unit(shared.cloned().unwrap_or_default()).key(key);
    let row = |(i, (name, unit, measured)): (usize, &(&String, &Word, &Measured))| {
        let number = Number::measured(format!("{at}/{i}"), measured, (*unit).clone());
        vec![Cell::from((*name).clone()), number.into()]
    };
    Table::new(title, "", [Column::new(""), value]).level(level).rows(rows.iter().enumerate().map(row))
}

/// Returns the time next to a bar, to a hundredth of a second.
pub(crate) fn seconds_text(value: f64) -> String {
    format!("{} s", plain((value * 100.0).round() / 100.0))
}

/// Returns the origin of the numbers of a simulation.
pub(crate) fn provenance_rows(provenance: &ProvenanceSummary) -> Vec<[String; 2]> {
    let (engine, threads) = (&provenance.engine, counted(provenance.threads as u128, "thread"));
    // vectors and threads are those of the CPU
    let engine = match &*provenance.backend {
        "gpu" => engine.to_string(),
        _ => format!("{engine} ({}), {threads}", provenance.vector),
    };
    let mut rows = vec![
        ["tailspn".to_owned(), provenance.version.to_string()],
        ["seed".to_owned(), provenance.seed.to_string()],
        ["engine".to_owned(), engine],
        ["backend".to_owned(), format!("{}: {}", provenance.backend, provenance.backend_reason)],
    ];
    rows.extend(folding_rows(provenance.folded.as_ref(), &provenance.not_folded));
    if let Some(device) = &provenance.device {
        rows.push(["adapter".to_owned(), device.adapter.clone()]);
    }
    rows.push(["time of the replications".to_owned(), wall(provenance.wall_s)]);
    rows
}

/// Describes the folding of a net.
pub(crate) fn folded_words(parts: &FoldedParts) -> String {
    let [places_before, places, transitions_before, transitions] =
        [parts.places_before, parts.places, parts.transitions_before, parts.transitions].map(|n| count(n as u128));
    format!("{places_before} places to {places}, {transitions_before} transitions to {transitions}")
}

/// Describes parts that are not folded, and the reason.
pub(crate) fn not_folded_words(NotFolded { parts, example, reason }: &NotFolded) -> String {
    format!("{} parts like the part of `{example}`: {reason}", count(*parts as u128))
}

/// Returns rows of a result's provenance: parts of the net that were folded, and parts that were not.
pub(crate) fn folding_rows(folded: Option<&FoldedParts>, not_folded: &[NotFolded]) -> Vec<[String; 2]> {
    let folded = folded.map(|folded| ["folded".to_owned(), folded_words(folded)]);
    let not_folded = not_folded.iter().map(|parts| ["not folded".to_owned(), not_folded_words(parts)]);
    folded.into_iter().chain(not_folded).collect()
}

/// Returns the rows of a study's provenance, with the folding of the net of the base configuration.
pub(crate) fn with_base_folded<'a>(
    rows: impl IntoIterator<Item = (&'a str, String)>,
    folded: Option<&FoldedParts>,
    not_folded: &[NotFolded],
) -> Vec<[String; 2]> {
    let at_base = folding_rows(folded, not_folded).into_iter().map(|[name, value]| [name + ", at the base", value]);
    rows.into_iter().map(|(name, value)| [name.to_owned(), value]).chain(at_base).collect()
}

/// Returns a wall time as text.
pub(crate) fn wall(seconds: f64) -> String {
    std::time::Duration::try_from_secs_f64(seconds).map_or_else(|_| format!("{seconds} s"), duration)
}

/// Returns a remark if the run ended early.
pub(crate) fn partial(partial: bool, replications: u64) -> Option<String> {
    partial.then(|| format!("The run was ended early, after {}.", counted(replications, "replication")))
}

/// Returns a value with its half width, for a row of a picture.
pub(crate) fn ends(quantity: &Measured) -> Option<[f64; 2]> {
    if quantity.is_exact() { None } else { quantity.ends() }
}

/// Returns a value of an axis.
pub(crate) fn setting(at: String, value: &Value) -> Cell {
    match value {
        Value::Integer(number) => Number::new(at, *number as f64, "").into(),
        Value::Float(number) => Number::new(at, *number, "").into(),
        other => value_text(other).into(),
    }
}

/// Returns the files of a result, at most three by name.
pub(crate) fn files(names: &[String]) -> [String; 2] {
    const SHOWN: usize = 3;
    let more = names.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    ["files".to_owned(), names[..names.len().min(SHOWN)].join(", ") + &more]
}

/// Limits the rows of a table.
pub(crate) fn cut(mut table: Table) -> Table {
    table.most = Some(MOST);
    table
}

/// Notes on unknowns, and on the assumptions made instead.
pub(crate) fn notes_table(title: &str, all: &[String]) -> Table {
    /// Maximum length of the subject of a note, in characters.
    const MOST_LETTERS: usize = 40;
    let mut table =
        Table::new(title, "Each note states the value that was assumed or kept for lack of data.", ["about", "note"]);
    for note in all {
        let about = note.split_once(": ").filter(|(about, _)| about.chars().count() <= MOST_LETTERS);
        let (about, note) = about.unwrap_or(("general", note));
        table.rows.push(vec![about.into(), Cell::prose(note)]);
    }
    table
}
