//! Enabling and age memory of delays that are not exponential, in scenarios that can be followed by hand: transitions with fixed delays
//! disable the transition and enable it again, so that every completion time, or its distribution, is known.

use super::*;
use crate::net::{Delay, Law, Memory, Servers, Timing};

fn fixed(delay: f64) -> Timing {
    Timing::general(Law::Deterministic { delay })
}

fn timed(law: Law, servers: Servers, memory: Memory) -> Timing {
    Timing::Timed { delay: Delay::General(law), servers, memory }
}

/// Times at which `out` gets its first, second, ... token in one replication [s].
fn completions(b: &NetBuilder, count: usize) -> Vec<f64> {
    let time = |n: usize| {
        let question = Question { goal: goal(b, &format!("#(out) >= {n}")), ..Question::default() };
        let samples = run(Form::Clock, &program(b), &question, 1).unwrap();
        samples.passage_times[0] as f64 * samples.clock.tick()
    };
    (1..=count).map(time).collect()
}

fn assert_times(found: &[f64], expected: &[f64]) {
    let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6);
    assert!(found.len() == expected.len() && near, "{found:?}, not {expected:?}");
}

/// Moves a token from `from` to `to` once, at time `at` \[s\]. The time counts from the start, regardless of the tokens in `from`.
fn once(b: &mut NetBuilder, at: f64, from: Option<PlaceId>, to: Option<PlaceId>) {
    let [waits, due] = [("waits", 1), ("due", 0)].map(|(what, n)| b.place(format!("{what} {at}"), n));
    add(b, &format!("clock {at}"), fixed(at), &[waits], &[due]);
    let inputs: Vec<_> = [due].into_iter().chain(from).collect();
    add(b, &format!("at {at}"), Timing::immediate(1.0, 1), &inputs, to.as_slice());
}

/// The example of docs/semantics.md: 10 s of work, stopped by an inhibitor from second 4 to second 9.
#[test]
fn an_inhibitor_stops_a_repair() {
    for (memory, end) in [(Memory::Age, 15.0), (Memory::Enabling, 19.0)] {
        let mut b = NetBuilder::new("repair");
        let [broken, out, stop] = [("broken", 1), ("out", 0), ("stop", 0)].map(|(id, n)| b.place(id, n));
        let law = Law::Deterministic { delay: 10.0 };
        add(&mut b, "repair", timed(law, Servers::Single, memory), &[broken], &[out]);
        let repair = b.find_transition("repair").unwrap();
        b.inhibitor(stop, repair, 1.0);
        once(&mut b, 4.0, None, Some(stop));
        once(&mut b, 9.0, Some(stop), None);
        assert_times(&completions(&b, 1), &[end]);
    }
}

/// Three services of 10 s start at 0, 1 and 2 s. At 3 s one token leaves, at 3.5 s another; at 5 s and at 6 s one returns.
///
/// The services started at 2 and at 1 s stop, with 9 and 7.5 s left. With age memory the one suspended last resumes first, from 5 s to
/// 12.5 s, and the other runs from 6 s to 15 s; with enabling memory both start anew.
#[test]
fn the_delay_suspended_last_resumes_first() {
    for (memory, ends) in [(Memory::Age, [10.0, 12.5, 15.0]), (Memory::Enabling, [10.0, 15.0, 16.0])] {
        let mut b = NetBuilder::new("services");
        let [p, out] = [("p", 1), ("out", 0)].map(|(id, n)| b.place(id, n));
        let law = Law::Deterministic { delay: 10.0 };
        add(&mut b, "serve", timed(law, Servers::Infinite, memory), &[p], &[out]);
        for at in [1.0, 2.0, 5.0, 6.0] {
            once(&mut b, at, None, Some(p));
        }
        for at in [3.0, 3.5] {
            once(&mut b, at, Some(p), None);
        }
        assert_times(&completions(&b, 3), &ends);
    }
}

/// Two servers, three tokens, 10 s each: a firing that leaves both servers busy starts one new service. At 13 s a token leaves, which
/// stops the service that started last.
#[test]
fn a_firing_ends_its_own_service_and_no_other() {
    for (memory, last) in [(Memory::Age, 24.0), (Memory::Enabling, 25.0)] {
        let mut b = NetBuilder::new("two servers");
        let [p, out] = [("p", 0), ("out", 0)].map(|(id, n)| b.place(id, n));
        let law = Law::Deterministic { delay: 10.0 };
        add(&mut b, "serve", timed(law, Servers::Limited(2), memory), &[p], &[out]);
        for at in [1.0, 2.0, 3.0, 4.0] {
            once(&mut b, at, None, Some(p));
        }
        // services 1 to 11, 2 to 12, 11 to 21, 12 to 22
        assert_times(&completions(&b, 4), &[11.0, 12.0, 21.0, 22.0]);
        // at 13 s one of two tokens leaves, so the service from 12 to 22 s stops; at 15 s one arrives, and 9 s or 10 s remain
        once(&mut b, 13.0, Some(p), None);
        once(&mut b, 15.0, None, Some(p));
        assert_times(&completions(&b, 4), &[11.0, 12.0, 21.0, last]);
    }
}

/// A firing takes the token at 1 s and an immediate transition returns it in zero time: the delay of 2 s continues.
/// If the token is held for a tick of time, the delay starts anew.
#[test]
fn a_delay_that_an_immediate_firing_enables_again_continues() {
    let end = |back: Timing| {
        let mut b = NetBuilder::new("blink");
        let [p, away, out] = [("p", 1), ("away", 0), ("out", 0)].map(|(id, n)| b.place(id, n));
        add(&mut b, "serve", fixed(2.0), &[p], &[out]);
        once(&mut b, 1.0, Some(p), Some(away));
        add(&mut b, "back", back, &[away], &[p]);
        completions(&b, 1)
    };
    assert_times(&end(Timing::immediate(1.0, 1)), &[2.0]);
    assert_times(&end(fixed(0.25)), &[3.25]);
}

/// Work of U(0, 2) s that must stop from 1 s to 1.5 s. Half of the runs end before. With age memory, the other half ends
/// half a second late: E = 1 + 0.5 / 2, P(T <= 2) = P(S <= 1.5). With enabling memory it starts with a fresh delay at 1.5 s: E =
/// 0.5 * 0.5 + 0.5 * (1.5 + 1), P(T <= 2) = 0.5 + 0.5 * 0.25. If the old delay were started anew, the mean would be
/// E = 0.5 * 0.5 + 0.5 * (1.5 + 1.5).
#[test]
fn an_interrupted_uniform_delay_resumes_or_is_drawn_anew() {
    for (memory, mean, by_two) in [(Memory::Age, 1.25, 0.75), (Memory::Enabling, 1.5, 0.625)] {
        let mut b = NetBuilder::new("interrupted");
        let [p, away, out] = [("p", 1), ("away", 0), ("out", 0)].map(|(id, n)| b.place(id, n));
        let law = Law::Uniform { low: 0.0, high: 2.0 };
        add(&mut b, "serve", timed(law, Servers::Single, memory), &[p], &[out]);
        once(&mut b, 1.0, Some(p), Some(away));
        once(&mut b, 1.5, Some(away), Some(p));
        let question = Question { goal: goal(&b, "#(out) = 1"), ..Question::default() };
        let samples = run(Form::Clock, &program(&b), &question, 400_000).unwrap();
        assert_passage_mean(&samples, mean, 0.002);
        assert_passage_share(&samples, 1.25, 0.5);
        assert_passage_share(&samples, 2.0, by_two);
    }
}

/// Work of S = U(0, 2) s that fails at rate 1 /s and is mended at rate 2 /s, with age memory: T is S plus a Poisson number of
/// repairs, so that Var T = Var S (1 + 1/2)² + E S * 2 / 2² = 0.75 + 0.5.
#[test]
fn the_spread_of_an_interrupted_delay_is_that_of_its_repairs() {
    let mut b = NetBuilder::new("spread");
    let [up, down, p, out] = [("up", 1), ("down", 0), ("p", 1), ("out", 0)].map(|(id, n)| b.place(id, n));
    add(&mut b, "fail", Timing::exponential(1.0), &[up], &[down]);
    add(&mut b, "mend", Timing::exponential(2.0), &[down], &[up]);
    let law = Law::Uniform { low: 0.0, high: 2.0 };
    add(&mut b, "serve", timed(law, Servers::Single, Memory::Age), &[p], &[out]);
    let serve = b.find_transition("serve").unwrap();
    b.test(up, serve, 1.0);
    let question = Question { goal: goal(&b, "#(out) = 1"), ..Question::default() };
    let samples = run(Form::Clock, &program(&b), &question, 400_000).unwrap();
    assert_passage_mean(&samples, 1.5, 0.002);
    let times = samples.passage_times.iter().map(|&ticks| ticks as f64 * samples.clock.tick());
    let squares: FloatMoments = times.map(|time| (time - 1.5).powi(2)).collect();
    assert_mean(&squares, 1.25, 0.01);
}
