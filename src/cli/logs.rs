//! Reads the logs of jobs: files, folders, archives and streams, each with its warnings.

use std::io;
use std::path::{Path, PathBuf};

use tailspn::trace::{JobTrace, ReadOptions, WarningKind, logs_in, read, read_stream};

use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::stdin::is_standard;
use crate::cli::watch::Progress;

/// Prints warnings about a log.
pub(crate) fn tell_warnings(trace: &JobTrace, terminal: &Terminal) {
    tell_warnings_except(trace, |_| false, terminal);
}

/// Prints warnings about a log, except the expected ones.
pub(crate) fn tell_warnings_except(trace: &JobTrace, is_expected: fn(WarningKind) -> bool, terminal: &Terminal) {
    for warning in trace.warnings.iter().filter(|warning| !is_expected(warning.kind)) {
        terminal.tell(&format!("warning: {}: {warning}", trace.place(warning.first)));
    }
}

/// Reads a log, with progress and until Ctrl-C.
pub(crate) fn load(path: &Path, options: &ReadOptions, terminal: &Terminal) -> Result<JobTrace, Failure> {
    if is_standard(path) {
        return load_stream("standard input", io::stdin().lock(), options, terminal);
    }
    let progress = Progress::new(terminal.shows_progress(), "bytes");
    Ok(read(path, options, &progress)?)
}

/// Reads a log that can be read only once.
pub(crate) fn load_stream(
    name: &str,
    stream: impl io::Read,
    options: &ReadOptions,
    terminal: &Terminal,
) -> Result<JobTrace, Failure> {
    let progress = Progress::new(terminal.shows_progress(), "bytes");
    Ok(read_stream(name, stream, options, &progress)?)
}

/// Reads a log and prints its warnings.
pub(crate) fn load_with_warnings(path: &Path, options: &ReadOptions, terminal: &Terminal) -> Result<JobTrace, Failure> {
    let trace = load(path, options, terminal)?;
    tell_warnings(&trace, terminal);
    Ok(trace)
}

/// One of the logs that a command reads.
#[derive(Clone, Debug)]
pub(crate) struct LogChoice {
    /// The given file, folder or archive.
    pub(crate) path: PathBuf,
    /// The reading options; for a folder or archive, they include the application.
    pub(crate) options: ReadOptions,
}

impl LogChoice {
    /// Returns the path, followed by the file in the folder or archive.
    pub(crate) fn name(&self) -> String {
        let inside = self.options.application.as_deref().map_or_else(String::new, |file| format!("/{file}"));
        format!("{}{inside}", self.path.display())
    }

    /// Reads the log and prints its warnings.
    pub(crate) fn load(&self, terminal: &Terminal) -> Result<JobTrace, Failure> {
        load_with_warnings(&self.path, &self.options, terminal)
    }
}

/// Returns the shortest name of each log of a folder that `--app` takes: its subfolder, if no other log is in it.
pub(crate) fn short_names<'f>(files: &[&'f str]) -> Vec<&'f str> {
    let folder = |file: &'f str| file.split_once('/').map(|(folder, _)| folder);
    let is_alone = |name: &str| files.iter().filter(|file| folder(file) == Some(name)).count() == 1;
    files.iter().map(|file| folder(file).filter(|name| is_alone(name)).unwrap_or(file)).collect()
}

/// Returns the logs of the paths: all logs of a folder or archive, unless an application is requested.
pub(crate) fn all_logs(paths: &[&PathBuf], options: &ReadOptions) -> Result<Vec<LogChoice>, Failure> {
    let mut all = Vec::new();
    for path in paths {
        let choice = LogChoice { path: (*path).clone(), options: options.clone() };
        let is_stream = std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
        if options.application.is_some() || is_stream || is_standard(path) {
            all.push(choice);
            continue;
        }
        let listed = logs_in(path)?;
        if listed.len() < 2 {
            all.push(choice);
            continue;
        }
        all.extend(listed.into_iter().map(|log| LogChoice {
            path: (*path).clone(),
            options: ReadOptions { application: Some(log.file), ..options.clone() },
        }));
    }
    Ok(all)
}
