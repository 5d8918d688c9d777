//! The inputs of `why`, recognised by content, never by file name.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use tailspn::diagnose::syscalls::NodeLog;
use tailspn::subject::FileKind;
use tailspn::trace::{ListedLog, is_log, log_in, logs_in};

use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note};
use tailspn::explain::reason;

/// The inputs, by kind. A new kind of input gets a field here, a line in [`Inputs::known`], and a method in `run`.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    /// Job logs: files, and folders that each contain one log.
    pub(super) logs: Vec<PathBuf>,
    /// Samples of nodes.
    pub(super) samples: Vec<PathBuf>,
    /// Reports of the progress of tasks.
    pub(super) progress: Vec<PathBuf>,
    /// Logs of strace, some with `NODE=` in front.
    pub(super) calls: Vec<String>,
    /// Files of an unknown kind among the arguments, if no argument is of a known kind.
    pub(super) unknown: Vec<PathBuf>,
    /// Other files of unknown kind.
    pub(super) others: Vec<PathBuf>,
    /// The log in the subfolder of a folder, if `--app` selected the subfolder.
    pub(super) application: Option<String>,
}

impl Inputs {
    /// Detects the kind of each path; a folder's kind follows from its contents.
    pub(super) fn sort(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut inputs = Self::default();
        let mut seen = BTreeSet::new();
        for path in paths {
            // a file may be an argument and also lie in a folder that is an argument; its first occurrence counts
            if path.canonicalize().is_ok_and(|real| !seen.insert(real)) {
                continue;
            }
            if path.is_dir() {
                inputs.folder(path, &mut seen)?;
            } else if !path.exists() && path.as_os_str() != "-" {
                inputs.named_node(path)?;
            } else if !path.is_file() || FileKind::of(path).is_some_and(FileKind::is_log) {
                // standard input and pipes can be read only once
                inputs.logs.push(path.clone());
            } else if !inputs.known(path) {
                // a shell's pattern matches other files, too, but hardly a net or a plan
                if FileKind::of(path).is_some_and(|kind| kind != FileKind::HadoopConf) {
                    return Err(Failure::plain(Exit::Model, format!("`{}` says nothing about a run", path.display())));
                }
                inputs.unknown.push(path.clone());
            }
        }
        // `FOLDER/*.gz` also matches other files next to the log
        let is_known = [&inputs.logs, &inputs.samples, &inputs.progress].iter().any(|paths| !paths.is_empty());
        if is_known || !inputs.calls.is_empty() {
            inputs.others.append(&mut inputs.unknown);
        }
        Ok(inputs)
    }

    /// Detects the kinds of the files of one run. Of a folder whose subfolders contain logs, this is the subfolder of the requested
    /// application.
    pub(super) fn of_run(paths: &[PathBuf], application: Option<&str>) -> Result<Self, Failure> {
        let mut paths = paths.to_vec();
        let mut chosen = None;
        for path in paths.iter_mut().filter(|path| path.is_dir()) {
            if logs_in(path).is_ok_and(|logs| !logs.is_empty() && logs.iter().all(|log| subfolder(path, log).is_some()))
            {
                let log = log_in(path, application)?;
                let Some((folder, file)) = subfolder(path, &log) else { continue };
                (*path, chosen) = (folder, Some(file));
            }
        }
        let inputs = Self::sort(&paths)?;
        let application = chosen.filter(|_| application.is_some());
        Ok(Self { application, ..inputs })
    }

    /// Adds a file of a known kind other than a job log; returns false for other files.
    fn known(&mut self, path: &Path) -> bool {
        match FileKind::of(path) {
            Some(FileKind::Samples) => self.samples.push(path.to_owned()),
            Some(FileKind::Progress) => self.progress.push(path.to_owned()),
            Some(FileKind::SystemCalls) => self.calls.push(path.display().to_string()),
            _ => return false,
        }
        true
    }

    /// Adds an strace log that is passed as `NODE=FILE`.
    fn named_node(&mut self, text: &Path) -> Result<(), Failure> {
        let name = text.display().to_string();
        let log = NodeLog::parse(&name);
        if FileKind::of(&log.path) == Some(FileKind::SystemCalls) {
            self.calls.push(name);
            return Ok(());
        }
        let found = std::fs::metadata(&log.path).map_err(|error| unreadable(&log.path, &error))?;
        let what = if found.is_file() { "is not a strace log" } else { "is not a file" };
        Err(Failure::helped(Exit::Model, format!("`{}` {what}", log.path.display()), "NODE=FILE is for strace logs"))
    }

    fn folder(&mut self, folder: &Path, seen: &mut BTreeSet<PathBuf>) -> Result<(), Failure> {
        if is_log(folder) {
            self.logs.push(folder.to_owned());
            return Ok(());
        }
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(|error| unreadable(folder, &error))? {
            let file = entry.map_err(|error| unreadable(folder, &error))?.path();
            // an unreadable file may be essential for the diagnosis
            let _: File = File::open(&file).map_err(|error| unreadable(&file, &error))?;
            if file.canonicalize().is_ok_and(|real| seen.insert(real)) {
                files.push(file);
            }
        }
        files.sort();
        let (logs, rest): (Vec<PathBuf>, Vec<PathBuf>) = files.into_iter().partition(|file| {
            // a folder is a log only if its files are parts of one
            if file.is_dir() { is_log(file) } else { FileKind::of(file).is_some_and(FileKind::is_log) }
        });
        // the tables of a cluster trace are one log; for other logs the reader reports that there are several
        self.logs.extend(if logs.len() > 1 { vec![folder.to_owned()] } else { logs });
        for file in rest {
            if file.is_dir() || !self.known(&file) {
                self.others.push(file);
            }
        }
        Ok(())
    }

    /// Returns true if nothing but strace logs and unknown files was found.
    pub(super) fn are_calls_at_most(&self) -> bool {
        self.logs.is_empty() && self.samples.is_empty() && self.progress.is_empty()
    }

    /// Returns the log. It is required, unless other inputs allow findings without it.
    pub(super) fn log(&self) -> Result<Option<&Path>, Failure> {
        match self.logs.as_slice() {
            [log] => Ok(Some(log)),
            [] if !self.progress.is_empty() || !self.calls.is_empty() => Ok(None),
            [] if self.samples.is_empty() => {
                let note = Note::problem("the inputs contain nothing to explain");
                let help = "pass the log of a job, progress reports or strace logs";
                Err(Failure::new(Exit::Model, note.with_help(help)))
            }
            [] => Err(Failure::helped(
                Exit::Model,
                "no job log among the inputs",
                "pass the log as well; samples alone do not describe tasks",
            )),
            logs => {
                let names: Vec<String> = logs.iter().map(|log| log.display().to_string()).collect();
                Err(Failure::helped(
                    Exit::Usage,
                    format!("there are {} logs: {}", logs.len(), names.join(", ")),
                    "pass one log with the samples of its nodes, or two logs to compare",
                ))
            }
        }
    }

    /// Returns a sentence about files of unknown kind.
    pub(super) fn left_out(&self) -> Option<String> {
        let names: Vec<String> = self.others.iter().map(|file| file.display().to_string()).collect();
        (!names.is_empty()).then(|| format!("skipped (unrecognised files, or subfolders): {}", names.join(", ")))
    }
}

/// Returns the subfolder that contains a log of a folder, and the rest of the log's name; none if the log lies in the folder itself.
pub(super) fn subfolder(folder: &Path, log: &ListedLog) -> Option<(PathBuf, String)> {
    let (first, rest) = log.file.split_once('/')?;
    let below = folder.join(first);
    below.is_dir().then(|| (below, rest.to_owned()))
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::plain(Exit::Io, format!("cannot read `{}`: {}", path.display(), reason(error)))
}
