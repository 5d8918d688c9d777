//! Rows of bars on a common axis, for pictures and text.

/// Maximum number of rows that are drawn.
pub(crate) const MOST: usize = 60;
/// Caption for bars that do not all start at 0.
pub(crate) const ENDS: &str = "The number next to a bar is the value at its end, not its length.";

/// A row.
#[derive(Clone, Debug, Default)]
#[cfg_attr(not(feature = "plots"), expect(dead_code, reason = "only pictures need every field"))]
pub(crate) struct BarRow {
    /// Name of the row.
    pub(crate) name: String,
    /// Ends of the bar.
    pub(crate) bar: [f64; 2],
    /// The interval of the bar's right end.
    pub(crate) interval: Option<[f64; 2]>,
    /// Marks across the row.
    pub(crate) marks: Vec<f64>,
    /// Text next to the bar.
    pub(crate) text: String,
    /// True for the second of two colours, used only for information that is also written.
    pub(crate) is_second: bool,
}

/// Returns true if bars do not all start at 0.
pub(crate) fn are_spans(rows: &[BarRow]) -> bool {
    rows.iter().any(|row| row.bar[0] != 0.0)
}
