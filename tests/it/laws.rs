//! Properties that hold for every net, tested on random nets. Cases come from a fixed seed; cases that failed once are
//! kept in `tests/regressions`.

use proptest::prelude::*;
use proptest::test_runner::{FileFailurePersistence, RngSeed};
use tailspn::compile::{Program, compile};
use tailspn::net::{Net, Servers};
use tailspn::semantics::{enabling_degree, fire, is_enabled};
use tailspn::sim::{Ending, EngineChoice, Ensemble, Goal, Group, Question, Samples, Snapshot, Unwatched, run};

use crate::measure::Estimated;
use crate::random_net::{RandomNet, any_net, balanced_net, job};

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(0x7a11_5b17),
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/regressions/laws.txt"))),
        ..ProptestConfig::default()
    }
}

fn ensemble() -> Ensemble {
    Ensemble { seed: 11, keep: true, ..Ensemble::default() }
}

fn one_run(net: &Net, question: &Question, engine: EngineChoice, replications: u64, first: u64) -> Samples {
    let ensemble = Ensemble { replications, engine, first, ..ensemble() };
    run(&compile(net).unwrap(), question, &ensemble, &Unwatched).unwrap().samples
}

/// Averages up to a time.
fn averages(horizon: f64) -> Question {
    Question { goal: Goal::Horizon, horizon: Some(horizon), tokens: true, throughput: true, ..Question::default() }
}

/// The same, and the first time at which the last place of the net has `more` tokens than at the start.
fn at_last_place(net: &Net, prefix: &str, more: u32, horizon: f64) -> Question {
    let last = net.places().len() - 1;
    let tokens = net.places()[last].initial[0] + more;
    let text = format!("#({prefix}p{last}) >= {tokens}");
    let goal = Goal::marking(net, &text).unwrap();
    Question { goal, horizon: Some(horizon), ..averages(horizon) }
}

const GENERAL: [EngineChoice; 2] = [EngineChoice::Direct, EngineChoice::Clock];

fn passage(samples: &Samples) -> Option<Estimated> {
    // fewer have no standard error to speak of
    if samples.passage.count() < 100 {
        return None;
    }
    let tick = samples.clock.tick();
    let error = tick * (samples.passage.variance()? / samples.passage.count() as f64).sqrt();
    Some(Estimated { value: tick * samples.passage.mean_ticks()?, error })
}

/// The share of replications that reached their goal.
fn share(samples: &Samples) -> Estimated {
    let n = samples.replications as f64;
    let share = samples.ended(Ending::Goal) as f64 / n;
    Estimated { value: share, error: (share * (1.0 - share) / n).sqrt() }
}

/// Lists the results of two independent runs that cannot both be right if the net of the second is `factor` times as
/// fast.
fn disagreements(left: &Samples, right: &Samples, factor: f64) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut check = |what: String, left: Estimated, right: Estimated| {
        if !left.agrees_with_other(right) {
            wrong.push(format!("{what}: {left} and {right}"));
        }
    };
    check("share at the goal".to_owned(), share(left), share(right));
    if let (Some(left), Some(right)) = (passage(left), passage(right)) {
        check("passage time".to_owned(), left, right.times(factor));
    }
    let (left, right) = (left.averages(), right.averages());
    for (what, left, right, factor) in [
        ("tokens", &left.tokens, &right.tokens, 1.0),
        ("throughput", &left.throughput, &right.throughput, 1.0 / factor),
    ] {
        for (i, (left, right)) in left.iter().zip(right).enumerate() {
            if left.count() > 1 && right.count() > 1 {
                check(format!("{what} {i}"), Estimated::of(left), Estimated::of(right).times(factor));
            }
        }
    }
    wrong
}

proptest! {
    #![proptest_config(cases(256))]

    /// Seen to fail with capacities ignored, for constant weights and for weights that depend on the marking, and with
    /// the degree of parallel arcs computed arc by arc.
    #[test]
    fn enabling_and_firing_are_those_of_the_definition(
        random in any_net(),
        choices in prop::collection::vec(any::<prop::sample::Index>(), 60),
    ) {
        let program: Program = compile(&random.build(1.0, "")).unwrap();
        let mut marking = program.initial.clone();
        for choice in choices {
            let mut enabled = Vec::new();
            for t in 0..program.transitions() {
                let degree = random.degree(t, &marking);
                prop_assert_eq!(i64::from(enabling_degree(&program, t, &marking).unwrap()), degree, "{} in {:?}", t, &marking);
                prop_assert_eq!(is_enabled(&program, t, &marking).unwrap(), degree > 0);
                if degree > 0 {
                    enabled.push(t);
                }
            }
            if enabled.is_empty() {
                break;
            }
            let t = *choice.get(&enabled);
            let expected = random.after(t, &marking);
            let fired = fire(&program, t, &mut marking);
            if expected.iter().any(|&tokens| tokens > i64::from(u32::MAX)) {
                prop_assert!(fired.is_err());
                break;
            }
            fired.unwrap();
            let reached: Vec<i64> = marking.iter().map(|&tokens| i64::from(tokens)).collect();
            prop_assert_eq!(reached, expected);
        }
    }
}

proptest! {
    #![proptest_config(cases(64))]

    /// Seen to fail with firings after the horizon counted, and with the last firing of a group cut to the horizon.
    #[test]
    fn schedule_and_clock_form_agree_bit_for_bit(
        random in job(),
        horizon in prop::option::of(0.5_f64..15.0),
        to_last_place in any::<bool>(),
    ) {
        let net = random.build(1.0, "");
        let mut question = Question { horizon, ..Question::default() };
        if to_last_place {
            let last = random.places.len() - 1;
            question.goal = Goal::marking(&net, &format!("#(p{last}) >= 1")).unwrap();
        }
        let transitions = 0..random.transitions.len() as u32;
        let odd = transitions.clone().filter(|t| t % 2 == 1).collect();
        question.groups = vec![
            Group { name: "all".to_owned(), transitions: transitions.collect() },
            Group { name: "odd".to_owned(), transitions: odd },
        ];
        let run = |engine| one_run(&net, &question, engine, 200, 7);
        prop_assert_eq!(run(EngineChoice::Schedule), run(EngineChoice::Clock));
    }

    #[test]
    fn lockstep_and_direct_form_agree_bit_for_bit(random in balanced_net(), horizon in prop::option::of(0.5_f64..15.0)) {
        let mut random = random;
        random.transitions.retain(|t| t.immediate.is_none());
        // the lockstep form counts servers only where arcs have weight 1
        for t in random.transitions.iter_mut().filter(|t| t.arcs[0].2.plus > 1) {
            t.servers = Servers::Single;
        }
        let net = random.build(1.0, "");
        let goal = at_last_place(&net, "", 2, 0.0).goal;
        // some nets run forever without reaching the goal
        let max_firings = Some(if horizon.is_some() { 1 << 20 } else { 100 });
        let question = Question { goal, horizon, max_firings, ..Question::default() };
        let run = |engine| one_run(&net, &question, engine, 200, 5);
        prop_assert_eq!(run(EngineChoice::Lockstep), run(EngineChoice::Direct));
    }

    #[test]
    fn names_change_no_number(random in balanced_net()) {
        for engine in GENERAL {
            let run = |prefix: &str| {
                let net = random.build(1.0, prefix);
                one_run(&net, &at_last_place(&net, prefix, 2, 20.0), engine, 200, 0)
            };
            prop_assert_eq!(run(""), run("another name "));
        }
    }

    #[test]
    fn rates_times_a_power_of_two_are_times_divided_by_it_to_the_bit(random in balanced_net(), power in -6_i32..7) {
        let factor = f64::from(power).exp2();
        for engine in GENERAL {
            let run = |factor: f64| {
                let net = random.build(factor, "");
                one_run(&net, &at_last_place(&net, "", 2, 20.0 / factor), engine, 200, 0)
            };
            let (plain, fast) = (run(1.0), run(factor));
            prop_assert_eq!(plain.clock.exponent - power, fast.clock.exponent);
            prop_assert_eq!(&plain.passage_times, &fast.passage_times);
            prop_assert_eq!((plain.endings, plain.firings), (fast.endings, fast.firings));
            let (plain, fast) = (plain.averages(), fast.averages());
            prop_assert_eq!(&plain.tokens, &fast.tokens);
            for (plain, fast) in plain.throughput.iter().zip(&fast.throughput) {
                prop_assert_eq!(plain.mean().map(|mean| mean * factor), fast.mean());
            }
        }
    }

    #[test]
    fn shards_together_are_one_long_run(random in balanced_net(), cut in 1_u64..300) {
        let net = random.build(1.0, "");
        let question = at_last_place(&net, "", 2, 20.0);
        for engine in GENERAL {
            let whole = one_run(&net, &question, engine, 300, 0);
            let mut parts = one_run(&net, &question, engine, cut, 0);
            parts.append(&one_run(&net, &question, engine, 300 - cut, cut));
            prop_assert_eq!(&whole.passage_times, &parts.passage_times);
            prop_assert_eq!((whole.passage, &whole.passage_histogram), (parts.passage, &parts.passage_histogram));
            prop_assert_eq!((whole.endings, whole.firings), (parts.endings, parts.firings));
            // floats are averaged in units of 16 replications: a cut between units does not show, one within changes last bits
            if cut.is_multiple_of(16) {
                prop_assert_eq!(&whole, &parts);
            }
            let (whole, parts) = (whole.averages(), parts.averages());
            let close = |a: Option<f64>, b: Option<f64>| {
                a.zip(b).map_or(a == b, |(a, b)| (a - b).abs() <= 1e-12 * a.abs().max(1.0))
            };
            for (whole, parts) in
                whole.tokens.iter().chain(&whole.throughput).zip(parts.tokens.iter().chain(&parts.throughput))
            {
                prop_assert_eq!((whole.count(), whole.min(), whole.max()), (parts.count(), parts.min(), parts.max()));
                prop_assert!(close(whole.mean(), parts.mean()) && close(whole.variance(), parts.variance()));
            }
        }
    }

    #[test]
    fn an_invariant_of_the_places_holds_at_all_times(random in balanced_net()) {
        let net = random.build(1.0, "");
        let expected = f64::from(random.invariant_value());
        let value = random.invariant("");
        let snapshots = [0.0, 0.1, 1.0, 7.0, 20.0].map(|time| Snapshot::new(&net, time, &value).unwrap());
        let question = Question { snapshots: snapshots.into(), ..averages(20.0) };
        for engine in GENERAL {
            let samples = one_run(&net, &question, engine, 100, 0);
            for snapshot in &samples.averages().snapshots {
                prop_assert_eq!((snapshot.count(), snapshot.min(), snapshot.max()), (100, Some(expected), Some(expected)));
            }
            let average: f64 =
                random.places.iter().zip(&samples.averages().tokens).map(|(p, n)| f64::from(p.weight) * n.mean().unwrap()).sum();
            prop_assert!((average - expected).abs() <= 1e-9 * expected.max(1.0), "{} {}", average, expected);
        }
    }
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn direct_and_clock_form_agree_in_distribution(random in balanced_net()) {
        let net = random.build(1.0, "");
        let question = at_last_place(&net, "", 2, 10.0);
        let [direct, clock] = GENERAL.map(|engine| one_run(&net, &question, engine, 4_000, 0));
        let wrong = disagreements(&direct, &clock, 1.0);
        prop_assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn rates_times_three_are_times_divided_by_three(random in balanced_net()) {
        let (slow, fast) = (random.build(1.0, ""), random.build(3.0, ""));
        for engine in GENERAL {
            let slow = one_run(&slow, &at_last_place(&slow, "", 2, 12.0), engine, 2_000, 0);
            let fast = one_run(&fast, &at_last_place(&fast, "", 2, 4.0), engine, 2_000, 2_000);
            let wrong = disagreements(&slow, &fast, 3.0);
            prop_assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        }
    }
}

/// The two random strategies do what their names say; otherwise the properties above would hold for nothing.
#[test]
fn random_nets_fire_and_reach_their_goals() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::new(cases(1));
    let mut fired = 0;
    let mut reached = 0;
    for _ in 0..100 {
        let random: RandomNet = balanced_net().new_tree(&mut runner).unwrap().current();
        let net = random.build(1.0, "");
        fired += u32::from(one_run(&net, &averages(10.0), EngineChoice::Clock, 20, 0).firings > 100);
        let samples = one_run(&net, &at_last_place(&net, "", 2, 10.0), EngineChoice::Clock, 20, 0);
        reached += u32::from((1..20).contains(&samples.ended(Ending::Goal)));
    }
    assert!(fired > 50 && reached > 15, "{fired} {reached}");
}
