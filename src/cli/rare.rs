//! `net rare`: the probability of a rare event of a net, by splitting.

use tailspn::ask::RunSettings;
use tailspn::ask::net::RareQuestion;
use tailspn::net::Net;
use tailspn::report::{Answer, RareReport};
use tailspn::sim::{Goal, Question};

use crate::cli::args::RareArgs;
use crate::cli::exit::Exit;
use crate::cli::frame::{Ask, Asked, Form};
use crate::cli::load::read_net;
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
        let preparation = Preparation::begin(self.run.max_time, terminal);
        let loaded = read_net(&self.net)?;
        terminal.brief_warnings(&loaded.warnings);
        let question = question(&loaded.net, self)?;
        catch_interrupt(terminal);
        preparation.end();
        let progress = Progress::new(terminal.shows_progress(), "batches");
        let run = RunSettings { max_time: terminal.left_of(self.run.max_time), ..terminal.settings(&self.run) };
        let report = RareReport::new(&question, &question.answer(&loaded.net, &run, &progress)?);
        let is_partial = report.partial;
        Ok(Asked::from(Answer::new(report).unless_stopped(is_partial)).assuming(&loaded.warnings))
    }
}

/// Returns the value of an option, which must be below a limit.
pub(crate) fn below(option: &str, count: u64, most: u64) -> Result<u32, Failure> {
    let refused = || Failure::plain(Exit::Usage, format!("{option} must be below {most}"));
    u32::try_from(count).ok().filter(|_| count < most).ok_or_else(refused)
}

/// Parses the question about a net.
fn question(net: &Net, args: &RareArgs) -> Result<RareQuestion, Failure> {
    let goal = match args.until.as_str() {
        "dead" => Goal::Dead,
        goal => Goal::Marking(condition(net, "--until", goal)?),
    };
    if goal == Goal::Dead && args.beyond.is_none() {
        let (problem, help) = if args.within.is_some() || args.avoid.is_some() {
            (
                "with --within or --avoid, the goal must be an expression",
                "use --until EXPR, such as '#(failed) >= 1'; --beyond T gives the probability that the net ends after T",
            )
        } else {
            (
                "the event is missing",
                "use --beyond T for a late end of the net, or --until EXPR with --within T or --avoid EXPR for a goal",
            )
        };
        return Err(Failure::helped(Exit::Usage, problem, help));
    }
    let avoid = args.avoid.as_deref().map(|avoid| condition(net, "--avoid", avoid)).transpose()?;
    Ok(RareQuestion {
        question: Question { goal, avoid, horizon: args.beyond.or(args.within), ..Question::default() },
        beyond: args.beyond.is_some(),
        importance: args.importance.as_deref().map(|text| expression(net, "--importance", text)).transpose()?,
        effort: below("--effort", args.effort, MOST_WALKS)?,
        batches: below("--batches", args.batches, MOST_BATCHES)?,
        unfolded: args.no_fold,
    })
}
