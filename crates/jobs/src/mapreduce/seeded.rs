//! Phase means of a job whose random parts, such as drawn locality, follow the plan's seed.

use crate::mapreduce::params::Plan;
use crate::mapreduce::task_times::{JobPhases, PhaseTimesError, phase_times};
use crate::rng::{Address, Purpose, split};

/// Returns the phase means of a plan; equal plans with equal seeds give equal means.
///
/// # Errors
///
/// The errors of [`phase_times`].
///
/// # Examples
///
/// ```
/// use tailspn_jobs::mapreduce::{Plan, seeded_phase_times};
///
/// let phases = seeded_phase_times(&Plan::default()).unwrap();
/// assert_eq!((phases.maps_s.len(), phases.reduces_s.len()), (160, 40));
/// ```
pub fn seeded_phase_times(plan: &Plan) -> Result<JobPhases, PhaseTimesError> {
    let mut draws = 0..;
    let mut uniform = || build_draw(plan.model.seed, draws.next().unwrap_or(u32::MAX));
    phase_times(plan, &mut uniform)
}

/// Returns draw number `sample` of the draws made while a net is built, in [0, 1).
fn build_draw(seed: u64, sample: u32) -> f64 {
    let address = Address { purpose: Purpose::Build, owner: 0, sample };
    f64::from(address.word(split(seed), 0)) / 4_294_967_296.0
}
