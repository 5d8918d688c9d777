//! `detectors --on` as a person sees it, and on the recorded runs.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use tailspn::report::{AnyReport, Report as _, read_json};

use crate::cli::{assert_shown, data, show, shown, tool};
use crate::shared::shared;

/// Tasks of a stage that begin at the same time, each on a node of its own: how long each takes \[s\].
pub(crate) const TIMES: [u64; 12] = [10, 10, 10, 40, 11, 12, 10, 35, 10, 9, 10, 18];

/// A run as a folder: an event log of Spark, and reports of its tasks' progress once a second, even but for task 5, which hangs for 6 s.
pub(crate) fn run_in(folder: &Path, times_s: &[u64]) {
    let begin = 1_760_000_000_000_u64;
    let stage = json!({"Stage ID": 1, "Stage Attempt ID": 0, "Stage Name": "maps", "Number of Tasks": times_s.len(),
        "Parent IDs": [], "RDD Info": [], "Submission Time": begin});
    let last = begin + 1000 * times_s.iter().max().unwrap();
    let mut events = vec![
        json!({"Event": "SparkListenerLogStart", "Spark Version": "4.0.0"}),
        json!({"Event": "SparkListenerApplicationStart", "App Name": "made", "App ID": "app-1", "Timestamp": begin, "User": "u"}),
        json!({"Event": "SparkListenerJobStart", "Job ID": 0, "Submission Time": begin, "Stage IDs": [1], "Properties": {}}),
        json!({"Event": "SparkListenerStageSubmitted", "Stage Info": stage}),
    ];
    let mut reports = "stage\tpartition\tattempt\tt_ms\tdone\ttotal\n".to_owned();
    for (task, &time_s) in times_s.iter().enumerate() {
        let info = |end: u64| {
            json!({"Task ID": task, "Index": task, "Attempt": 0, "Launch Time": begin, "Executor ID": task.to_string(),
                "Host": format!("node{task}"), "Locality": "ANY", "Speculative": false, "Getting Result Time": 0,
                "Finish Time": end, "Failed": false, "Killed": false, "Accumulables": []})
        };
        events.push(
            json!({"Event": "SparkListenerTaskStart", "Stage ID": 1, "Stage Attempt ID": 0, "Task Info": info(0)}),
        );
        events.push(
            json!({"Event": "SparkListenerTaskEnd", "Stage ID": 1, "Stage Attempt ID": 0, "Task Type": "ResultTask",
            "Task End Reason": {"Reason": "Success"}, "Task Metrics": {"Executor Run Time": 1000 * time_s},
            "Task Info": info(begin + 1000 * time_s)}),
        );
        for second in 0..=time_s {
            let done = if task == 5 { second.saturating_sub(6) * 2 } else { second };
            writeln!(reports, "1\t{task}\t0\t{}\t{done}\t{time_s}", begin + 1000 * second).unwrap();
        }
    }
    events.push(json!({"Event": "SparkListenerStageCompleted", "Stage Info": {"Stage ID": 1, "Stage Attempt ID": 0,
        "Stage Name": "maps", "Number of Tasks": times_s.len(), "Parent IDs": [], "RDD Info": [], "Submission Time": begin, "Completion Time": last}}));
    events.push(json!({"Event": "SparkListenerJobEnd", "Job ID": 0, "Completion Time": last, "Job Result": {"Result": "JobSucceeded"}}));
    events.push(json!({"Event": "SparkListenerApplicationEnd", "Timestamp": last}));
    std::fs::create_dir_all(folder).unwrap();
    let lines: Vec<String> = events.iter().map(Value::to_string).collect();
    std::fs::write(folder.join("app-1"), lines.join("\n") + "\n").unwrap();
    std::fs::write(folder.join("progress.tsv"), reports).unwrap();
}

/// A run with stragglers, and one of the same program without.
fn made() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    run_in(&folder.path().join("run"), &TIMES);
    run_in(&folder.path().join("calm"), &[10, 10, 10, 11, 11, 12, 10, 10, 10, 9, 10, 18]);
    folder
}

#[test]
fn help_of_detectors() {
    assert_shown!(shown(&["tool", "detectors", "--help"]));
}

#[test]
fn judges_detectors_on_a_run() {
    let folder = made();
    let run = |args: &[&str]| {
        show(&tool(&[&["tool", "detectors", "--on"], args].concat()).current_dir(folder.path()).output().unwrap())
    };
    assert_shown!(run(&["run", "--usual", "calm"]));
    assert_shown!(run(&["run", "--usual", "calm", "--csv"]));
    // the folder, and the log with its reports, are the same run; two runs have twice the tasks
    let whole = run(&["run", "--json"]);
    assert_eq!(run(&["run/app-1", "run/progress.tsv", "--json"]), whole);
    assert!(run(&["run", "calm"]).contains("24 tasks were stragglers"), "{}", run(&["run", "calm"]));
    assert!(run(&["run/app-1"]).contains("assumed to progress evenly"));
    assert!(run(&["run/progress.tsv"]).contains("has progress reports"));
    assert!(run(&["run/app-1", "calm/missing.tsv"]).contains("missing.tsv"));
}

#[test]
fn json_is_read_back() {
    let folder = made();
    let output = tool(&["tool", "detectors", "--on", "run", "--json"]).current_dir(folder.path()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let AnyReport::Detection(report) = read_json(&text).unwrap() else { panic!("{text}") };
    assert_eq!(report.json().unwrap(), text);
    assert_eq!(report.shares[0].tasks.part, 3);
    // every number of the document is where it says
    let json: Value = serde_json::from_str(&text).unwrap();
    let document = report.document();
    let cells = document.tables().flat_map(|table| table.rows.iter().flatten());
    let mut numbers = 0;
    for cell in cells {
        let tailspn::report::Cell::Number(number) = cell else { continue };
        numbers += 1;
        assert!(json.pointer(&number.at).is_some(), "{}", number.at);
    }
    assert!(numbers > 50, "{numbers}");
}

/// On the runs of four nodes: tasks flagged, flagged in time, flagged too late, and missed, of `default` and `late`, as a script in Python counted
/// them from the same files.
#[test]
fn recorded_runs_are_judged_as_by_hand() {
    let Some(folder) = shared("data/logs/labelled/phan-4node") else { return };
    let at = |run: &str| folder.join(run).to_str().unwrap().to_owned();
    let (run, first, second) = (at("c2_nospec"), at("homog1"), at("homog2"));
    let text = data(&["tool", "detectors", "--on", &run, "--usual", &first, &second, "--json", "--quiet"]);
    let AnyReport::Detection(report) = read_json(&text).unwrap() else { panic!("{text}") };
    assert_eq!((report.shares[0].tasks.part, report.shares[0].tasks.whole), (9, 40));
    let counts = |name: &str| {
        let row = report.detectors.iter().find(|row| row.name == name).unwrap();
        [row.flagged, row.in_time, row.too_late, row.missed]
    };
    assert_eq!((counts("default"), counts("late")), ([4, 1, 0, 8], [4, 1, 3, 5]));
}
