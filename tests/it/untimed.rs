//! Nets without time: every number and every formula of CTL against a token game and fixpoints that share no code with the tool,
//! known counts, and the nets of others.
//!
//! The nets of others are read from the shared folder; where it is absent their tests are skipped.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use tailspn::compile::compile;
use tailspn::formats::pipe::{ReadOptions, read};
use tailspn::net::{ArcKind, Delay, Memory, Net, NetBuilder, PlaceId, Servers, Timing};
use tailspn::solve::{
    Checked, Checker, ExploreError, Formula, Incomplete, Limits, Liveness, MarkingGraph, Priorities, explore,
    explore_untimed,
};
use tailspn::watch::Unwatched;

use crate::shared::shared;

/// Random numbers that are the same everywhere.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// A net as a plain record, with its own token game.
struct Plain {
    initial: Vec<i64>,
    capacity: Vec<Option<i64>>,
    transitions: Vec<PlainTransition>,
}

struct PlainTransition {
    /// Priority, if it is immediate.
    immediate: Option<u32>,
    arcs: Vec<(ArcKind, usize, i64)>,
    /// Fires only with at least so many tokens there.
    guard: Option<(usize, i64)>,
}

impl Plain {
    fn random(dice: &mut Dice) -> Self {
        let places = 2 + dice.below(4);
        let initial: Vec<i64> = (0..places).map(|_| dice.below(3) as i64).collect();
        let capacity =
            initial.iter().map(|tokens| dice.one_in(3).then(|| (tokens + dice.below(3) as i64).max(1))).collect();
        let transitions = (0..1 + dice.below(6)).map(|_| {
            let mut arcs = Vec::new();
            for _ in 0..1 + dice.below(4) {
                let kind = [
                    ArcKind::Input,
                    ArcKind::Input,
                    ArcKind::Output,
                    ArcKind::Output,
                    ArcKind::Inhibitor,
                    ArcKind::Test,
                ][dice.below(6)];
                arcs.push((kind, dice.below(places), 1 + dice.below(2) as i64));
            }
            PlainTransition {
                immediate: dice.one_in(3).then(|| dice.below(3) as u32),
                arcs,
                guard: dice.one_in(6).then(|| (dice.below(places), 1 + dice.below(2) as i64)),
            }
        });
        Self { initial, capacity, transitions: transitions.collect() }
    }

    fn net(&self) -> Net {
        let mut b = NetBuilder::new("random");
        let mut places: Vec<PlaceId> = Vec::new();
        for (i, tokens) in self.initial.iter().enumerate() {
            let place = b.place(format!("p{i}"), *tokens as u32);
            b.place_mut(place).capacity = self.capacity[i].map(|capacity| capacity as u32);
            places.push(place);
        }
        for (i, transition) in self.transitions.iter().enumerate() {
            let value = match transition.guard {
                None => 1.0.into(),
                Some((place, least)) => b.expression(&format!("if(#(p{place}) >= {least}, 2, 0)")).unwrap(),
            };
            let timing = match transition.immediate {
                Some(priority) => Timing::Immediate { weight: value, priority },
                None => Timing::Timed {
                    delay: Delay::Exponential { rate: value },
                    servers: Servers::Single,
                    memory: Memory::Enabling,
                },
            };
            let t = b.transition(format!("t{i}"), timing);
            for (n, &(kind, place, weight)) in transition.arcs.iter().enumerate() {
                let arc = b.arc(kind, places[place], t, weight as f64);
                b.arc_mut(arc).id = format!("a{i}.{n}");
            }
        }
        b.build().unwrap()
    }

    /// The marking after a firing, priorities aside.
    fn fired(&self, t: usize, marking: &[i64]) -> Option<Vec<i64>> {
        let transition = &self.transitions[t];
        let mut next = marking.to_vec();
        if transition.guard.is_some_and(|(place, least)| marking[place] < least) {
            return None;
        }
        for &(kind, place, weight) in &transition.arcs {
            match kind {
                ArcKind::Input => next[place] -= weight,
                ArcKind::Test if marking[place] < weight => return None,
                ArcKind::Inhibitor if marking[place] >= weight => return None,
                ArcKind::Test | ArcKind::Inhibitor | ArcKind::Output => {}
            }
        }
        if next.iter().any(|&tokens| tokens < 0) {
            return None;
        }
        for &(_, place, weight) in transition.arcs.iter().filter(|arc| arc.0 == ArcKind::Output) {
            next[place] += weight;
        }
        let full = |place: usize| {
            next[place] > marking[place] && self.capacity[place].is_some_and(|capacity| next[place] > capacity)
        };
        (!(0..next.len()).any(full)).then_some(next)
    }

    /// The firings in a marking.
    fn firings(&self, marking: &[i64], priorities: Priorities) -> Vec<(usize, Vec<i64>)> {
        let all = 0..self.transitions.len();
        let possible: Vec<_> = all.filter_map(|t| self.fired(t, marking).map(|next| (t, next))).collect();
        if priorities == Priorities::Ignored {
            return possible;
        }
        // timed transitions go last: `None` is less than any priority
        let first = possible.iter().map(|&(t, _)| self.transitions[t].immediate).max().flatten();
        possible.into_iter().filter(|&(t, _)| self.transitions[t].immediate == first).collect()
    }

    /// All markings with their firings, in order of discovery; none if there are more than `most`.
    fn explore(&self, priorities: Priorities, most: usize) -> Option<Matrix> {
        let mut numbers = BTreeMap::from([(self.initial.clone(), 0)]);
        let mut markings = vec![self.initial.clone()];
        let mut firings: Vec<Vec<(usize, usize)>> = Vec::new();
        while firings.len() < markings.len() {
            let mut row = Vec::new();
            for (t, next) in self.firings(&markings[firings.len()].clone(), priorities) {
                let number = *numbers.entry(next.clone()).or_insert(markings.len());
                if number == markings.len() {
                    markings.push(next);
                }
                row.push((t, number));
            }
            firings.push(row);
            if markings.len() > most {
                return None;
            }
        }
        Some(Matrix { markings, firings })
    }
}

/// An explicit graph of markings, with the operators of CTL by their fixpoints.
struct Matrix {
    markings: Vec<Vec<i64>>,
    firings: Vec<Vec<(usize, usize)>>,
}

impl Matrix {
    fn len(&self) -> usize {
        self.markings.len()
    }

    fn is_dead(&self, state: usize) -> bool {
        self.firings[state].is_empty()
    }

    fn some(&self, state: usize, of: &[bool]) -> bool {
        self.firings[state].iter().any(|&(_, next)| of[next])
    }

    fn every(&self, state: usize, of: &[bool]) -> bool {
        self.firings[state].iter().all(|&(_, next)| of[next])
    }

    /// Repeats a step on all states until nothing changes.
    fn fixpoint(&self, start: bool, step: impl Fn(usize, &[bool]) -> bool) -> Vec<bool> {
        let mut set = vec![start; self.len()];
        loop {
            let next: Vec<bool> = (0..self.len()).map(|state| step(state, &set)).collect();
            if next == set {
                return set;
            }
            set = next;
        }
    }

    fn can_reach(&self, goal: &[bool]) -> Vec<bool> {
        self.fixpoint(false, |state, set| goal[state] || self.some(state, set))
    }

    fn holds(&self, formula: &Ctl) -> Vec<bool> {
        let all = |is: &dyn Fn(usize) -> bool| (0..self.len()).map(is).collect::<Vec<bool>>();
        match formula {
            Ctl::Least(place, least) => all(&|state| self.markings[state][*place] >= *least),
            Ctl::Deadlock => all(&|state| self.is_dead(state)),
            Ctl::Enabled(t) => all(&|state| self.firings[state].iter().any(|(fired, _)| fired == t)),
            Ctl::Not(a) => self.holds(a).iter().map(|holds| !holds).collect(),
            Ctl::Both(sign, a, b) => {
                let (a, b) = (self.holds(a), self.holds(b));
                all(&|state| match *sign {
                    "&&" => a[state] && b[state],
                    "||" => a[state] || b[state],
                    _ => !a[state] || b[state],
                })
            }
            Ctl::On(operator, a) => {
                let a = self.holds(a);
                match *operator {
                    "EX" => all(&|state| self.some(state, &a)),
                    "AX" => all(&|state| self.every(state, &a)),
                    "EF" => self.can_reach(&a),
                    "AF" => self.fixpoint(false, |s, set| a[s] || (!self.is_dead(s) && self.every(s, set))),
                    "EG" => self.fixpoint(true, |s, set| a[s] && (self.is_dead(s) || self.some(s, set))),
                    _ => self.fixpoint(true, |s, set| a[s] && self.every(s, set)),
                }
            }
            Ctl::Until(quantifier, a, b) => {
                let (a, b) = (self.holds(a), self.holds(b));
                self.fixpoint(false, |s, set| {
                    let goes_on =
                        if *quantifier == 'E' { self.some(s, set) } else { !self.is_dead(s) && self.every(s, set) };
                    b[s] || (a[s] && goes_on)
                })
            }
        }
    }

    /// The state that transitions lead to.
    fn replayed(&self, from: usize, path: &[u32]) -> usize {
        path.iter().fold(from, |state, &t| {
            let step = self.firings[state].iter().find(|(fired, _)| *fired == t as usize);
            step.unwrap_or_else(|| panic!("{t} cannot fire in {:?}", self.markings[state])).1
        })
    }

    /// The states on the way, the last one left out.
    fn on_the_way(&self, from: usize, path: &[u32]) -> Vec<usize> {
        (0..path.len()).map(|length| self.replayed(from, &path[..length])).collect()
    }
}

enum Ctl {
    Least(usize, i64),
    Deadlock,
    Enabled(usize),
    Not(Box<Ctl>),
    Both(&'static str, Box<Ctl>, Box<Ctl>),
    On(&'static str, Box<Ctl>),
    Until(char, Box<Ctl>, Box<Ctl>),
}

const OPERATORS: [&str; 6] = ["EX", "AX", "EF", "AF", "EG", "AG"];

impl Ctl {
    fn random(dice: &mut Dice, plain: &Plain, depth: usize) -> Self {
        let part = |dice: &mut Dice| Box::new(Self::random(dice, plain, depth.saturating_sub(1)));
        let kind = if depth == 0 { dice.below(5) } else { 5 + dice.below(10) };
        match kind {
            0..=2 => Self::Least(dice.below(plain.initial.len()), 1 + dice.below(2) as i64),
            3 => Self::Deadlock,
            4 => Self::Enabled(dice.below(plain.transitions.len())),
            5 => Self::Not(part(dice)),
            6 | 7 => Self::Both(["&&", "||", "->"][dice.below(3)], part(dice), part(dice)),
            8 | 9 => Self::Until(['E', 'A'][dice.below(2)], part(dice), part(dice)),
            _ => Self::On(OPERATORS[dice.below(6)], part(dice)),
        }
    }

    fn write(&self, text: &mut String) {
        match self {
            Self::Least(place, least) => write!(text, "#(p{place}) >= {least}").unwrap(),
            Self::Deadlock => text.push_str("deadlock"),
            Self::Enabled(t) => write!(text, "enabled(t{t})").unwrap(),
            Self::Not(a) => write!(text, "!({})", a.text()).unwrap(),
            Self::Both(sign, a, b) => write!(text, "({}) {sign} ({})", a.text(), b.text()).unwrap(),
            Self::On(operator, a) => write!(text, "{operator} ({})", a.text()).unwrap(),
            Self::Until(quantifier, a, b) => write!(text, "{quantifier}[{} U {}]", a.text(), b.text()).unwrap(),
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }
}

fn explored(net: &Net, priorities: Priorities) -> Result<MarkingGraph, ExploreError> {
    explore_untimed(&compile(net).unwrap(), priorities, &Limits::default(), &Unwatched)
}

fn checked(net: &Net, graph: &MarkingGraph, text: &str) -> Checked {
    let formula = Formula::parse(net, text).unwrap_or_else(|error| panic!("{text}: {error}"));
    Checker::new(graph, &compile(net).unwrap()).check(&formula).unwrap()
}

/// Checks the firing sequence of a formula whose parts are about markings only.
fn assert_evidence(matrix: &Matrix, formula: &Ctl, checked: &Checked, text: &str) {
    let (holds, evidence) = (checked.holds.unwrap(), checked.evidence.as_ref());
    let path = |is: &dyn Fn(usize) -> bool, goal: &dyn Fn(usize) -> bool, most: usize| {
        let found = evidence.unwrap_or_else(|| panic!("{text} needs a firing sequence"));
        let way = matrix.on_the_way(0, &found.path);
        assert!(way.iter().all(|&state| is(state)) && found.path.len() <= most, "{text}: {found:?}");
        assert!(goal(matrix.replayed(0, &found.path)) && found.cycle.is_none() && !found.stops, "{text}: {found:?}");
    };
    let forever = |is: &dyn Fn(usize) -> bool| {
        let found = evidence.unwrap_or_else(|| panic!("{text} needs a firing sequence"));
        let end = matrix.replayed(0, &found.path);
        let mut way = matrix.on_the_way(0, &found.path);
        way.push(end);
        if let Some(cycle) = &found.cycle {
            assert!(!cycle.is_empty() && matrix.replayed(end, cycle) == end, "{text}: {found:?}");
            way.extend(matrix.on_the_way(end, cycle));
        }
        assert_eq!(found.stops, matrix.is_dead(end), "{text}");
        assert_eq!(found.stops, found.cycle.is_none(), "{text}");
        assert!(way.iter().all(|&state| is(state)), "{text}: {found:?}");
    };
    match (formula, holds) {
        (Ctl::On(operator, a), _) => {
            let a = matrix.holds(a);
            match (*operator, holds) {
                ("EX", true) => path(&|_| true, &|state| a[state], 1),
                ("AX", false) => path(&|_| true, &|state| !a[state], 1),
                ("EF", true) => path(&|state| !a[state], &|state| a[state], usize::MAX),
                ("AG", false) => path(&|state| a[state], &|state| !a[state], usize::MAX),
                ("EG", true) => forever(&|state| a[state]),
                ("AF", false) => forever(&|state| !a[state]),
                _ => assert_eq!(evidence, None, "{text}"),
            }
        }
        (Ctl::Until('E', a, b), true) => {
            let (a, b) = (matrix.holds(a), matrix.holds(b));
            path(&|state| a[state] && !b[state], &|state| b[state], usize::MAX);
        }
        (Ctl::Until('A', a, b), false) => {
            let (a, b) = (matrix.holds(a), matrix.holds(b));
            match evidence {
                Some(found) if found.cycle.is_some() || found.stops => forever(&|state| !b[state]),
                _ => path(&|state| !b[state], &|state| !a[state] && !b[state], usize::MAX),
            }
        }
        _ => assert_eq!(evidence, None, "{text}"),
    }
}

/// Compares liveness, home states and bounds with their definitions.
fn assert_verdicts(net: &Net, graph: &MarkingGraph, matrix: &Matrix) {
    let verdicts = graph.verdicts(&compile(net).unwrap()).unwrap();
    let all = |of: Vec<bool>| of.into_iter().all(|is| is);
    let only = |state: usize| (0..matrix.len()).map(|other| other == state).collect::<Vec<bool>>();
    let home = (0..matrix.len()).filter(|&state| all(matrix.can_reach(&only(state)))).count();
    assert_eq!(verdicts.home_states() as usize, home);
    assert_eq!(verdicts.reversible, all(matrix.can_reach(&only(0))));
    for (t, &liveness) in verdicts.liveness.iter().enumerate() {
        let fires: Vec<bool> = matrix.firings.iter().map(|row| row.iter().any(|&(fired, _)| fired == t)).collect();
        let again = |(from, row): (usize, &Vec<(usize, usize)>)| {
            let back = matrix.can_reach(&only(from));
            row.iter().any(|&(fired, to)| fired == t && back[to])
        };
        let expected = if all(matrix.can_reach(&fires)) {
            Liveness::Live
        } else if matrix.firings.iter().enumerate().any(again) {
            Liveness::Repeated
        } else if fires.contains(&true) {
            Liveness::Finite
        } else {
            Liveness::Dead
        };
        assert_eq!(liveness, expected, "t{t}");
        let lost = verdicts.lost[t].map(|state| matrix.can_reach(&fires)[state as usize]);
        assert_eq!(lost, (liveness != Liveness::Live).then_some(false), "t{t}");
    }
    for (place, &(most, state)) in graph.peaks().iter().enumerate() {
        assert_eq!(most as i64, matrix.markings.iter().map(|marking| marking[place]).max().unwrap());
        assert_eq!(matrix.markings[state as usize][place], most as i64);
    }
}

/// Failed when it was written with: EG false in deadlocks, EU through any marking, all levels of priorities at once, every component taken
/// for a closed one, the wrong part of an `||` shown, a lasso without a cycle.
#[test]
fn random_nets_agree_with_a_plain_token_game_and_fixpoints() {
    let mut dice = Dice(20_261_122);
    let (mut nets, mut deadlocks, mut formulas, mut verdicts) = (0, 0, 0, [0; 2]);
    while nets < 400 {
        let plain = Plain::random(&mut dice);
        let priorities = [Priorities::Kept, Priorities::Ignored][dice.below(2)];
        let Some(matrix) = plain.explore(priorities, 60) else { continue };
        if matrix.len() < 3 {
            continue;
        }
        nets += 1;
        let net = plain.net();
        let graph = explored(&net, priorities).unwrap();
        // both number markings as they find them, transition by transition
        assert_eq!(graph.states(), matrix.len());
        let dead: Vec<usize> = graph.dead().iter().map(|&state| state as usize).collect();
        assert_eq!(dead, (0..matrix.len()).filter(|&state| matrix.is_dead(state)).collect::<Vec<_>>());
        deadlocks += dead.len();
        for (state, row) in matrix.firings.iter().enumerate() {
            let found: Vec<_> = graph.steps(state).iter().map(|s| (s.transition as usize, s.to as usize)).collect();
            assert_eq!(found, *row);
            assert_eq!(matrix.replayed(0, &graph.path_to(state as u32)), state);
        }
        assert_verdicts(&net, &graph, &matrix);
        for depth in [1, 1, 1, 2, 3, 4] {
            let formula = Ctl::random(&mut dice, &plain, depth);
            let text = formula.text();
            let found = checked(&net, &graph, &text);
            let holds = matrix.holds(&formula)[0];
            assert_eq!(found.holds, Some(holds), "{text}");
            if depth == 1 {
                assert_evidence(&matrix, &formula, &found, &text);
            }
            if let Some(evidence) = &found.evidence {
                let end = matrix.replayed(0, &evidence.path);
                assert_eq!(evidence.state as usize, end);
                assert_eq!(matrix.replayed(end, evidence.cycle.as_deref().unwrap_or_default()), end);
            }
            formulas += 1;
            verdicts[usize::from(holds)] += 1;
        }
    }
    assert!(formulas == 2_400 && deadlocks > 100 && verdicts.iter().all(|&n| n > 500), "{deadlocks} {verdicts:?}");
}

/// A verdict from a part of the markings is true of all of them.
#[test]
fn verdicts_on_a_part_of_the_markings_stay_true() {
    let mut dice = Dice(7);
    let (mut nets, mut decided, mut open) = (0, 0, 0);
    while nets < 150 {
        let plain = Plain::random(&mut dice);
        let Some(matrix) = plain.explore(Priorities::Kept, 60).filter(|matrix| matrix.len() > 5) else { continue };
        nets += 1;
        let net = plain.net();
        let limits = Limits { states: 1 + dice.below(matrix.len() - 2) as u64, ..Limits::default() };
        let graph = explore_untimed(&compile(&net).unwrap(), Priorities::Kept, &limits, &Unwatched).unwrap();
        assert_eq!(graph.stopped(), Some(&Incomplete::States { limit: limits.states }));
        for depth in [1, 2, 3] {
            let formula = Ctl::random(&mut dice, &plain, depth);
            match checked(&net, &graph, &formula.text()).holds {
                Some(holds) => {
                    assert_eq!(holds, matrix.holds(&formula)[0], "{}", formula.text());
                    decided += 1;
                }
                None => open += 1,
            }
        }
    }
    assert!(decided > 100 && open > 50, "{decided} {open}");
}

/// Philosophers who take the fork on their left first.
fn philosophers(n: usize) -> Net {
    let mut b = NetBuilder::new("philosophers");
    let forks: Vec<_> = (0..n).map(|i| b.place(format!("fork{i}"), 1)).collect();
    for i in 0..n {
        let [think, wait, eat] =
            ["think", "wait", "eat"].map(|kind| b.place(format!("{kind}{i}"), u32::from(kind == "think")));
        let (left, right) = (forks[i], forks[(i + 1) % n]);
        for (name, from, to) in [
            ("left", vec![think, left], vec![wait]),
            ("right", vec![wait, right], vec![eat]),
            ("put", vec![eat], vec![think, left, right]),
        ] {
            let t = b.transition(format!("{name}{i}"), Timing::exponential(1.0));
            for place in from {
                b.input(place, t, 1.0);
            }
            for place in to {
                b.output(t, place, 1.0);
            }
        }
    }
    b.build().unwrap()
}

/// Who eats has a neighbour who thinks; words of think, wait and eat in a ring with that rule are counted by the trace of a power
/// of a matrix with the eigenvalues 0 and 1 ± √2.
#[test]
fn philosophers_have_as_many_markings_as_pell_and_lucas_say() {
    let (mut before, mut count) = (2, 6);
    for n in 2..=10 {
        let net = philosophers(n);
        let graph = explored(&net, Priorities::Kept).unwrap();
        assert_eq!(graph.states(), count, "{n}");
        let [dead] = *graph.dead() else { panic!("one deadlock") };
        assert_eq!(graph.path_to(dead).len(), n, "each takes the left fork");
        (before, count) = (count, 2 * count + before);
    }
    let net = philosophers(5);
    let graph = explored(&net, Priorities::Kept).unwrap();
    let verdict = |text: &str| checked(&net, &graph, text);
    let dead = verdict("EF deadlock");
    assert_eq!((dead.holds, dead.evidence.unwrap().path.len()), (Some(true), 5));
    let home = verdict("AG EF (think0 > 0 && think1 > 0)");
    let evidence = home.evidence.unwrap();
    assert_eq!((home.holds, evidence.state), (Some(false), graph.dead()[0]));
    assert_eq!(evidence.decides, Some(("EF (think0 > 0 && think1 > 0)".to_owned(), false)));
    assert_eq!(verdict("AG !(eat0 > 0 && eat1 > 0)").holds, Some(true));
    assert_eq!(verdict("AG (fork0 + fork1 = 2 -> EX !deadlock)").holds, Some(true));
    // somebody always eats at last, unless all starve; the others may never
    assert_eq!(verdict("AF (deadlock || eat0 + eat1 + eat2 + eat3 + eat4 > 0)").holds, Some(true));
    let starves = verdict("AF (deadlock || eat0 > 0)").evidence.unwrap();
    assert!(starves.cycle.is_some_and(|cycle| cycle.len() == 3) && !starves.stops);
    assert_eq!(verdict("A[!enabled(put0) U deadlock]").holds, Some(false));
}

/// A loop of immediate transitions is no obstacle, and priorities decide what else can happen.
#[test]
fn loops_of_immediate_transitions_are_explored() {
    let mut b = NetBuilder::new("loop");
    let [here, there, out] = ["here", "there", "out"].map(|id| b.place(id, u32::from(id == "here")));
    for (id, from, to, timing) in [
        ("forth", here, there, Timing::immediate(1.0, 1)),
        ("back", there, here, Timing::immediate(1.0, 1)),
        ("leave", there, out, Timing::general(tailspn::net::Law::Deterministic { delay: 1.0 })),
    ] {
        let t = b.transition(id, timing);
        b.input(from, t, 1.0);
        b.output(t, to, 1.0);
    }
    let net = b.build().unwrap();
    let graph = explored(&net, Priorities::Kept).unwrap();
    assert_eq!((graph.states(), graph.firings(), graph.dead().len()), (2, 2, 0));
    let turns = checked(&net, &graph, "AF out > 0").evidence.unwrap();
    assert_eq!((turns.path, turns.cycle), (vec![], Some(vec![0, 1])));
    let graph = explored(&net, Priorities::Ignored).unwrap();
    assert_eq!((graph.states(), graph.firings(), graph.dead()), (3, 3, &[2][..]));
    assert_eq!(checked(&net, &graph, "EF out > 0").evidence.unwrap().path, [0, 2]);
}

#[test]
fn an_unbounded_net_has_a_proof() {
    let mut b = NetBuilder::new("source");
    let (p, q) = (b.place("p", 1), b.place("q", 0));
    let t = b.transition("make", Timing::immediate(1.0, 1));
    b.input(p, t, 1.0);
    b.output(t, p, 1.0);
    b.output(t, q, 2.0);
    let Err(ExploreError::Unbounded(proof)) = explored(&b.build().unwrap(), Priorities::Kept) else { panic!() };
    assert_eq!((proof.places, proof.prefix, proof.cycle), (vec!["q".to_owned()], vec![], vec![0]));
}

fn load(path: &Path) -> Net {
    let bytes = std::fs::read(path).unwrap();
    read(&bytes, &ReadOptions::default()).unwrap_or_else(|e| panic!("{}: {e}", path.display())).net
}

/// Nets that `net solve` refuses, since their immediate transitions fire forever: two of PIPE's own examples and others. The counts are
/// those of a short program in Python that shares nothing with the tool.
#[test]
fn collected_nets_with_immediate_loops_have_their_known_markings() {
    let Some(folder) = shared("data/pipe-nets/real") else { return };
    for (name, expected, is_live) in [
        ("pipe-examples/v2_Readers_&_Writers.xml", [5, 8, 0], true),
        ("pipe-examples/v2_TimelessTrap.xml", [2, 2, 0], false),
        ("pipeanalysis-tests/timeless_trap.xml", [6, 7, 1], false),
        ("pipeanalysis-tests/all_immediate~2.xml", [2, 2, 0], true),
        ("pnp-jarp-relatives/iocchi__interrupt.xml", [8, 9, 0], true),
        ("pnp-jarp-relatives/iocchi__fork_join.xml", [14, 18, 0], true),
        ("pnp-jarp-relatives/iocchi__sequence_loop.xml", [4, 4, 0], true),
        ("pnp-jarp-relatives/iocchi__sensing.xml", [10, 11, 0], true),
    ] {
        let net = load(&folder.join(name));
        let program = compile(&net).unwrap();
        let error = explore(&program, None, &Limits::default(), &Unwatched).unwrap_err();
        assert!(matches!(error, ExploreError::VanishingTrap { .. }), "{name}: {error}");
        let graph = explored(&net, Priorities::Kept).unwrap();
        assert_eq!([graph.states(), graph.firings(), graph.dead().len()], expected, "{name}");
        assert_eq!(graph.verdicts(&program).unwrap().is_live(), is_live, "{name}");
        assert_eq!(checked(&net, &graph, "AG !deadlock").holds, Some(expected[2] == 0), "{name}");
    }
}

/// A Python program with a token game of its own counts 110 markings, 288 firings and 4 deadlocks of this net.
#[test]
fn angiogenesis_has_the_markings_that_another_program_counts() {
    let Some(folder) = shared("data/nets-other/mcc") else { return };
    let net = load(&folder.join("Angiogenesis-PT-01.pnml"));
    for priorities in [Priorities::Kept, Priorities::Ignored] {
        let graph = explored(&net, priorities).unwrap();
        assert_eq!((graph.states(), graph.firings(), graph.dead().len()), (110, 288, 4));
        assert_eq!(graph.path_to(graph.dead()[0]).len(), 10);
        let verdict = |text: &str| checked(&net, &graph, text).holds;
        assert_eq!((verdict("EF deadlock"), verdict("AF deadlock")), (Some(true), Some(false)));
    }
}
