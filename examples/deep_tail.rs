//! Estimates extreme quantiles of the job time: how long the slowest jobs take.
//!
//! ```text
//! start ─load─▶ M × (read, to GPU, GPU, to host, spill) ─shuffle─▶ R × (merge, reduce)
//! ```
//!
//! One job in a thousand takes longer than the 99.9% quantile. A million replications have a thousand such jobs, enough
//! for an interval of a few tenths of a percent. The exact value is printed next to it.

use std::error::Error;

use tailspn::compile::compile;
use tailspn::mapreduce::{JobTime, Plan, job_net, phase_times};
use tailspn::report::{Subject, simulation_report};
use tailspn::sim::{Ensemble, Question, Unwatched, run};
use tailspn::units::Probability;

/// The default job with all tasks at once, as in the paper.
fn all_at_once() -> Plan {
    let mut plan = Plan::default();
    plan.model.slots = false;
    plan
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut plan = all_at_once();
    plan.job.input_mb = 1_920.0;
    let phases = phase_times(&plan, &mut || 0.5)?;
    let job = job_net(&plan, &phases)?;
    let program = compile(&job.net)?;
    let law = JobTime::of_plan(&plan, &phases)?;

    let question = Question::default();
    let ensemble = Ensemble { replications: 1_000_000, seed: 1, ..Ensemble::default() };
    let found = run(&program, &question, &ensemble, &Unwatched)?;
    let report = simulation_report(&found, &question, &Subject::default(), 0.95);
    let time = report.passage_time.ok_or("no replication has ended")?;

    println!("  {:>6}  {:>12}  {:>7}  {:>7}  {:>9}", "", "job time [s]", "from", "to", "exact [s]");
    for row in &time.quantiles {
        let Some([low, high]) = row.quantity.ends() else { return Err("too few".into()) };
        let exact = law.quantile(Probability::new(row.p).ok_or("a share")?)?.get();
        let share = format!("{}%", row.p * 100.0);
        println!("  {share:>6}  {:>12.2}  {low:>7.2}  {high:>7.2}  {exact:>9.2}", row.quantity.value);
        // 2.5 half widths are 5 standard errors
        assert!((row.quantity.value - exact).abs() < 1.25 * (high - low), "{}: {low} to {high}, exact {exact}", row.p);
        assert!(high - low < 0.01 * exact);
    }
    let place = &found.provenance.placement;
    println!(
        "{} jobs of {} tasks, on the {}: {}",
        found.samples.replications,
        plan.maps() + plan.reduces(),
        place.backend.name(),
        place.reason
    );
    Ok(())
}
