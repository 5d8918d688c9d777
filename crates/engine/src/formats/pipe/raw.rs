//! The parts of a file as written, with ids not yet resolved.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::formats::pipe::dialect::Traces;
use crate::formats::pipe::instructions::Instructions;
use crate::formats::pipe::xml::Text;
use crate::net::{Annotation, PathPoint, Point, StateGroup, TokenClass};

/// The tool that wrote the distributions of a file, as far as the file says.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProcessWriter {
    /// True for ProM, false for pm4py; none if the file does not say.
    pub(super) version: Option<bool>,
    /// Seconds per unit of time of ProM; none if the file does not say.
    pub(super) unit: Option<f64>,
}

/// Common parts of places and transitions.
#[derive(Debug)]
pub(super) struct RawNode<'t> {
    pub(super) id: Text<'t>,
    pub(super) tag: Range<usize>,
    pub(super) name: Cow<'t, str>,
    pub(super) position: Option<Point>,
    pub(super) label_offset: Point,
    pub(super) instructions: Instructions<'t>,
}

/// A place as written in the file.
#[derive(Debug)]
pub(super) struct RawPlace<'t> {
    pub(super) node: RawNode<'t>,
    pub(super) marking: Option<Text<'t>>,
    pub(super) capacity: Option<Text<'t>>,
}

/// A transition as written in the file.
#[derive(Debug)]
pub(super) struct RawTransition<'t> {
    pub(super) node: RawNode<'t>,
    pub(super) orientation: i32,
    pub(super) rate: Option<Text<'t>>,
    pub(super) rate_definition: Option<Text<'t>>,
    pub(super) timed: Option<bool>,
    pub(super) infinite_server: bool,
    pub(super) priority: Option<Text<'t>>,
    pub(super) fixed_delay: Option<Text<'t>>,
    pub(super) guard: Option<Text<'t>>,
    pub(super) tool: Option<Box<ToolTiming<'t>>>,
}

/// The timing of a transition that another tool wrote.
#[derive(Clone, Debug)]
pub(super) enum ToolTiming<'t> {
    /// A part of pm4py, ProM or pmkoalas.
    Stochastic(Stochastic<'t>),
    /// A number of DICE: the weight of a choice, or a rate.
    Dice(Text<'t>),
}

/// An arc as written in the file, or in an instruction.
#[derive(Debug)]
pub(super) struct RawArc<'t> {
    pub(super) id: Option<Text<'t>>,
    pub(super) tag: Range<usize>,
    pub(super) source: Text<'t>,
    pub(super) target: Text<'t>,
    /// `None` for an ordinary arc.
    pub(super) kind: Option<Box<Text<'t>>>,
    pub(super) weight: Option<Text<'t>>,
    pub(super) path: Vec<PathPoint>,
    pub(super) tagged: bool,
    pub(super) instructions: Instructions<'t>,
}

/// A rate parameter as written in the file.
#[derive(Debug)]
pub(super) struct RawParameter<'t> {
    pub(super) name: Text<'t>,
    pub(super) id: Option<Text<'t>>,
    pub(super) value: Text<'t>,
    /// True if the value refers to parts by position.
    pub(super) by_position: bool,
    pub(super) position: Option<Point>,
}

/// A reference node of PNML.
#[derive(Debug)]
pub(super) struct RawReference<'t> {
    pub(super) id: Text<'t>,
    pub(super) target: Text<'t>,
    pub(super) kind: &'static str,
}

/// Everything in a file.
#[derive(Debug, Default)]
pub(super) struct RawNet<'t> {
    pub(super) name: String,
    pub(super) nets: usize,
    pub(super) classes: Vec<(TokenClass, Range<usize>)>,
    pub(super) parameters: Vec<RawParameter<'t>>,
    pub(super) places: Vec<RawPlace<'t>>,
    pub(super) transitions: Vec<RawTransition<'t>>,
    pub(super) arcs: Vec<RawArc<'t>>,
    pub(super) references: Vec<RawReference<'t>>,
    /// XML ids of PNML elements, each with the real id, which is not an XML name.
    pub(super) renamed: HashMap<String, Text<'t>>,
    pub(super) annotations: Vec<Annotation>,
    pub(super) groups: Vec<StateGroup>,
    pub(super) traces: Traces,
    /// The tool that wrote the distributions.
    pub(super) writer: ProcessWriter,
    pub(super) tapaal: Tapaal<'t>,
    /// True if a part has `<?tailspn …?>` instructions.
    pub(super) instructed: bool,
}

/// The stochastic part of a transition that pm4py and ProM write.
#[derive(Clone, Debug)]
pub(super) struct Stochastic<'t> {
    pub(super) tag: Range<usize>,
    pub(super) kind: Option<Text<'t>>,
    pub(super) parameters: Option<Text<'t>>,
    pub(super) weight: Option<Text<'t>>,
    pub(super) priority: Option<Text<'t>>,
}

/// Data of a TAPAAL file other than its nets.
#[derive(Debug, Default)]
pub(super) struct Tapaal<'t> {
    /// True if the open component is inactive.
    pub(super) skipping: bool,
    pub(super) components: Vec<Component>,
    pub(super) shared_places: HashSet<String>,
    pub(super) shared_transitions: HashSet<String>,
    pub(super) constants: HashMap<String, Text<'t>>,
    /// The first transition with a delay distribution.
    pub(super) distribution: Option<(Range<usize>, String)>,
    /// True if the file declares its net stochastic, false if it declares it not stochastic, `None` if it declares neither.
    pub(super) stochastic: Option<bool>,
}

/// A component, and the numbers of parts that precede it in the file.
#[derive(Debug)]
pub(super) struct Component {
    pub(super) name: String,
    pub(super) places: usize,
    pub(super) transitions: usize,
    pub(super) arcs: usize,
}
