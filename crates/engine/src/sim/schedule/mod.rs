//! The schedule engine: max-plus evaluation of a straight-line program, a block of replications at a time.
//!
//! Defines [`Schedule`], which binds a plan to a clock, a key and a question. The engine makes one pass over the transitions, without
//! an event list and without enabling tests. Times equal those of the race engine's clock form bit for bit.

mod critical;
mod delays;
mod kernel;
mod perturbation;

pub use critical::{CriticalPath, GroupShare};
pub use perturbation::PathSlopes;

use crate::Problems;
use crate::compile::{Fold, Program, Put, SchedulePlan, Step};
use crate::rng::{Address, Purpose, split};
use crate::semantics::Fault;
use crate::sim::Samples;
use crate::sim::clock::{Clock, NEVER, Scale};
use crate::sim::engine::Engine;
use crate::sim::question::{Ending, Goal, MAX_FIRINGS, Question};
use crate::sim::sampler::Sampler;
use crate::simd::Level;
use crate::watch::Watch;
use delays::Words;
use kernel::{LANES, QUADS, Times, draw_branches};

/// Number of steps of blocks between two checks of the stop flag: some milliseconds of work.
const STEPS_BETWEEN_LOOKS: usize = 1 << 15;

/// Maximum number of branches of one choice, since a lane stores its branch in a byte.
const MAX_BRANCHES: usize = 255;

/// Source of the delays of a step.
#[derive(Clone, Debug)]
pub(in crate::sim) enum Draw {
    /// No delay.
    None,
    /// Scaled unit variates.
    Exponential(Scale),
    /// Any other distribution.
    Sampled(Sampler),
}

impl Draw {
    /// The sampler of the delays, if any.
    #[cfg(feature = "gpu")]
    pub(in crate::sim) fn sampler(&self) -> Option<Sampler> {
        match self {
            Self::None => None,
            Self::Exponential(scale) => Some(Sampler::scaled(*scale)),
            Self::Sampled(sampler) => Some(sampler.clone()),
        }
    }
}

/// A step bound to a clock and a question.
#[derive(Clone, Debug)]
pub(in crate::sim) struct Bound {
    pub(in crate::sim) step: Step,
    pub(in crate::sim) draw: Draw,
    /// Groups of the question that the transition belongs to.
    pub(in crate::sim) groups: Vec<u32>,
    /// True if the firing may reach the goal.
    pub(in crate::sim) ends: bool,
    /// True if the firings are counted individually, because the transition does not fire in every replication.
    pub(in crate::sim) counted: bool,
    /// True if the time stays in the single slot that is read, without any operation.
    in_place: bool,
}

/// The schedule engine for one program and question.
#[derive(Clone, Debug)]
pub struct Schedule {
    pub(in crate::sim) steps: Vec<Bound>,
    /// Owner of the random word and cumulative weights of each choice.
    pub(in crate::sim) choices: Vec<(u32, Vec<u32>)>,
    pub(in crate::sim) slots: usize,
    pub(in crate::sim) groups: usize,
    pub(in crate::sim) key: [u32; 2],
    pub(in crate::sim) horizon: u64,
    /// Number of firings of the transitions that fire in every replication.
    pub(in crate::sim) sure_firings: u64,
    pub(in crate::sim) keep: bool,
    level: Level,
}

/// The state of one block.
#[derive(Debug)]
struct Block {
    slots: Vec<Times>,
    taken: Vec<[u8; LANES]>,
    end: Times,
    extra_firings: [u32; LANES],
    first: Vec<Times>,
    last: Vec<Times>,
    /// Firing times of every step, if they are traced.
    trace: Vec<Times>,
}

/// Runs one block; compiled for every vector level.
struct RunBlock<'a> {
    schedule: &'a Schedule,
    block: &'a mut Block,
    first_quad: u64,
    watch: &'a dyn Watch,
}

impl pulp::NullaryFnOnce for RunBlock<'_> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        self.schedule.run_block(self.block, self.first_quad, self.watch)
    }
}

/// Lists everything in a question that a schedule cannot answer.
pub type UnfitError = Problems<String>;

impl Schedule {
    /// Binds a plan of `program` to a question and a seed; with `keep`, individual passage times are stored.
    ///
    /// # Errors
    ///
    /// Obstacles in the question: a schedule supports only passage times and groups, and the goal must be the
    /// dead marking, or all tokens that places without consumers ever receive.
    pub fn new(
        program: &Program,
        plan: &SchedulePlan,
        question: &Question,
        clock: Clock,
        seed: u64,
        keep: bool,
    ) -> Result<Self, UnfitError> {
        let ends = obstacles_or_ends(program, plan, question, clock)?;
        let mut groups_of = vec![Vec::new(); program.transitions()];
        for (group, number) in question.groups.iter().zip(0_u32..) {
            for &t in &group.transitions {
                groups_of[t as usize].push(number);
            }
        }
        let steps: Vec<Bound> = plan
            .steps
            .iter()
            .zip(ends)
            .map(|(step, ends)| {
                let groups = std::mem::take(&mut groups_of[step.transition as usize]);
                let counted = step.conditional || question.horizon.is_some();
                let alone = step.branch.is_none() && !counted && !ends && groups.is_empty();
                let stays =
                    step.reads.len() == 1 && step.puts == [Put { fold: Fold::Set, slot: step.reads[0], then: None }];
                let draw = draw_of(program, step.transition as usize, clock);
                Bound { step: step.clone(), draw, groups, ends, counted, in_place: alone && stays }
            })
            .collect();
        Ok(Self {
            sure_firings: steps.iter().filter(|b| !b.counted).count() as u64,
            steps,
            choices: plan.choices.iter().map(|c| (c.group, c.cumulative.clone())).collect(),
            slots: plan.slots as usize,
            groups: question.groups.len(),
            key: split(seed),
            horizon: question.horizon.map_or(NEVER - 1, |horizon| clock.ticks(horizon)),
            keep,
            level: Level::detect(),
        })
    }

    /// The same engine on another vector level; all levels give the same numbers.
    #[cfg(test)]
    pub(super) fn at_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    fn block(&self, traced: bool) -> Block {
        Block {
            slots: vec![Times::ZERO; self.slots],
            taken: vec![[0; LANES]; self.choices.len()],
            end: Times::ZERO,
            extra_firings: [0; LANES],
            first: vec![Times::NEVER; self.groups],
            last: vec![Times::ZERO; self.groups],
            trace: vec![Times::ZERO; if traced { self.steps.len() } else { 0 }],
        }
    }

    /// Returns true if the block is complete, and was not stopped.
    #[inline(always)]
    fn run_block(&self, block: &mut Block, first_quad: u64, watch: &dyn Watch) -> bool {
        block.end = Times::ZERO;
        block.extra_firings = [0; LANES];
        block.first.fill(Times::NEVER);
        block.last.fill(Times::ZERO);
        for ((group, cumulative), taken) in self.choices.iter().zip(&mut block.taken) {
            let address = Address { purpose: Purpose::Choice, owner: *group, sample: 0 };
            draw_branches(taken, self.key, address, first_quad, cumulative);
        }
        let traced = !block.trace.is_empty();
        for (number, bound) in self.steps.iter().enumerate() {
            if number % STEPS_BETWEEN_LOOKS == STEPS_BETWEEN_LOOKS - 1 && watch.stopped() {
                return false;
            }
            if bound.in_place && !traced {
                let slot = &mut block.slots[bound.step.reads[0] as usize];
                self.delay(bound, slot, first_quad);
            } else {
                let time = self.run_step(bound, block, first_quad);
                if traced {
                    block.trace[number] = time;
                }
            }
        }
        true
    }

    #[inline(always)]
    fn run_step(&self, bound: &Bound, block: &mut Block, first_quad: u64) -> Times {
        let step = &bound.step;
        let mut time = step.reads.first().map_or(Times::ZERO, |&slot| block.slots[slot as usize]);
        for &slot in step.reads.iter().skip(1) {
            time.max(&block.slots[slot as usize]);
        }
        if let Some((choice, branch)) = step.branch {
            time.keep_branch(&block.taken[choice as usize], branch as u8);
        }
        self.delay(bound, &mut time, first_quad);
        if bound.counted {
            for (count, time) in block.extra_firings.iter_mut().zip(&time.0) {
                *count += u32::from(*time <= self.horizon);
            }
        }
        if bound.ends {
            block.end.max_until(&time, NEVER - 1);
        }
        for &group in &bound.groups {
            block.first[group as usize].min(&time);
            block.last[group as usize].max_until(&time, self.horizon);
        }
        for put in &step.puts {
            fold(&mut block.slots, put.fold, put.slot, &time);
            if let Some((how, slot)) = put.then {
                let complete = block.slots[put.slot as usize];
                fold(&mut block.slots, how, slot, &complete);
            }
        }
        time
    }

    #[inline(always)]
    fn delay(&self, bound: &Bound, time: &mut Times, first_quad: u64) {
        let owner = bound.step.transition;
        match &bound.draw {
            Draw::None => {}
            Draw::Exponential(scale) => {
                let address = Address { purpose: Purpose::Delay, owner, sample: 0 };
                time.add_exponential(self.key, address, first_quad, *scale);
            }
            Draw::Sampled(sampler) => {
                let address = Address { purpose: Purpose::Delay, owner, sample: 0 };
                time.add(Words { key: self.key, address, first_quad }, sampler.transform());
            }
        }
    }

    fn record(&self, block: &Block, lanes: std::ops::Range<usize>, samples: &mut Samples) {
        for r in lanes {
            let extra = block.extra_firings[(r & 3) * QUADS + (r >> 2)];
            self.note(block.end.of(r), u64::from(extra), samples);
            for (times, (first, last)) in samples.groups.iter_mut().zip(block.first.iter().zip(&block.last)) {
                if first.of(r) <= self.horizon {
                    times.first.push(first.of(r));
                    times.last.push(last.of(r));
                }
            }
        }
    }

    /// Counts a replication with this time and this number of conditional firings.
    #[inline]
    pub(in crate::sim) fn note(&self, time: u64, extra_firings: u64, samples: &mut Samples) {
        let ending = if time <= self.horizon { Ending::Goal } else { Ending::Horizon };
        samples.record(ending, time.min(self.horizon), self.sure_firings + extra_firings, self.keep);
    }

    /// Runs `work` on every block that contains some of the `count` replications from `first` on,
    /// with the lanes of these replications, until `watch` stops the run.
    fn each_block(
        &self,
        first: u64,
        count: u64,
        traced: bool,
        watch: &dyn Watch,
        mut work: impl FnMut(&Block, std::ops::Range<usize>),
    ) {
        let mut block = self.block(traced);
        let lanes = LANES as u64;
        let (mut at, mut steps) = (first, 0);
        while at < first + count {
            let start = at - at % lanes;
            steps += self.steps.len();
            if steps >= STEPS_BETWEEN_LOOKS && std::mem::take(&mut steps) > 0 && watch.stopped() {
                return;
            }
            if !self.level.run(RunBlock { schedule: self, block: &mut block, first_quad: start / 4, watch }) {
                return;
            }
            let end = (first + count - start).min(lanes);
            work(&block, (at - start) as usize..end as usize);
            at = start + lanes;
        }
    }
}

fn draw_of(program: &Program, t: usize, clock: Clock) -> Draw {
    match Sampler::of(program, t, clock) {
        None => Draw::None,
        Some(sampler) => match sampler.scale() {
            Some(scale) if (0..64).contains(&scale.shift) => Draw::Exponential(scale),
            _ => Draw::Sampled(sampler),
        },
    }
}

/// True for each step that may reach the goal, or the obstacles to answering the question.
fn obstacles_or_ends(
    program: &Program,
    plan: &SchedulePlan,
    question: &Question,
    clock: Clock,
) -> Result<Vec<bool>, UnfitError> {
    let mut obstacles = question.only_until();
    if !question.is_passage_only() {
        obstacles.push("the schedule engine computes only passage times and groups".to_owned());
    }
    if clock.is_wide() {
        obstacles.push("the rates differ too much for 64-bit times".to_owned());
    }
    if question.max_firings.unwrap_or(MAX_FIRINGS) < plan.steps.len() as u64 {
        obstacles.push("the net has more transitions than the limit of firings".to_owned());
    }
    if plan.choices.iter().any(|choice| choice.cumulative.len() > MAX_BRANCHES) {
        obstacles.push(format!("a choice has more than {MAX_BRANCHES} branches"));
    }
    let ends = match &question.goal {
        Goal::Dead => Some(plan.steps.iter().map(|step| step.last).collect()),
        Goal::Horizon => None,
        Goal::Marking(goal) => goal.code.as_conjunction().and_then(|terms| ends_of(program, plan, question, &terms)),
    };
    if ends.is_none() {
        obstacles.push(
            "the goal is neither the dead marking nor the arrival of all tokens in places without consumers".to_owned(),
        );
    }
    Problems::check(obstacles)?;
    Ok(ends.unwrap_or_default())
}

/// Steps whose firing may complete the tokens that `terms` (counter, minimum) require. No transition may consume from
/// these counters, and each counter must always receive exactly the required number of tokens. Groups could fire after
/// the goal, so with groups the goal must be the end of the replication.
fn ends_of(program: &Program, plan: &SchedulePlan, question: &Question, terms: &[(u32, f64)]) -> Option<Vec<bool>> {
    let complete = |&(counter, least): &(u32, f64)| {
        let arrivals = plan.arrivals[counter as usize] as f64;
        plan.sure_sink[counter as usize] && least > arrivals - 1.0 && least <= arrivals
    };
    let ends: Vec<bool> = plan
        .steps
        .iter()
        .map(|step| {
            let outputs = program.outputs.row(step.transition as usize);
            outputs.iter().any(|output| terms.iter().any(|(counter, _)| *counter == output.counter))
        })
        .collect();
    let all = plan.steps.iter().zip(&ends).all(|(step, ends)| *ends || !step.last);
    (terms.iter().all(complete) && (all || question.groups.is_empty())).then_some(ends)
}

#[inline(always)]
fn fold(slots: &mut [Times], how: Fold, slot: u32, time: &Times) {
    let slot = &mut slots[slot as usize];
    match how {
        Fold::Set => *slot = *time,
        Fold::Max => slot.max(time),
        Fold::Min => slot.min(time),
    }
}

/// A schedule whose runs may be stopped.
pub(in crate::sim) struct Watched<'a> {
    pub(in crate::sim) schedule: Schedule,
    pub(in crate::sim) watch: &'a dyn Watch,
}

impl Engine for Watched<'_> {
    fn batch(&self) -> u64 {
        LANES as u64
    }

    fn run(&self, first: u64, count: u64, samples: &mut Samples) -> Result<(), Fault> {
        let Self { schedule, watch } = self;
        schedule.each_block(first, count, false, *watch, |block, lanes| schedule.record(block, lanes, samples));
        Ok(())
    }
}
