//! `trace` as a person sees it.

use std::io::Write as _;
use std::process::Stdio;

use crate::cli::{assert_shown, data, show, shown, tool};

const SPARK: &str = "tests/data/trace/small.spark";
const SPECULATION: &str = "tests/data/trace/speculation.spark.gz";

#[test]
fn help_of_trace() {
    assert_shown!(shown(&["trace", "--help"]));
}

#[test]
fn shows_what_ran() {
    assert_shown!(shown(&["trace", SPARK]));
    assert_shown!(shown(&["trace", SPECULATION]));
    assert_shown!(shown(&["trace", "tests/data/trace/alibaba-2018"]));
}

#[test]
fn takes_what_is_usual_from_another_run() {
    let text = shown(&["trace", SPARK, "--usual", SPARK]);
    assert!(text.contains("usual: median of the task in other runs"), "{text}");
    // the copied task takes what it took, but its original took 8.1 s instead of 4
    assert!(text.contains("1 beyond 1.2 usual times"), "{text}");
}

#[test]
fn writes_json_and_attempts_as_csv() {
    assert_shown!(shown(&["trace", SPARK, "--json"]));
    assert_shown!(shown(&["trace", SPARK, "--csv"]));
}

#[test]
fn draws_the_attempts() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("job.svg");
    let text = shown(&["trace", SPECULATION, "--timeline", file.to_str().unwrap()]);
    assert!(text.starts_with("exit 0"), "{text}");
    let picture = std::fs::read_to_string(&file).unwrap();
    // one rectangle with a text for each attempt, eight of them copies that won
    assert_eq!(picture.matches("<title>").count(), 98);
    assert_eq!(picture.matches("success, copy</title>").count(), 8);
    assert!(picture.contains("10.77.0.14") && picture.ends_with("</svg>\n"), "{picture}");
    let again = shown(&["trace", SPARK, "--timeline", file.to_str().unwrap()]);
    assert!(again.starts_with("exit 7") && again.contains("exists already"), "{again}");
}

#[test]
fn tells_what_is_odd_on_standard_error() {
    let folder = tempfile::tempdir().unwrap();
    let log = std::fs::read_to_string(SPARK).unwrap();
    let cut = &log[..log.len() - 200];
    std::fs::write(folder.path().join("cut.log"), cut).unwrap();
    let output = tool(&["trace", "cut.log"]).current_dir(folder.path()).output().unwrap();
    assert_shown!(show(&output));
    let output = tool(&["trace", "cut.log", "--quiet"]).current_dir(folder.path()).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", show(&output));
}

#[test]
fn refuses_what_is_no_log() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [("empty", &b""[..]), ("table.csv", b"a,b\n1,2\n"), ("log.zip", b"PK\x03\x04")] {
        std::fs::write(folder.path().join(name), content).unwrap();
        let output = tool(&["trace", name]).current_dir(folder.path()).output().unwrap();
        assert_shown!(show(&output));
    }
    let output = tool(&["trace", "."]).current_dir(folder.path()).output().unwrap();
    assert_shown!(show(&output));
    assert_shown!(shown(&["trace", "no-such-log"]));
    assert_shown!(shown(&["trace", SPARK, "--max-attempts=3"]));
}

#[test]
fn reads_standard_input() {
    let mut child = tool(&["trace", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&std::fs::read(SPECULATION).unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), data(&["trace", SPECULATION]));
}
