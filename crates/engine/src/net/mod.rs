//! The net as written by the user, with names, positions and expressions, in the order of the file.
//!
//! Defines the parts ([`Place`], [`Transition`], [`Arc`], delay distributions ([`Law`]), [expressions](expr)) and the only
//! way to assemble them, [`NetBuilder`]. Their meaning is defined elsewhere: `semantics` defines enabling and firing,
//! and engines run a `Program` compiled from a net.

pub mod expr;

mod builder;
mod difference;
pub(crate) mod enabling;
mod ids;
mod key;
mod law;
mod parts;
mod problem;
mod validate;

pub use builder::NetBuilder;
pub use difference::{Difference, Part, differences};
pub use enabling::deadlock_condition;
pub use expr::Expr;
pub use ids::{ClassId, ParameterId, PlaceId, TransitionId};
pub use key::{LookupError, PartKey, PlaceKey, TransitionKey};
pub use law::{Bound, Branch, Law, LawProblem, MAX_ERLANG_STAGES};
pub use parts::{
    Annotation, Arc, ArcKind, ClassWeight, Delay, Memory, Parameter, PathPoint, Place, Point, Servers, StateGroup,
    Timing, TokenClass, Transition,
};
pub use problem::{BuildError, BuildProblem, PartRef};

use expr::{ExprError, Leaf, NamedLeaf, Names};
use std::collections::HashMap;

/// A generalized stochastic Petri net: immutable, checked, in file order.
///
/// Equality compares everything that a file can store, including the drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Net {
    name: String,
    classes: Vec<TokenClass>,
    parameters: Vec<Parameter>,
    places: Vec<Place>,
    transitions: Vec<Transition>,
    arcs: Vec<Arc>,
    annotations: Vec<Annotation>,
    state_groups: Vec<StateGroup>,
    index: NameIndex,
}

/// Ids and names of the parts of a net, for looking them up.
#[derive(Clone, Debug, Default, PartialEq)]
struct NameIndex {
    places: HashMap<String, PlaceId>,
    transitions: HashMap<String, TransitionId>,
    classes: HashMap<String, ClassId>,
    parameters: HashMap<String, ParameterId>,
}

impl Net {
    /// The net's name; may be empty.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Token classes; there is at least one.
    pub fn classes(&self) -> &[TokenClass] {
        &self.classes
    }

    /// Named rate parameters in file order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Places in file order; a [`PlaceId`] is a position in this slice.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// Transitions in file order; a [`TransitionId`] is a position in this slice.
    pub fn transitions(&self) -> &[Transition] {
        &self.transitions
    }

    /// Arcs in file order.
    pub fn arcs(&self) -> &[Arc] {
        &self.arcs
    }

    /// Texts on the drawing, in file order.
    pub fn annotations(&self) -> &[Annotation] {
        &self.annotations
    }

    /// PIPE's state groups, in file order.
    pub fn state_groups(&self) -> &[StateGroup] {
        &self.state_groups
    }

    /// The place of this id.
    pub fn place(&self, id: PlaceId) -> &Place {
        &self.places[id.index()]
    }

    /// The transition of this id.
    pub fn transition(&self, id: TransitionId) -> &Transition {
        &self.transitions[id.index()]
    }

    /// The place with this id, otherwise the place with this name.
    pub fn find_place(&self, id: &str) -> Option<PlaceId> {
        self.index.places.get(id).copied()
    }

    /// The transition with this id, otherwise the transition with this name.
    pub fn find_transition(&self, id: &str) -> Option<TransitionId> {
        self.index.transitions.get(id).copied()
    }

    /// Parses an expression over the places, classes and parameters of this net.
    ///
    /// # Errors
    ///
    /// The byte span of a syntax error, or of a name that the net does not have.
    pub fn expression(&self, text: &str) -> Result<Expr, ExprError> {
        self.resolved(&expr::parse(text)?)
    }

    /// Replaces the names of a parsed expression by places, classes and parameters of this net.
    ///
    /// # Errors
    ///
    /// The first name that the net does not have, with its byte span.
    pub fn resolved(&self, expression: &Expr<NamedLeaf>) -> Result<Expr, ExprError> {
        expr::resolve(expression, &self.index)
    }

    /// The text of an expression of this net.
    pub fn expression_text(&self, expression: &Expr) -> String {
        expression.text(&|leaf| match leaf {
            Leaf::Parameter(id) => self.parameters[id.index()].name.clone(),
            Leaf::Tokens(place, None) => format!("#({})", self.place(*place).id),
            Leaf::Tokens(place, Some(class)) => {
                format!("#({}, {})", self.place(*place).id, self.classes[class.index()].id)
            }
            Leaf::Capacity(place) => format!("cap({})", self.place(*place).id),
        })
    }
}

impl Names for NameIndex {
    fn place(&self, name: &str) -> Option<PlaceId> {
        self.places.get(name).copied()
    }

    fn class(&self, name: &str) -> Option<ClassId> {
        self.classes.get(name).copied()
    }

    fn parameter(&self, name: &str) -> Option<ParameterId> {
        self.parameters.get(name).copied()
    }
}
