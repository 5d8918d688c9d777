//! Nets that are dead, stuck, wrong or unbounded.

use super::*;
use crate::net::{Delay, Law, Memory, Servers};
use crate::sim::Ending;

fn with_rate(b: &NetBuilder, text: &str) -> Timing {
    let rate = b.expression(text).expect("an expression");
    Timing::Timed { delay: Delay::Exponential { rate }, servers: Servers::Single, memory: Memory::Enabling }
}

#[test]
fn a_net_that_is_dead_at_once_ends_at_time_zero() {
    let mut b = NetBuilder::new("dead");
    let p = b.place("p", 0);
    add(&mut b, "t", Timing::exponential(1.0), &[p], &[]);
    // enabled but never fires, so it does not keep the net alive
    b.transition("never", Timing::exponential(0.0));
    let program = program(&b);
    let cases = [
        (Goal::Dead, None, Ending::Goal),
        (Goal::Dead, Some(3.0), Ending::Goal),
        (goal(&b, "#(p) = 0"), None, Ending::Goal),
        (goal(&b, "#(p) = 1"), Some(3.0), Ending::Dead),
        (Goal::Horizon, None, Ending::Dead),
        (Goal::Horizon, Some(3.0), Ending::Horizon),
    ];
    for form in BOTH {
        for (goal, horizon, ending) in &cases {
            let question = Question { goal: goal.clone(), horizon: *horizon, ..Question::default() };
            let samples = run(form, &program, &question, 5).unwrap();
            assert_eq!(samples.ended(*ending), 5, "{form:?} {goal:?} {horizon:?}");
            assert_eq!(samples.firings, 0);
            if *ending == Ending::Goal {
                assert_eq!((samples.passage.count(), samples.passage.mean_ticks()), (5, Some(0.0)));
            }
        }
    }
}

#[test]
fn a_net_without_transitions_is_dead() {
    let mut b = NetBuilder::new("nothing");
    b.place("p", 1);
    for form in BOTH {
        assert_eq!(run(form, &program(&b), &Question::default(), 3).unwrap().ended(Ending::Goal), 3);
    }
}

#[test]
fn a_loop_of_immediate_transitions_is_named() {
    let mut b = NetBuilder::new("loop");
    let [start, p, q, other] = [("start", 1), ("p", 0), ("q", 0), ("other", 1)].map(|(id, n)| b.place(id, n));
    add(&mut b, "t", Timing::exponential(1.0), &[start], &[p]);
    add(&mut b, "there", Timing::immediate(1.0, 1), &[p], &[q]);
    add(&mut b, "back", Timing::immediate(1.0, 2), &[q], &[p]);
    add(&mut b, "innocent", Timing::immediate(1.0, 1), &[other], &[]);
    let expected = Fault::VanishingLoop { transitions: vec!["there".into(), "back".into()] };
    for form in BOTH {
        assert_eq!(run(form, &program(&b), &Question::default(), 1).unwrap_err(), expected);
    }
    b.place_mut(p).initial = vec![1];
    for form in BOTH {
        assert_eq!(run(form, &program(&b), &Question::default(), 1).unwrap_err(), expected);
    }
}

#[test]
fn a_loop_of_delays_of_zero_is_an_error_and_not_a_hang() {
    let mut b = NetBuilder::new("standing time");
    let [start, p, q] = [("start", 1), ("p", 0), ("q", 0)].map(|(id, n)| b.place(id, n));
    let after = |delay| Timing::general(Law::Deterministic { delay });
    add(&mut b, "t", after(2.0), &[start], &[p]);
    add(&mut b, "there", after(0.0), &[p], &[q]);
    add(&mut b, "back", after(0.0), &[q], &[p]);
    let fault = run(Form::Clock, &program(&b), &Question::default(), 1).unwrap_err();
    assert!(matches!(fault, Fault::StandingTime { time, .. } if time == 2.0), "{fault}");
    let question = Question { max_firings: Some(1000), ..Question::default() };
    assert_eq!(run(Form::Clock, &program(&b), &question, 1).unwrap().ended(Ending::Firings), 1);
}

#[test]
fn a_place_that_runs_over_is_named() {
    let mut b = NetBuilder::new("explosion");
    let p = b.place("p", 0);
    let t = b.transition("t", Timing::exponential(1.0));
    b.output(t, p, f64::from(1 << 30));
    for form in BOTH {
        let fault = run(form, &program(&b), &Question::default(), 1).unwrap_err();
        assert_eq!(fault, Fault::TooManyTokens { place: "p".into(), transition: "t".into() });
    }
}

#[test]
fn a_rate_that_becomes_negative_or_absurd_is_named() {
    let mut b = NetBuilder::new("rates");
    let p = b.place("p", 3);
    let negative = with_rate(&b, "#(p) - 2");
    add(&mut b, "t", negative, &[], &[]);
    add(&mut b, "u", Timing::exponential(1.0), &[p], &[]);
    for form in BOTH {
        let fault = run(form, &program(&b), &Question::default(), 1).unwrap_err();
        assert_eq!(fault, Fault::BadValue { what: "rate", transition: "t".into(), value: -1.0 });
    }
    let mut b = NetBuilder::new("absurd");
    let p = b.place("p", 1);
    let absurd = with_rate(&b, "if(#(p) > 0, 1, 10000000000000000000)");
    add(&mut b, "t", absurd, &[], &[]);
    add(&mut b, "u", Timing::exponential(1.0), &[p], &[]);
    let fault = run(Form::Direct, &program(&b), &Question::default(), 1).unwrap_err();
    assert!(matches!(fault, Fault::BadValue { what: "rate", .. }), "{fault}");
}

#[test]
fn endings_by_horizon_and_by_firings_are_counted() {
    let mut b = NetBuilder::new("clockwork");
    b.transition("t", Timing::exponential(1.0));
    for form in BOTH {
        let question = Question { horizon: Some(50.0), ..Question::default() };
        let samples = run(form, &program(&b), &question, 1000).unwrap();
        assert_eq!(samples.ended(Ending::Horizon), 1000);
        // Poisson with mean 50 each
        assert!((samples.firings as f64 - 50_000.0).abs() < 5.0 * 50_000_f64.sqrt());
        let question = Question { max_firings: Some(77), ..Question::default() };
        let samples = run(form, &program(&b), &question, 10).unwrap();
        assert_eq!((samples.ended(Ending::Firings), samples.firings), (10, 770));
    }
}

#[test]
fn a_run_past_the_end_of_the_clock_asks_for_a_horizon() {
    let mut b = NetBuilder::new("for ever");
    b.transition("t", Timing::exponential(1.0));
    let program = program(&b);
    // a clock whose last tick is at 2^20 s
    let clock = Clock { exponent: -43, extra_bits: 0, wide: false };
    for form in BOTH {
        let fault = run_on(form, &program, &Question::default(), 1, clock).unwrap_err();
        assert!(matches!(fault, Fault::PastTheClock { limit } if limit == 1_048_576.0), "{fault}");
    }
}
