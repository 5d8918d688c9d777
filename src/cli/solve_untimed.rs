//! `solve --untimed`: all markings of a net without time, and CTL formulas.

use tailspn::answer::AnswerError;
use tailspn::ask::net::{ExploredNet, explore_net};
use tailspn::net::Net;
use tailspn::net::expr::ExprError;
use tailspn::solve::{Formula, FormulaError, Priorities};
use tailspn::subject::names_in_a_sentence;
use tailspn::watch::TimeLimit;

use crate::cli::args::SolveArgs;
use crate::cli::call::interrupted;
use crate::cli::exact::{limits, states_failure};
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note, Source};
use crate::cli::output::Terminal;
use crate::cli::question::known_names;
use crate::cli::solve_files::{may_write_all, write_coverability, write_untimed};
use crate::cli::watch::catch_interrupt;

/// Explores the net, checks the formulas, prints the results and writes the files.
pub(super) fn run(net: &Net, args: &SolveArgs, terminal: &Terminal, watch: &TimeLimit<'_>) -> Result<Exit, Failure> {
    let formulas = formulas(net, &args.ctl)?;
    may_write_all(args)?;
    catch_interrupt(terminal);
    let priorities = if args.ignore_priorities { Priorities::Ignored } else { Priorities::Kept };
    let explored =
        explore_net(net, priorities, formulas, &limits(args.max_states, args.max_memory, watch.left()), watch)
            .map_err(states_failure)?;
    let ExploredNet { report, missing, program, graph, coverability } = explored;
    terminal.report(&report, &args.print)?;
    if let Some(graph) = &coverability {
        write_coverability(graph, &program, net.name(), args, terminal)?;
    }
    match missing {
        Some(AnswerError::Incomplete(_)) if interrupted() => return Ok(Exit::Interrupted),
        Some(AnswerError::Explore(error)) => {
            let note = Note::problem(error.to_string());
            let help = "formulas were not checked: they need finitely many markings";
            return Err(Failure::new(Exit::Refused, if args.ctl.is_empty() { note } else { note.with_help(help) }));
        }
        Some(error) => return Err(states_failure(error)),
        None => {}
    }
    if let Some(graph) = &graph {
        write_untimed(graph, priorities, &program, net.name(), args)?;
    }
    let fails = report.formulas.iter().any(|row| row.holds == Some(false));
    Ok(if fails { Exit::Unmet } else { Exit::Success })
}

/// Parses all formulas, and reports all errors.
fn formulas(net: &Net, texts: &[String]) -> Result<Vec<Formula>, Failure> {
    let (mut formulas, mut notes) = (Vec::new(), Vec::new());
    for text in texts {
        match Formula::parse(net, text) {
            Ok(formula) => formulas.push(formula),
            Err(error) => {
                let note = Note::problem(error.to_string()).at(&Source::argument("--ctl", text), error.span());
                notes.push(match help(net, &error) {
                    Some(help) => note.with_help(help),
                    None => note,
                });
            }
        }
    }
    if notes.is_empty() { Ok(formulas) } else { Err(Failure { exit: Exit::Usage, notes }) }
}

/// Lists the names that a formula may use, after an unknown one.
pub(super) fn help(net: &Net, error: &FormulaError) -> Option<String> {
    match error {
        FormulaError::UnknownTransition { .. } => {
            let names: Vec<&str> = net.transitions().iter().map(|transition| transition.id.as_str()).collect();
            Some(names_in_a_sentence(&names))
        }
        // a name alone may be a place
        FormulaError::Expression { error: ExprError::UnknownParameter { .. }, .. } => {
            let names: Vec<&str> = net.places().iter().map(|place| place.id.as_str()).collect();
            Some(names_in_a_sentence(&names))
        }
        FormulaError::Expression { error, .. } => known_names(net, error),
        _ => None,
    }
}
