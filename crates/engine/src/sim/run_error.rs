//! Errors of a run.

use std::borrow::Cow;

use tailspn_common::explain::{ErrorKind, Explain};

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
    /// The question has a request that only exact methods answer.
    #[error("replications do not give {what}; an exact method does")]
    ExactOnly {
        /// The request.
        what: &'static str,
    },
    /// The requested engine cannot run this net or this question. Leave the choice to `auto`.
    #[error("the {engine} engine cannot run this:\n{}", reasons.join("\n"))]
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
    #[error("the {engine} GPU engine cannot run this:\n{}", reasons.join("\n"))]
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

impl Explain for RunError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Fault(_) => ErrorKind::Model,
            Self::ExactOnly { .. } | Self::Engine { .. } | Self::Horizon { .. } => ErrorKind::Refused,
            Self::Share(ShareError::NoNumber) => ErrorKind::Usage,
            Self::Share(_) => ErrorKind::Refused,
            Self::Threads(_) => ErrorKind::Internal,
            #[cfg(feature = "gpu")]
            Self::Gpu(_) => ErrorKind::Gpu,
            Self::GpuUnfit { .. } | Self::GpuNotBuilt => ErrorKind::Gpu,
        }
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::Engine { .. } => "`--engine auto` selects the fastest engine that supports this".into(),
            Self::Share(ShareError::NoNumber) => {
                "set the number of replications with --reps N instead of --rel-error".into()
            }
            #[cfg(feature = "gpu")]
            Self::Gpu(_) => NO_GPU.into(),
            Self::GpuUnfit { .. } => NO_GPU.into(),
            _ => return None,
        })
    }
}

/// Advice if no GPU can do what is required.
const NO_GPU: &str =
    "`tailspn tool devices` lists the adapters; `--backend auto` uses one if possible, otherwise the CPU";
