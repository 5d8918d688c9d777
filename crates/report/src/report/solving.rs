//! The solution of a net, from the question to a result that can be printed.

use crate::answer::{AnswerError, Route, RouteMethod, SolveRoute, with_phases};
use crate::compile::{Program, compile, plan_schedule};
use crate::net::Net;
use crate::report::net_question::NetQuestion;
use crate::report::passage::completion_section;
use crate::report::solve::{Hidden, MethodRow, SolveReport, solve_report};
use crate::report::solving_fixed::FixedDelayNet;
use crate::report::solving_states::Solving;
use crate::report::summary::Subject;
use crate::solve::{
    Coverability, Expanded, ExploreError, GridSettings, Limits, StateSpace, Unbounded, Verdicts, coverability,
    has_fixed_delays,
};
use crate::watch::{TimeLimit, Watch};

/// Maximum number of markings of a coverability graph.
pub const MOST_COVERED: usize = 20_000;

/// How a net is solved.
#[derive(Clone, Debug)]
pub struct SolveSettings {
    /// The method.
    pub method: RouteMethod,
    /// Grid of the times of series-parallel reduction.
    pub grid: GridSettings,
    /// True to count equal parts of the net instead of distinguishing them.
    pub fold: bool,
    /// True if the Markov chain of the net itself is needed, for [`SolvedNet::states`]: the net is neither folded nor solved
    /// by another method.
    pub chain: bool,
    /// Limits of the states; the wall time limits all of the work.
    pub limits: Limits,
}

impl Default for SolveSettings {
    fn default() -> Self {
        let (method, grid) = (RouteMethod::default(), GridSettings::default());
        Self { method, grid, fold: true, chain: false, limits: Limits::default() }
    }
}

/// A net and its solution.
#[derive(Debug)]
pub struct SolvedNet {
    /// All results.
    pub report: SolveReport,
    /// Reason why results are missing that were requested.
    pub missing: Option<AnswerError>,
    /// The states of the net and the compiled net; none if other states were solved.
    pub states: Option<(StateSpace, Program)>,
    /// The coverability graph of an unbounded net, and the compiled net.
    pub coverability: Option<(Coverability, Program)>,
}

impl SolvedNet {
    pub(super) fn complete(report: SolveReport) -> Self {
        Self { report, missing: None, states: None, coverability: None }
    }

    /// A net with infinitely many markings.
    pub(super) fn unbounded(net: &Net, program: Program, unbounded: Unbounded, hidden: &Hidden) -> Self {
        let (graph, subject) = (coverability(&program, MOST_COVERED).ok(), Subject::of(net.name(), &program));
        let report = SolveReport::of_unbounded(&program, &subject, &unbounded, graph.as_ref()).without(hidden);
        let missing = Some(ExploreError::Unbounded(unbounded).into());
        Self { report, missing, states: None, coverability: graph.map(|graph| (graph, program)) }
    }
}

/// Solves a net, as `tailspn solve` does: finds all its states, and the answers to the question. Erlang and hyperexponential
/// delays become phases. Deterministic and empirical delays are solved if no two of them are enabled together. The time to the
/// dead marking of a large schedule is computed from its parts in series and in parallel, with guaranteed bounds.
///
/// ```
/// use tailspn_engine::net::{NetBuilder, Timing};
/// use tailspn_engine::watch::Unwatched;
/// use tailspn_report::report::{Condition, NetGoal, NetQuestion, Report as _, SolveSettings, solve_net};
///
/// let mut b = NetBuilder::new("stage");
/// let (open, done) = (b.place("open", 1), b.place("done", 0));
/// let work = b.transition("work", Timing::exponential(0.5));
/// b.input(open, work, 1.0);
/// b.output(work, done, 1.0);
/// let net = b.build().unwrap();
///
/// let goal = NetGoal::Marking(Condition::new(&net, "#(done) = 1").unwrap());
/// let question = NetQuestion { goal: Some(goal), ..NetQuestion::default() };
/// let solved = solve_net(&net, &question, &SolveSettings::default(), &Unwatched).unwrap();
/// assert_eq!(solved.report.passage.as_ref().unwrap().mean_s, Some(2.0));
/// println!("{}", solved.report.document().text());
/// ```
///
/// # Errors
///
/// The net cannot be compiled or explored, or the question has no exact answer. If the states were found, but not the answer,
/// the result is returned with the reason in [`SolvedNet::missing`].
pub fn solve_net(
    net: &Net,
    question: &NetQuestion,
    settings: &SolveSettings,
    watch: &dyn Watch,
) -> Result<SolvedNet, AnswerError> {
    question.check()?;
    let time = TimeLimit::new(watch, settings.limits.wall);
    let program = compile(net)?;
    let by_parts = settings.method == RouteMethod::SeriesParallel;
    let beyond = question.beyond_completion().or(settings.chain.then_some("the Markov chain"));
    if let Some(what) = beyond.filter(|_| by_parts) {
        return Err(AnswerError::NeedsStates { what });
    }
    let is_schedule = || beyond.is_none() && plan_schedule(&program).is_ok();
    if has_fixed_delays(&program) && !by_parts && !settings.chain && !is_schedule() {
        return FixedDelayNet::new(net, question, settings, &time)?.solve();
    }
    let SolveSettings { method, grid, limits, .. } = settings.clone();
    let limits = Limits { wall: time.left(), ..limits };
    let route = SolveRoute { method, needs_states: beyond.is_some(), limits, grid };
    time.counts("states");
    match route.choose(net, &program, &time)? {
        Route::States { no_parts } => {
            Solving { question, settings, watch: &time }.solve(net, program, MethodRow::states(no_parts))
        }
        Route::Parts { time, no_states } => {
            let section = completion_section(&question.words(), &time, &question.at)?;
            let why = no_states.map_or_else(
                || "--method series-parallel".to_owned(),
                |many| format!("{many}; `--method states` explores them"),
            );
            let subject = Subject::of(net.name(), &program);
            Ok(SolvedNet::complete(SolveReport::of_time(&subject, section, MethodRow::series_parallel(why))))
        }
    }
}

/// Returns the net with general delays expanded to phases, and the places and transitions that this adds.
pub(super) fn phases(net: &Net) -> Result<(Net, Hidden), AnswerError> {
    let expanded = with_phases(net)?;
    let hidden = hidden(&expanded);
    Ok((expanded.net, hidden))
}

/// Returns the places and transitions that the expansion added.
pub(super) fn hidden(expanded: &Expanded) -> Hidden {
    Hidden {
        places: expanded.hidden_places.iter().map(|&id| expanded.net.place(id).id.clone()).collect(),
        transitions: expanded.hidden_transitions.iter().map(|&id| expanded.net.transition(id).id.clone()).collect(),
    }
}

/// Reports on all states, without numbers, and their verdicts.
pub(super) fn report_of(
    space: &StateSpace,
    program: &Program,
    subject: &Subject<'_>,
) -> Result<(SolveReport, Option<Verdicts>), ExploreError> {
    let verdicts = space.verdicts(program)?;
    let report = solve_report(space, verdicts.as_ref(), program, subject)?;
    Ok((report, verdicts))
}
