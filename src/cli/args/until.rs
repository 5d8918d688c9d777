//! Arguments about a goal: what to avoid before it, and when it counts.

use clap::Args;

use crate::cli::values;

/// Markings to avoid before a goal, and the time from which the goal counts.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Question")]
pub(crate) struct UntilArgs {
    /// Markings to avoid before --until: the markings in which this expression is not 0
    #[arg(long, value_name = "EXPR", requires = "until")]
    pub(crate) avoid: Option<String>,
    /// Times between which --until counts, in seconds: `10`, `5..10` or `5..`
    #[arg(long, value_name = "[T1..]T2", requires = "until", allow_hyphen_values = true, value_parser = values::time_span)]
    pub(crate) within: Option<[f64; 2]>,
}
