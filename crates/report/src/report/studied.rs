//! The reports of studies: what was asked, and what was found.

use crate::optimize::{Cheapest, Optimization, OptimizeOutcome};
use crate::report::optimize::optimize_report;
use crate::report::sweep::{SweepReport, sweep_report};
use crate::report::whatif::{WhatIfReport, what_if_report};
use crate::sweep::{Sweep, SweepOutcome};
use crate::whatif::{WhatIf, WhatIfOutcome};

/// Makes the report of a study, which has text, a page, CSV and JSON.
///
/// ```
/// use tailspn_engine::watch::Unwatched;
/// use tailspn_jobs::plan::JobPlan;
/// use tailspn_report::report::{Report as _, ReportStudy as _};
/// use tailspn_studies::sweep::{Axis, Sweep};
///
/// let sweep = Sweep::of_job(JobPlan::default())?.axis(Axis::values("job.reduces", [20, 80])).replications(100);
/// let outcome = sweep.run(&Unwatched)?;
/// assert!(sweep.report(&outcome).document().text().contains("job.reduces"));
/// # Ok::<(), tailspn_studies::StudyError>(())
/// ```
pub trait ReportStudy {
    /// Result of the study.
    type Outcome;
    /// The report.
    type Report;

    /// Returns the report of what this study found.
    fn report(&self, outcome: &Self::Outcome) -> Self::Report;
}

impl ReportStudy for Sweep {
    type Outcome = SweepOutcome;
    type Report = SweepReport;

    fn report(&self, outcome: &SweepOutcome) -> SweepReport {
        sweep_report(&self.plan, &outcome.stored)
    }
}

impl ReportStudy for WhatIf {
    type Outcome = WhatIfOutcome;
    type Report = WhatIfReport;

    fn report(&self, outcome: &WhatIfOutcome) -> WhatIfReport {
        what_if_report(self, outcome)
    }
}

impl ReportStudy for Optimization {
    type Outcome = OptimizeOutcome;
    type Report = Cheapest;

    fn report(&self, outcome: &OptimizeOutcome) -> Cheapest {
        optimize_report(&self.plan, outcome)
    }
}
