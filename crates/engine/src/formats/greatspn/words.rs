//! Names and expressions as GreatSPN writes them.

use std::collections::HashSet;

use crate::net::expr::{BinaryOp, Expr, Function, Leaf, UnaryOp};
use crate::net::{Net, PlaceId};

/// Words of GreatSPN's language, which cannot be used as names.
const RESERVED: [&str; 40] = [
    "True",
    "False",
    "Infinite",
    "clock",
    "Act",
    "PROB_TA",
    "in",
    "CN",
    "Card",
    "Subclass",
    "Min",
    "Max",
    "Mod",
    "Pow",
    "Fract",
    "Factorial",
    "Abs",
    "Sin",
    "Cos",
    "Tan",
    "Asin",
    "Acos",
    "Atan",
    "Exp",
    "Log",
    "Sqrt",
    "Ceil",
    "Floor",
    "Round",
    "Binomial",
    "If",
    "when",
    "ever",
    "All",
    "and",
    "or",
    "not",
    "x",
    "I",
    "R",
];

/// Unique names for all parts of a net. A name has only letters, digits and underscores.
#[derive(Debug)]
pub(super) struct Words<'n> {
    net: &'n Net,
    pub(super) places: Vec<String>,
    pub(super) transitions: Vec<String>,
    parameters: Vec<String>,
    /// True for each rate parameter that does not depend on the marking.
    constant: Vec<bool>,
}

impl<'n> Words<'n> {
    pub(super) fn of(net: &'n Net) -> Self {
        let mut constant: Vec<bool> = Vec::new();
        for parameter in net.parameters() {
            let mut own = true;
            parameter.value.for_each_leaf(&mut |leaf| {
                own &= matches!(leaf, Leaf::Parameter(other) if constant.get(other.index()) == Some(&true));
            });
            constant.push(own);
        }
        let mut used: HashSet<String> = RESERVED.iter().map(|word| (*word).to_owned()).collect();
        let mut named = |ids: Vec<&str>| -> Vec<String> { ids.into_iter().map(|id| fresh(id, &mut used)).collect() };
        Self {
            net,
            constant,
            places: named(net.places().iter().map(|place| place.id.as_str()).collect()),
            transitions: named(net.transitions().iter().map(|transition| transition.id.as_str()).collect()),
            parameters: named(net.parameters().iter().map(|parameter| parameter.name.as_str()).collect()),
        }
    }

    /// The name of a rate parameter.
    pub(super) fn parameter(&self, index: usize) -> &str {
        &self.parameters[index]
    }

    /// Returns true if a rate parameter can be a constant: it does not depend on the marking.
    pub(super) fn is_constant(&self, index: usize) -> bool {
        self.constant[index]
    }

    /// An expression as text; if `whole`, numbers are written without a decimal point.
    ///
    /// # Errors
    ///
    /// The part that GreatSPN cannot express.
    pub(super) fn text(&self, expr: &Expr, whole: bool) -> Result<String, String> {
        Writer { words: self, whole }.outer(expr)
    }

    fn place(&self, id: PlaceId) -> &str {
        &self.places[id.index()]
    }
}

/// An unused name, as similar to an id as possible.
fn fresh(id: &str, used: &mut HashSet<String>) -> String {
    let mut name: String = id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        name.insert(0, '_');
    }
    let stem = name.clone();
    let mut number = 2_u32;
    while !used.insert(name.clone()) {
        name = format!("{stem}_{number}");
        number += 1;
    }
    name
}

/// A number as GreatSPN reads it: with digits on both sides of a point, or whole.
pub(super) fn number(value: f64, whole: bool) -> String {
    if whole && value.fract() == 0.0 && value.abs() < 1e15 {
        return format!("{value}");
    }
    let text = format!("{value:?}");
    match text.split_once('e') {
        Some((mantissa, exponent)) if !mantissa.contains('.') => format!("{mantissa}.0e{exponent}"),
        _ => text,
    }
}

struct Writer<'w, 'n> {
    words: &'w Words<'n>,
    whole: bool,
}

impl Writer<'_, '_> {
    /// The expression without brackets around it.
    fn outer(&self, expr: &Expr) -> Result<String, String> {
        Ok(match expr {
            Expr::Number(value) => number(*value, self.whole),
            Expr::Leaf(leaf) => self.leaf(leaf)?,
            Expr::Unary(UnaryOp::Negate, a) => format!("-{}", self.inner(a)?),
            Expr::Call(Function::If, args) => {
                format!("If[{}, {}, {}]", self.truth(&args[0])?, self.outer(&args[1])?, self.outer(&args[2])?)
            }
            Expr::Call(function, args) => self.call(*function, args)?,
            Expr::Binary(op, a, b) if op.level() >= BinaryOp::Add.level() => {
                if *op == BinaryOp::Remainder {
                    return Err("the operator `%`".to_owned());
                }
                format!("{} {} {}", self.inner(a)?, op.symbol(), self.inner(b)?)
            }
            truth => format!("If[{}, 1, 0]", self.truth(truth)?),
        })
    }

    /// The expression as an operand.
    fn inner(&self, expr: &Expr) -> Result<String, String> {
        let text = self.outer(expr)?;
        let sole = match expr {
            Expr::Number(value) => *value >= 0.0,
            Expr::Leaf(Leaf::Parameter(id)) => self.words.is_constant(id.index()),
            Expr::Leaf(_) | Expr::Call(..) => true,
            _ => false,
        };
        Ok(if sole { text } else { format!("({text})") })
    }

    fn leaf(&self, leaf: &Leaf) -> Result<String, String> {
        let net = self.words.net;
        match leaf {
            Leaf::Tokens(place, _) => Ok(format!("#{}", self.words.place(*place))),
            Leaf::Parameter(id) if self.words.is_constant(id.index()) => {
                Ok(self.words.parameter(id.index()).to_owned())
            }
            // a parameter that depends on the marking is replaced by its expression
            Leaf::Parameter(id) => self.outer(&net.parameters()[id.index()].value),
            Leaf::Capacity(place) => match net.place(*place).capacity {
                Some(capacity) => Ok(capacity.to_string()),
                None => Err(format!("the capacity of place `{}`, which has no capacity", net.place(*place).id)),
            },
        }
    }

    fn call(&self, function: Function, args: &[Expr]) -> Result<String, String> {
        let name = match function {
            Function::Min => "Min",
            Function::Max => "Max",
            Function::Pow => "Pow",
            Function::Abs => "Abs",
            Function::Sin => "Sin",
            Function::Cos => "Cos",
            Function::Tan => "Tan",
            Function::Asin => "Asin",
            Function::Acos => "Acos",
            Function::Atan => "Atan",
            Function::Exp => "Exp",
            Function::Sqrt => "Sqrt",
            Function::Ceil => "Ceil",
            Function::Floor => "Floor",
            Function::Round => "Round",
            other => return Err(format!("the function `{}`", other.name())),
        };
        let mut texts = args.iter().map(|arg| self.outer(arg)).collect::<Result<Vec<_>, _>>()?;
        // functions of GreatSPN have at most two arguments
        while texts.len() > 2 {
            let last = texts.pop().unwrap_or_default();
            let before = texts.pop().unwrap_or_default();
            texts.push(format!("{name}[{before}, {last}]"));
        }
        Ok(format!("{name}[{}]", texts.join(", ")))
    }

    /// The expression as a truth value.
    fn truth(&self, expr: &Expr) -> Result<String, String> {
        Ok(match expr {
            Expr::Number(value) => (if *value == 0.0 { "False" } else { "True" }).to_owned(),
            Expr::Unary(UnaryOp::Not, a) => format!("!({})", self.truth(a)?),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                format!("({}) {} ({})", self.truth(a)?, op.symbol(), self.truth(b)?)
            }
            Expr::Binary(op, a, b) if op.level() < BinaryOp::Add.level() => {
                format!("{} {} {}", self.inner(a)?, op.symbol(), self.inner(b)?)
            }
            other => format!("{} != 0", self.inner(other)?),
        })
    }
}
