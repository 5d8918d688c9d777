//! CSL and CSRL queries in PRISM syntax, over the markings of a net.
//!
//! ```text
//! P=? [ a U<=t b ]   P>=0.9 [ F[t1,t2] b ]   P=? [ G<=t a ]   S=? [ a ]   R{x}=? [ F b | I=t | C<=t | S ]
//! ```
//!
//! This module reads state formulas; marking expressions between their connectives are read by [`expr`].
//! Times are in seconds.

use serde::{Deserialize, Serialize};

use crate::net::deadlock_condition;
use crate::net::expr::{self, BinaryOp, Expr, UnaryOp};
use crate::net::{Net, TransitionId};
use crate::query::{Query, Reward};
use crate::solve::untimed::{FormulaError, MAX_DEPTH, is_of_word, token_length};

/// Comparison of an answer with a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Comparison {
    /// `<`
    #[serde(rename = "<")]
    Less,
    /// `<=`
    #[serde(rename = "<=")]
    AtMost,
    /// `>`
    #[serde(rename = ">")]
    Greater,
    /// `>=`
    #[serde(rename = ">=")]
    AtLeast,
}

impl Comparison {
    /// Returns the sign.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
        }
    }

    fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::Less => value < bound,
            Self::AtMost => value <= bound,
            Self::Greater => value > bound,
            Self::AtLeast => value >= bound,
        }
    }
}

/// A parsed query.
#[derive(Clone, Debug, PartialEq)]
pub struct CslQuery {
    text: String,
    query: Query,
    /// True if the result of the query is subtracted from 1: `G` is computed from its complement.
    complement: bool,
    bound: Bound,
}

/// Distance from a bound (relative if the bound is above 1) below which numerical errors could change the verdict.
const UNDECIDED: f64 = 1e-8;

impl CslQuery {
    /// Parses `P`, `S` or `R`, with `=?` or a bound, over the text in brackets.
    ///
    /// # Errors
    ///
    /// The first syntax error or unknown name, with its span.
    pub fn parse(net: &Net, text: &str) -> Result<Self, FormulaError> {
        let mut parser = Parser { net, text, at: 0, depth: 0 };
        let (query, complement, bound) = parser.query()?;
        parser.skip_blanks();
        if parser.at < text.len() {
            return Err(parser.expected("the end"));
        }
        Ok(Self { text: text.trim().to_owned(), query, complement, bound })
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the query to compute; [`value`](Self::value) turns the result of this query into the answer.
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// Returns the answer to the question, from the answer to [`query`](Self::query).
    pub fn value(&self, answer: f64) -> f64 {
        match self.query {
            // rounding errors
            Query::Until { .. } => if self.complement { 1.0 - answer } else { answer }.clamp(0.0, 1.0),
            _ => answer,
        }
    }

    /// Returns the bound, if any.
    pub fn bound(&self) -> Option<(Comparison, f64)> {
        self.bound
    }

    /// Returns true if the value satisfies the bound; none without a bound, or if the value is so close to the bound that
    /// numerical errors could change the verdict. `is_certain` is false if even a value of 0 or 1 may have such an error.
    pub fn verdict(&self, value: f64, is_certain: bool) -> Option<bool> {
        let (comparison, bound) = self.bound?;
        if matches!(self.query, Query::Until { .. }) && comparison.holds(0.0, bound) == comparison.holds(1.0, bound) {
            return Some(comparison.holds(0.0, bound));
        }
        let distance = (value - bound).abs();
        let is_close = (distance > 0.0 || !is_certain) && distance <= UNDECIDED * bound.abs().max(1.0);
        (!is_close).then(|| comparison.holds(value, bound))
    }
}

type Read<T> = Result<T, FormulaError>;
type Bound = Option<(Comparison, f64)>;

struct Parser<'a> {
    net: &'a Net,
    text: &'a str,
    at: usize,
    depth: usize,
}

fn both(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    Expr::Binary(op, Box::new(a), Box::new(b))
}

fn not(a: Expr) -> Expr {
    Expr::Unary(UnaryOp::Not, Box::new(a))
}

/// Returns an expression that is 1 if the given expression is not 0, otherwise 0.
fn truth(a: Expr) -> Expr {
    both(BinaryOp::NotEqual, a, Expr::Number(0.0))
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
        self.at += if found { symbol.len() } else { 0 };
        found
    }

    /// Reads a word, unless a letter follows it.
    fn take_word(&mut self, word: &str) -> bool {
        self.skip_blanks();
        let found = self.rest().strip_prefix(word).is_some_and(|rest| !rest.starts_with(is_of_word));
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn expected(&self, expected: &'static str) -> FormulaError {
        let width = self.rest().chars().next().map_or(0, char::len_utf8);
        FormulaError::Expected { expected, span: self.at..self.at + width }
    }

    fn require(&mut self, symbol: &str, expected: &'static str) -> Read<()> {
        self.skip_blanks();
        if self.take(symbol) { Ok(()) } else { Err(self.expected(expected)) }
    }

    fn query(&mut self) -> Read<(Query, bool, Bound)> {
        if self.take("P") {
            let bound = self.bound_of_a_probability()?;
            self.require("[", "`[`")?;
            let (query, complement) = self.path()?;
            self.require("]", "`]`, `&`, `|` or `U`")?;
            return Ok((query, complement, bound));
        }
        if self.take("S") {
            let bound = self.bound_of_a_probability()?;
            self.require("[", "`[`")?;
            let rate = truth(self.implication()?);
            self.require("]", "`]`, `&` or `|`")?;
            return Ok((Query::LongRun { reward: Reward { rate, impulses: Vec::new() } }, false, bound));
        }
        if self.take("R") {
            let reward = self.reward()?;
            let bound = self.bound()?;
            self.require("[", "`[`")?;
            let query = self.gathered(reward)?;
            self.require("]", "`]`")?;
            return Ok((query, false, bound));
        }
        self.skip_blanks();
        Err(self.expected("`P`, `S` or `R`"))
    }

    fn bound_of_a_probability(&mut self) -> Read<Bound> {
        let at = self.at;
        let bound = self.bound()?;
        if bound.is_some_and(|(_, number)| !(0.0..=1.0).contains(&number)) {
            self.at = at;
            return Err(self.expected("a comparison with a number from 0 to 1"));
        }
        Ok(bound)
    }

    /// Reads `=?`, or a comparison with a number.
    fn bound(&mut self) -> Read<Bound> {
        use Comparison::{AtLeast, AtMost, Greater, Less};
        if self.take("=?") {
            return Ok(None);
        }
        for (sign, comparison) in [("<=", AtMost), (">=", AtLeast), ("<", Less), (">", Greater)] {
            if self.take(sign) {
                return Ok(Some((comparison, self.number()?)));
            }
        }
        Err(self.expected("`=?`, `<`, `<=`, `>` or `>=`"))
    }

    fn number(&mut self) -> Read<f64> {
        self.skip_blanks();
        let rest = self.rest().as_bytes();
        let mut length = 0;
        while let Some(&byte) = rest.get(length) {
            let is_sign = matches!(byte, b'+' | b'-') && length > 0 && matches!(rest[length - 1], b'e' | b'E');
            if !(byte.is_ascii_digit() || is_sign || matches!(byte, b'.' | b'e' | b'E')) {
                break;
            }
            length += 1;
        }
        let value = self.rest()[..length].parse().ok().filter(|value: &f64| value.is_finite());
        let value = value.ok_or_else(|| self.expected("a number"))?;
        self.at += length;
        Ok(value)
    }

    /// Reads the time bound of a path operator: `<=t`, `<t`, `>=t`, `>t`, `[t1,t2]`, or none for any time.
    fn times(&mut self) -> Read<(f64, f64)> {
        if self.take("[") {
            let from = self.number()?;
            self.require(",", "`,`")?;
            self.skip_blanks();
            let start = self.at;
            let to = self.number()?;
            if to < from {
                return Err(FormulaError::Expected {
                    expected: "a time that is not before the first time",
                    span: start..self.at,
                });
            }
            self.require("]", "`]`")?;
            return Ok((from, to));
        }
        // single points in time have probability 0, so it does not matter whether the bound is included
        if self.take("<=") || self.take("<") {
            return Ok((0.0, self.number()?));
        }
        if self.take(">=") || self.take(">") {
            return Ok((self.number()?, f64::INFINITY));
        }
        Ok((0.0, f64::INFINITY))
    }

    /// Reads the letter of a path operator; a time bound may follow it.
    fn operator(&mut self, letter: &str) -> bool {
        self.take_word(letter)
    }

    fn path(&mut self) -> Read<(Query, bool)> {
        for (letter, complement) in [("F", false), ("G", true)] {
            if self.operator(letter) {
                let (from, to) = self.times()?;
                let goal = self.implication()?;
                let goal = if complement { not(goal) } else { goal };
                return Ok((Query::Until { stay: Expr::Number(1.0), goal, from, to }, complement));
            }
        }
        let stay = self.implication()?;
        if !self.operator("U") {
            return Err(self.expected("`U`, `&` or `|`"));
        }
        let (from, to) = self.times()?;
        let goal = self.implication()?;
        Ok((Query::Until { stay, goal, from, to }, false))
    }

    /// Reads `{expression}` or `{firings(transition)}`; if there is neither, the reward is the time.
    fn reward(&mut self) -> Read<Reward> {
        if !self.take("{") {
            return Ok(Reward { rate: Expr::Number(1.0), impulses: Vec::new() });
        }
        self.skip_blanks();
        if self.rest().starts_with("firings") && self.take("firings") {
            self.require("(", "`(`")?;
            let transition = self.transition()?;
            self.require("}", "`}`")?;
            return Ok(Reward { rate: Expr::Number(0.0), impulses: vec![(transition, Expr::Number(1.0))] });
        }
        let length = length_until(self.rest(), |rest| rest.starts_with('}'));
        let rate = self.expression(length)?;
        self.require("}", "`}`")?;
        Ok(Reward { rate, impulses: Vec::new() })
    }

    fn transition(&mut self) -> Read<TransitionId> {
        self.skip_blanks();
        let Some(length) = self.rest().find(')') else {
            return Err(FormulaError::Expected { expected: "`)`", span: self.text.len()..self.text.len() });
        };
        let name = self.rest()[..length].trim_end();
        let span = self.at..self.at + name.len();
        let found = self.net.find_transition(name);
        self.at += length + 1;
        found.ok_or_else(|| FormulaError::UnknownTransition { name: name.to_owned(), span })
    }

    fn gathered(&mut self, reward: Reward) -> Read<Query> {
        self.skip_blanks();
        let start = self.at;
        if self.take("I") {
            self.require("=", "`=`")?;
            let time = self.number()?;
            if !reward.impulses.is_empty() {
                let expected = "`C<=`, `F` or `S`, because firings take no time";
                return Err(FormulaError::Expected { expected, span: start..start + 1 });
            }
            return Ok(Query::At { value: reward.rate, time });
        }
        if self.take("C") {
            self.require("<=", "`<=`")?;
            return Ok(Query::Gathered { reward, time: self.number()? });
        }
        if self.take_word("S") {
            return Ok(Query::LongRun { reward });
        }
        if self.take_word("F") {
            return Ok(Query::GatheredUntil { reward, goal: self.implication()? });
        }
        Err(self.expected("`F`, `I=`, `C<=` or `S`"))
    }

    fn implication(&mut self) -> Read<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(FormulaError::TooLong { span: self.at..self.at });
        }
        let mut left = self.chain("|", BinaryOp::Or, |parser| parser.chain("&", BinaryOp::And, Self::operand))?;
        if self.take("=>") {
            left = both(BinaryOp::Or, not(left), self.implication()?);
        }
        self.depth -= 1;
        Ok(left)
    }

    /// Reads formulas that are joined by a connective, whose sign may be single or double.
    fn chain(&mut self, sign: &str, op: BinaryOp, part: impl Fn(&mut Self) -> Read<Expr>) -> Read<Expr> {
        let mut left = part(self)?;
        let mut parts = 1;
        while self.take(sign) {
            self.take(sign);
            parts += 1;
            if parts > MAX_DEPTH {
                return Err(FormulaError::TooLong { span: self.at..self.at });
            }
            left = both(op, left, part(self)?);
        }
        Ok(left)
    }

    fn operand(&mut self) -> Read<Expr> {
        let mut negations = 0;
        while self.take("!") {
            negations += 1;
        }
        let inner = self.primary()?;
        Ok(match negations {
            0 => inner,
            n if n % 2 == 1 => not(inner),
            _ => truth(inner),
        })
    }

    fn primary(&mut self) -> Read<Expr> {
        self.skip_blanks();
        if self.rest().starts_with('(') && !self.is_of_expression() {
            self.at += 1;
            let inner = self.implication()?;
            self.require(")", "`)`")?;
            return Ok(inner);
        }
        let start = self.at;
        if self.take("\"deadlock\"") || self.take_word("deadlock") {
            let expected = "another expression, because `deadlock` needs a net with one token class";
            let span = start..self.at;
            return deadlock_condition(self.net).ok_or(FormulaError::Expected { expected, span });
        }
        if self.take_word("true") {
            return Ok(Expr::Number(1.0));
        }
        if self.take_word("false") {
            return Ok(Expr::Number(0.0));
        }
        let length = length_until(self.rest(), |rest| {
            let is_until = rest.strip_prefix('U').is_some_and(|rest| !rest.starts_with(is_of_word));
            is_until || rest.starts_with("=>") || rest.starts_with(['&', '|', ')', '[', ']', '"'])
        });
        self.expression(length)
    }

    /// Reads a marking expression of the given length.
    fn expression(&mut self, length: usize) -> Read<Expr> {
        let start = self.at;
        let text = &self.rest()[..length];
        if text.trim().is_empty() {
            return Err(self.expected("an expression, `true`, `false` or `\"deadlock\"`"));
        }
        let wrong = |error| FormulaError::Expression { error, start };
        let named = expr::parse(text).map_err(wrong)?;
        self.at += length;
        self.net.resolved(&named).map_err(wrong)
    }

    /// Returns true if this parenthesis belongs to a marking expression, which is the case if arithmetic or a comparison
    /// follows the closing parenthesis.
    fn is_of_expression(&self) -> bool {
        let inside = &self.rest()[1..];
        let length = length_until(inside, |rest| rest.starts_with(')'));
        let Some(after) = inside.get(length + 1..).map(str::trim_start) else { return false };
        let is_next = after.starts_with(['+', '-', '*', '/', '%', '<', '>', '=']) || after.starts_with("!=");
        is_next && !after.starts_with("=>")
    }
}

/// Returns the number of bytes up to the first match of `ends` outside of parentheses.
fn length_until(text: &str, ends: impl Fn(&str) -> bool) -> usize {
    let mut at = 0;
    while at < text.len() && !ends(&text[at..]) {
        at += token_length(&text[at..]).max(1);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::net::{NetBuilder, Timing};
    use crate::solve::{Asking, Limits, explore};
    use crate::watch::Unwatched;

    /// Two stages with rates of 1 and 2 per second, then a deadlock.
    fn stages() -> Net {
        let mut b = NetBuilder::new("");
        let [first, second, done] = [("first", 1), ("second", 0), ("done", 0)].map(|(id, tokens)| b.place(id, tokens));
        for (id, from, to, rate) in [("one", first, second, 1.0), ("two", second, done, 2.0)] {
            let t = b.transition(id, Timing::exponential(rate));
            b.input(from, t, 1.0);
            b.output(t, to, 1.0);
        }
        b.build().unwrap()
    }

    fn answer(net: &Net, text: &str) -> f64 {
        let query = CslQuery::parse(net, text).unwrap_or_else(|error| panic!("{text}: {error} at {:?}", error.span()));
        let program = compile(net).unwrap();
        let limits = Limits::default();
        let space = explore(&program, None, &limits, &Unwatched).unwrap();
        let asking = Asking { net, program: &program, space: &space, limits: &limits, watch: &Unwatched };
        query.value(asking.answer(query.query()).unwrap())
    }

    #[test]
    fn two_stages_have_their_closed_forms() {
        let net = stages();
        let (e, e2) = (f64::exp(-1.0), f64::exp(-2.0));
        for (text, exact) in [
            ("P=? [ F<=1 #(done) = 1 ]", (1.0 - e).powi(2)),
            ("P=? [ F \"deadlock\" ]", 1.0),
            ("P=? [ G<=1 !deadlock ]", 1.0 - (1.0 - e).powi(2)),
            ("P=? [ #(first) = 1 U<=1 (#(second) = 1 | false) ]", 1.0 - e),
            ("P=? [ #(first) = 1 U<=1 #(done) = 1 ]", 0.0),
            // the second stage holds at 1, or starts between 1 and 2
            ("P=? [ F[1,2] #(second) = 1 ]", e - e2 + e * (1.0 - e)),
            ("P=? [ (#(done) = 1 => false) U>=1 #(done) = 1 ]", 1.0 - (1.0 - e).powi(2)),
            ("R=? [ F #(done) >= 1 ]", 1.5),
            ("R{2 * #(first)}=? [ I=1 ]", 2.0 * e),
            ("R{#(first)}=? [ C<=1 ]", 1.0 - e),
            ("R{firings(two)}=? [ C<=1 ]", (1.0 - e).powi(2)),
            ("S=? [ #(done) ]", 1.0),
        ] {
            let value = answer(&net, text);
            assert!((value - exact).abs() < 1e-9, "{text}: {value}, not {exact}");
        }
    }

    /// Two tokens go through an immediate transition before time passes, then each waits for a second on average. Seen to fail
    /// when only firings in tangible markings count.
    #[test]
    fn firings_at_the_start_count() {
        let mut b = NetBuilder::new("start");
        let [a, queue, done] = [("a", 2), ("queue", 0), ("done", 0)].map(|(id, n)| b.place(id, n));
        for (id, from, to, timing) in
            [("im", a, queue, Timing::immediate(1.0, 1)), ("work", queue, done, Timing::exponential(1.0))]
        {
            let t = b.transition(id, timing);
            b.input(from, t, 1.0);
            b.output(t, to, 1.0);
        }
        let net = b.build().unwrap();
        assert!((answer(&net, "R{firings(im)}=? [ C<=1 ]") - 2.0).abs() < 1e-12);
        assert!((answer(&net, "R{firings(im)}=? [ F #(done) = 2 ]") - 2.0).abs() < 1e-12);
        // one server: P(first within 1 s) + P(both within 1 s)
        let both = 1.0 - 2.0 * f64::exp(-1.0);
        assert!((answer(&net, "R{firings(work)}=? [ C<=1 ]") - (1.0 - f64::exp(-1.0) + both)).abs() < 1e-9);
    }

    #[test]
    fn bounds_have_verdicts() {
        let verdict = |text, value| CslQuery::parse(&stages(), text).unwrap().verdict(value, true);
        assert_eq!(verdict("P>=0.9 [ F true ]", 0.9), Some(true));
        assert_eq!(verdict("P>0.9 [ F true ]", 0.9), Some(false));
        assert_eq!(verdict("P<0.9 [ F true ]", 0.9 - 1e-10), None);
        assert_eq!(verdict("R<=3 [ S ]", f64::INFINITY), Some(false));
        assert_eq!(verdict("P=? [ F true ]", 0.9), None);
        // every probability is at least 0 and at most 1
        assert_eq!(verdict("P>=0 [ F<=1 true ]", 1e-12), Some(true));
        assert_eq!(verdict("P>1 [ F<=1 true ]", 1.0), Some(false));
    }

    /// A goal that can be reached may have a probability that is rounded to 0. Seen to fail with 0 as a certain answer.
    #[test]
    fn an_answer_of_0_or_1_may_be_rounded() {
        let mut b = NetBuilder::new("queue");
        let (room, queue) = (b.place("room", 6), b.place("queue", 0));
        let come = b.transition("come", Timing::exponential(2.0));
        b.input(room, come, 1.0);
        b.output(come, queue, 1.0);
        let net = b.build().unwrap();
        let program = compile(&net).unwrap();
        let limits = Limits::default();
        let space = explore(&program, None, &limits, &Unwatched).unwrap();
        let asking = Asking { net: &net, program: &program, space: &space, limits: &limits, watch: &Unwatched };
        let verdict = |text: &str| {
            let csl = CslQuery::parse(&net, text).unwrap();
            let answer = asking.answer(csl.query()).unwrap();
            csl.verdict(csl.value(answer), asking.is_certain(csl.query(), answer).unwrap())
        };
        for (text, holds) in [
            ("P>0 [ F<=1e-5 #(queue) >= 5 ]", None),
            ("P<=0 [ F<=1e-5 #(queue) >= 5 ]", None),
            ("P>=1 [ G<=1e-5 #(queue) < 5 ]", None),
            ("P>=1 [ G<=10 #(queue) <= 6 ]", Some(true)),
            ("P<=0 [ F<=10 #(queue) > 6 ]", Some(true)),
            ("P>=1 [ F<=10 #(queue) = 0 ]", Some(true)),
            ("P>=1 [ F<=1000 #(queue) = 6 ]", None),
            ("P>=0 [ F<=1 #(queue) = 6 ]", Some(true)),
        ] {
            assert_eq!(verdict(text), holds, "{text}");
        }
    }

    #[test]
    fn errors_point_at_the_text() {
        let error = |text: &str| {
            let error = CslQuery::parse(&stages(), text).unwrap_err();
            (error.to_string(), error.span())
        };
        assert_eq!(error("Q=? [ F true ]"), ("expected `P`, `S` or `R`".to_owned(), 0..1));
        assert_eq!(error("P=? [ F<=x true ]"), ("expected a number".to_owned(), 9..10));
        assert_eq!(error("P=? [ F #(gone) = 1 ]"), ("there is no place `gone`".to_owned(), 10..14));
        assert_eq!(error("P=? [ F[2,1] true ]").1, 10..11);
        assert_eq!(error("R{firings(three)}=? [ S ]").0, "there is no transition `three`");
        assert!(matches!(
            CslQuery::parse(&stages(), &format!("P=? [ F {}", "(".repeat(100_000))),
            Err(FormulaError::TooLong { .. })
        ));
    }
}
