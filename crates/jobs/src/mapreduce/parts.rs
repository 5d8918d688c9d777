//! The phases of a plan, and the parts of a worker that each phase uses.
//!
//! With given means, a plan names what each phase uses. With a profile, the terms of the formulas tell: what is divided by a disk's rate uses the disk, what
//! is divided by the network's rate the network; copies in memory and CPU time use a core.

use crate::job::Uses;
use crate::mapreduce::params::{Locality, Node, Plan};
use crate::mapreduce::phase::Phase;
use crate::mapreduce::spn_gc;
use crate::mapreduce::task_times::task_means;
use crate::mapreduce::uses::Sharing;

/// Seconds of a phase by what they use: cores, disk, network, GPU, and the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Parts {
    pub(super) cores_s: f64,
    pub(super) disk_s: f64,
    pub(super) network_s: f64,
    pub(super) gpu_s: f64,
    pub(super) rest_s: f64,
}

impl Parts {
    fn sum_s(&self) -> f64 {
        self.cores_s + self.disk_s + self.network_s + self.gpu_s + self.rest_s
    }

    /// Returns the parts in the order in which a task goes through them, with what they use.
    pub(super) fn in_order(&self) -> [(Uses, f64); 5] {
        [
            (Uses::Nothing, self.rest_s),
            (Uses::Network, self.network_s),
            (Uses::Disk, self.disk_s),
            (Uses::Cores, self.cores_s),
            (Uses::Gpu, self.gpu_s),
        ]
    }

    /// Returns the parts of a phase that takes `whole_s`, of which these parts are known; what is missing uses nothing.
    fn of_whole(self, whole_s: f64) -> Self {
        Self { rest_s: self.rest_s + (whole_s - self.sum_s()).max(0.0), ..self }
    }
}

/// Returns the parts of a phase with mean `whole_s`, of a task on a kind of worker. A map has an input of `split_mb`, with the share `local` on
/// the local disk.
pub(super) fn parts(plan: &Plan, node: &Node, phase: Phase, whole_s: f64, (local, split_mb): (f64, f64)) -> Parts {
    if let Some(given) = &plan.phases {
        let all = Parts::default();
        return match given.uses.of(phase) {
            Uses::Nothing => Parts { rest_s: whole_s, ..all },
            Uses::Cores => Parts { cores_s: whole_s, ..all },
            Uses::Disk => Parts { disk_s: whole_s, ..all },
            Uses::Network => Parts { network_s: whole_s, ..all },
            Uses::Gpu => Parts { gpu_s: whole_s, ..all },
        };
    }
    let remote_mb = (1.0 - local) * split_mb;
    let spill_mb = spn_gc::spill_sizes(plan, split_mb).spill_mb();
    let [spills, merges] = [spn_gc::spill_count(plan, split_mb), spn_gc::merge_count(plan, split_mb)];
    let disk_per_mb = 1.0 / node.disk_read_mb_per_s + 1.0 / node.disk_write_mb_per_s;
    let none = Parts::default();
    match phase {
        // the first term is the disk of another worker
        Phase::Read => {
            Parts { network_s: remote_mb / node.network_mb_per_s, disk_s: remote_mb / node.disk_write_mb_per_s, ..none }
        }
        Phase::Map => {
            let disk_s = split_mb / node.disk_read_mb_per_s;
            Parts { disk_s, cores_s: (whole_s - disk_s).max(0.0), ..none }
        }
        Phase::ToGpu if plan.splits_phase_3() => none,
        Phase::ToGpu => {
            let disk_s = split_mb / node.disk_read_mb_per_s;
            let copy_s = spn_gc::copy_to_gpu_s(plan, node, split_mb);
            Parts { disk_s, cores_s: (whole_s - disk_s - copy_s).max(0.0), ..none }
        }
        Phase::ToHost => Parts {
            disk_s: split_mb / node.disk_write_mb_per_s,
            cores_s: split_mb / node.memory_write_mb_per_s,
            ..none
        },
        Phase::Spill => {
            let disk_s = spill_mb * (spills / node.disk_write_mb_per_s + merges * disk_per_mb);
            Parts { disk_s, cores_s: (whole_s - disk_s).max(0.0), ..none }
        }
        Phase::Merge | Phase::Reduce => of_reduce(plan, node, phase, whole_s),
        Phase::Gpu => Parts { gpu_s: whole_s, ..none },
        Phase::Load | Phase::Shuffle => none,
    }
    .of_whole(whole_s)
}

/// Returns the known parts of a phase of a reduce.
fn of_reduce(plan: &Plan, node: &Node, phase: Phase, whole_s: f64) -> Parts {
    let disk_per_mb = 1.0 / node.disk_read_mb_per_s + 1.0 / node.disk_write_mb_per_s;
    if phase == Phase::Merge {
        let size_mb = spn_gc::shuffled_mb(plan);
        let memory_per_mb = 1.0 / node.memory_read_mb_per_s + 1.0 / node.memory_write_mb_per_s;
        let merges = spn_gc::reduce_merges(plan);
        return Parts {
            disk_s: merges * size_mb * disk_per_mb,
            cores_s: (1.0 + merges) * size_mb * memory_per_mb,
            network_s: plan.framework.reduce_fetch_s,
            ..Parts::default()
        };
    }
    let disk_s = spn_gc::reduce_output_mb(plan) / node.disk_write_mb_per_s;
    let gpu_s = spn_gc::reduce_gpu_s(plan, node);
    Parts { disk_s, cores_s: (whole_s - disk_s - gpu_s).max(0.0), ..Parts::default() }
}

impl Plan {
    /// Returns true if no worker has a GPU.
    pub fn has_no_gpus(&self) -> bool {
        self.cluster.node.iter().all(|node| node.gpus == Some(0))
    }

    /// Returns true if maps wait for GPUs.
    pub fn waits_for_gpus(&self) -> bool {
        self.cluster.node.iter().any(|node| node.gpus.is_some_and(|gpus| gpus > 0))
    }

    /// Returns true if the map function is a phase of its own, apart from the copy to the GPU.
    pub(super) fn splits_phase_3(&self) -> bool {
        self.has_no_gpus() || self.waits_for_gpus()
    }

    /// Returns true if tasks on a worker share its cores, disk, network or GPUs.
    pub fn shares_workers(&self) -> bool {
        self.cluster.node.iter().any(Node::is_shared)
    }

    /// Returns true if only a simulation task by task runs the job as the plan states it: its tasks share what their worker has, wait for a GPU of their
    /// worker, or take the fastest free slot of workers that differ. Otherwise its net is exact, or the best there is.
    pub fn runs_by_task(&self) -> bool {
        let first_differs = self.first_phases().is_some();
        let waits = self.waits() || self.shares_workers() || self.waits_for_gpus() || first_differs;
        self.can_run_by_task() && self.needs_tasks() && waits
    }

    /// Returns true if the job runs task by task at some numbers of tasks and slots.
    pub fn needs_tasks(&self) -> bool {
        let first_differs = self.first_phases().is_some();
        self.shares_workers()
            || self.waits_for_gpus()
            || first_differs
            || (!self.has_equal_workers() && self.stragglers.is_none())
    }

    /// Returns true if a simulation task by task can run the job as the plan states it.
    pub fn can_run_by_task(&self) -> bool {
        let has_own_law = self.stragglers.as_ref().is_some_and(|stragglers| stragglers.distribution.is_some());
        self.model.slots && self.model.locality == Locality::Mean && self.speculation.is_none() && !has_own_law
    }

    /// Returns those of some phases that take time on some worker, of maps or of reduces; the plan has no problems.
    pub fn timed_phases(&self, phases: &[Phase]) -> Vec<Phase> {
        let means = task_means(self);
        let mean = |(maps, reduces): &([f64; 6], [f64; 2]), phase: Phase| {
            let of = |all: &[Phase], means: &[f64]| all.iter().position(|of| *of == phase).map(|at| means[at]);
            of(&Phase::OF_MAP, maps).or_else(|| of(&Phase::OF_REDUCE, reduces)).unwrap_or(0.0)
        };
        phases.iter().copied().filter(|phase| means.iter().any(|kind| mean(kind, *phase) > 0.0)).collect()
    }

    /// Returns the phases of a map task in this plan.
    ///
    /// ```
    /// use tailspn_jobs::mapreduce::{Phase, Plan};
    ///
    /// let plan = Plan::from_toml("[[cluster.node]]\ngpus = 0").unwrap();
    /// assert_eq!(plan.phases_of_map(), [Phase::Read, Phase::Map, Phase::Spill]);
    /// ```
    pub fn phases_of_map(&self) -> &'static [Phase] {
        if self.has_no_gpus() {
            &[Phase::Read, Phase::Map, Phase::Spill]
        } else if self.waits_for_gpus() {
            &Phase::OF_MAP
        } else {
            &[Phase::Read, Phase::ToGpu, Phase::Gpu, Phase::ToHost, Phase::Spill]
        }
    }

    /// Returns the phases of the job in this plan: the paper's nine, unless it states `gpus` or has no reduces.
    pub fn phases_of_job(&self) -> Vec<Phase> {
        let reduces: &[Phase] = if self.reduces() > 0 { &[Phase::Shuffle, Phase::Merge, Phase::Reduce] } else { &[] };
        [&[Phase::Load], self.phases_of_map(), reduces].concat()
    }
}

impl Node {
    /// Sets the number of GPUs of the worker; each GPU keeps its permits.
    pub fn set_gpus(&mut self, gpus: u64) {
        if let (Some(permits), Some(before @ 1..)) = (self.gpu_permits, self.gpus) {
            self.gpu_permits = Some(permits.saturating_mul(gpus).div_ceil(before));
        }
        self.gpus = Some(gpus);
    }

    /// Returns the number of GPUs of the worker, if more tasks may hold them at a time than there are GPUs.
    pub(super) fn shared_gpus(&self) -> Option<u64> {
        let gpus = self.gpus.filter(|gpus| *gpus > 0)?;
        self.gpu_permits.filter(|permits| *permits == 0 || *permits > gpus).map(|_| gpus)
    }

    /// Returns the number of tasks that may hold a GPU of the worker at a time; none if every task may.
    pub(super) fn permits(&self) -> Option<u64> {
        let gpus = self.gpus.filter(|gpus| *gpus > 0)?;
        self.gpu_permits.map_or(Some(gpus), |permits| (permits > 0).then_some(permits))
    }

    /// Returns true if the tasks on the worker share its cores, disk, network or GPUs.
    pub(super) fn is_shared(&self) -> bool {
        let slots = self.map_slots.max(self.reduce_slots) as f64;
        let shares = |sharing| sharing == Sharing::Shared;
        let shares_cores = self.host_cores.is_some_and(|cores| cores < slots);
        shares_cores || shares(self.disk) || shares(self.network) || self.shared_gpus().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    /// The parts of each phase sum to its mean, so that none is negative or forgotten.
    #[test]
    fn parts_sum_to_the_phase() {
        for text in [
            "",
            "[[cluster.node]]\ngpus = 1\nmap_slots = 3\nreduce_slots = 1",
            "[[cluster.node]]\ngpus = 0",
            "[model]\nreduce_on_gpu = true",
        ] {
            let plan = Plan::from_toml(text).unwrap();
            let node = &plan.cluster.node[0];
            let (maps, reduces) = task_means(&plan).remove(0);
            let input = (spn_gc::local_share(&plan), plan.job.split_mb);
            let all = Phase::OF_MAP.into_iter().zip(maps).chain(Phase::OF_REDUCE.into_iter().zip(reduces));
            for (phase, whole_s) in all {
                let parts = parts(&plan, node, phase, whole_s, input);
                if plan.phases_of_job().contains(&phase) {
                    assert_relative_eq!(parts.sum_s(), whole_s, max_relative = 1e-12);
                }
                assert!(parts.in_order().iter().all(|(_, part)| *part >= 0.0), "{phase}: {parts:?}");
            }
        }
    }

    /// 64 MB: read 16 MB from another worker at 112 MB/s and write them at 95 MB/s; the map reads 64 MB at 110 MB/s and computes.
    #[test]
    fn terms_of_the_formulas_use_what_they_are_divided_by() {
        let plan = Plan::from_toml("[[cluster.node]]\ncount = 4\ngpus = 0").unwrap();
        let node = &plan.cluster.node[0];
        let read_s = spn_gc::read_s(node, 0.75, 64.0);
        let read = parts(&plan, node, Phase::Read, read_s, (0.75, 64.0));
        assert_relative_eq!(read.network_s, 16.0 / 112.0);
        assert_relative_eq!(read.disk_s, 16.0 / 95.0);
        assert_relative_eq!(read.rest_s, 16.0 / 110.0, max_relative = 1e-12);
        let map = parts(&plan, node, Phase::Map, spn_gc::map_s(&plan, node, 64.0), (0.75, 64.0));
        assert_relative_eq!(map.disk_s, 64.0 / 110.0);
        assert_relative_eq!(map.cores_s, 5.0 + 64.0 / 6000.0, max_relative = 1e-12);
        assert_eq!((map.network_s, map.rest_s), (0.0, 0.0));
    }
}
