//! System calls: `tool profile` learns those of control runs, and `why` finds the faulty node of a run.

use std::path::Path;

use tailspn::diagnose::syscalls::{
    Buckets, DataFolders, DiagnosisSettings, ImprovedSettings, Method, Profile, Purpose, ReadSettings, Run,
    StatisticalSettings, diagnose, read_run,
};
use tailspn::report::{Answer, document_text, syscall_profile_document, syscalls_report, syscalls_svg};
use tailspn_common::bounded;

use crate::cli::args::{SyscallMethod, SyscallProfileArgs, SyscallReadArgs, WhyArgs};
use crate::cli::exit::Exit;
use crate::cli::files::{may_write, write_file};
use crate::cli::frame::Asked;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::watch::{Progress, catch_interrupt};
use tailspn::explain::reason;

/// Minimum number of control runs for reliable ranges.
const FEW_RUNS: usize = 3;

/// Learns a profile.
pub(crate) fn learn(args: &SyscallProfileArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    catch_interrupt(terminal);
    may_write(&args.save_profile, args.force)?;
    if args.bucket_factor < 1.1 {
        return Err(Failure::plain(Exit::Usage, "--bucket-factor must be at least 1.1"));
    }
    let matching = args.matching.0;
    let buckets = Buckets { first_s: args.first_bucket, factor: args.bucket_factor };
    let data = DataFolders { folders: args.data.clone() };
    let base = ReadSettings { buckets, data: data.clone(), matching, ..ReadSettings::default() };
    let settings = with_reading(base, &args.reading);
    let mut runs = Vec::new();
    for path in &args.runs {
        let run = load(std::slice::from_ref(path), Purpose::Learn, &settings, terminal)?;
        tell_warnings(&run, terminal);
        runs.push(run);
    }
    let profile = Profile::of(&runs, buckets, data, matching);
    if profile.runs.len() < FEW_RUNS {
        terminal.tell(
            "warning: fewer than three control runs give too narrow ranges; normal calls may be reported as unusual",
        );
    }
    let text = profile.to_json().map_err(Failure::internal)?;
    write_file(&args.save_profile, text.as_bytes(), args.force)?;
    terminal.data(&document_text(&syscall_profile_document(&profile), &terminal.look(false)))?;
    Ok(Exit::Success)
}

/// Finds the faulty node of a run from its strace logs alone.
pub(crate) fn faulty_node<'a>(args: &'a WhyArgs, profile: &Path, terminal: &Terminal) -> Result<Asked<'a>, Failure> {
    if args.margin < 1.0 {
        return Err(Failure::plain(Exit::Usage, "--margin must be at least 1"));
    }
    let profile = profile_in(profile)?;
    let settings = ReadSettings { sides: args.sides.0, clock: args.clock.0, ..profile.read_settings() };
    let logs: Vec<String> = args.paths.iter().map(|path| path.display().to_string()).collect();
    let run = load(&logs, Purpose::Judge(&profile), &settings, terminal)?;
    let answers = diagnose(&run, &profile, &methods(&args.method), &settings_of(args));
    let report = syscalls_report(&run, &profile, answers);
    let picture = args.timeline.as_ref().map(|_| syscalls_svg(&report));
    Ok(Asked::from(Answer::new(report)).drawing(picture))
}

fn methods(chosen: &[SyscallMethod]) -> Vec<Method> {
    let mut methods: Vec<Method> = chosen.iter().map(|choice| choice.0).collect();
    if methods.is_empty() {
        methods.extend(Method::ALL);
    }
    methods.sort_unstable();
    methods.dedup();
    methods
}

fn settings_of(args: &WhyArgs) -> DiagnosisSettings {
    let (difference, hog_share, isolation_share) = (args.difference.0, args.hog_share, args.isolation_share);
    DiagnosisSettings {
        statistical: StatisticalSettings { difference, hog_share, isolation_share, ..StatisticalSettings::default() },
        improved: ImprovedSettings { margin: args.margin, ..ImprovedSettings::default() },
        ..DiagnosisSettings::default()
    }
}

fn with_reading(settings: ReadSettings, args: &SyscallReadArgs) -> ReadSettings {
    let small = |number: u64| usize::try_from(number).unwrap_or(usize::MAX - 1);
    let (longest_line, most_invocations) = (small(args.max_line), small(args.max_invocations));
    ReadSettings { clock: args.clock.0, longest_line, most_invocations, ..settings }
}

pub(super) fn profile_in(path: &Path) -> Result<Profile, Failure> {
    let name = path.display().to_string();
    let text = bounded::read_text(path)
        .map_err(|error| Failure::plain(Exit::Io, format!("cannot read `{name}`: {}", reason(&error))))?;
    Ok(Profile::parse(&text, &name)?)
}

/// Reads a run.
fn load(paths: &[String], purpose: Purpose<'_>, settings: &ReadSettings, terminal: &Terminal) -> Result<Run, Failure> {
    let progress = Progress::new(terminal.shows_progress(), "bytes");
    Ok(read_run(paths, purpose, settings, &progress)?)
}

/// Prints warnings about a run.
fn tell_warnings(run: &Run, terminal: &Terminal) {
    for note in &run.notes {
        terminal.tell(&format!("warning: {note}"));
    }
    for node in &run.nodes {
        for odd in &node.odd {
            terminal.tell(&format!("warning: {}:{}: {odd}", node.file, odd.line));
        }
    }
}
