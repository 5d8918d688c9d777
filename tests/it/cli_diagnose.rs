//! `why` as a person sees it.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tailspn_replications::system_calls::{Fault, MadeRun};

use crate::cli::{assert_shown, data, shown, unwrapped};
use crate::shared::shared;

/// A log of 36 tasks on three workers, and their samples: a hog on worker2 from second 9 to 17, a task with three times the data,
/// one with much garbage collection.
const FOLDER: &str = "tests/data/diagnose/job";
const LOG: &str = "tests/data/diagnose/job/app-1";
const TABLE: &str = "tests/data/diagnose/job/nodes.sadf.csv";
const TEXT: &str = "tests/data/diagnose/job/worker3.mpstat.txt";

#[test]
fn help_of_diagnose() {
    assert_shown!(shown(&["why", "--help"]));
}

#[test]
fn says_why_tasks_were_slow_and_what_to_do() {
    assert_shown!(shown(&["why", FOLDER]));
    // files by name say the same as their folder
    assert_shown!(shown(&["why", FOLDER, "--verbose"]));
    let [folder, files] = [shown(&["why", FOLDER, "-v"]), shown(&["why", TEXT, LOG, TABLE, "-v"])];
    let findings = |text: &str| text.split_once("\nFindings").unwrap().1.split("\nStages").next().unwrap().to_owned();
    assert_eq!(findings(&folder), findings(&files));
}

#[test]
fn a_log_alone_leaves_resources_unknown() {
    assert_shown!(shown(&["why", LOG]));
}

#[test]
fn writes_json_and_csv() {
    assert_shown!(shown(&["why", FOLDER, "--json"]));
    assert_shown!(shown(&["why", FOLDER, "--csv"]));
}

#[test]
fn draws_stragglers_in_the_colours_of_their_causes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("causes.svg");
    let text = shown(&["why", FOLDER, "--timeline", file.to_str().unwrap(), "--quiet"]);
    assert!(text.starts_with("exit 0"), "{text}");
    let picture = std::fs::read_to_string(&file).unwrap();
    assert_eq!(picture.matches("<title>").count(), 36);
    // the legend and the rectangles of what was found, and of nothing else
    for cause in ["CPU", "data skew"] {
        assert!(picture.contains(&format!(">{cause}</text>")), "{cause}");
    }
    assert!(!picture.contains(">locality</text>"));
    assert!(picture.contains("CPU: CPU of the node, compared"), "{picture}");
    let again = shown(&["why", FOLDER, "--timeline", file.to_str().unwrap()]);
    assert!(again.starts_with("exit 7") && again.contains("already exists"), "{again}");
}

#[test]
fn the_paper_alone_and_single_thresholds_can_be_asked_for() {
    let paper = shown(&["why", FOLDER, "--rules", "paper", "--edge", "printed", "--quiet"]);
    assert!(paper.starts_with("exit 0"), "{paper}");
    let strict = shown(&["why", FOLDER, "--peer-factor", "50", "--quiet"]);
    let explained = |text: &str| text.lines().find(|line| line.contains("stragglers in ")).unwrap().to_owned();
    assert_ne!(explained(&strict), explained(&shown(&["why", FOLDER, "--quiet"])));
}

#[test]
fn a_map_and_offsets_of_clocks_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let map = folder.path().join("nodes.toml");
    let map_name = map.to_str().unwrap();
    std::fs::write(&map, "[node.worker3]\nhost = \"worker1.lan\"\n\n[node.worker9]\nhost = \"worker1.lan\"\n").unwrap();
    let text = unwrapped(&shown(&["why", FOLDER, "--node-map", map_name, "--quiet", "--verbose"]));
    assert!(text.contains("node worker9: the node map contains this node, but the log does not"), "{text}");
    std::fs::write(&map, "[node.worker3]\nhosts = \"x\"\n").unwrap();
    let text = shown(&["why", FOLDER, "--node-map", map_name]);
    assert!(text.starts_with("exit 3") && text.contains("unknown field `hosts`"), "{text}");
    // an hour off: a note says that the samples miss the job, and no finding blames what they would show
    let text = unwrapped(&shown(&["why", FOLDER, "--clock-offset", "-3600", "--verbose"]));
    assert!(text.contains("before its first task, by 35") && text.contains("--clock-offset may be missing"), "{text}");
    let findings = text.split(" Findings ").nth(1).unwrap().split(" Stages with stragglers ").next().unwrap();
    assert!(!findings.contains("processor"), "{text}");
}

#[test]
fn bad_arguments_and_inputs_end_with_their_codes() {
    let starts = |args: &[&str], code: &str, part: &str| {
        let text = shown(args);
        assert!(text.starts_with(&format!("exit {code}")) && text.contains(part), "{args:?}: {text}");
    };
    starts(&["why"], "2", "FILE");
    starts(&["why", LOG, "--peer-factor", "0.5"], "2", "at least 1");
    starts(&["why", LOG, "--utc-offset", "abc"], "2", "+01:00");
    let copy = tempfile::NamedTempFile::new().unwrap();
    std::fs::copy(LOG, copy.path()).unwrap();
    starts(&["why", LOG, copy.path().to_str().unwrap(), TABLE], "2", "one log with the samples");
    starts(&["why", LOG, "--method", "improved"], "2", "--method applies to strace logs alone");
    starts(&["why", TABLE], "3", "samples alone do not describe tasks");
    starts(&["why", "Cargo.toml"], "3", "Cargo.toml");
    starts(&["why", "no-such-file"], "7", "no-such-file");
    // a profile is checked even if there is no strace log
    starts(&["why", LOG, "--profile", "no-such.json"], "7", "no-such.json");
    starts(&["why", LOG, "--profile", "Cargo.toml"], "3", "is not a system-call profile");
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("sa20");
    std::fs::write(&binary, b"\x96\xd5\x75\x21\0\0").unwrap();
    starts(&["why", LOG, binary.to_str().unwrap()], "3", "sadf -j");
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    starts(&["why", empty.to_str().unwrap()], "3", "nothing to explain");
}

/// The folder of labelled runs.
fn labelled() -> Option<PathBuf> {
    shared("data/logs/labelled")
}

fn diagnosed(args: &[&str]) -> Value {
    let mut found: Value = serde_json::from_str(&data(&[&["why", "--json", "--quiet"], args].concat())).unwrap();
    // they are about the typed files
    found["blocks"].as_object_mut().unwrap().remove("next");
    found
}

/// The findings of a method: number of the task, or name of the node, and cause.
fn found(report: &Value, method: &str) -> Vec<(String, String)> {
    let of_method = report["findings"].as_array().unwrap().iter().filter(|finding| finding["method"] == method);
    let who = |subject: &Value| subject.get("task").unwrap_or(&subject["node"]).to_string().replace('"', "");
    of_method.map(|finding| (who(&finding["subject"]), finding["cause"].as_str().unwrap().to_owned())).collect()
}

/// The task that was given 2.8 times the work is the only straggler by progress, with the log and without it; the log
/// names it and its node, and a log of another time is reported.
#[test]
fn progress_beside_a_log_tells_who_lags() {
    let Some(folder) = labelled().map(|folder| folder.join("longtail-4node")) else { return };
    let at = |path: &str| folder.join(path).display().to_string();
    let made = tempfile::tempdir().unwrap();
    let model = made.path().join("model.toml").display().to_string();
    let histories = ["hist1", "hist2", "hist3"].map(|run| at(&format!("{run}/progress.tsv.gz")));
    data(&["watch", "--learn", &histories[0], &histories[1], &histories[2], "--save-model", &model]);
    let skewed = vec![("12".to_owned(), "data-skew".to_owned())];
    let both = diagnosed(&[&at("skew5"), "--model", &model]);
    assert_eq!(found(&both, "long-tail"), skewed, "{both}");
    let straggler = both["findings"].as_array().unwrap().iter().find(|f| f["method"] == "long-tail").unwrap();
    assert!(straggler["subject"]["node"].is_string() && straggler["subject"]["stage"] == "1", "{straggler}");
    // the rows of these files are sorted by task; `watch` puts them in the order of time
    let watched = data(&["watch", &at("skew3/progress.tsv.gz"), "--model", &model, "--json"]);
    let flags = watched.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut flagged: Vec<u64> = flags.filter_map(|flag| flag["task"].as_u64()).collect();
    flagged.sort_unstable();
    assert_eq!(flagged, [5, 14], "{watched}");
    let advice = both["advice"].as_array().unwrap().iter().find(|a| a["cause"] == "data-skew").unwrap();
    assert_eq!((&advice["remedy"], &advice["stragglers"]), (&"repartition".into(), &1.into()));
    let progress = at("skew5/progress.tsv.gz");
    let alone = diagnosed(&[&progress, "--model", &model]);
    assert_eq!((found(&alone, "long-tail"), alone["stages"].as_array().unwrap().len()), (skewed, 0));
    assert!(alone["missing"][0].as_str().unwrap().contains("without a job log"), "{alone}");
    let other = diagnosed(&[&at("skew3"), &at("hist1/progress.tsv.gz")]);
    assert!(other["missing"].to_string().contains("they belong to another run"), "{other}");
    let picture = made.path().join("x.svg").display().to_string();
    let text = shown(&["why", &progress, "--timeline", &picture]);
    assert!(text.starts_with("exit 2") && text.contains("--timeline needs the log of a job"), "{text}");
}

/// The reports of a run, with some columns changed.
fn changed(from: &Path, to: &Path, change: impl Fn(&mut Vec<String>)) {
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(from).unwrap()).read_to_string(&mut text).unwrap();
    let line = |(i, line): (usize, &str)| {
        let mut columns: Vec<String> = line.split('\t').map(str::to_owned).collect();
        if i > 0 {
            change(&mut columns);
        }
        columns.join("\t") + "\n"
    };
    std::fs::write(to, text.lines().enumerate().map(line).collect::<String>()).unwrap();
}

/// Differing clocks are reported and taken into account; attempts that are missing from the log are reported and left
/// out.
#[test]
fn reports_and_log_of_a_run_are_matched() {
    let Some(folder) = labelled().map(|folder| folder.join("longtail-4node/skew3")) else { return };
    let mut log = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let log = log.find(|path| path.display().to_string().contains("/app-")).unwrap().display().to_string();
    let made = tempfile::tempdir().unwrap();
    let reports = made.path().join("reports.tsv");
    let with = |change: &dyn Fn(&mut Vec<String>)| {
        changed(&folder.join("progress.tsv.gz"), &reports, change);
        diagnosed(&[&log, reports.to_str().unwrap()])
    };
    let spans = |report: &Value| -> Vec<[f64; 2]> {
        let findings = report["findings"].as_array().unwrap().iter().filter(|finding| finding["method"] == "long-tail");
        findings.map(|finding| ["from", "to"].map(|end| finding[end].as_f64().unwrap())).collect()
    };
    let right = with(&|_| {});
    assert!(!spans(&right).is_empty() && right["warnings"].as_array().unwrap().is_empty(), "{right}");
    for (shift, told) in [(8_000, "s ahead of the clock of the log"), (-10_000, "s behind the clock of the log")] {
        let shifted = with(&|columns| columns[5] = (columns[5].parse::<i64>().unwrap() + shift).to_string());
        let warnings = shifted["warnings"].to_string();
        let (before, _) = warnings.split_once(told).unwrap_or_else(|| panic!("{warnings}"));
        let seconds: f64 = before.trim().rsplit(' ').next().unwrap().parse().unwrap();
        // the last report comes shortly before the end
        assert!((seconds - (shift as f64 / 1e3).abs()).abs() < 0.5, "{warnings}");
        assert_eq!(spans(&shifted), spans(&right));
    }
    let other = with(&|columns| {
        if columns[2] == "3" {
            columns[2] = "103".to_owned();
        }
    });
    let missing = other["missing"].to_string();
    assert!(missing.contains("1 of ") && missing.contains("such as task 103 of stage 1"), "{missing}");
    let none = with(&|columns| columns[1] = "9".to_owned());
    assert!(
        none["missing"].to_string().contains("is in the log; the attempts are compared only with each other"),
        "{none}"
    );
}

#[test]
fn inputs_that_cannot_be_compared_give_no_all_clear() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let [wrong, profile, empty] = [path("wrong.tsv"), path("usual.json"), path("empty")];
    std::fs::write(&wrong, "partition\tt_ms\tprogress\nx\t1\t0.0\nx\t1000\t1.0\n").unwrap();
    let text = shown(&["why", &wrong]);
    assert!(text.starts_with("exit 3") && text.contains("the progress reports are unusable"), "{text}");
    std::fs::create_dir(&empty).unwrap();
    assert!(shown(&["why", &empty]).contains("the inputs contain nothing to explain"));
    let Some(runs) = labelled().map(|folder| folder.join("strace-minimr")) else { return };
    let at = |run: &str| runs.join(run).display().to_string();
    data(&["tool", "profile", "--save-profile", &profile, &at("t_none_1"), &at("t_none_2"), &at("t_none_3")]);
    // a profile of the other form
    let args = [at("c_disk_n3"), "--profile".to_owned(), profile];
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let text = unwrapped(&shown(&[&["why"], &args[..]].concat()));
    assert!(text.contains("There was nothing to compare, so there are no findings"), "{text}");
    assert_eq!(diagnosed(&args)["compared"], false);
}

/// A node with a quarter of its CPU gets few tasks, and these tasks reveal it; if nodes are equal, none is blamed.
#[test]
fn a_node_that_is_slowed_is_named() {
    let Some(folder) = labelled() else { return };
    let slow = |run: &str| -> Vec<String> {
        let report = diagnosed(&[folder.join(run).to_str().unwrap()]);
        found(&report, "slow-node").into_iter().map(|finding| finding.0).collect()
    };
    assert_eq!(slow("phan-4node/c3_nospec"), ["10.77.0.11"]);
    assert!(slow("phan-4node/c2_nospec").contains(&"10.77.0.11".to_owned()));
    for run in ["hist1", "hist2", "hist3", "skew1", "skew3", "skew5"] {
        assert_eq!(slow(&format!("longtail-4node/{run}")), [""; 0], "{run}");
    }
}

/// Both methods see that the keys of a shuffle are skewed, and it counts once.
#[test]
fn two_methods_agree_on_a_skewed_shuffle() {
    let Some(folder) = labelled().map(|folder| folder.join("bigroots-2node/shuffle_skew")) else { return };
    let report = diagnosed(&[folder.to_str().unwrap()]);
    let lag: Vec<String> = found(&report, "long-tail").into_iter().map(|finding| finding.1).collect();
    assert!(
        lag.iter().any(|cause| cause == "shuffle-skew") && !lag.iter().any(|cause| cause == "data-skew"),
        "{lag:?}"
    );
    let advice = report["advice"].as_array().unwrap().iter().filter(|advice| advice["cause"] == "shuffle-skew");
    assert_eq!(advice.count(), 1);
    let twice = folder.join("progress.tsv.gz").display().to_string();
    assert_eq!(report, diagnosed(&[folder.to_str().unwrap(), &twice]), "a file that was met before");
}

/// The faulty node of each run is the one that is reported; without a profile, the logs are listed as missing.
#[test]
fn system_calls_tell_which_node_is_at_fault() {
    let Some(folder) = labelled().map(|folder| folder.join("strace-minimr")) else { return };
    let at = |run: &str| folder.join(run).display().to_string();
    let made = tempfile::tempdir().unwrap();
    let profile = made.path().join("usual.json").display().to_string();
    let controls = ["c_none_1", "c_none_2", "c_none_3", "t_none_1", "t_none_2", "t_none_3"].map(at);
    let mut args = vec!["tool", "profile", "--save-profile", &profile];
    args.extend(controls.iter().map(String::as_str));
    data(&args);
    let method = "syscalls-improved";
    for (run, node, cause) in
        [("c_slowdisk_n3", "n3", "disk"), ("t_slowdisk_n3", "n3", "disk"), ("t_net50_n4", "n4", "network")]
    {
        let report = diagnosed(&[&at(run), "--profile", &profile]);
        assert_eq!(found(&report, method), [(node.to_owned(), cause.to_owned())], "{run}");
        assert_eq!(
            (&report["advice"][0]["remedy"], &report["advice"][0]["nodes"][0]),
            (&"bad-node".into(), &node.into())
        );
    }
    let healthy = unwrapped(&shown(&["why", &at("t_none_5"), "--profile", &profile, "--quiet"]));
    assert!(
        healthy.contains("system calls do not identify a faulty node") && healthy.contains("No findings."),
        "{healthy}"
    );
    let named = format!("slow={}", folder.join("c_slowdisk_n3/n3.c.strace.gz").display());
    let text = unwrapped(&shown(&["why", LOG, &named, "--verbose"]));
    assert!(text.starts_with("exit 0") && text.contains("strace logs were not read"), "{text}");
    assert!(text.contains("--profile usual.json"), "{text}");
}

/// A log of strace with its times moved.
fn moved(text: &str, by_s: f64) -> String {
    let line = |line: &str| {
        let (process, rest) = line.split_once(' ').unwrap();
        let (time, rest) = rest.split_once(' ').unwrap();
        format!("{process} {:.6} {rest}\n", time.parse::<f64>().unwrap() + by_s)
    };
    text.lines().map(line).collect()
}

/// Logs of strace of a run in which the disk of n2 is slow, at the time of the job, and others of another time.
#[test]
fn logs_of_strace_of_another_time_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let logs = |run: u32, fault| MadeRun { tasks: 40, run, fault, ..MadeRun::default() }.logs();
    let mut learn = vec!["tool".to_owned(), "profile".to_owned(), "--save-profile".to_owned(), path("usual.json")];
    for run in 0..3 {
        std::fs::create_dir(path(&format!("control{run}"))).unwrap();
        for (node, text) in logs(run, None) {
            std::fs::write(path(&format!("control{run}/{node}.strace")), text).unwrap();
        }
        learn.push(path(&format!("control{run}")));
    }
    data(&learn.iter().map(String::as_str).collect::<Vec<_>>());
    for (node, text) in logs(8, Some((1, Fault::SlowDisk(20.0)))) {
        let first: f64 = text.split(' ').nth(1).unwrap().parse().unwrap();
        // the job began at 1795176000 and took 24 s
        std::fs::write(path(&format!("{node}.strace")), moved(&text, 1_795_176_002.0 - first)).unwrap();
        std::fs::write(path(&format!("{node}.late.strace")), moved(&text, 1_795_186_002.0 - first)).unwrap();
    }
    let profile = path("usual.json");
    let run = |log: &[&str], names: [&str; 4]| {
        let files = names.map(|name| path(&format!("{name}.strace")));
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        diagnosed(&[log, &files, &["--profile", &profile]].concat())
    };
    let method = "syscalls-improved";
    let slow = vec![("n2".to_owned(), "disk".to_owned())];
    let whole = run(&[LOG], ["n1", "n2", "n3", "n4"]);
    assert_eq!(found(&whole, method), slow, "{whole}");
    // one log of another time is left out, and the others are judged
    let one = run(&[LOG], ["n1.late", "n2", "n3", "n4"]);
    assert_eq!(found(&one, method), slow, "{one}");
    let missing = one["missing"].to_string();
    assert!(missing.contains("n1.late.strace: the calls start at 20"), "{missing}");
    assert!(missing.contains(" UTC, 99") && missing.contains(" s after the log ends; "), "{missing}");
    assert!(!one["used"].to_string().contains("late"), "{one}");
    // all of them: nothing is left to judge
    let none = run(&[LOG], ["n1.late", "n2.late", "n3.late", "n4.late"]);
    assert_eq!((found(&none, method), none["missing"].to_string().matches("another run").count()), (vec![], 4));
    // without a job nobody knows which half is the right one
    let mixed = run(&[], ["n1", "n2", "n3.late", "n4.late"]);
    assert_eq!(found(&mixed, method), vec![]);
    assert!(
        mixed["missing"].to_string().contains("system calls do not identify a faulty node: the log of n"),
        "{mixed}"
    );
    // a node alone is compared with the control runs, in a unit that shows them
    let alone = diagnosed(&[&path("n2.strace"), "--profile", &profile]);
    let finding = &alone["findings"][0];
    assert_eq!((&finding["cause"], finding["evidence"].as_array().unwrap().len()), (&"disk".into(), 1), "{alone}");
    let evidence = &finding["evidence"][0];
    assert!(evidence["what"].as_str().unwrap().ends_with("compared with the control runs"), "{evidence}");
    assert!(evidence["unit"] == "ms" && evidence["usual"].as_f64().unwrap() > 0.1, "{evidence}");
}

/// Totals of CPU time prove nothing: with a job they are a note, alone they are an error.
#[test]
fn calls_that_cannot_be_judged_do_not_end_the_diagnosis_of_a_job() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let calls = "1795176001.5 stat(\"/data/a\", 0) = 0 <0.001>\n";
    let totals = "% time     seconds  usecs/call     calls    errors syscall\n 90.00    0.012000           1     12000           newfstatat\n";
    let [control, cpu, usual] = [path("n1.strace"), path("n2.strace"), path("usual.json")];
    std::fs::write(&control, calls).unwrap();
    std::fs::write(&cpu, totals).unwrap();
    data(&["tool", "profile", &control, "--save-profile", &usual]);
    let beside = diagnosed(&[LOG, &cpu, "--profile", &usual]);
    let missing = beside["missing"].to_string();
    assert!(missing.contains("totals of CPU time") && missing.contains("strace -f -T -ttt"), "{missing}");
    assert!(!beside["findings"].as_array().unwrap().is_empty(), "{beside}");
    let alone = shown(&["why", &cpu, "--profile", &usual]);
    assert!(alone.starts_with("exit 5") && alone.contains("no node can be judged"), "{alone}");
}

/// Labelled runs with slow nodes: `why` names the node at a quarter of its speed even where copies rescued its
/// tasks, start-up and first waves are a remark, and what costs the job most comes first.
#[test]
fn slow_nodes_are_named_though_copies_rescued_their_tasks() {
    let Some(folder) = shared("data/logs/labelled/phan-4node") else { return };
    let slow = [("c2_nospec", true), ("c2_spec15", true), ("c2_specdef", true), ("c3_nospec", true)];
    for (case, is_slow) in [slow.as_slice(), &[("homog1", false), ("homog2", false)]].concat() {
        let files = std::fs::read_dir(folder.join(case)).unwrap().map(|file| file.unwrap().path());
        let log = files
            .into_iter()
            .find(|file| file.extension().is_some_and(|end| end == "gz") && tailspn::trace::is_log(file))
            .unwrap();
        let found = diagnosed(&[log.to_str().unwrap()]);
        let nodes: Vec<String> = found["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|finding| finding["method"] == "slow-node")
            .map(|finding| finding["subject"]["node"].as_str().unwrap().to_owned())
            .collect();
        let expected: &[&str] = if is_slow { &["10.77.0.11"] } else { &[] };
        assert_eq!(nodes, expected, "{case}");
        assert!(found["warm_up"]["start_s"].as_f64().unwrap() > 1.0, "{case}");
        let lost: Vec<f64> = found["advice"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|advice| advice["cause"] != "unknown")
            .map(|advice| advice["job_s"].as_f64().unwrap())
            .collect();
        assert!(lost.is_sorted_by(|a, b| a >= b), "{case}: {lost:?}");
    }
}

#[test]
fn unrecognised_files_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let [garbage, reports] = [path("garbage"), path("reports.tsv")];
    std::fs::write(&garbage, b"\x00\xffnothing = that (is) known\n").unwrap();
    std::fs::write(&reports, "partition\tt_ms\tprogress\n0\t1\t0.0\n0\t1000\t1.0\n").unwrap();
    // alone it is an error; with a log, or in a folder, it is left out with a warning
    let alone = shown(&["why", &garbage]);
    assert!(alone.starts_with("exit 3") && alone.contains("garbage"), "{alone}");
    let beside = unwrapped(&shown(&["why", LOG, &garbage, "--verbose"]));
    assert!(beside.starts_with("exit 0") && beside.contains("skipped (unrecognised files"), "{beside}");
    let text = unwrapped(&shown(&["why", folder.path().to_str().unwrap()]));
    assert!(text.starts_with("exit 0") && text.contains("2 reports on 1 task attempts"), "{text}");
    assert!(text.contains("skipped (unrecognised files, or subfolders): ") && text.contains("garbage"), "{text}");
    let text = shown(&["why", &format!("n1={garbage}")]);
    assert!(text.starts_with("exit 3") && text.contains("is not a strace log"), "{text}");
}
