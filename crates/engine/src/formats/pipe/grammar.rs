//! Expressions that PIPE 4.3 (jeval) and PIPE 5 (its ANTLR grammar) can evaluate.

use std::collections::HashSet;

use crate::formats::pipe::finding::{PipeVersion, Severity};
use crate::net::expr::{BinaryOp, Expr, Function, Leaf, UnaryOp};
use crate::net::{Net, Place};

/// Reasons why a PIPE version cannot evaluate an expression correctly, without duplicates. Each is the end of a sentence. `shared_names` are names of several places, in lower case.
pub(super) fn obstacles(
    net: &Net,
    shared_names: &HashSet<String>,
    expr: &Expr,
    version: PipeVersion,
) -> Vec<(Severity, String)> {
    let mut found = Vec::new();
    walk(expr, &mut |part| {
        let obstacle = match version {
            PipeVersion::Pipe43 => obstacle_43(net, shared_names, part),
            PipeVersion::Pipe5 => obstacle_5(net, part),
        };
        if let Some(obstacle) = obstacle
            && !found.contains(&obstacle)
        {
            found.push(obstacle);
        }
    });
    if matches!(expr, Expr::Leaf(Leaf::Parameter(_))) {
        // a rate that consists only of a parameter is written as a rate definition
        found.clear();
    }
    found
}

fn obstacle_43(net: &Net, shared_names: &HashSet<String>, part: &Expr) -> Option<(Severity, String)> {
    match part {
        Expr::Leaf(Leaf::Tokens(place, class)) => {
            let place = net.place(*place);
            if class.is_some() && net.classes().len() > 1 {
                let message = format!("counts tokens of one class in `{}`, which PIPE 4.3 cannot express", place.id);
                return Some((Severity::Wrong, message));
            }
            misnamed(shared_names, place)
        }
        Expr::Leaf(Leaf::Capacity(place)) => misnamed(shared_names, net.place(*place)),
        Expr::Leaf(Leaf::Parameter(_)) => {
            Some((Severity::Refused, "uses a rate parameter inside an expression".to_owned()))
        }
        Expr::Call(Function::If, _) => Some((Severity::Refused, "uses `if`".to_owned())),
        _ => None,
    }
}

/// PIPE 4.3 looks up places by name, ignoring letter case.
fn misnamed(shared_names: &HashSet<String>, place: &Place) -> Option<(Severity, String)> {
    if !place.name.is_empty() {
        let message = format!(
            "is written with the id `{}`, but PIPE 4.3 looks for the name, which is `{}`",
            place.id, place.name
        );
        return Some((Severity::Wrong, message));
    }
    let shared = shared_names.contains(&place.label().to_lowercase());
    shared.then(|| (Severity::Wrong, format!("names `{}`, which is the name of several places", place.id)))
}

fn obstacle_5(net: &Net, part: &Expr) -> Option<(Severity, String)> {
    let cannot =
        |what: String| Some((Severity::Refused, format!("uses {what}, which the grammar of PIPE 5 does not have")));
    match part {
        Expr::Number(value) if *value < 0.0 => cannot("a negative number".to_owned()),
        Expr::Number(value) if format!("{value}").contains('e') => cannot("an exponent".to_owned()),
        Expr::Number(_) => None,
        Expr::Leaf(Leaf::Parameter(_)) => cannot("a rate parameter inside an expression".to_owned()),
        Expr::Leaf(Leaf::Tokens(place, _) | Leaf::Capacity(place)) => {
            let id = &net.place(*place).id;
            let plain =
                id.starts_with(|c: char| c.is_ascii_alphabetic()) && id.bytes().all(|b| b.is_ascii_alphanumeric());
            if plain { None } else { cannot(format!("the id `{id}`")) }
        }
        Expr::Unary(UnaryOp::Negate, _) => cannot("a minus sign before an operand".to_owned()),
        Expr::Unary(UnaryOp::Not, _) => cannot("`!`".to_owned()),
        Expr::Binary(BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide, ..) => None,
        Expr::Binary(op, ..) => cannot(format!("`{}`", op.symbol())),
        Expr::Call(Function::Ceil | Function::Floor, _) => None,
        Expr::Call(function, _) => cannot(format!("`{}`", function.name())),
    }
}

fn walk(expr: &Expr, visit: &mut impl FnMut(&Expr)) {
    visit(expr);
    match expr {
        Expr::Number(_) | Expr::Leaf(_) => {}
        Expr::Unary(_, a) => walk(a, visit),
        Expr::Binary(_, a, b) => {
            walk(a, visit);
            walk(b, visit);
        }
        Expr::Call(_, args) => args.iter().for_each(|a| walk(a, visit)),
    }
}

/// Returns true if an operator occurs.
pub(super) fn has(expr: &Expr, op: BinaryOp) -> bool {
    let mut found = false;
    walk(expr, &mut |part| found |= matches!(part, Expr::Binary(used, ..) if *used == op));
    found
}

/// Returns true if `floor` or `ceil` occurs, which makes PIPE 4.3 accept a division.
pub(super) fn rounds(expr: &Expr) -> bool {
    let mut found = false;
    walk(expr, &mut |part| found |= matches!(part, Expr::Call(Function::Floor | Function::Ceil, _)));
    found
}

/// Returns true if the value may fall below 0, judging by the operators.
pub(super) fn may_be_negative(expr: &Expr) -> bool {
    let mut found = has(expr, BinaryOp::Subtract);
    walk(expr, &mut |part| found |= matches!(part, Expr::Unary(UnaryOp::Negate, _)));
    found
}
