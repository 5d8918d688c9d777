//! Jobs of stages, as `fit` makes them, in sweeps, sensitivities and searches: whole runs differ there.

use serde_json::Value;

use crate::cli::shown;
use crate::cli_sweep::{Folder, json, number, unbroken};

/// Tasks of 3 s without chance, on one core each; whole runs differ.
fn plan(tasks: u32) -> String {
    format!(
        "notes = [\"made up\"]\n[job]\ninput_mb = 100\nexecutors = 1\ncores = 1\n\
         [run]\nsigma = 0.2\ndegrees_of_freedom = 6\nruns = 3\n\
         [[stage]]\ndistribution = \"deterministic\"\ntasks = {{ fixed = {tasks} }}\ncold = {{ fixed_s = 3 }}\nwarm = {{ fixed_s = 3 }}\n"
    )
}

/// exp(σ √(1 + 1/r) t), with the 95% quantile of Student's t with 6 degrees of freedom from a table.
fn factor_p95() -> f64 {
    (0.2 * (4.0_f64 / 3.0).sqrt() * 1.943_180).exp()
}

const EXECUTORS: &str = "[[axis]]\nkey = \"job.executors\"\nvalues = [1, 2, 3, 4, 6]\n";

#[test]
fn means_are_of_usual_runs_and_quantiles_of_all() {
    let sweep =
        "[sweep]\nbase = \"job.toml\"\nreplications = 100000\n[[axis]]\nkey = \"job.executors\"\nvalues = [2]\n";
    let folder = Folder::new(&[("job.toml", &plan(2)), ("sweep.toml", sweep)]);
    let found = json(&["sweep", &folder.at("sweep.toml"), "--json"]);
    let points = found["points"].as_array().unwrap();
    for (point, usual) in points.iter().zip([6.0, 3.0]) {
        assert!((number(&point["mean_s"]["value"]) - usual).abs() < 1e-6, "{point}");
        let p95 = &point["p95_s"];
        let [value, low, high] = ["value", "low", "high"].map(|end| number(&p95[end]));
        // 5 standard errors, and half of the step between the points that stand for the distribution
        let error = (high - low) / (2.0 * 1.96);
        assert!(error < 0.01 * value, "{p95}");
        assert!((value - usual * factor_p95()).abs() < 5.0 * error + 0.005 * value, "{p95}");
    }
    // a replication has the same factor at every point
    assert!((number(&points[0]["p99_s"]["value"]) / number(&points[1]["p99_s"]["value"]) - 2.0).abs() < 1e-6);
    assert!((number(&points[1]["ratio"]["value"]) - 0.5).abs() < 1e-6, "{}", points[1]);
    let alone = json(&["estimate", &folder.at("job.toml"), "--executors", "2", "--json"]);
    let estimated = alone["quantiles"].as_array().unwrap().iter().find(|quantile| quantile["p"] == 0.95).unwrap();
    let ratio = number(&points[1]["p95_s"]["value"]) / number(&estimated["value_s"]);
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
}

/// Two executors take 18 s in a typical run, which is soon enough, and 28.2 s in one of twenty, which is not.
#[test]
fn a_deadline_is_met_by_runs_that_differ() {
    let search = format!(
        "[sweep]\nbase = \"job.toml\"\n[optimize]\ndeadline_s = 25\nconfidence = 0.99\n{EXECUTORS}faster = \"up\"\n"
    );
    let folder = Folder::new(&[("job.toml", &plan(12)), ("search.toml", &search)]);
    let cheapest = |more: &[&str]| {
        let found = json(&[&["optimize", &folder.at("search.toml"), "--json"], more].concat());
        assert_eq!(found["answer"], "cheapest", "{found}");
        // what it costs by default: its executors
        assert_eq!(found["chosen"]["cost"].as_f64(), found["chosen"]["values"][0].as_f64());
        found["chosen"]["values"][0].as_u64().unwrap()
    };
    assert_eq!((cheapest(&[]), cheapest(&["--measure", "mean"])), (3, 2));
}

#[test]
fn knobs_of_a_job_of_stages_are_ranked_and_constrained() {
    let knobs = "[sweep]\nbase = \"job.toml\"\nreplications = 100\nconstraints = [\"job.executors * job.cores <= 6\"]\n\
                 [[axis]]\nkey = \"job.executors\"\nvalues = [1, 2, 3]\n[[axis]]\nkey = \"job.cores\"\nvalues = [1, 2, 3]\n\
                 [[axis]]\nkey = \"stage[*].warm.fixed_s\"\nname = \"task\"\nvalues = [2, 4]\n";
    let folder = Folder::new(&[("job.toml", &plan(12)), ("knobs.toml", knobs)]);
    let told = shown(&["sweep", &folder.at("knobs.toml")]);
    assert!(unbroken(&told).contains("means are for a typical run, quantiles are over all runs"), "{told}");
    let swept = json(&["sweep", &folder.at("knobs.toml"), "--json", "--quiet"]);
    // the base, and all pairs but 3 x 3 with both tasks
    assert_eq!(swept["points"].as_array().unwrap().len(), 1 + 16);
    let time = |point: &Value| {
        let slots = point["values"][0].as_f64().unwrap_or(1.0) * point["values"][1].as_f64().unwrap_or(1.0);
        // a slot's first task is cold
        3.0 + ((12.0 / slots).ceil() - 1.0) * point["values"][2].as_f64().unwrap_or(3.0)
    };
    for point in swept["points"].as_array().unwrap() {
        assert!((number(&point["mean_s"]["value"]) - time(point)).abs() < 1e-6, "{point}");
    }
    let ranked = json(&["sensitivity", &folder.at("knobs.toml"), "--method", "each", "--measure", "p95", "--json"]);
    assert_eq!(ranked["knobs"][0]["key"], "job.executors", "{ranked}");
}

#[test]
fn sizes_far_outside_the_measured_range_are_noted() {
    let base =
        format!("{}[measured_range]\nmin_input_mb = 50\nmax_input_mb = 100\nmin_slots = 1\nmax_slots = 2\n", plan(12));
    let sweep =
        "[sweep]\nbase = \"job.toml\"\nreplications = 10\n[[axis]]\nkey = \"job.executors\"\nvalues = [2, 8, 40]\n";
    let folder = Folder::new(&[("job.toml", &base), ("sweep.toml", sweep)]);
    // 8 slots are 4 times the measured number, which is not far; a tenth of the logarithm of 20/4 is 0.161
    let note = "In 1 of 4 configurations, the number of slots is outside the measured range, by a factor of up to 20.0; \
                a further standard error of 17% is assumed for the largest.";
    assert_eq!(json(&["sweep", &folder.at("sweep.toml"), "--json"])["notes"], serde_json::json!([note]));
    assert!(unbroken(&shown(&["sweep", &folder.at("sweep.toml")])).contains(note));
}

#[test]
fn wrong_keys_and_values_are_shown_where_they_stand() {
    let sweep = |axis: &str| format!("[sweep]\nbase = \"job.toml\"\n[[axis]]\n{axis}\n");
    for (axis, told) in [
        ("key = \"job.executers\"\nvalues = [1]", "executers"),
        ("key = \"job.executors\"\nvalues = [1, 0]", "point 2 (job.executors = 0)"),
        ("key = \"stage[1].setup_s\"\nvalues = [1]", "no `stage[1]`"),
    ] {
        let folder = Folder::new(&[("job.toml", &plan(2)), ("sweep.toml", &sweep(axis))]);
        let text = unbroken(&shown(&["sweep", &folder.at("sweep.toml")]));
        assert!(text.starts_with("exit 3") && text.contains(told) && text.contains("sweep.toml:"), "{text}");
    }
}
