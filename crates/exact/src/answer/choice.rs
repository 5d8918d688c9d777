//! Questions with an exact answer, its cost, and the answer.

use crate::answer::limits::{CHEAP_STATES, CHEAP_WORK};
use crate::answer::route::{Route, SolveRoute};
use crate::answer::states;
use crate::answer::value::{
    AnswerError, ExactAnswer, ExactBy, ExactTime, Kind, NeedsReplications, grouped, with_phases,
};
use crate::compile::{Code, Program, compile};
use crate::fold::Folding;
use crate::net::Net;
use crate::sim::{FoldedParts, Goal, Prepared, Question};
use crate::solve::{Limits, explore, is_series_parallel};
use crate::watch::{Unwatched, Watch};

/// The choice between an exact answer and replications; the exact answer is taken if it is known to cost less.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The exact method that is faster; none if no method is known to be faster.
    pub exact: Option<ExactBy>,
    /// States that the exact answer needs.
    pub states: Option<usize>,
    /// Explains why no exact answer is known to cost less.
    pub no_exact: Option<String>,
}

/// Returns the kind of a question, or the reason why no exact method answers it.
fn kind(question: &Question) -> Result<Kind, NeedsReplications> {
    if question.steady {
        return Ok(Kind::Steady);
    }
    if !question.groups.is_empty() {
        return Err(NeedsReplications::Groups);
    }
    if question.max_firings.is_some() {
        return Err(NeedsReplications::MaxFirings);
    }
    match (&question.goal, question.is_passage_only()) {
        (Goal::Horizon, false) => Ok(Kind::Averages),
        (Goal::Horizon, true) => Err(NeedsReplications::Nothing),
        (_, true) if question.horizon.is_some() || question.earliest > 0.0 => Err(NeedsReplications::Horizon),
        (_, true) => Ok(Kind::Passage),
        (_, false) if is_reward_only(question) => Ok(Kind::Passage),
        (_, false) => Err(NeedsReplications::AveragesToGoal),
    }
}

/// Chooses between an exact answer and replications.
///
/// # Examples
///
/// ```
/// use tailspn_engine::compile::compile;
/// use tailspn_engine::net::{NetBuilder, Timing};
/// use tailspn_engine::sim::Question;
/// use tailspn_exact::answer::{ExactBy, choose};
///
/// let mut b = NetBuilder::new("one task");
/// let todo = b.place("todo", 1);
/// let task = b.transition("task", Timing::exponential(0.5));
/// b.input(todo, task, 1.0);
/// let net = b.build().unwrap();
/// let choice = choose(&net, &compile(&net).unwrap(), &Question::default());
/// assert_eq!(choice.exact, Some(ExactBy::SeriesParallel));
/// ```
pub fn choose(net: &Net, program: &Program, question: &Question) -> Choice {
    let kind = match kind(question) {
        Ok(kind) => kind,
        Err(reason) => return Choice { no_exact: Some(reason.to_string()), ..Choice::default() },
    };
    if kind == Kind::Passage && is_whole(question) && is_series_parallel(program).is_ok() {
        return Choice { exact: Some(ExactBy::SeriesParallel), ..Choice::default() };
    }
    let end = question.end().filter(|_| kind == Kind::Passage);
    match few_states(net, end.as_ref()) {
        Ok(states) => Choice { exact: Some(ExactBy::States), states: Some(states), no_exact: None },
        Err(reason) => Choice { no_exact: Some(reason), ..Choice::default() },
    }
}

/// Returns true if the question is about the end of a schedule, and nothing else.
fn is_whole(question: &Question) -> bool {
    question.goal == Goal::Dead && question.avoid.is_none() && question.rewards.is_empty()
}

/// Returns true if the question has rewards up to its goal, and no other averages.
fn is_reward_only(question: &Question) -> bool {
    let has_averages = question.tokens || question.throughput || !question.snapshots.is_empty();
    let is_limited = question.horizon.is_some() || question.earliest > 0.0 || question.warm_up > 0.0;
    !has_averages && !is_limited
}

/// Returns the number of states if the net is cheap to solve; otherwise the reason why it is not.
fn few_states(net: &Net, goal: Option<&Code>) -> Result<usize, String> {
    let net = with_phases(net).map_err(|all| all[0].to_string())?.net;
    let program = compile(&net).map_err(|all| all[0].to_string())?;
    let states = CHEAP_STATES.min(CHEAP_WORK / (program.transitions() as u64).max(1));
    let limits = Limits { states, ..Limits::default() };
    let space = explore(&program, goal, &limits, &Unwatched).map_err(|error| error.to_string())?;
    match space.stopped() {
        None => Ok(space.states()),
        Some(_) => Err(format!("the net has more than {} states", grouped(states))),
    }
}

/// Returns the exact answer.
///
/// # Errors
///
/// [`AnswerError::NeedsReplications`], or the reason why the net cannot be solved.
pub fn exact(net: &Net, program: &Program, question: &Question, watch: &dyn Watch) -> Result<ExactAnswer, AnswerError> {
    if question.from.is_some() || !question.measures.is_empty() || !question.at.is_empty() {
        let what = "in place of a simulation, there are neither times from one set of markings to another, nor measures and times of averages";
        return Err(AnswerError::Conflict { what });
    }
    let kind = kind(question)?;
    if kind == Kind::Passage
        && is_whole(question)
        && let Route::Parts { time, .. } = SolveRoute::default().choose(net, program, watch)?
    {
        let empty = ExactAnswer::empty(ExactBy::SeriesParallel, None);
        return Ok(ExactAnswer { time: Some(ExactTime::Parts(*time)), ..empty });
    }
    states::answer(net, kind, question, watch)
}

/// Returns the exact answer about a net that was prepared (folded) for replications, in terms of the original net.
/// Equal parts that hold several tokens are also folded, such as tasks whose delays have phases.
///
/// # Errors
///
/// The errors of [`exact`].
pub fn exact_of_prepared(
    net: &Net,
    question: &Question,
    prepared: &Prepared,
    watch: &dyn Watch,
) -> Result<ExactAnswer, AnswerError> {
    let is_schedule = is_series_parallel(&prepared.program).is_ok();
    let phases = if is_schedule { None } else { with_phases(net).ok() };
    if let Some(phases) = phases {
        let counted = Prepared::for_states(&phases.net, question)?;
        if let Some(folding) = counted.folding().filter(|folding| folding.has_machines()) {
            let found = exact(counted.net(&phases.net), &counted.program, &counted.question, watch)?;
            let found = ExactAnswer { not_folded: counted.not_folded().to_vec(), ..found };
            return Ok(unfolded(found, folding, net));
        }
    }
    let found = exact(prepared.net(net), &prepared.program, &prepared.question, watch)?;
    let found = ExactAnswer { not_folded: prepared.not_folded().to_vec(), ..found };
    Ok(match prepared.folding() {
        Some(folding) => unfolded(found, folding, net),
        None => found,
    })
}

/// Translates averages of a folded net, or of a net with folded phases, to places and transitions of the original net.
fn unfolded(mut found: ExactAnswer, folding: &Folding, net: &Net) -> ExactAnswer {
    let total = |terms: &[(&f64, f64)]| terms.iter().map(|(mean, share)| *mean * share).sum();
    found.folded = FoldedParts::of(folding);
    found.tokens = folding.per_place(&found.tokens, total);
    found.throughputs = folding.per_transition(&found.throughputs, total);
    // places and transitions of phases come last
    found.tokens.truncate(net.places().len() * net.classes().len());
    found.throughputs.truncate(net.transitions().len());
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{Law, Memory, NetBuilder, Timing};
    use crate::sim::{Goal, Reward};

    /// Four machines whose stages are interrupted by outages, each with a queue: the averages of each machine with and without folding are equal.
    #[test]
    fn averages_of_counted_phases_are_those_of_all_states() {
        let mut b = NetBuilder::new("machines");
        let [power, outage] = [("power", 1), ("outage", 0)].map(|(name, tokens)| b.place(name, tokens));
        for (name, from, to, rate) in [("fails", power, outage, 0.5), ("repaired", outage, power, 2.0)] {
            let t = b.transition(name, Timing::exponential(rate));
            b.input(from, t, 1.0);
            b.output(t, to, 1.0);
        }
        for i in 0..3 {
            let queue = b.place(format!("queue{i}"), 1);
            b.place_mut(queue).capacity = Some(2);
            let arrive = b.transition(format!("arrive{i}"), Timing::exponential(0.7));
            b.output(arrive, queue, 1.0);
            let mut timing = Timing::general(Law::Erlang { stages: 2, mean: 1.0 });
            if let Timing::Timed { memory, .. } = &mut timing {
                *memory = Memory::Age;
            }
            let work = b.transition(format!("work{i}"), timing);
            b.input(queue, work, 1.0);
            b.inhibitor(outage, work, 1.0);
        }
        let net = b.build().unwrap();
        let all = net.expression("#(queue0) + #(queue1) + #(queue2)").unwrap();
        // evaluated before the firing, in each marking of the machine
        let impulse = |i: u32| {
            let t = net.find_transition(&format!("work{i}")).unwrap().index() as u32;
            (t, net.code(&format!("1 + #(queue{i})")).unwrap())
        };
        let impulses = (0..3).map(impulse);
        let question = Question {
            goal: Goal::Horizon,
            horizon: Some(4.0),
            tokens: true,
            throughput: true,
            rewards: vec![Reward {
                name: "work".into(),
                rate: Some(crate::compile::lower(&net, &all)),
                impulses: impulses.collect(),
            }],
            ..Question::default()
        };
        let apart = exact(&net, &compile(&net).unwrap(), &question, &Unwatched).unwrap();
        let prepared = Prepared::new(&net, &question, true).unwrap();
        let counted = exact_of_prepared(&net, &question, &prepared, &Unwatched).unwrap();
        assert!(counted.states.unwrap() * 3 < apart.states.unwrap(), "{:?} of {:?}", counted.states, apart.states);
        // places and transitions of phases come last in one answer, and are absent from the other
        assert_eq!((counted.tokens.len(), counted.throughputs.len()), (net.places().len(), net.transitions().len()));
        let pairs = |a: &[f64], b: &[f64]| a.iter().copied().zip(b.iter().copied()).collect::<Vec<_>>();
        let all = [
            pairs(&counted.tokens, &apart.tokens),
            pairs(&counted.throughputs, &apart.throughputs),
            pairs(&counted.rewards, &apart.rewards),
        ];
        for (counted, apart) in all.concat() {
            assert!((counted - apart).abs() < 1e-9, "{counted} and {apart}");
        }
    }
}
