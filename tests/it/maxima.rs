//! Jobs of n tasks on n slots, whose time is the maximum of n task times: what the commands print against exact values.
//!
//! The values in `tests/data/exact/maxima.csv` come from closed forms and from quadrature with 40 digits, not from this program.
//! Every interval has the level of 5 standard errors, so an exact value outside an interval is a fault. An interval of a mean is at most
//! 1.5% wide on either side (2.5% for lognormal times, 15% for times with slow tasks, whose tails test quantiles and probabilities); the quantiles and probabilities test the tail, which a list of typical task times cuts.

use std::path::Path;

use serde_json::Value;

use crate::cli::data;

/// Two-sided probability of at most 5 standard errors, for a normal distribution.
const LEVEL: &str = "--level=0.9999994";

/// Exact values of one distribution and one number of tasks.
#[derive(Default)]
struct Exact {
    mean: f64,
    p95: f64,
    p99: f64,
    /// Times, and the probabilities that the maximum is at most as long.
    within: Vec<(String, f64)>,
}

fn exact(distribution: &str, tasks: u32) -> Exact {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/exact/maxima.csv");
    let mut exact = Exact::default();
    for row in csv::Reader::from_path(file).unwrap().records() {
        let row = row.unwrap();
        if &row[0] != distribution || row[1] != tasks.to_string() {
            continue;
        }
        let value: f64 = row[4].parse().unwrap();
        match (&row[2], &row[3]) {
            ("mean", _) => exact.mean = value,
            ("quantile", "0.95") => exact.p95 = value,
            ("quantile", "0.99") => exact.p99 = value,
            ("probability", time) => exact.within.push((time.to_owned(), value)),
            other => panic!("{other:?}"),
        }
    }
    assert!(exact.mean > 0.0 && exact.p95 > 0.0 && exact.within.len() >= 2, "{distribution} {tasks}");
    exact
}

/// The distributions of the table, as plans write them.
const DISTRIBUTIONS: [(&str, &str); 5] = [
    ("exponential", "\"exponential\""),
    ("erlang 3", "{ erlang = 3 }"),
    ("lognormal cv 1", "{ lognormal = { cv = 1 } }"),
    ("pareto 1.5", "{ pareto = { shape = 1.5 } }"),
    ("pareto 2.2", "{ pareto = { shape = 2.2 } }"),
];

const NO_COPIES: &str = "[[policy]]\nname = \"none\"\n";

/// A stage of tasks with a mean of 10 s on as many slots of five hosts, without run-to-run variation.
fn stage(tasks: u32, distribution: &str) -> String {
    format!(
        "[job]\ninput_mb = {tasks}\nexecutors = {tasks}\ncores = 1\nhosts = 5\n[run]\nsigma = 0\ndegrees_of_freedom = 1\nruns = 1\n\
         [[stage]]\ndistribution = {distribution}\ntasks = {{ fixed = {tasks} }}\ndata_mb = {{ fixed = {tasks} }}\n\
         cold = {{ fixed_s = 10 }}\nwarm = {{ fixed_s = 10 }}\n{NO_COPIES}"
    )
}

/// Maps on five workers with slots for all of them, and a reduce without length. Each phase of a map has a mean and a distribution.
fn maps(tasks: u32, phases: [(f64, &str); 5]) -> String {
    let means: Vec<String> = phases.iter().map(|phase| phase.0.to_string()).collect();
    let names = ["read", "to_gpu", "gpu", "to_host", "spill"];
    let distributions: String =
        names.iter().zip(phases).map(|(name, phase)| format!("{name} = {}\n", phase.1)).collect();
    format!(
        "[phases]\nmeans_s = [0, {}, 0, 0, 0]\nmaps = {tasks}\nreduces = 1\n\
         [[cluster.node]]\ncount = 5\nmap_slots = {}\n[model.distribution]\n{distributions}{NO_COPIES}",
        means.join(", "),
        tasks / 5
    )
}

/// The answer to a command on a plan, with a deadline.
fn ask(command: &[&str], plan: &str, deadline_s: &str, replications: u32) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.toml");
    std::fs::write(&file, plan).unwrap();
    let (deadline, replications) = (format!("--deadline={deadline_s}s"), format!("--reps={replications}"));
    let mut words = vec![command[0], file.to_str().unwrap(), "--json", "--quiet", "--seed=48", LEVEL];
    words.extend(&command[1..]);
    words.extend([deadline.as_str(), replications.as_str()]);
    serde_json::from_str(&data(&words)).unwrap()
}

/// Fails if an exact value is outside of the interval of an answer; returns the interval's half width relative to the value.
#[track_caller]
fn contains(answer: &Value, pointer: &str, exact: f64, what: &str) -> f64 {
    let measured = answer.pointer(pointer).unwrap_or_else(|| panic!("{what}: no {pointer}"));
    let at = |key: &str| measured[key].as_f64().unwrap_or_else(|| panic!("{what}: {pointer} {measured}"));
    let (low, high) = (at("low"), at("high"));
    assert!(low <= exact && exact <= high, "{what}: {pointer} is {low} to {high}, exactly {exact}");
    0.5 * (high - low) / exact
}

/// `whatif` without copies: mean, p95, p99, and the probability of one of the deadlines in the table.
#[track_caller]
fn whatif_is_exact(name: &str, (tasks, replications, deadline): (u32, u32, usize), plan: &str) {
    let exact = exact(name, tasks);
    let (deadline, probability) = &exact.within[deadline];
    let what = format!("{name}, {tasks} tasks, {deadline} s");
    let answer = ask(&["whatif"], plan, deadline, replications);
    // a sample mean of infinite variance has no standard error
    if name != "pareto 1.5" {
        let width = contains(&answer, "/policies/0/job_time_s", exact.mean, &what);
        let most = match name {
            "pareto 2.2" => f64::INFINITY,
            "lognormal cv 1" => 0.025,
            _ if name.contains("slow") => 0.15,
            _ => 0.015,
        };
        assert!(width < most, "{what}: ±{width}");
    }
    contains(&answer, "/policies/0/tails/0", exact.p95, &what);
    contains(&answer, "/policies/0/tails/1", exact.p99, &what);
    contains(&answer, "/policies/0/done_by_deadline", *probability, &what);
}

/// Numbers of tasks and of replications, and the deadline: about the mean, or about the 95% quantile.
const SMALL: (u32, u32, usize) = (10, 30_000, 0);
const LARGE: (u32, u32, usize) = (100, 8_000, 1);

/// Mutations that each fail here: task times from a list of 1,000 quantiles; the scale of a Pareto time taken for its mean.
#[test]
fn whatif_of_a_stage_has_the_tail_of_its_distribution() {
    for (name, distribution) in DISTRIBUTIONS {
        for size in [SMALL, LARGE] {
            whatif_is_exact(name, size, &stage(size.0, distribution));
        }
    }
}

/// The job with which the fault was reported: 3,000 exponential tasks took 75 s in `whatif` and 86 s exactly, and 80 s were certain
/// instead of unlikely.
#[test]
fn whatif_of_a_wide_stage_does_not_promise_an_early_end() {
    let exact = exact("exponential", 3_000);
    let answer = ask(&["whatif"], &stage(3_000, "\"exponential\""), "80", 400);
    let within = exact.within.iter().find(|(time, _)| time == "80").unwrap().1;
    assert!((within - 0.365).abs() < 0.001, "{within}");
    contains(&answer, "/policies/0/job_time_s", exact.mean, "3,000 tasks");
    contains(&answer, "/policies/0/done_by_deadline", within, "3,000 tasks");
}

#[test]
fn whatif_of_maps_has_the_tail_of_its_distribution() {
    let none = (0.0, "\"exponential\"");
    for (name, distribution) in DISTRIBUTIONS {
        whatif_is_exact(name, LARGE, &maps(LARGE.0, [none, none, (10.0, distribution), none, none]));
    }
}

/// Four exponential phases with means of 1 to 4 s. Mutations that each fail here: all phases of an attempt draw the same word; the
/// last phase is left out of the sum; phases have equal shares of the mean.
#[test]
fn whatif_adds_the_phases_of_a_map() {
    let phase = |mean| (mean, "\"exponential\"");
    let plan = |tasks, means: [f64; 5]| maps(tasks, means.map(phase));
    whatif_is_exact("phases 1+2+3+4", SMALL, &plan(SMALL.0, [0.0, 4.0, 1.0, 3.0, 2.0]));
    whatif_is_exact("phases 1+2+3+4", LARGE, &plan(LARGE.0, [1.0, 2.0, 3.0, 4.0, 0.0]));
}

/// `estimate` of a stage, of maps, and with a policy that never acts.
#[test]
fn estimate_of_stages_and_maps_has_the_tail_of_its_distribution() {
    let none = (0.0, "\"exponential\"");
    let never = ["estimate", "--speculation=multiplier=100000,quantile=1"];
    let (tasks, replications, deadline) = LARGE;
    for (name, distribution) in DISTRIBUTIONS {
        let exact = exact(name, tasks);
        let finite = name != "pareto 1.5";
        let (deadline, probability) = &exact.within[deadline];
        let stages = stage(tasks, distribution);
        for command in [&["estimate"][..], &never] {
            let answer = ask(command, &stages, deadline, replications);
            contains(&answer, "/deadline/simulated", *probability, name);
            if finite {
                contains(&answer, "/usual_mean", exact.mean, name);
            }
        }
        let plan = maps(tasks, [none, none, (10.0, distribution), none, none]);
        let answer = ask(&["estimate", "--method=simulate"], &plan, deadline, replications);
        contains(&answer, "/deadline/simulated", *probability, name);
        contains(&answer, "/job_time/quantiles/2", exact.p95, name);
        contains(&answer, "/job_time/quantiles/3", exact.p99, name);
        if finite {
            contains(&answer, "/job_time/mean", exact.mean, name);
        }
    }
}

/// Stages with slow tasks, by the names of the table: the distribution of usual tasks, and the shape of the tail.
const SLOW: [(&str, &str, &str); 2] =
    [("exponential, slow 2.5", "\"exponential\"", "2.5"), ("deterministic, slow 3", "\"deterministic\"", "3")];

/// 6% of the tasks take at least three times as long: `estimate` task by task, with copies that never start, and by its net; `whatif`. The tail has no
/// end, so the 99% quantile of 1,000 tasks on 1,000 slots is up to 97 times the usual time.
///
/// Mutations that each fail here: a tail from 64 equally likely values; a share of 7%; a net whose slow tasks have no shortest time.
#[test]
fn slow_tasks_have_their_exact_maximum() {
    let never = ["estimate", "--speculation=multiplier=100000,quantile=1"];
    let net = ["estimate", "--backend=cpu"];
    for (name, distribution, shape) in SLOW {
        for (tasks, replications) in [(100, 8_000), (1_000, 4_000)] {
            let slow = format!("[[stage]]\nslow = {{ share = 0.06, from = 3, shape = {shape} }}");
            let plan = stage(tasks, distribution).replace("[[stage]]", &slow);
            let exact = exact(name, tasks);
            for (deadline, probability) in &exact.within {
                for command in [&["estimate"][..], &never, &net] {
                    let what = format!("{name}, {tasks} tasks, {command:?}");
                    let answer = ask(command, &plan, deadline, replications);
                    contains(&answer, "/deadline/simulated", *probability, &what);
                    let width = contains(&answer, "/usual_mean", exact.mean, &what);
                    assert!(width < 0.15, "{what}: ±{width}");
                }
            }
            whatif_is_exact(name, (tasks, replications, 1), &plan);
        }
    }
}

/// `whatif` of a plan of tasks, whose attempts vary by a lognormal factor of median 1: a mean of 10 s and a coefficient of variation of 1 are a median of
/// 10 s / √2 and a standard deviation of the logarithm of √(ln 2).
///
/// Mutations that each fail here: a median of 10 s; a standard deviation of ln 2.
#[test]
fn whatif_of_tasks_has_the_tail_of_its_noise() {
    for (tasks, replications, deadline) in [SMALL, LARGE] {
        let slots = tasks / 5;
        let plan = format!(
            "[noise]\nsigma = {}\n[cluster]\nheartbeat_s = 0\n[[cluster.node]]\ncount = 5\ncores = {slots}\nslots = {slots}\n\
             [[job]]\nmaps = {tasks}\nreduces = 0\nmap_s = {}\nmap_start_s = 0\n{NO_COPIES}",
            std::f64::consts::LN_2.sqrt(),
            10.0 * std::f64::consts::FRAC_1_SQRT_2,
        );
        whatif_is_exact("lognormal cv 1", (tasks, replications, deadline), &plan);
    }
}
