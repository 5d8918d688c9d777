//! How long until a buffer overflows for the first time, and by when has it done so in one of a hundred cases?
//!
//! ```text
//! arrive (2/s) ─▶ queue (overflows at 10) ─▶ serve (3/s)
//! ```
//!
//! The mean alone would mislead: one run in a hundred overflows more than twenty times earlier than that.

use std::error::Error;

use tailspn::compile::{compile, lower};
use tailspn::net::{NetBuilder, Timing};
use tailspn::solve::{Limits, PassageSettings, explore, passage};
use tailspn::watch::Unwatched;

const ROOM: u32 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let mut b = NetBuilder::new("buffer");
    let queue = b.place("queue", 0);
    let arrive = b.transition("arrive", Timing::exponential(2.0));
    let serve = b.transition("serve", Timing::exponential(3.0));
    b.output(arrive, queue, 1.0);
    b.input(queue, serve, 1.0);
    let net = b.build()?;
    let program = compile(&net)?;

    // the goal ends the play, so that the states are finitely many although the net is unbounded
    let goal = lower(&net, &net.expression(&format!("#(queue) >= {ROOM}"))?);
    let space = explore(&program, Some(&goal), &Limits::default(), &Unwatched)?;
    let is_goal: Vec<bool> = (0..space.states() as u32).map(|state| space.goals().contains(&state)).collect();
    let mut time = passage(space.complete()?, &is_goal, &PassageSettings::default())?;

    let moments = time.moments()?;
    println!("mean time to the overflow  {:10.2} s, standard deviation {:.2} s", moments.mean, moments.variance.sqrt());
    for p in [0.01, 0.5, 0.99] {
        println!("{:4.0} % have overflown by     {:10.2} s", 100.0 * p, time.quantile(p)?);
    }
    println!("P(overflow within a minute) {:9.4} %", 100.0 * time.cdf(60.0)?);

    // from n to n + 1 it takes h(n) = 1/λ + μ/λ h(n - 1)
    let steps = std::iter::successors(Some(0.5), |before: &f64| Some(0.5 + 1.5 * before));
    let exact: f64 = steps.take(ROOM as usize).sum();
    assert!((moments.mean / exact - 1.0).abs() < 1e-12, "{} {exact}", moments.mean);
    assert!(moments.mean > 20.0 * time.quantile(0.01)?);
    let again = time.quantile(0.5)?;
    assert!((time.cdf(again)? - 0.5).abs() < 1e-10);
    Ok(())
}
