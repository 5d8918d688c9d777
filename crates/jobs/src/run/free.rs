//! Machines with free slots: a waiting task goes to the machine on which its expected time is shortest.

use std::collections::BTreeSet;

use crate::job::{Job, JobStage, Machine, Uses};

/// The machines of a job, by kind: machines of a kind are alike for all stages.
#[derive(Clone, Debug)]
pub(super) struct Kinds {
    /// The kind of each machine.
    of: Vec<u32>,
    /// The first machine of each kind.
    first: Vec<usize>,
    /// For each stage and kind: slots for the stage's tasks, and the expected time of a task relative to its usual time, with and without cores.
    places: Vec<Vec<Place>>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    slots: u32,
    on_cores: f64,
    elsewhere: f64,
}

impl Kinds {
    pub(super) fn of(job: &Job) -> Self {
        let mut first: Vec<usize> = Vec::new();
        let mut of = Vec::with_capacity(job.machines.len());
        for machine in 0..job.machines.len() {
            // machines of a kind mostly follow each other
            let known = first.iter().rposition(|&other| are_alike(job, other, machine));
            if known.is_none() {
                first.push(machine);
            }
            // `as` is fine: a plan has at most 100,000 machines
            of.push(known.unwrap_or(first.len() - 1) as u32);
        }
        let places = |stage: &JobStage| first.iter().map(|&machine| place(stage, job, machine)).collect();
        Self { places: job.stages.iter().map(places).collect(), of, first }
    }

    /// Returns the machines of a job with their slots, all of them free.
    pub(super) fn all_free(&self, machines: &[Machine]) -> Free {
        let mut free = Free { used: vec![0; machines.len()], by_use: vec![BTreeSet::new(); self.first.len()] };
        for (number, machine) in machines.iter().enumerate().filter(|(_, machine)| machine.from_s <= 0.0) {
            free.open(self, number, machine);
        }
        free
    }
}

/// Returns true if two machines are alike for all stages.
fn are_alike(job: &Job, a: usize, b: usize) -> bool {
    let for_stage = |stage: &JobStage| {
        stage.slots.as_ref().is_none_or(|slots| slots[a] == slots[b])
            && stage.spread.means_on(a) == stage.spread.means_on(b)
            && stage.steps.shares_on(a) == stage.steps.shares_on(b)
    };
    job.machines[a] == job.machines[b] && job.stages.iter().all(for_stage)
}

fn place(stage: &JobStage, job: &Job, machine: usize) -> Place {
    let whole = stage.spread.slowness(machine);
    let (steps, means) = (&stage.steps, stage.spread.means_on(machine));
    let shares = steps.steps.iter().zip(steps.shares_on(machine));
    let computing = shares.filter(|(step, _)| step.uses == Uses::Cores).map(|(step, share)| share * means[step.phase]);
    let on_cores = if steps.steps.is_empty() { whole } else { computing.sum() };
    let slots = job.machines[machine].slots;
    Place {
        slots: stage.slots.as_ref().map_or(slots, |slots| slots[machine]),
        on_cores,
        elsewhere: (whole - on_cores).max(0.0),
    }
}

/// Free slots in a run.
#[derive(Clone, Debug)]
pub(super) struct Free {
    /// Tasks on each machine.
    used: Vec<u32>,
    /// The machines of each kind that have a free slot, by their number of tasks.
    by_use: Vec<BTreeSet<(u32, u32)>>,
}

impl Free {
    /// Makes a machine available.
    pub(super) fn open(&mut self, kinds: &Kinds, number: usize, machine: &Machine) {
        if self.used[number] < machine.slots {
            // `as` is fine: a plan has at most 100,000 machines
            self.by_use[kinds.of[number] as usize].insert((self.used[number], number as u32));
        }
    }

    /// Takes a slot for a task of a stage; returns its machine, or none if no machine has a slot for the stage. Of machines with the same expected time,
    /// the one with the fewest tasks, then the first.
    pub(super) fn take(&mut self, kinds: &Kinds, machines: &[Machine], stage: usize) -> Option<usize> {
        let mut best: Option<(f64, u32, u32, usize)> = None;
        for (kind, (place, open)) in kinds.places[stage].iter().zip(&self.by_use).enumerate() {
            let Some(&(used, machine)) = open.first().filter(|(used, _)| *used < place.slots) else { continue };
            let crowd = (f64::from(used + 1) / machines[kinds.first[kind]].cores).max(1.0);
            let found = (place.on_cores * crowd + place.elsewhere, used, machine, kind);
            if best.is_none_or(|best| (found.0, found.1, found.2) < (best.0, best.1, best.2)) {
                best = Some(found);
            }
        }
        let (_, used, machine, kind) = best?;
        self.by_use[kind].pop_first();
        let number = machine as usize;
        self.used[number] = used + 1;
        self.open(kinds, number, &machines[number]);
        Some(number)
    }

    /// Gives back a slot.
    pub(super) fn give_back(&mut self, kinds: &Kinds, machines: &[Machine], number: usize) {
        self.by_use[kinds.of[number] as usize].remove(&(self.used[number], number as u32));
        self.used[number] -= 1;
        self.open(kinds, number, &machines[number]);
    }
}
