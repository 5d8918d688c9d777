//! The net of a job: nine phases from left to right, one row per task.
//!
//! Defines the places, transitions, ids and positions of SPN-GC \[PESARO15, Sec. II.A\]. The mean times come from
//! `task_times`; this module does not compute times.
//!
//! ```text
//!                 map task j = 1..M                                                reduce task r = 1..R
//! start ─load─▶ splitj ─readj─▶ fetchedj ─toGpuj─▶ onGpuj ─gpuj─▶ computedj ─toHostj─▶ onHostj ─spillj─▶
//!               spilled ═M═shuffle─▶ shuffledr ─merger─▶ mergedr ─reducer─▶ doner
//! ```
//!
//! Places 5M + 3R + 2, transitions 5M + 2R + 2 \[PESARO15, Eq. 1, 2\], all single server. The only dead marking has one
//! token on every `doner`: the job is complete. Ids consist of letters and digits, as PIPE's expressions require.
//!
//! With slots, a task waits on `waitingMapj` (`waitingReducer`) until the immediate transition `startMapj`
//! (`startReducer`) gives it a token of `mapSlots` (`reduceSlots`), which `spillj` (`reducer`) gives back. The net then
//! has 6M + 4R + 4 places and 6M + 3R + 2 transitions. If workers differ, each kind of worker has its own slots
//! (`mapSlots1` and `reduceSlots1` for the first kind of the plan). A waiting task takes a slot of the fastest kind that has a free one, by the
//! priorities of the transitions `startMapjk1`, `startMapjk2`, and has places and transitions of its own for each kind (`readjk1`). With stragglers or copies, a task is assigned
//! to a kind in advance instead, by mean times, and takes a slot of that kind. The start is a separate transition because a timed `readj` that took the slot itself would take
//! it when it *ends*, and all tasks would read simultaneously. Waiting tasks start in random order; a slot belongs to
//! all workers of its kind, not to a single worker.
//!
//! With `gpus`, phase 3 is two steps: the map function `mapj`, then the copy `toGpuj`. Between them a map waits on `waitingGpuj` until the immediate
//! transition `startGpuj` gives it a token of `gpus` (`gpus1` for the first kind of worker if kinds differ), which `toHostj` gives back. This adds two
//! places per map task, and one pool. With `gpus = 0`, a map is `readj`, `mapj` and `spillj`: three places less per map task, and two transitions.
//!
//! Without reduces, the immediate transition `commit` moves all tokens of `spilled` to `finished`.
//!
//! With `model.slowstart`, the shuffle overlaps with the maps, as in Hadoop. Once a share of the maps has finished, the
//! shuffle copies the outputs of finished maps one after the other, each in 1/M of the phase's mean time. This adds
//! three places and two immediate transitions:
//!
//! ```text
//! waitingShuffle ─┐
//! spilled ═k═slowstart═k═▶ spilled      spilled, shuffling ─shuffle─▶ copied, shuffling
//!                 └▶ shuffling          copied ═M═allCopied─▶ shuffledr
//! ```
//!
//! With a clean-up (`framework.cleanup_s`, `[residual]`), all reduces mark `reduced`, and the transition `commit` moves
//! all of these tokens to `finished`: one transition more, and R - 2 places fewer.
//!
//! A phase with mean 0 is an immediate transition, which is the limit of an exponential transition with a growing rate.
//! PIPE and the exact solvers support immediate transitions, but not a deterministic delay of 0.

use std::collections::HashMap;

use crate::mapreduce::augmented::AttemptParts;
use crate::mapreduce::draft::{Draft, Roles, Task};
use crate::mapreduce::net_error::JobNetError;
use crate::mapreduce::params::Plan;
use crate::mapreduce::phase::Phase;
use crate::mapreduce::phase_map::PhaseMap;
use crate::mapreduce::slots::{Pools, pools_of};
use crate::mapreduce::speculation::speculate;
use crate::mapreduce::straggler::{WhichTasks, straggle};
use crate::mapreduce::task_chain::TaskChain;
use crate::mapreduce::task_times::JobPhases;
use crate::net::{Net, NetBuilder, PartSink, PlaceId, TransitionId};

/// The net of a job, with the roles of its parts.
#[derive(Clone, Debug, PartialEq)]
pub struct JobNet {
    /// The net.
    pub net: Net,
    /// The transitions of each phase.
    pub phases: PhaseMap,
    /// The places that all hold a token when the job is complete: one per reduce task, in task order, or the
    /// place after the clean-up.
    pub done: Vec<PlaceId>,
    /// The map tasks, then the reduce tasks, in the form required by `straggle` and `speculate`.
    pub tasks: Vec<TaskChain>,
    /// The parts of each task's attempts, if the plan has stragglers or speculation; otherwise empty.
    pub attempts: Vec<AttemptParts>,
}

/// Returns the net of `plan`'s job with the mean times `phases`.
///
/// The structure is the paper's, see the module; delays have the shapes of `model.distribution` with the means in
/// `phases`. Exact translation: no approximation is added. Source: \[PESARO15, Sec. II.A\]; slots and shapes are our
/// additions.
///
/// # Errors
///
/// All variants of [`JobNetError`].
///
/// # Examples
///
/// ```
/// use tailspn_jobs::mapreduce::{Plan, job_net, phase_times};
///
/// let plan = Plan::from_toml("[job]\ninput_mb = 192\nreduces = 2\n[model]\nslots = false").unwrap();
/// let job = job_net(&plan, &phase_times(&plan, &mut || 0.5).unwrap()).unwrap();
/// assert_eq!((job.net.places().len(), job.net.transitions().len()), (23, 21)); // Fig. 4 of the paper
/// ```
pub fn job_net(plan: &Plan, phases: &JobPhases) -> Result<JobNet, JobNetError> {
    let pools = checked(plan, phases)?;
    let has_attempts = plan.stragglers.is_some() || plan.speculation.is_some();
    if has_attempts && pools.gpus.is_some() {
        return Err(JobNetError::GpusOfAttempts);
    }
    let mut net = NetBuilder::new(plan.job.name.clone());
    let mut draft = Draft::new(plan, pools, &mut net);
    draft.roles = Some(Roles::default());
    let done = draft.all(phases);
    let Roles { of_phase, commit, tasks } = draft.roles.unwrap_or_default();
    let chain = |Task { name, start, stages, slots }| TaskChain { name, start, stages, slots };
    let tasks = tasks.into_iter().map(chain).collect();
    let net = net.build().map_err(JobNetError::Parts)?;
    let job = JobNet { net, phases: PhaseMap { of_phase, commit }, done, tasks, attempts: Vec::new() };
    if has_attempts { augmented(plan, job) } else { Ok(job) }
}

/// Passes the parts of `plan`'s net, without its stragglers and copies, to `sink`: those of [`job_net`], in the same order.
///
/// # Errors
///
/// As [`job_net`], before any part was passed on.
pub fn job_parts(plan: &Plan, phases: &JobPhases, sink: &mut impl PartSink) -> Result<(), JobNetError> {
    let pools = checked(plan, phases)?;
    Draft::new(plan, pools, sink).all(phases);
    Ok(())
}

/// Returns the slots and GPUs of a job, if it has a net.
fn checked(plan: &Plan, phases: &JobPhases) -> Result<Pools, JobNetError> {
    let problems = plan.problems();
    if !problems.is_empty() {
        return Err(JobNetError::Plan(problems));
    }
    if phases.maps_s.is_empty() {
        return Err(JobNetError::NoTask);
    }
    if plan.shares_workers() {
        return Err(JobNetError::SharedWorkers);
    }
    for phase in Phase::ALL {
        if let Some(mean_s) = phases.means_of(phase).find(|mean| !(mean.is_finite() && *mean >= 0.0)) {
            return Err(JobNetError::BadTime { phase, mean_s });
        }
    }
    pools_of(plan, phases)
}

/// Returns the job with the plan's stragglers and copies.
fn augmented(plan: &Plan, mut job: JobNet) -> Result<JobNet, JobNetError> {
    let maps = job.phases.transitions(Phase::Read).len();
    let stragglers = plan.stragglers_or_none();
    let tasks = match stragglers.tasks {
        WhichTasks::All => &job.tasks[..],
        WhichTasks::Maps => &job.tasks[..maps],
        WhichTasks::Reduces => &job.tasks[maps..],
    };
    // a task whose phases all have mean 0 cannot be slow
    let takes_time = |task: &&TaskChain| task.stages.iter().any(|&stage| !job.net.transition(stage).is_immediate());
    let tasks: Vec<TaskChain> = tasks.iter().filter(takes_time).cloned().collect();
    let made = match &plan.speculation {
        Some(speculation) => speculate(&job.net, &tasks, &stragglers, speculation)?,
        None => straggle(&job.net, &tasks, &stragglers)?,
    };
    let of_phase = &mut job.phases.of_phase;
    let numbered = of_phase.iter().enumerate().flat_map(|(phase, all)| all.iter().map(move |&stage| (stage, phase)));
    let phase_of: HashMap<TransitionId, usize> = numbered.collect();
    for (new, stage) in &made.stages {
        if let Some(&phase) = phase_of.get(stage) {
            of_phase[phase].push(*new);
        }
    }
    (job.net, job.attempts) = (made.net, made.tasks);
    Ok(job)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapreduce::phase_law::PhaseLaw;
    use crate::mapreduce::task_times::phase_times;
    use crate::net::{ArcKind, Delay, Law, Timing};
    use std::collections::BTreeSet;

    fn plan(maps: u64, reduces: u64) -> Plan {
        let text = format!(
            "[phases]\nmaps = {maps}\nreduces = {reduces}\nmeans_s = [5, 1, 2, 8, 1, 3, 6, 2, 7]\n[model]\nslots = false"
        );
        Plan::from_toml(&text).unwrap()
    }

    fn made(plan: &Plan) -> JobNet {
        job_net(plan, &phase_times(plan, &mut || 0.5).unwrap()).unwrap()
    }

    /// Returns the tokens that the arcs of `net` take from and put to places for one firing of `t`, as (place id, change).
    fn changes(net: &Net, t: &str) -> BTreeSet<(String, i64)> {
        let t = net.find_transition(t).unwrap();
        let of_t = net.arcs().iter().filter(|a| a.transition == t);
        let change = of_t.map(|a| {
            let weight = a.weights[0].weight.as_number().unwrap() as i64;
            let sign = if a.kind == ArcKind::Output { 1 } else { -1 };
            (net.place(a.place).id.clone(), sign * weight)
        });
        change.collect()
    }

    fn expected<const N: usize>(changes: [(&str, i64); N]) -> BTreeSet<(String, i64)> {
        changes.into_iter().map(|(place, change)| (place.to_owned(), change)).collect()
    }

    #[test]
    fn counts_are_those_of_equations_1_and_2() {
        for (m, r) in [(1, 1), (3, 2), (7, 1), (2, 9), (160, 40)] {
            let net = made(&plan(m, r)).net;
            let counts = (net.places().len() as u64, net.transitions().len() as u64);
            assert_eq!(counts, (5 * m + 3 * r + 2, 5 * m + 2 * r + 2));
            assert!(net.transitions().iter().all(|t| !t.is_immediate()));
            // load 1 + M, phases 2..6 2 each, shuffle 1 + R, phases 8 and 9 2 each
            assert_eq!(net.arcs().len() as u64, (1 + m) + 10 * m + (1 + r) + 4 * r);
        }
    }

    /// With GPUs for which maps wait, phase 3 is two steps; without GPUs, a map has three phases; without reduces, the job ends with its last map.
    #[test]
    fn phases_are_those_of_the_plan() {
        let text = |gpus: &str, reduces: u64| {
            format!(
                "[job]\ninput_mb = 128\nreduces = {reduces}\n[[cluster.node]]\ngpus = {gpus}\n[model]\nslots = false"
            )
        };
        let of_map = |net: &Net| -> Vec<String> {
            let ids = net.transitions().iter().map(|t| t.id.clone());
            ids.filter(|id| id.ends_with('1') && !id.starts_with("merge") && !id.starts_with("reduce")).collect()
        };
        let gpus = made(&Plan::from_toml(&text("1", 1)).unwrap()).net;
        assert_eq!(of_map(&gpus), ["read1", "map1", "startGpu1", "toGpu1", "gpu1", "toHost1", "spill1"]);
        assert_eq!(changes(&gpus, "startGpu1"), expected([("waitingGpu1", -1), ("gpus", -1), ("mapped1", 1)]));
        let none = made(&Plan::from_toml(&text("0", 1)).unwrap()).net;
        assert_eq!(of_map(&none), ["read1", "map1", "spill1"]);
        assert_eq!(changes(&none, "map1"), expected([("fetched1", -1), ("onHost1", 1)]));
        let map_only = made(&Plan::from_toml(&text("0", 0)).unwrap());
        assert_eq!(changes(&map_only.net, "commit"), expected([("spilled", -2), ("finished", 1)]));
        let done: Vec<_> = map_only.done.iter().map(|place| map_only.net.place(*place).id.as_str()).collect();
        assert_eq!((done, map_only.net.find_transition("shuffle")), (vec!["finished"], None));
    }

    #[test]
    fn a_job_written_in_parts_equals_the_job_net() {
        let kinds = "[[cluster.node]]\nname = \"a\"\n[[cluster.node]]\nname = \"b\"\ngpu_speed = 0.1\ngpus = 1";
        for text in [
            "[model]\nslots = false",
            "[model]\nslots = true\nslowstart = 0.5\n[framework]\ncleanup_s = 3",
            &format!("[job]\ninput_mb = 640\nreduces = 3\n[model]\nslots = true\n{kinds}"),
        ] {
            let plan = Plan::from_toml(text).unwrap();
            let phases = phase_times(&plan, &mut || 0.5).unwrap();
            let mut parts = NetBuilder::new(plan.job.name.clone());
            job_parts(&plan, &phases, &mut parts).unwrap();
            assert_eq!(parts.build().unwrap(), job_net(&plan, &phases).unwrap().net, "{text}");
        }
        let none = JobPhases { maps_s: Vec::new(), ..phase_times(&plan(3, 2), &mut || 0.5).unwrap() };
        let mut parts = NetBuilder::new("");
        assert!(matches!(job_parts(&plan(3, 2), &none, &mut parts), Err(JobNetError::NoTask)));
        assert!(parts.places().is_empty());
    }

    #[test]
    fn each_transition_moves_the_tokens_of_the_paper() {
        let net = made(&plan(3, 2)).net;
        assert_eq!(changes(&net, "load"), expected([("start", -1), ("split1", 1), ("split2", 1), ("split3", 1)]));
        assert_eq!(changes(&net, "read2"), expected([("split2", -1), ("fetched2", 1)]));
        assert_eq!(changes(&net, "toGpu2"), expected([("fetched2", -1), ("onGpu2", 1)]));
        assert_eq!(changes(&net, "gpu2"), expected([("onGpu2", -1), ("computed2", 1)]));
        assert_eq!(changes(&net, "toHost2"), expected([("computed2", -1), ("onHost2", 1)]));
        assert_eq!(changes(&net, "spill2"), expected([("onHost2", -1), ("spilled", 1)]));
        assert_eq!(changes(&net, "shuffle"), expected([("spilled", -3), ("shuffled1", 1), ("shuffled2", 1)]));
        assert_eq!(changes(&net, "merge1"), expected([("shuffled1", -1), ("merged1", 1)]));
        assert_eq!(changes(&net, "reduce1"), expected([("merged1", -1), ("done1", 1)]));
    }

    #[test]
    fn shuffle_takes_all_maps_in_one_arc() {
        let net = made(&plan(160, 40)).net;
        let shuffle = net.find_transition("shuffle").unwrap();
        let inputs: Vec<_> =
            net.arcs().iter().filter(|a| a.transition == shuffle && a.kind == ArcKind::Input).collect();
        assert_eq!(inputs.len(), 1);
        assert_eq!(inputs[0].weights[0].weight.as_number(), Some(160.0));
    }

    #[test]
    fn firing_all_once_leaves_only_done_places_marked() {
        for slots in [false, true] {
            let mut plan = plan(4, 3);
            plan.model.slots = slots;
            let job = made(&plan);
            let mut tokens: Vec<i64> = job.net.places().iter().map(|p| i64::from(p.initial[0])).collect();
            for arc in job.net.arcs() {
                let weight = arc.weights[0].weight.as_number().unwrap() as i64;
                tokens[arc.place.index()] += if arc.kind == ArcKind::Output { weight } else { -weight };
            }
            for (place, left) in job.net.places().iter().zip(tokens) {
                let expected = match place.id.as_str() {
                    "mapSlots" => 16,
                    "reduceSlots" => 8,
                    id => i64::from(id.starts_with("done")),
                };
                assert_eq!(left, expected, "{}", place.id);
            }
        }
    }

    #[test]
    fn slots_add_a_start_to_each_task_and_two_places() {
        let mut plan = plan(3, 2);
        plan.model.slots = true;
        let job = made(&plan);
        let counts = (job.net.places().len(), job.net.transitions().len());
        assert_eq!(counts, (6 * 3 + 4 * 2 + 4, 6 * 3 + 3 * 2 + 2));
        let start = expected([("waitingMap1", -1), ("mapSlots", -1), ("split1", 1)]);
        assert_eq!(changes(&job.net, "startMap1"), start);
        assert_eq!(changes(&job.net, "spill1"), expected([("onHost1", -1), ("spilled", 1), ("mapSlots", 1)]));
        let start = expected([("waitingReduce2", -1), ("reduceSlots", -1), ("shuffled2", 1)]);
        assert_eq!(changes(&job.net, "startReduce2"), start);
        assert_eq!(changes(&job.net, "reduce2"), expected([("merged2", -1), ("done2", 1), ("reduceSlots", 1)]));
        let slots = job.net.find_place("mapSlots").unwrap();
        assert_eq!(job.net.place(slots).initial, [16]);
        assert_eq!(job.net.transitions().iter().filter(|t| t.is_immediate()).count(), 5);
    }

    #[test]
    fn with_slowstart_the_shuffle_copies_map_by_map() {
        let mut plan = plan(30, 2);
        plan.model.slowstart = Some(0.05);
        let net = made(&plan).net;
        assert_eq!((net.places().len(), net.transitions().len()), (5 * 30 + 3 * 2 + 5, 5 * 30 + 2 * 2 + 4));
        // 5% of 30 maps are two
        let weights: Vec<_> = net.arcs().iter().filter(|a| net.transition(a.transition).id == "slowstart").collect();
        assert!(weights.iter().any(|a| a.weights[0].weight.as_number() == Some(2.0)));
        assert_eq!(
            changes(&net, "shuffle"),
            expected([("spilled", -1), ("shuffling", -1), ("shuffling", 1), ("copied", 1)])
        );
        assert_eq!(changes(&net, "allCopied"), expected([("copied", -30), ("shuffled1", 1), ("shuffled2", 1)]));
        let shuffle = net.transition(net.find_transition("shuffle").unwrap()).timing.clone();
        assert_eq!(shuffle, Timing::exponential((6.0_f64 / 30.0).recip()));
        for (share, maps) in [(0.0, 1), (0.05, 2), (0.1, 3), (1.0, 30)] {
            plan.model.slowstart = Some(share);
            assert_eq!(plan.model.maps_before_shuffle(30), Some(maps));
        }
    }

    #[test]
    fn phase_map_names_the_transitions_in_task_order() {
        let job = made(&plan(3, 2));
        let names: Vec<String> = job
            .phases
            .iter()
            .map(|(_, of)| of.iter().map(|t| job.net.transition(*t).id.as_str()).collect::<Vec<_>>().join(" "))
            .collect();
        let expected = [
            "load",
            "read1 read2 read3",
            "toGpu1 toGpu2 toGpu3",
            "gpu1 gpu2 gpu3",
            "toHost1 toHost2 toHost3",
            "spill1 spill2 spill3",
            "shuffle",
            "merge1 merge2",
            "reduce1 reduce2",
        ];
        assert_eq!(names, expected);
        let done: Vec<&str> = job.done.iter().map(|p| job.net.place(*p).id.as_str()).collect();
        assert_eq!(done, ["done1", "done2"]);
    }

    #[test]
    fn ids_suit_expressions_of_pipe() {
        let mut plan = plan(2, 2);
        plan.model.slots = true;
        let net = made(&plan).net;
        let fine = |id: &str| {
            id.starts_with(|c: char| c.is_ascii_alphabetic()) && id.chars().all(|c| c.is_ascii_alphanumeric())
        };
        assert!(net.places().iter().all(|p| fine(&p.id)) && net.transitions().iter().all(|t| fine(&t.id)));
        assert!(net.places().iter().all(|p| net.expression(&format!("#({})", p.id)).is_ok()));
    }

    #[test]
    fn phases_lie_in_columns_from_left_to_right_and_no_two_parts_coincide() {
        for (slots, slowstart) in [(false, None), (true, None), (false, Some(0.5)), (true, Some(0.5))] {
            let mut plan = plan(4, 2);
            plan.model.slots = slots;
            plan.model.slowstart = slowstart;
            let job = made(&plan);
            let x = |t: &TransitionId| job.net.transition(*t).position.unwrap().x;
            let columns: Vec<f64> = job.phases.iter().map(|(_, of)| x(&of[0])).collect();
            assert!(columns.is_sorted_by(|a, b| a < b));
            assert!(job.phases.iter().all(|(_, of)| of.iter().all(|t| x(t).to_bits() == x(&of[0]).to_bits())));
            let parts =
                job.net.places().iter().map(|p| p.position).chain(job.net.transitions().iter().map(|t| t.position));
            let seen: BTreeSet<(u64, u64)> = parts.flatten().map(|p| (p.x.to_bits(), p.y.to_bits())).collect();
            assert_eq!(seen.len(), job.net.places().len() + job.net.transitions().len());
        }
    }

    #[test]
    fn rates_and_laws_are_those_of_the_plan() {
        let mut plan = plan(1, 1);
        plan.model.distribution.read = PhaseLaw::Erlang(4);
        plan.phases.as_mut().unwrap().means_s[4] = 0.0; // phase 5
        let net = made(&plan).net;
        let timing = |id: &str| net.transition(net.find_transition(id).unwrap()).timing.clone();
        assert_eq!(timing("gpu1"), Timing::exponential(1.0 / 8.0));
        let Timing::Timed { delay, .. } = timing("read1") else { panic!("phase 2 is timed") };
        assert_eq!(delay, Delay::General(Law::Erlang { stages: 4, mean: 1.0 }));
        assert_eq!(timing("toHost1"), Timing::immediate(1.0, 1));
    }

    #[test]
    fn bad_times_and_plans_are_errors() {
        let mut plan = plan(2, 1);
        let mut phases = phase_times(&plan, &mut || 0.5).unwrap();
        phases.maps_s[1][3] = -1.0;
        assert_eq!(job_net(&plan, &phases), Err(JobNetError::BadTime { phase: Phase::Gpu, mean_s: -1.0 }));
        phases.maps_s.clear();
        assert_eq!(job_net(&plan, &phases), Err(JobNetError::NoTask));
        plan.job.split_mb = 0.0;
        assert!(matches!(job_net(&plan, &phases), Err(JobNetError::Plan(_))));
    }
}
