//! How long is a queue in the long run, and how often is it full?
//!
//! ```text
//! arrive (2/s) ─▶ queue (at most 5) ─▶ serve (3/s)
//! ```
//!
//! All markings are found, and the balance of their Markov chain is solved: no replications, no interval.

use std::error::Error;

use tailspn::compile::compile;
use tailspn::net::{NetBuilder, Timing};
use tailspn::solve::{Limits, LinearSettings, explore, steady_state};
use tailspn::watch::Unwatched;

const ROOM: u32 = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let mut b = NetBuilder::new("M/M/1/5");
    let queue = b.place("queue", 0);
    b.place_mut(queue).capacity = Some(ROOM);
    let arrive = b.transition("arrive", Timing::exponential(2.0));
    let serve = b.transition("serve", Timing::exponential(3.0));
    b.output(arrive, queue, 1.0);
    b.input(queue, serve, 1.0);
    let net = b.build()?;
    let program = compile(&net)?;

    let space = explore(&program, None, &Limits::default(), &Unwatched)?;
    let steady = steady_state(space.complete()?, &LinearSettings::default())?;
    let averages = space.averages(&program, &steady.probabilities)?;

    // p_n = ρ^n (1 - ρ) / (1 - ρ^6)
    let rho = 2.0 / 3.0_f64;
    let exact: Vec<f64> = (0..=ROOM).map(|n| rho.powi(n as i32) * (1.0 - rho) / (1.0 - rho.powi(6))).collect();
    for (n, (found, exact)) in averages.distributions[0].iter().zip(&exact).enumerate() {
        println!("P(queue = {n}) = {found:.6}");
        assert!((found - exact).abs() < 1e-14);
    }
    println!("mean queue     = {:.6} tokens", averages.tokens[0]);
    println!("served         = {:.6} /s", averages.throughputs[1]);
    println!("{} states, share of the flow that does not balance: {:.0e}", space.states(), steady.residual);
    let served = 3.0 * (1.0 - exact[0]);
    assert!((averages.throughputs[1] - served).abs() < 1e-14);
    Ok(())
}
