//! Goals that can hold in markings without duration, so that the firing order of immediate transitions matters.
//!
//! Groups of immediate transitions are independent, so each may be resolved before the next. But a goal is observed
//! between their firings: a goal that reads what several groups write may or may not hold in between, depending on the
//! order. Such groups are merged into one group. The transitions of the merged group compete by their weights, as the
//! definition of the nets requires \[AjmoneMarsan1995\]. If the groups' firings can only bring a goal closer, the goal
//! holds after the last group if it ever holds, and no groups need to be merged.

use std::collections::BTreeMap;

use crate::compile::code::{Code, Op};
use crate::compile::influence;
use crate::compile::program::Program;
use crate::net::expr::{BinaryOp, UnaryOp};

/// The direction in which a value changes as a counter rises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slope {
    Up,
    Down,
    /// Either way.
    Any,
}

impl Slope {
    fn turned(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
            Self::Any => Self::Any,
        }
    }
}

/// The slope of a value in each counter that it reads, and facts about the value that determine its truth value.
#[derive(Clone, Debug, Default)]
struct Known {
    slopes: BTreeMap<u32, Slope>,
    constant: Option<f64>,
    /// True if the value is never below 0; a value with a slope then has the same slope as a truth value.
    counts: bool,
}

impl Known {
    fn constant(value: f64) -> Self {
        Self { slopes: BTreeMap::new(), constant: Some(value), counts: value >= 0.0 }
    }

    fn tokens(counter: u32) -> Self {
        Self { slopes: BTreeMap::from([(counter, Slope::Up)]), constant: None, counts: true }
    }

    fn each(self, new: impl Fn(Slope) -> Slope) -> Self {
        Self { slopes: self.slopes.into_iter().map(|(counter, slope)| (counter, new(slope))).collect(), ..self }
    }

    fn turned(self) -> Self {
        let turned = self.each(Slope::turned);
        Self { constant: turned.constant.map(|value| -value), counts: false, ..turned }
    }

    /// A value that depends on this one in an unknown way.
    fn unclear(self) -> Self {
        Self { constant: None, counts: false, ..self.each(|_| Slope::Any) }
    }

    /// The truth value: 1 if this is not 0.
    fn truth(self) -> Self {
        if self.counts { Self { constant: None, ..self } } else { Self { counts: true, ..self.unclear() } }
    }

    /// A value that rises with both of these values.
    fn with(mut self, other: Self) -> Self {
        for (counter, slope) in other.slopes {
            let both = |own: &mut Slope| *own = if *own == slope { slope } else { Slope::Any };
            self.slopes.entry(counter).and_modify(both).or_insert(slope);
        }
        Self { constant: None, counts: self.counts && other.counts, ..self }
    }

    fn comparison(greater: Self, less: Self) -> Self {
        Self { counts: true, ..greater.with(less.turned()) }
    }

    fn unary(op: UnaryOp, value: Self) -> Self {
        match op {
            UnaryOp::Negate => value.turned(),
            UnaryOp::Not => Self { counts: true, ..value.truth().turned() },
        }
    }

    fn binary(op: BinaryOp, left: Self, right: Self) -> Self {
        use BinaryOp as B;
        match (op, left.constant, right.constant) {
            (B::Add, ..) => left.with(right),
            (B::And | B::Or, ..) => left.truth().with(right.truth()),
            (B::Subtract, ..) => left.with(right.turned()),
            (B::Greater | B::GreaterOrEqual, ..) => Self::comparison(left, right),
            (B::Less | B::LessOrEqual, ..) => Self::comparison(right, left),
            (B::Multiply | B::Divide, _, Some(factor)) => left.times(factor),
            (B::Multiply, Some(factor), _) => right.times(factor),
            _ => left.with(right).unclear(),
        }
    }

    fn times(self, factor: f64) -> Self {
        let value = Self { constant: None, ..self };
        if factor < 0.0 { value.turned() } else { value }
    }

    /// The slopes of a code, from the slopes of its parts.
    fn of(code: &Code) -> Self {
        let mut stack: Vec<Self> = Vec::new();
        for op in code.ops() {
            let known = match *op {
                Op::Number(value) => Self::constant(value),
                Op::Tokens(counter) => Self::tokens(counter),
                Op::Unary(op) => Self::unary(op, stack.pop().unwrap_or_default()),
                Op::Binary(op) => {
                    let right = stack.pop().unwrap_or_default();
                    Self::binary(op, stack.pop().unwrap_or_default(), right)
                }
                Op::Call(_, arguments) => {
                    let operands = stack.split_off(stack.len() - arguments as usize);
                    operands.into_iter().fold(Self::default(), Self::with).unclear()
                }
            };
            stack.push(known);
        }
        stack.pop().unwrap_or_default()
    }
}

impl Program {
    /// Returns the program in which the goal is observed as the net defines it, even between firings of immediate
    /// transitions: groups whose order could affect the goal are merged.
    #[must_use]
    pub fn observing(mut self, goal: &Code) -> Self {
        let seen = self.visible(goal);
        if !seen.is_empty() {
            influence::fill(&mut self, &seen);
        }
        self
    }

    /// The counters through which the order of groups could affect a goal.
    fn visible(&self, goal: &Code) -> Vec<u32> {
        if self.groups.rows() < 2 {
            return Vec::new();
        }
        let slopes = Known::of(goal).truth().slopes;
        let mut seen = Vec::new();
        let (mut groups, mut all_helpful) = (Vec::new(), true);
        for t in self.groups.items() {
            let t = *t as usize;
            let changes = self.changes.row(t).iter().map(|change| (change.counter, change.by.signum()));
            let dynamic = self.dynamic.row(t).iter().map(|arc| (arc.counter, 0));
            for (counter, sign) in changes.chain(dynamic) {
                let Some(slope) = slopes.get(&counter) else { continue };
                all_helpful &= matches!((slope, sign), (Slope::Up, 1) | (Slope::Down, -1));
                seen.push(counter);
                groups.push(self.group_of[t]);
            }
        }
        groups.sort_unstable();
        groups.dedup();
        if all_helpful || groups.len() < 2 { Vec::new() } else { seen }
    }
}

#[cfg(test)]
mod tests {
    use crate::compile::{compile, lower};
    use crate::net::{Net, NetBuilder, Timing};

    /// `start` produces a token in `a` and in `b`; an immediate transition moves each of these on, to `c` and to `d`.
    fn two_moves() -> Net {
        let mut b = NetBuilder::new("");
        let [p, a, two, c, d] = ["p", "a", "b", "c", "d"].map(|id| b.place(id, u32::from(id == "p")));
        let start = b.transition("start", Timing::exponential(1.0));
        b.input(p, start, 1.0);
        for (from, to, weight) in [(a, c, 1.0), (two, d, 3.0)] {
            b.output(start, from, 1.0);
            let id = format!("to_{}", if to == c { "c" } else { "d" });
            let t = b.transition(id, Timing::immediate(weight, 1));
            b.input(from, t, 1.0);
            b.output(t, to, 1.0);
        }
        b.build().unwrap()
    }

    fn groups(goal: &str) -> usize {
        let net = two_moves();
        let goal = lower(&net, &net.expression(goal).unwrap());
        compile(&net).unwrap().observing(&goal).groups.rows()
    }

    #[test]
    fn immediate_groups_whose_order_the_goal_can_see_are_merged() {
        for goal in [
            "#(c) > #(d)",
            "#(a) + #(d) >= 2",
            "#(c) + #(d) = 1",
            "#(c) + #(d) - 1",
            "!(#(c) >= 1) && #(d)",
            "max(#(c), #(d))",
        ] {
            assert_eq!(groups(goal), 1, "{goal}");
        }
        for goal in [
            "#(c) >= 1",
            "#(c) = 1",
            "#(c) + #(d) >= 1",
            "#(c) && #(d)",
            "2 * #(c) > 3 - #(d) / 2",
            "!(#(a) + #(b) >= 1)",
            "#(p) = 0",
        ] {
            assert_eq!(groups(goal), 2, "{goal}");
        }
    }
}
