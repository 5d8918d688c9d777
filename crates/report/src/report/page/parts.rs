//! What sections of several kinds share: sentences and tables of a time, its figures, where numbers come from.

use crate::report::csv::quantile_name;
use crate::report::distribution::Distribution;
use crate::report::job::AnalyticSummary;
use crate::report::number::{count, counted, duration, plain};
use crate::report::page::section::{Block, Cell, Figure, Headline, Number, Piece, Section, Table};
use crate::report::passage::PassageSection;
use crate::report::plot::PlotError;
use crate::report::quantity::Quantity;
use crate::report::summary::{ProvenanceSummary, Row};
use crate::report::sweep::value_text;
use crate::report::times_plot::Times;
use toml::Value;

/// Most rows of a long table.
const MOST: usize = 20;

/// A time of which a result knows the distribution, and where it stands in the result's JSON.
pub(super) struct TimeFound {
    pub(super) mean: Number,
    pub(super) sd: Option<Number>,
    /// Probabilities and times.
    pub(super) quantiles: Vec<(f64, Number)>,
}

impl TimeFound {
    /// Of samples, or exact in their place.
    pub(super) fn distribution(at: &str, time: &Distribution) -> Self {
        let quantile = |(i, row): (usize, &crate::report::distribution::QuantileRow)| {
            (row.p, Number::quantity(format!("{at}/quantiles/{i}"), &row.quantity, "s"))
        };
        Self {
            mean: Number::quantity(format!("{at}/mean"), &time.mean, "s"),
            sd: time.sd.as_ref().map(|sd| Number::quantity(format!("{at}/sd"), sd, "s")),
            quantiles: time.quantiles.iter().enumerate().map(quantile).collect(),
        }
    }

    /// By formula, or from parts.
    pub(super) fn analytic(law: &AnalyticSummary) -> Self {
        let quantile = |(i, row): (usize, &crate::report::job::QuantilePoint)| {
            let number = Number::plain(format!("/analytic/quantiles/{i}"), row.value, "s");
            (row.p, number.between(row.low, row.high))
        };
        let mean = Number::plain("/analytic/mean", law.mean, "s");
        Self {
            mean: Number { ends: law.mean_bounds, ..mean },
            sd: Some(Number::plain("/analytic/sd", law.sd, "s")),
            quantiles: law.quantiles.iter().enumerate().map(quantile).collect(),
        }
    }

    /// To the goal of a net; none where there is no mean.
    pub(super) fn passage(passage: &PassageSection) -> Option<Self> {
        let quantile = |(i, row): (usize, &crate::report::job::QuantilePoint)| {
            let number = Number::plain(format!("/passage/quantiles/{i}"), row.value, "s");
            (row.p, number.between(row.low, row.high))
        };
        let mean = Number::plain("/passage/mean_s", passage.mean_s?, "s");
        Some(Self {
            mean: Number { ends: passage.mean_bounds_s, ..mean },
            sd: passage.sd_s.map(|sd| Number::plain("/passage/sd_s", sd, "s")),
            quantiles: passage.quantiles.iter().enumerate().map(quantile).collect(),
        })
    }

    pub(super) fn quantile(&self, p: f64) -> Option<Number> {
        self.quantiles.iter().find(|(own, _)| (own - p).abs() < 1e-12).map(|(_, number)| number.clone())
    }

    pub(super) fn headline(&self) -> Headline {
        Headline { of: None, mean: self.mean.clone(), quantiles: [0.5, 0.95, 0.99].map(|p| self.quantile(p)) }
    }

    /// `95 % of the runs take less than ...`; of what, such as `runs`.
    pub(super) fn answer(&self, of: &str) -> Vec<Piece> {
        let Some(p95) = self.quantile(0.95) else {
            return vec![format!("On average {of} take ").into(), self.mean.clone().into(), ".".into()];
        };
        let mut pieces = vec![format!("95 % of {of} take less than ").into(), p95.into()];
        if let Some(median) = self.quantile(0.5) {
            pieces.extend(["; half of them take less than ".into(), median.into()]);
        }
        if let Some(p99) = self.quantile(0.99) {
            pieces.extend([", and one in a hundred takes more than ".into(), p99.into()]);
        }
        pieces.push(".".into());
        pieces
    }
}

/// Mean, deviation and quantiles in a table, by one or two methods side by side.
pub(super) fn times_table(title: &str, level: f64, ways: &[(&str, &TimeFound)]) -> Table {
    let mut head = vec![""];
    head.extend(ways.iter().map(|(name, _)| *name));
    let note = format!("One run in twenty takes longer than p95, and so on. {}", interval_note(level));
    let mut table = Table::new(title, note, &head);
    let mut push = |name: String, number: &dyn Fn(&TimeFound) -> Option<Number>| {
        let cells: Vec<Cell> = ways.iter().map(|(_, time)| number(time).into()).collect();
        table.rows.push([Cell::Text(name)].into_iter().chain(cells).collect());
    };
    push("mean".to_owned(), &|time| Some(time.mean.clone()));
    push("standard deviation".to_owned(), &|time| time.sd.clone());
    let first = ways.first().map_or(&[][..], |(_, time)| &time.quantiles);
    for &(p, _) in first {
        push(quantile_name(p), &|time| time.quantile(p));
    }
    table
}

/// What the small numbers are.
pub(super) fn interval_note(level: f64) -> String {
    format!("Small numbers: {} % intervals, or certain bounds of exact numbers.", plain(100.0 * level))
}

/// The figures of a time, with how to read them.
///
/// # Errors
///
/// [`PlotError`], which no report of this crate causes.
pub(super) fn add_times(section: &mut Section, times: &Times<'_>) -> Result<(), PlotError> {
    for picture in times.pictures()? {
        let (title, caption) = match &*picture.name {
            "histogram" => ("How often which time", "Each bar is the share of replications that took so long."),
            "cdf" => (
                "How likely it is to be done by then",
                "The line is the probability to be done at the time below it; the band is what the number of replications, or the \
                 method, leaves open for each point.",
            ),
            _ => (
                "The long tail",
                "The probability to take longer than the time below, on a logarithmic scale: each line of the grid is ten times \
                 rarer than the one above.",
            ),
        };
        let half = picture.name != "histogram";
        let (title, caption) = (title.to_owned(), caption.to_owned());
        section.blocks.push(Block::Figure(Figure { title, caption, picture, half }));
    }
    Ok(())
}

/// A table of named quantities; `at` is where their list stands.
pub(super) fn rows_table(title: &str, level: f64, at: &str, rows: &[Row]) -> Table {
    let mut table = Table::new(title, interval_note(level), &["", "value"]);
    let row = |(i, row): (usize, &Row)| {
        vec![row.name.clone().into(), Number::quantity(format!("{at}/{i}"), &row.quantity, row.unit.clone()).into()]
    };
    table.rows = rows.iter().enumerate().map(row).collect();
    table
}

/// Where the numbers of a simulation come from.
pub(super) fn provenance_rows(provenance: &ProvenanceSummary) -> Vec<[String; 2]> {
    let mut rows = vec![
        ["tailspn".to_owned(), provenance.version.to_string()],
        ["seed".to_owned(), provenance.seed.to_string()],
        ["engine".to_owned(), format!("{} ({})", provenance.engine, provenance.vector)],
        ["backend".to_owned(), format!("{}: {}", provenance.backend, provenance.backend_reason)],
    ];
    if let Some(device) = &provenance.device {
        rows.push(["adapter".to_owned(), device.adapter.clone()]);
    }
    rows.push(["threads".to_owned(), provenance.threads.to_string()]);
    rows.push(["time of the replications".to_owned(), wall(provenance.wall_s)]);
    rows
}

/// A wall time in words.
pub(super) fn wall(seconds: f64) -> String {
    std::time::Duration::try_from_secs_f64(seconds).map_or_else(|_| format!("{seconds} s"), duration)
}

/// That a run ended early, where it did.
pub(super) fn partial(partial: bool, replications: u64) -> Option<String> {
    partial.then(|| format!("The run was ended early, after {}.", counted(replications, "replication")))
}

/// A value with its half width, for a row of a picture.
pub(super) fn ends(quantity: &Quantity) -> Option<[f64; 2]> {
    quantity.low.zip(quantity.high).map(|(low, high)| [low, high])
}

/// A value of an axis.
pub(super) fn setting(at: String, value: &Value) -> Cell {
    match value {
        Value::Integer(number) => Number::plain(at, *number as f64, "").into(),
        Value::Float(number) => Number::plain(at, *number, "").into(),
        other => value_text(other).into(),
    }
}

/// The first rows of a table, and how many more there are.
pub(super) fn cut(mut table: Table) -> Table {
    let left = table.rows.len().saturating_sub(MOST);
    if left > 0 {
        table.rows.truncate(MOST);
        table.note = format!("{} {} more are in the JSON.", table.note, count(left as u128)).trim().to_owned();
    }
    table
}
