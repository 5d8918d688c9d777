//! Sums over places in expressions: terms with equal coefficients are combined, and firings can update integer sums.
//!
//! [`lower_reward`] writes `0.5 * #(a) + 2 * #(b) + 0.5 * #(c)` as `0.5 * (#(a) + #(c)) + 2 * #(b)`. The remaining sums
//! are sums and differences of token counts, which are integers and therefore exact in any order.
//! [`IntegerSums::split`] extracts them from a code, so that a simulation can update them on each firing; both ways of
//! evaluation give equal bits.

use std::collections::HashMap;

use crate::compile::Csr;
use crate::compile::code::{Code, Op, emitted, simplified};
use crate::net::expr::{BinaryOp, UnaryOp};
use crate::net::{Expr, Net};

/// Maximum number of terms of an integer sum: with token counts below 2^32, no partial sum reaches 2^53.
const MAX_TERMS: usize = 1 << 20;
/// Maximum constant of an integer sum, for the same reason.
const MAX_CONSTANT: i64 = 1 << 52;

/// Lowers a reward of `net`: like [`lower`](crate::compile::lower), with terms of equal coefficients combined.
pub fn lower_reward(net: &Net, expr: &Expr) -> Code {
    emitted(&grouped(simplified(net, expr)))
}

/// Terms of a sum with coefficients of one magnitude.
struct Class {
    magnitude: f64,
    added: Vec<Expr<u32>>,
    subtracted: Vec<Expr<u32>>,
}

/// The terms of a sum.
#[derive(Default)]
struct Terms {
    /// In order of first appearance.
    classes: Vec<Class>,
    by_magnitude: HashMap<u64, usize>,
    constants: Vec<f64>,
    /// Terms that are not a number times tokens.
    others: Vec<(f64, Expr<u32>)>,
}

fn binary(op: BinaryOp, a: Expr<u32>, b: Expr<u32>) -> Expr<u32> {
    Expr::Binary(op, Box::new(a), Box::new(b))
}

/// The expression with its sums over places grouped by coefficient.
fn grouped(expr: Expr<u32>) -> Expr<u32> {
    match expr {
        Expr::Binary(BinaryOp::Add | BinaryOp::Subtract, ..) => {
            let mut terms = Terms::default();
            terms.collect(&expr, 1.0);
            if terms.are_worth_it() { terms.sum() } else { in_spine(expr) }
        }
        other => in_children(other, grouped),
    }
}

/// Keeps the additions and subtractions at the top of an expression, and groups the sums within their operands.
fn in_spine(expr: Expr<u32>) -> Expr<u32> {
    match expr {
        Expr::Binary(BinaryOp::Add | BinaryOp::Subtract, ..) => in_children(expr, in_spine),
        other => grouped(other),
    }
}

fn in_children(expr: Expr<u32>, change: fn(Expr<u32>) -> Expr<u32>) -> Expr<u32> {
    match expr {
        Expr::Number(_) | Expr::Leaf(_) => expr,
        Expr::Unary(op, a) => Expr::Unary(op, Box::new(change(*a))),
        Expr::Binary(op, a, b) => binary(op, change(*a), change(*b)),
        Expr::Call(f, args) => Expr::Call(f, args.into_iter().map(change).collect()),
    }
}

impl Terms {
    fn collect(&mut self, expr: &Expr<u32>, factor: f64) {
        match expr {
            Expr::Number(value) => self.constants.push(factor * value),
            Expr::Leaf(_) => self.class(factor).push(expr.clone()),
            Expr::Binary(BinaryOp::Add, a, b) => {
                self.collect(a, factor);
                self.collect(b, factor);
            }
            Expr::Binary(BinaryOp::Subtract, a, b) => {
                self.collect(a, factor);
                self.collect(b, -factor);
            }
            Expr::Binary(BinaryOp::Multiply, a, b) => match (a.as_number(), b.as_number()) {
                (Some(times), _) if (factor * times).is_finite() => self.collect(b, factor * times),
                (_, Some(times)) if (factor * times).is_finite() => self.collect(a, factor * times),
                _ => self.others.push((factor, grouped(expr.clone()))),
            },
            Expr::Unary(UnaryOp::Negate, a) => self.collect(a, -factor),
            other => self.others.push((factor, grouped(other.clone()))),
        }
    }

    fn class(&mut self, factor: f64) -> &mut Vec<Expr<u32>> {
        let at = *self.by_magnitude.entry(factor.abs().to_bits()).or_insert_with(|| {
            self.classes.push(Class { magnitude: factor.abs(), added: Vec::new(), subtracted: Vec::new() });
            self.classes.len() - 1
        });
        let class = &mut self.classes[at];
        if factor < 0.0 { &mut class.subtracted } else { &mut class.added }
    }

    /// Returns true if a coefficient occurs more than once outside integer sums.
    fn are_worth_it(&self) -> bool {
        let repeats = self.classes.iter().any(|class| class.added.len() + class.subtracted.len() > 1);
        let is_plain =
            self.others.is_empty() && self.classes.iter().all(|class| class.magnitude.to_bits() == 1.0_f64.to_bits());
        repeats && !is_plain
    }

    /// The sum: integer sums times their coefficients, then the other terms, then the constant.
    fn sum(self) -> Expr<u32> {
        let mut signed = Vec::new();
        for Class { magnitude, added, subtracted } in self.classes {
            let factor = if added.is_empty() { -magnitude } else { magnitude };
            let (first, then) = if added.is_empty() { (subtracted, added) } else { (added, subtracted) };
            let sum = first.into_iter().reduce(|a, b| binary(BinaryOp::Add, a, b));
            let sum = sum.map(|sum| then.into_iter().fold(sum, |a, b| binary(BinaryOp::Subtract, a, b)));
            signed.extend(sum.map(|sum| (factor, sum)));
        }
        signed.extend(self.others);
        let constant: f64 = self.constants.iter().sum();
        if !self.constants.is_empty() {
            signed.push((1.0, Expr::Number(constant)));
        }
        let times = |factor: f64, what| match factor {
            1.0 => what,
            _ => binary(BinaryOp::Multiply, Expr::Number(factor), what),
        };
        let add = |sum: Option<Expr<u32>>, (factor, what): (f64, Expr<u32>)| {
            Some(match sum {
                Some(sum) if factor < 0.0 => binary(BinaryOp::Subtract, sum, times(-factor, what)),
                Some(sum) => binary(BinaryOp::Add, sum, times(factor, what)),
                None => times(factor, what),
            })
        };
        signed.into_iter().fold(None, add).unwrap_or(Expr::Number(0.0))
    }
}

/// A constant plus counters multiplied by integers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct IntegerSum {
    terms: Vec<(u32, i64)>,
    constant: i64,
}

impl IntegerSum {
    fn of(op: Op) -> Option<Self> {
        match op {
            Op::Tokens(counter) => Some(Self { terms: vec![(counter, 1)], constant: 0 }),
            // -0.0 is not an integer: it would change the sign of a sum that is 0
            Op::Number(value)
                if value.fract() == 0.0 && value.abs() < 4e9 && value.to_bits() != (-0.0_f64).to_bits() =>
            {
                Some(Self { terms: Vec::new(), constant: value as i64 })
            }
            _ => None,
        }
    }

    fn join(mut self, op: BinaryOp, other: Self) -> Option<Self> {
        let sign = match op {
            BinaryOp::Add => 1,
            BinaryOp::Subtract => -1,
            _ => return None,
        };
        self.constant += sign * other.constant;
        self.terms.extend(other.terms.into_iter().map(|(counter, factor)| (counter, sign * factor)));
        (self.terms.len() <= MAX_TERMS && self.constant.abs() <= MAX_CONSTANT).then_some(self)
    }

    /// Each counter once, ascending.
    fn sorted(mut self) -> Self {
        self.terms.sort_unstable_by_key(|(counter, _)| *counter);
        self.terms.dedup_by(|later, first| {
            let is_same = later.0 == first.0;
            first.1 += if is_same { later.1 } else { 0 };
            is_same
        });
        self
    }

    fn value(&self, marking: &[u32]) -> i64 {
        self.constant + self.terms.iter().map(|(c, factor)| factor * i64::from(marking[*c as usize])).sum::<i64>()
    }
}

/// The distinct integer sums of several codes.
#[derive(Clone, Debug, Default)]
pub(crate) struct IntegerSums {
    sums: Vec<IntegerSum>,
    numbers: HashMap<IntegerSum, usize>,
}

impl IntegerSums {
    pub(crate) fn len(&self) -> usize {
        self.sums.len()
    }

    /// The value of a sum in `marking`, term by term.
    pub(crate) fn value(&self, sum: usize, marking: &[u32]) -> i64 {
        self.sums[sum].value(marking)
    }

    /// Per counter: the sums that contain it, each with its factor.
    pub(crate) fn by_counter(&self, counters: usize) -> Csr<(u32, i64)> {
        let mut rows = vec![Vec::new(); counters];
        for (number, sum) in (0..).zip(&self.sums) {
            for &(counter, factor) in &sum.terms {
                rows[counter as usize].push((number, factor));
            }
        }
        Csr::from_rows(rows)
    }

    /// The code with its largest integer sums over several counters replaced: counter `counters + i` is sum `i`.
    pub(crate) fn split(&mut self, code: &Code, counters: usize) -> Code {
        let mut ops = Vec::new();
        // for each value on the stack: the start of its operations, and its integer sum
        let mut stack: Vec<(usize, Option<IntegerSum>)> = Vec::new();
        for &op in code.ops() {
            let operands = match op {
                Op::Number(_) | Op::Tokens(_) => 0,
                Op::Unary(_) => 1,
                Op::Binary(_) => 2,
                Op::Call(_, arguments) => arguments as usize,
            };
            let mut taken = stack.split_off(stack.len() - operands);
            let begin = taken.first().map_or(ops.len(), |(begin, _)| *begin);
            let joined = match (op, &mut taken[..]) {
                (Op::Binary(op @ (BinaryOp::Add | BinaryOp::Subtract)), [(_, a @ Some(_)), (_, b @ Some(_))]) => {
                    a.take().zip(b.take()).and_then(|(a, b)| a.join(op, b))
                }
                _ => IntegerSum::of(op),
            };
            self.replace(&mut ops, taken, counters);
            ops.push(op);
            stack.push((begin, joined));
        }
        self.replace(&mut ops, stack, counters);
        Code::new(ops)
    }

    /// For each of the last values on the stack that is a sum of several counters, replaces its operations by a read of the
    /// sum.
    fn replace(&mut self, ops: &mut Vec<Op>, values: Vec<(usize, Option<IntegerSum>)>, counters: usize) {
        let mut end = ops.len();
        for (begin, sum) in values.into_iter().rev() {
            if let Some(sum) = sum.map(IntegerSum::sorted).filter(|sum| sum.terms.len() > 1) {
                let number = *self.numbers.entry(sum).or_insert_with_key(|sum| {
                    self.sums.push(sum.clone());
                    counters + self.sums.len() - 1
                });
                ops.splice(begin..end, [Op::Tokens(u32::try_from(number).expect("a code is shorter than 2^31"))]);
            }
            end = begin;
        }
    }
}
