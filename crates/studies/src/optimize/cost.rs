//! Cost of a point: an expression over the names of the axes.

use crate::net::Expr;
use crate::net::expr::{ExprError, NamedLeaf, parse};

/// Name that stands for the number of workers of a job in a cost.
pub const NODES: &str = "nodes";

/// A cost, in a unit chosen by the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost(Expr<NamedLeaf>);

/// Reason why there is no cost.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CostError {
    /// The text is not an expression.
    #[error("the cost: {0}")]
    Text(#[from] ExprError),
    /// An unknown name.
    #[error("the cost: unknown name `{name}`; available: {known}")]
    UnknownName {
        /// The name.
        name: String,
        /// Known names.
        known: String,
    },
    /// The cost has no value at a point.
    #[error("the cost is {value} at {at}; it must be a finite number")]
    NotFinite {
        /// Value of the expression.
        value: f64,
        /// The point.
        at: String,
    },
}

impl Cost {
    /// Reads an expression such as `nodes * (1 + 0.5 * speed)`.
    ///
    /// # Errors
    ///
    /// [`CostError::Text`].
    pub fn parse(text: &str) -> Result<Self, CostError> {
        Ok(Self(parse(text)?))
    }

    /// Returns the cost for these values of the names.
    ///
    /// # Errors
    ///
    /// An unknown name, or a value that is not finite.
    pub fn at(&self, names: &[(&str, f64)]) -> Result<f64, CostError> {
        let mut unknown = None;
        self.0.for_each_leaf(&mut |leaf| {
            let name = match leaf {
                NamedLeaf::Parameter(name) | NamedLeaf::Tokens(name, _) | NamedLeaf::Capacity(name) => &name.text,
            };
            let known = matches!(leaf, NamedLeaf::Parameter(_)) && names.iter().any(|(known, _)| known == name);
            if !known && unknown.is_none() {
                unknown = Some(name.clone());
            }
        });
        if let Some(name) = unknown {
            let known = names.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            return Err(CostError::UnknownName { name, known });
        }
        let value = self.0.eval(&|leaf| match leaf {
            NamedLeaf::Parameter(name) => {
                names.iter().find(|(known, _)| *known == name.text).map_or(f64::NAN, |(_, value)| *value)
            }
            NamedLeaf::Tokens(..) | NamedLeaf::Capacity(_) => f64::NAN,
        });
        if value.is_finite() {
            return Ok(value);
        }
        let at = names.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ");
        Err(CostError::NotFinite { value, at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_an_expression_over_names() {
        let cost = Cost::parse("nodes * (2 + speed) + if(job.reduces > 10, 1, 0)").unwrap();
        let names = [("nodes", 4.0), ("speed", 0.5), ("job.reduces", 20.0)];
        assert_eq!(cost.at(&names), Ok(11.0));
        let error = cost.at(&names[..1]).unwrap_err();
        assert_eq!(error.to_string(), "the cost: unknown name `speed`; available: `nodes`");
        let infinite = Cost::parse("1 / nodes").unwrap().at(&[("nodes", 0.0)]).unwrap_err();
        assert_eq!(infinite.to_string(), "the cost is inf at nodes = 0; it must be a finite number");
        assert!(matches!(Cost::parse("#(nodes)").unwrap().at(&names), Err(CostError::UnknownName { .. })));
        assert!(Cost::parse("2 *").is_err());
    }
}
