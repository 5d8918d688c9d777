//! Phase times that were measured at several sizes: how they grow with the data of a task, and how the first task of a slot differs.
//!
//! Defines the section `[phases.by_size]` of a plan; `sized` applies it to a job. `fit` measures the times from phase logs.

use serde::{Deserialize, Serialize};

/// Time of a phase by the data of a task: `fixed_s + per_mb_s * MB ^ exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Growth {
    /// The part that does not depend on the data \[s\], >= 0. Default 0.
    pub fixed_s: f64,
    /// Time for 1 MB \[s\], >= 0. Default 0.
    pub per_mb_s: f64,
    /// Power of the data, > 0; above 1 if the time grows faster than the data. Default 1.
    pub exponent: f64,
}

impl Default for Growth {
    fn default() -> Self {
        Self { fixed_s: 0.0, per_mb_s: 0.0, exponent: 1.0 }
    }
}

impl Growth {
    /// Returns the time for an amount of data \[s\].
    ///
    /// ```
    /// use tailspn_jobs::mapreduce::Growth;
    ///
    /// let growth = Growth { fixed_s: 1.0, per_mb_s: 0.25, exponent: 1.5 };
    /// assert_eq!(growth.at(16.0), 17.0);
    /// ```
    pub fn at(&self, mb: f64) -> f64 {
        self.fixed_s + self.per_mb_s * mb.max(0.0).powf(self.exponent)
    }

    /// Returns it with six significant digits, which are more than a log can tell.
    pub(crate) fn rounded(self) -> Self {
        let short = |value: f64| {
            if value == 0.0 || !value.is_finite() {
                return value;
            }
            let unit = 10.0_f64.powi(5 - value.abs().log10().floor() as i32);
            (value * unit).round() / unit
        };
        Self { fixed_s: short(self.fixed_s), per_mb_s: short(self.per_mb_s), exponent: short(self.exponent) }
    }

    fn is_valid(&self) -> bool {
        let fine = |value: f64| value.is_finite() && value >= 0.0;
        fine(self.fixed_s) && fine(self.per_mb_s) && self.exponent > 0.0 && self.exponent.is_finite()
    }
}

/// Time of a phase in the first task of a slot and in later tasks, which find caches warm and memory in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SizedPhase {
    /// The first task of a slot.
    pub first: Growth,
    /// The tasks after it.
    pub later: Growth,
}

/// Phase times by size. The data of a map is its split; the data of a reduce is its part of the map output.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PhasesBySize {
    /// Time until the slots of a worker have started, when `load_slots` of them start \[s\], >= 0. If they are more than the cores, their starts share
    /// the cores. Default 0.
    pub load_s: f64,
    /// Map and reduce slots that started in `load_s`, >= 0. Default 0: the time does not depend on the slots.
    pub load_slots: u64,
    /// Map output that the reduces fetch, per MB of input \[MB\], >= 0. Default 0.
    pub shuffled_per_mb: f64,
    /// Phase 2 of a map.
    pub read: SizedPhase,
    /// The map function.
    pub map: SizedPhase,
    /// The copy to the GPU.
    pub to_gpu: SizedPhase,
    /// Phase 4.
    pub gpu: SizedPhase,
    /// Phase 5.
    pub to_host: SizedPhase,
    /// Phase 6.
    pub spill: SizedPhase,
    /// Phase 8 of a reduce, with the fetch of its data: a reduce holds its slot while it fetches.
    pub merge: SizedPhase,
    /// Phase 9.
    pub reduce: SizedPhase,
}

impl PhasesBySize {
    /// Returns its phases with their keys.
    pub(super) fn all(&self) -> [(&'static str, &SizedPhase); 8] {
        [
            ("read", &self.read),
            ("map", &self.map),
            ("to_gpu", &self.to_gpu),
            ("gpu", &self.gpu),
            ("to_host", &self.to_host),
            ("spill", &self.spill),
            ("merge", &self.merge),
            ("reduce", &self.reduce),
        ]
    }

    /// Returns the keys whose values are out of range.
    pub(super) fn problems(&self) -> Vec<(String, &'static str)> {
        let mut found = Vec::new();
        for (key, value) in [("load_s", self.load_s), ("shuffled_per_mb", self.shuffled_per_mb)] {
            if !(value.is_finite() && value >= 0.0) {
                found.push((format!("by_size.{key}"), "must be a finite number of at least 0"));
            }
        }
        for (key, SizedPhase { first, later }) in self.all() {
            for (of, growth) in [("first", first), ("later", later)] {
                if !growth.is_valid() {
                    let rule = "needs finite times of at least 0, and an exponent above 0";
                    found.push((format!("by_size.{key}.{of}"), rule));
                }
            }
        }
        found
    }
}
