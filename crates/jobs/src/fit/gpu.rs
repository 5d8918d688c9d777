//! Predicted waits of Spark's tasks for permits of GPUs, from the other parts of the task times: waits are not fitted,
//! but predicted and compared with the log.

use std::collections::BTreeMap;

use crate::stages::{GpuTask, share_gpus};
use crate::trace::analysis::most_at_once;
use crate::trace::{Application, Attempt, JobTrace, Metric, StageId};

/// Overlap of successive tasks that is ignored \[µs\]: Spark launches the next task some milliseconds before it records
/// the end of the previous task.
const OVERLAP: i64 = 20_000;

/// Returns the permits of an executor: permits per GPU times its GPUs, if the log states both.
pub fn gpu_permits(application: &Application) -> Option<u32> {
    let of_gpu = application.number("spark.rapids.sql.concurrentGpuTasks").filter(|permits| *permits >= 1.0)?;
    let gpus = application.number("spark.executor.resource.gpu.amount").filter(|gpus| *gpus >= 1.0).unwrap_or(1.0);
    Some((of_gpu * gpus) as u32)
}

/// Returns the total predicted wait of the attempts of a stage for permits \[s\], for a given number of permits per
/// executor. Each task is assumed to request a permit in the middle of its non-GPU time, because the log does not
/// record the time of the request. Executors are assumed to run as many tasks at a time as in the log. None for a stage
/// without the measures.
///
/// Approximate: it ignores concurrent tasks of other stages, and waits for GPU memory are not waits for permits.
pub fn predicted_gpu_wait(trace: &JobTrace, id: StageId, permits: u32) -> Option<f64> {
    let mut of_executor: BTreeMap<usize, Vec<&Attempt>> = BTreeMap::new();
    for attempt in trace.attempts_of(id).iter().filter(|attempt| attempt.duration().is_some()) {
        of_executor.entry(attempt.executor.map_or(usize::MAX, |executor| executor.index())).or_default().push(attempt);
    }
    let mut predicted = None;
    for attempts in of_executor.values_mut() {
        attempts.sort_by_key(|attempt| attempt.launch());
        let spans = attempts.iter().filter_map(|attempt| {
            Some((attempt.launch()?.microseconds(), attempt.finish()?.microseconds().saturating_sub(OVERLAP)))
        });
        let slots = u32::try_from(most_at_once(spans, |_| 1)).unwrap_or(u32::MAX);
        let mut tasks: Vec<GpuTask> = attempts.iter().filter_map(|attempt| task(trace, attempt)).collect();
        // later tasks take the slots that earlier ones leave
        tasks.iter_mut().skip(slots as usize).for_each(|task| task.from_s = 0.0);
        let known = attempts.iter().any(|attempt| trace.value(attempt, Metric::GpuHoldTime).is_some());
        let waits: f64 = share_gpus(&tasks, slots, permits).iter().map(|times| times.wait_s).sum();
        if known {
            *predicted.get_or_insert(0.0) += waits;
        }
    }
    predicted
}

/// Returns an attempt without its wait for a GPU.
fn task(trace: &JobTrace, attempt: &Attempt) -> Option<GpuTask> {
    let value = |metric| trace.value(attempt, metric).unwrap_or(0.0);
    let hold_s = value(Metric::GpuHoldTime);
    let rest_s = (attempt.duration()? - value(Metric::GpuWaitTime) - hold_s).max(0.0);
    Some(GpuTask { from_s: attempt.launch()?.seconds(), before_s: 0.5 * rest_s, hold_s, after_s: 0.5 * rest_s })
}
