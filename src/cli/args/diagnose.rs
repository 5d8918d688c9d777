//! The arguments of `diagnose`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::args::{CpuChoice, EdgeChoice, LogArgs, PrintArgs};
use crate::cli::values;

#[derive(Debug, Args)]
#[command(after_long_help = "\
The inputs are recognised by their content, plain or compressed by gzip. Each is a file or a folder:

    the log of a job      any log that `trace` reads: why tasks were slow
    samples of nodes      text of mpstat, iostat -xt, sar -u -d -n DEV, sadf
    progress reports      any that `watch` reads: which tasks lag (see --model)
    strace logs           one per node: which node is faulty (needs --profile)

Samples need the log of the job. Progress reports and strace logs are useful without it.

Samples belong to the node of the same name. Where the names differ, --node-map names a TOML file:

    [node.\"10.0.0.11\"]
    host = \"worker1\"            # its name in the samples
    cpu = [\"all\"]               # or the numbers of its processors
    disk = [\"sda\"]              # default: all but loop, ram and dm devices
    network = [\"eth0\"]          # default: all but lo and virtual ones
    clock_offset_s = 0.0        # is added to the times of the samples

Examples:
    # a log, and a folder with the samples of its nodes
    tailspn diagnose app.gz samples/

    # a picture of the causes
    tailspn diagnose app.gz samples/ --timeline causes.svg

    # the log of a job and the progress reports of its tasks
    tailspn diagnose job.jhist progress.tsv.gz

    # a folder with strace logs
    tailspn diagnose slow/ --profile usual.json --json

    # a node whose clock is behind; only the rules of the paper
    tailspn diagnose app.gz samples/ --clock-offset worker3=2.5 --rules paper

    # one of several applications in an archive
    tailspn diagnose logs.zip samples/ --max-samples 2G \\
        --app application_1724877841851_0016
")]
pub(crate) struct DiagnoseArgs {
    /// A log of a job, samples of its nodes, progress reports, strace logs (NODE=FILE if file names do not show the
    /// node), or
    /// folders with them
    #[arg(required = true)]
    pub(crate) path: Vec<PathBuf>,
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
    /// Profile of system calls of fault-free runs, from `syscalls profile`; without it, strace logs are not read
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
    #[command(flatten)]
    pub(crate) limits: LogArgs,
    /// Maximum bytes of a file of samples or reports after decompression, such as 2G; the rest is skipped
    #[arg(long, value_name = "BYTES", default_value = "1G", allow_hyphen_values = true, value_parser = values::bytes, help_heading = "Limits")]
    pub(crate) max_samples: u64,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
    /// Also draw a timeline of the attempts, with stragglers coloured by cause
    #[arg(long, value_name = "FILE.svg", help_heading = "Output")]
    pub(crate) timeline: Option<PathBuf>,
    /// Replace FILE.svg if it exists
    #[arg(long, requires = "timeline", help_heading = "Output")]
    pub(crate) force: bool,
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
