//! Long-tail identification: detects stragglers while they run, by comparison with the typical progress of their kind.
//!
//! ```text
//! reports, logs, simulated runs ──▶ History ──▶ fit_profile ──▶ Model (TOML)
//!                                                                 │
//! reports as they come ──▶ ProgressFeed ──▶ ProgressRecord ──▶ Agent ──▶ StragglerFlag ──▶ Finding, Score
//! ```
//!
//! | question | file |
//! |---|---|
//! | forms of progress over time, and the threshold T_S | [`ProgressCurve`] |
//! | form of the progress of a kind of task (job profiler) | [`fit_profile`], [`Profile`] |
//! | the learned profiles, as a file | [`Model`] |
//! | stragglers among the attempts of a log, by several rules (straggler identifier) | [`identify()`] |
//! | reports as text, from a stream | [`ProgressFeed`] |
//! | the state of one attempt by its reports, and invalid reports | `task`, [`Oddity`] |
//! | the online agent | [`Agent`]; the judgement of a sample: `group`; its settings: [`AgentSettings`] |
//! | complete reports, in the order of time | [`Recording`] |
//! | curves that can be learned from and replayed | [`History`] |
//! | quality of an agent | [`Score`], [`replay`], [`score`](score()) |
//! | findings for a diagnosis | [`find`](find()) |
//!
//! Source: \[Garraghan2015\]; docs/replications/long-tail.md lists the reproduced results, and the
//! differences with their reasons.
//!
//! Guarantees: an agent reads no clock and draws no random number: the same reports give the same flags.
//! Invalid reports are counted by kind and skipped. Memory grows with the attempts that run.

mod agent;
mod curve;
mod find;
mod group;
mod history;
mod identify;
mod model;
mod oddity;
mod profile;
mod record;
mod recording;
mod score;
mod settings;
mod task;

pub use agent::{Agent, AgentCounts, StragglerFlag};
pub use curve::{CurveForm, Point, ProgressCurve};
pub use find::{by_log, clock_ahead, find};
pub use history::{History, HistoryFeed, TaskHistory};
pub use identify::{Centre, Identified, RULES, Share, StragglerRule, identify, identify_batch};
pub use model::{Learned, MODEL_VERSION, Model};
pub use oddity::{Counted, Oddities, Oddity};
pub use profile::{Candidate, FEWEST_TASKS, FittedProfile, Profile, ProfileError, fit_profile};
pub use record::{LONGEST_LINE, ProgressFeed, ProgressReader, ProgressRecord};
pub use recording::Recording;
pub use score::{Score, TRUTH, replay, score, score_by_log};
pub use settings::{AgentSettings, Boundary, PeerRule};
