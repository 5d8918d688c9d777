//! The time by which a job would have been shorter if some of its tasks had taken a typical time. To compute it, this
//! module follows the stages that the job's end waited for, and the slots in each stage.
//!
//! ```text
//! excess = end − first launch − median of the stage, if above 0
//! shift  = sum of the excess of the tasks in question, of a task and of those before it in its slot
//! gain   = end of the stage − max (end − shift) over its tasks
//! ```
//!
//! Tasks stay in their slots, and a stage ends no earlier than other stages that ran with it. So the gain is
//! conservative: Spark would also have spread the tasks better.

use std::collections::BTreeMap;

use tailspn_common::order::quantile;

use crate::diagnose::causes::naming::stage_name;
use crate::trace::{Attempt, JobTrace, Stage, StageId, StageKind};

/// Spark can launch the next task of a slot this long before it records the end of the previous task \[s\].
const OVERLAP: f64 = 0.02;
/// If the log does not state dependencies, a stage waited for another stage only if the other stage ended at most
/// this long before its start \[s\].
const AFTER: f64 = 0.1;

/// A task of a stage that the job's end waited for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PathTask {
    /// The task's number in its stage.
    pub(super) task: u64,
    /// The node of its first attempt, as a number.
    pub(super) node: Option<usize>,
    /// Time at which the first of its attempts succeeded \[s\].
    end: f64,
    /// Time above the median of the stage \[s\].
    excess: f64,
    /// Position of the previous task in the same slot.
    before: Option<usize>,
}

/// A stage that the job's end waited for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PathStage {
    /// Name in findings.
    pub(super) stage: String,
    /// Tasks, in the order of their launch.
    tasks: Vec<PathTask>,
    /// Time at which the last task ended \[s\].
    end: f64,
    /// Latest end of the stages that this stage waited for or ran with \[s\]: this stage cannot end earlier.
    floor: f64,
}

/// The stages that the end of a job waited for, the last stage first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Path {
    stages: Vec<PathStage>,
    nodes: Vec<String>,
}

/// First launch and last end of a stage's tasks \[s\].
#[derive(Clone, Copy)]
struct Window {
    id: StageId,
    from: f64,
    to: f64,
}

impl Path {
    /// Returns the path of a log of one application; empty if there are several, or if no task succeeded.
    pub(super) fn of(trace: &JobTrace) -> Self {
        if trace.applications.len() > 1 {
            return Self::default();
        }
        let windows: Vec<Window> = trace.stages_with_ids().filter_map(|(id, _)| window(trace, id)).collect();
        let mut next = windows.iter().copied().max_by(|a, b| a.to.total_cmp(&b.to));
        let mut stages = Vec::new();
        while let Some(own) = next {
            let before = waited_for(trace, &windows, own);
            stages.push(path_stage(trace, &windows, own, before));
            next = before;
        }
        Self { stages, nodes: trace.nodes.iter().map(|node| node.name.clone()).collect() }
    }

    /// Returns the name of a task's node.
    pub(super) fn node_of(&self, task: &PathTask) -> Option<&str> {
        task.node.and_then(|node| self.nodes.get(node)).map(String::as_str)
    }

    /// Returns true if there are no stages, as for a log of several applications.
    pub(super) fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// Returns the reduction of the job time if each task had been shorter by `less`, but no shorter than a typical
    /// task \[s\].
    pub(super) fn gain(&self, less: impl Fn(&PathStage, &PathTask) -> f64) -> f64 {
        self.shorter_by(|stage, task| less(stage, task).min(task.excess))
    }

    /// Returns the reduction of the job time if each task had been shorter by `less` \[s\].
    pub(super) fn shorter_by(&self, less: impl Fn(&PathStage, &PathTask) -> f64) -> f64 {
        let of_stage = |stage: &PathStage| {
            let mut shifts: Vec<f64> = Vec::with_capacity(stage.tasks.len());
            let mut end = stage.floor;
            for task in &stage.tasks {
                let shift = less(stage, task) + task.before.map_or(0.0, |before| shifts[before]);
                shifts.push(shift);
                end = end.max(task.end - shift);
            }
            (stage.end - end).max(0.0)
        };
        self.stages.iter().map(of_stage).sum()
    }
}

/// Returns the attempt that completed a task first.
fn winner(task: &[Attempt]) -> Option<&Attempt> {
    let done = task.iter().filter(|attempt| attempt.succeeded() && attempt.duration().is_some());
    done.min_by_key(|attempt| attempt.finish())
}

fn window(trace: &JobTrace, id: StageId) -> Option<Window> {
    let winners = || trace.tasks_of(id).filter_map(winner);
    let from = winners().filter_map(Attempt::launch).min()?.seconds();
    Some(Window { id, from, to: winners().filter_map(Attempt::finish).max()?.seconds() })
}

/// Returns the stage whose end a stage waited for: the parent that ended last, otherwise the last stage that ended
/// before the stage started.
fn waited_for(trace: &JobTrace, windows: &[Window], own: Window) -> Option<Window> {
    let stage = trace.stage(own.id)?;
    let parents = stage.parents.as_deref().unwrap_or(&[]);
    let is_parent = |other: &Stage| {
        parents.contains(&other.number) || stage.kind == StageKind::Reduce && other.kind == StageKind::Map
    };
    let last =
        |wanted: &dyn Fn(&Window) -> bool| windows.iter().copied().filter(wanted).max_by(|a, b| a.to.total_cmp(&b.to));
    let ended = |other: &Window| other.to < own.to && other.from < own.from;
    last(&|other| ended(other) && trace.stage(other.id).is_some_and(is_parent))
        .or_else(|| last(&|other| ended(other) && other.to <= own.from + AFTER))
}

/// A completed task: the attempt that completed it first, and the attempt that was launched first.
struct Done<'t> {
    winner: &'t Attempt,
    first: &'t Attempt,
    launch: f64,
    end: f64,
    /// Time from the first launch to the end \[s\].
    whole: f64,
}

fn done<'t>(task: &'t [Attempt]) -> Option<Done<'t>> {
    let winner = winner(task)?;
    let first = task.iter().filter(|attempt| attempt.launch().is_some()).min_by_key(|attempt| attempt.launch())?;
    let (launch, end) = (winner.launch()?.seconds(), winner.finish()?.seconds());
    Some(Done { winner, first, launch, end, whole: end - first.launch()?.seconds() })
}

fn path_stage(trace: &JobTrace, windows: &[Window], own: Window, before: Option<Window>) -> PathStage {
    let mut tasks: Vec<Done<'_>> = trace.tasks_of(own.id).filter_map(done).collect();
    tasks.sort_by(|a, b| a.launch.total_cmp(&b.launch));
    let mut times: Vec<f64> = tasks.iter().map(|task| task.end - task.launch).collect();
    times.sort_unstable_by(f64::total_cmp);
    let median = quantile(&times, 0.5).unwrap_or(0.0);
    let beside = windows.iter().filter(|other| other.id != own.id && other.to < own.to).map(|other| other.to);
    let floor = beside.fold(before.map_or(own.from, |before| before.to), f64::max);
    let tasks = tasks.iter().zip(slots(&tasks)).map(|(task, before)| PathTask {
        task: u64::from(task.winner.task),
        node: task.first.node.map(|node| node.index()),
        end: task.end,
        excess: (task.whole - median).max(0.0),
        before,
    });
    PathStage { stage: stage_name(trace, own.id), tasks: tasks.collect(), end: own.to, floor: floor.min(own.to) }
}

/// Returns the previous task in the slot of each task, by position. A task takes the slot that became free last among
/// the free slots of its executor.
fn slots(tasks: &[Done<'_>]) -> Vec<Option<usize>> {
    let mut slots: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    let mut before = Vec::with_capacity(tasks.len());
    for (i, task) in tasks.iter().enumerate() {
        let slots = slots.entry((task.winner.executor, task.winner.node)).or_default();
        let free = slots.iter_mut().filter(|last| tasks[**last].end <= task.launch + OVERLAP);
        match free.max_by(|a, b| tasks[**a].end.total_cmp(&tasks[**b].end)) {
            Some(last) => before.push(Some(std::mem::replace(last, i))),
            None => {
                slots.push(i);
                before.push(None);
            }
        }
    }
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(task: u64, end: f64, excess: f64, before: Option<usize>) -> PathTask {
        PathTask { task, node: Some(task as usize % 2), end, excess, before }
    }

    /// Two slots, usual time 10 s: the tasks of the first slot end at 10 s and 32 s (12 s too long), the tasks of the
    /// second slot at 15 s (5 s too long) and 25 s.
    fn path(floor: f64) -> Path {
        let tasks = vec![
            task(0, 10.0, 0.0, None),
            task(1, 15.0, 5.0, None),
            task(2, 32.0, 12.0, Some(0)),
            task(3, 25.0, 0.0, Some(1)),
        ];
        let stage = PathStage { stage: "1".to_owned(), tasks, end: 32.0, floor };
        Path { stages: vec![stage], nodes: Vec::new() }
    }

    #[test]
    fn a_stage_ends_when_its_last_slot_does() {
        let gain = |wanted: &[u64]| path(0.0).gain(|_, task| if wanted.contains(&task.task) { 99.0 } else { 0.0 });
        // the other slot ends at 25, or at 20 without its slow task
        assert_eq!((gain(&[2]), gain(&[1]), gain(&[1, 2]), gain(&[])), (7.0, 0.0, 12.0, 0.0));
    }

    #[test]
    fn a_stage_ends_no_earlier_than_what_ran_beside_it() {
        assert_eq!(path(30.0).gain(|_, _| 99.0), 2.0);
    }
}
