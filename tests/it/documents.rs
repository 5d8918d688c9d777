//! A result says the same in every form: what limits it cannot get lost between text, Markdown, page and notes.

use std::collections::BTreeSet;

use tailspn::report::{CsvText, KINDS, Look, document_csv, document_text, markdown, read_json};

use crate::cli::{data, shown, without_next};

/// Text without line breaks, markup and escapes.
fn words(text: &str) -> String {
    let mut inside = false;
    let letters = text.chars().filter(|&letter| {
        let shown = !inside && letter != '<' && letter != '\\';
        inside = (inside || letter == '<') && letter != '>';
        shown
    });
    letters.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The page of a result in JSON.
fn page(json: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("result.json"), json).unwrap();
    data(&[&at("result.json"), "--html", &at("page.html")]);
    std::fs::read_to_string(at("page.html")).unwrap()
}

/// Runs that were cut off by the number of their firings may still reach the goal: here, all of them do. So the interval of the
/// probability contains 1 in every form, and every form states that the times are those of the faster runs.
#[test]
fn a_probability_of_runs_that_were_cut_off_is_a_lower_bound_everywhere() {
    let args =
        ["net", "simulate", "models/textbook/forkjoin_retry.xml", "--reps=400", "--max-firings=6", "--method=simulate"];
    let with = |more: &[&str]| data(&[&args[..], more].concat());
    let forms = [with(&[]), with(&["--markdown"]), page(&with(&["--json", "--quiet"]))];
    for text in forms.map(|text| words(&text)) {
        assert!(text.contains("The goal is reached within 6 firings in 67.2% of the runs, and without"), "{text}");
        assert!(text.contains(" to 100% of them (90% CI)"), "{text}");
        assert!(text.contains("is a lower bound of its probability"), "{text}");
        assert!(text.contains("% of the runs that reach the goal within 6 firings take less than"), "{text}");
        assert!(text.contains(", of the runs that reach it within 6 firings"), "{text}");
    }
    let json: serde_json::Value = serde_json::from_str(&with(&["--json", "--quiet"])).unwrap();
    let share = &json["goal_probability"];
    assert!(share["high"] == 1.0 && share["low"].as_f64() < share["value"].as_f64(), "{share}");
    let csv = with(&["--csv", "--quiet"]);
    assert!(csv.contains(&format!("goal_probability,,,{},{},1,0.9,400", share["value"], share["low"])), "{csv}");
    let cut = json["endings"]["max_firings"].as_u64().unwrap();
    assert!(cut > 100 && csv.contains(&format!("cut_off_replications,,,{cut},,,,")), "{csv}");
    for form in ["--json", "--csv"] {
        let text = shown(&[&args[..], &[form]].concat());
        assert!(text.split("--- stderr").nth(1).unwrap().contains("is a lower bound"), "{text}");
    }
}

/// The plan of a job without a closed form says so in every form.
#[test]
fn a_missing_closed_form_is_reported_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("slots.toml");
    std::fs::write(&path, "[model]\nslots = true\n").unwrap();
    let args = ["estimate", path.to_str().unwrap(), "--reps=200"];
    let with = |more: &[&str]| data(&[&args[..], more].concat());
    for text in [with(&["-v"]), with(&["--markdown"]), page(&with(&["--json", "--quiet"]))].map(|text| words(&text)) {
        assert!(text.contains("There is no closed form"), "{text}");
    }
}

/// In long CSV, a value lies between the ends of its interval; either end may be open.
fn intervals_hold_their_values(csv: &str) {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let at = |headers: &csv::StringRecord, key: &str| headers.iter().position(|header| header == key);
    let headers = reader.headers().unwrap().clone();
    let [Some(value), Some(low), Some(high)] = ["value", "low", "high"].map(|key| at(&headers, key)) else { return };
    for row in reader.records().map(Result::unwrap) {
        let [value, low, high] = [value, low, high].map(|at| row[at].parse::<f64>().ok());
        assert!(low.is_none_or(|low| Some(low) <= value), "{row:?}");
        assert!(high.is_none_or(|high| value <= Some(high)), "{row:?}");
    }
}

/// The log lacks the times of tasks that a copy finished, so without successful copies the job takes at least so long. All forms say so.
#[test]
fn job_times_without_the_copies_of_a_log_are_lower_bounds() {
    let with = |more: &[&str]| {
        data(
            &[&["whatif", "tests/data/trace/speculation.spark.gz", "--reps", "40", "--policies", "all"], more].concat(),
        )
    };
    let json = with(&["--json", "--quiet"]);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let policies = value["policies"].as_array().unwrap();
    // the end that is known is a bound if no replication varies, otherwise the end of an interval
    let is_bound = |time: &serde_json::Value| {
        let bounds = time["exact"] == true && time["bounds"][0] == time["value"] && time["bounds"][1].is_null();
        bounds || (time["low"].is_number() && time["high"].is_null())
    };
    let bounded: Vec<_> = policies.iter().filter(|policy| is_bound(&policy["job_time_s"])).collect();
    assert!(bounded.len() > 1 && bounded[0]["name"] == "none", "{bounded:?}");
    // no replication of the log's time without copies is complete, so no time of that length is known
    for policy in policies {
        let times = policy["tails"].as_array().unwrap().iter().chain([&policy["job_time_s"]]);
        for time in times.filter(|time| time["value"].as_f64() >= Some(57.866)) {
            assert!(is_bound(time), "{policy}");
        }
        // whatever a longer task does to a job with copies, it does to the job without
        let change = &policy["job_time_change"]["difference"];
        let upper = (change["high"].is_number() && change["low"].is_null()) || change["bounds"][0].is_null();
        assert!(policy["name"] == "none" || upper, "{change}");
    }
    let csv = with(&["--csv", "--quiet"]);
    assert!(csv.contains("job_time,none,s,57.866,57.866,,"), "{csv}");
    for text in [with(&["-v"]), with(&["--markdown"]), page(&json)].map(|form| words(&form)) {
        assert!(text.contains("the replay without copies takes ≥ 57.866 s"), "{text}");
        assert!(text.matches("≥ 57.866").count() > bounded.len(), "{text}");
    }
}

/// Every kind that is read has text, Markdown, JSON and CSV.
#[test]
fn every_kind_has_every_form() {
    let (folder, syscalls) = (tempfile::tempdir().unwrap(), crate::cli_syscalls::prepared());
    let at = |name: &str| folder.path().join(name).display().to_string();
    let run_of = |name: &str| syscalls.path().join(name).display().to_string();
    std::fs::write(at("history.tsv"), crate::cli_watch::reports(70)).unwrap();
    let cut = crate::remaining::Log::read(std::path::Path::new("tests/data/trace/sort-64mb.spark.gz")).cut(0.6).text;
    std::fs::write(at("app.inprogress"), cut).unwrap();
    let axis = "[[axis]]\nkey = \"job.reduces\"\nvalues = [20, 80]\n";
    std::fs::write(at("sweep.toml"), format!("[sweep]\nreplications = 20\n{axis}")).unwrap();
    let (net, log) = ("models/textbook/mm1k.xml", "tests/data/trace/sort-32mb.spark.gz");
    data(&["tool", "fit", log, "--save-plan", &at("stages.toml")]);
    let results: [&[&str]; 31] = [
        &["net", "check", net],
        &["tool", "devices"],
        &["net", "simulate", net, "--horizon=5", "--reps=50", "--tokens", "--method=simulate"],
        &["net", "simulate", net, "--steady", "--tokens", "--method=exact"],
        &["net", "solve", net],
        &["net", "solve", net, "--untimed", "--ctl", "AG EF (#(queue) > 0)"],
        &["net", "query", net, "S=? [ #(queue) = 0 ]"],
        &["net", "rare", net, "--until=#(queue) >= 4", "--within=5", "--effort=50"],
        &["net", "structure", net],
        &["estimate", "models/mapreduce/all-at-once.toml", "--method=exact"],
        &["estimate", &at("stages.toml"), "--reps=50"],
        &["estimate", &at("stages.toml"), "--reps=50", "--executors=1..3", "--deadline=20min"],
        &["estimate", "models/tutorial/runs.tsv", "--input-size=1x,2x", "--deadline=1min"],
        &["whatif", "--demo", "--reps=3"],
        &["whatif", "tests/data/trace/speculation.spark.gz", "--reps=5"],
        &["tool", "detectors"],
        &["tool", "detectors", "--on", "tests/data/trace/speculation.spark.gz"],
        &["study", &at("sweep.toml")],
        &["study", "--method=derivatives", "models/tutorial/knobs.toml", "--reps=50"],
        &["study", "models/mapreduce/deadline.toml"],
        &["estimate", &at("app.inprogress")],
        &["why", log],
        &["why", log, "tests/data/trace/sort-64mb.spark.gz"],
        &["why", log, "tests/data/trace/sort-64mb.spark.gz", "tests/data/trace/speculation.spark.gz"],
        &["tool", "fit", log],
        &["tool", "fit", "tests/data/trace/plain-unions.jhist", "tests/data/trace/count_conf.xml"],
        &["watch", "--learn", &at("history.tsv")],
        &["why", &run_of("slow"), "--method=improved", "--profile", &run_of("usual.json")],
        &["tool", "bench", "--seconds=20ms"],
        &["net", "simulate", net, "--horizon=5", "--method=exact", "--at=2:#(queue)"],
        &["estimate", "tests/data/jobs3/fit-two-kinds-of-tasks.log.gz", "--executors=1,2"],
    ];
    let mut seen = BTreeSet::new();
    for args in results {
        let json = data(&[args, &["--json"]].concat());
        let found = read_json(&json).unwrap();
        assert_eq!(without_next(&found.json().unwrap()), without_next(&json), "{args:?}");
        let document = found.document();
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        seen.insert(found.kind());
        intervals_hold_their_values(&document_csv(&document, CsvText::AsIs).unwrap());
        assert!(!document_text(&document, &Look::default()).is_empty());
        let marked = markdown(&document, &Look::default());
        assert!(marked.starts_with("## "));
        for name in value["detectors"].as_array().into_iter().flatten().map(|row| row["name"].as_str().unwrap()) {
            assert!(marked.replace('\\', "").contains(&format!("| {name} |")), "{name}: {marked}");
        }
        for width in [60, 80, 120] {
            let text = document_text(&document, &Look { width, ..Look::default() });
            let wide = text.lines().find(|line| line.chars().count() > width && line.split_whitespace().count() > 2);
            assert!(wide.is_none(), "{args:?}, {width}: {wide:?}");
        }
    }
    assert_eq!(seen, BTreeSet::from_iter(KINDS.iter().copied()));
}
