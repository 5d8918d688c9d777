//! The structs that host and shaders share. Each mirrors the WGSL struct of the same name, field by field; a test
//! compares the offsets with the result of naga for the shaders.

use bytemuck::{Pod, Zeroable};

/// Invocations in one workgroup.
pub(crate) const WORKGROUP: u32 = 64;

/// Parameters of one dispatch of `shaders/schedule.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct ScheduleRun {
    pub(crate) key: [u32; 2],
    pub(crate) first_quad: [u32; 2],
    pub(crate) quads: u32,
    pub(crate) stride: u32,
    pub(crate) begin: u32,
    pub(crate) end: u32,
    pub(crate) horizon: [u32; 2],
    pub(crate) quads_each: u32,
    pub(crate) length: u32,
}

/// Parameters of one dispatch of `shaders/race/game.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct RaceRun {
    pub(crate) key: [u32; 2],
    pub(crate) first: [u32; 2],
    pub(crate) count: u32,
    pub(crate) lanes: u32,
    pub(crate) steps: u32,
    pub(crate) horizon: u32,
    pub(crate) last_tick: [u32; 2],
    pub(crate) warm_up: [u32; 2],
    pub(crate) max_firings: [u32; 2],
    pub(crate) padding: [u32; 2],
}

/// Parameters of one dispatch of `shaders/reduce.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct ReduceRun {
    pub(crate) limit: [u32; 2],
    pub(crate) begin: u32,
    pub(crate) end: u32,
    pub(crate) share: u32,
    pub(crate) histogram: u32,
    pub(crate) padding: [u32; 2],
}

/// Parameters of one dispatch of `shaders/average.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct AverageRun {
    pub(crate) warm_up: [u32; 2],
    pub(crate) tick: [u32; 2],
    pub(crate) count: u32,
    pub(crate) units: u32,
    pub(crate) offset: u32,
    pub(crate) blocks: u32,
    pub(crate) first: u32,
    pub(crate) end_column: u32,
    pub(crate) taken_column: u32,
    pub(crate) padding: u32,
}

/// Moments of one quantity over a unit or a block of units.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct Average {
    pub(crate) mean: [u32; 2],
    pub(crate) squares: [u32; 2],
    pub(crate) min: [u32; 2],
    pub(crate) max: [u32; 2],
    pub(crate) count: u32,
    pub(crate) padding: u32,
}

/// Exact moments of one workgroup's share of a column.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct Partial {
    pub(crate) squares: [u32; 6],
    pub(crate) sum: [u32; 4],
    pub(crate) min: [u32; 2],
    pub(crate) max: [u32; 2],
    pub(crate) count: u32,
    pub(crate) seen: u32,
}
