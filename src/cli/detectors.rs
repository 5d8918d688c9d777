//! `tool detectors`: lists the straggler detectors; with `--on`, judges them on recorded jobs.

use std::path::{Path, PathBuf};

use tailspn::cluster::PolicyPlan;
use tailspn::cluster::detect::DetectorPlan;
use tailspn::diagnose::detection::{RecordedRun, judge};
use tailspn::diagnose::long_tail::{History, Oddity, RULES, by_log, identify};
use tailspn::fit::usual_policies_of;
use tailspn::report::{Answer, DetectionReport, detection_report, detectors_report};
use tailspn::trace::analysis::Usual;
use tailspn::trace::{JobTrace, ReadOptions};

use crate::cli::args::DetectorsArgs;
use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::frame::{Ask, Asked, Form};
use crate::cli::logs::{load, load_with_warnings};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::plan::PlanText;
use crate::cli::report_source::{Rest, read_reports};
use crate::cli::watch::catch_interrupt;
use crate::cli::why_inputs::Inputs;

impl Ask for DetectorsArgs {
    fn form(&self) -> Form<'_> {
        Form::printed(&self.print)
    }

    /// Lists the detectors, or judges them.
    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        if self.on.is_empty() {
            return Ok(Answer::new(detectors_report()).into());
        }
        catch_interrupt(terminal);
        Ok(Answer::new(judged(self, terminal)?).unless_stopped(interrupted()).into())
    }
}

/// Judges the detectors on recorded jobs.
fn judged(args: &DetectorsArgs, terminal: &Terminal) -> Result<DetectionReport, Failure> {
    let runs = grouped(&args.on)?.iter().map(|paths| one_run(paths, args, terminal)).collect::<Result<Vec<_>, _>>()?;
    // --app refers to the runs on which the detectors are judged
    let options = ReadOptions { application: None, ..ReadOptions::from(&args.limits) };
    let usual =
        args.usual.iter().map(|path| load(&log_of(path)?, &options, terminal)).collect::<Result<Vec<_>, _>>()?;
    let policies = policies(&runs, args, terminal)?;
    let recorded: Vec<RecordedRun<'_>> = runs.iter().map(|(trace, progress)| RecordedRun { trace, progress }).collect();
    let judged = judge(&recorded, &Usual::from_runs(&usual), &policies, args.factor, args.level)?;
    let identified: Vec<_> =
        RULES.iter().flat_map(|&rule| runs.iter().map(move |(trace, _)| identify(trace, rule))).collect();
    let names = |traces: &mut dyn Iterator<Item = &JobTrace>| -> Vec<String> {
        traces.map(|trace| trace.files.first().cloned().unwrap_or_default()).collect()
    };
    let logs = names(&mut runs.iter().map(|(trace, _)| trace));
    let others = names(&mut usual.iter());
    Ok(detection_report(logs, others, [args.factor, args.level], &judged, &identified, Vec::new()))
}

/// Groups the arguments by run: a folder, or a log with the files of reports that follow it.
fn grouped(paths: &[PathBuf]) -> Result<Vec<Vec<PathBuf>>, Failure> {
    let mut runs: Vec<Vec<PathBuf>> = Vec::new();
    for path in paths {
        let follows = path.is_file() && !Inputs::sort(std::slice::from_ref(path))?.progress.is_empty();
        match runs.last_mut() {
            Some(run) if follows => run.push(path.clone()),
            _ => runs.push(vec![path.clone()]),
        }
    }
    Ok(runs)
}

/// Returns the log among the files of a path.
fn log_of(path: &Path) -> Result<PathBuf, Failure> {
    let inputs = Inputs::sort(&[path.to_owned()])?;
    // the log reader has the best message for other kinds of files
    Ok(inputs.log().ok().flatten().unwrap_or(path).to_owned())
}

/// Reads the log of a run, and the progress of the tasks from reports, or otherwise from the log.
fn one_run(paths: &[PathBuf], args: &DetectorsArgs, terminal: &Terminal) -> Result<(JobTrace, History), Failure> {
    let inputs = Inputs::sort(paths)?;
    if inputs.logs.is_empty() && !inputs.progress.is_empty() {
        let message = format!("`{}` has progress reports, but the log of their job is missing", paths[0].display());
        return Err(Failure::helped(
            Exit::Model,
            message,
            "put the log before its reports, or pass the folder with both",
        ));
    }
    let log = match inputs.logs.len() {
        0 => paths[0].as_path(),
        _ => inputs.log()?.unwrap_or(&paths[0]),
    };
    let trace = load_with_warnings(log, &ReadOptions::from(&args.limits), terminal)?;
    let mut progress = History::default();
    for path in &inputs.progress {
        progress.extend(reports(path, &trace, args, terminal)?);
    }
    if inputs.progress.is_empty() {
        progress = History::from_trace(&trace, 0);
    }
    Ok((trace, progress))
}

/// Returns the reports of a file on attempts that the log contains.
fn reports(path: &Path, trace: &JobTrace, args: &DetectorsArgs, terminal: &Terminal) -> Result<History, Failure> {
    let name = path.display();
    let (read, rest) = read_reports(path, args.max_samples, 0)?;
    match rest {
        Rest::Nothing => {}
        Rest::More => terminal
            .tell(&format!("warning: {name}: everything after {} bytes is skipped (--max-samples)", args.max_samples)),
        Rest::Damaged(how) => terminal.tell(&format!("warning: {name}: {}: {how}", Oddity::CutFile.text())),
    }
    for counted in read.oddities.list() {
        terminal.tell(&format!("warning: {name}: {counted}"));
    }
    let [known, others] = by_log(trace, read);
    if known.tasks.is_empty() {
        let log = trace.files.first().map_or("the log", String::as_str);
        let message = format!("{name}: none of the {} attempts in the reports is in {log}", others.tasks.len());
        return Err(Failure::helped(
            Exit::Model,
            message,
            "stage, task and attempt must have the same numbers as in the log",
        ));
    }
    if !others.tasks.is_empty() {
        let all = known.tasks.len() + others.tasks.len();
        terminal.tell(&format!("warning: {name}: {} of {all} attempts are not in the log", others.tasks.len()));
    }
    Ok(known)
}

/// Returns the policies of a plan, or the policies that `whatif` compares for a log, without policies that have no
/// detector.
fn policies(
    runs: &[(JobTrace, History)],
    args: &DetectorsArgs,
    terminal: &Terminal,
) -> Result<Vec<PolicyPlan>, Failure> {
    let policies = match &args.policies {
        Some(path) => PlanText::read(&path.as_path().into(), terminal)?.policies()?,
        None => {
            let jobs: Vec<&JobTrace> = runs.iter().map(|(trace, _)| trace).collect();
            usual_policies_of(&jobs)
        }
    };
    let looks = |policy: &PolicyPlan| !matches!(policy.detector, DetectorPlan::None | DetectorPlan::Clone);
    let policies: Vec<PolicyPlan> = policies.into_iter().filter(looks).collect();
    if policies.is_empty() {
        return Err(Failure::plain(Exit::Model, "the plan has no policy with a detector"));
    }
    Ok(policies)
}
