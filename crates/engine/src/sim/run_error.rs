//! Reason why the run did not start.

use crate::semantics::Fault;
use crate::share::ShareError;
#[cfg(feature = "gpu")]
use crate::sim::gpu::GpuError;

/// Reason why the run did not start.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The net has a fault in a marking that it reaches; earlier samples are of no use.
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
    /// The horizon is so far away that the net's fastest transitions would lose their digits. Use a nearer one.
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
    /// A GPU is required, but no GPU was found, or it failed. Nothing of the run is kept.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// A GPU is required, and cannot run this net or answer this question. The CPU can.
    #[error("the {engine} GPU engine cannot run this: {}", reasons.join("; "))]
    GpuUnfit {
        /// The engine whose twin was sought.
        engine: &'static str,
        /// Everything in its way.
        reasons: Vec<String>,
    },
    /// A GPU is required, but this build does not support GPUs. Build with the feature `gpu`.
    #[error("this build has no GPU support; build it with the feature `gpu`, or use the CPU")]
    GpuNotBuilt,
}
