//! `why`: what a run did, why it was slow, and what changed against another run. The kinds of inputs determine the question.

use std::path::{Path, PathBuf};

use tailspn::diagnose::causes::RootCauses;
use tailspn::report::{Answer, DiagnosisReport, Typed, diagnosis_report, diagnosis_svg, trace_csv, trace_report};
use tailspn::trace::analysis::Usual;
use tailspn::trace::{Format, JobTrace, ReadOptions};

use crate::cli::args::WhyArgs;
use crate::cli::call::interrupted;
use crate::cli::calls::faulty_node;
use crate::cli::compare::compare;
use crate::cli::exit::Exit;
use crate::cli::files::write_file_with;
use crate::cli::frame::{self, Ask, Asked, Form, typed};
use crate::cli::input::Input;
use crate::cli::kinds::are_compared;
use crate::cli::logs::{load, tell_warnings};
use crate::cli::notes::{Failure, first_given};
use crate::cli::output::Terminal;
use crate::cli::watch::catch_interrupt;
use crate::cli::why_inputs::Inputs;
use crate::cli::why_list::{explain_all, explain_jobs, runs};
use crate::cli::why_methods::{by_calls, by_log, by_progress, without_log};

/// Explains the inputs, or prints the attempts of a log.
pub(crate) fn run(args: &WhyArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if args.attempts.as_deref() != Some(Path::new("-")) {
        return frame::run(args, terminal);
    }
    catch_interrupt(terminal);
    let inputs = Inputs::of_run(&args.paths, args.limits.app.as_deref())?;
    let trace = log_of(&inputs, args, terminal)?.ok_or_else(|| needs_log("--attempts"))?;
    let usual = usual(&trace, args, terminal)?;
    tell_warnings(&trace, terminal);
    trace_csv(&trace, &usual, args.print.csv_text(), |part| terminal.data(part))?;
    Ok(if interrupted() { Exit::Interrupted } else { Exit::Success })
}

impl Ask for WhyArgs {
    fn form(&self) -> Form<'_> {
        Form {
            plots: Some(&self.plots),
            picture: self.timeline.as_deref(),
            files: self.attempts.iter().map(|path| &**path).collect(),
            typed: typed_sides(&self.paths, &self.against),
            ..Form::printed(&self.print)
        }
    }

    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        catch_interrupt(terminal);
        if self.against.is_empty()
            && let Some(runs) = runs(self)?
        {
            only_one_log(self)?;
            return explain_all(runs, self, terminal);
        }
        if !self.against.is_empty() || are_compared(&self.paths) {
            only_one_log(self)?;
        }
        if !self.against.is_empty() || are_compared(&self.paths) {
            return compare(self, terminal);
        }
        let inputs = Inputs::of_run(&self.paths, self.limits.app.as_deref())?;
        if !self.method.is_empty() {
            let Some(profile) = self.profile.as_deref().filter(|_| inputs.are_calls_at_most()) else {
                let help = "pass the strace logs of a run, and --profile PROFILE.json";
                return Err(Failure::helped(Exit::Usage, "--method applies to strace logs alone", help));
            };
            return faulty_node(self, profile, terminal);
        }
        explain(&inputs, self, terminal)
    }
}

/// Refuses options about a single log.
fn only_one_log(args: &WhyArgs) -> Result<(), Failure> {
    let given = first_given([
        ("--timeline", args.timeline.is_some()),
        ("--attempts", args.attempts.is_some()),
        ("--usual", !args.usual.is_empty()),
        ("--method", !args.method.is_empty()),
        ("--profile", args.profile.is_some()),
    ]);
    match given {
        Some(option) => {
            let help = "name one log; `--app ID` selects one of several in a folder or an archive";
            Err(Failure::helped(Exit::Usage, format!("{option} applies to one log"), help))
        }
        None => Ok(()),
    }
}

/// Returns the words of the files of both sides.
fn typed_sides(paths: &[PathBuf], against: &[PathBuf]) -> Typed {
    let inputs = |paths: &[PathBuf]| paths.iter().map(|path| Input::from(path.as_path())).collect::<Vec<_>>();
    let mut typed = typed(&inputs(paths));
    if !against.is_empty() {
        typed.words.push("--against".to_owned());
        typed.words.extend(frame::typed(&inputs(against)).words);
    }
    typed
}

/// Explains a run by its log, samples, progress reports and system calls.
fn explain<'a>(inputs: &Inputs, args: &'a WhyArgs, terminal: &Terminal) -> Result<Asked<'a>, Failure> {
    let trace = log_of(inputs, args, terminal)?;
    if let Some(trace) = trace.as_ref().filter(|trace| has_several_jobs(trace)) {
        only_one_log(args)?;
        return explain_jobs(trace, inputs, args, terminal);
    }
    if trace.is_none() && args.timeline.is_some() {
        return Err(needs_log("--timeline"));
    }
    let (mut said, causes) = match &trace {
        Some(trace) => by_log(inputs, trace, args, terminal)?,
        None => (without_log(inputs), RootCauses::default()),
    };
    said.add(by_progress(inputs, trace.as_ref(), args, terminal)?);
    said.add(by_calls(inputs, trace.as_ref(), args, terminal)?);
    said.warnings.extend(inputs.left_out());
    let report = diagnosis_report(trace.as_ref(), said, causes);
    let partial = report.partial || interrupted();
    let Some(trace) = trace else {
        return Ok(Answer::new(DiagnosisReport { partial, ..report }).unless_stopped(interrupted()).into());
    };
    let usual = usual(&trace, args, terminal)?;
    let picture = args.timeline.as_ref().map(|_| diagnosis_svg(&trace, &report.findings));
    let run = Some(trace_report(&trace, &usual));
    let answer = Answer::new(DiagnosisReport { partial, run, ..report }).unless_stopped(interrupted());
    let asked = Asked::from(answer).drawing(picture);
    let Some(path) = &args.attempts else { return Ok(asked) };
    let text = args.print.csv_text();
    Ok(asked.writing(move |_, _| {
        write_file_with(path, args.print.force, |out| {
            trace_csv(&trace, &usual, text, |part| out.write_all(part.as_bytes()))
        })
    }))
}

/// Returns true for the log of several jobs. The traces of whole clusters are one subject.
fn has_several_jobs(trace: &JobTrace) -> bool {
    let is_cluster = matches!(trace.format, Format::Google2011 | Format::Alibaba2017 | Format::Alibaba2018);
    trace.applications.len() > 1 && !is_cluster
}

/// Reads the log among the inputs; none if they have no log.
fn log_of(inputs: &Inputs, args: &WhyArgs, terminal: &Terminal) -> Result<Option<JobTrace>, Failure> {
    let log = inputs.log();
    let given = ReadOptions::from(&args.limits);
    let options = ReadOptions { application: inputs.application.clone().or(given.application.clone()), ..given };
    if let Some(path) = inputs.unknown.first() {
        // the log reader has the best message for other kinds of files
        load(path, &options, terminal)?;
        return Err(Failure::plain(Exit::Model, format!("`{}` cannot be explained", path.display())));
    }
    log?.map(|log| load(log, &options, terminal)).transpose()
}

/// Reads the usual runs of the program.
fn usual(trace: &JobTrace, args: &WhyArgs, terminal: &Terminal) -> Result<Usual, Failure> {
    // `--app` applies to the log, not to the other runs
    let options = ReadOptions { application: None, ..ReadOptions::from(&args.limits) };
    let runs = args.usual.iter().map(|path| load(path, &options, terminal)).collect::<Result<Vec<_>, _>>()?;
    for other in runs.iter().filter_map(|run| Usual::other_program(trace, run)) {
        terminal.tell(&format!("warning: {other}"));
    }
    Ok(Usual::from_runs(&runs))
}

fn needs_log(option: &str) -> Failure {
    Failure::plain(Exit::Usage, format!("{option} needs the log of a job"))
}
