//! Times of Hadoop itself in addition to the nine phases: waits for slots, task start-up, clean-up, and the unexplained remainder.
//!
//! Defines the sections `[framework]` and `[residual]` of a plan. All values are 0 by default, which is the paper's model.
//! `fit` measures them: a tracker gets work with its heartbeats, a task starts a Java machine before it reads its first byte, a reduce polls for map
//! outputs, and a clean-up task commits the output.

use serde::{Deserialize, Serialize};

/// Times of the framework. Default all 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Framework {
    /// Mean time from the job's first map until another free slot gets its first map \[s\], >= 0.
    pub map_wait_s: f64,
    /// Mean time until a freed map slot gets the next map \[s\], >= 0.
    pub map_refill_s: f64,
    /// Mean time from the earliest start of reduces until a free reduce slot gets its first reduce \[s\], >= 0. Later
    /// waves of maps hide this time.
    pub reduce_wait_s: f64,
    /// Mean time until a freed reduce slot gets the next reduce \[s\], >= 0.
    pub reduce_refill_s: f64,
    /// Time of a reduce in shuffle and sort beyond phases 7 and 8 \[s\], >= 0: start-up, and polling for map outputs.
    pub reduce_fetch_s: f64,
    /// Part of the reduce function's time that does not depend on its bytes \[s\], >= 0.
    pub reduce_fixed_s: f64,
    /// Time from the end of the last task to the end of the clean-up task \[s\], >= 0.
    pub cleanup_s: f64,
}

/// Job time not explained by the model, from other jobs of the same history. Default all 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Residual {
    /// Number of jobs that the residual was estimated from.
    pub jobs: u64,
    /// Time per wave of maps or reduces \[s\]; may be below 0.
    pub wave_s: f64,
    /// Time per job \[s\]; may be below 0.
    pub job_s: f64,
}

impl Framework {
    /// Returns true if all times are 0.
    pub(crate) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Returns keys and values.
    pub(crate) fn values(&self) -> [(&'static str, f64); 7] {
        [
            ("map_wait_s", self.map_wait_s),
            ("map_refill_s", self.map_refill_s),
            ("reduce_wait_s", self.reduce_wait_s),
            ("reduce_refill_s", self.reduce_refill_s),
            ("reduce_fetch_s", self.reduce_fetch_s),
            ("reduce_fixed_s", self.reduce_fixed_s),
            ("cleanup_s", self.cleanup_s),
        ]
    }
}

impl Residual {
    /// Returns true if there is no residual.
    pub(crate) fn is_none(&self) -> bool {
        *self == Self::default()
    }
}
