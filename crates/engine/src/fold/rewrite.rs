//! Expressions over the replicas of a class, in counts of tokens: a sum, `&&` or `||` over all replicas becomes one term.

use std::collections::BTreeMap;

use crate::fold::graph::tokens_of;
use crate::fold::hash::operands;
use crate::net::expr::{BinaryOp, Expr, Leaf};
use crate::net::{Net, PlaceId};

/// The image of a place of the original net.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Image {
    /// The place still exists.
    Shared(PlaceId),
    /// The place belongs to one of the replicas of a class.
    Own { class: usize, replica: usize, slot: usize },
}

/// The places of a class in the folded net.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ClassPlaces {
    pub(super) replicas: usize,
    pub(super) places: Vec<PlaceId>,
}

/// A replica, and the number of the place that holds its token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct At {
    pub(super) class: usize,
    pub(super) replica: usize,
    pub(super) slot: usize,
}

/// The images of all places.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Images {
    pub(super) of: Vec<Image>,
    pub(super) classes: Vec<ClassPlaces>,
    /// Capacities of the original net.
    capacities: Vec<f64>,
}

/// A leaf of a term about one replica.
#[derive(Clone, Debug, PartialEq)]
enum TermLeaf {
    Own(usize),
    Outer(Leaf),
}

type Term = Expr<TermLeaf>;

impl Images {
    pub(super) fn new(net: &Net, of: Vec<Image>, classes: Vec<ClassPlaces>) -> Self {
        let capacities = net.places().iter().map(|place| place.capacity.map_or(f64::INFINITY, f64::from)).collect();
        Self { of, classes, capacities }
    }

    /// Rewrites an expression in terms of token counts; `at` is the replica to which it refers, if any. The error is the
    /// class whose replicas the expression distinguishes.
    pub(super) fn rewrite(&self, expression: &Expr, at: Option<At>) -> Result<Expr, usize> {
        if let Some(operands) = operands(expression)
            && let Expr::Binary(op @ (BinaryOp::Add | BinaryOp::And | BinaryOp::Or), ..) = expression
        {
            return self.chain(*op, &operands, at);
        }
        Ok(match expression {
            Expr::Number(value) => Expr::Number(*value),
            Expr::Leaf(leaf) => self.leaf(leaf, at)?,
            Expr::Unary(op, a) => Expr::Unary(*op, Box::new(self.rewrite(a, at)?)),
            Expr::Binary(op, a, b) => Expr::Binary(*op, Box::new(self.rewrite(a, at)?), Box::new(self.rewrite(b, at)?)),
            Expr::Call(f, args) => {
                Expr::Call(*f, args.iter().map(|arg| self.rewrite(arg, at)).collect::<Result<_, _>>()?)
            }
        })
    }

    fn leaf(&self, leaf: &Leaf, at: Option<At>) -> Result<Expr, usize> {
        Ok(match *leaf {
            Leaf::Parameter(id) => Expr::Leaf(Leaf::Parameter(id)),
            Leaf::Capacity(place) => Expr::Number(self.capacities[place.index()]),
            Leaf::Tokens(place, token_class) => match self.of[place.index()] {
                Image::Shared(id) => Expr::Leaf(Leaf::Tokens(id, token_class)),
                Image::Own { class, replica, slot } => match at {
                    Some(at) if (at.class, at.replica) == (class, replica) => {
                        Expr::Number(if at.slot == slot { 1.0 } else { 0.0 })
                    }
                    _ => return Err(class),
                },
            },
        })
    }

    /// Operands of `+`, `&&` or `||`; an operand that occurs once for each replica becomes one operand.
    fn chain(&self, op: BinaryOp, operands: &[&Expr], at: Option<At>) -> Result<Expr, usize> {
        let mut made = Vec::new();
        let mut by_class: BTreeMap<usize, BTreeMap<usize, Vec<&Expr>>> = BTreeMap::new();
        for &operand in operands {
            match self.owners(operand)[..] {
                [(class, replica)] => by_class.entry(class).or_default().entry(replica).or_default().push(operand),
                _ => made.push(self.rewrite(operand, at)?),
            }
        }
        for (class, by_replica) in by_class {
            let terms = self.terms(class, &by_replica);
            match terms {
                Some(terms) => {
                    for term in &terms {
                        made.push(self.combined(op, class, term)?);
                    }
                }
                None => {
                    for operand in by_replica.into_values().flatten() {
                        made.push(self.rewrite(operand, at)?);
                    }
                }
            }
        }
        let both = |a: Expr, b: Expr| Expr::Binary(op, Box::new(a), Box::new(b));
        Ok(made.into_iter().reduce(both).unwrap_or(Expr::Number(0.0)))
    }

    /// The replicas that an expression refers to, at most two.
    fn owners(&self, expression: &Expr) -> Vec<(usize, usize)> {
        let mut owners = Vec::new();
        expression.for_each_leaf(&mut |leaf| {
            if let Some(Image::Own { class, replica, .. }) = tokens_of(leaf).map(|place| self.of[place.index()])
                && owners.len() < 2
                && !owners.contains(&(class, replica))
            {
                owners.push((class, replica));
            }
        });
        owners
    }

    /// The terms that each replica of a class has; none if the replicas have different terms.
    fn terms(&self, class: usize, by_replica: &BTreeMap<usize, Vec<&Expr>>) -> Option<Vec<Term>> {
        if by_replica.len() < self.classes[class].replicas {
            return None;
        }
        let mut all = by_replica.values().map(|operands| {
            let mut terms: Vec<Term> = operands.iter().map(|operand| self.term(operand)).collect();
            if terms.len() > 1 {
                terms.sort_by_cached_key(|term| format!("{term:?}"));
            }
            terms
        });
        let first = all.next()?;
        all.all(|terms| terms == first).then_some(first)
    }

    fn term(&self, operand: &Expr) -> Term {
        replaced(operand, &mut |leaf| match tokens_of(leaf).map(|place| self.of[place.index()]) {
            Some(Image::Own { slot, .. }) => Expr::Leaf(TermLeaf::Own(slot)),
            _ => Expr::Leaf(TermLeaf::Outer(*leaf)),
        })
    }

    /// A term in one local marking: the token is in the place `slot`, or in no place.
    fn value(&self, class: usize, term: &Term, slot: Option<usize>) -> Result<Expr, usize> {
        let value = term.try_replace(&mut |leaf| match leaf {
            TermLeaf::Own(own) => Ok(Expr::Number(if Some(*own) == slot { 1.0 } else { 0.0 })),
            TermLeaf::Outer(leaf) => self.leaf(leaf, None),
        });
        let value = value.map_err(|_| class)?;
        let mut constant = true;
        value.for_each_leaf(&mut |_| constant = false);
        Ok(if constant { Expr::Number(value.eval(&|_| 0.0)) } else { value })
    }

    /// A term of all replicas, joined by an operator.
    fn combined(&self, op: BinaryOp, class: usize, term: &Term) -> Result<Expr, usize> {
        let ClassPlaces { replicas, places } = &self.classes[class];
        let mut slots = Vec::new();
        term.for_each_leaf(&mut |leaf| {
            if let TermLeaf::Own(slot) = leaf
                && !slots.contains(slot)
            {
                slots.push(*slot);
            }
        });
        slots.sort_unstable();
        let nowhere = self.value(class, term, None)?;
        let values: Vec<Expr> =
            slots.iter().map(|&slot| self.value(class, term, Some(slot))).collect::<Result<_, _>>()?;
        let tokens = |slot: usize| Expr::Leaf(Leaf::Tokens(places[slot], None));
        let n = *replicas as f64;
        if op == BinaryOp::Add {
            let own =
                slots.iter().zip(values).filter_map(|(&slot, value)| scaled(difference(value, &nowhere), tokens(slot)));
            let all = scaled(nowhere.clone(), Expr::Number(n));
            return Ok(own.chain(all).reduce(sum).unwrap_or(Expr::Number(0.0)));
        }
        let holds = |value: &Expr| value.as_number().map(|value| value != 0.0).ok_or(class);
        let by_default = holds(&nowhere)?;
        let mut different = Vec::new();
        for (slot, value) in slots.iter().zip(&values) {
            if holds(value)? != by_default {
                different.push(tokens(*slot));
            }
        }
        let Some(count) = different.into_iter().reduce(sum) else {
            return Ok(Expr::Number(f64::from(u8::from(by_default))));
        };
        let (op, bound) = match (op, by_default) {
            (BinaryOp::And, true) => (BinaryOp::LessOrEqual, 0.0),
            (BinaryOp::And, false) => (BinaryOp::GreaterOrEqual, n),
            (_, true) => (BinaryOp::Less, n),
            (_, false) => (BinaryOp::GreaterOrEqual, 1.0),
        };
        Ok(Expr::Binary(op, Box::new(count), Box::new(Expr::Number(bound))))
    }
}

/// An expression with other leaves.
fn replaced<L, M>(expression: &Expr<L>, leaf: &mut impl FnMut(&L) -> Expr<M>) -> Expr<M> {
    let replaced: Result<_, std::convert::Infallible> = expression.try_replace(&mut |own| Ok(leaf(own)));
    match replaced {
        Ok(expression) => expression,
        Err(never) => match never {},
    }
}

pub(super) fn sum(a: Expr, b: Expr) -> Expr {
    Expr::Binary(BinaryOp::Add, Box::new(a), Box::new(b))
}

fn difference(a: Expr, b: &Expr) -> Expr {
    match (a.as_number(), b.as_number()) {
        (Some(a), Some(b)) => Expr::Number(a - b),
        (_, Some(0.0)) => a,
        _ => Expr::Binary(BinaryOp::Subtract, Box::new(a), Box::new(b.clone())),
    }
}

/// A count multiplied by a factor; none if the factor is 0.
pub(super) fn scaled(factor: Expr, count: Expr) -> Option<Expr> {
    Some(match (factor.as_number(), count.as_number()) {
        (Some(0.0), _) => return None,
        (Some(1.0), _) => count,
        (Some(factor), Some(count)) => Expr::Number(factor * count),
        _ => Expr::Binary(BinaryOp::Multiply, Box::new(factor), Box::new(count)),
    })
}
