//! The firings of the states of a space: fire each timed transition, and settle in zero time.

use crate::compile::Program;
use crate::semantics::{Candidates, rate};
use crate::solve::explore_error::ExploreError;
use crate::solve::marking::Marking;
use crate::solve::space::StateSpace;
use crate::solve::store::Store;
use crate::solve::vanish::{Rules, Settling};

/// The timed firings of the states of a space, one state after the other.
pub(crate) struct TimedFirings<'a> {
    space: &'a StateSpace,
    pub(crate) rules: Rules<'a>,
    marking: Marking,
    next: Marking,
    found: Candidates,
    timed: Vec<u32>,
}

/// A timed firing in a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimedFiring<'m> {
    pub(crate) transition: u32,
    /// The rate of the transition in the state, above 0.
    pub(crate) rate: f64,
    /// The marking before the firing.
    pub(crate) marking: &'m Marking,
    /// The marking after the firing; canonical if it is vanishing.
    pub(crate) next: &'m Marking,
    /// True if immediate transitions follow.
    pub(crate) is_vanishing: bool,
}

impl<'a> TimedFirings<'a> {
    pub(crate) fn new(space: &'a StateSpace, program: &'a Program) -> Self {
        let rules = space.rules(program);
        let (marking, next) = (rules.start(), rules.start());
        Self { space, rules, marking, next, found: Candidates::default(), timed: Vec::new() }
    }

    /// Calls `visit` for each transition that can fire in a state, in the order of the net; for none at a goal.
    pub(crate) fn of_state<E: From<ExploreError>>(
        &mut self,
        state: usize,
        mut visit: impl FnMut(TimedFiring<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let program = self.rules.program;
        self.space.store.read(state, &mut self.marking);
        let Self { rules, marking, next, found, timed, .. } = self;
        if rules.is_goal(marking).map_err(ExploreError::from)? {
            return Ok(());
        }
        for &transition in rules.timed(marking, timed) {
            let t = transition as usize;
            let rate = rate(program, t, marking).map_err(ExploreError::from)?;
            if rate <= 0.0 {
                continue;
            }
            next.copy_from(marking);
            next.fire(program, t).map_err(ExploreError::from)?;
            let groups = program.affects_groups.row(t);
            let is_vanishing = rules.is_vanishing(next, groups, found).map_err(ExploreError::from)?;
            if is_vanishing {
                rules.sort(next);
            }
            visit(TimedFiring { transition, rate, marking, next, is_vanishing })?;
        }
        Ok(())
    }
}

impl TimedFiring<'_> {
    /// Adds the states in which the firing ends to `ends`, each with its share of the rate.
    pub(crate) fn add_ends(
        &self,
        space: &StateSpace,
        rules: &Rules<'_>,
        settling: &mut Settling,
        end: &mut Marking,
        ends: &mut Vec<(u32, f64)>,
    ) -> Result<(), ExploreError> {
        if !self.is_vanishing {
            ends.extend(space.state_of(self.next).map(|state| (state, self.rate)));
            return Ok(());
        }
        settling.explore(rules, self.next)?;
        settling.visits(rules.program)?;
        for i in (0..settling.len()).filter(|&i| settling.is_end(i)) {
            settling.read(i, end);
            ends.extend(space.state_of(end).map(|state| (state, self.rate * settling.visit(i))));
        }
        Ok(())
    }
}

/// A firing in a state, as [`StateSpace::for_each_firing`] reports it.
#[derive(Clone, Copy, Debug)]
pub struct FiringFlow<'a> {
    /// The transition.
    pub transition: u32,
    /// The marking before the firing; for an immediate transition, a vanishing one.
    pub marking: &'a [u32],
    /// Firings per second (or in total), weighted with the given weights of the states.
    pub flow: f64,
}

impl StateSpace {
    /// Calls `visit` for every firing that is possible in a state with a weight above 0: a timed transition with weight times
    /// rate, an immediate one with that value times its mean number of firings before time passes again. With the probabilities
    /// of the states as weights, the sums over firings are throughputs; with mean times spent in the states, they are mean
    /// numbers of firings. Exact; visits every state a second time and stores nothing.
    ///
    /// # Errors
    ///
    /// As [`explore`](crate::solve::explore).
    pub fn for_each_firing(
        &self,
        program: &Program,
        weights: &[f64],
        visit: &mut dyn FnMut(FiringFlow<'_>),
    ) -> Result<(), ExploreError> {
        let counts = |state: usize| weights[state] > 0.0;
        self.for_each_flow(program, &counts, &|state, _, rate| weights[state] * rate, visit)
    }

    /// Calls `visit` for the immediate firings before time first passes, with their mean numbers.
    ///
    /// # Errors
    ///
    /// As [`explore`](crate::solve::explore).
    pub fn for_each_firing_at_start(
        &self,
        program: &Program,
        visit: &mut dyn FnMut(FiringFlow<'_>),
    ) -> Result<(), ExploreError> {
        let rules = self.rules(program);
        let groups: Vec<u32> = (0..program.groups.rows()).map(|group| group as u32).collect();
        let mut entries = Entries::new(&rules);
        let mut marking = rules.start();
        if rules.is_vanishing(&marking, &groups, &mut Candidates::default())? {
            rules.sort(&mut marking);
            entries.add(&marking, 1.0);
        }
        entries.settle(&rules, visit)
    }

    /// As [`Self::for_each_firing`], with the flow of a timed transition as a function of state, transition and rate, for the
    /// states that count.
    pub(crate) fn for_each_flow(
        &self,
        program: &Program,
        counts: &dyn Fn(usize) -> bool,
        flow: &dyn Fn(usize, u32, f64) -> f64,
        visit: &mut dyn FnMut(FiringFlow<'_>),
    ) -> Result<(), ExploreError> {
        let mut firings = TimedFirings::new(self, program);
        let mut entries = Entries::new(&firings.rules);
        for state in (0..self.explored).filter(|&state| counts(state)) {
            firings.of_state(state, |firing| {
                let flow = flow(state, firing.transition, firing.rate);
                if flow > 0.0 {
                    visit(FiringFlow { transition: firing.transition, marking: firing.marking, flow });
                    if firing.is_vanishing {
                        entries.add(firing.next, flow);
                    }
                }
                Ok::<_, ExploreError>(())
            })?;
        }
        entries.settle(&firings.rules, visit)
    }
}

/// Vanishing markings that timed firings lead to, and the flow into each.
struct Entries {
    store: Store,
    flows: Vec<f64>,
}

impl Entries {
    fn new(rules: &Rules<'_>) -> Self {
        Self { store: rules.store(), flows: Vec::new() }
    }

    fn add(&mut self, marking: &Marking, flow: f64) {
        let (number, new) = self.store.insert(marking);
        if new {
            self.flows.push(flow);
        } else {
            self.flows[number as usize] += flow;
        }
    }

    fn settle(&self, rules: &Rules<'_>, visit: &mut dyn FnMut(FiringFlow<'_>)) -> Result<(), ExploreError> {
        let mut settling = Settling::new(rules);
        let mut marking = rules.start();
        for (i, &flow) in self.flows.iter().enumerate() {
            self.store.read(i, &mut marking);
            settling.explore(rules, &marking)?;
            settling.visits(rules.program)?;
            for node in 0..settling.len() {
                let inflow = flow * settling.visit(node);
                settling.read(node, &mut marking);
                for step in settling.steps(node) {
                    let flow = inflow * step.probability;
                    visit(FiringFlow { transition: step.transition, marking: &marking, flow });
                }
            }
        }
        Ok(())
    }
}
