//! The parts of a GreatSPN net as written in its file, in either of the two formats.

use std::ops::Range;

use crate::formats::pipe::xml::Text;
use crate::net::{Annotation, Point};

/// A constant, or a template: a constant without a value.
#[derive(Debug)]
pub(super) struct RawConstant<'t> {
    pub(super) name: Text<'t>,
    pub(super) value: Option<Text<'t>>,
    pub(super) position: Option<Point>,
}

/// A place.
#[derive(Debug)]
pub(super) struct RawPlace<'t> {
    pub(super) name: Text<'t>,
    pub(super) marking: Option<Text<'t>>,
    pub(super) position: Option<Point>,
    pub(super) label_offset: Point,
}

/// Timing of a transition.
#[derive(Debug)]
pub(super) enum RawTiming<'t> {
    /// After an exponential delay.
    Exponential { rate: Option<Text<'t>>, servers: Option<Text<'t>> },
    /// In zero time.
    Immediate { weight: Option<Text<'t>>, priority: Option<Text<'t>> },
    /// After a delay with the density of this name, such as `I[3]`.
    General { density: Option<Text<'t>> },
}

/// A transition.
#[derive(Debug)]
pub(super) struct RawTransition<'t> {
    pub(super) name: Text<'t>,
    pub(super) tag: Range<usize>,
    pub(super) timing: RawTiming<'t>,
    pub(super) position: Option<Point>,
    pub(super) orientation: i32,
    pub(super) label_offset: Point,
}

/// An arc.
#[derive(Debug)]
pub(super) struct RawArc<'t> {
    pub(super) tag: Range<usize>,
    /// Start of the arc.
    pub(super) tail: Text<'t>,
    /// End of the arc.
    pub(super) head: Text<'t>,
    pub(super) inhibits: bool,
    pub(super) weight: Option<Text<'t>>,
    /// The bends of the drawn line, from its start to its end.
    pub(super) bends: Vec<Point>,
}

/// A measure that the file requests.
#[derive(Debug)]
pub(super) struct RawMeasure<'t> {
    /// The kind of formula, such as `PERFORMANCE_INDEX` or `CTL`.
    pub(super) language: String,
    pub(super) formula: Text<'t>,
}

/// A net.
#[derive(Debug, Default)]
pub(super) struct RawNet<'t> {
    pub(super) name: String,
    pub(super) constants: Vec<RawConstant<'t>>,
    pub(super) places: Vec<RawPlace<'t>>,
    pub(super) transitions: Vec<RawTransition<'t>>,
    pub(super) arcs: Vec<RawArc<'t>>,
    pub(super) annotations: Vec<Annotation>,
    pub(super) measures: Vec<RawMeasure<'t>>,
}
