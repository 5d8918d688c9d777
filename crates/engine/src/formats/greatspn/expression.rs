//! The expressions of GreatSPN: `#place`, `Min[a, b]`, `when b : a ; ever c ;`, translated into ours.
//!
//! Reads both generations of the tool: the editor's language, and the language of `.def` files with `and`, `or` and
//! round brackets.

use crate::net::expr::{self, Expr, NamedLeaf};

/// A piece of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'t> {
    Word(&'t str),
    Number(&'t str),
    Symbol(&'t str),
}

/// Symbols of two characters, which are matched first.
const PAIRS: [&str; 11] = ["&&", "||", "==", "!=", "<=", ">=", "<>", "->", "++", "--", ".."];

/// Parses an expression; names are not resolved.
///
/// # Errors
///
/// A description of the first part that cannot be parsed.
pub(super) fn parse(text: &str) -> Result<Expr<NamedLeaf>, String> {
    let ours = translate(text)?;
    expr::parse(&ours).map_err(|error| format!("`{}`: {error}", text.trim()))
}

/// The same expression in tailspn's syntax.
///
/// # Errors
///
/// The part that has no equivalent.
pub(super) fn translate(text: &str) -> Result<String, String> {
    let tokens = tokens(text)?;
    let mut out = String::new();
    let mut conditions = 0;
    // open brackets, and those whose end also ends a `!`, which binds tightly here and loosely in our language
    let (mut open, mut negated) = (0_usize, Vec::new());
    let mut at = 0;
    while let Some(&token) = tokens.get(at) {
        let next = tokens.get(at + 1).copied();
        at += 1;
        let piece = match token {
            Token::Symbol("#") => {
                let Some(Token::Word(place)) = next else { return Err(format!("`#` in `{text}` needs a place")) };
                at += 1;
                &format!("#({place})")
            }
            Token::Word("when") => {
                conditions += 1;
                "if("
            }
            Token::Word("ever") => {
                at += usize::from(next == Some(Token::Symbol(":")));
                ""
            }
            Token::Symbol(";") => match next {
                None => &")".repeat(std::mem::take(&mut conditions)),
                Some(_) => ",",
            },
            Token::Word("not") | Token::Symbol("!") if next == Some(Token::Symbol("(")) => {
                negated.push(open);
                "(!"
            }
            Token::Symbol("(") => {
                open += 1;
                "("
            }
            Token::Symbol(")") => {
                open = open.saturating_sub(1);
                if negated.pop_if(|depth| *depth == open).is_some() { "))" } else { ")" }
            }
            Token::Word("not") | Token::Symbol("!") => {
                return Err(format!("put the operand of `!` in `{text}` in brackets"));
            }
            Token::Symbol(symbol @ ("->" | "++" | "--" | ".." | "{" | "}" | "@" | "^" | "\"")) => {
                return Err(format!("`{symbol}` in `{text}` has no meaning here"));
            }
            Token::Word(word) | Token::Number(word) | Token::Symbol(word) => translated(word),
        };
        out.push_str(piece);
        out.push(' ');
    }
    out.push_str(&")".repeat(conditions));
    Ok(out)
}

/// Returns a word or a symbol in our language.
fn translated(word: &str) -> &str {
    match word {
        ":" => ",",
        "True" => "1",
        "False" => "0",
        "and" => "&&",
        "or" => "||",
        "<>" => "!=",
        "[" => "(",
        "]" => ")",
        other => other,
    }
}

fn tokens(text: &str) -> Result<Vec<Token<'_>>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim();
    while let Some(first) = rest.chars().next() {
        let length = |fits: fn(char) -> bool| rest.find(|c| !fits(c)).unwrap_or(rest.len());
        let (token, length) = if first.is_alphabetic() || first == '_' {
            let length = length(|c| c.is_alphanumeric() || c == '_');
            (Token::Word(&rest[..length]), length)
        } else if first.is_ascii_digit() || first == '.' && !rest.starts_with("..") {
            let length = number_length(rest);
            (Token::Number(&rest[..length]), length)
        } else {
            let length = PAIRS.iter().find(|pair| rest.starts_with(**pair)).map_or(first.len_utf8(), |pair| pair.len());
            (Token::Symbol(&rest[..length]), length)
        };
        if length == 0 {
            return Err(format!("`{first}` in `{text}` has no meaning here"));
        }
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

/// Length of the number at the start of a text, including an exponent.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
    let whole = digits(0);
    if matches!(bytes.get(whole), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(whole + 1), Some(b'+' | b'-')));
        let exponent = digits(whole + 1 + sign);
        if exponent > 0 {
            return whole + 1 + sign + exponent;
        }
    }
    whole
}

/// Name and arguments of a text that is a single call such as `Erlang[3.45, 2]`.
pub(super) fn call(text: &str) -> Option<(&str, Vec<&str>)> {
    let (name, rest) = text.trim().split_once('[')?;
    let inside = rest.trim_end().strip_suffix(']')?;
    let mut arguments = Vec::new();
    let (mut depth, mut start) = (0_u32, 0);
    for (i, b) in inside.bytes().enumerate() {
        match b {
            b'[' | b'(' => depth += 1,
            b']' | b')' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => {
                arguments.push(inside[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    arguments.push(inside[start..].trim());
    (depth == 0).then_some((name.trim(), arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_of_both_greatspn_languages_are_translated() {
        let words = |text| translate(text).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words("2.5e-1 * Min[#P0, k]"), "2.5e-1 * Min ( #(P0) , k )");
        assert_eq!(words("when #p > 1 : 2*a ; ever 3 ;"), "if( #(p) > 1 , 2 * a , 3 )");
        assert_eq!(
            words("when [#p = 1 and #q <> 2] : 1; when [#p = 2] : 2; ever : 0.5;"),
            "if( ( #(p) = 1 && #(q) != 2 ) , 1 , if( ( #(p) = 2 ) , 2 , 0.5 ))"
        );
        assert_eq!(words("If[True, 1, !(#p > 0)]"), "If ( 1 , 1 , (! ( #(p) > 0 )) )");
        for refused in ["<x++>", "!#p > 2", "#", "a -> b", "\"file\""] {
            assert!(translate(refused).is_err(), "{refused}");
        }
        assert!(parse("Factorial[3]").unwrap_err().contains("there is no function"));
    }

    #[test]
    fn when_clauses_take_the_first_condition_that_holds() {
        let value = |text: &str, p: f64| parse(text).unwrap().eval(&|_: &NamedLeaf| p);
        let text = "when #p > 2 : 5 ; when #p > 1 : 3 ; ever 1 ;";
        let values: Vec<f64> = [3.0, 2.0, 1.0].map(|p| value(text, p)).into();
        assert_eq!(values.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), [5.0, 3.0, 1.0].map(f64::to_bits));
    }

    #[test]
    fn calls_are_split_at_their_own_commas() {
        assert_eq!(call("I[delta]"), Some(("I", vec!["delta"])));
        assert_eq!(call(" Uniform[Min[1, 2], 3] "), Some(("Uniform", vec!["Min[1, 2]", "3"])));
        assert_eq!(call("1.0"), None);
        assert_eq!(call("a]["), None);
    }
}
