//! The local markings of a part: a state machine whose one token represents the distribution of the part's tokens.
//!
//! A part that holds several tokens, or none at times, is replaced by this machine before replicas are
//! counted. Exploration considers only the part: conditions on shared places are assumed to hold, so it finds
//! all markings that the part reaches in the net, and possibly more. Bounds proved by sums of tokens exclude
//! further markings.

use std::collections::{BTreeMap, HashMap};

use crate::fold::graph::{Graph, Link, constant, tokens_of};
use crate::fold::parts::{Hindrance, Membership, Part};
use crate::fold::safe::bound;
use crate::net::expr::Expr;
use crate::net::{ArcKind, Delay, Servers, Timing};

/// Maximum number of local markings of a part that is replaced by their machine.
const MOST_MARKINGS: usize = 50;

/// Maximum number of transitions of a net for which bounds of places are computed.
const MOST_TRANSITIONS: usize = 2_000;

/// A part as a state machine of its local markings.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    /// Tokens per place of the part in each local marking; the part starts in the first local marking.
    pub(super) markings: Vec<Vec<u32>>,
    /// The empty local marking, if a shared transition fills the part: the machine represents it by no token.
    pub(super) nowhere: Option<usize>,
    pub(super) steps: Vec<Step>,
    pub(super) contacts: Vec<Contact>,
}

/// A firing of a transition of the part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Number of the transition in the part.
    pub(super) slot: usize,
    pub(super) from: usize,
    pub(super) to: usize,
    /// Enabling degree as limited by the part's tokens; none if the transition consumes no tokens of the part.
    pub(super) degree: Option<u32>,
}

/// A shared transition that involves the part.
#[derive(Clone, Debug)]
pub(super) struct Contact {
    pub(super) transition: usize,
    pub(super) role: Role,
}

/// The local markings that a shared transition needs, and the local marking that it leads to.
#[derive(Clone, Debug)]
pub(super) enum Role {
    /// It leads from the first of these local markings to the second.
    Moves(usize, usize),
    /// It needs this local marking.
    Needs(usize),
    /// It needs any local marking except these.
    Excludes(Vec<usize>),
}

/// An arc of a transition to a place of the part.
struct Local<'a> {
    kind: ArcKind,
    slot: usize,
    weight: Option<u32>,
    expression: &'a Expr,
}

/// The effect of a firing on the local marking.
struct Effect {
    next: Vec<u32>,
    degree: Option<u32>,
}

impl Machine {
    /// The local markings of a part.
    pub(super) fn new(own: usize, part: &Part, graph: &Graph<'_>, members: &Membership) -> Result<Self, Hindrance> {
        match Self::bounded(own, part, graph, members, &[]) {
            Err(Hindrance::ManyMarkings) if graph.links.len() <= MOST_TRANSITIONS => {
                let bounds = part.places.iter().map(|&place| bound(graph, place).unwrap_or(u32::MAX));
                Self::bounded(own, part, graph, members, &bounds.collect::<Vec<_>>())
            }
            machine => machine,
        }
    }

    /// Explores the local markings of a part, with at most `bounds` tokens in its places.
    fn bounded(
        own: usize,
        part: &Part,
        graph: &Graph<'_>,
        members: &Membership,
        bounds: &[u32],
    ) -> Result<Self, Hindrance> {
        let net = graph.net;
        if part.places.is_empty() {
            return Err(Hindrance::NoToken);
        }
        let general =
            |&t: &usize| matches!(net.transitions()[t].timing, Timing::Timed { delay: Delay::General(_), .. });
        if part.transitions.iter().any(general) {
            return Err(Hindrance::LocalDelay);
        }
        let view = View { own, part, graph, members, bounds };
        let touching = part.places.iter().flat_map(|&p| &graph.touching[p]);
        let mut shared: Vec<usize> = touching.map(|&(t, _)| t).collect();
        shared.retain(|&t| members.transition[t] != Some(own));
        shared.sort_unstable();
        shared.dedup();
        let initial: Option<Vec<u32>> =
            part.places.iter().map(|&p| u32::try_from(net.places()[p].initial_total()).ok()).collect();
        let mut explorer =
            Explorer { view, markings: Vec::new(), numbers: HashMap::new(), vanishing: Vec::new(), steps: Vec::new() };
        explorer.number(initial.ok_or(Hindrance::ManyMarkings)?)?;
        let fills = shared.iter().any(|&t| view.fills(t));
        let nowhere = if fills { Some(explorer.number(vec![0; part.places.len()])?) } else { None };
        explorer.explore(&shared, nowhere)?;
        let contacts = shared.iter().map(|&t| explorer.contact(t, nowhere)).collect::<Result<_, _>>()?;
        Ok(Self { markings: explorer.markings, nowhere, steps: explorer.steps, contacts })
    }
}

/// A part and its net.
#[derive(Clone, Copy)]
struct View<'a> {
    own: usize,
    part: &'a Part,
    graph: &'a Graph<'a>,
    members: &'a Membership,
    /// Maximum tokens per place of the part; empty if unknown.
    bounds: &'a [u32],
}

impl<'a> View<'a> {
    fn slot(&self, place: usize) -> Option<usize> {
        self.members.place[place].filter(|(part, _)| *part == self.own).map(|(_, slot)| slot)
    }

    fn links(&self, t: usize) -> impl Iterator<Item = Local<'a>> {
        let local = move |link: &Link<'a>| {
            let slot = self.slot(link.place)?;
            Some(Local { kind: link.kind, slot, weight: link.weight, expression: link.expression })
        };
        self.graph.links[t].iter().filter_map(local).collect::<Vec<_>>().into_iter()
    }

    /// Returns true if a shared transition produces tokens in the part and consumes none.
    fn fills(&self, t: usize) -> bool {
        let has = |kind| self.links(t).any(|link| link.kind == kind && link.weight != Some(0));
        has(ArcKind::Output) && !has(ArcKind::Input)
    }

    /// The value of an expression in a local marking, if it depends only on the marking.
    fn value(&self, expression: &Expr, marking: &[u32]) -> Option<f64> {
        let known = expression.try_replace(&mut |leaf| match tokens_of(leaf) {
            Some(place) => self.slot(place.index()).map(|slot| Expr::Number(f64::from(marking[slot]))).ok_or(()),
            None => Ok(Expr::Leaf(*leaf)),
        });
        constant(self.graph.net, &known.ok()?)
    }

    fn weight(&self, link: &Local<'_>, marking: &[u32]) -> Result<u32, Hindrance> {
        let value = || self.value(link.expression, marking).map(f64::round);
        let whole = |value: f64| (0.0..2_147_483_648.0).contains(&value).then_some(value as u32);
        link.weight.or_else(|| value().and_then(whole)).ok_or(Hindrance::ArcWeight)
    }

    /// The effect of a transition in a local marking; none if the part disables it in that marking.
    fn effect(&self, t: usize, marking: &[u32]) -> Result<Option<Effect>, Hindrance> {
        // per place of the part at which the transition has an arc: the tokens that it takes and puts
        let mut moves: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
        for link in self.links(t) {
            let (held, weight) = (marking[link.slot], self.weight(&link, marking)?);
            let (takes, puts) = moves.entry(link.slot).or_default();
            match link.kind {
                ArcKind::Input => *takes += u64::from(weight),
                ArcKind::Output => *puts += u64::from(weight),
                ArcKind::Test if held < weight => return Ok(None),
                ArcKind::Inhibitor if held >= weight => return Ok(None),
                ArcKind::Test | ArcKind::Inhibitor => {}
            }
        }
        let mut changed = Vec::with_capacity(moves.len());
        let mut degree = None::<u32>;
        for (slot, (takes, puts)) in moves {
            let held = u64::from(marking[slot]);
            let Some(rest) = held.checked_sub(takes) else { return Ok(None) };
            let capacity = self.graph.net.places()[self.part.places[slot]].capacity.map_or(u64::MAX, u64::from);
            let bound = self.bounds.get(slot).map_or(u64::MAX, |&bound| u64::from(bound));
            if puts > takes && rest + puts > capacity.min(bound) {
                return Ok(None);
            }
            if let Some(most) = held.checked_div(takes) {
                degree = Some(degree.map_or(u32::MAX, |least| least).min(most as u32));
            }
            changed.push((slot, u32::try_from(rest + puts).map_err(|_| Hindrance::ManyMarkings)?));
        }
        let mut next = marking.to_vec();
        changed.into_iter().for_each(|(slot, tokens)| next[slot] = tokens);
        Ok(Some(Effect { next, degree }))
    }

    /// Returns true if `t` is immediate and fires for any tokens in shared places, so that the marking is
    /// left in zero time. The part must enable `t`.
    fn is_sure(&self, t: usize, marking: &[u32]) -> bool {
        let net = self.graph.net;
        let Timing::Immediate { weight, .. } = &net.transitions()[t].timing else { return false };
        let is_free = |link: &Link<'_>| {
            let puts = link.kind == ArcKind::Output && net.places()[link.place].capacity.is_none();
            self.slot(link.place).is_some() || (puts && link.weight.is_some())
        };
        self.graph.links[t].iter().all(is_free) && self.value(weight, marking).is_some_and(|weight| weight > 0.0)
    }
}

/// The exploration of local markings.
struct Explorer<'a> {
    view: View<'a>,
    markings: Vec<Vec<u32>>,
    numbers: HashMap<Vec<u32>, usize>,
    /// Per examined local marking: true if it is left in zero time for any tokens in shared places.
    vanishing: Vec<bool>,
    steps: Vec<Step>,
}

impl Explorer<'_> {
    fn number(&mut self, marking: Vec<u32>) -> Result<usize, Hindrance> {
        if let Some(&number) = self.numbers.get(&marking) {
            return Ok(number);
        }
        if self.markings.len() == MOST_MARKINGS {
            return Err(Hindrance::ManyMarkings);
        }
        self.numbers.insert(marking.clone(), self.markings.len());
        self.markings.push(marking);
        Ok(self.markings.len() - 1)
    }

    fn explore(&mut self, shared: &[usize], nowhere: Option<usize>) -> Result<(), Hindrance> {
        let view = self.view;
        let is_immediate = |t: usize| view.graph.net.transitions()[t].is_immediate();
        let mut from = 0;
        while from < self.markings.len() {
            let marking = self.markings[from].clone();
            let mut own = Vec::new();
            for (slot, &t) in view.part.transitions.iter().enumerate() {
                if let Some(effect) = view.effect(t, &marking)? {
                    own.push((slot, t, effect));
                }
            }
            if Some(from) == nowhere && !own.is_empty() {
                return Err(Hindrance::NoToken);
            }
            let vanishing = own.iter().any(|&(_, t, _)| view.is_sure(t, &marking));
            self.vanishing.push(vanishing);
            for (slot, _, Effect { next, degree }) in own.into_iter().filter(|own| !vanishing || is_immediate(own.1)) {
                let to = self.number(next)?;
                self.steps.push(Step { slot, from, to, degree });
            }
            for &t in shared.iter().filter(|&&t| !vanishing || is_immediate(t)) {
                if view.fills(t) && Some(from) != nowhere {
                    continue;
                }
                if let Some(effect) = view.effect(t, &marking)? {
                    self.number(effect.next)?;
                }
            }
            from += 1;
        }
        Ok(())
    }

    /// The role of a shared transition.
    fn contact(&self, t: usize, nowhere: Option<usize>) -> Result<Contact, Hindrance> {
        let contact = |role| Ok(Contact { transition: t, role });
        let to = |effect: &Effect| self.numbers.get(&effect.next).copied().ok_or(Hindrance::Contact);
        if self.view.fills(t) {
            let from = nowhere.ok_or(Hindrance::Contact)?;
            let effect = self.view.effect(t, &self.markings[from])?.ok_or(Hindrance::Contact)?;
            return contact(Role::Moves(from, to(&effect)?));
        }
        let mut enabling = Vec::new();
        let mut others = Vec::new();
        let is_immediate = self.view.graph.net.transitions()[t].is_immediate();
        for (number, marking) in self.markings.iter().enumerate() {
            match self.view.effect(t, marking)? {
                Some(effect) if is_immediate || !self.vanishing[number] => enabling.push((number, effect)),
                _ => others.push(number),
            }
        }
        let moves = |link: Local<'_>| matches!(link.kind, ArcKind::Input | ArcKind::Output) && link.weight != Some(0);
        let moves = self.view.links(t).any(moves);
        match &enabling[..] {
            [(only, effect)] if moves && Some(*only) != nowhere => {
                let timing = &self.view.graph.net.transitions()[t].timing;
                let one = matches!(timing, Timing::Immediate { .. } | Timing::Timed { servers: Servers::Single, .. });
                let known = one || effect.degree.is_none_or(|degree| degree == 1);
                if known { contact(Role::Moves(*only, to(effect)?)) } else { Err(Hindrance::Contact) }
            }
            [(only, _)] if !moves && Some(*only) != nowhere => contact(Role::Needs(*only)),
            _ if moves || nowhere.is_some_and(|nowhere| others.contains(&nowhere)) => Err(Hindrance::Contact),
            _ => contact(Role::Excludes(others)),
        }
    }
}
