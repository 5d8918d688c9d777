//! Several problems as one error value.
//!
//! Contains the list and its text; the problem types belong to the modules that find them.

use std::error::Error;
use std::fmt::{self, Debug, Display};
use std::ops::Deref;

/// All problems that one check found, in the order of the check; at least one.
///
/// An error value that works with `?`: it displays every problem, and dereferences to a slice of the problems.
///
/// ```
/// use tailspn_engine::Problems;
///
/// let two = Problems::new(["no name", "no rate"]).unwrap();
/// assert_eq!(two.to_string(), "no name; no rate");
/// assert_eq!(two.len(), 2);
/// assert_eq!(Problems::<String>::new([]), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems<P>(Vec<P>);

impl<P> Problems<P> {
    /// A list of problems; `None` if there are none.
    pub fn new(problems: impl IntoIterator<Item = P>) -> Option<Self> {
        let problems: Vec<P> = problems.into_iter().collect();
        (!problems.is_empty()).then_some(Self(problems))
    }

    /// Returns an error that lists the problems, or nothing if there are none.
    ///
    /// # Errors
    ///
    /// All problems, at least one.
    pub fn check(problems: Vec<P>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self(problems)) }
    }

    /// The same problems, each converted by `convert`.
    pub fn map<Q>(self, convert: impl FnMut(P) -> Q) -> Problems<Q> {
        Problems(self.0.into_iter().map(convert).collect())
    }

    /// The problems as a vector.
    pub fn into_vec(self) -> Vec<P> {
        self.0
    }
}

impl<P> From<P> for Problems<P> {
    fn from(only: P) -> Self {
        Self(vec![only])
    }
}

impl<P> Deref for Problems<P> {
    type Target = [P];

    fn deref(&self) -> &[P] {
        &self.0
    }
}

impl<P> IntoIterator for Problems<P> {
    type Item = P;
    type IntoIter = std::vec::IntoIter<P>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<P: Display> Display for Problems<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.0.iter().enumerate() {
            write!(f, "{}{problem}", if i == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

impl<P: Debug + Display> Error for Problems<P> {}
