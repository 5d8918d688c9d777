//! `diagnose`: why tasks were slow, and what to do about it. The kinds of inputs determine which methods run.

use std::path::PathBuf;

use tailspn::diagnose::causes::{
    NodeMap, NodeMeters, PoolOptions, RootCauses, Rules, Unmapped, clock_hint, map_to_complete, meters_of, root_causes,
};
use tailspn::diagnose::samples::{SampleError, SampleOptions, Samples, is_readable, read_samples};
use tailspn::diagnose::{InputFindings, InputKind, UsedInput};
use tailspn::report::{DiagnosisReport, diagnosis_report, diagnosis_svg};
use tailspn::trace::{JobTrace, ReadOptions};

use crate::cli::args::{DiagnoseArgs, RulesChoice};
use crate::cli::diagnose_inputs::Inputs;
use crate::cli::diagnose_more::{by_calls, by_progress};
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note, Source};
use crate::cli::output::{Terminal, reason};
use crate::cli::pictures::{may_write_picture, write_picture};
use crate::cli::trace::load;
use crate::cli::watch::{Progress, catch_interrupt, interrupted};

/// Reads the inputs and explains why tasks were slow.
pub(crate) fn run(args: &DiagnoseArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if let Some(path) = &args.timeline {
        may_write_picture(path, args.force)?;
    }
    catch_interrupt(terminal);
    let inputs = Inputs::sort(&args.path)?;
    let log = inputs.log();
    let options = ReadOptions::from(&args.limits);
    if let Some(path) = inputs.unknown.first() {
        // the log reader has the best message for other kinds of files
        load(path, &options, terminal)?;
        return Err(Failure::plain(Exit::Trace, format!("`{}` cannot be diagnosed", path.display())));
    }
    let trace = log?.map(|log| load(log, &options, terminal)).transpose()?;
    if trace.is_none() && args.timeline.is_some() {
        return Err(Failure::plain(Exit::Usage, "--timeline needs the log of a job"));
    }
    let (mut said, causes) = match &trace {
        Some(trace) => of_log(trace, &inputs, args, terminal)?,
        None => (without_log(&inputs), RootCauses::default()),
    };
    said.add(by_progress(&inputs, trace.as_ref(), args, terminal)?);
    said.add(by_calls(&inputs, trace.as_ref(), args, terminal)?);
    said.warnings.extend(inputs.left_out());
    let report = report(trace.as_ref(), said, causes);
    terminal.report(&report, &args.print)?;
    if let (Some(path), Some(trace)) = (&args.timeline, &trace) {
        write_picture(path, &diagnosis_svg(trace, &report.findings), args.force)?;
    }
    Ok(if interrupted() { Exit::Interrupted } else { Exit::Success })
}

/// Findings from the log and the samples of its nodes.
fn of_log(
    trace: &JobTrace,
    inputs: &Inputs,
    args: &DiagnoseArgs,
    terminal: &Terminal,
) -> Result<(InputFindings, RootCauses), Failure> {
    let samples = samples(inputs, args, terminal)?;
    let map = node_map(trace, args)?;
    let (meters, unmapped) = meters(trace, &samples, &map, args);
    let lacks = trace.nodes.iter().zip(&meters).filter(|(_, meters)| meters.is_empty());
    let nodes: Vec<&str> = lacks.map(|(node, _)| node.name.as_str()).collect();
    if let Some(text) = map_to_complete(&nodes, &samples, &map) {
        terminal.tell(&format!("A node map to complete, for --node-map:\n\n{text}"));
    }
    let causes = root_causes(trace, &meters, &pool_options(args), &rules(args));
    Ok((read_of_log(trace, &samples, &meters, inputs, unmapped), causes))
}

/// Lists what cannot be determined without a log.
fn without_log(inputs: &Inputs) -> InputFindings {
    let mut missing = vec!["without a job log, the causes of single slow tasks are unknown".to_owned()];
    if !inputs.samples.is_empty() {
        missing.push("node samples were not read: they are used only with a job log".to_owned());
    }
    InputFindings { missing, ..InputFindings::default() }
}

fn samples(inputs: &Inputs, args: &DiagnoseArgs, terminal: &Terminal) -> Result<Samples, Failure> {
    let options = SampleOptions { utc_offset: args.utc_offset, most_bytes: args.max_samples };
    let progress = Progress::new(terminal.shows_progress(), "bytes");
    // a binary file often lies next to the text that was made from it; without that text it is refused
    let readable: Vec<PathBuf> = inputs.samples.iter().filter(|path| is_readable(path)).cloned().collect();
    let paths = if readable.is_empty() { inputs.samples.clone() } else { readable };
    read_samples(&paths, &options, &progress).map_err(refused)
}

fn refused(error: SampleError) -> Failure {
    let (exit, message) = match &error {
        SampleError::Io { file, source } => (Exit::Io, format!("cannot read `{file}`: {}", reason(source))),
        _ => (Exit::Trace, error.to_string()),
    };
    let note = Note::problem(message);
    Failure::new(exit, error.help().map_or(note.clone(), |help| note.with_help(help)))
}

/// Returns the samples of each node.
fn meters(trace: &JobTrace, samples: &Samples, map: &NodeMap, args: &DiagnoseArgs) -> (Vec<NodeMeters>, Vec<Unmapped>) {
    if samples.series.is_empty() {
        return (vec![NodeMeters::default(); trace.nodes.len()], Vec::new());
    }
    meters_of(trace, samples, map, args.cpu.0)
}

/// Returns the given map and clock offsets.
fn node_map(trace: &JobTrace, args: &DiagnoseArgs) -> Result<NodeMap, Failure> {
    let mut map = NodeMap::default();
    if let Some(path) = &args.node_map {
        let bytes = crate::cli::load::read_bytes(path)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        map = NodeMap::parse(&text).map_err(|error| {
            let source = Source::new(path.display().to_string(), text.as_str());
            let note = Note::problem(error.message).with_help("`tailspn diagnose --help` shows a node map");
            Failure::new(Exit::Model, error.span.map_or(note.clone(), |span| note.at(&source, span)))
        })?;
    }
    for (node, seconds) in &args.clock_offset {
        let names: Vec<String> = match node {
            Some(name) => vec![name.clone()],
            None => trace.nodes.iter().map(|node| node.name.clone()).collect(),
        };
        for name in names {
            map.node.entry(name).or_default().clock_offset_s += seconds;
        }
    }
    Ok(map)
}

fn pool_options(args: &DiagnoseArgs) -> PoolOptions {
    PoolOptions { edge_width: args.edge_width, ..PoolOptions::default() }
}

fn rules(args: &DiagnoseArgs) -> Rules {
    let base = match args.rules {
        RulesChoice::Own => Rules::default(),
        RulesChoice::Paper => Rules::of_the_paper(),
    };
    let (quantile, peer_factor, edge, edge_factor) = (args.quantile, args.peer_factor, args.edge.0, args.edge_factor);
    Rules { quantile, peer_factor, edge, edge_factor, ..base }
}

/// Builds the report on inputs, missing data and findings: the causes in the log first, then the findings in `said`.
fn report(trace: Option<&JobTrace>, said: InputFindings, mut causes: RootCauses) -> DiagnosisReport {
    let subject = trace.map_or_else(|| without_log_subject(&said), subject);
    causes.findings.extend(said.findings);
    let compared = said.compared;
    let mut report = diagnosis_report(subject, said.used, said.missing, said.warnings, causes);
    report.compared |= compared;
    report.partial = trace.is_some_and(|trace| trace.reading.partial) || interrupted();
    report
}

fn subject(trace: &JobTrace) -> String {
    let name = trace.applications.first().map_or("", |application| application.name.as_str());
    if name.is_empty() { trace.format.text().to_owned() } else { format!("{name}: {}", trace.format.text()) }
}

fn without_log_subject(said: &InputFindings) -> String {
    let has = |kind: InputKind| said.used.iter().any(|used| used.kind == kind);
    let text = match (has(InputKind::Progress), has(InputKind::Syscalls)) {
        (true, true) => "task progress, and system calls of nodes",
        (true, false) => "task progress",
        (false, true) => "system calls of nodes",
        (false, false) => "no usable input",
    };
    text.to_owned()
}

/// Lists the parts of the log and the samples that were read, and the missing parts.
fn read_of_log(
    trace: &JobTrace,
    samples: &Samples,
    meters: &[NodeMeters],
    inputs: &Inputs,
    unmapped: Vec<Unmapped>,
) -> InputFindings {
    let taken = format!("{} attempts of tasks on {} nodes", trace.attempts().len(), trace.nodes.len());
    let mut used = vec![UsedInput { kind: InputKind::Log, name: trace.files.join(", "), taken }];
    used.extend(samples.files.iter().filter(|file| file.series > 0).map(|file| UsedInput {
        kind: InputKind::Samples,
        name: file.name.clone(),
        taken: format!("{} series, {} rows of {}", file.series, file.rows, file.format.text()),
    }));
    let mut missing: Vec<String> = Vec::new();
    if inputs.samples.is_empty() {
        missing
            .push("no node samples: CPU, disk and network load are unknown (see `tailspn diagnose --help`)".to_owned());
    }
    missing.extend(unmapped.into_iter().map(|node| match node.node.as_str() {
        "" => node.reason,
        name => format!("node {name}: {}", node.reason),
    }));
    let mut warnings: Vec<String> =
        trace.warnings.iter().map(|warning| format!("{}: {warning}", trace.place(warning.first))).collect();
    warnings.extend(samples.warnings.iter().map(ToString::to_string));
    warnings.extend(clocks(trace, meters));
    InputFindings { used, missing, warnings, ..InputFindings::default() }
}

/// Warnings about clocks that disagree, and about samples that miss the job.
fn clocks(trace: &JobTrace, meters: &[NodeMeters]) -> Vec<String> {
    let mut warnings = Vec::new();
    for (index, (node, meters)) in trace.nodes.iter().zip(meters).enumerate() {
        let of_node = trace.attempts().iter().filter(|attempt| attempt.node.is_some_and(|node| node.index() == index));
        let tasks: Vec<(f64, f64)> =
            of_node.filter_map(|attempt| Some((attempt.launch()?.seconds(), attempt.finish()?.seconds()))).collect();
        let Some((from, to)) = meters.span() else { continue };
        let first = tasks.iter().map(|task| task.0).fold(f64::INFINITY, f64::min);
        let last = tasks.iter().map(|task| task.1).fold(f64::NEG_INFINITY, f64::max);
        if tasks.is_empty() {
            continue;
        }
        if to < first || from > last {
            let (when, off) =
                if to < first { ("before its first task", first - to) } else { ("after its last task", from - last) };
            warnings.push(format!(
                "node {}: all samples are {when}, by {off:.0} s; --utc-offset or --clock-offset may be missing",
                node.name
            ));
            continue;
        }
        if from > first + 1.0 || to < last - 1.0 {
            warnings.push(format!(
                "node {}: the samples cover {:.0} s to {:.0} s of the log, but the tasks ran from {first:.0} s to {last:.0} s",
                node.name, from, to
            ));
        }
        if let Some(hint) = clock_hint(&tasks, meters) {
            warnings.push(format!(
                "node {}: the samples fit the tasks better if shifted by {:+.0} s (correlation {:.2} instead of {:.2}); \
                 add --clock-offset {}={:+.0}",
                node.name, hint.offset, hint.correlation, hint.now, node.name, hint.offset
            ));
        }
    }
    warnings
}
