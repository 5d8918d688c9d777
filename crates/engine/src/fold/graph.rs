//! The arcs of a net by transition and by place, and the numbers in them.

use crate::compile::lower;
use crate::net::expr::{Expr, Leaf};
use crate::net::{ArcKind, Net, PlaceId};

/// An arc of a transition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link<'a> {
    pub(super) kind: ArcKind,
    pub(super) place: usize,
    /// Token class of the arc's weight.
    pub(super) class: usize,
    /// Weight of the arc as a number; none if it depends on the marking.
    pub(super) weight: Option<u32>,
    pub(super) expression: &'a Expr,
}

/// The arcs of a net, by transition and by place.
#[derive(Debug)]
pub(super) struct Graph<'a> {
    pub(super) net: &'a Net,
    /// Per transition: its arcs, in the order of the net.
    pub(super) links: Vec<Vec<Link<'a>>>,
    /// Per place: its arcs, in the order of the net, each as a transition and a position among its links.
    pub(super) touching: Vec<Vec<(usize, usize)>>,
}

impl<'a> Graph<'a> {
    pub(super) fn new(net: &'a Net) -> Self {
        let mut links = vec![Vec::new(); net.transitions().len()];
        let mut touching = vec![Vec::new(); net.places().len()];
        for arc in net.arcs() {
            let (place, transition) = (arc.place.index(), arc.transition.index());
            for entry in &arc.weights {
                let value = constant(net, &entry.weight).map(f64::round);
                let weight = value.filter(|value| (0.0..2_147_483_648.0).contains(value)).map(|value| value as u32);
                touching[place].push((transition, links[transition].len()));
                let (kind, class) = (arc.kind, entry.class.index());
                links[transition].push(Link { kind, place, class, weight, expression: &entry.weight });
            }
        }
        Self { net, links, touching }
    }
}

/// The value of an expression that does not depend on the marking.
pub(super) fn constant(net: &Net, expression: &Expr) -> Option<f64> {
    expression.as_number().or_else(|| lower(net, expression).as_constant())
}

/// The place that a leaf reads tokens of.
pub(super) fn tokens_of(leaf: &Leaf) -> Option<PlaceId> {
    match leaf {
        Leaf::Tokens(place, _) => Some(*place),
        Leaf::Parameter(_) | Leaf::Capacity(_) => None,
    }
}
