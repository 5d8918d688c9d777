//! Immediate transitions in the form that the lockstep kernel reads, or the reasons why there is no such form.

use crate::compile::{Code, Firing, Program};
use crate::sim::question::Question;
use crate::sim::race::lockstep::guard::{Guard, guard};

/// Maximum number of transitions of a group, which have one bit each.
const MAX_IN_GROUP: usize = 64;
/// Maximum number of immediate firings between two timed firings. The direct form reports a net that never stops
/// firing; this limit is far below the limit of the direct form, so that all lanes reach it quickly.
const MAX_IN_A_ROW: u32 = 1 << 14;
/// Maximum number of tokens that immediate transitions may add to one counter between two timed firings.
const MAX_GROWTH: u32 = 1 << 30;

/// An immediate transition that can be enabled.
#[derive(Clone, Debug)]
pub(super) struct Immediate {
    /// Row in the notes of a lane.
    pub(super) row: u32,
    pub(super) guard: Guard,
    /// Share among the enabled transitions of its group and priority.
    pub(super) weight: u32,
    pub(super) priority: u32,
    /// Counters and the tokens that a firing adds.
    pub(super) changes: Vec<(u32, i32)>,
}

/// Immediate transitions that compete.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Number in the program: the owner of the random words.
    pub(super) number: u32,
    /// Transitions by descending priority.
    pub(super) transitions: Vec<Immediate>,
    /// Input counters of the group's only transition, if it fires as often as the smallest counter allows; the guard of the
    /// transition does not include them. Empty if the group fires one transition at a time.
    pub(super) drained: Vec<u32>,
}

/// All immediate transitions.
#[derive(Clone, Debug)]
pub(super) struct Immediates {
    pub(super) groups: Vec<Group>,
    /// Maximum number of firings between two timed firings; with more firings, a replication moves to the direct form.
    pub(super) max_in_a_row: u32,
}

impl Immediates {
    /// Converts the immediate transitions of a program; adds the reasons why that is impossible to `obstacles`.
    pub(super) fn new(program: &Program, question: &Question, rows: &[u32], obstacles: &mut Vec<String>) -> Self {
        let competing = || (0..program.groups.rows()).map(|number| program.groups.row(number));
        if competing().any(|row| row.len() > MAX_IN_GROUP) {
            obstacles.push("too many immediate transitions compete".to_owned());
        }
        if competing().flatten().any(|&t| has_varying_weight(program, t as usize)) {
            obstacles.push("weights of immediate transitions depend on the marking".to_owned());
        }
        let reads: Vec<u32> = question.ends().flat_map(Code::counters).collect();
        if competing().flatten().any(|&t| {
            let changes = program.changes.row(t as usize);
            changes.iter().any(|change| reads.contains(&change.counter))
        }) {
            obstacles.push(
                "immediate transitions change the tokens of places on which the goal or a marking to avoid depends"
                    .to_owned(),
            );
        }
        let growth = |t: u32| program.changes.row(t as usize).iter().map(|change| change.by).max().unwrap_or(0);
        let growth = competing().flatten().map(|&t| growth(t)).max().unwrap_or(0).max(1);
        let is_large = program.initial.iter().any(|&tokens| tokens > MAX_GROWTH)
            || program.changes.items().iter().any(|change| change.by.unsigned_abs() > MAX_GROWTH);
        let most = if is_large { 0 } else { MAX_GROWTH / growth.unsigned_abs() };
        let groups = (0..program.groups.rows()).map(|number| group(program, number, rows)).collect();
        Self { groups, max_in_a_row: most.min(MAX_IN_A_ROW) }
    }
}

/// Returns true unless the weight of an immediate transition is a constant that the compiler turned into an integer.
fn has_varying_weight(program: &Program, t: usize) -> bool {
    let Firing::Immediate { weight, .. } = &program.firing[t] else { return false };
    program.choice_weight[t] == 0 && weight.as_constant() != Some(0.0)
}

fn group(program: &Program, number: usize, rows: &[u32]) -> Group {
    let row = program.groups.row(number);
    let mut transitions: Vec<Immediate> = row.iter().filter_map(|&t| immediate(program, t as usize, rows)).collect();
    let drained = match (row, &transitions[..]) {
        ([t], [_]) => drained(program, *t as usize),
        _ => Vec::new(),
    };
    if !drained.is_empty() {
        transitions[0].guard.least.retain(|bound| !drained.contains(&bound.counter));
    }
    Group { number: u32::try_from(number).expect("ids fit"), transitions, drained }
}

fn immediate(program: &Program, t: usize, rows: &[u32]) -> Option<Immediate> {
    let Firing::Immediate { priority, .. } = program.firing[t] else { return None };
    let weight = program.choice_weight[t];
    let changes = program.changes.row(t).iter().map(|change| (change.counter, change.by)).collect();
    (weight > 0).then_some(())?;
    Some(Immediate { row: rows[t], guard: guard(program, t)?, weight, priority, changes })
}

/// Returns the inputs of a transition if only the smallest input determines the number of firings; none if
/// anything else may stop the firings.
fn drained(program: &Program, t: usize) -> Vec<u32> {
    let changes = program.changes.row(t);
    let change = |counter: u32| changes.iter().find(|change| change.counter == counter).map_or(0, |change| change.by);
    let inputs = program.inputs.row(t);
    let bounds = program.tests.row(t).iter().chain(program.inhibitors.row(t)).map(|term| term.counter);
    let fixed = bounds.chain(program.rooms.row(t).iter().map(|room| room.place)).all(|counter| change(counter) == 0);
    if fixed && inputs.iter().all(|term| term.weight == 1 && change(term.counter) == -1) {
        inputs.iter().map(|term| term.counter).collect()
    } else {
        Vec::new()
    }
}
