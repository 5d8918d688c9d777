//! `estimate --deadline` in thin tails: the probability of finishing late, by splitting.

use crate::cli_sweep::{Folder, json};

/// The default job on 8 map slots and 4 reduce slots.
const WAVES: &str = "[[cluster.node]]\ncount = 4\nmap_slots = 2\nreduce_slots = 1\n";

/// A job with slow nodes and copies, for which there is no exact time.
const STRAGGLERS: &str = "[job]\ninput_mb = 640\nreduces = 4\n[[cluster.node]]\ncount = 2\n[stragglers]\nshare = 0.1\nfactor = 3\n[speculation]\nrecall = 0.6\nprecision = 0.8\nlatency = 0.4\n";

fn estimate(plan: &str, options: &[&str]) -> serde_json::Value {
    let files = Folder::new(&[("job.toml", plan)]);
    let path = files.at("job.toml");
    json(&[&["estimate", &path, "--json"], options].concat())
}

/// The distance from an exact probability in standard errors; both errors are relative.
fn distance(late: &serde_json::Value, exact: f64, exact_error: f64) -> f64 {
    let relative = late["relative_error"].as_f64().unwrap();
    assert!(relative < 0.2, "{late}");
    (late["probability"]["value"].as_f64().unwrap() / exact - 1.0) / relative.hypot(exact_error)
}

/// The exact values are those of `net solve` (docs/rare.md).
#[test]
fn a_late_end_has_its_exact_probability() {
    for (deadline, exact) in [("480s", 7.02e-5), ("560s", 4.58e-9)] {
        let found =
            estimate(WAVES, &["--method", "simulate", "--deadline", deadline, "--seed", "3", "--late-effort", "500"]);
        let late = &found["deadline"]["late"];
        // none of 2,000 replications is late, or hardly any: the interval reaches the Clopper-Pearson bound of no late one
        let simulated = &found["deadline"]["simulated"];
        assert!((0.99..0.9995).contains(&simulated["low"].as_f64().unwrap()), "{simulated}");
        assert!(distance(late, exact, 0.001).abs() < 5.0, "{deadline}: {late}");
    }
}

/// At a moderate probability, splitting after 100 replications agrees with many replications.
#[test]
fn a_job_with_stragglers_agrees_with_many_replications() {
    let plain = estimate(STRAGGLERS, &["--reps", "20000", "--deadline", "85s"]);
    let missed = 1.0 - plain["deadline"]["simulated"]["value"].as_f64().unwrap();
    assert!(plain["deadline"]["late"].is_null() && (0.04..0.06).contains(&missed), "{}", plain["deadline"]);
    let few = |threads| {
        estimate(STRAGGLERS, &["--reps", "100", "--deadline", "85s", "--threads", threads, "--late-effort", "500"])
    };
    let found = few("2");
    let late = &found["deadline"]["late"];
    assert!(distance(late, missed, ((1.0 - missed) / missed / 20_000.0).sqrt()).abs() < 5.0, "{missed} {late}");
    assert_eq!(late, &few("1")["deadline"]["late"]);
}

#[test]
fn splitting_runs_only_where_it_helps() {
    // only on request
    let plain = estimate(STRAGGLERS, &["--reps", "100", "--deadline", "85s"]);
    assert!(plain["deadline"]["late"].is_null() && plain["deadline"]["no_late"].is_null(), "{}", plain["deadline"]);
    // the time is known exactly
    let exact = estimate("[model]\nslots = false\n", &["--deadline", "300s", "--late-effort", "500"]);
    assert!(exact["deadline"]["exact"].is_object() && exact["deadline"]["late"].is_null(), "{}", exact["deadline"]);
    // many replications are late
    let early = estimate(STRAGGLERS, &["--reps", "200", "--deadline", "1s", "--late-effort", "500"]);
    assert!(early["deadline"]["late"].is_null(), "{}", early["deadline"]);
    // whole runs differ
    let runs = format!("{STRAGGLERS}[run]\nsigma = 0.1\ndegrees_of_freedom = 4\nruns = 5\n");
    let differ = estimate(&runs, &["--reps", "200", "--deadline", "5000s", "--late-effort", "500"]);
    let why = differ["deadline"]["no_late"].as_str().unwrap();
    assert!(why.contains("spread between whole runs"), "{why}");
}
