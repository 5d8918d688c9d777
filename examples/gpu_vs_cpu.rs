//! Checks that a GPU gives the same numbers as the CPU.
//!
//! ```text
//! start ─load─▶ M × (read, to GPU, GPU, to host, spill) ─shuffle─▶ R × (merge, reduce)
//! ```
//!
//! Draws, clocks and results are integers on both, so every passage time is equal bit for bit. The example takes the best
//! adapter, or the one with `$TAILSPN_ADAPTER` in its name; without an adapter it reports that there is nothing to compare.

use std::error::Error;

use tailspn::mapreduce::{Plan, job_net, phase_times};
use tailspn::prelude::*;

#[cfg(feature = "gpu")]
fn adapter() -> Option<String> {
    let best = || tailspn::sim::gpu::adapters().first().map(|facts| facts.name.clone());
    std::env::var("TAILSPN_ADAPTER").ok().or_else(best)
}

#[cfg(not(feature = "gpu"))]
fn adapter() -> Option<String> {
    None
}

fn main() -> Result<(), Box<dyn Error>> {
    let Some(adapter) = adapter() else {
        println!("there is no graphics adapter, so there is nothing to compare with");
        return Ok(());
    };
    let mut plan = Plan::default();
    plan.model.slots = false;
    let job = job_net(&plan, &phase_times(&plan, &mut || 0.5)?)?;
    let mut found = Vec::new();
    for (backend, adapter) in [(Backend::Cpu, None), (Backend::Gpu, Some(adapter))] {
        let simulation = job.net.simulation().replications(50_000).seed(1).keep_times().backend(backend);
        // a software adapter is used only if its name is given
        let run = match adapter {
            Some(adapter) => simulation.adapter(adapter).run()?,
            None => simulation.run()?,
        };
        let from = run.provenance();
        let device = from.placement.device.as_ref().map_or("the CPU", |device| device.adapter.as_str());
        println!("{} s on {device}, in {:.2} s", run.passage().mean(), from.wall.as_secs_f64());
        found.push(run.samples().clone());
    }

    assert_eq!(found[0].passage_times.len(), 50_000);
    assert_eq!(found[0], found[1], "every time, every moment and every bar of the histogram is the same");
    println!("all {} job times are equal, bit for bit", found[0].replications);
    Ok(())
}
