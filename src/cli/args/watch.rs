//! The arguments of `watch`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use tailspn::plan::InputSize;

use crate::cli::args::{PeerChoice, PrintArgs};
use crate::cli::values;

#[derive(Debug, Args)]
#[command(override_usage = "\
tailspn watch [OPTIONS] <LOG|REPORTS> [EARLIER]...\n       tailspn watch [OPTIONS] --learn <HIST>... --save-model <MODEL.toml>")]
#[command(after_long_help = "\
Of the event log of a running Spark application, the time left is predicted whenever the log has grown, until the application ends. \
EARLIER are logs of other runs of the program, or a plan that was fitted to them; without them, the prediction covers the jobs in \
progress. docs/remaining.md describes the model and its limits.

Reports are rows of a table with tabs, after a header that names the columns, or JSON lines with the same keys: t_ms \
(milliseconds), partition or task_id, and progress (0 to 1) or done and total; if there are several, also job, kind, \
stage, attempt and node. A task starts with its first report and ends when its progress is complete. docs/watch.md \
describes the format and the rules. With --json, each flag is one line, and a summary is the last line; --csv, --markdown \
and --verbose print a learned model.

Examples:
    # the time left, from what earlier runs took, one line for each answer
    tailspn watch app.inprogress small.gz --deadline 5m --json

    # learn how tasks usually progress
    tailspn watch --learn hist1.tsv.gz hist2.tsv.gz --save-model model.toml

    # follow a file that grows; Ctrl-C ends
    tailspn watch progress.tsv --model model.toml

    # follow a stream
    collector | tailspn watch - --model model.toml --json

    # replay a recorded run with the rule of the paper
    tailspn watch old.tsv.gz --learn hist1.tsv.gz --rule paper

    # end when nothing was written for a minute
    tailspn watch progress.tsv --model model.toml --until-idle 1m
")]
pub(crate) struct WatchArgs {
    /// Event log of a running Spark application, or progress reports: a file that may grow, or `-` for standard input;
    /// may be omitted with --learn. After a log: logs of other runs of the program, or a plan of them
    #[arg(required_unless_present = "learn", value_name = "LOG|REPORTS")]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) left: LeftArgs,
    /// Progress model of earlier runs, from --learn; without it, the tasks of a stage are compared only with each other
    #[arg(long, value_name = "MODEL.toml", conflicts_with = "learn", help_heading = "Model")]
    pub(crate) model: Option<PathBuf>,
    /// Learn from earlier runs first, one per file or `-`: progress reports, or Hadoop job histories that contain
    /// progress
    #[arg(long, value_name = "HIST", num_args = 1.., help_heading = "Model")]
    pub(crate) learn: Vec<PathBuf>,
    /// File for the learned model; `-` is standard output
    #[arg(long, value_name = "MODEL.toml", requires = "learn", help_heading = "Model")]
    pub(crate) save_model: Option<PathBuf>,
    /// Rule that flags a task: `adaptive`, or `paper`, as in Garraghan et al. 2015
    #[arg(long, value_enum, default_value = "adaptive", help_heading = "Rule")]
    pub(crate) rule: RuleChoice,
    /// Excess over the typical time; a straggler takes more than 1 + DIFF times the typical time
    #[arg(long, value_name = "DIFF", default_value = "50%", allow_hyphen_values = true, value_parser = values::excess, help_heading = "Rule")]
    pub(crate) diff: f64,
    /// Minimum probability of being a straggler at which a task is flagged (adaptive)
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, value_parser = values::share, help_heading = "Rule")]
    pub(crate) sure: Option<f64>,
    /// Comparison of a task with its peers by the rule `paper` ("50% smaller than the median"): below median / (1 + DIFF),
    /// below half of the median, or not at all
    #[arg(long, value_enum, default_value = "diff", help_heading = "Rule")]
    pub(crate) peers: PeerChoice,
    /// Number of successive samples that must be beyond the boundary
    #[arg(short = 'n', long, value_name = "N", default_value = "3", allow_hyphen_values = true, value_parser = values::positive_count, help_heading = "Rule")]
    pub(crate) samples: u64,
    /// Minimum age of a task before it is judged [default: 0 (adaptive); 5s, but at most a twelfth of the typical
    /// time (paper)]
    #[arg(long, value_name = "TIME", value_parser = values::wall_time, help_heading = "Rule")]
    pub(crate) start: Option<Duration>,
    /// Time between two samples of a task [default: 1s, but at most a sixtieth of the typical time]
    #[arg(long, value_name = "TIME", value_parser = values::wall_time, help_heading = "Rule")]
    pub(crate) interval: Option<Duration>,
    /// Stop after this wall time without new reports; 0 stops at the end of the file
    #[arg(long, value_name = "TIME", value_parser = values::wall_time_or_none, help_heading = "Limits")]
    pub(crate) until_idle: Option<Duration>,
    /// Drop a task that has not reported for this time, on the clock of the reports
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = values::wall_time, help_heading = "Limits")]
    pub(crate) forget: Duration,
    /// Maximum number of tasks that are followed at a time; reports of other tasks are skipped and counted
    #[arg(long, value_name = "N", default_value = "1_000_000", allow_hyphen_values = true, value_parser = values::positive_count, help_heading = "Limits")]
    pub(crate) max_tasks: u64,
    /// Maximum length of a line, such as 64K; longer lines are skipped and counted
    #[arg(long, value_name = "BYTES", default_value = "1M", allow_hyphen_values = true, value_parser = values::bytes, help_heading = "Limits")]
    pub(crate) max_line: u64,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

impl WatchArgs {
    /// Returns what is followed.
    pub(crate) fn stream(&self) -> Option<&PathBuf> {
        self.inputs.first()
    }

    /// Returns the files after that.
    pub(crate) fn others(&self) -> &[PathBuf] {
        self.inputs.get(1..).unwrap_or_default()
    }
}

/// The time left of a running application.
#[derive(Debug, Args)]
#[command(next_help_heading = "Log of an application")]
pub(crate) struct LeftArgs {
    /// Deadline, such as 85s or 5m, to print the probability of meeting it; counted from the start of the first job, or a
    /// time of the day in UTC, such as 06:00; may be repeated
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = values::deadline_or_clock)]
    pub(crate) deadline: Vec<values::Deadline>,
    /// Input of the run, such as 10GB, or 3x for three times the plan's [default: computed from the number of tasks]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub(crate) input_size: Option<InputSize>,
    /// Compute task ages at this machine's current time, not at the last event of the log; only for logs that are
    /// written without buffering
    #[arg(long)]
    pub(crate) now: bool,
    /// Application to follow if there are several: its id, id and attempt (ID_2), name or file
    #[arg(long, value_name = "ID")]
    pub(crate) app: Option<String>,
    /// Probability of the prediction interval
    #[arg(long, value_name = "LEVEL", default_value = "90%", allow_hyphen_values = true, value_parser = values::share)]
    pub(crate) level: f64,
    /// Replications of the rest of the run [default: 2000, fewer if it has more than 5,000 tasks]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count)]
    pub(crate) reps: Option<u64>,
    /// Seed; the same seed gives the same numbers on any number of threads
    #[arg(long, value_name = "S", default_value = "0", allow_hyphen_values = true, value_parser = values::count)]
    pub(crate) seed: u64,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::threads)]
    pub(crate) threads: Option<NonZeroUsize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RuleChoice {
    /// Flags a task by the probability that it becomes a straggler
    Adaptive,
    /// Flags a task by one fixed threshold, relative to the model and to peers
    Paper,
}
