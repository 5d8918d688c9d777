//! The inputs of `diagnose` beyond the log and the samples of its nodes: progress reports and system calls.

use std::path::Path;

use tailspn::diagnose::long_tail::Oddity;
use tailspn::diagnose::syscalls::{Purpose, read_nodes};
use tailspn::diagnose::{InputFindings, InputKind, ProgressFile, UsedInput};
use tailspn::trace::JobTrace;

use crate::cli::args::DiagnoseArgs;
use crate::cli::call::interrupted;
use crate::cli::diagnose_inputs::Inputs;
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::report_source::{Rest, read_reports};
use crate::cli::watch::Progress;
use crate::cli::{syscalls, watch_tasks};

/// Finds stragglers by task progress.
pub(super) fn by_progress(
    inputs: &Inputs,
    trace: Option<&JobTrace>,
    args: &DiagnoseArgs,
    terminal: &Terminal,
) -> Result<InputFindings, Failure> {
    let model = args.model.as_ref().map(|path| watch_tasks::model_in(path, terminal)).transpose()?;
    let paths = inputs.progress.iter().take_while(|_| !interrupted());
    let files = paths.map(|path| reports(path, args)).collect::<Result<_, Failure>>()?;
    let found = InputFindings::of_progress(files, trace, model.as_ref());
    if trace.is_none() && inputs.calls.is_empty() && !found.compared {
        let note = Note::problem("the progress reports are unusable, and there are no other inputs");
        return Err(Failure {
            exit: Exit::Trace,
            notes: [vec![note], found.warnings.iter().map(Note::problem).collect()].concat(),
        });
    }
    Ok(found)
}

/// Reads the reports of a file.
fn reports(path: &Path, args: &DiagnoseArgs) -> Result<ProgressFile, Failure> {
    let name = path.display().to_string();
    let (history, rest) = read_reports(path, args.max_samples, 0)?;
    let rest = match rest {
        Rest::Nothing => None,
        Rest::More => Some(format!("{name}: everything after {} bytes is skipped (--max-samples)", args.max_samples)),
        Rest::Damaged(how) => Some(format!("{name}: {}: {how}", Oddity::CutFile.text())),
    };
    let warnings =
        rest.into_iter().chain(history.oddities.list().map(|counted| format!("{name}: {counted}"))).collect();
    let reports: usize = history.tasks.iter().map(|task| task.points.len()).sum();
    let taken = format!("{reports} reports on {} task attempts", history.tasks.len());
    Ok(ProgressFile { used: UsedInput { kind: InputKind::Progress, name, taken }, history, warnings })
}

/// Finds faulty nodes by their system calls.
pub(super) fn by_calls(
    inputs: &Inputs,
    trace: Option<&JobTrace>,
    args: &DiagnoseArgs,
    terminal: &Terminal,
) -> Result<InputFindings, Failure> {
    let profile = args.profile.as_ref().map(|path| syscalls::profile_in(path)).transpose()?;
    match profile {
        None if inputs.calls.is_empty() => Ok(InputFindings::default()),
        None => Ok(InputFindings::missing(format!(
            "strace logs were not read, because there is no profile: {}; make one from fault-free runs by `tailspn syscalls profile RUN... -o usual.json`, and add --profile usual.json",
            inputs.calls.join(", ")
        ))),
        Some(_) if inputs.calls.is_empty() => Ok(InputFindings::missing("no strace logs: the profile is not used")),
        Some(profile) => {
            let progress = Progress::new(terminal.shows_progress(), "bytes");
            let (read, notes) =
                read_nodes(&inputs.calls, Purpose::Judge(&profile), &profile.read_settings(), &progress)?;
            let is_only = trace.is_none() && inputs.progress.is_empty();
            Ok(InputFindings::of_calls(read, notes, &profile, trace, is_only)?)
        }
    }
}
