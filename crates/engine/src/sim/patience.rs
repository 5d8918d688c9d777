//! Detects, before a run starts, that the run would never end: the goal is unreachable, or the net does not stop.

use std::num::NonZeroUsize;

use crate::compile::{Program, plan_schedule};
use crate::share::Share;
use crate::sim::backend::Backend;
use crate::sim::ensemble::Ensemble;
use crate::sim::question::{Ending, Goal, Question};
use crate::sim::run::run;
use crate::sim::run_error::RunError;
use crate::watch::{Quiet, Watch};

/// Number of firings after which a replication is abandoned, if the question sets neither a limit nor a horizon.
pub const PATIENCE: u64 = 10_000_000;

/// Numbers of replications that search for the goal before a run for a relative error; the smaller number is tried first.
pub const SEARCH: [u64; 2] = [1_000, 100_000];

/// Limits the firings of a replication of a net that may never reach its goal, and runs one replication to check that it
/// ends within the limit. Returns `false` if it does not.
///
/// # Errors
///
/// The errors of [`run`](crate::sim::run()).
pub fn limit_firings(
    program: &Program,
    question: &mut Question,
    ensemble: &Ensemble,
    patience: u64,
    watch: &dyn Watch,
) -> Result<bool, RunError> {
    let bounded = question.horizon.is_some() || question.max_firings.is_some();
    if bounded || question.goal == Goal::Horizon || plan_schedule(program).is_ok() {
        return Ok(true);
    }
    question.max_firings = Some(patience);
    let one = Ensemble { replications: 1, threads: Some(NonZeroUsize::MIN), ..pilot(ensemble) };
    let found = run(program, question, &one, &Quiet(watch))?;
    Ok(found.samples.ended(Ending::Firings) == 0)
}

/// Searches for a replication that reaches the goal before a run for a relative error, because such a run takes long if no
/// replication does. Returns `false` if the first [`SEARCH`] replications all miss the goal.
///
/// # Errors
///
/// The errors of [`run`](crate::sim::run()).
pub fn reaches_goal(
    program: &Program,
    question: &Question,
    ensemble: &Ensemble,
    watch: &dyn Watch,
) -> Result<bool, RunError> {
    let is_short = ensemble.stop.as_ref().is_none_or(|rule| rule.max_reps <= SEARCH[1]);
    if is_short || ensemble.precision_of_time().is_none() {
        return Ok(true);
    }
    for replications in SEARCH {
        let found = run(program, question, &Ensemble { replications, ..pilot(ensemble) }, &Quiet(watch))?;
        if found.samples.ended(Ending::Goal) > 0 || found.provenance.cut_short {
            return Ok(true);
        }
    }
    Ok(false)
}

fn pilot(ensemble: &Ensemble) -> Ensemble {
    Ensemble { stop: None, keep: false, backend: Backend::Cpu, share: Share::default(), ..ensemble.clone() }
}
