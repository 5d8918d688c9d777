//! Averages over time, throughputs and rewards.

use super::*;
use crate::net::{Delay, Law, Memory, Servers, Timing};
use crate::sim::{Ending, Reward, Snapshot};

fn served(rate: f64, servers: Servers) -> Timing {
    Timing::Timed { delay: Delay::Exponential { rate: rate.into() }, servers, memory: Memory::Enabling }
}

fn general(law: Law, servers: Servers) -> Timing {
    Timing::Timed { delay: Delay::General(law), servers, memory: Memory::Enabling }
}

/// A queue: arrivals at a constant rate, a capacity, and a service with the given timing.
fn queue(arrivals: f64, capacity: Option<u32>, service: Timing) -> NetBuilder {
    let mut b = NetBuilder::new("queue");
    let q = b.place("q", 0);
    b.place_mut(q).capacity = capacity;
    let arrive = b.transition("arrive", Timing::exponential(arrivals));
    b.output(arrive, q, 1.0);
    let serve = b.transition("serve", service);
    b.input(q, serve, 1.0);
    b
}

/// Long runs of a net whose averages are tested.
struct LongRun {
    builder: NetBuilder,
    samples: Samples,
    seconds: f64,
}

impl LongRun {
    /// `shares` are conditions whose share of time is averaged.
    fn new(form: Form, builder: NetBuilder, shares: &[&str], seconds: f64, count: u64) -> Self {
        let net = builder.clone().build().expect("a net");
        let reward = |text: &&str| Reward {
            name: (*text).to_owned(),
            rate: Some(crate::compile::lower(&net, &net.expression(text).expect("an expression"))),
            impulses: Vec::new(),
        };
        let warm_up = seconds / 10.0;
        let question = Question {
            goal: Goal::Horizon,
            horizon: Some(warm_up + seconds),
            warm_up,
            tokens: true,
            throughput: true,
            rewards: shares.iter().map(reward).collect(),
            ..Question::default()
        };
        let samples = run(form, &program(&builder), &question, count).expect("no fault");
        assert_eq!(samples.ended(Ending::Horizon), count);
        Self { builder, samples, seconds }
    }

    fn assert_tokens(&self, place: &str, exact: f64) {
        let place = self.builder.clone().build().unwrap().find_place(place).unwrap();
        assert_mean(&self.samples.averages().tokens[place.index()], exact, 0.002);
    }

    fn assert_throughput(&self, transition: &str, exact: f64) {
        let transition = self.builder.find_transition(transition).unwrap();
        assert_mean(&self.samples.averages().throughput[transition.index()], exact, 0.002);
    }

    fn assert_share(&self, number: usize, exact: f64) {
        assert_mean(&self.samples.averages().rewards[number], exact * self.seconds, 0.01);
    }
}

#[test]
fn mm1k_matches_exact_values() {
    for form in BOTH {
        let net = queue(2.0, Some(5), Timing::exponential(3.0));
        let long = LongRun::new(form, net, &["#(q) = 5"], 500.0, 4000);
        long.assert_tokens("q", 946.0 / 665.0);
        long.assert_share(0, 32.0 / 665.0);
        long.assert_throughput("serve", 1266.0 / 665.0);
    }
}

#[test]
fn mm2k_matches_exact_values_with_two_servers_and_with_a_rate_that_says_so() {
    for form in BOTH {
        let two = queue(2.0, Some(4), served(1.5, Servers::Limited(2)));
        let mut expression = queue(2.0, Some(4), Timing::exponential(1.0));
        let serve = expression.find_transition("serve").unwrap();
        let rate = expression.expression("1.5 * min(#(q), 2)").unwrap();
        expression.transition_mut(serve).timing =
            Timing::Timed { delay: Delay::Exponential { rate }, servers: Servers::Single, memory: Memory::Enabling };
        for net in [two, expression] {
            let long = LongRun::new(form, net, &["#(q) = 4"], 300.0, 3000);
            long.assert_tokens("q", 524.0 / 341.0);
            long.assert_share(0, 32.0 / 341.0);
            long.assert_throughput("serve", 618.0 / 341.0);
        }
    }
}

/// The number in the system is Poisson with mean λ E[S], for any distribution of S.
#[test]
fn infinite_servers_have_poisson_queues() {
    let exponential = || queue(3.0, None, served(0.5, Servers::Infinite));
    let uniform = queue(3.0, None, general(Law::Uniform { low: 1.0, high: 3.0 }, Servers::Infinite));
    let runs = [(Form::Clock, exponential()), (Form::Direct, exponential()), (Form::Clock, uniform)];
    for (form, net) in runs {
        let long = LongRun::new(form, net, &["#(q) <= 2"], 300.0, 2000);
        long.assert_tokens("q", 6.0);
        long.assert_share(0, (-6_f64).exp() * (1.0 + 6.0 + 18.0));
    }
}

/// With two servers and no waiting room, the share of time with both busy is Erlang's B for any distribution of the service time.
#[test]
fn a_loss_system_does_not_see_the_law_of_its_service() {
    let load: f64 = 1.5;
    let blocked = load * load / 2.0 / (1.0 + load + load * load / 2.0);
    for law in [Law::Deterministic { delay: 1.5 }, Law::Erlang { stages: 3, mean: 1.5 }] {
        let net = queue(1.0, Some(2), general(law, Servers::Limited(2)));
        let long = LongRun::new(Form::Clock, net, &["#(q) = 2"], 300.0, 3000);
        long.assert_share(0, blocked);
        long.assert_throughput("serve", 1.0 - blocked);
    }
}

/// Pollaczek and Khinchine: E[N] = ρ + ρ² (1 + c²) / (2 (1 - ρ)).
#[test]
fn queues_with_general_service_match_pollaczek_and_khinchine() {
    let laws = [
        (Law::Deterministic { delay: 0.5 }, 0.0),
        (Law::Erlang { stages: 2, mean: 0.5 }, 0.5),
        (Law::Uniform { low: 0.0, high: 1.0 }, 1.0 / 3.0),
        (Law::LogNormal { mean: 0.5, cv: 0.5 }, 0.25),
    ];
    for (law, squared_cv) in laws {
        let net = queue(1.0, None, Timing::general(law));
        let long = LongRun::new(Form::Clock, net, &[], 1000.0, 2000);
        long.assert_tokens("q", 0.5 + 0.25 * (1.0 + squared_cv));
    }
}

/// Values of the exact solution of the net o3.
#[test]
fn priorities_match_exact_values() {
    let mut b = NetBuilder::new("machine repair with priorities");
    let [gt, gq, gs, st, sq, ss, srv] =
        [("gt", 3), ("gq", 0), ("gs", 0), ("st", 3), ("sq", 0), ("ss", 0), ("srv", 1)].map(|(id, n)| b.place(id, n));
    add(&mut b, "garr", served(0.4, Servers::Infinite), &[gt], &[gq]);
    add(&mut b, "sarr", served(0.6, Servers::Infinite), &[st], &[sq]);
    add(&mut b, "gstart", Timing::immediate(1.0, 2), &[gq, srv], &[gs]);
    add(&mut b, "sstart", Timing::immediate(1.0, 1), &[sq, srv], &[ss]);
    add(&mut b, "gend", Timing::exponential(2.0), &[gs], &[gt, srv]);
    add(&mut b, "send", Timing::exponential(1.0), &[ss], &[st, srv]);
    for form in BOTH {
        let long = LongRun::new(form, b.clone(), &["#(srv) = 1"], 500.0, 2000);
        long.assert_tokens("gq", 0.743750828662294);
        long.assert_tokens("sq", 1.4397237941496);
        long.assert_share(0, 0.0388548942498164);
        long.assert_throughput("gend", 0.752083057112569);
        long.assert_throughput("send", 0.585103577193899);
    }
}

/// Values of the exact solution of the net o11.
#[test]
fn arc_weights_divide_the_enabling_degree() {
    let mut b = NetBuilder::new("weighted infinite server");
    let [p, q] = [("p", 5), ("q", 0)].map(|(id, n)| b.place(id, n));
    let t = b.transition("t", served(1.0, Servers::Infinite));
    b.input(p, t, 2.0);
    b.output(t, q, 2.0);
    add(&mut b, "u", Timing::exponential(0.7), &[q], &[p]);
    for form in BOTH {
        let long = LongRun::new(form, b.clone(), &["#(p) <= 1"], 500.0, 2000);
        long.assert_tokens("p", 353_425.0 / 294_921.0);
        long.assert_share(0, 201_800.0 / 294_921.0);
        long.assert_throughput("u", 204_764.0 / 294_921.0);
    }
}

/// Values of the exact solution of the net o13.
#[test]
fn blocking_by_capacity_matches_exact_values() {
    let mut b = NetBuilder::new("tandem with blocking");
    let [w1, d1, b2] = [("w1", 3), ("d1", 0), ("b2", 0)].map(|(id, n)| b.place(id, n));
    for place in [d1, b2] {
        b.place_mut(place).capacity = Some(1);
    }
    add(&mut b, "s1", Timing::exponential(1.0), &[w1], &[d1]);
    add(&mut b, "mv", Timing::immediate(1.0, 1), &[d1], &[b2]);
    add(&mut b, "s2", Timing::exponential(1.3), &[b2], &[w1]);
    for form in BOTH {
        let long = LongRun::new(form, b.clone(), &["#(d1) = 1"], 500.0, 2000);
        long.assert_tokens("w1", 289.0 / 133.0);
        long.assert_share(0, 100.0 / 399.0);
        long.assert_throughput("s2", 299.0 / 399.0);
    }
}

/// A two-state chain that starts up: P(up at t) = b/(a+b) + a/(a+b) exp(-(a+b) t).
#[test]
fn snapshots_match_the_transient_two_state_chain() {
    let (down_rate, up_rate) = (0.7, 1.1);
    let mut b = NetBuilder::new("two states");
    let [up, down] = [("up", 1), ("down", 0)].map(|(id, n)| b.place(id, n));
    add(&mut b, "fail", Timing::exponential(down_rate), &[up], &[down]);
    add(&mut b, "mend", Timing::exponential(up_rate), &[down], &[up]);
    let value = goal(&b, "#(up)").code().unwrap().clone();
    let times = [0.0, 0.2, 0.5, 1.0, 2.0, 5.0];
    let snapshots = times.map(|time| Snapshot { time, text: String::new(), value: value.clone() }).to_vec();
    let question = Question { goal: Goal::Horizon, horizon: Some(5.0), snapshots, ..Question::default() };
    for form in BOTH {
        let samples = run(form, &program(&b), &question, 400_000).unwrap();
        for (time, sample) in times.iter().zip(&samples.averages().snapshots) {
            let all: f64 = down_rate + up_rate;
            let exact = up_rate / all + down_rate / all * (-all * time).exp();
            assert_eq!(sample.count(), 400_000);
            if *time == 0.0 {
                assert!(sample.mean().unwrap() == 1.0 && sample.variance().unwrap() == 0.0);
            } else {
                assert_mean(sample, exact, 0.002);
            }
        }
    }
}

/// A token that stays 0.75 s in `p` and 0.25 s in `q`, on a clock that shows both exactly.
#[test]
fn averages_of_a_fixed_cycle_are_exact() {
    let mut b = NetBuilder::new("cycle");
    let [p, q] = [("p", 1), ("q", 0)].map(|(id, n)| b.place(id, n));
    add(&mut b, "a", Timing::general(Law::Deterministic { delay: 0.75 }), &[p], &[q]);
    add(&mut b, "b", Timing::general(Law::Deterministic { delay: 0.25 }), &[q], &[p]);
    let program = program(&b);
    let in_p = goal(&b, "2 * #(p)").code().unwrap().clone();
    let one = goal(&b, "1 + #(p)").code().unwrap().clone();
    let question = Question {
        goal: Goal::Horizon,
        horizon: Some(10.0),
        warm_up: 2.5,
        tokens: true,
        throughput: true,
        rewards: vec![Reward { name: "r".into(), rate: Some(in_p.clone()), impulses: vec![(0, one)] }],
        snapshots: [0.74, 0.75, 10.0].map(|time| Snapshot { time, text: String::new(), value: in_p.clone() }).to_vec(),
        ..Question::default()
    };
    let samples = run(Form::Clock, &program, &question, 2).unwrap();
    // `p` holds its token from 2.5 to 2.75, and for 0.75 s of each of the seven whole seconds up to 10
    assert_eq!(samples.averages().tokens[0].mean().unwrap(), 5.5 / 7.5);
    assert_eq!(samples.averages().tokens[1].mean().unwrap(), 2.0 / 7.5);
    // `a` at 2.75, ..., 9.75; `b` at 3, ..., 10: a firing at the horizon counts
    assert_eq!(samples.averages().throughput[0].mean().unwrap(), 8.0 / 7.5);
    assert_eq!(samples.averages().throughput[1].mean().unwrap(), 8.0 / 7.5);
    assert_eq!(samples.averages().rewards[0].mean().unwrap(), 2.0 * 5.5 + 8.0 * 2.0);
    // a firing at the time of a snapshot comes before it
    assert_eq!([0, 1, 2].map(|i| samples.averages().snapshots[i].mean().unwrap()), [2.0, 0.0, 2.0]);
    assert_eq!(samples.firings, 2 * 20);
}

#[test]
fn averages_go_on_in_a_dead_marking_up_to_the_horizon() {
    let mut b = NetBuilder::new("one step");
    let [p, q] = [("p", 1), ("q", 0)].map(|(id, n)| b.place(id, n));
    add(&mut b, "a", Timing::general(Law::Deterministic { delay: 1.0 }), &[p], &[q]);
    let question = Question { goal: Goal::Horizon, horizon: Some(4.0), tokens: true, ..Question::default() };
    let samples = run(Form::Clock, &program(&b), &question, 1).unwrap();
    assert_eq!(samples.ended(Ending::Horizon), 1);
    assert_eq!(samples.averages().tokens[q.index()].mean().unwrap(), 0.75);
}
