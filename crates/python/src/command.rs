//! Runs commands: for the command line, or inside the Python process on a separate thread while Python handles signals.

use std::any::Any;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use numpy::{IntoPyArray as _, PyArray1};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tailspn::cli::{Call, Input, Output, Problem, Request, Shape};
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

/// An input of a command.
#[derive(FromPyObject)]
pub(crate) enum Given<'py> {
    /// A net.
    Net(Bound<'py, NativeNet>),
    /// A plan: its name, and its text.
    Plan(String, String),
    /// A file.
    File(PathBuf),
}

impl From<Given<'_>> for Input {
    fn from(given: Given<'_>) -> Self {
        match given {
            Given::Net(net) => Self::net(net.get().net().clone()),
            Given::Plan(name, text) => Self::plan(&name, text),
            Given::File(path) => path.as_path().into(),
        }
    }
}

/// Runs a command in this process, without the GIL. `options` are words such as `--reps=100`, and `words` further arguments such as
/// formulas. `progress` is called with the completed amount, the planned amount and the unit. If `parts` are given (all shards of this
/// command, or the first shards), the command merges them and runs no replications.
#[pyfunction]
#[pyo3(signature = (command, options, inputs, words, samples=false, progress=None, parts=None))]
#[expect(clippy::too_many_arguments, reason = "the package calls it in one place")]
pub(crate) fn run(
    py: Python<'_>,
    command: String,
    options: Vec<String>,
    inputs: Vec<Given<'_>>,
    words: Vec<String>,
    samples: bool,
    progress: Option<Py<PyAny>>,
    parts: Option<Vec<Vec<u8>>>,
) -> PyResult<Outcome> {
    let call = Call::merging(samples, parts.unwrap_or_default());
    let request = Request { command, options, inputs: inputs.into_iter().map(Input::from).collect(), words };
    let (sender, ended) = channel::<Ended>();
    let own = call.clone();
    let command = move || {
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| own.run(request)));
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
    let (mut found, mut samples, mut data) = (None, None, output.data);
    if let Some(Answer { result, times_s, plan, typed, .. }) = output.answer {
        found = Some(Py::new(py, Found::of(result, typed))?);
        samples = times_s;
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
