//! Reads a log of any kind: finds its files, detects its format, and calls the reader.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::trace::builder::Builder;
use crate::trace::error::TraceError;
use crate::trace::format::Format;
use crate::trace::input::{Lines, Part, open_stream};
use crate::trace::job_trace::{Clock, JobTrace};
use crate::trace::listed_log::{ListedLog, Meant};
use crate::trace::pick::{only, pick};
use crate::trace::read_options::ReadOptions;
use crate::trace::sniff::HEAD;
use crate::trace::sources::{Source, format_of, format_of_text, may_hold_several, sources};
use crate::trace::{alibaba, google, hadoop, phases, spark};
use crate::watch::Watch;

/// Reads the log in a file, a folder or a zip archive.
///
/// A folder may be a rolled Spark event log. It may also contain the pieces of a Databricks log, the batch tables of
/// Alibaba, or one log, which may be rolled. With [`ReadOptions::application`], a folder may contain several logs, as
/// the folder of Spark's History Server does. If a folder contains no log, its subfolders are searched, one level deep. A
/// zip archive counts as a folder.
///
/// # Errors
///
/// [`TraceError`] if the log cannot be read. Problems that do not stop reading are in [`JobTrace::warnings`].
pub fn read(path: &Path, options: &ReadOptions, watch: &dyn Watch) -> Result<JobTrace, TraceError> {
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        // a pipe can be read only once
        let name = path.display().to_string();
        let pipe = File::open(path).map_err(|source| TraceError::Io { file: name.clone(), source })?;
        return read_stream(&name, pipe, options, watch);
    }
    let all = sources(path)?;
    let is_picked = all.len() > 1;
    let source = pick(path, all, options.application.as_deref())?;
    // a request may match only the name of the file and its first event
    let Some(wanted) = &options.application else { return read_source(source, options, watch) };
    let is_meant = matches!(source.listed().is_meant(wanted), Meant::File | Meant::Attempt);
    let trace = read_source(source, options, watch)?;
    let is_all = is_meant || is_picked && trace.applications.len() == 1;
    if is_all { Ok(trace) } else { only(trace, &path.display().to_string(), wanted) }
}

/// Returns the logs in a folder or a zip archive, in the order of their file names. A file is returned as the only log.
///
/// # Errors
///
/// The errors of [`read`], if the folder or archive cannot be read.
pub fn logs_in(path: &Path) -> Result<Vec<ListedLog>, TraceError> {
    Ok(sources(path)?.iter().map(Source::listed).collect())
}

/// Returns the log in a folder or a zip archive that matches a request; without a request, the only log.
///
/// # Errors
///
/// [`TraceError::SeveralLogs`] and [`TraceError::NoSuchLog`] if not exactly one log matches, and the errors of [`logs_in`].
pub fn log_in(path: &Path, application: Option<&str>) -> Result<ListedLog, TraceError> {
    Ok(pick(path, sources(path)?, application)?.listed())
}

/// Returns true if a file starts like a supported log, a zip archive contains one, or a folder is a Spark log.
pub fn is_log(path: &Path) -> bool {
    if path.is_dir() {
        return spark::parts_of(path).is_ok_and(|parts| parts.is_some());
    }
    path.is_file() && log_format(path).is_some()
}

/// Returns the format of a log, detected from its start, whether it is compressed or not. For a folder or a zip
/// archive, this is the format of its first log. None for a file that is not a log.
pub fn log_format(path: &Path) -> Option<Format> {
    if path.is_dir() && is_log(path) {
        return Some(Format::SparkEventLog);
    }
    if may_hold_several(path) {
        return format_of(sources(path).ok()?.first()?.parts.first()?).ok();
    }
    path.is_file().then(|| format_of(&Part::File(path.to_owned())).ok())?
}

/// Reads a log from bytes; `name` replaces the file name in warnings and errors.
///
/// # Errors
///
/// The errors of [`read`].
pub fn read_bytes(name: &str, bytes: &[u8], options: &ReadOptions, watch: &dyn Watch) -> Result<JobTrace, TraceError> {
    let part = Part::Bytes(name, bytes);
    let format = format_of(&part)?;
    let trace = read_parts(vec![part], format, Vec::new(), options, watch)?;
    wanted_of(trace, name, options)
}

/// Reads a log from a stream, such as standard input, without storing its text; `name` replaces the file name
/// in warnings and errors.
///
/// # Errors
///
/// The errors of [`read`]; a zip archive is refused, since its directory is at its end.
pub fn read_stream(
    name: &str,
    source: impl Read,
    options: &ReadOptions,
    watch: &dyn Watch,
) -> Result<JobTrace, TraceError> {
    let open = open_stream(name, source, HEAD)?;
    let format = format_of_text(&open.head, || name.to_owned())?;
    let builder = Builder::new(options, clock_of(format), vec![name.to_owned()]);
    let trace = read_lines(Lines::of_stream(open, options, watch), builder, format, name.to_owned())?;
    wanted_of(trace, name, options)
}

/// Returns the trace of the requested application; without a request, the whole trace.
fn wanted_of(trace: JobTrace, name: &str, options: &ReadOptions) -> Result<JobTrace, TraceError> {
    match &options.application {
        Some(wanted) => only(trace, name, wanted),
        None => Ok(trace),
    }
}

fn read_source(source: Source, options: &ReadOptions, watch: &dyn Watch) -> Result<JobTrace, TraceError> {
    let Some(first) = source.parts.first() else { return Err(TraceError::Empty { file: source.file }) };
    let format = format_of(first)?;
    read_parts(source.parts, format, source.oddities, options, watch)
}

fn clock_of(format: Format) -> Clock {
    match format {
        Format::PhaseLog | Format::Google2011 | Format::Alibaba2017 | Format::Alibaba2018 => Clock::Trace,
        _ => Clock::Unix,
    }
}

fn read_parts(
    parts: Vec<Part<'_>>,
    format: Format,
    oddities: Vec<spark::PartOddity>,
    options: &ReadOptions,
    watch: &dyn Watch,
) -> Result<JobTrace, TraceError> {
    let file = parts.first().map_or_else(String::new, Part::name);
    let mut builder = Builder::new(options, clock_of(format), parts.iter().map(Part::name).collect());
    for oddity in oddities {
        builder.warn(oddity.kind, || oddity.example);
    }
    read_lines(Lines::new(parts, options, watch), builder, format, file)
}

/// Calls the reader of a format; `file` names the log in errors.
fn read_lines(
    mut lines: Lines<'_>,
    mut builder: Builder,
    format: Format,
    file: String,
) -> Result<JobTrace, TraceError> {
    let bad_line = match format {
        Format::SparkEventLog => spark::read(&mut lines, &mut builder)?,
        Format::HadoopJson => hadoop::read_json(&mut lines, &mut builder)?,
        Format::HadoopText => hadoop::read_text(&mut lines, &mut builder)?,
        Format::Rumen => hadoop::read_rumen(lines, &mut builder)?,
        Format::PhaseLog => phases::read(&mut lines, &mut builder)?,
        Format::Google2011 => google::read(&mut lines, &mut builder)?,
        Format::Alibaba2017 => alibaba::read(&mut lines, &mut builder, alibaba::Year::Y2017)?,
        Format::Alibaba2018 => alibaba::read(&mut lines, &mut builder, alibaba::Year::Y2018)?,
    };
    if builder.reading.events == 0 && !builder.reading.partial {
        return Err(TraceError::NoEvents { file, format, bad_line });
    }
    Ok(builder.finish(format))
}
