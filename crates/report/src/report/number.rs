//! Numbers as text: as many digits as the interval justifies, counts with separators, durations in a suitable unit.

use std::time::Duration;

use toml::Value;

pub use tailspn_common::number::count;

use crate::estimate::Measured;

/// Significant digits of an interval's half width; they determine the digits of the value.
const ERROR_DIGITS: i32 = 2;
/// Significant digits of a number without an interval.
const PLAIN_DIGITS: i32 = 5;
/// Numbers of at least this size are written with an exponent.
const LARGE: f64 = 1e9;
/// Below this size numbers are written with an exponent.
const SMALL: f64 = 1e-4;

/// Formats `value` with two significant digits of `half_width`; without a half width, with five significant digits.
///
/// ```
/// # use tailspn_report::report::within;
/// assert_eq!(within(96.7463, Some(0.691)), "96.75");
/// assert_eq!(within(12_345.678, Some(250.0)), "12346");
/// assert_eq!(within(0.5, None), "0.50000");
/// ```
pub fn within(value: f64, half_width: Option<f64>) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "?".to_owned() } else { format!("{value}") };
    }
    let size = value.abs();
    let magnitude = |x: f64| x.log10().floor() as i32;
    let error = half_width.filter(|half| half.is_finite() && *half > 0.0);
    if size >= LARGE || (size > 0.0 && size < SMALL && error.is_none_or(|half| half < SMALL)) {
        let digits =
            error.map_or(PLAIN_DIGITS - 1, |half| (magnitude(size) - magnitude(half) + ERROR_DIGITS - 1).max(0));
        let digits = usize::try_from(digits.min(15)).unwrap_or(0);
        return unsigned_zero(format!("{value:.digits$e}"));
    }
    let decimals = match error {
        Some(half) => ERROR_DIGITS - 1 - magnitude(half),
        None if size == 0.0 => 0,
        None => PLAIN_DIGITS - 1 - magnitude(size),
    };
    let decimals = usize::try_from(decimals.clamp(0, 9)).unwrap_or(0);
    unsigned_zero(format!("{value:.decimals$}"))
}

/// Removes the sign from the text of a number if all digits are zeros: -0 becomes 0.
fn unsigned_zero(text: String) -> String {
    match text.strip_prefix('-') {
        Some(digits) if !digits.contains(|c: char| ('1'..='9').contains(&c)) && digits.starts_with('0') => {
            digits.to_owned()
        }
        _ => text,
    }
}

/// Formats `value` as the shortest text with five significant digits.
///
/// ```
/// # use tailspn_report::report::plain;
/// assert_eq!(plain(0.1 + 0.2), "0.3");
/// assert_eq!(plain(1234567.0), "1234600");
/// ```
pub fn plain(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return unsigned_zero(format!("{value}"));
    }
    let digits = usize::try_from(PLAIN_DIGITS - 1).unwrap_or(0);
    let rounded: f64 = format!("{value:.digits$e}").parse().unwrap_or(value);
    let size = rounded.abs();
    if (SMALL..LARGE).contains(&size) { format!("{rounded}") } else { format!("{rounded:e}") }
}

/// Formats a wall time with three significant digits in a suitable unit.
///
/// ```
/// # use tailspn_report::report::duration;
/// # use std::time::Duration;
/// assert_eq!(duration(Duration::from_micros(12_345)), "12.3 ms");
/// assert_eq!(duration(Duration::from_secs(75)), "75.0 s");
/// ```
pub fn duration(wall: Duration) -> String {
    let seconds = wall.as_secs_f64();
    let (value, unit) = match seconds {
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s if s < 600.0 => (s, "s"),
        s => (s / 60.0, "min"),
    };
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.decimals$} {unit}")
}

/// Formats a time in the units of people: `90 s`, `14 min 4 s`, `3 h 25 min`.
///
/// ```
/// # use tailspn_report::report::time_words;
/// assert_eq!([0.5, 90.0, 120.0, 844.0, 12_300.0].map(time_words), ["0.5 s", "90 s", "2 min", "14 min 4 s", "3 h 25 min"]);
/// ```
pub fn time_words(seconds: f64) -> String {
    let parts = |large: f64, [large_name, small_name]: [&str; 2], small: f64| {
        let all = (seconds / small).round();
        let (whole, rest) = ((all * small / large).floor(), all % (large / small));
        if rest > 0.0 { format!("{whole} {large_name} {rest} {small_name}") } else { format!("{whole} {large_name}") }
    };
    match seconds {
        ..120.0 => format!("{} s", plain(seconds)),
        ..7200.0 => parts(60.0, ["min", "s"], 1.0),
        _ => parts(3600.0, ["h", "min"], 60.0),
    }
}

/// Formats a count with its noun, in the plural unless the count is 1: `1 firing`, `2,000 firings`.
pub fn counted(number: impl Into<u128>, noun: &str) -> String {
    let number = number.into();
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Returns the name of a quantile: `p99.9` for 0.999.
pub fn quantile_name(p: f64) -> String {
    format!("p{}", (p * 1e6).round() / 1e4)
}

/// Returns a value of an axis as short text.
pub(crate) fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Float(number) => plain(*number),
        other => other.to_string(),
    }
}

/// Returns a value of an axis as CSV has it.
pub(crate) fn value_key(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The ends of a number's interval; the value twice if the number has no interval.
pub(crate) fn ends(number: &Measured) -> [f64; 2] {
    number.ends().unwrap_or([number.value; 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_follow_the_interval() {
        assert_eq!(within(3.0, Some(0.0)), "3.0000");
        assert_eq!(within(0.0, None), "0");
        assert_eq!(within(1.5e12, Some(2.0e9)), "1.5000e12");
        assert_eq!(within(1e-7, Some(1e-9)), "1.000e-7");
        assert_eq!(within(1e-7, Some(0.1)), "0.00");
        assert_eq!(within(f64::NAN, None), "?");
    }

    #[test]
    fn zero_has_no_sign() {
        assert_eq!((within(-0.0, None), plain(-0.0)), ("0".to_owned(), "0".to_owned()));
        assert_eq!(within(-1e-7, Some(0.1)), "0.00");
        assert_eq!(
            (within(-0.04, Some(0.1)), within(f64::NEG_INFINITY, None)),
            ("-0.04".to_owned(), "-inf".to_owned())
        );
    }

    #[test]
    fn plain_numbers_are_short() {
        assert_eq!(plain(96.0), "96");
        assert_eq!(plain(1e-7), "1e-7");
        assert_eq!(plain(-0.25), "-0.25");
    }
}
