//! Writes GreatSPN's older pair of files: the `.net` with words and numbers, and the `.def` with functions of the marking.
//!
//! The net is first written as a project and read back, so that test arcs, capacities and names already have their
//! equivalents in GreatSPN. What only a project can express is refused.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::formats::ExportError;
use crate::formats::greatspn::netdef::{FUNCTION, GENERAL, PARAMETER_WEIGHT};
use crate::formats::greatspn::pnpro::{UNIT, read};
use crate::formats::greatspn::words::number;
use crate::formats::greatspn::write::{density, write};
use crate::formats::layout::Layout;
use crate::formats::pipe::{ReadOptions, WriteWarning};
use crate::net::expr::{BinaryOp, Expr, Function, Leaf, UnaryOp};
use crate::net::{Arc, ArcKind, Delay, Law, Net, PlaceId, Point, Servers, Timing, TransitionId};

/// A net as GreatSPN's older pair of files.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Text of the `.net` file.
    pub net: String,
    /// Text of the `.def` file, which belongs into the same folder under the same name.
    pub def: String,
    /// Features that are written in an equivalent way.
    pub warnings: Vec<WriteWarning>,
}

/// Writes a net as a pair of files. Annotations, state groups and the name of the net are left out.
///
/// # Errors
///
/// Every feature of the net that the pair lacks: the features that a project lacks, arc weights that are expressions or
/// at least 20,000, rate parameters that are expressions, and functions other than choices by `if` and arithmetic.
pub fn write_pair(net: &Net) -> Result<Pair, Vec<ExportError>> {
    let project = write(net)?;
    let options = ReadOptions { max_bytes: usize::MAX, max_nodes: usize::MAX, ..ReadOptions::default() };
    let plain = read(project.xml.as_bytes(), &options).map_err(|error| vec![lacking(error.to_string())])?.net;
    let priorities: BTreeSet<u32> = plain.transitions().iter().filter_map(|t| priority(&t.timing)).collect();
    let layout = Layout::of(&plain);
    let priorities = priorities.into_iter().collect();
    let mut writer = Writer { net: &plain, layout, priorities, def: String::new(), problems: Vec::new() };
    let text = writer.text();
    let Writer { mut def, problems, .. } = writer;
    def.push_str("|256\n%\n|\n");
    if problems.is_empty() { Ok(Pair { net: text, def, warnings: project.warnings }) } else { Err(problems) }
}

fn lacking(reason: String) -> ExportError {
    ExportError::Lacking { reason }
}

fn priority(timing: &Timing) -> Option<u32> {
    match timing {
        Timing::Immediate { priority, .. } => Some(*priority),
        Timing::Timed { .. } => None,
    }
}

struct Writer<'n> {
    net: &'n Net,
    layout: Layout,
    /// Priorities of immediate transitions; each is a group.
    priorities: Vec<u32>,
    def: String,
    problems: Vec<ExportError>,
}

impl Writer<'_> {
    fn text(&mut self) -> String {
        let net = self.net;
        let counts = [net.places().len(), net.parameters().len(), net.transitions().len(), self.priorities.len()];
        let [places, parameters, transitions, groups] = counts;
        if groups >= GENERAL {
            self.problems.push(lacking(format!("the net has {groups} priorities; `.net` files have at most 126")));
        }
        let mut text = format!("|0|\n|\nf 0 {places} {parameters} {transitions} {groups} 0 0\n");
        for (i, place) in net.places().iter().enumerate() {
            let at = self.layout.place(PlaceId::from_index(i));
            let tag = point(Point { x: at.x + place.label_offset.x, y: at.y + place.label_offset.y });
            let _ = writeln!(text, "{} {} {} {tag} 0", place.id, place.initial_total(), point(at));
        }
        for parameter in net.parameters() {
            let value = parameter.value.as_number().unwrap_or_else(|| {
                let reason = format!("rate parameter `{}` is an expression; `.net` files have numbers", parameter.name);
                self.problems.push(lacking(reason));
                0.0
            });
            let at = point(parameter.position.unwrap_or_default());
            let _ = writeln!(text, "{} {} {at} 0", parameter.name, number(value, false));
        }
        for (i, priority) in self.priorities.iter().enumerate() {
            let _ = writeln!(text, "G{} 0.0 0.0 {priority}", i + 1);
        }
        for i in 0..transitions {
            self.transition(TransitionId::from_index(i), &mut text);
        }
        text
    }

    fn transition(&mut self, id: TransitionId, text: &mut String) {
        let transition = self.net.transition(id);
        let (rate, servers, kind) = match &transition.timing {
            Timing::Immediate { weight, priority } => {
                let group = self.priorities.iter().position(|known| known == priority).unwrap_or_default();
                (self.value(id, "weight", weight), 1, group + 1)
            }
            Timing::Timed { delay: Delay::Exponential { rate }, servers, .. } => {
                let servers = match servers {
                    Servers::Infinite => 0,
                    Servers::Single => 1,
                    Servers::Limited(most) => *most,
                };
                (self.value(id, "rate", rate), servers, 0)
            }
            Timing::Timed { delay: Delay::General(Law::Deterministic { delay }), .. } => {
                (number(*delay, false), 1, GENERAL)
            }
            // a project has this delay, since it was read from one
            Timing::Timed { delay: Delay::General(law), .. } => {
                (self.function(id, &density(law).unwrap_or_default()), 1, GENERAL)
            }
        };
        let orientation = match transition.orientation {
            90 => 0,
            135 => 2,
            45 => 3,
            _ => 1,
        };
        let [inputs, outputs, inhibitors] = [ArcKind::Input, ArcKind::Output, ArcKind::Inhibitor].map(|kind| {
            let of_kind = move |arc: &&Arc| arc.transition == id && arc.kind == kind;
            self.net.arcs().iter().filter(of_kind).collect::<Vec<_>>()
        });
        let at = self.layout.transition(id);
        let tag = point(Point { x: at.x + transition.label_offset.x, y: at.y + transition.label_offset.y });
        let (name, at) = (&transition.id, point(at));
        let _ = writeln!(text, "{name} {rate} {servers} {kind} {} {orientation} {at} {tag} {at} 0", inputs.len());
        self.arcs(&inputs, text);
        let _ = writeln!(text, "   {}", outputs.len());
        self.arcs(&outputs, text);
        let _ = writeln!(text, "   {}", inhibitors.len());
        self.arcs(&inhibitors, text);
    }

    fn arcs(&mut self, arcs: &[&Arc], text: &mut String) {
        for arc in arcs {
            let weight = arc.weights.first().and_then(|weight| weight.weight.as_number()).unwrap_or(f64::INFINITY);
            if weight >= PARAMETER_WEIGHT as f64 {
                let reason = format!("the weight of arc `{}` is not a number below 20,000", self.net.arc_id(arc));
                self.problems.push(lacking(reason));
            }
            // the bends are listed from the transition on
            let mut bends: Vec<Point> = arc.path.iter().skip(1).map(|bend| bend.point).collect();
            bends.pop();
            if arc.kind != ArcKind::Output {
                bends.reverse();
            }
            let _ = writeln!(text, "   {weight} {} {} 0", arc.place.index() + 1, bends.len());
            for bend in bends {
                let _ = writeln!(text, "{}", point(bend));
            }
        }
    }

    /// A rate or a weight: a number, the position of a parameter, or the mark of a function.
    fn value(&mut self, id: TransitionId, what: &str, expr: &Expr) -> String {
        match expr {
            Expr::Number(value) => number(*value, false),
            Expr::Leaf(Leaf::Parameter(parameter)) => format!("-{}.0", parameter.index() + 1),
            other => match self.choice(other) {
                Ok(function) => self.function(id, &function),
                Err(part) => {
                    let name = &self.net.transition(id).id;
                    self.problems.push(lacking(format!(
                        "the {what} of transition `{name}` has {part}, which `.def` files lack"
                    )));
                    String::new()
                }
            },
        }
    }

    /// Adds the function of a transition; returns its mark.
    fn function(&mut self, id: TransitionId, text: &str) -> String {
        let _ = writeln!(self.def, "|{}\n{text}", id.index() + 1);
        format!("{FUNCTION:e}")
    }

    /// A function of the marking: cases, then the value otherwise.
    fn choice(&self, expr: &Expr) -> Result<String, String> {
        let (mut text, mut rest) = (String::new(), expr);
        while let Expr::Call(Function::If, args) = rest {
            let _ = writeln!(text, "when [{}] : {};", self.condition(&args[0])?, self.sum(&args[1])?);
            rest = &args[2];
        }
        Ok(format!("{text}ever : {};", self.sum(rest)?))
    }

    fn sum(&self, expr: &Expr) -> Result<String, String> {
        match expr {
            Expr::Number(value) if *value >= 0.0 => Ok(number(*value, false)),
            Expr::Leaf(Leaf::Tokens(place, _)) => Ok(format!("#{}", self.net.place(*place).id)),
            Expr::Leaf(Leaf::Parameter(id)) => Ok(self.net.parameters()[id.index()].name.clone()),
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide), a, b) => {
                Ok(format!("({} {} {})", self.sum(a)?, op.symbol(), self.sum(b)?))
            }
            Expr::Number(_) | Expr::Unary(UnaryOp::Negate, _) => Err("a minus sign".to_owned()),
            Expr::Leaf(Leaf::Capacity(_)) => Err("a capacity".to_owned()),
            Expr::Call(Function::If, _) => Err("an `if` inside an expression".to_owned()),
            Expr::Call(function, _) => Err(format!("the function `{}`", function.name())),
            Expr::Binary(op, ..) => Err(format!("`{}` as a number", op.symbol())),
            Expr::Unary(UnaryOp::Not, _) => Err("`!` as a number".to_owned()),
        }
    }

    fn condition(&self, expr: &Expr) -> Result<String, String> {
        let joined = |a: &Expr, word: &str, b: &Expr| -> Result<String, String> {
            Ok(format!("({}) {word} ({})", self.condition(a)?, self.condition(b)?))
        };
        match expr {
            Expr::Binary(BinaryOp::And, a, b) => joined(a, "and", b),
            Expr::Binary(BinaryOp::Or, a, b) => joined(a, "or", b),
            Expr::Unary(UnaryOp::Not, a) => Ok(format!("not ({})", self.condition(a)?)),
            Expr::Binary(op, a, b) if op.level() < BinaryOp::Add.level() => {
                let symbol = match op {
                    BinaryOp::Equal => "=",
                    BinaryOp::NotEqual => "<>",
                    other => other.symbol(),
                };
                Ok(format!("{} {symbol} {}", self.sum(a)?, self.sum(b)?))
            }
            _ => Err("a number as a condition".to_owned()),
        }
    }
}

/// Coordinates in the unit of the file, a sixth of the editor's.
fn point(at: Point) -> String {
    format!("{:?} {:?}", at.x / (6.0 * UNIT), at.y / (6.0 * UNIT))
}
