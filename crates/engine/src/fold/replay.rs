//! Translates firing sequences of the folded net to the original net: if several replicas can fire, the first of them
//! fires.

use std::collections::{BTreeSet, HashMap};

use crate::fold::folding::Folding;
use crate::net::{ArcKind, PlaceId, TransitionId};

/// The class, the replica, and the number of the transition in the replica.
type Firing = (usize, usize, usize);

/// Places of the tokens of all replicas.
#[derive(Debug)]
pub struct Replay<'a> {
    folding: &'a Folding,
    /// Per folded place of a class: the replicas whose token is in the place.
    held: HashMap<PlaceId, BTreeSet<usize>>,
    /// Per class: replicas without a token.
    empty: Vec<BTreeSet<usize>>,
    /// Per folded transition of a class: the class, and the number of the transition in each replica.
    moves: HashMap<TransitionId, (usize, usize)>,
    /// Per folded transition: the places of classes in which it consumes or produces tokens.
    arcs: HashMap<TransitionId, Vec<(ArcKind, usize, PlaceId)>>,
    /// Per transition of the folded net that does not belong to a replica: the original one.
    shared: HashMap<TransitionId, TransitionId>,
}

impl<'a> Replay<'a> {
    /// Places the tokens of all replicas as in the initial marking.
    pub fn new(folding: &'a Folding) -> Self {
        let mut replay = Self {
            folding,
            held: HashMap::new(),
            empty: Vec::new(),
            moves: HashMap::new(),
            arcs: HashMap::new(),
            shared: HashMap::new(),
        };
        let mut class_of = HashMap::new();
        for (c, class) in folding.classes().iter().enumerate() {
            let all: BTreeSet<usize> = (0..class.replicas).collect();
            let mut empty = all.clone();
            for &place in &class.places {
                class_of.insert(place, c);
                let here = folding.net().place(place).initial_total() > 0;
                replay.held.insert(place, if here { std::mem::take(&mut empty) } else { BTreeSet::new() });
            }
            replay.empty.push(empty);
            for (slot, &t) in class.folded.iter().enumerate() {
                replay.moves.insert(t, (c, slot));
            }
        }
        for arc in folding.net().arcs().iter().filter(|arc| matches!(arc.kind, ArcKind::Input | ArcKind::Output)) {
            if let Some(&class) = class_of.get(&arc.place) {
                replay.arcs.entry(arc.transition).or_default().push((arc.kind, class, arc.place));
            }
        }
        replay.shared.extend(folding.shared());
        replay
    }

    /// Translates a sequence of the folded net to the original net. With `to` (a place and the number of a replica),
    /// the sequence ends with the first token in the place, which belongs to this replica. None if the place stays
    /// empty.
    pub fn path(&mut self, path: &[TransitionId], to: Option<(PlaceId, usize)>) -> Option<Vec<TransitionId>> {
        let mut fired = Vec::new();
        for &t in path {
            if to.is_some_and(|(place, _)| self.first_in(place).is_some()) {
                break;
            }
            fired.push(self.fire(t)?);
        }
        let Some((place, wanted)) = to else { return Some(fired.into_iter().map(|own| own.0).collect()) };
        let found = self.first_in(place)?;
        let class = self.folding.classes().iter().position(|class| class.places.contains(&place))?;
        let swapped = |(t, own): (TransitionId, Option<Firing>)| match own {
            Some((of, replica, slot)) if of == class && (replica == found || replica == wanted) => {
                self.folding.classes()[class].transitions[found + wanted - replica][slot]
            }
            _ => t,
        };
        Some(fired.into_iter().map(swapped).collect())
    }

    /// Fires a transition of the folded net. Returns the transition of the original net, with class, replica and
    /// position if it belongs to a replica.
    fn fire(&mut self, t: TransitionId) -> Option<(TransitionId, Option<Firing>)> {
        let arcs = self.arcs.get(&t).cloned().unwrap_or_default();
        let Some(&(class, slot)) = self.moves.get(&t) else {
            // all replicas move together
            for kind in [ArcKind::Input, ArcKind::Output] {
                for &(_, class, place) in arcs.iter().filter(|arc| arc.0 == kind) {
                    let (from, to) = if kind == ArcKind::Input { (Some(place), None) } else { (None, Some(place)) };
                    let all = std::mem::take(self.replicas(class, from)?);
                    self.replicas(class, to)?.extend(all);
                }
            }
            return Some((*self.shared.get(&t)?, None));
        };
        let at = |kind| arcs.iter().find(|arc| arc.0 == kind).map(|arc| arc.2);
        let (from, to) = (at(ArcKind::Input), at(ArcKind::Output));
        let replica = match from {
            Some(from) => {
                let replica = self.replicas(class, Some(from))?.pop_first()?;
                self.replicas(class, to)?.insert(replica);
                replica
            }
            // the transition only tests the token
            None => {
                let test =
                    self.folding.net().arcs().iter().filter(|arc| arc.transition == t && arc.kind == ArcKind::Test);
                test.filter_map(|arc| self.held.get(&arc.place)).find_map(|held| held.first().copied())?
            }
        };
        Some((self.folding.classes()[class].transitions[replica][slot], Some((class, replica, slot))))
    }

    fn replicas(&mut self, class: usize, place: Option<PlaceId>) -> Option<&mut BTreeSet<usize>> {
        match place {
            Some(place) => self.held.get_mut(&place),
            None => self.empty.get_mut(class),
        }
    }

    /// The first replica whose token is in a place of the folded net.
    fn first_in(&self, place: PlaceId) -> Option<usize> {
        self.held.get(&place)?.first().copied()
    }

    /// The places of replicas that hold tokens, with the numbers of tokens, in the order of the original net.
    pub fn marked(&self) -> Vec<(PlaceId, u32)> {
        let mut found = Vec::new();
        for class in self.folding.classes() {
            for (slot, place) in class.places.iter().enumerate() {
                found
                    .extend(self.held[place].iter().flat_map(|&replica| class.markings[replica][slot].iter().copied()));
            }
        }
        found.sort_unstable();
        found
    }
}
