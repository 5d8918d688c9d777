//! `solve --untimed`: all markings of a net without time, and CTL formulas.

use tailspn::answer::AnswerError;
use tailspn::ask::net::{ExploredNet, explore_net};
use tailspn::net::Net;
use tailspn::net::expr::ExprError;
use tailspn::report::{Answer, End};
use tailspn::solve::{Formula, FormulaError, Priorities};
use tailspn::subject::names_in_a_sentence;
use tailspn::watch::TimeLimit;

use crate::cli::args::SolveArgs;
use crate::cli::call::interrupted;
use crate::cli::exact::{limited, states_failure};
use crate::cli::exit::Exit;
use crate::cli::frame::Asked;
use crate::cli::notes::{Failure, Note, Source};
use crate::cli::output::Terminal;
use crate::cli::question::known_names;
use crate::cli::solve_files::{may_write_all, write_coverability, write_untimed};
use crate::cli::watch::catch_interrupt;

/// Explores the net and checks the formulas.
pub(super) fn ask<'a>(
    net: Net,
    args: &'a SolveArgs,
    terminal: &Terminal,
    watch: &TimeLimit<'_>,
) -> Result<Asked<'a>, Failure> {
    let formulas = formulas(&net, &args.ctl)?;
    may_write_all(args)?;
    catch_interrupt(terminal);
    let priorities = if args.ignore_priorities { Priorities::Ignored } else { Priorities::Kept };
    let explored =
        explore_net(&net, priorities, formulas, &limited(args.max_states, args.max_memory, watch.left()), watch)
            .map_err(states_failure)?;
    let ExploredNet { report, missing, program, graph, coverability } = explored;
    let fails = report.formulas.iter().any(|row| row.holds == Some(false));
    let answer = Answer { end: if fails { End::No } else { End::Complete }, ..Answer::new(report) };
    Ok(Asked::from(answer).writing(move |_, terminal| {
        if let Some(graph) = &coverability {
            write_coverability(graph, &program, net.name(), args, terminal)?;
        }
        explored_all(missing, args)?;
        match &graph {
            Some(graph) => write_untimed(graph, priorities, &program, net.name(), args),
            None => Ok(()),
        }
    }))
}

/// Explains why markings are missing.
fn explored_all(missing: Option<AnswerError>, args: &SolveArgs) -> Result<(), Failure> {
    match missing {
        Some(AnswerError::Incomplete(_)) if interrupted() => Err(Failure::stopped()),
        Some(AnswerError::Explore(error)) => {
            let note = Note::problem(error.to_string());
            let help = "formulas were not checked: they need finitely many markings";
            Err(Failure::new(Exit::Refused, if args.ctl.is_empty() { note } else { note.with_help(help) }))
        }
        Some(error) => Err(states_failure(error)),
        None => Ok(()),
    }
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
    if notes.is_empty() { Ok(formulas) } else { Err(Failure::of_notes(Exit::Usage, notes)) }
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
