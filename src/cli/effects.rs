//! `study` of effects: how much each setting of a job, or each rate of a net, changes the time.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use tailspn::ask::RunSettings;
use tailspn::ask::net::{SolveSettings, solve_net};
use tailspn::report::Answer;
use tailspn::sensitivity::{Method, Sensitivity, SensitivityReport};
use tailspn::sim::Question;
use tailspn::subject::{FileKind, GoalText};
use tailspn::sweep::SweepPlan;
use tailspn::watch::{TimeLimit, Unwatched};

use crate::cli::args::{NetArgs, StudyArgs, UntilArgs};
use crate::cli::exact::limited;
use crate::cli::exit::Exit;
use crate::cli::frame::Asked;
use crate::cli::input::Input;
use crate::cli::load::{read_net, unreadable};
use crate::cli::notes::{Failure, Note, Source};
use crate::cli::output::Terminal;
use crate::cli::plan::{PlanText, keys_of};
use crate::cli::proof::proved;
use crate::cli::question::late_dead_marking;
use crate::cli::study_failure::{study_failure, tell_warnings};
use crate::cli::study_inputs::{is_of_job, job, only_file};
use crate::cli::sweep::sweep_of_settings;
use crate::cli::watch::{Progress, catch_interrupt};

/// Maximum number of states and maximum time of the search for a dead marking.
const MOST_STATES: u64 = 20_000;
const MOST_TIME: Duration = Duration::from_secs(1);

/// Ranks the settings of a job, or the rates of a net, by their effect.
pub(crate) fn effects<'a>(args: &'a StudyArgs, terminal: &Terminal) -> Result<Asked<'a>, Failure> {
    let (study, plan) = read(args, terminal)?;
    tell_warnings(&study.warnings, &study.subject, terminal);
    let failed = |error| study_failure(error, &plan);
    let job = study.subject.plan().map_err(failed)?;
    let own_run = job.map(|job| proved(&job, args.trust.trust_misfit, terminal)).transpose()?;
    let mut study = study.settings(RunSettings { replications: args.reps, ..terminal.settings(&args.run) });
    study.method = args.method.map_or(Method::Derivatives, |method| method.0);
    study.subject.set_folding(!args.no_fold);
    study.measure = args.measure.unwrap_or(study.measure);
    study.by_transition = args.transitions;
    study.rows = args.rows;
    catch_interrupt(terminal);
    let noun = if study.method == Method::Derivatives { "replications" } else { "points" };
    let progress = Progress::new(terminal.shows_progress(), noun);
    let report = SensitivityReport { own_run, ..study.run(&progress).map_err(failed)? };
    let is_partial = report.partial;
    Ok(Answer::new(report).unless_stopped(is_partial).into())
}

/// Returns true if the subject is a net rather than a plan.
pub(crate) fn is_net(subject: &Input, args: &StudyArgs) -> Result<bool, Failure> {
    if subject.given_net().is_some() || subject.given_plan().is_some() || subject.kind() == Some(FileKind::Net) {
        return Ok(subject.given_plan().is_none());
    }
    // a pipe can be read only once, and its reader says what is wrong with it
    if !subject.is_file() {
        return Ok(false);
    }
    let text = String::from_utf8_lossy(&start_of(subject)?).into_owned();
    let text = text.trim_start_matches('\u{feff}').trim_start();
    // the reader of nets says what is wrong with a damaged net, and refuses an empty file with a clear message
    Ok(text.starts_with(['<', '|']) || (args.until.is_some() && text.is_empty()))
}

/// Returns the first bytes of a file.
fn start_of(path: &Path) -> Result<Vec<u8>, Failure> {
    /// Bytes that show whether a text is XML.
    const START: u64 = 4096;
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(START).read_to_end(&mut start));
    read.map(|_| start).map_err(|error| unreadable(path, &error))
}

/// Refuses a small net that never stops: without a goal, its time has no end.
fn never_stops(path: &Input) -> Result<(), Failure> {
    let net = match path.given_net() {
        Some(net) => net.clone(),
        None => read_net(&NetArgs::at(path))?.net,
    };
    let limits = limited(Some(MOST_STATES), None, Some(MOST_TIME));
    let watch = TimeLimit::new(&Unwatched, Some(MOST_TIME));
    let settings = SolveSettings { run: limits, ..SolveSettings::default() };
    let dead = solve_net(&net, &Question::default(), &settings, &watch).ok().and_then(|found| found.report.deadlocks);
    let Some(place) = dead.filter(|dead| dead.count == 0.0).and_then(|_| net.places().first()) else { return Ok(()) };
    let message = format!("`{}` never stops, so the time to its end is infinite", path.display());
    let help = format!("state a goal, such as --until '#({}) == 0'", place.id);
    Err(Failure::helped(Exit::Usage, message, help))
}

/// Returns the goal of a net.
fn goal_of(args: &StudyArgs) -> Result<GoalText, Failure> {
    let until = args.until.clone().filter(|until| until != "dead");
    if until.is_none() {
        late_dead_marking(&args.before).map_or(Ok(()), |note| Err(Failure::new(Exit::Usage, note)))?;
    }
    let UntilArgs { avoid, within } = args.before.clone();
    Ok(GoalText { until, avoid, within })
}

/// Reads a plan with axes, a job, or a net, and the text of the plan.
fn read(args: &StudyArgs, terminal: &Terminal) -> Result<(Sensitivity, PlanText), Failure> {
    let only_net = "`--until` applies to nets; a plan states its goal as `sweep.until`";
    if is_of_job(args) {
        if args.until.is_some() {
            return Err(Failure::plain(Exit::Usage, only_net));
        }
        let (job, text) = job(args, terminal)?;
        let plan = sweep_of_settings(job.clone(), text.as_ref())?.plan;
        let text = text.unwrap_or_else(PlanText::none);
        let study = Sensitivity::of_job(job).map_err(|error| study_failure(error, &text))?;
        return Ok((plan.axis.into_iter().fold(study, Sensitivity::axis), text));
    }
    let path = only_file(args)?;
    let options = args.planned.single_options()?;
    if is_net(path, args)? {
        if let Some(option) = options.first() {
            let note = Note::problem(format!("`{}` applies to job plans, not to a net", option.name()));
            return Err(Failure::new(Exit::Usage, note.with_help("write a plan with `sweep.base`")));
        }
        let text = PlanText { source: Source::new(path.display().to_string(), ""), text: String::new() };
        let goal = goal_of(args)?;
        if args.until.is_none() && args.method.is_none_or(|method| method.0 == Method::Derivatives) {
            never_stops(path)?;
        }
        let study = match path.given_net() {
            Some(net) => Sensitivity::of_net_with(net.clone(), goal),
            None => Sensitivity::open_net(path, goal),
        };
        return Ok((study.map_err(|error| study_failure(error, &text))?, text));
    }
    let text = PlanText::read(path, terminal)?;
    if args.until.is_some() {
        return Err(Failure::plain(Exit::Usage, only_net));
    }
    let plan = text.plan(SweepPlan::from_toml, &keys_of("study"))?;
    let study = Sensitivity::planned(plan, path.folder(), &options);
    Ok((study.map_err(|error| study_failure(error, &text))?, text))
}
