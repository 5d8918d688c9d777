//! Finds the number of reduce tasks with which 95% of the runs of a job meet a deadline.
//!
//! ```text
//! reduces   8 ── 12 ── 16 ── 20 ── 24 ── 28 ── 32 ── 36 ── 40
//! p95       ◀─── above the deadline ───┼─── below it ────▶
//!                                      ▲ this one, shown with confidence
//! ```
//!
//! The search is a bisection. It takes a step only when a whole interval, not just an estimate, lies on one side of the deadline.
//! The answer is checked against the exact distribution of the job time.

use std::error::Error;
use std::path::Path;

use tailspn::estimate::Measured;
use tailspn::mapreduce::{JobTime, Plan, phase_times};
use tailspn::optimize::{Optimization, OptimizePlan};
use tailspn::sim::Unwatched;
use tailspn::units::Probability;

const PLAN: &str = r#"
[sweep]
base = "all-at-once.toml"
[optimize]
measure = "p95"
deadline_s = 120
confidence = 0.99
indifference = 0
max_replications = 100000
cost = "reduces"
[[axis]]
key = "job.reduces"
name = "reduces"
from = 8
to = 80
faster = "up"
"#;

/// The default job with all tasks at once, as in the paper.
fn all_at_once() -> Plan {
    let mut plan = Plan::default();
    plan.model.slots = false;
    plan
}

/// The exact 95% quantile of the default job with this number of reduces [s].
fn exact_p95(reduces: f64) -> Result<f64, Box<dyn Error>> {
    let mut plan = all_at_once();
    plan.job.reduces = reduces as u64;
    let law = JobTime::of_plan(&plan, &phase_times(&plan, &mut || 0.5)?)?;
    Ok(law.quantile(Probability::new(0.95).ok_or("no probability")?)?.get())
}

fn main() -> Result<(), Box<dyn Error>> {
    let search = Optimization::new(
        OptimizePlan::from_toml(PLAN)?,
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/models/mapreduce")),
    )?;
    let outcome = search.run(&Unwatched)?;
    for look in &outcome.found.looks {
        let (judged, reduces) = (&look.judgement, outcome.candidates[look.candidate].cost);
        let [low, high] = judged.time_s.as_ref().and_then(Measured::ends).unwrap_or([0.0, f64::INFINITY]);
        println!(
            "{reduces:3} reduces: {:9}  {low:6.1} to {high:6.1} s, exactly {:6.1} s, {:6} replications",
            format!("{:?}", judged.verdict),
            exact_p95(reduces)?,
            judged.replications
        );
    }
    let chosen = outcome.chosen().ok_or("nothing was found")?.cost;
    println!("answer: {chosen} reduces");
    // the chosen number meets the deadline; a cheaper one outside the indifference zone does not
    let deadline_s = search.plan.optimize.deadline_s.ok_or("no deadline")?;
    assert!(exact_p95(chosen)? <= deadline_s);
    assert!(exact_p95(chosen - 2.0)? > deadline_s);
    Ok(())
}
