//! Settings for reading strace logs: data paths and the counting of times.

use serde::{Deserialize, Serialize};

use crate::diagnose::syscalls::invocation::{Matching, Sides};
use crate::diagnose::syscalls::table::Clock;
use crate::diagnose::syscalls::tally::Buckets;

/// Paths that hold data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DataFolders {
    /// Prefixes of paths with data; none means all paths outside the folders of the system and of programs.
    pub folders: Vec<String>,
}

/// System folders, which hold no data of a job.
const SYSTEM: [&[u8]; 13] = [
    b"/usr/", b"/lib/", b"/lib64/", b"/lib32/", b"/etc/", b"/proc/", b"/sys/", b"/dev/", b"/bin/", b"/sbin/",
    b"/boot/", b"/run/", b"/snap/",
];

impl DataFolders {
    /// Returns true if a path holds data.
    pub fn holds(&self, path: &[u8]) -> bool {
        if self.folders.is_empty() {
            return !SYSTEM.iter().any(|folder| path.starts_with(folder) || path == &folder[..folder.len() - 1]);
        }
        self.folders.iter().any(|folder| {
            let folder = folder.trim_end_matches('/').as_bytes();
            path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        })
    }
}

/// Settings for reading logs.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadSettings {
    /// Intervals that times are sorted into.
    pub buckets: Buckets,
    /// Paths that hold data.
    pub data: DataFolders,
    /// Criterion for equal invocations.
    pub matching: Matching,
    /// Sides of an invocation's range on which a time counts as outside: both, or only above.
    pub sides: Sides,
    /// Clock of the totals; `None` to detect it from the totals.
    pub clock: Option<Clock>,
    /// Maximum bytes of a line; longer lines are skipped and counted. Default 1 MiB.
    pub longest_line: usize,
    /// Maximum number of different invocations kept per node, at about 40 bytes each. Default 1 million.
    pub most_invocations: usize,
}

impl Default for ReadSettings {
    fn default() -> Self {
        Self {
            buckets: Buckets::default(),
            data: DataFolders::default(),
            matching: Matching::default(),
            sides: Sides::default(),
            clock: None,
            longest_line: 1 << 20,
            most_invocations: 1_000_000,
        }
    }
}
