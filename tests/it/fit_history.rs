//! Job plans fitted to the jobs of real Hadoop histories, beside what the jobs took: at their own size, and at other sizes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tailspn::estimate::quantile_of_sorted;
use tailspn::fit::{FittedJob, ObservedJob, fit_job, is_mapreduce, observe_cluster, observe_job};
use tailspn::job_time::{CheckedFit, EstimateMethod, check_fit, estimate_job, residual_of};
use tailspn::mapreduce::Plan;
use tailspn::sim::Ensemble;
use tailspn::trace::{Application, JobTrace, ReadOptions, read};
use tailspn::watch::Unwatched;

use crate::shared::shared;

/// Jobs of each history, in its order, that are fitted.
const FIRST: usize = 12;

/// All histories and traces of Hadoop that can be read, by their paths.
fn histories() -> Vec<(String, JobTrace)> {
    let Some(logs) = shared("data/logs") else { return Vec::new() };
    let mut files = Vec::new();
    for folder in ["hadoop-jhist", "hadoop-rumen"] {
        files_of(&logs.join(folder), &mut files);
    }
    files.sort();
    let read = |path: &PathBuf| {
        let trace = read(path, &ReadOptions::default(), &Unwatched).ok().filter(is_mapreduce)?;
        // the command refuses traces that hold a job several times
        let ids: BTreeSet<_> = trace.applications.iter().map(|application| &application.id).collect();
        if ids.len() < trace.applications.len() {
            return None;
        }
        Some((path.file_name()?.to_string_lossy().into_owned(), trace))
    };
    files.iter().filter_map(read).collect()
}

fn files_of(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() { files_of(&entry, files) } else { files.push(entry) }
    }
}

/// A fitted job beside its estimate.
struct Row {
    log: String,
    fitted: FittedJob,
    checked: CheckedFit,
}

/// The jobs of each history that a fit takes, each once.
fn rows() -> Vec<Vec<Row>> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (log, trace) in histories() {
        let mut rows = Vec::new();
        for application in trace.applications.iter().take(FIRST) {
            let Ok(observed) = observe_job(&trace, Some(&application.id)) else { continue };
            let Ok(fitted) = fit_job(&observed, None, None, 0.95) else { continue };
            if seen.insert(application.id.clone()) {
                let checked = check_fit(&fitted).unwrap();
                rows.push(Row { log: log.clone(), fitted, checked });
            }
        }
        found.push(rows);
    }
    found
}

/// Estimate over actual less 1 at the job's own size: without residual constants, and with those of the other jobs of its history.
#[test]
fn fitted_jobs_give_back_their_own_times() {
    let (mut plain, mut pooled) = (Vec::new(), Vec::new());
    println!(
        "| history | job | program | maps, reduces | waves | actual [s] | estimate [s] | error | with residual [s] | error |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for rows in rows() {
        for (i, row) in rows.iter().enumerate() {
            let others = rows.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, row)| row.checked);
            let others: Vec<CheckedFit> = others.collect();
            let residual = residual_of(&others);
            let CheckedFit { actual_s, estimate_s, waves } = row.checked;
            let with = estimate_s + residual.job_s + residual.wave_s * waves as f64;
            let error = |estimate: f64| estimate / actual_s - 1.0;
            plain.push(error(estimate_s));
            pooled.push(error(with));
            let plan = &row.fitted.plan;
            println!(
                "| {} | {} | {} | {}, {} | {waves} | {actual_s:.1} | {estimate_s:.1} | {:+.0}% | {with:.1} | {:+.0}% |",
                row.log.chars().take(30).collect::<String>(),
                row.fitted.id,
                plan.job.name,
                plan.maps(),
                plan.reduces(),
                100.0 * error(estimate_s),
                100.0 * error(with)
            );
        }
    }
    if plain.is_empty() {
        return;
    }
    let mean = |errors: &[f64]| errors.iter().map(|error| error.abs()).sum::<f64>() / errors.len() as f64;
    let within = |errors: &[f64]| errors.iter().filter(|error| error.abs() <= 0.1).count();
    for (what, errors) in [("without residual constants", &plain), ("with those of the other jobs", &pooled)] {
        let (n, low) = (errors.len(), errors.iter().filter(|error| **error < 0.0).count());
        println!(
            "{what}: mean error {:.1}%, {} of {n} within 10%, {low} too low",
            100.0 * mean(errors),
            within(errors)
        );
    }
    assert_eq!(plain.len(), 77);
    assert!(mean(&plain) <= 0.12 && mean(&pooled) <= 0.08);
}

/// A job of a series: its program, its size, and what was observed.
struct Member {
    program: String,
    /// Maps, reduces, and tenths of a MB that a map reads.
    size: (usize, usize, u64),
    observed: ObservedJob,
}

/// The jobs of a history, by programs: names less what follows their last dot.
fn members(trace: &JobTrace) -> Vec<Member> {
    let observe = |application: &Application| {
        let observed = observe_job(trace, Some(&application.id)).ok()?;
        let mb = observed.sum_of_maps(|map| map.input_mb).filter(|mb| *mb > 0.0)? / observed.maps.len() as f64;
        let program = observed.name.rsplit_once('.')?.0.to_owned();
        let size = (observed.maps.len(), observed.reduces.len(), (10.0 * mb).round() as u64);
        Some(Member { program, size, observed })
    };
    trace.applications.iter().filter_map(observe).collect()
}

/// The plan of a job fitted to `source`, which knows nothing of the jobs of `target`'s size, at that size.
fn planned(
    trace: &JobTrace,
    source: &Member,
    others: &[CheckedFit],
    unknown: &BTreeSet<&str>,
    target: &ObservedJob,
) -> Plan {
    let cluster = observe_cluster(trace, |id| !unknown.contains(id));
    let fitted = fit_job(&ObservedJob { cluster, ..source.observed.clone() }, None, None, 0.95).unwrap();
    let mut plan = fitted.plan;
    plan.residual = residual_of(others);
    let (input, maps) = (target.sum_of_maps(|map| map.input_mb).unwrap(), target.maps.len() as f64);
    plan.job.input_mb = input;
    plan.job.split_mb = input / maps * (1.0 + 1e-9);
    plan.job.gpu_block_mb = plan.job.gpu_block_mb.min(plan.job.split_mb);
    plan.job.reduces = target.reduces.len() as u64;
    plan
}

/// Maps, reduces and tenths of a MB as words.
fn size((maps, reduces, tenths): (usize, usize, u64)) -> String {
    format!("{maps} maps of {:.1} MB, {reduces} reduces", tenths as f64 / 10.0)
}

/// Half the range over the median.
fn spread(times: &[f64]) -> f64 {
    let (least, most) = times.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), time| (a.min(*time), b.max(*time)));
    0.5 * (most - least) / median(times)
}

fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile_of_sorted(&sorted, 0.5).unwrap()
}

/// A plan fitted to one size of a program, at another size: median estimate over median actual less 1, in each pair of sizes.
#[test]
fn jobs_of_one_size_predict_another() {
    let (mut errors, mut fine, mut covered, mut runs) = (Vec::new(), 0, 0, 0);
    println!(
        "| history | program | fitted to | predicted | actual [s] | estimate [s] | error | repeats differ by | within 90% interval |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (log, trace) in histories() {
        let members = members(&trace);
        let checked: Vec<Option<CheckedFit>> =
            members.iter().map(|m| check_fit(&fit_job(&m.observed, None, None, 0.95).ok()?).ok()).collect();
        let sizes: BTreeSet<_> = members.iter().map(|m| (&m.program, m.size)).collect();
        let pairs = sizes.iter().flat_map(|from| sizes.iter().map(move |to| (*from, *to)));
        for ((program, from), (_, to)) in pairs.filter(|(from, to)| from.0 == to.0 && from.1 != to.1) {
            let of = |size| members.iter().filter(move |m| m.program == *program && m.size == size);
            let actual: Vec<f64> = of(to).map(|m| m.observed.run_s).collect();
            let unknown: BTreeSet<&str> = of(to).map(|m| m.observed.id.as_str()).collect();
            let known = |m: &Member| !unknown.contains(m.observed.id.as_str());
            let others = members.iter().zip(&checked).filter(|(m, _)| known(m)).filter_map(|(_, c)| *c);
            let others: Vec<CheckedFit> = others.collect();
            let Some(target) = of(to).next() else { continue };
            let mut estimates = Vec::new();
            let (mut inside, mut all) = (0, 0);
            for source in of(from) {
                let plan = planned(&trace, source, &others, &unknown, &target.observed);
                let (mean, [low, high]) = estimate(&plan);
                estimates.push(mean);
                inside += actual.iter().filter(|time| (low..=high).contains(*time)).count();
                all += actual.len();
            }
            let own: Vec<f64> = of(from).map(|m| m.observed.run_s).collect();
            let error = median(&estimates) / median(&actual) - 1.0;
            let repeats = spread(&actual).max(spread(&own));
            (covered, runs) = (covered + inside, runs + all);
            fine += usize::from(error.abs() <= repeats.max(0.15));
            errors.push(error);
            println!(
                "| {log} | {program} | {}, {} jobs | {}, {} jobs | {:.1} | {:.1} | {:+.0}% | {:.0}% | {inside} of {all} |",
                size(from),
                own.len(),
                size(to),
                actual.len(),
                median(&actual),
                median(&estimates),
                100.0 * error,
                100.0 * repeats
            );
        }
    }
    if errors.is_empty() {
        return;
    }
    let absolute: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
    let mean = absolute.iter().sum::<f64>() / absolute.len() as f64;
    println!(
        "{fine} of {} pairs of sizes within the larger of 15% and the spread of repeats; mean error {:.1}%, median {:.1}%",
        errors.len(),
        100.0 * mean,
        100.0 * median(&absolute)
    );
    println!("{covered} of {runs} times within their 90% interval");
}

/// Mean job time of a plan \[s\], and the interval that holds 90% of the replications.
fn estimate(plan: &Plan) -> (f64, [f64; 2]) {
    let ensemble = Ensemble { replications: 200, ..Ensemble::default() };
    let found = estimate_job(plan, EstimateMethod::Simulate, &ensemble, &Unwatched).unwrap();
    let samples = &found.simulated.as_ref().unwrap().run.samples;
    let at = |p| samples.passage_histogram.quantile(p).unwrap() * samples.clock.tick();
    (found.mean().unwrap(), [at(0.05), at(0.95)])
}
