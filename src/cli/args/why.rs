//! The arguments of `why`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::args::{
    ClockChoice, CpuChoice, DifferenceChoice, EdgeChoice, LogArgs, PlotArgs, PrintArgs, SidesChoice, SyscallMethod,
};
use crate::cli::values;

#[derive(Debug, Args)]
#[command(after_long_help = "\
The inputs are recognised by their content, plain or compressed. Each is a file or a folder:

    the log of a job      what it did, and why tasks were slow (docs/logs.md)
    samples of nodes      text of mpstat, iostat -xt, sar -u -d -n DEV, sadf
    progress reports      any that `watch` reads: which tasks lag (see --model)
    strace logs           one per node: which node is faulty (needs --profile)
    two logs              what changed; also two results, or two plans

Samples need the log of the job. Progress reports and strace logs are useful without it. With --against, each side may have several \
runs, and a test shows whether the difference is statistically significant.

Samples belong to the node of the same name. Where the names differ, --node-map names a TOML file:

    [node.\"10.0.0.11\"]
    host = \"worker1\"            # its name in the samples
    cpu = [\"all\"]               # or the numbers of its processors
    disk = [\"sda\"]              # default: all but loop, ram and dm devices
    network = [\"eth0\"]          # default: all but lo and virtual ones
    clock_offset_s = 0.0        # is added to the times of the samples

docs/logs.md describes what each log records, docs/diagnose.md the causes, docs/compare.md the differences, docs/syscalls.md the system \
calls.

Examples:
    tailspn why app.gz

    # with the samples of its nodes, and pictures
    tailspn why app.gz samples/ --timeline causes.svg --plots why

    # what was slower than in usual runs of the program
    tailspn why slow.gz --usual usual1.gz --usual usual2.gz

    # what changed against another run; several runs of each side
    tailspn why small.gz large.gz
    tailspn why slow.gz app.gz --against usual1.gz usual2.gz --json

    # the keys in which two plans differ
    tailspn why job.toml other.toml

    # the log of a job and the progress reports of its tasks
    tailspn why job.jhist progress.tsv.gz

    # strace logs of a run; one method in detail, and a picture
    tailspn why slow/ --profile usual.json
    tailspn why slow/ --profile usual.json --method improved \\
        --timeline calls.svg

    # a node whose clock is behind; only the rules of the paper
    tailspn why app.gz samples/ --clock-offset worker3=2.5 --rules paper

    # one of several applications in an archive
    tailspn why logs.zip samples/ --max-samples 2G \\
        --app application_1724877841851_0016

    # every attempt of every task, for other programs
    tailspn why app.gz --attempts attempts.csv
")]
pub(crate) struct WhyArgs {
    /// Log of a job, with the samples of its nodes, progress reports or strace logs; or two logs, results or plans; or folders
    #[arg(required = true, value_name = "FILE")]
    pub(crate) paths: Vec<PathBuf>,
    /// Files of the side to compare with: logs, results or plans
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Question")]
    pub(crate) against: Vec<PathBuf>,
    /// Log of a usual run of the program, from which the expected time of each task comes; may be repeated
    #[arg(long, value_name = "LOG", help_heading = "Question")]
    pub(crate) usual: Vec<PathBuf>,
    /// Confidence level of differences
    #[arg(long, value_name = "LEVEL", default_value = "90%", allow_hyphen_values = true, value_parser = values::share, help_heading = "Question")]
    pub(crate) level: f64,
    /// File that maps the names in samples to nodes
    #[arg(long, value_name = "FILE.toml", help_heading = "Samples")]
    pub(crate) node_map: Option<PathBuf>,
    /// Seconds to add to the times of a node's samples, or of all samples; may be repeated
    #[arg(long, value_name = "[NODE=]SECONDS", allow_hyphen_values = true, value_parser = clock_offset, help_heading = "Samples")]
    pub(crate) clock_offset: Vec<(Option<String>, f64)>,
    /// UTC offset of times without a time zone, such as +01:00
    #[arg(long, value_name = "HH:MM", default_value = "+00:00", allow_hyphen_values = true, value_parser = utc_offset, help_heading = "Samples")]
    pub(crate) utc_offset: f64,
    /// Progress model of earlier runs, from `watch --learn`; without it, tasks are compared only with each other
    #[arg(long, value_name = "MODEL.toml", help_heading = "Progress and system calls")]
    pub(crate) model: Option<PathBuf>,
    /// Profile of system calls of fault-free runs, from `tool profile`; without it, strace logs are not read
    #[arg(long, value_name = "PROFILE.json", help_heading = "Progress and system calls")]
    pub(crate) profile: Option<PathBuf>,
    /// Measure of CPU use
    #[arg(long, value_name = "SHARE", default_value = "busy", help_heading = "Rules")]
    pub(crate) cpu: CpuChoice,
    /// Rules to apply
    #[arg(long, value_name = "WHOSE", default_value = "own", help_heading = "Rules")]
    pub(crate) rules: RulesChoice,
    /// Quantile of the stage that a cause must exceed
    #[arg(long, value_name = "SHARE", default_value = "0.7", value_parser = values::share, help_heading = "Rules")]
    pub(crate) quantile: f64,
    /// Factor by which a cause must exceed the mean of the task's peers
    #[arg(long, value_name = "FACTOR", default_value = "1.5", allow_hyphen_values = true, value_parser = at_least_one, help_heading = "Rules")]
    pub(crate) peer_factor: f64,
    /// Test of a resource's use before and after a task
    #[arg(long, value_name = "READING", default_value = "any", help_heading = "Rules")]
    pub(crate) edge: EdgeChoice,
    /// Seconds to examine before and after a task
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = positive_seconds, help_heading = "Rules")]
    pub(crate) edge_width: f64,
    /// Use before or after a task that counts as outside load, as a share of the task's use
    #[arg(long, value_name = "SHARE", default_value = "0.8", value_parser = values::share, help_heading = "Rules")]
    pub(crate) edge_factor: f64,
    /// Compare the calls of strace logs by this method, in a table of nodes and calls; may be repeated
    #[arg(long, value_enum, help_heading = "System calls")]
    pub(crate) method: Vec<SyscallMethod>,
    /// improved: factor by which a score must exceed the largest score of the control runs
    #[arg(long, requires = "method", value_name = "X", default_value = "1.4", allow_hyphen_values = true, value_parser = values::positive, help_heading = "System calls")]
    pub(crate) margin: f64,
    /// statistical: minimum difference between the greatest total and the total of every other node
    #[arg(long, requires = "method", value_name = "SHARE", default_value = "25%", allow_hyphen_values = true, value_parser = values::share, help_heading = "System calls")]
    pub(crate) hog_share: f64,
    /// statistical: minimum difference between the scores of two nodes
    #[arg(long, requires = "method", value_name = "SHARE", default_value = "50%", allow_hyphen_values = true, value_parser = values::share, help_heading = "System calls")]
    pub(crate) isolation_share: f64,
    /// statistical: value that counts as 100% in a percentage difference
    #[arg(long, requires = "method", value_enum, default_value = "greater", help_heading = "System calls")]
    pub(crate) difference: DifferenceChoice,
    /// semantic: report only times above an invocation's range, or also times below this range
    #[arg(long, requires = "method", value_enum, default_value = "both", help_heading = "System calls")]
    pub(crate) sides: SidesChoice,
    /// Clock of the totals of `strace -c`: wall time (with -w), CPU time, or detected from the totals
    #[arg(long, value_enum, default_value = "auto", help_heading = "System calls")]
    pub(crate) clock: ClockChoice,
    #[command(flatten)]
    pub(crate) limits: LogArgs,
    /// Maximum bytes of a file of samples or reports after decompression, such as 2G; the rest is skipped
    #[arg(long, value_name = "BYTES", default_value = "1G", allow_hyphen_values = true, value_parser = values::bytes, help_heading = "Limits")]
    pub(crate) max_samples: u64,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
    /// Also draw where and when each task ran, coloured by the causes; or the system calls of each node
    #[arg(long, value_name = "FILE.svg", help_heading = "Output")]
    pub(crate) timeline: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plots: PlotArgs,
    /// Also write all attempts of all tasks as CSV; `-` is standard output, instead of the answer
    #[arg(long, value_name = "FILE.csv", help_heading = "Output")]
    pub(crate) attempts: Option<PathBuf>,
}

impl WhyArgs {
    /// Returns all files of the question.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.paths.iter().chain(&self.against)
    }
}

/// The set of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RulesChoice {
    /// The paper's rules, extended by headroom, outliers and cold first waves
    Own,
    /// The paper's rules only
    Paper,
}

/// Parses `NODE=SECONDS` or `SECONDS`.
fn clock_offset(text: &str) -> Result<(Option<String>, f64), String> {
    let (node, seconds) =
        text.rsplit_once('=').map_or((None, text), |(node, seconds)| (Some(node.to_owned()), seconds));
    let seconds = seconds.trim().parse::<f64>().ok().filter(|seconds| seconds.is_finite());
    let expected = || "expected a number of seconds, such as -2.5 or worker1=37".to_owned();
    Ok((node.filter(|node| !node.is_empty()), seconds.ok_or_else(expected)?))
}

/// Parses `+HH:MM`; returns seconds.
fn utc_offset(text: &str) -> Result<f64, String> {
    let expected = || "expected hours and minutes, such as +01:00 or -05:30".to_owned();
    let (sign, time) = match text.strip_prefix('-') {
        Some(time) => (-1.0, time),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let (hours, minutes) = time.split_once(':').unwrap_or((time, "0"));
    let number = |digits: &str, limit: u32| digits.parse::<u32>().ok().filter(|&number| number < limit);
    let (hours, minutes) = number(hours, 24).zip(number(minutes, 60)).ok_or_else(expected)?;
    Ok(sign * f64::from(3600 * hours + 60 * minutes))
}

pub(super) fn at_least_one(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 1.0);
    number.ok_or_else(|| "expected a number of at least 1".to_owned())
}

fn positive_seconds(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "expected a number of seconds above 0".to_owned())
}
