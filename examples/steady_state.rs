//! Computes the mean length of a queue in the long run, and the share of time in which it is full.
//!
//! ```text
//! arrive (2/s) ─▶ queue (at most 5) ─▶ serve (3/s)
//! ```
//!
//! It explores all markings and solves the balance equations of their Markov chain: no replications, no interval.

use tailspn::prelude::*;

const ROOM: u32 = 5;

fn main() -> Result<(), tailspn::Error> {
    let mut b = NetBuilder::new("M/M/1/5");
    let queue = b.place("queue", 0);
    b.place_mut(queue).capacity = Some(ROOM);
    let arrive = b.transition("arrive", Timing::exponential(2.0));
    let serve = b.transition("serve", Timing::exponential(3.0));
    b.output(arrive, queue, 1.0);
    b.input(queue, serve, 1.0);
    let net = b.build()?;
    let steady = net.solution().steady_state()?;

    // p_n = ρ^n (1 - ρ) / (1 - ρ^6)
    let rho = 2.0 / 3.0_f64;
    let exact: Vec<f64> = (0..=ROOM).map(|n| rho.powi(n as i32) * (1.0 - rho) / (1.0 - rho.powi(6))).collect();
    for (n, (found, exact)) in steady.distribution(queue)?.iter().zip(&exact).enumerate() {
        println!("P(queue = {n}) = {found:.6}");
        assert!((found - exact).abs() < 1e-14);
    }
    println!("mean queue     = {:.6} tokens", steady.tokens(queue)?);
    println!("served         = {:.6} /s", steady.throughput(serve)?);
    println!("full           = {:.6} of the time, in {} states", steady.mean_of("#(queue) >= 5")?, steady.states());
    let served = 3.0 * (1.0 - exact[0]);
    assert!((steady.throughput("serve")? - served).abs() < 1e-14);
    assert!((steady.mean_of("#(queue) >= 5")? - exact[5]).abs() < 1e-14);
    Ok(())
}
