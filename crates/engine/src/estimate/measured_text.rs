//! A [`Measured`] number as text: `85.23 (95% CI 84.84 to 85.62)`.

use std::fmt;

use crate::estimate::measured::{Doubt, Measured};

/// Digits after the decimal point of a number whose uncertainty does not determine them.
const DIGITS: usize = 6;

impl fmt::Display for Measured {
    /// Writes the value with its interval or bounds, to two digits of the interval's width, or with the number of decimals
    /// that the format specifies; a level that is stated elsewhere (0) is left out. A value that is not a number is written as `unknown`, with its reason.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or_else(|| self.ends().map_or(DIGITS, |[low, high]| digits_of(high - low)));
        if self.value.is_nan() {
            f.write_str("unknown")?;
        } else {
            number(f, self.value, digits)?;
        }
        match &self.doubt {
            Doubt::Interval { low, high } => {
                f.write_str(" (")?;
                if self.level > 0.0 {
                    write!(f, "{}% ", trimmed(100.0 * self.level, 3))?;
                }
                f.write_str("CI ")?;
                number(f, *low, digits)?;
                f.write_str(" to ")?;
                number(f, *high, digits)?;
                f.write_str(")")
            }
            Doubt::Bounds { low, high } => {
                f.write_str(" (certainly ")?;
                number(f, *low, digits)?;
                f.write_str(" to ")?;
                number(f, *high, digits)?;
                f.write_str(")")
            }
            Doubt::Unknown(reason) if !reason.is_empty() => write!(f, " ({reason})"),
            _ => Ok(()),
        }
    }
}

/// Digits after the point that show two digits of `width`.
fn digits_of(width: f64) -> usize {
    if width > 0.0 && width.is_finite() { (1.0 - width.log10().floor()).clamp(0.0, 15.0) as usize } else { DIGITS }
}

fn number(f: &mut fmt::Formatter<'_>, value: f64, digits: usize) -> fmt::Result {
    f.write_str(&trimmed_unless_asked(f.precision().is_some(), value, digits))
}

fn trimmed_unless_asked(asked: bool, value: f64, digits: usize) -> String {
    if asked { format!("{value:.digits$}") } else { trimmed(value, digits) }
}

/// A number without zeros at its end, in scientific notation if it would be long.
fn trimmed(value: f64, digits: usize) -> String {
    if value != 0.0 && !(1e-6..1e15).contains(&value.abs()) {
        return format!("{value:.3e}");
    }
    let text = format!("{:.digits$}", value + 0.0);
    if !text.contains('.') {
        return text;
    }
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_with_their_doubt() {
        let mut number = Measured {
            value: 85.2314,
            doubt: Doubt::Interval { low: 84.841, high: 85.621 },
            level: 0.95,
            samples: 100,
        };
        assert_eq!(number.to_string(), "85.23 (95% CI 84.84 to 85.62)");
        assert_eq!(format!("{number:.1}"), "85.2 (95% CI 84.8 to 85.6)");
        assert_eq!(Measured { level: 0.0, ..number.clone() }.to_string(), "85.23 (CI 84.84 to 85.62)");
        number.doubt = Doubt::Unknown("2 samples are too few".to_owned());
        assert_eq!(number.to_string(), "85.2314 (2 samples are too few)");
        let small = [-0.0, -1e-4].map(|value| Measured { value, doubt: Doubt::Exact, ..number.clone() }.to_string());
        assert_eq!(small, ["0", "-0.0001"]);
        number.value = f64::NAN;
        assert_eq!(number.to_string(), "unknown (2 samples are too few)");
        assert_eq!(Measured { value: 0.5, doubt: Doubt::Exact, ..number.clone() }.to_string(), "0.5");
        let doubt = Doubt::Bounds { low: 1.0, high: 3.0 };
        assert_eq!(Measured { value: 2.0, doubt, ..number }.to_string(), "2 (certainly 1 to 3)");
    }
}
