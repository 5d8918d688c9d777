//! The permission of a plan to answer a question: its check on the runs that it was fitted to.

use crate::error::StudyError;
use crate::job_time::{OwnRun, own_run};
use crate::plan::JobPlan;
use crate::watch::{Quiet, Watch};

/// Demands of a question on the check of its plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// True if the question asks for advice, such as a deadline or a policy: only a plan that reproduces its runs may give it.
    pub is_needed: bool,
    /// True if the user wants all answers, although the plan does not reproduce its runs.
    pub is_trusted: bool,
}

impl Proof {
    /// Returns the demands of a question for advice.
    pub fn of_advice(is_trusted: bool) -> Self {
        Self { is_needed: true, is_trusted }
    }

    /// Checks a plan on its own runs; `watch` counts their replications.
    ///
    /// # Errors
    ///
    /// [`StudyError::Misfit`] if the question asks for advice, and the plan does not reproduce its runs.
    pub fn check(self, plan: &JobPlan, watch: &dyn Watch) -> Result<OwnRun, StudyError> {
        watch.counts("replications of the plan's own runs");
        self.accept(own_run(plan, watch)?)
    }

    /// Checks a plan on its own runs by `check`, before the replications of the question. `watch` counts both, unless the question needs no
    /// check, which then takes little of the time.
    ///
    /// # Errors
    ///
    /// The errors of `check`, and [`StudyError::Misfit`], as [`check`](Self::check).
    pub(crate) fn before_replications(
        self,
        watch: &dyn Watch,
        check: impl FnOnce(&dyn Watch) -> Result<OwnRun, StudyError>,
    ) -> Result<OwnRun, StudyError> {
        if !self.is_needed {
            return self.accept(check(&Quiet(watch))?);
        }
        watch.counts("replications of the plan's own runs");
        let found = self.accept(check(watch)?);
        watch.counts("replications");
        found
    }

    /// Returns the result of a check.
    ///
    /// # Errors
    ///
    /// [`StudyError::Misfit`], as [`check`](Self::check).
    fn accept(self, found: OwnRun) -> Result<OwnRun, StudyError> {
        let found = OwnRun { is_trusted: self.is_trusted, ..found };
        if self.is_needed && found.forbids_advice() { Err(StudyError::Misfit(Box::new(found))) } else { Ok(found) }
    }
}
