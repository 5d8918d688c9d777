//! Candidates for folding: connected parts whose places and transitions all have counterparts, and the exact structure of each part.

use petgraph::unionfind::UnionFind;

use crate::fold::colours::Colours;
use crate::fold::graph::{Graph, tokens_of};
use crate::fold::hash;
use crate::net::expr::{Expr, Leaf};
use crate::net::{ArcKind, Delay, Law, Memory, Servers, Timing};

/// A connected part of the net.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    /// Places of the part, by colour.
    pub(super) places: Vec<usize>,
    /// Transitions of the part, by colour.
    pub(super) transitions: Vec<usize>,
}

/// Reason why parts that are alike are not folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Hindrance {
    /// There are several token classes.
    TokenClasses,
    /// A part starts with several tokens.
    SeveralTokens,
    /// A part may receive more tokens later.
    MayGrow,
    /// A transition consumes no tokens of the part.
    NoToken,
    /// A transition consumes or produces several tokens of the part.
    SeveralMoved,
    /// The weight of an arc of the part depends on the marking.
    ArcWeight,
    /// An inhibitor arc within the part.
    Inhibitor,
    /// A capacity of 0.
    Capacity,
    /// A delay that is not exponential, of a transition that can be disabled.
    Interrupted,
    /// An expression that names single parts.
    Expression,
    /// The question is about only some of the parts.
    Question,
    /// A part of several tokens has too many local markings.
    ManyMarkings,
    /// A delay that is not exponential, in a part of several tokens.
    LocalDelay,
    /// A transition acts on parts of several tokens together.
    Contact,
}

impl Hindrance {
    /// Returns true if the part may still be a state machine of its local markings.
    pub(super) fn may_unroll(self) -> bool {
        matches!(
            self,
            Self::SeveralTokens
                | Self::NoToken
                | Self::SeveralMoved
                | Self::ArcWeight
                | Self::Inhibitor
                | Self::Capacity
        )
    }

    /// The reason as text.
    pub fn words(self) -> &'static str {
        match self {
            Self::TokenClasses => "the net has several token classes",
            Self::SeveralTokens => "each part starts with several tokens",
            Self::MayGrow => "a part could hold several tokens at a time",
            Self::NoToken => "a transition of the part consumes no token of the part",
            Self::SeveralMoved => "a transition moves several tokens of the part",
            Self::ArcWeight => "the weight of an arc depends on the marking",
            Self::Inhibitor => "an inhibitor arc lies within the part",
            Self::Capacity => "a place has capacity 0",
            Self::Interrupted => "a delay that is not exponential can be interrupted",
            Self::Expression => "an expression distinguishes the parts",
            Self::Question => "the goal or a requested quantity distinguishes the parts",
            Self::ManyMarkings => "a part could have more than 50 markings, the limit for folding",
            Self::LocalDelay => "a part could hold several tokens, and a delay is not exponential",
            Self::Contact => "a transition changes all parts together and can fire in several local markings of a part",
        }
    }
}

/// A leaf of an expression of a part.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LocalLeaf {
    /// Tokens of the part's place with this number.
    Own(usize),
    /// A leaf that is shared with other parts.
    Outer(Leaf),
}

/// A timing, up to the names of the part's places.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LocalTiming {
    Immediate(LocalNumber, u32),
    Exponential(LocalNumber, Servers),
    General(Law, Servers, Memory),
}

/// A rate or weight of a part.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LocalNumber {
    Expression(Expr<LocalLeaf>),
    /// The hash of an expression that also reads other parts; it is compared after equal parts are known.
    Among(u64),
}

/// A transition of a part.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Move {
    pub(super) timing: LocalTiming,
    /// The place whose token the transition needs; it consumes the token if `takes` is true.
    pub(super) from: usize,
    pub(super) takes: bool,
    /// The place that gets the token.
    pub(super) to: Option<usize>,
    /// Arcs to shared places.
    outer: Vec<OuterArc>,
}

/// An arc to a shared place: kind, place, weight, and the expression of a weight that is not a number.
type OuterArc = (ArcKind, usize, Option<u32>, Option<LocalNumber>);

/// All properties in which two parts can differ.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Signature {
    /// Tokens at the start per place.
    pub(super) initial: Vec<u64>,
    pub(super) moves: Vec<Move>,
    /// Arcs to shared transitions: transition, own place, kind, weight.
    pub(super) contacts: Vec<(usize, usize, ArcKind, u32)>,
}

/// The part, if any, of each place and transition.
#[derive(Debug)]
pub(super) struct Membership {
    /// Per place: the part, and the number of the place in the part.
    pub(super) place: Vec<Option<(usize, usize)>>,
    pub(super) transition: Vec<Option<usize>>,
}

/// The connected parts of nodes that are alike.
pub(super) fn parts(graph: &Graph<'_>, colours: &Colours) -> (Vec<Part>, Membership) {
    let (places, transitions) = (graph.touching.len(), graph.links.len());
    let alike = colours.alike();
    let mut sets = UnionFind::new(places + transitions);
    for (t, links) in graph.links.iter().enumerate() {
        for link in links.iter().filter(|link| alike[places + t] && alike[link.place]) {
            sets.union(link.place, places + t);
        }
    }
    let root_of = sets.into_labeling();
    let mut number = vec![usize::MAX; places + transitions];
    let mut parts: Vec<Part> = Vec::new();
    for node in (0..places + transitions).filter(|&node| alike[node]) {
        let number = &mut number[root_of[node]];
        if *number == usize::MAX {
            *number = parts.len();
            parts.push(Part::default());
        }
        let part = &mut parts[*number];
        if node < places { part.places.push(node) } else { part.transitions.push(node - places) }
    }
    let mut membership = Membership { place: vec![None; places], transition: vec![None; transitions] };
    for (i, part) in parts.iter_mut().enumerate() {
        part.places.sort_by_key(|&place| (colours.of_place(place), place));
        part.transitions.sort_by_key(|&t| (colours.of_transition(t), t));
        for (slot, &place) in part.places.iter().enumerate() {
            membership.place[place] = Some((i, slot));
        }
        part.transitions.iter().for_each(|&t| membership.transition[t] = Some(i));
    }
    (parts, membership)
}

impl Part {
    /// The signature of the part, if it is a state machine that starts with at most one token.
    pub(super) fn signature(
        &self,
        own: usize,
        graph: &Graph<'_>,
        members: &Membership,
    ) -> Result<Signature, Hindrance> {
        let net = graph.net;
        let of = |place: usize| members.place[place].filter(|(part, _)| *part == own).map(|(_, slot)| slot);
        let initial: Vec<u64> = self.places.iter().map(|&p| net.places()[p].initial_total()).collect();
        if initial.iter().sum::<u64>() > 1 {
            return Err(Hindrance::SeveralTokens);
        }
        if self.places.iter().any(|&p| net.places()[p].capacity == Some(0)) {
            return Err(Hindrance::Capacity);
        }
        let mut contacts = Vec::new();
        for &place in &self.places {
            for &(t, link) in graph.touching[place].iter().filter(|(t, _)| members.transition[*t] != Some(own)) {
                let slot = of(place).ok_or(Hindrance::Expression)?;
                let link = &graph.links[t][link];
                contacts.push((t, slot, link.kind, link.weight.ok_or(Hindrance::ArcWeight)?));
            }
        }
        contacts.sort_unstable();
        let moves: Vec<Move> =
            self.transitions.iter().map(|&t| self.one_move(t, graph, members, own)).collect::<Result<_, _>>()?;
        let signature = Signature { initial, moves, contacts };
        signature.check_shared()?;
        signature.check_delays(graph)?;
        Ok(signature)
    }

    fn one_move(&self, t: usize, graph: &Graph<'_>, members: &Membership, own: usize) -> Result<Move, Hindrance> {
        let number = |expression: &Expr| local(expression, own, graph, members);
        let mut outer = Vec::new();
        let (mut needs, mut puts) = (Vec::new(), Vec::new());
        for link in &graph.links[t] {
            let Some((_, slot)) = members.place[link.place].filter(|(part, _)| *part == own) else {
                let expression = link.weight.is_none().then(|| number(link.expression));
                outer.push((link.kind, link.place, link.weight, expression));
                continue;
            };
            match (link.kind, link.weight.ok_or(Hindrance::ArcWeight)?) {
                (ArcKind::Inhibitor, _) => return Err(Hindrance::Inhibitor),
                (_, 0) => {}
                (ArcKind::Output, 1) => puts.push(slot),
                (ArcKind::Input, 1) => needs.push((slot, true)),
                (ArcKind::Test, 1) => needs.push((slot, false)),
                _ => return Err(Hindrance::SeveralMoved),
            }
        }
        outer.sort_by_key(|&(kind, place, weight, _)| (kind, place, weight));
        let (from, takes) = match needs[..] {
            [] => return Err(Hindrance::NoToken),
            [only] => only,
            _ => return Err(Hindrance::SeveralMoved),
        };
        let to = match puts[..] {
            [] => None,
            [only] if takes => Some(only),
            _ => return Err(Hindrance::SeveralMoved),
        };
        let timing = match &graph.net.transitions()[t].timing {
            Timing::Immediate { weight, priority } => LocalTiming::Immediate(number(weight), *priority),
            Timing::Timed { delay: Delay::Exponential { rate }, servers, .. } => {
                LocalTiming::Exponential(number(rate), *servers)
            }
            Timing::Timed { delay: Delay::General(law), servers, memory } => {
                LocalTiming::General(law.clone(), *servers, *memory)
            }
        };
        Ok(Move { timing, from, takes, to, outer })
    }
}

impl Signature {
    /// Checks that each shared transition produces at most one token in the part.
    fn check_shared(&self) -> Result<(), Hindrance> {
        let tokens = |t: usize, kind: ArcKind| -> u32 {
            self.contacts.iter().filter(|own| own.0 == t && own.2 == kind).map(|own| own.3).sum()
        };
        let all = self.contacts.iter().map(|own| own.0);
        let several = all.into_iter().any(|t| tokens(t, ArcKind::Output) > 1);
        if several { Err(Hindrance::SeveralMoved) } else { Ok(()) }
    }

    /// Checks that nothing else can disable a transition whose delay is not exponential while its token waits.
    fn check_delays(&self, graph: &Graph<'_>) -> Result<(), Hindrance> {
        let takers = |place: usize| {
            let own = self.moves.iter().filter(|other| other.takes && other.from == place).count();
            own + self.contacts.iter().filter(|own| own.1 == place && own.2 == ArcKind::Input).count()
        };
        let puts = |arc: &OuterArc| arc.0 == ArcKind::Output && graph.net.places()[arc.1].capacity.is_none();
        let is_alone =
            |own: &Move| own.takes && takers(own.from) == 1 && own.outer.iter().all(puts) && own.to != Some(own.from);
        let general = self.moves.iter().filter(|own| matches!(own.timing, LocalTiming::General(..)));
        if general.into_iter().all(is_alone) { Ok(()) } else { Err(Hindrance::Interrupted) }
    }

    /// Returns true if the transition consumes tokens of shared places.
    pub(super) fn takes_shared(own: &Move) -> bool {
        own.outer.iter().any(|arc| arc.0 == ArcKind::Input)
    }

    /// A number that is equal for equal signatures.
    pub(super) fn hash(&self) -> u64 {
        let timing = |timing: &LocalTiming| match timing {
            LocalTiming::Immediate(number, priority) => hash::mix_all(1, [number.hash(), u64::from(*priority)]),
            LocalTiming::Exponential(number, _) => hash::mix(2, number.hash()),
            LocalTiming::General(law, ..) => hash::mix(3, law.mean().to_bits()),
        };
        let moves = self.moves.iter().flat_map(|own| {
            let outer =
                own.outer.iter().map(|arc| hash::mix_all(arc.0 as u64, [arc.1 as u64, u64::from(arc.2.unwrap_or(0))]));
            let ends =
                [own.from as u64, own.to.map_or(u64::MAX, |to| to as u64), u64::from(own.takes), timing(&own.timing)];
            ends.into_iter().chain(outer).collect::<Vec<_>>()
        });
        let contacts =
            self.contacts.iter().flat_map(|own| [own.0 as u64, own.1 as u64, own.2 as u64, u64::from(own.3)]);
        hash::mix_all(4, self.initial.iter().copied().chain(moves).chain(contacts))
    }
}

impl LocalNumber {
    fn hash(&self) -> u64 {
        match self {
            Self::Expression(Expr::Number(value)) => value.to_bits(),
            Self::Expression(_) => 5,
            Self::Among(shape) => *shape,
        }
    }
}

/// An expression of a part, up to the names of its places.
fn local(expression: &Expr, own: usize, graph: &Graph<'_>, members: &Membership) -> LocalNumber {
    let replaced = expression.try_replace(&mut |leaf| {
        let known = tokens_of(leaf).and_then(|place| members.place[place.index()]);
        match (known, leaf) {
            (Some((part, slot)), _) if part == own => Ok(Expr::Leaf(LocalLeaf::Own(slot))),
            (Some(_), _) => Err(()),
            (None, Leaf::Capacity(place)) => {
                Ok(Expr::Number(graph.net.place(*place).capacity.map_or(f64::INFINITY, f64::from)))
            }
            (None, leaf) => Ok(Expr::Leaf(LocalLeaf::Outer(*leaf))),
        }
    });
    replaced.map_or_else(|()| LocalNumber::Among(hash::shape(expression)), LocalNumber::Expression)
}
