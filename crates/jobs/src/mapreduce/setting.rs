//! What is wrong with a setting of stragglers or of speculative copies.

use crate::plan::problem::short;

/// A setting of stragglers or of speculation that cannot be right.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingProblem {
    /// A number is out of its range.
    #[error("{what} is {}; it must be {needs}", short(*value))]
    Range {
        /// Which one.
        what: &'static str,
        /// Value.
        value: f64,
        /// What it must be.
        needs: &'static str,
    },
    /// There are not as many tasks as precision, recall and fake positives ask for.
    #[error(transparent)]
    Fates(#[from] crate::cluster::first_order::FirstOrderError),
    /// More stragglers flagged too late than are missed or than false positives.
    #[error("a share of {fake} flagged too late is more than recall {recall} and precision {precision} leave")]
    Fake {
        /// The share.
        fake: f64,
        /// Recall.
        recall: f64,
        /// Precision.
        precision: f64,
    },
    /// A straggler would be flagged after it has ended.
    #[error("a straggler that takes {factor} usual times cannot be flagged at {at} of them")]
    AfterTheEnd {
        /// When it is flagged, in usual times.
        at: f64,
        /// When it ends, in usual times.
        factor: f64,
    },
}

/// A value with a range, as a problem or none.
pub(super) fn range(fine: bool, what: &'static str, value: f64, needs: &'static str) -> Option<SettingProblem> {
    (!fine).then_some(SettingProblem::Range { what, value, needs })
}
