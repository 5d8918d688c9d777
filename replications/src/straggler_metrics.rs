//! The experiments of \[Phan2018\]: the paper's scenarios, reservations and detectors as settings, and the numbers that
//! it reports.
//!
//! docs/replications/straggler-metrics.md lists the values that the paper does not give, and the values that are used
//! here.

use tailspn::cluster::detect::{ByScore, DetectorPlan, Hierarchical, Late};
use tailspn::cluster::formulas::LateForm;
use tailspn::cluster::{NodeGroup, Plan, PolicyPlan, SlotShare, Watching};

/// Numbers of nodes with 1, 2, 3 and 4 active cores in scenarios C1 to C4; each scenario has 20 nodes. \[Phan2018,
/// 5.4\]
pub const SCENARIOS: [[u32; 4]; 4] = [[7, 7, 1, 5], [5, 5, 5, 5], [2, 2, 1, 15], [1, 1, 0, 18]];

/// The reservations of the paper's second experiment, in the paper's order.
pub const RESERVATIONS: [SlotShare; 6] = [
    SlotShare::Tasks(1.0),
    SlotShare::Tasks(0.95),
    SlotShare::Tasks(0.9),
    SlotShare::Tasks(0.75),
    SlotShare::Tasks(0.5),
    SlotShare::Shared,
];

/// Names of the three detectors, in the order of all tables here: Default, Hierarchical, LATE.
pub const DETECTORS: [&str; 3] = ["D", "H", "L"];

/// Precision, recall, detection latency, fake positives, undetected time: by scenario, by detector. \[Phan2018, Table 6\]
pub const TABLE_6: [[[f64; 5]; 3]; 4] = [
    [[0.64, 0.48, 0.55, 0.05, 2.10], [1.00, 0.47, 0.65, 0.00, 2.10], [0.83, 0.61, 0.44, 0.04, 1.80]],
    [[0.64, 0.46, 0.41, 0.02, 1.80], [1.00, 0.33, 0.57, 0.01, 1.80], [0.82, 0.60, 0.38, 0.04, 1.60]],
    [[0.22, 0.41, 0.49, 0.07, 1.90], [0.88, 0.37, 0.55, 0.04, 1.90], [0.24, 0.55, 0.48, 0.06, 1.80]],
    [[0.12, 0.50, 0.51, 0.01, 2.10], [0.98, 0.38, 0.53, 0.02, 2.10], [0.31, 0.62, 0.48, 0.03, 2.00]],
];

/// Precision, recall, detection latency, undetected time: by reservation, by detector. \[Phan2018, Table 7\]
pub const TABLE_7: [[[f64; 4]; 3]; 6] = [
    [[0.62, 0.36, 0.41, 2.50], [1.00, 0.22, 0.50, 2.52], [0.69, 0.45, 0.36, 2.26]],
    [[0.55, 0.41, 0.17, 2.00], [0.99, 0.29, 0.23, 2.08], [0.68, 0.60, 0.18, 2.00]],
    [[0.53, 0.42, 0.15, 2.03], [1.00, 0.30, 0.03, 2.10], [0.63, 0.63, 0.16, 2.01]],
    [[0.58, 0.57, 0.08, 2.08], [0.99, 0.29, 0.05, 2.12], [0.67, 0.65, 0.18, 2.02]],
    [[0.57, 0.68, 0.01, 2.08], [0.96, 0.32, 0.03, 1.99], [0.60, 0.70, 0.09, 2.04]],
    [[0.55, 0.56, 0.32, 2.01], [0.99, 0.29, 0.65, 2.03], [0.65, 0.60, 0.17, 2.28]],
];

/// Quantile that serves as the typical duration, and the share of stragglers in homogeneous runs that results.
/// \[Phan2018, Table 5\]
pub const TABLE_5: [[f64; 2]; 5] = [[0.25, 0.0816], [0.5, 0.0066], [0.6, 0.0031], [0.7, 0.0016], [0.9, 0.0006]];

/// Returns the cluster and the job of a scenario, with the policies to compare; numbers 0 to 3 are C1 to C4.
pub fn scenario(number: usize, policy: Vec<PolicyPlan>) -> Plan {
    let mut plan = Plan { policy, ..Plan::default() };
    let groups = (1_u32..).zip(SCENARIOS[number.min(SCENARIOS.len() - 1)]).filter(|(_, count)| *count > 0);
    plan.cluster.node = groups
        .map(|(active, count)| NodeGroup { count, active_cores: Some(f64::from(active)), ..NodeGroup::default() })
        .collect();
    plan
}

/// Returns the detectors of the paper: Default, Hierarchical on top of Default, and LATE with its equation as printed.
pub fn detectors() -> [DetectorPlan; 3] {
    let late = Late { form: LateForm::Printed, ..Late::default() };
    [
        DetectorPlan::Default(ByScore::default()),
        DetectorPlan::Hierarchical(Hierarchical::default()),
        DetectorPlan::Late(late),
    ]
}

fn policies(change: impl Fn(PolicyPlan) -> PolicyPlan) -> Vec<PolicyPlan> {
    let policy = |(name, detector): (&&str, DetectorPlan)| {
        change(PolicyPlan { name: Some((*name).to_owned()), detector, ..PolicyPlan::default() })
    };
    DETECTORS.iter().zip(detectors()).map(policy).collect()
}

/// Returns the policies of the first experiment: detectors watch tasks from `lag_s` on, and no copies are started.
pub fn watching(lag_s: f64) -> Vec<PolicyPlan> {
    policies(|policy| PolicyPlan { watch: Watching::FromLag, copies: false, lag_s, ..policy })
}

/// Returns the policies of the second experiment: copies run in reserved slots; without reserved slots, detectors watch
/// the last wave only, as in Hadoop.
pub fn reserving(slots: SlotShare) -> Vec<PolicyPlan> {
    let watch = if slots == SlotShare::Tasks(1.0) { Watching::LastWave } else { Watching::FromLag };
    policies(|policy| PolicyPlan { slots, watch, ..policy })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_are_sound_and_c2_is_the_default_cluster() {
        for (number, nodes) in SCENARIOS.iter().enumerate() {
            assert_eq!(scenario(number, watching(20.0)).problems(), []);
            assert_eq!(nodes.iter().sum::<u32>(), 20);
        }
        assert_eq!(scenario(1, Plan::default().policy), Plan::default());
        for slots in RESERVATIONS {
            assert_eq!(scenario(1, reserving(slots)).problems(), []);
        }
    }

    /// The paper's own tables show the orderings with which replications/tests/it/phan2018.rs compares the simulator.
    #[test]
    fn orderings_hold_in_the_tables_themselves() {
        let rows = TABLE_6.map(|rows| rows.map(|r| [r[0], r[1], r[4]])).into_iter();
        for [d, h, l] in rows.chain(TABLE_7.map(|rows| rows.map(|r| [r[0], r[1], r[3]]))) {
            assert!(h[0] >= l[0] && l[0] >= d[0]);
            assert!(l[1] >= d[1] && d[1] >= h[1]);
            assert!((h[2] - d[2]).abs() <= 0.1);
        }
    }
}
