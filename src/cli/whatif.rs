//! `whatif`: the gain of each straggler policy, for the job of a plan or of a log.

use std::path::Path;
use std::time::{Duration, Instant};

use tailspn::cluster::{
    Comparison, Experiment, ExperimentError, KnownJob, Plan, PolicyPlan, PolicyRuns, Replications, Sweep, compare,
    widest_change,
};
use tailspn::fit::{FitError, replay, usual_policies};
use tailspn::job_time::job_times;
use tailspn::plan::{JobPlan, PlanProblem, Planning as _, Work};
use tailspn::report::{WhatIfReport, log_what_if_report, planned_what_if_report, what_if_picture, what_if_report};
use tailspn::sim::{Ensemble, Run, Watch as _};
use tailspn::trace::{Application, JobTrace, is_log};
use tailspn::watch::TimeLimit;

use crate::cli::args::WhatIfArgs;
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::{Terminal, may_write};
use crate::cli::pictures::{draw_report, may_draw, write_picture};
use crate::cli::plan::{PlanText, options_refused};
use crate::cli::trace::{load, tell_warnings};
use crate::cli::values::SweepAxis;
use crate::cli::watch::{Progress, catch_interrupt, interrupted};

/// Maximum number of replications of each policy without `--reps`.
const MOST: u64 = 500;
/// Minimum number of replications of a log's job without `--reps`. With at least 72, the 95% quantile has a 95%
/// interval.
const FEWEST: u64 = 128;
/// Requested half width of a mean change, as a share of the job's time: half of the smallest gain that is
/// recommended.
const WELL_ENOUGH: f64 = 0.005;

/// Compares the policies.
pub(crate) fn run(args: &WhatIfArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if args.print_plan {
        terminal.data(Plan::example_toml())?;
        return Ok(Exit::Success);
    }
    if let Some(path) = &args.plot {
        may_write(path, args.force)?;
    }
    if let Some(log) = args.plan.as_deref().filter(|path| is_meant(path)) {
        return run_log(log, args, terminal);
    }
    if args.policies.is_some() {
        return Err(Failure::helped(
            Exit::Usage,
            "--policies applies only to logs; a plan defines its own policies",
            "use the log of a job instead of the plan, or edit the policies in the plan",
        ));
    }
    if args.job.is_some() {
        return Err(Failure::helped(
            Exit::Usage,
            "--job applies only to a log of several jobs",
            "remove --job; the plan defines its jobs",
        ));
    }
    may_draw(&args.plots, args.force)?;
    let plan = read(args.plan.as_deref(), terminal)?.with_all(&args.planned.options()).plan();
    let plan = plan.map_err(|error| options_refused(&error))?;
    let started = Instant::now();
    catch_interrupt(terminal);
    let known = plan.known_job().map_err(|error| Failure::plain(Exit::Model, error.to_string()))?;
    let report = match (known, plan) {
        (None, JobPlan::Tasks(plan)) => replicate(&swept(*plan, &args.sweep)?, args, terminal)?,
        (Some(job), plan) => replicate_known(&plan, &job, args, started, terminal)?,
        (None, _) => return Err(Failure::plain(Exit::Internal, "a plan without tasks")),
    };
    terminal.report(&report, &args.print)?;
    if let Some(path) = &args.plot {
        let picture = what_if_picture(&report).map_err(Failure::internal)?;
        write_picture(path, &picture.wide, args.force)?;
    }
    draw_report(&report, &args.plots, args.force, terminal)?;
    Ok(if interrupted() { Exit::Interrupted } else { Exit::Success })
}

/// Reads the plan from a file; without a file, returns the default plan.
fn read(path: Option<&Path>, terminal: &Terminal) -> Result<JobPlan, Failure> {
    path.map_or_else(
        || Ok(JobPlan::Tasks(Box::default())),
        |path| PlanText::read(path, terminal)?.job(Work::Tasks, terminal),
    )
}

/// Returns the plan with all variants of its policies.
fn swept(plan: Plan, axes: &[SweepAxis]) -> Result<Plan, Failure> {
    let mut sweep = Sweep::default();
    for axis in axes {
        match axis {
            SweepAxis::Lag(lags) => sweep.lags_s.extend(lags),
            SweepAxis::Reservation(slots) => sweep.slots.extend(slots),
            SweepAxis::Threshold(thresholds) => sweep.thresholds.extend(thresholds),
        }
    }
    let plan = Plan { policy: sweep.expand(&plan.policy), ..plan };
    let problems = plan.problems();
    if problems.is_empty() {
        return Ok(plan);
    }
    let told = |problem: &PlanProblem| Note::problem(format!("--sweep: {problem}"));
    Err(Failure { exit: Exit::Usage, notes: problems.iter().map(told).collect() })
}

/// Compares policies on a job that other commands run as a net.
fn replicate_known(
    plan: &JobPlan,
    job: &KnownJob,
    args: &WhatIfArgs,
    started: Instant,
    terminal: &Terminal,
) -> Result<WhatIfReport, Failure> {
    match plan {
        JobPlan::MapReduce(plan) if !plan.model.slots => {
            terminal.tell("note: `whatif` counts slots, although `model.slots` is false");
        }
        JobPlan::Stages(plan) if plan.run.sigma > 0.0 => {
            terminal.tell("note: these times do not include the spread between whole runs (`[run]`)");
        }
        _ => {}
    }
    if matches!(plan, JobPlan::MapReduce(plan) if plan.cluster.node.iter().any(|node| node.gpus.is_some())) {
        terminal.tell("note: `whatif` does not model waiting for GPUs; `gpus` has no effect");
    }
    if matches!(plan, JobPlan::Stages(plan) if plan.job.gpu_permits().is_some()) {
        terminal.tell("note: `whatif` does not model waiting for GPUs; `gpus_per_executor` has no effect");
    }
    let deadline_s = plan.deadline_s();
    let policies = swept(Plan { policy: plan.policies(), ..Plan::default() }, &args.sweep)?.policy;
    let nets = match plan {
        JobPlan::MapReduce(plan) => ways(plan),
        _ => Vec::new(),
    };
    // the policies and each net get equal parts of the time
    let left = args.run.max_time.map(|most| most.saturating_sub(started.elapsed()) / (nets.len() as u32 + 1));
    let compared =
        compared(|settings| Ok(Experiment::of_known(job, &policies, settings)), deadline_s, args, left, terminal);
    // a shard prints nothing here, but still runs its share of the nets
    let compared = match compared {
        Err(failure) if failure.is_part() => Err(failure),
        compared => Ok(compared?),
    };
    let nets = run_nets(nets, args, started, terminal)?;
    let Compared { comparison, planned, wall } = compared?;
    let mut report = planned_what_if_report(plan, job, &comparison, args.run.seed.unwrap_or(0), planned, wall);
    nets.iter().for_each(|(name, plan, run)| report.add_net(name, plan, run));
    Ok(report)
}

/// The name of a variant of a job, its plan, and the job times of the plan's net.
type NetRun = (&'static str, tailspn::mapreduce::Plan, Run);

/// Returns the variants of the plan that run as nets: without copies, and with the copies of `[speculation]`.
fn ways(plan: &tailspn::mapreduce::Plan) -> Vec<(&'static str, tailspn::mapreduce::Plan)> {
    let mut without = plan.clone();
    (without.model.slots, without.speculation) = (true, None);
    let with = plan.speculation.is_some().then(|| {
        let mut with = plan.clone();
        with.model.slots = true;
        ("copies of [speculation]", with)
    });
    std::iter::once(("no copies", without)).chain(with).collect()
}

/// Runs the plan's nets. Each gets an equal part of the remaining time; after a signal, no further net is run.
fn run_nets(
    nets: Vec<(&'static str, tailspn::mapreduce::Plan)>,
    args: &WhatIfArgs,
    started: Instant,
    terminal: &Terminal,
) -> Result<Vec<NetRun>, Failure> {
    let ensemble = Ensemble {
        replications: args.reps.unwrap_or(MOST),
        seed: args.run.seed.unwrap_or(0),
        threads: args.run.threads,
        share: terminal.share().clone(),
        ..Ensemble::default()
    };
    let (mut parts, mut runs) = (nets.len() as u32, Vec::new());
    for (name, plan) in nets {
        if interrupted() {
            break;
        }
        let progress = Progress::new(terminal.shows_progress(), "replications");
        let left = args.run.max_time.map(|most| most.saturating_sub(started.elapsed()) / parts);
        parts -= 1;
        match job_times(&plan, &Ensemble { max_wall: left, ..ensemble.clone() }, &progress) {
            Ok(run) => runs.push((name, plan, run)),
            Err(_) if interrupted() => {}
            Err(error) => return Err(Failure::plain(Exit::Refused, error.to_string())),
        }
    }
    Ok(runs)
}

/// Compares policies on jobs that the plan describes task by task.
fn replicate(plan: &Plan, args: &WhatIfArgs, terminal: &Terminal) -> Result<WhatIfReport, Failure> {
    let Compared { comparison, planned, wall } =
        compared(|settings| Experiment::new(plan, settings), plan.deadline_s, args, args.run.max_time, terminal)?;
    Ok(what_if_report(plan, &comparison, args.run.seed.unwrap_or(0), planned, wall))
}

/// Policies that were compared.
struct Compared {
    comparison: Comparison,
    /// The planned number of replications.
    planned: u64,
    wall: Duration,
}

/// Runs an experiment until there are enough replications, or the time limit is reached.
fn compared(
    prepare: impl for<'a> FnOnce(Replications<'a>) -> Result<Experiment<'a>, ExperimentError>,
    deadline_s: Option<f64>,
    args: &WhatIfArgs,
    max_time: Option<Duration>,
    terminal: &Terminal,
) -> Result<Compared, Failure> {
    let started = Instant::now();
    let exit = || if interrupted() { Exit::Interrupted } else { Exit::Refused };
    let refused = |error: &dyn std::fmt::Display| Failure::plain(exit(), error.to_string());
    catch_interrupt(terminal);
    let mut planned = args.reps.unwrap_or(MOST);
    let as_few_as_tell =
        args.reps.is_none() && terminal.share().is_whole() && args.plan.as_deref().is_some_and(is_meant);
    let runs = {
        let progress = Progress::new(terminal.shows_progress(), "replications");
        let watch = &TimeLimit::new(&progress, max_time);
        let seed = args.run.seed.unwrap_or(0);
        let share = terminal.share().clone();
        let settings = Replications { first: 0, count: planned, seed, threads: args.run.threads, watch, share };
        let experiment = prepare(settings).map_err(|error| refused(&error))?;
        let mut go_on = |runs: &[PolicyRuns]| {
            let done = runs.first().map_or(0, |run| run.outcomes.len() as u64);
            progress.progress(done, planned);
            let told = as_few_as_tell && done >= FEWEST;
            if told && widest_change(runs, args.run.level).is_none_or(|widest| widest <= WELL_ENOUGH) {
                planned = done;
                return false;
            }
            !watch.stopped()
        };
        experiment.run(&mut go_on).map_err(|error| refused(&error))?
    };
    if terminal.share().is_part() {
        return Err(Failure::part());
    }
    if runs.iter().any(|run| run.outcomes.is_empty()) {
        return Err(refused(&"stopped before the first replication was complete"));
    }
    let comparison = compare(&runs, args.run.level).map_err(|error| refused(&error))?;
    Ok(Compared { comparison: comparison.with_deadline(&runs, deadline_s), planned, wall: started.elapsed() })
}

/// Returns true if a path is a log rather than a plan. An unreadable file is reported later, when it is read.
fn is_meant(path: &Path) -> bool {
    path.is_dir() || is_log(path)
}

/// Replays the log under the policies.
fn run_log(log: &Path, args: &WhatIfArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if let Some(option) = args.planned.options().first() {
        let message = format!("`{}` applies only to plans; a log is replayed with its own settings", option.name());
        return Err(Failure::helped(
            Exit::Usage,
            message,
            "remove the option, or use the plan of a job instead of the log",
        ));
    }
    may_draw(&args.plots, args.force)?;
    catch_interrupt(terminal);
    let trace = load(log, &(&args.limits).into(), terminal)?;
    tell_warnings(&trace, terminal);
    let trace = match &args.job {
        Some(job) => only(trace, job).map_err(|error| refused(&error))?,
        None => trace,
    };
    let replayed = replay(&trace).map_err(|error| refused(&error))?;
    drop(trace);
    let policies = match &args.policies {
        Some(path) => read(Some(path), terminal)?.policies(),
        None => usual_policies(replayed.actual_s, replayed.speculation),
    };
    let policies = swept(Plan { policy: policies, ..Plan::default() }, &args.sweep)?.policy;
    let policies = policies_with_none(policies);
    let Compared { comparison, planned, wall } = compared(
        |settings| Ok(Experiment::of_known(&replayed.job, &policies, settings)),
        None,
        args,
        args.run.max_time,
        terminal,
    )?;
    let report = log_what_if_report(&replayed, &comparison, args.run.seed.unwrap_or(0), planned, wall);
    terminal.report(&report, &args.print)?;
    if let Some(path) = &args.plot {
        let picture = what_if_picture(&report.comparison).map_err(Failure::internal)?;
        write_picture(path, &picture.wide, args.force)?;
    }
    draw_report(&report, &args.plots, args.force, terminal)?;
    Ok(if interrupted() { Exit::Interrupted } else { Exit::Success })
}

/// Returns the job of a log with this id; if there is none, the only job with this name.
fn only(trace: JobTrace, job: &str) -> Result<JobTrace, FitError> {
    let by = |wanted: &dyn Fn(&Application) -> bool| {
        let mut found = trace.applications_with_ids().filter(|(_, application)| wanted(application));
        found.next().filter(|_| found.next().is_none()).map(|(id, _)| id)
    };
    match by(&|application| application.id == job).or_else(|| by(&|application| application.name == job)) {
        Some(id) => Ok(trace.into_application(id)),
        None => Err(FitError::NoSuchJob {
            log: trace.files.first().cloned().unwrap_or_default(),
            id: job.to_owned(),
            ids: trace.applications.iter().map(|application| application.id.clone()).collect(),
        }),
    }
}

/// Adds the replay without changes, for comparison, if it is missing.
fn policies_with_none(mut policies: Vec<PolicyPlan>) -> Vec<PolicyPlan> {
    if !policies.iter().any(|policy| policy.detector == PolicyPlan::default().detector) {
        policies.insert(0, PolicyPlan::default());
    }
    policies
}

fn refused(error: &FitError) -> Failure {
    let note = Note::problem(error.to_string());
    let note = match error {
        FitError::SeveralApplications { .. } => note.with_help("select one with --job ID"),
        _ => note,
    };
    Failure::new(Exit::Trace, note)
}
