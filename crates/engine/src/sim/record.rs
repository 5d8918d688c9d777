//! The record of a run: samples and their origin.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::share::{Piece, ShareError};
use crate::sim::backend::Placement;
use crate::sim::samples::Samples;

/// All data needed to identify and repeat a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of tailspn.
    pub version: Cow<'static, str>,
    /// The seed.
    pub seed: u64,
    /// Number of the first replication.
    pub first: u64,
    /// Name of the engine: `schedule`, `clock`, `direct` or `lockstep`.
    pub engine: Cow<'static, str>,
    /// Vector instructions used: `portable`, `avx2` or `avx512`.
    pub vector: Cow<'static, str>,
    /// Number of threads.
    pub threads: usize,
    /// Reasons why faster engines were not used; empty if the fastest one ran.
    pub reasons: Vec<String>,
    /// Devices that ran the replications, and the reason.
    pub placement: Placement,
    /// Wall time of the replications, without compilation of the net.
    pub wall: Duration,
    /// True if the run ended before it was complete, because of a limit or on request.
    pub cut_short: bool,
    /// Folded parts of the net; none if it ran unfolded.
    pub folded: Option<FoldedParts>,
    /// Similar parts of the net that were not folded.
    pub not_folded: Vec<NotFolded>,
}

/// Similar parts that are not folded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotFolded {
    /// Number of parts.
    pub parts: usize,
    /// A place or transition of one of the parts.
    pub example: String,
    /// The reason.
    pub reason: Cow<'static, str>,
}

/// Numbers of places and transitions of a net, before it was folded and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoldedParts {
    /// Places of the net.
    pub places_before: usize,
    /// Places of the folded net.
    pub places: usize,
    /// Transitions of the net.
    pub transitions_before: usize,
    /// Transitions of the folded net.
    pub transitions: usize,
}

/// The samples of a run and their origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The observations.
    pub samples: Samples,
    /// Settings and origin of the samples.
    pub provenance: Provenance,
}

impl Piece for Run {
    fn append(&mut self, next: Self) -> Result<(), ShareError> {
        let (own, other) = (&mut self.provenance, next.provenance);
        if (&own.version, own.seed, &own.engine) != (&other.version, other.seed, &other.engine) {
            return Err(ShareError::Unlike("another version, seed or engine"));
        }
        if !self.samples.is_like(&next.samples) {
            return Err(ShareError::Unlike("another net or question"));
        }
        if self.samples.end() != next.samples.first {
            return Err(ShareError::Gap { end: self.samples.end(), begin: next.samples.first });
        }
        self.samples.append(&next.samples);
        own.wall += other.wall;
        own.cut_short |= other.cut_short;
        if own.vector != other.vector {
            own.vector = Cow::Borrowed("mixed");
        }
        Ok(())
    }
}
