//! The arguments without a verb.

use std::path::PathBuf;

use clap::{Args, Parser};

use crate::cli::args::{Global, PlotArgs, PrintArgs};

/// Show what files are, and what to ask
#[derive(Debug, Parser)]
#[command(name = "tailspn", no_binary_name = true, override_usage = "tailspn FILE... [OPTIONS]")]
pub(super) struct ShowCli {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(flatten)]
    pub(super) show: ShowArgs,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
A plan or net after a result is shown with it on the page. docs/report.md describes the page.

Examples:
    tailspn app.gz

    # the answer of the verb for the file: `why` for a log
    tailspn app.gz --json

    # a result as a page; with the plan as it was written, and with a picture of the net
    tailspn estimate job.toml --json > job.json
    tailspn job.json --html job.html
    tailspn job.json job.toml --html planned.html
    tailspn net simulate job.xml --json > time.json
    tailspn time.json job.xml --html time.html

    # several results on one page
    tailspn estimate job.toml --workers 8 --json > after.json
    tailspn job.json after.json --html both.html

    # the result of a sweep
    tailspn study knobs.toml --save results
    tailspn results --html sweep.html --plots sweep-pictures
")]
pub(crate) struct ShowArgs {
    /// Logs, nets, plans, or results: the --json of a command, or the folder of a sweep; `-` is JSON from standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Write results as one HTML file; `-` is standard output
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plots: PlotArgs,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}
