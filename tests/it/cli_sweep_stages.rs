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
    let found = json(&["study", &folder.at("sweep.toml"), "--json"]);
    let points = found["points"].as_array().unwrap();
    for (point, usual) in points.iter().zip([6.0, 3.0]) {
        assert!((number(&point["mean_s"]["value"]) - usual).abs() < 1e-6, "{point}");
        let p95 = &point["p95_s"];
        let [value, low, high] = ["value", "low", "high"].map(|end| number(&p95[end]));
        let error = (high - low) / (2.0 * 1.645);
        assert!(error < 0.01 * value, "{p95}");
        // the bucket of the histogram is 2^-12 wide
        assert!((value - usual * factor_p95()).abs() < 5.0 * error + 2.5e-4 * value, "{p95}");
    }
    // a replication has the same factor at every point
    assert!((number(&points[0]["p99_s"]["value"]) / number(&points[1]["p99_s"]["value"]) - 2.0).abs() < 1e-6);
    assert!((number(&points[1]["ratio"]["value"]) - 0.5).abs() < 1e-6, "{}", points[1]);
    let alone = json(&["estimate", &folder.at("job.toml"), "--executors", "2", "--json"]);
    let estimated = alone["quantiles"].as_array().unwrap().iter().find(|quantile| quantile["p"] == 0.95).unwrap();
    // the tasks do not vary, so the estimate is exact
    let exact = 3.0 * factor_p95();
    assert!((number(&estimated["value_s"]) / exact - 1.0).abs() < 1e-4, "{estimated} {exact}");
}

/// Two executors take 18 s in a typical run, which is soon enough, and 28.2 s in one of twenty, which is not.
#[test]
fn a_deadline_is_met_by_runs_that_differ() {
    let search = format!(
        "[sweep]\nbase = \"job.toml\"\n[optimize]\ndeadline_s = 25\nconfidence = 0.99\n{EXECUTORS}faster = \"up\"\n"
    );
    let folder = Folder::new(&[("job.toml", &plan(12)), ("search.toml", &search)]);
    let cheapest = |more: &[&str]| {
        let found = json(&[&["study", &folder.at("search.toml"), "--json"], more].concat());
        assert_eq!(found["answer"]["found"], "cheapest", "{found}");
        let chosen = &found["rows"][found["answer"]["row"].as_u64().unwrap() as usize];
        // what it costs by default: its executors
        let executors = &chosen["set"]["job.executors"];
        assert_eq!(chosen["cost"]["value"].as_f64(), executors.as_f64());
        executors.as_u64().unwrap()
    };
    assert_eq!((cheapest(&[]), cheapest(&["--measure", "mean"])), (3, 2));
}

#[test]
fn knobs_of_a_job_of_stages_are_ranked_and_constrained() {
    let knobs = "[sweep]\nbase = \"job.toml\"\nreplications = 100\nconstraints = [\"job.executors * job.cores <= 6\"]\n\
                 [[axis]]\nkey = \"job.executors\"\nvalues = [1, 2, 3]\n[[axis]]\nkey = \"job.cores\"\nvalues = [1, 2, 3]\n\
                 [[axis]]\nkey = \"stage[*].warm.fixed_s\"\nname = \"task\"\nvalues = [2, 4]\n";
    let folder = Folder::new(&[("job.toml", &plan(12)), ("knobs.toml", knobs)]);
    let told = shown(&["study", &folder.at("knobs.toml")]);
    assert!(unbroken(&told).contains("means are for a typical run, quantiles are over all runs"), "{told}");
    let swept = json(&["study", &folder.at("knobs.toml"), "--json", "--quiet"]);
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
    let ranked = json(&["study", &folder.at("knobs.toml"), "--method", "each", "--measure", "p95", "--json"]);
    assert_eq!(ranked["knobs"][0]["key"], "job.executors", "{ranked}");
}

/// Copies, stragglers and shared GPUs have no net. A point of a sweep has the same replications as `estimate`, and both have the
/// means of closed forms where there are any.
#[test]
fn jobs_without_a_net_are_swept_as_estimate_runs_them() {
    let of = |section: &str, stage: &str| {
        format!(
            "[job]\ninput_mb = 100\nexecutors = 4\ncores = 1\n{section}[[stage]]\n{stage}tasks = {{ fixed = 4 }}\n\
             cold = {{ fixed_s = 3 }}\nwarm = {{ fixed_s = 3 }}\n"
        )
    };
    let steady = "distribution = \"deterministic\"\n";
    let gpus = "gpus_per_executor = 1\nconcurrent_gpu_tasks = 1\n";
    let stragglers = "[stragglers]\nshare = 0.1\n";
    // one of four tasks is a straggler and takes 9 s
    let slow = 3.0 + 6.0 * (1.0 - 0.9_f64.powi(4));
    for (section, stage, closed_form, engine) in [
        ("[speculation]\nmultiplier = 1.5\nquantile = 0.5\n", "", None, "copies"),
        (&format!("{stragglers}[speculation]\nquantile = 0.5\n"), steady, None, "copies"),
        (stragglers, steady, Some(slow), "tasks"),
        // on one executor, tasks hold the GPU one after the other, 1.5 s each
        (&format!("{gpus}{stragglers}"), &format!("{steady}gpu = 0.5\n"), Some(slow), "tasks"),
        (&format!("hosts = 1\n{gpus}"), "gpu = 0.5\n", None, "tasks"),
    ] {
        let sweep =
            "[sweep]\nbase = \"job.toml\"\nreplications = 5000\n[[axis]]\nkey = \"job.executors\"\nvalues = [4, 2]\n";
        let folder = Folder::new(&[("job.toml", &of(section, stage)), ("sweep.toml", sweep)]);
        let found = json(&["study", &folder.at("sweep.toml"), "--json"]);
        let points = &found["points"];
        assert_eq!(points[1]["engine"], engine, "{section}: {points}");
        assert_eq!(points[1]["mean_s"], points[0]["mean_s"], "{section}");
        for (point, executors) in [(1, "4"), (2, "2")] {
            let args = ["estimate", &folder.at("job.toml"), "--executors", executors, "--reps=5000", "--json"];
            let alone = json(&args);
            let key = if alone["speculation"].is_null() { "/usual_mean" } else { "/speculation/with_s" };
            let mean = |value: &Value| number(&value["value"]);
            let estimated = alone.pointer(key).unwrap();
            let gap = mean(estimated) - mean(&points[point]["mean_s"]);
            assert!(gap.abs() < 1e-5, "{section}: {estimated} {}", points[point]["mean_s"]);
        }
        if let Some(exact) = closed_form {
            let mean = &points[1]["mean_s"];
            let error = (number(&mean["high"]) - number(&mean["low"])) / (2.0 * 1.645);
            assert!((number(&mean["value"]) - exact).abs() < 5.0 * error, "{section}: {mean} {exact}");
        }
    }
}

/// The mean is 3 + 6 (1 − (1 − share)⁴) s; its derivative is 24 (1 − share)³ s.
#[test]
fn the_effect_of_stragglers_is_that_of_the_formula() {
    let job =
        plan(4).replace("executors = 1", "executors = 4").replace("[[stage]]", "[stragglers]\nshare = 0.1\n[[stage]]");
    let knobs = "[sweep]\nbase = \"job.toml\"\n[[axis]]\nkey = \"stragglers.share\"\nfrom = 0.0\nto = 0.2\n";
    let folder = Folder::new(&[("job.toml", &job), ("knobs.toml", knobs)]);
    for (method, key, exact) in
        [("derivatives", "per_unit_s", 24.0 * 0.9_f64.powi(3)), ("each", "change_s", 6.0 * (1.0 - 0.8_f64.powi(4)))]
    {
        let found = json(&["study", &folder.at("knobs.toml"), "--method", method, "--reps=40000", "--json"]);
        let effect = &found["knobs"][0]["effect"][key];
        let error = (number(&effect["high"]) - number(&effect["low"])) / (2.0 * 1.645);
        assert!(error < 0.05 * exact, "{method}: {found}");
        assert!((number(&effect["value"]) - exact).abs() < 5.0 * error, "{method}: {effect} {exact}");
    }
}

/// Points with and without stragglers have the same random numbers, although only the latter have a net.
#[test]
fn a_share_of_0_changes_nothing() {
    let job = plan(12).replace("\"deterministic\"", "\"exponential\"");
    let sweep =
        "[sweep]\nbase = \"job.toml\"\nreplications = 500\n[[axis]]\nkey = \"stragglers.share\"\nvalues = [0.0, 0.2]\n";
    let folder = Folder::new(&[("job.toml", &job), ("sweep.toml", sweep)]);
    let found = json(&["study", &folder.at("sweep.toml"), "--json"]);
    assert_eq!(found["points"][1]["difference_s"]["value"], 0.0, "{found}");
    assert_eq!(found["points"][1]["mean_s"], found["points"][0]["mean_s"]);
    assert!(number(&found["points"][2]["difference_s"]["low"]) > 0.0);
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
    assert_eq!(json(&["study", &folder.at("sweep.toml"), "--json"])["notes"], serde_json::json!([note]));
    assert!(unbroken(&shown(&["study", &folder.at("sweep.toml")])).contains(note));
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
        let text = unbroken(&shown(&["study", &folder.at("sweep.toml")]));
        assert!(text.starts_with("exit 3") && text.contains(told) && text.contains("sweep.toml:"), "{text}");
    }
}
