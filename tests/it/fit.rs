//! The stage-graph model compared with real runs: fitted to small ones, validated against larger ones.

use std::path::{Path, PathBuf};

use tailspn::compile::compile;
use tailspn::fit::{ObservedRun, fit_stages, observe};
use tailspn::mapreduce::PhaseLaw;
use tailspn::sim::{Ensemble, Question, run};
use tailspn::stages::{JobTimes, PlannedJob, PlannedStage, RunFactor, StagePlan, Wave, stage_net};
use tailspn::trace::{ReadOptions, read};
use tailspn::watch::Unwatched;

use crate::shared::shared;

/// The folder of the runs at growing sizes.
fn runs() -> Option<PathBuf> {
    shared("data/logs/spark-scaling")
}

/// A run of the table, with its log.
struct Run {
    name: String,
    app: String,
    mb: u32,
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
            mb: u32::try_from(row["input_mb"].as_u64().unwrap()).unwrap(),
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

/// Largest mean error of a fit to 32 and 64 MB for 128 and 256 MB.
const LARGER_ERROR: f64 = 0.12;
/// Largest mean error for the runs of a size that was left out.
const LEFT_OUT_ERROR: f64 = 0.16;

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
                plan.job.input_mb = run.mb.into();
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

    fn tell(&self, what: &str) {
        println!(
            "{what}: mean error {:.1} %, {} of {} in the interval",
            100.0 * self.mean(),
            self.covered,
            self.errors.len()
        );
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
        assert!(
            (run.observed.input_mb / f64::from(run.mb) - 1.0).abs() < 1e-3,
            "{}: {}",
            run.name,
            run.observed.input_mb
        );
    }
    let mut larger = Score::default();
    larger.add(&runs, |run| run.mb <= 64, |run| run.mb > 64);
    larger.tell("fit to 32 and 64 MB");
    let mut left_out = Score::default();
    for mb in [32, 64, 128, 256] {
        left_out.add(&runs, |run| run.mb != mb, |run| run.mb == mb);
    }
    left_out.tell("one size left out");
    // as achieved, with some room; what explains them is in docs/validation.md
    assert!(larger.mean() < LARGER_ERROR && larger.covered == larger.errors.len());
    assert!(left_out.mean() < LEFT_OUT_ERROR && left_out.covered + 1 >= left_out.errors.len());
}

/// The simulated mean time of a job of one stage without a set-up.
fn simulated(slots: u32, waves: &[(u32, f64)], law: PhaseLaw, end_s: f64) -> tailspn::estimate::Estimate {
    let waves = waves.iter().map(|&(tasks, mean_s)| Wave { tasks, mean_s, ..Wave::default() }).collect();
    let (name, after) = (String::new(), vec![]);
    let stage = PlannedStage { name, after, setup_s: 0.0, task_mb: 0.0, waves, law, slow: None, gpu: 0.0 };
    let job = PlannedJob { name: "job".into(), slots, stages: vec![stage], end_s, ..PlannedJob::default() };
    let program = compile(&stage_net(&job).unwrap().net).unwrap();
    let ensemble = Ensemble { replications: 100_000, seed: 5, ..Ensemble::default() };
    let samples = run(&program, &Question::default(), &ensemble, &Unwatched).unwrap().samples;
    samples.passage.mean_estimate(0.95).unwrap().scaled(samples.clock.tick())
}

#[test]
fn cold_tasks_go_first_and_slots_are_waited_for() {
    // three slots: cold until 2, then three until 3, the last two until 4
    let time = simulated(3, &[(3, 2.0), (5, 1.0)], PhaseLaw::Deterministic, 0.0);
    assert!((time.value - 4.0).abs() < 1e-6, "{}", time.value);
}

#[test]
fn exponential_tasks_end_as_the_harmonic_sum_says() {
    // on four slots the largest of four; on two slots, two are served until one is left
    let four = simulated(4, &[(4, 1.0)], PhaseLaw::Exponential, 0.0);
    assert!((four.value - 25.0 / 12.0).abs() < 2.6 * four.half_width, "{}", four.value);
    let two = simulated(2, &[(2, 1.0), (2, 1.0)], PhaseLaw::Exponential, 0.5);
    assert!((two.value - (0.5 * 3.0 + 1.0 + 0.5)).abs() < 2.6 * two.half_width, "{}", two.value);
}
