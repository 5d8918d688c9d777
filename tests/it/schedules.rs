//! Jobs without any spread: their times follow from arithmetic.
//!
//! The schedules in `tests/data/exact/schedules.toml` were made by hand; its first lines state the rules. Each is run by every simulator that can run
//! it.

use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use tailspn::cluster::{Experiment, PolicyPlan, Replications};
use tailspn::job::{Delay, Job, JobStage, Machine, Phase, Spread, TaskGroup, Tasks};
use tailspn::mapreduce::{LawTable, PhaseLaw};
use tailspn::run::{RunMemory, TaskRuns};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Schedules {
    schedule: Vec<Schedule>,
    equal_work: EqualWork,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EqualWork {
    machines: Vec<HandMachine>,
    maps: Maps,
    shuffle_s: f64,
    reduce_work_s: f64,
    job_s: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Schedule {
    name: String,
    machines: Vec<HandMachine>,
    #[serde(default)]
    load_s: f64,
    maps: Option<Maps>,
    #[serde(default)]
    shuffle_s: f64,
    slowstart: Option<f64>,
    reduces: Option<Reduces>,
    #[serde(default)]
    stages: Vec<HandStage>,
    #[serde(default)]
    teardown_s: f64,
    maps_end_s: Option<f64>,
    job_s: f64,
    #[serde(rename = "worked")]
    _worked: Vec<String>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct HandMachine {
    #[serde(default = "one")]
    count: u32,
    map_slots: u32,
    reduce_slots: Option<u32>,
    gpus: Option<u32>,
    #[serde(default = "unit")]
    speed: f64,
    #[serde(default)]
    ready_s: f64,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Maps {
    count: u32,
    read: f64,
    cpu: f64,
    cpu_times: Vec<f64>,
    to_gpu: f64,
    gpu: f64,
    to_host: f64,
    spill: f64,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Reduces {
    count: u32,
    merge: f64,
    reduce: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HandStage {
    #[serde(default)]
    after: Vec<usize>,
    tasks: u32,
    #[serde(default)]
    setup_s: f64,
    cold_s: Option<f64>,
    warm_s: f64,
}

fn one() -> u32 {
    1
}

fn unit() -> f64 {
    1.0
}

fn schedules() -> Schedules {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/exact/schedules.toml");
    toml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

fn constant() -> Phase {
    Phase::Law(Arc::new(LawTable::new(&PhaseLaw::Deterministic)))
}

fn always(mean_s: f64) -> Delay {
    Delay { mean_s, varies: false }
}

fn group(tasks: u32, usual_s: f64) -> TaskGroup {
    TaskGroup { tasks, usual_s, size: 1.0 }
}

/// Every machine on its own.
fn single(machines: &[HandMachine]) -> Vec<HandMachine> {
    machines.iter().flat_map(|machine| std::iter::repeat_n(machine.clone(), machine.count as usize)).collect()
}

impl Schedule {
    /// The reason why no simulator of tasks runs it yet.
    fn not_yet(&self) -> Option<&'static str> {
        if self.machines.iter().any(|machine| machine.gpus.is_some()) {
            return Some("permits");
        }
        self.slowstart.map(|_| "slowstart")
    }

    fn job(&self) -> Job {
        if self.stages.is_empty() { self.map_reduce() } else { self.staged() }
    }

    fn staged(&self) -> Job {
        let machines: Vec<Machine> =
            single(&self.machines).iter().map(|machine| Machine::with_slots(machine.map_slots)).collect();
        let slots: u32 = machines.iter().map(|machine| machine.slots).sum();
        let stage = |stage: &HandStage| {
            let cold = stage.tasks.min(slots);
            let groups = [group(cold, stage.cold_s.unwrap_or(stage.warm_s)), group(stage.tasks - cold, stage.warm_s)];
            JobStage {
                after: stage.after.clone(),
                setup: always(stage.setup_s),
                tasks: Tasks::Groups(groups.into_iter().filter(|group| group.tasks > 0).collect()),
                spread: Spread { phases: vec![constant()], means: vec![1.0] },
                slots: None,
                stragglers: None,
                gpu: 0.0,
            }
        };
        Job { machines, stages: self.stages.iter().map(stage).collect(), end: always(self.teardown_s) }
    }

    fn map_reduce(&self) -> Job {
        let machines = single(&self.machines);
        let maps = self.maps.as_ref().unwrap();
        let beside = maps.read + maps.to_gpu + maps.gpu + maps.to_host + maps.spill;
        let map_tasks = match &maps.cpu_times[..] {
            [] => vec![group(maps.count, beside + maps.cpu)],
            times => times.iter().map(|cpu| group(1, beside + cpu)).collect(),
        };
        let stage = |after, setup_s, tasks, slots: fn(&HandMachine) -> u32| JobStage {
            after,
            setup: always(setup_s),
            tasks: Tasks::Groups(tasks),
            spread: Spread {
                phases: vec![constant()],
                means: machines.iter().map(|machine| 1.0 / machine.speed).collect(),
            },
            slots: Some(machines.iter().map(slots).collect()),
            stragglers: None,
            gpu: 0.0,
        };
        let mut stages = vec![stage(vec![], self.load_s, map_tasks, |machine| machine.map_slots)];
        if let Some(reduces) = &self.reduces {
            let tasks = vec![group(reduces.count, reduces.merge + reduces.reduce)];
            let slots = |machine: &HandMachine| machine.reduce_slots.unwrap_or(machine.map_slots);
            stages.push(stage(vec![0], self.shuffle_s, tasks, slots));
        }
        let machine = |machine: &HandMachine| {
            let slots = machine.map_slots.max(machine.reduce_slots.unwrap_or(0));
            Machine { from_s: machine.ready_s, ..Machine::with_slots(slots) }
        };
        Job { machines: machines.iter().map(machine).collect(), stages, end: always(0.0) }
    }
}

/// The time of the job under the policy without copies, by the simulator of policies.
fn with_policy(job: &Job) -> f64 {
    let settings = Replications { count: 1, seed: 5, ..Replications::default() };
    let experiment = Experiment::of_job(job, &[PolicyPlan::default()], settings);
    experiment.run(&mut |_| true).unwrap()[0].outcomes[0].job_s
}

/// The time of the job without a policy, if its machines are alike.
fn without(job: &Job) -> Option<f64> {
    TaskRuns::new(job).map(|runs| runs.run([5, 0], 0, &mut RunMemory::default()).job_s)
}

/// Times are rounded to ticks: each of at most a hundred times by 2^-34 of the longest.
#[track_caller]
fn close(found: f64, exact: f64, what: &str) {
    assert!((found - exact).abs() < 1e-8 * exact, "{what}: {found} instead of {exact}");
}

#[test]
fn jobs_without_spread_take_as_long_as_their_schedule_made_by_hand() {
    let mut ran = 0;
    for schedule in schedules().schedule {
        let name = &schedule.name;
        if schedule.not_yet().is_some() {
            continue;
        }
        let job = schedule.job();
        close(with_policy(&job), schedule.job_s, name);
        if let Some(maps_end_s) = schedule.maps_end_s {
            let maps = Job { stages: job.stages[..1].to_vec(), ..job.clone() };
            close(with_policy(&maps), maps_end_s, name);
        }
        match without(&job) {
            Some(found) => close(found, schedule.job_s, name),
            None => assert!(schedule.stages.is_empty(), "{name}"),
        }
        ran += 1;
    }
    assert_eq!(ran, 19);
}

#[test]
fn reduces_of_equal_total_work_take_as_long_as_their_waves() {
    let EqualWork { machines, maps, shuffle_s, reduce_work_s, job_s } = schedules().equal_work;
    for (count, exact) in (1_u32..).zip(&job_s) {
        let reduces = Reduces { count, merge: 0.0, reduce: reduce_work_s / f64::from(count) };
        let schedule = Schedule {
            name: String::new(),
            machines: machines.clone(),
            load_s: 0.0,
            maps: Some(maps.clone()),
            shuffle_s,
            slowstart: None,
            reduces: Some(reduces),
            stages: Vec::new(),
            teardown_s: 0.0,
            maps_end_s: None,
            job_s: *exact,
            _worked: Vec::new(),
        };
        close(with_policy(&schedule.job()), *exact, &format!("{count} reduces"));
    }
    assert_eq!(job_s.len(), 64);
}
