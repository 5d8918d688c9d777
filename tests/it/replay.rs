//! A job that ran, replayed: the same time without copies, and the effect of real copies compared with the replay's.

use std::path::{Path, PathBuf};

use tailspn::cluster::{Comparison, Experiment, PolicyPlan, Replications, compare};
use tailspn::fit::{FitError, Replay, fit_stages, observe, replay, usual_policies};
use tailspn::stages::spark_policies;
use tailspn::trace::{ReadOptions, WarningKind, read, read_bytes};
use tailspn::watch::Unwatched;

use crate::shared::shared;

fn labelled() -> Option<PathBuf> {
    shared("data/logs/labelled")
}

/// The event log in the folder of a run.
fn log_in(folder: &Path) -> PathBuf {
    let mut files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.find(|path| path.file_name().unwrap().to_string_lossy().starts_with("app-2")).unwrap()
}

fn replay_of(folder: &Path) -> Replay {
    replay(&read(&log_in(folder), &ReadOptions::default(), &Unwatched).unwrap()).unwrap()
}

fn compared(replay: &Replay, policies: &[PolicyPlan]) -> Comparison {
    let settings = Replications { count: 400, seed: 1, ..Replications::default() };
    let runs = Experiment::of_job(&replay.job, policies, settings).run(&mut |_| true).unwrap();
    compare(&runs, 0.95).unwrap()
}

fn none(replay: &Replay) -> f64 {
    compared(replay, &[PolicyPlan::default()]).policies[0].job_s.value
}

/// Runs without copies take as long in the replay as they did: within 2%.
#[test]
fn runs_without_copies_are_replayed_as_they_were() {
    let Some(logs) = labelled() else { return };
    let runs = [
        "phan-4node/homog1",
        "phan-4node/homog2",
        "phan-4node/c2_nospec",
        "phan-4node/c3_nospec",
        "bigroots-2node/baseline",
        "bigroots-2node/cpu_hog",
        "bigroots-2node/io_hog",
        "bigroots-2node/locality",
        "longtail-4node/hist1",
        "longtail-4node/skew1",
    ];
    for run in runs {
        let replay = replay_of(&logs.join(run));
        let error = none(&replay) / replay.actual_s - 1.0;
        println!("| {run} | {:.1} | {:+.2} % |", replay.actual_s, 100.0 * error);
        assert!(error.abs() < 0.02, "{run}: {error}");
    }
}

/// The time of the stage of maps with its reduces: what the warm-up before took differs between runs for other reasons.
fn second_job_s(replay: &Replay) -> f64 {
    replay.stages[1..].iter().map(|stage| stage.actual_s).sum()
}

/// The replay of a run without copies under Spark's settings, compared with real runs with copies on the same slowed
/// nodes.
#[test]
fn copies_shorten_a_replayed_job_as_in_the_real_run() {
    let Some(logs) = labelled() else { return };
    let base = replay_of(&logs.join("phan-4node/c2_nospec"));
    for (run, multiplier, quantile) in [("c2_spec15", 1.5, 0.5), ("c2_specdef", 3.0, 0.9)] {
        let real = replay_of(&logs.join("phan-4node").join(run));
        let found = compared(&base, &spark_policies(Some(multiplier), Some(quantile)));
        let change = found.policies[1].job_change.as_ref().unwrap().difference.value;
        let predicted = second_job_s(&base) + change;
        println!(
            "| {run} | {:.1} | {predicted:.1} | {:.1} | {:.1} copies of {:.0} |",
            second_job_s(&base),
            second_job_s(&real),
            found.policies[1].copies.value,
            real.stages[1].copies as f64
        );
        assert!(change < 0.0 && found.policies[1].won.value >= 1.0);
        assert!((predicted / second_job_s(&real) - 1.0).abs() < 0.1, "{run}: {predicted} {}", second_job_s(&real));
    }
}

/// From a run with copies, what it would have been without: at least what it was, since the copies had won.
#[test]
fn taking_copies_out_gives_a_lower_bound() {
    let Some(logs) = labelled() else { return };
    for run in ["c2_spec15", "c2_specdef"] {
        let replay = replay_of(&logs.join("phan-4node").join(run));
        assert_eq!(replay.stages[1].copies, 4, "{run}");
        assert!(replay.stages[1].at_least == 4 && replay.notes.iter().any(|note| note.contains("lower bound")));
        let without = none(&replay) / replay.actual_s - 1.0;
        println!("| {run} without copies | {:+.1} % |", 100.0 * without);
        assert!((-0.02..0.25).contains(&without), "{run}: {without}");
    }
    let replayed = replay_of(&logs.join("phan-4node/c2_spec15"));
    let set = usual_policies(replayed.actual_s, replayed.speculation);
    assert!(set[1].title() == "spark, with the settings of the run" && set[0] == PolicyPlan::default());
}

#[test]
fn slowed_nodes_are_seen() {
    let Some(logs) = labelled() else { return };
    // a quarter, half, three quarters and all of the CPU time of a node, after the first stage
    let replay = replay_of(&logs.join("phan-4node/c2_nospec"));
    let slowness = |name: &str| {
        let node = replay.nodes.iter().position(|node| node.name.ends_with(name)).unwrap();
        replay.job.stages[1].spread.slowness(node)
    };
    assert!(slowness(".11") > 1.8 * slowness(".14") && slowness(".12") > 1.2 * slowness(".14"));
}

#[test]
fn logs_that_cannot_be_replayed_are_refused() {
    let log = |text: &str| replay(&read_bytes("made", text.as_bytes(), &ReadOptions::default(), &Unwatched).unwrap());
    let google = "0,,1,0,,0,u,2,9,0.1,0.1,0.1,0\n600000000,,1,0,5,1,u,2,9,0.1,0.1,0.1,0\n";
    assert!(matches!(log(google), Err(FitError::NotAStageGraph { .. })));
    let started = "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"a\",\"App ID\":\"x\",\"Timestamp\":1,\"User\":\"u\"}\n";
    assert!(matches!(log(started), Err(FitError::Incomplete { .. })));
}

fn lines_of(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/trace").join(name);
    let bytes = std::fs::read(path).unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(&bytes[..]), &mut text).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Logs with lines that are missing, at the end or in between: a fit and a replay say what is wrong, or work.
#[test]
fn damaged_logs_are_fitted_and_replayed_or_refused() {
    let mut worked = [0, 0];
    for name in ["speculation.spark.gz", "sort-32mb.spark.gz"] {
        let lines = lines_of(name);
        let whole = lines.len();
        let cut = (1..40).map(|i| lines[..whole * i / 40].to_vec());
        let thinned =
            (2..40).map(|k| lines.iter().enumerate().filter(|(i, _)| i % k != 1).map(|(_, l)| l.clone()).collect());
        for lines in cut.chain(thinned) {
            let text = lines.join("\n");
            let Ok(trace) = read_bytes("damaged", text.as_bytes(), &ReadOptions::default(), &Unwatched) else {
                continue;
            };
            if let Ok(run) = observe(&trace, None) {
                worked[0] += usize::from(fit_stages(&[run]).is_ok_and(|fitted| fitted.plan.problems().is_empty()));
            }
            if let Ok(replay) = replay(&trace) {
                let settings = Replications { count: 2, ..Replications::default() };
                let runs =
                    Experiment::of_job(&replay.job, &usual_policies(replay.actual_s, replay.speculation), settings)
                        .run(&mut |_| true)
                        .unwrap();
                let mut times = runs.iter().flat_map(|run| &run.outcomes).map(|outcome| outcome.job_s);
                assert!(times.all(|time| time.is_finite() && time > 0.0));
                worked[1] += 1;
            }
        }
    }
    assert!(worked[0] > 5 && worked[1] > 5, "{worked:?}");
}

/// Two applications in one file, an end before its beginning, a stage that is never submitted.
#[test]
fn odd_logs_are_refused_or_told() {
    let read_lines =
        |lines: &[String]| read_bytes("odd", lines.join("\n").as_bytes(), &ReadOptions::default(), &Unwatched).unwrap();
    let lines = lines_of("sort-32mb.spark.gz");
    let twice = read_lines(&[lines.clone(), lines.clone()].concat());
    assert!(matches!(observe(&twice, None), Err(FitError::SeveralApplications { count: 2, .. })));
    assert!(matches!(replay(&twice), Err(FitError::SeveralApplications { count: 2, .. })));
    let mut backwards = lines.clone();
    let end = backwards.iter().position(|line| line.contains("SparkListenerTaskEnd")).unwrap();
    let launch = backwards[end].split("\"Launch Time\":").nth(1).unwrap().split(',').next().unwrap().to_owned();
    let finish = backwards[end].split("\"Finish Time\":").nth(1).unwrap().split(',').next().unwrap().to_owned();
    let (before, after) =
        (format!("\"Finish Time\":{finish}"), format!("\"Finish Time\":{}", launch.parse::<u64>().unwrap() - 5_000));
    backwards[end] = backwards[end].replace(&before, &after);
    let trace = read_lines(&backwards);
    assert!(trace.warnings.iter().any(|warning| warning.kind == WarningKind::NegativeTime), "{:?}", trace.warnings);
    let run = observe(&trace, None).unwrap();
    let all: usize = run.stages.iter().map(|stage| stage.tasks.len()).sum();
    // the task whose time is unknown is assumed to be like the others
    let whole = observe(&read_lines(&lines), None).unwrap();
    assert_eq!(all, whole.stages.iter().map(|stage| stage.tasks.len()).sum::<usize>());
    assert!(run.notes.iter().any(|note| note.starts_with("tasks that are not in the log")), "{:?}", run.notes);
    let is_stage =
        |line: &String| line.contains("SparkListenerStageSubmitted") || line.contains("SparkListenerStageCompleted");
    let missing: Vec<String> = lines.iter().filter(|line| !is_stage(line)).cloned().collect();
    // a job's start tells its stages too, so nothing but the times of submission is lost
    let thinned = observe(&read_lines(&missing), None).unwrap();
    assert_eq!(thinned.stages.iter().map(|stage| stage.after.clone()).collect::<Vec<_>>(), [vec![], vec![0], vec![1]]);
    let no_start: Vec<String> =
        missing.iter().filter(|line| !line.contains("SparkListenerJobStart")).cloned().collect();
    let trace = read_lines(&no_start);
    assert!(trace.warnings.iter().any(|warning| warning.kind == WarningKind::MissingStage), "{:?}", trace.warnings);
    assert!(matches!(observe(&trace, None), Err(FitError::Incomplete { .. })));
}
