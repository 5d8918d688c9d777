//! The graphics adapters of a machine.

use serde::{Deserialize, Serialize};

use crate::document::{Cell, Column, Document, Number, Report, Show, Table};
use crate::report::json::Word;

/// Bytes of a MiB.
const MIB: f64 = 1_048_576.0;

/// The adapters of a machine, and the adapter used by a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DevicesReport {
    /// The adapters, best first.
    pub adapters: Vec<AdapterRow>,
    /// Name of the adapter that `auto` uses, if any.
    pub auto: Option<String>,
    /// Reason for the choice of this adapter, or for using no adapter.
    pub auto_reason: String,
}

/// An adapter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AdapterRow {
    /// Name.
    pub name: String,
    /// `discrete`, `virtual`, `integrated`, `other` or `software`.
    pub kind: Word,
    /// The interface, such as Vulkan.
    pub interface: String,
    /// The driver.
    pub driver: String,
    /// True if the adapter has 64-bit integers.
    pub int64: bool,
    /// Largest buffer \[B\].
    pub largest_buffer: u64,
    /// Largest binding \[B\].
    pub largest_binding: u64,
    /// Maximum number of workgroups in a dimension.
    pub workgroups: u32,
    /// Maximum number of invocations in a workgroup.
    pub workgroup_size: u32,
    /// True if the adapter opened and passed its self-test.
    pub usable: bool,
    /// Reason why the adapter is not usable.
    pub fault: Option<String>,
}

impl Report for DevicesReport {
    const KIND: &'static str = "devices";

    fn document(&self) -> Document<'_> {
        let name = self.auto.as_deref().unwrap_or("no adapter");
        let mut document = Document {
            kind: "graphics adapters",
            title: "Graphics adapters".to_owned(),
            answer: vec![format!("`auto` uses {name}: {}.", self.auto_reason.trim_end_matches('.')).into()].into(),
            remarks: self.adapters.iter().filter_map(|row| row.fault.clone()).collect(),
            ..Document::default()
        };
        let columns = [
            Column::new("adapter").key("name"),
            Column::new("kind").key("kind"),
            Column::new("driver").key("driver").show(Show::Room),
            Column::new("64-bit integers").key("int64"),
            Column::new("buffer").unit("MiB").key("largest_buffer").show(Show::Room),
            Column::new("binding").unit("MiB").key("largest_binding").show(Show::Room),
            Column::new("self-test").key("usable"),
        ];
        let row = |(i, row): (usize, &AdapterRow)| {
            let size = |key: &str, bytes: u64| {
                Cell::from(Number::new(format!("/adapters/{i}/{key}"), bytes as f64, "B").shown_in("MiB", 1.0 / MIB))
            };
            vec![
                row.name.clone().into(),
                row.kind.to_string().into(),
                format!("{}, {}", row.interface, row.driver).into(),
                Cell::named(if row.int64 { "yes" } else { "no" }, row.int64.to_string()),
                size("largest_buffer", row.largest_buffer),
                size("largest_binding", row.largest_binding),
                Cell::named(if row.usable { "passed" } else { "failed" }, row.usable.to_string()),
            ]
        };
        document.table(Table::new("", "", columns).rows(self.adapters.iter().enumerate().map(row)).wide());
        document
    }
}
