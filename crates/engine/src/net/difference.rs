//! Comparison of two nets by the meaning of their parts, which are matched by id. The drawing is ignored.

use std::collections::BTreeMap;

use crate::net::expr::Expr;
use crate::net::{Arc, ArcKind, Delay, Net, Place, Servers, Timing, Transition};

/// A kind of part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A token class.
    Class,
    /// A rate parameter.
    Parameter,
    /// A place.
    Place,
    /// A transition.
    Transition,
    /// All arcs of one kind from one node to another.
    Arc,
}

impl Part {
    /// Word for the kind of part.
    pub fn word(self) -> &'static str {
        match self {
            Self::Class => "class",
            Self::Parameter => "parameter",
            Self::Place => "place",
            Self::Transition => "transition",
            Self::Arc => "arc",
        }
    }
}

/// Something that is not the same in two nets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The kind of part.
    pub part: Part,
    /// Id of the part; for an arc, its ends.
    pub name: String,
    /// The property that differs, such as `tokens`; `there` if the part is missing in one of the nets.
    pub what: &'static str,
    /// Value in the first net; none if the part is missing there.
    pub first: Option<String>,
    /// Value in the second net; none if the part is missing there.
    pub second: Option<String>,
}

/// Properties of a part, in a fixed order.
type Properties = Vec<(&'static str, String)>;

/// All differences of two nets, by kind of part and name: classes, parameters, places, transitions, arcs. Empty if
/// the nets are equivalent: names, positions and the order of parts do not count. Expressions are compared as text.
pub fn differences(first: &Net, second: &Net) -> Vec<Difference> {
    let (first, second) = (parts(first), parts(second));
    let mut found = Vec::new();
    for ((part, name), own) in &first {
        let new = |what, first, second| Difference { part: *part, name: name.clone(), what, first, second };
        match second.get(&(*part, name.clone())) {
            None => found.push(new("there", Some("yes".to_owned()), None)),
            Some(other) => found.extend(
                own.iter()
                    .zip(other)
                    .filter(|(own, other)| own.1 != other.1)
                    .map(|(own, other)| new(own.0, Some(own.1.clone()), Some(other.1.clone()))),
            ),
        }
    }
    let missing = second.keys().filter(|key| !first.contains_key(*key));
    found.extend(missing.map(|(part, name)| {
        let (part, name, second) = (*part, name.clone(), Some("yes".to_owned()));
        Difference { part, name, what: "there", first: None, second }
    }));
    found.sort_by(|a, b| (a.part, &a.name).cmp(&(b.part, &b.name)));
    found
}

/// Every part with its meaning.
fn parts(net: &Net) -> BTreeMap<(Part, String), Properties> {
    let mut parts = BTreeMap::new();
    for class in net.classes() {
        parts.insert((Part::Class, class.id.clone()), Vec::new());
    }
    for parameter in net.parameters() {
        let value = net.expression_text(&parameter.value);
        parts.insert((Part::Parameter, parameter.name.clone()), vec![("value", value)]);
    }
    for place in net.places() {
        parts.insert((Part::Place, place.id.clone()), place_properties(net, place));
    }
    for transition in net.transitions() {
        parts.insert((Part::Transition, transition.id.clone()), transition_properties(net, transition));
    }
    let mut weights: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for arc in net.arcs() {
        weights.entry(ends(net, arc)).or_default().push(weight(net, arc));
    }
    for (name, mut weights) in weights {
        weights.sort_unstable();
        parts.insert((Part::Arc, name), vec![("weight", weights.join(" and "))]);
    }
    parts
}

fn place_properties(net: &Net, place: &Place) -> Properties {
    let classes = net.classes().iter().zip(&place.initial).filter(|(_, tokens)| **tokens > 0);
    let tokens: Vec<String> = classes.map(|(class, tokens)| counted(net, tokens, &class.id)).collect();
    let tokens = if tokens.is_empty() { "0".to_owned() } else { tokens.join(" + ") };
    let capacity = place.capacity.map_or_else(|| "none".to_owned(), |capacity| capacity.to_string());
    vec![("tokens", tokens), ("capacity", capacity)]
}

/// A number of tokens, with the class if there are several.
fn counted(net: &Net, tokens: impl ToString, class: &str) -> String {
    if net.classes().len() == 1 { tokens.to_string() } else { format!("{} {class}", tokens.to_string()) }
}

fn transition_properties(net: &Net, transition: &Transition) -> Properties {
    let text = |expression: &Expr| net.expression_text(expression);
    let none = || "-".to_owned();
    let (kind, rate, servers, memory, priority) = match &transition.timing {
        Timing::Immediate { weight, priority } => {
            ("immediate".to_owned(), text(weight), none(), none(), priority.to_string())
        }
        Timing::Timed { delay, servers, memory } => {
            let (kind, rate) = match delay {
                Delay::Exponential { rate } => ("exponential".to_owned(), text(rate)),
                Delay::General(law) => (format!("{law:?}"), none()),
            };
            let servers = match servers {
                Servers::Single => "1".to_owned(),
                Servers::Infinite => "infinite".to_owned(),
                Servers::Limited(most) => most.to_string(),
            };
            (kind, rate, servers, format!("{memory:?}").to_lowercase(), none())
        }
    };
    vec![("delay", kind), ("rate or weight", rate), ("servers", servers), ("memory", memory), ("priority", priority)]
}

/// The ends of an arc, and its kind.
fn ends(net: &Net, arc: &Arc) -> String {
    let (place, transition) = (&net.place(arc.place).id, &net.transition(arc.transition).id);
    match arc.kind {
        ArcKind::Input => format!("{place} to {transition}"),
        ArcKind::Output => format!("{transition} to {place}"),
        ArcKind::Inhibitor => format!("{place} inhibits {transition}"),
        ArcKind::Test => format!("{place} tested by {transition}"),
    }
}

fn weight(net: &Net, arc: &Arc) -> String {
    let weights = arc.weights.iter().filter(|weight| weight.weight.as_number() != Some(0.0));
    let texts = weights
        .map(|weight| counted(net, net.expression_text(&weight.weight), &net.classes()[weight.class.index()].id));
    let texts: Vec<String> = texts.collect();
    if texts.is_empty() { "0".to_owned() } else { texts.join(" + ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::NetBuilder;

    /// A queue of capacity `room` with a server of this rate; `spare` adds a place.
    fn queue(room: u32, rate: f64, weight: f64, spare: bool) -> Net {
        let mut b = NetBuilder::new("queue");
        if spare {
            b.place("spare", 1);
        }
        let queue = b.place("queue", 0);
        b.place_mut(queue).capacity = Some(room);
        let serve = b.transition("serve", Timing::exponential(rate));
        b.input(queue, serve, weight);
        b.build().unwrap()
    }

    fn told(first: &Net, second: &Net) -> Vec<String> {
        let side = |side: &Option<String>| side.clone().unwrap_or_else(|| "-".to_owned());
        let line = |d: &Difference| {
            format!("{} {} {}: {} | {}", d.part.word(), d.name, d.what, side(&d.first), side(&d.second))
        };
        differences(first, second).iter().map(line).collect()
    }

    #[test]
    fn differences_are_listed_with_both_values() {
        let lines = told(&queue(5, 2.0, 1.0, false), &queue(6, 2.5, 3.0, true));
        let expected = [
            "place queue capacity: 5 | 6",
            "place spare there: - | yes",
            "transition serve rate or weight: 2 | 2.5",
            "arc queue to serve weight: 1 | 3",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn positions_and_labels_do_not_count_as_differences() {
        let net = queue(5, 2.0, 1.0, true);
        let mut moved = net.to_builder();
        let queue = net.find_place("queue").unwrap();
        moved.place_mut(queue).position = Some(crate::net::Point { x: 7.0, y: 8.0 });
        moved.place_mut(queue).name = "The queue".to_owned();
        assert_eq!(told(&net, &moved.build().unwrap()), Vec::<String>::new());
    }

    #[test]
    fn another_law_is_a_difference() {
        let with = |timing| {
            let mut b = NetBuilder::new("");
            b.transition("t", timing);
            b.build().unwrap()
        };
        let law = Timing::general(crate::net::Law::Deterministic { delay: 2.0 });
        let lines = told(&with(Timing::immediate(1.0, 2)), &with(law));
        assert_eq!(lines.len(), 5, "{lines:?}");
        assert_eq!(lines[0], "transition t delay: immediate | Deterministic { delay: 2.0 }");
    }
}
