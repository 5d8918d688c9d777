//! The constants of a GreatSPN net: their values, and the constants that the net can keep as rate parameters.

use std::collections::{HashMap, HashSet};

use crate::formats::greatspn::expression::parse;
use crate::formats::greatspn::raw::{RawConstant, RawNet, RawTiming};
use crate::formats::pipe::notes::Notes;
use crate::formats::pipe::options::ReadOptions;
use crate::formats::pipe::problem::Fault;
use crate::formats::pipe::xml::Text;
use crate::net::expr::{Expr, NamedLeaf};

/// Maximum length of a chain of references between constants.
const MOST_DEEP: usize = 100;

/// The constants of a net, with their values.
#[derive(Debug, Default)]
pub(super) struct Constants {
    /// Value of each constant; constants without a value or in a cycle are missing.
    values: HashMap<String, f64>,
    /// Expression of each constant in the file, unless it is a plain number.
    pub(super) written: HashMap<String, Expr<NamedLeaf>>,
    /// Constants that shape the net.
    shaping: HashSet<String>,
    /// Constants whose value comes from the options.
    pub(super) taken: Vec<String>,
}

impl Constants {
    /// Evaluates the constants of `raw`; problems are noted.
    pub(super) fn of(raw: &RawNet<'_>, notes: &mut Notes<'_>, options: &ReadOptions) -> Self {
        let mut constants = Self::default();
        let mut spans: HashMap<&str, &Text<'_>> = HashMap::new();
        for constant in &raw.constants {
            let name = &*constant.name.value;
            if let Some(first) = spans.insert(name, &constant.name) {
                let first_line = notes.line(first.span.start);
                let fault = Fault::DuplicateId { kind: "constant", id: name.to_owned(), first_line };
                notes.fault(constant.name.span.clone(), fault);
                continue;
            }
            constants.take(constant, notes, options);
        }
        for constant in &raw.constants {
            let name = &*constant.name.value;
            if constants.evaluate(name, 0).is_none() && constants.written.contains_key(name) {
                let what = format!("the value of constant `{name}`");
                let reason = "it depends on itself or on a name without a value".to_owned();
                notes.fault(constant.name.span.clone(), Fault::Expression { what, reason });
            }
        }
        constants.find_shaping(raw);
        constants
    }

    fn take(&mut self, constant: &RawConstant<'_>, notes: &mut Notes<'_>, options: &ReadOptions) {
        let name = &*constant.name.value;
        if let Some((_, value)) = options.constants.iter().rev().find(|(given, _)| given == name) {
            self.values.insert(name.to_owned(), *value);
            self.taken.push(name.to_owned());
            return;
        }
        let Some(text) = constant.value.as_ref().filter(|text| !text.value.trim().is_empty()) else {
            notes.fault(constant.name.span.clone(), Fault::NoValue { name: name.to_owned() });
            // a stand-in, so that the parts that use the constant are not reported as well
            self.values.insert(name.to_owned(), 1.0);
            return;
        };
        match parse(&text.value) {
            Ok(Expr::Number(value)) => {
                self.values.insert(name.to_owned(), value);
            }
            Ok(expr) => {
                self.written.insert(name.to_owned(), expr);
            }
            Err(reason) => {
                let what = format!("the value of constant `{name}`");
                notes.fault(text.span.clone(), Fault::Expression { what, reason });
            }
        }
    }

    /// The value of a constant, evaluated on demand if it is an expression.
    fn evaluate(&mut self, name: &str, depth: usize) -> Option<f64> {
        if let Some(value) = self.values.get(name) {
            return Some(*value);
        }
        if depth > MOST_DEEP {
            return None;
        }
        let expr = self.written.get(name)?.clone();
        for used in names(&expr) {
            self.evaluate(&used, depth + 1)?;
        }
        let value = self.number(&expr).ok()?;
        self.values.insert(name.to_owned(), value);
        Some(value)
    }

    fn find_shaping(&mut self, raw: &RawNet<'_>) {
        let mut texts: Vec<&Text<'_>> = Vec::new();
        texts.extend(raw.places.iter().filter_map(|place| place.marking.as_ref()));
        texts.extend(raw.arcs.iter().filter_map(|arc| arc.weight.as_ref()));
        for transition in &raw.transitions {
            match &transition.timing {
                RawTiming::Exponential { servers, .. } => texts.extend(servers),
                RawTiming::Immediate { priority, .. } => texts.extend(priority),
                RawTiming::General { density } => texts.extend(density),
            }
        }
        // words that are names of functions are harmless, since no constant has such a name
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let words = texts.iter().flat_map(|text| text.value.split(|c| !word(c)));
        let mut found: Vec<String> = words.filter(|word| self.values.contains_key(*word)).map(str::to_owned).collect();
        while let Some(name) = found.pop() {
            if let Some(expr) = self.written.get(&name) {
                found.extend(names(expr).into_iter().filter(|used| !self.shaping.contains(used)));
            }
            self.shaping.insert(name);
        }
    }

    /// Returns true if a constant is a number in the net rather than a rate parameter.
    pub(super) fn shapes(&self, name: &str) -> bool {
        self.shaping.contains(name)
    }

    /// The value of a constant.
    pub(super) fn value(&self, name: &str) -> Option<f64> {
        self.values.get(name).copied()
    }

    /// The expression with all constants as numbers.
    ///
    /// # Errors
    ///
    /// A name that is not a constant.
    pub(super) fn filled(&self, expr: &Expr<NamedLeaf>) -> Result<Expr<NamedLeaf>, String> {
        expr.try_replace(&mut |leaf| match leaf {
            NamedLeaf::Parameter(name) => {
                self.value(&name.text).map(Expr::Number).ok_or_else(|| format!("there is no constant `{}`", name.text))
            }
            other => Ok(Expr::Leaf(other.clone())),
        })
    }

    /// The value of an expression over constants.
    ///
    /// # Errors
    ///
    /// A name that is not a constant, or tokens of a place.
    pub(super) fn number(&self, expr: &Expr<NamedLeaf>) -> Result<f64, String> {
        let filled = self.filled(expr)?;
        evaluated(&filled).ok_or_else(|| "it counts tokens of a place, but must be constant".to_owned())
    }
}

/// The value of an expression without leaves.
pub(super) fn evaluated<L>(expr: &Expr<L>) -> Option<f64> {
    let mut constant = true;
    expr.for_each_leaf(&mut |_| constant = false);
    constant.then(|| expr.eval(&|_| f64::NAN))
}

/// The constants that an expression uses.
fn names(expr: &Expr<NamedLeaf>) -> Vec<String> {
    let mut names = Vec::new();
    expr.for_each_leaf(&mut |leaf| {
        if let NamedLeaf::Parameter(name) = leaf {
            names.push(name.text.clone());
        }
    });
    names
}
