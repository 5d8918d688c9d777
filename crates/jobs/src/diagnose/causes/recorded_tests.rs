//! Tests of recorded schedules: on logs made by hand, and on labelled runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tailspn_common::order::median;

use crate::diagnose::causes::copies::{CopyEffect, CopyTime};
use crate::diagnose::causes::even_split::EvenSplit;
use crate::diagnose::causes::nodes::NodeMeters;
use crate::diagnose::causes::pool::PoolOptions;
use crate::diagnose::causes::recorded::Recorded;
use crate::diagnose::causes::rules::Rules;
use crate::diagnose::causes::{Advice, RootCauses, root_causes};
use crate::diagnose::finding::Cause;
use crate::diagnose::samples::{Meter, Sample, Series};
use crate::trace::{Attempt, JobTrace, ReadOptions, read, read_bytes};
use crate::watch::Unwatched;

/// A file or folder of the shared data; none if it is absent, which is an error if `TAILSPN_REQUIRE_SHARED` is set.
fn shared(path: &str) -> Option<PathBuf> {
    let beside = || concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared").into();
    let found = std::env::var_os("TAILSPN_SHARED").map_or_else(beside, PathBuf::from).join(path);
    if found.exists() {
        return Some(found);
    }
    assert!(std::env::var_os("TAILSPN_REQUIRE_SHARED").is_none(), "{} is missing", found.display());
    println!("skipped: no ../shared");
    None
}

fn trace_at(path: &Path) -> JobTrace {
    let log = match path.is_dir() {
        true => {
            let files = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
            files.into_iter().find(|file| file.to_string_lossy().contains("/app-")).unwrap()
        }
        false => path.to_owned(),
    };
    read(&log, &ReadOptions::default(), &Unwatched).unwrap()
}

fn causes(trace: &JobTrace) -> RootCauses {
    let nodes = vec![NodeMeters::default(); trace.nodes.len()];
    root_causes(trace, &nodes, &PoolOptions::default(), &Rules::default())
}

fn of(list: &[Advice], cause: Cause) -> Option<&Advice> {
    list.iter().find(|advice| advice.cause == cause)
}

/// An event log of Spark with two executors of one core on the nodes `a` and `b`.
struct Log {
    lines: Vec<String>,
}

impl Log {
    fn new() -> Self {
        let mut lines = vec![
            r#"{"Event":"SparkListenerLogStart","Spark Version":"4.0.0"}"#.to_owned(),
            r#"{"Event":"SparkListenerApplicationStart","App Name":"made","App ID":"app-1","Timestamp":1000000,"User":"u"}"#
                .to_owned(),
        ];
        for node in ["a", "b"] {
            lines.push(format!(
                r#"{{"Event":"SparkListenerExecutorAdded","Timestamp":1000000,"Executor ID":"{node}","Executor Info":{{"Host":"{node}","Total Cores":1,"Log Urls":{{}}}}}}"#
            ));
        }
        Self { lines }
    }

    /// A job of one stage, from the submission to the end \[s\]; `batch` is its micro-batch. Tasks are node, launch and
    /// end; the tasks of a stage are numbered from 0.
    fn job(mut self, number: u64, span: [u64; 2], batch: Option<u64>, tasks: &[(&str, u64, u64)]) -> Self {
        let time = |seconds: u64| 1_000_000 + 1000 * seconds;
        let batch = batch.map_or(String::new(), |batch| format!(r#""streaming.sql.batchId":"{batch}""#));
        let stage = format!(
            r#"{{"Stage ID":{number},"Stage Attempt ID":0,"Stage Name":"s","Number of Tasks":{},"Parent IDs":[],"RDD Info":[],"Submission Time":{}}}"#,
            tasks.len(),
            time(span[0])
        );
        self.lines.push(format!(
            r#"{{"Event":"SparkListenerJobStart","Job ID":{number},"Submission Time":{},"Stage Infos":[{stage}],"Stage IDs":[{number}],"Properties":{{{batch}}}}}"#,
            time(span[0])
        ));
        self.lines.push(format!(r#"{{"Event":"SparkListenerStageSubmitted","Stage Info":{stage}}}"#));
        for (task, (node, launch, end)) in tasks.iter().enumerate() {
            self.lines.push(format!(
                r#"{{"Event":"SparkListenerTaskEnd","Stage ID":{number},"Stage Attempt ID":0,"Task Type":"ResultTask","Task End Reason":{{"Reason":"Success"}},"Task Info":{{"Task ID":{task},"Index":{task},"Attempt":0,"Launch Time":{},"Executor ID":"{node}","Host":"{node}","Locality":"ANY","Speculative":false,"Getting Result Time":0,"Finish Time":{},"Failed":false,"Killed":false,"Accumulables":[]}},"Task Metrics":{{"Executor Run Time":1}}}}"#,
                time(*launch),
                time(*end)
            ));
        }
        self.lines.push(format!(
            r#"{{"Event":"SparkListenerJobEnd","Job ID":{number},"Completion Time":{},"Job Result":{{"Result":"JobSucceeded"}}}}"#,
            time(span[1])
        ));
        self
    }

    fn read(&self) -> JobTrace {
        read_bytes("made", self.lines.join("\n").as_bytes(), &ReadOptions::default(), &Unwatched).unwrap()
    }
}

/// Tasks of 2 s on two slots, but the second one takes 10 s, so the first stage ends at 10 s. With 2 s, it ends at 6 s.
/// The second job starts 1 s after the first one. Node `b` ran only the slow task.
fn one_slow() -> Log {
    let first = [("a", 0, 2), ("b", 0, 10), ("a", 2, 4), ("a", 4, 6), ("a", 6, 8)];
    let second = [("a", 11, 13), ("b", 11, 13)];
    Log::new().job(0, [0, 10], None, &first).job(1, [11, 13], None, &second)
}

#[test]
fn a_cause_costs_what_the_new_schedule_saves() {
    let job = Recorded::of(&one_slow().read());
    assert_eq!((job.logged_s(), job.replayed_s()), (Some(13.0), Some(13.0)));
    // five tasks of 2 s on two slots take 6 s instead of 10 s; the median of the stage is 2 s
    let of_slow = |less: f64| job.gain(|task| if (task.stage, task.task) == (0, 1) { less } else { 0.0 });
    assert_eq!((of_slow(100.0), of_slow(0.0)), (4.0, 0.0));
    // 10 - 3 = 7 s, but the other slot works until 8 s: with 7 s, the schedule is 7 and 8 s
    assert_eq!(of_slow(3.0), 2.0);
    assert_eq!(job.gain(|_| 100.0), 4.0);
}

#[test]
fn repairing_a_node_and_leaving_it_out_differ() {
    let job = Recorded::of(&one_slow().read());
    let b = job.numbers(&BTreeSet::from(["b".to_owned()]));
    // repaired: its first wave takes 2 s, as on `a`
    assert_eq!(job.repaired(&b), 4.0);
    // left out: five tasks of 2 s on one slot take 10 s, as before, and the last stage takes 4 s instead of 2 s
    assert_eq!(job.without(&b), Some([-2.0, -2.0]));
    assert_eq!(job.without(&BTreeSet::from([0, 1])), None);
}

/// Node `b` ran a task of 9 s, the first one of the second stage of three tasks; on `a`, tasks take 2 s. Without `b`, `a`
/// runs all tasks one after the other, in any order: 4 s for the first stage and 6 s for the second one.
#[test]
fn tasks_of_a_node_that_is_left_out_run_on_the_others() {
    let log = Log::new().job(0, [0, 2], None, &[("a", 0, 2), ("b", 0, 2)]);
    let job = Recorded::of(&log.job(1, [2, 11], None, &[("b", 2, 11), ("a", 2, 4), ("a", 4, 6)]).read());
    assert_eq!(job.without(&job.numbers(&BTreeSet::from(["b".to_owned()]))), Some([1.0, 1.0]));
}

/// The first stage has one task of 8 s on two slots, the second one two tasks of 3 s. Split evenly over both slots, the
/// first stage takes 4 s. Node `b` runs nothing before, but its executor is there from the start.
#[test]
fn a_stage_with_too_few_tasks_is_split_over_all_slots() {
    let log = Log::new().job(0, [0, 8], None, &[("a", 0, 8)]);
    let trace = log.job(1, [8, 11], None, &[("a", 8, 11), ("b", 8, 11)]).read();
    let list = causes(&trace).advice();
    let advice = of(&list, Cause::FewTasks).unwrap();
    assert_eq!((advice.job_s, advice.at_most, &advice.stages), (Some(4.0), true, &vec!["0".to_owned()]));
    assert_eq!(list[0].cause, Cause::FewTasks);
    // the second stage has as many tasks as slots: nothing to gain
    let job = Recorded::of(&trace);
    let split = EvenSplit::of(&job).unwrap();
    assert_eq!([0, 1].map(|stage| split.gain(&BTreeSet::from([stage]))), [4.0, 0.0]);
    assert_eq!(split.gain(&BTreeSet::from([0, 1])), 4.0);
    assert_eq!(split.parts(0).map(|parts| (parts.tasks, parts.slots)), Some((1, 2)));
}

/// Three tasks of 2, 6 and 4 s on two slots end at 8 s: `b` runs 2 and 6 s. In four parts of 3 s, they end at 6 s. A log with
/// 1 s of deserialisation for each task leaves 9 s of work, so four parts of 9 / 4 + 1 s end at 6.5 s.
#[test]
fn an_even_split_keeps_the_work_and_the_time_to_start_each_task() {
    let log = Log::new().job(0, [0, 8], None, &[("b", 0, 2), ("b", 2, 8), ("a", 0, 4)]);
    let gain = |log: &Log| EvenSplit::of(&Recorded::of(&log.read())).unwrap().gain(&BTreeSet::from([0]));
    assert_eq!(gain(&log), 2.0);
    let lines = log.lines.iter().map(|line| {
        line.replace(r#""Executor Run Time":1"#, r#""Executor Run Time":1,"Executor Deserialize Time":1000"#)
    });
    assert_eq!(gain(&Log { lines: lines.collect() }), 1.5);
}

/// Two jobs. Tasks of 2 s, three of them on each node, and a last one of 20 s on `b`, which a job of two tasks of 1 s follows.
/// Spark 4 copies a task after nine tenths of the tasks, here six, have finished at 6 s: the seventh starts at 6 s, and its
/// age exceeds three medians at 12 s. The slot of `a` is free then.
fn late_straggler() -> JobTrace {
    let first = [("a", 0, 2), ("b", 0, 2), ("a", 2, 4), ("b", 2, 4), ("a", 4, 6), ("b", 4, 6), ("b", 6, 26)];
    Log::new().job(0, [0, 26], None, &first).job(1, [26, 27], None, &[("a", 26, 27), ("b", 26, 27)]).read()
}

#[test]
fn copies_take_the_time_that_the_cause_implies() {
    let job = Recorded::of(&late_straggler());
    let copied = |time| job.copied(|task| (task.stage, task.task) == (0, 6), &BTreeSet::new(), time);
    let effect = |copies, job_s, slot_s| Some(CopyEffect { copies, job_s, slot_s });
    // on `a` the copy takes 2 s and ends at 14 s: both attempts together take 8 + 2 s instead of 20 s
    assert_eq!(copied(CopyTime::OtherNodes), effect(1, 12.0, -10.0));
    // with the same data the copy would end at 32 s, but the original stops it at 26 s
    assert_eq!(copied(CopyTime::Original), effect(1, 0.0, 14.0));
    // a task that reads its data as fast as others is copied at twice the limit: at 18 s
    assert_eq!(copied(CopyTime::Data), effect(1, 0.0, 8.0));
    // other tasks do not last that long
    let none = job.copied(|task| task.task != 6, &BTreeSet::new(), CopyTime::OtherNodes);
    assert_eq!(none, effect(0, 0.0, 0.0));
}

/// While the straggler runs, another job has the slot of `a`, so the copy that is due at 12 s waits for it: until 40 s, after
/// the end of its original, so that it never starts; or until 20 s, so that it keeps the other job's second task of 20 s
/// waiting until the original ends at 26 s.
#[test]
fn copies_that_wait_for_a_slot_or_take_one_gain_nothing() {
    let first = [("a", 0, 2), ("b", 0, 2), ("a", 2, 4), ("b", 2, 4), ("a", 4, 6), ("b", 4, 6), ("b", 6, 26)];
    let effect = |second: &[(&str, u64, u64)], end: u64| {
        let trace = Log::new().job(0, [0, 26], None, &first).job(1, [5, end], None, second).read();
        Recorded::of(&trace).copied(|task| task.stage == 0, &BTreeSet::new(), CopyTime::Original).unwrap()
    };
    assert_eq!(effect(&[("a", 6, 40)], 40), CopyEffect { copies: 0, job_s: 0.0, slot_s: 0.0 });
    let longer = CopyEffect { copies: 1, job_s: -6.0, slot_s: 6.0 };
    assert_eq!(effect(&[("a", 6, 20), ("a", 20, 40)], 40), longer);
}

/// The even split would also save 8 s of a stage of two tasks, one of which has little to do; a third slot alone would not.
#[test]
fn a_stage_with_enough_tasks_is_not_split_for_its_stragglers() {
    let log = Log::new().job(0, [0, 20], None, &[("a", 0, 20), ("b", 0, 4)]);
    let trace = log.job(1, [20, 21], None, &[("a", 20, 21), ("b", 20, 21)]).read();
    let gain = EvenSplit::of(&Recorded::of(&trace)).unwrap().gain(&BTreeSet::from([0]));
    assert_eq!((gain, of(&causes(&trace).advice(), Cause::FewTasks)), (8.0, None));
}

/// Copies by Spark's defaults in labelled runs without copies. The run c2_specdef, which had these settings, also started
/// four copies of maps, and took 28.0 s; c2_nospec took 28.7 s. A copy of the task with the skewed keys reads the same data.
#[test]
fn copies_gain_nothing_in_labelled_runs() {
    let Some(folder) = shared("data/logs/labelled") else { return };
    for (run, cause, count, slot_s) in [
        ("phan-4node/c2_nospec", Cause::SlowNode, "4 copies", 14.8),
        ("bigroots-2node/shuffle_skew", Cause::ShuffleSkew, "1 copy", 37.3),
        ("bigroots-2node/data_skew", Cause::DataSkew, "no copy", 0.0),
    ] {
        let list = causes(&trace_at(&folder.join(run))).advice();
        let copies = of(&list, cause).unwrap().instead.last().unwrap();
        assert!(copies.text.contains(count), "{run}: {copies:?}");
        assert!((copies.slot_s.unwrap() - slot_s).abs() < 0.1, "{run}: {copies:?}");
        assert!(copies.job_s.abs() < 0.01 && copies.at_best_s.abs() < 0.01, "{run}: {copies:?}");
    }
}

/// A real log with three slots: its first stage has two tasks of 16.2 s. A log of 30 tasks on 30 slots with stragglers of
/// 18 s has too few tasks for none of its stages.
#[test]
fn logs_with_too_few_tasks_are_told_from_logs_with_stragglers() {
    let Some(folder) = shared("data/logs/spark-event-logs") else { return };
    let few = |path: &str| of(&causes(&trace_at(&folder.join(path))).advice(), Cause::FewTasks).cloned();
    let advice = few("apache-spark/application_1553914137147_0018").unwrap();
    let job_s = advice.job_s.unwrap();
    assert!(advice.stages.contains(&"0".to_owned()) && (5.0..5.5).contains(&job_s), "{advice:?}");
    assert_eq!(few("spark-rapids-tools/event_logs/join_agg_on_yarn_eventlog.zstd"), None);
}

#[test]
fn copies_are_a_remedy_of_stragglers_unless_the_job_had_them() {
    let list = causes(&late_straggler()).advice();
    let advice = of(&list, Cause::Unknown).unwrap();
    let copies = &advice.instead[0];
    assert!(copies.text.contains("1 copy of these tasks"), "{copies:?}");
    assert_eq!((copies.job_s, copies.at_best_s, copies.slot_s), (0.0, 12.0, Some(14.0)));
    let Some(folder) = shared("data/logs/labelled/phan-4node") else { return };
    for run in ["c2_spec15", "c2_specdef"] {
        let list = causes(&trace_at(&folder.join(run))).advice();
        assert!(list.iter().flat_map(|advice| &advice.instead).all(|other| !other.text.contains("spec")), "{run}");
    }
}

#[test]
fn a_stream_waits_for_its_trigger_and_not_for_the_driver() {
    // three micro-batches, one each 5 s; the first one has tasks of 1, 4 and 1 s, and ends at 4 s, or else at 2 s
    let log = |batches: [Option<u64>; 3]| {
        let log = Log::new().job(0, [0, 4], batches[0], &[("a", 0, 1), ("b", 0, 4), ("a", 1, 2)]);
        let log = log.job(1, [5, 7], batches[1], &[("a", 5, 7), ("b", 5, 7)]);
        log.job(2, [10, 12], batches[2], &[("a", 10, 12), ("b", 10, 12)]).read()
    };
    let stream = log([Some(0), Some(1), Some(2)]);
    let gain = |trace: &JobTrace| Recorded::of(trace).gain(|task| if task.task == 1 { 100.0 } else { 0.0 });
    let found = causes(&stream);
    assert_eq!((gain(&stream), found.trigger_s, of(&found.advice(), Cause::Driver)), (0.0, 4.0, None));
    // without a stream, the next job starts earlier, and the driver is to blame for 4 s
    let jobs = log([None; 3]);
    let found = causes(&jobs);
    assert_eq!((gain(&jobs), found.trigger_s), (2.0, 0.0));
    assert_eq!(of(&found.advice(), Cause::Driver).and_then(|advice| advice.job_s), Some(4.0));
}

/// The schedule of the recorded times reproduces all labelled runs, with copies and without, and the shared logs of Spark.
#[test]
fn schedules_reproduce_the_logs() {
    let mut count = 0;
    for folder in [
        "labelled/phan-4node",
        "labelled/bigroots-2node",
        "labelled/longtail-4node",
        "spark-new",
        "spark-scaling",
        "spark-elastic",
    ] {
        let Some(folder) = shared(&format!("data/logs/{folder}")) else { return };
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let is_log = |path: &PathBuf| path.is_dir() || path.extension().is_some_and(|end| end == "gz");
        for path in files.filter(is_log) {
            let job = Recorded::of(&trace_at(&path));
            let (logged, replayed) = job.logged_s().zip(job.replayed_s()).unwrap();
            assert!((replayed - logged).abs() <= 0.002 * logged, "{}: {replayed} for {logged}", path.display());
            count += 1;
        }
    }
    assert!(count >= 50, "{count}");
}

/// A node at a quarter of its speed: repairing it helps more than leaving it out, and leaving it out can cost time.
#[test]
fn a_slow_node_is_to_be_repaired_and_not_left_out() {
    let Some(folder) = shared("data/logs/labelled/phan-4node") else { return };
    let of_run = |run: &str| {
        let list = causes(&trace_at(&folder.join(run))).advice();
        let advice = of(&list, Cause::SlowNode).unwrap();
        assert_eq!(advice.nodes, ["10.77.0.11"]);
        assert!(advice.text.contains("repair") && !advice.text.contains("keep tasks off"), "{}", advice.text);
        let without = &advice.instead[0];
        [advice.job_s.unwrap(), without.job_s, without.at_best_s]
    };
    let near = |seen: [f64; 3], expected: [f64; 3]| seen.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.1);
    let (two, three) = (of_run("c2_nospec"), of_run("c3_nospec"));
    assert!(near(two, [7.1, -2.5, 2.9]), "{two:?}");
    assert!(near(three, [1.9, -8.2, -4.7]), "{three:?}");
}

/// Returns the times of the attempts of a stage that succeeded, sorted \[s\].
fn times(trace: &JobTrace, stage: u32) -> Vec<f64> {
    let (id, _) = trace.stages_with_ids().find(|(_, found)| found.number == stage).unwrap();
    let done = trace.attempts_of(id).iter().filter(|attempt| attempt.succeeded());
    let mut times: Vec<f64> = done.filter_map(Attempt::duration).collect();
    times.sort_unstable_by(f64::total_cmp);
    times
}

/// Returns the time of the labelled job, the second one of each log \[s\].
fn job_s(trace: &JobTrace) -> f64 {
    trace.jobs[1].completed.unwrap().seconds_since(trace.jobs[1].submitted.unwrap())
}

/// The cause of a labelled run, by its `truth.json`.
enum Label {
    /// Other work on `10.77.0.12` in these windows, in milliseconds since 1970.
    Hog([[i64; 2]; 2]),
    /// Tasks of the map stage with more data or more work.
    Tasks(&'static [u64]),
    /// Nodes with less than a full CPU.
    Nodes(&'static [&'static str]),
}

/// Returns the cost of a labelled cause by the schedule of the run \[s\].
fn cost(trace: &JobTrace, label: &Label) -> f64 {
    let job = Recorded::of(trace);
    let windows = match label {
        Label::Nodes(names) => {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            return job.repaired(&job.numbers(&names));
        }
        Label::Tasks(wanted) => {
            return job.gain(|task| if task.stage == 1 && wanted.contains(&task.task) { 1e3 } else { 0.0 });
        }
        Label::Hog(windows) => windows.map(|window| window.map(|ms| ms * 1000 - trace.origin_us)),
    };
    let overlaps = |attempt: &&Attempt| {
        let span = attempt.launch().zip(attempt.finish()).map(|(from, to)| [from.microseconds(), to.microseconds()]);
        let node = trace.node_of(attempt).map(|node| node.name.as_str());
        node == Some("10.77.0.12") && span.is_some_and(|span| windows.iter().any(|w| span[0] < w[1] && span[1] > w[0]))
    };
    let hit: BTreeSet<(usize, u64)> =
        trace.attempts().iter().filter(overlaps).map(|own| (own.stage.index(), own.task.into())).collect();
    job.gain(|task| if hit.contains(&(task.stage, task.task)) { 1e3 } else { 0.0 })
}

/// The cost of the labelled cause, compared with the time of the run beyond its baseline runs. The machine's speed
/// differed between the runs, so the baseline is also scaled by the ratio of the medians of the map stage. The table of
/// docs/diagnose.md is printed with `--no-capture`.
#[test]
fn labelled_causes_cost_what_the_baselines_show() {
    let Some(folder) = shared("data/logs/labelled") else { return };
    let phan = ["phan-4node/homog1", "phan-4node/homog2"].as_slice();
    let bigroots = ["bigroots-2node/baseline"].as_slice();
    let three = &["10.77.0.11", "10.77.0.12", "10.77.0.13"];
    let runs = [
        ("phan-4node/c2_nospec", Label::Nodes(three), phan),
        ("phan-4node/c3_nospec", Label::Nodes(&three[..1]), phan),
        (
            "bigroots-2node/cpu_hog",
            Label::Hog([[1795166797963, 1795166808186], [1795166819963, 1795166830328]]),
            bigroots,
        ),
        (
            "bigroots-2node/io_hog",
            Label::Hog([[1795166898790, 1795166909531], [1795166920790, 1795166931287]]),
            bigroots,
        ),
        ("bigroots-2node/data_skew", Label::Tasks(&[7, 23, 41]), bigroots),
        ("bigroots-2node/slow_code", Label::Tasks(&[11, 37]), bigroots),
    ];
    for (run, label, baselines) in runs {
        let trace = trace_at(&folder.join(run));
        let middle = |trace: &JobTrace| median(times(trace, 1)).unwrap();
        let baselines: Vec<(f64, f64)> = baselines
            .iter()
            .map(|run| trace_at(&folder.join(run)))
            .map(|base| (job_s(&base), job_s(&base) * middle(&trace) / middle(&base)))
            .collect();
        let mean = |of: fn(&(f64, f64)) -> f64| baselines.iter().map(of).sum::<f64>() / baselines.len() as f64;
        let spread = (baselines[0].0 - baselines[baselines.len() - 1].0).abs();
        let (cost, raw, scaled) = (cost(&trace, &label), job_s(&trace) - mean(|b| b.0), job_s(&trace) - mean(|b| b.1));
        if run.ends_with("io_hog") {
            // the nodes share a disk, so the hog slows all tasks: the scaled baseline contains a part of its cost
            assert!(scaled < cost && cost < raw, "{run}: {cost}, {scaled} to {raw}");
        } else {
            assert!((cost - scaled).abs() <= 0.2 * scaled + spread, "{run}: {cost} for {scaled} ± {spread}");
        }
        println!(
            "| {run} | {:.1} | {:.1} | {spread:.1} | {raw:.1} | {scaled:.1} | {cost:.1} |",
            job_s(&trace),
            mean(|b| b.0)
        );
    }
}

/// Both nodes have three processes for their only CPU during the whole run: tasks wait for two thirds of their time, so
/// the jobs of 10 and 2 s take 12 s less two thirds of it. Without samples, or with one process, nothing is found.
#[test]
fn waits_for_cpus_of_a_whole_run_are_found() {
    let first = [("a", 0, 5), ("b", 0, 5), ("a", 5, 10), ("b", 5, 10)];
    let trace = Log::new().job(0, [0, 10], None, &first).job(1, [10, 12], None, &[("a", 10, 12), ("b", 10, 12)]).read();
    let with = |length: f64| {
        let sample = |i: u32| Sample { from: f64::from(i), to: f64::from(i + 1), value: length };
        let samples = (0..12).map(sample).collect();
        let queue = vec![Series { host: "a".into(), device: "all".into(), meter: Meter::RunQueue, samples }];
        let nodes = vec![NodeMeters { queue, ..NodeMeters::default() }; 2];
        root_causes(&trace, &nodes, &PoolOptions::default(), &Rules::default())
    };
    let found = with(3.0).advice();
    let advice = of(&found, Cause::CpuShortage).unwrap();
    assert!((advice.job_s.unwrap() - 8.0).abs() < 1e-5, "{advice:?}");
    assert_eq!(of(&with(1.0).advice(), Cause::CpuShortage), None);
    assert_eq!(of(&causes(&trace).advice(), Cause::CpuShortage), None);
}
