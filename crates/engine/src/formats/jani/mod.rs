//! JANI, the exchange format of model checkers: continuous-time Markov chains, and Markov automata without open choices, as nets.
//!
//! | in the model | becomes |
//! |---|---|
//! | a boolean, an integer with bounds | a place; its tokens are the value above the lower bound, its capacity the difference of the bounds |
//! | a location, if the automaton has several | a place that holds one token while the automaton is there |
//! | an edge with a rate, or several that a vector synchronises | an exponential transition; rates are multiplied |
//! | an edge of a Markov automaton without a rate | an immediate transition for each destination, weighted by its probability |
//! | the part of a guard about one variable | test and inhibitor arcs |
//! | the rest of a guard | a condition: if it does not hold, the rate or weight is 0 |
//! | an assignment that changes a variable by a constant | an arc with that weight |
//! | any other assignment of an integer | arcs whose weights are expressions |
//! | a constant | its value, which [`ReadOptions::constants`](crate::formats::pipe::ReadOptions::constants) may set |
//! | a transient variable | its value at each use; rewards of properties |
//!
//! A Markov automaton is read if no two edges without a rate can be enabled together, which is proved from their
//! guards; otherwise the model is refused as non-deterministic. An assignment that leaves the bounds of a variable is an
//! error in JANI; in tailspn, the transition is disabled in such a marking. Arrays, unbounded and real variables,
//! several initial states and input-enabled automata are refused. Every refusal has the position in the file, as line and
//! column and as a JSON pointer.

mod algebra;
mod automata;
mod fail;
mod guard;
mod locate;
mod property;
mod scope;
#[cfg(test)]
mod tests;
mod transitions;
mod write;

pub use write::write;

use serde_json::Value;

use crate::formats::jani::automata::{places, steps};
use crate::formats::jani::fail::{Parsed, expression, fail, list, text};
use crate::formats::jani::locate::locate;
use crate::formats::jani::property::properties;
use crate::formats::jani::scope::Scope;
use crate::formats::jani::transitions::Maker;
use crate::formats::pipe::encoding::decode_noting;
use crate::formats::pipe::{Fault, ReadError, ReadOptions, ReadProblem, spot};
use crate::net::{Net, NetBuilder};
use crate::query::Property;

/// A model that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The net.
    pub net: Net,
    /// The properties of the file.
    pub properties: Vec<Property>,
}

/// Reads a model from the bytes of a JANI file.
///
/// # Errors
///
/// The first part that cannot be read, and its position.
pub fn read(bytes: &[u8], options: &ReadOptions) -> Result<Model, ReadError> {
    let (text, _) = decode_noting(bytes, options.max_bytes)?;
    let root: Value = serde_json::from_str(&text).map_err(|error| {
        let line_start = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
        let at = (line_start + error.column().saturating_sub(1)).min(text.len());
        one(spot(&text, at..at), Fault::Json { reason: reason_of(&error) })
    })?;
    if !root.is_object() {
        let reason = "a JANI model is an object, in braces".to_owned();
        return Err(one(spot(&text, 0..0), Fault::Jani { pointer: "/".to_owned(), reason }));
    }
    model(&root, options).map_err(|fail| {
        let (pointer, span) = locate(&root, fail.at, &text);
        let pointer = if pointer.is_empty() { "/".to_owned() } else { pointer };
        one(spot(&text, span), Fault::Jani { pointer, reason: fail.reason })
    })
}

/// Returns true if a text appears to be a JANI file: its first characters start an object with a key of a model.
pub(super) fn looks_like(text: &str) -> bool {
    let keys = ["\"jani-version\"", "\"automata\"", "\"actions\"", "\"features\""];
    text.trim_start().starts_with('{') && keys.iter().any(|key| text.contains(key))
}

fn one(spot: crate::formats::pipe::Spot, fault: Fault) -> ReadError {
    ReadError { problems: vec![ReadProblem { spot, fault }], more: 0 }
}

/// The text of the error without the position, which the caller prints first.
fn reason_of(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(reason, _)| reason.to_owned())
}

fn model<'j>(root: &'j Value, options: &'j ReadOptions) -> Parsed<'j, Model> {
    let kind = text(root, "type")?;
    for feature in list(root, "features")? {
        match feature.as_str() {
            Some("derived-operators" | "functions" | "state-exit-rewards") => {}
            Some(name @ "nondet-selection") => {
                return fail(feature, format!("the model is non-deterministic: `{name}` leaves a choice open"));
            }
            other => return fail(feature, format!("the feature `{}` is not supported", other.unwrap_or("?"))),
        }
    }
    if !["ctmc", "ma"].contains(&kind) {
        return fail(&root["type"], format!("models of type `{kind}` are not supported; only `ctmc` and `ma` are"));
    }
    let mut scope = Scope::new(root, &options.constants)?;
    let mut net = NetBuilder::new(root.get("name").and_then(Value::as_str).unwrap_or_default());
    let instances = places(root, &mut scope, &mut net)?;
    for automaton in list(root, "automata")?.iter().chain([root]) {
        if let Some(restriction) = expression(automaton, "restrict-initial")?
            && !scope.constant(restriction).is_ok_and(|value| value != 0.0)
        {
            return fail(
                restriction,
                "initial states given by a condition are not supported; give variables initial values",
            );
        }
    }
    let steps = steps(root, &instances)?;
    let most = match net.clone().build() {
        Ok(net) => net.places().iter().map(|place| place.capacity.unwrap_or(u32::MAX)).collect(),
        Err(problems) => return fail(root, problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
    };
    let mut maker = Maker::new(&scope, &instances, most, kind == "ma", &mut net);
    maker.make(&steps)?;
    let impulses = maker.impulses;
    let properties = properties(root, &scope, &impulses)?;
    match net.build() {
        Ok(net) => Ok(Model { net, properties }),
        Err(problems) => fail(root, problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
    }
}
