//! The solution of a net, from the question to a result that can be printed.

use crate::answer::{AnswerError, Route, SolveRoute, request};
use crate::ask::net::fixed_delays::FixedDelayNet;
use crate::ask::net::names::Subject;
use crate::ask::net::passage::completion_section;
use crate::ask::net::solved::{MethodRow, SolveReport};
use crate::ask::net::solved_net::{SolveSettings, SolvedNet};
use crate::ask::net::states::Solving;
use crate::compile::compile;
use crate::net::Net;
use crate::sim::Question;
use crate::solve::Limits;
use crate::watch::{TimeLimit, Watch};

/// Solves a net, as `tailspn net solve` does: finds all its states, and the answers to the question. Erlang and hyperexponential
/// delays become phases. Deterministic and empirical delays are solved if no two of them are enabled together. The time to the
/// dead marking of a large schedule is computed from its parts in series and in parallel, with guaranteed bounds.
///
/// ```
/// use tailspn_engine::net::{NetBuilder, Timing};
/// use tailspn_engine::sim::Question;
/// use tailspn_engine::watch::Unwatched;
/// use tailspn_studies::ask::net::{SolveSettings, solve_net};
///
/// let mut b = NetBuilder::new("stage");
/// let (open, done) = (b.place("open", 1), b.place("done", 0));
/// let work = b.transition("work", Timing::exponential(0.5));
/// b.input(open, work, 1.0);
/// b.output(work, done, 1.0);
/// let net = b.build().unwrap();
///
/// let question = Question::until(&net, "#(done) = 1").unwrap();
/// let solved = solve_net(&net, &question, &SolveSettings::default(), &Unwatched).unwrap();
/// assert_eq!(solved.report.passage.as_ref().unwrap().mean_s, Some(2.0));
/// ```
///
/// # Errors
///
/// The net cannot be compiled or explored, or the question has no exact answer. If the states were found, but not the answer,
/// the result is returned with the reason in [`SolvedNet::missing`].
pub fn solve_net(
    net: &Net,
    question: &Question,
    settings: &SolveSettings,
    watch: &dyn Watch,
) -> Result<SolvedNet, AnswerError> {
    request::check(question)?;
    let time = TimeLimit::new(watch, settings.run.max_time);
    let program = compile(net)?;
    let SolveSettings { method, grid, .. } = settings.clone();
    let limits = Limits { wall: time.left(), ..settings.run.limits() };
    let needs_states = request::beyond_completion(question);
    let route = SolveRoute { method, needs_states, needs_chain: settings.chain, limits, grid };
    time.counts("states");
    match route.choose(net, &program, &time)? {
        Route::FixedDelays => FixedDelayNet::new(net, question, settings, &time)?.solve(),
        Route::States { no_parts } => {
            Solving { question, settings, watch: &time }.solve(net, program, MethodRow::states(no_parts))
        }
        Route::Parts { time, no_states } => {
            let section = completion_section(&request::words(question), &time, &question.at)?;
            let why = no_states.map_or_else(
                || "--method series-parallel".to_owned(),
                |many| format!("{many}; `--method states` explores them"),
            );
            let subject = Subject::of(net.name(), &program);
            Ok(SolvedNet::complete(SolveReport::of_time(&subject, section, MethodRow::series_parallel(why))))
        }
    }
}
