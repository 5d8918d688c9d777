//! The examples of the help texts run.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tailspn::formats::pipe::{WriteOptions, write};
use tailspn::net::{NetBuilder, Timing};

use crate::cli::{data, show, tool};

/// A queue with failures: the `net.xml` of the examples.
fn queue(arrivals: f64) -> String {
    let mut net = NetBuilder::new("queue");
    let [queue, done, failed] = ["queue", "done", "failed"].map(|name| net.place(name, 0));
    for (place, most) in [(queue, 12), (done, 3), (failed, 3)] {
        net.place_mut(place).capacity = Some(most);
    }
    let rates = [("arrive", arrivals), ("serve", 2.0), ("leave", 1.0), ("fail", 0.01), ("repair", 0.5)];
    let [arrive, serve, leave, fail, repair] =
        rates.map(|(name, rate)| net.transition(name, Timing::exponential(rate)));
    for (transition, place) in [(arrive, queue), (serve, done), (fail, failed)] {
        net.output(transition, place, 1.0);
    }
    for (place, transition) in [(queue, serve), (done, leave), (failed, repair)] {
        net.input(place, transition, 1.0);
    }
    write(&net.build().unwrap(), &WriteOptions::default()).xml
}

/// Runs the tool in a folder, and returns what it printed.
fn run(folder: &Path, args: &[&str]) -> Vec<u8> {
    let output = tool(args).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", show(&output));
    output.stdout
}

/// A folder with every file that the examples read and none of them writes.
fn stage() -> tempfile::TempDir {
    let stage = tempfile::tempdir().unwrap();
    let folder = stage.path();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let copy = |from: &str, to: &str| fs::copy(data.join(from), folder.join(to)).unwrap();
    fs::write(folder.join("net.xml"), queue(1.0)).unwrap();
    fs::write(folder.join("changed.xml"), queue(1.5)).unwrap();
    for (name, from) in [("app", 32), ("small", 32), ("large", 64), ("usual1", 32), ("usual2", 32), ("slow", 32)] {
        copy(&format!("trace/sort-{from}mb.spark.gz"), &format!("{name}.gz"));
    }
    fs::create_dir(folder.join("samples")).unwrap();
    copy("diagnose/job/worker3.mpstat.txt", "samples/worker3.mpstat.txt");
    copy("diagnose/job/nodes.sadf.csv", "samples/nodes.sadf.csv");
    copy("trace/history-0.20.txt", "history.txt");
    fs::write(folder.join("questions.txt"), "P=? [ F<=60 #(done) = 3 ]\n").unwrap();
    fs::write(folder.join("job.toml"), run(folder, &["estimate", "--print-plan"])).unwrap();
    let plan = fs::read_to_string(folder.join("job.toml")).unwrap();
    fs::write(folder.join("other.toml"), plan.replacen("= 4", "= 8", 1)).unwrap();
    fs::write(folder.join("before.json"), run(folder, &["estimate", "--reps", "500", "--json"])).unwrap();
    fs::write(folder.join("after.json"), run(folder, &["estimate", "--reps", "500", "--seed", "2", "--json"])).unwrap();
    fs::write(folder.join("knobs.toml"), run(folder, &["sweep", "--print-plan"])).unwrap();
    run(folder, &["spn-gc", "--maps", "3", "--reduces", "2", "-o", "job.xml"]);
    run(folder, &["convert", "net.xml", "net.pnml"]);
    stage
}

/// The examples that run elsewhere, or need what a test machine lacks.
fn runs_elsewhere(example: &str) -> bool {
    let starts = [
        // a server, a stream and files that grow
        "tailspn serve",
        "collector |",
        "tailspn watch",
        "tailspn remaining",
        // logs of progress reports and of strace: tests/it/cli_detection.rs, cli_diagnose.rs, cli_syscalls.rs
        "tailspn syscalls",
        "tailspn detectors --on job.jhist",
        "tailspn diagnose job.jhist",
        "tailspn diagnose slow/",
        // an archive: tests/it/trace_sources.rs
        "tailspn trace logs.zip",
        // files outside the folder
        "tailspn setup --prefix /usr/local",
        // a GPU of one make
        "tailspn bench --backend gpu",
    ];
    starts.iter().any(|start| example.starts_with(start))
}

/// The examples of a command, continued lines as one.
fn examples(command: &str) -> Vec<String> {
    let help = data(&[command, "--help"]).replace("\\\n", " ");
    let lines =
        help.lines().map(str::trim).filter(|line| line.starts_with("tailspn ") || line.starts_with("collector "));
    lines.map(str::to_owned).collect()
}

fn run_examples(commands: &[&str]) {
    let tool_folder = Path::new(env!("CARGO_BIN_EXE_tailspn")).parent().unwrap();
    let path = format!("{}:{}", tool_folder.display(), std::env::var("PATH").unwrap());
    let mut failed = Vec::new();
    let stage = stage();
    for command in commands {
        for example in examples(command).iter().filter(|example| !runs_elsewhere(example)) {
            let mut shell = Command::new("bash");
            shell.args(["-c", &example.replace("-o plan.toml", "-o plan.toml --force")]);
            shell.current_dir(stage.path()).env("PATH", &path).env("HOME", stage.path()).env("NO_COLOR", "1");
            let output = shell.stdin(Stdio::null()).output().unwrap();
            // 8 is an answer: no configuration meets the deadline
            if !matches!(output.status.code(), Some(0 | 8)) {
                failed.push(format!("{example}\n{}", String::from_utf8_lossy(&output.stderr)));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn examples_for_nets_run() {
    run_examples(&["check", "convert", "structure", "simulate", "solve", "query", "rare", "spn-gc"]);
}

#[test]
fn examples_for_jobs_run() {
    run_examples(&["estimate", "whatif", "remaining"]);
}

#[test]
fn examples_for_logs_run() {
    run_examples(&["trace", "fit", "compare", "diagnose", "detectors"]);
}

#[test]
fn examples_for_studies_run() {
    run_examples(&["sweep", "merge", "sensitivity", "optimize"]);
}

#[test]
fn examples_for_tools_run() {
    run_examples(&["report", "schema", "devices", "bench", "setup", "completions", "man"]);
}

#[test]
fn setup_installs_a_page_for_each_command_and_completions() {
    let home = tempfile::tempdir().unwrap();
    let output = tool(&["setup"]).env("HOME", home.path()).output().unwrap();
    assert!(output.status.success(), "{}", show(&output));
    let share = home.path().join(".local/share");
    for file in [
        "man/man1/tailspn.1",
        "man/man1/tailspn-trace.1",
        "man/man1/tailspn-syscalls-diagnose.1",
        "bash-completion/completions/tailspn",
        "zsh/site-functions/_tailspn",
        "fish/vendor_completions.d/tailspn.fish",
    ] {
        assert!(share.join(file).is_file(), "{file}");
    }
    let page = fs::read_to_string(share.join("man/man1/tailspn-trace.1")).unwrap();
    assert!(page.contains("tailspn trace app.gz"), "{page}");
}

#[test]
fn setup_says_where_it_cannot_write() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let output = tool(&["setup", "--prefix", file.to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(7), "{}", show(&output));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write"), "{}", show(&output));
}
