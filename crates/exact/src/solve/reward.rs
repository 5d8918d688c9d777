//! Expected rewards: each state has a rate of reward, which is evaluated at a time, up to a time, in the long run, or until a target.
//!
//! A reward for each firing of a transition (an impulse) is passed as the rate reward `rate of the transition × impulse` in each
//! state. The rate includes firings that lead through vanishing markings to any state, even back to the same state. The means
//! are equal, and this module computes only means.

use crate::estimate::PoissonWindow;
use crate::solve::absorb::{AbsorbError, absorption};
use crate::solve::chain::Chain;
use crate::solve::linear::LinearSettings;
use crate::solve::transient::{TransientError, TransientSettings, Uniformised, share, unfinished, walk, windows};

/// Expected rewards at times.
#[derive(Clone, Debug, PartialEq)]
pub struct RewardAt {
    /// Per time and reward: the expected rate of reward at that time \[reward\].
    pub now: Vec<Vec<f64>>,
    /// Per time and reward: the expected reward gathered up to that time \[reward · s\].
    pub gathered: Vec<Vec<f64>>,
    /// Bound of the error of `now`, relative to the largest absolute value of the reward; multiplied by the time, it is the bound
    /// for `gathered`.
    pub error: f64,
    /// Number of jumps of the uniformised chain.
    pub jumps: u64,
}

/// Returns the expected value of a reward per state under given probabilities of the states. Exact up to the error of the probabilities.
///
/// # Examples
///
/// ```
/// assert_eq!(tailspn_exact::solve::expected(&[0.25, 0.75], &[0.0, 4.0]), 3.0);
/// ```
pub fn expected(probabilities: &[f64], reward: &[f64]) -> f64 {
    probabilities.iter().zip(reward).filter(|(p, _)| **p > 0.0).map(|(p, r)| p * r).sum()
}

/// Returns the expected rewards at each of `times` \[s\] and gathered up to that time, by uniformisation
/// \[Jensen1953\].
///
/// As exact as [`transient`](crate::solve::transient()), but keeps only two distributions in memory for any number of
/// times.
///
/// # Errors
///
/// All variants of [`TransientError`].
pub fn rewards_at(
    chain: &Chain,
    rewards: &[Vec<f64>],
    times: &[f64],
    settings: &TransientSettings,
) -> Result<RewardAt, TransientError> {
    if chain.states() == 0 {
        return Err(TransientError::Empty);
    }
    chain.check()?;
    let bad = |reward: &Vec<f64>| reward.len() != chain.states() || !reward.iter().all(|r| r.is_finite());
    if let Some(reward) = rewards.iter().position(bad) {
        return Err(TransientError::Reward { reward });
    }
    let jumps = Uniformised::of(&chain.rates, &chain.exit_rates());
    let windows = windows(&jumps, times, settings, 2 * rewards.len())?;
    let above: Vec<Vec<f64>> = windows.iter().map(PoissonWindow::above).collect();
    let mut now = vec![vec![0.0; rewards.len()]; times.len()];
    let mut gathered = now.clone();
    let mut used = vec![(0.0, 0.0); times.len()];
    let done = walk(&jumps, &chain.initial_vector(), &windows, settings, |n, v, ends| {
        let values: Vec<f64> = rewards.iter().map(|reward| expected(v, reward)).collect();
        for (i, window) in windows.iter().enumerate() {
            let (weight, stay) = share(window, &above[i], jumps.rate, times[i], n, ends, &mut used[i]);
            for (r, value) in values.iter().enumerate() {
                now[i][r] += weight * value;
                gathered[i][r] += stay * value;
            }
        }
    });
    let Some(done) = done else { return Err(unfinished(jumps.rate, times, settings)) };
    Ok(RewardAt { now, gathered, error: done.error, jumps: done.jumps })
}

/// Returns the expected reward gathered before the chain first reaches a state of `targets` \[reward · s\]; infinite if the chain
/// may stay forever in states with a reward. Exact up to the error of the linear equations, see [`absorption`].
///
/// # Errors
///
/// All variants of [`AbsorbError`].
pub fn accumulated_until(
    chain: &Chain,
    targets: &[bool],
    reward: &[f64],
    settings: &LinearSettings,
) -> Result<f64, AbsorbError> {
    let times = absorption(chain, targets, settings)?.times;
    Ok(times.iter().zip(reward).filter(|(time, r)| **time > 0.0 && **r != 0.0).map(|(time, r)| time * r).sum())
}
