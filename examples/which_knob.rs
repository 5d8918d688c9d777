//! Ranks the settings of a job by their effect on its time.
//!
//! ```text
//! base ──┬─▶ GPUs twice as fast ────▶ ─ 12 s
//!        ├─▶ network twice as fast ─▶ ─ 1 s
//!        └─▶ ...
//! ```
//!
//! Changes one setting at a time against the base, on the same random numbers, so that the difference of two means is far more precise
//! than the means. Each difference is checked against the exact one.

use std::error::Error;
use std::path::Path;

use tailspn::mapreduce::{JobTime, Plan, phase_times};
use tailspn::sim::Unwatched;
use tailspn::sweep::{Sweep, SweepPlan, path, tornado};

const KNOBS: &str = r#"
[sweep]
base = "all-at-once.toml"
design = "each"
replications = 20000
seed = 1
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

/// The exact mean time of the default job with another value of a key [s].
fn exact_mean(change: Option<(&str, &toml::Value)>) -> Result<f64, Box<dyn Error>> {
    let mut table: toml::Table = toml::from_str(Plan::example_toml())?;
    change.map_or(Ok(()), |(key, value)| path::set(&mut table, key, value))?;
    let mut plan = Plan::from_toml(&table.to_string())?;
    plan.model.slots = false;
    Ok(JobTime::of_plan(&plan, &phase_times(&plan, &mut || 0.5)?)?.mean().get())
}

fn main() -> Result<(), Box<dyn Error>> {
    let sweep =
        Sweep::new(SweepPlan::from_toml(KNOBS)?, Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/models/mapreduce")))?;
    let results: Vec<_> = sweep.run(&Unwatched)?.stored.results.into_values().collect();
    let before = exact_mean(None)?;
    for knob in tornado(&sweep.plan, &results) {
        let (key, found) = (&sweep.plan.axis[knob.axis].key, knob.best.difference_s);
        let half = found.half_width().ok_or("too few replications")?;
        let exact = exact_mean(Some((key, &knob.best.value)))? - before;
        println!("{key:36} = {:5}  {:+.2} ± {half:.2} s, exactly {exact:+.2} s", knob.best.value, found.value);
        // 2.5 half widths are 5 standard errors
        assert!((found.value - exact).abs() < 2.5 * half, "{key}: {found:?}, exactly {exact}");
    }
    Ok(())
}
