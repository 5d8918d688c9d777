//! Structural analysis, compared with hand-worked nets, brute force on small random ones, and full walks.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tailspn::compile::{Program, compile};
use tailspn::formats::pipe::{ReadOptions, read};
use tailspn::mapreduce::{Plan, job_net, params::GivenPhases, phase_times};
use tailspn::net::{ArcKind, Net, NetBuilder, PlaceId, Timing};
use tailspn::semantics::{fire, is_enabled};
use tailspn::structure::{
    BoundSource, Budget, Connection, Cut, Deadlock, Flow, Incidence, Limits, Method, NetClass, Obstacle, Relation,
    Structure, Wanted, analyse, breaks, connection, minimal_siphons, minimal_traps, place_basis, place_cover,
    place_semiflows, transition_cover, transition_semiflows,
};

use crate::shared::shared;

/// Inputs and outputs of a transition, as they are put together.
type Lists = (Vec<(usize, u32)>, Vec<(usize, u32)>);

/// Inputs and outputs of a transition: place and weight.
type Arcs<'a> = (&'a [(usize, u32)], &'a [(usize, u32)]);

fn builder(tokens: &[u32], transitions: &[Arcs]) -> NetBuilder {
    let mut b = NetBuilder::new("net");
    let places: Vec<_> = tokens.iter().enumerate().map(|(i, &n)| b.place(format!("p{i}"), n)).collect();
    for (i, (inputs, outputs)) in transitions.iter().enumerate() {
        let t = b.transition(format!("t{i}"), Timing::exponential(1.0));
        for &(p, weight) in *inputs {
            b.input(places[p], t, f64::from(weight));
        }
        for &(p, weight) in *outputs {
            b.output(t, places[p], f64::from(weight));
        }
    }
    b
}

fn program(tokens: &[u32], transitions: &[Arcs]) -> Program {
    compile(&builder(tokens, transitions).build().unwrap()).unwrap()
}

fn go_on() -> bool {
    false
}

fn structure(program: &Program) -> Structure {
    analyse(program, Wanted::default(), &Limits::default(), &go_on)
}

fn budget(limits: &Limits) -> Budget<'static> {
    Budget::new(limits, &go_on)
}

/// A generator of small numbers, the same on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % below
    }
}

/// A small random net: up to `most` arcs of weights up to `heaviest` on each side of a transition.
fn random_net(dice: &mut Dice, places: u64, transitions: u64, most: u64, heaviest: u64) -> NetBuilder {
    let places = 1 + dice.roll(places) as usize;
    let transitions = 1 + dice.roll(transitions) as usize;
    let tokens: Vec<u32> = (0..places).map(|_| dice.roll(3) as u32).collect();
    let mut side = || -> Vec<(usize, u32)> {
        (0..dice.roll(most + 1)).map(|_| (dice.roll(places as u64) as usize, 1 + dice.roll(heaviest) as u32)).collect()
    };
    let arcs: Vec<_> = (0..transitions).map(|_| (dedup(side()), dedup(side()))).collect();
    let arcs: Vec<Arcs> = arcs.iter().map(|(a, b)| (a.as_slice(), b.as_slice())).collect();
    builder(&tokens, &arcs)
}

/// One arc per place.
fn dedup(arcs: Vec<(usize, u32)>) -> Vec<(usize, u32)> {
    arcs.into_iter().collect::<BTreeMap<_, _>>().into_iter().collect()
}

fn to_program(b: &NetBuilder) -> Program {
    compile(&b.clone().build().unwrap()).unwrap()
}

// ---------------------------------------------------------------- invariants

/// The change of each place by each transition.
fn matrix(program: &Program) -> Vec<Vec<i128>> {
    let change = |p: usize, t: usize| {
        let found = program.changes.row(t).iter().find(|change| change.counter as usize == p);
        found.map_or(0, |change| i128::from(change.by))
    };
    (0..program.counters()).map(|p| (0..program.transitions()).map(|t| change(p, t)).collect()).collect()
}

fn transposed(matrix: &[Vec<i128>], columns: usize) -> Vec<Vec<i128>> {
    (0..columns).map(|t| matrix.iter().map(|row| row[t]).collect()).collect()
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

/// All vectors that some rows, and no fewer of them, add up to 0 with: one up to a factor, or none. By fractions.
fn left_null(rows: &[&Vec<i128>]) -> Option<Vec<i128>> {
    let columns = rows.first().map_or(0, |row| row.len());
    let mut work: Vec<(Vec<i128>, Vec<i128>)> = rows
        .iter()
        .enumerate()
        .map(|(i, row)| ((*row).clone(), (0..rows.len()).map(|j| i128::from(i == j)).collect()))
        .collect();
    for column in 0..columns {
        let Some(at) = work.iter().position(|(row, _)| row[column] != 0) else { continue };
        let (pivot, own) = work.remove(at);
        for (row, mine) in &mut work {
            let (a, b) = (pivot[column], row[column]);
            for (x, y) in row.iter_mut().zip(&pivot).chain(mine.iter_mut().zip(&own)) {
                *x = *x * a - *y * b;
            }
            let divisor = row.iter().chain(mine.iter()).fold(0, |d, &x| gcd(d, x)).max(1);
            row.iter_mut().chain(mine.iter_mut()).for_each(|x| *x /= divisor);
        }
    }
    match &work[..] {
        [(_, own)] => Some(own.clone()),
        _ => None,
    }
}

/// All minimal semiflows of the rows, by looking at every set of them.
fn semiflows_by_force(matrix: &[Vec<i128>]) -> Vec<Vec<(u32, i128)>> {
    let mut found = Vec::new();
    for set in 1_u32..1 << matrix.len() {
        let members: Vec<u32> = (0..matrix.len() as u32).filter(|i| set >> i & 1 == 1).collect();
        let rows: Vec<_> = members.iter().map(|&i| &matrix[i as usize]).collect();
        let Some(vector) = left_null(&rows) else { continue };
        let sign = vector[0].signum();
        if sign != 0 && vector.iter().all(|x| x.signum() == sign) {
            let divisor = vector.iter().fold(0, |d, &x| gcd(d, x));
            found.push(members.into_iter().zip(vector.iter().map(|x| x * sign / divisor)).collect());
        }
    }
    found.sort();
    found
}

#[test]
fn minimal_semiflows_are_those_of_brute_force() {
    let mut dice = Dice(0x5eed_1234_5678);
    let limits = Limits::default();
    let (mut places, mut transitions) = (0, 0);
    for _ in 0..600 {
        let net = to_program(&random_net(&mut dice, 8, 8, 3, 3));
        let incidence = Incidence::of(&net);
        let matrix = matrix(&net);
        let found = place_semiflows(&incidence, &limits, &budget(&limits));
        assert_eq!(found.cut, None);
        assert_eq!(found.vectors, semiflows_by_force(&matrix), "{matrix:?}");
        places += found.vectors.len();
        let found = transition_semiflows(&incidence, &limits, &budget(&limits));
        assert_eq!(found.vectors, semiflows_by_force(&transposed(&matrix, net.transitions())), "{matrix:?}");
        transitions += found.vectors.len();
    }
    assert!(places > 300 && transitions > 300, "{places} and {transitions} semiflows are too few to tell");
}

#[test]
fn a_basis_has_as_many_vectors_as_the_rank_leaves() {
    let mut dice = Dice(0xba51_5000_0001);
    for _ in 0..300 {
        let net = to_program(&random_net(&mut dice, 9, 9, 3, 3));
        let incidence = Incidence::of(&net);
        let matrix = matrix(&net);
        let basis = place_basis(&incidence, &budget(&Limits::default()));
        // the largest set of rows without a relation among them, taken one after the other
        let mut independent: Vec<&Vec<i128>> = Vec::new();
        for row in &matrix {
            independent.push(row);
            if rank(&independent) < independent.len() {
                independent.pop();
            }
        }
        assert_eq!(basis.rank, Some(independent.len()));
        assert_eq!(basis.flows.vectors.len(), matrix.len() - independent.len());
        for vector in &basis.flows.vectors {
            let sum = |t: usize| vector.iter().map(|&(p, w)| w * matrix[p as usize][t]).sum::<i128>();
            assert!((0..net.transitions()).all(|t| sum(t) == 0));
        }
    }
}

/// Rank by floating point, enough for a handful of small numbers.
fn rank(rows: &[&Vec<i128>]) -> usize {
    let mut rows: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|&x| x as f64).collect()).collect();
    let columns = rows.first().map_or(0, Vec::len);
    let mut rank = 0;
    for column in 0..columns {
        let Some(at) = (rank..rows.len()).find(|&i| rows[i][column].abs() > 1e-9) else { continue };
        rows.swap(rank, at);
        let pivot = rows[rank].clone();
        for row in &mut rows[rank + 1..] {
            let factor = row[column] / pivot[column];
            row.iter_mut().zip(&pivot).for_each(|(x, y)| *x -= factor * y);
        }
        rank += 1;
    }
    rank
}

/// Two readers or one writer: a lock with two keys; a writer takes both.
#[test]
fn a_lock_has_its_weighted_invariant() {
    let net = program(
        &[2, 0, 0, 2],
        &[
            (&[(0, 1), (3, 1)], &[(1, 1)]),
            (&[(1, 1)], &[(0, 1), (3, 1)]),
            (&[(0, 1), (3, 2)], &[(2, 1)]),
            (&[(2, 1)], &[(0, 1), (3, 2)]),
        ],
    );
    let found = structure(&net);
    let flows = found.place_semiflows.unwrap().vectors;
    // p0 + p1 + p2 = 2 and p1 + 2 p2 + p3 = 2
    assert_eq!(flows, [vec![(0, 1), (1, 1), (2, 1)], vec![(1, 1), (2, 2), (3, 1)]]);
    assert_eq!(found.transition_semiflows.unwrap().vectors, [vec![(0, 1), (1, 1)], vec![(2, 1), (3, 1)]]);
    let most: Vec<_> = found.bounds.unwrap().rows.iter().map(|row| row.most).collect();
    assert_eq!(most, [Some(2), Some(2), Some(1), Some(2)]);
    assert!(found.covers.conservative.unwrap().is_whole() && found.covers.consistent.unwrap().is_whole());
}

/// A semiflow that doubles at each of 130 steps does not fit into 128 bits; semiflows that fit are kept.
#[test]
fn weights_that_do_not_fit_are_an_error_and_the_rest_is_kept() {
    let mut tokens = vec![0; 131];
    tokens.extend([1, 0]);
    let mut arcs: Vec<Lists> = vec![(vec![(131, 1)], vec![(132, 1)])];
    arcs.extend((0..130).map(|i| (vec![(i, 1)], vec![(i + 1, 2)])));
    let arcs: Vec<Arcs> = arcs.iter().map(|(a, b)| (a.as_slice(), b.as_slice())).collect();
    let incidence = Incidence::of(&program(&tokens, &arcs));
    let limits = Limits::default();
    let found = place_semiflows(&incidence, &limits, &budget(&limits));
    assert_eq!((found.cut, found.vectors), (Some(Cut::Overflow), vec![vec![(131, 1), (132, 1)]]));
    assert_eq!(place_basis(&incidence, &budget(&limits)).flows.cut, Some(Cut::Overflow));
}

/// `n` choices between two ways, one after the other: 2^n T-semiflows.
fn choices(n: usize) -> Program {
    let mut arcs: Vec<Lists> = Vec::new();
    for i in 0..n {
        for _ in 0..2 {
            arcs.push((vec![(i, 1)], vec![((i + 1) % n, 1)]));
        }
    }
    let mut tokens = vec![0; n];
    tokens[0] = 1;
    let arcs: Vec<Arcs> = arcs.iter().map(|(a, b)| (a.as_slice(), b.as_slice())).collect();
    program(&tokens, &arcs)
}

#[test]
fn too_many_semiflows_stop_at_the_limit_and_covers_are_still_found() {
    let limits = Limits { max_rows: 1000, ..Limits::default() };
    let all = transition_semiflows(&Incidence::of(&choices(8)), &limits, &budget(&limits));
    assert_eq!((all.cut, all.vectors.len()), (None, 256));
    let found = analyse(&choices(30), Wanted::default(), &limits, &go_on);
    assert_eq!(found.transition_semiflows.unwrap().cut, Some(Cut::Rows { limit: 1000 }));
    let consistent = found.covers.consistent.unwrap();
    assert!(consistent.is_whole() && consistent.proved);
    assert_eq!(found.transition_basis.unwrap().flows.vectors.len(), 31);
}

#[test]
fn a_wish_to_stop_ends_every_analysis() {
    let found = analyse(&choices(5), Wanted::default(), &Limits::default(), &|| true);
    let flows = found.place_semiflows.unwrap();
    assert_eq!((flows.cut, flows.vectors.len()), (Some(Cut::Stopped), 0));
    assert_eq!(found.siphons.unwrap().cut, Some(Cut::Stopped));
    assert_eq!(found.covers.conservative, Err(Cut::Stopped));
    assert_eq!(found.throughputs.unwrap().cut, Some(Cut::Stopped));
}

/// A place that an arc of open weight changes is in no invariant; the other places are.
#[test]
fn arcs_that_depend_on_the_marking_are_left_out() {
    let mut b = builder(&[3, 0, 1, 0], &[(&[(2, 1)], &[(3, 1)]), (&[(3, 1)], &[(2, 1)])]);
    let (p, q) = (PlaceId::from_index(0), PlaceId::from_index(1));
    let t = b.transition("flush", Timing::exponential(1.0));
    let all = b.expression("#(p0)").unwrap();
    b.input(p, t, all);
    b.output(t, q, 1.0);
    let found = structure(&to_program(&b));
    let flows = found.place_semiflows.unwrap();
    // what `flush` puts into p1 is constant, but nothing balances it
    assert_eq!((flows.vectors, flows.excluded), (vec![vec![(2, 1), (3, 1)]], vec![0]));
    assert_eq!(found.transition_semiflows.unwrap().excluded, [2]);
    let bounds: Vec<_> = found.bounds.unwrap().rows.iter().map(|row| row.most).collect();
    assert_eq!(bounds, [None, None, Some(1), Some(1)]);
    assert_eq!(found.deadlock.unwrap().obstacles[0], Obstacle::OpenArcs { number: 1 });
}

// ---------------------------------------------------------------- siphons and traps

/// Minimal siphons, or traps, by looking at every set of places.
fn sets_by_force(program: &Program, trap: bool) -> Vec<Vec<u32>> {
    let (first, second) = if trap { (&program.inputs, &program.outputs) } else { (&program.outputs, &program.inputs) };
    let mask = |csr: &tailspn::compile::Csr<tailspn::compile::Term>, t| {
        csr.row(t).iter().chain(program.tests.row(t)).fold(0_u32, |m, term| m | 1 << term.counter)
    };
    let pairs: Vec<_> = (0..program.transitions()).map(|t| (mask(first, t), mask(second, t))).collect();
    let mut sets: Vec<u32> = (1..1 << program.counters())
        .filter(|set| pairs.iter().all(|(from, to)| from & set == 0 || to & set != 0))
        .collect();
    sets.sort_by_key(|set| set.count_ones());
    let mut minimal: Vec<u32> = Vec::new();
    for set in sets {
        if minimal.iter().all(|smaller| smaller & set != *smaller) {
            minimal.push(set);
        }
    }
    let members = |set: u32| (0..32).filter(|i| set >> i & 1 == 1).collect::<Vec<u32>>();
    let mut found: Vec<_> = minimal.into_iter().map(members).collect();
    found.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    found
}

#[test]
fn minimal_siphons_and_traps_are_those_of_brute_force() {
    let mut dice = Dice(0x51f0_0000_0777);
    let limits = Limits::default();
    let mut several = 0;
    for i in 0..400 {
        let mut b = random_net(&mut dice, if i < 300 { 8 } else { 12 }, 10, 3, 2);
        if i % 3 == 0 {
            let t = b.transition("tester", Timing::exponential(1.0));
            let p = b.place("tested", 1);
            b.test(p, t, 1.0);
        }
        let program = to_program(&b);
        let flow = Flow::of(&Incidence::of(&program));
        let siphons = minimal_siphons(&flow, &limits, &budget(&limits));
        assert_eq!(siphons.cut, None);
        assert_eq!(siphons.sets, sets_by_force(&program, false));
        let traps = minimal_traps(&flow, &limits, &budget(&limits));
        assert_eq!(traps.sets, sets_by_force(&program, true));
        several += usize::from(siphons.sets.len() > 3);
    }
    assert!(several > 50, "only {several} nets have more than three siphons");
}

#[test]
fn a_limit_of_sets_keeps_those_found() {
    // ten separate circuits
    let arcs: Vec<Lists> = (0..10).map(|i| (vec![(i, 1)], vec![(i, 1)])).collect();
    let arcs: Vec<Arcs> = arcs.iter().map(|(a, b)| (a.as_slice(), b.as_slice())).collect();
    let flow = Flow::of(&Incidence::of(&program(&[0; 10], &arcs)));
    let limits = Limits { max_sets: 4, ..Limits::default() };
    let found = minimal_siphons(&flow, &limits, &budget(&limits));
    assert_eq!((found.sets.len(), found.cut), (4, Some(Cut::Sets { limit: 4 })));
}

// ---------------------------------------------------------------- classes

fn classes_of(transitions: &[Arcs], places: usize) -> Vec<NetClass> {
    let flow = Flow::of(&Incidence::of(&program(&vec![0; places], transitions)));
    NetClass::ALL.into_iter().filter(|&class| breaks(&flow, class).is_none()).collect()
}

#[test]
fn nets_just_inside_each_class_are_recognised() {
    use NetClass::{ExtendedFreeChoice, ExtendedSimple, FreeChoice, MarkedGraph, Simple, StateMachine};
    let one = 1;
    // a ring
    assert_eq!(classes_of(&[(&[(0, one)], &[(1, one)]), (&[(1, one)], &[(0, one)])], 2), NetClass::ALL);
    // a choice of two ways
    let choice = classes_of(&[(&[(0, 1)], &[(1, 1)]), (&[(0, 1)], &[(1, 1)]), (&[(1, 1)], &[(0, 1)])], 2);
    assert_eq!(choice, [StateMachine, FreeChoice, ExtendedFreeChoice, Simple, ExtendedSimple]);
    // fork and join
    let fork = classes_of(&[(&[(0, 1)], &[(1, 1), (2, 1)]), (&[(1, 1), (2, 1)], &[(0, 1)])], 3);
    assert_eq!(fork, [MarkedGraph, FreeChoice, ExtendedFreeChoice, Simple, ExtendedSimple]);
    // two places, two transitions, all arcs
    let both = classes_of(&[(&[(0, 1), (1, 1)], &[(0, 1)]), (&[(0, 1), (1, 1)], &[(1, 1)])], 2);
    assert_eq!(both, [ExtendedFreeChoice, ExtendedSimple]);
    // p1 is needed by both, p0 by one: simple, not free choice
    let simple = classes_of(&[(&[(0, 1), (1, 1)], &[(0, 1)]), (&[(1, 1)], &[(1, 1)])], 2);
    assert_eq!(simple, [Simple, ExtendedSimple]);
    // the outputs of p0, p1, p2 are {t0}, {t0, t1}, {t0, t1, t2}: extended simple only
    let chain = classes_of(
        &[(&[(0, 1), (1, 1), (2, 1)], &[(0, 1)]), (&[(1, 1), (2, 1)], &[(1, 1)]), (&[(2, 1)], &[(2, 1)])],
        3,
    );
    assert_eq!(chain, [ExtendedSimple]);
    // {t0, t1} and {t0, t2} share t0 and neither holds the other
    let none = classes_of(&[(&[(0, 1), (1, 1)], &[]), (&[(0, 1)], &[]), (&[(1, 1)], &[])], 2);
    assert!(none.is_empty(), "{none:?}");
}

#[test]
fn witnesses_name_what_breaks_a_class() {
    let net = program(&[1, 1, 0], &[(&[(0, 1), (1, 1)], &[(2, 1)]), (&[(1, 1)], &[])]);
    let incidence = Incidence::of(&net);
    let flow = Flow::of(&incidence);
    let text = |class| breaks(&flow, class).map(|witness| witness.text(&incidence));
    assert_eq!(text(NetClass::StateMachine).unwrap(), "transition `t0` has 2 inputs, 1 output");
    assert_eq!(text(NetClass::MarkedGraph).unwrap(), "place `p0` has no input, 1 output");
    assert_eq!(text(NetClass::FreeChoice).unwrap(), "places `p0` and `p1` share output `t0`");
    assert_eq!(text(NetClass::Simple), None);
    assert_eq!(connection(&flow), Connection { parts: 1, no_path: Some([0, 1]) });
}

// ---------------------------------------------------------------- covers

/// A sum that never grows is one that never changes once each transition fills a place of its own; a firing sequence that
/// loses nothing changes nothing once each place has a transition that takes from it.
#[test]
fn one_sided_covers_are_those_of_nets_with_slack() {
    let mut dice = Dice(0xc0de_0000_0042);
    let limits = Limits::default();
    let union = |vectors: &[Vec<(u32, i128)>], size: usize| {
        let members: BTreeSet<u32> = vectors.iter().flatten().map(|&(i, _)| i).collect();
        (0..size as u32).map(|i| members.contains(&i)).collect::<Vec<_>>()
    };
    let mut mixed = 0;
    for _ in 0..300 {
        let b = random_net(&mut dice, 6, 6, 3, 3);
        let net = b.clone().build().unwrap();
        let (places, transitions) = (net.places().len(), net.transitions().len());
        let incidence = Incidence::of(&to_program(&b));
        let equal = place_cover(&incidence, Relation::Equal, &budget(&limits)).unwrap();
        let flows = place_semiflows(&incidence, &limits, &budget(&limits));
        assert_eq!(equal.members, union(&flows.vectors, places));
        let consistent = transition_cover(&incidence, Relation::Equal, &budget(&limits)).unwrap();
        let flows = transition_semiflows(&incidence, &limits, &budget(&limits));
        assert_eq!(consistent.members, union(&flows.vectors, transitions));
        let (mut filled, mut drained) = (b.clone(), b.clone());
        for t in 0..transitions {
            let id = net.transitions()[t].id.clone();
            let place = filled.place(format!("slack{t}"), 0);
            let t = filled.find_transition(&id).unwrap();
            filled.output(t, place, 1.0);
        }
        for p in 0..places {
            let t = drained.transition(format!("drain{p}"), Timing::exponential(1.0));
            drained.input(PlaceId::from_index(p), t, 1.0);
        }
        let flows = place_semiflows(&Incidence::of(&to_program(&filled)), &limits, &budget(&limits));
        let bounded = place_cover(&incidence, Relation::OneSided, &budget(&limits)).unwrap();
        assert_eq!(bounded.members, union(&flows.vectors, places));
        let flows = transition_semiflows(&Incidence::of(&to_program(&drained)), &limits, &budget(&limits));
        let repetitive = transition_cover(&incidence, Relation::OneSided, &budget(&limits)).unwrap();
        assert_eq!(repetitive.members, union(&flows.vectors, transitions));
        assert!([equal, consistent, bounded.clone(), repetitive].iter().all(|cover| cover.proved));
        mixed += usize::from(bounded.members.contains(&true) && bounded.members.contains(&false));
    }
    assert!(mixed > 30, "only {mixed} nets are bounded in part");
}

// ---------------------------------------------------------------- walks

/// All reachable markings, priorities and time left aside, and the firings between them; none if there are too many.
struct Walk {
    markings: Vec<Vec<u32>>,
    steps: Vec<Vec<(usize, usize)>>,
}

fn walk(program: &Program, most: usize) -> Option<Walk> {
    let mut numbers: HashMap<Vec<u32>, usize> = HashMap::from([(program.initial.clone(), 0)]);
    let mut markings = vec![program.initial.clone()];
    let mut steps = Vec::new();
    while steps.len() < markings.len() {
        let mut out = Vec::new();
        for t in 0..program.transitions() {
            let marking = &markings[steps.len()];
            if !is_enabled(program, t, marking).unwrap() {
                continue;
            }
            let mut next = marking.clone();
            fire(program, t, &mut next).unwrap();
            let fresh = markings.len();
            let number = *numbers.entry(next.clone()).or_insert(fresh);
            if number == fresh {
                markings.push(next);
                if markings.len() > most {
                    return None;
                }
            }
            out.push((t, number));
        }
        steps.push(out);
    }
    Some(Walk { markings, steps })
}

impl Walk {
    fn has_dead(&self) -> bool {
        self.steps.iter().any(Vec::is_empty)
    }

    /// Returns true if each transition can fire again from everywhere: backwards from the markings in which it fires,
    /// all are met.
    fn is_live(&self, transitions: usize) -> bool {
        let mut before = vec![Vec::new(); self.markings.len()];
        for (from, out) in self.steps.iter().enumerate() {
            out.iter().for_each(|&(_, to)| before[to].push(from));
        }
        (0..transitions).all(|t| {
            let fires = |m: &usize| self.steps[*m].iter().any(|&(other, _)| other == t);
            let mut stack: Vec<usize> = (0..self.markings.len()).filter(fires).collect();
            let mut met = vec![false; self.markings.len()];
            stack.iter().for_each(|&m| met[m] = true);
            while let Some(m) = stack.pop() {
                for &from in &before[m] {
                    if !std::mem::replace(&mut met[from], true) {
                        stack.push(from);
                    }
                }
            }
            met.into_iter().all(|met| met)
        })
    }
}

#[derive(Debug, Default)]
struct Seen {
    walked: usize,
    free: usize,
    dead: usize,
    live: usize,
    not_live: usize,
    methods: BTreeMap<String, usize>,
    bounds: BTreeMap<String, usize>,
}

/// Compares every verdict and bound with a full walk.
fn compare_with_walk(b: &NetBuilder, seen: &mut Seen) {
    let program = to_program(b);
    let found = structure(&program);
    let Some(walk) = walk(&program, 3000) else { return };
    seen.walked += 1;
    for (row, bound) in found.bounds.as_ref().unwrap().rows.iter().enumerate() {
        let most = walk.markings.iter().map(|marking| u64::from(marking[row])).max().unwrap();
        assert!(bound.most.is_none_or(|bound| most <= bound), "{most} tokens in p{row}, bound {bound:?}");
        *seen.bounds.entry(format!("{:?}", bound.source)).or_default() += 1;
    }
    let deadlock = found.deadlock.unwrap();
    let Deadlock { deadlock_free, live, never_fire, never_marked, method, obstacles, .. } = &deadlock;
    if let Some(free) = deadlock_free {
        assert_eq!(*free, !walk.has_dead(), "{deadlock:?}\n{:?}", b.clone().build());
        assert!(obstacles.is_empty());
        *(if *free { &mut seen.free } else { &mut seen.dead }) += 1;
        *seen.methods.entry(format!("{method:?}")).or_default() += 1;
    }
    if let Some(live) = live {
        assert_eq!(*live, walk.is_live(program.transitions()), "{deadlock:?}\n{:?}", b.clone().build());
        *(if *live { &mut seen.live } else { &mut seen.not_live }) += 1;
    }
    for &t in never_fire {
        assert!(walk.steps.iter().flatten().all(|&(other, _)| other != t as usize));
    }
    for &row in never_marked.iter().filter(|&&row| (row as usize) < program.counters()) {
        assert!(walk.markings.iter().all(|marking| marking[row as usize] == 0));
    }
}

#[test]
fn verdicts_and_bounds_hold_on_full_walks() {
    let mut dice = Dice(0xdead_10c4_0001);
    let mut seen = Seen::default();
    for i in 0..1200 {
        // ordinary nets, so that the theorems have something to say; every fifth with weights
        let mut b = random_net(&mut dice, 5, 6, 2, if i % 5 == 0 { 2 } else { 1 });
        if i % 4 == 0 {
            let p = PlaceId::from_index(0);
            let tokens = b.place_mut(p).initial.iter().sum::<u32>();
            b.place_mut(p).capacity = Some(tokens.max(1) + dice.roll(3) as u32);
        }
        if i % 7 == 0 {
            let t = b.find_transition("t0").unwrap();
            let kind = if i % 2 == 0 { ArcKind::Inhibitor } else { ArcKind::Test };
            b.arc(kind, PlaceId::from_index(0), t, 1.0);
        }
        compare_with_walk(&b, &mut seen);
    }
    assert!(seen.walked > 500 && seen.free > 30 && seen.live > 15 && seen.not_live > 100, "{seen:?}");
    assert!(seen.bounds.len() == 4, "{seen:?}");
}

/// Strongly connected nets, in which the sharper theorems apply: rings with choices, forks and joins across.
#[test]
fn verdicts_hold_on_full_walks_of_rings() {
    let mut dice = Dice(0x0123_4567_89ab);
    let mut seen = Seen::default();
    for i in 0..1200 {
        let n = 2 + dice.roll(4) as usize;
        let tokens: Vec<u32> = (0..n).map(|_| u32::from(dice.roll(3) == 0)).collect();
        let mut arcs: Vec<Lists> = Vec::new();
        if i % 3 == 0 {
            // a marked graph: each place from one transition to another
            arcs = vec![Default::default(); 1 + dice.roll(n as u64) as usize];
            let transitions = arcs.len() as u64;
            for p in 0..n {
                let (from, to) = (dice.roll(transitions) as usize, dice.roll(transitions) as usize);
                arcs[from].1.push((p, 1));
                arcs[to].0.push((p, 1));
            }
        } else {
            for p in 0..n {
                arcs.push((vec![(p, 1)], vec![((p + 1) % n, 1)]));
            }
            for _ in 0..dice.roll(3) {
                let (a, b, c, d) = (dice.roll(n as u64), dice.roll(n as u64), dice.roll(n as u64), dice.roll(n as u64));
                let side = |x: u64, y: u64| dedup(vec![(x as usize, 1), (y as usize, 1)]);
                arcs.push((side(a, b), side(c, d)));
            }
        }
        let arcs: Vec<Arcs> = arcs.iter().map(|(a, b)| (a.as_slice(), b.as_slice())).collect();
        compare_with_walk(&builder(&tokens, &arcs), &mut seen);
    }
    assert!(seen.free > 100 && seen.dead > 25 && seen.live > 100 && seen.not_live > 100, "{seen:?}");
    assert!(seen.methods.len() >= 3, "{seen:?}");
}

/// Weighted invariants and capacities bound what a walk meets.
#[test]
fn capacities_count_in_bounds() {
    let mut b = builder(&[0, 1], &[(&[(1, 1)], &[(1, 1), (0, 2)]), (&[(0, 1)], &[])]);
    let free = structure(&to_program(&b)).bounds.unwrap();
    assert_eq!((free.rows[0].most, free.rows[1].most), (None, Some(1)));
    let p = PlaceId::from_index(0);
    b.place_mut(p).capacity = Some(5);
    let bounds = structure(&to_program(&b)).bounds.unwrap();
    assert_eq!((bounds.rows[0].most, bounds.rows[0].source), (Some(5), Some(BoundSource::Capacity)));
}

// ---------------------------------------------------------------- deadlocks, by hand

/// Two philosophers who take the left fork first.
fn philosophers() -> NetBuilder {
    // forks 0, 1; thinking 2, 3; waiting 4, 5; eating 6, 7
    builder(
        &[1, 1, 1, 1, 0, 0, 0, 0],
        &[
            (&[(2, 1), (0, 1)], &[(4, 1)]),
            (&[(4, 1), (1, 1)], &[(6, 1)]),
            (&[(6, 1)], &[(2, 1), (0, 1), (1, 1)]),
            (&[(3, 1), (1, 1)], &[(5, 1)]),
            (&[(5, 1), (0, 1)], &[(7, 1)]),
            (&[(7, 1)], &[(3, 1), (0, 1), (1, 1)]),
        ],
    )
}

/// A test next to an input of the same place leaves no token: the place is not a trap.
#[test]
fn a_test_of_what_is_taken_keeps_no_token() {
    let mut b = builder(&[1], &[(&[(0, 1)], &[])]);
    let t = b.find_transition("t0").unwrap();
    b.test(PlaceId::from_index(0), t, 1.0);
    let found = structure(&to_program(&b));
    assert!(found.traps.unwrap().sets.is_empty());
    let deadlock = found.deadlock.unwrap();
    assert_eq!((deadlock.property, deadlock.deadlock_free), (Some(false), None));
}

#[test]
fn philosophers_have_a_siphon_without_a_trap() {
    let program = to_program(&philosophers());
    let deadlock = structure(&program).deadlock.unwrap();
    assert_eq!((deadlock.property, deadlock.deadlock_free), (Some(false), None));
    // forks and eaters: empty once both wait
    assert_eq!(deadlock.bad_siphon.unwrap(), [0, 1, 6, 7]);
    assert!(walk(&program, 100).unwrap().has_dead());
}

#[test]
fn a_marked_graph_with_many_circuits_is_live_without_listing_them() {
    // 40 stages, each a fork and a join: 2^40 circuits
    let n = 40;
    let mut arcs: Vec<Lists> = Vec::new();
    for i in 0..n {
        let (a, b) = (2 * i, 2 * i + 1);
        let (c, d) = (2 * ((i + 1) % n), 2 * ((i + 1) % n) + 1);
        arcs.push((vec![(a, 1), (b, 1)], vec![(c, 1), (d, 1)]));
    }
    let mut tokens = vec![0; 2 * n];
    (tokens[0], tokens[1]) = (1, 1);
    let arcs: Vec<Arcs> = arcs.iter().map(|(a, b)| (a.as_slice(), b.as_slice())).collect();
    let limits = Limits { max_rows: 200, max_sets: 50, ..Limits::default() };
    let found = analyse(&program(&tokens, &arcs), Wanted::default(), &limits, &go_on);
    let deadlock = found.deadlock.unwrap();
    assert_eq!(found.siphons.unwrap().cut, Some(Cut::Sets { limit: 50 }));
    assert_eq!((deadlock.method, deadlock.live, deadlock.deadlock_free), (Method::Circuits, Some(true), Some(true)));
    assert_eq!(deadlock.well_formed, Some(true));
    let one = found.bounds.unwrap().rows;
    assert!(one.iter().all(|row| row.most == Some(1) && row.proved), "{one:?}");
}

// ---------------------------------------------------------------- throughputs

#[test]
fn throughputs_of_a_ring_and_of_a_choice_are_bounded() {
    // three tokens and one server each: the slowest sets the pace
    let mut b = builder(&[3, 0], &[(&[(0, 1)], &[(1, 1)]), (&[(1, 1)], &[(0, 1)])]);
    let t = b.find_transition("t1").unwrap();
    b.transition_mut(t).timing = Timing::exponential(0.25);
    let found = structure(&to_program(&b)).throughputs.unwrap();
    assert!(found.bounds.iter().all(|bound| (bound.most.unwrap() - 0.25).abs() < 1e-6), "{found:?}");
    // one token, means 1 s and 4 s one after the other: 1 / 5 s
    let p = PlaceId::from_index(0);
    b.place_mut(p).initial = vec![1];
    let found = structure(&to_program(&b)).throughputs.unwrap();
    assert!(found.bounds.iter().all(|bound| (bound.most.unwrap() - 0.2).abs() < 1e-6), "{found:?}");
    // work at rate 10, then a choice 3 : 1 between two ways
    let mut b = NetBuilder::new("choice");
    let (idle, done) = (b.place("idle", 1), b.place("done", 0));
    let work = b.transition("work", Timing::exponential(10.0));
    b.input(idle, work, 1.0);
    b.output(work, done, 1.0);
    for (name, weight, rate) in [("well", 3.0, 100.0), ("badly", 1.0, 2.0)] {
        let choose = b.transition(format!("goes_{name}"), Timing::immediate(weight, 1));
        let way = b.place(name, 0);
        let back = b.transition(format!("ends_{name}"), Timing::exponential(rate));
        b.input(done, choose, 1.0);
        b.output(choose, way, 1.0);
        b.input(way, back, 1.0);
        b.output(back, idle, 1.0);
    }
    // a round takes 0.1 + 0.75 * 0.01 + 0.25 * 0.5 s
    let round = 0.1 + 0.0075 + 0.125;
    let found = structure(&to_program(&b)).throughputs.unwrap();
    let most: Vec<f64> = found.bounds.iter().map(|bound| bound.most.unwrap() * round).collect();
    for (found, exact) in most.iter().zip([1.0, 0.75, 0.25]) {
        assert!((found - exact).abs() < 1e-6, "{most:?}");
    }
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Exact {
    average_tokens: BTreeMap<String, f64>,
    throughput: BTreeMap<String, f64>,
}

/// All XML files below a folder, in order.
fn nets_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(nets_below(&path));
        } else if path.extension().is_some_and(|e| e == "xml") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Every net of a folder within short limits; exact averages and throughputs, where known, are within the bounds. Returns
/// how many nets, and how many bounded throughputs there were.
fn check_folder(folder: &Path, left_out: &[&str]) -> (usize, usize) {
    let limits = Limits { max_rows: 5_000, max_sets: 500, max_wall: Some(Duration::from_millis(300)) };
    let (mut nets, mut compared) = (0, 0);
    for path in nets_below(folder) {
        let Ok(read) = read(&fs::read(&path).unwrap(), &ReadOptions::default()) else { continue };
        let Ok(program) = compile(&read.net) else { continue };
        let found = analyse(&program, Wanted::default(), &limits, &go_on);
        nets += 1;
        let exact = fs::read_to_string(path.with_extension("exact.json")).ok();
        let Some(exact) = exact.and_then(|text| serde_json::from_str::<Exact>(&text).ok()) else { continue };
        if left_out.iter().any(|name| path.file_stem().is_some_and(|stem| stem == *name)) {
            continue;
        }
        for bound in &found.throughputs.unwrap().bounds {
            let name = &program.transition_names[bound.transition as usize];
            if let (Some(most), Some(rate)) = (bound.most, exact.throughput.get(name)) {
                assert!(
                    *rate <= most * (1.0 + 1e-6) + 1e-9,
                    "{}: `{name}` fires {rate}, at most {most}",
                    path.display()
                );
                compared += 1;
            }
        }
        if program.classes() == 1 {
            for (name, bound) in program.place_names.iter().zip(&found.bounds.unwrap().rows) {
                if let (Some(most), Some(mean)) = (bound.most, exact.average_tokens.get(name)) {
                    assert!(*mean <= most as f64 + 1e-6, "{}: {mean} in `{name}`, at most {most}", path.display());
                }
            }
        }
    }
    (nets, compared)
}

#[test]
fn probes_stay_within_their_bounds() {
    let probes = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/pipe/probes");
    // a negative rate is an error here; the solver continued with it
    let (nets, compared) = check_folder(&probes, &["s24_negative_rate"]);
    assert!(nets > 30 && compared > 40, "{nets} nets, {compared} throughputs");
}

#[test]
fn real_nets_neither_hang_nor_exceed_their_bounds() {
    let Some(real) = shared("data/pipe-nets/real") else { return };
    let (nets, compared) = check_folder(&real, &[]);
    assert!(nets > 60 && compared > 60, "{nets} nets, {compared} throughputs");
}

// ---------------------------------------------------------------- jobs

fn job(maps: u64, reduces: u64) -> Net {
    let means_s = [3.0, 0.5, 5.6, 4.0, 0.7, 1.2, 1.9, 3.3, 8.2];
    let phases = Some(GivenPhases { means_s, maps: Some(maps), reduces: Some(reduces), ..GivenPhases::default() });
    let mut plan = Plan { phases, ..Plan::default() };
    plan.model.slots = false;
    let phases = phase_times(&plan, &mut || 0.5).unwrap();
    job_net(&plan, &phases).unwrap().net
}

/// A job is a marked graph but for its ends, with one place that counts the maps: it begins in its only siphon, and every
/// reduce task has an invariant with all maps.
#[test]
fn jobs_have_an_invariant_for_each_reduce_task() {
    for (maps, reduces) in [(1, 1), (3, 2), (40, 10)] {
        let program = compile(&job(maps, reduces)).unwrap();
        let found = structure(&program);
        let flows = found.place_semiflows.unwrap();
        assert_eq!((flows.cut, flows.vectors.len() as u64), (None, reduces));
        assert_eq!(found.siphons.unwrap().sets, [[0]]);
        assert_eq!(found.traps.unwrap().sets.len() as u64, reduces);
        let bounds = found.bounds.unwrap().rows;
        let most = |name: &str| if name == "spilled" { maps } else { 1 };
        assert!(program.place_names.iter().zip(&bounds).all(|(name, row)| row.most == Some(most(name)) && row.proved));
        // it ends, so that nothing continues forever
        assert!(found.throughputs.unwrap().bounds.iter().all(|bound| bound.most == Some(0.0)));
    }
}

#[test]
fn a_large_job_does_not_explode() {
    let program = compile(&job(1000, 40)).unwrap();
    let incidence = Incidence::of(&program);
    let limits = Limits { max_wall: None, ..Limits::default() };
    let flow = Flow::of(&incidence);
    assert_eq!(minimal_siphons(&flow, &limits, &budget(&limits)).sets, [[0]]);
    assert_eq!(minimal_traps(&flow, &limits, &budget(&limits)).sets.len(), 40);
    let basis = place_basis(&incidence, &budget(&limits));
    assert_eq!((basis.flows.vectors.len(), basis.flows.vectors.len() + basis.rank.unwrap()), (40, program.places()));
    assert_eq!(place_semiflows(&incidence, &limits, &budget(&limits)).vectors.len(), 40);
}
