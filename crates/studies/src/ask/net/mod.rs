//! Answers to questions about a net: all its states, exact numbers, replications or long runs.
//!
//! ```text
//! net, Question, NetSettings ────answer────▶ NetAnswer: replications, long runs, or exact numbers in their place
//! net, Question, SolveSettings ─solve_net──▶ SolvedNet: all states, verdicts and exact numbers
//! net, queries or formulas ──────────────▶ QueryReport, ExplorationReport
//! ```
//!
//! The results are rows of numbers, words and firing sequences, as JSON has them; the crate `tailspn-report` prints them.
//!
//! | what | file |
//! |---|---|
//! | replications, long runs, or exact numbers in their place | `answer` |
//! | a solution from the question to the result | `solve`, `states`, `fixed_delays`, with settings in `solved_net` |
//! | the rows of a solution | `solved`, `numbers`, `passage`, `points`, `witnesses`, `folded` |
//! | queries and properties | `queries`, `query_rows` |
//! | rare events | `rare` |
//! | markings without time | `explore`, `exploration` |

mod answer;
mod exploration;
mod explore;
mod fixed_delays;
mod folded;
mod json;
mod names;
mod numbers;
mod passage;
mod points;
mod queries;
mod query_rows;
mod rare;
mod solve;
mod solved;
mod solved_net;
mod states;
mod witnesses;

pub use answer::{AnswerBy, LongRunLength, NetAnswer, NetAnswerError, NetSettings, PreparedNet, answer};
pub use exploration::{EvidenceRow, ExplorationReport, FormulaRow, MarkingGraphRow};
pub use explore::{ExploredNet, explore_net};
pub use json::Word;
pub use names::{NetSummary, Subject};
pub use numbers::{
    AverageSection, DistributionRow, NumberRow, RewardRow, StateRow, SteadySection, TimeSection, WithinSection,
};
pub use passage::{PassageSection, completion_section, line, passage_section};
pub use points::{CdfPoint, QUANTILES, QuantilePoint};
pub use queries::{answer_properties, answer_queries};
pub use query_rows::{QueryBound, QueryReport, QueryRow};
pub use rare::{RareAnswer, RareQuestion};
pub use solve::solve_net;
pub use solved::{
    CoverabilityRow, DeadMarkings, ExchangedParts, FoldedStates, LivenessRow, MarkingBound, MethodRow, PropertyRow,
    SolveReport, StateSpaceRow, UnboundedRow, VerdictRow, ZeroRateRow,
};
pub use solved_net::{SolveSettings, SolvedNet};
