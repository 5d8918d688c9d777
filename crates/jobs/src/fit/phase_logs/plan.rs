//! The plan of several jobs of a program, from their phase logs.

use crate::fit::fit_error::FitError;
use crate::fit::job_text::short;
use crate::fit::law::observed_law;
use crate::fit::phase_logs::growth::{SizePoint, growth};
use crate::fit::phase_logs::observed::{GPU, PHASES, PhaseRun, PhaseTask};
use crate::fit::pooled::FittedJobs;
use crate::fit::test_job::{FittedJob, FittedValue, ONE_JOB};
use crate::job::Uses;
use crate::mapreduce::params::{GivenPhases, Node};
use crate::mapreduce::uses::PhaseUses;
use crate::mapreduce::{Growth, LoggedJob, PhaseLaw, PhasesBySize, Plan, SizedPhase};

/// Names of the phases in a plan.
const NAMES: [&str; PHASES] = [
    "phases.by_size.read",
    "phases.by_size.map",
    "phases.by_size.to_gpu",
    "phases.by_size.gpu",
    "phases.by_size.to_host",
    "phases.by_size.spill",
    "phases.by_size.merge",
    "phases.by_size.reduce",
];

/// Shortest mean of a phase whose spread counts \[s\].
const SHORTEST_S: f64 = 1e-6;

/// Fits one plan to jobs of the same program.
///
/// # Errors
///
/// [`FitError::NoLog`] without jobs; [`FitError::Incomplete`] if the logs give no valid plan.
pub fn fit_phases(runs: &[PhaseRun], level: f64) -> Result<FittedJobs, FitError> {
    let Some(largest) = runs.iter().max_by(|a, b| a.input_mb.total_cmp(&b.input_mb)) else {
        return Err(FitError::NoLog);
    };
    let shares_gpu = gpu_is_shared(runs);
    let mut values = Vec::new();
    let mut notes = notes(runs, shares_gpu);
    let mut plan = Plan::default();
    set_job(&mut plan, largest, runs);
    let by_size = by_size(runs, shares_gpu, &mut values, &mut notes);
    let [cores, gpu] = [Uses::Cores, if shares_gpu { Uses::Gpu } else { Uses::Nothing }];
    let uses = PhaseUses {
        read: cores,
        map: cores,
        to_gpu: cores,
        gpu,
        to_host: cores,
        spill: cores,
        merge: cores,
        reduce: cores,
    };
    plan.phases = Some(GivenPhases { by_size: Some(by_size), uses, ..GivenPhases::default() });
    set_laws(&mut plan, runs, shares_gpu);
    plan.run = Some(ONE_JOB);
    plan.proof = runs.iter().map(logged).collect();
    if let Some(problem) = plan.problems().first() {
        let what = format!("the log yields no valid plan ({problem})");
        return Err(FitError::Incomplete { log: largest.log.clone(), what });
    }
    let log = runs.iter().map(|run| run.log.as_str()).collect::<Vec<_>>().join(", ");
    let id = if runs.len() == 1 { largest.name.clone() } else { format!("{} jobs", runs.len()) };
    let fitted = FittedJob { log, id, plan, values, notes, job_s: largest.job_s, run_s: largest.job_s, level };
    let of_run = |run: &PhaseRun| {
        let mut plan = fitted.plan.clone();
        set_job(&mut plan, run, &[]);
        FittedJob {
            log: run.log.clone(),
            id: run.name.clone(),
            plan,
            values: Vec::new(),
            notes: Vec::new(),
            job_s: run.job_s,
            run_s: run.job_s,
            level,
        }
    };
    Ok(FittedJobs { jobs: runs.iter().map(of_run).collect(), fitted })
}

/// Sets the size of a job, and its host.
fn set_job(plan: &mut Plan, run: &PhaseRun, runs: &[PhaseRun]) {
    let split_mb = run.input_mb / run.tasks[0] as f64;
    if !runs.is_empty() {
        plan.job.name = if run.name.is_empty() { "phases".to_owned() } else { run.name.clone() };
    }
    (plan.job.input_mb, plan.job.split_mb, plan.job.reduces) = (run.input_mb, split_mb, run.tasks[1]);
    plan.job.gpu_block_mb = plan.job.gpu_block_mb.min(split_mb);
    plan.cluster.node = vec![Node {
        count: run.hosts,
        map_slots: run.map_slots,
        reduce_slots: run.reduce_slots.max(1),
        gpus: Some(u64::from(run.permits.is_some())),
        gpu_permits: run.permits,
        host_cores: run.cores,
        ..Node::default()
    }];
    plan.cluster.replicas = plan.cluster.replicas.min(run.hosts);
}

/// Returns what a job proves.
fn logged(run: &PhaseRun) -> LoggedJob {
    LoggedJob {
        log: run.log.clone(),
        job_s: run.job_s,
        input_mb: run.input_mb,
        split_mb: run.input_mb / run.tasks[0] as f64,
        reduces: run.tasks[1],
        workers: Some(run.hosts),
        map_slots: Some(run.map_slots),
        reduce_slots: Some(run.reduce_slots.max(1)),
        gpu_permits: run.permits,
    }
}

/// Returns a task's time in a phase \[s\].
fn seconds(task: &PhaseTask, phase: usize, shares_gpu: bool) -> f64 {
    if phase == GPU && !shares_gpu { task.gpu_s } else { task.work_s[phase] }
}

/// Groups of tasks of a job that differ by chance only: maps or reduces, the first of their slots or later ones.
fn groups(run: &PhaseRun, is_map: bool, is_first: bool) -> Vec<&PhaseTask> {
    run.list.iter().filter(|task| task.is_map == is_map && task.is_first == is_first).collect()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}

/// Returns true if tasks that compute on the GPU at the same time slow each other down: with processor sharing, the work of their kernels varies less
/// between the jobs than the times in the logs. If nothing tells, they do.
fn gpu_is_shared(runs: &[PhaseRun]) -> bool {
    let spread = |shares_gpu: bool| {
        let mut by_size: std::collections::BTreeMap<(u64, bool), Vec<f64>> = std::collections::BTreeMap::new();
        for task in runs.iter().flat_map(|run| &run.list).filter(|task| task.is_map) {
            let seconds = seconds(task, GPU, shares_gpu);
            if seconds > SHORTEST_S {
                by_size.entry((task.mb.to_bits(), task.is_first)).or_default().push(seconds.ln());
            }
        }
        let around = |logs: &Vec<f64>| {
            let middle = mean(logs.iter().copied());
            logs.iter().map(|log| (log - middle).powi(2)).sum::<f64>()
        };
        by_size.values().map(around).sum::<f64>()
    };
    spread(true) <= spread(false)
}

/// Returns the phase times by size, with their values for the report.
fn by_size(
    runs: &[PhaseRun],
    shares_gpu: bool,
    values: &mut Vec<FittedValue>,
    notes: &mut Vec<String>,
) -> PhasesBySize {
    let mut one_size = Vec::new();
    let mut phase = |place: usize| {
        let of = |is_first: bool| {
            let point = |run: &PhaseRun| {
                let tasks = groups(run, place < 6, is_first);
                let at = |of: &dyn Fn(&PhaseTask) -> f64| mean(tasks.iter().map(|task| of(task)));
                let (mb, seconds) = (at(&|task| task.mb), at(&|task| seconds(task, place, shares_gpu)));
                (!tasks.is_empty()).then_some(SizePoint { mb, seconds, tasks: tasks.len() as f64 })
            };
            let points: Vec<SizePoint> = runs.iter().filter_map(point).collect();
            let (found, is_known) = growth(&points);
            (found, is_known, points)
        };
        let ((first, ..), (later, is_known, points)) = (of(true), of(false));
        // jobs of one wave have no later tasks
        let (later, is_known, points) = if points.is_empty() { of(true) } else { (later, is_known, points) };
        let first = if first == Growth::default() { later } else { first };
        let mb = mean(points.iter().map(|point| point.mb));
        if later.at(mb) > SHORTEST_S {
            if !is_known {
                one_size.push(NAMES[place].trim_start_matches("phases.by_size."));
            }
            let from = text(&later, mb);
            values.push(FittedValue { key: NAMES[place], value: later.at(mb), interval: None, from });
        }
        SizedPhase { first, later }
    };
    let [read, map, to_gpu, gpu, to_host, spill, merge, reduce] = std::array::from_fn(&mut phase);
    if !one_size.is_empty() {
        notes.push(format!(
            "all tasks have the same data, so times are taken to be proportional to it: {}",
            one_size.join(", ")
        ));
    }
    let (load_s, load_slots) = load(runs);
    values.push(FittedValue {
        key: "phases.by_size.load_s",
        value: load_s,
        interval: None,
        from: format!("mean of {} jobs", runs.len()),
    });
    let all = |of: &dyn Fn(&PhaseRun) -> f64| runs.iter().map(of).sum::<f64>();
    let shuffled_per_mb = all(&|run| run.shuffled_mb) / all(&|run| run.input_mb);
    let from = "bytes that reduces fetched, per byte that maps read".to_owned();
    values.push(FittedValue { key: "phases.by_size.shuffled_per_mb", value: shuffled_per_mb, interval: None, from });
    PhasesBySize { load_s, load_slots, shuffled_per_mb, read, map, to_gpu, gpu, to_host, spill, merge, reduce }
}

/// Returns the growth of a phase in words.
fn text(growth: &Growth, mb: f64) -> String {
    let at = format!("at {} MB", short(mb));
    let Growth { fixed_s, per_mb_s, exponent } = *growth;
    if (exponent - 1.0).abs() > 1e-9 {
        format!("{at}; grows with the data to the power {}", short(exponent))
    } else if per_mb_s > 0.0 {
        format!("{at}; {} s and {} MB/s", short(fixed_s), short(1.0 / per_mb_s))
    } else {
        format!("{at}; does not grow with the data")
    }
}

/// Returns the time until all slots have started, with the slots of a host.
fn load(runs: &[PhaseRun]) -> (f64, u64) {
    let slots = |run: &PhaseRun| run.map_slots + run.reduce_slots;
    let crowd = |run: &PhaseRun| run.cores.map_or(1.0, |cores| (slots(run) as f64 / cores).max(1.0));
    let Some(one) = runs.first() else { return (0.0, 0) };
    (mean(runs.iter().map(|run| run.load_s / crowd(run))) * crowd(one), slots(one))
}

/// Sets the distributions: the times of all tasks, each divided by the mean of its job's tasks of the same kind.
fn set_laws(plan: &mut Plan, runs: &[PhaseRun], shares_gpu: bool) {
    let law = |place: usize| {
        let mut ratios = Vec::new();
        for (run, is_first) in runs.iter().flat_map(|run| [(run, true), (run, false)]) {
            let tasks = groups(run, place < 6, is_first);
            let middle = mean(tasks.iter().map(|task| seconds(task, place, shares_gpu)));
            if tasks.len() > 1 && middle > SHORTEST_S {
                ratios.extend(tasks.iter().map(|task| seconds(task, place, shares_gpu) / middle));
            }
        }
        if ratios.is_empty() { PhaseLaw::Deterministic } else { observed_law(&ratios) }
    };
    let laws = &mut plan.model.distribution;
    (laws.load, laws.shuffle) = (PhaseLaw::Deterministic, PhaseLaw::Deterministic);
    let [read, map, to_gpu, gpu, to_host, spill, merge, reduce] = std::array::from_fn(law);
    (laws.read, laws.map, laws.to_gpu, laws.gpu) = (read, Some(map), to_gpu, gpu);
    (laws.to_host, laws.spill, laws.merge, laws.reduce) = (to_host, spill, merge, reduce);
}

/// Returns what the fit assumes.
fn notes(runs: &[PhaseRun], shares_gpu: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if runs.iter().any(|run| run.cores.is_none()) {
        notes.push("the cores of the host are unknown, so tasks do not slow each other down; state them with a column `cores` or with `--log-cores`".to_owned());
    }
    if runs.iter().any(|run| run.permits_are_inferred) {
        notes.push("permits for the GPU are inferred from the waits in the logs: the most tasks that held it at a time, or none if no task waited".to_owned());
    }
    if runs.iter().any(|run| run.permits.is_some()) && !shares_gpu {
        notes.push(
            "tasks on the GPU do not slow each other down: their times vary less than with processor sharing"
                .to_owned(),
        );
    }
    let mut unknown: Vec<&str> = runs.iter().flat_map(|run| &run.unknown_phases).map(String::as_str).collect();
    unknown.sort_unstable();
    unknown.dedup();
    if !unknown.is_empty() {
        notes.push(format!(
            "phases that the format does not have count as part of the phase before them: {}",
            unknown.join(", ")
        ));
    }
    notes
}
