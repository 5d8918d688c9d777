//! Computes the completion time of a net drawn in PIPE.
//!
//! ```text
//!            ┌─▶ a1 ─run_a─▶ ac ─a_ok 90%─▶ a2 ─┐
//! start ─fork┤     ▲─────a_fails 10%─┘          ├join─▶ done
//!            └─▶ b1 ─run_b─▶ bc ─b_ok 75%─▶ b2 ─┘
//!                  ▲─────b_fails 25%─┘
//! ```
//!
//! Two tasks that may fail and start over; the time until both are joined has the exact mean 157/36 s.

use std::error::Error;
use std::path::Path;

use tailspn::formats::pipe::ReadOptions;
use tailspn::formats::read_file;
use tailspn::prelude::*;

const EXACT_MEAN_S: f64 = 157.0 / 36.0;

fn main() -> Result<(), Box<dyn Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/textbook/forkjoin_retry.xml");
    let read = read_file(&path, &ReadOptions::default())?;
    for warning in &read.warnings {
        eprintln!("{warning}");
    }
    // without a goal: how long until nothing can fire any more?
    let found = read.net.simulation().replications(100_000).seed(1).run()?;
    print!("{}", found.report().document().text());

    let mean = found.passage().mean();
    let half = mean.half_width().ok_or("no interval")?;
    println!("exact mean: {EXACT_MEAN_S:.4} s");
    assert!((mean.value - EXACT_MEAN_S).abs() < 2.5 * half, "{mean}");
    assert!(half < 0.01 * mean.value);
    Ok(())
}
