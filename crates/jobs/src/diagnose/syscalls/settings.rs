//! How logs of strace are read: which files are data, how times are counted.

use serde::{Deserialize, Serialize};

use crate::diagnose::syscalls::invocation::{Matching, Sides};
use crate::diagnose::syscalls::table::Clock;
use crate::diagnose::syscalls::tally::Buckets;

/// Which paths hold data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DataFolders {
    /// Beginnings of paths with data; none: everything outside of the folders of the system and of programs.
    pub folders: Vec<String>,
}

/// Folders of the system, in which no data of a job lies.
const SYSTEM: [&[u8]; 13] = [
    b"/usr/", b"/lib/", b"/lib64/", b"/lib32/", b"/etc/", b"/proc/", b"/sys/", b"/dev/", b"/bin/", b"/sbin/",
    b"/boot/", b"/run/", b"/snap/",
];

impl DataFolders {
    /// Returns true if a path is one of data.
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

/// How logs are read.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadSettings {
    /// Into which intervals times are sorted.
    pub buckets: Buckets,
    /// Which paths hold data.
    pub data: DataFolders,
    /// When two invocations are the same.
    pub matching: Matching,
    /// On which sides of its range an invocation counts as outside.
    pub sides: Sides,
    /// Which clock totals were taken by; `None` to tell by the totals themselves.
    pub clock: Option<Clock>,
    /// Bytes of a line; a longer one is left out and counted. Default 1 MiB.
    pub longest_line: usize,
    /// Different invocations that are kept for each node, of about 40 bytes. Default 1 million.
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
