//! Slots and GPUs that a job's tasks wait for: one pool for all, or one per kind of worker.
//!
//! Sometimes all tasks of a kind take equally long on every worker: with one kind of worker, with kinds with the same
//! rates, or with given phase means. Then any free slot will do, and all slots form one pool. Otherwise a task belongs
//! to the kind of worker for which its means were computed, and only a slot of that kind serves it.

use crate::mapreduce::net_error::JobNetError;
use crate::mapreduce::params::{Node, Plan};
use crate::mapreduce::task_times::JobPhases;

/// The slots of map or of reduce tasks, or the GPUs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Slots {
    /// Id and tokens of the place of each pool.
    pub(super) pools: Vec<(String, u32)>,
    /// Pool of each kind of worker (index into `cluster.node`) that has tasks.
    of_kind: Vec<Option<usize>>,
}

impl Slots {
    /// Returns the slots of tasks that run on the kinds of worker `kinds`; `slots` gives the slots
    /// per worker, or `None` for an unlimited number. The id of a pool is `id`, followed by the
    /// number of its kind, from 1, if there are several kinds.
    ///
    /// `None` if a kind of worker with tasks has no slot.
    pub(super) fn new(plan: &Plan, id: &str, kinds: &[usize], slots: impl Fn(&Node) -> Option<u64>) -> Option<Self> {
        let nodes = &plan.cluster.node;
        let count = |node: &Node| slots(node).map(|slots| node.count.saturating_mul(slots));
        let tokens = |count: u64| u32::try_from(count).ok().filter(|count| *count > 0);
        let mut made = Self { pools: Vec::new(), of_kind: vec![None; nodes.len()] };
        if plan.has_equal_workers() {
            let all = nodes.iter().map(count).try_fold(0, |sum: u64, count| Some(sum.saturating_add(count?)));
            if let Some(all) = all {
                made = Self { pools: vec![(id.to_owned(), tokens(all)?)], of_kind: vec![Some(0); nodes.len()] };
            }
            return Some(made);
        }
        let mut used = vec![false; nodes.len()];
        for kind in kinds {
            *used.get_mut(*kind)? = true;
        }
        for (kind, node) in nodes.iter().enumerate().filter(|(kind, _)| used[*kind]) {
            let Some(count) = count(node) else { continue };
            made.of_kind[kind] = Some(made.pools.len());
            made.pools.push((format!("{id}{}", kind + 1), tokens(count)?));
        }
        Some(made)
    }

    /// Returns the pool that serves a task on this kind of worker.
    pub(super) fn pool(&self, kind: usize) -> Option<usize> {
        self.of_kind.get(kind).copied().flatten()
    }
}

/// All pools that tasks wait for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pools {
    /// The slots of map and reduce tasks, if the plan has slots.
    pub(super) slots: Option<[Slots; 2]>,
    /// The GPUs, if tasks wait for them.
    pub(super) gpus: Option<Slots>,
}

/// Returns the pools that the tasks of a plan wait for.
pub(super) fn pools_of(plan: &Plan, phases: &JobPhases) -> Result<Pools, JobNetError> {
    let has_gpus = plan.waits_for_gpus();
    if !plan.model.slots && !has_gpus {
        return Ok(Pools::default());
    }
    if phases.map_nodes.len() != phases.maps_s.len() || phases.reduce_nodes.len() != phases.reduces_s.len() {
        return Err(JobNetError::NoSlot);
    }
    let pools = |id: &str, kinds: &[usize], slots: fn(&Node) -> Option<u64>| {
        Slots::new(plan, id, kinds, slots).ok_or(JobNetError::NoSlot)
    };
    let with = |slots: fn(&Node) -> u64, assigned: &[usize]| match &phases.kinds {
        Some(_) if plan.model.slots => plan.kinds_with(slots),
        _ => assigned.to_vec(),
    };
    let of_maps = with(|node| node.map_slots, &phases.map_nodes);
    let of_reduces = with(|node| node.reduce_slots, &phases.reduce_nodes);
    let maps = || pools("mapSlots", &of_maps, |node| Some(node.map_slots));
    let reduces = || pools("reduceSlots", &of_reduces, |node| Some(node.reduce_slots));
    Ok(Pools {
        slots: if plan.model.slots { Some([maps()?, reduces()?]) } else { None },
        gpus: if has_gpus { Some(pools("gpus", &of_maps, |node| node.gpus)?) } else { None },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapreduce::net::{JobNet, job_net};
    use crate::mapreduce::task_times::phase_times;
    use crate::net::{ArcKind, Timing};

    /// A fast worker with four map slots and a slow one with one.
    fn fast_and_slow() -> Plan {
        let text = "[job]\ninput_mb = 640\nreduces = 3\n[model]\nslots = true\n\
                    [[cluster.node]]\nname = \"fast\"\n[[cluster.node]]\nname = \"slow\"\ngpu_speed = 0.1\nmap_slots = 1";
        Plan::from_toml(text).unwrap()
    }

    fn made(plan: &Plan) -> JobNet {
        job_net(plan, &phase_times(plan, &mut || 0.5).unwrap()).unwrap()
    }

    fn tokens(job: &JobNet, place: &str) -> Option<u32> {
        job.net.find_place(place).map(|p| job.net.place(p).initial[0])
    }

    /// Returns what follows the name of the transitions with an arc of this kind at a place.
    fn at(job: &JobNet, place: &str, kind: ArcKind, transition: &str) -> Vec<String> {
        let place = job.net.find_place(place).unwrap();
        let arcs = job.net.arcs().iter().filter(|a| a.place == place && a.kind == kind);
        arcs.map(|a| job.net.transition(a.transition).id.strip_prefix(transition).unwrap().to_owned()).collect()
    }

    fn each(tasks: u32, suffix: &str) -> Vec<String> {
        (1..=tasks).map(|task| format!("{task}{suffix}")).collect()
    }

    fn are_drawn_apart(job: &JobNet) {
        let positions: std::collections::BTreeSet<_> =
            job.net.places().iter().filter_map(|p| p.position).map(|p| (p.x.to_bits(), p.y.to_bits())).collect();
        assert_eq!(positions.len(), job.net.places().len());
        assert!(job.net.places().iter().all(|p| p.position.is_some_and(|p| p.y > 0.0)));
    }

    #[test]
    fn a_task_takes_a_slot_of_the_fastest_kind_that_has_one() {
        let plan = fast_and_slow();
        let job = made(&plan);
        let counts = ["mapSlots1", "mapSlots2", "reduceSlots1", "reduceSlots2"].map(|id| tokens(&job, id));
        assert_eq!(counts, [Some(4), Some(1), Some(2), Some(2)]);
        assert_eq!((tokens(&job, "mapSlots"), tokens(&job, "reduceSlots")), (None, None));
        for (kind, suffix) in [(1, "k1"), (2, "k2")] {
            assert_eq!(at(&job, &format!("mapSlots{kind}"), ArcKind::Input, "startMap"), each(10, suffix));
            assert_eq!(at(&job, &format!("mapSlots{kind}"), ArcKind::Output, "spill"), each(10, suffix));
            assert_eq!(at(&job, &format!("reduceSlots{kind}"), ArcKind::Output, "reduce"), each(3, suffix));
        }
        let priority = |id: &str| match job.net.transition(job.net.find_transition(id).unwrap()).timing {
            Timing::Immediate { priority, .. } => priority,
            Timing::Timed { .. } => 0,
        };
        assert_eq!(["startMap1k1", "startMap1k2", "startReduce1k1"].map(priority), [2, 1, 1]);
        // a map is 1 + 2 * 5 places, a reduce 1 + 2 * 2 + 1
        assert_eq!(job.net.places().len(), 11 * 10 + 6 * 3 + 2 + 4);
        are_drawn_apart(&job);
    }

    /// With stragglers, each task is assigned: four on the fast worker, one on the slow one, and then on the first slot to become free.
    #[test]
    fn with_stragglers_tasks_are_assigned() {
        let mut plan = fast_and_slow();
        plan.stragglers = Some(crate::mapreduce::Stragglers::default());
        let phases = phase_times(&plan, &mut || 0.5).unwrap();
        assert_eq!(phases.kinds, None);
        let assigned: Vec<String> = at(&job_net(&plan, &phases).unwrap(), "mapSlots2", ArcKind::Input, "startMap");
        assert_eq!(assigned, ["5"]);
    }

    #[test]
    fn equal_workers_share_their_slots_whatever_their_names_and_numbers() {
        let mut plan = fast_and_slow();
        plan.cluster.node[1].gpu_speed = 1.0;
        assert_eq!((tokens(&made(&plan), "mapSlots"), tokens(&made(&plan), "reduceSlots")), (Some(5), Some(4)));
        let mut plan = Plan::from_toml("[phases]\nmeans_s = [1, 1, 1, 1, 1, 1, 1, 1, 1]\nmaps = 3").unwrap();
        plan.model.slots = true;
        plan.cluster.node = fast_and_slow().cluster.node;
        assert_eq!(tokens(&made(&plan), "mapSlots"), Some(5));
    }

    #[test]
    fn maps_hold_a_gpu_from_the_copy_on() {
        let mut plan = fast_and_slow();
        plan.cluster.node[0].gpus = Some(2);
        let job = made(&plan);
        assert_eq!((tokens(&job, "gpus1"), tokens(&job, "gpus2")), (Some(2), None));
        assert_eq!(at(&job, "gpus1", ArcKind::Input, "startGpu"), each(10, "k1"));
        assert_eq!(at(&job, "gpus1", ArcKind::Output, "toHost"), each(10, "k1"));
        are_drawn_apart(&job);
        // without slots, and with one kind of worker
        let mut plan = Plan::from_toml("[job]\ninput_mb = 192\nreduces = 2\n[model]\nslots = false").unwrap();
        plan.cluster.node[0].gpus = Some(1);
        let job = made(&plan);
        assert_eq!((tokens(&job, "gpus"), tokens(&job, "mapSlots")), (Some(4), None));
        assert_eq!((job.net.places().len(), job.net.transitions().len()), (23 + 3 + 3 + 1, 21 + 3 + 3));
        are_drawn_apart(&job);
        plan.stragglers = Some(crate::mapreduce::Stragglers::default());
        let phases = phase_times(&plan, &mut || 0.5).unwrap();
        assert_eq!(job_net(&plan, &phases), Err(JobNetError::GpusOfAttempts));
        // given means are the same on every kind of worker: a map could go to a worker where it does not wait
        let mut plan = fast_and_slow();
        plan.cluster.node[0].gpus = Some(2);
        plan.phases = Some(crate::mapreduce::params::GivenPhases { means_s: [1.0; 9], ..Default::default() });
        assert_eq!(plan.problems()[0].key, "cluster.node");
    }

    #[test]
    fn a_kind_without_slots_or_tasks_has_no_slots_place() {
        let mut plan = fast_and_slow();
        plan.job.reduces = 1;
        plan.cluster.node[1].map_slots = 0;
        let places = ["mapSlots1", "mapSlots2", "reduceSlots2"];
        assert_eq!(places.map(|id| tokens(&made(&plan), id)), [Some(4), None, Some(2)]);
        // if tasks are assigned, the one reduce goes to the fast worker
        plan.stragglers = Some(crate::mapreduce::Stragglers::default());
        assert_eq!(places.map(|id| tokens(&made(&plan), id)), [Some(4), None, None]);
    }

    #[test]
    fn a_task_where_there_is_no_slot_is_an_error() {
        let mut plan = fast_and_slow();
        plan.stragglers = Some(crate::mapreduce::Stragglers::default());
        let mut phases = phase_times(&plan, &mut || 0.5).unwrap();
        plan.cluster.node[1].map_slots = 0;
        assert_eq!(job_net(&plan, &phases), Err(JobNetError::NoSlot));
        plan.cluster.node[1].map_slots = 1;
        phases.map_nodes.pop();
        assert_eq!(job_net(&plan, &phases), Err(JobNetError::NoSlot));
    }
}
