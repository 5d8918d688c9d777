//! Writes a project of GreatSPN's editor, which Storm reads as well.
//!
//! A feature that the format lacks is written in an equivalent way, with a warning; a net without an
//! equivalent is not written.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::formats::ExportError;
use crate::formats::greatspn::pnpro::{NO_BORDER, UNIT};
use crate::formats::greatspn::words::{Words, number};
use crate::formats::layout::Layout;
use crate::formats::pipe::escape::{attribute, content};
use crate::formats::pipe::{Loss, WriteWarning, Written};
use crate::net::enabling::{places, total};
use crate::net::expr::{BinaryOp, Expr, Function, Leaf};
use crate::net::{
    Arc, ArcKind, Delay, Law, Memory, Net, PartRef, PathPoint, PlaceId, Point, Servers, Timing, Transition,
    TransitionId,
};

/// Writes a net as a project with one net.
///
/// ```
/// use tailspn_engine::formats::greatspn::{read_project, write};
/// use tailspn_engine::net::{NetBuilder, Timing, differences};
///
/// let mut b = NetBuilder::new("a queue");
/// let queue = b.place("queue", 2);
/// let serve = b.transition("serve", Timing::exponential(3.0));
/// b.input(queue, serve, 1.0);
/// let net = b.build().unwrap();
/// let back = read_project(write(&net).unwrap().xml.as_bytes(), &Default::default()).unwrap().net;
/// assert_eq!(differences(&net, &back), []);
/// ```
///
/// # Errors
///
/// Every feature of the net that GreatSPN lacks: several token classes, some delay distributions, and some functions.
pub fn write(net: &Net) -> Result<Written, Vec<ExportError>> {
    let (words, layout) = (Words::of(net), Layout::of(net));
    let mut writer = Writer { net, words, layout, xml: String::new(), warnings: Vec::new(), problems: Vec::new() };
    writer.all();
    let Writer { xml, warnings, problems, .. } = writer;
    if problems.is_empty() { Ok(Written { xml, warnings }) } else { Err(problems) }
}

/// The key of an arc; GreatSPN allows one arc per place, transition and direction.
type Slot = (PlaceId, TransitionId, Direction);

/// Direction of an arc, by the word of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Direction {
    Input,
    Output,
    Inhibitor,
}

struct Writer<'n> {
    net: &'n Net,
    words: Words<'n>,
    layout: Layout,
    xml: String,
    warnings: Vec<WriteWarning>,
    problems: Vec<ExportError>,
}

impl Writer<'_> {
    fn all(&mut self) {
        let net = self.net;
        if net.classes().len() > 1 {
            self.problems.push(ExportError::Classes { classes: net.classes().len(), format: "GreatSPN" });
        }
        let name = attribute(if net.name().is_empty() { "net" } else { net.name() });
        let _ = write!(
            self.xml,
            "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n<project name=\"{name}\" version=\"121\">\n  \
             <gspn name=\"{name}\">\n    <nodes>\n"
        );
        for i in 0..net.parameters().len() {
            self.parameter(i);
        }
        for i in 0..net.places().len() {
            self.place(PlaceId::from_index(i));
        }
        for i in 0..net.transitions().len() {
            self.transition(TransitionId::from_index(i));
        }
        self.annotations();
        self.xml.push_str("    </nodes>\n    <edges>\n");
        self.arcs();
        self.xml.push_str("    </edges>\n  </gspn>\n</project>\n");
        if !net.state_groups().is_empty() {
            let message = "state groups are left out, because GreatSPN has no state groups".to_owned();
            self.warnings.push(WriteWarning { loss: Loss::Group, part: None, message });
        }
    }

    fn lacks(&mut self, reason: String) {
        self.problems.push(ExportError::Lacking { reason });
    }

    fn warn(&mut self, loss: Loss, part: PartRef, message: String) {
        self.warnings.push(WriteWarning { loss, part: Some(part), message });
    }

    /// Adds a warning about a part that gets another name.
    fn check_name(&mut self, part: PartRef, id: &str, name: &str, label: &str) {
        if id != name {
            self.warn(
                Loss::Name,
                part,
                format!("`{id}` is written as `{name}`: names consist of letters, digits and `_`"),
            );
        } else if label != id {
            self.warn(Loss::Name, part, format!("`{id}` is shown by its id instead of its label `{label}`"));
        }
    }

    /// The text of an expression; a part without an equivalent is noted as an error.
    fn text(&mut self, what: &str, expr: &Expr, whole: bool) -> String {
        match self.words.text(expr, whole) {
            Ok(text) => attribute(&text),
            Err(lacking) => {
                self.lacks(format!("{what} has no counterpart in GreatSPN: {lacking}"));
                String::new()
            }
        }
    }

    fn parameter(&mut self, index: usize) {
        let parameter = &self.net.parameters()[index];
        let part = PartRef::Parameter(crate::net::ParameterId::from_index(index));
        if !self.words.is_constant(index) {
            let message = format!(
                "rate parameter `{}` is not constant; its value is inserted wherever it is used",
                parameter.name
            );
            self.warn(Loss::Parameter, part, message);
            return;
        }
        let name = self.words.parameter(index).to_owned();
        self.check_name(part, &parameter.name, &name, &parameter.name);
        let value = self.text(&format!("rate parameter `{}`", parameter.name), &parameter.value, false);
        let at = coordinates(parameter.position.unwrap_or_default());
        let _ = writeln!(self.xml, "      <constant consttype=\"REAL\" name=\"{name}\" value=\"{value}\" {at}/>");
    }

    fn place(&mut self, id: PlaceId) {
        let place = self.net.place(id);
        let name = self.words.places[id.index()].clone();
        self.check_name(PartRef::Place(id), &place.id, &name, place.label());
        let tokens = place.initial_total();
        let marking = if tokens > 0 { format!(" marking=\"{tokens}\"") } else { String::new() };
        let label = label(place.label_offset);
        let at = coordinates(self.layout.place(id));
        let _ = writeln!(self.xml, "      <place{label}{marking} name=\"{name}\" {at}/>");
    }

    fn transition(&mut self, id: TransitionId) {
        let transition = self.net.transition(id);
        let name = self.words.transitions[id.index()].clone();
        self.check_name(PartRef::Transition(id), &transition.id, &name, transition.label());
        let timing = self.timing(id, transition);
        let rotation = match transition.orientation {
            0 => String::new(),
            degrees => format!(" rotation=\"{:?}\"", f64::from(degrees).to_radians()),
        };
        let label = label(transition.label_offset);
        let at = coordinates(self.layout.transition(id));
        let _ = writeln!(self.xml, "      <transition{timing}{label} name=\"{name}\"{rotation} {at}/>");
    }

    /// The attributes that define when a transition fires.
    fn timing(&mut self, id: TransitionId, transition: &Transition) -> String {
        let name = &transition.id;
        match &transition.timing {
            Timing::Immediate { weight, priority } => {
                let weight = self.text(&format!("the weight of transition `{name}`"), weight, false);
                format!(" type=\"IMM\" priority=\"{priority}\" weight=\"{weight}\"")
            }
            Timing::Timed { delay: Delay::Exponential { rate }, servers, .. } => {
                let (rate, servers) = self.served(id, rate, *servers);
                let rate = self.text(&format!("the rate of transition `{name}`"), &rate, false);
                format!(" type=\"EXP\" delay=\"{rate}\" nservers=\"{servers}\"")
            }
            Timing::Timed { delay: Delay::General(law), servers, memory } => {
                if *memory == Memory::Age {
                    let message = format!("transition `{name}` has age memory, which GreatSPN does not support");
                    self.warn(Loss::Memory, PartRef::Transition(id), message);
                }
                let single = matches!(servers, Servers::Single | Servers::Limited(1));
                let density = density(law).filter(|_| single);
                if density.is_none() {
                    let several = if single { "" } else { " with several servers" };
                    self.lacks(format!("transition `{name}` has a delay{several} that GreatSPN lacks: {law:?}"));
                }
                format!(" type=\"GEN\" delay=\"{}\"", density.unwrap_or_default())
            }
        }
    }

    /// Rate and number of servers; a rate that counts tokens is the rate of all servers together.
    fn served(&mut self, id: TransitionId, rate: &Expr, servers: Servers) -> (Expr, String) {
        let most = match servers {
            Servers::Single | Servers::Limited(1) => return (rate.clone(), "1".to_owned()),
            Servers::Infinite => None,
            Servers::Limited(most) => Some(most),
        };
        let arcs: Vec<&Arc> = self.net.arcs().iter().filter(|arc| arc.transition == id).collect();
        let reason = if self.counts_tokens(rate) {
            "depends on the marking"
        } else if arcs.iter().any(|arc| arc.kind == ArcKind::Test) {
            // GreatSPN would count the pair of arcs that replaces the test arc
            "does not depend on the tokens of its test arcs"
        } else {
            return (rate.clone(), most.map_or_else(|| "Infinite".to_owned(), |most| most.to_string()));
        };
        let name = &self.net.transition(id).id;
        let mut terms: Vec<Expr> = Vec::new();
        for place in places(&arcs) {
            match total(self.net, &arcs, ArcKind::Input, place).as_number() {
                Some(0.0) => {}
                Some(weight) => {
                    let tokens = Expr::Leaf(Leaf::Tokens(place, None));
                    let share = Expr::Binary(BinaryOp::Divide, Box::new(tokens), Box::new(Expr::Number(weight)));
                    terms.push(Expr::Call(Function::Floor, vec![share]));
                }
                None => self.lacks(format!(
                    "transition `{name}` has several servers, and an expression cannot state how many are busy"
                )),
            }
        }
        let message =
            format!("the rate of transition `{name}` {reason} and is per server; GreatSPN gets the total rate");
        self.warn(Loss::Servers, PartRef::Transition(id), message);
        if terms.is_empty() {
            terms.push(Expr::Number(1.0));
        }
        terms.extend(most.map(|most| Expr::Number(f64::from(most))));
        let degree = terms.into_iter().reduce(|a, b| Expr::Call(Function::Min, vec![a, b]));
        let degree = degree.unwrap_or(Expr::Number(1.0));
        (Expr::Binary(BinaryOp::Multiply, Box::new(rate.clone()), Box::new(degree)), "1".to_owned())
    }

    /// Returns true if an expression depends on the marking, directly or through rate parameters.
    fn counts_tokens(&self, expr: &Expr) -> bool {
        let mut found = false;
        expr.for_each_leaf(&mut |leaf| {
            found |= match leaf {
                Leaf::Tokens(..) => true,
                Leaf::Parameter(id) => !self.words.is_constant(id.index()),
                Leaf::Capacity(_) => false,
            };
        });
        found
    }

    fn annotations(&mut self) {
        for (i, annotation) in self.net.annotations().iter().enumerate() {
            let border = if annotation.border { "#000000" } else { NO_BORDER };
            let (width, height) = (annotation.size.x / UNIT, annotation.size.y / UNIT);
            let _ = writeln!(
                self.xml,
                "      <text-box bold=\"false\" border-color=\"{border}\" fill-color=\"#ffffff\" height=\"{height:?}\" \
                 name=\"__textBox{i}\" shape=\"RECTANGLE\" text-color=\"#000000\" width=\"{width:?}\" {}>{}</text-box>",
                coordinates(annotation.position),
                content(&annotation.text)
            );
        }
    }

    fn arcs(&mut self) {
        let mut slots: BTreeMap<Slot, (Expr, Vec<PathPoint>)> = BTreeMap::new();
        let mut order: Vec<Slot> = Vec::new();
        // returns true if such an arc existed before
        let mut add = |slot: Slot, weight: Expr, path: &[PathPoint]| match slots.remove(&slot) {
            None => {
                order.push(slot);
                slots.insert(slot, (weight, path.to_vec()));
                false
            }
            Some((sum, path)) => {
                slots.insert(slot, (combined(slot.2, sum, weight), path));
                true
            }
        };
        let mut tests = BTreeSet::new();
        for (i, arc) in self.net.arcs().iter().enumerate() {
            let (weight, ways): (_, &[Direction]) = match arc.kind {
                ArcKind::Input => (weight_of(arc), &[Direction::Input]),
                ArcKind::Output => (weight_of(arc), &[Direction::Output]),
                ArcKind::Inhibitor => (weight_of(arc), &[Direction::Inhibitor]),
                ArcKind::Test => {
                    let id = self.net.arc_id(arc);
                    let message = format!("test arc `{id}` becomes a pair of arcs that take and return tokens");
                    self.warnings.push(WriteWarning { loss: Loss::TestArc, part: Some(PartRef::Arc(i)), message });
                    // the first test arc of a place and a transition stands for all of them
                    let is_first = tests.insert((arc.place, arc.transition));
                    let returned = is_first.then(|| self.returned(arc.place, arc.transition));
                    match returned.filter(|weight| weight.as_number() != Some(0.0)) {
                        Some(weight) => (weight, &[Direction::Input, Direction::Output]),
                        None => continue,
                    }
                }
            };
            for way in ways {
                let path: &[_] = if ways.len() > 1 { &[] } else { &arc.path };
                if add((arc.place, arc.transition, *way), weight.clone(), path) {
                    let message = format!("arc `{}` is merged with a parallel arc", self.net.arc_id(arc));
                    self.warnings.push(WriteWarning { loss: Loss::ParallelArcs, part: Some(PartRef::Arc(i)), message });
                }
            }
        }
        for (slot, weight) in self.capacities(&order, &slots) {
            match slots.remove(&slot) {
                None => {
                    order.push(slot);
                    slots.insert(slot, (weight, Vec::new()));
                }
                Some((sum, path)) => {
                    slots.insert(slot, (combined(slot.2, sum, weight), path));
                }
            }
        }
        for slot in order {
            if let Some((weight, path)) = slots.remove(&slot) {
                self.arc(slot, &weight, &path);
            }
        }
    }

    /// The number of tokens that a transition takes and returns because of test arcs: the tokens tested, less the tokens
    /// consumed.
    fn returned(&self, place: PlaceId, transition: TransitionId) -> Expr {
        let weights = |kind| {
            let between = move |arc: &&Arc| arc.place == place && arc.transition == transition && arc.kind == kind;
            self.net.arcs().iter().filter(between).map(weight_of)
        };
        let numbers_or = |numbers: fn(f64, f64) -> f64, other: fn(Expr, Expr) -> Expr| {
            move |a: Expr, b: Expr| match (a.as_number(), b.as_number()) {
                (Some(x), Some(y)) => Expr::Number(numbers(x, y)),
                _ => other(a, b),
            }
        };
        let larger = numbers_or(f64::max, |a, b| Expr::Call(Function::Max, vec![a, b]));
        let tested = weights(ArcKind::Test).reduce(&larger).unwrap_or(Expr::Number(0.0));
        let Some(taken) = weights(ArcKind::Input).reduce(|a, b| combined(Direction::Input, a, b)) else {
            return tested;
        };
        let rest = numbers_or(
            |tested, taken| tested - taken,
            |tested, taken| Expr::Binary(BinaryOp::Subtract, Box::new(tested), Box::new(taken)),
        );
        larger(rest(tested, taken), Expr::Number(0.0))
    }

    /// Inhibitor arcs that are equivalent to the capacities of places.
    fn capacities(&mut self, order: &[Slot], slots: &BTreeMap<Slot, (Expr, Vec<PathPoint>)>) -> Vec<(Slot, Expr)> {
        let mut arcs = Vec::new();
        for (place, transition, way) in order.iter().copied().filter(|slot| slot.2 == Direction::Output) {
            let Some(capacity) = self.net.place(place).capacity else { continue };
            let weight = |way| slots.get(&(place, transition, way)).map_or(Some(0.0), |(weight, _)| weight.as_number());
            let (Some(takes), Some(puts)) = (weight(Direction::Input), weight(way)) else {
                let id = &self.net.place(place).id;
                self.lacks(format!("the capacity of place `{id}` limits an arc whose weight is an expression"));
                continue;
            };
            let full = f64::from(capacity) - (puts - takes) + 1.0;
            if puts > takes && full < 1.0 {
                let id = &self.net.transition(transition).id;
                self.lacks(format!("transition `{id}` produces more tokens than the capacity of a place allows"));
            } else if puts > takes {
                arcs.push(((place, transition, Direction::Inhibitor), Expr::Number(full)));
            }
        }
        for (i, place) in self.net.places().iter().enumerate().filter(|(_, place)| place.capacity.is_some()) {
            let message = format!("the capacity of place `{}` is written as equivalent inhibitor arcs", place.id);
            self.warnings.push(WriteWarning {
                loss: Loss::Capacity,
                part: Some(PartRef::Place(PlaceId::from_index(i))),
                message,
            });
        }
        arcs
    }

    fn arc(&mut self, (place, transition, way): Slot, weight: &Expr, path: &[PathPoint]) {
        let ends = (self.words.places[place.index()].clone(), self.words.transitions[transition.index()].clone());
        let (kind, tail, head) = match way {
            Direction::Input => ("INPUT", ends.0, ends.1),
            Direction::Output => ("OUTPUT", ends.1, ends.0),
            Direction::Inhibitor => ("INHIBITOR", ends.0, ends.1),
        };
        let weight = self.text(&format!("the weight of arc `{tail} to {head}`"), weight, true);
        let weight = if weight == "1" { String::new() } else { format!(" mult=\"{weight}\"") };
        let _ = write!(self.xml, "      <arc head=\"{head}\" kind=\"{kind}\"{weight} tail=\"{tail}\"");
        if path.len() < 3 {
            self.xml.push_str("/>\n");
            return;
        }
        self.xml.push_str(">\n");
        for bend in &path[1..path.len() - 1] {
            let _ = writeln!(self.xml, "        <point {}/>", coordinates(bend.point));
        }
        self.xml.push_str("      </arc>\n");
    }
}

/// The density of a distribution, if GreatSPN supports it.
pub(super) fn density(law: &Law) -> Option<String> {
    match law {
        Law::Deterministic { delay } => Some(format!("I[{}]", number(*delay, false))),
        Law::Uniform { low, high } => Some(format!("Uniform[{}, {}]", number(*low, false), number(*high, false))),
        Law::Erlang { stages, mean } => {
            let stages = f64::from(*stages);
            let rate = stages / mean;
            // one of these three rates gives exactly the same mean when read back
            let near = [rate, rate.next_up(), rate.next_down()];
            let rate = near.into_iter().find(|rate| (stages / rate).to_bits() == mean.to_bits()).unwrap_or(rate);
            Some(format!("Erlang[{}, {}]", number(rate, false), number(stages, true)))
        }
        _ => None,
    }
}

fn weight_of(arc: &Arc) -> Expr {
    arc.weights.first().map_or(Expr::Number(0.0), |weight| weight.weight.clone())
}

/// Combined weight of two parallel arcs: the sum for ordinary arcs, the smaller weight for inhibitor arcs.
fn combined(way: Direction, a: Expr, b: Expr) -> Expr {
    match (way, a.as_number(), b.as_number()) {
        (Direction::Inhibitor, Some(x), Some(y)) => Expr::Number(x.min(y)),
        (Direction::Inhibitor, ..) => Expr::Call(Function::Min, vec![a, b]),
        (_, Some(x), Some(y)) => Expr::Number(x + y),
        _ => Expr::Binary(BinaryOp::Add, Box::new(a), Box::new(b)),
    }
}

fn coordinates(point: Point) -> String {
    format!("x=\"{:?}\" y=\"{:?}\"", point.x / UNIT, point.y / UNIT)
}

/// Position of the name in the drawing, if given.
fn label(offset: Point) -> String {
    if offset == Point::default() {
        return String::new();
    }
    format!(" label-x=\"{:?}\" label-y=\"{:?}\"", offset.x / UNIT, offset.y / UNIT)
}
