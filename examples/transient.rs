//! Computes the probability that a machine, new at time 0, works at a given time, and the share of that time in which it worked.
//!
//! ```text
//! works ─fail (1 in 10 h)─▶ broken ─repair (1 in 2 h)─▶ works
//! ```

use std::error::Error;

use tailspn::compile::compile;
use tailspn::net::{NetBuilder, Timing};
use tailspn::solve::{Limits, TransientSettings, explore, transient};
use tailspn::watch::Unwatched;

const HOUR: f64 = 3600.0;

fn main() -> Result<(), Box<dyn Error>> {
    let (fail_rate, repair_rate) = (0.1 / HOUR, 0.5 / HOUR);
    let mut b = NetBuilder::new("machine");
    let (works, broken) = (b.place("works", 1), b.place("broken", 0));
    let fail = b.transition("fail", Timing::exponential(fail_rate));
    let repair = b.transition("repair", Timing::exponential(repair_rate));
    b.input(works, fail, 1.0);
    b.output(fail, broken, 1.0);
    b.input(broken, repair, 1.0);
    b.output(repair, works, 1.0);
    let net = b.build()?;
    let program = compile(&net)?;

    let space = explore(&program, None, &Limits::default(), &Unwatched)?;
    let times = [0.0, 1.0, 2.0, 5.0, 24.0].map(|hours| hours * HOUR);
    let found = transient(space.complete()?, &times, &TransientSettings::default())?;
    let up = space.find(&program.initial).ok_or("the start is a state")? as usize;

    println!("time [h]  works then  worked until then");
    for (i, &time) in times.iter().enumerate() {
        let now = found.probabilities[i][up];
        let share = if time > 0.0 { found.stays[i][up] / time } else { 1.0 };
        println!("{:8} {:10.4} % {:16.4} %", time / HOUR, 100.0 * now, 100.0 * share);
        // μ/(λ+μ) + λ/(λ+μ) e^{-(λ+μ)t}
        let sum = fail_rate + repair_rate;
        let exact = repair_rate / sum + fail_rate / sum * (-sum * time).exp();
        assert!((now - exact).abs() < 1e-12, "{now} {exact}");
    }
    println!("error below {:.0e}, after {} jumps of the uniformised chain", found.error, found.jumps);
    Ok(())
}
