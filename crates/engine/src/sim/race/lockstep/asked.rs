//! A question in the form that lanes can answer, or the reasons why they cannot answer it.

use crate::compile::{Code, Program};
use crate::sim::clock::Clock;
use crate::sim::question::Question;
use crate::sim::race::lockstep::guard::Bound;
use crate::sim::race::lockstep::lanes::Values;

/// Maximum number of rewards at firings, since every firing checks all of them.
const MAX_IMPULSES: usize = 64;

/// Goal of the lanes.
#[derive(Clone, Debug)]
pub(super) enum Aim {
    /// No marking is the goal.
    None,
    /// All of these counters hold at least these numbers of tokens.
    Tokens(Vec<Bound>),
    /// The value of the expression is not 0.
    Expression(Code),
}

/// A reward at the firings of a timed transition.
#[derive(Clone, Debug)]
pub(super) struct Impulse {
    /// Row of the transition.
    pub(super) row: u32,
    pub(super) reward: usize,
    pub(super) value: Code,
}

/// The question that lanes answer.
#[derive(Clone, Debug)]
pub(super) struct LaneQuestion {
    pub(super) aim: Aim,
    /// Per transition: its row in the notes of a lane. The timed transitions come first, in their order.
    pub(super) rows: Vec<u32>,
    /// Per group of the question: rows of its transitions.
    pub(super) groups: Vec<Vec<usize>>,
    pub(super) tokens: bool,
    pub(super) throughput: bool,
    /// Start of the collection of averages and rewards, in ticks.
    pub(super) warm_up: u64,
    /// Seconds per tick.
    pub(super) tick: f64,
    /// Number of rewards.
    pub(super) rewards: usize,
    /// Rewards per second, each as the number of the reward and the expression of its rate.
    pub(super) rates: Vec<(usize, Code)>,
    pub(super) impulses: Vec<Impulse>,
    /// Snapshots, each as a tick and the expression to evaluate.
    pub(super) snapshots: Vec<(u64, Code)>,
    /// Per row: the changed counters, each with the number of tokens that a firing adds.
    pub(super) changes: Vec<Vec<(u32, i32)>>,
    pub(super) initial: Vec<u32>,
}

impl LaneQuestion {
    /// Converts a question about a program; adds the reasons why that is impossible to `obstacles`.
    pub(super) fn new(program: &Program, question: &Question, clock: Clock, obstacles: &mut Vec<String>) -> Self {
        let rows = rows(program);
        let mut impulses = Vec::new();
        for (reward, asked) in question.rewards.iter().enumerate() {
            for (t, value) in &asked.impulses {
                impulses.push(Impulse { row: rows[*t as usize], reward, value: value.clone() });
                if program.is_immediate(*t as usize) {
                    obstacles.push("a reward is collected when an immediate transition fires".to_owned());
                }
            }
        }
        if impulses.len() > MAX_IMPULSES {
            obstacles.push("too many transitions collect rewards when they fire".to_owned());
        }
        let rate = |(reward, asked): (usize, &crate::sim::question::Reward)| Some((reward, asked.rate.clone()?));
        let mut changes = vec![Vec::new(); program.transitions()];
        for (t, &row) in rows.iter().enumerate() {
            changes[row as usize] = program.changes.row(t).iter().map(|change| (change.counter, change.by)).collect();
        }
        obstacles.extend(question.late_goal());
        let asked = Self {
            aim: aim(question),
            groups: question.groups.iter().map(|group| of_group(&rows, &group.transitions)).collect(),
            tokens: question.tokens,
            throughput: question.throughput,
            warm_up: clock.ticks(question.warm_up),
            tick: clock.tick(),
            rewards: question.rewards.len(),
            rates: question.rewards.iter().enumerate().filter_map(rate).collect(),
            impulses,
            snapshots: question.snapshots.iter().map(|s| (clock.ticks(s.time), s.value.clone())).collect(),
            changes,
            rows,
            initial: program.initial.clone(),
        };
        if !asked.codes().all(Values::can_hold) {
            obstacles.push("a function has too many arguments".to_owned());
        }
        asked
    }

    /// Every expression that is evaluated in all lanes.
    pub(super) fn codes(&self) -> impl Iterator<Item = &Code> {
        let aim = match &self.aim {
            Aim::Expression(code) => Some(code),
            Aim::None | Aim::Tokens(_) => None,
        };
        let rates = self.rates.iter().map(|(_, code)| code);
        rates.chain(self.impulses.iter().map(|impulse| &impulse.value)).chain(aim)
    }

    /// Returns true if the firings of each transition are counted.
    pub(super) fn counts(&self) -> bool {
        self.tokens || self.throughput
    }

    /// Returns true if results depend on the time spent in each marking.
    pub(super) fn watches_time(&self) -> bool {
        !self.rates.is_empty() || !self.snapshots.is_empty()
    }
}

fn aim(question: &Question) -> Aim {
    let Some(code) = question.end() else { return Aim::None };
    let bound = |(counter, least): (u32, f64)| Bound { counter, tokens: least.max(0.0) as u32 };
    match code.as_conjunction() {
        Some(terms) if !terms.is_empty() => Aim::Tokens(terms.into_iter().map(bound).collect()),
        _ => Aim::Expression(code),
    }
}

fn rows(program: &Program) -> Vec<u32> {
    let mut rows = vec![0; program.transitions()];
    let immediate = (0..).take(program.transitions()).filter(|&t| program.is_immediate(t as usize));
    for (row, t) in (0..).zip(program.timed.iter().copied().chain(immediate)) {
        rows[t as usize] = row;
    }
    rows
}

fn of_group(rows: &[u32], transitions: &[u32]) -> Vec<usize> {
    let mut of_group: Vec<usize> = transitions.iter().map(|&t| rows[t as usize] as usize).collect();
    of_group.sort_unstable();
    of_group.dedup();
    of_group
}
