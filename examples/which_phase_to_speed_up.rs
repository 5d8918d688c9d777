//! Which phase of a job is worth making faster: what is a tenth off its mean worth, for the mean and for the tail?
//!
//! ```text
//! phase 3 a tenth faster ─▶ mean − 2.7 s, p95 − 2.9 s
//! phase 9 a tenth faster ─▶ mean − 3.4 s, p95 − 5.3 s
//! ```
//!
//! One run tells it for all phases: each replication's time moves with the delays on its critical chain (infinitesimal
//! perturbation analysis), and each derivative is checked against the difference of two exact times.

use std::error::Error;

use tailspn::compile::{Program, compile, plan_schedule};
use tailspn::mapreduce::{JobTime, Phase, Plan, job_net, phase_times};
use tailspn::sensitivity::{pathwise_mean, pathwise_quantile};
use tailspn::sim::{PathSlopes, Question, Shift};
use tailspn::units::Probability;

/// How far a phase is shifted to each side for a slope of its means.
const STEP: f64 = 1e-4;

/// The default job, with the times of one phase multiplied: its net, and its exact mean and 95 % quantile [s].
fn job(phase: Phase, factor: f64) -> Result<(Program, [f64; 2]), Box<dyn Error>> {
    let plan = Plan::default();
    let mut phases = phase_times(&plan, &mut || 0.5)?;
    match phase.index() {
        0 => phases.load_s *= factor,
        i @ 1..=5 => phases.maps_s.iter_mut().for_each(|map| map[i - 1] *= factor),
        6 => phases.shuffle_s *= factor,
        i => phases.reduces_s.iter_mut().for_each(|reduce| reduce[i - 7] *= factor),
    }
    let law = JobTime::of_plan(&plan, &phases)?;
    let p95 = law.quantile(Probability::new(0.95).ok_or("no probability")?)?;
    let program = compile(&job_net(&plan, &phases)?.net)?;
    Ok((program, [law.mean().get(), p95.get()]))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (base, _) = job(Phase::Load, 1.0)?;
    let schedule = plan_schedule(&base).map_err(|obstacles| format!("{obstacles:?}"))?;
    let mut columns = Vec::new();
    for phase in Phase::ALL {
        // the parameter is the factor itself
        let shift = Shift { low: job(phase, 1.0 - STEP)?.0, high: job(phase, 1.0 + STEP)?.0, width: 2.0 * STEP };
        columns.push(shift.slopes(&base)?);
    }
    let traced = PathSlopes::trace(&base, &schedule, &Question::default(), &columns, 1, 0, 20_000)
        .map_err(|reasons| reasons.join("; "))?;

    println!("a tenth less of   mean [s]                          p95 [s]");
    let mut best = (0.0, Phase::Load);
    for (phase, slopes) in Phase::ALL.into_iter().zip(&traced.slopes) {
        let mean = pathwise_mean(slopes, 0.95)?.scaled(-0.1);
        let p95 = pathwise_quantile(&traced.times, slopes, 0.95, 0.95)?.scaled(-0.1);
        let (low, high) = (job(phase, 0.99)?.1, job(phase, 1.01)?.1);
        let exact = [0, 1].map(|i| -0.1 * (high[i] - low[i]) / 0.02);
        println!(
            "  {:10} {:7.3} ± {:.3}, exactly {:7.3}   {:7.2} ± {:.2}, exactly {:7.2}",
            phase.name(),
            mean.value,
            mean.half_width,
            exact[0],
            p95.value,
            p95.half_width,
            exact[1]
        );
        // 2.5 half widths are 5 standard errors
        assert!((mean.value - exact[0]).abs() < 2.5 * mean.half_width, "{phase:?}: {mean:?}, exactly {exact:?}");
        assert!((p95.value - exact[1]).abs() < 2.5 * p95.half_width, "{phase:?}: {p95:?}, exactly {exact:?}");
        if mean.value < best.0 {
            best = (mean.value, phase);
        }
    }
    println!("worth most: {}", best.1.name());
    assert_eq!(best.1, Phase::Reduce);
    Ok(())
}
