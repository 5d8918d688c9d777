//! Ranks the phases of a job by the time saved when the phase gets 10% faster, for the mean and for the tail.
//!
//! ```text
//! phase 3 a tenth faster ─▶ mean − 2.7 s, p95 − 3.4 s
//! phase 9 a tenth faster ─▶ mean − 3.4 s, p95 − 5.0 s
//! ```
//!
//! One run gives the derivatives with respect to all phases: each replication's time moves with the delays on its critical chain
//! (infinitesimal perturbation analysis). Each derivative is checked against the difference of two exact times.

use tailspn::ask::RunSettings;
use tailspn::job_time::EstimateMethod;
use tailspn::mapreduce::params::GivenPhases;
use tailspn::mapreduce::{Phase, Plan, phase_times};
use tailspn::optimize::Measure;
use tailspn::prelude::*;
use tailspn::sensitivity::KnobEffect;

/// The default job with all tasks at once, from the means of its phases, one of them scaled.
fn job(phase: Phase, factor: f64) -> Result<Planned, tailspn::Error> {
    let plan = Plan::default();
    let times = phase_times(&plan, &mut || 0.5)?;
    let mut means_s = [0.0; 9];
    for phase in plan.phases_of_job() {
        means_s[phase.number() - 1] = times.means_of(phase).next().unwrap_or(0.0);
    }
    means_s[phase.number() - 1] *= factor;
    let counts = GivenPhases { maps: Some(plan.maps()), reduces: Some(plan.reduces()), ..GivenPhases::default() };
    let phases = Some(GivenPhases { means_s, ..counts });
    Ok(JobPlan::MapReduce(Box::new(Plan { phases, ..plan })).slots(false))
}

/// The change of the mean, or of a quantile, if a phase gets 10% shorter [s]: value and half width.
fn tenths(measure: Measure) -> Result<Vec<(String, [f64; 2])>, tailspn::Error> {
    let mut study = Sensitivity::of_job(job(Phase::Load, 1.0)?)?;
    for phase in Plan::default().phases_of_job() {
        let axis = Axis::between(format!("phases.means_s[{}]", phase.number() - 1), 0.1, 10.0);
        study = study.axis(Axis { name: Some(phase.name().to_owned()), ..axis });
    }
    study.measure = measure;
    let study = study.settings(RunSettings { replications: Some(20_000), seed: Some(1), ..RunSettings::default() });
    let report = study.run(&Unwatched)?;
    let tenth = |effect: &KnobEffect| match effect {
        KnobEffect::Derivative { per_percent_s, .. } => {
            [-10.0 * per_percent_s.value, 10.0 * per_percent_s.half_width().unwrap_or(f64::NAN)]
        }
        _ => [f64::NAN; 2],
    };
    Ok(report.knobs.iter().map(|knob| (knob.name.clone(), knob.effect.as_ref().map_or([f64::NAN; 2], tenth))).collect())
}

fn main() -> Result<(), tailspn::Error> {
    let (means, tails) = (tenths(Measure::Mean)?, tenths(Measure::Quantile(0.95))?);
    println!("a tenth less of   mean [s]                          p95 [s]");
    for phase in Plan::default().phases_of_job() {
        let exactly = |factor: f64| -> Result<[f64; 2], tailspn::Error> {
            let exact = job(phase, factor)?.estimation().method(EstimateMethod::Exact).run()?;
            Ok([exact.mean().value, exact.quantile(0.95).value])
        };
        let (low, high) = (exactly(0.99)?, exactly(1.01)?);
        print!("  {:10}", phase.name());
        for (i, all) in [&means, &tails].into_iter().enumerate() {
            let found = all.iter().find(|(name, _)| name == phase.name());
            let [value, half_width] = found.map_or([f64::NAN; 2], |(_, tenth)| *tenth);
            let exact = -0.1 * (high[i] - low[i]) / 0.02;
            print!(" {value:7.3} ± {half_width:.3}, exactly {exact:7.3}  ");
            // 2.5 half widths are 5 standard errors
            assert!((value - exact).abs() < 2.5 * half_width, "{phase:?}: {value} ± {half_width}, exactly {exact}");
        }
        println!();
    }
    println!("worth most: {}", means[0].0);
    assert_eq!(means[0].0, Phase::Reduce.name());
    Ok(())
}
