//! The result of a benchmark: replications per second on the CPU and on a GPU.

use serde::{Deserialize, Serialize};

use crate::document::{Cell, Column, Document, Number, Report, Show, Table};
use crate::report::json::Word;
use crate::report::number::{counted, plain};

/// Result of a benchmark of a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BenchReport {
    /// Time of each measurement \[s\].
    pub seconds: f64,
    /// The GPU, if any.
    pub adapter: Option<BenchAdapter>,
    /// Reason why no GPU is used.
    pub no_adapter: Option<String>,
    /// Lanes of the GPU times its clock \[GHz\], from the option or known for this GPU.
    pub lanes_ghz: Option<f64>,
    /// The nets.
    pub nets: Vec<BenchRow>,
}

/// The GPU of a benchmark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BenchAdapter {
    /// Name.
    pub name: String,
    /// `discrete`, `virtual`, `integrated`, `other` or `software`.
    pub kind: Word,
    /// The driver.
    pub driver: String,
    /// True if the GPU has 64-bit integers.
    pub int64: bool,
}

/// A net.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BenchRow {
    /// Name.
    pub net: String,
    /// Number of transitions.
    pub transitions: usize,
    /// On the CPU.
    pub cpu: Option<BenchSpeed>,
    /// On the GPU.
    pub gpu: Option<BenchSpeed>,
    /// Reason why the GPU does not run the net.
    pub no_gpu: Option<String>,
    /// Replications per second on the GPU, divided by replications per second on the CPU.
    pub ratio: Option<f64>,
    /// The upper bound of the GPU's speed; only for schedules.
    pub bound: Option<BenchBound>,
}

/// A speed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BenchSpeed {
    /// The engine.
    pub engine: Word,
    /// The vector instructions of the CPU.
    pub vector: Option<Word>,
    /// Threads of the CPU.
    pub threads: Option<usize>,
    /// Replications.
    pub replications: u64,
    /// Time of the replications, without the setup \[s\].
    pub seconds: f64,
    /// Replications per second \[1/s\].
    pub replications_per_s: f64,
    /// Firings per second \[1/s\].
    pub firings_per_s: f64,
    /// Parts of the time of a GPU.
    pub times: Option<BenchTimes>,
}

/// Shares of the time, and the time of the setup, which is not part of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BenchTimes {
    /// Time of the setup \[s\].
    pub setup_s: f64,
    /// Share of the time for uploads.
    pub upload: f64,
    /// Share of the time for computation.
    pub compute: f64,
    /// Share of the time for reading results back.
    pub read_back: f64,
}

/// An upper bound of a GPU's speed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BenchBound {
    /// The bound \[1/s\].
    pub per_s: f64,
    /// `exponentials`.
    pub of: Word,
    /// Basis of the bound.
    pub by: String,
    /// The share of the bound that was reached.
    pub reached: f64,
}

impl Report for BenchReport {
    const KIND: &'static str = "bench";

    fn document(&self) -> Document<'_> {
        let cpu = self.nets.iter().find_map(|row| row.cpu.as_ref());
        let cpu = cpu.and_then(|cpu| Some((cpu.vector.as_ref()?, cpu.threads?)));
        let mut provenance: Vec<[String; 2]> = Vec::new();
        provenance.extend(
            cpu.map(|(vector, threads)| {
                ["CPU".to_owned(), format!("{} ({vector})", counted(threads as u128, "thread"))]
            }),
        );
        provenance.extend(self.adapter.as_ref().map(|gpu| {
            let int64 = if gpu.int64 { "with" } else { "without" };
            ["GPU".to_owned(), format!("{}, {}, {}, {int64} 64-bit integers", gpu.name, gpu.kind, gpu.driver)]
        }));
        provenance.extend(self.no_adapter.as_ref().map(|why| ["GPU".to_owned(), format!("none: {why}")]));
        let no_gpu =
            |row: &BenchRow| row.no_gpu.as_ref().map(|why| format!("{} does not run on the GPU: {why}.", row.net));
        let mut document = Document {
            kind: "benchmark",
            title: "Replications per second on this machine".to_owned(),
            remarks: self.nets.iter().filter_map(no_gpu).chain(self.nets.iter().filter_map(no_bound)).collect(),
            provenance,
            ..Document::default()
        };
        document.table(speeds(self));
        document.table(bounds(self));
        document
    }
}

/// Returns advice on getting the bound that a row lacks.
fn no_bound(row: &BenchRow) -> Option<String> {
    row.gpu.as_ref().filter(|gpu| row.bound.is_none() && gpu.engine == "schedule")?;
    Some(format!("{}: the bound of the GPU is unknown; add --lanes-ghz for this GPU.", row.net))
}

fn speeds(report: &BenchReport) -> Table {
    let columns = [
        Column::new("net"),
        Column::new("on"),
        Column::new("engine"),
        Column::new("replications").unit("1/s").key("replications"),
        Column::new("firings").unit("1/s").key("firings"),
        Column::new("ratio").key("ratio"),
        Column::new("upload").key("upload").show(Show::Room),
        Column::new("compute").key("compute").show(Show::Room),
        Column::new("read-back").key("read_back").show(Show::Room),
    ];
    let note = format!("{} s for each measurement, without the setup of the GPU.", plain(report.seconds));
    let mut table = Table::new("", note, columns);
    for (i, row) in report.nets.iter().enumerate() {
        for (on, key, speed) in [("CPU", "cpu", &row.cpu), ("GPU", "gpu", &row.gpu)] {
            let Some(speed) = speed else { continue };
            let number = |name: &str, value: f64| Number::new(format!("/nets/{i}/{key}/{name}"), value, "");
            let rate = |name: &str, value: f64| {
                Cell::from(Number { unit: "1/s".into(), ..number(name, value) }.rounded(value.abs() / 20.0))
            };
            let share = |name: &str, value: fn(&BenchTimes) -> f64| -> Cell {
                let value = speed.times.as_ref().map(value);
                value.map(|value| number(&format!("times/{name}"), value).percent().rounded(0.01)).into()
            };
            let ratio = row
                .ratio
                .filter(|_| key == "gpu")
                .map(|ratio| Number::new(format!("/nets/{i}/ratio"), ratio, "").rounded(ratio.abs() / 20.0));
            table.rows.push(vec![
                Cell::named(&*row.net, format!("{}, {on}", row.net)),
                on.into(),
                speed.engine.to_string().into(),
                rate("replications_per_s", speed.replications_per_s),
                rate("firings_per_s", speed.firings_per_s),
                ratio.into(),
                share("upload", |times| times.upload),
                share("compute", |times| times.compute),
                share("read_back", |times| times.read_back),
            ]);
        }
    }
    table
}

fn bounds(report: &BenchReport) -> Table {
    let columns = [
        Column::new("net"),
        Column::new("at most").unit("1/s").key("bound"),
        Column::new("reached").key("bound_reached"),
        Column::new("of"),
        Column::new("by"),
    ];
    let row = |(i, row): (usize, &BenchRow)| {
        let bound = row.bound.as_ref()?;
        let number = |name: &str, value: f64| Number::new(format!("/nets/{i}/bound/{name}"), value, "");
        Some(vec![
            row.net.clone().into(),
            Number { unit: "1/s".into(), ..number("per_s", bound.per_s) }.rounded(bound.per_s / 20.0).into(),
            number("reached", bound.reached).percent().rounded(0.01).into(),
            bound.of.to_string().into(),
            bound.by.clone().into(),
        ])
    };
    Table::new("Upper bounds of the GPU", "", columns).rows(report.nets.iter().enumerate().filter_map(row))
}
