//! `solve --untimed`: all markings of a net without time, and CTL formulas.

use tailspn::compile::Program;
use tailspn::net::Net;
use tailspn::net::expr::ExprError;
use tailspn::report::{ExplorationReport, Subject, exploration_report};
use tailspn::solve::{
    Checked, Checker, ExploreError, Formula, FormulaError, Ignored, MarkingGraph, Priorities, Unbounded, coverability,
    explore_untimed,
};
use tailspn::subject::names_in_a_sentence;
use tailspn::watch::TimeLimit;

use crate::cli::args::SolveArgs;
use crate::cli::exact::failure;
use crate::cli::exit::Exit;
use crate::cli::load::compile_net;
use crate::cli::notes::{Failure, Note, Source};
use crate::cli::output::Terminal;
use crate::cli::question::known_names;
use crate::cli::solve_files::{may_write_all, write_coverability, write_untimed};
use crate::cli::solve_method::{LIMITS, MOST_COVERED, limits};
use crate::cli::watch::{Progress, catch_interrupt, interrupted};

/// Explores the net, checks the formulas, and prints the results.
pub(super) fn run(net: &Net, args: &SolveArgs, terminal: &Terminal, watch: &TimeLimit<'_>) -> Result<Exit, Failure> {
    let formulas = formulas(net, &args.ctl)?;
    let program = compile_net(net)?;
    may_write_all(args)?;
    catch_interrupt(terminal);
    let priorities = if args.ignore_priorities { Priorities::Ignored } else { Priorities::Kept };
    let subject = Subject::of(net.name(), &program);
    let progress = Progress::new(terminal.shows_progress(), "markings");
    let graph = match explore_untimed(&program, priorities, &limits(args, watch), &progress) {
        Ok(graph) => graph,
        Err(ExploreError::Unbounded(unbounded)) => {
            return infinite(&unbounded, priorities, &program, &subject, args, terminal);
        }
        Err(error) => return Err(failure(&error)),
    };
    drop(progress);
    let formulas = checked(&graph, &program, formulas)?;
    let verdicts = graph.verdicts(&program);
    let report = exploration_report(&graph, priorities, verdicts.as_ref(), &formulas, &program, &subject);
    terminal.report(&report, &args.print)?;
    match graph.stopped() {
        Some(_) if interrupted() => return Ok(Exit::Interrupted),
        Some(incomplete) => return Err(Failure::helped(Exit::Refused, incomplete.to_string(), LIMITS)),
        None => write_untimed(&graph, priorities, &program, net.name(), args)?,
    }
    let fails = formulas.iter().any(|(_, checked)| checked.holds == Some(false));
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

fn checked(
    graph: &MarkingGraph,
    program: &Program,
    formulas: Vec<Formula>,
) -> Result<Vec<(Formula, Checked)>, Failure> {
    if formulas.is_empty() {
        return Ok(Vec::new());
    }
    let checker = Checker::new(graph, program);
    let check = |formula: Formula| match checker.check(&formula) {
        Ok(checked) => Ok((formula, checked)),
        Err(fault) => Err(Failure::plain(Exit::Model, fault.to_string())),
    };
    formulas.into_iter().map(check).collect()
}

/// Prints the proof that there are infinitely many markings, writes the coverability graph if a graph is
/// requested, and refuses other requests.
fn infinite(
    unbounded: &Unbounded,
    priorities: Priorities,
    program: &Program,
    subject: &Subject<'_>,
    args: &SolveArgs,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    let mut graph = coverability(program, MOST_COVERED).ok();
    if let Some(graph) = graph.as_mut().filter(|_| priorities == Priorities::Ignored) {
        graph.ignored.retain(|&ignored| ignored != Ignored::Priorities);
    }
    let report = ExplorationReport::of_unbounded(program, subject, priorities, unbounded, graph.as_ref());
    terminal.report(&report, &args.print)?;
    if let Some(graph) = &graph {
        write_coverability(graph, program, subject.net, args, terminal)?;
    }
    let note = Note::problem(unbounded.to_string());
    let help = "formulas were not checked: they need finitely many markings";
    Err(Failure::new(Exit::Refused, if args.ctl.is_empty() { note } else { note.with_help(help) }))
}
