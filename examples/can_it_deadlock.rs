//! Can a net deadlock, and can its queues grow without bound? Answered without exploring a single state.
//!
//! ```text
//!          gpu      disk                    Two kinds of tasks need both a GPU and a disk. They take
//!           │        │                      one after the other and give both back together. If the
//! idle ─first─▶ has one ─second─▶ runs ─ends─▶ idle     kinds take them in opposite orders, each may
//!                                           wait for what the other holds.
//! ```

use std::error::Error;

use tailspn::compile::compile;
use tailspn::net::{Net, NetBuilder, Timing};
use tailspn::structure::{Limits, Structure, Wanted, analyse};

/// Tasks of two kinds; each takes the resources in its own order.
fn net(orders: [[usize; 2]; 2]) -> Result<Net, Box<dyn Error>> {
    let mut b = NetBuilder::new("GPU and disk");
    let resources = [b.place("gpu", 1), b.place("disk", 1)];
    for (kind, [first, second]) in ["a", "b"].into_iter().zip(orders) {
        let idle = b.place(format!("idle_{kind}"), 50);
        let has_one = b.place(format!("has_one_{kind}"), 0);
        let runs = b.place(format!("runs_{kind}"), 0);
        let steps = [("first", 2.0), ("second", 2.0), ("ends", 0.5)];
        let [take, take_more, end] =
            steps.map(|(step, rate)| b.transition(format!("{step}_{kind}"), Timing::exponential(rate)));
        b.input(idle, take, 1.0);
        b.input(resources[first], take, 1.0);
        b.output(take, has_one, 1.0);
        b.input(has_one, take_more, 1.0);
        b.input(resources[second], take_more, 1.0);
        b.output(take_more, runs, 1.0);
        b.input(runs, end, 1.0);
        b.output(end, idle, 1.0);
        resources.iter().for_each(|&resource| _ = b.output(end, resource, 1.0));
    }
    b.build().map_err(|problems| format!("{problems:?}").into())
}

fn structure(orders: [[usize; 2]; 2]) -> Result<Structure, Box<dyn Error>> {
    let program = compile(&net(orders)?)?;
    Ok(analyse(&program, Wanted::default(), &Limits::default(), &|| false))
}

fn main() -> Result<(), Box<dyn Error>> {
    for (words, orders) in [("opposite orders", [[0, 1], [1, 0]]), ("the same order", [[0, 1], [0, 1]])] {
        let found = structure(orders)?;
        let names =
            |rows: &[u32]| rows.iter().map(|&row| found.incidence.rows[row as usize].as_str()).collect::<Vec<_>>();
        println!("{words}:");
        let bounds = found.bounds.as_ref().ok_or("bounds were asked for")?;
        for (name, bound) in found.incidence.rows.iter().zip(&bounds.rows) {
            let most = bound.most.ok_or("each place is in an invariant")?;
            print!("  {name} <= {most}");
            assert!(bound.proved && most <= 50);
        }
        let deadlock = found.deadlock.as_ref().ok_or("deadlocks were asked for")?;
        match (&deadlock.bad_siphon, deadlock.deadlock_free) {
            (None, Some(true)) => println!("\n  no deadlock: every siphon contains a marked trap"),
            (Some(siphon), _) => println!("\n  may get stuck: {:?} can lose all tokens for good", names(siphon)),
            _ => println!("\n  not known"),
        }
        assert_eq!(deadlock.deadlock_free == Some(true), words == "the same order");
    }
    Ok(())
}
