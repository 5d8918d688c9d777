//! Computes the cost per hour of a repair shop: machines that stand still, and a fee for each repair.
//!
//! ```text
//! works (3 machines) ─fail (each 1 in 10 h)─▶ broken ─repair (one at a time, 1 in 2 h)─▶ works
//! ```
//!
//! A reward per time is an expression over the marking; a reward per firing counts each repair.

use tailspn::prelude::*;

/// Cost per hour of a machine that stands still.
const LOSS: f64 = 80.0;
/// Fee for a repair.
const FEE: f64 = 50.0;

fn main() -> Result<(), tailspn::Error> {
    // times in hours
    let mut b = NetBuilder::new("shop");
    let (works, broken) = (b.place("works", 3), b.place("broken", 0));
    let delay = Delay::Exponential { rate: 0.1.into() };
    let fail = b.transition("fail", Timing::Timed { delay, servers: Servers::Infinite, memory: Memory::Enabling });
    let repair = b.transition("repair", Timing::exponential(0.5));
    b.input(works, fail, 1.0);
    b.output(fail, broken, 1.0);
    b.input(broken, repair, 1.0);
    b.output(repair, works, 1.0);
    let net = b.build()?;
    let steady = net.solution().steady_state()?;
    let standing = steady.mean_of(&format!("{LOSS} * #(broken)"))?;
    let fees = FEE * steady.throughput(repair)?;
    println!("standing still  {standing:7.3} per hour");
    println!("repairs         {fees:7.3} per hour");
    println!("together        {:7.3} per hour", standing + fees);

    // the machine-repair formula: p_n ~ 3!/(3-n)! (λ/μ)^n
    let weights = [1.0, 3.0 * 0.2, 6.0 * 0.04, 6.0 * 0.008];
    let sum: f64 = weights.iter().sum();
    let mean: f64 = weights.iter().zip(0..).map(|(weight, n)| f64::from(n) * weight / sum).sum();
    assert!((standing - LOSS * mean).abs() < 1e-10, "{standing}");
    assert!((fees - FEE * 0.5 * (1.0 - weights[0] / sum)).abs() < 1e-10, "{fees}");
    Ok(())
}
