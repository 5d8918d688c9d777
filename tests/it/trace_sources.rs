//! Where logs come from: zip archives, folders of applications, and pipes.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};
use tailspn::explain::Explain as _;
use tailspn::report::{Report as _, trace_report};
use tailspn::trace::analysis::Usual;
use tailspn::trace::{
    Format, JobTrace, ReadOptions, TraceError, WarningKind, is_log, log_format, logs_in, read, read_bytes, read_stream,
};
use tailspn::watch::Unwatched;

use crate::shared::shared;

const SPARK: &str = include_str!("../data/trace/small.spark");

/// The small log as that of another application.
fn spark(id: &str, name: &str, attempt: Option<u32>) -> String {
    let attempt = attempt.map_or_else(String::new, |attempt| format!(",\"App Attempt ID\":\"{attempt}\""));
    SPARK
        .replace("\"App ID\":\"app-1\"", &format!("\"App ID\":\"{id}\"{attempt}"))
        .replace("\"App Name\":\"small\"", &format!("\"App Name\":\"{name}\""))
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// The storage of an entry.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Stored {
    Plain,
    Deflated,
    Encrypted,
}

/// A zip archive by the description of the format: for each file a header and its content, then the directory and its end.
pub(crate) fn zip(files: &[(&str, &[u8])], stored: Stored) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in files {
        let mut packed = DeflateEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(content).unwrap();
        let (method, packed) = match stored {
            Stored::Deflated => (8_u16, packed.finish().unwrap()),
            Stored::Plain | Stored::Encrypted => (0, content.to_vec()),
        };
        let mut sum = flate2::Crc::new();
        sum.update(content);
        let mut fields = Vec::new();
        for field in [20_u16, u16::from(stored == Stored::Encrypted), method, 0, 0x21] {
            fields.extend(field.to_le_bytes());
        }
        for field in [sum.sum(), packed.len() as u32, content.len() as u32] {
            fields.extend(field.to_le_bytes());
        }
        fields.extend((name.len() as u16).to_le_bytes());
        fields.extend([0, 0]);
        let offset = archive.len() as u32;
        archive.extend(b"PK\x03\x04");
        archive.extend(&fields);
        archive.extend(name.as_bytes());
        archive.extend(&packed);
        directory.extend(b"PK\x01\x02\x14\x03");
        directory.extend(&fields);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (start, size, count) = (archive.len() as u32, directory.len() as u32, files.len() as u16);
    archive.extend(&directory);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    archive.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    archive.extend([size.to_le_bytes(), start.to_le_bytes()].concat());
    archive.extend([0, 0]);
    archive
}

fn app(id: &str) -> ReadOptions {
    ReadOptions { application: Some(id.to_owned()), ..ReadOptions::default() }
}

fn get(path: &Path, options: &ReadOptions) -> Result<JobTrace, TraceError> {
    read(path, options, &Unwatched)
}

fn name_of(trace: &JobTrace) -> &str {
    &trace.applications[0].name
}

/// An archive as the History Server makes it of two attempts, the second of them rolled and compressed, and a log of another application.
fn server_zip(stored: Stored) -> (tempfile::TempDir, PathBuf) {
    let first = spark("application_7_0001", "sort", Some(1));
    let second = spark("application_7_0001", "sort", Some(2));
    let (front, back) = second.split_at(second.len() / 2 + second[second.len() / 2..].find('\n').unwrap() + 1);
    let other = gz(spark("application_7_0002", "join", None).as_bytes());
    let rolled = "eventlog_v2_application_7_0001_2";
    let archive = zip(
        &[
            ("application_7_0001_1", first.as_bytes()),
            (&format!("{rolled}/appstatus_application_7_0001_2"), b""),
            (&format!("{rolled}/events_2_application_7_0001_2"), back.as_bytes()),
            (&format!("{rolled}/events_1_application_7_0001_2.gz"), &gz(front.as_bytes())),
            ("application_7_0002.gz", &other),
            ("readme.txt", b"nothing"),
        ],
        stored,
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs.zip");
    fs::write(&path, archive).unwrap();
    (folder, path)
}

#[test]
fn a_zip_of_the_history_server_is_read_by_application_and_attempt() {
    for stored in [Stored::Plain, Stored::Deflated] {
        let (_folder, path) = server_zip(stored);
        assert_eq!((is_log(&path), log_format(&path)), (true, Some(Format::SparkEventLog)));
        for wanted in ["application_7_0001_2", "application_7_0001/2", "eventlog_v2_application_7_0001_2"] {
            let trace = get(&path, &app(wanted)).unwrap();
            assert_eq!((name_of(&trace), trace.attempts().len(), trace.files.len()), ("sort", 8, 2), "{wanted}");
            assert!(trace.warnings.is_empty(), "{:?}", trace.warnings);
        }
        for wanted in ["application_7_0002", "join", "application_7_0002.gz"] {
            assert_eq!(name_of(&get(&path, &app(wanted)).unwrap()), "join", "{wanted}");
        }
        let Err(TraceError::SeveralLogs { logs, wanted: Some(_), .. }) = get(&path, &app("application_7_0001")) else {
            panic!("two attempts");
        };
        assert_eq!(logs.iter().map(|log| log.attempt.as_deref()).collect::<Vec<_>>(), [Some("1"), Some("2")]);
        let error = get(&path, &ReadOptions::default()).unwrap_err().to_string();
        let time = "started 2023-11-14 22:13:20 UTC";
        assert!(error.ends_with(&format!(
            "holds 3 logs:\n  application_7_0001 attempt 1 `sort` {time} (application_7_0001_1)\n  application_7_0002 `join` {time} \
             (application_7_0002.gz)\n  application_7_0001 attempt 2 `sort` {time} (eventlog_v2_application_7_0001_2)"
        )), "{error}");
        let error = get(&path, &app("app-9")).unwrap_err();
        assert!(error.to_string().contains("does not contain the application `app-9`") && error.help().is_some());
    }
}

/// One log needs no request, and a request for another one is refused.
#[test]
fn a_zip_with_one_log_is_like_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.zip");
    fs::write(&path, zip(&[("app-1", SPARK.as_bytes())], Stored::Deflated)).unwrap();
    let trace = get(&path, &ReadOptions::default()).unwrap();
    assert_eq!((trace.attempts().len(), trace.reading.text_bytes), (8, SPARK.len() as u64));
    assert!(trace.files[0].ends_with("one.zip/app-1"), "{:?}", trace.files);
    assert_eq!(get(&path, &app("app-1")).unwrap().attempts().len(), 8);
    assert!(matches!(get(&path, &app("app-2")), Err(TraceError::NoSuchLog { .. })));
}

#[test]
fn damaged_and_encrypted_archives_are_refused_or_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zip");
    let try_it = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        get(&path, &ReadOptions::default())
    };
    let text = |bytes: &[u8]| try_it(bytes).unwrap_err().to_string();
    let sound = zip(&[("app-1", SPARK.as_bytes())], Stored::Deflated);
    assert!(
        text(&sound[..sound.len() / 2]).contains("a damaged or incomplete zip archive"),
        "{}",
        text(&sound[..sound.len() / 2])
    );
    assert!(text(&zip(&[], Stored::Plain)).contains("no log found"));
    assert!(text(&zip(&[("app-1", SPARK.as_bytes())], Stored::Encrypted)).contains("no log found"));
    // a wrong byte in the text, far behind the beginning
    let mut wrong = zip(&[("app-1", SPARK.repeat(100).as_bytes())], Stored::Plain);
    let at = wrong.len() - 2000;
    wrong[at] ^= 1;
    let warnings = try_it(&wrong).unwrap().warnings;
    assert!(warnings.iter().any(|w| w.kind == WarningKind::CutFile && w.example.contains("checksum")), "{warnings:?}");
    // any damage is an error or a warning, never a panic
    for i in 0..sound.len().min(1200) {
        let mut wrong = sound.clone();
        let at = (i * 7919) % wrong.len();
        wrong[at] = wrong[at].wrapping_add(1 + (i % 250) as u8);
        let _ = try_it(&wrong);
    }
}

/// 256 MB without a line end in an archive of 300 kB: the line is left out, and only the limit of a line is held in memory.
#[test]
fn an_entry_that_unpacks_to_a_huge_line_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb.zip");
    let mut text = SPARK.as_bytes().to_vec();
    text.resize(text.len() + (256 << 20), b' ');
    let archive = zip(&[("app-1", &text)], Stored::Deflated);
    assert!(archive.len() < 2 << 20, "{}", archive.len());
    fs::write(&path, archive).unwrap();
    let trace = get(&path, &ReadOptions { longest_line: 1 << 20, ..ReadOptions::default() }).unwrap();
    assert_eq!(trace.attempts().len(), 8);
    let kinds: Vec<_> = trace.warnings.iter().map(|warning| (warning.kind, warning.count)).collect();
    assert_eq!(kinds, [(WarningKind::LongLine, 1)]);
}

/// A folder as the History Server reads it: files, a rolled log, and something else.
fn server_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("app-1", spark("app-1", "sort", None).as_bytes());
    write("app-2.gz", &gz(spark("app-2", "join", None).as_bytes()));
    fs::create_dir(folder.path().join("eventlog_v2_app-3")).unwrap();
    write("eventlog_v2_app-3/events_1_app-3", spark("app-3", "join", None).as_bytes());
    write("eventlog_v2_app-3/appstatus_app-3", b"");
    write("notes.txt", b"nothing");
    folder
}

#[test]
fn a_folder_of_applications_is_read_by_application() {
    let folder = server_folder();
    let listed = logs_in(folder.path()).unwrap();
    let ids: Vec<_> = listed.iter().map(|log| log.id.as_deref().unwrap()).collect();
    assert_eq!(ids, ["app-1", "app-2", "app-3"]);
    for id in ids {
        assert_eq!(get(folder.path(), &app(id)).unwrap().applications[0].id, id);
    }
    assert_eq!(name_of(&get(folder.path(), &app("sort")).unwrap()), "sort");
    let error = get(folder.path(), &app("join")).unwrap_err().to_string();
    assert!(error.contains("holds 2 logs that match `join`"), "{error}");
    assert_eq!(log_format(folder.path()), Some(Format::SparkEventLog));
    // the same for one log of several applications
    let both = format!("{}{}", spark("app-1", "sort", None), spark("app-2", "join", None));
    let trace = read_bytes("both", both.as_bytes(), &app("app-2"), &Unwatched).unwrap();
    assert_eq!((trace.applications.len(), name_of(&trace)), (1, "join"));
}

/// A stream gives what the same bytes give, in every compression, also cut off.
#[test]
fn a_stream_is_read_like_bytes() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/trace");
    let mut inputs: Vec<(String, Vec<u8>)> = fs::read_dir(data)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (path.display().to_string(), fs::read(path).unwrap()))
        .collect();
    inputs.push(("gz".to_owned(), gz(SPARK.as_bytes())));
    let long = gz(SPARK.repeat(300).as_bytes());
    inputs.push(("cut".to_owned(), long[..long.len() / 2].to_vec()));
    let short = gz(SPARK.as_bytes());
    inputs.push(("cut early".to_owned(), short[..short.len() / 2].to_vec()));
    let mut read_some = 0;
    for (name, bytes) in inputs {
        let options = ReadOptions::default();
        let whole = read_bytes("log", &bytes, &options, &Unwatched);
        let stream = read_stream("log", bytes.as_slice(), &options, &Unwatched);
        let text = |trace: &JobTrace| {
            let report = trace_report(trace, &Usual::default());
            let shown = report.document().text();
            (shown, report)
        };
        match (whole, stream) {
            (Ok(whole), Ok(stream)) => {
                assert_eq!(text(&whole), text(&stream), "{name}");
                assert_eq!((whole.reading, whole.warnings), (stream.reading, stream.warnings), "{name}");
                read_some += 1;
            }
            (whole, stream) => assert_eq!(whole.unwrap_err().to_string(), stream.unwrap_err().to_string(), "{name}"),
        }
    }
    assert!(read_some >= 5, "{read_some}");
}

fn tailspn(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("tailspn").unwrap();
    command.env("NO_COLOR", "1").args(args);
    command
}

fn stderr(command: &mut Command) -> (i32, String) {
    let output = command.output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn standard_input_is_read_as_a_stream() {
    let output = tailspn(&["why", "-", "--json"]).write_stdin(gz(SPARK.as_bytes())).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["run"]["events"], &report["run"]["files"][0]),
        (&serde_json::json!(28), &"standard input".into())
    );
    let archive = zip(&[("app-1", SPARK.as_bytes())], Stored::Deflated);
    let (code, text) = stderr(tailspn(&["why", "-"]).write_stdin(archive));
    assert_eq!(code, 3);
    assert!(
        text.contains("`standard input` is a zip archive") && text.contains("save the zip archive as a file"),
        "{text}"
    );
}

/// `whatif` reads one log and takes `--app`; commands that read many take all logs of a folder.
#[test]
fn commands_take_applications_of_folders_and_archives() {
    let folder = server_folder();
    let path = folder.path().to_str().unwrap();
    let (code, text) = stderr(&mut tailspn(&["whatif", path]));
    assert!(code == 3 && text.contains("holds 3 logs") && text.contains("--app ID"), "{text}");
    let (code, text) = stderr(&mut tailspn(&["whatif", path, "--app", "app-4"]));
    assert!(code == 3 && text.contains("does not contain the application `app-4`"), "{text}");
    // `why` has a row for each
    let list = tailspn(&["why", path, "--json"]).output().unwrap();
    let list: serde_json::Value = serde_json::from_slice(&list.stdout).unwrap();
    assert_eq!((&list["kind"], list["rows"].as_array().unwrap().len()), (&"why_list".into(), 3));
    tailspn(&["why", path, "--app", "app-2"]).assert().success();
    // the reader takes the log; that the small log has no data is what `fit` says of it
    let (_, of_one) = stderr(&mut tailspn(&["tool", "fit", path, "--app", "app-2"]));
    let (_, of_file) = stderr(&mut tailspn(&["tool", "fit", &format!("{path}/app-2.gz")]));
    assert_eq!(of_one, of_file);
    let all = tailspn(&["why", path, "--against", path, "--json"]).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&all.stdout).unwrap();
    assert_eq!(report["sides"][0]["files"].as_array().unwrap().len(), 3);
    let kept = server_zip(Stored::Deflated);
    let zipped = kept.1.to_str().unwrap();
    for command in [&["net", "simulate"][..], &["net", "check"]] {
        let (_, text) = stderr(&mut tailspn(&[command, &[path]].concat()));
        let (_, of_zip) = stderr(&mut tailspn(&[command, &[zipped]].concat()));
        assert!(text.contains("a folder with a Spark event log"), "{command:?}: {text}");
        assert!(!of_zip.is_empty());
    }
}

/// The small log with a query that adapts: stage 0 scans and writes a shuffle, stage 1 reads it.
fn with_sql(description: &str) -> String {
    let plan = |exchange: i64| {
        format!(
            r#"{{"nodeName":"HashAggregate","metrics":[{{"name":"rows","accumulatorId":50}}],"children":[{{"nodeName":"Exchange","metrics":[
            {{"name":"records read","accumulatorId":{}}},{{"name":"shuffle bytes written","accumulatorId":{exchange}}}],"children":[{{"nodeName":
            "Scan parquet shop.sales","metadata":{{"Location":"InMemoryFileIndex[file:/data/sales]"}},"metrics":[{{"name":"files","accumulatorId":40}}],
            "children":[]}}]}}]}}"#,
            exchange + 1
        )
        .replace('\n', "")
    };
    let package = "org.apache.spark.sql.execution.ui";
    let start = format!(
        r#"{{"Event":"{package}.SparkListenerSQLExecutionStart","executionId":7,"description":"{description}","sparkPlanInfo":{}}}"#,
        plan(60)
    );
    let update = format!(
        r#"{{"Event":"{package}.SparkListenerSQLAdaptiveExecutionUpdate","executionId":7,"sparkPlanInfo":{}}}"#,
        plan(70)
    );
    let end = format!(r#"{{"Event":"{package}.SparkListenerSQLExecutionEnd","executionId":7,"time":1700000010900}}"#);
    let mut lines: Vec<String> = Vec::new();
    for line in SPARK.lines() {
        if line.contains("SparkListenerJobStart") {
            lines.push(start.clone());
            lines.push(line.replace("\"callSite.short\"", "\"spark.sql.execution.id\":\"7\",\"callSite.short\""));
            continue;
        }
        let own = line.contains("SparkListenerStageCompleted").then(|| line.contains("\"Stage ID\":0"));
        let ids =
            own.map(|first| if first { "[{\"ID\":40},{\"ID\":70},{\"ID\":9}]" } else { "[{\"ID\":71},{\"ID\":50}]" });
        match ids {
            Some(ids) => {
                lines.push(line.replacen("\"Stage Info\":{", &format!("\"Stage Info\":{{\"Accumulables\":{ids},"), 1))
            }
            None => lines.push(line.to_owned()),
        }
        if own == Some(true) {
            lines.push(update.clone());
        }
        if line.contains("SparkListenerJobEnd") {
            lines.push(end.clone());
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn stages_of_queries_have_descriptions_and_operators() {
    let text = with_sql("select sum(price)\\n  from sales");
    let trace = read_bytes("log", text.as_bytes(), &ReadOptions::default(), &Unwatched).unwrap();
    assert!(trace.warnings.is_empty(), "{:?}", trace.warnings);
    let stage = |i: usize| {
        let stage = &trace.stages[i];
        (stage.name.as_str(), stage.sql_execution, stage.description.as_deref(), stage.operators.join(" > "))
    };
    let description = Some("select sum(price) from sales");
    assert_eq!(stage(0), ("stage 0", Some(7), description, "Scan parquet shop.sales > Exchange".to_owned()));
    assert_eq!(stage(1), ("stage 1", Some(7), description, "HashAggregate".to_owned()));
    let text = trace_report(&trace, &Usual::default()).document().text();
    assert!(text.contains("SQL 7: select sum(price) from sales"), "{text}");
    // a description that repeats the name says nothing, and a log without queries has no such table
    let same = read_bytes("log", with_sql("stage 0").as_bytes(), &ReadOptions::default(), &Unwatched).unwrap();
    assert_eq!(same.stages[0].description, None);
    let plain = read_bytes("log", SPARK.as_bytes(), &ReadOptions::default(), &Unwatched).unwrap();
    assert!(!trace_report(&plain, &Usual::default()).document().text().contains("Queries"));
}

/// A plan nested deeper than the reader follows leaves the description; nothing else is lost.
#[test]
fn a_plan_that_is_nested_too_deeply_leaves_the_description() {
    let deep = format!(
        "{}{}{}",
        r#"{"nodeName":"Sort","children":["#.repeat(400),
        r#"{"nodeName":"Range","children":[]}"#,
        "]}".repeat(400)
    );
    let (before, after) =
        with_sql("deep").split_once("\"sparkPlanInfo\":").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let (_, after) = after.split_once('\n').unwrap();
    let text = format!("{before}\"sparkPlanInfo\":{deep}}}\n{after}");
    let trace = read_bytes("log", text.as_bytes(), &ReadOptions::default(), &Unwatched).unwrap();
    assert!(trace.warnings.is_empty(), "{:?}", trace.warnings);
    assert_eq!(trace.stages[0].description.as_deref(), Some("deep"));
}

/// Real logs: the scan of stage 3 as its plan names it; an archive of real logs gives what the logs give.
#[test]
fn real_queries_name_what_they_scan_and_real_archives_are_read() {
    let Some(logs) = shared("data/logs/spark-event-logs") else { return };
    let log = logs.join("spark-rapids-tools/event_logs/join_agg_on_yarn_eventlog.zstd");
    let trace = get(&log, &ReadOptions::default()).unwrap();
    let stage = trace.stages.iter().find(|stage| stage.number == 3).unwrap();
    assert_eq!(stage.operators, ["Scan parquet large_dataset", "BroadcastHashJoin", "HashAggregate", "Exchange"]);
    assert_eq!(trace.stages[1].description.as_deref(), Some("Broadcast exchange"));
    let attempts = logs.join("spark-rapids-tools/spark-events-qualification/multiple_attempts");
    let listed = logs_in(&attempts).unwrap();
    assert!(listed.len() > 1 && listed.iter().all(|log| log.attempt.is_some()), "{listed:?}");
    let contents: Vec<_> = listed.iter().map(|log| fs::read(attempts.join(&log.file)).unwrap()).collect();
    let files: Vec<_> =
        listed.iter().zip(&contents).map(|(log, bytes)| (log.file.as_str(), bytes.as_slice())).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs.zip");
    fs::write(&path, zip(&files, Stored::Deflated)).unwrap();
    for log in &listed {
        let wanted = app(&format!("{}_{}", log.id.as_ref().unwrap(), log.attempt.as_ref().unwrap()));
        let [of_zip, of_folder] = [&path, &attempts].map(|path| get(path, &wanted).unwrap());
        let text = |trace: &JobTrace| format!("{:?}", trace.attempts());
        let direct = get(&attempts.join(&log.file), &ReadOptions::default()).unwrap();
        assert_eq!(text(&of_zip), text(&direct));
        assert_eq!(text(&of_folder), text(&direct));
    }
}

/// The zip archive of a run, as it was attached to a talk; 116 ends of tasks on 10 hosts, counted with Python.
#[test]
fn a_real_zip_is_read() {
    let Some(logs) = shared("data/logs/spark-event-logs/sparklint") else { return };
    let files = fs::read_dir(logs).unwrap().map(|entry| entry.unwrap().path());
    let archive = files.into_iter().find(|path| path.extension().is_some_and(|end| end == "zip")).unwrap();
    let trace = get(&archive, &ReadOptions::default()).unwrap();
    assert_eq!((trace.nodes.len(), trace.attempts().len(), trace.warnings.len()), (10, 116, 0));
}
