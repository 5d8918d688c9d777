//! Variants of policies: every detector with several lags, reservations and thresholds.

use crate::cluster::plan::{PolicyPlan, SlotShare};

/// Values to vary; an empty axis keeps the policy's value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sweep {
    /// Lags \[s\].
    pub lags_s: Vec<f64>,
    /// Values of `slots`, the slots that copies may take.
    pub slots: Vec<SlotShare>,
    /// Values of each detector's threshold, see
    /// [`DetectorPlan::threshold`](crate::cluster::detect::DetectorPlan::threshold).
    pub thresholds: Vec<f64>,
}

impl Sweep {
    /// Returns all combinations, for each policy that has a detector; policies without a detector are
    /// unchanged. Names state the varied values.
    pub fn expand(&self, policies: &[PolicyPlan]) -> Vec<PolicyPlan> {
        let mut all = Vec::new();
        for policy in policies {
            if policy.detector.detector().is_none() {
                all.push(policy.clone());
                continue;
            }
            let mut variants = vec![(policy.clone(), policy.title())];
            variants = vary(variants, &self.lags_s, |policy, lag_s| {
                policy.lag_s = *lag_s;
                format!("lag {lag_s} s")
            });
            variants = vary(variants, &self.slots, |policy, slots| {
                policy.slots = *slots;
                match slots {
                    SlotShare::Tasks(share) => format!("x {share}"),
                    SlotShare::Shared => "shared".to_owned(),
                }
            });
            variants = vary(variants, &self.thresholds, |policy, value| match policy.detector.threshold() {
                Some((name, place)) => {
                    *place = *value;
                    format!("{name} {value}")
                }
                None => String::new(),
            });
            all.extend(variants.into_iter().map(|(policy, name)| PolicyPlan { name: Some(name), ..policy }));
        }
        all
    }
}

fn vary<T>(
    variants: Vec<(PolicyPlan, String)>,
    values: &[T],
    set: impl Fn(&mut PolicyPlan, &T) -> String,
) -> Vec<(PolicyPlan, String)> {
    if values.is_empty() {
        return variants;
    }
    let changed = |(policy, name): &(PolicyPlan, String), value: &T| {
        let mut policy = policy.clone();
        let what = set(&mut policy, value);
        (policy, format!("{name}, {what}"))
    };
    variants.iter().flat_map(|variant| values.iter().map(move |value| changed(variant, value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::plan::Plan;

    #[test]
    fn sweep_axes_multiply_and_appear_in_policy_titles() {
        let sweep = Sweep {
            lags_s: vec![20.0, 60.0],
            slots: vec![SlotShare::Tasks(0.9), SlotShare::Shared],
            thresholds: vec![0.1],
        };
        let all = sweep.expand(&Plan::default().policy);
        assert_eq!(all.len(), 1 + 3 * 4);
        assert_eq!(all[0].title(), "none");
        assert_eq!(all[1].title(), "default, lag 20 s, x 0.9, gap 0.1");
        assert_eq!((all[1].lag_s, all[1].slots), (20.0, SlotShare::Tasks(0.9)));
        assert_eq!(all[12].title(), "late, lag 60 s, shared, threshold 0.1");
        let plan = Plan { policy: all, ..Plan::default() };
        assert_eq!(plan.problems(), []);
    }

    #[test]
    fn an_empty_sweep_keeps_the_policies() {
        let policies = Plan::default().policy;
        let same = Sweep::default().expand(&policies);
        assert_eq!(same.iter().map(PolicyPlan::title).collect::<Vec<_>>(), ["none", "default", "hierarchical", "late"]);
    }
}
