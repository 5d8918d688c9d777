//! Ranking of settings: one axis at a time against the base.
//!
//! Implements the ranking. The numbers come from the points; common random numbers make the intervals of differences narrow.

use serde::{Deserialize, Serialize};
use toml::Value;

use crate::ends::{Ends, OptionalEnds};
use crate::estimate::Measured;
use crate::sweep::plan::{Design, SweepPlan};
use crate::sweep::result::PointResult;

/// A value of a setting, and its effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Level {
    /// The value.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
    pub value: Value,
    /// Mean time at that value minus the base's mean time \[s\].
    #[serde(with = "Ends")]
    pub difference_s: Measured,
    /// Mean time at that value divided by the base's mean time.
    #[serde(with = "OptionalEnds", default)]
    pub ratio: Option<Measured>,
}

/// An axis, from its best to its worst value.
#[derive(Clone, Debug, PartialEq)]
pub struct Knob {
    /// Position of the axis in the plan.
    pub axis: usize,
    /// The value with the shortest mean time.
    pub best: Level,
    /// The value with the longest mean time.
    pub worst: Level,
    /// Difference between the longest and the shortest mean time, including the base \[s\].
    pub swing_s: f64,
}

/// Returns the settings of a one-at-a-time sweep, the setting with the widest swing first; empty for other designs. Axes
/// without a finished point are omitted. The ranking depends on the values in the plan: a setting with a
/// wide range has a wide swing.
pub fn tornado(plan: &SweepPlan, results: &[PointResult]) -> Vec<Knob> {
    if plan.sweep.design != Design::Each {
        return Vec::new();
    }
    let mut knobs: Vec<Knob> = (0..plan.axis.len()).filter_map(|axis| knob(axis, results)).collect();
    knobs.sort_by(|a, b| b.swing_s.total_cmp(&a.swing_s).then(a.axis.cmp(&b.axis)));
    knobs
}

fn knob(axis: usize, results: &[PointResult]) -> Option<Knob> {
    let level = |result: &PointResult| {
        let value = result.values.get(axis)?.clone()?;
        Some(Level { value, difference_s: result.difference_s.clone()?, ratio: result.ratio.clone() })
    };
    let levels: Vec<Level> = results.iter().filter_map(level).collect();
    let by_time = |a: &&Level, b: &&Level| a.difference_s.value.total_cmp(&b.difference_s.value);
    let (best, worst) = (levels.iter().min_by(by_time)?, levels.iter().max_by(by_time)?);
    let swing_s = worst.difference_s.value.max(0.0) - best.difference_s.value.min(0.0);
    Some(Knob { axis, best: best.clone(), worst: worst.clone(), swing_s })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(point: u64, axis: usize, value: i64, difference: f64) -> PointResult {
        let mut values = vec![None; 2];
        values[axis] = Some(Value::Integer(value));
        let difference_s = Some(Measured::between(difference, None, None));
        PointResult {
            done_by_deadline: None,
            point,
            values,
            replications: 2,
            reached: 2,
            engine: String::new(),
            mean_s: None,
            p50_s: None,
            p95_s: None,
            p99_s: None,
            difference_s,
            ratio: None,
        }
    }

    #[test]
    fn the_widest_swing_comes_first_and_the_base_counts() {
        let text =
            "[sweep]\ndesign = 'each'\n[[axis]]\nkey = 'a'\nvalues = [1, 2]\n[[axis]]\nkey = 'b'\nvalues = [1, 2]\n";
        let plan = SweepPlan::from_toml(text).unwrap();
        let results = [result(1, 0, 1, -1.0), result(2, 0, 2, 2.0), result(3, 1, 1, -5.0), result(4, 1, 2, -4.0)];
        let knobs = tornado(&plan, &results);
        assert_eq!(knobs.iter().map(|knob| (knob.axis, knob.swing_s)).collect::<Vec<_>>(), [(1, 5.0), (0, 3.0)]);
        assert_eq!((&knobs[1].best.value, &knobs[1].worst.value), (&Value::Integer(1), &Value::Integer(2)));
        let grid = SweepPlan { sweep: crate::sweep::Settings::default(), ..plan };
        assert_eq!(tornado(&grid, &results), []);
    }
}
