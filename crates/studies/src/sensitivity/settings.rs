//! The settings of a sensitivity study.

use serde::{Deserialize, Serialize};

use crate::ask::RunSettings;
use crate::optimize::Measure;
use crate::subject::{LoadWarning, Subject};
use crate::sweep::SweepPlan;

/// Number of groups of the replications of a point; each group yields one value.
pub(super) const GROUPS: u64 = 8;

/// Method of the sensitivity analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Derivatives at the base: infinitesimal perturbation of schedules, differences of other jobs, likelihood ratios of other nets.
    #[default]
    Derivatives,
    /// The change from one end of each axis to the other, with all other axes as in the base.
    Each,
    /// Elementary effects along random walks.
    Morris,
    /// Sobol's indices.
    Sobol,
}

/// A study that finds the settings of a job or net with the largest effect on its time.
///
/// # Examples
///
/// ```
/// use tailspn_studies::sensitivity::{Method, Sensitivity};
/// use tailspn_studies::sweep::SweepPlan;
/// use tailspn_common::watch::Unwatched;
///
/// let axes = "[[axis]]\nkey = \"cluster.node[*].gpu_speed\"\nfrom = 1\nto = 2\n\
///             [[axis]]\nkey = \"cluster.node[*].network_mb_per_s\"\nfrom = 112\nto = 224";
/// let mut study = Sensitivity::new(SweepPlan::from_toml(axes)?, "".as_ref())?;
/// study.method = Method::Each;
/// assert_eq!(study.run(&Unwatched)?.knobs[0].name, "cluster.node[*].gpu_speed");
/// # Ok::<(), tailspn_studies::StudyError>(())
/// ```
#[derive(Debug)]
pub struct Sensitivity {
    /// The plan with the axes and the seed; its design is not used.
    pub plan: SweepPlan,
    /// The job or net.
    pub subject: Subject,
    /// Warnings about the input files.
    pub warnings: Vec<LoadWarning>,
    /// True if the axes have ranges; a net without a plan has none.
    pub(super) has_ranges: bool,
    /// Method of the sensitivity analysis.
    pub method: Method,
    /// The measure of the time that is analysed; not used if the result is the probability of the goal.
    pub measure: Measure,
    /// True if derivatives of a net are with respect to the mean delays of its timed transitions, even if it
    /// has rate parameters.
    pub by_transition: bool,
    /// Number of rows of points; none means 20 random walks, or 256 rows for Sobol's indices.
    pub rows: Option<u64>,
    /// Settings of the run. The number of replications is that of each point; none for the default of the method. The seed is the
    /// plan's.
    pub(super) run: RunSettings,
}
