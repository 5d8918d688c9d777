//! The stage-graph model against real runs: fitted to small ones, held to larger ones.

use std::path::{Path, PathBuf};

use tailspn::compile::compile;
use tailspn::fit::{ObservedRun, fit_stages, observe};
use tailspn::sim::{Ensemble, Question, run};
use tailspn::stages::{JobTimes, PlannedJob, RunFactor, StagePlan, stage_net};
use tailspn::trace::{ReadOptions, read};
use tailspn::watch::Unwatched;

/// The folder of the runs at growing sizes, beside the checkout or where `TAILSPN_SHARED` says.
fn runs() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let shared = std::env::var_os("TAILSPN_SHARED").map_or_else(beside, PathBuf::from);
    let runs = shared.join("data/logs/spark-scaling");
    if runs.is_dir() {
        return Some(runs);
    }
    assert!(std::env::var_os("TAILSPN_REQUIRE_SHARED").is_none(), "{} is missing", runs.display());
    println!("skipped: no ../shared");
    None
}

/// A run of the table, with its log.
struct Run {
    name: String,
    app: String,
    mb: f64,
    job_s: f64,
    observed: ObservedRun,
}

fn all_runs(folder: &Path) -> Vec<Run> {
    let text = std::fs::read_to_string(folder.join("runs.jsonl")).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let run = |row: serde_json::Value| {
        let log = folder.join(row["log"].as_str().unwrap());
        let trace = read(&log, &ReadOptions::default(), &Unwatched).unwrap();
        let observed = observe(&trace, None).unwrap();
        Run {
            name: row["name"].as_str().unwrap().to_owned(),
            app: row["app"].as_str().unwrap().to_owned(),
            mb: row["input_mb"].as_f64().unwrap(),
            job_s: row["job_s"].as_f64().unwrap(),
            observed,
        }
    };
    rows.map(run).collect()
}

/// The job times of a plan, by simulation of its net.
fn job_times(plan: &StagePlan) -> JobTimes {
    let job = PlannedJob::of(plan);
    let program = compile(&stage_net(&job).unwrap().net).unwrap();
    let ensemble = Ensemble { replications: 1_000, seed: 1, ..Ensemble::default() };
    let found = run(&program, &Question::default(), &ensemble, &Unwatched).unwrap().samples;
    assert_eq!(found.endings[0], 1_000);
    let factor = RunFactor::new(&plan.run, job.error());
    JobTimes::from_histogram(&found.passage_histogram, found.clock.tick(), factor).unwrap()
}

/// Errors and interval hits of a fit to some runs for others.
#[derive(Default)]
struct Score {
    errors: Vec<f64>,
    covered: usize,
}

impl Score {
    fn add(&mut self, runs: &[Run], fit_to: impl Fn(&Run) -> bool, predict: impl Fn(&Run) -> bool) {
        for app in ["wordcount", "sort", "kmeans"] {
            let of_app = || runs.iter().filter(|run| run.app == app);
            let small: Vec<ObservedRun> = of_app().filter(|r| fit_to(r)).map(|r| r.observed.clone()).collect();
            if small.is_empty() {
                continue;
            }
            let fitted = fit_stages(&small).unwrap();
            for run in of_app().filter(|r| predict(r)) {
                let mut plan = fitted.plan.clone();
                plan.job.input_mb = run.mb;
                let times = job_times(&plan);
                let [low, middle, high] = [0.05, 0.5, 0.95].map(|p| times.quantile(p));
                let error = middle / run.job_s - 1.0;
                println!(
                    "| {} | {:.1} | {middle:.1} | {:+.0} % | {low:.1} to {high:.1} |",
                    run.name,
                    run.job_s,
                    100.0 * error
                );
                self.errors.push(error.abs());
                self.covered += usize::from((low..=high).contains(&run.job_s));
            }
        }
    }

    fn mean(&self) -> f64 {
        self.errors.iter().sum::<f64>() / self.errors.len() as f64
    }
}

#[test]
fn small_runs_predict_larger_ones() {
    let Some(folder) = runs() else { return };
    let runs = all_runs(&folder);
    for run in &runs {
        assert!((run.observed.job_s - run.job_s).abs() < 2e-3, "{}", run.name);
        assert!((run.observed.input_mb / run.mb - 1.0).abs() < 1e-3, "{}: {}", run.name, run.observed.input_mb);
    }
    let mut larger = Score::default();
    larger.add(&runs, |run| run.mb <= 64.0, |run| run.mb > 64.0);
    println!(
        "fit on 32 and 64 MB: mean error {:.1} %, {} of {}",
        100.0 * larger.mean(),
        larger.covered,
        larger.errors.len()
    );
    let mut left_out = Score::default();
    for mb in [32.0, 64.0, 128.0, 256.0] {
        left_out.add(&runs, |run| run.mb != mb, |run| run.mb == mb);
    }
    println!(
        "one size left out: mean error {:.1} %, {} of {}",
        100.0 * left_out.mean(),
        left_out.covered,
        left_out.errors.len()
    );
}
