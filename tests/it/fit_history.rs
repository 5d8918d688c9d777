//! Job plans fitted to the jobs of real Hadoop histories, compared with the jobs' times: at their own size, and at
//! other sizes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tailspn::estimate::quantile_of_sorted;
use tailspn::fit::{FittedJob, ObservedJob, fit_job, fit_jobs, is_mapreduce, observe_cluster, observe_job};
use tailspn::job_time::{CheckedFit, EstimateMethod, add_residuals, check_fit, estimate_job, residual_of};
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

/// A fitted job and its estimate.
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
                let checked = check_fit(&fitted, &Unwatched).unwrap();
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

/// Maps, reduces, and tenths of a MB that a map reads.
type Size = (usize, usize, u64);

/// A job of a series: its program, its size, and what was observed.
struct Member {
    program: String,
    size: Size,
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

/// The plan that is fitted to the jobs `sources`, which knows nothing of the jobs `unknown` of `target`'s size, at that size.
fn planned(
    trace: &JobTrace,
    sources: &[&Member],
    others: &[CheckedFit],
    unknown: &BTreeSet<&str>,
    target: &ObservedJob,
) -> Plan {
    let cluster = observe_cluster(trace, |id| !unknown.contains(id));
    let jobs = sources.iter().map(|m| ObservedJob { cluster: cluster.clone(), ..m.observed.clone() });
    let mut all = fit_jobs(&jobs.collect::<Vec<_>>(), None, &[], 0.95).unwrap();
    add_residuals(&mut all, others, &Unwatched).unwrap();
    let mut plan = all.fitted.plan;
    let (input, maps) = (target.sum_of_maps(|map| map.input_mb).unwrap(), target.maps.len() as f64);
    plan.job.input_mb = input;
    plan.job.split_mb = input / maps * (1.0 + 1e-9);
    plan.job.gpu_block_mb = plan.job.gpu_block_mb.min(plan.job.split_mb);
    plan.job.reduces = target.reduces.len() as u64;
    plan
}

/// Maps, reduces and tenths of a MB as words.
fn size((maps, reduces, tenths): Size) -> String {
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

/// Estimates at sizes that the plans were not fitted to, compared with the times of the jobs.
#[derive(Default)]
struct HeldOut {
    errors: Vec<f64>,
    /// Errors within the larger of 15% and the spread of repeats.
    fine: usize,
    /// Times within their intervals, and all.
    covered: [usize; 2],
    /// Half-widths of the intervals over their medians.
    widths: Vec<f64>,
}

impl HeldOut {
    /// Estimates jobs of one size by plans fitted to others, and prints the row. `own` are the spreads at the sizes that they were fitted to,
    /// which count where there is one job of this size.
    fn add(&mut self, head: &str, plans: &[Plan], actual: &[f64], own: &[f64]) {
        let mut estimates = Vec::new();
        let (mut inside, mut all) = (0, 0);
        for plan in plans {
            let (mean, [low, high]) = estimate(plan);
            estimates.push(mean);
            inside += actual.iter().filter(|time| (low..=high).contains(*time)).count();
            all += actual.len();
            self.widths.push(0.5 * (high - low) / mean);
        }
        let error = median(&estimates) / median(actual) - 1.0;
        let repeats = if actual.len() > 1 { spread(actual) } else { median(own) };
        self.fine += usize::from(error.abs() <= repeats.max(0.15));
        self.errors.push(error.abs());
        self.covered = [self.covered[0] + inside, self.covered[1] + all];
        println!(
            "| {head} | {:.1} | {:.1} | {:+.0}% | {:.0}% | {inside} of {all} |",
            median(actual),
            median(&estimates),
            100.0 * error,
            100.0 * repeats
        );
    }

    fn print(&self) {
        println!(
            "{} of {} within the larger of 15% and the spread of repeats; mean error {:.1}%, median {:.1}%",
            self.fine,
            self.errors.len(),
            100.0 * self.errors.iter().sum::<f64>() / self.errors.len() as f64,
            100.0 * median(&self.errors)
        );
        let [inside, all] = self.covered;
        println!(
            "{inside} of {all} times within their 90% interval, whose median half-width is {:.0}%",
            100.0 * median(&self.widths)
        );
    }
}

/// The jobs of a history with their sizes and the checks of their own plans.
struct Series {
    log: String,
    trace: JobTrace,
    members: Vec<Member>,
    checked: Vec<Option<CheckedFit>>,
}

impl Series {
    fn all() -> Vec<Self> {
        let series = |(log, trace): (String, JobTrace)| {
            let members = members(&trace);
            let check = |m: &Member| check_fit(&fit_job(&m.observed, None, None, 0.95).ok()?, &Unwatched).ok();
            let checked = members.iter().map(check).collect();
            Self { log, trace, members, checked }
        };
        histories().into_iter().map(series).collect()
    }

    fn sizes(&self) -> BTreeSet<(&str, Size)> {
        self.members.iter().map(|m| (m.program.as_str(), m.size)).collect()
    }

    fn of(&self, program: &str, size: Size) -> Vec<&Member> {
        self.members.iter().filter(|m| m.program == program && m.size == size).collect()
    }

    /// Checks of all jobs except the jobs of one size of a program and the jobs that a plan is fitted to, for the
    /// residual constants.
    fn others(&self, program: &str, size: Size, fitted: &[&Member]) -> Vec<CheckedFit> {
        let known = |m: &Member| !(m.program == program && m.size == size);
        let other = |m: &Member| fitted.iter().all(|f| f.observed.id != m.observed.id);
        let kept = self.members.iter().zip(&self.checked).filter(|(m, _)| known(m) && other(m));
        kept.filter_map(|(_, checked)| *checked).collect()
    }
}

fn times(members: &[&Member]) -> Vec<f64> {
    members.iter().map(|m| m.observed.run_s).collect()
}

fn ids<'m>(members: &[&'m Member]) -> BTreeSet<&'m str> {
    members.iter().map(|m| m.observed.id.as_str()).collect()
}

const HEAD: &str = "actual [s] | estimate [s] | error | repeats differ by | within 90% interval |";

/// A plan fitted to one job of a program, at another size, in each pair of sizes: the median estimate against the median time.
#[test]
fn jobs_of_one_size_predict_another() {
    let mut found = HeldOut::default();
    println!("| history | program | fitted to | predicted | {HEAD}");
    println!("|---|---|---|---|---|---|---|---|---|");
    for series in Series::all() {
        let sizes = series.sizes();
        let pairs = sizes.iter().flat_map(|from| sizes.iter().map(move |to| (*from, *to)));
        for ((program, from), (_, to)) in pairs.filter(|(from, to)| from.0 == to.0 && from.1 != to.1) {
            let (sources, targets) = (series.of(program, from), series.of(program, to));
            let unknown = ids(&targets);
            let plan = |source: &&Member| {
                let others = series.others(program, to, &[source]);
                planned(&series.trace, &[source], &others, &unknown, &targets[0].observed)
            };
            let plans: Vec<Plan> = sources.iter().map(plan).collect();
            let jobs = [sources.len(), targets.len()];
            let [from, to] = [from, to].map(size);
            let head = format!("{} | {program} | {from}, {} jobs | {to}, {} jobs", series.log, jobs[0], jobs[1]);
            found.add(&head, &plans, &times(&targets), &[spread(&times(&sources))]);
        }
    }
    if !found.errors.is_empty() {
        found.print();
        assert!(median(&found.errors) < 0.2);
        assert!(found.covered[0] * 10 > found.covered[1] * 8);
    }
}

/// A plan fitted to all jobs of a program that have other sizes.
#[test]
fn jobs_of_all_other_sizes_predict_one() {
    let mut found = HeldOut::default();
    println!("| history | program | fitted to | predicted | {HEAD}");
    println!("|---|---|---|---|---|---|---|---|---|");
    for series in Series::all() {
        for (program, to) in series.sizes() {
            let targets = series.of(program, to);
            let sources: Vec<&Member> =
                series.members.iter().filter(|m| m.program == program && m.size != to).collect();
            if sources.is_empty() {
                continue;
            }
            let others = series.others(program, to, &sources);
            let plan = planned(&series.trace, &sources, &others, &ids(&targets), &targets[0].observed);
            let from: BTreeSet<Size> = sources.iter().map(|m| m.size).collect();
            let several = |from: &&Size| series.of(program, **from).len() > 1;
            let repeats: Vec<f64> =
                from.iter().filter(several).map(|from| spread(&times(&series.of(program, *from)))).collect();
            let repeats = if repeats.is_empty() { vec![0.0] } else { repeats };
            let head = format!(
                "{} | {program} | {} jobs of {} sizes | {}, {} jobs",
                series.log,
                sources.len(),
                from.len(),
                size(to),
                targets.len()
            );
            found.add(&head, &[plan], &times(&targets), &repeats);
        }
    }
    if !found.errors.is_empty() {
        found.print();
        assert!(found.errors.iter().sum::<f64>() / (found.errors.len() as f64) < 0.2);
        assert!(found.covered[0] * 10 > found.covered[1] * 8);
    }
}

/// Mean job time of a plan \[s\], and the interval that holds 90% of the runs to come.
fn estimate(plan: &Plan) -> (f64, [f64; 2]) {
    let ensemble = Ensemble { replications: 200, ..Ensemble::default() };
    let found = estimate_job(plan, EstimateMethod::Simulate, &ensemble, &Unwatched).unwrap();
    let next = found.next_run.as_ref().unwrap();
    (found.mean().unwrap(), [next.quantile(0.05), next.quantile(0.95)])
}
