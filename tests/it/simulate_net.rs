//! `answer` in the library: the results of the command `net simulate`, without a command line.

use serde_json::Value;
use tailspn::ask::RunSettings;
use tailspn::ask::net::{AnswerBy, LongRunLength, NetAnswerError, NetSettings, answer};
use tailspn::formats::pipe::{ReadOptions, WriteOptions, read, write};
use tailspn::net::{Net, NetBuilder, Timing};
use tailspn::report::{NetReport, Report as _, ReportSimulation as _};
use tailspn::sim::{Goal, Question, Reward, SimulationError, Snapshot};
use tailspn::watch::Unwatched;

use crate::cli::data;
use crate::solve_net::queue;

fn json(report: &NetReport) -> Value {
    let text = match report {
        NetReport::Replications(report) => report.json(),
        NetReport::LongRuns(report) => report.json(),
    };
    serde_json::from_str(&text.unwrap()).unwrap()
}

/// The result without what differs from run to run.
fn timeless(mut json: Value) -> Value {
    let object = json.as_object_mut().unwrap();
    object.remove("wall_s");
    if let Some(provenance) = object.get_mut("provenance").and_then(Value::as_object_mut) {
        provenance.remove("wall_s");
    }
    json
}

#[test]
fn the_command_prints_the_result_of_the_library() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queue.xml").display().to_string();
    std::fs::write(&path, write(&queue(3), &WriteOptions::default()).xml).unwrap();
    let net = read(&std::fs::read(&path).unwrap(), &ReadOptions::default()).unwrap().net;
    let until_full = || Question::until(&net, "#(free) = 0").unwrap();
    let averages = Question {
        goal: Goal::Horizon,
        horizon: Some(5.0),
        tokens: true,
        snapshots: vec![Snapshot::new(&net, 2.0, "#(waiting)").unwrap()],
        ..Question::default()
    };
    let reward = Reward { name: "busy".to_owned(), rate: net.reward_code("#(waiting) > 0").ok(), impulses: Vec::new() };
    let busy = Question { rewards: vec![reward], steady: true, ..Question::default() };
    let replications = |by| NetSettings {
        by,
        run: RunSettings { replications: Some(500), seed: Some(3), ..RunSettings::default() },
        ..NetSettings::default()
    };
    let long = |by| NetSettings { long_runs: LongRunLength { runs: 4, firings: Some(200_000) }, ..replications(by) };
    let for_averages = ["--horizon=5", "--tokens", "--at=2:#(waiting)"];
    let steady = ["--steady", "--steady-runs=4", "--steady-firings=200000", "--reward=busy=#(waiting) > 0"];
    let until = ["--until=#(free) = 0"];
    for (question, settings, args) in [
        (until_full(), replications(AnswerBy::Auto), &until[..]),
        (until_full(), replications(AnswerBy::Simulation), &until[..]),
        (until_full(), replications(AnswerBy::Exact), &until[..]),
        (averages.clone(), replications(AnswerBy::Auto), &for_averages[..]),
        (averages, replications(AnswerBy::Exact), &for_averages[..]),
        (busy.clone(), long(AnswerBy::Auto), &steady[..]),
        (busy, long(AnswerBy::Exact), &steady[..]),
    ] {
        let found = answer(&net, &question, &settings, &Unwatched).unwrap();
        let report = NetReport::new(&net, &question, &found, settings.run.level, &Unwatched).unwrap();
        let (method, reps): (_, &[&str]) = match settings.by {
            AnswerBy::Auto => ("auto", &["--reps=500"]),
            AnswerBy::Simulation => ("simulate", &["--reps=500"]),
            AnswerBy::Exact => ("exact", &[]),
        };
        let reps = if question.steady { &[] } else { reps };
        let method = ["net", "simulate", &path, "--json", "--seed=3", "--method", method];
        let printed = data(&[&method[..], args, reps].concat());
        assert_eq!(
            timeless(json(&report)),
            // the library does not know the name of the file
            timeless(serde_json::from_str(&printed.replace(&path, "FILE")).unwrap()),
            "{args:?} {:?}",
            settings.by
        );
    }
}

/// The stationary distribution of the queue has weights 1, 1/2, 1/4, 1/8: it is busy for 7/15 of the time.
#[test]
fn a_result_of_long_runs_has_a_report() {
    let net = queue(3);
    let runs = net.steady_state().reward("busy", "#(waiting) > 0").unwrap().firings(400_000).run().unwrap();
    let report = runs.report();
    let busy = &report.rewards[0].quantity;
    let error = busy.half_width().unwrap() / 1.645;
    assert!((busy.value - 7.0 / 15.0).abs() < 5.0 * error && error < 0.01, "{busy}");
    assert_eq!((report.tokens.len(), report.throughputs.len(), runs.is_partial()), (2, 2, false));
    assert!(report.document().text().contains("busy"));
}

#[test]
fn questions_without_an_answer_are_refused_with_the_reason() {
    let mut b = NetBuilder::new("endless");
    let place = b.place("p", 0);
    let transition = b.transition("t", Timing::exponential(1000.0));
    b.output(transition, place, 1.0);
    let endless = b.build().unwrap();
    let asked = Question::default();
    let settings = NetSettings::default();
    let refused = |net: &Net, settings: &NetSettings| answer(net, &asked, settings, &Unwatched).unwrap_err();
    let error = refused(&endless, &settings);
    assert!(
        matches!(error, NetAnswerError::Replications(SimulationError::Endless { firings: 10_000_000, .. })),
        "{error}"
    );
    let message = "the net does not stop: after 10,000,000 firings it has not reached the dead marking";
    assert_eq!(error.to_string(), message);
    let needs =
        NetSettings { by: AnswerBy::Exact, needs_replications: Some("samples are needed"), ..NetSettings::default() };
    assert_eq!(refused(&queue(2), &needs), NetAnswerError::NeedsReplications("samples are needed"));
    let exact = NetSettings { by: AnswerBy::Exact, ..settings };
    assert!(matches!(refused(&endless, &exact), NetAnswerError::Exact(_)));
}
