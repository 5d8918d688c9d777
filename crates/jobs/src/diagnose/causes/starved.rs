//! Too little CPU for a whole run: tasks that wait for a CPU on all nodes slow all tasks alike, so no task stands out
//! among its peers. Samples of the run queue and of stolen time show these waits.

use crate::diagnose::causes::nodes::NodeMeters;
use crate::diagnose::causes::recorded::Recorded;
use crate::diagnose::finding::{Cause, Evidence, Finding, Subject};
use crate::diagnose::samples::{Over, Series};
use crate::trace::{Attempt, JobTrace, Metric};

/// Minimum share of the job's time that is a finding.
const SHARE: f64 = 0.05;
/// Minimum time that is a finding \[s\].
const LEAST_S: f64 = 1.0;
/// Minimum share of the time on a node in which processes waited for a CPU.
const WAITED: f64 = 0.1;

/// Waits for CPUs on a node, while tasks ran there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Waits {
    /// Share of the CPU time that the hypervisor gave to others.
    steal: Option<f64>,
    /// Processes that ran or waited for a CPU, for each CPU.
    queue: Option<f64>,
}

impl Waits {
    /// Returns the share of its time that a process waited for a CPU. With `q` processes for each CPU, a process runs
    /// for 1 / q of the time.
    fn share(self) -> f64 {
        let of_queue = self.queue.filter(|queue| *queue > 1.0).map_or(0.0, |queue| 1.0 - 1.0 / queue);
        self.steal.unwrap_or(0.0).max(of_queue)
    }
}

/// Waits for CPUs in a whole run.
#[derive(Debug, Default)]
pub(super) struct Starved {
    /// The finding, if tasks waited for CPUs.
    pub(super) finding: Option<Finding>,
    /// CPU time of all tasks divided by their run time, if low and if no samples tell why.
    pub(super) cpu_share: Option<f64>,
}

/// Examines the CPUs of a whole run.
pub(super) fn starved(trace: &JobTrace, nodes: &[NodeMeters], job: &Recorded) -> Starved {
    let waits: Vec<Waits> = nodes.iter().enumerate().map(|(node, meters)| waits(trace, node, meters)).collect();
    let cpu = cpu_and_run(trace);
    let is_sampled = nodes.iter().any(|node| !node.queue.is_empty());
    let low = cpu.filter(|[cpu, run]| !is_sampled && *cpu < 0.5 * run).map(|[cpu, run]| cpu / run);
    Starved { finding: finding(trace, &waits, job, cpu), cpu_share: low }
}

fn finding(trace: &JobTrace, waits: &[Waits], job: &Recorded, cpu: Option<[f64; 2]>) -> Option<Finding> {
    let share = |node: Option<usize>| node.and_then(|node| waits.get(node)).map_or(0.0, |waits| waits.share());
    let is_short = |node: Option<usize>| share(node) > WAITED;
    let job_s = job.without_share(|task| if is_short(task.node) { share(task.node) } else { 0.0 });
    let of_job = job_s / job.logged_s()?;
    if of_job <= SHARE || job_s <= LEAST_S {
        return None;
    }
    let evidence =
        |what: String, value: f64, usual: f64, unit: &'static str| Evidence { what, value, usual, unit: unit.into() };
    let mut all = vec![evidence("maximum time saved if no task had waited for a CPU".to_owned(), job_s, 0.0, "s")];
    for (node, waits) in trace.nodes.iter().zip(waits).filter(|(_, waits)| waits.share() > WAITED) {
        let name = &node.name;
        all.extend(waits.queue.map(|queue| evidence(format!("run queue for each CPU of {name}"), queue, 1.0, "")));
        all.extend(waits.steal.map(|steal| evidence(format!("stolen CPU time of {name}"), 100.0 * steal, 0.0, "%")));
    }
    all.extend(
        cpu.map(|[cpu, run]| evidence("CPU time of all tasks, compared with their run time".to_owned(), cpu, run, "s")),
    );
    Some(Finding::on_the_way(Subject::Job, Cause::CpuShortage, of_job, SHARE, all))
}

/// Returns the waits on a node from its first launch to its last end.
fn waits(trace: &JobTrace, node: usize, meters: &NodeMeters) -> Waits {
    let here = || trace.attempts().iter().filter(|attempt| attempt.node.is_some_and(|own| own.index() == node));
    let from = here().filter_map(Attempt::launch).min();
    let to = here().filter_map(Attempt::finish).max();
    let Some((from, to)) = from.zip(to) else { return Waits::default() };
    let (from, to) = (from.seconds() + meters.shift, to.seconds() + meters.shift);
    let mean = |series: &[Series], missing: fn(Over) -> f64| {
        let found: Vec<f64> = series.iter().filter_map(|one| one.over(from, to)).map(missing).collect();
        (!found.is_empty()).then(|| found.iter().sum::<f64>() / found.len() as f64)
    };
    // times without stolen time have no sample
    let steal = mean(&meters.steal, |over| over.mean * over.covered);
    let queue = mean(&meters.queue, |over| over.mean);
    let cpus = if meters.cpus > 0 { meters.cpus as f64 } else { cores(trace, node) };
    Waits { steal, queue: queue.filter(|_| cpus > 0.0).map(|queue| queue / cpus) }
}

/// Returns the cores of the executors on a node; 0 if unknown.
fn cores(trace: &JobTrace, node: usize) -> f64 {
    let here = trace.executors.iter().filter(|executor| executor.node.is_some_and(|own| own.index() == node));
    here.filter_map(|executor| executor.cores).map(f64::from).sum()
}

/// Returns the CPU time and the run time of all tasks that succeeded \[s\]; none if the log lacks them.
fn cpu_and_run(trace: &JobTrace) -> Option<[f64; 2]> {
    let done = trace.attempts().iter().filter(|attempt| attempt.succeeded());
    let each = done.filter_map(|attempt| {
        Some([trace.value(attempt, Metric::CpuTime)?, trace.value(attempt, Metric::ExecutorRunTime)?])
    });
    each.reduce(|sum, one| [sum[0] + one[0], sum[1] + one[1]]).filter(|[cpu, run]| *cpu > 0.0 && *run > LEAST_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_waits_for_the_others_in_the_queue_and_for_the_hypervisor() {
        let share = |steal, queue| Waits { steal, queue }.share();
        assert_eq!(share(None, None), 0.0);
        assert_eq!(share(Some(0.3), None), 0.3);
        // four processes on each CPU: each runs for a quarter of the time
        assert_eq!(share(Some(0.3), Some(4.0)), 0.75);
        assert_eq!(share(Some(0.3), Some(1.25)), 0.3);
        assert_eq!(share(None, Some(0.5)), 0.0);
    }
}
