//! Writes nets as JANI: a CTMC, or a Markov automaton if there are immediate transitions.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::formats::commands::{Command, Commands, ExportError, Variable, is_truth};
use crate::net::Net;
use crate::net::expr::{BinaryOp, Expr, Function, Leaf, UnaryOp};

/// The format in messages.
const FORMAT: &str = "JANI";

/// The net as a JANI model: one automaton with one location, a variable for each place, an edge for each timed transition.
/// All immediate transitions of one priority become one edge, with one destination for each transition. This edge is
/// enabled only if no transition of a higher priority is enabled. `most` has known upper bounds of places, in addition
/// to the capacities of places.
///
/// # Errors
///
/// Everything that JANI cannot express: delays that are not exponential, several token classes, places without
/// bounds, and some functions.
pub fn write(net: &Net, most: &[Option<u64>]) -> Result<String, Vec<ExportError>> {
    let form = Commands::of(net, most, FORMAT)?;
    let mut writer = Writer { variables: &form.variables, problems: Vec::new() };
    let mut edges = Vec::new();
    let mut levels: BTreeMap<u32, Vec<&Command<'_>>> = BTreeMap::new();
    for command in &form.commands {
        match command.priority {
            Some(priority) => levels.entry(priority).or_default().push(command),
            None => edges.push(writer.timed(command)),
        }
    }
    let kind = if levels.is_empty() { "ctmc" } else { "ma" };
    let mut higher = Vec::new();
    for level in levels.values().rev() {
        edges.push(writer.immediate(level, &higher));
        higher.extend(level.iter().map(|command| enabled(command)));
    }
    let variables: Vec<Value> = form.variables.iter().map(variable).collect();
    let model = json!({
        "jani-version": 1,
        "name": if net.name().is_empty() { "net" } else { net.name() },
        "type": kind,
        "features": ["derived-operators"],
        "variables": variables,
        "automata": [{
            "name": "net",
            "locations": [{"name": "l"}],
            "initial-locations": ["l"],
            "edges": edges,
        }],
        "system": {"elements": [{"automaton": "net"}]},
        "properties": [],
    });
    if writer.problems.is_empty() { Ok(format!("{model:#}\n")) } else { Err(writer.problems) }
}

fn variable(variable: &Variable) -> Value {
    let Variable { name, most, initial } = variable;
    let kind = json!({"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": most});
    json!({"name": name, "type": kind, "initial-value": initial})
}

/// The condition for an immediate transition to fire: it is enabled, and its weight is above 0.
fn enabled(command: &Command<'_>) -> Expr {
    let weighted = match command.rate.as_number() {
        Some(weight) if weight > 0.0 => None,
        _ => Some(Expr::Binary(BinaryOp::Greater, Box::new(command.rate.clone()), Box::new(Expr::Number(0.0)))),
    };
    balanced(BinaryOp::And, command.guard.iter().cloned().chain(weighted).collect())
}

/// Joins conditions into a balanced tree, since readers limit the nesting of JSON.
fn balanced(op: BinaryOp, mut parts: Vec<Expr>) -> Expr {
    while parts.len() > 1 {
        let mut pairs = parts.into_iter();
        let mut joined = Vec::new();
        while let Some(a) = pairs.next() {
            joined.push(match pairs.next() {
                Some(b) => Expr::Binary(op, Box::new(a), Box::new(b)),
                None => a,
            });
        }
        parts = joined;
    }
    parts.pop().unwrap_or(Expr::Number(if op == BinaryOp::And { 1.0 } else { 0.0 }))
}

struct Writer<'v> {
    variables: &'v [Variable],
    problems: Vec<ExportError>,
}

impl Writer<'_> {
    fn timed(&mut self, command: &Command<'_>) -> Value {
        let guard = balanced(BinaryOp::And, command.guard.clone());
        json!({
            "location": "l",
            "comment": command.transition.id,
            "guard": {"exp": self.truth(&guard, command)},
            "rate": {"exp": self.number(&command.rate, command)},
            "destinations": [{"location": "l", "assignments": self.assignments(command)}],
        })
    }

    /// One edge for the immediate transitions of a priority, enabled if no condition of `higher` holds.
    fn immediate(&mut self, level: &[&Command<'_>], higher: &[Expr]) -> Value {
        let first = level[0];
        let own = balanced(BinaryOp::Or, level.iter().map(|command| enabled(command)).collect());
        let above = balanced(BinaryOp::Or, higher.to_vec());
        let guard = match higher.is_empty() {
            true => own,
            false => balanced(BinaryOp::And, vec![own, Expr::Unary(UnaryOp::Not, Box::new(above))]),
        };
        let share = |command: &Command<'_>| {
            Expr::Call(Function::If, vec![enabled(command), command.rate.clone(), Expr::Number(0.0)])
        };
        let sum = balanced(BinaryOp::Add, level.iter().map(|command| share(command)).collect());
        let mut destinations = Vec::new();
        for command in level {
            let mut destination = json!({"location": "l", "comment": command.transition.id});
            if level.len() > 1 {
                let share = Expr::Binary(BinaryOp::Divide, Box::new(share(command)), Box::new(sum.clone()));
                destination["probability"] = json!({"exp": self.number(&share, command)});
            }
            destination["assignments"] = self.assignments(command);
            destinations.push(destination);
        }
        json!({"location": "l", "guard": {"exp": self.truth(&guard, first)}, "destinations": destinations})
    }

    fn assignments(&mut self, command: &Command<'_>) -> Value {
        let mut assignments = Vec::new();
        for (place, tokens) in &command.updates {
            let name = &self.variables[place.index()].name;
            assignments.push(json!({"ref": name, "value": self.number(tokens, command)}));
        }
        Value::Array(assignments)
    }

    fn truth(&mut self, expr: &Expr, command: &Command<'_>) -> Value {
        match expr {
            Expr::Number(value) => json!(*value != 0.0),
            expr if is_truth(expr) => self.plain(expr, command),
            expr => json!({"op": "≠", "left": self.plain(expr, command), "right": 0}),
        }
    }

    fn number(&mut self, expr: &Expr, command: &Command<'_>) -> Value {
        match expr {
            expr if is_truth(expr) => json!({"op": "ite", "if": self.plain(expr, command), "then": 1, "else": 0}),
            expr => self.plain(expr, command),
        }
    }

    fn plain(&mut self, expr: &Expr, command: &Command<'_>) -> Value {
        match expr {
            Expr::Number(value) if value.fract() == 0.0 && value.abs() < 1e15 => json!(*value as i64),
            Expr::Number(value) => json!(value),
            Expr::Leaf(Leaf::Tokens(place, _)) => json!(self.variables[place.index()].name),
            Expr::Leaf(_) => json!(0),
            Expr::Unary(UnaryOp::Not, a) => json!({"op": "¬", "exp": self.truth(a, command)}),
            Expr::Unary(UnaryOp::Negate, a) => json!({"op": "-", "left": 0, "right": self.number(a, command)}),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                json!({"op": symbol(*op), "left": self.truth(a, command), "right": self.truth(b, command)})
            }
            Expr::Binary(op, a, b) => {
                json!({"op": symbol(*op), "left": self.number(a, command), "right": self.number(b, command)})
            }
            Expr::Call(function, args) => self.call(*function, args, command),
        }
    }

    fn call(&mut self, function: Function, args: &[Expr], command: &Command<'_>) -> Value {
        let two = |op: &str, a: Value, b: Value| json!({"op": op, "left": a, "right": b});
        let mut values: Vec<Value> = args.iter().map(|arg| self.number(arg, command)).collect();
        match (function, &mut values[..]) {
            (Function::If, [_, then, otherwise]) => {
                let (then, otherwise) = (then.take(), otherwise.take());
                json!({"op": "ite", "if": self.truth(&args[0], command), "then": then, "else": otherwise})
            }
            (Function::Min | Function::Max, values) => {
                let op = function.name();
                values.iter_mut().map(Value::take).reduce(|a, b| two(op, a, b)).unwrap_or_default()
            }
            (Function::Pow, [a, b]) => two("pow", a.take(), b.take()),
            (Function::Floor | Function::Ceil | Function::Abs, [a]) => json!({"op": function.name(), "exp": a.take()}),
            (Function::Round, [a]) => json!({"op": "floor", "exp": two("+", a.take(), json!(0.5))}),
            (Function::Sqrt, [a]) => two("pow", a.take(), json!(0.5)),
            (Function::Exp, [a]) => two("pow", json!({"constant": "e"}), a.take()),
            (Function::Log, [a]) => two("log", a.take(), json!({"constant": "e"})),
            _ => {
                let what = format!("transition `{}`", command.transition.id);
                self.problems.push(ExportError::Function { what, function: function.name(), format: FORMAT });
                Value::Null
            }
        }
    }
}

fn symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Or => "∨",
        BinaryOp::And => "∧",
        BinaryOp::Equal => "=",
        BinaryOp::NotEqual => "≠",
        BinaryOp::LessOrEqual => "≤",
        BinaryOp::GreaterOrEqual => "≥",
        other => other.symbol(),
    }
}
