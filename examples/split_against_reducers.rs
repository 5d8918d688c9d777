//! Which split size goes with how many reduces?
//!
//! ```text
//!             reduces ──▶
//! split size  ░ ▒ ▓ █ ...    mean job time, dark is slow
//!     │
//!     ▼
//! ```
//!
//! A grid of both, each point simulated on the same random numbers, as a heat map of text. Each mean is checked against the exact one.

use std::convert::Infallible;
use std::error::Error;

use tailspn::compile::compile;
use tailspn::mapreduce::{JobTime, Plan, job_net, phase_times};
use tailspn::sim::Unwatched;
use tailspn::sweep::{Batch, Model, Point, SweepPlan, path, points, run_base, run_points};

const GRID: &str = r#"
[[axis]]
key = "job.split_mb"
values = [32.0, 48.0, 64.0, 96.0, 128.0, 192.0]
[[axis]]
key = "job.reduces"
values = [10, 20, 40, 80, 160]
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

fn main() -> Result<(), Box<dyn Error>> {
    let sweep = SweepPlan::from_toml(GRID)?;
    let all = points(&sweep);
    let batch = Batch { replications: 2_000, seed: 1, ..Batch::default() };
    let make = |point: &Point| model(&sweep, point).map_err(|error| error.to_string());
    let base = run_base::<Infallible>(&all[0], &make, &batch, &Unwatched)?.ok_or("stopped")?;
    let mut results = Vec::new();
    let mut keep = |result| {
        results.push(result);
        Ok::<(), Infallible>(())
    };
    run_points(&all[1..], &base, &make, &batch, &Unwatched, &mut keep)?;
    results.sort_by_key(|result| result.point);

    let means: Vec<f64> = results.iter().filter_map(|result| Some(result.mean_s?.value)).collect();
    let (least, most) = means.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), &m| (low.min(m), high.max(m)));
    let reduces = sweep.axis[1].levels();
    println!("mean job time [s]; reduces:{}", reduces.iter().map(|r| format!("{r:>8}")).collect::<String>());
    for (split, row) in sweep.axis[0].levels().iter().zip(means.chunks(reduces.len())) {
        let shade = |&mean: &f64| {
            let depth = ((mean / least).ln() / (most / least).ln() * 4.0).round() as usize;
            format!("  {}{mean:5.1}", [' ', '░', '▒', '▓', '█'][depth.min(4)])
        };
        println!("  split {split:>5} MB             {}", row.iter().map(shade).collect::<String>());
    }
    for result in &results {
        let point = &all[usize::try_from(result.point)?];
        let plan = job_at(&sweep, point)?;
        let exact = JobTime::of_plan(&plan, &phase_times(&plan, &mut || 0.5)?)?.mean().get();
        let mean = result.mean_s.ok_or("no mean")?;
        let half = mean.half_width().ok_or("too few replications")?;
        // 2.5 half widths are 5 standard errors
        assert!((mean.value - exact).abs() < 2.5 * half, "{:?}: {mean:?}, exactly {exact}", point.values);
    }
    Ok(())
}
