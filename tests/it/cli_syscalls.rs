//! `why` as a person sees it, on runs made up.

use std::path::Path;
use std::process::Output;

use tailspn::report::{AnyReport, Report as _, read_json};
use tailspn_replications::system_calls::{Fault, MadeRun};

use crate::cli::{assert_shown, show, shown, tool, unwrapped};

/// Writes the logs of a run into a folder of its own.
pub(crate) fn write(folder: &Path, run: u32, fault: Option<(usize, Fault)>) {
    std::fs::create_dir_all(folder).unwrap();
    for (node, text) in (MadeRun { tasks: 40, run, fault, ..MadeRun::default() }).logs() {
        std::fs::write(folder.join(format!("{node}.strace")), text).unwrap();
    }
}

/// A folder with three control runs, their profile, and two runs with a fault.
pub(crate) fn prepared() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for run in 0..3 {
        write(&folder.path().join(format!("control{run}")), run, None);
    }
    write(&folder.path().join("lossy"), 7, Some((2, Fault::PacketLoss(0.3))));
    write(&folder.path().join("slow"), 8, Some((1, Fault::SlowDisk(20.0))));
    data(&run(&folder, &["tool", "profile", "control0", "control1", "control2", "--save-profile", "usual.json"]));
    folder
}

/// Standard output of a run that must succeed.
fn data(output: &Output) -> String {
    assert!(output.status.success(), "{}", show(output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn run(folder: &tempfile::TempDir, args: &[&str]) -> Output {
    tool(args).current_dir(folder.path()).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn help_of_profile() {
    assert_shown!(shown(&["tool", "profile", "--help"]));
}

#[test]
fn says_which_node_is_at_fault() {
    let folder = prepared();
    assert_shown!(show(&run(
        &folder,
        &["tool", "profile", "control0", "control1", "control2", "--save-profile", "usual.json", "--force"]
    )));
    assert_shown!(show(&run(
        &folder,
        &[
            "why",
            "lossy",
            "--method",
            "statistical",
            "--method",
            "semantic",
            "--method",
            "improved",
            "--profile",
            "usual.json",
            "--timeline",
            "calls.svg"
        ]
    )));
    assert_shown!(show(&run(&folder, &["why", "slow", "--profile", "usual.json", "--method", "improved"])));
    let picture = std::fs::read_to_string(folder.path().join("calls.svg")).unwrap();
    // a square for each of eight kinds of calls on each of four nodes
    assert_eq!(picture.matches("<title>").count(), 32);
    assert!(picture.contains("improved: n3") && picture.ends_with("</svg>\n"), "{picture}");
    let again = run(
        &folder,
        &[
            "why",
            "lossy",
            "--method",
            "statistical",
            "--method",
            "semantic",
            "--method",
            "improved",
            "--profile",
            "usual.json",
            "--timeline",
            "calls.svg",
        ],
    );
    assert_eq!(again.status.code(), Some(7), "{}", stderr(&again));
}

#[test]
fn writes_json_and_csv() {
    let folder = prepared();
    let json = data(&run(
        &folder,
        &[
            "why",
            "slow",
            "--method",
            "statistical",
            "--method",
            "semantic",
            "--method",
            "improved",
            "--profile",
            "usual.json",
            "--json",
        ],
    ));
    let AnyReport::Syscalls(read) = read_json(&json).unwrap() else { panic!("{json}") };
    assert_eq!(read.json().unwrap(), json);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&report["kind"], &report["control_runs"]), (&"syscalls".into(), &3.into()));
    let improved = &report["answers"][2];
    assert_eq!((&improved["method"], &improved["nodes"][0]), (&"syscalls-improved".into(), &"n2".into()));
    assert_eq!(improved["findings"][0]["cause"], "disk");
    assert_eq!(report["nodes"].as_array().unwrap().len(), 4);
    let csv = data(&run(
        &folder,
        &[
            "why",
            "slow",
            "--method",
            "statistical",
            "--method",
            "semantic",
            "--method",
            "improved",
            "--profile",
            "usual.json",
            "--csv",
        ],
    ));
    assert!(
        csv.starts_with("node,call,calls,errors,total_s,mean_s,usual_low_s,usual_high_s,verdict\nn1,accept,"),
        "{csv}"
    );
    assert_eq!(csv.lines().count(), 33);
}

#[test]
fn nodes_of_logs_can_be_named_and_odd_lines_are_reported() {
    let folder = prepared();
    let text = std::fs::read_to_string(folder.path().join("slow/n4.strace")).unwrap();
    // cut in the middle of a line, and one line of something else
    let cut = format!("what is this?\n{}", &text[..text.len() - 30]);
    std::fs::write(folder.path().join("fourth.log"), cut).unwrap();
    std::fs::write(folder.path().join("slow/README"), "not a log\n").unwrap();
    std::fs::remove_file(folder.path().join("slow/n4.strace")).unwrap();
    let output =
        run(&folder, &["why", "slow", "n4=fourth.log", "--profile", "usual.json", "--method", "improved", "--csv"]);
    let notes = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{notes}");
    assert!(
        notes.contains("`slow/README` is not a strace log: none of its lines is strace output; skipped"),
        "{notes}"
    );
    assert!(notes.contains("note: fourth.log:1: not a line of strace output; skipped: what is this?"), "{notes}");
    assert!(notes.contains("a truncated call; skipped"), "{notes}");
    let quiet = run(
        &folder,
        &[
            "why",
            "slow",
            "n4=fourth.log",
            "--method",
            "statistical",
            "--method",
            "semantic",
            "--method",
            "improved",
            "--profile",
            "usual.json",
            "--quiet",
            "--csv",
        ],
    );
    assert_eq!(stderr(&quiet), "");
    let unknown = run(
        &folder,
        &[
            "why",
            "slow",
            "n9=fourth.log",
            "--method",
            "statistical",
            "--method",
            "semantic",
            "--method",
            "improved",
            "--profile",
            "usual.json",
        ],
    );
    let unknown = unwrapped(&show(&unknown));
    assert!(unknown.contains("the published methods cannot judge n9: no control run has their logs"), "{unknown}");
}

#[test]
fn logs_that_cannot_be_judged_are_refused() {
    let folder = prepared();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "totals.strace",
        "% time     seconds  usecs/call     calls    errors syscall\n 90.00    0.012000           1     12000           newfstatat\n100.00    0.012000           1     12000           total\n",
    );
    write("other.txt", "nothing of the kind\n");
    write("empty.strace", "");
    write("bad.json", "{\"format_version\":1}");
    std::fs::create_dir(folder.path().join("none")).unwrap();
    for (args, code, message) in [
        (
            vec![
                "why",
                "totals.strace",
                "--method",
                "statistical",
                "--method",
                "semantic",
                "--method",
                "improved",
                "--profile",
                "usual.json",
            ],
            5,
            "totals of CPU time (-c without -w)",
        ),
        (
            vec![
                "why",
                "totals.strace",
                "--clock",
                "wall",
                "--method",
                "statistical",
                "--method",
                "semantic",
                "--method",
                "improved",
                "--profile",
                "usual.json",
                "--csv",
            ],
            0,
            "",
        ),
        (
            vec![
                "why",
                "other.txt",
                "--method",
                "statistical",
                "--method",
                "semantic",
                "--method",
                "improved",
                "--profile",
                "usual.json",
            ],
            3,
            "is not a strace log",
        ),
        (
            vec![
                "why",
                "empty.strace",
                "--method",
                "statistical",
                "--method",
                "semantic",
                "--method",
                "improved",
                "--profile",
                "usual.json",
            ],
            3,
            "is empty",
        ),
        (
            vec![
                "why",
                "none",
                "--method",
                "statistical",
                "--method",
                "semantic",
                "--method",
                "improved",
                "--profile",
                "usual.json",
            ],
            3,
            "no strace log in",
        ),
        (
            vec![
                "why",
                "absent",
                "--method",
                "statistical",
                "--method",
                "semantic",
                "--method",
                "improved",
                "--profile",
                "usual.json",
            ],
            7,
            "no such file",
        ),
        (
            vec![
                "why",
                "slow",
                "--method",
                "statistical",
                "--method",
                "semantic",
                "--method",
                "improved",
                "--profile",
                "absent.json",
            ],
            7,
            "no such file",
        ),
        (
            vec![
                "why",
                "slow",
                "--method",
                "statistical",
                "--method",
                "semantic",
                "--method",
                "improved",
                "--profile",
                "bad.json",
            ],
            3,
            "is not a system-call profile",
        ),
        (
            vec![
                "why",
                "slow",
                "slow/n1.strace",
                "--method",
                "statistical",
                "--method",
                "semantic",
                "--method",
                "improved",
                "--profile",
                "usual.json",
            ],
            2,
            "both belong to node `n1`",
        ),
        (
            vec![
                "why",
                "slow",
                "--method",
                "statistical",
                "--method",
                "semantic",
                "--method",
                "improved",
                "--profile",
                "usual.json",
                "--margin",
                "0.5",
            ],
            2,
            "--margin must be at least 1",
        ),
        (vec!["tool", "profile", "control0", "--save-profile", "usual.json"], 7, "already exists"),
        (vec!["tool", "profile", "control0", "--save-profile", "one.json"], 0, "fewer than three control runs"),
    ] {
        let output = run(&folder, &args);
        let text = stderr(&output).replace("\n  ", " ").replace("│ ", "");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(code), "{args:?}: {words}");
        assert!(words.contains(message), "{args:?}: {words}");
    }
}
