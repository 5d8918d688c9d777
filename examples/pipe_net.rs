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

use tailspn::compile::compile;
use tailspn::formats::pipe::ReadOptions;
use tailspn::formats::read_file;
use tailspn::report::{Look, Report as _, Subject, simulation_report};
use tailspn::sim::{Ensemble, Question, Unwatched, run};

const EXACT_MEAN_S: f64 = 157.0 / 36.0;

fn main() -> Result<(), Box<dyn Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/textbook/forkjoin_retry.xml");
    let read = read_file(&path, &ReadOptions::default())?;
    for warning in &read.warnings {
        eprintln!("{warning}");
    }
    let program = compile(&read.net)?;

    // the default question: how long until nothing can fire any more?
    let question = Question::default();
    let ensemble = Ensemble { replications: 100_000, seed: 1, ..Ensemble::default() };
    let found = run(&program, &question, &ensemble, &Unwatched)?;

    let subject = Subject {
        net: read.net.name(),
        places: &program.place_names,
        transitions: &program.transition_names,
        goal: "the end",
        ..Subject::default()
    };
    let report = simulation_report(&found, &question, &subject, 0.95);
    print!("{}", report.text(&Look::default()));

    let mean = found.samples.passage.mean_estimate(0.95)?.scaled(found.samples.clock.tick());
    println!("exact mean: {EXACT_MEAN_S:.4} s");
    assert!((mean.value - EXACT_MEAN_S).abs() < 2.5 * mean.half_width, "{mean:?}");
    assert!(mean.relative_half_width() < 0.01);
    Ok(())
}
