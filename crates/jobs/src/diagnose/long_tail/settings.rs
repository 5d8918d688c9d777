//! When an agent flags a task: the rule of the paper and one that adapts, and their settings.

use serde::Serialize;

/// How the tasks of the same job are heard besides the model. \[Garraghan2015\] asks for a progress "50% smaller than
/// the median" of the job's tasks, which can be read in two ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PeerRule {
    /// Below median / (1 + Diff): the reading that goes with the threshold of the model.
    Diff,
    /// Below half of the median: the literal one.
    Half,
    /// Not heard.
    Ignored,
}

/// Where the boundary between stragglers and others lies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "rule")]
pub enum Boundary {
    /// The paper's: progress below the model's threshold T_S, and below that of the peers.
    Fixed {
        /// How the peers are heard.
        peers: PeerRule,
    },
    /// One that narrows as a task gets on: flagged is who ends beyond 1 + Diff times the usual time of its job with at least this
    /// probability, given how far early looks are off and how fast the job's tasks are.
    Adaptive {
        /// The probability, inside (0, 1).
        confidence: f64,
    },
}

/// Settings of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AgentSettings {
    /// Diff: a straggler takes more than 1 + Diff times the usual time; above 0.
    pub diff: f64,
    /// The boundary.
    pub boundary: Boundary,
    /// Age of a task before it is judged \[s\].
    pub start_s: f64,
    /// The same as a share of the usual time; the smaller of the two counts.
    pub start_share: f64,
    /// Time between two samples of a task \[s\]; reports in between are read, and not judged.
    pub interval_s: f64,
    /// The same as a share of the usual time; the smaller of the two counts.
    pub interval_share: f64,
    /// n: samples in a row that must be beyond the boundary, at least 1.
    pub samples: u32,
    /// Number of tasks that the history counts as, when the speed of the running job is estimated.
    pub history_weight: f64,
    /// Silence after which an attempt is forgotten \[s\] of the source's clock.
    pub forget_s: f64,
    /// Most attempts that are followed at a time.
    pub most_tasks: usize,
}

/// Usual time of the reduces in the paper's figure 8 \[s\].
const PAPER_USUAL_S: f64 = 60.0;

impl AgentSettings {
    /// The paper's: Diff = 50%, judged from 5 s on, each second, three samples in a row. Its tasks take 60 s; for
    /// shorter ones the shares of that time are kept, a twelfth and a sixtieth.
    pub fn paper() -> Self {
        Self {
            diff: 0.5,
            boundary: Boundary::Fixed { peers: PeerRule::Diff },
            start_s: 5.0,
            start_share: 5.0 / PAPER_USUAL_S,
            interval_s: 1.0,
            interval_share: 1.0 / PAPER_USUAL_S,
            samples: 3,
            history_weight: 2.0,
            forget_s: 600.0,
            most_tasks: 1_000_000,
        }
    }

    /// Ours: the same with the boundary that adapts, which needs no waiting at the start.
    pub fn adaptive() -> Self {
        Self { boundary: Boundary::Adaptive { confidence: 0.9 }, start_s: 0.0, start_share: 0.0, ..Self::paper() }
    }

    /// Age of a task before it is judged, where tasks usually take `usual_s` \[s\].
    pub fn start(&self, usual_s: f64) -> f64 {
        self.start_s.min(self.start_share * usual_s)
    }

    /// Time between two samples, where tasks usually take `usual_s` \[s\].
    pub fn interval(&self, usual_s: f64) -> f64 {
        self.interval_s.min(self.interval_share * usual_s)
    }
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self::adaptive()
    }
}
