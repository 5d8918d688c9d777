//! Which kind of question has an exact answer, what it costs, and the answer.

use crate::answer::route::too_many;
use crate::answer::states;
use crate::answer::value::{
    AnswerError, ExactAnswer, ExactMethod, ExactTime, Kind, NeedsReplications, grouped, with_phases,
};
use crate::compile::{Code, Program, compile};
use crate::fold::Folding;
use crate::net::Net;
use crate::sim::{Goal, Prepared, Question};
use crate::solve::{GridSettings, Limits, completion_time, explore, is_series_parallel};
use crate::watch::{Unwatched, Watch};

/// States of the folded net up to which an exact answer costs less than a second, at about 0.1 ms a state, and little memory. Counting
/// this many takes about 50 ms.
const CHEAP: u64 = 5_000;
/// Most states times transitions: exploring a large net must not take longer than simulating it.
const WORK: u64 = 4_000_000;

/// Whether an exact answer is known to cost less than replications.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The exact method that costs less; none if none is known to.
    pub exact: Option<ExactMethod>,
    /// States that the exact answer needs.
    pub states: Option<usize>,
    /// Explains why no exact answer is known to cost less.
    pub no_exact: Option<String>,
}

/// Returns the kind of a question; else why no exact method answers it.
fn kind(question: &Question, steady: bool) -> Result<Kind, NeedsReplications> {
    if steady {
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
        (_, true) if question.horizon.is_some() => Err(NeedsReplications::Horizon),
        (_, true) => Ok(Kind::Passage),
        (_, false) => Err(NeedsReplications::AveragesToGoal),
    }
}

/// Chooses between an exact answer and replications; `steady`: the question is about the long run.
///
/// # Examples
///
/// ```
/// use tailspn_engine::compile::compile;
/// use tailspn_engine::net::{NetBuilder, Timing};
/// use tailspn_engine::sim::Question;
/// use tailspn_studies::answer::{ExactMethod, choose};
///
/// let mut b = NetBuilder::new("one task");
/// let todo = b.place("todo", 1);
/// let task = b.transition("task", Timing::exponential(0.5));
/// b.input(todo, task, 1.0);
/// let net = b.build().unwrap();
/// let choice = choose(&net, &compile(&net).unwrap(), &Question::default(), false);
/// assert_eq!(choice.exact, Some(ExactMethod::SeriesParallel));
/// ```
pub fn choose(net: &Net, program: &Program, question: &Question, steady: bool) -> Choice {
    let kind = match kind(question, steady) {
        Ok(kind) => kind,
        Err(reason) => return Choice { no_exact: Some(reason.to_string()), ..Choice::default() },
    };
    if kind == Kind::Passage && question.goal == Goal::Dead && is_series_parallel(program).is_ok() {
        return Choice { exact: Some(ExactMethod::SeriesParallel), ..Choice::default() };
    }
    let goal = if let Goal::Marking(goal) = &question.goal { Some(goal) } else { None };
    match few_states(net, goal.filter(|_| kind == Kind::Passage)) {
        Ok(states) => Choice { exact: Some(ExactMethod::States), states: Some(states), no_exact: None },
        Err(reason) => Choice { no_exact: Some(reason), ..Choice::default() },
    }
}

/// Returns the number of states if there are few; else why not.
fn few_states(net: &Net, goal: Option<&Code>) -> Result<usize, String> {
    let net = with_phases(net).map_err(|all| all[0].to_string())?.net;
    let program = compile(&net).map_err(|all| all[0].to_string())?;
    let states = CHEAP.min(WORK / (program.transitions() as u64).max(1));
    let limits = Limits { states, ..Limits::default() };
    let space = explore(&program, goal, &limits, &Unwatched).map_err(|error| error.to_string())?;
    match space.stopped() {
        None => Ok(space.states()),
        Some(_) => Err(format!("the net has more than {} states", grouped(states))),
    }
}

/// Returns the exact answer; `steady`: the question is about the long run.
///
/// # Errors
///
/// [`AnswerError::NeedsReplications`], or what keeps the net from being solved.
pub fn exact(
    net: &Net,
    program: &Program,
    question: &Question,
    steady: bool,
    watch: &dyn Watch,
) -> Result<ExactAnswer, AnswerError> {
    let kind = kind(question, steady)?;
    if kind == Kind::Passage && question.goal == Goal::Dead && is_series_parallel(program).is_ok() {
        let limits = Limits::default();
        if too_many(net, limits, watch)?.is_some() {
            let time = completion_time(program, &GridSettings::default())?;
            let empty = ExactAnswer::empty(ExactMethod::SeriesParallel, None);
            return Ok(ExactAnswer { time: Some(ExactTime::Parts(time)), ..empty });
        }
    }
    states::answer(net, kind, question, watch)
}

/// Returns the exact answer about a net that was prepared for replications, in terms of the net. Parts of several tokens, such as
/// those that phases of delays make, are counted too, if equal parts may be counted.
///
/// # Errors
///
/// As [`exact`].
pub fn exact_of_prepared(
    net: &Net,
    question: &Question,
    prepared: &Prepared,
    steady: bool,
    watch: &dyn Watch,
) -> Result<ExactAnswer, AnswerError> {
    let is_schedule = is_series_parallel(&prepared.program).is_ok();
    let phases = if is_schedule { None } else { with_phases(net).ok() };
    if let Some(phases) = phases {
        let counted = Prepared::for_states(&phases.net, question)?;
        if let Some(folding) = counted.folding().filter(|folding| folding.has_machines()) {
            let found = exact(counted.net(&phases.net), &counted.program, &counted.question, steady, watch)?;
            return Ok(unfolded(found, folding, net));
        }
    }
    let found = exact(prepared.net(net), &prepared.program, &prepared.question, steady, watch)?;
    Ok(match prepared.folding() {
        Some(folding) => unfolded(found, folding, net),
        None => found,
    })
}

/// Averages of a folded net, or of one whose phases are folded, in terms of the net.
fn unfolded(mut found: ExactAnswer, folding: &Folding, net: &Net) -> ExactAnswer {
    let total = |terms: &[(&f64, f64)]| terms.iter().map(|(mean, share)| *mean * share).sum();
    found.tokens = folding.per_place(&found.tokens, total);
    found.throughputs = folding.per_transition(&found.throughputs, total);
    // places and transitions of phases come last
    found.tokens.truncate(net.places().len() * net.classes().len());
    found.throughputs.truncate(net.transitions().len());
    found
}
