//! A MapReduce job in the form that runs task by task: the phase means of its tasks, without the net.
//!
//! Detectors decide by the progress and the ages of tasks, which the net does not have. So policies against
//! stragglers are compared task by task by
//! [`crate::cluster`], with the means and distributions of the plan. A task is the sum of its phases; loading and the shuffle come
//! before the maps and before the reduces.

use crate::job::{
    Delay, FirstTasks, Job, JobStage, Machine, Phase as TaskPhase, Spread, Step, Steps, TaskGroup, Tasks, Varies,
};
use crate::mapreduce::law_quantiles::LawTables;
use crate::mapreduce::params::{Node, Plan};
use crate::mapreduce::parts::{Parts, parts};
use crate::mapreduce::phase::Phase;
use crate::mapreduce::phase_law::PhaseLaw;
use crate::mapreduce::spn_gc;
use crate::mapreduce::straggler::{Stragglers, WhichTasks};
use crate::mapreduce::task_times::{PhaseTimesError, given_task_s, last_map_ratio, phase_times, task_means};
use crate::mapreduce::uses::Sharing;

/// Minimum mean time of a task \[s\].
const SHORTEST_S: f64 = 1e-6;

/// Maps or reduces.
struct Kind<'a> {
    count: u64,
    after: Vec<usize>,
    setup_s: f64,
    overlap: Option<u32>,
    /// The phase before the first task.
    setup: Phase,
    phases: &'a [Phase],
    /// Means of the phases \[s\], for each kind of worker.
    means_s: Vec<Vec<f64>>,
    slots: fn(&Node) -> u64,
    /// Setting of `stragglers.tasks` with which these tasks are never stragglers.
    others: WhichTasks,
    /// Time of the last task, relative to the other tasks.
    last_ratio: f64,
}

/// Returns the job of a plan in the form that runs task by task. Tasks wait for slots, regardless of
/// `model.slots`. Exact, except that every map has the mean share of its input on its local disk, and that the phases of the last map, whose split may be
/// smaller, have the shares of the other maps.
///
/// # Errors
///
/// [`PhaseTimesError`], for a plan with problems.
pub fn job_of(plan: &Plan) -> Result<Job, PhaseTimesError> {
    job_with(plan, &LawTables::default())
}

/// Same as [`job_of`], with `tables` for the distributions, which many plans may have in common.
///
/// # Errors
///
/// As [`job_of`].
pub fn job_with(plan: &Plan, tables: &LawTables) -> Result<Job, PhaseTimesError> {
    let phases = phase_times(plan, &mut || 0.0)?;
    let means = task_means(plan);
    let maps = Kind {
        count: plan.maps(),
        after: Vec::new(),
        setup_s: phases.load_s,
        overlap: None,
        setup: Phase::Load,
        phases: &Phase::OF_MAP,
        means_s: means.iter().map(|(map, _)| map.to_vec()).collect(),
        slots: |node| node.map_slots,
        others: WhichTasks::Reduces,
        last_ratio: last_map_ratio(plan),
    };
    let reduces = Kind {
        count: plan.reduces(),
        after: vec![0],
        setup_s: phases.shuffle_s,
        overlap: plan.model.maps_before_shuffle(small(plan.maps()) as usize).map(|maps| small(maps as u64)),
        setup: Phase::Shuffle,
        phases: &Phase::OF_REDUCE,
        means_s: means.iter().map(|(_, reduce)| reduce.to_vec()).collect(),
        slots: |node| node.reduce_slots,
        others: WhichTasks::Maps,
        last_ratio: 1.0,
    };
    let kinds = [maps, reduces].into_iter().filter(|kind| kind.count > 0);
    let stages = kinds.map(|kind| stage(kind, plan, tables)).collect();
    let machines = workers(plan).map(|(_, node)| machine(node)).collect();
    Ok(Job { machines, stages, end: Delay::always(phases.end_s) })
}

fn machine(node: &Node) -> Machine {
    let slots = small(node.map_slots.max(node.reduce_slots));
    Machine {
        cores: node.host_cores.unwrap_or(f64::INFINITY).min(f64::from(slots)),
        shares_disk: node.disk == Sharing::Shared,
        shares_network: node.network == Sharing::Shared,
        permits: node.permits().map(small),
        shared_gpus: node.shared_gpus().map(small),
        ..Machine::with_slots(slots)
    }
}

/// Returns every worker with the number of its kind.
fn workers(plan: &Plan) -> impl Iterator<Item = (usize, &Node)> {
    let kinds = plan.cluster.node.iter().enumerate();
    kinds.flat_map(|(kind, node)| std::iter::repeat_n((kind, node), small(node.count) as usize))
}

fn stage(tasks: Kind<'_>, plan: &Plan, tables: &LawTables) -> JobStage {
    let total = |kind: usize| tasks.means_s[kind].iter().sum::<f64>().max(SHORTEST_S);
    // the mean over slots
    let slots: Vec<u32> = workers(plan).map(|(_, node)| small((tasks.slots)(node))).collect();
    let all: f64 = slots.iter().copied().map(f64::from).sum();
    let usual_s =
        workers(plan).zip(&slots).map(|((kind, _), slots)| f64::from(*slots) * total(kind)).sum::<f64>() / all;
    let last = TaskGroup { tasks: 1, usual_s: usual_s * tasks.last_ratio, size: tasks.last_ratio };
    let others = TaskGroup { tasks: small(tasks.count).saturating_sub(1), usual_s, size: 1.0 };
    let stragglers = plan.stragglers.clone().filter(|stragglers| stragglers.tasks != tasks.others);
    let (spread, found) = spread(plan, &tasks, usual_s, tables);
    JobStage {
        setup: delay(tasks.setup_s, plan.model.distribution.get(tasks.setup), tables),
        overlap: tasks.overlap,
        tasks: Tasks::Groups([others, last].into_iter().filter(|group| group.tasks > 0).collect()),
        steps: steps(plan, &tasks, &found),
        spread,
        slots: Some(slots),
        stragglers: stragglers.map(|stragglers| Stragglers { tasks: WhichTasks::All, ..stragglers }),
        after: tasks.after,
    }
}

/// Returns the time of a phase of the whole job.
fn delay(mean_s: f64, law: &PhaseLaw, tables: &LawTables) -> Delay {
    match law {
        PhaseLaw::Deterministic => Delay::always(mean_s),
        law => Delay { mean_s, varies: Varies::Law(tables.get(law)) },
    }
}

/// Returns the distributions of the phases of a task, their means on each worker, and the places of these phases among the phases of the kind.
fn spread(plan: &Plan, tasks: &Kind<'_>, usual_s: f64, tables: &LawTables) -> (Spread, Vec<usize>) {
    let takes_time = |phase: &usize| tasks.means_s.iter().any(|means| means[*phase] > 0.0);
    let found: Vec<usize> = (0..tasks.phases.len()).filter(takes_time).collect();
    if found.is_empty() {
        return (Spread::alike(tables.get(&PhaseLaw::Deterministic)), found);
    }
    let law = |phase: &usize| TaskPhase::Law(tables.get(plan.model.distribution.get(tasks.phases[*phase])));
    let means = |kind: usize| found.iter().map(|phase| tasks.means_s[kind][*phase] / usual_s).collect::<Vec<_>>();
    let of_workers = || workers(plan).flat_map(|(kind, _)| means(kind)).collect();
    let means = if plan.cluster.node.len() == 1 { means(0) } else { of_workers() };
    (Spread { phases: found.iter().map(law).collect(), means }, found)
}

/// Returns the means of the phases `found` in the first tasks of slots, relative to the usual time of tasks; none if they do not differ.
fn first_tasks(plan: &Plan, tasks: &Kind<'_>, found: &[usize]) -> Option<FirstTasks> {
    let (map_s, reduce_s) = given_task_s(plan, &plan.first_phases()?);
    let is_map = tasks.setup == Phase::Load;
    let means_s: &[f64] = if is_map { &map_s } else { &reduce_s };
    let usual_s = tasks.means_s.first()?.iter().sum::<f64>().max(SHORTEST_S);
    let slots = if is_map { plan.map_slots() } else { plan.reduce_slots() };
    Some(FirstTasks { tasks: small(slots), means: found.iter().map(|phase| means_s[*phase] / usual_s).collect() })
}

/// Returns the steps of a task with the phases `found`; none if tasks share nothing.
fn steps(plan: &Plan, tasks: &Kind<'_>, found: &[usize]) -> Steps {
    if !plan.shares_workers() && !plan.waits_for_gpus() {
        return Steps { first: first_tasks(plan, tasks, found), ..Steps::default() };
    }
    let input = (spn_gc::local_share(plan), spn_gc::map_input_mb(plan, 0));
    let of_kind = |node: &Node, kind: usize| {
        let of_phase = |phase: &usize| {
            let whole_s = tasks.means_s[kind][*phase];
            let share = move |part_s: f64| if whole_s > 0.0 { part_s / whole_s } else { 0.0 };
            parts(plan, node, tasks.phases[*phase], whole_s, input)
                .in_order()
                .map(|(uses, part_s)| (uses, share(part_s)))
        };
        found.iter().map(of_phase).collect::<Vec<_>>()
    };
    let kinds: Vec<_> = plan.cluster.node.iter().enumerate().map(|(kind, node)| of_kind(node, kind)).collect();
    let first = first_tasks(plan, tasks, found);
    let mut made = Vec::new();
    let mut places = Vec::new();
    for (place, phase) in found.iter().enumerate() {
        let on_gpu = plan.waits_for_gpus() && [Phase::ToGpu, Phase::Gpu, Phase::ToHost].contains(&tasks.phases[*phase]);
        for (part, (uses, _)) in Parts::default().in_order().into_iter().enumerate() {
            if kinds.iter().any(|shares| shares[place][part].1 > 0.0) {
                made.push(Step { phase: place, uses, on_gpu });
                places.push((place, part));
            }
        }
    }
    let shares = |kind: usize| places.iter().map(|&(place, part)| kinds[kind][place][part].1).collect::<Vec<_>>();
    let of_workers = || workers(plan).flat_map(|(kind, _)| shares(kind)).collect();
    Steps { steps: made, shares: if kinds.len() == 1 { shares(0) } else { of_workers() }, first }
}

/// Converts a count of a valid plan to 32 bits.
fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Experiment, PolicyPlan, Replications};
    use crate::job::Uses;
    use crate::run::{JobRuns, RunMemory};

    fn mean_s(text: &str, replications: u64) -> (f64, f64) {
        let job = job_of(&Plan::from_toml(text).unwrap()).unwrap();
        let settings = Replications { count: replications, seed: 1, ..Replications::default() };
        let runs = Experiment::of_job(&job, &[PolicyPlan::default()], settings).run(&mut |_| true).unwrap();
        let times: Vec<f64> = runs[0].outcomes.iter().map(|outcome| outcome.job_s).collect();
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let variance = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / (times.len() - 1) as f64;
        (mean, (variance / times.len() as f64).sqrt())
    }

    /// Constant phases on slots: three waves of maps on 4 of the node's slots, two of reduces on 2 of them.
    #[test]
    fn maps_and_reduces_wait_for_their_own_slots() {
        let laws = "load = 'deterministic'\nread = 'deterministic'\nto_gpu = 'deterministic'\ngpu = 'deterministic'\n\
                    to_host = 'deterministic'\nspill = 'deterministic'\nshuffle = 'deterministic'\nmerge = 'deterministic'\n\
                    reduce = 'deterministic'\n";
        let text = format!(
            "[phases]\nmeans_s = [5, 1, 1, 1, 1, 1, 6, 2, 1]\nmaps = 12\nreduces = 4\n[[cluster.node]]\nmap_slots = 4\n\
             reduce_slots = 2\n[model.distribution]\n{laws}"
        );
        assert_eq!(mean_s(&text, 3).0, 5.0 + 3.0 * 5.0 + 6.0 + 2.0 * 3.0);
        let slow = format!("{text}[stragglers]\nshare = 1.0\nfactor = 2.0\ntasks = 'maps'\n");
        assert_eq!(mean_s(&slow, 3).0, 5.0 + 3.0 * 10.0 + 6.0 + 2.0 * 3.0);
    }

    /// Compares the mean time until the last task ends, on two kinds of workers with a slot for every task and
    /// exponential phases, with the formula of the net.
    #[test]
    fn with_a_slot_for_every_task_the_mean_is_that_of_the_formula() {
        use crate::mapreduce::analytic::JobTime;
        let text =
            "[phases]\nmeans_s = [4, 1, 2, 8, 1, 3, 6, 2, 7]\nmaps = 16\nreduces = 8\n[[cluster.node]]\ncount = 4\n";
        let plan = Plan::from_toml(text).unwrap();
        let exact = JobTime::of_plan(&plan, &phase_times(&plan, &mut || 0.0).unwrap()).unwrap().mean();
        let (mean, error) = mean_s(text, 20_000);
        assert!((mean - exact.get()).abs() < 5.0 * error && error < 0.003 * exact.get(), "{mean} {error} {exact}");
    }

    /// On each kind of worker, a map spends the seconds on the disk that its rates say: 64 MB at 110 MB/s, and at half of that.
    #[test]
    fn steps_have_the_seconds_of_their_own_kind_of_worker() {
        let text = "[job]\ninput_mb = 640\nreduces = 1\n[cluster]\nreplicas = 2\n[[cluster.node]]\ngpus = 0\ndisk = 'shared'\n\
                    [[cluster.node]]\ngpus = 0\ndisk = 'shared'\ndisk_read_mb_per_s = 55\ncpu_speed = 2";
        let job = job_of(&Plan::from_toml(text).unwrap()).unwrap();
        let maps = &job.stages[0];
        let usual_s = maps.tasks.usual().next().unwrap().0;
        for (machine, disk_s, cores_s) in
            [(0, 64.0 / 110.0, 5.0 + 64.0 / 6000.0), (1, 64.0 / 55.0, 2.5 + 64.0 / 6000.0)]
        {
            // all input is local, so that the map function is the first phase
            let of_phase = |uses: Uses| {
                let steps = maps.steps.steps.iter().zip(maps.steps.shares_on(machine));
                let share: f64 =
                    steps.filter(|(step, _)| step.phase == 0 && step.uses == uses).map(|(_, share)| share).sum();
                share * maps.spread.means_on(machine)[0] * usual_s
            };
            assert!((of_phase(Uses::Disk) - disk_s).abs() < 1e-9, "{machine}: {}", of_phase(Uses::Disk));
            assert!((of_phase(Uses::Cores) - cores_s).abs() < 1e-9, "{machine}: {}", of_phase(Uses::Cores));
        }
        assert!(
            job.machines
                .iter()
                .all(|machine| machine.shares_disk && !machine.shares_network && machine.permits.is_none())
        );
    }

    /// A job of maps without spread: 1 s of map function on a worker of speed 1. All else takes no time.
    fn constant_maps(maps: u32, workers: &[&str]) -> Job {
        let fast = "disk_read_mb_per_s = 1e15\ndisk_write_mb_per_s = 1e15\nmemory_read_mb_per_s = 1e15\nmemory_write_mb_per_s = 1e15\n\
                    network_mb_per_s = 1e15\ngpus = 0\n";
        let nodes: String = workers.iter().map(|worker| format!("[[cluster.node]]\n{fast}{worker}\n")).collect();
        let text = format!(
            "[job]\ninput_mb = {}\nreduces = 0\n[profile]\ninput_mb = 256\nmaps = 4\nload_s = 0\nmap_cpu_s = 1\nmap_data_mb = 0\nspilled_records = 0\n\
             [model.distribution]\nread = 'deterministic'\nto_gpu = 'deterministic'\nspill = 'deterministic'\n[cluster]\nreplicas = {}\n{nodes}",
            64 * maps,
            workers.len()
        );
        job_of(&Plan::from_toml(&text).unwrap()).unwrap()
    }

    fn job_s(job: &Job) -> f64 {
        JobRuns::new(job).unwrap().run([1, 2], 0, &mut RunMemory::default()).job_s
    }

    /// Two workers with a slot each: the fast one runs maps 1, 3 and 4 until 3, the slow one map 2 until 3.
    #[test]
    fn each_kind_of_worker_has_its_own_times() {
        let mut kinds = ["map_slots = 1", "map_slots = 1\ncpu_speed = 0.333333333333333333"];
        for _ in 0..2 {
            let job = constant_maps(4, &kinds);
            assert!((job_s(&job) - 3.0).abs() < 1e-8, "{}", job_s(&job));
            let Tasks::Groups(groups) = &job.stages[0].tasks else { panic!("maps are groups") };
            // the mean over slots
            assert!((groups[0].usual_s - 2.0).abs() < 1e-9, "{groups:?}");
            kinds.reverse();
        }
    }

    #[test]
    fn maps_share_the_cores_of_the_plan() {
        for (cores, exact) in [("host_cores = 1", 4.0), ("host_cores = 2", 2.0), ("host_cores = 4", 1.0), ("", 1.0)] {
            let job = constant_maps(4, &[&format!("map_slots = 4\n{cores}")]);
            assert!((job_s(&job) - exact).abs() < 1e-8, "{cores} {}", job_s(&job));
        }
    }

    /// A job whose maps only compute on one worker's GPUs, for 2 s each.
    fn on_gpus(maps: u64, worker: &str, law: &str) -> Job {
        let text = format!(
            "[phases]\nmeans_s = [0, 0, 0, 2, 0, 0, 0, 0, 0]\nmaps = {maps}\nreduces = 0\n[[cluster.node]]\nmap_slots = 8\n{worker}\n\
             [model.distribution]\ngpu = '{law}'\n"
        );
        job_of(&Plan::from_toml(&text).unwrap()).unwrap()
    }

    /// n equal tasks on a processor that they share end together after n times the time of one; with few permits, in groups, at the same time.
    #[test]
    fn tasks_share_a_gpu_equally() {
        for (maps, worker, exact) in [
            (5, "gpus = 1\ngpu_permits = 0", 10.0),
            (5, "gpus = 2\ngpu_permits = 0", 5.0),
            (1, "gpus = 2\ngpu_permits = 0", 2.0),
            (6, "gpus = 1\ngpu_permits = 3", 12.0),
            (6, "gpus = 2\ngpu_permits = 3", 6.0),
            (6, "gpus = 2\ngpu_permits = 2", 6.0),
            (6, "gpus = 2", 6.0),
            (6, "gpus = 1\ngpu_permits = 1", 12.0),
            (6, "", 2.0),
        ] {
            let job = on_gpus(maps, worker, "deterministic");
            assert!((job_s(&job) - exact).abs() < 1e-8, "{maps} {worker}: {}", job_s(&job));
        }
        // the phase may say that the tasks do not slow each other down
        let text = "[phases]\nmeans_s = [0, 0, 0, 2, 0, 0, 0, 0, 0]\nmaps = 5\nreduces = 0\nuses.gpu = 'nothing'\n\
                    [[cluster.node]]\nmap_slots = 8\ngpus = 1\ngpu_permits = 0\n[model.distribution]\ngpu = 'deterministic'";
        assert!((job_s(&job_of(&Plan::from_toml(text).unwrap()).unwrap()) - 2.0).abs() < 1e-8);
    }

    /// A shared processor is busy until all tasks have ended: the job time of n exponential tasks is Erlang with mean n·m and deviation √n·m.
    #[test]
    fn exponential_tasks_on_a_shared_gpu_take_an_erlang_time() {
        let runs = JobRuns::new(&on_gpus(6, "gpus = 1\ngpu_permits = 0", "exponential")).unwrap();
        let count = 4_000_u32;
        let mut memory = RunMemory::default();
        let times: Vec<f64> = (0..count).map(|number| runs.run([3, 4], number.into(), &mut memory).job_s).collect();
        let mean = times.iter().sum::<f64>() / f64::from(count);
        let deviation = (times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / f64::from(count - 1)).sqrt();
        let exact = 6.0_f64.sqrt() * 2.0;
        assert!((mean - 12.0).abs() < 5.0 * exact / f64::from(count).sqrt(), "{mean}");
        assert!((deviation / exact - 1.0).abs() < 5.0 * (0.5 / f64::from(count) * 2.0).sqrt(), "{deviation} {exact}");
    }

    /// Two slots: each starts with a map of 3 s, the two after them take 1 s; a reduce of 2 s for 64 MB each.
    #[test]
    fn the_first_task_of_a_slot_has_its_own_time() {
        let text = "[job]\ninput_mb = 128\nsplit_mb = 32\nreduces = 1\n[phases.by_size]\nload_s = 1\nshuffled_per_mb = 0.5\n\
                    [phases.by_size.read]\nfirst = { fixed_s = 1, per_mb_s = 0.0625 }\nlater = { per_mb_s = 0.03125 }\n\
                    [phases.by_size.reduce]\nfirst = { per_mb_s = 0.03125 }\nlater = { per_mb_s = 0.03125 }\n\
                    [[cluster.node]]\nmap_slots = 2\ngpus = 0\n[model.distribution]\nload = 'deterministic'\n\
                    shuffle = 'deterministic'\nread = 'deterministic'\nreduce = 'deterministic'\n";
        let time = |text: &str| job_s(&job_of(&Plan::from_toml(text).unwrap()).unwrap());
        assert!((time(text) - (1.0 + 3.0 + 1.0 + 2.0)).abs() < 1e-8, "{}", time(text));
        // six slots that start on two cores take three times as long as on six cores
        let crowded =
            text.replace("load_s = 1", "load_s = 3\nload_slots = 6").replace("gpus = 0", "gpus = 0\nhost_cores = 2");
        assert!((time(&crowded) - (2.0 + 3.0 + 1.0 + 2.0)).abs() < 1e-8, "{}", time(&crowded));
    }
}
