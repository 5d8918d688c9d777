//! Reads the logs of a run: finds the files and their nodes, and reads line by line through any compression.

use std::fs::{self, File};
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

use crate::diagnose::syscalls::error::SyscallError;
use crate::diagnose::syscalls::line::{LineContent, take_apart};
use crate::diagnose::syscalls::observed::NodeCalls;
use crate::diagnose::syscalls::settings::ReadSettings;
use crate::diagnose::syscalls::stream::{Invocations, Stream};
use crate::diagnose::syscalls::warning::OddKind;
use crate::trace::compression::{Plain, first_bytes, plain};
use crate::watch::Watch;

/// A log of one node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeLog {
    /// The node.
    pub node: String,
    /// File.
    pub path: PathBuf,
}

impl NodeLog {
    /// Parses a file with the name of its node in front (`n1=logs/a.strace`), or a file whose name starts with the node's name, up to the first dot.
    pub fn parse(text: &str) -> Self {
        if !Path::new(text).exists()
            && let Some((node, path)) = text.split_once('=')
            && !node.is_empty()
            && !node.contains(['/', '\\'])
        {
            return Self { node: node.to_owned(), path: PathBuf::from(path) };
        }
        Self::of_file(Path::new(text))
    }

    fn of_file(path: &Path) -> Self {
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let node = name.split('.').find(|part| !part.is_empty()).unwrap_or(&name).to_owned();
        Self { node, path: path.to_owned() }
    }
}

/// Returns the files of a path: the file itself, or all files in the folder; `true` if the files
/// were named explicitly, so each must be a log.
///
/// # Errors
///
/// [`SyscallError::Io`] if a folder cannot be listed.
pub fn logs_at(text: &str) -> Result<(Vec<NodeLog>, bool), SyscallError> {
    let log = NodeLog::parse(text);
    if !log.path.is_dir() {
        return Ok((vec![log], true));
    }
    let failed = |source| SyscallError::Io { file: log.path.display().to_string(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(&log.path).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.is_file() && !hidden {
            files.push(NodeLog::of_file(&path));
        }
    }
    files.sort();
    Ok((files, false))
}

/// Number of bytes used to detect whether a file is a strace log.
const SNIFFED: u64 = 1 << 14;

/// Returns true if a file appears to be a strace log, plain or compressed. This is so if most of its first lines are
/// calls with a process number, a time or a duration, or if the file has a table of totals.
pub fn is_strace(path: &Path) -> bool {
    path.is_file() && first_bytes(path, SNIFFED).is_ok_and(|head| looks_like_strace(&head))
}

fn looks_like_strace(head: &[u8]) -> bool {
    let (mut calls, mut others) = (0_usize, 0_usize);
    for line in head.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n")).map(trimmed) {
        let taken = take_apart(line);
        match taken.said {
            LineContent::Table => return true,
            LineContent::Whole { .. } | LineContent::Begins { .. } | LineContent::Ends { .. }
                if taken.process > 0 || taken.time.is_some() || line.ends_with(b">") =>
            {
                calls += 1;
            }
            LineContent::Aside | LineContent::Signal | LineContent::Exit => {}
            _ => others += 1,
        }
    }
    calls > others
}

/// Lines between two checks for Ctrl-C.
const LINES_BETWEEN_LOOKS: u64 = 4096;
/// Lines without any strace content after which a file is not treated as a log.
const PATIENCE: u64 = 1000;

/// Reads the log of a node.
///
/// # Errors
///
/// [`SyscallError`] if the file cannot be read or is not a strace log. Warnings that do not stop reading are
/// in [`NodeCalls::odd`].
pub fn read_log(
    log: &NodeLog,
    invocations: Invocations<'_>,
    settings: &ReadSettings,
    watch: &dyn Watch,
) -> Result<NodeCalls, SyscallError> {
    let file = log.path.display().to_string();
    let failed = |source| SyscallError::Io { file: file.clone(), source };
    let size = fs::metadata(&log.path).map_or(0, |found| found.len());
    let source = File::open(&log.path).map_err(failed)?;
    read_from(&log.node, &file, source, size, invocations, settings, watch)
}

/// Reads the log of a node from bytes; `name` is the file's name in messages.
///
/// # Errors
///
/// Same as [`read_log`].
pub fn read_log_bytes(
    node: &str,
    name: &str,
    bytes: &[u8],
    invocations: Invocations<'_>,
    settings: &ReadSettings,
    watch: &dyn Watch,
) -> Result<NodeCalls, SyscallError> {
    read_from(node, name, bytes, bytes.len() as u64, invocations, settings, watch)
}

fn read_from(
    node: &str,
    file: &str,
    source: impl Read,
    size: u64,
    invocations: Invocations<'_>,
    settings: &ReadSettings,
    watch: &dyn Watch,
) -> Result<NodeCalls, SyscallError> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            SyscallError::NotStrace { file: file.to_owned(), what: format!("damaged: {error}") }
        }
        _ => SyscallError::Io { file: file.to_owned(), source: error },
    };
    let mut text = match plain(source).map_err(failed)? {
        Plain::Text(text) => text,
        Plain::Refused(refused) => {
            return Err(SyscallError::NotStrace { file: file.to_owned(), what: refused.what.to_owned() });
        }
    };
    let mut stream = Stream::new(node, file, settings, invocations);
    let (mut line, mut lines, mut bytes) = (Vec::with_capacity(1024), 0_u64, 0_u64);
    loop {
        if lines.is_multiple_of(LINES_BETWEEN_LOOKS) {
            watch.progress(bytes, size);
            if watch.stopped() {
                return Err(SyscallError::Stopped);
            }
        }
        line.clear();
        let read = text.by_ref().take(settings.longest_line as u64 + 1).read_until(b'\n', &mut line);
        match read {
            Ok(0) => break,
            Ok(_) if !line.ends_with(b"\n") && line.len() > settings.longest_line => {
                stream.odd(OddKind::LongLine, &line);
                skip_line(&mut text);
            }
            Ok(_) => stream.line(trimmed(&line), line.ends_with(b"\n")),
            Err(error) => {
                stream.odd(OddKind::CutFile, error.to_string().as_bytes());
                break;
            }
        }
        lines += 1;
        bytes += line.len() as u64;
        if lines > PATIENCE && stream.saw_nothing() {
            break;
        }
    }
    if stream.saw_nothing() {
        return Err(match bytes {
            0 => SyscallError::Empty { file: file.to_owned() },
            _ => {
                SyscallError::NotStrace { file: file.to_owned(), what: "none of its lines is strace output".to_owned() }
            }
        });
    }
    Ok(stream.end())
}

fn trimmed(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Skips to the end of a line that is too long; a read error ends the log at the next read.
fn skip_line(text: &mut impl BufRead) {
    while let Ok(part) = text.fill_buf() {
        if part.is_empty() {
            return;
        }
        let end = part.iter().position(|&byte| byte == b'\n');
        let used = end.map_or(part.len(), |at| at + 1);
        text.consume(used);
        if end.is_some() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_of_strace_are_told_from_other_texts() {
        let calls = b"17 1795167964.3 access(\"/etc/hosts\", R_OK) = 0 <0.000007>\n17 +++ exited with 0 +++\n";
        let table = b"% time     seconds  usecs/call     calls    errors syscall\n------ ----------- -----------\n";
        assert!(looks_like_strace(calls) && looks_like_strace(table));
        let code = b"let x = call(3) = 1;\nfoo(bar) = 1\n2026 sales (all) = 3\n";
        assert!(!looks_like_strace(code) && !looks_like_strace(b"") && !looks_like_strace(b"\xff\n\n"));
    }
}
