//! The time before a run, in which a net is read, folded and compiled. A limit of wall time that is reached here ends the
//! process, because nothing has been computed; while a run computes, `watch` stops it.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::cli::call::Call;
use crate::cli::exit::Exit;
use crate::cli::notes::Note;
use crate::cli::output::Terminal;

/// The preparation of a run that has a limit of wall time. If the limit is reached during the preparation, the process ends,
/// because there are no results yet. The code that reads and compiles does not check the time.
#[derive(Debug)]
#[must_use = "until the preparation ends, the limit may end the process"]
pub(crate) struct Preparation {
    waiting: Option<Sender<()>>,
}

impl Preparation {
    /// Starts the preparation. A command that runs inside another program never ends the other program.
    pub(crate) fn begin(max_time: Option<Duration>, terminal: &Terminal) -> Self {
        let limit = max_time.filter(|_| Call::current().is_none());
        Self { waiting: limit.map(|limit| end_after(limit, terminal.clone())) }
    }

    /// Ends the preparation.
    pub(crate) fn end(self) {
        drop(self.waiting);
    }
}

/// Ends the process after this time, unless the returned sender is dropped earlier.
fn end_after(limit: Duration, terminal: Terminal) -> Sender<()> {
    let (waiting, dropped) = channel();
    std::thread::spawn(move || {
        if dropped.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            let note = Note::problem("--max-time was reached before the net was compiled; nothing was computed");
            terminal.problems(&[note.with_help("increase --max-time")]);
            std::process::exit(Exit::Refused.code().into());
        }
    });
    waiting
}
