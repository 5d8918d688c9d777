//! Transitions that were enabled but never fired in long runs, so that their effects were not observed.

use crate::compile::{Code, Csr, Firing, Program};
use crate::rng::split;
use crate::semantics::is_enabled;
use crate::sim::clock::Clock;
use crate::sim::question::{Goal, Question, Reward};
use crate::sim::race::{ClockForm, DirectForm, DirectLaw, Observer, Setup};
use crate::sim::reachable::possible;
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

/// Transitions that fired in no run although longer runs may show their effects, and the numbers that they can influence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unseen {
    /// Ids of the transitions.
    transitions: Vec<String>,
    /// Per counter, transition and reward: the first transition that can influence it, by position.
    tokens: Vec<Option<u32>>,
    throughputs: Vec<Option<u32>>,
    rewards: Vec<Option<u32>>,
}

impl Unseen {
    /// Finds the transitions of `program` that fired in none of the runs, and might: timed ones, and immediate ones that
    /// are enabled in some marking during the first firings of the first run. Transitions that provably never fire do not
    /// count. None if all runs ended in dead markings, which nothing leaves.
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
        let found = unseen(program, runs, seed, watch)?;
        if found.is_empty() {
            return Ok(Self::default());
        }
        let influence = Influence::of(program, &found);
        let ids = found.iter().map(|&t| program.transition_names[t as usize].to_owned()).collect();
        let of_reward = |reward: &Reward| {
            let counters = |code: &Code| code.counters().find_map(|counter| influence.tokens[counter as usize]);
            let of_impulse = |(t, code): &(u32, Code)| influence.throughputs[*t as usize].or_else(|| counters(code));
            reward.rate.as_ref().and_then(counters).or_else(|| reward.impulses.iter().find_map(of_impulse))
        };
        let rewards = rewards.iter().map(of_reward).collect();
        Ok(Self { transitions: ids, tokens: influence.tokens, throughputs: influence.throughputs, rewards })
    }

    /// Returns the ids of the transitions.
    pub fn transitions(&self) -> &[String] {
        &self.transitions
    }

    /// Returns the id of a transition that can influence the tokens of a counter.
    pub fn of_tokens(&self, counter: usize) -> Option<&str> {
        self.id(&self.tokens, counter)
    }

    /// Returns the id of a transition that can influence the throughput of a transition.
    pub fn of_throughput(&self, transition: usize) -> Option<&str> {
        self.id(&self.throughputs, transition)
    }

    /// Returns the id of a transition that can influence a reward.
    pub fn of_reward(&self, reward: usize) -> Option<&str> {
        self.id(&self.rewards, reward)
    }

    fn id(&self, numbers: &[Option<u32>], at: usize) -> Option<&str> {
        let transition = numbers.get(at).copied().flatten()?;
        self.transitions.get(transition as usize).map(String::as_str)
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

/// Returns the transitions of [`Unseen::of`].
fn unseen(program: &Program, runs: &[BatchAverages], seed: u64, watch: &dyn Watch) -> Result<Vec<u32>, SteadyError> {
    if runs.iter().all(|run| run.is_dead) {
        return Ok(Vec::new());
    }
    let unfired = |t: &u32| runs.iter().all(|run| run.fired.get(*t as usize).is_none_or(|fired| *fired == 0));
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
