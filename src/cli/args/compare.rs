//! The arguments of `compare`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::{LogArgs, PrintArgs};
use crate::cli::values;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Both sides must be of the same kind: logs of runs (any that `trace` reads, with one job per log), results (the --json of \
`estimate`, `simulate` and others that have a time), or plans. With two or more logs on each side, a test shows whether the difference is statistically significant. docs/compare.md describes the numbers.

Examples:
    tailspn compare small.gz large.gz

    # several runs of each side
    tailspn compare usual1.gz usual2.gz --to slow.gz app.gz

    # two results of `tailspn estimate --json`
    tailspn compare before.json after.json --json

    # the keys in which two plans differ
    tailspn compare job.toml other.toml

    # logs with long lines, as Markdown
    tailspn compare small.gz large.gz --max-line 1G --markdown
")]
pub(crate) struct CompareArgs {
    /// Two files or folders, side A first; with --to, all files of side A
    #[arg(required = true, value_name = "FILE")]
    pub(crate) from: Vec<PathBuf>,
    /// Files of side B
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Question")]
    pub(crate) to: Vec<PathBuf>,
    /// Confidence level of all intervals and of the verdict
    #[arg(long, value_name = "LEVEL", default_value = "0.95", allow_hyphen_values = true, value_parser = values::share, help_heading = "Question")]
    pub(crate) level: f64,
    #[command(flatten)]
    pub(crate) limits: LogArgs,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

impl CompareArgs {
    /// Returns the files of both sides, side A first.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.from.iter().chain(&self.to)
    }
}
