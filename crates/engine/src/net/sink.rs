//! Receivers of the parts of a net that a program generates: a builder, or a file that never has the net in memory.

use crate::net::builder::NetBuilder;
use crate::net::expr::Expr;
use crate::net::ids::{PlaceId, TransitionId};
use crate::net::parts::{ArcKind, Place, Transition};

/// Takes the parts of a net one after the other. An arc comes after its place and its transition.
pub trait PartSink {
    /// Names a place in later arcs.
    type Place: Clone;
    /// Names a transition in later arcs.
    type Transition: Clone;

    /// Takes a place.
    fn take_place(&mut self, place: Place) -> Self::Place;

    /// Takes a transition.
    fn take_transition(&mut self, transition: Transition) -> Self::Transition;

    /// Returns true if further parts are ignored, so that none need be passed on.
    fn is_full(&self) -> bool {
        false
    }

    /// Takes an arc whose weight is a number of tokens of the first class, with an id in PIPE's style (`P0 to T0`).
    fn take_arc(&mut self, kind: ArcKind, place: &Self::Place, transition: &Self::Transition, weight: f64);
}

impl PartSink for NetBuilder {
    type Place = PlaceId;
    type Transition = TransitionId;

    fn take_place(&mut self, place: Place) -> PlaceId {
        self.add_place(place)
    }

    fn take_transition(&mut self, transition: Transition) -> TransitionId {
        self.add_transition(transition)
    }

    fn take_arc(&mut self, kind: ArcKind, place: &PlaceId, transition: &TransitionId, weight: f64) {
        self.arc(kind, *place, *transition, Expr::Number(weight));
    }
}
