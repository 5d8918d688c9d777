//! Exact answers to questions about a net: one place chooses the method, expands delays into phases, folds and explores.
//!
//! ```text
//! net, Question ──▶ Route (states, fixed delays, parts of a schedule) ──▶ ExactAnswer, PassageResult, averages
//!         └──▶ Choice: an exact answer that would cost less than replications
//! ```
//!
//! [`Solve::solution`] answers by chained calls, [`exact_of_prepared`] all quantities of a [`Question`](crate::sim::Question) at once.
//!
//! | question | file |
//! |---|---|
//! | exact answers by chained calls | `solution` |
//! | questions with an exact answer, and its cost | [`choice`] |
//! | the answer as a value | [`value`] |
//! | the exact answer from all states | `states` |
//! | the states of a folded net, in place of those of the net | `counted` |
//! | the time from one set of markings to another | `response` |
//! | what a question requests | [`request`] |
//! | the choice between all states, fixed delays and the parts of a schedule | [`route`] |
//! | the numbers of states at which methods change | `limits` |

mod average_result;
pub mod choice;
mod counted;
mod limits;
mod passage_result;
pub mod request;
mod response;
pub mod route;
mod solution;
mod states;
pub mod value;

pub use average_result::AverageResult;
pub use choice::{Choice, choose, exact, exact_of_prepared};
pub use counted::CountedStates;
pub use limits::UNFOLDED_STATES;
pub use passage_result::PassageResult;
pub use response::ResponseTime;
pub use route::{Route, RouteMethod, SolveRoute};
pub use solution::{Solution, Solve, StateResult};
pub use value::{
    AnswerError, ExactAnswer, ExactBy, ExactTime, NeedsReplications, phases_if_possible, time_to, with_phases,
};
