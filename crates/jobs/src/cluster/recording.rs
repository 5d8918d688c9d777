//! Records the progress of every attempt once per interval, like a monitor on each node.

use std::sync::{Mutex, PoisonError};

use crate::cluster::detect::{Category, Detector, Flag, View};
use crate::cluster::ensemble::ExperimentError;
use crate::cluster::plan::{Plan, PolicyPlan, Watching};
use crate::cluster::policy::Policy;
use crate::cluster::simulator::Simulator;
use crate::cluster::world::World;
use crate::watch::Unwatched;

/// A task and its progress over time.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedTask {
    /// The job, by its position in the plan.
    pub job: u32,
    /// The task's number among the maps or reduces of its job.
    pub task: u32,
    /// The node the task ran on.
    pub node: u32,
    /// Start time \[s\].
    pub start_s: f64,
    /// Duration \[s\].
    pub time_s: f64,
    /// Size of its input, 1 for the mean of a job without skew.
    pub size: f64,
    /// Age \[s\] and progress score, in order of time.
    pub samples: Vec<(f64, f64)>,
}

/// Node, start and samples of a task of the world.
type Report = (u32, f64, Vec<(f64, f64)>);

/// Replaces a detector, without flagging tasks.
#[derive(Debug)]
struct Recorder {
    interval_s: f64,
    of: Category,
    seen: Mutex<Vec<Report>>,
}

impl Detector for Recorder {
    fn interval_s(&self) -> f64 {
        self.interval_s
    }

    fn flag(&self, view: &View<'_>, _flags: &mut Vec<Flag>) {
        if view.category != self.of {
            return;
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for task in view.running.iter().filter(|task| task.elapsed_s > 0.0) {
            let Some((node, start, samples)) = seen.get_mut(task.task as usize) else { continue };
            (*node, *start) = (task.node, task.start_s);
            samples.push((task.elapsed_s, task.score));
        }
    }
}

/// Runs a checked plan once, without copies, and records the maps or the reduces. Do not record plans with failures:
/// if a task is killed with its node, the samples of its attempts are mixed.
///
/// # Errors
///
/// [`ExperimentError::Run`] if the run does not finish.
pub fn record_progress(
    plan: &Plan,
    seed: u64,
    interval_s: f64,
    of: Category,
) -> Result<Vec<RecordedTask>, ExperimentError> {
    let world = World::new(plan, seed);
    let recorder = Recorder { interval_s, of, seen: Mutex::new(vec![(0, 0.0, Vec::new()); world.tasks.len()]) };
    let silent = PolicyPlan { lag_s: 0.0, watch: Watching::FromLag, copies: false, ..PolicyPlan::default() };
    let policy = Policy { detector: Some(&recorder), ..Policy::new(&silent, &world) };
    // the quality of the recorder does not matter, so it needs no usual times
    let usual = vec![f64::NAN; world.tasks.len()];
    let mut simulator = Simulator::new(&world, &usual, plan.truth.factor, &Unwatched);
    let run = simulator.run(&policy, 0);
    run.map_err(|fault| ExperimentError::Run { policy: "recording".to_owned(), replication: 0, fault })?;
    let times: Vec<f64> = simulator.times().collect();
    drop(policy);
    let seen = recorder.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    let recorded = seen.into_iter().zip(&world.tasks).zip(times).enumerate();
    let recorded = recorded.filter_map(|(number, (((node, start_s, samples), task), time_s))| {
        let category = world.categories[task.category as usize];
        let number = number as u32 - category.first;
        (category.kind == of && !samples.is_empty()).then_some(RecordedTask {
            job: task.category / 2,
            task: number,
            node,
            start_s,
            time_s,
            size: task.size,
            samples,
        })
    });
    Ok(recorded.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::plan::{ClusterPlan, JobPlan, NodeGroup, Noise};

    #[test]
    fn a_lone_reduce_is_recorded_as_its_work_says() {
        let cluster = ClusterPlan { heartbeat_s: 0.0, node: vec![NodeGroup::default()], ..ClusterPlan::default() };
        let job = JobPlan {
            maps: 1,
            map_s: 2.5,
            map_start_s: 0.0,
            reduces: 1,
            reduce_start_s: 1.0,
            shuffle_s: 3.0,
            reduce_s: 6.0,
            ..JobPlan::default()
        };
        let noise = Noise { sigma: 0.0 };
        let plan = Plan { cluster, noise, job: vec![job], ..Plan::default() };
        let tasks = record_progress(&plan, 1, 1.0, Category::Reduce).unwrap();
        assert_eq!(tasks.len(), 1);
        assert!((tasks[0].start_s - 2.5).abs() < 1e-12 && (tasks[0].time_s - 10.0).abs() < 1e-12);
        // a second without progress, a third in three seconds, the rest in six
        let score = |age: f64| {
            if age < 1.0 {
                0.0
            } else if age < 4.0 {
                (age - 1.0) / 9.0
            } else {
                (1.0 + (age - 4.0) / 3.0) / 3.0
            }
        };
        assert_eq!(tasks[0].samples.len(), 10);
        for &(age, seen) in &tasks[0].samples {
            assert!((seen - score(age)).abs() < 1e-9, "{seen} at {age}");
        }
        assert_eq!(record_progress(&plan, 1, 1.0, Category::Map).unwrap()[0].samples.len(), 2);
    }
}
