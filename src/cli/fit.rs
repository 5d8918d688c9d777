//! `fit`: the model of a job from logs of it: a stage graph for Spark, a job plan for MapReduce.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use tailspn::fit::{FitError, HadoopConf, ObservedJob, fit_job, fit_stages, is_mapreduce, observe, observe_job};
use tailspn::job_time::{check_fit, residual_of};
use tailspn::report::{fit_job_report, fit_report};
use tailspn::trace::JobTrace;

use crate::cli::args::FitArgs;
use crate::cli::exit::Exit;
use crate::cli::load::read_bytes;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::{Terminal, may_write, write_file};
use crate::cli::study::estimate_failure;
use crate::cli::trace::{load, tell_warnings};
use crate::cli::watch::{catch_interrupt, interrupted};

/// Bytes of a MB.
const MB: f64 = 1_048_576.0;

/// Most other jobs of a log whose times give the residual constants.
const MOST_OTHERS: usize = 100;

/// A fitted model: the report, as it is printed, and the plan.
struct Fitted {
    report: String,
    plan: String,
}

/// Fits the model and says what was fitted.
pub(crate) fn run(args: &FitArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let to_stdout = args.output.as_deref().is_some_and(|path| path.as_os_str() == "-");
    if let Some(path) = args.output.as_deref().filter(|_| !to_stdout) {
        may_write(path, args.force)?;
    }
    let (confs, logs): (Vec<&PathBuf>, Vec<&PathBuf>) = args.logs.iter().partition(|path| is_conf(path));
    if !args.input_size.is_empty() && args.input_size.len() != logs.len() {
        return Err(usage(format!(
            "{} input sizes for {} logs; give one for each log",
            args.input_size.len(),
            logs.len()
        )));
    }
    catch_interrupt(terminal);
    let traces = read_logs(&logs, args, terminal)?;
    if interrupted() {
        return Ok(Exit::Interrupted);
    }
    let fitted = match &traces[..] {
        [] => return Err(usage("a configuration without a log; give the job's history too".to_owned())),
        [Seen::Job(trace)] => job(trace, &confs, args, terminal)?,
        _ if !confs.is_empty() || args.job.is_some() => {
            return Err(usage("a *_conf.xml and --job are for logs of MapReduce".to_owned()));
        }
        _ => stages(traces, args, terminal)?,
    };
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

/// Reads the logs, each of another run; of Spark's logs only what is needed is kept.
fn read_logs(logs: &[&PathBuf], args: &FitArgs, terminal: &Terminal) -> Result<Vec<Seen>, Failure> {
    let mut traces = Vec::new();
    let mut seen: BTreeMap<String, &Path> = BTreeMap::new();
    for path in logs {
        let trace = read_log(path, args, terminal)?;
        for id in trace.applications.iter().map(|application| &application.id).filter(|id| !id.is_empty()) {
            if let Some(before) = seen.insert(id.clone(), path) {
                let note = Note::problem(format!(
                    "`{}` and `{}` are logs of the same run, {id}",
                    before.display(),
                    path.display()
                ));
                let help = "give each run once: a run that counts twice makes intervals too narrow";
                return Err(Failure::new(Exit::Usage, note.with_help(help)));
            }
        }
        if is_mapreduce(&trace) && logs.len() > 1 {
            return Err(usage("a job plan is fitted to one log of MapReduce; give one".to_owned()));
        }
        traces.push(if is_mapreduce(&trace) {
            Seen::Job(Box::new(trace))
        } else {
            Seen::Run(Box::new(observed(&trace, args, traces.len())?))
        });
    }
    Ok(traces)
}

/// What is kept of a log.
enum Seen {
    Run(Box<tailspn::fit::ObservedRun>),
    Job(Box<JobTrace>),
}

fn usage(message: String) -> Failure {
    Failure::plain(Exit::Usage, message)
}

/// Whether a file is a configuration of Hadoop rather than a log; what cannot be read is told when it is read.
fn is_conf(path: &Path) -> bool {
    let mut head = Vec::new();
    path.is_file()
        && File::open(path).is_ok_and(|file| file.take(4096).read_to_end(&mut head).is_ok())
        && HadoopConf::is_meant(&head)
}

/// Reads a log and tells what is odd about it.
fn read_log(path: &Path, args: &FitArgs, terminal: &Terminal) -> Result<JobTrace, Failure> {
    let trace = load(path, &(&args.limits).into(), terminal)?;
    tell_warnings(&trace, terminal);
    Ok(trace)
}

fn input_mb(args: &FitArgs, log: usize) -> Option<f64> {
    args.input_size.get(log).map(|bytes| *bytes as f64 / MB)
}

/// What a log of Spark says of its run.
fn observed(trace: &JobTrace, args: &FitArgs, log: usize) -> Result<tailspn::fit::ObservedRun, Failure> {
    observe(trace, input_mb(args, log)).map_err(|error| refused(&error))
}

/// The stage graph of a Spark job.
fn stages(seen: Vec<Seen>, args: &FitArgs, terminal: &Terminal) -> Result<Fitted, Failure> {
    let runs: Vec<_> = seen
        .into_iter()
        .filter_map(|seen| match seen {
            Seen::Run(run) => Some(*run),
            Seen::Job(_) => None,
        })
        .collect();
    let fitted = fit_stages(&runs).map_err(|error| refused(&error))?;
    let report = terminal.printed(&fit_report(&fitted, args.level), &args.print)?;
    let plan = fitted.plan.to_toml().map_err(Failure::internal)?;
    Ok(Fitted { report, plan })
}

/// The plan of a MapReduce job.
fn job(trace: &JobTrace, confs: &[&PathBuf], args: &FitArgs, terminal: &Terminal) -> Result<Fitted, Failure> {
    let conf = match confs {
        [] => None,
        [path] => {
            let read = HadoopConf::read(&read_bytes(path)?);
            Some(read.map_err(|error| Failure::plain(Exit::Trace, format!("{}: {error}", path.display())))?)
        }
        _ => return Err(usage(format!("{} configurations for one log; give one", confs.len()))),
    };
    let observed = observe_job(trace, args.job.as_deref()).map_err(|error| refused(&error))?;
    let fit = |observed: &ObservedJob, input_mb| fit_job(observed, conf.as_ref(), input_mb, args.level);
    let mut fitted = fit(&observed, input_mb(args, 0)).map_err(|error| refused(&error))?;
    let checked = check_fit(&fitted).map_err(|error| estimate_failure(&error))?;
    let others = trace.applications.iter().map(|application| &application.id).filter(|id| **id != fitted.id);
    let others = others.take(MOST_OTHERS).filter_map(|id| {
        let fitted = fit(&observe_job(trace, Some(id)).ok()?, None).ok()?;
        check_fit(&fitted).ok()
    });
    fitted.add_residual(residual_of(&others.collect::<Vec<_>>()));
    let report = terminal.printed(&fit_job_report(&fitted, Some(checked.estimate_s)), &args.print)?;
    let plan = fitted.plan_text().map_err(Failure::internal)?;
    Ok(Fitted { report, plan })
}

fn refused(error: &FitError) -> Failure {
    let note = Note::problem(error.to_string());
    let note = match error {
        FitError::NoInput { .. } => note.with_help("say it with --input-size, once for each log"),
        FitError::NotAStageGraph { .. } => note.with_help("`tailspn trace` shows what other logs say"),
        FitError::SeveralJobs { .. } | FitError::NoSuchJob { .. } => note.with_help("say which one with --job ID"),
        _ => note,
    };
    Failure::new(Exit::Trace, note)
}
