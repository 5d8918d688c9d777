//! The arguments of `report`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::PlotArgs;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Results are told by their content; several become sections of one page, side by side at its top.
What the page shows is in docs/report.md.

Examples:
    tailspn estimate job.toml --json > job.json
    tailspn report job.json -o job.html
    tailspn report job.json job.toml -o job.html              with the plan as it was written
    tailspn report time.json net.xml -o time.html             with a picture of the net
    tailspn report before.json after.json -o both.html
    tailspn report results -o sweep.html --plots pictures     of `tailspn sweep plan.toml -o results`
")]
#[command(group(clap::ArgGroup::new("written").args(["output", "plots"]).multiple(true).required(true)))]
pub(crate) struct ReportArgs {
    /// Results of tailspn: the --json of a command, or the folder of a sweep; also plans and nets, shown with the
    /// result before them; `-` is JSON from standard input
    #[arg(required = true)]
    pub(crate) results: Vec<PathBuf>,
    /// Page to write, as one HTML file; `-` is standard output
    #[arg(short, long, value_name = "FILE.html", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plots: PlotArgs,
    /// Replace files that exist
    #[arg(long, help_heading = "Output")]
    pub(crate) force: bool,
}
