//! `--until` with `--avoid`, `--within` and rewards: one answer of `net solve`, `net query` and `net simulate`.

use crate::cli::{data, show, tool};
use crate::shared::shared;

const QUEUE: &str = "models/textbook/mm1k.xml";
const RETRY: &str = "models/textbook/forkjoin_retry.xml";

fn json(args: &[&str]) -> serde_json::Value {
    serde_json::from_str(&data(&[args, &["--json"]].concat())).unwrap()
}

fn number(value: &serde_json::Value, at: &str) -> f64 {
    value.pointer(at).and_then(serde_json::Value::as_f64).unwrap_or_else(|| panic!("{at} of {value}"))
}

fn query(net: &str, text: &str) -> f64 {
    number(&json(&["net", "query", net, text]), "/queries/0/value")
}

/// Each goal by `net solve`, by `net query`, and by 40,000 replications within five standard errors.
#[test]
fn probabilities_are_those_of_queries_and_replications() {
    for (net, goal, avoid, times, csl) in [
        (QUEUE, "#(queue) = 0", "#(queue) >= 3", "1..3", "U[1,3]"),
        (QUEUE, "#(queue) = 2", "#(queue) = 4", "2..", "U>=2"),
        ("models/textbook/tandem_blocking.xml", "#(done) + #(second) >= 2", "#(done) >= 2", "2", "U<=2"),
        ("models/textbook/readers_writers.xml", "#(writing) >= 1", "#(reading) > 1", "0.5", "U<=0.5"),
        (RETRY, "#(a2) >= 1", "#(b2) >= 1", "2", "U<=2"),
        // two vanishing markings
        (RETRY, "#(bc) >= 1", "#(ac) >= 1", "0..0.7", "U<=0.7"),
    ] {
        let asked = ["--until", goal, "--avoid", avoid, "--within", times];
        let exact = number(&json(&[&["net", "solve", net][..], &asked].concat()), "/within/probability");
        let by_query = query(net, &format!("P=? [ !({avoid}) {csl} {goal} ]"));
        assert!((exact - by_query).abs() < 1e-10, "{net} {goal}: {exact}, by query {by_query}");
        assert!(exact > 0.01 && exact < 0.999, "{net} {goal}: {exact}");
        let run = json(&[&["net", "simulate", net, "--reps", "40000"][..], &asked].concat());
        let found = number(&run, "/goal_probability/value");
        let error = (exact * (1.0 - exact) / 40_000.0).sqrt();
        assert!((found - exact).abs() <= 5.0 * error, "{net} {goal}: {found}, exactly {exact}");
    }
}

/// Arrivals at 2/s and services at 3/s, from an empty queue to a full one: rewards are those of queries and of replications.
#[test]
fn rewards_up_to_a_goal_are_those_of_queries_and_replications() {
    // the start itself is to be avoided
    let report = json(&["net", "solve", QUEUE, "--until", "#(queue) = 5", "--avoid", "#(queue) = 0"]);
    assert!(number(&report, "/passage/probability") < 1e-300);
    let mean = |args: &[&str]| {
        number(&json(&[&["net", "solve", QUEUE, "--until", "#(queue) = 5"], args].concat()), "/rewards/0/value")
    };
    let time = query(QUEUE, "R=? [ F #(queue) = 5 ]");
    assert!((mean(&["--reward", "time=1"]) - time).abs() < 1e-9);
    let served = query(QUEUE, "R{firings(serve)}=? [ F #(queue) = 5 ]");
    assert!((mean(&["--impulse", "served=serve:1"]) - served).abs() < 1e-9, "{served}");
    // each customer that was served or waits has arrived
    assert!((mean(&["--impulse", "came=arrive:1"]) - served - 5.0).abs() < 1e-9);
    let until = mean(&["--within", "2", "--reward", "jobs=#(queue)"]);
    let run = json(&[
        "net",
        "simulate",
        QUEUE,
        "--until",
        "#(queue) = 5",
        "--within",
        "2",
        "--reward",
        "jobs=#(queue)",
        "--reps",
        "40000",
    ]);
    let (found, low, high) =
        (number(&run, "/rewards/0/value"), number(&run, "/rewards/0/low"), number(&run, "/rewards/0/high"));
    assert!((found - until).abs() <= 2.6 * (high - low) / 2.0, "{found}, exactly {until}");
    let exact = json(&["net", "simulate", QUEUE, "--until", "#(queue) = 5", "--reward", "time=1", "--method", "exact"]);
    assert!((number(&exact, "/rewards/0/value") - time).abs() < 1e-9);
}

/// The time-bounded property of the benchmark set, by options and by a query.
#[test]
fn the_deadlock_of_philosophers_is_that_of_the_property() {
    let Some(folder) = shared("data/qcomp/ctmc") else { return };
    let net = folder.join("philosophers/philosophers.4.jani").display().to_string();
    let bound = ["--param", "TIME_BOUND=1"];
    let solved = json(&[&["net", "solve", &net, "--until", "dead", "--within", "1"][..], &bound].concat());
    let by_query = json(&[&["net", "query", &net, "P=? [ F<=1 \"deadlock\" ]"][..], &bound].concat());
    let property = json(&[&["net", "solve", &net, "--property", "MaxPrReachDeadlockTB"][..], &bound].concat());
    let found = number(&solved, "/within/probability");
    assert!((found - number(&by_query, "/queries/0/value")).abs() < 1e-12);
    assert!((found - number(&property, "/properties/0/value")).abs() < 1e-12, "{found} {property}");
}

/// Folded and canonical states give the numbers of all states.
#[test]
fn folded_parts_do_not_change_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let net = folder.path().join("machines.xml").display().to_string();
    std::fs::write(&net, machines()).unwrap();
    let asked = [
        "net",
        "solve",
        &net,
        "--until",
        "#(broken) >= 6",
        "--avoid",
        "#(orders) >= 9",
        "--within",
        "0.5..4",
        "--json",
    ];
    let rewards = [
        "net",
        "solve",
        &net,
        "--until",
        "#(broken) >= 6",
        "--avoid",
        "#(orders) >= 9",
        "--reward",
        "up=#(orders)",
        "--json",
    ];
    for (args, at) in [(asked, "/within/probability"), (rewards, "/rewards/0/value")] {
        let folded: serde_json::Value = serde_json::from_str(&data(&args)).unwrap();
        let apart: serde_json::Value = serde_json::from_str(&data(&[&args[..], &["--no-fold"]].concat())).unwrap();
        assert!(folded.pointer("/folded/states").is_some(), "{folded}");
        assert!(number(&folded, "/folded/states") * 10.0 < number(&apart, "/state_space/tangible"));
        let (folded, apart) = (number(&folded, at), number(&apart, at));
        assert!(folded > 1e-3 && (folded - apart).abs() < 1e-9, "{folded} {apart}");
    }
}

/// Eleven equal machines that break and are repaired, and orders.
fn machines() -> String {
    use tailspn::formats::pipe::{WriteOptions, write};
    use tailspn::net::{NetBuilder, Timing};
    let mut b = NetBuilder::new("machines");
    let (broken, orders) = (b.place("broken", 0), b.place("orders", 0));
    b.place_mut(orders).capacity = Some(10);
    let order = b.transition("order", Timing::exponential(2.0));
    b.output(order, orders, 1.0);
    let ship = b.transition("ship", Timing::exponential(2.5));
    b.input(orders, ship, 1.0);
    for i in 0..11 {
        let [up, down] = [("up", 1), ("down", 0)].map(|(name, tokens)| b.place(format!("{name}{i}"), tokens));
        let fails = b.transition(format!("fail{i}"), Timing::exponential(0.3));
        b.input(up, fails, 1.0);
        b.output(fails, down, 1.0);
        b.output(fails, broken, 1.0);
        let repair = b.transition(format!("repair{i}"), Timing::exponential(0.9));
        b.input(down, repair, 1.0);
        b.input(broken, repair, 1.0);
        b.output(repair, up, 1.0);
    }
    write(&b.build().unwrap(), &WriteOptions::default()).xml
}

#[test]
fn options_that_do_not_fit_until_are_refused_with_the_reason() {
    for (args, exit, told) in [
        (&["net", "solve", QUEUE, "--within", "3"][..], 2, "--until"),
        (
            &["net", "solve", QUEUE, "--until", "#(queue) = 5", "--within", "3..1"],
            2,
            "the first time is after the second time",
        ),
        (
            &["net", "solve", QUEUE, "--until", "#(queue) = 5", "--within", "1..3", "--reward", "a=1"],
            2,
            "rewards are collected from the start",
        ),
        (&["net", "solve", QUEUE, "--until", "dead", "--within", "1..3"], 2, "does not allow a first time in --within"),
        (
            &["net", "simulate", QUEUE, "--until", "dead", "--within", "1..3"],
            2,
            "does not allow a first time in --within",
        ),
        (&["net", "solve", QUEUE, "--until", "#(queue) = 5", "--avoid", "#(quue) = 1"], 2, "there is no place `quue`"),
        (&["net", "simulate", QUEUE, "--until", "#(queue) = 5", "--within", "3", "--horizon", "5"], 2, "--horizon"),
        (
            &["net", "simulate", QUEUE, "--until", "horizon", "--horizon", "5", "--avoid", "#(queue) = 5"],
            2,
            "has no goal",
        ),
        (
            &["net", "simulate", QUEUE, "--until", "#(queue) = 5", "--within", "1..3", "--engine", "lockstep"],
            5,
            "the goal does not count before a given time",
        ),
        (
            &["net", "simulate", QUEUE, "--until", "#(queue) = 5", "--within", "3", "--method", "exact"],
            5,
            "the time to the goal is limited",
        ),
    ] {
        let output = tool(args).output().unwrap();
        let shown = show(&output);
        assert!(output.status.code() == Some(exit) && shown.contains(told), "{args:?}: {shown}");
    }
}
