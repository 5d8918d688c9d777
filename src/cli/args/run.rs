//! Arguments that commands share: how a run is made, on which device, and how its results are printed.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};
use tailspn::job_time::EstimateMethod;
use tailspn::report::CsvText;
use tailspn::share::Shard;
use tailspn::trace::ReadOptions;

use crate::cli::args::BackendChoice;
use crate::cli::exit::Exit;
use crate::cli::input::Input;
use crate::cli::notes::Failure;
use crate::cli::values;

/// A net to read.
#[derive(Debug, Args)]
pub(crate) struct NetArgs {
    /// PIPE XML of any version, PNML, a GreatSPN project or `.net`, or JANI; `-` is standard input
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) net: Input,
    /// Meaning of a file on which PIPE 4.3 and PIPE 5 disagree: `sensible` (the most likely meaning), `pipe4` or `pipe5`;
    /// may be repeated
    ///
    /// With NAME= for one question only: missing_priority, missing_inscription, odd_boolean, id_case, undeclared_class,
    /// plain_number, several_nets, output_inhibitor or instructions, such as --read-as pipe5 --read-as id_case=sensible.
    #[arg(long, value_name = "[NAME=]READER", default_value = "sensible", value_parser = values::read_as, help_heading = "Reading the net")]
    pub(crate) read_as: Vec<values::ReadAs>,
    /// Replace the value of a rate parameter, or of any constant of a GreatSPN file or a JANI model; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = values::assignment, help_heading = "Reading the net")]
    pub(crate) param: Vec<(String, f64)>,
    /// Name of the net in a GreatSPN project with several nets
    #[arg(long = "net", id = "chosen_net", value_name = "NAME", help_heading = "Reading the net")]
    pub(crate) chosen: Option<String>,
    /// Maximum file size, such as 2G; a larger file is refused
    #[arg(long, value_name = "BYTES", default_value = "256M", allow_hyphen_values = true, value_parser = values::bytes, help_heading = "Reading the net")]
    pub(crate) max_file: u64,
}

impl NetArgs {
    /// Returns the arguments for the file at a path, without further options.
    pub(crate) fn at(net: &Path) -> Self {
        let max_file = tailspn::formats::pipe::ReadOptions::default().max_bytes as u64;
        Self { net: net.into(), read_as: Vec::new(), param: Vec::new(), chosen: None, max_file }
    }
}

/// Output of results.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct PrintArgs {
    /// Print JSON (described in docs/json.md), or write it to FILE and print the text
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = STDOUT)]
    json: Option<PathBuf>,
    /// Print CSV (described in docs/json.md), or write it to FILE and print the text
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = STDOUT)]
    csv: Option<PathBuf>,
    /// Put an apostrophe before CSV text that a spreadsheet would run as a formula
    #[arg(long, requires = "csv")]
    csv_escape: bool,
    /// Print Markdown
    #[arg(long)]
    pub(crate) markdown: bool,
    /// Print everything: all tables, columns and rows, the method and its notes
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Replace files that exist
    #[arg(long)]
    pub(crate) force: bool,
}

/// The name of standard output.
const STDOUT: &str = "-";

/// A form of a result for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataForm {
    Json,
    Csv,
}

impl PrintArgs {
    /// Returns true if JSON is printed.
    pub(crate) fn is_json(&self) -> bool {
        is_stdout(self.json.as_deref())
    }

    /// Returns true if CSV is printed.
    pub(crate) fn is_csv(&self) -> bool {
        is_stdout(self.csv.as_deref())
    }

    /// Returns the files for the forms that are not printed.
    pub(crate) fn files<'a>(&'a self) -> Vec<(DataForm, &'a Path)> {
        let both = [(DataForm::Json, &self.json), (DataForm::Csv, &self.csv)];
        let file = |(form, path): (DataForm, &'a Option<PathBuf>)| Some((form, path.as_deref()?));
        both.into_iter().filter_map(file).filter(|(_, path)| !is_stdout(Some(path))).collect()
    }

    /// Refuses two forms on standard output.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let forms = [("--json", self.is_json()), ("--csv", self.is_csv()), ("--markdown", self.markdown)];
        let printed: Vec<&str> = forms.into_iter().filter(|(_, printed)| *printed).map(|(option, _)| option).collect();
        match &printed[..] {
            [one, other, ..] => {
                let message = format!("{one} and {other} cannot both be printed");
                Err(Failure::helped(Exit::Usage, message, "write one of them to a file: --json=FILE or --csv=FILE"))
            }
            _ => Ok(()),
        }
    }

    /// Returns how text cells of CSV are written.
    pub(crate) fn csv_text(&self) -> CsvText {
        if self.csv_escape { CsvText::Escaped } else { CsvText::AsIs }
    }

    /// Returns true if a form was chosen.
    pub(crate) fn is_chosen(&self) -> bool {
        self.json.is_some() || self.csv.is_some() || self.markdown || self.verbose
    }
}

fn is_stdout(path: Option<&Path>) -> bool {
    path.is_some_and(|path| path.as_os_str() == STDOUT)
}

/// A part of a command's replications.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Parts")]
pub(crate) struct PartArgs {
    /// Run only part I of N of the replications, and write it to the file of --save-part; `tailspn tool merge` combines all
    /// parts into exactly the result of one run
    #[arg(long, value_name = "I/N", value_parser = values::shard)]
    pub(crate) shard: Option<Shard>,
    /// File for the part
    #[arg(long, value_name = "FILE", requires = "shard")]
    pub(crate) save_part: Option<PathBuf>,
}

/// Limits of logs of jobs.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LogArgs {
    /// Application to read if there are several: its id, id and attempt (ID_2), name or file
    #[arg(long, value_name = "ID", help_heading = "Question")]
    pub(crate) app: Option<String>,
    /// Maximum number of task attempts; a log with more is refused
    #[arg(long, value_name = "N", default_value = "20_000_000", allow_hyphen_values = true, value_parser = values::positive_count)]
    max_attempts: u64,
    /// Maximum length of a line of a log, such as 64M; longer lines are skipped and counted
    #[arg(long, value_name = "BYTES", default_value = "256M", allow_hyphen_values = true, value_parser = values::bytes)]
    max_line: u64,
}

impl Default for LogArgs {
    fn default() -> Self {
        let ReadOptions { most_attempts, longest_line, application } = ReadOptions::default();
        Self { app: application, max_attempts: most_attempts, max_line: longest_line as u64 }
    }
}

impl From<&LogArgs> for ReadOptions {
    fn from(args: &LogArgs) -> Self {
        let longest_line = usize::try_from(args.max_line).unwrap_or(usize::MAX - 1);
        Self { most_attempts: args.max_attempts, longest_line, application: args.app.clone() }
    }
}

/// Settings of a simulation run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run")]
pub(crate) struct RunArgs {
    /// Seed; the same seed gives the same numbers on any number of threads
    #[arg(long, value_name = "S", allow_hyphen_values = true, value_parser = values::count)]
    pub(crate) seed: Option<u64>,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::threads)]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Wall time after which the run ends with the results so far, such as 30s or 5m
    #[arg(long, value_name = "WALL", allow_hyphen_values = true, value_parser = values::wall_time)]
    pub(crate) max_time: Option<Duration>,
    /// Confidence level of all intervals [default: 90%]
    #[arg(long, value_name = "LEVEL", allow_hyphen_values = true, value_parser = values::share)]
    pub(crate) level: Option<f64>,
}

/// Method of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Method {
    /// Simulate, with a note if an exact answer would be faster
    Auto,
    /// Compute exactly, from all states, from the parts of a schedule, or by a formula; fails if none of these is
    /// possible
    Exact,
    /// Simulate
    Simulate,
}

impl Method {
    /// Returns the method for the time of a job.
    pub(crate) fn of_job(self) -> EstimateMethod {
        match self {
            Self::Auto => EstimateMethod::Auto,
            Self::Exact => EstimateMethod::Exact,
            Self::Simulate => EstimateMethod::Simulate,
        }
    }
}

/// The device that runs the replications.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run")]
pub(crate) struct PlaceArgs {
    /// Device that runs the replications; the results of a net do not depend on it. `auto` starts on the CPU and moves
    /// to the GPU if much work remains
    #[arg(long, default_value = "auto")]
    pub(crate) backend: BackendChoice,
    /// Graphics adapter to use, by a part of its name (see `tailspn tool devices`); a software adapter is used only by its name
    #[arg(long, value_name = "NAME")]
    pub(crate) adapter: Option<String>,
}
