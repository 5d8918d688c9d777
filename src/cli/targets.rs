//! `--rel-error` and `--abs-error`: the precision at which a simulation stops.

use tailspn::net::Net;
use tailspn::report::{count, plain};
use tailspn::sim::{Goal, Precision, Quantity, Run, Target};

use crate::cli::args::{QuestionArgs, SimulateArgs};
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::question::Asked;

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

    /// Returns the relative error of the stop rule; `None` if no precision is requested. The value matters only if the
    /// mean time is the target.
    pub(crate) fn stop_error(&self) -> Option<f64> {
        let first = self.rel_error.first().map_or(0.01, |(_, share)| *share);
        self.wants_errors().then_some(first)
    }
}

impl Wanted {
    /// Returns the requested error as text.
    pub(crate) fn asked(&self) -> String {
        match self.target.precision {
            Precision::Relative(share) => format!("{}%", plain(share * 100.0)),
            Precision::Absolute(width) => plain(width),
        }
    }
}

/// Returns the targets of a run, with their names; adds the observables that they need to the question.
pub(crate) fn targets(args: &SimulateArgs, net: &Net, asked: &mut Asked) -> Result<Vec<Wanted>, Failure> {
    let relative = args.rel_error.iter().map(|(name, share)| (name, Precision::Relative(*share)));
    let absolute = args.abs_error.iter().map(|(name, width)| (name, Precision::Absolute(*width)));
    let mut wanted = Vec::new();
    for (name, precision) in relative.chain(absolute) {
        let quantities = Quantity::named(net, &asked.question, name).map_err(|error| {
            let help =
                "NAME is `time`, `goal`, a reward, a place, a transition, or `at T` for the means that --at requests for time T";
            Failure::helped(Exit::Usage, error.to_string(), help)
        })?;
        for quantity in quantities {
            quantity.observe(&mut asked.question);
            wanted.push(Wanted { name: name.clone(), target: Target { quantity, precision } });
        }
    }
    let needs_goal = |wanted: &Wanted| matches!(wanted.target.quantity, Quantity::Time | Quantity::Goal);
    let QuestionArgs { until, horizon, .. } = &args.question;
    if !wanted.is_empty() && until.is_none() && horizon.is_some() && !wanted.iter().any(needs_goal) {
        // as if `--tokens` requested averages
        asked.seek_horizon();
    }
    if asked.question.goal == Goal::Horizon && wanted.iter().any(needs_goal) {
        return Err(Failure::helped(
            Exit::Usage,
            "`--rel-error` applies to the mean time to a goal, but the goal is the horizon",
            "set a goal with --until EXPR, another target with NAME=SHARE, or the number of replications with --reps",
        ));
    }
    Ok(wanted)
}

/// Returns the targets of an ensemble; empty if the only target is the relative error of the mean time, which is part of
/// the stop rule.
pub(crate) fn of_ensemble(wanted: &[Wanted]) -> Vec<Target> {
    match wanted {
        [Wanted { target: Target { quantity: Quantity::Time, precision: Precision::Relative(_) }, .. }] => Vec::new(),
        _ => wanted.iter().map(|wanted| wanted.target).collect(),
    }
}

/// Reports the targets that a run missed, and values that never varied.
pub(crate) fn tell_unmet(run: &Run, wanted: &[Wanted], level: f64, terminal: &Terminal) {
    let averages = run.samples.averages();
    for wanted in wanted {
        let name = &wanted.name;
        let excess = wanted.target.excess(&run.samples, &averages, level);
        let replications = count(run.samples.replications.into());
        if excess > 1.0 {
            let factor = if excess.is_finite() {
                format!("; the error is {} times as large", plain_factor(excess))
            } else {
                String::new()
            };
            terminal.tell(&format!(
                "note: after {replications} replications, `{name}` has not reached a precision of {}{factor}",
                wanted.asked()
            ));
        } else if wanted.target.never_varied(&averages) {
            terminal.tell(&format!(
                "note: `{name}` was the same in all {replications} replications; rare values may have been missed"
            ));
        }
    }
}

/// Formats a factor above 1 with two digits.
fn plain_factor(factor: f64) -> String {
    if factor < 10.0 { format!("{factor:.1}") } else { count(factor.round() as u128) }
}
