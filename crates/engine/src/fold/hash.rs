//! Hashes of attributes: of delays, and of expressions up to the names of their places.

use crate::net::expr::{BinaryOp, Expr, Function, Leaf};
use crate::net::{Delay, Law, Servers, Timing};

/// Mixes two numbers into one.
pub(super) fn mix(a: u64, b: u64) -> u64 {
    let mut x = a ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) ^ 0x2545_f491_4f6c_dd1d;
    x = (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    x = (x ^ (x >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 32)
}

/// Mixes numbers, in their order.
pub(super) fn mix_all(seed: u64, numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(seed, mix)
}

/// Hash of a timing that treats all places as equal.
pub(super) fn timing(timing: &Timing) -> u64 {
    match timing {
        Timing::Immediate { weight, priority } => mix_all(1, [u64::from(*priority), shape(weight)]),
        Timing::Timed { delay: Delay::Exponential { rate }, servers, .. } => {
            mix_all(2, [of_servers(*servers), shape(rate)])
        }
        Timing::Timed { delay: Delay::General(law), servers, memory } => {
            mix_all(3, [of_servers(*servers), *memory as u64, of_law(law)])
        }
    }
}

fn of_servers(servers: Servers) -> u64 {
    match servers {
        Servers::Single => 1,
        Servers::Infinite => 0,
        Servers::Limited(most) => u64::from(most),
    }
}

fn of_law(law: &Law) -> u64 {
    let bits = |numbers: &[f64]| mix_all(numbers.len() as u64, numbers.iter().map(|x| x.to_bits()));
    match law {
        Law::Deterministic { delay } => mix(1, bits(&[*delay])),
        Law::Uniform { low, high } => mix(2, bits(&[*low, *high])),
        Law::Erlang { stages, mean } => mix(3, bits(&[f64::from(*stages), *mean])),
        Law::Hyperexponential { branches } => {
            mix_all(4, branches.iter().flat_map(|branch| [branch.probability.to_bits(), branch.mean.to_bits()]))
        }
        Law::LogNormal { mean, cv } => mix(5, bits(&[*mean, *cv])),
        Law::Weibull { shape, scale } => mix(6, bits(&[*shape, *scale])),
        Law::Pareto { shape, scale } => mix(7, bits(&[*shape, *scale])),
        Law::Empirical { samples } => mix(8, bits(samples)),
        Law::Gamma { shape, scale } => mix(9, bits(&[*shape, *scale])),
    }
}

/// Hash of an expression that treats all places as equal. Operands of `+`, `*`, `&&` and `||` may be in any order.
pub(super) fn shape(expression: &Expr) -> u64 {
    match expression {
        Expr::Number(value) => mix(11, value.to_bits()),
        Expr::Leaf(Leaf::Parameter(id)) => mix(12, id.index() as u64),
        Expr::Leaf(Leaf::Tokens(..)) => 13,
        Expr::Leaf(Leaf::Capacity(_)) => 14,
        Expr::Unary(op, a) => mix(mix(15, *op as u64), shape(a)),
        Expr::Binary(op, a, b) => match operands(expression) {
            Some(operands) => mix(mix(16, *op as u64), sum(operands.iter().map(|operand| shape(operand)))),
            None => mix_all(17, [*op as u64, shape(a), shape(b)]),
        },
        Expr::Call(f, args) if is_symmetric(*f) => mix(mix(18, *f as u64), sum(args.iter().map(shape))),
        Expr::Call(f, args) => mix_all(mix(19, *f as u64), args.iter().map(shape)),
    }
}

/// Calls `visit` for each leaf with a hash of its position in the expression.
pub(super) fn roles(expression: &Expr, above: u64, visit: &mut dyn FnMut(&Leaf, u64)) {
    match expression {
        Expr::Number(_) => {}
        Expr::Leaf(leaf) => visit(leaf, mix(above, shape(expression))),
        Expr::Unary(op, a) => roles(a, mix(mix(above, 21), *op as u64), visit),
        Expr::Binary(op, a, b) => match operands(expression) {
            Some(operands) => among(&operands, mix(mix(above, 22), *op as u64), visit),
            None => {
                let above = mix(mix(above, 23), *op as u64);
                roles(a, mix_all(above, [1, shape(b)]), visit);
                roles(b, mix_all(above, [2, shape(a)]), visit);
            }
        },
        Expr::Call(f, args) if is_symmetric(*f) => {
            among(&args.iter().collect::<Vec<_>>(), mix(mix(above, 24), *f as u64), visit);
        }
        Expr::Call(f, args) => {
            let above = mix_all(mix(above, 25), [*f as u64, shape(expression)]);
            for (i, arg) in (0_u64..).zip(args) {
                roles(arg, mix(above, i), visit);
            }
        }
    }
}

/// As [`roles`], for operands that may be in any order.
fn among(operands: &[&Expr], above: u64, visit: &mut dyn FnMut(&Leaf, u64)) {
    let total = sum(operands.iter().map(|operand| shape(operand)));
    for operand in operands {
        roles(operand, mix(above, total.wrapping_sub(spread(shape(operand)))), visit);
    }
}

/// The operands of a sum, a product, or a chain of `&&` or `||`; none for another expression.
pub(super) fn operands<L>(expression: &Expr<L>) -> Option<Vec<&Expr<L>>> {
    let Expr::Binary(op, ..) = expression else { return None };
    if !matches!(op, BinaryOp::Add | BinaryOp::Multiply | BinaryOp::And | BinaryOp::Or) {
        return None;
    }
    let mut found = Vec::new();
    let mut open = vec![expression];
    while let Some(next) = open.pop() {
        match next {
            Expr::Binary(own, a, b) if own == op => open.extend([&**b, &**a]),
            other => found.push(other),
        }
    }
    Some(found)
}

/// Returns true if the order of a function's arguments does not matter.
pub(super) fn is_symmetric(function: Function) -> bool {
    matches!(function, Function::Max | Function::Min)
}

fn spread(hash: u64) -> u64 {
    mix(31, hash)
}

/// A sum of hashes, which does not depend on their order.
fn sum(hashes: impl Iterator<Item = u64>) -> u64 {
    hashes.fold(0, |sum, hash| sum.wrapping_add(spread(hash)))
}
