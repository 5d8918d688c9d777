//! Second pass, the expressions: allowed names, and forms of numbers.

use std::collections::HashMap;

use crate::formats::pipe::assemble::Assembler;
use crate::formats::pipe::names::{Positions, expression, folded};
use crate::formats::pipe::options::Reading;
use crate::formats::pipe::problem::{Fault, Oddity};
use crate::formats::pipe::values::{What, inside};
use crate::formats::pipe::xml::Text;
use crate::net::expr::{Expr, ExprError, Names, parse};
use crate::net::{ClassId, ParameterId, PlaceId};

impl<'t> Assembler<'_, '_, 't> {
    /// A number, possibly with a decimal comma, or an expression in which `@` stands for `,`.
    pub(super) fn number_or_expression(&mut self, what: What<'_>, text: &Text<'t>) -> Option<Expr> {
        if let Some(value) = number(&text.value) {
            return Some(Expr::Number(value));
        }
        if let Some(value) = decimal_comma(&text.value) {
            self.notes.odd(text.span.clone(), Oddity::DecimalComma, || {
                format!(
                    "{what} is `{}`; it is read as {value}; PIPE 4.3 refuses it and PIPE 5 stops at the comma",
                    text.value
                )
            });
            return Some(Expr::Number(value));
        }
        let commas = text.value.replace('@', ",");
        match expression(&commas, self) {
            Ok(expr) => {
                self.note_names(&commas, text);
                Some(expr)
            }
            Err(error) => {
                self.bad_expression(what, text, &error);
                None
            }
        }
    }

    /// Records names that were found only by lenient matching.
    pub(super) fn note_names(&mut self, expression: &str, text: &Text<'_>) {
        if self.used_fold.take() {
            self.notes.odd(text.span.clone(), Oddity::LetterCase, || {
                format!("a name in `{expression}` differs from the name of the place in letter case or blanks. PIPE 5 does not find the place; option `id_case` sets whether tailspn does")
            });
        }
        if self.ambiguous.is_empty() {
            return;
        }
        let mut found = None;
        if let Ok(parsed) = parse(expression) {
            parsed.for_each_leaf(&mut |leaf| {
                use crate::net::expr::NamedLeaf::{Capacity, Parameter, Tokens};
                let (Tokens(name, _) | Capacity(name) | Parameter(name)) = leaf;
                if self.ambiguous.contains(&name.text) {
                    found = Some(name.text.clone());
                }
            });
        }
        if let Some(name) = found {
            self.notes.odd(text.span.clone(), Oddity::AmbiguousName, || {
                format!("`{name}` is the id of one place and the name of another; PIPE 5 and tailspn read the id, PIPE 4.3 reads the name")
            });
        }
    }

    fn folded(&self) -> &HashMap<String, Option<PlaceId>> {
        self.folded.get_or_init(|| {
            let mut table: HashMap<String, Option<PlaceId>> = HashMap::new();
            let references = self.references.iter().filter_map(|(id, node)| Some((&**id, node.place?)));
            let places = self.builder.places().iter().enumerate();
            let ids = places.map(|(i, place)| (place.id.as_str(), PlaceId::from_index(i))).chain(references);
            for (name, place) in ids.chain(self.names.places.iter().map(|(name, place)| (name.as_str(), *place))) {
                let known = table.entry(folded(name)).or_insert(Some(place));
                if *known != Some(place) {
                    *known = None;
                }
            }
            table
        })
    }

    pub(super) fn positional(&self, text: &Text<'_>) -> Result<Expr, ExprError> {
        let counts = [self.builder.places().len(), self.class_ids.len(), self.builder.parameter_count()];
        expression(&text.value, &Positions { counts })
    }

    pub(super) fn bad_expression(&mut self, what: What<'_>, text: &Text<'_>, error: &ExprError) {
        let span = inside(text, error.span());
        let reason = error.to_string();
        self.notes.fault(span, Fault::Expression { what: what.to_string(), reason });
    }
}

impl Names for Assembler<'_, '_, '_> {
    fn place(&self, name: &str) -> Option<PlaceId> {
        let exact = self.node(name).and_then(|node| node.place).or_else(|| self.names.place(name));
        if exact.is_some() || self.options.id_case == Reading::Pipe5 {
            return exact;
        }
        let found = self.folded().get(&folded(name)).copied().flatten();
        self.used_fold.set(self.used_fold.get() || found.is_some());
        found
    }

    fn class(&self, name: &str) -> Option<ClassId> {
        self.names.class(name)
    }

    fn parameter(&self, name: &str) -> Option<ParameterId> {
        self.names.parameter(name)
    }
}

/// A number in digits; `inf` and `nan` are names.
pub(super) fn number(text: &str) -> Option<f64> {
    let digits = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
    text.parse().ok().filter(|_| digits && text.ends_with(|c: char| c.is_ascii_digit() || c == '.'))
}

/// `12,5`: a number with a decimal comma.
fn decimal_comma(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once(',')?;
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if digits(whole) && digits(fraction) { format!("{whole}.{fraction}").parse().ok() } else { None }
}
