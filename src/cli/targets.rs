//! `--rel-error` and `--abs-error`: the precision at which a simulation stops.

use tailspn::ask::net::NetAnswer;
use tailspn::net::Net;
use tailspn::report::count;
use tailspn::sim::{Goal, NoQuantity, Precision, Quantity, Question, Run, Target};

use crate::cli::args::{QuestionArgs, SimulateArgs};
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;

/// A target, with the name that the user gave it.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    name: String,
    pub(crate) target: Target,
}

impl SimulateArgs {
    /// Returns true if the number of replications depends on a requested precision.
    pub(crate) fn wants_errors(&self) -> bool {
        !self.rel_error.is_empty() || !self.abs_error.is_empty()
    }

    /// Returns the requested precisions by name.
    fn precisions(&self) -> impl Iterator<Item = (&String, Precision)> {
        let relative = self.rel_error.iter().map(|(name, share)| (name, Precision::Relative(*share)));
        relative.chain(self.abs_error.iter().map(|(name, width)| (name, Precision::Absolute(*width))))
    }

    /// Returns the relative error of the stop rule; `None` if no precision is requested. The value matters only if the
    /// mean time is the target.
    pub(crate) fn stop_error(&self) -> Option<f64> {
        let first = self.rel_error.first().map_or(0.01, |(_, share)| *share);
        self.wants_errors().then_some(first)
    }
}

impl Wanted {
    /// Returns a note if the target was missed, or if its value was always the same. `effort` states the length of the run.
    fn note(&self, excess: f64, never_varied: bool, effort: &str) -> Option<String> {
        let name = &self.name;
        if excess > 1.0 {
            let factor = if excess.is_finite() {
                format!("; its error is {} times that", plain_factor(excess))
            } else {
                String::new()
            };
            let asked = self.target.precision;
            return Some(format!("note: after {effort}, `{name}` has not reached a precision of {asked}{factor}"));
        }
        never_varied.then(|| format!("note: `{name}` was the same in all {effort}; rare values may have been missed"))
    }
}

/// Returns the targets of a run, with their names; adds the observables that they need to the question.
pub(crate) fn targets(args: &SimulateArgs, net: &Net, asked: &mut Question) -> Result<Vec<Wanted>, Failure> {
    if args.steady {
        return long_run_targets(args, net, asked);
    }
    let help = "NAME is `time`, `goal`, a reward, a place, a transition, or `at T` for the means that --at requests for time T";
    let mut wanted = Vec::new();
    for (name, precision) in args.precisions() {
        wanted.extend(named(name, precision, asked, help, |question| Quantity::named(net, question, name))?);
    }
    let needs_goal = |wanted: &Wanted| matches!(wanted.target.quantity, Quantity::Time | Quantity::Goal);
    let QuestionArgs { until, horizon, .. } = &args.question;
    if !wanted.is_empty() && until.is_none() && horizon.is_some() && !wanted.iter().any(needs_goal) {
        // as if `--tokens` requested averages
        asked.goal = Goal::Horizon;
    }
    if asked.goal == Goal::Horizon && wanted.iter().any(needs_goal) {
        return Err(Failure::helped(
            Exit::Usage,
            "`--rel-error` applies to the mean time to a goal, but the goal is the horizon",
            "set a goal with --until EXPR, another target with NAME=SHARE, or the number of replications with --reps",
        ));
    }
    Ok(wanted)
}

/// Returns the targets of `--steady`, with their names, and adds the observables of the targets to the question. A share
/// without a name applies to all means of the question.
fn long_run_targets(args: &SimulateArgs, net: &Net, asked: &mut Question) -> Result<Vec<Wanted>, Failure> {
    let help =
        "with --steady, NAME is a reward, a place or a transition; without NAME, the precision applies to all means";
    let names = all_means(net, asked);
    let mut wanted = Vec::new();
    for (name, precision) in args.precisions() {
        let every = name == "time" && matches!(precision, Precision::Relative(_));
        for name in if every { names.iter() } else { std::slice::from_ref(name).iter() } {
            wanted.extend(named(name, precision, asked, help, |question| Quantity::of_long_run(net, question, name))?);
        }
    }
    Ok(wanted)
}

/// Returns the names of the long-run means that a question requests; if it requests none, all places and transitions.
fn all_means(net: &Net, question: &Question) -> Vec<String> {
    let nothing_asked = !question.tokens && !question.throughput && question.rewards.is_empty();
    let places =
        net.places().iter().map(|place| format!("#({})", place.id)).filter(|_| question.tokens || nothing_asked);
    let transitions = net.transitions().iter().map(|transition| transition.id.clone());
    let transitions = transitions.filter(|_| question.throughput || nothing_asked);
    question.rewards.iter().map(|reward| reward.name.clone()).chain(places).chain(transitions).collect()
}

/// Returns the targets that a name refers to, and adds the observables of the targets to the question.
fn named(
    name: &str,
    precision: Precision,
    asked: &mut Question,
    help: &str,
    find: impl Fn(&Question) -> Result<Vec<Quantity>, NoQuantity>,
) -> Result<Vec<Wanted>, Failure> {
    let quantities = find(asked).map_err(|error| Failure::helped(Exit::Usage, error.to_string(), help))?;
    let wanted = |quantity: Quantity| {
        quantity.observe(asked);
        Wanted { name: name.to_owned(), target: Target { quantity, precision } }
    };
    Ok(quantities.into_iter().map(wanted).collect())
}

/// Returns the targets of an ensemble; empty if the only target is the relative error of the mean time, which is part of
/// the stop rule.
pub(crate) fn of_ensemble(wanted: &[Wanted]) -> Vec<Target> {
    match wanted {
        [Wanted { target: Target { quantity: Quantity::Time, precision: Precision::Relative(_) }, .. }] => Vec::new(),
        _ => wanted.iter().map(|wanted| wanted.target).collect(),
    }
}

/// Returns notes on the targets that an answer missed, and on values that never varied.
pub(crate) fn unmet(answer: &NetAnswer, wanted: &[Wanted], level: f64) -> Vec<String> {
    match answer {
        NetAnswer::Replications(found, _) => unmet_in(found.replicated(), wanted, level),
        NetAnswer::LongRuns(found, _) => {
            let runs = found.runs();
            let firings = format!("{} firings", count(runs.iter().map(|run| run.firings).sum()));
            let note = |wanted: &Wanted| {
                wanted.note(wanted.target.long_run_excess(runs, level), wanted.target.never_varied_in(runs), &firings)
            };
            wanted.iter().filter_map(note).collect()
        }
        NetAnswer::Exact(_) => Vec::new(),
    }
}

fn unmet_in(run: &Run, wanted: &[Wanted], level: f64) -> Vec<String> {
    let averages = run.samples.averages();
    let replications = format!("{} replications", count(run.samples.replications.into()));
    let note = |wanted: &Wanted| {
        let excess = wanted.target.excess(&run.samples, &averages, level);
        wanted.note(excess, wanted.target.never_varied(&averages), &replications)
    };
    wanted.iter().filter_map(note).collect()
}

/// Formats a factor above 1 with two digits.
fn plain_factor(factor: f64) -> String {
    if factor < 10.0 { format!("{factor:.1}") } else { count(factor.round() as u128) }
}
