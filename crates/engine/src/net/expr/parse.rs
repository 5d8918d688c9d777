//! Parses the text of an expression to a tree with names, and resolves names to ids.
//!
//! Every error has the byte span of the text that causes it.

use std::ops::Range;

use crate::net::expr::ast::{BinaryOp, Expr, Function, Leaf, NOT_LEVEL, UnaryOp};
use crate::net::expr::error::{ExprError, MAX_DEPTH, MAX_OPERATORS, OTHER_NAMES};
use crate::net::ids::{ClassId, ParameterId, PlaceId};

/// A name in an expression, and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name as written, without surrounding blanks.
    pub text: String,
    /// Bytes of the expression's text.
    pub span: Range<usize>,
}

/// A leaf with unresolved names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedLeaf {
    /// `rate`
    Parameter(Name),
    /// `#(place)` or `#(place, class)`
    Tokens(Name, Option<Name>),
    /// `cap(place)`
    Capacity(Name),
}

/// Looks names up when an expression is resolved.
pub trait Names {
    /// The place of this id or name.
    fn place(&self, name: &str) -> Option<PlaceId>;
    /// The token class of this id.
    fn class(&self, name: &str) -> Option<ClassId>;
    /// The rate parameter of this name.
    fn parameter(&self, name: &str) -> Option<ParameterId>;
}

/// Parses `text`; names are not resolved yet.
///
/// # Errors
///
/// The first syntax error, with its span.
pub fn parse(text: &str) -> Result<Expr<NamedLeaf>, ExprError> {
    whole(Parser { text, at: 0, depth: 0, operators: 0, paths: false })
}

/// As [`parse`], but names may be paths such as `cluster.node[0].count` or `cluster.node[*].count`.
///
/// # Errors
///
/// The errors of [`parse`].
pub fn parse_paths(text: &str) -> Result<Expr<NamedLeaf>, ExprError> {
    whole(Parser { text, at: 0, depth: 0, operators: 0, paths: true })
}

/// One expression and nothing after it.
fn whole(mut parser: Parser<'_>) -> Result<Expr<NamedLeaf>, ExprError> {
    let expr = parser.conditional()?;
    parser.skip_blanks();
    if parser.at < parser.text.len() {
        return Err(parser.expected("an operator or the end"));
    }
    Ok(expr)
}

/// Replaces the names of a parsed expression by ids.
///
/// # Errors
///
/// The first unknown name, with its span.
pub fn resolve(expr: &Expr<NamedLeaf>, names: &impl Names) -> Result<Expr, ExprError> {
    let place = |name: &Name| {
        names
            .place(&name.text)
            .ok_or_else(|| ExprError::UnknownPlace { name: name.text.clone(), span: name.span.clone() })
    };
    expr.try_replace(&mut |leaf| {
        Ok(Expr::Leaf(match leaf {
            NamedLeaf::Capacity(name) => Leaf::Capacity(place(name)?),
            NamedLeaf::Parameter(name) => {
                let id = names
                    .parameter(&name.text)
                    .ok_or_else(|| ExprError::UnknownParameter { name: name.text.clone(), span: name.span.clone() })?;
                Leaf::Parameter(id)
            }
            NamedLeaf::Tokens(name, class) => {
                let class = match class {
                    None => None,
                    Some(c) => Some(
                        names
                            .class(&c.text)
                            .ok_or_else(|| ExprError::UnknownClass { name: c.text.clone(), span: c.span.clone() })?,
                    ),
                };
                Leaf::Tokens(place(name)?, class)
            }
        }))
    })
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    operators: usize,
    /// True if a name may have indices in square brackets.
    paths: bool,
}

/// Longer symbols first, so that `<=` is not read as `<`.
const OPERATORS: [(&str, BinaryOp); 19] = [
    ("||", BinaryOp::Or),
    ("&&", BinaryOp::And),
    ("==", BinaryOp::Equal),
    ("!=", BinaryOp::NotEqual),
    ("<=", BinaryOp::LessOrEqual),
    (">=", BinaryOp::GreaterOrEqual),
    ("=", BinaryOp::Equal),
    ("<", BinaryOp::Less),
    (">", BinaryOp::Greater),
    ("+", BinaryOp::Add),
    ("-", BinaryOp::Subtract),
    ("*", BinaryOp::Multiply),
    ("/", BinaryOp::Divide),
    ("%", BinaryOp::Remainder),
    ("|", BinaryOp::Or),
    ("&", BinaryOp::And),
    ("or", BinaryOp::Or),
    ("and", BinaryOp::And),
    ("mod", BinaryOp::Remainder),
];

/// Truth values as words.
const TRUTH: [(&str, f64); 2] = [("true", 1.0), ("false", 0.0)];

/// Returns true for a character of a word.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn take(&mut self, symbol: &str) -> bool {
        self.skip_blanks();
        let found = self.rest().starts_with(symbol);
        if found {
            self.at += symbol.len();
        }
        found
    }

    fn expected(&self, expected: &'static str) -> ExprError {
        let width = self.rest().chars().next().map_or(0, char::len_utf8);
        ExprError::Expected { expected, span: self.at..self.at + width }
    }

    fn require(&mut self, symbol: &'static str) -> Result<(), ExprError> {
        if self.take(symbol) { Ok(()) } else { Err(self.expected(symbol)) }
    }

    fn deeper(&mut self) -> Result<(), ExprError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ExprError::TooDeep { span: self.at..self.at });
        }
        Ok(())
    }

    /// Parses `c ? x : y`, which is `if(c, x, y)`, and what binds more tightly.
    fn conditional(&mut self) -> Result<Expr<NamedLeaf>, ExprError> {
        let condition = self.implication()?;
        if !self.take("?") {
            return Ok(condition);
        }
        self.deeper()?;
        let then = self.conditional()?;
        self.require(":")?;
        let otherwise = self.conditional()?;
        self.depth -= 1;
        Ok(Expr::Call(Function::If, vec![condition, then, otherwise]))
    }

    /// Parses `a => b`, which is `!a || b`, from right to left.
    fn implication(&mut self) -> Result<Expr<NamedLeaf>, ExprError> {
        let left = self.binary(1)?;
        if !self.take("=>") {
            return Ok(left);
        }
        self.deeper()?;
        let right = self.implication()?;
        self.depth -= 1;
        Ok(Expr::Binary(BinaryOp::Or, Box::new(Expr::Unary(UnaryOp::Not, Box::new(left))), Box::new(right)))
    }

    /// Returns the operator that follows an operand, and the length of its sign. A word after an operand is an operator only.
    fn operator(&self) -> Option<(usize, BinaryOp)> {
        let rest = self.rest();
        if rest.starts_with("=>") {
            return None;
        }
        let ends = |word: &str| !rest[word.len()..].starts_with(is_of_word);
        let is_next =
            |(sign, _): &&(&str, BinaryOp)| rest.starts_with(sign) && (!sign.starts_with(is_of_word) || ends(sign));
        OPERATORS.iter().find(is_next).map(|(sign, op)| (sign.len(), *op))
    }

    /// Parses operators that bind at least as tightly as `level`. All operators are left-associative; comparisons of one
    /// level do not follow each other.
    fn binary(&mut self, level: u8) -> Result<Expr<NamedLeaf>, ExprError> {
        self.deeper()?;
        let mut left = if level <= NOT_LEVEL && self.take_not() {
            Expr::Unary(UnaryOp::Not, Box::new(self.binary(NOT_LEVEL)?))
        } else {
            self.unary()?
        };
        let mut compared = None;
        loop {
            self.skip_blanks();
            let Some((length, op)) = self.operator().filter(|(_, op)| op.level() >= level) else { break };
            // a long chain of operators is also a deep tree
            self.operators += 1;
            if self.operators > MAX_OPERATORS {
                return Err(ExprError::TooDeep { span: self.at..self.at });
            }
            if op.compares() && compared == Some(op.level()) {
                return Err(self.expected("`&&`, `||` or the end after a comparison (`a < b < c` is `a < b && b < c`)"));
            }
            compared = Some(op.level());
            self.at += length;
            let right = self.binary(op.level() + 1)?;
            left = Expr::Binary(op, Box::new(left), Box::new(right));
        }
        self.depth -= 1;
        Ok(left)
    }

    /// Takes a `!` that is not part of `!=`, or the word `not` before an operand.
    fn take_not(&mut self) -> bool {
        self.skip_blanks();
        if self.rest().starts_with('!') {
            return !self.rest().starts_with("!=") && self.take("!");
        }
        let after = self.rest().strip_prefix("not").filter(|after| !after.starts_with(is_of_word));
        let is_not = after.is_some_and(|after| after.trim_start().starts_with(|c| is_of_word(c) || "#(!".contains(c)));
        self.at += if is_not { "not".len() } else { 0 };
        is_not
    }

    fn unary(&mut self) -> Result<Expr<NamedLeaf>, ExprError> {
        self.skip_blanks();
        if self.rest().starts_with('!') {
            return Err(self.expected("brackets around `!` and its operand, as in `1 - (!a)`"));
        }
        if !self.take("-") {
            return self.power();
        }
        self.deeper()?;
        let operand = self.unary()?;
        self.depth -= 1;
        Ok(match operand {
            Expr::Number(value) => Expr::Number(-value),
            operand => Expr::Unary(UnaryOp::Negate, Box::new(operand)),
        })
    }

    /// Parses `a ^ b`, which is `pow(a, b)`, and `a ^ b ^ c`, which is `a ^ (b ^ c)`.
    fn power(&mut self) -> Result<Expr<NamedLeaf>, ExprError> {
        let base = self.primary()?;
        if !self.take("^") {
            return Ok(base);
        }
        self.deeper()?;
        let exponent = self.unary()?;
        self.depth -= 1;
        Ok(Expr::Call(Function::Pow, vec![base, exponent]))
    }

    fn primary(&mut self) -> Result<Expr<NamedLeaf>, ExprError> {
        self.skip_blanks();
        match self.rest().chars().next() {
            Some('(') => {
                self.at += 1;
                let inner = self.conditional()?;
                self.require(")")?;
                Ok(inner)
            }
            Some('#') => {
                self.at += 1;
                // GreatSPN has no brackets around a place
                if self.rest().starts_with(|c: char| c.is_alphanumeric() || c == '_') {
                    let start = self.at;
                    self.skip_word();
                    let place = Name { text: self.text[start..self.at].to_owned(), span: start..self.at };
                    return Ok(Expr::Leaf(NamedLeaf::Tokens(place, None)));
                }
                self.require("(")?;
                let place = self.name_until(&[',', ')'])?;
                let class = if self.take(",") { Some(self.name_until(&[')'])?) } else { None };
                self.require(")")?;
                Ok(Expr::Leaf(NamedLeaf::Tokens(place, class)))
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => self.word(),
            _ => Err(self.expected("a number, a name, `#(place)` or `(`")),
        }
    }

    fn number(&mut self) -> Result<Expr<NamedLeaf>, ExprError> {
        let bytes = self.rest().as_bytes();
        let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
        let mut end = digits(0);
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end + 1 + sign);
            if exponent > 0 {
                end += 1 + sign + exponent;
            }
        }
        let span = self.at..self.at + end;
        let text = &self.text[span.clone()];
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => {
                self.at = span.end;
                Ok(Expr::Number(value))
            }
            _ => Err(ExprError::BadNumber { text: text.to_owned(), span }),
        }
    }

    /// A function call, a capacity or a parameter.
    fn word(&mut self) -> Result<Expr<NamedLeaf>, ExprError> {
        let start = self.at;
        self.skip_word();
        while self.paths && self.rest().starts_with('[') {
            self.at += 1;
            let index = self.rest().find(|c: char| !(c.is_ascii_digit() || c == '*')).unwrap_or(self.rest().len());
            self.at += index;
            if index == 0 {
                return Err(self.expected("a number or `*`"));
            }
            self.require("]")?;
            self.skip_word();
        }
        let name = Name { text: self.text[start..self.at].to_owned(), span: start..self.at };
        if !self.take("(") {
            self.at = name.span.end;
            if let Some((_, value)) = TRUTH.iter().find(|(word, _)| *word == name.text) {
                return Ok(Expr::Number(*value));
            }
            return Ok(Expr::Leaf(NamedLeaf::Parameter(name)));
        }
        if name.text.eq_ignore_ascii_case("cap") {
            let place = self.name_until(&[')'])?;
            self.require(")")?;
            return Ok(Expr::Leaf(NamedLeaf::Capacity(place)));
        }
        if name.text.eq_ignore_ascii_case("mod") {
            return self.modulo(name.span.start);
        }
        let names = Function::ALL.into_iter().map(|function| (function.name(), function)).chain(OTHER_NAMES);
        let named = names.into_iter().find(|(own, _)| own.eq_ignore_ascii_case(&name.text));
        let Some((_, function)) = named else {
            return Err(ExprError::UnknownFunction { name: name.text, span: name.span });
        };
        let args = self.arguments()?;
        let (least, most) = function.arity();
        if !(least..=most).contains(&args.len()) {
            return Err(ExprError::Arity { name: function.name(), least, most, got: args.len(), span: start..self.at });
        }
        Ok(Expr::Call(function, args))
    }

    /// The arguments of a call, after its opening bracket.
    fn arguments(&mut self) -> Result<Vec<Expr<NamedLeaf>>, ExprError> {
        let mut args = vec![self.conditional()?];
        while self.take(",") {
            args.push(self.conditional()?);
        }
        self.require(")")?;
        Ok(args)
    }

    /// `mod(a, b)`, which is `a % b`.
    fn modulo(&mut self, start: usize) -> Result<Expr<NamedLeaf>, ExprError> {
        let args = self.arguments()?;
        let got = args.len();
        let Ok([a, b]) = <[_; 2]>::try_from(args) else {
            return Err(ExprError::Arity { name: "mod", least: 2, most: 2, got, span: start..self.at });
        };
        Ok(Expr::Binary(BinaryOp::Remainder, Box::new(a), Box::new(b)))
    }

    /// Letters, digits, `_` and `.`.
    fn skip_word(&mut self) {
        let length = self.rest().find(|c: char| !is_of_word(c));
        self.at += length.unwrap_or(self.rest().len());
    }

    /// The name up to one of `ends`: ids of places may contain blanks and nearly any other character.
    fn name_until(&mut self, ends: &[char]) -> Result<Name, ExprError> {
        self.skip_blanks();
        let start = self.at;
        let Some(length) = self.rest().find(|c: char| ends.contains(&c)) else {
            return Err(self.expected("a name and `)`"));
        };
        self.at += length;
        let text = self.text[start..self.at].trim_end();
        if text.is_empty() {
            return Err(ExprError::Expected { expected: "a name", span: start..self.at });
        }
        Ok(Name { text: text.to_owned(), span: start..start + text.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of(leaf: &NamedLeaf) -> String {
        match leaf {
            NamedLeaf::Parameter(n) => n.text.clone(),
            NamedLeaf::Tokens(p, None) => format!("#({})", p.text),
            NamedLeaf::Tokens(p, Some(c)) => format!("#({}, {})", p.text, c.text),
            NamedLeaf::Capacity(p) => format!("cap({})", p.text),
        }
    }

    fn printed(text: &str) -> String {
        parse(text).unwrap().text(&name_of)
    }

    fn value(text: &str) -> f64 {
        parse(text).unwrap().eval(&|leaf| match leaf {
            NamedLeaf::Tokens(..) => 3.0,
            NamedLeaf::Capacity(_) => 5.0,
            NamedLeaf::Parameter(_) => 0.5,
        })
    }

    #[test]
    fn precedence_is_that_of_arithmetic() {
        assert_eq!(value("1 + 2 * 3 - 4 / 2"), 5.0);
        assert_eq!(value("10 - 3 - 2"), 5.0);
        assert_eq!(value("(#(P0)>2)*5 + (#(P0) < 2 || 1 == 2)"), 5.0);
        assert_eq!(value("-#(P)*2"), -6.0);
        assert_eq!(value("if(#(a place) >= cap(b), 1, min(4, 2, 3))"), 2.0);
        assert_eq!(value("1e-3 * 1E3 + .5 + lam"), 2.0);
    }

    /// `!` negates all that follows up to `&&`, `||` or the end of the brackets, as in PRISM.
    #[test]
    fn negation_is_weaker_than_comparisons() {
        assert_eq!(value("!#(a) > 5"), 1.0);
        assert_eq!(value("!#(a) > 1 || !1 + 1 == 2 && 0"), 0.0);
        assert_eq!(value("(!#(a)) < 1 && !!2"), 1.0);
        assert_eq!(printed("! #(a) > 1 & b"), "!(#(a) > 1) && b");
        assert_eq!(printed("(!a) == (!b)"), "(!a) == (!b)");
        for (text, at) in [("1 + !a", 4), ("a == !b", 5), ("-!a", 1)] {
            assert_eq!(parse(text).unwrap_err().span().start, at, "{text}");
        }
    }

    #[test]
    fn spellings_of_other_tools_are_read() {
        assert_eq!(value("2 ^ 3 ^ 2 - -2 ^ 2"), 516.0);
        assert_eq!(value("2 ^ -1 * ln(1) + mod(7, 4) + #p1 * #q"), 12.0);
        assert_eq!(value("1 | 0 & 0"), 1.0);
        assert_eq!(parse("mod(7)").unwrap_err().to_string(), "`mod` takes 2 arguments, not 1");
        let error = parse("cot(7)").unwrap_err().to_string();
        assert!(error.starts_with("there is no function `cot`; the functions are abs, acos, "), "{error}");
    }

    #[test]
    fn printing_keeps_the_meaning_with_few_parentheses() {
        assert_eq!(printed("((1+2))*3"), "(1 + 2) * 3");
        assert_eq!(printed("1-(2-3)"), "1 - (2 - 3)");
        assert_eq!(printed("1-2-3"), "1 - 2 - 3");
        assert_eq!(printed("-(1+#( P0 , Red ))"), "-(1 + #(P0, Red))");
        assert_eq!(printed("!(a && b)||c"), "!(a && b) || c");
        assert_eq!(printed("(1 < x) < 3 == (y == z)"), "(1 < x) < 3 == (y == z)");
    }

    #[test]
    fn functions_state_their_numbers_of_arguments() {
        let told = |text: &str| parse(text).unwrap_err().to_string();
        assert_eq!(told("exp(1, 2)"), "`exp` takes 1 argument, not 2");
        assert_eq!(told("if(1, 2)"), "`if` takes 3 arguments, not 2");
        assert_eq!(told("min(1)"), "`min` takes 2 to 64 arguments, not 1");
    }

    #[test]
    fn errors_point_at_the_text() {
        let spans: Vec<_> =
            ["1 +", "foo(1)", "#(P", "2 3", "pow(1)", "1.2.3", "#()"].map(|t| parse(t).unwrap_err().span()).into();
        assert_eq!(spans, [3..3, 0..3, 2..3, 2..3, 0..6, 0..5, 2..2]);
    }

    #[test]
    fn comparisons_are_not_chained() {
        for (text, at) in [("1 < #(q) < 3", 9), ("a == b != c", 7), ("2 * (a < b <= c)", 11)] {
            assert_eq!(parse(text).unwrap_err().span().start, at, "{text}");
        }
        assert_eq!(value("1 < 2 && 2 < 3"), 1.0);
        assert_eq!(value("(3 < 2) < 1"), 1.0);
        assert_eq!(value("3 < 2 == 4 < 1"), 1.0);
    }

    #[test]
    fn names_may_be_paths_where_that_is_asked_for() {
        let expr = parse_paths("a.b[0].c[12] <= 2*x[*].y").unwrap();
        assert_eq!(expr.text(&name_of), "a.b[0].c[12] <= 2 * x[*].y");
        assert_eq!(parse("a[0]").unwrap_err().span(), 1..2);
        let spans: Vec<_> = ["a[", "a[x]", "a[0", "a[0]b]"].map(|t| parse_paths(t).unwrap_err().span()).into();
        assert_eq!(spans, [2..2, 2..3, 3..3, 5..6]);
    }

    #[test]
    fn deep_nesting_is_refused_not_overflowed() {
        for text in ["(".repeat(100_000), "-".repeat(100_000), "1+".repeat(100_000) + "1"] {
            assert!(matches!(parse(&text), Err(ExprError::TooDeep { .. })));
        }
    }
}
