//! The tree of a marking expression, its printed form and its direct evaluation.
//!
//! Truth values are numbers, as in PIPE: a comparison is 1 or 0, and every number other than 0 is true.

use crate::net::ids::{ClassId, ParameterId, PlaceId};

/// Referent of a leaf of a resolved expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaf {
    /// A named rate parameter.
    Parameter(ParameterId),
    /// Tokens in a place: of one class, or of all.
    Tokens(PlaceId, Option<ClassId>),
    /// Capacity of a place; infinite if it has none.
    Capacity(PlaceId),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-a`
    Negate,
    /// `!a`: 1 if `a` is 0, otherwise 0. Its operand includes comparisons: `!a > 1` is `!(a > 1)`.
    Not,
}

/// Operators with two operands, loosest binding first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the operators")]
pub enum BinaryOp {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// Functions with the names that PIPE 4.3 uses (letter case does not matter), and `if`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the functions")]
pub enum Function {
    Abs,
    Acos,
    Asin,
    Atan,
    Atan2,
    Ceil,
    Cos,
    Exp,
    Floor,
    /// `if(condition, then, else)`
    If,
    /// Natural logarithm.
    Log,
    Max,
    Min,
    Pow,
    /// To the nearest integer, ties to even.
    Rint,
    /// To the nearest integer, ties up.
    Round,
    Sin,
    Sqrt,
    Tan,
    ToDegrees,
    ToRadians,
}

/// An expression over leaves of type `L`: after parsing, these are names with positions; after resolution, ids.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr<L = Leaf> {
    /// A constant.
    Number(f64),
    /// A place, a capacity or a parameter.
    Leaf(L),
    /// An operator with one operand.
    Unary(UnaryOp, Box<Expr<L>>),
    /// An operator with two operands.
    Binary(BinaryOp, Box<Expr<L>>, Box<Expr<L>>),
    /// A function call; the number of arguments fits the function.
    Call(Function, Vec<Expr<L>>),
}

impl From<f64> for Expr {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl<L> Expr<L> {
    /// The constant, if the expression is just a constant.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(value) => Some(*value),
            _ => None,
        }
    }

    /// The same tree with every leaf replaced by an expression; stops at the first error.
    ///
    /// # Errors
    ///
    /// The first error of `leaf`.
    pub fn try_replace<M, E>(&self, leaf: &mut impl FnMut(&L) -> Result<Expr<M>, E>) -> Result<Expr<M>, E> {
        Ok(match self {
            Self::Number(value) => Expr::Number(*value),
            Self::Leaf(l) => leaf(l)?,
            Self::Unary(op, a) => Expr::Unary(*op, Box::new(a.try_replace(leaf)?)),
            Self::Binary(op, a, b) => Expr::Binary(*op, Box::new(a.try_replace(leaf)?), Box::new(b.try_replace(leaf)?)),
            Self::Call(f, args) => Expr::Call(*f, args.iter().map(|a| a.try_replace(leaf)).collect::<Result<_, E>>()?),
        })
    }

    /// Calls `visit` for every leaf, left to right.
    pub fn for_each_leaf(&self, visit: &mut impl FnMut(&L)) {
        match self {
            Self::Number(_) => {}
            Self::Leaf(l) => visit(l),
            Self::Unary(_, a) => a.for_each_leaf(visit),
            Self::Binary(_, a, b) => {
                a.for_each_leaf(visit);
                b.for_each_leaf(visit);
            }
            Self::Call(_, args) => args.iter().for_each(|a| a.for_each_leaf(visit)),
        }
    }

    /// The value, with the value of each leaf given by `leaf`.
    pub fn eval(&self, leaf: &impl Fn(&L) -> f64) -> f64 {
        match self {
            Self::Number(value) => *value,
            Self::Leaf(l) => leaf(l),
            Self::Unary(op, a) => op.apply(a.eval(leaf)),
            Self::Binary(op, a, b) => op.apply(a.eval(leaf), b.eval(leaf)),
            Self::Call(f, args) => {
                let mut values = [0.0; 3];
                if args.len() <= 3 {
                    for (value, arg) in values.iter_mut().zip(args) {
                        *value = arg.eval(leaf);
                    }
                    return f.apply(&values[..args.len()]);
                }
                f.apply(&args.iter().map(|a| a.eval(leaf)).collect::<Vec<_>>())
            }
        }
    }

    /// The text of the expression, with minimal parentheses; `leaf` writes a leaf.
    pub fn text(&self, leaf: &impl Fn(&L) -> String) -> String {
        self.text_within(0, leaf)
    }

    fn text_within(&self, outer: u8, leaf: &impl Fn(&L) -> String) -> String {
        let (own, text) = match self {
            Self::Number(value) if *value < 0.0 => (UNARY_LEVEL, format!("{value}")),
            Self::Number(value) => return format!("{value}"),
            Self::Leaf(l) => return leaf(l),
            Self::Unary(UnaryOp::Negate, a) => (UNARY_LEVEL, format!("-{}", a.text_within(UNARY_LEVEL, leaf))),
            // with more brackets than needed, because some tools let `!` bind more tightly
            Self::Unary(UnaryOp::Not, a) => (NOT_LEVEL, format!("!{}", a.text_within(UNARY_LEVEL + 1, leaf))),
            Self::Binary(op, a, b) => {
                let level = op.level();
                // the right operand needs parentheses at the same level: a - (b - c); so does the left one of a comparison
                let left = if op.compares() { level + 1 } else { level };
                let text = format!("{} {} {}", a.text_within(left, leaf), op.symbol(), b.text_within(level + 1, leaf));
                (level, text)
            }
            Self::Call(f, args) => {
                let args: Vec<_> = args.iter().map(|a| a.text_within(0, leaf)).collect();
                return format!("{}({})", f.name(), args.join(", "));
            }
        };
        if own < outer { format!("({text})") } else { text }
    }
}

/// Precedence of a minus sign; see [`BinaryOp::level`].
const UNARY_LEVEL: u8 = 7;
/// Precedence of `!`, below that of comparisons.
pub(super) const NOT_LEVEL: u8 = 3;

#[inline(always)]
fn truth(value: bool) -> f64 {
    if value { 1.0 } else { 0.0 }
}

impl UnaryOp {
    /// The operator's value.
    #[inline(always)]
    pub fn apply(self, a: f64) -> f64 {
        match self {
            Self::Negate => -a,
            Self::Not => truth(a == 0.0),
        }
    }
}

impl BinaryOp {
    /// Precedence of the operator: 1 (or) to 6 (multiplication).
    pub fn level(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            Self::Equal | Self::NotEqual => 3,
            Self::Less | Self::LessOrEqual | Self::Greater | Self::GreaterOrEqual => 4,
            Self::Add | Self::Subtract => 5,
            Self::Multiply | Self::Divide | Self::Remainder => 6,
        }
    }

    /// Returns true for comparisons, which cannot be chained: `a < b < c` is an error.
    pub(super) fn compares(self) -> bool {
        matches!(self.level(), 3 | 4)
    }

    /// The operator as written.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Or => "||",
            Self::And => "&&",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
        }
    }

    /// The operator's value. Both sides of `&&` and `||` are always evaluated.
    #[inline(always)]
    #[expect(clippy::float_cmp, reason = "equality of expressions is exact, as in PIPE")]
    pub fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Or => truth(a != 0.0 || b != 0.0),
            Self::And => truth(a != 0.0 && b != 0.0),
            Self::Equal => truth(a == b),
            Self::NotEqual => truth(a != b),
            Self::Less => truth(a < b),
            Self::LessOrEqual => truth(a <= b),
            Self::Greater => truth(a > b),
            Self::GreaterOrEqual => truth(a >= b),
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            Self::Remainder => a % b,
        }
    }
}

impl Function {
    /// Every function, in alphabetical order.
    pub const ALL: [Self; 21] = [
        Self::Abs,
        Self::Acos,
        Self::Asin,
        Self::Atan,
        Self::Atan2,
        Self::Ceil,
        Self::Cos,
        Self::Exp,
        Self::Floor,
        Self::If,
        Self::Log,
        Self::Max,
        Self::Min,
        Self::Pow,
        Self::Rint,
        Self::Round,
        Self::Sin,
        Self::Sqrt,
        Self::Tan,
        Self::ToDegrees,
        Self::ToRadians,
    ];

    /// The function as written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Abs => "abs",
            Self::Acos => "acos",
            Self::Asin => "asin",
            Self::Atan => "atan",
            Self::Atan2 => "atan2",
            Self::Ceil => "ceil",
            Self::Cos => "cos",
            Self::Exp => "exp",
            Self::Floor => "floor",
            Self::If => "if",
            Self::Log => "log",
            Self::Max => "max",
            Self::Min => "min",
            Self::Pow => "pow",
            Self::Rint => "rint",
            Self::Round => "round",
            Self::Sin => "sin",
            Self::Sqrt => "sqrt",
            Self::Tan => "tan",
            Self::ToDegrees => "toDegrees",
            Self::ToRadians => "toRadians",
        }
    }

    /// Minimum and maximum number of arguments.
    pub fn arity(self) -> (usize, usize) {
        match self {
            Self::If => (3, 3),
            Self::Atan2 | Self::Pow => (2, 2),
            Self::Min | Self::Max => (2, 64),
            _ => (1, 1),
        }
    }

    /// The function's value; the number of values in `args` must be one that [`Function::arity`] allows.
    #[inline]
    pub fn apply(self, args: &[f64]) -> f64 {
        let x = args[0];
        match self {
            Self::Abs => x.abs(),
            Self::Acos => x.acos(),
            Self::Asin => x.asin(),
            Self::Atan => x.atan(),
            Self::Atan2 => x.atan2(args[1]),
            Self::Ceil => x.ceil(),
            Self::Cos => x.cos(),
            Self::Exp => x.exp(),
            Self::Floor => x.floor(),
            Self::If => args[if x != 0.0 { 1 } else { 2 }],
            Self::Log => x.ln(),
            // not `f64::max`, which may return either of two zeros of different sign
            Self::Max => args.iter().fold(f64::NEG_INFINITY, |a, &b| if a < b { b } else { a }),
            Self::Min => args.iter().fold(f64::INFINITY, |a, &b| if b < a { b } else { a }),
            Self::Pow => x.powf(args[1]),
            Self::Rint => x.round_ties_even(),
            Self::Round => (x + 0.5).floor(),
            Self::Sin => x.sin(),
            Self::Sqrt => x.sqrt(),
            Self::Tan => x.tan(),
            Self::ToDegrees => x.to_degrees(),
            Self::ToRadians => x.to_radians(),
        }
    }
}
