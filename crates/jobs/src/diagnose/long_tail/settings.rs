//! Rules by which an agent flags a task: the rule of the paper and an adaptive one, with their settings.

use serde::Serialize;

/// Use of the tasks of the same job in addition to the model. \[Garraghan2015\] requires a progress "50% smaller than the median" of the job's tasks,
/// which can be read in two ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PeerRule {
    /// Below median / (1 + Diff): the interpretation that matches the threshold of the model.
    Diff,
    /// Below half of the median: the literal interpretation.
    Half,
    /// The peers are not used.
    Ignored,
}

/// Boundary between stragglers and normal tasks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "rule")]
pub enum Boundary {
    /// The paper's boundary: progress below the model's threshold T_S, and below the threshold of the peers.
    Fixed {
        /// Use of the peers.
        peers: PeerRule,
    },
    /// A boundary that narrows as a task progresses. A task is flagged if, with at least this probability, it will take
    /// more than 1 + Diff times the usual time of its job. The probability depends on the error of early predictions
    /// and on the speed of the job's tasks.
    Adaptive {
        /// The probability, inside (0, 1).
        confidence: f64,
    },
}

/// Settings of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AgentSettings {
    /// Diff: a straggler takes more than 1 + Diff times the usual time; > 0.
    pub diff: f64,
    /// The boundary.
    pub boundary: Boundary,
    /// Age of a task before its first judgement \[s\].
    pub start_s: f64,
    /// Age before the first judgement, as a share of the usual time; the smaller of the two ages counts.
    pub start_share: f64,
    /// Time between two samples of a task \[s\]; reports in between are read, but not judged.
    pub interval_s: f64,
    /// Time between two samples, as a share of the usual time; the smaller of the two times counts.
    pub interval_share: f64,
    /// n: number of consecutive samples that must indicate a straggler, at least 1.
    pub samples: u32,
    /// Weight of the history, as a number of tasks, when the speed of the running job is estimated.
    pub history_weight: f64,
    /// Silence after which an attempt is forgotten \[s\], on the source's clock.
    pub forget_s: f64,
    /// Maximum number of attempts followed at a time.
    pub most_tasks: usize,
}

/// Usual time of the reduces in the paper's figure 8 \[s\].
const PAPER_USUAL_S: f64 = 60.0;

impl AgentSettings {
    /// Returns the paper's settings: Diff = 50%, the first judgement at 5 s, one sample per second, and three
    /// consecutive samples. The paper's tasks take 60 s; shorter tasks keep the same shares of their time, a twelfth
    /// and a sixtieth.
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

    /// Returns our settings: the paper's settings with the adaptive boundary, which needs no wait at the start.
    pub fn adaptive() -> Self {
        Self { boundary: Boundary::Adaptive { confidence: 0.9 }, start_s: 0.0, start_share: 0.0, ..Self::paper() }
    }

    /// Returns the age of a task before its first judgement, if tasks usually take `usual_s` \[s\].
    pub fn start(&self, usual_s: f64) -> f64 {
        self.start_s.min(self.start_share * usual_s)
    }

    /// Returns the time between two samples, if tasks usually take `usual_s` \[s\].
    pub fn interval(&self, usual_s: f64) -> f64 {
        self.interval_s.min(self.interval_share * usual_s)
    }
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self::adaptive()
    }
}
