//! A net as variables with bounds and guarded commands, the form used by model checkers.
//!
//! JANI and the PRISM language are written from this form.

use std::collections::HashSet;

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
            let inputs = arcs.iter().filter(|arc| arc.kind == ArcKind::Input);
            let degrees = inputs.map(|arc| {
                let tokens = Expr::Leaf(Leaf::Tokens(arc.place, None));
                match weight(net, arc) {
                    Expr::Number(one) if one.to_bits() == 1.0_f64.to_bits() => tokens,
                    weight => Expr::Call(Function::Floor, vec![divided(tokens, weight)]),
                }
            });
            let most = match servers {
                Servers::Single => return Ok((rate, None)),
                Servers::Limited(most) => Some(Expr::Number(f64::from(*most))),
                Servers::Infinite => None,
            };
            let degree = degrees.chain(most).reduce(|a, b| Expr::Call(Function::Min, vec![a, b]));
            Ok((
                degree
                    .map_or(rate.clone(), |degree| Expr::Binary(BinaryOp::Multiply, Box::new(rate), Box::new(degree))),
                None,
            ))
        }
    }
}

fn divided(a: Expr, b: Expr) -> Expr {
    Expr::Binary(BinaryOp::Divide, Box::new(a), Box::new(b))
}

/// An expression with parameters and capacities written out.
fn written_out(net: &Net, expr: &Expr) -> Expr {
    let replaced = expr.try_replace::<Leaf, std::convert::Infallible>(&mut |leaf| {
        Ok(match leaf {
            Leaf::Parameter(id) => written_out(net, &net.parameters()[id.index()].value),
            Leaf::Tokens(place, _) => Expr::Leaf(Leaf::Tokens(*place, None)),
            Leaf::Capacity(place) => Expr::Number(net.place(*place).capacity.map_or(f64::INFINITY, f64::from)),
        })
    });
    match replaced {
        Ok(expr) => expr,
        Err(never) => match never {},
    }
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

/// The weight of an arc, rounded as in a firing.
fn weight(net: &Net, arc: &Arc) -> Expr {
    let weight = arc.weights.first().map_or(Expr::Number(0.0), |weight| written_out(net, &weight.weight));
    if is_whole(&weight) { weight } else { Expr::Call(Function::Round, vec![weight]) }
}

/// Returns true if an expression can only be a whole number.
fn is_whole(expr: &Expr) -> bool {
    match expr {
        Expr::Number(value) => value.fract() == 0.0,
        Expr::Leaf(leaf) => matches!(leaf, Leaf::Tokens(..)),
        Expr::Unary(UnaryOp::Negate, a) => is_whole(a),
        Expr::Unary(UnaryOp::Not, _) => true,
        Expr::Binary(BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply, a, b) => is_whole(a) && is_whole(b),
        Expr::Binary(BinaryOp::Divide | BinaryOp::Remainder, ..) => false,
        Expr::Binary(..) => true,
        Expr::Call(Function::Min | Function::Max, args) => args.iter().all(is_whole),
        Expr::Call(Function::If, args) => args[1..].iter().all(is_whole),
        Expr::Call(function, _) => {
            matches!(function, Function::Floor | Function::Ceil | Function::Round | Function::Rint)
        }
    }
}

/// The sum of the weights of the arcs of a kind between a transition and a place.
fn total(net: &Net, arcs: &[&Arc], kind: ArcKind, place: PlaceId) -> Expr {
    let weights = arcs.iter().filter(|arc| arc.kind == kind && arc.place == place).map(|arc| weight(net, arc));
    weights.reduce(plus).unwrap_or(Expr::Number(0.0))
}

fn plus(a: Expr, b: Expr) -> Expr {
    match (a.as_number(), b.as_number()) {
        (Some(a), Some(b)) => Expr::Number(a + b),
        (Some(0.0), None) => b,
        (None, Some(0.0)) => a,
        (None, Some(below)) if below < 0.0 => {
            Expr::Binary(BinaryOp::Subtract, Box::new(a), Box::new(Expr::Number(-below)))
        }
        _ => Expr::Binary(BinaryOp::Add, Box::new(a), Box::new(b)),
    }
}

fn minus(a: Expr, b: Expr) -> Expr {
    match b {
        Expr::Number(b) => plus(a, Expr::Number(-b)),
        b => Expr::Binary(BinaryOp::Subtract, Box::new(a), Box::new(b)),
    }
}

/// The places of a transition's arcs, in order.
fn places(arcs: &[&Arc]) -> Vec<PlaceId> {
    let mut places: Vec<PlaceId> = arcs.iter().map(|arc| arc.place).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// The condition for a transition to be enabled, see docs/semantics.md.
fn enabling(net: &Net, arcs: &[&Arc]) -> Vec<Expr> {
    let compared =
        |op, place, weight| Expr::Binary(op, Box::new(Expr::Leaf(Leaf::Tokens(place, None))), Box::new(weight));
    let mut guard = Vec::new();
    for place in places(arcs) {
        let (input, output) = (total(net, arcs, ArcKind::Input, place), total(net, arcs, ArcKind::Output, place));
        if input.as_number() != Some(0.0) {
            guard.push(compared(BinaryOp::GreaterOrEqual, place, input.clone()));
        }
        for arc in arcs.iter().filter(|arc| arc.place == place) {
            match (arc.kind, weight(net, arc)) {
                (ArcKind::Test, weight) if weight.as_number() != Some(0.0) => {
                    guard.push(compared(BinaryOp::GreaterOrEqual, place, weight));
                }
                (ArcKind::Inhibitor, weight) => guard.push(compared(BinaryOp::Less, place, weight)),
                _ => {}
            }
        }
        if let Some(capacity) = net.place(place).capacity
            && output.as_number() != Some(0.0)
        {
            let most = minus(plus(Expr::Number(f64::from(capacity)), input), output);
            guard.push(compared(BinaryOp::LessOrEqual, place, most));
        }
    }
    guard
}

/// The condition that no transition can fire, as an expression of the net; none for a net with several token classes.
pub fn deadlock_condition(net: &Net) -> Option<Expr> {
    if net.classes().len() > 1 {
        return None;
    }
    let both = |op| move |a, b| Expr::Binary(op, Box::new(a), Box::new(b));
    let enabled = net.transitions().iter().enumerate().map(|(t, transition)| {
        let arcs: Vec<&Arc> = net.arcs().iter().filter(|arc| arc.transition.index() == t).collect();
        let mut guard = enabling(net, &arcs);
        if let Timing::Timed { delay: Delay::Exponential { rate }, .. } = &transition.timing
            && rate.as_number().is_none()
        {
            guard.push(Expr::Binary(BinaryOp::NotEqual, Box::new(rate.clone()), Box::new(Expr::Number(0.0))));
        }
        guard.into_iter().reduce(both(BinaryOp::And)).unwrap_or(Expr::Number(1.0))
    });
    let any = enabled.reduce(both(BinaryOp::Or)).unwrap_or(Expr::Number(0.0));
    Some(Expr::Unary(UnaryOp::Not, Box::new(any)))
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
