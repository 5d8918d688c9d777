//! The numbers of states at which exact methods change, in one place.
//!
//! Every choice depends only on the question, the net and its number of states, so it is the same on every machine.

/// Number of states up to which a schedule is solved by all its states; a larger schedule is solved by its parts in series and in
/// parallel, whose numbers have bounds.
pub(super) const SCHEDULE_STATES: u64 = 10_000;

/// Number of states up to which a net is solved unfolded, even if it has equal parts: its verdicts and its picture then refer to
/// every marking.
pub const UNFOLDED_STATES: u64 = 20_000;

/// Maximum number of states of the folded net for an exact answer in place of replications. The answer takes about 0.1
/// ms per state, so less than a second, and little memory. Counting 5,000 states takes about 50 ms.
pub(super) const CHEAP_STATES: u64 = 5_000;

/// Maximum number of states times transitions of an exact answer in place of replications: exploring a large net must not take
/// longer than simulating it.
pub(super) const CHEAP_WORK: u64 = 4_000_000;
