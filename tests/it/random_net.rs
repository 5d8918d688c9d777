//! Random nets for properties that hold for every net, as plain records from which a net is built.
//!
//! Three kinds: *any* net, for walks in the token game; *balanced* nets, bounded by a weighted sum of tokens that no firing
//! changes, and free of loops of immediate transitions, so that every engine can simulate them; and *elastic* nets, balanced
//! ones whose arc weights depend on the marking and whose places have capacities.

use proptest::prelude::*;
use tailspn::net::{ArcKind, Net, NetBuilder, Servers, Timing};

/// The weight of an arc: `plus + tenths / 10 * #(place)`, or `plus` alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RandomWeight {
    pub(crate) plus: u32,
    /// Tenths of a token for each token of a place. Never such that a weight lies halfway between two whole numbers.
    pub(crate) share: Option<(u32, usize)>,
}

impl From<u32> for RandomWeight {
    fn from(plus: u32) -> Self {
        Self { plus, share: None }
    }
}

impl RandomWeight {
    /// All tokens of a place, and `plus` more.
    fn all_of(place: usize, plus: u32) -> Self {
        Self { plus, share: Some((10, place)) }
    }

    fn times(self, factor: u32) -> Self {
        let share = self.share.map(|(tenths, place)| (tenths * factor, place));
        Self { plus: self.plus * factor, share }
    }

    fn expression(self, prefix: &str) -> String {
        let Self { plus, share } = self;
        share.map_or(plus.to_string(), |(tenths, place)| format!("{plus} + {tenths} * #({prefix}p{place}) / 10"))
    }

    /// The weight in a marking, to the nearest whole number.
    pub(crate) fn value(self, marking: &[u32]) -> i64 {
        let tenths = self.share.map_or(0, |(tenths, place)| i64::from(tenths) * i64::from(marking[place]));
        assert_ne!(tenths % 10, 5, "halfway between two whole numbers");
        i64::from(self.plus) + (tenths + 5) / 10
    }
}

/// An arc of a transition: what it does, which place, how many tokens.
type RandomArc = (ArcKind, usize, RandomWeight);

#[derive(Clone, Debug)]
pub(crate) struct RandomPlace {
    pub(crate) tokens: u32,
    pub(crate) capacity: Option<u32>,
    /// Weight of the place in the invariant of a balanced net.
    pub(crate) weight: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct RandomTransition {
    /// Rate [1/s], or weight where it is immediate.
    pub(crate) rate: f64,
    pub(crate) servers: Servers,
    /// Priority where it is immediate.
    pub(crate) immediate: Option<u32>,
    pub(crate) arcs: Vec<RandomArc>,
}

#[derive(Clone, Debug)]
pub(crate) struct RandomNet {
    pub(crate) places: Vec<RandomPlace>,
    pub(crate) transitions: Vec<RandomTransition>,
}

impl RandomNet {
    /// The net, with all rates times `factor` and names that begin with `prefix`.
    pub(crate) fn build(&self, factor: f64, prefix: &str) -> Net {
        let mut b = NetBuilder::new(prefix);
        let place = |(i, p): (usize, &RandomPlace)| {
            let id = b.place(format!("{prefix}p{i}"), p.tokens);
            b.place_mut(id).capacity = p.capacity;
            id
        };
        let places: Vec<_> = self.places.iter().enumerate().map(place).collect();
        for (i, t) in self.transitions.iter().enumerate() {
            let mut timing = match t.immediate {
                Some(priority) => Timing::immediate(t.rate, priority),
                None => Timing::exponential(t.rate * factor),
            };
            if let Timing::Timed { servers, .. } = &mut timing {
                *servers = t.servers;
            }
            let id = b.transition(format!("{prefix}t{i}"), timing);
            for (n, &(kind, place, weight)) in t.arcs.iter().enumerate() {
                let weight = match weight.share {
                    None => f64::from(weight.plus).into(),
                    Some(_) => b.expression(&weight.expression(prefix)).unwrap(),
                };
                let arc = b.arc(kind, places[place], id, weight);
                b.arc_mut(arc).id = format!("{prefix}a{i}.{n}");
            }
        }
        b.build().unwrap()
    }

    /// The weighted sum of tokens that a balanced net keeps, as an expression over names that begin with `prefix`.
    pub(crate) fn invariant(&self, prefix: &str) -> String {
        let term = |(i, p): (usize, &RandomPlace)| format!("{} * #({prefix}p{i})", p.weight);
        self.places.iter().enumerate().map(term).collect::<Vec<_>>().join(" + ")
    }

    /// Value of the invariant.
    pub(crate) fn invariant_value(&self) -> u32 {
        self.places.iter().map(|p| p.weight * p.tokens).sum()
    }
}

fn servers() -> impl Strategy<Value = Servers> {
    prop_oneof![Just(Servers::Single), Just(Servers::Infinite), (2_u32..4).prop_map(Servers::Limited)]
}

fn kind() -> impl Strategy<Value = ArcKind> {
    prop_oneof![
        3 => Just(ArcKind::Input),
        3 => Just(ArcKind::Output),
        1 => Just(ArcKind::Inhibitor),
        1 => Just(ArcKind::Test),
    ]
}

fn place() -> impl Strategy<Value = RandomPlace> {
    let room = prop_oneof![4 => Just(None), 1 => (0_u32..5).prop_map(Some)];
    let weight = prop_oneof![3 => Just(1), 1 => Just(2), 1 => Just(3)];
    (0_u32..7, room, weight).prop_map(|(tokens, room, weight)| RandomPlace {
        tokens,
        capacity: room.map(|room| (tokens + room).max(1)),
        weight,
    })
}

/// Any net, parallel arcs included.
pub(crate) fn any_net() -> impl Strategy<Value = RandomNet> {
    prop::collection::vec(place(), 1..6).prop_flat_map(|places| {
        let share = prop::option::weighted(0.2, (prop_oneof![Just(4), Just(6), Just(10)], 0..places.len()));
        let weight = (0_u32..4, share).prop_map(|(plus, share)| match share {
            Some(_) => RandomWeight { plus: plus / 2, share },
            None => plus.into(),
        });
        let arcs = prop::collection::vec((kind(), 0..places.len(), weight), 0..6);
        let immediate = prop_oneof![3 => Just(None), 1 => (0_u32..3).prop_map(Some)];
        let transition = (0.1_f64..4.0, servers(), immediate, arcs)
            .prop_map(|(rate, servers, immediate, arcs)| RandomTransition { rate, servers, immediate, arcs });
        let transitions = prop::collection::vec(transition, 1..6);
        (Just(places), transitions).prop_map(|(places, transitions)| RandomNet { places, transitions })
    })
}

/// A transition between two places that keeps the weighted sum; immediate ones only go to places with higher numbers.
fn balanced_transition(places: Vec<RandomPlace>) -> impl Strategy<Value = RandomTransition> {
    let n = places.len();
    let immediate = prop_oneof![4 => Just(None), 1 => (0_u32..3).prop_map(Some)];
    let guard =
        prop::option::weighted(0.3, (prop_oneof![Just(ArcKind::Inhibitor), Just(ArcKind::Test)], 0..n, 1_u32..4));
    (0..n, 1..n, 0.2_f64..4.0, servers(), immediate, guard).prop_map(
        move |(from, step, rate, servers, immediate, guard)| {
            let to = (from + step) % n;
            let immediate = immediate.filter(|_| to > from);
            let (takes, puts) = (places[to].weight, places[from].weight);
            let mut arcs = vec![(ArcKind::Input, from, takes.into()), (ArcKind::Output, to, puts.into())];
            arcs.extend(guard.map(|(kind, place, weight)| (kind, place, weight.into())));
            RandomTransition { rate, servers, immediate, arcs }
        },
    )
}

/// A net in which a weighted sum of tokens never changes: in a ring of timed transitions, so that it stays alive for some
/// time, and others across it.
pub(crate) fn balanced_net() -> impl Strategy<Value = RandomNet> {
    prop::collection::vec(place(), 2..6)
        .prop_flat_map(|places| {
            let transitions = prop::collection::vec(balanced_transition(places.clone()), 0..4);
            let ring = prop::collection::vec((0.2_f64..4.0, servers()), places.len());
            (Just(places), transitions, ring)
        })
        .prop_map(|(places, mut transitions, ring)| {
            for (from, (rate, servers)) in ring.into_iter().enumerate() {
                let to = (from + 1) % places.len();
                let (takes, puts) = (places[to].weight, places[from].weight);
                let arcs = vec![(ArcKind::Input, from, takes.into()), (ArcKind::Output, to, puts.into())];
                transitions.push(RandomTransition { rate, servers, immediate: None, arcs });
            }
            RandomNet { places, transitions }
        })
}

/// A balanced net in which one to four more transitions move as many tokens as the marking says, in parallel arcs at times, past
/// guards that depend on the marking too; most places have a capacity.
pub(crate) fn elastic_net() -> impl Strategy<Value = RandomNet> {
    balanced_net().prop_flat_map(|net| {
        let n = net.places.len();
        let rooms = prop::collection::vec(prop::option::weighted(0.6, 0_u32..4), n);
        let moved = (0_u32..2, prop_oneof![3 => Just(true), 1 => Just(false)], 0..n, any::<bool>());
        let guard = (prop_oneof![Just(ArcKind::Inhibitor), Just(ArcKind::Test)], 0..n, 0_u32..3, 0..n);
        let guard = prop::option::weighted(0.4, guard);
        let immediate = prop_oneof![4 => Just(None), 1 => (0_u32..3).prop_map(Some)];
        let more = prop::collection::vec((0..n, 1..n, 0.2_f64..4.0, servers(), immediate, moved, guard), 1..5);
        (Just(net), rooms, more).prop_map(|(mut net, rooms, more)| {
            for (place, room) in net.places.iter_mut().zip(rooms) {
                place.capacity = room.map(|room| (place.tokens + room).max(1));
            }
            let n = net.places.len();
            for (from, step, rate, servers, immediate, (plus, of_from, other, parallel), guard) in more {
                let to = (from + step) % n;
                // at least one token, or the transition might fire forever at no time
                let immediate = immediate.filter(|_| to > from);
                let plus = if immediate.is_some() { 1 } else { plus };
                let moved = RandomWeight::all_of(if of_from { from } else { other }, plus);
                let (takes, puts) = (net.places[to].weight, net.places[from].weight);
                let mut arcs =
                    vec![(ArcKind::Input, from, moved.times(takes)), (ArcKind::Output, to, moved.times(puts))];
                if parallel {
                    arcs.push((ArcKind::Input, from, takes.into()));
                    arcs.push((ArcKind::Output, to, puts.into()));
                }
                // an inhibitor of weight 0 would disable for good
                arcs.extend(guard.map(|(kind, place, more, other)| {
                    (kind, place, RandomWeight { plus: 1 + more, share: Some((4, other)) })
                }));
                net.transitions.push(RandomTransition { rate, servers, immediate, arcs });
            }
            net
        })
    })
}

/// One step of a task: its rate, and whether it is one of two that are chosen from.
type RandomStep = (f64, bool);

/// A job of stages of tasks side by side, each a chain of steps; it ends in its last place. Acyclic, and nothing races for a
/// token.
pub(crate) fn job() -> impl Strategy<Value = RandomNet> {
    let task = prop::collection::vec((0.2_f64..4.0, prop::bool::weighted(0.3)), 1..4);
    let stage = prop::collection::vec(task, 1..4);
    prop::collection::vec(stage, 1..4).prop_map(|stages| {
        let mut net = RandomNet { places: Vec::new(), transitions: Vec::new() };
        let mut at = net.add_place(1);
        for tasks in stages {
            let starts: Vec<_> = tasks.iter().map(|_| net.add_place(0)).collect();
            net.connect(1.0, None, &[at], &starts);
            let ends: Vec<_> = tasks.iter().zip(starts).map(|(task, start)| net.add_task(task, start)).collect();
            at = net.add_place(0);
            net.connect(2.0, None, &ends, &[at]);
        }
        net
    })
}

impl RandomNet {
    fn add_place(&mut self, tokens: u32) -> usize {
        self.places.push(RandomPlace { tokens, capacity: None, weight: 1 });
        self.places.len() - 1
    }

    fn connect(&mut self, rate: f64, immediate: Option<u32>, from: &[usize], to: &[usize]) {
        let inputs = from.iter().map(|&place| (ArcKind::Input, place, 1.into()));
        let arcs = inputs.chain(to.iter().map(|&place| (ArcKind::Output, place, 1.into()))).collect();
        self.transitions.push(RandomTransition { rate, servers: Servers::Single, immediate, arcs });
    }

    /// A chain of steps from a place; returns its last place.
    fn add_task(&mut self, steps: &[RandomStep], start: usize) -> usize {
        steps.iter().fold(start, |at, &(rate, chosen)| {
            let next = self.add_place(0);
            if chosen {
                for (weight, rate) in [(rate, rate), (1.0, 0.5 * rate)] {
                    let branch = self.add_place(0);
                    self.connect(weight, Some(1), &[at], &[branch]);
                    self.connect(rate, None, &[branch], &[next]);
                }
            } else {
                self.connect(rate, None, &[at], &[next]);
            }
            next
        })
    }
}
