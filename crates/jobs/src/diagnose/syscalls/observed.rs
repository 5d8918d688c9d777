//! What the log of one node says, in as much as a diagnosis needs: sums, histograms, peers, and what is odd about the log.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::diagnose::syscalls::class::CallClass;
use crate::diagnose::syscalls::invocation::{Extremes, Outside};
use crate::diagnose::syscalls::tally::{Histogram, Tally};
use crate::diagnose::syscalls::warning::Oddity;

/// What a log of strace consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Every call with its time: `-f -T` with any of `-t`, `-tt`, `-ttt`, `-r`.
    Calls,
    /// Totals by the clock on the wall: `-c -w`.
    WallTotals,
    /// Totals of processor time: `-c` without `-w`. What waits for a disk or a network does not show in it.
    ProcessorTotals,
    /// Every call, but without `-T`, so that no time is known.
    Untimed,
}

impl Form {
    /// How strace is told to write it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Calls => "calls with times (-T)",
            Self::WallTotals => "totals of elapsed time (-c -w)",
            Self::ProcessorTotals => "totals of processor time (-c without -w)",
            Self::Untimed => "calls without times (no -T)",
        }
    }
}

/// The calls of one class on one node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassCalls {
    /// All calls, also those of which the time or the end is unknown.
    pub calls: u64,
    /// Those that failed.
    pub errors: u64,
    /// Those whose time is known.
    pub timed: Tally,
    /// The same by their times; empty of totals.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub histogram: Histogram,
}

fn is_empty(histogram: &Histogram) -> bool {
    histogram.0.is_empty()
}

/// What one node's log says.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeCalls {
    /// The node's name: what was given, or what comes before the first dot of the file's name.
    pub node: String,
    /// The file.
    pub file: String,
    /// What the log consists of.
    pub form: Form,
    /// Per class, in the order of [`CallClass::ALL`].
    pub classes: [ClassCalls; 7],
    /// Calls of `stat` (without those on open files) and `access` on paths with data; of totals, on any.
    pub data_files: Tally,
    /// Blocking calls of `connect` by the address that they went to; none of totals.
    pub peers: BTreeMap<String, Tally>,
    /// Own addresses, as far as the log shows them.
    pub addresses: BTreeSet<String>,
    /// Calls of `connect` that did not wait (`EINPROGRESS`): how long the connection took is not in the log.
    pub not_waited: u64,
    /// Calls of `stat` that ask about an open file by an empty path. They are counted in no class.
    pub on_open_files: u64,
    /// First and last time of the log: seconds since 1970, where it has such times.
    pub span: Option<[f64; 2]>,
    /// The extremes of each invocation, where they were learnt.
    pub extremes: Extremes,
    /// Which calls were outside the extremes of a profile, where one was given.
    pub outside: Outside,
    /// Numbers of lines.
    pub lines: LineCounts,
    /// True if the log ends inside a line, inside its compressed data, or without the last row of its table.
    pub cut: bool,
    /// True if the logs of the other nodes go on for much longer, so that a small number of calls says nothing. Set by
    /// [`Run::of`](crate::diagnose::syscalls::Run::of).
    pub ends_early: bool,
    /// What is odd about the log.
    pub odd: Vec<Oddity>,
}

impl NodeCalls {
    /// The calls of a class.
    pub fn class(&self, class: CallClass) -> &ClassCalls {
        &self.classes[class.index()]
    }

    /// The time that all calls of a class took together, in seconds.
    pub fn total(&self, class: CallClass) -> f64 {
        self.class(class).timed.seconds()
    }

    /// Blocking calls of `connect` to other machines; of totals, all calls of `connect`.
    pub fn connects(&self) -> Tally {
        if self.form != Form::Calls {
            return self.class(CallClass::Connect).timed;
        }
        let mut sum = Tally::default();
        self.peers.values().for_each(|tally| sum.merge(*tally));
        sum
    }
}

/// Lines of a log by what they say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineCounts {
    /// All lines.
    pub lines: u64,
    /// Calls on one line, of any class and of none.
    pub whole: u64,
    /// Beginnings of calls that go on later.
    pub begun: u64,
    /// Ends of such calls.
    pub resumed: u64,
    /// Signals.
    pub signals: u64,
    /// Ends of processes.
    pub exits: u64,
    /// Calls of the classes that had no end: their process ended, or the log did.
    pub never_ended: u64,
    /// Rows of a table of totals.
    pub rows: u64,
}

/// Sums of a class that came from totals.
pub(super) fn totals_of(calls: u64, errors: u64, nanoseconds: u64) -> ClassCalls {
    ClassCalls { calls, errors, timed: Tally { calls, nanoseconds }, histogram: Default::default() }
}
