//! Parses the text of a formula. This module reads CTL operators; marking expressions between them are read
//! by [`expr`].

use std::ops::Range;

use crate::compile::lower;
use crate::net::expr::{self, Expr, NamedLeaf};
use crate::net::{Net, TransitionId};
use crate::solve::untimed::formula::{Formula, FormulaError, MAX_DEPTH, MAX_NODES, Node};

impl Formula {
    /// Parses `EX`, `EF`, `EG`, `AX`, `AF`, `AG`, `E[a U b]`, `A[a U b]`, `!`, `&&`, `||`, `->`, `deadlock`, `enabled(t)`, `true`,
    /// `false`, and marking expressions, in which a place's name alone counts its tokens.
    ///
    /// # Errors
    ///
    /// The first part of the text that violates the grammar or contains an unknown name, with its span.
    pub fn parse(net: &Net, text: &str) -> Result<Self, FormulaError> {
        let mut parser = Parser { net, text, at: 0, depth: 0, nodes: Vec::new(), sources: Vec::new() };
        let root = parser.implication()?;
        parser.skip_blanks();
        if parser.at < text.len() {
            return Err(parser.expected("`&&`, `||`, `->` or the end"));
        }
        let Parser { mut nodes, mut sources, .. } = parser;
        // the formula must be the last node, even if it ends with a part in parentheses
        nodes.truncate(root + 1);
        sources.truncate(root + 1);
        Ok(Self { text: text.to_owned(), nodes, sources })
    }
}

struct Parser<'a> {
    net: &'a Net,
    text: &'a str,
    at: usize,
    depth: usize,
    nodes: Vec<Node>,
    sources: Vec<Option<Range<usize>>>,
}

/// A CTL operator with one operand.
type Temporal = fn(&mut Parser<'_>, usize) -> Result<usize, FormulaError>;

/// All CTL operators with one operand.
const TEMPORAL: [(&str, Temporal); 6] = [
    ("EX", |parser, of| parser.push(Node::Next(of))),
    ("EF", |parser, of| parser.possible(of)),
    ("EG", |parser, of| parser.push(Node::Always(of))),
    ("AX", |parser, of| parser.never(of, |parser, not| parser.push(Node::Next(not)))),
    ("AF", |parser, of| parser.never(of, |parser, not| parser.push(Node::Always(not)))),
    ("AG", |parser, of| parser.never(of, |parser, not| parser.possible(not))),
];

pub(crate) fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '.'
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
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

    /// Reads a word, unless a letter follows it.
    fn take_word(&mut self, word: &str) -> bool {
        self.skip_blanks();
        let found = self.rest().strip_prefix(word).is_some_and(|rest| !rest.starts_with(is_of_word));
        if found {
            self.at += word.len();
        }
        found
    }

    fn expected(&self, expected: &'static str) -> FormulaError {
        let width = self.rest().chars().next().map_or(0, char::len_utf8);
        FormulaError::Expected { expected, span: self.at..self.at + width }
    }

    fn require(&mut self, symbol: &'static str, expected: &'static str) -> Result<(), FormulaError> {
        if self.take(symbol) { Ok(()) } else { Err(self.expected(expected)) }
    }

    fn deeper(&mut self) -> Result<(), FormulaError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(FormulaError::TooLong { span: self.at..self.at }) } else { Ok(()) }
    }

    fn push(&mut self, node: Node) -> Result<usize, FormulaError> {
        if self.nodes.len() >= MAX_NODES {
            return Err(FormulaError::TooLong { span: self.at..self.at });
        }
        self.nodes.push(node);
        self.sources.push(None);
        Ok(self.nodes.len() - 1)
    }

    /// Records the text of a node, from `start` to the current position.
    fn named(&mut self, node: usize, start: usize) -> usize {
        let end = start + self.text[start..self.at].trim_end().len();
        self.sources[node].get_or_insert(start..end);
        node
    }

    /// Adds EF: on some path, the operand holds eventually.
    fn possible(&mut self, of: usize) -> Result<usize, FormulaError> {
        let anything = self.push(Node::True)?;
        self.push(Node::Until(anything, of))
    }

    /// Adds the negation of an operator on the negated operand.
    fn never(
        &mut self,
        of: usize,
        operator: impl FnOnce(&mut Self, usize) -> Result<usize, FormulaError>,
    ) -> Result<usize, FormulaError> {
        let not = self.push(Node::Not(of))?;
        let never = operator(self, not)?;
        self.push(Node::Not(never))
    }

    fn implication(&mut self) -> Result<usize, FormulaError> {
        self.deeper()?;
        self.skip_blanks();
        let start = self.at;
        let mut left = self.alternatives()?;
        if self.take("->") {
            let right = self.implication()?;
            let not = self.push(Node::Not(left))?;
            left = self.push(Node::Or(not, right))?;
            self.named(left, start);
        }
        self.depth -= 1;
        Ok(left)
    }

    fn alternatives(&mut self) -> Result<usize, FormulaError> {
        self.skip_blanks();
        let start = self.at;
        let mut left = self.conditions()?;
        while self.take("||") {
            let right = self.conditions()?;
            left = self.push(Node::Or(left, right))?;
            self.named(left, start);
        }
        Ok(left)
    }

    fn conditions(&mut self) -> Result<usize, FormulaError> {
        self.skip_blanks();
        let start = self.at;
        let mut left = self.operand()?;
        while self.take("&&") {
            let right = self.operand()?;
            left = self.push(Node::And(left, right))?;
            self.named(left, start);
        }
        Ok(left)
    }

    /// Reads a formula with its prefix operators.
    fn operand(&mut self) -> Result<usize, FormulaError> {
        self.deeper()?;
        self.skip_blanks();
        let start = self.at;
        let node = if self.take("!") {
            let of = self.operand()?;
            self.push(Node::Not(of))?
        } else if let Some((_, temporal)) = TEMPORAL.iter().find(|(name, _)| self.take_word(name)) {
            let of = self.operand()?;
            temporal(self, of)?
        } else if let Some(on_all) = self.path_quantifier() {
            self.until(on_all)?
        } else {
            self.primary()?
        };
        self.depth -= 1;
        Ok(self.named(node, start))
    }

    /// Reads the `E` or `A` of an until operator; returns true for `A` (all paths).
    fn path_quantifier(&mut self) -> Option<bool> {
        let quantifier = self.rest().chars().next().filter(|letter| matches!(letter, 'E' | 'A'))?;
        let bracket = self.rest()[1..].trim_start();
        bracket.starts_with(['[', '(']).then(|| {
            self.at += 1;
            quantifier == 'A'
        })
    }

    /// Reads `[a U b]` or `(a U b)`.
    fn until(&mut self, on_all: bool) -> Result<usize, FormulaError> {
        let (close, expected) = if self.take("[") {
            ("]", "`]`")
        } else {
            self.require("(", "`[`")?;
            (")", "`)`")
        };
        let first = self.implication()?;
        if !self.take_word("U") {
            return Err(self.expected("`U`"));
        }
        let last = self.implication()?;
        self.require(close, expected)?;
        if !on_all {
            return self.push(Node::Until(first, last));
        }
        // the negation: on some path, a and b both fail before b holds, or b never holds
        let no_first = self.push(Node::Not(first))?;
        let no_last = self.push(Node::Not(last))?;
        let neither = self.push(Node::And(no_first, no_last))?;
        let broken = self.push(Node::Until(no_last, neither))?;
        let without = self.push(Node::Always(no_last))?;
        let either = self.push(Node::Or(broken, without))?;
        self.push(Node::Not(either))
    }

    fn primary(&mut self) -> Result<usize, FormulaError> {
        if self.rest().starts_with('(') && !self.is_of_expression() {
            self.at += 1;
            let inner = self.implication()?;
            self.require(")", "`)`")?;
            return Ok(inner);
        }
        if self.take_word("deadlock") {
            return self.push(Node::Deadlock);
        }
        if self.take_word("true") {
            return self.push(Node::True);
        }
        if self.take_word("false") {
            let anything = self.push(Node::True)?;
            return self.push(Node::Not(anything));
        }
        let start = self.at;
        if self.take_word("enabled") {
            if self.take("(") {
                return self.enabled();
            }
            self.at = start;
        }
        self.expression()
    }

    fn enabled(&mut self) -> Result<usize, FormulaError> {
        self.skip_blanks();
        let Some(length) = self.rest().find(')') else {
            return Err(FormulaError::Expected { expected: "`)`", span: self.text.len()..self.text.len() });
        };
        let name = self.rest()[..length].trim_end();
        let span = self.at..self.at + name.len();
        let found = self.net.find_transition(name).map(TransitionId::index).and_then(|t| u32::try_from(t).ok());
        let t = found.ok_or_else(|| FormulaError::UnknownTransition { name: name.to_owned(), span })?;
        self.at += length + 1;
        self.push(Node::Enabled(t))
    }

    /// Reads a marking expression, up to text that can only belong to the formula.
    fn expression(&mut self) -> Result<usize, FormulaError> {
        let start = self.at;
        let length = expression_length(self.rest());
        if self.rest()[..length].trim().is_empty() {
            return Err(self.expected("a formula"));
        }
        let wrong = |error| FormulaError::Expression { error, start };
        let named = expr::parse(&self.rest()[..length]).map_err(wrong)?;
        let named = named.try_replace(&mut |leaf| Ok(Expr::Leaf(self.tokens_of(leaf)))).map_err(wrong)?;
        let code = lower(self.net, &self.net.resolved(&named).map_err(wrong)?);
        self.at += length;
        self.push(Node::Atom(code))
    }

    /// Interprets the name of a place without `#(…)` as the tokens of this place.
    fn tokens_of(&self, leaf: &NamedLeaf) -> NamedLeaf {
        match leaf {
            NamedLeaf::Parameter(name)
                if !self.net.parameters().iter().any(|parameter| parameter.name == name.text)
                    && self.net.find_place(&name.text).is_some() =>
            {
                NamedLeaf::Tokens(name.clone(), None)
            }
            other => other.clone(),
        }
    }

    /// Returns true if the next parenthesis belongs to a marking expression, which is the case if arithmetic or a comparison
    /// follows the closing parenthesis.
    fn is_of_expression(&self) -> bool {
        let inside = &self.rest()[1..];
        let mut end = 0;
        while let Some(next) = inside[end..].chars().next() {
            match next {
                ')' => {
                    let after = inside[end + 1..].trim_start();
                    return !after.starts_with("->")
                        && (after.starts_with(['+', '-', '*', '/', '%', '<', '>', '=']) || after.starts_with("!="));
                }
                _ => end += token_length(&inside[end..]),
            }
        }
        false
    }
}

/// Returns the number of bytes of the marking expression at the start of a text: up to a connective, `U` or a closing bracket outside
/// of parentheses.
fn expression_length(text: &str) -> usize {
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        let rest = &text[at..];
        let is_end = matches!(next, ')' | '[' | ']') || ["&&", "||", "->"].iter().any(|end| rest.starts_with(end));
        let is_until = rest.strip_prefix('U').is_some_and(|rest| !rest.starts_with(is_of_word));
        if is_end || is_until {
            break;
        }
        at += token_length(rest);
    }
    at
}

/// Returns the number of bytes of the next token: a word, `#(place)`, other parentheses with their content, or one character.
pub(crate) fn token_length(text: &str) -> usize {
    let first = text.chars().next();
    if first.is_some_and(is_of_word) {
        return text.find(|letter| !is_of_word(letter)).unwrap_or(text.len());
    }
    // a place's name may contain almost any character
    if let Some(reference) = text.strip_prefix('#') {
        return reference.trim_start().starts_with('(').then(|| text.find(')')).flatten().map_or(1, |end| end + 1);
    }
    if first != Some('(') {
        return first.map_or(0, char::len_utf8);
    }
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(next) = text[at..].chars().next() {
        at += match next {
            '#' => token_length(&text[at..]),
            other => other.len_utf8(),
        };
        match next {
            '(' => depth += 1,
            ')' if depth == 1 => return at,
            ')' => depth -= 1,
            _ => {}
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{NetBuilder, Timing};

    fn net() -> Net {
        let mut b = NetBuilder::new("");
        let [p, q, ..] = ["p", "q && r", "a", "b", "c", "d", "e"].map(|id| b.place(id, 1));
        let t = b.transition("go on", Timing::exponential(1.0));
        b.input(p, t, 1.0);
        b.output(t, q, 1.0);
        b.build().unwrap()
    }

    /// A formula with all its parentheses.
    fn printed(text: &str) -> String {
        let formula = Formula::parse(&net(), text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut texts: Vec<String> = Vec::new();
        for (i, node) in formula.nodes.iter().enumerate() {
            let text = match node {
                Node::True => "1".to_owned(),
                Node::Atom(_) => format!("<{}>", formula.source(i).unwrap()),
                Node::Deadlock => "dead".to_owned(),
                Node::Enabled(t) => format!("t{t}"),
                Node::Not(a) => format!("!{}", texts[*a]),
                Node::And(a, b) => format!("({} & {})", texts[*a], texts[*b]),
                Node::Or(a, b) => format!("({} | {})", texts[*a], texts[*b]),
                Node::Next(a) => format!("X{}", texts[*a]),
                Node::Until(a, b) => format!("[{} U {}]", texts[*a], texts[*b]),
                Node::Always(a) => format!("G{}", texts[*a]),
            };
            texts.push(text);
        }
        texts.pop().unwrap()
    }

    #[test]
    fn operators_bind_as_they_usually_do() {
        for (text, meaning) in [
            ("EF p", "[1 U <p>]"),
            ("AG EF (p > 0)", "![1 U ![1 U <p > 0>]]"),
            ("EF p > 0 && deadlock", "([1 U <p > 0>] & dead)"),
            ("a || b && c -> d -> e", "(!(<a> | (<b> & <c>)) | (!<d> | <e>))"),
            ("!p = 1 || EX true", "(!<p = 1> | X1)"),
            ("AX deadlock", "!X!dead"),
            ("AF false", "!G!!1"),
            ("EG(enabled( go on ))", "Gt0"),
            ("E[p U A (deadlock U p)]", "[<p> U !([!<p> U (!dead & !<p>)] | G!<p>)]"),
            ("(#(p) + 1) * 2 > 3 && p", "(<(#(p) + 1) * 2 > 3> & <p>)"),
            ("((p)) -> (p - 1 >= 0)", "(!<p> | <p - 1 >= 0>)"),
            ("E [ #(q && r) < 2 U if(p && p, 1, 0)]", "[<#(q && r) < 2> U <if(p && p, 1, 0)>]"),
        ] {
            assert_eq!(printed(text), meaning, "{text}");
        }
    }

    #[test]
    fn errors_point_at_the_text() {
        let error = |text: &str| {
            let error = Formula::parse(&net(), text).unwrap_err();
            (error.to_string(), error.span())
        };
        assert_eq!(error("AG EF"), ("expected a formula".to_owned(), 5..5));
        assert_eq!(error("AG (p > 0"), ("expected `)`".to_owned(), 9..9));
        assert_eq!(error("AG p > 0)"), ("expected `&&`, `||`, `->` or the end".to_owned(), 8..9));
        assert_eq!(error("E[p V p]").1, 4..5);
        assert_eq!(error("E[p]"), ("expected `U`".to_owned(), 3..4));
        assert_eq!(error("AG enabled(stop) && p"), ("there is no transition `stop`".to_owned(), 11..15));
        assert_eq!(error("AG enabled(stop").1, 15..15);
        assert_eq!(error("p && #(x) > 0"), ("there is no place `x`".to_owned(), 7..8));
        assert_eq!(error("EF (p + ) > 1").1, 8..9);
        assert_eq!(error("p && nothing").1, 5..12);
        assert_eq!(error("").1, 0..0);
    }

    #[test]
    fn long_formulas_are_refused_not_overflowed() {
        for text in ["(".repeat(100_000), "!".repeat(100_000), "EF ".repeat(100_000), "p && ".repeat(100_000) + "p"] {
            let error = Formula::parse(&net(), &text).unwrap_err();
            assert!(matches!(error, FormulaError::TooLong { .. }), "{error}");
        }
        let many = "p -> ".repeat(100_000) + "p";
        assert!(matches!(Formula::parse(&net(), &many), Err(FormulaError::TooLong { .. })));
    }
}
