//! Inhibitor arcs of weight above 1 for PIPE, which takes every such weight for 1: complement places.
//!
//! A place of capacity `K` gets a complement that always holds `K` minus its tokens. The inhibitor arc of weight `w`
//! then asks for `K - w + 1` tokens in the complement. Exact for one token class and constant weights; other inhibitor
//! arcs are left as they are.

use std::collections::BTreeSet;

use crate::net::{ArcKind, Net, PlaceId, Point, TransitionId};

/// A place that only PIPE sees.
#[derive(Debug)]
pub(super) struct ComplementPlace {
    pub(super) id: String,
    pub(super) tokens: u32,
    pub(super) position: Point,
}

/// An arc of a complement place.
#[derive(Debug)]
pub(super) struct ComplementArc {
    pub(super) place: String,
    pub(super) transition: TransitionId,
    /// Whether it takes tokens, or puts them.
    pub(super) input: bool,
    pub(super) weight: u64,
}

/// All complements of a net.
#[derive(Debug, Default)]
pub(super) struct Complements {
    pub(super) places: Vec<ComplementPlace>,
    pub(super) arcs: Vec<ComplementArc>,
    /// Positions of the inhibitor arcs that they replace.
    pub(super) inhibitors: BTreeSet<usize>,
}

/// How far from its place a complement is drawn, in pixels.
const BESIDE: f64 = 45.0;

/// The complements that a net needs and can have.
pub(super) fn of(net: &Net) -> Complements {
    let mut complements = Complements::default();
    if net.classes().len() != 1 {
        return complements;
    }
    let mut needed = BTreeSet::new();
    for arc in net.arcs().iter().filter(|a| a.kind == ArcKind::Inhibitor) {
        let weight = arc.weights.first().and_then(|w| w.weight.as_number());
        if weight.is_some_and(|w| w > 1.0) {
            needed.insert(arc.place);
        }
    }
    for place in needed {
        add(net, place, &mut complements);
    }
    complements
}

/// What a transition does to a place.
#[derive(Clone, Copy, Debug, Default)]
struct Effect {
    takes: u64,
    puts: u64,
    /// Tokens that the complement must hold for no inhibitor arc to act.
    room: u64,
}

fn add(net: &Net, place: PlaceId, complements: &mut Complements) {
    let part = net.place(place);
    let Some(capacity) = part.capacity.map(u64::from).filter(|k| *k > 0) else { return };
    let mut effects = std::collections::BTreeMap::<TransitionId, Effect>::new();
    let mut inhibitors = Vec::new();
    for (i, arc) in net.arcs().iter().enumerate().filter(|(_, a)| a.place == place) {
        let [weight] = &arc.weights[..] else { return };
        let Some(weight) = weight.weight.as_number() else { return };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "weights are whole and below 2^31")]
        let weight = weight as u64;
        let effect = effects.entry(arc.transition).or_default();
        match arc.kind {
            ArcKind::Input => effect.takes += weight,
            ArcKind::Output => effect.puts += weight,
            ArcKind::Test => {}
            // a weight above the capacity never acts
            ArcKind::Inhibitor if weight > capacity => inhibitors.push(i),
            ArcKind::Inhibitor if weight > 1 => {
                effect.room = effect.room.max(capacity - weight + 1);
                inhibitors.push(i);
            }
            ArcKind::Inhibitor => {}
        }
    }
    let mut id = format!("{}_free", part.id);
    let taken =
        |id: &str| net.places().iter().any(|p| p.id.eq_ignore_ascii_case(id)) || net.find_transition(id).is_some();
    while taken(&id) {
        id.push('_');
    }
    for (transition, effect) in effects {
        let gain = effect.puts.saturating_sub(effect.takes);
        let takes = gain.max(effect.room);
        let puts = takes + effect.takes - effect.puts.min(takes + effect.takes);
        for (input, weight) in [(true, takes), (false, puts)] {
            if weight > 0 {
                complements.arcs.push(ComplementArc { place: id.clone(), transition, input, weight });
            }
        }
    }
    let tokens = u32::try_from(capacity.saturating_sub(part.initial_total())).unwrap_or(0);
    let at = part.position.unwrap_or_default();
    let position = Point { x: at.x + BESIDE, y: at.y + BESIDE };
    complements.places.push(ComplementPlace { id, tokens, position });
    complements.inhibitors.extend(inhibitors);
}
