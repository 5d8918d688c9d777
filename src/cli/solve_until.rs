//! `solve --until` with `--avoid`, `--within` and rewards.

use tailspn::report::{RewardRow, SolveReport, WithinSection};
use tailspn::solve::{AskError, UntilStates};
use tailspn::watch::TimeLimit;

use crate::cli::exact::{failure, refused};
use crate::cli::notes::Failure;
use crate::cli::solve::Numbers;
use crate::cli::solve_method::limits;
use crate::cli::watch::Progress;

impl Numbers<'_> {
    /// Adds to the report the distribution of the time to the goal, or the probability of reaching it between two
    /// times, and the rewards of a run.
    pub(super) fn until(&self, report: &mut SolveReport) -> Result<(), Failure> {
        let (until, before) = (self.asked.until(), &self.args.before);
        let limits = limits(self.args, self.watch);
        let progress = Progress::new(self.terminal.shows_progress(), "states");
        let watch = TimeLimit::new(&progress, limits.wall);
        let goal = before.words(self.args.until().unwrap_or_default());
        let exploration = (&self.asked.symmetry, &limits);
        if let Some([from, to]) = before.within {
            let probability = until.probability(self.program, self.space, [from, to], exploration, &watch);
            let probability = probability.map_err(|error| no_answer(&error))?;
            let to_s = Some(to).filter(|to| to.is_finite());
            report.within = Some(WithinSection { goal: goal.clone(), from_s: from, to_s, probability, error: None });
            if self.asked.rewards.is_empty() {
                return Ok(());
            }
        }
        let states = until.explore(self.program, exploration.0, &limits, &watch).map_err(|error| failure(&error))?;
        if report.within.is_none() {
            let chain = states.space.complete().map_err(|error| refused(&error))?;
            self.passage(report, chain, &states.targets, &goal)?;
        }
        self.rewards(report, &states)
    }

    fn rewards(&self, report: &mut SolveReport, states: &UntilStates) -> Result<(), Failure> {
        let to = self.args.before.within.map_or(f64::INFINITY, |[_, to]| to);
        for reward in &self.asked.rewards {
            let value = states.gathered(reward.rate.as_ref(), &reward.impulses, to, self.watch);
            let value = value.map_err(|error| no_answer(&error))?;
            report.rewards.push(RewardRow { name: reward.name.clone(), value: Some(value).filter(|v| v.is_finite()) });
        }
        Ok(())
    }
}

fn no_answer(error: &AskError) -> Failure {
    match error {
        AskError::Explore(error) => failure(error),
        error => refused(error),
    }
}
