//! Simulates a job or net with many settings in one call, and returns a row of times for each setting.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tailspn::draws::{DrawRow, DrawnTimes, Draws};
use tailspn::mapreduce::LawTables;
use tailspn::plan::JobPlan;
use tailspn::subject::Subject;
use tailspn::sweep::Axis;
use tailspn::watch::Watch;

use crate::command::TICK;
use crate::net::NativeNet;

/// A job or net that is simulated with many settings.
#[pyclass(frozen, module = "tailspn._tailspn")]
pub(crate) struct NativeSimulator {
    subject: Subject,
    tables: LawTables,
    with_stages: bool,
    stages: Vec<String>,
}

fn invalid(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The times of all rows in sequence, and the rows without times: the position of each, and the reason why it has no
/// times.
type Drawn<'py> = (Bound<'py, PyArray1<f64>>, Vec<(usize, String)>);

#[pymethods]
impl NativeSimulator {
    /// Takes a net and its goal; the default goal is the dead marking.
    #[staticmethod]
    #[pyo3(signature = (net, until=None))]
    fn of_net(net: &NativeNet, until: Option<&str>) -> PyResult<Self> {
        let subject = Subject::net(net.net().clone(), until).map_err(invalid)?;
        Ok(Self { subject, tables: LawTables::default(), with_stages: false, stages: Vec::new() })
    }

    /// Takes the text of a job's plan. With `with_stages`, the times of the stages follow the time of the job.
    #[staticmethod]
    fn of_plan(text: &str, with_stages: bool) -> PyResult<Self> {
        let plan = JobPlan::from_toml(text).map_err(invalid)?;
        let stages = match &plan {
            JobPlan::Stages(plan) => plan.stage.iter().map(|stage| stage.name.clone()).collect(),
            _ => Vec::new(),
        };
        let subject = Subject::of_job(plan).map_err(invalid)?;
        Ok(Self { subject, tables: LawTables::default(), with_stages, stages })
    }

    /// Returns the names of the stages; none for a net or a job without stages.
    #[getter]
    fn stages(&self) -> Vec<String> {
        self.stages.clone()
    }

    /// Simulates each row of `values`, without the GIL. A row has one value for each of the `keys`, and its own seed.
    /// Returns the times of the runs, row by row, and the positions of the rows that do not form a valid job or net,
    /// with the reasons.
    #[pyo3(signature = (keys, values, seeds, runs, progress=None))]
    fn times<'py>(
        &self,
        py: Python<'py>,
        keys: Vec<String>,
        values: PyReadonlyArray2<'py, f64>,
        seeds: PyReadonlyArray1<'py, u64>,
        runs: u64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Drawn<'py>> {
        let width = values.as_array().ncols();
        let values: Vec<f64> = values.as_array().iter().copied().collect();
        let rows: Vec<DrawRow<'_>> = seeds
            .as_array()
            .iter()
            .enumerate()
            .map(|(i, &seed)| DrawRow { values: &values[i * width..(i + 1) * width], seed })
            .collect();
        let axes: Vec<Axis> = keys.into_iter().map(|key| Axis::values::<f64>(key, [])).collect();
        let Self { subject, tables, with_stages, .. } = self;
        let draws = Draws { subject, tables, axes: &axes, runs, with_stages: *with_stages, threads: None };
        let drawn = drawn(py, &draws, &rows, progress)?;
        let (mut times, mut missing) = (Vec::new(), Vec::new());
        for (row, found) in drawn.into_iter().enumerate() {
            match found {
                Ok(found) => times.extend(found),
                Err(error) => missing.push((row, error.to_string())),
            }
        }
        Ok((PyArray1::from_vec(py, times), missing))
    }
}

/// The number of finished rows, and a flag to skip the rest.
#[derive(Default)]
struct Rows {
    done: AtomicU64,
    stopped: AtomicBool,
}

impl Watch for Rows {
    fn progress(&self, done: u64, _planned: u64) {
        self.done.fetch_max(done, Ordering::Relaxed);
    }

    fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

/// Simulates on another thread while this thread handles signals and reports progress; an exception from a handler or the callback
/// ends the work.
fn drawn(
    py: Python<'_>,
    draws: &Draws<'_>,
    rows: &[DrawRow<'_>],
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<DrawnTimes>> {
    let watch = Rows::default();
    thread::scope(|scope| {
        let (sender, ended) = channel();
        let watch = &watch;
        // the receiver outlives the thread
        scope.spawn(move || sender.send(draws.times(rows, watch)));
        let ended = Mutex::new(ended);
        let mut fault = None;
        loop {
            let received = py.detach(|| ended.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(TICK));
            let report = |progress: &Py<PyAny>| {
                let done = watch.done.load(Ordering::Relaxed);
                progress.call1(py, (done, rows.len(), "rows")).map(drop)
            };
            let ticked = py.check_signals().and_then(|()| progress.as_ref().map_or(Ok(()), report));
            if let (Err(error), None) = (ticked, &fault) {
                watch.stopped.store(true, Ordering::Relaxed);
                fault = Some(error);
            }
            match received {
                Err(RecvTimeoutError::Timeout) => {}
                // the thread panicked, and the scope will panic too
                Err(RecvTimeoutError::Disconnected) => return Ok(Vec::new()),
                Ok(times) => {
                    let times = times.map_err(invalid)?;
                    return fault.map_or_else(|| Ok(times.unwrap_or_default()), Err);
                }
            }
        }
    })
}
