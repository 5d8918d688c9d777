//! The mean time of each phase of each task of a job: the formulas of `spn_gc` on the nodes of the cluster.
//!
//! Places tasks on workers and draws their locality. Uses neither a net nor distributions.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::mapreduce::counts::Slots;
use crate::mapreduce::params::{GivenPhases, Locality, Node, Plan};
use crate::mapreduce::phase::Phase;
use crate::mapreduce::phase_law::PhaseLaw;
use crate::mapreduce::spn_gc;
use crate::plan::PlanProblem;

/// Maximum ratio of a split to the test job's split, in either direction. A plan with a greater ratio gets a warning.
const FAR_SPLIT: f64 = 4.0;

/// Mean time of each phase of each task. The tasks are in task order.
#[derive(Clone, Debug, PartialEq)]
pub struct JobPhases {
    /// Phase 1 \[s\], >= 0.
    pub load_s: f64,
    /// The phases of each map task, in the order of [`Phase::OF_MAP`] \[s\], >= 0; 0 for a phase that the plan does not have. One entry per map task, at
    /// least one.
    pub maps_s: Vec<[f64; 6]>,
    /// Phase 7 \[s\], >= 0.
    pub shuffle_s: f64,
    /// Phases 8 and 9 of each reduce task \[s\], >= 0. One entry per reduce task.
    pub reduces_s: Vec<[f64; 2]>,
    /// Time after the last task \[s\], >= 0: the clean-up, and the time added by `[residual]`.
    pub end_s: f64,
    /// Kind of worker of each map task: index into `cluster.node`.
    pub map_nodes: Vec<usize>,
    /// Kind of worker of each reduce task: index into `cluster.node`.
    pub reduce_nodes: Vec<usize>,
    /// The means on every kind of worker, if a waiting task may take a slot of any kind; none if all workers are alike, tasks wait for no slots, or each
    /// task is assigned to a kind.
    pub kinds: Option<KindMeans>,
    /// Adjustments made so that the formulas apply.
    pub warnings: Vec<PhaseWarning>,
}

/// Mean times of the phases of tasks on each kind of worker \[s\].
#[derive(Clone, Debug, PartialEq)]
pub struct KindMeans {
    /// Of each map task, by kind.
    pub maps_s: Vec<Vec<[f64; 6]>>,
    /// Of every reduce task, by kind.
    pub reduces_s: Vec<[f64; 2]>,
}

impl KindMeans {
    /// Returns the means of maps with these local shares, and of reduces for a mean map time of `map_s`.
    fn new(slots: &Slots<'_>, shares: &[f64], map_s: f64) -> Self {
        let plan = slots.plan;
        let of_maps = |node: &Node| {
            let mean = |(j, a): (usize, &f64)| map_means(slots, node, *a, spn_gc::map_input_mb(plan, j as u64));
            shares.iter().enumerate().map(mean).collect()
        };
        let of_reduce = |node: &Node| if plan.reduces() == 0 { [0.0; 2] } else { reduce_means(slots, node, map_s) };
        let nodes = &plan.cluster.node;
        Self { maps_s: nodes.iter().map(of_maps).collect(), reduces_s: nodes.iter().map(of_reduce).collect() }
    }

    /// Returns the mean time of a map with a whole split on each kind.
    pub(super) fn total_map_s(&self) -> Vec<f64> {
        self.maps_s.iter().map(|maps| maps.first().map_or(0.0, |map| map.iter().sum())).collect()
    }

    /// Returns the mean time of a reduce on each kind.
    pub(super) fn total_reduce_s(&self) -> Vec<f64> {
        self.reduces_s.iter().map(|reduce| reduce.iter().sum()).collect()
    }
}

/// A warning about a plan to which the formulas still apply.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PhaseWarning {
    /// The records' metadata exceed the map's data, so D_data would be negative; it is set to 0. Check `profile.spilled_records` and
    /// `profile.map_data_mb`.
    #[error(
        "the metadata of spilled records ({metadata_mb} MB per map) exceed the map's data ({map_data_mb} MB); the difference is set to 0"
    )]
    MetadataAboveData {
        /// D_meta \[MB\].
        metadata_mb: f64,
        /// Data of one map \[MB\].
        map_data_mb: f64,
    },
    /// More replicas of each block than workers to hold them. All input counts as local. Check `cluster.replicas`.
    #[error(
        "{replicas} replicas on {workers} worker{}: every worker has all blocks, so all input counts as local",
        if *workers == 1 { "" } else { "s" }
    )]
    ReplicasAboveWorkers {
        /// `cluster.replicas`.
        replicas: u64,
        /// Workers of all kinds.
        workers: u64,
    },
    /// The split differs greatly from the test job's. Check `job.split_mb`, or run the test job with a split closer to it.
    #[error(
        "splits of {split_mb} MB are more than 4 times {} than the splits of {test_mb} MB of the test job \
         (`profile.input_mb` / `profile.maps`); map times are extrapolated in proportion",
        if split_mb > test_mb { "larger" } else { "smaller" }
    )]
    FarSplit {
        /// `job.split_mb`, or the input if that is smaller.
        split_mb: f64,
        /// D_test / M_test \[MB\].
        test_mb: f64,
    },
    /// The input is smaller than a split: the job has one map. Check `job.input_mb` and `job.split_mb`.
    #[error("an input of {input_mb} MB is smaller than a split of {split_mb} MB: the job has one map task")]
    OneSplit {
        /// `job.input_mb`.
        input_mb: f64,
        /// `job.split_mb`.
        split_mb: f64,
    },
    /// Slots that no task uses. Check the slots of the workers.
    #[error(
        "{slots} {tasks} slots for {count} {tasks} task{}: {} stay idle",
        if *count == 1 { "" } else { "s" },
        slots - count
    )]
    IdleSlots {
        /// `map` or `reduce`.
        tasks: &'static str,
        /// Slots of all workers.
        slots: u64,
        /// Number of tasks.
        count: u64,
    },
    /// Workers differ, tasks wait, and there are stragglers or copies: the net assigns each task to a kind of worker in advance, by mean times.
    #[error(
        "workers differ, and with stragglers or copies each task is assigned to a kind of worker in advance, by mean times; on a cluster, each \
         free slot takes the next task, which `tailspn whatif` simulates"
    )]
    AssignedInAdvance,
    /// No worker has a GPU, but the plan states times on a GPU. Add the CPU time of that work to the map function.
    #[error(
        "no worker has a GPU (`gpus = 0`): {seconds} s of {what} are left out; the map function must include the CPU time of that work"
    )]
    GpuTimeLeftOut {
        /// Time that is left out \[s\].
        seconds: f64,
        /// Where the plan states it.
        what: &'static str,
    },
    /// The distribution of a phase has no variance, so neither has the job time. Quantiles and their intervals stay valid.
    #[error(
        "the Pareto distribution of phase `{phase}` has no variance, because its shape {shape} is at most 2: intervals of quantiles are valid, but intervals of means and standard deviations are not"
    )]
    NoVariance {
        /// The phase.
        phase: Phase,
        /// The distribution's shape.
        shape: f64,
    },
}

/// Reasons why a plan has no phase times. Nothing was computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PhaseTimesError {
    /// The plan has invalid values. Correct them.
    #[error("the plan has {} invalid values, first: {}", .0.len(), .0[0])]
    Plan(
        /// All problems, at least one.
        Vec<PlanProblem>,
    ),
    /// A phase's mean overflows: sizes and rates differ too much.
    #[error("the mean time of phase `{phase}` is not finite; sizes and rates differ too much")]
    NotFinite {
        /// The phase.
        phase: Phase,
    },
}

/// Returns the kind of worker (index into `cluster.node`) that each of `tasks` tasks runs on: a list schedule of mean times.
///
/// Each task goes to the slot that is free first; of several, to one where it takes the shortest time. All tasks are
/// taken to need their mean time, which is `times_s` for each kind of worker \[s\]; without times, all are equal. Among
/// equals, workers take turns, in the order of the plan. So the order of kinds of different speed does not matter. This
/// placement is ours; the paper does not specify it.
fn placement(nodes: &[Node], tasks: usize, slots: impl Fn(&Node) -> u64, times_s: Option<&[f64]>) -> Vec<usize> {
    let time = |kind: usize| times_s.map_or(1.0, |times| times[kind]);
    // free time, time of a task, turn, kind; times are not negative, so their bits have the same order
    let slot = |free_s: f64, turn: u64, kind: usize| Reverse((free_s.to_bits(), time(kind).to_bits(), turn, kind));
    let mut free = BinaryHeap::new();
    for (kind, node) in nodes.iter().enumerate().filter(|(_, node)| node.count > 0) {
        let all = node.count.saturating_mul(slots(node)).min(tasks as u64);
        free.extend((0..all).map(|number| slot(0.0, number / node.count, kind)));
    }
    let mut placed = Vec::with_capacity(tasks);
    while placed.len() < tasks {
        let Some(Reverse((free_s, _, turn, kind))) = free.pop() else { break };
        placed.push(kind);
        free.push(slot(f64::from_bits(free_s) + time(kind), turn, kind));
    }
    placed
}

/// Returns the mean time of each phase of each task of `plan`.
///
/// Each task's means come from the rates of its node. The one shuffle of the job takes as long as the shuffle on its
/// slowest reducer's node, with the mean local share of all maps. This is our choice, because \[PESARO15, Eq. 12\] has
/// one node. `uniform` gives numbers in `[0, 1)`; it is called only if `model.locality` is `drawn`, once per map, in
/// task order. The map's input is local if the number is below the local share. Exact evaluation of the formulas in
/// [`spn_gc`].
///
/// # Errors
///
/// [`PhaseTimesError::Plan`] for a plan with problems, [`PhaseTimesError::NotFinite`].
///
/// # Examples
///
/// ```
/// use tailspn_jobs::mapreduce::{Plan, phase_times};
///
/// let phases = phase_times(&Plan::default(), &mut || 0.5).unwrap();
/// assert_eq!((phases.maps_s.len(), phases.reduces_s.len()), (160, 40));
/// ```
pub fn phase_times(plan: &Plan, uniform: &mut dyn FnMut() -> f64) -> Result<JobPhases, PhaseTimesError> {
    let problems = plan.problems();
    if !problems.is_empty() {
        return Err(PhaseTimesError::Plan(problems));
    }
    let nodes = &plan.cluster.node;
    let (maps, reduces) = (count(plan.maps()), count(plan.reduces()));
    if let Some(given) = plan.given_phases() {
        return Ok(given_times(plan, &given));
    }
    let (slots, mean_share) = (plan.slots(), spn_gc::local_share(plan));
    let total = |node| map_means(&slots, node, mean_share, spn_gc::map_input_mb(plan, 0)).iter().sum();
    let times: Vec<f64> = nodes.iter().map(total).collect();
    let map_nodes = placement(nodes, maps, |node| node.map_slots, Some(&times));
    let shares: Vec<f64> = match plan.model.locality {
        Locality::Mean => vec![mean_share; maps],
        Locality::Drawn => (0..maps).map(|_| f64::from(u8::from(uniform() < mean_share))).collect(),
    };
    let map = |(j, (kind, a)): (usize, (&usize, &f64))| {
        map_means(&slots, &nodes[*kind], *a, spn_gc::map_input_mb(plan, j as u64))
    };
    let maps_s: Vec<[f64; 6]> = map_nodes.iter().zip(&shares).enumerate().map(map).collect();
    let shuffle_share = shares.iter().sum::<f64>() / maps as f64;
    let shuffle = |kind: &usize| spn_gc::shuffle_s(plan, &nodes[*kind], shuffle_share);
    let map_s = maps_s.iter().flatten().sum::<f64>() / maps as f64;
    // without reduces, their data would be divided among none
    let times: Vec<f64> = match reduces {
        0 => Vec::new(),
        _ => nodes.iter().map(|node| reduce_means(&slots, node, map_s).iter().sum()).collect(),
    };
    let reduce_nodes = placement(nodes, reduces, |node| node.reduce_slots, Some(&times));
    let reduce = |kind: &usize| reduce_means(&slots, &nodes[*kind], map_s);
    let mut phases = JobPhases {
        load_s: spn_gc::load_s(plan),
        maps_s,
        shuffle_s: reduce_nodes.iter().map(shuffle).fold(0.0, f64::max),
        reduces_s: reduce_nodes.iter().map(reduce).collect(),
        end_s: plan.end_s(),
        map_nodes,
        reduce_nodes,
        kinds: plan.chooses_kinds().then(|| KindMeans::new(&slots, &shares, map_s)),
        warnings: warnings(plan),
    };
    phases.warn_of_laws(plan);
    phases.not_finite().map_or(Ok(phases), |phase| Err(PhaseTimesError::NotFinite { phase }))
}

/// Returns the phase times of a plan with given means.
fn given_times(plan: &Plan, given: &GivenPhases) -> JobPhases {
    let nodes = &plan.cluster.node;
    let (maps, reduces) = (count(plan.maps()), count(plan.reduces()));
    let map_nodes = placement(nodes, maps, |node| node.map_slots, None);
    let reduce_nodes = placement(nodes, reduces, |node| node.reduce_slots, None);
    let ([load_s, .., shuffle_s, f, g], map_s) = (given.means_s, given_map_s(plan, given));
    let (maps_s, reduces_s) = (vec![map_s; maps], vec![[f, g]; reduces]);
    let mut phases = JobPhases {
        load_s,
        maps_s,
        shuffle_s,
        reduces_s,
        end_s: plan.end_s(),
        map_nodes,
        reduce_nodes,
        kinds: None,
        warnings: slot_warnings(plan),
    };
    phases.warn_of_laws(plan);
    phases
}

/// Returns the means of phases 2 to 6 of a map with a whole split, and of phases 8 and 9 of a reduce \[s\], for each
/// kind of worker. The map input has the mean local share.
pub(crate) fn task_means(plan: &Plan) -> Vec<([f64; 6], [f64; 2])> {
    let (slots, share) = (plan.slots(), spn_gc::local_share(plan));
    let given = plan.given_phases();
    let of_node = |node: &Node| match &given {
        Some(given) => given_task_s(plan, given),
        None => {
            let map = map_means(&slots, node, share, spn_gc::map_input_mb(plan, 0));
            (map, if plan.reduces() == 0 { [0.0; 2] } else { reduce_means(&slots, node, map.iter().sum()) })
        }
    };
    plan.cluster.node.iter().map(of_node).collect()
}

/// Returns the means of the phases of a map task of `split` MB on `node`; the share `a` of the input is local.
pub(crate) fn map_means(slots: &Slots<'_>, node: &Node, a: f64, split: f64) -> [f64; 6] {
    let plan = slots.plan;
    let read_s = spn_gc::read_s(node, a, split) + slots.map_wait_s();
    let spill_s = spn_gc::spill_s(plan, node, split);
    if plan.has_no_gpus() {
        return [read_s, spn_gc::map_s(plan, node, split), 0.0, 0.0, 0.0, spill_s];
    }
    let [map_s, to_gpu_s] = if plan.waits_for_gpus() {
        [spn_gc::map_s(plan, node, split), spn_gc::copy_to_gpu_s(plan, node, split)]
    } else {
        [0.0, spn_gc::to_gpu_s(plan, node, split)]
    };
    [read_s, map_s, to_gpu_s, spn_gc::gpu_s(plan, node, split), spn_gc::to_host_s(node, split), spill_s]
}

/// Returns the given means of the phases of a map and of a reduce.
pub(super) fn given_task_s(plan: &Plan, given: &GivenPhases) -> ([f64; 6], [f64; 2]) {
    let [.., f, g] = given.means_s;
    (given_map_s(plan, given), [f, g])
}

/// Returns the means of the phases of a map task with given means.
fn given_map_s(plan: &Plan, given: &GivenPhases) -> [f64; 6] {
    let [_, read, third, gpu, to_host, spill, ..] = given.means_s;
    if plan.has_no_gpus() {
        [read, third - given.copy_s, 0.0, 0.0, 0.0, spill]
    } else if plan.waits_for_gpus() {
        [read, third - given.copy_s, given.copy_s, gpu, to_host, spill]
    } else {
        [read, 0.0, third, gpu, to_host, spill]
    }
}

/// Returns the ratio of the last map's mean time to a whole split's, on average over all slots; 1 if both splits are equal.
pub(crate) fn last_map_ratio(plan: &Plan) -> f64 {
    let share = spn_gc::local_share(plan);
    let slots = plan.slots();
    let on = |node: &Node, map| map_means(&slots, node, share, spn_gc::map_input_mb(plan, map)).iter().sum::<f64>();
    // the mean over slots does not depend on the order of the kinds
    let weight = |node: &Node| node.count.saturating_mul(node.map_slots) as f64;
    let total = |map| plan.cluster.node.iter().map(|node| weight(node) * on(node, map)).sum::<f64>();
    let ratio = total(plan.maps() - 1) / total(0);
    if plan.phases.is_none() && ratio.is_finite() { ratio } else { 1.0 }
}

/// Returns the means of phases 8 and 9 of a reduce task on `node`, for a mean map time of `map_s`.
fn reduce_means(slots: &Slots<'_>, node: &Node, map_s: f64) -> [f64; 2] {
    let plan = slots.plan;
    [
        spn_gc::merge_s(plan, node) + plan.framework.reduce_fetch_s + slots.reduce_wait_s(map_s),
        spn_gc::reduce_s(plan, node) + plan.framework.reduce_fixed_s,
    ]
}

fn count(tasks: u64) -> usize {
    usize::try_from(tasks).expect("a checked plan has at most a million tasks of a kind")
}

fn warnings(plan: &Plan) -> Vec<PhaseWarning> {
    let (split_mb, test_mb) = (spn_gc::map_input_mb(plan, 0), spn_gc::test_split_mb(plan));
    let sizes = spn_gc::spill_sizes(plan, split_mb);
    let mut warnings = Vec::new();
    if plan.job.input_mb < plan.job.split_mb {
        warnings.push(PhaseWarning::OneSplit { input_mb: plan.job.input_mb, split_mb: plan.job.split_mb });
    }
    if split_mb / test_mb > FAR_SPLIT || test_mb / split_mb > FAR_SPLIT {
        warnings.push(PhaseWarning::FarSplit { split_mb, test_mb });
    }
    if sizes.raw_data_mb < 0.0 {
        warnings.push(PhaseWarning::MetadataAboveData {
            metadata_mb: sizes.metadata_mb,
            map_data_mb: sizes.metadata_mb + sizes.raw_data_mb,
        });
    }
    let (replicas, workers) = (plan.cluster.replicas, plan.workers());
    if replicas > workers {
        warnings.push(PhaseWarning::ReplicasAboveWorkers { replicas, workers });
    }
    warnings.extend(slot_warnings(plan));
    warnings
}

/// Returns warnings about unused slots, and about tasks that wait for slots of one kind of worker.
fn slot_warnings(plan: &Plan) -> Vec<PhaseWarning> {
    let both = [("map", plan.map_slots(), plan.maps()), ("reduce", plan.reduce_slots(), plan.reduces())];
    let idle = both.into_iter().filter(|(_, slots, count)| plan.model.slots && slots > count && *count > 0);
    let mut warnings: Vec<_> =
        idle.map(|(tasks, slots, count)| PhaseWarning::IdleSlots { tasks, slots, count }).collect();
    if plan.has_no_gpus() {
        let (seconds, what) = match plan.given_phases() {
            Some(given) => (given.copy_s + given.means_s[3] + given.means_s[4], "`phases.means_s` on the GPU"),
            None => (plan.profile.map_gpu_s, "`profile.map_gpu_s`"),
        };
        warnings.extend((seconds > 0.0).then_some(PhaseWarning::GpuTimeLeftOut { seconds, what }));
    }
    if plan.waits() && !plan.has_equal_workers() && !plan.chooses_kinds() {
        warnings.push(PhaseWarning::AssignedInAdvance);
    }
    warnings
}

impl JobPhases {
    /// Returns the first phase, in phase order, with a mean that is not finite.
    fn not_finite(&self) -> Option<Phase> {
        Phase::ALL.into_iter().find(|phase| self.means_of(*phase).any(|mean| !mean.is_finite()))
    }

    /// Warns of each phase that takes time and whose distribution has no variance.
    fn warn_of_laws(&mut self, plan: &Plan) {
        for phase in Phase::ALL {
            if let PhaseLaw::Pareto { shape } = *plan.model.distribution.get(phase)
                && shape <= 2.0
                && self.means_of(phase).any(|mean| mean > 0.0)
            {
                self.warnings.push(PhaseWarning::NoVariance { phase, shape });
            }
        }
    }

    /// Returns the means of one phase over its tasks \[s\], in task order; one number for phases 1 and 7. Exact.
    pub fn means_of(&self, phase: Phase) -> Box<dyn Iterator<Item = f64> + '_> {
        match phase {
            Phase::Load => Box::new(std::iter::once(self.load_s)),
            Phase::Shuffle => Box::new(std::iter::once(self.shuffle_s)),
            Phase::Merge | Phase::Reduce => {
                let at = phase.index() - Phase::Merge.index();
                Box::new(self.reduces_s.iter().map(move |means| means[at]))
            }
            _ => {
                let at = Phase::OF_MAP.iter().position(|of_map| *of_map == phase).unwrap_or(0);
                Box::new(self.maps_s.iter().map(move |means| means[at]))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    fn times(plan: &Plan) -> JobPhases {
        phase_times(plan, &mut || panic!("a draw that nobody asked for")).unwrap()
    }

    fn two_kinds() -> Plan {
        let mut plan = Plan::default();
        let fast = Node { gpu_speed: 2.0, map_slots: 2, reduce_slots: 1, ..Node::default() };
        plan.cluster.node =
            vec![fast, Node { network_mb_per_s: 56.0, map_slots: 1, reduce_slots: 1, ..Node::default() }];
        plan.cluster.node[1].count = 2;
        plan
    }

    #[test]
    fn tasks_take_turns_and_the_fastest_free_slot() {
        // workers 0 1 1 with 2, 1, 1 slots: 0 1 1 | 0, and again
        let plan = two_kinds();
        let placed = placement(&plan.cluster.node, 10, |node| node.map_slots, None);
        assert_eq!(placed, [0, 1, 1, 0, 0, 1, 1, 0, 0, 1]);
        assert_eq!(placement(&plan.cluster.node, 2, |node| node.reduce_slots, None), [0, 1]);
        assert_eq!(placement(&plan.cluster.node, 0, |node| node.map_slots, None), [] as [usize; 0]);
        // workers of the second kind take five times as long: when the first of them is free, those of the first kind have done ten
        let placed = placement(&plan.cluster.node, 15, |node| node.map_slots, Some(&[1.0, 5.0]));
        assert_eq!(placed, [0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        let equal = placement(&plan.cluster.node, 10, |node| node.map_slots, Some(&[0.3, 0.3]));
        assert_eq!(equal, [0, 1, 1, 0, 0, 1, 1, 0, 0, 1]);
    }

    #[test]
    fn the_order_of_kinds_of_workers_does_not_matter() {
        let plan = two_kinds();
        let mut swapped = plan.clone();
        swapped.cluster.node.swap(0, 1);
        for tasks in 1..20 {
            let [one, other] = [(&plan, [1.0, 1.7]), (&swapped, [1.7, 1.0])]
                .map(|(plan, times)| placement(&plan.cluster.node, tasks, |node| node.map_slots, Some(&times)));
            assert!(one.iter().zip(&other).all(|(one, other)| *one == 1 - *other), "{one:?} {other:?}");
        }
    }

    #[test]
    fn workers_without_slots_get_no_task() {
        let mut plan = two_kinds();
        plan.cluster.node[0].map_slots = 0;
        assert!(times(&plan).map_nodes.iter().all(|kind| *kind == 1));
    }

    #[test]
    fn each_task_has_the_means_of_its_node() {
        let plan = two_kinds();
        let phases = times(&plan);
        let gpu: Vec<f64> = phases.means_of(Phase::Gpu).take(3).collect();
        // GPU time of a block: 16/256·64 = 4 s on the slow node, 2 s on the fast one, plus 16/5200 s
        let copy = 16.0 / 5_200.0;
        for (got, expected) in gpu.iter().zip([2.0 + copy, 2.0 + copy, 4.0 + copy]) {
            assert_relative_eq!(*got, expected, max_relative = 1e-12);
        }
        let slowest = spn_gc::shuffle_s(&plan, &plan.cluster.node[1], 1.0);
        assert_relative_eq!(phases.shuffle_s, slowest, max_relative = 1e-12);
    }

    /// Three replicas on ten workers, nine of them with half the network: all reduces wait for the slowest node, and the local share follows the
    /// draws. Fails with the mean over the nodes, and with the mean share regardless of the draws.
    #[test]
    fn the_shuffle_takes_the_slowest_node_and_the_drawn_locality() {
        let mut plan = two_kinds();
        (plan.cluster.node[1].count, plan.cluster.replicas) = (9, 3);
        let shuffle = |plan: &Plan, kind: usize, share| spn_gc::shuffle_s(plan, &plan.cluster.node[kind], share);
        let slow = shuffle(&plan, 1, 0.3);
        assert!(slow > 1.2 * shuffle(&plan, 0, 0.3));
        assert_relative_eq!(times(&plan).shuffle_s, slow, max_relative = 1e-12);
        plan.model.locality = Locality::Drawn;
        for (draw, share) in [(0.0, 1.0), (0.999, 0.0)] {
            let phases = phase_times(&plan, &mut || draw).unwrap();
            assert_relative_eq!(phases.shuffle_s, shuffle(&plan, 1, share), max_relative = 1e-12);
        }
    }

    #[test]
    fn drawn_locality_asks_once_per_map() {
        let mut plan = Plan::default();
        plan.model.locality = Locality::Drawn;
        let mut calls = 0;
        let phases = phase_times(&plan, &mut || {
            calls += 1;
            if calls % 4 == 0 { 0.75 } else { 0.749 }
        })
        .unwrap();
        assert_eq!(calls, 160);
        let remote = spn_gc::read_s(&plan.cluster.node[0], 0.0, 64.0);
        let read: Vec<f64> = phases.means_of(Phase::Read).collect();
        assert!(read[..3].iter().all(|t| t.abs() < 1e-300));
        assert_relative_eq!(read[3], remote, max_relative = 1e-12);
        // three of four maps are local, as in the mean, so the shuffle is the same
        plan.model.locality = Locality::Mean;
        assert_relative_eq!(phases.shuffle_s, times(&plan).shuffle_s, max_relative = 1e-12);
    }

    #[test]
    fn given_means_hold_for_every_task() {
        let text = "[phases]\nmaps = 2\nreduces = 3\nmeans_s = [1, 2, 3, 4, 5, 6, 7, 8, 9]";
        let phases = times(&Plan::from_toml(text).unwrap());
        assert_eq!(phases.maps_s, [[2.0, 0.0, 3.0, 4.0, 5.0, 6.0]; 2]);
        assert_eq!(phases.reduces_s, [[8.0, 9.0]; 3]);
        assert_eq!((phases.load_s, phases.shuffle_s), (1.0, 7.0));
    }

    /// Splits of 64 MB of 1,000 MB: the last of 16 maps has 40 MB.
    #[test]
    fn the_last_map_handles_what_is_left() {
        let plan = Plan::from_toml("[job]\ninput_mb = 1000").unwrap();
        let maps = times(&plan).maps_s;
        assert_eq!(maps[14], maps[0]);
        for (last, whole) in maps[15].iter().zip(&maps[0]) {
            assert_relative_eq!(*last, whole * 40.0 / 64.0, max_relative = 1e-12);
        }
        assert_relative_eq!(last_map_ratio(&plan), 40.0 / 64.0, max_relative = 1e-12);
        assert_eq!(last_map_ratio(&Plan::default()).to_bits(), 1.0_f64.to_bits());
    }

    /// 16 GB in splits of 64 and of 256 MB, whose maps take 60 s of CPU time for 64 MB.
    #[test]
    fn time_of_phase_3_is_proportional_to_the_split() {
        let of = |split: u32| {
            let text = format!(
                "[job]\ninput_mb = 16384\nsplit_mb = {split}\n[profile]\ninput_mb = 256\nmaps = 4\nmap_cpu_s = 60\nmap_gpu_s = 0"
            );
            let maps = times(&Plan::from_toml(&text).unwrap()).maps_s;
            (maps.len(), maps[0][2])
        };
        let ((small, small_s), (large, large_s)) = (of(64), of(256));
        assert_eq!((small, large), (256, 64));
        assert!((small_s - 60.6).abs() < 0.05 && (large_s / small_s - 4.0).abs() < 1e-9, "{small_s} {large_s}");
    }

    #[test]
    fn odd_sizes_are_warnings() {
        let said = |text: &str| {
            times(&Plan::from_toml(text).unwrap()).warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(said("job.split_mb = 256"), [""; 0]);
        assert_eq!(
            said("job.split_mb = 320"),
            [
                "splits of 320 MB are more than 4 times larger than the splits of 64 MB of the test job (`profile.input_mb` / \
              `profile.maps`); map times are extrapolated in proportion"
            ]
        );
        assert!(said("job.split_mb = 12\njob.gpu_block_mb = 12")[0].contains("more than 4 times smaller"));
        assert_eq!(
            said("job.input_mb = 40"),
            [
                "an input of 40 MB is smaller than a split of 64 MB: the job has one map task",
                "16 map slots for 1 map task: 15 stay idle"
            ]
        );
        assert_eq!(said("job.input_mb = 640\nmodel.slots = false"), [""; 0]);
        let unequal = "cluster.replicas = 2\n[[cluster.node]]\n[[cluster.node]]\ngpu_speed = 0.5\n";
        assert_eq!(said(unequal), [""; 0]);
        let assigned = said(&format!("{unequal}[stragglers]\n"));
        assert!(assigned[0].starts_with("workers differ, and with stragglers or copies each task"), "{assigned:?}");
    }

    #[test]
    fn metadata_above_data_is_a_warning() {
        let mut plan = Plan::default();
        assert_eq!(times(&plan).warnings, []);
        plan.profile.map_data_mb = 8.0;
        assert_eq!(times(&plan).warnings.len(), 1);
        assert!(times(&plan).warnings[0].to_string().contains("exceed the map's data (2 MB)"));
    }

    #[test]
    fn replicas_that_no_worker_can_hold_are_a_warning() {
        let mut plan = Plan::default();
        plan.cluster.replicas = 4;
        assert_eq!(times(&plan).warnings, []);
        plan.cluster.replicas = 5;
        assert_eq!(times(&plan).warnings, [PhaseWarning::ReplicasAboveWorkers { replicas: 5, workers: 4 }]);
    }

    #[test]
    fn laws_without_variance_are_a_warning_where_their_phase_takes_time() {
        let mut plan = Plan::from_toml("[phases]\nmaps = 2\nmeans_s = [1, 0, 3, 4, 5, 6, 7, 8, 9]").unwrap();
        plan.model.slots = false;
        plan.model.distribution.read = PhaseLaw::Pareto { shape: 1.5 };
        plan.model.distribution.gpu = PhaseLaw::Pareto { shape: 2.0 };
        plan.model.distribution.merge = PhaseLaw::Pareto { shape: 2.1 };
        let expected = [PhaseWarning::NoVariance { phase: Phase::Gpu, shape: 2.0 }];
        assert_eq!(times(&plan).warnings, expected);
        plan.phases = None;
        assert!(times(&plan).warnings.contains(&expected[0]));
    }

    #[test]
    fn overflow_and_bad_plans_are_errors() {
        let mut plan = Plan::default();
        plan.cluster.node[0].disk_write_mb_per_s = 1e-308;
        assert_eq!(phase_times(&plan, &mut || 0.0), Err(PhaseTimesError::NotFinite { phase: Phase::Read }));
        plan.cluster.node[0].disk_write_mb_per_s = 0.0;
        assert!(matches!(phase_times(&plan, &mut || 0.0), Err(PhaseTimesError::Plan(list)) if list.len() == 1));
    }
}
