//! A net as variables with bounds and guarded commands, the form used by model checkers.
//!
//! JANI and the PRISM language are written from this form.

use std::collections::HashSet;

use crate::net::enabling::{enabling, minus, places, plus, total, written_out};
use crate::net::expr::{BinaryOp, Expr, Function, Leaf, UnaryOp};
use crate::net::{Arc, ArcKind, Delay, Net, PlaceId, Servers, Timing, Transition};

/// Reason why a net cannot be written in the format of another tool.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are the words of the message")]
pub enum ExportError {
    /// The net has several token classes, and the format supports only one class.
    #[error("the net has {classes} token classes; {format} supports only one class")]
    Classes { classes: usize, format: &'static str },
    /// A delay that is not exponential.
    #[error("the delay of transition `{transition}` is {law}; {format} has only exponential delays")]
    Delay { transition: String, law: &'static str, format: &'static str },
    /// An immediate transition, in a format without them.
    #[error("transition `{transition}` is immediate, which CTMCs in PRISM do not support; write JANI")]
    Immediate { transition: String },
    /// A place that may hold any number of tokens. Give it a capacity.
    #[error("place `{place}` has no known bound; give it a capacity, or set --place-limit for all such places")]
    Unbounded { place: String },
    /// An expression uses a function that the format lacks.
    #[error("{what} uses `{function}`, which {format} does not have")]
    Function { what: String, function: &'static str, format: &'static str },
    /// Any other feature that the format lacks.
    #[error("{reason}")]
    Lacking { reason: String },
}

/// A place as a variable.
#[derive(Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) most: u64,
    pub(super) initial: u32,
}

/// A transition as a command.
#[derive(Debug)]
pub(super) struct Command<'n> {
    pub(super) transition: &'n Transition,
    pub(super) name: String,
    /// Conditions that must all hold.
    pub(super) guard: Vec<Expr>,
    /// Rate, or weight of an immediate transition.
    pub(super) rate: Expr,
    /// Priority of an immediate transition; none for a timed one.
    pub(super) priority: Option<u32>,
    /// New tokens of the places that change.
    pub(super) updates: Vec<(PlaceId, Expr)>,
}

/// A net as variables and guarded commands.
#[derive(Debug)]
pub(super) struct Commands<'n> {
    pub(super) variables: Vec<Variable>,
    pub(super) commands: Vec<Command<'n>>,
}

impl<'n> Commands<'n> {
    /// Converts a net; `most` has known upper bounds of places, in addition to the capacities of places.
    pub(super) fn of(net: &'n Net, most: &[Option<u64>], format: &'static str) -> Result<Self, Vec<ExportError>> {
        let mut problems = Vec::new();
        if net.classes().len() > 1 {
            problems.push(ExportError::Classes { classes: net.classes().len(), format });
        }
        let mut names = HashSet::new();
        let mut variables = Vec::new();
        for (i, place) in net.places().iter().enumerate() {
            let bound = place.capacity.map(u64::from).into_iter().chain(most.get(i).copied().flatten()).min();
            match bound {
                None => problems.push(ExportError::Unbounded { place: place.id.clone() }),
                Some(bound) => variables.push(Variable {
                    name: identifier(&place.id, &mut names),
                    most: bound.max(place.initial_total()),
                    initial: place.initial.first().copied().unwrap_or(0),
                }),
            }
        }
        let mut names = HashSet::new();
        let mut commands = Vec::new();
        for (t, transition) in net.transitions().iter().enumerate() {
            let arcs: Vec<&Arc> = net.arcs().iter().filter(|arc| arc.transition.index() == t).collect();
            match timing(net, transition, &arcs, format) {
                Err(problem) => problems.push(problem),
                Ok((rate, priority)) => {
                    let (condition, rate) = split(rate);
                    let mut guard = enabling(net, &arcs);
                    guard.extend(condition);
                    let name = identifier(&transition.id, &mut names);
                    commands.push(Command { transition, name, guard, rate, priority, updates: updates(net, &arcs) });
                }
            }
        }
        if problems.is_empty() { Ok(Self { variables, commands }) } else { Err(problems) }
    }
}

/// Words that neither PRISM nor JANI tools take for a variable.
const KEYWORDS: &[&str] = &[
    "A",
    "bool",
    "clock",
    "const",
    "ctmc",
    "C",
    "double",
    "dtmc",
    "E",
    "endinit",
    "endinvariant",
    "endmodule",
    "endobservables",
    "endrewards",
    "endsystem",
    "false",
    "formula",
    "filter",
    "func",
    "F",
    "global",
    "G",
    "init",
    "invariant",
    "I",
    "int",
    "label",
    "max",
    "mdp",
    "min",
    "module",
    "X",
    "nondeterministic",
    "Pmax",
    "Pmin",
    "P",
    "probabilistic",
    "prob",
    "rate",
    "rewards",
    "Rmax",
    "R",
    "S",
    "stochastic",
    "system",
    "true",
    "U",
    "W",
    "floor",
    "ceil",
    "pow",
    "log",
    "mod",
];

/// A name of letters, digits and `_` that is not used yet.
fn identifier(id: &str, names: &mut HashSet<String>) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut name: String = id.chars().map(plain).collect();
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !starts || KEYWORDS.contains(&&name[..]) {
        name.insert_str(0, "p_");
    }
    while !names.insert(name.clone()) {
        name.push('_');
    }
    name
}

/// The rate of a timed transition for its number of servers, or weight and priority of an immediate one.
fn timing(
    net: &Net,
    transition: &Transition,
    arcs: &[&Arc],
    format: &'static str,
) -> Result<(Expr, Option<u32>), ExportError> {
    match &transition.timing {
        Timing::Immediate { weight, priority } => Ok((written_out(net, weight), Some(*priority))),
        Timing::Timed { delay: Delay::General(law), .. } => {
            Err(ExportError::Delay { transition: transition.id.clone(), law: law.name(), format })
        }
        Timing::Timed { delay: Delay::Exponential { rate }, servers, .. } => {
            let rate = written_out(net, rate);
            if *servers == Servers::Single {
                return Ok((rate, None));
            }
            let mut served = degree(net, arcs);
            if let Servers::Limited(most) = servers {
                served = Expr::Call(Function::Min, vec![served, Expr::Number(f64::from(*most))]);
            }
            Ok((Expr::Binary(BinaryOp::Multiply, Box::new(rate), Box::new(served)), None))
        }
    }
}

/// The enabling degree of a transition: the smallest `floor(tokens / weight)` over the places from which it takes tokens,
/// and 1 if it takes none.
fn degree(net: &Net, arcs: &[&Arc]) -> Expr {
    let (mut terms, mut conditions) = (Vec::new(), Vec::new());
    for place in places(arcs) {
        let tokens = Expr::Leaf(Leaf::Tokens(place, None));
        let share = |weight| Expr::Call(Function::Floor, vec![divided(tokens.clone(), weight)]);
        match total(net, arcs, ArcKind::Input, place) {
            Expr::Number(0.0) => {}
            Expr::Number(1.0) => terms.push(tokens),
            Expr::Number(weight) => terms.push(share(Expr::Number(weight))),
            // weight 0 in a marking: the place does not limit the degree
            weight => {
                let takes = Expr::Binary(BinaryOp::Greater, Box::new(weight.clone()), Box::new(Expr::Number(0.0)));
                let at_least_one = Expr::Call(Function::Max, vec![weight, Expr::Number(1.0)]);
                conditions.push(takes.clone());
                terms.push(Expr::Call(Function::If, vec![takes, share(at_least_one), Expr::Number(NO_LIMIT)]));
            }
        }
    }
    let can_be_none = conditions.len() == terms.len();
    let either = conditions.into_iter().reduce(|a, b| Expr::Binary(BinaryOp::Or, Box::new(a), Box::new(b)));
    let Some(least) = terms.into_iter().reduce(|a, b| Expr::Call(Function::Min, vec![a, b])) else {
        return Expr::Number(1.0);
    };
    match either {
        Some(either) if can_be_none => Expr::Call(Function::If, vec![either, least, Expr::Number(1.0)]),
        _ => least,
    }
}

/// More tokens than any place can hold.
const NO_LIMIT: f64 = 4_294_967_295.0;

fn divided(a: Expr, b: Expr) -> Expr {
    Expr::Binary(BinaryOp::Divide, Box::new(a), Box::new(b))
}

/// Splits a rate such as `if(condition, rate, 0)` into the condition and the rate.
fn split(rate: Expr) -> (Option<Expr>, Expr) {
    match rate {
        Expr::Call(Function::If, args) if args.get(2).is_some_and(|last| last.as_number() == Some(0.0)) => {
            let mut args = args.into_iter();
            let condition = args.next();
            (condition, args.next().unwrap_or(Expr::Number(0.0)))
        }
        rate => (None, rate),
    }
}

fn updates(net: &Net, arcs: &[&Arc]) -> Vec<(PlaceId, Expr)> {
    let update = |place| {
        let (input, output) = (total(net, arcs, ArcKind::Input, place), total(net, arcs, ArcKind::Output, place));
        let change = minus(output, input);
        (change.as_number() != Some(0.0)).then(|| (place, plus(Expr::Leaf(Leaf::Tokens(place, None)), change)))
    };
    places(arcs).into_iter().filter_map(update).collect()
}

/// Returns true if an expression is a truth value, in formats that distinguish truth values from numbers.
pub(super) fn is_truth(expr: &Expr) -> bool {
    match expr {
        Expr::Unary(op, _) => *op == UnaryOp::Not,
        Expr::Binary(op, ..) => op.level() <= BinaryOp::Less.level(),
        _ => false,
    }
}
