//! Compiles a [`Net`] to a [`Program`]: names become numbers, parallel arcs are summed, constants
//! are folded, and influences are computed once.
//!
//! [`plan_schedule`] decides whether the program is a schedule, and explains why not. A [`Template`] is compiled once
//! for nets that differ in rates only.

mod affected;
mod code;
mod csr;
mod ids;
mod influence;
mod linear;
mod observe;

mod program;
mod schedule;
mod template;

pub use affected::Affected;
pub use code::{Code, Op, lower};
pub use csr::Csr;
pub use ids::Ids;
#[cfg(test)]
pub(crate) use influence::affected_sharing;
pub(crate) use influence::{exponent_of, integer_weights, times_power_of_two};
pub(crate) use linear::IntegerSums;
pub use linear::lower_reward;
pub use program::{Change, DynamicArc, Firing, Program, Room, Term, Value};
pub use schedule::{ChoiceStep, Fold, Put, ScheduleError, ScheduleObstacle, SchedulePlan, Step, plan_schedule};
pub use template::{Compiled, Template};

use std::collections::BTreeMap;

use tailspn_common::explain::{ErrorKind, Explain};

use crate::Problems;
use crate::net::{Arc, ArcKind, Delay, Expr, Net, Timing, TransitionId};

/// Every number of a net that is impossible.
pub type CompileError = Problems<CompileProblem>;

impl Explain for Problems<CompileProblem> {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Model
    }

    fn problems(&self) -> Vec<String> {
        self.iter().map(ToString::to_string).collect()
    }
}

/// Reason why a net cannot be compiled. The messages use the net's own ids.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileProblem {
    /// A rate or weight that is constant, but negative or not finite after substituting parameters.
    #[error(
        "the {what} of transition `{transition}` is {value:e}; it must be finite and not negative, and a rate must be 0 or at least 1e-307"
    )]
    BadConstant {
        /// `rate` or `weight`.
        what: &'static str,
        /// Id of the transition.
        transition: String,
        /// Number of the transition in the net.
        id: TransitionId,
        /// The value.
        value: f64,
    },
    /// An arc weight that is constant, but not a whole number below 2^31 after substituting parameters.
    #[error("the weight of arc `{arc}` is {value}; it must be a whole number below 2^31")]
    BadArcWeight {
        /// Id of the arc.
        arc: String,
        /// Position of the arc in the net.
        position: usize,
        /// The value.
        value: f64,
    },
}

/// Compiles a net.
///
/// # Errors
///
/// Every rate, weight or arc weight that is invalid after substituting parameters.
pub fn compile(net: &Net) -> Result<Program, CompileError> {
    let mut errors = Vec::new();
    let capacity: Vec<Option<u32>> = net.places().iter().map(|p| p.capacity).collect();
    let arcs = ArcRows::of(net, &capacity, &mut errors);
    let firing: Vec<Firing> = net
        .transitions()
        .iter()
        .enumerate()
        .map(|(i, t)| lower_timing(net, TransitionId::from_index(i), &t.timing, &mut errors))
        .collect();
    Problems::check(errors)?;
    let classes = net.classes().len();
    let initial: Vec<u32> =
        net.places().iter().flat_map(|p| (0..classes).map(|c| p.initial.get(c).copied().unwrap_or(0))).collect();
    let timed = (0..firing.len())
        .filter(|&t| !matches!(firing[t], Firing::Immediate { .. }))
        .map(|t| u32::try_from(t).expect("ids fit"))
        .collect();
    let mut program = Program {
        place_names: net.places().iter().map(|p| &p.id).collect(),
        transition_names: net.transitions().iter().map(|t| &t.id).collect(),
        class_names: net.classes().iter().map(|c| c.id.clone()).collect(),
        initial,
        capacity,
        inputs: arcs.inputs,
        tests: arcs.tests,
        inhibitors: arcs.inhibitors,
        outputs: arcs.outputs,
        changes: arcs.changes,
        rooms: arcs.rooms,
        dynamic: arcs.dynamic,
        firing,
        timed,
        groups: Csr::empty(),
        group_of: Vec::new(),
        choice_weight: Vec::new(),
        affects: Affected::none(),
        affects_groups: Csr::empty(),
    };
    influence::fill(&mut program, &[]);
    Ok(program)
}

/// The arcs of one transition, with parallel arcs merged.
#[derive(Clone, Debug, Default)]
struct TransitionArcs {
    inputs: BTreeMap<u32, u32>,
    tests: BTreeMap<u32, u32>,
    inhibitors: BTreeMap<u32, u32>,
    outputs: BTreeMap<u32, u32>,
    dynamic: Vec<DynamicArc>,
}

impl TransitionArcs {
    /// Parallel arcs consume and produce the sum of their weights; of parallel test arcs the largest weight
    /// applies, of parallel inhibitor arcs the smallest. An arc of weight 0 does nothing, but an inhibitor of
    /// weight 0 disables the transition permanently.
    fn add(&mut self, kind: ArcKind, counter: u32, weight: u32) {
        match kind {
            ArcKind::Input if weight > 0 => *self.inputs.entry(counter).or_default() += weight,
            ArcKind::Output if weight > 0 => *self.outputs.entry(counter).or_default() += weight,
            ArcKind::Test if weight > 0 => {
                let largest = self.tests.entry(counter).or_default();
                *largest = weight.max(*largest);
            }
            ArcKind::Inhibitor => {
                let smallest = self.inhibitors.entry(counter).or_insert(weight);
                *smallest = weight.min(*smallest);
            }
            _ => {}
        }
    }

    fn changes(&self) -> Vec<Change> {
        let mut by: BTreeMap<u32, i64> = BTreeMap::new();
        for (&counter, &weight) in &self.outputs {
            *by.entry(counter).or_default() += i64::from(weight);
        }
        for (&counter, &weight) in &self.inputs {
            *by.entry(counter).or_default() -= i64::from(weight);
        }
        by.into_iter()
            .filter(|&(_, by)| by != 0)
            .map(|(counter, by)| Change { counter, by: i32::try_from(by).expect("weights are below 2^31") })
            .collect()
    }
}

/// Capacities that a firing with these changes might exceed. Dynamic arcs are checked when their weights are known.
fn rooms(arcs: &TransitionArcs, changes: &[Change], capacity: &[Option<u32>], classes: usize) -> Vec<Room> {
    if !arcs.dynamic.is_empty() {
        return Vec::new();
    }
    let mut growth: BTreeMap<usize, i64> = BTreeMap::new();
    for change in changes {
        *growth.entry(change.counter as usize / classes).or_default() += i64::from(change.by);
    }
    growth
        .into_iter()
        .filter(|&(place, growth)| growth > 0 && capacity[place].is_some())
        .map(|(place, growth)| Room {
            place: u32::try_from(place).expect("ids fit"),
            growth: u32::try_from(growth).expect("weights are below 2^31"),
        })
        .collect()
}

/// Maximum constant arc weight, so that sums of a few weights fit 32 bits.
const MAX_ARC_WEIGHT: f64 = 2_147_483_647.0;

/// The arcs of all transitions, as in [`Program`].
struct ArcRows {
    inputs: Csr<Term>,
    tests: Csr<Term>,
    inhibitors: Csr<Term>,
    outputs: Csr<Term>,
    changes: Csr<Change>,
    rooms: Csr<Room>,
    dynamic: Csr<DynamicArc>,
}

impl ArcRows {
    /// Sorts the arcs of one transition after the other. Appends problems in the order of the arcs.
    fn of(net: &Net, capacity: &[Option<u32>], errors: &mut Vec<CompileProblem>) -> Self {
        let mut this = Self {
            inputs: Csr::empty(),
            tests: Csr::empty(),
            inhibitors: Csr::empty(),
            outputs: Csr::empty(),
            changes: Csr::empty(),
            rooms: Csr::empty(),
            dynamic: Csr::empty(),
        };
        let mut found = Vec::new();
        let arcs = by_transition(net);
        let terms = |terms: &BTreeMap<u32, u32>| -> Vec<Term> {
            terms.iter().map(|(&counter, &weight)| Term { counter, weight }).collect()
        };
        for t in 0..arcs.rows() {
            let row = TransitionArcs::of(net, arcs.row(t), &mut found);
            let changes = row.changes();
            this.inputs.push(terms(&row.inputs));
            this.tests.push(terms(&row.tests));
            this.inhibitors.push(terms(&row.inhibitors));
            this.outputs.push(terms(&row.outputs));
            this.rooms.push(rooms(&row, &changes, capacity, net.classes().len()));
            this.changes.push(changes);
            this.dynamic.push(row.dynamic);
        }
        found.sort_by_key(|(position, _)| *position);
        errors.extend(found.into_iter().map(|(_, problem)| problem));
        this
    }
}

/// Per transition: the positions of its arcs, ascending.
fn by_transition(net: &Net) -> Csr<u32> {
    let transition = |arc: &Arc| [u32::try_from(arc.transition.index()).expect("ids fit")];
    Csr::from_rows(net.arcs().iter().map(transition)).transposed(net.transitions().len())
}

impl TransitionArcs {
    /// The arcs at these positions. Appends problems, each with the position of its arc.
    fn of(net: &Net, positions: &[u32], errors: &mut Vec<(usize, CompileProblem)>) -> Self {
        let mut row = Self::default();
        for position in positions.iter().map(|&position| position as usize) {
            let arc = &net.arcs()[position];
            for w in &arc.weights {
                let counter = code::counter(net, arc.place.index(), w.class.index());
                let weight = lower(net, &w.weight);
                match weight.as_constant() {
                    None => row.dynamic.push(DynamicArc { kind: arc.kind, counter, weight }),
                    Some(value) => {
                        let whole = value.round();
                        if (0.0..=MAX_ARC_WEIGHT).contains(&whole) {
                            row.add(arc.kind, counter, whole as u32);
                        } else {
                            let arc = net.arc_id(arc).into_owned();
                            errors.push((position, CompileProblem::BadArcWeight { arc, position, value }));
                        }
                    }
                }
            }
        }
        // arcs of one kind must not read a counter both as constant and as dynamic, because the dynamic path would miss one
        if !row.dynamic.is_empty() {
            row.make_dynamic();
        }
        row
    }
}

impl TransitionArcs {
    /// Turns the constant inputs and outputs into dynamic ones too, so that one code path handles all arcs.
    fn make_dynamic(&mut self) {
        let constant = |kind, terms: &mut BTreeMap<u32, u32>| {
            std::mem::take(terms)
                .into_iter()
                .map(|(counter, weight)| DynamicArc { kind, counter, weight: Code::constant(f64::from(weight)) })
                .collect::<Vec<_>>()
        };
        let inputs = constant(ArcKind::Input, &mut self.inputs);
        let outputs = constant(ArcKind::Output, &mut self.outputs);
        self.dynamic.extend(inputs);
        self.dynamic.extend(outputs);
    }
}

fn lower_timing(net: &Net, id: TransitionId, timing: &Timing, errors: &mut Vec<CompileProblem>) -> Firing {
    let mut value = |what, expr: &Expr| {
        let code = lower(net, expr);
        match code.as_constant() {
            None => Value::Code(code),
            Some(value) => {
                // the mean delay for a rate such as 1e-310 does not fit a float
                let endless = what == "rate" && value > 0.0 && (1.0 / value).is_infinite();
                if !value.is_finite() || value < 0.0 || endless {
                    let transition = net.transition(id).id.clone();
                    errors.push(CompileProblem::BadConstant { what, transition, id, value });
                }
                Value::Constant(value)
            }
        }
    };
    match timing {
        Timing::Immediate { weight, priority } => {
            Firing::Immediate { weight: value("weight", weight), priority: *priority }
        }
        Timing::Timed { delay: Delay::Exponential { rate }, servers, .. } => {
            Firing::Exponential { rate: value("rate", rate), servers: *servers }
        }
        Timing::Timed { delay: Delay::General(law), servers, memory } => {
            Firing::General { law: law.clone(), servers: *servers, memory: *memory }
        }
    }
}
