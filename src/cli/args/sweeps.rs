//! The arguments of `sweep` and `tool merge`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};

use tailspn::share::Shard;

use crate::cli::args::{PlaceArgs, PlanArgs, PlotArgs, PrintArgs, TrustArgs};
use crate::cli::input::Input;
use crate::cli::values;

#[derive(Debug, Args)]
#[command(override_usage = "tailspn sweep [OPTIONS] <PLAN>\n       tailspn sweep --print-plan")]
#[command(after_long_help = "\
docs/sweeps.md describes the plans. All points use the same random numbers.

Examples:
    # a plan that asks which setting of the default job matters most
    tailspn sweep --print-plan > knobs.toml
    tailspn sweep knobs.toml -o results --plots pictures

    # continue after Ctrl-C, a kill or a full disk
    tailspn sweep knobs.toml -o results --resume

    # the same with less data, on two threads, as CSV
    tailspn sweep knobs.toml --input-size 1GB --threads 2 --csv > sweep.csv

    # half of the points here, the others on another machine
    tailspn sweep knobs.toml -o part1 --shard 1/2
    tailspn sweep knobs.toml -o part2 --shard 2/2
    tailspn tool merge part1 part2 -o whole
")]
pub(crate) struct SweepArgs {
    /// Plan of the sweep
    #[arg(required_unless_present = "print_plan", value_hint = ValueHint::AnyPath)]
    pub(crate) plan: Option<Input>,
    #[command(flatten)]
    pub(crate) planned: PlanArgs,
    /// New folder for the results; each point is written soon after it finishes
    #[arg(short, long, value_name = "RESULT", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Continue from the results in RESULT, if there are any; refused if the plan has changed
    #[arg(long, requires = "output", help_heading = "Output")]
    pub(crate) resume: bool,
    /// Run only every Nth point, starting with point I; `tailspn tool merge` merges the shards
    #[arg(long, value_name = "I/N", requires = "output", value_parser = values::shard, help_heading = "Run")]
    pub(crate) shard: Option<Shard>,
    /// Maximum number of new points; `--resume` continues
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count, help_heading = "Run")]
    pub(crate) max_points: Option<u64>,
    /// Seed of every point, instead of the plan's
    #[arg(long, value_name = "S", allow_hyphen_values = true, value_parser = values::count, help_heading = "Run")]
    pub(crate) seed: Option<u64>,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::threads, help_heading = "Run")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Wall time after which no new point starts, such as 30s or 5m
    #[arg(long, value_name = "WALL", allow_hyphen_values = true, value_parser = values::wall_time, help_heading = "Run")]
    pub(crate) max_time: Option<Duration>,
    /// Total replications of all points, instead of the plan's budget; points with the widest intervals get more
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count, conflicts_with = "shard", help_heading = "Run")]
    pub(crate) budget_replications: Option<u64>,
    /// Wall time until which points with the widest intervals get more replications, such as 30s or 5m, instead of
    /// the plan's budget
    #[arg(long, value_name = "WALL", allow_hyphen_values = true, value_parser = values::wall_time, conflicts_with = "shard", help_heading = "Run")]
    pub(crate) budget_time: Option<Duration>,
    /// Do not fold equal parts of the net
    #[arg(long, help_heading = "Run")]
    pub(crate) no_fold: bool,
    /// Confidence level of all intervals
    #[arg(long, value_name = "LEVEL", default_value = "0.95", allow_hyphen_values = true, value_parser = values::share, help_heading = "Run")]
    pub(crate) level: f64,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Print events to standard error as JSON lines (described in docs/json.md), instead of a progress bar
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) events: Option<EventFormat>,
    #[command(flatten)]
    pub(crate) print: SweepPrintArgs,
    /// Print a plan with a comment on every key and exit
    #[arg(long, exclusive = true, help_heading = "Plan")]
    pub(crate) print_plan: bool,
}

/// The format of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EventFormat {
    /// One line of JSON per event
    Json,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
The merged parts are shown like one whole run. The net or plan of the run must still exist, unchanged.

Examples:
    # half of the replications here, the others on another machine
    tailspn net simulate net.xml --reps 20000 --horizon 50 --shard 1/2 -o a.part
    tailspn net simulate net.xml --reps 20000 --horizon 50 --shard 2/2 -o b.part
    tailspn tool merge a.part b.part --json

    # the first half alone, as a run of fewer replications
    tailspn tool merge a.part --partial

    # folders of a sweep
    tailspn tool merge part1 part2 -o merged
")]
pub(crate) struct MergeArgs {
    /// All parts of one run, or the results of all shards of one sweep
    #[arg(required = true)]
    pub(crate) shards: Vec<PathBuf>,
    /// Folder for the merged result of a sweep
    #[arg(short, long, value_name = "RESULT", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
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
    /// Replace pictures that exist
    #[arg(long, requires = "plots")]
    pub(crate) force: bool,
}
