//! `tailspn net solve --untimed` as a person sees it.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tailspn::formats::pipe::{WriteOptions, write};
use tailspn::net::{NetBuilder, Timing};

use crate::cli::{data, shown, text_of, tool, unwrapped};

const LOOP: &str = "tests/data/cli/loop.xml";

fn json(args: &[&str]) -> Value {
    let output = tool(&[args, &["--json"]].concat()).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
fn a_loop_of_immediate_transitions_has_markings_and_formulas() {
    let args = ["net", "solve", LOOP, "--untimed", "--ctl", "AG EF here = 1", "--ctl", "AF deadlock"];
    let text = shown(&args);
    let words = unwrapped(&text);
    assert!(text.starts_with("exit 8\n"), "{text}");
    for part in [
        "2 markings, 2 firings; deadlock-free and live. 1 of 2 formulas hold.",
        "AG EF here = 1 verdict holds",
        "AF deadlock verdict does not hold firing sequence the start, then forever go back; the cycle starts in here",
        "bounded yes, and safe: no place ever holds two tokens",
        "home states 2",
        "fires next immediate transitions first, by priority",
    ] {
        assert!(words.contains(part), "{part}: {text}");
    }
    assert!(shown(&["net", "solve", LOOP, "--untimed", "--ctl", "EX there > 0"]).starts_with("exit 0\n"));
    let found = json(&args);
    assert_eq!((&found["kind"], &found["priorities"]), (&"exploration".into(), &true.into()));
    let formula = &found["formulas"][1];
    assert_eq!(formula["holds"], false);
    assert_eq!(formula["evidence"]["cycle"], serde_json::json!(["go", "back"]));
    let csv = data(&["net", "solve", LOOP, "--untimed", "--csv", "--ctl", "EX there > 0"]);
    assert!(csv.contains("formula_holds,EX there > 0,,1,"), "{csv}");
}

#[test]
fn the_page_has_the_verdicts_of_the_untimed_net() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let text = data(&["net", "solve", LOOP, "--untimed", "--ctl", "EF there > 0", "--json", "--quiet"]);
    std::fs::write(at("result.json"), text).unwrap();
    data(&[&at("result.json"), "--html", &at("page.html")]);
    let page = unwrapped(&text_of(&std::fs::read_to_string(at("page.html")).unwrap()));
    assert!(page.contains("deadlock-free and live. The formula holds."), "{page}");
    assert!(page.contains("go; it leads to there"), "{page}");
}

#[test]
fn graphs_show_immediate_firings() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    data(&["net", "solve", LOOP, "--untimed", "--export-dot", &at("g.dot"), "--export-svg", &at("g.svg")]);
    let dot = std::fs::read_to_string(at("g.dot")).unwrap();
    assert!(dot.contains("v0 -> v1 [style=dashed, label=\"go\"];"), "{dot}");
    assert!(std::fs::read_to_string(at("g.svg")).unwrap().contains("without time"));
    data(&["net", "solve", LOOP, "--untimed", "--ignore-priorities", "--force", "--export-dot", &at("g.dot")]);
    let dot = std::fs::read_to_string(at("g.dot")).unwrap();
    assert!(dot.contains("s0 -> s1 [label=\"go\"];"), "{dot}");
}

#[test]
fn wrong_formulas_are_reported_together_with_their_columns() {
    let text = shown(&[
        "net",
        "solve",
        LOOP,
        "--untimed",
        "--ctl",
        "AG (here > 0",
        "--ctl",
        "EF enabled(stop)",
        "--ctl",
        "EF nowhere",
    ]);
    assert!(text.starts_with("exit 2\n"), "{text}");
    for part in [
        "expected `)`",
        "--ctl:1:13",
        "there is no transition `stop`",
        "--ctl:1:12",
        "--ctl:1:4",
        "the net has go, back",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = shown(&["net", "solve", LOOP, "--ctl", "EF deadlock"]);
    assert!(text.starts_with("exit 2\n") && text.contains("--untimed"), "{text}");
    let text = shown(&["net", "solve", LOOP, "--untimed", "--steady"]);
    assert!(text.starts_with("exit 2\n") && text.contains("cannot be used with"), "{text}");
}

#[test]
fn nets_that_cannot_be_explored_are_refused_with_the_reason() {
    let text = shown(&["net", "solve", "tests/data/cli/explosion.xml", "--untimed", "--ctl", "EF deadlock"]);
    let words = unwrapped(&text);
    assert!(text.starts_with("exit 5\n"), "{text}");
    for part in ["`heap` can grow forever", "then repeats grow", "formulas were not checked"] {
        assert!(words.contains(part), "{part}: {text}");
    }
    let net = "models/textbook/mm1k.xml";
    let args =
        ["net", "solve", net, "--untimed", "--max-states", "2", "--ctl", "EF queue > 0", "--ctl", "AG queue < 5"];
    let text = shown(&args);
    let words = unwrapped(&text);
    assert!(text.starts_with("exit 5\n"), "{text}");
    assert!(words.contains("verdict holds") && words.contains("is undecided: markings are missing"), "{text}");
    assert_eq!(json(&args)["formulas"][1]["holds"], Value::Null);
    let text = shown(&["net", "solve", net, "--untimed", "--ctl", "EF 1 / queue"]);
    assert!(text.starts_with("exit 3\n") && text.contains("`1 / queue`"), "{text}");
}

/// 2^28 markings take longer than the second after which the run is interrupted.
#[cfg(unix)]
#[test]
fn an_interrupted_exploration_tells_what_it_found() {
    let mut b = NetBuilder::new("switches");
    for i in 0..28 {
        let [off, on] = [("off", 1), ("on", 0)].map(|(id, tokens)| b.place(format!("{id}{i}"), tokens));
        for (from, to) in [(off, on), (on, off)] {
            let id = format!("{}{i}", if from == off { "up" } else { "down" });
            let t = b.transition(id, Timing::immediate(1.0, 1));
            b.input(from, t, 1.0);
            b.output(t, to, 1.0);
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("switches.xml");
    std::fs::write(&path, write(&b.build().unwrap(), &WriteOptions::default()).xml).unwrap();
    let child = tool(&["net", "solve", &path.to_string_lossy(), "--untimed", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(1));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let asked = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["partial"], true);
}
