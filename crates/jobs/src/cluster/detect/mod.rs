//! Detectors of stragglers: the observations of each, and the catalogue.
//!
//! A detector sees one category of tasks (the maps or the reduces of a job) as the master does, namely by the last report of each node. It
//! flags tasks, and ranks them for the copies; it does not deal with slots and lags.
//!
//! | question | file |
//! |---|---|
//! | what a detector sees, and the trait | `view` |
//! | settings of a detector in a plan | `plan` |
//! | list of detectors, with their sources and needs | `catalogue` |
//! | the rules | `by_score` (Default), `late`, `hierarchical`, `hadoop2`, `spark`, `mantri` |

mod by_score;
mod catalogue;
mod hadoop2;
mod hierarchical;
mod late;
mod mantri;
mod plan;
mod spark;
mod view;

pub use by_score::{ByScore, MeanOver};
pub use catalogue::{CATALOGUE, CatalogueEntry};
pub use hadoop2::Hadoop2;
pub use hierarchical::{Base, Hierarchical};
pub use late::Late;
pub use mantri::Mantri;
pub use plan::{DetectorKind, DetectorPlan};
pub use spark::{Efficiency, Spark};
pub use view::{Category, Detector, Finished, Flag, NodeSpeed, Remedy, RunningTask, View};

#[cfg(test)]
mod tests;
