//! Numbers of tasks of each stage, and how they and the data of a task grow with the size of the input.

use tailspn_common::order::median;

use crate::tasks::cluster::{Cluster, FREE_KNOTS, Growth, KNOTS};
use crate::tasks::recorded::{RecordedTasks, Run};
use crate::tasks::schedule::WAVES;

/// Share of the growth of the input from which a number of tasks counts as growing.
const GROWS: f64 = 0.4;
/// Factor of data per task from which tasks and their data both grow.
const BOTH: f64 = 2.2;
/// Share of the time of a usual block by which the tasks of a stage must grow so that their data grow.
const MORE: f64 = 0.25;
/// Time of a block of input, without any that was seen \[ms\].
const BLOCK: f64 = 1900.0;

/// The stages of the recorded runs.
#[derive(Clone, Debug)]
pub(crate) struct Stages {
    /// The sizes that were recorded, ascending.
    pub(crate) sizes: Vec<f64>,
    /// Number of tasks by size and stage.
    counts: Vec<Vec<usize>>,
    /// The parents of each stage, at the largest size.
    pub(crate) parents: Vec<Vec<usize>>,
    /// The size to which amounts of data are relative.
    pub(crate) reference: f64,
    /// The same \[MB\]; none if the table states no unit.
    pub(crate) reference_mb: Option<f64>,
    /// True for stages whose number of tasks grows.
    grows: Vec<bool>,
    /// Growth of each stage.
    pub(crate) growth: Vec<Growth>,
    /// Typical time of a task that reads a block \[ms\].
    block_ms: f64,
    /// Share of the executors that take part in a stage.
    part: Vec<f64>,
    /// True if the table distinguishes first tasks.
    has_waves: bool,
}

/// The causes of the time of tasks, at one size and number of executors.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    /// Number of tasks of each stage.
    pub(crate) tasks: Vec<usize>,
    /// Data of a task relative to the reference.
    pub(crate) data: Vec<f64>,
    /// Tasks after the first of each executor, by executor.
    pub(crate) later: Vec<f64>,
    /// Share of executors for which the program is new.
    pub(crate) cold: Vec<f64>,
    /// Weight of each knot of the contention.
    pub(crate) knots: Vec<[f64; FREE_KNOTS]>,
}

/// Returns the weights of the knots at a number of executors.
fn weights(executors: f64) -> [f64; FREE_KNOTS] {
    let mut all = [0.0; KNOTS.len()];
    let right = KNOTS.partition_point(|knot| *knot < executors).clamp(1, FREE_KNOTS);
    let [a, b] = [KNOTS[right - 1], KNOTS[right]].map(f64::ln);
    let share = ((executors.ln() - a) / (b - a)).max(0.0);
    (all[right - 1], all[right]) = (1.0 - share, share);
    std::array::from_fn(|knot| all[knot + 1])
}

/// Returns the mean time of the tasks of a wave \[ms\].
fn mean_ms(recorded: &RecordedTasks, run: Run, stage: usize, wave: usize) -> Option<f64> {
    recorded.cells.get(&(run, stage, wave)).map(|tasks| 1000.0 * tasks.iter().sum::<f64>() / tasks.len() as f64)
}

impl Stages {
    pub(crate) fn new(recorded: &RecordedTasks, cluster: &Cluster) -> Self {
        let places: Vec<usize> =
            (0..recorded.sizes.len()).filter(|size| recorded.runs.iter().any(|run| run.0 == *size)).collect();
        let sizes: Vec<f64> = places.iter().map(|&place| recorded.sizes[place]).collect();
        let all = 0..recorded.stages;
        let tasks_of = |run: &Run, stage: usize| -> usize {
            (0..WAVES).filter_map(|wave| recorded.cells.get(&(*run, stage, wave))).map(Vec::len).sum()
        };
        let of_size = |place: usize| recorded.runs.iter().filter(move |run| run.0 == place);
        let count = |place: usize, stage: usize| {
            median(of_size(place).map(|run| tasks_of(run, stage) as f64)).unwrap_or(0.0) as usize
        };
        let counts: Vec<Vec<usize>> =
            places.iter().map(|&place| all.clone().map(|stage| count(place, stage)).collect()).collect();
        let parents = places.last().map_or_else(Vec::new, |&place| recorded.parents[place].clone());
        // sizes without a unit are not those of another table
        let known = cluster.reference.zip(recorded.size_mb).map(|(reference_mb, mb)| reference_mb / mb);
        let wanted = known.unwrap_or_else(|| sizes[sizes.len() / 2]);
        let far = |size: f64| (size / wanted).ln().abs();
        let at = (0..sizes.len()).min_by(|&a, &b| far(sizes[a]).total_cmp(&far(sizes[b]))).unwrap_or(0);
        let grows: Vec<bool> = all
            .clone()
            .map(|stage| {
                let (first, last) = (counts[0][stage], counts[counts.len() - 1][stage]);
                let factor = (sizes[sizes.len() - 1] / sizes[0]).ln();
                let more = (last.max(1) as f64 / first.max(1) as f64).ln();
                sizes.len() > 1 && last > first && more > GROWS * factor && last >= 3
            })
            .collect();
        let mut found = Self {
            reference: sizes[at],
            reference_mb: recorded.size_mb.map(|mb| mb * sizes[at]),
            parents,
            growth: vec![Growth::Shuffle; recorded.stages],
            block_ms: BLOCK,
            part: vec![1.0; recorded.stages],
            has_waves: recorded.cells.keys().any(|(.., wave)| *wave < WAVES - 1),
            sizes,
            counts,
            grows,
        };
        found.block_ms = median(found.read_ms(recorded)).unwrap_or(BLOCK);
        found.growth = all.clone().map(|stage| found.growth_of(stage, recorded, &places[..=at])).collect();
        found.part = all.map(|stage| found.part_of(stage, recorded, &places)).collect();
        found
    }

    /// Returns the mean times of tasks that read blocks of the input \[ms\].
    fn read_ms(&self, recorded: &RecordedTasks) -> Vec<f64> {
        let stages: Vec<usize> = (0..recorded.stages).filter(|&stage| self.grows[stage]).collect();
        recorded
            .runs
            .iter()
            .flat_map(|run| stages.iter().filter_map(|&stage| mean_ms(recorded, *run, stage, WAVES - 1)))
            .collect()
    }

    /// Returns the growth of a stage; `places` are the recorded sizes up to the reference.
    fn growth_of(&self, stage: usize, recorded: &RecordedTasks, places: &[usize]) -> Growth {
        if !self.parents[stage].is_empty() && !self.grows[stage] {
            return Growth::Shuffle;
        }
        if self.grows[stage] {
            let data = || (0..self.sizes.len()).map(|size| self.sizes[size] / self.counts[size][stage].max(1) as f64);
            let (least, most) = (data().fold(f64::INFINITY, f64::min), data().fold(0.0, f64::max));
            return if most / least > BOTH { Growth::Both } else { Growth::Tasks };
        }
        // time that a task would gain from no data to the reference
        let Some((&reference, smaller)) = places.split_last() else { return Growth::None };
        let sizes = &recorded.sizes;
        let slopes = recorded.runs.iter().filter(|run| run.0 == reference).flat_map(|&large| {
            let pairs = smaller.iter().flat_map(move |&small| (0..WAVES).map(move |wave| (small, wave)));
            pairs.filter_map(move |(small, wave)| {
                let other = (small, large.1, large.2);
                let [more, less] = [mean_ms(recorded, large, stage, wave)?, mean_ms(recorded, other, stage, wave)?];
                Some((more - less) / (sizes[reference] - sizes[small]) * sizes[reference])
            })
        });
        if median(slopes).unwrap_or(0.0) > MORE * self.block_ms { Growth::Both } else { Growth::None }
    }

    /// Returns the share of the executors that take part in a stage.
    fn part_of(&self, stage: usize, recorded: &RecordedTasks, places: &[usize]) -> f64 {
        let share = |run: &Run| {
            let executors = recorded.executors[run.1] as usize;
            let tasks = self.counts[places.iter().position(|place| *place == run.0)?][stage];
            let of_wave = |wave: &usize| recorded.cells.get(&(*run, stage, *wave)).map(Vec::len);
            let first: usize = [0, 1].iter().filter_map(of_wave).sum();
            (executors >= 5 && tasks >= 2 * executors && first > 0).then(|| first as f64 / executors as f64)
        };
        let shares: Vec<f64> = recorded.runs.iter().filter_map(share).collect();
        if shares.is_empty() { 1.0 } else { (shares.iter().sum::<f64>() + 2.0) / (shares.len() as f64 + 2.0) }
    }

    pub(crate) fn len(&self) -> usize {
        self.growth.len()
    }

    /// Returns true for a stage that reads the input.
    pub(crate) fn is_source(&self, stage: usize) -> bool {
        self.growth[stage] != Growth::Shuffle
    }

    /// Returns the number of tasks of a stage at the size to which data are relative, and at the largest recorded size.
    pub(crate) fn ends(&self, stage: usize) -> [usize; 2] {
        [self.count(self.reference, stage, 0.0), self.counts[self.counts.len() - 1][stage]]
    }

    /// Returns the number of tasks of a stage at a size; numbers that grow do so a little faster than the size by `excess`.
    fn count(&self, size: f64, stage: usize, excess: f64) -> usize {
        let right = self.sizes.partition_point(|own| *own < size);
        if self.sizes.get(right) == Some(&size) {
            return self.counts[right][stage];
        }
        let at = |place: usize| self.counts[place][stage] as f64;
        let last = self.sizes.len() - 1;
        if !self.grows[stage] {
            let far = |place: &usize| (self.sizes[*place] / size).ln().abs();
            let nearest = (0..=last).min_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or(last);
            return at(nearest) as usize;
        }
        if (1..=last).contains(&right) {
            let (a, b) = (self.sizes[right - 1], self.sizes[right]);
            return (at(right - 1) + (at(right) - at(right - 1)) * (size - a) / (b - a)).round().max(1.0) as usize;
        }
        let near = if right == 0 { 0 } else { last };
        let least = (0..=last).map(at).fold(f64::INFINITY, f64::min);
        (at(near) * (size / self.sizes[near]).powf(1.0 + excess)).round().max(least) as usize
    }

    /// Returns the numbers of tasks at a size; `time_ms` is the time of a task that grows with its data at the reference, if it is known.
    pub(crate) fn tasks(&self, size: f64, cluster: &Cluster, time_ms: Option<&dyn Fn(usize) -> f64>) -> Vec<usize> {
        let mut tasks: Vec<usize> = (0..self.len()).map(|stage| self.count(size, stage, cluster.excess)).collect();
        let Some(time_ms) = time_ms.filter(|_| !self.sizes.contains(&size)) else { return tasks };
        let blocks = (0..self.len()).filter(|&stage| self.growth[stage] == Growth::Tasks).map(time_ms);
        let block_ms = median(blocks).unwrap_or(self.block_ms) * cluster.block;
        // small inputs have the fewest tasks; larger ones are split into blocks
        let splits = |stage: usize| self.growth[stage] == Growth::Both && !self.grows[stage];
        for (stage, tasks) in tasks.iter_mut().enumerate().filter(|(stage, _)| splits(*stage)) {
            let all = *tasks as f64 * time_ms(stage) * size / self.reference / block_ms;
            *tasks = (*tasks).max(all.round() as usize);
        }
        tasks
    }

    /// Returns what the time of tasks depends on.
    pub(crate) fn setting(&self, size: f64, executors: f64, tasks: Vec<usize>) -> Setting {
        let n: Vec<f64> = tasks.iter().map(|&tasks| tasks as f64).collect();
        let own = |stage: usize| self.reference / (self.count(self.reference, stage, 0.0).max(1) as f64);
        let data = (0..self.len()).map(|stage| size / n[stage].max(1.0) / own(stage)).collect();
        let later = n.iter().map(|n| (n - n.min(executors)).max(1.0) / executors).collect();
        let sources: f64 = (0..self.len()).filter(|&stage| self.is_source(stage)).map(|stage| n[stage]).sum();
        let mut before = 0.0;
        let cold = |(stage, n): (usize, &f64)| {
            if !self.is_source(stage) {
                return (1.0 - sources / executors).max(0.0);
            }
            let cold = (-before / executors).exp();
            before += n;
            cold
        };
        let cold = n.iter().enumerate().map(cold).collect();
        // executors that the sources do not use load the machines less
        let shared = (executors * executors.min(sources.max(2.0))).sqrt();
        let knots =
            (0..self.len()).map(|stage| weights(if self.is_source(stage) { shared } else { executors })).collect();
        Setting { tasks, data, later, cold, knots }
    }

    /// Returns the number of tasks of each wave.
    pub(crate) fn waves(&self, tasks: &[usize], executors: usize) -> Vec<[usize; WAVES]> {
        if !self.has_waves {
            return tasks.iter().map(|&tasks| [0, 0, tasks]).collect();
        }
        let mut used = 0;
        let wave = |(stage, &tasks): (usize, &usize)| {
            let first = (tasks.min(executors) as f64 * self.part[stage]).round().max(1.0) as usize;
            let first = first.min(tasks);
            let fresh = first.min(executors.saturating_sub(used));
            used += fresh;
            [fresh, first - fresh, tasks - first]
        };
        tasks.iter().enumerate().map(wave).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contention_is_linear_between_its_knots() {
        assert_eq!(weights(1.0), [0.0; FREE_KNOTS]);
        assert_eq!(weights(5.0), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let half = weights((5.0_f64 * 10.0).sqrt());
        assert!((half[0] - 0.5).abs() < 1e-12 && (half[1] - 0.5).abs() < 1e-12);
        let beyond = weights(125.0);
        assert!((beyond[6] - 2.0).abs() < 1e-12 && (beyond[5] + 1.0).abs() < 1e-12, "{beyond:?}");
    }
}
