//! Tests of reading small models: accepted models, refusals and their positions, hostile files.

use serde_json::{Value, json};

use crate::formats::jani::{Model, read};
use crate::formats::pipe::{ReadError, ReadOptions};
use crate::net::expr::Expr;
use crate::net::{ArcKind, Delay, Net, Timing};

fn tried(model: &Value, constants: &[(&str, f64)]) -> Result<Model, ReadError> {
    let constants = constants.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    read(format!("{model:#}").as_bytes(), &ReadOptions { constants, ..ReadOptions::default() })
}

fn net(model: &Value) -> Net {
    tried(model, &[]).unwrap_or_else(|error| panic!("{error}")).net
}

fn refused(model: &Value) -> String {
    tried(model, &[]).unwrap_err().to_string()
}

fn bounded(name: &str, lower: i64, upper: i64, initial: i64) -> Value {
    let kind = json!({"kind": "bounded", "base": "int", "lower-bound": lower, "upper-bound": upper});
    json!({"name": name, "type": kind, "initial-value": initial})
}

/// A model of one automaton with one location.
fn model(kind: &str, variables: Value, edges: Value) -> Value {
    json!({
        "jani-version": 1, "name": "m", "type": kind, "variables": variables,
        "automata": [{"name": "a", "locations": [{"name": "l"}], "initial-locations": ["l"], "edges": edges}],
        "system": {"elements": [{"automaton": "a"}]},
    })
}

fn op(op: &str, left: impl Into<Value>, right: impl Into<Value>) -> Value {
    json!({"op": op, "left": left.into(), "right": right.into()})
}

fn edge(guard: &Value, rate: impl Into<Value>, assignments: &[(&str, Value)]) -> Value {
    let assignments: Vec<Value> =
        assignments.iter().map(|(name, value)| json!({"ref": name, "value": value})).collect();
    json!({"location": "l", "guard": {"exp": guard}, "rate": {"exp": rate.into()},
           "destinations": [{"location": "l", "assignments": assignments}]})
}

/// The arcs of a net: kind, place, transition, weight.
fn arcs(net: &Net) -> Vec<(ArcKind, String, String, String)> {
    let text = |weight: &Expr| net.expression_text(weight);
    net.arcs()
        .iter()
        .map(|arc| {
            let (place, transition) = (net.place(arc.place).id.clone(), net.transition(arc.transition).id.clone());
            (arc.kind, place, transition, text(&arc.weights[0].weight))
        })
        .collect()
}

fn rate(net: &Net, transition: usize) -> String {
    match &net.transitions()[transition].timing {
        Timing::Timed { delay: Delay::Exponential { rate }, .. } => net.expression_text(rate),
        other => panic!("{other:?}"),
    }
}

#[test]
fn bounds_offsets_and_constants_become_arcs() {
    let edges = json!([
        edge(&op("<", "x", 4), 2, &[("x", op("+", "x", 1))]),
        edge(&op("∧", op("=", "x", 4), "b"), 1, &[("x", json!(1)), ("b", json!(false))]),
    ]);
    let found = net(&model(
        "ctmc",
        json!([bounded("x", 1, 4, 2), {"name": "b", "type": "bool", "initial-value": true}]),
        edges,
    ));
    assert_eq!((found.places()[0].initial[0], found.places()[0].capacity), (1, Some(3)));
    let expected =
        [(ArcKind::Output, "x", "a_1", "1"), (ArcKind::Input, "x", "a_2", "3"), (ArcKind::Input, "b", "a_2", "1")];
    let expected = expected.map(|(kind, p, t, w)| (kind, p.to_owned(), t.to_owned(), w.to_owned()));
    assert_eq!(arcs(&found), expected);
}

#[test]
fn moves_by_marking_become_weights_that_are_expressions() {
    let variables = json!([bounded("x", 0, 9, 2), bounded("y", 0, 9, 3)]);
    let edges =
        json!([edge(&op("≤", op("+", "x", "y"), 9), op("*", 2, "x"), &[("x", op("+", "x", "y")), ("y", json!(0))])]);
    let found = net(&model("ctmc", variables, edges));
    let weights: Vec<String> =
        arcs(&found).into_iter().map(|(kind, p, _, weight)| format!("{kind:?} {p} {weight}")).collect();
    assert_eq!(weights, ["Output x #(y)", "Input y #(y)"]);
    assert_eq!(rate(&found, 0), "if(#(x) + #(y) <= 9, 2 * #(x), 0)");
}

#[test]
fn rates_of_synchronised_edges_multiply() {
    let automaton = |name: &str, rates: [i64; 2]| {
        let edge = |rate: i64| json!({"location": "l", "action": "go", "rate": {"exp": rate}, "destinations": [{"location": "l"}]});
        json!({"name": name, "locations": [{"name": "l"}], "initial-locations": ["l"], "edges": rates.map(edge)})
    };
    let model = json!({
        "type": "ctmc", "automata": [automaton("a", [2, 3]), automaton("b", [5, 7])],
        "system": {"elements": [{"automaton": "a"}, {"automaton": "b"}],
                   "syncs": [{"synchronise": ["go", "go"], "result": "both"}]},
    });
    let found = net(&model);
    let rates: Vec<String> = (0..4).map(|i| rate(&found, i)).collect();
    assert_eq!(rates, ["10", "14", "15", "21"]);
    assert_eq!(found.transitions()[1].id, "both_2");
}

#[test]
fn immediate_edges_need_guards_that_exclude_each_other() {
    let immediate = |guard: &Value| {
        let mut edge = edge(guard, 1, &[("x", op("-", "x", 1))]);
        edge.as_object_mut().unwrap().remove("rate");
        edge
    };
    let variables = || json!([bounded("x", 0, 3, 3), bounded("y", 0, 3, 3)]);
    let first = op("∧", op("≥", "x", 1), op("∨", op("=", "y", 0), op("≥", "y", 2)));
    let apart = op("∧", op("≥", "x", 1), json!({"op": "¬", "exp": op("∨", op("<", "y", 1), op(">", "y", 1))}));
    let found = net(&model("ma", variables(), json!([immediate(&first), immediate(&apart)])));
    assert!(found.transitions().iter().all(|transition| transition.is_immediate()));
    let together = op("≥", "x", 1);
    let error = refused(&model("ma", variables(), json!([immediate(&first), immediate(&together)])));
    assert!(error.contains("non-deterministic") && error.contains("/automata/0/edges/1"), "{error}");
    let error = refused(&model("ctmc", variables(), json!([immediate(&first)])));
    assert!(error.contains("needs a rate"), "{error}");
}

#[test]
fn constants_come_from_outside_or_from_the_file() {
    let mut model = model(
        "ctmc",
        json!([bounded("x", 0, 9, 0)]),
        json!([edge(&op("<", "x", "N"), "r", &[("x", op("+", "x", 1))])]),
    );
    model["constants"] = json!([
        {"name": "N", "type": "int"}, {"name": "r", "type": "real", "value": op("/", "N", 4)}, {"name": "unused", "type": "real"}
    ]);
    let error = refused(&model);
    assert!(error.contains("constant `N` has no value; set it with --param N=VALUE"), "{error}");
    assert_eq!(rate(&tried(&model, &[("N", 6.0)]).unwrap().net, 0), "1.5");
    assert_eq!(rate(&tried(&model, &[("N", 6.0), ("r", 3.0)]).unwrap().net, 0), "3");
    let error = tried(&model, &[("M", 1.0)]).unwrap_err().to_string();
    assert!(error.contains("no constant `M`; the model has `N`, `r`, `unused`"), "{error}");
    let error = tried(&model, &[("N", 1.5)]).unwrap_err().to_string();
    assert!(error.contains("whole number"), "{error}");
}

#[test]
fn unsupported_parts_of_a_model_are_refused_with_their_location() {
    let good =
        || model("ctmc", json!([bounded("x", 0, 3, 0)]), json!([edge(&json!(true), 1, &[("x", op("+", "x", 1))])]));
    assert!(tried(&good(), &[]).is_ok());
    let cases: [(&str, Value, &str); 14] = [
        ("/type", json!("mdp"), "`mdp`"),
        ("/features", json!(["arrays"]), "`arrays`"),
        ("/variables/0/type", json!("int"), "bounds"),
        ("/variables/0/type", json!("clock"), "`clock`"),
        ("/variables/0/initial-value", json!(7), "outside"),
        ("/variables/0/type/upper-bound", json!(1e300), "whole number"),
        ("/variables/0/type/upper-bound", json!("x"), "unknown name `x`"),
        ("/automata/0/initial-locations", json!(["l", "l"]), "one initial location"),
        ("/automata/0/edges/0/rate/exp", json!(-1), "not negative"),
        ("/automata/0/edges/0/rate/exp", json!({"op": "der", "var": "x"}), "`der`"),
        ("/automata/0/edges/0/location", json!("m"), "no location `m`"),
        ("/automata/0/edges/0/destinations/0/assignments/0/ref", json!({"op": "aa"}), "arrays"),
        ("/automata/0/edges/0/destinations/0/assignments/0/value", op("/", "x", 2), "whole number"),
        ("/system/elements/0/automaton", json!("b"), "no automaton `b`"),
    ];
    for (pointer, value, reason) in cases {
        let mut model = good();
        match model.pointer_mut(pointer) {
            Some(part) => *part = value,
            None => model["features"] = value,
        }
        let error = refused(&model);
        let place = pointer.rsplit_once('/').unwrap().0;
        // the rate of an edge is a number of its transition
        let place = place.strip_suffix("/rate").unwrap_or(place);
        assert!(error.contains(reason) && error.contains(place) && error.starts_with("line "), "{pointer}: {error}");
    }
}

#[test]
fn circular_and_exploding_definitions_are_refused() {
    let mut circle = model("ctmc", json!([]), json!([edge(&json!(true), "a", &[])]));
    circle["constants"] =
        json!([{"name": "a", "type": "real", "value": "b"}, {"name": "b", "type": "real", "value": "a"}]);
    assert!(refused(&circle).contains("is circular"));
    circle["constants"] = json!([]);
    let call = |name: &str| json!({"op": "call", "function": name, "args": []});
    circle["functions"] = json!([{"name": "f", "type": "real", "parameters": [], "body": call("f")}]);
    circle["automata"][0]["edges"][0]["rate"]["exp"] = call("f");
    assert!(refused(&circle).contains("is circular"));
    // each function calls the one before it twice
    let function = |i: usize| {
        let body =
            if i == 0 { json!("x") } else { op("+", call(&format!("f{}", i - 1)), call(&format!("f{}", i - 1))) };
        json!({"name": format!("f{i}"), "type": "real", "parameters": [], "body": body})
    };
    let mut doubling = model("ctmc", json!([bounded("x", 0, 1, 0)]), json!([edge(&json!(true), call("f60"), &[])]));
    doubling["functions"] = (0..=60).map(function).collect();
    let error = refused(&doubling);
    assert!(error.contains("parts, the limit"), "{error}");
    let mut transient =
        model("ctmc", json!([{"name": "t", "type": "real", "transient": true, "initial-value": 0}]), json!([]));
    transient["automata"][0]["locations"][0]["transient-values"] = json!([{"ref": "t", "value": op("+", "t", 1)}]);
    transient["automata"][0]["edges"] = json!([edge(&json!(true), "t", &[])]);
    assert!(refused(&transient).contains("is circular"));
}

#[test]
fn hostile_files_are_refused() {
    let good = format!(
        "{:#}",
        model("ctmc", json!([bounded("x", 0, 3, 0)]), json!([edge(&json!(true), 1, &[("x", op("+", "x", 1))])]))
    );
    let options = ReadOptions::default();
    for end in (0..good.len()).filter(|end| good.is_char_boundary(*end)) {
        let error = read(&good.as_bytes()[..end], &options).unwrap_err();
        assert_eq!(error.problems.len(), 1);
    }
    let deep = format!("{{\"type\": {}", "[".repeat(1_000_000));
    assert!(read(deep.as_bytes(), &options).unwrap_err().to_string().contains("recursion limit"));
    let huge = good.replace("\"upper-bound\": 3", "\"upper-bound\": 1e400");
    assert!(read(huge.as_bytes(), &options).unwrap_err().to_string().contains("number out of range"));
    // every part replaced by something of another kind is read or refused, without a panic
    let root: Value = serde_json::from_str(&good).unwrap();
    let mut pointers = vec![String::new()];
    let mut at = 0;
    while at < pointers.len() {
        let pointer = pointers[at].clone();
        match root.pointer(&pointer) {
            Some(Value::Object(parts)) => pointers.extend(parts.keys().map(|key| format!("{pointer}/{key}"))),
            Some(Value::Array(parts)) => pointers.extend((0..parts.len()).map(|i| format!("{pointer}/{i}"))),
            _ => {}
        }
        at += 1;
    }
    assert!(pointers.len() > 40);
    for pointer in pointers {
        for other in [json!(null), json!(-1), json!(1e308), json!(""), json!([]), json!({}), json!([{}]), json!(true)] {
            let mut model = root.clone();
            *model.pointer_mut(&pointer).unwrap() = other;
            let _ = read(model.to_string().as_bytes(), &options);
        }
    }
}
