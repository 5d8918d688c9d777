//! One line of advice from a comparison: the policy to use, or none.

use std::fmt;

use crate::cluster::compare::{Comparison, PolicySummary};

/// Minimum relative gain for advice. A smaller gain is less than the difference between two runs, and a replay uses the
/// times of one run.
const LEAST_SHARE: f64 = 0.01;

/// The parts of a replay that its advice depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Replayed {
    /// Hosts that tasks ran on.
    pub hosts: usize,
    /// Error of the replayed job time \[s\].
    pub error_s: f64,
    /// Total time of all tasks without copies \[s\].
    pub work_s: f64,
    /// Job time of the log \[s\].
    pub actual_s: f64,
}

/// Greatest share of killed work in the tasks' own work for advice from a replay, which assumes that copies slow nothing down.
const MUCH_WORK: f64 = 0.25;
/// Greatest error of a replay that advice may rest on, as a share of the logged time.
const REPRODUCES: f64 = 0.05;

impl Replayed {
    /// Returns true if the replay takes the time of the log.
    pub fn is_reproduced(&self) -> bool {
        self.error_s <= REPRODUCES * self.actual_s
    }

    /// Returns the ratio of the work of a policy's killed attempts to the tasks' own work.
    fn killed(&self, row: &PolicySummary) -> f64 {
        row.wasted_s.value / self.work_s
    }
}

/// Conclusion from the numbers. Only differences whose interval excludes 0 count.
#[derive(Clone, Debug, PartialEq)]
pub enum Advice {
    /// This policy finishes jobs earliest.
    Take {
        /// Name.
        policy: String,
        /// Name of the baseline policy.
        baseline: String,
        /// Seconds by which jobs finish earlier, > 0.
        earlier_s: f64,
        /// Half width of its interval; none if jobs finish at least so much earlier.
        half_width_s: Option<f64>,
        /// Gain as a share of the baseline's job time.
        share: f64,
        /// Relative change of the energy, if its interval excludes 0.
        energy: Option<f64>,
        /// Slot time of killed attempts \[s\], and its ratio to the tasks' time; only for a replay.
        killed: Option<[f64; 2]>,
    },
    /// The best policy of a replay gains less than the error of the replay or less than 1% of the job time.
    TooClose {
        /// Name.
        policy: String,
        /// Seconds by which the job finishes earlier.
        earlier_s: f64,
        /// Minimum gain that counts \[s\].
        error_s: f64,
    },
    /// The replay does not take the time of the log, so nothing is advised.
    NotReproduced {
        /// Error of the replay \[s\].
        error_s: f64,
        /// Job time of the log \[s\].
        actual_s: f64,
    },
    /// The best policy of a replay is faster than the replay without it, but not faster than the log by more than the error.
    NotBelowLog {
        /// Name.
        policy: String,
        /// Job time with the policy \[s\].
        job_s: f64,
        /// Job time of the log \[s\].
        actual_s: f64,
    },
    /// Policies of a replay gain only with much more work, which the replay assumes to slow nothing down.
    MuchWork {
        /// Name of the best of them.
        policy: String,
        /// Seconds by which the job finishes earlier.
        earlier_s: f64,
        /// Ratio of killed work to the tasks' own work.
        killed: f64,
    },
    /// All tasks of a replay ran on one host; a copy never runs on the host of its original.
    OneHost,
    /// No policy finishes jobs earlier, but this one uses less energy.
    Save {
        /// Name.
        policy: String,
        /// Energy saved, as a share.
        share: f64,
    },
    /// The best policy gains only because the spread of task times is assumed: without it, the policy gains less than 1%.
    OnlyAssumed {
        /// Name.
        policy: String,
        /// Gain as a share of the baseline's job time, with the assumed spread.
        share: f64,
    },
    /// No policy helps.
    Leave {
        /// True if all policies delay jobs.
        all_later: bool,
    },
    /// There are no policies to compare.
    Nothing,
}

impl Advice {
    /// Returns the advice for a replay of a recorded job: power is unknown, and a gain counts only if it exceeds the error of the replay.
    pub fn of_replay(comparison: &Comparison, replay: &Replayed) -> Self {
        if !replay.is_reproduced() {
            return Self::NotReproduced { error_s: replay.error_s, actual_s: replay.actual_s };
        }
        if replay.hosts == 1 {
            return Self::OneHost;
        }
        let moderate = Self::among(comparison, &|row| replay.killed(row) <= MUCH_WORK).on_replay(comparison, replay);
        if let Self::Take { .. } = moderate {
            return moderate;
        }
        match Self::new(comparison).on_replay(comparison, replay) {
            Self::Take { policy, earlier_s, killed: Some([_, share]), .. } => {
                Self::MuchWork { policy, earlier_s, killed: share }
            }
            _ => moderate,
        }
    }

    /// Returns the advice with the limits of a replay: a gain counts if it surely exceeds the error of the replay and 1% of the job time, and if the
    /// policy's job time is below the log's by more than the error.
    fn on_replay(self, comparison: &Comparison, replay: &Replayed) -> Self {
        match self {
            Self::Take { policy, baseline, earlier_s, half_width_s, share, .. } => {
                let row = comparison.policies.iter().find(|row| row.policy.title() == policy);
                let job_s = row.map_or(f64::INFINITY, |row| row.job_s.value);
                let least_s = replay.error_s.max(LEAST_SHARE * earlier_s / share);
                if earlier_s - half_width_s.unwrap_or(0.0) <= least_s {
                    return Self::TooClose { policy, earlier_s, error_s: least_s };
                }
                if job_s >= replay.actual_s - replay.error_s {
                    return Self::NotBelowLog { policy, job_s, actual_s: replay.actual_s };
                }
                let killed = row.map(|row| [row.wasted_s.value, replay.killed(row)]);
                Self::Take { policy, baseline, earlier_s, half_width_s, share, energy: None, killed }
            }
            Self::Save { .. } => Self::Leave { all_later: false },
            other => other,
        }
    }

    /// Returns the advice for a job whose spread of task times is assumed, from a comparison with the assumed spread and one without any.
    pub fn of_assumed(comparison: &Comparison, without_spread: &Comparison) -> Self {
        let helps = |row: &PolicySummary| match &row.job_change {
            Some(change) => {
                -change.difference.value > LEAST_SHARE * without_spread.policies[without_spread.baseline].job_s.value
            }
            None => false,
        };
        match Self::new(comparison) {
            Self::Take { policy, share, .. } if !without_spread.policies.iter().any(helps) => {
                Self::OnlyAssumed { policy, share }
            }
            other => other,
        }
    }

    /// Returns the advice for a comparison: among the policies that finish jobs earlier, the policy with the least mean
    /// job time.
    pub fn new(comparison: &Comparison) -> Self {
        Self::among(comparison, &|_| true)
    }

    /// Returns the advice among the policies that are accepted.
    fn among(comparison: &Comparison, accepts: &dyn Fn(&PolicySummary) -> bool) -> Self {
        let others = || comparison.policies.iter().filter(|row| row.job_change.is_some() && accepts(row));
        if others().next().is_none() {
            return Self::Nothing;
        }
        let earlier = others().filter(|row| job_difference(row).is_some_and(|[_, high]| high < 0.0));
        let best = earlier.min_by(|a, b| a.job_s.value.total_cmp(&b.job_s.value));
        let base = &comparison.policies[comparison.baseline];
        if let Some((row, change)) = best.and_then(|row| Some((row, row.job_change.as_ref()?))) {
            let half_width_s = change.difference.half_width();
            // of a bound, only the end that is known counts
            let known = change.difference.ends().filter(|_| half_width_s.is_none());
            let earlier_s = -known.map_or(change.difference.value, |[_, high]| high);
            return Self::Take {
                policy: row.policy.title(),
                baseline: base.policy.title(),
                earlier_s,
                half_width_s,
                share: earlier_s / base.job_s.value,
                energy: energy_share(row),
                killed: None,
            };
        }
        let saved = others().filter_map(|row| Some((row, energy_share(row)?))).filter(|(_, share)| *share < 0.0);
        if let Some((row, share)) = saved.min_by(|a, b| a.1.total_cmp(&b.1)) {
            return Self::Save { policy: row.policy.title(), share: -share };
        }
        let later = |row: &PolicySummary| job_difference(row).is_some_and(|[low, _]| low > 0.0);
        Self::Leave { all_later: others().all(later) }
    }
}

/// Returns the ends of the interval of the change of the job time.
fn job_difference(row: &PolicySummary) -> Option<[f64; 2]> {
    row.job_change.as_ref()?.difference.ends()
}

/// Returns the relative change of the energy, if it is statistically significant.
fn energy_share(row: &PolicySummary) -> Option<f64> {
    let change = row.energy_change.as_ref()?;
    let certain = change.difference.half_width().is_some_and(|half| change.difference.value.abs() > half);
    change.ratio.as_ref().filter(|_| certain).map(|ratio| ratio.value - 1.0)
}

impl Advice {
    /// Writes why a replay gives no advice.
    fn no_advice_of_replay(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReproduced { error_s, actual_s } => write!(
                f,
                "none: the replay does NOT reproduce this run. It is off by {error_s:.1} s, {:.0}% of the logged {actual_s:.1} s",
                100.0 * error_s / actual_s
            ),
            Self::NotBelowLog { policy, job_s, actual_s } => write!(
                f,
                "leave the policy as it is: with `{policy}`, the best policy that adds at most a quarter of the work, the job takes {job_s:.1} s, which is \
                 not less than the logged {actual_s:.1} s by more than the error of the replay"
            ),
            Self::MuchWork { policy, earlier_s, killed } => write!(
                f,
                "leave the policy as it is: only policies that add much work help. The best of them, `{policy}`, gains {earlier_s:.1} s, but its killed \
                 copies work {:.0}% as long as all tasks, and the replay assumes that they slow nothing down",
                100.0 * killed
            ),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Take { policy, baseline, earlier_s, half_width_s, share, energy, killed } => {
                let share = 100.0 * share;
                let earlier = match half_width_s {
                    Some(half) => format!("{earlier_s:.1} ± {half:.1} s"),
                    None => format!("at least {earlier_s:.1} s"),
                };
                write!(f, "use `{policy}`: jobs finish {earlier} ({share:.1}%) earlier than with `{baseline}`")?;
                if let Some([killed_s, share]) = killed {
                    let share = 100.0 * share;
                    return write!(
                        f,
                        ", at the cost of {killed_s:.1} s of killed work ({share:.0}% of the tasks' own work)"
                    );
                }
                match energy {
                    Some(more) if *more > 0.0 => write!(f, ", for {:.1}% more energy", 100.0 * more),
                    Some(less) => write!(f, ", for {:.1}% less energy", -100.0 * less),
                    None => write!(f, ", for about the same energy"),
                }
            }
            Self::TooClose { policy, earlier_s, error_s } => write!(
                f,
                "leave the policy as it is: `{policy}`, the best policy that adds at most a quarter of the work, gains {earlier_s:.1} s, which is not \
                 surely more than the error of the replay and 1% of the job time ({error_s:.1} s)"
            ),
            Self::OnlyAssumed { policy, share } => write!(
                f,
                "none: `{policy}` makes jobs finish {:.1}% earlier if the phases are exponential, which the plan does not state; without any \
                 spread, no policy gains 1%. Measure how much the times of tasks vary (`model.distribution`)",
                100.0 * share
            ),
            Self::NotReproduced { .. } | Self::NotBelowLog { .. } | Self::MuchWork { .. } => {
                self.no_advice_of_replay(f)
            }
            Self::OneHost => write!(
                f,
                "no policy can help: all tasks ran on one host, and a copy never runs on the host of its original"
            ),
            Self::Save { policy, share } => {
                let share = 100.0 * share;
                write!(f, "no policy finishes jobs earlier; `{policy}` uses {share:.1}% less energy")
            }
            Self::Leave { all_later: true } => write!(f, "leave speculation off: every policy makes jobs finish later"),
            Self::Leave { all_later: false } => {
                write!(f, "leave speculation off: no policy significantly shortens jobs or saves energy")
            }
            Self::Nothing => write!(f, "there is only one policy and nothing to compare it with"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::compare::compare;
    use crate::cluster::detect::DetectorPlan;
    use crate::cluster::ensemble::PolicyRuns;
    use crate::cluster::outcome::Outcome;
    use crate::cluster::plan::PolicyPlan;

    /// Advice on a job of 100 s that `late` finishes 4 s earlier, with 30 s of killed work on 120 s of its own.
    fn advice(replay: &Replayed) -> String {
        let runs = |detector, job_s: f64| PolicyRuns {
            policy: PolicyPlan { detector, ..PolicyPlan::default() },
            outcomes: vec![Outcome { job_s, wasted_s: 30.0, ..Outcome::default() }; 3],
        };
        let late = DetectorPlan::named("late").unwrap();
        let all = compare(&[runs(DetectorPlan::None, 100.0), runs(late, 96.0)], 0.95).unwrap();
        Advice::of_replay(&all, replay).to_string()
    }

    #[test]
    fn a_gain_counts_beyond_the_error_of_the_replay_and_has_its_price() {
        let replay = Replayed { hosts: 4, error_s: 1.0, work_s: 120.0, actual_s: 101.0 };
        let expected = "use `late`: jobs finish 4.0 ± 0.0 s (4.0%) earlier than with `none`, at the cost of 30.0 s of killed work (25% of the \
                        tasks' own work)";
        assert_eq!(advice(&replay), expected);
        let close = advice(&Replayed { error_s: 4.0, actual_s: 104.0, ..replay });
        assert_eq!(
            close,
            "leave the policy as it is: `late`, the best policy that adds at most a quarter of the work, gains 4.0 s, which is not surely more than the \
             error of the replay and 1% of the job time (4.0 s)"
        );
        let above = advice(&Replayed { actual_s: 97.0, ..replay });
        assert!(
            above.ends_with(
                "takes 96.0 s, which is not less than the logged 97.0 s by more than the error of the replay"
            ),
            "{above}"
        );
        let off = advice(&Replayed { error_s: 5.1, ..replay });
        assert_eq!(off, "none: the replay does NOT reproduce this run. It is off by 5.1 s, 5% of the logged 101.0 s");
        let much = advice(&Replayed { work_s: 100.0, ..replay });
        assert!(much.contains("gains 4.0 s, but its killed copies work 30% as long as all tasks"), "{much}");
        assert!(advice(&Replayed { hosts: 1, ..replay }).starts_with("no policy can help"));
        assert!(
            advice(&Replayed { hosts: 1, error_s: 9.0, ..replay }).starts_with("none: the replay does NOT reproduce")
        );
    }
}
