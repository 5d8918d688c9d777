//! The arguments of `tool merge`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::{PlotArgs, PrintArgs};

#[derive(Debug, Args)]
#[command(after_long_help = "\
The merged parts are shown like one whole run. The net or plan of the run must still exist, unchanged.

Examples:
    # half of the replications here, the others on another machine
    tailspn net simulate net.xml --horizon 50 --shard 1/2 --save-part a.part
    tailspn net simulate net.xml --horizon 50 --shard 2/2 --save-part b.part
    tailspn tool merge a.part b.part --json

    # the first half alone, as a run of fewer replications
    tailspn tool merge a.part --partial

    # folders of a sweep
    tailspn tool merge part1 part2 --save merged
")]
pub(crate) struct MergeArgs {
    /// All parts of one run, or the results of all shards of one sweep
    #[arg(required = true)]
    pub(crate) shards: Vec<PathBuf>,
    /// Folder for the merged result of a sweep
    #[arg(long, value_name = "RESULT", help_heading = "Output")]
    pub(crate) save: Option<PathBuf>,
    /// For parts of a run: merge the parts before the first missing one, as a run with fewer replications
    #[arg(long)]
    pub(crate) partial: bool,
    #[command(flatten)]
    pub(crate) print: SweepPrintArgs,
}

/// Output of the results of a sweep.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct SweepPrintArgs {
    #[command(flatten)]
    pub(crate) form: PrintArgs,
    /// Draws the picture of the plan: a curve for one axis, a heat map for a grid of two axes, a tornado for one axis
    /// at a time.
    #[command(flatten)]
    pub(crate) plots: PlotArgs,
}
