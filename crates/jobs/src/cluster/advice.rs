//! One line that follows from a comparison: which policy to take, or none.

use std::fmt;

use crate::cluster::compare::{Comparison, PolicySummary};

/// What the numbers say. Only differences whose interval does not reach 0 count.
#[derive(Clone, Debug, PartialEq)]
pub enum Advice {
    /// This policy ends jobs earliest.
    Take {
        /// Its name.
        policy: String,
        /// Name of what it is compared with.
        baseline: String,
        /// By how many seconds jobs end earlier, > 0, and half of its interval's width.
        earlier_s: [f64; 2],
        /// That over the job time without it.
        share: f64,
        /// Change of the energy as a share, where its interval does not reach 0.
        energy: Option<f64>,
    },
    /// No policy ends jobs earlier, but this one takes less energy.
    Save {
        /// Its name.
        policy: String,
        /// Energy saved, as a share.
        share: f64,
    },
    /// No policy helps.
    Leave {
        /// Whether all of them make jobs end later.
        all_later: bool,
    },
    /// There is nothing to compare.
    Nothing,
}

impl Advice {
    /// The same where power is not known.
    #[must_use]
    pub fn without_energy(self) -> Self {
        match self {
            Self::Take { policy, baseline, earlier_s, share, .. } => {
                Self::Take { policy, baseline, earlier_s, share, energy: None }
            }
            Self::Save { .. } => Self::Leave { all_later: false },
            other => other,
        }
    }

    /// What follows from a comparison: of the policies that end jobs earlier, the one with the least mean job time.
    pub fn new(comparison: &Comparison) -> Self {
        let others = || comparison.policies.iter().filter(|row| row.job_change.is_some());
        if others().next().is_none() {
            return Self::Nothing;
        }
        let earlier = others().filter(|row| job_difference(row).is_some_and(|[value, half]| value + half < 0.0));
        let best = earlier.min_by(|a, b| a.job_s.value.total_cmp(&b.job_s.value));
        let base = &comparison.policies[comparison.baseline];
        if let Some((row, [value, half])) = best.and_then(|row| Some((row, job_difference(row)?))) {
            return Self::Take {
                policy: row.policy.title(),
                baseline: base.policy.title(),
                earlier_s: [-value, half],
                share: -value / base.job_s.value,
                energy: energy_share(row),
            };
        }
        let saved = others().filter_map(|row| Some((row, energy_share(row)?))).filter(|(_, share)| *share < 0.0);
        if let Some((row, share)) = saved.min_by(|a, b| a.1.total_cmp(&b.1)) {
            return Self::Save { policy: row.policy.title(), share: -share };
        }
        let later = |row: &PolicySummary| job_difference(row).is_some_and(|[value, half]| value - half > 0.0);
        Self::Leave { all_later: others().all(later) }
    }
}

fn job_difference(row: &PolicySummary) -> Option<[f64; 2]> {
    row.job_change.as_ref().map(|change| [change.difference.value, change.difference.half_width])
}

/// The change of the energy as a share, where it is certain that there is one.
fn energy_share(row: &PolicySummary) -> Option<f64> {
    let change = row.energy_change.as_ref()?;
    let certain = change.difference.value.abs() > change.difference.half_width;
    change.ratio.filter(|_| certain).map(|ratio| ratio.value - 1.0)
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Take { policy, baseline, earlier_s: [value, half], share, energy } => {
                let share = 100.0 * share;
                write!(
                    f,
                    "take `{policy}`: jobs end {value:.1} ± {half:.1} s ({share:.1}%) earlier than with `{baseline}`"
                )?;
                match energy {
                    Some(more) if *more > 0.0 => write!(f, ", for {:.1}% more energy", 100.0 * more),
                    Some(less) => write!(f, ", for {:.1}% less energy", -100.0 * less),
                    None => write!(f, ", for about the same energy"),
                }
            }
            Self::Save { policy, share } => {
                let share = 100.0 * share;
                write!(f, "no policy ends jobs earlier; `{policy}` takes {share:.1}% less energy")
            }
            Self::Leave { all_later: true } => write!(f, "leave speculation off: every policy makes jobs end later"),
            Self::Leave { all_later: false } => {
                write!(f, "leave speculation off: no policy is certain to end jobs earlier or to save energy")
            }
            Self::Nothing => write!(f, "there is only one policy, and nothing to compare it with"),
        }
    }
}
