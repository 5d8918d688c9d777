//! Comparison of the plans of two sides, key by key.

use crate::compare::result::{Compared, ComparedSide, ComparisonReport};
use crate::compare::settings::{differing, flat};
use crate::plan::JobPlan;

/// A plan and the name of its file.
pub type NamedPlan = (String, toml::Table);

/// Returns the keys that differ between the plans of two sides.
///
/// Plans of jobs are compared with every key written out, so that a default that only one plan states is no difference. Other
/// plans are compared as they are written; a key that a plan omits has its default.
pub fn compare_plans(a: &[NamedPlan], b: &[NamedPlan], level: f64) -> ComparisonReport {
    let whole = |(_, plan): &NamedPlan| -> Option<toml::Table> {
        JobPlan::from_toml(&plan.to_string()).ok()?.to_toml().ok()?.parse().ok()
    };
    let wholes = |plans: &[NamedPlan]| plans.iter().map(|plan| Some(flat(&whole(plan)?))).collect::<Option<Vec<_>>>();
    let [flat_a, flat_b] = match (wholes(a), wholes(b)) {
        (Some(a), Some(b)) => [a, b],
        _ => [a, b].map(|plans| plans.iter().map(|(_, plan)| flat(plan)).collect()),
    };
    let side = |label: &str, plans: &[NamedPlan]| ComparedSide {
        label: label.to_owned(),
        files: plans.iter().map(|(name, _)| name.clone()).collect(),
        times_s: Vec::new(),
    };
    let settings = differing(&flat_a, &flat_b);
    let absent = settings.iter().any(|row| row.a.is_empty() || row.b.is_empty());
    let note = "A key that a plan does not set has its default value.".to_owned();
    ComparisonReport {
        compared: Compared::Plans,
        level,
        sides: [side("A", a), side("B", b)],
        time: None,
        stages: Vec::new(),
        gaps: Vec::new(),
        settings,
        notes: absent.then_some(note).into_iter().collect(),
    }
}
