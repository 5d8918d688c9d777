//! A command that another program runs in process: the output is kept in memory, and a flag stops the command in place
//! of Ctrl-C.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tailspn::report::Answer;
use tailspn::watch::Watch;

use crate::cli::input::Input;
use crate::cli::signals::signalled;

/// A command in process, shared between the thread that runs it and the thread that waits for it.
#[derive(Debug, Default)]
pub struct Call {
    keeps_samples: bool,
    parts: Vec<Vec<u8>>,
    stopped: AtomicBool,
    pace: Mutex<Option<Pace>>,
    output: Mutex<Output>,
}

/// A command that another program asks for. Its options have the same names, values and rules as on the command line; its inputs may be in
/// memory.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The name of the command, such as `estimate`.
    pub command: String,
    /// The options, one word each, such as `--reps=100`.
    pub options: Vec<String>,
    /// The inputs of the command.
    pub inputs: Vec<Input>,
    /// Further arguments, such as formulas.
    pub words: Vec<String>,
}

/// The progress of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Number of completed units.
    pub done: u64,
    /// Number of planned units; 0 if unknown.
    pub planned: u64,
    /// The counted unit in the plural, such as `replications`.
    pub noun: &'static str,
}

/// The output of a command.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// The answer; none if the command failed before it had one.
    pub answer: Option<Answer>,
    /// Other text for standard output, such as a fitted plan.
    pub data: String,
    /// Notes and warnings, one line each.
    pub remarks: Vec<String>,
    /// The part that a command with `--shard` computed, in the format of its file.
    pub part: Option<Vec<u8>>,
}

/// Reason why a command failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The problem, in one sentence.
    pub message: String,
    /// The advice, if any.
    pub help: Option<String>,
    /// The name of a file or an option, with the line and the column in its text, both from 1.
    pub place: Option<(String, usize, usize)>,
}

thread_local! {
    /// The call that this thread runs.
    static CURRENT: RefCell<Option<Arc<Call>>> = const { RefCell::new(None) };
}

impl Call {
    /// Returns a call. If `keeps_samples` is true, `net simulate` and `estimate` keep the times of all replications.
    pub fn new(keeps_samples: bool) -> Arc<Self> {
        Arc::new(Self { keeps_samples, ..Self::default() })
    }

    /// Returns a call that merges the replications of `parts` instead of running its own: all shards of the same command, or
    /// the first ones. Without parts, the call runs its own replications.
    #[must_use]
    pub fn merging(keeps_samples: bool, parts: Vec<Vec<u8>>) -> Arc<Self> {
        Arc::new(Self { keeps_samples, parts, ..Self::default() })
    }

    /// Requests that the command ends with the results so far, as Ctrl-C does.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    /// Returns the progress of the command; `None` before the command starts counting.
    pub fn pace(&self) -> Option<Pace> {
        *locked(&self.pace)
    }

    /// Returns the output so far, and clears it.
    pub fn take_output(&self) -> Output {
        std::mem::take(&mut locked(&self.output))
    }

    /// Runs `command` as this call on this thread.
    pub(crate) fn enter<T>(self: &Arc<Self>, command: impl FnOnce() -> T) -> T {
        let before = CURRENT.replace(Some(Arc::clone(self)));
        let ended = command();
        CURRENT.set(before);
        ended
    }

    /// Returns the call that this thread runs.
    pub(crate) fn current() -> Option<Arc<Self>> {
        CURRENT.with_borrow(Clone::clone)
    }

    pub(crate) fn parts(&self) -> &[Vec<u8>] {
        &self.parts
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    pub(crate) fn keeps_samples(&self) -> bool {
        self.keeps_samples
    }

    pub(crate) fn set_pace(&self, pace: Pace) {
        *locked(&self.pace) = Some(pace);
    }

    pub(crate) fn output(&self) -> MutexGuard<'_, Output> {
        locked(&self.output)
    }
}

/// A call watches the work of its question.
impl Watch for Call {
    fn progress(&self, done: u64, planned: u64) {
        let noun = self.pace().map_or("", |pace| pace.noun);
        self.set_pace(Pace { done, planned, noun });
    }

    fn counts(&self, noun: &'static str) {
        self.set_pace(Pace { done: 0, planned: 0, noun });
    }

    fn stopped(&self) -> bool {
        self.is_stopped()
    }
}

/// Locks a mutex, also after a panic of another thread, whose output remains usable.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns true after Ctrl-C or SIGTERM, or if the call of this thread was stopped.
pub(crate) fn interrupted() -> bool {
    Call::current().map_or_else(signalled, |call| call.is_stopped())
}
