//! The condition under which a transition is enabled, as an expression over the marking.

use crate::net::expr::{BinaryOp, Expr, Function, Leaf, UnaryOp};
use crate::net::{Arc, ArcKind, Delay, Net, PlaceId, Timing};

/// The weight of an arc, rounded as in a firing.
pub(crate) fn weight(net: &Net, arc: &Arc) -> Expr {
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
pub(crate) fn total(net: &Net, arcs: &[&Arc], kind: ArcKind, place: PlaceId) -> Expr {
    let weights = arcs.iter().filter(|arc| arc.kind == kind && arc.place == place).map(|arc| weight(net, arc));
    weights.reduce(plus).unwrap_or(Expr::Number(0.0))
}

pub(crate) fn plus(a: Expr, b: Expr) -> Expr {
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

pub(crate) fn minus(a: Expr, b: Expr) -> Expr {
    match b {
        Expr::Number(b) => plus(a, Expr::Number(-b)),
        b => Expr::Binary(BinaryOp::Subtract, Box::new(a), Box::new(b)),
    }
}

/// The places of a transition's arcs, in order.
pub(crate) fn places(arcs: &[&Arc]) -> Vec<PlaceId> {
    let mut places: Vec<PlaceId> = arcs.iter().map(|arc| arc.place).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// The condition under which a transition is enabled (docs/semantics.md).
pub(crate) fn enabling(net: &Net, arcs: &[&Arc]) -> Vec<Expr> {
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
    let mut arcs_of = vec![Vec::new(); net.transitions().len()];
    net.arcs().iter().for_each(|arc| arcs_of[arc.transition.index()].push(arc));
    let enabled = net.transitions().iter().zip(&arcs_of).map(|(transition, arcs)| {
        let mut guard = enabling(net, arcs);
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

/// An expression with parameters and capacities written out.
pub(crate) fn written_out(net: &Net, expr: &Expr) -> Expr {
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
