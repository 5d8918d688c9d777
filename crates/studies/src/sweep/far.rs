//! Points of a sweep far outside the measured range of a plan that was fitted to logs.

use std::collections::BTreeMap;

use crate::stages::{StagePlan, far_error};
use crate::subject::Subject;
use crate::sweep::plan::SweepPlan;
use crate::sweep::point::Point;
use crate::sweep::store::Stored;

/// Returns a note for each size that is far outside the measured range in some points.
pub fn far_notes(plan: &SweepPlan, stored: &Stored) -> Vec<String> {
    let base = StagePlan::from_toml(&stored.header.base).ok().filter(|base| base.measured_range.is_some());
    let Some(subject) = base.and_then(|base| Subject::stages(&base).ok()) else { return Vec::new() };
    let mut far: BTreeMap<&str, (usize, f64)> = BTreeMap::new();
    for result in stored.results.values() {
        let point = Point { number: result.point, values: result.values.clone() };
        let Some(Ok(at)) = subject.stages_at(&plan.axis, &point) else { continue };
        for (what, ratio) in at.measured_range.iter().flat_map(|seen| seen.beyond(&at)) {
            let (points, most) = far.entry(what).or_insert((0, ratio));
            (*points, *most) = (*points + 1, ratio.max(*most));
        }
    }
    let of = stored.results.len();
    let note = |(what, (points, ratio)): (&str, (usize, f64))| {
        let error = far_error(ratio);
        format!(
            "In {points} of {of} configurations, {what} is outside the measured range, by a factor of up to {ratio:.1}; a further standard error of {error} is assumed for the largest."
        )
    };
    far.into_iter().map(note).collect()
}
