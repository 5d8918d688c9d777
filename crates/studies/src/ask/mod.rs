//! Answers to questions about a net: exact, or by simulation.
//!
//! ```text
//! net, Question, NetSettings ──answer──▶ NetAnswer: exact numbers, replications or long runs
//! ```

mod net;

pub use net::{AnswerBy, LongRunLength, NetAnswer, NetAnswerError, NetSettings, PreparedNet, answer};
