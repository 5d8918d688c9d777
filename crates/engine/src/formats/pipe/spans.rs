//! Positions of the parts of a net in its file.

use std::ops::Range;

use crate::net::PartRef;

/// Per kind of part, in the order of the builder: the bytes that it was read from.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    pub(crate) places: Vec<Range<usize>>,
    pub(crate) transitions: Vec<Range<usize>>,
    pub(crate) parameters: Vec<Range<usize>>,
    pub(crate) arcs: Vec<Range<usize>>,
}

impl Spans {
    /// The bytes of a part; the start of the file for a part that the file does not contain.
    pub(crate) fn of(&self, part: PartRef) -> Range<usize> {
        let found = match part {
            PartRef::Class(_) => None,
            PartRef::Parameter(id) => self.parameters.get(id.index()),
            PartRef::Place(id) => self.places.get(id.index()),
            PartRef::Transition(id) => self.transitions.get(id.index()),
            PartRef::Arc(i) => self.arcs.get(i),
        };
        found.cloned().unwrap_or(0..0)
    }
}
