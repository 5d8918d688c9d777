//! `diagnose` as a person sees it.

use crate::cli::{assert_shown, shown};

/// A log of 36 tasks on three workers, and their samples: a hog on worker2 from second 9 to 17, a task with three times the data,
/// one with much garbage collection.
const FOLDER: &str = "tests/data/diagnose/job";
const LOG: &str = "tests/data/diagnose/job/app-1";
const TABLE: &str = "tests/data/diagnose/job/nodes.sadf.csv";
const TEXT: &str = "tests/data/diagnose/job/worker3.mpstat.txt";

#[test]
fn help_of_diagnose() {
    assert_shown!(shown(&["diagnose", "--help"]));
}

#[test]
fn says_why_tasks_were_slow_and_what_to_do() {
    assert_shown!(shown(&["diagnose", FOLDER]));
    // files by name say the same as their folder
    let [folder, files] = [shown(&["diagnose", FOLDER]), shown(&["diagnose", TEXT, LOG, TABLE])];
    let findings = |text: &str| text.split_once("\nfindings").unwrap().1.split("\nwarning").next().unwrap().to_owned();
    assert_eq!(findings(&folder), findings(&files));
}

#[test]
fn a_log_alone_leaves_resources_unknown() {
    assert_shown!(shown(&["diagnose", LOG]));
}

#[test]
fn writes_json_and_csv() {
    assert_shown!(shown(&["diagnose", FOLDER, "--json"]));
    assert_shown!(shown(&["diagnose", FOLDER, "--csv"]));
}

#[test]
fn draws_stragglers_in_the_colours_of_their_causes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("causes.svg");
    let text = shown(&["diagnose", FOLDER, "--timeline", file.to_str().unwrap(), "--quiet"]);
    assert!(text.starts_with("exit 0"), "{text}");
    let picture = std::fs::read_to_string(&file).unwrap();
    assert_eq!(picture.matches("<title>").count(), 36);
    // the legend and the rectangles of what was found, and of nothing else
    for cause in ["processors", "data skew"] {
        assert!(picture.contains(&format!(">{cause}</text>")), "{cause}");
    }
    assert!(!picture.contains(">locality</text>"));
    assert!(picture.contains("processors: processors of the node, against"), "{picture}");
    let again = shown(&["diagnose", FOLDER, "--timeline", file.to_str().unwrap()]);
    assert!(again.starts_with("exit 7") && again.contains("exists already"), "{again}");
}

#[test]
fn the_paper_alone_and_single_thresholds_can_be_asked_for() {
    let paper = shown(&["diagnose", FOLDER, "--rules", "paper", "--edge", "printed", "--quiet"]);
    assert!(paper.starts_with("exit 0"), "{paper}");
    let strict = shown(&["diagnose", FOLDER, "--peer-factor", "50", "--quiet"]);
    let explained = |text: &str| text.lines().find(|line| line.starts_with("findings:")).unwrap().to_owned();
    assert_ne!(explained(&strict), explained(&shown(&["diagnose", FOLDER, "--quiet"])));
}

#[test]
fn a_map_and_offsets_of_clocks_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let map = folder.path().join("nodes.toml");
    let map_name = map.to_str().unwrap();
    std::fs::write(&map, "[node.worker3]\nhost = \"worker1.lan\"\n\n[node.worker9]\nhost = \"worker1.lan\"\n").unwrap();
    let text = shown(&["diagnose", FOLDER, "--node-map", map_name, "--quiet"]);
    assert!(text.contains("node worker9: the map has this node, but the log has not"), "{text}");
    std::fs::write(&map, "[node.worker3]\nhosts = \"x\"\n").unwrap();
    let text = shown(&["diagnose", FOLDER, "--node-map", map_name]);
    assert!(text.starts_with("exit 3") && text.contains("unknown field `hosts`"), "{text}");
    // an hour off: samples miss the job, which is told, and nothing is concluded from them
    let text = shown(&["diagnose", FOLDER, "--clock-offset", "-3600"]);
    assert!(text.contains("before its first task, by 35") && text.contains("--clock-offset missing?"), "{text}");
    assert!(!text.contains("processors  "), "{text}");
}

#[test]
fn bad_arguments_and_inputs_end_with_their_codes() {
    let starts = |args: &[&str], code: &str, part: &str| {
        let text = shown(args);
        assert!(text.starts_with(&format!("exit {code}")) && text.contains(part), "{args:?}: {text}");
    };
    starts(&["diagnose"], "2", "PATH");
    starts(&["diagnose", LOG, "--peer-factor", "0.5"], "2", "at least 1");
    starts(&["diagnose", LOG, "--utc-offset", "abc"], "2", "+01:00");
    starts(&["diagnose", LOG, LOG], "2", "one log at a time");
    starts(&["diagnose", TABLE], "4", "samples tell nothing about tasks");
    starts(&["diagnose", "Cargo.toml"], "4", "Cargo.toml");
    starts(&["diagnose", "no-such-file"], "7", "no-such-file");
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("sa20");
    std::fs::write(&binary, b"\x96\xd5\x75\x21\0\0").unwrap();
    starts(&["diagnose", LOG, binary.to_str().unwrap()], "4", "sadf -j");
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    starts(&["diagnose", empty.to_str().unwrap()], "4", "no log of a job");
}
