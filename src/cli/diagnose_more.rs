//! What `diagnose` says beside the causes in the log: stragglers by the progress of tasks, and nodes at fault by their system calls.

use std::path::Path;

use tailspn::diagnose::Finding;
use tailspn::diagnose::long_tail::{AgentSettings, History, Model, by_log, clock_ahead, find};
use tailspn::diagnose::syscalls::{DiagnosisSettings, Method, Purpose, diagnose, read_run};
use tailspn::report::UsedRow;
use tailspn::trace::{Clock, JobTrace};

use crate::cli::args::DiagnoseArgs;
use crate::cli::diagnose_inputs::Inputs;
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::report_source::read_at_most;
use crate::cli::watch::{Progress, interrupted};
use crate::cli::{syscalls, watch_tasks};

/// What one kind of input gave.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) used: Vec<UsedRow>,
    pub(super) missing: Vec<String>,
    pub(super) warnings: Vec<String>,
    pub(super) findings: Vec<Finding>,
    /// Whether there was anything to compare.
    pub(super) compared: bool,
}

impl Said {
    fn missing(sentence: String) -> Self {
        Self { missing: vec![sentence], ..Self::default() }
    }

    pub(super) fn add(&mut self, more: Self) {
        self.used.extend(more.used);
        self.missing.extend(more.missing);
        self.warnings.extend(more.warnings);
        self.findings.extend(more.findings);
        self.compared |= more.compared;
    }
}

/// Stragglers by the progress of tasks: that of reports, or, against a model, that of a log which has curves.
pub(super) fn by_progress(
    inputs: &Inputs,
    trace: Option<&JobTrace>,
    args: &DiagnoseArgs,
    terminal: &Terminal,
) -> Result<Said, Failure> {
    let model = args.model.as_ref().map(|path| watch_tasks::model_in(path, terminal)).transpose()?;
    let (mut said, mut history) = (Said::default(), History::default());
    for path in inputs.progress.iter().take_while(|_| !interrupted()) {
        let (read, used) = reports(path, args, &mut said)?;
        match trace.and_then(|trace| apart(trace, &read)) {
            Some(why) => said.missing.push(format!("{}: {why}", path.display())),
            None => {
                history.extend(match trace {
                    Some(trace) => of_this_run(trace, read, &mut said),
                    None => read,
                });
                said.used.push(used);
            }
        }
    }
    if trace.is_none() && inputs.calls.is_empty() && history.tasks.is_empty() {
        let note = Note::problem("none of the reports of progress can be used, and nothing else was given");
        return Err(Failure {
            exit: Exit::Trace,
            notes: [vec![note], said.warnings.iter().map(Note::problem).collect()].concat(),
        });
    }
    if inputs.progress.is_empty() {
        let Some(_) = &model else { return Ok(said) };
        history = trace.map(|trace| History::from_trace(trace, 0)).unwrap_or_default();
        if history.tasks.is_empty() {
            return Ok(Said::missing("no reports of progress: the model is of no use".to_owned()));
        }
    }
    said.missing.extend(model.as_ref().and_then(|model| not_learned(model, &history)));
    said.compared = !history.tasks.is_empty();
    said.findings = find(trace, &history, model.as_ref(), AgentSettings::default());
    Ok(said)
}

/// The reports of a file; tells what is odd about them.
fn reports(path: &Path, args: &DiagnoseArgs, said: &mut Said) -> Result<(History, UsedRow), Failure> {
    let name = path.display().to_string();
    let (bytes, cut) = read_at_most(path, args.max_samples)?;
    if cut {
        said.warnings.push(format!("{name}: what comes after {} bytes is left out (--max-samples)", args.max_samples));
    }
    let read = History::from_reports(&bytes, 0);
    said.warnings.extend(read.oddities.list().map(|counted| format!("{name}: {counted}")));
    let reports: usize = read.tasks.iter().map(|task| task.points.len()).sum();
    let taken = format!("{reports} reports on {} attempts of tasks", read.tasks.len());
    Ok((read, UsedRow { kind: "progress".into(), name, taken }))
}

/// The reports of attempts that the log has; tells how many it has not, and of clocks that disagree.
fn of_this_run(trace: &JobTrace, read: History, said: &mut Said) -> History {
    let all = read.tasks.len();
    let [known, others] = by_log(trace, read);
    if known.tasks.is_empty() {
        said.missing.push(format!(
            "none of the {all} attempts in the reports of progress is in the log: they are compared among themselves"
        ));
        return others;
    }
    if let Some(first) = others.tasks.first() {
        said.missing.push(format!(
            "{} of {all} attempts in the reports of progress are not in the log, such as task {} of stage {}: they are left out",
            others.tasks.len(),
            first.task,
            first.stage
        ));
    }
    if let Some(ahead) = clock_ahead(trace, &known) {
        said.warnings.push(format!(
            "the clock of the reports of progress is {:.1} s {} that of the log, by attempts that are in both: times are those of the log",
            ahead.abs(),
            if ahead > 0.0 { "ahead of" } else { "behind" }
        ));
    }
    known
}

/// Why the reports of a file cannot be of the run that the log tells of: their times do not meet.
fn apart(trace: &JobTrace, history: &History) -> Option<String> {
    if trace.clock != Clock::Unix {
        return None;
    }
    let from = trace.origin_us as f64 / 1e6;
    let to = from + trace.last?.seconds();
    let first = history.tasks.iter().map(|task| task.start_s).reduce(f64::min)?;
    let ends = history.tasks.iter().filter_map(|task| Some(task.start_s + task.points.last()?.0));
    let last = ends.reduce(f64::max)?;
    let (when, by) = match (first > to, last < from) {
        (true, _) => ("begin after the log ends", first - to),
        (_, true) => ("end before the log begins", from - last),
        _ => return None,
    };
    Some(format!("the reports {when}, by {by:.0} s: they are of another run, and are left out"))
}

/// Kinds of tasks of which the model has learned nothing.
fn not_learned(model: &Model, history: &History) -> Option<String> {
    let kinds = history.tasks.iter().map(|task| task.kind.as_str());
    let mut kinds: Vec<&str> = kinds.filter(|kind| model.position(kind).is_none()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let first = kinds.first()?;
    Some(format!(
        "the model has learned nothing of {} kinds of tasks, such as `{first}`: these are compared among themselves",
        kinds.len()
    ))
}

/// Nodes at fault by their system calls. Of the three methods the improved one is taken: the other two, as printed, name the wrong node
/// too often (docs/replications/system-calls.md).
pub(super) fn by_calls(inputs: &Inputs, args: &DiagnoseArgs, terminal: &Terminal) -> Result<Said, Failure> {
    let Some(path) = &args.profile else {
        if inputs.calls.is_empty() {
            return Ok(Said::default());
        }
        return Ok(Said::missing(format!(
            "logs of strace were not read, since it is not known what is usual: {}; make a profile of runs without a fault, \
             `tailspn syscalls profile RUN... -o usual.json`, and give it with --profile usual.json",
            inputs.calls.join(", ")
        )));
    };
    if inputs.calls.is_empty() {
        return Ok(Said::missing("no logs of strace: the profile is of no use".to_owned()));
    }
    let profile = syscalls::profile_in(path)?;
    let progress = Progress::new(terminal.shows_progress(), "bytes");
    let run = read_run(&inputs.calls, Purpose::Judge(&profile), &profile.read_settings(), &progress)
        .map_err(syscalls::refused)?;
    let mut said = Said::default();
    for node in &run.nodes {
        let taken = format!("{} of node {}", node.form.text(), node.node);
        said.used.push(UsedRow { kind: "syscalls".into(), name: node.file.clone(), taken });
        said.warnings.extend(node.odd.iter().map(|odd| format!("{}:{}: {odd}", node.file, odd.line)));
    }
    for answer in diagnose(&run, &profile, &[Method::Improved], &DiagnosisSettings::default()) {
        said.compared |= answer.silence.is_none();
        said.missing.extend(answer.silence.as_ref().map(|why| format!("system calls name no node: {why}")));
        said.findings.extend(answer.findings);
    }
    said.warnings.extend(run.notes);
    Ok(said)
}
