//! Outcome of one replication under one policy.

use serde::{Deserialize, Serialize};

use crate::cluster::metrics::Tally;

/// Numbers of a replication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Time from a job's submission to its end, the mean over the jobs \[s\].
    pub job_s: f64,
    /// Time at which the last job ended \[s\].
    pub makespan_s: f64,
    /// Energy of all nodes until the last job ended \[J\].
    pub energy_j: f64,
    /// Slot-seconds of attempts that were killed or lost \[s\].
    pub wasted_s: f64,
    /// Slot-seconds of all attempts \[s\].
    pub used_s: f64,
    /// Copies that were started.
    pub copies: u32,
    /// Copies that ended before their original.
    pub won: u32,
    /// Tasks that were killed to restart on another node.
    pub restarts: u32,
    /// Sum over the copies of the time from the request to the start \[s\].
    pub copy_wait_s: f64,
    /// Map tasks by fate.
    pub maps: Tally,
    /// Reduce tasks by fate.
    pub reduces: Tally,
    /// True if the times are lower bounds, because a task ended with an attempt whose time is a lower bound.
    pub at_least: bool,
}

/// Reason why a run does not finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunFault {
    /// Nodes fail before their tasks can end, or no slot is left for tasks. Make failures rarer or tasks shorter.
    #[error("the jobs do not finish: after {events} events on the nodes, {done} of {tasks} tasks have finished")]
    NoEnd {
        /// Number of events processed.
        events: u64,
        /// Finished tasks.
        done: u32,
        /// All tasks.
        tasks: u32,
    },
    /// The watch of the settings has stopped the work.
    #[error("stopped before the first replication was complete")]
    Stopped,
}
