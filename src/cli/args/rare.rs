//! Arguments of `net rare`.

use clap::Args;

use crate::cli::args::{NetArgs, PrintArgs, RunArgs};
use crate::cli::values;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Times are in seconds. docs/rare.md describes the method and its limits.

Examples:
    # a full queue before the first failure
    tailspn net rare net.xml --until '#(queue) >= 12' --avoid '#(failed) > 0'

    # three simultaneous failures within a minute
    tailspn net rare net.xml --until '#(failed) >= 3' --within 60

    # a job that takes longer than 100 s
    tailspn net rare job.xml --beyond 100

    # with an importance function of your own
    tailspn net rare net.xml --until '#(queue) >= 8 && #(failed) >= 2' \\
        --within 60 --importance 'min(#(queue), 4 * #(failed))'

    # another value of a rate; less precise in less time; as JSON
    tailspn net rare net.xml --until '#(queue) >= 12' --within 60 \\
        --param arrivals=0.5 --effort 1000 --json
")]
pub(crate) struct RareArgs {
    #[command(flatten)]
    pub(crate) net: NetArgs,
    /// The goal: an expression that is not 0 at the goal, or `dead` (nothing can fire)
    #[arg(long, value_name = "EXPR", default_value = "dead", help_heading = "Question")]
    pub(crate) until: String,
    /// Estimate the probability that the goal is reached within this time
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = values::seconds, help_heading = "Question")]
    pub(crate) within: Option<f64>,
    /// Estimate the probability that the goal is reached before this expression becomes nonzero
    #[arg(long, value_name = "EXPR", help_heading = "Question")]
    pub(crate) avoid: Option<String>,
    /// Estimate the probability that the goal is not reached within this time
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = values::seconds, conflicts_with_all = ["within", "avoid"], help_heading = "Question")]
    pub(crate) beyond: Option<f64>,
    /// An expression that grows on the way to the goal [default: the left side of a goal such as `#(queue) >=
    /// 30`]; with --beyond, the approximate remaining time in seconds [default: fitted to a few walks]
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true, help_heading = "Question")]
    pub(crate) importance: Option<String>,
    /// Number of walks on each level of a batch
    #[arg(long, value_name = "N", default_value = "4000", allow_hyphen_values = true, value_parser = values::positive_count, help_heading = "Run")]
    pub(crate) effort: u64,
    /// Number of independent batches; the interval is computed from their spread
    #[arg(long, value_name = "N", default_value = "32", allow_hyphen_values = true, value_parser = values::positive_count, help_heading = "Run")]
    pub(crate) batches: u64,
    /// Do not fold equal parts of the net
    #[arg(long, help_heading = "Run")]
    pub(crate) no_fold: bool,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}
