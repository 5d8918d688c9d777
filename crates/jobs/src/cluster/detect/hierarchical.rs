//! Hierarchical: flags a task if another detector flags it and its node is slow. \[Phan2018, 5.5\]

use serde::{Deserialize, Serialize};

use crate::cluster::detect::by_score::ByScore;
use crate::cluster::detect::late::Late;
use crate::cluster::detect::view::{Detector, Flag, NodeSpeed, View};
use crate::cluster::formulas::{ClusterAverage, node_is_slow};

/// The underlying detector.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Base {
    /// Flags tasks by their progress score.
    Default(ByScore),
    /// Flags tasks by their progress rate.
    Late(Late),
}

impl Base {
    fn detector(&self) -> &dyn Detector {
        match self {
            Self::Default(detector) => detector,
            Self::Late(detector) => detector,
        }
    }
}

/// The rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Hierarchical {
    /// The underlying detector. Default `default`.
    pub on: Base,
    /// Share of the cluster's average performance below which a node is slow, > 0. Default 0.9.
    pub share: f64,
    /// Items over which performance is averaged. Default `tasks`.
    pub average: ClusterAverage,
}

impl Default for Hierarchical {
    fn default() -> Self {
        Self { on: Base::Default(ByScore::default()), share: 0.9, average: ClusterAverage::Tasks }
    }
}

impl Hierarchical {
    /// Returns the cluster's average performance; none if nothing has been reported.
    fn average(&self, view: &View<'_>) -> Option<f64> {
        let (sum, count) = match self.average {
            ClusterAverage::Nodes => {
                let means = view.nodes.iter().filter_map(NodeSpeed::mean);
                means.fold((0.0, 0), |(sum, count), mean| (sum + mean, count + 1))
            }
            ClusterAverage::Tasks => {
                view.nodes.iter().fold((0.0, 0), |(sum, count), node| (sum + node.sum, count + node.tasks))
            }
        };
        (count > 0).then(|| sum / f64::from(count))
    }
}

impl Detector for Hierarchical {
    fn interval_s(&self) -> f64 {
        self.on.detector().interval_s()
    }

    fn least_finished(&self, tasks: usize) -> usize {
        self.on.detector().least_finished(tasks)
    }

    fn compares_nodes(&self) -> bool {
        true
    }

    fn flag(&self, view: &View<'_>, flags: &mut Vec<Flag>) {
        self.on.detector().flag(view, flags);
        if flags.is_empty() {
            return;
        }
        let Some(average) = self.average(view) else { return flags.clear() };
        flags.retain(|flag| {
            let node = view.nodes[view.running[flag.position].node as usize];
            node.mean().is_some_and(|mean| node_is_slow(mean, average, self.share))
        });
    }
}
