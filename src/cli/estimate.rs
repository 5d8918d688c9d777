//! `estimate`: how long a job takes, by simulation and by formula.

use std::time::Instant;

use tailspn::compile::{Program, plan_schedule};
use tailspn::mapreduce::{AttemptReward, JobNet, JobPhases, JobTime, Machines, Plan, attempt_rewards};
use tailspn::net::TransitionId;
use tailspn::plan::JobPlan;
use tailspn::report::{AnalyticSummary, Found, JobReport, job_report, reward_to_gather};
use tailspn::sim::{CriticalPath, Ensemble, Group, Question, Run, run as replicate};
use tailspn::solve::{GridSettings, completion_time, is_series_parallel};

use crate::cli::args::{EstimateArgs, Method};
use crate::cli::convert::{export, format_of, put};
use crate::cli::estimate_stages;
use crate::cli::exit::Exit;
use crate::cli::load::compile_net;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::{Terminal, may_write};
use crate::cli::pictures::{NAMES, draw_found, may_draw};
use crate::cli::plan::{only_whatif, read_job};
use crate::cli::simulate::{backend, end_of, failure, stop_rule};
use crate::cli::spn_gc::phases_and_net;
use crate::cli::watch::{Progress, catch_interrupt};

/// Replications where nothing else is asked for.
pub(super) const REPLICATIONS: u64 = 2_000;
/// Replications whose critical paths are followed; more would not change what is shown.
const TRACED: u64 = 10_000;

/// Estimates the job.
pub(crate) fn run(args: &EstimateArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let started = Instant::now();
    if args.print_plan {
        terminal.data(Plan::example_toml())?;
        return Ok(Exit::Success);
    }
    let plan = match read_job(args.plan.as_deref(), terminal)? {
        JobPlan::MapReduce(plan) => *plan,
        JobPlan::Stages(plan) => return estimate_stages::run(plan, args, terminal),
        plan => return Err(only_whatif(&plan, "estimate")),
    };
    run_phases(plan, args, started, terminal)
}

/// Estimates a job of nine phases.
fn run_phases(mut plan: Plan, args: &EstimateArgs, started: Instant, terminal: &Terminal) -> Result<Exit, Failure> {
    if args.size.is_given() || args.speculation.is_some() {
        let note =
            Note::problem("--input-size, --executors, --cores, --partitions and --speculation are for plans of stages");
        return Err(Failure::new(
            Exit::Usage,
            note.with_help("`tailspn fit LOG` makes one; this plan has keys for its sizes"),
        ));
    }
    plan.model.seed = args.run.seed.unwrap_or(plan.model.seed);
    let format = args.export.as_deref().map(|path| format_of(None, path)).transpose()?;
    if let Some(path) = &args.export {
        may_write(path, args.force)?;
    }
    may_draw(&NAMES, &args.plots, args.force)?;
    let (phases, job) = phases_and_net(&plan, terminal)?;
    let mut report = job_report(&plan, &phases, args.run.level);
    if args.method != Method::Simulate {
        add_exact(&mut report, &plan, &phases, &job, args.method)?;
    }
    let mut exit = Exit::Success;
    if args.method != Method::Exact {
        exit = end_of(&simulate(&mut report, &plan, &job, args, terminal)?);
    }
    report.add_cost(started.elapsed());
    report.add_method();
    let advice = if args.method == Method::Auto { advise(&mut report, &job)? } else { None };
    terminal.report(&report, &args.print)?;
    advice.iter().for_each(|advice| terminal.tell(advice));
    if let (Some(path), Some(format)) = (&args.export, format) {
        put(path, &export(&job.net, format, true, terminal), args.force, terminal)?;
    }
    draw_found(&Found::Estimate(Box::new(report)), &args.plots, args.force, terminal)?;
    Ok(exit)
}

/// Adds the exact distribution, where there is one: by formula, and where nothing else is wanted also from the parts of the net.
fn add_exact(
    report: &mut JobReport,
    plan: &Plan,
    phases: &JobPhases,
    job: &JobNet,
    method: Method,
) -> Result<(), Failure> {
    let error = match JobTime::of_plan(plan, phases) {
        Ok(law) => {
            report.analytic = Some(AnalyticSummary::new(&law));
            return Ok(());
        }
        Err(error) => error,
    };
    if method != Method::Exact {
        report.no_analytic = Some(error.to_string());
        return Ok(());
    }
    let program = compile_net(&job.net)?;
    let time = completion_time(&program, &GridSettings::default()).map_err(|other| {
        let note = Note::problem(format!("no formula: {error}; and none from parts: {other}"));
        Failure::new(Exit::Refused, note.with_help("`--method simulate` has no such limits"))
    })?;
    let law = AnalyticSummary::of_completion(&time);
    report.analytic = Some(law.map_err(|error| Failure::plain(Exit::Refused, error.to_string()))?);
    Ok(())
}

/// Whether an exact answer would do, and how to get it.
fn advise(report: &mut JobReport, job: &JobNet) -> Result<Option<String>, Failure> {
    if report.analytic.is_some() {
        return Ok(Some("note: the job time is known exactly; --method exact gives it without simulation".to_owned()));
    }
    if is_series_parallel(&compile_net(&job.net)?).is_err() {
        return Ok(None);
    }
    report.method.exact = Some("series-parallel".into());
    Ok(Some("note: there is no formula, but --method exact gives the job time from its parts".to_owned()))
}

/// Adds what a simulation shows.
fn simulate(
    report: &mut JobReport,
    plan: &Plan,
    job: &JobNet,
    args: &EstimateArgs,
    terminal: &Terminal,
) -> Result<Run, Failure> {
    let program = compile_net(&job.net)?;
    let rewards = rewards(plan, job);
    let gathered = rewards.iter().map(|reward| reward_to_gather(&job.net, reward)).collect();
    let question = Question { groups: phase_groups(job), rewards: gathered, ..Question::default() };
    let found = replications(&program, &question, args, plan.model.seed, terminal)?;
    report.add_run(&found, &question);
    report.add_attempts(&found, &rewards);
    match critical_path(&program, &question.groups, &found) {
        Ok(path) => report.add_critical_path(&path),
        Err(_) if plan.model.slots => {
            report.no_critical =
                Some("tasks wait for slots (`model.slots`), in an order that each run decides".to_owned());
        }
        Err(reason) => report.no_critical = Some(reason),
    }
    Ok(found)
}

/// What stragglers and copies cost, where the plan has any.
fn rewards(plan: &Plan, job: &JobNet) -> Vec<AttemptReward> {
    if job.attempts.is_empty() {
        Vec::new()
    } else {
        attempt_rewards(&job.net, &job.attempts, Some(&Machines::of(plan)))
    }
}

/// One group of transitions per phase, in the order of the phases.
fn phase_groups(job: &JobNet) -> Vec<Group> {
    job.phases.iter().map(|(phase, transitions)| group(phase.name(), transitions)).collect()
}

/// A group of transitions of a net.
pub(super) fn group(name: &str, transitions: &[TransitionId]) -> Group {
    let number = |index: usize| u32::try_from(index).expect("a program numbers its transitions with 32 bits");
    Group { name: name.to_owned(), transitions: transitions.iter().map(|id| number(id.index())).collect() }
}

/// Replicates as the arguments say, with progress; Ctrl-C keeps what is there.
pub(super) fn replications(
    program: &Program,
    question: &Question,
    args: &EstimateArgs,
    seed: u64,
    terminal: &Terminal,
) -> Result<Run, Failure> {
    let ensemble = Ensemble {
        replications: args.reps.unwrap_or(REPLICATIONS),
        stop: stop_rule(args.rel_error, args.reps, args.run.level),
        seed,
        threads: args.run.threads,
        max_wall: args.run.max_time,
        backend: backend(args.place.backend),
        adapter: args.place.adapter.clone(),
        ..Ensemble::default()
    };
    catch_interrupt(terminal);
    let progress = Progress::new(terminal.shows_progress(), "replications");
    replicate(program, question, &ensemble, &progress).map_err(|error| failure(&error))
}

/// Where the time goes, in the first replications of the run; for nets that the schedule engine cannot run, why not.
fn critical_path(program: &Program, groups: &[Group], run: &Run) -> Result<CriticalPath, String> {
    let plan = plan_schedule(program).map_err(|obstacles| {
        let first = obstacles.first().map_or_else(String::new, |obstacle| format!(": {obstacle}"));
        format!("the schedule engine, which follows it, cannot run this net{first}")
    })?;
    let samples = &run.samples;
    let traced = samples.replications.min(TRACED);
    let (seed, first) = (run.provenance.seed, run.provenance.first);
    CriticalPath::trace(program, &plan, groups, samples.clock, seed, first, traced)
        .map_err(|reasons| reasons.join("; "))
}
