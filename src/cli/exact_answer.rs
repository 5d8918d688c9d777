//! `simulate --method`: whether a question has an exact answer, whether that costs less, and the answer.

use tailspn::compile::{Code, Program, compile};
use tailspn::net::Net;
use tailspn::report::{
    AnswerMethod, ExactNumbers, SimulationReport, SteadyReport, Subject, Word, completion_section, count, counted,
    exact_report, exact_steady_report, passage_section,
};
use tailspn::sim::{Goal, Question, Reward};
use tailspn::solve::{
    Chain, FiringFlow, GridSettings, Limits, LinearSettings, PassageSettings, StateSpace, TransientSettings,
    completion_time, expected, explore, is_series_parallel, passage, steady_state, transient,
};
use tailspn::watch::Unwatched;

use crate::cli::args::SimulateArgs;
use crate::cli::exact::{dead_run, failure, find_states, phases, refused, too_many, with_phases};
use crate::cli::exit::Exit;
use crate::cli::load::compile_net;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::question::Asked;
use crate::cli::watch::interrupted;

/// States up to which an exact answer costs less than replications.
const CHEAP: u64 = 2_000;
/// Most states times transitions: looking at a large net must not take longer than simulating it.
const WORK: u64 = 4_000_000;

/// Questions that an exact method can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The time to a goal.
    Passage,
    /// Averages up to a horizon, and snapshots.
    Averages,
    /// The long run.
    Steady,
}

/// What kind of question it is; else why no exact method answers it.
fn kind(args: &SimulateArgs, question: &Question) -> Result<Kind, &'static str> {
    if args.samples.is_some() {
        return Err("--samples asks for replications");
    }
    if args.steady {
        return Ok(Kind::Steady);
    }
    if !question.groups.is_empty() {
        return Err("--group asks for firings that only replications have");
    }
    if question.max_firings.is_some() {
        return Err("--max-firings cuts replications off");
    }
    match (&question.goal, question.is_passage_only()) {
        (Goal::Horizon, false) => Ok(Kind::Averages),
        (Goal::Horizon, true) => Err("nothing is asked for but to run"),
        (_, true) if question.horizon.is_some() => Err("the time to the goal is cut off at a horizon"),
        (_, true) => Ok(Kind::Passage),
        (_, false) => Err("averages are collected up to a goal"),
    }
}

/// Whether an exact answer is known to cost less than replications. The rule looks at the question, the net and the number of states
/// only, so that it says the same on every machine.
pub(super) fn offer(args: &SimulateArgs, net: &Net, program: &Program, question: &Question) -> AnswerMethod {
    let found = |exact: Option<&'static str>, states, no_exact| {
        let exact = exact.map(Word::from);
        AnswerMethod { exact, states, no_exact, ..AnswerMethod::simulation() }
    };
    let kind = match kind(args, question) {
        Ok(kind) => kind,
        Err(reason) => return found(None, None, Some(reason.to_owned())),
    };
    if kind == Kind::Passage && question.goal == Goal::Dead && is_series_parallel(program).is_ok() {
        return found(Some("series-parallel"), None, None);
    }
    let goal = if let Goal::Marking(goal) = &question.goal { Some(goal) } else { None };
    match few_states(net, goal.filter(|_| kind == Kind::Passage)) {
        Ok(states) => found(Some("states"), Some(states), None),
        Err(reason) => found(None, None, Some(reason)),
    }
}

/// The number of states, where there are few; else why not.
fn few_states(net: &Net, goal: Option<&Code>) -> Result<usize, String> {
    let (net, _) = with_phases(net).map_err(|all| all.first().map_or_else(String::new, ToString::to_string))?;
    let program = compile(&net).map_err(|all| all.first().map_or_else(String::new, ToString::to_string))?;
    let most = CHEAP.min(WORK / (program.transitions() as u64).max(1));
    let limits = Limits { states: most, ..Limits::default() };
    let space = explore(&program, goal, &limits, &Unwatched).map_err(|error| error.to_string())?;
    match space.stopped() {
        None => Ok(space.states()),
        Some(_) => Err(format!("the net has more than {} states", count(most.into()))),
    }
}

/// What to say of an offer.
pub(super) fn advice(offer: &AnswerMethod) -> Option<String> {
    let why = match (offer.exact.as_deref()?, offer.states) {
        ("states", Some(states)) => format!("the net has only {}", counted(states as u64, "state")),
        (exact, _) => format!("the net is {exact}"),
    };
    Some(format!("note: {why}: an exact answer costs less than replications, --method exact gives it"))
}

/// A report with exact numbers.
pub(super) enum Report {
    /// Of a time, or of averages.
    Simulation(Box<SimulationReport>),
    /// Of the long run.
    Steady(Box<SteadyReport>),
}

/// The exact answer.
pub(super) fn answer(
    args: &SimulateArgs,
    net: &Net,
    program: &Program,
    asked: &Asked,
    terminal: &Terminal,
) -> Result<Report, Failure> {
    let question = &asked.question;
    let kind = match args.reps.is_some() || args.rel_error.is_some() {
        true => Err("--reps and --rel-error ask for replications"),
        false => kind(args, question),
    };
    let kind = kind.map_err(|reason| {
        let note = Note::problem(format!("no exact method answers this: {reason}"));
        Failure::new(Exit::Refused, note.with_help("`--method simulate` does"))
    })?;
    let subject = Subject {
        net: net.name(),
        places: &program.place_names,
        classes: &program.class_names,
        transitions: &program.transition_names,
        goal: &asked.goal,
        snapshots: &asked.snapshots,
    };
    let level = args.run.level;
    let by = |exact: &'static str, states| AnswerMethod {
        used: "exact".into(),
        exact: Some(exact.into()),
        states,
        no_exact: None,
    };
    if kind == Kind::Passage && question.goal == Goal::Dead && is_series_parallel(program).is_ok() {
        let limits = Limits::default();
        if too_many(net, limits, terminal)?.is_some() {
            let time = completion_time(program, &GridSettings::default()).map_err(|error| refused(&error))?;
            let passage = completion_section(&asked.goal, &time, &[]).map_err(|error| refused(&error))?;
            let numbers = ExactNumbers { passage: Some(passage), ..ExactNumbers::default() };
            let report = exact_report(&numbers, question, &subject, by("series-parallel", None), level);
            return Ok(Report::Simulation(Box::new(report)));
        }
    }
    let solved = Solved::of(net, kind, question, terminal)?;
    let method = by("states", Some(solved.space.states()));
    Ok(match kind {
        Kind::Steady => {
            let numbers = solved.steady(question)?;
            Report::Steady(Box::new(exact_steady_report(&numbers, question, &subject, method, level)))
        }
        _ => {
            let numbers = if kind == Kind::Passage { solved.passage(asked)? } else { solved.averages(question)? };
            Report::Simulation(Box::new(exact_report(&numbers, question, &subject, method, level)))
        }
    })
}

/// All states of a net, its general delays as phases: its own places and transitions come before hidden ones.
struct Solved {
    program: Program,
    space: StateSpace,
}

impl Solved {
    fn of(net: &Net, kind: Kind, question: &Question, terminal: &Terminal) -> Result<Self, Failure> {
        let (net, _) = phases(net)?;
        let program = compile_net(&net)?;
        let goal = match &question.goal {
            Goal::Marking(goal) if kind == Kind::Passage => Some(goal),
            _ => None,
        };
        let space = find_states(&program, goal, &Limits::default(), terminal).map_err(|error| failure(&error))?;
        space.complete().map_err(|error| match interrupted() {
            true => Failure::plain(Exit::Interrupted, error.to_string()),
            false => refused(&error),
        })?;
        Ok(Self { program, space })
    }

    fn chain(&self) -> &Chain {
        self.space.partial_chain()
    }

    fn passage(&self, asked: &Asked) -> Result<ExactNumbers, Failure> {
        let ends = if asked.question.goal == Goal::Dead { self.space.dead() } else { self.space.goals() };
        let mut targets = vec![false; self.space.states()];
        ends.iter().for_each(|&state| targets[state as usize] = true);
        let section = passage(self.chain(), &targets, &PassageSettings::default())
            .and_then(|mut time| passage_section(&asked.goal, self.space.states(), &mut time, &[]));
        let passage = section.map_err(|error| refused(&error))?;
        Ok(ExactNumbers { passage: Some(passage), ..ExactNumbers::default() })
    }

    /// The long run: everything that is asked for, and tokens and throughputs where nothing is.
    fn steady(&self, question: &Question) -> Result<ExactNumbers, Failure> {
        if !self.space.dead().is_empty() {
            return Err(dead_run(&self.space, &self.program));
        }
        let steady = steady_state(self.chain(), &LinearSettings::default()).map_err(|error| refused(&error))?;
        let all = !question.tokens && !question.throughput && question.rewards.is_empty();
        self.means(&steady.probabilities, 1.0, question, all)
    }

    /// Averages from the warm-up to the horizon, and snapshots.
    fn averages(&self, question: &Question) -> Result<ExactNumbers, Failure> {
        let (start, end) = (question.warm_up, question.horizon.unwrap_or(0.0));
        let firings = question.throughput || question.rewards.iter().any(|reward| !reward.impulses.is_empty());
        if firings && start <= 0.0 && self.space.find(&self.program.initial).is_none() {
            let note = Note::problem("no exact method counts the immediate firings at time 0");
            return Err(Failure::new(
                Exit::Refused,
                note.with_help("`--warm-up` leaves them out, `--method simulate` has them"),
            ));
        }
        let times: Vec<f64> = [start, end].into_iter().chain(question.snapshots.iter().map(|s| s.time)).collect();
        let found = transient(self.chain(), &times, &TransientSettings::default()).map_err(|error| refused(&error))?;
        let between: Vec<f64> = found.stays[1].iter().zip(&found.stays[0]).map(|(b, a)| (b - a).max(0.0)).collect();
        let seconds = end - start;
        let mut numbers = if seconds > 0.0 {
            let shares: Vec<f64> = between.iter().map(|stay| stay / seconds).collect();
            self.means(&shares, seconds, question, false)?
        } else {
            ExactNumbers::default()
        };
        for (snapshot, probabilities) in question.snapshots.iter().zip(&found.probabilities[2..]) {
            numbers.snapshots.push(self.mean(&snapshot.value, probabilities, "a snapshot")?);
        }
        Ok(numbers)
    }

    /// Means under these shares of time; rewards are gathered over `seconds`.
    fn means(&self, shares: &[f64], seconds: f64, question: &Question, all: bool) -> Result<ExactNumbers, Failure> {
        let averages = self.space.averages(&self.program, shares).map_err(|error| failure(&error))?;
        let rewards = question.rewards.iter().map(|reward| Ok(seconds * self.reward(reward, shares)?));
        Ok(ExactNumbers {
            tokens: if all || question.tokens { averages.tokens } else { Vec::new() },
            throughputs: if all || question.throughput { averages.throughputs } else { Vec::new() },
            rewards: rewards.collect::<Result<_, Failure>>()?,
            ..ExactNumbers::default()
        })
    }

    /// A reward per second.
    fn reward(&self, reward: &Reward, shares: &[f64]) -> Result<f64, Failure> {
        let what = format!("reward `{}`", reward.name);
        let mut sum = match &reward.rate {
            Some(rate) => self.mean(rate, shares, &what)?,
            None => 0.0,
        };
        if !reward.impulses.is_empty() {
            let mut visit = |firing: FiringFlow<'_>| {
                let own = reward.impulses.iter().filter(|(transition, _)| *transition == firing.transition);
                sum += own.map(|(_, value)| firing.flow * value.eval(firing.marking)).sum::<f64>();
            };
            let told = self.space.for_each_firing(&self.program, shares, &mut visit);
            told.map_err(|error| failure(&error))?;
        }
        if !sum.is_finite() {
            return Err(Failure::plain(
                Exit::Model,
                format!("{what} is infinite or not a number in a marking that the net reaches"),
            ));
        }
        Ok(sum)
    }

    fn mean(&self, value: &Code, probabilities: &[f64], what: &str) -> Result<f64, Failure> {
        let values = self.space.values(value, what);
        let values = values.map_err(|fault| Failure::plain(Exit::Model, fault.to_string()))?;
        Ok(expected(probabilities, &values))
    }
}
