//! Answers questions of model checkers (CSL and CSRL) about nets with fixed delays.

use crate::compile::{Code, lower};
use crate::net::Net;
use crate::net::expr::Expr;
use crate::query::{Query, Reward};
use crate::solve::ask::avoided;
use crate::solve::explore_error::ExploreError;
use crate::solve::fixed_delays::{FixedDelayError, FixedDelayStates};
use crate::solve::linear::LinearSettings;
use crate::solve::reach::Limits;
use crate::solve::reward::expected;
use crate::solve::transient::TransientSettings;
use crate::solve::until::Until;
use crate::watch::Watch;

impl FixedDelayStates {
    /// Returns the answer to a question about `net`. `self` must have all states of the net, without a goal. For a question
    /// with a goal, the net is explored again up to the goal, within `limits`.
    ///
    /// # Errors
    ///
    /// [`FixedDelayError::Unsupported`], and the errors of the methods of [`FixedDelayStates`].
    pub fn answer(&self, net: &Net, query: &Query, limits: &Limits, watch: &dyn Watch) -> Result<f64, FixedDelayError> {
        let linear = LinearSettings::watched(watch);
        let explore = |goal: &Expr, avoid: Option<Code>| {
            let goal = lower(net, goal);
            let until = Until { goal: Some(&goal), avoid: avoid.as_ref() };
            Self::of(&self.program, self.delays.clone(), until, limits, watch)
        };
        match query {
            Query::Until { from, .. } if *from > 0.0 => {
                Err(FixedDelayError::Unsupported { question: "a first time above 0" })
            }
            Query::Until { stay, goal, to, .. } => {
                let states = explore(goal, avoided(net, stay))?;
                if to.is_finite() { states.passage(watch)?.certain_cdf(*to) } else { Ok(states.moments(&linear)?.0) }
            }
            Query::At { value, time } => {
                let found = self.at(&[*time], watch)?;
                let values = self.space.values(&lower(net, value), "the value").map_err(ExploreError::from)?;
                Ok(expected(&found.probabilities[0], &values))
            }
            Query::GatheredUntil { reward: Reward { rate: Expr::Number(rate), impulses }, goal }
                if impulses.is_empty() =>
            {
                let (probability, moments) = explore(goal, None)?.moments(&linear)?;
                Ok(moments.filter(|_| probability >= 1.0).map_or(f64::INFINITY, |moments| rate * moments.mean))
            }
            Query::LongRun { reward } if reward.impulses.is_empty() => {
                let found = self.steady(&linear, &TransientSettings::watched(watch))?;
                let values = self.space.values(&lower(net, &reward.rate), "the reward").map_err(ExploreError::from)?;
                Ok(expected(&found.steady.probabilities, &values))
            }
            Query::LongRun { .. } => {
                Err(FixedDelayError::Unsupported { question: "a reward of firings in the long run" })
            }
            Query::GatheredUntil { .. } | Query::Gathered { .. } => {
                Err(FixedDelayError::Unsupported { question: "an accumulated reward" })
            }
        }
    }
}
