//! The time of a run: a list schedule of its tasks. A free executor takes a task of the first stage in order whose parents are done.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The place of a task in the work of its executor.
pub(crate) const WAVES: usize = 3;

/// The tasks of a run, and the order of its stages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work<'p> {
    /// Durations \[s\] by stage and wave: the first task of an executor, its first of the stage, the rest.
    pub(crate) tasks: Vec<[Vec<f64>; WAVES]>,
    /// The parents of each stage.
    pub(crate) parents: &'p [Vec<usize>],
}

/// A time that orders events.
#[derive(Clone, Copy, Debug, PartialEq)]
struct At(f64);

impl Eq for At {}

impl PartialOrd for At {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for At {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Returns the time of the run \[s\].
///
/// An executor takes a task of the wave that fits it, or of the next one that has tasks. Executors that became free first choose first.
pub(crate) fn makespan(work: &Work<'_>, executors: usize) -> f64 {
    let stages = work.tasks.len();
    let parents = |stage: usize| work.parents.get(stage).map_or(&[][..], Vec::as_slice);
    let mut next = vec![[0; WAVES]; stages];
    let mut pending: Vec<usize> = work.tasks.iter().map(|waves| waves.iter().map(Vec::len).sum()).collect();
    let mut running = vec![0; stages];
    let mut left: Vec<usize> = (0..stages).map(|stage| parents(stage).len()).collect();
    let mut is_done = vec![false; stages];
    let mut last = vec![usize::MAX; executors];
    let mut free: BinaryHeap<Reverse<(At, usize)>> =
        (0..executors).map(|executor| Reverse((At(0.0), executor))).collect();
    let mut ends: BinaryHeap<Reverse<(At, usize, usize)>> = BinaryHeap::new();
    let mut now = 0.0;
    loop {
        // stages without tasks end at once
        while let Some(stage) =
            (0..stages).find(|&stage| !is_done[stage] && left[stage] == 0 && pending[stage] == 0 && running[stage] == 0)
        {
            is_done[stage] = true;
            (0..stages)
                .for_each(|child| left[child] -= parents(child).iter().filter(|&&parent| parent == stage).count());
        }
        let ready = (0..stages).find(|&stage| left[stage] == 0 && pending[stage] > 0);
        if let Some(stage) = ready
            && let Some(Reverse((_, executor))) = free.pop()
        {
            let order = match last[executor] {
                usize::MAX => [0, 1, 2],
                other if other != stage => [1, 0, 2],
                _ => [2, 1, 0],
            };
            let has = |wave: &usize| next[stage][*wave] < work.tasks[stage][*wave].len();
            let Some(wave) = order.into_iter().find(has) else { break };
            let end = now + work.tasks[stage][wave][next[stage][wave]];
            next[stage][wave] += 1;
            pending[stage] -= 1;
            running[stage] += 1;
            last[executor] = stage;
            ends.push(Reverse((At(end), stage, executor)));
            continue;
        }
        let Some(Reverse((At(end), stage, executor))) = ends.pop() else { break };
        now = end;
        running[stage] -= 1;
        free.push(Reverse((At(now), executor)));
    }
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work<'p>(rest: &[&[f64]], parents: &'p [Vec<usize>]) -> Work<'p> {
        let tasks = rest.iter().map(|stage| [Vec::new(), Vec::new(), stage.to_vec()]).collect();
        Work { tasks, parents }
    }

    #[test]
    fn schedules_by_hand() {
        // two executors: 3 and 2, then 2 on the one that is free at 2; then the child
        let parents = vec![vec![], vec![0]];
        assert_eq!(makespan(&work(&[&[3.0, 2.0, 2.0], &[1.0]], &parents), 2), 5.0);
        assert_eq!(makespan(&work(&[&[3.0, 2.0, 2.0], &[1.0]], &parents), 1), 8.0);
        // a stage without tasks does not hold up its children
        let parents = vec![vec![], vec![0], vec![1]];
        assert_eq!(makespan(&work(&[&[1.0], &[], &[2.0]], &parents), 4), 3.0);
        assert_eq!(makespan(&work(&[], &[]), 4), 0.0);
    }

    #[test]
    fn the_first_task_of_an_executor_is_taken_from_its_own_wave() {
        let tasks = vec![[vec![5.0], vec![2.0], vec![1.0, 1.0]], [vec![9.0], vec![3.0], vec![1.0]]];
        let parents = vec![vec![], vec![0]];
        // one executor: fresh 5, rest 1 and 1, then the task of the first wave that is left; the next stage begins with its first wave
        assert_eq!(makespan(&Work { tasks, parents: &parents }, 1), 5.0 + 1.0 + 1.0 + 2.0 + 3.0 + 1.0 + 9.0);
    }
}
