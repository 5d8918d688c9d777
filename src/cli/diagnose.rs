//! `diagnose`: why tasks were slow, and what to do about it. What is read decides which methods run.

use std::io;
use std::path::{Path, PathBuf};

use tailspn::diagnose::causes::{
    CpuShare, Edge, NodeMap, NodeMeters, PoolOptions, RootCauses, Rules, Unmapped, clock_hint, meters_of, root_causes,
};
use tailspn::diagnose::samples::{SampleError, SampleOptions, Samples, is_readable, is_samples, read_samples};
use tailspn::report::{
    DiagnosisReport, MostRows, UsedRow, diagnosis_csv, diagnosis_report, diagnosis_svg, diagnosis_text, json,
};
use tailspn::trace::{JobTrace, ReadOptions, is_log};

use crate::cli::args::{CpuChoice, DiagnoseArgs, EdgeChoice, RulesChoice};
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note, Source};
use crate::cli::output::{Terminal, may_write, reason, write_file};
use crate::cli::trace::load;
use crate::cli::watch::{Progress, catch_interrupt, interrupted};

/// What was given, by what it is. A new kind of input gets a field here, a line in [`Inputs::sort`], and a method in [`run`].
#[derive(Debug, Default)]
struct Inputs {
    /// Logs of jobs: files, or folders that are one log.
    logs: Vec<PathBuf>,
    /// Samples of nodes.
    samples: Vec<PathBuf>,
    /// Files in folders that are something else.
    others: Vec<PathBuf>,
}

impl Inputs {
    /// Tells what each path is, folders by what is in them. A file that is nothing known is taken for a log, whose reader says what
    /// is wrong with it.
    fn sort(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut inputs = Self::default();
        for path in paths {
            if path.is_dir() {
                inputs.folder(path)?;
            } else if is_samples(path) {
                inputs.samples.push(path.clone());
            } else {
                inputs.logs.push(path.clone());
            }
        }
        Ok(inputs)
    }

    fn folder(&mut self, folder: &Path) -> Result<(), Failure> {
        if is_log(folder) {
            self.logs.push(folder.to_owned());
            return Ok(());
        }
        let failed = |error: io::Error| {
            Failure::plain(Exit::Io, format!("cannot read `{}`: {}", folder.display(), reason(&error)))
        };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            files.push(entry.map_err(failed)?.path());
        }
        files.sort();
        let (logs, rest): (Vec<PathBuf>, Vec<PathBuf>) = files.into_iter().partition(|file| is_log(file));
        // the tables of a cluster trace are one log; of other logs the reader says that they are several
        self.logs.extend(if logs.len() > 1 { vec![folder.to_owned()] } else { logs });
        let (samples, others): (Vec<PathBuf>, Vec<PathBuf>) = rest.into_iter().partition(|file| is_samples(file));
        self.samples.extend(samples);
        self.others.extend(others.into_iter().filter(|file| file.is_file()));
        Ok(())
    }

    /// The log: there must be one.
    fn log(&self) -> Result<&Path, Failure> {
        match self.logs.as_slice() {
            [log] => Ok(log),
            [] => {
                let note = Note::problem("there is no log of a job among what was given");
                Err(Failure::new(Exit::Trace, note.with_help("give the log as well: samples tell nothing about tasks")))
            }
            logs => {
                let names: Vec<String> = logs.iter().map(|log| log.display().to_string()).collect();
                let note = Note::problem(format!("there are {} logs: {}", logs.len(), names.join(", ")));
                Err(Failure::new(Exit::Usage, note.with_help("give one log at a time, with the samples of its nodes")))
            }
        }
    }
}

/// Reads what is there and says why tasks were slow.
pub(crate) fn run(args: &DiagnoseArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if let Some(path) = &args.timeline {
        may_write(path, args.force)?;
    }
    catch_interrupt(terminal);
    let inputs = Inputs::sort(&args.path)?;
    let options = ReadOptions { most_attempts: args.max_attempts, ..ReadOptions::default() };
    let trace = load(inputs.log()?, &options, terminal)?;
    let samples = samples(&inputs, args, terminal)?;
    let (meters, missing) = meters(&trace, &samples, args)?;
    let causes = root_causes(&trace, &meters, &pool_options(args), &rules(args));
    let report = report(&trace, &samples, &meters, &inputs, missing, causes);
    for warning in &report.warnings {
        terminal.tell(&format!("warning: {warning}"));
    }
    print(&report, args, terminal)?;
    if let Some(path) = &args.timeline {
        write_file(path, diagnosis_svg(&trace, &report.findings).as_bytes(), args.force)?;
    }
    Ok(if interrupted() { Exit::Interrupted } else { Exit::Success })
}

fn samples(inputs: &Inputs, args: &DiagnoseArgs, terminal: &Terminal) -> Result<Samples, Failure> {
    let options = SampleOptions { utc_offset: args.utc_offset, most_bytes: args.max_samples };
    let progress = Progress::new(terminal.shows_progress(), "bytes");
    // in a folder a binary file stands beside what was made of it; given by name it is refused
    let named = |path: &PathBuf| args.path.contains(path);
    let (given, found): (Vec<PathBuf>, Vec<PathBuf>) = inputs.samples.iter().cloned().partition(named);
    let readable = |path: &PathBuf| is_readable(path);
    let paths: Vec<PathBuf> = given.into_iter().chain(found.into_iter().filter(readable)).collect();
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

/// The samples of each node, by the map and the clock offsets that were given.
fn meters(
    trace: &JobTrace,
    samples: &Samples,
    args: &DiagnoseArgs,
) -> Result<(Vec<NodeMeters>, Vec<Unmapped>), Failure> {
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
    let share = match args.cpu {
        CpuChoice::Busy => CpuShare::Busy,
        CpuChoice::User => CpuShare::User,
    };
    if samples.series.is_empty() {
        return Ok((vec![NodeMeters::default(); trace.nodes.len()], Vec::new()));
    }
    Ok(meters_of(trace, samples, &map, share))
}

fn pool_options(args: &DiagnoseArgs) -> PoolOptions {
    PoolOptions { edge_width: args.edge_width, ..PoolOptions::default() }
}

fn rules(args: &DiagnoseArgs) -> Rules {
    let base = match args.rules {
        RulesChoice::Own => Rules::default(),
        RulesChoice::Paper => Rules::of_the_paper(),
    };
    let edge = match args.edge {
        EdgeChoice::Any => Edge::IntentAny,
        EdgeChoice::Both => Edge::IntentBoth,
        EdgeChoice::Printed => Edge::Printed,
        EdgeChoice::Off => Edge::Off,
    };
    Rules { quantile: args.quantile, peer_factor: args.peer_factor, edge, edge_factor: args.edge_factor, ..base }
}

/// Puts together what was used, what was missing and what was found.
fn report(
    trace: &JobTrace,
    samples: &Samples,
    meters: &[NodeMeters],
    inputs: &Inputs,
    unmapped: Vec<Unmapped>,
    causes: RootCauses,
) -> DiagnosisReport {
    let name = trace.applications.first().map_or("", |application| application.name.as_str());
    let subject =
        if name.is_empty() { trace.format.text().to_owned() } else { format!("{name}: {}", trace.format.text()) };
    let taken = format!("{} attempts of tasks on {} nodes", trace.attempts().len(), trace.nodes.len());
    let mut used = vec![UsedRow { kind: "log".into(), name: trace.files.join(", "), taken }];
    used.extend(samples.files.iter().filter(|file| file.series > 0).map(|file| UsedRow {
        kind: "samples".into(),
        name: file.name.clone(),
        taken: format!("{} series, {} rows of {}", file.series, file.rows, file.format.text()),
    }));
    let mut missing: Vec<String> = Vec::new();
    if inputs.samples.is_empty() {
        missing.push(
            "no samples of nodes: processors, disks and networks are unknown (see `tailspn diagnose --help`)"
                .to_owned(),
        );
    }
    missing.extend(unmapped.into_iter().map(|node| match node.node.as_str() {
        "" => node.reason,
        name => format!("node {name}: {}", node.reason),
    }));
    let mut warnings: Vec<String> =
        trace.warnings.iter().map(|warning| format!("{}: {warning}", trace.place(warning.first))).collect();
    warnings.extend(samples.warnings.iter().map(ToString::to_string));
    warnings.extend(clocks(trace, meters));
    let mut report = diagnosis_report(subject, used, missing, warnings, causes);
    report.partial = trace.reading.partial || interrupted();
    report
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
                "node {}: its samples are all {when}, by {off:.0} s: is --utc-offset or --clock-offset missing?",
                node.name
            ));
            continue;
        }
        if from > first + 1.0 || to < last - 1.0 {
            warnings.push(format!(
                "node {}: its samples cover {:.0} s to {:.0} s of the log, its tasks ran from {first:.0} s to {last:.0} s",
                node.name, from, to
            ));
        }
        if let Some(hint) = clock_hint(&tasks, meters) {
            warnings.push(format!(
                "node {}: its samples fit its tasks better when shifted by {:+.0} s (correlation {:.2}, now {:.2}): \
                 --clock-offset {}={:+.0} does so",
                node.name, hint.offset, hint.correlation, hint.now, node.name, hint.offset
            ));
        }
    }
    warnings
}

fn print(report: &DiagnosisReport, args: &DiagnoseArgs, terminal: &Terminal) -> Result<(), Failure> {
    if args.csv {
        let mut bytes = Vec::new();
        diagnosis_csv(&report.findings, &mut bytes).map_err(|error| Failure::plain(Exit::Io, error.to_string()))?;
        return terminal.data(&String::from_utf8_lossy(&bytes));
    }
    if args.json {
        let text = json("diagnosis", report).map_err(|error| Failure::plain(Exit::Internal, error.to_string()))?;
        return terminal.data(&text);
    }
    let most = if args.all { MostRows(usize::MAX) } else { MostRows::default() };
    terminal.data(&diagnosis_text(report, most, &terminal.look()))
}
