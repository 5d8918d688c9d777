//! The arguments of `fit`, and Spark's speculation.

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::{LogArgs, PrintArgs};
use crate::cli::input::Input;
use crate::cli::notes::first_given;
use crate::cli::values;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Spark: each log is one run of the same program. One log is enough if it shows everything; gaps are filled by assumptions, which the output lists. Logs with two input sizes show how tasks and data grow. Several logs of one size show run-to-run variation.

MapReduce: pass the log of one small test job and its *_conf.xml. The result is a job plan like that of `estimate \
--print-plan`, with a comment on the source of each value. Several jobs of the program, in one log or several, give \
one plan: jobs of different sizes show which quantities grow with the data, and run-to-run variation.

docs/fit.md describes the models and their assumptions, docs/validation.md compares them with real runs.

Examples:
    tailspn tool fit app.gz --save-plan one.toml
    tailspn tool fit small.gz large.gz --save-plan plan.toml
    tailspn estimate plan.toml --input-size 10GB --executors 8

    # other programs that ran on the same cluster tell more about it
    tailspn tool fit small.gz --alongside large.gz --save-plan alongside.toml

    # a MapReduce job
    tailspn tool fit history.txt --save-plan hadoop.toml

    # one of several applications in an archive, as JSON
    tailspn tool fit logs.zip --app application_1724877841851_0016 \\
        --max-attempts 1000000 --json
")]
pub(crate) struct FitArgs {
    /// Spark event logs, one per run, or folders and zip archives of them; or a MapReduce log with its *_conf.xml
    #[arg(required = true)]
    pub(crate) logs: Vec<PathBuf>,
    /// Event log of another Spark program on the same cluster, with more or fewer executors than the other logs; used
    /// only to fit the slowdown of executors that share a host; may be repeated
    #[arg(long, value_name = "LOG", help_heading = "Question")]
    pub(crate) alongside: Vec<PathBuf>,
    /// Plan to write; `-` is standard output, with the table on standard error
    #[arg(long, value_name = "PLAN.toml")]
    pub(crate) save_plan: Option<PathBuf>,
    /// Input size of each log, in the order of the logs, if the logs do not record it, such as 10GB; once for each
    /// log
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true, value_parser = values::bytes, help_heading = "Question")]
    pub(crate) input_size: Vec<u64>,
    /// Job to fit if a MapReduce log has several: an id, such as job_201002080801_40864, or a name, for all jobs of
    /// that name; may be repeated
    #[arg(long, value_name = "ID|NAME", help_heading = "Question")]
    pub(crate) job: Vec<String>,
    /// Cores of the host of phase logs, if they have no column `cores`
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive, help_heading = "Question")]
    pub(crate) log_cores: Option<f64>,
    /// Tasks that could hold the GPU in phase logs, 0 for any number, if they have no column `permits` [default: as the
    /// waits in the logs show]
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = values::count, help_heading = "Question")]
    pub(crate) log_permits: Option<u64>,
    /// Confidence level of all intervals
    #[arg(long, value_name = "LEVEL", default_value = "90%", allow_hyphen_values = true, value_parser = values::share, help_heading = "Question")]
    pub(crate) level: f64,
    #[command(flatten)]
    pub(crate) limits: LogArgs,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

/// Logs in place of a plan, which is fitted to them first.
#[derive(Clone, Debug, Args)]
pub(crate) struct FittedArgs {
    /// Input size of each log, in the order of the logs, if the logs do not record it, such as 10GB; once for each
    /// log
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = values::bytes, help_heading = "Logs")]
    log_input_size: Vec<u64>,
    /// Job to fit if a MapReduce log has several: an id or a name; may be repeated
    #[arg(long, value_name = "ID|NAME", help_heading = "Logs")]
    job: Vec<String>,
    /// Runs of other programs on the same cluster, which show how much tasks slow each other down: Spark event logs with more or fewer
    /// executors or, for a table of tasks, such tables, folders of them, or a file of --save-cluster; may be repeated
    #[arg(long, value_name = "PATH", help_heading = "Logs")]
    pub(crate) alongside: Vec<PathBuf>,
    /// Cores of the host of phase logs, if they have no column `cores`
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive, help_heading = "Logs")]
    log_cores: Option<f64>,
    /// Tasks that could hold the GPU in phase logs, 0 for any number, if they have no column `permits` [default: as the
    /// waits in the logs show]
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = values::count, help_heading = "Logs")]
    log_permits: Option<u64>,
    #[command(flatten)]
    limits: LogArgs,
}

impl FittedArgs {
    /// Returns the arguments of `fit` for the logs.
    pub(crate) fn fit(&self, logs: &[Input]) -> FitArgs {
        FitArgs {
            input_size: self.log_input_size.clone(),
            job: self.job.clone(),
            alongside: self.alongside.clone(),
            log_cores: self.log_cores,
            log_permits: self.log_permits,
            ..FitArgs::of_logs(logs.iter().map(|log| log.to_path_buf()).collect(), &self.limits)
        }
    }

    /// Returns the limits of the logs.
    pub(crate) fn limits(&self) -> &LogArgs {
        &self.limits
    }

    /// Returns the option that has a meaning only for logs, if one was used.
    pub(crate) fn only_for_logs(&self) -> Option<&'static str> {
        let not_read = self.not_read_from_tables();
        not_read.or_else(|| (!self.alongside.is_empty()).then_some("--alongside"))
    }

    /// Returns the option that has a meaning only for logs and not for tables of tasks, if one was used.
    pub(crate) fn not_read_from_tables(&self) -> Option<&'static str> {
        first_given([
            ("--log-input-size", !self.log_input_size.is_empty()),
            ("--job", !self.job.is_empty()),
            ("--log-cores", self.log_cores.is_some()),
            ("--log-permits", self.log_permits.is_some()),
            ("--app", self.limits.app.is_some()),
        ])
    }
}

impl FitArgs {
    /// Returns the arguments that fit logs without options.
    pub(crate) fn of_logs(logs: Vec<PathBuf>, limits: &LogArgs) -> Self {
        Self {
            logs,
            alongside: Vec::new(),
            save_plan: None,
            input_size: Vec::new(),
            job: Vec::new(),
            log_cores: None,
            log_permits: None,
            level: tailspn::estimate::LEVEL,
            limits: limits.clone(),
            print: PrintArgs::default(),
        }
    }
}
