//! Does a graphics card give the same numbers as the processor?
//!
//! ```text
//! start ─load─▶ M × (read, to GPU, GPU, to host, spill) ─shuffle─▶ R × (merge, reduce)
//! ```
//!
//! Draws, clocks and results are integers on both, so every passage time is equal to the last bit. Takes the best adapter
//! that there is, or the one with `$TAILSPN_ADAPTER` in its name; without any there is nothing to compare, and it says so.

use std::error::Error;

use tailspn::compile::compile;
use tailspn::mapreduce::{Plan, job_net, phase_times};
use tailspn::sim::{Backend, Ensemble, Question, Unwatched, run};

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
    let plan = Plan::default();
    let job = job_net(&plan, &phase_times(&plan, &mut || 0.5)?)?;
    let program = compile(&job.net)?;
    let question = Question::default();

    let on_cpu = Ensemble { replications: 50_000, seed: 1, keep: true, backend: Backend::Cpu, ..Ensemble::default() };
    // a software adapter is taken only by its name
    let on_gpu = Ensemble { backend: Backend::Gpu, adapter: Some(adapter), ..on_cpu.clone() };
    let mut found = Vec::new();
    for ensemble in [on_cpu, on_gpu] {
        let run = run(&program, &question, &ensemble, &Unwatched)?;
        let (samples, from) = (&run.samples, &run.provenance);
        let mean = samples.passage.mean_estimate(0.95)?.scaled(samples.clock.tick());
        let device = from.placement.device.as_ref().map_or("the processor", |device| device.adapter.as_str());
        println!("{:.3} ± {:.3} s on {device}, in {:.2} s", mean.value, mean.half_width, from.wall.as_secs_f64());
        found.push(run.samples);
    }

    assert_eq!(found[0].passage_times.len(), 50_000);
    assert_eq!(found[0], found[1], "every time, every moment and every bar of the histogram is the same");
    println!("all {} job times are equal, bit for bit", found[0].replications);
    Ok(())
}
