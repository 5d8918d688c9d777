//! Copies among the attempts, and their fates.

use crate::trace::analysis::stragglers::observed;
use crate::trace::attempt::{Attempt, Outcome};
use crate::trace::job_trace::JobTrace;

/// Fate of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyFate {
    /// The copy was the first attempt of its task to succeed.
    Won,
    /// Another attempt had succeeded before it.
    Lost,
    /// The copy failed.
    Failed,
    /// The copy was killed or has no end, and no other attempt of its task had succeeded before.
    Open,
}

/// All copies of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Copies {
    /// Each copy, as an index into [`JobTrace::attempts`], with its fate.
    pub fates: Vec<(usize, CopyFate)>,
    /// Tasks that had a copy.
    pub tasks: u64,
    /// Wasted time of attempts of tasks with copies: all but the first successful attempt \[s\].
    pub wasted: f64,
    /// Time of all attempts with a known end or an observed run time \[s\].
    pub busy: f64,
}

impl Copies {
    /// Returns the number of copies with this fate.
    pub fn count(&self, fate: CopyFate) -> u64 {
        self.fates.iter().filter(|(_, found)| *found == fate).count() as u64
    }
}

/// Returns the first attempt of a task to succeed, as an index.
fn winner(attempts: &[Attempt]) -> Option<usize> {
    let done = attempts.iter().enumerate().filter(|(_, attempt)| attempt.succeeded());
    // an attempt with an unknown end comes last
    done.min_by_key(|(_, attempt)| (attempt.finish().is_none(), attempt.finish())).map(|(i, _)| i)
}

/// Finds the copies of a trace.
pub fn copies(trace: &JobTrace) -> Copies {
    let mut found = Copies::default();
    let mut start = 0;
    for task in trace.attempts().chunk_by(|a, b| (a.stage, a.task) == (b.stage, b.task)) {
        let time = |attempt: &Attempt| observed(trace, attempt).map_or(0.0, |seen| seen.seconds);
        let winner = winner(task);
        if task.iter().any(|attempt| attempt.speculative) {
            found.tasks += 1;
            let in_vain = task.iter().enumerate().filter(|(i, attempt)| {
                // a failure is not a cost of copying
                Some(*i) != winner && !attempt.outcome.is_failure()
            });
            found.wasted += in_vain.map(|(_, attempt)| time(attempt)).sum::<f64>();
        }
        found.busy += task.iter().map(time).sum::<f64>();
        for (i, attempt) in task.iter().enumerate().filter(|(_, attempt)| attempt.speculative) {
            found.fates.push((start + i, fate(attempt, i, winner.map(|w| (w, &task[w])))));
        }
        start += task.len();
    }
    found
}

fn fate(copy: &Attempt, index: usize, winner: Option<(usize, &Attempt)>) -> CopyFate {
    if winner.is_some_and(|(i, _)| i == index) {
        return CopyFate::Won;
    }
    if copy.outcome == Outcome::KilledAsCopy || copy.succeeded() {
        return CopyFate::Lost;
    }
    if copy.outcome.is_failure() {
        return CopyFate::Failed;
    }
    let before = winner.is_some_and(|(_, other)| copy.finish().is_none() || other.finish() <= copy.finish());
    if before { CopyFate::Lost } else { CopyFate::Open }
}
