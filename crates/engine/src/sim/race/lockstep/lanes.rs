//! Numbers of all lanes as arrays, and expressions over the markings of all lanes.

use std::ops::{Index, IndexMut};

use crate::compile::{Code, Op};
use crate::net::expr::{BinaryOp, UnaryOp};
use crate::simd::Level;

/// Number of replications that run together.
pub(super) const LANES: usize = 64;
/// Maximum number of arguments of a function.
const MAX_ARGUMENTS: usize = 8;

/// One number per lane, aligned so that no vector straddles two cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Lane<T>(pub(super) [T; LANES]);

impl<T: Copy> Lane<T> {
    /// The same number in every lane.
    #[inline(always)]
    pub(super) fn of(value: T) -> Self {
        Self([value; LANES])
    }
}

impl<T> Index<usize> for Lane<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, lane: usize) -> &T {
        &self.0[lane]
    }
}

impl<T> IndexMut<usize> for Lane<T> {
    #[inline(always)]
    fn index_mut(&mut self, lane: usize) -> &mut T {
        &mut self.0[lane]
    }
}

/// The values of an expression in all lanes, each bit for bit equal to [`Code::eval`].
#[derive(Debug)]
pub(super) struct Values(Vec<Lane<f64>>);

impl Values {
    /// Allocates space to evaluate any of these expressions, one at a time.
    pub(super) fn for_all<'c>(codes: impl Iterator<Item = &'c Code>) -> Self {
        Self(vec![Lane::of(0.0); codes.map(Code::depth).max().unwrap_or(0)])
    }

    /// Returns true if an expression can be evaluated here.
    pub(super) fn can_hold(code: &Code) -> bool {
        code.ops().iter().all(|op| !matches!(op, Op::Call(_, arguments) if *arguments as usize > MAX_ARGUMENTS))
    }

    /// Evaluates an expression. Not inlined, so that the program contains its loops only once per vector level.
    #[inline(always)]
    pub(super) fn of(&mut self, code: &Code, marking: &[Lane<u32>], level: Level) -> &Lane<f64> {
        level.run(Evaluate { code, marking, stack: &mut self.0 });
        &self.0[0]
    }
}

struct Evaluate<'a> {
    code: &'a Code,
    marking: &'a [Lane<u32>],
    stack: &'a mut [Lane<f64>],
}

impl pulp::NullaryFnOnce for Evaluate<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { code, marking, stack } = self;
        let mut top = 0;
        for op in code.ops() {
            match *op {
                Op::Number(value) => {
                    stack[top] = Lane::of(value);
                    top += 1;
                }
                Op::Tokens(counter) => {
                    let (values, tokens) = (&mut stack[top], &marking[counter as usize]);
                    for l in 0..LANES {
                        values[l] = f64::from(tokens[l]);
                    }
                    top += 1;
                }
                Op::Unary(op) => unary(op, &mut stack[top - 1]),
                Op::Binary(op) => {
                    top -= 1;
                    let (below, above) = stack.split_at_mut(top);
                    binary(op, &mut below[top - 1], &above[0]);
                }
                Op::Call(function, arguments) => {
                    let first = top - arguments as usize;
                    let mut values = [0.0; MAX_ARGUMENTS];
                    for l in 0..LANES {
                        for (value, argument) in values.iter_mut().zip(&stack[first..top]) {
                            *value = argument[l];
                        }
                        stack[first][l] = function.apply(&values[..arguments as usize]);
                    }
                    top = first + 1;
                }
            }
        }
    }
}

#[inline(always)]
fn unary(op: UnaryOp, a: &mut Lane<f64>) {
    macro_rules! loops {
        ($($name:ident)*) => {
            match op {
                $(UnaryOp::$name => for l in 0..LANES {
                    a[l] = UnaryOp::$name.apply(a[l]);
                })*
            }
        };
    }
    loops!(Negate Not);
}

/// One loop for each operator, so that no loop has to select the operator.
#[inline(always)]
fn binary(op: BinaryOp, a: &mut Lane<f64>, b: &Lane<f64>) {
    macro_rules! loops {
        ($($name:ident)*) => {
            match op {
                $(BinaryOp::$name => for l in 0..LANES {
                    a[l] = BinaryOp::$name.apply(a[l], b[l]);
                })*
            }
        };
    }
    loops!(Or And Equal NotEqual Less LessOrEqual Greater GreaterOrEqual Add Subtract Multiply Divide Remainder);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::lower;
    use crate::net::NetBuilder;

    /// This test was seen to fail if the operands of a binary operator are swapped.
    #[test]
    fn every_lane_has_the_value_of_a_single_evaluation() {
        let mut b = NetBuilder::new("");
        let [_, _] = ["p", "q"].map(|id| b.place(id, 0));
        let net = b.build().unwrap();
        let [mut p, mut q] = [Lane::of(0_u32); 2];
        for l in 0..LANES {
            p[l] = l as u32 % 7;
            q[l] = l as u32 / 7;
        }
        let marking = [p, q];
        for text in [
            "3",
            "#(q)",
            "-#(p) + (!#(q))",
            "#(p) - #(q) * 2 / 7",
            "#(p) % 3 == 1 || #(q) != 2 && #(p) >= 4",
            "(#(p) < #(q)) + (#(p) <= #(q)) * 2 + (#(p) > #(q)) * 4",
            "if(#(p) > #(q), min(#(p), 3, 0.5), max(log(#(q)), pow(#(p), 0.3)))",
            "sin(#(p)) / #(q)",
        ] {
            let code = lower(&net, &net.expression(text).unwrap());
            assert!(Values::can_hold(&code));
            for level in Level::available() {
                let mut values = Values::for_all(std::iter::once(&code));
                let values = values.of(&code, &marking, level);
                for l in 0..LANES {
                    let one = code.eval(&[p[l], q[l]]);
                    assert_eq!(values[l].to_bits(), one.to_bits(), "{text} in lane {l}, {}", level.name());
                }
            }
        }
    }
}
