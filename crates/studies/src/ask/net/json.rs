//! Values of results as JSON writes them.

use std::borrow::Cow;

use serde::Serializer;

/// A word in a report, such as the name of an engine: from this crate, or from the file if the report was read.
pub type Word = Cow<'static, str>;

/// Writes a count as a whole number, up to the range in which integers are exact.
pub(super) fn whole<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    let exact = (0.0..=9_007_199_254_740_992.0).contains(value) && value.fract() == 0.0;
    if exact { to.serialize_u64(*value as u64) } else { to.serialize_f64(*value) }
}
