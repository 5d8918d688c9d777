//! Computes the time until a buffer overflows for the first time: its mean, and the time by which one run in a hundred overflows.
//!
//! ```text
//! arrive (2/s) ─▶ queue (overflows at 10) ─▶ serve (3/s)
//! ```
//!
//! The mean alone would mislead: one run in a hundred overflows more than twenty times earlier than that.

use tailspn::prelude::*;

const ROOM: u32 = 10;

fn main() -> Result<(), tailspn::Error> {
    let mut b = NetBuilder::new("buffer");
    let queue = b.place("queue", 0);
    let arrive = b.transition("arrive", Timing::exponential(2.0));
    let serve = b.transition("serve", Timing::exponential(3.0));
    b.output(arrive, queue, 1.0);
    b.input(queue, serve, 1.0);
    let net = b.build()?;
    // the goal ends a run, so the number of states is finite although the net is unbounded
    let mut time = net.solution().until("#(queue) >= 10")?.passage()?;
    let mean = time.mean()?.value;
    println!("mean time to the overflow  {mean:10.2} s, standard deviation {:.2} s", time.standard_deviation()?);
    for p in [0.01, 0.5, 0.99] {
        println!("{:4.0}% have overflown by      {:10.2} s", 100.0 * p, time.quantile(p)?);
    }
    println!("P(overflow within a minute) {:9.4}%", 100.0 * time.cdf(60.0)?.value);

    // from n to n + 1 it takes h(n) = 1/λ + μ/λ h(n - 1)
    let steps = std::iter::successors(Some(0.5), |before: &f64| Some(0.5 + 1.5 * before));
    let exact: f64 = steps.take(ROOM as usize).sum();
    assert!((mean / exact - 1.0).abs() < 1e-12, "{mean} {exact}");
    assert!(mean > 20.0 * time.quantile(0.01)?.value);
    let median = time.quantile(0.5)?.value;
    assert!((time.cdf(median)?.value - 0.5).abs() < 1e-10);
    Ok(())
}
