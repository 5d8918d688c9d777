//! Passage times.

use super::*;
use crate::net::{Delay, Law, Memory, Servers, Timing};
use crate::sim::{Ending, Group};
use crate::watch::Unwatched;

fn forkjoin_retry() -> NetBuilder {
    let mut b = NetBuilder::new("fork, join and retry");
    let [start, a1, ac, a2, b1, bc, b2, done] =
        ["start", "a1", "ac", "a2", "b1", "bc", "b2", "done"].map(|id| b.place(id, u32::from(id == "start")));
    add(&mut b, "fork", Timing::exponential(0.5), &[start], &[a1, b1]);
    add(&mut b, "ra", Timing::exponential(1.0), &[a1], &[ac]);
    add(&mut b, "a_ok", Timing::immediate(0.9, 1), &[ac], &[a2]);
    add(&mut b, "a_fail", Timing::immediate(0.1, 1), &[ac], &[a1]);
    add(&mut b, "rb", Timing::exponential(0.8), &[b1], &[bc]);
    add(&mut b, "b_ok", Timing::immediate(0.75, 1), &[bc], &[b2]);
    add(&mut b, "b_fail", Timing::immediate(0.25, 1), &[bc], &[b1]);
    add(&mut b, "join", Timing::exponential(4.0), &[a2, b2], &[done]);
    b
}

/// Values of the exact solution of the net o5.
#[test]
fn fork_join_with_retry_matches_exact_values() {
    let b = forkjoin_retry();
    let program = program(&b);
    for (form, goal) in [(Form::Clock, goal(&b, "#(done) >= 1")), (Form::Direct, Goal::Dead)] {
        let question = Question { goal, ..Question::default() };
        let samples = run(form, &program, &question, 200_000).unwrap();
        assert_eq!(samples.ended(Ending::Goal), 200_000);
        assert_passage_mean(&samples, 157.0 / 36.0, 0.002);
        assert_passage_share(&samples, 2.0, 0.160591379741274);
        assert_passage_share(&samples, 5.0, 0.677113244699862);
        assert_passage_share(&samples, 10.0, 0.962801250227453);
        let sd = samples.passage.variance().unwrap().sqrt() * samples.clock.tick();
        assert!((sd - 2.59644220770724).abs() < 0.05, "{sd}");
    }
}

fn timed(law: Law, servers: Servers, memory: Memory) -> Timing {
    Timing::Timed { delay: Delay::General(law), servers, memory }
}

/// P(Exp(λ) > d) = exp(-λ d).
#[test]
fn a_fixed_delay_races_an_exponential_one() {
    let mut b = NetBuilder::new("race");
    let [p, late, early] = [("p", 1), ("late", 0), ("early", 0)].map(|(id, n)| b.place(id, n));
    add(&mut b, "fixed", Timing::general(Law::Deterministic { delay: 0.8 }), &[p], &[late]);
    add(&mut b, "random", Timing::exponential(1.3), &[p], &[early]);
    let question = Question { goal: goal(&b, "#(late) > 0"), ..Question::default() };
    let samples = run(Form::Clock, &program(&b), &question, 1_000_000).unwrap();
    let exact = (-1.3_f64 * 0.8).exp();
    let share = samples.ended(Ending::Goal) as f64 / 1e6;
    assert!((share - exact).abs() < 5.0 * (exact * (1.0 - exact) / 1e6).sqrt(), "{share} {exact}");
    assert!(samples.passage_times.iter().all(|&time| time == samples.passage_times[0]));
    assert_eq!(samples.ended(Ending::Dead) + samples.ended(Ending::Goal), 1_000_000);
}

/// A task that progresses only while its machine is up; the machine fails at rate `a` and is repaired at rate `b`.
fn interrupted(law: Law, memory: Memory) -> NetBuilder {
    let mut b = NetBuilder::new("interrupted task");
    let [up, down, task, done] = [("up", 1), ("down", 0), ("task", 1), ("done", 0)].map(|(id, n)| b.place(id, n));
    add(&mut b, "fail", Timing::exponential(1.0), &[up], &[down]);
    add(&mut b, "mend", Timing::exponential(2.0), &[down], &[up]);
    let t = b.transition("work", timed(law, Servers::Single, memory));
    b.input(task, t, 1.0);
    b.test(up, t, 1.0);
    b.output(t, done, 1.0);
    b
}

/// With age memory the task resumes: E[T] = E[S] (1 + a/b). With enabling memory it starts anew with a fresh delay:
/// E[T] = (1/a + 1/b) (1 / E[exp(-a S)] - 1).
#[test]
fn age_and_enabling_memory_match_closed_forms() {
    let mean = |law: Law, memory, exact| {
        let b = interrupted(law, memory);
        let question = Question { goal: goal(&b, "#(done) > 0"), ..Question::default() };
        assert_passage_mean(&run(Form::Clock, &program(&b), &question, 400_000).unwrap(), exact, 0.002);
    };
    let fixed = Law::Deterministic { delay: 1.5 };
    let uniform = Law::Uniform { low: 0.0, high: 2.0 };
    mean(fixed.clone(), Memory::Age, 1.5 * 1.5);
    mean(uniform.clone(), Memory::Age, 1.5);
    mean(fixed, Memory::Enabling, 1.5 * (1.5_f64.exp() - 1.0));
    mean(uniform, Memory::Enabling, 1.5 * (2.0 / (1.0 - (-2_f64).exp()) - 1.0));
}

/// Clocks of several servers: one starts at 0, one at 0.5; at 1 a token leaves, and at 1.25 it returns.
#[test]
fn the_server_that_started_last_is_the_one_that_stops() {
    for (memory, last) in [(Memory::Enabling, 1.25 + 2.0), (Memory::Age, 1.25 + 1.5)] {
        let mut b = NetBuilder::new("servers");
        let [p, out] = [("p", 1), ("out", 0)].map(|(id, n)| b.place(id, n));
        let mut at = |id: &str, delay: f64, from: &[_], to: &[_]| {
            let once = b.place(format!("{id}_once"), 1);
            add(&mut b, id, Timing::general(Law::Deterministic { delay }), &[&[once], from].concat(), to);
        };
        at("second", 0.5, &[], &[p]);
        at("thief", 1.0, &[p], &[]);
        at("third", 1.25, &[], &[p]);
        let serve = timed(Law::Deterministic { delay: 2.0 }, Servers::Infinite, memory);
        add(&mut b, "serve", serve, &[p], &[out]);
        let serve = u32::try_from(b.find_transition("serve").unwrap().index()).unwrap();
        let groups = vec![Group { name: "serve".into(), transitions: vec![serve] }];
        let samples = run(Form::Clock, &program(&b), &Question { groups, ..Question::default() }, 1).unwrap();
        let tick = samples.clock.tick();
        assert_eq!(samples.groups[0].first.mean_ticks().unwrap() * tick, 2.0);
        assert_eq!(samples.groups[0].last.mean_ticks().unwrap() * tick, last);
        assert_eq!(samples.passage.mean_ticks().unwrap() * tick, last);
    }
}

/// Choices within nanoseconds, before and after a billion seconds: only the wide clock resolves them.
#[test]
fn stiff_nets_keep_their_odds() {
    let mut b = NetBuilder::new("stiff");
    let [start, x, y, z, w] = [("start", 1), ("x", 0), ("y", 0), ("z", 0), ("w", 0)].map(|(id, n)| b.place(id, n));
    add(&mut b, "fast x", Timing::exponential(1e9), &[start], &[x]);
    add(&mut b, "fast y", Timing::exponential(3e9), &[start], &[y]);
    let slow = b.transition("slow x", Timing::exponential(1e-9));
    b.input(x, slow, 1.0);
    b.output(slow, z, 2.0);
    add(&mut b, "fast z", Timing::exponential(2e9), &[z], &[w]);
    add(&mut b, "fast away", Timing::exponential(1e9), &[z], &[]);
    let program = program(&b);
    let clock = Clock::choose(&program, None);
    assert!(clock.is_wide());
    assert!(!DirectLaw::obstacles(&program, clock).is_empty());
    let count = 400_000;
    let share = |text: &str, exact: f64| {
        let question = Question { goal: goal(&b, text), ..Question::default() };
        let samples = run(Form::Clock, &program, &question, count).unwrap();
        let share = samples.ended(Ending::Goal) as f64 / count as f64;
        let error = (exact * (1.0 - exact) / count as f64).sqrt();
        assert!((share - exact).abs() < 5.0 * error, "{text}: {share} {exact}");
        samples
    };
    share("#(y) = 1", 0.75);
    assert_passage_mean(&share("#(w) = 2", 0.25 * 4.0 / 9.0), 1e9, 0.005);
}

/// Two small jobs of the paper's kind; values of the exact solution of the net o9_w1_2_2.
#[test]
fn a_small_job_matches_exact_values_in_both_forms() {
    let mut b = NetBuilder::new("o9_w1_2_2");
    let place = |b: &mut NetBuilder, id: String| b.place(id, 0);
    let start = b.place("start", 1);
    let spilled = place(&mut b, "spilled".into());
    let maps: Vec<Vec<_>> = (0..2).map(|m| (0..5).map(|i| place(&mut b, format!("m{m}_{i}"))).collect()).collect();
    let reduces: Vec<Vec<_>> = (0..2).map(|r| (0..3).map(|i| place(&mut b, format!("r{r}_{i}"))).collect()).collect();
    add(&mut b, "load", Timing::exponential(1.0 / 3.0), &[start], &[maps[0][0], maps[1][0]]);
    let map_rates = [
        [0.5339280138132421, 0.12286602288755837, 0.8393955221190627, 0.31188432274444383, 0.2642116374977002],
        [0.4014539628797197, 0.0890542007957909, 0.9996496346789487, 0.3797418415403001, 0.3310257947277705],
    ];
    for (m, rates) in map_rates.iter().enumerate() {
        for (i, &rate) in rates.iter().enumerate() {
            let to = maps[m].get(i + 1).copied().unwrap_or(spilled);
            add(&mut b, &format!("tm{m}_{i}"), Timing::exponential(rate), &[maps[m][i]], &[to]);
        }
    }
    let shuffle = b.transition("shuffle", Timing::exponential(0.05));
    b.input(spilled, shuffle, 2.0);
    reduces.iter().for_each(|r| _ = b.output(shuffle, r[0], 1.0));
    let reduce_rates = [[0.23698447496915018, 0.07382096427344051], [0.17346743817375498, 0.08885341578588656]];
    for (r, rates) in reduce_rates.iter().enumerate() {
        for (i, &rate) in rates.iter().enumerate() {
            add(&mut b, &format!("tr{r}_{i}"), Timing::exponential(rate), &[reduces[r][i]], &[reduces[r][i + 1]]);
        }
    }
    let program = program(&b);
    let mut both = BOTH.map(|form| {
        let samples = run(form, &program, &Question::default(), 200_000).unwrap();
        assert_passage_mean(&samples, 72.4683381497835, 0.002);
        assert_passage_share(&samples, 60.0, 0.370653048386586);
        assert_passage_share(&samples, 100.0, 0.853124668399869);
        samples.passage_times
    });
    // compares the two samples: P(D > 2.7 sqrt(2/n)) is about 1e-6
    both.iter_mut().for_each(|times| times.sort_unstable());
    let n = both[0].len() as f64;
    let at_most = |times: &[u64], t| times.partition_point(|&time| time <= t) as f64 / n;
    let distance = both[0].iter().map(|&t| (at_most(&both[0], t) - at_most(&both[1], t)).abs()).fold(0.0, f64::max);
    assert!(distance < 2.7 * (2.0 / n).sqrt(), "{distance}");
}

#[test]
fn a_vanishing_marking_can_be_the_goal() {
    let mut b = NetBuilder::new("vanishing goal");
    let [p, q, r] = [("p", 1), ("q", 0), ("r", 0)].map(|(id, n)| b.place(id, n));
    add(&mut b, "t", Timing::exponential(2.0), &[p], &[q]);
    add(&mut b, "i", Timing::immediate(1.0, 1), &[q], &[r]);
    for form in BOTH {
        let question = Question { goal: goal(&b, "#(q) = 1"), ..Question::default() };
        let samples = run(form, &program(&b), &question, 1000).unwrap();
        assert_eq!((samples.ended(Ending::Goal), samples.firings), (1000, 1000));
    }
}

#[test]
fn blocks_of_replications_add_up() {
    let b = forkjoin_retry();
    let program = program(&b);
    let question =
        Question { groups: vec![Group { name: "g".into(), transitions: vec![1, 4] }], ..Question::default() };
    let clock = Clock::choose(&program, None);
    let setup =
        Setup { program: &program, question: &question, clock, key: [3, 4], keep_times: true, watch: &Unwatched };
    let engines: [Box<dyn Engine>; 2] = [Box::new(ClockForm::new(setup)), Box::new(DirectForm::new(setup))];
    for engine in engines {
        let new = || Samples::new(clock, &question, program.counters(), program.transitions());
        let mut whole = new();
        engine.run(0, 1000, &mut whole).unwrap();
        let mut parts = new();
        for (first, count) in [(0, 1), (1, 332), (333, 0), (333, 667)] {
            let mut part = new();
            engine.run(first, count, &mut part).unwrap();
            parts.append(&part);
        }
        assert_eq!(parts.passage_times, whole.passage_times);
        let phases = |s: &Samples| [s.groups[0].first.mean_ticks().unwrap(), s.groups[0].last.mean_ticks().unwrap()];
        assert_eq!(phases(&parts), phases(&whole));
        assert_eq!((parts.firings, parts.endings), (whole.firings, whole.endings));
    }
}

/// Three firings of one transition are its first three draws, on both clocks.
#[test]
fn the_clock_form_adds_up_the_draws_of_its_addresses() {
    let mut b = NetBuilder::new("draws");
    let p = b.place("p", 3);
    add(&mut b, "t", Timing::exponential(0.7), &[p], &[]);
    let program = program(&b);
    for clock in
        [Clock { exponent: -38, extra_bits: 0, wide: false }, Clock { exponent: -30, extra_bits: 33, wide: true }]
    {
        let samples = run_on(Form::Clock, &program, &Question::default(), 50, clock).unwrap();
        let sampler = crate::sim::Sampler::of(&program, 0, clock).unwrap();
        for (replication, time) in (0..).zip(samples.passage_times) {
            let sum = (0..3).map(|sample| sampler.draw_wide(KEY, 0, sample, replication)).sum::<u128>();
            assert_eq!(u128::from(time), sum >> clock.extra_bits);
        }
    }
}

/// The events of the direct form, computed by hand.
#[test]
fn the_direct_form_takes_delays_and_choices_from_its_event_words() {
    let mut b = NetBuilder::new("events");
    let p = b.place("p", 9);
    add(&mut b, "a", Timing::exponential(0.7), &[p], &[]);
    add(&mut b, "b", Timing::exponential(2.1), &[p], &[]);
    let program = program(&b);
    let clock = Clock::choose(&program, None);
    let law = DirectLaw::choose(&program, clock);
    let units = [law.units(0.7), law.units(2.1)];
    let groups = vec![Group { name: "a".into(), transitions: vec![0] }];
    let question = Question { groups, ..Question::default() };
    for replication in 0..20 {
        let mut now = 0;
        let mut first = None;
        for event in 0..9 {
            let words = crate::rng::event_block(KEY, replication, event / 2);
            let [word, selector] = if event % 2 == 0 { [words[0], words[1]] } else { [words[2], words[3]] };
            now += law.delay(crate::rng::exponential(word), units[0] + units[1]);
            if DirectLaw::selection(selector, units[0] + units[1]) < units[0] {
                first = first.or(Some(now));
            }
        }
        let setup =
            Setup { program: &program, question: &question, clock, key: KEY, keep_times: true, watch: &Unwatched };
        let mut samples = Samples::new(clock, &question, 1, 2);
        DirectForm::new(setup).run(replication, 1, &mut samples).unwrap();
        assert_eq!(samples.passage_times, [now]);
        assert_eq!(samples.groups[0].first.count(), u64::from(first.is_some()));
        if let Some(first) = first {
            assert_eq!(samples.groups[0].first.mean_ticks(), Some(first as f64));
        }
    }
}
