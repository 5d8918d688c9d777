//! `fit`: fits the model of a job to logs of the job: a stage graph for Spark, a job plan for MapReduce.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use tailspn::fit::{
    FitError, FittedJobs, FittedStages, HadoopConf, ObservedRun, fit_jobs, fit_stages_alongside, is_mapreduce, observe,
    observe_jobs,
};
use tailspn::job_time::{CheckedFit, add_residuals, check_stages, other_jobs};
use tailspn::plan::JobPlan;
use tailspn::report::{fit_jobs_report, fit_report};
use tailspn::trace::{JobTrace, ReadOptions};
use tailspn::watch::Quiet;

use crate::cli::args::FitArgs;
use crate::cli::exit::Exit;
use crate::cli::load::read_bytes;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::{Terminal, may_write, write_file};
use crate::cli::study::estimate_failure;
use crate::cli::trace::{LogChoice, all_logs, load, tell_warnings};
use crate::cli::watch::{Progress, catch_interrupt, interrupted};

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
    let fitted = model.printed(args, terminal)?;
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

/// A model that was fitted to logs.
enum Model {
    Stages(Box<FittedStages>),
    Jobs(Box<FittedJobs>, Vec<CheckedFit>),
}

impl Model {
    fn printed(&self, args: &FitArgs, terminal: &Terminal) -> Result<Fitted, Failure> {
        let (report, plan) = match self {
            Self::Stages(fitted) => (
                terminal.printed(&fit_report(fitted, args.level), &args.print)?,
                fitted.plan.to_toml().map_err(Failure::internal)?,
            ),
            Self::Jobs(all, checked) => (
                terminal.printed(&fit_jobs_report(all, checked), &args.print)?,
                all.fitted.plan_text().map_err(Failure::internal)?,
            ),
        };
        Ok(Fitted { report, plan })
    }
}

/// Returns the plan of the job that was fitted to the logs; `None` after Ctrl-C.
pub(crate) fn plan_of(args: &FitArgs, terminal: &Terminal) -> Result<Option<JobPlan>, Failure> {
    Ok(match model(args, terminal)? {
        Some(Model::Stages(fitted)) => Some(JobPlan::Stages(Box::new(fitted.plan))),
        Some(Model::Jobs(all, _)) => Some(JobPlan::MapReduce(Box::new(all.fitted.plan))),
        None => None,
    })
}

/// Reads the logs and fits the model; `None` after Ctrl-C.
fn model(args: &FitArgs, terminal: &Terminal) -> Result<Option<Model>, Failure> {
    let (confs, logs): (Vec<&PathBuf>, Vec<&PathBuf>) = args.logs.iter().partition(|path| is_conf(path));
    let logs = all_logs(&logs, &ReadOptions::from(&args.limits))?;
    if args.job.is_empty() && !args.input_size.is_empty() && args.input_size.len() != logs.len() {
        return Err(usage(format!(
            "{} input sizes for {} logs; specify one for each log",
            args.input_size.len(),
            logs.len()
        )));
    }
    catch_interrupt(terminal);
    let traces = read_logs(&logs, args, terminal)?;
    if interrupted() {
        return Ok(None);
    }
    let jobs: Vec<&JobTrace> = traces.iter().filter_map(FitInput::job).collect();
    let model = match &traces[..] {
        [] => Err(usage("a configuration without a log; also pass the job's history".to_owned())),
        _ if args.others().next().is_some() && !jobs.is_empty() => {
            Err(usage("`--alongside` applies only to Spark logs".to_owned()))
        }
        all if jobs.len() == all.len() => job(&jobs, &confs, args, terminal),
        _ if !jobs.is_empty() => {
            Err(usage("logs of both MapReduce and Spark; a fit needs logs of one kind".to_owned()))
        }
        _ if !confs.is_empty() || !args.job.is_empty() => {
            Err(usage("a *_conf.xml and --job apply only to MapReduce logs".to_owned()))
        }
        _ => stages(traces, args, terminal),
    };
    // an error of stopped work has no meaning
    if interrupted() { Ok(None) } else { model.map(Some) }
}

/// Reads the logs, each of a different run. Of Spark logs, only the necessary data is kept.
fn read_logs(logs: &[LogChoice], args: &FitArgs, terminal: &Terminal) -> Result<Vec<FitInput>, Failure> {
    let mut traces = Vec::new();
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for log in logs {
        let trace = log.load(terminal)?;
        tell_warnings(&trace, terminal);
        for id in trace.applications.iter().map(|application| &application.id).filter(|id| !id.is_empty()) {
            if let Some(before) = seen.insert(id.clone(), log.name()) {
                let note = Note::problem(format!("`{before}` and `{}` are logs of the same run, {id}", log.name()));
                let help = "pass each run once; duplicates make intervals too narrow";
                return Err(Failure::new(Exit::Usage, note.with_help(help)));
            }
        }
        traces.push(if is_mapreduce(&trace) {
            FitInput::Job(Box::new(trace))
        } else {
            FitInput::Run(Box::new(observed(&trace, args, traces.len())?))
        });
    }
    Ok(traces)
}

/// The part of a log that is kept.
enum FitInput {
    Run(Box<ObservedRun>),
    Job(Box<JobTrace>),
}

impl FitInput {
    fn job(&self) -> Option<&JobTrace> {
        match self {
            Self::Job(trace) => Some(trace),
            Self::Run(_) => None,
        }
    }
}

fn usage(message: String) -> Failure {
    Failure::plain(Exit::Usage, message)
}

/// Returns true if a file is a Hadoop configuration rather than a log. An unreadable file is reported later, when it is
/// read.
fn is_conf(path: &Path) -> bool {
    let mut head = Vec::new();
    path.is_file()
        && File::open(path).is_ok_and(|file| file.take(4096).read_to_end(&mut head).is_ok())
        && HadoopConf::is_meant(&head)
}

fn input_mb(args: &FitArgs, log: usize) -> Option<f64> {
    args.input_size.get(log).map(|bytes| *bytes as f64 / MB)
}

/// Observes the run in a Spark log.
fn observed(trace: &JobTrace, args: &FitArgs, log: usize) -> Result<ObservedRun, Failure> {
    observe(trace, input_mb(args, log)).map_err(|error| refused(&error))
}

/// Fits the stage graph of a Spark job.
fn stages(seen: Vec<FitInput>, args: &FitArgs, terminal: &Terminal) -> Result<Model, Failure> {
    let runs: Vec<_> = seen
        .into_iter()
        .filter_map(|seen| match seen {
            FitInput::Run(run) => Some(*run),
            FitInput::Job(_) => None,
        })
        .collect();
    let others = others_of(args, terminal)?;
    let mut fitted = fit_stages_alongside(&runs, &others).map_err(|error| refused(&error))?;
    let progress = Progress::new(terminal.shows_progress(), "replications");
    check_stages(&mut fitted, &progress).map_err(|error| estimate_failure(&error))?;
    Ok(Model::Stages(Box::new(fitted)))
}

/// Returns the runs of other programs on the same cluster.
fn others_of(args: &FitArgs, terminal: &Terminal) -> Result<Vec<ObservedRun>, Failure> {
    let mut others = Vec::new();
    for path in args.others() {
        // `--app` refers to the logs of the job
        let trace = load(path, &ReadOptions { application: None, ..(&args.limits).into() }, terminal)?;
        tell_warnings(&trace, terminal);
        // the size of the input does not matter here
        let known = observe(&trace, None).or_else(|error| match error {
            FitError::NoInput { .. } => observe(&trace, Some(1.0)),
            error => Err(error),
        });
        others.push(known.map_err(|error| refused(&error))?);
    }
    Ok(others)
}

/// Fits the plan of a MapReduce job to one recorded job or several.
fn job(traces: &[&JobTrace], confs: &[&PathBuf], args: &FitArgs, terminal: &Terminal) -> Result<Model, Failure> {
    let conf = match confs {
        [] => None,
        [path] => {
            let read = HadoopConf::read(&read_bytes(path)?);
            Some(read.map_err(|error| Failure::plain(Exit::Trace, format!("{}: {error}", path.display())))?)
        }
        _ => return Err(usage(format!("{} configurations for one plan; pass only one configuration", confs.len()))),
    };
    let observed = observe_jobs(traces, &args.job).map_err(|error| refused(&error))?;
    let inputs: Vec<f64> = args.input_size.iter().map(|bytes| *bytes as f64 / MB).collect();
    if !inputs.is_empty() && inputs.len() != observed.len() {
        let (sizes, jobs) = (inputs.len(), observed.len());
        return Err(usage(format!("{sizes} input sizes for {jobs} jobs; specify one for each job")));
    }
    let mut all = fit_jobs(&observed, conf.as_ref(), &inputs, args.level).map_err(|error| refused(&error))?;
    let progress = Progress::new(terminal.shows_progress(), "jobs");
    let others = other_jobs(traces, &observed, conf.as_ref(), args.level, &progress);
    let checked = add_residuals(&mut all, &others, &Quiet(&progress)).map_err(|error| estimate_failure(&error))?;
    Ok(Model::Jobs(Box::new(all), checked))
}

pub(crate) fn refused(error: &FitError) -> Failure {
    let note = Note::problem(error.to_string());
    let note = match error {
        FitError::NoInput { .. } => {
            note.with_help("add --input-size (in `optimize`: --log-input-size) once for each log")
        }
        FitError::NotAStageGraph { .. } => note.with_help("`tailspn trace` reads other logs"),
        FitError::SeveralJobs { .. } | FitError::NoSuchJob { .. } => note.with_help("select one with --job ID"),
        _ => note,
    };
    Failure::new(Exit::Trace, note)
}
