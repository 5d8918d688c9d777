//! Finds the sums of tokens that a net never changes, and the firings that lead back to the same marking.
//!
//! ```text
//! ready ─produce─▶ full ─fill─▶ buffer ─fetch─▶ loaded ─consume─▶ waiting
//!   ▲                │             │
//!   └──────────── fill      room ◀─┴─ fetch        (room: 4 free slots)
//! ```
//!
//! Both follow from the arcs, whatever the rates and however many states there are.

use std::error::Error;

use tailspn::compile::compile;
use tailspn::net::{NetBuilder, Timing};
use tailspn::structure::{Flows, Limits, Wanted, analyse};

/// Formats each vector as a sum such as `a + 2 b`.
fn sums(flows: &Flows, names: &[String]) -> Vec<String> {
    let term = |&(i, weight): &(u32, i128)| match weight {
        1 => names[i as usize].clone(),
        _ => format!("{weight} {}", names[i as usize]),
    };
    flows.vectors.iter().map(|vector| vector.iter().map(term).collect::<Vec<_>>().join(" + ")).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut b = NetBuilder::new("producer and consumer");
    let places = [("ready", 1), ("full", 0), ("room", 4), ("buffer", 0), ("waiting", 1), ("loaded", 0)];
    let [ready, full, room, buffer, waiting, loaded] = places.map(|(id, tokens)| b.place(id, tokens));
    let steps = [
        ("produce", vec![ready], vec![full]),
        ("fill", vec![full, room], vec![buffer, ready]),
        ("fetch", vec![buffer, waiting], vec![loaded, room]),
        ("consume", vec![loaded], vec![waiting]),
    ];
    for (id, takes, puts) in steps {
        let t = b.transition(id, Timing::exponential(1.0));
        takes.into_iter().for_each(|place| _ = b.input(place, t, 1.0));
        puts.into_iter().for_each(|place| _ = b.output(t, place, 1.0));
    }
    let net = b.build()?;
    let program = compile(&net)?;
    let found = analyse(&program, Wanted::default(), &Limits::default(), &|| false);

    let flows = found.place_semiflows.as_ref().ok_or("invariants were asked for")?;
    let sums_of_places = sums(flows, &found.incidence.rows);
    for (sum, vector) in sums_of_places.iter().zip(&flows.vectors) {
        let total: i128 = vector.iter().map(|&(row, weight)| weight * i128::from(program.initial[row as usize])).sum();
        println!("{sum} = {total}");
    }
    assert_eq!(sums_of_places, ["ready + full", "room + buffer", "waiting + loaded"]);

    let rounds = found.transition_semiflows.as_ref().ok_or("invariants were asked for")?;
    let rounds = sums(rounds, &program.transition_names.to_vec());
    println!("back to the same marking: {}", rounds.join("; "));
    assert_eq!(rounds, ["produce + fill + fetch + consume"]);
    Ok(())
}
