//! `query`: CSL and CSRL queries, answered from all states of a net.

use std::time::{Duration, Instant};

use tailspn::compile::Program;
use tailspn::fold::Symmetry;
use tailspn::net::Net;
use tailspn::report::{NetSummary, QueryReport, QueryRow, Subject};
use tailspn::solve::{Asking, CslQuery, FixedDelayStates, Limits, StateSpace, Until, has_fixed_delays};
use tailspn::watch::TimeLimit;

use crate::cli::args::QueryArgs;
use crate::cli::exact::{failure, find_states, phases};
use crate::cli::exit::Exit;
use crate::cli::load::{compile_net, read_bytes, read_net};
use crate::cli::notes::{Failure, Note, Source};
use crate::cli::output::{ProgressDisplay, Terminal};
use crate::cli::preparation::Preparation;
use crate::cli::solve_fixed::{fixed_delay_failure, fixed_phases};
use crate::cli::solve_method::LIMITS;
use crate::cli::solve_untimed::help;
use crate::cli::watch::{Progress, catch_interrupt, interrupted};

/// Answers the queries.
pub(crate) fn run(args: &QueryArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let preparation = Preparation::begin(args.max_time, terminal);
    let loaded = read_net(&args.net)?;
    terminal.brief_warnings(&loaded.warnings);
    let texts = texts(args)?;
    // errors are reported for the net in the file, before its delays are expanded
    parsed(&loaded.net, &texts)?;
    let program = compile_net(&loaded.net)?;
    let subject = NetSummary::new(&Subject::of(loaded.net.name(), &program));
    let is_fixed = has_fixed_delays(&program);
    let net = if is_fixed { fixed_phases(&loaded.net)?.net } else { phases(&loaded.net)?.0 };
    let queries = parsed(&net, &texts)?;
    let program = compile_net(&net)?;
    catch_interrupt(terminal);
    preparation.end();
    let quiet = Progress::new(ProgressDisplay::Nothing, "");
    let time = TimeLimit::new(&quiet, terminal.left_of(args.max_time));
    let limits = limits(args, time.left());
    let solver = if is_fixed {
        let states = FixedDelayStates::explore(&program, Until::default(), &limits, &time);
        Solver::Fixed(Box::new(states.map_err(|error| fixed_delay_failure(&error, &time))?))
    } else {
        Solver::States(Box::new(all_states(&program, &limits, terminal)?))
    };
    let asked = QueryContext { net: &net, program: &program, solver: &solver, limits: &limits, time: &time, terminal };
    let report = QueryReport::new(subject, solver.states(), queries.iter().map(|query| asked.row(query)).collect());
    terminal.report(&report, &args.print)?;
    verdict(&report)
}

/// Explores all states of a net.
fn all_states(program: &Program, limits: &Limits, terminal: &Terminal) -> Result<StateSpace, Failure> {
    let space = find_states(program, None, &Symmetry::default(), limits, terminal).map_err(|error| failure(&error))?;
    match space.stopped() {
        None => Ok(space),
        Some(incomplete) => {
            let exit = if interrupted() { Exit::Interrupted } else { Exit::Refused };
            Err(Failure::helped(exit, incomplete.to_string(), LIMITS))
        }
    }
}

/// The states that answer the queries.
enum Solver {
    /// States of a net with exponential delays and phases.
    States(Box<StateSpace>),
    /// States of a net with fixed delays.
    Fixed(Box<FixedDelayStates>),
}

impl Solver {
    fn states(&self) -> usize {
        match self {
            Self::States(space) => space.states(),
            Self::Fixed(states) => states.space.states(),
        }
    }
}

/// The text of a query, with its position in a source.
struct Text {
    text: String,
    source: Source,
    /// Start of the text in the source, in bytes.
    start: usize,
}

/// Returns the queries in the arguments, then the queries in the file.
fn texts(args: &QueryArgs) -> Result<Vec<Text>, Failure> {
    let given = |text: &String| Text { text: text.clone(), source: Source::argument("QUERY", text), start: 0 };
    let mut texts: Vec<Text> = args.query.iter().map(given).collect();
    let Some(path) = &args.file else { return Ok(texts) };
    let bytes = read_bytes(path)?;
    let all = String::from_utf8_lossy(&bytes).into_owned();
    let source = Source::argument(&path.display().to_string(), &all);
    let mut start = 0;
    for line in all.split_inclusive('\n') {
        let text = line.trim_end();
        if !text.trim().is_empty() && !text.trim_start().starts_with("//") {
            texts.push(Text { text: text.to_owned(), source: source.clone(), start });
        }
        start += line.len();
    }
    if texts.is_empty() {
        return Err(Failure::plain(Exit::Usage, format!("`{}` has no query", path.display())));
    }
    Ok(texts)
}

/// Parses all queries, and reports all errors.
fn parsed(net: &Net, texts: &[Text]) -> Result<Vec<CslQuery>, Failure> {
    let (mut queries, mut notes) = (Vec::new(), Vec::new());
    for Text { text, source, start } in texts {
        match CslQuery::parse(net, text) {
            Ok(query) => queries.push(query),
            Err(error) => {
                let span = error.span();
                let note = Note::problem(error.to_string()).at(source, span.start + start..span.end + start);
                notes.push(match help(net, &error) {
                    Some(help) => note.with_help(help),
                    None => note,
                });
            }
        }
    }
    if notes.is_empty() { Ok(queries) } else { Err(Failure { exit: Exit::Usage, notes }) }
}

/// A net and its states, ready for queries.
struct QueryContext<'a> {
    net: &'a Net,
    program: &'a Program,
    solver: &'a Solver,
    limits: &'a Limits,
    time: &'a TimeLimit<'a>,
    terminal: &'a Terminal,
}

impl QueryContext<'_> {
    fn row(&self, query: &CslQuery) -> QueryRow {
        let started = Instant::now();
        let Self { net, program, solver, .. } = *self;
        let noun = if matches!(solver, Solver::Fixed(_)) { "steps" } else { "states" };
        let watch = Progress::new(self.terminal.shows_progress(), noun);
        let limits = Limits { wall: self.time.left(), ..*self.limits };
        let watch = TimeLimit::new(&watch, limits.wall);
        let answer = match solver {
            Solver::States(space) => {
                let asking = Asking { net, program, space, limits: &limits, watch: &watch };
                let asked = query.query();
                let answer = asking.answer(asked);
                let certain = |answer| Ok((answer, query.bound().is_none() || asking.is_certain(asked, answer)?));
                answer.and_then(certain).map_err(|error| error.to_string())
            }
            Solver::Fixed(states) => {
                let answer = states.answer(net, query.query(), &limits, &watch);
                answer.map(|answer| (answer, true)).map_err(|error| error.to_string())
            }
        };
        QueryRow::new(query, answer, started.elapsed().as_secs_f64())
    }
}

fn limits(args: &QueryArgs, wall: Option<Duration>) -> Limits {
    let default = Limits::default();
    Limits { states: args.max_states.unwrap_or(default.states), bytes: args.max_memory.unwrap_or(default.bytes), wall }
}

/// Returns a failure if a query has no answer, and `Exit::Unmet` if a bound does not hold.
fn verdict(report: &QueryReport) -> Result<Exit, Failure> {
    let problem = |row: &QueryRow| Some(Note::problem(format!("query `{}`: {}", row.query, row.failed()?)));
    let notes: Vec<Note> = report.queries.iter().filter_map(problem).collect();
    if !notes.is_empty() {
        return Err(Failure { exit: if interrupted() { Exit::Interrupted } else { Exit::Refused }, notes });
    }
    let unmet = report.queries.iter().any(|row| row.bound.is_some() && row.holds != Some(true));
    Ok(if unmet { Exit::Unmet } else { Exit::Success })
}
