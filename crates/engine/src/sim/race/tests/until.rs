//! Goals that must come before other markings, and between two times.

use super::*;
use crate::net::Law;
use crate::sim::Ending;

/// A token moves from `start` to `goal` or to `bad` at these rates, and from `goal` to `done` at rate 2.
fn race(to_goal: f64, to_bad: f64) -> NetBuilder {
    let mut b = NetBuilder::new("race");
    let [start, goal, bad, done] =
        [("start", 1), ("goal", 0), ("bad", 0), ("done", 0)].map(|(id, tokens)| b.place(id, tokens));
    for (id, from, to, rate) in
        [("reach", start, goal, to_goal), ("fail", start, bad, to_bad), ("leave", goal, done, 2.0)]
    {
        add(&mut b, id, Timing::exponential(rate), &[from], &[to]);
    }
    b
}

fn ask(b: &NetBuilder, text: &str, avoid: &str, [earliest, horizon]: [f64; 2]) -> Question {
    let Goal::Marking(avoid) = goal(b, avoid) else { unreachable!("an expression") };
    Question {
        goal: goal(b, text),
        avoid: Some(avoid),
        earliest,
        horizon: Some(horizon).filter(|horizon| horizon.is_finite()),
        ..Question::default()
    }
}

/// Within five standard errors of a probability.
fn assert_share(samples: &Samples, ending: Ending, exact: f64) {
    let share = samples.ended(ending) as f64 / samples.replications as f64;
    let error = (exact * (1.0 - exact) / samples.replications as f64).sqrt();
    assert!((share - exact).abs() <= 5.0 * error && error < 0.003, "{ending:?}: {share}, not {exact}");
}

/// Fails if a marking to avoid does not end the run, or if it ends at the goal.
#[test]
fn the_faster_of_two_exponential_delays_decides() {
    let b = race(1.0, 2.0);
    let program = program(&b);
    for form in BOTH {
        let samples =
            run(form, &program, &ask(&b, "#(goal) = 1", "#(bad) = 1", [0.0, f64::INFINITY]), 100_000).unwrap();
        assert_share(&samples, Ending::Goal, 1.0 / 3.0);
        assert_share(&samples, Ending::Avoided, 2.0 / 3.0);
        assert_passage_mean(&samples, 1.0 / 3.0, 0.01);
        let samples = run(form, &program, &ask(&b, "#(goal) = 1", "#(bad) = 1", [0.0, 0.5]), 100_000).unwrap();
        assert_share(&samples, Ending::Goal, (1.0 - f64::exp(-1.5)) / 3.0);
        assert_share(&samples, Ending::Horizon, f64::exp(-1.5));
    }
}

/// The goal already holds at 1 s, or it is reached between 1 s and 2 s. This test fails without the check at 1 s.
#[test]
fn a_goal_counts_from_the_first_time_on() {
    let b = race(1.0, 0.0);
    let program = program(&b);
    let (e, e2) = (f64::exp(-1.0), f64::exp(-2.0));
    // on the way at 1: e; at the goal at 1: e - e2, as the second stage takes 1/2 s; reached later: e (1 - e)
    let exact = 2.0 * e - e2 - e * e;
    for form in BOTH {
        let samples = run(form, &program, &ask(&b, "#(goal) = 1", "0", [1.0, 2.0]), 100_000).unwrap();
        let held = e - e2;
        assert_share(&samples, Ending::Goal, held + e * (1.0 - e));
        assert!((exact - held - e * (1.0 - e)).abs() < 1e-12);
        // the token has left the goal for good
        assert_share(&samples, Ending::Dead, 1.0 - e - held);
        // a marking that is entered before the first time, and stays
        let samples = run(form, &program, &ask(&b, "#(done) = 1", "0", [3.0, f64::INFINITY]), 2_000).unwrap();
        assert_eq!(samples.ended(Ending::Goal), 2_000);
        assert_eq!(samples.clock.seconds(samples.passage.min().unwrap()).round(), 3.0);
        // avoided before the first time, although it is the goal then
        let samples = run(form, &program, &ask(&b, "#(goal) = 1", "#(goal) = 1", [1.0, 2.0]), 100_000).unwrap();
        assert_share(&samples, Ending::Goal, e * (1.0 - e));
        assert_share(&samples, Ending::Avoided, 1.0 - e);
    }
}

/// The goal holds up to the firing at 2 s, and not at it.
#[test]
fn a_goal_that_ends_at_the_first_time_does_not_count() {
    let mut b = NetBuilder::new("fixed");
    let [start, done] = [("start", 1), ("done", 0)].map(|(id, tokens)| b.place(id, tokens));
    add(&mut b, "wait", Timing::general(Law::Deterministic { delay: 2.0 }), &[start], &[done]);
    let program = program(&b);
    let ended = |earliest: f64| {
        let question = ask(&b, "#(start) = 1", "0", [earliest, 9.0]);
        let samples = run(Form::Clock, &program, &question, 10).unwrap();
        (samples.ended(Ending::Goal), samples.passage.min().map(|ticks| samples.clock.seconds(ticks)))
    };
    assert_eq!((ended(1.0), ended(2.0)), ((10, Some(1.0)), (0, None)));
}
