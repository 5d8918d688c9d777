//! The time left of a running application, as `estimate` and `watch` show it: logs that are cut, logs that grow, and what cannot be answered.

use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::Stdio;

use tailspn::report::{AnyReport, Report as _, read_json};

use crate::cli::{assert_shown, data, show, shown, tool, without_next};
use crate::remaining::Log;

const SMALL: &str = "tests/data/trace/sort-32mb.spark.gz";
const LARGER: &str = "tests/data/trace/sort-64mb.spark.gz";

/// A folder with the plan of the smaller run, and the larger run cut at 60% of its time in the middle of a line.
fn made() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml");
    data(&["tool", "fit", SMALL, "--save-plan", plan.to_str().unwrap(), "--quiet"]);
    let cut = Log::read(Path::new(LARGER)).cut(0.6);
    std::fs::write(folder.path().join("app.inprogress"), cut.text + &cut.rest[..100]).unwrap();
    folder
}

#[test]
fn predicts_the_remaining_time_of_a_running_job() {
    let folder = made();
    let run = |more: &[&str]| {
        let args = [&["estimate", "app.inprogress", "--reps", "500"], more].concat();
        show(&tool(&args).current_dir(folder.path()).output().unwrap())
    };
    assert_shown!(run(&["plan.toml", "--deadline", "8s"]));
    assert_shown!(run(&["plan.toml", "--deadline", "8s", "--csv", "--level", "0.5"]));
    assert_shown!(run(&[]));
    // the log of another run gives the plan that `fit` makes of it
    let small = std::fs::canonicalize(SMALL).unwrap();
    let plan_of = |plan: &str| without_next(&run(&[plan, "--json", "--quiet"]));
    assert_eq!(plan_of(small.to_str().unwrap()), plan_of("plan.toml").replace(SMALL, small.to_str().unwrap()));
    // the state of the log, not its file name, is what counts; the larger input makes it longer
    let larger = run(&["plan.toml", "--input-size", "640M", "--json"]);
    assert!(larger.contains("\"kind\": \"remaining\"") && !larger.contains("by the 4 tasks"), "{larger}");
    // tasks that were seen last years ago are overdue
    let now = run(&["plan.toml", "--now", "--deadline", "8s"]);
    assert!(now.replace('\n', " ").contains(" It has missed the deadline of 8.00 s ("), "{now}");
}

#[test]
fn json_is_read_back_and_is_the_same_on_any_number_of_threads() {
    let folder = made();
    let run = |threads: &str| {
        let args = ["estimate", "app.inprogress", "plan.toml", "--deadline", "8s", "--json", "--threads", threads];
        String::from_utf8(tool(&args).current_dir(folder.path()).output().unwrap().stdout).unwrap()
    };
    let one = run("1");
    assert_eq!(one, run("3"));
    let AnyReport::Remaining(report) = read_json(&one).unwrap() else { panic!("{one}") };
    assert_eq!(without_next(&report.json().unwrap()), without_next(&one));
    // every number of the document is where it says
    let json: serde_json::Value = serde_json::from_str(&one).unwrap();
    let document = report.document();
    let cells = document.tables().flat_map(|table| table.rows.iter().flatten());
    let numbers: Vec<_> = cells
        .filter_map(|cell| if let tailspn::report::Cell::Number(number) = cell { Some(number.clone()) } else { None })
        .collect();
    assert!(numbers.len() > 15, "{}", numbers.len());
    for number in numbers {
        let at = json.pointer(&number.at).unwrap_or_else(|| panic!("{}", number.at));
        let value = at.get("value").unwrap_or(at).as_f64().unwrap();
        assert_eq!(value.to_bits(), number.measured.value.to_bits(), "{}", number.at);
    }
}

#[test]
fn a_run_that_has_ended_is_done() {
    assert_shown!(shown(&["watch", LARGER, "--deadline", "1s"]));
    let lines = data(&["watch", LARGER, "--json", "--quiet"]);
    assert_eq!(lines.lines().count(), 1, "{lines}");
    let json: serde_json::Value = serde_json::from_str(&lines).unwrap();
    assert_eq!((json["basis"].as_str(), json["median_s"].as_f64()), (Some("ended"), Some(0.0)));
}

#[test]
fn logs_without_a_prediction_are_refused() {
    let folder = made();
    let run = |args: &[&str]| {
        let all = [&["estimate"], args].concat();
        show(&tool(&all).current_dir(folder.path()).output().unwrap())
    };
    let early = Log::read(Path::new(LARGER)).cut(0.01);
    std::fs::write(folder.path().join("early.inprogress"), early.text).unwrap();
    assert_shown!(run(&["early.inprogress"]));
    assert!(run(&["early.inprogress", "plan.toml"]).starts_with("exit 0"));
    assert_shown!(run(&["app.inprogress", "app.inprogress"]));
    std::fs::write(folder.path().join("empty.inprogress"), "").unwrap();
    assert!(run(&["empty.inprogress"]).starts_with("exit 3"));
    assert!(run(&["none.inprogress"]).starts_with("exit 7"));
    assert!(run(&["app.inprogress", "--input-size", "1G"]).starts_with("exit 2"));
    for option in ["--executors=4", "--executors=1..4", "--save-net=net.xml", "--stragglers=0.1:2"] {
        let text = run(&["app.inprogress", "plan.toml", option]);
        assert!(text.starts_with("exit 2") && text.contains("does not apply to a run in progress"), "{text}");
    }
    assert!(run(&["plan.toml", "--now"]).starts_with("exit 2"));
    // the plan of another program
    let text = std::fs::read_to_string(folder.path().join("plan.toml")).unwrap();
    std::fs::write(folder.path().join("other.toml"), text.replace("name = \"save at", "name = \"count at")).unwrap();
    assert_shown!(run(&["app.inprogress", "other.toml"]));
}

/// Forecasts are lines; the last line says how many of them contained the end.
#[test]
fn forecasts_are_lines_until_the_application_ends() {
    let folder = made();
    let (log, ended) = (folder.path().join("app.inprogress"), folder.path().join("app"));
    let args = ["watch", "app.inprogress", "plan.toml", "--reps", "200", "--deadline", "1h", "--deadline", "00:00"];
    let mut child =
        tool(&args).current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut next = || lines.next().unwrap_or_default();
    let started = next();
    assert!(started.starts_with("job started ") && started.contains(" UTC; stage"), "{started}");
    assert!(next().starts_with("Reproduced: "));
    let forecast = loop {
        let line = next();
        if !line.contains("  slow: ") {
            break line;
        }
    };
    assert!(forecast.contains(" left (90%: ") && forecast.contains(", within 60 min more than 99%"), "{forecast}");
    let rest = Log::read(Path::new(LARGER)).cut(0.6).rest;
    let mut file = std::fs::OpenOptions::new().append(true).open(&log).unwrap();
    file.write_all(&rest.as_bytes()[100..]).unwrap();
    drop(file);
    std::fs::rename(&log, &ended).unwrap();
    let end = next();
    assert!(end.contains("  finished after ") && end.contains(" of 1 forecast contained the end"), "{end}");
    assert_eq!([next(), next(), next()], ["", "Next", "  tailspn why app   what each cause cost"]);
    assert!(child.wait().unwrap().success());
}

/// A log that grows is answered again, and under its new name when the application ends.
#[test]
fn follows_a_log_until_the_application_ends() {
    let folder = made();
    let (log, ended) = (folder.path().join("app.inprogress"), folder.path().join("app"));
    let args = ["watch", "app.inprogress", "plan.toml", "--json", "--reps", "200"];
    let mut child =
        tool(&args).current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first: serde_json::Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!((first["kind"].as_str(), first["basis"].as_str()), (Some("remaining"), Some("plan")));
    assert!(first["median_s"].as_f64().unwrap() > 0.0);
    let rest = Log::read(Path::new(LARGER)).cut(0.6).rest;
    let mut file = std::fs::OpenOptions::new().append(true).open(&log).unwrap();
    file.write_all(&rest.as_bytes()[100..]).unwrap();
    drop(file);
    std::fs::rename(&log, &ended).unwrap();
    let last: serde_json::Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(last["basis"].as_str(), Some("ended"));
    assert!(lines.next().is_none());
    assert!(child.wait().unwrap().success());
}
