//! Nets for tests.

use crate::net::{Delay, Law, Memory, NetBuilder, Servers, Timing};

pub(super) fn delayed(law: Law, memory: Memory) -> Timing {
    Timing::Timed { delay: Delay::General(law), servers: Servers::Single, memory }
}

pub(super) fn after(delay: f64) -> Timing {
    delayed(Law::Deterministic { delay }, Memory::Enabling)
}

/// A queue with capacity `k`; customers that find it full are lost.
pub(super) fn queue(k: u32, arrive: Timing, serve: Timing) -> NetBuilder {
    let mut b = NetBuilder::new("queue");
    let (door, q) = (b.place("door", 0), b.place("q", 0));
    let arrive = b.transition("arrive", arrive);
    b.output(arrive, door, 1.0);
    let enter = b.transition("enter", Timing::immediate(1.0, 2));
    b.input(door, enter, 1.0);
    b.inhibitor(q, enter, f64::from(k));
    b.output(enter, q, 1.0);
    let lose = b.transition("lose", Timing::immediate(1.0, 1));
    b.input(door, lose, 1.0);
    let serve = b.transition("serve", serve);
    b.input(q, serve, 1.0);
    b
}

/// A machine works until it breaks (at `rate`) or a clock stops it (after `law`). A broken machine is mended, a stopped
/// machine is resumed. An interrupted clock starts again from 0.
pub(super) fn machine(law: Law, rate: f64, [mend, resume]: [f64; 2]) -> NetBuilder {
    let mut b = NetBuilder::new("machine");
    let [works, broken, paused] = ["works", "broken", "paused"].map(|id| b.place(id, u32::from(id == "works")));
    for (id, timing, from, to) in [
        ("stop", delayed(law, Memory::Enabling), works, paused),
        ("fail", Timing::exponential(rate), works, broken),
        ("mend", Timing::exponential(mend), broken, works),
        ("resume", Timing::exponential(resume), paused, works),
    ] {
        let t = b.transition(id, timing);
        b.input(from, t, 1.0);
        b.output(t, to, 1.0);
    }
    b
}

/// A queue that at most `customers` customers enter; `done` counts the served customers.
pub(super) fn customers(waiting: u32, customers: u32, arrive: Timing, serve: Timing) -> NetBuilder {
    let mut b = NetBuilder::new("customers");
    let [away, queue, done] = [("away", customers), ("queue", waiting), ("done", 0)].map(|(id, n)| b.place(id, n));
    for (id, timing, from, to) in [("arrive", arrive, away, queue), ("serve", serve, queue, done)] {
        let t = b.transition(id, timing);
        b.input(from, t, 1.0);
        b.output(t, to, 1.0);
    }
    b
}
