//! The cheapest point that meets a deadline, with a given confidence.
//!
//! ```text
//! OptimizePlan ──▶ Candidates (cheapest first) ──▶ search ──▶ judge, one point after the other ──▶ Found
//!                                                                ▲
//!                                       times of replications, of the Subject
//! ```
//!
//! | question | file |
//! |---|---|
//! | the whole search, from the plan to the answer | [`run`] |
//! | the plan in TOML, and its checks | [`plan`] |
//! | a price by time, and the candidate sizes of a job | `price`, `sizing`; numbers of machines to choose from: `choices` |
//! | the cost of a point | [`cost`] |
//! | the decision whether a point meets the deadline, with its confidence | [`judge`] |
//! | the next point to evaluate, and the answer | [`search()`] |
//! | the same if costs depend on the time and are estimates | [`compare`] |
//!
//! No decision is based on a point estimate: each is made when a confidence interval is on one side of
//! the deadline. The levels of all looks at all points are chosen so that all decisions are jointly
//! correct with the requested confidence.

mod choices;
pub mod compare;
pub mod cost;
pub mod judge;
pub mod plan;
mod price;
mod result;
pub mod run;
pub mod search;
pub mod settings;
mod sizing;

pub use choices::MachineChoices;
pub use compare::search_by_estimates;
pub use cost::{Cost, CostError};
pub use judge::{Judge, Judgement, Measure, Verdict};
pub use plan::OptimizePlan;
pub use price::{Price, PriceError, PriceUnit};
pub use result::{Cheapest, CheapestAnswer, CheapestQuestion, Conclusion, Judged};
pub use run::{Optimization, OptimizeOutcome};
pub use search::{Answer, Candidate, Look, SearchResult, candidates, search};
pub use settings::{Faster, Search, Settings};
pub use sizing::{Sizing, SizingOutcome};
