//! Graphviz DOT: the structure of a net, laid out by Graphviz.

use std::fmt::Write as _;

use crate::net::{Arc, ArcKind, Delay, Expr, Net, Place, Timing, Transition};

/// A net as a Graphviz graph: places are circles, timed transitions open boxes, immediate ones black bars.
///
/// ```
/// use tailspn_engine::formats::dot::dot;
/// use tailspn_engine::net::{NetBuilder, Timing};
///
/// let mut b = NetBuilder::new("");
/// let p = b.place("P0", 2);
/// let t = b.transition("T0", Timing::exponential(1.5));
/// b.input(p, t, 2.0);
/// let text = dot(&b.build().unwrap());
/// assert!(text.contains("p0 -> t0 [label=\"2\"]"));
/// ```
pub fn dot(net: &Net) -> String {
    let mut out = String::from("digraph net {\n");
    let _ = writeln!(out, "  label={};", quoted(net.name()));
    out.push_str("  rankdir=LR;\n  node [fontname=\"sans-serif\", fontsize=11];\n");
    out.push_str("  edge [fontname=\"sans-serif\", fontsize=10, arrowsize=0.7];\n");
    for (i, place) in net.places().iter().enumerate() {
        let _ = writeln!(out, "  p{i} [shape=circle, label={}];", quoted(&place_label(net, place)));
    }
    for (i, transition) in net.transitions().iter().enumerate() {
        let _ = writeln!(out, "  t{i} [{}];", transition_attributes(net, transition));
    }
    for arc in net.arcs() {
        let (place, transition) = (arc.place, arc.transition);
        let ends = if arc.kind == ArcKind::Output {
            format!("{transition} -> {place}")
        } else {
            format!("{place} -> {transition}")
        };
        let _ = writeln!(out, "  {ends}{};", arc_attributes(net, arc));
    }
    out.push_str("}\n");
    out
}

fn place_label(net: &Net, place: &Place) -> String {
    let mut label = place.label().to_owned();
    for (class, tokens) in net.classes().iter().zip(&place.initial).filter(|(_, n)| **n > 0) {
        let _ = match net.classes().len() {
            1 => write!(label, "\n{tokens}"),
            _ => write!(label, "\n{tokens} {}", class.id),
        };
    }
    if let Some(capacity) = place.capacity {
        let _ = write!(label, "\n≤ {capacity}");
    }
    label
}

fn transition_attributes(net: &Net, transition: &Transition) -> String {
    let label = format!("{}\n{}", transition.label(), timing_text(net, &transition.timing));
    let label = quoted(&label);
    match transition.timing {
        Timing::Immediate { .. } => {
            format!("shape=box, style=filled, fillcolor=black, width=0.08, height=0.5, label=\"\", xlabel={label}")
        }
        Timing::Timed { .. } => format!("shape=box, width=0.2, height=0.5, label=\"\", xlabel={label}"),
    }
}

/// A short text for a rate, weight or delay distribution.
pub(crate) fn timing_text(net: &Net, timing: &Timing) -> String {
    match timing {
        Timing::Immediate { weight, priority } => match (weight.as_number(), priority) {
            (Some(1.0), 0 | 1) => String::new(),
            (_, 0 | 1) => number_text(net, weight),
            _ => format!("{}, priority {priority}", number_text(net, weight)),
        },
        Timing::Timed { delay: Delay::Exponential { rate }, .. } => number_text(net, rate),
        Timing::Timed { delay: Delay::General(law), .. } => {
            format!("{}, mean {}", law.name(), four_digits(law.mean()))
        }
    }
}

/// A constant with four significant digits, which fit into a picture; an expression in full.
fn number_text(net: &Net, expression: &Expr) -> String {
    expression.as_number().map_or_else(|| net.expression_text(expression), four_digits)
}

fn four_digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    format!("{rounded}")
}

/// The weights of an arc as a label; empty for a weight of 1, whose class is shown by the arc's colour.
pub(crate) fn weight_text(net: &Net, arc: &Arc) -> String {
    let several = net.classes().len() > 1;
    let shown = arc.weights.iter().filter(|w| !several || w.weight.as_number() != Some(0.0));
    let shown: Vec<_> = shown.collect();
    if let [only] = shown[..]
        && only.weight.as_number() == Some(1.0)
    {
        return String::new();
    }
    let texts: Vec<_> = shown
        .into_iter()
        .map(|w| {
            let weight = net.expression_text(&w.weight);
            if several { format!("{weight} {}", net.classes()[w.class.index()].id) } else { weight }
        })
        .collect();
    texts.join(", ")
}

fn arc_attributes(net: &Net, arc: &Arc) -> String {
    let mut attributes = Vec::new();
    let weight = weight_text(net, arc);
    if !weight.is_empty() {
        attributes.push(format!("label={}", quoted(&weight)));
    }
    let coloured = arc.weights.iter().find(|w| w.weight.as_number() != Some(0.0));
    if let Some(class) = coloured.map(|w| &net.classes()[w.class.index()])
        && class.colour != [0; 3]
    {
        let [red, green, blue] = class.colour;
        attributes.push(format!("color=\"#{red:02x}{green:02x}{blue:02x}\""));
    }
    match arc.kind {
        ArcKind::Inhibitor => attributes.push("arrowhead=odot".to_owned()),
        ArcKind::Test => attributes.push("dir=both, style=dashed".to_owned()),
        ArcKind::Input | ArcKind::Output => {}
    }
    if attributes.is_empty() { String::new() } else { format!(" [{}]", attributes.join(", ")) }
}

fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\r', "");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{Law, NetBuilder};

    #[test]
    fn labels_are_quoted_and_kinds_of_arcs_differ() {
        let mut b = NetBuilder::new("say \"hi\"");
        let p = b.place("a\\b", 2);
        let t = b.transition("now", Timing::immediate(1.0, 1));
        let u = b.transition("later", Timing::general(Law::Deterministic { delay: 2.0 }));
        b.inhibitor(p, t, 1.0);
        b.test(p, u, 3.0);
        b.output(u, p, 1.0);
        let text = dot(&b.build().unwrap());
        for line in [
            "label=\"say \\\"hi\\\"\";",
            "p0 [shape=circle, label=\"a\\\\b\\n2\"];",
            "p0 -> t0 [arrowhead=odot];",
            "p0 -> t1 [label=\"3\", dir=both, style=dashed];",
            "t1 -> p0;",
            "deterministic, mean 2",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}
