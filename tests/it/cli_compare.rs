//! `why`, as a person sees it, and what holds for all logs.

use std::path::{Path, PathBuf};

use tailspn::compare::{ComparedRun, compare_logs};
use tailspn::report::{AnyReport, Report as _, read_json};
use tailspn::trace::{Format, ReadOptions, read};
use tailspn::watch::Unwatched;

use crate::cli::{assert_shown, data, shown, unwrapped, without_next};
use crate::shared::shared;

const SMALL: &str = "tests/data/trace/sort-32mb.spark.gz";
const LARGER: &str = "tests/data/trace/sort-64mb.spark.gz";

#[test]
fn compares_two_logs() {
    assert_shown!(shown(&["why", SMALL, LARGER]));
}

#[test]
fn a_comparison_reads_back_from_its_json() {
    let text = data(&["why", SMALL, LARGER, "--json"]);
    let Ok(AnyReport::Comparison(report)) = read_json(&text) else { panic!("{text}") };
    assert_eq!(without_next(&report.json().unwrap()), without_next(&text));
    let parts =
        report.stages.iter().map(|row| row.contribution_s).chain(report.gaps.iter().map(|row| row.contribution_s));
    let time = report.time.unwrap();
    assert!((parts.sum::<f64>() - time.difference_s).abs() < 1e-9);
    // one run on a side: no verdict
    assert!(time.p_value.is_none() && time.assumed_p_value.is_some());
}

#[test]
fn two_logs_on_each_side_are_tested() {
    let text = unwrapped(&data(&["why", SMALL, SMALL, LARGER, "--against", LARGER, LARGER, SMALL, "--csv"]));
    assert!(text.contains("time,p_value") && text.contains("contribution,"), "{text}");
}

#[test]
fn compares_results_and_plans() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for (name, slow) in [("a", "4"), ("b", "8")] {
        std::fs::write(at(&format!("{name}.toml")), format!("[job]\nreduces = {slow}\n")).unwrap();
        let estimate = data(&["estimate", &at(&format!("{name}.toml")), "--reps", "400", "--json", "--quiet"]);
        std::fs::write(at(&format!("{name}.json")), estimate).unwrap();
    }
    let plans = unwrapped(&data(&["why", &at("a.toml"), &at("b.toml")]));
    assert!(plans.contains("1 key differs.") && plans.contains("job.reduces 4 8"), "{plans}");
    // a default that only one plan states is no difference
    let estimate: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(at("a.json")).unwrap()).unwrap();
    std::fs::write(at("whole.toml"), estimate["plan"].as_str().unwrap()).unwrap();
    let plans = unwrapped(&data(&["why", &at("a.toml"), &at("whole.toml")]));
    assert!(plans.contains("The plans have the same keys and values."), "{plans}");
    let results = unwrapped(&data(&["why", &at("a.json"), &at("b.json")]));
    assert!(results.contains("the error of the estimates") || results.contains("Both times are exact"), "{results}");
    assert!(results.contains("job.reduces 4 8"), "{results}");
    let mixed = shown(&["why", SMALL, &at("a.toml")]);
    assert!(mixed.starts_with("exit 2") && mixed.contains("is the plan of a job"), "{mixed}");
}

#[test]
fn wrong_files_have_their_exit_codes() {
    let wrong = |args: &[&str], exit: &str, said: &str| {
        let text = shown(args);
        assert!(text.starts_with(exit) && text.contains(said), "{args:?}: {text}");
    };
    wrong(&["why", SMALL, "missing.gz"], "exit 7", "missing.gz");
    wrong(&["why", SMALL, LARGER, SMALL], "exit 2", "side B");
    wrong(&["why", SMALL, "models/textbook/forkjoin_retry.xml"], "exit 3", "a net");
}

fn logs(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            logs(&path, found);
        } else if tailspn::trace::log_format(&path) == Some(Format::SparkEventLog) {
            found.push(path);
        }
    }
}

/// Each log against the next ones, whatever they are of: contributions are a partition of time, not a property of programs.
#[test]
fn contributions_add_up_for_all_logs() {
    let Some(folder) = shared("data/logs") else { return };
    let mut paths = Vec::new();
    logs(&folder, &mut paths);
    let small = |path: &&PathBuf| std::fs::metadata(path).is_ok_and(|file| file.len() < 2_000_000);
    let runs: Vec<ComparedRun> = paths
        .iter()
        .filter(small)
        .filter_map(|path| ComparedRun::of(&read(path, &ReadOptions::default(), &Unwatched).ok()?).ok())
        .collect();
    assert!(runs.len() > 30, "{} runs", runs.len());
    let mut pairs = 0;
    for (i, a) in runs.iter().enumerate() {
        for b in runs.iter().skip(i).take(12) {
            let found = compare_logs(std::slice::from_ref(a), std::slice::from_ref(b), 0.95).unwrap();
            let stages: f64 = found.stages.iter().map(|row| row.contribution_s).sum();
            let gaps: f64 = found.gaps.iter().map(|row| row.contribution_s).sum();
            let difference = b.job_s - a.job_s;
            assert!((stages + gaps - difference).abs() <= 1e-9 * (a.job_s + b.job_s), "{} {}", a.log, b.log);
            // every stage of both runs stands in exactly one row
            let in_a = found.stages.iter().filter(|row| row.a.is_some()).count();
            let in_b = found.stages.iter().filter(|row| row.b.is_some()).count();
            assert_eq!([in_a, in_b], [a.stages.len(), b.stages.len()], "{} {}", a.log, b.log);
            pairs += 1;
        }
    }
    assert!(pairs > 300, "{pairs} pairs");
}
