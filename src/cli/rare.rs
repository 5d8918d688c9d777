//! `rare`: the probability of a rare event of a net, by splitting.

use std::time::Instant;

use tailspn::answer::phases_if_possible;
use tailspn::net::Net;
use tailspn::report::{Answer, NetSummary, RareReport, RareSettings, Subject};
use tailspn::sim::{Goal, Question, RareEvent, Splitting};
use tailspn::watch::TimeLimit;

use crate::cli::args::RareArgs;
use crate::cli::exit::Exit;
use crate::cli::frame::{Ask, Asked, Form};
use crate::cli::load::{compile_net, read_net};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::preparation::Preparation;
use crate::cli::question::{condition, expression};
use crate::cli::watch::{Progress, catch_interrupt};

/// Maximum number of walks on a level. The number of a walk is part of the addresses of random words.
pub(crate) const MOST_WALKS: u64 = 1 << 24;
/// Maximum number of batches. The number of a batch is part of the addresses of random words.
const MOST_BATCHES: u64 = 1 << 20;

impl Ask for RareArgs {
    fn form(&self) -> Form<'_> {
        Form::printed(&self.print)
    }

    /// Estimates the probability.
    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        let report = estimated(self, terminal)?;
        let is_partial = report.partial;
        Ok(Answer::new(report).unless_stopped(is_partial).into())
    }
}

fn estimated(args: &RareArgs, terminal: &Terminal) -> Result<RareReport, Failure> {
    let started = Instant::now();
    let preparation = Preparation::begin(args.run.max_time, terminal);
    let loaded = read_net(&args.net)?;
    terminal.brief_warnings(&loaded.warnings);
    let subject = NetSummary::new(&Subject::of(loaded.net.name(), &compile_net(&loaded.net)?));
    let question = question(&loaded.net, args)?;
    let net = phases_if_possible(&loaded.net);
    let event = event(&loaded.net, &net, &question, args)?;
    catch_interrupt(terminal);
    preparation.end();
    let progress = Progress::new(terminal.shows_progress(), "batches");
    let watch = TimeLimit::new(&progress, terminal.left_of(args.run.max_time));
    let settings = Splitting {
        effort: below("--effort", args.effort, MOST_WALKS)?,
        batches: below("--batches", args.batches, MOST_BATCHES)?,
        seed: args.run.seed.unwrap_or(0),
        threads: args.run.threads,
        level: args.run.level,
        fold: !args.no_fold,
        watch: &watch,
    };
    let found = settings.run(&net, &event)?;
    drop(progress);
    let settings = RareSettings {
        question: &question,
        beyond: args.beyond.is_some(),
        effort: args.effort,
        seed: args.run.seed.unwrap_or(0),
        wall: started.elapsed(),
    };
    Ok(RareReport::new(subject, &settings, &found))
}

/// Returns the value of an option, which must be below a limit.
pub(crate) fn below(option: &str, count: u64, most: u64) -> Result<u32, Failure> {
    let refused = || Failure::plain(Exit::Usage, format!("{option} must be below {most}"));
    u32::try_from(count).ok().filter(|_| count < most).ok_or_else(refused)
}

/// Parses the question about a net.
fn question(net: &Net, args: &RareArgs) -> Result<Question, Failure> {
    let goal = match args.until.as_str() {
        "dead" => Goal::Dead,
        goal => Goal::Marking(condition(net, "--until", goal)?),
    };
    let avoid = args.avoid.as_deref().map(|avoid| condition(net, "--avoid", avoid)).transpose()?;
    Ok(Question { goal, avoid, horizon: args.beyond.or(args.within), ..Question::default() })
}

/// Returns the event that the arguments state about a net, whose delays were expanded to `phases`.
fn event(net: &Net, phases: &Net, question: &Question, args: &RareArgs) -> Result<RareEvent, Failure> {
    let importance = args.importance.as_deref().map(|text| expression(net, "--importance", text)).transpose()?;
    let importance = importance.map(|importance| importance.expression(phases));
    match (&question.goal, args.beyond) {
        (_, Some(_)) => Ok(RareEvent::beyond(phases, question, importance)?),
        (Goal::Marking(_), None) => Ok(RareEvent::before(phases, question, importance)?),
        (_, None) if args.within.is_some() || args.avoid.is_some() => Err(Failure::helped(
            Exit::Usage,
            "with --within or --avoid, the goal must be an expression",
            "use --until EXPR, such as '#(failed) >= 1'; --beyond T gives the probability that the net ends after T",
        )),
        (_, None) => Err(Failure::helped(
            Exit::Usage,
            "the event is missing",
            "use --beyond T for a late end of the net, or --until EXPR with --within T or --avoid EXPR for a goal",
        )),
    }
}
