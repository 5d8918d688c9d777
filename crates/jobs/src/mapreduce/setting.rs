//! Problems with settings of stragglers or of speculative copies.

use crate::plan::problem::short;

/// An invalid setting of stragglers or of speculation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingProblem {
    /// A number is out of range.
    #[error("{what} is {}; it must be {needs}", short(*value))]
    Range {
        /// Name of the number.
        what: &'static str,
        /// Value.
        value: f64,
        /// Valid range.
        needs: &'static str,
    },
    /// Precision, recall and fake positives require more tasks than exist.
    #[error(transparent)]
    Fates(#[from] crate::cluster::first_order::FirstOrderError),
    /// More stragglers would be flagged too late than are missed, or than there are false positives.
    #[error(
        "the share of tasks flagged too late, {fake}, is larger than recall {recall} and precision {precision} allow"
    )]
    Fake {
        /// The share.
        fake: f64,
        /// Recall.
        recall: f64,
        /// Precision.
        precision: f64,
    },
    /// A straggler would be flagged after its end.
    #[error(
        "a straggler that takes {factor} times the typical time cannot be flagged after {at} times the typical time"
    )]
    AfterTheEnd {
        /// Time of the flag since the start of the task, as a multiple of the usual time.
        at: f64,
        /// Time of the task, as a multiple of the usual time.
        factor: f64,
    },
}

/// Returns a problem if a value is out of range.
pub(super) fn range(fine: bool, what: &'static str, value: f64, needs: &'static str) -> Option<SettingProblem> {
    (!fine).then_some(SettingProblem::Range { what, value, needs })
}
