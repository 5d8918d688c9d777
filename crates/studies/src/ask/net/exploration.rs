//! Results on the markings of a net without time, and on CTL formulas.

use serde::{Deserialize, Serialize};

use crate::ask::net::json::{Word, whole};
use crate::ask::net::names::{NetSummary, Subject};
use crate::ask::net::numbers::marked_places;
use crate::ask::net::solved::{DeadMarkings, LivenessRow, MarkingBound, UnboundedRow, VerdictRow};
use crate::ask::net::witnesses::names;
use crate::compile::Program;
use crate::solve::{Checked, Coverability, Evidence, Formula, Liveness, MarkingGraph, Priorities, Unbounded, Verdicts};

/// All results of the exploration of a net without time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExplorationReport {
    /// The net.
    pub net: NetSummary,
    /// True if immediate transitions have precedence over timed ones, and high priorities over low ones.
    pub priorities: bool,
    /// True if markings are missing.
    pub partial: bool,
    /// Reason why markings are missing.
    pub stopped: Option<String>,
    /// The formulas, in the order of the request.
    pub formulas: Vec<FormulaRow>,
    /// Reason why there are infinitely many markings, in which case there is no state space.
    pub unbounded: Option<UnboundedRow>,
    /// The state space.
    pub state_space: Option<MarkingGraphRow>,
    /// The maximum number of tokens in each place; lower bounds if the state space is partial.
    pub bounds: Vec<MarkingBound>,
    /// True if no place ever holds more than one token; none if unknown.
    pub safe: Option<bool>,
    /// Markings in which no transition can fire.
    pub deadlocks: Option<DeadMarkings>,
    /// Verdicts that need every marking.
    pub verdicts: Option<VerdictRow>,
    /// The liveness of each transition.
    pub liveness: Vec<LivenessRow>,
    /// Version of tailspn.
    pub version: Word,
}

/// Size of the marking graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MarkingGraphRow {
    /// Number of markings.
    #[serde(serialize_with = "whole")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub markings: f64,
    /// Number of markings whose firings were all found.
    pub explored: usize,
    /// Firings: pairs of a marking and a transition that fires there.
    pub firings: usize,
    /// Bits of a packed marking.
    pub marking_bits: u32,
    /// Bytes of markings and firings.
    pub bytes: u64,
    /// Wall time of the exploration \[s\].
    pub wall_s: f64,
}

/// A CTL formula, and whether it holds in the initial marking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FormulaRow {
    /// Text of the formula.
    pub formula: String,
    /// True if the formula holds; `None` if it is undecided because markings are missing.
    pub holds: Option<bool>,
    /// A witness or a counterexample; none if no single firing sequence is evidence.
    pub evidence: Option<EvidenceRow>,
}

/// A firing sequence that shows whether a formula holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EvidenceRow {
    /// Transitions from the initial marking.
    pub path: Vec<String>,
    /// Transitions that are then repeated forever; none if the path ends.
    pub cycle: Option<Vec<String>>,
    /// True if the path ends because no transition can fire, and the verdict depends on that.
    pub stops: bool,
    /// The marked places after `path`, with their tokens.
    pub marking: Vec<(String, u32)>,
    /// The part of the formula whose value in that marking is decisive.
    pub part: Option<String>,
    /// True if that part holds in that marking.
    pub part_holds: Option<bool>,
}

impl ExplorationReport {
    /// Returns a report on a net without a finite state space, in which no formula was checked.
    pub fn of_unbounded(
        program: &Program,
        subject: &Subject<'_>,
        priorities: Priorities,
        unbounded: &Unbounded,
        coverability: Option<&Coverability>,
    ) -> Self {
        let row = UnboundedRow::new(program, unbounded, coverability);
        Self { unbounded: Some(row), safe: Some(false), ..Self::empty(subject, priorities) }
    }

    fn empty(subject: &Subject<'_>, priorities: Priorities) -> Self {
        Self {
            net: NetSummary::new(subject),
            priorities: priorities == Priorities::Kept,
            partial: false,
            stopped: None,
            formulas: Vec::new(),
            unbounded: None,
            state_space: None,
            bounds: Vec::new(),
            safe: None,
            deadlocks: None,
            verdicts: None,
            liveness: Vec::new(),
            version: env!("CARGO_PKG_VERSION").into(),
        }
    }
}

/// Reports on the markings of a net without time, with a firing sequence for each verdict.
pub(super) fn exploration_report(
    graph: &MarkingGraph,
    priorities: Priorities,
    verdicts: Option<&Verdicts>,
    formulas: &[(Formula, Checked)],
    program: &Program,
    subject: &Subject<'_>,
) -> ExplorationReport {
    let bounds: Vec<MarkingBound> = bounds(graph, program);
    let safe = bounds.iter().all(|row| row.bound <= 1);
    let partial = graph.stopped().is_some();
    ExplorationReport {
        partial,
        stopped: graph.stopped().map(ToString::to_string),
        formulas: formulas.iter().map(|(formula, checked)| formula_row(graph, program, formula, checked)).collect(),
        state_space: Some(MarkingGraphRow {
            markings: graph.states() as f64,
            explored: graph.explored(),
            firings: graph.firings(),
            marking_bits: graph.marking_bits(),
            bytes: graph.bytes(),
            wall_s: graph.wall().as_secs_f64(),
        }),
        // a place with two tokens is enough to know that the net is not safe
        safe: (!safe || !partial).then_some(safe),
        bounds,
        deadlocks: deadlocks(graph, program),
        verdicts: verdicts.map(VerdictRow::new),
        liveness: verdicts.map_or_else(Vec::new, |verdicts| liveness(graph, verdicts, program)),
        ..ExplorationReport::empty(subject, priorities)
    }
}

fn marked(graph: &MarkingGraph, program: &Program, state: u32) -> Vec<(String, u32)> {
    let mut marking = vec![0; program.counters()];
    graph.marking(state as usize, &mut marking);
    marked_places(program, &marking)
}

fn formula_row(graph: &MarkingGraph, program: &Program, formula: &Formula, checked: &Checked) -> FormulaRow {
    let row = |evidence: &Evidence| EvidenceRow {
        path: names(program, &evidence.path),
        cycle: evidence.cycle.as_ref().map(|cycle| names(program, cycle)),
        stops: evidence.stops,
        marking: marked(graph, program, evidence.state),
        part: evidence.decides.as_ref().map(|(part, _)| part.clone()),
        part_holds: evidence.decides.as_ref().map(|&(_, holds)| holds),
    };
    let evidence = checked.evidence.as_ref().map(row);
    FormulaRow { formula: formula.text().to_owned(), holds: checked.holds, evidence }
}

fn bounds(graph: &MarkingGraph, program: &Program) -> Vec<MarkingBound> {
    let row = |(&(bound, state), name): (&(u64, u32), &str)| MarkingBound {
        name: name.to_owned(),
        bound,
        path: Some(names(program, &graph.path_to(state))),
    };
    graph.peaks().iter().zip(program.place_names.iter()).map(row).collect()
}

fn deadlocks(graph: &MarkingGraph, program: &Program) -> Option<DeadMarkings> {
    let count = graph.dead().len() as f64;
    let Some(&first) = graph.dead().first() else {
        // for a partial state space, finding none among the explored states means nothing
        return graph.stopped().is_none().then(|| DeadMarkings { count, marking: Vec::new(), path: Vec::new() });
    };
    let path = names(program, &graph.path_to(first));
    Some(DeadMarkings { count, marking: marked(graph, program, first), path })
}

fn liveness(graph: &MarkingGraph, verdicts: &Verdicts, program: &Program) -> Vec<LivenessRow> {
    let rows = program.transition_names.iter().zip(verdicts.liveness.iter().zip(&verdicts.lost));
    let row = |(name, (&liveness, &lost)): (&str, (&Liveness, &Option<u32>))| LivenessRow {
        name: name.to_owned(),
        level: liveness.level(),
        lost_after: lost.filter(|_| liveness != Liveness::Dead).map(|state| names(program, &graph.path_to(state))),
    };
    rows.map(row).collect()
}
