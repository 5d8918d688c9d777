//! Tests of splitting against closed forms.

use super::*;
use crate::net::{Expr, Law, NetBuilder, Timing};
use crate::sim::{Condition, Question};

/// A queue with arrivals at rate `load` and service at rate 1, which holds one customer.
fn queue(load: f64) -> Net {
    let mut b = NetBuilder::new("queue");
    let queue = b.place("queue", 1);
    let (arrive, serve) =
        (b.transition("arrive", Timing::exponential(load)), b.transition("serve", Timing::exponential(1.0)));
    b.output(arrive, queue, 1.0);
    b.input(queue, serve, 1.0);
    b.build().unwrap()
}

/// Gambler's ruin: the probability, starting from one customer, of reaching `top` customers before none.
fn ruin(load: f64, top: i32) -> f64 {
    let ratio = 1.0 / load;
    (ratio - 1.0) / (ratio.powi(top) - 1.0)
}

fn full_before_empty(net: &Net, top: i32) -> RareEvent {
    let avoid = Some(Condition::new(net, "#(queue) == 0").unwrap());
    let question = Question { avoid, ..Question::until(net, &format!("#(queue) >= {top}")).unwrap() };
    RareEvent::before(net, &question, None).unwrap()
}

#[test]
fn filling_a_queue_before_it_empties_has_the_ruin_probability() {
    for (load, top, seed) in [(0.25, 20, 1), (0.5, 40, 2), (0.9, 8, 3), (0.1, 3, 4)] {
        let net = queue(load);
        let found = Splitting { seed, batches: 64, effort: 1000, ..Splitting::default() }
            .run(&net, &full_before_empty(&net, top));
        let found = found.unwrap();
        let (value, exact) = (found.probability.value, ruin(load, top));
        let error = found.relative_error.unwrap();
        assert!(error < 0.08, "{load} {top}: {error}");
        assert!((value / exact - 1.0).abs() < 5.0 * error, "{load} {top}: {value} instead of {exact}, error {error}");
    }
}

/// The last of `n` tasks ends after `d`: 1 - (1 - exp(-d))^n.
#[test]
fn a_late_task_has_its_exact_probability() {
    let mut b = NetBuilder::new("tasks");
    for i in 0..12 {
        let (todo, done) = (b.place(format!("todo{i}"), 1), b.place(format!("done{i}"), 0));
        let task = b.transition(format!("task{i}"), Timing::exponential(1.0));
        b.input(todo, task, 1.0);
        b.output(task, done, 1.0);
    }
    let net = b.build().unwrap();
    for (limit, fold) in [(4.0, true), (20.0, true), (20.0, false)] {
        let event = RareEvent::beyond(&net, &Question { horizon: Some(limit), ..Question::default() }, None).unwrap();
        let found = Splitting { fold, seed: 7, ..Splitting::default() }.run(&net, &event).unwrap();
        let exact = -(12.0 * (-(-limit).exp()).ln_1p()).exp_m1();
        let error = found.relative_error.unwrap();
        assert!(error < 0.06, "{limit}: {error}");
        assert!((found.probability.value / exact - 1.0).abs() < 5.0 * error, "{limit}: {found:?} instead of {exact}");
        assert_eq!(found.folded.is_some(), fold);
    }
}

/// Twelve arrivals within a short time: the tail of a Poisson distribution.
#[test]
fn many_arrivals_within_a_short_time_have_the_poisson_tail() {
    let mut b = NetBuilder::new("arrivals");
    let count = b.place("count", 0);
    let arrive = b.transition("arrive", Timing::exponential(1.0));
    b.output(arrive, count, 1.0);
    let net = b.build().unwrap();
    let question = Question { horizon: Some(0.5), ..Question::until(&net, "#(count) >= 12").unwrap() };
    let event = RareEvent::before(&net, &question, None).unwrap();
    let found = Splitting { batches: 64, effort: 10_000, ..Splitting::default() }.run(&net, &event).unwrap();
    let mut term = (-0.5_f64).exp();
    let below: Vec<f64> = (1..40)
        .map(|k| {
            let now = term;
            term *= 0.5 / f64::from(k);
            now
        })
        .collect();
    let exact: f64 = below[12..].iter().sum();
    let error = found.relative_error.unwrap();
    assert!((found.probability.value / exact - 1.0).abs() < 5.0 * error && error < 0.1, "{found:?} {exact}");
}

#[test]
fn runs_that_never_reach_the_goal_count_as_late() {
    let mut b = NetBuilder::new("may stop");
    let (start, good, bad) = (b.place("start", 1), b.place("good", 0), b.place("bad", 0));
    for (name, to, rate) in [("win", good, 1e-4), ("lose", bad, 1.0)] {
        let t = b.transition(name, Timing::exponential(rate));
        b.input(start, t, 1.0);
        b.output(t, to, 1.0);
    }
    let net = b.build().unwrap();
    let question = Question { horizon: Some(1000.0), ..Question::until(&net, "#(bad) >= 1").unwrap() };
    let event = RareEvent::beyond(&net, &question, None).unwrap();
    let found = Splitting { effort: 20_000, ..Splitting::default() }.run(&net, &event).unwrap();
    let exact = 1e-4 / 1.0001;
    let error = found.relative_error.unwrap();
    assert!((found.probability.value / exact - 1.0).abs() < 5.0 * error, "{found:?}");
}

/// Immediate transitions: each customer is urgent with probability 0.1, and only urgent ones stay.
#[test]
fn splitting_handles_immediate_choices() {
    let mut b = NetBuilder::new("urgent");
    let (queue, new) = (b.place("queue", 1), b.place("new", 0));
    let (arrive, serve) =
        (b.transition("arrive", Timing::exponential(2.0)), b.transition("serve", Timing::exponential(1.0)));
    let (urgent, other) =
        (b.transition("urgent", Timing::immediate(0.1, 1)), b.transition("other", Timing::immediate(0.9, 1)));
    b.output(arrive, new, 1.0);
    for t in [urgent, other] {
        b.input(new, t, 1.0);
    }
    b.output(urgent, queue, 1.0);
    b.input(queue, serve, 1.0);
    let net = b.build().unwrap();
    let found = Splitting { batches: 64, effort: 1000, ..Splitting::default() }
        .run(&net, &full_before_empty(&net, 12))
        .unwrap();
    let (exact, error) = (ruin(0.2, 12), found.relative_error.unwrap());
    assert!((found.probability.value / exact - 1.0).abs() < 5.0 * error && error < 0.1, "{found:?} {exact}");
}

#[test]
fn results_do_not_depend_on_threads() {
    let net = queue(0.3);
    let event = full_before_empty(&net, 15);
    let run = |threads| {
        let threads = NonZeroUsize::new(threads);
        Splitting { threads, batches: 7, effort: 200, ..Splitting::default() }.run(&net, &event).unwrap()
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn events_that_cannot_be_split_are_refused() {
    let net = queue(0.5);
    let run = |event: &RareEvent| Splitting { batches: 2, effort: 50, ..Splitting::default() }.run(&net, event);
    let until = |goal| Question::until(&net, goal).unwrap();
    assert_eq!(RareEvent::before(&net, &until("#(queue) >= 9"), None), Err(RareError::Unlimited));
    assert_eq!(RareEvent::beyond(&net, &until("#(queue) >= 9"), None), Err(RareError::Unlimited));
    let averages = Question { tokens: true, horizon: Some(1.0), ..until("#(queue) >= 9") };
    let error = RareEvent::before(&net, &averages, None).unwrap_err();
    assert_eq!(error, RareError::Unsupported { what: "averages" });
    let before = |goal, importance| {
        let question = Question { avoid: Condition::new(&net, "#(queue) == 0").ok(), ..until(goal) };
        RareEvent::before(&net, &question, importance).unwrap()
    };
    assert_eq!(run(&before("#(queue) % 9 == 8 && #(queue) > 9", None)), Err(RareError::NoImportance));
    let flat = run(&before("#(queue) >= 90", Some(Expr::Number(3.0))));
    assert_eq!(flat, Err(RareError::NoWay { reached: 3.0 }));

    let mut b = NetBuilder::new("from nanoseconds to days");
    for (name, delay) in [("short", 1e-9), ("long", 1e6)] {
        let (start, end) = (b.place(format!("before {name}"), 1), b.place(format!("after {name}"), 0));
        let t = b.transition(name, Timing::general(Law::Deterministic { delay }));
        b.input(start, t, 1.0);
        b.output(t, end, 1.0);
    }
    let wide = b.build().unwrap();
    let event = RareEvent::beyond(&wide, &Question { horizon: Some(1.0), ..Question::default() }, None).unwrap();
    assert_eq!(Splitting::default().run(&wide, &event), Err(RareError::Delays));
}

/// 95% intervals cover the exact value in at least 272 of 300 runs.
#[test]
fn intervals_cover_the_exact_probability() {
    let net = queue(0.3);
    let event = full_before_empty(&net, 10);
    let exact = ruin(0.3, 10);
    let covers = |seed| {
        let found = Splitting { seed, batches: 12, effort: 100, level: 0.95, ..Splitting::default() }
            .run(&net, &event)
            .unwrap();
        let [low, high] = found.probability.ends().unwrap();
        u32::from(low <= exact && exact <= high)
    };
    let covering: u32 = (0..300).map(covers).sum();
    assert!(covering >= 272, "{covering} of 300");
}
