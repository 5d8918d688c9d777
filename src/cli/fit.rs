//! `fit`: fits the model of a job to logs of the job: a stage graph for Spark, a job plan for MapReduce.

use std::path::{Path, PathBuf};

use tailspn::ask::RunSettings;
use tailspn::fit::{FitError, HadoopConf, LogHost};
use tailspn::job_time::{FitSettings, FittedModel, LogFit, LogFitError};
use tailspn::plan::JobPlan;
use tailspn::report::{Answer, Typed};
use tailspn::subject::FileKind;
use tailspn::trace::{JobTrace, ReadOptions};

use crate::cli::args::FitArgs;
use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::files::write_file;
use crate::cli::frame::{self, Ask, Asked, Form};
use crate::cli::input::quoted;
use crate::cli::load::read_bytes;
use crate::cli::logs::{LogChoice, all_logs, load_with_warnings, short_names};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::watch::{Progress, catch_interrupt};

/// Bytes per MB.
const MB: f64 = 1_048_576.0;

/// Fits the model and reports the fit. A plan on standard output moves the report to standard error.
pub(crate) fn run(args: &FitArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let to_stdout = args.save_plan.as_deref().is_some_and(|path| path.as_os_str() == "-");
    if !to_stdout || terminal.is_in_process() {
        return frame::run(args, terminal);
    }
    let Answer { result, plan, .. } = args.ask(terminal)?.answer;
    terminal.tell(&terminal.printed(&result, &args.print, &Typed::default())?);
    terminal.data(&plan.unwrap_or_default())?;
    Ok(Exit::Success)
}

impl FitArgs {
    /// Returns the file of the plan, if it is not standard output.
    fn file(&self) -> Option<&Path> {
        self.save_plan.as_deref().filter(|path| path.as_os_str() != "-")
    }
}

impl Ask for FitArgs {
    fn form(&self) -> Form<'_> {
        Form { files: self.file().into_iter().collect(), ..Form::printed(&self.print) }
    }

    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        let answer = Answer::of_fit(&model(self, None, terminal)?, self.level).map_err(Failure::internal)?;
        Ok(Asked::from(answer).writing(|answer, _| match self.file().zip(answer.plan.as_deref()) {
            Some((path, plan)) => write_file(path, plan.as_bytes(), self.print.force),
            None => Ok(()),
        }))
    }
}

/// Returns the plan of the job that was fitted to the logs. `first` is the first log, if it was read before.
pub(crate) fn plan_of(args: &FitArgs, first: Option<JobTrace>, terminal: &Terminal) -> Result<JobPlan, Failure> {
    Ok(model(args, first, terminal)?.plan())
}

/// Reads the logs and fits the model.
fn model(args: &FitArgs, mut first: Option<JobTrace>, terminal: &Terminal) -> Result<FittedModel, Failure> {
    let (confs, logs): (Vec<&PathBuf>, Vec<&PathBuf>) =
        args.logs.iter().partition(|path| FileKind::of(path) == Some(FileKind::HadoopConf));
    if let Some(plan) = logs.iter().find(|path| FileKind::of(path) == Some(FileKind::JobPlan)) {
        let message = format!("`{}` is the plan of a job, and other files are logs", plan.display());
        return Err(Failure::helped(Exit::Usage, message, "pass one plan, or the logs of one job"));
    }
    let logs = all_logs(&logs, &ReadOptions::from(&args.limits))?;
    let inputs_mb: Vec<f64> = args.input_size.iter().map(|bytes| *bytes as f64 / MB).collect();
    if args.job.is_empty() && !inputs_mb.is_empty() && inputs_mb.len() != logs.len() {
        // before the logs are read
        return Err(LogFitError::InputSizes { sizes: inputs_mb.len(), count: logs.len(), of: "logs" }.into());
    }
    catch_interrupt(terminal);
    let run = RunSettings { level: args.level, ..RunSettings::default() };
    let host = LogHost { cores: args.log_cores, permits: args.log_permits };
    let mut fit = LogFit::new(FitSettings { inputs_mb, jobs: args.job.clone(), host, run });
    for log in &logs {
        let trace = first.take().map_or_else(|| log.load(terminal), Ok)?;
        fit.add(&log.name(), trace)?;
    }
    if interrupted() {
        return Err(Failure::stopped());
    }
    fit.check(!confs.is_empty(), !args.alongside.is_empty())?;
    match &confs[..] {
        [] => {}
        [path] => {
            let conf = HadoopConf::read(&read_bytes(path)?);
            fit.set_conf(conf.map_err(|error| Failure::plain(Exit::Model, format!("{}: {error}", path.display())))?);
        }
        _ => return Err(usage(format!("{} configurations for one plan; pass only one configuration", confs.len()))),
    }
    for path in &args.alongside {
        // `--app` refers to the logs of the job
        let trace = load_with_warnings(path, &ReadOptions { application: None, ..(&args.limits).into() }, terminal)?;
        if interrupted() {
            return Err(Failure::stopped());
        }
        fit.add_alongside(&trace)?;
    }
    let progress = Progress::new(terminal.shows_progress(), "replications");
    let model = fit.fit(&progress);
    // an error of stopped work has no meaning
    if interrupted() { Err(Failure::stopped()) } else { model.map_err(|error| explained(error, &logs)) }
}

/// Explains why a model cannot be fitted. Of a folder with the logs of several programs, lists what selects one.
fn explained(error: LogFitError, logs: &[LogChoice]) -> Failure {
    /// Maximum number of logs in the message.
    const LISTED: usize = 12;
    let names: Vec<&str> = logs.iter().filter_map(|log| log.options.application.as_deref()).collect();
    let is_choice = names.len() == logs.len() && names.len() > 1;
    if !is_choice || !matches!(error, LogFitError::Fit(FitError::OtherJob { .. })) {
        return error.into();
    }
    let more = if names.len() > LISTED { format!(", and {} more", names.len() - LISTED) } else { String::new() };
    let names: Vec<String> =
        short_names(&names).into_iter().take(LISTED).map(|name| format!("--app {}", quoted(name))).collect();
    Failure::helped(Exit::Model, error.to_string(), format!("select one: {}{more}", names.join(", ")))
}

fn usage(message: String) -> Failure {
    Failure::plain(Exit::Usage, message)
}
