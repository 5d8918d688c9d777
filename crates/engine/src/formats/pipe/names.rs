//! Expressions in files: allowed names, and the meaning of an unqualified token count in an arc weight.

use std::collections::HashMap;

use crate::net::expr::{self, Expr, ExprError, Name, NamedLeaf, Names};
use crate::net::{ClassId, Net, ParameterId, PlaceId};

/// Names of the parts of a net: ids first, then the names of places.
#[derive(Clone, Debug, Default)]
pub(super) struct NameTable {
    pub(super) places: HashMap<String, PlaceId>,
    classes: HashMap<String, ClassId>,
    parameters: HashMap<String, ParameterId>,
}

impl NameTable {
    /// The names that an expression of this net can use.
    pub(super) fn of_net(net: &Net) -> Self {
        let mut table = Self::default();
        for (i, place) in net.places().iter().enumerate() {
            table.add_place(&place.id, PlaceId::from_index(i));
        }
        for (i, place) in net.places().iter().enumerate().filter(|(_, p)| !p.name.is_empty()) {
            table.add_place(&place.name, PlaceId::from_index(i));
        }
        for (i, class) in net.classes().iter().enumerate() {
            table.add_class(&class.id, ClassId::from_index(i));
        }
        for (i, parameter) in net.parameters().iter().enumerate() {
            table.add_parameter(&parameter.name, ParameterId::from_index(i));
        }
        table
    }

    /// Adds an id or name, if no place has it yet.
    pub(super) fn add_place(&mut self, name: &str, place: PlaceId) {
        if !self.places.contains_key(name) {
            self.places.insert(name.to_owned(), place);
        }
    }

    pub(super) fn add_class(&mut self, id: &str, class: ClassId) {
        self.classes.entry(id.to_owned()).or_insert(class);
    }

    pub(super) fn add_parameter(&mut self, name: &str, parameter: ParameterId) {
        self.parameters.entry(name.to_owned()).or_insert(parameter);
    }

    /// Number of classes.
    pub(super) fn class_count(&self) -> usize {
        self.classes.len()
    }
}

/// A name without blanks and in small letters, as PIPE 4.3 compares them.
pub(super) fn folded(name: &str) -> String {
    name.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

impl Names for NameTable {
    fn place(&self, name: &str) -> Option<PlaceId> {
        self.places.get(name).copied()
    }

    fn class(&self, name: &str) -> Option<ClassId> {
        self.classes.get(name).copied()
    }

    fn parameter(&self, name: &str) -> Option<ParameterId> {
        self.parameters.get(name).copied()
    }
}

/// Names by position, such as `p3`, `c0` and `k1`, for parts whose ids are not allowed in an expression.
#[derive(Clone, Copy, Debug)]
pub(super) struct Positions {
    /// Number of places, classes and parameters.
    pub(super) counts: [usize; 3],
}

impl Positions {
    fn find(self, name: &str, letter: char, kind: usize) -> Option<usize> {
        name.strip_prefix(letter)?.parse().ok().filter(|i| *i < self.counts[kind])
    }
}

impl Names for Positions {
    fn place(&self, name: &str) -> Option<PlaceId> {
        self.find(name, 'p', 0).map(PlaceId::from_index)
    }

    fn class(&self, name: &str) -> Option<ClassId> {
        self.find(name, 'c', 1).map(ClassId::from_index)
    }

    fn parameter(&self, name: &str) -> Option<ParameterId> {
        self.find(name, 'k', 2).map(ParameterId::from_index)
    }
}

/// An expression over `names`.
pub(super) fn expression(text: &str, names: &impl Names) -> Result<Expr, ExprError> {
    expr::resolve(&expr::parse(text)?, names)
}

/// An arc weight for `class`: in nets with several classes, a token count without a class counts tokens of `class`,
/// as in PIPE 4.3.
pub(super) fn arc_weight(
    text: &str,
    class: Option<&str>,
    several: bool,
    names: &impl Names,
) -> Result<Expr, ExprError> {
    let parsed = expr::parse(text)?;
    let Some(class) = class.filter(|_| several) else { return expr::resolve(&parsed, names) };
    let qualified = parsed.try_replace(&mut |leaf| {
        Ok::<_, ExprError>(Expr::Leaf(match leaf {
            NamedLeaf::Tokens(place, None) => {
                NamedLeaf::Tokens(place.clone(), Some(Name { text: class.to_owned(), span: place.span.clone() }))
            }
            other => other.clone(),
        }))
    })?;
    expr::resolve(&qualified, names)
}
