//! A point of a sweep: the value of each axis.

use toml::Value;

/// A point of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Number of the point; 0 is the base.
    pub number: u64,
    /// The value of each axis; none if it is as in the base.
    pub values: Vec<Option<Value>>,
}

impl Point {
    /// Returns the base, for a plan with the given number of axes.
    pub fn base(axes: usize) -> Self {
        Self { number: 0, values: vec![None; axes] }
    }

    /// Returns the same point with another value of axis number `which`.
    #[must_use]
    pub fn with(mut self, which: usize, value: Value) -> Self {
        self.values[which] = Some(value);
        self
    }
}
