//! Proofs of unboundedness: a marking covers an earlier one, and the firings between them can be repeated forever.

use crate::compile::{Firing, Program, Value};
use crate::semantics::{Candidates, Fault, find_candidates, fire, rate};
use crate::solve::explore_error::{ExploreError, Unbounded};
use crate::solve::marking::Marking;
use crate::solve::store::Store;
use crate::solve::vanish::Rules;
use crate::solve::witness::{Stepper, replay};

/// Number of first states, each of which is compared with all earlier states on its path.
const EAGER: u32 = 1 << 12;
/// Of this many later states, one state is compared with the earlier states on its path.
const RARELY: u32 = 1 << 8;
/// Number of failed candidates after which no more proofs are sought, because the net is probably bounded.
const PATIENCE: u32 = 1 << 10;
/// Number of tokens that represents any number.
const MANY: u32 = 1 << 31;

/// Looks for growth while states are found.
#[derive(Debug)]
pub(crate) struct Growth {
    /// False if no firing adds more tokens than it takes, in which case no marking covers an earlier marking.
    possible: bool,
    /// Number of candidates that were not a proof.
    failures: u32,
}

impl Growth {
    pub(crate) fn new(program: &Program) -> Self {
        let added = |t: usize| program.changes.row(t).iter().map(|change| i64::from(change.by)).sum::<i64>();
        let possible = (0..program.transitions()).any(|t| !program.is_static(t) || added(t) > 0);
        Self { possible, failures: 0 }
    }

    /// Returns a proof that the net is unbounded, if the new `state` yields one. `parent` leads back to the start, which is its
    /// own parent; `prove` examines a state that the new state covers.
    pub(crate) fn check(
        &mut self,
        store: &Store,
        parent: impl Fn(u32) -> u32,
        (state, marking): (u32, &Marking),
        mut prove: impl FnMut(u32) -> Result<Option<Unbounded>, ExploreError>,
    ) -> Result<Option<Unbounded>, ExploreError> {
        if !self.possible || self.failures >= PATIENCE || (state >= EAGER && !state.is_multiple_of(RARELY)) {
            return Ok(None);
        }
        let mut at = state;
        while parent(at) != at {
            at = parent(at);
            if store.is_covered(at as usize, marking) {
                let proof = prove(at)?;
                if proof.is_some() {
                    return Ok(proof);
                }
                self.failures += 1;
            }
        }
        Ok(None)
    }
}

/// Returns a proof that the path from a state to a later state, which covers the first state, can be repeated; none if
/// the path cannot be repeated.
pub(crate) fn prove(
    rules: &Rules<'_>,
    store: &Store,
    parents: &[u32],
    from: u32,
    to: u32,
) -> Result<Option<Unbounded>, ExploreError> {
    let program = rules.program;
    let Some(grown) = Grown::between(rules, store, from, to) else { return Ok(None) };
    let mut stepper = Stepper::new(*rules);
    let prefix = stepper.sequence(store, parents, from)?;
    let whole = stepper.sequence(store, parents, to)?;
    let cycle = whole[prefix.len()..].to_vec();
    let mut found = Candidates::default();
    if !grown.is_repeatable(program, &cycle, |t, marking| goes_next(program, t, marking, &mut found))? {
        return Ok(None);
    }
    debug_assert!(replay(program, &prefix, &mut program.initial.clone()).is_ok(), "a path can be replayed");
    Ok(Some(grown.proof(program, prefix, cycle)))
}

/// Returns true if `t` can fire in `marking`; a timed transition can fire only if no immediate transition can.
fn goes_next(program: &Program, t: u32, marking: &[u32], found: &mut Candidates) -> Result<bool, Fault> {
    let group = program.group_of[t as usize];
    if group != u32::MAX {
        find_candidates(program, group as usize, marking, found)?;
        return Ok(found.transitions().contains(&t));
    }
    if rate(program, t as usize, marking)? <= 0.0 {
        return Ok(false);
    }
    for group in 0..program.groups.rows() {
        find_candidates(program, group, marking, found)?;
        if !found.transitions().is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A marking, and the counters that hold more tokens in a later marking.
pub(crate) struct Grown {
    start: Vec<u32>,
    grows: Vec<bool>,
}

impl Grown {
    /// Compares a state with a later state that covers it. None if a counter that grew is read by anything other than input
    /// and test arcs of constant weight.
    pub(crate) fn between(rules: &Rules<'_>, store: &Store, from: u32, to: u32) -> Option<Self> {
        let mut start = rules.program.initial.clone();
        let mut end = start.clone();
        store.read_all(from as usize, &mut start);
        store.read_all(to as usize, &mut end);
        let grows: Vec<bool> = start.iter().zip(&end).map(|(old, new)| old < new).collect();
        (!is_compared(rules, &grows)).then_some(Self { start, grows })
    }

    /// Returns true if a cycle can still fire, step by step, whatever number of tokens the growing counters hold.
    /// Input and test arcs only require minimum numbers, so a property that holds for few and for many tokens also holds in between.
    pub(crate) fn is_repeatable(
        &self,
        program: &Program,
        cycle: &[u32],
        mut fires: impl FnMut(u32, &[u32]) -> Result<bool, Fault>,
    ) -> Result<bool, Fault> {
        let mut marking = self.start.clone();
        let mut many = self.start.clone();
        for &t in cycle {
            let widened = marking.iter().zip(&self.grows).map(|(&tokens, &grows)| if grows { MANY } else { tokens });
            many.clear();
            many.extend(widened);
            if !fires(t, &many)? {
                return Ok(false);
            }
            fire(program, t as usize, &mut marking)?;
        }
        Ok(true)
    }

    pub(crate) fn proof(&self, program: &Program, prefix: Vec<u32>, cycle: Vec<u32>) -> Unbounded {
        let classes = program.classes();
        let grows = |place: &usize| self.grows[place * classes..(place + 1) * classes].contains(&true);
        let places = (0..program.places()).filter(grows).map(|place| program.place_names[place].to_owned()).collect();
        Unbounded { places, prefix, cycle }
    }
}

/// Returns true if anything other than input and test arcs of constant weight reads a growing counter.
fn is_compared(rules: &Rules<'_>, grows: &[bool]) -> bool {
    let program = rules.program;
    let growing = |counter: u32| grows[counter as usize];
    let classes = program.classes();
    let reads = |code: &crate::compile::Code| code.counters().any(growing);
    program.inhibitors.items().iter().any(|term| growing(term.counter))
        || program.rooms.items().iter().any(|room| {
            let place = room.place as usize;
            grows[place * classes..(place + 1) * classes].contains(&true)
        })
        || program.dynamic.items().iter().any(|arc| growing(arc.counter) || reads(&arc.weight))
        || program.firing.iter().any(|firing| match firing {
            Firing::Immediate { weight: Value::Code(code), .. }
            | Firing::Exponential { rate: Value::Code(code), .. } => reads(code),
            _ => false,
        })
        || rules.goal.is_some_and(reads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{NetBuilder, PlaceId, Timing};
    use crate::solve::cases::built;
    use crate::solve::{Incomplete, Limits, StateSpace, explore};
    use crate::watch::Unwatched;

    /// Customers arrive; an idle server immediately takes a customer and serves it.
    fn open_queue(adapt: impl FnOnce(&mut NetBuilder, PlaceId)) -> Program {
        let mut b = NetBuilder::new("open");
        let (waiting, idle, busy) = (b.place("waiting", 0), b.place("idle", 1), b.place("busy", 0));
        let arrive = b.transition("arrive", Timing::exponential(1.0));
        b.output(arrive, waiting, 1.0);
        let start = b.transition("start", Timing::immediate(1.0, 1));
        b.input(waiting, start, 1.0);
        b.input(idle, start, 1.0);
        b.output(start, busy, 1.0);
        let serve = b.transition("serve", Timing::exponential(2.0));
        b.input(busy, serve, 1.0);
        b.output(serve, idle, 1.0);
        adapt(&mut b, waiting);
        built(b)
    }

    fn explored(program: &Program) -> Result<StateSpace, ExploreError> {
        explore(program, None, &Limits { states: 2_000, ..Limits::default() }, &Unwatched)
    }

    #[test]
    fn an_open_queue_is_unbounded_with_a_proof_that_can_be_replayed() {
        let program = open_queue(|_, _| ());
        let Err(ExploreError::Unbounded(proof)) = explored(&program) else { panic!("it has infinitely many markings") };
        assert_eq!((&proof.places[..], &proof.cycle[..]), (&["waiting".to_owned()][..], &[0][..]));
        let mut marking = program.initial.clone();
        replay(&program, &proof.prefix, &mut marking).unwrap();
        for round in 0..5 {
            let before = marking[0];
            replay(&program, &proof.cycle, &mut marking).unwrap();
            assert!(marking[0] > before, "round {round}");
        }
    }

    /// If there are more than 3 customers, one leaves: the growth ends, although no place has a capacity.
    #[test]
    fn growth_that_an_immediate_transition_ends_is_no_proof() {
        let program = open_queue(|b, waiting| {
            let leave = b.transition("leave", Timing::immediate(1.0, 2));
            b.input(waiting, leave, 3.0);
        });
        let space = explored(&program).unwrap();
        assert_eq!((space.states(), space.stopped()), (4, None));
    }

    #[test]
    fn growth_that_an_inhibitor_ends_is_no_proof() {
        let program = open_queue(|b, waiting| {
            let arrive = crate::net::TransitionId::from_index(0);
            b.inhibitor(waiting, arrive, 10.0);
        });
        assert_eq!(explored(&program).unwrap().states(), 12);
    }

    /// An inhibitor arc of an irrelevant transition reads the growing place: there is no proof, so the limit ends the exploration.
    #[test]
    fn exploration_without_a_growth_proof_stops_at_the_limit() {
        let program = open_queue(|b, waiting| {
            let (other, end) = (b.place("other", 0), b.transition("end", Timing::exponential(1.0)));
            b.input(other, end, 1.0);
            b.inhibitor(waiting, end, 1.0);
        });
        assert_eq!(explored(&program).unwrap().stopped(), Some(&Incomplete::States { limit: 2_000 }));
    }
}
