//! Summary of one node's log for a diagnosis: sums, histograms, peers, and warnings about the log.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::diagnose::syscalls::class::CallClass;
use crate::diagnose::syscalls::invocation::{Extremes, Outside};
use crate::diagnose::syscalls::tally::{Histogram, Tally};
use crate::diagnose::syscalls::warning::Oddity;

/// Form of a strace log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Every call with its time: `-f -T` with any of `-t`, `-tt`, `-ttt`, `-r`.
    Calls,
    /// Totals of wall-clock time: `-c -w`.
    WallTotals,
    /// Totals of CPU time: `-c` without `-w`. Waiting for a disk or a network does not show in it.
    ProcessorTotals,
    /// Every call, but without `-T`, so no time is known.
    Untimed,
}

impl Form {
    /// Returns a description with the strace options that produce it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Calls => "calls with times (-T)",
            Self::WallTotals => "totals of elapsed time (-c -w)",
            Self::ProcessorTotals => "totals of CPU time (-c without -w)",
            Self::Untimed => "calls without times (no -T)",
        }
    }
}

/// The calls of one class on one node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassCalls {
    /// All calls, including calls with an unknown time or end.
    pub calls: u64,
    /// Failed calls.
    pub errors: u64,
    /// Calls with a known time.
    pub timed: Tally,
    /// Calls with a known time, by their time; empty for totals.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub histogram: Histogram,
}

fn is_empty(histogram: &Histogram) -> bool {
    histogram.0.is_empty()
}

/// Summary of one node's log.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeCalls {
    /// The node's name: as given, or the file's name up to the first dot.
    pub node: String,
    /// The file.
    pub file: String,
    /// The form of the log.
    pub form: Form,
    /// Calls of each class, in the order of [`CallClass::ALL`].
    pub classes: [ClassCalls; 7],
    /// Calls of `stat` (except on open files) and `access` on paths with data; for totals, on any path.
    pub data_files: Tally,
    /// Blocking `connect` calls by destination address; none for totals.
    pub peers: BTreeMap<String, Tally>,
    /// Own addresses visible in the log.
    pub addresses: BTreeSet<String>,
    /// Calls of `connect` that did not wait (`EINPROGRESS`): their connection time is not in the log.
    pub not_waited: u64,
    /// Calls of `stat` on an open file through an empty path. They are not counted in any class.
    pub on_open_files: u64,
    /// First and last time of the log: seconds since 1970, if it has such times.
    pub span: Option<[f64; 2]>,
    /// The extremes of each invocation, if learned.
    pub extremes: Extremes,
    /// Calls outside the ranges of a profile, if given.
    pub outside: Outside,
    /// Numbers of lines.
    pub lines: LineCounts,
    /// True if the log ends inside a line, inside its compressed data, or without the last row of its table.
    pub cut: bool,
    /// True if the logs of the other nodes continue for much longer, so a small number of calls has
    /// no meaning. Set by [`Run::of`](crate::diagnose::syscalls::Run::of).
    pub ends_early: bool,
    /// Oddities of the log.
    pub odd: Vec<Oddity>,
}

impl NodeCalls {
    /// Returns the calls of a class.
    pub fn class(&self, class: CallClass) -> &ClassCalls {
        &self.classes[class.index()]
    }

    /// Returns the total time of all calls of a class, in seconds.
    pub fn total(&self, class: CallClass) -> f64 {
        self.class(class).timed.seconds()
    }

    /// Returns the blocking calls of `connect` to other machines; for totals, all calls of `connect`.
    pub fn connects(&self) -> Tally {
        if self.form != Form::Calls {
            return self.class(CallClass::Connect).timed;
        }
        let mut sum = Tally::default();
        self.peers.values().for_each(|tally| sum.merge(*tally));
        sum
    }
}

/// Lines of a log by content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LineCounts {
    /// All lines.
    pub lines: u64,
    /// Calls on one line, of any class or none.
    pub whole: u64,
    /// Starts of calls that continue later.
    pub begun: u64,
    /// Ends of calls that started on an earlier line.
    pub resumed: u64,
    /// Signals.
    pub signals: u64,
    /// Ends of processes.
    pub exits: u64,
    /// Calls of the classes without an end, because their process or the log ended first.
    pub never_ended: u64,
    /// Rows of a table of totals.
    pub rows: u64,
}

/// Builds the sums of a class from totals.
pub(super) fn totals_of(calls: u64, errors: u64, nanoseconds: u64) -> ClassCalls {
    ClassCalls { calls, errors, timed: Tally { calls, nanoseconds }, histogram: Default::default() }
}
