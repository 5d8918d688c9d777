//! The nets that are timed, and the plain loops that they are timed against.

use tailspn::compile::{Code, Program, compile, lower_reward};
use tailspn::mapreduce::{Plan, job_net, phase_times};
use tailspn::net::expr::{BinaryOp, Leaf};
use tailspn::net::{Expr, Net, NetBuilder, PlaceId, Servers, Timing, TransitionId};

pub(crate) mod lanes;
pub(crate) mod naive;

/// Mean times of the nine phases [s].
pub(crate) const PHASE_MEANS_S: [f64; 9] = [5.0, 1.0, 2.0, 8.0, 1.0, 3.0, 6.0, 2.0, 7.0];

/// The net of a job with so many map and reduce tasks: 5M + 2R + 2 transitions.
pub(crate) fn job(maps: u64, reduces: u64) -> Program {
    let text =
        format!("[phases]\nmeans_s = {PHASE_MEANS_S:?}\nmaps = {maps}\nreduces = {reduces}\n[model]\nslots = false\n");
    let plan = Plan::from_toml(&text).expect("the plan is fine");
    let phases = phase_times(&plan, &mut || 0.5).expect("the phases are given");
    program(&job_net(&plan, &phases).expect("the plan is fine").net)
}

fn program(net: &Net) -> Program {
    compile(net).expect("the net is fine")
}

/// 64 tokens, each of which takes two delays of this kind before all of them meet.
pub(crate) fn two_delays(timing: &Timing) -> Program {
    let mut b = NetBuilder::new("two delays");
    let (done, end) = (b.place("done", 0), b.place("end", 0));
    for i in 0..64 {
        let (start, middle) = (b.place(format!("start{i}"), 1), b.place(format!("middle{i}"), 0));
        for (name, from, to) in [("first", start, middle), ("second", middle, done)] {
            let t = b.transition(format!("{name}{i}"), timing.clone());
            b.input(from, t, 1.0);
            b.output(t, to, 1.0);
        }
    }
    let join = b.transition("join", Timing::immediate(1.0, 0));
    b.input(done, join, 64.0);
    b.output(join, end, 1.0);
    program(&b.build().expect("the net is fine"))
}

/// Machines that fail and are repaired, each on two places of its own, and what they cost: half a unit per second up, 2 down.
pub(crate) fn machines(count: u32) -> (Program, Code) {
    let mut b = NetBuilder::new("machines");
    let mut cost = Expr::Number(0.0);
    for i in 0..count {
        let (up, down) = (b.place(format!("up{i}"), 1), b.place(format!("down{i}"), 0));
        arcs(&mut b, &format!("fail{i}"), 1.0, &[up], &[down]);
        arcs(&mut b, &format!("repair{i}"), 2.0, &[down], &[up]);
        for (place, factor) in [(up, 0.5), (down, 2.0)] {
            let tokens = Box::new(Expr::Leaf(Leaf::Tokens(place, None)));
            let term = Expr::Binary(BinaryOp::Multiply, Box::new(factor.into()), tokens);
            cost = Expr::Binary(BinaryOp::Add, Box::new(cost), Box::new(term));
        }
    }
    let net = b.build().expect("the net is fine");
    (program(&net), lower_reward(&net, &cost))
}

/// Rates at which a cell of the flexible manufacturing system spoils a part and finishes one [1/s].
const CELLS: [(f64, f64); 4] = [(0.36, 0.84), (0.42, 0.98), (0.39, 0.91), (0.33, 0.77)];

/// The decision of a cell: by a race of two timed transitions or by immediate ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Race,
    Immediate,
}

/// A Kanban system of four cells with `cards` cards each: 16 timed transitions, or 12 timed and 8 immediate ones.
pub(crate) fn fms(cards: u32, decision: Decision) -> Program {
    let mut b = NetBuilder::new("fms");
    let cells: Vec<[PlaceId; 4]> = (1..=4)
        .map(|i| {
            let [free, work, spoilt, ready] =
                ["f", "x", "y", "z"].map(|kind| b.place(format!("{kind}{i}"), if kind == "f" { cards } else { 0 }));
            [free, work, spoilt, ready]
        })
        .collect();
    let [_, enters, ..] = cells[0];
    arcs(&mut b, "in1", 1.0, &[cells[0][0]], &[enters]);
    for (i, (&[_, work, spoilt, ready], (spoil, finish))) in cells.iter().zip(CELLS).enumerate() {
        let i = i + 1;
        if decision == Decision::Race {
            arcs(&mut b, &format!("redo{i}"), spoil, &[work], &[spoilt]);
            arcs(&mut b, &format!("ok{i}"), finish, &[work], &[ready]);
        } else {
            let done = b.place(format!("d{i}"), 0);
            arcs(&mut b, &format!("proc{i}"), spoil + finish, &[work], &[done]);
            for (name, weight, to) in [("redo", spoil, spoilt), ("ok", finish, ready)] {
                let t = b.transition(format!("{name}{i}"), Timing::immediate(weight, 1));
                b.input(done, t, 1.0);
                b.output(t, to, 1.0);
            }
        }
        arcs(&mut b, &format!("back{i}"), 0.3, &[spoilt], &[work]);
    }
    let [one, two, three, four] = [cells[0], cells[1], cells[2], cells[3]];
    arcs(&mut b, "synch123", 0.4, &[one[3], two[0], three[0]], &[one[0], two[1], three[1]]);
    arcs(&mut b, "synch234", 0.5, &[two[3], three[3], four[0]], &[two[0], three[0], four[1]]);
    arcs(&mut b, "out4", 0.9, &[four[3]], &[four[0]]);
    program(&b.build().expect("the net is fine"))
}

/// An exponential transition of one server with its arcs.
fn arcs(b: &mut NetBuilder, name: &str, rate: f64, inputs: &[PlaceId], outputs: &[PlaceId]) -> TransitionId {
    let t = b.transition(name, Timing::exponential(rate));
    for &place in inputs {
        b.input(place, t, 1.0);
    }
    for &place in outputs {
        b.output(t, place, 1.0);
    }
    t
}

/// A queue of at most `room` customers.
pub(crate) fn queue(room: u32, arrive: f64, serve: f64, servers: Servers) -> Program {
    let mut b = NetBuilder::new("queue");
    let waiting = b.place("q", 0);
    let free = b.place("free", room);
    arcs(&mut b, "arrive", arrive, &[free], &[waiting]);
    let serve = arcs(&mut b, "serve", serve, &[waiting], &[free]);
    if let Timing::Timed { servers: own, .. } = &mut b.transition_mut(serve).timing {
        *own = servers;
    }
    program(&b.build().expect("the net is fine"))
}

/// A loop that ends at random: lengths differ as much as exponential times do, 1,000 firings on average.
pub(crate) fn mortal_loop() -> Program {
    let mut b = NetBuilder::new("loop");
    let alive = b.place("alive", 1);
    let tired = b.place("tired", 0);
    arcs(&mut b, "work", 1_000.0, &[alive], &[tired]);
    arcs(&mut b, "rest", 1_000.0, &[tired], &[alive]);
    arcs(&mut b, "end", 2.0, &[alive], &[]);
    program(&b.build().expect("the net is fine"))
}

/// A ring of as many transitions, on which `tokens` tokens go round, evenly spread: as many are enabled at most.
pub(crate) fn ring(transitions: u32, tokens: u32) -> Program {
    let mut b = NetBuilder::new("ring");
    let places: Vec<PlaceId> = (0..transitions)
        .map(|i| {
            let upto = |i: u32| u64::from(i) * u64::from(tokens) / u64::from(transitions);
            b.place(format!("p{i}"), u32::try_from(upto(i + 1) - upto(i)).expect("few tokens"))
        })
        .collect();
    for i in 0..places.len() {
        let rate = 1.0 + (i % 7) as f64 / 10.0;
        arcs(&mut b, &format!("t{i}"), rate, &[places[i]], &[places[(i + 1) % places.len()]]);
    }
    program(&b.build().expect("the net is fine"))
}
