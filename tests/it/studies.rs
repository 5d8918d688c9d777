//! Studies by library calls: each gives the numbers that the command prints.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde_json::Value;
use tailspn::answer::{ExactBy, ExactTime, choose, exact};
use tailspn::compile::compile;
use tailspn::formats::read_file;
use tailspn::job_time::{EstimateMethod, ExactJobTime, estimate_job};
use tailspn::mapreduce::Plan;
use tailspn::net::expr::Leaf;
use tailspn::net::{Delay, Expr, Memory, NetBuilder, Servers, Timing};
use tailspn::optimize::{Optimization, OptimizePlan};
use tailspn::plan::{JobPlan, Work};
use tailspn::report::what_if_report;
use tailspn::sensitivity::{KnobEffect, Method, Sensitivity};
use tailspn::sim::{Ensemble, Goal, Question, Unwatched};
use tailspn::subject::LoadError;
use tailspn::sweep::{Axis, PointResult, Sweep, SweepPlan, SweepWatch};
use tailspn::trace::{self, ReadOptions};
use tailspn::watch::Watch;
use tailspn::whatif::WhatIf;
use tailspn::{Error, StudyError};
use tempfile::TempDir;

use crate::cli::data;

/// One map and one reduce: the mean job time is the sum of the nine means.
const JOB: &str = "[phases]\nmaps = 1\nreduces = 1\nmeans_s = [1, 2, 3, 4, 5, 6, 7, 8, 9]\n";
/// Two of its means, and a constraint that excludes one of four points.
const KNOBS: &str = "[sweep]\nbase = \"job.toml\"\nreplications = 500\nseed = 3\n\
                     constraints = [\"phases.means_s[0] + phases.means_s[8] < 20\"]\n\
                     [[axis]]\nkey = \"phases.means_s[0]\"\nname = \"load\"\nvalues = [1.0, 12.0]\n\
                     [[axis]]\nkey = \"phases.means_s[8]\"\nname = \"reduce\"\nvalues = [4.5, 9.0]\n";

fn folder(files: &[(&str, &str)]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, text)| std::fs::write(folder.path().join(name), text).unwrap());
    let path = folder.path().to_owned();
    (folder, path)
}

fn json(command: &str, plan: &Path, more: &[&str]) -> Value {
    let words: Vec<&str> = command.split(' ').collect();
    let all = [&words[..], &[plan.to_str().unwrap(), "--json", "-q"], more].concat();
    serde_json::from_str(&data(&all)).unwrap()
}

/// Progress reports of a sweep.
#[derive(Default)]
struct Reported {
    constrained: Mutex<Vec<(u64, u64)>>,
    points: Mutex<Vec<u64>>,
}

impl Watch for Reported {
    fn progress(&self, _done: u64, _planned: u64) {}

    fn stopped(&self) -> bool {
        false
    }
}

impl SweepWatch for Reported {
    fn constrained(&self, left_out: u64, planned: u64, _base_breaks: bool) {
        self.constrained.lock().unwrap().push((left_out, planned));
    }

    fn point(&self, result: &PointResult, _done: u64, planned: u64) {
        assert_eq!(planned, 3);
        self.points.lock().unwrap().push(result.point);
    }
}

#[test]
fn a_sweep_gives_the_numbers_of_the_command() {
    let (_files, folder) = folder(&[("job.toml", JOB), ("knobs.toml", KNOBS)]);
    let plan = folder.join("knobs.toml");
    let reported = Reported::default();
    let outcome = Sweep::open(&plan).unwrap().run_watched(&reported).unwrap();
    assert_eq!(*reported.constrained.lock().unwrap(), [(1, 4)]);
    assert_eq!(*reported.points.lock().unwrap(), [1, 2, 3]);
    assert_eq!(outcome.added, 4);
    let told = json("study", &plan, &[]);
    for (point, result) in told["points"].as_array().unwrap().iter().zip(outcome.stored.results.values()) {
        assert_eq!(point["mean_s"]["value"].as_f64(), result.mean_s.as_ref().map(|mean| mean.value), "{point}");
    }
    assert_eq!(told["points"].as_array().unwrap().len(), outcome.stored.results.len());
}

#[test]
fn a_sensitivity_gives_the_numbers_of_the_command() {
    let (_files, folder) = folder(&[("job.toml", JOB), ("knobs.toml", KNOBS)]);
    let plan = folder.join("knobs.toml");
    let methods = [
        (Method::Derivatives, "derivatives"),
        (Method::Each, "each"),
        (Method::Morris, "morris"),
        (Method::Sobol, "sobol"),
    ];
    for (method, name) in methods {
        let mut study = Sensitivity::open(&plan).unwrap();
        study.method = method;
        study.rows = Some(8);
        let study = study.replications(400);
        let found = study.run(&Unwatched).unwrap();
        let told = json("study", &plan, &["--method", name, "--rows", "8", "--reps", "400"]);
        let own = serde_json::to_value(&found).unwrap();
        assert_eq!((&told["knobs"], &told["value_s"]), (&own["knobs"], &own["value_s"]), "{name}");
    }
    let derivative = Sensitivity::open(&plan).unwrap().run(&Unwatched).unwrap();
    let Some(KnobEffect::Derivative { per_unit_s, .. }) = &derivative.knobs[0].effect else { panic!("{derivative:?}") };
    assert!((per_unit_s.value - 1.0).abs() < 0.05, "{per_unit_s:?}");
}

/// A plan of phases, the default plan of tasks, and a log: the same policies, nets and digits.
#[test]
fn a_what_if_gives_the_numbers_of_the_command() {
    let (_files, folder) = folder(&[("job.toml", JOB), ("tasks.toml", tailspn::cluster::Plan::example_toml())]);
    let log = Path::new("tests/data/trace/speculation.spark.gz");
    for path in [folder.join("job.toml"), folder.join("tasks.toml"), log.to_owned()] {
        let study = match path.extension().and_then(|end| end.to_str()) {
            Some("gz") => WhatIf::of_log(&trace::read(&path, &ReadOptions::default(), &Unwatched).unwrap()).unwrap(),
            _ => {
                let text = std::fs::read_to_string(&path).unwrap();
                WhatIf::of_plan(JobPlan::read(&text, Work::Tasks).unwrap()).unwrap()
            }
        };
        let study = study.replications(70).seed(5);
        let found = study.run(&Unwatched).unwrap();
        let told = json("whatif", &path, &["--reps", "70", "--seed", "5"]);
        let own = serde_json::to_value(what_if_report(&study, &found)).unwrap();
        for key in ["policies", "net", "net_note", "baseline", "slots", "maps"] {
            assert_eq!(told[key], own[key], "{key} of {path:?}");
        }
        assert_eq!(found.nets.len(), usize::from(path.ends_with("job.toml")), "{path:?}");
        if let Some(net) = told["net"].get(0) {
            let base = told["policies"].as_array().unwrap().iter().find(|row| row["detector"] == "none").unwrap();
            let [net, base] = [net, base].map(|row| row["job_time_s"]["value"].as_f64().unwrap());
            let words = if net < base { "shorter" } else { "longer" };
            let words = format!("the net is {:.1}% {words} than", 100.0 * (net / base - 1.0).abs());
            assert!(told["net_note"].as_str().unwrap().contains(&words), "{words}: {}", told["net_note"]);
        }
    }
}

#[test]
fn a_search_gives_the_numbers_of_the_command() {
    let text = "sweep.base = \"job.toml\"\noptimize.measure = \"mean\"\noptimize.deadline_s = 40\noptimize.cost = \"20 - speed\"\n\
                [[axis]]\nkey = \"phases.means_s[8]\"\nname = \"speed\"\nvalues = [1.0, 3.0, 6.0, 9.0]\n";
    let (_files, folder) = folder(&[("job.toml", JOB), ("search.toml", text)]);
    let plan = folder.join("search.toml");
    let outcome = Optimization::open(&plan).unwrap().run(&Unwatched).unwrap();
    let told = json("study", &plan, &[]);
    let row = told["answer"]["row"].as_u64().unwrap() as usize;
    assert_eq!(told["rows"][row]["cost"]["value"].as_f64(), outcome.chosen().map(|chosen| chosen.cost));
    assert_eq!(outcome.chosen().map(|chosen| chosen.cost), Some(17.0));
    let looks = told["rows"].as_array().unwrap();
    assert_eq!(looks.len(), outcome.found.looks.len());
    for (one, look) in looks.iter().zip(&outcome.found.looks) {
        assert_eq!(one["replications"].as_u64(), Some(look.judgement.replications), "{one}");
    }
    let plan = OptimizePlan::from_toml(&text.replace("job.toml", "absent.toml")).unwrap();
    let error = Optimization::new(plan, &folder).unwrap_err();
    assert!(matches!(error, StudyError::Load(LoadError::Io { .. })), "{error}");
    assert!(Error::from(error).to_string().contains("absent.toml"));
}

#[test]
fn a_plan_with_an_unknown_key_says_where() {
    let text = "[[axis]]\nkey = \"job.redcues\"\nvalues = [1, 2]\n";
    let sweep = Sweep::new(SweepPlan::from_toml(text).unwrap(), Path::new("")).unwrap();
    let StudyError::Plan(problems) = sweep.run(&Unwatched).unwrap_err() else { panic!() };
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].place(text).map(|place| &text[place]), Some("\"job.redcues\""));
}

#[test]
fn an_exact_answer_is_offered_and_gives_the_numbers_of_the_command() {
    let file = "models/textbook/forkjoin_retry.xml";
    let net = read_file(Path::new(file), &tailspn::formats::pipe::ReadOptions::default()).unwrap().net;
    let program = compile(&net).unwrap();
    let question = Question::default();
    let choice = choose(&net, &program, &question);
    assert_eq!((choice.exact, choice.states), (Some(ExactBy::States), Some(6)));
    let answer = exact(&net, &program, &question, &Unwatched).unwrap();
    let time = answer.time.unwrap();
    assert!(matches!(time, ExactTime::States { .. }));
    assert!((time.mean().unwrap() - 157.0 / 36.0).abs() < 1e-12);
    let told = json("net simulate", Path::new(file), &["--method", "exact"]);
    let p50 = &told["passage_time"]["quantiles"][0];
    assert_eq!(p50["value"].as_f64(), Some(time.quantile(0.5).unwrap()), "{p50}");
    let averages = Question { tokens: true, goal: Goal::Dead, ..Question::default() };
    let choice = choose(&net, &program, &averages);
    assert_eq!(choice.no_exact.as_deref(), Some("averages are requested up to a goal"));
}

#[test]
fn a_job_estimate_gives_the_numbers_of_the_command() {
    let (_files, folder) = folder(&[("job.toml", JOB)]);
    let plan = Plan::from_toml(JOB).unwrap();
    let ensemble = Ensemble { replications: 3_000, seed: 5, ..Ensemble::default() };
    let found = estimate_job(&plan, EstimateMethod::Auto, &ensemble, &Unwatched).unwrap();
    let told = json("estimate", &folder.join("job.toml"), &["--reps", "3000", "--seed", "5"]);
    assert!(matches!(found.exact, Some(ExactJobTime::Formula(_))));
    assert_eq!(told["analytic"]["mean"].as_f64(), found.mean());
    assert_eq!(told["job_time"]["mean"]["value"].as_f64(), found.simulated.and_then(|simulated| simulated.mean()));
}

/// A transition whose rate is the parameter `speed`: its mean time is 1 / speed.
#[test]
fn a_net_in_memory_is_swept_ranked_and_sized() {
    let net = || {
        let mut b = NetBuilder::new("stage");
        let rate = Expr::Leaf(Leaf::Parameter(b.parameter("speed", 0.5)));
        let (open, done) = (b.place("open", 1), b.place("done", 0));
        let delay = Delay::Exponential { rate };
        let timing = Timing::Timed { delay, servers: Servers::Single, memory: Memory::Enabling };
        let work = b.transition("work", timing);
        b.input(open, work, 1.0);
        b.output(work, done, 1.0);
        b.build().unwrap()
    };
    let goal = Some("#(done) = 1");
    let sweep =
        Sweep::of_net(net(), goal).unwrap().axis(Axis::values("speed", [1.0, 4.0])).replications(20_000).seed(3);
    let outcome = sweep.run(&Unwatched).unwrap();
    for (found, exact) in [(outcome.points().next(), 2.0), (outcome.point([1.0]), 1.0), (outcome.point([4.0]), 0.25)] {
        let mean = found.unwrap().mean_s.as_ref().unwrap();
        assert!((mean.value - exact).abs() < 5.0 / 1.96 * mean.half_width().unwrap(), "{mean:?} {exact}");
    }
    assert!(outcome.point([2.0]).is_none() && outcome.points().count() == 3);
    // the derivative of 1 / speed is -4
    let ranking = Sensitivity::of_net(net(), goal).unwrap().replications(20_000).level(0.95).run(&Unwatched).unwrap();
    let Some(KnobEffect::Derivative { per_unit_s, .. }) = &ranking.knobs[0].effect else { panic!("{ranking:?}") };
    assert!((per_unit_s.value + 4.0).abs() < 5.0 / 1.96 * per_unit_s.half_width().unwrap(), "{per_unit_s:?}");
    // P(done within 3 s) >= 0.95 needs speed >= 0.9986
    let search = Optimization::of_net(net(), goal, 3.0).unwrap();
    let search = search.axis(Axis::values("speed", [0.5, 0.9, 1.2, 2.0])).cost("speed");
    let cost = search.run(&Unwatched).unwrap().chosen().unwrap().cost;
    assert!((cost - 1.2).abs() < 1e-12, "{cost}");
    assert!(Sweep::of_net(net(), Some("#(nowhere)")).is_err());
}
