//! The parts of a net: places, transitions, arcs, and data that only a drawing or another tool needs.
//!
//! Plain records with public fields; [`crate::net::NetBuilder`] checks that they are consistent.

use crate::net::expr::Expr;
use crate::net::ids::{ClassId, PlaceId, TransitionId};
use crate::net::law::Law;

/// A point of the drawing, in pixels from the top left corner.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "coordinates")]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

/// A kind of token (a colour of PIPE). Numbers without a class refer to the first class of a net.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenClass {
    /// Id of the class; every PIPE net has the class `Default`.
    pub id: String,
    /// True if PIPE 4 marks the class as in use.
    pub enabled: bool,
    /// Red, green and blue of the class's tokens in the drawing.
    pub colour: [u8; 3],
}

impl TokenClass {
    /// The only class of a net without colours.
    pub fn default_class() -> Self {
        Self { id: "Default".to_owned(), enabled: true, colour: [0; 3] }
    }
}

/// A named rate parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The name that expressions use.
    pub name: String,
    /// Value of the parameter: a constant, or an expression over places and earlier parameters.
    pub value: Expr,
    /// Position of the parameter's box in the drawing.
    pub position: Option<Point>,
}

/// A place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// Id, unique among the places of the net.
    pub id: String,
    /// Label in the drawing; empty means the id.
    pub name: String,
    /// Tokens of each class at the start, in the order of the net's classes; missing numbers are 0.
    pub initial: Vec<u32>,
    /// Maximum number of tokens of all classes together; `None` is unbounded.
    pub capacity: Option<u32>,
    /// Position in the drawing.
    pub position: Option<Point>,
    /// Position of its name, relative to the place.
    pub label_offset: Point,
}

impl Place {
    /// The display name: the name, or the id if the name is empty.
    pub fn label(&self) -> &str {
        if self.name.is_empty() { &self.id } else { &self.name }
    }

    /// Tokens of all classes at the start.
    pub fn initial_total(&self) -> u64 {
        self.initial.iter().map(|&n| u64::from(n)).sum()
    }
}

/// Number of enablings of a timed transition that are served simultaneously.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Servers {
    /// One: the rate does not depend on the enabling degree.
    #[default]
    Single,
    /// The enabling degree: every enabling is served.
    Infinite,
    /// At most this number, which is at least 1.
    Limited(u32),
}

/// Memory of a timed transition that is disabled before it fires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    /// The transition forgets its delay, and draws a new one when it is enabled again (race with enabling memory).
    #[default]
    Enabling,
    /// The transition keeps its remaining delay (race with age memory).
    Age,
}

/// The delay of a timed transition.
#[derive(Clone, Debug, PartialEq)]
pub enum Delay {
    /// Exponential with this rate [1/s], evaluated in the marking in which the transition is enabled.
    Exponential {
        /// Rate of one server. With rate 0 the transition never fires; a negative rate is an error.
        rate: Expr,
    },
    /// Any other distribution.
    General(Law),
}

/// Timing of an enabled transition.
#[derive(Clone, Debug, PartialEq)]
pub enum Timing {
    /// Fires immediately, before any timed transition.
    Immediate {
        /// Share of the transition among the enabled transitions of the same priority.
        weight: Expr,
        /// Higher numbers have precedence.
        priority: u32,
    },
    /// After a random delay.
    Timed {
        /// The delay's distribution.
        delay: Delay,
        /// Number of enablings that are served simultaneously.
        servers: Servers,
        /// Memory of the transition when it is disabled.
        memory: Memory,
    },
}

impl Timing {
    /// Exponential with a constant rate [1/s], single server.
    pub fn exponential(rate: f64) -> Self {
        Self::Timed {
            delay: Delay::Exponential { rate: rate.into() },
            servers: Servers::Single,
            memory: Memory::Enabling,
        }
    }

    /// Any distribution, single server, enabling memory.
    pub fn general(law: Law) -> Self {
        Self::Timed { delay: Delay::General(law), servers: Servers::Single, memory: Memory::Enabling }
    }

    /// Immediate with a constant weight.
    pub fn immediate(weight: f64, priority: u32) -> Self {
        Self::Immediate { weight: weight.into(), priority }
    }
}

/// A transition.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// Id, unique among the transitions of the net.
    pub id: String,
    /// Label in the drawing; empty means the id.
    pub name: String,
    /// Time when it fires.
    pub timing: Timing,
    /// Position in the drawing.
    pub position: Option<Point>,
    /// Rotation of its bar, in degrees.
    pub orientation: i32,
    /// Position of its name, relative to the transition.
    pub label_offset: Point,
    /// A PIPE priority of a timed transition; stored, but without effect.
    pub unused_priority: Option<u32>,
}

impl Transition {
    /// A transition that has only an id and a timing.
    pub fn new(id: impl Into<String>, timing: Timing) -> Self {
        Self {
            id: id.into(),
            name: String::new(),
            timing,
            position: None,
            orientation: 0,
            label_offset: Point::default(),
            unused_priority: None,
        }
    }

    /// The display name: the name, or the id if the name is empty.
    pub fn label(&self) -> &str {
        if self.name.is_empty() { &self.id } else { &self.name }
    }

    /// Returns true if the transition fires in zero time.
    pub fn is_immediate(&self) -> bool {
        matches!(self.timing, Timing::Immediate { .. })
    }
}

/// Kind of an arc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ArcKind {
    /// Place to transition: the tokens are needed and consumed.
    Input,
    /// Transition to place: the tokens are produced.
    Output,
    /// Place to transition: the transition is disabled if the place holds at least `weight` tokens.
    Inhibitor,
    /// Place to transition: the tokens are needed and stay (a read arc).
    Test,
}

impl ArcKind {
    /// The id of an arc between these nodes that has no other id.
    pub(crate) fn usual_id(self, place: &str, transition: &str) -> String {
        match self {
            Self::Output => format!("{transition} to {place}"),
            Self::Input => format!("{place} to {transition}"),
            Self::Inhibitor => format!("{place} inhibits {transition}"),
            Self::Test => format!("{place} read by {transition}"),
        }
    }
}

/// The weight of an arc for one token class.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassWeight {
    /// The class.
    pub class: ClassId,
    /// Number of tokens of the class; an expression is rounded to the nearest integer.
    pub weight: Expr,
}

/// A bend of a drawn arc.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathPoint {
    /// Position of the bend.
    pub point: Point,
    /// True if the arc is curved here.
    pub curved: bool,
}

/// An arc between a place and a transition.
#[derive(Clone, Debug, PartialEq)]
pub struct Arc {
    /// Id, unique among the arcs of the net. Empty means the usual id by its ends, such as `P0 to T0`
    /// ([`Net::arc_id`](crate::net::Net::arc_id)).
    pub id: String,
    /// Kind of the arc.
    pub kind: ArcKind,
    /// Place of the arc.
    pub place: PlaceId,
    /// Transition of the arc.
    pub transition: TransitionId,
    /// Weights by class; a class that is not listed has weight 0.
    pub weights: Vec<ClassWeight>,
    /// The drawn path, including both ends; may be empty.
    pub path: Vec<PathPoint>,
    /// PIPE's mark on the path of a tagged customer; stored, but without meaning in tailspn.
    pub tagged: bool,
}

/// A text on the drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Annotation {
    /// Top left corner.
    pub position: Point,
    /// Width and height.
    pub size: Point,
    /// True if a border is drawn.
    pub border: bool,
    /// The text.
    pub text: String,
}

/// A named set of markings, as PIPE 4 stores it: conditions that must all hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateGroup {
    /// Id of the state group.
    pub id: String,
    /// Name of the state group.
    pub name: String,
    /// Conditions such as `P0 > 1`, verbatim.
    pub conditions: Vec<String>,
}
