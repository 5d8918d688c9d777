//! Complement places for inhibitor arcs of weight above 1, since PIPE treats every weight of an inhibitor arc as 1.
//!
//! A place of capacity `K`, or one among places that together always hold `K` tokens, gets a complement that always
//! holds `K` minus its tokens. The inhibitor arc of weight `w` becomes a test for `K - w + 1` tokens in the complement.
//! Exact for one token class and constant weights; other inhibitor arcs stay unchanged.

use std::collections::BTreeSet;

use crate::net::{ArcKind, Net, PlaceId, TransitionId};

/// A place that exists only in the file for PIPE.
#[derive(Debug)]
pub(super) struct ComplementPlace {
    pub(super) id: String,
    pub(super) tokens: u32,
    pub(super) beside: PlaceId,
}

/// An arc of a complement place.
#[derive(Debug)]
pub(super) struct ComplementArc {
    pub(super) place: String,
    pub(super) transition: TransitionId,
    /// True if it consumes tokens, or produces them.
    pub(super) input: bool,
    pub(super) weight: u64,
}

/// All complements of a net.
#[derive(Debug, Default)]
pub(super) struct Complements {
    pub(super) places: Vec<ComplementPlace>,
    pub(super) arcs: Vec<ComplementArc>,
    /// Positions of the inhibitor arcs that the complements replace.
    pub(super) inhibitors: BTreeSet<usize>,
}

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
    if needed.is_empty() {
        return complements;
    }
    let sums = constant_sums(net);
    for place in needed {
        let capacity = net.place(place).capacity.map(u64::from);
        let sum = sums[place.index()].filter(|sum| i32::try_from(*sum).is_ok());
        if let Some(bound) = capacity.or(sum).filter(|k| *k > 0) {
            add(net, place, bound, &mut complements);
        }
    }
    complements
}

/// Effect of a transition on a place.
#[derive(Clone, Copy, Debug, Default)]
struct Effect {
    takes: u64,
    puts: u64,
    /// Tokens that the complement must hold so that no inhibitor arc disables the transition.
    room: u64,
}

/// Per place: the total number of tokens in the connected part of the net that contains the place, if it is constant.
///
/// It is constant if every transition of the part produces as many tokens as it consumes, regardless of inhibitor and
/// test arcs: a place invariant with weights 1.
fn constant_sums(net: &Net) -> Vec<Option<u64>> {
    let mut parent: Vec<usize> = (0..net.places().len()).collect();
    let mut first_of = vec![None; net.transitions().len()];
    let mut gain = vec![0.0; net.transitions().len()];
    let moving = || net.arcs().iter().filter(|a| matches!(a.kind, ArcKind::Input | ArcKind::Output));
    for arc in moving() {
        let (place, t) = (arc.place.index(), arc.transition.index());
        let first = *first_of[t].get_or_insert(place);
        let (a, b) = (root(&mut parent, first), root(&mut parent, place));
        parent[a] = b;
        for weight in &arc.weights {
            // a weight that is not constant makes the gain NaN, so the sum counts as not constant
            let tokens = weight.weight.as_number().unwrap_or(f64::NAN);
            gain[t] += if arc.kind == ArcKind::Output { tokens } else { -tokens };
        }
    }
    let mut sums = vec![Some(0); net.places().len()];
    for (i, place) in net.places().iter().enumerate() {
        let sum = &mut sums[root(&mut parent, i)];
        *sum = sum.map(|sum: u64| sum.saturating_add(place.initial_total()));
    }
    for (first, _) in first_of.iter().zip(&gain).filter(|(_, gain)| **gain != 0.0) {
        if let Some(place) = *first {
            sums[root(&mut parent, place)] = None;
        }
    }
    (0..sums.len()).map(|place| sums[root(&mut parent, place)]).collect()
}

/// The place that represents all places joined with `place`.
fn root(parent: &mut [usize], mut place: usize) -> usize {
    while parent[place] != place {
        parent[place] = parent[parent[place]];
        place = parent[place];
    }
    place
}

fn add(net: &Net, place: PlaceId, capacity: u64, complements: &mut Complements) {
    let part = net.place(place);
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
            // an inhibitor arc with a weight above the capacity has no effect
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
    complements.places.push(ComplementPlace { id, tokens, beside: place });
    complements.inhibitors.extend(inhibitors);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{NetBuilder, Timing};

    /// Three tokens circulate between two places; `T` is disabled while the second place has two tokens. `put` is the number
    /// of tokens that `T` produces there.
    fn closed(put: f64) -> Net {
        let mut b = NetBuilder::new("");
        let (p, q) = (b.place("P", 3), b.place("Q", 0));
        let (t, back) = (b.transition("T", Timing::exponential(1.0)), b.transition("back", Timing::exponential(1.0)));
        b.input(p, t, 1.0);
        b.output(t, q, put);
        b.inhibitor(q, t, 2.0);
        b.input(q, back, 1.0);
        b.output(back, p, 1.0);
        b.build().unwrap()
    }

    #[test]
    fn a_sum_that_never_changes_is_a_bound() {
        let made = of(&closed(1.0));
        assert_eq!(made.places.iter().map(|p| (p.id.as_str(), p.tokens)).collect::<Vec<_>>(), [("Q_free", 3)]);
        // the transition needs at least two of the three tokens in the complement and takes one
        let arcs: Vec<_> = made.arcs.iter().map(|a| (a.transition.index(), a.input, a.weight)).collect();
        assert_eq!(arcs, [(0, true, 2), (0, false, 1), (1, false, 1)]);
        assert_eq!(made.inhibitors.len(), 1);
    }

    #[test]
    fn a_sum_that_changes_is_no_bound() {
        assert!(of(&closed(2.0)).places.is_empty());
        assert_eq!(constant_sums(&closed(2.0)), [None, None]);
    }

    #[test]
    fn parts_of_a_net_have_sums_of_their_own() {
        let mut b = closed(1.0).to_builder();
        let r = b.place("R", 5);
        b.place("S", 1);
        let t = b.transition("grow", Timing::exponential(1.0));
        b.output(t, r, 1.0);
        assert_eq!(constant_sums(&b.build().unwrap()), [Some(3), Some(3), None, Some(1)]);
    }
}
