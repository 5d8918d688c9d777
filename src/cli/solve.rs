//! `solve`: all markings of a net, and the results that follow from them.

use tailspn::answer::AnswerError;
use tailspn::ask::net::{SolveSettings, SolvedNet, solve_net};
use tailspn::solve::{ExploreError, GridSettings};
use tailspn::watch::TimeLimit;

use crate::cli::args::SolveArgs;
use crate::cli::call::interrupted;
use crate::cli::exact::{limits, states_failure};
use crate::cli::exit::Exit;
use crate::cli::load::read_net;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::preparation::Preparation;
use crate::cli::solve_question::net_question;
use crate::cli::watch::{Progress, catch_interrupt};
use crate::cli::{properties, solve_files, solve_untimed};

/// Solves the net.
pub(crate) fn run(args: &SolveArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if args.goal.is_some() {
        terminal.tell("warning: `--goal` is now `--until`; the old name will be removed in the next release");
    }
    let progress = Progress::new(terminal.shows_progress(), "states");
    let watch = TimeLimit::new(&progress, args.max_time);
    let preparation = Preparation::begin(args.max_time, terminal);
    let loaded = read_net(&args.net)?;
    terminal.brief_warnings(&loaded.warnings);
    if args.untimed {
        preparation.end();
        return solve_untimed::run(&loaded.net, args, terminal, &watch);
    }
    if !args.property.is_empty() {
        preparation.end();
        return properties::run(&loaded, args, terminal, &watch);
    }
    let question = net_question(&loaded.net, args)?;
    solve_files::may_write_all(args)?;
    catch_interrupt(terminal);
    preparation.end();
    let files = [&args.export_dot, &args.export_svg, &args.export_mtx, &args.export_prism];
    let settings = SolveSettings {
        method: args.method.0,
        grid: GridSettings { steps: usize::try_from(args.grid_steps).unwrap_or(usize::MAX), ..GridSettings::default() },
        fold: !args.no_fold,
        chain: files.into_iter().any(Option::is_some),
        limits: limits(args.max_states, args.max_memory, watch.left()),
    };
    let solved = solve_net(&loaded.net, &question, &settings, &watch).map_err(|error| not_solved(error, args))?;
    drop(progress);
    print(solved, loaded.net.name(), args, terminal)
}

/// Prints the results, even if some are missing, and writes the files.
fn print(solved: SolvedNet, net: &str, args: &SolveArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let SolvedNet { report, missing, states, coverability } = solved;
    terminal.report(&report, &args.print)?;
    if let Some((graph, program)) = &coverability {
        solve_files::write_coverability(graph, program, net, args, terminal)?;
    }
    match missing {
        Some(_) if interrupted() => return Ok(Exit::Interrupted),
        Some(error) => return Err(not_solved(error, args)),
        None => {}
    }
    if let Some((space, program)) = &states {
        solve_files::write_all(space, program, net, args)?;
    }
    solve_files::plot(report, args, terminal)?;
    Ok(if interrupted() { Exit::Interrupted } else { Exit::Success })
}

/// Explains why there is no answer.
fn not_solved(error: AnswerError, args: &SolveArgs) -> Failure {
    let refuse = |message: String, help: &str| Failure::helped(Exit::Refused, message, help);
    match error {
        AnswerError::NeverEntered => {
            let from = args.from.as_deref().unwrap_or_default();
            let message = format!("in the long run, the net never enters a marking where `{from}` holds");
            refuse(message, "without --from, the time is measured from the start")
        }
        AnswerError::Explore(ExploreError::Unbounded(unbounded)) => {
            let note = Note::problem(unbounded.to_string());
            Failure::new(Exit::Refused, if args.steady { note.with_help(NO_LONG_RUN) } else { note })
        }
        AnswerError::NeedsStates { .. } => {
            Failure::helped(Exit::Usage, error.to_string(), "remove `--method series-parallel`, or the other request")
        }
        AnswerError::Conflict { .. } => Failure::helped(
            Exit::Usage,
            error.to_string(),
            "use `tailspn simulate`, or run `solve` twice: once with the rewards, once with --within",
        ),
        error => states_failure(error),
    }
}

/// Advice for the steady state of an unbounded net.
const NO_LONG_RUN: &str = "an unbounded net can still have a steady state, depending on the rates; `tailspn simulate --steady --tokens` shows whether the token counts converge";
