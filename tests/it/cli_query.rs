//! `net query` as a person uses it: reference values of others, closed forms, simulation, verdicts and mistakes.

use std::process::Output;

use crate::cli::{data, show, tool};
use crate::shared::shared;

const QUEUE: &str = "models/textbook/mm1k.xml";

/// The answers to the queries of a command line, in their order.
fn answers(args: &[&str]) -> Vec<f64> {
    let mut all = vec!["net", "query"];
    all.extend(args);
    all.push("--json");
    let value: serde_json::Value = serde_json::from_str(&data(&all)).unwrap();
    let rows = value["queries"].as_array().unwrap();
    rows.iter().map(|row| row["value"].as_f64().unwrap_or_else(|| panic!("{row}"))).collect()
}

fn assert_close(found: &[f64], expected: &[f64], error: f64) {
    assert_eq!(found.len(), expected.len());
    for (number, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= error * expected.abs().max(1e-300), "{number}: {found} {expected}");
    }
}

/// Exact values of Storm, as the benchmark set has them.
#[test]
fn benchmarks_have_their_reference_values() {
    let Some(folder) = shared("data/qcomp/ctmc") else { return };
    let model = |path: &str| folder.join(path).display().to_string();
    let philosophers = model("philosophers/philosophers.4.jani");
    let found =
        answers(&[&philosophers, "--param", "TIME_BOUND=1", "P=? [ F \"deadlock\" ]", "R=? [ F \"deadlock\" ]"]);
    assert_close(&found, &[1.0, 550.0 / 101.0], 1e-9);
    let tandem = model("tandem/tandem.jani");
    for (size, customers) in
        [("c=5", 5.679_249_959_967_679), ("c=7", 7.746_562_185_336_042), ("c=31", 31.815_003_885_151_28)]
    {
        let constants = ["--param", size, "--param", "T=1000", "--param", "t=0.2"];
        let found = answers(&[&[&tandem[..]], &constants[..], &["R{#(sc) + #(sm)}=? [ S ]"]].concat());
        assert_close(&found, &[customers], 1e-9);
    }
    let kanban = model("kanban/kanban.jani");
    assert_close(&answers(&[&kanban, "--param", "t=1", "R{firings(in)}=? [ S ]"]), &[0.092_584_634_633_382_6], 1e-9);
    let systems = model("fms/fms.jani");
    let parts = [
        ("t1", 400.0),
        ("t1_2", 400.0),
        ("t2", 600.0),
        ("t2_2", 600.0),
        ("t3", 100.0),
        ("t12", 1100.0),
        ("t12_2", 1100.0),
    ];
    for (size, productivity) in [("n=1", 13.853_128_336_222_29), ("n=2", 29.154_698_799_657_936)] {
        let queries: Vec<String> = parts.iter().map(|(t, _)| format!("R{{firings({t})}}=? [ S ]")).collect();
        let queries: Vec<&str> = queries.iter().map(String::as_str).collect();
        let found = answers(&[&[&systems[..], "--param", size][..], &queries].concat());
        let sum: f64 = found.iter().zip(parts).map(|(rate, (_, worth))| rate * worth).sum();
        assert_close(&[sum], &[productivity], 1e-9);
    }
}

/// Arrivals at 2/s, service at 3/s, room for five: probabilities of the queue are powers of 2/3.
#[test]
fn a_queue_has_its_closed_forms() {
    let powers: Vec<f64> = (0..6).map(|n| (2.0_f64 / 3.0).powi(n)).collect();
    let total: f64 = powers.iter().sum();
    let full = powers[5] / total;
    let mean: f64 = (0..6).map(|n| n as f64 * powers[n]).sum::<f64>() / total;
    let queries = [
        "S=? [ #(queue) = 5 ]",
        "S=? [ !(#(queue) < 5) & true ]",
        "R{#(queue)}=? [ S ]",
        "R{firings(serve)}=? [ S ]",
        "P=? [ F #(queue) = 5 ]",
        "P=? [ #(queue) < 5 U #(queue) = 5 ]",
        "R{#(queue)}=? [ I=1000 ]",
    ];
    let net: serde_json::Value = serde_json::from_str(&data(&[
        "net",
        "simulate",
        QUEUE,
        "--horizon",
        "1",
        "--throughput",
        "--reps",
        "2",
        "--json",
    ]))
    .unwrap();
    let serve = net["throughputs"][1]["name"].as_str().unwrap();
    let queries = queries.map(|query| query.replace("serve", serve));
    let mut args = vec![QUEUE];
    args.extend(queries.iter().map(String::as_str));
    assert_close(&answers(&args), &[full, full, mean, 2.0 * (1.0 - full), 1.0, 1.0, mean], 1e-9);
}

/// The share of replications that reach a goal in time, 5 standard errors around the exact probability.
#[test]
fn probabilities_agree_with_replications() {
    for (net, goal, time) in [
        (QUEUE, "#(queue) >= 4", "3"),
        ("models/textbook/tandem_blocking.xml", "#(done) + #(second) >= 2", "2"),
        ("models/textbook/readers_writers.xml", "#(writing) >= 1", "0.5"),
        ("models/textbook/forkjoin_retry.xml", "#(done) >= 1", "2"),
    ] {
        let exact = answers(&[net, &format!("P=? [ F<={time} {goal} ]")])[0];
        let reps = 40_000.0;
        let run = data(&["net", "simulate", net, "--until", goal, "--horizon", time, "--reps", "40000", "--json"]);
        let value: serde_json::Value = serde_json::from_str(&run).unwrap();
        let found = value["goal_probability"]["value"].as_f64().unwrap();
        let error = (exact * (1.0 - exact) / reps).sqrt();
        assert!((found - exact).abs() <= 5.0 * error + 1e-9, "{net} {goal}: {found} {exact}");
    }
}

fn asked(queries: &[&str]) -> Output {
    let mut args = vec!["net", "query", QUEUE];
    args.extend(queries);
    tool(&args).output().unwrap()
}

#[test]
fn bounds_decide_the_exit_code_and_mistakes_are_pointed_at() {
    assert_eq!(asked(&["P>=0.5 [ F<=10 #(queue) >= 3 ]", "S<0.1 [ #(queue) = 5 ]"]).status.code(), Some(0));
    assert_eq!(asked(&["P>=0.99 [ F<=10 #(queue) >= 3 ]"]).status.code(), Some(8));
    for (query, told) in [
        ("P=? [ F<=10 #(quue) >= 3 ]", "there is no place `quue`"),
        ("Q=? [ F #(queue) = 1 ]", "expected `P`, `S` or `R`"),
        ("P=? [ F<=x #(queue) = 1 ]", "expected a number"),
    ] {
        let output = asked(&[query]);
        assert_eq!(output.status.code(), Some(2), "{}", show(&output));
        assert!(show(&output).contains(told), "{}", show(&output));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("questions.txt");
    std::fs::write(&path, "// two\nS=? [ #(queue) = 0 ]\n\nS=? [ #(queue) = \n").unwrap();
    let output = asked(&["--file", &path.display().to_string()]);
    assert!(show(&output).contains("questions.txt:4"), "{}", show(&output));
}
