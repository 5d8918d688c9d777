//! What is true of all markings: deadlocks, liveness, home states, recurrent classes.

use crate::compile::Program;
use crate::semantics::{fire, rate};
use crate::solve::components::{Components, components};
use crate::solve::explore_error::ExploreError;
use crate::solve::space::StateSpace;
use crate::solve::vanish::{Rules, Settling};

/// How often a transition can fire, after \[Murata1989\]; in a net with finitely many markings "arbitrarily often" (L2) and
/// "infinitely often" (L3) are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// Never (L0).
    Dead,
    /// In some firing sequence, but in none infinitely often (L1).
    Finite,
    /// In some firing sequence infinitely often (L3), but after others never again.
    Repeated,
    /// After any firing sequence again (L4).
    Live,
}

impl Liveness {
    /// The level's usual number: 0, 1, 3 or 4.
    pub fn level(self) -> u8 {
        match self {
            Self::Dead => 0,
            Self::Finite => 1,
            Self::Repeated => 3,
            Self::Live => 4,
        }
    }
}

/// Markings that, once entered, are never left, and each of which leads to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecurrentClass {
    /// Its first state.
    pub first: u32,
    /// How many states it has; 1 is an absorbing state.
    pub states: u32,
}

/// What is true of a complete state space. Rates and weights of 0 never fire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdicts {
    /// Classes of states that are never left, by their first state.
    pub recurrent: Vec<RecurrentClass>,
    /// Whether every marking leads back to the initial one.
    pub reversible: bool,
    /// Per transition, how live it is.
    pub liveness: Vec<Liveness>,
    /// Per transition: the first state after which it never fires again; none where it is live.
    pub lost: Vec<Option<u32>>,
}

impl Verdicts {
    /// How many states every marking leads to: home states. 0 where there are several recurrent classes.
    pub fn home_states(&self) -> u32 {
        match self.recurrent[..] {
            [only] => only.states,
            _ => 0,
        }
    }

    /// Whether every transition is live.
    pub fn is_live(&self) -> bool {
        self.liveness.iter().all(|&liveness| liveness == Liveness::Live)
    }
}

impl StateSpace {
    /// Looks at all states once more and judges them; none where the state space is partial.
    ///
    /// Exact. Source: strongly connected components after \[Tarjan1972\].
    ///
    /// # Errors
    ///
    /// As [`explore`](crate::solve::explore).
    pub fn verdicts(&self, program: &Program) -> Result<Option<Verdicts>, ExploreError> {
        if self.stopped.is_some() {
            return Ok(None);
        }
        let rates = &self.chain.rates;
        let found = components(self.states(), |v| rates.row(v).len(), |v, k| rates.row(v)[k].0 as usize);
        let (members, starts) = found.members();
        let mut terminal = vec![true; found.count];
        for state in 0..self.states() {
            let own = found.of[state];
            terminal[own as usize] &= rates.row(state).iter().all(|&(next, _)| found.of[next as usize] == own);
        }
        let mut judge = Judge::new(self, program, &found);
        judge.start()?;
        let mut recurrent = Vec::new();
        for component in 0..found.count {
            let states = &members[starts[component] as usize..starts[component + 1] as usize];
            judge.component(states, terminal[component])?;
            if terminal[component] {
                recurrent.push(RecurrentClass { first: states[0], states: states.len() as u32 });
            }
        }
        recurrent.sort_unstable_by_key(|class| class.first);
        let (liveness, lost) = judge.liveness(recurrent.len());
        Ok(Some(Verdicts { reversible: found.count == 1, recurrent, liveness, lost }))
    }
}

/// Looks at what fires in the states of one component after the other.
struct Judge<'a> {
    space: &'a StateSpace,
    rules: Rules<'a>,
    components: &'a Components,
    fires: Vec<bool>,
    /// Per transition: fires on the way from a component back to it.
    returns: Vec<bool>,
    /// Per transition: in how many terminal components it fires.
    terminals: Vec<usize>,
    lost: Vec<Option<u32>>,
    /// Per transition: fires in the component at hand.
    here: Vec<bool>,
    settling: Settling,
    found: crate::semantics::Candidates,
}

impl<'a> Judge<'a> {
    fn new(space: &'a StateSpace, program: &'a Program, components: &'a Components) -> Self {
        let count = program.transitions();
        Self {
            space,
            rules: space.rules(program),
            components,
            fires: vec![false; count],
            returns: vec![false; count],
            terminals: vec![0; count],
            lost: vec![None; count],
            here: vec![false; count],
            settling: Settling::default(),
            found: crate::semantics::Candidates::default(),
        }
    }

    /// What fires before the first tangible marking.
    fn start(&mut self) -> Result<(), ExploreError> {
        let initial = self.rules.program.initial.clone();
        self.zero_time(&initial, u32::MAX, false)?;
        for (fires, here) in self.fires.iter_mut().zip(&self.here) {
            *fires |= here;
        }
        Ok(())
    }

    fn component(&mut self, states: &[u32], terminal: bool) -> Result<(), ExploreError> {
        self.here.fill(false);
        let mut marking = self.rules.program.initial.clone();
        let mut next = marking.clone();
        let nothing_new = |judge: &Self| {
            let all = |flags: &[bool]| flags.iter().all(|&flag| flag);
            if terminal { all(&judge.here) } else { all(&judge.fires) && all(&judge.returns) }
        };
        for &state in states {
            if nothing_new(self) {
                break;
            }
            self.space.store.read(state as usize, &mut marking);
            if !self.rules.is_goal(&marking)? {
                self.state(state, &marking, &mut next, terminal)?;
            }
        }
        for t in 0..self.here.len() {
            self.fires[t] |= self.here[t];
            if terminal {
                self.returns[t] |= self.here[t];
                self.terminals[t] += usize::from(self.here[t]);
                if !self.here[t] {
                    self.lost[t] = Some(self.lost[t].map_or(states[0], |first| first.min(states[0])));
                }
            }
        }
        Ok(())
    }

    fn state(&mut self, state: u32, marking: &[u32], next: &mut [u32], terminal: bool) -> Result<(), ExploreError> {
        let program = self.rules.program;
        let own = self.components.of[state as usize];
        for &t in &program.timed {
            if rate(program, t as usize, marking)? <= 0.0 {
                continue;
            }
            self.here[t as usize] = true;
            next.copy_from_slice(marking);
            fire(program, t as usize, next)?;
            if self.rules.is_vanishing(next, program.affects_groups.row(t as usize), &mut self.found)? {
                let back = self.zero_time(next, own, terminal)?;
                self.returns[t as usize] |= back;
            } else if !terminal {
                self.returns[t as usize] |= self.is_in(next, own);
            }
        }
        Ok(())
    }

    fn is_in(&self, marking: &[u32], component: u32) -> bool {
        self.space.find(marking).is_some_and(|state| self.components.of[state as usize] == component)
    }

    /// Looks at the immediate firings from a vanishing marking; whether some lead back to the component.
    fn zero_time(&mut self, entry: &[u32], own: u32, terminal: bool) -> Result<bool, ExploreError> {
        self.settling.explore(&self.rules, entry)?;
        let count = self.settling.len();
        let back = self.leading_to(own, terminal);
        let loops = (0..count).any(|i| self.settling.steps(i).iter().any(|step| step.to as usize <= i));
        let within = loops.then(|| {
            let settling = &self.settling;
            components(count, |v| settling.steps(v).len(), |v, k| settling.steps(v)[k].to as usize).of
        });
        for i in 0..count {
            for step in self.settling.steps(i) {
                let (t, to) = (step.transition as usize, step.to as usize);
                self.here[t] = true;
                self.returns[t] |= back[to] || within.as_ref().is_some_and(|of| of[i] == of[to]);
            }
        }
        Ok(back[0])
    }

    /// Per marking of the settling, whether it leads to the component.
    fn leading_to(&self, own: u32, terminal: bool) -> Vec<bool> {
        let count = self.settling.len();
        let is_back = |i: usize| terminal || (self.settling.is_end(i) && self.is_in(self.settling.marking(i), own));
        let mut back: Vec<bool> = (0..count).map(is_back).collect();
        let mut changed = !terminal;
        while changed {
            changed = false;
            for i in (0..count).rev() {
                if !back[i] && self.settling.steps(i).iter().any(|step| back[step.to as usize]) {
                    back[i] = true;
                    changed = true;
                }
            }
        }
        back
    }

    fn liveness(self, classes: usize) -> (Vec<Liveness>, Vec<Option<u32>>) {
        let judged = (0..self.fires.len()).map(|t| {
            if self.terminals[t] == classes {
                Liveness::Live
            } else if self.returns[t] {
                Liveness::Repeated
            } else if self.fires[t] {
                Liveness::Finite
            } else {
                Liveness::Dead
            }
        });
        (judged.collect(), self.lost)
    }
}
