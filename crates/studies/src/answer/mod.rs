//! Exact or simulated: determines whether a question about a net has an exact answer, whether it is faster,
//! and computes it.
//!
//! ```text
//! net, Question ──▶ Choice (exact by which method, or why not) ──▶ ExactAnswer, or replications of sim
//! ```
//!
//! | question | file |
//! |---|---|
//! | questions with an exact answer, and its cost | [`choice`] |
//! | the answer as a value | [`value`] |
//! | the exact answer from all states | `states` |
//! | the states of a folded net, in place of those of the net | `counted` |
//! | the time from one set of markings to another | `response` |
//! | what a question requests | [`request`] |
//! | the choice between all states and the parts of a schedule | [`route`] |
//!
//! Every choice depends only on the question, the net and its number of states, so it is the same on every machine.

pub mod choice;
mod counted;
pub mod request;
mod response;
pub mod route;
mod states;
pub mod value;

pub use choice::{Choice, choose, exact, exact_of_prepared};
pub use counted::{CountedStates, FEW_STATES};
pub use response::ResponseTime;
pub use route::{Route, RouteMethod, SolveRoute};
pub use value::{
    AnswerError, ExactAnswer, ExactMethod, ExactTime, NeedsReplications, can_stop, phases_if_possible, time_to,
    with_phases,
};
