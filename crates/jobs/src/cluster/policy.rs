//! A policy as the simulator applies it.

use crate::cluster::detect::{Detector, DetectorPlan};
use crate::cluster::plan::{PolicyPlan, SlotShare, Watching};
use crate::cluster::world::World;

/// A policy on the nodes of a world.
#[derive(Debug)]
pub(super) struct Policy<'a> {
    pub(super) detector: Option<&'a dyn Detector>,
    /// True if every task gets a copy at its start.
    pub(super) clones: bool,
    /// Slots of each node that only copies may take.
    pub(super) kept: Vec<u32>,
    /// True if a waiting copy has precedence over a waiting task.
    pub(super) copies_first: bool,
    pub(super) lag: f64,
    pub(super) watch: Watching,
    /// True if flagged tasks get copies.
    pub(super) copies: bool,
    /// Share of the nodes that get no copies, namely the slowest nodes.
    pub(super) slow_nodes: f64,
}

impl<'a> Policy<'a> {
    pub(super) fn new(plan: &'a PolicyPlan, world: &World) -> Self {
        let (share, copies_first) = match plan.slots {
            SlotShare::Tasks(share) => (share, false),
            SlotShare::Shared => (1.0, true),
        };
        Self {
            detector: plan.detector.detector(),
            clones: plan.detector == DetectorPlan::Clone,
            kept: world.kept_slots(share),
            copies_first,
            lag: plan.lag_s,
            watch: plan.watch,
            copies: plan.copies,
            slow_nodes: plan.slow_nodes,
        }
    }
}
