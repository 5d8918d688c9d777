//! The stage-graph model compared with real runs on other clusters: each configuration (program, input, executors) is
//! predicted by a fit to the runs of all other configurations, and so are linear regression and Ernest's formula
//! \[Venkataraman2016\] on the same runs.

use std::path::Path;

use tailspn::compile::compile;
use tailspn::fit::{ObservedRun, fit_stages_alongside, observe};
use tailspn::job_time::estimate_stages;
use tailspn::report::stages_report;
use tailspn::sim::{Ensemble, Question, run};
use tailspn::stages::{JobTimes, PlannedJob, RunFactor, SpeculativeCopies, StagePlan, stage_net};
use tailspn::trace::{ReadOptions, is_log, read};
use tailspn::watch::Unwatched;

use crate::shared::shared;

/// A run with what is to be predicted.
struct Run {
    name: String,
    app: String,
    executors: u32,
    mb: f64,
    job_s: f64,
    observed: ObservedRun,
}

impl Run {
    fn is_like(&self, other: &Self) -> bool {
        self.app == other.app && self.executors == other.executors && (self.mb / other.mb - 1.0).abs() < 0.01
    }
}

fn runs_of(folder: &Path) -> Vec<Run> {
    let text = std::fs::read_to_string(folder.join("runs.jsonl")).unwrap();
    let run = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let log = folder.join(if row["file"].is_string() { text("file") } else { text("log") });
        let observed = observe(&read(&log, &ReadOptions::default(), &Unwatched).unwrap(), None).unwrap();
        Run {
            name: text("name"),
            app: text("app"),
            executors: u32::try_from(row["executors"].as_u64().unwrap()).unwrap(),
            mb: row["input_mb"].as_f64().unwrap(),
            job_s: row["job_s"].as_f64().unwrap(),
            observed,
        }
    };
    text.lines().map(run).collect()
}

fn job_times(plan: &StagePlan) -> JobTimes {
    let job = PlannedJob::of(plan);
    let program = compile(&stage_net(&job).unwrap().net).unwrap();
    let ensemble = Ensemble { replications: 1_000, seed: 1, ..Ensemble::default() };
    let found = run(&program, &Question::default(), &ensemble, &Unwatched).unwrap().samples;
    let factor = RunFactor::new(&plan.run, job.error());
    JobTimes::from_histogram(&found.passage_histogram, found.clock.tick(), factor).unwrap()
}

/// The model's job times of a run, from runs of its program in other configurations, and from other programs.
fn predicted(run: &Run, runs: &[Run]) -> JobTimes {
    let kept = |own: bool| {
        let wanted =
            move |other: &&Run| if own { other.app == run.app && !other.is_like(run) } else { other.app != run.app };
        runs.iter().filter(wanted).map(|run| run.observed.clone()).collect::<Vec<_>>()
    };
    let mut plan = fit_stages_alongside(&kept(true), &kept(false)).unwrap().plan;
    plan.job.input_mb = run.observed.input_mb;
    plan.job.executors = run.executors;
    job_times(&plan)
}

/// Least squares with at least as many runs as terms that differ, and no negative coefficient: the best subset of the terms.
fn least_squares(rows: &[(Vec<f64>, f64)], positive: bool) -> Vec<f64> {
    let terms = rows[0].0.len();
    let mut best = (f64::INFINITY, vec![0.0; terms]);
    for subset in 1..1_u32 << terms {
        let used: Vec<usize> = (0..terms).filter(|i| subset >> i & 1 == 1).collect();
        let Some(found) = solve(rows, &used) else { continue };
        if positive && found.iter().any(|x| *x < 0.0) {
            continue;
        }
        let mut all = vec![0.0; terms];
        used.iter().zip(&found).for_each(|(&i, &x)| all[i] = x);
        let error: f64 = rows.iter().map(|(x, y)| (value(&all, x) - y).powi(2)).sum();
        if error < best.0 - 1e-9 {
            best = (error, all);
        }
    }
    best.1
}

fn value(coefficients: &[f64], terms: &[f64]) -> f64 {
    coefficients.iter().zip(terms).map(|(a, b)| a * b).sum()
}

/// The normal equations by elimination; none if they are singular.
fn solve(rows: &[(Vec<f64>, f64)], used: &[usize]) -> Option<Vec<f64>> {
    let n = used.len();
    let mut m: Vec<Vec<f64>> = used
        .iter()
        .map(|&i| {
            let mut row: Vec<f64> = used.iter().map(|&k| rows.iter().map(|(x, _)| x[i] * x[k]).sum()).collect();
            row.push(rows.iter().map(|(x, y)| x[i] * y).sum());
            row
        })
        .collect();
    for i in 0..n {
        let pivot = (i..n).max_by(|&a, &b| m[a][i].abs().total_cmp(&m[b][i].abs()))?;
        m.swap(i, pivot);
        if m[i][i].abs() < 1e-9 {
            return None;
        }
        let top = m[i].clone();
        for (_, row) in m.iter_mut().enumerate().filter(|(k, _)| *k != i) {
            let ratio = row[i] / top[i];
            row.iter_mut().zip(&top).for_each(|(a, b)| *a -= ratio * b);
        }
    }
    Some((0..n).map(|i| m[i][n] / m[i][i]).collect())
}

/// A baseline's prediction of a run from runs of its program in other configurations.
fn baseline(run: &Run, runs: &[Run], positive: bool, terms: fn(&Run) -> Vec<f64>) -> f64 {
    let own = runs.iter().filter(|other| other.app == run.app && !other.is_like(run));
    let rows: Vec<(Vec<f64>, f64)> = own.map(|run| (terms(run), run.job_s)).collect();
    value(&least_squares(&rows, positive), &terms(run)).max(0.0)
}

/// Ernest: a + b input/executors + c log executors + d executors.
fn ernest(run: &Run) -> Vec<f64> {
    let executors = f64::from(run.executors);
    vec![1.0, run.mb / executors, executors.ln(), executors]
}

fn linear(run: &Run) -> Vec<f64> {
    vec![1.0, run.mb, f64::from(run.executors)]
}

/// Mean absolute errors of the model, of linear regression and of Ernest; runs within their interval; half-widths over medians.
struct Score {
    errors: [f64; 3],
    covered: usize,
    runs: usize,
    widths: Vec<f64>,
}

fn left_out(folders: &[&str]) -> Option<Score> {
    let mut runs = Vec::new();
    for folder in folders {
        runs.extend(runs_of(&shared(&format!("data/logs/{folder}"))?));
    }
    let mut score = Score { errors: [0.0; 3], covered: 0, runs: runs.len(), widths: Vec::new() };
    for run in &runs {
        let times = predicted(run, &runs);
        let [low, middle, high] = [0.05, 0.5, 0.95].map(|p| times.quantile(p));
        let all = [middle, baseline(run, &runs, false, linear), baseline(run, &runs, true, ernest)];
        let errors = all.map(|value| value / run.job_s - 1.0);
        println!(
            "| {} | {:.1} | {middle:.1} | {:+.0} % | {low:.1} to {high:.1} | {:+.0} % | {:+.0} % |",
            run.name,
            run.job_s,
            100.0 * errors[0],
            100.0 * errors[1],
            100.0 * errors[2]
        );
        for (sum, error) in score.errors.iter_mut().zip(errors) {
            *sum += error.abs() / runs.len() as f64;
        }
        score.covered += usize::from((low..=high).contains(&run.job_s));
        score.widths.push(0.5 * (high - low) / middle);
    }
    println!("mean errors {:.3?}, {} of {} in the interval", score.errors, score.covered, score.runs);
    Some(score)
}

/// Waiting tasks on 2 and 4 executors of one host, computing tasks on 1 and 2. Goals: 8% and 15%, ahead of both baselines, and 80 to 97% of
/// all runs within their intervals.
#[test]
fn runs_of_other_clusters_are_predicted() {
    let Some(elastic) = left_out(&["spark-elastic"]) else { return };
    let Some(scaling) = left_out(&["spark-scaling", "spark-scaling-1x1"]) else { return };
    for (score, goal) in [(&elastic, 0.08), (&scaling, 0.15)] {
        let [model, linear, ernest] = score.errors;
        assert!(model < goal && model < linear && model < ernest, "{:?}", score.errors);
    }
    let covered = (elastic.covered + scaling.covered) as f64 / (elastic.runs + scaling.runs) as f64;
    assert!((0.8..=0.97).contains(&covered), "{covered}");
    let mut widths = [elastic.widths, scaling.widths].concat();
    widths.sort_by(f64::total_cmp);
    println!("median half-width over the median {:.2}", widths[widths.len() / 2]);
}

/// The model at the size of the one log that it was fitted to: no prediction, but what it leaves out shows here. Largest error 14%. Of the logs that do not
/// record their input, two are off by more, 26% and 54%: small programs whose first stages have tasks of two kinds, which the check on their own run says.
#[test]
fn logs_of_others_are_predicted_at_their_own_size() {
    let Some(folder) = shared("data/logs/spark-event-logs") else { return };
    let mut folders = vec![folder];
    let (mut errors, mut unsized_errors) = (Vec::new(), Vec::new());
    let ensemble = Ensemble { replications: 1_000, seed: 1, ..Ensemble::default() };
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Ok(trace) = read(&path, &ReadOptions::default(), &Unwatched) else { continue };
            let Ok(observed) = observe(&trace, None) else { continue };
            if !observed.is_complete {
                continue;
            }
            let fitted = fit_stages_alongside(std::slice::from_ref(&observed), &[]).unwrap();
            let found = estimate_stages(&fitted.plan, &ensemble, 0.95, &Unwatched).unwrap();
            let error = stages_report(&fitted.plan, &found, 0.95).median_s / observed.job_s - 1.0;
            println!("{:+.2} {}", error, path.display());
            if observed.input_is_relative { unsized_errors.push(error) } else { errors.push(error) }
        }
    }
    assert!(errors.len() >= 20 && errors.iter().all(|error| error.abs() < 0.15), "{errors:?}");
    let missed = unsized_errors.iter().filter(|error: &&f64| error.abs() >= 0.15).count();
    assert!(unsized_errors.len() >= 8 && missed <= 2, "{unsized_errors:?}");
    assert!(errors.iter().map(|error| error.abs()).sum::<f64>() / (errors.len() as f64) < 0.07, "{errors:?}");
}

/// A run without copies and two with them, on four nodes of different speed: what copies changed lies in the interval for two single runs.
#[test]
fn the_effect_of_copies_is_within_its_interval() {
    let Some(folder) = shared("data/logs/labelled/phan-4node") else { return };
    let run_of = |name: &str| {
        let mut files = std::fs::read_dir(folder.join(name)).unwrap().map(|entry| entry.unwrap().path());
        let log = files.find(|path| path.extension().is_some_and(|gz| gz == "gz") && is_log(path)).unwrap();
        observe(&read(&log, &ReadOptions::default(), &Unwatched).unwrap(), Some(64.0)).unwrap()
    };
    let without = run_of("c2_nospec");
    let plan = fit_stages_alongside(std::slice::from_ref(&without), &[]).unwrap().plan;
    assert_eq!(plan.hosts(), 4);
    let ensemble = Ensemble { replications: 1_000, seed: 1, ..Ensemble::default() };
    for (name, copies) in [
        ("c2_spec15", SpeculativeCopies { multiplier: 1.5, quantile: 0.5 }),
        ("c2_specdef", SpeculativeCopies::default()),
    ] {
        let plan = StagePlan { speculation: Some(copies), ..plan.clone() };
        let found = estimate_stages(&plan, &ensemble, 0.95, &Unwatched).unwrap();
        let report = stages_report(&plan, &found, 0.95);
        let section = report.speculation.unwrap();
        let [low, high] = section.single_runs_s.unwrap();
        let actual = run_of(name).job_s - without.job_s;
        println!("{name}: {actual:+.1} s, predicted {:+.2} s, {low:+.1} to {high:+.1} s", section.change_s.value);
        assert!(section.change_s.value < 0.0 && section.copies.value > 1.0);
        assert!((low..=high).contains(&actual));
    }
}

/// All executors on one host: no copy has a place to go.
#[test]
fn on_one_host_copies_change_nothing() {
    let Some(folder) = shared("data/logs/spark-elastic") else { return };
    let log = folder.join("fan-48f-4x1-nospec-r0.gz");
    let observed = observe(&read(&log, &ReadOptions::default(), &Unwatched).unwrap(), None).unwrap();
    let plan = fit_stages_alongside(&[observed], &[]).unwrap().plan;
    let plan = StagePlan { speculation: Some(SpeculativeCopies::default()), ..plan };
    let ensemble = Ensemble { replications: 200, seed: 1, ..Ensemble::default() };
    let found = estimate_stages(&plan, &ensemble, 0.95, &Unwatched).unwrap();
    let report = stages_report(&plan, &found, 0.95);
    let section = report.speculation.unwrap();
    assert_eq!((section.copies.value, section.change_s.value), (0.0, 0.0));
    assert!(report.notes.iter().any(|note| note.contains("share one host")), "{:?}", report.notes);
}

#[test]
fn baseline_models_recover_their_coefficients() {
    let row = |a: f64, b: f64| (vec![1.0, a, b], 2.0 + 3.0 * a + 0.5 * b);
    let rows = [row(1.0, 1.0), row(2.0, 1.0), row(1.0, 4.0), row(5.0, 2.0)];
    let found = least_squares(&rows, true);
    assert!(found.iter().zip([2.0, 3.0, 0.5]).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
    // a falling line without negative coefficients is a level
    let falling = [(vec![1.0, 1.0], 3.0), (vec![1.0, 2.0], 1.0)];
    assert_eq!(least_squares(&falling, true), [2.0, 0.0]);
}
