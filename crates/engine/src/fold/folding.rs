//! A folded net, and how its answers translate.

use std::collections::{BTreeMap, HashMap};

use crate::fold::build::{Alike, Builder, Built};
use crate::fold::colours::Colours;
use crate::fold::graph::Graph;
use crate::fold::keep::Keep;
use crate::fold::parts::{Hindrance, Membership, Part, parts};
use crate::fold::rewrite::{At, ClassPlaces, Image, Images};
use crate::fold::safe::is_safe;
use crate::net::expr::Expr;
use crate::net::{Net, PlaceId, TransitionId};

/// Rounds in which what joins replicas is told apart.
const MOST_HUBS: usize = 12;

/// Numbers of markings below which logarithms give them exactly.
const EXACT: f64 = 1e12;

/// A net in which replicas are counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Folding {
    net: Net,
    images: Images,
    transitions: Vec<FoldedTransition>,
    classes: Vec<FoldedClass>,
    obstacles: Vec<Obstacle>,
    /// Places and transitions of the net that was folded.
    before: [usize; 2],
    /// Logarithms of 0!, 1!, ... up to the size of the largest class.
    ln_factorials: Vec<f64>,
}

/// Replicas that were folded into one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedClass {
    /// Their places, replica by replica, in the same order in each.
    pub replicas: Vec<Vec<PlaceId>>,
    /// Their transitions, likewise.
    pub transitions: Vec<Vec<TransitionId>>,
    /// The folded net's places, in that order.
    pub places: Vec<PlaceId>,
}

/// Parts that look alike and are not folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// Why.
    pub hindrance: Hindrance,
    /// Number of parts.
    pub parts: usize,
    /// A place or transition of one of them.
    pub example: String,
}

/// Where a place of the original net went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldedPlace {
    /// The folded net's place.
    pub place: PlaceId,
    /// Replicas whose tokens it holds together; 1 for a place that is not folded.
    pub replicas: usize,
    /// Number of its replica; none for a place that is not folded.
    pub replica: Option<usize>,
}

/// What a transition of the original net became.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoldedTransition {
    /// The folded net's transition.
    pub transition: TransitionId,
    /// Replicas whose transitions it fires; 1 for a transition that is not folded.
    pub replicas: usize,
    /// Whether it is that of the first replica, or not folded.
    pub is_first: bool,
    /// Its replica, and where the replica's token is before it fires.
    at: Option<At>,
}

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
    let before = [net.places().len(), net.transitions().len()];
    let mut found = Finder::default();
    let built = if net.classes().len() == 1 { found.fold(net, keep) } else { None };
    let Some((built, classes, transitions)) = built else {
        if net.classes().len() > 1 {
            found.refuse(Hindrance::TokenClasses, net.places().first().map_or("", |p| &p.id));
        }
        let shared = (0..before[0]).map(|p| Image::Shared(PlaceId::from_index(p))).collect();
        return Folding {
            images: Images::new(net, shared, Vec::new()),
            net: net.clone(),
            transitions: (0..before[1]).map(|t| FoldedTransition::shared(TransitionId::from_index(t))).collect(),
            classes: Vec::new(),
            obstacles: found.obstacles(),
            before,
            ln_factorials: Vec::new(),
        };
    };
    let Built { net, images, .. } = built;
    let most = classes.iter().map(|class| class.replicas.len()).max().unwrap_or(0);
    let mut ln_factorials = vec![0.0];
    for n in 1..=most {
        ln_factorials.push(ln_factorials[n - 1] + (n as f64).ln());
    }
    Folding { net, images, transitions, classes, obstacles: found.obstacles(), before, ln_factorials }
}

impl Folding {
    /// The folded net.
    pub fn net(&self) -> &Net {
        &self.net
    }

    /// Whether anything was folded.
    pub fn is_folded(&self) -> bool {
        !self.classes.is_empty()
    }

    /// The replicas that were folded.
    pub fn classes(&self) -> &[FoldedClass] {
        &self.classes
    }

    /// What looks alike and was not folded.
    pub fn obstacles(&self) -> &[Obstacle] {
        &self.obstacles
    }

    /// Places and transitions of the net before it was folded.
    pub fn before(&self) -> [usize; 2] {
        self.before
    }

    /// Where a place of the original net went.
    pub fn place(&self, place: PlaceId) -> FoldedPlace {
        match self.images.of[place.index()] {
            Image::Shared(place) => FoldedPlace { place, replicas: 1, replica: None },
            Image::Own { class, slot, replica } => {
                let ClassPlaces { replicas, places } = &self.images.classes[class];
                FoldedPlace { place: places[slot], replicas: *replicas, replica: Some(replica) }
            }
        }
    }

    /// What a transition of the original net became.
    pub fn transition(&self, t: TransitionId) -> FoldedTransition {
        self.transitions[t.index()]
    }

    /// A value per place of the original net, from one per place of the folded net and the share of a replica in it; nothing
    /// from nothing.
    pub fn per_place<T>(&self, folded: &[T], share: impl Fn(&T, f64) -> T) -> Vec<T> {
        let places = if folded.is_empty() { 0 } else { self.before[0] };
        let own = (0..places).map(|p| self.place(PlaceId::from_index(p)));
        own.map(|own| share(&folded[own.place.index()], 1.0 / own.replicas as f64)).collect()
    }

    /// The same per transition.
    pub fn per_transition<T>(&self, folded: &[T], share: impl Fn(&T, f64) -> T) -> Vec<T> {
        let transitions = if folded.is_empty() { &[] } else { &self.transitions[..] };
        transitions.iter().map(|own| share(&folded[own.transition.index()], 1.0 / own.replicas as f64)).collect()
    }

    /// Number of markings of the original net that a marking of the folded net stands for; exact below 2^40.
    pub fn orbit(&self, marking: &[u32]) -> f64 {
        let ln = |n: u32| self.ln_factorials[n as usize];
        let of_class = |class: &FoldedClass| {
            let replicas = class.replicas.len() as u32;
            let held = class.places.iter().map(|place| marking[place.index()]);
            let elsewhere = replicas - held.clone().sum::<u32>();
            let value = (ln(replicas) - held.map(ln).sum::<f64>() - ln(elsewhere)).exp();
            if value < EXACT { value.round() } else { value }
        };
        self.classes.iter().map(of_class).product()
    }

    /// An expression of the original net over the folded net; none if it tells replicas apart.
    pub fn expression(&self, expression: &Expr) -> Option<Expr> {
        self.images.rewrite(expression, None).ok()
    }

    /// The same for an expression that is evaluated before transition `t` of the original net fires.
    pub fn before_firing(&self, t: TransitionId, expression: &Expr) -> Option<Expr> {
        self.images.rewrite(expression, self.transitions[t.index()].at).ok()
    }
}

impl FoldedTransition {
    fn shared(transition: TransitionId) -> Self {
        Self { transition, replicas: 1, is_first: true, at: None }
    }
}

/// A folded net, its classes, and what each transition became.
type Found = (Built, Vec<FoldedClass>, Vec<FoldedTransition>);

/// The search for replicas.
#[derive(Default)]
struct Finder {
    refused: BTreeMap<Hindrance, (usize, String)>,
}

impl Finder {
    fn refuse(&mut self, hindrance: Hindrance, example: &str) {
        self.refused.entry(hindrance).or_insert_with(|| (0, example.to_owned())).0 += 1;
    }

    fn obstacles(self) -> Vec<Obstacle> {
        let all = self.refused.into_iter();
        all.map(|(hindrance, (parts, example))| Obstacle { hindrance, parts, example }).collect()
    }

    fn fold(&mut self, net: &Net, keep: &Keep) -> Option<Found> {
        let graph = Graph::new(net);
        let (parts, members, mut alike) = self.alike(&graph, keep);
        while !alike.is_empty() {
            let built = Builder::new(&graph, &parts, &members, &alike).build();
            let drop = match built {
                Err(class) => Some((class?, Hindrance::Expression)),
                Ok(built) => match unfit(&built, &alike, &parts, keep) {
                    Some(unfit) => Some(unfit),
                    None => {
                        let (classes, transitions) =
                            (classes(&built, &alike, &parts), transitions(&built, &alike, &parts));
                        return Some((built, classes, transitions));
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

    /// Parts that are the same in everything; what joins several of them is told apart, round by round.
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

/// The place of a part that many of its transitions share, such as the slots of one of several equal workers.
fn hub(graph: &Graph<'_>, part: &Part) -> Option<usize> {
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

/// A class that cannot be folded, and why.
fn unfit(built: &Built, alike: &[Alike], parts: &[Part], keep: &Keep) -> Option<(usize, Hindrance)> {
    let unsafe_class = built.images.classes.iter().position(|class| !is_safe(&built.net, &class.places));
    if let Some(class) = unsafe_class {
        return Some((class, Hindrance::MayGrow));
    }
    let asked = keep.expressions.iter().find_map(|expression| built.images.rewrite(expression, None).err());
    asked.or_else(|| unequal(built, alike, parts, keep)).map(|class| (class, Hindrance::Question))
}

/// A class of which a group or a reward observes some replicas in another way than others.
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
    let class = |(class, folded): (&Alike, &ClassPlaces)| FoldedClass {
        replicas: class
            .parts
            .iter()
            .map(|&part| parts[part].places.iter().map(|&p| PlaceId::from_index(p)).collect())
            .collect(),
        transitions: class
            .parts
            .iter()
            .map(|&part| parts[part].transitions.iter().map(|&t| TransitionId::from_index(t)).collect())
            .collect(),
        places: folded.places.clone(),
    };
    alike.iter().zip(&built.images.classes).map(class).collect()
}

fn transitions(built: &Built, alike: &[Alike], parts: &[Part]) -> Vec<FoldedTransition> {
    let mut all: Vec<FoldedTransition> = built.transitions.iter().map(|&t| FoldedTransition::shared(t)).collect();
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
