//! Nets of PIPE, real ones and probes, behave as standard semantics says.
//!
//! The exact values next to the nets come from an independent solver. The probes are the project's own. The real nets
//! belong to third parties and are read from the shared folder; if it is absent, their tests are skipped, or fail if
//! `TAILSPN_REQUIRE_SHARED` is set.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tailspn::compile::compile;
use tailspn::formats::pipe::{ReadOptions, read};
use tailspn::net::Net;
use tailspn::semantics::Fault;
use tailspn::sim::{Ending, EngineChoice, Ensemble, Goal, Question, RunError, Samples, Unwatched, run};

use crate::measure::{ENGINES, Measure, Steady, Subject, compare};
use crate::shared::shared;

/// Values below this need a standard error of a share of this only.
const TINY: f64 = 0.01;

/// The solver's results; `dead` is true if there are dead markings.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Exact {
    average_tokens: BTreeMap<String, f64>,
    throughput: BTreeMap<String, f64>,
    dead: u32,
}

/// The folder with the probes.
fn probes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/pipe/probes")
}

/// The folder with PIPE nets of others.
fn shared_nets() -> Option<PathBuf> {
    shared("data/pipe-nets")
}

fn load(path: &Path) -> Net {
    match read(&fs::read(path).unwrap(), &ReadOptions::default()) {
        Ok(read) => read.net,
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

/// Nets with exact values under a folder, by name, in order.
fn with_exact_values(folder: &Path) -> Vec<(String, PathBuf, Exact)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(with_exact_values(&path));
        } else if let Some(name) = file.strip_suffix(".exact.json") {
            let exact = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            found.push((name.to_owned(), path.with_file_name(format!("{name}.xml")), exact));
        }
    }
    found.sort_by(|a, b| a.1.cmp(&b.1));
    found
}

impl Exact {
    fn measures(&self) -> Vec<(Measure, f64)> {
        let tokens = self.average_tokens.iter().map(|(place, value)| (Measure::Tokens(place.clone()), *value));
        let firings = self.throughput.iter().map(|(id, value)| (Measure::Throughput(id.clone()), *value));
        tokens.chain(firings).collect()
    }

    /// Replications with 20 firings of the slowest transition as warm-up, then 160 of it on average. The nets are closed
    /// and small, and each of their transitions is part of a cycle: 20 rounds of the slowest cycle are many times the
    /// relaxation time, so that the bias that is left is far below the standard error.
    fn steady(&self, replications: u64) -> Steady {
        let positive = self.throughput.values().filter(|value| **value > 0.0);
        let slowest = positive.fold(f64::INFINITY, |least, value| least.min(*value));
        if self.dead > 0 || slowest == f64::INFINITY {
            // long dead, or without any change from the start
            return Steady { warm_up: 1_000.0, horizon: 1_001.0, replications: 64 };
        }
        Steady { warm_up: 20.0 / slowest, horizon: 180.0 / slowest, replications }
    }
}

/// Errors of a net's averages on the engines `allowed`; at least one engine must answer.
fn check(name: &str, net: Net, exact: &Exact, steady: Steady, allowed: &[EngineChoice], share: f64) -> Vec<String> {
    let subject = Subject::new(net);
    let expected = exact.measures();
    let asked: Vec<_> = expected.iter().map(|(measure, _)| measure.clone()).collect();
    let mut wrong = Vec::new();
    let mut answers = 0;
    for &engine in allowed {
        match subject.steady(&asked, steady, engine) {
            Ok(estimates) => {
                answers += 1;
                let found = compare(&expected, &estimates, share, TINY);
                wrong.extend(found.into_iter().map(|w| format!("{name}, {engine:?}: {w}")));
            }
            Err(RunError::Engine { .. }) => {}
            Err(error) => wrong.push(format!("{name}, {engine:?}: {error}")),
        }
    }
    if answers == 0 {
        wrong.push(format!("{name}: no engine answers"));
    }
    wrong
}

/// Probes that need their own length, because their rates are far apart.
const STIFF_PROBES: [(&str, Steady); 2] = [
    ("s30_stiff_availability", Steady { warm_up: 1e6, horizon: 6.01e8, replications: 512 }),
    ("s31_stiff2", Steady { warm_up: 4e7, horizon: 2.04e9, replications: 512 }),
];

/// Probes whose averages are not compared, and why.
const PROBES_LEFT_OUT: [(&str, &str); 2] = [
    ("s24_negative_rate", "a negative rate is an error here; the solver went on with it"),
    ("s32_slow_environment", "10,000 changes of its environment, which an accuracy of 1% needs, are 10^10 firings"),
];

#[test]
fn every_probe_has_the_exact_averages_on_every_engine() {
    let engines = ENGINES.map(|(engine, _)| engine);
    let mut wrong = Vec::new();
    let found = with_exact_values(&probes());
    assert!(found.len() > 25, "probes are missing");
    for (name, path, exact) in found {
        if PROBES_LEFT_OUT.iter().any(|(left_out, _)| *left_out == name) {
            continue;
        }
        let own = STIFF_PROBES.iter().find(|(probe, _)| *probe == name).map(|(_, steady)| *steady);
        wrong.extend(check(&name, load(&path), &exact, own.unwrap_or(exact.steady(1024)), &engines, 0.01));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Within an environment the slow probe is two fast states; the share of each is known although the shares of the
/// environments are not: A1 and A2 differ by less than 1e-5, and so do B1 and B2.
#[test]
fn a_slow_environment_leaves_the_fast_states_balanced() {
    let subject = Subject::new(load(&probes().join("s32_slow_environment.xml")));
    let steady = Steady { warm_up: 0.0, horizon: 20_000.0, replications: 64 };
    let fast = [Measure::Average("#(A1) - #(A2) + #(B1) - #(B2)".to_owned())];
    let estimates = subject.steady(&fast, steady, EngineChoice::Clock).unwrap();
    assert!(estimates[0].agrees_with(0.0) && estimates[0].error < 0.002, "{}", estimates[0]);
}

/// Real nets that get more, or fewer, firings than the rule gives.
const OWN_LENGTH: [(&str, f64); 2] = [("11025", 0.25), ("run4", 0.5)];

#[test]
fn every_real_net_has_the_exact_averages() {
    let Some(nets) = shared_nets() else { return };
    let mut wrong = Vec::new();
    let real = with_exact_values(&nets.join("real"));
    assert!(real.len() >= 38, "nets are missing");
    for (name, path, exact) in real {
        let mut steady = exact.steady(512);
        let mut share = 0.01;
        if let Some((_, length)) = OWN_LENGTH.iter().find(|(net, _)| *net == name) {
            steady.horizon = steady.warm_up + (steady.horizon - steady.warm_up) * length;
            share /= length.sqrt();
        }
        wrong.extend(check(&name, load(&path), &exact, steady, &[EngineChoice::Auto], share));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Probes without a solver's values, with ours: place, average tokens, and how they come about.
const OUR_VALUES: [(&str, &str, f64); 5] = [
    // as s14, with the name of P0 in the rate: 2 k up and 3 down
    ("s16_funcrate_name2", "#(P0)", 87.0 / 67.0),
    // T0 takes all k tokens at once with rate 2, T1 brings them back one by one with 3: 1, 0.6, 0.36, 0.54 for k = 0 to 3
    ("s17_funcweight", "#(P0)", 1.176),
    // rates max(1, k) with `@` for the comma, and ceil(2.5) + floor(1.5) = 4: 1, 3/4, 3/8, 3/32 for 3 - k = 0 to 3
    ("s19_funcs", "#(P1)", 57.0 / 71.0),
    // one token of class Red gives T0 the rate 1; T1 has one per token in P0, whatever its class: 1, 1/3, 1/6, 1/6
    ("s23_coloured_rate", "#(P1)", 0.7),
    // T0 is inhibited by one token of class Default, not by the Red one: two states, rates 2 and 3
    ("s26_inhibitor_colour", "#(P1, Default)", 0.4),
];

#[test]
fn expressions_and_colours_count_as_they_are_written() {
    for (name, average, exact) in OUR_VALUES {
        let subject = Subject::new(load(&probes().join(format!("{name}.xml"))));
        let asked = [Measure::Average(average.to_owned())];
        let steady = Steady { warm_up: 40.0, horizon: 1_000.0, replications: 256 };
        for engine in GENERAL {
            let estimates = subject.steady(&asked, steady, engine).unwrap();
            let wrong = compare(&[(asked[0].clone(), exact)], &estimates, 0.01, TINY);
            assert!(wrong.is_empty(), "{name}, {engine:?}: {}", wrong.join("\n"));
        }
    }
}

/// A run to a horizon, without averages.
fn run_to(net: &Net, horizon: f64, engine: EngineChoice) -> Result<Samples, RunError> {
    let question = Question { goal: Goal::Horizon, horizon: Some(horizon), ..Question::default() };
    let ensemble = Ensemble { replications: 64, engine, ..Ensemble::default() };
    run(&compile(net).unwrap(), &question, &ensemble, &Unwatched).map(|run| run.samples)
}

/// The two forms that run any exponential net.
const GENERAL: [EngineChoice; 2] = [EngineChoice::Direct, EngineChoice::Clock];

#[test]
fn a_negative_rate_is_an_error_with_its_transition() {
    let net = load(&probes().join("s24_negative_rate.xml"));
    for engine in GENERAL {
        let error = run_to(&net, 100.0, engine).unwrap_err();
        assert_eq!(error.to_string(), "the rate of transition `T0` is -5 in a marking that the net reaches");
    }
}

/// Nets in which immediate transitions fire forever, and the transitions that the error must name, in the order of the
/// file.
const TRAPS: [(&str, &[&str]); 4] = [
    ("pipe-examples/v2_TimelessTrap", &["T6", "T7"]),
    ("pipeanalysis-tests/timeless_trap", &["T4", "T5", "T3"]),
    ("pipeanalysis-tests/all_immediate~2", &["T1", "T0"]),
    ("pipe-examples/v2_Readers_&_Writers", &["T0", "T1", "T2", "T3"]),
];

#[test]
fn infinite_loops_of_immediate_transitions_are_named() {
    let Some(nets) = shared_nets() else { return };
    for (name, loops) in TRAPS {
        let net = load(&nets.join(format!("real/{name}.xml")));
        for engine in GENERAL {
            let transitions = loops.iter().map(|&t| t.to_owned()).collect();
            let error = run_to(&net, 100.0, engine).unwrap_err();
            assert_eq!(error, RunError::Fault(Fault::VanishingLoop { transitions }), "{name}");
        }
    }
}

/// Without tokens nothing fires, and nothing loops: an answer, not an error.
#[test]
fn immediate_transitions_without_tokens_are_a_dead_net() {
    let Some(nets) = shared_nets() else { return };
    let net = load(&nets.join("real/pipeanalysis-tests/all_immediate.xml"));
    for engine in GENERAL {
        let samples = run_to(&net, 100.0, engine).unwrap();
        assert_eq!((samples.firings, samples.ended(Ending::Horizon)), (0, 64));
    }
}

/// One transition doubles a token and the other brings it back: tokens grow forever, but no faster than 1 /s.
#[test]
fn an_unbounded_net_ends_at_the_horizon_or_after_its_firings() {
    let Some(nets) = shared_nets() else { return };
    let net = load(&nets.join("real/pipeanalysis-tests/unbounded.xml"));
    for engine in GENERAL {
        let samples = run_to(&net, 1_000.0, engine).unwrap();
        assert_eq!(samples.ended(Ending::Horizon), 64);
        let question = Question { max_firings: Some(10_000), ..Question::default() };
        let ensemble = Ensemble { replications: 64, engine, ..Ensemble::default() };
        let samples = run(&compile(&net).unwrap(), &question, &ensemble, &Unwatched).unwrap().samples;
        assert_eq!((samples.ended(Ending::Firings), samples.firings), (64, 640_000));
        assert_eq!(samples.passage.count(), 0);
    }
}
