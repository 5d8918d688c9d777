//! Transitions that fired never or rarely in long runs, so that their effects were hardly observed.

use crate::compile::{Code, Csr, Firing, Program};
use crate::rng::split;
use crate::semantics::is_enabled;
use crate::sim::clock::Clock;
use crate::sim::question::{Goal, Question, Reward};
use crate::sim::race::{ClockForm, DirectForm, DirectLaw, Observer, Setup};
use crate::sim::reachable::{enabled_from, possible};
use crate::sim::samples::Samples;
use crate::sim::steady::{BatchAverages, SteadyError};
use crate::watch::Watch;

/// Number of firings that are simulated again to find enabled transitions.
const LOOKED_AT: u64 = 200_000;

/// Checks before each firing which of some transitions are enabled: timed ones in tangible markings, immediate ones in
/// vanishing markings.
struct Enabled<'a> {
    program: &'a Program,
    wanted: Vec<(u32, bool)>,
}

impl Observer for Enabled<'_> {
    fn fires(&mut self, _: u32, marking: &[u32], _: u64) {
        for (t, enabled) in self.wanted.iter_mut().filter(|(_, enabled)| !enabled) {
            *enabled = is_enabled(self.program, *t as usize, marking).unwrap_or(true);
        }
    }
}

/// Transitions that fired in no run, or rarely, although longer runs may show their effects, and the numbers that they can
/// influence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unseen {
    /// Ids of the transitions.
    transitions: Vec<String>,
    /// Numbers of firings of the transitions, in all runs.
    fired: Vec<u64>,
    /// Per counter, transition and reward: the first transition that can influence it, by position.
    tokens: Vec<Option<u32>>,
    throughputs: Vec<Option<u32>>,
    rewards: Vec<Option<u32>>,
}

impl Unseen {
    /// Firings in all runs below which a transition counts as rare.
    ///
    /// Of two halves of a net that change places, 8 runs of 50 seeds at each of ten rates: intervals of 95% covered the exact share
    /// in 59% of the cases with 1 or 2 firings of the rarer change, in 80% with 3 or 4, in 93% with 5 to 29, and in 98% with 30
    /// or more.
    pub const RARE: u64 = 30;

    /// Finds the transitions of `program` that fired in none of the runs, and might: timed ones, and immediate ones that
    /// are enabled in some marking during the first firings of the first run. Transitions that provably never fire do not
    /// count. Adds the transitions with fewer firings than [`RARE`](Self::RARE) that can fire again. None if all runs ended
    /// in dead markings, which nothing leaves.
    ///
    /// # Errors
    ///
    /// A fault of the net.
    pub fn of(
        program: &Program,
        rewards: &[Reward],
        runs: &[BatchAverages],
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<Self, SteadyError> {
        let mut found = unseen(program, runs, seed, watch)?;
        found.extend(rare(program, runs));
        if found.is_empty() {
            return Ok(Self::default());
        }
        let fired = found.iter().map(|&t| firings(runs, t)).collect();
        let influence = Influence::of(program, &found);
        let ids = found.iter().map(|&t| program.transition_names[t as usize].to_owned()).collect();
        let of_reward = |reward: &Reward| {
            let counters = |code: &Code| code.counters().find_map(|counter| influence.tokens[counter as usize]);
            let of_impulse = |(t, code): &(u32, Code)| influence.throughputs[*t as usize].or_else(|| counters(code));
            reward.rate.as_ref().and_then(counters).or_else(|| reward.impulses.iter().find_map(of_impulse))
        };
        let rewards = rewards.iter().map(of_reward).collect();
        Ok(Self { transitions: ids, fired, tokens: influence.tokens, throughputs: influence.throughputs, rewards })
    }

    /// Returns the ids of the transitions.
    pub fn transitions(&self) -> &[String] {
        &self.transitions
    }

    /// Returns a transition that can influence the tokens of a counter, and how often it fired, as text.
    pub fn of_tokens(&self, counter: usize) -> Option<String> {
        self.words(&self.tokens, counter)
    }

    /// As [`of_tokens`](Self::of_tokens), for the throughput of a transition.
    pub fn of_throughput(&self, transition: usize) -> Option<String> {
        self.words(&self.throughputs, transition)
    }

    /// As [`of_tokens`](Self::of_tokens), for a reward.
    pub fn of_reward(&self, reward: usize) -> Option<String> {
        self.words(&self.rewards, reward)
    }

    fn words(&self, numbers: &[Option<u32>], at: usize) -> Option<String> {
        let at = numbers.get(at).copied().flatten()? as usize;
        let id = self.transitions.get(at)?;
        Some(match self.fired.get(at)? {
            0 => format!("`{id}` never fired"),
            1 => format!("`{id}` fired only once"),
            times => format!("`{id}` fired only {times} times"),
        })
    }
}

/// Counters and transitions that the firings of some transitions can influence, each with the position of the first such
/// transition.
struct Influence {
    tokens: Vec<Option<u32>>,
    throughputs: Vec<Option<u32>>,
}

impl Influence {
    /// Follows counters that a transition writes to the transitions that read them.
    fn of(program: &Program, sources: &[u32]) -> Self {
        let writes = program.writes();
        let readers =
            Csr::from_rows((0..program.transitions()).map(|t| program.reads(t))).transposed(program.counters());
        let mut found = Self { tokens: vec![None; program.counters()], throughputs: vec![None; program.transitions()] };
        for (position, &source) in (0..).zip(sources) {
            let mut stack = vec![source];
            while let Some(t) = stack.pop() {
                if found.throughputs[t as usize].is_some() {
                    continue;
                }
                found.throughputs[t as usize] = Some(position);
                for &counter in writes.row(t as usize) {
                    if found.tokens[counter as usize].is_none() {
                        found.tokens[counter as usize] = Some(position);
                        stack.extend_from_slice(readers.row(counter as usize));
                    }
                }
            }
        }
        found
    }
}

/// The number of firings of a transition in all runs.
fn firings(runs: &[BatchAverages], t: u32) -> u64 {
    runs.iter().filter_map(|run| run.fired.get(t as usize)).sum()
}

/// Returns the transitions that fired rarely and can fire again in a run: a choice at the start that is over is observed
/// once in each run, and no longer run shows more of it.
fn rare(program: &Program, runs: &[BatchAverages]) -> Vec<u32> {
    let few = (0..).take(program.transitions()).filter(|&t| (1..Unseen::RARE).contains(&firings(runs, t)));
    let few: Vec<u32> = few.collect();
    if few.is_empty() {
        return few;
    }
    let again = runs.iter().filter(|run| !run.is_dead).map(|run| enabled_from(program, last_marking(program, run)));
    let again: Vec<Vec<bool>> = again.collect();
    few.into_iter().filter(|&t| again.iter().any(|enabled| enabled[t as usize])).collect()
}

/// The marking after the counted firings of a run; as many tokens as possible where arcs of changing weight move them, and where
/// the firings of a folded net were shared out.
fn last_marking(program: &Program, run: &BatchAverages) -> Vec<u32> {
    let mut tokens: Vec<i64> = program.initial.iter().map(|&tokens| i64::from(tokens)).collect();
    for (t, &fired) in run.fired.iter().enumerate() {
        let fired = i64::try_from(fired).unwrap_or(i64::MAX);
        for change in program.changes.row(t) {
            let tokens = &mut tokens[change.counter as usize];
            *tokens = tokens.saturating_add(fired.saturating_mul(i64::from(change.by)));
        }
    }
    let mut marking: Vec<u32> = tokens.into_iter().map(|tokens| u32::try_from(tokens).unwrap_or(u32::MAX)).collect();
    let dynamic = (0..program.transitions()).flat_map(|t| program.dynamic.row(t));
    dynamic.for_each(|arc| marking[arc.counter as usize] = u32::MAX);
    marking
}

/// Returns the transitions of [`Unseen::of`] that never fired.
fn unseen(program: &Program, runs: &[BatchAverages], seed: u64, watch: &dyn Watch) -> Result<Vec<u32>, SteadyError> {
    if runs.iter().all(|run| run.is_dead) {
        return Ok(Vec::new());
    }
    let unfired = |t: &u32| firings(runs, *t) == 0;
    let may_fire = |t: &u32| match &program.firing[*t as usize] {
        Firing::Exponential { rate, .. } => rate.as_constant() != Some(0.0),
        _ => true,
    };
    let wanted: Vec<u32> = (0..).take(program.transitions()).filter(unfired).filter(may_fire).collect();
    let (immediate, timed): (Vec<u32>, Vec<u32>) =
        possible(program, &wanted).into_iter().partition(|&t| program.is_immediate(t as usize));
    if immediate.is_empty() {
        return Ok(timed);
    }
    let wanted = immediate.into_iter().map(|t| (t, false)).collect();
    let question = Question { goal: Goal::never(), max_firings: Some(LOOKED_AT), ..Question::default() };
    let clock = Clock::choose(program, None);
    let setup = Setup { program, question: &question, clock, key: split(seed), keep_times: false, watch };
    let mut samples = Samples::new(clock, &question, program.counters(), program.transitions());
    let observer = Enabled { program, wanted };
    let seen = if DirectLaw::obstacles(program, clock).is_empty() {
        DirectForm::new(setup).watch(observer, 0, 1, &mut samples)?
    } else {
        ClockForm::new(setup).watch(observer, 0, 1, &mut samples)?
    };
    let mut unseen: Vec<u32> =
        seen.wanted.into_iter().filter(|(_, enabled)| *enabled).map(|(t, _)| t).chain(timed).collect();
    unseen.sort_unstable();
    Ok(unseen)
}
