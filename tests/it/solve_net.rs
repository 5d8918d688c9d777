//! `solve_net` and its neighbours in the library: the results of the commands `net solve` and `net query`, without a command line.

use tailspn::answer::{AnswerError, RouteMethod};
use tailspn::ask::RunSettings;
use tailspn::ask::net::{SolveSettings, answer_queries, explore_net, solve_net};
use tailspn::compile::lower;
use tailspn::formats::pipe::{ReadOptions, WriteOptions, read, write};
use tailspn::net::{Net, NetBuilder, Timing};
use tailspn::report::{Report as _, ReportSimulation as _, SolveReport};
use tailspn::sim::{Condition, Ending, Goal, Question, Reward};
use tailspn::solve::{CslQuery, ExploreError, Priorities};
use tailspn::watch::Unwatched;

use crate::cli::data;

/// A queue with room for `room` customers, which arrive at 1 and leave at 2 per second.
pub(crate) fn queue(room: u32) -> Net {
    let mut b = NetBuilder::new("queue");
    let (free, waiting) = (b.place("free", room), b.place("waiting", 0));
    let (arrive, serve) =
        (b.transition("arrive", Timing::exponential(1.0)), b.transition("serve", Timing::exponential(2.0)));
    b.input(free, arrive, 1.0);
    b.output(arrive, waiting, 1.0);
    b.input(waiting, serve, 1.0);
    b.output(serve, free, 1.0);
    b.build().unwrap()
}

/// A question without a request.
fn nothing() -> Question {
    Question { goal: Goal::Horizon, ..Question::default() }
}

fn condition(net: &Net, text: &str) -> Condition {
    Condition::new(net, text).unwrap()
}

fn solved(net: &Net, question: &Question, settings: &SolveSettings) -> Result<SolveReport, AnswerError> {
    let solved = solve_net(net, question, settings, &Unwatched)?;
    assert_eq!(solved.missing, None);
    Ok(solved.report)
}

#[test]
fn the_command_prints_the_result_of_the_library() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queue.xml").display().to_string();
    std::fs::write(&path, write(&queue(3), &WriteOptions::default()).xml).unwrap();
    let net = read(&std::fs::read(&path).unwrap(), &ReadOptions::default()).unwrap().net;
    let measure = ("full".to_owned(), lower(&net, &net.expression("#(free) = 0").unwrap()));
    let full = Goal::marking(&net, "#(free) = 0").unwrap();
    let (rate, impulses) = (Some(lower(&net, &net.expression("#(waiting)").unwrap())), Vec::new());
    let reward = Reward { name: "waited".to_owned(), rate, impulses };
    let cases = [
        (nothing(), vec![]),
        (
            Question { goal: full.clone(), from: Some(condition(&net, "#(waiting) = 1")), ..nothing() },
            vec!["--until", "#(free) = 0", "--from", "#(waiting) = 1"],
        ),
        (
            Question { goal: full.clone(), avoid: Some(condition(&net, "#(waiting) = 0")), ..nothing() },
            vec!["--until", "#(free) = 0", "--avoid", "#(waiting) = 0"],
        ),
        (
            Question { goal: full.clone(), earliest: 1.0, horizon: Some(2.0), ..nothing() },
            vec!["--until", "#(free) = 0", "--within", "1..2"],
        ),
        (
            Question { goal: full, rewards: vec![reward], steady: true, at: vec![2.0], ..nothing() },
            vec!["--until", "#(free) = 0", "--reward", "waited=#(waiting)", "--steady", "--at", "2"],
        ),
        (
            Question { measures: vec![measure], at: vec![1.0, 2.0], ..nothing() },
            vec!["--at", "1,2", "--measure", "full=#(free) = 0"],
        ),
    ];
    for (question, options) in cases {
        let report = solved(&net, &question, &SolveSettings::default()).unwrap();
        let text = data(&[&["net", "solve", &path, "--json"][..], &options].concat());
        let printed: SolveReport = serde_json::from_str(&text).unwrap();
        let without_clock = |mut report: SolveReport| {
            report.state_space.iter_mut().for_each(|row| row.wall_s = 0.0);
            report
        };
        assert_eq!(without_clock(printed), without_clock(report), "{options:?}");
    }
}

#[test]
fn requests_that_no_method_answers_are_errors() {
    let net = queue(2);
    let goal = Goal::marking(&net, "#(free) = 0").unwrap();
    let of = |question: Question| solved(&net, &question, &SolveSettings::default()).unwrap_err();
    let from = Some(condition(&net, "#(waiting) = 1"));
    let avoid = Some(condition(&net, "#(waiting) = 0"));
    let error = of(Question { goal: goal.clone(), from: from.clone(), avoid, ..nothing() });
    assert!(matches!(error, AnswerError::Conflict { .. }), "{error}");
    let rewards = vec![Reward { name: "r".to_owned(), rate: None, impulses: Vec::new() }];
    let error = of(Question { goal: goal.clone(), earliest: 1.0, horizon: Some(2.0), rewards, ..nothing() });
    assert!(matches!(error, AnswerError::Conflict { .. }), "{error}");
    let never = Some(condition(&net, "#(waiting) = 7"));
    let error = solve_net(&net, &Question { goal, from: never, ..nothing() }, &SolveSettings::default(), &Unwatched);
    assert_eq!(error.unwrap().missing, Some(AnswerError::NeverEntered { holds: 0.0 }));
    let parts = SolveSettings { method: RouteMethod::SeriesParallel, ..SolveSettings::default() };
    let error = solved(&net, &Question { steady: true, ..nothing() }, &parts).unwrap_err();
    assert_eq!(error, AnswerError::NeedsStates { what: "the long run" });
}

#[test]
fn partial_results_are_returned_with_the_reason() {
    let run = RunSettings { max_states: Some(10), ..RunSettings::default() };
    let settings = SolveSettings { run, ..SolveSettings::default() };
    let found = solve_net(&queue(100), &nothing(), &settings, &Unwatched).unwrap();
    assert!(matches!(found.missing, Some(AnswerError::Incomplete(_))), "{:?}", found.missing);
    assert!(found.report.partial && found.report.steady.is_none());
    assert!(found.states.is_some_and(|(space, _)| space.stopped().is_some()));

    let mut b = NetBuilder::new("source");
    let (pool, arrive) = (b.place("pool", 0), b.transition("arrive", Timing::exponential(1.0)));
    b.output(arrive, pool, 1.0);
    let net = b.build().unwrap();
    let found = solve_net(&net, &nothing(), &SolveSettings::default(), &Unwatched).unwrap();
    assert!(matches!(found.missing, Some(AnswerError::Explore(ExploreError::Unbounded(_)))));
    assert_eq!(found.report.unbounded.unwrap().coverability.unwrap().unbounded, ["pool"]);
    assert!(found.states.is_none() && found.coverability.is_some());
    let explored = explore_net(&net, Priorities::Kept, Vec::new(), &RunSettings::default(), &Unwatched).unwrap();
    assert!(explored.graph.is_none() && explored.coverability.is_some() && explored.report.unbounded.is_some());
}

/// Fifteen machines that fail at 1 and are mended at 3 per second each: folded, 16 states in place of 32,768.
#[test]
fn equal_parts_are_counted_unless_the_chain_is_needed() {
    let mut b = NetBuilder::new("machines");
    for i in 0..15 {
        let (works, broken) = (b.place(format!("works{i}"), 1), b.place(format!("broken{i}"), 0));
        for (id, rate, from, to) in [("fail", 1.0, works, broken), ("mend", 3.0, broken, works)] {
            let t = b.transition(format!("{id}{i}"), Timing::exponential(rate));
            b.input(from, t, 1.0);
            b.output(t, to, 1.0);
        }
    }
    let net = b.build().unwrap();
    let of = |settings: &SolveSettings| solve_net(&net, &nothing(), settings, &Unwatched).unwrap();
    let folded = of(&SolveSettings::default());
    assert!(folded.states.is_none());
    let row = folded.report.folded.as_ref().unwrap();
    assert_eq!((row.states, row.stand_for), (16, 32_768.0));
    let chain = of(&SolveSettings { chain: true, ..SolveSettings::default() });
    assert_eq!(chain.states.unwrap().0.states(), 32_768);
    for report in [&folded.report, &chain.report] {
        let works = &report.steady.as_ref().unwrap().averages.tokens[0];
        assert!(works.name == "works0" && (works.value - 0.75).abs() < 1e-9, "{works:?}");
    }
}

/// The queue is full with probability 1/7, and empty with 4/7.
#[test]
fn queries_are_answered_in_one_call() {
    let net = queue(2);
    let queries = ["S=? [ #(free) = 0 ]", "S>=0.6 [ #(waiting) = 0 ]"].map(|text| CslQuery::parse(&net, text).unwrap());
    let report = answer_queries(&net, &queries, &RunSettings::default(), &Unwatched).unwrap();
    assert_eq!((report.states, report.partial), (3, false));
    assert!((report.queries[0].value.unwrap() - 1.0 / 7.0).abs() < 1e-12);
    assert_eq!(report.queries[1].holds, Some(false));
}

#[test]
fn a_simulation_avoids_markings_and_reports_like_the_command() {
    let net = queue(2);
    let run = net.simulation().until("#(free) = 0").unwrap().avoid("#(waiting) = 0 && #(free) = 2").unwrap();
    // the initial marking is to be avoided, so no replication gets anywhere
    let nowhere = run.replications(100).run().unwrap();
    assert_eq!((nowhere.passage().count(), nowhere.ended(Ending::Avoided)), (0, 100));
    let later = net.simulation().until("#(free) = 0").unwrap().earliest(3.0).horizon(4.0).replications(20_000).seed(2);
    let found = later.snapshot(1.0, "#(waiting)").unwrap().run().unwrap();
    let exact =
        Question { goal: Goal::marking(&net, "#(free) = 0").unwrap(), earliest: 3.0, horizon: Some(4.0), ..nothing() };
    let exact = solved(&net, &exact, &SolveSettings::default()).unwrap().within.unwrap().probability;
    let share = found.passage().probability();
    assert!((share.value - exact).abs() < 5.0 / 1.96 * share.half_width().unwrap(), "{share} {exact}");
    let report = found.report();
    assert_eq!(report.question.goal, "#(free) = 0, not before 3 s");
    assert_eq!((report.snapshots[0].expression.as_str(), report.replications), ("#(waiting)", 20_000));
    assert!(report.document().page().unwrap().contains("not before 3 s"));
}
