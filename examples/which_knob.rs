//! Which setting of a job buys most?
//!
//! ```text
//! base ──┬─▶ GPUs twice as fast ────▶ ─ 12 s
//!        ├─▶ network twice as fast ─▶ ─ 1 s
//!        └─▶ ...
//! ```
//!
//! One setting at a time is changed against the base, on the same random numbers, so that a difference of two means is known far better
//! than the means. Each difference is checked against the exact one.

use std::convert::Infallible;
use std::error::Error;

use tailspn::compile::compile;
use tailspn::mapreduce::{JobTime, Plan, job_net, phase_times};
use tailspn::sim::Unwatched;
use tailspn::sweep::{Batch, Model, Point, SweepPlan, path, points, run_base, run_points, tornado};

const KNOBS: &str = r#"
[sweep]
design = "each"
[[axis]]
key = "cluster.node[*].gpu_speed"
values = [2.0]
[[axis]]
key = "cluster.node[*].disk_read_mb_per_s"
values = [220.0]
[[axis]]
key = "cluster.node[*].network_mb_per_s"
values = [224.0]
[[axis]]
key = "job.reduces"
values = [80]
"#;

/// The default job with what a point changes.
fn job_at(sweep: &SweepPlan, point: &Point) -> Result<Plan, Box<dyn Error>> {
    let mut table: toml::Table = toml::from_str(Plan::example_toml())?;
    for (axis, value) in sweep.axis.iter().zip(&point.values) {
        value.as_ref().map_or(Ok(()), |value| path::set(&mut table, &axis.key, value))?;
    }
    Ok(Plan::from_toml(&table.to_string())?)
}

fn model(sweep: &SweepPlan, point: &Point) -> Result<Model, Box<dyn Error>> {
    let plan = job_at(sweep, point)?;
    let net = job_net(&plan, &phase_times(&plan, &mut || 0.5)?)?.net;
    let program = compile(&net)?;
    Ok(Model::new(program))
}

fn exact_mean(sweep: &SweepPlan, point: &Point) -> Result<f64, Box<dyn Error>> {
    let plan = job_at(sweep, point)?;
    Ok(JobTime::of_plan(&plan, &phase_times(&plan, &mut || 0.5)?)?.mean().get())
}

fn main() -> Result<(), Box<dyn Error>> {
    let sweep = SweepPlan::from_toml(KNOBS)?;
    let all = points(&sweep);
    let batch = Batch { replications: 20_000, seed: 1, ..Batch::default() };
    let make = |point: &Point| model(&sweep, point).map_err(|error| error.to_string());
    let base = run_base::<Infallible>(&all[0], &make, &batch, &Unwatched)?.ok_or("stopped")?;
    let mut results = Vec::new();
    let mut keep = |result| {
        results.push(result);
        Ok::<(), Infallible>(())
    };
    run_points(&all[1..], &base, &make, &batch, &Unwatched, &mut keep)?;

    let before = exact_mean(&sweep, &all[0])?;
    for knob in tornado(&sweep, &results) {
        let (key, found) = (&sweep.axis[knob.axis].key, knob.best.difference_s);
        let half = found.half_width().ok_or("too few replications")?;
        let exact = exact_mean(&sweep, &all[1 + knob.axis])? - before;
        println!("{key:36} = {:5}  {:+.2} ± {half:.2} s, exactly {exact:+.2} s", knob.best.value, found.value);
        // 2.5 half widths are 5 standard errors
        assert!((found.value - exact).abs() < 2.5 * half, "{key}: {found:?}, exactly {exact}");
    }
    Ok(())
}
