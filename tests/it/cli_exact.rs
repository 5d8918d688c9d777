//! `--method` of `net simulate` and `estimate`: exact answers in the place of replications, against formulas and against replications.

use serde_json::Value;

use crate::cli::{assert_shown, data, show, shown, tool};

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&data(&[args, &["--json", "-q"]].concat())).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The value of an exact quantity, which has no interval and no samples.
fn exact(quantity: &Value) -> f64 {
    assert_eq!((&quantity["exact"], &quantity["samples"]), (&Value::Bool(true), &Value::from(0)), "{quantity}");
    assert!(quantity["low"].is_null() && quantity["high"].is_null(), "{quantity}");
    number(&quantity["value"])
}

/// An exact number and the simulated one differ by 5 standard errors at most, which a bias of 1% is larger than.
fn agree(exact_one: &Value, simulated: &Value) {
    let value = exact(exact_one);
    let [low, high] = [&simulated["low"], &simulated["high"]].map(number);
    assert!((value - number(&simulated["value"])).abs() <= 1.25 * (high - low), "{value} {simulated}");
    assert!(high - low < 0.02 * value.abs(), "{value}: {low} to {high} is too wide to tell");
}

#[test]
fn a_time_is_exact_and_agrees_with_replications() {
    let net = "models/textbook/forkjoin_retry.xml";
    let found = json(&["net", "simulate", net, "--method", "exact"]);
    assert!((exact(&found["passage_time"]["mean"]) - 157.0 / 36.0).abs() < 1e-12);
    assert!((exact(&found["goal_probability"]) - 1.0).abs() < 1e-15);
    assert_eq!((&found["replications"], &found["provenance"]), (&Value::from(0), &Value::Null));
    assert_eq!((&found["method"]["used"], &found["method"]["states"]), (&Value::from("exact"), &Value::from(6)));
    assert_eq!(found["passage_time"]["curve"].as_array().unwrap().len(), 121);
    let simulated = json(&["net", "simulate", net, "--method", "simulate", "--reps", "300000", "--seed", "1"]);
    agree(&found["passage_time"]["mean"], &simulated["passage_time"]["mean"]);
    for p in 0..4 {
        agree(&found["passage_time"]["quantiles"][p], &simulated["passage_time"]["quantiles"][p]);
    }
    assert_shown!(shown(&["net", "simulate", net, "--method", "exact"]));
    assert_shown!(shown(&["net", "simulate", net, "--method", "exact", "--csv"]));
}

#[test]
fn a_time_that_not_all_runs_reach_is_that_of_those_that_do() {
    let net = "tests/data/cli/two-ends.xml";
    let found = json(&["net", "simulate", net, "--until", "#(good) > 0", "--method", "exact"]);
    let simulated =
        json(&["net", "simulate", net, "--until", "#(good) > 0", "--method", "simulate", "--reps", "300000"]);
    // a race of 3 against 1, whose winner says nothing of its time: Exp(4)
    assert!((exact(&found["goal_probability"]) - 0.75).abs() < 1e-12);
    assert!((exact(&found["passage_time"]["mean"]) - 0.25).abs() < 1e-12);
    assert!((exact(&found["passage_time"]["quantiles"][0]) - 2.0_f64.ln() / 4.0).abs() < 1e-9);
    agree(&found["goal_probability"], &simulated["goal_probability"]);
    agree(&found["passage_time"]["mean"], &simulated["passage_time"]["mean"]);
    agree(&found["passage_time"]["quantiles"][1], &simulated["passage_time"]["quantiles"][1]);
}

#[test]
fn averages_are_exact_and_agree_with_replications() {
    let question = [
        "net",
        "simulate",
        "models/textbook/mm1k.xml",
        "--horizon=20",
        "--warm-up=2",
        "--tokens",
        "--throughput",
        "--reward=wait=#(queue)",
        "--impulse=served=serve:#(queue)",
        "--at=3:#(queue)",
        "--at=15:#(queue)",
    ];
    let found = json(&[&question[..], &["--method=exact"]].concat());
    let simulated = json(&[&question[..], &["--method=simulate", "--reps=200000"]].concat());
    for list in ["tokens", "throughputs", "rewards"] {
        let (own, other) = (found[list].as_array().unwrap(), simulated[list].as_array().unwrap());
        assert!(own.len() == other.len() && !own.is_empty());
        for (own, other) in own.iter().zip(other) {
            assert_eq!((&own["name"], &own["unit"]), (&other["name"], &other["unit"]));
            agree(own, other);
        }
    }
    for (own, other) in found["snapshots"].as_array().unwrap().iter().zip(simulated["snapshots"].as_array().unwrap()) {
        assert_eq!((&own["time_s"], &own["expression"]), (&other["time_s"], &other["expression"]));
        agree(&own["mean"], &other["mean"]);
    }
}

/// Immediate transitions fire before time first passes. Seen to fail without these firings.
#[test]
fn firings_at_the_start_count() {
    let folder = tempfile::tempdir().unwrap();
    let net = folder.path().join("start.xml");
    let node = |kind: &str, id: &str, inside: &str| format!(r#"<{kind} id="{id}">{inside}</{kind}>"#);
    let timed = |is: bool| format!("<rate><value>2</value></rate><timed><value>{is}</value></timed>");
    let places = node("place", "a", "<initialMarking><value>3</value></initialMarking>") + &node("place", "b", "");
    let transitions = node("transition", "enter", &timed(false)) + &node("transition", "leave", &timed(true));
    let arcs = [("a", "enter"), ("enter", "b"), ("b", "leave"), ("leave", "a")];
    let arcs = arcs.map(|(from, to)| {
        format!(
            r#"<arc id="{from}{to}" source="{from}" target="{to}"><inscription><value>1</value></inscription></arc>"#
        )
    });
    let text = format!(r#"<pnml><net id="n" type="P/T net">{places}{transitions}{}</net></pnml>"#, arcs.concat());
    std::fs::write(&net, text).unwrap();
    let question =
        ["net", "simulate", &net.display().to_string(), "--horizon=2", "--throughput", "--impulse=entered=enter:#(a)"];
    let found = json(&[&question[..], &["--method=exact"]].concat());
    let simulated = json(&[&question[..], &["--method=simulate", "--reps=100000"]].concat());
    // 3 firings at the start, then as many as `leave` has: 2 per second
    assert!(
        (exact(&found["throughputs"][0]) - 3.5).abs() < 1e-9 && (exact(&found["throughputs"][1]) - 2.0).abs() < 1e-9
    );
    // 3 + 2 + 1 tokens at the start, then 1 at each firing
    assert!((exact(&found["rewards"][0]) - 10.0).abs() < 1e-9, "{found}");
    for list in ["throughputs", "rewards"] {
        for (own, other) in found[list].as_array().unwrap().iter().zip(simulated[list].as_array().unwrap()) {
            agree(own, other);
        }
    }
}

#[test]
fn the_long_run_is_exact() {
    let args = ["net", "simulate", "models/textbook/mm1k.xml", "--steady", "--method", "exact"];
    let found = json(&[&args[..], &["--tokens", "--reward", "full=#(queue) >= 5"]].concat());
    assert!((exact(&found["tokens"][0]) - 946.0 / 665.0).abs() < 1e-12);
    assert!((exact(&found["rewards"][0]) - 32.0 / 665.0).abs() < 1e-12);
    assert!(found["seed"].is_null() && found["runs"] == 0);
    assert_shown!(shown(&args));
    // a net that stops has no long run
    assert_shown!(shown(&["net", "simulate", "models/textbook/forkjoin_retry.xml", "--steady", "--method", "exact"]));
}

#[test]
fn auto_says_where_an_exact_answer_costs_less() {
    let said = |args: &[&str]| {
        let output = tool(args).output().unwrap();
        assert!(output.status.success(), "{}", show(&output));
        let method = serde_json::from_slice::<Value>(&output.stdout).unwrap()["method"].clone();
        (method, String::from_utf8(output.stderr).unwrap())
    };
    let few = ["net", "simulate", "models/textbook/small_job.xml", "--reps", "100", "--json"];
    let (method, note) = said(&few);
    assert!(method["used"] == "simulation" && !method["exact"].is_null(), "{method}");
    assert!(note.contains("--method exact"), "{note}");
    // not looked at where it was not asked for, and where no exact method can
    let (method, note) = said(&[&few[..], &["--method", "simulate"]].concat());
    assert!(method["exact"].is_null() && method["no_exact"].is_null() && note.is_empty(), "{method} {note}");
    let (method, note) = said(&[&few[..], &["--group", "all=*"]].concat());
    assert!(method["no_exact"].as_str().unwrap().contains("groups") && note.is_empty(), "{method} {note}");
    // the states are counted up to a limit, whatever the machine
    let (method, note) =
        said(&["net", "simulate", "models/textbook/two_classes.xml", "--steady", "--steady-firings=1000", "--json"]);
    assert!(method["exact"] == "states" && method["states"] == 5 && note.contains("5 states"), "{method} {note}");
}

/// The numbers are those of models/textbook/two_classes.expect.toml.
#[test]
fn tokens_of_several_classes_have_the_names_of_their_classes() {
    let tokens = &json(&["net", "solve", "models/textbook/two_classes.xml", "--steady"])["steady"]["tokens"];
    let of = |name: &str| number(&tokens.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap()["value"]);
    assert!((of("buffer Red") - 25.0 / 202.0).abs() < 1e-9, "{tokens}");
    assert!((of("buffer Default") - (73.0 / 101.0 - 25.0 / 202.0)).abs() < 1e-9, "{tokens}");
}

#[test]
fn questions_without_an_exact_answer_are_refused() {
    let exact = |args: &[&str]| {
        shown(&[&["net", "simulate", "models/textbook/forkjoin_retry.xml", "--method=exact"], args].concat())
    };
    assert_shown!(
        [exact(&["--group=all=*"]), exact(&["--horizon=3"]), exact(&["--reps=10"]), exact(&["--tokens"])].concat()
    );
}

#[test]
fn a_job_has_an_exact_time_by_formula_or_by_parts() {
    let formula = json(&["estimate", "models/mapreduce/all-at-once.toml", "--method", "exact"]);
    assert_eq!(
        (&formula["method"]["used"], &formula["method"]["exact"]),
        (&Value::from("exact"), &Value::from("formula"))
    );
    assert!(formula["job_time"].is_null() && formula["provenance"].is_null());
    let both = json(&["estimate", "models/mapreduce/all-at-once.toml"]);
    assert_eq!(both["method"]["used"], "both");
    assert_eq!(both["analytic"], formula["analytic"]);
    // a distribution that the formula has no place for
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml");
    let text = "[phases]\nmaps = 20\nreduces = 5\nmeans_s = [5, 1, 2, 8, 1, 3, 6, 2, 7]\n[model]\nslots = false\n[model.distribution]\ngpu = { hyperexponential = { cv = 2.0 } }\n";
    std::fs::write(&plan, text).unwrap();
    let plan = plan.to_string_lossy();
    let parts = json(&["estimate", &plan, "--method", "exact"]);
    assert_eq!(parts["analytic"]["by"], "series-parallel");
    let simulated = json(&["estimate", &plan, "--reps", "100000"]);
    assert_eq!(
        (&simulated["method"]["used"], &simulated["method"]["exact"]),
        (&Value::from("simulation"), &Value::from("series-parallel"))
    );
    let mean = &simulated["job_time"]["mean"];
    let [low, high] = [&mean["low"], &mean["high"]].map(number);
    let own = number(&parts["analytic"]["mean"]);
    assert!((own - number(&mean["value"])).abs() < 1.25 * (high - low) && high - low < 0.02 * own, "{own} {mean}");
}
