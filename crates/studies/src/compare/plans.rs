//! Comparison of the plans of two sides, key by key.

use crate::compare::result::{Compared, ComparedSide, ComparisonReport};
use crate::compare::settings::{differing, flat};

/// Returns the keys that differ between the plans of two sides. A plan is a file name and its TOML.
///
/// Keys are compared as written; a key that a plan omits has its default.
pub fn compare_plans(a: &[(String, toml::Table)], b: &[(String, toml::Table)], level: f64) -> ComparisonReport {
    let [flat_a, flat_b] = [a, b].map(|plans| plans.iter().map(|(_, plan)| flat(plan)).collect::<Vec<_>>());
    let side = |label: &str, plans: &[(String, toml::Table)]| ComparedSide {
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
