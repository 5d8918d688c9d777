//! The available graphics adapters, the test result of each, and the default adapter of a run.

use crate::sim::gpu::device::{AdapterFacts, Gpu, Wanted, all_adapters, choose_from};
use crate::sim::gpu::error::GpuError;

/// An adapter that was opened and tested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surveyed {
    /// Facts about the adapter.
    pub facts: AdapterFacts,
    /// Reason why the adapter is not used: it cannot be opened, or it computes wrong results.
    pub fault: Option<GpuError>,
}

/// All adapters, best first, each opened and tested with known answers. Takes up to a second for each.
pub fn survey() -> Vec<Surveyed> {
    let test = |adapter: &wgpu::Adapter| Surveyed {
        facts: AdapterFacts::of(adapter),
        fault: Gpu::open_adapter(adapter, true).err(),
    };
    all_adapters().iter().map(test).collect()
}

/// Position of the adapter that a run uses by default.
///
/// # Errors
///
/// The reason why no adapter is used: no GPU was found, or the best GPU failed its test.
pub fn automatic_choice(found: &[Surveyed]) -> Result<usize, GpuError> {
    let facts: Vec<AdapterFacts> = found.iter().map(|surveyed| surveyed.facts.clone()).collect();
    let at = choose_from(&facts, Wanted::Card)?;
    found[at].fault.clone().map_or(Ok(at), Err)
}
