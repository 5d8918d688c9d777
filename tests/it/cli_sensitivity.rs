//! `sensitivity` as a person uses it: known answers by each method, what cannot be said, tables.

use serde_json::Value;
use tailspn::formats::pipe::{WriteOptions, write};
use tailspn::net::expr::Leaf;
use tailspn::net::{Delay, Expr, Memory, NetBuilder, Servers, Timing};
use tempfile::TempDir;

use crate::cli::{assert_shown, data, shown};

/// A folder with files in it.
struct Folder(TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        files.iter().for_each(|(name, text)| std::fs::write(folder.0.path().join(name), text).unwrap());
        folder
    }

    fn at(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }
}

/// One map and one reduce: the mean job time is the sum of the nine means, whatever the distributions.
const CHAIN: &str = "[phases]\nmaps = 1\nreduces = 1\nmeans_s = [1, 2, 3, 4, 5, 6, 7, 8, 9]\n";

/// Axes over three of the means, and one key that changes nothing.
const AXES: &str = "[sweep]\nbase = \"job.toml\"\nseed = 2\n\
                    [[axis]]\nkey = \"phases.means_s[0]\"\nname = \"load\"\nfrom = 0.5\nto = 12.5\n\
                    [[axis]]\nkey = \"phases.means_s[3]\"\nname = \"gpu\"\nfrom = 1\nto = 25\n\
                    [[axis]]\nkey = \"phases.means_s[8]\"\nname = \"reduce\"\nfrom = 1\nto = 7\n\
                    [[axis]]\nkey = \"hadoop.sort_mb\"\nfrom = 50\nto = 200\n";

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&data(args)).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The effect of a knob by its name.
fn effect<'a>(report: &'a Value, name: &str) -> &'a Value {
    let knobs = report["knobs"].as_array().unwrap();
    &knobs.iter().find(|knob| knob["name"] == name).unwrap_or_else(|| panic!("no {name} in {report}"))["effect"]
}

/// Within five standard errors of the truth, and the standard error at most `most`.
fn near(found: &Value, truth: f64, most: f64) {
    let [value, low, high] = ["value", "low", "high"].map(|key| number(&found[key]));
    let error = 0.5 * (high - low) / 1.959_964;
    assert!((value - truth).abs() <= 5.0 * error + 1e-9 && error < most, "{found} against {truth}, error {error}");
}

#[test]
fn help_of_sensitivity() {
    assert_shown!(data(&["study", "--method=derivatives", "--help"]));
}

/// A chain is linear in its means: derivatives are 1, differences and elementary effects the ranges, and the variance is the sum of
/// (range²)/12, so that every index is known and first and total ones are equal.
#[test]
fn a_chain_has_the_effects_of_a_linear_model() {
    let folder = Folder::new(&[("job.toml", CHAIN), ("plan.toml", AXES)]);
    let plan = folder.at("plan.toml");
    let ranges = [("load", 12.0), ("gpu", 24.0), ("reduce", 6.0), ("hadoop.sort_mb", 0.0)];
    let by = json(&["study", "--method=derivatives", &plan, "--json", "--reps=40000"]);
    for (name, _) in &ranges[..3] {
        near(&effect(&by, name)["per_unit_s"], 1.0, 0.01);
    }
    near(&effect(&by, "hadoop.sort_mb")["per_unit_s"], 0.0, 1e-9);
    near(&by["value_s"], 45.0, 0.1);
    let each = json(&["study", &plan, "--method=each", "--json", "--reps=20000"]);
    let morris = json(&["study", &plan, "--method=morris", "--json", "--rows=40"]);
    for (name, range) in ranges {
        near(&effect(&each, name)["change_s"], range, 0.015 * range + 1e-9);
        near(&effect(&morris, name)["mean_s"], range, 0.025 * range + 1e-9);
        near(&effect(&morris, name)["size_s"], range, 0.025 * range + 1e-9);
        // an elementary effect of an exponential delay has the noise of 200 replications and no spread of its own
        assert!(number(&effect(&morris, name)["spread_s"]["value"]) <= 0.1 * range, "{morris}");
    }
    near(&effect(&each, "gpu")["per_unit_s"], 1.0, 0.02);
    near(&effect(&each, "gpu")["per_percent_s"], 0.13, 0.003);
    let names: Vec<_> = each["knobs"].as_array().unwrap().iter().map(|knob| knob["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["gpu", "load", "reduce", "hadoop.sort_mb"]);
    let sobol = json(&["study", &plan, "--method=sobol", "--json", "--rows=600"]);
    let variance: f64 = ranges.iter().map(|(_, range)| range * range / 12.0).sum();
    for (name, range) in ranges {
        let share = range * range / 12.0 / variance;
        near(&effect(&sobol, name)["first"], share, 0.07);
        near(&effect(&sobol, name)["total"], share, 0.05);
    }
    near(&sobol["variance_s2"], variance, 0.06 * variance);
    // the noise of 32 replications that is not in these numbers: the squares of nine means over 32, of which three vary
    let noise =
        ((4.0 + 9.0 + 25.0 + 36.0 + 49.0 + 64.0) + (6.5 * 6.5 + 12.0) + (13.0 * 13.0 + 48.0) + (16.0 + 3.0)) / 32.0;
    assert!((number(&sobol["noise_s2"]) / noise - 1.0).abs() < 0.1, "{} against {noise}", sobol["noise_s2"]);
}

#[test]
fn each_method_prints_its_table_and_csv() {
    let folder = Folder::new(&[("job.toml", CHAIN), ("plan.toml", AXES)]);
    let plan = folder.at("plan.toml");
    assert_shown!(data(&["study", "--method=derivatives", &plan]));
    assert_shown!(data(&["study", &plan, "--method=each", "--measure=p95"]));
    assert_shown!(data(&["study", &plan, "--method=morris", "--rows=10"]));
    assert_shown!(data(&["study", &plan, "--method=sobol", "--rows=40"]));
    assert_shown!(data(&["study", &plan, "--method=morris", "--rows=10", "--csv"]));
}

#[test]
fn the_same_seed_gives_the_same_effects_on_any_number_of_threads() {
    let folder = Folder::new(&[("job.toml", CHAIN), ("plan.toml", AXES)]);
    for method in ["derivatives", "morris", "sobol"] {
        let on = |threads: &str| {
            let method = format!("--method={method}");
            data(&["study", &folder.at("plan.toml"), &method, "--json", "--threads", threads, "--rows=20", "--reps=64"])
        };
        assert_eq!(on("1"), on("3"), "{method}");
    }
}

/// Two maps one after the other on the only slot are no schedule: what is in them counts twice, what is around them once.
#[test]
fn jobs_that_are_no_schedules_have_differences() {
    let job = "[phases]\nmaps = 2\nreduces = 1\nmeans_s = [1, 2, 3, 4, 5, 6, 7, 8, 9]\n[[cluster.node]]\ncount = 1\nmap_slots = 1\n\
               [model]\nslots = true\n";
    let folder = Folder::new(&[("job.toml", job), ("plan.toml", AXES)]);
    let found = json(&["study", "--method=derivatives", &folder.at("plan.toml"), "--json", "--reps=20000"]);
    assert_eq!(found["estimator"], "differences with common random numbers");
    for (name, slope) in [("load", 1.0), ("gpu", 2.0), ("reduce", 1.0)] {
        near(&effect(&found, name)["per_unit_s"], slope, 0.01 * slope);
    }
    near(&found["value_s"], 65.0, 0.2);
}

/// Keys that are not plain numbers, or that change more than delays, are reported; the others are still ranked.
#[test]
fn settings_without_a_derivative_give_the_reason() {
    let plan = "[sweep]\nbase = \"job.toml\"\n[[axis]]\nkey = \"job.reduces\"\nfrom = 10\nto = 80\nwhole = true\n\
                [[axis]]\nkey = \"job.split_mb\"\nfrom = 32\nto = 128\n[[axis]]\nkey = \"model.distribution.gpu\"\nvalues = [\"deterministic\"]\n\
                [[axis]]\nkey = \"cluster.node[*].gpu_speed\"\nfrom = 0.5\nto = 2.0\n";
    let two_kinds = "[[cluster.node]]\ncount = 2\ngpu_speed = 2.0\n[[cluster.node]]\ncount = 2\n";
    let folder = Folder::new(&[
        ("job.toml", "[job]\ninput_mb = 640\nreduces = 10\n[model]\nslots = false\n"),
        ("two.toml", two_kinds),
        ("plan.toml", plan),
    ]);
    assert_shown!(data(&["study", "--method=derivatives", &folder.at("plan.toml")]));
    std::fs::write(folder.at("other.toml"), plan.replace("job.toml", "two.toml")).unwrap();
    let other = data(&["study", "--method=derivatives", &folder.at("other.toml")]);
    assert!(other.split_whitespace().collect::<Vec<_>>().join(" ").contains("the entries of a list differ"), "{other}");
}

/// A queue with room for three, as PIPE XML.
fn queue() -> String {
    let mut b = NetBuilder::new("queue");
    let (free, queue) = (b.place("free", 3), b.place("queue", 0));
    let timing = |rate| {
        let delay = Delay::Exponential { rate };
        Timing::Timed { delay, servers: Servers::Single, memory: Memory::Enabling }
    };
    let rate = Expr::Leaf(Leaf::Parameter(b.parameter("lambda", 1.0)));
    let arrive = b.transition("arrive", timing(rate));
    let rate = Expr::Leaf(Leaf::Parameter(b.parameter("mu", 2.0)));
    let serve = b.transition("serve", timing(rate));
    b.input(free, arrive, 1.0);
    b.output(arrive, queue, 1.0);
    b.input(queue, serve, 1.0);
    b.output(serve, free, 1.0);
    write(&b.build().unwrap(), &WriteOptions::default()).xml
}

/// `net solve` gives the exact mean, so its central differences are the exact derivatives.
#[test]
fn derivatives_of_a_net_agree_with_differences_of_exact_answers() {
    let folder = Folder::new(&[("net.xml", &queue())]);
    let net = folder.at("net.xml");
    let until = "--until=#(free) == 0";
    let exact = |name: &str, value: f64| {
        let parameter = format!("--param={name}={value}");
        number(&json(&["net", "solve", &net, "--until=#(free) == 0", &parameter, "--json"])["passage"]["mean_s"])
    };
    let found = json(&["study", "--method=derivatives", &net, until, "--json", "--reps=200000"]);
    assert_eq!((&found["estimator"], &found["method"]), (&"likelihood ratio".into(), &"derivatives".into()));
    for (name, at) in [("lambda", 1.0), ("mu", 2.0)] {
        let h = 1e-3;
        let slope = (exact(name, at + h) - exact(name, at - h)) / (2.0 * h);
        near(&effect(&found, name)["per_unit_s"], slope, 0.013 * slope.abs());
        near(&effect(&found, name)["per_percent_s"], 0.01 * at * slope, 1.3e-4 * at * slope.abs());
    }
    // by the mean delays: dT/dm = −μ² dT/dμ
    let by_mean = json(&["study", "--method=derivatives", &net, until, "--transitions", "--json", "--reps=200000"]);
    let slope = (exact("mu", 2.001) - exact("mu", 1.999)) / 0.002;
    near(&effect(&by_mean, "serve")["per_unit_s"], -4.0 * slope, 0.055 * slope.abs());
    assert_shown!(data(&["study", "--method=derivatives", &net, until]));
}

/// The effects on the probability of a goal, against differences of exact probabilities.
#[test]
fn derivatives_of_a_probability_agree_with_differences_of_exact_answers() {
    let folder = Folder::new(&[("net.xml", &queue())]);
    let net = folder.at("net.xml");
    for goal in [
        &["--until=#(free) == 0", "--within=5"][..],
        &["--until=#(queue) == 0", "--avoid=#(free) == 0", "--within=2..6"],
    ] {
        let exact = |name: &str, value: f64| {
            let parameter = format!("--param={name}={value}");
            number(&json(&[&["net", "solve", &net, &parameter, "--json"], goal].concat())["within"]["probability"])
        };
        let found = json(&[&["study", "--method=derivatives", &net, "--json", "--reps=200000"], goal].concat());
        assert_eq!((&found["measure"], &found["value_s"]), (&"probability".into(), &Value::Null));
        near(&found["probability"], exact("lambda", 1.0), 0.006);
        for (name, at) in [("lambda", 1.0), ("mu", 2.0)] {
            let h = 1e-3;
            let slope = (exact(name, at + h) - exact(name, at - h)) / (2.0 * h);
            near(&effect(&found, name)["per_unit"], slope, 0.04 * slope.abs());
            near(&effect(&found, name)["per_percent"], 0.01 * at * slope, 4e-4 * at * slope.abs());
        }
        assert_shown!(data(&[&["study", "--method=derivatives", &net, "--reps=2000"], goal].concat()));
    }
    // a few replications determine the interval, or none reaches the goal
    let few = data(&["study", "--method=derivatives", &net, "--until=#(free) == 0", "--reps=100"]);
    assert!(
        few.split_whitespace().collect::<Vec<_>>().join(" ").contains("may be too narrow; increase --reps N."),
        "{few}"
    );
    let none = json(&[
        "study",
        "--method=derivatives",
        &net,
        "--until=#(free) == 0",
        "--within=0.0001",
        "--reps=100",
        "--json",
    ]);
    assert_eq!(none["knobs"][0]["note"], "none of the 100 replications reached the goal; increase --reps N");
}

/// In a schedule each of nine transitions in a row adds its own mean.
#[test]
fn transitions_of_a_schedule_are_ranked_by_their_means() {
    let folder = Folder::new(&[("job.toml", CHAIN)]);
    let net = folder.at("net.xml");
    data(&["net", "spn-gc", &folder.at("job.toml"), "--save-net", &net]);
    let found = json(&["study", "--method=derivatives", &net, "--json"]);
    assert_eq!(found["estimator"], "infinitesimal perturbation analysis");
    let knobs = found["knobs"].as_array().unwrap();
    assert_eq!(knobs.len(), 9);
    for (knob, mean) in knobs.iter().zip((1..=9).rev().map(f64::from)) {
        near(&knob["effect"]["per_unit_s"], 1.0, 0.01);
        assert!((number(&knob["effect"]["at"]) - mean).abs() < 1e-9, "{knob}");
    }
}

#[test]
fn wrong_questions_are_refused() {
    let folder = Folder::new(&[("net.xml", &queue()), ("job.toml", CHAIN), ("plan.toml", AXES)]);
    let told = |args: &[&str], exit: &str, what: &str| {
        let text = shown(args);
        let flat = text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(text.starts_with(&format!("exit {exit}")) && flat.contains(what), "{text}");
    };
    let (net, plan) = (folder.at("net.xml"), folder.at("plan.toml"));
    told(&["study", &net, "--method=morris"], "2", "a net without a plan has no ranges");
    told(
        &["study", "--method=derivatives", &net, "--until=#(free) == 0", "--measure=p95"],
        "5",
        "derivatives of quantiles need a schedule",
    );
    told(&["study", "--method=derivatives", &net, "--until=#(fre) == 0"], "2", "fre");
    told(&["study", "--method=derivatives", &net, "--until=#(free) == 0", "--avoid=#(quee)"], "2", "quee");
    told(
        &["study", "--method=derivatives", &net, "--until=dead", "--within=2..5"],
        "2",
        "a net that is dead stays dead",
    );
    told(
        &["study", "--method=derivatives", &net, "--until=#(free) == 0", "--within=5", "--measure=p95"],
        "2",
        "cannot be used with",
    );
    told(
        &["study", "--method=derivatives", &plan, "--until=#(free) == 0"],
        "2",
        "applies to nets; a plan states its goal",
    );
    // an empty file and a binary file are neither
    let (empty, binary) = (folder.at("empty.xml"), folder.at("binary.xml"));
    std::fs::write(&empty, "").unwrap();
    std::fs::write(&binary, [0_u8, 159, 146, 150]).unwrap();
    for file in [&empty, &binary] {
        let shown = shown(&["study", "--method=derivatives", file, "--until=#(free) == 0"]);
        assert!(!shown.contains("applies to nets") && !shown.starts_with("exit 0"), "{shown}");
    }
    told(&["study", "--method=derivatives", &empty, "--until=#(free) == 0"], "3", "empty");
    told(&["study", "--method=derivatives", &plan, "--measure=p100"], "2", "expected `mean`, or a quantile");
    told(&["study", &plan, "--method=sobol", "--rows=3"], "5", "3 rows of points are too few");
    told(&["study", &plan, "--method=morris", "--reps=2"], "2", "replications are needed to estimate the noise");
    told(&["study", "--method=derivatives", "nowhere.toml"], "7", "cannot read");
    let still = "[sweep]\nbase = \"job.toml\"\n[[axis]]\nkey = \"hadoop.sort_mb\"\nfrom = 50\nto = 200\n";
    std::fs::write(folder.at("still.toml"), still).unwrap();
    let job = CHAIN.to_owned()
        + "[model.distribution]\n"
        + &["load", "read", "to_gpu", "gpu", "to_host", "spill", "shuffle", "merge", "reduce"]
            .map(|phase| format!("{phase} = \"deterministic\"\n"))
            .concat();
    std::fs::write(folder.at("job.toml"), job).unwrap();
    told(&["study", &folder.at("still.toml"), "--method=sobol"], "5", "the result does not vary");
}
