//! Tasks that share GPUs by permits: a task works, waits for a permit of its executor, holds it, and continues without
//! it.
//!
//! The permits of an executor are the permits of all its GPUs: `spark.rapids.sql.concurrentGpuTasks` for each GPU. They
//! are granted in the order of the requests. That is how RAPIDS' semaphore works, except that it prefers tasks that
//! held a permit before.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A task on an executor, without its waits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GpuTask {
    /// Earliest launch \[s\].
    pub from_s: f64,
    /// Time before the task requests a permit \[s\].
    pub before_s: f64,
    /// Time for which the task holds the permit \[s\]; 0 if the task requests none.
    pub hold_s: f64,
    /// Time after the task has released the permit \[s\].
    pub after_s: f64,
}

/// The launch, wait and end of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GpuTimes {
    /// Launch time \[s\].
    pub start_s: f64,
    /// Time of the wait for a permit \[s\].
    pub wait_s: f64,
    /// End time \[s\].
    pub end_s: f64,
}

/// The next step of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Release,
    End,
    Launch,
    Ask,
}

/// Runs the tasks of an executor in order, with limits on concurrent tasks and permits.
///
/// # Panics
///
/// Never; a number of slots or permits of 0 counts as 1.
pub fn share_gpus(tasks: &[GpuTask], slots: u32, permits: u32) -> Vec<GpuTimes> {
    let mut times = vec![GpuTimes::default(); tasks.len()];
    let (mut free_slots, mut free_permits) = (slots.max(1), permits.max(1));
    let mut asking: VecDeque<usize> = VecDeque::new();
    // times are not negative, so that their bits have their order
    let mut events: BinaryHeap<Reverse<(u64, Step, usize)>> = BinaryHeap::new();
    let mut next = 0;
    let mut now = 0.0_f64;
    loop {
        while free_slots > 0 && next < tasks.len() {
            free_slots -= 1;
            let at = now.max(tasks[next].from_s).max(0.0);
            events.push(Reverse((at.to_bits(), Step::Launch, next)));
            next += 1;
        }
        let Some(Reverse((bits, step, task))) = events.pop() else { return times };
        now = f64::from_bits(bits);
        let (of, at) = (&tasks[task], &mut times[task]);
        match step {
            Step::Launch => {
                at.start_s = now;
                let (then, step) =
                    if of.hold_s > 0.0 { (of.before_s, Step::Ask) } else { (of.before_s + of.after_s, Step::End) };
                events.push(Reverse(((now + then).to_bits(), step, task)));
            }
            Step::Ask => asking.push_back(task),
            Step::Release => {
                free_permits += 1;
                events.push(Reverse(((now + of.after_s).to_bits(), Step::End, task)));
            }
            Step::End => {
                at.end_s = now;
                free_slots += 1;
            }
        }
        while free_permits > 0
            && let Some(task) = asking.pop_front()
        {
            free_permits -= 1;
            let of = &tasks[task];
            times[task].wait_s = now - (times[task].start_s + of.before_s);
            events.push(Reverse(((now + of.hold_s).to_bits(), Step::Release, task)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four tasks of 1 s, 2 s on the GPU, 1 s, all at once, with one permit: they hold it one after the other.
    #[test]
    fn permits_are_given_in_order() {
        let task = GpuTask { from_s: 0.0, before_s: 1.0, hold_s: 2.0, after_s: 1.0 };
        let times = share_gpus(&[task; 4], 4, 1);
        assert_eq!(times.iter().map(|times| times.wait_s).collect::<Vec<_>>(), [0.0, 2.0, 4.0, 6.0]);
        assert_eq!(times[3].end_s, 10.0);
        // two permits: two pairs; two slots: the third is launched at 4
        let pairs = share_gpus(&[task; 4], 4, 2);
        assert_eq!(pairs.iter().map(|times| times.wait_s).collect::<Vec<_>>(), [0.0, 0.0, 2.0, 2.0]);
        let few = share_gpus(&[task; 3], 2, 2);
        assert_eq!((few[2].start_s, few[2].wait_s, few[2].end_s), (4.0, 0.0, 8.0));
        let without = share_gpus(&[GpuTask { hold_s: 0.0, ..task }; 2], 1, 1);
        assert_eq!((without[1].start_s, without[1].end_s), (2.0, 4.0));
    }

    /// A closed queue: n tasks at a time, each thinking for an exponential time of mean Z and then holding one of c
    /// permits for an exponential time of mean S. The mean wait follows from the Markov chain of the number of tasks
    /// that hold or request a permit: machine repair. This test was seen to fail with a bias of 1%.
    #[test]
    fn waits_of_a_closed_queue_are_those_of_machine_repair() {
        let (n, c, think_s, serve_s) = (8_u32, 2_u32, 3.0, 1.0);
        // weights of k at the GPU: rates up (n - k) / Z, down min(k, c) / S
        let mut weights = vec![1.0];
        for k in 0..n {
            let last = weights[k as usize];
            weights.push(last * f64::from(n - k) / think_s * serve_s / f64::from((k + 1).min(c)));
        }
        let total: f64 = weights.iter().sum();
        let mean = |value: &dyn Fn(u32) -> f64| (0..=n).map(|k| weights[k as usize] / total * value(k)).sum::<f64>();
        let waiting = mean(&|k| f64::from(k.saturating_sub(c)));
        let throughput = mean(&|k| f64::from(k.min(c)) / serve_s);
        let exact_s = waiting / throughput;

        let mut words = 0x1234_5678_9abc_def0_u64;
        let mut exponential = |mean: f64| {
            words = words.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mixed = words ^ (words >> 33);
            -mean * (((mixed >> 11) as f64 + 0.5) / 9_007_199_254_740_992.0).ln()
        };
        let tasks: Vec<GpuTask> = (0..400_000)
            .map(|_| GpuTask {
                from_s: 0.0,
                before_s: exponential(think_s),
                hold_s: exponential(serve_s),
                after_s: 0.0,
            })
            .collect();
        let times = share_gpus(&tasks, n, c);
        // batches of 4,000 tasks are nearly independent
        let batches: Vec<f64> = times
            .chunks(4_000)
            .map(|some| some.iter().map(|times| times.wait_s).sum::<f64>() / some.len() as f64)
            .collect();
        let mean_s = batches.iter().sum::<f64>() / batches.len() as f64;
        let variance = batches.iter().map(|batch| (batch - mean_s).powi(2)).sum::<f64>() / (batches.len() - 1) as f64;
        let error = (variance / batches.len() as f64).sqrt();
        assert!((mean_s - exact_s).abs() < 5.0 * error && error < 0.01 * exact_s, "{mean_s} {exact_s} {error}");
    }
}
