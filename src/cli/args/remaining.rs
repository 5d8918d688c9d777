//! The arguments of `remaining`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use tailspn::plan::InputSize;

use crate::cli::args::{LogArgs, PrintArgs};
use crate::cli::values;

#[derive(Debug, Args)]
#[command(after_long_help = "\
With a plan, which `tailspn fit` makes from earlier runs of the program, or with the log of an earlier run, the \
prediction covers the whole run. Without a plan, it covers the jobs in progress, from the tasks that have finished so far; later jobs of the program are \
then not predicted. docs/remaining.md describes the model and its limits, docs/validation.md compares it with real runs.

Examples:
    tailspn remaining app.inprogress --plan plan.toml --by 5m --by 10m

    # from the log of an earlier run
    tailspn remaining app.inprogress --plan small.gz

    # a new answer whenever the log grows; one line of JSON for each
    tailspn remaining app.inprogress --plan plan.toml --follow --json

    # the jobs in progress only
    tailspn remaining app.inprogress

    # the same numbers each time, with fewer replications; as JSON
    tailspn remaining app.inprogress --plan plan.toml --seed 7 --reps 500 \\
        --max-attempts 1000000 --json
")]
pub(crate) struct RemainingArgs {
    /// Event log of a running Spark application, or the folder of a rolled log
    pub(crate) log: PathBuf,
    /// Plan that `fit` made from other runs of the program, or the log of another run
    #[arg(long, value_name = "PLAN.toml|LOG", help_heading = "Question")]
    pub(crate) plan: Option<PathBuf>,
    /// Input of the run, such as 10GB, or 3x for three times the plan's [default: computed from the number of tasks]
    #[arg(long, value_name = "SIZE", requires = "plan", allow_hyphen_values = true, help_heading = "Question")]
    pub(crate) input_size: Option<InputSize>,
    /// Deadline, counted from the start of the first job, such as 85s or 5m, to print the probability of meeting it;
    /// may be repeated
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = values::deadline, help_heading = "Question")]
    pub(crate) by: Vec<f64>,
    /// Update the prediction as the log grows, until the application ends or Ctrl-C
    #[arg(long, help_heading = "Question")]
    pub(crate) follow: bool,
    /// Compute task ages at this machine's current time, not at the last event of the log; only for logs that are
    /// written without buffering
    #[arg(long, help_heading = "Question")]
    pub(crate) now: bool,
    /// Probability of the prediction interval
    #[arg(long, value_name = "LEVEL", default_value = "0.9", allow_hyphen_values = true, value_parser = values::share, help_heading = "Question")]
    pub(crate) level: f64,
    /// Replications of the rest of the run [default: 2000, fewer if it has more than 5,000 tasks]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count, help_heading = "Run")]
    pub(crate) reps: Option<u64>,
    /// Seed; the same seed gives the same numbers on any number of threads
    #[arg(long, value_name = "S", default_value = "0", allow_hyphen_values = true, value_parser = values::count, help_heading = "Run")]
    pub(crate) seed: u64,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::threads, help_heading = "Run")]
    pub(crate) threads: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(crate) limits: LogArgs,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}
