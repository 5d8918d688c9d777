//! Runs commands: for the command line, or inside the Python process on a separate thread while Python handles signals.

use std::any::Any;
use std::ffi::OsString;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use numpy::{IntoPyArray as _, PyArray1};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tailspn::cli::{Call, Output, Problem, Shape};
use tailspn::report::Answer;

use crate::found::Found;
use crate::net::NativeNet;

/// Time between two checks of signals and progress.
pub(crate) const TICK: Duration = Duration::from_millis(50);
/// Time for a command to end after Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(800);
/// Stack size of a command's thread, the same as that of a main thread.
const STACK_BYTES: usize = 8 << 20;

/// The outcome of a command that ran in this process.
#[pyclass(frozen, get_all, module = "tailspn._tailspn")]
pub(crate) struct Outcome {
    /// The exit code of the command line; None if the command did not end in time after Ctrl-C.
    exit: Option<u8>,
    /// The result; None if the command failed before it had one.
    found: Option<Py<Found>>,
    /// Other text, such as a fitted plan.
    data: String,
    /// Notes and warnings.
    remarks: Vec<String>,
    /// Times of the replications that reached the goal, in seconds; moved to Python without a copy.
    samples: Option<Py<PyArray1<f64>>>,
    /// The part that a command with `--shard` computed, in the format of a part file.
    part: Option<Py<PyBytes>>,
    /// Reasons for a failure: message, help, and position (file, line and column).
    problems: Vec<Reason>,
    /// The message of an internal error.
    panic: Option<String>,
    /// The exception that a signal handler or the progress callback raised.
    interruption: Option<Py<PyAny>>,
}

type Reason = (String, Option<String>, Option<(String, usize, usize)>);
type Ended = thread::Result<Result<u8, (u8, Vec<Problem>)>>;

/// Runs the command line and returns its exit code. The first argument is the name of the program.
#[pyfunction]
pub(crate) fn cli(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| tailspn::cli::run_with(arguments))
}

/// Runs a command in this process, without the GIL. `progress` is called with the completed amount, the planned amount and
/// the unit. The argument `<net>` stands for `net`. If `parts` are given (all shards of this command, or the first shards),
/// the command merges them and runs no replications.
#[pyfunction]
#[pyo3(signature = (arguments, samples=false, progress=None, net=None, parts=None))]
pub(crate) fn run(
    py: Python<'_>,
    arguments: Vec<OsString>,
    samples: bool,
    progress: Option<Py<PyAny>>,
    net: Option<Bound<'_, NativeNet>>,
    parts: Option<Vec<Vec<u8>>>,
) -> PyResult<Outcome> {
    let call = Call::merging(samples, net.map(|net| net.get().net().clone()), parts.unwrap_or_default());
    let (sender, ended) = channel::<Ended>();
    let own = call.clone();
    let command = move || {
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| own.run(arguments)));
        // the caller may no longer wait
        let _ = sender.send(ended);
    };
    let spawned = thread::Builder::new().name("tailspn".to_owned()).stack_size(STACK_BYTES).spawn(command);
    spawned.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let mut wait = Wait { call: &call, progress, told: None, stopped: None, interruption: None };
    let ended = wait.until_ended(py, &Mutex::new(ended));
    let interruption = wait.interruption.map(|error| error.into_value(py).into_any());
    outcome(py, ended, call.take_output(), interruption)
}

/// Waits for a command.
struct Wait<'c> {
    call: &'c Call,
    progress: Option<Py<PyAny>>,
    told: Option<(u64, u64)>,
    stopped: Option<Instant>,
    interruption: Option<PyErr>,
}

impl Wait<'_> {
    /// Returns the outcome of the command; none if it did not stop in time after Ctrl-C.
    fn until_ended(&mut self, py: Python<'_>, ended: &Mutex<Receiver<Ended>>) -> Option<Ended> {
        loop {
            let received = py.detach(|| ended.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(TICK));
            match received {
                Ok(ended) => {
                    self.tick(py);
                    return Some(ended);
                }
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => self.tick(py),
            }
            if self.stopped.is_some_and(|since| since.elapsed() > PATIENCE) {
                return None;
            }
        }
    }

    /// Handles signals and reports progress; an exception from a handler or the callback stops the command.
    fn tick(&mut self, py: Python<'_>) {
        let ticked = py.check_signals().and_then(|()| self.report(py));
        if let Err(error) = ticked {
            self.call.stop();
            self.stopped.get_or_insert_with(Instant::now);
            self.interruption.get_or_insert(error);
            self.progress = None;
        }
    }

    fn report(&mut self, py: Python<'_>) -> PyResult<()> {
        let (Some(progress), Some(pace)) = (&self.progress, self.call.pace()) else { return Ok(()) };
        let pair = (pace.done, pace.planned);
        if self.told.replace(pair) != Some(pair) {
            progress.call1(py, (pace.done, pace.planned, pace.noun))?;
        }
        Ok(())
    }
}

fn outcome(py: Python<'_>, ended: Option<Ended>, output: Output, interruption: Option<Py<PyAny>>) -> PyResult<Outcome> {
    let (exit, problems, panic) = match ended {
        None => (None, Vec::new(), None),
        Some(Ok(Ok(exit))) => (Some(exit), Vec::new(), None),
        Some(Ok(Err((exit, problems)))) => (Some(exit), problems, None),
        Some(Err(payload)) => (Some(1), Vec::new(), Some(message_of(&*payload))),
    };
    let reason = |Problem { message, help, place }| (message, help, place);
    let (mut found, mut samples, mut data) = (None, output.samples, output.data);
    if let Some(Answer { result, times_s, plan, .. }) = output.answer {
        found = Some(Py::new(py, Found::of(result))?);
        samples = times_s.or(samples);
        data = plan.unwrap_or(data);
    }
    Ok(Outcome {
        exit,
        found,
        data,
        remarks: output.remarks,
        part: output.part.map(|part| PyBytes::new(py, &part).unbind()),
        samples: samples.map(|samples| samples.into_pyarray(py).unbind()),
        problems: problems.into_iter().map(reason).collect(),
        panic,
        interruption,
    })
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref().copied());
    text.unwrap_or("panic").to_owned()
}

/// An option of a command: name, shape, choices, help.
type OptionRow = (String, &'static str, Vec<String>, String);

/// Returns the options of a command; None for an unknown command.
#[pyfunction]
pub(crate) fn options(command: &str) -> Option<Vec<OptionRow>> {
    let shape = |shape| match shape {
        Shape::Flag => "flag",
        Shape::Value => "value",
        Shape::Values => "values",
    };
    let all = tailspn::cli::options(command)?;
    Some(all.into_iter().map(|option| (option.name, shape(option.shape), option.choices, option.help)).collect())
}
