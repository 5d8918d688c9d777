//! The experiments of Phan et al. 2018 in the cluster simulator: what orders there must be. Each test says which change broke it.

use tailspn::cluster::metrics::{Metric, Tally};
use tailspn::cluster::{Experiment, Plan, PolicyPlan, PolicyRuns, Replications, SlotShare};
use tailspn_replications::straggler_metrics;

const REPLICATIONS: u64 = 60;

fn runs(scenario: usize, policies: Vec<PolicyPlan>) -> Vec<PolicyRuns> {
    let plan: Plan = straggler_metrics::scenario(scenario, policies);
    let settings = Replications { count: REPLICATIONS, seed: 1, threads: None, ..Replications::default() };
    Experiment::new(&plan, settings).unwrap().run(&mut |_| true).unwrap()
}

fn pooled(run: &PolicyRuns) -> Tally {
    let mut all = Tally::default();
    run.outcomes.iter().for_each(|outcome| all.merge(&outcome.maps));
    all
}

fn three(runs: &[PolicyRuns], metric: Metric) -> [f64; 3] {
    let values: Vec<f64> = runs.iter().map(|run| pooled(run).metric(metric).unwrap_or(f64::NAN)).collect();
    values.try_into().unwrap()
}

fn mean(run: &PolicyRuns, value: impl Fn(&tailspn::cluster::Outcome) -> f64) -> f64 {
    run.outcomes.iter().map(value).sum::<f64>() / run.outcomes.len() as f64
}

/// Fails where Hierarchical does not filter by node, or detectors look in the last wave only.
#[test]
fn table_6_orders_precision_recall_and_latency() {
    let mut precision_of_default = f64::INFINITY;
    for scenario in 0..4 {
        let found = runs(scenario, straggler_metrics::watching(20.0));
        let [d, h, l] = three(&found, Metric::Precision);
        assert!(h > l && l > d, "C{}: precision {d} {h} {l}", scenario + 1);
        // in C1 and C2 the share of slow nodes is the same, and so is about the precision
        assert!(d < precision_of_default + 0.02, "C{}: precision of Default rises", scenario + 1);
        precision_of_default = d;
        let [d, h, l] = three(&found, Metric::Recall);
        assert!(l > d - 0.005 && d > h, "C{}: recall {d} {h} {l}", scenario + 1);
        let [d, h, _] = three(&found, Metric::DetectionLatency);
        assert!(h > d, "C{}: latency {d} {h}", scenario + 1);
        // the paper has less than 0.1; see the docs for the difference
        let [d, h, _] = three(&found, Metric::UndetectedTime);
        assert!((h - d).abs() < 0.15, "C{}: undetected time {d} {h}", scenario + 1);
    }
}

/// Fails where copies may not take reserved slots.
#[test]
fn table_7_orders_precision_and_reserved_slots_cut_the_latency() {
    let all: Vec<_> =
        straggler_metrics::RESERVATIONS.iter().map(|slots| runs(1, straggler_metrics::reserving(*slots))).collect();
    for (found, slots) in all.iter().zip(straggler_metrics::RESERVATIONS) {
        let [d, h, l] = three(found, Metric::Precision);
        assert!(h > l && l > d, "{slots:?}: precision {d} {h} {l}");
        let share = if let SlotShare::Tasks(share) = slots { share } else { 1.0 };
        // the paper has L >= D >= H in every row; the docs say why not here
        let [d, h, l] = three(found, Metric::Recall);
        if share >= 1.0 {
            assert!(l >= d && d >= h, "{slots:?}: recall {d} {h} {l}");
        } else if share > 0.5 {
            assert!(d > h && l > h, "{slots:?}: recall {d} {h} {l}");
        }
        let [d, h, _] = three(found, Metric::UndetectedTime);
        assert!((h - d).abs() < 0.25, "{slots:?}: undetected time {d} {h}");
        let latency = three(found, Metric::DetectionLatency);
        let unreserved = three(&all[0], Metric::DetectionLatency);
        if slots != SlotShare::Tasks(1.0) {
            assert!(latency.iter().zip(unreserved).all(|(now, before)| *now < 0.5 * before), "{slots:?}: {latency:?}");
        }
    }
    // figures 4 to 6: with half of the slots reserved, Default starts most copies and takes longest
    let [d, h, l] = &all[4][..] else { panic!("three detectors") };
    let job = |run| mean(run, |outcome| outcome.job_s);
    let energy = |run| mean(run, |outcome| outcome.energy_j);
    let copies = |run| mean(run, |outcome| f64::from(outcome.copies));
    assert!(copies(d) > 1.5 * copies(h) && copies(d) > copies(l));
    assert!(job(d) > 1.1 * job(h) && job(d) > job(l) && energy(d) > 1.1 * energy(h));
    // and under Shared, Hierarchical beats Default on both
    let [d, h, _] = &all[5][..] else { panic!("three detectors") };
    assert!(job(h) < 0.95 * job(d) && energy(h) < 0.95 * energy(d));
}

/// Fails where the remaining time is not compared with the usual time.
#[test]
fn figure_3_a_late_start_makes_fake_positives() {
    let fake = |lag_s| three(&runs(1, straggler_metrics::watching(lag_s)), Metric::FakePositives)[0];
    assert!(fake(20.0) < 0.01 && fake(60.0) > 0.03 && fake(50.0) > 0.1);
}
