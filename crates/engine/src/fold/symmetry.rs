//! Parts of a net that may be exchanged without changing the net, regardless of their inner structure.
//!
//! Equal colours give the candidates. A fixed order of the nodes of each part then pairs the nodes of two parts. The
//! net with exchanged pairs is compared with the net itself: initial tokens, capacities, timings, arcs and expressions.
//! So a mistake in the search can miss parts, and cannot find wrong ones.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::fold::colours::{Colours, refine};
use crate::fold::find::{MOST_HUBS, hub};
use crate::fold::graph::{Graph, constant, tokens_of};
use crate::fold::hash::{is_symmetric, mix, operands};
use crate::fold::keep::Keep;
use crate::fold::parts::{Part, parts};
use crate::net::expr::{Expr, Leaf};
use crate::net::{Delay, Net, PlaceId, Timing, TransitionId};

/// Maximum number of arbitrary choices between equal nodes of a part. A part that needs more has many symmetries within.
const MOST_CHOICES: usize = 100;

/// Maximum number of parts of a class. More would take long to compare, and have more markings than can be solved.
const MOST_PARTS: usize = 1000;

/// Parts of a net that may be exchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symmetry {
    classes: Vec<Exchangeable>,
}

/// Parts of which any two may be exchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchangeable {
    /// Places of each part; places at equal positions correspond to each other.
    pub places: Vec<Vec<PlaceId>>,
    /// Transitions of each part; transitions at equal positions correspond to each other.
    pub transitions: Vec<Vec<TransitionId>>,
}

impl Symmetry {
    /// Finds the parts of a net that may be exchanged and that no expression of `keep` distinguishes. They include the
    /// parts that folding would count.
    ///
    /// ```
    /// use tailspn_engine::fold::{Keep, Symmetry};
    /// use tailspn_engine::net::{NetBuilder, Timing};
    ///
    /// let mut b = NetBuilder::new("three queues, each with many markings");
    /// for i in 0..3 {
    ///     let queue = b.place(format!("queue{i}"), 0);
    ///     b.place_mut(queue).capacity = Some(1000);
    ///     let arrive = b.transition(format!("arrive{i}"), Timing::exponential(1.0));
    ///     b.output(arrive, queue, 1.0);
    ///     let serve = b.transition(format!("serve{i}"), Timing::exponential(2.0));
    ///     b.input(queue, serve, 1.0);
    /// }
    /// let symmetry = Symmetry::of(&b.build().unwrap(), &Keep::default());
    /// assert_eq!(symmetry.classes()[0].places.len(), 3);
    /// ```
    pub fn of(net: &Net, keep: &Keep) -> Self {
        let mut best = Self::default();
        if !keep.groups.is_empty() || !keep.impulses.is_empty() {
            return best;
        }
        let graph = Graph::new(net);
        let exchange = Exchange::new(net, keep);
        let mut colours = Colours::new(&graph, keep);
        for _ in 0..=MOST_HUBS {
            colours.refine();
            let (parts, _) = parts(&graph, &colours);
            let found = Self { classes: classes(&parts, &colours, &exchange) };
            if found.gain() > best.gain() {
                best = found;
            }
            let hubs: Vec<usize> = parts.iter().filter_map(|part| hub(&graph, part)).collect();
            if hubs.is_empty() {
                break;
            }
            hubs.into_iter().for_each(|place| colours.single_out(place));
        }
        best
    }

    /// The classes of parts.
    pub fn classes(&self) -> &[Exchangeable] {
        &self.classes
    }

    /// Returns true if no parts may be exchanged.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// The logarithm of the number of exchanges.
    fn gain(&self) -> f64 {
        let of_class = |class: &Exchangeable| (1..=class.places.len()).map(|n| (n as f64).ln()).sum::<f64>();
        self.classes.iter().map(of_class).sum()
    }
}

/// A part with its nodes in an order that depends only on the structure.
struct Ordered {
    /// The colours of its nodes, by which parts are compared first.
    colours: Vec<u64>,
    places: Vec<usize>,
    transitions: Vec<usize>,
}

/// Parts that may be exchanged, by class.
fn classes(parts: &[Part], colours: &Colours, exchange: &Exchange<'_>) -> Vec<Exchangeable> {
    let mut by_colours: BTreeMap<Vec<u64>, Vec<Ordered>> = BTreeMap::new();
    let places = exchange.net.places().len();
    let nodes = |part: &Part| part.places.iter().copied().chain(part.transitions.iter().map(|t| places + t)).collect();
    let edges = colours.edges_within(&parts.iter().map(nodes).collect::<Vec<_>>());
    // ordering a large part takes long, and only parts of the same colours can be equal
    let multisets: Vec<Vec<u64>> = parts.iter().map(|part| sorted_colours(part, colours)).collect();
    let mut count: HashMap<&[u64], usize> = HashMap::new();
    multisets.iter().for_each(|own| *count.entry(own).or_default() += 1);
    for ((part, edges), _) in parts.iter().zip(edges).zip(&multisets).filter(|(_, own)| count[&own[..]] > 1) {
        if let Some(ordered) = ordered(part, colours, &edges).filter(|_| !part.places.is_empty()) {
            by_colours.entry(ordered.colours.clone()).or_default().push(ordered);
        }
    }
    let mut found = Vec::new();
    for mut left in by_colours.into_values().filter(|left| left.len() <= MOST_PARTS) {
        while left.len() > 1 {
            let first = left.remove(0);
            let (mut equal, others): (Vec<_>, Vec<_>) =
                left.into_iter().partition(|other| exchange.keeps_net(&first, other));
            left = others;
            if equal.is_empty() {
                continue;
            }
            equal.insert(0, first);
            let ids = |own: &Ordered| own.places.iter().map(|&place| PlaceId::from_index(place)).collect();
            let places = equal.iter().map(ids).collect();
            let ids = |own: &Ordered| own.transitions.iter().map(|&t| TransitionId::from_index(t)).collect();
            found.push(Exchangeable { places, transitions: equal.iter().map(ids).collect() });
        }
    }
    found.sort_by_key(|class| class.places[0].iter().min().copied());
    found
}

fn sorted_colours(part: &Part, colours: &Colours) -> Vec<u64> {
    let places = part.places.iter().map(|&place| colours.of_place(place));
    let mut own: Vec<u64> = places.chain(part.transitions.iter().map(|&t| colours.of_transition(t))).collect();
    own.sort_unstable();
    own
}

/// The nodes of a part in the order of their colours. While two nodes have equal colours, the first of them gets a
/// new colour; none if that takes too many choices.
fn ordered(part: &Part, colours: &Colours, edges: &[(u32, u32, u64)]) -> Option<Ordered> {
    let places = part.places.iter().map(|&place| colours.of_place(place));
    let mut own: Vec<u64> = places.chain(part.transitions.iter().map(|&t| colours.of_transition(t))).collect();
    for choice in 0..=MOST_CHOICES {
        let mut order: Vec<usize> = (0..own.len()).collect();
        order.sort_by_key(|&node| (own[node], node));
        let Some(twins) = order.windows(2).find(|pair| own[pair[0]] == own[pair[1]]) else {
            let count = part.places.len();
            let (places, transitions): (Vec<usize>, Vec<usize>) = order.iter().partition(|&&node| node < count);
            return Some(Ordered {
                colours: order.iter().map(|&node| own[node]).collect(),
                places: places.into_iter().map(|node| part.places[node]).collect(),
                transitions: transitions.into_iter().map(|node| part.transitions[node - count]).collect(),
            });
        };
        own[twins[0]] = mix(own[twins[0]], choice as u64);
        refine(&mut own, edges);
    }
    None
}

/// A net, to check that an exchange of nodes does not change it.
struct Exchange<'a> {
    net: &'a Net,
    keep: &'a Keep,
    /// Per transition: its arcs, as positions in the net.
    arcs: Vec<Vec<usize>>,
    /// Per place: transitions with an arc to the place, or with an expression that reads the place.
    users: Vec<BTreeSet<usize>>,
}

impl<'a> Exchange<'a> {
    fn new(net: &'a Net, keep: &'a Keep) -> Self {
        let mut arcs = vec![Vec::new(); net.transitions().len()];
        let mut users = vec![BTreeSet::new(); net.places().len()];
        let mut reads = |t: usize, expression: &Expr| {
            expression.for_each_leaf(&mut |leaf| {
                if let Some(place) = place_of(leaf) {
                    users[place.index()].insert(t);
                }
            });
        };
        for (t, transition) in net.transitions().iter().enumerate() {
            number_of(&transition.timing).into_iter().for_each(|number| reads(t, number));
        }
        for (i, arc) in net.arcs().iter().enumerate() {
            arcs[arc.transition.index()].push(i);
            arc.weights.iter().for_each(|entry| reads(arc.transition.index(), &entry.weight));
        }
        for arc in net.arcs() {
            users[arc.place.index()].insert(arc.transition.index());
        }
        Self { net, keep, arcs, users }
    }

    /// Returns true if the net stays the same when the nodes of two parts are exchanged.
    fn keeps_net(&self, a: &Ordered, b: &Ordered) -> bool {
        if a.places.len() != b.places.len() || a.transitions.len() != b.transitions.len() {
            return false;
        }
        let both = |a: &[usize], b: &[usize]| -> HashMap<usize, usize> {
            a.iter().zip(b).flat_map(|(&a, &b)| [(a, b), (b, a)]).collect()
        };
        let (places, transitions) = (both(&a.places, &b.places), both(&a.transitions, &b.transitions));
        let place = |id: PlaceId| PlaceId::from_index(places.get(&id.index()).copied().unwrap_or(id.index()));
        let same = |id: PlaceId| id;
        let own = |place: usize| &self.net.places()[place];
        let starts_alike = places.iter().all(|(&from, &to)| {
            let tokens =
                |place: usize| (0..self.net.classes().len()).map(move |c| own(place).initial.get(c).unwrap_or(&0));
            tokens(from).eq(tokens(to)) && own(from).capacity == own(to).capacity
        });
        let mut touched: BTreeSet<usize> = transitions.keys().copied().collect();
        places.keys().for_each(|&place| touched.extend(&self.users[place]));
        let is_same = |&t: &usize| self.text(t, &place) == self.text(*transitions.get(&t).unwrap_or(&t), &same);
        let mut asked = self.keep.expressions.iter();
        starts_alike && touched.iter().all(is_same) && asked.all(|own| text(own, &place) == text(own, &same))
    }

    /// A transition and its arcs as a text, with the image of each place.
    fn text(&self, t: usize, image: &dyn Fn(PlaceId) -> PlaceId) -> String {
        let number = |expression: &Expr| match constant(self.net, expression) {
            Some(value) => format!("{:x}", value.to_bits()),
            None => text(expression, image),
        };
        let timing = match &self.net.transitions()[t].timing {
            Timing::Immediate { weight, priority } => format!("{priority} {}", text(weight, image)),
            Timing::Timed { delay: Delay::Exponential { rate }, servers, memory } => {
                format!("{servers:?} {memory:?} {}", text(rate, image))
            }
            Timing::Timed { delay: Delay::General(law), servers, memory } => format!("{law:?} {servers:?} {memory:?}"),
        };
        let arcs = self.arcs[t].iter().map(|&arc| &self.net.arcs()[arc]);
        let one = |arc: &crate::net::Arc| {
            let place = image(arc.place).index();
            let of_class = |entry: &crate::net::ClassWeight| {
                format!("{:?} {place} {} {}", arc.kind, entry.class.index(), number(&entry.weight))
            };
            arc.weights.iter().map(of_class).collect::<Vec<_>>()
        };
        let mut arcs: Vec<String> = arcs.flat_map(one).collect();
        arcs.sort();
        format!("{timing}; {}", arcs.join(", "))
    }
}

/// The rate or weight of a timing.
fn number_of(timing: &Timing) -> Option<&Expr> {
    match timing {
        Timing::Immediate { weight: number, .. } | Timing::Timed { delay: Delay::Exponential { rate: number }, .. } => {
            Some(number)
        }
        Timing::Timed { .. } => None,
    }
}

fn place_of(leaf: &Leaf) -> Option<PlaceId> {
    match leaf {
        Leaf::Capacity(place) => Some(*place),
        other => tokens_of(other),
    }
}

/// An expression as a text, with the image of each place; operands that may stand in any order are sorted.
fn text(expression: &Expr, image: &dyn Fn(PlaceId) -> PlaceId) -> String {
    let sorted = |operands: Vec<&Expr>| {
        let mut all: Vec<String> = operands.into_iter().map(|operand| text(operand, image)).collect();
        all.sort();
        all.join(",")
    };
    match expression {
        Expr::Number(value) => format!("{:x}", value.to_bits()),
        Expr::Leaf(Leaf::Parameter(id)) => format!("p{}", id.index()),
        Expr::Leaf(Leaf::Tokens(place, class)) => {
            format!("#{} {:?}", image(*place).index(), class.map(|class| class.index()))
        }
        Expr::Leaf(Leaf::Capacity(place)) => format!("cap{}", image(*place).index()),
        Expr::Unary(op, a) => format!("{op:?}({})", text(a, image)),
        Expr::Binary(op, a, b) => match operands(expression) {
            Some(operands) => format!("{op:?}[{}]", sorted(operands)),
            None => format!("{op:?}({},{})", text(a, image), text(b, image)),
        },
        Expr::Call(f, args) if is_symmetric(*f) => format!("{f:?}[{}]", sorted(args.iter().collect())),
        Expr::Call(f, args) => {
            format!("{f:?}({})", args.iter().map(|arg| text(arg, image)).collect::<Vec<_>>().join(","))
        }
    }
}
