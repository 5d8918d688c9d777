//! Waits for a log to grow, and asks again whenever it has.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;

/// Interval between two checks of a log.
const POLL: Duration = Duration::from_millis(200);
/// Minimum time between two answers.
const PAUSE: Duration = Duration::from_secs(2);
/// Pause before the next answer, as a multiple of the time of the last one, so that a large log uses a
/// small share of a CPU.
const SHARE: u32 = 10;

/// Calls `answer` with the current path of the log whenever the log has grown, until an answer is final or until Ctrl-C.
pub(crate) fn follow(log: &Path, mut answer: impl FnMut(&Path) -> Result<bool, Failure>) -> Result<Exit, Failure> {
    let mut seen = None;
    loop {
        let log = current(log);
        let size = size_of(&log);
        // Spark has created the file but not yet written to it
        let is_empty = size.as_ref().is_some_and(|(_, bytes)| *bytes == 0);
        let pause = if size == seen || is_empty {
            POLL
        } else {
            seen = size;
            let started = Instant::now();
            if answer(&log)? {
                return Ok(Exit::Success);
            }
            PAUSE.max(started.elapsed() * SHARE)
        };
        let until = Instant::now() + pause;
        while Instant::now() < until {
            if interrupted() {
                return Ok(Exit::Interrupted);
            }
            thread::sleep(POLL);
        }
    }
}

/// Returns the current path of the log: Spark removes `.inprogress` from the name when the application ends.
pub(crate) fn current(log: &Path) -> PathBuf {
    let ended = log.to_str().and_then(|name| name.strip_suffix(".inprogress")).map(PathBuf::from);
    match ended {
        Some(ended) if !log.exists() && ended.exists() => ended,
        _ => log.to_owned(),
    }
}

/// Returns the path of a log and its size in bytes, for a folder the size of all files; `None` if it cannot be
/// examined.
pub(crate) fn size_of(log: &Path) -> Option<(PathBuf, u64)> {
    let found = std::fs::metadata(log).ok()?;
    if found.is_file() {
        return Some((log.to_owned(), found.len()));
    }
    let files = std::fs::read_dir(log).ok()?;
    let sizes = files.filter_map(|file| Some(file.ok()?.metadata().ok()?.len()));
    Some((log.to_owned(), sizes.sum()))
}
