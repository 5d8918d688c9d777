//! Tests of splitting with delays that are not exponential, against closed forms and plain simulation.

use super::*;
use crate::net::{Branch, Delay, Law, Memory, NetBuilder, Servers, Timing};
use crate::sim::sampler::tests::survival;
use crate::sim::{Condition, Ensemble, run};

/// `chains` parallel chains of delays; the net ends when the last chain ends.
fn parallel(chains: u32, delays: &[Law]) -> Net {
    let mut b = NetBuilder::new("chains");
    for i in 0..chains {
        let mut at = b.place(format!("p{i}"), 1);
        for (k, delay) in delays.iter().enumerate() {
            let next = b.place(format!("p{i} {k}"), 0);
            let t = b.transition(format!("t{i} {k}"), Timing::general(delay.clone()));
            b.input(at, t, 1.0);
            b.output(t, next, 1.0);
            at = next;
        }
    }
    b.build().unwrap()
}

/// Compares the probability of an end after `limit` with its exact value.
fn check_late(net: &Net, limit: f64, exact: f64, settings: Splitting<'_>) {
    let event = RareEvent::beyond(net, &Question { horizon: Some(limit), ..Question::default() }, None).unwrap();
    check(net, &event, exact, settings);
}

fn check(net: &Net, event: &RareEvent, exact: f64, settings: Splitting<'_>) {
    let found = settings.run(net, event).unwrap();
    let (value, error) = (found.probability.value, found.relative_error.unwrap());
    assert!(error < 0.15, "{}: error {error}, {found:?}", net.name());
    assert!((value / exact - 1.0).abs() < 5.0 * error, "{}: {value} instead of {exact}, error {error}", net.name());
}

const SMALL: Splitting<'static> =
    Splitting { effort: 1000, batches: 32, seed: 5, threads: None, level: 0.95, fold: true, watch: &Unwatched };

#[test]
fn a_late_task_of_every_distribution_has_its_exact_probability() {
    let branch = |probability, mean| Branch { probability, mean };
    for (law, limit) in [
        (Law::Uniform { low: 1.0, high: 2.0 }, 2.0 - 1e-8),
        (Law::Erlang { stages: 5, mean: 2.0 }, 12.0),
        (Law::Hyperexponential { branches: vec![branch(0.9, 0.5), branch(0.1, 4.0)] }, 60.0),
        (Law::LogNormal { mean: 2.0, cv: 0.5 }, 30.0),
        (Law::Weibull { shape: 3.0, scale: 2.0 }, 5.5),
        (Law::Weibull { shape: 0.7, scale: 2.0 }, 120.0),
        (Law::Pareto { shape: 6.0, scale: 5.0 }, 80.0),
    ] {
        let late = survival(&law, limit);
        let exact = -(12.0 * (-late).ln_1p()).exp_m1();
        assert!(exact < 1e-5, "{law:?} {exact}");
        let net = parallel(12, &[law]);
        check_late(&net, limit, exact, SMALL);
        check_late(&net, limit, exact, Splitting { fold: false, ..SMALL });
    }
}

/// 160 maps that start together; each takes 10 s plus a Weibull delay.
#[test]
fn a_late_map_of_160_has_its_exact_probability() {
    let tail = Law::Weibull { shape: 2.0, scale: 3.0 };
    let net = parallel(160, &[Law::Deterministic { delay: 10.0 }, tail.clone()]);
    let exact = -(160.0 * (-survival(&tail, 14.0)).ln_1p()).exp_m1();
    assert!(exact < 1e-6, "{exact}");
    check_late(&net, 24.0, exact, Splitting { effort: 500, batches: 16, ..SMALL });
}

/// The sum of n uniform delays is within x of its maximum with probability `x^n / n!`. A sum of Erlang delays is Erlang.
#[test]
fn a_late_chain_of_delays_has_its_exact_probability() {
    let net = parallel(1, &vec![Law::Uniform { low: 0.0, high: 1.0 }; 6]);
    check_late(&net, 5.0, 1.0 / 720.0, SMALL);
    let net = parallel(1, &vec![Law::Erlang { stages: 2, mean: 2.0 }; 6]);
    let exact = survival(&Law::Erlang { stages: 12, mean: 12.0 }, 45.0);
    assert!(exact < 1e-8, "{exact}");
    check_late(&net, 45.0, exact, SMALL);
}

/// A queue that starts with one customer.
fn queue(arrival: Timing, service: Timing) -> Net {
    let mut b = NetBuilder::new("queue");
    let queue = b.place("queue", 1);
    let (arrive, serve) = (b.transition("arrive", arrival), b.transition("serve", service));
    b.output(arrive, queue, 1.0);
    b.input(queue, serve, 1.0);
    b.build().unwrap()
}

fn full_before_empty(net: &Net, top: usize) -> RareEvent {
    let avoid = Some(Condition::new(net, "#(queue) == 0").unwrap());
    let question = Question { avoid, ..Question::until(net, &format!("#(queue) >= {top}")).unwrap() };
    RareEvent::before(net, &question, None).unwrap()
}

/// Poisson probabilities of 0, 1, ... events with the mean `load`.
fn poisson(load: f64, count: usize) -> Vec<f64> {
    let next = |p: &mut (f64, f64)| {
        let now = p.0;
        *p = (p.0 * load / p.1, p.1 + 1.0);
        Some(now)
    };
    let mut at = ((-load).exp(), 1.0);
    std::iter::from_fn(|| next(&mut at)).take(count).collect()
}

/// The smallest solution of `h = step(h)` with `h[top] = 1`, by iteration.
fn solved(top: usize, step: impl Fn(&[f64], usize) -> f64) -> Vec<f64> {
    let mut h = vec![0.0; top + 1];
    h[top] = 1.0;
    for _ in 0..2000 {
        for j in 1..top {
            h[j] = step(&h, j);
        }
    }
    h
}

/// M/D/1: `h[j]` is the probability of a full queue before an empty one when a service starts with `j` customers.
#[test]
fn a_queue_with_fixed_service_fills() {
    let (load, top) = (0.3, 12);
    let arrivals = poisson(load, 60);
    let h = solved(top, |h, j| {
        let full: f64 = arrivals[top - j..].iter().sum();
        full + (0..top - j).map(|a| arrivals[a] * h[j - 1 + a]).sum::<f64>()
    });
    let net = queue(Timing::exponential(load), Timing::general(Law::Deterministic { delay: 1.0 }));
    assert!(h[1] < 1e-6, "{}", h[1]);
    check(&net, &full_before_empty(&net, top), h[1], SMALL);
}

/// D/M/1: `h[j]` is the probability of a full queue before an empty one when an arrival leaves `j` customers.
fn fixed_arrivals(rate: f64, top: usize) -> (Net, f64) {
    let served = poisson(rate, 60);
    let h = solved(top, |h, j| (0..j).map(|s| served[s] * h[j - s + 1]).sum());
    (queue(Timing::general(Law::Deterministic { delay: 1.0 }), Timing::exponential(rate)), h[1])
}

#[test]
fn a_queue_with_fixed_arrivals_fills() {
    let (net, exact) = fixed_arrivals(4.0, 8);
    assert!(exact < 1e-8, "{exact}");
    check(&net, &full_before_empty(&net, 8), exact, SMALL);
}

/// Each of 10 tasks takes 1 s with probability 1/20. The event is that three tasks finish by 1.5 s, all at the same tick.
#[test]
fn delays_that_end_together_have_their_exact_probability() {
    let samples = [1.0].into_iter().chain([2.0; 19]).collect();
    let task = Timing::general(Law::Empirical { samples });
    let mut b = NetBuilder::new("together");
    let done = b.place("done", 0);
    for i in 0..10 {
        let todo = b.place(format!("todo{i}"), 1);
        let t = b.transition(format!("task{i}"), task.clone());
        b.input(todo, t, 1.0);
        b.output(t, done, 1.0);
    }
    let net = b.build().unwrap();
    let fewer: f64 =
        (0..3).zip([1.0, 10.0, 45.0]).map(|(k, ways)| ways * 0.05_f64.powi(k) * 0.95_f64.powi(10 - k)).sum();
    let question = Question { horizon: Some(1.5), ..Question::until(&net, "#(done) >= 3").unwrap() };
    let event = RareEvent::before(&net, &question, None).unwrap();
    check(&net, &event, 1.0 - fewer, SMALL);
    check(&net, &event, 1.0 - fewer, Splitting { fold: false, ..SMALL });
}

/// Failures interrupt work on several servers, with either memory, and immediate transitions route the results. A moderate
/// probability agrees with plain simulation.
#[test]
fn interrupted_work_agrees_with_plain_simulation() {
    let general = |law, servers, memory| Timing::Timed { delay: Delay::General(law), servers, memory };
    for memory in [Memory::Age, Memory::Enabling] {
        let mut b = NetBuilder::new("interrupted");
        let (todo, made, done) = (b.place("todo", 6), b.place("made", 0), b.place("done", 0));
        let (up, down) = (b.place("up", 1), b.place("down", 0));
        let weibull = Law::Weibull { shape: 2.0, scale: 2.0 };
        let work = b.transition("work", general(weibull, Servers::Limited(2), memory));
        let fail = b.transition("fail", Timing::exponential(0.3));
        let repair = b.transition("repair", Timing::general(Law::Uniform { low: 0.5, high: 1.5 }));
        let (good, bad) =
            (b.transition("good", Timing::immediate(0.9, 1)), b.transition("bad", Timing::immediate(0.1, 1)));
        b.input(todo, work, 1.0);
        b.test(up, work, 1.0);
        b.output(work, made, 1.0);
        b.input(up, fail, 1.0);
        b.inhibitor(done, fail, 6.0);
        b.output(fail, down, 1.0);
        b.input(down, repair, 1.0);
        b.output(repair, up, 1.0);
        b.input(made, good, 1.0);
        b.output(good, done, 1.0);
        b.input(made, bad, 1.0);
        b.output(bad, todo, 1.0);
        let net = b.build().unwrap();
        let limit = if memory == Memory::Age { 14.0 } else { 20.0 };
        let program = compile(&net).unwrap();
        let question = Question::until(&net, "#(done) >= 6").unwrap();
        let ensemble = Ensemble { replications: 200_000, seed: 3, ..Ensemble::default() };
        let samples = run(&program, &question, &ensemble, &Unwatched).unwrap().samples;
        let plain = 1.0 - samples.passage_histogram.cdf(samples.clock.ticks(limit)).unwrap();
        assert!((0.02..0.2).contains(&plain), "{plain}");
        let event = RareEvent::beyond(&net, &Question { horizon: Some(limit), ..question }, None).unwrap();
        let found = Splitting { effort: 4000, ..SMALL }.run(&net, &event).unwrap();
        let value = found.probability.value;
        let plain_error = (plain * (1.0 - plain) / 200_000.0).sqrt();
        let error = (value * found.relative_error.unwrap()).hypot(plain_error);
        assert!(error < 0.02 * plain, "{error} {plain}");
        assert!((value - plain).abs() < 5.0 * error, "{memory:?}: {value} {plain}, error {error}");
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let (net, _) = fixed_arrivals(2.0, 6);
    let run = |threads| {
        let threads = NonZeroUsize::new(threads);
        Splitting { threads, batches: 7, effort: 200, ..SMALL }.run(&net, &full_before_empty(&net, 6)).unwrap()
    };
    assert_eq!(run(1), run(3));
}

/// 95% intervals cover the exact value in at least 272 of 300 runs.
#[test]
fn intervals_cover_the_exact_probability() {
    let (net, exact) = fixed_arrivals(2.0, 6);
    let event = full_before_empty(&net, 6);
    let covers = |seed| {
        let found = Splitting { seed, batches: 12, effort: 100, ..SMALL }.run(&net, &event).unwrap();
        let [low, high] = found.probability.ends().unwrap();
        u32::from(low <= exact && exact <= high)
    };
    let covering: u32 = (0..300).map(covers).sum();
    assert!(covering >= 272, "{covering} of 300");
}
