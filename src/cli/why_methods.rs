//! The methods of `why`: what each kind of input shows. The log and the samples of its nodes, progress reports, and system calls.

use std::path::{Path, PathBuf};

use tailspn::diagnose::causes::{CauseSettings, LogCauses, NodeMap, PoolOptions, RootCauses, Rules, causes_of_log};
use tailspn::diagnose::long_tail::Oddity;
use tailspn::diagnose::samples::{SampleOptions, Samples, is_readable, read_samples};
use tailspn::diagnose::syscalls::{Purpose, read_nodes};
use tailspn::diagnose::{InputFindings, InputKind, ProgressFile, UsedInput};
use tailspn::trace::JobTrace;

use crate::cli::args::{RulesChoice, WhyArgs};
use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::load::read_bytes;
use crate::cli::notes::{Failure, Note, Source};
use crate::cli::output::Terminal;
use crate::cli::report_source::{Rest, read_reports};
use crate::cli::watch::Progress;
use crate::cli::why_inputs::Inputs;
use crate::cli::{calls, watch_tasks};

/// Finds the causes of slow tasks in the log and the samples of its nodes.
pub(super) fn by_log(
    inputs: &Inputs,
    trace: &JobTrace,
    args: &WhyArgs,
    terminal: &Terminal,
) -> Result<(InputFindings, RootCauses), Failure> {
    let samples = samples(inputs, args, terminal)?;
    let settings = CauseSettings {
        map: node_map(trace, args)?,
        cpu: args.cpu.0,
        pool: PoolOptions { edge_width: args.edge_width, ..PoolOptions::default() },
        rules: rules(args),
    };
    let LogCauses { inputs: mut read, causes, map_to_complete } = causes_of_log(trace, &samples, &settings);
    if inputs.samples.is_empty() {
        let none = "no node samples: CPU, disk and network load are unknown (see `tailspn why --help`)";
        read.missing.insert(0, none.to_owned());
    }
    if let Some(text) = map_to_complete {
        terminal.tell(&format!("A node map to complete, for --node-map:\n\n{text}"));
    }
    Ok((read, causes))
}

/// Lists what cannot be determined without a log.
pub(super) fn without_log(inputs: &Inputs) -> InputFindings {
    let mut missing = vec!["without a job log, the causes of single slow tasks are unknown".to_owned()];
    if !inputs.samples.is_empty() {
        missing.push("node samples were not read: they are used only with a job log".to_owned());
    }
    InputFindings { missing, ..InputFindings::default() }
}

fn samples(inputs: &Inputs, args: &WhyArgs, terminal: &Terminal) -> Result<Samples, Failure> {
    let options = SampleOptions { utc_offset: args.utc_offset, most_bytes: args.max_samples };
    let progress = Progress::new(terminal.shows_progress(), "bytes");
    // a binary file often lies next to the text that was made from it; without that text it is refused
    let readable: Vec<PathBuf> = inputs.samples.iter().filter(|path| is_readable(path)).cloned().collect();
    let paths = if readable.is_empty() { inputs.samples.clone() } else { readable };
    Ok(read_samples(&paths, &options, &progress)?)
}

/// Returns the given map and clock offsets.
fn node_map(trace: &JobTrace, args: &WhyArgs) -> Result<NodeMap, Failure> {
    let mut map = NodeMap::default();
    if let Some(path) = &args.node_map {
        let bytes = read_bytes(path)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        map = NodeMap::parse(&text).map_err(|error| {
            let source = Source::new(path.display().to_string(), text.as_str());
            let note = Note::problem(error.message).with_help("`tailspn why --help` shows a node map");
            Failure::new(Exit::Model, error.span.map_or(note.clone(), |span| note.at(&source, span)))
        })?;
    }
    args.clock_offset.iter().for_each(|(node, seconds)| map.shift(trace, node.as_deref(), *seconds));
    Ok(map)
}

fn rules(args: &WhyArgs) -> Rules {
    let base = match args.rules {
        RulesChoice::Own => Rules::default(),
        RulesChoice::Paper => Rules::of_the_paper(),
    };
    let (quantile, peer_factor, edge, edge_factor) = (args.quantile, args.peer_factor, args.edge.0, args.edge_factor);
    Rules { quantile, peer_factor, edge, edge_factor, ..base }
}

/// Finds stragglers by task progress.
pub(super) fn by_progress(
    inputs: &Inputs,
    trace: Option<&JobTrace>,
    args: &WhyArgs,
    terminal: &Terminal,
) -> Result<InputFindings, Failure> {
    let model = args.model.as_ref().map(|path| watch_tasks::model_in(path, terminal)).transpose()?;
    let paths = inputs.progress.iter().take_while(|_| !interrupted());
    let files = paths.map(|path| reports(path, args)).collect::<Result<_, Failure>>()?;
    let found = InputFindings::of_progress(files, trace, model.as_ref());
    if trace.is_none() && inputs.calls.is_empty() && !found.compared {
        let note = Note::problem("the progress reports are unusable, and there are no other inputs");
        let notes = [vec![note], found.warnings.iter().map(Note::problem).collect()].concat();
        return Err(Failure::of_notes(Exit::Model, notes));
    }
    Ok(found)
}

/// Reads the reports of a file.
fn reports(path: &Path, args: &WhyArgs) -> Result<ProgressFile, Failure> {
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
    args: &WhyArgs,
    terminal: &Terminal,
) -> Result<InputFindings, Failure> {
    let profile = args.profile.as_ref().map(|path| calls::profile_in(path)).transpose()?;
    match profile {
        None if inputs.calls.is_empty() => Ok(InputFindings::default()),
        None => Ok(InputFindings::missing(format!(
            "strace logs were not read, because there is no profile: {}; make one from fault-free runs by `tailspn tool profile RUN... --save-profile usual.json`, and add --profile usual.json",
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
