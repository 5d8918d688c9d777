//! Traces of tasks, for the critical chain.

use crate::run::draws::MOST_PHASES;

/// Places of the waits in a task's trace.
pub(super) struct Waits;

impl Waits {
    pub(super) const GPU: usize = 0;
    /// The first of the parts of a machine that are shared: cores, disk, network, GPUs.
    pub(super) const SHARED: usize = 1;
    pub(super) const PARTS: usize = 4;
    pub(super) const COUNT: usize = Self::SHARED + Self::PARTS;
}

/// Trace of a task; times in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct TaskTrace {
    pub(super) launch: u64,
    pub(super) end: u64,
    /// Stage and number of the task whose slot it took, if it waited for a slot.
    pub(super) before: Option<(u32, u32)>,
    /// Time of each phase, without waits.
    pub(super) phases: [u64; MOST_PHASES],
    /// Wait for a GPU, and the time lost because others shared cores, disk, network and GPUs.
    pub(super) waits: [u64; Waits::COUNT],
}
