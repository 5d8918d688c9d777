//! The arguments of `tool profile`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::{ClockChoice, MatchingChoice};
use crate::cli::values;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Write a log on each node by `strace -f -T -ttt -o n1.strace -p PID`, or, with less information, by `strace -c -f -w \
-o n1.strace -p PID`. `tailspn why` then compares a run with the profile. docs/syscalls.md \
describes methods, settings and limits.

Examples:
    tailspn tool profile usual1/ usual2/ usual3/ --save-profile usual.json

    # data of the job in /data, and longer lines
    tailspn tool profile usual1/ usual2/ usual3/ --save-profile data.json \\
        --data /data --max-line 4M
")]
pub(crate) struct SyscallProfileArgs {
    /// Fault-free runs: one folder per run, with one log per node
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// Profile to write
    #[arg(long, value_name = "PROFILE.json")]
    pub(crate) save_profile: PathBuf,
    /// Replace PROFILE.json if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// Folder with data of the job; may be repeated [default: all except system folders]
    #[arg(long, value_name = "FOLDER", help_heading = "Learning")]
    pub(crate) data: Vec<String>,
    /// Comparison of invocations: exactly, or ignoring memory addresses and peer ports
    #[arg(long, value_enum, default_value = "stable", help_heading = "Learning")]
    pub(crate) matching: MatchingChoice,
    /// Upper end of the first interval of the histogram of times, in seconds
    #[arg(long, value_name = "S", default_value = "1e-6", allow_hyphen_values = true, value_parser = values::positive, help_heading = "Learning")]
    pub(crate) first_bucket: f64,
    /// Factor between the upper ends of successive intervals, at least 1.1
    #[arg(long, value_name = "X", default_value = "2", allow_hyphen_values = true, value_parser = values::positive, help_heading = "Learning")]
    pub(crate) bucket_factor: f64,
    #[command(flatten)]
    pub(crate) reading: SyscallReadArgs,
}

/// Settings for reading strace logs.
#[derive(Debug, Args)]
pub(crate) struct SyscallReadArgs {
    /// Clock of the totals of `strace -c`: wall time (with -w), CPU time, or detected from the totals
    #[arg(long, value_enum, default_value = "auto", help_heading = "Reading the logs")]
    pub(crate) clock: ClockChoice,
    /// Maximum length of a line, such as 64K; longer lines are skipped and counted
    #[arg(long, value_name = "BYTES", default_value = "1M", allow_hyphen_values = true, value_parser = values::bytes, help_heading = "Reading the logs")]
    pub(crate) max_line: u64,
    /// Maximum number of different invocations to learn per node
    #[arg(long, value_name = "N", default_value = "1_000_000", allow_hyphen_values = true, value_parser = values::positive_count, help_heading = "Reading the logs")]
    pub(crate) max_invocations: u64,
}
