//! Second pass, the arcs: their nodes, kinds and weights.

use std::collections::{HashMap, HashSet};

use crate::formats::pipe::assemble::{Assembler, Node};
use crate::formats::pipe::names::arc_weight;
use crate::formats::pipe::options::Reading;
use crate::formats::pipe::problem::{Fault, Oddity};
use crate::formats::pipe::raw::{RawArc, RawNet, RawReference};
use crate::formats::pipe::resolve::number;
use crate::formats::pipe::values::{What, class_list, inside};
use crate::formats::pipe::xml::Text;
use crate::net::expr::Expr;
use crate::net::{Arc, ArcKind, ClassId, ClassWeight, PlaceId, TransitionId};

/// Maximum length of a chain of references.
const MAX_REFERENCES: usize = 64;

/// Adds the arcs of a file to a builder.
#[derive(Debug)]
pub(super) struct Joiner<'a, 'n, 'o, 't> {
    assembler: &'a mut Assembler<'n, 'o, 't>,
    /// Nodes by id in lower case; `None` if several are equal. Built when an id was not found as written.
    folded: Option<HashMap<String, Option<Node>>>,
}

/// Ids of arcs.
#[derive(Debug)]
struct Ids<'r> {
    used: HashSet<&'r str>,
    /// All ids of the file and generated ids, built when an id must be generated.
    all: HashSet<String>,
    unnamed: usize,
    /// Per id: the next number to append for another arc with the same id.
    next: HashMap<&'r str, u64>,
}

impl<'r> Ids<'r> {
    /// The first of `candidates` that is not the id of an arc.
    fn fresh(&mut self, raw: &'r RawNet<'_>, mut candidates: impl Iterator<Item = String>) -> String {
        if self.all.is_empty() {
            self.all = raw.arcs.iter().filter_map(|a| a.id.as_ref()).map(|id| id.value.clone().into_owned()).collect();
        }
        candidates.find(|id| self.all.insert(id.clone())).expect("there are more candidates than arcs")
    }
}

impl<'a, 'n, 'o, 't> Joiner<'a, 'n, 'o, 't> {
    pub(super) fn new(assembler: &'a mut Assembler<'n, 'o, 't>) -> Self {
        Self { assembler, folded: None }
    }

    /// Adds all arcs of the file.
    pub(super) fn arcs(&mut self, raw: &RawNet<'t>) {
        self.references(&raw.references);
        let mut ids =
            Ids { used: HashSet::with_capacity(raw.arcs.len()), all: HashSet::new(), unnamed: 0, next: HashMap::new() };
        for arc in &raw.arcs {
            let id = self.id(raw, arc, &mut ids);
            self.arc(arc, id);
        }
    }

    /// Replaces the ids of reference nodes by the nodes that they refer to.
    fn references(&mut self, references: &[RawReference<'t>]) {
        let targets: HashMap<&str, &str> = references.iter().map(|r| (&*r.id.value, &*r.target.value)).collect();
        for reference in references {
            let mut target = &*reference.target.value;
            for _ in 0..MAX_REFERENCES {
                match targets.get(target) {
                    Some(next) => target = next,
                    None => break,
                }
            }
            let node = self.assembler.node(target);
            let found = node.filter(|n| {
                if reference.kind == "place" { n.place } else { None }.is_some() || {
                    reference.kind == "transition" && n.transition.is_some()
                }
            });
            match found {
                Some(node) => {
                    self.assembler.references.insert(reference.id.value.clone(), node);
                }
                None => self.assembler.notes.fault(
                    reference.target.span.clone(),
                    Fault::Reference {
                        id: reference.id.value.clone().into_owned(),
                        target: reference.target.value.clone().into_owned(),
                        kind: reference.kind,
                    },
                ),
            }
        }
    }

    /// The node whose id matches if letter case is ignored.
    fn folded(&mut self, id: &str) -> Option<Node> {
        let reading = self.assembler.options.id_case;
        if reading == Reading::Pipe5 {
            return None;
        }
        if self.folded.is_none() {
            let mut folded: HashMap<String, Option<Node>> = HashMap::new();
            for id in self.assembler.builder.node_ids() {
                let Some(node) = self.assembler.node(id) else { continue };
                let entry = folded.entry(id.to_lowercase());
                if reading == Reading::Pipe43 {
                    // the last one wins
                    let known = entry.or_insert(None);
                    let before = known.unwrap_or_default();
                    let (place, transition) = (node.place.or(before.place), node.transition.or(before.transition));
                    *known = Some(Node { place, transition });
                } else {
                    entry.and_modify(|several| *several = None).or_insert(Some(node));
                }
            }
            self.folded = Some(folded);
        }
        self.folded.as_ref()?.get(&id.trim().to_lowercase()).copied().flatten()
    }

    /// The node of this id.
    fn node(&mut self, arc: &RawArc<'t>, end: &'static str, id: &Text<'t>) -> Option<Node> {
        let exact = self.assembler.node(&id.value);
        let ignores_case = self.assembler.options.id_case == Reading::Pipe43;
        if let Some(node) = exact.filter(|_| !ignores_case) {
            return Some(node);
        }
        let folded = self.folded(&id.value);
        if folded.is_some() && exact.is_none() {
            self.assembler.notes.odd(id.span.clone(), Oddity::LetterCase, || {
                format!(
                    "the arc refers to `{}`, but the id of the node has other letter case or blanks. PIPE 5 does not find the node; option `id_case` sets whether tailspn does",
                    id.value
                )
            });
        }
        let node = folded.or(exact);
        if node.is_none() && !self.assembler.refused.contains(&*id.value) {
            let fault = Fault::UnknownNode { arc: arc_id(arc), end, id: id.value.clone().into_owned() };
            self.assembler.notes.fault(id.span.clone(), fault);
        }
        node
    }

    /// The place, the transition, and true if the arc leaves the place.
    fn ends(&mut self, arc: &RawArc<'t>) -> Option<(PlaceId, TransitionId, bool)> {
        let (source, target) = (self.node(arc, "source", &arc.source), self.node(arc, "target", &arc.target));
        let (source, target) = (source?, target?);
        let from_place = source.place.zip(target.transition);
        let from_transition = target.place.zip(source.transition);
        let fault = match (from_place, from_transition) {
            (Some((place, transition)), None) => return Some((place, transition, true)),
            (None, Some((place, transition))) => return Some((place, transition, false)),
            (Some((place, transition)), Some(other)) if arc.instructions.get("from").is_some() => {
                let from_place = arc.instructions.get("from").is_some_and(|from| from.value == "place");
                let (place, transition) = if from_place { (place, transition) } else { other };
                return Some((place, transition, from_place));
            }
            (Some(_), Some(_)) => Fault::AmbiguousArc {
                arc: arc_id(arc),
                source_id: arc.source.value.clone().into_owned(),
                target: arc.target.value.clone().into_owned(),
            },
            (None, None) => {
                let kind = if source.place.is_some() { "places" } else { "transitions" };
                Fault::SameKind { arc: arc_id(arc), kind }
            }
        };
        self.assembler.notes.fault(arc.tag.clone(), fault);
        None
    }

    /// Adds an arc with this id.
    pub(super) fn arc(&mut self, raw: &RawArc<'t>, id: String) {
        let Some((place, transition, from_place)) = self.ends(raw) else { return };
        let Some(kind) = self.kind(raw, from_place) else { return };
        let Some((kind, weights)) = self.weights(raw, kind, &id) else { return };
        self.assembler.spans.arcs.push(raw.tag.clone());
        let path = raw.path.clone();
        self.assembler.builder.add_arc(Arc { id, kind, place, transition, weights, path, tagged: raw.tagged });
    }

    fn id<'r>(&mut self, net: &'r RawNet<'t>, raw: &'r RawArc<'t>, ids: &mut Ids<'r>) -> String {
        let Some(id) = &raw.id else {
            self.assembler.notes.odd(raw.tag.clone(), Oddity::MissingArcId, || {
                "an arc has no id, which PIPE 5 refuses; the arc gets an id, as in PIPE 4.3".to_owned()
            });
            let first = ids.unnamed;
            ids.unnamed += 1;
            return ids.fresh(net, (first..).map(|n| format!("A{n}")));
        };
        if ids.used.insert(&id.value) {
            return id.value.clone().into_owned();
        }
        let next = ids.next.entry(&id.value).or_insert(1);
        *next += 1;
        let first = *next;
        let fresh = ids.fresh(net, (first..).map(|n| format!("{} ({n})", id.value)));
        self.assembler.notes.odd(id.span.clone(), Oddity::DuplicateArcId, || {
            format!(
                "arc id `{}` is used twice; PIPE 5 would drop one arc, so the second arc is renamed `{fresh}`",
                id.value
            )
        });
        fresh
    }

    fn kind(&mut self, raw: &RawArc<'t>, from_place: bool) -> Option<ArcKind> {
        let ordinary = if from_place { ArcKind::Input } else { ArcKind::Output };
        let Some(text) = &raw.kind else { return Some(ordinary) };
        match &*text.value {
            "normal" | "regular" | "input" | "output" | "" => Some(ordinary),
            "test" | "read" if from_place => Some(ArcKind::Test),
            "inhibitor" | "inhibition" if from_place => Some(ArcKind::Inhibitor),
            "inhibitor" | "inhibition" => {
                if self.assembler.options.output_inhibitor == Reading::Pipe43 {
                    self.assembler.notes.odd(text.span.clone(), Oddity::Dropped, || {
                        format!("inhibitor arc `{}` goes to a place and has no effect; ignored", arc_id(raw))
                    });
                } else {
                    let fault = Fault::InhibitorFromTransition { arc: arc_id(raw) };
                    self.assembler.notes.fault(text.span.clone(), fault);
                }
                None
            }
            "timed" if self.assembler.tapaal => Some(ordinary),
            "tapnInhibitor" if self.assembler.tapaal && from_place => Some(ArcKind::Inhibitor),
            other if self.assembler.untimed || other == "reset" => {
                let what = format!("arc `{}` has the type `{other}`", arc_id(raw));
                self.assembler
                    .notes
                    .fault(text.span.clone(), Fault::Formalism { what, formalism: "arcs of this type" });
                None
            }
            other => {
                self.assembler.notes.odd(text.span.clone(), Oddity::ArcType, || {
                    format!("unknown arc type `{other}`; the arc is read as an ordinary arc, as in PIPE")
                });
                Some(ordinary)
            }
        }
    }

    /// The weights of an arc; without a weight, its kind may change.
    fn weights(&mut self, raw: &RawArc<'t>, kind: ArcKind, id: &str) -> Option<(ArcKind, Vec<ClassWeight>)> {
        let what = What { value: "the weight of ", part: "arc", id };
        let instructions = &raw.instructions;
        if let Some(text) = instructions.get("weights-by-position") {
            return self.list(text, what, true).map(|weights| (kind, weights));
        }
        if let Some(text) = instructions.get("weights") {
            return self.list(text, what, false).map(|weights| (kind, weights));
        }
        let text = raw.weight.as_ref().filter(|text| !text.value.is_empty());
        let Some(text) = text else { return Some(self.missing_weight(raw, kind, id)) };
        let mut weights = self.list(text, what, false)?;
        if kind == ArcKind::Inhibitor {
            self.drop_inhibitor_zeros(&mut weights, text, id);
        }
        Some((kind, weights))
    }

    fn missing_weight(&mut self, raw: &RawArc<'t>, kind: ArcKind, id: &str) -> (ArcKind, Vec<ClassWeight>) {
        let class = self.assembler.plain_class(&raw.tag);
        let one = |kind| (kind, vec![ClassWeight { class, weight: Expr::Number(1.0) }]);
        // PIPE writes inhibitor arcs of weight 1 without a weight; in PNML, a missing weight is 1
        if kind == ArcKind::Inhibitor || self.assembler.untimed {
            return one(kind);
        }
        let read_as = match (self.assembler.options.missing_inscription, kind) {
            (Reading::Sensible, _) => one(kind),
            (Reading::Pipe5, ArcKind::Input) => one(ArcKind::Test),
            _ => (kind, Vec::new()),
        };
        self.assembler.notes.odd(raw.tag.clone(), Oddity::MissingInscription, || {
            let meaning = if read_as.1.is_empty() { "0" } else { "1" };
            format!(
                "arc `{id}` has no weight, so PIPE 4.3.0 and PIPE 5 move no token; the weight is read as {meaning} \
                 (option `missing_inscription`)"
            )
        });
        read_as
    }

    /// Removes classes of weight 0, which do not inhibit, unless all weights are 0: PIPE treats every inhibitor weight as 1.
    fn drop_inhibitor_zeros(&mut self, weights: &mut Vec<ClassWeight>, text: &Text<'t>, id: &str) {
        let zero = |w: &ClassWeight| w.weight.as_number() == Some(0.0);
        if !weights.iter().all(zero) {
            weights.retain(|w| !zero(w));
        } else if let Some(first) = weights.first_mut() {
            first.weight = Expr::Number(1.0);
            weights.truncate(1);
            self.assembler.notes.odd(text.span.clone(), Oddity::InhibitorZero, || {
                format!("inhibitor arc `{id}` has weight 0; it is read as 1, as PIPE does for all inhibitor arcs")
            });
        }
    }

    fn list(&mut self, text: &Text<'t>, what: What<'_>, by_position: bool) -> Option<Vec<ClassWeight>> {
        let mut fine = true;
        let entries = class_list(&text.value, if by_position { &[] } else { &self.assembler.odd_class_ids });
        let mut weights = Vec::with_capacity(entries.len());
        for entry in entries {
            let class = match entry.class {
                Some(range) if by_position => {
                    let position = text.value[range].trim_start_matches('c').parse().ok();
                    position.filter(|i| *i < self.assembler.class_ids.len()).map(ClassId::from_index)
                }
                Some(range) => self.assembler.used_class(&text.value[range.clone()], what, inside(text, range)),
                None => Some(self.assembler.plain_class(&text.span)),
            };
            let value = Text { value: text.value[entry.value.clone()].into(), span: inside(text, entry.value) };
            let weight = class.and_then(|class| self.weight(&value, class, what, by_position));
            match class.zip(weight) {
                Some((class, weight)) => weights.push(ClassWeight { class, weight }),
                None => fine = false,
            }
        }
        fine.then_some(weights)
    }

    fn weight(&mut self, text: &Text<'_>, class: ClassId, what: What<'_>, by_position: bool) -> Option<Expr> {
        if let Some(value) = number(&text.value) {
            return Some(Expr::Number(value));
        }
        let assembler = &mut *self.assembler;
        let result = if by_position {
            assembler.positional(text)
        } else {
            let commas = text.value.replace('@', ",");
            let own = assembler.class_ids[class.index()].clone();
            let several = assembler.names.class_count() > 1;
            let result = arc_weight(&commas, Some(&own), several, &*assembler);
            assembler.note_names(&commas, text);
            result
        };
        match result {
            Ok(weight) => Some(weight),
            Err(error) => {
                assembler.bad_expression(what, text, &error);
                None
            }
        }
    }
}

fn arc_id(raw: &RawArc<'_>) -> String {
    let id = raw.id.as_ref().map(|id| id.value.clone().into_owned());
    id.unwrap_or_else(|| format!("{} to {}", raw.source.value, raw.target.value))
}
