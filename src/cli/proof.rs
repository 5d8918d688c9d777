//! Questions that need a plan that reproduces its own runs.

use tailspn::ask::Proof;
use tailspn::job_time::OwnRun;
use tailspn::plan::JobPlan;

use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::watch::Progress;

/// Checks a plan on its own runs, for a question that asks for advice, and returns the result. A plan that does not reproduce them is refused, unless the
/// user trusts it; then the answer begins with the misfit.
pub(crate) fn proved(plan: &JobPlan, is_trusted: bool, terminal: &Terminal) -> Result<OwnRun, Failure> {
    let progress = Progress::new(terminal.shows_progress(), "replications of the plan's own runs");
    Ok(Proof::of_advice(is_trusted).check(plan, &progress)?)
}
