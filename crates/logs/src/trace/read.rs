//! Reads a log, whatever it is: finds its files, tells its format, and calls the reader.

use std::path::{Path, PathBuf};

use crate::trace::builder::Builder;
use crate::trace::error::TraceError;
use crate::trace::format::Format;
use crate::trace::input::{Lines, Part, files_of, head};
use crate::trace::job_trace::{Clock, JobTrace};
use crate::trace::read_options::ReadOptions;
use crate::trace::sniff::{GIVE_A_LOG, HEAD, Sniffed, sniff};
use crate::trace::{alibaba, google, hadoop, spark};
use crate::watch::Watch;

/// Reads the log in a file or a folder: the folder of a rolled Spark event log, one with the pieces of a Databricks log, or
/// one with the batch tables of Alibaba.
///
/// # Errors
///
/// [`TraceError`] where the log cannot be read at all. What is odd but does not stop the reading is in
/// [`JobTrace::warnings`].
pub fn read(path: &Path, options: &ReadOptions, watch: &dyn Watch) -> Result<JobTrace, TraceError> {
    if path.is_dir() {
        let folder = spark::parts_of(path)?;
        if let Some(parts) = folder {
            return read_parts(parts.files.into_iter().map(Part::File).collect(), parts.warnings, options, watch);
        }
        return read_parts(logs_in(path)?, Vec::new(), options, watch);
    }
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        // a pipe can be read only once
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|source| TraceError::Io { file: name.clone(), source })?;
        return read_bytes(&name, &bytes, options, watch);
    }
    read_parts(vec![Part::File(path.to_owned())], Vec::new(), options, watch)
}

/// Whether a file begins like a log that can be read, or a folder is one of Spark's.
pub fn is_log(path: &Path) -> bool {
    if path.is_dir() {
        return spark::parts_of(path).is_ok_and(|parts| parts.is_some());
    }
    path.is_file() && format_of(&Part::File(path.to_owned())).is_ok()
}

/// The format of a log by its beginning, compressed or not; none for a file that is no log. A folder has the format of Spark's.
pub fn log_format(path: &Path) -> Option<Format> {
    if path.is_dir() {
        return is_log(path).then_some(Format::SparkEventLog);
    }
    path.is_file().then(|| format_of(&Part::File(path.to_owned())).ok())?
}

/// Reads a log from bytes; `name` stands for the file in warnings and errors.
///
/// # Errors
///
/// As [`read`].
pub fn read_bytes(name: &str, bytes: &[u8], options: &ReadOptions, watch: &dyn Watch) -> Result<JobTrace, TraceError> {
    read_parts(vec![Part::Bytes(name, bytes)], Vec::new(), options, watch)
}

fn format_of(part: &Part<'_>) -> Result<Format, TraceError> {
    let head = head(part, HEAD)?;
    if head.iter().all(u8::is_ascii_whitespace) {
        return Err(TraceError::Empty { file: part.name() });
    }
    match sniff(&head) {
        Sniffed::Log(format) => Ok(format),
        Sniffed::Other(what, help) => Err(TraceError::NotALog { file: part.name(), what: what.to_owned(), help }),
        Sniffed::Unknown => {
            Err(TraceError::NotALog { file: part.name(), what: "no log that is known".to_owned(), help: GIVE_A_LOG })
        }
    }
}

/// The parts of a folder that is not one of Spark's: its only log, or all tables of one cluster trace.
fn logs_in(folder: &Path) -> Result<Vec<Part<'static>>, TraceError> {
    let refuse = |message: String| TraceError::Folder { folder: folder.display().to_string(), message };
    let mut found: Vec<(Format, PathBuf)> = Vec::new();
    for file in files_of(folder)? {
        if let Ok(format) = format_of(&Part::File(file.clone())) {
            found.push((format, file));
        }
    }
    let Some((first, _)) = found.first() else { return Err(refuse("there is no log in it".to_owned())) };
    let is_table = matches!(first, Format::Google2011 | Format::Alibaba2017 | Format::Alibaba2018);
    if found.len() > 1 && !(is_table && found.iter().all(|(format, _)| format == first)) {
        let names: Vec<_> = found.iter().filter_map(|(_, file)| Some(file.file_name()?.to_string_lossy())).collect();
        return Err(refuse(format!("there are {} logs in it: {}", found.len(), names.join(", "))));
    }
    Ok(found.into_iter().map(|(_, file)| Part::File(file)).collect())
}

fn read_parts(
    parts: Vec<Part<'_>>,
    oddities: Vec<spark::PartOddity>,
    options: &ReadOptions,
    watch: &dyn Watch,
) -> Result<JobTrace, TraceError> {
    let Some(first) = parts.first() else { return Err(TraceError::Empty { file: String::new() }) };
    let format = format_of(first)?;
    let clock = match format {
        Format::Google2011 | Format::Alibaba2017 | Format::Alibaba2018 => Clock::Trace,
        _ => Clock::Unix,
    };
    let file = first.name();
    let mut builder = Builder::new(options, clock, parts.iter().map(Part::name).collect());
    for oddity in oddities {
        builder.warn(oddity.kind, || oddity.example);
    }
    let mut lines = Lines::new(parts, options, watch);
    let bad_line = match format {
        Format::SparkEventLog => spark::read(&mut lines, &mut builder)?,
        Format::HadoopJson => hadoop::read_json(&mut lines, &mut builder)?,
        Format::HadoopText => hadoop::read_text(&mut lines, &mut builder)?,
        Format::Rumen => hadoop::read_rumen(lines, &mut builder)?,
        Format::Google2011 => google::read(&mut lines, &mut builder)?,
        Format::Alibaba2017 => alibaba::read(&mut lines, &mut builder, alibaba::Year::Y2017)?,
        Format::Alibaba2018 => alibaba::read(&mut lines, &mut builder, alibaba::Year::Y2018)?,
    };
    if builder.reading.events == 0 && !builder.reading.partial {
        return Err(TraceError::NoEvents { file, format, bad_line });
    }
    Ok(builder.finish(format))
}
