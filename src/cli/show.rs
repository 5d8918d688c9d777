//! No verb: what each file is, its answer in a paragraph, and the commands to try next. With `--html` or `--plots`, results as a page or as
//! pictures.

use std::path::Path;
use std::time::Duration;

use tailspn::answer::AnswerError;
use tailspn::ask::net::{SolveSettings, solve_net};
use tailspn::diagnose::causes::{CauseSettings, RootCauses, causes_of_log};
use tailspn::diagnose::samples::Samples;
use tailspn::job_time::OwnRunVerdict;
use tailspn::net::Net;
use tailspn::plan::JobPlan;
use tailspn::report::{TraceReport, Typed, cause_text, counted, document_text, trace_report};
use tailspn::sim::Question;
use tailspn::subject::FileKind;
use tailspn::trace::analysis::Usual;
use tailspn::trace::{Format, JobTrace, ReadOptions, utc_text};
use tailspn::watch::{TimeLimit, Unwatched};

use crate::cli::args::{FitArgs, LogArgs, NetArgs, ShowArgs};
use crate::cli::exact::limited;
use crate::cli::exit::Exit;
use crate::cli::files::write_file;
use crate::cli::fit::plan_of;
use crate::cli::input::quoted;
use crate::cli::left::is_running;
use crate::cli::load::{read_bytes, read_net, unreadable};
use crate::cli::logs::{all_logs, load, short_names};
use crate::cli::notes::Failure;
use crate::cli::output::{Terminal, data_of};
use crate::cli::plan::PlanText;
use crate::cli::proof::proved;
use crate::cli::report::{self, read_result};
use crate::cli::stdin::{StandardInput, is_standard};
use crate::cli::unknown;
use crate::cli::watch::catch_interrupt;

/// A gain below this share of the job's time is not worth a word.
const WORTH: f64 = 0.01;

/// Maximum number of logs or jobs that are listed.
const MOST_LISTED: usize = 15;
/// Maximum number of states for a first look at a net.
const MOST_STATES: u64 = 100_000;
/// Maximum time for a first look.
const MOST_TIME: Duration = Duration::from_secs(1);

/// A sentence about a file, and the commands for it: the words after `tailspn`, and what they give.
struct Shown {
    text: String,
    next: Vec<(String, &'static str)>,
}

/// Shows each file, or makes a page or pictures of results.
pub(crate) fn run(args: &ShowArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if args.html.is_some() || args.plots.plots.is_some() {
        return report::run(args, terminal);
    }
    catch_interrupt(terminal);
    for (number, path) in args.files.iter().enumerate() {
        if args.print.is_chosen() {
            return printed(path, args, terminal);
        }
        let Shown { text, next } = show(path, terminal)?;
        let gap = if number == 0 { "" } else { "\n" };
        terminal.data(&format!("{gap}{text}{}", next_text(&next)))?;
    }
    Ok(Exit::Success)
}

/// Prints a result in the requested form.
fn printed(path: &Path, args: &ShowArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let name = path.display().to_string();
    let found = if path.is_dir() { report::sweep_of(path)? } else { read_result(&name, &read_bytes(path)?)? };
    terminal.data(&terminal.printed(&found, &args.print, &Typed::default())?)?;
    for (form, file) in args.print.files() {
        let text = data_of(&found, form, &args.print, &Typed::default())?;
        write_file(file, text.as_bytes(), args.print.force)?;
    }
    Ok(Exit::Success)
}

/// Returns the commands, their results in one column.
fn next_text(next: &[(String, &str)]) -> String {
    if next.is_empty() {
        return String::new();
    }
    let width = next.iter().map(|(command, _)| command.chars().count()).max().unwrap_or(0);
    let lines = next.iter().map(|(command, gives)| format!("  tailspn {command:<width$}   {gives}\n"));
    format!("\nNext\n{}", lines.collect::<String>())
}

fn show(path: &Path, terminal: &Terminal) -> Result<Shown, Failure> {
    let name = path.display().to_string();
    let standard = is_standard(path).then(StandardInput::read).transpose();
    let standard = standard.map_err(|error| unreadable(path, &error))?;
    let path = &standard.as_ref().map_or_else(|| path.to_owned(), StandardInput::path);
    std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    let beside = |what: &str, next: Vec<(String, &'static str)>| Ok(Shown { text: format!("{name}: {what}.\n"), next });
    match FileKind::of(path) {
        Some(FileKind::Log(format)) => log(path, &name, format, terminal),
        Some(FileKind::Net) => net(path, &name),
        Some(FileKind::JobPlan) => plan(path, &name, terminal),
        Some(FileKind::SweepPlan) => beside(
            "the plan of a sweep",
            vec![
                (format!("study {name}"), "every configuration"),
                (format!("study {name} --method derivatives"), "the effect of each setting"),
            ],
        ),
        Some(FileKind::OptimizePlan) => beside(
            "the plan of an optimisation",
            vec![(format!("study {name}"), "the cheapest configuration that meets the deadline")],
        ),
        Some(FileKind::HadoopConf) => beside(
            "the settings of a Hadoop job",
            vec![(format!("estimate HISTORY.jhist {name}"), "the next run, from the history of the job")],
        ),
        Some(FileKind::Samples) => beside(
            "samples of a node, by sysstat",
            vec![(format!("why LOG {name}"), "the causes of slow tasks in a log")],
        ),
        Some(FileKind::SystemCalls) => beside(
            "system calls of a node, by strace",
            vec![(format!("why {name} OTHER... --profile USUAL.json"), "which node is faulty")],
        ),
        Some(FileKind::Progress) => {
            beside("progress reports of tasks", vec![(format!("watch {name}"), "stragglers while tasks run")])
        }
        Some(FileKind::Runs) => beside(
            "a table of runs",
            vec![(format!("estimate {name}"), "the next run, on the machines of the table and on others")],
        ),
        Some(FileKind::Cluster) => beside(
            "what is known about a cluster",
            vec![(format!("estimate TASKS.tsv --alongside {name}"), "the next run of another program on it")],
        ),
        Some(FileKind::Result) | None => result(path, &name, terminal),
    }
}

/// Shows a result as its command printed it, or refuses a file of an unknown kind.
fn result(path: &Path, name: &str, terminal: &Terminal) -> Result<Shown, Failure> {
    let found = if path.is_dir() {
        report::sweep_of(path)?
    } else {
        let bytes = read_bytes(path)?;
        // a damaged net or plan: its reader says what is wrong
        let start = bytes.trim_ascii_start();
        if start.starts_with(b"<") {
            return net(path, name);
        }
        if name.ends_with(".toml") {
            return plan(path, name, terminal);
        }
        if !start.starts_with(b"{") {
            return Err(unknown::refused(Path::new(name), &bytes, "a file that tailspn reads"));
        }
        read_result(name, &bytes)?
    };
    let text = document_text(&found.document(), &terminal.look(false));
    Ok(Shown { text, next: vec![(format!("{name} --html PAGE.html"), "the result as a page")] })
}

/// Shows a net.
fn net(path: &Path, name: &str) -> Result<Shown, Failure> {
    let loaded = read_net(&NetArgs::at(path))?;
    let net = &loaded.net;
    let tokens: u64 = net.places().iter().map(tailspn::net::Place::initial_total).sum();
    let text = format!(
        "{name}: Petri net ({}), {}, {}, {}.\n",
        loaded.dialect,
        counted(net.places().len() as u64, "place"),
        counted(net.transitions().len() as u64, "transition"),
        counted(tokens, "token"),
    ) + &states_of(net);
    Ok(Shown {
        text,
        next: vec![
            (format!("net solve {name}"), "exact values in the long run"),
            (format!("net check {name}"), "problems, and the engines that can run it"),
            (format!("serve {name}"), "play the token game in the browser"),
        ],
    })
}

/// Returns a sentence about the states of a net, if they are few; empty if the net cannot be explored.
fn states_of(net: &Net) -> String {
    let limits = limited(Some(MOST_STATES), None, Some(MOST_TIME));
    let settings = SolveSettings { run: limits, ..SolveSettings::default() };
    let watch = TimeLimit::new(&Unwatched, Some(MOST_TIME));
    let found = match solve_net(net, &Question::default(), &settings, &watch) {
        Ok(solved) => solved.report,
        Err(AnswerError::Incomplete(_)) => return "\nIt has too many states for a first look.\n".to_owned(),
        Err(_) => return String::new(),
    };
    let (Some(space), Some(verdicts), Some(dead)) = (found.state_space, found.verdicts, found.deadlocks) else {
        return String::new();
    };
    let dead = match dead.count {
        0.0 => "It never deadlocks".to_owned(),
        some => format!("It has {}", counted(some as u64, "deadlock")),
    };
    let never = found.liveness.iter().filter(|row| row.level == 0).count();
    let live = match never {
        _ if verdicts.live => "every transition can always fire again".to_owned(),
        0 => "some transitions fire only for a time".to_owned(),
        some => format!("{} never {}", counted(some as u64, "transition"), if some == 1 { "fires" } else { "fire" }),
    };
    let most = found.bounds.iter().map(|bound| bound.bound).max().unwrap_or(0);
    let states = counted(space.tangible as u64, "state");
    format!("\n{states}. {dead}, {live},\nand no place holds more than {}.\n", counted(most, "token"))
}

/// Shows the plan of a job.
fn plan(path: &Path, name: &str, terminal: &Terminal) -> Result<Shown, Failure> {
    let plan = PlanText::read(&path.into(), terminal)?.job()?;
    let (what, can_estimate) = match &plan {
        JobPlan::MapReduce(_) => ("the plan of a MapReduce job".to_owned(), true),
        JobPlan::Stages(plan) => {
            (format!("the plan of a job with {}", counted(plan.stage.len() as u64, "stage")), true)
        }
        JobPlan::Tasks(_) => ("tasks on a cluster over time".to_owned(), false),
    };
    let estimate = (format!("estimate {name}"), "how long the job takes; other sizes and clusters");
    let whatif = (format!("whatif {name}"), "what copies of slow tasks would change");
    let next = if can_estimate { vec![estimate, whatif] } else { vec![whatif] };
    Ok(Shown { text: format!("{name}: {what}.\n"), next })
}

/// Shows a log: what ran, how long it took, what cost most, and whether a model reproduces it.
fn log(path: &Path, name: &str, format: Format, terminal: &Terminal) -> Result<Shown, Failure> {
    let options = ReadOptions::default();
    let logs = all_logs(&[&path.to_owned()], &options)?;
    if logs.len() > 1 {
        let files: Vec<&str> = logs.iter().filter_map(|log| log.options.application.as_deref()).collect();
        return Ok(several(name, &counted(logs.len() as u64, "log"), &files));
    }
    let trace = load(path, &options, terminal)?;
    let is_history = matches!(format, Format::HadoopJson | Format::HadoopText | Format::Rumen | Format::PhaseLog);
    if trace.applications.len() > 1 && is_history {
        let ids: Vec<&str> = trace.applications.iter().map(|job| job.id.as_str()).collect();
        let what = format!("{}, {}", format.text(), counted(ids.len() as u64, "job"));
        return Ok(several(name, &what, &ids));
    }
    let report = trace_report(&trace, &Usual::from_runs(&[]));
    let mut text = head(name, format, &trace, &report);
    if is_running(&trace) {
        text += "\nThe log has no end: the application runs, or was killed.\n";
        let mut next =
            vec![(format!("estimate {name}"), "the time left"), (format!("why {name}"), "slow tasks so far")];
        // standard input has an end
        if name != "-" {
            next.insert(1, (format!("watch {name}"), "the time left, again and again"));
        }
        return Ok(Shown { text, next });
    }
    let causes = causes_of_log(&trace, &Samples::default(), &CauseSettings::default()).causes;
    text += &format!("\n{}", costs(&report, &causes));
    let mut next = vec![(format!("why {name}"), "what each cause cost")];
    if matches!(
        format,
        Format::SparkEventLog | Format::HadoopJson | Format::HadoopText | Format::Rumen | Format::PhaseLog
    ) {
        let (told, is_possible) = model(path, terminal);
        text += &told;
        if is_possible {
            next.insert(0, (format!("estimate {name}"), "the next run, other sizes, other clusters"));
        }
    }
    next.push((format!("serve {name}"), "the run as a picture, in the browser"));
    Ok(Shown { text, next })
}

/// Shows a file or folder of several jobs, each with the word that selects it.
fn several(name: &str, what: &str, ids: &[&str]) -> Shown {
    let ids = &short_names(ids);
    let listed: String = ids.iter().take(MOST_LISTED).map(|id| format!("  {id}\n")).collect();
    let more = ids.len().saturating_sub(MOST_LISTED);
    let more = if more > 0 { format!("  and {more} more\n") } else { String::new() };
    let one = quoted(ids.first().unwrap_or(&"ID"));
    let next = vec![
        (format!("why {name}"), "what was slow, a row for each"),
        (format!("why {name} --app {one}"), "one of them"),
        (format!("estimate {name} --app {one}"), "the next run of one of them"),
    ];
    Shown { text: format!("{name}: {what}.\n\n{listed}{more}"), next }
}

/// Returns two lines about what a log recorded.
fn head(name: &str, format: Format, trace: &JobTrace, report: &TraceReport) -> String {
    let start = report.origin_unix_s.map_or_else(String::new, |origin| format!(", run of {}", utc_text(origin)));
    let version = match &report.applications[..] {
        [one] => one.version.as_ref().map_or_else(String::new, |version| format!(" ({version})")),
        several => format!(", {}", counted(several.len() as u64, "application")),
    };
    let tasks: u64 = report.stages.iter().map(|stage| stage.tasks_done).sum();
    let slots: u64 = report.applications.iter().map(|one| one.slots).max().unwrap_or(0);
    format!(
        "{name}: {}{version}{start}.\n{}, {}, {} on {}.\n",
        format.text(),
        counted(report.stages.len() as u64, "stage"),
        counted(tasks, "completed task"),
        counted(slots, "slot"),
        counted(trace.nodes.len() as u64, "host"),
    )
}

/// Returns a sentence about the time of the job, and one about what cost most.
fn costs(report: &TraceReport, causes: &RootCauses) -> String {
    let [one] = &report.applications[..] else { return String::new() };
    let Some(bounds) = &one.bounds else { return String::new() };
    let took_s = bounds.span_s;
    let mut text = format!("The job took {}.", seconds(took_s));
    if let Some(start_s) = causes.warm_up().map(|warm| warm.start_s).filter(|start_s| *start_s > WORTH * took_s) {
        text += &format!(" No task ran for the first {}.", seconds(start_s));
    }
    let worth = |saved_s: &f64| *saved_s > WORTH * took_s;
    if let Some((advice, saved_s)) =
        causes.advice().first().and_then(|advice| Some((advice.clone(), advice.job_s.filter(worth)?)))
    {
        text += &format!("\nThe costliest cause, {}, cost {}.", cause_text(advice.cause), seconds(saved_s));
    }
    text + "\n"
}

/// Returns a sentence about the model that a plan of this log is: whether it reproduces the run; and true if it does.
fn model(path: &Path, terminal: &Terminal) -> (String, bool) {
    let plan = plan_of(&FitArgs::of_logs(vec![path.to_owned()], &LogArgs::default()), None, &terminal.silent());
    let checked = plan.and_then(|plan| proved(&plan, true, terminal));
    match checked {
        Ok(own) => match (own.verdict, own.runs.first()) {
            (OwnRunVerdict::Reproduced, Some(run)) => (
                format!(
                    "A model reproduces this run: it takes {}, the log {}.\n",
                    seconds(run.model_s),
                    seconds(run.logged_s)
                ),
                true,
            ),
            (OwnRunVerdict::NotReproduced, Some(run)) => {
                (format!("A model takes {}: it does NOT reproduce this run.\n", seconds(run.model_s)), false)
            }
            _ => (String::new(), true),
        },
        Err(failure) => {
            (failure.notes.first().map_or_else(String::new, |note| format!("No estimate: {note}.\n")), false)
        }
    }
}

/// Returns a measured time with three digits.
fn seconds(seconds: f64) -> String {
    let decimals = if seconds < 10.0 { 2 } else { usize::from(seconds < 100.0) };
    format!("{seconds:.decimals$} s")
}
