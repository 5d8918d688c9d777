//! `net rare` as a person uses it: against exact answers of other commands, and mistakes.

use crate::cli::{data, tool};

const QUEUE: &str = "models/textbook/mm1k.xml";

fn json(args: &[&str]) -> serde_json::Value {
    serde_json::from_str(&data(args)).unwrap()
}

/// The probability, and its distance from the exact one in standard errors.
fn judged(result: &serde_json::Value, exact: f64) -> f64 {
    let value = result["probability"]["value"].as_f64().unwrap();
    (value / exact - 1.0) / result["relative_error"].as_f64().unwrap()
}

/// The default job with slots, whose states are folded to a few thousand.
#[test]
fn a_job_that_ends_late_agrees_with_its_states() {
    let folder = tempfile::tempdir().unwrap();
    let net = folder.path().join("job.xml").display().to_string();
    data(&["net", "spn-gc", "--map-slots", "2", "--reduce-slots", "1", "--save-net", &net]);
    let exact = json(&["net", "solve", &net, "--until", "dead", "--at", "480", "--json"]);
    let late = 1.0 - exact["passage"]["cdf"][0]["probability"].as_f64().unwrap();
    assert!(late < 1e-4);
    let found = json(&["net", "rare", &net, "--beyond", "480", "--effort", "600", "--json"]);
    assert!(judged(&found, late).abs() < 5.0, "{late} {found}");
    assert!(found["folded"].is_object(), "{found}");
}

#[test]
fn a_goal_within_a_time_agrees_with_a_query() {
    let query = json(&[
        "net",
        "query",
        QUEUE,
        "P=? [ #(queue) > 0 U<=20 #(queue) >= 5 ]",
        "P=? [ F<=0.5 #(queue) >= 5 ]",
        "--json",
    ]);
    let exact = |i: usize| query["queries"][i]["value"].as_f64().unwrap();
    let found = json(&["net", "rare", QUEUE, "--until", "#(queue) >= 5", "--within", "0.5", "--json"]);
    assert!(judged(&found, exact(1)).abs() < 5.0, "{} {found}", exact(1));
    // the queue is empty at the start
    let found = tool(&["net", "rare", QUEUE, "--until", "#(queue) >= 5", "--within", "20", "--avoid", "#(queue) == 0"])
        .output();
    assert_eq!((found.unwrap().status.code(), exact(0)), (Some(5), 0.0));
}

#[test]
fn a_page_and_rows_have_the_same_probability() {
    let args = ["net", "rare", QUEUE, "--until", "#(queue) >= 4", "--within", "1", "--effort", "200", "--batches", "4"];
    let with = |more: &[&str]| data(&[&args[..], more].concat());
    let value = json(&[&args[..], &["--json"]].concat())["probability"]["value"].to_string();
    let rows = with(&["--csv"]);
    assert!(rows.contains(&value), "{rows}");
    // the product of the levels' shares estimates the probability too
    let levels = rows.lines().filter(|row| row.starts_with("level,"));
    let product: f64 = levels.map(|row| row.split(',').nth(3).unwrap().parse::<f64>().unwrap()).product();
    assert!((product / value.parse::<f64>().unwrap() - 1.0).abs() < 0.5, "{product} {rows}");
    let text = with(&[]);
    assert!(text.contains("The probability is") && text.contains("the event"), "{text}");
}

#[test]
fn invalid_rare_events_are_refused_with_the_reason() {
    for (args, code, message) in [
        (vec![], 2, "the event is missing"),
        (vec!["--until", "#(queue) >= 3"], 2, "--within T, --avoid EXPR"),
        (vec!["--until", "#(queue) % 2", "--within", "3"], 2, "--importance EXPR"),
        (vec!["--until", "#(queu) >= 3", "--within", "3"], 2, "there is no place `queu`"),
        (vec!["--beyond", "-1"], 2, "at least 0"),
        (vec!["--beyond", "3", "--within", "3"], 2, "cannot be used with"),
        (vec!["--beyond", "3", "--effort", "99999999"], 2, "--effort must be below 16777216"),
        (
            vec!["--until", "#(queue) >= 5", "--within", "0.001", "--importance", "1", "--effort", "2"],
            5,
            "no walk got beyond",
        ),
    ] {
        let output = tool(&[&["net", "rare", QUEUE], &args[..]].concat()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
        assert!(stderr.contains(message), "{args:?}: {stderr}");
    }
}
