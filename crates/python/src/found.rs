//! Results: read from their JSON, and rendered in every output format.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;
use tailspn::report::{
    AnyReport, Blocks, Document, Look, PageResult, ReadError, Typed, document_text, page, read_json,
};

use crate::tables::NativeTable;

/// A result of any kind.
#[pyclass(frozen, module = "tailspn._tailspn")]
pub(crate) struct Found {
    result: AnyReport,
    /// The files and options that the next commands are about.
    typed: Typed,
    /// The JSON that the result was read from. Parts that this version does not know are only there.
    text: Option<String>,
}

/// The answer, the check on the own runs, where the time goes, what would change it, what is assumed, the next commands.
type BlocksRow = (String, Option<bool>, String, String, Vec<String>, String, String, Vec<String>);

fn refused(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Reads a result from the output of `--json`.
#[pyfunction]
pub(crate) fn read(json: String) -> PyResult<Found> {
    let result = read_json(&json).map_err(|error: ReadError| refused(error))?;
    Ok(Found { result, typed: Typed::default(), text: Some(json) })
}

impl Found {
    /// Returns a result that a command has found.
    pub(crate) fn of(result: AnyReport, typed: Typed) -> Self {
        Self { result, typed, text: None }
    }

    /// Returns the document, with commands about what was asked.
    fn document(&self) -> Document<'_> {
        Document { typed: self.typed.clone(), ..self.result.document() }
    }
}

/// Returns a value of a result as a Python object.
fn object(py: Python<'_>, value: &Value) -> PyResult<Py<PyAny>> {
    Ok(match value {
        Value::Null => py.None(),
        Value::Bool(truth) => truth.into_pyobject(py)?.to_owned().into_any().unbind(),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(whole), _) => whole.into_pyobject(py)?.into_any().unbind(),
            (None, Some(whole)) => whole.into_pyobject(py)?.into_any().unbind(),
            (None, None) => number.as_f64().into_pyobject(py)?.into_any().unbind(),
        },
        Value::String(text) => text.into_pyobject(py)?.into_any().unbind(),
        Value::Array(values) => {
            let all = values.iter().map(|value| object(py, value)).collect::<PyResult<Vec<_>>>()?;
            all.into_pyobject(py)?.into_any().unbind()
        }
        Value::Object(values) => {
            let all = PyDict::new(py);
            for (key, value) in values {
                all.set_item(key, object(py, value)?)?;
            }
            all.into_any().unbind()
        }
    })
}

#[pymethods]
impl Found {
    /// Returns the keys and values.
    fn values(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match &self.text {
            Some(text) => Ok(py.import("json")?.call_method1("loads", (text,))?.unbind()),
            None => object(py, &serde_json::to_value(self.result.about(&self.typed)).map_err(refused)?),
        }
    }

    /// Returns the JSON, as `--json` prints it.
    fn json(&self) -> PyResult<String> {
        self.text.clone().map_or_else(|| self.result.json_about(&self.typed).map_err(refused), Ok)
    }

    /// Returns what the answer says, part by part.
    fn blocks(&self) -> BlocksRow {
        let Blocks { answer, reproduced, own_run, parts, changes, refused, assumed, next } =
            self.document().six_blocks();
        // only the JSON knows what was asked
        let read = self.text.as_ref().and_then(|text| serde_json::from_str::<Value>(text).ok());
        let read = read.and_then(|value| serde_json::from_value::<Vec<String>>(value["blocks"]["next"].clone()).ok());
        (answer, reproduced, own_run, parts, changes, refused, assumed, read.unwrap_or(next))
    }

    /// Returns the text for a terminal with `width` columns; with `all`, including all columns and rows of tables.
    #[pyo3(signature = (width=80, all=false))]
    fn text(&self, width: usize, all: bool) -> String {
        let rows = all.then_some(usize::MAX);
        document_text(&self.document(), &Look { unicode: true, width, rows, detail: all, ..Look::default() })
    }

    /// Returns the page: one HTML file without scripts that needs no network access.
    fn html(&self) -> PyResult<String> {
        page(&[PageResult { found: self.result.clone(), source: String::new(), plan: None, net: None }])
            .map_err(refused)
    }

    /// Returns the tables.
    fn tables(&self) -> Vec<NativeTable> {
        self.result.document().tables().map(NativeTable::new).collect()
    }

    /// Returns the pictures as pairs of name and SVG.
    fn pictures(&self) -> PyResult<Vec<(String, String)>> {
        let pictures = self.result.document().pictures().map_err(refused)?;
        Ok(pictures.into_iter().map(|picture| (picture.name.to_string(), picture.wide)).collect())
    }
}
