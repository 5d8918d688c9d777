//! A list schedule: the tasks of a job in the order of their launch, each on the slot that is free first. What a cause
//! cost is the difference of two schedules of the same tasks, with their recorded times and without the cause.
//!
//! ```text
//! release = latest end of the stages that a stage waits for + gap of the stage
//! start   = max (release + delay, end of the task before it in the slot + pause)
//! end     = max (start, end of the stage that its work waits for) + time
//! ```
//!
//! Times are whole microseconds. This file knows no log: `recorded` builds the list from a trace.

use std::collections::{BTreeMap, BTreeSet};

/// A stage of the schedule.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ListedStage {
    /// Positions of the stages that must have ended before the first task starts.
    pub(super) waits_for: Vec<usize>,
    /// Time from the latest of these ends to the release; without such stages, the release itself \[µs\].
    pub(super) gap: i64,
    /// Earliest release, for a stage that also waits for a trigger \[µs\].
    pub(super) not_before: Option<i64>,
}

/// Another attempt of the same task that an attempt depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// A copy starts this long after the start of the attempt at this position \[µs\].
    Start(usize, i64),
    /// A retry starts this long after the end of the attempt at this position \[µs\].
    End(usize, i64),
    /// A copy starts at least this long after the start of the attempt at this position \[µs\], on a slot of another
    /// node. It does not start if its original has ended by then. The first of the two to end stops the other one and
    /// completes the task.
    Race(usize, i64),
}

/// An attempt in a schedule, with the position of its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) start: i64,
    pub(super) end: i64,
    slot: usize,
}

/// An attempt of the schedule, called a task here.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ListedTask {
    /// Position of its stage.
    pub(super) stage: usize,
    /// Group of slots that can run it.
    pub(super) pool: usize,
    /// Recorded time of its work \[µs\].
    pub(super) time: i64,
    /// Time from the release of the stage to the launch on a free slot \[µs\].
    pub(super) delay: i64,
    /// Time from the end of the task before it in the slot to the launch; negative if Spark launched it earlier \[µs\].
    pub(super) pause: i64,
    /// Another attempt of the task that this attempt depends on.
    pub(super) after: Option<After>,
    /// Position of a stage whose end the work waits for, while the task already holds a slot.
    pub(super) works_after: Option<usize>,
    /// True if the attempt completed its task.
    pub(super) completes: bool,
}

/// A slot of the schedule.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ListedSlot {
    /// Group of slots.
    pub(super) pool: usize,
    /// Node, as a number.
    pub(super) node: Option<usize>,
    /// Time from which the slot runs tasks \[µs\].
    pub(super) from: i64,
    /// Time from which the slot starts no task \[µs\].
    pub(super) until: Option<i64>,
}

/// Tasks in the order of their launch, with their stages and slots.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Schedule {
    pub(super) stages: Vec<ListedStage>,
    pub(super) tasks: Vec<ListedTask>,
    pub(super) slots: Vec<ListedSlot>,
}

/// The slots of a group: the time from which each is free, with its position.
type Free = BTreeSet<(i64, usize)>;

impl Schedule {
    /// Returns the recorded times of the tasks.
    pub(super) fn recorded(&self) -> Vec<Option<i64>> {
        self.tasks.iter().map(|task| Some(task.time)).collect()
    }

    /// Returns the end of the last stage, for the given times of the tasks \[µs\]. A task without a time does not run.
    /// The slots of the closed nodes are left out. None if no slot is left for a task.
    pub(super) fn end(&self, times: &[Option<i64>], closed: &BTreeSet<usize>) -> Option<i64> {
        self.end_in(0..self.tasks.len(), times, closed)
    }

    /// Returns the same for tasks in another order, given by their positions.
    pub(super) fn end_in(
        &self,
        order: impl Iterator<Item = usize>,
        times: &[Option<i64>],
        closed: &BTreeSet<usize>,
    ) -> Option<i64> {
        self.last_end(&self.runs_in(order, times, closed)?)
    }

    /// Returns the end of the last completed task \[µs\]. A copy that does not start leaves the end of its original.
    pub(super) fn last_end(&self, runs: &[Option<Run>]) -> Option<i64> {
        let end = |(task, run): (&ListedTask, &Option<Run>)| match (run, task.after) {
            (None, Some(After::Race(original, _))) => Some(runs[original]?.end),
            (run, _) => Some((*run)?.end),
        };
        self.tasks.iter().zip(runs).filter(|(task, _)| task.completes).filter_map(end).max()
    }

    /// Returns the attempts in the schedule, for tasks in an order given by their positions. None for an attempt that
    /// does not run, and none at all if no slot is left for a task. Copies that race come after their originals.
    pub(super) fn runs_in(
        &self,
        order: impl Iterator<Item = usize>,
        times: &[Option<i64>],
        closed: &BTreeSet<usize>,
    ) -> Option<Vec<Option<Run>>> {
        let mut free = self.free(closed);
        let mut releases: Vec<Option<i64>> = vec![None; self.stages.len()];
        let mut ends: Vec<Option<i64>> = vec![None; self.stages.len()];
        let mut runs: Vec<Option<Run>> = vec![None; self.tasks.len()];
        for i in order {
            let (task, Some(time)) = (&self.tasks[i], times[i]) else { continue };
            let slots = free.get_mut(&task.pool)?;
            let end = if let Some(After::Race(original, delay)) = task.after {
                let Some(first) = runs[original] else { continue };
                runs[i] = self.race(slots, first, (first.start + delay, time));
                let end = runs[i].map_or(first.end, |run| run.end);
                runs[original] = Some(Run { end, ..first });
                end
            } else {
                let release = *releases[task.stage].get_or_insert_with(|| self.stages[task.stage].release(&ends));
                let earliest = (release + task.delay).max(task.after.map_or(release, |after| after.earliest(&runs)));
                let (slot, start) = self.take(slots, earliest, task.pause)?;
                let ready = task.works_after.and_then(|stage| ends[stage]);
                let end = ready.map_or(start, |ready| ready.max(start)) + time;
                slots.insert((end, slot));
                runs[i] = Some(Run { start, end, slot });
                end
            };
            if task.completes {
                let last = ends[task.stage].get_or_insert(end);
                *last = end.max(*last);
            }
        }
        Some(runs)
    }

    /// Starts a copy on a slot of another node and ends the slower of both attempts; none if no such slot is free before
    /// the original ends. The copy is given by its earliest start and its time.
    fn race(&self, free: &mut Free, first: Run, (earliest, time): (i64, i64)) -> Option<Run> {
        let node = self.slots[first.slot].node;
        let is_open = |&&(at, slot): &&(i64, usize)| {
            let own = &self.slots[slot];
            let is_elsewhere = node.is_none() || own.node != node;
            is_elsewhere && own.until.is_none_or(|until| earliest.max(at) < until)
        };
        let idle = free.range(..=(earliest, usize::MAX)).rev().find(is_open);
        let &(at, slot) = idle.or_else(|| free.iter().find(is_open))?;
        let start = earliest.max(at);
        if start >= first.end {
            return None;
        }
        let end = first.end.min(start + time);
        free.remove(&(at, slot));
        free.insert((end, slot));
        // the original gives up its slot, unless a later task already has it
        if free.remove(&(first.end, first.slot)) {
            free.insert((end, first.slot));
        }
        Some(Run { start, end, slot })
    }

    fn free(&self, closed: &BTreeSet<usize>) -> BTreeMap<usize, Free> {
        let mut free: BTreeMap<usize, Free> = BTreeMap::new();
        let is_open = |slot: &ListedSlot| slot.node.is_none_or(|node| !closed.contains(&node));
        for (i, slot) in self.slots.iter().enumerate().filter(|(_, slot)| is_open(slot)) {
            free.entry(slot.pool).or_default().insert((slot.from, i));
        }
        free
    }

    /// Takes the slot on which a task starts first; of several, the slot that became free last, so that the slots that
    /// have been free for longer remain for tasks that are ready earlier. Returns the slot and the start.
    fn take(&self, free: &mut Free, earliest: i64, pause: i64) -> Option<(usize, i64)> {
        loop {
            let idle = free.range(..=(earliest - pause, usize::MAX)).next_back();
            let (at, slot) = *idle.or_else(|| free.first())?;
            free.remove(&(at, slot));
            let start = earliest.max(at + pause);
            // a removed executor starts no task; the last slot stays, so that every task runs
            if free.is_empty() || self.slots[slot].until.is_none_or(|until| start < until) {
                return Some((slot, start));
            }
        }
    }
}

impl After {
    /// Returns the earliest start of the attempt.
    fn earliest(self, runs: &[Option<Run>]) -> i64 {
        match self {
            Self::Start(other, delay) | Self::Race(other, delay) => runs[other].map_or(0, |run| run.start) + delay,
            Self::End(other, delay) => runs[other].map_or(0, |run| run.end) + delay,
        }
    }
}

impl ListedStage {
    fn release(&self, ends: &[Option<i64>]) -> i64 {
        let last = self.waits_for.iter().filter_map(|&stage| ends[stage]).max();
        let release = last.unwrap_or(0) + self.gap;
        self.not_before.map_or(release, |earliest| release.max(earliest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks(stage: usize, times: &[i64]) -> Vec<ListedTask> {
        let task = |&time: &i64| ListedTask { stage, time, completes: true, ..ListedTask::default() };
        times.iter().map(task).collect()
    }

    fn slots(nodes: &[usize]) -> Vec<ListedSlot> {
        nodes.iter().map(|&node| ListedSlot { pool: 0, node: Some(node), from: 0, until: None }).collect()
    }

    /// A copy that finds no slot leaves the end of its original.
    #[test]
    fn a_copy_that_never_starts_changes_nothing() {
        let original = ListedTask { time: 10, completes: false, ..ListedTask::default() };
        let copy = ListedTask { time: 3, completes: true, after: Some(After::Race(0, 5)), ..ListedTask::default() };
        let schedule = Schedule { tasks: vec![original, copy], ..Schedule::default() };
        let run = |start, end| Some(Run { start, end, slot: 0 });
        assert_eq!(schedule.last_end(&[run(0, 10), None]), Some(10));
        assert_eq!(schedule.last_end(&[run(0, 8), run(5, 8)]), Some(8));
    }

    fn end(schedule: &Schedule) -> Option<i64> {
        schedule.end(&schedule.recorded(), &BTreeSet::new())
    }

    /// Two slots. The tasks of 2, 9, 3, 3 and 2 s end at 2, 9, 5, 8 and 10 s; with 3 s instead of 9 s, the tasks end at
    /// 2, 3, 5, 6 and 7 s. Tasks that keep their slots would end at 8 s, so the gain would be only 2 s.
    #[test]
    fn without_the_long_task_the_others_take_other_slots() {
        let all =
            Schedule { stages: vec![ListedStage::default()], tasks: tasks(0, &[2, 9, 3, 3, 2]), slots: slots(&[0, 1]) };
        assert_eq!(end(&all), Some(10));
        let mut times = all.recorded();
        times[1] = Some(3);
        assert_eq!(all.end(&times, &BTreeSet::new()), Some(7));
        times[1] = None;
        assert_eq!(all.end(&times, &BTreeSet::new()), Some(5), "2, 3, 5 and 5 s");
    }

    /// One of two nodes with a slot each is closed: 4 tasks of 5 s take 20 s instead of 10 s; without slots there is no
    /// schedule.
    #[test]
    fn closed_nodes_run_nothing() {
        let all = Schedule { stages: vec![ListedStage::default()], tasks: tasks(0, &[5; 4]), slots: slots(&[0, 1]) };
        assert_eq!(end(&all), Some(10));
        assert_eq!(all.end(&all.recorded(), &BTreeSet::from([1])), Some(20));
        assert_eq!(all.end(&all.recorded(), &BTreeSet::from([0, 1])), None);
    }

    /// On two slots, tasks of 9, 2 and 2 s end at 9 s, and at 11 s if the long one is the last.
    #[test]
    fn the_order_of_launches_counts() {
        let all = Schedule { stages: vec![ListedStage::default()], tasks: tasks(0, &[9, 2, 2]), slots: slots(&[0, 1]) };
        let end_in = |order: [usize; 3]| all.end_in(order.into_iter(), &all.recorded(), &BTreeSet::new());
        assert_eq!((end(&all), end_in([1, 2, 0])), (Some(9), Some(11)));
    }

    /// The second stage starts 4 s after the first one, which ends at 6 s; its trigger is at 15 s or 8 s.
    #[test]
    fn stages_wait_for_stages_gaps_and_triggers() {
        let second = |not_before| ListedStage { waits_for: vec![0], gap: 4, not_before };
        let all = |not_before| Schedule {
            stages: vec![ListedStage { gap: 1, ..ListedStage::default() }, second(not_before)],
            tasks: [tasks(0, &[5]), tasks(1, &[7])].concat(),
            slots: slots(&[0]),
        };
        assert_eq!([None, Some(15), Some(8)].map(|trigger| end(&all(trigger))), [Some(17), Some(22), Some(17)]);
    }

    /// Slot 0 is free from 0 s until it is removed at 3 s, slot 1 from 10 s. The tasks of 2, 2 and 2 s start at 0, 2 and
    /// 10 s. If the first task takes 4 s, the second one must wait for slot 1.
    #[test]
    fn tasks_wait_for_slots_that_exist() {
        let mut slots = slots(&[0, 1]);
        (slots[0].until, slots[1].from) = (Some(3), 10);
        let all = Schedule { stages: vec![ListedStage::default()], tasks: tasks(0, &[2; 3]), slots };
        assert_eq!(end(&all), Some(12));
        assert_eq!(all.end(&[Some(4), Some(2), Some(2)], &BTreeSet::new()), Some(14));
    }

    /// A copy starts 6 s after its original and completes the task after 2 s; a retry starts 1 s after the end of its
    /// failed attempt.
    #[test]
    fn copies_and_retries_follow_their_tasks() {
        let mut all = tasks(0, &[9, 2]);
        all[0].completes = false;
        let of = |after| {
            let mut tasks = all.clone();
            tasks[1].after = Some(after);
            Schedule { stages: vec![ListedStage::default()], tasks, slots: slots(&[0, 0]) }
        };
        assert_eq!(end(&of(After::Start(0, 6))), Some(8));
        assert_eq!(end(&of(After::End(0, 1))), Some(12));
    }

    /// An original of 20 s on node 0 and its copy, which can start after 6 s and takes 5 or 20 s. On a free slot of node 1
    /// the copy completes the task after 11 s, or is stopped after 20 s. It waits for a slot that is busy until 8 s, does
    /// not start on one that is busy until 20 s, and never on the node of its original.
    #[test]
    fn the_first_of_two_attempts_that_race_ends_both() {
        let run = |busy: i64, time: i64, nodes: [usize; 2]| {
            let mut list = tasks(0, &[20, busy, time]);
            list[0].completes = false;
            list[2].after = Some(After::Race(0, 6));
            let list = [list, tasks(1, &[1, 1])].concat();
            let second = ListedStage { waits_for: vec![0], ..ListedStage::default() };
            let all = Schedule { stages: vec![ListedStage::default(), second], tasks: list, slots: slots(&nodes) };
            let runs = all.runs_in(0..5, &all.recorded(), &BTreeSet::new()).unwrap();
            // both slots are free once the task is completed
            assert_eq!(runs[3].map(|run| run.start), runs[4].map(|run| run.start));
            (runs[2].map(|run| [run.start, run.end]), all.last_end(&runs))
        };
        assert_eq!(run(2, 5, [1, 0]), (Some([6, 11]), Some(12)));
        assert_eq!(run(8, 5, [1, 0]), (Some([8, 13]), Some(14)));
        assert_eq!(run(2, 20, [1, 0]), (Some([6, 20]), Some(21)));
        assert_eq!(run(20, 5, [1, 0]), (None, Some(21)));
        assert_eq!(run(2, 5, [0, 0]), (None, Some(21)));
    }

    /// A task starts a second after its predecessor in the slot, and another one 3 s after the release although its slot
    /// is free. A reduce task that holds a slot from 0 s works for 2 s after the maps, which end at 5 s.
    #[test]
    fn pauses_delays_and_awaited_tasks_postpone_the_end() {
        let mut list = tasks(0, &[2, 2]);
        list[1].pause = 1;
        let one = Schedule { stages: vec![ListedStage::default()], tasks: list.clone(), slots: slots(&[0]) };
        assert_eq!(end(&one), Some(5));
        list[1] = ListedTask { delay: 3, pause: 0, ..list[1].clone() };
        let two = Schedule { stages: vec![ListedStage::default()], tasks: list, slots: slots(&[0, 0]) };
        assert_eq!(end(&two), Some(5));
        let mut list = [tasks(0, &[5]), tasks(1, &[2])].concat();
        list[1].works_after = Some(0);
        let three = Schedule { stages: vec![ListedStage::default(); 2], tasks: list, slots: slots(&[0, 0]) };
        assert_eq!(end(&three), Some(7));
    }
}
