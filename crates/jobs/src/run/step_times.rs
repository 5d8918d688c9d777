//! The time of each step of a task, if nothing slows it down.

use crate::job::JobStage;
use crate::run::draws::{Draws, Four, MOST_PHASES, Tick, whole};

/// Maximum number of steps of a task.
pub(super) const MOST_STEPS: usize = 16;

/// Random words of four consecutive tasks of a stage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    /// The number of the first task, divided by four.
    block: u32,
    phases: [[u32; 4]; MOST_PHASES],
    /// Uniform numbers that decide which tasks are slow.
    slow: [f64; 4],
}

impl Words {
    /// Draws the words of a task and of its neighbours.
    pub(super) fn draw(draws: Draws, of: &JobStage, stage: usize, number: u32) -> Self {
        // `as` is fine: below the number of stages
        let four = Four { stage: stage as u32, attempt: 0, block: number / 4 };
        let mut phases = [[0; 4]; MOST_PHASES];
        (0..of.spread.phases.len()).for_each(|phase| phases[phase] = draws.phase(four, phase));
        let slow = if of.stragglers.is_some() { draws.slow(four) } else { [1.0; 4] };
        Self { block: four.block, phases, slow }
    }

    /// Returns true if these are the words of a task.
    pub(super) fn has(&self, number: u32) -> bool {
        self.block == number / 4
    }
}

/// Returns the time of each step of a task on a machine, in ticks. Their sum is the time of the task in every other simulator: the ends of the steps are
/// rounded, not their lengths.
pub(super) fn step_times(of: &JobStage, machine: usize, number: u32, words: &Words, tick: Tick) -> [u64; MOST_STEPS] {
    let lane = number as usize % 4;
    let factor = of.stragglers.as_ref().map_or(1.0, |stragglers| stragglers.drawn_factor(words.slow[lane], true));
    let mean = of.tasks.usual_of(number) * tick.per_s();
    let means = match &of.steps.first {
        Some(first) if number < first.tasks => &first.means,
        _ => of.spread.means_on(machine),
    };
    let shares = of.steps.shares_on(machine);
    let mut times = [0; MOST_STEPS];
    let (mut phases_before, mut share, mut ended) = (0.0, 0.0, 0);
    for (step, taken) in times.iter_mut().enumerate().take(of.steps_of_task()) {
        let phase = of.phase_of(step);
        let time = means[phase] * of.spread.phases[phase].draw(words.phases[phase][lane]);
        let is_last = step + 1 == of.steps_of_task() || of.phase_of(step + 1) != phase;
        share += shares.get(step).copied().unwrap_or(1.0);
        // the last step of a phase ends with the phase, whatever the rounding of the shares
        let until = phases_before + if is_last { time } else { share * time };
        let end = whole(until * factor * mean).max(ended);
        (*taken, ended) = (end - ended, end);
        if is_last {
            (phases_before, share) = (until, 0.0);
        }
    }
    times
}
