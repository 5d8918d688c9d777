//! The reader's notes of faults and warnings.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::formats::pipe::problem::{Fault, Lines, Oddity, ReadError, ReadProblem, Warning};

/// Maximum number of problems of one file that are listed.
const MAX_PROBLEMS: usize = 100;

/// Faults and warnings of one file found so far.
#[derive(Debug)]
pub(crate) struct Notes<'t> {
    lines: Lines<'t>,
    faults: Vec<(Range<usize>, Fault)>,
    odd: BTreeMap<Oddity, Odd>,
}

#[derive(Debug)]
struct Odd {
    span: Range<usize>,
    message: String,
    others: usize,
}

impl<'t> Notes<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { lines: Lines::new(text), faults: Vec::new(), odd: BTreeMap::new() }
    }

    /// Adds a fault, so that the file is refused.
    pub(crate) fn fault(&mut self, span: Range<usize>, fault: Fault) {
        self.faults.push((span, fault));
    }

    /// Adds a warning. The first warning of each kind is reported; the other warnings of the kind are counted.
    pub(crate) fn odd(&mut self, span: Range<usize>, oddity: Oddity, message: impl FnOnce() -> String) {
        match self.odd.get_mut(&oddity) {
            Some(odd) => odd.others += 1,
            None => {
                self.odd.insert(oddity, Odd { span, message: message(), others: 0 });
            }
        }
    }

    /// The line that a byte is on.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.lines.line(offset)
    }

    /// Returns true if the file must be refused.
    pub(crate) fn refused(&self) -> bool {
        !self.faults.is_empty()
    }

    /// Returns true if there is neither a fault nor a warning.
    pub(crate) fn is_empty(&self) -> bool {
        self.faults.is_empty() && self.odd.is_empty()
    }

    /// All faults as one error.
    pub(crate) fn into_error(mut self) -> ReadError {
        self.faults.sort_by_key(|(span, _)| span.start);
        let more = self.faults.len().saturating_sub(MAX_PROBLEMS);
        self.faults.truncate(MAX_PROBLEMS);
        let lines = &self.lines;
        let problems =
            self.faults.into_iter().map(|(span, fault)| ReadProblem { spot: lines.spot(span), fault }).collect();
        ReadError { problems, more }
    }

    /// All warnings, in the order of the file.
    pub(crate) fn into_warnings(self) -> Vec<Warning> {
        let lines = &self.lines;
        let mut warnings: Vec<_> = self
            .odd
            .into_iter()
            .map(|(oddity, odd)| Warning {
                oddity,
                spot: lines.spot(odd.span),
                message: odd.message,
                others: odd.others,
            })
            .collect();
        warnings.sort_by_key(|warning| warning.spot.span.start);
        warnings
    }
}
