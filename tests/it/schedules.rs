//! Jobs without any spread: their times follow from arithmetic.
//!
//! The schedules in `tests/data/exact/schedules.toml` were made by hand; its first lines state the rules. Each is run by every simulator that can run
//! it.

use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use tailspn::cluster::{Experiment, PolicyPlan, Replications};
use tailspn::job::{Delay, Job, JobStage, Machine, Phase, Spread, Step, Steps, TaskGroup, Tasks, Uses};
use tailspn::mapreduce::{LawTable, PhaseLaw};
use tailspn::run::{EventRuns, RunMemory, TaskRuns};

/// The part of a map in which it holds a GPU: after the map function, before the spill.
const GPU: usize = 1;

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
    Delay::always(mean_s)
}

fn group(tasks: u32, usual_s: f64) -> TaskGroup {
    TaskGroup { tasks, usual_s, size: 1.0 }
}

/// Every machine on its own.
fn single(machines: &[HandMachine]) -> Vec<HandMachine> {
    machines.iter().flat_map(|machine| std::iter::repeat_n(machine.clone(), machine.count as usize)).collect()
}

impl Schedule {
    /// True if maps wait for GPUs, which policies do not know.
    fn has_gpus(&self) -> bool {
        self.machines.iter().any(|machine| machine.gpus.is_some())
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
                overlap: None,
                stragglers: None,
                steps: Steps::default(),
            }
        };
        Job { machines, stages: self.stages.iter().map(stage).collect(), end: always(self.teardown_s) }
    }

    fn map_reduce(&self) -> Job {
        let machines = single(&self.machines);
        let speeds: Vec<f64> = machines.iter().map(|machine| machine.speed).collect();
        let stage = |after, setup, tasks, parts: &[f64], slots: fn(&HandMachine) -> u32| {
            let usual_s: f64 = parts.iter().sum();
            let means = speeds.iter().flat_map(|speed| parts.iter().map(move |part| part / usual_s / speed));
            let step = |phase| Step { phase, uses: Uses::Nothing, on_gpu: phase == GPU };
            JobStage {
                after,
                setup,
                overlap: None,
                tasks: Tasks::Groups(vec![group(tasks, usual_s)]),
                spread: Spread { phases: vec![constant(); parts.len()], means: means.collect() },
                slots: Some(machines.iter().map(slots).collect()),
                stragglers: None,
                steps: Steps {
                    steps: (0..parts.len()).map(step).collect(),
                    shares: vec![1.0; parts.len()],
                    first: None,
                },
            }
        };
        let maps = self.maps.as_ref().unwrap();
        let on_gpu = maps.to_gpu + maps.gpu + maps.to_host;
        let of_cpu = |tasks, cpu: f64| {
            let parts = [maps.read + cpu, on_gpu, maps.spill];
            stage(vec![], always(self.load_s), tasks, &parts, |machine| machine.map_slots)
        };
        // maps that differ are stages that start together
        let mut stages: Vec<JobStage> = match &maps.cpu_times[..] {
            [] => vec![of_cpu(maps.count, maps.cpu)],
            times => times.iter().map(|cpu| of_cpu(1, *cpu)).collect(),
        };
        if let Some(reduces) = &self.reduces {
            let slots = |machine: &HandMachine| machine.reduce_slots.unwrap_or(machine.map_slots);
            let after: Vec<usize> = (0..stages.len()).collect();
            let mut reduces =
                stage(after, always(self.shuffle_s), reduces.count, &[reduces.merge, reduces.reduce], slots);
            let ended = |share: f64| ((share * f64::from(maps.count)).ceil() as u32).max(1);
            reduces.overlap = self.slowstart.map(ended);
            reduces.steps = Steps::default();
            stages.push(reduces);
        }
        let machine = |machine: &HandMachine| {
            let slots = machine.map_slots.max(machine.reduce_slots.unwrap_or(0));
            Machine { from_s: machine.ready_s, permits: machine.gpus, ..Machine::with_slots(slots) }
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

/// The time of the job without a policy, by slots if its machines are alike.
fn by_slots(job: &Job) -> Option<f64> {
    TaskRuns::new(job).map(|runs| runs.run([5, 0], 0, &mut RunMemory::default()).job_s)
}

/// The same by events.
fn by_events(job: &Job) -> f64 {
    EventRuns::new(job).unwrap().run([5, 0], 0).times.job_s
}

/// Times are rounded to ticks: each of at most a hundred times by 2^-34 of the longest.
#[track_caller]
fn close(found: f64, exact: f64, what: &str) {
    assert!((found - exact).abs() < 1e-8 * exact, "{what}: {found} instead of {exact}");
}

#[test]
fn jobs_without_spread_take_as_long_as_their_schedule_made_by_hand() {
    let mut ran = [0; 3];
    for schedule in schedules().schedule {
        let name = &schedule.name;
        let job = schedule.job();
        let maps = schedule.maps.as_ref().map_or(0, |maps| maps.cpu_times.len().max(1));
        let maps = Job { stages: job.stages[..maps].to_vec(), ..job.clone() };
        close(by_events(&job), schedule.job_s, name);
        if let Some(maps_end_s) = schedule.maps_end_s {
            close(by_events(&maps), maps_end_s, name);
        }
        ran[0] += 1;
        if !schedule.has_gpus() {
            close(with_policy(&job), schedule.job_s, name);
            if let Some(maps_end_s) = schedule.maps_end_s {
                close(with_policy(&maps), maps_end_s, name);
            }
            ran[1] += 1;
        }
        if let Some(found) = by_slots(&job) {
            close(found, schedule.job_s, name);
            ran[2] += 1;
        }
    }
    assert_eq!(ran, [28, 22, 9]);
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
        let (job, name) = (schedule.job(), format!("{count} reduces"));
        close(with_policy(&job), *exact, &name);
        close(by_events(&job), *exact, &name);
    }
    assert_eq!(job_s.len(), 64);
}
