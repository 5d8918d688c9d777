//! Settings for reading a log.

/// Limits of the reading, and the application to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// Maximum number of attempts; a log with more is refused. An attempt takes about 120 bytes. Default 20 million.
    pub most_attempts: u64,
    /// Maximum bytes of a line; longer lines are skipped and counted. Default 256 MiB.
    pub longest_line: usize,
    /// The application to read from a folder, archive or log with several: its id, its id and attempt
    /// (`ID_2`), its name, or its file. Default none, which requires a single log.
    pub application: Option<String>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { most_attempts: 20_000_000, longest_line: 1 << 28, application: None }
    }
}
