//! Errors of a run.

use crate::semantics::Fault;
use crate::share::ShareError;
#[cfg(feature = "gpu")]
use crate::sim::gpu::GpuError;

/// Reason why a run failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The net has a fault in a marking that it reaches; all samples are discarded.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The requested engine cannot run this net or this question. Leave the choice to `auto`.
    #[error("the {engine} engine cannot run this: {}", reasons.join("; "))]
    Engine {
        /// The requested engine.
        engine: &'static str,
        /// All obstacles.
        reasons: Vec<String>,
    },
    /// The horizon is so late that the delays of the fastest transitions would lose precision. Use an earlier one.
    #[error("the horizon is too long for the rates of the net; the clock can represent at most {limit:.3e} s")]
    Horizon {
        /// The longest horizon that fits \[s\].
        limit: f64,
    },
    /// Shards of another run, or a run that cannot be split into shards.
    #[error(transparent)]
    Share(#[from] ShareError),
    /// The operating system cannot create threads.
    #[error("cannot start threads: {0}")]
    Threads(String),
    /// A GPU is required, but no GPU was found, or it failed. All samples are discarded.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// A GPU is required, but cannot run this net or answer this question. The CPU can.
    #[error("the {engine} GPU engine cannot run this: {}", reasons.join("; "))]
    GpuUnfit {
        /// Name of the engine.
        engine: &'static str,
        /// All obstacles.
        reasons: Vec<String>,
    },
    /// A GPU is required, but this build does not support GPUs. Build with the feature `gpu`.
    #[error("this build has no GPU support; build it with the feature `gpu`, or use the CPU")]
    GpuNotBuilt,
}
