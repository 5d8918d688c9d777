//! `watch` as a person sees it: files that grow, standard input, models, and what cannot be right.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tailspn::report::{AnyReport, Report as _, read_json};

use crate::cli::{assert_shown, data, show, shown, tool, unwrapped};
use crate::shared::shared;

const HEADER: &str = "kind\tstage\tpartition\tattempt\tnode\tt_ms\tdone\ttotal\n";

/// Eight tasks of 100 records that report each second and take twenty; task 3 has three times as much to do. In the order of time.
pub(crate) fn reports(seconds: u32) -> String {
    let mut text = HEADER.to_owned();
    for second in 0..=seconds {
        for task in 0..8 {
            let total = if task == 3 { 300 } else { 100 };
            let done = (5 * second + task / 2 * u32::from(second > 0)).min(total);
            if second == 0 || 5 * (second - 1) + task / 2 < total {
                let _ =
                    writeln!(text, "map\t1\t{task}\t0\tn{}\t{}\t{done}\t{total}", task % 4, 1000 * second + 10 * task);
            }
        }
    }
    text
}

/// A folder with reports of an earlier run, without skew, and the model that they teach.
fn learned() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let rows = reports(30).lines().filter(|line| !line.contains("\t3\t0\t")).collect::<Vec<_>>().join("\n") + "\n";
    std::fs::write(folder.path().join("hist.tsv"), rows).unwrap();
    let output = tool(&["watch", "--learn", "hist.tsv", "--save-model", "model.toml"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_shown!(show(&output));
    folder
}

#[test]
fn help_of_watch() {
    assert_shown!(shown(&["watch", "--help"]));
}

/// Standard input teaches what the file teaches, plain and compressed, also if it is a log.
#[test]
fn learns_from_standard_input() {
    let folder = learned();
    let model = std::fs::read_to_string(folder.path().join("model.toml")).unwrap();
    let hist = std::fs::read(folder.path().join("hist.tsv")).unwrap();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&hist).unwrap();
    let from_stdin = |bytes: &[u8]| {
        let mut command = tool(&["watch", "--learn", "-", "--save-model", "-"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(bytes).unwrap();
        child.wait_with_output().unwrap()
    };
    for bytes in [hist, gz.finish().unwrap()] {
        let output = from_stdin(&bytes);
        assert!(output.status.success(), "{}", show(&output));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), model);
    }
    let log = show(&from_stdin(include_bytes!("../data/trace/small.spark")));
    assert!(log.contains("`standard input` has no task progress over time"), "{log}");
}

#[test]
fn learns_a_model_and_flags_by_it() {
    let folder = learned();
    assert_shown!(std::fs::read_to_string(folder.path().join("model.toml")).unwrap());
    std::fs::write(folder.path().join("run.tsv"), reports(70)).unwrap();
    let run = |args: &[&str]| {
        let all = [&["watch", "run.tsv", "--until-idle", "0"], args].concat();
        show(&tool(&all).current_dir(folder.path()).output().unwrap())
    };
    assert_shown!(run(&["--model", "model.toml"]));
    assert_shown!(run(&["--model", "model.toml", "--json"]));
    assert_shown!(run(&["--model", "model.toml", "--rule", "paper"]));
    let learned = tool(&["watch", "--learn", "hist.tsv", "--json"]).current_dir(folder.path()).output().unwrap();
    let learned = String::from_utf8(learned.stdout).unwrap();
    let AnyReport::ProgressModel(read) = read_json(&learned).unwrap() else { panic!("{learned}") };
    assert_eq!(read.json().unwrap(), learned);
    let csv = tool(&["watch", "--learn", "hist.tsv", "--csv"]).current_dir(folder.path()).output().unwrap();
    let csv = String::from_utf8(csv.stdout).unwrap();
    assert!(csv.starts_with("kind,tasks,usual_s,form,pieces,held_out_error,taken\n"), "{csv}");
    let forms: usize = read.profiles.iter().map(|profile| profile.forms.len()).sum();
    assert_eq!(csv.lines().count(), 1 + forms);
    assert_eq!(csv.lines().filter(|line| line.ends_with(",true")).count(), read.profiles.len());
    let watched = run(&["--learn", "hist.tsv", "--csv"]);
    assert!(watched.starts_with("exit 2") && watched.contains("--csv, --markdown and --verbose"), "{watched}");
    // the peers alone say the same, a little later
    let alone = run(&[]);
    assert_eq!(alone.matches(": straggler").count(), 1, "{alone}");
    assert!(alone.contains("task 3.0 on n3"), "{alone}");
    let again = show(
        &tool(&["watch", "--learn", "hist.tsv", "--save-model", "model.toml"])
            .current_dir(folder.path())
            .output()
            .unwrap(),
    );
    assert!(again.starts_with("exit 7") && again.contains("already exists"), "{again}");
}

/// A flag is there before the reports end, although more may come.
#[test]
fn flags_at_once_from_standard_input() {
    let mut child =
        tool(&["watch", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (mut input, mut lines) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines());
    input.write_all(reports(14).as_bytes()).unwrap();
    input.flush().unwrap();
    let line = lines.next().unwrap().unwrap();
    assert!(line.contains("straggler map stage 1 task 3.0 on n3"), "{line}");
    drop(input);
    assert!(lines.next().is_none());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// The file is written in pieces that end within lines; the end is found by silence.
#[test]
fn follows_a_file_that_grows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tsv");
    let text = reports(30);
    std::fs::write(&path, &text[..333]).unwrap();
    let child = tool(&["watch", "run.tsv", "--until-idle", "2s", "--json"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    for piece in text.as_bytes()[333..].chunks(1500) {
        std::thread::sleep(Duration::from_millis(50));
        file.write_all(piece).unwrap();
    }
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let events: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.len(), 2, "{text}");
    assert_eq!((&events[0]["event"], &events[0]["task"]), (&"straggler".into(), &3.into()));
    assert_eq!((&events[1]["event"], &events[1]["tasks"], &events[1]["ended"]), (&"end".into(), &8.into(), &7.into()));
    assert_eq!(output.status.code(), Some(0));
}

/// Garbage in every way that the format has one, and times and progress that cannot be.
#[test]
fn counts_invalid_reports() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = reports(25);
    text += "map\t1\t0\t0\tn0\t999\t5\t100\n\u{1}\u{2}\n{\"t_ms\":\nmap\t1\t3\t0\tn3\t1\t5\t300\nmap\t1\t3\t0\tn3\t26000\t5\t300\n";
    text += "map\t1\t3\t0\tn3\t26500\t305\t300\nmap\t1\t3\t0\tn3\t9e15\t200\t300\nmap\t1\t3\t0\tn3\t27000\t135\t300\nmap\t1\t3\t0\tn3\t28";
    std::fs::write(folder.path().join("odd.tsv"), text).unwrap();
    let output = tool(&["watch", "odd.tsv", "--until-idle", "0"]).current_dir(folder.path()).output().unwrap();
    assert_shown!(show(&output));
    std::fs::write(folder.path().join("none.tsv"), "a\tb\n1\t2\n").unwrap();
    let output = tool(&["watch", "none.tsv", "--until-idle", "0"]).current_dir(folder.path()).output().unwrap();
    assert_shown!(show(&output));
}

/// The rows of a text sorted by task.
fn by_task(text: &str) -> String {
    let (header, rows) = text.split_once('\n').unwrap();
    let mut rows: Vec<&str> = rows.lines().collect();
    rows.sort_by_key(|row| row.split('\t').nth(2).unwrap().parse::<u32>().unwrap());
    format!("{header}\n{}\n", rows.join("\n"))
}

fn packed(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// A complete file is judged in the order of time, however its rows are sorted; a stream cannot be, and a note says so.
#[test]
fn a_complete_file_is_replayed_in_the_order_of_time() {
    let folder = learned();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    let text = reports(70);
    write("run.tsv", text.as_bytes());
    write("sorted.tsv", by_task(&text).as_bytes());
    write("sorted.tsv.gz", &packed(&by_task(&text)));
    let run = |args: &[&str]| {
        show(&tool(&[&["watch", "--model", "model.toml"], args].concat()).current_dir(folder.path()).output().unwrap())
    };
    let right = run(&["run.tsv", "--until-idle", "0"]);
    assert!(right.contains("straggler map stage 1 task 3.0"), "{right}");
    assert_eq!(run(&["sorted.tsv", "--until-idle", "0"]), right.replace("run.tsv", "sorted.tsv"));
    assert_eq!(run(&["sorted.tsv.gz"]), right.replace("run.tsv", "sorted.tsv.gz"));
    let stream = run(&["sorted.tsv", "--until-idle", "300ms"]);
    assert!(stream.contains("much older than the latest report") && !right.contains("much older"), "{stream}");
}

/// The whole part of a truncated file is used; if there is none, the file cannot be read.
#[test]
fn a_cut_compressed_file_is_read_up_to_its_cut() {
    let folder = learned();
    let whole = packed(&reports(70));
    let write = |name: &str, length: usize| std::fs::write(folder.path().join(name), &whole[..length]).unwrap();
    write("cut.tsv.gz", whole.len() * 19 / 20);
    write("stub.tsv.gz", 12);
    let run = |args: &[&str]| show(&tool(&[&["watch"], args].concat()).current_dir(folder.path()).output().unwrap());
    let cut = run(&["cut.tsv.gz", "--model", "model.toml"]);
    assert!(cut.starts_with("exit 0") && cut.contains("straggler map stage 1 task 3.0"), "{cut}");
    assert!(
        cut.contains("the compressed file ends too early or is damaged; the data before that point are used"),
        "{cut}"
    );
    let learned = run(&["--learn", "cut.tsv.gz"]);
    assert!(learned.starts_with("exit 0") && learned.contains("ends too early or is damaged"), "{learned}");
    let stub = run(&["stub.tsv.gz"]);
    assert!(stub.starts_with("exit 7") && stub.contains("cannot read `stub.tsv.gz`"), "{stub}");
    let diagnosed = unwrapped(&show(&tool(&["why", "cut.tsv.gz"]).current_dir(folder.path()).output().unwrap()));
    assert!(diagnosed.starts_with("exit 0") && diagnosed.contains("ends too early or is damaged"), "{diagnosed}");
}

#[test]
fn refuses_what_it_cannot_use() {
    for (args, exit) in [
        (&["watch"][..], 2),
        (&["watch", "-", "--diff", "0"], 2),
        (&["watch", "-", "--sure", "1"], 2),
        (&["watch", "-", "--save-model", "model.toml"], 2),
        (&["watch", "missing.tsv"], 7),
        (&["watch", "-", "--model", "missing.toml"], 7),
        (&["watch", "-", "--model", "Cargo.toml"], 3),
        (&["watch", "--learn", "Cargo.toml"], 3),
        (&["watch", "--learn", "tests/data/trace/small.spark"], 3),
    ] {
        let output = tool(args).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(exit), "{args:?}: {}", show(&output));
    }
    assert!(Path::new("Cargo.toml").is_file());
}

/// Ctrl-C ends the command on a file that it would follow forever, and the counts are reported.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_it_cleanly() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("run.tsv"), reports(14)).unwrap();
    let mut child = tool(&["watch", "run.tsv"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert!(line.contains("task 3.0"), "{line}");
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(told.contains("120 reports on 8 tasks") && told.contains("8 tasks were still running"), "{told}");
}

#[test]
fn learns_from_the_progress_of_hadoop_s_histories() {
    let Some(logs) = shared("data/logs") else { return };
    let history = logs.join("hadoop-jhist/apache-hadoop-2.6-trunk/job_1329348432655_0001-10.jhist");
    let text = data(&["watch", "--learn", history.to_str().unwrap()]);
    assert!(text.contains("Progress of") && text.contains("map"), "{text}");
}
