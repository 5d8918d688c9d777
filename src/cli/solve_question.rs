//! The question of `solve`: a goal, a start and measures.

use tailspn::net::Net;
use tailspn::report::{Condition, NetGoal, NetQuestion};

use crate::cli::args::SolveArgs;
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::question::{expression, late_dead_marking, rewards, same_names};

/// Parses the question about a net.
pub(super) fn net_question(net: &Net, args: &SolveArgs) -> Result<NetQuestion, Failure> {
    let late = late_dead_marking(&args.before).filter(|_| args.until() == Some("dead"));
    let twice = same_names("reward", &args.reward).chain(same_names("measure", &args.measure)).next();
    late.or(twice).map_or(Ok(()), |note| Err(Failure::new(Exit::Usage, note)))?;
    let condition = |option: &str, text: &str| {
        Ok::<_, Failure>(Condition { text: text.to_owned(), code: expression(net, option, text)? })
    };
    let rewards = rewards(net, &args.reward, &args.impulse)?;
    let goal = args.until().map(|goal| match goal {
        "dead" => Ok(NetGoal::Dead),
        goal => condition("--until", goal).map(NetGoal::Marking),
    });
    let measures = args.measure.iter().map(|(name, text)| Ok((name.clone(), expression(net, "--measure", text)?)));
    Ok(NetQuestion {
        goal: goal.transpose()?,
        from: args.from.as_deref().map(|text| condition("--from", text)).transpose()?,
        avoid: args.before.avoid.as_deref().map(|text| condition("--avoid", text)).transpose()?,
        within: args.before.within,
        rewards,
        measures: measures.collect::<Result<_, Failure>>()?,
        at: args.at.clone(),
        steady: args.steady,
    })
}
