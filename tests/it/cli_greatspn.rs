//! Nets of GreatSPN on the command line, compared with the values of other tools.

use serde_json::Value;

use crate::cli::{data, shown};
use crate::shared::shared;

/// The JSON of a run that must succeed.
fn json(args: &[&str]) -> Value {
    serde_json::from_str(&data(&[args, &["--json", "--quiet"]].concat())).unwrap()
}

fn mean(found: &Value) -> f64 {
    found["passage"]["mean_s"].as_f64().unwrap_or_else(|| panic!("no mean: {}", found["passage"]))
}

fn assert_close(value: f64, reference: f64) {
    assert!((value / reference - 1.0).abs() < 1e-6, "{value}, not {reference}");
}

/// Reference: QCOMP's index.json, by Storm with exact arithmetic.
#[test]
fn philosophers_have_the_states_and_the_time_that_storm_found() {
    let Some(folder) = shared("data/qcomp/ctmc/philosophers") else { return };
    let net = folder.join("philosophers.4.PNPRO").to_string_lossy().into_owned();
    let found = json(&["net", "solve", &net, "--no-fold", "--until", "dead"]);
    assert_eq!(found["state_space"]["tangible"], 34);
    assert_close(mean(&found), 550.0 / 101.0);
}

/// Reference: the rules of the net written down a second time, in another language, with one immediate transition after the other.
/// QCOMP's index.json, by Storm with exact arithmetic, for the goal of its properties, which is met between immediate transitions
/// only: there their order counts.
#[test]
fn readers_and_writers_have_the_states_and_the_time_of_a_second_program() {
    let Some(folder) = shared("data/qcomp/ma/readers-writers") else { return };
    let net = folder.join("readers-writers.pnpro").to_string_lossy().into_owned();
    let found = json(&["net", "solve", &net, "--param", "K=5", "--no-fold", "--until", "#(p_lan_r) + #(p_lan_w) >= 3"]);
    assert_eq!(found["state_space"]["tangible"], 201);
    assert_close(mean(&found), 11.238_381_832_918_5);
    let many = ["--param", "K=5", "--until", "#(p_r) + #(p_w) + #(p_lan_r) + #(p_lan_w) > 4"];
    let found = json(&[&["net", "solve", &net, "--no-fold"], &many[..]].concat());
    assert_close(mean(&found), 263.029_599_677_816_4);
    // one group after the other would give 251.88
    let found =
        json(&[&["net", "simulate", &net, "--reps", "20000", "--seed", "1", "--backend", "cpu"], &many[..]].concat());
    let [mean, low, high] = ["value", "low", "high"].map(|key| found["passage_time"]["mean"][key].as_f64().unwrap());
    let error = (high - low) / (2.0 * 1.645);
    assert!((mean - 263.029_599_677_816_4).abs() < 5.0 * error && 5.0 * error < 11.0, "{mean} ± {error}");
    let refused = shown(&["net", "check", &net]);
    assert!(refused.starts_with("exit 3") && refused.contains("--param K=VALUE"), "{refused}");
}

#[test]
fn converted_nets_have_the_same_answers() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let own = "models/textbook/forkjoin_retry.xml";
    let reference = mean(&json(&["net", "solve", own]));
    for name in ["net.PNPRO", "net.pnml"] {
        data(&["net", "convert", own, &path(name)]);
        assert_close(mean(&json(&["net", "solve", &path(name)])), reference);
        // and back again
        data(&["net", "convert", &path(name), &path("back.xml"), "--force"]);
        assert_close(mean(&json(&["net", "solve", &path("back.xml")])), reference);
    }
    std::fs::write(
        path("pair.net"),
        "|0|\n|\nf 0 1 1 1 0 0 0\nP 1 1 1 1 1 0\nk 4 1 1 0\nT -5.1e+02 1 0 1 0 1 1 1 1 1 1 0\n1 1 0 0\n0\n0\n",
    )
    .unwrap();
    std::fs::write(path("pair.def"), "|1\nk * #P\n|256\n%\n|\n").unwrap();
    assert_close(mean(&json(&["net", "solve", &path("pair.net")])), 0.25);
    assert_close(mean(&json(&["net", "solve", &path("pair.net"), "--param", "k=8"])), 0.125);
}

#[test]
fn a_net_of_a_project_is_chosen_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.PNPRO").to_string_lossy().into_owned();
    let net = |name: &str| format!("<gspn name=\"{name}\"><nodes><place name=\"p\"/></nodes><edges/></gspn>");
    std::fs::write(&path, format!("<project name=\"two\" version=\"121\">{}{}</project>", net("a"), net("b"))).unwrap();
    let refused = shown(&["net", "check", &path]);
    assert!(refused.contains("`a`, `b`") && refused.contains("--net NAME"), "{refused}");
    assert_eq!(json(&["net", "check", &path, "--net", "b"])["name"], "b");
}
