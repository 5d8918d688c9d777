//! The solution of a net with fixed delays.

use crate::answer::{AnswerError, request};
use crate::ask::net::names::Subject;
use crate::ask::net::numbers::{TimeSection, WithinSection, steady_section};
use crate::ask::net::passage::{fixed_delay_quantiles, fixed_delay_section};
use crate::ask::net::solved::{Hidden, MethodRow, SolveReport};
use crate::ask::net::solved_net::{SolveSettings, SolvedNet, hidden, report_of};
use crate::ask::net::states::with_measures;
use crate::compile::{Program, compile};
use crate::net::Net;
use crate::sim::{Goal, Question};
use crate::solve::{
    FixedDelayError, FixedDelayPassage, FixedDelayStates, Limits, LinearSettings, TransientSettings, Until,
    expand_phases_except, is_fixed,
};
use crate::watch::{TimeLimit, Watch as _};

/// A question about a net with fixed delays; its Erlang and hyperexponential delays are expanded to phases.
pub(super) struct FixedDelayNet<'a> {
    name: &'a str,
    program: Program,
    hidden: Hidden,
    question: &'a Question,
    settings: &'a SolveSettings,
    watch: &'a TimeLimit<'a>,
}

impl<'a> FixedDelayNet<'a> {
    pub(super) fn new(
        net: &'a Net,
        question: &'a Question,
        settings: &'a SolveSettings,
        watch: &'a TimeLimit<'a>,
    ) -> Result<Self, AnswerError> {
        if let Some(question) = unsupported(question) {
            return Err(FixedDelayError::Unsupported { question }.into());
        }
        let expanded = expand_phases_except(net, is_fixed)?;
        let program = compile(&expanded.net)?;
        Ok(Self { name: net.name(), program, hidden: hidden(&expanded), question, settings, watch })
    }

    pub(super) fn solve(&self) -> Result<SolvedNet, AnswerError> {
        let states = self.explore(Until::default())?;
        let subject = Subject::of(self.name, &states.program);
        let (mut report, verdicts) = report_of(&states.space, &states.program, &subject)?;
        report.method = MethodRow::fixed_delays();
        let ends = verdicts.is_some_and(|verdicts| verdicts.recurrent.len() == states.space.dead().len());
        let mut time = None;
        let missing = self.requested(&mut report, &states, ends, &mut time).err();
        if report.passage.is_none() && report.within.is_none() && report.steady.is_none() && report.at.is_empty() {
            return missing.map_or_else(|| Ok(SolvedNet::complete(report.without(&self.hidden))), Err);
        }
        // nobody requested the quantiles, so they are last
        if let (Some(section), Some(time)) = (&mut report.passage, &mut time) {
            fixed_delay_quantiles(section, time)?;
        }
        if let Some(why) = missing.as_ref().map(ToString::to_string).or_else(|| self.stopped(&report)) {
            (report.partial, report.stopped) = (true, Some(why));
        }
        Ok(SolvedNet { missing, ..SolvedNet::complete(report.without(&self.hidden)) })
    }

    /// Returns the reason why the distribution is incomplete, if the limit of time ended it.
    fn stopped(&self, report: &SolveReport) -> Option<String> {
        report.passage.as_ref()?.no_distribution.clone().filter(|_| self.watch.stopped())
    }

    /// Adds what the question requests; the long run is first, because it takes no walk over time. `ends` is true if every
    /// run ends. Sets `time` to the distribution of the time to the goal, from which quantiles can be computed.
    fn requested(
        &self,
        report: &mut SolveReport,
        states: &FixedDelayStates,
        ends: bool,
        time: &mut Option<FixedDelayPassage<'a>>,
    ) -> Result<(), AnswerError> {
        let has_goal = self.question.goal != Goal::Horizon || (ends && !self.question.steady);
        if self.question.steady || !has_goal && self.question.at.is_empty() {
            self.watch.counts("intervals");
            self.steady(report, states)?;
        }
        if has_goal {
            *time = self.until(report)?;
        }
        if !self.question.at.is_empty() {
            self.watch.counts("intervals");
            self.times(report, states)?;
        }
        Ok(())
    }

    fn explore(&self, until: Until<'_>) -> Result<FixedDelayStates, FixedDelayError> {
        self.watch.counts("states");
        let limits = Limits { wall: self.watch.left(), ..self.settings.run.limits() };
        FixedDelayStates::explore(&self.program, until, &limits, self.watch)
    }

    /// Adds the moments of the time to the goal, or the probability of reaching it by a time. Returns the distribution of the
    /// time, from which quantiles can be computed.
    fn until(&self, report: &mut SolveReport) -> Result<Option<FixedDelayPassage<'a>>, FixedDelayError> {
        let states = self.explore(request::until(self.question))?;
        self.watch.counts("intervals");
        let goal = request::words(self.question);
        let linear = LinearSettings::watched(self.watch);
        let to = match self.question.within() {
            None => {
                let moments = states.moments(&linear)?;
                let mut time = states.passage(self.watch)?;
                let section = fixed_delay_section(&goal, states.space.states(), moments, &mut time, &self.question.at)?;
                report.method.grid_step_s = section.grid_step_s;
                report.passage = Some(section);
                return Ok(Some(time));
            }
            Some([_, to]) => Some(to).filter(|to| to.is_finite()),
        };
        let mut within = WithinSection { goal, from_s: 0.0, to_s: to, probability: 0.0, error: None };
        match to {
            None => within.probability = states.moments(&linear)?.0,
            Some(to) => {
                let mut time = states.passage(self.watch)?;
                within.probability = time.cdf(to)?;
                within.error = Some(time.error());
                report.method.grid_step_s = Some(time.grid().step);
            }
        }
        report.within = Some(within);
        Ok(None)
    }

    fn steady(&self, report: &mut SolveReport, states: &FixedDelayStates) -> Result<(), AnswerError> {
        let (linear, times) = (LinearSettings::watched(self.watch), TransientSettings::watched(self.watch));
        let found = states.steady(&linear, &times)?;
        let averages = states.steady_averages(&found)?;
        let probabilities = &found.steady.probabilities;
        let averages = with_measures(self.question, &states.space, &states.program, probabilities, &averages)?;
        let mut steady = steady_section(&states.space, &states.program, &found.steady, averages);
        steady.error += found.error;
        for row in steady.states.iter_mut().filter(|row| states.is_delayed(row.state)) {
            row.sojourn_s = None;
        }
        report.steady = Some(steady);
        Ok(())
    }

    fn times(&self, report: &mut SolveReport, states: &FixedDelayStates) -> Result<(), AnswerError> {
        let (found, limit) = states.at_until_limit(&self.question.at, self.watch)?;
        report.method.grid_step_s = Some(found.grid.step);
        for (at, &time_s) in found.times.iter().enumerate() {
            let averages = states.averages(&found, at)?;
            let probabilities = &found.probabilities[at];
            let averages = with_measures(self.question, &states.space, &states.program, probabilities, &averages)?;
            report.at.push(TimeSection { time_s, error: found.error, averages });
        }
        limit.map_or(Ok(()), |limit| Err(limit.into()))
    }
}

/// Returns the part of a question that nets with fixed delays do not support.
fn unsupported(question: &Question) -> Option<&'static str> {
    // the ages of the delays at a later start are not known
    let requested = [
        (question.from.is_some(), "a time from one set of markings to another"),
        (!question.rewards.is_empty(), "a reward up to a goal"),
        (question.earliest > 0.0, "a first time above 0"),
    ];
    requested.into_iter().find(|(is, _)| *is).map(|(_, what)| what)
}
