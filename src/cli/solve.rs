//! `solve`: all markings of a net, and the results that follow from them.

use tailspn::answer::{AnswerError, CountedStates, FEW_STATES, ResponseTime, RouteMethod, can_stop};
use tailspn::compile::{Code, Program};
use tailspn::fold::{Folding, Symmetry, fold_markings};
use tailspn::net::Net;
use tailspn::report::{
    AverageSection, FoldedStates, Hidden, MethodRow, SolveReport, Subject, passage_section, steady_section,
    time_section,
};
use tailspn::sim::NotFolded;
use tailspn::solve::{
    Chain, Coverability, ExploreError, LinearSettings, PassageSettings, StateSpace, TransientSettings, Unbounded,
    Verdicts, coverability, has_fixed_delays, passage, steady_state, transient,
};
use tailspn::watch::{TimeLimit, Watch as _};

use crate::cli::args::SolveArgs;
use crate::cli::exact::{answer_failure, failure, find_states, phases, refused, report_of};
use crate::cli::exit::Exit;
use crate::cli::load::{compile_net, read_net};
use crate::cli::notes::{Failure, Note};
use crate::cli::output::{ProgressDisplay, Terminal};
use crate::cli::preparation::Preparation;
use crate::cli::properties;
use crate::cli::solve_method::{LIMITS, MOST_COVERED, Method, limits, method};
use crate::cli::solve_question::SolveQuestion;
use crate::cli::watch::{Progress, catch_interrupt, interrupted};
use crate::cli::{solve_files, solve_fixed, solve_untimed};

/// Solves the net.
pub(crate) fn run(args: &SolveArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if args.goal.is_some() {
        terminal.tell("warning: `--goal` is now `--until`; the old name will be removed in the next release");
    }
    let quiet = Progress::new(ProgressDisplay::Nothing, "");
    let watch = TimeLimit::new(&quiet, args.max_time);
    let preparation = Preparation::begin(args.max_time, terminal);
    let loaded = read_net(&args.net)?;
    terminal.brief_warnings(&loaded.warnings);
    if args.untimed {
        preparation.end();
        return solve_untimed::run(&loaded.net, args, terminal, &watch);
    }
    if !args.property.is_empty() {
        preparation.end();
        return properties::run(&loaded, args, terminal, &watch);
    }
    // every node in the question must exist, regardless of the method
    SolveQuestion::parse(&loaded.net, args, loaded.net.transitions().len())?;
    let program = compile_net(&loaded.net)?;
    solve_files::may_write_all(args)?;
    catch_interrupt(terminal);
    preparation.end();
    let by_parts = args.method.0 == RouteMethod::SeriesParallel;
    if has_fixed_delays(&program) && !by_parts && solve_fixed::answers(&program, args) {
        return solve_fixed::run(&loaded.net, args, terminal, &watch);
    }
    match method(&loaded.net, &program, args, terminal, &watch)? {
        Method::Parts(section, method) => {
            let report = SolveReport::of_time(&Subject::of(loaded.net.name(), &program), *section, method);
            terminal.report(&report, &args.print)?;
            solve_files::plot(report, args, terminal)?;
            Ok(if interrupted() { Exit::Interrupted } else { Exit::Success })
        }
        Method::States(method) => by_states(&loaded.net, method, args, terminal, &watch),
    }
}

/// Solves the net from all its states.
fn by_states(
    net: &Net,
    method: MethodRow,
    args: &SolveArgs,
    terminal: &Terminal,
    watch: &TimeLimit<'_>,
) -> Result<Exit, Failure> {
    let transitions = net.transitions().len();
    let (net, hidden) = phases(net)?;
    let asked = SolveQuestion::parse(&net, args, transitions)?;
    let folding = may_fold(args).then(|| fold_markings(&net, &asked.keep(&net)));
    let mut not_folded = folding.as_ref().map(NotFolded::all).unwrap_or_default();
    let counted = match folding {
        Some(folding) => counted(folding, &net, &asked, args, terminal, watch)?,
        None => None,
    };
    if let Some((counted, _)) = &counted {
        not_folded.retain(|parts| !counted.exchanges(&parts.example));
    }
    if let Some((counted, folded)) = counted.as_ref().filter(|(_, all)| all.stand_for > FEW_STATES as f64) {
        let CountedStates { folding, symmetry, program, space } = counted;
        let asked = SolveQuestion { symmetry: symmetry.clone(), ..asked.folded(folding, &net) };
        let subject = Subject::of(net.name(), program);
        let (mut report, numbers) = solved(space, program, &subject, &asked, args, terminal, watch)?;
        report.method = method;
        report.not_folded = not_folded;
        let report = report.unfolded(folding, folded.clone(), &net, space).without(&hidden);
        return print(report, numbers, space, None, args, terminal);
    }
    let program = compile_net(&net)?;
    let subject = Subject::of(net.name(), &program);
    let apart = Symmetry::default();
    let space = match find_states(&program, None, &apart, &limits(args, watch), terminal) {
        Ok(space) => space,
        Err(ExploreError::Unbounded(unbounded)) => {
            let found = Infinite { unbounded, graph: coverability(&program, MOST_COVERED).ok() };
            return found.print(&program, &subject, &hidden, args, terminal);
        }
        Err(error) => return Err(failure(&error)),
    };
    let (mut report, numbers) = solved(&space, &program, &subject, &asked, args, terminal, watch)?;
    report.method = method;
    report.not_folded = not_folded;
    report.folded = counted.filter(|(counted, _)| counted.space.stopped().is_none()).map(|(_, folded)| folded);
    print(report.without(&hidden), numbers, &space, Some((&program, net.name())), args, terminal)
}

/// Returns true if the arguments allow folding. Exported files show all markings of the unfolded net, and impulses
/// distinguish transitions, so neither allows folding.
fn may_fold(args: &SolveArgs) -> bool {
    let files = [&args.export_dot, &args.export_svg, &args.export_mtx, &args.export_prism];
    !args.no_fold && args.impulse.is_empty() && files.into_iter().all(Option::is_none)
}

/// Explores a folded net and counts the states that it stands for; returns `None` if it cannot replace the net.
fn counted(
    folding: Folding,
    net: &Net,
    asked: &SolveQuestion,
    args: &SolveArgs,
    terminal: &Terminal,
    watch: &TimeLimit<'_>,
) -> Result<Option<(CountedStates, FoldedStates)>, Failure> {
    let folded = asked.folded(&folding, net);
    let progress = Progress::new(terminal.shows_progress(), "states");
    let keep = folded.keep(folding.net());
    let found = CountedStates::explore(net, folding, &keep, folded.from.as_ref(), &limits(args, watch), &progress)
        .map_err(answer_failure)?;
    Ok(found.map(|found| {
        let folded = FoldedStates::new(&found.folding, &found.symmetry, &found.space);
        (found, folded)
    }))
}

/// Returns results from the state space, and an error if some numbers could not be computed.
fn solved(
    space: &StateSpace,
    program: &Program,
    subject: &Subject<'_>,
    asked: &SolveQuestion,
    args: &SolveArgs,
    terminal: &Terminal,
    watch: &TimeLimit<'_>,
) -> Result<(SolveReport, Result<(), Failure>), Failure> {
    let (mut report, verdicts) = report_of(space, program, subject)?;
    let numbers = match (&verdicts, space.complete()) {
        (Some(verdicts), Ok(chain)) => {
            let question = Numbers { space, chain, program, asked, args, terminal, watch };
            let filled = question.fill(&mut report, verdicts);
            if let Some(why) = filled.as_ref().err().filter(|_| watch.stopped()) {
                (report.partial, report.stopped) = (true, Some(why.message().to_owned()));
            }
            filled
        }
        _ => Ok(()),
    };
    Ok((report, numbers))
}

/// Prints the results, even if a number could not be computed; `files` is the net for exported files.
fn print(
    report: SolveReport,
    numbers: Result<(), Failure>,
    space: &StateSpace,
    files: Option<(&Program, &str)>,
    args: &SolveArgs,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    terminal.report(&report, &args.print)?;
    if let (Err(_), true) = (&numbers, interrupted()) {
        return Ok(Exit::Interrupted);
    }
    numbers?;
    match space.stopped() {
        Some(_) if interrupted() => Ok(Exit::Interrupted),
        Some(incomplete) => Err(Failure::helped(Exit::Refused, incomplete.to_string(), LIMITS)),
        None => {
            if let Some((program, name)) = files {
                solve_files::write_all(space, program, name, args)?;
            }
            solve_files::plot(report, args, terminal)?;
            Ok(Exit::Success)
        }
    }
}

/// A net with infinitely many markings.
struct Infinite {
    unbounded: Unbounded,
    graph: Option<Coverability>,
}

impl Infinite {
    /// Prints the proof, writes the graph if requested, and refuses other requests.
    fn print(
        &self,
        program: &Program,
        subject: &Subject<'_>,
        hidden: &Hidden,
        args: &SolveArgs,
        terminal: &Terminal,
    ) -> Result<Exit, Failure> {
        let report = SolveReport::of_unbounded(program, subject, &self.unbounded, self.graph.as_ref()).without(hidden);
        terminal.report(&report, &args.print)?;
        if let Some(graph) = &self.graph {
            solve_files::write_coverability(graph, program, subject.net, args, terminal)?;
        }
        let note = Note::problem(self.unbounded.to_string());
        Err(Failure::new(Exit::Refused, if args.steady { note.with_help(NO_LONG_RUN) } else { note }))
    }
}

/// Advice for the steady state of an unbounded net.
const NO_LONG_RUN: &str = "an unbounded net can still have a steady state, depending on the rates; `tailspn simulate --steady --tokens` shows whether the token counts converge";

/// The numbers of a complete chain.
pub(super) struct Numbers<'a> {
    pub(super) space: &'a StateSpace,
    chain: &'a Chain,
    pub(super) program: &'a Program,
    pub(super) asked: &'a SolveQuestion,
    pub(super) args: &'a SolveArgs,
    pub(super) terminal: &'a Terminal,
    pub(super) watch: &'a TimeLimit<'a>,
}

impl Numbers<'_> {
    /// Computes the time to the goal, if there is one or every run ends in a dead marking; otherwise the long run. Computes
    /// both if both are requested.
    fn fill(&self, report: &mut SolveReport, verdicts: &Verdicts) -> Result<(), Failure> {
        let dead_end = verdicts.recurrent.len() == self.space.dead().len();
        let wants_dead = self.args.until() == Some("dead");
        if let Some(from) = &self.asked.from {
            self.response(report, from)?;
        } else if self.asked.goal.is_some() || self.asked.is_until(self.args) {
            self.until(report)?;
        } else if wants_dead || (dead_end && !self.args.steady) {
            self.dead(report)?;
        }
        if self.args.steady && !self.space.dead().is_empty() {
            return Err(answer_failure(can_stop(self.space, self.program)));
        }
        if self.args.steady || (report.passage.is_none() && report.within.is_none() && self.args.at.is_empty()) {
            self.steady(report)?;
        }
        self.times(report)
    }

    /// Computes the time from one set of markings to another in the long run.
    fn response(&self, report: &mut SolveReport, from: &Code) -> Result<(), Failure> {
        let [from_text, goal_text] = [self.args.from.as_deref(), self.args.until()].map(Option::unwrap_or_default);
        let settings = LinearSettings::watched(self.watch);
        let time = ResponseTime::new(self.space, self.program, from, self.asked.goal.as_ref(), &settings);
        let ResponseTime { chain, targets } = time.map_err(|error| match error {
            AnswerError::NeverEntered => never_entered(from_text),
            error => answer_failure(error),
        })?;
        let goal = format!("{goal_text} from {from_text}");
        self.passage(report, &chain, &targets, &goal)
    }

    fn dead(&self, report: &mut SolveReport) -> Result<(), Failure> {
        self.passage(report, self.chain, &self.space.marked(self.space.dead()), "the dead marking")
    }

    pub(super) fn passage(
        &self,
        report: &mut SolveReport,
        chain: &Chain,
        targets: &[bool],
        goal: &str,
    ) -> Result<(), Failure> {
        let section = passage(chain, targets, &PassageSettings::watched(self.watch))
            .and_then(|mut passage| passage_section(goal, chain.states(), &mut passage, &self.args.at));
        report.passage = Some(section.map_err(|error| refused(&error))?);
        Ok(())
    }

    fn steady(&self, report: &mut SolveReport) -> Result<(), Failure> {
        let steady = steady_state(self.chain, &LinearSettings::watched(self.watch)).map_err(|error| refused(&error))?;
        let averages = self.averages(&steady.probabilities)?;
        report.steady = Some(steady_section(self.space, self.program, &steady, averages));
        Ok(())
    }

    fn times(&self, report: &mut SolveReport) -> Result<(), Failure> {
        if self.args.at.is_empty() {
            return Ok(());
        }
        let found = transient(self.chain, &self.args.at, &TransientSettings::watched(self.watch))
            .map_err(|error| refused(&error))?;
        for (at, probabilities) in found.probabilities.iter().enumerate() {
            let averages = self.averages(probabilities)?;
            report.at.push(time_section(&found, at, averages));
        }
        Ok(())
    }

    fn averages(&self, probabilities: &[f64]) -> Result<AverageSection, Failure> {
        let averages = self.space.averages(self.program, probabilities).map_err(|error| failure(&error))?;
        self.asked.averages(self.space, self.program, probabilities, &averages)
    }
}

fn never_entered(from: &str) -> Failure {
    let message = format!("in the long run, the net never enters a marking where `{from}` holds");
    let help = "without --from, the time is measured from the start";
    Failure::helped(Exit::Refused, message, help)
}
