//! Amounts of data with a unit, as people write them.

use std::fmt;
use std::str::FromStr;

/// Bytes of a MB.
const MB: f64 = 1_048_576.0;

/// An amount of data, such as `10GB`: finite and positive. Units are powers of 1024, as in plans: `GB` and `GiB` are the same.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct DataSize {
    mb: f64,
}

/// A text that is not an amount of data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DataSizeError {
    /// The number has no unit.
    #[error("a size needs a unit, such as {0}MB")]
    NoUnit(String),
    /// The amount is zero, negative, or not finite.
    #[error("a size must be finite and above 0")]
    NotPositive,
    /// The text is not a number with a unit.
    #[error("expected a size, such as 500MB or 10GB; the input of a job may also be a multiple, such as 3x")]
    Text,
}

impl DataSize {
    /// Returns this number of MB (2^20 bytes); none unless the number is finite and positive.
    pub fn from_mb(mb: f64) -> Option<Self> {
        (mb.is_finite() && mb > 0.0).then_some(Self { mb })
    }

    /// Returns the number of MB of 2^20 bytes.
    pub fn mb(self) -> f64 {
        self.mb
    }
}

impl FromStr for DataSize {
    type Err = DataSizeError;

    /// Reads a number with `B`, `KB`, `MB`, `GB`, `TB` or `PB`; `M`, `Mi` and `MiB` are the same as `MB`.
    fn from_str(text: &str) -> Result<Self, DataSizeError> {
        let text = text.trim();
        let at = text.rfind(|c: char| c.is_ascii_digit() || c == '.').map_or(0, |last| last + 1);
        let (digits, unit) = text.split_at(at);
        let unit = unit.trim().to_ascii_uppercase();
        // `NaN` and `inf` have no digits
        let number: f64 = match text.parse::<f64>() {
            Ok(number) if !number.is_finite() => return Err(DataSizeError::NotPositive),
            _ => digits.trim().parse().map_err(|_| DataSizeError::Text)?,
        };
        let power = match unit.trim_end_matches('B').trim_end_matches('I') {
            "" if unit.is_empty() => return Err(DataSizeError::NoUnit(digits.trim().to_owned())),
            "" if unit == "B" => 0,
            "K" => 1,
            "M" => 2,
            "G" => 3,
            "T" => 4,
            "P" => 5,
            _ => return Err(DataSizeError::Text),
        };
        Self::from_mb(number * 1024_f64.powi(power) / MB).ok_or(DataSizeError::NotPositive)
    }
}

/// The input of a job: an amount of data, or a multiple of what the plan states, such as `3x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InputSize {
    /// An amount.
    Data(DataSize),
    /// A multiple, finite and positive.
    Times(f64),
}

impl InputSize {
    /// Returns the number of MB for a plan that states `own_mb`.
    pub fn of(self, own_mb: f64) -> f64 {
        match self {
            Self::Data(size) => size.mb(),
            Self::Times(times) => times * own_mb,
        }
    }
}

impl From<DataSize> for InputSize {
    fn from(size: DataSize) -> Self {
        Self::Data(size)
    }
}

impl FromStr for InputSize {
    type Err = DataSizeError;

    /// Reads an amount of data, or a number with `x`.
    fn from_str(text: &str) -> Result<Self, DataSizeError> {
        match text.trim().strip_suffix(['x', 'X']).map(|times| times.trim().parse::<f64>()) {
            None => text.parse().map(Self::Data),
            Some(Ok(times)) if times.is_finite() && times > 0.0 => Ok(Self::Times(times)),
            Some(Ok(_)) => Err(DataSizeError::NotPositive),
            Some(Err(_)) => Err(DataSizeError::Text),
        }
    }
}

impl fmt::Display for DataSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} MB", self.mb)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_may_be_multiples() {
        let of = |text: &str| text.parse::<InputSize>().map(|size| size.of(200.0));
        assert_eq!([of("3x"), of(" 0.5 X"), of("1GB")], [Ok(600.0), Ok(100.0), Ok(1024.0)]);
        assert_eq!([of("0x"), of("-1x"), of("infx")], [const { Err(DataSizeError::NotPositive) }; 3]);
        assert_eq!(of("threex"), Err(DataSizeError::Text));
    }

    #[test]
    fn sizes_have_units_of_1024() {
        let mb = |text: &str| text.parse::<DataSize>().map(DataSize::mb);
        for text in ["10GB", "10GiB", "10g", "10 GB", "10240MB", "10240M", "1e4GB"] {
            assert_eq!(mb(text), Ok(if text == "1e4GB" { 10_240_000.0 } else { 10_240.0 }), "{text}");
        }
        assert_eq!((mb("1TB"), mb("524288B"), mb("512KiB")), (Ok(1_048_576.0), Ok(0.5), Ok(0.5)));
        assert_eq!(mb("10240").unwrap_err().to_string(), "a size needs a unit, such as 10240MB");
        for text in ["0GB", "-1GB", "NaN", "inf", "1e400GB"] {
            assert_eq!(mb(text), Err(DataSizeError::NotPositive), "{text}");
        }
        for text in ["", "GB", "10XB", "10iB", "NaNGB", "ten GB"] {
            assert_eq!(mb(text), Err(DataSizeError::Text), "{text}");
        }
    }
}
