//! The settings and the result of the solution of a net.

use crate::answer::{AnswerError, RouteMethod, with_phases};
use crate::ask::RunSettings;
use crate::ask::net::names::Subject;
use crate::ask::net::solved::{Hidden, SolveReport, solve_report};
use crate::compile::Program;
use crate::net::Net;
use crate::solve::{Coverability, Expanded, ExploreError, GridSettings, StateSpace, Unbounded, Verdicts, coverability};

/// Maximum number of markings of a coverability graph.
pub(super) const MOST_COVERED: usize = 20_000;

/// The method and the limits of the solution of a net.
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
    /// The limits of time, states and memory. The limit of time includes all of the work.
    pub run: RunSettings,
}

impl Default for SolveSettings {
    fn default() -> Self {
        let (method, grid) = (RouteMethod::default(), GridSettings::default());
        Self { method, grid, fold: true, chain: false, run: RunSettings::default() }
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
