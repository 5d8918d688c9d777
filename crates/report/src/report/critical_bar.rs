//! A bar of the picture *Where the time goes*.

use crate::document::parts::{ends, seconds_text};
use crate::report::bar_rows::BarRow;
use crate::report::explained::CriticalShare;

/// Returns a bar for a part of the job time.
pub(super) fn critical_bar(name: String, critical: &CriticalShare) -> BarRow {
    BarRow {
        name,
        bar: [0.0, critical.time.value],
        interval: ends(&critical.time),
        text: format!("{}, {:.1}%", seconds_text(critical.time.value), 100.0 * critical.share),
        ..BarRow::default()
    }
}
