//! Logs of real runs, read to counts that others established.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tailspn::trace::{JobTrace, Outcome, ReadOptions, TraceError, WarningKind, read, read_bytes};
use tailspn::watch::Unwatched;

/// The folder with logs of others and with labelled runs, beside the checkout or where `TAILSPN_SHARED` says.
fn logs() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let shared = std::env::var_os("TAILSPN_SHARED").map_or_else(beside, PathBuf::from);
    let logs = shared.join("data/logs");
    if logs.is_dir() {
        return Some(logs);
    }
    assert!(std::env::var_os("TAILSPN_REQUIRE_SHARED").is_none(), "{} is missing", logs.display());
    println!("skipped: no ../shared");
    None
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
        let bytes = trace.attempts().iter().filter_map(|a| trace.amount(a, tailspn::trace::Metric::InputBytes));
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

#[test]
fn warnings_of_all_real_logs() {
    let Some(logs) = logs() else { return };
    let table = Rows::parse(&std::fs::read_to_string(logs.join("spark-event-logs/expected.tsv")).unwrap());
    let hadoop = Rows::parse(include_str!("../data/trace/hadoop-counts.tsv"));
    for row in table.rows.iter().chain(&hadoop.rows) {
        let trace = trace(&logs.join(&row[0]));
        for w in &trace.warnings {
            println!("{} {:?} {w} {}", row[0], w.kind, trace.place(w.first));
        }
    }
}
