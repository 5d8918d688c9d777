//! The cheapest size of a job by a price: against closed forms and against all sizes with many replications.

use tailspn::StudyError;
use tailspn::job_time::{estimate_stages, job_times};
use tailspn::mapreduce::Plan;
use tailspn::optimize::{Answer, Measure, PriceError, Sizing, SizingOutcome};
use tailspn::plan::JobPlan;
use tailspn::sim::{Ensemble, Unwatched};
use tailspn::stages::StagePlan;

/// One stage of `tasks` tasks of 10 s.
fn stages(tasks: u32, distribution: &str, deadline_s: f64) -> StagePlan {
    let mut plan = StagePlan::from_toml(&format!(
        "[job]\ninput_mb = 100\nexecutors = 4\ncores = 1\ndeadline_s = {deadline_s}\n[[stage]]\n\
         distribution = {distribution}\ntasks = {{ fixed = {tasks} }}\ncold = {{ fixed_s = 10 }}\nwarm = {{ fixed_s = 10 }}\n"
    ))
    .unwrap();
    plan.run.sigma = 0.0;
    plan
}

fn sizing(plan: StagePlan, price: &str) -> Sizing {
    Sizing::new(JobPlan::Stages(Box::new(plan)), Some(price.parse().unwrap())).unwrap()
}

fn found(sizing: &Sizing) -> SizingOutcome {
    sizing.run(&Unwatched).unwrap()
}

/// The chosen size, axis by axis.
fn chosen(found: &SizingOutcome) -> Option<Vec<i64>> {
    let values = &found.outcome.chosen()?.point.values;
    Some(values.iter().map(|value| value.as_ref().unwrap().as_integer().unwrap()).collect())
}

/// Without chance, 24 tasks take ⌈24 / e⌉ · 10 seconds on e executors. At 3600 an executor-hour a second costs 1, so that divisors of 24 cost
/// 240 and other numbers more; of equal costs, the fewest executors come first.
///
/// ```text
/// executors    1    2    3    4    5    6    7    8    9   12   24
/// time       240  120   80   60   50   40   40   30   30   20   10
/// cost       240  240  240  240  250  240  280  240  270  240  240
/// ```
#[test]
fn without_chance_the_cheapest_size_is_known() {
    for (deadline_s, expected) in [(100.0, 3), (65.0, 4), (55.0, 6), (46.0, 6), (36.0, 8)] {
        let plan = stages(24, "\"deterministic\"", deadline_s);
        let price = "3600/executor-hour";
        for search in [sizing(plan.clone(), price).machines(1..=30), sizing(plan.clone(), price)] {
            let found = found(&search);
            assert_eq!(chosen(&found), Some(vec![expected, 1]), "{deadline_s}");
            let Answer::Cheapest(look) = found.outcome.found.answer else { panic!("{:?}", found.outcome.found.answer) };
            let stated = found.outcome.found.looks[look].cost.clone().unwrap();
            assert!((stated.value - 240.0).abs() < 0.01, "{stated:?}");
        }
    }
}

/// By the core, 6 slots are the fewest that meet the deadline; by the executor, more cores are free.
#[test]
fn prices_by_core_and_by_executor_choose_other_cores() {
    let plan = stages(24, "\"deterministic\"", 46.0);
    let by_core = found(&sizing(plan.clone(), "3600/core-hour").machines(1..=12).cores([1, 2, 3]));
    let slots: i64 = chosen(&by_core).unwrap().iter().product();
    assert_eq!(slots, 6);
    let by_executor = found(&sizing(plan, "3600/executor-hour").machines(1..=12).cores([1, 2, 3]));
    // 2 executors of 3 cores: 40 s, 80; one executor has 3 slots at most and takes 80 s
    assert_eq!(chosen(&by_executor), Some(vec![2, 3]));
}

/// All sizes with many replications, one by one, agree with the search over the same sizes and with the search that finds its own: within
/// the indifference of the search, and the error of the comparison.
#[test]
#[ignore = "takes half a minute; `.ci/nightly` runs it"]
fn all_sizes_with_many_replications_agree() {
    for deadline_s in [130.0, 250.0] {
        let plan = stages(100, "{ lognormal = { cv = 0.8 } }", deadline_s);
        let ensemble = Ensemble { replications: 4000, seed: 77, ..Ensemble::default() };
        let of_size = |executors: u32| {
            let mut plan = plan.clone();
            plan.job.executors = executors;
            let samples = estimate_stages(&plan, &ensemble, 0.95, &Unwatched).unwrap().run.samples;
            let tick = samples.clock.tick();
            // 5 standard errors
            let p95 = samples.passage_histogram.quantile_interval(0.95, 0.999_999_4).unwrap();
            let cost = samples.passage.mean_estimate(0.95).unwrap().scaled(tick * f64::from(executors));
            ([p95.low * tick, p95.high * tick], [cost.value, cost.half_width / 1.96])
        };
        let sizes: Vec<_> = (1..=40).map(of_size).collect();
        let price = "1/executor-hour";
        for search in [sizing(plan.clone(), price).machines(1..=40), sizing(plan.clone(), price)] {
            let size = chosen(&found(&search)).unwrap()[0];
            let ([p95, _], [cost, error]) = sizes[size as usize - 1];
            assert!(p95 <= 1.01 * deadline_s, "{size}: {p95}");
            // the search is indifferent to 1%
            for ([_, _], [other, other_error]) in sizes.iter().filter(|size| size.0[1] <= 0.99 * deadline_s) {
                assert!(cost - 1.01 * other <= 5.0 * error.hypot(*other_error), "{size}: {cost} {other}");
            }
        }
    }
}

#[test]
fn workers_of_mapreduce_are_chosen_by_node_hours() {
    let text = "[job]\ninput_mb = 2560\nreduces = 4\ndeadline_s = 300\n[model]\nslots = true\n[[cluster.node]]\ncount = 4\nmap_slots = 2\nreduce_slots = 2\n";
    let plan = Plan::from_toml(text).unwrap();
    let ensemble = Ensemble { replications: 4000, seed: 5, keep: true, ..Ensemble::default() };
    let of_size = |workers: u32| {
        let mut plan = plan.clone();
        plan.cluster.node[0].count = workers.into();
        let samples = job_times(&plan, &ensemble, &Unwatched).unwrap().samples;
        let mut times: Vec<f64> = samples.passage_times.iter().map(|&ticks| samples.clock.seconds(ticks)).collect();
        times.sort_unstable_by(f64::total_cmp);
        let cost = samples.passage.mean_estimate(0.95).unwrap().scaled(samples.clock.tick() * f64::from(workers));
        (workers, times[times.len() * 95 / 100], cost.value, cost.half_width / 1.96)
    };
    let sizes: Vec<_> = (1..=12).map(of_size).collect();
    // a deadline in the middle between two sizes
    let deadline_s = 0.5 * (sizes[2].1 + sizes[3].1);
    let mut plan = plan.clone();
    plan.job.deadline_s = Some(deadline_s);
    let right = sizes.iter().filter(|size| size.1 <= deadline_s).min_by(|a, b| a.2.total_cmp(&b.2)).unwrap();
    let search = Sizing::new(JobPlan::MapReduce(Box::new(plan)), Some("0.40/node-hour".parse().unwrap())).unwrap();
    let found = found(&search.machines(1..=12));
    let workers = chosen(&found).unwrap()[0];
    let (_, _, cost, error) = sizes[workers as usize - 1];
    assert!(cost - 1.01 * right.2 <= 5.0 * error.hypot(right.3), "{workers} {sizes:?}");
}

#[test]
fn a_deadline_that_no_size_meets_has_a_closest_one() {
    let search = sizing(stages(24, "\"deterministic\"", 9.0), "1/executor-hour");
    let found = found(&search);
    assert_eq!((found.outcome.found.answer, chosen(&found)), (Answer::None, None));
    let closest = found.outcome.found.closest().unwrap();
    assert_eq!(closest.judgement.time_s.as_ref().map(|time| time.value), Some(10.0));
}

#[test]
fn prices_that_do_not_fit_the_plan_are_refused() {
    let plan = || JobPlan::Stages(Box::new(stages(24, "\"deterministic\"", 50.0)));
    let refused = |job: JobPlan, price: &str| match Sizing::new(job, Some(price.parse().unwrap())) {
        Err(StudyError::Price(error)) => error,
        other => panic!("{other:?}"),
    };
    assert!(matches!(refused(plan(), "1/node-hour"), PriceError::Unit { .. }));
    let job = |text: &str| JobPlan::from_toml(text).unwrap();
    let mapreduce = "[job]\nreduces = 2\ndeadline_s = 9\n";
    assert!(matches!(refused(job(mapreduce), "1/core-hour"), PriceError::Unit { .. }));
    assert_eq!(refused(job("[job]\nreduces = 2\n"), "1/node-hour"), PriceError::NoDeadline);
    let kinds = format!("{mapreduce}[[cluster.node]]\ncount = 2\n[[cluster.node]]\ncount = 3\n");
    assert_eq!(refused(job(&kinds), "1/node-hour"), PriceError::SeveralKinds { kinds: 2 });
    let without = Sizing::new(plan(), None).unwrap();
    assert_eq!((without.price.cost_unit().as_str(), without.measure), ("core-hours", Measure::Quantile(0.95)));
}
