//! `solve --method`: the choice between all states and the parts of a schedule.

use tailspn::answer::{Route, RouteMethod, SolveRoute};
use tailspn::compile::Program;
use tailspn::net::Net;
use tailspn::report::{MethodRow, PassageSection, completion_section};
use tailspn::solve::{GridSettings, Limits};
use tailspn::watch::TimeLimit;

use crate::cli::args::SolveArgs;
use crate::cli::exact::{answer_failure, refused};
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::watch::Progress;

/// Maximum number of markings of a coverability graph.
pub(super) const MOST_COVERED: usize = 20_000;

/// Advice if a limit of the state space is exceeded.
pub(super) const LIMITS: &str =
    "--max-states, --max-memory and --max-time set the limits; `tailspn simulate` needs no states";

/// The method of the answer.
pub(super) enum Method {
    /// From all states.
    States(MethodRow),
    /// From the parts of a schedule. Holds the answer.
    Parts(Box<PassageSection>, MethodRow),
}

/// Chooses the method by the net and the arguments.
pub(super) fn method(
    net: &Net,
    program: &Program,
    args: &SolveArgs,
    terminal: &Terminal,
    watch: &TimeLimit<'_>,
) -> Result<Method, Failure> {
    let other = other_question(args);
    let method = match (args.method.0, other) {
        (RouteMethod::SeriesParallel, Some(other)) => return Err(needs_states(other)),
        (method, _) => method,
    };
    let steps = usize::try_from(args.grid_steps).unwrap_or(usize::MAX);
    let grid = GridSettings { steps, ..GridSettings::default() };
    let route = SolveRoute { method, needs_states: other.is_some(), limits: limits(args, watch), grid };
    let progress = Progress::new(terminal.shows_progress(), "states");
    match route.choose(net, program, &progress).map_err(answer_failure)? {
        Route::States { no_parts } => Ok(Method::States(MethodRow::states(no_parts))),
        Route::Parts { time, no_states } => {
            let section = completion_section("the dead marking", &time, &args.at).map_err(|error| refused(&error))?;
            let why = no_states.map_or_else(
                || "--method series-parallel".to_owned(),
                |many| format!("{many}; `--method states` explores them"),
            );
            Ok(Method::Parts(Box::new(section), MethodRow::series_parallel(why)))
        }
    }
}

/// Returns a request other than the time to the dead marking, if any.
pub(super) fn other_question(args: &SolveArgs) -> Option<&'static str> {
    let goal = args.until().is_some_and(|goal| goal != "dead");
    let averages = !args.at.is_empty() && args.until().is_none();
    let asked = [
        (goal, "--until EXPR"),
        (args.from.is_some(), "--from"),
        (args.before.avoid.is_some(), "--avoid"),
        (args.before.within.is_some(), "--within"),
        (!args.reward.is_empty() || !args.impulse.is_empty(), "a reward"),
        (args.steady, "--steady"),
        (averages, "--at without `--until dead`"),
        (!args.measure.is_empty(), "--measure"),
        (args.export_dot.is_some(), "--export-dot"),
        (args.export_svg.is_some(), "--export-svg"),
        (args.export_mtx.is_some(), "--export-mtx"),
        (args.export_prism.is_some(), "--export-prism"),
    ];
    asked.into_iter().find(|(is, _)| *is).map(|(_, option)| option)
}

fn needs_states(option: &str) -> Failure {
    let message = format!(
        "`--method series-parallel` computes only the time to the dead marking; {option} needs the state space"
    );
    Failure::helped(Exit::Usage, message, "remove it, or use `--method states`")
}

/// Returns the limits of the state space, with the remaining time.
pub(super) fn limits(args: &SolveArgs, watch: &TimeLimit<'_>) -> Limits {
    let default = Limits::default();
    Limits {
        states: args.max_states.unwrap_or(default.states),
        bytes: args.max_memory.unwrap_or(default.bytes),
        wall: watch.left(),
    }
}
