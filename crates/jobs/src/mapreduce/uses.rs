//! The keys of a plan that say what tasks share: a worker's disk and network, and what each phase uses.

use serde::{Deserialize, Serialize};

use crate::job::Uses;
use crate::mapreduce::phase::Phase;

/// Use of a worker's disk or network by its tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Sharing {
    /// Every task has the full rate, whatever the others do.
    #[default]
    Each,
    /// The rate is divided equally among the tasks that use it at the time.
    Shared,
}

impl Sharing {
    pub(super) fn is_each(&self) -> bool {
        *self == Self::Each
    }
}

/// The part of its worker that each phase uses, for given means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PhaseUses {
    /// Phase 2. Default `disk`.
    pub read: Uses,
    /// The map function of phase 3. Default `cores`.
    pub map: Uses,
    /// The copy to the GPU. Default `nothing`.
    pub to_gpu: Uses,
    /// Phase 4. Default `gpu`: tasks that hold the same GPU share it. With `nothing`, they do not slow each other down.
    pub gpu: Uses,
    /// Phase 5. Default `nothing`.
    pub to_host: Uses,
    /// Phase 6. Default `disk`.
    pub spill: Uses,
    /// Phase 8. Default `disk`.
    pub merge: Uses,
    /// Phase 9. Default `cores`.
    pub reduce: Uses,
}

impl Default for PhaseUses {
    fn default() -> Self {
        let [read, spill, merge] = [Uses::Disk; 3];
        let [to_gpu, to_host] = [Uses::Nothing; 2];
        Self { read, map: Uses::Cores, to_gpu, gpu: Uses::Gpu, to_host, spill, merge, reduce: Uses::Cores }
    }
}

impl PhaseUses {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn of(&self, phase: Phase) -> Uses {
        match phase {
            Phase::Read => self.read,
            Phase::Map => self.map,
            Phase::ToGpu => self.to_gpu,
            Phase::Gpu => self.gpu,
            Phase::ToHost => self.to_host,
            Phase::Spill => self.spill,
            Phase::Merge => self.merge,
            Phase::Reduce => self.reduce,
            Phase::Load | Phase::Shuffle => Uses::Nothing,
        }
    }
}

/// Returns true for the default of a number that a plan need not write.
pub(super) fn is_zero(value: &f64) -> bool {
    value.abs() < f64::MIN_POSITIVE
}
