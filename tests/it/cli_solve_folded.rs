//! `tailspn net solve` of nets whose equal parts hold several tokens or have phases: the same report with and without folding.

use serde_json::Value;
use tailspn::compile::compile;
use tailspn::formats::pipe::{WriteOptions, write};
use tailspn::net::expr::Leaf;
use tailspn::net::{Delay, Expr, Law, Memory, Net, NetBuilder, Servers, Timing};
use tailspn::solve::replay;

use crate::cli::data;
use crate::cli_sweep::with_error;
use crate::shared::shared;

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

/// Four queues, served in pairs as long as the server is there: an arc weight depends on a shared place, so they do not fold.
fn stations() -> Net {
    let mut b = NetBuilder::new("stations");
    let (here, away) = (b.place("here", 1), b.place("away", 0));
    for (name, from, to, rate) in [("leave", here, away, 0.5), ("return", away, here, 2.0)] {
        let t = b.transition(name, Timing::exponential(rate));
        b.input(from, t, 1.0);
        b.output(t, to, 1.0);
    }
    for i in 0..4 {
        let queue = b.place(format!("queue{i}"), 1);
        b.place_mut(queue).capacity = Some(11);
        let arrive = b.transition(format!("arrive{i}"), Timing::exponential(1.0));
        b.output(arrive, queue, 1.0);
        let serve = b.transition(format!("serve{i}"), Timing::exponential(0.8));
        let weight = b.expression("if(#(here) > 0, 2, 1)").unwrap();
        b.input(queue, serve, weight);
    }
    b.build().unwrap()
}

/// Compares two reports; firing sequences and what the smaller chain takes may differ.
fn assert_same(folded: &Value, apart: &Value, at: &str) {
    const OF_THE_CHAIN: [&str; 11] = [
        // its text counts the states of the chain
        "answer",
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
    for (net, states, markings) in [
        (queues(), 536, 21_504.0),
        (copies(), 157, 65_315.0),
        (machines(), 75, 38_501.0),
        (stations(), 2_730, 41_472.0),
    ] {
        let path = folder.path().join("net.xml");
        std::fs::write(&path, write(&net, &WriteOptions::default()).xml).unwrap();
        let path = path.to_string_lossy();
        let solved = |more: &[&str]| -> Value {
            let args = ["net", "solve", &path, "--method", "states", "--at", "3", "--json"];
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

/// A job of three maps that wait for slots: all markings, and the folded states with the same time.
#[test]
fn a_job_of_three_maps_has_226_markings() {
    let Some(folder) = shared("data/regressions") else { return };
    let net = folder.join("slots-3-maps.xml").to_string_lossy().into_owned();
    let solved = |more: &[&str]| -> Value {
        serde_json::from_str(&data(&[&["net", "solve", &net, "--json"][..], more].concat())).unwrap()
    };
    let (folded, apart) = (solved(&[]), solved(&["--no-fold"]));
    assert_eq!((apart["state_space"]["tangible"].as_f64(), &apart["folded"]), (Some(226.0), &Value::Null));
    let states = &folded["folded"];
    assert!(number(states, "states") < 100 && states["stand_for"].as_f64() == Some(226.0), "{states}");
    assert_same(&folded["passage"], &apart["passage"], "passage");
}

/// The default job, of 12 places with counted tasks, on 8 map slots and 4 reduce slots.
#[test]
fn the_default_job_on_half_of_its_slots_has_its_exact_time() {
    let Some(folder) = shared("data/regressions") else { return };
    let text = std::fs::read_to_string(folder.join("folded-default-job.xml")).unwrap();
    let fewer = text.replace("Default,8<", "Default,4<").replace("Default,16<", "Default,8<");
    let folder = tempfile::tempdir().unwrap();
    let net = folder.path().join("net.xml");
    std::fs::write(&net, fewer).unwrap();
    let found: Value = serde_json::from_str(&data(&["net", "solve", &net.to_string_lossy(), "--json"])).unwrap();
    assert_eq!(found["state_space"]["tangible"].as_f64(), Some(76_723.0));
    let time = &found["passage"];
    let quantile = |p: f64| {
        let all = time["quantiles"].as_array().unwrap();
        &all.iter().find(|point| point["p"].as_f64() == Some(p)).unwrap()["value"]
    };
    for (found, value, most) in [
        (&time["mean_s"], 380.57, 0.006),
        (&time["sd_s"], 21.478, 0.0006),
        (quantile(0.99), 434.98, 0.006),
        (quantile(0.999), 456.85, 0.006),
    ] {
        assert!((found.as_f64().unwrap() - value).abs() < most, "{found} is not {value}");
    }
}

/// Three tasks that wait for two slots, and two queues with too many markings to be counted.
fn tasks_and_queues() -> Net {
    let mut b = NetBuilder::new("tasks and queues");
    let (slots, pace) = (b.place("slots", 2), b.parameter("pace", 1.0));
    for i in 0..3 {
        let [todo, busy] = [("todo", 1), ("busy", 0)].map(|(name, n)| b.place(format!("{name}{i}"), n));
        let begin = b.transition(format!("begin{i}"), Timing::exponential(1.0));
        b.input(todo, begin, 1.0);
        b.input(slots, begin, 1.0);
        b.output(begin, busy, 1.0);
        let delay = Delay::Exponential { rate: Expr::Leaf(Leaf::Parameter(pace)) };
        let timing = Timing::Timed { delay, servers: Servers::Single, memory: Memory::Enabling };
        let end = b.transition(format!("end{i}"), timing);
        b.input(busy, end, 1.0);
        b.output(end, todo, 1.0);
        b.output(end, slots, 1.0);
    }
    for i in 0..2 {
        let queue = b.place(format!("queue{i}"), 0);
        b.place_mut(queue).capacity = Some(60);
        let arrive = b.transition(format!("arrive{i}"), Timing::exponential(1.0));
        b.output(arrive, queue, 1.0);
        let serve = b.transition(format!("serve{i}"), Timing::exponential(1.5));
        b.input(queue, serve, 1.0);
    }
    b.build().unwrap()
}

#[test]
fn every_result_reports_what_was_folded_and_what_was_not() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (net, sweep) = (at("net.xml"), at("sweep.toml"));
    std::fs::write(&net, write(&tasks_and_queues(), &WriteOptions::default()).xml).unwrap();
    let goal = "#(busy0) + #(busy1) + #(busy2) >= 2";
    let plan = format!(
        "[sweep]\nnet = \"net.xml\"\nuntil = \"{goal}\"\nreplications = 20\n[[axis]]\nkey = \"pace\"\nvalues = [2.0]\n"
    );
    std::fs::write(&sweep, &plan).unwrap();
    let many = "#(queue0) + #(queue1) >= 6";
    let cases: [(&[&str], &str); 7] = [
        (&["net", "simulate", &net, "--until", goal, "--reps", "20"], "/provenance"),
        (&["net", "simulate", &net, "--horizon", "5", "--tokens", "--reps", "20"], "/provenance"),
        (&["net", "simulate", &net, "--steady", "--steady-firings", "20000"], ""),
        (&["net", "simulate", &net, "--horizon", "1", "--tokens", "--method", "exact"], "/method"),
        (&["net", "rare", &net, "--until", many, "--within", "9", "--batches", "4", "--effort", "100"], ""),
        (&["study", &sweep], ""),
        (&["study", &sweep, "--method", "each", "--reps", "20"], ""),
    ];
    for (args, at) in cases {
        let found = |more: &[&str]| -> Value {
            let found: Value = serde_json::from_str(&data(&[args, more, &["--json"]].concat())).unwrap();
            found.pointer(at).unwrap().clone()
        };
        let folded = found(&[]);
        assert!(number(&folded["folded"], "places") < number(&folded["folded"], "places_before"), "{args:?}: {folded}");
        let not = folded["not_folded"].as_array().unwrap_or_else(|| panic!("{args:?}: {folded}"));
        assert_eq!((not.len(), &not[0]["parts"]), (1, &2.into()), "{args:?}: {not:?}");
        assert!(not[0]["example"].as_str().unwrap().starts_with("queue"), "{args:?}: {not:?}");
        assert!(!not[0]["reason"].as_str().unwrap().is_empty());
        let text = data(&[args, &["--verbose"]].concat());
        assert!(text.contains("not folded"), "{args:?}: {text}");
        let apart = found(&["--no-fold"]);
        assert_eq!((&apart["folded"], &apart["not_folded"]), (&Value::Null, &Value::Null), "{args:?}");
    }
}

#[test]
fn jobs_run_unfolded_on_request_with_the_same_times() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (job, sweep) = (at("job.toml"), at("sweep.toml"));
    std::fs::write(
        &job,
        "[job]\ninput_mb = 640\nreduces = 2\n[[cluster.node]]\ncount = 2\nmap_slots = 2\nreduce_slots = 1\n",
    )
    .unwrap();
    std::fs::write(
        &sweep,
        "[sweep]\nbase = \"job.toml\"\nreplications = 4000\n[[axis]]\nkey = \"job.reduces\"\nvalues = [3]\n",
    )
    .unwrap();
    let found = |args: &[&str]| -> Value { serde_json::from_str(&data(&[args, &["--json"]].concat())).unwrap() };
    let value = |value: &Value| value.as_f64().unwrap();
    let estimate = ["estimate", &job, "--reps", "4000", "--method", "simulate"];
    let [folded, apart] = [&[][..], &["--no-fold"]].map(|more| found(&[&estimate, more].concat()));
    assert!(folded["provenance"]["folded"].is_object() && apart["provenance"]["folded"].is_null());
    let agree = |[a, b]: [&Value; 2]| {
        let [[a, a_error], [b, b_error]] = [a, b].map(with_error);
        let error = a_error.hypot(b_error);
        let difference = (a - b).abs();
        // other random numbers
        assert!(difference > 0.0 && difference < 5.0 * error && error < 0.01 * a, "{a} {b} {error}");
    };
    agree([&folded, &apart].map(|found| &found["job_time"]["mean"]));
    let [folded, apart] = [&[][..], &["--no-fold"]].map(|more| {
        found(&[&["estimate", &job, "--input-size", "192MB", "--workers", "1", "--method", "exact"], more].concat())
    });
    assert!(folded["method"]["folded"].is_object() && apart["method"]["folded"].is_null(), "{folded}");
    assert!(value(&folded["method"]["states"]) < value(&apart["method"]["states"]));
    let [a, b] = [&folded, &apart].map(|found| value(&found["analytic"]["mean"]));
    assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    let result = at("result");
    let [folded, apart] =
        [&[][..], &["--no-fold", "--save", &result]].map(|more| found(&[&["study", &sweep], more].concat()));
    assert!(folded["folded"].is_object() && apart["folded"].is_null());
    agree([&folded, &apart].map(|found| &found["points"][1]["mean_s"]));
    // other random numbers: a folder of one kind does not continue with the other
    let text = crate::cli::shown(&["study", &sweep, "--save", &result, "--resume"]);
    assert!(!text.starts_with("exit 0"), "{text}");
}

#[test]
fn canonical_markings_answer_questions_symmetric_in_the_parts() {
    let folder = tempfile::tempdir().unwrap();
    let net = folder.path().join("net.xml").to_string_lossy().into_owned();
    std::fs::write(&net, write(&stations(), &WriteOptions::default()).xml).unwrap();
    let solved = |until: &str, more: &[&str]| -> Value {
        serde_json::from_str(&data(&[&["net", "solve", &net, "--until", until, "--json"][..], more].concat())).unwrap()
    };
    for (goal, parts, states) in
        [("#(queue0) + #(queue1) + #(queue2) + #(queue3) >= 12", 4, 2_730), ("#(queue2) >= 9 && #(here) > 0", 3, 8_736)]
    {
        let (sorted, apart) = (solved(goal, &[]), solved(goal, &["--no-fold"]));
        let folded = &sorted["folded"];
        assert_eq!(
            (&folded["exchanged"][0]["parts"], number(folded, "states")),
            (&parts.into(), states),
            "{goal}: {folded}"
        );
        assert_eq!(sorted["state_space"]["tangible"].as_f64(), Some(41_472.0));
        for key in ["probability", "mean_s", "sd_s", "quantiles"] {
            assert_same(&sorted["passage"][key], &apart["passage"][key], goal);
        }
        assert_eq!((&apart["folded"], &sorted["not_folded"]), (&Value::Null, &Value::Null));
    }
    let checked = data(&["net", "check", &net]);
    assert!(
        checked.contains("canonical in `net solve`") && checked.contains("4 parts like the part of `queue0`"),
        "{checked}"
    );
    let text = data(&["net", "solve", &net, "--verbose"]);
    assert!(text.contains("canonical markings"), "{text}");
}

/// Seventeen tasks take turns on seven slots while the power is on. A task that ends makes way for one of eleven, so another
/// marking of the set is entered, which is not an event.
#[test]
fn a_start_is_entered_from_outside_in_a_folded_net() {
    let mut b = NetBuilder::new("turns");
    let [on, off, slots] = [("on", 1), ("off", 0), ("slots", 7)].map(|(name, n)| b.place(name, n));
    for (name, from, to, rate) in [("fails", on, off, 0.5), ("repaired", off, on, 0.7)] {
        let t = b.transition(name, Timing::exponential(rate));
        b.input(from, t, 1.0);
        b.output(t, to, 1.0);
    }
    for i in 0..17 {
        let [waits, runs] = [("waits", 1), ("runs", 0)].map(|(name, n)| b.place(format!("{name}{i}"), n));
        let begin = b.transition(format!("begin{i}"), Timing::immediate(1.0, 1));
        b.input(waits, begin, 1.0);
        b.input(slots, begin, 1.0);
        b.output(begin, runs, 1.0);
        let end = b.transition(format!("end{i}"), Timing::exponential(1.0));
        b.test(on, end, 1.0);
        b.input(runs, end, 1.0);
        b.output(end, slots, 1.0);
        b.output(end, waits, 1.0);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("turns.xml");
    std::fs::write(&path, write(&b.build().unwrap(), &WriteOptions::default()).xml).unwrap();
    let from = ["--from", "#(slots) = 0 && #(on) = 1", "--until", "#(off) = 1", "--json"];
    let report: Value =
        serde_json::from_str(&data(&[&["net", "solve", path.to_str().unwrap()][..], &from].concat())).unwrap();
    // the event is a repair; turns happen inside the set
    let mean = report["passage"]["mean_s"].as_f64().unwrap();
    assert!((mean - 2.0).abs() < 1e-6, "{mean}: {}", report["folded"]);
}
