//! `solve`: all markings of a net, and what follows from them.

use tailspn::compile::{Code, Program};
use tailspn::net::{Delay, Net, Timing};
use tailspn::report::{
    Hidden, NumberRow, SolveReport, Subject, average_section, counted, json, passage_section, solve_csv, solve_report,
    solve_text, steady_section, time_section,
};
use tailspn::solve::{
    Chain, ExploreError, Limits, LinearSettings, PassageSettings, StateSpace, TransientSettings, Verdicts,
    coverability, expand_phases, explore, passage, steady_state, transient,
};

use crate::cli::args::SolveArgs;
use crate::cli::exit::Exit;
use crate::cli::load::{compile_net, read_net};
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::question::expression;
use crate::cli::solve_files;
use crate::cli::watch::{Progress, catch_interrupt, interrupted};

/// Most markings of a coverability graph.
const COVERABILITY: usize = 20_000;

/// Solves the net.
pub(crate) fn run(args: &SolveArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let loaded = read_net(&args.net)?;
    terminal.brief_warnings(&loaded.warnings);
    let (net, hidden) = with_phases(loaded.net)?;
    let asked = Asked::parse(&net, args)?;
    let program = compile_net(&net)?;
    let subject = Subject {
        net: net.name(),
        places: &program.place_names,
        classes: &program.class_names,
        transitions: &program.transition_names,
        ..Subject::default()
    };
    solve_files::may_write_all(args)?;
    catch_interrupt(terminal);
    let space = match find_states(&program, None, args, terminal) {
        Ok(space) => space,
        Err(ExploreError::Unbounded(unbounded)) => {
            let graph = coverability(&program, COVERABILITY).ok();
            let report = SolveReport::of_unbounded(&program, &subject, &unbounded, graph.as_ref()).without(&hidden);
            terminal.data(&text_of(&report, args, terminal)?)?;
            return Err(Failure::plain(Exit::Refused, unbounded.to_string()));
        }
        Err(error) => return Err(failure(&error)),
    };
    let verdicts = space.verdicts(&program).map_err(|error| failure(&error))?;
    let mut report = solve_report(&space, verdicts.as_ref(), &program, &subject).map_err(|error| failure(&error))?;
    let numbers = match (&verdicts, space.complete()) {
        (Some(verdicts), Ok(chain)) => {
            let question = Numbers { space: &space, chain, program: &program, asked: &asked, args, terminal };
            question.fill(&mut report, verdicts)
        }
        _ => Ok(()),
    };
    let report = report.without(&hidden);
    // what was found is shown even where a number could not be
    terminal.data(&text_of(&report, args, terminal)?)?;
    numbers?;
    match space.stopped() {
        Some(_) if interrupted() => Ok(Exit::Interrupted),
        Some(incomplete) => {
            let help = "--max-states, --max-memory and --max-time set the limits; `tailspn simulate` needs no states";
            Err(Failure::new(Exit::Refused, Note::problem(incomplete.to_string()).with_help(help)))
        }
        None => {
            solve_files::write_all(&space, &program, args)?;
            Ok(Exit::Success)
        }
    }
}

/// The net with its Erlang and hyperexponential delays as phases, and what that adds.
fn with_phases(net: Net) -> Result<(Net, Hidden), Failure> {
    let is_general = |timing: &Timing| matches!(timing, Timing::Timed { delay: Delay::General(_), .. });
    if !net.transitions().iter().any(|transition| is_general(&transition.timing)) {
        return Ok((net, Hidden::default()));
    }
    let expanded = expand_phases(&net).map_err(|obstacles| Failure {
        exit: Exit::Refused,
        notes: obstacles.iter().map(|obstacle| Note::problem(obstacle.to_string())).collect(),
    })?;
    let places = expanded.hidden_places.iter().map(|&id| expanded.net.place(id).id.clone()).collect();
    let transitions = expanded.hidden_transitions.iter().map(|&id| expanded.net.transition(id).id.clone()).collect();
    Ok((expanded.net, Hidden { places, transitions }))
}

/// What was asked, as expressions of the net.
struct Asked {
    goal: Option<Code>,
    measures: Vec<(String, Code)>,
}

impl Asked {
    fn parse(net: &Net, args: &SolveArgs) -> Result<Self, Failure> {
        let goal = args.goal.as_deref().filter(|goal| *goal != "dead");
        let measures = args.measure.iter().map(|(name, text)| Ok((name.clone(), expression(net, "--measure", text)?)));
        Ok(Self {
            goal: goal.map(|text| expression(net, "--goal", text)).transpose()?,
            measures: measures.collect::<Result<_, Failure>>()?,
        })
    }
}

fn find_states(
    program: &Program,
    goal: Option<&Code>,
    args: &SolveArgs,
    terminal: &Terminal,
) -> Result<StateSpace, ExploreError> {
    let default = Limits::default();
    let limits = Limits {
        states: args.max_states.unwrap_or(default.states),
        bytes: args.max_memory.unwrap_or(default.bytes),
        wall: args.max_time,
    };
    let progress = Progress::new(terminal.shows_progress(), "states");
    explore(program, goal, &limits, &progress)
}

/// The numbers of a complete chain.
struct Numbers<'a> {
    space: &'a StateSpace,
    chain: &'a Chain,
    program: &'a Program,
    asked: &'a Asked,
    args: &'a SolveArgs,
    terminal: &'a Terminal,
}

impl Numbers<'_> {
    /// The time to the goal where one is given or every run ends in a dead marking; else the long run. Both on request.
    fn fill(&self, report: &mut SolveReport, verdicts: &Verdicts) -> Result<(), Failure> {
        let dead_end = verdicts.recurrent.len() == self.space.dead().len();
        let wants_dead = self.args.goal.as_deref() == Some("dead");
        if let Some(goal) = &self.asked.goal {
            self.goal(report, goal)?;
        } else if wants_dead || (dead_end && !self.args.steady) {
            self.dead(report)?;
        }
        if self.args.steady && !self.space.dead().is_empty() {
            return Err(dead_run(self.space.dead().len()));
        }
        if self.args.steady || (report.passage.is_none() && self.args.at.is_empty()) {
            self.steady(report)?;
        }
        self.times(report)
    }

    fn goal(&self, report: &mut SolveReport, goal: &Code) -> Result<(), Failure> {
        let space = find_states(self.program, Some(goal), self.args, self.terminal).map_err(|error| failure(&error))?;
        let chain = space.complete().map_err(|error| Failure::plain(Exit::Refused, error.to_string()))?;
        self.passage(report, &space, chain, space.goals(), self.args.goal.as_deref().unwrap_or_default())
    }

    fn dead(&self, report: &mut SolveReport) -> Result<(), Failure> {
        self.passage(report, self.space, self.chain, self.space.dead(), "the dead marking")
    }

    fn passage(
        &self,
        report: &mut SolveReport,
        space: &StateSpace,
        chain: &Chain,
        ends: &[u32],
        goal: &str,
    ) -> Result<(), Failure> {
        let mut targets = vec![false; space.states()];
        ends.iter().for_each(|&state| targets[state as usize] = true);
        let section = passage(chain, &targets, &PassageSettings::default())
            .and_then(|mut passage| passage_section(goal, space.states(), &mut passage, &self.args.at));
        report.passage = Some(section.map_err(|error| Failure::plain(Exit::Refused, error.to_string()))?);
        Ok(())
    }

    fn steady(&self, report: &mut SolveReport) -> Result<(), Failure> {
        let refused = |error: &dyn std::fmt::Display| Failure::plain(Exit::Refused, error.to_string());
        let steady = steady_state(self.chain, &LinearSettings::default()).map_err(|error| refused(&error))?;
        let averages = self.averages(&steady.probabilities)?;
        report.steady = Some(steady_section(self.space, self.program, &steady, averages));
        Ok(())
    }

    fn times(&self, report: &mut SolveReport) -> Result<(), Failure> {
        if self.args.at.is_empty() {
            return Ok(());
        }
        let found = transient(self.chain, &self.args.at, &TransientSettings::default())
            .map_err(|error| Failure::plain(Exit::Refused, error.to_string()))?;
        for (at, probabilities) in found.probabilities.iter().enumerate() {
            let averages = self.averages(probabilities)?;
            report.at.push(time_section(&found, at, averages));
        }
        Ok(())
    }

    fn averages(&self, probabilities: &[f64]) -> Result<tailspn::report::AverageSection, Failure> {
        let averages = self.space.averages(self.program, probabilities).map_err(|error| failure(&error))?;
        let mut measures = Vec::new();
        for (name, code) in &self.asked.measures {
            let values = self.space.values(code, &format!("measure `{name}`"));
            let values = values.map_err(|fault| Failure::plain(Exit::Model, fault.to_string()))?;
            let value = tailspn::solve::expected(probabilities, &values);
            measures.push(NumberRow { name: name.clone(), unit: "", value });
        }
        Ok(average_section(self.program, &averages, measures))
    }
}

/// The long run was asked for, but nothing goes on for ever.
fn dead_run(dead: usize) -> Failure {
    let message =
        format!("the net can stop for good, in {}: it has no steady state", counted(dead as u64, "dead marking"));
    let help = "without --steady, the time to the dead marking is shown where every run ends there, else the long-run averages";
    Failure::new(Exit::Refused, Note::problem(message).with_help(help))
}

/// Why there is no state space, for the person who asked.
fn failure(error: &ExploreError) -> Failure {
    let exit = match error {
        ExploreError::Fault(_) | ExploreError::VanishingTrap { .. } => Exit::Model,
        _ => Exit::Refused,
    };
    Failure::plain(exit, error.to_string())
}

/// The report as it was asked for.
fn text_of(report: &SolveReport, args: &SolveArgs, terminal: &Terminal) -> Result<String, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::plain(Exit::Internal, error.to_string());
    if args.print.json {
        json("solution", report).map_err(|error| failed(&error))
    } else if args.print.csv {
        solve_csv(report).map_err(|error| failed(&error))
    } else {
        Ok(solve_text(report, &terminal.look()))
    }
}
