//! Exports the tables of a document as columns, and through Arrow's C stream interface.

use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, StringArray};
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use tailspn::report::{Cell, Column, Table};

/// A table of a result: columns of numbers (None if missing) or of texts.
#[pyclass(frozen, module = "tailspn._tailspn")]
pub(crate) struct NativeTable {
    /// The title; may be empty.
    #[pyo3(get)]
    title: String,
    /// True if the CSV of the table has its columns; false if the CSV has one row per number.
    #[pyo3(get)]
    wide: bool,
    columns: Vec<(String, Values)>,
}

#[derive(Clone, Debug)]
enum Values {
    Numbers(Vec<Option<f64>>),
    Words(Vec<Option<String>>),
}

impl NativeTable {
    /// Copies a table of a document.
    pub(crate) fn new(table: &Table) -> Self {
        let mut columns = Vec::new();
        for (index, column) in table.columns.iter().enumerate() {
            let cells: Vec<&Cell> = table.rows.iter().map(|row| row.get(index).unwrap_or(&Cell::Empty)).collect();
            columns.extend(columns_of(&name_of(column, index), &cells));
        }
        let mut names: Vec<String> = Vec::new();
        for (name, _) in &mut columns {
            while names.contains(name) {
                name.push('_');
            }
            names.push(name.clone());
        }
        Self { title: table.title.clone(), wide: table.wide, columns }
    }

    fn batch(&self) -> Result<RecordBatch, arrow_schema::ArrowError> {
        let field = |(name, values): &(String, Values)| {
            let kind = match values {
                Values::Numbers(_) => DataType::Float64,
                Values::Words(_) => DataType::Utf8,
            };
            Field::new(name, kind, true)
        };
        let array = |(_, values): &(String, Values)| -> ArrayRef {
            match values {
                Values::Numbers(numbers) => Arc::new(Float64Array::from(numbers.clone())),
                Values::Words(words) => Arc::new(StringArray::from(words.clone())),
            }
        };
        let fields: Vec<Field> = self.columns.iter().map(field).collect();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), self.columns.iter().map(array).collect())
    }
}

/// Returns the key of a column in CSV; if the column has no key, its title with its unit; if it has no title, a name
/// from its position.
fn name_of(column: &Column, index: usize) -> String {
    if !column.key.is_empty() {
        return column.key.to_string();
    }
    match (column.title.trim(), column.unit.trim(), index) {
        ("", "", 0) => "name".to_owned(),
        ("", "", _) => "value".to_owned(),
        (title, "", _) => title.to_owned(),
        (title, unit, _) => format!("{title} [{unit}]").trim().to_owned(),
    }
}

/// Returns the exported columns of a table column: numbers, ends of intervals and texts, as far as present.
fn columns_of(name: &str, cells: &[&Cell]) -> Vec<(String, Values)> {
    let number = |cell: &&Cell| match cell {
        Cell::Number(number) => Some(number.measured.value),
        _ => None,
    };
    let end = |which: usize| {
        move |cell: &&Cell| match cell {
            Cell::Number(number) => number.ends().map(|ends| ends[which]).filter(|end| end.is_finite()),
            _ => None,
        }
    };
    let words = |cell: &&Cell| match cell {
        Cell::Text { text, key, .. } => Some(key.as_ref().unwrap_or(text).clone()),
        _ => None,
    };
    let numbers: Vec<_> = cells.iter().map(number).collect();
    let texts: Vec<_> = cells.iter().map(words).collect();
    let has_numbers = numbers.iter().any(Option::is_some);
    let has_words = texts.iter().any(Option::is_some);
    let mut columns = Vec::new();
    if has_numbers {
        let ends = [0, 1].map(|which| cells.iter().map(end(which)).collect::<Vec<_>>());
        columns.push((name.to_owned(), Values::Numbers(numbers)));
        for (side, ends) in ["low", "high"].into_iter().zip(ends) {
            if ends.iter().any(Option::is_some) {
                columns.push((format!("{name}_{side}"), Values::Numbers(ends)));
            }
        }
    }
    if has_words || !has_numbers {
        let name = if has_numbers { format!("{name}_text") } else { name.to_owned() };
        columns.push((name, Values::Words(texts)));
    }
    columns
}

#[pymethods]
impl NativeTable {
    /// Returns the columns by their names, as lists.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (name, values) in &self.columns {
            match values {
                Values::Numbers(numbers) => columns.set_item(name, numbers)?,
                Values::Words(words) => columns.set_item(name, words)?,
            }
        }
        Ok(columns)
    }

    /// Returns the table as a stream of Arrow's C data interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // the interface allows a producer to ignore the requested schema
        drop(requested_schema);
        let batch = self.batch().map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        let schema = batch.schema();
        let stream = FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}
