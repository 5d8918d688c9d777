//! `tailspn solve` of nets whose equal parts hold several tokens or have phases: the same report with and without folding.

use serde_json::Value;
use tailspn::compile::compile;
use tailspn::formats::pipe::{WriteOptions, write};
use tailspn::net::{Law, Net, NetBuilder, Servers, Timing};
use tailspn::solve::replay;

use crate::cli::data;

/// Queues of three places each, whose customers two servers take.
fn queues() -> Net {
    let mut b = NetBuilder::new("queues");
    let free = b.place("free", 2);
    for i in 0..5 {
        let [queue, served] = ["queue", "served"].map(|name| b.place(format!("{name}{i}"), 0));
        b.place_mut(queue).capacity = Some(3);
        let arrive = b.transition(format!("arrive{i}"), Timing::exponential(0.4));
        b.output(arrive, queue, 1.0);
        let take = b.transition(format!("take{i}"), Timing::exponential(5.0));
        b.input(queue, take, 1.0);
        b.input(free, take, 1.0);
        b.output(take, served, 1.0);
        let mut each = Timing::exponential(1.0);
        if let Timing::Timed { servers, .. } = &mut each {
            *servers = Servers::Infinite;
        }
        let serve = b.transition(format!("serve{i}"), each);
        b.input(served, serve, 1.0);
        b.output(serve, free, 1.0);
    }
    b.build().unwrap()
}

/// Tasks of which an original and a copy run on shared slots; the first that ends stops the other one.
fn copies() -> Net {
    let mut b = NetBuilder::new("copies");
    let slots = b.place("slots", 12);
    for i in 0..8 {
        let mut place = |name: &str, tokens| b.place(format!("{name}{i}"), tokens);
        let (todo, original, copy, done, may) =
            (place("todo", 1), place("original", 0), place("copy", 0), place("done", 0), place("may", 1));
        let begin = b.transition(format!("begin{i}"), Timing::immediate(1.0, 1));
        b.input(todo, begin, 1.0);
        b.input(slots, begin, 1.0);
        b.output(begin, original, 1.0);
        let speculate = b.transition(format!("speculate{i}"), Timing::exponential(0.3));
        b.test(original, speculate, 1.0);
        b.input(may, speculate, 1.0);
        b.input(slots, speculate, 1.0);
        b.output(speculate, copy, 1.0);
        for (name, own, rate) in [("end", original, 0.5), ("win", copy, 1.0)] {
            let end = b.transition(format!("{name}{i}"), Timing::exponential(rate));
            b.input(own, end, 1.0);
            b.output(end, done, 1.0);
            b.output(end, slots, 1.0);
            let stop = b.transition(format!("stop_{name}{i}"), Timing::immediate(1.0, 2));
            b.test(done, stop, 1.0);
            b.input(own, stop, 1.0);
            b.output(stop, slots, 1.0);
        }
    }
    b.build().unwrap()
}

/// Machines whose work takes four stages; outages stop it.
fn machines() -> Net {
    let mut b = NetBuilder::new("machines");
    let [power, outage, slots] = [("power", 1), ("outage", 0), ("slots", 4)].map(|(name, n)| b.place(name, n));
    for (name, from, to, rate) in [("fails", power, outage, 0.1), ("repaired", outage, power, 2.0)] {
        let t = b.transition(name, Timing::exponential(rate));
        b.input(from, t, 1.0);
        b.output(t, to, 1.0);
    }
    for i in 0..9 {
        let [idle, busy] = [("idle", 1), ("busy", 0)].map(|(name, n)| b.place(format!("{name}{i}"), n));
        let begin = b.transition(format!("begin{i}"), Timing::exponential(1.0));
        b.input(idle, begin, 1.0);
        b.input(slots, begin, 1.0);
        b.output(begin, busy, 1.0);
        let work = b.transition(format!("work{i}"), Timing::general(Law::Erlang { stages: 4, mean: 1.0 }));
        b.input(busy, work, 1.0);
        b.output(work, idle, 1.0);
        b.output(work, slots, 1.0);
        b.inhibitor(outage, work, 1.0);
    }
    b.build().unwrap()
}

/// Compares two reports; firing sequences and what the smaller chain takes may differ.
fn assert_same(folded: &Value, apart: &Value, at: &str) {
    const OF_THE_CHAIN: [&str; 10] = [
        "path",
        "lost_after",
        "states",
        "edges",
        "bytes",
        "explored",
        "vanishing",
        "vanishing_is_exact",
        "marking_bits",
        "wall_s",
    ];
    match (folded, apart) {
        (Value::Object(a), Value::Object(b)) => {
            for key in b.keys().filter(|key| !OF_THE_CHAIN.contains(&key.as_str())) {
                assert_same(a.get(key).unwrap_or(&Value::Null), &b[key], &format!("{at}.{key}"));
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{at}");
            a.iter().zip(b).enumerate().for_each(|(i, (a, b))| assert_same(a, b, &format!("{at}[{i}]")));
        }
        (Value::Number(a), Value::Number(b)) => {
            let [a, b] = [a, b].map(|number| number.as_f64().unwrap());
            assert!((a - b).abs() <= 1e-8 * (1.0 + b.abs()), "{at}: {a} is not {b}");
        }
        _ => assert_eq!(folded, apart, "{at}"),
    }
}

fn number(row: &Value, key: &str) -> usize {
    usize::try_from(row[key].as_u64().unwrap()).unwrap()
}

#[test]
fn reports_of_counted_parts_are_those_of_all_markings() {
    let folder = tempfile::tempdir().unwrap();
    for (net, states, markings) in [(queues(), 536, 21_504.0), (copies(), 157, 65_315.0), (machines(), 75, 38_501.0)] {
        let path = folder.path().join("net.xml");
        std::fs::write(&path, write(&net, &WriteOptions::default()).xml).unwrap();
        let path = path.to_string_lossy();
        let solved = |more: &[&str]| -> Value {
            let args = ["solve", &path, "--method", "states", "--at", "3", "--json"];
            serde_json::from_str(&data(&[&args[..], more].concat())).unwrap()
        };
        let (folded, apart) = (solved(&[]), solved(&["--no-fold"]));
        assert_eq!((number(&folded["folded"], "states"), &apart["folded"]), (states, &Value::Null), "{}", net.name());
        assert_eq!(apart["state_space"]["tangible"].as_f64(), Some(markings));
        assert_same(&folded, &apart, net.name());
        if net.name() == "machines" {
            continue;
        }
        // each firing sequence leads to as many tokens as it says
        let program = compile(&net).unwrap();
        for (place, row) in folded["bounds"].as_array().unwrap().iter().enumerate() {
            let steps = row["path"].as_array().unwrap().iter().map(|step| step.as_str().unwrap());
            let steps: Vec<u32> = steps.map(|name| net.find_transition(name).unwrap().index() as u32).collect();
            let mut marking = program.initial.clone();
            replay(&program, &steps, &mut marking).unwrap();
            assert_eq!(marking[place] as usize, number(row, "bound"), "{row}");
        }
    }
}
