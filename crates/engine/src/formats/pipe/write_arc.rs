//! Writes arcs: one element per place, transition and direction; all other properties go into instructions.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use crate::formats::pipe::complement::Complements;
use crate::formats::pipe::escape::{attribute, content};
use crate::formats::pipe::instructions::path_text;
use crate::formats::pipe::loss::Loss;
use crate::formats::pipe::names::arc_weight;
use crate::formats::pipe::write::{ONLY_FOR_PIPE, PIECE, Target, Writer};
use crate::formats::pipe::write_transition::positional_text;
use crate::net::expr::{BinaryOp, Expr, Leaf};
use crate::net::{Arc, ArcKind, ClassId, ClassWeight, PartRef, PlaceId, TransitionId};

/// The key of an arc; PIPE allows one arc per key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Slot {
    place: PlaceId,
    transition: TransitionId,
    way: Direction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Direction {
    In,
    Out,
    Inhibits,
}

fn slots(arc: &Arc) -> &'static [Direction] {
    match arc.kind {
        ArcKind::Input => &[Direction::In],
        ArcKind::Output => &[Direction::Out],
        ArcKind::Inhibitor => &[Direction::Inhibits],
        ArcKind::Test => &[Direction::In, Direction::Out],
    }
}

impl Writer<'_> {
    pub(super) fn arcs(&mut self, complements: &Complements) {
        let net = self.net;
        let mut users: BTreeMap<Slot, Vec<usize>> = BTreeMap::new();
        for (i, arc) in net.arcs().iter().enumerate() {
            for way in slots(arc) {
                let slot = Slot { place: arc.place, transition: arc.transition, way: *way };
                users.entry(slot).or_default().push(i);
            }
        }
        let mut plain = vec![true; net.arcs().len()];
        for users in users.values().filter(|users| users.len() > 1) {
            users.iter().for_each(|i| plain[*i] = false);
        }
        for (i, arc) in net.arcs().iter().enumerate() {
            plain[i] &= arc.kind != ArcKind::Test && !complements.inhibitors.contains(&i);
        }
        // if one arc of a slot is replaced, all arcs of the slot are
        for users in users.values() {
            if users.iter().any(|i| !plain[*i]) {
                users.iter().for_each(|i| plain[*i] = false);
            }
        }
        for (i, arc) in net.arcs().iter().enumerate() {
            self.warn_of(i, arc, complements, &users);
            if plain[i] {
                self.plain_arc(i, arc)
            } else {
                self.arc_instruction(arc)
            }
            self.flush(PIECE);
        }
        let arc_ids = if plain.iter().all(|plain| *plain) {
            HashSet::new()
        } else {
            net.arcs().iter().map(|arc| net.arc_id(arc)).collect()
        };
        for (slot, users) in &users {
            let users: Vec<_> = users.iter().filter(|i| !complements.inhibitors.contains(i)).collect();
            if users.iter().any(|i| !plain[**i]) {
                let arcs: Vec<_> = users.iter().map(|i| &net.arcs()[**i]).collect();
                self.stand_in(*slot, &arcs, &arc_ids);
            }
        }
        for arc in &complements.arcs {
            let transition = &net.transition(arc.transition).id;
            let ends = if arc.input { (&arc.place, transition) } else { (transition, &arc.place) };
            let weight = format!("{},{}", net.classes()[0].id, arc.weight);
            let id = format!("{} to {}", ends.0, ends.1);
            self.element(&id, ends, &weight, Direction::In, "", ONLY_FOR_PIPE);
        }
    }

    fn warn_of(&mut self, i: usize, arc: &Arc, complements: &Complements, users: &BTreeMap<Slot, Vec<usize>>) {
        let id = self.net.arc_id(arc);
        let part = PartRef::Arc(i);
        if arc.kind == ArcKind::Test {
            let message = format!("test arc `{id}` becomes a pair of arcs that take and return tokens");
            self.warn(Loss::TestArc, part, message);
        }
        if complements.inhibitors.contains(&i) {
            let message =
                format!("inhibitor arc `{id}` has a weight above 1; PIPE gets a complement place and equivalent arcs");
            self.warn(Loss::Complement, part, message);
        } else if arc.kind == ArcKind::Inhibitor && arc.weights.iter().any(|w| w.weight.as_number() != Some(1.0)) {
            let message = format!(
                "inhibitor arc `{id}` has a weight other than 1, which PIPE treats as 1; if the place of \
                 the arc had a capacity, PIPE would get a complement place instead"
            );
            self.warn(Loss::Inhibitor, part, message);
        }
        let way = slots(arc)[0];
        let slot = Slot { place: arc.place, transition: arc.transition, way };
        if users[&slot].len() > 1 && users[&slot][0] != i {
            let message =
                format!("arc `{id}` is parallel to another arc; both are merged, because PIPE would use only one arc");
            self.warn(Loss::ParallelArcs, part, message);
        }
    }

    /// The id of the node where an arc starts, and the id of the node where it ends.
    fn ends(&self, slot: Slot) -> (String, String) {
        let place = self.net.place(slot.place).id.clone();
        let transition = self.net.transition(slot.transition).id.clone();
        if slot.way == Direction::Out { (transition, place) } else { (place, transition) }
    }

    /// The kind of node that an arc starts from, if the ids are ambiguous.
    pub(super) fn from(&self, arc: &Arc) -> Option<(&'static str, String)> {
        let ids = [&self.net.place(arc.place).id, &self.net.transition(arc.transition).id];
        let from = if arc.kind == ArcKind::Output { "transition" } else { "place" };
        ids.iter().all(|id| self.shared_ids.contains(id.as_str())).then(|| ("from", from.to_owned()))
    }

    fn plain_arc(&mut self, i: usize, arc: &Arc) {
        let text = self.weights_text(&arc.weights);
        let mut pairs = Vec::new();
        if self.read_back(&text, arc.kind).as_deref() != Some(&arc.weights[..]) {
            pairs.push(self.exact_weights(&arc.weights));
            let lost = arc.kind != ArcKind::Inhibitor && arc.weights.iter().any(|w| self.is_total(&w.weight));
            if lost && self.options.target == Target::Pipe4 {
                let message = format!(
                    "the weight of arc `{}` counts tokens of another class, which PIPE 4.3 does not support",
                    self.net.arc_id(arc)
                );
                self.warn(Loss::Expression, PartRef::Arc(i), message);
            }
        }
        let tagged = arc.tagged && self.options.target == Target::Pipe4;
        if arc.tagged && !tagged {
            pairs.push(("tagged", "true".to_owned()));
        }
        pairs.extend(self.from(arc));
        let bends = if arc.path.is_empty() { self.layout().bends(i) } else { Vec::new() };
        if !bends.is_empty() {
            pairs.push(("path", "none".to_owned()));
        }
        let start = self.xml.len();
        self.instruction(&pairs);
        let instruction = self.xml.split_off(start);
        let way = slots(arc)[0];
        let ends = self.ends(Slot { place: arc.place, transition: arc.transition, way });
        let mut inner = String::new();
        if tagged {
            self.unexpected += 1;
            inner.push_str("<tagged><value>true</value></tagged>");
        }
        for (n, p) in arc.path.iter().chain(&bends).enumerate() {
            let (x, y, curved) = (p.point.x, p.point.y, p.curved);
            let _ = write!(inner, "<arcpath id=\"{n:03}\" x=\"{x:?}\" y=\"{y:?}\" curvePoint=\"{curved}\"/>");
        }
        let id = self.net.arc_id(arc);
        self.element(&id, (&ends.0, &ends.1), &text, way, &inner, &instruction);
    }

    /// Returns true if a weight counts tokens in a net with several classes.
    fn is_total(&self, weight: &Expr) -> bool {
        let mut found = false;
        weight.for_each_leaf(&mut |leaf| found |= matches!(leaf, Leaf::Tokens(..)));
        found && self.net.classes().len() > 1
    }

    fn element(
        &mut self,
        id: &str,
        ends: (&String, &String),
        weight: &str,
        way: Direction,
        inner: &str,
        instruction: &str,
    ) {
        let kind = if way == Direction::Inhibits { "inhibitor" } else { "normal" };
        let _ = writeln!(
            self.xml,
            "<arc id=\"{}\" source=\"{}\" target=\"{}\"><inscription><value>{}</value><graphics/></inscription>{inner}\
             <type value=\"{kind}\"/>{instruction}</arc>",
            attribute(id),
            attribute(ends.0),
            attribute(ends.1),
            content(weight),
        );
    }

    /// Writes an arc as an instruction, which PIPE ignores.
    pub(super) fn arc_instruction(&mut self, arc: &Arc) {
        let (way, kind) = match arc.kind {
            ArcKind::Input => (Direction::In, "normal"),
            ArcKind::Output => (Direction::Out, "normal"),
            ArcKind::Inhibitor => (Direction::Inhibits, "inhibitor"),
            ArcKind::Test => (Direction::In, "test"),
        };
        let (source, target) = self.ends(Slot { place: arc.place, transition: arc.transition, way });
        let mut pairs = vec![
            ("arc", self.net.arc_id(arc).into_owned()),
            ("source", source),
            ("target", target),
            ("kind", kind.to_owned()),
        ];
        pairs.push(self.exact_weights(&arc.weights));
        pairs.extend(self.from(arc));
        if !arc.path.is_empty() {
            pairs.push(("path", path_text(&arc.path)));
        }
        if arc.tagged {
            pairs.push(("tagged", "true".to_owned()));
        }
        self.instruction(&pairs);
        self.xml.push('\n');
    }

    /// The single arc for PIPE that replaces arcs that PIPE does not support.
    fn stand_in(&mut self, slot: Slot, arcs: &[&Arc], arc_ids: &HashSet<Cow<'_, str>>) {
        let mut sums: BTreeMap<ClassId, Expr> = BTreeMap::new();
        for weight in arcs.iter().flat_map(|a| &a.weights) {
            let sum = match sums.remove(&weight.class) {
                None => weight.weight.clone(),
                Some(sum) => combined(slot.way, sum, weight.weight.clone()),
            };
            sums.insert(weight.class, sum);
        }
        let weights: Vec<_> = sums.into_iter().map(|(class, weight)| ClassWeight { class, weight }).collect();
        let text = self.weights_text(&weights);
        let ends = self.ends(slot);
        let inhibits = if slot.way == Direction::Inhibits { " (inhibits)" } else { "" };
        let mut id = format!("{} to {}{inhibits}", ends.0, ends.1);
        while arc_ids.contains(&*id) {
            id.push('\'');
        }
        self.element(&id, (&ends.0, &ends.1), &text, slot.way, "", ONLY_FOR_PIPE);
    }

    /// `Default,1,Red,#(P0)`.
    fn weights_text(&self, weights: &[ClassWeight]) -> String {
        if weights.is_empty() {
            return format!("{},0", self.net.classes()[0].id);
        }
        let entries =
            weights.iter().map(|w| format!("{},{}", self.net.classes()[w.class.index()].id, self.weight_text(w)));
        entries.collect::<Vec<_>>().join(",")
    }

    fn weight_text(&self, weight: &ClassWeight) -> String {
        if let Some(value) = weight.weight.as_number() {
            return format!("{value}");
        }
        let own = |leaf: &Leaf| match leaf {
            Leaf::Tokens(place, class) if *class == Some(weight.class) => Leaf::Tokens(*place, None),
            other => *other,
        };
        // a count without a class means tokens of the weight's class in PIPE 4.3, and of all classes in PIPE 5
        let shown = if self.options.target == Target::Pipe4 {
            weight.weight.try_replace(&mut |leaf| Ok::<_, std::convert::Infallible>(Expr::Leaf(own(leaf))))
        } else {
            Ok(weight.weight.clone())
        };
        let Ok(shown) = shown;
        self.pipe_text(&shown).replace(',', "@")
    }

    /// The weights that the reader finds in an inscription, or `None` if it cannot read them.
    fn read_back(&self, text: &str, kind: ArcKind) -> Option<Vec<ClassWeight>> {
        let ids = &self.class_ids;
        let mut weights = Vec::new();
        for entry in crate::formats::pipe::values::class_list(text, ids) {
            let id = &text[entry.class?];
            let class = ClassId::from_index(ids.iter().position(|known| known == id)?);
            let value = text[entry.value].replace('@', ",");
            let weight = arc_weight(&value, Some(id), ids.len() > 1, &self.names).ok()?;
            weights.push(ClassWeight { class, weight });
        }
        let zero = |w: &ClassWeight| w.weight.as_number() == Some(0.0);
        (kind != ArcKind::Inhibitor || !weights.iter().any(zero)).then_some(weights)
    }

    pub(super) fn exact_weights(&self, weights: &[ClassWeight]) -> (&'static str, String) {
        let entries = weights.iter().map(|w| format!("{},{}", w.class, positional_text(&w.weight)));
        ("weights-by-position", entries.collect::<Vec<_>>().join(","))
    }
}

/// Combined weight of two parallel arcs: the sum for ordinary arcs, the smaller weight for inhibitor arcs.
fn combined(way: Direction, a: Expr, b: Expr) -> Expr {
    match (way, a.as_number(), b.as_number()) {
        (Direction::Inhibits, Some(x), Some(y)) => Expr::Number(x.min(y)),
        (Direction::Inhibits, ..) => Expr::Call(crate::net::expr::Function::Min, vec![a, b]),
        (_, Some(x), Some(y)) => Expr::Number(x + y),
        _ => Expr::Binary(BinaryOp::Add, Box::new(a), Box::new(b)),
    }
}
