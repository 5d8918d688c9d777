//! Jobs that differ only in times: the common structure of their nets, and the individual timings.
//!
//! The nets come from [`job_net`](crate::mapreduce::job_net); this module compares them.

use std::collections::HashMap;

use crate::mapreduce::params::Plan;
use crate::mapreduce::phase::Phase;
use crate::mapreduce::phase_map::{PRIORITY, PhaseMap};
use crate::mapreduce::slots::{Pools, pools_of};
use crate::mapreduce::task_times::JobPhases;
use crate::net::{Law, Timing, TransitionId};

/// All inputs of the net of a plan without stragglers and copies, except the times.
#[derive(Clone, Debug, PartialEq)]
pub struct JobShape {
    name: String,
    /// Map tasks and reduce tasks.
    tasks: [usize; 2],
    /// The phases of a map task.
    of_map: &'static [Phase],
    /// Pools for which tasks wait, and the kind of worker of each task; none if no task waits.
    pools: Option<(Pools, [Vec<usize>; 2])>,
    /// Tasks with equal times; none if no task waits.
    equal: Option<Vec<Likeness>>,
    /// Finished maps after which the shuffle starts, if it overlaps with maps.
    slowstart: Option<usize>,
    /// Phases of each task that take no time.
    at_once: Vec<bool>,
}

/// Tasks of a phase with equal times, as far as a folded net depends on this equality.
#[derive(Clone, Debug, PartialEq)]
struct Likeness {
    is_exponential: bool,
    /// For each task, the first task with the same mean.
    first: Vec<usize>,
}

/// Returns the structure that the net of a valid plan shares with other nets; none if the plan has stragglers or copies, if its tasks choose a kind of
/// worker, or if it has no net.
///
/// Exact: jobs of one shape have nets that are equal except for [`timings`]. If tasks wait, the same tasks also have
/// equal timings in each of these
/// nets, so the nets fold in the same way.
pub fn job_shape(plan: &Plan, phases: &JobPhases) -> Option<JobShape> {
    let tasks = [phases.maps_s.len(), phases.reduces_s.len()];
    if plan.stragglers.is_some()
        || plan.speculation.is_some()
        || tasks[0] == 0
        || (plan.model.slots && phases.kinds.is_some())
    {
        return None;
    }
    let mut at_once = Vec::new();
    for mean_s in plan.phases_of_job().into_iter().flat_map(|phase| firing_means(plan, phases, phase)) {
        if !(mean_s.is_finite() && mean_s >= 0.0) {
            return None;
        }
        at_once.push(is_at_once(mean_s));
    }
    at_once.push(end_timing(phases.end_s).is_none());
    let pools = Some(pools_of(plan, phases).ok()?).filter(|pools| *pools != Pools::default());
    let pools = pools.map(|pools| (pools, [phases.map_nodes.clone(), phases.reduce_nodes.clone()]));
    let equal =
        pools.is_some().then(|| plan.phases_of_job().into_iter().map(|phase| likeness(plan, phases, phase)).collect());
    let slowstart = plan.model.maps_before_shuffle(tasks[0]);
    Some(JobShape {
        name: plan.job.name.clone(),
        tasks,
        of_map: plan.phases_of_map(),
        pools,
        equal,
        slowstart,
        at_once,
    })
}

fn likeness(plan: &Plan, phases: &JobPhases, phase: Phase) -> Likeness {
    let mut known = HashMap::new();
    let means = firing_means(plan, phases, phase).enumerate();
    let first = means.map(|(task, mean_s)| *known.entry(mean_s.to_bits()).or_insert(task)).collect();
    Likeness { is_exponential: plan.model.distribution.get(phase).with_mean(1.0).is_none(), first }
}

/// Returns the timings of all phases in a net of the same shape, whose transitions are given by `of`.
pub fn timings(plan: &Plan, phases: &JobPhases, of: &PhaseMap) -> Vec<(TransitionId, Timing)> {
    let of_phase = |phase| {
        let means = firing_means(plan, phases, phase).map(move |mean_s| timing_of(plan, phase, mean_s));
        of.transitions(phase).iter().copied().zip(means)
    };
    plan.phases_of_job().into_iter().flat_map(of_phase).chain(of.commit.zip(end_timing(phases.end_s))).collect()
}

/// Returns the clean-up after the last task, of fixed length; none if it takes no time.
pub(super) fn end_timing(end_s: f64) -> Option<Timing> {
    (!is_at_once(end_s)).then(|| Timing::general(Law::Deterministic { delay: end_s }))
}

/// Returns the mean time of one firing of each transition of a phase: the shuffle copies the maps' outputs one by one if it overlaps with the maps.
pub(super) fn firing_means<'a>(
    plan: &Plan,
    phases: &'a JobPhases,
    phase: Phase,
) -> impl Iterator<Item = f64> + use<'a> {
    let is_by_map = phase == Phase::Shuffle && plan.model.slowstart.is_some();
    let firings = if is_by_map { phases.maps_s.len() as f64 } else { 1.0 };
    phases.means_of(phase).map(move |mean_s| mean_s / firings)
}

/// Returns the timing of a phase with this mean: immediate, or by the plan's distribution.
pub(super) fn timing_of(plan: &Plan, phase: Phase, mean_s: f64) -> Timing {
    match plan.model.distribution.get(phase).with_mean(mean_s) {
        _ if is_at_once(mean_s) => Timing::immediate(1.0, PRIORITY),
        Some(law) => Timing::general(law),
        None => Timing::exponential(mean_s.recip()),
    }
}

/// Returns true if a mean is 0, or so short that its rate is not a finite number.
fn is_at_once(mean_s: f64) -> bool {
    !mean_s.recip().is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapreduce::{job_net, phase_times};
    use crate::net::Net;

    fn made(text: &str) -> (Plan, JobPhases, Option<JobShape>) {
        let mut plan = Plan::from_toml(text).unwrap();
        plan.model.slots = text.contains("model.slots = true");
        let phases = phase_times(&plan, &mut || 0.5).unwrap();
        let shape = job_shape(&plan, &phases);
        (plan, phases, shape)
    }

    const BASE: &str = "job.input_mb = 320\njob.reduces = 3\n";

    /// Returns the net of a job, derived from the net of another job with the same shape.
    fn by_timings(text: &str, other: &str) -> Net {
        let (plan, phases, shape) = made(text);
        let (base, base_phases, base_shape) = made(other);
        assert!(shape.is_some() && shape == base_shape, "{text}");
        let job = job_net(&base, &base_phases).unwrap();
        let mut builder = job.net.to_builder();
        let all = timings(&plan, &phases, &job.phases);
        for (id, timing) in all {
            builder.transition_mut(id).timing = timing;
        }
        builder.build().unwrap()
    }

    #[test]
    fn a_job_of_the_same_shape_differs_by_its_timings() {
        for more in [
            "[[cluster.node]]\ngpu_speed = 3.0\ncount = 4\n",
            "[model.distribution]\ngpu = { erlang = 3 }\nspill = \"deterministic\"\n",
            "[hadoop]\nsort_mb = 17\n",
        ] {
            let text = format!("{BASE}{more}");
            let (plan, phases, _) = made(&text);
            assert_eq!(by_timings(&text, BASE), job_net(&plan, &phases).unwrap().net, "{more}");
        }
        let overlap = format!("{BASE}model.slowstart = 0.4\n");
        let faster = format!("{overlap}[[cluster.node]]\nnetwork_mb_per_s = 500.0\ncount = 4\n");
        let (plan, phases, _) = made(&faster);
        assert_eq!(by_timings(&faster, &overlap), job_net(&plan, &phases).unwrap().net);
        let slots = format!("{BASE}model.slots = true\n");
        let faster = format!("{slots}[[cluster.node]]\ngpu_speed = 3.0\ncount = 4\n");
        let (plan, phases, _) = made(&faster);
        let base = format!("{slots}[[cluster.node]]\ncount = 4\n");
        assert_eq!(by_timings(&faster, &base), job_net(&plan, &phases).unwrap().net);
    }

    #[test]
    fn other_shapes_are_noticed() {
        let shape = |more: &str| made(&format!("{BASE}{more}")).2;
        let base = shape("").unwrap();
        for more in [
            "model.slots = true\n",
            "model.slowstart = 0.05\n",
            "[[cluster.node]]\ncount = 4\ngpus = 1\n",
            "job.name = \"other\"\n",
            "job.split_mb = 32\n",
        ] {
            assert!(shape(more).is_some_and(|shape| shape != base), "{more}");
        }
        assert_eq!(shape("[stragglers]\nshare = 0.1\n"), None);
        let given = |last: u32| {
            made(&format!("[phases]\nmaps = 2\nreduces = 2\nmeans_s = [1, 1, 1, 1, 1, 1, 1, 1, {last}]\n")).2
        };
        assert_eq!(given(1), given(2));
        assert_ne!(given(1), given(0));
    }
}
