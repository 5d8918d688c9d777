//! Can a queue grow without bound, and how is that proved?
//!
//! ```text
//!        ┌── again ◀──┐
//! ready ─┴─▶ produce ─┴─▶ buffer ─▶ consume
//! ```
//!
//! Nothing limits the buffer. The proof is a firing sequence that can be repeated forever. The coverability graph stays finite,
//! because ω stands for any number of tokens.

use std::error::Error;

use tailspn::compile::{Program, compile};
use tailspn::net::{NetBuilder, Timing};
use tailspn::report::graph_dot;
use tailspn::solve::{ExploreError, Limits, coverability, coverability_graph, explore};
use tailspn::watch::Unwatched;

/// A producer and a consumer, with a buffer of capacity `room` between them.
fn program(room: Option<u32>) -> Result<Program, Box<dyn Error>> {
    let mut b = NetBuilder::new("producer and consumer");
    let (ready, buffer) = (b.place("ready", 1), b.place("buffer", 0));
    b.place_mut(buffer).capacity = room;
    let produce = b.transition("produce", Timing::exponential(1.0));
    let consume = b.transition("consume", Timing::exponential(2.0));
    b.input(ready, produce, 1.0);
    b.output(produce, ready, 1.0);
    b.output(produce, buffer, 1.0);
    b.input(buffer, consume, 1.0);
    let net = b.build()?;
    Ok(compile(&net)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let open = program(None)?;
    let Err(ExploreError::Unbounded(proof)) = explore(&open, None, &Limits::default(), &Unwatched) else {
        return Err("the net is unbounded".into());
    };
    let names = |transitions: &[u32]| {
        let names = transitions.iter().map(|&t| &open.transition_names[t as usize]);
        names.collect::<Vec<_>>().join(" ")
    };
    println!("{} grows with each round of: {}", proof.places.join(", "), names(&proof.cycle));
    assert_eq!((proof.places.join(" "), names(&proof.cycle)), ("buffer".to_owned(), "produce".to_owned()));

    let graph = coverability(&open, 1_000)?;
    println!("the coverability graph has {} markings:", graph.nodes());
    let dot = graph_dot(&coverability_graph(&graph, &open, 1_000)?);
    print!("{dot}");
    assert!(graph.is_exact() && graph.nodes() == 2 && dot.contains("ready + ω buffer"));

    // with room for three tokens, the net has few states
    let space = explore(&program(Some(3))?, None, &Limits::default(), &Unwatched)?;
    println!("with room for 3 tokens: {} states", space.complete()?.states());
    assert_eq!((space.states(), space.peaks()[1].tokens), (4, 3));
    Ok(())
}
