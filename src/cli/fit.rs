//! `fit`: fits the model of a job to logs of the job: a stage graph for Spark, a job plan for MapReduce.

use std::path::PathBuf;

use tailspn::fit::HadoopConf;
use tailspn::job_time::{FitSettings, FittedModel, LogFit, LogFitError};
use tailspn::plan::JobPlan;
use tailspn::report::{fit_jobs_report, fit_report};
use tailspn::subject::FileKind;
use tailspn::trace::ReadOptions;

use crate::cli::args::FitArgs;
use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::load::read_bytes;
use crate::cli::notes::Failure;
use crate::cli::output::{Terminal, may_write, write_file};
use crate::cli::trace::{all_logs, load, tell_warnings};
use crate::cli::watch::{Progress, catch_interrupt};

/// Bytes per MB.
const MB: f64 = 1_048_576.0;

/// A fitted model: the printed report, and the plan.
struct Fitted {
    report: String,
    plan: String,
}

/// Fits the model and reports the fit.
pub(crate) fn run(args: &FitArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if !args.beside.is_empty() {
        terminal.tell("warning: `--beside` is now `--alongside`; the old name will be removed in the next release");
    }
    let to_stdout = args.output.as_deref().is_some_and(|path| path.as_os_str() == "-");
    if let Some(path) = args.output.as_deref().filter(|_| !to_stdout) {
        may_write(path, args.force)?;
    }
    let Some(model) = model(args, terminal)? else { return Ok(Exit::Interrupted) };
    let fitted = printed(&model, args, terminal)?;
    if to_stdout {
        terminal.tell(&fitted.report);
        terminal.data(&fitted.plan)?;
    } else {
        terminal.data(&fitted.report)?;
        if let Some(path) = &args.output {
            write_file(path, fitted.plan.as_bytes(), args.force)?;
        }
    }
    Ok(Exit::Success)
}

/// Prints the report of a model.
fn printed(model: &FittedModel, args: &FitArgs, terminal: &Terminal) -> Result<Fitted, Failure> {
    let report = match model {
        FittedModel::Stages(fitted, own_run) => {
            terminal.printed(&fit_report(fitted, own_run, args.level), &args.print)?
        }
        FittedModel::Jobs(all, checked, own_run) => {
            terminal.printed(&fit_jobs_report(all, checked, own_run), &args.print)?
        }
    };
    Ok(Fitted { report, plan: model.plan_text().map_err(Failure::internal)? })
}

/// Returns the plan of the job that was fitted to the logs; `None` after Ctrl-C.
pub(crate) fn plan_of(args: &FitArgs, terminal: &Terminal) -> Result<Option<JobPlan>, Failure> {
    Ok(model(args, terminal)?.map(|model| model.plan()))
}

/// Reads the logs and fits the model; `None` after Ctrl-C.
fn model(args: &FitArgs, terminal: &Terminal) -> Result<Option<FittedModel>, Failure> {
    let (confs, logs): (Vec<&PathBuf>, Vec<&PathBuf>) =
        args.logs.iter().partition(|path| FileKind::of(path) == Some(FileKind::HadoopConf));
    let logs = all_logs(&logs, &ReadOptions::from(&args.limits))?;
    let inputs_mb: Vec<f64> = args.input_size.iter().map(|bytes| *bytes as f64 / MB).collect();
    if args.job.is_empty() && !inputs_mb.is_empty() && inputs_mb.len() != logs.len() {
        // before the logs are read
        return Err(LogFitError::InputSizes { sizes: inputs_mb.len(), count: logs.len(), of: "logs" }.into());
    }
    catch_interrupt(terminal);
    let mut fit = LogFit::new(FitSettings { inputs_mb, jobs: args.job.clone(), level: args.level });
    for log in &logs {
        let trace = log.load(terminal)?;
        tell_warnings(&trace, terminal);
        fit.add(&log.name(), trace)?;
    }
    if interrupted() {
        return Ok(None);
    }
    fit.check(!confs.is_empty(), args.others().next().is_some())?;
    match &confs[..] {
        [] => {}
        [path] => {
            let conf = HadoopConf::read(&read_bytes(path)?);
            fit.set_conf(conf.map_err(|error| Failure::plain(Exit::Trace, format!("{}: {error}", path.display())))?);
        }
        _ => return Err(usage(format!("{} configurations for one plan; pass only one configuration", confs.len()))),
    }
    for path in args.others() {
        // `--app` refers to the logs of the job
        let trace = load(path, &ReadOptions { application: None, ..(&args.limits).into() }, terminal)?;
        tell_warnings(&trace, terminal);
        if interrupted() {
            return Ok(None);
        }
        fit.add_alongside(&trace)?;
    }
    let progress = Progress::new(terminal.shows_progress(), "replications");
    let model = fit.fit(&progress);
    // an error of stopped work has no meaning
    if interrupted() { Ok(None) } else { Ok(Some(model?)) }
}

fn usage(message: String) -> Failure {
    Failure::plain(Exit::Usage, message)
}
