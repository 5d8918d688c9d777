//! Analysis of guards: the conditions on single places, the remaining conditions, and the overlap of two guards.

use std::collections::BTreeMap;

use crate::formats::jani::algebra::{Linear, binary, unary};
use crate::net::PlaceId;
use crate::net::expr::{BinaryOp, Expr, Leaf, UnaryOp};

/// Maximum number of tokens that is considered.
const MOST: f64 = 4_294_967_296.0;
/// Maximum number of cases that are examined; if they do not suffice, two guards count as overlapping.
const MOST_CASES: u32 = 20_000;

/// A conjunction: bounds of single places, and other conditions.
#[derive(Clone, Debug)]
pub(super) struct Guard<'c> {
    /// Maximum number of tokens of each place.
    most: &'c [u32],
    narrowed: BTreeMap<PlaceId, (i64, i64)>,
    /// Conditions that are not bounds of one place.
    pub(super) rest: Vec<Expr>,
    /// True if the guard holds in no marking.
    pub(super) never: bool,
}

impl<'c> Guard<'c> {
    pub(super) fn new(most: &'c [u32]) -> Self {
        Self { most, narrowed: BTreeMap::new(), rest: Vec::new(), never: false }
    }

    /// Maximum number of tokens of a place in any marking.
    pub(super) fn most(&self, place: PlaceId) -> i64 {
        self.most.get(place.index()).map_or(i64::MAX, |&most| i64::from(most))
    }

    /// Smallest and largest number of tokens of a place for which the guard holds.
    pub(super) fn bounds(&self, place: PlaceId) -> (i64, i64) {
        self.narrowed.get(&place).copied().unwrap_or((0, self.most(place)))
    }

    /// The places whose tokens the guard bounds.
    pub(super) fn narrowed(&self) -> impl Iterator<Item = PlaceId> + '_ {
        self.narrowed.keys().copied()
    }

    /// The tokens of a place, if the guard allows only one number.
    pub(super) fn fixed(&self, place: PlaceId) -> Option<f64> {
        let (least, most) = self.bounds(place);
        (least == most).then_some(least as f64)
    }

    /// Adds the condition that an expression is true, or false.
    pub(super) fn require(&mut self, condition: &Expr, truth: bool) {
        match condition {
            Expr::Number(value) => self.never |= (*value != 0.0) != truth,
            Expr::Leaf(Leaf::Tokens(place, None)) if truth => self.narrow(*place, 1, i64::MAX),
            Expr::Leaf(Leaf::Tokens(place, None)) => self.narrow(*place, 0, 0),
            Expr::Unary(UnaryOp::Not, a) => self.require(a, !truth),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) if (*op == BinaryOp::And) == truth => {
                self.require(a, truth);
                self.require(b, truth);
            }
            Expr::Binary(op, a, b) if comparison(*op).is_some() => {
                let difference = Linear::of(&binary(BinaryOp::Subtract, (**a).clone(), (**b).clone()));
                let op = if truth { *op } else { comparison(*op).unwrap_or(*op) };
                if !difference.is_some_and(|difference| self.compare(op, &difference)) {
                    self.rest.push(Expr::Binary(op, a.clone(), b.clone()));
                }
            }
            other if truth => self.rest.push(other.clone()),
            other => self.rest.push(unary(UnaryOp::Not, other.clone())),
        }
    }

    fn narrow(&mut self, place: PlaceId, least: i64, most: i64) {
        let (before_least, before_most) = self.bounds(place);
        let bounds = (before_least.max(least), before_most.min(most));
        self.never |= bounds.0 > bounds.1;
        self.narrowed.insert(place, bounds);
    }

    /// Adds `difference op 0`, if it involves at most one place.
    fn compare(&mut self, op: BinaryOp, difference: &Linear) -> bool {
        if difference.terms.is_empty() {
            self.never |= op.apply(difference.constant, 0.0) == 0.0;
            return true;
        }
        let Some((place, coefficient)) = difference.single() else { return false };
        let limit = -difference.constant / coefficient;
        // a bound within a rounding error of a whole number is that number
        let limit = if (limit - limit.round()).abs() < 1e-9 { limit.round() } else { limit };
        let limit = limit.clamp(-MOST, MOST);
        let (below, above) = (limit.floor() as i64, limit.ceil() as i64);
        match if coefficient < 0.0 { mirrored(op) } else { op } {
            BinaryOp::Less => self.narrow(place, 0, above - 1),
            BinaryOp::LessOrEqual => self.narrow(place, 0, below),
            BinaryOp::Greater => self.narrow(place, below + 1, i64::MAX),
            BinaryOp::GreaterOrEqual => self.narrow(place, above, i64::MAX),
            BinaryOp::Equal => self.narrow(place, above, below),
            _ => {
                let (least, most) = self.bounds(place);
                match below {
                    _ if below != above || below < least || below > most => {}
                    _ if below == least => self.narrow(place, least + 1, most),
                    _ if below == most => self.narrow(place, least, most - 1),
                    _ => return false,
                }
            }
        }
        true
    }

    /// Returns true if the guard holds in some marking, or if that is unknown.
    pub(super) fn is_possible(&self) -> bool {
        possible(self.clone(), &mut MOST_CASES.clone())
    }
}

/// The opposite of a comparison; none for other operators.
fn comparison(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Less => BinaryOp::GreaterOrEqual,
        BinaryOp::LessOrEqual => BinaryOp::Greater,
        BinaryOp::Greater => BinaryOp::LessOrEqual,
        BinaryOp::GreaterOrEqual => BinaryOp::Less,
        BinaryOp::Equal => BinaryOp::NotEqual,
        BinaryOp::NotEqual => BinaryOp::Equal,
        _ => return None,
    })
}

/// The comparison with exchanged sides.
fn mirrored(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessOrEqual => BinaryOp::GreaterOrEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterOrEqual => BinaryOp::LessOrEqual,
        other => other,
    }
}

/// Returns true if two conditions never hold together: a condition and its opposite, or two comparisons of the same sides.
fn excludes(a: &Expr, b: &Expr) -> bool {
    match (a, b) {
        (a, Expr::Unary(UnaryOp::Not, b)) => **b == *a,
        (Expr::Binary(op, left, right), Expr::Binary(other, from, to)) if left == from && right == to => {
            orders(*op) & orders(*other) == 0
        }
        (Expr::Binary(op, left, right), Expr::Binary(other, from, to)) if left == to && right == from => {
            orders(*op) & orders(mirrored(*other)) == 0
        }
        _ => false,
    }
}

/// Orders of the two sides for which a comparison holds, one bit each: less, equal, greater. All for other operators.
fn orders(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Less => 0b001,
        BinaryOp::Equal => 0b010,
        BinaryOp::LessOrEqual => 0b011,
        BinaryOp::Greater => 0b100,
        BinaryOp::NotEqual => 0b101,
        BinaryOp::GreaterOrEqual => 0b110,
        _ => 0b111,
    }
}

fn possible(mut guard: Guard<'_>, cases: &mut u32) -> bool {
    if guard.never {
        return false;
    }
    if *cases == 0 {
        return true;
    }
    *cases -= 1;
    let sides = guard.rest.iter().enumerate().find_map(|(i, condition)| match condition {
        Expr::Binary(BinaryOp::Or, a, b) => Some((i, [a.clone(), b.clone()], true)),
        Expr::Unary(UnaryOp::Not, a) => match &**a {
            Expr::Binary(BinaryOp::And, a, b) => Some((i, [a.clone(), b.clone()], false)),
            _ => None,
        },
        _ => None,
    });
    let Some((i, sides, truth)) = sides else {
        let contradicts = |a: &Expr| guard.rest.iter().any(|b| excludes(a, b));
        return !guard.rest.iter().any(contradicts);
    };
    guard.rest.swap_remove(i);
    sides.iter().any(|side| {
        let mut case = guard.clone();
        case.require(side, truth);
        possible(case, cases)
    })
}
