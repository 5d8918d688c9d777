//! Phase times that were measured at several sizes: how they grow with the data of a task, and how the first task of a slot differs.
//!
//! Defines the section `[phases.by_size]` of a plan, and its means at the size of a job. `fit` measures them from phase logs.

use serde::{Deserialize, Serialize};

use crate::mapreduce::params::{GivenPhases, Plan};

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

/// Phases of a [`PhasesBySize`], by key.
pub const SIZED_PHASES: [(&str, fn(&PhasesBySize) -> &SizedPhase); 8] = [
    ("read", |phases| &phases.read),
    ("map", |phases| &phases.map),
    ("to_gpu", |phases| &phases.to_gpu),
    ("gpu", |phases| &phases.gpu),
    ("to_host", |phases| &phases.to_host),
    ("spill", |phases| &phases.spill),
    ("merge", |phases| &phases.merge),
    ("reduce", |phases| &phases.reduce),
];

impl PhasesBySize {
    /// Returns the keys whose values are out of range.
    pub(super) fn problems(&self) -> Vec<(String, &'static str)> {
        let mut found = Vec::new();
        for (key, value) in [("load_s", self.load_s), ("shuffled_per_mb", self.shuffled_per_mb)] {
            if !(value.is_finite() && value >= 0.0) {
                found.push((format!("by_size.{key}"), "must be a finite number of at least 0"));
            }
        }
        for (key, phase) in SIZED_PHASES {
            let SizedPhase { first, later } = phase(self);
            for (of, growth) in [("first", first), ("later", later)] {
                if !growth.is_valid() {
                    let rule = "needs finite times of at least 0, and an exponent above 0";
                    found.push((format!("by_size.{key}.{of}"), rule));
                }
            }
        }
        found
    }

    /// Returns phase 1 on the workers of a plan \[s\].
    fn load_at(&self, plan: &Plan) -> f64 {
        let Some(node) = plan.cluster.node.first() else { return self.load_s };
        let Some(cores) = node.host_cores.filter(|_| self.load_slots > 0) else { return self.load_s };
        let crowd = |slots: u64| (slots as f64 / cores).max(1.0);
        self.load_s * crowd(node.map_slots + node.reduce_slots) / crowd(self.load_slots)
    }

    /// Returns the data of a reduce in a plan \[MB\].
    fn reduce_mb(&self, plan: &Plan) -> f64 {
        self.shuffled_per_mb * plan.job.input_mb / plan.reduces().max(1) as f64
    }
}

impl GivenPhases {
    /// Returns the phase means at the size of a plan's job; `of` selects the first or the later task of a slot.
    fn sized(&self, plan: &Plan, by_size: &PhasesBySize, of: fn(&SizedPhase) -> &Growth) -> Self {
        let (split_mb, reduce_mb) = (plan.job.split_mb.min(plan.job.input_mb), by_size.reduce_mb(plan));
        let map = |phase: &SizedPhase| of(phase).at(split_mb);
        let reduce = |phase: &SizedPhase| of(phase).at(reduce_mb);
        let copy_s = map(&by_size.to_gpu);
        let means_s = [
            by_size.load_at(plan),
            map(&by_size.read),
            map(&by_size.map) + copy_s,
            map(&by_size.gpu),
            map(&by_size.to_host),
            map(&by_size.spill),
            0.0,
            reduce(&by_size.merge),
            reduce(&by_size.reduce),
        ];
        Self { means_s, copy_s, ..self.clone() }
    }
}

impl Plan {
    /// Returns the given phase means, at the size of the job; none for a plan with a profile. Means of tasks other than the first of their slot.
    pub fn given_phases(&self) -> Option<GivenPhases> {
        let given = self.phases.as_ref()?;
        Some(match &given.by_size {
            Some(by_size) => given.sized(self, by_size, |phase| &phase.later),
            None => given.clone(),
        })
    }

    /// Returns the phase means of the first task of a slot; none if it does not differ.
    pub(super) fn first_phases(&self) -> Option<GivenPhases> {
        let given = self.phases.as_ref()?;
        let by_size = given.by_size.as_ref()?;
        let differs = SIZED_PHASES.iter().any(|(_, phase)| phase(by_size).first != phase(by_size).later);
        differs.then(|| given.sized(self, by_size, |phase| &phase.first))
    }
}
