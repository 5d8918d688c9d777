//! The search for replicas, and for parts that become replicas if replaced by state machines of their local markings.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::fold::build::{Alike, Builder, Built};
use crate::fold::colours::Colours;
use crate::fold::folding::{FoldedClass, FoldedTransition, Folding, Obstacle, Replicas};
use crate::fold::graph::Graph;
use crate::fold::keep::Keep;
use crate::fold::machine::Machine;
use crate::fold::parts::{Hindrance, Membership, Part, parts};
use crate::fold::rewrite::{At, ClassPlaces};
use crate::fold::safe::is_safe;
use crate::fold::unroll::{Unrolled, Unroller};
use crate::net::expr::Expr;
use crate::net::{Net, PlaceId, TransitionId};

/// Maximum number of rounds that distinguish places joining several replicas.
pub(super) const MOST_HUBS: usize = 12;

/// Folds a net as far as `keep` allows.
///
/// # Examples
///
/// ```
/// use tailspn_engine::fold::{Keep, fold};
/// use tailspn_engine::net::{NetBuilder, Timing};
///
/// // a hundred tasks, each on its own
/// let mut b = NetBuilder::new("tasks");
/// let done = b.place("done", 0);
/// for i in 0..100 {
///     let todo = b.place(format!("todo{i}"), 1);
///     let task = b.transition(format!("task{i}"), Timing::exponential(0.5));
///     b.input(todo, task, 1.0);
///     b.output(task, done, 1.0);
/// }
/// let folding = fold(&b.build().unwrap(), &Keep::default());
/// assert_eq!(folding.net().places().len(), 2);
/// assert_eq!(folding.net().transitions().len(), 1);
/// ```
pub fn fold(net: &Net, keep: &Keep) -> Folding {
    search(net, keep).0
}

/// Folds a net as far as `keep` allows, including parts of several tokens with at most 50 local markings. Each of these
/// parts becomes a state machine of its local markings. One transition of the part may become several transitions of
/// the state machine, see [`Folding::transitions`].
pub fn fold_markings(net: &Net, keep: &Keep) -> Folding {
    let (plain, finder) = search(net, keep);
    if !finder.unrollable {
        return plain;
    }
    let graph = Graph::new(net);
    let mut candidates = Candidates::new(&graph, keep);
    while !candidates.machines.is_empty() {
        let Candidates { parts, members, machines, .. } = &candidates;
        let Ok(unrolled) = Unroller::new(&graph, parts, members, machines).unroll() else { break };
        let (folding, finder) = search(&unrolled.net, &unrolled.keep(keep));
        let mut left = candidates.left_over(&unrolled, &folding, &finder);
        if left.is_empty() {
            left = candidates.overfilled(&unrolled, &folding);
        }
        if left.is_empty() {
            let gains = folding.gain() > plain.gain();
            return if gains {
                folding.of_unrolled(unrolled, plain.before(), candidates.obstacles(finder))
            } else {
                plain
            };
        }
        left.into_iter().for_each(|(part, hindrance)| candidates.refuse(&graph, part, hindrance));
    }
    plain.with_obstacles(candidates.obstacles(finder))
}

/// Folds replicas of one token.
fn search(net: &Net, keep: &Keep) -> (Folding, Finder) {
    let before = [net.places().len(), net.transitions().len()];
    let mut finder = Finder::default();
    let found = if net.classes().len() == 1 { finder.fold(net, keep) } else { None };
    if net.classes().len() > 1 {
        finder.refuse(Hindrance::TokenClasses, net.places().first().map_or("", |p| &p.id));
    }
    let obstacles = finder.obstacles(|_| None);
    let folding = match found {
        Some(found) => Folding::new(found, before, obstacles),
        None => Folding::none(net, obstacles),
    };
    (folding, finder)
}

/// The search for replicas.
#[derive(Default)]
struct Finder {
    /// Parts that are not folded: the reason, and the name of a place or transition of the part.
    refused: Vec<(Hindrance, String)>,
    /// True if some part may be a state machine of its local markings.
    unrollable: bool,
}

impl Finder {
    fn refuse(&mut self, hindrance: Hindrance, example: &str) {
        self.refused.push((hindrance, example.to_owned()));
    }

    /// The parts that are not folded; `reason` may return a better reason for the part of a given name.
    fn obstacles(&self, reason: impl Fn(&str) -> Option<Hindrance>) -> Vec<Obstacle> {
        let mut all: BTreeMap<Hindrance, (usize, &str)> = BTreeMap::new();
        for (hindrance, example) in &self.refused {
            let hindrance = reason(example).unwrap_or(*hindrance);
            all.entry(hindrance).or_insert((0, example)).0 += 1;
        }
        let all = all.into_iter();
        all.map(|(hindrance, (parts, name))| Obstacle { hindrance, parts, example: name.to_owned() }).collect()
    }

    fn fold(&mut self, net: &Net, keep: &Keep) -> Option<Replicas> {
        let graph = Graph::new(net);
        let (parts, members, mut alike) = self.alike(&graph, keep);
        while !alike.is_empty() {
            let built = Builder::new(&graph, &parts, &members, &alike).build();
            let drop = match built {
                Err(class) => Some((class?, Hindrance::Expression)),
                Ok(built) => match unfit(&built, &alike, &parts, keep) {
                    Some(unfit) => Some(unfit),
                    None => {
                        let classes = classes(&built, &alike, &parts);
                        let transitions = transitions(&built, &alike, &parts);
                        return Some(Replicas { net: built.net, images: built.images, classes, transitions });
                    }
                },
            };
            let (class, hindrance) = drop?;
            let class = alike.remove(class);
            for part in class.parts {
                self.refuse(hindrance, name(net, &parts[part]));
            }
        }
        None
    }

    /// Finds parts that are equal in all properties, in rounds that distinguish the places joining several parts.
    fn alike(&mut self, graph: &Graph<'_>, keep: &Keep) -> (Vec<Part>, Membership, Vec<Alike>) {
        let mut colours = Colours::new(graph, keep);
        for round in 0.. {
            colours.refine();
            let (parts, members) = parts(graph, &colours);
            let mut found: Vec<Alike> = Vec::new();
            let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
            let mut refused = Vec::new();
            for (i, part) in parts.iter().enumerate() {
                match part.signature(i, graph, &members) {
                    Ok(signature) => {
                        let known = by_hash.entry(signature.hash()).or_default();
                        match known.iter().find(|&&class| found[class].signature == signature) {
                            Some(&class) => found[class].parts.push(i),
                            None => {
                                known.push(found.len());
                                found.push(Alike { parts: vec![i], signature });
                            }
                        }
                    }
                    Err(hindrance) => refused.push((i, hindrance)),
                }
            }
            self.unrollable |= refused.iter().any(|own| own.1.may_unroll());
            let hubs: Vec<usize> = refused.iter().filter_map(|&(i, _)| hub(graph, &parts[i])).collect();
            if round < MOST_HUBS && !hubs.is_empty() {
                hubs.into_iter().for_each(|place| colours.single_out(place));
                continue;
            }
            for (i, hindrance) in refused {
                self.refuse(hindrance, name(graph.net, &parts[i]));
            }
            found.retain(|class| class.parts.len() > 1);
            return (parts, members, found);
        }
        unreachable!("the loop returns")
    }
}

/// Parts that become state machines of their local markings.
struct Candidates {
    parts: Vec<Part>,
    members: Membership,
    machines: BTreeMap<usize, Machine>,
    /// Reasons why other parts are not folded, by the name of a place or transition of the part.
    refused: HashMap<String, Hindrance>,
}

impl Candidates {
    /// Finds parts with a machine, in rounds that distinguish the places joining several of the other parts.
    fn new(graph: &Graph<'_>, keep: &Keep) -> Self {
        let mut colours = Colours::new(graph, keep);
        for round in 0.. {
            colours.refine();
            let (parts, members) = parts(graph, &colours);
            let (mut machines, mut refused) = (BTreeMap::new(), HashMap::new());
            let mut hubs = Vec::new();
            for (i, part) in parts.iter().enumerate() {
                let Err(hindrance) = part.signature(i, graph, &members) else { continue };
                let machine =
                    if hindrance.may_unroll() { Machine::new(i, part, graph, &members) } else { Err(hindrance) };
                match machine {
                    Ok(machine) => _ = machines.insert(i, machine),
                    Err(hindrance) => {
                        refused.insert(name(graph.net, part).to_owned(), hindrance);
                        hubs.extend(hub(graph, part));
                    }
                }
            }
            if round < MOST_HUBS && !hubs.is_empty() {
                hubs.into_iter().for_each(|place| colours.single_out(place));
                continue;
            }
            return Self { parts, members, machines, refused };
        }
        unreachable!("the loop returns")
    }

    /// Parts whose machines were not folded, and the reason if it is known.
    fn left_over(&self, unrolled: &Unrolled, folding: &Folding, finder: &Finder) -> Vec<(usize, Option<Hindrance>)> {
        let part = |place: PlaceId| unrolled.machine[place.index()];
        let places = (0..unrolled.net.places().len()).map(PlaceId::from_index);
        let is_apart = |&place: &PlaceId| folding.places(place).iter().any(|own| own.replica.is_none());
        let apart: BTreeSet<usize> = places.filter(is_apart).filter_map(part).collect();
        let mut reasons = HashMap::new();
        for (hindrance, example) in &finder.refused {
            if let Some(part) = unrolled.net.find_place(example).and_then(part) {
                reasons.insert(part, *hindrance);
            }
        }
        apart.into_iter().map(|own| (own, reasons.get(&own).copied())).collect()
    }

    /// Parts that a shared transition might fill while the parts still hold tokens.
    fn overfilled(&self, unrolled: &Unrolled, folding: &Folding) -> Vec<(usize, Option<Hindrance>)> {
        let mut places: BTreeMap<usize, BTreeSet<PlaceId>> = BTreeMap::new();
        for (state, part) in unrolled.machine.iter().enumerate() {
            if let Some(part) = part.filter(|part| self.machines[part].nowhere.is_some()) {
                let folded = folding.places(PlaceId::from_index(state)).into_iter().map(|own| own.place);
                places.entry(part).or_default().extend(folded);
            }
        }
        // equal parts have the same folded places
        let mut safe: BTreeMap<BTreeSet<PlaceId>, bool> = BTreeMap::new();
        places.retain(|_, own| {
            let all = || own.iter().copied().collect::<Vec<_>>();
            !*safe.entry(own.clone()).or_insert_with(|| is_safe(folding.net(), &all()))
        });
        places.into_keys().map(|part| (part, Some(Hindrance::MayGrow))).collect()
    }

    fn refuse(&mut self, graph: &Graph<'_>, part: usize, hindrance: Option<Hindrance>) {
        self.machines.remove(&part);
        if let Some(hindrance) = hindrance {
            self.refused.insert(name(graph.net, &self.parts[part]).to_owned(), hindrance);
        }
    }

    fn obstacles(&self, finder: Finder) -> Vec<Obstacle> {
        finder.obstacles(|name| self.refused.get(name).copied())
    }
}

/// The place that many transitions of a part share, if any, such as the slots of one of several equal workers.
pub(super) fn hub(graph: &Graph<'_>, part: &Part) -> Option<usize> {
    let degree = |place: usize| graph.touching[place].len();
    let most = part.places.iter().copied().max_by_key(|&place| (degree(place), std::cmp::Reverse(place)))?;
    let total: usize = part.places.iter().map(|&place| degree(place)).sum();
    (degree(most) > 3 && degree(most) * part.places.len() > 2 * total).then_some(most)
}

fn name<'a>(net: &'a Net, part: &Part) -> &'a str {
    match (part.places.iter().min(), part.transitions.first()) {
        (Some(&place), _) => &net.places()[place].id,
        (None, Some(&t)) => &net.transitions()[t].id,
        (None, None) => "",
    }
}

/// A class that cannot be folded, and the reason.
fn unfit(built: &Built, alike: &[Alike], parts: &[Part], keep: &Keep) -> Option<(usize, Hindrance)> {
    let unsafe_class = built.images.classes.iter().position(|class| !is_safe(&built.net, &class.places));
    if let Some(class) = unsafe_class {
        return Some((class, Hindrance::MayGrow));
    }
    let asked = keep.expressions.iter().find_map(|expression| built.images.rewrite(expression, None).err());
    asked.or_else(|| unequal(built, alike, parts, keep)).map(|class| (class, Hindrance::Question))
}

/// A class whose replicas are not all treated alike by some group or reward.
fn unequal(built: &Built, alike: &[Alike], parts: &[Part], keep: &Keep) -> Option<usize> {
    let mut groups: HashMap<usize, Vec<usize>> = HashMap::new();
    for (i, group) in keep.groups.iter().enumerate() {
        group.iter().for_each(|&t| groups.entry(t).or_default().push(i));
    }
    let mut impulses: HashMap<usize, Vec<(usize, &Expr)>> = HashMap::new();
    for (reward, t, amount) in &keep.impulses {
        impulses.entry(*t).or_default().push((*reward, amount));
    }
    (0..alike.len()).find(|&class| {
        let moves = &alike[class].signature.moves;
        (0..moves.len()).any(|slot| {
            let observed = |replica: usize| {
                let t = parts[alike[class].parts[replica]].transitions[slot];
                let at = At { class, replica, slot: moves[slot].from };
                let own = impulses.get(&t).into_iter().flatten();
                let amounts: Result<Vec<_>, usize> =
                    own.map(|(reward, amount)| Ok((*reward, built.images.rewrite(amount, Some(at))?))).collect();
                amounts.ok().map(|amounts| (groups.get(&t), amounts))
            };
            let first = observed(0);
            first.is_none() || (1..alike[class].parts.len()).any(|replica| observed(replica) != first)
        })
    })
}

fn classes(built: &Built, alike: &[Alike], parts: &[Part]) -> Vec<FoldedClass> {
    let class = |(class, folded): (&Alike, &ClassPlaces)| {
        let all = || class.parts.iter().map(|&part| &parts[part]);
        let transitions = |part: &Part| part.transitions.iter().map(|&t| TransitionId::from_index(t)).collect();
        let first = all().next().map(|part| &part.transitions[..]).unwrap_or_default();
        FoldedClass {
            replicas: class.parts.len(),
            places: folded.places.clone(),
            markings: all()
                .map(|part| part.places.iter().map(|&p| vec![(PlaceId::from_index(p), 1)]).collect())
                .collect(),
            transitions: all().map(transitions).collect(),
            folded: first.iter().map(|&t| built.transitions[t]).collect(),
        }
    };
    alike.iter().zip(&built.images.classes).map(class).collect()
}

fn transitions(built: &Built, alike: &[Alike], parts: &[Part]) -> Vec<FoldedTransition> {
    let shared = |(t, &new)| FoldedTransition::shared(new, TransitionId::from_index(t));
    let mut all: Vec<FoldedTransition> = built.transitions.iter().enumerate().map(shared).collect();
    for (class, own) in alike.iter().enumerate() {
        for (replica, &part) in own.parts.iter().enumerate() {
            for (one, &t) in own.signature.moves.iter().zip(&parts[part].transitions) {
                let at = Some(At { class, replica, slot: one.from });
                all[t] = FoldedTransition { replicas: own.parts.len(), is_first: replica == 0, at, ..all[t] };
            }
        }
    }
    all
}
