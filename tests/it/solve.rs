//! Exact answers: every expected value of the models, state counts and averages of an independent solver, and the token game
//! itself as a witness of the states.
//!
//! The nets of others are read from the shared folder; where it is absent their tests are skipped.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde::Deserialize;
use tailspn::compile::{Program, compile, lower};
use tailspn::formats::pipe::{ReadOptions, read};
use tailspn::net::Net;
use tailspn::rng::philox4x32_10;
use tailspn::semantics::{Candidates, Fault, find_candidates, fire, rate};
use tailspn::solve::{
    Expanded, ExploreError, Limits, LinearMethod, LinearSettings, PassageSettings, ReplayError, StateSpace,
    expand_phases, expected, explore, passage, replay, steady_state,
};
use tailspn::watch::Unwatched;

use crate::measure::Measure;
use crate::random_net::{any_net, balanced_net};
use crate::shared::shared;

/// Largest relative error of an exact value.
const EXACT: f64 = 1e-9;

fn load(path: &Path) -> Net {
    read(&fs::read(path).unwrap(), &ReadOptions::default()).unwrap_or_else(|e| panic!("{}: {e}", path.display())).net
}

fn whole(program: &Program) -> StateSpace {
    let space = explore(program, None, &Limits::default(), &Unwatched).unwrap();
    assert_eq!(space.stopped(), None);
    space
}

/// The exact value of a measure.
fn answer(net: &Net, measure: &Measure) -> f64 {
    let program = compile(net).unwrap();
    let code = |text: &str| lower(net, &net.expression(text).unwrap());
    if let Some(condition) = measure.condition() {
        let space = explore(&program, Some(&code(condition)), &Limits::default(), &Unwatched).unwrap();
        let mut targets = vec![false; space.states()];
        space.goals().iter().for_each(|&state| targets[state as usize] = true);
        let mut time = passage(space.complete().unwrap(), &targets, &PassageSettings::default()).unwrap();
        return match measure {
            Measure::PassageMean(_) => time.moments().unwrap().mean,
            Measure::PassageSd(_) => time.moments().unwrap().variance.sqrt(),
            Measure::PassageCdf(_, at) => time.cdf(*at).unwrap(),
            _ => unreachable!("only these have a condition"),
        };
    }
    let space = whole(&program);
    let steady = steady_state(space.complete().unwrap(), &LinearSettings::default()).unwrap();
    match measure {
        Measure::Throughput(id) => {
            let averages = space.averages(&program, &steady.probabilities).unwrap();
            averages.throughputs[net.find_transition(id).unwrap().index()]
        }
        Measure::Tokens(place) => {
            let values = space.values(&code(&format!("#({place})")), "tokens").unwrap();
            expected(&steady.probabilities, &values)
        }
        Measure::Average(text) => expected(&steady.probabilities, &space.values(&code(text), "average").unwrap()),
        _ => unreachable!("passage times have a condition"),
    }
}

#[derive(Deserialize)]
struct Expectation {
    measure: Vec<ExpectedMeasure>,
}

#[derive(Deserialize)]
struct ExpectedMeasure {
    name: String,
    value: f64,
}

#[test]
fn every_model_has_its_known_values_exactly() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/textbook");
    let (mut checked, mut refused) = (0, Vec::new());
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "xml") {
            continue;
        }
        let Ok(Expanded { net, .. }) = expand_phases(&load(&path)) else {
            refused.push(path.file_stem().unwrap().to_string_lossy().into_owned());
            continue;
        };
        let text = fs::read_to_string(path.with_extension("expect.toml")).unwrap();
        for ExpectedMeasure { name, value } in toml::from_str::<Expectation>(&text).unwrap().measure {
            let found = answer(&net, &Measure::parse(&name).unwrap());
            let off = (found - value).abs() / value.abs().max(1e-3);
            assert!(off < EXACT, "{}: {name} is {found}, not {value}", path.display());
            checked += 1;
        }
    }
    assert_eq!(refused, ["erlang_loss"], "its calls last exactly one second");
    assert!(checked >= 60, "only {checked} values");
}

/// Results of an independent solver.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Exact {
    states: usize,
    average_tokens: BTreeMap<String, f64>,
    throughput: BTreeMap<String, f64>,
    dead: usize,
}

/// Nets with such values below a folder.
fn with_exact_values(folder: &Path) -> Vec<(PathBuf, Exact)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(with_exact_values(&path));
        } else if let Some(name) = path.to_string_lossy().strip_suffix(".exact.json") {
            let exact = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            found.push((PathBuf::from(format!("{name}.xml")), exact));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// Where a net differs from what is known of it.
fn differences(path: &Path, exact: &Exact) -> Vec<String> {
    let program = compile(&load(path)).unwrap();
    let space = match explore(&program, None, &Limits::default(), &Unwatched) {
        Ok(space) => space,
        Err(error) => return vec![format!("{}: {error}", path.display())],
    };
    let mut wrong = Vec::new();
    if (space.states(), space.dead().len()) != (exact.states, exact.dead) {
        let found = (space.states(), space.dead().len());
        wrong.push(format!("{}: {found:?} states and dead ones, not {:?}", path.display(), (exact.states, exact.dead)));
    }
    let steady = steady_state(space.complete().unwrap(), &LinearSettings::default()).unwrap();
    let averages = space.averages(&program, &steady.probabilities).unwrap();
    let found = program.place_names.iter().zip(&averages.tokens);
    let found = found.chain(program.transition_names.iter().zip(&averages.throughputs));
    let known: BTreeMap<&str, f64> =
        exact.average_tokens.iter().chain(&exact.throughput).map(|(name, &value)| (name.as_str(), value)).collect();
    for (name, &value) in found {
        // the other solver stops at a residual of 1e-9
        if let Some(&known) = known.get(name)
            && (value - known).abs() > 1e-6 * known.abs().max(1e-3)
        {
            wrong.push(format!("{}: {name} is {value}, not {known}", path.display()));
        }
    }
    wrong
}

#[test]
fn every_probe_has_its_states_and_averages() {
    let probes = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/pipe/probes");
    let found = with_exact_values(&probes);
    assert!(found.len() > 25, "probes are missing");
    // a negative rate is an error here, and a rate of 0 never fires, so that it leads to no state
    let odd = |path: &Path| ["s24_negative_rate.xml", "s25_zero_rate.xml"].iter().any(|name| path.ends_with(name));
    let sane = found.iter().filter(|(path, _)| !odd(path));
    let wrong: Vec<String> = sane.flat_map(|(path, exact)| differences(path, exact)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_real_net_has_its_states_and_averages() {
    let Some(nets) = shared("data/pipe-nets/real") else { return };
    let found = with_exact_values(&nets);
    assert!(found.len() >= 38, "nets are missing");
    let wrong: Vec<String> = found.iter().flat_map(|(path, exact)| differences(path, exact)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A random run of the token game by its definition; calls `visit` with every tangible marking.
fn walk(program: &Program, seed: u32, firings: u32, visit: &mut dyn FnMut(&[u32])) {
    let mut marking = program.initial.clone();
    let mut found = Candidates::default();
    for n in 0..firings {
        let word = philox4x32_10([n, 0, 0, 0], [seed, 0])[0] as usize;
        let group = (0..program.groups.rows()).find(|&group| {
            find_candidates(program, group, &marking, &mut found).unwrap();
            !found.transitions().is_empty()
        });
        let choices: Vec<u32> = if group.is_some() {
            found.transitions().to_vec()
        } else {
            visit(&marking);
            let fires = |t: &&u32| rate(program, **t as usize, &marking).unwrap() > 0.0;
            program.timed.iter().filter(fires).copied().collect()
        };
        if choices.is_empty() {
            return;
        }
        fire(program, choices[word % choices.len()] as usize, &mut marking).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn walks_stay_in_the_states_and_states_can_be_reached(net in balanced_net(), seed in 0_u32..1000) {
        let program = compile(&net.build(1.0, "")).unwrap();
        let space = whole(&program);
        walk(&program, seed, 2_000, &mut |marking| assert!(space.find(marking).is_some(), "{marking:?} is no state"));
        let mut marking = program.initial.clone();
        for state in (0..space.states()).step_by(space.states() / 40 + 1) {
            let path = space.path_to(&program, state as u32).unwrap();
            let mut reached = program.initial.clone();
            replay(&program, &path, &mut reached).unwrap();
            space.marking(state, &mut marking);
            prop_assert_eq!(&reached, &marking);
        }
        for (place, peak) in space.peaks().iter().enumerate() {
            let mut reached = program.initial.clone();
            replay(&program, &space.path_to_peak(&program, place).unwrap(), &mut reached).unwrap();
            prop_assert_eq!(program.tokens_in(place, &reached), peak.tokens);
        }
        prop_assert!(space.complete().unwrap().check().is_ok());
    }

    /// Any net is explored, or refused with a reason that holds.
    #[test]
    fn proofs_of_growth_can_be_replayed(net in any_net()) {
        let program = compile(&net.build(1.0, "")).unwrap();
        let limits = Limits { states: 3_000, ..Limits::default() };
        match explore(&program, None, &limits, &Unwatched) {
            Ok(space) => prop_assert!(space.partial_chain().rates.rows() == space.states()),
            Err(ExploreError::Unbounded(proof)) => {
                let mut marking = program.initial.clone();
                replay(&program, &proof.prefix, &mut marking).unwrap();
                for _ in 0..50 {
                    let before = marking.clone();
                    match replay(&program, &proof.cycle, &mut marking) {
                        Ok(()) => {}
                        // arcs that multiply tokens soon pass what a place or an arc can hold: more growth is not needed
                        Err(ReplayError::Fault(Fault::TooManyTokens { .. })) => break,
                        Err(ReplayError::Fault(Fault::BadValue { what: "arc weight", .. })) => break,
                        Err(error) => prop_assert!(false, "{error}"),
                    }
                    prop_assert!(before != marking && before.iter().zip(&marking).all(|(old, new)| old <= new));
                }
            }
            Err(ExploreError::VanishingTrap { transitions }) => prop_assert!(!transitions.is_empty()),
            Err(ExploreError::VanishingLimit { .. } | ExploreError::Fault(Fault::TooManyTokens { .. })) => {}
            Err(ExploreError::Fault(Fault::BadValue { what: "arc weight", .. })) => {}
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}

/// The exact throughput with one card is a fraction that Storm computed (QComp benchmarks, `kanban`, t = 1). With two cards
/// the reference is elimination, another method.
#[test]
fn a_kanban_system_has_its_known_throughput() {
    let file = fs::read_to_string("models/textbook/kanban.xml").unwrap();
    for (cards, known) in [(1, Some(0.092_584_634_633_382_6)), (2, None)] {
        let own = |tokens: u32| format!("<initialMarking><value>Default,{tokens}</value>");
        let net = Net::read(file.replace(&own(1), &own(cards))).unwrap();
        let program = compile(&net).unwrap();
        let space = whole(&program);
        let [swept, exact] = [LinearMethod::GaussSeidel, LinearMethod::Elimination].map(|method| {
            let settings = LinearSettings { method, ..LinearSettings::default() };
            let steady = steady_state(space.complete().unwrap(), &settings).unwrap();
            space.averages(&program, &steady.probabilities).unwrap().throughputs
        });
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-11;
        for (transition, (a, b)) in program.transition_names.iter().zip(swept.iter().zip(&exact)) {
            assert!(close(*a, *b), "{cards} {transition}: {a} {b}");
            // each card that enters cell 1 leaves cell 4
            if ["in1", "out4", "synch123", "synch234"].contains(&transition) {
                assert!(close(*b, known.unwrap_or(exact[0])), "{cards} {transition}: {b}");
            }
        }
    }
}
