//! `why` as a person sees it.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;

use crate::cli::{assert_shown, data, show, shown, text_of, tool, unwrapped};

const SPARK: &str = "tests/data/trace/small.spark";
const SPECULATION: &str = "tests/data/trace/speculation.spark.gz";

#[test]
fn help_of_trace() {
    assert_shown!(shown(&["why", "--help"]));
}

#[test]
fn shows_stages_and_attempts_of_each_kind_of_log() {
    assert_shown!(shown(&["why", SPARK]));
    assert_shown!(shown(&["why", SPECULATION]));
    assert_shown!(shown(&["why", "tests/data/trace/alibaba-2018"]));
}

#[test]
fn takes_expected_times_from_another_run() {
    let text = shown(&["why", SPARK, "--usual", SPARK, "--verbose"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Expected times: median of the task in other runs"), "{text}");
    // the copied task takes what it took, but its original took 8.1 s instead of 4
    assert!(text.contains("1 longer than 1.2 times the expected"), "{text}");
    assert!(!text.contains("another program"), "{text}");
    let other = shown(&["why", SPARK, "--usual", "tests/data/trace/sort-32mb.spark.gz"]);
    assert!(other.contains("sort-32mb.spark.gz seems to be a run of another program: stage 0 is"), "{other}");
}

#[test]
fn writes_json_and_attempts_as_csv() {
    assert_shown!(shown(&["why", SPARK, "--json"]));
    assert_shown!(shown(&["why", SPARK, "--attempts", "-"]));
}

#[test]
fn draws_the_attempts() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("job.svg");
    let text = shown(&["why", SPECULATION, "--timeline", file.to_str().unwrap()]);
    assert!(text.starts_with("exit 0"), "{text}");
    let picture = std::fs::read_to_string(&file).unwrap();
    // one rectangle with a text for each attempt, eight of them copies that won
    assert_eq!(picture.matches("<title>").count(), 98);
    assert_eq!(picture.matches("success, copy</title>").count(), 8);
    assert!(picture.contains("10.77.0.14") && picture.ends_with("</svg>\n"), "{picture}");
    let again = shown(&["why", SPARK, "--timeline", file.to_str().unwrap()]);
    assert!(again.starts_with("exit 7") && again.contains("already exists"), "{again}");
}

/// Returns the output of a command as text, as Markdown and as a page, and its JSON.
fn forms(command: &str, log: &str) -> ([String; 3], Value) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("result.json").display().to_string();
    let form = |form: &str| data(&[command, log, form, "--quiet"]);
    let json = form("--json");
    std::fs::write(&file, &json).unwrap();
    let page = text_of(&data(&[&file, "--html", "-"])).replace('\u{a0}', " ");
    ([form("--verbose"), form("--markdown"), page], serde_json::from_str(&json).unwrap())
}

/// The log lacks the end of task 13 of stage 1: every form reports that its time is a lower bound.
#[test]
fn times_of_running_tasks_are_lower_bounds_in_every_form() {
    let (forms, json) = forms("why", SPECULATION);
    for text in forms {
        let bounds = text.matches("≥ 23.09").count();
        assert!(bounds > 0 && text.matches("23.09").count() == bounds, "{text}");
    }
    for list in ["/run/stragglers", "/findings"] {
        let rows = json.pointer(list).unwrap().as_array().unwrap().iter();
        let of_task = |row: &&Value| {
            let subject = row.get("subject").unwrap_or(row);
            (subject["stage"].to_string().trim_matches('"'), &subject["task"]) == ("1", &13.into())
        };
        let rows: Vec<&Value> = rows.filter(of_task).collect();
        assert!(!rows.is_empty() && rows.iter().all(|row| row["at_least"] == true), "{list}: {rows:?}");
    }
    // attempts have no duration without an end, and findings say so in a column
    let attempts = data(&["why", SPECULATION, "--attempts", "-", "--quiet"]);
    let attempt = attempts.lines().find(|line| line.contains(",1,0,") && line.contains(",13,0,")).unwrap();
    let keys = attempts.lines().next().unwrap().split(',').zip(attempt.split(','));
    let empty: Vec<&str> = keys.filter(|(_, value)| value.is_empty()).map(|(key, _)| key).collect();
    assert!(empty.contains(&"finish_s") && empty.contains(&"duration_s"), "{attempt}");
    let findings = data(&["why", SPECULATION, "--csv", "--quiet"]);
    let finding = findings.lines().find(|line| line.contains(",task,1,13,")).unwrap();
    assert!(findings.lines().next().unwrap().ends_with(",at_least") && finding.ends_with(",1"), "{finding}");
}

/// A log without dependencies has no chain of stages, in any form.
#[test]
fn chains_of_stages_need_dependencies_in_every_form() {
    for (log, known) in
        [(SPARK, true), ("tests/data/trace/alibaba-2017.csv", false), ("tests/data/trace/google-2011.csv", false)]
    {
        let (forms, json) = forms("why", log);
        let bounds = json["run"]["applications"].as_array().unwrap().iter().filter_map(|row| row["bounds"].as_object());
        let stated: Vec<bool> = bounds.map(|bounds| bounds["knows_dependencies"].as_bool().unwrap()).collect();
        assert!(!stated.is_empty() && stated.iter().all(|stated| *stated == known), "{log}: {stated:?}");
        for text in forms {
            assert_eq!(text.contains("longest chain"), known, "{log}: {text}");
            assert_eq!(text.contains("does not state the dependencies"), !known, "{log}: {text}");
        }
    }
}

#[test]
fn warns_of_a_cut_log() {
    let folder = tempfile::tempdir().unwrap();
    let log = std::fs::read_to_string(SPARK).unwrap();
    let cut = &log[..log.len() - 200];
    std::fs::write(folder.path().join("cut.log"), cut).unwrap();
    let output = tool(&["why", "cut.log"]).current_dir(folder.path()).output().unwrap();
    assert_shown!(show(&output));
    let told = |args: &[&str]| {
        let output = tool(&[&["why", "cut.log", "--json"], args].concat()).current_dir(folder.path()).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(told(&[]).contains("cut.log:26: the last line is cut off"), "{}", told(&[]));
    assert_eq!(told(&["--quiet"]), "");
}

#[test]
fn refuses_files_that_are_not_logs() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [("empty", &b""[..]), ("table.csv", b"a,b\n1,2\n"), ("log.zip", b"PK\x03\x04")] {
        std::fs::write(folder.path().join(name), content).unwrap();
        let output = tool(&["why", name]).current_dir(folder.path()).output().unwrap();
        assert_shown!(show(&output));
    }
    let output = tool(&["why", "."]).current_dir(folder.path()).output().unwrap();
    assert_shown!(show(&output));
    assert_shown!(shown(&["why", "no-such-log"]));
    assert_shown!(shown(&["why", SPARK, "--max-attempts=3"]));
}

#[test]
fn reads_standard_input() {
    let mut child = tool(&["why", "-", "--verbose"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&std::fs::read(SPECULATION).unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    let named = |text: &str, name: &str| unwrapped(text).replace(name, "LOG");
    let piped = String::from_utf8_lossy(&output.stdout);
    assert_eq!(named(&piped, "standard input"), named(&data(&["why", SPECULATION, "--verbose"]), SPECULATION));
}
