//! Numbers in plans.

use toml::Value;

/// Returns a value of a plan as a number.
pub(crate) fn as_number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|number| number as f64))
}
