//! Marking expressions composed with constant folding, and their linear form.

use std::collections::BTreeMap;

use crate::net::PlaceId;
use crate::net::expr::{BinaryOp, Expr, Function, Leaf, UnaryOp};

/// Returns true if an expression is the constant `value`.
pub(super) fn is(expr: &Expr, value: f64) -> bool {
    expr.as_number().is_some_and(|number| number.to_bits() == value.to_bits())
}

/// `op a`, with constants folded.
pub(super) fn unary(op: UnaryOp, a: Expr) -> Expr {
    match a {
        Expr::Number(value) => Expr::Number(op.apply(value)),
        a => Expr::Unary(op, Box::new(a)),
    }
}

/// `a op b`, with constants and neutral operands folded.
pub(super) fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    if let (Some(x), Some(y)) = (a.as_number(), b.as_number()) {
        return Expr::Number(op.apply(x, y));
    }
    let known = |expr: &Expr| expr.as_number().map(|value| value != 0.0);
    match op {
        BinaryOp::And | BinaryOp::Or => {
            let neutral = op == BinaryOp::And;
            match (known(&a), known(&b)) {
                (Some(truth), _) => return if truth == neutral { b } else { a },
                (_, Some(truth)) => return if truth == neutral { a } else { b },
                _ if a == b => return a,
                _ => {}
            }
        }
        BinaryOp::Add if is(&a, 0.0) => return b,
        BinaryOp::Multiply if is(&a, 1.0) => return b,
        BinaryOp::Add | BinaryOp::Subtract if is(&b, 0.0) => return a,
        BinaryOp::Multiply | BinaryOp::Divide if is(&b, 1.0) => return a,
        BinaryOp::Divide if a == b => return Expr::Number(1.0),
        _ => {}
    }
    Expr::Binary(op, Box::new(a), Box::new(b))
}

/// `a && b && …`; true if there are no terms.
pub(super) fn all(conditions: impl IntoIterator<Item = Expr>) -> Expr {
    conditions.into_iter().reduce(|a, b| binary(BinaryOp::And, a, b)).unwrap_or(Expr::Number(1.0))
}

/// A function's value, with constants folded.
pub(super) fn call(function: Function, args: Vec<Expr>) -> Expr {
    let numbers: Option<Vec<f64>> = args.iter().map(Expr::as_number).collect();
    match numbers {
        Some(numbers) => Expr::Number(function.apply(&numbers)),
        None => Expr::Call(function, args),
    }
}

/// `if(condition, then, else)`, with a constant condition folded.
pub(super) fn choose(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    match condition.as_number() {
        Some(truth) => {
            if truth != 0.0 {
                then
            } else {
                otherwise
            }
        }
        None => Expr::Call(Function::If, vec![condition, then, otherwise]),
    }
}

/// The tokens of a place.
pub(super) fn tokens(place: PlaceId) -> Expr {
    Expr::Leaf(Leaf::Tokens(place, None))
}

/// A sum of places with coefficients other than 0, and a constant.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Linear {
    pub(super) terms: BTreeMap<PlaceId, f64>,
    pub(super) constant: f64,
}

impl Linear {
    /// The linear form of an expression, if it has one.
    pub(super) fn of(expr: &Expr) -> Option<Self> {
        match expr {
            Expr::Number(constant) => Some(Self { constant: *constant, ..Self::default() }),
            Expr::Leaf(Leaf::Tokens(place, None)) => Some(Self { terms: [(*place, 1.0)].into(), constant: 0.0 }),
            Expr::Unary(UnaryOp::Negate, a) => Some(Self::of(a)?.scaled(-1.0)),
            Expr::Binary(BinaryOp::Add, a, b) => Some(Self::of(a)?.plus(&Self::of(b)?)),
            Expr::Binary(BinaryOp::Subtract, a, b) => Some(Self::of(a)?.plus(&Self::of(b)?.scaled(-1.0))),
            Expr::Binary(BinaryOp::Multiply, a, b) => {
                let (a, b) = (Self::of(a)?, Self::of(b)?);
                if a.terms.is_empty() {
                    Some(b.scaled(a.constant))
                } else {
                    b.terms.is_empty().then(|| a.scaled(b.constant))
                }
            }
            Expr::Binary(BinaryOp::Divide, a, b) => {
                let b = Self::of(b)?;
                (b.terms.is_empty() && b.constant != 0.0)
                    .then(|| Self::of(a))
                    .flatten()
                    .map(|a| a.scaled(1.0 / b.constant))
            }
            _ => None,
        }
    }

    fn scaled(mut self, factor: f64) -> Self {
        self.terms.values_mut().for_each(|coefficient| *coefficient *= factor);
        self.terms.retain(|_, coefficient| *coefficient != 0.0);
        self.constant *= factor;
        self
    }

    fn plus(mut self, other: &Self) -> Self {
        for (place, coefficient) in &other.terms {
            *self.terms.entry(*place).or_insert(0.0) += coefficient;
        }
        self.terms.retain(|_, coefficient| *coefficient != 0.0);
        self.constant += other.constant;
        self
    }

    /// The sum after the tokens of some places are replaced by known numbers.
    pub(super) fn with(mut self, known: impl Fn(PlaceId) -> Option<f64>) -> Self {
        let mut constant = self.constant;
        self.terms.retain(|place, coefficient| match known(*place) {
            Some(tokens) => {
                constant += *coefficient * tokens;
                false
            }
            None => true,
        });
        self.constant = constant;
        self
    }

    /// The place and the coefficient, if there is only one.
    pub(super) fn single(&self) -> Option<(PlaceId, f64)> {
        let (place, coefficient) = self.terms.first_key_value()?;
        (self.terms.len() == 1).then_some((*place, *coefficient))
    }

    /// Coefficients and the constant.
    pub(super) fn numbers(&self) -> impl Iterator<Item = f64> + '_ {
        self.terms.values().copied().chain([self.constant])
    }

    /// `factor` times the sum as an expression.
    pub(super) fn expression(&self, factor: f64) -> Expr {
        let term = |(place, coefficient): (&PlaceId, &f64)| {
            binary(BinaryOp::Multiply, Expr::Number(factor * coefficient), tokens(*place))
        };
        let sum = self.terms.iter().map(term).reduce(|a, b| binary(BinaryOp::Add, a, b));
        let constant = Expr::Number(factor * self.constant);
        match sum {
            Some(sum) if self.constant == 0.0 => sum,
            Some(sum) => binary(BinaryOp::Add, sum, constant),
            None => constant,
        }
    }
}
