//! A point of a sweep: the value of each axis.

use toml::Value;

/// A point of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Its number; 0 is the base.
    pub number: u64,
    /// The value of each axis; none where it is as in the base.
    pub values: Vec<Option<Value>>,
}

impl Point {
    /// The base itself, for so many axes.
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
