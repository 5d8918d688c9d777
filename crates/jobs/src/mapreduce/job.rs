//! A MapReduce job in the form that runs task by task: the phase means of its tasks, without the net.
//!
//! Detectors decide by the progress and the ages of tasks, which the net does not have. So policies against
//! stragglers are compared task by task by
//! [`crate::cluster`], with the means and distributions of the plan. A task is the sum of its phases; loading and the shuffle come
//! before the maps and before the reduces.

use crate::job::{Delay, Job, JobStage, Machine, Phase as TaskPhase, Spread, TaskGroup, Tasks};
use crate::mapreduce::law_quantiles::LawTables;
use crate::mapreduce::params::{Node, Plan};
use crate::mapreduce::phase::Phase;
use crate::mapreduce::phase_law::PhaseLaw;
use crate::mapreduce::straggler::{Stragglers, WhichTasks};
use crate::mapreduce::task_times::{PhaseTimesError, last_map_ratio, phase_times, task_means};

/// Minimum mean time of a task \[s\].
const SHORTEST_S: f64 = 1e-6;

/// Maps or reduces.
struct Kind<'a> {
    count: u64,
    after: Vec<usize>,
    setup_s: f64,
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
/// `model.slots`. Exact, except that every map has the mean share of its input on its local disk.
///
/// # Errors
///
/// [`PhaseTimesError`], for a plan with problems.
pub fn job_of(plan: &Plan) -> Result<Job, PhaseTimesError> {
    let phases = phase_times(plan, &mut || 0.0)?;
    let means = task_means(plan);
    let maps = Kind {
        count: plan.maps(),
        after: Vec::new(),
        setup_s: phases.load_s,
        setup: Phase::Load,
        phases: &[Phase::Read, Phase::ToGpu, Phase::Gpu, Phase::ToHost, Phase::Spill],
        means_s: means.iter().map(|(map, _)| map.to_vec()).collect(),
        slots: |node| node.map_slots,
        others: WhichTasks::Reduces,
        last_ratio: last_map_ratio(plan),
    };
    let reduces = Kind {
        count: plan.reduces(),
        after: vec![0],
        setup_s: phases.shuffle_s,
        setup: Phase::Shuffle,
        phases: &[Phase::Merge, Phase::Reduce],
        means_s: means.iter().map(|(_, reduce)| reduce.to_vec()).collect(),
        slots: |node| node.reduce_slots,
        others: WhichTasks::Maps,
        last_ratio: 1.0,
    };
    let machines = workers(plan).map(|(_, node)| Machine::with_slots(small(node.map_slots.max(node.reduce_slots))));
    let tables = LawTables::default();
    let stages = vec![stage(maps, plan, &tables), stage(reduces, plan, &tables)];
    Ok(Job { machines: machines.collect(), stages, end: Delay { mean_s: phases.end_s, varies: false } })
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
    JobStage {
        setup: Delay {
            mean_s: tasks.setup_s,
            varies: *plan.model.distribution.get(tasks.setup) != PhaseLaw::Deterministic,
        },
        tasks: Tasks::Groups([others, last].into_iter().filter(|group| group.tasks > 0).collect()),
        spread: spread(plan, &tasks, usual_s, tables),
        slots: Some(slots),
        stragglers: stragglers.map(|stragglers| Stragglers { tasks: WhichTasks::All, ..stragglers }),
        after: tasks.after,
        gpu: 0.0,
    }
}

/// Returns the distributions of the phases of a task, and their means on each worker.
fn spread(plan: &Plan, tasks: &Kind<'_>, usual_s: f64, tables: &LawTables) -> Spread {
    let takes_time = |phase: &usize| tasks.means_s.iter().any(|means| means[*phase] > 0.0);
    let found: Vec<usize> = (0..tasks.phases.len()).filter(takes_time).collect();
    if found.is_empty() {
        return Spread::alike(tables.get(&PhaseLaw::Deterministic));
    }
    let law = |phase: &usize| TaskPhase::Law(tables.get(plan.model.distribution.get(tasks.phases[*phase])));
    let means = |kind: usize| found.iter().map(move |phase| tasks.means_s[kind][*phase] / usual_s);
    let of_workers = || workers(plan).flat_map(|(kind, _)| means(kind)).collect();
    let means = if plan.cluster.node.len() == 1 { means(0).collect() } else { of_workers() };
    Spread { phases: found.iter().map(law).collect(), means }
}

/// Converts a count of a valid plan to 32 bits.
fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Experiment, PolicyPlan, Replications};

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
}
