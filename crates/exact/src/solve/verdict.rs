//! Properties of all markings: deadlocks, liveness, home states, recurrent classes.

use crate::compile::Program;
use crate::semantics::{Candidates, rate};
use crate::solve::canonical::Canonical;
use crate::solve::components::Components;
use crate::solve::explore_error::ExploreError;
use crate::solve::marking::Marking;
use crate::solve::space::StateSpace;
use crate::solve::vanish::{Rules, Settling};

/// Liveness of a transition, after \[Murata1989\]; in a net with finitely many markings "arbitrarily often" (L2) and
/// "infinitely often" (L3) are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// It never fires (L0).
    Dead,
    /// It fires in some firing sequence, but in no sequence infinitely often (L1).
    Finite,
    /// It fires infinitely often in some firing sequence (L3), but can never fire again after some other sequence.
    Repeated,
    /// It can fire again after any firing sequence (L4).
    Live,
}

impl Liveness {
    /// Returns the conventional number of the level: 0, 1, 3 or 4.
    pub fn level(self) -> u8 {
        match self {
            Self::Dead => 0,
            Self::Finite => 1,
            Self::Repeated => 3,
            Self::Live => 4,
        }
    }
}

/// Markings that are never left once entered, and that are all reachable from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClosedClass {
    /// First state of the class.
    pub first: u32,
    /// Number of states; a class of one state is absorbing.
    pub states: u32,
}

/// Verdicts on a complete state space. Transitions with rates or weights of 0 never fire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdicts {
    /// Classes of states that are never left, by their first state.
    pub recurrent: Vec<ClosedClass>,
    /// True if every marking leads back to the initial one.
    pub reversible: bool,
    /// Per transition: its level of liveness.
    pub liveness: Vec<Liveness>,
    /// Per transition: the first state after which it never fires again; none if it is live.
    pub lost: Vec<Option<u32>>,
}

impl Verdicts {
    /// Returns the number of home states: states that are reachable from every marking. 0 if there are several recurrent classes.
    pub fn home_states(&self) -> u32 {
        match self.recurrent[..] {
            [only] => only.states,
            _ => 0,
        }
    }

    /// Returns true if every transition is live.
    pub fn is_live(&self) -> bool {
        self.liveness.iter().all(|&liveness| liveness == Liveness::Live)
    }
}

impl StateSpace {
    /// Visits all states again and returns the verdicts on them; none if the state space is partial.
    ///
    /// Exact. Source: strongly connected components after \[Tarjan1972\].
    ///
    /// # Errors
    ///
    /// The errors of [`explore`](crate::solve::explore).
    pub fn verdicts(&self, program: &Program) -> Result<Option<Verdicts>, ExploreError> {
        if self.stopped.is_some() {
            return Ok(None);
        }
        let rates = &self.chain.rates;
        let found = Components::of(rates);
        let mut terminal = vec![true; found.count()];
        for state in 0..self.states() {
            let own = found.of[state];
            terminal[own as usize] &= rates.states(state).iter().all(|&next| found.of[next as usize] == own);
        }
        let of_component = |component: usize| found.states.row(component);
        let (mut closed, open): (Vec<usize>, Vec<usize>) =
            (0..found.count()).partition(|&component| terminal[component]);
        closed.sort_unstable_by_key(|&component| of_component(component)[0]);
        let mut judge = Judge::new(self, program, &found);
        judge.start()?;
        for component in closed.iter().chain(&open) {
            judge.component(of_component(*component), terminal[*component])?;
        }
        let class =
            |component| ClosedClass { first: of_component(component)[0], states: of_component(component).len() as u32 };
        let recurrent: Vec<ClosedClass> = closed.into_iter().map(class).collect();
        let (liveness, lost) = judge.liveness(&recurrent);
        // with exchangeable parts, a path back to the first state leads to each of the markings that it represents
        let starts_alone = match self.chain.initial[..] {
            _ if self.canonical.is_none() => true,
            [(state, _)] => self.orbit(state as usize) < 1.5,
            _ => false,
        };
        Ok(Some(Verdicts { reversible: found.count() == 1 && starts_alone, recurrent, liveness, lost }))
    }
}

/// A set of transitions.
#[derive(Debug)]
struct Transitions {
    contains: Vec<bool>,
    members: Vec<u32>,
}

impl Transitions {
    fn none(of: &Program) -> Self {
        Self { contains: vec![false; of.transitions()], members: Vec::new() }
    }

    fn add(&mut self, t: u32) {
        if !std::mem::replace(&mut self.contains[t as usize], true) {
            self.members.push(t);
        }
    }

    fn is_full(&self) -> bool {
        self.members.len() == self.contains.len()
    }

    fn clear(&mut self) {
        self.members.drain(..).for_each(|t| self.contains[t as usize] = false);
    }

    /// Adds the transitions that correspond to members in parts that may be exchanged.
    fn level(&mut self, canonical: &Canonical) {
        canonical.level_flags(&mut self.contains);
        self.members = (0..).zip(&self.contains).filter(|(_, is)| **is).map(|(t, _)| t).collect();
    }
}

/// Examines the firings in the states of one component after the other. Terminal components come first, in the order of
/// their first states.
struct Judge<'a> {
    space: &'a StateSpace,
    rules: Rules<'a>,
    components: &'a Components,
    fires: Transitions,
    /// Transitions that fire on a cycle within a component.
    returns: Transitions,
    /// Number of terminal components so far.
    terminals: usize,
    /// Per transition: number of terminal components before the first one in which it does not fire.
    kept: Vec<usize>,
    /// Transitions that fire in the current component.
    here: Transitions,
    settling: Settling,
    candidates: Candidates,
    timed: Vec<u32>,
    /// Markings in work.
    marking: Marking,
    next: Marking,
    end: Marking,
}

impl<'a> Judge<'a> {
    fn new(space: &'a StateSpace, program: &'a Program, components: &'a Components) -> Self {
        let rules = space.rules(program);
        Self {
            space,
            rules,
            components,
            fires: Transitions::none(program),
            returns: Transitions::none(program),
            terminals: 0,
            kept: vec![0; program.transitions()],
            here: Transitions::none(program),
            settling: Settling::new(&rules),
            candidates: Candidates::default(),
            timed: Vec::new(),
            marking: rules.start(),
            next: rules.start(),
            end: rules.start(),
        }
    }

    /// Examines the firings before the first tangible marking.
    fn start(&mut self) -> Result<(), ExploreError> {
        self.zero_time(u32::MAX, false)?;
        self.level();
        self.here.members.iter().for_each(|&t| self.fires.add(t));
        Ok(())
    }

    fn component(&mut self, states: &[u32], terminal: bool) -> Result<(), ExploreError> {
        self.here.clear();
        for &state in states {
            let nothing_new =
                if terminal { self.here.is_full() } else { self.fires.is_full() && self.returns.is_full() };
            if nothing_new {
                break;
            }
            self.space.store.read(state as usize, &mut self.marking);
            if !self.rules.is_goal(&self.marking)? {
                self.state(state, terminal)?;
            }
        }
        self.level();
        for &t in &self.here.members {
            self.fires.add(t);
            if terminal {
                self.returns.add(t);
                self.kept[t as usize] += usize::from(self.kept[t as usize] == self.terminals);
            }
        }
        self.terminals += usize::from(terminal);
        Ok(())
    }

    /// Transitions of exchangeable parts fire in equal numbers of markings.
    fn level(&mut self) {
        if let Some(canonical) = &self.space.canonical {
            self.here.level(canonical);
            self.returns.level(canonical);
        }
    }

    /// Examines the firings in the state whose marking is `marking`.
    fn state(&mut self, state: u32, terminal: bool) -> Result<(), ExploreError> {
        let program = self.rules.program;
        let own = self.components.of[state as usize];
        let mut timed = std::mem::take(&mut self.timed);
        for &t in self.rules.timed(&self.marking, &mut timed) {
            if rate(program, t as usize, &self.marking)? <= 0.0 {
                continue;
            }
            self.here.add(t);
            self.next.copy_from(&self.marking);
            self.next.fire(program, t as usize)?;
            let groups = program.affects_groups.row(t as usize);
            let back = if self.rules.is_vanishing(&self.next, groups, &mut self.candidates)? {
                self.zero_time(own, terminal)?
            } else {
                !terminal && self.is_in(&self.next, own)
            };
            if back {
                self.returns.add(t);
            }
        }
        self.timed = timed;
        Ok(())
    }

    fn is_in(&self, marking: &Marking, component: u32) -> bool {
        self.space.state_of(marking).is_some_and(|state| self.components.of[state as usize] == component)
    }

    /// Explores the immediate firings from the vanishing marking `next`; returns true if some of them lead back to the component.
    fn zero_time(&mut self, own: u32, terminal: bool) -> Result<bool, ExploreError> {
        self.settling.explore(&self.rules, &self.next)?;
        let count = self.settling.len();
        let back = self.leading_to(own, terminal);
        let loops = (0..count).any(|i| self.settling.steps(i).iter().any(|step| step.to as usize <= i));
        let within = loops.then(|| {
            let settling = &self.settling;
            Components::of_graph(count, |v| settling.steps(v).len(), |v, k| settling.steps(v)[k].to as usize).of
        });
        for i in 0..count {
            for step in self.settling.steps(i) {
                let to = step.to as usize;
                self.here.add(step.transition);
                if back[to] || within.as_ref().is_some_and(|of| of[i] == of[to]) {
                    self.returns.add(step.transition);
                }
            }
        }
        Ok(back[0])
    }

    /// Returns, for each marking of the current exploration of immediate firings, true if it leads to the component.
    fn leading_to(&mut self, own: u32, terminal: bool) -> Vec<bool> {
        let count = self.settling.len();
        let mut back = vec![terminal; count];
        for i in (0..count).filter(|&i| !terminal && self.settling.is_end(i)) {
            self.settling.read(i, &mut self.end);
            back[i] = self.is_in(&self.end, own);
        }
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

    fn liveness(self, recurrent: &[ClosedClass]) -> (Vec<Liveness>, Vec<Option<u32>>) {
        let judged = self.kept.iter().enumerate().map(|(t, &kept)| {
            if kept == recurrent.len() {
                Liveness::Live
            } else if self.returns.contains[t] {
                Liveness::Repeated
            } else if self.fires.contains[t] {
                Liveness::Finite
            } else {
                Liveness::Dead
            }
        });
        let lost = self.kept.iter().map(|&kept| recurrent.get(kept).map(|class| class.first));
        (judged.collect(), lost.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{NetBuilder, Timing};
    use crate::solve::cases::{built, kanban, philosophers, ring, space};
    use crate::solve::witness::replay;

    fn verdicts(program: &Program) -> Verdicts {
        space(program).verdicts(program).unwrap().unwrap()
    }

    #[test]
    fn a_ring_is_live_and_reversible() {
        for program in [ring(4, 3), kanban(1)] {
            let found = verdicts(&program);
            assert!(found.is_live() && found.reversible);
            assert_eq!((found.recurrent.len(), found.lost.iter().all(Option::is_none)), (1, true));
        }
    }

    #[test]
    fn philosophers_starve_and_the_path_shows_how() {
        let program = philosophers(5);
        let space = space(&program);
        let [dead] = *space.dead() else { panic!("one deadlock") };
        let path = space.path_to(&program, dead).unwrap();
        let mut marking = program.initial.clone();
        replay(&program, &path, &mut marking).unwrap();
        let waiting: Vec<&str> = (0..program.places())
            .filter(|&place| marking[place] > 0)
            .map(|place| &program.place_names[place])
            .collect();
        assert_eq!((path.len(), waiting), (5, vec!["wait0", "wait1", "wait2", "wait3", "wait4"]));
        let found = space.verdicts(&program).unwrap().unwrap();
        assert_eq!(found.recurrent, [ClosedClass { first: dead, states: 1 }]);
        assert_eq!((found.home_states(), found.reversible), (1, false));
        assert!(found.liveness.iter().all(|&liveness| liveness == Liveness::Repeated));
        assert!(found.lost.iter().all(|&lost| lost == Some(dead)));
    }

    /// `once` leads from a first loop of `spin` to a choice of two closed classes: `left` with a loop through an immediate
    /// transition, `right` dead. `never` needs a token that does not exist.
    #[test]
    fn transitions_have_their_levels_of_liveness() {
        let mut b = NetBuilder::new("");
        let ids = ["a", "b", "c", "d", "e", "f", "none"];
        let places: Vec<_> = ids.iter().map(|&id| b.place(id, u32::from(id == "a"))).collect();
        let timed = Timing::exponential(1.0);
        let now = |weight| Timing::immediate(weight, 1);
        let moves = [
            ("spin", 0, 1, timed.clone()),
            ("spun", 1, 0, now(1.0)),
            ("once", 0, 2, timed.clone()),
            ("left", 2, 3, now(1.0)),
            ("right", 2, 4, now(2.0)),
            ("turn", 3, 5, timed.clone()),
            ("turned", 5, 3, now(1.0)),
            ("never", 6, 0, timed),
        ];
        for (id, from, to, timing) in moves {
            let t = b.transition(id, timing);
            b.input(places[from], t, 1.0);
            b.output(t, places[to], 1.0);
        }
        let program = built(b);
        let space = space(&program);
        let found = space.verdicts(&program).unwrap().unwrap();
        let levels: Vec<u8> = found.liveness.iter().map(|liveness| liveness.level()).collect();
        // spin returns to its marking, so it can fire forever; turn can do so only after left was chosen
        assert_eq!(levels, [3, 3, 1, 1, 1, 3, 3, 0]);
        assert_eq!(found.recurrent.iter().map(|class| class.states).collect::<Vec<_>>(), [1, 1]);
        assert_eq!((found.home_states(), space.dead().len()), (0, 1));
    }

    #[test]
    fn a_partial_state_space_has_no_verdicts() {
        let program = ring(5, 20);
        let limits = crate::solve::Limits { states: 100, ..crate::solve::Limits::default() };
        let partial = crate::solve::explore(&program, None, &limits, &crate::watch::Unwatched).unwrap();
        assert_eq!(partial.verdicts(&program).unwrap(), None);
    }
}
