//! The folded net: each class of replicas becomes one copy that holds all their tokens.

use std::collections::{HashMap, HashSet};

use petgraph::unionfind::UnionFind;

use crate::fold::graph::{Graph, tokens_of};
use crate::fold::parts::{LocalNumber, LocalTiming, Membership, Move, Part, Signature};
use crate::fold::rewrite::{At, ClassPlaces, Image, Images, scaled};
use crate::net::expr::{Expr, Leaf};
use crate::net::{
    Arc, ArcKind, ClassId, ClassWeight, Delay, Net, NetBuilder, Place, PlaceId, Servers, Timing, Transition,
    TransitionId,
};

/// Parts that are alike.
#[derive(Clone, Debug)]
pub(super) struct Alike {
    /// The parts.
    pub(super) parts: Vec<usize>,
    /// Structure of each replica.
    pub(super) signature: Signature,
}

/// A folded net, and the image of every part.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) net: Net,
    pub(super) images: Images,
    /// Per transition: its image.
    pub(super) transitions: Vec<TransitionId>,
}

/// All parts of the folded net.
pub(super) struct Builder<'a> {
    graph: &'a Graph<'a>,
    parts: &'a [Part],
    classes: &'a [Alike],
    /// Per part: its class, and its number among the replicas.
    replica: Vec<Option<(usize, usize)>>,
    members: &'a Membership,
    names: HashSet<&'a str>,
    net: NetBuilder,
}

impl<'a> Builder<'a> {
    pub(super) fn new(graph: &'a Graph<'a>, parts: &'a [Part], members: &'a Membership, classes: &'a [Alike]) -> Self {
        let mut replica = vec![None; parts.len()];
        for (c, class) in classes.iter().enumerate() {
            class.parts.iter().enumerate().for_each(|(r, &part)| replica[part] = Some((c, r)));
        }
        let mut net = NetBuilder::without_classes(graph.net.name());
        graph.net.classes().iter().for_each(|class| _ = net.add_class(class.clone()));
        let ids = graph.net.places().iter().map(|p| p.id.as_str());
        let names = ids.chain(graph.net.transitions().iter().map(|t| t.id.as_str())).collect();
        Self { graph, parts, classes, replica, members, names, net }
    }

    /// Returns the folded net. On failure, returns the class whose replicas an expression distinguishes, or none if the
    /// parts do not form a net.
    pub(super) fn build(mut self) -> Result<Built, Option<usize>> {
        let images = self.places();
        for parameter in self.graph.net.parameters() {
            let value = images.rewrite(&parameter.value, None).map_err(Some)?;
            self.net.add_parameter(crate::net::Parameter { value, ..parameter.clone() });
        }
        let transitions = self.transitions(&images)?;
        self.arcs(&images, &transitions)?;
        let net = self.net.build().map_err(|_| None)?;
        Ok(Built { net, images, transitions })
    }

    /// The class and replica of a place, and the number of the place in the replica.
    fn own(&self, place: usize) -> Option<(usize, usize, usize)> {
        let (part, slot) = self.members.place[place]?;
        self.replica[part].map(|(class, replica)| (class, replica, slot))
    }

    /// A name for the common part of all replicas: the first replica's name, without its number if no other part has
    /// that name.
    fn name(&self, id: &str) -> String {
        let short = id.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(['_', '-', '.', ' ']);
        let free = !short.is_empty() && !self.names.contains(short);
        (if free { short } else { id }).to_owned()
    }

    fn places(&mut self) -> Images {
        let mut classes: Vec<ClassPlaces> = Vec::new();
        for class in self.classes {
            let first = &self.parts[class.parts[0]];
            classes.push(ClassPlaces {
                replicas: class.parts.len(),
                places: vec![PlaceId::from_index(0); first.places.len()],
            });
        }
        let mut of = Vec::new();
        let mut taken = HashSet::new();
        for (p, place) in self.graph.net.places().iter().enumerate() {
            let Some((class, replica, slot)) = self.own(p) else {
                of.push(Image::Shared(self.net.add_place(place.clone())));
                continue;
            };
            of.push(Image::Own { class, replica, slot });
            if replica == 0 {
                let n = self.classes[class].parts.len();
                let mut id = self.name(&place.id);
                if !taken.insert(id.clone()) {
                    id.clone_from(&place.id);
                }
                let initial = vec![(place.initial_total() as usize * n) as u32];
                let folded = Place { id, name: String::new(), initial, capacity: None, ..place.clone() };
                classes[class].places[slot] = self.net.add_place(folded);
            }
        }
        Images::new(self.graph.net, of, classes)
    }

    fn transitions(&mut self, images: &Images) -> Result<Vec<TransitionId>, Option<usize>> {
        let constant_weights = self.choices_of_one_place();
        let mut of = vec![TransitionId::from_index(0); self.graph.links.len()];
        let mut firsts: HashMap<(usize, usize), TransitionId> = HashMap::new();
        let mut later = Vec::new();
        let mut taken = HashSet::new();
        for (t, transition) in self.graph.net.transitions().iter().enumerate() {
            let own = self.members.transition[t].and_then(|part| Some((part, self.replica[part]?)));
            let Some((part, (class, replica))) = own else {
                let timing = shared_timing(&transition.timing, images).map_err(Some)?;
                of[t] = self.net.add_transition(Transition { timing, ..transition.clone() });
                continue;
            };
            let slot = self.parts[part].transitions.iter().position(|&own| own == t).unwrap_or(0);
            if replica != 0 {
                later.push((t, class, slot));
                continue;
            }
            let one = &self.classes[class].signature.moves[slot];
            let timing = self.timing(one, (class, slot), images, constant_weights[t]).map_err(Some)?;
            let mut id = self.name(&transition.id);
            if !taken.insert(id.clone()) {
                id.clone_from(&transition.id);
            }
            of[t] = self.net.add_transition(Transition { id, name: String::new(), timing, ..transition.clone() });
            firsts.insert((class, slot), of[t]);
        }
        for (t, class, slot) in later {
            of[t] = firsts[&(class, slot)];
        }
        Ok(of)
    }

    /// The timing of a transition that all replicas of a class have.
    fn timing(
        &self,
        own: &Move,
        (class, slot): (usize, usize),
        images: &Images,
        constant: bool,
    ) -> Result<Timing, usize> {
        let from = images.classes[class].places[own.from];
        let tokens = Expr::Leaf(Leaf::Tokens(from, None));
        let each = |number: Expr| scaled(number, tokens.clone()).unwrap_or(Expr::Number(0.0));
        let number = |number: &LocalNumber| self.number(number, own.from, (class, slot), images);
        Ok(match &own.timing {
            LocalTiming::Immediate(weight, priority) => {
                let weight = number(weight)?;
                Timing::Immediate { weight: if constant { weight } else { each(weight) }, priority: *priority }
            }
            LocalTiming::Exponential(rate, servers) => {
                let rate = number(rate)?;
                let (rate, servers) = match (own.takes, Signature::takes_shared(own)) {
                    (true, false) => (rate, Servers::Infinite),
                    (true, true) => (each(rate), Servers::Single),
                    (false, _) => (each(rate), *servers),
                };
                Timing::Timed { delay: Delay::Exponential { rate }, servers, memory: crate::net::Memory::default() }
            }
            LocalTiming::General(law, _, memory) => {
                Timing::Timed { delay: Delay::General(law.clone()), servers: Servers::Infinite, memory: *memory }
            }
        })
    }

    /// The rate or weight that a replica has while its token is in the place `from`, if it is the same for all
    /// replicas.
    fn number(
        &self,
        of: &LocalNumber,
        from: usize,
        (class, slot): (usize, usize),
        images: &Images,
    ) -> Result<Expr, usize> {
        let of_replica = |replica: usize| {
            let t = self.parts[self.classes[class].parts[replica]].transitions[slot];
            match &self.graph.net.transitions()[t].timing {
                Timing::Immediate { weight: number, .. }
                | Timing::Timed { delay: Delay::Exponential { rate: number }, .. } => {
                    images.rewrite(number, Some(At { class, replica, slot: from }))
                }
                Timing::Timed { .. } => Err(class),
            }
        };
        let first = of_replica(0)?;
        if matches!(of, LocalNumber::Among(_)) {
            for replica in 1..self.classes[class].parts.len() {
                if of_replica(replica)? != first {
                    return Err(class);
                }
            }
        }
        let mut constant = true;
        first.for_each_leaf(&mut |_| constant = false);
        if !constant {
            return Ok(first);
        }
        // the numbers of all replicas are added up
        let number = first.eval(&|_| 0.0);
        if (number * self.classes[class].parts.len() as f64).is_infinite() {
            return Err(class);
        }
        Ok(Expr::Number(number))
    }

    fn arcs(&mut self, images: &Images, transitions: &[TransitionId]) -> Result<(), Option<usize>> {
        for arc in self.graph.net.arcs() {
            let (p, t) = (arc.place.index(), arc.transition.index());
            let part = self.members.transition[t].and_then(|part| self.replica[part]);
            let first = part.is_none_or(|(_, replica)| replica == 0);
            let place = match images.of[p] {
                Image::Shared(place) => place,
                Image::Own { class, replica: 0, slot } => images.classes[class].places[slot],
                Image::Own { .. } => continue,
            };
            if !first {
                continue;
            }
            let times = match (images.of[p], part) {
                // a shared transition acts on all replicas together; each holds at most one token
                (Image::Own { class, .. }, None) => images.classes[class].replicas,
                _ => 1,
            };
            let mut weights = Vec::new();
            for entry in &arc.weights {
                let weight = match (times, part) {
                    (1, None) => images.rewrite(&entry.weight, None).map_err(Some)?,
                    (1, Some((class, _))) => self.arc_weight(&entry.weight, t, class, images).map_err(Some)?,
                    _ => all_replicas(self.graph, p, t, arc.kind, times),
                };
                weights.push(ClassWeight { class: ClassId::from_index(0), weight });
            }
            let transition = transitions[t];
            let id = self.graph.net.arc_id(arc).into_owned();
            self.net.add_arc(Arc { id, place, transition, weights, path: Vec::new(), ..arc.clone() });
        }
        Ok(())
    }

    /// The weight of an arc from a transition of the first replica to a shared place.
    fn arc_weight(&self, weight: &Expr, t: usize, class: usize, images: &Images) -> Result<Expr, usize> {
        let part = &self.parts[self.classes[class].parts[0]];
        let slot = part.transitions.iter().position(|&own| own == t).ok_or(class)?;
        let from = self.classes[class].signature.moves[slot].from;
        images.rewrite(weight, Some(At { class, replica: 0, slot: from }))
    }

    /// Per transition: true for an immediate transition that competes only with immediate transitions that need the
    /// token of the same place of the same replica. The shares of such transitions do not depend on the number of
    /// tokens in the place.
    fn choices_of_one_place(&self) -> Vec<bool> {
        let (places, transitions) = (self.graph.touching.len(), self.graph.links.len());
        let net = self.graph.net;
        let is_immediate = |t: usize| net.transitions()[t].is_immediate();
        let mut sets = UnionFind::new(places + transitions);
        let mut read = vec![false; places];
        for t in (0..transitions).filter(|&t| is_immediate(t)) {
            for place in self.reads(t) {
                read[place] = true;
                sets.union(place, places + t);
            }
        }
        for t in (0..transitions).filter(|&t| is_immediate(t)) {
            for link in self.graph.links[t].iter().filter(|link| read[link.place]) {
                sets.union(link.place, places + t);
            }
        }
        let from = |t: usize| {
            let part = self.members.transition[t]?;
            let (class, _) = self.replica[part]?;
            let slot = self.parts[part].transitions.iter().position(|&own| own == t)?;
            Some((class, self.classes[class].signature.moves[slot].from))
        };
        let group_of = sets.into_labeling();
        let mut needs: HashMap<usize, Option<(usize, usize)>> = HashMap::new();
        for t in (0..transitions).filter(|&t| is_immediate(t)) {
            let own = from(t);
            let group = needs.entry(group_of[places + t]).or_insert(own);
            if *group != own {
                *group = None;
            }
        }
        (0..transitions).map(|t| is_immediate(t) && needs[&group_of[places + t]].is_some()).collect()
    }

    /// The places that the enabling or the weight of an immediate transition depends on.
    fn reads(&self, t: usize) -> Vec<usize> {
        let net = self.graph.net;
        let bounded = |place: usize| net.places()[place].capacity.is_some();
        let links = self.graph.links[t].iter();
        let mut found: Vec<usize> = links
            .clone()
            .filter(|link| link.kind != ArcKind::Output || bounded(link.place))
            .map(|link| link.place)
            .collect();
        let mut visit = |leaf: &Leaf| found.extend(tokens_of(leaf).map(PlaceId::index));
        links.for_each(|link| link.expression.for_each_leaf(&mut visit));
        if let Timing::Immediate { weight, .. } = &net.transitions()[t].timing {
            weight.for_each_leaf(&mut visit);
        }
        found
    }
}

/// The timing of a transition that does not belong to a replica.
fn shared_timing(timing: &Timing, images: &Images) -> Result<Timing, usize> {
    Ok(match timing {
        Timing::Immediate { weight, priority } => {
            Timing::Immediate { weight: images.rewrite(weight, None)?, priority: *priority }
        }
        Timing::Timed { delay: Delay::Exponential { rate }, servers, memory } => Timing::Timed {
            delay: Delay::Exponential { rate: images.rewrite(rate, None)? },
            servers: *servers,
            memory: *memory,
        },
        general => general.clone(),
    })
}

/// The weight of an arc that acts on all replicas together, each of which holds at most one token.
fn all_replicas(graph: &Graph<'_>, place: usize, t: usize, kind: ArcKind, replicas: usize) -> Expr {
    let link = graph.links[t].iter().find(|link| link.place == place && link.kind == kind);
    let weight = f64::from(link.and_then(|link| link.weight).unwrap_or(0));
    let n = replicas as f64;
    Expr::Number(match kind {
        // any token inhibits; there is never more than one
        ArcKind::Inhibitor if weight > 1.0 => n + 1.0,
        ArcKind::Inhibitor => weight,
        _ => weight * n,
    })
}
