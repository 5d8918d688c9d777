//! Quantities with a unit: checked on input, plain numbers inside loops.
//!
//! Defines the newtypes that public signatures take and return. It offers only the arithmetic that callers need
//! at interfaces; hot loops unwrap once.

use std::fmt;

/// A span of model time, in seconds: finite and not negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Seconds(f64);

impl Seconds {
    /// Wraps a finite, non-negative number of seconds; anything else is `None`.
    pub fn new(value: f64) -> Option<Self> {
        (value.is_finite() && value >= 0.0).then_some(Self(value))
    }

    /// Returns the number of seconds.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match f.precision() {
            Some(digits) => write!(f, "{:.digits$} s", self.0),
            None => write!(f, "{} s", self.0),
        }
    }
}

/// A probability or a share: between 0 and 1, both included.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Probability(f64);

impl Probability {
    /// Wraps a number between 0 and 1; anything else is `None`.
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value))
    }

    /// Returns the number, between 0 and 1.
    pub fn get(self) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_values_outside_their_range() {
        assert_eq!(Seconds::new(-1.0), None);
        assert_eq!(Seconds::new(f64::NAN), None);
        assert_eq!(Probability::new(1.0 + 1e-12), None);
        assert_eq!(Probability::new(1.0).map(Probability::get), Some(1.0));
    }
}
