//! Detects whether a program is a schedule, and derives its straight-line form.
//!
//! A net in which every transition fires at most once and no transitions compete needs no event list. A firing time is
//! the latest time of the tokens that the transition takes, plus the delay of the transition. This is a max-plus
//! evaluation, after Baccelli and Canales \[Baccelli1992\]. Random choices by immediate transitions are allowed: one of
//! the transitions that share an input place fires, and the other transitions never fire. When the branches join again,
//! only one of their times exists, and this time is used.
//!
//! The conditions of a firing are tracked as a *guard*: the set of required (choice, branch) pairs.

mod plan;
mod planner;
mod slots;

pub use plan::{ChoiceStep, Fold, Put, ScheduleError, ScheduleObstacle, SchedulePlan, Step};

use petgraph::algo::{kosaraju_scc, toposort};
use petgraph::graph::{DiGraph, NodeIndex};

use crate::Problems;
use crate::compile::program::{Firing, Program, Term};
use planner::Planner;

/// The straight-line form of a program.
///
/// # Errors
///
/// Every reason why the program has no such form.
pub fn plan_schedule(program: &Program) -> Result<SchedulePlan, ScheduleError> {
    let mut obstacles = conditions(program);
    let order = topological_order(program).unwrap_or_else(|t| {
        obstacles.push(ScheduleObstacle::Cycle { transition: program.transition_names[t].to_owned() });
        Vec::new()
    });
    let mut planner = Planner::new(program);
    if let Some(obstacle) = order.iter().find_map(|&t| planner.visit(t).err()) {
        obstacles.push(obstacle);
    }
    Problems::check(obstacles)?;
    Ok(planner.finish(&order))
}

/// Transitions whose enabling depends on more than their input tokens.
fn conditions(program: &Program) -> Vec<ScheduleObstacle> {
    let mut arrivals: Vec<u64> = program.initial.iter().map(|&n| u64::from(n)).collect();
    for t in 0..program.transitions() {
        for out in program.outputs.row(t) {
            arrivals[out.counter as usize] += u64::from(out.weight);
        }
    }
    let classes = program.classes();
    let bound = |place: usize| arrivals[place * classes..(place + 1) * classes].iter().sum::<u64>();
    let mut obstacles = Vec::new();
    for t in 0..program.transitions() {
        let name = || program.transition_names[t].to_owned();
        let constant = match &program.firing[t] {
            Firing::Immediate { weight, .. } => weight.as_constant(),
            Firing::Exponential { rate, .. } => rate.as_constant().filter(|rate| *rate > 0.0),
            Firing::General { .. } => Some(1.0),
        };
        let full = |place: usize| program.capacity[place].is_some_and(|most| bound(place) > u64::from(most));
        if constant.is_none()
            || !program.is_static(t)
            || !program.inhibitors.row(t).is_empty()
            || !program.tests.row(t).is_empty()
            || program.rooms.row(t).iter().any(|room| full(room.place as usize))
        {
            obstacles.push(ScheduleObstacle::Condition { transition: name() });
        } else if program.inputs.row(t).is_empty() {
            obstacles.push(ScheduleObstacle::Source { transition: name() });
        }
        if obstacles.len() == 10 {
            break;
        }
    }
    obstacles
}

/// Transitions in an order in which each transition comes after all that produce its tokens; chains stay together. The error is a
/// transition on a cycle.
fn topological_order(program: &Program) -> Result<Vec<usize>, usize> {
    let transitions = program.transitions();
    let counter = |term: &Term| transitions + term.counter as usize;
    let mut graph = DiGraph::<(), (), usize>::default();
    (0..transitions + program.counters()).for_each(|_| _ = graph.add_node(()));
    for t in 0..transitions {
        let inputs = program.inputs.row(t).iter().map(|term| (counter(term), t));
        let outputs = program.outputs.row(t).iter().map(|term| (t, counter(term)));
        graph.extend_with_edges(inputs.chain(outputs));
    }
    let is_transition = |node: &usize| *node < transitions;
    match toposort(&graph, None) {
        Ok(order) => Ok(order.into_iter().map(NodeIndex::index).filter(is_transition).collect()),
        Err(_) => {
            let on_cycles = kosaraju_scc(&graph).into_iter().filter(|component| component.len() > 1).flatten();
            let transition = on_cycles.map(NodeIndex::index).min().filter(is_transition);
            Err(transition.expect("every second node of a cycle is a transition, and transitions come first"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::net::{NetBuilder, Timing};

    fn plan(b: NetBuilder) -> Result<SchedulePlan, ScheduleError> {
        plan_schedule(&compile(&b.build().unwrap()).unwrap())
    }

    #[test]
    fn a_chain_needs_one_slot() {
        let mut b = NetBuilder::new("");
        let mut place = b.place("p0", 1);
        for i in 1..10 {
            let t = b.transition(format!("t{i}"), Timing::exponential(1.0));
            b.input(place, t, 1.0);
            place = b.place(format!("p{i}"), 0);
            b.output(t, place, 1.0);
        }
        let plan = plan(b).unwrap();
        assert_eq!(plan.slots, 1);
        assert_eq!(plan.steps.iter().filter(|s| s.last).count(), 1);
        assert!(plan.sure_sink[9]);
    }

    #[test]
    fn branches_of_a_choice_meet_again() {
        let mut b = NetBuilder::new("");
        let start = b.place("start", 1);
        let done = b.place("done", 0);
        let end = b.place("end", 0);
        for (name, weight) in [("slow", 1.0), ("fast", 3.0)] {
            let choose = b.transition(format!("choose_{name}"), Timing::immediate(weight, 1));
            let run = b.place(name, 0);
            let work = b.transition(format!("work_{name}"), Timing::exponential(weight));
            b.input(start, choose, 1.0);
            b.output(choose, run, 1.0);
            b.input(run, work, 1.0);
            b.output(work, done, 1.0);
        }
        let join = b.transition("join", Timing::exponential(1.0));
        b.input(done, join, 1.0);
        b.output(join, end, 1.0);
        let plan = plan(b).unwrap();
        let join = plan.steps.last().unwrap();
        assert!(!join.conditional && join.last);
        assert_eq!(plan.choices.len(), 1);
        let folds: Vec<_> = plan.steps.iter().flat_map(|s| &s.puts).map(|p| p.fold).collect();
        assert_eq!(folds.iter().filter(|f| **f == Fold::Min).count(), 1);
    }

    #[test]
    fn obstacles_are_named() {
        let mut b = NetBuilder::new("");
        let p = b.place("p", 2);
        let t = b.transition("t", Timing::exponential(1.0));
        b.input(p, t, 1.0);
        let texts: Vec<_> = plan(b.clone()).unwrap_err().iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["place `p` does not receive exactly the tokens that one firing of `t` consumes"]);
        b.output(t, p, 1.0);
        let texts: Vec<_> = plan(b).unwrap_err().iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["transition `t` is on a cycle"]);
    }

    #[test]
    fn a_race_for_a_token_is_no_schedule() {
        let mut b = NetBuilder::new("");
        let p = b.place("p", 1);
        for name in ["t", "u"] {
            let t = b.transition(name, Timing::exponential(1.0));
            b.input(p, t, 1.0);
        }
        assert_eq!(*plan(b).unwrap_err(), [ScheduleObstacle::Conflict { place: "p".into() }]);
    }
}
