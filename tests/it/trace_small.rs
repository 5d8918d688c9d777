//! Small logs of every format: exact values by hand, damage, and limits.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use tailspn::explain::Explain as _;
use tailspn::report::{CsvText, Look, Report as _, trace_csv, trace_report, trace_svg};
use tailspn::trace::analysis::{Bound, CopyFate, Usual, bounds_of, copies, slots_of, stragglers, times_of};
use tailspn::trace::{
    Clock, Format, JobTrace, Locality, Metric, Outcome, ReadOptions, StageKind, TraceError, WarningKind, read,
    read_bytes,
};
use tailspn::watch::{Unwatched, Watch};

const SPARK: &str = include_str!("../data/trace/small.spark");

fn parse(bytes: impl AsRef<[u8]>) -> Result<JobTrace, TraceError> {
    read_bytes("log", bytes.as_ref(), &ReadOptions::default(), &Unwatched)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/trace")
}

fn file(name: &str) -> JobTrace {
    read(&folder().join(name), &ReadOptions::default(), &Unwatched).unwrap()
}

fn kinds(trace: &JobTrace) -> Vec<(WarningKind, u64)> {
    trace.warnings.iter().map(|warning| (warning.kind, warning.count)).collect()
}

#[test]
fn a_small_spark_log_by_hand() {
    let trace = parse(SPARK).unwrap();
    assert_eq!((trace.format, trace.clock), (Format::SparkEventLog, Clock::Unix));
    assert!(trace.warnings.is_empty(), "{:?}", trace.warnings);
    assert_eq!(trace.origin_us, 1_700_000_000_000_000);
    let application = &trace.applications[0];
    assert_eq!((application.name.as_str(), application.version.as_deref()), ("small", Some("3.5.1")));
    assert_eq!(application.properties["spark.speculation"], "true");
    assert_eq!(application.end.unwrap().microseconds(), 11_000_000);
    let job = &trace.jobs[0];
    assert_eq!((job.name.as_str(), job.succeeded, &job.stages), ("collect", Some(true), &vec![0, 1]));
    assert_eq!(job.completed.unwrap().microseconds() - job.submitted.unwrap().microseconds(), 9_720_000);
    let stages: Vec<_> = trace.stages_with_ids().collect();
    assert_eq!((stages[0].1.kind, stages[1].1.kind), (StageKind::ShuffleMap, StageKind::Result));
    assert_eq!(stages[1].1.parents, Some(vec![0]));
    let first = &trace.attempts_of(stages[0].0)[0];
    assert_eq!(first.duration(), Some(2.0));
    assert_eq!(trace.value(first, Metric::ExecutorRunTime), Some(1.98));
    assert_eq!(trace.value(first, Metric::CpuTime), Some(1.0));
    assert_eq!(trace.value(first, Metric::ShuffleWriteTime), Some(0.0025));
    assert_eq!(trace.amount(first, Metric::InputBytes), Some(1 << 20));
    assert_eq!(trace.amount(first, Metric::PeakMemoryBytes), None);
    // 2 s less 1.98 s of run, 10 ms of deserialisation and 1 ms of serialisation
    assert!((trace.scheduler_delay(first).unwrap() - 0.009).abs() < 1e-9);
    assert_eq!((first.locality, trace.node_of(first).unwrap().name.as_str()), (Locality::Node, "a"));
    assert_eq!(trace.executor_of(first).unwrap().cores, Some(2));
}

#[test]
fn stragglers_copies_and_bounds_of_the_small_log_by_hand() {
    let trace = parse(SPARK).unwrap();
    let (application, _) = trace.applications_with_ids().next().unwrap();
    let stage = trace.stages_with_ids().next().unwrap().0;
    // successes take 2.0, 1.9, 1.8 and 4.0 s; the original of the copied task was killed after 8.1 s
    let times = times_of(trace.attempts_of(stage)).unwrap();
    assert_eq!((times.count, times.min, times.median, times.max), (4, 1.8, 1.95, 4.0));
    let found = stragglers(&trace, stage, &Usual::default());
    assert_eq!((found.over_median.as_slice(), found.over_usual.as_slice()), (&[3, 4][..], &[3, 4][..]));
    let copies = copies(&trace);
    assert_eq!((copies.fates.as_slice(), copies.tasks), (&[(4, CopyFate::Won)][..], 1));
    assert!((copies.wasted - 8.1).abs() < 1e-9);
    let slots = slots_of(&trace, application);
    assert_eq!((slots.count, slots.stated), (4, true));
    let bounds = bounds_of(&trace, application).unwrap();
    // work: 2.0 + 1.9 + 1.8 + 4.0 + 1.0 + 1.0; path: the copy, then a task of 1 s
    assert!((bounds.work - 11.7).abs() < 1e-9 && (bounds.by_slots - 2.925).abs() < 1e-9);
    assert_eq!((bounds.by_longest_task, bounds.by_critical_path, bounds.span), (4.0, 5.0, 9.72));
    // submitted at 1.0, first launch at 1.1; the killed original runs to 9.2; last end 10.7, job's end 10.72
    assert!((bounds.by_driver - 0.12).abs() < 1e-9);
    assert_eq!(bounds.largest(), (Bound::CriticalPath, 5.0));
    assert!(bounds.knows_dependencies);
}

#[test]
fn hadoop_tells_the_same_job_in_four_ways() {
    for (name, format) in [
        ("plain-unions.jhist", Format::HadoopJson),
        ("wrapped-unions.jhist", Format::HadoopJson),
        ("history-0.20.txt", Format::HadoopText),
        ("small.rumen.json", Format::Rumen),
    ] {
        let trace = file(name);
        assert_eq!(trace.format, format);
        assert!(trace.warnings.is_empty(), "{name}: {:?}", trace.warnings);
        let kinds: Vec<_> = trace.stages.iter().map(|stage| (stage.kind, stage.tasks, stage.parents.clone())).collect();
        let expected = [(StageKind::Map, Some(2), Some(vec![])), (StageKind::Reduce, Some(1), Some(vec![0]))];
        assert_eq!(kinds, expected, "{name}");
        let job = &trace.jobs[0];
        assert_eq!((job.number, job.succeeded, job.launched.unwrap().seconds()), (7, Some(true), 1.0), "{name}");
        assert_eq!(job.completed.unwrap().microseconds(), 9_100_000, "{name}");
        let attempts: Vec<_> =
            trace.attempts().iter().map(|a| (a.task, a.number, a.outcome, a.speculative, a.duration())).collect();
        let expected = [
            (0, 0, Outcome::Success, false, Some(2.5)),
            (1, 0, Outcome::KilledAsCopy, false, Some(5.6)),
            (1, 1, Outcome::Success, true, Some(2.5)),
            (0, 0, Outcome::Success, false, Some(4.4)),
        ];
        assert_eq!(attempts, expected, "{name}");
        let reduce = &trace.attempts()[3];
        assert_eq!(trace.value(reduce, Metric::ShufflePhaseTime), Some(3.4), "{name}");
        assert_eq!(trace.value(reduce, Metric::SortPhaseTime), Some(0.2), "{name}");
        assert_eq!(trace.amount(reduce, Metric::ShuffleRemoteBytes), Some(1200), "{name}");
        assert_eq!(trace.amount(&trace.attempts()[2], Metric::SpilledRecords), Some(20), "{name}");
        let node = trace.node_of(reduce).unwrap();
        assert_eq!((node.name.as_str(), node.rack.as_deref()), ("n2", Some("/r1")), "{name}");
        assert_eq!(copies(&trace).fates, [(2, CopyFate::Won)], "{name}");
    }
    let trace = file("plain-unions.jhist");
    // the copied map task ends at 7.5 s; until then the reduce task, which began at 4.6 s, waits for it, and then takes 1.5 s
    let (application, _) = trace.applications_with_ids().next().unwrap();
    let bounds = bounds_of(&trace, application).unwrap();
    assert!((bounds.by_critical_path - 4.0).abs() < 1e-9 && (bounds.by_longest_task - 4.4).abs() < 1e-9);
    let map = &trace.attempts()[0];
    assert_eq!(trace.progress(map).unwrap()[11], (1.2, 1.0));
    assert_eq!(trace.value(map, Metric::MapPhaseTime), Some(2.0));
}

#[test]
fn cluster_traces_by_hand() {
    let google = file("google-2011.csv");
    assert_eq!((google.format, google.clock, google.applications.len()), (Format::Google2011, Clock::Trace, 2));
    let found: Vec<_> = google.attempts().iter().map(|a| (a.task, a.number, a.outcome, a.duration())).collect();
    let expected = [
        (0, 0, Outcome::Success, Some(10.0)),
        (1, 0, Outcome::Evicted, Some(1.5)),
        (1, 1, Outcome::Success, Some(7.0)),
        (0, 0, Outcome::Unfinished, None),
    ];
    assert_eq!(found, expected);
    assert_eq!(google.amount(&google.attempts()[0], Metric::RequestedCpu), Some(250));
    let alibaba = file("alibaba-2018");
    assert_eq!((alibaba.format, alibaba.files.len()), (Format::Alibaba2018, 2));
    assert!(alibaba.warnings.is_empty(), "{:?}", alibaba.warnings);
    let stages: Vec<_> = alibaba.stages.iter().map(|s| (s.name.as_str(), s.tasks, s.parents.clone())).collect();
    let expected = [("M1", Some(3), Some(vec![])), ("R2_1", Some(1), Some(vec![1])), ("task_abc", Some(1), None)];
    assert_eq!(stages, expected);
    let found: Vec<_> = alibaba.attempts().iter().map(|a| (a.task, a.number, a.outcome, a.duration())).collect();
    let expected = [
        (0, 0, Outcome::Success, Some(30.0)),
        (1, 0, Outcome::Failed, Some(20.0)),
        (1, 1, Outcome::Success, Some(39.0)),
        (2, 0, Outcome::Success, Some(31.0)),
        (0, 0, Outcome::Success, Some(29.0)),
        (0, 0, Outcome::Failed, Some(10.0)),
    ];
    assert_eq!(found, expected);
    assert_eq!(alibaba.jobs.iter().map(|job| job.succeeded).collect::<Vec<_>>(), [Some(true), Some(false)]);
    let old = file("alibaba-2017.csv");
    assert_eq!((old.format, old.attempts().len(), old.stages.len()), (Format::Alibaba2017, 3, 2));
}

// ---------------------------------------------------------------- damage

/// The small log without its lines from `from` on, and with something done to the rest.
fn lines() -> Vec<String> {
    SPARK.lines().map(str::to_owned).collect()
}

#[test]
fn a_cut_last_line_is_counted_and_left_out() {
    let text = lines().join("\n");
    let cut = &text[..text.len() - 5];
    let trace = parse(cut).unwrap();
    assert_eq!(kinds(&trace), [(WarningKind::CutLastLine, 1)]);
    assert_eq!(trace.warnings[0].first.line, lines().len() as u64);
    assert_eq!(trace.applications[0].end, None);
    assert_eq!(trace.attempts().len(), 8);
}

#[test]
fn garbage_between_lines_is_counted_where_it_is() {
    let mut lines = lines();
    lines.insert(5, "\u{1}\u{2}garbage".to_owned());
    lines.insert(9, "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":".to_owned());
    let trace = parse(lines.join("\n")).unwrap();
    assert_eq!(kinds(&trace), [(WarningKind::BadLine, 2)]);
    assert_eq!((trace.warnings[0].first.line, trace.reading.bad_lines), (6, 2));
    assert_eq!(trace.attempts().len(), 8);
}

#[test]
fn an_end_before_its_beginning_is_unknown_and_told() {
    let text = SPARK.replace("\"Finish Time\":1700000003000", "\"Finish Time\":1600000003000");
    let trace = parse(text).unwrap();
    assert_eq!(kinds(&trace), [(WarningKind::NegativeTime, 1)]);
    let stage = trace.stages_with_ids().next().unwrap().0;
    assert_eq!(trace.attempts_of(stage)[1].duration(), None);
    // it is not among the times
    assert_eq!(times_of(trace.attempts_of(stage)).unwrap().count, 3);
    let text = SPARK.replace("\"Finish Time\":1700000003000", "\"Finish Time\":9223372036854775807");
    assert_eq!(kinds(&parse(text).unwrap()), [(WarningKind::BadTime, 1)]);
    let text = SPARK.replace("\"JVM GC Time\":5", "\"JVM GC Time\":-5");
    let trace = parse(text).unwrap();
    assert_eq!(kinds(&trace), [(WarningKind::BadCounter, 6)]);
    assert_eq!(trace.amount(&trace.attempts()[0], Metric::GcTime), None);
}

#[test]
fn missing_lines_are_told() {
    let without = |what: &str| {
        let kept: Vec<_> = lines().into_iter().filter(|line| !line.contains(what)).collect();
        parse(kept.join("\n")).unwrap()
    };
    let trace = without("ApplicationStart");
    assert_eq!(kinds(&trace), [(WarningKind::NoApplication, 1)]);
    assert_eq!(trace.stages[0].submitted.unwrap().microseconds(), 950_000);
    let trace = parse(
        lines()
            .into_iter()
            .filter(|l| !l.contains("StageSubmitted") && !l.contains("StageCompleted") && !l.contains("JobStart"))
            .collect::<Vec<_>>()
            .join("\n"),
    )
    .unwrap();
    assert_eq!(kinds(&trace), [(WarningKind::MissingStage, 2), (WarningKind::JobEndWithoutStart, 1)]);
    assert!(trace.stages.iter().all(|stage| stage.tasks.is_none() && stage.parents.is_none()));
    let lost = |line: &String| line.contains("TaskEnd") && line.contains("\"Task ID\":7,");
    let trace = parse(lines().into_iter().filter(|line| !lost(line)).collect::<Vec<_>>().join("\n")).unwrap();
    assert_eq!(kinds(&trace), [(WarningKind::MissingTasks, 1), (WarningKind::Unfinished, 1)]);
    let lost = |line: &String| line.contains("TaskStart") && line.contains("\"Task ID\":7,");
    let trace = parse(lines().into_iter().filter(|line| !lost(line)).collect::<Vec<_>>().join("\n")).unwrap();
    assert_eq!(kinds(&trace), [(WarningKind::EndWithoutStart, 1)]);
}

#[test]
fn two_applications_in_one_file_are_kept_apart() {
    let second = SPARK.replace("app-1", "app-2").replace("\"Timestamp\":17000000", "\"Timestamp\":17000001");
    let trace = parse(format!("{SPARK}{second}")).unwrap();
    assert_eq!(kinds(&trace), [(WarningKind::FurtherApplication, 1)]);
    assert_eq!((trace.applications.len(), trace.jobs.len(), trace.stages.len()), (2, 2, 4));
    let attempts = |index: usize| {
        let (id, _) = trace.applications_with_ids().nth(index).unwrap();
        trace.attempts_of_application(id).len()
    };
    assert_eq!((attempts(0), attempts(1)), (8, 8));
    // the same log twice is the same: an application that comes again
    let twice = parse(format!("{SPARK}{SPARK}")).unwrap();
    assert_eq!(twice.applications.len(), 2);
}

#[test]
fn files_that_are_not_logs_are_refused_with_a_hint() {
    for (bytes, what) in [
        (&b""[..], "is empty"),
        (b" \n \n", "is empty"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"\x04\x22\x4d\x18rest", "lz4 frame"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary data"),
        (b"<?xml version=\"1.0\"?><pnml/>", "XML"),
        (b"{\"a\": 1}\n", "JSON, but not of a supported log"),
        (b"{\"name\":\"<root>\",\"children\":[]}", "topology"),
        (b"Avro-Binary\n\x01\x02", "binary Avro"),
        (b"hello world\n", "an unrecognised log format"),
        (b"Avro-Json\n", "none of its lines is an event"),
        (b"{\"Event\":\"cut", "none of its lines is an event"),
        (b"LZ4Block\x25", "damaged"),
        (b"\x28\xb5\x2f\xfd", "damaged"),
    ] {
        let error = parse(bytes).unwrap_err();
        assert!(error.to_string().contains(what), "{what}: {error}");
        assert!(error.help().is_some(), "{error}");
    }
    let missing = read(Path::new("/no/such/log"), &ReadOptions::default(), &Unwatched).unwrap_err();
    assert!(matches!(missing, TraceError::Io { .. }));
}

#[test]
fn limits_are_kept() {
    let options = ReadOptions { most_attempts: 3, ..ReadOptions::default() };
    let error = read_bytes("log", SPARK.as_bytes(), &options, &Unwatched).unwrap_err();
    assert!(matches!(&error, TraceError::TooManyAttempts { limit: 3, line, .. } if *line > 10), "{error}");
    assert!(error.help().unwrap().contains("--max-attempts"));
    let rumen = include_str!("../data/trace/small.rumen.json");
    assert!(matches!(
        read_bytes("log", rumen.as_bytes(), &options, &Unwatched),
        Err(TraceError::TooManyAttempts { .. })
    ));
    let longest = lines().iter().map(String::len).max().unwrap();
    let options = ReadOptions { longest_line: longest - 1, ..ReadOptions::default() };
    let trace = read_bytes("log", SPARK.as_bytes(), &options, &Unwatched).unwrap();
    assert!(trace.warnings.iter().any(|warning| warning.kind == WarningKind::LongLine));
    let options = ReadOptions { longest_line: longest, ..ReadOptions::default() };
    assert!(read_bytes("log", SPARK.as_bytes(), &options, &Unwatched).unwrap().warnings.is_empty());
}

struct StopAtOnce;

impl Watch for StopAtOnce {
    fn progress(&self, _done: u64, _planned: u64) {}

    fn stopped(&self) -> bool {
        true
    }
}

#[test]
fn a_stopped_reading_says_so() {
    let trace = read_bytes("log", SPARK.as_bytes(), &ReadOptions::default(), &StopAtOnce).unwrap();
    assert!(trace.reading.partial && trace.attempts().is_empty());
}

// ---------------------------------------------------------------- compression

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

#[test]
fn compressed_logs_in_several_pieces_and_layers_are_the_plain_log() {
    let (front, back) = SPARK.as_bytes().split_at(SPARK.len() / 2);
    let frames = [zstd(front), zstd(back)].concat();
    // a skippable frame before them
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &frames].concat();
    let snappy = {
        let mut encoder = snap::write::FrameEncoder::new(Vec::new());
        encoder.write_all(SPARK.as_bytes()).unwrap();
        encoder.into_inner().unwrap()
    };
    for packed in [gzip(SPARK.as_bytes()), [gzip(front), gzip(back)].concat(), gzip(&frames), skippable, frames, snappy]
    {
        let trace = parse(packed).unwrap();
        assert!(trace.warnings.is_empty(), "{:?}", trace.warnings);
        assert_eq!((trace.attempts().len(), trace.reading.text_bytes), (8, SPARK.len() as u64));
    }
}

#[test]
fn cut_compressed_logs_keep_what_is_whole() {
    // text that does not compress to nothing
    let text: String =
        (0..200).map(|i| SPARK.replace("app-1", &format!("app-{i}")).replace("170000", "170001")).collect();
    for packed in [gzip(text.as_bytes()), zstd(text.as_bytes())] {
        let cut = &packed[..packed.len() / 2];
        let trace = parse(cut).unwrap();
        assert!(kinds(&trace).contains(&(WarningKind::CutFile, 1)), "{:?}", trace.warnings);
        let share = trace.reading.text_bytes as f64 / text.len() as f64;
        assert!(share > 0.2, "{share}");
        assert!(trace.reading.events > 100);
    }
}

/// About 120 bytes an attempt, as the documentation says, with all that Spark measures.
#[test]
fn attempts_are_small() {
    let trace = parse(SPARK).unwrap();
    let bytes = trace.attempt_bytes() as f64 / trace.attempts().len() as f64;
    assert!(bytes < 125.0, "{bytes} bytes an attempt");
}

// ---------------------------------------------------------------- mutation

/// Every format, small.
static SAMPLES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(samples);

fn samples() -> Vec<Vec<u8>> {
    let names = [
        "small.spark",
        "plain-unions.jhist",
        "wrapped-unions.jhist",
        "history-0.20.txt",
        "small.rumen.json",
        "google-2011.csv",
        "alibaba-2018/batch_instance.csv",
        "alibaba-2018/batch_task.csv",
        "alibaba-2017.csv",
    ];
    let mut samples: Vec<Vec<u8>> = names.iter().map(|name| std::fs::read(folder().join(name)).unwrap()).collect();
    samples.push(gzip(SPARK.as_bytes()));
    samples.push(zstd(SPARK.as_bytes()));
    samples.push(lz4_block(SPARK.as_bytes()));
    samples
}

/// One block as lz4-java writes it, without compression and with a wrong checksum: damage is what this is for.
fn lz4_block(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap().to_le_bytes();
    [b"LZ4Block\x10", &length[..], &length, &[0; 4], bytes].concat()
}

#[derive(Clone, Debug)]
enum Damage {
    Change(usize, u8),
    Remove(usize, usize),
    Repeat(usize, usize),
    Cut(usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        4 => (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Damage::Change(at, byte)),
        4 => (any::<usize>(), prop::sample::select(b"0123456789-\"{}[],:\\\n .eE".to_vec()))
            .prop_map(|(at, byte)| Damage::Change(at, byte)),
        2 => (any::<usize>(), 1_usize..400).prop_map(|(at, length)| Damage::Remove(at, length)),
        2 => (any::<usize>(), 1_usize..400).prop_map(|(at, length)| Damage::Repeat(at, length)),
        1 => any::<usize>().prop_map(Damage::Cut),
    ]
}

fn apply(bytes: &mut Vec<u8>, damage: &Damage) {
    if bytes.is_empty() {
        return;
    }
    let size = bytes.len();
    match *damage {
        Damage::Change(at, byte) => bytes[at % size] = byte,
        Damage::Remove(at, length) => {
            bytes.drain(at % size..(at % size + length).min(size));
        }
        Damage::Repeat(at, length) => {
            let piece = bytes[at % size..(at % size + length).min(size)].to_vec();
            bytes.splice(at % size..at % size, piece);
        }
        Damage::Cut(at) => bytes.truncate(at % size),
    }
}

/// Properties of every trace, however damaged its log was.
fn check(trace: &JobTrace) {
    let mut end = 0;
    for (id, stage) in trace.stages_with_ids() {
        assert_eq!(stage.attempts.start, end);
        end = stage.attempts.end;
        assert!(trace.attempts_of(id).iter().all(|attempt| attempt.stage == id));
        let found = stragglers(trace, id, &Usual::default());
        assert!(found.over_median.iter().all(|index| found.over_usual.contains(index)));
    }
    assert_eq!(end, trace.attempts().len());
    for attempt in trace.attempts() {
        assert!(attempt.duration().is_none_or(|seconds| seconds >= 0.0 && seconds.is_finite()));
        for metric in Metric::ALL {
            assert!(trace.value(attempt, metric).is_none_or(|value| value >= 0.0));
        }
        let _ = (trace.progress(attempt), trace.scheduler_delay(attempt));
    }
    for (id, _) in trace.applications_with_ids() {
        if let Some(bounds) = bounds_of(trace, id) {
            assert!(bounds.by_slots <= bounds.work);
            assert!(bounds.by_driver <= bounds.span + 1e-9);
        }
    }
    let copies = copies(trace);
    assert!(copies.wasted <= copies.busy + 1e-9);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 3000,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/regressions/trace.txt"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn damaged_logs_are_read_or_refused(which in 0_usize..12, damages in prop::collection::vec(damage(), 1..6)) {
        let mut bytes = SAMPLES[which].clone();
        for damage in &damages {
            apply(&mut bytes, damage);
        }
        match parse(&bytes) {
            Ok(trace) => {
                check(&trace);
                let usual = Usual::from_runs(std::slice::from_ref(&trace));
                let report = trace_report(&trace, &usual);
                prop_assert!(!report.text(&Look::default()).is_empty());
                prop_assert!(report.json().is_ok() && trace_csv(&trace, &usual, CsvText::Escaped, |_| Ok::<_, ()>(())).is_ok());
                prop_assert!(trace_svg(&trace, &usual).ends_with("</svg>\n"));
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}
