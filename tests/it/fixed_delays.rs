//! Nets with fixed delays: one answer of `net solve`, `net query` and `net simulate`.

use tailspn::formats::pipe::{WriteOptions, write};
use tailspn::net::{Delay, Law, Memory, NetBuilder, Servers, Timing};

use crate::cli::{data, shown, unwrapped};

fn json(args: &[&str]) -> serde_json::Value {
    serde_json::from_str(&data(&[args, &["--json"]].concat())).unwrap()
}

fn number(value: &serde_json::Value, at: &str) -> f64 {
    value.pointer(at).and_then(serde_json::Value::as_f64).unwrap_or_else(|| panic!("{at} of {value}"))
}

/// Writes a net of a machine that breaks at 0.5 per second, unless a clock with the delay `law` stops it first. The machine
/// is mended or resumed at 1 per second.
fn machine(path: &str, law: Law, memory: Memory) {
    let mut b = NetBuilder::new("machine");
    let [works, broken, paused] = ["works", "broken", "paused"].map(|id| b.place(id, u32::from(id == "works")));
    let clock = Timing::Timed { delay: Delay::General(law), servers: Servers::Single, memory };
    for (id, timing, from, to) in [
        ("stop", clock, works, paused),
        ("fail", Timing::exponential(0.5), works, broken),
        ("mend", Timing::exponential(1.0), broken, works),
        ("resume", Timing::exponential(1.0), paused, works),
    ] {
        let t = b.transition(id, timing);
        b.input(from, t, 1.0);
        b.output(t, to, 1.0);
    }
    std::fs::write(path, write(&b.build().unwrap(), &WriteOptions::default()).xml).unwrap();
}

#[test]
fn a_timeout_has_its_closed_form_and_its_simulation() {
    let folder = tempfile::tempdir().unwrap();
    let net = folder.path().join("machine.xml").display().to_string();
    machine(&net, Law::Deterministic { delay: 3.0 }, Memory::Enabling);
    let survives = f64::exp(-1.5);

    let question = ["--until", "#(paused)", "--avoid", "#(broken)"];
    let found = json(&[&["net", "solve", &net][..], &question, &["--within", "3"]].concat());
    assert_eq!(found["method"]["used"], "fixed-delays");
    assert!((number(&found, "/within/probability") - survives).abs() < 1e-13, "{found}");
    assert!(number(&found, "/within/error") < 1e-12 && number(&found, "/method/grid_step_s") <= 3.0);
    let early = json(&[&["net", "solve", &net][..], &question, &["--within", "2.99"]].concat());
    assert!(number(&early, "/within/probability").abs() < 1e-13);

    let found = json(&["net", "solve", &net, "--until", "#(paused) + #(broken)", "--at", "1,3"]);
    let mean = (1.0 - survives) / 0.5;
    assert!((number(&found, "/passage/mean_s") - mean).abs() < 1e-12);
    assert!((number(&found, "/passage/cdf/0/probability") - (1.0 - f64::exp(-0.5))).abs() < 1e-12);
    assert!((number(&found, "/passage/cdf/1/probability") - 1.0).abs() < 1e-12);
    // the longest runs end with the clock
    assert!((number(&found, "/passage/quantiles/2/value") - 3.0).abs() < 1e-12, "{found}");
    for (text, value) in [
        ("P=? [ #(broken) = 0 U<=3 #(paused) = 1 ]", survives),
        ("P=? [ #(paused) = 0 U #(broken) = 1 ]", 1.0 - survives),
        ("R=? [ F #(works) = 0 ]", mean),
        ("S=? [ #(works) = 1 ]", mean / (mean + 1.0)),
    ] {
        assert!((number(&json(&["net", "query", &net, text]), "/queries/0/value") - value).abs() < 1e-11, "{text}");
    }

    // by 40,000 replications, within five standard errors
    let exact = number(&json(&["net", "query", &net, "R{#(works)}=? [ I=7.5 ]"]), "/queries/0/value");
    let at = json(&["net", "solve", &net, "--at", "7.5"]);
    assert!((number(&at, "/at/0/tokens/0/value") - exact).abs() < 1e-12 && number(&at, "/at/0/error") < 1e-11);
    let run = json(&["net", "simulate", &net, "--reps", "40000", "--until", "#(paused)", "--within", "5"]);
    let exact = number(&json(&["net", "solve", &net, "--until", "#(paused)", "--within", "5"]), "/within/probability");
    let error = (exact * (1.0 - exact) / 40_000.0).sqrt();
    assert!(
        (0.1..0.9).contains(&exact) && (number(&run, "/goal_probability/value") - exact).abs() <= 5.0 * error,
        "{exact}"
    );
}

/// A goal that is reached with a probability above one half by less than the rounding error: its median would be searched for
/// without end.
#[test]
fn a_quantile_within_rounding_of_the_probability_of_the_goal_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let net = folder.path().join("machine.xml").display().to_string();
    machine(&net, Law::Deterministic { delay: 2.0 * std::f64::consts::LN_2 * (1.0 - 1e-14) }, Memory::Enabling);
    let found = json(&["net", "solve", &net, "--until", "#(paused)", "--avoid", "#(broken)"]);
    let above = number(&found, "/passage/probability") - 0.5;
    assert!(0.0 < above && above < 1e-13, "{above}");
    let asked = |of: &str| found["passage"][of].as_array().unwrap().len();
    assert_eq!((asked("quantiles"), asked("quantiles_if_reached")), (0, 5), "{found}");
}

#[test]
fn unsupported_questions_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let net = folder.path().join("machine.xml").display().to_string();
    let refused = |law: Law, memory, args: &[&str]| {
        machine(&net, law, memory);
        shown(&[&["net", "solve", &net][..], args].concat())
    };
    let fixed = || Law::Deterministic { delay: 3.0 };
    let until = ["--until", "#(paused)", "--within"];
    for (found, reason) in [
        (
            refused(fixed(), Memory::Enabling, &[&until[..], &["1..2"]].concat()),
            "a first time above 0 is not supported",
        ),
        (
            refused(fixed(), Memory::Enabling, &["--until", "#(paused)", "--reward", "up=#(works)"]),
            "a reward up to a goal is not supported",
        ),
        (
            refused(fixed(), Memory::Enabling, &["--from", "#(works)", "--until", "#(paused)"]),
            "a time from one set of markings to another is not supported",
        ),
        (refused(fixed(), Memory::Age, &[&until[..], &["2"]].concat()), "age memory"),
        (refused(Law::Uniform { low: 0.0, high: 1.0 }, Memory::Enabling, &[&until[..], &["2"]].concat()), "uniform"),
        (
            refused(
                Law::Empirical { samples: vec![1.0, f64::sqrt(2.0)] },
                Memory::Enabling,
                &[&until[..], &["2"]].concat(),
            ),
            "not multiples of one step",
        ),
        (refused(fixed(), Memory::Enabling, &[&until[..], &["1e12"]].concat()), "multiplications are needed"),
    ] {
        let found = unwrapped(&found.replace('│', ""));
        assert!(found.starts_with("exit 5") && found.contains(reason), "{reason}: {found}");
    }
}
