//! Nets whose state spaces are known, for the tests of this module.

use crate::compile::{Program, compile};
use crate::net::{NetBuilder, PlaceId, Timing};
use crate::solve::{Limits, StateSpace, explore};
use crate::watch::Unwatched;

/// Adds a transition with arcs of weight 1.
fn between(b: &mut NetBuilder, id: String, timing: Timing, from: &[PlaceId], to: &[PlaceId]) {
    let t = b.transition(id, timing);
    for &place in from {
        b.input(place, t, 1.0);
    }
    for &place in to {
        b.output(t, place, 1.0);
    }
}

pub(crate) fn built(b: NetBuilder) -> Program {
    compile(&b.build().unwrap()).unwrap()
}

/// Returns the whole state space.
pub(crate) fn space(program: &Program) -> StateSpace {
    let space = explore(program, None, &Limits::default(), &Unwatched).unwrap();
    assert_eq!(space.stopped(), None);
    space
}

/// `k` tokens on a ring of `n` places.
pub(crate) fn ring(n: usize, k: u32) -> Program {
    let mut b = NetBuilder::new("ring");
    let places: Vec<_> = (0..n).map(|i| b.place(format!("p{i}"), if i == 0 { k } else { 0 })).collect();
    for i in 0..n {
        between(&mut b, format!("t{i}"), Timing::exponential(1.0 + i as f64), &[places[i]], &[places[(i + 1) % n]]);
    }
    built(b)
}

/// A queue with capacity `k`.
pub(crate) fn queue(k: u32, arrive: f64, serve: f64) -> Program {
    let mut b = NetBuilder::new("queue");
    let q = b.place("q", 0);
    b.place_mut(q).capacity = Some(k);
    between(&mut b, "arrive".to_owned(), Timing::exponential(arrive), &[], &[q]);
    between(&mut b, "serve".to_owned(), Timing::exponential(serve), &[q], &[]);
    built(b)
}

/// Kanban of four cells with `n` cards each, all transitions timed; after Ciardo and Tilgner, NASA/CR-96-198280, 1996.
pub(crate) fn kanban(n: u32) -> Program {
    let mut b = NetBuilder::new("kanban");
    let mut cells = Vec::new();
    for i in 1..=4 {
        let [cards, machine, back, done] =
            ["k", "m", "b", "o"].map(|kind| b.place(format!("{kind}{i}"), if kind == "k" { n } else { 0 }));
        between(&mut b, format!("ok{i}"), Timing::exponential(0.84), &[machine], &[done]);
        between(&mut b, format!("redo{i}"), Timing::exponential(0.36), &[machine], &[back]);
        between(&mut b, format!("back{i}"), Timing::exponential(0.3), &[back], &[machine]);
        cells.push([cards, machine, done]);
    }
    let [[k1, m1, o1], [k2, m2, o2], [k3, m3, o3], [k4, m4, o4]] = cells[..] else { unreachable!("four cells") };
    between(&mut b, "in".to_owned(), Timing::exponential(1.0), &[k1], &[m1]);
    between(&mut b, "split".to_owned(), Timing::exponential(0.4), &[o1, k2, k3], &[k1, m2, m3]);
    between(&mut b, "join".to_owned(), Timing::exponential(0.5), &[o2, o3, k4], &[k2, k3, m4]);
    between(&mut b, "out".to_owned(), Timing::exponential(0.9), &[o4], &[k4]);
    built(b)
}

/// Philosophers who take the fork on their left first.
pub(crate) fn philosophers(n: usize) -> Program {
    let mut b = NetBuilder::new("philosophers");
    let forks: Vec<_> = (0..n).map(|i| b.place(format!("fork{i}"), 1)).collect();
    for i in 0..n {
        let [think, wait, eat] =
            ["think", "wait", "eat"].map(|kind| b.place(format!("{kind}{i}"), u32::from(kind == "think")));
        let (left, right) = (forks[i], forks[(i + 1) % n]);
        between(&mut b, format!("left{i}"), Timing::exponential(1.0), &[think, left], &[wait]);
        between(&mut b, format!("right{i}"), Timing::exponential(2.0), &[wait, right], &[eat]);
        between(&mut b, format!("put{i}"), Timing::exponential(3.0), &[eat], &[think, left, right]);
    }
    built(b)
}

/// After `begin`, two immediate transitions move a token back and forth forever.
pub(crate) fn trap() -> Program {
    let mut b = NetBuilder::new("trap");
    let [start, here, there] = ["start", "here", "there"].map(|id| b.place(id, u32::from(id == "start")));
    between(&mut b, "back".to_owned(), Timing::immediate(1.0, 1), &[there], &[here]);
    between(&mut b, "begin".to_owned(), Timing::exponential(1.0), &[start], &[here]);
    between(&mut b, "forth".to_owned(), Timing::immediate(1.0, 1), &[here], &[there]);
    built(b)
}
