//! Tests of the simulator against hand calculations, invariants, and itself on several threads.

use std::num::NonZeroUsize;

use crate::cluster::detect::{ByScore, DetectorPlan};
use crate::cluster::metrics::Metric;
use crate::cluster::*;
use crate::watch::Unwatched;

/// A cluster of groups (count, active cores, slots, speed) with maps only, without noise or delays of any kind.
fn plain(groups: &[(u32, f64, u32, f64)], maps: u32, map_s: f64) -> Plan {
    let group = |&(count, active, slots, speed): &(u32, f64, u32, f64)| NodeGroup {
        count,
        active_cores: Some(active),
        slots,
        cpu_speed: speed,
        ..NodeGroup::default()
    };
    let mut plan = Plan::default();
    plan.cluster = ClusterPlan { heartbeat_s: 0.0, node: groups.iter().map(group).collect(), ..plan.cluster };
    plan.noise.sigma = 0.0;
    plan.job = vec![JobPlan { maps, map_s, map_start_s: 0.0, reduces: 0, ..JobPlan::default() }];
    plan.policy = vec![PolicyPlan::default()];
    plan
}

fn outcomes(plan: &Plan, count: u64) -> Vec<Vec<Outcome>> {
    assert_eq!(plan.problems(), []);
    let settings = Replications { count, seed: 7, threads: NonZeroUsize::new(1), ..Replications::default() };
    let runs = Experiment::new(plan, settings).unwrap().run(&mut |_| true).unwrap();
    runs.into_iter().map(|run| run.outcomes).collect()
}

fn only(plan: &Plan) -> Outcome {
    outcomes(plan, 1)[0][0]
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6
}

/// A policy with Default that checks every second from the start.
fn eager(slots: SlotShare) -> PolicyPlan {
    let detector = DetectorPlan::Default(ByScore::default());
    PolicyPlan { detector, slots, lag_s: 0.0, watch: Watching::FromLag, ..PolicyPlan::default() }
}

#[test]
fn one_task_on_one_core_has_its_exact_time_and_energy() {
    let outcome = only(&plain(&[(1, 1.0, 1, 1.0)], 1, 10.0));
    assert!(close(outcome.job_s, 10.0) && close(outcome.energy_j, 820.0) && close(outcome.used_s, 10.0));
    assert_eq!((outcome.copies, outcome.wasted_s, outcome.maps.tasks, outcome.maps.stragglers), (0, 0.0, 1, 0));
}

#[test]
fn tasks_share_cores_and_come_in_waves() {
    // eight tasks on four cores take twice as long; two waves
    assert!(close(only(&plain(&[(1, 4.0, 8, 1.0)], 16, 10.0)).job_s, 40.0));
    // one wave on one core: all eight end together
    assert!(close(only(&plain(&[(1, 1.0, 8, 1.0)], 8, 10.0)).job_s, 80.0));
    // a fast core
    assert!(close(only(&plain(&[(1, 1.0, 1, 4.0)], 3, 10.0)).job_s, 7.5));
    // five tasks on four cores at 4/5, no sixth
    assert!(close(only(&plain(&[(1, 4.0, 8, 1.0)], 5, 10.0)).job_s, 12.5));
}

#[test]
fn idle_power_is_paid_until_the_end() {
    let mut plan = plain(&[(1, 1.0, 1, 1.0), (1, 1.0, 1, 0.5)], 2, 10.0);
    assert!(close(only(&plan).energy_j, 82.0 * 10.0 + 65.0 * 10.0 + 82.0 * 20.0));
    plan.power.idle_w = 0.0;
    assert!(close(only(&plan).energy_j, 82.0 * 10.0 + 82.0 * 20.0));
}

/// The deterministic fill of the paper's scenarios by hand: fast nodes run more tasks, so the share of stragglers is below the share of slow nodes
/// (0.75, 0.75, 0.25, 0.10).
#[test]
fn scenarios_have_the_share_of_stragglers_of_a_deterministic_fill() {
    // at 60 s the last tasks may go to nodes with two or with four active cores, because both become free
    for (nodes, stragglers) in
        [([7, 7, 1, 5], 192..=192), ([5, 5, 5, 5], 200..=200), ([2, 2, 1, 15], 48..=64), ([1, 1, 0, 18], 16..=24)]
    {
        let groups: Vec<_> = (1..=4)
            .zip(nodes)
            .filter(|(_, count)| *count > 0)
            .map(|(i, count)| (count, f64::from(i), 8, 1.0))
            .collect();
        let outcome = only(&plain(&groups, 320, 15.0));
        let found = outcome.maps.stragglers;
        assert!(stragglers.contains(&found), "{nodes:?}: {found}");
        assert!(close(outcome.job_s, 120.0), "{nodes:?}: {}", outcome.job_s);
        let missed = outcome.maps;
        assert_eq!((missed.flagged(), missed.missed, missed.metric(Metric::Precision)), (0, found, None));
    }
}

#[test]
fn no_straggler_where_all_nodes_are_equal() {
    let mut plan = plain(&[(4, 4.0, 8, 1.0)], 64, 15.0);
    plan.policy.push(eager(SlotShare::Shared));
    let all = outcomes(&plan, 1);
    assert_eq!(all[0][0].maps.stragglers, 0);
    assert_eq!(all[0][0].maps.metric(Metric::Recall), None);
    assert_eq!(all[1][0].maps.metric(Metric::UndetectedTime), None);
}

#[test]
fn all_tasks_are_stragglers_where_all_nodes_are_slow() {
    let outcome = only(&plain(&[(4, 1.0, 8, 1.0)], 64, 15.0));
    assert_eq!((outcome.maps.stragglers, outcome.maps.missed), (64, 64));
    // the usual time is the time with all four cores
    assert!(close(outcome.maps.metric(Metric::UndetectedTime).unwrap(), 4.0));
}

/// By hand: the slow node's score t/100 is 0.2 below the mean of t/100 and t/10 after 4.4 s, so it is flagged at the check at 5 s; the fast node is
/// free at 10 s, and its copy ends at 20 s.
#[test]
fn a_copy_wins_and_the_original_is_killed() {
    let mut plan = plain(&[(1, 1.0, 1, 1.0), (1, 1.0, 1, 0.1)], 2, 10.0);
    plan.policy = vec![eager(SlotShare::Tasks(1.0))];
    let outcome = only(&plan);
    assert!(close(outcome.job_s, 20.0), "{outcome:?}");
    assert_eq!((outcome.copies, outcome.won), (1, 1));
    assert!(close(outcome.wasted_s, 20.0) && close(outcome.used_s, 40.0) && close(outcome.copy_wait_s, 5.0));
    assert_eq!((outcome.maps.true_positives, outcome.maps.flagged()), (1, 1));
    assert!(close(outcome.maps.metric(Metric::DetectionLatency).unwrap(), 0.5));
    // checks alone change nothing
    plan.policy[0].copies = false;
    let watched = only(&plan);
    assert!(close(watched.job_s, 100.0));
    assert_eq!((watched.copies, watched.maps.true_positives), (0, 1));
}

#[test]
fn an_original_that_is_faster_after_all_kills_its_copy() {
    // the copy is requested as above, but the slow node is half as fast as the other: it ends at 20 s, the copy would end at 10 + 10
    let mut plan = plain(&[(1, 1.0, 1, 1.0), (1, 1.0, 1, 0.55)], 2, 10.0);
    plan.policy = vec![eager(SlotShare::Tasks(1.0))];
    let outcome = only(&plan);
    assert!(close(outcome.job_s, 10.0 / 0.55), "{outcome:?}");
    assert_eq!((outcome.copies, outcome.won), (1, 0));
    assert!(close(outcome.wasted_s, 10.0 / 0.55 - 10.0));
}

/// Returns the nodes of each task's attempts in one replication of the plan's first policy, copies separately.
fn where_attempts_ran(plan: &Plan, replication: u64) -> (Vec<Vec<u32>>, Vec<u32>) {
    let world = crate::cluster::world::World::new(plan, 7);
    let usual = vec![10.0; world.tasks.len()];
    let policy = crate::cluster::policy::Policy::new(&plan.policy[0], &world);
    let mut simulator = crate::cluster::simulator::Simulator::new(&world, &usual, 1.2, &Unwatched);
    simulator.run(&policy, replication).unwrap();
    let mut originals = vec![Vec::new(); world.tasks.len()];
    let mut copies = Vec::new();
    for attempt in &simulator.attempts {
        if attempt.is_copy { copies.push(attempt.node) } else { originals[attempt.task as usize].push(attempt.node) }
    }
    (originals, copies)
}

#[test]
fn slow_nodes_get_no_copies_where_the_policy_says_so() {
    // two slow nodes, two fast ones, each with a slot for copies only
    let mut plan = plain(&[(1, 1.0, 2, 0.1), (1, 1.0, 2, 0.2), (2, 1.0, 2, 1.0)], 4, 10.0);
    plan.policy = vec![eager(SlotShare::Tasks(0.5))];
    let copies = |plan: &Plan| (0..20).flat_map(|run| where_attempts_ran(plan, run).1).collect::<Vec<_>>();
    assert!(copies(&plan).iter().any(|&node| node < 2), "a slow node is never chosen, so the rule has nothing to do");
    plan.policy[0].slow_nodes = 0.5;
    let found = copies(&plan);
    assert!(found.len() >= 20 && found.iter().all(|&node| node >= 2), "{found:?}");
}

#[test]
fn mantri_kills_a_slow_task_that_begins_again_elsewhere() {
    let mut plan = plain(&[(1, 1.0, 1, 0.1), (3, 1.0, 1, 1.0)], 20, 10.0);
    let mantri =
        |max_restarts| DetectorPlan::Mantri(crate::cluster::detect::Mantri { max_restarts, ..Default::default() });
    plan.policy =
        vec![PolicyPlan { detector: mantri(3), lag_s: 0.0, watch: Watching::FromLag, ..PolicyPlan::default() }];
    let outcome = only(&plan);
    assert!(outcome.restarts >= 1 && outcome.wasted_s > 10.0, "{outcome:?}");
    // the slow attempt is judged by the time it would have taken, 100 s, although it was killed
    assert!(outcome.maps.stragglers >= 1 && outcome.maps.true_positives >= 1, "{:?}", outcome.maps);
    let (originals, _) = where_attempts_ran(&plan, 0);
    assert!(originals.iter().any(|nodes| nodes.len() > 1));
    for nodes in originals {
        assert!(nodes.windows(2).all(|pair| pair[0] != pair[1]), "{nodes:?}");
    }
    plan.policy[0].detector = mantri(0);
    assert_eq!(only(&plan).restarts, 0);
}

#[test]
fn a_copy_never_runs_beside_its_original() {
    // two slots on one node only: no copy can be placed
    let mut plan = plain(&[(1, 2.0, 2, 1.0)], 1, 10.0);
    plan.policy = vec![PolicyPlan { detector: DetectorPlan::Clone, slots: SlotShare::Shared, ..PolicyPlan::default() }];
    assert_eq!(only(&plan).copies, 0);
    plan.cluster.node[0].count = 2;
    let outcome = only(&plan);
    // both end at the same time, and either may count as the first
    assert_eq!(outcome.copies, 1);
    assert!(close(outcome.job_s, 10.0) && close(outcome.used_s, 20.0));
}

#[test]
fn reduces_wait_for_all_maps() {
    let mut plan = plain(&[(1, 4.0, 4, 1.0)], 4, 10.0);
    plan.job[0] = JobPlan { reduces: 2, shuffle_s: 4.0, reduce_s: 6.0, reduce_start_s: 0.0, ..plan.job[0].clone() };
    assert!(close(only(&plan).job_s, 20.0));
    // with one more slot a reduce starts early and has fetched three of four map outputs when the last map ends
    plan.cluster.node[0].slots = 6;
    plan.cluster.node[0].cores = 8.0;
    plan.cluster.node[0].active_cores = Some(8.0);
    plan.job[0].slowstart = 0.0;
    let outcome = only(&plan);
    assert!(close(outcome.job_s, 10.0 + 1.0 + 6.0), "{outcome:?}");
    assert_eq!(outcome.reduces.tasks, 2);
}

#[test]
fn local_blocks_are_read_first_and_remote_ones_cost_more() {
    let mut plan = plain(&[(10, 1.0, 1, 1.0)], 10, 10.0);
    plan.job[0].remote_factor = 2.0;
    plan.job[0].replicas = 10;
    assert!(close(only(&plan).job_s, 10.0), "every block is everywhere");
    plan.job[0].replicas = 1;
    assert!(close(only(&plan).job_s, 20.0), "ten drawn places leave some node without a block");
}

#[test]
fn jobs_are_served_in_order_or_fairly() {
    let mut plan = plain(&[(1, 4.0, 4, 1.0)], 8, 10.0);
    let first = plan.job[0].clone();
    plan.job.push(JobPlan { name: "second".to_owned(), arrival_s: 5.0, ..first });
    // fifo: 8 tasks, then 8: ends at 20 and 40, submitted at 0 and 5
    let fifo = only(&plan);
    assert!(close(fifo.job_s, (20.0 + 35.0) / 2.0) && close(fifo.makespan_s, 40.0), "{fifo:?}");
    // fair: from 10 s on the free slots go to the second job, which has none, until both have two
    plan.cluster.order = JobOrder::Fair;
    let fair = only(&plan);
    assert!(close(fair.job_s, (30.0 + 35.0) / 2.0) && close(fair.makespan_s, 40.0), "{fair:?}");
}

#[test]
fn a_slow_down_slows_and_a_failure_loses() {
    let mut plan = plain(&[(4, 4.0, 8, 1.0)], 64, 15.0);
    let undisturbed = only(&plan).job_s;
    plan.slowdown = Slowdown { mean_between_s: Some(20.0), mean_duration_s: 20.0, factor: 5.0 };
    let slowed: Vec<f64> = outcomes(&plan, 20)[0].iter().map(|outcome| outcome.job_s).collect();
    assert!(
        slowed.iter().all(|&job_s| job_s >= undisturbed - 1e-9)
            && slowed.iter().any(|&job_s| job_s > 1.5 * undisturbed)
    );
    plan.slowdown.mean_between_s = None;
    plan.failure = Failure { mean_between_s: Some(100.0), repair_s: 50.0, expiry_s: 10.0 };
    let failed = &outcomes(&plan, 20)[0];
    assert!(failed.iter().all(|outcome| outcome.maps.tasks == 64 && outcome.job_s >= undisturbed - 1e-9));
    assert!(failed.iter().any(|outcome| outcome.wasted_s > 0.0));
}

/// A node that is slowed by a factor of 5 for 10 s after 50 s on average works at (50 + 10 / 5) / 60 of its speed in the long run. Fails if the two
/// means are exchanged, which takes three times as long.
#[test]
fn slow_downs_take_their_share_of_a_long_task() {
    let mut plan = plain(&[(1, 1.0, 1, 1.0)], 1, 20_000.0);
    plan.slowdown = Slowdown { mean_between_s: Some(50.0), mean_duration_s: 10.0, factor: 5.0 };
    let jobs = &outcomes(&plan, 20)[0];
    let mean = jobs.iter().map(|outcome| outcome.job_s).sum::<f64>() / 20.0;
    let expected = 20_000.0 * 60.0 / 52.0;
    // 333 cycles in each of 20 runs
    assert!((mean / expected - 1.0).abs() < 0.02, "{mean} {expected}");
}

#[test]
fn jobs_that_cannot_end_are_an_error_and_no_hang() {
    let mut plan = plain(&[(1, 1.0, 1, 1.0)], 1, 1000.0);
    plan.failure = Failure { mean_between_s: Some(1.0), repair_s: 1.0, expiry_s: 0.0 };
    let settings = Replications { count: 1, seed: 1, threads: NonZeroUsize::new(1), ..Replications::default() };
    let error = Experiment::new(&plan, settings).unwrap().run(&mut |_| true).unwrap_err();
    assert!(error.to_string().contains("0 of 1 tasks have finished"), "{error}");
}

#[test]
fn same_seed_same_bits_on_1_and_4_threads() {
    let mut plan = Plan::default();
    plan.slowdown.mean_between_s = Some(200.0);
    plan.failure.mean_between_s = Some(2000.0);
    plan.job[0].remote_factor = 1.2;
    let run = |threads| {
        let settings =
            Replications { count: 70, seed: 3, threads: NonZeroUsize::new(threads), ..Replications::default() };
        Experiment::new(&plan, settings).unwrap().run(&mut |_| true).unwrap()
    };
    assert_eq!(run(1), run(4));
    // the last 30 of them by themselves
    let settings = Replications { first: 40, count: 30, seed: 3, ..Replications::default() };
    let last = Experiment::new(&plan, settings).unwrap().run(&mut |_| true).unwrap();
    assert!(last.iter().zip(run(1)).all(|(last, all)| last.outcomes == all.outcomes[40..]));
}

#[test]
fn policies_see_the_same_random_numbers() {
    let mut plan = Plan::default();
    let watched = |policy: &PolicyPlan| PolicyPlan { copies: false, ..policy.clone() };
    plan.policy = plan.policy.iter().map(watched).collect();
    let all = outcomes(&plan, 20);
    for other in &all[1..] {
        for (a, b) in all[0].iter().zip(other) {
            assert_eq!((a.job_s.to_bits(), a.energy_j.to_bits()), (b.job_s.to_bits(), b.energy_j.to_bits()));
        }
    }
}

/// Copies of all tasks are requested at once, on equal nodes with a core per slot: one more slot for copies is like one
/// more machine that processes a fixed list of jobs.
#[test]
fn more_reserved_slots_never_delay_a_copy() {
    for seed in 0..40 {
        let mut last = f64::INFINITY;
        for kept in [0, 1, 2, 4] {
            let mut plan = plain(&[(10, 8.0, 4 + kept, 1.0)], 40, 10.0);
            plan.cluster.node[0].cores = 8.0;
            plan.noise.sigma = 0.5;
            let share = 4.0 / f64::from(4 + kept);
            let slots = SlotShare::Tasks(share);
            plan.policy = vec![PolicyPlan { detector: DetectorPlan::Clone, slots, ..PolicyPlan::default() }];
            let settings = Replications { count: 1, seed, threads: NonZeroUsize::new(1), ..Replications::default() };
            let runs = Experiment::new(&plan, settings).unwrap().run(&mut |_| true).unwrap();
            let outcome = runs[0].outcomes[0];
            // a task that ended before its copy could start has waited at least until then
            assert!(outcome.copies <= 40);
            let wait = if outcome.copies > 0 { outcome.copy_wait_s / f64::from(outcome.copies) } else { f64::INFINITY };
            assert!(wait <= last + 1e-9, "seed {seed}, {kept} kept: {wait} after {last}");
            last = wait;
        }
        assert!(last.abs() < 1e-9, "a slot for every copy: none waits");
    }
}

#[test]
fn tallies_of_real_runs_are_consistent() {
    for outcomes in outcomes(&Plan::default(), 10) {
        for outcome in outcomes {
            let maps = outcome.maps;
            assert_eq!((maps.tasks, outcome.reduces.tasks), (320, 160));
            assert_eq!(maps.stragglers, maps.true_positives + maps.fake_positives + maps.missed);
            assert!(outcome.won <= outcome.copies && outcome.wasted_s <= outcome.used_s);
            assert!(outcome.energy_j <= 20.0 * 133.0 * outcome.makespan_s);
            assert!(outcome.energy_j >= 20.0 * 65.0 * outcome.makespan_s);
        }
    }
}
