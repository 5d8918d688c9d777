//! Assumptions in place of values that a plan does not state.

use crate::mapreduce::params::{PhaseLaws, Plan, Profile};
use crate::mapreduce::phase_law::PhaseLaw;

/// The values of a profile that a test job measures, in the order of the plan.
pub const MEASURED: [&str; 10] = [
    "input_mb",
    "maps",
    "map_data_mb",
    "map_output_mb",
    "reduce_output_mb",
    "spilled_records",
    "load_s",
    "map_cpu_s",
    "map_gpu_s",
    "reduce_cpu_s",
];

/// The entry of `profile.measured` for the distributions of the phases.
pub const DISTRIBUTION: &str = "distribution";

impl Profile {
    /// Returns each value of [`MEASURED`] as a number.
    fn values(&self) -> [f64; 10] {
        [
            self.input_mb,
            self.maps as f64,
            self.map_data_mb,
            self.map_output_mb,
            self.reduce_output_mb,
            self.spilled_records as f64,
            self.load_s,
            self.map_cpu_s,
            self.map_gpu_s,
            self.reduce_cpu_s,
        ]
    }
}

impl Plan {
    /// Returns the values of the profile that are those of the built-in example, although the plan does not list them as measured. Values without an effect
    /// are left out.
    ///
    /// ```
    /// use tailspn_jobs::mapreduce::Plan;
    ///
    /// let plan = Plan::from_toml("[profile]\nmap_cpu_s = 12\nmeasured = ['input_mb', 'maps', 'load_s']").unwrap();
    /// let assumed = ["map_data_mb", "map_output_mb", "reduce_output_mb", "spilled_records", "map_gpu_s", "reduce_cpu_s"];
    /// assert_eq!(plan.assumed_values(), assumed);
    /// ```
    pub fn assumed_values(&self) -> Vec<&'static str> {
        if self.phases.is_some() {
            return Vec::new();
        }
        let pairs = self.profile.values().into_iter().zip(Profile::default().values());
        let is_measured = |key: &str| self.profile.measured.iter().any(|measured| measured == key);
        let has_effect = |key: &str| match key {
            "map_gpu_s" => !self.has_no_gpus(),
            "map_output_mb" | "reduce_output_mb" | "reduce_cpu_s" => self.reduces() > 0,
            _ => true,
        };
        let same = MEASURED.into_iter().zip(pairs).filter(|(_, (own, example))| (own - example).abs() < f64::EPSILON);
        same.map(|(key, _)| key).filter(|key| !is_measured(key) && has_effect(key)).collect()
    }

    /// Returns a value of the profile by its key in [`MEASURED`], and the plan with `factor` times that value; a number of tasks or of records
    /// stays a whole number of at least 1. None for another key.
    pub fn with_scaled_value(&self, key: &str, factor: f64) -> Option<(f64, Self)> {
        let value = MEASURED.into_iter().zip(self.profile.values()).find(|(one, _)| *one == key)?.1;
        let mut plan = self.clone();
        let profile = &mut plan.profile;
        // rounded to a whole number that is not negative
        let whole = (factor * value).round().max(1.0) as u64;
        let place = match key {
            "input_mb" => &mut profile.input_mb,
            "map_data_mb" => &mut profile.map_data_mb,
            "map_output_mb" => &mut profile.map_output_mb,
            "reduce_output_mb" => &mut profile.reduce_output_mb,
            "load_s" => &mut profile.load_s,
            "map_cpu_s" => &mut profile.map_cpu_s,
            "map_gpu_s" => &mut profile.map_gpu_s,
            "reduce_cpu_s" => &mut profile.reduce_cpu_s,
            "maps" => {
                profile.maps = whole;
                return Some((value, plan));
            }
            _ => {
                profile.spilled_records = whole;
                return Some((value, plan));
            }
        };
        *place = factor * value;
        Some((value, plan))
    }

    /// Returns true if the paper's assumption remains that some phases are exponential.
    pub fn assumes_spread(&self) -> bool {
        let is_measured = self.profile.measured.iter().any(|measured| measured == DISTRIBUTION);
        let laws = &self.model.distribution;
        !is_measured && self.phases_of_job().into_iter().any(|phase| *laws.get(phase) == PhaseLaw::Exponential)
    }

    /// Returns the plan without any spread of the phases that are exponential.
    #[must_use]
    pub fn without_spread(&self) -> Self {
        let mut plan = self.clone();
        let laws = &mut plan.model.distribution;
        let PhaseLaws { load, read, map, to_gpu, gpu, to_host, spill, shuffle, merge, reduce } = laws;
        let all = [load, read, to_gpu, gpu, to_host, spill, shuffle, merge, reduce].into_iter().chain(map.as_mut());
        all.filter(|law| **law == PhaseLaw::Exponential).for_each(|law| *law = PhaseLaw::Deterministic);
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measured_value_can_be_scaled() {
        let plan = Plan::default();
        for (i, key) in MEASURED.into_iter().enumerate() {
            let (value, doubled) = plan.with_scaled_value(key, 2.0).unwrap();
            let mut expected = plan.profile.values();
            assert_eq!(value.to_bits(), expected[i].to_bits(), "{key}");
            expected[i] *= 2.0;
            assert_eq!(doubled.profile.values(), expected, "{key}");
        }
        assert!(plan.with_scaled_value("workers", 2.0).is_none());
    }
}
