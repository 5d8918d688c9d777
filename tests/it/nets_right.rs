//! Nets that once had a wrong or misleading answer, compared with closed forms.

use tailspn::formats::read_file;

use crate::cli::{data, shown};

fn file(name: &str) -> String {
    format!("tests/data/nets/{name}")
}

fn json(args: &[&str]) -> serde_json::Value {
    serde_json::from_str(&data(&[args, &["--json"]].concat())).unwrap()
}

fn number(value: &serde_json::Value, at: &str) -> f64 {
    value.pointer(at).and_then(serde_json::Value::as_f64).unwrap_or_else(|| panic!("{at} of {value}"))
}

fn query(net: &str, text: &str) -> f64 {
    number(&json(&["net", "query", &file(net), text]), "/queries/0/value")
}

/// ProM's UNIFORM has both ends, pmkoalas writes attributes, DICE has weights and rates.
#[test]
fn tags_of_other_tools_have_the_meaning_of_their_writer() {
    let found = json(&["net", "solve", &file("process_tool_uniform.pnml")]);
    let mean = number(&found, "/passage/mean_s");
    assert!((mean - 2.0).abs() < 1e-4, "{mean}");
    assert!((query("weights_as_attributes.pnml", "P=? [ F #(b)=1 ]") - 0.25).abs() < 1e-12);
    let dice = "rates_in_unknown_toolspecific.pnml";
    assert!((query(dice, "P=? [ F #(left)=1 ]") - 0.2).abs() < 1e-12);
    let mean = number(&json(&["net", "solve", &file(dice)]), "/passage/mean_s");
    assert!((mean - 4.0).abs() < 1e-9, "{mean}");
}

/// A choice between a dead end (3/8) and a cycle with shares of 3/4 and 1/4.
#[test]
fn the_long_run_is_the_same_in_every_command() {
    let net = file("two_ends.xml");
    let exact = [("l", 0.375), ("r", 0.46875), ("q", 0.15625)];
    let solved = json(&["net", "solve", &net, "--steady"]);
    let row = |value: &serde_json::Value, at: &str, name: &str| -> serde_json::Value {
        let rows = value.pointer(at).unwrap().as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).unwrap().clone()
    };
    let simulated =
        json(&["net", "simulate", &net, "--steady", "--tokens", "--seed=1", "--steady-runs=400", "--method=simulate"]);
    for (place, share) in exact {
        assert!((query("two_ends.xml", &format!("S=? [ #({place})=1 ]")) - share).abs() < 1e-12);
        let mean = number(&row(&solved, "/steady/tokens", place), "/value");
        assert!((mean - share).abs() < 1e-12, "{place}: {mean}");
        let row = row(&simulated, "/tokens", place);
        let (value, low, high) = (number(&row, "/value"), number(&row, "/low"), number(&row, "/high"));
        assert!((value - share).abs() < 5.0 * (high - low) / 4.0 && low >= 0.0 && high - low < 0.12, "{row}");
    }
    let dead = number(&simulated, "/dead_runs");
    assert!((dead - 150.0).abs() < 50.0, "{dead}");
    let text = shown(&["net", "simulate", &net, "--steady", "--tokens", "--seed=1", "--method=simulate"]);
    assert!(text.contains("in a dead marking") && text.contains("The runs differ"), "{text}");
}

#[test]
fn negation_has_one_meaning() {
    let net = "not-before-comparison.xml";
    let solved = json(&["net", "solve", &file(net), "--steady", "--measure", "m=!#(a) > 1"]);
    assert!((number(&solved, "/steady/measures/0/value") - 0.8).abs() < 1e-12);
    assert!((query(net, "S=? [ !#(a) > 1 ]") - 0.8).abs() < 1e-12);
}

/// The busy period of M/M/1/5.
#[test]
fn an_event_comes_from_outside_of_the_set() {
    let net = file("from-set-of-markings.xml");
    let found = json(&["net", "solve", &net, "--from", "#(q) > 0", "--until", "#(q) == 0"]);
    assert!((number(&found, "/passage/mean_s") - 1.9375).abs() < 1e-9);
}

/// Probability, moments and requested times come before quantiles that nobody requested.
#[test]
fn requested_answers_come_first() {
    let found =
        json(&["net", "solve", &file("six_disks_fixed_swap.PNPRO"), "--until", "#(Busy)>0", "--max-time", "60s"]);
    let mean = number(&found, "/passage/mean_s");
    assert!((mean / 4_200_490.385_609_11 - 1.0).abs() < 1e-9, "{mean}");
    assert!(number(&found, "/passage/sd_s") > 0.0);
    for net in ["fixed-delay-11-states.xml", "fixed-delay-second.xml"] {
        let found = json(&["net", "solve", &file(net), "--until", "#(p0) == 0", "--at", "0.7", "--max-time", "60s"]);
        assert!(number(&found, "/passage/mean_s") > 0.0, "{net}");
        assert!(number(&found, "/passage/cdf/0/probability") <= 1.0, "{net}");
    }
    let found = json(&["net", "solve", &file("far-dead-marking.xml"), "--at", "1.3", "--max-time", "60s"]);
    let tokens: f64 = query("far-dead-marking.xml", "R{#(p0)}=? [ I=1.3 ]");
    assert!((number(&found, "/at/0/tokens/0/value") - tokens).abs() < 1e-8, "{found}");
}

#[test]
fn an_own_export_with_a_guard_over_two_places_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.jani");
    data(&["net", "convert", &file("jani-guard-two-places.xml"), &path.display().to_string()]);
    let states = |path: &str| number(&json(&["net", "solve", path]), "/state_space/tangible");
    let (own, read) = (states(&file("jani-guard-two-places.xml")), states(&path.display().to_string()));
    assert!((own - 15.0).abs() < 0.5 && (read - own).abs() < 0.5, "{own} {read}");
}

#[test]
fn files_that_are_not_read_name_their_tool() {
    let error = read_file(file("project_without_net.PNPRO").as_ref(), &Default::default()).unwrap_err().to_string();
    assert!(error.contains("no Petri net page"), "{error}");
}
