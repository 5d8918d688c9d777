//! The markings of a net without time, from the net to a result that can be printed.

use crate::answer::AnswerError;
use crate::ask::RunSettings;
use crate::ask::net::exploration::{ExplorationReport, exploration_report};
use crate::ask::net::names::Subject;
use crate::ask::net::solved_net::MOST_COVERED;
use crate::compile::{Program, compile};
use crate::net::Net;
use crate::semantics::Fault;
use crate::solve::{
    Checked, Checker, Coverability, ExploreError, Formula, Ignored, MarkingGraph, Priorities, Unbounded, coverability,
    explore_untimed,
};
use crate::watch::Watch;

/// The markings of a net without time.
#[derive(Debug)]
pub struct ExploredNet {
    /// All results.
    pub report: ExplorationReport,
    /// Reason why results are missing.
    pub missing: Option<AnswerError>,
    /// The compiled net.
    pub program: Program,
    /// The markings; none for an unbounded net.
    pub graph: Option<MarkingGraph>,
    /// The coverability graph of an unbounded net.
    pub coverability: Option<Coverability>,
}

/// Explores the markings of a net without time and checks formulas, as `tailspn net solve --untimed` does.
///
/// # Errors
///
/// The net cannot be compiled or explored, or a formula has no value in a marking. If only markings are missing, the result is
/// returned with the reason in [`ExploredNet::missing`].
pub fn explore_net(
    net: &Net,
    priorities: Priorities,
    formulas: Vec<Formula>,
    run: &RunSettings,
    watch: &dyn Watch,
) -> Result<ExploredNet, AnswerError> {
    let program = compile(net)?;
    watch.counts("markings");
    let graph = match explore_untimed(&program, priorities, &run.limits(), watch) {
        Ok(graph) => graph,
        Err(ExploreError::Unbounded(found)) => return Ok(unbounded(net, program, priorities, found)),
        Err(error) => return Err(error.into()),
    };
    let formulas = checked(&graph, &program, formulas)?;
    let (verdicts, subject) = (graph.verdicts(&program), Subject::of(net.name(), &program));
    let report = exploration_report(&graph, priorities, verdicts.as_ref(), &formulas, &program, &subject);
    let missing = graph.stopped().cloned().map(AnswerError::Incomplete);
    Ok(ExploredNet { report, missing, program, graph: Some(graph), coverability: None })
}

fn checked(graph: &MarkingGraph, program: &Program, formulas: Vec<Formula>) -> Result<Vec<(Formula, Checked)>, Fault> {
    if formulas.is_empty() {
        return Ok(Vec::new());
    }
    let checker = Checker::new(graph, program);
    let check = |formula: Formula| checker.check(&formula).map(|checked| (formula, checked));
    formulas.into_iter().map(check).collect()
}

fn unbounded(net: &Net, program: Program, priorities: Priorities, found: Unbounded) -> ExploredNet {
    let mut graph = coverability(&program, MOST_COVERED).ok();
    if let Some(graph) = graph.as_mut().filter(|_| priorities == Priorities::Ignored) {
        graph.ignored.retain(|&ignored| ignored != Ignored::Priorities);
    }
    let subject = Subject::of(net.name(), &program);
    let report = ExplorationReport::of_unbounded(&program, &subject, priorities, &found, graph.as_ref());
    let missing = Some(ExploreError::Unbounded(found).into());
    ExploredNet { report, missing, program, graph: None, coverability: graph }
}
