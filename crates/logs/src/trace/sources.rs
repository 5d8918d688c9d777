//! The logs that a path holds: one for a file or a rolled log, several for a folder or a zip archive of applications.

use std::collections::BTreeMap;
use std::path::Path;

use crate::trace::archive::{entries, is_archive};
use crate::trace::error::TraceError;
use crate::trace::format::Format;
use crate::trace::input::{Part, files_of, head, paths_of};
use crate::trace::listed_log::ListedLog;
use crate::trace::sniff::{GIVE_A_LOG, HEAD, Sniffed, sniff};
use crate::trace::spark::{PartOddity, parts_by_name, parts_of, start_in};

/// One of several logs, not read yet.
#[derive(Debug)]
pub(super) struct Source {
    /// The file, archive entry or folder, relative to the given path.
    pub(super) file: String,
    pub(super) parts: Vec<Part<'static>>,
    pub(super) oddities: Vec<PartOddity>,
}

impl Source {
    fn of(file: String, part: Part<'static>) -> Self {
        Self { file, parts: vec![part], oddities: Vec::new() }
    }

    /// Returns the application described at the start of the log.
    pub(super) fn listed(&self) -> ListedLog {
        let unknown = ListedLog { file: self.file.clone(), ..ListedLog::default() };
        let Some(first) = self.parts.first() else { return unknown };
        let Ok(text) = head(first, MOST_HEAD) else { return unknown };
        match sniff(&text) {
            Sniffed::Log(Format::SparkEventLog) => {
                let start = start_in(&text).unwrap_or_default();
                let id = Some(start.id).filter(|id| !id.is_empty());
                let name = Some(start.name).filter(|name| !name.is_empty());
                ListedLog { id, name, attempt: start.attempt, start_unix_ms: start.unix_ms, ..unknown }
            }
            Sniffed::Log(Format::HadoopJson | Format::HadoopText) => ListedLog { id: job_id(&text), ..unknown },
            _ => unknown,
        }
    }
}

/// Bytes of text in which to search for the start of an application, which follows the settings.
const MOST_HEAD: u64 = 1 << 22;

/// Returns the id of the only job of a MapReduce history: `job_`, two numbers and `_` between them.
fn job_id(text: &[u8]) -> Option<String> {
    if text.starts_with(b"!!FILE=") {
        return None;
    }
    let text = String::from_utf8_lossy(text);
    text.match_indices("job_").find_map(|(start, word)| {
        let rest = &text[start + word.len()..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(rest.len());
        let (cluster, job) = rest[..end].split_once('_')?;
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        (is_number(cluster) && is_number(job)).then(|| format!("job_{cluster}_{job}"))
    })
}

/// Returns the logs in a path, in order of their names; none in a folder or archive without a log. The subfolders of a folder are
/// searched only if the folder itself contains no log.
pub(super) fn sources(path: &Path) -> Result<Vec<Source>, TraceError> {
    if path.is_dir() {
        let own = in_folder(path)?;
        return if own.is_empty() { in_subfolders(path) } else { Ok(own) };
    }
    if is_archive(path) { in_archive(path) } else { Ok(vec![Source::of(name_of(path), Part::File(path.to_owned()))]) }
}

/// Returns true if a path may hold several logs.
pub(super) fn may_hold_several(path: &Path) -> bool {
    path.is_dir() || is_archive(path)
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn in_folder(folder: &Path) -> Result<Vec<Source>, TraceError> {
    if let Some(source) = rolled(folder)? {
        return Ok(vec![source]);
    }
    let mut found = Vec::new();
    let mut formats = Vec::new();
    for file in files_of(folder)? {
        let part = Part::File(file.clone());
        if is_archive(&file) {
            // an archive that cannot be read is not a log
            let own = in_archive(&file).unwrap_or_default();
            let below = |source: Source| Source { file: format!("{}/{}", name_of(&file), source.file), ..source };
            found.extend(own.into_iter().map(below));
            formats.push(None);
        } else if let Ok(format) = format_of(&part) {
            found.push(Source::of(name_of(&file), part));
            formats.push(Some(format));
        }
    }
    let is_table = |format: &Option<Format>| {
        matches!(format, Some(Format::Google2011 | Format::Alibaba2017 | Format::Alibaba2018))
    };
    if formats.len() > 1 && formats.iter().all(|format| is_table(format) && *format == formats[0]) {
        let parts = found.into_iter().flat_map(|source| source.parts).collect();
        return Ok(vec![Source { file: name_of(folder), parts, oddities: Vec::new() }]);
    }
    for below in paths_of(folder)?.into_iter().filter(|path| path.is_dir()) {
        found.extend(rolled(&below)?);
    }
    found.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(found)
}

/// Returns the logs in the subfolders of a folder, one level deep.
fn in_subfolders(folder: &Path) -> Result<Vec<Source>, TraceError> {
    let mut found = Vec::new();
    for below in paths_of(folder)?.into_iter().filter(|path| path.is_dir()) {
        // an unreadable subfolder contains no log
        let own = in_folder(&below).unwrap_or_default();
        found.extend(
            own.into_iter().map(|source| Source { file: format!("{}/{}", name_of(&below), source.file), ..source }),
        );
    }
    found.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(found)
}

/// Returns the rolled log in a folder; none if the folder is not a rolled log.
fn rolled(folder: &Path) -> Result<Option<Source>, TraceError> {
    Ok(parts_of(folder)?.map(|parts| Source {
        file: name_of(folder),
        parts: parts.files.into_iter().map(Part::File).collect(),
        oddities: parts.warnings,
    }))
}

fn in_archive(path: &Path) -> Result<Vec<Source>, TraceError> {
    let failed = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::InvalidData => TraceError::NotALog {
            file: path.display().to_string(),
            what: "a damaged or incomplete zip archive".to_owned(),
            help: "download or copy it again",
        },
        _ => TraceError::Io { file: path.display().to_string(), source },
    };
    let mut folders: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for entry in entries(path).map_err(failed)? {
        let (folder, file) = entry.name.rsplit_once('/').unwrap_or(("", &entry.name));
        folders.entry(folder.to_owned()).or_default().push((file.to_owned(), entry));
    }
    let mut found = Vec::new();
    for (folder, files) in folders {
        if let Some(parts) = parts_by_name(files.clone()) {
            let file = if folder.is_empty() { name_of(path) } else { folder };
            let own = parts.files.into_iter().map(Part::Entry).collect();
            found.push(Source { file, parts: own, oddities: parts.warnings });
            continue;
        }
        for (_, entry) in files {
            let file = entry.name.clone();
            let part = Part::Entry(entry);
            if format_of(&part).is_ok() {
                found.push(Source::of(file, part));
            }
        }
    }
    Ok(found)
}

/// Detects the format of a part from its start.
pub(super) fn format_of(part: &Part<'_>) -> Result<Format, TraceError> {
    format_of_text(&head(part, HEAD)?, || part.name())
}

/// Detects the format of a text from its start; `file` returns the name used in errors.
pub(super) fn format_of_text(head: &[u8], file: impl FnOnce() -> String) -> Result<Format, TraceError> {
    if head.iter().all(u8::is_ascii_whitespace) {
        return Err(TraceError::Empty { file: file() });
    }
    match sniff(head) {
        Sniffed::Log(format) => Ok(format),
        Sniffed::Other(what, help) => Err(TraceError::NotALog { file: file(), what: what.to_owned(), help }),
        Sniffed::Unknown => {
            Err(TraceError::NotALog { file: file(), what: "an unrecognised log format".to_owned(), help: GIVE_A_LOG })
        }
    }
}
