//! The solution of a net from all its states.

use crate::answer::{AnswerError, CountedStates, ResponseTime, UNFOLDED_STATES, request};
use crate::ask::net::names::Subject;
use crate::ask::net::numbers::{
    AverageSection, NumberRow, RewardRow, WithinSection, average_section, steady_section, time_section,
};
use crate::ask::net::passage::passage_section;
use crate::ask::net::solved::{FoldedStates, MethodRow, SolveReport};
use crate::ask::net::solved_net::{SolveSettings, SolvedNet, phases, report_of};
use crate::compile::{Program, compile};
use crate::fold::{Folding, Symmetry, fold_markings};
use crate::net::Net;
use crate::semantics::Fault;
use crate::sim::{Condition, Goal, NotFolded, Question};
use crate::solve::{
    Averages, Chain, ExploreError, Limits, LinearSettings, PassageSettings, StateSpace, TransientSettings, UntilStates,
    Verdicts, expected, explore_canonical, passage, steady_state, transient,
};
use crate::watch::{Quiet, TimeLimit, Watch as _};

/// A question about a net that is answered from states.
#[derive(Clone, Copy)]
pub(super) struct Solving<'a> {
    pub(super) question: &'a Question,
    pub(super) settings: &'a SolveSettings,
    pub(super) watch: &'a TimeLimit<'a>,
}

impl Solving<'_> {
    /// Solves a net, which is compiled to `program`.
    pub(super) fn solve(self, net: &Net, program: Program, method: MethodRow) -> Result<SolvedNet, AnswerError> {
        let (net, hidden) = phases(net)?;
        // impulses distinguish transitions
        let impulses = self.question.rewards.iter().any(|reward| !reward.impulses.is_empty());
        let may_fold = self.settings.fold && !self.settings.chain && !impulses;
        let folding = may_fold.then(|| fold_markings(&net, &self.question.keep(&net)));
        let mut not_folded = folding.as_ref().map(NotFolded::all).unwrap_or_default();
        let counted = folding.map_or(Ok(None), |folding| self.counted(folding, &net))?;
        if let Some((counted, ..)) = &counted {
            not_folded.retain(|parts| !counted.exchanges(&parts.example));
        }
        if let Some((counted, folded, question)) =
            counted.as_ref().filter(|(_, all, _)| all.stand_for > UNFOLDED_STATES as f64)
        {
            let CountedStates { folding, symmetry, program, space } = counted;
            let subject = Subject::of(net.name(), program);
            let (mut report, missing) = Solving { question, ..self }.states(space, program, symmetry, &subject)?;
            (report.method, report.not_folded) = (method, not_folded);
            let report = report.unfolded(folding, folded.clone(), &net, space).without(&hidden);
            return Ok(SolvedNet { missing, ..SolvedNet::complete(report) });
        }
        let program = if hidden.transitions.is_empty() { program } else { compile(&net)? };
        let apart = Symmetry::default();
        self.watch.counts("states");
        let space = match explore_canonical(&program, None, &apart, &self.limits(), self.watch) {
            Ok(space) => space,
            Err(ExploreError::Unbounded(unbounded)) => {
                return Ok(SolvedNet::unbounded(&net, program, unbounded, &hidden));
            }
            Err(error) => return Err(error.into()),
        };
        let subject = Subject::of(net.name(), &program);
        let (mut report, missing) = self.states(&space, &program, &apart, &subject)?;
        (report.method, report.not_folded) = (method, not_folded);
        report.folded = counted.filter(|(counted, ..)| counted.space.stopped().is_none()).map(|(_, folded, _)| folded);
        let report = report.without(&hidden);
        Ok(SolvedNet { missing, states: Some((space, program)), ..SolvedNet::complete(report) })
    }

    /// Returns the limits of the states, with the remaining time.
    fn limits(&self) -> Limits {
        Limits { wall: self.watch.left(), ..self.settings.run.limits() }
    }

    /// Explores a folded net and counts the states that it stands for, with the question about it; returns `None` if it cannot replace the net.
    fn counted(
        &self,
        folding: Folding,
        net: &Net,
    ) -> Result<Option<(CountedStates, FoldedStates, Question)>, AnswerError> {
        let Some(question) = self.question.folded(net, &folding) else { return Ok(None) };
        let keep = question.keep(folding.net());
        let from = question.from.as_ref().map(|from| &from.code);
        self.watch.counts("states");
        let found = CountedStates::explore(net, folding, &keep, from, &self.limits(), self.watch)?;
        Ok(found.map(|found| {
            let folded = FoldedStates::new(&found.folding, &found.symmetry, &found.space);
            (found, folded, question)
        }))
    }

    /// Returns all results from the states, and the reason why some are missing.
    fn states(
        &self,
        space: &StateSpace,
        program: &Program,
        symmetry: &Symmetry,
        subject: &Subject<'_>,
    ) -> Result<(SolveReport, Option<AnswerError>), AnswerError> {
        let (mut report, verdicts) = report_of(space, program, subject)?;
        let missing = match (&verdicts, space.complete()) {
            (Some(verdicts), Ok(chain)) => {
                let quiet = Quiet(self.watch);
                let watch = TimeLimit::new(&quiet, self.watch.left());
                let numbers = Numbers { space, chain, program, symmetry, solving: *self, watch: &watch };
                let missing = numbers.fill(&mut report, verdicts).err();
                if let Some(why) = missing.as_ref().filter(|_| watch.stopped()) {
                    (report.partial, report.stopped) = (true, Some(why.to_string()));
                }
                missing
            }
            _ => space.stopped().cloned().map(AnswerError::Incomplete),
        };
        Ok((report, missing))
    }
}

/// The numbers of a complete chain.
struct Numbers<'a> {
    space: &'a StateSpace,
    chain: &'a Chain,
    program: &'a Program,
    /// Parts of the net that the question does not distinguish and that can be exchanged. Markings that differ only by
    /// exchanges are explored once.
    symmetry: &'a Symmetry,
    solving: Solving<'a>,
    watch: &'a TimeLimit<'a>,
}

impl Numbers<'_> {
    /// Computes the time to the goal, if there is one or every run ends in a dead marking; otherwise the long run. Computes
    /// both if both are requested.
    fn fill(&self, report: &mut SolveReport, verdicts: &Verdicts) -> Result<(), AnswerError> {
        let question = self.solving.question;
        let dead_end = verdicts.recurrent.len() == self.space.dead().len();
        let is_until = question.goal.code().is_some() || request::is_until(question);
        let is_dead = question.goal == Goal::Dead || (dead_end && !question.steady);
        let has_time = question.from.is_some() || is_until || is_dead;
        if question.steady || (!has_time && question.at.is_empty()) {
            self.steady(report)?;
        }
        // a walk to the last quantile of a time may take long, so it is last
        self.times(report)?;
        if let Some(from) = &question.from {
            self.response(report, from)
        } else if is_until {
            self.until(report)
        } else if is_dead {
            self.passage(report, self.chain, &self.space.marked(self.space.dead()))
        } else {
            Ok(())
        }
    }

    /// Computes the time from one set of markings to another in the long run.
    fn response(&self, report: &mut SolveReport, from: &Condition) -> Result<(), AnswerError> {
        let goal = self.solving.question.goal.code();
        let settings = LinearSettings::watched(self.watch);
        let ResponseTime { chain, targets } = ResponseTime::new(self.space, self.program, &from.code, goal, &settings)?;
        self.passage(report, &chain, &targets)
    }

    fn passage(&self, report: &mut SolveReport, chain: &Chain, targets: &[bool]) -> Result<(), AnswerError> {
        let question = self.solving.question;
        let mut passage = passage(chain, targets, &PassageSettings::watched(self.watch))?;
        report.passage = Some(passage_section(&request::words(question), chain.states(), &mut passage, &question.at)?);
        Ok(())
    }

    /// Computes the distribution of the time to the goal, or the probability of reaching it between two times, and the
    /// rewards of a run.
    fn until(&self, report: &mut SolveReport) -> Result<(), AnswerError> {
        let question = self.solving.question;
        let (until, limits) = (request::until(question), self.solving.limits());
        let watch = self.solving.watch;
        watch.counts("states");
        if let Some([from, to]) = question.within() {
            let exploration = (self.symmetry, &limits);
            let probability = until.probability(self.program, self.space, [from, to], exploration, watch)?;
            let to_s = Some(to).filter(|to| to.is_finite());
            let goal = request::words(question);
            report.within = Some(WithinSection { goal, from_s: from, to_s, probability, error: None });
            if question.rewards.is_empty() {
                return Ok(());
            }
        }
        let states = until.explore(self.program, self.symmetry, &limits, watch)?;
        if report.within.is_none() {
            self.passage(report, states.space.complete()?, &states.targets)?;
        }
        self.rewards(report, &states)
    }

    fn rewards(&self, report: &mut SolveReport, states: &UntilStates) -> Result<(), AnswerError> {
        let question = self.solving.question;
        let to = question.within().map_or(f64::INFINITY, |[_, to]| to);
        for reward in &question.rewards {
            let value = states.gathered(reward.rate.as_ref(), &reward.impulses, to, self.watch)?;
            report.rewards.push(RewardRow { name: reward.name.clone(), value: Some(value).filter(|v| v.is_finite()) });
        }
        Ok(())
    }

    fn steady(&self, report: &mut SolveReport) -> Result<(), AnswerError> {
        let steady = steady_state(self.chain, &LinearSettings::watched(self.watch))?;
        let averages = self.averages(&steady.probabilities)?;
        report.steady = Some(steady_section(self.space, self.program, &steady, averages));
        Ok(())
    }

    fn times(&self, report: &mut SolveReport) -> Result<(), AnswerError> {
        let times = &self.solving.question.at;
        if times.is_empty() {
            return Ok(());
        }
        let bytes = self.solving.limits().bytes;
        let settings = TransientSettings { bytes, ..TransientSettings::watched(self.watch) };
        let found = transient(self.chain, times, &settings)?;
        for (at, probabilities) in found.probabilities.iter().enumerate() {
            let averages = self.averages(probabilities)?;
            report.at.push(time_section(&found, at, averages));
        }
        Ok(())
    }

    fn averages(&self, probabilities: &[f64]) -> Result<AverageSection, AnswerError> {
        let averages = self.space.averages(self.program, probabilities)?;
        Ok(with_measures(self.solving.question, self.space, self.program, probabilities, &averages)?)
    }
}

/// Returns the averages over the states, and the requested measures.
pub(super) fn with_measures(
    question: &Question,
    space: &StateSpace,
    program: &Program,
    probabilities: &[f64],
    averages: &Averages,
) -> Result<AverageSection, Fault> {
    let measure = |(name, code): &(String, _)| {
        let value = expected(probabilities, &space.values(code, &format!("measure `{name}`"))?);
        Ok(NumberRow { name: name.clone(), unit: "".into(), value })
    };
    let measures = question.measures.iter().map(measure).collect::<Result<_, Fault>>()?;
    Ok(average_section(program, averages, measures))
}
