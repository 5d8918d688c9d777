//! Plans that do not reproduce the runs that they were fitted to, and questions that need a proved plan.

use tailspn::job_time::{OwnRun, own_run};
use tailspn::plan::JobPlan;
use tailspn::report::misfit;

use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::watch::Progress;

/// Checks a plan on its own runs, for a question that asks for advice, and returns the result. A plan that does not reproduce them is refused, unless the
/// user trusts it; then the answer begins with the misfit.
pub(crate) fn proved(plan: &JobPlan, is_trusted: bool, terminal: &Terminal) -> Result<OwnRun, Failure> {
    let progress = Progress::new(terminal.shows_progress(), "replications of the plan's own runs");
    let found = own_run(plan, &progress)?;
    drop(progress);
    let found = OwnRun { is_trusted, ..found };
    if !found.forbids_advice() {
        return Ok(found);
    }
    let help = "`tailspn estimate PLAN` without a deadline, list or policy prints what the plan can say; `--trust-misfit` answers all the same";
    Err(Failure::helped(Exit::Unmet, misfit(&found), help))
}
