//! Marking expressions lowered to stack code: with folded constants and without names.

use crate::net::expr::Leaf;
use crate::net::expr::{BinaryOp, Function, UnaryOp};
use crate::net::{ClassId, Expr, Net, PlaceId};

/// Depth of the stack of most codes; it is cleared for each evaluation.
const SMALL_STACK: usize = 8;
/// Maximum depth of a stack without an allocation.
const STACK: usize = 32;

/// One step of a stack program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// Pushes a constant.
    Number(f64),
    /// Pushes the tokens of a counter.
    Tokens(u32),
    /// Replaces the top.
    Unary(UnaryOp),
    /// Replaces the two values on top, the right operand on top.
    Binary(BinaryOp),
    /// Replaces the given number of values, the last argument on top.
    Call(Function, u32),
}

/// A marking expression that the engines can run.
#[derive(Clone, Debug, PartialEq)]
pub struct Code {
    ops: Vec<Op>,
    depth: usize,
}

impl Code {
    /// Creates a code from a stack program that leaves one value.
    pub(crate) fn new(ops: Vec<Op>) -> Self {
        let mut depth = 0;
        let mut deepest = 0;
        for op in &ops {
            match op {
                Op::Number(_) | Op::Tokens(_) => depth += 1,
                Op::Unary(_) => {}
                Op::Binary(_) => depth -= 1,
                Op::Call(_, arguments) => depth -= *arguments as usize - 1,
            }
            deepest = deepest.max(depth);
        }
        Self { ops, depth: deepest }
    }

    /// A constant.
    pub fn constant(value: f64) -> Self {
        Self { ops: vec![Op::Number(value)], depth: 1 }
    }

    /// The steps.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Maximum depth of the stack.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// The value, if it does not depend on the marking.
    pub fn as_constant(&self) -> Option<f64> {
        match self.ops[..] {
            [Op::Number(value)] => Some(value),
            _ => None,
        }
    }

    /// Returns true if the value is 1 or 0 in every marking, because the last operator is a comparison, `!`, `&&` or `||`.
    pub(crate) fn is_truth(&self) -> bool {
        match self.ops.last() {
            Some(Op::Unary(op)) => *op == UnaryOp::Not,
            Some(Op::Binary(op)) => op.level() <= BinaryOp::Less.level(),
            _ => false,
        }
    }

    /// The counters that the value depends on. A counter may occur more than once.
    pub fn counters(&self) -> impl Iterator<Item = u32> {
        self.ops.iter().filter_map(|op| match op {
            Op::Tokens(counter) => Some(*counter),
            _ => None,
        })
    }

    /// A code that is not 0 where this one or another is not 0.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let or = Op::Binary(BinaryOp::Or);
        Self::new(self.ops.iter().chain(&other.ops[..]).copied().chain([or]).collect())
    }

    /// The terms `tokens >= least` of a code that consists only of such terms, joined by `&&`: counter and least, an
    /// integer.
    pub fn as_conjunction(&self) -> Option<Vec<(u32, f64)>> {
        let mut terms = Vec::new();
        let mut ops = &self.ops[..];
        loop {
            match ops {
                [] => return Some(terms),
                [Op::Binary(BinaryOp::And), rest @ ..] if terms.len() > 1 => ops = rest,
                [Op::Tokens(counter), Op::Number(value), Op::Binary(op), rest @ ..] => {
                    let least = match op {
                        BinaryOp::GreaterOrEqual => value.ceil(),
                        BinaryOp::Greater => value.floor() + 1.0,
                        _ => return None,
                    };
                    terms.push((*counter, least));
                    ops = rest;
                }
                _ => return None,
            }
        }
    }

    /// The code as an expression of `net`, the net it was lowered from.
    pub fn expression(&self, net: &Net) -> Expr {
        let classes = net.classes().len();
        let leaf = |counter: usize| {
            let class = (classes > 1).then(|| ClassId::from_index(counter % classes));
            Expr::Leaf(Leaf::Tokens(PlaceId::from_index(counter / classes), class))
        };
        let mut stack = Vec::new();
        for op in &self.ops {
            let arguments = match op {
                Op::Number(_) | Op::Tokens(_) => 0,
                Op::Unary(_) => 1,
                Op::Binary(_) => 2,
                Op::Call(_, arguments) => *arguments as usize,
            };
            let mut operands = stack.split_off(stack.len() - arguments).into_iter().map(Box::new);
            let mut next = || operands.next().unwrap_or_else(|| Box::new(Expr::Number(0.0)));
            stack.push(match *op {
                Op::Number(value) => Expr::Number(value),
                Op::Tokens(counter) => leaf(counter as usize),
                Op::Unary(op) => Expr::Unary(op, next()),
                Op::Binary(op) => Expr::Binary(op, next(), next()),
                Op::Call(function, _) => Expr::Call(function, operands.map(|operand| *operand).collect()),
            });
        }
        stack.pop().unwrap_or(Expr::Number(0.0))
    }

    /// The value in `marking`.
    #[inline]
    pub fn eval(&self, marking: &[u32]) -> f64 {
        self.eval_by(|counter| f64::from(marking[counter as usize]))
    }

    /// The value, with each counter's value given by `tokens`.
    #[inline]
    pub(crate) fn eval_by(&self, tokens: impl Fn(u32) -> f64) -> f64 {
        match self.ops[..] {
            [Op::Number(value)] => value,
            [Op::Tokens(counter)] => tokens(counter),
            [Op::Tokens(counter), Op::Number(value), Op::Binary(op)] => op.apply(tokens(counter), value),
            _ if self.depth <= SMALL_STACK => self.run(tokens, &mut [0.0; SMALL_STACK]),
            _ if self.depth <= STACK => self.run(tokens, &mut [0.0; STACK]),
            _ => self.run(tokens, &mut vec![0.0; self.depth]),
        }
    }

    /// Returns true if the value in `marking` is not 0.
    #[inline]
    pub fn holds(&self, marking: &[u32]) -> bool {
        self.eval(marking) != 0.0
    }

    fn run(&self, tokens: impl Fn(u32) -> f64, stack: &mut [f64]) -> f64 {
        let mut top = 0;
        for op in &self.ops {
            match *op {
                Op::Number(value) => {
                    stack[top] = value;
                    top += 1;
                }
                Op::Tokens(counter) => {
                    stack[top] = tokens(counter);
                    top += 1;
                }
                Op::Unary(op) => stack[top - 1] = op.apply(stack[top - 1]),
                Op::Binary(op) => {
                    top -= 1;
                    stack[top - 1] = op.apply(stack[top - 1], stack[top]);
                }
                Op::Call(function, arguments) => {
                    let first = top - arguments as usize;
                    stack[first] = function.apply(&stack[first..top]);
                    top = first + 1;
                }
            }
        }
        stack[0]
    }
}

/// Lowers an expression of `net`.
pub fn lower(net: &Net, expr: &Expr) -> Code {
    emitted(&simplified(net, expr))
}

/// The expression over counters, with constants folded.
pub(super) fn simplified(net: &Net, expr: &Expr) -> Expr<u32> {
    fold(&substitute(net, expr))
}

/// The stack program of an expression.
pub(super) fn emitted(expr: &Expr<u32>) -> Code {
    let mut ops = Vec::new();
    emit(expr, &mut ops);
    Code::new(ops)
}

/// Counter of a token class in a place: places in order, classes within a place.
pub(crate) fn counter(net: &Net, place: usize, class: usize) -> u32 {
    u32::try_from(place * net.classes().len() + class).expect("a net has fewer than 2^32 counters")
}

/// Replaces parameters and capacities by their values and sums classes, leaving only counters.
fn substitute(net: &Net, expr: &Expr) -> Expr<u32> {
    let replaced: Result<_, std::convert::Infallible> = expr.try_replace(&mut |leaf| {
        Ok(match *leaf {
            Leaf::Parameter(id) => substitute(net, &net.parameters()[id.index()].value),
            Leaf::Capacity(place) => Expr::Number(net.place(place).capacity.map_or(f64::INFINITY, f64::from)),
            Leaf::Tokens(place, Some(class)) => Expr::Leaf(counter(net, place.index(), class.index())),
            Leaf::Tokens(place, None) => {
                let classes = 1..net.classes().len();
                let first = Expr::Leaf(counter(net, place.index(), 0));
                classes.fold(first, |sum, class| {
                    let next = Expr::Leaf(counter(net, place.index(), class));
                    Expr::Binary(BinaryOp::Add, Box::new(sum), Box::new(next))
                })
            }
        })
    });
    match replaced {
        Ok(expr) => expr,
        Err(never) => match never {},
    }
}

/// Evaluates parts that do not depend on the marking.
fn fold(expr: &Expr<u32>) -> Expr<u32> {
    let folded = match expr {
        Expr::Number(_) | Expr::Leaf(_) => return expr.clone(),
        Expr::Unary(op, a) => Expr::Unary(*op, Box::new(fold(a))),
        Expr::Binary(op, a, b) => Expr::Binary(*op, Box::new(fold(a)), Box::new(fold(b))),
        Expr::Call(f, args) => Expr::Call(*f, args.iter().map(fold).collect()),
    };
    // constant operands are numbers by now
    let is_number = |expr: &Expr<u32>| matches!(expr, Expr::Number(_));
    let is_constant = match &folded {
        Expr::Number(_) | Expr::Leaf(_) => false,
        Expr::Unary(_, a) => is_number(a),
        Expr::Binary(_, a, b) => is_number(a) && is_number(b),
        Expr::Call(_, args) => args.iter().all(is_number),
    };
    if is_constant { Expr::Number(folded.eval(&|_| 0.0)) } else { folded }
}

fn emit(expr: &Expr<u32>, ops: &mut Vec<Op>) {
    match expr {
        Expr::Number(value) => ops.push(Op::Number(*value)),
        Expr::Leaf(counter) => ops.push(Op::Tokens(*counter)),
        Expr::Unary(op, a) => {
            emit(a, ops);
            ops.push(Op::Unary(*op));
        }
        Expr::Binary(op, a, b) => {
            emit(a, ops);
            emit(b, ops);
            ops.push(Op::Binary(*op));
        }
        Expr::Call(f, args) => {
            args.iter().for_each(|a| emit(a, ops));
            ops.push(Op::Call(*f, u32::try_from(args.len()).expect("few arguments")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::NetBuilder;

    fn net() -> Net {
        let mut b = NetBuilder::new("");
        let p = b.place("P0", 0);
        b.place_mut(p).capacity = Some(7);
        b.place("P1", 0);
        b.parameter("lam", 0.5);
        b.build().unwrap()
    }

    #[test]
    fn compiled_code_has_the_value_of_the_expression_tree() {
        let net = net();
        for text in [
            "2 * lam + cap(P0)",
            "#(P0) - #(P1) * 2",
            "if(#(P0) > #(P1), min(#(P0), 3, lam), -#(P1))",
            "(#(P0) >= 1 && #(P1) >= 1) * floor(#(P0) / 2)",
        ] {
            let expr = net.expression(text).unwrap();
            let code = lower(&net, &expr);
            for marking in [[0, 0], [3, 1], [1, 4]] {
                let tree = expr.eval(&|leaf| match leaf {
                    Leaf::Parameter(_) => 0.5,
                    Leaf::Capacity(_) => 7.0,
                    Leaf::Tokens(p, _) => f64::from(marking[p.index()]),
                });
                assert_eq!(code.eval(&marking), tree, "{text} in {marking:?}");
                assert_eq!(lower(&net, &code.expression(&net)), code);
            }
        }
    }

    #[test]
    fn constants_are_folded() {
        let net = net();
        let code = lower(&net, &net.expression("2 * lam + cap(P0) * (1 + 1)").unwrap());
        assert_eq!(code.as_constant(), Some(15.0));
        let code = lower(&net, &net.expression("#(P0) * (1 + 1)").unwrap());
        assert_eq!(code.ops().len(), 3);
    }

    #[test]
    fn deep_stacks_fit() {
        let net = net();
        let text = format!("{}#(P0){}", "1 + (".repeat(60), ")".repeat(60));
        let code = lower(&net, &net.expression(&text).unwrap());
        assert_eq!(code.eval(&[2, 0]), 62.0);
    }
}
