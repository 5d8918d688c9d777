//! The draws of a job belong to its tasks, not to slots or policies: a task takes the same time whatever else runs.

use std::sync::Arc;

use tailspn::cluster::{Experiment, PolicyPlan, Replications};
use tailspn::job::{Delay, Job, JobStage, Machine, Phase, RecordedTask, Spread, Steps, TaskGroup, Tasks};
use tailspn::mapreduce::{Factors, LawTable, PhaseLaw, Stragglers};
use tailspn::rng::split;
use tailspn::run::{RunMemory, TaskRuns};

const SEED: u64 = 48;

fn stage(after: &[usize], groups: &[(u32, f64)], laws: &[(f64, PhaseLaw)]) -> JobStage {
    let group = |&(tasks, usual_s): &(u32, f64)| TaskGroup { tasks, usual_s, size: 1.0 };
    JobStage {
        after: after.to_vec(),
        setup: Delay::of_driver(0.5),
        tasks: Tasks::Groups(groups.iter().map(group).collect()),
        spread: Spread {
            phases: laws.iter().map(|(_, law)| Phase::Law(Arc::new(LawTable::new(law)))).collect(),
            means: laws.iter().map(|(mean, _)| *mean).collect(),
        },
        overlap: None,
        slots: None,
        stragglers: None,
        steps: Steps::default(),
    }
}

fn job(slots: &[u32], stages: Vec<JobStage>) -> Job {
    let machines = slots.iter().map(|slots| Machine::with_slots(*slots)).collect();
    Job { machines, stages, end: Delay::of_driver(0.25) }
}

/// The job times of replications under the policy without copies, by the simulator of policies.
fn with_policy(job: &Job, count: u64) -> Vec<f64> {
    let settings = Replications { count, seed: SEED, ..Replications::default() };
    let runs = Experiment::of_job(job, &[PolicyPlan::default()], settings).run(&mut |_| true).unwrap();
    runs[0].outcomes.iter().map(|outcome| outcome.job_s).collect()
}

/// The same without a policy.
fn without(job: &Job, count: u64) -> Vec<f64> {
    let (runs, mut memory) = (TaskRuns::new(job).unwrap(), RunMemory::default());
    (0..count).map(|replication| runs.run(split(SEED), replication, &mut memory).job_s).collect()
}

/// The fast loop without policies and the events of the simulator of policies agree to the last bit.
#[test]
fn with_and_without_a_policy_that_does_nothing_the_times_have_the_same_bits() {
    let laws = [
        PhaseLaw::Exponential,
        PhaseLaw::Erlang(5),
        PhaseLaw::Lognormal { cv: 1.3 },
        PhaseLaw::Pareto { shape: 1.5 },
        PhaseLaw::Hyperexponential { cv: 2.0 },
        PhaseLaw::Weibull { shape: 0.7 },
        PhaseLaw::Uniform { spread: 0.5 },
        PhaseLaw::Empirical { samples: vec![0.5, 0.7, 1.0, 4.0] },
    ];
    for law in laws {
        let five = [
            (0.5, law.clone()),
            (0.2, PhaseLaw::Exponential),
            (0.1, law.clone()),
            (0.15, law.clone()),
            (0.05, law.clone()),
        ];
        let mut stages = vec![
            stage(&[], &[(9, 2.0), (30, 1.0)], &[(1.0, law.clone())]),
            stage(&[], &[(17, 0.8)], &five),
            stage(&[0, 1], &[(1, 3.0), (600, 0.1)], &[(0.7, law.clone()), (0.3, law.clone())]),
        ];
        stages[1].stragglers = Some(Stragglers::default());
        let job = job(&[4, 4, 1], stages);
        assert_eq!(with_policy(&job, 200), without(&job, 200), "{law:?}");
    }
}

/// Without set-ups, a stage that becomes ready when the last task of another ends comes before a later one that waits already; constant delays, and a
/// job of one slot, have the same bits too.
#[test]
fn stages_that_become_ready_at_the_same_time_are_served_in_their_order() {
    for law in [PhaseLaw::Deterministic, PhaseLaw::Lognormal { cv: 0.7 }] {
        let one = [(1.0, law.clone())];
        let mut stages = vec![
            stage(&[], &[(7, 1.0)], &one),
            stage(&[0], &[(3, 6.0)], &one),
            stage(&[], &[(9, 3.0)], &one),
            stage(&[1, 2], &[(1, 2.0)], &one),
            stage(&[1], &[(8, 2.0)], &one),
        ];
        for (number, stage) in stages.iter_mut().enumerate() {
            stage.setup = Delay::always(if number == 3 { 0.5 } else { 0.0 });
        }
        for slots in [&[1][..], &[1, 1], &[2, 2]] {
            let job = Job { end: Delay::always(0.3), ..job(slots, stages.clone()) };
            assert_eq!(with_policy(&job, 100), without(&job, 100), "{law:?} {slots:?}");
        }
    }
}

/// A job may have recorded tasks in one stage and others in another.
#[test]
fn recorded_tasks_keep_their_times_beside_others() {
    let mut stages = vec![stage(&[], &[(3, 1.0)], &[(1.0, PhaseLaw::Deterministic)]); 2];
    stages[1].after = vec![0];
    stages.iter_mut().for_each(|stage| stage.setup.mean_s = 0.0);
    let recorded = |work| RecordedTask { first: (0, work), at_least: false, usual_s: 1.0, size: 1.0 };
    stages[1].tasks = Tasks::Recorded(vec![recorded(5.0), recorded(7.0)]);
    let made = Job { end: Delay::default(), ..job(&[4], stages) };
    assert!(TaskRuns::new(&made).is_none());
    assert_eq!(with_policy(&made, 1), [8.0]);
}

#[test]
fn jobs_that_cannot_run_are_refused() {
    let one = [(1.0, PhaseLaw::Exponential)];
    assert!(TaskRuns::new(&job(&[0], vec![stage(&[], &[(3, 1.0)], &one)])).is_none());
    assert!(TaskRuns::new(&job(&[2], vec![stage(&[], &[], &one)])).is_none());
    // two equal dependencies count once
    let twice = job(&[2], vec![stage(&[], &[(2, 1.0)], &one), stage(&[0, 0], &[(2, 1.0)], &one)]);
    let once = job(&[2], vec![stage(&[], &[(2, 1.0)], &one), stage(&[0], &[(2, 1.0)], &one)]);
    assert_eq!(without(&twice, 20), without(&once, 20));
    assert_eq!(without(&twice, 20), with_policy(&twice, 20));
}

fn sd(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let n = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / n;
    (values.map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt()
}

/// 1,000 lognormal tasks on 40 and on 44 slots: the difference of two independent times has a standard deviation 15 times as large. Fails if the
/// draws belong to slots.
#[test]
fn common_random_numbers_narrow_the_difference_of_two_configurations() {
    let times = |slots| {
        without(&job(&[slots], vec![stage(&[], &[(1_000, 10.0)], &[(1.0, PhaseLaw::Lognormal { cv: 0.5 })])]), 400)
    };
    let (few, many) = (times(40), times(44));
    let paired = sd(few.iter().zip(&many).map(|(few, many)| few - many));
    let independent = sd(few.iter().copied()).hypot(sd(many.iter().copied()));
    assert!(paired < 0.2 * independent, "{paired} {independent}");
}

/// Two kinds of machines, one three times as fast in its first phase: their order in the plan changes no time.
#[test]
fn the_order_of_machines_does_not_matter() {
    let phases = [(1.0, PhaseLaw::Exponential), (0.5, PhaseLaw::Lognormal { cv: 0.5 })];
    let of_kinds = |fast_first: bool| {
        let fast = |machine: usize| (machine < 3) == fast_first;
        let mut made = job(&[2; 6], vec![stage(&[], &[(31, 8.0)], &phases), stage(&[0], &[(7, 2.0)], &phases)]);
        for stage in &mut made.stages {
            stage.spread.means = (0..6).flat_map(|machine| [if fast(machine) { 0.3 } else { 0.9 }, 0.5]).collect();
        }
        with_policy(&made, 300)
    };
    assert_eq!(of_kinds(true), of_kinds(false));
}

/// 2,000 tasks of 1 s, each a million times slower than usual, on two slots and on far more: 10^9 s are beyond keys of 64 bits. Memory follows the
/// tasks, not the slots.
#[test]
fn times_beyond_the_narrow_keys_are_exact() {
    let mut only = stage(&[], &[(2_000, 1.0)], &[(1.0, PhaseLaw::Deterministic)]);
    only.setup.mean_s = 0.0;
    only.stragglers = Some(Stragglers { share: 1.0, factor: Factors::One(1e6), ..Stragglers::default() });
    for (slots, exact) in [(2, 1e9), (u32::MAX, 1e6)] {
        let made = Job { end: Delay::default(), ..job(&[slots], vec![only.clone()]) };
        assert_eq!(without(&made, 2), [exact; 2]);
    }
}
