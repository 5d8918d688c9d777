//! The names of a model and what they stand for, and expressions of the model as marking expressions.
//!
//! Constants become numbers; calls of functions and transient variables are replaced by their definitions; variables become
//! the tokens of their places.
//! Definitions in cycles and expressions that grow without end are refused.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use serde_json::Value;

use crate::formats::jani::algebra::{binary, call, choose, tokens, unary};
use crate::formats::jani::fail::{Fail, Parsed, fail, list, part, text};
use crate::net::PlaceId;
use crate::net::expr::{BinaryOp, Expr, Function, UnaryOp};

/// Maximum nesting of expressions, including definitions.
const MOST_DEPTH: usize = 256;
/// Maximum number of parts of all expressions together, including definitions.
const MOST_PARTS: usize = 2_000_000;

/// Meaning of a variable.
#[derive(Clone, Copy, Debug)]
pub(super) enum Named<'j> {
    /// The tokens of a place above the lower bound.
    Place { place: PlaceId, lower: f64 },
    /// A transient variable, by its declaration.
    Transient(&'j Value),
}

/// The value of a transient variable in a location.
#[derive(Debug)]
pub(super) struct LocationValue<'j> {
    /// The place of the location; none if the automaton has only one location.
    pub(super) location: Option<PlaceId>,
    pub(super) value: &'j Value,
    pub(super) instance: usize,
}

/// Context of an expression: the automaton, and the arguments of a function.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Site<'s> {
    pub(super) instance: Option<usize>,
    arguments: Option<&'s HashMap<&'s str, Expr>>,
}

impl Site<'_> {
    pub(super) fn within(instance: usize) -> Self {
        Self { instance: Some(instance), arguments: None }
    }
}

/// The names of a model.
#[derive(Debug)]
pub(super) struct Scope<'j> {
    /// Values of constants from the options.
    given: &'j [(String, f64)],
    constants: HashMap<&'j str, &'j Value>,
    functions: HashMap<&'j str, &'j Value>,
    pub(super) globals: HashMap<&'j str, Named<'j>>,
    /// Variables and functions of each automaton of the composition.
    pub(super) locals: Vec<HashMap<&'j str, Named<'j>>>,
    pub(super) local_functions: Vec<HashMap<&'j str, &'j Value>>,
    pub(super) location_values: HashMap<&'j str, Vec<LocationValue<'j>>>,
    values: RefCell<HashMap<&'j str, f64>>,
    /// Definitions that are being expanded.
    open: RefCell<Vec<&'j str>>,
    depth: Cell<usize>,
    parts: Cell<usize>,
}

/// The named elements of a list.
pub(super) fn named<'j>(value: &'j Value, key: &str) -> Parsed<'j, HashMap<&'j str, &'j Value>> {
    let mut found = HashMap::new();
    for element in list(value, key)? {
        if found.insert(text(element, "name")?, element).is_some() {
            return fail(element, format!("`{}` is defined twice", text(element, "name")?));
        }
    }
    Ok(found)
}

impl<'j> Scope<'j> {
    pub(super) fn new(model: &'j Value, given: &'j [(String, f64)]) -> Parsed<'j, Self> {
        let constants = named(model, "constants")?;
        if let Some((name, _)) = given.iter().find(|(name, _)| !constants.contains_key(&**name)) {
            let mut names: Vec<&str> = constants.keys().copied().collect();
            names.sort_unstable();
            return fail(model, format!("there is no constant `{name}`; the model has {}", quoted(&names)));
        }
        Ok(Self {
            given,
            constants,
            functions: named(model, "functions")?,
            globals: HashMap::new(),
            locals: Vec::new(),
            local_functions: Vec::new(),
            location_values: HashMap::new(),
            values: RefCell::default(),
            open: RefCell::default(),
            depth: Cell::new(0),
            parts: Cell::new(0),
        })
    }

    /// The value of an expression without variables.
    pub(super) fn constant(&self, value: &'j Value) -> Parsed<'j, f64> {
        let number = self.expression(value, Site::default())?.as_number();
        number.filter(|number| number.is_finite()).map_or_else(|| fail(value, "this must be a constant number"), Ok)
    }

    /// The value of an expression without variables that must be a whole number.
    pub(super) fn whole(&self, value: &'j Value) -> Parsed<'j, i64> {
        let number = self.constant(value)?;
        if number.fract() == 0.0 && number.abs() < f64::from(1_u32 << 31) {
            Ok(number as i64)
        } else {
            fail(value, format!("{number:?} is not a whole number below 2^31"))
        }
    }

    /// Meaning of a variable: of an automaton, otherwise a global one.
    pub(super) fn variable(&self, name: &str, instance: Option<usize>) -> Option<Named<'j>> {
        let local = instance.and_then(|instance| self.locals.get(instance)?.get(name));
        local.or_else(|| self.globals.get(name)).copied()
    }

    /// An expression of the model as a marking expression. Truth values are 1 and 0.
    pub(super) fn expression(&self, value: &'j Value, site: Site<'_>) -> Parsed<'j, Expr> {
        if self.depth.get() >= MOST_DEPTH {
            return fail(
                value,
                format!("expressions and definitions are nested deeper than the limit of {MOST_DEPTH}"),
            );
        }
        self.count(value, 1)?;
        self.depth.set(self.depth.get() + 1);
        let found = self.written(value, site);
        self.depth.set(self.depth.get() - 1);
        found
    }

    fn written(&self, value: &'j Value, site: Site<'_>) -> Parsed<'j, Expr> {
        match value {
            Value::Bool(truth) => Ok(Expr::Number(f64::from(u8::from(*truth)))),
            Value::Number(number) => Ok(Expr::Number(number.as_f64().unwrap_or(f64::NAN))),
            Value::String(name) => self.name(value, name, site),
            Value::Object(_) if value.get("constant").is_some() => match text(value, "constant")? {
                "e" => Ok(Expr::Number(std::f64::consts::E)),
                "π" => Ok(Expr::Number(std::f64::consts::PI)),
                other => fail(value, format!("there is no constant `{other}` in JANI")),
            },
            Value::Object(_) => self.operation(value, site),
            _ => fail(value, "this is not an expression"),
        }
    }

    /// Counts parts of expressions, to limit definitions that grow exponentially when expanded.
    fn count(&self, value: &'j Value, more: usize) -> Parsed<'j, ()> {
        self.parts.set(self.parts.get() + more);
        if self.parts.get() > MOST_PARTS {
            return fail(value, format!("the expressions of the model have more than {MOST_PARTS} parts, the limit"));
        }
        Ok(())
    }

    fn name(&self, value: &'j Value, name: &'j str, site: Site<'_>) -> Parsed<'j, Expr> {
        if let Some(argument) = site.arguments.and_then(|arguments| arguments.get(name)) {
            self.count(value, size(argument))?;
            return Ok(argument.clone());
        }
        match self.variable(name, site.instance) {
            Some(Named::Place { place, lower }) => Ok(binary(BinaryOp::Add, tokens(place), Expr::Number(lower))),
            Some(Named::Transient(declaration)) => self.defined(value, name, || self.transient(name, declaration)),
            None => self.constant_named(value, name).map(Expr::Number),
        }
    }

    /// Expands a definition, unless it is being expanded already.
    fn defined<T>(&self, value: &'j Value, name: &'j str, write: impl FnOnce() -> Parsed<'j, T>) -> Parsed<'j, T> {
        if self.open.borrow().contains(&name) {
            return fail(value, format!("the definition of `{name}` is circular"));
        }
        self.open.borrow_mut().push(name);
        let found = write();
        self.open.borrow_mut().pop();
        found
    }

    fn constant_named(&self, value: &'j Value, name: &'j str) -> Parsed<'j, f64> {
        if let Some(number) = self.values.borrow().get(name) {
            return Ok(*number);
        }
        let Some(declaration) = self.constants.get(name) else {
            return fail(value, format!("unknown name `{name}`"));
        };
        let given = self.given.iter().rev().find(|(own, _)| own == name).map(|(_, number)| *number);
        let number = match (given, declaration.get("value")) {
            (Some(number), _) => number,
            (None, Some(definition)) => self.defined(value, name, || self.constant(definition))?,
            (None, None) => {
                return fail(value, format!("constant `{name}` has no value; set it with --param {name}=VALUE"));
            }
        };
        let whole = declaration
            .get("type")
            .is_some_and(|kind| kind == "int" || kind.get("base").is_some_and(|base| base == "int"));
        if whole && number.fract() != 0.0 {
            return fail(declaration, format!("constant `{name}` must be a whole number, not {number}"));
        }
        self.values.borrow_mut().insert(name, number);
        Ok(number)
    }

    /// The value of a transient variable in a state: the location's value, otherwise the initial value.
    fn transient(&self, name: &str, declaration: &'j Value) -> Parsed<'j, Expr> {
        let initial = declaration.get("initial-value").map(|value| self.expression(value, Site::default()));
        let mut found = initial.unwrap_or(Ok(Expr::Number(0.0)))?;
        for LocationValue { location, value, instance } in self.location_values.get(name).into_iter().flatten() {
            let value = self.expression(value, Site::within(*instance))?;
            found = location.map_or_else(|| value.clone(), |place| choose(tokens(place), value.clone(), found));
        }
        Ok(found)
    }

    fn operation(&self, value: &'j Value, site: Site<'_>) -> Parsed<'j, Expr> {
        let op = text(value, "op")?;
        let operand = |key: &str| self.expression(part(value, key)?, site);
        if let Some(op) = binary_operator(op)
            && value.get("left").is_some()
        {
            return Ok(binary(op, operand("left")?, operand("right")?));
        }
        let one = |function| Ok::<_, Fail<'j>>(call(function, vec![operand("exp")?]));
        let two = |function| Ok::<_, Fail<'j>>(call(function, vec![operand("left")?, operand("right")?]));
        let less = |a: &Expr, b: f64| binary(BinaryOp::Less, a.clone(), Expr::Number(b));
        match op {
            "¬" => Ok(unary(UnaryOp::Not, operand("exp")?)),
            "-" => Ok(unary(UnaryOp::Negate, operand("exp")?)),
            "⇒" => Ok(binary(BinaryOp::Or, unary(UnaryOp::Not, operand("left")?), operand("right")?)),
            "min" => two(Function::Min),
            "max" => two(Function::Max),
            "pow" => two(Function::Pow),
            "log" => {
                let [of, base] = [operand("left")?, operand("right")?].map(|a| call(Function::Log, vec![a]));
                Ok(binary(BinaryOp::Divide, of, base))
            }
            "floor" => one(Function::Floor),
            "ceil" => one(Function::Ceil),
            "abs" => one(Function::Abs),
            "sgn" => {
                let a = operand("exp")?;
                let above = choose(
                    binary(BinaryOp::Greater, a.clone(), Expr::Number(0.0)),
                    Expr::Number(1.0),
                    Expr::Number(0.0),
                );
                Ok(choose(less(&a, 0.0), Expr::Number(-1.0), above))
            }
            "trc" => {
                let a = operand("exp")?;
                let [up, down] = [Function::Ceil, Function::Floor].map(|function| call(function, vec![a.clone()]));
                Ok(choose(less(&a, 0.0), up, down))
            }
            "ite" => Ok(choose(operand("if")?, operand("then")?, operand("else")?)),
            "call" => self.function(value, site),
            "nondet" => fail(value, "the model is non-deterministic: `nondet` leaves a value open"),
            other => fail(value, format!("operator `{other}` is not supported")),
        }
    }

    /// A call of a function, expanded.
    fn function(&self, value: &'j Value, site: Site<'_>) -> Parsed<'j, Expr> {
        let name = text(value, "function")?;
        let local = site.instance.and_then(|instance| self.local_functions.get(instance)?.get(name));
        let Some(function) = local.or_else(|| self.functions.get(name)) else {
            return fail(value, format!("there is no function `{name}`"));
        };
        let (parameters, given) = (list(function, "parameters")?, list(value, "args")?);
        if parameters.len() != given.len() {
            return fail(value, format!("`{name}` takes {} arguments, not {}", parameters.len(), given.len()));
        }
        let mut arguments = HashMap::new();
        for (parameter, argument) in parameters.iter().zip(given) {
            arguments.insert(text(parameter, "name")?, self.expression(argument, site)?);
        }
        let within = Site { instance: site.instance, arguments: Some(&arguments) };
        self.defined(value, name, || self.expression(part(function, "body")?, within))
    }
}

/// Names as a list in a sentence.
fn quoted(names: &[&str]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Number of parts of an expression.
fn size(expr: &Expr) -> usize {
    match expr {
        Expr::Number(_) | Expr::Leaf(_) => 1,
        Expr::Unary(_, a) => 1 + size(a),
        Expr::Binary(_, a, b) => 1 + size(a) + size(b),
        Expr::Call(_, args) => 1 + args.iter().map(size).sum::<usize>(),
    }
}

fn binary_operator(op: &str) -> Option<BinaryOp> {
    Some(match op {
        "∨" => BinaryOp::Or,
        "∧" => BinaryOp::And,
        "=" => BinaryOp::Equal,
        "≠" => BinaryOp::NotEqual,
        "<" => BinaryOp::Less,
        "≤" => BinaryOp::LessOrEqual,
        ">" => BinaryOp::Greater,
        "≥" => BinaryOp::GreaterOrEqual,
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Subtract,
        "*" => BinaryOp::Multiply,
        "/" => BinaryOp::Divide,
        "%" => BinaryOp::Remainder,
        _ => return None,
    })
}
