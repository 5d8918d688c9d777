//! The arguments of `trace`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::{LogArgs, PlotArgs, PrintArgs};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Reads Spark event logs 1.x to 4.x (plain, gz, zstd, lz4, lzf, snappy, rolled, unfinished), Hadoop job histories \
(.jhist, and the text of 0.20 and 1.x), Rumen traces, and the cluster traces of Google 2011 (task_events) and \
Alibaba 2017 and 2018 (batch_task, batch_instance). A log may be a file, a folder, or in the zip archive of a \
History Server. docs/logs.md describes what each format records.

Examples:
    tailspn trace app.gz

    # a picture of where and when each task ran
    tailspn trace app.gz --timeline job.svg

    # what was slower than in usual runs of the program
    tailspn trace slow.gz --usual usual1.gz --usual usual2.gz

    # one attempt of one of several applications in an archive
    tailspn trace logs.zip --max-attempts 1000000 \\
        --app application_1724877841851_0016_4

    # every attempt of every task, for other programs
    tailspn trace app.gz --csv > attempts.csv
")]
#[command(group(clap::ArgGroup::new("written").args(["timeline", "plots"]).multiple(true)))]
pub(crate) struct TraceArgs {
    /// A log, a folder or zip archive with logs; `-` is standard input
    pub(crate) log: PathBuf,
    /// Log of a typical run of the same program, from which the expected time of each task is taken; may be repeated
    #[arg(long, value_name = "LOG", help_heading = "Question")]
    pub(crate) usual: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) limits: LogArgs,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
    /// Also draw a timeline of the attempts, with one lane per slot of each node; a name that ends in
    /// .png gives a PNG
    #[arg(long, value_name = "FILE.svg", help_heading = "Output")]
    pub(crate) timeline: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plots: PlotArgs,
    /// Replace files that exist
    #[arg(long, requires = "written", help_heading = "Output")]
    pub(crate) force: bool,
}
