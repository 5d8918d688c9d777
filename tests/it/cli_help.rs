//! The examples of the help texts run, and show every group of options.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use tailspn::formats::pipe::{WriteOptions, write};
use tailspn::net::expr::Leaf;
use tailspn::net::{Delay, Expr, Memory, NetBuilder, Servers, Timing};
use tailspn_replications::system_calls::Fault;

use crate::cli::{data, show, tool};
use crate::cli_detection::{self, TIMES};
use crate::remaining::Log;
use crate::trace_sources::{Stored, zip};
use crate::{cli_syscalls, cli_watch};

/// A queue with failures and a rate parameter: the `net.xml` of the examples.
fn queue(arrivals: f64) -> String {
    let mut net = NetBuilder::new("queue");
    let [queue, done, failed] = ["queue", "done", "failed"].map(|name| net.place(name, 0));
    for (place, most) in [(queue, 12), (done, 3), (failed, 3)] {
        net.place_mut(place).capacity = Some(most);
    }
    let rate = Expr::Leaf(Leaf::Parameter(net.parameter("arrivals", arrivals)));
    let delay = Delay::Exponential { rate };
    let arrive = net.transition("arrive", Timing::Timed { delay, servers: Servers::Single, memory: Memory::Enabling });
    let rates = [("serve", 2.0), ("leave", 1.0), ("fail", 0.01), ("repair", 0.5)];
    let [serve, leave, fail, repair] = rates.map(|(name, rate)| net.transition(name, Timing::exponential(rate)));
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

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// Writes the logs of a job that the examples read.
fn stage_logs(folder: &Path) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let copy = |from: &str, to: &str| fs::copy(data.join(from), folder.join(to)).unwrap();
    for (name, from) in [("app", 32), ("small", 32), ("large", 64), ("usual1", 32), ("usual2", 32), ("slow", 32)] {
        copy(&format!("trace/sort-{from}mb.spark.gz"), &format!("{name}.gz"));
    }
    fs::create_dir(folder.join("samples")).unwrap();
    copy("diagnose/job/worker3.mpstat.txt", "samples/worker3.mpstat.txt");
    copy("diagnose/job/nodes.sadf.csv", "samples/nodes.sadf.csv");
    copy("trace/history-0.20.txt", "history.txt");
    copy("../../models/tutorial/runs.tsv", "runs.tsv");
    // an archive of two applications
    let sort = Log::read(&data.join("trace/sort-32mb.spark.gz")).cut(1.0);
    let id = "\"App ID\":\"application_1724877841851_0016\",\"App Attempt ID\":\"4\"";
    let one = (sort.text + &sort.rest).replace("\"App ID\":\"app-20261120113532-0000\"", id);
    let other = fs::read(data.join("trace/small.spark")).unwrap();
    let files: [(&str, &[u8]); 2] = [("application_1724877841851_0016_4", one.as_bytes()), ("app-1", &other)];
    fs::write(folder.join("logs.zip"), zip(&files, Stored::Deflated)).unwrap();
    // an application in progress
    let cut = Log::read(&data.join("trace/sort-64mb.spark.gz")).cut(0.6);
    fs::write(folder.join("app.inprogress"), cut.text).unwrap();
    // a job with progress reports, and reports alone
    cli_detection::run_in(folder, &TIMES);
    fs::rename(folder.join("app-1"), folder.join("job.jhist")).unwrap();
    fs::write(folder.join("progress.tsv.gz"), packed(&fs::read(folder.join("progress.tsv")).unwrap())).unwrap();
    let reports = cli_watch::reports(30);
    fs::write(folder.join("progress.tsv"), &reports).unwrap();
    for name in ["old.tsv.gz", "hist1.tsv.gz", "hist2.tsv.gz"] {
        fs::write(folder.join(name), packed(reports.as_bytes())).unwrap();
    }
    // system calls of four runs
    for run in 1..4 {
        cli_syscalls::write(&folder.join(format!("usual{run}")), run, None);
    }
    cli_syscalls::write(&folder.join("slow"), 4, Some((1, Fault::SlowDisk(20.0))));
    let mut logs: Vec<_> = fs::read_dir(folder.join("slow")).unwrap().map(|entry| entry.unwrap().path()).collect();
    logs.sort();
    for (name, log) in ["a", "b", "c"].into_iter().zip(logs) {
        fs::write(folder.join(format!("{name}.strace.gz")), packed(&fs::read(log).unwrap())).unwrap();
    }
    run(folder, &["tool", "profile", "usual1", "usual2", "usual3", "--save-profile", "usual.json"]);
}

/// A folder with every file that the examples read and none of them writes.
fn stage() -> tempfile::TempDir {
    let stage = tempfile::tempdir().unwrap();
    let folder = stage.path();
    fs::write(folder.join("net.xml"), queue(1.0)).unwrap();
    fs::write(folder.join("changed.xml"), queue(1.5)).unwrap();
    stage_logs(folder);
    fs::write(folder.join("questions.txt"), "P=? [ F<=60 #(done) = 3 ]\n").unwrap();
    fs::write(folder.join("job.toml"), run(folder, &["estimate", "--print-plan"])).unwrap();
    let plan = fs::read_to_string(folder.join("job.toml")).unwrap();
    fs::write(folder.join("other.toml"), plan.replacen("= 4", "= 8", 1)).unwrap();
    fs::write(folder.join("before.json"), run(folder, &["estimate", "--demo", "--reps", "500", "--json"])).unwrap();
    fs::write(
        folder.join("after.json"),
        run(folder, &["estimate", "--demo", "--reps", "500", "--seed", "2", "--json"]),
    )
    .unwrap();
    fs::write(folder.join("knobs.toml"), run(folder, &["study", "--print-plan"])).unwrap();
    fs::write(folder.join("copies.toml"), run(folder, &["whatif", "--print-plan"])).unwrap();
    run(folder, &["tool", "fit", "small.gz", "--save-plan", "plan.toml"]);
    run(folder, &["watch", "--learn", "hist1.tsv.gz", "--save-model", "model.toml"]);
    run(folder, &["net", "spn-gc", "--maps", "3", "--reduces", "2", "--save-net", "job.xml"]);
    run(folder, &["net", "convert", "net.xml", "net.pnml"]);
    stage
}

/// The examples that do not run here.
fn runs_elsewhere(example: &str) -> bool {
    let parts = [
        // ends with the application: tests/it/cli_remaining.rs

        // a GPU of one make
        " --backend gpu",
    ];
    parts.iter().any(|part| example.contains(part))
}

/// The help of a command, which may be `tool profile`.
fn help(command: &str) -> String {
    let words: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
    data(&words)
}

/// The examples of a command, continued lines as one.
fn examples(command: &str) -> Vec<String> {
    let help = help(command).replace("\\\n", " ");
    let after = help.split_once("\nExamples:\n").map_or("", |(_, after)| after);
    let lines =
        after.lines().map(str::trim).filter(|line| line.starts_with("tailspn ") || line.starts_with("collector "));
    lines.map(str::to_owned).collect()
}

/// An example as a command of a shell that ends and changes nothing outside the folder.
fn runnable(example: &str) -> String {
    let mut command = example.replace("--prefix /usr/local", "--prefix local").replace(" --until-idle 1m", "");
    for file in ["-plan plan.toml", "-model model.toml", "-profile usual.json"] {
        command = command.replace(file, &format!("{file} --force"));
    }
    let ends = match &command[..] {
        watch if watch.starts_with("tailspn watch progress.tsv") => " --until-idle 0",
        watch if watch.starts_with("tailspn watch app.inprogress") => {
            command.insert_str(0, "timeout -s INT 2 ");
            " || [ $? = 124 ]"
        }
        _ => "",
    };
    format!("collector() {{ cat progress.tsv; }}; {command}{ends}")
}

/// Starts an example of `serve`, and returns the first line that it prints.
fn address(example: &str, folder: &Path) -> String {
    let words: Vec<&str> = example.split(' ').skip(1).filter(|word| !matches!(*word, "--port" | "8080")).collect();
    let mut command = tool(&[&words[..], &["--no-open"][usize::from(words.contains(&"--no-open"))..]].concat());
    let mut process = command.current_dir(folder).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    process.kill().unwrap();
    process.wait().unwrap();
    line
}

fn run_examples(commands: &[&str]) {
    let tool_folder = Path::new(env!("CARGO_BIN_EXE_tailspn")).parent().unwrap();
    let path = format!("{}:{}", tool_folder.display(), std::env::var("PATH").unwrap());
    let mut failed = Vec::new();
    let stage = stage();
    for command in commands {
        for example in examples(command).iter().filter(|example| !runs_elsewhere(example)) {
            if *command == "serve" {
                let line = address(example, stage.path());
                assert!(line.starts_with("http://127.0.0.1:"), "{example}: {line}");
                continue;
            }
            let mut shell = Command::new("bash");
            shell.args(["-c", &runnable(example)]);
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

/// The headings of options in a help text, each with its options as `--long` and `-s`; without those of the terminal.
fn groups(help: &str) -> Vec<(String, Vec<String>)> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for line in help.lines().take_while(|line| !line.starts_with("Examples:")) {
        if let Some(heading) = line.strip_suffix(':').filter(|heading| !heading.starts_with(' ')) {
            groups.push((heading.to_owned(), Vec::new()));
        }
        let indent = line.len() - line.trim_start().len();
        if let (2 | 6, true, Some((_, options))) = (indent, line.trim_start().starts_with('-'), groups.last_mut()) {
            let names = line.split([' ', ',']).filter(|word| word.starts_with('-'));
            let names = names.map(|word| word.split(['=', '[', '.']).next().unwrap_or(word).to_owned());
            options.extend(names.filter(|name| !matches!(&name[..], "-h" | "--help" | "-V" | "--version")));
        }
    }
    groups.retain(|(heading, options)| heading != "Terminal" && !options.is_empty());
    groups
}

/// The commands whose examples run, by the test that runs them.
const TESTED: [&[&str]; 5] = [
    &["net check", "net convert", "net structure", "net simulate", "net solve", "net query", "net rare", "net spn-gc"],
    &["estimate", "whatif"],
    &["why", "tool fit", "watch", "tool detectors", "tool profile"],
    &["study", "tool merge"],
    &["job.json", "serve", "tool schema", "tool devices", "tool bench", "tool setup", "tool completions", "tool man"],
];

#[test]
fn an_example_that_runs_uses_each_group_of_options() {
    let tested = TESTED.concat();
    for above in ["", "net", "tool"] {
        let page = help(above);
        let listed = page.lines().skip_while(|line| *line != "Commands:").take_while(|line| !line.is_empty()).skip(1);
        let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
        for name in names.filter(|name| !matches!(*name, "" | "help" | "net" | "tool")) {
            let command = format!("{above} {name}").trim().to_owned();
            assert!(tested.contains(&&command[..]), "the examples of {command} do not run");
        }
    }
    let mut missing = Vec::new();
    for command in tested {
        let examples: Vec<_> = examples(command).into_iter().filter(|example| !runs_elsewhere(example)).collect();
        let words: Vec<&str> = examples.iter().flat_map(|example| example.split([' ', '='])).collect();
        let groups = groups(&help(command));
        assert!(!examples.is_empty(), "{command} has no example");
        for (heading, options) in groups {
            if !options.iter().any(|option| words.contains(&&option[..])) {
                missing.push(format!("{command}: {heading}: {options:?}"));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn groups_of_options_are_found() {
    let found = groups(&help("study"));
    let of = |group: &str| &found.iter().find(|(heading, _)| heading == group).unwrap().1;
    assert!(of("In place of the plan's values").contains(&"--input-size".to_owned()), "{found:?}");
    assert!(of("Output").contains(&"--save".to_owned()), "{found:?}");
}

#[test]
fn examples_for_nets_run() {
    run_examples(TESTED[0]);
}

#[test]
fn examples_for_jobs_run() {
    run_examples(TESTED[1]);
}

#[test]
fn examples_for_logs_run() {
    run_examples(TESTED[2]);
}

#[test]
fn examples_for_studies_run() {
    run_examples(TESTED[3]);
}

#[test]
fn examples_for_tools_run() {
    run_examples(TESTED[4]);
}

#[test]
fn setup_installs_a_page_for_each_command_and_completions() {
    let home = tempfile::tempdir().unwrap();
    let output = tool(&["tool", "setup"]).env("HOME", home.path()).output().unwrap();
    assert!(output.status.success(), "{}", show(&output));
    let share = home.path().join(".local/share");
    for file in [
        "man/man1/tailspn.1",
        "man/man1/tailspn-why.1",
        "man/man1/tailspn-net-solve.1",
        "bash-completion/completions/tailspn",
        "zsh/site-functions/_tailspn",
        "fish/vendor_completions.d/tailspn.fish",
    ] {
        assert!(share.join(file).is_file(), "{file}");
    }
    let page = fs::read_to_string(share.join("man/man1/tailspn-why.1")).unwrap();
    assert!(page.contains("tailspn why app.gz"), "{page}");
}

#[test]
fn setup_says_where_it_cannot_write() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let output = tool(&["tool", "setup", "--prefix", file.to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(7), "{}", show(&output));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write"), "{}", show(&output));
}
