//! Policies for the replay of a recorded job: no copies, the settings of Spark and Hadoop, the detectors of the literature.

use crate::cluster::detect::{DetectorPlan, Spark};
use crate::cluster::{PolicyPlan, Watching};
use crate::stages::SpeculativeCopies;
use crate::trace::{Application, Format, JobTrace};

/// Maximum age of a stage at which progress scores are first checked \[s\], as in plans.
const LAG_S: f64 = 20.0;
/// Share of the job's time that serves as this age, if it is shorter than [`LAG_S`].
const YOUNG: f64 = 0.1;

/// The name of the policy with the log's own settings of speculation.
pub const AS_IT_WAS_SET: &str = "spark, with the settings of the run";

/// An application's speculation settings, multiplier and quantile; none if not set.
pub type Speculation = (Option<f64>, Option<f64>);

/// Returns the speculation settings of an application; none if speculation was off.
pub fn speculation_of(application: &Application) -> Option<Speculation> {
    let on = application.properties.get("spark.speculation").is_some_and(|on| on == "true");
    let setting = |name: &str| application.number(&format!("spark.speculation.{name}"));
    on.then(|| (setting("multiplier"), setting("quantile")))
}

fn spark(name: &str, SpeculativeCopies { multiplier, quantile }: SpeculativeCopies) -> PolicyPlan {
    PolicyPlan {
        name: Some(name.to_owned()),
        detector: DetectorPlan::Spark(Spark { multiplier, quantile, ..Spark::default() }),
        lag_s: 0.0,
        watch: Watching::FromLag,
        ..PolicyPlan::default()
    }
}

/// Returns the policy [`AS_IT_WAS_SET`] with an application's speculation settings.
pub fn as_it_was_set((multiplier, quantile): Speculation) -> PolicyPlan {
    spark(AS_IT_WAS_SET, SpeculativeCopies::of(multiplier, quantile))
}

/// Settings of Spark's speculation that are compared: multiplier and quantile.
const GRID: [[f64; 2]; 5] = [[1.5, 0.5], [1.5, 0.75], [1.5, 0.9], [2.0, 0.75], [3.0, 0.9]];

/// Returns the policies that the system of a log can be set to, with the settings of the run if it had copies. The first policy has no detector.
pub fn settable_policies(format: Format, actual_s: f64, speculation: Option<Speculation>) -> Vec<PolicyPlan> {
    let mut all = vec![PolicyPlan::default()];
    all.extend(speculation.map(as_it_was_set));
    match format {
        Format::SparkEventLog => all.extend(GRID.map(|[multiplier, quantile]| {
            spark(&format!("multiplier {multiplier}, quantile {quantile}"), SpeculativeCopies { multiplier, quantile })
        })),
        _ => {
            let lag_s = LAG_S.min(YOUNG * actual_s);
            let hadoop = DetectorPlan::named("hadoop2").into_iter();
            all.extend(hadoop.map(|detector| PolicyPlan { detector, lag_s, ..PolicyPlan::default() }));
        }
    }
    all
}

/// Returns the policies of the literature, and Spark's defaults, for a job that took `actual_s` \[s\], including its speculation settings, if any. The first policy has no detector.
pub fn usual_policies(actual_s: f64, speculation: Option<Speculation>) -> Vec<PolicyPlan> {
    let lag_s = LAG_S.min(YOUNG * actual_s);
    let mut all = vec![PolicyPlan::default()];
    all.extend(speculation.map(as_it_was_set));
    all.push(spark("spark 4", SpeculativeCopies::default()));
    all.push(spark("spark 3", SpeculativeCopies::BEFORE_SPARK_4));
    let named = |name| DetectorPlan::named(name);
    for detector in ["default", "hierarchical", "late", "hadoop2", "mantri"].into_iter().filter_map(named) {
        all.push(PolicyPlan { detector, lag_s, ..PolicyPlan::default() });
    }
    all.push(PolicyPlan { detector: DetectorPlan::Clone, ..PolicyPlan::default() });
    all
}

/// Returns the policies for several recorded jobs together: those of the shortest job, with speculation settings that all of them
/// share.
pub fn usual_policies_of(jobs: &[&JobTrace]) -> Vec<PolicyPlan> {
    let lasted = |trace: &&JobTrace| {
        let start = trace.jobs.iter().filter_map(|job| job.submitted).min()?;
        Some(trace.jobs.iter().filter_map(|job| job.completed).max()?.seconds_since(start))
    };
    let settings = |trace: &&JobTrace| trace.applications.first().and_then(speculation_of);
    let first = jobs.first().and_then(settings);
    let shared = first.filter(|first| jobs.iter().all(|trace| settings(trace) == Some(*first)));
    usual_policies(jobs.iter().filter_map(lasted).fold(f64::INFINITY, f64::min), shared)
}
