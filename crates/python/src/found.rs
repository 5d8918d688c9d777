//! Results: read from their JSON, and rendered in every output format.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tailspn::report::{Look, PageResult, ReadError, document_text, page, read_json};

use crate::tables::NativeTable;

/// A result of any kind.
#[pyclass(frozen, module = "tailspn._tailspn")]
pub(crate) struct Found(tailspn::report::AnyReport);

fn refused(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Reads a result from the output of `--json`.
#[pyfunction]
pub(crate) fn read(json: &str) -> PyResult<Found> {
    read_json(json).map(Found).map_err(|error: ReadError| refused(error))
}

#[pymethods]
impl Found {
    /// Returns the text for a terminal with `width` columns; with `all`, including all columns and rows of tables.
    #[pyo3(signature = (width=80, all=false))]
    fn text(&self, width: usize, all: bool) -> String {
        let rows = all.then_some(usize::MAX);
        document_text(&self.0.document(), &Look { unicode: true, width, rows, detail: all, ..Look::default() })
    }

    /// Returns the page: one HTML file without scripts that needs no network access.
    fn html(&self) -> PyResult<String> {
        page(&[PageResult { found: self.0.clone(), source: String::new(), plan: None, net: None }]).map_err(refused)
    }

    /// Returns the tables.
    fn tables(&self) -> Vec<NativeTable> {
        self.0.document().tables().map(NativeTable::new).collect()
    }

    /// Returns the pictures as pairs of name and SVG.
    fn pictures(&self) -> PyResult<Vec<(String, String)>> {
        let pictures = self.0.document().pictures().map_err(refused)?;
        Ok(pictures.into_iter().map(|picture| (picture.name.to_string(), picture.wide)).collect())
    }
}
