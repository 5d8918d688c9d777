//! `simulate --method`: the choice between replications and an exact answer, and the answer as a report.

use tailspn::answer::{choose, exact, exact_of_prepared};
use tailspn::compile::Program;
use tailspn::net::Net;
use tailspn::report::{AnswerMethod, ExactBy, NetNames, Report, Subject, counted, exact_report, exact_steady_report};
use tailspn::sim::{Prepared, Question};
use tailspn::watch::TimeLimit;

use crate::cli::args::SimulateArgs;
use crate::cli::exact::answer_failure;
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::pictures::draw_report;
use crate::cli::question::WordedQuestion;
use crate::cli::watch::Progress;

/// The reason why --samples has no exact answer.
const SAMPLES: &str = "--samples needs replications";

/// Returns the method that the question should use, and whether an exact answer would be faster than replications.
pub(super) fn offer(args: &SimulateArgs, net: &Net, program: &Program, question: &Question) -> AnswerMethod {
    if args.samples.is_some() {
        return AnswerMethod { no_exact: Some(SAMPLES.to_owned()), ..AnswerMethod::simulation() };
    }
    (&choose(net, program, question, args.steady)).into()
}

/// Returns the note on an exact answer that would be faster.
pub(super) fn advice(offer: &AnswerMethod) -> Option<String> {
    let why = match (offer.exact?, offer.states) {
        (ExactBy::States, Some(states)) => format!("the net has only {}", counted(states as u64, "state")),
        (exact, _) => format!("the net is {}", exact.name()),
    };
    Some(format!("note: {why}: an exact answer would be faster than replications (--method exact)"))
}

/// Answers without replications.
pub(super) fn run(
    args: &SimulateArgs,
    net: &Net,
    prepared: &Prepared,
    asked: &WordedQuestion,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    let question = &asked.question;
    let by_arguments = [
        (args.reps.is_some() || args.wants_errors(), "--reps, --rel-error and --abs-error need replications"),
        (args.samples.is_some(), SAMPLES),
    ];
    if let Some((_, reason)) = by_arguments.iter().find(|(given, _)| *given) {
        return Err(Failure::helped(
            Exit::Refused,
            format!("no exact method supports this: {reason}"),
            "use `--method simulate`",
        ));
    }
    let progress = Progress::new(terminal.shows_progress(), "states");
    let watch = TimeLimit::new(&progress, terminal.left_of(args.run.max_time));
    let answer = if args.no_fold {
        exact(net, &prepared.program, question, args.steady, &watch)
    } else {
        exact_of_prepared(net, question, prepared, args.steady, &watch)
    };
    let answer = answer.map_err(answer_failure)?;
    let names = NetNames::of(net);
    let subject = Subject { goal: &asked.goal, snapshots: &asked.snapshots, ..names.subject(net.name()) };
    let level = args.run.level;
    if args.steady {
        drop(progress);
        return show(&exact_steady_report(&answer, question, &subject, level), args, terminal);
    }
    let report = exact_report(&answer, question, &subject, level, &watch).map_err(answer_failure)?;
    drop(progress);
    show(&report, args, terminal)
}

fn show<R: Report>(report: &R, args: &SimulateArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    terminal.report(report, &args.print)?;
    draw_report(report, &args.plots, args.force, terminal)?;
    Ok(Exit::Success)
}
