//! The arguments of `report`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::PlotArgs;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Results are recognised by their content. Several become sections of one page, compared at its top. docs/report.md \
describes the page.

Examples:
    tailspn estimate job.toml --json > job.json
    tailspn report job.json -o job.html

    # with the plan as it was written
    tailspn report job.json job.toml -o planned.html

    # with a picture of the net
    tailspn simulate job.xml --json > time.json
    tailspn report time.json job.xml -o time.html

    # several results on one page
    tailspn estimate job.toml --workers 8 --json > after.json
    tailspn report job.json after.json -o both.html

    # the result of a sweep
    tailspn sweep knobs.toml -o results
    tailspn report results -o sweep.html --plots sweep-pictures
")]
#[command(group(clap::ArgGroup::new("written").args(["output", "plots"]).multiple(true).required(true)))]
pub(crate) struct ReportArgs {
    /// Results of tailspn: the --json of a command, or the folder of a sweep; `-` is JSON from standard input. A plan
    /// or net is shown with the result that precedes it on the command line
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
