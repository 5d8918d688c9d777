//! The question of `net solve`: a goal, a start and measures.

use tailspn::net::Net;
use tailspn::sim::{Goal, Question};

use crate::cli::args::SolveArgs;
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::question::{condition, expression, late_dead_marking, rewards, same_names};

/// Parses the question about a net.
pub(super) fn net_question(net: &Net, args: &SolveArgs) -> Result<Question, Failure> {
    let late = late_dead_marking(&args.before).filter(|_| args.until.as_deref() == Some("dead"));
    let twice = same_names("reward", &args.reward).chain(same_names("measure", &args.measure)).next();
    late.or(twice).map_or(Ok(()), |note| Err(Failure::new(Exit::Usage, note)))?;
    let rewards = rewards(net, &args.reward, &args.impulse)?;
    let goal = match args.until.as_deref() {
        None => Goal::Horizon,
        Some("dead") => Goal::Dead,
        Some(goal) => Goal::Marking(condition(net, "--until", goal)?),
    };
    let measures = args.measure.iter().map(|(name, text)| Ok((name.clone(), expression(net, "--measure", text)?)));
    let measures = measures.collect::<Result<_, Failure>>()?;
    Ok(Question {
        goal,
        from: args.from.as_deref().map(|text| condition(net, "--from", text)).transpose()?,
        avoid: args.before.avoid.as_deref().map(|text| condition(net, "--avoid", text)).transpose()?,
        earliest: args.before.within.map_or(0.0, |[from, _]| from),
        horizon: args.before.within.map(|[_, to]| to),
        rewards,
        measures,
        at: args.at.clone(),
        steady: args.steady,
        ..Question::default()
    })
}
