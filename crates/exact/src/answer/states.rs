//! Exact answers from all states of a net.

use crate::answer::request::until;
use crate::answer::value::{AnswerError, ExactAnswer, ExactBy, ExactTime, Kind, with_phases};
use crate::compile::{Code, compile};
use crate::fold::Symmetry;
use crate::net::Net;
use crate::sim::{Question, Reward};
use crate::solve::{
    Chain, FiringFlow, Limits, LinearSettings, TransientSettings, Until, UntilStates, expected, steady_state, transient,
};
use crate::watch::Watch;

/// Returns the exact answer from all states.
pub(super) fn answer(
    net: &Net,
    kind: Kind,
    question: &Question,
    watch: &dyn Watch,
) -> Result<ExactAnswer, AnswerError> {
    let solved = Solved::of(net, kind, question, watch)?;
    match kind {
        Kind::Passage => solved.passage(question, watch),
        Kind::Averages => solved.averages(question, watch),
        Kind::Steady => solved.steady(question, watch),
    }
}

/// All states of a net whose general delays are replaced by phases. Original places and transitions come before the
/// places and transitions of phases.
struct Solved {
    states: UntilStates,
}

impl Solved {
    fn of(net: &Net, kind: Kind, question: &Question, watch: &dyn Watch) -> Result<Self, AnswerError> {
        let net = with_phases(net)?.net;
        let program = compile(&net)?;
        let is_passage = kind == Kind::Passage;
        let until = if is_passage { until(question) } else { Until::default() };
        let states = until.explore(&program, &Symmetry::default(), &Limits::default(), watch)?;
        states.space.complete()?;
        Ok(Self { states })
    }

    fn chain(&self) -> &Chain {
        self.states.space.partial_chain()
    }

    fn empty(&self) -> ExactAnswer {
        ExactAnswer::empty(ExactBy::States, Some(self.states.space.states()))
    }

    /// The time to the goal, and the rewards up to it.
    fn passage(self, question: &Question, watch: &dyn Watch) -> Result<ExactAnswer, AnswerError> {
        let reward = |reward: &Reward| {
            let value = self.states.gathered(reward.rate.as_ref(), &reward.impulses, f64::INFINITY, watch)?;
            let infinite = || AnswerError::Infinite { reward: reward.name.clone() };
            Some(value).filter(|value| value.is_finite()).ok_or_else(infinite)
        };
        let rewards = question.rewards.iter().map(reward).collect::<Result<_, AnswerError>>()?;
        let empty = self.empty();
        let UntilStates { space, targets, .. } = self.states;
        Ok(ExactAnswer { time: Some(ExactTime::States { space: Box::new(space), targets }), rewards, ..empty })
    }

    /// Averages of the long run: all requested quantities, by default tokens and throughputs.
    fn steady(&self, question: &Question, watch: &dyn Watch) -> Result<ExactAnswer, AnswerError> {
        let steady = steady_state(self.chain(), &LinearSettings::watched(watch))?;
        let all = !question.tokens && !question.throughput && question.rewards.is_empty();
        self.means(&steady.probabilities, 1.0, question, all)
    }

    /// Averages over the time from the end of the warm-up to the horizon, and snapshots.
    fn averages(&self, question: &Question, watch: &dyn Watch) -> Result<ExactAnswer, AnswerError> {
        let (start, end) = (question.warm_up, question.horizon.unwrap_or(0.0));
        let times: Vec<f64> = [start, end].into_iter().chain(question.snapshots.iter().map(|s| s.time)).collect();
        let found = transient(self.chain(), &times, &TransientSettings::watched(watch))?;
        let between: Vec<f64> = found.stays[1].iter().zip(&found.stays[0]).map(|(b, a)| (b - a).max(0.0)).collect();
        let seconds = end - start;
        let mut answer = if seconds > 0.0 {
            let shares: Vec<f64> = between.iter().map(|stay| stay / seconds).collect();
            let mut means = self.means(&shares, seconds, question, false)?;
            if start <= 0.0 {
                self.add_start(&mut means, seconds, question)?;
            }
            means
        } else {
            self.empty()
        };
        for (snapshot, probabilities) in question.snapshots.iter().zip(&found.probabilities[2..]) {
            answer.snapshots.push(self.mean(&snapshot.value, probabilities, "a snapshot")?);
        }
        Ok(answer)
    }

    /// Adds the immediate firings before time first passes to averages over `seconds` from time 0.
    fn add_start(&self, means: &mut ExactAnswer, seconds: f64, question: &Question) -> Result<(), AnswerError> {
        let UntilStates { space, program, .. } = &self.states;
        let firings = space.firings_at_start(program)?;
        means.throughputs.iter_mut().zip(firings).for_each(|(throughput, firings)| *throughput += firings / seconds);
        for (sum, reward) in means.rewards.iter_mut().zip(&question.rewards) {
            space.for_each_firing_at_start(program, &mut |firing| *sum += gained(reward, &firing))?;
            if !sum.is_finite() {
                return Err(AnswerError::NotFinite { what: format!("reward `{}`", reward.name) });
            }
        }
        Ok(())
    }

    /// Means for the given shares of time in the states; rewards are collected over `seconds`.
    fn means(&self, shares: &[f64], seconds: f64, question: &Question, all: bool) -> Result<ExactAnswer, AnswerError> {
        let averages = self.states.space.averages(&self.states.program, shares)?;
        let rewards = question.rewards.iter().map(|reward| Ok(seconds * self.reward(reward, shares)?));
        Ok(ExactAnswer {
            tokens: if all || question.tokens { averages.tokens } else { Vec::new() },
            throughputs: if all || question.throughput { averages.throughputs } else { Vec::new() },
            rewards: rewards.collect::<Result<_, AnswerError>>()?,
            ..self.empty()
        })
    }

    /// Mean of a reward per second.
    fn reward(&self, reward: &Reward, shares: &[f64]) -> Result<f64, AnswerError> {
        let what = format!("reward `{}`", reward.name);
        let mut sum = match &reward.rate {
            Some(rate) => self.mean(rate, shares, &what)?,
            None => 0.0,
        };
        if !reward.impulses.is_empty() {
            let mut visit = |firing: FiringFlow<'_>| sum += gained(reward, &firing);
            self.states.space.for_each_firing(&self.states.program, shares, &mut visit)?;
        }
        if !sum.is_finite() {
            return Err(AnswerError::NotFinite { what });
        }
        Ok(sum)
    }

    fn mean(&self, value: &Code, probabilities: &[f64], what: &str) -> Result<f64, AnswerError> {
        Ok(expected(probabilities, &self.states.space.values(value, what)?))
    }
}

/// Returns the impulses of a reward at a firing, weighted with the flow of the firing.
fn gained(reward: &Reward, firing: &FiringFlow<'_>) -> f64 {
    let own = reward.impulses.iter().filter(|(transition, _)| *transition == firing.transition);
    own.map(|(_, value)| firing.flow * value.eval(firing.marking)).sum()
}
