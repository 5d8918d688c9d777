//! The arguments of the commands for jobs: `net spn-gc`, `estimate`, `whatif`, `tool detectors`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use tailspn::mapreduce::{CopySlots, Speculation, Stragglers};
use tailspn::optimize::Price;
use tailspn::plan::Copies;

use crate::cli::args::why::at_least_one;
use crate::cli::args::{
    ChoiceArgs, FittedArgs, LogArgs, Method, PartArgs, PlaceArgs, PlanArgs, PlotArgs, PrintArgs, RunArgs, SizeLists,
    TableArgs, TrustArgs,
};
use crate::cli::input::Input;
use crate::cli::straggler_values;
use crate::cli::values;

/// A plan of a job.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
    # the net of the default job, for PIPE
    tailspn net spn-gc --save-net net-of-job.xml

    # a small one, as a picture
    tailspn net spn-gc --maps 3 --reduces 2 --save-net small.svg

    # with stragglers, and copies that a detector starts
    tailspn net spn-gc --stragglers 0.1:4 --speculation r=0.6,p=0.8,dl=0.4 \\
        --save-net copies.xml

    # the job of a plan, with less data
    tailspn net spn-gc job.toml --input-size 1GB --save-net job-1gb.xml
")]
pub(crate) struct SpnGcArgs {
    /// Number of map tasks
    #[arg(long, value_name = "M", allow_hyphen_values = true, value_parser = values::positive_count, conflicts_with = "input_size")]
    pub(crate) maps: Option<u64>,
    /// Means of the nine phases in seconds, separated by commas [default: computed from the plan]
    #[arg(long, value_name = "T1,...,T9", allow_hyphen_values = true, value_parser = values::nine_means)]
    pub(crate) means: Option<[f64; 9]>,
    /// Plan of the job; without one, the default job
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) plan: Option<Input>,
    #[command(flatten)]
    pub(crate) planned: PlanArgs,
    /// Share of tasks on a slow node, and the factor by which a slow node lengthens a task, such as
    /// 0.1:3. Several factors need a probability each: 0.1:2@0.7,5@0.3 stands for factor 2 with probability 0.7 and
    /// factor 5 with probability 0.3
    #[arg(long, value_name = "SHARE:FACTOR", value_parser = straggler_values::stragglers)]
    pub(crate) stragglers: Option<Stragglers>,
    /// Start copies of the tasks that a detector flags. The detector has recall r, precision p and latency dl, such as
    /// r=0.6,p=0.8,dl=0.4; further keys are ut, fake, alarm, slow and slots=idle|shared|reserved:N (see docs/stragglers.md)
    #[arg(long, value_name = "KEY=VALUE,...", value_parser = straggler_values::speculation)]
    pub(crate) speculation: Option<Speculation>,
    /// Give every task a copy when it starts; SLOTS for copies are idle, shared or reserved:N
    #[arg(long, value_name = "SLOTS", value_parser = straggler_values::slots, num_args = 0..=1, default_missing_value = "idle", require_equals = true, conflicts_with = "speculation")]
    pub(crate) clone: Option<CopySlots>,
    /// File to write: .xml, .dot or .svg; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) save_net: PathBuf,
    /// Replace FILE if it exists
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
    # the default job
    tailspn estimate --demo

    # its plan, with a comment on every key
    tailspn estimate --print-plan > job.toml

    # more replications, and the net for PIPE
    tailspn estimate job.toml --reps 10000 --save-net job-net.xml

    # the job with more data on more workers
    tailspn estimate job.toml --input-size 20GB --workers 8 --deadline 85s

    # the next run of a Spark job, from logs of two runs, and at another size
    tailspn estimate small.gz large.gz
    tailspn estimate small.gz large.gz --input-size 10GB --executors 8 --cores 4

    # a table of cluster sizes, with the cheapest that meets a deadline
    tailspn estimate small.gz large.gz --input-size 3x --executors 1..32 \\
        --deadline 2m --price 0.05USD/core-hour

    # from a table of runs, on machines that it does not have (docs/tables.md)
    tailspn estimate runs.tsv --only program=shuffle --executors 1..4 \\
        --deadline 5m

    # one of several applications in an archive; a MapReduce job
    tailspn estimate logs.zip --app application_1724877841851_0016 \\
        --max-attempts 1000000
    tailspn estimate history.txt --job job_160000000000_0007

    # the time left of a running application, from what earlier runs took (with
    # 90% intervals)
    tailspn estimate app.inprogress small.gz --deadline 5m

    # half of the replications; `tailspn tool merge` puts the halves together
    tailspn estimate job.toml --shard 1/2 --save-part half-job.part
")]
pub(crate) struct EstimateArgs {
    /// Logs of runs, a table of runs or the plan of the job; of a run in progress, its log, then logs of other runs or a
    /// plan of them
    #[arg(value_name = "LOG|PLAN|TABLE", value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<Input>,
    /// Estimate a built-in job
    #[arg(long, conflicts_with = "inputs")]
    pub(crate) demo: bool,
    #[command(flatten)]
    pub(crate) fitted: FittedArgs,
    /// Method for the job time; `auto` also prints the exact job time if a formula exists
    #[arg(long, default_value = "auto", help_heading = "Run")]
    pub(crate) method: Method,
    /// Replications [default: 2000]; with --rel-error, the maximum
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count, help_heading = "Run")]
    pub(crate) reps: Option<u64>,
    /// Run replications until the half width of the interval of the mean job time is this share of the mean, such as
    /// 0.5%
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, value_parser = values::share, help_heading = "Run")]
    pub(crate) rel_error: Option<f64>,
    /// If fewer than 30 replications miss the deadline, estimate the probability of missing it by splitting, with N
    /// walks on each level, such as 500. Splitting takes as long as the replications at most, or five seconds
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::count, help_heading = "Run")]
    pub(crate) late_effort: Option<u64>,
    /// Do not fold equal tasks (docs/folding.md)
    #[arg(long, help_heading = "Run")]
    pub(crate) no_fold: bool,
    #[command(flatten)]
    pub(crate) planned: ChoiceArgs<SizeLists>,
    /// Of a run in progress: compute task ages at this machine's current time, not at the last event of the log; only for
    /// logs that are written without buffering
    #[arg(long, help_heading = "Question")]
    pub(crate) now: bool,
    /// Price of machine time for a list, such as 0.30/executor-hour, 0.05USD/core-hour or 0.40/node-hour
    #[arg(long, value_name = "AMOUNT/UNIT", allow_hyphen_values = true, help_heading = "Question")]
    pub(crate) price: Option<Price>,
    /// Probability with which the job must meet the deadline [default: 95%]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, value_parser = values::share, help_heading = "Question")]
    pub(crate) probability: Option<f64>,
    /// Share of tasks on a slow node, and the factor by which a slow node lengthens a task, such as
    /// 0.1:3. Several factors need a probability each: 0.1:2@0.7,5@0.3 stands for factor 2 with probability 0.7 and
    /// factor 5 with probability 0.3
    #[arg(long, value_name = "SHARE:FACTOR", value_parser = straggler_values::stragglers, help_heading = "In place of the plan's values")]
    pub(crate) stragglers: Option<Stragglers>,
    /// Spark's speculative copies: `none`, `spark4` (multiplier 3 after 90% of the tasks), `spark3` (1.5 after 75%), or
    /// multiplier=1.5,quantile=0.75; missing settings are as in Spark 4. For a plan of map and reduce tasks: a
    /// detector of recall r,
    /// precision p and latency dl, such as r=0.6,p=0.8,dl=0.4
    #[arg(long, value_name = "SETTINGS", value_parser = straggler_values::copies, help_heading = "In place of the plan's values")]
    pub(crate) speculation: Option<Copies>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    #[command(flatten)]
    pub(crate) part: PartArgs,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
    /// Also write the plan; it contains the options of the command
    #[arg(long, value_name = "PLAN.toml", help_heading = "Output")]
    pub(crate) save_plan: Option<PathBuf>,
    /// Also write the job's net: .xml, .dot or .svg
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) save_net: Option<PathBuf>,
    /// Also write what a table of tasks and the tables of --alongside tell about the cluster, for another --alongside
    #[arg(long, value_name = "FILE.json", help_heading = "Output")]
    pub(crate) save_cluster: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plots: PlotArgs,
    /// Print the default plan with its comments and exit
    #[arg(long, exclusive = true, help_heading = "Plan")]
    pub(crate) print_plan: bool,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
All policies use the same random numbers: the same work of each attempt and the same slow-downs.

Examples:
    # 20 nodes with 1 to 4 active cores, three detectors
    tailspn whatif --demo

    # its plan, with a comment on every key
    tailspn whatif --print-plan > copies.toml

    # other settings, and a picture
    tailspn whatif copies.toml --sweep lag=20,60 --plot copies.svg

    # what each policy would have changed in a recorded run
    tailspn whatif app.gz

    # one of several applications in an archive
    tailspn whatif logs.zip --app application_1724877841851_0016 \\
        --max-attempts 1000000

    # a job that `estimate` plans, with other data
    tailspn whatif job.toml --input-size 1GB

    # half of the replications; `tailspn tool merge` puts the halves together
    tailspn whatif --demo --shard 1/2 --save-part half-policies.part
")]
pub(crate) struct WhatIfArgs {
    /// Plan of cluster, jobs and policies, or the log of a finished job
    #[arg(value_name = "PLAN|LOG", value_hint = ValueHint::AnyPath)]
    pub(crate) plan: Option<Input>,
    /// Compare policies for a built-in job
    #[arg(long, conflicts_with = "plan")]
    pub(crate) demo: bool,
    /// For a log: the policies to compare, `all` of the literature or those of this plan [default: those that the log's
    /// system can be set to]
    #[arg(long, value_name = "all|PLAN.toml", help_heading = "Run")]
    pub(crate) policies: Option<PathBuf>,
    /// For a log of several jobs: id or name of the job; of a Spark job, its number
    #[arg(long, value_name = "ID", help_heading = "Run")]
    pub(crate) job: Option<String>,
    /// Replications of each policy [default: 500; for a log, at least 128, until the interval of each mean change is
    /// within ±0.5% of the job's time]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count, help_heading = "Run")]
    pub(crate) reps: Option<u64>,
    #[command(flatten)]
    pub(crate) planned: PlanArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Run every detector with each value of `lag` (seconds), `reservation` (share of slots for tasks, or `shared`)
    /// or `threshold` (in the detector's own unit); if repeated, with all combinations
    #[arg(long, value_name = "AXIS=V1,V2,...", value_parser = values::axis, help_heading = "Run")]
    pub(crate) sweep: Vec<values::SweepAxis>,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) part: PartArgs,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
    #[command(flatten)]
    pub(crate) limits: LogArgs,
    /// Also draw the job times and energies; a name that ends in .png gives a PNG
    #[arg(long, value_name = "FILE.svg", help_heading = "Output")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plots: PlotArgs,
    /// Print the default plan with its comments and exit
    #[arg(long, exclusive = true, help_heading = "Plan")]
    pub(crate) print_plan: bool,
}

#[derive(Debug, Args)]
#[command(override_usage = "tailspn tool detectors [OPTIONS]\n       tailspn tool detectors [OPTIONS] --on <RUN>...")]
#[command(after_long_help = "\
Without --on, lists the detectors, the tasks that each flags and its inputs.

With --on, shows which stragglers of recorded jobs each detector would have found, and when. RUN is a log that \
`why` reads, or a folder with a log and the progress reports of its tasks (a table of stage, partition, attempt, \
t_ms, done, total; see docs/watch.md). The reports may also follow the log as a second file.

Examples:
    tailspn tool detectors

    # on a log, compared with usual runs of the program
    tailspn tool detectors --on slow.gz --usual usual1.gz usual2.gz

    # on a log and its progress reports, with the policies of a plan
    tailspn tool detectors --on job.jhist progress.tsv.gz --policies copies.toml

    # on several logs, none of them large
    tailspn tool detectors --on app.gz slow.gz --max-attempts 1000000 --json
")]
pub(crate) struct DetectorsArgs {
    /// Recorded jobs to judge the detectors on
    #[arg(long, value_name = "RUN", num_args = 1.., help_heading = "Question")]
    pub(crate) on: Vec<PathBuf>,
    /// Runs of the same program without stragglers, from which the expected time of each task is taken [default: the
    /// median task time of the stage]
    #[arg(long, value_name = "RUN", num_args = 1.., requires = "on", help_heading = "Question")]
    pub(crate) usual: Vec<PathBuf>,
    /// Judge the policies of this plan [default: the policies of the literature]
    #[arg(long, value_name = "PLAN.toml", requires = "on", help_heading = "Question")]
    pub(crate) policies: Option<PathBuf>,
    /// Factor of the expected time above which a task is a straggler
    #[arg(long, value_name = "FACTOR", default_value = "1.2", allow_hyphen_values = true, value_parser = at_least_one, help_heading = "Question")]
    pub(crate) factor: f64,
    /// Confidence level of all intervals
    #[arg(long, value_name = "LEVEL", default_value = "90%", allow_hyphen_values = true, value_parser = values::share, help_heading = "Question")]
    pub(crate) level: f64,
    #[command(flatten)]
    pub(crate) limits: LogArgs,
    /// Maximum bytes of a file of reports after decompression, such as 2G; the rest is skipped
    #[arg(long, value_name = "BYTES", default_value = "1G", allow_hyphen_values = true, value_parser = values::bytes, help_heading = "Limits")]
    pub(crate) max_samples: u64,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}
