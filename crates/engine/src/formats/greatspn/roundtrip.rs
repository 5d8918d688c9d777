//! Tests that written nets are read back as the same net, or as an equivalent net if there was a warning.

use proptest::prelude::*;

use crate::formats::greatspn::{read_net, read_project, write, write_pair};
use crate::formats::pipe::{Loss, ReadOptions};
use crate::net::expr::Expr;
use crate::net::{Delay, Law, Memory, Net, NetBuilder, Servers, Timing, differences};

fn back(net: &Net) -> Net {
    let written = write(net).unwrap();
    let read = read_project(written.xml.as_bytes(), &ReadOptions::default());
    read.unwrap_or_else(|error| panic!("{error}\n{}", written.xml)).net
}

fn timed(delay: Delay, servers: Servers) -> Timing {
    Timing::Timed { delay, servers, memory: Memory::Enabling }
}

/// Texts of rates and weights over the places `p0`, `p1` and the parameters `a`, `b`.
const RATES: [&str; 12] = [
    "2",
    "0",
    "1e-7",
    "0.1 + a",
    "a / b",
    "-a + b * 2",
    "a - (b - 3)",
    "a * #(p0)",
    "if(#(p0) > 1 && !(#(p1) == 0), 0.5, max(a, #(p1)))",
    "min(#(p0), 3) * floor(#(p1) / 2)",
    "sqrt(abs(a - b)) + pow(2, #(p1))",
    "if(#(p0) >= 1 || #(p1) != 2, 1, 1.5e10)",
];

proptest! {
    #[test]
    fn random_nets_survive_a_round_trip_through_greatspn(
        tokens in prop::collection::vec(0..5_u32, 2),
        transitions in prop::collection::vec((0..6_u8, prop::sample::select(&RATES[..]), 1..4_u32), 1..5),
        arcs in prop::collection::btree_set((0..3_u8, 0..2_usize, 0..5_usize), 0..9),
        weights in prop::collection::vec(1..4_u32, 9),
        values in (0.01..100.0_f64, 0.01..100.0_f64),
    ) {
        let mut b = NetBuilder::new("net");
        let places: Vec<_> = tokens.iter().enumerate().map(|(i, tokens)| b.place(format!("p{i}"), *tokens)).collect();
        b.parameter("a", values.0);
        b.parameter("b", values.1);
        let mut ids = Vec::new();
        for (i, (kind, rate, number)) in transitions.iter().enumerate() {
            let expr = b.expression(rate).unwrap();
            let marking = rate.contains('#');
            let servers = match number {
                1 => Servers::Single,
                2 => Servers::Infinite,
                other => Servers::Limited(*other),
            };
            let timing = match kind {
                0 | 1 => timed(Delay::Exponential { rate: expr }, if marking { Servers::Single } else { servers }),
                2 => Timing::Immediate { weight: expr, priority: *number },
                3 => Timing::general(Law::Deterministic { delay: values.0 }),
                4 => Timing::general(Law::Uniform { low: values.0, high: values.0 + values.1 }),
                _ => Timing::general(Law::Erlang { stages: *number, mean: 2.0 }),
            };
            ids.push(b.transition(format!("t{i}"), timing));
        }
        for ((kind, place, transition), weight) in arcs.into_iter().zip(weights) {
            let (place, transition) = (places[place], ids[transition % ids.len()]);
            let weight = Expr::Number(f64::from(weight));
            match kind {
                0 => b.input(place, transition, weight),
                1 => b.output(transition, place, weight),
                _ => b.inhibitor(place, transition, weight),
            };
        }
        let Ok(net) = b.build() else { return Ok(()) };
        prop_assert_eq!(differences(&back(&net), &net), vec![]);
        // the older pair lacks some functions
        if let Ok(pair) = write_pair(&net) {
            let options = ReadOptions { definitions: Some(pair.def.clone()), ..ReadOptions::default() };
            let read = read_net(pair.net.as_bytes(), &options);
            let read = read.unwrap_or_else(|error| panic!("{error}\n{}\n{}", pair.net, pair.def)).net;
            prop_assert_eq!(differences(&read, &net), vec![], "{}\n{}", pair.net, pair.def);
        }
    }
}

#[test]
fn names_become_words_that_are_used_once() {
    let mut b = NetBuilder::new("");
    let place = b.place("map 1", 1);
    b.place("map_1", 2);
    let t = b.transition("map_1", Timing::exponential(1.0));
    b.transition("If", Timing::exponential(1.0));
    b.input(place, t, 1.0);
    let net = b.build().unwrap();
    let written = write(&net).unwrap();
    assert_eq!(written.warnings.iter().filter(|w| w.loss == Loss::Name).count(), 4);
    let read = back(&net);
    let ids: Vec<_> = read.places().iter().map(|p| (p.id.as_str(), p.initial[0])).collect();
    assert_eq!(ids, [("map_1", 1), ("map_1_2", 2)]);
    assert_eq!(read.transitions().iter().map(|t| t.id.as_str()).collect::<Vec<_>>(), ["map_1_3", "If_2"]);
}

#[test]
fn delays_and_functions_without_counterpart_are_refused_by_name() {
    let mut b = NetBuilder::new("");
    let law = |law| timed(Delay::General(law), Servers::Single);
    b.place("p", 1);
    b.transition("w", law(Law::Weibull { shape: 2.0, scale: 1.0 }));
    b.transition("g", law(Law::Gamma { shape: 2.0, scale: 1.0 }));
    b.transition("d", timed(Delay::General(Law::Deterministic { delay: 1.0 }), Servers::Infinite));
    let rate = b.expression("atan2(1, 2)").unwrap();
    b.transition("r", timed(Delay::Exponential { rate }, Servers::Single));
    let refused = write(&b.build().unwrap()).unwrap_err();
    assert_eq!(refused.len(), 4, "{refused:?}");
    let last = refused[3].to_string();
    assert!(last.contains("the rate of transition `r` has no counterpart in GreatSPN: the function `atan2`"), "{last}");
}

#[test]
fn capacities_become_inhibitor_arcs() {
    let mut b = NetBuilder::new("");
    let p = b.place("p", 0);
    b.place_mut(p).capacity = Some(5);
    let t = b.transition("t", Timing::exponential(1.0));
    b.input(p, t, 1.0);
    b.output(t, p, 3.0);
    let net = b.build().unwrap();
    let read = back(&net);
    // a capacity of 5 has room for 3 more tokens, after 1 is taken, if there are at most 3 before
    let inhibitor = read.arcs().iter().find(|arc| arc.kind == crate::net::ArcKind::Inhibitor).unwrap();
    assert_eq!(inhibitor.weights[0].weight.as_number(), Some(4.0));
}

#[test]
fn parallel_arcs_become_one_and_are_told() {
    let mut b = NetBuilder::new("");
    let place = b.place("p", 0);
    let t = b.transition("t", Timing::exponential(1.0));
    b.output(t, place, 1.0);
    let other = b.output(t, place, 2.0);
    b.arc_mut(other).id = "second".to_owned();
    let net = b.build().unwrap();
    let losses: Vec<Loss> = write(&net).unwrap().warnings.iter().map(|warning| warning.loss).collect();
    assert_eq!(losses, [Loss::ParallelArcs]);
    assert_eq!(back(&net).arcs()[0].weights[0].weight.as_number(), Some(3.0));
}

/// Functions of the marking, a choice of several cases, a parameter, bends, and all kinds of transitions and arcs.
#[test]
fn a_pair_of_files_has_the_same_net() {
    let mut b = NetBuilder::new("");
    let (p, q) = (b.place("p", 3), b.place("q", 0));
    b.parameter("a", 0.25);
    let rates = ["a", "if(#(p) > 1 && #(q) == 0, 2 * a, if(!(#(q) != 3), #(p) / 4, 1))", "#(p) * 0.5 - 1"];
    for (i, rate) in rates.into_iter().enumerate() {
        let rate = b.expression(rate).unwrap();
        let servers = if i == 0 { Servers::Limited(3) } else { Servers::Single };
        let t = b.transition(format!("t{i}"), timed(Delay::Exponential { rate }, servers));
        b.input(p, t, 2.0);
        b.output(t, q, 1.0);
    }
    for (i, priority) in [5, 2, 5].into_iter().enumerate() {
        let weight = b.expression("if(#(q) > 2, a, 3)").unwrap();
        let t = b.transition(format!("i{i}"), Timing::Immediate { weight, priority });
        b.input(q, t, 4.0);
        b.inhibitor(p, t, 7.0);
    }
    let laws = [
        Law::Deterministic { delay: 0.125 },
        Law::Uniform { low: 0.5, high: 1.5 },
        Law::Erlang { stages: 3, mean: 0.75 },
    ];
    for (i, law) in laws.into_iter().enumerate() {
        let t = b.transition(format!("d{i}"), Timing::general(law));
        b.input(q, t, 1.0);
        b.output(t, p, 1.0);
    }
    let net = b.build().unwrap();
    let pair = write_pair(&net).unwrap();
    let options = ReadOptions { definitions: Some(pair.def.clone()), ..ReadOptions::default() };
    let read = read_net(pair.net.as_bytes(), &options).unwrap_or_else(|error| panic!("{error}\n{}", pair.net)).net;
    assert_eq!(differences(&read, &net), [], "{}\n{}", pair.net, pair.def);
}

#[test]
fn what_a_pair_of_files_lacks_is_refused_by_name() {
    let mut b = NetBuilder::new("");
    let p = b.place("p", 1);
    b.parameter("a", 2.0);
    let double = b.expression("2 * a").unwrap();
    b.add_parameter(crate::net::Parameter { name: "b".to_owned(), value: double, position: None });
    let least = b.expression("min(#(p), 2)").unwrap();
    let t = b.transition("least", timed(Delay::Exponential { rate: least }, Servers::Single));
    b.input(p, t, 20_000.0);
    let tokens = b.expression("#(p)").unwrap();
    b.output(t, p, tokens);
    let negative = b.expression("-#(p) + 3").unwrap();
    b.transition("minus", timed(Delay::Exponential { rate: negative }, Servers::Single));
    let refused: Vec<String> = write_pair(&b.build().unwrap()).unwrap_err().iter().map(ToString::to_string).collect();
    for part in [
        "rate parameter `b`",
        "`least` has the function `min`",
        "arc `p to least`",
        "arc `least to p`",
        "`minus` has a minus sign",
    ] {
        assert!(refused.iter().any(|reason| reason.contains(part)), "{part}: {refused:?}");
    }
    assert_eq!(refused.len(), 5, "{refused:?}");
}
