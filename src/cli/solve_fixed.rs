//! `solve` for the long run of nets with fixed delays.

use tailspn::compile::{Program, plan_schedule};
use tailspn::net::Net;
use tailspn::report::{MethodRow, Subject, steady_section};
use tailspn::solve::{
    FixedDelayError, LinearSettings, TransientSettings, expand_phases_except, fixed_delay_steady_state, is_fixed,
};
use tailspn::watch::{TimeLimit, Watch as _};

use crate::cli::args::SolveArgs;
use crate::cli::exact::{answer_failure, failure, hidden, refused, report_of};
use crate::cli::exit::Exit;
use crate::cli::load::compile_net;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::solve_method::{LIMITS, limits};
use crate::cli::solve_question::Asked;

/// Returns true if the arguments request only the long run: by `--steady`, or by no question about a net that is not a
/// schedule (a schedule ends).
pub(super) fn asks_long_run(program: &Program, args: &SolveArgs) -> bool {
    let files = [&args.export_dot, &args.export_svg, &args.export_mtx, &args.export_prism];
    let is_requested = args.steady || plan_schedule(program).is_err();
    is_requested
        && args.until().is_none()
        && args.from.is_none()
        && args.at.is_empty()
        && !files.into_iter().any(Option::is_some)
}

/// Solves the long run and prints it.
pub(super) fn run(net: &Net, args: &SolveArgs, terminal: &Terminal, watch: &TimeLimit<'_>) -> Result<Exit, Failure> {
    let expanded = expand_phases_except(net, is_fixed).map_err(|obstacles| answer_failure(obstacles.into()))?;
    let hidden = hidden(&expanded);
    let net = expanded.net;
    let asked = Asked::parse(&net, args, net.transitions().len())?;
    let program = compile_net(&net)?;
    let times = TransientSettings::watched(watch);
    let found = fixed_delay_steady_state(&program, &limits(args, watch), &LinearSettings::watched(watch), &times);
    let found = found.map_err(|error| match &error {
        FixedDelayError::Explore(error) => failure(error),
        FixedDelayError::Incomplete(_) if !watch.stopped() => Failure::helped(Exit::Refused, error.to_string(), LIMITS),
        _ => refused(&error),
    })?;
    let subject = Subject::of(net.name(), &found.program);
    let (mut report, _) = report_of(&found.space, &found.program, &subject)?;
    report.method = MethodRow::fixed_delays();
    let averages = found.averages().map_err(|error| failure(&error))?;
    let averages = asked.averages(&found.space, &found.program, &found.steady.probabilities, &averages)?;
    let mut steady = steady_section(&found.space, &found.program, &found.steady, averages);
    steady.error += found.error;
    for row in steady.states.iter_mut().filter(|row| found.is_delayed(row.state)) {
        row.sojourn_s = None;
    }
    report.steady = Some(steady);
    terminal.report(&report.without(&hidden), &args.print)?;
    Ok(Exit::Success)
}
