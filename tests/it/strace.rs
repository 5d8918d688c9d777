//! Logs of strace, read to counts that another program established.

use std::path::{Path, PathBuf};

use tailspn::diagnose::syscalls::{
    CallClass, ClassCalls, Form, Invocations, NodeCalls, NodeLog, OddKind, ReadSettings, SyscallError, read_log,
    read_log_bytes,
};
use tailspn::watch::Unwatched;

use crate::shared::shared;

/// The folder with logs of others and with labelled runs.
fn logs() -> Option<PathBuf> {
    shared("data/logs")
}

fn read(path: &Path) -> Result<NodeCalls, SyscallError> {
    let log = NodeLog::parse(path.to_str().unwrap());
    read_log(&log, Invocations::Ignore, &ReadSettings::default(), &Unwatched)
}

fn read_text(text: &[u8]) -> Result<NodeCalls, SyscallError> {
    read_log_bytes("n1", "log", text, Invocations::Ignore, &ReadSettings::default(), &Unwatched)
}

fn cell(class: &ClassCalls) -> String {
    let timed = class.timed;
    assert!(timed.nanoseconds.is_multiple_of(1000), "{timed:?}");
    format!("{}:{}:{}:{}", class.calls, class.errors, timed.calls, timed.nanoseconds / 1000)
}

/// All cells of a row of the table, as they were read.
fn row(calls: &NodeCalls) -> Vec<String> {
    let lines = &calls.lines;
    let table = if lines.rows > 0 { lines.rows + 4 } else { lines.lines };
    let counts = [table, lines.whole, lines.begun, lines.resumed, lines.signals, lines.exits, lines.rows];
    let mut row: Vec<String> = counts.iter().map(u64::to_string).collect();
    row.push(calls.on_open_files.to_string());
    row.extend(CallClass::ALL.map(|class| cell(calls.class(class))));
    let peers = calls.peers.iter().map(|(a, tally)| format!("{a}={}:{}", tally.calls, tally.nanoseconds / 1000));
    let peers: Vec<String> = peers.collect();
    row.push(if peers.is_empty() { "-".to_owned() } else { peers.join(",") });
    row
}

#[test]
fn every_log_reads_to_its_expected_counts() {
    let Some(logs) = logs() else { return };
    let text = include_str!("../data/syscalls/expected.tsv");
    let (mut files, mut lines) = (0, 0);
    for expected in text.lines().skip(2) {
        let (file, expected) = expected.split_once('\t').unwrap();
        let calls = read(&logs.join(file)).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(row(&calls).join("\t"), expected, "{file}");
        files += 1;
        lines += calls.lines.lines;
    }
    assert!(files >= 91 && lines > 600_000, "{files} files, {lines} lines");
}

#[test]
fn forms_are_told_apart() {
    let Some(logs) = logs() else { return };
    for (file, form) in [
        ("labelled/strace-minimr/t_none_1/n1.ttt.strace.gz", Form::Calls),
        ("labelled/strace-minimr/c_none_1/n1.c.strace.gz", Form::WallTotals),
        ("labelled/strace-minimr/c_net50_n3/n3.c.strace.gz", Form::WallTotals),
        ("labelled/strace-minimr/c_nowall_none/n1.c.strace.gz", Form::ProcessorTotals),
        ("labelled/strace-minimr/c_nowall_disk_n3/n3.c.strace.gz", Form::ProcessorTotals),
        ("labelled/strace-minimr/c_nowall_net20_n3/n3.c.strace.gz", Form::ProcessorTotals),
        ("strace/arastoob_multithread_strace1.log", Form::Untimed),
        ("strace/gitlab_strace_parser_bench_f_tt_T_yy.txt", Form::Calls),
    ] {
        assert_eq!(read(&logs.join(file)).unwrap().form, form, "{file}");
    }
}

const INTERRUPTED: &str = r#"
7 1700000000.000001 accept4(3,  <unfinished ...>
8 1700000000.000002 connect(4, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.2")}, 16 <unfinished ...>
9 1700000000.000003 newfstatat(AT_FDCWD, "/data/a",  <unfinished ...>
7 1700000000.100000 <... accept4 resumed>{sa_family=AF_INET, sin_port=htons(4), sin_addr=inet_addr("10.0.0.3")}, [16], 0) = 5 <0.099999>
9 1700000000.100001 <... newfstatat resumed>{st_mode=S_IFREG|0644, ...}, 0) = 0 <0.100000>
8 1700000001.000002 <... connect resumed> ) = 0 <1.000000>
8 1700000001.100002 connect(4, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.2")}, 16) = -1 EINPROGRESS (Operation now in progress) <0.000040>
8 1700000001.200000 newfstatat(4, "", {st_mode=S_IFREG|0644, ...}, AT_EMPTY_PATH) = 0 <0.000004>
8 1700000001.200000 statx(AT_FDCWD</data>, "b", AT_STATX_SYNC_AS_STAT, STATX_ALL, {stx_mask=STATX_ALL, ...}) = 0 <0.000006>
7 1700000002.000000 accept4(3,  <unfinished ...>
9 1700000002.000001 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED} ---
9 1700000002.000001 bind(3, {sa_family=AF_INET6, sin6_port=htons(80), inet_pton(AF_INET6, "fd00::1", &sin6_addr)}, 28) = 0 <0.000002>
7 1700000003.000000 +++ killed by SIGKILL +++
"#;

#[test]
fn interrupted_calls_are_put_together() {
    let calls = read_text(INTERRUPTED.as_bytes()).unwrap();
    assert!(calls.odd.is_empty(), "{:?}", calls.odd);
    let cells = CallClass::ALL.map(|class| cell(calls.class(class)));
    assert_eq!(cells, ["2:0:1:99999", "2:1:2:1000040", "1:0:1:2", "0:0:0:0", "0:0:0:0", "2:0:2:100006", "0:0:0:0"]);
    let peer = calls.peers["10.0.0.2"];
    assert_eq!((peer.calls, peer.nanoseconds, calls.not_waited), (1, 1_000_000_000, 1));
    // the file by its folder's decoration counts as data too
    assert_eq!((calls.data_files.calls, calls.on_open_files, calls.lines.never_ended), (2, 1, 1));
    assert_eq!(calls.addresses.iter().map(String::as_str).collect::<Vec<_>>(), ["fd00::1"]);
    let [first, last] = calls.span.unwrap();
    assert!((first - 1_700_000_000.000_001).abs() < 1e-6 && (last - 1_700_000_003.0).abs() < 1e-6, "{first} {last}");
}

#[test]
fn odd_lines_are_counted_with_their_first_line() {
    let text = "1 access(\"/a\", F_OK) = 0 <0.000001>\nwhat is this\n2 <... connect resumed>) = 0 <0.1>\n\
                3 accept(3,  <unfinished ...>\n3 access(\"/b\", F_OK) = 0 <0.000001>\nand this\n4 connect(3, {sa_fa";
    let calls = read_text(text.as_bytes()).unwrap();
    let odd: Vec<_> = calls.odd.iter().map(|odd| (odd.kind, odd.count, odd.line)).collect();
    let expected = [
        (OddKind::UnknownLine, 2, 2),
        (OddKind::CutCall, 1, 7),
        (OddKind::EndWithoutBeginning, 1, 3),
        (OddKind::BeginningWithoutEnd, 1, 5),
    ];
    assert_eq!(odd, expected);
    assert_eq!(calls.class(CallClass::Access).calls, 2);
}

#[test]
fn long_lines_and_cut_files_are_counted() {
    let mut text = b"1 access(\"/a\", F_OK) = 0 <0.000001>\n1 write(1, \"".to_vec();
    text.extend(std::iter::repeat_n(b'x', 5000));
    text.extend(b"\") = 5 <0.1>\n1 access(\"/b\", F_OK) = 0 <0.000001>\n");
    let settings = ReadSettings { longest_line: 1000, ..ReadSettings::default() };
    let calls = read_log_bytes("n1", "log", &text, Invocations::Ignore, &settings, &Unwatched).unwrap();
    assert_eq!((calls.odd[0].kind, calls.class(CallClass::Access).calls), (OddKind::LongLine, 2));

    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packed, INTERRUPTED.repeat(2000).as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let whole = read_text(&packed).unwrap();
    assert_eq!((whole.odd.as_slice(), whole.class(CallClass::Bind).calls), ([].as_slice(), 2000));
    let cut = read_text(&packed[..packed.len() / 2]).unwrap();
    assert!(cut.odd.iter().any(|odd| odd.kind == OddKind::CutFile), "{:?}", cut.odd);
    assert!((100..2000).contains(&cut.class(CallClass::Bind).calls), "{}", cut.class(CallClass::Bind).calls);
}

#[test]
fn files_that_are_not_strace_logs_are_refused() {
    assert!(matches!(read_text(b""), Err(SyscallError::Empty { .. })));
    let not = |text: &[u8]| matches!(read_text(text), Err(SyscallError::NotStrace { .. }));
    assert!(not(b"{\"mode\":\"t\",\"fault\":\"disk\"}\n"));
    assert!(not(&b"2026-11-21 10:00:00 INFO all is well\n".repeat(5000)));
    assert!(not(&[0, 159, 146, 150, 10].repeat(100)));
    assert!(not(b"PK\x03\x04zip"));
    assert!(not(b"% time     seconds  usecs/call     calls    errors syscall\n"));
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..400)) {
        let _ = read_text(&bytes);
    }

    /// A log that is damaged anywhere is read to its end.
    #[test]
    fn damage_does_not_stop_the_reader(at in 0..INTERRUPTED.len(), with in proptest::collection::vec(proptest::num::u8::ANY, 0..40)) {
        let mut text = INTERRUPTED.as_bytes().to_vec();
        let end = (at + with.len()).min(text.len());
        text.splice(at..end, with);
        if let Ok(calls) = read_text(&text) {
            proptest::prop_assert!(calls.lines.lines >= 1);
        }
    }
}
