//! The arguments of `compare`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::{LogArgs, PrintArgs};
use crate::cli::values;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Both sides are of one kind: logs of runs (all that `trace` reads with one job in a log), results (the --json of
`estimate`, `simulate` and others that have a time), or plans. With two or more logs on each side a test tells whether
the difference is beyond chance. What the numbers mean: docs/compare.md.

Examples:
    tailspn compare before.gz after.gz
    tailspn compare old-1.gz old-2.gz old-3.gz --to new-1.gz new-2.gz new-3.gz
    tailspn compare cpu.zstd gpu.zstd                    speed-up of each stage
    tailspn compare before.json after.json --json        of `tailspn estimate ... --json`
    tailspn compare job.toml other.toml                  the keys that differ
")]
pub(crate) struct CompareArgs {
    /// Side A, then side B; with --to all of them are side A
    #[arg(required = true, value_name = "FILE")]
    pub(crate) from: Vec<PathBuf>,
    /// Files of side B
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Question")]
    pub(crate) to: Vec<PathBuf>,
    /// Confidence level of intervals and of the verdict
    #[arg(long, value_name = "LEVEL", default_value = "0.95", allow_hyphen_values = true, value_parser = values::share, help_heading = "Question")]
    pub(crate) level: f64,
    #[command(flatten)]
    pub(crate) limits: LogArgs,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

impl CompareArgs {
    /// The files of both sides, side A first.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.from.iter().chain(&self.to)
    }
}
