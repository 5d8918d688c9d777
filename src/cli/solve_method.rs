//! `solve --method`: whether the answer comes from all states, or from the parts of a schedule.

use tailspn::compile::Program;
use tailspn::net::Net;
use tailspn::report::{MethodRow, PassageSection, completion_section};
use tailspn::solve::{GridSettings, SeriesParallelError, completion_time, is_series_parallel};

use crate::cli::args::{SolveArgs, SolveMethod};
use crate::cli::exact::{refused, too_many};
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::solve::limits;

/// How the answer is found.
pub(super) enum Way {
    /// From all states.
    States(MethodRow),
    /// From the parts of a schedule: here it is.
    Parts(Box<PassageSection>, MethodRow),
}

/// Takes a way by a rule that only the net and the arguments decide: where nothing but the time to the dead marking is asked for,
/// the net is a schedule of delays in series and side by side, and it has too many states ([`too_many`]), its parts; else the states.
pub(super) fn way(net: &Net, program: &Program, args: &SolveArgs, terminal: &Terminal) -> Result<Way, Failure> {
    match (args.method, other_question(args)) {
        (SolveMethod::States, _) => Ok(Way::States(MethodRow::states(None))),
        (SolveMethod::SeriesParallel, Some(other)) => Err(needs_states(other)),
        (SolveMethod::Auto, Some(_)) => Ok(Way::States(MethodRow::states(None))),
        (SolveMethod::SeriesParallel, None) => {
            let section = parts(program, args).map_err(|error| no_parts(&error))?;
            Ok(Way::Parts(Box::new(section), MethodRow::series_parallel("--method series-parallel".to_owned())))
        }
        (SolveMethod::Auto, None) => {
            if let Err(error) = is_series_parallel(program) {
                return Ok(Way::States(MethodRow::states(Some(error.to_string()))));
            }
            let Some(many) = too_many(net, limits(args), terminal)? else {
                return Ok(Way::States(MethodRow::states(None)));
            };
            Ok(match parts(program, args) {
                Ok(section) => {
                    let many = format!("{many}; `--method states` goes on");
                    Way::Parts(Box::new(section), MethodRow::series_parallel(many))
                }
                Err(error) => Way::States(MethodRow::states(Some(error.to_string()))),
            })
        }
    }
}

/// What is asked besides the time to the dead marking.
fn other_question(args: &SolveArgs) -> Option<&'static str> {
    let goal = args.goal.as_deref().is_some_and(|goal| goal != "dead");
    let averages = !args.at.is_empty() && args.goal.is_none();
    let asked = [
        (goal, "--goal EXPR"),
        (args.from.is_some(), "--from"),
        (args.steady, "--steady"),
        (averages, "--at without `--goal dead`"),
        (!args.measure.is_empty(), "--measure"),
        (args.export_dot.is_some(), "--export-dot"),
        (args.export_svg.is_some(), "--export-svg"),
        (args.export_mtx.is_some(), "--export-mtx"),
        (args.export_prism.is_some(), "--export-prism"),
    ];
    asked.into_iter().find(|(is, _)| *is).map(|(_, option)| option)
}

fn parts(program: &Program, args: &SolveArgs) -> Result<PassageSection, SeriesParallelError> {
    let steps = usize::try_from(args.grid_steps).unwrap_or(usize::MAX);
    let time = completion_time(program, &GridSettings { steps, ..GridSettings::default() })?;
    Ok(completion_section("the dead marking", &time, &args.at)?)
}

fn needs_states(option: &str) -> Failure {
    let message = format!("series-parallel reduction gives the time to the dead marking only, {option} needs states");
    Failure::new(Exit::Usage, Note::problem(message).with_help("leave it out, or take `--method states`"))
}

fn no_parts(error: &SeriesParallelError) -> Failure {
    let SeriesParallelError::NotSchedule(obstacles) = error else { return refused(error) };
    let all: Vec<String> = obstacles.iter().map(ToString::to_string).collect();
    let message = format!("the net is no schedule of delays in series and side by side: {}", all.join("; "));
    let help = "`--method states` builds its state space, `tailspn simulate` needs neither";
    Failure::new(Exit::Refused, Note::problem(message).with_help(help))
}
