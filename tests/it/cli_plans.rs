//! One job plan for all commands: what each command makes of it.

use crate::cli::shown;
use crate::cli_sweep::{Folder, job, json, number, with_error};

/// Waves of maps and reduces on three equal workers.
const JOB: &str = "[job]\ninput_mb = 2048\nreduces = 16\n[[cluster.node]]\ncount = 3\n[model]\nslots = true\n";

/// The same on two workers and a slower one.
const UNEQUAL: &str = "[job]\ninput_mb = 2048\nreduces = 16\n[[cluster.node]]\ncount = 2\n[[cluster.node]]\nname = \"slow\"\n\
                       cpu_speed = 0.5\ngpu_speed = 0.5\n[model]\nslots = true\n";

const STAGES: &str = "[job]\ninput_mb = 64\nexecutors = 2\ncores = 2\nteardown_s = 1\n[run]\nsigma = 0\ndegrees_of_freedom = 4\nruns = 1\n\
                      [[stage]]\nsetup_s = 0.5\ntasks = { fixed = 12 }\ncold = { fixed_s = 3 }\nwarm = { fixed_s = 2 }\n";

const TASKS: &str = "[[job]]\nmaps = 8\nreduces = 0\n";

/// Mean job times by `estimate`, and by `whatif` without copies, each with its standard error: two simulators, one plan.
fn means(text: &str, replications: &str, folder: &Folder) -> [[f64; 2]; 2] {
    std::fs::write(folder.at("job.toml"), text).unwrap();
    let job = folder.at("job.toml");
    let estimate = json(&["estimate", &job, "--method", "simulate", "--reps", replications, "--json"]);
    let what_if = json(&["whatif", &job, "--reps", replications, "--json"]);
    assert_eq!(what_if["policies"].as_array().unwrap().len(), 4);
    let estimated = estimate.pointer("/job_time/mean").unwrap_or(&estimate["usual_mean"]);
    [estimated, &what_if["policies"][0]["job_time_s"]].map(with_error)
}

#[test]
fn what_if_and_estimate_agree_on_mean_times() {
    let folder = Folder::new(&[]);
    // the same draws for the same tasks
    let [[estimate, _], [what_if, _]] = means(STAGES, "4000", &folder);
    assert!((what_if - estimate).abs() < 1e-6, "{estimate} {what_if}");
    let [[estimate, a], [what_if, b]] = means(JOB, "4000", &folder);
    let error = a.hypot(b);
    assert!((what_if - estimate).abs() < 5.0 * error && error < 0.004 * estimate, "{estimate} {what_if} {error}");
    // workers that differ need the simulation task by task, with the same draws
    let [[estimate, _], [what_if, _]] = means(UNEQUAL, "4000", &folder);
    assert!((what_if - estimate).abs() < 1e-6, "{estimate} {what_if}");
}

/// A plan without a section that decides is the default job with its keys, for every command.
#[test]
fn a_plan_without_a_deciding_section_is_the_default_job() {
    let folder = Folder::new(&[]);
    let [[estimate, a], [what_if, b]] = means("[stragglers]\nshare = 0.2\n", "2000", &folder);
    let error = a.hypot(b);
    assert!((what_if - estimate).abs() < 5.0 * error && error < 0.006 * estimate, "{estimate} {what_if} {error}");
    let [plain, empty] = [
        &["whatif", "--demo", "--reps=20", "--json"][..],
        &["whatif", &folder.at("empty.toml"), "--reps=20", "--json"],
    ]
    .map(|args| {
        std::fs::write(folder.at("empty.toml"), "# nothing\n").unwrap();
        json(args)["policies"].clone()
    });
    assert_eq!(plain, empty);
}

/// Without chance in the tasks, the logarithm of the next run's time is symmetric around that of its median.
#[test]
fn the_next_run_spreads_evenly_around_its_median() {
    let spread = "[run]\nsigma = 0.2\ndegrees_of_freedom = 6\nruns = 3\n";
    let folder = Folder::new(&[("job.toml", &(job("deterministic", 2) + spread))]);
    let next = &json(&["estimate", &folder.at("job.toml"), "--reps", "50", "--json"])["next_run"];
    let [low, high] = [0, 1].map(|end| number(&next["prediction_s"][end]));
    let median = number(&next["median_s"]);
    assert!((median / 45.0 - 1.0).abs() < 0.002 && (low * high / median.powi(2) - 1.0).abs() < 0.02, "{next}");
    // 90% of the runs lie between the ends, so that 5% are longer
    let p95 = next["quantiles"].as_array().unwrap().iter().find(|row| row["p"] == 0.95).unwrap();
    assert_eq!(number(&p95["value_s"]).to_bits(), high.to_bits());
}

#[test]
fn a_plan_of_tasks_is_refused_by_commands_that_need_a_net() {
    let folder = Folder::new(&[
        ("job.toml", TASKS),
        ("sweep.toml", "[sweep]\nbase = \"job.toml\"\n[[axis]]\nkey = \"a\"\nvalues = [1]\n"),
    ]);
    let job = folder.at("job.toml");
    for args in [
        vec!["estimate", &job],
        vec!["net", "spn-gc", &job, "--save-net", "-"],
        vec!["study", &folder.at("sweep.toml")],
    ] {
        let text = shown(&args);
        let flat = text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(
            text.starts_with("exit 3")
                && flat.contains("a plan of `[[job]]`, ")
                && flat.contains("simulated task by task"),
            "{text}"
        );
        assert!(flat.contains("use `tailspn whatif PLAN`"), "{text}");
    }
}
