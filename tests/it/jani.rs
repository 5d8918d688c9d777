//! JANI models of the Quantitative Verification Benchmark Set: state counts and values equal the reference; nets written as JANI
//! are read back with the same chain.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tailspn::compile::{Program, compile};
use tailspn::formats::jani::{Model, read, write};
use tailspn::formats::pipe::ReadOptions;
use tailspn::formats::prism::prism;
use tailspn::net::{ArcKind, Delay, Memory, Net, NetBuilder, Servers, Timing};
use tailspn::query::{Query, Reward};
use tailspn::solve::{Asking, Limits, Priorities, StateSpace, explore, explore_untimed};
use tailspn::watch::Unwatched;

use crate::shared::shared;

/// Largest model that the test solves; docs/jani.md has larger ones, which take minutes.
const MOST_STATES: u64 = 40_000;

fn states(net: &Net) -> StateSpace {
    explore(&compile(net).unwrap(), None, &Limits::default(), &Unwatched).unwrap()
}

/// All markings, if any enabled transition may fire first.
fn markings(program: &Program) -> usize {
    explore_untimed(program, Priorities::Ignored, &Limits::default(), &Unwatched).unwrap().states()
}

fn answer(net: &Net, query: &Query) -> f64 {
    let (program, space, limits) = (compile(net).unwrap(), states(net), Limits::default());
    Asking { net, program: &program, space: &space, limits: &limits, watch: &Unwatched }.answer(query).unwrap()
}

/// The constants of a row of parameter values.
fn constants(row: &Value) -> Vec<(String, f64)> {
    let values = row["values"].as_array().unwrap();
    values.iter().map(|one| (one["name"].as_str().unwrap().to_owned(), one["value"].as_f64().unwrap())).collect()
}

/// The reference value and how far from it an answer may be.
fn reference(value: &Value) -> (f64, f64) {
    let near = |value: f64| (value, 1e-6 * value.abs() + 1e-12);
    match (value.as_f64(), value["approx"].as_f64(), value["lower"].as_f64().zip(value["upper"].as_f64())) {
        (Some(exact), ..) | (_, Some(exact), _) => near(exact),
        (.., Some((lower, upper))) => {
            let (middle, rounding) = near(0.5 * (lower + upper));
            (middle, 0.5 * (upper - lower) + rounding)
        }
        _ => panic!("{value} is no reference value"),
    }
}

/// Compares every parameter set of a benchmark that is small enough; returns how many models and values were compared.
fn compare(folder: &Path) -> (usize, usize) {
    let text = fs::read_to_string(folder.join("index.json")).unwrap();
    // numerators and denominators of exact values are too large for a number; `approx` has the value
    let fraction = |line: &&str| ["\"num\"", "\"den\""].iter().any(|key| line.trim_start().starts_with(key));
    let short = |line: &str| {
        format!("{}0{}", line.split_inclusive(':').next().unwrap(), if line.ends_with(',') { "," } else { "" })
    };
    let lines = text.trim_start_matches('\u{feff}').lines();
    let lines: Vec<String> = lines.map(|line| if fraction(&line) { short(line) } else { line.to_owned() }).collect();
    let index: Value = serde_json::from_str(&lines.join("\n")).unwrap();
    let mut compared = (0, 0);
    for file in index["files"].as_array().unwrap() {
        let Ok(bytes) = fs::read(folder.join(file["file"].as_str().unwrap())) else { continue };
        for row in file["open-parameter-values"].as_array().into_iter().flatten() {
            let number = row["states"][0]["number"].as_u64();
            let Some(expected) = number.filter(|expected| *expected <= MOST_STATES) else { continue };
            let options = ReadOptions { constants: constants(row), ..ReadOptions::default() };
            let Model { net, properties } = read(&bytes, &options).unwrap();
            let program = compile(&net).unwrap();
            let space = states(&net);
            // Storm also counts the states that Markov automata reach if time passes before edges without a rate
            let count = if space.vanishing().0 == 0 { space.states() } else { markings(&program) };
            assert_eq!(count as u64, expected, "{} {:?}", folder.display(), options.constants);
            let limits = Limits::default();
            let asking = Asking { net: &net, program: &program, space: &space, limits: &limits, watch: &Unwatched };
            for result in row["results"].as_array().into_iter().flatten() {
                let name = result["property"].as_str().unwrap();
                let property = properties.iter().find(|property| property.name == name).unwrap();
                let found = asking.answer(property.query.as_ref().unwrap()).unwrap();
                let (value, error) = reference(&result["value"]);
                assert!((found - value).abs() <= error, "{} {name}: {found}, not {value}", folder.display());
                compared.1 += 1;
            }
            compared.0 += 1;
        }
    }
    compared
}

#[test]
fn benchmarks_have_the_reference_states_and_values() {
    let Some(folder) = shared("data/qcomp") else { return };
    let chains =
        ["cluster", "fms", "kanban", "mapk_cascade", "philosophers", "tandem"].map(|name| format!("ctmc/{name}"));
    let automata = ["flexible-manufacturing", "readers-writers"].map(|name| format!("ma/{name}"));
    let (mut models, mut values) = (0, 0);
    for name in chains.iter().chain(&automata) {
        let (more_models, more_values) = compare(&folder.join(name));
        assert!(more_models > 0, "{name}");
        models += more_models;
        values += more_values;
    }
    println!("{models} models, {values} values");
    assert!(models >= 15 && values >= 10, "{models} models, {values} values");
}

#[test]
fn a_model_with_open_choices_is_refused() {
    let Some(folder) = shared("data/qcomp/ma/reentrant-queues") else { return };
    let error = read(&fs::read(folder.join("reentrant-queues.jani")).unwrap(), &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("non-deterministic"), "{error}");
}

/// A reward of the whole state: tokens weighted by their places.
fn weighted(net: &Net) -> Query {
    let terms: Vec<String> =
        net.places().iter().enumerate().map(|(i, place)| format!("{} * #({})", i + 1, place.id)).collect();
    Query::LongRun { reward: Reward { rate: net.expression(&terms.join(" + ")).unwrap(), impulses: Vec::new() } }
}

/// A net with everything that JANI can say: several servers, inhibitors, tests, capacities, weights and rates by marking, and
/// immediate transitions of two priorities.
fn everything() -> Net {
    let mut b = NetBuilder::new("everything");
    let [p, q, r, s] = [("P 0", 5), ("q", 0), ("r", 0), ("max", 1)].map(|(id, tokens)| b.place(id, tokens));
    b.place_mut(q).capacity = Some(4);
    for place in [p, r, s] {
        b.place_mut(place).capacity = Some(7);
    }
    let timed = |rate: f64, servers| Timing::Timed {
        delay: Delay::Exponential { rate: rate.into() },
        servers,
        memory: Memory::Enabling,
    };
    let take = b.transition("take", timed(1.5, Servers::Limited(2)));
    b.input(p, take, 1.0);
    b.output(take, q, 2.0);
    let all = b.transition("all", timed(0.7, Servers::Infinite));
    let by_marking = b.expression("#(r)").unwrap();
    b.input(r, all, by_marking.clone());
    b.output(all, p, by_marking);
    b.test(r, all, 1.0);
    let rate = b.expression("if(#(q) > 1 && !(#(r) == 3), 0.5 + #(q) / 4, 0)").unwrap();
    let odd = b.transition(
        "odd",
        Timing::Timed { delay: Delay::Exponential { rate }, servers: Servers::Single, memory: Memory::Enabling },
    );
    b.input(q, odd, 2.0);
    b.output(odd, r, 1.0);
    b.inhibitor(r, odd, 5.0);
    for (name, weight, priority) in [("first", 1.0, 2), ("second", 3.0, 2), ("late", 1.0, 1)] {
        let t = b.transition(name, Timing::immediate(weight, priority));
        b.input(q, t, 3.0);
        b.output(t, if priority == 2 { r } else { p }, 1.0);
        if name == "first" {
            b.output(t, p, 1.0);
        }
        b.arc(if priority == 2 { ArcKind::Inhibitor } else { ArcKind::Test }, r, t, 3.0);
    }
    b.build().unwrap()
}

#[test]
fn nets_are_written_and_read_back_with_the_same_chain() {
    let mut nets = vec![everything()];
    if let Some(folder) = shared("data/qcomp") {
        for (file, constants) in [
            ("ctmc/fms/fms.jani", vec![("n".to_owned(), 2.0)]),
            ("ctmc/cluster/cluster.jani", vec![("N".to_owned(), 4.0)]),
            ("ctmc/tandem/tandem.jani", vec![("c".to_owned(), 7.0)]),
            ("ma/readers-writers/readers-writers.5.jani", Vec::new()),
        ] {
            let options = ReadOptions { constants, ..ReadOptions::default() };
            nets.push(read(&fs::read(folder.join(file)).unwrap(), &options).unwrap().net);
        }
    }
    for net in nets {
        let text = write(&net, &vec![Some(7); net.places().len()]).unwrap();
        let again =
            read(text.as_bytes(), &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}\n{text}")).net;
        let (before, after) = (states(&net), states(&again));
        assert_eq!(before.states(), after.states(), "{}", net.name());
        assert_eq!(before.partial_chain().rates.count(), after.partial_chain().rates.count(), "{}", net.name());
        let [a, b] = [&net, &again].map(|net| answer(net, &weighted(net)));
        assert!((a - b).abs() < 1e-9 * a.abs(), "{}: {a}, {b}", net.name());
    }
}

#[test]
fn a_queue_is_written_in_the_language_of_prism() {
    let mut b = NetBuilder::new("queue");
    let queue = b.place("queue", 0);
    b.place_mut(queue).capacity = Some(5);
    let arrive = b.transition("arrive", Timing::exponential(2.0));
    let serve = b.transition("serve", Timing::exponential(3.0));
    b.output(arrive, queue, 1.0);
    b.input(queue, serve, 1.0);
    let text = prism(&b.build().unwrap(), &[]).unwrap();
    let expected = "ctmc\n\nmodule net\n    queue : [0..5] init 0;\n    [arrive] (queue <= 4) -> 2 : (queue'=(queue + 1));\n    \
                    [serve] (queue >= 1) -> 3 : (queue'=(queue - 1));\nendmodule\n";
    assert_eq!(text, expected);
}

#[test]
fn all_parts_without_counterpart_in_prism_are_reported() {
    let mut b = NetBuilder::new("");
    let p = b.place("p", 1);
    let now = b.transition("now", Timing::immediate(1.0, 1));
    b.output(now, p, 1.0);
    b.transition("fixed", Timing::general(tailspn::net::Law::Deterministic { delay: 1.0 }));
    let net = b.build().unwrap();
    let problems = prism(&net, &[]).unwrap_err();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].to_string().contains("`p`") && problems[1].to_string().contains("`fixed`"));
    assert!(prism(&everything(), &[]).unwrap_err()[0].to_string().contains("immediate"));
}
