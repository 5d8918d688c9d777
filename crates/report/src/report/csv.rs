//! The error of reports that are written as CSV row by row.

/// The rows could not be written; this is a mistake in the report.
#[derive(Debug, thiserror::Error)]
#[error("the report cannot be written as CSV: {0}")]
pub struct CsvError(String);

impl CsvError {
    pub(super) fn new(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}
