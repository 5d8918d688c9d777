//! `solve` for nets with fixed delays.

use tailspn::compile::{Program, plan_schedule};
use tailspn::net::Net;
use tailspn::report::{
    Hidden, MethodRow, SolveReport, Subject, TimeSection, WithinSection, fixed_delay_section, steady_section,
};
use tailspn::solve::{
    Expanded, FixedDelayError, FixedDelayStates, LinearSettings, TransientSettings, Until, expand_phases_except,
    is_fixed,
};
use tailspn::watch::{TimeLimit, Watch};

use crate::cli::args::SolveArgs;
use crate::cli::exact::{answer_failure, failure, hidden, refused, report_of};
use crate::cli::exit::Exit;
use crate::cli::load::compile_net;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::solve_files;
use crate::cli::solve_method::{LIMITS, limits, other_question};
use crate::cli::solve_question::SolveQuestion;
use crate::cli::watch::{Progress, interrupted};

/// Returns true if this module answers the question about a net with fixed delays. Another method gives the completion time
/// of a schedule. Exported files show a Markov chain, which nets with fixed delays do not have.
pub(super) fn answers(program: &Program, args: &SolveArgs) -> bool {
    let files = [&args.export_dot, &args.export_svg, &args.export_mtx, &args.export_prism];
    let is_other = other_question(args).is_some() || plan_schedule(program).is_err();
    is_other && !files.into_iter().any(Option::is_some)
}

/// Solves the net and prints the answer.
pub(super) fn run(net: &Net, args: &SolveArgs, terminal: &Terminal, watch: &TimeLimit<'_>) -> Result<Exit, Failure> {
    if let Some(reason) = unsupported(args) {
        let message = format!("for nets with deterministic or empirical delays, {reason}");
        return Err(Failure::helped(Exit::Refused, message, "use `tailspn simulate`"));
    }
    let expanded = fixed_phases(net)?;
    let hidden = hidden(&expanded);
    let net = expanded.net;
    let asked = SolveQuestion::parse(&net, args, net.transitions().len())?;
    let program = compile_net(&net)?;
    let progress = Progress::new(terminal.shows_progress(), "intervals");
    let time = TimeLimit::new(&progress, watch.left());
    let question = Question { net: &net, program: &program, asked: &asked, args, terminal, watch: &time };
    question.answer(&hidden)
}

/// Returns the net with delays expanded to phases, except for deterministic and empirical delays.
pub(super) fn fixed_phases(net: &Net) -> Result<Expanded, Failure> {
    expand_phases_except(net, is_fixed).map_err(|obstacles| answer_failure(obstacles.into()))
}

/// Returns the failure for a net with fixed delays that has no exact answer.
pub(super) fn fixed_delay_failure(error: &FixedDelayError, watch: &dyn Watch) -> Failure {
    match error {
        FixedDelayError::Explore(error) => failure(error),
        FixedDelayError::Incomplete(_) if !watch.stopped() => Failure::helped(Exit::Refused, error.to_string(), LIMITS),
        _ => refused(error),
    }
}

/// Returns the reason why this module does not answer the question.
fn unsupported(args: &SolveArgs) -> Option<&'static str> {
    if args.from.is_some() {
        return Some("--from is not supported: the ages of the delays in the start states are not known");
    }
    if !args.reward.is_empty() || !args.impulse.is_empty() {
        return Some("rewards up to a goal are not supported");
    }
    let late = args.before.within.is_some_and(|[from, _]| from > 0.0);
    late.then_some("a first time above 0 is not supported: the ages of the delays at this time are not known")
}

/// A question about a net with fixed delays; its Erlang and hyperexponential delays are expanded to phases.
struct Question<'a> {
    net: &'a Net,
    program: &'a Program,
    asked: &'a SolveQuestion,
    args: &'a SolveArgs,
    terminal: &'a Terminal,
    watch: &'a TimeLimit<'a>,
}

impl Question<'_> {
    fn answer(&self, hidden: &Hidden) -> Result<Exit, Failure> {
        let states = self.explore(Until::default())?;
        let subject = Subject::of(self.net.name(), &states.program);
        let (mut report, verdicts) = report_of(&states.space, &states.program, &subject)?;
        report.method = MethodRow::fixed_delays();
        let ends = verdicts.is_some_and(|verdicts| verdicts.recurrent.len() == states.space.dead().len());
        if self.args.until().is_some() || (ends && !self.args.steady) {
            self.until(&mut report)?;
        }
        let has_time = report.passage.is_some() || report.within.is_some() || !self.args.at.is_empty();
        if self.args.steady || !has_time {
            self.steady(&mut report, &states)?;
        }
        if !self.args.at.is_empty() {
            self.times(&mut report, &states)?;
        }
        let report = report.without(hidden);
        self.terminal.report(&report, &self.args.print)?;
        solve_files::plot(report, self.args, self.terminal)?;
        Ok(if interrupted() { Exit::Interrupted } else { Exit::Success })
    }

    fn explore(&self, until: Until<'_>) -> Result<FixedDelayStates, Failure> {
        let progress = Progress::new(self.terminal.shows_progress(), "states");
        let watch = TimeLimit::new(&progress, self.watch.left());
        let found = FixedDelayStates::explore(self.program, until, &limits(self.args, self.watch), &watch);
        found.map_err(|error| self.failure(&error))
    }

    fn failure(&self, error: &FixedDelayError) -> Failure {
        fixed_delay_failure(error, self.watch)
    }

    /// Adds the time to the goal, or the probability of reaching it by a time.
    fn until(&self, report: &mut SolveReport) -> Result<(), Failure> {
        let states = self.explore(self.asked.until())?;
        let goal = match self.args.until() {
            Some("dead") | None => "the dead marking",
            Some(goal) => goal,
        };
        let goal = self.args.before.words(goal);
        let linear = LinearSettings::watched(self.watch);
        let refuse = |error| self.failure(&error);
        let to = match self.args.before.within {
            None => {
                let moments = states.moments(&linear).map_err(refuse)?;
                let mut time = states.passage(self.watch).map_err(refuse)?;
                let section = fixed_delay_section(&goal, states.space.states(), moments, &mut time, &self.args.at)
                    .map_err(refuse)?;
                report.method.grid_step_s = section.grid_step_s;
                report.passage = Some(section);
                return Ok(());
            }
            Some([_, to]) => Some(to).filter(|to| to.is_finite()),
        };
        let mut within = WithinSection { goal, from_s: 0.0, to_s: to, probability: 0.0, error: None };
        match to {
            None => within.probability = states.moments(&linear).map_err(refuse)?.0,
            Some(to) => {
                let mut time = states.passage(self.watch).map_err(refuse)?;
                within.probability = time.cdf(to).map_err(refuse)?;
                within.error = Some(time.error());
                report.method.grid_step_s = Some(time.grid().step);
            }
        }
        report.within = Some(within);
        Ok(())
    }

    fn steady(&self, report: &mut SolveReport, states: &FixedDelayStates) -> Result<(), Failure> {
        let (linear, times) = (LinearSettings::watched(self.watch), TransientSettings::watched(self.watch));
        let found = states.steady(&linear, &times).map_err(|error| self.failure(&error))?;
        let averages = states.steady_averages(&found).map_err(|error| failure(&error))?;
        let averages = self.asked.averages(&states.space, &states.program, &found.steady.probabilities, &averages)?;
        let mut steady = steady_section(&states.space, &states.program, &found.steady, averages);
        steady.error += found.error;
        for row in steady.states.iter_mut().filter(|row| states.is_delayed(row.state)) {
            row.sojourn_s = None;
        }
        report.steady = Some(steady);
        Ok(())
    }

    fn times(&self, report: &mut SolveReport, states: &FixedDelayStates) -> Result<(), Failure> {
        let found = states.at(&self.args.at, self.watch).map_err(|error| self.failure(&error))?;
        report.method.grid_step_s = Some(found.grid.step);
        for (at, &time_s) in found.times.iter().enumerate() {
            let averages = states.averages(&found, at).map_err(|error| failure(&error))?;
            let averages = self.asked.averages(&states.space, &states.program, &found.probabilities[at], &averages)?;
            report.at.push(TimeSection { time_s, error: found.error, averages });
        }
        Ok(())
    }
}
