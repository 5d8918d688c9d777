//! Shows where the time of a job goes, and which phase is worth making faster.
//!
//! ```text
//! start ─load─▶ M × (read, to GPU, GPU, to host, spill) ─shuffle─▶ R × (merge, reduce)
//! ```
//!
//! Only the last map and the last reduce hold the job up. The phases on that chain make up the job time. The share of a phase
//! is the percentage by which the job gets faster when the phase gets one percent faster.

use std::error::Error;

use tailspn::compile::{compile, plan_schedule};
use tailspn::mapreduce::{JobTime, Plan, job_net, phase_times};
use tailspn::sim::{Clock, CriticalPath, Group};

/// The default job with all tasks at once, as in the paper.
fn all_at_once() -> Plan {
    let mut plan = Plan::default();
    plan.model.slots = false;
    plan
}

fn main() -> Result<(), Box<dyn Error>> {
    let plan = all_at_once();
    let phases = phase_times(&plan, &mut || 0.5)?;
    let job = job_net(&plan, &phases)?;
    let program = compile(&job.net)?;
    let schedule = plan_schedule(&program).map_err(|obstacles| format!("{obstacles:?}"))?;
    let number = |id: &tailspn::net::TransitionId| u32::try_from(id.index());
    let groups: Vec<Group> = job
        .phases
        .iter()
        .map(|(phase, of_phase)| {
            let transitions = of_phase.iter().map(number).collect::<Result<_, _>>()?;
            Ok(Group { name: phase.name().to_owned(), transitions })
        })
        .collect::<Result<_, Box<dyn Error>>>()?;

    let clock = Clock::choose(&program, None);
    let path = CriticalPath::trace(&program, &schedule, &groups, clock, 1, 0, 10_000).map_err(|why| why.join("; "))?;

    let exact = JobTime::of_plan(&plan, &phases)?.mean().get();
    println!("  {:<16}  {:>17}  {:>6}", "phase", "critical time [s]", "share");
    let (mut sum, mut half_widths) = (0.0, 0.0);
    for (group, share) in groups.iter().zip(&path.groups) {
        let time = share.time.mean_estimate(0.95)?;
        let share = 100.0 * time.value / exact;
        println!("  {:<16}  {:>10.2} ± {:.2}  {share:>5.1}%", group.name, time.value, time.half_width);
        sum += time.value;
        half_widths += time.half_width;
    }
    println!("sum {sum:.2} s, exact mean of the job time {exact:.2} s");

    // the chain makes up the job time
    assert!((sum - exact).abs() < half_widths, "{sum} against {exact}");
    let reduce = path.groups.last().and_then(|share| share.time.mean()).unwrap_or(0.0);
    assert!(reduce > 0.3 * exact, "the reduce function is worth a look");
    Ok(())
}
