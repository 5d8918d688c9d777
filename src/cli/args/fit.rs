//! The arguments of `fit`, and Spark's speculation.

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::{LogArgs, PrintArgs};
use crate::cli::values;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Spark: each log is one run of the same program. One log is enough where it tells all; what it cannot tell is assumed,
and said. Logs of two sizes of input show how tasks and data grow; several of one size show how much whole runs differ.
MapReduce: the log of one small test job, and beside it its *_conf.xml; what comes out is a job plan as of
`estimate --print-plan`, with a comment on where each value is from. Several jobs of the program, in one log or
several, give one plan: jobs of different sizes tell what grows with the data, and how much whole runs differ.
The models and their assumptions: docs/fit.md; how they fare against real runs: docs/validation.md.

Examples:
    tailspn fit run.gz -o plan.toml
    tailspn fit small1.gz small2.gz large.gz -o plan.toml
    tailspn fit sort-2x.gz sort-4x.gz --beside join-2x.gz --beside join-8x.gz -o plan.toml
    tailspn estimate plan.toml --input-size 10GB --executors 8
    tailspn fit job_1.jhist job_1_conf.xml -o job.toml
    tailspn fit history.json --job nightly-report -o job.toml
")]
pub(crate) struct FitArgs {
    /// Spark event logs, one per run, or folders and zip archives of them; or a MapReduce log with its *_conf.xml
    #[arg(required = true)]
    pub(crate) logs: Vec<PathBuf>,
    /// Event log of another Spark program on the same cluster, with more or fewer executors than other logs; used only
    /// to fit how executors of a host slow each other down; may be repeated
    #[arg(long, value_name = "LOG", help_heading = "Question")]
    pub(crate) beside: Vec<PathBuf>,
    /// Plan to write; `-` is standard output, with the table on standard error
    #[arg(short, long, value_name = "PLAN.toml")]
    pub(crate) output: Option<PathBuf>,
    /// Replace PLAN.toml if it exists
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Input size of each log, in the order of the logs, if the logs do not record it, such as 10GB; one for each log
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true, value_parser = values::bytes, help_heading = "Question")]
    pub(crate) input_size: Vec<u64>,
    /// Job of a MapReduce log that holds several: an id, such as job_201002080801_40864, or a name, for all jobs of
    /// that name; may be repeated
    #[arg(long, value_name = "ID|NAME", help_heading = "Question")]
    pub(crate) job: Vec<String>,
    /// Confidence level of all intervals
    #[arg(long, value_name = "LEVEL", default_value = "0.95", allow_hyphen_values = true, value_parser = values::share, help_heading = "Question")]
    pub(crate) level: f64,
    #[command(flatten)]
    pub(crate) limits: LogArgs,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}
