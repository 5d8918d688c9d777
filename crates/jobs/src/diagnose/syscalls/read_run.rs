//! Reads a run: the log of each of its nodes, to learn from it or to judge it.

use crate::diagnose::syscalls::error::SyscallError;
use crate::diagnose::syscalls::observed::NodeCalls;
use crate::diagnose::syscalls::profile::Profile;
use crate::diagnose::syscalls::read::{NodeLog, logs_at, read_log};
use crate::diagnose::syscalls::run::Run;
use crate::diagnose::syscalls::settings::ReadSettings;
use crate::diagnose::syscalls::stream::Invocations;
use crate::watch::Watch;

/// Purpose of reading a run.
#[derive(Clone, Copy, Debug)]
pub enum Purpose<'p> {
    /// To learn the baseline from the run.
    Learn,
    /// To judge the run by a profile.
    Judge(&'p Profile),
}

/// Reads a run: a folder with one file per node, or files, each with `NODE=` in front if its name does not identify the node.
///
/// # Errors
///
/// [`SyscallError`] if a named file cannot be read, if there is no log, if two logs belong to the same node,
/// or if no log has times that can be judged.
pub fn read_run(
    paths: &[String],
    purpose: Purpose<'_>,
    settings: &ReadSettings,
    watch: &dyn Watch,
) -> Result<Run, SyscallError> {
    let (nodes, notes) = read_nodes(paths, purpose, settings, watch)?;
    Run::of(name_of(paths), nodes, notes)
}

/// Reads the logs of a run's nodes, at least one, and records the skipped files; [`Run::of`] joins them.
///
/// # Errors
///
/// Same as [`read_run`], except for errors that only the logs together show.
pub fn read_nodes(
    paths: &[String],
    purpose: Purpose<'_>,
    settings: &ReadSettings,
    watch: &dyn Watch,
) -> Result<(Vec<NodeCalls>, Vec<String>), SyscallError> {
    let (mut nodes, mut notes): (Vec<NodeCalls>, Vec<String>) = (Vec::new(), Vec::new());
    for path in paths {
        let (logs, named) = logs_at(path)?;
        for log in logs {
            match read_for(&log, purpose, settings, watch) {
                Ok(calls) => nodes.push(calls),
                Err(error @ (SyscallError::NotStrace { .. } | SyscallError::Empty { .. })) if !named => {
                    notes.push(format!("{error}; skipped"));
                }
                Err(error) => return Err(error),
            }
        }
    }
    if nodes.is_empty() {
        return Err(SyscallError::NoLog { places: format!("`{}`", paths.join("`, `")) });
    }
    Ok((nodes, notes))
}

/// Returns the name of a run: the folder, or the first file.
fn name_of(paths: &[String]) -> String {
    paths.first().map_or_else(String::new, |path| {
        let path = path.trim_end_matches('/');
        path.rsplit('/').next().unwrap_or(path).to_owned()
    })
}

fn read_for(
    log: &NodeLog,
    purpose: Purpose<'_>,
    settings: &ReadSettings,
    watch: &dyn Watch,
) -> Result<NodeCalls, SyscallError> {
    let invocations = match purpose {
        Purpose::Learn => Invocations::Learn,
        Purpose::Judge(profile) => profile.extremes_of(&log.node).map_or(Invocations::Ignore, Invocations::Judge),
    };
    read_log(log, invocations, settings, watch)
}
