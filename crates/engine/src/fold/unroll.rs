//! A net in which parts of several tokens become state machines of their local markings. Each local marking becomes a
//! place, and one of these places holds a token.
//!
//! The markings of both nets correspond one to one, with the same rates, weights and priorities.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::fold::graph::{Graph, Link, tokens_of};
use crate::fold::keep::Keep;
use crate::fold::machine::{Contact, Machine, Role, Step};
use crate::fold::parts::{Hindrance, Membership, Part};
use crate::fold::rewrite::{scaled, sum};
use crate::net::expr::{BinaryOp, Expr, Function, Leaf};
use crate::net::{
    Arc, ArcKind, ClassId, ClassWeight, Delay, Net, NetBuilder, Place, PlaceId, Servers, Timing, Transition,
    TransitionId,
};

/// The net with state machines, and the images of all parts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unrolled {
    pub(super) net: Net,
    /// Per original place: the new places that hold its tokens (at least one), each with the number of original tokens
    /// that a token there represents.
    pub(super) places: Vec<Vec<(PlaceId, u32)>>,
    /// Per transition: its images.
    pub(super) transitions: Vec<Vec<TransitionId>>,
    /// Per new place: the original places and numbers of tokens that a token in the new place represents.
    pub(super) markings: Vec<Vec<(PlaceId, u32)>>,
    /// Per new transition: the original one.
    pub(super) origins: Vec<TransitionId>,
    /// Per new transition of a machine: the local marking that it leaves, as a new place.
    at: Vec<Option<PlaceId>>,
    /// Per new place: the part whose machine has this place.
    pub(super) machine: Vec<Option<usize>>,
    /// Per removed place: its capacity.
    capacities: HashMap<PlaceId, f64>,
}

/// All parts of the new net.
pub(super) struct Unroller<'a> {
    graph: &'a Graph<'a>,
    parts: &'a [Part],
    members: &'a Membership,
    machines: &'a BTreeMap<usize, Machine>,
    names: HashSet<String>,
    builder: NetBuilder,
    made: Unrolled,
    /// Per part with a machine: the places of its local markings.
    states: BTreeMap<usize, Vec<Option<PlaceId>>>,
}

impl<'a> Unroller<'a> {
    /// Starts a net in which each of these parts is replaced by its machine.
    pub(super) fn new(
        graph: &'a Graph<'a>,
        parts: &'a [Part],
        members: &'a Membership,
        machines: &'a BTreeMap<usize, Machine>,
    ) -> Self {
        let net = graph.net;
        let mut builder = NetBuilder::without_classes(net.name());
        net.classes().iter().for_each(|class| _ = builder.add_class(class.clone()));
        let ids = net.places().iter().map(|p| &p.id).chain(net.transitions().iter().map(|t| &t.id));
        let made = Unrolled {
            net: net.clone(),
            places: Vec::new(),
            transitions: vec![Vec::new(); net.transitions().len()],
            markings: Vec::new(),
            origins: Vec::new(),
            at: Vec::new(),
            machine: Vec::new(),
            capacities: HashMap::new(),
        };
        Self { graph, parts, members, machines, names: ids.cloned().collect(), builder, made, states: BTreeMap::new() }
    }

    /// The net; none if the parts do not form a net.
    pub(super) fn unroll(mut self) -> Result<Unrolled, Hindrance> {
        self.places();
        for parameter in self.graph.net.parameters() {
            let value = self.made.expression(&parameter.value);
            self.builder.add_parameter(crate::net::Parameter { value, ..parameter.clone() });
        }
        for t in 0..self.graph.net.transitions().len() {
            match self.members.transition[t].filter(|part| self.machines.contains_key(part)) {
                Some(part) => self.local(t, part)?,
                None => self.shared(t),
            }
        }
        self.made.net = self.builder.build().map_err(|_| Hindrance::Expression)?;
        Ok(self.made)
    }

    /// The part of a place, if it has a machine, and the place's number in the part.
    fn own(&self, place: usize) -> Option<(usize, usize)> {
        self.members.place[place].filter(|(part, _)| self.machines.contains_key(part))
    }

    /// An unused name.
    fn fresh(&mut self, mut name: String) -> String {
        while !self.names.insert(name.clone()) {
            name.push('\'');
        }
        name
    }

    fn places(&mut self) {
        for (p, place) in self.graph.net.places().iter().enumerate() {
            let id = PlaceId::from_index(p);
            let Some((part, slot)) = self.own(p) else {
                self.made.markings.push(vec![(id, 1)]);
                self.made.machine.push(None);
                self.made.places.push(vec![(self.builder.add_place(place.clone()), 1)]);
                continue;
            };
            if !self.states.contains_key(&part) {
                let states = self.states_of(part);
                self.states.insert(part, states);
            }
            let held = self.machines[&part].markings.iter().zip(&self.states[&part]);
            let mut held: Vec<(PlaceId, u32)> = held.filter_map(|(m, state)| Some(((*state)?, m[slot]))).collect();
            if held.iter().any(|own| own.1 > 0) {
                held.retain(|own| own.1 > 0);
            } else {
                held.truncate(1);
            }
            self.made.places.push(held);
            self.made.capacities.insert(id, place.capacity.map_or(f64::INFINITY, f64::from));
        }
    }

    /// Adds a place for each local marking of a part.
    fn states_of(&mut self, part: usize) -> Vec<Option<PlaceId>> {
        let (places, machine) = (&self.parts[part].places, &self.machines[&part]);
        let mut states = Vec::new();
        for (number, marking) in machine.markings.iter().enumerate() {
            if machine.nowhere == Some(number) {
                states.push(None);
                continue;
            }
            let held = places.iter().zip(marking).filter(|(_, n)| **n > 0);
            let held: Vec<(PlaceId, u32)> = held.map(|(&p, &n)| (PlaceId::from_index(p), n)).collect();
            let name = |&(p, n): &(PlaceId, u32)| {
                let id = &self.graph.net.place(p).id;
                if n == 1 { id.clone() } else { format!("{n} {id}") }
            };
            let names: Vec<String> = held.iter().map(name).collect();
            let first = &self.graph.net.places()[places[0]].id;
            let id = if names.is_empty() { format!("no {first}") } else { format!("[{}]", names.join(", ")) };
            let id = self.fresh(id);
            let initial = vec![u32::from(number == 0)];
            states.push(Some(self.builder.add_place(Place { id, initial, ..Place::default() })));
            self.made.markings.push(held);
            self.made.machine.push(Some(part));
        }
        states
    }

    fn add(&mut self, t: usize, at: Option<PlaceId>, transition: Transition) -> TransitionId {
        let new = self.builder.add_transition(transition);
        self.made.transitions[t].push(new);
        self.made.origins.push(TransitionId::from_index(t));
        self.made.at.push(at);
        new
    }

    /// Adds a transition that belongs to no machine.
    fn shared(&mut self, t: usize) {
        let net = self.graph.net;
        let own = &net.transitions()[t];
        let timing = self.made.timing(&own.timing, None);
        let new = self.add(t, None, Transition { timing, ..own.clone() });
        let mut met = Vec::new();
        for link in &self.graph.links[t] {
            match self.own(link.place) {
                Some((part, _)) if met.contains(&part) => {}
                Some((part, _)) => {
                    met.push(part);
                    let machine = &self.machines[&part];
                    if let Some(contact) = machine.contacts.iter().find(|contact| contact.transition == t) {
                        self.contact(part, contact, new);
                    }
                }
                None => self.outer(link, new, None),
            }
        }
    }

    /// Adds the arcs of a shared transition to the local markings of a part.
    fn contact(&mut self, part: usize, contact: &Contact, new: TransitionId) {
        let states = &self.states[&part];
        match &contact.role {
            Role::Moves(from, to) => {
                states[*from].map(|place| self.builder.input(place, new, 1.0));
                states[*to].map(|place| self.builder.output(new, place, 1.0));
            }
            Role::Needs(only) => _ = states[*only].map(|place| self.builder.test(place, new, 1.0)),
            Role::Excludes(others) => {
                for place in others.iter().filter_map(|&other| states[other]) {
                    self.builder.inhibitor(place, new, 1.0);
                }
            }
        }
    }

    /// Adds an arc to a place that belongs to no machine.
    fn outer(&mut self, link: &Link<'_>, new: TransitionId, at: Option<PlaceId>) {
        let place = self.made.places[link.place][0].0;
        let weight = match link.weight {
            Some(weight) => f64::from(weight).into(),
            None => self.made.expression_at(link.expression, at),
        };
        let name = self.fresh(format!("arc of {new}"));
        let weights = vec![ClassWeight { class: ClassId::from_index(0), weight }];
        self.builder.add_arc(Arc {
            id: name,
            kind: link.kind,
            place,
            transition: new,
            weights,
            path: Vec::new(),
            tagged: false,
        });
    }

    /// Adds a transition of a machine, once for each local marking that enables it.
    fn local(&mut self, t: usize, part: usize) -> Result<(), Hindrance> {
        let own = &self.graph.net.transitions()[t];
        let machine = &self.machines[&part];
        for step in machine.steps.iter().filter(|step| self.parts[part].transitions[step.slot] == t) {
            // no transition of the part fires without a token in the machine
            let Some(from) = self.states[&part][step.from] else { return Err(Hindrance::NoToken) };
            let mut timing = self.made.timing(&own.timing, Some(from));
            if let Timing::Timed { delay: Delay::Exponential { rate }, servers, .. } = &mut timing {
                if let Some(factor) = self.served(t, step, *servers)? {
                    *rate = Expr::Binary(BinaryOp::Multiply, Box::new(factor), Box::new(rate.clone()));
                }
                *servers = Servers::Single;
            }
            let id = self.fresh(format!("{} from {from}", own.id));
            let new = self.add(t, Some(from), Transition { id, name: String::new(), timing, ..own.clone() });
            self.builder.input(from, new, 1.0);
            if let Some(to) = self.states[&part][step.to] {
                self.builder.output(new, to, 1.0);
            }
            for link in &self.graph.links[t] {
                if self.members.place[link.place].is_none_or(|(other, _)| other != part) {
                    self.outer(link, new, Some(from));
                }
            }
        }
        Ok(())
    }

    /// The number of enablings served in a local marking; none if it is 1.
    fn served(&self, t: usize, step: &Step, servers: Servers) -> Result<Option<Expr>, Hindrance> {
        if servers == Servers::Single || step.degree == Some(1) {
            return Ok(None);
        }
        let mut needs: BTreeMap<usize, u64> = BTreeMap::new();
        for link in self.graph.links[t].iter().filter(|link| link.kind == ArcKind::Input) {
            if self.own(link.place).is_none() {
                *needs.entry(link.place).or_default() += u64::from(link.weight.ok_or(Hindrance::ArcWeight)?);
            }
        }
        needs.retain(|_, weight| *weight > 0);
        if step.degree.is_none() && needs.is_empty() {
            return Ok(None);
        }
        let limit = if let Servers::Limited(most) = servers { Some(most) } else { None };
        let known = step.degree.into_iter().chain(limit).min().map(|most| Expr::Number(f64::from(most)));
        let outer = needs.into_iter().map(|(place, weight)| {
            let held = Expr::Leaf(Leaf::Tokens(self.made.places[place][0].0, None));
            if weight == 1 {
                return held;
            }
            let share = Expr::Binary(BinaryOp::Divide, Box::new(held), Box::new(Expr::Number(weight as f64)));
            Expr::Call(Function::Floor, vec![share])
        });
        let all: Vec<Expr> = known.into_iter().chain(outer).collect();
        let both = |a, b| Expr::Call(Function::Min, vec![a, b]);
        Ok(all.into_iter().reduce(both).filter(|served| served.as_number() != Some(1.0)))
    }
}

impl Unrolled {
    /// An expression over the new places.
    pub(super) fn expression(&self, expression: &Expr) -> Expr {
        self.replaced(expression, &|place| self.tokens(place))
    }

    /// Returns an expression of the original net in terms of the new net, for evaluation before transition `t` of the
    /// new net fires.
    pub(super) fn expression_before(&self, expression: &Expr, t: TransitionId) -> Expr {
        self.expression_at(expression, self.at[t.index()])
    }

    /// Returns an expression of the original net in terms of the new net, in the local marking `at`.
    fn expression_at(&self, expression: &Expr, at: Option<PlaceId>) -> Expr {
        let Some(at) = at else { return self.expression(expression) };
        let (here, own) = (&self.markings[at.index()], self.machine[at.index()]);
        let of = |place: PlaceId| self.machine[self.places[place.index()][0].0.index()];
        // sums over all replicas are not changed, so that folding turns them into counts
        let mut is_own = true;
        expression.for_each_leaf(&mut |leaf| {
            is_own &= tokens_of(leaf).and_then(of).is_none_or(|part| Some(part) == own);
        });
        if !is_own {
            return self.expression(expression);
        }
        let held = |place| here.iter().find(|held| held.0 == place).map_or(0.0, |held| f64::from(held.1));
        self.replaced(expression, &|place| if of(place) == own { held(place).into() } else { self.tokens(place) })
    }

    /// The tokens of a place.
    fn tokens(&self, place: PlaceId) -> Expr {
        let held = self.places[place.index()].iter();
        let held = held.filter_map(|&(state, n)| scaled(f64::from(n).into(), Expr::Leaf(Leaf::Tokens(state, None))));
        held.reduce(sum).unwrap_or(Expr::Number(0.0))
    }

    fn replaced(&self, expression: &Expr, tokens: &dyn Fn(PlaceId) -> Expr) -> Expr {
        let replaced: Result<_, std::convert::Infallible> = expression.try_replace(&mut |leaf| {
            Ok(match *leaf {
                Leaf::Parameter(id) => Expr::Leaf(Leaf::Parameter(id)),
                Leaf::Tokens(place, _) => tokens(place),
                Leaf::Capacity(place) => match self.capacities.get(&place) {
                    Some(&capacity) => Expr::Number(capacity),
                    None => Expr::Leaf(Leaf::Capacity(self.places[place.index()][0].0)),
                },
            })
        });
        match replaced {
            Ok(expression) => expression,
            Err(never) => match never {},
        }
    }

    fn timing(&self, timing: &Timing, at: Option<PlaceId>) -> Timing {
        match timing {
            Timing::Immediate { weight, priority } => {
                Timing::Immediate { weight: self.expression_at(weight, at), priority: *priority }
            }
            Timing::Timed { delay: Delay::Exponential { rate }, servers, memory } => Timing::Timed {
                delay: Delay::Exponential { rate: self.expression_at(rate, at) },
                servers: *servers,
                memory: *memory,
            },
            general => general.clone(),
        }
    }

    /// Translates a question about the original net to the new one.
    pub(super) fn keep(&self, keep: &Keep) -> Keep {
        let all = |t: usize| self.transitions[t].iter();
        Keep {
            expressions: keep.expressions.iter().map(|expression| self.expression(expression)).collect(),
            groups: keep
                .groups
                .iter()
                .map(|group| group.iter().flat_map(|&t| all(t)).map(|t| t.index()).collect())
                .collect(),
            impulses: keep
                .impulses
                .iter()
                .flat_map(|(reward, t, amount)| {
                    all(*t).map(|new| (*reward, new.index(), self.expression_before(amount, *new)))
                })
                .collect(),
        }
    }
}
