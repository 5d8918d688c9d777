//! The schedule engine: max-plus evaluation of a straight-line program, a block of replications at a time.
//!
//! Owns [`Schedule`], which binds a plan to a clock, a key and a question. There is no event list and no enabling test:
//! one pass over the transitions. Times equal those of the race engine's clock form bit for bit.

mod kernel;

use crate::compile::{Firing, Fold, Program, SchedulePlan, Step};
use crate::rng::{Address, Purpose, split};
use crate::semantics::Fault;
use crate::sim::clock::{Clock, NEVER, Scale};
use crate::sim::question::{Ending, Goal, Question};
use crate::sim::simd::Level;
use crate::sim::{Engine, Samples};
use kernel::{LANES, QUADS, Times, draw_branches};

/// Most branches of one choice.
const MAX_BRANCHES: usize = 255;

/// How the delays of a step are made.
#[derive(Clone, Debug)]
enum Draw {
    /// No delay.
    None,
    /// A scaled unit variate.
    Exponential(Scale),
}

/// A step bound to a clock.
#[derive(Clone, Debug)]
struct Bound {
    step: Step,
    draw: Draw,
    /// Groups of the question that the transition belongs to.
    groups: Vec<u32>,
    /// Time and nothing else moves through one slot.
    in_place: bool,
}

/// The schedule engine for one program and question.
#[derive(Clone, Debug)]
pub struct Schedule {
    steps: Vec<Bound>,
    choices: Vec<(u32, Vec<u32>)>,
    slots: usize,
    groups: usize,
    clock: Clock,
    key: [u32; 2],
    horizon: u64,
    /// Firings of the transitions that fire in every replication.
    sure_firings: u64,
    keep: bool,
    level: Level,
}

/// Everything that one block needs.
struct Block {
    slots: Vec<Times>,
    taken: Vec<[u8; LANES]>,
    end: Times,
    extra_firings: [u32; LANES],
    first: Vec<Times>,
    last: Vec<Times>,
}

/// One block of work, for [`Level::run`].
struct RunBlock<'a> {
    schedule: &'a Schedule,
    block: &'a mut Block,
    first_quad: u64,
}

impl pulp::NullaryFnOnce for RunBlock<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.schedule.run_block(self.block, self.first_quad);
    }
}

impl Schedule {
    fn block(&self) -> Block {
        Block {
            slots: vec![Times::ZERO; self.slots],
            taken: vec![[0; LANES]; self.choices.len()],
            end: Times::ZERO,
            extra_firings: [0; LANES],
            first: vec![Times::NEVER; self.groups],
            last: vec![Times::ZERO; self.groups],
        }
    }

    #[inline(always)]
    fn run_block(&self, block: &mut Block, first_quad: u64) {
        block.end = Times::ZERO;
        block.extra_firings = [0; LANES];
        block.first.fill(Times::NEVER);
        block.last.fill(Times::ZERO);
        for ((group, cumulative), taken) in self.choices.iter().zip(&mut block.taken) {
            let address = Address { purpose: Purpose::Choice, owner: *group, sample: 0 };
            draw_branches(taken, self.key, address, first_quad, cumulative);
        }
        for bound in &self.steps {
            self.run_step(bound, block, first_quad);
        }
    }

    #[inline(always)]
    fn run_step(&self, bound: &Bound, block: &mut Block, first_quad: u64) {
        let step = &bound.step;
        if bound.in_place {
            let slot = &mut block.slots[step.reads[0] as usize];
            self.delay(bound, slot, first_quad);
            return;
        }
        let mut time = match step.reads[..] {
            [] => Times::ZERO,
            [first, ..] => block.slots[first as usize],
        };
        for &slot in step.reads.iter().skip(1) {
            time.max(&block.slots[slot as usize]);
        }
        if let Some((choice, branch)) = step.branch {
            time.keep_branch(&block.taken[choice as usize], branch as u8);
        }
        self.delay(bound, &mut time, first_quad);
        if step.conditional {
            for (count, time) in block.extra_firings.iter_mut().zip(&time.0) {
                *count += u32::from(*time < NEVER);
            }
        }
        if step.last {
            block.end.max_existing(&time);
        }
        for &group in &bound.groups {
            block.first[group as usize].min(&time);
            block.last[group as usize].max_existing(&time);
        }
        for put in &step.puts {
            fold(&mut block.slots, put.fold, put.slot, &time);
            if let Some((how, slot)) = put.then {
                let complete = block.slots[put.slot as usize];
                fold(&mut block.slots, how, slot, &complete);
            }
        }
    }

    #[inline(always)]
    fn delay(&self, bound: &Bound, time: &mut Times, first_quad: u64) {
        match bound.draw {
            Draw::None => {}
            Draw::Exponential(scale) => {
                let address = Address { purpose: Purpose::Delay, owner: bound.step.transition, sample: 0 };
                time.add_exponential(self.key, address, first_quad, scale);
            }
        }
    }

    fn record(&self, block: &Block, lanes: std::ops::Range<usize>, samples: &mut Samples) {
        for r in lanes {
            let time = block.end.of(r);
            let extra = block.extra_firings[(r & 3) * QUADS + (r >> 2)];
            let ending = if time <= self.horizon { Ending::Goal } else { Ending::Horizon };
            samples.record(ending, time.min(self.horizon), self.sure_firings + u64::from(extra), self.keep);
            for (times, (first, last)) in samples.groups.iter_mut().zip(block.first.iter().zip(&block.last)) {
                if first.of(r) <= self.horizon {
                    times.first.push(first.of(r));
                    times.last.push(last.of(r).min(self.horizon));
                }
            }
        }
    }
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

impl Engine for Schedule {
    fn run(&self, first: u64, count: u64, samples: &mut Samples) -> Result<(), Fault> {
        let mut block = self.block();
        let lanes = LANES as u64;
        let mut at = first;
        while at < first + count {
            let start = at - at % lanes;
            self.level.run(RunBlock { schedule: self, block: &mut block, first_quad: start / 4 });
            let end = (first + count - start).min(lanes);
            self.record(&block, (at - start) as usize..end as usize, samples);
            at = start + lanes;
        }
        Ok(())
    }
}

impl Schedule {
    /// Binds a plan to a question. Temporary signature.
    pub fn new(program: &Program, plan: &SchedulePlan, question: &Question, seed: u64) -> Self {
        let clock = Clock::choose(program, question.horizon);
        let steps = plan.steps.iter().map(|step| {
            let t = step.transition as usize;
            let draw = match &program.firing[t] {
                Firing::Exponential { rate, .. } => {
                    Draw::Exponential(Scale::new(1.0 / rate.as_constant().unwrap_or(1.0), clock.engine_exponent()))
                }
                _ => Draw::None,
            };
            let in_place = step.reads.len() == 1
                && step.branch.is_none()
                && !step.conditional
                && !step.last
                && step.puts.len() == 1
                && step.puts[0] == crate::compile::Put { fold: Fold::Set, slot: step.reads[0], then: None };
            Bound { step: step.clone(), draw, groups: Vec::new(), in_place }
        });
        let steps: Vec<Bound> = steps.collect();
        let _ = (&Goal::Dead, MAX_BRANCHES);
        Self {
            sure_firings: steps.iter().filter(|b| !b.step.conditional).count() as u64,
            steps,
            choices: plan.choices.iter().map(|c| (c.group, c.cumulative.clone())).collect(),
            slots: plan.slots as usize,
            groups: 0,
            clock,
            key: split(seed),
            horizon: question.horizon.map_or(NEVER - 1, |h| clock.ticks(h)),
            keep: false,
            level: Level::detect(),
        }
    }
    /// x
    pub fn go(&self, n: u64, samples: &mut Samples) {
        self.run(0, n, samples).unwrap();
        let _ = self.clock;
    }
}
