//! Tests of every analysis on nets that are small enough to compute by hand; the arithmetic is in the comments. Random nets and
//! comparisons with all states are in the integration tests.

use super::*;
use crate::compile::{Program, compile};
use crate::net::{ArcKind, NetBuilder, PlaceId, Servers, Timing, TransitionId};

/// Place and weight of arcs.
type Side<'a> = &'a [(usize, u32)];

/// Places `p0`, `p1`, ... with tokens; transitions `t0`, `t1`, ... of rate 1 with inputs and outputs.
fn net(tokens: &[u32], transitions: &[(Side, Side)]) -> NetBuilder {
    let mut b = NetBuilder::new("net");
    let places: Vec<_> = tokens.iter().enumerate().map(|(i, &n)| b.place(format!("p{i}"), n)).collect();
    for (i, (inputs, outputs)) in transitions.iter().enumerate() {
        let t = b.transition(format!("t{i}"), Timing::exponential(1.0));
        inputs.iter().for_each(|&(p, weight)| _ = b.input(places[p], t, f64::from(weight)));
        outputs.iter().for_each(|&(p, weight)| _ = b.output(t, places[p], f64::from(weight)));
    }
    b
}

fn place(i: usize) -> PlaceId {
    PlaceId::from_index(i)
}

fn transition(i: usize) -> TransitionId {
    TransitionId::from_index(i)
}

fn program(b: &NetBuilder) -> Program {
    compile(&b.clone().build().unwrap()).unwrap()
}

fn structure(b: &NetBuilder) -> Structure {
    analyse(&program(b), Wanted::default(), &Limits::default(), &|| false)
}

fn verdict(b: &NetBuilder) -> Deadlock {
    structure(b).deadlock.unwrap()
}

/// P- and T-semiflows.
fn semiflows(b: &NetBuilder) -> [Vec<Vec<(u32, i128)>>; 2] {
    let found = structure(b);
    [found.place_semiflows.unwrap().vectors, found.transition_semiflows.unwrap().vectors]
}

/// This test was seen to fail without the test that no third row lies within the support of a combination.
#[test]
fn a_sum_of_two_semiflows_is_not_minimal() {
    // t0 moves p2 + p3 to p0 + p1, t1 moves p1 + p2 to p0 + p3. Without t0, p0 + p3 and p1 + p2 change by 2 and -2 at t1;
    // their sum is a semiflow, but it is p0 + p2 plus p1 + p3
    let b = net(&[1, 0, 1, 0], &[(&[(2, 1), (3, 1)], &[(0, 1), (1, 1)]), (&[(1, 1), (2, 1)], &[(0, 1), (3, 1)])]);
    assert_eq!(semiflows(&b)[0], [vec![(0, 1), (2, 1)], vec![(1, 1), (3, 1)]]);
    assert!(semiflows(&b)[1].is_empty());
}

#[test]
fn semiflows_have_no_common_divisor() {
    // -2 a + 4 b = 0 for t0 and 3 a - 6 b = 0 for t1: 2 p0 + p1; -2 x + 3 y = 0 and 4 x - 6 y = 0: 3 t0 + 2 t1
    let b = net(&[6, 0], &[(&[(0, 2)], &[(1, 4)]), (&[(1, 6)], &[(0, 3)])]);
    assert_eq!(semiflows(&b), [[vec![(0, 2), (1, 1)]], [vec![(0, 3), (1, 2)]]]);
    // t0 takes 6 from p0 and puts 4 into p1 and 10 into p2, t1 the reverse: 2 p0 + 3 p1, and 5 p0 + 3 p2
    let b = net(&[6, 0, 0], &[(&[(0, 6)], &[(1, 4), (2, 10)]), (&[(1, 4), (2, 10)], &[(0, 6)])]);
    assert_eq!(semiflows(&b)[0], [vec![(0, 2), (1, 3)], vec![(0, 5), (2, 3)]]);
}

#[test]
fn an_unchanged_place_is_a_semiflow() {
    // p0 is taken from and filled by t0, p1 has no arc, p2 only fills, p3 only drains
    let b = net(&[1, 2, 0, 5], &[(&[(0, 3)], &[(0, 3)]), (&[(3, 1)], &[(2, 2)]), (&[], &[(2, 1)])]);
    // t1 takes one from p3 and puts two into p2, t2 puts one into p2: no weight of p2 is left, and so none of p3
    assert_eq!(semiflows(&b), [vec![vec![(0, 1)], vec![(1, 1)]], vec![vec![(0, 1)]]]);
    let nothing = net(&[], &[]);
    assert_eq!(semiflows(&nothing), [Vec::<Vec<_>>::new(), Vec::new()]);
    let basis = structure(&nothing).place_basis.unwrap();
    assert_eq!((basis.rank, basis.flows.vectors.len()), (Some(0), 0));
}

#[test]
fn a_basis_has_weights_of_both_signs() {
    // both places grow together: their difference is the only invariant, and no semiflow
    let b = net(&[0, 0], &[(&[], &[(0, 2), (1, 4)])]);
    let found = structure(&b);
    assert_eq!(found.place_semiflows.unwrap().vectors, Vec::<Vec<_>>::new());
    let basis = found.place_basis.unwrap();
    assert_eq!((basis.rank, basis.flows.vectors), (Some(1), vec![vec![(0, 2), (1, -1)]]));
    // t1 does twice what t0 undoes, t2 does what t0 undoes: of three columns two depend on the other
    let b = net(&[2, 0], &[(&[(1, 1)], &[(0, 1)]), (&[(0, 2)], &[(1, 2)]), (&[(0, 1)], &[(1, 1)])]);
    let found = structure(&b);
    assert_eq!(found.transition_basis.as_ref().unwrap().rank, Some(1));
    assert_eq!(found.transition_basis.unwrap().flows.vectors.len(), 2);
    assert_eq!(found.transition_semiflows.unwrap().vectors, [vec![(0, 1), (2, 1)], vec![(0, 2), (1, 1)]]);
}

/// Of growth and loss, each violates only one side.
#[test]
fn covers_tell_growth_from_loss() {
    let whole = |b: &NetBuilder| {
        let Covers { conservative, bounded, consistent, repetitive } = structure(b).covers;
        [conservative, bounded, consistent, repetitive].map(|cover| cover.unwrap().is_whole())
    };
    // conservative, bounded, consistent, repetitive
    assert_eq!(whole(&net(&[1, 0], &[(&[(0, 1)], &[(1, 1)]), (&[(1, 1)], &[(0, 1)])])), [true; 4]);
    assert_eq!(whole(&net(&[1], &[(&[(0, 1)], &[(0, 2)])])), [false, false, false, true]);
    assert_eq!(whole(&net(&[1], &[(&[(0, 2)], &[(0, 1)])])), [false, true, false, false]);
    assert_eq!(whole(&net(&[1, 0], &[(&[(0, 1)], &[(1, 1)])])), [true, true, false, false]);
    assert_eq!(whole(&net(&[0], &[(&[], &[(0, 1)]), (&[(0, 1)], &[])])), [false, false, true, true]);
}

#[test]
fn a_leak_removes_the_trap_and_a_source_the_siphon() {
    let ring: [(Side, Side); 2] = [(&[(0, 1)], &[(1, 1)]), (&[(1, 1)], &[(0, 1)])];
    let sets = |extra: &[(Side, Side)]| {
        let found = structure(&net(&[1, 0], &[&ring[..], extra].concat()));
        [found.siphons.unwrap().sets, found.traps.unwrap().sets]
    };
    let all = || vec![vec![0, 1]];
    assert_eq!(sets(&[]), [all(), all()]);
    // a leak takes the trap, a source the siphon
    assert_eq!(sets(&[(&[(1, 1)], &[])]), [all(), vec![]]);
    assert_eq!(sets(&[(&[], &[(0, 1)])]), [vec![], all()]);
    assert_eq!(sets(&[(&[(1, 1)], &[]), (&[], &[(0, 1)])]), [Vec::<Vec<u32>>::new(), vec![]]);
    // p0 leads to p1, which is drained: p0, which is never filled, is a siphon, and so are both together, but not p1 alone
    let flow = Flow::of(&Incidence::of(&program(&net(&[0, 0], &[(&[(0, 1)], &[(1, 1)]), (&[(1, 1)], &[])]))));
    let siphons = [&[0][..], &[1], &[0, 1]].map(|rows| largest_siphon(&flow, rows));
    assert_eq!(siphons, [vec![0], vec![], vec![0, 1]]);
    let traps = [&[0][..], &[1], &[0, 1]].map(|rows| largest_trap(&flow, rows));
    assert_eq!(traps, [Vec::<u32>::new(), vec![], vec![]]);
    // a tested place is a siphon and a trap by itself
    let mut b = net(&[1, 0, 1], &ring);
    b.test(place(2), transition(0), 1.0);
    let found = structure(&b);
    assert_eq!(found.siphons.unwrap().sets, [vec![2], vec![0, 1]]);
    assert_eq!(found.traps.unwrap().sets, [vec![2], vec![0, 1]]);
}

#[test]
fn places_that_share_consumers_form_a_cluster() {
    let flow = |b: &NetBuilder| Flow::of(&Incidence::of(&program(b)));
    // {p0, t0, t1}, {p1, p2, t2}; p3 has no consumer, t3 no need, p4 no arc
    let b = net(
        &[1, 0, 0, 0, 0],
        &[(&[(0, 1)], &[(1, 1)]), (&[(0, 1)], &[(2, 1)]), (&[(1, 1), (2, 1)], &[(3, 1)]), (&[], &[(0, 1)])],
    );
    assert_eq!(clusters(&flow(&b)), 5);
    // nodes: p0 to p4 are 0 to 4, t0 to t3 are 5 to 8. p4 is isolated; no path leads from p0 to it, or back
    assert_eq!(connection(&flow(&b)), Connection { parts: 2, no_path: Some([0, 4]) });
    let ring = net(&[1, 0], &[(&[(0, 1)], &[(1, 1)]), (&[(1, 1)], &[(0, 1)])]);
    assert_eq!((clusters(&flow(&ring)), connection(&flow(&ring))), (2, Connection { parts: 1, no_path: None }));
    // p0 to t0 to p1 and no way back: node 0 reaches all, t0 (node 2) and p1 (node 1) do not reach it
    let path = net(&[1, 0], &[(&[(0, 1)], &[(1, 1)])]);
    assert_eq!(connection(&flow(&path)), Connection { parts: 1, no_path: Some([1, 0]) });
}

/// This test was seen to fail with bounds rounded up, and with rooms of capacities left out of the marking equation.
#[test]
fn bounds_round_down_and_know_their_source() {
    let bounds = |b: &NetBuilder| -> Vec<_> {
        structure(b).bounds.unwrap().rows.into_iter().map(|row| (row.most, row.source, row.proved)).collect()
    };
    let by = |most, source| (Some(most), Some(source), true);
    use BoundSource::{Capacity, Invariant, MarkingEquation};
    // p0 + 2 p1 = 5
    let pairs = net(&[5, 0], &[(&[(0, 2)], &[(1, 1)]), (&[(1, 1)], &[(0, 2)])]);
    assert_eq!(bounds(&pairs), [by(5, Invariant), by(2, Invariant)]);
    // p0 + p1 never grows, though t1 loses tokens
    let loss = net(&[5, 0], &[(&[(0, 1)], &[(1, 1)]), (&[(1, 3)], &[(0, 1)])]);
    assert_eq!(bounds(&loss), [by(5, MarkingEquation), by(5, MarkingEquation)]);
    // t0 fills p0 and p1, which holds 2 and is never drained: at most 2 firings, so p0 holds at most 2 as well
    let mut source = net(&[0, 0], &[(&[], &[(0, 1), (1, 1)]), (&[(0, 1)], &[])]);
    assert_eq!(bounds(&source), [(None, None, true); 2]);
    source.place_mut(place(1)).capacity = Some(2);
    assert_eq!(bounds(&source), [by(2, MarkingEquation), by(2, Capacity)]);
}

#[test]
fn a_ring_is_live_with_a_token_and_dead_without() {
    let ring = |tokens| net(&[tokens, 0], &[(&[(0, 1)], &[(1, 1)]), (&[(1, 1)], &[(0, 1)])]);
    let live = verdict(&ring(1));
    assert_eq!(
        (live.method, live.live, live.deadlock_free, live.property),
        (Method::Circuits, Some(true), Some(true), Some(true))
    );
    assert_eq!((live.never_marked, live.live_with_time), (vec![], true));
    let dead = verdict(&ring(0));
    assert_eq!((dead.live, dead.deadlock_free, dead.property), (Some(false), Some(false), Some(false)));
    assert_eq!((dead.never_marked, dead.never_fire, dead.bad_siphon), (vec![0, 1], vec![0, 1], Some(vec![0, 1])));
    // a token in one of two circuits through t0 does not help
    let two =
        net(&[1, 0, 0, 0], &[(&[(0, 1), (2, 1)], &[(1, 1), (3, 1)]), (&[(1, 1)], &[(0, 1)]), (&[(3, 1)], &[(2, 1)])]);
    assert_eq!((verdict(&two).live, verdict(&two).deadlock_free), (Some(false), Some(false)));
}

/// A choice between two branches that join again one by one (well-formed) or only both together (not well-formed).
#[test]
fn a_choice_whose_branches_are_joined_is_not_live() {
    let ways: [(Side, Side); 2] = [(&[(0, 1)], &[(1, 1)]), (&[(0, 1)], &[(2, 1)])];
    let merged: [(Side, Side); 2] = [(&[(1, 1)], &[(0, 1)]), (&[(2, 1)], &[(0, 1)])];
    let good = |tokens| verdict(&net(&[tokens, 0, 0], &[ways, merged].concat()));
    // rank 2, three clusters
    let Deadlock { method, live, deadlock_free, well_formed, .. } = good(1);
    assert_eq!((method, live, deadlock_free, well_formed), (Method::Rank, Some(true), Some(true), Some(true)));
    assert_eq!((good(0).live, good(0).deadlock_free, good(0).well_formed), (Some(false), Some(false), Some(true)));
    // y0 = y1, y0 = y2 and y1 + y2 = y0: no weights. {p0, p1} is a siphon; t1 drains p0, then t2 drains p1
    let joined = verdict(&net(&[1, 0, 0], &[&ways[..], &[(&[(1, 1), (2, 1)], &[(0, 1)])]].concat()));
    assert_eq!((joined.live, joined.property, joined.well_formed), (Some(false), Some(false), Some(false)));
    assert_eq!((joined.bad_siphon, joined.marked_trap), (Some(vec![0, 1]), vec![false, false]));
    assert_ne!(joined.deadlock_free, Some(true));
}

#[test]
fn a_source_never_stops_and_feeds_what_it_reaches() {
    let b = net(&[0, 0, 0], &[(&[], &[(0, 1)]), (&[(0, 1)], &[(1, 1)]), (&[(2, 1)], &[(2, 1)])]);
    let found = verdict(&b);
    assert_eq!((found.deadlock_free, found.method), (Some(true), Method::Source));
    // p2 holds nothing and only t2 could fill it
    assert_eq!((found.never_marked, found.never_fire, found.live), (vec![2], vec![2], Some(false)));
}

/// With each single obstacle, the theorems do not apply. Empty siphons still show the transitions that never fire.
#[test]
fn obstacles_disable_the_structural_theorems() {
    let ring = || net(&[1, 0, 0], &[(&[(0, 1)], &[(1, 1)]), (&[(1, 1)], &[(0, 1)]), (&[(2, 1)], &[(2, 1)])]);
    let silent = |b: &NetBuilder| {
        let found = verdict(b);
        assert_eq!((found.deadlock_free, found.well_formed), (None, None));
        found
    };
    let name = |i: usize| format!("t{i}");
    let mut b = ring();
    b.inhibitor(place(1), transition(0), 2.0);
    let found = silent(&b);
    assert_eq!(found.obstacles, [Obstacle::Inhibitors { number: 1 }]);
    assert_eq!((found.never_fire, found.live), (vec![2], Some(false)));
    let mut b = ring();
    b.test(place(0), transition(1), 2.0);
    assert_eq!(silent(&b).obstacles, [Obstacle::Weight { row: "p0".into(), transition: name(1) }]);
    let mut b = ring();
    let all = b.expression("#(p0)").unwrap();
    b.arc(ArcKind::Test, place(0), transition(0), all);
    let found = silent(&b);
    assert_eq!(found.obstacles, [Obstacle::OpenArcs { number: 1 }]);
    // an arc whose weight may be 0 may need no token, so for no transition is it certain that it never fires
    assert_eq!((found.never_fire, found.live), (vec![], None));
    let mut b = ring();
    let all = b.expression("#(p0)").unwrap();
    b.arc(ArcKind::Test, place(0), transition(0), all);
    b.place_mut(place(0)).capacity = Some(2);
    assert_eq!(silent(&b).obstacles, [Obstacle::OpenArcs { number: 1 }, Obstacle::Capacity { place: "p0".into() }]);
    let mut b = ring();
    b.transition_mut(transition(1)).timing = Timing::exponential(0.0);
    b.transition_mut(transition(2)).timing = Timing::immediate(0.0, 1);
    let found = silent(&b);
    assert_eq!(found.obstacles, [Obstacle::MayNotFire { transition: name(1), number: 2 }]);
    assert!(!found.live_with_time);
}

#[test]
fn capacities_count_as_complementary_places_in_deadlock_verdicts() {
    // a buffer of one between a source and a drain is a live ring with the complementary place
    let mut b = net(&[0], &[(&[], &[(0, 1)]), (&[(0, 1)], &[])]);
    b.place_mut(place(0)).capacity = Some(1);
    let found = verdict(&b);
    assert_eq!((found.live, found.deadlock_free, found.method), (Some(true), Some(true), Method::Circuits));
    // without the drain it fills up
    let mut b = net(&[0], &[(&[], &[(0, 1)])]);
    b.place_mut(place(0)).capacity = Some(1);
    let found = verdict(&b);
    assert_eq!(found.live, Some(false));
    assert_ne!(found.deadlock_free, Some(true));
}

/// This test was seen to fail with the weight of an arc left out of the share of its tokens, and with the servers taken
/// without limit.
#[test]
fn throughputs_obey_servers_and_weights() {
    let most = |rates: [(f64, Servers); 2], weight: u32, tokens: u32| {
        let mut b = net(&[tokens, 0], &[(&[(0, weight)], &[(1, weight)]), (&[(1, weight)], &[(0, weight)])]);
        for (i, (rate, servers)) in rates.into_iter().enumerate() {
            let timing = &mut b.transition_mut(transition(i)).timing;
            *timing = Timing::exponential(rate);
            if let Timing::Timed { servers: own, .. } = timing {
                *own = servers;
            }
        }
        structure(&b).throughputs.unwrap().bounds.iter().map(|bound| bound.most.unwrap()).collect::<Vec<_>>()
    };
    let assert =
        |found: Vec<f64>, exact: f64| assert!(found.iter().all(|x| (x - exact).abs() < 1e-6), "{found:?} {exact}");
    let (infinite, two) = (Servers::Infinite, Servers::Limited(2));
    // a cycle takes 2 + 0.5 s, and all three tokens circulate in parallel
    assert(most([(0.5, infinite), (2.0, infinite)], 1, 3), 3.0 / 2.5);
    // four tokens go in pairs
    assert(most([(0.5, infinite), (2.0, infinite)], 2, 4), 2.0 / 2.5);
    // two servers of 0.5 /s are the bottleneck of 9 tokens
    assert(most([(0.5, two), (2.0, infinite)], 1, 9), 1.0);
    assert(most([(0.5, Servers::Single), (2.0, two)], 1, 9), 0.5);
}
