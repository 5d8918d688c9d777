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
mod index;
mod key;
mod law;
mod parts;
mod problem;
mod sink;
mod validate;

pub use builder::NetBuilder;
pub use difference::{Difference, Part, differences};
pub use enabling::deadlock_condition;
pub use expr::Expr;
pub use ids::{ClassId, ParameterId, PlaceId, TransitionId};
pub use key::{LookupError, PartKey, PlaceKey, TransitionKey};
pub use law::{Bound, Branch, GAMMA_SHAPES, Law, LawProblem, MAX_ERLANG_STAGES};
pub use parts::{
    Annotation, Arc, ArcKind, ClassWeight, Delay, Memory, Parameter, PathPoint, Place, Point, Servers, StateGroup,
    Timing, TokenClass, Transition,
};
pub use problem::{BuildError, BuildProblem, GuardError, PartRef};
pub use sink::PartSink;

use std::borrow::Cow;

use expr::{ExprError, Leaf, NamedLeaf, Names};
use index::{Lookup, NameIndex};

/// A generalized stochastic Petri net: immutable, checked, in file order.
///
/// Equality compares everything that a file can store, including the drawing.
#[derive(Clone, Debug)]
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

    /// The id of an arc of this net: its own id, or the usual id by its ends, such as `P0 to T0`.
    pub fn arc_id<'n>(&'n self, arc: &'n Arc) -> Cow<'n, str> {
        if !arc.id.is_empty() {
            return Cow::Borrowed(&arc.id);
        }
        Cow::Owned(arc.kind.usual_id(&self.place(arc.place).id, &self.transition(arc.transition).id))
    }

    /// The place with this id, otherwise the place with this name.
    pub fn find_place(&self, id: &str) -> Option<PlaceId> {
        self.names().place(id)
    }

    /// The transition with this id, otherwise the transition with this name.
    pub fn find_transition(&self, id: &str) -> Option<TransitionId> {
        self.index.transition(&self.transitions, id)
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
        expr::resolve(expression, &self.names())
    }

    fn names(&self) -> Lookup<'_> {
        Lookup {
            places: &self.places,
            classes: &self.classes,
            parameters: &self.parameters,
            index: &self.index,
            searches_names: false,
        }
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

impl PartialEq for Net {
    fn eq(&self, other: &Self) -> bool {
        // the index follows from the parts
        let Self { name, classes, parameters, places, transitions, arcs, annotations, state_groups, index: _ } = self;
        *name == other.name
            && *classes == other.classes
            && *parameters == other.parameters
            && *places == other.places
            && *transitions == other.transitions
            && *arcs == other.arcs
            && *annotations == other.annotations
            && *state_groups == other.state_groups
    }
}
