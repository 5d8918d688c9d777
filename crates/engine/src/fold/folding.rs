//! A folded net, and the translation of its results to the original net.

use crate::fold::parts::Hindrance;
use crate::fold::rewrite::{At, ClassPlaces, Image, Images};
use crate::fold::unroll::Unrolled;
use crate::net::expr::Expr;
use crate::net::{Net, PlaceId, TransitionId};

/// Limit for a number of markings that is computed by logarithms. Below this limit, it is rounded to the exact integer.
const EXACT: f64 = 1e12;

/// A net in which replicas are counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Folding {
    net: Net,
    /// The net in which parts of several tokens are machines of their local markings; none if there are no such parts.
    unrolled: Option<Box<Unrolled>>,
    /// Images of the places of the unrolled net.
    images: Images,
    /// Per transition of the unrolled net: its image in the folded net.
    transitions: Vec<FoldedTransition>,
    classes: Vec<FoldedClass>,
    obstacles: Vec<Obstacle>,
    /// Numbers of places and transitions of the net before it was folded.
    before: [usize; 2],
    /// Logarithms of 0!, 1!, ... up to the size of the largest class.
    ln_factorials: Vec<f64>,
}

/// Replicas that were folded into one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedClass {
    /// Number of replicas.
    pub replicas: usize,
    /// The folded net's places: one for each local marking of a replica.
    pub places: Vec<PlaceId>,
    /// Per replica, the original tokens represented by a token in each of these places.
    pub(super) markings: Vec<Vec<Vec<(PlaceId, u32)>>>,
    /// Per replica, its transitions of the original net, in the order of the folded transitions.
    pub(super) transitions: Vec<Vec<TransitionId>>,
    /// The transitions of the folded net, in the same order.
    pub(super) folded: Vec<TransitionId>,
}

/// Similar parts that are not folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The reason.
    pub hindrance: Hindrance,
    /// Number of parts.
    pub parts: usize,
    /// A place or transition of one of the parts.
    pub example: String,
}

/// A place of the folded net that holds tokens of a place of the original one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldedPlace {
    /// The folded net's place.
    pub place: PlaceId,
    /// Number of original tokens represented by one token.
    pub tokens: u32,
    /// Number of replicas whose tokens the place holds together; 1 for a place that is not folded.
    pub replicas: usize,
    /// The replica of the original place, by number; none for a place that is not folded.
    pub replica: Option<usize>,
}

/// The folded form of a transition of the original net.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoldedTransition {
    /// The folded net's transition.
    pub transition: TransitionId,
    /// Number of replicas whose transitions it represents; 1 for a transition that is not folded.
    pub replicas: usize,
    /// True if the transition belongs to the first replica, or is not folded.
    pub is_first: bool,
    /// Replica of the transition, and the place of the replica's token before the firing.
    pub(super) at: Option<At>,
    /// The transition of the unrolled net.
    pub(super) unrolled: TransitionId,
}

impl Folding {
    /// A net without folded parts.
    pub(super) fn none(net: &Net, obstacles: Vec<Obstacle>) -> Self {
        let before = [net.places().len(), net.transitions().len()];
        let shared = (0..before[0]).map(|p| Image::Shared(PlaceId::from_index(p))).collect();
        Self {
            images: Images::new(net, shared, Vec::new()),
            net: net.clone(),
            unrolled: None,
            transitions: (0..before[1]).map(TransitionId::from_index).map(|t| FoldedTransition::shared(t, t)).collect(),
            classes: Vec::new(),
            obstacles,
            before,
            ln_factorials: Vec::new(),
        }
    }

    /// A folded net.
    pub(super) fn new(found: Replicas, before: [usize; 2], obstacles: Vec<Obstacle>) -> Self {
        let Replicas { net, images, classes, transitions } = found;
        let most = classes.iter().map(|class| class.replicas).max().unwrap_or(0);
        let mut ln_factorials = vec![0.0];
        for n in 1..=most {
            ln_factorials.push(ln_factorials[n - 1] + (n as f64).ln());
        }
        Self { net, unrolled: None, images, transitions, classes, obstacles, before, ln_factorials }
    }

    /// The same folding with other obstacles.
    pub(super) fn with_obstacles(self, obstacles: Vec<Obstacle>) -> Self {
        Self { obstacles, ..self }
    }

    /// Turns the folding of an unrolled net into a folding of the net before it was unrolled.
    pub(super) fn of_unrolled(mut self, unrolled: Unrolled, before: [usize; 2], obstacles: Vec<Obstacle>) -> Self {
        self.classes.iter_mut().for_each(|class| class.originals(&unrolled));
        Self { unrolled: Some(Box::new(unrolled)), before, obstacles, ..self }
    }

    /// Transitions of the folded net that do not belong to a replica, each with its original transition.
    pub(super) fn shared(&self) -> impl Iterator<Item = (TransitionId, TransitionId)> {
        let original = |t: TransitionId| self.unrolled.as_ref().map_or(t, |unrolled| unrolled.origins[t.index()]);
        let shared = self.transitions.iter().filter(|own| own.at.is_none());
        shared.map(move |own| (own.transition, original(own.unrolled)))
    }

    /// Logarithm of the factor by which folding reduces the number of markings, if replicas reach all their local markings
    /// independently.
    pub(super) fn gain(&self) -> f64 {
        let ln = |n: usize| (n as f64).ln();
        let of_class = |class: &FoldedClass| {
            let (n, markings) = (class.replicas, class.places.len().max(2));
            // n replicas in s local markings: s^n, and (n + s - 1)! / (n! (s - 1)!) if they are counted
            (1..=n).map(|i| ln(markings) - ln(markings - 1 + i) + ln(i)).sum::<f64>()
        };
        self.classes.iter().map(of_class).sum()
    }

    /// The folded net.
    pub fn net(&self) -> &Net {
        &self.net
    }

    /// Returns true if anything was folded.
    pub fn is_folded(&self) -> bool {
        !self.classes.is_empty()
    }

    /// The replicas that were folded.
    pub fn classes(&self) -> &[FoldedClass] {
        &self.classes
    }

    /// Similar parts that were not folded, with the reasons.
    pub fn obstacles(&self) -> &[Obstacle] {
        &self.obstacles
    }

    /// Numbers of places and transitions of the net before it was folded.
    pub fn before(&self) -> [usize; 2] {
        self.before
    }

    /// Images of a place of the original net: one place, or, in a part of several tokens, one for each local
    /// marking with tokens in the place. At least one.
    pub fn places(&self, place: PlaceId) -> Vec<FoldedPlace> {
        let states = self.unrolled.as_ref().map(|unrolled| &unrolled.places[place.index()][..]);
        let of = |&(state, tokens): &(PlaceId, u32)| match self.images.of[state.index()] {
            Image::Shared(place) => FoldedPlace { place, tokens, replicas: 1, replica: None },
            Image::Own { class, slot, replica } => {
                let ClassPlaces { replicas, places } = &self.images.classes[class];
                FoldedPlace { place: places[slot], tokens, replicas: *replicas, replica: Some(replica) }
            }
        };
        states.unwrap_or(&[(place, 1)]).iter().map(of).collect()
    }

    /// Images of a transition of the original net: one transition, or one for each local marking in a part of several
    /// tokens.
    pub fn transitions(&self, t: TransitionId) -> Vec<FoldedTransition> {
        match &self.unrolled {
            Some(unrolled) => unrolled.transitions[t.index()].iter().map(|t| self.transitions[t.index()]).collect(),
            None => vec![self.transitions[t.index()]],
        }
    }

    /// Returns true if parts of several tokens were folded, as state machines of their local markings.
    pub fn has_machines(&self) -> bool {
        self.unrolled.is_some()
    }

    /// Computes a value per place of the original net. `folded` has a value per place of the folded net; `sum` gets the
    /// values of the places that hold the original place's tokens, each with a factor. Empty if `folded` is empty.
    pub fn per_place<T, U>(&self, folded: &[T], sum: impl Fn(&[(&T, f64)]) -> U) -> Vec<U> {
        let places = if folded.is_empty() { 0 } else { self.before[0] };
        let own = (0..places).map(|p| self.places(PlaceId::from_index(p)));
        let term = |own: &FoldedPlace| (&folded[own.place.index()], f64::from(own.tokens) / own.replicas as f64);
        own.map(|own| sum(&own.iter().map(term).collect::<Vec<_>>())).collect()
    }

    /// As [`per_place`](Self::per_place), for transitions and their images in the folded net; `sum` gets no terms for a
    /// transition that never fires.
    pub fn per_transition<T, U>(&self, folded: &[T], sum: impl Fn(&[(&T, f64)]) -> U) -> Vec<U> {
        let transitions = if folded.is_empty() { 0 } else { self.before[1] };
        let own = (0..transitions).map(|t| self.transitions(TransitionId::from_index(t)));
        let term = |own: &FoldedTransition| (&folded[own.transition.index()], 1.0 / own.replicas as f64);
        own.map(|own| sum(&own.iter().map(term).collect::<Vec<_>>())).collect()
    }

    /// Number of markings of the original net that a marking of the folded net represents; exact below 2^40.
    pub fn orbit(&self, marking: &[u32]) -> f64 {
        let ln = |n: u32| self.ln_factorials[n as usize];
        let of_class = |class: &FoldedClass| {
            let replicas = class.replicas as u32;
            let held = class.places.iter().map(|place| marking[place.index()]);
            let elsewhere = replicas - held.clone().sum::<u32>();
            let value = (ln(replicas) - held.map(ln).sum::<f64>() - ln(elsewhere)).exp();
            if value < EXACT { value.round() } else { value }
        };
        self.classes.iter().map(of_class).product()
    }

    /// An expression of the original net over the folded net; none if it distinguishes replicas.
    pub fn expression(&self, expression: &Expr) -> Option<Expr> {
        let unrolled = self.unrolled.as_ref().map(|unrolled| unrolled.expression(expression));
        self.images.rewrite(unrolled.as_ref().unwrap_or(expression), None).ok()
    }

    /// As [`expression`](Self::expression), for an expression that is evaluated before a transition of the original net
    /// fires. `t` is the folded form of this transition.
    pub fn before_firing(&self, t: FoldedTransition, expression: &Expr) -> Option<Expr> {
        let unrolled = self.unrolled.as_ref().map(|unrolled| unrolled.expression_before(expression, t.unrolled));
        self.images.rewrite(unrolled.as_ref().unwrap_or(expression), t.at).ok()
    }
}

impl FoldedTransition {
    /// A transition that is not folded.
    pub(super) fn shared(transition: TransitionId, unrolled: TransitionId) -> Self {
        Self { transition, replicas: 1, is_first: true, at: None, unrolled }
    }
}

impl FoldedClass {
    /// Replaces places and transitions of the unrolled net by the places and transitions of the original net.
    fn originals(&mut self, unrolled: &Unrolled) {
        for held in self.markings.iter_mut().flatten() {
            let all = held.iter().flat_map(|(state, _)| unrolled.markings[state.index()].iter().copied());
            *held = all.collect();
        }
        self.transitions.iter_mut().flatten().for_each(|t| *t = unrolled.origins[t.index()]);
    }
}

/// The result of a search for replicas.
#[derive(Debug)]
pub(super) struct Replicas {
    pub(super) net: Net,
    pub(super) images: Images,
    pub(super) classes: Vec<FoldedClass>,
    pub(super) transitions: Vec<FoldedTransition>,
}
