//! Constraints: expressions over the keys of a plan that every point must satisfy.
//!
//! Parses and checks constraints, and excludes points. The grammar comes from [`expr`](crate::net::expr); only the code that
//! builds the points' models knows the value of a key at a point.

use std::ops::Range;

use toml::Value;

use crate::net::Expr;
use crate::net::expr::{ExprError, Leaf, Name, NamedLeaf, parse_paths};
use crate::plan;
use crate::sweep::point::Point;

/// A condition that every point must satisfy.
#[derive(Clone, Debug)]
pub struct Constraint {
    expr: Expr<NamedLeaf>,
    /// The keys in the expression, from left to right.
    names: Vec<Name>,
}

/// Reason why a text is not a constraint, or why it cannot be evaluated. Spans are byte ranges in the constraint's text.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConstraintFault {
    /// The text is not an expression.
    #[error(transparent)]
    Text(#[from] ExprError),
    /// The text refers to tokens or a capacity.
    #[error("a constraint can use only keys of the plan, not the marking of place `{place}`")]
    Marking {
        /// The name of the place.
        place: String,
        /// Position in the text, in bytes.
        span: Range<usize>,
    },
    /// An unknown key.
    #[error("there is no key or axis `{name}`")]
    UnknownName {
        /// The key.
        name: String,
        /// Position in the text, in bytes.
        span: Range<usize>,
    },
    /// A key whose value is not a number.
    #[error("at point {point}, `{name}` is {value}, which is not a number")]
    NoNumber {
        /// The key.
        name: String,
        /// Value of the key.
        value: String,
        /// Number of the point among all points of the design.
        point: u64,
        /// Position in the text, in bytes.
        span: Range<usize>,
    },
}

impl ConstraintFault {
    /// Returns the byte range of the problem in the constraint's text.
    pub fn span(&self) -> Range<usize> {
        match self {
            Self::Text(error) => error.span(),
            Self::Marking { span, .. } | Self::UnknownName { span, .. } | Self::NoNumber { span, .. } => span.clone(),
        }
    }
}

impl Constraint {
    /// Returns the keys in the expression, from left to right.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| name.text.as_str())
    }

    /// Reads a constraint such as `job.reduces <= 2 * cluster.node[0].count`.
    ///
    /// # Errors
    ///
    /// A text that is not an expression, or that refers to a marking.
    pub fn parse(text: &str) -> Result<Self, ConstraintFault> {
        let expr = parse_paths(text)?;
        let (mut names, mut marking) = (Vec::new(), None);
        expr.for_each_leaf(&mut |leaf| match leaf {
            NamedLeaf::Parameter(name) => names.push(name.clone()),
            NamedLeaf::Tokens(place, _) | NamedLeaf::Capacity(place) => marking = Some(place.clone()),
        });
        match marking {
            Some(Name { text: place, span }) => Err(ConstraintFault::Marking { place, span }),
            None => Ok(Self { expr, names }),
        }
    }

    /// Returns true if a point satisfies the constraint. `values` are the values of the constraint's names, from left to
    /// right. An undefined result (0/0) does not satisfy it.
    fn holds(&self, values: &[Option<Value>], point: u64) -> Result<bool, ConstraintFault> {
        let mut at = self.names.iter().zip(values);
        let number = self.expr.try_replace(&mut |_| {
            // leaves are visited in the order of the names
            let Some((name, value)) = at.next() else { return Ok(Expr::Number(f64::NAN)) };
            number(name, value.as_ref(), point).map(Expr::Number)
        })?;
        let truth = number.eval(&|_: &Leaf| f64::NAN);
        Ok(truth != 0.0 && !truth.is_nan())
    }
}

fn number(name: &Name, value: Option<&Value>, point: u64) -> Result<f64, ConstraintFault> {
    let Name { text: name, span } = name.clone();
    match value {
        None => Err(ConstraintFault::UnknownName { name, span }),
        Some(Value::Integer(number)) => Ok(*number as f64),
        Some(Value::Float(number)) => Ok(*number),
        Some(Value::Boolean(truth)) => Ok(f64::from(u8::from(*truth))),
        Some(other) => Err(ConstraintFault::NoNumber { name, value: other.to_string(), point, span }),
    }
}

/// The points of a design that satisfy all constraints.
#[derive(Clone, Debug, PartialEq)]
pub struct Admitted {
    /// The base (always included) and the points that satisfy the constraints, renumbered from 1.
    pub points: Vec<Point>,
    /// Number of points that were excluded.
    pub left_out: u64,
    /// True if the base violates a constraint.
    pub base_breaks: bool,
}

/// A function that returns the values of names at a point; none for a name that has no value there.
pub type ValuesOf<'a> = dyn Fn(&Point, &[&str]) -> Vec<Option<Value>> + 'a;

/// Excludes the points that violate a constraint; `values` returns the values of keys at a point.
///
/// # Errors
///
/// The position of the first constraint that cannot be evaluated, with the reason.
pub fn admitted(
    points: Vec<Point>,
    constraints: &[Constraint],
    values: &ValuesOf<'_>,
) -> Result<Admitted, (usize, ConstraintFault)> {
    let mut found = Admitted { points: Vec::with_capacity(points.len()), left_out: 0, base_breaks: false };
    let names: Vec<&str> = constraints.iter().flat_map(Constraint::keys).collect();
    for point in points {
        let values = if names.is_empty() { Vec::new() } else { values(&point, &names) };
        let (mut rest, mut fine) = (&values[..], true);
        for (i, constraint) in constraints.iter().enumerate() {
            let (own, others) = rest.split_at(constraint.names.len().min(rest.len()));
            fine &= constraint.holds(own, point.number).map_err(|fault| (i, fault))?;
            rest = others;
        }
        if fine || point.number == 0 {
            found.base_breaks |= !fine;
            found.points.push(Point { number: found.points.len() as u64, ..point });
        } else {
            found.left_out += 1;
        }
    }
    Ok(found)
}

/// Returns the byte range in a plan's text that corresponds to the bytes `within` of constraint `number`; the whole constraint if it is
/// written with escapes.
pub fn place(plan: &str, number: usize, within: Range<usize>) -> Option<Range<usize>> {
    let whole = plan::place(plan, &format!("sweep.constraints[{number}]"))?;
    let text = plan.get(whole.clone())?;
    let quotes = if text.starts_with("'''") || text.starts_with("\"\"\"") { 3 } else { 1 };
    let content = text.get(quotes..text.len().checked_sub(quotes)?)?;
    let is_changed = content.starts_with(['\n', '\r']) || (text.starts_with('"') && content.contains('\\'));
    let start = whole.start + quotes;
    Some(if !is_changed && within.end <= content.len() { start + within.start..start + within.end } else { whole })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(number: u64, a: i64) -> Point {
        Point { number, values: vec![Some(Value::Integer(a))] }
    }

    /// `x[0].a` is the value of the axis, `two` is 2, `word` is a text.
    fn values(point: &Point, names: &[&str]) -> Vec<Option<Value>> {
        let value = |name: &&str| match *name {
            "x[0].a" | "x[*].a" => point.values[0].clone(),
            "two" => Some(Value::Float(2.0)),
            "word" => Some(Value::String("w".into())),
            _ => None,
        };
        names.iter().map(value).collect()
    }

    #[allow(clippy::type_complexity, reason = "three facts in one comparison")]
    fn left(constraints: &[&str]) -> Result<(Vec<(u64, i64)>, u64, bool), (usize, ConstraintFault)> {
        let constraints: Vec<_> = constraints.iter().map(|text| Constraint::parse(text).unwrap()).collect();
        let points = (0..6).map(|i| point(i, i as i64)).collect();
        let found = admitted(points, &constraints, &values)?;
        let points = found.points.iter().map(|p| (p.number, p.values[0].as_ref().unwrap().as_integer().unwrap()));
        Ok((points.collect(), found.left_out, found.base_breaks))
    }

    #[test]
    fn points_that_break_a_constraint_are_left_out_and_the_others_numbered_anew() {
        assert_eq!(left(&["x[0].a >= two"]).unwrap(), (vec![(0, 0), (1, 2), (2, 3), (3, 4), (4, 5)], 1, true));
        let both = left(&["x[0].a >= 1", "two * x[*].a <= 4 + x[0].a - x[0].a"]).unwrap();
        assert_eq!(both, (vec![(0, 0), (1, 1), (2, 2)], 3, true));
        assert_eq!(left(&["two % 2 == 0"]).unwrap().1, 0);
        // 0/0 is neither true nor false
        assert_eq!(left(&["0 / 0"]).unwrap().1, 5);
    }

    #[test]
    fn invalid_constraints_are_reported_with_their_location() {
        let (which, fault) = left(&["1", "two + threee > 0"]).unwrap_err();
        assert_eq!((which, fault.span()), (1, 6..12));
        assert_eq!(fault.to_string(), "there is no key or axis `threee`");
        let (_, fault) = left(&["word"]).unwrap_err();
        assert_eq!(fault.to_string(), "at point 0, `word` is \"w\", which is not a number");
        let told = |text| Constraint::parse(text).unwrap_err();
        assert_eq!(
            told("#(a b) > 1").to_string(),
            "a constraint can use only keys of the plan, not the marking of place `a b`"
        );
        assert_eq!(told("x[0.a > 1").span(), 3..4);
        assert_eq!(told("1 +").span(), 3..3);
    }

    #[test]
    fn locations_in_a_constraint_are_found_in_the_plan() {
        let plan = "[sweep]\nconstraints = [\"a < 1\", 'bb > 2', \"c \\u003C 3\"]\n";
        let at = |number, within| place(plan, number, within).map(|span| &plan[span]);
        assert_eq!([at(0, 0..1), at(1, 0..2), at(1, 5..6)], [Some("a"), Some("bb"), Some("2")]);
        assert_eq!(at(2, 0..1), Some("\"c \\u003C 3\""));
    }
}
