//! Converts the parts of a GreatSPN file to a net.

use std::collections::HashMap;

use crate::formats::greatspn::constants::{Constants, evaluated};
use crate::formats::greatspn::expression::{call, parse};
use crate::formats::greatspn::measures;
use crate::formats::greatspn::raw::{RawArc, RawConstant, RawNet, RawPlace, RawTiming, RawTransition};
use crate::formats::pipe::Dialect;
use crate::formats::pipe::notes::Notes;
use crate::formats::pipe::options::ReadOptions;
use crate::formats::pipe::problem::{Fault, Oddity, ReadError};
use crate::formats::pipe::read::ReadNet;
use crate::formats::pipe::spans::Spans;
use crate::formats::pipe::xml::Text;
use crate::net::expr::{self, Expr, ExprError, Leaf, NamedLeaf};
use crate::net::{
    Arc, ArcKind, ClassId, ClassWeight, Delay, Law, Memory, NetBuilder, Parameter, PathPoint, Place, PlaceId, Point,
    Servers, Timing, Transition, TransitionId,
};

/// Maximum number of tokens, servers and so on.
const MOST: f64 = 4_294_967_295.0;

/// A place or a transition; both share one set of names.
#[derive(Clone, Copy, Debug)]
enum Node {
    Place(PlaceId),
    Transition(TransitionId),
}

/// Builds the net.
///
/// # Errors
///
/// Everything that is wrong with the parts.
pub(super) fn assemble(
    raw: &RawNet<'_>,
    mut notes: Notes<'_>,
    options: &ReadOptions,
    dialect: Dialect,
) -> Result<ReadNet, ReadError> {
    let constants = Constants::of(raw, &mut notes, options);
    let builder = NetBuilder::new(raw.name.clone());
    let mut assembler = Assembler { builder, notes, constants, nodes: HashMap::new(), spans: Spans::default() };
    assembler.all(raw);
    let Assembler { builder, mut notes, constants, spans, .. } = assembler;
    if notes.refused() {
        return Err(notes.into_error());
    }
    match builder.build() {
        Ok(net) => Ok(ReadNet {
            net,
            dialect,
            warnings: notes.into_warnings(),
            taken: constants.taken,
            properties: Vec::new(),
        }),
        Err(problems) => {
            for problem in problems {
                notes.fault(spans.of(problem.part()), Fault::Build(problem));
            }
            Err(notes.into_error())
        }
    }
}

struct Assembler<'t> {
    builder: NetBuilder,
    notes: Notes<'t>,
    constants: Constants,
    /// Nodes by name, each with its position in the file.
    nodes: HashMap<String, (Node, usize)>,
    spans: Spans,
}

impl Assembler<'_> {
    fn all(&mut self, raw: &RawNet<'_>) {
        for constant in &raw.constants {
            self.constant(constant);
        }
        for place in &raw.places {
            self.place(place);
        }
        for transition in &raw.transitions {
            self.transition(transition);
        }
        let mut ids = HashMap::new();
        for arc in &raw.arcs {
            self.arc(arc, &mut ids);
        }
        for annotation in &raw.annotations {
            self.builder.add_annotation(annotation.clone());
        }
        measures::note(&raw.measures, &mut self.notes);
    }

    /// Keeps a constant as a rate parameter, unless it shapes the net.
    fn constant(&mut self, constant: &RawConstant<'_>) {
        let name = &*constant.name.value;
        let Some(value) = self.constants.value(name).filter(|_| !self.constants.shapes(name)) else { return };
        let given = self.constants.taken.iter().any(|taken| taken == name);
        let written = self.constants.written.get(name).filter(|_| !given).cloned();
        // an expression that uses a later parameter is replaced by its value
        let value = written.and_then(|expr| self.resolved(&expr).ok()).unwrap_or(Expr::Number(value));
        self.builder.add_parameter(Parameter { name: name.to_owned(), value, position: constant.position });
        self.spans.parameters.push(constant.name.span.clone());
    }

    fn node(&mut self, name: &Text<'_>, node: Node) {
        let kind = "place or transition";
        if let Some((_, first)) = self.nodes.get(&*name.value) {
            let fault = Fault::DuplicateId { kind, id: name.value.to_string(), first_line: self.notes.line(*first) };
            self.notes.fault(name.span.clone(), fault);
            return;
        }
        self.nodes.insert(name.value.to_string(), (node, name.span.start));
    }

    fn place(&mut self, raw: &RawPlace<'_>) {
        let name = &*raw.name.value;
        let tokens = match &raw.marking {
            Some(text) => self.whole(&format!("the marking of place `{name}`"), text),
            None => Some(0),
        };
        let id = self.builder.add_place(Place {
            id: name.to_owned(),
            initial: vec![tokens.unwrap_or(0)],
            position: raw.position,
            label_offset: raw.label_offset,
            ..Place::default()
        });
        self.spans.places.push(raw.name.span.clone());
        self.node(&raw.name, Node::Place(id));
    }

    fn transition(&mut self, raw: &RawTransition<'_>) {
        let timing = self.timing(raw).unwrap_or_else(|| Timing::exponential(1.0));
        let id = self.builder.add_transition(Transition {
            position: raw.position,
            orientation: raw.orientation,
            label_offset: raw.label_offset,
            ..Transition::new(&*raw.name.value, timing)
        });
        self.spans.transitions.push(raw.tag.clone());
        self.node(&raw.name, Node::Transition(id));
    }

    /// The timing, or `None` after a fault was noted.
    fn timing(&mut self, raw: &RawTransition<'_>) -> Option<Timing> {
        let name = &*raw.name.value;
        match &raw.timing {
            RawTiming::Immediate { weight, priority } => {
                let weight = self.expression(&format!("the weight of transition `{name}`"), weight.as_ref())?;
                let priority = match priority {
                    Some(text) => self.whole(&format!("the priority of transition `{name}`"), text)?,
                    None => 1,
                };
                Some(Timing::Immediate { weight, priority })
            }
            RawTiming::General { density } => {
                let law = self.law(raw, density.as_ref())?;
                Some(Timing::Timed { delay: Delay::General(law), servers: Servers::Single, memory: Memory::Enabling })
            }
            RawTiming::Exponential { rate, servers } => {
                let rate = self.expression(&format!("the rate of transition `{name}`"), rate.as_ref())?;
                let mut served = self.servers(name, servers.as_ref())?;
                if counts_tokens(&rate) && served != Servers::Single {
                    served = Servers::Single;
                    self.notes.odd(raw.tag.clone(), Oddity::MarkingRate, || {
                        format!(
                            "the rate of transition `{name}` depends on the marking; the rate is read as the total rate of all servers, as in GreatSPN"
                        )
                    });
                }
                Some(Timing::Timed { delay: Delay::Exponential { rate }, servers: served, memory: Memory::Enabling })
            }
        }
    }

    fn servers(&mut self, name: &str, text: Option<&Text<'_>>) -> Option<Servers> {
        let Some(text) = text else { return Some(Servers::Infinite) };
        match text.value.trim() {
            "Infinite" | "" => Some(Servers::Infinite),
            "Single" => Some(Servers::Single),
            _ => match self.whole(&format!("the number of servers of transition `{name}`"), text)? {
                1 => Some(Servers::Single),
                most => Some(Servers::Limited(most)),
            },
        }
    }

    /// The delay distribution with this density.
    fn law(&mut self, raw: &RawTransition<'_>, density: Option<&Text<'_>>) -> Option<Law> {
        let name = &*raw.name.value;
        let text = density.map_or("", |text| &*text.value);
        let span = density.map_or(raw.tag.clone(), |text| text.span.clone());
        let (kind, arguments) = call(text).unwrap_or_default();
        let mut numbers = Vec::new();
        for argument in &arguments {
            let argument = Text { value: (*argument).to_owned().into(), span: span.clone() };
            numbers.push(self.number(&format!("the delay of transition `{name}`"), &argument)?);
        }
        let law = match (kind, &*numbers) {
            ("I", [delay]) => Law::Deterministic { delay: *delay },
            ("Uniform", [low, high]) => Law::Uniform { low: *low, high: *high },
            ("Erlang", [rate, stages]) if *rate > 0.0 && (1.0..=MOST).contains(stages) && stages.fract() == 0.0 =>
            {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and from 1 to MOST")]
                Law::Erlang { stages: *stages as u32, mean: stages / rate }
            }
            _ => {
                let what = format!("transition `{name}` has the delay `{text}`");
                let formalism =
                    "general delays of GreatSPN other than I[delay], Uniform[low, high] and Erlang[rate, stages]";
                self.notes.fault(span, Fault::Formalism { what, formalism });
                return None;
            }
        };
        if let Some(problem) = law.problem() {
            self.notes.fault(span, Fault::Law(problem));
            return None;
        }
        Some(law)
    }

    fn arc(&mut self, raw: &RawArc<'_>, ids: &mut HashMap<String, usize>) {
        let ends = (self.end(raw, "tail", &raw.tail), self.end(raw, "head", &raw.head));
        let (Some(tail), Some(head)) = ends else { return };
        let label = format!("{} to {}", raw.tail.value, raw.head.value);
        let (kind, place, transition) = match (tail, head, raw.inhibits) {
            (Node::Place(place), Node::Transition(transition), true) => (ArcKind::Inhibitor, place, transition),
            (Node::Place(place), Node::Transition(transition), false) => (ArcKind::Input, place, transition),
            (Node::Transition(transition), Node::Place(place), false) => (ArcKind::Output, place, transition),
            (Node::Transition(_), Node::Place(_), true) => {
                self.notes.fault(raw.tag.clone(), Fault::InhibitorFromTransition { arc: label });
                return;
            }
            (Node::Place(_), Node::Place(_), _) => return self.same_kind(raw, label, "places"),
            (Node::Transition(_), Node::Transition(_), _) => return self.same_kind(raw, label, "transitions"),
        };
        let Some(weight) = self.weight(&label, raw.weight.as_ref()) else { return };
        let count = ids.entry(if raw.inhibits { format!("{label} inhibits") } else { label.clone() }).or_default();
        *count += 1;
        let id = match (raw.inhibits, *count) {
            (true, 1) => format!("{} inhibits {}", raw.tail.value, raw.head.value),
            (true, n) => format!("{} inhibits {} ({n})", raw.tail.value, raw.head.value),
            (false, 1) => label,
            (false, n) => format!("{label} ({n})"),
        };
        let path = self.path(raw, tail, head);
        let weights = vec![ClassWeight { class: ClassId::from_index(0), weight }];
        self.builder.add_arc(Arc { id, kind, place, transition, weights, path, tagged: false });
        self.spans.arcs.push(raw.tag.clone());
    }

    fn same_kind(&mut self, raw: &RawArc<'_>, arc: String, kind: &'static str) {
        self.notes.fault(raw.tag.clone(), Fault::SameKind { arc, kind });
    }

    fn end(&mut self, raw: &RawArc<'_>, end: &'static str, name: &Text<'_>) -> Option<Node> {
        if let Some((node, _)) = self.nodes.get(&*name.value) {
            return Some(*node);
        }
        let arc = format!("{} to {}", raw.tail.value, raw.head.value);
        self.notes.fault(name.span.clone(), Fault::UnknownNode { arc, end, id: name.value.to_string() });
        None
    }

    /// The points of the drawn line, including its ends; empty for a line without bends.
    fn path(&mut self, raw: &RawArc<'_>, tail: Node, head: Node) -> Vec<PathPoint> {
        if raw.bends.is_empty() {
            return Vec::new();
        }
        let mut at = |node| {
            let position = match node {
                Node::Place(id) => self.builder.place_mut(id).position,
                Node::Transition(id) => self.builder.transition_mut(id).position,
            };
            position.unwrap_or_default()
        };
        let ends = (at(tail), at(head));
        let points = std::iter::once(ends.0).chain(raw.bends.iter().copied()).chain(std::iter::once(ends.1));
        points.map(|point: Point| PathPoint { point, curved: false }).collect()
    }

    /// The weight of an arc, with constants replaced by numbers.
    fn weight(&mut self, arc: &str, text: Option<&Text<'_>>) -> Option<Expr> {
        let Some(text) = text else { return Some(Expr::Number(1.0)) };
        let what = format!("the weight of arc `{arc}`");
        let parsed = self.parsed(&what, text)?;
        let filled = self.constants.filled(&parsed);
        let resolved = filled.and_then(|filled| self.resolved(&filled));
        self.told(&what, text, resolved).map(folded)
    }

    /// A rate or a weight of a transition; 1 if it is missing.
    fn expression(&mut self, what: &str, text: Option<&Text<'_>>) -> Option<Expr> {
        let Some(text) = text else { return Some(Expr::Number(1.0)) };
        let parsed = self.parsed(what, text)?;
        let resolved = self.resolved(&parsed);
        self.told(what, text, resolved).map(folded)
    }

    /// The expression with places and rate parameters; the constants that shape the net are numbers.
    fn resolved(&self, parsed: &Expr<NamedLeaf>) -> Result<Expr, String> {
        let shaped = parsed.try_replace(&mut |leaf| {
            Ok::<_, ExprError>(match leaf {
                NamedLeaf::Parameter(name) if self.constants.shapes(&name.text) => {
                    self.constants.value(&name.text).map_or_else(|| Expr::Leaf(leaf.clone()), Expr::Number)
                }
                other => Expr::Leaf(other.clone()),
            })
        });
        shaped.and_then(|shaped| expr::resolve(&shaped, &self.builder.names())).map_err(|error| error.to_string())
    }

    fn parsed(&mut self, what: &str, text: &Text<'_>) -> Option<Expr<NamedLeaf>> {
        let parsed = parse(&text.value);
        self.told(what, text, parsed)
    }

    /// The value of an expression over constants.
    fn number(&mut self, what: &str, text: &Text<'_>) -> Option<f64> {
        let parsed = self.parsed(what, text)?;
        let number = self.constants.number(&parsed);
        self.told(what, text, number)
    }

    /// A whole number.
    fn whole(&mut self, what: &str, text: &Text<'_>) -> Option<u32> {
        let value = self.number(what, text)?;
        if (0.0..=MOST).contains(&value) && value.fract() == 0.0 {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and from 0 to MOST")]
            return Some(value as u32);
        }
        let written = &*text.value;
        let shown = if written.parse() == Ok(value) { written.to_owned() } else { format!("{written} = {value}") };
        let expected = "a whole number from 0 to 4294967295";
        self.notes.fault(text.span.clone(), Fault::BadNumber { what: what.to_owned(), text: shown, expected });
        None
    }

    /// The value, or `None` after its fault was noted.
    fn told<T>(&mut self, what: &str, text: &Text<'_>, result: Result<T, String>) -> Option<T> {
        result
            .map_err(|reason| {
                let fault = Fault::Expression { what: what.to_owned(), reason };
                self.notes.fault(text.span.clone(), fault);
            })
            .ok()
    }
}

/// Replaces an expression without leaves by its value.
fn folded(expr: Expr) -> Expr {
    evaluated(&expr).map_or(expr, Expr::Number)
}

/// Returns true if an expression depends on the marking.
fn counts_tokens(expr: &Expr) -> bool {
    let mut found = false;
    expr.for_each_leaf(&mut |leaf| found |= matches!(leaf, Leaf::Tokens(..)));
    found
}
