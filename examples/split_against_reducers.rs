//! Finds the best combination of split size and number of reduces.
//!
//! ```text
//!             reduces ──▶
//! split size  ░ ▒ ▓ █ ...    mean job time, dark is slow
//!     │
//!     ▼
//! ```
//!
//! Simulates a grid of both on the same random numbers and prints it as a heat map. Each mean is checked against the exact one.

use std::error::Error;
use std::path::Path;

use tailspn::mapreduce::{JobTime, Plan, phase_times};
use tailspn::sim::Unwatched;
use tailspn::sweep::{Sweep, SweepPlan};

const GRID: &str = r#"
[sweep]
base = "all-at-once.toml"
seed = 1
[[axis]]
key = "job.split_mb"
values = [32.0, 48.0, 64.0, 96.0, 128.0, 192.0]
[[axis]]
key = "job.reduces"
values = [10, 20, 40, 80, 160]
"#;

/// The default job with all tasks at once, as in the paper.
fn all_at_once() -> Plan {
    let mut plan = Plan::default();
    plan.model.slots = false;
    plan
}

/// The exact mean time of the default job with this split size and number of reduces [s].
fn exact_mean(split_mb: f64, reduces: i64) -> Result<f64, Box<dyn Error>> {
    let mut plan = all_at_once();
    (plan.job.split_mb, plan.job.reduces) = (split_mb, u64::try_from(reduces)?);
    Ok(JobTime::of_plan(&plan, &phase_times(&plan, &mut || 0.5)?)?.mean().get())
}

fn main() -> Result<(), Box<dyn Error>> {
    let sweep =
        Sweep::new(SweepPlan::from_toml(GRID)?, Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/models/mapreduce")))?;
    let outcome = sweep.run(&Unwatched)?;
    let axes = &sweep.plan.axis;
    // the first result belongs to the base
    let results: Vec<_> = outcome.stored.results.into_values().skip(1).collect();

    let means: Vec<f64> = results.iter().filter_map(|result| Some(result.mean_s.as_ref()?.value)).collect();
    let (least, most) = means.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), &m| (low.min(m), high.max(m)));
    let reduces = axes[1].levels();
    println!("mean job time [s]; reduces:{}", reduces.iter().map(|r| format!("{r:>8}")).collect::<String>());
    for (split, row) in axes[0].levels().iter().zip(means.chunks(reduces.len())) {
        let shade = |&mean: &f64| {
            let depth = ((mean / least).ln() / (most / least).ln() * 4.0).round() as usize;
            format!("  {}{mean:5.1}", [' ', '░', '▒', '▓', '█'][depth.min(4)])
        };
        println!("  split {split:>5} MB             {}", row.iter().map(shade).collect::<String>());
    }
    let (splits, counts) = (axes[0].levels(), &reduces);
    let grid = splits.iter().flat_map(|split| counts.iter().map(move |reduces| (split, reduces)));
    for ((split, reduces), result) in grid.zip(&results) {
        let split_mb = split.as_float().ok_or("no number")?;
        let exact = exact_mean(split_mb, reduces.as_integer().ok_or("no number")?)?;
        let mean = result.mean_s.as_ref().ok_or("no mean")?;
        let half = mean.half_width().ok_or("too few replications")?;
        // 2.5 half widths are 5 standard errors
        assert!((mean.value - exact).abs() < 2.5 * half, "{split} {reduces}: {mean:?}, exactly {exact}");
    }
    Ok(())
}
