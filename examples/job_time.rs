//! Shows how the time of a job grows with its input.
//!
//! ```text
//!             ┌─▶ map 1: read, to GPU, GPU, to host, spill ─┐           ┌─▶ reduce 1: merge, reduce
//! start ─load─┤   ...                                       ├─shuffle───┤   ...
//!             └─▶ map M                                     ┘           └─▶ reduce R
//! ```
//!
//! More input means more map tasks. They run side by side, so the job time grows like the mean of a maximum: slowly. The
//! simulated mean is checked against the exact one.

use std::error::Error;

use tailspn::mapreduce::{JobTime, Plan, job_net, phase_times};

/// The default job with all tasks at once, as in the paper.
fn all_at_once() -> Plan {
    let mut plan = Plan::default();
    plan.model.slots = false;
    plan
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("  {:>10}  {:>4}  {:>14}  {:>9}", "input [MB]", "maps", "mean [s]", "exact [s]");
    let mut last = 0.0;
    for input_mb in [2_560.0, 10_240.0, 40_960.0] {
        let mut plan = all_at_once();
        plan.job.input_mb = input_mb;
        let phases = phase_times(&plan, &mut || 0.5)?;
        let net = job_net(&plan, &phases)?.net;
        let run = net.simulation().replications(20_000).seed(1).run()?;
        let mean = run.passage().mean();
        let half_width = mean.half_width().ok_or("no interval")?;
        let exact = JobTime::of_plan(&plan, &phases)?.mean().get();
        println!("  {input_mb:>10}  {:>4}  {:>7.2} ± {half_width:.2}  {exact:>9.2}", plan.maps(), mean.value);

        // 2.5 half widths are 5 standard errors
        assert!((mean.value - exact).abs() < 2.5 * half_width, "{input_mb} MB: {mean:?}, exact {exact}");
        assert!(half_width < 0.01 * mean.value);
        assert!(exact > last, "more input takes longer");
        last = exact;
    }
    Ok(())
}
