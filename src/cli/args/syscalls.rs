//! The arguments of `syscalls`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::args::{ClockChoice, DifferenceChoice, MatchingChoice, PrintArgs, SidesChoice, SyscallMethod};
use crate::cli::values;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Write a log on each node by `strace -f -T -ttt -o n1.strace -p PID`, or, with less information, by `strace -c -f -w \
-o n1.strace -p PID`. Make a profile from runs without a fault, then compare a run with it. docs/syscalls.md \
describes methods, settings and limits.

Examples:
    tailspn syscalls profile usual1/ usual2/ usual3/ -o usual.json
    tailspn syscalls diagnose slow/ --profile usual.json

    # files that are not in one folder, and a picture
    tailspn syscalls diagnose n1=a.strace.gz n2=b.strace.gz n3=c.strace.gz \\
        --profile usual.json --picture calls.svg
")]
pub(crate) struct SyscallsArgs {
    #[command(subcommand)]
    pub(crate) command: SyscallsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SyscallsCommand {
    /// Learn the system calls of fault-free runs
    Profile(SyscallProfileArgs),
    /// Find the faulty node of a run, and its fault
    Diagnose(Box<SyscallDiagnoseArgs>),
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
    tailspn syscalls profile usual1/ usual2/ usual3/ -o usual.json

    # data of the job in /data, and longer lines
    tailspn syscalls profile usual1/ usual2/ usual3/ -o data.json \\
        --data /data --max-line 4M
")]
pub(crate) struct SyscallProfileArgs {
    /// Fault-free runs: one folder per run, with one log per node
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// Profile to write
    #[arg(short, long, value_name = "PROFILE.json")]
    pub(crate) output: PathBuf,
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

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
    tailspn syscalls diagnose slow/ --profile usual.json

    # one method, for longer lines, as JSON
    tailspn syscalls diagnose slow/ --profile usual.json --method improved \\
        --max-line 4M --json
")]
pub(crate) struct SyscallDiagnoseArgs {
    /// The folder of a run, or one log per node, as NODE=FILE if the file name does not start with the node's name
    #[arg(required = true, value_name = "LOG")]
    pub(crate) logs: Vec<String>,
    /// Profile of fault-free runs
    #[arg(short, long, value_name = "PROFILE.json")]
    pub(crate) profile: PathBuf,
    /// Method; may be repeated [default: all]
    #[arg(long, value_enum, help_heading = "Method")]
    pub(crate) method: Vec<SyscallMethod>,
    /// improved: factor by which a score must exceed the largest score of the control runs
    #[arg(long, value_name = "X", default_value = "1.4", allow_hyphen_values = true, value_parser = values::positive, help_heading = "Method")]
    pub(crate) margin: f64,
    /// statistical: minimum difference between the greatest total and the total of every other node
    #[arg(long, value_name = "SHARE", default_value = "25%", allow_hyphen_values = true, value_parser = values::share, help_heading = "Method")]
    pub(crate) hog_share: f64,
    /// statistical: minimum difference between the scores of two nodes
    #[arg(long, value_name = "SHARE", default_value = "50%", allow_hyphen_values = true, value_parser = values::share, help_heading = "Method")]
    pub(crate) isolation_share: f64,
    /// statistical: value that counts as 100% in a percentage difference
    #[arg(long, value_enum, default_value = "greater", help_heading = "Method")]
    pub(crate) difference: DifferenceChoice,
    /// semantic: report only times above an invocation's range, or also times below this range
    #[arg(long, value_enum, default_value = "both", help_heading = "Method")]
    pub(crate) sides: SidesChoice,
    #[command(flatten)]
    pub(crate) reading: SyscallReadArgs,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
    /// Also draw the system calls of each node, coloured by the distance from the profile
    #[arg(long, value_name = "FILE.svg", help_heading = "Output")]
    pub(crate) picture: Option<PathBuf>,
    /// Replace FILE.svg if it exists
    #[arg(long, requires = "picture", help_heading = "Output")]
    pub(crate) force: bool,
}
