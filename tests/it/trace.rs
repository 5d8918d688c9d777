//! Logs of real runs, read to counts that others established.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tailspn::trace::analysis::{CopyFate, Times, Usual, bounds_of, copies, stragglers};
use tailspn::trace::{Attempt, JobTrace, Metric, Moment, Outcome, ReadOptions, StageId, read};
use tailspn::watch::Unwatched;

use crate::shared::shared;

/// The folder with logs of others and with labelled runs.
fn logs() -> Option<PathBuf> {
    shared("data/logs")
}

fn trace(path: &Path) -> JobTrace {
    read(path, &ReadOptions::default(), &Unwatched).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The rows of a table, and its columns by name.
struct Rows {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Rows {
    fn parse(text: &str) -> Self {
        let split = |line: &str| line.split('\t').map(str::to_owned).collect::<Vec<_>>();
        let mut lines = text.lines().filter(|line| !line.starts_with('#')).map(split);
        Self { header: lines.next().unwrap(), rows: lines.collect() }
    }

    fn cell<'r>(&self, row: &'r [String], column: &str) -> &'r str {
        &row[self.header.iter().position(|name| name == column).unwrap()]
    }
}

fn outcomes(trace: &JobTrace, outcome: impl Fn(Outcome) -> bool) -> usize {
    trace.attempts().iter().filter(|attempt| outcome(attempt.outcome)).count()
}

/// From the first launch to the last end of attempts that ended, in milliseconds.
fn span_ms(trace: &JobTrace) -> Option<i64> {
    let ended = || trace.attempts().iter().filter(|attempt| attempt.outcome != Outcome::Unfinished);
    let first = ended().filter_map(|attempt| attempt.launch()).min()?;
    let last = ended().filter_map(|attempt| attempt.finish()).max()?;
    Some((last.microseconds() - first.microseconds()) / 1000)
}

/// `expected.tsv` was made by another program: a stage attempt counts where a task of it ended, an executor where it was added.
#[test]
fn every_spark_log_reads_to_its_expected_counts() {
    let Some(logs) = logs() else { return };
    let text = std::fs::read_to_string(logs.join("spark-event-logs/expected.tsv")).unwrap();
    let table = Rows::parse(&text);
    assert!(table.rows.len() >= 54, "{} rows", table.rows.len());
    for row in &table.rows {
        let file = table.cell(row, "file");
        let trace = trace(&logs.join(file));
        let ended: BTreeSet<_> =
            trace.attempts().iter().filter(|a| a.outcome != Outcome::Unfinished).map(|a| a.stage).collect();
        let copies = trace.attempts().iter().filter(|a| a.speculative && a.outcome != Outcome::Unfinished).count();
        let added = trace.executors.iter().filter(|executor| executor.added.is_some()).count();
        let found = [
            ("events", trace.reading.events.to_string()),
            ("bad_lines", trace.reading.bad_lines.to_string()),
            ("jobs", trace.jobs.len().to_string()),
            ("stage_attempts", ended.len().to_string()),
            ("task_ends", trace.reading.task_ends.to_string()),
            ("success", outcomes(&trace, |outcome| outcome == Outcome::Success).to_string()),
            ("speculative_ends", copies.to_string()),
            ("executors", added.to_string()),
            ("span_ms", span_ms(&trace).map_or_else(String::new, |span| span.to_string())),
        ];
        for (column, value) in found {
            assert_eq!(value, table.cell(row, column), "{file}: {column}; {:?}", trace.warnings);
        }
    }
}

/// The counts are those of `tests/data/trace/count_hadoop.py`, run by hand: it knows nothing of this crate, and reads the files
/// with Python's JSON and regular expressions. `total_ms` is the sum of end less start of all attempts that have both.
#[test]
fn every_hadoop_history_reads_to_its_expected_counts() {
    let Some(logs) = logs() else { return };
    let table = Rows::parse(include_str!("../data/trace/hadoop-counts.tsv"));
    assert!(table.rows.len() >= 39, "{} rows", table.rows.len());
    for row in &table.rows {
        let file = table.cell(row, "file");
        let trace = trace(&logs.join(file));
        let is_killed = |outcome| matches!(outcome, Outcome::Killed | Outcome::KilledAsCopy);
        let total: f64 = trace.attempts().iter().filter_map(|attempt| attempt.duration()).sum();
        let bytes = trace.attempts().iter().filter_map(|a| trace.amount(a, Metric::InputBytes));
        let found = [
            ("events", trace.reading.events.to_string()),
            ("jobs", trace.jobs.len().to_string()),
            ("ended", outcomes(&trace, |outcome| outcome != Outcome::Unfinished).to_string()),
            ("success", outcomes(&trace, |outcome| outcome == Outcome::Success).to_string()),
            ("failed", outcomes(&trace, |outcome| outcome == Outcome::Failed).to_string()),
            ("killed", outcomes(&trace, is_killed).to_string()),
            ("unfinished", outcomes(&trace, |outcome| outcome == Outcome::Unfinished).to_string()),
            ("total_ms", format!("{:.0}", (1000.0 * total).abs())),
            ("hdfs_read", bytes.sum::<u64>().to_string()),
        ];
        for (column, value) in found {
            let expected = table.cell(row, column);
            assert!(expected == "-" || value == expected, "{file}: {column}: {value}, expected {expected}");
        }
    }
}

/// Kinds of oddities in real logs, each of which was looked at by hand: jobs without an end in logs that were cut, tasks that were
/// running then, a stage that got more tasks than the job said, times of a folded trace that do not fit, a file of several
/// histories that ends within the settings of the next job.
#[test]
fn real_logs_warn_of_what_is_odd_and_of_nothing_else() {
    let Some(logs) = logs() else { return };
    let spark = Rows::parse(&std::fs::read_to_string(logs.join("spark-event-logs/expected.tsv")).unwrap());
    let hadoop = Rows::parse(include_str!("../data/trace/hadoop-counts.tsv"));
    let mut kinds = BTreeSet::new();
    for row in spark.rows.iter().chain(&hadoop.rows) {
        let name = row[0].rsplit('/').next().unwrap();
        let found = trace(&logs.join(&row[0])).warnings;
        kinds.extend(
            found.iter().map(|w| (name.chars().take(24).collect::<String>(), format!("{:?}", w.kind), w.count)),
        );
    }
    let kinds: Vec<_> = kinds.iter().map(|(name, kind, count)| format!("{name} {kind} {count}")).collect();
    assert_eq!(kinds.join("\n"), include_str!("../data/trace/warnings.txt").trim_end());
}

/// The same jobs, one run for each codec of Spark. Events, ends of tasks, their executor run time in milliseconds, and bytes of the
/// text were found with Python: `zstandard`, `cramjam` for blocks of lz4 and snappy, and a few lines of its own for LZF.
#[test]
fn every_codec_of_spark_is_read() {
    let Some(logs) = logs() else { return };
    let expected = [
        ("lz4/app-20261120102533-0019.lz4", 87, 15, 82_328, 221_829),
        ("snappy/app-20261120102732-0021.snappy", 90, 15, 99_312, 224_960),
        ("lzf/app-20261120102631-0020.lzf", 88, 15, 86_565, 222_727),
        ("zstd/app-20261120102443-0018.zstd", 83, 15, 64_821, 219_612),
        ("rolling_plain/eventlog_v2_app-20261120103127-0023", 87, 15, 82_435, 219_791),
        ("rolling_zstd/eventlog_v2_app-20261120102839-0022", 1795, 840, 1_610_753, 3_335_962),
    ];
    for (file, events, ends, run_ms, bytes) in expected {
        let trace = trace(&logs.join("labelled/eventlog-formats").join(file));
        let run: u64 = trace.attempts().iter().filter_map(|a| trace.amount(a, Metric::ExecutorRunTime)).sum();
        let found = (trace.reading.events, trace.reading.task_ends, run / 1000, trace.reading.text_bytes);
        assert_eq!(found, (events, ends, run_ms, bytes), "{file}");
        assert!(trace.warnings.is_empty(), "{file}: {:?}", trace.warnings);
    }
}

/// A labelled run: its trace, and what was done to it.
fn labelled(logs: &Path, case: &str) -> (JobTrace, Value) {
    let folder = logs.join("labelled").join(case);
    let mut files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let is_log = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("app-"));
    let log = files.find(|path| is_log(path)).unwrap();
    let truth = std::fs::read_to_string(folder.join("truth.json")).unwrap();
    (trace(&log), serde_json::from_str(&truth).unwrap())
}

/// The measured stage of the labelled runs; stage 0 warms up.
fn measured(trace: &JobTrace) -> StageId {
    trace.stages_with_ids().find(|(_, stage)| stage.number == 1).unwrap().0
}

/// Tasks of the measured stage that are stragglers by the median rule.
fn slow_tasks(trace: &JobTrace) -> BTreeSet<u32> {
    let stage = measured(trace);
    let found = stragglers(trace, stage, &Usual::default()).over_median;
    found.into_iter().map(|index| trace.attempts_of(stage)[index].task).collect()
}

#[test]
fn copies_of_the_labelled_runs_are_found() {
    let Some(logs) = logs() else { return };
    for (case, tasks, open) in [("c2_spec15", [0, 13, 14, 15], 3), ("c2_specdef", [2, 6, 10, 14], 0)] {
        let (trace, _) = labelled(&logs, &format!("phan-4node/{case}"));
        let stage = measured(&trace);
        let fates = copies(&trace).fates;
        let of_stage = fates.iter().map(|(index, fate)| (&trace.attempts()[*index], *fate));
        let of_stage: Vec<_> = of_stage.filter(|(attempt, _)| attempt.stage == stage).collect();
        assert_eq!(of_stage.iter().map(|(attempt, _)| attempt.task).collect::<Vec<_>>(), tasks, "{case}");
        assert!(of_stage.iter().all(|(_, fate)| *fate == CopyFate::Won), "{case}: {of_stage:?}");
        let unfinished = trace.attempts_of(stage).iter().filter(|a| a.outcome == Outcome::Unfinished).count();
        assert_eq!(unfinished, open, "{case}: originals whose end the log does not tell");
    }
    for case in ["c2_nospec", "c3_nospec", "homog1", "homog2"] {
        let (trace, _) = labelled(&logs, &format!("phan-4node/{case}"));
        assert!(copies(&trace).fates.is_empty(), "{case}");
    }
}

/// `quota_us_per_100ms` is the CPU time of each node: the less, the slower its tasks.
#[test]
fn slowed_nodes_of_the_labelled_runs_are_the_slow_ones() {
    let Some(logs) = logs() else { return };
    for case in ["c2_nospec", "c3_nospec"] {
        let (trace, truth) = labelled(&logs, &format!("phan-4node/{case}"));
        let stage = measured(&trace);
        let mut nodes: Vec<(u64, f64)> = Vec::new();
        for (host, entry) in truth["nodes"].as_object().unwrap() {
            let quota = truth["quota_us_per_100ms"][&entry["node"].as_str().unwrap()[1..]].as_u64().unwrap();
            let on_node = |a: &&Attempt| trace.node_of(a).is_some_and(|node| &node.name == host);
            let times: Vec<f64> =
                trace.attempts_of(stage).iter().filter(on_node).filter_map(Attempt::duration).collect();
            nodes.push((quota, Times::of(times).unwrap().median));
        }
        nodes.sort_by_key(|(quota, _)| *quota);
        for pair in nodes.windows(2).filter(|pair| pair[0].0 < pair[1].0) {
            assert!(pair[0].1 > 1.2 * pair[1].1, "{case}: {nodes:?}");
        }
        // every task of the slowest node is a straggler
        let slowest = truth["nodes"].as_object().unwrap().keys().next().unwrap();
        let slow = slow_tasks(&trace);
        let on_slowest =
            trace.attempts_of(stage).iter().filter(|a| trace.node_of(a).is_some_and(|n| &n.name == slowest));
        assert!(on_slowest.map(|a| a.task).all(|task| slow.contains(&task)), "{case}");
    }
}

/// Labels are factors on bytes; which of them made a straggler was decided by the rule of 1.5 medians, in Python.
#[test]
fn skewed_tasks_of_the_labelled_runs_are_the_stragglers() {
    let Some(logs) = logs() else { return };
    let expected: [(&str, &[u32]); 6] =
        [("skew1", &[3]), ("skew3", &[5, 14]), ("skew5", &[12]), ("hist1", &[]), ("hist2", &[]), ("hist3", &[])];
    for (case, tasks) in expected {
        let (trace, _) = labelled(&logs, &format!("longtail-4node/{case}"));
        assert_eq!(slow_tasks(&trace).into_iter().collect::<Vec<_>>(), tasks, "{case}");
    }
    for (case, tasks) in [("data_skew", &[7, 23, 41][..]), ("slow_code", &[11, 37])] {
        let (trace, _) = labelled(&logs, &format!("bigroots-2node/{case}"));
        let slow = slow_tasks(&trace);
        assert!(tasks.iter().all(|task| slow.contains(task)), "{case}: {slow:?}");
    }
}

/// Stragglers that ran while something else kept a node busy ran on that node. The first four tasks are cold in every run.
#[test]
fn stragglers_beside_hogs_are_on_their_node() {
    let Some(logs) = logs() else { return };
    for (case, fewest) in [("cpu_hog", 8), ("io_hog", 6)] {
        let (trace, truth) = labelled(&logs, &format!("bigroots-2node/{case}"));
        let stage = measured(&trace);
        let hogs = truth["hogs"].as_array().unwrap();
        let (mut on_node, mut elsewhere) = (0, 0);
        for index in stragglers(&trace, stage, &Usual::default()).over_median {
            let attempt = &trace.attempts_of(stage)[index];
            let ms = |moment: Option<Moment>| (trace.origin_us + moment.unwrap().microseconds()) / 1000;
            let beside = |hog: &&Value| {
                ms(attempt.launch()) < hog["end_ms"].as_i64().unwrap()
                    && ms(attempt.finish()) > hog["start_ms"].as_i64().unwrap()
            };
            let Some(hog) = hogs.iter().find(beside).filter(|_| attempt.task > 3) else { continue };
            let is_there = trace.node_of(attempt).is_some_and(|node| node.name == hog["host"].as_str().unwrap());
            *if is_there { &mut on_node } else { &mut elsewhere } += 1;
        }
        assert!(on_node >= fewest && elsewhere <= 1, "{case}: {on_node} there, {elsewhere} elsewhere");
    }
}

/// By the homogeneous runs, tasks of a slowed node take more than 1.2 times what they usually take.
#[test]
fn usual_times_come_from_other_runs() {
    let Some(logs) = logs() else { return };
    let runs = ["homog1", "homog2"].map(|case| labelled(&logs, &format!("phan-4node/{case}")).0);
    let usual = Usual::from_runs(&runs);
    let (trace, _) = labelled(&logs, "phan-4node/c3_nospec");
    let stage = measured(&trace);
    // 10.77.0.11 has a quarter of the CPU time of the other nodes
    let is_slow = |a: &Attempt| trace.node_of(a).is_some_and(|node| node.name == "10.77.0.11");
    let found = stragglers(&trace, stage, &usual).over_usual;
    let attempts = trace.attempts_of(stage);
    let slow = attempts.iter().filter(|a| is_slow(a)).count();
    assert_eq!(found.iter().filter(|&&index| is_slow(&attempts[index])).count(), slow);
    assert!(usual.time(1, 0).is_some() && usual.time(99, 0).is_none());
}

/// Spark's table of the longer runs says how long the jobs took.
#[test]
fn spans_of_the_scaling_runs_are_their_job_times() {
    let Some(logs) = logs() else { return };
    let text = std::fs::read_to_string(logs.join("spark-scaling/runs.jsonl")).unwrap();
    for run in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let trace = trace(&logs.join("spark-scaling").join(run["log"].as_str().unwrap()));
        let (id, _) = trace.applications_with_ids().next().unwrap();
        let bounds = bounds_of(&trace, id).unwrap();
        assert!((bounds.span - run["job_s"].as_f64().unwrap()).abs() < 0.0015, "{run}: {bounds:?}");
        assert_eq!(trace.attempts().len() as u64, run["tasks"].as_u64().unwrap(), "{run}");
        assert_eq!(u64::from(bounds.slots.stated), 1, "{run}");
        assert_eq!(bounds.slots.count, run["executors"].as_u64().unwrap() * run["cores"].as_u64().unwrap(), "{run}");
        assert!(bounds.largest().1 <= bounds.span, "{run}: {bounds:?}");
    }
}

/// A sample of the trace of 2011. Rows by event type, and the time from each SCHEDULE to the end after it, were found with awk:
/// 10 SUBMIT, 11 SCHEDULE, 1 EVICT, 1 FAIL, 9 FINISH, 457 s.
#[test]
fn the_sample_of_googles_trace_reads_to_its_counts() {
    let Some(logs) = logs() else { return };
    let trace = trace(&logs.join("google/cloudsimplus_task-events-sample-1.csv"));
    assert_eq!((trace.reading.events, trace.reading.task_ends, trace.applications.len()), (32, 11, 4));
    let count = |outcome: Outcome| outcomes(&trace, |found| found == outcome);
    assert_eq!((count(Outcome::Success), count(Outcome::Failed), count(Outcome::Evicted)), (9, 1, 1));
    let total: i64 =
        trace.attempts().iter().map(|a| a.finish().unwrap().microseconds() - a.launch().unwrap().microseconds()).sum();
    assert_eq!(total, 457_000_000);
    assert_eq!(trace.stages.iter().filter_map(|stage| stage.tasks).collect::<Vec<_>>(), [2, 3, 1, 4]);
    assert!(trace.warnings.is_empty(), "{:?}", trace.warnings);
}
