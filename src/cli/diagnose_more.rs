//! The findings of `diagnose` beyond the causes in the log: stragglers by task progress, and faulty nodes by system
//! calls.

use std::path::Path;

use tailspn::diagnose::Finding;
use tailspn::diagnose::long_tail::{AgentSettings, History, Model, Oddity, by_log, clock_ahead, find};
use tailspn::diagnose::syscalls::{
    DiagnosisSettings, Method, NodeCalls, Profile, Purpose, Run, SyscallError, diagnose, read_nodes,
};
use tailspn::report::UsedRow;
use tailspn::trace::{Clock, JobTrace, utc_text};

use crate::cli::args::DiagnoseArgs;
use crate::cli::diagnose_inputs::Inputs;
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::report_source::{Rest, read_reports};
use crate::cli::watch::{Progress, interrupted};
use crate::cli::{syscalls, watch_tasks};

/// The findings from one kind of input.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) used: Vec<UsedRow>,
    pub(super) missing: Vec<String>,
    pub(super) warnings: Vec<String>,
    pub(super) findings: Vec<Finding>,
    /// True if there was something to compare.
    pub(super) compared: bool,
}

impl Said {
    fn missing(sentence: String) -> Self {
        Self { missing: vec![sentence], ..Self::default() }
    }

    /// Records that a node's log is used, with its warnings.
    fn use_of(&mut self, node: &NodeCalls) {
        let taken = format!("{} of node {}", node.form.text(), node.node);
        self.used.push(UsedRow { kind: "syscalls".into(), name: node.file.clone(), taken });
        self.warnings.extend(node.odd.iter().map(|odd| format!("{}:{}: {odd}", node.file, odd.line)));
    }

    pub(super) fn add(&mut self, more: Self) {
        self.used.extend(more.used);
        self.missing.extend(more.missing);
        self.warnings.extend(more.warnings);
        self.findings.extend(more.findings);
        self.compared |= more.compared;
    }
}

/// Finds stragglers by task progress: from progress reports or, with a model, from a log that contains progress
/// curves.
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
        match apart(trace, "reports", span(&read)) {
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
        let note = Note::problem("the progress reports are unusable, and there are no other inputs");
        return Err(Failure {
            exit: Exit::Trace,
            notes: [vec![note], said.warnings.iter().map(Note::problem).collect()].concat(),
        });
    }
    if inputs.progress.is_empty() {
        let Some(_) = &model else { return Ok(said) };
        history = trace.map(|trace| History::from_trace(trace, 0)).unwrap_or_default();
        if history.tasks.is_empty() {
            return Ok(Said::missing("no progress reports: the model is not used".to_owned()));
        }
    }
    said.missing.extend(model.as_ref().and_then(|model| not_learned(model, &history)));
    said.compared = !history.tasks.is_empty();
    said.findings = find(trace, &history, model.as_ref(), AgentSettings::default());
    Ok(said)
}

/// Reads the reports of a file and records their warnings.
fn reports(path: &Path, args: &DiagnoseArgs, said: &mut Said) -> Result<(History, UsedRow), Failure> {
    let name = path.display().to_string();
    let (read, rest) = read_reports(path, args.max_samples, 0)?;
    said.warnings.extend(match rest {
        Rest::Nothing => None,
        Rest::More => Some(format!("{name}: everything after {} bytes is skipped (--max-samples)", args.max_samples)),
        Rest::Damaged(how) => Some(format!("{name}: {}: {how}", Oddity::CutFile.text())),
    });
    said.warnings.extend(read.oddities.list().map(|counted| format!("{name}: {counted}")));
    let reports: usize = read.tasks.iter().map(|task| task.points.len()).sum();
    let taken = format!("{reports} reports on {} task attempts", read.tasks.len());
    Ok((read, UsedRow { kind: "progress".into(), name, taken }))
}

/// Returns the reports on attempts that the log contains; records the number of missing attempts, and differing
/// clocks.
fn of_this_run(trace: &JobTrace, read: History, said: &mut Said) -> History {
    let all = read.tasks.len();
    let [known, others] = by_log(trace, read);
    if known.tasks.is_empty() {
        said.missing.push(format!(
            "none of the {all} attempts in the progress reports is in the log; the attempts are compared only with each other"
        ));
        return others;
    }
    if let Some(first) = others.tasks.first() {
        said.missing.push(format!(
            "skipped the progress reports of {} of {all} attempts, which the log does not contain, such as task {} of stage {}",
            others.tasks.len(),
            first.task,
            first.stage
        ));
    }
    if let Some(ahead) = clock_ahead(trace, &known) {
        said.warnings.push(format!(
            "the clock of the progress reports is {:.1} s {} the clock of the log, judging by attempts in both; the output has the times of the log",
            ahead.abs(),
            if ahead > 0.0 { "ahead of" } else { "behind" }
        ));
    }
    known
}

/// Returns the first and the last time of reports, in seconds since 1970.
fn span(history: &History) -> Option<[f64; 2]> {
    let first = history.tasks.iter().map(|task| task.start_s).reduce(f64::min)?;
    let ends = history.tasks.iter().filter_map(|task| Some(task.start_s + task.points.last()?.0));
    Some([first, ends.reduce(f64::max)?])
}

/// Explains why a file cannot belong to the run of the log: the times of the two do not overlap. `span` is the file's
/// first and last time, in seconds since 1970.
fn apart(trace: Option<&JobTrace>, what: &str, span: Option<[f64; 2]>) -> Option<String> {
    let trace = trace.filter(|trace| trace.clock == Clock::Unix)?;
    let [first, last] = span?;
    let from = trace.origin_us as f64 / 1e6;
    let to = from + trace.last?.seconds();
    let (when, at, by) = match (first > to, last < from) {
        (true, _) => ("start", first, format!("{:.0} s after the log ends", first - to)),
        (_, true) => ("end", last, format!("{:.0} s before the log starts", from - last)),
        _ => return None,
    };
    Some(format!("the {what} {when} at {}, {by}; they belong to another run and are skipped", utc_text(at)))
}

/// Returns a remark on kinds of tasks that the model has not learned.
fn not_learned(model: &Model, history: &History) -> Option<String> {
    let kinds = history.tasks.iter().map(|task| task.kind.as_str());
    let mut kinds: Vec<&str> = kinds.filter(|kind| model.position(kind).is_none()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let first = kinds.first()?;
    Some(format!(
        "the model does not cover {} kinds of tasks, such as `{first}`; tasks of these kinds are compared only with each other",
        kinds.len()
    ))
}

/// Finds faulty nodes by their system calls. Only the improved method is used, because the two other methods, as printed
/// in the paper, name the wrong node too often (docs/replications/system-calls.md).
pub(super) fn by_calls(
    inputs: &Inputs,
    trace: Option<&JobTrace>,
    args: &DiagnoseArgs,
    terminal: &Terminal,
) -> Result<Said, Failure> {
    let profile = args.profile.as_ref().map(|path| syscalls::profile_in(path)).transpose()?;
    match profile {
        None if inputs.calls.is_empty() => Ok(Said::default()),
        None => Ok(Said::missing(format!(
            "strace logs were not read, because there is no profile: {}; make one from fault-free runs by `tailspn syscalls profile RUN... -o usual.json`, and add --profile usual.json",
            inputs.calls.join(", ")
        ))),
        Some(_) if inputs.calls.is_empty() => Ok(Said::missing("no strace logs: the profile is not used".to_owned())),
        Some(profile) => judged_calls(inputs, &profile, trace, terminal),
    }
}

/// Compares the nodes whose logs belong to the same run as the job log with the profile.
fn judged_calls(
    inputs: &Inputs,
    profile: &Profile,
    trace: Option<&JobTrace>,
    terminal: &Terminal,
) -> Result<Said, Failure> {
    let progress = Progress::new(terminal.shows_progress(), "bytes");
    let (read, notes) = read_nodes(&inputs.calls, Purpose::Judge(profile), &profile.read_settings(), &progress)
        .map_err(syscalls::refused)?;
    let (mut said, mut nodes) = (Said::default(), Vec::new());
    for node in read {
        match apart(trace, "calls", node.span) {
            Some(why) => said.missing.push(format!("{}: {why}", node.file)),
            None => nodes.push(node),
        }
    }
    if nodes.is_empty() {
        said.warnings.extend(notes);
        return Ok(said);
    }
    let run = match Run::of(String::new(), nodes, notes.clone()) {
        Ok(run) => run,
        Err(error @ SyscallError::NothingToJudge { .. }) if trace.is_some() || !inputs.progress.is_empty() => {
            said.missing.push(nothing_to_judge(&error));
            said.warnings.extend(notes);
            return Ok(said);
        }
        Err(error) => return Err(syscalls::refused(error)),
    };
    run.nodes.iter().for_each(|node| said.use_of(node));
    for answer in diagnose(&run, profile, &[Method::Improved], &DiagnosisSettings::default()) {
        said.compared |= answer.silence.is_none();
        said.missing
            .extend(answer.silence.as_ref().map(|why| format!("system calls do not identify a faulty node: {why}")));
        said.findings.extend(answer.findings);
    }
    said.warnings.extend(run.notes);
    Ok(said)
}

/// Explains why strace logs give no findings, and what would help.
fn nothing_to_judge(error: &SyscallError) -> String {
    let help = error.help().map_or_else(String::new, |help| format!("; {help}"));
    format!("system calls: {error}{help}")
}
